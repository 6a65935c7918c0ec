/*
 * abstat: what the runs of an A/B experiment prove.  The summary of a sample,
 * the difference of two arms with its confidence interval and p value, paired
 * by rounds or not, and the verdict on one difference or on a family of them.
 * Pure: the caller brings every number.
 *
 * Values are finite, below 1e150 in size, in any unit; at most ABSTAT_MAX a
 * sample, which takes as many doubles of stack.  No result is NaN: what too few
 * values can't tell is an infinite half-width and a p value of 1.
 */
#ifndef ABSTAT_H
#define ABSTAT_H

#include <stddef.h>

#define ABSTAT_MAX 10000
/* The most comparisons of a family: seven arms by more metrics than we have. */
#define ABSTAT_FAMILY_MAX 256

/* n = 0: all 0.  n = 1: that value, with a stddev of 0. */
struct abstat_summary {
	size_t n;
	double min;
	double max;
	double median; /* the mean of the middle two where n is even */
	double mean;
	double stddev; /* of a sample: divided by n - 1 */
};

/*
 * A difference of means, other arm - baseline, in the unit of the samples, and
 * what its size has to be held against.
 */
struct abstat_diff {
	size_t n;       /* rounds; values of both where unpaired */
	double base;    /* mean of the baseline */
	double mean;    /* the difference */
	double stddev;  /* of the differences; pooled where Student's; Welch: 0
			 */
	double se;      /* standard error of the difference */
	double df;      /* degrees of freedom; 0: there are too few values */
	double p_least; /* the p value where no value differs from its like */
};

enum abstat_verdict {
	ABSTAT_CANNOT_TELL,
	ABSTAT_HIGHER, /* than the baseline */
	ABSTAT_LOWER,
	ABSTAT_SAME, /* the difference is smaller than the margin */
};

/* One of several comparisons: an arm with the baseline, by a metric. */
struct abstat_comparison {
	struct abstat_diff diff; /* in */
	double margin;           /* in: as of abstat_judge */
	double p;      /* adjusted (Holm): that there is no difference */
	double p_same; /* adjusted: that it is as large as the margin */
	enum abstat_verdict verdict;
};

void abstat_summarize(const double *x, size_t n, struct abstat_summary *out);

/*
 * Paired by rounds: base[i] and other[i] were measured in round i, so that what
 * changes from round to round falls out (Student 1908).  Needs 2 rounds.
 */
void abstat_paired(const double *base, const double *other, size_t n,
		   struct abstat_diff *out);
/* The same as if round skip, from 0, had not been; skip = n: with all. */
void abstat_paired_without(const double *base, const double *other, size_t n,
			   size_t skip, struct abstat_diff *out);
/*
 * Unpaired, each arm with a scatter of its own (Welch 1947; df by
 * Satterthwaite 1946), and with one scatter pooled of both (Student), which is
 * what ministat does.  Both need 2 values an arm.
 */
void abstat_welch(const double *base, size_t n_base, const double *other,
		  size_t n_other, struct abstat_diff *out);
void abstat_pooled(const double *base, size_t n_base, const double *other,
		   size_t n_other, struct abstat_diff *out);

/*
 * For a paired difference where the width of its interval decided when to stop:
 * makes the standard error larger by the factor 1 + 2 / n, and with it all that
 * is asked of it.  Such an experiment stops early just where the scatter came
 * out small by chance.  abplan_narrow is the rule that this belongs to.
 */
void abstat_widen(struct abstat_diff *d);

/*
 * Half the width of the interval around the difference, at a confidence of
 * 0 < confidence < 1; two-sided p value of no difference.
 *
 * Without any scatter (se 0) Student's t has nothing to go by, and calls two
 * runs that lost one datagram each proof.  There the permutation test speaks:
 * p_least is the chance that relabelling yields such an order, 2^(1-n) paired
 * and 2 / binomial(n, n_base) unpaired.  The half-width is 0 once p_least is
 * within 1 - confidence (6 rounds at 95 %) and infinite before.
 */
double abstat_half(const struct abstat_diff *d, double confidence);
double abstat_p(const struct abstat_diff *d);
/*
 * Equivalence by two one-sided tests (Schuirmann 1987): p value of a difference
 * as large as the margin, or larger, either way.  At most 1 - confidence just
 * where the interval at 2 * confidence - 1 lies within the margin: for 95 %
 * that at 90 %.  margin <= 0 is none: 1.
 */
double abstat_p_same(const struct abstat_diff *d, double margin);

/*
 * The verdict on one difference; margin in the unit of the samples, <= 0: none.
 *
 * Same: a margin was named, and equivalence holds within it.  This goes first,
 * also where 0 is outside of the interval: whoever names a margin has said that
 * less does not matter, and many rounds prove any difference, however small.
 * Higher, lower: there is a difference; with a margin it may turn out smaller
 * or larger than that.  Else it can't be told.
 *
 * Each wrong verdict has a chance of at most 1 - confidence: "higher" or
 * "lower" where there is no difference, "same" where it is as large as the
 * margin.  No truth allows both.
 */
enum abstat_verdict abstat_judge(const struct abstat_diff *d, double margin,
				 double confidence);
/* "higher", "lower", "same", "cannot tell". */
const char *abstat_verdict_name(enum abstat_verdict verdict);

/*
 * Verdicts on k comparisons, k <= ABSTAT_FAMILY_MAX.  With Holm's correction
 * (1979) the chance of even one wrong difference among them stays within
 * 1 - confidence, and so does that of even one wrong "same".  One comparison is
 * judged as by abstat_judge.
 */
void abstat_family(struct abstat_comparison *c, size_t k, double confidence);
/* p values of k tests, adjusted by Holm: each to be held against the level of
 * the whole family. */
void abstat_holm(const double *p, size_t k, double *adjusted);
/*
 * The level of each of k intervals that shall all hold at once at confidence:
 * 1 - (1 - confidence) / k (Bonferroni).  Holm proves a bit more than these
 * intervals show: a difference may be proven whose interval still holds 0.
 */
double abstat_level(double confidence, size_t k);

/*
 * Of the baseline's mean, whose own error is not counted, as in ministat.
 * A value in percent of it; where it is 0: 0 for 0, else infinite.
 */
double abstat_percent(const struct abstat_diff *d, double value);
/* The value that is so many percent of it. */
double abstat_of_base(const struct abstat_diff *d, double percent);

#endif
