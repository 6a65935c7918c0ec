/*
 * abplan: what an A/B experiment does next.  The order of the arms in each
 * round, when an interval is narrow enough to stop, how many rounds that takes,
 * and what a number of rounds can show.  Pure: an order comes from the seed.
 */
#ifndef ABPLAN_H
#define ABPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abstat.h"

#define ABPLAN_ARMS_MAX 8
/* Where the width decides when to stop, no earlier than this. */
#define ABPLAN_ROUNDS_MIN 8
/* More rounds than an experiment can have. */
#define ABPLAN_NEVER (ABSTAT_MAX + 1)

/*
 * The arms of a round, from 0, in the order that they are run in: order[0]
 * first; 1 <= arms <= ABPLAN_ARMS_MAX.  The same for the same seed, on any
 * machine.
 *
 * Rounds 0 to arms - 1 are a block, as are those that follow.  In a block each
 * arm runs once at each place, so that what drifts evenly adds nothing to any
 * difference; and each arm comes right after each other one equally often, over
 * a block (an even number of arms) or over blocks 2i and 2i + 1 (an odd one),
 * so that what a run leaves behind meets all (squares of Williams 1949, with
 * the arms and the rows drawn by chance).  With two arms a block is AB BA or BA
 * AB.
 */
void abplan_order(uint64_t seed, unsigned arms, uint64_t round, uint8_t *order);

/*
 * Whether to stop: the interval of a paired difference, as it comes from
 * abstat_paired, is no wider than half on either side, at confidence.  To be
 * asked after each round; the result is then read from the difference as
 * abstat_widen makes it, whatever ended the experiment.
 *
 * Stopping as soon as Student's interval is narrow enough (Chow and Robbins
 * 1965) stops where the scatter came out small: intervals of 95 % then cover
 * the truth in 93.0 % of experiments at worst.  Here an interval 1 + 2 / n
 * times as wide has to be narrow enough, after at least 8 rounds.  Simulated
 * for normal noise, 40000 experiments each at widths of 0.18 to 3.3 standard
 * deviations, the worst of them: 80.3, 90.3, 95.1, 99.0 and 99.9 % for 80, 90,
 * 95, 99 and 99.9; it takes two to four rounds more than without.
 */
bool abplan_narrow(const struct abstat_diff *d, double half, double confidence);

/*
 * The fewest rounds after which the interval of a paired difference is no wider
 * than half on either side, if the scatter of the differences is stddev;
 * by_width: by the rule of abplan_narrow.  ABPLAN_NEVER: more than ABSTAT_MAX.
 * A half-width as large as a true difference proves it in half of the cases.
 */
size_t abplan_rounds(double stddev, double half, double confidence,
		     bool by_width);

/*
 * The smallest true difference that n rounds call higher or lower with a chance
 * of power, 0.5 <= power < 1, if the scatter of the differences is stddev; at a
 * power of 0.5 the half-width.  With the scatter of an A/A experiment it is the
 * noise floor.  (t(confidence) + t(power)) * stddev / sqrt n, whose exact
 * power, by the noncentral t at 95 %, is 0.766, 0.798 and 0.800 for 0.8 at 3, 8
 * and 20 rounds.  Infinite for n < 2.
 */
double abplan_detectable(double stddev, size_t n, double confidence,
			 double power);

#endif
