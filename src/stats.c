#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define LINE_BYTES 64u /* a cache line */
#define WORD_BITS 64u
#define WORDS (STATS_WINDOW / WORD_BITS)

/* Open gaps that are told apart.  In the first half of them each keeps its own
 * time; beyond that a gap joins the one before it when both were seen within
 * 1/GAPS_EXACT of the time to wait, and is settled with that one. */
#define GAPS 512u
#define GAPS_EXACT (GAPS / 2u)

/* The jitter is kept as 16 times its value (RFC 3550 A.8); a difference of two
 * transit times is cut here (18 years) so that this fits. */
#define TRANSIT_STEP_MAX_NS (INT64_MAX / 16)

/* A time without the numbers that were due. */
struct outage {
	int64_t began_ns;  /* arrival of the number below it */
	int64_t length_ns; /* until the number above it; 0: one was not there */
};

/* The longest run of lost numbers of one row. */
struct row_gap {
	struct counter row; /* its number, from 1: the rest belongs to it */
	struct counter numbers;
	struct counter length_ns;
	struct counter began_ns;
};

/* Numbers that were found missing at one moment. */
struct gap {
	uint64_t up_to;       /* all missing numbers below, not in older gaps */
	int64_t seen_ns;      /* arrival of the number that showed it */
	uint64_t numbers;     /* its size when it was seen */
	struct outage outage; /* of the largest, where several have joined */
};

/* Numbers are below 2^63 and the one after the highest may be 2^63 itself, so
 * they are unsigned in here.  The padding is meant: what another thread writes
 * lies on cache lines of its own. */
struct stats_rx { /* NOLINT(clang-analyzer-optin.performance.Padding) */
	/* What other threads read. */
	_Alignas(LINE_BYTES) struct counter bytes;
	struct counter packets;
	struct counter jitter_ns;
	struct counter jitter_max_ns;
	struct counter jitter_sum_ns;
	struct counter lost;
	struct counter late;
	struct counter too_late;
	struct counter duplicate;
	struct counter gaps_lost;
	struct counter gap_max;
	struct counter gap_max_ns;
	struct counter gap_began_ns;
	struct counter socket_drops;
	struct counter shared_drops;
	struct counter clock_steps;
	struct row_gap row_gaps[2]; /* of even and of odd rows */

	/* What the reporter writes, others read. */
	_Alignas(LINE_BYTES) struct counter row; /* that goes on now */

	/* What each datagram needs. */
	_Alignas(LINE_BYTES) uint64_t next; /* highest received + 1 */
	uint64_t missing;     /* neither come nor settled, below next */
	int64_t settle_at_ns; /* when the oldest gap is due */
	int64_t transit_ns;   /* of the last one received */
	int64_t clock_fix_ns; /* what the sender's clock was set by */
	uint64_t jitter_x16;
	int64_t top_ns;      /* arrival of the highest number */
	int64_t top_sent_ns; /* its stamp */
	bool any;            /* at least one was received */

	/* What only gaps need. */
	_Alignas(LINE_BYTES) uint64_t base;
	bool resumed;     /* numbers below it are those of another ledger */
	int64_t first_ns; /* arrival of the first one */
	uint64_t settled; /* no number below is open; lags while none misses */
	uint64_t run;     /* lost numbers in one row right below settled */
	int64_t late_after_ns;
	int64_t join_ns; /* gaps closer than this may join */
	unsigned gap_first;
	unsigned gap_count;
	void *block; /* as allocated */

	struct hist delay;     /* of transit times */
	struct gap gaps[GAPS]; /* a ring: seen_ns and up_to only rise */
	/* A ring of bits: 1 for each of the last STATS_WINDOW numbers that
	 * came, even if too late: settled tells which of them were lost. */
	uint64_t came[WORDS];
};

/* Counts what is part of another count that was raised before: who sees this
 * one sees that one too.  To be read with get_part, before the whole. */
