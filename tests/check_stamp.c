/*
 * stamp: arrival stamps of the wall clock on the monotonic line, also when
 * the wall clock is set while datagrams wait in the queue.
 */
#include <check.h>
#include <stdlib.h>

#include "stamp.h"

#define MS 1000000
#define SECOND 1000000000
/* The wall clock at monotonic 0. */
#define WALL (INT64_C(1796076634) * SECOND)

/* A kernel with two clocks and a queue, and the reader of it. */
struct host {
	struct stamp_line line;
	int64_t wall_ns; /* wall minus monotonic, now */
	unsigned compared;
};

/* The reader handles at now_ns what was stamped so. */
static int64_t read_stamp(struct host *h, int64_t now_ns, int64_t stamp_ns)
{
	if (stamp_due(&h->line, stamp_ns)) {
		stamp_compare(&h->line, now_ns, now_ns + h->wall_ns);
		h->compared++;
	}
	return stamp_place(&h->line, stamp_ns);
}

START_TEST(arrivals_keep_their_monotonic_times)
{
	struct host h = { .wall_ns = WALL };

	for (int64_t at_ns = 0; at_ns < SECOND; at_ns += 20000)
		ck_assert_int_eq(read_stamp(&h, at_ns + 5000, at_ns + WALL),
				 at_ns);
	ck_assert_uint_eq(h.line.steps, 0);
	/* the clocks are read once a millisecond, not each time */
	ck_assert_uint_le(h.compared, 1001);
	ck_assert_uint_ge(h.compared, 900);
}
END_TEST

START_TEST(a_queue_is_read_late_without_harm)
{
	struct host h = { .wall_ns = WALL };

	/* 50 ms of arrivals are read at once */
	for (int64_t at_ns = SECOND; at_ns < SECOND + 50 * MS; at_ns += MS)
		ck_assert_int_eq(read_stamp(&h, SECOND + 60 * MS, at_ns + WALL),
				 at_ns);
}
END_TEST

/* Steps of the wall clock, ahead and back, large and small. */
static const int64_t steps[] = { 3600 * INT64_C(1000000000),
				 -3600 * INT64_C(1000000000),
				 SECOND,
				 -SECOND,
				 10 * MS,
				 -10 * MS,
				 2 * MS,
				 -2 * MS };

START_TEST(a_step_moves_no_arrival)
{
	struct host h = { .wall_ns = WALL };

	for (int64_t at_ns = 0; at_ns < SECOND; at_ns += 100000) {
		if (at_ns == SECOND / 2)
			h.wall_ns = WALL + steps[_i];
		ck_assert_int_eq(
			read_stamp(&h, at_ns + 5000, at_ns + h.wall_ns), at_ns);
	}
	ck_assert_uint_eq(h.line.steps, 1);
}
END_TEST

/* The step falls between the stamps of datagrams that wait in the queue. */
START_TEST(a_step_within_a_queue_moves_no_arrival)
{
	struct host h = { .wall_ns = WALL };

	for (int64_t at_ns = 0; at_ns < 100 * MS; at_ns += 100000)
		ck_assert_int_eq(read_stamp(&h, at_ns + 5000, at_ns + WALL),
				 at_ns);
	h.wall_ns = WALL + steps[_i];
	for (int64_t at_ns = 100 * MS; at_ns < 140 * MS; at_ns += 100000) {
		int64_t wall_ns = at_ns < 120 * MS ? WALL : h.wall_ns;

		ck_assert_int_eq(read_stamp(&h, 140 * MS, at_ns + wall_ns),
				 at_ns);
	}
	for (int64_t at_ns = 140 * MS; at_ns < 200 * MS; at_ns += 100000)
		ck_assert_int_eq(
			read_stamp(&h, at_ns + 5000, at_ns + h.wall_ns), at_ns);
	ck_assert_uint_eq(h.line.steps, 1);
}
END_TEST

/* Datagrams further apart than the step. */
START_TEST(a_step_moves_no_arrival_of_a_slow_sender)
{
	struct host h = { .wall_ns = WALL };

	for (int64_t at_ns = 0; at_ns < 10 * INT64_C(1000000000);
	     at_ns += 100 * MS) {
		if (at_ns == 5 * INT64_C(1000000000))
			h.wall_ns = WALL + steps[_i];
		ck_assert_int_eq(
			read_stamp(&h, at_ns + 5000, at_ns + h.wall_ns), at_ns);
	}
}
END_TEST

START_TEST(a_disciplined_clock_is_no_step)
{
	struct host h = { .wall_ns = WALL };

	/* 500 us a second, the most that adjtime(2) does */
	for (int64_t at_ns = 0; at_ns < 10 * INT64_C(1000000000);
	     at_ns += 10 * MS) {
		int64_t got_ns;

		h.wall_ns = WALL + at_ns / 2000;
		got_ns = read_stamp(&h, at_ns, at_ns + h.wall_ns);
		ck_assert_int_le(llabs(got_ns - at_ns), 10000);
	}
	/* and after a silence of a minute */
	h.wall_ns += 30 * MS;
	(void)read_stamp(&h, 70 * INT64_C(1000000000),
			 70 * INT64_C(1000000000) + h.wall_ns);
	ck_assert_uint_eq(h.line.steps, 0);
}
END_TEST

START_TEST(no_arrival_lies_in_the_future)
{
	struct host h = { .wall_ns = WALL };

	(void)read_stamp(&h, 0, WALL);
	/* a stamp of a clock that nobody knows */
	ck_assert_int_le(read_stamp(&h, MS, WALL + 5 * INT64_C(1000000000)),
			 MS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stamp");
	TCase *t = tcase_create("stamp");
	SRunner *r;
	int failed;

	tcase_add_test(t, arrivals_keep_their_monotonic_times);
	tcase_add_test(t, a_queue_is_read_late_without_harm);
	tcase_add_loop_test(t, a_step_moves_no_arrival, 0,
			    sizeof(steps) / sizeof(steps[0]));
	tcase_add_loop_test(t, a_step_within_a_queue_moves_no_arrival, 0,
			    sizeof(steps) / sizeof(steps[0]));
	tcase_add_loop_test(t, a_step_moves_no_arrival_of_a_slow_sender, 0,
			    sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(t, a_disciplined_clock_is_no_step);
	tcase_add_test(t, no_arrival_lies_in_the_future);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
