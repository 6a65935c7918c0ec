#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "report.h"
#include "server_udp.h"
#include "tcp.h"

/* The main thread looks this often whether it shall stop. */
#define LOOK_MS 100
/* A client that sends less than a header waits at most this long. */
#define HEADER_NS 5000000000
/* One that is refused is read for so long, so that it reads why. */
#define REFUSED_NS CLOCK_SECOND_NS
/* Read for telling what a stream is, and at least this for data. */
#define READ_BYTES_MIN 512
/* UDP: the system's limit is usually lower, then the limit is granted. */
#define RECEIVE_BUFFER_BYTES (4u * 1024 * 1024)

/* One accepted connection. */
struct conn {
	struct conn *next;
	struct server *server;
	struct stream *stream;
	int64_t accepted_ns;
	struct policy_addr addr;
	bool started;        /* has its thread */
	bool reports;        /* was handed to the report */
	atomic_bool served;  /* entered: the limits watch it */
	atomic_bool ended;   /* its thread is done */
	uint64_t seen_bytes; /* of the main thread: when it looked last */
};

struct server {
	const struct options *o;
	struct out *outs;
	size_t n_outs;
	const _Atomic int *stop;
	struct report *report;
	pthread_t reporter;
	atomic_bool finish; /* the reporter may end */
	int listen_fd;
	struct sock_addr address;
	struct conn *conns;      /* the longest waiting first */
	struct conn **conns_end; /* where the next one hangs */
	struct server_udp *udp;
	struct policy *policy;
	pthread_mutex_t lock; /* of policy */
	atomic_uint accepted; /* TCP streams that were tests */
	int64_t end_ns;       /* of -t, INT64_MAX: for ever */
};

static void *report_loop(void *arg)
{
	struct server *v = arg;

	for (;;) {
		int64_t due_ns = report_tick(v->report, clock_ns());

		/* asked after the tick, which may have let the last one go */
		if (atomic_load(&v->finish) && report_streams(v->report) == 0)
			return NULL;
		report_wait(v->report, due_ns);
	}
}

/* What a stream has shown of itself. */
struct opening {
	struct wire_tcp_first first;
	size_t have;      /* bytes read so far */
	int64_t first_ns; /* when the first of them came */
};

/* Reads until the opening can be told, the peer ends or HEADER_NS is over. */
static void read_opening(struct stream *s, int64_t accepted_ns,
			 struct opening *o)
{
	int64_t left_ns = HEADER_NS;
	bool eof = false;

	*o = (struct opening){ .first = { .kind = WIRE_TCP_MORE } };
	while (o->first.kind == WIRE_TCP_MORE) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		ssize_t n = 0;

		left_ns = accepted_ns + HEADER_NS - clock_ns();
		if (left_ns > 0 && !atomic_load(&s->stop) &&
		    poll(&p, 1, (int)(left_ns / CLOCK_MS_NS) + 1) > 0)
			n = recv(s->fd, s->buf + o->have,
				 s->buf_bytes - o->have, 0);
		if (n > 0 && o->have == 0)
			o->first_ns = clock_ns();
		if (n <= 0)
			eof = true;
		else
			o->have += (size_t)n;
		if (o->have == 0)
			return;
		o->first = wire_tcp_first(s->buf, o->have, eof);
		if (eof && o->first.kind == WIRE_TCP_MORE)
			o->first.kind = WIRE_TCP_RAW;
	}
}

/* The name of what this server can't do for the client, NULL: it can. */
static const char *not_offered(const struct opening *o,
			       const struct wire_client *c)
{
	if (o->first.kind == WIRE_TCP_OTHER)
		return o->first.what;
	if (o->first.kind == WIRE_TCP_IPERF3)
		return "iperf3";
	if (o->first.kind == WIRE_TCP_BOUNCE)
		return "an iperf 2 bounceback test";
	if (o->first.kind != WIRE_TCP_CLIENT)
		return NULL;
	if (c->has_ext && (c->upper & WIRE_UPPER_REVERSE) != 0)
		return "an iperf 2 reverse test";
	if (c->has_ext && (c->upper & WIRE_UPPER_FULL_DUPLEX) != 0)
		return "an iperf 2 full-duplex test";
	return NULL;
}

