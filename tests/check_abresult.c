/*
 * check_abresult: which runs stand in the table, what it says of them, and what
 * is told about the whole.
 */
#include "abresult.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtext.h"

static struct abresult result;

static void begin(const char *one, const char *other)
{
	result = (struct abresult){ .setup.confidence = 0.95 };
	ck_assert_int_eq(abresult_add_arm(&result, "off", one), 0);
	ck_assert_int_eq(abresult_add_arm(&result, "on", other), 0);
}

static void end(void)
{
	abresult_free(&result);
}

static struct abresult_run *add(uint32_t round, uint8_t arm, double rate)
{
	struct abresult_run run = {
		.round = round, .arm = arm, .counted = true, .busy_ns = -1
	};

	abresult_set(&run, ABRESULT_RATE, rate);
	ck_assert_int_eq(abresult_add(&result, &run), 0);
	return &result.run[result.n_runs - 1];
}

static void show(struct abresult_run *run, const char *text)
{
	run->shown = strdup(text);
	ck_assert_ptr_nonnull(run->shown);
}

/* Round 1 lacks an arm, round 2 has a run that was run again. */
START_TEST(takes_whole_rounds_of_runs_that_count)
{
	struct abresult_table t;

	begin("a", "b");
	add(0, 0, 100);
	add(0, 1, 110);
	add(1, 0, 500);
	add(2, 0, 999)->counted = false;
	result.run[3].marks = ABRESULT_BUSY;
	add(2, 0, 102);
	add(2, 1, 114);
	add(0, 1, 777)->warmup = true;
	ck_assert_int_eq(abresult_make(&result, &t), 0);
	ck_assert(t.row[ABRESULT_RATE].known);
	ck_assert(!t.row[ABRESULT_LOSS].known);
	ck_assert_uint_eq(t.row[ABRESULT_RATE].n, 2);
	ck_assert_double_eq(t.row[ABRESULT_RATE].arm[0].sum.mean, 101);
	ck_assert_double_eq(t.row[ABRESULT_RATE].arm[1].sum.mean, 112);
	ck_assert_double_eq(t.row[ABRESULT_RATE].versus[1].diff.mean, 11);
	ck_assert_uint_eq(abresult_rounds(&result), 2);
	ck_assert_uint_eq(abresult_marked(&result, ABRESULT_BUSY, false), 1);
	ck_assert_uint_eq(abresult_marked(&result, ABRESULT_BUSY, true), 0);
	abresult_unmake(&t);
	end();
}
END_TEST

/* Differences 10, 12, 11, 13: mean 11.5, se 0.6455, t = 17.82 with 3 degrees of
 * freedom, p 0.000385; the half-width at 95 % is 3.1824 * 0.6455 = 2.0543. */
START_TEST(judges_the_primary_metric_for_itself)
{
	static const double difference[] = { 10, 12, 11, 13 };
	struct abresult_table t;

	begin("a", "b");
	for (uint32_t i = 0; i < 4; i++) {
		struct abresult_run *run = add(i, 0, 100 + i);

		abresult_set(run, ABRESULT_LOSS, i);
		abresult_set(run, ABRESULT_JITTER, 2 + i % 2);
		run = add(i, 1, 100 + i + difference[i]);
		abresult_set(run, ABRESULT_LOSS, i * 2);
		abresult_set(run, ABRESULT_JITTER, 2);
	}
	ck_assert_int_eq(abresult_make(&result, &t), 0);

	const struct abresult_row *row = &t.row[ABRESULT_RATE];

	ck_assert_uint_eq(t.primary, 1);
	ck_assert_uint_eq(t.others, 2);
	ck_assert_double_eq_tol(row->level, 0.95, 1e-12);
	ck_assert_double_eq_tol(row->versus[1].half, 2.0543, 1e-4);
	ck_assert_double_eq_tol(row->versus[1].p, 0.000385, 1e-6);
	ck_assert_int_eq(row->versus[1].verdict, ABSTAT_HIGHER);
	ck_assert_double_eq_tol(t.row[ABRESULT_LOSS].level, 0.975, 1e-12);
	ck_assert_int_eq(t.row[ABRESULT_LOSS].versus[1].verdict,
			 ABSTAT_CANNOT_TELL);
	ck_assert_uint_gt(t.row[ABRESULT_LOSS].versus[1].needed, 4);
	abresult_unmake(&t);
	end();
}
END_TEST

START_TEST(leaves_out_what_never_differs)
{
	struct abresult_table t;

	begin("a", "b");
	for (uint32_t i = 0; i < 8; i++) {
		abresult_set(add(i, 0, 100 + i), ABRESULT_LOSS, 0);
		abresult_set(add(i, 1, 101 + i % 3), ABRESULT_LOSS, 0);
	}
	ck_assert_int_eq(abresult_make(&result, &t), 0);
	ck_assert(t.row[ABRESULT_LOSS].steady);
	ck_assert_uint_eq(t.others, 0);
	ck_assert_int_eq(t.row[ABRESULT_LOSS].versus[1].verdict,
			 ABSTAT_CANNOT_TELL);
	abresult_unmake(&t);
	end();
}
END_TEST

/* The same differences, judged by Welch: df and scatter of all runs. */
START_TEST(takes_unpaired_runs_as_they_are)
{
	struct abresult_table t;

	begin(NULL, NULL);
	result.setup.unpaired = true;
	add(0, 0, 10);
	add(1, 0, 12);
	add(2, 0, 14);
	add(0, 1, 20);
	add(1, 1, 24);
	ck_assert_int_eq(abresult_make(&result, &t), 0);

	const struct abresult_row *row = &t.row[ABRESULT_RATE];

	ck_assert_uint_eq(row->arm[0].sum.n, 3);
	ck_assert_uint_eq(row->arm[1].sum.n, 2);
	ck_assert_double_eq(row->versus[1].diff.mean, 10);
	/* 4 / 3 + 8 / 2 */
	ck_assert_double_eq_tol(row->versus[1].diff.se, sqrt(16.0 / 3), 1e-12);
	abresult_unmake(&t);
	end();
}
END_TEST

