#include "hist.h"

#include <string.h>

/* The number of the highest bit of n, which is not 0. */
static unsigned top_bit(uint64_t n)
{
	return 63 - (unsigned)__builtin_clzll(n);
}

static int64_t saturated(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static int64_t clamped(int64_t ns, int64_t low_ns, int64_t high_ns)
{
	if (ns < low_ns)
		return low_ns;
	return ns > high_ns ? high_ns : ns;
}

/* The place of a quantile among count sorted values, the first being 1. */
static uint64_t rank_of(uint64_t count, unsigned permille)
{
	if (permille >= 1000)
		return count;

	uint64_t rank = count / 1000 * permille +
			(count % 1000 * permille + 999) / 1000;

	return rank > 0 ? rank : 1;
}

/* Values as unsigned numbers in the same order; distances fit. */
static uint64_t unsigned_of(int64_t value_ns)
{
	return (uint64_t)value_ns ^ UINT64_C(1) << 63;
}

/* a - b, the nearest there is. */
static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a < b ? INT64_MIN : INT64_MAX;
	return d;
}

/* A bucket of this row is 1 << shift_of(row) wide. */
static unsigned shift_of(unsigned row)
{
	return row > 0 ? row - 1 : 0;
}

/* The number of a row's first bucket: its start in widths. */
static uint64_t first_of(unsigned row, uint64_t min)
{
	return (min >> shift_of(row)) + (row > 0 ? HIST_OCTAVE : 0);
}

/* The last row whose first bucket is not above value. */
static unsigned row_of(uint64_t value, uint64_t min)
{
	uint64_t above = value - min;

	if (above < HIST_OCTAVE)
		return 0;

	/* Rows begin at multiples of their width, so up to one width nearer
	 * to the minimum than this distance tells. */
	unsigned next = top_bit(above) - HIST_OCTAVE_BITS + 1;

	return (value >> next) - (min >> next) < HIST_OCTAVE ? next : next + 1;
}

static void count_in(struct hist *h, unsigned row, uint64_t value, uint64_t n)
{
	unsigned slot = (value >> shift_of(row)) % HIST_OCTAVE;

	h->used[row] |= UINT64_C(1) << slot;
	h->bucket[row][slot] += n;
}

/* Takes from a row what, by the new minimum, belongs to wider ones. */
static void lift(struct hist *h, unsigned row, uint64_t old_min, uint64_t min)
{
	uint64_t first = first_of(row, old_min);

	for (uint64_t left = h->used[row]; left != 0; left &= left - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(left);
		uint64_t number = first + (slot - first) % HIST_OCTAVE;
		uint64_t start = number << shift_of(row);
		unsigned to = row_of(start, min);

		if (to == row)
			continue;
		count_in(h, to, start, h->bucket[row][slot]);
		h->bucket[row][slot] = 0;
		h->used[row] &= ~(UINT64_C(1) << slot);
	}
}

/* A new lowest value.  A row ends at a multiple of twice its width, so those
 * wider than the highest bit that changes keep what they have.  Wide rows go
 * first, which makes room for what comes from below. */
static void lower(struct hist *h, int64_t value_ns)
{
	uint64_t old_min = unsigned_of(h->min_ns);
	uint64_t min = unsigned_of(value_ns);
	unsigned row = top_bit(old_min ^ min);

	if (row >= HIST_ROWS)
		row = HIST_ROWS - 1;
	do
		lift(h, row, old_min, min);
	while (row-- > 0);
	h->min_ns = value_ns;
}

static void add_to_sum(struct hist *h, int64_t n)
{
	if (h->sum_ns == INT64_MAX || h->sum_ns == INT64_MIN)
		return;
	if (__builtin_add_overflow(h->sum_ns, n, &h->sum_ns))
		h->sum_ns = n < 0 ? INT64_MIN : INT64_MAX;
}

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void hist_add(struct hist *h, int64_t value_ns)
{
	if (h->count == 0) {
		h->min_ns = value_ns;
		h->max_ns = value_ns;
		h->first_ns = value_ns;
	}
	if (value_ns < h->min_ns)
		lower(h, value_ns);
	if (value_ns > h->max_ns)
		h->max_ns = value_ns;

	uint64_t value = unsigned_of(value_ns);

	h->count++;
	count_in(h, row_of(value, unsigned_of(h->min_ns)), value, 1);
	add_to_sum(h, difference(value_ns, h->first_ns));
}

int64_t hist_quantile(const struct hist *h, unsigned permille)
{
	int64_t largest_ns = difference(h->max_ns, h->min_ns);
	uint64_t rank = rank_of(h->count, permille);
	uint64_t seen = 0;
	struct hist_bin bin = { 0 };
	size_t at = 0;

	if (rank >= h->count)
		return largest_ns;
	while (seen < rank && hist_next(h, &at, &bin))
		seen += bin.count;
	return clamped(bin.low_ns + (bin.high_ns - 1 - bin.low_ns) / 2, 0,
		       largest_ns);
}

int64_t hist_mean(const struct hist *h)
{
	if (h->count == 0)
		return 0;

	int64_t count = saturated(h->count);
	int64_t from_first_ns =
		h->sum_ns / count - (h->sum_ns % count < 0 ? 1 : 0);
	int64_t lowest_ns = difference(h->min_ns, h->first_ns);

	return clamped(difference(from_first_ns, lowest_ns), 0,
		       difference(h->max_ns, h->min_ns));
}

bool hist_next(const struct hist *h, size_t *at, struct hist_bin *bin)
{
	uint64_t min = unsigned_of(h->min_ns);

	for (; *at < (size_t)HIST_ROWS * HIST_OCTAVE; (*at)++) {
		unsigned row = (unsigned)(*at / HIST_OCTAVE);
		uint64_t number = first_of(row, min) + *at % HIST_OCTAVE;
		uint64_t count = h->bucket[row][number % HIST_OCTAVE];

		if (count == 0)
			continue;

		uint64_t low = (number << shift_of(row)) - min;
		uint64_t last = low + ((UINT64_C(1) << shift_of(row)) - 1);

		*bin = (struct hist_bin){
			.low_ns = saturated(low),
			.high_ns = last < INT64_MAX ? (int64_t)last + 1
						    : INT64_MAX,
			.count = count,
		};
		(*at)++;
		return true;
	}
	return false;
}