/* Modern clients get our version, except those whose data would follow. */
static void acknowledge(struct stream *s, const struct wire_client *c)
{
	uint8_t ack[WIRE_ACK_BYTES];
	bool wants = (c->flags & WIRE_EXT) != 0 && (c->flags & WIRE_V2) == 0;

	if (!wants && (c->flags & WIRE_ACKREQ) == 0)
		return;
	/* clients read it at their end, if ever: no need to insist */
	(void)!send(s->fd, ack, wire_ack_encode(ack),
		    MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_ours(const struct wire_client *c)
{
	return c->has_ext && wire_is_ours(c->version_u, c->version_l);
}

/* A client of ours reads why, before the connection ends: until it has gone,
 * or for a moment, what it still sends is read. */
static void tell_refusal(struct conn *c, const struct policy_refusal *r,
			 bool ours)
{
	struct stream *s = c->stream;
	int64_t end_ns = clock_ns() + REFUSED_NS;
	uint8_t bytes[BLOCK_REFUSAL_BYTES];

	if (!ours)
		return;
	(void)!send(s->fd, bytes, block_refusal_encode(bytes, r, TCP_NONCE),
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(s->fd, SHUT_WR);
	while (clock_ns() < end_ns) {
		ssize_t n = recv(s->fd, s->buf, s->buf_bytes, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
		clock_sleep_until(clock_ns() + 10 * CLOCK_MS_NS);
	}
}

/* May it be served?  Then it counts until leave. */
static bool enter(struct conn *c, const struct wire_client *header)
{
	struct server *v = c->server;
	struct policy_ask ask = { .addr = c->addr };
	struct policy_refusal refusal;
	char why[POLICY_TEXT_BYTES];
	bool may;

	stream_ask(header, &ask);
	pthread_mutex_lock(&v->lock);
	may = policy_enter(v->policy, &ask, &refusal);
	pthread_mutex_unlock(&v->lock);
	atomic_store(&c->served, may);
	if (may)
		return true;
	policy_text(&refusal, why);
	log_stranger(clock_ns(), "%s port %u refused: %s", c->stream->conn.peer,
		     c->stream->conn.peer_port, why);
	tell_refusal(c, &refusal, is_ours(header));
	return false;
}

static void leave(struct conn *c)
{
	struct server *v = c->server;

	atomic_store(&c->served, false);
	pthread_mutex_lock(&v->lock);
	policy_leave(v->policy, &c->addr);
	pthread_mutex_unlock(&v->lock);
}

/* A test: what was read already counts, then the rest is read. */
static void receive(struct conn *c, const struct opening *o,
		    const struct wire_client *header)
{
	struct server *v = c->server;
	struct stream *s = c->stream;
	size_t counted = o->have;

	if (o->first.kind == WIRE_TCP_LEGACY)
		counted -= o->first.len;
	if (counted > 0) {
		counter_add(&s->io.bytes, counted);
		counter_add(&s->io.calls, 1);
		atomic_store(&s->start_ns, o->first_ns);
	}
	if (report_add(v->report, s, s->conn.peer, wire_streams(header)) < 0) {
		log_error("no memory for a stream from %s port %u",
			  s->conn.peer, s->conn.peer_port);
		return;
	}
	c->reports = true;
	atomic_fetch_add(&v->accepted, 1);
	tcp_receive(s);
	if (is_ours(header))
		tcp_tell(s);
	if (atomic_load(&s->cut))
		tell_refusal(c, &s->refusal, is_ours(header));
	atomic_store(&s->closed, true);
	report_poke(v->report);
}

static void *serve(void *arg)
{
	struct conn *c = arg;
	struct stream *s = c->stream;
	struct wire_client header = { .threads = 1 };
	struct opening o;
	const char *what;

	read_opening(s, c->accepted_ns, &o);
	if (o.first.kind == WIRE_TCP_CLIENT ||
	    o.first.kind == WIRE_TCP_LEGACY) {
		(void)wire_client_decode(s->buf, o.first.len, &header);
		stream_expect(s, &header);
	}
	what = not_offered(&o, &header);
	if (what != NULL)
		log_stranger(clock_ns(), "%s port %u: %s is not served here",
			     s->conn.peer, s->conn.peer_port, what);
	/* nothing at all: somebody looked whether the port is open */
	if (what == NULL && o.have > 0 && enter(c, &header)) {
		if (o.first.kind == WIRE_TCP_CLIENT)
			acknowledge(s, &header);
		receive(c, &o, &header);
		leave(c);
	}
	/* the peer waits for our end; what is kept is freed by the server */
	(void)shutdown(s->fd, SHUT_RDWR);
	atomic_store(&c->ended, true);
	return NULL;
}

static size_t read_bytes(const struct options *o)
{
	size_t len = o->len_bytes > 0 ? o->len_bytes : OPTIONS_TCP_LEN;

	return len > READ_BYTES_MIN ? len : READ_BYTES_MIN;
}

static void start_conn(struct conn *c)
{
	int rc = stream_start(c->stream, serve, c);

	c->started = true;
	if (rc < 0) {
		log_error("no thread for a stream from %s port %u: %s",
			  c->stream->conn.peer, c->stream->conn.peer_port,
			  strerror(-rc));
		atomic_store(&c->ended, true);
	}
}

static void accept_one(struct server *v)
{
	struct sock_addr peer = { .len = sizeof(peer.ss) };
	int fd = accept(v->listen_fd, (struct sockaddr *)&peer.ss, &peer.len);
	struct conn *c;

	if (fd < 0) {
		/* gone again, or out of something: the next look tries anew */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
		    errno == ENOBUFS) {
			log_stranger(clock_ns(), "a client has to wait: %s",
				     strerror(errno));
			clock_sleep_until(clock_ns() + 10 * CLOCK_MS_NS);
		}
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c != NULL)
		c->stream = stream_new(fd, true, false, true, read_bytes(v->o));
	if (c == NULL || c->stream == NULL) {
		log_error("no memory for another stream");
		free(c);
		close(fd);
		return;
	}
	c->server = v;
	c->stream->buffer.asked = v->o->window_bytes;
	c->accepted_ns = clock_ns();
	sock_address(&peer, &c->addr);
	stream_name(c->stream, &peer);
	*v->conns_end = c;
	v->conns_end = &c->next;
}

/* Starts what may start: with -1 only the streams of one client at a time. */
static void start_conns(struct server *v)
{
	const char *serving = NULL;

	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		if (c->started && serving == NULL)
			serving = c->stream->conn.peer;
	}
	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		if (c->started)
			continue;
		if ((v->o->single || v->o->one_off) && serving != NULL &&
		    strcmp(serving, c->stream->conn.peer) != 0)
			continue;
		serving = c->stream->conn.peer;
		start_conn(c);
	}
}

/* Frees connections that have ended and left the report. */
static void reap(struct server *v)
{
	struct conn **at = &v->conns;

	while (*at != NULL) {
		struct conn *c = *at;

		if (!atomic_load(&c->ended) ||
		    (c->reports && !atomic_load(&c->stream->reported))) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (v->conns_end == &c->next)
			v->conns_end = at;
		stream_join(c->stream);
		stream_free(c->stream);
		free(c);
	}
}

/* Ends what goes beyond the limits. */
static void police(struct server *v)
{
	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		struct stream *s = c->stream;
		int64_t begun_ns = atomic_load(&s->start_ns);
		uint64_t bytes = counter_get(&s->io.bytes);
		bool may;

		if (!atomic_load(&c->served) || atomic_load(&s->cut) ||
		    begun_ns == 0)
			continue;
		pthread_mutex_lock(&v->lock);
		may = policy_moved(v->policy, &c->addr, bytes - c->seen_bytes,
				   begun_ns, clock_ns(), &s->refusal);
		pthread_mutex_unlock(&v->lock);
		c->seen_bytes = bytes;
		if (may)
			continue;
		atomic_store(&s->cut, true);
		stream_stop(s);
	}
}

