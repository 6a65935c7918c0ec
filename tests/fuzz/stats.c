/*
 * stats: the input is a course of a UDP receiver's ledger: numbers, stamps and
 * times of any size and order, settling, rows and ends.
 */
#include "stats.h"

#include <assert.h>
#include <string.h>

#include "fuzz.h"

#define MAX_ADDS 512
#define MS_NS INT64_C(1000000)

/* What is known of the course besides the ledger. */
struct course {
	struct fuzz in;
	struct stats_rx *rx;
	int64_t now_ns;
	int64_t sent_ns;
	bool resumed;               /* it goes on where another ledger ended */
	uint64_t lowest;            /* number that counts */
	uint64_t next;              /* behind the highest */
	uint64_t numbers[MAX_ADDS]; /* each that came, once */
	size_t distinct;
	uint64_t adds;
	uint64_t bytes;
	struct stats_snap seen; /* the last snapshot */
	struct stats_snap rows; /* the sum of all rows */
	struct stats_snap cut;  /* the end of the last row */
};

/* Counts only grow, and so do the largest that ever were. */
static void check_growth(const struct stats_snap *now,
			 const struct stats_snap *before)
{
	assert(now->bytes >= before->bytes && now->packets >= before->packets);
	assert(now->lost >= before->lost && now->late >= before->late);
	assert(now->too_late >= before->too_late);
	assert(now->duplicate >= before->duplicate);
	assert(now->gaps >= before->gaps && now->gap_max >= before->gap_max);
	assert(now->jitter_max_ns >= before->jitter_max_ns);
	assert(now->jitter_sum_ns >= before->jitter_sum_ns);
	assert(now->clock_steps >= before->clock_steps);
	assert(now->socket_drops >= before->socket_drops);
	assert(now->shared_drops >= before->shared_drops);
}

/* The ledger of a snapshot is true in itself. */
static void check_snap(const struct stats_snap *s)
{
	assert(s->late <= s->packets);
	assert(stats_sent(s) <= (uint64_t)INT64_MAX + 1);
	assert(s->gaps <= s->lost && s->gap_max <= s->lost);
	assert((s->gaps > 0) == (s->lost > 0));
	assert((s->gap_max > 0) == (s->lost > 0));
	assert(s->gap_max_ns >= 0);
	assert(s->jitter_ns >= 0 && s->jitter_ns <= s->jitter_max_ns);
	assert(stats_jitter_mean(s) >= 0);
	assert(stats_jitter_mean(s) <= s->jitter_max_ns);
}

/* What came, and what is missing, is counted once. */
static void check_ledger(const struct course *c, const struct stats_snap *s)
{
	uint64_t numbers = c->next - c->lowest;

	assert(s->packets + s->too_late + s->duplicate == c->adds);
	assert(s->packets <= c->distinct && s->bytes <= c->bytes);
	assert(stats_sent(s) <= numbers);
	if (!stats_rx_missing(c->rx, -1))
		assert(stats_sent(s) == numbers);
}

static void check_delay(const struct course *c)
{
	struct stats_delay d;

	stats_rx_delay(c->rx, &d);
	assert(d.count == c->seen.packets && d.known == (d.count > 0));
	assert(d.p50_ns >= 0 && d.p50_ns <= d.p99_ns);
	assert(d.p99_ns <= d.p999_ns && d.p999_ns <= d.max_ns);
	assert(d.mean_ns >= 0 && d.mean_ns <= d.max_ns);
}

static void check(struct course *c)
{
	struct stats_snap now;

	stats_rx_snap(c->rx, &now);
	check_growth(&now, &c->seen);
	check_snap(&now);
	check_ledger(c, &now);
	c->seen = now;
}

static void end_row(struct course *c)
{
	struct stats_snap now;
	struct stats_snap row;

	stats_rx_cut(c->rx, &now);
	assert(now.row_gap_max <= now.gap_max && now.row_gap_max_ns >= 0);
	check_growth(&now, &c->cut);
	stats_diff(&row, &now, &c->cut);
	stats_sum(&c->rows, &row);
	assert(c->rows.packets == now.packets && c->rows.lost == now.lost);
	assert(c->rows.bytes == now.bytes && c->rows.late == now.late);
	assert(c->rows.gap_max == now.gap_max);
	c->cut = now;
}

