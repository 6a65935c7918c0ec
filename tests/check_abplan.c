/*
 * check_abplan: orders are balanced and come from the seed alone; how many
 * rounds it takes, and what the rule that stops costs, by simulation.
 */
#include "abplan.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define SEEDS 200
#define BLOCKS 6

/* How often each arm ran at each place, and right after each other one. */
struct tally {
	unsigned at[ABPLAN_ARMS_MAX][ABPLAN_ARMS_MAX];
	unsigned after[ABPLAN_ARMS_MAX][ABPLAN_ARMS_MAX];
};

static void tally_round(struct tally *t, uint64_t seed, unsigned arms,
			uint64_t round)
{
	uint8_t order[ABPLAN_ARMS_MAX];
	unsigned seen = 0;

	abplan_order(seed, arms, round, order);
	for (unsigned i = 0; i < arms; i++) {
		seen |= 1u << order[i];
		t->at[order[i]][i]++;
		if (i > 0)
			t->after[order[i - 1]][order[i]]++;
	}
	ck_assert_uint_eq(seen, (1u << arms) - 1);
}

static bool all_are(unsigned count[ABPLAN_ARMS_MAX][ABPLAN_ARMS_MAX],
		    unsigned arms, unsigned want, bool diagonal)
{
	for (unsigned i = 0; i < arms; i++) {
		for (unsigned j = 0; j < arms; j++) {
			if ((diagonal || i != j) && count[i][j] != want)
				return false;
		}
	}
	return true;
}

START_TEST(a_block_has_each_arm_once_at_each_place)
{
	unsigned arms = (unsigned)_i;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		for (uint64_t block = 0; block < BLOCKS; block++) {
			struct tally t = { 0 };

			for (unsigned r = 0; r < arms; r++)
				tally_round(&t, seed, arms, block * arms + r);
			ck_assert(all_are(t.at, arms, 1, true));
			if (arms % 2 == 0)
				ck_assert(all_are(t.after, arms, 1, false));
		}
	}
}
END_TEST

START_TEST(two_blocks_have_each_arm_twice_after_each_other)
{
	unsigned arms = (unsigned)_i;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct tally t = { 0 };

		for (unsigned r = 0; r < 2 * arms; r++)
			tally_round(&t, seed, arms, 2 * arms + r);
		ck_assert(all_are(t.after, arms, 2, false));
	}
}
END_TEST

/* Of 4000 first places: each arm 1 in arms, within five standard errors. */
START_TEST(chance_prefers_no_arm)
{
	unsigned arms = (unsigned)_i;
	struct tally t = { 0 };
	double draws = 4000;
	double want = draws / arms;

	for (uint64_t seed = 0; seed < (uint64_t)draws; seed++)
		tally_round(&t, seed << 32, arms, seed % (3 * arms));
	for (unsigned a = 0; a < arms; a++) {
		ck_assert_double_eq_tol(t.at[a][0], want,
					5 * sqrt(want * (1 - 1.0 / arms)));
	}
}
END_TEST

static void first_rounds(uint64_t seed, unsigned arms, uint8_t out[64])
{
	for (unsigned r = 0; r < 64 / arms; r++)
		abplan_order(seed, arms, r, out + r * arms);
}

START_TEST(the_seed_decides)
{
	unsigned arms = (unsigned)_i;
	uint8_t before[64] = { 0 };
	uint8_t again[64] = { 0 };

	first_rounds(0, arms, before);
	first_rounds(0, arms, again);
	ck_assert_mem_eq(before, again, sizeof(before));
	for (uint64_t seed = 1; seed < SEEDS; seed++) {
		first_rounds(seed, arms, again);
		ck_assert_mem_ne(before, again, sizeof(before));
		memcpy(before, again, sizeof(before));
	}
}
END_TEST

/* As an earlier build gave them: a printed seed stays good. */
START_TEST(a_seed_keeps_its_order)
{
	static const uint8_t two[] = { 1, 0, 0, 1, 0, 1, 1, 0,
				       1, 0, 0, 1, 1, 0, 0, 1 };
	static const uint8_t three[] = { 1, 0, 2, 2, 1, 0, 0, 2, 1,
					 0, 1, 2, 1, 2, 0, 2, 0, 1 };
	uint8_t got[64] = { 0 };

	first_rounds(42, 2, got);
	ck_assert_mem_eq(got, two, sizeof(two));
	first_rounds(42, 3, got);
	ck_assert_mem_eq(got, three, sizeof(three));
}
END_TEST

/*
 * By table: 2.110 / sqrt 18 = 0.497 and 2.120 / sqrt 17 = 0.514 standard
 * deviations; 2.447 / sqrt 7 = 0.925 and 2.571 / sqrt 6 = 1.049; 12.706 / sqrt
 * 2 = 8.98; at 90 % 1.740 / sqrt 18 = 0.410.  By width, 18 % more at 11 rounds:
 * 2.228 / sqrt 11 * 13/11 = 0.794, and 2.262 / sqrt 10 * 12/10 = 0.858.
 */
