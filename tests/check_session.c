/*
 * check_session: the peers of a UDP server and the course of their tests,
 * with datagrams and times made here.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "golden/wire_vectors.h"
#include "session.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))
#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)
/* The moment 0 of every test: on the line of the arrivals, on the sender's
 * clock, and on the wall clock of this side (2 ms ahead of the sender's). */
#define ARRIVED (5000 * SEC)
#define SENT (1700000000 * SEC)
#define WALL (SENT + 2 * MS)
#define BYTES 1470
#define TWO_31 (INT64_C(1) << 31)
#define TWO_32 (INT64_C(1) << 32)

/* Clients as they show themselves. */
enum kind {
	OLD,        /* 2.0.x */
	OLD_C,      /* 2.0.x -C */
	MODERN,     /* 2.1.8 */
	MODERN_C,   /* 2.1.8 -C */
	SMALL_TRIP, /* 2.1.8 --trip-times -l 40 */
	OURS,
	KINDS
};

static const enum wire_layout layout_of[KINDS] = {
	WIRE_LEGACY,   WIRE_LEGACY_C,   WIRE_MODERN,
	WIRE_MODERN_C, WIRE_SMALL_TRIP, WIRE_MODERN,
};

/* One peer's test: its session, and what it sends. */
struct course {
	struct session s;
	enum kind kind;
	size_t bytes; /* of each datagram */
	uint32_t omit_from;
	uint16_t omit_10ms;
	uint8_t buf[BYTES];
	struct wire_udp h; /* of the last datagram, as it was seen */
};

static void put_client(struct course *c, size_t at)
{
	struct wire_client client = { .threads = 1,
				      .port = 5001,
				      .amount = -1000 };

	if (c->kind != OLD) {
		client.flags = wire_flags(true, false);
		client.has_ext = true;
		client.version_u = 0x00020001;
		client.version_l = 0x00080003;
	}
	if (c->kind == OURS) {
		wire_version(&client.version_u, &client.version_l);
		client.omit_10ms = c->omit_10ms;
		client.omit_from = c->omit_from;
	}
	wire_client_encode(c->buf + at, &client);
}

/* Datagram seq, stamped sent_ns after moment 0. */
static void build(struct course *c, int64_t seq, int64_t sent_ns)
{
	struct wire_udp h = { seq, SENT + sent_ns };

	wire_fill(c->buf, sizeof(c->buf));
	wire_udp_encode(c->buf, layout_of[c->kind], &h);
	switch (c->kind) {
	case OLD:
		put_client(c, WIRE_UDP_LEGACY_BYTES);
		break;
	case MODERN:
	case OURS:
		put_client(c, WIRE_UDP_BYTES);
		break;
	case SMALL_TRIP:
		memset(c->buf + WIRE_UDP_BYTES, 0, 24);
		c->buf[WIRE_UDP_BYTES + 1] = 0x02;
		break;
	case OLD_C:
	case MODERN_C:
	case KINDS:
		break;
	}
}

/* Sees the datagram that was built, in a copy of its exact size. */
static enum session_verdict see_built(struct course *c, int64_t arrived_ns)
{
	uint8_t *p = malloc(c->bytes + (c->bytes == 0));

	ck_assert_ptr_nonnull(p);
	memcpy(p, c->buf, c->bytes);

	enum session_verdict v =
		session_see(&c->s, p, c->bytes, ARRIVED + arrived_ns,
			    WALL + arrived_ns, &c->h);

	free(p);
	return v;
}

static enum session_verdict see(struct course *c, int64_t seq, int64_t sent_ns,
				int64_t arrived_ns)
{
	build(c, seq, sent_ns);
	return see_built(c, arrived_ns);
}

static bool omits(struct course *c, int64_t arrived_ns)
{
	return session_omits(&c->s, c->buf, c->bytes, &c->h,
			     ARRIVED + arrived_ns);
}

/* Data that count: seen, and asked for as the server does. */
static void data(struct course *c, int64_t seq, int64_t sent_ns,
		 int64_t arrived_ns)
{
	ck_assert_int_eq(see(c, seq, sent_ns, arrived_ns), SESSION_DATA);
	ck_assert_int_eq(c->h.seq, seq);
	ck_assert(!omits(c, arrived_ns));
}

/* Opens a test with number seq, sent and arriving at moment 0. */
static void open_bytes(struct course *c, enum kind kind, int64_t seq,
		       size_t bytes)
{
	*c = (struct course){ .kind = kind, .bytes = bytes };
	build(c, seq, 0);
	ck_assert(session_opens(c->buf, c->bytes));
	session_begin(&c->s, c->buf, c->bytes, ARRIVED);
	data(c, seq, 0, 0);
}

static void open_with(struct course *c, enum kind kind, int64_t seq)
{
	open_bytes(c, kind, seq, BYTES);
}

/* n datagrams from number first on, gap_ns apart. */
static void open_run(struct course *c, enum kind kind, int64_t first, int64_t n,
		     int64_t gap_ns)
{
	open_with(c, kind, first);
	for (int64_t i = 1; i < n; i++)
		data(c, first + i, i * gap_ns, i * gap_ns);
}

static void finish(struct course *c, int64_t now_ns)
{
	struct stats_snap counted = { .packets = c->s.datagrams };
	struct block_result beyond = { 0 };

	session_finish(&c->s, &counted, &beyond, false, ARRIVED + now_ns);
	ck_assert_int_eq(c->s.phase, SESSION_OVER);
}

/* Ten datagrams from 0 or 1 on, a marker at 100 ms, over at 110 ms. */
static void run_to_end(struct course *c, enum kind kind, int64_t first)
{
	open_run(c, kind, first, 10, 10 * MS);
	ck_assert_int_eq(see(c, -(first + 10), 100 * MS, 100 * MS),
			 SESSION_MARKER);
	finish(c, 110 * MS);
	ck_assert(!c->s.silent);
}

/* The same without a marker: given up at 31 s. */
static void run_to_silence(struct course *c, enum kind kind, int64_t first)
{
	open_run(c, kind, first, 10, 10 * MS);
	ck_assert(session_done(&c->s, false, ARRIVED + 31 * SEC));
	finish(c, 31 * SEC);
	ck_assert(c->s.silent);
}

/* Addresses: what is no part of them is filled with junk. */
static struct sockaddr_storage v4(uint32_t host, uint16_t port, int junk)
{
	struct sockaddr_storage ss;
	struct sockaddr_in sin;

	memset(&ss, junk, sizeof(ss));
	memset(&sin, junk, sizeof(sin));
	sin.sin_family = AF_INET;
	sin.sin_addr.s_addr = htonl(host);
	sin.sin_port = htons(port);
	memcpy(&ss, &sin, sizeof(sin));
	return ss;
}

static struct sockaddr_storage v6(uint8_t last, uint16_t port, uint32_t scope,
				  int junk)
{
	struct sockaddr_storage ss;
	struct sockaddr_in6 sin6;

	memset(&ss, junk, sizeof(ss));
	memset(&sin6, junk, sizeof(sin6));
	sin6.sin6_family = AF_INET6;
	memset(&sin6.sin6_addr, 0xfe, sizeof(sin6.sin6_addr));
	sin6.sin6_addr.s6_addr[15] = last;
	sin6.sin6_port = htons(port);
	sin6.sin6_scope_id = scope;
	memcpy(&ss, &sin6, sizeof(sin6));
	return ss;
}

static struct session_key key_of(struct sockaddr_storage from)
{
	struct session_key key;

	memset(&key, 0x5a, sizeof(key));
	ck_assert(session_key(&key, &from));
	return key;
}

