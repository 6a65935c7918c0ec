#include "stream.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "platform/platform.h"

/* A mover calls nothing deep; a thousand of them must stay small. */
#define STACK_BYTES (256u * 1024)
#define CACHE_LINE 64

struct stream *stream_new(int fd, bool owns_fd, bool udp, bool receiver,
			  size_t buf_bytes)
{
	/* counters of two streams must not share a cache line */
	size_t size = (sizeof(struct stream) + CACHE_LINE - 1) / CACHE_LINE *
		      CACHE_LINE;
	struct stream *s = aligned_alloc(CACHE_LINE, size);

	if (s == NULL)
		return NULL;
	*s = (struct stream){
		.fd = fd,
		.udp = udp,
		.receiver = receiver,
		.buf_bytes = buf_bytes,
	};
	s->buf = malloc(buf_bytes > 0 ? buf_bytes : 1);
	if (s->buf == NULL) {
		free(s);
		return NULL;
	}
	wire_fill(s->buf, buf_bytes);
	s->owns_fd = owns_fd;
	return s;
}

int stream_ledger(struct stream *s, int64_t base)
{
	s->rx = stats_rx_new(base, STATS_LATE_AFTER_NS);
	return s->rx == NULL ? -ENOMEM : 0;
}

int stream_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all;
	sigset_t before;
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc != 0)
		return -rc;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

int stream_start(struct stream *s, void *(*mover)(void *), void *arg)
{
	int rc = stream_thread(&s->thread, mover, arg);

	s->threaded = rc == 0;
	return rc;
}

void stream_stop(struct stream *s)
{
	atomic_store(&s->stop, true);
	if (s->receiver && s->owns_fd)
		(void)shutdown(s->fd, SHUT_RD);
}

void stream_join(struct stream *s)
{
	if (s->threaded)
		(void)pthread_join(s->thread, NULL);
	s->threaded = false;
}

void stream_free(struct stream *s)
{
	if (s == NULL)
		return;
	if (s->owns_fd)
		close(s->fd);
	stats_rx_free(s->rx);
	free(s->buf);
	free(s);
}

static void name_peer(struct stream *s, const struct sock_addr *peer)
{
	struct sock_addr addr = { .len = 0 };

	if (peer != NULL)
		addr = *peer;
	else if (sock_peer(s->fd, &addr) < 0)
		return;
	sock_text(&addr, s->conn.peer, sizeof(s->conn.peer),
		  &s->conn.peer_port);
}

void stream_name(struct stream *s, const struct sock_addr *peer)
{
	struct sock_addr local;
	struct platform_tcp tcp;

	s->conn.udp = s->udp;
	s->conn.wall_ns = clock_wall_ns();
	if (sock_local(s->fd, &local) == 0)
		sock_text(&local, s->conn.local, sizeof(s->conn.local),
			  &s->conn.local_port);
	name_peer(s, peer);
	if (s->udp)
		return;
	s->conn.mss = sock_mss(s->fd);
	if (platform_tcp_info(s->fd, &tcp) == 0)
		s->conn.mtu = tcp.mtu;
}

void stream_snap(const struct stream *s, struct stats_snap *out)
{
	if (s->rx != NULL)
		stats_rx_snap(s->rx, out);
	else
		stats_io_snap(&s->io, out);
}

void stream_ended(struct stream *s, int64_t end_ns)
{
	/* release: who sees the end sees the last counts */
	atomic_store_explicit(&s->end_ns, end_ns, memory_order_release);
}