static const struct {
	double stddev, half, confidence;
	bool by_width;
	size_t rounds;
} needs[] = {
	{ 1, 0.5, 0.95, false, 18 },
	{ 10, 10, 0.95, false, 7 },
	{ 1, 9, 0.95, false, 2 },
	{ 1, 0.411, 0.9, false, 18 },
	{ 1, 0.409, 0.9, false, 19 },
	{ 1, 0.8, 0.95, true, 11 },
	{ 1, 9, 0.95, true, ABPLAN_ROUNDS_MIN },
	{ 1, 0.02, 0.95, false, 9607 }, /* near (1.96 / 0.02)^2 = 9604 */
	{ 1, 0.019, 0.95, false, ABPLAN_NEVER },
	{ 1, 0, 0.95, false, ABPLAN_NEVER },
	{ 0, 1, 0.95, false, 6 }, /* 2^-5 is the first within 5 % */
	{ 0, 0, 0.99, false, 8 },
};

START_TEST(rounds_for_a_width)
{
	ck_assert_uint_eq(abplan_rounds(needs[_i].stddev, needs[_i].half,
					needs[_i].confidence,
					needs[_i].by_width),
			  needs[_i].rounds);
}
END_TEST

/* 8 rounds of stddev 1: 2.364624 / sqrt 8, and 0.896030 (80 %) more. */
START_TEST(detectable_difference)
{
	ck_assert_double_eq_tol(abplan_detectable(1, 8, 0.95, 0.5), 0.836021,
				1e-6);
	ck_assert_double_eq_tol(abplan_detectable(1, 8, 0.95, 0.8), 1.152815,
				1e-6);
	ck_assert_double_eq_tol(abplan_detectable(3, 8, 0.95, 0.8), 3.458446,
				1e-6);
	ck_assert_double_eq(abplan_detectable(1, 1, 0.95, 0.8), INFINITY);
	ck_assert_double_eq(abplan_detectable(0, 8, 0.95, 0.8), 0);
}
END_TEST

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

#define EXPERIMENTS 2000
#define LONGEST 200

/* Without the correction: as soon as Student's interval is narrow enough. */
static bool narrow_at_once(const struct abstat_diff *d, double half,
			   double confidence)
{
	return d->n >= ABPLAN_ROUNDS_MIN && abstat_half(d, confidence) <= half;
}

/* Rounds until the half-width is 1, at stddev; returns whether the interval
 * holds the truth, which is 0. */
static bool experiment(double stddev, bool corrected, size_t *rounds)
{
	static const double base[LONGEST];
	double other[LONGEST];
	struct abstat_diff d;

	for (size_t n = 1; n <= LONGEST; n++) {
		other[n - 1] = stddev * normal();
		abstat_paired(base, other, n, &d);
		if (corrected ? abplan_narrow(&d, 1, 0.95)
			      : narrow_at_once(&d, 1, 0.95))
			break;
	}
	if (corrected)
		abstat_widen(&d);
	*rounds += d.n;
	return fabs(d.mean) <= abstat_half(&d, 0.95);
}

/* The share of experiments whose interval of 95 % holds the truth, and the
 * rounds they took, as measured with these very numbers: at once and by the
 * rule.  Another libm may move one or two experiments. */
static const struct {
	double stddev;
	double at_once, at_once_rounds;
	double by_rule, by_rule_rounds;
} stops[] = {
	{ 0.5, 0.956, 8.0, 0.978, 8.0 },    { 1, 0.95, 8.3, 0.9775, 9.1 },
	{ 1.5, 0.936, 11.1, 0.968, 13.4 },  { 2.2, 0.931, 19.6, 0.9535, 23.0 },
	{ 3.2, 0.939, 39.7, 0.9495, 43.7 },
};

static void stops_as_stated(double stddev, bool corrected, double coverage,
			    double rounds)
{
	unsigned covered = 0;
	size_t taken = 0;

	state = 88172645463325252u;
	for (int e = 0; e < EXPERIMENTS; e++)
		covered += experiment(stddev, corrected, &taken);
	if (corrected)
		ck_assert_uint_ge(covered, EXPERIMENTS * 94 / 100);
	ck_assert_double_eq_tol((double)covered / EXPERIMENTS, coverage,
				0.0025);
	ck_assert_double_eq_tol((double)taken / EXPERIMENTS, rounds, 0.1);
}

START_TEST(stopping_by_width_keeps_the_level)
{
	stops_as_stated(stops[_i].stddev, false, stops[_i].at_once,
			stops[_i].at_once_rounds);
	stops_as_stated(stops[_i].stddev, true, stops[_i].by_rule,
			stops[_i].by_rule_rounds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abplan");
	TCase *t = tcase_create("abplan");
	int arms = ABPLAN_ARMS_MAX + 1;

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, a_block_has_each_arm_once_at_each_place, 1,
			    arms);
	tcase_add_loop_test(t, two_blocks_have_each_arm_twice_after_each_other,
			    1, arms);
	tcase_add_loop_test(t, chance_prefers_no_arm, 2, arms);
	tcase_add_loop_test(t, the_seed_decides, 2, arms);
	tcase_add_test(t, a_seed_keeps_its_order);
	tcase_add_loop_test(t, rounds_for_a_width, 0, COUNT(needs));
	tcase_add_test(t, detectable_difference);
	tcase_add_loop_test(t, stopping_by_width_keeps_the_level, 0,
			    COUNT(stops));
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
