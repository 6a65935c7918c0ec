/* The ledger of a UDP receiver against known patterns and a slow model. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define MS INT64_C(1000000)
#define LATE_NS ((int64_t)STATS_LATE_AFTER_NS)
#define BYTES 1470u
#define WINDOW ((uint64_t)STATS_WINDOW)

static const int64_t HUGE_JUMP = INT64_C(1) << 62;

static struct stats_rx *new_rx(int64_t base, int64_t late_after_ns)
{
	struct stats_rx *rx = stats_rx_new(base, late_after_ns);

	ck_assert_ptr_nonnull(rx);
	return rx;
}

static struct stats_snap snap(const struct stats_rx *rx)
{
	struct stats_snap s;

	stats_rx_snap(rx, &s);
	return s;
}

/* Arrives a millisecond after it was sent. */
static void add(struct stats_rx *rx, int64_t seq, int64_t arrival_ns)
{
	stats_rx_add(rx, seq, BYTES, arrival_ns - MS, arrival_ns);
}

/*
 * Patterns as text: "3" a number, "5-9" each of these, "9-5" downwards,
 * "0-99/2" every second one; "w99" lets 99 ms pass.  All else takes no time.
 */
struct player {
	struct stats_rx *rx;
	int64_t now_ns;
};

static void play_range(struct player *p, const char *word)
{
	char *end;
	int64_t step = 1;
	int64_t from = strtoll(word, &end, 10);
	int64_t to = *end == '-' ? strtoll(end + 1, &end, 10) : from;

	if (*end == '/')
		step = strtoll(end + 1, &end, 10);
	ck_assert_msg(*end == '\0', "not a pattern: %s", word);
	if (from <= to) {
		for (int64_t i = from; i <= to; i += step)
			add(p->rx, i, p->now_ns);
	} else {
		for (int64_t i = from; i >= to; i -= step)
			add(p->rx, i, p->now_ns);
	}
}

static void play(struct player *p, const char *pattern)
{
	char text[256];
	char *rest;

	ck_assert_uint_lt(strlen(pattern), sizeof(text));
	strcpy(text, pattern);
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		if (word[0] == 'w') {
			p->now_ns += strtoll(word + 1, NULL, 10) * MS;
			stats_rx_settle(p->rx, p->now_ns);
		} else {
			play_range(p, word);
		}
	}
}

static const struct pattern {
	const char *name;
	int64_t base;
	const char *numbers;
	int64_t total; /* the marker's, -1: none came */
	struct stats_snap want;
} patterns[] = {
	{ "in order", 0, "0 1 2 3", 4, { .packets = 4 } },
	{ "burst of two",
	  0,
	  "0 1 4 5",
	  6,
	  { .packets = 4, .lost = 2, .gaps = 1, .gap_max = 2 } },
	{ "swap of two", 0, "0 1 3 2 4", 5, { .packets = 5, .late = 1 } },
	{ "twice", 0, "0 1 2 2 3", 4, { .packets = 4, .duplicate = 1 } },
	{ "gap half filled",
	  0,
	  "0 1 5 2 6",
	  7,
	  { .packets = 5, .lost = 2, .late = 1, .gaps = 1, .gap_max = 2 } },
	{ "start lost",
	  0,
	  "3 4 5",
	  6,
	  { .packets = 3, .lost = 3, .gaps = 1, .gap_max = 3 } },
	{ "end lost",
	  0,
	  "0 1 2",
	  6,
	  { .packets = 3, .lost = 3, .gaps = 1, .gap_max = 3 } },
	{ "in order from 1", 1, "1-88", 89, { .packets = 88 } },
	{ "start lost from 1",
	  1,
	  "3 4 5",
	  6,
	  { .packets = 3, .lost = 2, .gaps = 1, .gap_max = 2 } },
	{ "0 comes although base is 1", 1, "0 1 2", 3, { .packets = 3 } },
	{ "0 comes late although base is 1",
	  1,
	  "1 0 2 0",
	  3,
	  { .packets = 3, .late = 1, .duplicate = 1 } },
	{ "0 comes late, 1 never",
	  1,
	  "2 0 3",
	  4,
	  { .packets = 3, .lost = 1, .late = 1, .gaps = 1, .gap_max = 1 } },
	{ "single loss",
	  0,
	  "0-49 51-99",
	  100,
	  { .packets = 99, .lost = 1, .gaps = 1, .gap_max = 1 } },
	{ "first lost",
	  0,
	  "1-99",
	  100,
	  { .packets = 99, .lost = 1, .gaps = 1, .gap_max = 1 } },
	{ "last lost",
	  0,
	  "0-98",
	  100,
	  { .packets = 99, .lost = 1, .gaps = 1, .gap_max = 1 } },
	{ "last lost, no marker", 0, "0-98", -1, { .packets = 99 } },
	{ "every 2nd lost",
	  0,
	  "0-99/2",
	  100,
	  { .packets = 50, .lost = 50, .gaps = 50, .gap_max = 1 } },
	{ "two of three lost",
	  0,
	  "0-99/3",
	  100,
	  { .packets = 34, .lost = 66, .gaps = 33, .gap_max = 2 } },
	{ "nine of ten lost",
	  0,
	  "9-999/10",
	  1000,
	  { .packets = 100, .lost = 900, .gaps = 100, .gap_max = 9 } },
	{ "three bursts",
	  0,
	  "0-9 13-63 128-199 264",
	  265,
	  { .packets = 134, .lost = 131, .gaps = 3, .gap_max = 64 } },
	{ "swap at 3", 0, "0 1 3-5 2 6-9", 10, { .packets = 10, .late = 1 } },
	{ "swap at 50",
	  0,
	  "0 2-51 1 52-99",
	  100,
	  { .packets = 100, .late = 1 } },
	{ "backwards", 0, "99-0", 100, { .packets = 100, .late = 99 } },
	{ "one ten times",
	  0,
	  "0 1 1 1 1 1 1 1 1 1 1 2",
	  3,
	  { .packets = 3, .duplicate = 9 } },
	{ "all twice",
	  0,
	  "0-99 0-99",
	  100,
	  { .packets = 100, .duplicate = 100 } },
	{ "late one twice",
	  0,
	  "0 2 1 1",
	  3,
	  { .packets = 3, .late = 1, .duplicate = 1 } },
	{ "mixed",
	  0,
	  "0-9 12 11 14 14 20-29 13 15 15",
	  35,
	  { .packets = 25,
	    .lost = 10,
	    .late = 3,
	    .duplicate = 2,
	    .gaps = 3,
	    .gap_max = 5 } },
	{ "just before it is due",
	  0,
	  "0 2 w99 1 3",
	  4,
	  { .packets = 4, .late = 1 } },
	{ "just when it is due",
	  0,
	  "0 2 w100 1 3",
	  4,
	  { .packets = 3, .lost = 1, .too_late = 1, .gaps = 1, .gap_max = 1 } },
	{ "too late, and again",
	  0,
	  "0 2 w200 1 1 1 3",
	  4,
	  { .packets = 3,
	    .lost = 1,
	    .too_late = 1,
	    .duplicate = 2,
	    .gaps = 1,
	    .gap_max = 1 } },
	{ "gaps fall due one by one",
	  0,
	  "0 2 w60 4 w60 1 3 5",
	  6,
	  { .packets = 5,
	    .lost = 1,
	    .late = 1,
	    .too_late = 1,
	    .gaps = 1,
	    .gap_max = 1 } },
	{ "too late does not split a run",
	  0,
	  "0 4 w100 2 5",
	  6,
	  { .packets = 3, .lost = 3, .too_late = 1, .gaps = 1, .gap_max = 3 } },
	{ "late splits a run",
	  0,
	  "0 6 3 w100 7",
	  8,
	  { .packets = 4, .lost = 4, .late = 1, .gaps = 2, .gap_max = 2 } },
	{ "marker below the highest", 0, "0-9", 5, { .packets = 10 } },
	{ "nothing came", 0, "", 7, { .lost = 7, .gaps = 1, .gap_max = 7 } },
	{ "nothing came from 1",
	  1,
	  "",
	  7,
	  { .lost = 6, .gaps = 1, .gap_max = 6 } },
	{ "nothing at all", 0, "", -1, { .packets = 0 } },
	{ "edge of the window",
	  0,
	  "0 2-131072 1",
	  131073,
	  { .packets = 131073, .late = 1 } },
	{ "out of the window",
	  0,
	  "0 2-131073 1",
	  131074,
	  { .packets = 131073,
	    .lost = 1,
	    .too_late = 1,
	    .gaps = 1,
	    .gap_max = 1 } },
	{ "run cut by the window",
	  0,
	  "0 4-131074 3 2 131075",
	  131076,
	  { .packets = 131074,
	    .lost = 2,
	    .late = 1,
	    .too_late = 1,
	    .gaps = 1,
	    .gap_max = 2 } },
	{ "jump beyond the window",
	  0,
	  "0 300000 168928 168929",
	  300001,
	  { .packets = 3,
	    .lost = 299998,
	    .late = 1,
	    .too_late = 1,
	    .gaps = 2,
	    .gap_max = 168928 } },
	{ "duplicate out of the window",
	  0,
	  "0-200000 0 100000",
	  200001,
	  { .packets = 200001, .too_late = 1, .duplicate = 1 } },
};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static void expect(const char *name, const struct stats_snap *got,
		   const struct stats_snap *want)
{
	const struct {
		const char *what;
		uint64_t got;
		uint64_t want;
	} rows[] = {
		{ "packets", got->packets, want->packets },
		{ "lost", got->lost, want->lost },
		{ "late", got->late, want->late },
		{ "too_late", got->too_late, want->too_late },
		{ "duplicate", got->duplicate, want->duplicate },
		{ "gaps", got->gaps, want->gaps },
		{ "gap_max", got->gap_max, want->gap_max },
		{ "bytes", got->bytes, want->packets * BYTES },
	};

	/* An assertion that holds costs a system call too, so none are made. */
	for (int i = 0; i < COUNT(rows); i++) {
		if (rows[i].got != rows[i].want)
			ck_abort_msg("%s: %s is %" PRIu64 ", not %" PRIu64,
				     name, rows[i].what, rows[i].got,
				     rows[i].want);
	}
}