static void add_part(struct counter *c, uint64_t n)
{
	uint64_t v = atomic_load_explicit(&c->v, memory_order_relaxed);

	atomic_store_explicit(&c->v, v + n, memory_order_release);
}

static uint64_t get_part(const struct counter *c)
{
	return atomic_load_explicit(&c->v, memory_order_acquire);
}

static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static int64_t sub_saturated(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return difference;
}

/* The ring of bits. */

static uint64_t *came_word(struct stats_rx *rx, uint64_t number)
{
	return &rx->came[number % STATS_WINDOW / WORD_BITS];
}

static uint64_t came_bit(uint64_t number)
{
	return UINT64_C(1) << number % WORD_BITS;
}

/* How many numbers from this one on share its word, of those below limit. */
static unsigned in_word(uint64_t number, uint64_t limit)
{
	unsigned room = WORD_BITS - (unsigned)(number % WORD_BITS);

	return limit - number < room ? (unsigned)(limit - number) : room;
}

static void clear_came(struct stats_rx *rx, uint64_t from, uint64_t limit)
{
	while (from < limit) {
		unsigned n = in_word(from, limit);
		uint64_t ones = UINT64_MAX >> (WORD_BITS - n);

		*came_word(rx, from) &= ~(ones << from % WORD_BITS);
		from += n;
	}
}

/* The ring of open gaps. */

static struct gap *gap_at(struct stats_rx *rx, unsigned i)
{
	return &rx->gaps[(rx->gap_first + i) % GAPS];
}

static void plan_settling(struct stats_rx *rx)
{
	rx->settle_at_ns = INT64_MAX;
	if (rx->gap_count > 0)
		rx->settle_at_ns = add_saturated(gap_at(rx, 0)->seen_ns,
						 rx->late_after_ns);
}

static bool gaps_join(const struct stats_rx *rx, int64_t apart_ns)
{
	return apart_ns == 0 || rx->gap_count == GAPS ||
	       (rx->gap_count >= GAPS_EXACT && apart_ns < rx->join_ns);
}

static void gap_push(struct stats_rx *rx, const struct gap *gap)
{
	if (rx->gap_count > 0) {
		struct gap *newest = gap_at(rx, rx->gap_count - 1);
		int64_t apart_ns = sub_saturated(gap->seen_ns, newest->seen_ns);

		/* Times that step back count as the same moment. */
		if (gaps_join(rx, apart_ns < 0 ? 0 : apart_ns)) {
			newest->up_to = gap->up_to;
			if (gap->numbers > newest->numbers) {
				newest->numbers = gap->numbers;
				newest->outage = gap->outage;
			}
			return;
		}
	}
	*gap_at(rx, rx->gap_count++) = *gap;
	plan_settling(rx);
}

static void gap_pop(struct stats_rx *rx)
{
	rx->gap_first = (rx->gap_first + 1) % GAPS;
	rx->gap_count--;
	plan_settling(rx);
}

/* Settlement. */

static void new_longest(struct stats_rx *rx, const struct outage *outage)
{
	counter_set(&rx->gap_max_ns, (uint64_t)outage->length_ns);
	counter_set(&rx->gap_began_ns, (uint64_t)outage->began_ns);
	atomic_store_explicit(&rx->gap_max.v, rx->run, memory_order_release);
}

static void longest_of_row(struct stats_rx *rx, const struct outage *outage)
{
	uint64_t row = counter_get(&rx->row);
	struct row_gap *gap = &rx->row_gaps[row % 2];

	if (counter_get(&gap->row) != row) {
		counter_set(&gap->numbers, 0);
		counter_set(&gap->row, row);
	}
	if (rx->run <= counter_get(&gap->numbers))
		return;
	counter_set(&gap->length_ns, (uint64_t)outage->length_ns);
	counter_set(&gap->began_ns, (uint64_t)outage->began_ns);
	atomic_store_explicit(&gap->numbers.v, rx->run, memory_order_release);
}

