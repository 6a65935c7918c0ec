/*
 * check_pace: the departure grid, and how lateness is made good.  Every test
 * brings its own time.
 */
#include "pace.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

/* datagrams = ceil(per_s * time / units).  10 s; the fastest rows are shorter,
 * to stay below 40 million steps. */
static const struct {
	uint64_t per_s, units;
	int64_t for_ms;
	uint64_t datagrams;
} rates[] = {
	{ 1000, 18 * 8, 10000, 70 },
	{ 1000, 1470 * 8, 10000, 1 },
	{ 1000, 65507 * 8, 10000, 1 },
	{ 1048576, 18 * 8, 10000, 72818 },
	{ 1048576, 1470 * 8, 10000, 892 },
	{ 1048576, 65507 * 8, 10000, 21 },
	{ 10000000, 18 * 8, 10000, 694445 },
	{ 10000000, 1470 * 8, 10000, 8504 },
	{ 10000000, 65507 * 8, 10000, 191 },
	{ 100000000, 18 * 8, 10000, 6944445 },
	{ 100000000, 1470 * 8, 10000, 85035 },
	{ 100000000, 65507 * 8, 10000, 1909 },
	{ 500000000, 18 * 8, 10000, 34722223 },
	{ 500000000, 1470 * 8, 10000, 425171 },
	{ 500000000, 65507 * 8, 10000, 9541 },
	{ 9000000000, 18 * 8, 500, 31250000 },
	{ 9000000000, 1470 * 8, 10000, 7653062 },
	{ 9000000000, 65507 * 8, 10000, 171738 },
	{ 100000000000, 18 * 8, 50, 34722223 },
	{ 100000000000, 1470 * 8, 4000, 34013606 },
	{ 100000000000, 65507 * 8, 10000, 1908194 },
	{ 1, 1, 10000, 10 },
	{ 3, 1, 10000, 30 },
	{ 100, 1, 10000, 1000 },
	{ 10000, 1, 10000, 100000 },
	{ 1000000, 1, 10000, 10000000 },
	{ 10000000000, 1, 1, 10000000 }, /* ten in a nanosecond */
};

START_TEST(keeps_the_asked_rate)
{
	struct pace p;
	int64_t now_ns = 0; /* the only clock there is */
	int64_t end_ns = rates[_i].for_ms * NSEC_PER_MSEC;
	uint64_t sent = 0;

	pace_init(&p, rates[_i].per_s, rates[_i].units, now_ns);
	while ((now_ns += pace_wait(&p, now_ns)) < end_ns) {
		pace_sent(&p, now_ns);
		sent++;
	}
	ck_assert_uint_eq(sent, rates[_i].datagrams);
	ck_assert_int_eq(p.forgone_ns, 0);
}
END_TEST

/* floor(i * units * 1e9 / per_s), three decimal digits at a time: exact as
 * long as i * units and 1000 * per_s fit 64 bits */
static int64_t grid_ns(uint64_t i, uint64_t units, uint64_t per_s)
{
	uint64_t quotient = i * units / per_s;
	uint64_t rest = i * units % per_s;

	for (int k = 0; k < 3; k++) {
		quotient = quotient * 1000 + rest * 1000 / per_s;
		rest = rest * 1000 % per_s;
	}
	return (int64_t)quotient;
}

START_TEST(every_due_time_is_on_the_grid)
{
	const int64_t t0_ns = 123456789012345;
	const uint64_t steps = 100000;
	struct pace p;

	pace_init(&p, rates[_i].per_s, rates[_i].units, t0_ns);
	for (uint64_t i = 0; i < steps; i++) {
		int64_t due_ns =
			t0_ns + grid_ns(i, rates[_i].units, rates[_i].per_s);
		/* plain comparison first: ck_assert is slow */
		if (p.due_ns != due_ns)
			ck_assert_int_eq(p.due_ns, due_ns);
		pace_sent(&p, p.due_ns);
	}
}
END_TEST

START_TEST(the_remainder_does_not_overflow)
{
	const uint64_t per_s = UINT64_MAX;
	struct pace p;

	/* 2^64 - 1 a second and 524056 each: 2.8e-5 ns; the first step that
	 * fills a nanosecond is number ceil((2^64 - 1) / 524056e9) = 35200 */
	pace_init(&p, per_s, 65507 * 8, 0);
	ck_assert_int_eq(p.gap_ns, 0);
	for (int i = 0; i < 35199; i++)
		pace_sent(&p, 0);
	ck_assert_int_eq(p.due_ns, 0);
	pace_sent(&p, 0);
	ck_assert_int_eq(p.due_ns, 1);
	ck_assert_uint_eq(p.acc, 27126290448385);
}
END_TEST

