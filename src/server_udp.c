#include "server_udp.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "session.h"
#include "stamp.h"
#include "udp.h"
#include "wish.h"

#define RECEIVE_BYTES 65536
/* Sessions are looked after this often, also while nothing arrives. */
#define CARE_NS (20 * CLOCK_MS_NS)
/* A server that ends after its last test answers markers for so long. */
#define LINGER_NS (500 * CLOCK_MS_NS)
/* Peers that have not sent a second datagram: the oldest one makes room. */
#define PENDING_MAX 1024
/* Tests of so few datagrams that anybody could have made them up: of these,
 * too, the one that was silent longest makes room, and ends. */
#define THIN_DATAGRAMS 16
#define THIN_MAX 2048
/* Tests that are over, whose reports are kept: so too, and are forgotten. */
#define OVER_MAX 4096
/* A test that begins with a number beyond these was not begun here. */
#define FIRST_NUMBERS 64
/* A lowest one-way delay beyond this is one of clocks, not of a path. */
#define TRIP_MAX_NS (10 * CLOCK_SECOND_NS)
/* A client of ours ends its test within this time when it is told to. */
#define CUT_NS CLOCK_SECOND_NS
/* iperf 2.2, whose clients show the loss of enhanced reports only. */
#define VERSION_2_2 0x00020002u

/* -r: the server sends so long after the last word to the client (iperf 2.1).
 */
#define AFTER_NS (250 * CLOCK_MS_NS)
/* The first datagram of a peer that has not sent a second one yet. */
struct first {
	struct wire_udp h;
	uint32_t bytes;
	int64_t arrival_ns;
	bool omits; /* lies in what -O leaves out */
};

/* Sessions that make room for each other, the oldest first. */
struct queue {
	struct session *oldest;
	struct session *newest;
	unsigned count;
};

/* What a session has besides its protocol. */
struct peer {
	struct queue *in; /* NULL: in none */
	struct session *older;
	struct session *newer;
	struct first first;
	struct stream *stream;   /* NULL once the report has its total */
	struct udp_arrival last; /* whom to answer, and from where */
	char address[OUT_ADDR_BYTES];
	struct out_cpu begun; /* of the thread, as the test began */
	uint64_t crowd;       /* u->crowds at that time */
	uint64_t steps;       /* of our wall clock, at that time */
	struct policy_addr addr;
	struct policy_refusal refusal; /* NONE: it is served */
	int64_t cut_ns;      /* when it was told so in mid-test; 0: not */
	uint64_t seen_bytes; /* when the limits looked last */
	struct wire_wish wish;
	bool proven;        /* it is where it says */
	bool asked;         /* its wish was seen to, or refused */
	int64_t back_at_ns; /* -r: when; 0: not yet */
	uint64_t alone;     /* u->drops_alone that are charged or older */
	uint64_t shared;    /* u->drops_shared too */
};

struct server_udp {
	int fd;
	bool one_peer; /* only is given */
	bool group;    /* it is a multicast group's */
	bool mute;     /* nothing is answered */
	atomic_bool stop;
	atomic_bool refuse;
	const struct options *o;
	struct report *report;
	struct session_table *sessions;
	struct policy *policy;
	struct server_udp_only only;
	_Atomic uint64_t cookie;       /* what its server said */
	struct policy_refusal refusal; /* so too, once refused is set */
	atomic_bool refused;
	bool tells_drops;       /* the socket counts what it drops */
	uint32_t drops;         /* of the socket, as told last */
	struct wish *wish;      /* what is sent to clients */
	struct stream *leaving; /* ended, the report still looks at them */
	pthread_t thread;
	atomic_uint accepted;
	atomic_uint ended;
	_Atomic int64_t quiet_ns;     /* when the last test ended or repeated */
	char serving[OUT_ADDR_BYTES]; /* -1: the one client */

	struct stamp_line line; /* of the kernel's arrival stamps */
	int64_t read_ns;        /* what arrived before then has been read */
	int64_t care_ns;        /* when sessions are looked after next */
	unsigned open;          /* sessions that are not over */
	struct queue pending;   /* one datagram came: nobody is told */
	struct queue thin;      /* tests of few datagrams */
	struct queue over;
	uint64_t crowds;       /* how often there were several of them */
	uint64_t drops_alone;  /* while one session was open: its own */
	uint64_t drops_shared; /* while several were */
	uint8_t buf[RECEIVE_BYTES];
};