/* The next n numbers are lost. */
static void lose(struct stats_rx *rx, uint64_t n, const struct outage *outage)
{
	counter_add(&rx->lost, n);
	if (rx->run == 0)
		add_part(&rx->gaps_lost, 1);
	rx->run += n;
	if (rx->run > counter_get(&rx->gap_max))
		new_longest(rx, outage);
	longest_of_row(rx, outage);
}

/* Settles the n numbers of the lowest n bits, run by run. */
static void settle_bits(struct stats_rx *rx, uint64_t bits, unsigned n,
			const struct outage *outage)
{
	while (n > 0) {
		bool here = bits & 1;
		uint64_t others = here ? ~bits : bits;
		unsigned same = n;

		if (others != 0 && (unsigned)__builtin_ctzll(others) < n)
			same = (unsigned)__builtin_ctzll(others);
		if (here) {
			rx->run = 0;
		} else {
			rx->missing -= same;
			lose(rx, same, outage);
		}
		n -= same;
		if (n > 0)
			bits >>= same;
	}
}

static void settle_gap(struct stats_rx *rx, const struct gap *gap,
		       uint64_t limit)
{
	while (rx->settled < limit) {
		unsigned n = in_word(rx->settled, limit);
		uint64_t bits = *came_word(rx, rx->settled);

		settle_bits(rx, bits >> rx->settled % WORD_BITS, n,
			    &gap->outage);
		rx->settled += n;
	}
}

/* Nothing is missing: all numbers from settled to next have come. */
static void all_settled(struct stats_rx *rx)
{
	if (rx->settled < rx->next) {
		rx->settled = rx->next;
		rx->run = 0;
	}
	rx->gap_first = 0;
	rx->gap_count = 0;
	plan_settling(rx);
}

/* What is missing below limit is lost from now on.  While a number is missing
 * there is a gap that it belongs to. */
static void settle_to(struct stats_rx *rx, uint64_t limit)
{
	while (rx->missing > 0 && rx->settled < limit) {
		const struct gap *gap = gap_at(rx, 0);

		settle_gap(rx, gap, limit < gap->up_to ? limit : gap->up_to);
		if (rx->settled == gap->up_to)
			gap_pop(rx);
	}
	if (rx->missing == 0)
		all_settled(rx);
}

/* Jitter, RFC 3550 6.4.1: J += (|D| - J) / 16, over arrivals. */
static void add_jitter(struct stats_rx *rx, int64_t transit_ns)
{
	int64_t step = sub_saturated(transit_ns, rx->transit_ns);
	uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;

	if (size > TRANSIT_STEP_MAX_NS)
		size = TRANSIT_STEP_MAX_NS;
	/* Rounding to the nearest leaves no bias. */
	rx->jitter_x16 += size - ((rx->jitter_x16 + 8) >> 4);

	uint64_t jitter_ns = (rx->jitter_x16 + 8) >> 4;
	uint64_t sum_ns = counter_get(&rx->jitter_sum_ns);

	counter_set(&rx->jitter_ns, jitter_ns);
	if (jitter_ns > counter_get(&rx->jitter_max_ns))
		counter_set(&rx->jitter_max_ns, jitter_ns);
	if (jitter_ns <= UINT64_MAX - sum_ns)
		counter_set(&rx->jitter_sum_ns, sum_ns + jitter_ns);
}

static void receive(struct stats_rx *rx, uint32_t bytes, int64_t sent_ns,
		    int64_t arrival_ns)
{
	int64_t transit_ns = add_saturated(sub_saturated(arrival_ns, sent_ns),
					   rx->clock_fix_ns);

	if (rx->any)
		add_jitter(rx, transit_ns);
	else
		rx->first_ns = arrival_ns;
	hist_add(&rx->delay, transit_ns);
	counter_add(&rx->packets, 1);
	counter_add(&rx->bytes, bytes);
	rx->transit_ns = transit_ns;
	rx->any = true;
}

/* Was the sender's clock set between the highest number and this higher one?
 * Then delays go on from where they were. */