START_TEST(unpaced_never_waits)
{
	struct pace p;

	pace_init(&p, 0, 11760, 5);
	for (int64_t now_ns = 0; now_ns < 5 * (int64_t)NSEC_PER_SEC;
	     now_ns += NSEC_PER_SEC) {
		ck_assert_int_eq(pace_wait(&p, now_ns), 0);
		pace_sent(&p, now_ns);
	}
	ck_assert_int_eq(p.forgone_ns, 0);
}
END_TEST

START_TEST(the_first_datagram_is_due_at_once)
{
	const int64_t t0_ns = 1000;
	struct pace p;

	/* a gap of 524 s: no wait, though the thread started 2 ms late */
	pace_init(&p, 1000, 65507 * 8, t0_ns);
	ck_assert_int_eq(pace_wait(&p, t0_ns), 0);
	ck_assert_int_eq(pace_wait(&p, t0_ns + 2 * NSEC_PER_MSEC), 0);
	ck_assert_int_eq(pace_wait(&p, t0_ns - 10), 10);
}
END_TEST

START_TEST(a_late_send_does_not_move_the_grid)
{
	struct pace p;

	pace_init(&p, 100, 1, 0); /* every 10 ms */
	pace_sent(&p, 0);
	pace_sent(&p, 17 * NSEC_PER_MSEC);
	ck_assert_int_eq(pace_wait(&p, 17 * NSEC_PER_MSEC), 3 * NSEC_PER_MSEC);
	/* due at 20 ms and up to 1 ms late: at once, whatever the distance */
	ck_assert_int_eq(pace_wait(&p, 20 * NSEC_PER_MSEC), 0);
	ck_assert_int_eq(pace_wait(&p, 20 * NSEC_PER_MSEC + PACE_BURST_NS), 0);
	/* later than that: half a gap, 5 ms, after the one at 17 ms */
	ck_assert_int_eq(pace_wait(&p, 20 * NSEC_PER_MSEC + PACE_BURST_NS + 1),
			 NSEC_PER_MSEC - 1);
	ck_assert_int_eq(pace_wait(&p, 22 * NSEC_PER_MSEC), 0);
}
END_TEST

/* A sender that sends as soon as it may, and sleeps once through a stall. */
struct run {
	struct pace p;
	int64_t now_ns;
	int64_t stall_ns; /* still to come; 0: it is over */
	int64_t last_ns;  /* departure before this one */
	uint64_t sent;
	uint64_t burst;     /* datagrams in a row closer than they may be */
	uint64_t max_burst; /* the longest of them */
	uint64_t too_close; /* sent so although too late for a burst */
};

/* What a catch-up keeps between two, of a gap. */
static int64_t part_of_gap(const struct run *r)
{
	int64_t lag_ns = r->now_ns - r->p.due_ns;

	if (lag_ns > PACE_EIGHTFOLD_NS)
		return r->p.gap_ns / 8;
	return r->p.gap_ns / (lag_ns > PACE_FOURFOLD_NS ? 4 : 2);
}

static void note_distance(struct run *r)
{
	bool close = r->sent > 0 && r->now_ns - r->last_ns < part_of_gap(r);

	r->burst = close ? r->burst + 1 : 0;
	if (r->burst > r->max_burst)
		r->max_burst = r->burst;
	if (close && r->now_ns - r->p.due_ns > PACE_BURST_NS)
		r->too_close++;
}

static void run_until(struct run *r, int64_t stall_at_ns, int64_t end_ns)
{
	while ((r->now_ns += pace_wait(&r->p, r->now_ns)) < end_ns) {
		if (r->stall_ns > 0 && r->now_ns >= stall_at_ns) {
			r->now_ns += r->stall_ns;
			r->stall_ns = 0;
		}
		note_distance(r);
		pace_sent(&r->p, r->now_ns);
		r->last_ns = r->now_ns;
		r->sent++;
	}
}