/* Is a client being served, and not only waiting? */
static bool serving(const struct server *v)
{
	for (const struct conn *c = v->conns; c != NULL; c = c->next) {
		if (c->started)
			return true;
	}
	return false;
}

/* Has the server had its fill: -t, -P, --one-off? */
static bool had_enough(const struct server *v)
{
	unsigned accepted = atomic_load(&v->accepted);
	unsigned limit = v->o->parallel_set ? v->o->parallel : 0;
	bool quiet = v->conns == NULL;

	if (clock_ns() >= v->end_ns)
		return true;
	if (v->udp != NULL) {
		accepted = server_udp_accepted(v->udp);
		quiet = server_udp_quiet(v->udp);
	}
	if (v->o->one_off && accepted > 0)
		return v->udp != NULL ? quiet : !serving(v);
	if (limit == 0 || accepted < limit)
		return false;
	if (v->udp != NULL)
		server_udp_refuse(v->udp);
	return quiet;
}

static void look(struct server *v)
{
	struct pollfd p = { .fd = v->listen_fd, .events = POLLIN };
	bool full = v->o->parallel_set &&
		    atomic_load(&v->accepted) >= v->o->parallel;

	if (v->udp != NULL || full) {
		clock_sleep_until(clock_ns() + LOOK_MS * CLOCK_MS_NS / 5);
	} else if (poll(&p, 1, v->conns != NULL ? LOOK_MS / 5 : LOOK_MS) > 0) {
		accept_one(v);
	}
	reap(v);
	police(v);
	/* after its one client the others are turned away */
	if (!v->o->one_off || atomic_load(&v->accepted) == 0 || serving(v))
		start_conns(v);
}

