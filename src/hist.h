/*
 * hist: delays above the lowest one, in a log-linear histogram of bounded
 * size.  Pure; one thread adds, and reads or hands it on when it is done.
 *
 * What is added are transit times by two clocks that need not agree (RFC 5481
 * 4.2: packet delay variation), so the lowest value is only known at the end.
 * Buckets are relative to a base at or closely below the lowest value so far;
 * when the lowest falls below it, all are put in new buckets.  A bucket keeps
 * the mean of its values exactly, so that moving it costs no accuracy.
 */
#ifndef HIST_H
#define HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buckets an octave: a bucket is this part of its values wide at most (0.8 %),
 * or 1 ns.  That, and HIST_BASE_NS / HIST_OCTAVE, is the error of a quantile
 * as long as the lowest value holds; values that were added before it fell by
 * more than their own size are known to three buckets' widths. */
#define HIST_OCTAVE 128
/* The base lies at most this far below the lowest value. */
#define HIST_BASE_NS 4096
/* Larger values (18 minutes) count as this one. */
#define HIST_MAX_NS ((INT64_C(1) << 40) - 1)
#define HIST_BUCKETS 4352

struct hist_bucket {
	uint64_t count;
	uint64_t above_ns; /* sum of what the values exceed its start by */
};

struct hist {
	uint64_t count;
	int64_t base_ns;
	int64_t min_ns; /* exact, as added */
	int64_t max_ns;
	int64_t sum_ns; /* of value - first_ns; saturates */
	int64_t first_ns;
	struct hist_bucket bucket[HIST_BUCKETS];
};

/* A range of delays above the lowest one: low_ns <= delay < high_ns. */
struct hist_bin {
	int64_t low_ns;
	int64_t high_ns;
	uint64_t count;
};

/* Nothing added; for memory that is not all 0 bytes. */
void hist_init(struct hist *h);
/* One more value, of any sign. */
void hist_add(struct hist *h, int64_t value_ns);
/* The delay above the lowest that at least permille/1000 of the values do not
 * exceed (nearest rank: the smallest such value); 0 of an empty one.  1000:
 * the exact largest one. */
int64_t hist_quantile(const struct hist *h, unsigned permille);
/* Mean delay above the lowest one. */
int64_t hist_mean(const struct hist *h);
/* The next bin that holds something, from *at on (0 at first); false: there
 * is none. */
bool hist_next(const struct hist *h, size_t *at, struct hist_bin *bin);

#endif