static const struct {
	uint64_t per_s, units;
} stalled[] = {
	{ 1000, 125 * 8 }, { 1048576, 1470 * 8 },    { 10000000, 1470 * 8 },
	{ 10000, 1 },      { 500000000, 1470 * 8 },  { 100, 1 },
	{ 1000000, 1 },    { 9000000000, 1470 * 8 },
};

/* ceil(ns * per_s / units / 1e9) for whole milliseconds */
static uint64_t sent_within(int64_t ms, uint64_t per_s, uint64_t units)
{
	return ((uint64_t)ms * per_s + units * 1000 - 1) / (units * 1000);
}

START_TEST(a_stall_of_50_ms_is_made_good_without_a_flood)
{
	uint64_t per_s = stalled[_i].per_s, units = stalled[_i].units;
	struct run r = { .stall_ns = 50 * NSEC_PER_MSEC };

	pace_init(&r.p, per_s, units, 0);
	run_until(&r, 700 * NSEC_PER_MSEC, 3 * (int64_t)NSEC_PER_SEC);
	ck_assert_uint_eq(r.sent, sent_within(3000, per_s, units));
	ck_assert_int_eq(r.p.forgone_ns, 0);
	/* but where one speed gives way to the next */
	ck_assert_uint_le(r.too_close, 2);
	/* what was due within PACE_BURST_NS, 1 ms, both ends counted */
	ck_assert_uint_le(r.max_burst, sent_within(1, per_s, units) + 1);
}
END_TEST

START_TEST(catching_up_runs_at_twice_the_rate)
{
	struct run r = { .stall_ns = 15 * NSEC_PER_MSEC };

	/* 1 ms apart: after the stall one every 0.5 ms, 14 of the 15 ms, and
	 * the last one in the permitted burst */
	pace_init(&r.p, 1000, 1, 0);
	run_until(&r, 100 * NSEC_PER_MSEC, 115 * NSEC_PER_MSEC);
	ck_assert_uint_eq(r.sent, 101);
	run_until(&r, 0, 120 * NSEC_PER_MSEC);
	ck_assert_uint_eq(r.sent, 110);
	run_until(&r, 0, 125 * NSEC_PER_MSEC);
	ck_assert_uint_eq(r.sent, 120);
	run_until(&r, 0, 140 * NSEC_PER_MSEC);
	ck_assert_uint_eq(r.sent, 140);
}
END_TEST

/* A thread that gets a quarter of a CPU keeps its rate. */
START_TEST(what_is_far_behind_catches_up_faster)
{
	static const struct {
		int64_t stall_ms;
		uint64_t in_2_ms;
	} stalls[] = { { 30, 8 }, { 100, 16 } };

	for (int i = 0; i < 2; i++) {
		int64_t end_ns = (100 + stalls[i].stall_ms) * NSEC_PER_MSEC;
		struct run r = { .stall_ns =
					 stalls[i].stall_ms * NSEC_PER_MSEC };

		pace_init(&r.p, 1000, 1, 0);
		run_until(&r, 100 * NSEC_PER_MSEC, end_ns + 2 * NSEC_PER_MSEC);
		ck_assert_uint_eq(r.sent, 100 + stalls[i].in_2_ms);
	}
}
END_TEST

START_TEST(of_a_stall_of_5_s_one_is_made_good)
{
	uint64_t per_s = stalled[_i].per_s, units = stalled[_i].units;
	struct run r = { .stall_ns = 5 * (int64_t)NSEC_PER_SEC };

	/* it ends at 6 s; 2 s later all that was kept is made good */
	pace_init(&r.p, per_s, units, 0);
	run_until(&r, NSEC_PER_SEC, 9 * (int64_t)NSEC_PER_SEC);
	ck_assert_int_le(r.p.forgone_ns, 4 * (int64_t)NSEC_PER_SEC);
	ck_assert_int_gt(r.p.forgone_ns,
			 4 * (int64_t)NSEC_PER_SEC - 2 * (r.p.gap_ns + 1));
	/* but where one speed gives way to the next */
	ck_assert_uint_le(r.too_close, 2);
	ck_assert_uint_le(r.max_burst, sent_within(1, per_s, units) + 1);
	/* the grid moved by exactly what was given up */
	ck_assert_int_eq(r.p.due_ns,
			 r.p.forgone_ns + grid_ns(r.sent, units, per_s));
	ck_assert_int_ge(r.p.due_ns, 9 * (int64_t)NSEC_PER_SEC);
	ck_assert_int_le(r.p.due_ns,
			 9 * (int64_t)NSEC_PER_SEC + r.p.gap_ns + 1);
}
END_TEST