/* Ends what runs; the partial reports are printed. */
static void wind_up(struct server *v)
{
	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		stream_stop(c->stream);
		if (!c->started)
			atomic_store(&c->ended, true);
	}
	if (v->udp != NULL)
		server_udp_stop(v->udp);
	/* the reporter goes when nobody can add a stream any more */
	for (struct conn *c = v->conns; c != NULL; c = c->next)
		stream_join(c->stream);
	atomic_store(&v->finish, true);
	report_poke(v->report);
	(void)pthread_join(v->reporter, NULL);
	while (v->conns != NULL) {
		reap(v);
		if (v->conns != NULL)
			clock_sleep_until(clock_ns() + CLOCK_MS_NS);
	}
}

static void banner(struct server *v)
{
	const struct options *o = v->o;
	struct out_banner b = {
		.server = true,
		.udp = o->udp,
		.port = o->port,
		.bind = o->bind,
		.len_bytes = o->len_bytes,
		.window_asked = o->window_bytes,
		.window_granted = sock_window(v->listen_fd, false),
		.flows = 0,
		.pid = (uint32_t)getpid(),
		.wall_ns = clock_wall_ns(),
		.tos = o->tos,
		.nodelay = o->nodelay,
		.mss = o->mss_bytes,
	};

	if (b.len_bytes == 0)
		b.len_bytes = o->udp ? OPTIONS_UDP_LEN : OPTIONS_TCP_LEN;
	report_banner(v->report, &b);
}

/* Opens the port; says why when it can't. */
static int open_port(struct server *v)
{
	const struct options *o = v->o;
	const char *host = o->bind_host[0] != '\0' ? o->bind_host : NULL;
	const char *shown = host != NULL ? host : "any address";
	int family = o->family == 0 && host == NULL ? 4 : o->family;
	const char *why = NULL;
	char what[SOCK_WHAT_BYTES];
	int rc = sock_resolve(host, o->port, family, o->udp, &v->address, 1,
			      &why);

	if (rc < 0) {
		log_error("-B: \"%s\": %s", shown, why);
		return rc;
	}
	v->listen_fd = sock_open(&v->address, o, what);
	if (v->listen_fd < 0) {
		rc = v->listen_fd;
		log_error("%s: %s", what, strerror(-rc));
		return rc;
	}
	if (o->udp && o->window_bytes == 0)
		sock_raise_receive(v->listen_fd, RECEIVE_BUFFER_BYTES);
	rc = sock_listen(v->listen_fd, &v->address, o->udp);
	if (rc < 0) {
		log_error("listen on %s, %s port %u: %s", shown,
			  o->udp ? "UDP" : "TCP", (unsigned)o->port,
			  strerror(-rc));
		close(v->listen_fd);
	}
	return rc;
}

/* Goes into the background once the port is open.  Where stdout is not a
 * file of its own, what follows is lost, as with iperf 2.1. */
static int go_background(const struct server *v)
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		return -errno;
	if (pid > 0) {
		log_error("server runs in the background, process %ld",
			  (long)pid);
		_exit(0);
	}
	(void)setsid();
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	(void)dup2(null, STDIN_FILENO);
	if (v->o->output == NULL)
		(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

/* Starts the threads; they must come after the fork of -D. */
static int start(struct server *v)
{
	int rc;

	v->policy = policy_new(&v->o->limits);
	if (v->policy == NULL)
		return -ENOMEM;
	v->report = report_new(v->o, v->outs, v->n_outs);
	if (v->report == NULL)
		return -ENOMEM;
	banner(v);
	if (v->o->daemonize) {
		rc = go_background(v);
		if (rc < 0)
			return rc;
	}
	rc = stream_thread(&v->reporter, report_loop, v);
	if (rc < 0 || !v->o->udp)
		return rc;
	v->udp = server_udp_start(v->listen_fd, v->address.ss.ss_family, v->o,
				  v->report);
	if (v->udp != NULL)
		return 0;
	atomic_store(&v->finish, true);
	report_poke(v->report);
	(void)pthread_join(v->reporter, NULL);
	return -ENOMEM;
}

int server_run(const struct options *o, struct out *outs, size_t n_outs,
	       const _Atomic int *stop)
{
	struct server v = {
		.o = o,
		.outs = outs,
		.n_outs = n_outs,
		.stop = stop,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.conns_end = &v.conns,
	};
	int rc = open_port(&v);

	if (rc < 0)
		return 1;
	rc = start(&v);
	if (rc < 0) {
		log_error("server: %s", strerror(-rc));
		report_free(v.report);
		policy_free(v.policy);
		close(v.listen_fd);
		return 1;
	}
	v.end_ns = o->time_ns > 0 ? clock_ns() + o->time_ns : INT64_MAX;
	while (atomic_load(stop) == 0 && !had_enough(&v))
		look(&v);
	wind_up(&v);
	server_udp_free(v.udp);
	report_free(v.report);
	policy_free(v.policy);
	log_strangers_end();
	close(v.listen_fd);
	return 0;
}