START_TEST(counts_known_patterns_exactly)
{
	const struct pattern *p = &patterns[_i];
	struct player player = { new_rx(p->base, LATE_NS), 0 };

	play(&player, p->numbers);
	stats_rx_end(player.rx, p->total);
	ck_assert(!stats_rx_missing(player.rx, p->total));
	struct stats_snap got = snap(player.rx);
	expect(p->name, &got, &p->want);
	stats_rx_free(player.rx);
}
END_TEST

/*
 * The model: what each number is, by the definition, in plain arrays.  It
 * holds the numbers from low on; below low all are lost.
 */
enum state {
	ABSENT,
	CAME,
	LOST,
	LOST_CAME,
};

struct model {
	uint64_t base;
	uint64_t low; /* the number that index 0 stands for */
	uint64_t next;
	uint64_t room; /* numbers that the arrays hold */
	uint64_t open; /* no number below is absent */
	int64_t late_after_ns;
	unsigned char *state;
	int64_t *seen_ns;
	int64_t *began_ns;
	int64_t top_ns;
	bool any;
	double transit;
	double jitter;
	struct stats_snap s;
};

static void model_init(struct model *m, uint64_t base, uint64_t low,
		       uint64_t room, int64_t late_after_ns)
{
	*m = (struct model){ .base = base,
			     .low = low,
			     .next = base,
			     .room = room,
			     .open = low,
			     .late_after_ns = late_after_ns };
	m->state = calloc(room, sizeof(*m->state));
	m->seen_ns = calloc(room, sizeof(*m->seen_ns));
	m->began_ns = calloc(room, sizeof(*m->began_ns));
	ck_assert(m->state && m->seen_ns && m->began_ns);
}

static void model_free(struct model *m)
{
	free(m->state);
	free(m->seen_ns);
	free(m->began_ns);
}

static void model_lose(struct model *m, uint64_t number)
{
	m->state[number - m->low] = LOST;
	m->s.lost++;
}

/* Below floor, all that is absent is lost; above, what was seen early enough */
static void model_settle(struct model *m, int64_t now_ns, uint64_t floor)
{
	while (m->open < m->next && m->state[m->open - m->low] != ABSENT)
		m->open++;
	for (uint64_t n = m->open; n < m->next; n++) {
		uint64_t i = n - m->low;

		if (m->state[i] == ABSENT &&
		    (n < floor || now_ns - m->seen_ns[i] >= m->late_after_ns))
			model_lose(m, n);
	}
}

static void model_receive(struct model *m, uint64_t number, int64_t sent_ns,
			  int64_t arrival_ns)
{
	double transit = (double)(arrival_ns - sent_ns);

	if (number >= m->low)
		m->state[number - m->low] = CAME;
	m->s.packets++;
	m->s.bytes += BYTES;
	if (m->any)
		m->jitter += (fabs(transit - m->transit) - m->jitter) / 16;
	m->transit = transit;
	m->any = true;
}

static void model_skip(struct model *m, uint64_t number, int64_t seen_ns,
		       int64_t began_ns)
{
	if (m->next < m->low) {
		m->s.lost += m->low - m->next;
		m->next = m->low;
	}
	ck_assert_uint_lt(number - m->low, m->room);
	for (; m->next < number; m->next++) {
		m->seen_ns[m->next - m->low] = seen_ns;
		m->began_ns[m->next - m->low] = began_ns;
	}
}

static void model_below(struct model *m, uint64_t number, int64_t sent_ns,
			int64_t arrival_ns)
{
	enum state state = m->state[number - m->low];

	if (m->next - number > WINDOW) {
		m->s.too_late++;
	} else if (state == CAME || state == LOST_CAME) {
		m->s.duplicate++;
	} else if (state == LOST) {
		m->s.too_late++;
		m->state[number - m->low] = LOST_CAME;
	} else {
		m->s.late++;
		model_receive(m, number, sent_ns, arrival_ns);
	}
}

static void model_add(struct model *m, uint64_t number, int64_t sent_ns,
		      int64_t arrival_ns)
{
	model_settle(m, arrival_ns, 0);
	if (number < m->next) {
		model_below(m, number, sent_ns, arrival_ns);
		return;
	}
	model_skip(m, number, arrival_ns, m->any ? m->top_ns : arrival_ns);
	m->next = number + 1;
	m->top_ns = arrival_ns;
	model_receive(m, number, sent_ns, arrival_ns);
	if (m->next > WINDOW)
		model_settle(m, 0, m->next - WINDOW);
}

