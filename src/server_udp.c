#include "server_udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "session.h"
#include "udp.h"

#define RECEIVE_BYTES 65536
/* Sessions are looked after this often, also while nothing arrives. */
#define CARE_NS (20 * CLOCK_MS_NS)
/* The two clocks are compared this often. */
#define COMPARE_NS CLOCK_MS_NS
/* A server that ends after its last test answers markers for so long. */
#define LINGER_NS (500 * CLOCK_MS_NS)
/* iperf 2.2, whose clients show the loss of enhanced reports only. */
#define VERSION_2_2 0x00020002u
#define GROUP_MAX 65535

/* What a session has besides its protocol. */
struct peer {
	struct stream *stream;   /* NULL once the report has its total */
	struct udp_arrival last; /* whom to answer, and from where */
	char address[OUT_ADDR_BYTES];
};

struct server_udp {
	int fd;
	const struct options *o;
	struct report *report;
	struct session_table *sessions;
	struct stream *leaving; /* ended, the report still looks at them */
	pthread_t thread;
	atomic_bool stop;
	atomic_bool refuse;
	atomic_uint accepted;
	atomic_uint ended;
	_Atomic int64_t quiet_ns;     /* when the last test ended or repeated */
	char serving[OUT_ADDR_BYTES]; /* -1: the one client */

	int64_t offset_ns;   /* wall clock minus monotonic clock */
	int64_t compared_ns; /* when they were compared */
	int64_t care_ns;     /* when sessions are looked after next */
	uint8_t buf[RECEIVE_BYTES];
};

/* The line that the kernel's wall-clock stamps are put on. */
static int64_t to_monotonic(struct server_udp *u, int64_t stamp_ns)
{
	if (stamp_ns == 0)
		return clock_ns();
	if (stamp_ns - u->offset_ns - u->compared_ns >= COMPARE_NS) {
		int64_t before_ns = clock_ns();
		int64_t wall_ns = clock_wall_ns();

		u->compared_ns = (before_ns + clock_ns()) / 2;
		u->offset_ns = wall_ns - u->compared_ns;
	}
	return stamp_ns - u->offset_ns;
}

static uint32_t group_size(const struct session *s)
{
	if (!s->has_client || s->client.threads < 1 ||
	    s->client.threads > GROUP_MAX)
		return 1;
	return s->client.threads;
}

/* How long or how much the client says it will send. */
static void expect(struct stream *st, const struct session *s)
{
	if (!s->has_client)
		return;
	if (s->client.amount < 0)
		st->expect_ns = -(int64_t)s->client.amount * 10 * CLOCK_MS_NS;
	else
		st->expect_bytes = (uint64_t)s->client.amount;
}

static struct stream *new_stream(struct server_udp *u, const struct session *s,
				 const struct udp_arrival *a)
{
	struct stream *st = stream_new(u->fd, false, true, true, 0);

	if (st == NULL)
		return NULL;
	if (stream_ledger(st, s->base) < 0) {
		stream_free(st);
		return NULL;
	}
	stream_name(st, &a->from);
	if (a->has_to) {
		struct sock_addr to = { .ss = a->to, .len = a->from.len };

		sock_text(&to, st->conn.local, sizeof(st->conn.local), NULL);
	}
	if (s->has_client && s->client.has_ext)
		wire_version_text(st->conn.peer_version,
				  sizeof(st->conn.peer_version),
				  s->client.version_u, s->client.version_l);
	expect(st, s);
	atomic_store(&st->start_ns, s->first_ns);
	return st;
}

/* Gives the session a stream and shows it; false: no memory. */
static bool begin_test(struct server_udp *u, struct session *s,
		       const struct udp_arrival *a, int64_t arrival_ns)
{
	struct peer *p = s->owner;

	session_begin(s, u->buf, a->bytes, arrival_ns);
	p->stream = new_stream(u, s, a);
	if (p->stream == NULL)
		return false;
	memcpy(p->address, p->stream->conn.peer, sizeof(p->address));
	if (report_add(u->report, p->stream, p->address, group_size(s)) < 0) {
		stream_free(p->stream);
		p->stream = NULL;
		return false;
	}
	memcpy(u->serving, p->address, sizeof(u->serving));
	atomic_fetch_add(&u->accepted, 1);
	return true;
}

static bool busy(const struct server_udp *u)
{
	return atomic_load(&u->accepted) != atomic_load(&u->ended);
}