static bool same(struct session_key a, struct session_key b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

START_TEST(key_is_address_and_port)
{
	struct session_key a = key_of(v4(0x0a000001, 5001, 0));
	static const uint8_t addr[16] = { 10, 0, 0, 1 };

	ck_assert_int_eq(a.family, AF_INET);
	ck_assert_mem_eq(a.addr, addr, sizeof(addr));
	ck_assert_uint_eq(a.port, htons(5001));
	ck_assert_uint_eq(a.scope, 0);
	ck_assert(same(a, key_of(v4(0x0a000001, 5001, 0xff))));
	ck_assert(!same(a, key_of(v4(0x0a000001, 5002, 0))));
	ck_assert(!same(a, key_of(v4(0x0a000002, 5001, 0))));
	ck_assert(!same(a, key_of(v4(0x0b000001, 5001, 0))));
}
END_TEST

START_TEST(key_of_ipv6_holds_the_scope)
{
	struct session_key a = key_of(v6(1, 5001, 3, 0));

	ck_assert_int_eq(a.family, AF_INET6);
	ck_assert_uint_eq(a.addr[0], 0xfe);
	ck_assert_uint_eq(a.addr[15], 1);
	ck_assert_uint_eq(a.port, htons(5001));
	ck_assert_uint_eq(a.scope, 3);
	ck_assert(same(a, key_of(v6(1, 5001, 3, 0xff))));
	ck_assert(!same(a, key_of(v6(1, 5001, 4, 0))));
	ck_assert(!same(a, key_of(v6(1, 5002, 3, 0))));
	ck_assert(!same(a, key_of(v6(2, 5001, 3, 0))));
}
END_TEST

START_TEST(key_of_another_family_is_none)
{
	static const sa_family_t families[] = { AF_UNSPEC, AF_UNIX, 77 };

	for (int i = 0; i < COUNT(families); i++) {
		struct sockaddr_storage ss = v4(1, 2, 0);
		struct session_key key;

		ss.ss_family = families[i];
		ck_assert(!session_key(&key, &ss));
	}
}
END_TEST

#define ENTRIES 5000

static struct session_key entry_key(int i)
{
	if (i % 2 == 0)
		return key_of(v4(0x0a000000u + (uint32_t)i / 100,
				 (uint16_t)(40000 + i % 100), 0));
	return key_of(
		v6((uint8_t)(i / 100), (uint16_t)(40000 + i % 100), 1, 0));
}

/* Each session's owner is its entry's count of visits. */
struct visitor {
	struct session_table *t;
	int visits[ENTRIES];
	int modulus; /* drops those of a multiple of this; 0: none */
};

static void visit(struct session *s, void *arg)
{
	struct visitor *v = arg;
	int *mine = s->owner;
	int i = (int)(mine - v->visits);

	++*mine;
	if (v->modulus > 0 && i % v->modulus == 0)
		session_drop(v->t, s);
}

static void each_once(struct visitor *v, int modulus, int gone_modulus)
{
	memset(v->visits, 0, sizeof(v->visits));
	v->modulus = modulus;
	session_each(v->t, visit, v);
	for (int i = 0; i < ENTRIES; i++) {
		bool gone = gone_modulus > 0 && i % gone_modulus == 0;

		ck_assert_int_eq(v->visits[i], gone ? 0 : 1);
	}
}

START_TEST(table_keeps_thousands)
{
	static struct visitor v;

	v.t = session_table_new();
	ck_assert_ptr_nonnull(v.t);
	for (int i = 0; i < ENTRIES; i++) {
		struct session_key key = entry_key(i);

		ck_assert_ptr_null(session_find(v.t, &key));

		struct session *s = session_add(v.t, &key);

		ck_assert_ptr_nonnull(s);
		ck_assert(same(s->key, key));
		s->owner = &v.visits[i];
		ck_assert_uint_eq(session_count(v.t), (size_t)i + 1);
	}
	each_once(&v, 0, 0);
	/* dropped while they are visited: every third */
	each_once(&v, 3, 0);
	ck_assert_uint_eq(session_count(v.t), ENTRIES - 1667);
	each_once(&v, 0, 3);
	for (int i = 0; i < ENTRIES; i++) {
		struct session_key key = entry_key(i);
		struct session *s = session_find(v.t, &key);

		ck_assert_int_eq(s == NULL, i % 3 == 0);
		ck_assert(s == NULL || s->owner == &v.visits[i]);
	}
	each_once(&v, 1, 3);
	ck_assert_uint_eq(session_count(v.t), 0);
	session_table_free(v.t);
}
END_TEST

START_TEST(table_drops_and_adds_again)
{
	struct session_table *t = session_table_new();
	struct session_key a = entry_key(0);
	struct session_key b = entry_key(1);

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(session_count(t), 0);

	struct session *s = session_add(t, &a);
	struct session *other = session_add(t, &b);

	ck_assert_ptr_eq(session_find(t, &a), s);
	ck_assert_ptr_eq(session_find(t, &b), other);
	session_drop(t, s);
	ck_assert_ptr_null(session_find(t, &a));
	ck_assert_ptr_eq(session_find(t, &b), other);
	s = session_add(t, &a);
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_null(s->owner);
	ck_assert_ptr_eq(session_find(t, &a), s);
	ck_assert_uint_eq(session_count(t), 2);
	/* with two in it */
	session_table_free(t);
	session_table_free(NULL);
}
END_TEST

/* Begins each of thousands, many of them chained: the chains stay. */
START_TEST(begin_leaves_the_table_alone)
{
	struct session_table *t = session_table_new();
	struct course c = { .kind = OURS, .bytes = BYTES };
	int owner;

	ck_assert_ptr_nonnull(t);
	build(&c, 0, 0);
	for (int i = 0; i < ENTRIES; i++) {
		struct session_key key = entry_key(i);
		struct session *s = session_add(t, &key);

		ck_assert_ptr_nonnull(s);
		s->owner = &owner;
	}
	for (int i = 0; i < ENTRIES; i++) {
		struct session_key key = entry_key(i);
		struct session *s = session_find(t, &key);

		ck_assert_ptr_nonnull(s);
		s->bytes_in = 9;
		s->silent = true;
		s->phase = SESSION_OVER;
		session_begin(s, c.buf, c.bytes, ARRIVED);
		ck_assert(same(s->key, key));
		ck_assert_ptr_eq(s->owner, &owner);
		ck_assert_uint_eq(s->bytes_in, 0);
		ck_assert(!s->silent);
		ck_assert_int_eq(s->phase, SESSION_OPEN);
	}
	for (int i = 0; i < ENTRIES; i++) {
		struct session_key key = entry_key(i);

		ck_assert_ptr_nonnull(session_find(t, &key));
	}
	session_table_free(t);
}
END_TEST

START_TEST(opens_with_a_number_not_with_a_marker)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct course c = { .kind = (enum kind)kind, .bytes = BYTES };

		build(&c, 0, 0);
		ck_assert(session_opens(c.buf, BYTES));
		build(&c, 1, 0);
		ck_assert(session_opens(c.buf, BYTES));
		build(&c, 1000000, 0);
		ck_assert(session_opens(c.buf, BYTES));
		build(&c, -1, 0);
		ck_assert(!session_opens(c.buf, BYTES));
		build(&c, -1000000, 0);
		ck_assert(!session_opens(c.buf, BYTES));
	}
	/* captured: first datagrams and end markers */
	ck_assert(session_opens(tv18, sizeof(tv18)));
	ck_assert(!session_opens(tv19, sizeof(tv19)));
	ck_assert(session_opens(tv21, sizeof(tv21)));
	ck_assert(!session_opens(tv22, sizeof(tv22)));
	ck_assert(session_opens(tv24, sizeof(tv24)));
	ck_assert(!session_opens(tv25, sizeof(tv25)));
}
END_TEST

START_TEST(opens_with_a_stamp_that_can_be)
{
	struct course c = { .kind = OURS };

	build(&c, 0, 999999000);
	ck_assert(session_opens(c.buf, BYTES));
	/* 0x000f423f us becomes 0x000f4240: a million */
	ck_assert_uint_eq(c.buf[11], 0x3f);
	c.buf[11] = 0x40;
	ck_assert(!session_opens(c.buf, BYTES));
	build(&c, 0, 0);
	c.buf[8] = 0x80;
	ck_assert(!session_opens(c.buf, BYTES));
}
END_TEST

START_TEST(opens_with_twelve_bytes_at_least)
{
	struct course c = { .kind = OURS };

	build(&c, 5, 0);
	for (size_t n = 0; n <= BYTES; n++) {
		uint8_t *p = malloc(n + (n == 0));

		ck_assert_ptr_nonnull(p);
		memcpy(p, c.buf, n);
		ck_assert_msg(session_opens(p, n) == (n >= 12), "%zu bytes", n);
		free(p);
	}
}
END_TEST

/* The number's sign decides: it stands in byte 12 where 64 bits are
 * announced at 16, else in byte 0.  Microseconds, at 8, are below a million. */
START_TEST(opens_by_the_sign_of_random_bytes)
{
	int opened = 0;

	srand(11);
	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rand() % 100;
		uint8_t *p = malloc(n + (n == 0));

		ck_assert_ptr_nonnull(p);
		for (size_t at = 0; at < n; at++)
			p[at] = (uint8_t)(rand() >> 8);

		bool want = false;

		/* 0 to 1048575 us, or anything */
		if (i % 4 != 0 && n >= 12) {
			p[8] = 0;
			p[9] &= 0x0f;
		}
		if (n >= 12 && (p[8] != 0 ||
				p[9] * 65536 + p[10] * 256 + p[11] >= 1000000))
			want = false;
		else if (n >= 20 && (p[16] & 0x08) != 0)
			want = p[12] < 0x80;
		else if (n >= 12)
			want = p[0] < 0x80;
		ck_assert_int_eq(session_opens(p, n), want);
		opened += want;

		/* whatever it is, seeing it breaks nothing */
		struct course c = { .bytes = n };

		session_begin(&c.s, p, n, ARRIVED);
		if (n > 0)
			memcpy(c.buf, p, n);
		(void)see_built(&c, 0);
		(void)see_built(&c, 1);
		free(p);
	}
	ck_assert_int_gt(opened, 4000);
}
END_TEST

static const struct begin_row {
	enum kind kind;
	int64_t first;
	int64_t base;
	int64_t marker;
	int64_t total; /* the number behind the last */
	bool has_client;
} begin_rows[] = {
	{ OLD, 0, 0, -87, 87, true },
	{ OLD, 4, 0, -87, 87, true },
	{ OLD_C, 0, 0, -87, 87, false },
	{ OLD_C, 1, 0, -87, 87, false },
	{ MODERN, 1, 1, -93, 94, true },
	{ MODERN, 7, 1, -93, 94, true },
	{ MODERN, 0, 0, -93, 93, true },
	{ MODERN_C, 1, 1, -93, 94, false },
	{ MODERN_C, 0, 0, -93, 93, false },
	{ SMALL_TRIP, 1, 1, -93, 94, false },
	{ SMALL_TRIP, 0, 0, -93, 93, false },
	{ OURS, 0, 0, -850, 850, true },
	{ OURS, 1, 0, -850, 850, true },
	{ OURS, 9, 0, -850, 850, true },
	{ OURS, 0, 0, -INT64_MAX, INT64_MAX, true },
	{ OURS, 0, 0, INT64_MIN, INT64_MAX, true },
	{ MODERN, 1, 1, -INT64_MAX, INT64_MAX, true },
	{ MODERN, 1, 1, INT64_MIN, INT64_MAX, true },
	{ MODERN, 1, 1, -INT64_MAX + 1, INT64_MAX, true },
};

START_TEST(begins_as_its_kind_does)
{
	const struct begin_row *row = &begin_rows[_i];
	struct course c;

	open_with(&c, row->kind, row->first);
	ck_assert_int_eq(c.s.layout, layout_of[row->kind]);
	ck_assert_int_eq(c.s.base, row->base);
	ck_assert_int_eq(c.s.has_client, row->has_client);
	ck_assert_int_eq(c.s.ours, row->kind == OURS);
	ck_assert_int_eq(c.s.phase, SESSION_OPEN);
	ck_assert_int_eq(c.s.total, -1);
	ck_assert_int_eq(c.s.first_ns, ARRIVED);
	ck_assert_int_eq(c.s.first_sent_ns, SENT);
	ck_assert_int_eq(c.s.next_seq, row->first + 1);
	ck_assert_uint_eq(c.s.datagrams, 1);
	ck_assert_int_eq(see(&c, row->marker, MS, MS), SESSION_MARKER);
	ck_assert_int_eq(c.s.phase, SESSION_SETTLING);
	ck_assert_int_eq(c.s.total, row->total);
	ck_assert_int_eq(c.s.marker_ns, ARRIVED + MS);
	ck_assert_int_eq(c.s.marker_sent_ns, SENT + MS);
}
END_TEST

/* First datagrams and end markers of the originals, and the number of
 * datagrams that their servers reported. */
