/*
 * check_series: values in, counts, extremes of rows and quantiles out.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "../src/series.h"

#define US INT64_C(1000)
#define N 1000

static struct series s;

static void setup(void)
{
	series_init(&s);
}

START_TEST(rows_have_their_own_extremes)
{
	struct stats_snap a = { 0 }, b = { 0 }, row;

	series_add(&s, 30 * US);
	series_add(&s, 10 * US);
	series_cut(&s, &a);
	ck_assert_uint_eq(a.samples, 2);
	ck_assert_int_eq(a.sample_min_ns, 10 * US);
	ck_assert_int_eq(a.sample_max_ns, 30 * US);
	series_add(&s, 20 * US);
	series_cut(&s, &b);
	stats_diff(&row, &b, &a);
	ck_assert_uint_eq(row.samples, 1);
	ck_assert_int_eq(row.sample_sum_ns, 20000);
	ck_assert_int_eq(row.sample_min_ns, 20 * US);
	ck_assert_int_eq(row.sample_max_ns, 20 * US);
	/* nothing came: it adds nothing to the row that it joins */
	series_cut(&s, &a);
	stats_join_rows(&row, &a);
	ck_assert_int_eq(row.sample_min_ns, 20 * US);
	ck_assert_int_eq(row.sample_max_ns, 20 * US);
}
END_TEST

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, standard deviation 2 (of all of them). */
START_TEST(mean_and_deviation_are_those_of_the_textbook)
{
	static const int64_t values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct stats_snap snap = { 0 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		series_add(&s, values[i] * US);
	series_snap(&s, &snap);
	ck_assert_double_eq(stats_sample_mean(&snap), 5000);
	ck_assert_double_eq_tol(stats_sample_deviation(&snap), 2000, 1e-6);
	snap = (struct stats_snap){ 0 };
	ck_assert_double_eq(stats_sample_mean(&snap), 0);
	ck_assert_double_eq(stats_sample_deviation(&snap), 0);
}
END_TEST

/* 1 to 1000 us: nearest rank, within the histogram's 0.8 %. */
START_TEST(quantiles_are_of_the_values_themselves)
{
	struct stats_delay d;

	for (int64_t i = N; i > 0; i--)
		series_add(&s, i * US);
	series_delay(&s, &d);
	ck_assert(d.known);
	ck_assert_uint_eq(d.count, N);
	ck_assert_int_eq(d.min_ns, 1 * US);
	ck_assert_int_eq(d.max_ns, 1000 * US);
	ck_assert_int_eq(d.mean_ns, 500500);
	ck_assert_double_eq_tol((double)d.p50_ns, 500e3, 500e3 / 126);
	ck_assert_double_eq_tol((double)d.p99_ns, 990e3, 990e3 / 126);
	ck_assert_double_eq_tol((double)d.p999_ns, 999e3, 999e3 / 126);
}
END_TEST

START_TEST(none_is_not_known)
{
	struct stats_delay d;

	series_delay(&s, &d);
	ck_assert(!d.known);
	ck_assert_int_eq(d.max_ns, 0);
}
END_TEST

START_TEST(sums_have_the_extremes_of_both)
{
	struct stats_snap sum = { 0 }, a = { 0 }, b = { 0 };
	struct series other;

	series_add(&s, 5 * US);
	series_snap(&s, &a);
	series_init(&other);
	series_add(&other, 9 * US);
	series_snap(&other, &b);
	stats_sum(&sum, &b);
	ck_assert_int_eq(sum.sample_min_ns, 9 * US);
	stats_sum(&sum, &a);
	ck_assert_uint_eq(sum.samples, 2);
	ck_assert_int_eq(sum.sample_min_ns, 5 * US);
	ck_assert_int_eq(sum.sample_max_ns, 9 * US);
}
END_TEST

static void *add_many(void *arg)
{
	(void)arg;
	for (int64_t i = 1; i <= 200000; i++)
		series_add(&s, i);
	return NULL;
}

/* Whenever the rows end, each value is within the extremes of some row. */
START_TEST(cuts_lose_no_extreme)
{
	struct stats_snap before = { 0 }, now = { 0 }, row;
	int64_t highest = 0;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, add_many, NULL), 0);
	for (bool last = false; !last; before = now) {
		last = before.samples == 200000;
		series_cut(&s, &now);
		stats_diff(&row, &now, &before);
		if (now.sample_max_ns > highest)
			highest = now.sample_max_ns;
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(highest, 200000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("series");
	TCase *t = tcase_create("series");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, rows_have_their_own_extremes);
	tcase_add_test(t, mean_and_deviation_are_those_of_the_textbook);
	tcase_add_test(t, quantiles_are_of_the_values_themselves);
	tcase_add_test(t, none_is_not_known);
	tcase_add_test(t, sums_have_the_extremes_of_both);
	tcase_add_test(t, cuts_lose_no_extreme);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
