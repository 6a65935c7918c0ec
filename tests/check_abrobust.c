/*
 * check_abrobust: published examples, sums over all signs and all pairs, and
 * experiments whose verdict hangs on one round or does not.
 */
#include "abrobust.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define NEAR 1e-12

static const struct abrobust_rule rule = { .confidence = 0.95 };

/* Of differences alone: the baseline is 0. */
static struct abrobust checked(const double *d, size_t n)
{
	static const double base[ABSTAT_MAX];
	struct abrobust r;

	abrobust_check(base, d, n, &rule, &r);
	return r;
}

/* Depression scale of nine patients before and after a tranquilizer
 * (Hollander and Wolfe 1973, example 3.1): estimate -0.46, p 0.0390625. */
START_TEST(hollander_and_wolfe)
{
	static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68,
					 1.88, 1.55, 3.06, 1.30 };
	static const double after[] = { 0.878, 0.647, 0.598, 2.05, 1.06,
					1.29,  1.06,  3.14,  1.29 };
	struct abrobust r;

	abrobust_check(before, after, COUNT(before), &rule, &r);
	ck_assert_double_eq_tol(r.shift, -0.46, NEAR);
	ck_assert_double_eq_tol(r.p, 0.0390625, NEAR);
	ck_assert(r.exact);
}
END_TEST

/* Student's sleep data: nine of ten differ, all upwards: 2 of 512 signs. */
START_TEST(sleep)
{
	static const double d[] = { 1.2, 2.4, 1.3, 1.3, 0.0,
				    1.0, 1.8, 0.8, 4.6, 1.4 };
	struct abrobust r = checked(d, COUNT(d));

	ck_assert_double_eq_tol(r.shift, 1.3, NEAR);
	ck_assert_double_eq_tol(r.p, 2.0 / 512, NEAR);
}
END_TEST

/* Values 1 to n, the last of them negative; p by counting sums up to theirs in
 * whole numbers, or by erfc. */
static const struct {
	size_t n, negative;
	bool exact;
	double p;
} longer[] = {
	{ 30, 3, true, 0.0020201820880174637 },
	{ 50, 3, true, 3.256713547727941e-07 },
	{ 51, 7, false, 0.0022101430256230687 },
	{ 60, 11, false, 0.022701796331593575 },
};

START_TEST(p_of_more_rounds)
{
	double d[100];

	for (size_t i = 0; i < longer[_i].n; i++) {
		bool below = i >= longer[_i].n - longer[_i].negative;

		d[i] = (double)(i + 1) * (below ? -1 : 1);
	}

	struct abrobust r = checked(d, longer[_i].n);

	ck_assert_int_eq(r.exact, longer[_i].exact);
	ck_assert_double_eq_tol(r.p, longer[_i].p, longer[_i].p * 1e-9);
}
END_TEST

/* 1 to 30, each twice, and of 21 to 30 one negative: ranks 2v - 1/2, so 505 of
 * 1830 below 0; variance 60 * 61 * 121 / 24 - 30 * 6 / 48. */
START_TEST(shared_ranks_of_many)
{
	double d[60];
	double variance = 60.0 * 61 * 121 / 24 - 30 * 6 / 48.0;

	for (int i = 0; i < 60; i++)
		d[i] = i / 2 + 1;
	for (int i = 40; i < 60; i += 2)
		d[i] = -d[i];
	ck_assert_double_eq_tol(checked(d, 60).p,
				erfc(409.5 / sqrt(2 * variance)), NEAR);
}
END_TEST

static uint64_t state;

/* Whole numbers from -9 to 9, the same in each run (xorshift64). */
static double small_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state % 19) - 9;
}

/* Twice the mean rank of value i among those other than 0. */
static int doubled_rank(const double *d, int n, int i)
{
	int rank = 1;

	for (int j = 0; j < n; j++) {
		if (d[j] == 0)
			continue;
		rank += fabs(d[j]) < fabs(d[i]) ? 2 : 0;
		rank += fabs(d[j]) == fabs(d[i]) ? 1 : 0;
	}
	return d[i] != 0 ? rank : 0;
}