START_TEST(originals_end_with_their_count)
{
	static const struct {
		const uint8_t *first;
		size_t first_bytes;
		const uint8_t *marker;
		size_t marker_bytes;
		int64_t base;
		int64_t reported;
	} rows[] = {
		{ tv18, sizeof(tv18), tv19, sizeof(tv19), 0, 87 },
		{ tv21, sizeof(tv21), tv22, sizeof(tv22), 1, 93 },
		{ tv24, sizeof(tv24), tv25, sizeof(tv25), 1, 92 },
	};

	for (int i = 0; i < COUNT(rows); i++) {
		struct session s = { 0 };
		struct wire_udp h;

		session_begin(&s, rows[i].first, rows[i].first_bytes, ARRIVED);
		ck_assert_int_eq(s.base, rows[i].base);
		ck_assert(s.has_client);
		ck_assert_int_eq(s.client.amount, -100);
		ck_assert(!s.ours);
		ck_assert_int_eq(session_see(&s, rows[i].first,
					     rows[i].first_bytes, ARRIVED, WALL,
					     &h),
				 SESSION_DATA);
		ck_assert_int_eq(session_see(&s, rows[i].marker,
					     rows[i].marker_bytes,
					     ARRIVED + SEC, WALL + SEC, &h),
				 SESSION_MARKER);
		ck_assert_int_eq(s.total - s.base, rows[i].reported);
	}
}
END_TEST

START_TEST(number_0_behind_others_is_the_first)
{
	struct course c;

	open_with(&c, MODERN, 1);
	data(&c, 2, MS, MS);
	ck_assert_int_eq(c.s.base, 1);
	data(&c, 0, 0, 2 * MS);
	ck_assert_int_eq(c.s.base, 0);
	ck_assert_int_eq(c.s.next_seq, 3);
	ck_assert_int_eq(see(&c, -3, 3 * MS, 3 * MS), SESSION_MARKER);
	ck_assert_int_eq(c.s.total, 3);
}
END_TEST

START_TEST(counts_what_comes)
{
	struct course c;

	open_with(&c, OURS, 0);
	data(&c, 5, 10 * MS, 11 * MS);
	ck_assert_int_eq(c.s.next_seq, 6);
	/* a late one does not take the highest back */
	data(&c, 3, 6 * MS, 12 * MS);
	ck_assert_int_eq(c.s.next_seq, 6);
	ck_assert_uint_eq(c.s.datagrams, 3);
	ck_assert_int_eq(c.s.last_ns, ARRIVED + 12 * MS);
	/* the stamp is that of the highest */
	ck_assert_int_eq(c.s.last_sent_ns, SENT + 10 * MS);
	ck_assert_int_eq(c.s.first_ns, ARRIVED);
	/* the header is cut: nothing but bytes */
	c.bytes = 11;
	ck_assert_int_eq(see(&c, 6, 13 * MS, 13 * MS), SESSION_IGNORE);
	c.bytes = 15;
	ck_assert_int_eq(see(&c, 6, 13 * MS, 13 * MS), SESSION_IGNORE);
	c.bytes = 0;
	ck_assert_int_eq(see(&c, 6, 13 * MS, 13 * MS), SESSION_IGNORE);
	ck_assert_uint_eq(c.s.datagrams, 3);
	ck_assert_uint_eq(c.s.bytes_in, 3 * BYTES + 11 + 15);
	c.bytes = BYTES;
	data(&c, INT64_MAX - 1, 14 * MS, 14 * MS);
	ck_assert_int_eq(c.s.next_seq, INT64_MAX);
}
END_TEST

/* The sender died, and another has its port. */
START_TEST(first_number_stamped_after_all_is_a_new_test)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct course c;

		open_run(&c, (enum kind)kind, 0, 10, 10 * MS);
		/* again, late, or stamped as the highest: the old one's */
		data(&c, 0, 0, 95 * MS);
		data(&c, 1, 10 * MS, 95 * MS);
		data(&c, 1, 90 * MS, 95 * MS);
		data(&c, 2, 200 * MS, 200 * MS);
		ck_assert_int_eq(see(&c, 0, 90 * MS + 1000, 200 * MS),
				 SESSION_RENEW);
		ck_assert_int_eq(see(&c, 1, SEC, SEC), SESSION_RENEW);
		ck_assert_int_eq(c.s.phase, SESSION_OPEN);
		ck_assert_int_eq(c.s.next_seq, 10);
		/* a test's own beginning is none */
		open_with(&c, (enum kind)kind, 0);
		data(&c, 1, 10 * MS, 10 * MS);
		open_with(&c, (enum kind)kind, 1);
		data(&c, 0, 10 * MS, 10 * MS);
	}
}
END_TEST

START_TEST(settling_takes_late_data_and_no_markers)
{
	struct course c;

	open_run(&c, OURS, 0, 5, 10 * MS);
	ck_assert_int_eq(see(&c, -8, 80 * MS, 80 * MS), SESSION_MARKER);
	ck_assert_int_eq(see(&c, 6, 60 * MS, 90 * MS), SESSION_DATA);
	ck_assert_int_eq(see(&c, -8, 80 * MS, 95 * MS), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, -20, 96 * MS, 96 * MS), SESSION_IGNORE);
	/* neither changes the end */
	ck_assert_int_eq(c.s.total, 8);
	ck_assert_int_eq(c.s.marker_ns, ARRIVED + 80 * MS);
	ck_assert_int_eq(c.s.marker_sent_ns, SENT + 80 * MS);
	ck_assert_int_eq(session_end_ns(&c.s), ARRIVED + 80 * MS);
	c.bytes = 3;
	ck_assert_int_eq(see(&c, 7, 70 * MS, 97 * MS), SESSION_IGNORE);
}
END_TEST

START_TEST(marker_of_ours_is_repeated_unchanged)
{
	struct course c;

	run_to_end(&c, OURS, 0);
	ck_assert_int_eq(see(&c, -10, 100 * MS, 150 * MS), SESSION_REPEAT);
	ck_assert_int_eq(see(&c, -10, 100 * MS, 15 * SEC), SESSION_REPEAT);
	ck_assert_int_eq(see(&c, -10, 101 * MS, 151 * MS), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, -10, 99 * MS, 152 * MS), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, -11, 100 * MS, 153 * MS), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, -9, 100 * MS, 154 * MS), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, INT64_MIN, 100 * MS, SEC), SESSION_IGNORE);
	ck_assert_int_eq(c.s.marker_seq, -10);
}
END_TEST

/* 2.1.8 counts its markers on, and stamps each. */
START_TEST(marker_of_others_counts_on)
{
	static const enum kind kinds[] = { MODERN, MODERN_C, SMALL_TRIP, OLD,
					   OLD_C };
	enum kind kind = kinds[_i];
	int64_t first = kind == OLD || kind == OLD_C ? 0 : 1;
	int64_t marker = -(first + 10);
	struct course c;

	run_to_end(&c, kind, first);
	for (int64_t i = 0; i <= 200; i++)
		ck_assert_int_eq(
			see(&c, marker - i, (100 + i) * MS, (120 + i) * MS),
			SESSION_REPEAT);
	ck_assert_int_eq(see(&c, marker, 100 * MS, 2 * SEC), SESSION_REPEAT);
	ck_assert_int_eq(see(&c, marker - 201, SEC, SEC), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, marker + 1, SEC, SEC), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, -1, SEC, SEC), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, INT32_MIN, SEC, SEC), SESSION_IGNORE);
}
END_TEST

START_TEST(is_done_when_nothing_is_missing)
{
	struct course c;

	open_run(&c, OURS, 0, 5, 10 * MS);
	ck_assert(!session_done(&c.s, false, ARRIVED + 40 * MS));
	ck_assert(!session_done(&c.s, true, ARRIVED + 40 * MS));
	ck_assert_int_eq(see(&c, -6, 50 * MS, 50 * MS), SESSION_MARKER);
	ck_assert(session_done(&c.s, false, ARRIVED + 50 * MS));
	ck_assert(!session_done(&c.s, true, ARRIVED + 50 * MS));
	ck_assert(!session_done(&c.s, true, ARRIVED + 150 * MS - 1));
	ck_assert(session_done(&c.s, true, ARRIVED + 150 * MS));
	finish(&c, 150 * MS);
	ck_assert(!session_done(&c.s, true, ARRIVED + 1000 * SEC));
	ck_assert(!session_done(&c.s, false, ARRIVED + 1000 * SEC));
}
END_TEST

START_TEST(is_done_when_idle)
{
	struct course c;

	/* 30 s after a single one */
	open_with(&c, OURS, 0);
	ck_assert(!session_done(&c.s, false, ARRIVED + 30 * SEC));
	ck_assert(session_done(&c.s, false, ARRIVED + 30 * SEC + 1));
	ck_assert(session_done(&c.s, true, ARRIVED + 30 * SEC + 1));
	/* gaps of 7 s: still 30 s, behind the last at 28 s */
	open_run(&c, OURS, 0, 5, 7 * SEC);
	ck_assert(!session_done(&c.s, false, ARRIVED + 58 * SEC));
	ck_assert(session_done(&c.s, false, ARRIVED + 58 * SEC + 1));
	/* gaps of 10 s: 40 s, behind the last at 40 s */
	open_run(&c, OURS, 0, 5, 10 * SEC);
	ck_assert(!session_done(&c.s, false, ARRIVED + 80 * SEC));
	ck_assert(session_done(&c.s, false, ARRIVED + 80 * SEC + 1));
	/* the mean of 5, 25 and 60 s is 30 s: 120 s, behind the last at 90 s */
	open_with(&c, OURS, 0);
	data(&c, 1, 5 * SEC, 5 * SEC);
	data(&c, 2, 30 * SEC, 30 * SEC);
	data(&c, 3, 90 * SEC, 90 * SEC);
	ck_assert(!session_done(&c.s, false, ARRIVED + 210 * SEC));
	ck_assert(session_done(&c.s, false, ARRIVED + 210 * SEC + 1));
}
END_TEST

static const struct end_row {
	const char *name;
	int64_t last_sent_ns, last_arrived_ns; /* of the last datagram */
	int64_t marker_sent_ns, marker_arrived_ns;
	int64_t end_ns;
} end_rows[] = {
	{ "took as long as the data", SEC, SEC, 1010 * MS, 1010 * MS,
	  1010 * MS },
	{ "took 40 ms longer", SEC, SEC, 1010 * MS, 1050 * MS, 1050 * MS },
	{ "repeated: took 40.001 ms longer", SEC, SEC, 1010 * MS,
	  1050 * MS + 1000, 1010 * MS },
	{ "repeated for 4 s", SEC, SEC, 1010 * MS, 5010 * MS, 1010 * MS },
	/* a queue had filled up: 100 ms above the first datagram's delay */
	{ "queued with the data", SEC, 1100 * MS, 1010 * MS, 1110 * MS,
	  1110 * MS },
	{ "repeated, the data were queued: not before the last of them", SEC,
	  1100 * MS, 1010 * MS, 1200 * MS, 1100 * MS },
	{ "repeated, by stamps after the last one", SEC, 1100 * MS, 1150 * MS,
	  1500 * MS, 1150 * MS },
	/* the path became 5 ms shorter */
	{ "faster than the data", SEC, 1005 * MS, 1010 * MS, 1010 * MS,
	  1010 * MS },
	/* the sender's clock was set during the test */
	{ "clock set back", SEC, SEC, -5 * SEC, 1010 * MS, SEC },
	{ "clock set ahead", SEC, SEC, 20 * SEC, 1010 * MS, 1010 * MS },
	/* back before the last datagram: stamps give a time too long */
	{ "clock set ahead before the last", 20 * SEC, SEC, 20 * SEC, 1110 * MS,
	  1110 * MS },
};

