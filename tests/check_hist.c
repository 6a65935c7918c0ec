/*
 * check_hist: quantiles of delays above the lowest, against the sorted values
 * themselves.
 */
#include "hist.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define MANY 100000
#define MS 1000000

/* Pseudo random, the same in each run (xorshift64). */
static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* Value number i of n, by shape. */
static int64_t flat(int i)
{
	(void)i;
	return (int64_t)(uniform() * 10 * MS);
}

static int64_t lognormal(int i)
{
	double normal = sqrt(-2 * log(uniform() + 1e-300)) *
			cos(6.283185307179586 * uniform());

	(void)i;
	return (int64_t)(50000 * exp(normal));
}

static int64_t two_paths(int i)
{
	return (i % 10 == 0 ? 80 * MS : 200000) + (int64_t)(uniform() * 5000);
}

/* A queue that drains: the lowest value falls for the whole first half. */
static int64_t falling(int i)
{
	int64_t queue_ns = i < MANY / 2 ? (MANY / 2 - i) * INT64_C(2000) : 0;

	return queue_ns + (int64_t)(uniform() * 20000);
}

/* 50 ppm between the clocks, a datagram each 100 us. */
static int64_t drift(int i)
{
	return -(int64_t)i * 5 + (int64_t)(uniform() * 30000);
}

static int64_t hours_apart(int i)
{
	return INT64_C(-7200000000000) + flat(i);
}

static int64_t constant(int i)
{
	(void)i;
	return 12345;
}

static int64_t (*const shapes[])(int i) = { flat,    lognormal,   two_paths,
					    falling, hours_apart, drift,
					    constant };

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The error that the header states, and the rounding to whole ns. */
static double tolerance(double delay_ns)
{
	return delay_ns / HIST_ERROR_PART + 1;
}

static const unsigned permilles[] = { 1, 100, 500, 900, 950, 990, 999 };

START_TEST(quantiles_are_those_of_the_sorted_values)
{
	static struct hist h;
	static int64_t value[MANY];
	double sum = 0;

	state = 88172645463325252u;
	hist_init(&h);
	for (int i = 0; i < MANY; i++) {
		value[i] = shapes[_i](i);
		hist_add(&h, value[i]);
	}
	qsort(value, MANY, sizeof(value[0]), compare);
	for (int i = 0; i < MANY; i++)
		sum += (double)(value[i] - value[0]);
	for (int q = 0; q < COUNT(permilles); q++) {
		size_t rank = (size_t)MANY / 1000 * permilles[q];
		double exact = (double)(value[rank - 1] - value[0]);
		double got = (double)hist_quantile(&h, permilles[q]);

		ck_assert_msg(fabs(got - exact) <= tolerance(exact),
			      "shape %d p%u: %.0f, not %.0f", _i, permilles[q],
			      got, exact);
	}
	ck_assert_int_eq(hist_quantile(&h, 1000), value[MANY - 1] - value[0]);
	ck_assert_int_eq(h.min_ns, value[0]);
	ck_assert_double_eq_tol((double)hist_mean(&h), sum / MANY, 1.0);
}
END_TEST

START_TEST(nearest_rank)
{
	static struct hist h;

	hist_init(&h);
	ck_assert_int_eq(hist_quantile(&h, 500), 0);
	ck_assert_int_eq(hist_mean(&h), 0);
	for (int64_t v = 0; v < 10; v++)
		hist_add(&h, v);
	ck_assert_int_eq(hist_quantile(&h, 0), 0);
	ck_assert_int_eq(hist_quantile(&h, 100), 0);
	ck_assert_int_eq(hist_quantile(&h, 101), 1);
	ck_assert_int_eq(hist_quantile(&h, 500), 4);
	ck_assert_int_eq(hist_quantile(&h, 501), 5);
	ck_assert_int_eq(hist_quantile(&h, 990), 9);
	ck_assert_int_eq(hist_quantile(&h, 1000), 9);
	ck_assert_int_eq(hist_mean(&h), 4);
}
END_TEST

START_TEST(bins_hold_every_value_once)
{
	static struct hist h;
	struct hist_bin bin;
	uint64_t count = 0;
	int64_t end_ns = 0;

	state = 42;
	hist_init(&h);
	for (int i = 0; i < MANY; i++)
		hist_add(&h, shapes[_i](i));
	for (size_t at = 0; hist_next(&h, &at, &bin);) {
		ck_assert_int_ge(bin.low_ns, end_ns);
		ck_assert_int_gt(bin.high_ns, bin.low_ns);
		end_ns = bin.high_ns;
		count += bin.count;
	}
	ck_assert_uint_eq(count, MANY);
	ck_assert_uint_eq(h.count, MANY);
}
END_TEST

START_TEST(extremes_stay_within_bounds)
{
	static const int64_t extremes[] = {
		0, INT64_MAX,        INT64_MIN,          -1,
		1, INT64_C(1) << 40, -(INT64_C(1) << 40)
	};
	static struct hist h;
	struct hist_bin bin;
	uint64_t count = 0;

	hist_init(&h);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < COUNT(extremes); i++)
			hist_add(&h, extremes[i]);
	}
	for (unsigned p = 0; p <= 1000; p += 50)
		ck_assert_int_ge(hist_quantile(&h, p), 0);
	ck_assert_int_ge(hist_mean(&h), 0);
	for (size_t at = 0; hist_next(&h, &at, &bin);)
		count += bin.count;
	ck_assert_uint_eq(count, 3 * COUNT(extremes));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hist");
	TCase *t = tcase_create("hist");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, quantiles_are_those_of_the_sorted_values, 0,
			    COUNT(shapes));
	tcase_add_test(t, nearest_rank);
	tcase_add_loop_test(t, bins_hold_every_value_once, 0, COUNT(shapes));
	tcase_add_test(t, extremes_stay_within_bounds);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
