/*
 * series: one measured time after another, such as round trips: how many, their
 * sum, the extremes of each row, and their distribution.  One thread adds, the
 * reporter reads; nothing here reads a clock, allocates or locks.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdatomic.h>
#include <stdint.h>

#include "counter.h"
#include "hist.h"
#include "stats.h"

struct series {
	struct counter count;
	struct counter sum_ns;      /* signed, modulo 2^64 */
	struct counter squares_us2; /* of the values in whole microseconds */
	/* of the values since the last cut; INT64_MAX and INT64_MIN: there are
	 * none */
	_Atomic int64_t row_min_ns;
	_Atomic int64_t row_max_ns;
	struct hist hist; /* the adding thread's, and anybody's after its end */
};

void series_init(struct series *s);
/* One more value, of any sign. */
void series_add(struct series *s, int64_t value_ns);
/* Fills what stats_snap has of a series. */
void series_snap(const struct series *s, struct stats_snap *out);
/* The same, and a row ends with it: for one thread alone, the reporter. */
void series_cut(struct series *s, struct stats_snap *out);
/* All values: the quantiles are of the values themselves.  After the end. */
void series_delay(const struct series *s, struct stats_delay *out);

#endif