static void see_clock(struct stats_rx *rx, uint64_t number, int64_t sent_ns,
		      int64_t arrival_ns)
{
	int64_t sent_gap_ns = sub_saturated(sent_ns, rx->top_sent_ns);
	int64_t gap_ns = sub_saturated(arrival_ns, rx->top_ns);

	if (!rx->any)
		return;
	if (sent_gap_ns >= -STATS_STEP_BACK_NS &&
	    (number != rx->next ||
	     sub_saturated(sent_gap_ns, gap_ns) < STATS_STEP_AHEAD_NS))
		return;
	rx->clock_fix_ns = add_saturated(rx->clock_fix_ns,
					 sub_saturated(sent_gap_ns, gap_ns));
	counter_add(&rx->clock_steps, 1);
}

static struct outage outage_until(const struct stats_rx *rx, int64_t seen_ns)
{
	int64_t length_ns = sub_saturated(seen_ns, rx->top_ns);

	if (!rx->any)
		return (struct outage){ .began_ns = seen_ns };
	return (struct outage){ .began_ns = rx->top_ns,
				.length_ns = length_ns < 0 ? 0 : length_ns };
}

/* The numbers from next up to this one have not come.  What leaves the window
 * by that is lost at once, however many they are. */
static void open_gap(struct stats_rx *rx, uint64_t number, int64_t seen_ns)
{
	uint64_t oldest = number > STATS_WINDOW ? number - STATS_WINDOW : 0;
	struct gap gap = { .up_to = number,
			   .seen_ns = seen_ns,
			   .numbers = number - rx->next,
			   .outage = outage_until(rx, seen_ns) };

	settle_to(rx, oldest);
	if (rx->next < oldest) {
		lose(rx, oldest - rx->next, &gap.outage);
		rx->next = oldest;
		rx->settled = oldest;
	}
	clear_came(rx, rx->next, number);
	rx->missing += number - rx->next;
	rx->next = number;
	gap_push(rx, &gap);
}

static void set_came(struct stats_rx *rx, uint64_t number)
{
	*came_word(rx, number) |= came_bit(number);
}

/* The number next has come; its bit is that of an older number. */
static void advance(struct stats_rx *rx, int64_t arrival_ns)
{
	if (rx->missing > 0 && rx->next - rx->settled >= STATS_WINDOW)
		settle_to(rx, rx->next - STATS_WINDOW + 1);
	set_came(rx, rx->next);
	rx->next++;
	rx->top_ns = arrival_ns;
}

static bool in_window(const struct stats_rx *rx, uint64_t number)
{
	return rx->next - number <= STATS_WINDOW;
}

/* A number below next: true when it was waited for. */
static bool fill(struct stats_rx *rx, uint64_t number)
{
	if (number < rx->base && rx->resumed) {
		counter_add(&rx->too_late, 1);
		return false;
	}
	if (number < rx->base) {
		rx->base = number;
		if (in_window(rx, number))
			set_came(rx, number);
		return true;
	}
	if (!in_window(rx, number)) {
		counter_add(&rx->too_late, 1);
		return false;
	}
	if (*came_word(rx, number) & came_bit(number)) {
		counter_add(&rx->duplicate, 1);
		return false;
	}
	set_came(rx, number);
	if (number < rx->settled) {
		counter_add(&rx->too_late, 1);
		return false;
	}
	if (--rx->missing == 0)
		all_settled(rx);
	return true;
}

/* Until a number came the base can still move down as if it were asked for. */
static bool starts_below(struct stats_rx *rx, uint64_t number)
{
	if (rx->resumed || number >= rx->base || rx->next != rx->base)
		return false;
	rx->base = number;
	rx->next = number;
	rx->settled = number;
	return true;
}

void stats_rx_start(struct stats_rx *rx, int64_t base)
{
	assert(base >= 0 && !rx->any);
	rx->base = (uint64_t)base;
	rx->next = rx->base;
	rx->settled = rx->base;
}

