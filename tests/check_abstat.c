/*
 * check_abstat: published examples, identities, and simulated experiments.
 */
#include "abstat.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "abplan.h"
#include "quantile.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define NEAR 1e-9

/* The two samples of ministat's manual page. */
static const double iguana[] = { 50, 200, 150, 400, 750, 400, 150 };
static const double chameleon[] = { 150, 400, 720, 500, 930 };

/* Hours of sleep gained by ten patients with either of two drugs (Student
 * 1908, table of Cushny and Peebles); the results are in any textbook. */
static const double drug_1[] = { 0.7, -1.6, -0.2, -1.2, -0.1,
				 3.4, 3.7,  0.8,  0.0,  2.0 };
static const double drug_2[] = { 1.9, 0.8, 1.1, 0.1, -0.1,
				 4.4, 5.5, 1.6, 4.6, 3.4 };

START_TEST(summary_of_a_sample)
{
	struct abstat_summary s;

	abstat_summarize(iguana, COUNT(iguana), &s);
	ck_assert_uint_eq(s.n, 7);
	ck_assert_double_eq(s.min, 50);
	ck_assert_double_eq(s.max, 750);
	ck_assert_double_eq(s.median, 200);
	ck_assert_double_eq(s.mean, 300);
	ck_assert_double_eq_tol(s.stddev, 238.04761, 5e-6);
	abstat_summarize(chameleon, COUNT(chameleon), &s);
	ck_assert_double_eq(s.median, 500);
	ck_assert_double_eq(s.mean, 540);
	ck_assert_double_eq_tol(s.stddev, 299.08193, 5e-6);
	abstat_summarize(drug_2, COUNT(drug_2), &s);
	ck_assert_double_eq_tol(s.median, 1.75, NEAR);
}
END_TEST

START_TEST(summary_of_none_one_and_equal_ones)
{
	static const double equal[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	static double large[ABSTAT_MAX];
	struct abstat_summary s;

	abstat_summarize(equal, 0, &s);
	ck_assert_uint_eq(s.n, 0);
	ck_assert_double_eq(s.mean, 0);
	ck_assert_double_eq(s.stddev, 0);
	abstat_summarize(equal, 1, &s);
	ck_assert_double_eq(s.min, 0.1);
	ck_assert_double_eq(s.median, 0.1);
	ck_assert_double_eq(s.mean, 0.1);
	ck_assert_double_eq(s.stddev, 0);
	abstat_summarize(equal, COUNT(equal), &s);
	ck_assert_double_eq(s.mean, 0.1);
	ck_assert_double_eq(s.stddev, 0);

	/* 100 Gbit/s, give or take 1 bit/s */
	for (size_t i = 0; i < ABSTAT_MAX; i++)
		large[i] = 1e11 + (i % 2 == 0 ? 1 : -1);
	abstat_summarize(large, ABSTAT_MAX, &s);
	ck_assert_double_eq(s.mean, 1e11);
	ck_assert_double_eq(s.median, 1e11);
	ck_assert_double_eq_tol(s.stddev, sqrt(10000.0 / 9999), NEAR);
}
END_TEST

/*
 * The manual page has 240 +/- 212.215 and 80% +/- 70.7384% at 80 %, with a
 * quantile of a table, 1.372 to three digits (1.37218 with more: 212.243).
 */
START_TEST(ministat_is_reproduced)
{
	struct abstat_diff d;

	abstat_pooled(iguana, COUNT(iguana), chameleon, COUNT(chameleon), &d);
	ck_assert_double_eq_tol(d.stddev, 264.159, 5e-4);
	ck_assert_double_eq(d.df, 10);
	ck_assert_double_eq(d.mean, 240);
	ck_assert_double_eq(abstat_percent(&d, d.mean), 80);

	double half = abstat_half(&d, 0.8);
	double by_table = half / quantile_t(0.1, 10) * 1.372;

	ck_assert_double_eq_tol(by_table, 212.215, 5e-4);
	ck_assert_double_eq_tol(abstat_percent(&d, by_table), 70.7384, 5e-5);
	ck_assert_double_eq_tol(half, 212.243, 5e-4);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.8), ABSTAT_HIGHER);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_CANNOT_TELL);
	abstat_pooled(chameleon, COUNT(chameleon), iguana, COUNT(iguana), &d);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.8), ABSTAT_LOWER);
}
END_TEST

