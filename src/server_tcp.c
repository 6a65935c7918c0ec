#include "server_tcp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "tcp.h"

/* A client that sends less than a header waits at most this long. */
#define HEADER_NS 5000000000
/* One that is refused is read for so long, so that it reads why. */
#define REFUSED_NS CLOCK_SECOND_NS
/* Read for telling what a stream is, and at least this for data. */
#define READ_BYTES_MIN 512
/* While somebody is served, one look becomes so many. */
#define BUSY_LOOKS 5
/* One accepted connection. */
struct conn {
	struct conn *next;
	struct server_tcp *server;
	struct stream *stream;
	int64_t accepted_ns;
	struct policy_addr addr;
	bool started;        /* has its thread */
	bool reports;        /* was handed to the report */
	atomic_bool served;  /* entered: the limits watch it */
	atomic_bool ended;   /* its thread is done */
	uint64_t seen_bytes; /* of the main thread: when it looked last */
};

struct server_tcp {
	const struct options *o;
	struct report *report;
	int listen_fd;
	struct conn *conns;      /* the longest waiting first */
	struct conn **conns_end; /* where the next one hangs */
	struct policy *policy;
	pthread_mutex_t lock; /* of policy */
	atomic_uint accepted; /* streams that were tests */
};

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
	struct server_tcp *v = c->server;
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
	struct server_tcp *v = c->server;

	atomic_store(&c->served, false);
	pthread_mutex_lock(&v->lock);
	policy_leave(v->policy, &c->addr);
	pthread_mutex_unlock(&v->lock);
}

/* A test: what was read already counts, then the rest is read. */
static void receive(struct conn *c, const struct opening *o,
		    const struct wire_client *header)
{
	struct server_tcp *v = c->server;
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

static void accept_one(struct server_tcp *v)
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
static void start_conns(struct server_tcp *v)
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
static void reap(struct server_tcp *v)
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
static void police(struct server_tcp *v)
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

struct server_tcp *server_tcp_new(int fd, const struct options *o,
				  struct report *r)
{
	struct server_tcp *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->listen_fd = fd;
	v->o = o;
	v->report = r;
	v->conns_end = &v->conns;
	v->policy = policy_new(&o->limits);
	if (v->policy == NULL || pthread_mutex_init(&v->lock, NULL) != 0) {
		policy_free(v->policy);
		free(v);
		return NULL;
	}
	return v;
}

unsigned server_tcp_accepted(const struct server_tcp *v)
{
	return atomic_load(&v->accepted);
}

bool server_tcp_serving(const struct server_tcp *v)
{
	for (const struct conn *c = v->conns; c != NULL; c = c->next) {
		if (c->started)
			return true;
	}
	return false;
}

bool server_tcp_quiet(const struct server_tcp *v)
{
	return v->conns == NULL;
}

void server_tcp_look(struct server_tcp *v, int wait_ms)
{
	struct pollfd p = { .fd = v->listen_fd, .events = POLLIN };
	bool full =
		v->o->parallel_set && server_tcp_accepted(v) >= v->o->parallel;

	if (v->conns != NULL || full)
		wait_ms /= BUSY_LOOKS;
	if (full)
		clock_sleep_until(clock_ns() + wait_ms * CLOCK_MS_NS);
	else if (poll(&p, 1, wait_ms) > 0)
		accept_one(v);
	reap(v);
	police(v);
	/* after its one client the others are turned away */
	if (!v->o->one_off || server_tcp_accepted(v) == 0 ||
	    server_tcp_serving(v))
		start_conns(v);
}

void server_tcp_stop(struct server_tcp *v)
{
	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		stream_stop(c->stream);
		if (!c->started)
			atomic_store(&c->ended, true);
	}
	for (struct conn *c = v->conns; c != NULL; c = c->next)
		stream_join(c->stream);
}

void server_tcp_free(struct server_tcp *v)
{
	if (v == NULL)
		return;
	while (v->conns != NULL) {
		reap(v);
		if (v->conns != NULL)
			clock_sleep_until(clock_ns() + CLOCK_MS_NS);
	}
	policy_free(v->policy);
	pthread_mutex_destroy(&v->lock);
	free(v);
}
