/*
 * check_burst: the grid of bursts, and the sizes that they are drawn from.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../src/burst.h"

#define S INT64_C(1000000000)

/* 60 a second have no whole period; the grid has no drift for that. */
START_TEST(the_grid_does_not_drift)
{
	const struct burst_shape shape = { .per_1000s = 60000,
					   .mean_bytes = 1000 };
	struct burst b;

	burst_init(&b, &shape, 5 * S, 1);
	ck_assert_int_eq(burst_due(&b), 5 * S);
	ck_assert_uint_eq(burst_begin(&b, 1), 1000);
	ck_assert_int_eq(burst_due(&b), 5 * S + 16666666);
	for (int i = 1; i < 60 * 3600; i++)
		ck_assert_uint_eq(burst_begin(&b, 1), 1000);
	ck_assert_int_eq(burst_due(&b), 3605 * S);
}
END_TEST

/* 200000 draws: mean and deviation within four standard errors. */
START_TEST(sizes_have_the_mean_and_deviation_asked_for)
{
	const struct burst_shape shape = { .per_1000s = 1000,
					   .mean_bytes = 40000,
					   .stdev_bytes = 10000 };
	const int n = 200000;
	double sum = 0, squares = 0;
	struct burst b;

	burst_init(&b, &shape, 0, (uint64_t)_i);
	for (int i = 0; i < n; i++) {
		double bytes = (double)burst_begin(&b, 1);

		sum += bytes;
		squares += bytes * bytes;
	}
	ck_assert_double_eq_tol(sum / n, 40000, 4 * 10000 / sqrt(n));
	ck_assert_double_eq_tol(sqrt(squares / n - sum / n * sum / n), 10000,
				120);
}
END_TEST

START_TEST(no_burst_is_smaller_than_may_be)
{
	const struct burst_shape shape = { .per_1000s = 1000,
					   .mean_bytes = 100,
					   .stdev_bytes = 1000 };
	struct burst b;

	burst_init(&b, &shape, 0, 3);
	for (int i = 0; i < 1000; i++) {
		uint64_t bytes = burst_begin(&b, 92);

		ck_assert_uint_ge(bytes, 92);
		ck_assert_uint_le(bytes, 100000);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("burst");
	TCase *t = tcase_create("burst");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, the_grid_does_not_drift);
	tcase_add_loop_test(t, sizes_have_the_mean_and_deviation_asked_for, 1,
			    5);
	tcase_add_test(t, no_burst_is_smaller_than_may_be);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