START_TEST(sleep_paired)
{
	struct abstat_diff d;

	abstat_paired(drug_1, drug_2, COUNT(drug_1), &d);
	ck_assert_double_eq_tol(d.base, 0.75, NEAR);
	ck_assert_double_eq_tol(d.mean, 1.58, NEAR);
	ck_assert_double_eq_tol(d.mean / d.se, 4.0621, 5e-5);
	ck_assert_double_eq(d.df, 9);
	ck_assert_double_eq_tol(abstat_p(&d), 0.002833, 5e-7);
	ck_assert_double_eq_tol(d.mean - abstat_half(&d, 0.95), 0.7001142,
				5e-8);
	ck_assert_double_eq_tol(d.mean + abstat_half(&d, 0.95), 2.4598858,
				5e-8);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_HIGHER);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.999), ABSTAT_CANNOT_TELL);
}
END_TEST

START_TEST(sleep_unpaired)
{
	struct abstat_diff d;

	abstat_welch(drug_1, COUNT(drug_1), drug_2, COUNT(drug_2), &d);
	ck_assert_double_eq_tol(d.mean / d.se, 1.8608, 5e-5);
	ck_assert_double_eq_tol(d.df, 17.776, 5e-4);
	ck_assert_double_eq_tol(abstat_p(&d), 0.07939, 5e-6);
	ck_assert_double_eq_tol(d.mean - abstat_half(&d, 0.95), -0.2054832,
				5e-8);
	ck_assert_double_eq_tol(d.mean + abstat_half(&d, 0.95), 3.3654832,
				5e-8);
	abstat_pooled(drug_1, COUNT(drug_1), drug_2, COUNT(drug_2), &d);
	ck_assert_double_eq(d.df, 18);
	ck_assert_double_eq_tol(abstat_p(&d), 0.07919, 5e-6);
	ck_assert_double_eq_tol(d.mean - abstat_half(&d, 0.95), -0.203874,
				5e-7);
}
END_TEST

/*
 * By hand: differences 0 2 0 2 have the mean 1, variance 4/3, standard error
 * sqrt(1/3) and 3 degrees of freedom, whose tail in closed form is
 * 1/2 - (u / (1 + u^2) + atan u) / pi with u = t / sqrt 3.  A margin of 3 is
 * t = 2 / sqrt(1/3), u = 2: p = 1/2 - (2/5 + atan 2) / pi = 0.020260; a margin
 * of 1.5 is u = 1/2: p = 1/2 - (2/5 + atan 1/2) / pi = 0.225092.
 */
START_TEST(two_one_sided_tests)
{
	static const double base[] = { 10, 11, 12, 13 };
	static const double up[] = { 10, 13, 12, 15 };
	static const double down[] = { 10, 9, 12, 11 };
	static const double *const others[] = { up, down };

	for (size_t i = 0; i < COUNT(others); i++) {
		struct abstat_diff d;

		abstat_paired(base, others[i], 4, &d);
		ck_assert_double_eq_tol(abstat_p_same(&d, 3), 0.020260, 5e-7);
		ck_assert_double_eq_tol(abstat_p_same(&d, 1.5), 0.225092, 5e-7);
		ck_assert_double_eq_tol(abstat_p_same(&d, 1), 0.5, NEAR);
		ck_assert_double_gt(abstat_p_same(&d, 0.5), 0.5);
		ck_assert_double_eq(abstat_p_same(&d, 0), 1);
		ck_assert_int_eq(abstat_judge(&d, 3, 0.95), ABSTAT_SAME);
		ck_assert_int_eq(abstat_judge(&d, 1.5, 0.95),
				 ABSTAT_CANNOT_TELL);
	}
}
END_TEST