START_TEST(ends_when_the_marker_was_due)
{
	const struct end_row *row = &end_rows[_i];
	struct course c;

	open_with(&c, OURS, 0);
	data(&c, 1, row->last_sent_ns, row->last_arrived_ns);
	ck_assert_int_eq(
		see(&c, -2, row->marker_sent_ns, row->marker_arrived_ns),
		SESSION_MARKER);
	ck_assert_msg(session_end_ns(&c.s) == ARRIVED + row->end_ns,
		      "%s: %" PRId64 " ns, not %" PRId64, row->name,
		      session_end_ns(&c.s) - ARRIVED, row->end_ns);
}
END_TEST

START_TEST(ends_a_mean_gap_behind_the_last_without_a_marker)
{
	struct course c;

	open_with(&c, OURS, 0);
	ck_assert_int_eq(session_end_ns(&c.s), ARRIVED);
	data(&c, 1, 30 * MS, 30 * MS);
	ck_assert_int_eq(session_end_ns(&c.s), ARRIVED + 60 * MS);
	data(&c, 2, 40 * MS, 40 * MS);
	ck_assert_int_eq(session_end_ns(&c.s), ARRIVED + 60 * MS);
	data(&c, 9, 90 * MS, 90 * MS);
	ck_assert_int_eq(session_end_ns(&c.s), ARRIVED + 120 * MS);
}
END_TEST

START_TEST(data_stamped_after_the_marker_are_a_new_test)
{
	static const int64_t numbers[] = { 0, 1, 2, 7, 10, 1000000 };

	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < COUNT(numbers); i++) {
			struct course c;

			run_to_end(&c, (enum kind)kind, 1);
			/* stamps are whole microseconds */
			ck_assert_int_eq(
				see(&c, numbers[i], 100 * MS + 1000, 120 * MS),
				SESSION_RENEW);
			ck_assert_int_eq(see(&c, numbers[i], 3 * SEC, 3 * SEC),
					 SESSION_RENEW);
		}
	}
}
END_TEST

START_TEST(new_test_starts_from_nothing)
{
	struct course c;

	run_to_end(&c, OURS, 0);
	c.s.bytes_out = 77;
	c.s.greeted = true;
	c.kind = OLD;
	ck_assert_int_eq(see(&c, 0, SEC, SEC), SESSION_RENEW);
	session_begin(&c.s, c.buf, c.bytes, ARRIVED + SEC);
	ck_assert_int_eq(see(&c, 0, SEC, SEC), SESSION_DATA);
	ck_assert_int_eq(c.s.phase, SESSION_OPEN);
	ck_assert_int_eq(c.s.layout, WIRE_LEGACY);
	ck_assert(!c.s.ours && !c.s.greeted && !c.s.silent);
	ck_assert_uint_eq(c.s.datagrams, 1);
	ck_assert_uint_eq(c.s.bytes_in, BYTES);
	ck_assert_uint_eq(c.s.bytes_out, 0);
	ck_assert_uint_eq(c.s.report_bytes, 0);
	ck_assert_int_eq(c.s.first_ns, ARRIVED + SEC);
	ck_assert_int_eq(c.s.next_seq, 1);
	ck_assert_int_eq(c.s.total, -1);
	ck_assert_int_eq(c.s.from_ns, 0);
	ck_assert_uint_eq(c.s.before.packets, 0);
}
END_TEST

START_TEST(stragglers_are_no_new_test)
{
	for (int kind = 0; kind < KINDS; kind++) {
		static const int64_t arrivals[] = { 111 * MS, 610 * MS,
						    611 * MS, 19 * SEC };

		for (int i = 0; i < COUNT(arrivals); i++) {
			struct course c;

			run_to_end(&c, (enum kind)kind, 0);
			for (int64_t seq = 0; seq < 10; seq++)
				ck_assert_int_eq(see(&c, seq, seq * 10 * MS,
						     arrivals[i]),
						 SESSION_IGNORE);
			/* not even when it is stamped as the marker is */
			for (int64_t seq = 1; seq < 12; seq++)
				ck_assert_int_eq(
					see(&c, seq, 100 * MS, arrivals[i]),
					SESSION_IGNORE);
		}
	}
}
END_TEST

/* Over at 110 ms; the limit is 500 ms later. */
START_TEST(clock_set_back_shows_after_a_while)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct course c;

		run_to_end(&c, (enum kind)kind, 0);
		ck_assert_int_eq(see(&c, 0, -3600 * SEC, 120 * MS),
				 SESSION_IGNORE);
		ck_assert_int_eq(see(&c, 0, -3600 * SEC, 610 * MS),
				 SESSION_IGNORE);
		ck_assert_int_eq(see(&c, 0, -3600 * SEC, 610 * MS + 1),
				 SESSION_RENEW);
		ck_assert_int_eq(see(&c, 0, 50 * MS, 610 * MS + 1),
				 SESSION_RENEW);
		/* the old one again */
		ck_assert_int_eq(see(&c, 0, 0, 610 * MS + 1), SESSION_IGNORE);
		/* number 1 proves nothing */
		ck_assert_int_eq(see(&c, 1, -3600 * SEC, 10 * SEC),
				 SESSION_IGNORE);
	}
}
END_TEST

START_TEST(silence_can_be_broken)
{
	for (int kind = 0; kind < KINDS; kind++) {
		int64_t first =
			kind == OLD || kind == OLD_C || kind == OURS ? 0 : 1;
		int64_t next = first + 10;
		struct course c;

		run_to_silence(&c, (enum kind)kind, first);
		ck_assert_uint_eq(c.s.report_bytes, 0);
		ck_assert(!session_may_answer(&c.s));
		/* what went before is nothing new, whatever its stamp */
		for (int64_t seq = 2; seq < next; seq++) {
			ck_assert_int_eq(see(&c, seq, seq * 10 * MS, 32 * SEC),
					 SESSION_IGNORE);
			ck_assert_int_eq(see(&c, seq, 32 * SEC, 32 * SEC),
					 SESSION_IGNORE);
		}
		/* the first ones, late or again */
		ck_assert_int_eq(see(&c, first, 0, 32 * SEC), SESSION_IGNORE);
		ck_assert_int_eq(see(&c, 1, 0, 32 * SEC), SESSION_IGNORE);
		/* it goes on */
		ck_assert_int_eq(see(&c, next, 100 * MS, 32 * SEC),
				 SESSION_RESUME);
		ck_assert_int_eq(see(&c, next + 3200, 32 * SEC, 32 * SEC),
				 SESSION_RESUME);
		ck_assert_int_eq(see(&c, -next, 100 * MS, 32 * SEC),
				 SESSION_RESUME);
		ck_assert_int_eq(see(&c, -9000, 33 * SEC, 33 * SEC),
				 SESSION_RESUME);
		/* a new test begins */
		ck_assert_int_eq(see(&c, 0, 32 * SEC, 32 * SEC), SESSION_RENEW);
		ck_assert_int_eq(see(&c, 1, 32 * SEC, 32 * SEC), SESSION_RENEW);
		ck_assert_int_eq(see(&c, 0, -3600 * SEC, 32 * SEC),
				 SESSION_RENEW);
		ck_assert_int_eq(see(&c, 0, -3600 * SEC, 31 * SEC + 500 * MS),
				 SESSION_IGNORE);
	}
}
END_TEST

/* Resumes with the datagram that was built and seen, and sees it again. */
static void resume(struct course *c, int64_t arrived_ns,
		   enum session_verdict want)
{
	uint64_t bytes_in = c->s.bytes_in;

	session_resume(&c->s, c->bytes);
	ck_assert_int_eq(c->s.phase, SESSION_OPEN);
	ck_assert(!c->s.silent);
	ck_assert_int_eq(see_built(c, arrived_ns), want);
	/* its bytes count once */
	ck_assert_uint_eq(c->s.bytes_in, bytes_in);
	(void)omits(c, arrived_ns);
}

static void decode_report(const struct session *s, struct wire_report *r)
{
	ck_assert_uint_gt(s->report_bytes, 0);
	ck_assert_uint_le(s->report_bytes, sizeof(s->report));
	ck_assert_int_eq(wire_report_decode(s->report, s->report_bytes, r), 0);
}

static void decode_block(const struct session *s, struct block_result *b)
{
	ck_assert_uint_gt(s->report_bytes, WIRE_REPORT_BYTES);
	ck_assert_int_eq(
		block_result_decode(s->report + WIRE_REPORT_BYTES,
				    s->report_bytes - WIRE_REPORT_BYTES,
				    (uint64_t)s->marker_sent_ns, b),
		0);
}