static int64_t to_monotonic(struct server_udp *u, int64_t stamp_ns)
{
	if (stamp_ns == 0)
		return clock_ns();
	if (stamp_due(&u->line, stamp_ns)) {
		int64_t before_ns = clock_ns();
		int64_t wall_ns = clock_wall_ns();

		stamp_compare(&u->line, (before_ns + clock_ns()) / 2, wall_ns);
	}
	return stamp_place(&u->line, stamp_ns);
}

/* The ledger of the stream begins at number base. */
static struct stream *new_stream(struct server_udp *u, const struct session *s,
				 const struct udp_arrival *a, int64_t base)
{
	struct stream *st = stream_new(u->fd, false, true, true, 0);

	if (st == NULL)
		return NULL;
	if (s->has_client)
		stream_expect(st, &s->client);
	if (stream_ledger(st, base, u->o->late_after_ns) < 0) {
		stream_free(st);
		return NULL;
	}
	stream_name(st, &a->from);
	if (a->has_to) {
		struct sock_addr to = { .ss = a->to, .len = a->from.len };

		sock_text(&to, st->conn.local, sizeof(st->conn.local), NULL);
	}
	st->drops_told = u->tells_drops;
	stream_buffer(st, u->o->window_bytes);
	return st;
}

/* Does the server's policy let this test in?  It leaves with its end. */
static bool admit(struct server_udp *u, struct session *s,
		  const struct udp_arrival *a)
{
	struct peer *p = s->owner;
	struct policy_ask ask = { .time_known = false };
	char address[OUT_ADDR_BYTES];
	char why[POLICY_TEXT_BYTES];
	uint16_t port = 0;

	if (s->has_client)
		stream_ask(&s->client, &ask);
	sock_address(&a->from, &p->addr);
	ask.addr = p->addr;
	p->seen_bytes = s->bytes_in;
	p->cut_ns = 0;
	if (policy_enter(u->policy, &ask, &p->refusal))
		return true;
	policy_text(&p->refusal, why);
	sock_text(&a->from, address, sizeof(address), &port);
	log_stranger(clock_ns(), "%s port %u refused: %s", address,
		     (unsigned)port, why);
	return false;
}

/* How many streams its test has. */
static uint32_t expected(const struct server_udp *u, const struct session *s)
{
	if (u->one_peer)
		return u->only.streams;
	return s->has_client ? wire_streams(&s->client) : 1;
}

/* Shows the session's stream, from arrival_ns on; false: no memory. */
static bool show_stream(struct server_udp *u, struct session *s,
			const struct udp_arrival *a, int64_t base,
			int64_t arrival_ns)
{
	struct peer *p = s->owner;

	p->stream = new_stream(u, s, a, base);
	if (p->stream == NULL)
		return false;
	atomic_store(&p->stream->start_ns, arrival_ns);
	memcpy(p->address, p->stream->conn.peer, sizeof(p->address));
	p->stream->conn.reverse = u->one_peer;
	p->stream->conn.mode = u->only.mode;
	p->stream->conn.client = u->only.quiet;
	if (s->has_client && wire_wish(&s->client).full)
		p->stream->conn.mode = "full-duplex";
	if (report_add(u->report, p->stream, p->address, expected(u, s)) < 0) {
		stream_free(p->stream);
		p->stream = NULL;
		return false;
	}
	memcpy(u->serving, p->address, sizeof(u->serving));
	if (++u->open > 1)
		u->crowds++;
	p->crowd = u->crowds;
	p->steps = u->line.steps;
	p->alone = u->drops_alone;
	p->shared = u->drops_shared;
	stream_cpu_begin(&p->begun);
	atomic_fetch_add(&u->accepted, 1);
	return true;
}

enum begun {
	BEGUN,
	REFUSED, /* for the peer's refusal */
	NO_MEMORY,
};

