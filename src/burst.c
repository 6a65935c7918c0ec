#include "burst.h"

#include <math.h>

#define NS_IN_1000S UINT64_C(1000000000000)
#define TWO_PI 6.28318530717958647692
/* No burst is larger than so many times the mean. */
#define MOST 1000

void burst_init(struct burst *b, const struct burst_shape *shape,
		int64_t start_ns, uint64_t seed)
{
	*b = (struct burst){ .shape = *shape,
			     .start_ns = start_ns,
			     .state = seed };
}

int64_t burst_due(const struct burst *b)
{
	uint64_t per = b->shape.per_1000s;
	uint64_t whole = b->number / per;
	uint64_t rest = b->number % per;

	/* rest is below per, at most a million: nothing overflows */
	return b->start_ns +
	       (int64_t)(whole * NS_IN_1000S + rest * NS_IN_1000S / per);
}

/* splitmix64: above 0, up to 1. */
static double uniform(struct burst *b)
{
	uint64_t z = b->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 1) / 9007199254740992.0;
}

uint64_t burst_begin(struct burst *b, uint64_t least)
{
	double mean = (double)b->shape.mean_bytes;
	double part = (double)b->shape.stdev_bytes / mean;
	double bytes = mean;

	b->number++;
	if (part > 0) {
		/* of a log-normal variable with this mean and deviation */
		double variance = log1p(part * part);
		/* Box and Muller */
		double normal =
			sqrt(-2 * log(uniform(b))) * cos(TWO_PI * uniform(b));

		bytes = mean * exp(normal * sqrt(variance) - variance / 2);
	}
	if (bytes > MOST * mean)
		bytes = MOST * mean;
	return bytes > (double)least ? (uint64_t)(bytes + 0.5) : least;
}