/* With -1 only the client that is served may bring more streams. */
static bool welcome(const struct server_udp *u, const struct udp_arrival *a)
{
	char address[OUT_ADDR_BYTES];

	if (atomic_load(&u->refuse))
		return false;
	if (!u->o->single || !busy(u))
		return true;
	sock_text(&a->from, address, sizeof(address), NULL);
	return strcmp(address, u->serving) == 0;
}

static struct session *new_session(struct server_udp *u,
				   const struct session_key *key,
				   const struct udp_arrival *a,
				   int64_t arrival_ns)
{
	struct session *s;
	struct peer *p;

	if (!session_opens(u->buf, a->bytes) || !welcome(u, a))
		return NULL;
	p = calloc(1, sizeof(*p));
	s = p == NULL ? NULL : session_add(u->sessions, key);
	if (s != NULL) {
		s->owner = p;
		if (begin_test(u, s, a, arrival_ns))
			return s;
		session_drop(u->sessions, s);
	}
	free(p);
	log_error("no memory for another UDP session");
	return NULL;
}

static void answer(struct server_udp *u, struct session *s)
{
	const struct peer *p = s->owner;

	if (!session_may_answer(s))
		return;
	/* a report that can't be sent is asked for again by the next marker */
	if (udp_answer(u->fd, &p->last, s->report, s->report_bytes) == 0)
		s->bytes_out += s->report_bytes;
}

/* iperf 2.2 clients show 0 % for a report that is not enhanced. */
static bool enhanced(const struct server_udp *u, const struct session *s)
{
	return u->o->enhanced ||
	       (s->has_client && s->client.has_ext && !s->ours &&
		s->client.version_u >= VERSION_2_2);
}

/* The test is over: totals, report, answer. */
static void end_test(struct server_udp *u, struct session *s, int64_t now_ns)
{
	struct peer *p = s->owner;
	bool marker = s->phase == SESSION_SETTLING;
	struct stats_snap counted;

	stats_rx_end(p->stream->rx, s->total);
	stream_snap(p->stream, &counted);
	session_finish(s, &counted, enhanced(u, s), now_ns);
	if (marker)
		answer(u, s);
	stream_ended(p->stream, s->end_ns);
	atomic_store(&p->stream->closed, true);
	p->stream->next = u->leaving;
	u->leaving = p->stream;
	p->stream = NULL;
	atomic_store(&u->quiet_ns, now_ns);
	atomic_fetch_add(&u->ended, 1);
	report_poke(u->report);
}

static void end_if_done(struct server_udp *u, struct session *s, int64_t now_ns)
{
	struct peer *p = s->owner;

	if (p->stream != NULL &&
	    session_done(s, stats_rx_missing(p->stream->rx, s->total), now_ns))
		end_test(u, s, now_ns);
}

/* The end marker of a client that starts at 1 is its last number. */
static void count_marker(struct session *s, size_t bytes, int64_t arrival_ns,
			 const struct wire_udp *h)
{
	struct peer *p = s->owner;

	if (s->base == 1 && s->total > 1)
		stats_rx_add(p->stream->rx, s->total - 1, (uint32_t)bytes,
			     h->sent_ns, arrival_ns);
}

static void handle(struct server_udp *u, const struct udp_arrival *a);

/* A new test from the address of a finished one. */
static void renew(struct server_udp *u, struct session *s,
		  const struct udp_arrival *a, int64_t arrival_ns)
{
	if (!welcome(u, a))
		return;
	if (begin_test(u, s, a, arrival_ns)) {
		handle(u, a);
		return;
	}
	free(s->owner);
	session_drop(u->sessions, s);
	log_error("no memory for another UDP session");
}