START_TEST(equivalence_is_the_interval_at_90_within_the_margin)
{
	struct abstat_diff d;

	abstat_paired(drug_1, drug_2, COUNT(drug_1), &d);

	double edge = d.mean + abstat_half(&d, 0.9);

	ck_assert_double_eq_tol(abstat_p_same(&d, edge), 0.05, NEAR);
	ck_assert_int_eq(abstat_judge(&d, edge * 1.0001, 0.95), ABSTAT_SAME);
	ck_assert_int_eq(abstat_judge(&d, edge * 0.9999, 0.95), ABSTAT_HIGHER);
}
END_TEST

/* Differences 1 and 1.2 by turns: proven, and smaller than a margin of 5. */
START_TEST(a_proven_difference_within_the_margin_is_the_same)
{
	double base[8];
	double other[8];
	struct abstat_diff d;

	for (int i = 0; i < 8; i++) {
		base[i] = 100 + i;
		other[i] = base[i] - (i % 2 == 0 ? 1 : 1.2);
	}
	abstat_paired(base, other, 8, &d);
	ck_assert_double_lt(abstat_p(&d), 1e-6);
	ck_assert_int_eq(abstat_judge(&d, 5, 0.95), ABSTAT_SAME);
	ck_assert_int_eq(abstat_judge(&d, 1, 0.95), ABSTAT_LOWER);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_LOWER);
}
END_TEST

START_TEST(too_few_values_tell_nothing)
{
	static const double a[] = { 1, 2 };
	static const double b[] = { 4, 6 };
	struct abstat_diff d;

	for (size_t n = 0; n < 2; n++) {
		abstat_paired(a, b, n, &d);
		ck_assert_double_eq(d.mean, n == 0 ? 0 : 3);
		ck_assert_double_eq(abstat_p(&d), 1);
		ck_assert_double_eq(abstat_p_same(&d, 100), 1);
		ck_assert_double_eq(abstat_half(&d, 0.95), INFINITY);
		ck_assert_int_eq(abstat_judge(&d, 100, 0.95),
				 ABSTAT_CANNOT_TELL);
		abstat_widen(&d);
		ck_assert_double_eq(d.se, 0);
		abstat_welch(a, n, b, 2, &d);
		ck_assert_double_eq(abstat_p(&d), 1);
		abstat_pooled(a, 2, b, n, &d);
		ck_assert_double_eq(abstat_half(&d, 0.95), INFINITY);
	}
	abstat_paired(a, b, 2, &d); /* 3 and 4: t = 7, df 1 */
	ck_assert_double_eq_tol(abstat_p(&d), 2 * atan2(1, 7) / acos(-1), NEAR);
}
END_TEST

/* Five rounds without a lost datagram, and one lost in each of the others:
 * 2 of 32 signs, then 2 of 64. */
START_TEST(no_scatter_is_no_proof_before_six_rounds)
{
	static const double none[7] = { 0 };
	static const double one[] = { 1, 1, 1, 1, 1, 1, 1 };
	struct abstat_diff d;

	abstat_paired(none, one, 5, &d);
	ck_assert_double_eq(abstat_p(&d), 0.0625);
	ck_assert_double_eq(abstat_half(&d, 0.95), INFINITY);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_CANNOT_TELL);
	abstat_paired(none, one, 6, &d);
	ck_assert_double_eq(abstat_p(&d), 0.03125);
	ck_assert_double_eq(abstat_half(&d, 0.95), 0);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_HIGHER);
	ck_assert_int_eq(abstat_judge(&d, 1, 0.95), ABSTAT_HIGHER);
	ck_assert_int_eq(abstat_judge(&d, 2, 0.95), ABSTAT_SAME);

	abstat_paired(none, none, 5, &d);
	ck_assert_double_eq(abstat_p(&d), 1);
	ck_assert_int_eq(abstat_judge(&d, 1, 0.95), ABSTAT_CANNOT_TELL);
	abstat_paired(none, none, 6, &d);
	ck_assert_int_eq(abstat_judge(&d, 1, 0.95), ABSTAT_SAME);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_CANNOT_TELL);

	abstat_welch(none, 3, one, 4, &d); /* 2 of 7 over 3 = 35 */
	ck_assert_double_eq_tol(abstat_p(&d), 2.0 / 35, NEAR);
	abstat_pooled(none, 4, one, 4, &d);
	ck_assert_double_eq_tol(abstat_p(&d), 2.0 / 70, NEAR);
	abstat_welch(none, 7, drug_1, COUNT(drug_1), &d); /* one scatters */
	ck_assert_double_eq_tol(d.df, 9, NEAR);
}
END_TEST