/* Gives the session a stream whose ledger begins at number base. */
static enum begun add_stream(struct server_udp *u, struct session *s,
			     const struct udp_arrival *a, int64_t base,
			     int64_t arrival_ns)
{
	struct peer *p = s->owner;

	if (!admit(u, s, a))
		return REFUSED;
	if (show_stream(u, s, a, base, arrival_ns))
		return BEGUN;
	policy_leave(u->policy, &p->addr);
	log_stranger(clock_ns(), "no memory for another UDP session");
	return NO_MEMORY;
}

static bool busy(const struct server_udp *u)
{
	return atomic_load(&u->accepted) != atomic_load(&u->ended) ||
	       wish_busy(u->wish);
}

/* With -1 only the client that is served may bring more streams. */
static bool welcome(const struct server_udp *u, const struct udp_arrival *a)
{
	char address[OUT_ADDR_BYTES];
	struct policy_addr from, peer;

	if (atomic_load(&u->refuse))
		return false;
	if (u->one_peer) {
		sock_address(&a->from, &from);
		sock_address(&u->only.peer, &peer);
		return memcmp(&from, &peer, sizeof(from)) == 0;
	}
	if ((!u->o->single && !u->o->one_off) || !busy(u))
		return true;
	sock_text(&a->from, address, sizeof(address), NULL);
	return strcmp(address, u->serving) == 0;
}

/* Puts the session at the end of the queue; NULL: of none. */
static void enqueue(struct session *s, struct queue *to)
{
	struct peer *p = s->owner;
	struct queue *from = p->in;

	if (from != NULL) {
		*(p->older != NULL ? &((struct peer *)p->older->owner)->newer
				   : &from->oldest) = p->newer;
		*(p->newer != NULL ? &((struct peer *)p->newer->owner)->older
				   : &from->newest) = p->older;
		from->count--;
	}
	p->in = to;
	if (to == NULL)
		return;
	p->older = to->newest;
	p->newer = NULL;
	*(to->newest != NULL ? &((struct peer *)to->newest->owner)->newer
			     : &to->oldest) = s;
	to->newest = s;
	to->count++;
}

static bool is_pending(const struct server_udp *u, const struct peer *p)
{
	return p->in == &u->pending;
}

static void drop_session(struct server_udp *u, struct session *s)
{
	struct peer *p = s->owner;

	enqueue(s, NULL);
	free(p);
	session_drop(u->sessions, s);
}

/* Somebody new.  It becomes a test with its second datagram. */
static struct session *new_session(struct server_udp *u,
				   const struct session_key *key,
				   const struct udp_arrival *a,
				   int64_t arrival_ns)
{
	struct session *s;
	struct peer *p;

	if (!session_opens(u->buf, a->bytes) || !welcome(u, a))
		return NULL;
	if (u->pending.count >= PENDING_MAX)
		drop_session(u, u->pending.oldest);
	p = calloc(1, sizeof(*p));
	s = p == NULL ? NULL : session_add(u->sessions, key);
	if (s == NULL) {
		free(p);
		log_stranger(clock_ns(), "no memory for another UDP session");
		return NULL;
	}
	s->owner = p;
	s->group = u->group;
	s->plain = u->o->compat && !u->one_peer;
	session_begin(s, u->buf, a->bytes, arrival_ns);
	enqueue(s, &u->pending);
	return s;
}

