/*
 * check_quantile: tails and quantiles against closed forms, published tables
 * and values worked out with 30 digits.
 */
#include "quantile.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define PI 3.14159265358979323846

#define ck_near(got, want, relative)                                           \
	ck_assert_double_eq_tol(got, want, fabs(want) * (relative))

/* t that leaves 5 %, 2.5 % and 0.5 % above it: the rows of any printed table
 * (df 10: 1.812, 2.228, 3.169), with digits from 30 digit arithmetic. */
static const struct {
	double df, t05, t025, t005;
} printed[] = {
	{ 1, 6.313751514675043, 12.7062047361747, 63.65674116287158 },
	{ 2, 2.919985580353726, 4.302652729749464, 9.924843200918293 },
	{ 3, 2.353363434801824, 3.18244630528371, 5.840909309733357 },
	{ 4, 2.13184678632665, 2.776445105197794, 4.604094871349993 },
	{ 5, 2.015048373333024, 2.570581835636316, 4.032142983555228 },
	{ 7, 1.894578605090007, 2.364624251592785, 3.499483297350494 },
	{ 10, 1.812461122811676, 2.228138851986275, 3.169272672616951 },
	{ 30, 1.697260886593958, 2.042272456301238, 2.749995653567225 },
	{ 120, 1.657650899355236, 1.979930405082441, 2.617421145106866 },
};

START_TEST(t_is_as_printed)
{
	ck_near(quantile_t(0.05, printed[_i].df), printed[_i].t05, 1e-12);
	ck_near(quantile_t(0.025, printed[_i].df), printed[_i].t025, 1e-12);
	ck_near(quantile_t(0.005, printed[_i].df), printed[_i].t005, 1e-12);
	ck_near(quantile_t_tail(printed[_i].t025, printed[_i].df), 0.025,
		1e-12);
	ck_near(quantile_t_tail(-printed[_i].t025, printed[_i].df), 0.975,
		1e-12);
}
END_TEST

static const struct {
	double t, df, tail;
} fractional[] = {
	{ 2, 2.5, 0.07869574787898299 },
	{ 1.5, 7.42, 0.08745341260656272 },
	{ 3, 1.5, 0.06677387712745663 },
	{ 2.5, 13.7, 0.01289232823568657 },
};

START_TEST(df_need_not_be_whole)
{
	ck_near(quantile_t_tail(fractional[_i].t, fractional[_i].df),
		fractional[_i].tail, 1e-12);
}
END_TEST

/* The distribution functions of df 1 to 4 in closed form, as tails that keep
 * their digits where they are small. */
static double closed_1(double t)
{
	return atan2(1, t) / PI;
}

static double closed_2(double t)
{
	double root = sqrt(2 + t * t);

	return 1 / (root * (root + t));
}

static double closed_4(double t)
{
	double s = t / sqrt(4 + t * t);
	double left = 4 / (4 + t * t) / (1 + s); /* 1 - s */

	return left * left * (2 + s) / 4;
}

START_TEST(closed_forms_hold_far_out)
{
	for (double t = 0; t < 1e6; t = t * 1.3 + 0.01) {
		ck_near(quantile_t_tail(t, 1), closed_1(t), 1e-12);
		ck_near(quantile_t_tail(t, 2), closed_2(t), 1e-12);
		ck_near(quantile_t_tail(t, 4), closed_4(t), 1e-12);
	}
	ck_assert_double_eq(quantile_t_tail(0, 3), 0.5);
	ck_assert_double_eq(quantile_t_tail(INFINITY, 3), 0);
	ck_assert_double_eq(quantile_t_tail(-INFINITY, 3), 1);
}
END_TEST

static const double dfs[] = { 1,  1.0001, 1.9, 3,    4.99, 8,
			      17, 29.5,   100, 1234, 20000 };
static const double tails[] = { 1e-12, 1e-6, 0.0005, 0.005, 0.025, 0.05, 0.1,
				0.25,  0.4,  0.499,  0.5,   0.7,   0.99 };

START_TEST(quantile_is_the_inverse_of_the_tail)
{
	for (int k = 0; k < COUNT(tails); k++) {
		double t = quantile_t(tails[k], dfs[_i]);

		ck_near(quantile_t_tail(t, dfs[_i]), tails[k], 1e-12);
		ck_near(quantile_normal_tail(quantile_normal(tails[k])),
			tails[k], 1e-12);
	}
}
END_TEST

/* More degrees of freedom, less tail, down to the normal one; to first order
 * the rest is density * (x^3 + x) / (4 df) (Fisher 1925). */
START_TEST(t_nears_the_normal)
{
	for (double x = 0.1; x < 4; x += 0.1) {
		double before = 0.5;
		double rest = exp(-x * x / 2) / sqrt(2 * PI) * (x * x * x + x) /
			      (4 * 20000);

		for (int i = 0; i < COUNT(dfs); i++) {
			double tail = quantile_t_tail(x, dfs[i]);

			ck_assert_double_lt(tail, before);
			before = tail;
		}
		ck_assert_double_eq_tol(before, quantile_normal_tail(x) + rest,
					1e-8);
	}
}
END_TEST

START_TEST(normal_is_as_printed)
{
	ck_near(quantile_normal(0.025), 1.9599639845400542, 1e-14);
	ck_near(quantile_normal(0.05), 1.6448536269514727, 1e-14);
	ck_near(quantile_normal(0.005), 2.5758293035489, 1e-14);
	ck_near(quantile_normal(1e-9), 5.9978070150076869, 1e-14);
	ck_near(quantile_normal(0.9), -1.2815515655446004, 1e-14);
	ck_near(quantile_normal_tail(1), 0.15865525393145705, 1e-14);
	ck_assert_double_eq(quantile_normal(0.5), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("quantile");
	TCase *t = tcase_create("quantile");

	tcase_add_loop_test(t, t_is_as_printed, 0, COUNT(printed));
	tcase_add_loop_test(t, df_need_not_be_whole, 0, COUNT(fractional));
	tcase_add_test(t, closed_forms_hold_far_out);
	tcase_add_loop_test(t, quantile_is_the_inverse_of_the_tail, 0,
			    COUNT(dfs));
	tcase_add_test(t, t_nears_the_normal);
	tcase_add_test(t, normal_is_as_printed);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
