#include "abstat.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "quantile.h"

/* What a mean and a scatter take from a sample. */
struct moments {
	size_t n;
	double mean;
	double squares; /* of the distances from the mean, summed */
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Value i: of one sample, or the difference of two where base is there. */
static double value_of(const double *base, const double *x, size_t i)
{
	return base != NULL ? x[i] - base[i] : x[i];
}

/*
 * In two passes, and from the first value on: the scatter of equal values is
 * exactly 0, and a large mean takes no digits from a small scatter.
 */
static struct moments moments_without(const double *base, const double *x,
				      size_t n, size_t skip)
{
	struct moments m = { .n = skip < n ? n - 1 : n };

	if (m.n == 0)
		return m;

	double first = value_of(base, x, skip == 0 ? 1 : 0);
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (i != skip)
			sum += value_of(base, x, i) - first;
	}
	m.mean = first + sum / (double)m.n;
	for (size_t i = 0; i < n; i++) {
		double away = value_of(base, x, i) - m.mean;

		if (i != skip)
			m.squares += away * away;
	}
	return m;
}

static struct moments moments_of(const double *x, size_t n)
{
	return moments_without(NULL, x, n, n);
}

/* Of the mean, squared. */
static double error_squared(const struct moments *m)
{
	return m->squares / (double)(m->n - 1) / (double)m->n;
}