START_TEST(percent_of_the_baseline)
{
	struct abstat_diff d = { .base = -200 };

	ck_assert_double_eq(abstat_percent(&d, 10), 5);
	ck_assert_double_eq(abstat_of_base(&d, 5), 10);
	d.base = 0;
	ck_assert_double_eq(abstat_percent(&d, 0), 0);
	ck_assert_double_eq(abstat_percent(&d, 3), INFINITY);
	ck_assert_double_eq(abstat_percent(&d, -3), -INFINITY);
	ck_assert_double_eq(abstat_of_base(&d, 5), 0);
}
END_TEST

START_TEST(a_round_left_out)
{
	static const double base[] = { 5, 1, 2, 3 };
	static const double other[] = { 9, 2, 4, 4 };
	struct abstat_diff without;
	struct abstat_diff d;

	abstat_paired(base + 1, other + 1, 3, &d);
	abstat_paired_without(base, other, 4, 0, &without);
	ck_assert_uint_eq(without.n, 3);
	ck_assert_double_eq_tol(without.base, d.base, NEAR);
	ck_assert_double_eq_tol(without.mean, d.mean, NEAR);
	ck_assert_double_eq_tol(without.se, d.se, NEAR);
	abstat_paired(base, other, 3, &d);
	abstat_paired_without(base, other, 4, 3, &without);
	ck_assert_double_eq_tol(without.mean, d.mean, NEAR);
	ck_assert_double_eq_tol(abstat_p(&without), abstat_p(&d), NEAR);
	/* what is left has no scatter at all */
	static const double zero[4] = { 0 };
	static const double apart[] = { 1e9, 0.1, 0.1, 0.1 };

	abstat_paired_without(zero, apart, 4, 0, &without);
	ck_assert_double_eq(without.mean, 0.1);
	ck_assert_double_eq(without.se, 0);
	abstat_paired_without(base, other, 1, 0, &without);
	ck_assert_uint_eq(without.n, 0);
	ck_assert_double_eq(abstat_p(&without), 1);
}
END_TEST

/* Sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which is not less
 * certain than 0.03 was. */
START_TEST(holm)
{
	static const double p[] = { 0.01, 0.04, 0.03, 0.005 };
	static const double want[] = { 0.03, 0.06, 0.06, 0.02 };
	static const double ties[] = { 0.02, 0.5, 0.02, 0.9 };
	static const double want_ties[] = { 0.08, 1, 0.08, 1 };
	double got[4];

	abstat_holm(p, 4, got);
	for (int i = 0; i < 4; i++)
		ck_assert_double_eq_tol(got[i], want[i], NEAR);
	abstat_holm(ties, 4, got);
	for (int i = 0; i < 4; i++)
		ck_assert_double_eq_tol(got[i], want_ties[i], NEAR);
	abstat_holm(p, 1, got);
	ck_assert_double_eq(got[0], p[0]);
}
END_TEST

/* Sleep, with a p of 0.0028, stays proven among 10; mean 1.5, variance 1.9, so
 * t = 2.67 with df 5, a p of 0.045, only alone. */
