#include "hist.h"

#include <string.h>

/* HIST_OCTAVE = 1 << OCTAVE_BITS; below it each ns has a bucket. */
#define OCTAVE_BITS 7

static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a < b ? INT64_MIN : INT64_MAX;
	return d;
}

/* The bucket of a delay from 0 to HIST_MAX_NS. */
static size_t index_of(uint64_t ns)
{
	if (ns < HIST_OCTAVE)
		return (size_t)ns;

	unsigned octave = 63 - (unsigned)__builtin_clzll(ns) - OCTAVE_BITS;

	return ((size_t)octave << OCTAVE_BITS) + (size_t)(ns >> octave);
}

/* The lowest delay of a bucket. */
static uint64_t start_of(size_t index)
{
	if (index < HIST_OCTAVE)
		return index;

	unsigned octave = (unsigned)(index >> OCTAVE_BITS) - 1;

	return (uint64_t)(HIST_OCTAVE + index % HIST_OCTAVE) << octave;
}

/* Within 0 to HIST_MAX_NS. */
static uint64_t clamp(int64_t ns)
{
	if (ns < 0)
		return 0;
	return ns > HIST_MAX_NS ? (uint64_t)HIST_MAX_NS : (uint64_t)ns;
}

static void add_saturated(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* The mean of a bucket's values, from the base. */
static uint64_t mean_of(const struct hist *h, size_t index)
{
	const struct hist_bucket *b = &h->bucket[index];

	return start_of(index) + b->above_ns / b->count;
}

/* Moves a bucket's values up by fall_ns, as one lump. */
static void move_bucket(struct hist *h, size_t index, int64_t fall_ns)
{
	struct hist_bucket b = h->bucket[index];
	uint64_t mean_ns = start_of(index) + b.above_ns / b.count;
	uint64_t rest_ns = b.above_ns % b.count;
	uint64_t to_ns = clamp((int64_t)mean_ns > HIST_MAX_NS - fall_ns
				       ? HIST_MAX_NS
				       : (int64_t)mean_ns + fall_ns);
	size_t to = index_of(to_ns);
	uint64_t above_ns;

	h->bucket[index] = (struct hist_bucket){ 0 };
	if (__builtin_mul_overflow(to_ns - start_of(to), b.count, &above_ns))
		above_ns = UINT64_MAX;
	h->bucket[to].count += b.count;
	add_saturated(&h->bucket[to].above_ns, above_ns);
	add_saturated(&h->bucket[to].above_ns, rest_ns);
}

/* The base becomes base_ns, which is lower.  From the top on, so that no
 * bucket moves twice. */
static void rebase(struct hist *h, int64_t base_ns)
{
	int64_t fall_ns = difference(h->base_ns, base_ns);

	if (fall_ns > HIST_MAX_NS)
		fall_ns = HIST_MAX_NS;
	for (size_t i = HIST_BUCKETS; i-- > 0;) {
		if (h->bucket[i].count > 0)
			move_bucket(h, i, fall_ns);
	}
	h->base_ns = base_ns;
}

/* A new lowest value.  The base goes further down than that by as much as it
 * fell, so that a drifting clock costs little. */
static void lower(struct hist *h, int64_t value_ns)
{
	int64_t fall_ns = difference(h->base_ns, value_ns);
	int64_t margin_ns = fall_ns < HIST_BASE_NS ? fall_ns : HIST_BASE_NS;

	rebase(h, value_ns < INT64_MIN + margin_ns ? INT64_MIN
						   : value_ns - margin_ns);
}

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void hist_add(struct hist *h, int64_t value_ns)
{
	if (h->count == 0) {
		h->base_ns = value_ns;
		h->min_ns = value_ns;
		h->max_ns = value_ns;
		h->first_ns = value_ns;
	}
	if (value_ns < h->base_ns)
		lower(h, value_ns);
	if (value_ns < h->min_ns)
		h->min_ns = value_ns;
	if (value_ns > h->max_ns)
		h->max_ns = value_ns;

	uint64_t ns = clamp(difference(value_ns, h->base_ns));
	int64_t from_first_ns = difference(value_ns, h->first_ns);
	size_t i = index_of(ns);

	h->count++;
	h->bucket[i].count++;
	add_saturated(&h->bucket[i].above_ns, ns - start_of(i));
	if (__builtin_add_overflow(h->sum_ns, from_first_ns, &h->sum_ns))
		h->sum_ns = from_first_ns < 0 ? INT64_MIN : INT64_MAX;
}

/* Within what was really seen. */
static int64_t bounded(const struct hist *h, int64_t delay_ns)
{
	int64_t largest_ns = difference(h->max_ns, h->min_ns);

	if (delay_ns < 0)
		return 0;
	return delay_ns < largest_ns ? delay_ns : largest_ns;
}

int64_t hist_quantile(const struct hist *h, unsigned permille)
{
	uint64_t above =
		h->count / 1000 * permille + h->count % 1000 * permille / 1000;
	uint64_t seen = 0;

	if (permille >= 1000 || h->count == 0)
		return h->count == 0 ? 0 : difference(h->max_ns, h->min_ns);
	/* nearest rank: count * permille / 1000, rounded up, at least 1 */
	if (h->count % 1000 * permille % 1000 > 0 || above == 0)
		above++;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i].count;
		if (seen >= above)
			return bounded(h, (int64_t)mean_of(h, i) -
						  (h->min_ns - h->base_ns));
	}
	return difference(h->max_ns, h->min_ns);
}

int64_t hist_mean(const struct hist *h)
{
	if (h->count == 0)
		return 0;

	int64_t mean_ns = h->sum_ns / (int64_t)h->count;

	return bounded(h,
		       difference(mean_ns, difference(h->min_ns, h->first_ns)));
}

bool hist_next(const struct hist *h, size_t *at, struct hist_bin *bin)
{
	int64_t below_ns = h->min_ns - h->base_ns;

	while (*at < HIST_BUCKETS && h->bucket[*at].count == 0)
		(*at)++;
	if (*at >= HIST_BUCKETS)
		return false;

	int64_t low_ns = (int64_t)start_of(*at) - below_ns;

	*bin = (struct hist_bin){
		.low_ns = low_ns > 0 ? low_ns : 0,
		.high_ns = (int64_t)start_of(*at + 1) - below_ns,
		.count = h->bucket[*at].count,
	};
	(*at)++;
	return true;
}
