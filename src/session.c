#include "session.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define BUCKETS 4096
/* Numbers of 32 bits that lie so close to the next one are data. */
#define SHORT_NEAR 64
/* Sane bound of a difference of two hosts' clocks: 68 years in ns. */
#define TRANSIT_MAX_NS ((int64_t)2147483647 * 1000000000)

struct session_table {
	struct session *bucket[BUCKETS];
	size_t count;
};

struct session_table *session_table_new(void)
{
	return calloc(1, sizeof(struct session_table));
}

static void free_one(struct session *s, void *table)
{
	session_drop(table, s);
}

void session_table_free(struct session_table *t)
{
	if (t == NULL)
		return;
	session_each(t, free_one, t);
	free(t);
}

size_t session_count(const struct session_table *t)
{
	return t->count;
}

bool session_key(struct session_key *key, const struct sockaddr_storage *from)
{
	/* cleared as a whole: keys are compared with memcmp */
	memset(key, 0, sizeof(*key));
	key->family = (uint16_t)from->ss_family;
	if (from->ss_family == AF_INET) {
		struct sockaddr_in sin;

		memcpy(&sin, from, sizeof(sin));
		memcpy(key->addr, &sin.sin_addr, sizeof(sin.sin_addr));
		key->port = sin.sin_port;
		return true;
	}
	if (from->ss_family == AF_INET6) {
		struct sockaddr_in6 sin6;

		memcpy(&sin6, from, sizeof(sin6));
		memcpy(key->addr, &sin6.sin6_addr, sizeof(sin6.sin6_addr));
		key->port = sin6.sin6_port;
		key->scope = sin6.sin6_scope_id;
		return true;
	}
	return false;
}

/* FNV-1a over the key's bytes. */
static size_t bucket_of(const struct session_key *key)
{
	const uint8_t *p = (const uint8_t *)key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ p[i]) * 16777619u;
	return hash % BUCKETS;
}

struct session *session_find(const struct session_table *t,
			     const struct session_key *key)
{
	struct session *s = t->bucket[bucket_of(key)];

	while (s != NULL && memcmp(&s->key, key, sizeof(*key)) != 0)
		s = s->next;
	return s;
}

struct session *session_add(struct session_table *t,
			    const struct session_key *key)
{
	struct session *s = calloc(1, sizeof(*s));
	size_t b = bucket_of(key);

	if (s == NULL)
		return NULL;
	s->key = *key;
	s->next = t->bucket[b];
	t->bucket[b] = s;
	t->count++;
	return s;
}

void session_drop(struct session_table *t, struct session *s)
{
	struct session **at = &t->bucket[bucket_of(&s->key)];

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	t->count--;
	free(s);
}

void session_each(struct session_table *t,
		  void (*visit)(struct session *s, void *arg), void *arg)
{
	for (size_t b = 0; b < BUCKETS; b++) {
		struct session *s = t->bucket[b];

		while (s != NULL) {
			struct session *next = s->next;

			visit(s, arg);
			s = next;
		}
	}
}

bool session_opens(const uint8_t *p, size_t n)
{
	enum wire_layout layout;
	struct wire_udp h;

	return wire_udp_stamped(p, n) && wire_udp_layout(p, n, &layout) == 0 &&
	       wire_udp_decode(p, n, layout, &h) == 0 && h.seq >= 0 &&
	       h.seq < INT64_MAX;
}

/* Where the client header stands, and whether this layout has one. */
static size_t header_offset(enum wire_layout layout)
{
	switch (layout) {
	case WIRE_LEGACY:
		return WIRE_UDP_LEGACY_BYTES;
	case WIRE_MODERN:
		return WIRE_UDP_BYTES;
	case WIRE_LEGACY_C:
	case WIRE_MODERN_C:
	case WIRE_SMALL_TRIP:
		break;
	}
	return 0;
}

/* Reads the client header of a datagram that has room for it. */
static void read_client(struct session *s, enum wire_layout layout,
			const uint8_t *p, size_t n)
{
	size_t at = header_offset(layout);

	if (at == 0 || s->plain || n < at + WIRE_BASE_BYTES ||
	    wire_client_decode(p + at, n - at, &s->client) < 0)
		return;
	s->layout = layout;
	s->has_client = true;
	s->ours = s->client.has_ext &&
		  wire_is_ours(s->client.version_u, s->client.version_l);
}