/* Three parts, the last one ended by its marker. */
START_TEST(report_sums_the_parts)
{
	static const struct stats_snap parts[] = {
		{ .bytes = 10 * BYTES,
		  .packets = 10,
		  .late = 1,
		  .too_late = 5,
		  .duplicate = 3,
		  .jitter_ns = 900000,
		  .jitter_max_ns = 2000000,
		  .jitter_sum_ns = 8000000,
		  .socket_drops = 2 },
		{ .bytes = 20 * BYTES,
		  .packets = 20,
		  .lost = 70,
		  .late = 2,
		  .gaps = 3,
		  .gap_max = 60,
		  .gap_began_ns = ARRIVED + 33 * SEC,
		  .gap_max_ns = 600 * MS,
		  .jitter_ns = 1100000,
		  .jitter_max_ns = 5000000,
		  .jitter_sum_ns = 20000000,
		  .shared_drops = 4 },
		{ .bytes = 2 * BYTES,
		  .packets = 2,
		  .lost = 8,
		  .late = 1,
		  .gaps = 1,
		  .gap_max = 8,
		  .gap_began_ns = ARRIVED + 70 * SEC,
		  .gap_max_ns = 80 * MS,
		  .jitter_ns = 500000,
		  .jitter_max_ns = 3000000,
		  .jitter_sum_ns = 4000000,
		  .clock_steps = 6 },
	};
	struct block_result beyond = { .kernel_stamps = true,
				       .buffer_asked = 4096 };
	struct block_result b;
	struct wire_report r;
	struct course c;

	open_run(&c, OURS, 0, 10, 10 * MS);
	session_finish(&c.s, &parts[0], &beyond, false, ARRIVED + 31 * SEC);
	ck_assert(c.s.silent);
	ck_assert_int_eq(see(&c, 80, 33 * SEC, 33 * SEC), SESSION_RESUME);
	resume(&c, 33 * SEC, SESSION_DATA);
	session_finish(&c.s, &parts[1], &beyond, false, ARRIVED + 65 * SEC);
	ck_assert(c.s.silent);
	ck_assert_uint_eq(c.s.report_bytes, 0);
	ck_assert_int_eq(see(&c, 109, 69 * SEC, 69 * SEC), SESSION_RESUME);
	resume(&c, 69 * SEC, SESSION_DATA);
	ck_assert_int_eq(see(&c, -110, 71 * SEC, 71 * SEC), SESSION_MARKER);
	session_finish(&c.s, &parts[2], &beyond, false, ARRIVED + 71 * SEC);
	ck_assert(!c.s.silent);

	decode_report(&c.s, &r);
	ck_assert_uint_eq(r.bytes, 32 * BYTES);
	ck_assert_uint_eq(r.lost, 78);
	ck_assert_uint_eq(r.out_of_order, 4);
	ck_assert_uint_eq(r.total, 110);
	ck_assert_int_eq(r.duration_ns, 71 * SEC);
	/* levels: of now, or the largest */
	ck_assert_int_eq(r.jitter_ns, 500000);
	decode_block(&c.s, &b);
	ck_assert_uint_eq(b.bytes, 32 * BYTES);
	ck_assert_uint_eq(b.packets, 32);
	ck_assert_uint_eq(b.lost, 78);
	ck_assert_uint_eq(b.late, 4);
	ck_assert_uint_eq(b.too_late, 5);
	ck_assert_uint_eq(b.duplicate, 3);
	ck_assert_uint_eq(b.gaps, 4);
	ck_assert_uint_eq(b.gap_max, 60);
	ck_assert_int_eq(b.gap_max_ns, 600 * MS);
	ck_assert_int_eq(b.gap_began_ns, 33 * SEC);
	ck_assert_uint_eq(b.socket_drops, 2);
	ck_assert_uint_eq(b.shared_drops, 4);
	ck_assert_uint_eq(b.clock_steps, 6);
	ck_assert_int_eq(b.duration_ns, 71 * SEC);
	ck_assert_int_eq(b.omitted_ns, 0);
	ck_assert_int_eq(b.jitter_ns, 500000);
	ck_assert_int_eq(b.jitter_max_ns, 5000000);
	ck_assert_int_eq(b.jitter_mean_ns, 1000000);
	ck_assert_uint_eq(b.buffer_asked, 4096);
	ck_assert(b.udp && b.kernel_stamps && !b.cpu_shared);
	/* and its marker is repeated as any */
	ck_assert_int_eq(see(&c, -110, 71 * SEC, 72 * SEC), SESSION_REPEAT);
}
END_TEST

/* A marker alone after the silence: the first part is the whole test. */
START_TEST(marker_ends_a_silent_test)
{
	struct stats_snap counted = { .bytes = 14700, .packets = 10 };
	struct stats_snap none = { 0 };
	struct block_result beyond = { 0 };
	struct wire_report r;
	struct course c;

	open_run(&c, MODERN, 1, 10, 10 * MS);
	session_finish(&c.s, &counted, &beyond, false, ARRIVED + 31 * SEC);
	ck_assert_int_eq(see(&c, -11, 40 * SEC, 40 * SEC), SESSION_RESUME);
	resume(&c, 40 * SEC, SESSION_MARKER);
	ck_assert_int_eq(c.s.total, 12);
	session_finish(&c.s, &none, &beyond, false, ARRIVED + 40 * SEC);
	decode_report(&c.s, &r);
	ck_assert_uint_eq(r.bytes, 14700);
	ck_assert_uint_eq(r.total, 10);
	ck_assert_int_eq(r.duration_ns, 40 * SEC);
	ck_assert_int_eq(see(&c, -12, 41 * SEC, 41 * SEC), SESSION_REPEAT);
}
END_TEST

START_TEST(is_kept_for_its_time)
{
	struct course c;

	open_run(&c, OURS, 0, 10, 10 * MS);
	ck_assert(!session_forget(&c.s, ARRIVED + 10000 * SEC));
	ck_assert_int_eq(see(&c, -10, 100 * MS, 100 * MS), SESSION_MARKER);
	ck_assert(!session_forget(&c.s, ARRIVED + 10000 * SEC));
	finish(&c, 110 * MS);
	ck_assert(!session_forget(&c.s, ARRIVED + 110 * MS));
	ck_assert(!session_forget(&c.s, ARRIVED + 20110 * MS - 1));
	ck_assert(session_forget(&c.s, ARRIVED + 20110 * MS));

	run_to_silence(&c, OURS, 0);
	ck_assert(!session_forget(&c.s, ARRIVED + 631 * SEC - 1));
	ck_assert(session_forget(&c.s, ARRIVED + 631 * SEC));
	ck_assert_int_eq(see(&c, 20, 40 * SEC, 40 * SEC), SESSION_RESUME);
	resume(&c, 40 * SEC, SESSION_DATA);
	ck_assert(!session_forget(&c.s, ARRIVED + 10000 * SEC));
}
END_TEST

static const struct stats_snap ledger = {
	.bytes = 1425900,
	.packets = 970,
	.lost = 30,
	.late = 11,
	.too_late = 12,
	.duplicate = 13,
	.gaps = 14,
	.gap_max = 15,
	.gap_began_ns = ARRIVED + 16 * MS,
	.gap_max_ns = 17000018,
	.jitter_ns = 19000,
	.jitter_max_ns = 200000,
	.jitter_sum_ns = 970 * 21000,
	.socket_drops = 22,
	.shared_drops = 23,
	.clock_steps = 24,
};

static const struct block_result known = {
	.kernel_stamps = true,
	.delay_known = true,
	.drops_known = true,
	.buffer_asked = 31,
	.buffer_granted = 32,
	.delay_mean_ns = 33,
	.delay_p50_ns = 34,
	.delay_p99_ns = 35,
	.delay_p999_ns = 36,
	.delay_max_ns = 37,
	.cpu_user_ns = 38,
	.cpu_system_ns = 39,
	/* of these the ledger's are told */
	.bytes = 999,
	.packets = 999,
	.lost = 999,
	.duration_ns = 999,
	.jitter_ns = 999,
};

/* 2 s, with transit times of 2 ms, 5 ms and -1 ms, and the marker's 2 ms. */
static void finish_with_ledger(struct course *c, enum kind kind, bool enhanced)
{
	int64_t first = kind == OLD || kind == OLD_C || kind == OURS ? 0 : 1;

	open_with(c, kind, first);
	data(c, first + 1, SEC, SEC + 3 * MS);
	data(c, first + 2, SEC + 10 * MS, SEC + 7 * MS);
	ck_assert_int_eq(see(c, -(first + 3), 2 * SEC, 2 * SEC),
			 SESSION_MARKER);
	session_finish(&c->s, &ledger, &known, enhanced, ARRIVED + 2 * SEC);
}

static void check_report(const struct session *s, bool legacy, bool enhanced)
{
	struct wire_report r;

	decode_report(s, &r);
	ck_assert_int_eq(r.legacy, legacy);
	ck_assert_int_eq(r.enhanced, enhanced);
	ck_assert_uint_eq(r.bytes, 1425900);
	ck_assert_uint_eq(r.lost, 30);
	ck_assert_uint_eq(r.out_of_order, 11);
	ck_assert_uint_eq(r.total, 1000);
	ck_assert_int_eq(r.duration_ns, 2 * SEC);
	ck_assert_int_eq(r.jitter_ns, 19000);
	if (legacy)
		return;
	ck_assert_int_eq(r.transit_min_ns, -1 * MS);
	ck_assert_int_eq(r.transit_max_ns, 5 * MS);
	ck_assert_int_eq(r.transit_sum_ns, 8 * MS);
	ck_assert_int_eq(r.transit_mean_ns, 2 * MS);
	ck_assert_uint_eq(r.transit_count, 4);
	ck_assert_uint_eq(r.pps, 500);
}

START_TEST(report_says_what_was_counted)
{
	for (int kind = 0; kind < KINDS; kind++) {
		bool legacy = kind == OLD || kind == OLD_C;
		struct course c;

		finish_with_ledger(&c, (enum kind)kind, false);
		check_report(&c.s, legacy, false);
		if (kind != OURS)
			ck_assert_uint_eq(c.s.report_bytes, legacy ? 52 : 128);
		finish_with_ledger(&c, (enum kind)kind, true);
		check_report(&c.s, legacy, !legacy);
	}
}
END_TEST

START_TEST(report_to_ours_says_more)
{
	struct block_result b;
	struct course c;

	finish_with_ledger(&c, OURS, true);
	decode_block(&c.s, &b);
	ck_assert(b.udp && b.kernel_stamps && b.delay_known && b.drops_known);
	ck_assert(!b.cpu_shared && !b.trip_known && !b.cpu_known);
	ck_assert_uint_eq(b.bytes, 1425900);
	ck_assert_uint_eq(b.packets, 970);
	ck_assert_uint_eq(b.lost, 30);
	ck_assert_uint_eq(b.late, 11);
	ck_assert_uint_eq(b.too_late, 12);
	ck_assert_uint_eq(b.duplicate, 13);
	ck_assert_uint_eq(b.gaps, 14);
	ck_assert_uint_eq(b.gap_max, 15);
	ck_assert_int_eq(b.gap_began_ns, 16 * MS);
	ck_assert_int_eq(b.gap_max_ns, 17000018);
	ck_assert_int_eq(b.jitter_ns, 19000);
	ck_assert_int_eq(b.jitter_max_ns, 200000);
	ck_assert_int_eq(b.jitter_mean_ns, 21000);
	ck_assert_uint_eq(b.socket_drops, 22);
	ck_assert_uint_eq(b.shared_drops, 23);
	ck_assert_uint_eq(b.clock_steps, 24);
	ck_assert_uint_eq(b.buffer_asked, 31);
	ck_assert_uint_eq(b.buffer_granted, 32);
	ck_assert_int_eq(b.delay_mean_ns, 33);
	ck_assert_int_eq(b.delay_p50_ns, 34);
	ck_assert_int_eq(b.delay_p99_ns, 35);
	ck_assert_int_eq(b.delay_p999_ns, 36);
	ck_assert_int_eq(b.delay_max_ns, 37);
	ck_assert_int_eq(b.cpu_user_ns, 38);
	ck_assert_int_eq(b.cpu_system_ns, 39);
	ck_assert_int_eq(b.duration_ns, 2 * SEC);
	ck_assert_int_eq(b.omitted_ns, 0);
	ck_assert_uint_eq(b.omit_from, 0);
}
END_TEST