START_TEST(a_family_asks_for_more)
{
	static const double base[] = { 0, 0, 0, 0, 0, 0 };
	static const double weak[] = { 0, 3, 1, 2, 0, 3 };
	struct abstat_comparison c[10];
	struct abstat_diff d;

	abstat_paired(base, weak, 6, &d);
	ck_assert_double_gt(abstat_p(&d), 0.025);
	ck_assert_int_eq(abstat_judge(&d, 0, 0.95), ABSTAT_HIGHER);
	for (int i = 0; i < 10; i++)
		c[i] = (struct abstat_comparison){ .diff = d };
	abstat_family(c, 1, 0.95);
	ck_assert_int_eq(c[0].verdict, ABSTAT_HIGHER);
	ck_assert_double_eq(c[0].p, abstat_p(&d));

	abstat_paired(drug_1, drug_2, COUNT(drug_1), &c[3].diff);
	c[5].margin = 100;
	abstat_family(c, 10, 0.95);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(c[i].verdict, i == 3   ? ABSTAT_HIGHER
					       : i == 5 ? ABSTAT_SAME
							: ABSTAT_CANNOT_TELL);
	}
	ck_assert_double_eq_tol(c[3].p, 10 * abstat_p(&c[3].diff), NEAR);
	ck_assert_double_eq_tol(abstat_level(0.95, 10), 0.995, NEAR);
	ck_assert_double_eq_tol(abstat_level(0.95, 1), 0.95, NEAR);
}
END_TEST

START_TEST(verdicts_have_names)
{
	ck_assert_str_eq(abstat_verdict_name(ABSTAT_HIGHER), "higher");
	ck_assert_str_eq(abstat_verdict_name(ABSTAT_LOWER), "lower");
	ck_assert_str_eq(abstat_verdict_name(ABSTAT_SAME), "same");
	ck_assert_str_eq(abstat_verdict_name(ABSTAT_CANNOT_TELL),
			 "cannot tell");
}
END_TEST

/*
 * Simulated experiments: runs one after the other, in the order that abplan
 * gives, each measuring its arm's true value plus noise that comes with time.
 */
#define EXPERIMENTS 2000
#define ROUNDS 8
#define TRUTH 3.0 /* how much higher arm 1 is */

static uint64_t state;

/* 0 < uniform < 1, the same in each run (xorshift64). */
static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Noise of run t since the experiment's start, of a stddev near 1. */
static double plain(int t)
{
	(void)t;
	return normal();
}

/* One run in 20 meets something that costs 10 stddev on the average. */
static double outliers(int t)
{
	double hit = uniform() < 0.05 ? 10 * log(uniform()) : 0;

	(void)t;
	return normal() + hit;
}

/* Half a stddev each run: 8 over an experiment. */
static double drift(int t)
{
	return normal() + 0.5 * t;
}

/* Each run keeps 0.8 of what the last one had. */
static double autocorrelated(int t)
{
	static double level;

	level = t == 0 ? normal() : 0.8 * level + 0.6 * normal();
	return level;
}

/* Either in the order that abplan gives, or arm 0 first in each round. */
static void simulate(double (*noise)(int t), uint64_t seed, bool planned,
		     double truth, double arm[2][ROUNDS])
{
	for (int r = 0; r < ROUNDS; r++) {
		uint8_t order[2] = { 0, 1 };

		if (planned)
			abplan_order(seed, 2, (uint64_t)r, order);
		for (int i = 0; i < 2; i++) {
			int a = order[i];

			arm[a][r] = 100 + a * truth + noise(2 * r + i);
		}
	}
}

static bool covers(const struct abstat_diff *d)
{
	return fabs(d->mean - TRUTH) <= abstat_half(d, 0.95);
}

/*
 * The share of experiments whose interval of 95 % holds the truth, paired and
 * by Welch, as measured with these very numbers; another libm may move one or
 * two experiments.  With normal noise it has to be near 95 %.  Outliers widen
 * more intervals than they move.  A drift cancels in a block, but counts as
 * scatter: intervals are wider than they need be, far more so unpaired; in
 * fixed order it is taken for a difference.
 */
static const struct {
	double (*noise)(int t);
	bool planned;
	double paired, welch;
} coverages[] = {
	{ plain, true, 0.9485, 0.9585 },
	{ plain, false, 0.952, 0.9575 },
	{ outliers, true, 0.9595, 0.964 },
	{ drift, true, 0.9635, 1 },
	{ drift, false, 0.87, 1 },
	{ autocorrelated, true, 0.9405, 0.996 },
};