static void answer(struct server_udp *u, struct session *s)
{
	const struct peer *p = s->owner;

	if (!session_may_answer(s) || u->mute ||
	    (s->has_client && s->client.has_ext &&
	     (s->client.upper & WIRE_UPPER_NO_FIN) != 0))
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

/* Did other sessions use the socket and its thread during this one? */
static bool shared(const struct server_udp *u, const struct peer *p)
{
	return u->open > 1 || u->crowds != p->crowd;
}

/* Are the clocks of both hosts meant to agree?  The client has said so, or it
 * is us. */
static bool has_trips(const struct server_udp *u, const struct session *s)
{
	if (u->one_peer)
		return u->o->trip_times;
	return s->has_client && s->client.has_ext &&
	       (s->client.upper & WIRE_UPPER_TRIP_TIMES) != 0;
}

/* What the report and the client are told beyond the ledger. */
static void gather(const struct server_udp *u, const struct session *s,
		   struct block_result *b)
{
	const struct peer *p = s->owner;
	struct stream *st = p->stream;
	const struct session_transit *t = &s->transit;

	st->kernel_stamps = u->line.compared;
	stats_rx_delay(stream_rx(st), &st->delay);
	if (u->o->histograms)
		st->histogram = stats_rx_hist(stream_rx(st));
	stream_cpu_end(&st->cpu, &p->begun);
	st->cpu.shared = shared(u, p);
	if (t->count > 0 && has_trips(u, s))
		st->trip = (struct stats_delay){
			.known = true,
			.count = t->count,
			.min_ns = t->min_ns,
			.mean_ns = t->sum_ns / (int64_t)t->count,
			.max_ns = t->max_ns,
		};
	if (st->trip.known && (t->min_ns < 0 || t->min_ns > TRIP_MAX_NS))
		stream_note(st,
			    "trip times from %.3f ms on: the clocks of the two "
			    "hosts don't agree",
			    (double)t->min_ns / 1e6);
	*b = (struct block_result){
		.kernel_stamps = st->kernel_stamps,
		.drops_known = u->tells_drops,
		.delay_known = st->delay.known,
		.delay_mean_ns = st->delay.mean_ns,
		.delay_p50_ns = st->delay.p50_ns,
		.delay_p99_ns = st->delay.p99_ns,
		.delay_p999_ns = st->delay.p999_ns,
		.delay_max_ns = st->delay.max_ns,
		.trip_known = st->trip.known,
		.trip_min_ns = st->trip.min_ns,
		.trip_mean_ns = st->trip.mean_ns,
		.trip_max_ns = st->trip.max_ns,
		.cpu_known = st->cpu.known,
		.cpu_shared = st->cpu.shared,
		.cpu_user_ns = st->cpu.user_ns,
		.cpu_system_ns = st->cpu.system_ns,
		.buffer_asked = st->buffer.asked,
		.buffer_granted = st->buffer.granted,
	};
}

/* What the socket dropped since the last time goes to this session's account;
 * as it is open, what was dropped while one was open is its own. */
static void charge_drops(const struct server_udp *u, struct peer *p)
{
	if (p->alone != u->drops_alone)
		stats_rx_dropped(stream_rx(p->stream),
				 u->drops_alone - p->alone, false);
	if (p->shared != u->drops_shared)
		stats_rx_dropped(stream_rx(p->stream),
				 u->drops_shared - p->shared, true);
	p->alone = u->drops_alone;
	p->shared = u->drops_shared;
}

/* The test is over: totals, report, answer. */
static void end_test(struct server_udp *u, struct session *s, int64_t now_ns)
{
	struct peer *p = s->owner;
	bool marker = s->phase == SESSION_SETTLING;
	struct stats_snap counted;
	struct block_result beyond;

	stats_rx_end(stream_rx(p->stream), s->total);
	charge_drops(u, p);
	stream_snap(p->stream, &counted);
	stream_counted(p->stream, &counted, &counted);
	gather(u, s, &beyond);
	session_finish(s, &counted, &beyond, enhanced(u, s), now_ns);
	if (marker)
		answer(u, s);
	if (u->line.steps != p->steps)
		stream_note(p->stream,
			    "this host's wall clock was set during the test; "
			    "the figures don't depend on it");
	stream_ended(p->stream, s->end_ns);
	atomic_store(&p->stream->closed, true);
	p->stream->next = u->leaving;
	u->leaving = p->stream;
	p->stream = NULL;
	u->open--;
	policy_leave(u->policy, &p->addr);
	enqueue(s, &u->over); /* makes room later: sessions may be walked now */
	if (p->wish.back && !p->wish.now && p->proven && !p->asked)
		p->back_at_ns = now_ns + AFTER_NS;
	atomic_store(&u->quiet_ns, now_ns);
	atomic_fetch_add(&u->ended, 1);
	report_poke(u->report);
}

static void end_if_done(struct server_udp *u, struct session *s, int64_t now_ns)
{
	struct peer *p = s->owner;

	if (p->stream != NULL &&
	    session_done(s, stats_rx_missing(stream_rx(p->stream), s->total),
			 now_ns))
		end_test(u, s, now_ns);
}

/* The end marker of a client that starts at 1 is its last number. */
static void count_marker(struct session *s, size_t bytes, int64_t arrival_ns,
			 const struct wire_udp *h)
{
	struct peer *p = s->owner;

	if (s->base == 1 && s->total > 1)
		stats_rx_add(stream_rx(p->stream), s->total - 1,
			     (uint32_t)bytes, h->sent_ns, arrival_ns);
}

/* The ledger of this number, below 0 of the end marker: that of what -O leaves
 * out, or the counted one, which begins with the first number that it gets. */
static struct stats_rx *ledger_of(const struct session *s, struct stream *st,
				  bool omits, int64_t seq, int64_t arrival_ns)
{
	int64_t from = seq >= 0 ? seq : s->total;

	assert(st != NULL); /* what makes room is another session's */
	/* a client whose first header was lost told of it too late */
	if (st->omitted == NULL)
		return st->rx;
	if (omits)
		return st->omitted;
	if (atomic_load(&st->omit_end_ns) == 0)
		stream_omit_end(st, arrival_ns,
				s->omit_from > 0 ? s->omit_from : from);
	return st->rx;
}

static void handle(struct server_udp *u, const struct udp_arrival *a);

/* A client of ours is told, as often as the first of its datagrams may be lost,
 * that its test is not served. */
static void tell_refusal(struct server_udp *u, struct session *s,
			 const struct udp_arrival *a, int64_t sent_ns)
{
	struct peer *p = s->owner;
	uint8_t word[BLOCK_REFUSAL_BYTES];
	size_t n = session_refusal(s, &p->refusal, sent_ns, word);

	if (n > 0 && !u->mute)
		(void)udp_answer(u->fd, a, word, n);
}

/* A test began or went on: as long as it is thin, it may have to make room. */
static void see_thin(struct server_udp *u, struct session *s, int64_t now_ns)
{
	bool thin = s->datagrams < THIN_DATAGRAMS;

	enqueue(s, thin ? &u->thin : NULL);
	if (u->thin.count > THIN_MAX)
		end_test(u, u->thin.oldest, now_ns);
}

/* A second datagram, or the end marker, makes it a test; the first one is
 * counted now.  False: it can't be had, and is forgotten. */
static bool begin_pending(struct server_udp *u, struct session *s,
			  const struct udp_arrival *a, int64_t arrival_ns)
{
	struct peer *p = s->owner;
	const struct first *f = &p->first;

	if (!welcome(u, a)) {
		drop_session(u, s);
		return false;
	}
	switch (add_stream(u, s, a, s->base, s->first_ns)) {
	case BEGUN:
		break;
	case REFUSED: /* it stays one of those pending, and is told so */
		tell_refusal(u, s, a, f->h.sent_ns);
		return false;
	case NO_MEMORY:
		drop_session(u, s);
		return false;
	}
	see_thin(u, s, arrival_ns);
	if (f->h.seq >= FIRST_NUMBERS)
		stream_note(p->stream,
			    "begins with number %" PRId64
			    ": those before it count as lost",
			    f->h.seq);
	stats_rx_add(ledger_of(s, p->stream, f->omits, f->h.seq, f->arrival_ns),
		     f->h.seq, f->bytes, f->h.sent_ns, f->arrival_ns);
	return true;
}

/* A new test from the address of a finished one, or of one whose sender
 * died. */
static void renew(struct server_udp *u, struct session *s,
		  const struct udp_arrival *a, int64_t arrival_ns)
{
	struct peer *p = s->owner;

	if (is_pending(u, p)) {
		drop_session(u, s);
		handle(u, a);
		return;
	}
	if (p->stream != NULL)
		end_test(u, s, arrival_ns);
	if (!welcome(u, a))
		return;
	session_begin(s, u->buf, a->bytes, arrival_ns);
	switch (add_stream(u, s, a, s->base, arrival_ns)) {
	case BEGUN:
		see_thin(u, s, arrival_ns);
		handle(u, a);
		break;
	case REFUSED:
		enqueue(s, &u->pending);
		tell_refusal(u, s, a, s->first_sent_ns);
		break;
	case NO_MEMORY:
		drop_session(u, s);
		break;
	}
}

static void see_drops(struct server_udp *u, const struct udp_arrival *a)
{
	uint32_t count = a->has_drops ? a->drops - u->drops : 0;

	u->drops += count;
	if (u->open == 1 && u->pending.count == 0)
		u->drops_alone += count;
	else
		u->drops_shared += count;
}

/* A client hears a word of its server, one of ours: a hello. */
static bool hears(struct server_udp *u, const struct udp_arrival *a)
{
	struct policy_refusal refusal;
	uint64_t nonce;
	uint64_t cookie;

	if (block_hello_decode(u->buf, a->bytes, &nonce, &cookie) == 0) {
		atomic_store(&u->cookie, cookie);
		return true;
	}
	if (block_refusal_decode(u->buf, a->bytes, &nonce, &refusal) < 0)
		return false;
	u->refusal = refusal;
	atomic_store(&u->refused, true);
	return true;
}

static void send_to(struct server_udp *u, const struct session *s,
		    const struct udp_arrival *a)
{
	(void)wish_send(u->wish, &(struct wish_ask){
					 .key = &s->key,
					 .from = a,
					 .header = &s->client,
					 .layout = s->layout,
					 .ours = s->ours,
					 .connects = wire_wish(&s->client).back,
				 });
}

/* A session whose client wants to be sent to, as soon as that may be. */
static void see_wish(struct server_udp *u, struct session *s,
		     const struct udp_arrival *a)
{
	struct peer *p = s->owner;

	if (p->asked || !s->has_client || u->one_peer || u->group)
		return;
	p->wish = wire_wish(&s->client);
	if (!p->wish.full && !p->wish.back) {
		p->asked = true;
		return;
	}
	p->proven = p->proven || wish_proven(u->wish, &s->key, a, s->ours);
	if (!p->proven && !s->ours) {
		wish_refuse(a,
			    "only from --allow, private and local addresses");
		p->asked = true;
	}
	if (!p->proven || (p->wish.back && !p->wish.now))
		return;
	p->asked = true;
	send_to(u, s, a);
}

/* A client of ours learns early that its server is one, too. */
static void greet(struct server_udp *u, struct session *s,
		  const struct udp_arrival *a, int64_t sent_ns)
{
	uint8_t hello[BLOCK_HELLO_BYTES];
	size_t n;

	if (u->mute)
		return;
	n = session_hello(s, sent_ns, wish_cookie(u->wish, &s->key), hello);
	if (n > 0)
		(void)udp_answer(u->fd, a, hello, n);
}

/* A test that fell silent goes on: what is missing since is lost. */
static void resume(struct server_udp *u, struct session *s,
		   const struct udp_arrival *a, int64_t arrival_ns)
{
	struct peer *p = s->owner;
	double silent_s = (double)(arrival_ns - s->last_ns) / CLOCK_SECOND_NS;

	if (!welcome(u, a) ||
	    add_stream(u, s, a, s->next_seq, arrival_ns) != BEGUN)
		return;
	see_thin(u, s, arrival_ns);
	stats_rx_resume(p->stream->rx, s->next_seq);
	if (p->stream->omitted != NULL)
		stats_rx_resume(p->stream->omitted, s->next_seq);
	stream_note(p->stream,
		    "goes on after %.0f s of silence; this counts what came "
		    "since and what is missing of the time between",
		    silent_s);
	/* what counts began in an earlier part */
	if (s->from_ns != 0 && p->stream->omitted != NULL)
		stream_omit_end(p->stream, arrival_ns, s->next_seq);
	session_resume(s, a->bytes);
	handle(u, a);
}

static void count(struct server_udp *u, struct session *s,
		  const struct udp_arrival *a, const struct wire_udp *h,
		  int64_t arrival_ns)
{
	bool omits = session_omits(s, u->buf, a->bytes, h, arrival_ns);
	struct stream *st = ((struct peer *)s->owner)->stream;

	if (((struct peer *)s->owner)->in != NULL)
		see_thin(u, s, arrival_ns);
	greet(u, s, a, h->sent_ns);
	see_wish(u, s, a);
	stats_rx_add(ledger_of(s, st, omits, h->seq, arrival_ns), h->seq,
		     (uint32_t)a->bytes, h->sent_ns, arrival_ns);
	if (s->phase == SESSION_SETTLING)
		end_if_done(u, s, arrival_ns);
}

static void end_marker(struct server_udp *u, struct session *s,
		       const struct udp_arrival *a, const struct wire_udp *h,
		       int64_t arrival_ns)
{
	struct peer *p = s->owner;

	bool omits = session_omits(s, u->buf, a->bytes, h, arrival_ns);

	(void)ledger_of(s, p->stream, omits, h->seq, arrival_ns);
	count_marker(s, a->bytes, arrival_ns, h);
	atomic_store(&p->stream->ending, true);
	end_if_done(u, s, arrival_ns);
}

/* The first datagram of a peer waits for the second. */
static bool is_first(struct server_udp *u, struct session *s,
		     const struct udp_arrival *a, const struct wire_udp *h,
		     int64_t arrival_ns)
{
	struct peer *p = s->owner;

	if (!is_pending(u, p) || s->datagrams != 1 || h->seq < 0)
		return false;
	p->first = (struct first){
		.h = *h,
		.bytes = (uint32_t)a->bytes,
		.arrival_ns = arrival_ns,
		.omits = session_omits(s, u->buf, a->bytes, h, arrival_ns),
	};
	return true;
}

static void handle(struct server_udp *u, const struct udp_arrival *a)
{
	int64_t arrival_ns = to_monotonic(u, a->stamp_ns);
	/* our wall clock then; of a test's transit times it need not be true */
	int64_t wall_ns = a->stamp_ns != 0 ? a->stamp_ns : clock_wall_ns();
	struct session_key key;
	struct wire_udp h;

	u->read_ns = arrival_ns;
	see_drops(u, a);
	if (!session_key(&key, &a->from.ss))
		return;

	if (u->one_peer && hears(u, a))
		return;
	if (!u->one_peer && wish_is_request(u->buf, a->bytes)) {
		if (!u->group && welcome(u, a))
			wish_request(u->wish, &key, a, arrival_ns);
		return;
	}

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
	if (p->refusal.why != POLICY_NONE && verdict != SESSION_RENEW &&
	    verdict != SESSION_REPEAT) {
		tell_refusal(u, s, a, h.sent_ns);
		if (p->stream == NULL)
			return;
	}
	if (verdict == SESSION_DATA || verdict == SESSION_MARKER) {
		if (is_first(u, s, a, &h, arrival_ns) ||
		    (is_pending(u, p) && !begin_pending(u, s, a, arrival_ns)))
			return;
		charge_drops(u, p);
		/* number 0, which tells that it is one of ours, may have been
		 * lost */
		if (s->ours && !was_ours)
			stats_rx_from_zero(stream_rx(p->stream));
	}
	switch (verdict) {
	case SESSION_DATA:
		count(u, s, a, &h, arrival_ns);
		break;
	case SESSION_MARKER:
		end_marker(u, s, a, &h, arrival_ns);
		break;
	case SESSION_REPEAT:
		answer(u, s);
		if (p->back_at_ns != 0)
			p->back_at_ns = arrival_ns + AFTER_NS;
		atomic_store(&u->quiet_ns, arrival_ns);
		break;
	case SESSION_RENEW:
		renew(u, s, a, arrival_ns);
		break;
	case SESSION_RESUME:
		resume(u, s, a, arrival_ns);
		break;
	case SESSION_IGNORE:
		break;
	}
}

/* Ends what goes beyond the limits: a client of ours is told, and may end its
 * test by itself. */
static void police(struct server_udp *u, struct session *s, int64_t now_ns)
{
	struct peer *p = s->owner;
	struct policy_refusal r;
	uint64_t bytes = s->bytes_in - p->seen_bytes;

	p->seen_bytes = s->bytes_in;
	if (p->cut_ns == 0) {
		if (policy_moved(u->policy, &p->addr, bytes, s->first_ns,
				 now_ns, &r))
			return;
		p->cut_ns = now_ns;
		p->refusal = r;
		p->stream->refusal = r;
		stream_note_cut(p->stream);
	}
	if (!s->ours || now_ns - p->cut_ns > CUT_NS)
		end_test(u, s, now_ns);
}

struct care {
	struct server_udp *u;
	int64_t now_ns;
};

static void care_for(struct session *s, void *arg)
{
	struct care *c = arg;
	struct peer *p = s->owner;

	if (p->back_at_ns != 0 && c->now_ns >= p->back_at_ns) {
		p->back_at_ns = 0;
		send_to(c->u, s, &p->last);
	}
	if (p->stream != NULL) {
		stats_rx_settle(stream_rx(p->stream), c->now_ns);
		police(c->u, s, c->now_ns);
		end_if_done(c->u, s, c->now_ns);
	} else if (session_forget(s, c->now_ns) ||
		   (is_pending(c->u, p) && session_done(s, false, c->now_ns))) {
		drop_session(c->u, s);
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
	while (u->over.count > OVER_MAX)
		drop_session(u, u->over.oldest);
	free_reported(u);
	if (wish_look_after(u->wish, now_ns))
		atomic_store(&u->quiet_ns, now_ns);
}

static void cut_short(struct session *s, void *arg)
{
	struct care *c = arg;
	struct peer *p = s->owner;

	if (p->stream != NULL)
		end_test(c->u, s, c->now_ns);
}

static void *serve(void *arg)
{
	struct server_udp *u = arg;
	struct udp_arrival a;
	struct udp_pause pause;

	udp_pause_init(&pause, u->fd);
	while (!atomic_load_explicit(&u->stop, memory_order_relaxed)) {
		int rc = udp_receive(u->fd, u->buf, sizeof(u->buf), &a, &pause);

		/* what still waits in the socket came in time, however late it
		 * is read: sessions are settled as of the last arrival */
		if (rc == 0)
			handle(u, &a);
		else if (rc == -EAGAIN)
			u->read_ns = clock_ns();
		else
			wish_take_errors(u->wish);
		if (u->read_ns >= u->care_ns)
			look_after(u, u->read_ns);
	}

	struct care c = { .u = u, .now_ns = clock_ns() };

	session_each(u->sessions, cut_short, &c);
	wish_stop(u->wish);
	return NULL;
}

struct server_udp *server_udp_start(int fd, const struct sock_addr *at,
				    const struct options *o, struct report *r,
				    const struct server_udp_only *only)
{
	int family = at->ss.ss_family;
	struct server_udp *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->fd = fd;
	u->o = o;
	u->report = r;
	u->sessions = session_table_new();
	if (only != NULL)
		u->only = *only;
	u->one_peer = only != NULL;
	u->group = only == NULL && sock_is_multicast(at);
	u->mute = u->only.quiet || u->group;
	u->policy = policy_new(&o->limits);
	u->wish = wish_new(fd, family, o, r, u->policy, u->buf);
	u->tells_drops = udp_prepare(fd, family, CARE_NS);
	if (u->sessions == NULL || u->policy == NULL || u->wish == NULL ||
	    stream_thread(&u->thread, serve, u) < 0) {
		wish_free(u->wish);
		policy_free(u->policy);
		session_table_free(u->sessions);
		free(u);
		return NULL;
	}
	return u;
}

uint64_t server_udp_cookie(const struct server_udp *u)
{
	return atomic_load(&u->cookie);
}

bool server_udp_refused(const struct server_udp *u, struct policy_refusal *r)
{
	if (!atomic_load(&u->refused))
		return false;
	*r = u->refusal;
	return true;
}

unsigned server_udp_accepted(const struct server_udp *u)
{
	return atomic_load(&u->accepted) + wish_begun(u->wish);
}

bool server_udp_idle(const struct server_udp *u)
{
	return !busy(u);
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
	wish_free(u->wish);
	session_each(u->sessions, free_owner, NULL);
	session_table_free(u->sessions);
	policy_free(u->policy);
	free(u);
}
