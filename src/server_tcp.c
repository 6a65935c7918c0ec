#include "server_tcp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounce.h"
#include "clock.h"
#include "log.h"
#include "tcp.h"

/* A client that sends less than a header waits at most this long. */
#define HEADER_NS 5000000000
/* One that is refused is read for so long, so that it reads why. */
#define REFUSED_NS CLOCK_SECOND_NS
/* A client that is to be connected back to is tried for so long, this often. */
#define BACK_NS CLOCK_SECOND_NS
#define BACK_STEP_NS (50 * CLOCK_MS_NS)
/* Read for telling what a stream is, and at least this for data. */
#define READ_BYTES_MIN 512
/* While somebody is served, one look becomes so many. */
#define BUSY_LOOKS 5
/* One accepted connection. */
struct conn {
	struct conn *next;
	struct server_tcp *server;
	struct stream *stream;
	struct stream *_Atomic other; /* sends at the same time, or after */
	struct wire_client header;
	bool connects;         /* the other has to connect first */
	_Atomic int unwanted;  /* it need not any more */
	struct sock_addr back; /* where to: the client itself */
	int64_t accepted_ns;
	struct policy_addr addr;
	bool started;        /* has its thread */
	bool reports;        /* was handed to the report */
	bool other_reports;  /* so was the other */
	atomic_bool served;  /* entered: the limits watch it */
	atomic_bool ended;   /* its thread is done */
	uint64_t seen_bytes; /* of the main thread: when it looked last */
	uint64_t other_bytes;
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
	bool only;            /* this one client */
	struct policy_addr peer;
	uint32_t streams;
	int64_t longest_ns;
	const char *key;      /* NULL: none is needed */
	int64_t key_until_ns; /* INT64_MAX: it does not expire */
};

/* What a stream has shown of itself. */
struct opening {
	struct wire_tcp_first first;
	size_t have;      /* bytes read so far */
	int64_t first_ns; /* when the first of them came */
};

/* Reads until the opening can be told, the peer ends or HEADER_NS is over.
 * plain: whatever comes is data (-C). */
static void read_opening(struct stream *s, int64_t accepted_ns,
			 struct opening *o, bool plain)
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
		if (plain)
			o->first.kind = WIRE_TCP_RAW;
		else
			o->first = wire_tcp_first(s->buf, o->have, eof);
		if (eof && o->first.kind == WIRE_TCP_MORE)
			o->first.kind = WIRE_TCP_RAW;
	}
}