START_TEST(coverage_is_as_stated)
{
	unsigned paired = 0;
	unsigned welch = 0;

	state = 88172645463325252u;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double arm[2][ROUNDS];
		struct abstat_diff d;

		simulate(coverages[_i].noise, e, coverages[_i].planned, TRUTH,
			 arm);
		abstat_paired(arm[0], arm[1], ROUNDS, &d);
		paired += covers(&d);
		abstat_welch(arm[0], ROUNDS, arm[1], ROUNDS, &d);
		welch += covers(&d);
	}
	if (coverages[_i].noise == plain) {
		ck_assert_uint_ge(paired, EXPERIMENTS * 93 / 100);
		ck_assert_uint_le(paired, EXPERIMENTS * 97 / 100);
	}
	ck_assert_double_eq_tol((double)paired / EXPERIMENTS,
				coverages[_i].paired, 0.0025);
	ck_assert_double_eq_tol((double)welch / EXPERIMENTS,
				coverages[_i].welch, 0.0025);
}
END_TEST

/* The share of experiments with this verdict, in percent. */
static double percent_with(enum abstat_verdict verdict, double truth,
			   double margin)
{
	unsigned hits = 0;

	state = 88172645463325252u;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double arm[2][ROUNDS];
		struct abstat_diff d;

		simulate(plain, e, true, truth, arm);
		abstat_paired(arm[0], arm[1], ROUNDS, &d);
		hits += abstat_judge(&d, margin, 0.95) == verdict;
	}
	return 100.0 * hits / EXPERIMENTS;
}

/* Bounds are four standard errors of 2000 draws away from what must be. */
START_TEST(verdicts_err_and_find_as_often_as_they_may)
{
	double seen = abplan_detectable(sqrt(2), ROUNDS, 0.95, 0.8);
	double half = abplan_detectable(sqrt(2), ROUNDS, 0.95, 0.5);

	ck_assert_double_eq_tol(percent_with(ABSTAT_HIGHER, 0, 0), 2.5, 1.4);
	ck_assert_double_eq_tol(percent_with(ABSTAT_LOWER, 0, 0), 2.5, 1.4);
	/* exact powers, by the noncentral t: 79.8 and 53.1 % */
	ck_assert_double_eq_tol(percent_with(ABSTAT_HIGHER, seen, 0), 79.8,
				3.6);
	ck_assert_double_eq_tol(percent_with(ABSTAT_LOWER, -half, 0), 53.1,
				4.5);
	/* as large as the margin: at most 5 % say "same"; near 0 most do */
	ck_assert_double_lt(percent_with(ABSTAT_SAME, 2, 2), 7);
	ck_assert_double_lt(percent_with(ABSTAT_SAME, -2, 2), 7);
	ck_assert_double_gt(percent_with(ABSTAT_SAME, 0, 2), 90);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abstat");
	TCase *t = tcase_create("abstat");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, summary_of_a_sample);
	tcase_add_test(t, summary_of_none_one_and_equal_ones);
	tcase_add_test(t, ministat_is_reproduced);
	tcase_add_test(t, sleep_paired);
	tcase_add_test(t, sleep_unpaired);
	tcase_add_test(t, two_one_sided_tests);
	tcase_add_test(t, equivalence_is_the_interval_at_90_within_the_margin);
	tcase_add_test(t, a_proven_difference_within_the_margin_is_the_same);
	tcase_add_test(t, too_few_values_tell_nothing);
	tcase_add_test(t, no_scatter_is_no_proof_before_six_rounds);
	tcase_add_test(t, percent_of_the_baseline);
	tcase_add_test(t, a_round_left_out);
	tcase_add_test(t, holm);
	tcase_add_test(t, a_family_asks_for_more);
	tcase_add_test(t, verdicts_have_names);
	tcase_add_loop_test(t, coverage_is_as_stated, 0, COUNT(coverages));
	tcase_add_test(t, verdicts_err_and_find_as_often_as_they_may);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