void stats_rx_resume(struct stats_rx *rx, int64_t base)
{
	stats_rx_start(rx, base);
	rx->resumed = true;
}

struct stats_rx *stats_rx_new(int64_t base, int64_t late_after_ns)
{
	/* Pages that are never touched need not exist, so no aligned_alloc and
	 * memset. */
	char *block = calloc(1, sizeof(struct stats_rx) + LINE_BYTES - 1);
	struct stats_rx *rx;

	assert(late_after_ns >= 0);
	if (block == NULL)
		return NULL;
	rx = (void *)(block + (-(uintptr_t)block & (LINE_BYTES - 1)));
	rx->block = block;
	stats_rx_start(rx, base);
	rx->late_after_ns = late_after_ns;
	rx->join_ns = late_after_ns / GAPS_EXACT + 1;
	counter_set(&rx->row, 1); /* 0 stands for no row */
	plan_settling(rx);
	return rx;
}

void stats_rx_free(struct stats_rx *rx)
{
	if (rx != NULL)
		free(rx->block);
}

void stats_rx_add(struct stats_rx *rx, int64_t seq, uint32_t bytes,
		  int64_t sent_ns, int64_t arrival_ns)
{
	uint64_t number = (uint64_t)seq;

	assert(seq >= 0);
	if (arrival_ns >= rx->settle_at_ns)
		stats_rx_settle(rx, arrival_ns);
	if (number < rx->next && !starts_below(rx, number)) {
		if (fill(rx, number)) {
			receive(rx, bytes, sent_ns, arrival_ns);
			add_part(&rx->late, 1);
		}
		return;
	}
	see_clock(rx, number, sent_ns, arrival_ns);
	if (number > rx->next)
		open_gap(rx, number, arrival_ns);
	advance(rx, arrival_ns);
	rx->top_sent_ns = sent_ns;
	receive(rx, bytes, sent_ns, arrival_ns);
}

/* How many numbers from this one on are settled as lost in one row. */
static uint64_t lost_from(struct stats_rx *rx, uint64_t number)
{
	uint64_t end = number;

	while (end < rx->settled && in_window(rx, end) &&
	       !(*came_word(rx, end) & came_bit(end)))
		end++;
	return end - number;
}

void stats_rx_from_zero(struct stats_rx *rx)
{
	uint64_t base = rx->base;

	if (starts_below(rx, 0) || base == 0 || rx->resumed)
		return;

	uint64_t behind = lost_from(rx, base);

	counter_add(&rx->lost, base);
	/* a run of its own, unless the numbers behind it are lost as well */
	if (behind == 0)
		add_part(&rx->gaps_lost, 1);
	if (base + behind > counter_get(&rx->gap_max)) {
		counter_set(&rx->gap_max_ns, 0);
		counter_set(&rx->gap_began_ns, (uint64_t)rx->first_ns);
		atomic_store_explicit(&rx->gap_max.v, base + behind,
				      memory_order_release);
	}
	/* what is missing right behind it goes on with this run */
	if (rx->settled == base)
		rx->run = base;
	if (in_window(rx, 0))
		clear_came(rx, 0, base);
	rx->base = 0;
}

void stats_rx_settle(struct stats_rx *rx, int64_t now_ns)
{
	while (rx->gap_count > 0 && now_ns >= rx->settle_at_ns)
		settle_to(rx, gap_at(rx, 0)->up_to);
}

bool stats_rx_missing(const struct stats_rx *rx, int64_t total)
{
	return rx->missing > 0 || (total >= 0 && (uint64_t)total > rx->next);
}

void stats_rx_end(struct stats_rx *rx, int64_t total)
{
	if (total >= 0 && (uint64_t)total > rx->next)
		open_gap(rx, (uint64_t)total, rx->top_ns);
	settle_to(rx, rx->next);
}