START_TEST(what_a_slow_sender_gives_up_adds_up)
{
	struct pace p;
	int64_t now_ns = 0;

	/* asked for 1000 a second, able to send 100 */
	pace_init(&p, 1000, 1, 0);
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(pace_wait(&p, now_ns), 0);
		pace_sent(&p, now_ns);
		now_ns += 10 * NSEC_PER_MSEC;
	}
	/* the last one left at 9.99 s, 1000 ms of grid are used, 1 s is kept */
	ck_assert_int_eq(p.forgone_ns, 7990 * (int64_t)NSEC_PER_MSEC);
}
END_TEST

/* Sends what is due with one reading of the time, as a batch; its size. */
static unsigned send_batch(struct pace *p, int64_t now_ns)
{
	unsigned n = 0;

	while (n < 64 && pace_wait(p, now_ns) == 0) {
		pace_sent(p, now_ns);
		n++;
	}
	return n;
}

START_TEST(a_sender_that_needs_batches_can_catch_up)
{
	const int64_t visit_ns = 40000; /* time of one batch: 30 gaps */
	struct pace p;
	int64_t now_ns = 50 * NSEC_PER_MSEC; /* stalled from the start */
	unsigned max_batch = 0;

	pace_init(&p, 9000000000, 1470 * 8, 0);
	while (now_ns < 200 * NSEC_PER_MSEC) {
		unsigned n = send_batch(&p, now_ns);
		if (n > max_batch)
			max_batch = n;
		now_ns += visit_ns;
	}
	/* twice the rate: 62 half gaps in a visit */
	ck_assert_uint_ge(max_batch, 61);
	ck_assert_int_lt(now_ns - p.due_ns, PACE_BURST_NS);
	ck_assert_int_eq(p.forgone_ns, 0);
}
END_TEST

START_TEST(half_gaps_start_anew_after_a_stall_within_the_catch_up)
{
	struct pace p;

	pace_init(&p, 10000, 1, 0); /* every 0.1 ms */
	int64_t now_ns = 8 * NSEC_PER_MSEC;
	ck_assert_uint_eq(send_batch(&p, now_ns), 1);
	/* 0.2 ms are four half gaps */
	now_ns += 200000;
	ck_assert_uint_eq(send_batch(&p, now_ns), 4);
	/* a longer pause is no batch, and earns nothing */
	now_ns += 5 * NSEC_PER_MSEC;
	ck_assert_uint_eq(send_batch(&p, now_ns), 1);
	ck_assert_int_eq(pace_wait(&p, now_ns), 50000);
}
END_TEST

static Suite *pace_suite(void)
{
	Suite *s = suite_create("pace");
	TCase *grid = tcase_create("grid");
	TCase *late = tcase_create("late");

	tcase_set_timeout(grid, 60);
	tcase_add_loop_test(grid, keeps_the_asked_rate, 0, COUNT(rates));
	tcase_add_loop_test(grid, every_due_time_is_on_the_grid, 0,
			    COUNT(rates));
	tcase_add_test(grid, the_remainder_does_not_overflow);
	tcase_add_test(grid, unpaced_never_waits);
	tcase_add_test(grid, the_first_datagram_is_due_at_once);
	tcase_set_timeout(late, 60);
	tcase_add_test(late, a_late_send_does_not_move_the_grid);
	tcase_add_loop_test(late, a_stall_of_50_ms_is_made_good_without_a_flood,
			    0, COUNT(stalled));
	tcase_add_test(late, catching_up_runs_at_twice_the_rate);
	tcase_add_test(late, what_is_far_behind_catches_up_faster);
	tcase_add_loop_test(late, of_a_stall_of_5_s_one_is_made_good, 0,
			    COUNT(stalled));
	tcase_add_test(late, what_a_slow_sender_gives_up_adds_up);
	tcase_add_test(late, a_sender_that_needs_batches_can_catch_up);
	tcase_add_test(late,
		       half_gaps_start_anew_after_a_stall_within_the_catch_up);
	suite_add_tcase(s, grid);
	suite_add_tcase(s, late);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(pace_suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