static void model_end(struct model *m, uint64_t total)
{
	if (total > m->next)
		model_skip(m, total, m->top_ns, m->top_ns);
	model_settle(m, 0, m->next);
}

/* Runs of lost numbers, of all settled so far. */
static void model_gaps(struct model *m)
{
	uint64_t run =
		m->low > m->base && m->next >= m->low ? m->low - m->base : 0;

	m->s.gaps = run > 0;
	m->s.gap_max = run;
	for (uint64_t i = 0; i < m->next - m->low; i++) {
		if (m->state[i] != LOST && m->state[i] != LOST_CAME) {
			run = 0;
			continue;
		}
		if (run++ == 0)
			m->s.gaps++;
		if (run > m->s.gap_max) {
			m->s.gap_max = run;
			m->s.gap_began_ns = m->began_ns[i];
			m->s.gap_max_ns = m->seen_ns[i] - m->began_ns[i];
		}
	}
}

static void expect_model(const char *name, const struct stats_rx *rx,
			 struct model *m)
{
	struct stats_snap got = snap(rx);

	model_gaps(m);
	expect(name, &got, &m->s);
	if (got.gap_max > 0) {
		ck_assert_int_eq(got.gap_began_ns, m->s.gap_began_ns);
		ck_assert_int_eq(got.gap_max_ns, m->s.gap_max_ns);
	}
	ck_assert_double_eq_tol((double)got.jitter_ns, m->jitter, 1.01);
}

/* A generator with a seed of its own, the same everywhere (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static bool chance(uint64_t *random, unsigned percent)
{
	return next_random(random) % 100 < percent;
}

/* A path that drops, repeats and delays: a list of arrivals. */
struct arrival {
	int64_t at_ns;
	int64_t sent_ns;
	uint64_t number;
	uint64_t order; /* ties come as they were made */
};

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

struct path {
	const char *name;
	int64_t spacing_ns;
	unsigned drop;   /* percent, as are the next three */
	unsigned burst;  /* that a drop goes on */
	unsigned repeat; /* may repeat again */
	unsigned delay;
	int64_t delay_ns; /* at most, in steps of delay_step_ns */
	int64_t delay_step_ns;
};

static const struct path paths[] = {
	{ "clean", MS, 0, 0, 0, 0, 1, 1 },
	{ "drops", MS, 5, 0, 0, 0, 1, 1 },
	{ "bursts", MS, 3, 85, 0, 0, 1, 1 },
	{ "repeats", MS, 0, 0, 20, 0, 1, 1 },
	{ "swaps of neighbours", MS, 0, 0, 0, 20, 2 * MS, 2 * MS },
	{ "far swaps", MS, 0, 0, 0, 10, 50 * MS, MS },
	{ "around the time limit", MS, 5, 20, 5, 20, 110 * MS, MS },
	{ "on the time limit", 50 * MS, 10, 20, 10, 30, 150 * MS, 50 * MS },
	{ "all at once", 0, 10, 30, 10, 20, 200 * MS, 100 * MS },
	{ "storm", MS, 30, 50, 30, 50, 300 * MS, 1 },
	{ "slow", 70 * MS, 20, 30, 10, 40, 400 * MS, 1 },
};

static size_t make_arrivals(const struct path *p, uint64_t *random,
			    struct arrival *list, size_t room, uint64_t first,
			    uint64_t n)
{
	size_t used = 0;
	bool dropping = false;

	for (uint64_t i = 0; i < n; i++) {
		int64_t sent_ns = (int64_t)i * p->spacing_ns;

		dropping = chance(random, dropping ? p->burst : p->drop);
		if (dropping)
			continue;
		do {
			uint64_t steps =
				(uint64_t)(p->delay_ns / p->delay_step_ns);
			int64_t delay_ns = 0;

			if (chance(random, p->delay))
				delay_ns = (int64_t)(next_random(random) %
						     (steps + 1)) *
					   p->delay_step_ns;
			if (used == room)
				ck_abort_msg("too many arrivals");
			list[used] =
				(struct arrival){ sent_ns + delay_ns, sent_ns,
						  first + i, used };
			used++;
		} while (chance(random, p->repeat));
	}
	qsort(list, used, sizeof(*list), by_time);
	return used;
}

#define RANDOM_NUMBERS 250

static void compare_run(const struct path *p, uint64_t seed, int64_t base,
			uint64_t first)
{
	static struct arrival list[RANDOM_NUMBERS * 20];
	uint64_t random = seed;
	size_t n = make_arrivals(p, &random, list, (size_t)COUNT(list), first,
				 RANDOM_NUMBERS);
	uint64_t low = (uint64_t)base;
	/* Without a marker the highest number ends it. */
	int64_t total = seed % 3 == 0 ? -1 : (int64_t)first + RANDOM_NUMBERS;
	struct stats_rx *rx = new_rx(base, LATE_NS);
	struct model m;

	/* The jump to a far first number leaves a window below it. */
	if (n > 0 && list[0].number > WINDOW)
		low = list[0].number + 1 - WINDOW;
	model_init(&m, (uint64_t)base, low, WINDOW + 2 * RANDOM_NUMBERS,
		   LATE_NS);
	for (size_t i = 0; i < n; i++) {
		const struct arrival *a = &list[i];

		stats_rx_add(rx, (int64_t)a->number, BYTES, a->sent_ns,
			     a->at_ns);
		model_add(&m, a->number, a->sent_ns, a->at_ns);
		if (first == low)
			expect_model(p->name, rx, &m);
		if (i % 16 == 0) {
			stats_rx_settle(rx, a->at_ns + 5 * MS);
			model_settle(&m, a->at_ns + 5 * MS, 0);
		}
	}
	expect_model(p->name, rx, &m);
	stats_rx_end(rx, total);
	model_end(&m, total < 0 ? m.next : (uint64_t)total);
	expect_model(p->name, rx, &m);
	ck_assert_uint_eq(m.s.packets + m.s.lost, m.next - m.base);
	stats_rx_free(rx);
	model_free(&m);
}

START_TEST(agrees_with_the_model_on_random_paths)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		compare_run(&paths[_i], seed, 0, 0);
		compare_run(&paths[_i], seed + 1000, 1, 1);
	}
}
END_TEST

static const struct path around_the_limit = { "far numbers", MS, 5, 20, 5, 20,
					      120 * MS,      MS };

static const uint64_t far_starts[] = {
	UINT64_C(1) << 16,
	(UINT64_C(1) << 17) - 100,
	(UINT64_C(1) << 17) + 100,
	(UINT64_C(1) << 31) - 100,
	(UINT64_C(1) << 32) - 100,
	(UINT64_C(1) << 40) - 100,
	(UINT64_C(1) << 63) - 1 - RANDOM_NUMBERS,
};

START_TEST(agrees_with_the_model_at_large_numbers)
{
	compare_run(&around_the_limit, 2, 0, far_starts[_i]);
	compare_run(&around_the_limit, 3, 1, far_starts[_i]);
}
END_TEST

/* Steps forward and back of up to two windows, at a rate where the window and
 * not the time is what settles, and at one where both do. */