/* The nonce is the marker's stamp. */
START_TEST(report_is_tied_to_its_marker)
{
	struct block_result b;
	struct course c;

	finish_with_ledger(&c, OURS, false);

	const uint8_t *p = c.s.report + WIRE_REPORT_BYTES;
	size_t n = c.s.report_bytes - WIRE_REPORT_BYTES;
	uint64_t nonce = (uint64_t)(SENT + 2 * SEC);

	ck_assert_int_eq(block_result_decode(p, n, nonce, &b), 0);
	ck_assert_int_eq(block_result_decode(p, n, nonce + 1000, &b), -EINVAL);
	ck_assert_int_eq(block_result_decode(p, n, (uint64_t)SENT, &b),
			 -EINVAL);
	ck_assert_int_eq(block_result_decode(p, n, 0, &b), -EINVAL);
}
END_TEST

/* A gap that begins with the test, before anything came, began at 0. */
START_TEST(gap_at_the_start_begins_at_0)
{
	struct stats_snap counted = {
		.packets = 3, .lost = 3, .gaps = 1, .gap_max = 3
	};
	struct block_result b;
	struct course c;

	open_with(&c, OURS, 3);
	data(&c, 4, 10 * MS, 10 * MS);
	data(&c, 5, 20 * MS, 20 * MS);
	ck_assert_int_eq(see(&c, -6, 30 * MS, 30 * MS), SESSION_MARKER);
	session_finish(&c.s, &counted, &known, false, ARRIVED + 30 * MS);
	decode_block(&c.s, &b);
	ck_assert_uint_eq(b.gap_max, 3);
	ck_assert_int_eq(b.gap_began_ns, 0);
}
END_TEST

/* The sender's clock is ahead: all its transit times are negative. */
START_TEST(transit_times_may_all_be_negative)
{
	struct course c = { .kind = MODERN, .bytes = BYTES };
	struct wire_report r;

	build(&c, 1, 10 * MS);
	session_begin(&c.s, c.buf, c.bytes, ARRIVED);
	data(&c, 1, 10 * MS, 0);
	data(&c, 2, 17 * MS, 10 * MS);
	ck_assert_int_eq(see(&c, -3, 31 * MS, 20 * MS), SESSION_MARKER);
	finish(&c, 20 * MS);
	decode_report(&c.s, &r);
	ck_assert_int_eq(r.transit_min_ns, -9 * MS);
	ck_assert_int_eq(r.transit_max_ns, -5 * MS);
	ck_assert_int_eq(r.transit_sum_ns, -22 * MS);
	ck_assert_uint_eq(r.transit_count, 3);
}
END_TEST

/* Stamps of 1970 and of 2106: no overflow, and what is no clock at all is
 * left out. */
START_TEST(absurd_stamps_break_no_transit_time)
{
	struct wire_report r;
	struct course c;

	open_with(&c, MODERN, 1);
	for (int64_t seq = 2; seq < 300; seq++)
		(void)see(&c, seq, -SENT, seq * MS);
	ck_assert_int_eq(see(&c, -300, 300 * MS, 300 * MS), SESSION_MARKER);
	finish(&c, SEC);
	decode_report(&c.s, &r);
	ck_assert_int_le(r.transit_min_ns, r.transit_mean_ns);
	ck_assert_int_le(r.transit_mean_ns, r.transit_max_ns);
	ck_assert_int_eq(r.transit_min_ns, 2 * MS);
	ck_assert_int_eq(r.transit_max_ns, WALL + 299 * MS);

	/* 2106 seen in 1970: 136 years */
	open_with(&c, MODERN, 1);
	build(&c, 2, INT64_C(4294967295) * SEC - SENT);
	ck_assert_int_eq(
		session_see(&c.s, c.buf, c.bytes, ARRIVED + MS, 0, &c.h),
		SESSION_DATA);
	ck_assert_uint_eq(c.s.transit.count, 1);
	ck_assert_int_eq(c.s.transit.min_ns, 2 * MS);
	ck_assert_int_eq(c.s.transit.max_ns, 2 * MS);
}
END_TEST

/* Three datagrams of 12 bytes allow 108 bytes: two reports of 52. */
START_TEST(answers_stay_below_three_times)
{
	struct course c;

	open_bytes(&c, OLD, 0, 12);
	data(&c, 1, MS, MS);
	ck_assert(!session_may_answer(&c.s));
	ck_assert_int_eq(see(&c, -2, 2 * MS, 2 * MS), SESSION_MARKER);
	ck_assert(!session_may_answer(&c.s));
	finish(&c, 2 * MS);
	ck_assert_uint_eq(c.s.bytes_in, 36);
	ck_assert_uint_eq(c.s.report_bytes, 52);
	for (int i = 0; i < 2; i++) {
		ck_assert(session_may_answer(&c.s));
		c.s.bytes_out += c.s.report_bytes;
	}
	ck_assert(!session_may_answer(&c.s));
	/* 48 bytes came, 144 may go: 156 would */
	ck_assert_int_eq(see(&c, -2, 2 * MS, 3 * MS), SESSION_REPEAT);
	ck_assert(!session_may_answer(&c.s));
	/* 52 bytes came, and what is too short counts too: 156 exactly */
	c.bytes = 4;
	ck_assert_int_eq(see(&c, -2, 2 * MS, 3 * MS), SESSION_IGNORE);
	ck_assert_uint_eq(c.s.bytes_in, 52);
	ck_assert(session_may_answer(&c.s));
	c.s.bytes_out += c.s.report_bytes;
	ck_assert(!session_may_answer(&c.s));
}
END_TEST

/* A client of ours with the shortest datagrams that hold its header. */
START_TEST(answers_to_ours_stay_below_three_times)
{
	struct course c;
	int answers = 0;

	open_bytes(&c, OURS, 0, WIRE_UDP_CLIENT_BYTES);

	uint8_t hello[BLOCK_HELLO_BYTES];

	ck_assert_uint_eq(session_hello(&c.s, SENT, 9, hello), 28);
	ck_assert_int_eq(see(&c, -1, MS, MS), SESSION_MARKER);
	finish(&c, MS);
	for (int i = 0; i < 100; i++) {
		uint64_t after = c.s.bytes_out + c.s.report_bytes;
		bool room = after <= 3 * 76 * ((uint64_t)i + 2);

		ck_assert_int_eq(session_may_answer(&c.s), room);
		if (room) {
			c.s.bytes_out = after;
			answers++;
		}
		ck_assert_int_eq(see(&c, -1, MS, (i + 2) * MS), SESSION_REPEAT);
	}
	ck_assert_int_gt(answers, 40);
}
END_TEST

/* At each of the first datagrams, then each time that they doubled. */
START_TEST(hello_goes_to_ours_again_and_again)
{
	uint8_t p[BLOCK_HELLO_BYTES];
	uint64_t nonce = 0;
	uint64_t cookie = 0;
	unsigned hellos = 0;
	struct course c;

	for (int kind = 0; kind < KINDS; kind++) {
		open_with(&c, (enum kind)kind, 1);
		if (kind != OURS)
			ck_assert_uint_eq(session_hello(&c.s, SENT, 9, p), 0);
	}
	open_with(&c, OURS, 1);
	for (uint64_t n = 1; n <= 1000; n++) {
		c.s.datagrams = n;
		if (session_hello(&c.s, SENT + (int64_t)n * MS, 9, p) == 0)
			continue;
		ck_assert_int_eq(
			block_hello_decode(p, sizeof(p), &nonce, &cookie), 0);
		ck_assert_uint_eq(cookie, 9);
		ck_assert_uint_eq(nonce, (uint64_t)(SENT + (int64_t)n * MS));
		ck_assert(n <= 24 || n == 48 || n == 96 || n == 192 ||
			  n == 384 || n == 768);
		hellos++;
	}
	ck_assert_uint_eq(hellos, 29);
	ck_assert_uint_eq(c.s.bytes_out, 29 * 28);
}
END_TEST

/* In mid-test, after many datagrams: counted from the refusal on. */
START_TEST(refusal_goes_to_ours_again_and_again)
{
	const struct policy_refusal r = { .why = POLICY_RATE, .value = 7 };
	struct policy_refusal told;
	uint8_t p[BLOCK_REFUSAL_BYTES];
	uint64_t nonce = 0;
	unsigned words = 0;
	struct course c;

	open_with(&c, OLD, 1);
	ck_assert_uint_eq(session_refusal(&c.s, &r, SENT, p), 0);
	open_with(&c, OURS, 1);
	c.s.datagrams = 100000;
	c.s.greeted = 65536;
	c.s.bytes_in = 100000 * BYTES;
	for (uint64_t n = 1; n <= 100; n++) {
		if (session_refusal(&c.s, &r, SENT + (int64_t)n, p) == 0)
			continue;
		ck_assert_int_eq(
			block_refusal_decode(p, sizeof(p), &nonce, &told), 0);
		ck_assert_uint_eq(nonce, (uint64_t)SENT + n);
		ck_assert_int_eq((int)told.why, POLICY_RATE);
		ck_assert(n <= 24 || n == 48 || n == 96);
		words++;
	}
	ck_assert_uint_eq(words, 26);
	ck_assert_uint_eq(c.s.bytes_out, 26 * 36);
	c.s.bytes_out = 3 * c.s.bytes_in - 35;
	c.s.refused = 0;
	ck_assert_uint_eq(session_refusal(&c.s, &r, SENT, p), 0);
}
END_TEST

START_TEST(hello_stays_below_three_times)
{
	uint8_t p[BLOCK_HELLO_BYTES];
	struct course c = { .kind = OURS, .bytes = BYTES };

	build(&c, 0, 0);
	session_begin(&c.s, c.buf, c.bytes, ARRIVED);
	ck_assert(c.s.ours);
	c.s.bytes_in = 9;
	ck_assert_uint_eq(session_hello(&c.s, SENT, 9, p), 0);
	ck_assert_uint_eq(c.s.bytes_out, 0);
	c.s.bytes_in = 10;
	ck_assert_uint_eq(session_hello(&c.s, SENT, 9, p), 28);
}
END_TEST

