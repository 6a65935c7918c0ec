#include "stream.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "platform/platform.h"

/* A mover calls nothing deep; a thousand of them must stay small. */
#define STACK_BYTES ((size_t)256 * 1024)
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
	/* a receiver's pages need not exist before something comes */
	if (!receiver)
		wire_fill(s->buf, buf_bytes);
	s->owns_fd = owns_fd;
	return s;
}

int stream_ledger(struct stream *s, int64_t base, int64_t late_after_ns)
{
	s->rx = stats_rx_new(base, late_after_ns);
	if (s->rx == NULL)
		return -ENOMEM;
	/* until the time that is left out is over, both are the same */
	if (s->omit_ns > 0) {
		s->omitted = s->rx;
		s->rx = stats_rx_new(base, late_after_ns);
	}
	return s->rx == NULL ? -ENOMEM : 0;
}

int stream_series(struct stream *s)
{
	s->series = malloc(sizeof(*s->series));
	if (s->series == NULL)
		return -ENOMEM;
	series_init(s->series);
	return 0;
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

int64_t stream_patience(const struct stream *s, int64_t usual_ns)
{
	bool by_stop = s->job.time_ns == 0 && s->job.amount_bytes == 0;

	if (atomic_load(&s->abandon))
		return 0;
	if (by_stop || !atomic_load(&s->stop) || usual_ns < STREAM_HURRY_NS)
		return usual_ns;
	return STREAM_HURRY_NS;
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
	input_close(s->input);
	stats_rx_free(s->rx);
	stats_rx_free(s->omitted);
	free(s->series);
	free(s->buf);
	free(s);
}

void stream_expect(struct stream *s, const struct wire_client *c)
{
	if (c->amount < 0)
		s->expect_ns = -(int64_t)c->amount * WIRE_TICK_NS;
	else
		s->expect_bytes = (uint64_t)c->amount;
	s->omit_ns = c->omit_10ms * WIRE_TICK_NS;
	if (c->has_ext)
		wire_version_text(s->conn.peer_version,
				  sizeof(s->conn.peer_version), c->version_u,
				  c->version_l);
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

/* Adds what the other ledger saw; levels are those of the one in use. */
static void add_omitted(const struct stream *s,
			const struct stats_snap *omitted,
			struct stats_snap *out)
{
	int64_t jitter_ns = atomic_load(&s->omit_end_ns) != 0
				    ? out->jitter_ns
				    : omitted->jitter_ns;

	stats_sum(out, omitted);
	out->jitter_ns = jitter_ns;
}

void stream_sample(struct stream *s)
{
	struct platform_tcp tcp;

	if (platform_tcp_info(s->fd, &tcp) < 0)
		return;
	counter_set(&s->tcp.arrived_bytes, tcp.acked_bytes);
	counter_set(&s->tcp.retransmits, tcp.retransmits);
	counter_set(&s->tcp.cwnd_bytes, tcp.cwnd_bytes);
	counter_set(&s->tcp.cwnd_packets, tcp.cwnd_packets);
	counter_set(&s->tcp.inflight_bytes, tcp.inflight_bytes);
	counter_set(&s->tcp.inflight_packets, tcp.inflight_packets);
	counter_set(&s->tcp.rtt_us, tcp.rtt_us);
	counter_set(&s->tcp.rttvar_us, tcp.rttvar_us);
	counter_set(&s->tcp.rtt_min_us, tcp.rtt_min_us);
	counter_set(&s->tcp.known, 1);
}

/* What a TCP sender's peer has got: what the mover was told last, or what has
 * left the queue since, which misses at most the write that goes on. */
static void take_arrived(const struct stream *s, struct stats_snap *out)
{
	uint64_t unacked = 0;
	uint64_t told = counter_get(&s->tcp.arrived_bytes);
	uint64_t left = 0;

	out->written = out->bytes;
	if (counter_get(&s->tcp.known) == 0 || told == UINT64_MAX ||
	    platform_unacked(s->fd, &unacked) < 0)
		return;
	if (unacked < out->written)
		left = out->written - unacked;
	out->bytes = told > left ? told : left;
	/* it may include the end, which is no byte */
	if (out->bytes > out->written)
		out->bytes = out->written;
}

static void take(const struct stream *s, struct stats_snap *out,
		 void (*read)(struct stats_rx *rx, struct stats_snap *out))
{
	struct stats_snap omitted;

	if (s->rx == NULL) {
		stats_io_snap(&s->io, out);
		if (!s->udp && !s->receiver && s->series == NULL)
			take_arrived(s, out);
		return;
	}
	read(s->rx, out);
	if (s->omitted != NULL) {
		read(s->omitted, &omitted);
		add_omitted(s, &omitted, out);
	}
	out->drops_told = s->drops_told;
}

static void read_snap(struct stats_rx *rx, struct stats_snap *out)
{
	stats_rx_snap(rx, out);
}

void stream_snap(const struct stream *s, struct stats_snap *out)
{
	take(s, out, read_snap);
	if (s->series != NULL)
		series_snap(s->series, out);
}

void stream_cut(struct stream *s, struct stats_snap *out)
{
	take(s, out, stats_rx_cut);
	if (s->series != NULL)
		series_cut(s->series, out);
}

struct stats_rx *stream_rx(const struct stream *s)
{
	return s->omitted != NULL && atomic_load(&s->omit_end_ns) == 0
		       ? s->omitted
		       : s->rx;
}

void stream_omit_end(struct stream *s, int64_t now_ns, int64_t from)
{
	if (s->rx != NULL) {
		stats_rx_end(s->omitted, from);
		stats_rx_snap(s->omitted, &s->omit_snap);
		stats_rx_start(s->rx, from);
	} else {
		stream_snap(s, &s->omit_snap);
	}
	atomic_store_explicit(&s->omit_end_ns, now_ns, memory_order_release);
}

void stream_counted(const struct stream *s, const struct stats_snap *snap,
		    struct stats_snap *out)
{
	*out = *snap;
	if (s->omit_ns == 0)
		return;
	if (atomic_load(&s->omit_end_ns) == 0)
		*out = (struct stats_snap){ 0 };
	else if (s->rx != NULL)
		stats_rx_snap(s->rx, out);
	else
		stats_diff(out, snap, &s->omit_snap);
	out->drops_told = s->drops_told;
}

void stream_note(struct stream *s, const char *format, ...)
{
	va_list args;
	size_t i = 0;

	while (i < STREAM_NOTES && s->note[i][0] != '\0')
		i++;
	if (i == STREAM_NOTES)
		return;
	va_start(args, format);
	(void)vsnprintf(s->note[i], sizeof(s->note[i]), format, args);
	va_end(args);
}

void stream_cpu_begin(struct out_cpu *since)
{
	*since = (struct out_cpu){ .known = false };
	since->known = platform_cpu(&since->user_ns, &since->system_ns) == 0;
}

void stream_cpu_end(struct out_cpu *cpu, const struct out_cpu *since)
{
	stream_cpu_begin(cpu);
	cpu->known = cpu->known && since->known;
	cpu->user_ns -= since->user_ns;
	cpu->system_ns -= since->system_ns;
}

void stream_buffer(struct stream *s, uint64_t asked_bytes)
{
	s->buffer.asked = asked_bytes;
	s->buffer.granted =
		platform_buffer_bytes(sock_window(s->fd, !s->receiver));
}

void stream_ended(struct stream *s, int64_t end_ns)
{
	int64_t start_ns = atomic_load(&s->start_ns);
	int64_t omit_end_ns = atomic_load(&s->omit_end_ns);

	/* by the sender's stamps it may have ended before what this stream
	 * counts began: nothing came then, in no time */
	if (end_ns < start_ns)
		end_ns = start_ns;
	if (end_ns < omit_end_ns)
		end_ns = omit_end_ns;
	/* release: who sees the end sees the last counts */
	atomic_store_explicit(&s->end_ns, end_ns, memory_order_release);
}

void stream_ask(const struct wire_client *c, struct policy_ask *ask)
{
	uint64_t streams = wire_streams(c);

	/* without the extension the fields may be filler */
	ask->time_known = c->has_ext && c->amount <= 0;
	ask->time_ns = -(int64_t)c->amount * 10 * CLOCK_MS_NS;
	ask->rate_known = c->has_ext;
	ask->rate_bps = c->rate_bps <= UINT64_MAX / streams
				? c->rate_bps * streams
				: UINT64_MAX;
}

void stream_note_cut(struct stream *s)
{
	char why[POLICY_TEXT_BYTES];

	policy_text(&s->refusal, why);
	stream_note(s, "ended by this server: %s", why);
}