static const int64_t window_steps_ns[] = { 1000, MS };

START_TEST(agrees_with_the_model_around_the_window)
{
	uint64_t room = 2 * WINDOW * 300;
	uint64_t random = 7;
	uint64_t top = 0;
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct model m;

	model_init(&m, 0, 0, room, LATE_NS);
	for (int64_t i = 0; i < 600; i++) {
		uint64_t reach = UINT64_C(1) << next_random(&random) % 19;
		uint64_t number = top + next_random(&random) % reach;
		int64_t now_ns = i * window_steps_ns[_i];

		if (chance(&random, 60))
			number = top - next_random(&random) %
					       (reach < top ? reach : top + 1);
		if (number > top)
			top = number;
		add(rx, (int64_t)number, now_ns);
		model_add(&m, number, now_ns - MS, now_ns);
		ck_assert_uint_eq(snap(rx).lost, m.s.lost);
		ck_assert_uint_eq(snap(rx).late, m.s.late);
		ck_assert_uint_eq(snap(rx).too_late, m.s.too_late);
		ck_assert_uint_eq(snap(rx).duplicate, m.s.duplicate);
	}
	expect_model("window", rx, &m);
	stats_rx_end(rx, -1);
	model_end(&m, m.next);
	expect_model("window", rx, &m);
	stats_rx_free(rx);
	model_free(&m);
}
END_TEST

/* More gaps than are told apart: settled early by a 1/256 at most, never late.
 * A gap each microsecond, and one datagram each that comes after all. */
START_TEST(many_gaps_are_settled_on_time)
{
	const int64_t early_ns = LATE_NS / 256 + 1;
	const int64_t gaps = 20000;
	struct stats_rx *rx = new_rx(0, LATE_NS);

	for (int64_t i = 0; i < gaps; i++)
		add(rx, 2 * i + 1, 1000 * i);
	for (int64_t i = 0; i < gaps; i += 500) {
		int64_t due_ns = 1000 * i + LATE_NS;

		stats_rx_settle(rx, due_ns - early_ns);
		ck_assert_uint_le(snap(rx).lost, (uint64_t)i + 1);
		stats_rx_settle(rx, due_ns);
		ck_assert_uint_ge(snap(rx).lost, (uint64_t)i + 1);
	}
	stats_rx_end(rx, 2 * gaps);
	ck_assert_uint_eq(snap(rx).lost, (uint64_t)gaps);
	ck_assert_uint_eq(snap(rx).gaps, (uint64_t)gaps);
	stats_rx_free(rx);
}
END_TEST

/* Gaps at any rate and for long: the ring of gaps goes round. */
START_TEST(gaps_without_end_keep_their_sum)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	uint64_t random = 11;
	int64_t seq = -1;
	int64_t now_ns = 0;
	uint64_t came = 0;

	for (; came < 300000; came++) {
		seq += 1 + (int64_t)(next_random(&random) % 3);
		now_ns += (int64_t)(next_random(&random) % 200000);
		add(rx, seq, now_ns);
	}
	stats_rx_end(rx, -1);
	ck_assert_uint_eq(snap(rx).packets, came);
	ck_assert_uint_eq(snap(rx).lost, (uint64_t)seq + 1 - came);
	ck_assert_uint_eq(snap(rx).late + snap(rx).too_late, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(a_number_is_due_a_nanosecond_sharp)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 5);
	add(rx, 3, 7);
	add(rx, 1, 7 + LATE_NS - 1);
	ck_assert_uint_eq(snap(rx).late, 1);
	ck_assert(stats_rx_missing(rx, 4));
	add(rx, 2, 7 + LATE_NS);
	ck_assert_uint_eq(snap(rx).too_late, 1);
	ck_assert_uint_eq(snap(rx).lost, 1);
	ck_assert(!stats_rx_missing(rx, 4));
	stats_rx_free(rx);
}
END_TEST

START_TEST(settles_without_arrivals)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 1, 0);
	stats_rx_settle(rx, LATE_NS - 1);
	ck_assert_uint_eq(snap(rx).lost, 0);
	stats_rx_settle(rx, LATE_NS);
	ck_assert_uint_eq(snap(rx).lost, 1);
	stats_rx_free(rx);
}
END_TEST

START_TEST(waits_no_time_when_late_after_is_0)
{
	struct stats_rx *rx = new_rx(0, 0);

	add(rx, 1, 50);
	ck_assert_uint_eq(snap(rx).lost, 0);
	add(rx, 0, 50);
	ck_assert_uint_eq(snap(rx).lost, 1);
	ck_assert_uint_eq(snap(rx).too_late, 1);
	stats_rx_free(rx);
}
END_TEST

START_TEST(waits_for_ever_when_late_after_is_huge)
{
	struct stats_rx *rx = new_rx(0, INT64_MAX);

	for (int64_t i = 1; i < 2000; i += 2)
		add(rx, i, i * MS);
	stats_rx_settle(rx, INT64_MAX - 1);
	ck_assert_uint_eq(snap(rx).lost, 0);
	stats_rx_end(rx, -1);
	ck_assert_uint_eq(snap(rx).lost, 1000);
	stats_rx_free(rx);
}
END_TEST

START_TEST(time_that_steps_back_breaks_nothing)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 1, 500 * MS);
	add(rx, 3, 100 * MS);
	add(rx, 5, INT64_MIN + MS);
	stats_rx_settle(rx, 599 * MS);
	ck_assert_uint_eq(snap(rx).lost, 0);
	stats_rx_settle(rx, 600 * MS);
	ck_assert_uint_eq(snap(rx).lost, 3);
	ck_assert_int_ge(snap(rx).gap_max_ns, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(tells_what_is_missing)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	ck_assert(!stats_rx_missing(rx, -1));
	ck_assert(!stats_rx_missing(rx, 0));
	ck_assert(stats_rx_missing(rx, 1));
	add(rx, 0, 0);
	add(rx, 2, 0);
	ck_assert(stats_rx_missing(rx, 3));
	ck_assert(stats_rx_missing(rx, -1));
	add(rx, 1, 0);
	ck_assert(!stats_rx_missing(rx, 3));
	ck_assert(!stats_rx_missing(rx, -1));
	ck_assert(stats_rx_missing(rx, 4));
	ck_assert(stats_rx_missing(rx, INT64_MAX));
	stats_rx_end(rx, 4);
	ck_assert(!stats_rx_missing(rx, 4));
	stats_rx_free(rx);
}
END_TEST

START_TEST(hostile_jumps_cost_no_loop_and_no_overflow)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 0);
	add(rx, HUGE_JUMP, MS);
	ck_assert_uint_eq(snap(rx).lost, (uint64_t)HUGE_JUMP - WINDOW);
	add(rx, INT64_MAX, 2 * MS);
	add(rx, INT64_MAX, 3 * MS);
	add(rx, INT64_MAX - 1, 3 * MS);
	add(rx, 0, 3 * MS);
	stats_rx_end(rx, -1);

	struct stats_snap s = snap(rx);

	ck_assert_uint_eq(s.packets, 4);
	ck_assert_uint_eq(s.duplicate, 1);
	ck_assert_uint_eq(s.late, 1);
	ck_assert_uint_eq(s.too_late, 1);
	ck_assert_uint_eq(stats_sent(&s), UINT64_C(1) << 63);
	ck_assert_uint_eq(s.gaps, 2);
	ck_assert_uint_eq(s.gap_max, (uint64_t)HUGE_JUMP - 1);
	stats_rx_free(rx);
}
END_TEST

