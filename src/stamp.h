/*
 * stamp: puts the kernel's arrival stamps, which are of the wall clock, on
 * the line of the monotonic clock, and sees when the wall clock was set.
 * Pure: the caller reads the clocks.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stdbool.h>
#include <stdint.h>

/* The two clocks are compared again when a stamp is this much later than the
 * last comparison. */
#define STAMP_COMPARE_NS 1000000
/* A difference that changed by more than this, and 0.1 % of the time between
 * two comparisons, is a step; less is how clocks are disciplined. */
#define STAMP_STEP_NS 500000

struct stamp_line {
	int64_t offset_ns;   /* wall minus monotonic, as compared last */
	int64_t compared_ns; /* when, monotonic */
	int64_t before_ns;   /* the offset before the last step */
	int64_t seen_ns;     /* when that step was seen */
	int64_t last_ns;     /* the latest arrival, monotonic */
	int64_t gap_ns;      /* how much later it was than the one before */
	bool compared;
	bool stepped;   /* stamps from before the step may still come */
	uint64_t steps; /* how often the wall clock was set */
};

/* Must the clocks be compared before this stamp is placed? */
bool stamp_due(const struct stamp_line *line, int64_t stamp_ns);
/* The clocks showed these at the same moment. */
void stamp_compare(struct stamp_line *line, int64_t now_ns, int64_t wall_ns);
/* When this stamp was made, on the monotonic clock.  Stamps come in the order
 * in which they were made. */
int64_t stamp_place(struct stamp_line *line, int64_t stamp_ns);

#endif