START_TEST(stops_when_the_interval_is_narrow)
{
	struct abresult_table t;

	begin("a", "b");
	result.setup.precision_percent = 1;
	for (uint32_t i = 0; i < 8; i++) {
		ck_assert_int_eq(abresult_make(&result, &t), 0);
		ck_assert(!abresult_precise(&result, &t));
		abresult_unmake(&t);
		add(i, 0, 1000);
		add(i, 1, 1010 + i % 2);
	}
	ck_assert_int_eq(abresult_make(&result, &t), 0);
	ck_assert(abresult_precise(&result, &t));
	abresult_unmake(&t);
	result.setup.precision_percent = 0.01;
	ck_assert_int_eq(abresult_make(&result, &t), 0);
	ck_assert(!abresult_precise(&result, &t));
	/* (1 + 2 / n) t(0.975, n - 1) stddev / sqrt(n) <= 0.2, of which the
	 * stddev is sqrt(2 / 7): 0.1975 with 34, 0.2010 with 33 */
	result.setup.precision_percent = 0.02;
	ck_assert_uint_eq(abresult_precise_rounds(&result, &t), 34);
	abresult_unmake(&t);
	result.n_runs = 4;
	ck_assert_int_eq(abresult_make(&result, &t), 0);
	ck_assert_uint_eq(abresult_precise_rounds(&result, &t), 0);
	abresult_unmake(&t);
	end();
}
END_TEST

START_TEST(knows_arms_that_show_the_same)
{
	unsigned a;
	unsigned b;

	begin("a", "b");
	ck_assert(!abresult_alike(&result, &a, &b));
	show(add(0, 0, 1), "x");
	ck_assert(!abresult_alike(&result, &a, &b));
	show(add(0, 1, 1), "x");
	ck_assert(abresult_alike(&result, &a, &b));
	ck_assert_uint_eq(a, 0);
	ck_assert_uint_eq(b, 1);
	show(add(1, 0, 1), "x");
	show(add(1, 1, 1), "y");
	ck_assert(!abresult_alike(&result, &a, &b));
	end();
	/* the same commands are meant to */
	begin("", "");
	show(add(0, 0, 1), "x");
	show(add(0, 1, 1), "x");
	ck_assert(!abresult_alike(&result, &a, &b));
	ck_assert(abresult_is_aa(&result.setup));
	end();
	begin("", "true");
	ck_assert(!abresult_is_aa(&result.setup));
	end();
}
END_TEST

START_TEST(refuses_arms)
{
	begin("a", "b");
	ck_assert_int_eq(abresult_add_arm(&result, "on", "c"), -EEXIST);
	for (int i = 2; i < ABRESULT_ARMS_MAX; i++) {
		char label[2] = { (char)('a' + i), '\0' };

		ck_assert_int_eq(abresult_add_arm(&result, label, "c"), 0);
	}
	ck_assert_int_eq(abresult_add_arm(&result, "z", "c"), -E2BIG);
	end();
}
END_TEST

START_TEST(keeps_no_value_that_is_none)
{
	struct abresult_run run = { .has = 0 };

	abresult_set(&run, ABRESULT_RATE, NAN);
	abresult_set(&run, ABRESULT_LOSS, INFINITY);
	ck_assert_uint_eq(run.has, 0);
	abresult_set(&run, ABRESULT_LOSS, 1.0 / 3);
	ck_assert(run.value[ABRESULT_LOSS] == 0.333333333);
}
END_TEST

static const struct {
	enum abresult_metric metric;
	double value;
	const char *text;
} numbers[] = {
	{ ABRESULT_RATE, 999.94, "999.94 bits/sec" },
	{ ABRESULT_RATE, 96073000, "96.073 Mbits/sec" },
	{ ABRESULT_RATE, 2.5e13, "25.000 Tbits/sec" },
	{ ABRESULT_LOSS, 0.2, "0.20000 %" },
	{ ABRESULT_LOSS, 0, "0.0000 %" },
	{ ABRESULT_PPS, 4252.44, "4252.4 packets/sec" },
};

START_TEST(writes_five_digits)
{
	struct abtext_scale s =
		abtext_scale(numbers[_i].metric, numbers[_i].value);
	char text[ABTEXT_BYTES];
	char all[2 * ABTEXT_BYTES];

	abtext_number(text, numbers[_i].value, &s, false);
	snprintf(all, sizeof(all), "%s %s", text, s.name);
	ck_assert_str_eq(all, numbers[_i].text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abresult");
	TCase *t = tcase_create("table");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, takes_whole_rounds_of_runs_that_count);
	tcase_add_test(t, judges_the_primary_metric_for_itself);
	tcase_add_test(t, leaves_out_what_never_differs);
	tcase_add_test(t, takes_unpaired_runs_as_they_are);
	tcase_add_test(t, stops_when_the_interval_is_narrow);
	tcase_add_test(t, knows_arms_that_show_the_same);
	tcase_add_test(t, refuses_arms);
	tcase_add_test(t, keeps_no_value_that_is_none);
	tcase_add_loop_test(t, writes_five_digits, 0,
			    (int)(sizeof(numbers) / sizeof(numbers[0])));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
