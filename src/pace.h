/*
 * pace: decides when the next datagram is due, on an absolute grid
 * t0 + i * gap.  Pure arithmetic: the caller brings the time; nothing here
 * reads a clock, sleeps or allocates.
 */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Lateness up to this is made good at once, as a bounded burst. */
#define PACE_BURST_NS 1000000
/* Lateness beyond it is made good at twice the rate, from here on at four and
 * at eight times: a thread that gets a share of a CPU alone would fall behind
 * for good.  What is older than PACE_MAX_LAG_NS is given up, and the grid moves
 * on. */
#define PACE_FOURFOLD_NS 15000000
#define PACE_EIGHTFOLD_NS 40000000
#define PACE_MAX_LAG_NS 1000000000

struct pace {
	uint64_t per_s;     /* units (bits or datagrams) a second; 0: unpaced */
	int64_t due_ns;     /* when the next datagram may leave */
	int64_t gap_ns;     /* whole nanoseconds between two datagrams */
	uint64_t rem;       /* what gap_ns leaves over, in 1/per_s ns */
	uint64_t acc;       /* remainder carried so far, below per_s */
	int64_t last_ns;    /* when the last one left, or could have left
			     * after its part of a gap in a catch-up */
	int64_t forgone_ns; /* lag that was given up, in all */
};

/* units: what one datagram costs, in the unit of per_s: its bits, or 1. */
void pace_init(struct pace *p, uint64_t per_s, uint64_t units, int64_t now_ns);
/* How long to wait before the next send, in ns; 0: send now. */
int64_t pace_wait(const struct pace *p, int64_t now_ns);
/* Is more to be made good than one burst?  Then gaps are not true anyhow. */
bool pace_is_behind(const struct pace *p, int64_t now_ns);
/* A datagram left at now_ns: the next one is due a gap later on the grid. */
void pace_sent(struct pace *p, int64_t now_ns);

#endif