/* Parts before the whole: late before packets, gaps before lost. */
void stats_rx_snap(const struct stats_rx *rx, struct stats_snap *out)
{
	*out = (struct stats_snap){ .gap_max = get_part(&rx->gap_max) };
	out->gap_max_ns = (int64_t)counter_get(&rx->gap_max_ns);
	out->gap_began_ns = (int64_t)counter_get(&rx->gap_began_ns);
	out->gaps = get_part(&rx->gaps_lost);
	out->late = get_part(&rx->late);
	out->lost = counter_get(&rx->lost);
	out->too_late = counter_get(&rx->too_late);
	out->duplicate = counter_get(&rx->duplicate);
	out->jitter_ns = (int64_t)counter_get(&rx->jitter_ns);
	out->jitter_max_ns = (int64_t)counter_get(&rx->jitter_max_ns);
	out->jitter_sum_ns = counter_get(&rx->jitter_sum_ns);
	out->socket_drops = counter_get(&rx->socket_drops);
	out->shared_drops = counter_get(&rx->shared_drops);
	out->clock_steps = counter_get(&rx->clock_steps);
	out->bytes = counter_get(&rx->bytes);
	out->packets = counter_get(&rx->packets);
}

void stats_rx_cut(struct stats_rx *rx, struct stats_snap *out)
{
	uint64_t row = counter_get(&rx->row);
	const struct row_gap *gap = &rx->row_gaps[row % 2];

	counter_set(&rx->row, row + 1);
	stats_rx_snap(rx, out);
	if (counter_get(&gap->row) != row)
		return;
	out->row_gap_max = get_part(&gap->numbers);
	out->row_gap_max_ns = (int64_t)counter_get(&gap->length_ns);
	out->row_gap_began_ns = (int64_t)counter_get(&gap->began_ns);
}

void stats_rx_dropped(struct stats_rx *rx, uint64_t n, bool shared)
{
	counter_add(shared ? &rx->shared_drops : &rx->socket_drops, n);
}

void stats_rx_delay(const struct stats_rx *rx, struct stats_delay *out)
{
	const struct hist *h = &rx->delay;

	*out = (struct stats_delay){
		.known = h->count > 0,
		.count = h->count,
		.mean_ns = hist_mean(h),
		.p50_ns = hist_quantile(h, 500),
		.p99_ns = hist_quantile(h, 990),
		.p999_ns = hist_quantile(h, 999),
		.max_ns = hist_quantile(h, 1000),
	};
}

const struct hist *stats_rx_hist(const struct stats_rx *rx)
{
	return &rx->delay;
}

void stats_io_snap(const struct stats_io *io, struct stats_snap *out)
{
	*out = (struct stats_snap){
		.bytes = counter_get(&io->bytes),
		.packets = counter_get(&io->calls),
		.errors = counter_get(&io->errors),
		.blocked = counter_get(&io->blocked),
		.icmp = counter_get(&io->icmp),
	};
}

/* out may be one of the two. */
void stats_diff(struct stats_snap *out, const struct stats_snap *now,
		const struct stats_snap *before)
{
	*out = (struct stats_snap){
		.bytes = now->bytes - before->bytes,
		.written = now->written - before->written,
		.packets = now->packets - before->packets,
		.lost = now->lost - before->lost,
		.late = now->late - before->late,
		.too_late = now->too_late - before->too_late,
		.duplicate = now->duplicate - before->duplicate,
		.gaps = now->gaps - before->gaps,
		.errors = now->errors - before->errors,
		.blocked = now->blocked - before->blocked,
		.icmp = now->icmp - before->icmp,
		.gap_max = now->gap_max,
		.gap_max_ns = now->gap_max_ns,
		.gap_began_ns = now->gap_began_ns,
		.jitter_ns = now->jitter_ns,
		.jitter_max_ns = now->jitter_max_ns,
		.jitter_sum_ns = now->jitter_sum_ns - before->jitter_sum_ns,
		.row_gap_max = now->row_gap_max,
		.row_gap_max_ns = now->row_gap_max_ns,
		.row_gap_began_ns = now->row_gap_began_ns,
		.socket_drops = now->socket_drops - before->socket_drops,
		.shared_drops = now->shared_drops - before->shared_drops,
		.drops_told = now->drops_told,
		.clock_steps = now->clock_steps - before->clock_steps,
		.samples = now->samples - before->samples,
		.sample_sum_ns = now->sample_sum_ns - before->sample_sum_ns,
		.sample_squares_us2 =
			now->sample_squares_us2 - before->sample_squares_us2,
		.sample_min_ns = now->sample_min_ns,
		.sample_max_ns = now->sample_max_ns,
	};
}