/* p by going through all signs; zeros have rank 0 and double every count. */
static double p_of_all_signs(const double *d, int n)
{
	int rank[10];
	int total = 0;
	int above = 0;
	int as_small = 0;

	for (int i = 0; i < n; i++) {
		rank[i] = doubled_rank(d, n, i);
		total += rank[i];
		above += d[i] > 0 ? rank[i] : 0;
	}
	for (int signs = 0; signs < 1 << n; signs++) {
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum += (signs >> i & 1) != 0 ? rank[i] : 0;
		as_small += sum <= above && sum <= total - above ? 1 : 0;
	}
	return fmin(2.0 * as_small / (1 << n), 1);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of_all_pairs(const double *d, int n)
{
	static double mean[5050];
	size_t m = 0;

	for (int i = 0; i < n; i++) {
		for (int j = i; j < n; j++)
			mean[m++] = (d[i] + d[j]) / 2;
	}
	qsort(mean, m, sizeof(mean[0]), ascending);
	return (mean[(m - 1) / 2] + mean[m / 2]) / 2;
}

START_TEST(ties_and_zeros_against_all_signs_and_pairs)
{
	double d[100];

	state = 88172645463325252u;
	for (int sample = 0; sample < 400; sample++) {
		int n = 1 + sample % 10;

		for (int i = 0; i < n; i++)
			d[i] = small_number();

		struct abrobust r = checked(d, (size_t)n);

		ck_assert_double_eq_tol(r.p, p_of_all_signs(d, n), NEAR);
		ck_assert_double_eq(r.shift, median_of_all_pairs(d, n));
		ck_assert_int_eq(signbit(r.shift) != 0, r.shift < 0);
	}
	for (int n = 90; n <= 100; n++) {
		for (int i = 0; i < n; i++)
			d[i] = small_number() * 1e9 + 1e-3;
		ck_assert_double_eq(checked(d, (size_t)n).shift,
				    median_of_all_pairs(d, n));
	}
}
END_TEST

START_TEST(none_and_nothing)
{
	static const double none[6] = { 0 };
	struct abrobust r = checked(none, 0);

	ck_assert_double_eq(r.shift, 0);
	ck_assert_double_eq(r.p, 1);
	ck_assert_uint_eq(r.decisive, 0);
	r = checked(none, 6);
	ck_assert_double_eq(r.shift, 0);
	ck_assert_double_eq(r.p, 1);
	ck_assert_uint_eq(r.decisive, 0);
}
END_TEST

/* Seven rounds are 1 lower, more or less, and in round 5 something else ran. */
START_TEST(an_outlier_decides)
{
	static const double d[] = { -1.0, -1.1, -0.9, -1.2,
				    -0.8, 9.0,  -1.0, -1.1 };
	struct abrobust r = checked(d, COUNT(d));
	struct abstat_diff all;
	static const double base[COUNT(d)];

	abstat_paired(base, d, COUNT(d), &all);
	ck_assert_int_eq(abstat_judge(&all, 0, 0.95), ABSTAT_CANNOT_TELL);
	ck_assert_uint_eq(r.decisive, 1);
	ck_assert_uint_eq(r.round, 5);
	ck_assert(r.outlier);
	ck_assert_int_eq(r.without, ABSTAT_LOWER);
	ck_assert_double_eq_tol(r.shift, -1.0, NEAR);
}
END_TEST

/* p is 0.0445 with all of them, and beyond 5 % without any that is not 0. */
START_TEST(a_close_verdict_has_no_outlier)
{
	static const double d[] = { 0, 3, 1, 2, 0, 3 };
	struct abrobust r = checked(d, COUNT(d));

	ck_assert_uint_gt(r.decisive, 1);
	ck_assert(!r.outlier);
	ck_assert_int_eq(r.without, ABSTAT_CANNOT_TELL);
}
END_TEST

/* Without 5, 3, 7 or 5 nothing is proven; of these 7 is farthest from 4. */
START_TEST(the_farthest_round_is_named)
{
	static const double d[] = { 0, 5, 3, 7, 5, 1 };
	struct abrobust r = checked(d, COUNT(d));

	ck_assert_uint_eq(r.decisive, 4);
	ck_assert_uint_eq(r.round, 3);
	ck_assert(!r.outlier);
}
END_TEST

START_TEST(a_clear_verdict_hangs_on_none)
{
	static const double base[] = { 10, 20, 30, 40, 50, 60, 70, 80 };
	static const double other[] = { 15, 26, 35, 44, 55, 66, 75, 84 };
	struct abrobust r;

	abrobust_check(base, other, COUNT(base), &rule, &r);
	ck_assert_uint_eq(r.decisive, 0);
	ck_assert_double_eq_tol(r.p, 2.0 / 256, NEAR);
}
END_TEST

/* Within 2 of each other, but for round 0; the margin is 3. */
START_TEST(the_rule_counts)
{
	static const double base[] = { 50, 50, 50, 50, 50, 50, 50, 50 };
	static const double other[] = { 62, 51, 49, 50, 51, 49, 50, 51 };
	struct abrobust_rule same = { .confidence = 0.95, .margin = 3 };
	struct abrobust r;

	abrobust_check(base, other, COUNT(base), &same, &r);
	ck_assert_uint_eq(r.decisive, 1);
	ck_assert_uint_eq(r.round, 0);
	ck_assert_int_eq(r.without, ABSTAT_SAME);
	ck_assert(r.outlier);

	/* a standard error 1 + 2/6 times as large proves nothing, nor one 1 +
	 * 2/5 times as large of any five of them */
	static const double d[] = { 0, 3, 1, 2, 0, 3 };
	static const double none[COUNT(d)];
	struct abrobust_rule widened = { .confidence = 0.95, .by_width = true };

	abrobust_check(none, d, COUNT(d), &widened, &r);
	ck_assert_uint_eq(r.decisive, 0);
}
END_TEST

START_TEST(as_many_rounds_as_there_may_be)
{
	static double d[ABSTAT_MAX];

	state = 88172645463325252u;
	for (int i = 0; i < ABSTAT_MAX; i++)
		d[i] = small_number() + 3;

	struct abrobust r = checked(d, ABSTAT_MAX);

	ck_assert_double_eq_tol(r.shift, 3, 0.51);
	ck_assert_uint_eq(r.decisive, 0);
	ck_assert_double_lt(r.p, 1e-100);
	ck_assert(!r.exact);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abrobust");
	TCase *t = tcase_create("abrobust");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, hollander_and_wolfe);
	tcase_add_test(t, sleep);
	tcase_add_loop_test(t, p_of_more_rounds, 0, COUNT(longer));
	tcase_add_test(t, shared_ranks_of_many);
	tcase_add_test(t, ties_and_zeros_against_all_signs_and_pairs);
	tcase_add_test(t, none_and_nothing);
	tcase_add_test(t, an_outlier_decides);
	tcase_add_test(t, a_close_verdict_has_no_outlier);
	tcase_add_test(t, the_farthest_round_is_named);
	tcase_add_test(t, a_clear_verdict_hangs_on_none);
	tcase_add_test(t, the_rule_counts);
	tcase_add_test(t, as_many_rounds_as_there_may_be);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