static double median_of(const double *x, size_t n)
{
	double sorted[ABSTAT_MAX];

	memcpy(sorted, x, n * sizeof(x[0]));
	qsort(sorted, n, sizeof(sorted[0]), ascending);
	if (n % 2 != 0)
		return sorted[n / 2];
	return sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

void abstat_summarize(const double *x, size_t n, struct abstat_summary *out)
{
	struct moments m = moments_of(x, n);

	assert(n <= ABSTAT_MAX);
	*out = (struct abstat_summary){ .n = n, .mean = m.mean };
	if (n == 0)
		return;
	out->min = x[0];
	out->max = x[0];
	for (size_t i = 1; i < n; i++) {
		out->min = fmin(out->min, x[i]);
		out->max = fmax(out->max, x[i]);
	}
	out->median = median_of(x, n);
	if (n > 1)
		out->stddev = sqrt(m.squares / (double)(n - 1));
}

void abstat_paired_without(const double *base, const double *other, size_t n,
			   size_t skip, struct abstat_diff *out)
{
	struct moments m = moments_without(base, other, n, skip);

	*out = (struct abstat_diff){
		.n = m.n,
		.base = moments_without(NULL, base, n, skip).mean,
		.mean = m.mean,
		.p_least = 1,
	};
	if (m.n < 2)
		return;
	out->df = (double)(m.n - 1);
	out->stddev = sqrt(m.squares / out->df);
	out->se = sqrt(error_squared(&m));
	out->p_least = exp2(-out->df);
}

void abstat_paired(const double *base, const double *other, size_t n,
		   struct abstat_diff *out)
{
	abstat_paired_without(base, other, n, n, out);
}

/* Of all ways to give n_base of these values to the baseline, the two that
 * set them apart most. */
static double p_of_order(size_t n_base, size_t n_other)
{
	double ways = 1;

	for (size_t i = 1; i <= n_base; i++)
		ways *= (double)(n_other + i) / (double)i;
	return 2 / ways;
}

/* What both unpaired ways share; false: too few values for more. */
static bool unpaired(const struct moments *base, const struct moments *other,
		     struct abstat_diff *out)
{
	*out = (struct abstat_diff){
		.n = base->n + other->n,
		.base = base->mean,
		.mean = other->mean - base->mean,
		.p_least = 1,
	};
	if (base->n < 2 || other->n < 2)
		return false;
	out->p_least = p_of_order(base->n, other->n);
	return true;
}

void abstat_welch(const double *base, size_t n_base, const double *other,
		  size_t n_other, struct abstat_diff *out)
{
	struct moments mb = moments_of(base, n_base);
	struct moments mo = moments_of(other, n_other);

	if (!unpaired(&mb, &mo, out))
		return;

	double eb = error_squared(&mb);
	double eo = error_squared(&mo);

	out->df = (double)(out->n - 2);
	if (eb + eo <= 0)
		return;

	double share = eb / (eb + eo);
	double rest = eo / (eb + eo);
	double df = 1 / (share * share / (double)(n_base - 1) +
			 rest * rest / (double)(n_other - 1));

	/* no less than that of the smaller arm, but for rounding */
	out->df = fmax(df, 1);
	out->se = sqrt(eb + eo);
}

void abstat_pooled(const double *base, size_t n_base, const double *other,
		   size_t n_other, struct abstat_diff *out)
{
	struct moments mb = moments_of(base, n_base);
	struct moments mo = moments_of(other, n_other);

	if (!unpaired(&mb, &mo, out))
		return;
	out->df = (double)(out->n - 2);
	out->stddev = sqrt((mb.squares + mo.squares) / out->df);
	out->se = out->stddev * sqrt(1 / (double)n_base + 1 / (double)n_other);
}

void abstat_widen(struct abstat_diff *d)
{
	if (d->n > 0)
		d->se *= 1 + 2 / (double)d->n;
}

double abstat_half(const struct abstat_diff *d, double confidence)
{
	double level = 1 - confidence;

	assert(level > 0 && level < 1);
	if (d->se > 0)
		return quantile_t(level / 2, d->df) * d->se;
	return d->p_least <= level ? 0 : INFINITY;
}

double abstat_p(const struct abstat_diff *d)
{
	if (d->se > 0)
		return 2 * quantile_t_tail(fabs(d->mean) / d->se, d->df);
	return d->mean != 0 ? d->p_least : 1;
}

double abstat_p_same(const struct abstat_diff *d, double margin)
{
	double room = margin - fabs(d->mean);

	if (margin <= 0)
		return 1;
	if (d->se > 0)
		return quantile_t_tail(room / d->se, d->df);
	return room > 0 ? d->p_least : 1;
}

static enum abstat_verdict verdict_of(double difference, double p,
				      double p_same, double level)
{
	if (p_same <= level)
		return ABSTAT_SAME;
	if (p <= level)
		return difference > 0 ? ABSTAT_HIGHER : ABSTAT_LOWER;
	return ABSTAT_CANNOT_TELL;
}

enum abstat_verdict abstat_judge(const struct abstat_diff *d, double margin,
				 double confidence)
{
	return verdict_of(d->mean, abstat_p(d), abstat_p_same(d, margin),
			  1 - confidence);
}

const char *abstat_verdict_name(enum abstat_verdict verdict)
{
	static const char *const names[] = {
		[ABSTAT_CANNOT_TELL] = "cannot tell",
		[ABSTAT_HIGHER] = "higher",
		[ABSTAT_LOWER] = "lower",
		[ABSTAT_SAME] = "same",
	};

	return names[verdict];
}

/* A p value times how many there are that are not smaller. */
static double stepped(const double *p, size_t k, size_t i)
{
	size_t not_smaller = 0;

	for (size_t j = 0; j < k; j++)
		not_smaller += p[j] >= p[i] ? 1 : 0;
	return p[i] * (double)not_smaller;
}

void abstat_holm(const double *p, size_t k, double *adjusted)
{
	for (size_t i = 0; i < k; i++) {
		adjusted[i] = 0;
		for (size_t j = 0; j < k; j++) {
			if (p[j] <= p[i])
				adjusted[i] =
					fmax(adjusted[i], stepped(p, k, j));
		}
		adjusted[i] = fmin(adjusted[i], 1);
	}
}

void abstat_family(struct abstat_comparison *c, size_t k, double confidence)
{
	double p[ABSTAT_FAMILY_MAX] = { 0 };
	double p_same[ABSTAT_FAMILY_MAX] = { 0 };
	double adjusted[ABSTAT_FAMILY_MAX];
	double adjusted_same[ABSTAT_FAMILY_MAX];

	assert(k <= ABSTAT_FAMILY_MAX);
	for (size_t i = 0; i < k; i++) {
		p[i] = abstat_p(&c[i].diff);
		p_same[i] = abstat_p_same(&c[i].diff, c[i].margin);
	}
	abstat_holm(p, k, adjusted);
	abstat_holm(p_same, k, adjusted_same);
	for (size_t i = 0; i < k; i++) {
		c[i].p = adjusted[i];
		c[i].p_same = adjusted_same[i];
		c[i].verdict = verdict_of(c[i].diff.mean, c[i].p, c[i].p_same,
					  1 - confidence);
	}
}

double abstat_level(double confidence, size_t k)
{
	return 1 - (1 - confidence) / (double)(k > 0 ? k : 1);
}

double abstat_percent(const struct abstat_diff *d, double value)
{
	if (value == 0)
		return 0;
	if (d->base == 0)
		return copysign(INFINITY, value);
	return 100 * value / fabs(d->base);
}

double abstat_of_base(const struct abstat_diff *d, double percent)
{
	return fabs(d->base) * percent / 100;
}