START_TEST(hostile_totals_cost_no_loop)
{
	struct stats_rx *rx = new_rx(1, LATE_NS);

	add(rx, 1, 0);
	stats_rx_end(rx, INT64_MAX);
	ck_assert_uint_eq(snap(rx).packets, 1);
	ck_assert_uint_eq(snap(rx).lost, (uint64_t)INT64_MAX - 2);
	ck_assert_uint_eq(snap(rx).gaps, 1);
	/* What comes after the end is too late, and nothing grows again. */
	add(rx, INT64_MAX - 1, MS);
	add(rx, 5, MS);
	ck_assert_uint_eq(snap(rx).too_late, 2);
	ck_assert_uint_eq(snap(rx).lost, (uint64_t)INT64_MAX - 2);
	stats_rx_free(rx);
}
END_TEST

START_TEST(tells_when_the_longest_gap_began_and_how_long_it_was)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 1000 * MS);
	add(rx, 4, 1050 * MS); /* 3 numbers in 50 ms */
	add(rx, 5, 1060 * MS);
	add(rx, 12, 1061 * MS); /* 6 numbers in 1 ms */
	add(rx, 14, 1090 * MS); /* one in 29 ms */
	stats_rx_settle(rx, 1150 * MS);
	ck_assert_int_eq(snap(rx).gap_began_ns, 1000 * MS);
	ck_assert_int_eq(snap(rx).gap_max_ns, 50 * MS);
	stats_rx_settle(rx, 1200 * MS);
	ck_assert_uint_eq(snap(rx).gap_max, 6);
	ck_assert_int_eq(snap(rx).gap_began_ns, 1060 * MS);
	ck_assert_int_eq(snap(rx).gap_max_ns, MS);
	/* An end that never came has no length. */
	stats_rx_end(rx, 100);
	ck_assert_uint_eq(snap(rx).gap_max, 85);
	ck_assert_int_eq(snap(rx).gap_began_ns, 1090 * MS);
	ck_assert_int_eq(snap(rx).gap_max_ns, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(gaps_seen_at_one_moment_show_the_largest)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 10 * MS);
	add(rx, 2, 50 * MS);
	add(rx, 8, 50 * MS);
	stats_rx_end(rx, -1);
	ck_assert_uint_eq(snap(rx).gaps, 2);
	ck_assert_uint_eq(snap(rx).gap_max, 5);
	ck_assert_int_eq(snap(rx).gap_began_ns, 50 * MS);
	ck_assert_int_eq(snap(rx).gap_max_ns, 0);
	stats_rx_free(rx);
}
END_TEST

/* Every second sent stamp off by 2 ms, at 20 ms: |D| is 2 ms each time, so J
 * is 2 ms * (1 - (15/16)^(n - 1)), whatever the two clocks differ by. */
static const int64_t clock_offsets_ns[] = { 0, 100000 * MS, -100000 * MS,
					    INT64_C(1700000000) * 1000 * MS };

START_TEST(jitter_follows_rfc_3550)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	for (int64_t i = 0; i < 500; i++) {
		int64_t sent_ns =
			20 * MS * i + (i % 2) * 2 * MS + clock_offsets_ns[_i];
		double want = 2e6 * (1 - pow(15.0 / 16, (double)i));

		stats_rx_add(rx, i, BYTES, sent_ns, 20 * MS * i);
		ck_assert_double_eq_tol((double)snap(rx).jitter_ns, want, 1.01);
		if (i == 5)
			ck_assert_int_eq(snap(rx).jitter_ns / 1000, 551);
		if (i == 6)
			ck_assert_int_eq(snap(rx).jitter_ns / 1000, 642);
	}
	stats_rx_free(rx);
}
END_TEST

START_TEST(jitter_has_no_bias)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	for (int64_t i = 0; i < 2000; i++)
		stats_rx_add(rx, i, BYTES, 1000 * i + 7 * (i % 2), 1000 * i);
	ck_assert_int_eq(snap(rx).jitter_ns, 7);
	for (int64_t i = 2000; i < 4000; i++)
		stats_rx_add(rx, i, BYTES, 1000 * i, 1000 * i);
	ck_assert_int_eq(snap(rx).jitter_ns, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(jitter_leaves_out_what_is_not_received)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 0);
	stats_rx_add(rx, 0, BYTES, 0, 50 * MS);
	add(rx, 2, 60 * MS);
	stats_rx_add(rx, 1, BYTES, 0, 160 * MS);
	ck_assert_uint_eq(snap(rx).duplicate, 1);
	ck_assert_uint_eq(snap(rx).too_late, 1);
	ck_assert_int_eq(snap(rx).jitter_ns, 0);
	add(rx, 3, 170 * MS);
	ck_assert_int_eq(snap(rx).jitter_ns, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(jitter_survives_absurd_stamps)
{
	static const int64_t stamps[] = { INT64_MIN, INT64_MAX, 0,
					  -1,        INT64_MAX, INT64_MIN };
	struct stats_rx *rx = new_rx(0, LATE_NS);
	int64_t before_ns = 0;

	for (int64_t i = 0; i < 2000; i++) {
		stats_rx_add(rx, i, BYTES, stamps[i % COUNT(stamps)], i);
		ck_assert_int_ge(snap(rx).jitter_ns, 0);
		ck_assert_int_le(snap(rx).jitter_ns, INT64_MAX / 16);
	}
	before_ns = snap(rx).jitter_ns;
	for (int64_t i = 2000; i < 2100; i++)
		add(rx, i, i);
	ck_assert_int_lt(snap(rx).jitter_ns, before_ns / 16);
	stats_rx_free(rx);
}
END_TEST

/* A sender's clock that is set by so much at number 500 of 1000. */
static const int64_t clock_steps_ns[] = {
	-INT64_C(3600000000000), -INT64_C(1000000000),   -50 * MS, -3 * MS,
	INT64_C(1500000000),     INT64_C(3600000000000),
};

START_TEST(a_step_of_the_senders_clock_changes_no_figure)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct stats_delay delay;

	for (int64_t i = 0; i < 1000; i++) {
		int64_t step_ns = i < 500 ? 0 : clock_steps_ns[_i];

		/* delays of 100 and 110 us by turns */
		stats_rx_add(rx, i, BYTES, MS * i + step_ns,
			     MS * i + 100000 + (i % 2) * 10000);
	}
	ck_assert_uint_eq(snap(rx).clock_steps, 1);
	ck_assert_int_le(llabs(snap(rx).jitter_ns - 10000), 1000);
	ck_assert_int_le(snap(rx).jitter_max_ns, 10000);
	stats_rx_delay(rx, &delay);
	/* the step itself hides one difference of 10 us */
	ck_assert_int_le(delay.max_ns, 20000);
	stats_rx_free(rx);
}
END_TEST

