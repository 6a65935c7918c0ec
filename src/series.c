#include "series.h"

#define NSEC_PER_USEC 1000
#define NONE_MIN INT64_MAX
#define NONE_MAX INT64_MIN

void series_init(struct series *s)
{
	*s = (struct series){ .row_min_ns = NONE_MIN, .row_max_ns = NONE_MAX };
	hist_init(&s->hist);
}

/* The reporter may empty the extremes in between: then this value is the first
 * of its row. */
static void lower(_Atomic int64_t *least, int64_t value)
{
	int64_t seen = atomic_load(least);

	while (value < seen &&
	       !atomic_compare_exchange_weak(least, &seen, value))
		;
}

static void raise_to(_Atomic int64_t *most, int64_t value)
{
	int64_t seen = atomic_load(most);

	while (value > seen &&
	       !atomic_compare_exchange_weak(most, &seen, value))
		;
}

void series_add(struct series *s, int64_t value_ns)
{
	int64_t signed_us = value_ns / NSEC_PER_USEC;
	uint64_t us = (uint64_t)(signed_us < 0 ? -signed_us : signed_us);

	counter_add(&s->count, 1);
	counter_add(&s->sum_ns, (uint64_t)value_ns);
	counter_add(&s->squares_us2, us * us);
	lower(&s->row_min_ns, value_ns);
	raise_to(&s->row_max_ns, value_ns);
	hist_add(&s->hist, value_ns);
}

void series_snap(const struct series *s, struct stats_snap *out)
{
	out->samples = counter_get(&s->count);
	out->sample_sum_ns = (int64_t)counter_get(&s->sum_ns);
	out->sample_squares_us2 = counter_get(&s->squares_us2);
	out->sample_min_ns = atomic_load(&s->row_min_ns);
	out->sample_max_ns = atomic_load(&s->row_max_ns);
}

void series_cut(struct series *s, struct stats_snap *out)
{
	series_snap(s, out);
	out->sample_min_ns = atomic_exchange(&s->row_min_ns, NONE_MIN);
	out->sample_max_ns = atomic_exchange(&s->row_max_ns, NONE_MAX);
}

void series_delay(const struct series *s, struct stats_delay *out)
{
	const struct hist *h = &s->hist;
	int64_t min_ns = h->count > 0 ? h->min_ns : 0;

	*out = (struct stats_delay){
		.known = h->count > 0,
		.count = h->count,
		.min_ns = min_ns,
		.mean_ns = min_ns + hist_mean(h),
		.p50_ns = min_ns + hist_quantile(h, 500),
		.p99_ns = min_ns + hist_quantile(h, 990),
		.p999_ns = min_ns + hist_quantile(h, 999),
		.max_ns = h->count > 0 ? h->max_ns : 0,
	};
}