static void handle(struct server_udp *u, const struct udp_arrival *a)
{
	int64_t arrival_ns = to_monotonic(u, a->stamp_ns);
	int64_t wall_ns = arrival_ns + u->offset_ns;
	struct session_key key;
	struct wire_udp h;

	if (!session_key(&key, &a->from.ss))
		return;

	struct session *s = session_find(u->sessions, &key);

	if (s == NULL)
		s = new_session(u, &key, a, arrival_ns);
	if (s == NULL)
		return;

	struct peer *p = s->owner;

	bool was_ours = s->ours;
	enum session_verdict verdict =
		session_see(s, u->buf, a->bytes, arrival_ns, wall_ns, &h);

	p->last = *a;
	/* number 0, which tells that it is one of ours, may have been lost */
	if (s->ours && !was_ours && p->stream != NULL)
		stats_rx_from_zero(p->stream->rx);
	switch (verdict) {
	case SESSION_DATA:
		stats_rx_add(p->stream->rx, h.seq, (uint32_t)a->bytes,
			     h.sent_ns, arrival_ns);
		if (s->phase == SESSION_SETTLING)
			end_if_done(u, s, arrival_ns);
		break;
	case SESSION_MARKER:
		count_marker(s, a->bytes, arrival_ns, &h);
		atomic_store(&p->stream->ending, true);
		end_if_done(u, s, arrival_ns);
		break;
	case SESSION_REPEAT:
		answer(u, s);
		atomic_store(&u->quiet_ns, arrival_ns);
		break;
	case SESSION_RENEW:
		renew(u, s, a, arrival_ns);
		break;
	case SESSION_IGNORE:
		break;
	}
}

struct care {
	struct server_udp *u;
	int64_t now_ns;
};

static void care_for(struct session *s, void *arg)
{
	struct care *c = arg;
	struct peer *p = s->owner;

	if (p->stream != NULL) {
		stats_rx_settle(p->stream->rx, c->now_ns);
		end_if_done(c->u, s, c->now_ns);
	} else if (session_forget(s, c->now_ns)) {
		free(p);
		session_drop(c->u->sessions, s);
	}
}

static void free_reported(struct server_udp *u)
{
	struct stream **at = &u->leaving;

	while (*at != NULL) {
		struct stream *st = *at;

		if (!atomic_load(&st->reported)) {
			at = &st->next;
			continue;
		}
		*at = st->next;
		stream_free(st);
	}
}

static void look_after(struct server_udp *u, int64_t now_ns)
{
	struct care c = { .u = u, .now_ns = now_ns };

	u->care_ns = now_ns + CARE_NS;
	if (session_count(u->sessions) > 0)
		session_each(u->sessions, care_for, &c);
	free_reported(u);
}

static void cut_short(struct session *s, void *arg)
{
	struct care *c = arg;
	struct peer *p = s->owner;

	if (p->stream != NULL) {
		p->stream->interrupted = true;
		end_test(c->u, s, c->now_ns);
	}
}

static void *serve(void *arg)
{
	struct server_udp *u = arg;
	struct udp_arrival a;

	while (!atomic_load_explicit(&u->stop, memory_order_relaxed)) {
		int rc = udp_receive(u->fd, u->buf, sizeof(u->buf), &a);

		if (rc == 0)
			handle(u, &a);
		/* the stamps tell the time while datagrams come */
		if (rc < 0 || u->compared_ns >= u->care_ns || a.stamp_ns == 0) {
			int64_t now_ns = clock_ns();

			if (now_ns >= u->care_ns)
				look_after(u, now_ns);
		}
	}

	struct care c = { .u = u, .now_ns = clock_ns() };

	session_each(u->sessions, cut_short, &c);
	return NULL;
}

struct server_udp *server_udp_start(int fd, int family, const struct options *o,
				    struct report *r)
{
	struct server_udp *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->fd = fd;
	u->o = o;
	u->report = r;
	u->sessions = session_table_new();
	udp_prepare(fd, family, CARE_NS);
	if (u->sessions == NULL || stream_thread(&u->thread, serve, u) < 0) {
		session_table_free(u->sessions);
		free(u);
		return NULL;
	}
	return u;
}

unsigned server_udp_accepted(const struct server_udp *u)
{
	return atomic_load(&u->accepted);
}

bool server_udp_quiet(const struct server_udp *u)
{
	return !busy(u) && clock_ns() - atomic_load(&u->quiet_ns) >= LINGER_NS;
}

void server_udp_refuse(struct server_udp *u)
{
	atomic_store(&u->refuse, true);
}

void server_udp_stop(struct server_udp *u)
{
	atomic_store(&u->stop, true);
	(void)pthread_join(u->thread, NULL);
}

static void free_owner(struct session *s, void *arg)
{
	(void)arg;
	free(s->owner);
}

void server_udp_free(struct server_udp *u)
{
	if (u == NULL)
		return;
	free_reported(u);
	session_each(u->sessions, free_owner, NULL);
	session_table_free(u->sessions);
	free(u);
}