/* What looks like a step but is a path or a pause. */
START_TEST(pauses_and_queues_are_no_step)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	add(rx, 0, 0);
	/* a pause of the sender of 3 s */
	stats_rx_add(rx, 1, BYTES, 3000 * MS, 3000 * MS);
	/* 500 ms in a queue, and the next one out of it at once */
	stats_rx_add(rx, 2, BYTES, 3001 * MS, 3501 * MS);
	stats_rx_add(rx, 3, BYTES, 3002 * MS, 3501 * MS);
	/* the queue has drained while the sender paused for 900 ms */
	stats_rx_add(rx, 4, BYTES, 3902 * MS, 3902 * MS);
	/* late ones carry older stamps */
	add(rx, 7, 3910 * MS);
	stats_rx_add(rx, 5, BYTES, 3903 * MS, 3911 * MS);
	/* numbers are missing over 5 s */
	stats_rx_add(rx, 1000, BYTES, 9000 * MS, 9000 * MS);
	ck_assert_uint_eq(snap(rx).clock_steps, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(tells_mean_and_largest_jitter)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct stats_snap s;

	stats_rx_add(rx, 0, BYTES, 0, 0);
	/* D of 1.6 ms: J is 100 us, then 93.75 us and 87.890625 us */
	for (int64_t i = 1; i < 4; i++)
		stats_rx_add(rx, i, BYTES, 0, 1600000);
	s = snap(rx);
	ck_assert_int_eq(s.jitter_max_ns, 100000);
	ck_assert_int_le(llabs(s.jitter_ns - 87891), 1);
	/* (0 + 100000 + 93750 + 87891) / 4 */
	ck_assert_int_le(llabs(stats_jitter_mean(&s) - 70410), 1);
	stats_rx_free(rx);
}
END_TEST

START_TEST(tells_delay_above_the_lowest)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct stats_delay d;

	stats_rx_delay(rx, &d);
	ck_assert(!d.known);
	/* 1000 datagrams with 0 to 999 times 10 us above 7 hours */
	for (int64_t i = 0; i < 1000; i++)
		stats_rx_add(rx, i, BYTES, 0,
			     INT64_C(25200000000000) + i * 10000);
	stats_rx_delay(rx, &d);
	ck_assert(d.known);
	ck_assert_uint_eq(d.count, 1000);
	ck_assert_int_eq(d.max_ns, 9990000);
	ck_assert_int_eq(d.mean_ns, 4995000);
	ck_assert_double_eq_tol((double)d.p50_ns, 4990000, 4990000.0 / 126);
	ck_assert_double_eq_tol((double)d.p99_ns, 9890000, 9890000.0 / 126);
	ck_assert_double_eq_tol((double)d.p999_ns, 9980000, 9980000.0 / 126);
	stats_rx_free(rx);
}
END_TEST

/* Each row has the longest gap of its own time. */
START_TEST(rows_have_their_own_longest_gap)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct stats_snap s;

	add(rx, 0, 0);
	add(rx, 6, 10 * MS); /* 5 are missing */
	add(rx, 7, 500 * MS);
	stats_rx_cut(rx, &s);
	ck_assert_uint_eq(s.row_gap_max, 5);
	ck_assert_int_eq(s.row_gap_max_ns, 10 * MS);
	ck_assert_int_eq(s.row_gap_began_ns, 0);
	add(rx, 10, 510 * MS); /* 2 are missing */
	add(rx, 11, 900 * MS);
	stats_rx_cut(rx, &s);
	ck_assert_uint_eq(s.row_gap_max, 2);
	ck_assert_uint_eq(s.gap_max, 5);
	stats_rx_cut(rx, &s);
	ck_assert_uint_eq(s.row_gap_max, 0);
	add(rx, 13, 910 * MS);
	add(rx, 14, 1500 * MS);
	stats_rx_cut(rx, &s);
	ck_assert_uint_eq(s.row_gap_max, 1);
	stats_rx_free(rx);
}
END_TEST

START_TEST(joined_rows_keep_the_longer_gap)
{
	struct stats_snap row = { .row_gap_max = 3,
				  .row_gap_max_ns = 5,
				  .row_gap_began_ns = 1 };
	struct stats_snap other = { .row_gap_max = 4,
				    .row_gap_max_ns = 2,
				    .row_gap_began_ns = 9 };
	struct stats_snap none = { .bytes = 0 };

	stats_join_rows(&row, &none);
	ck_assert_uint_eq(row.row_gap_max, 3);
	stats_join_rows(&row, &other);
	ck_assert_uint_eq(row.row_gap_max, 4);
	ck_assert_int_eq(row.row_gap_max_ns, 2);
	ck_assert_int_eq(row.row_gap_began_ns, 9);
}
END_TEST

START_TEST(counts_what_the_socket_dropped)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	stats_rx_dropped(rx, 7, false);
	stats_rx_dropped(rx, 2, true);
	stats_rx_dropped(rx, 1, false);
	ck_assert_uint_eq(snap(rx).socket_drops, 8);
	ck_assert_uint_eq(snap(rx).shared_drops, 2);
	stats_rx_free(rx);
}
END_TEST

/* The ledger of what counts begins where -O ends. */
START_TEST(starts_at_a_number_told_later)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	stats_rx_start(rx, 1000);
	add(rx, 1002, 0);
	add(rx, 1003, 500 * MS);
	ck_assert_uint_eq(snap(rx).lost, 2);
	ck_assert_uint_eq(snap(rx).packets, 2);
	stats_rx_end(rx, 1010);
	ck_assert_uint_eq(snap(rx).lost, 8);
	stats_rx_free(rx);
}
END_TEST

/* A ledger that goes on where another one ended, which has counted all below:
 * what comes of that is too late, first or not. */
START_TEST(counts_nothing_of_an_earlier_ledger)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);

	stats_rx_resume(rx, 1000);
	add(rx, 5, 0);
	ck_assert_uint_eq(snap(rx).packets, 0);
	ck_assert_uint_eq(snap(rx).too_late, 1);
	ck_assert(!stats_rx_missing(rx, 1000));
	add(rx, 1001, 0);
	add(rx, 999, MS);
	add(rx, 5, MS);
	stats_rx_from_zero(rx);
	ck_assert_uint_eq(snap(rx).too_late, 3);
	ck_assert_uint_eq(snap(rx).duplicate, 0);
	stats_rx_end(rx, 1003);
	ck_assert_uint_eq(snap(rx).packets, 1);
	ck_assert_uint_eq(snap(rx).lost, 2);
	stats_rx_free(rx);
}
END_TEST

/* It turns out that number 0, which never came, was the first. */
START_TEST(starts_at_zero_after_all)
{
	struct stats_rx *rx = new_rx(1, LATE_NS);

	add(rx, 1, 0);
	add(rx, 2, MS);
	stats_rx_from_zero(rx);
	ck_assert_uint_eq(snap(rx).lost, 1);
	ck_assert_uint_eq(snap(rx).gaps, 1);
	ck_assert_uint_eq(snap(rx).gap_max, 1);
	stats_rx_from_zero(rx);
	ck_assert_uint_eq(snap(rx).lost, 1);
	/* too late, however soon */
	add(rx, 0, 2 * MS);
	ck_assert_uint_eq(snap(rx).packets, 2);
	ck_assert_uint_eq(snap(rx).too_late, 1);
	stats_rx_end(rx, 3);
	ck_assert_uint_eq(
		stats_sent(&(struct stats_snap){ .packets = snap(rx).packets,
						 .lost = snap(rx).lost }),
		3);
	stats_rx_free(rx);
}
END_TEST

