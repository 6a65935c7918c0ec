#include "abrobust.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "quantile.h"

/* Median deviations that are as far as one standard deviation, of normal
 * values: 1 / quantile_normal(0.25). */
#define SCALE 1.482602218505602
#define FAR 3.5
/* Ranks are counted in halves, so that shared ones are whole. */
#define EXACT_SUM_MAX (ABROBUST_EXACT_MAX * (ABROBUST_EXACT_MAX + 1))

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a);
	double y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

/* Of n > 0 sorted values. */
static double median_of(const double *sorted, size_t n)
{
	return sorted[(n - 1) / 2] / 2 + sorted[n / 2] / 2;
}

/* Doubles as whole numbers in the same order, and back. */
static uint64_t number_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static double double_of(uint64_t number)
{
	uint64_t bits =
		number >> 63 != 0 ? number ^ UINT64_C(1) << 63 : ~number;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* How many of the means of two, i <= j, are not above limit. */
static size_t means_up_to(const double *sorted, size_t n, double limit)
{
	size_t count = 0;
	size_t end = n; /* where the means with i pass the limit */

	for (size_t i = 0; i < n; i++) {
		while (end > i && sorted[i] / 2 + sorted[end - 1] / 2 > limit)
			end--;
		if (end <= i)
			break;
		count += end - i;
	}
	return count;
}

/* The mean of two at this rank, from 1: the least double that so many of them
 * do not exceed. */
static double mean_at(const double *sorted, size_t n, size_t rank)
{
	uint64_t low = number_of(sorted[0]);
	uint64_t high = number_of(sorted[n - 1]);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (means_up_to(sorted, n, double_of(middle)) >= rank)
			high = middle;
		else
			low = middle + 1;
	}
	return double_of(low) + 0.0; /* -0 is the least double that is 0 */
}

static double hodges_lehmann(const double *sorted, size_t n)
{
	size_t means = n * (n + 1) / 2;

	return mean_at(sorted, n, (means + 1) / 2) / 2 +
	       mean_at(sorted, n, means / 2 + 1) / 2;
}

/* What the signed ranks come to; in halves of a rank. */
struct ranks {
	size_t n;        /* differences other than 0 */
	size_t positive; /* sum of the ranks of those above 0 */
	double ties;     /* t^3 - t summed over those that share one */
	size_t rank[ABROBUST_EXACT_MAX]; /* where n is not more than that */
};

static void rank_them(const double *by_size_sorted, size_t n, struct ranks *out)
{
	*out = (struct ranks){ .n = n };
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++) {
			if (fabs(by_size_sorted[end]) > fabs(by_size_sorted[i]))
				break;
		}

		double shared = (double)(end - i);

		out->ties += shared * shared * shared - shared;
		for (size_t k = i; k < end; k++) {
			size_t rank = i + end + 1; /* twice the mean */

			out->positive += by_size_sorted[k] > 0 ? rank : 0;
			if (n <= ABROBUST_EXACT_MAX)
				out->rank[k] = rank;
		}
	}
}

/* Of all 2^n ways to give the ranks their signs, the share of those whose sum
 * is as small as the smaller of the two sums, twice. */
static double exact_p(const struct ranks *r)
{
	double ways[EXACT_SUM_MAX + 1] = { 1 };
	size_t total = r->n * (r->n + 1);
	size_t smaller = total - r->positive < r->positive ? total - r->positive
							   : r->positive;
	double tail = 0;

	for (size_t i = 0; i < r->n; i++) {
		for (size_t sum = total; sum >= r->rank[i]; sum--)
			ways[sum] += ways[sum - r->rank[i]];
	}
	for (size_t sum = 0; sum <= smaller; sum++)
		tail += ways[sum];
	return fmin(2 * ldexp(tail, -(int)r->n), 1);
}

static double normal_p(const struct ranks *r)
{
	double n = (double)r->n;
	double away = fabs((double)r->positive / 2 - n * (n + 1) / 4) - 0.5;
	double variance = n * (n + 1) * (2 * n + 1) / 24 - r->ties / 48;

	return away > 0 ? 2 * quantile_normal_tail(away / sqrt(variance)) : 1;
}

/* Sorts work, the differences, by size. */
static void signed_ranks(double *work, size_t n, struct abrobust *out)
{
	struct ranks r;
	size_t zeros = 0;

	qsort(work, n, sizeof(work[0]), by_size);
	while (zeros < n && work[zeros] == 0)
		zeros++;
	rank_them(work + zeros, n - zeros, &r);
	out->exact = r.n <= ABROBUST_EXACT_MAX;
	out->p = out->exact ? exact_p(&r) : normal_p(&r);
}

static enum abstat_verdict verdict_without(const double *base,
					   const double *other, size_t n,
					   size_t skip,
					   const struct abrobust_rule *rule)
{
	struct abstat_diff d;

	abstat_paired_without(base, other, n, skip, &d);
	if (rule->by_width)
		abstat_widen(&d);
	return abstat_judge(&d, rule->margin, rule->confidence);
}

static void leave_one_out(const double *base, const double *other, size_t n,
			  const struct abrobust_rule *rule, double median,
			  struct abrobust *out)
{
	enum abstat_verdict all = verdict_without(base, other, n, n, rule);
	double farthest = -1;

	for (size_t i = 0; i < n; i++) {
		enum abstat_verdict without =
			verdict_without(base, other, n, i, rule);
		double away = fabs(other[i] - base[i] - median);

		if (without == all)
			continue;
		out->decisive++;
		if (away <= farthest)
			continue;
		farthest = away;
		out->round = i;
		out->without = without;
	}
}

/* Is this one of the differences, now in work, far from the others? */
static bool is_far(double *work, size_t n, double median, double difference)
{
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(work[i] - median);
	qsort(work, n, sizeof(work[0]), ascending);
	return fabs(difference - median) > FAR * SCALE * median_of(work, n);
}

void abrobust_check(const double *base, const double *other, size_t n,
		    const struct abrobust_rule *rule, struct abrobust *out)
{
	double work[ABSTAT_MAX];

	assert(n <= ABSTAT_MAX);
	*out = (struct abrobust){ .p = 1, .exact = true };
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		work[i] = other[i] - base[i];
	qsort(work, n, sizeof(work[0]), ascending);

	double median = median_of(work, n);

	out->shift = hodges_lehmann(work, n);
	signed_ranks(work, n, out);
	leave_one_out(base, other, n, rule, median, out);
	if (out->decisive > 0)
		out->outlier = is_far(work, n, median,
				      other[out->round] - base[out->round]);
}