/* Datagrams of 16 bytes, of which the header is in a long one alone. */
START_TEST(first_long_datagram_tells_the_kind)
{
	struct course c;

	open_bytes(&c, OURS, 3, 16);
	ck_assert(!c.s.has_client);
	ck_assert(!c.s.ours);
	data(&c, 4, MS, MS);
	c.bytes = WIRE_UDP_CLIENT_BYTES;
	data(&c, 5, 2 * MS, 2 * MS);
	ck_assert(c.s.has_client);
	ck_assert(c.s.ours);
	ck_assert_int_eq(c.s.base, 0);
	ck_assert_int_eq(c.s.layout, WIRE_MODERN);
	ck_assert_int_eq(c.s.next_seq, 6);
	/* short ones again don't judge anew: 64 bits remain */
	c.bytes = 16;
	data(&c, TWO_32 + 6, 3 * MS, 3 * MS);
	ck_assert(c.s.ours);
	ck_assert_int_eq(c.s.layout, WIRE_MODERN);
	ck_assert_int_eq(see(&c, -(TWO_32 + 7), 4 * MS, 4 * MS),
			 SESSION_MARKER);
	ck_assert_int_eq(c.s.total, TWO_32 + 7);
	finish(&c, 4 * MS);
	ck_assert_uint_gt(c.s.report_bytes, WIRE_REPORT_BYTES);
}
END_TEST

/* Long enough to look like a modern client's, which begins at 1, but too short
 * for the header that tells one of ours. */
START_TEST(base_is_0_once_the_kind_is_known)
{
	struct course c;

	open_bytes(&c, OURS, 1, 32);
	ck_assert(!c.s.ours);
	ck_assert_int_eq(c.s.base, 1);
	c.bytes = WIRE_UDP_CLIENT_BYTES;
	ck_assert_int_eq(see(&c, -390, MS, MS), SESSION_MARKER);
	ck_assert(c.s.ours);
	ck_assert_int_eq(c.s.base, 0);
	ck_assert_int_eq(c.s.total, 390);
}
END_TEST

START_TEST(header_of_the_first_holds_for_all)
{
	struct course c;

	open_with(&c, OURS, 0);
	/* a later one that looks otherwise changes nothing */
	c.kind = MODERN;
	data(&c, 1, MS, MS);
	ck_assert(c.s.ours);
	c.kind = MODERN_C;
	data(&c, 2, 2 * MS, 2 * MS);
	ck_assert(c.s.ours);
	ck_assert_int_eq(c.s.layout, WIRE_MODERN);
}
END_TEST

/* A datagram of a client that omits: with the header's cut, or short. */
static bool omitted(struct course *c, int64_t seq, int64_t ms,
		    uint32_t omit_from, size_t bytes)
{
	c->omit_from = omit_from;
	c->bytes = bytes;
	ck_assert_int_eq(see(c, seq, ms * MS, ms * MS),
			 seq < 0 ? SESSION_MARKER : SESSION_DATA);
	ck_assert_int_eq(c->h.seq, seq);
	return omits(c, ms * MS);
}

/* A client of ours with -O 1. */
static void open_omitting(struct course *c, size_t bytes)
{
	*c = (struct course){ .kind = OURS, .bytes = bytes, .omit_10ms = 100 };
	build(c, 0, 0);
	session_begin(&c->s, c->buf, c->bytes, ARRIVED);
}

START_TEST(omits_by_the_header)
{
	struct block_result b;
	struct wire_report r;
	struct course c;

	open_omitting(&c, BYTES);
	ck_assert_uint_eq(c.s.client.omit_10ms, 100);
	ck_assert(omitted(&c, 0, 0, 0, BYTES));
	/* while the cut isn't known, whatever the stamp */
	ck_assert(omitted(&c, 1, 1200, 0, BYTES));
	ck_assert_int_eq(c.s.from_ns, 0);
	ck_assert(!omitted(&c, 51, 1250, 50, BYTES));
	ck_assert_int_eq(c.s.from_ns, ARRIVED + 1250 * MS);
	/* late ones, the border, and short ones by what is known */
	ck_assert(omitted(&c, 49, 1251, 0, BYTES));
	ck_assert(omitted(&c, 49, 1252, 50, BYTES));
	ck_assert(!omitted(&c, 50, 1253, 50, BYTES));
	ck_assert(omitted(&c, 48, 1254, 50, 16));
	ck_assert(!omitted(&c, 52, 1255, 50, 16));
	ck_assert(!omitted(&c, -53, 1750, 50, BYTES));
	ck_assert_int_eq(c.s.omit_from, 50);
	ck_assert_int_eq(c.s.from_ns, ARRIVED + 1250 * MS);

	session_finish(&c.s, &ledger, &known, false, ARRIVED + 1750 * MS);
	decode_report(&c.s, &r);
	ck_assert_int_eq(r.duration_ns, 500 * MS);
	ck_assert_uint_eq(r.pps, 2000);
	decode_block(&c.s, &b);
	ck_assert_int_eq(b.duration_ns, 500 * MS);
	ck_assert_int_eq(b.omitted_ns, 1250 * MS);
	ck_assert_uint_eq(b.omit_from, 50);
}
END_TEST

/* The first that counts came after the end by the marker's stamp. */
START_TEST(counted_time_is_never_negative)
{
	struct stats_snap one = { .bytes = BYTES, .packets = 1 };
	struct block_result b;
	struct wire_report r;
	struct course c;

	open_omitting(&c, BYTES);
	ck_assert(omitted(&c, 0, 0, 0, BYTES));
	ck_assert(!omitted(&c, -2, 20, 1, BYTES));
	/* late, while it settles */
	c.bytes = BYTES;
	ck_assert_int_eq(see(&c, 1, 10 * MS, 50 * MS), SESSION_DATA);
	ck_assert(!omits(&c, 50 * MS));
	session_finish(&c.s, &one, &known, false, ARRIVED + 50 * MS);
	decode_report(&c.s, &r);
	ck_assert_int_eq(r.duration_ns, 0);
	decode_block(&c.s, &b);
	ck_assert_int_eq(b.duration_ns, 0);
	ck_assert_int_eq(b.omitted_ns, 20 * MS);
}
END_TEST

/* Only the first datagram has room for the header. */
START_TEST(omits_by_the_stamps_of_short_datagrams)
{
	struct block_result b;
	struct course c;

	open_omitting(&c, BYTES);
	ck_assert(omitted(&c, 0, 0, 0, BYTES));
	ck_assert(omitted(&c, 1, 500, 0, 16));
	ck_assert(omitted(&c, 3, 999, 0, 16));
	ck_assert(!omitted(&c, 4, 1000, 0, 16));
	ck_assert(!omitted(&c, 5, 1500, 0, 75));
	ck_assert(omitted(&c, 2, 998, 0, 75));
	ck_assert(!omitted(&c, -6, 2000, 0, 16));
	session_finish(&c.s, &ledger, &known, false, ARRIVED + 2000 * MS);
	decode_block(&c.s, &b);
	ck_assert_int_eq(b.duration_ns, 1000 * MS);
	ck_assert_int_eq(b.omitted_ns, 1000 * MS);
	ck_assert_uint_eq(b.omit_from, 0);
}
END_TEST

START_TEST(marker_is_never_omitted)
{
	struct stats_snap none = { 0 };
	struct block_result b;
	struct wire_report r;
	struct course c;

	open_omitting(&c, BYTES);
	ck_assert(omitted(&c, 0, 0, 0, BYTES));
	ck_assert(omitted(&c, 1, 100, 0, BYTES));
	ck_assert(!omitted(&c, -2, 200, 0, BYTES));
	ck_assert_int_eq(c.s.from_ns, 0);
	/* all was left out */
	ck_assert_int_eq(c.s.omit_from, 2);
	session_finish(&c.s, &none, &known, false, ARRIVED + 200 * MS);
	decode_report(&c.s, &r);
	ck_assert_int_eq(r.duration_ns, 0);
	ck_assert_uint_eq(r.pps, 0);
	decode_block(&c.s, &b);
	ck_assert_int_eq(b.duration_ns, 0);
	ck_assert_int_eq(b.omitted_ns, 200 * MS);
}
END_TEST

/* It came before anything that counts. */
START_TEST(marker_tells_the_cut_at_the_latest)
{
	static const struct {
		int64_t ms;
		uint32_t omit_from; /* in its header */
		size_t bytes;
		int64_t want;
	} rows[] = {
		{ 500, 0, BYTES, 7 },  /* the test ended before */
		{ 1200, 0, BYTES, 7 }, /* so says the sender */
		{ 1200, 5, BYTES, 5 }, /* 5 and 6 are lost */
		{ 999, 0, 16, 7 },     /* by the stamps */
		{ 1000, 0, 16, 3 },    /* 3 to 6 are lost */
	};

	for (int i = 0; i < COUNT(rows); i++) {
		struct course c;

		open_omitting(&c, BYTES);
		ck_assert(omitted(&c, 0, 0, 0, BYTES));
		ck_assert(omitted(&c, 2, 100, 0, BYTES));
		ck_assert(!omitted(&c, -7, rows[i].ms, rows[i].omit_from,
				   rows[i].bytes));
		ck_assert_int_eq(c.s.omit_from, rows[i].want);
	}
}
END_TEST

START_TEST(others_omit_nothing)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct course c;

		/* open_run asks session_omits of each */
		open_run(&c, (enum kind)kind, 0, 20, 10 * MS);
		ck_assert_int_eq(c.s.from_ns, ARRIVED);
		ck_assert_int_eq(c.s.omit_from, 0);
	}
}
END_TEST

/* Sends the low 32 bits of a number; next is what is expected. */
static int64_t seen_as(enum kind kind, int64_t next, int64_t seq)
{
	struct course c;

	open_with(&c, kind, 0);
	c.s.next_seq = next;

	/* not stamped later: a first number then begins a new test */
	enum session_verdict v = see(&c, seq, 0, SEC);

	ck_assert_int_eq(v, c.h.seq < 0 ? SESSION_MARKER : SESSION_DATA);
	return c.h.seq;
}

static const enum kind short_kinds[] = { OLD, OLD_C, SMALL_TRIP };