void stats_join_rows(struct stats_snap *row, const struct stats_snap *other)
{
	if (other->sample_min_ns < row->sample_min_ns)
		row->sample_min_ns = other->sample_min_ns;
	if (other->sample_max_ns > row->sample_max_ns)
		row->sample_max_ns = other->sample_max_ns;
	if (row->row_gap_max > other->row_gap_max ||
	    (row->row_gap_max == other->row_gap_max &&
	     row->row_gap_max_ns >= other->row_gap_max_ns))
		return;
	row->row_gap_max = other->row_gap_max;
	row->row_gap_max_ns = other->row_gap_max_ns;
	row->row_gap_began_ns = other->row_gap_began_ns;
}

static bool longer_gap(const struct stats_snap *a, const struct stats_snap *b)
{
	if (a->gap_max != b->gap_max)
		return a->gap_max > b->gap_max;
	return a->gap_max_ns > b->gap_max_ns;
}

void stats_sum(struct stats_snap *sum, const struct stats_snap *one)
{
	sum->bytes += one->bytes;
	sum->written += one->written;
	sum->packets += one->packets;
	sum->lost += one->lost;
	sum->late += one->late;
	sum->too_late += one->too_late;
	sum->duplicate += one->duplicate;
	sum->gaps += one->gaps;
	sum->errors += one->errors;
	sum->blocked += one->blocked;
	sum->icmp += one->icmp;
	sum->jitter_sum_ns += one->jitter_sum_ns;
	sum->socket_drops += one->socket_drops;
	sum->shared_drops += one->shared_drops;
	sum->drops_told = sum->drops_told || one->drops_told;
	sum->clock_steps += one->clock_steps;
	if (sum->samples == 0) {
		sum->sample_min_ns = one->sample_min_ns;
		sum->sample_max_ns = one->sample_max_ns;
	}
	sum->samples += one->samples;
	sum->sample_sum_ns += one->sample_sum_ns;
	sum->sample_squares_us2 += one->sample_squares_us2;
	stats_join_rows(sum, one);
	if (longer_gap(one, sum)) {
		sum->gap_max = one->gap_max;
		sum->gap_max_ns = one->gap_max_ns;
		sum->gap_began_ns = one->gap_began_ns;
	}
	if (one->jitter_ns > sum->jitter_ns)
		sum->jitter_ns = one->jitter_ns;
	if (one->jitter_max_ns > sum->jitter_max_ns)
		sum->jitter_max_ns = one->jitter_max_ns;
}

double stats_sample_mean(const struct stats_snap *s)
{
	return s->samples > 0 ? (double)s->sample_sum_ns / (double)s->samples
			      : 0;
}

double stats_sample_deviation(const struct stats_snap *s)
{
	double mean_us = stats_sample_mean(s) / 1e3;
	double variance = s->samples > 0 ? (double)s->sample_squares_us2 /
							   (double)s->samples -
						   mean_us * mean_us
					 : 0;

	return variance > 0 ? sqrt(variance) * 1e3 : 0;
}

uint64_t stats_sent(const struct stats_snap *s)
{
	return s->packets + s->lost;
}

int64_t stats_jitter_mean(const struct stats_snap *s)
{
	return s->packets > 0 ? (int64_t)(s->jitter_sum_ns / s->packets) : 0;
}