/* Legacy clients and our own number from 0, modern iperf 2 from 1. */
static int64_t first_number(const struct session *s)
{
	if (s->layout == WIRE_LEGACY || s->layout == WIRE_LEGACY_C || s->ours)
		return 0;
	return 1;
}

void session_begin(struct session *s, const uint8_t *p, size_t n,
		   int64_t arrival_ns)
{
	struct session fresh = {
		.key = s->key,
		.next = s->next,
		.owner = s->owner,
		.plain = s->plain,
		.group = s->group,
		.first_ns = arrival_ns,
		.last_ns = arrival_ns,
		.total = -1,
	};
	struct wire_udp h = { 0 };

	*s = fresh;
	if (wire_udp_layout(p, n, &s->layout) < 0)
		return;
	(void)wire_udp_decode(p, n, s->layout, &h);
	read_client(s, s->layout, p, n);
	s->base = h.seq == 0 ? 0 : first_number(s);
	s->first_sent_ns = h.sent_ns;
	s->last_sent_ns = h.sent_ns;
}

static void add_transit(struct session_transit *t, int64_t transit_ns)
{
	if (transit_ns > TRANSIT_MAX_NS || transit_ns < -TRANSIT_MAX_NS)
		return;
	if (t->count == 0 || transit_ns < t->min_ns)
		t->min_ns = transit_ns;
	if (t->count == 0 || transit_ns > t->max_ns)
		t->max_ns = transit_ns;
	/* beyond the range of the sum it is the mean of what came since */
	if (__builtin_add_overflow(t->sum_ns, transit_ns, &t->sum_ns)) {
		t->sum_ns = transit_ns;
		t->count = 0;
	}
	t->count++;
}

/* A client that ends at number -n has sent n datagrams; one that starts at
 * 1 counts the marker as its last. */
static void see_marker(struct session *s, const struct wire_udp *h,
		       int64_t arrival_ns)
{
	int64_t n = h->seq == INT64_MIN ? INT64_MAX : -h->seq;

	s->phase = SESSION_SETTLING;
	s->marker_seq = h->seq;
	s->marker_ns = arrival_ns;
	s->marker_sent_ns = h->sent_ns;
	s->total = s->base == 1 && n < INT64_MAX ? n + 1 : n;
}

/* A first number that was stamped after the highest one: its sender died, and
 * another test has its port. */
static bool begins_anew(const struct session *s, const struct wire_udp *h)
{
	return h->seq <= 1 && s->next_seq > 2 && h->sent_ns > s->last_sent_ns;
}

static enum session_verdict see_open(struct session *s, int64_t arrival_ns,
				     const struct wire_udp *h)
{
	if (h->seq < 0) {
		see_marker(s, h, arrival_ns);
		return SESSION_MARKER;
	}
	if (begins_anew(s, h))
		return SESSION_RENEW;
	if (h->seq == 0)
		s->base = 0;
	s->last_ns = arrival_ns;
	s->datagrams++;
	if (h->seq >= s->next_seq) {
		s->next_seq = h->seq + 1;
		s->last_sent_ns = h->sent_ns;
	}
	return SESSION_DATA;
}

/* The end marker that was answered, once more? */
static bool is_repeated(const struct session *s, const struct wire_udp *h)
{
	int64_t more = -(h->seq + 1) - -(s->marker_seq + 1);

	if (s->ours)
		return more == 0 && h->sent_ns == s->marker_sent_ns;
	return more >= 0 && more <= SESSION_MARKERS;
}

/* Every datagram of the old test was stamped before its marker. */
static bool is_new_test(const struct session *s, const struct wire_udp *h,
			int64_t arrival_ns)
{
	int64_t end_ns = s->silent ? s->last_sent_ns : s->marker_sent_ns;

	if (h->seq <= 1 && h->seq < s->next_seq && h->sent_ns > end_ns)
		return true;
	if (!s->silent && h->sent_ns > end_ns)
		return true;
	return h->seq == 0 && h->sent_ns != s->first_sent_ns &&
	       arrival_ns - s->over_ns > SESSION_STRAY_NS;
}