static void remember(struct course *c, uint64_t number)
{
	size_t i = 0;

	while (i < c->distinct && c->numbers[i] != number)
		i++;
	c->numbers[i] = number;
	if (i == c->distinct)
		c->distinct++;
}

static void add(struct course *c, uint64_t number, uint32_t bytes)
{
	if (number > INT64_MAX || c->adds == MAX_ADDS)
		return;
	stats_rx_add(c->rx, (int64_t)number, bytes, c->sent_ns, c->now_ns);
	c->adds++;
	c->bytes += bytes;
	remember(c, number);
	if (number < c->lowest && !c->resumed) {
		if (c->next == c->lowest)
			c->next = number;
		c->lowest = number;
	}
	if (number >= c->next)
		c->next = number + 1;
}

static void end(struct course *c, int64_t total)
{
	stats_rx_end(c->rx, total);
	assert(!stats_rx_missing(c->rx, total));
	if (total >= 0 && (uint64_t)total > c->next)
		c->next = (uint64_t)total;
}

static void begin_at_zero(struct course *c)
{
	stats_rx_from_zero(c->rx);
	if (c->resumed)
		return;
	if (c->next == c->lowest)
		c->next = 0;
	c->lowest = 0;
}

/* A number near what matters: the next one, the window, the largest. */
static uint64_t any_number(struct course *c)
{
	int8_t by = (int8_t)fuzz_byte(&c->in);

	switch (fuzz_byte(&c->in) % 6) {
	case 0:
		return c->next - STATS_WINDOW + (uint64_t)by;
	case 1:
		return c->next + STATS_WINDOW + (uint64_t)by;
	case 2:
		return c->lowest + (uint64_t)by;
	case 3:
		return INT64_MAX - (uint64_t)(by < 0 ? -by : by);
	case 4:
		return c->next + fuzz_number(&c->in, 2);
	default:
		return fuzz_number(&c->in, 8);
	}
}

static void pass_time(struct course *c)
{
	static const int64_t steps_ns[] = { 0,          1,          MS_NS,
					    MS_NS * 20, MS_NS * 99, MS_NS * 100,
					    -MS_NS };
	uint8_t how = fuzz_byte(&c->in);
	int64_t step_ns = steps_ns[how % 7];

	if (how >= 0xf0)
		c->now_ns = (int64_t)fuzz_number(&c->in, 8);
	else if (__builtin_add_overflow(c->now_ns, step_ns, &c->now_ns))
		c->now_ns = 0;
	if (how >= 0xe0)
		c->sent_ns = (int64_t)fuzz_number(&c->in, 8);
	else if (__builtin_add_overflow(c->sent_ns, step_ns, &c->sent_ns))
		c->sent_ns = 0;
}

static void step(struct course *c)
{
	uint8_t what = fuzz_byte(&c->in);

	pass_time(c);
	switch (what % 8) {
	case 0:
	case 1: /* in order, some left out */
		add(c, c->next + what / 64, what);
		break;
	case 2: /* one that came before, or is late */
		add(c, c->next - what / 8, what);
		break;
	case 3:
		add(c, any_number(c), UINT32_MAX);
		break;
	case 4:
		stats_rx_settle(c->rx, c->now_ns);
		break;
	case 5:
		end_row(c);
		break;
	case 6:
		if (what < 128)
			stats_rx_dropped(c->rx, what, what % 16 > 8);
		else
			begin_at_zero(c);
		break;
	case 7:
		end(c, what < 128 ? -1 : (int64_t)any_number(c));
		break;
	}
	check(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct course c; /* too large for a stack */
	static const int64_t late_after_ns[] = { MS_NS * 100, 0, 1, INT64_MAX };
	struct fuzz in = { p, n };
	uint8_t how = fuzz_byte(&in);
	uint64_t base = how % 4 < 3 ? how % 2 : fuzz_number(&in, 8) & INT64_MAX;

	memset(&c, 0, sizeof(c));
	c.resumed = how % 4 == 3;
	c.in = in;
	c.lowest = base;
	c.next = base;
	c.rx = stats_rx_new((int64_t)base, late_after_ns[how / 4 % 4]);
	assert(c.rx != NULL);
	if (c.resumed)
		stats_rx_resume(c.rx, (int64_t)base);
	while (c.in.left > 0)
		step(&c);
	end(&c, -1);
	check(&c);
	end_row(&c);
	check_delay(&c);
	stats_rx_free(c.rx);
	return 0;
}
