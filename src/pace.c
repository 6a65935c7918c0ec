#include "pace.h"

#include <assert.h>

#define NSEC_PER_SEC 1000000000

/* A sender that catches up may fall this far behind its shortened gaps before
 * they start anew: long enough for a batch, and at twice the rate no more
 * datagrams than one burst. */
#define CATCH_UP_SLACK_NS (PACE_BURST_NS / 2)

void pace_init(struct pace *p, uint64_t per_s, uint64_t units, int64_t now_ns)
{
	assert(units <= INT64_MAX / NSEC_PER_SEC);
	*p = (struct pace){ .per_s = per_s, .due_ns = now_ns };
	if (per_s > 0) {
		p->gap_ns = (int64_t)(units * NSEC_PER_SEC / per_s);
		p->rem = units * NSEC_PER_SEC % per_s;
	}
	/* the first datagram has no predecessor to keep a distance from */
	p->last_ns = now_ns - p->gap_ns;
}

/* Is the next datagram later than a burst may make good? */
bool pace_is_behind(const struct pace *p, int64_t now_ns)
{
	return p->per_s > 0 && now_ns - p->due_ns > PACE_BURST_NS;
}

/* When the next one may follow the last in a catch-up. */
static int64_t part_of_gap_after_last(const struct pace *p, int64_t now_ns)
{
	int64_t lag_ns = now_ns - p->due_ns;
	int64_t speed = 2;

	if (lag_ns > PACE_EIGHTFOLD_NS)
		speed = 8;
	else if (lag_ns > PACE_FOURFOLD_NS)
		speed = 4;
	return p->last_ns + p->gap_ns / speed;
}

int64_t pace_wait(const struct pace *p, int64_t now_ns)
{
	if (p->per_s == 0)
		return 0;
	int64_t from_ns = pace_is_behind(p, now_ns)
				  ? part_of_gap_after_last(p, now_ns)
				  : p->due_ns;
	return from_ns > now_ns ? from_ns - now_ns : 0;
}

/*
 * While behind, these are counted from each other and not from now_ns:
 * counted from now_ns, a batch would end after one datagram, and a sender that
 * needs batches to keep its rate could never catch up.
 */
static void note_departure(struct pace *p, int64_t now_ns)
{
	int64_t from_ns = part_of_gap_after_last(p, now_ns);

	if (pace_is_behind(p, now_ns) && now_ns - from_ns <= CATCH_UP_SLACK_NS)
		p->last_ns = from_ns;
	else
		p->last_ns = now_ns;
}

/* One gap on the grid; acc + rem is compared without adding: it may wrap. */
static void step(struct pace *p)
{
	p->due_ns += p->gap_ns;
	if (p->rem >= p->per_s - p->acc) {
		p->due_ns++;
		p->acc = p->rem - (p->per_s - p->acc);
	} else {
		p->acc += p->rem;
	}
}

static void give_up_old_lag(struct pace *p, int64_t now_ns)
{
	int64_t excess_ns = now_ns - p->due_ns - PACE_MAX_LAG_NS;

	if (excess_ns > 0) {
		p->due_ns += excess_ns;
		p->forgone_ns += excess_ns;
	}
}

void pace_sent(struct pace *p, int64_t now_ns)
{
	if (p->per_s == 0) {
		p->last_ns = now_ns;
		return;
	}
	note_departure(p, now_ns);
	step(p);
	give_up_old_lag(p, now_ns);
}