START_TEST(numbers_of_32_bits_go_on)
{
	static const int64_t turns[] = { TWO_31, TWO_32, 3 * TWO_31,
					 10 * TWO_32 };
	enum kind kind = short_kinds[_i];

	for (int t = 0; t < COUNT(turns); t++) {
		struct course c;

		open_with(&c, kind, 0);
		c.s.next_seq = turns[t] - 1000;
		for (int64_t i = -1000; i < 1000; i++)
			data(&c, turns[t] + i, SEC, SEC);
		ck_assert_int_eq(c.s.next_seq, turns[t] + 1000);
	}
}
END_TEST

START_TEST(lost_and_late_numbers_of_32_bits_are_told)
{
	enum kind kind = short_kinds[_i];

	/* away from where a marker looks the same */
	static const int64_t places[] = { TWO_31 - 100000, TWO_31 + 100000,
					  3000000000,      TWO_32 - 100000,
					  TWO_32 + 100000, 5000000000 };

	for (int i = 0; i < COUNT(places); i++) {
		static const int64_t steps[] = { -50000, -100, -1,  0,
						 1,      2,    100, 50000 };

		for (int k = 0; k < COUNT(steps); k++) {
			int64_t seq = places[i] + steps[k];

			ck_assert_int_eq(seen_as(kind, places[i], seq), seq);
		}
	}
	/* far below, nothing is changed */
	ck_assert_int_eq(seen_as(kind, 100, INT32_MAX), INT32_MAX);
	ck_assert_int_eq(seen_as(kind, INT32_MAX - 131073, 5), 5);
}
END_TEST

START_TEST(markers_of_32_bits_end_long_tests)
{
	enum kind kind = short_kinds[_i];
	static const int64_t totals[] = { 1000,
					  TWO_31 - 200000,
					  TWO_31 - 1000,
					  TWO_31 + 1000,
					  3000000000,
					  TWO_32 - 1000,
					  TWO_32 + 1000,
					  5000000000,
					  3 * TWO_31 - 700,
					  10 * TWO_32 + 1077 };
	static const int64_t tails[] = { 0, 1, 50, 499 };

	for (int i = 0; i < COUNT(totals); i++) {
		for (int k = 0; k < COUNT(tails); k++)
			ck_assert_int_eq(
				seen_as(kind, totals[i] - tails[k], -totals[i]),
				-totals[i]);
	}
}
END_TEST

START_TEST(long_test_ends_and_begins_anew)
{
	struct course c;

	open_with(&c, OLD, 0);
	c.s.next_seq = TWO_31 + 5000;
	data(&c, TWO_31 + 5000, SEC, SEC);
	ck_assert_int_eq(see(&c, -(TWO_31 + 5001), 2 * SEC, 2 * SEC),
			 SESSION_MARKER);
	ck_assert_int_eq(c.s.total, TWO_31 + 5001);
	finish(&c, 2 * SEC);
	ck_assert_int_eq(see(&c, -(TWO_31 + 5001), 2 * SEC, 3 * SEC),
			 SESSION_REPEAT);
	ck_assert_int_eq(see(&c, TWO_31 + 4000, SEC, 3 * SEC), SESSION_IGNORE);
	ck_assert_int_eq(see(&c, 0, 4 * SEC, 4 * SEC), SESSION_RENEW);
	session_begin(&c.s, c.buf, c.bytes, ARRIVED + 4 * SEC);
	data(&c, 0, 4 * SEC, 4 * SEC);
	ck_assert_int_eq(c.s.next_seq, 1);
}
END_TEST

/* 64 bits mean what they say. */
START_TEST(numbers_of_64_bits_stay)
{
	static const int64_t numbers[] = { 0,       5,          TWO_31 - 1,
					   TWO_31,  TWO_31 + 1, TWO_32 - 1,
					   TWO_32,  TWO_32 + 1, -1,
					   -TWO_31, -TWO_32,    -(TWO_32 + 5) };
	static const enum kind kinds[] = { MODERN, MODERN_C, OURS };

	for (int i = 0; i < COUNT(numbers); i++) {
		for (int k = 0; k < COUNT(kinds); k++) {
			ck_assert_int_eq(seen_as(kinds[k], TWO_31, numbers[i]),
					 numbers[i]);
			ck_assert_int_eq(
				seen_as(kinds[k], TWO_32 + 3, numbers[i]),
				numbers[i]);
		}
	}
}
END_TEST

/* Of the largest number the next one is none. */
START_TEST(largest_number_is_ignored)
{
	struct course c = { .kind = OURS, .bytes = BYTES };

	build(&c, INT64_MAX, 0);
	ck_assert(!session_opens(c.buf, BYTES));
	build(&c, INT64_MAX - 1, 0);
	ck_assert(session_opens(c.buf, BYTES));
	open_with(&c, OURS, 0);
	data(&c, 0, 0, 0);
	ck_assert_int_eq(see(&c, INT64_MAX, MS, MS), SESSION_IGNORE);
	ck_assert_int_eq(c.s.next_seq, 1);
	data(&c, INT64_MAX - 1, MS, MS);
	ck_assert_int_eq(c.s.next_seq, INT64_MAX);
	ck_assert_int_eq(see(&c, INT64_MAX, MS, MS), SESSION_IGNORE);
}
END_TEST

/* The kind is told by the second datagram only, and its numbers are shorter
 * than that of the first: there is no sense in it, and no harm. */
START_TEST(numbers_of_32_bits_follow_none_of_64)
{
	static const int64_t numbers[] = {
		0, 5, INT32_MAX, -1, -5, -INT32_MAX
	};

	for (int i = 0; i < COUNT(numbers); i++) {
		struct course c = { .kind = MODERN, .bytes = 30 };

		build(&c, INT64_MAX - 2, 0);
		session_begin(&c.s, c.buf, c.bytes, ARRIVED);
		ck_assert_int_eq(see_built(&c, 0), SESSION_DATA);
		ck_assert_int_eq(c.s.next_seq, INT64_MAX - 1);
		c.kind = OLD;
		c.bytes = BYTES;
		(void)see(&c, numbers[i], 0, MS);
		ck_assert_int_eq(c.s.layout, WIRE_LEGACY);
		ck_assert_int_eq(c.h.seq, numbers[i]);
	}
}
END_TEST

static void add_table_tests(TCase *tc)
{
	tcase_add_test(tc, key_is_address_and_port);
	tcase_add_test(tc, key_of_ipv6_holds_the_scope);
	tcase_add_test(tc, key_of_another_family_is_none);
	tcase_add_test(tc, table_keeps_thousands);
	tcase_add_test(tc, table_drops_and_adds_again);
	tcase_add_test(tc, begin_leaves_the_table_alone);
}

static void add_course_tests(TCase *tc)
{
	tcase_add_test(tc, opens_with_a_number_not_with_a_marker);
	tcase_add_test(tc, opens_with_a_stamp_that_can_be);
	tcase_add_test(tc, opens_with_twelve_bytes_at_least);
	tcase_add_test(tc, opens_by_the_sign_of_random_bytes);
	tcase_add_loop_test(tc, begins_as_its_kind_does, 0, COUNT(begin_rows));
	tcase_add_test(tc, originals_end_with_their_count);
	tcase_add_test(tc, number_0_behind_others_is_the_first);
	tcase_add_test(tc, counts_what_comes);
	tcase_add_test(tc, first_number_stamped_after_all_is_a_new_test);
	tcase_add_test(tc, settling_takes_late_data_and_no_markers);
	tcase_add_test(tc, marker_of_ours_is_repeated_unchanged);
	tcase_add_loop_test(tc, marker_of_others_counts_on, 0, 5);
	tcase_add_test(tc, is_done_when_nothing_is_missing);
	tcase_add_test(tc, is_done_when_idle);
	tcase_add_loop_test(tc, ends_when_the_marker_was_due, 0,
			    COUNT(end_rows));
	tcase_add_test(tc, ends_a_mean_gap_behind_the_last_without_a_marker);
	tcase_add_test(tc, data_stamped_after_the_marker_are_a_new_test);
	tcase_add_test(tc, new_test_starts_from_nothing);
	tcase_add_test(tc, stragglers_are_no_new_test);
	tcase_add_test(tc, clock_set_back_shows_after_a_while);
	tcase_add_test(tc, silence_can_be_broken);
	tcase_add_test(tc, is_kept_for_its_time);
	tcase_add_test(tc, first_long_datagram_tells_the_kind);
	tcase_add_test(tc, base_is_0_once_the_kind_is_known);
	tcase_add_test(tc, header_of_the_first_holds_for_all);
}

static void add_report_tests(TCase *tc)
{
	tcase_add_test(tc, report_sums_the_parts);
	tcase_add_test(tc, marker_ends_a_silent_test);
	tcase_add_test(tc, report_says_what_was_counted);
	tcase_add_test(tc, report_to_ours_says_more);
	tcase_add_test(tc, report_is_tied_to_its_marker);
	tcase_add_test(tc, gap_at_the_start_begins_at_0);
	tcase_add_test(tc, transit_times_may_all_be_negative);
	tcase_add_test(tc, absurd_stamps_break_no_transit_time);
	tcase_add_test(tc, answers_stay_below_three_times);
	tcase_add_test(tc, answers_to_ours_stay_below_three_times);
	tcase_add_test(tc, hello_goes_to_ours_again_and_again);
	tcase_add_test(tc, refusal_goes_to_ours_again_and_again);
	tcase_add_test(tc, hello_stays_below_three_times);
	tcase_add_test(tc, omits_by_the_header);
	tcase_add_test(tc, counted_time_is_never_negative);
	tcase_add_test(tc, omits_by_the_stamps_of_short_datagrams);
	tcase_add_test(tc, marker_is_never_omitted);
	tcase_add_test(tc, marker_tells_the_cut_at_the_latest);
	tcase_add_test(tc, others_omit_nothing);
}

static void add_number_tests(TCase *tc)
{
	int n = COUNT(short_kinds);

	tcase_add_loop_test(tc, numbers_of_32_bits_go_on, 0, n);
	tcase_add_loop_test(tc, lost_and_late_numbers_of_32_bits_are_told, 0,
			    n);
	tcase_add_loop_test(tc, markers_of_32_bits_end_long_tests, 0, n);
	tcase_add_test(tc, long_test_ends_and_begins_anew);
	tcase_add_test(tc, numbers_of_64_bits_stay);
	tcase_add_test(tc, largest_number_is_ignored);
	tcase_add_test(tc, numbers_of_32_bits_follow_none_of_64);
}

static void add_case(Suite *s, const char *name, void (*fill)(TCase *))
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 60);
	fill(tc);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("session");

	add_case(s, "table", add_table_tests);
	add_case(s, "course", add_course_tests);
	add_case(s, "reports", add_report_tests);
	add_case(s, "numbers", add_number_tests);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
