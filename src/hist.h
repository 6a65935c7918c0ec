/*
 * hist: values of any sign in a log-linear histogram of bounded size, asked
 * for as delays above the lowest of them (RFC 5481 4.2, packet delay
 * variation), which is only known at the end: transit times by two clocks that
 * may be hours apart, or drift.  Pure: nothing here reads a clock, allocates
 * or locks.  One thread adds and reads, or hands it on when it is done.
 *
 * Quantiles are by nearest rank: of n values the one that stands at place
 * n * permille / 1000, rounded up, at least 1, when they are sorted: the
 * smallest that at least permille/1000 of them do not exceed.
 */
#ifndef HIST_H
#define HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buckets an octave, a power of two; below that each ns has its own. */
#define HIST_OCTAVE_BITS 6
#define HIST_OCTAVE (1 << HIST_OCTAVE_BITS)
/* A quantile is off by at most 1/126 of the exact value (0.8 %); short ones
 * are exact. */
#define HIST_ERROR_PART (2 * HIST_OCTAVE - 2)

/* low_ns <= delay < high_ns; a high_ns of INT64_MAX is no limit. */
struct hist_bin {
	int64_t low_ns;
	int64_t high_ns;
	uint64_t count;
};

/*
 * A bucket of struct hist is a range of values, not of delays: from
 * k * 2^j up to (k + 1) * 2^j.  So a lower minimum moves no bucket; those that
 * are now finer than need be merge into the one twice as wide that holds them,
 * which loses nothing else: however often and far the minimum falls, a bucket
 * has counted exactly the values within it.
 *
 * There are HIST_OCTAVE buckets a row, as a ring that follows the minimum.
 * Row 0 has those 1 ns wide at the minimum, row r those 2^(r-1) wide that
 * begin HIST_OCTAVE of them above it; up to all of 64 bits, so that no value
 * is too far away.  A new minimum looks at the buckets in use of those rows
 * whose limits it changes: at few after a small fall, at worst at all.
 */
#define HIST_ROWS (64 - HIST_OCTAVE_BITS + 1)

/* All 0 bytes is an empty one. */
struct hist {
	uint64_t count;
	int64_t min_ns; /* exact, as added; so is max_ns */
	int64_t max_ns;
	int64_t first_ns;
	int64_t sum_ns; /* of value - first_ns; stays at a limit once there */
	uint64_t used[HIST_ROWS]; /* a bit for each bucket that is not empty */
	uint64_t bucket[HIST_ROWS][HIST_OCTAVE];
};

void hist_init(struct hist *h);
/* One more value, of any sign and size. */
void hist_add(struct hist *h, int64_t value_ns);
/* Delay above the lowest value; 0 of an empty one. */
int64_t hist_quantile(const struct hist *h, unsigned permille);
/* Mean delay above the lowest value, rounded down; too near to first_ns when
 * the sum is at a limit. */
int64_t hist_mean(const struct hist *h);
/* The next bin that holds something, upwards from *at on (0 at first); false:
 * there is none.  Delays above the lowest value. */
bool hist_next(const struct hist *h, size_t *at, struct hist_bin *bin);

#endif
