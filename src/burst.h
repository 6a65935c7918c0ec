/*
 * burst: traffic that comes in bursts: how many bytes each has and when it is
 * due (--isochronous, --burst-size).  Pure: the caller brings the time.
 */
#ifndef BURST_H
#define BURST_H

#include <stdint.h>

/* What is asked for; per_1000s 0: no bursts. */
struct burst_shape {
	uint64_t per_1000s;   /* bursts in 1000 seconds */
	uint64_t mean_bytes;  /* of each */
	uint64_t stdev_bytes; /* 0: all have the mean */
};

struct burst {
	struct burst_shape shape;
	int64_t start_ns; /* when the first one is due */
	uint64_t number;  /* bursts that have begun */
	uint64_t state;   /* of the random numbers */
};

void burst_init(struct burst *b, const struct burst_shape *shape,
		int64_t start_ns, uint64_t seed);
/* When the next one is due: on the grid, whatever the ones before did. */
int64_t burst_due(const struct burst *b);
/* Begins it; how many bytes it has, at least `least`.  With a standard
 * deviation the sizes are log-normal, as in iperf 2. */
uint64_t burst_begin(struct burst *b, uint64_t least);

#endif
