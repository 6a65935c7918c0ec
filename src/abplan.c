#include "abplan.h"

#include <assert.h>
#include <math.h>

#include "quantile.h"

/* splitmix64 (Steele, Lea, Flood 2014): every state is a good one. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A generator of its own for each number of a seed. */
static uint64_t stream_of(uint64_t seed, uint64_t number)
{
	uint64_t a = seed;
	uint64_t b = draw(&a) ^ number;

	return draw(&b);
}

/* 0 to n - 1 in random order (Durstenfeld 1964).  The remainder prefers none
 * by more than n in 2^64. */
static void shuffled(uint64_t state, unsigned n, uint8_t *out)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned j = (unsigned)(draw(&state) % (i + 1));

		out[i] = (uint8_t)i;
		out[i] = out[j];
		out[j] = (uint8_t)i;
	}
}

/* Row 0 of a Williams square, 0 1 n-1 2 n-2 ...: with an even n, no step from
 * one to the next is there twice. */
static unsigned zigzag(unsigned place, unsigned n)
{
	return place % 2 != 0 ? (place + 1) / 2 : (n - place / 2) % n;
}

void abplan_order(uint64_t seed, unsigned arms, uint64_t round, uint8_t *order)
{
	uint8_t rows[ABPLAN_ARMS_MAX];
	uint8_t names[ABPLAN_ARMS_MAX];

	assert(arms >= 1 && arms <= ABPLAN_ARMS_MAX);

	uint64_t block = round / arms;
	/* with an odd n each step is there twice; its mirror has the others */
	bool odd = arms % 2 != 0;
	bool mirrored = odd && block % 2 != 0;
	uint64_t square = odd ? block - block % 2 : block;

	shuffled(stream_of(seed, 2 * block), arms, rows);
	shuffled(stream_of(seed, 2 * square + 1), arms, names);
	for (unsigned i = 0; i < arms; i++) {
		unsigned place = mirrored ? arms - 1 - i : i;

		order[i] = names[(zigzag(place, arms) + rows[round % arms]) %
				 arms];
	}
}

bool abplan_narrow(const struct abstat_diff *d, double half, double confidence)
{
	struct abstat_diff wide = *d;

	abstat_widen(&wide);
	return d->n >= ABPLAN_ROUNDS_MIN &&
	       abstat_half(&wide, confidence) <= half;
}

/* What abstat_paired would find after n rounds of this scatter. */
static struct abstat_diff outlook(double stddev, size_t n)
{
	return (struct abstat_diff){
		.n = n,
		.stddev = stddev,
		.se = stddev / sqrt((double)n),
		.df = (double)n - 1,
		.p_least = exp2(1 - (double)n),
	};
}

static bool enough(double stddev, size_t n, double half, double confidence,
		   bool by_width)
{
	struct abstat_diff d = outlook(stddev, n);

	return by_width ? abplan_narrow(&d, half, confidence)
			: abstat_half(&d, confidence) <= half;
}

size_t abplan_rounds(double stddev, double half, double confidence,
		     bool by_width)
{
	size_t few = 1; /* too few */
	size_t many = ABPLAN_NEVER;

	while (many - few > 1) {
		size_t n = few + (many - few) / 2;

		if (enough(stddev, n, half, confidence, by_width))
			many = n;
		else
			few = n;
	}
	return many;
}

double abplan_detectable(double stddev, size_t n, double confidence,
			 double power)
{
	assert(power >= 0.5 && power < 1);
	if (n < 2)
		return INFINITY;

	struct abstat_diff d = outlook(stddev, n);

	return abstat_half(&d, confidence) + quantile_t(1 - power, d.df) * d.se;
}