/* What it knows already of number 0 when it is told that this is the first. */
static const struct zero_row {
	const char *name;
	int64_t base;
	const char *before; /* numbers and waits, as in patterns */
	const char *after;
	int64_t total;
	struct stats_snap want;
} zero_rows[] = {
	{ "it began there", 0, "0-9", "10", 11, { .packets = 11 } },
	{ "it began there, lost",
	  0,
	  "1-9",
	  "10",
	  11,
	  { .packets = 10, .lost = 1, .gaps = 1, .gap_max = 1 } },
	{ "it came late", 1, "1 2 0", "3", 4, { .packets = 4, .late = 1 } },
	{ "nothing came, 0 follows", 1, "", "0 1", 2, { .packets = 2 } },
	{ "nothing came, 2 follows",
	  1,
	  "",
	  "2",
	  3,
	  { .packets = 1, .lost = 2, .gaps = 1, .gap_max = 2 } },
	{ "nothing came, 0 is late",
	  1,
	  "",
	  "1 0",
	  2,
	  { .packets = 2, .late = 1 } },
	{ "it comes again and again",
	  1,
	  "1 2",
	  "0 0 3",
	  4,
	  { .packets = 3,
	    .lost = 1,
	    .too_late = 1,
	    .duplicate = 1,
	    .gaps = 1,
	    .gap_max = 1 } },
	{ "a gap elsewhere stays the longest",
	  1,
	  "1-4 9 w100",
	  "10",
	  11,
	  { .packets = 6, .lost = 5, .gaps = 2, .gap_max = 4 } },
	{ "it joins the gap behind it",
	  1,
	  "3 4 9 w100",
	  "10",
	  11,
	  { .packets = 4, .lost = 7, .gaps = 2, .gap_max = 4 } },
	{ "1 may still come",
	  1,
	  "2 3",
	  "1",
	  4,
	  { .packets = 3, .lost = 1, .late = 1, .gaps = 1, .gap_max = 1 } },
	/* 0 has the bit that is now that of 131072 */
	{ "beyond the window",
	  1,
	  "1-200000",
	  "0 131072",
	  200001,
	  { .packets = 200000,
	    .lost = 1,
	    .too_late = 1,
	    .duplicate = 1,
	    .gaps = 1,
	    .gap_max = 1 } },
};

START_TEST(counts_number_0_once_it_is_the_first)
{
	const struct zero_row *row = &zero_rows[_i];
	struct player p = { .rx = new_rx(row->base, LATE_NS) };

	play(&p, row->before);

	struct stats_snap before = snap(p.rx);

	/* told twice, it is the same */
	for (int i = 0; i < 2; i++) {
		stats_rx_from_zero(p.rx);
		ck_assert_uint_eq(snap(p.rx).packets, before.packets);
		ck_assert_uint_ge(snap(p.rx).lost, before.lost);
		ck_assert_uint_le(snap(p.rx).lost, before.lost + 1);
	}
	play(&p, row->after);
	stats_rx_end(p.rx, row->total);

	struct stats_snap got = snap(p.rx);

	expect(row->name, &got, &row->want);
	/* every number up to the total is accounted for */
	ck_assert_uint_eq(stats_sent(&got), (uint64_t)row->total);
	stats_rx_free(p.rx);
}
END_TEST

static void expect_no_step_back(const struct stats_snap *now,
				const struct stats_snap *before)
{
	ck_assert_uint_ge(now->bytes, before->bytes);
	ck_assert_uint_ge(now->packets, before->packets);
	ck_assert_uint_ge(now->lost, before->lost);
	ck_assert_uint_ge(now->late, before->late);
	ck_assert_uint_ge(now->too_late, before->too_late);
	ck_assert_uint_ge(now->duplicate, before->duplicate);
	ck_assert_uint_ge(now->gaps, before->gaps);
	ck_assert_uint_ge(now->gap_max, before->gap_max);
	ck_assert_uint_le(now->gaps, now->lost);
	ck_assert_uint_le(now->gap_max, now->lost);
	ck_assert_uint_le(now->late, now->packets);
}

START_TEST(rows_add_up)
{
	static struct arrival list[RANDOM_NUMBERS * 20];
	uint64_t random = 5;
	size_t n = make_arrivals(&paths[_i], &random, list, (size_t)COUNT(list),
				 0, RANDOM_NUMBERS);
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct stats_snap before = { 0 }, sum = { 0 }, row;

	for (size_t i = 0; i <= n; i++) {
		if (i < n)
			stats_rx_add(rx, (int64_t)list[i].number, BYTES,
				     list[i].sent_ns, list[i].at_ns);
		else
			stats_rx_end(rx, RANDOM_NUMBERS);
		if (i == n || chance(&random, 10)) {
			struct stats_snap now = snap(rx);

			expect_no_step_back(&now, &before);
			stats_diff(&row, &now, &before);
			ck_assert_uint_eq(stats_sent(&row),
					  stats_sent(&now) -
						  stats_sent(&before));
			stats_sum(&sum, &row);
			before = now;
		}
	}
	expect("sum of rows", &sum, &before);
	ck_assert_uint_eq(stats_sent(&sum), RANDOM_NUMBERS);
	stats_rx_free(rx);
}
END_TEST

struct reading {
	const struct stats_rx *rx;
	atomic_bool stop;
	uint64_t wrong;
};

static void *read_on(void *arg)
{
	struct reading *r = arg;
	struct stats_snap before = { 0 };

	while (!atomic_load(&r->stop)) {
		struct stats_snap now = snap(r->rx);

		if (now.packets < before.packets || now.lost < before.lost ||
		    now.bytes < before.bytes || now.late < before.late ||
		    now.gaps < before.gaps || now.gap_max < before.gap_max ||
		    now.late > now.packets || now.gaps > now.lost ||
		    now.gap_max > now.lost)
			r->wrong++;
		before = now;
	}
	return NULL;
}

START_TEST(a_reader_beside_the_writer_sees_nothing_shrink)
{
	struct stats_rx *rx = new_rx(0, LATE_NS);
	struct reading r = { .rx = rx };
	pthread_t reader;

	ck_assert_int_eq(pthread_create(&reader, NULL, read_on, &r), 0);
	for (int64_t i = 0; i < 300000; i++) {
		int64_t seq = i % 7 == 3 ? i + 2 : i;

		if (i % 11 != 0)
			add(rx, seq, i * MS);
	}
	atomic_store(&r.stop, true);
	ck_assert_int_eq(pthread_join(reader, NULL), 0);
	ck_assert_uint_eq(r.wrong, 0);
	stats_rx_free(rx);
}
END_TEST