static enum session_verdict
see_over(const struct session *s, const struct wire_udp *h, int64_t arrival_ns)
{
	if (h->seq >= 0 && is_new_test(s, h, arrival_ns))
		return SESSION_RENEW;
	if (s->silent)
		return h->seq < 0 || h->seq >= s->next_seq ? SESSION_RESUME
							   : SESSION_IGNORE;
	return h->seq < 0 && is_repeated(s, h) ? SESSION_REPEAT
					       : SESSION_IGNORE;
}

void session_resume(struct session *s, size_t n)
{
	s->bytes_in -= n;
	s->phase = SESSION_OPEN;
	s->silent = false;
	s->report_bytes = 0;
}

/* A datagram too short for the client header told the kind for the time
 * being: the first long enough one decides. */
static void judge_again(struct session *s, const uint8_t *p, size_t n)
{
	enum wire_layout layout;

	if (wire_udp_layout(p, n, &layout) < 0)
		return;
	read_client(s, layout, p, n);
	if (s->ours)
		s->base = 0;
}

static bool has_short_numbers(enum wire_layout layout)
{
	return layout == WIRE_LEGACY || layout == WIRE_LEGACY_C ||
	       layout == WIRE_SMALL_TRIP;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * A number of 32 bits close to next, the one expected.  Below 2^31 a negative
 * one is the end marker; beyond, the sender's counter has wrapped, and both
 * what it may mean as a number and as the marker's are modulo 2^32: the nearer
 * one is meant.  No such counter comes near 2^63; but a next of 64 bits may,
 * of a sender whose kind was mistaken at first.
 */
static int64_t lengthen(int64_t seq, int64_t next)
{
	if (next < INT32_MAX - (int64_t)STATS_WINDOW ||
	    next > INT64_MAX - UINT32_MAX)
		return seq;

	int64_t number = next + (int32_t)((uint32_t)seq - (uint32_t)next);
	int64_t total = next + (int32_t)((uint32_t)-seq - (uint32_t)next);

	/* close to 2^31 and 2^32 both fit: hardly a test ends right there */
	if (distance(number, next) <= SHORT_NEAR ||
	    distance(number, next) <= distance(total, next))
		return number;
	return -total;
}

enum session_verdict session_see(struct session *s, const uint8_t *p, size_t n,
				 int64_t arrival_ns, int64_t wall_ns,
				 struct wire_udp *h)
{
	s->bytes_in += n;
	if (!s->has_client)
		judge_again(s, p, n);
	if (wire_udp_decode(p, n, s->layout, h) < 0)
		return SESSION_IGNORE;
	if (has_short_numbers(s->layout))
		h->seq = lengthen(h->seq, s->next_seq);
	/* so that the one behind it is a number too, as is the total */
	if (h->seq == INT64_MAX)
		return SESSION_IGNORE;
	switch (s->phase) {
	case SESSION_OPEN:
		add_transit(&s->transit, wall_ns - h->sent_ns);
		return see_open(s, arrival_ns, h);
	case SESSION_SETTLING:
		return h->seq < 0 ? SESSION_IGNORE : SESSION_DATA;
	case SESSION_OVER:
		break;
	}
	return see_over(s, h, arrival_ns);
}

/* Is the cut in this datagram, known already (omit_from) or not (0)? */
static bool tells_cut(const uint8_t *p, size_t n, struct wire_client *c)
{
	return n >= WIRE_UDP_CLIENT_BYTES &&
	       wire_client_decode(p + WIRE_UDP_BYTES, n - WIRE_UDP_BYTES, c) ==
		       0 &&
	       c->has_ext && wire_is_ours(c->version_u, c->version_l);
}

/* By the stamps, as the sender decides. */
static bool sent_before_cut(const struct session *s, const struct wire_udp *h)
{
	return h->sent_ns - s->first_sent_ns <
	       s->client.omit_10ms * WIRE_TICK_NS;
}

static bool is_omitted(struct session *s, const uint8_t *p, size_t n,
		       const struct wire_udp *h)
{
	struct wire_client c;

	if (tells_cut(p, n, &c)) {
		if (c.omit_from == 0)
			return h->seq >= 0;
		s->omit_from = c.omit_from;
	}
	if (s->omit_from > 0)
		return h->seq >= 0 && h->seq < s->omit_from;
	/* too short for the header */
	return h->seq >= 0 && sent_before_cut(s, h);
}

/* The marker came before anything that counts: the test ended before the cut,
 * or what was sent behind it is lost. */
static void cut_at_marker(struct session *s, const uint8_t *p, size_t n,
			  const struct wire_udp *h)
{
	struct wire_client c;

	if (s->omit_from > 0 || s->from_ns != 0)
		return;
	s->omit_from = tells_cut(p, n, &c) || sent_before_cut(s, h)
			       ? s->total
			       : s->next_seq;
}

bool session_omits(struct session *s, const uint8_t *p, size_t n,
		   const struct wire_udp *h, int64_t arrival_ns)
{
	if (s->has_client && s->client.omit_10ms > 0) {
		if (is_omitted(s, p, n, h))
			return true;
		if (h->seq < 0)
			cut_at_marker(s, p, n, h);
	}
	if (s->from_ns == 0 && h->seq >= 0)
		s->from_ns = arrival_ns;
	return false;
}

/* When what counts began. */
static int64_t counts_from(const struct session *s)
{
	if (s->from_ns == 0 || s->from_ns > s->end_ns)
		return s->end_ns;
	return s->from_ns;
}

static int64_t mean_gap(const struct session *s)
{
	if (s->datagrams < 2)
		return 0;
	return (s->last_ns - s->first_ns) / (int64_t)(s->datagrams - 1);
}

/* Four gaps of a slow sender, or the fixed limit. */
static int64_t idle_limit(const struct session *s)
{
	int64_t gaps_ns = 4 * mean_gap(s);

	return gaps_ns > SESSION_IDLE_NS ? gaps_ns : SESSION_IDLE_NS;
}

/* Is this the sender of a group whose last datagrams were lost? */
static bool is_beyond(const struct session *s, int64_t now_ns)
{
	int64_t gaps_ns = 4 * mean_gap(s);
	int64_t limit_ns =
		gaps_ns > SESSION_BEYOND_NS ? gaps_ns : SESSION_BEYOND_NS;

	return s->group && s->has_client && s->client.amount < 0 &&
	       now_ns - s->last_ns > limit_ns &&
	       now_ns - s->first_ns >
		       limit_ns - (int64_t)s->client.amount * WIRE_TICK_NS;
}

bool session_done(const struct session *s, bool missing, int64_t now_ns)
{
	switch (s->phase) {
	case SESSION_OPEN:
		return now_ns - s->last_ns > idle_limit(s) ||
		       is_beyond(s, now_ns);
	case SESSION_SETTLING:
		return !missing || now_ns - s->marker_ns >= SESSION_SETTLE_NS;
	case SESSION_OVER:
		break;
	}
	return false;
}

int64_t session_end_ns(const struct session *s)
{
	if (s->phase == SESSION_OPEN)
		return s->last_ns + mean_gap(s);

	int64_t took_ns = s->marker_ns - s->marker_sent_ns;
	int64_t before_ns = s->last_ns - s->last_sent_ns;

	if (took_ns - before_ns <= SESSION_REPEATED_NS)
		return s->marker_ns;

	int64_t by_stamps =
		s->first_ns + (s->marker_sent_ns - s->first_sent_ns);

	if (by_stamps < s->last_ns)
		return s->last_ns;
	return by_stamps < s->marker_ns ? by_stamps : s->marker_ns;
}

/* Figures of iperf 2's own report. */
static struct wire_report make_report(const struct session *s,
				      const struct stats_snap *counted,
				      bool enhanced)
{
	int64_t span_ns = s->end_ns - counts_from(s);
	uint64_t total = stats_sent(counted);
	double pps = units_pps(total, span_ns);
	const struct session_transit *t = &s->transit;

	return (struct wire_report){
		.legacy =
			s->layout == WIRE_LEGACY || s->layout == WIRE_LEGACY_C,
		.enhanced = enhanced,
		.bytes = counted->bytes,
		.duration_ns = span_ns,
		.lost = counted->lost,
		.out_of_order = counted->late,
		.total = total,
		.jitter_ns = counted->jitter_ns,
		.transit_min_ns = t->min_ns,
		.transit_max_ns = t->max_ns,
		.transit_sum_ns = t->sum_ns,
		.transit_mean_ns =
			t->count > 0 ? t->sum_ns / (int64_t)t->count : 0,
		.transit_count = t->count,
		.pps = pps < 1e18 ? (uint64_t)pps : 0,
	};
}

/* What only ours are told: the ledger is filled in here. */
static size_t add_block(const struct session *s,
			const struct stats_snap *counted,
			const struct block_result *beyond, uint8_t *p)
{
	struct block_result b = *beyond;

	b.udp = true;
	b.bytes = counted->bytes;
	b.packets = counted->packets;
	b.lost = counted->lost;
	b.late = counted->late;
	b.too_late = counted->too_late;
	b.duplicate = counted->duplicate;
	b.gaps = counted->gaps;
	b.gap_max = counted->gap_max;
	b.gap_max_ns = counted->gap_max_ns;
	if (counted->gap_max > 0 && counted->gap_began_ns > s->first_ns)
		b.gap_began_ns = counted->gap_began_ns - s->first_ns;
	b.socket_drops = counted->socket_drops;
	b.shared_drops = counted->shared_drops;
	b.clock_steps = counted->clock_steps;
	b.duration_ns = s->end_ns - counts_from(s);
	b.omitted_ns = counts_from(s) - s->first_ns;
	b.omit_from = (uint64_t)s->omit_from;
	b.jitter_ns = counted->jitter_ns;
	b.jitter_max_ns = counted->jitter_max_ns;
	b.jitter_mean_ns = stats_jitter_mean(counted);
	return block_result_encode(p, &b, (uint64_t)s->marker_sent_ns);
}

void session_finish(struct session *s, const struct stats_snap *counted,
		    const struct block_result *beyond, bool enhanced,
		    int64_t now_ns)
{
	struct stats_snap all = *counted;
	bool marked = s->phase == SESSION_SETTLING;

	s->end_ns = session_end_ns(s);
	stats_sum(&all, &s->before);
	all.jitter_ns = counted->jitter_ns;
	s->before = all;
	s->phase = SESSION_OVER;
	s->over_ns = now_ns;
	s->silent = !marked;
	if (!marked)
		return; /* nobody asked, and it may go on */

	struct wire_report r = make_report(s, &all, enhanced);

	s->report_bytes = wire_report_encode(s->report, &r);
	if (s->ours)
		s->report_bytes +=
			add_block(s, &all, beyond, s->report + s->report_bytes);
}

/* Answers stay below three times of what came. */
static bool may_send(const struct session *s, size_t bytes)
{
	return s->bytes_out + bytes <= 3 * s->bytes_in;
}

/* Is a word of so many bytes to a client of ours due, at its datagram number
 * count of those that it answers? */
static bool word_is_due(struct session *s, uint64_t count, size_t bytes)
{
	bool due = count <= SESSION_GREETINGS || count >= 2 * s->greeted;

	if (!s->ours || !due || !may_send(s, bytes))
		return false;
	s->greeted = count;
	s->bytes_out += bytes;
	return true;
}

size_t session_hello(struct session *s, int64_t sent_ns, uint64_t cookie,
		     uint8_t *p)
{
	if (!word_is_due(s, s->datagrams, BLOCK_HELLO_BYTES))
		return 0;
	return block_hello_encode(p, (uint64_t)sent_ns, cookie);
}

size_t session_refusal(struct session *s, const struct policy_refusal *r,
		       int64_t sent_ns, uint8_t *p)
{
	if (s->refused++ == 0)
		s->greeted = 0;
	if (!word_is_due(s, s->refused, BLOCK_REFUSAL_BYTES))
		return 0;
	return block_refusal_encode(p, r, (uint64_t)sent_ns);
}

bool session_may_answer(const struct session *s)
{
	return s->report_bytes > 0 && may_send(s, s->report_bytes);
}

bool session_forget(const struct session *s, int64_t now_ns)
{
	return s->phase == SESSION_OVER &&
	       now_ns - s->over_ns >=
		       (s->silent ? SESSION_SILENT_NS : SESSION_KEEP_NS);
}