/* The name of what this server can't do for the client, NULL: it can. */
static const char *not_offered(const struct opening *o)
{
	if (o->first.kind == WIRE_TCP_OTHER)
		return o->first.what;
	if (o->first.kind == WIRE_TCP_IPERF3)
		return "iperf3";
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

/* Has it the key?  How long a wrong one takes tells nothing of the right one.
 */
static bool has_key(const struct conn *c, const struct opening *o)
{
	const struct server_tcp *v = c->server;
	const uint8_t *key = NULL;
	size_t length = 0;
	unsigned differ = 0;

	if (v->key == NULL)
		return true;
	if (o->first.kind == WIRE_TCP_CLIENT)
		length = wire_key(c->stream->buf, o->first.len, &key);
	if (length == 0 || length != strlen(v->key) ||
	    clock_ns() > v->key_until_ns)
		return false;
	for (size_t i = 0; i < length; i++)
		differ |= (unsigned)(key[i] ^ (uint8_t)v->key[i]);
	return differ == 0;
}

/* May it be served?  Then it counts until leave. */
static bool enter(struct conn *c, const struct opening *o)
{
	const struct wire_client *header = &c->header;
	struct server_tcp *v = c->server;
	struct policy_ask ask = { .addr = c->addr };
	struct policy_refusal refusal = { .why = POLICY_KEY };
	char why[POLICY_TEXT_BYTES];
	bool may = has_key(c, o);

	stream_ask(header, &ask);
	if (may) {
		pthread_mutex_lock(&v->lock);
		may = policy_enter(v->policy, &ask, &refusal);
		pthread_mutex_unlock(&v->lock);
	}
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

static size_t read_bytes(const struct options *o)
{
	size_t len = o->len_bytes > 0 ? o->len_bytes : OPTIONS_TCP_LEN;

	return len > READ_BYTES_MIN ? len : READ_BYTES_MIN;
}

/* The other stream, and the connection that it waits for. */
static void stop_other(struct conn *c)
{
	struct stream *s = atomic_load(&c->other);

	atomic_store(&c->unwanted, 1);
	if (s != NULL)
		stream_stop(s);
}

/* How many streams the test has: of a client that is connected back to, its
 * own; the server's have no header. */
static uint32_t expected(const struct server_tcp *v,
			 const struct wire_client *header)
{
	return v->only ? v->streams : wire_streams(header);
}

/* Does its client stamp its writes?  iperf 2 does in this direction alone. */
static bool tells_trips(const struct wire_client *header)
{
	return header->has_ext && (header->upper & WIRE_UPPER_TRIP_TIMES) != 0;
}

/* A test: what was read already counts, then the rest is read. */
static void receive(struct conn *c, const struct opening *o,
		    const struct wire_client *header)
{
	struct server_tcp *v = c->server;
	struct stream *s = c->stream;
	size_t counted = o->have;
	/* a client that receives takes all that comes for data */
	bool tells = is_ours(header) && !wire_wish(header).full;

	if (o->first.kind == WIRE_TCP_LEGACY)
		counted -= o->first.len;
	if (tells_trips(header) && stream_series(s) == 0) {
		s->at_once = true;
		tcp_trips(s, s->buf + o->first.len, o->have - o->first.len);
	}
	if (counted > 0) {
		counter_add(&s->io.bytes, counted);
		counter_add(&s->io.calls, 1);
		atomic_store(&s->start_ns, o->first_ns);
	}
	if (report_add(v->report, s, s->conn.peer, expected(v, header)) < 0) {
		log_stranger(clock_ns(),
			     "no memory for a stream from %s port %u",
			     s->conn.peer, s->conn.peer_port);
		return;
	}
	c->reports = true;
	atomic_fetch_add(&v->accepted, 1);
	tcp_receive(s);
	if (tells)
		tcp_tell(s);
	if (atomic_load(&s->cut))
		tell_refusal(c, &s->refusal, tells);
	atomic_store(&s->closed, true);
	report_poke(v->report);
}

/* --bounceback: its first request is there, or the beginning of it. */
static void bounce(struct conn *c, const struct opening *o)
{
	struct server_tcp *v = c->server;
	struct stream *s = c->stream;

	s->conn.mode = "bounceback";
	atomic_store(&s->start_ns, o->first_ns);
	if (report_add(v->report, s, s->conn.peer, 1) < 0) {
		log_stranger(clock_ns(),
			     "no memory for a stream from %s port %u",
			     s->conn.peer, s->conn.peer_port);
		return;
	}
	c->reports = true;
	atomic_fetch_add(&v->accepted, 1);
	bounce_reply(s, o->have);
	atomic_store(&s->closed, true);
	report_poke(v->report);
}

/* What a client asks for, within bounds. */
static void give_job(struct stream *s, const struct wire_client *header)
{
	size_t asked =
		header->buflen > 0 ? (size_t)header->buflen : OPTIONS_TCP_LEN;

	s->receiver = false;
	s->job = (struct stream_job){
		.plain = true,
		.wished = true,
		.len_bytes = asked < s->buf_bytes ? asked : s->buf_bytes,
		.len_asked = header->buflen > 0,
		.rate.bps = header->has_ext ? header->rate_bps : 0,
	};
	if (header->amount < 0)
		s->job.time_ns = -(int64_t)header->amount * WIRE_TICK_NS;
	else
		s->job.amount_bytes = (uint64_t)header->amount;
	s->asked_bps = s->job.rate.bps;
}

/* Sends on a stream that has its job; false: no memory. */
static bool send_on(struct server_tcp *v, struct stream *s,
		    const struct wire_client *header)
{
	char key[OUT_ADDR_BYTES + 2];

	/* its sums are not those of what comes from the same client */
	snprintf(key, sizeof(key), ">%s", s->conn.peer);
	atomic_store(&s->start_ns, clock_ns());
	if (report_add(v->report, s, key, wire_streams(header)) < 0) {
		log_stranger(clock_ns(), "no memory for a stream to %s port %u",
			     s->conn.peer, s->conn.peer_port);
		return false;
	}
	tcp_send(s);
	tcp_finish(s);
	atomic_store(&s->closed, true);
	report_poke(v->report);
	return true;
}

/* -R: the client only asks. */
static void reverse(struct conn *c)
{
	struct stream *s = c->stream;

	wire_fill(s->buf, s->buf_bytes);
	give_job(s, &c->header);
	s->conn.mode = "reverse";
	c->reports = send_on(c->server, s, &c->header);
	atomic_fetch_add(&c->server->accepted, 1);
}

/* A client may need a moment to listen: 2.1.8 asks before it does. */
static int connect_soon(struct conn *c, struct stream *s)
{
	int64_t end_ns = clock_ns() + BACK_NS;
	int rc = sock_connect(s->fd, &c->back, false, &c->unwanted);

	while (rc == -ECONNREFUSED && clock_ns() < end_ns &&
	       atomic_load(&c->unwanted) == 0) {
		char what[SOCK_WHAT_BYTES];
		int fd = sock_open(&c->back, c->server->o, what);

		if (fd < 0)
			return fd;
		/* one that was refused can't be used again everywhere */
		close(s->fd);
		s->fd = fd;
		clock_sleep_until(clock_ns() + BACK_STEP_NS);
		rc = sock_connect(s->fd, &c->back, false, &c->unwanted);
	}
	return rc;
}

/* Connects to the client; false: it can't be reached. */
static bool connect_back(struct conn *c, struct stream *s)
{
	int rc = connect_soon(c, s);

	if (rc < 0) {
		char host[OUT_ADDR_BYTES];
		uint16_t port = 0;

		sock_text(&c->back, host, sizeof(host), &port);
		log_stranger(clock_ns(), "connect back to %s port %u: %s", host,
			     (unsigned)port, strerror(-rc));
		return false;
	}
	stream_name(s, &c->back);
	return true;
}

/* The thread of the other stream. */
static void *send_other(void *arg)
{
	struct conn *c = arg;
	struct stream *s = atomic_load(&c->other);

	if (!c->connects || connect_back(c, s))
		c->other_reports = send_on(c->server, s, &c->header);
	return NULL;
}

/* A socket for the connection back: to the address that asked alone. */
static int back_socket(struct conn *c, const struct wire_client *header)
{
	char what[SOCK_WHAT_BYTES];

	if (header->port == 0 || header->port > UINT16_MAX)
		return -EINVAL;
	sock_set_port(&c->back, (uint16_t)header->port);
	c->connects = true;
	return sock_open(&c->back, c->server->o, what);
}

/* Starts the stream that the client asked for besides its own. */
static void start_other(struct conn *c, const struct wire_client *header,
			bool back)
{
	struct stream *own = c->stream;
	int fd = back ? back_socket(c, header) : own->fd;
	struct stream *s = NULL;
	int rc = fd;

	if (fd >= 0)
		s = stream_new(fd, back, false, false,
			       read_bytes(c->server->o));
	if (fd >= 0 && s == NULL) {
		rc = -ENOMEM;
		if (back)
			close(fd);
	}
	if (s != NULL) {
		give_job(s, header);
		s->omit_ns = own->omit_ns;
		s->job.shared = !back;
		if (!back)
			s->conn = own->conn;
		s->conn.mode = back ? NULL : "full-duplex";
		s->conn.client = back;
		atomic_store(&c->other, s);
		/* a server that ends has looked for it before */
		if (atomic_load(&own->stop))
			stop_other(c);
		rc = stream_start(s, send_other, c);
	}
	if (rc < 0)
		log_stranger(clock_ns(), "no stream to %s port %u: %s",
			     own->conn.peer, own->conn.peer_port,
			     strerror(-rc));
}

static void join_other(struct conn *c)
{
	struct stream *s = atomic_load(&c->other);

	if (s != NULL)
		stream_join(s);
}

static void run_test(struct conn *c, const struct opening *o)
{
	const struct wire_client *header = &c->header;
	struct wire_wish w = wire_wish(header);

	if (o->first.kind == WIRE_TCP_BOUNCE) {
		bounce(c, o);
		return;
	}
	if (w.reverse) {
		reverse(c);
		return;
	}
	if (w.full)
		c->stream->conn.mode = "full-duplex";
	if (w.full || w.now)
		start_other(c, header, !w.full);
	receive(c, o, header);
	/* the client waits for this end, not for that of the other */
	if (!w.full)
		(void)shutdown(c->stream->fd, SHUT_RDWR);
	if (w.back && !w.now && !atomic_load(&c->stream->stop))
		start_other(c, header, true);
	join_other(c);
}

static void *serve(void *arg)
{
	struct conn *c = arg;
	struct stream *s = c->stream;
	struct opening o;
	const char *what;

	read_opening(s, c->accepted_ns, &o, c->server->o->compat);
	if (o.first.kind == WIRE_TCP_CLIENT ||
	    o.first.kind == WIRE_TCP_LEGACY) {
		(void)wire_client_decode(s->buf, o.first.len, &c->header);
		stream_expect(s, &c->header);
	}
	what = not_offered(&o);
	if (what != NULL)
		log_stranger(clock_ns(), "%s port %u: %s is not served here",
			     s->conn.peer, s->conn.peer_port, what);
	/* nothing at all: somebody looked whether the port is open */
	if (what == NULL && o.have > 0 && enter(c, &o)) {
		if (o.first.kind == WIRE_TCP_CLIENT)
			acknowledge(s, &c->header);
		run_test(c, &o);
		leave(c);
	}
	/* the peer waits for our end; what is kept is freed by the server */
	(void)shutdown(s->fd, SHUT_RDWR);
	atomic_store(&c->ended, true);
	return NULL;
}

static void start_conn(struct conn *c)
{
	int rc = stream_start(c->stream, serve, c);

	c->started = true;
	if (rc < 0) {
		log_stranger(clock_ns(),
			     "no thread for a stream from %s port %u: %s",
			     c->stream->conn.peer, c->stream->conn.peer_port,
			     strerror(-rc));
		atomic_store(&c->ended, true);
	}
}

/* A client waits for nobody but its server. */
static bool is_wanted(const struct server_tcp *v, const struct sock_addr *peer)
{
	struct policy_addr addr;

	sock_address(peer, &addr);
	return !v->only ||
	       memcmp(addr.bytes, v->peer.bytes, sizeof(addr.bytes)) == 0;
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
	if (!is_wanted(v, &peer)) {
		close(fd);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c != NULL)
		c->stream = stream_new(fd, true, false, true, read_bytes(v->o));
	if (c == NULL || c->stream == NULL) {
		log_stranger(clock_ns(), "no memory for another stream");
		free(c);
		close(fd);
		return;
	}
	c->server = v;
	c->header.threads = 1;
	c->stream->longest_ns = v->longest_ns;
	c->stream->at_once = options_at_once(v->o);
	c->stream->conn.reverse = v->only;
	c->stream->omit_ns = v->only ? v->o->omit_ns : 0;
	c->stream->buffer.asked = v->o->window_bytes;
	c->accepted_ns = clock_ns();
	c->back = peer;
	sock_address(&peer, &c->addr);
	stream_name(c->stream, &peer);
	*v->conns_end = c;
	v->conns_end = &c->next;
}

void server_tcp_only(struct server_tcp *v, const struct sock_addr *peer,
		     uint32_t streams, int64_t longest_ns)
{
	v->only = true;
	sock_address(peer, &v->peer);
	v->streams = streams;
	v->longest_ns = longest_ns;
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

		struct stream *other = atomic_load(&c->other);

		if (!atomic_load(&c->ended) ||
		    (c->reports && !atomic_load(&c->stream->reported)) ||
		    (c->other_reports && !atomic_load(&other->reported))) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (v->conns_end == &c->next)
			v->conns_end = at;
		stream_join(c->stream);
		stream_free(other);
		stream_free(c->stream);
		free(c);
	}
}

/* Has this stream of the client gone beyond the limits?  Then it ends. */
static void police_one(struct conn *c, struct stream *s, uint64_t *seen)
{
	struct server_tcp *v = c->server;
	int64_t begun_ns = atomic_load(&s->start_ns);
	uint64_t bytes = counter_get(&s->io.bytes);
	struct policy_refusal refusal;
	bool may;

	if (begun_ns == 0 || atomic_load(&s->cut))
		return;
	pthread_mutex_lock(&v->lock);
	may = policy_moved(v->policy, &c->addr, bytes - *seen, begun_ns,
			   clock_ns(), &refusal);
	pthread_mutex_unlock(&v->lock);
	*seen = bytes;
	if (may)
		return;
	s->refusal = refusal;
	atomic_store(&s->cut, true);
	stream_stop(s);
}

static void police(struct server_tcp *v)
{
	for (struct conn *c = v->conns; c != NULL; c = c->next) {
		struct stream *other = atomic_load(&c->other);

		if (!atomic_load(&c->served))
			continue;
		police_one(c, c->stream, &c->seen_bytes);
		if (other != NULL)
			police_one(c, other, &c->other_bytes);
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

void server_tcp_key(struct server_tcp *v, const char *key, int64_t until_ns)
{
	v->key = key;
	v->key_until_ns = until_ns;
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
		stop_other(c);
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