START_TEST(difference_keeps_levels_of_now)
{
	const struct stats_snap before = { .bytes = 1,
					   .packets = 2,
					   .lost = 3,
					   .late = 4,
					   .too_late = 5,
					   .duplicate = 6,
					   .gaps = 7,
					   .gap_max = 80,
					   .gap_began_ns = 90,
					   .gap_max_ns = 100,
					   .errors = 8,
					   .blocked = 9,
					   .icmp = 20,
					   .jitter_ns = 999 };
	const struct stats_snap now = { .bytes = 101,
					.packets = 103,
					.lost = 105,
					.late = 107,
					.too_late = 109,
					.duplicate = 111,
					.gaps = 113,
					.gap_max = 81,
					.gap_began_ns = 91,
					.gap_max_ns = 92,
					.errors = 115,
					.blocked = 117,
					.icmp = 129,
					.jitter_ns = 10 };
	struct stats_snap d;

	stats_diff(&d, &now, &before);
	ck_assert_uint_eq(d.bytes, 100);
	ck_assert_uint_eq(d.packets, 101);
	ck_assert_uint_eq(d.lost, 102);
	ck_assert_uint_eq(d.late, 103);
	ck_assert_uint_eq(d.too_late, 104);
	ck_assert_uint_eq(d.duplicate, 105);
	ck_assert_uint_eq(d.gaps, 106);
	ck_assert_uint_eq(d.errors, 107);
	ck_assert_uint_eq(d.blocked, 108);
	ck_assert_uint_eq(d.icmp, 109);
	ck_assert_uint_eq(d.gap_max, 81);
	ck_assert_int_eq(d.gap_began_ns, 91);
	ck_assert_int_eq(d.gap_max_ns, 92);
	ck_assert_int_eq(d.jitter_ns, 10);
	ck_assert_uint_eq(stats_sent(&d), 203);
}
END_TEST

START_TEST(sum_adds_counts_and_keeps_the_larger_level)
{
	struct stats_snap sum = { .bytes = 1000,
				  .packets = 10,
				  .lost = 5,
				  .errors = 1,
				  .gap_max = 4,
				  .gap_began_ns = 70,
				  .gap_max_ns = 9,
				  .jitter_ns = 30 };
	const struct stats_snap one = { .bytes = 1,
					.packets = 2,
					.lost = 3,
					.late = 4,
					.too_late = 5,
					.duplicate = 6,
					.gaps = 7,
					.blocked = 8,
					.icmp = 9,
					.gap_max = 5,
					.gap_began_ns = 60,
					.gap_max_ns = 3,
					.jitter_ns = 20 };

	stats_sum(&sum, &one);
	ck_assert_uint_eq(sum.bytes, 1001);
	ck_assert_uint_eq(sum.packets, 12);
	ck_assert_uint_eq(sum.lost, 8);
	ck_assert_uint_eq(sum.late, 4);
	ck_assert_uint_eq(sum.too_late, 5);
	ck_assert_uint_eq(sum.duplicate, 6);
	ck_assert_uint_eq(sum.gaps, 7);
	ck_assert_uint_eq(sum.errors, 1);
	ck_assert_uint_eq(sum.blocked, 8);
	ck_assert_uint_eq(sum.icmp, 9);
	ck_assert_uint_eq(sum.gap_max, 5);
	ck_assert_int_eq(sum.gap_began_ns, 60);
	ck_assert_int_eq(sum.gap_max_ns, 3);
	ck_assert_int_eq(sum.jitter_ns, 30);
}
END_TEST

START_TEST(a_sender_shows_its_calls_as_packets)
{
	struct stats_io io = { 0 };
	struct stats_snap s;

	counter_add(&io.bytes, 2940);
	counter_add(&io.calls, 2);
	counter_add(&io.errors, 3);
	counter_add(&io.blocked, 4);
	counter_add(&io.icmp, 5);
	stats_io_snap(&io, &s);
	ck_assert_uint_eq(s.bytes, 2940);
	ck_assert_uint_eq(s.packets, 2);
	ck_assert_uint_eq(s.errors, 3);
	ck_assert_uint_eq(s.blocked, 4);
	ck_assert_uint_eq(s.icmp, 5);
	ck_assert_uint_eq(s.lost, 0);
	ck_assert_uint_eq(stats_sent(&s), 2);
}
END_TEST

static void add_ledger_tests(TCase *tc)
{
	tcase_add_loop_test(tc, counts_known_patterns_exactly, 0,
			    COUNT(patterns));
	tcase_add_loop_test(tc, agrees_with_the_model_on_random_paths, 0,
			    COUNT(paths));
	tcase_add_loop_test(tc, agrees_with_the_model_at_large_numbers, 0,
			    COUNT(far_starts));
	tcase_add_loop_test(tc, agrees_with_the_model_around_the_window, 0,
			    COUNT(window_steps_ns));
	tcase_add_test(tc, many_gaps_are_settled_on_time);
	tcase_add_test(tc, gaps_without_end_keep_their_sum);
	tcase_add_test(tc, a_number_is_due_a_nanosecond_sharp);
	tcase_add_test(tc, settles_without_arrivals);
	tcase_add_test(tc, waits_no_time_when_late_after_is_0);
	tcase_add_test(tc, waits_for_ever_when_late_after_is_huge);
	tcase_add_test(tc, time_that_steps_back_breaks_nothing);
	tcase_add_test(tc, tells_what_is_missing);
	tcase_add_test(tc, hostile_jumps_cost_no_loop_and_no_overflow);
	tcase_add_test(tc, hostile_totals_cost_no_loop);
	tcase_add_test(tc,
		       tells_when_the_longest_gap_began_and_how_long_it_was);
	tcase_add_test(tc, gaps_seen_at_one_moment_show_the_largest);
}

static void add_jitter_tests(TCase *tc)
{
	tcase_add_loop_test(tc, jitter_follows_rfc_3550, 0,
			    COUNT(clock_offsets_ns));
	tcase_add_test(tc, jitter_has_no_bias);
	tcase_add_test(tc, jitter_leaves_out_what_is_not_received);
	tcase_add_test(tc, jitter_survives_absurd_stamps);
}

static void add_delay_tests(TCase *tc)
{
	tcase_add_loop_test(tc, a_step_of_the_senders_clock_changes_no_figure,
			    0,
			    sizeof(clock_steps_ns) / sizeof(clock_steps_ns[0]));
	tcase_add_test(tc, pauses_and_queues_are_no_step);
	tcase_add_test(tc, tells_mean_and_largest_jitter);
	tcase_add_test(tc, tells_delay_above_the_lowest);
	tcase_add_test(tc, rows_have_their_own_longest_gap);
	tcase_add_test(tc, joined_rows_keep_the_longer_gap);
	tcase_add_test(tc, counts_what_the_socket_dropped);
	tcase_add_test(tc, starts_at_a_number_told_later);
	tcase_add_test(tc, counts_nothing_of_an_earlier_ledger);
	tcase_add_test(tc, starts_at_zero_after_all);
	tcase_add_loop_test(tc, counts_number_0_once_it_is_the_first, 0,
			    COUNT(zero_rows));
}

static void add_snapshot_tests(TCase *tc)
{
	tcase_add_loop_test(tc, rows_add_up, 0, COUNT(paths));
	tcase_add_test(tc, a_reader_beside_the_writer_sees_nothing_shrink);
	tcase_add_test(tc, difference_keeps_levels_of_now);
	tcase_add_test(tc, sum_adds_counts_and_keeps_the_larger_level);
	tcase_add_test(tc, a_sender_shows_its_calls_as_packets);
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
	Suite *s = suite_create("stats");

	add_case(s, "ledger", add_ledger_tests);
	add_case(s, "jitter", add_jitter_tests);
	add_case(s, "delay", add_delay_tests);
	add_case(s, "snapshots", add_snapshot_tests);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
