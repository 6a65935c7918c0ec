#include "stamp.h"

/* By how much a stamp may seem to lie before the one before it. */
#define SLACK_NS 100000
/* A clock is disciplined by at most 1/SLEW_PART of the time. */
#define SLEW_PART 1000

bool stamp_due(const struct stamp_line *line, int64_t stamp_ns)
{
	int64_t at_ns = stamp_ns - line->offset_ns;

	return !line->compared ||
	       at_ns - line->compared_ns >= STAMP_COMPARE_NS ||
	       at_ns < line->last_ns - STAMP_STEP_NS;
}

void stamp_compare(struct stamp_line *line, int64_t now_ns, int64_t wall_ns)
{
	int64_t offset_ns = wall_ns - now_ns;
	int64_t change_ns = offset_ns - line->offset_ns;
	int64_t slewed_ns =
		STAMP_STEP_NS + (now_ns - line->compared_ns) / SLEW_PART;

	if (line->compared &&
	    (change_ns > slewed_ns || change_ns < -slewed_ns)) {
		line->before_ns = line->offset_ns;
		line->seen_ns = now_ns;
		line->stepped = true;
		line->steps++;
	}
	line->offset_ns = offset_ns;
	line->compared_ns = now_ns;
	line->compared = true;
}

/* How far from where the next arrival is expected. */
static int64_t surprise(const struct stamp_line *line, int64_t at_ns)
{
	int64_t off_ns = at_ns - line->last_ns - line->gap_ns;

	return off_ns < 0 ? -off_ns : off_ns;
}

/* Was this stamp made before the step?  The queue is read in order, so of two
 * possible times the one that goes on as before is right. */
static bool is_old(struct stamp_line *line, int64_t stamp_ns)
{
	int64_t old_ns = stamp_ns - line->before_ns;

	if (!line->stepped)
		return false;
	if (old_ns > line->seen_ns || old_ns < line->last_ns - SLACK_NS) {
		line->stepped = false;
		return false;
	}
	return surprise(line, old_ns) <
	       surprise(line, stamp_ns - line->offset_ns);
}

int64_t stamp_place(struct stamp_line *line, int64_t stamp_ns)
{
	bool old = is_old(line, stamp_ns);
	int64_t at_ns = stamp_ns - (old ? line->before_ns : line->offset_ns);

	/* a step within a step: it came now at the latest */
	if (at_ns >= line->compared_ns + STAMP_COMPARE_NS)
		at_ns = line->compared_ns;
	if (at_ns > line->last_ns) {
		line->gap_ns = at_ns - line->last_ns;
		line->last_ns = at_ns;
	}
	return at_ns;
}
