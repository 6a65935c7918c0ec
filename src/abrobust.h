/*
 * abrobust: does the verdict on an A/B experiment hang on one round?  Each
 * round is left out in turn; and beside the mean stand an estimate and a test
 * that one outlier can't move far.  Pure, like abstat, and with its limits.
 */
#ifndef ABROBUST_H
#define ABROBUST_H

#include <stdbool.h>
#include <stddef.h>

#include "abstat.h"

/* The p value is exact up to so many rounds that differ. */
#define ABROBUST_EXACT_MAX 50

/* How the paired difference is judged, by abstat_judge, for itself alone. */
struct abrobust_rule {
	double confidence; /* 0 < confidence < 1 */
	double margin;     /* in the unit of the samples; <= 0: none */
	bool by_width;     /* abstat_widen was applied */
};

struct abrobust {
	/* The difference by Hodges and Lehmann (1963): the median of the means
	 * of any two differences, each with itself among them; 0 for n = 0. */
	double shift;
	/* Two-sided, of no difference, by the signed ranks of Wilcoxon (1945):
	 * rounds without a difference are left out, equal ones share their
	 * ranks.  Exact given these, or by the normal distribution with
	 * corrections for continuity and for shared ranks. */
	double p;
	bool exact;
	size_t decisive; /* rounds without which the verdict would change */
	/* Where there are some, that of them whose difference is farthest from
	 * the median of all: its number, from 0; the verdict without it; and
	 * whether it is an outlier, more than 3.5 scaled median deviations
	 * away (Iglewicz and Hoaglin 1993).  Many decisive rounds without an
	 * outlier are a verdict that is close, not one that is wrong. */
	size_t round;
	bool outlier;
	enum abstat_verdict without;
};

/* Of base[i] and other[i], measured in round i; takes steps as n^2. */
void abrobust_check(const double *base, const double *other, size_t n,
		    const struct abrobust_rule *rule, struct abrobust *out);

#endif
