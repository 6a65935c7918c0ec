/*
 * check_report: which rows report makes of streams that are built by hand,
 * with times of the test's own.  Lines are read back from memory, and a writer
 * that keeps records stands beside out_text.
 */
#include "report.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define SEC(s) ((int64_t)((s)*1e9 + 0.5))
#define MS INT64_C(1000000) /* ns */
#define MBYTE 1048576u
/* When tests begin: far from 0, as the clock is. */
#define START_NS INT64_C(5000000000000)
#define AT(s) (START_NS + SEC(s))
#define LATE_AFTER_NS (100 * MS)
#define STREAMS_MAX 4
#define HEAD "[ ID] Interval       Transfer     Bandwidth\n"
#define UDP_HEAD                                                               \
	"[ ID] Interval       Transfer     Bandwidth        Jitter   "         \
	"Lost/Total Datagrams\n"

/* A writer that keeps what it gets. */

static struct {
	struct record rows[400];
	size_t n;
} kept;

static void keep_row(struct out *o, const struct record *r)
{
	(void)o;
	ck_assert_uint_lt(kept.n, COUNT(kept.rows));
	kept.rows[kept.n++] = *r;
}

static void no_banner(struct out *o, const struct out_banner *b)
{
	(void)o;
	(void)b;
}

static void no_connected(struct out *o, const struct out_conn *c)
{
	(void)o;
	(void)c;
}

static void no_note(struct out *o, int id, const char *text)
{
	(void)o;
	(void)id;
	(void)text;
}

static void no_failed(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

static const struct out_writer keeper = {
	.banner = no_banner,
	.connected = no_connected,
	.interval = keep_row,
	.last = keep_row,
	.server_report = keep_row,
	.note = no_note,
	.failed = no_failed,
};

/* A report with its outs and streams. */
struct bench {
	struct options o;
	struct out outs[3]; /* text, the keeper, JSON */
	struct report *r;
	char *text;
	size_t len;
	char *json;
	size_t json_len;
	struct stream *streams[STREAMS_MAX];
	int n;
};

/* Lines of connections have a test of their own. */
static struct options client(void)
{
	return (struct options){ .side = OPTIONS_CLIENT,
				 .interval_ns = SEC(1),
				 .exclude = OPTIONS_NO_CONNECT };
}

static struct options udp_server(void)
{
	struct options o = client();

	o.side = OPTIONS_SERVER;
	o.udp = true;
	return o;
}

static void bench_open(struct bench *b, struct options o, int time_decimals)
{
	struct out_style style = { .dialect = o.dialect,
				   .format = 'a',
				   .enhanced = o.enhanced,
				   .time_decimals = time_decimals };

	*b = (struct bench){ .o = o };
	kept.n = 0;
	b->outs[0] = (struct out){ .writer = &out_text, .style = style };
	b->outs[1] = (struct out){ .writer = &keeper, .style = style };
	b->outs[2] = (struct out){ .writer = &out_json, .style = style };
	b->outs[0].file = open_memstream(&b->text, &b->len);
	b->outs[2].file = open_memstream(&b->json, &b->json_len);
	ck_assert_ptr_nonnull(b->outs[0].file);
	ck_assert_ptr_nonnull(b->outs[2].file);
	b->r = report_new(&b->o, b->outs, COUNT(b->outs));
	ck_assert_ptr_nonnull(b->r);
}

static int64_t tick(struct bench *b, double s)
{
	return report_tick(b->r, AT(s));
}

static void text_is(struct bench *b, const char *expected)
{
	ck_assert_str_eq(b->text != NULL ? b->text : "", expected);
}

/* All streams are closed and leave; what was written stays to be read. */
static void leave(struct bench *b, double s)
{
	for (int i = 0; i < b->n; i++)
		atomic_store(&b->streams[i]->closed, true);
	tick(b, s);
	ck_assert_uint_eq(report_streams(b->r), 0);
	for (int i = 0; i < b->n; i++)
		ck_assert(atomic_load(&b->streams[i]->reported));
}

static void bench_close(struct bench *b, double s)
{
	leave(b, s);
	report_free(b->r);
	for (int i = 0; i < b->n; i++)
		stream_free(b->streams[i]);
	fclose(b->outs[0].file);
	fclose(b->outs[2].file);
	free(b->text);
	free(b->json);
}

static void bench_ends(struct bench *b, double s, const char *expected)
{
	leave(b, s);
	text_is(b, expected);
	bench_close(b, s);
}

/* A stream that the report does not have yet; with an omit_ns as in o. */
static struct stream *make(struct bench *b, bool udp, bool receiver)
{
	struct stream *s = stream_new(-1, false, udp, receiver, 0);

	ck_assert_ptr_nonnull(s);
	ck_assert_int_lt(b->n, STREAMS_MAX);
	s->conn = (struct out_conn){ .udp = udp,
				     .client = !receiver,
				     .local = "10.0.0.1",
				     .peer = "10.0.0.2",
				     .local_port = (uint16_t)(50001 + b->n),
				     .peer_port = 5001 };
	s->omit_ns = b->o.omit_ns;
	if (udp && receiver)
		ck_assert_int_eq(stream_ledger(s, 0, LATE_AFTER_NS), 0);
	b->streams[b->n++] = s;
	return s;
}

static void add_as(struct bench *b, struct stream *s, const char *key,
		   uint32_t expected)
{
	ck_assert_int_eq(report_add(b->r, s, key, expected), 0);
}

/* One of a test with so many streams; it begins at once. */
static struct stream *running(struct bench *b, bool udp, bool receiver,
			      uint32_t expected)
{
	struct stream *s = make(b, udp, receiver);

	atomic_store(&s->start_ns, START_NS);
	add_as(b, s, "10.0.0.2", expected);
	return s;
}

static void move(struct stream *s, uint64_t bytes)
{
	counter_add(&s->io.bytes, bytes);
	counter_add(&s->io.calls, 1);
}

static void end(struct stream *s, double at)
{
	stream_ended(s, AT(at));
}

/* What must hold of rows. */

#define COUNTER(name) #name, offsetof(struct stats_snap, name)
static const struct {
	const char *name;
	size_t at;
} counters[] = {
	{ COUNTER(bytes) },        { COUNTER(written) },
	{ COUNTER(packets) },      { COUNTER(errors) },
	{ COUNTER(blocked) },      { COUNTER(icmp) },
	{ COUNTER(lost) },         { COUNTER(late) },
	{ COUNTER(too_late) },     { COUNTER(duplicate) },
	{ COUNTER(gaps) },         { COUNTER(jitter_sum_ns) },
	{ COUNTER(socket_drops) }, { COUNTER(shared_drops) },
	{ COUNTER(clock_steps) },
};

static uint64_t count_of(const struct stats_snap *d, int counter)
{
	uint64_t count;

	memcpy(&count, (const char *)d + counters[counter].at, sizeof(count));
	return count;
}

static void same_counts(const struct stats_snap *a, const struct stats_snap *b)
{
	for (int i = 0; i < COUNT(counters); i++)
		ck_assert_msg(count_of(a, i) == count_of(b, i),
			      "%s: %llu and %llu", counters[i].name,
			      (unsigned long long)count_of(a, i),
			      (unsigned long long)count_of(b, i));
}

/* Row number n of stream id (-1: the sum), or its total. */
static const struct record *row_of(int id, int n, bool total)
{
	for (size_t i = 0; i < kept.n; i++) {
		const struct record *r = &kept.rows[i];

		if (r->id == id && r->total == total && !r->relayed && n-- == 0)
			return r;
	}
	return NULL;
}

static const struct record *total_of(int id)
{
	const struct record *r = row_of(id, 0, true);

	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_null(row_of(id, 1, true));
	ck_assert_int_eq(r->sum, id < 0);
	return r;
}

static int rows_of(int id)
{
	int n = 0;

	while (row_of(id, n, false) != NULL)
		n++;
	return n;
}

/* Rows follow each other without a hole, and those that count are the total. */
static void rows_add_up(int id)
{
	const struct record *total = total_of(id), *r;
	struct stats_snap sum = { .bytes = 0 };
	int64_t at_ns = 0;
	bool counts = false;

	for (int n = 0; (r = row_of(id, n, false)) != NULL; n++) {
		ck_assert_int_eq(r->start_ns, at_ns);
		ck_assert_int_gt(r->end_ns, r->start_ns);
		at_ns = r->end_ns;
		if (r->omitted) {
			ck_assert(!counts);
			continue;
		}
		if (!counts)
			ck_assert_int_eq(total->start_ns, r->start_ns);
		counts = true;
		stats_sum(&sum, &r->d);
	}
	ck_assert(counts);
	ck_assert_int_eq(total->end_ns, at_ns);
	same_counts(&sum, &total->d);
}

/* Each sum row is the sum of the rows of two streams. */
static void sums_are_of(int a, int b)
{
	const struct record *sum;
	int n = 0;

	for (; (sum = row_of(-1, n, false)) != NULL; n++) {
		const struct record *one = row_of(a, n, false);
		const struct record *two = row_of(b, n, false);
		struct stats_snap both;

		ck_assert(one != NULL && two != NULL);
		both = one->d;
		stats_sum(&both, &two->d);
		same_counts(&both, &sum->d);
		ck_assert(sum->sum);
		ck_assert_uint_eq(sum->streams, 2);
		ck_assert_int_eq(sum->omitted, one->omitted);
		ck_assert_int_eq(sum->omitted, two->omitted);
		ck_assert_int_eq(sum->end_ns, one->end_ns > two->end_ns
						      ? one->end_ns
						      : two->end_ns);
	}
	ck_assert_int_eq(n, rows_of(a));
	ck_assert_int_eq(n, rows_of(b));
}

/* Rows and totals. */

START_TEST(rows_come_on_the_grid_and_the_total_last)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(3);
	ck_assert_int_eq(tick(&b, 0), AT(1));
	move(s, MBYTE);
	ck_assert_int_eq(tick(&b, 0.5), AT(1));
	text_is(&b, "");
	ck_assert_int_eq(tick(&b, 1), AT(2));
	text_is(&b, HEAD "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n");
	move(s, 2 * MBYTE);
	ck_assert_int_eq(tick(&b, 2), AT(3));
	move(s, 3 * MBYTE);
	/* the end may come: this row waits for it */
	ck_assert_int_eq(tick(&b, 3), AT(3.95));
	end(s, 3);
	ck_assert_int_eq(tick(&b, 3.001), INT64_MAX);
	bench_ends(&b, 4,
		   HEAD "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3]  1.0- 2.0 sec  2.00 MBytes  16.8 Mbits/sec\n"
			"[  3]  2.0- 3.0 sec  3.00 MBytes  25.2 Mbits/sec\n"
			"[  3]  0.0- 3.0 sec  6.00 MBytes  16.8 Mbits/sec\n");
}
END_TEST

/* A tick that is late makes one longer row, and the grid stays. */
START_TEST(late_tick_does_not_move_the_grid)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(10);
	tick(&b, 0);
	move(s, MBYTE);
	ck_assert_int_eq(tick(&b, 2.3), AT(3));
	move(s, MBYTE);
	ck_assert_int_eq(tick(&b, 3), AT(4));
	end(s, 3.5);
	move(s, MBYTE);
	tick(&b, 3.5);
	bench_ends(&b, 4,
		   HEAD "[  3]  0.0- 2.3 sec  1.00 MBytes  3.65 Mbits/sec\n"
			"[  3]  2.3- 3.0 sec  1.00 MBytes  12.0 Mbits/sec\n"
			"[  3]  3.0- 3.5 sec  1.00 MBytes  16.8 Mbits/sec\n"
			"[  3]  0.0- 3.5 sec  3.00 MBytes  7.19 Mbits/sec\n");
}
END_TEST

START_TEST(stream_that_has_not_begun_has_no_rows)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = make(&b, false, false);
	add_as(&b, s, "a", 1);
	ck_assert_int_eq(tick(&b, 0), AT(0.05));
	ck_assert_int_eq(tick(&b, 5), AT(5.05));
	text_is(&b, "");
	/* times of rows are those of the stream */
	atomic_store(&s->start_ns, AT(5.04));
	ck_assert_int_eq(tick(&b, 5.05), AT(6.04));
	move(s, MBYTE);
	end(s, 5.54);
	tick(&b, 5.6);
	bench_ends(&b, 6,
		   HEAD "[  3]  0.0- 0.5 sec  1.00 MBytes  16.8 Mbits/sec\n"
			"[  3]  0.0- 0.5 sec  1.00 MBytes  16.8 Mbits/sec\n");
}
END_TEST

/* It ended before anything moved: its total says so. */
START_TEST(stream_that_never_began_has_an_empty_total)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = make(&b, false, false);
	add_as(&b, s, "a", 1);
	tick(&b, 0);
	end(s, 2);
	tick(&b, 2);
	bench_ends(&b, 2,
		   HEAD "[  3]  0.0- 0.0 sec  0.00 Bytes  0.00 bits/sec\n");
}
END_TEST

START_TEST(interval_0_means_totals_only)
{
	struct options o = client();
	struct bench b;
	struct stream *s;

	o.interval_ns = 0;
	bench_open(&b, o, 1);
	for (int i = 0; i < 2; i++)
		running(&b, false, false, 2);
	ck_assert_int_eq(tick(&b, 0), INT64_MAX);
	for (int i = 0; i < 2; i++) {
		s = b.streams[i];
		move(s, MBYTE);
		ck_assert_int_eq(tick(&b, 1.5), INT64_MAX);
		end(s, 2);
	}
	tick(&b, 2);
	bench_ends(&b, 3,
		   HEAD "[  3]  0.0- 2.0 sec  1.00 MBytes  4.19 Mbits/sec\n"
			"[  4]  0.0- 2.0 sec  1.00 MBytes  4.19 Mbits/sec\n"
			"[SUM]  0.0- 2.0 sec  2.00 MBytes  8.39 Mbits/sec\n");
}
END_TEST

/* The last row: 5 % of the interval are 50 ms. */
static const struct {
	double end;
	bool told; /* the end was to be expected at 2 s */
	int rows;
	double from; /* of the last row */
} ends[] = {
	{ 2, true, 2, 1 },      { 2, false, 2, 1 },    { 2.001, true, 2, 1 },
	{ 2.001, false, 2, 1 }, { 2.049, true, 2, 1 }, { 2.049, false, 2, 1 },
	{ 2.05, true, 3, 2 },   { 2.05, false, 3, 2 }, { 2.06, true, 3, 2 },
	{ 2.06, false, 3, 2 },  { 2.5, true, 3, 2 },   { 2.5, false, 3, 2 },
	{ 1.96, true, 2, 1 },   { 1.96, false, 2, 1 }, { 1.06, false, 2, 1 },
	{ 1.04, false, 1, 0 },  { 0.04, true, 1, 0 },  { 0.04, false, 1, 0 },
};

START_TEST(last_short_row_joins_the_one_before)
{
	int64_t end_ns = AT(ends[_i].end), due_ns = START_NS;
	const struct record *last;
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_ns = ends[_i].told ? SEC(2) : 0;
	for (int64_t ns = START_NS; ns < end_ns; ns += MS) {
		if (ns >= due_ns)
			due_ns = report_tick(b.r, ns);
		move(s, 1000);
	}
	stream_ended(s, end_ns);
	report_tick(b.r, end_ns);
	ck_assert_int_eq(rows_of(3), ends[_i].rows);
	rows_add_up(3);
	last = row_of(3, ends[_i].rows - 1, false);
	ck_assert_int_eq(last->start_ns, SEC(ends[_i].from));
	ck_assert_int_eq(last->end_ns, end_ns - START_NS);
	bench_close(&b, 3);
}
END_TEST

START_TEST(joined_row_shows_its_true_end)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 2);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(2);
	tick(&b, 0);
	move(s, MBYTE);
	tick(&b, 1);
	move(s, MBYTE);
	tick(&b, 2);
	move(s, MBYTE);
	end(s, 2.04);
	tick(&b, 2.045);
	bench_ends(&b, 3,
		   HEAD "[  3] 0.00-1.00 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3] 1.00-2.04 sec  2.00 MBytes  16.1 Mbits/sec\n"
			"[  3] 0.00-2.04 sec  3.00 MBytes  12.3 Mbits/sec\n");
}
END_TEST

/* On a busy host the end is known long after its time. */
START_TEST(end_that_is_known_late_joins_too)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(1);
	tick(&b, 0);
	move(s, MBYTE);
	tick(&b, 1);
	tick(&b, 1.05);
	tick(&b, 1.4);
	ck_assert_int_eq(rows_of(3), 0);
	move(s, MBYTE);
	end(s, 1.01);
	tick(&b, 1.45);
	ck_assert_int_eq(rows_of(3), 1);
	ck_assert_int_eq(row_of(3, 0, false)->end_ns, SEC(1.01));
	rows_add_up(3);
	bench_close(&b, 3);
}
END_TEST

/* With an amount: the row that may be the last one waits. */
START_TEST(amount_tells_when_the_end_is_near)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_bytes = 4 * MBYTE;
	tick(&b, 0);
	move(s, 2 * MBYTE);
	ck_assert_int_eq(tick(&b, 1), AT(2));
	move(s, 2 * MBYTE - 1000);
	ck_assert_int_eq(tick(&b, 2), AT(2.95));
	ck_assert_int_eq(rows_of(3), 1);
	/* it was not */
	ck_assert_int_eq(tick(&b, 2.95), AT(3));
	ck_assert_int_eq(rows_of(3), 2);
	ck_assert_int_eq(row_of(3, 1, false)->end_ns, SEC(2));
	move(s, 1000);
	end(s, 3.5);
	tick(&b, 3.5);
	rows_add_up(3);
	bench_close(&b, 3);
}
END_TEST

/* The end is a time of the data, so a row can reach beyond it. */
START_TEST(end_before_the_last_tick_loses_nothing)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(10);
	tick(&b, 0);
	move(s, 1000);
	tick(&b, 1.2);
	ck_assert_int_eq(rows_of(3), 1);
	end(s, 1.1);
	tick(&b, 1.3);
	/* nothing has moved since that row */
	ck_assert_int_eq(rows_of(3), 1);
	ck_assert_uint_eq(row_of(3, 0, false)->d.bytes, 1000);
	ck_assert_uint_eq(total_of(3)->d.bytes, 1000);
	bench_close(&b, 2);
}
END_TEST

START_TEST(ending_holds_rows)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, true, true, 1);
	tick(&b, 0);
	stats_rx_add(s->rx, 0, 1000, AT(0), AT(0));
	stats_rx_add(s->rx, 3, 1000, AT(0.9), AT(0.9));
	atomic_store(&s->ending, true);
	ck_assert_int_eq(tick(&b, 1), AT(1.05));
	ck_assert_int_eq(tick(&b, 2.2), AT(2.25));
	ck_assert_uint_eq(kept.n, 0);
	stats_rx_end(s->rx, 4);
	end(s, 1);
	tick(&b, 2.3);
	/* what was missing is in the row, whose end is that of the data */
	bench_ends(&b, 3,
		   UDP_HEAD "[  3]  0.0- 1.0 sec  1.95 KBytes  16.0 Kbits/sec  "
			    " 0.000 ms    2/    4 (50%)\n"
			    "[  3]  0.0- 1.0 sec  1.95 KBytes  16.0 Kbits/sec  "
			    " 0.000 ms    2/    4 (50%)\n");
}
END_TEST

START_TEST(notes_stand_before_the_total)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, client(), 1);
	s = running(&b, false, false, 1);
	tick(&b, 0);
	move(s, MBYTE);
	stream_note(s, "first of %d", 2);
	stream_note(s, "second");
	end(s, 1);
	tick(&b, 1);
	bench_ends(&b, 1,
		   HEAD "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3] note: first of 2\n"
			"[  3] note: second\n"
			"[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n");
}
END_TEST

/* Rows add up. */

/* What the network does with number i, one a millisecond. */
static bool comes_in_time(int64_t i)
{
	return i % 17 != 3 && i % 29 != 7 && i % 97 != 11;
}

/* Everything that a ledger counts happens to it, at ns. */
static void receive(struct stream *s, int64_t i, int64_t ns)
{
	struct stats_rx *rx = stream_rx(s);
	/* the sender's clock is set back now and then */
	int64_t sent_ns = i * MS - i / 700 * 5 * MS + i % 5 * 1000;

	if (comes_in_time(i))
		stats_rx_add(rx, i, 100, sent_ns, ns);
	if (comes_in_time(i) && i % 23 == 5)
		stats_rx_add(rx, i, 100, sent_ns, ns);
	if (i >= 4 && (i - 4) % 29 == 7)
		stats_rx_add(rx, i - 4, 100, sent_ns - 4 * MS, ns);
	if (i >= 150 && (i - 150) % 97 == 11)
		stats_rx_add(rx, i - 150, 100, sent_ns - 150 * MS, ns);
	if (i % 200 == 60)
		stats_rx_dropped(rx, 2, false);
	if (i % 300 == 70)
		stats_rx_dropped(rx, 1, true);
}

static void send_one(struct stream *s, int64_t i)
{
	if (i % 13 == 4)
		counter_add(&s->io.errors, 1);
	else
		move(s, (uint64_t)(100 + i % 7));
	if (i % 11 == 2)
		counter_add(&s->io.blocked, 3);
}

static const struct {
	double interval, end;
	bool receiver;
	bool told; /* the end is known before */
} runs[] = {
	{ 0.1, 2, true, true },      { 0.1, 2.003, true, false },
	{ 0.25, 2, true, false },    { 0.333, 2.1, true, true },
	{ 1, 2.04, true, true },     { 1, 2.6, true, false },
	{ 0.1, 2, false, true },     { 0.1, 2.003, false, false },
	{ 0.333, 2.1, false, true }, { 1, 2.04, false, false },
};

/* Two streams, of which the second begins a little later. */
static void run_two(struct bench *b, double until, bool receiver)
{
	int64_t due_ns = START_NS, from_ns[2] = { 0, 3 * MS };

	for (int64_t ns = 0; ns < SEC(until); ns += MS) {
		for (int k = 0; k < 2; k++) {
			struct stream *s = b->streams[k];
			int64_t i = (ns - from_ns[k]) / MS;

			if (i < 0)
				continue;
			if (i == 0)
				atomic_store(&s->start_ns, START_NS + ns);
			if (s->omit_ns > 0 && i == s->omit_ns / MS)
				stream_omit_end(s, START_NS + ns, i);
			if (receiver)
				receive(s, i, START_NS + ns);
			else
				send_one(s, i);
		}
		if (START_NS + ns >= due_ns)
			due_ns = report_tick(b->r, START_NS + ns);
	}
	for (int k = 0; k < 2; k++) {
		if (receiver)
			stats_rx_end(b->streams[k]->rx, -1);
		end(b->streams[k], until);
	}
	tick(b, until);
}

START_TEST(rows_add_up_to_totals_in_every_counter)
{
	struct options o = runs[_i].receiver ? udp_server() : client();
	struct bench b;
	int seen = 0;

	o.udp = true;
	o.interval_ns = SEC(runs[_i].interval);
	bench_open(&b, o, 2);
	for (int k = 0; k < 2; k++) {
		struct stream *s = make(&b, true, runs[_i].receiver);

		s->expect_ns = runs[_i].told ? SEC(runs[_i].end) : 0;
		add_as(&b, s, "a", 2);
	}
	run_two(&b, runs[_i].end, runs[_i].receiver);
	ck_assert_int_ge(rows_of(3), (int)(runs[_i].end / runs[_i].interval));
	for (int id = 3; id <= 4; id++)
		rows_add_up(id);
	sums_are_of(3, 4);
	rows_add_up(-1);
	for (int i = 0; i < COUNT(counters); i++)
		seen += count_of(&total_of(-1)->d, i) > 0;
	/* all but what is another side's */
	ck_assert_int_eq(seen, runs[_i].receiver ? 11 : 4);
	bench_close(&b, runs[_i].end);
}
END_TEST

START_TEST(rows_end_on_the_grid)
{
	struct options o = udp_server();
	struct bench b;

	o.interval_ns = SEC(0.25);
	bench_open(&b, o, 2);
	for (int k = 0; k < 2; k++)
		add_as(&b, make(&b, true, true), "a", 2);
	run_two(&b, 1.9, true);
	for (int id = 3; id <= 4; id++) {
		ck_assert_int_eq(rows_of(id), 8);
		for (int n = 0; n < 7; n++)
			ck_assert_int_eq(row_of(id, n, false)->end_ns,
					 (n + 1) * SEC(0.25));
	}
	bench_close(&b, 2);
}
END_TEST

/* Sums. */

START_TEST(sum_rows_follow_the_rows_of_all)
{
	struct bench b;

	bench_open(&b, client(), 1);
	for (int i = 0; i < 2; i++)
		running(&b, false, false, 2)->expect_ns = SEC(2);
	tick(&b, 0);
	for (int t = 1; t <= 2; t++) {
		move(b.streams[0], MBYTE);
		move(b.streams[1], 3 * MBYTE);
		tick(&b, t);
	}
	end(b.streams[0], 2);
	tick(&b, 2.01);
	/* the other one still runs */
	ck_assert_ptr_null(row_of(-1, 1, false));
	end(b.streams[1], 2.02);
	tick(&b, 2.03);
	bench_ends(&b, 3,
		   HEAD "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  4]  0.0- 1.0 sec  3.00 MBytes  25.2 Mbits/sec\n"
			"[SUM]  0.0- 1.0 sec  4.00 MBytes  33.6 Mbits/sec\n"
			"[  3]  1.0- 2.0 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3]  0.0- 2.0 sec  2.00 MBytes  8.39 Mbits/sec\n"
			"[  4]  1.0- 2.0 sec  3.00 MBytes  24.7 Mbits/sec\n"
			"[  4]  0.0- 2.0 sec  6.00 MBytes  24.9 Mbits/sec\n"
			"[SUM]  1.0- 2.0 sec  4.00 MBytes  32.9 Mbits/sec\n"
			"[SUM]  0.0- 2.0 sec  8.00 MBytes  33.2 Mbits/sec\n");
}
END_TEST

/* What is known of one stream only is not a sum's; the rest is added. */
START_TEST(sum_total_adds_what_totals_have_beyond_rows)
{
	const struct record *sum;
	struct options o = client();
	struct bench b;

	o.udp = true;
	bench_open(&b, o, 1);
	for (int i = 0; i < 2; i++) {
		struct stream *s = running(&b, true, false, 2);

		s->asked_bps = 1000000;
		s->cpu = (struct out_cpu){ .known = true,
					   .shared = i == 0,
					   .user_ns = 5 + i,
					   .system_ns = 10 };
	}
	tick(&b, 0);
	for (int i = 0; i < 2; i++) {
		move(b.streams[i], 125000);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	sum = total_of(-1);
	ck_assert_uint_eq(sum->asked_bps, 2000000);
	ck_assert_uint_eq(sum->offered_bps, 2000000);
	ck_assert_uint_eq(total_of(3)->offered_bps, 1000000);
	ck_assert(sum->cpu.known && sum->cpu.shared);
	ck_assert_int_eq(sum->cpu.user_ns, 11);
	ck_assert_int_eq(sum->cpu.system_ns, 20);
	ck_assert_uint_eq(sum->streams, 2);
	ck_assert(!sum->receiver && sum->udp);
	bench_close(&b, 1);
}
END_TEST

/* Two tests of one client at once are told apart by their number of streams,
 * and by how many have joined. */
START_TEST(tests_of_one_name_are_not_mixed)
{
	static const uint32_t sizes[STREAMS_MAX] = { 2, 1, 2, 1 };
	struct bench b;

	bench_open(&b, client(), 1);
	for (int i = 0; i < STREAMS_MAX; i++)
		running(&b, false, false, sizes[i]);
	tick(&b, 0);
	for (int i = 0; i < STREAMS_MAX; i++) {
		move(b.streams[i], (uint64_t)1 << i);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	ck_assert_int_eq(rows_of(-1), 1);
	ck_assert_uint_eq(row_of(-1, 0, false)->d.bytes, 1 + 4);
	ck_assert_uint_eq(total_of(-1)->d.bytes, 1 + 4);
	ck_assert_uint_eq(total_of(-1)->streams, 2);
	bench_close(&b, 1);
}
END_TEST

/* A server hears of the streams of a short test one after the other. */
START_TEST(a_sum_waits_for_a_stream_that_comes_late)
{
	struct bench b;

	bench_open(&b, client(), 0);
	running(&b, false, true, 2);
	tick(&b, 0);
	move(b.streams[0], MBYTE);
	end(b.streams[0], 0.1);
	ck_assert_int_eq(tick(&b, 0.1), AT(0.6));
	ck_assert_ptr_null(row_of(-1, 0, true));
	running(&b, false, true, 2);
	tick(&b, 0.2);
	move(b.streams[1], 2 * MBYTE);
	end(b.streams[1], 0.3);
	tick(&b, 0.3);
	ck_assert_uint_eq(total_of(-1)->d.bytes, 3 * MBYTE);
	bench_close(&b, 1);
}
END_TEST

/* It never comes: the sum is that of those that did. */
START_TEST(a_sum_does_not_wait_for_ever)
{
	struct bench b;

	bench_open(&b, client(), 0);
	running(&b, false, true, 2);
	tick(&b, 0);
	move(b.streams[0], MBYTE);
	end(b.streams[0], 0.1);
	tick(&b, 0.1);
	tick(&b, 0.5);
	ck_assert_ptr_null(row_of(-1, 0, true));
	if (_i == 0)
		tick(&b, 0.61);
	else
		report_end(b.r);
	ck_assert_uint_eq(total_of(-1)->d.bytes, MBYTE);
	bench_close(&b, 1);
}
END_TEST

START_TEST(full_group_takes_no_more)
{
	struct bench b;

	bench_open(&b, client(), 1);
	for (int i = 0; i < STREAMS_MAX; i++)
		running(&b, false, false, 2);
	tick(&b, 0);
	for (int i = 0; i < STREAMS_MAX; i++) {
		move(b.streams[i], (uint64_t)1 << i);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	ck_assert_ptr_nonnull(row_of(-1, 1, true));
	ck_assert_ptr_null(row_of(-1, 2, true));
	/* in whatever order: each has two of the four */
	for (int i = 0; i < 2; i++) {
		const struct record *r = row_of(-1, i, true);

		ck_assert_uint_eq(r->streams, 2);
		ck_assert(r->d.bytes == 1 + 2 || r->d.bytes == 4 + 8);
	}
	ck_assert_uint_ne(row_of(-1, 0, true)->d.bytes,
			  row_of(-1, 1, true)->d.bytes);
	bench_close(&b, 1);
}
END_TEST

START_TEST(other_names_are_other_tests)
{
	struct bench b;

	bench_open(&b, client(), 1);
	for (int i = 0; i < 4; i++) {
		struct stream *s = make(&b, false, false);

		atomic_store(&s->start_ns, START_NS);
		add_as(&b, s, i % 2 == 0 ? "10.0.0.2" : "10.0.0.3", 2);
	}
	tick(&b, 0);
	for (int i = 0; i < 4; i++) {
		move(b.streams[i], (uint64_t)1 << i);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	ck_assert_uint_eq(row_of(-1, 0, true)->d.bytes +
				  row_of(-1, 1, true)->d.bytes,
			  15);
	ck_assert(row_of(-1, 0, true)->d.bytes == 5 ||
		  row_of(-1, 0, true)->d.bytes == 10);
	bench_close(&b, 1);
}
END_TEST

/* Who prints nothing. */

START_TEST(nobody_there_prints_nothing)
{
	struct bench b;

	bench_open(&b, client(), 1);
	for (int i = 0; i < 2; i++) {
		struct stream *s = running(&b, true, false, 2);

		s->expect_ns = SEC(10);
		stream_note(s, "not to be seen");
		s->no_result = true;
	}
	tick(&b, 0);
	for (int i = 0; i < 2; i++) {
		move(b.streams[i], 1470);
		end(b.streams[i], 0.3);
	}
	ck_assert_int_eq(tick(&b, 0.3), INT64_MAX);
	bench_ends(&b, 1, "");
}
END_TEST

START_TEST(no_sum_where_one_found_nobody)
{
	struct bench b;
	struct options o = client();

	o.interval_ns = 0;
	bench_open(&b, o, 1);
	for (int i = 0; i < 2; i++)
		running(&b, false, false, 2);
	tick(&b, 0);
	b.streams[0]->no_result = true;
	for (int i = 0; i < 2; i++) {
		move(b.streams[i], MBYTE);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	bench_ends(&b, 1,
		   HEAD "[  4]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n");
}
END_TEST

/* -x C, D, M, S, V: each leaves out its lines and nothing else. */
#define BANNER_LINES                                                           \
	"------------------------------------------------------------\n"       \
	"Client connecting to h, UDP port 5001\n"                              \
	"Sending 1470 byte datagrams\n"                                        \
	"UDP buffer size:  208 KByte (default)\n"                              \
	"------------------------------------------------------------\n"
#define CONNECT_LINES                                                          \
	"[  3] local 10.0.0.1 port 50001 connected with 10.0.0.2 port 5001\n"  \
	"[  4] local 10.0.0.1 port 50002 connected with 10.0.0.2 port 5001\n"
#define DATA_LINES(id)                                                         \
	"[  " id "]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec\n"              \
	"[  " id "]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec\n"              \
	"[  " id "] Sent 1 datagrams\n"
#define SUM_LINES                                                              \
	"[SUM]  0.0- 1.0 sec  2.87 KBytes  23.5 Kbits/sec\n"                   \
	"[SUM]  0.0- 1.0 sec  2.87 KBytes  23.5 Kbits/sec\n"
#define SERVER_LINES(id)                                                       \
	"[  " id "] Server Report:\n"                                          \
	"[  " id "]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec   0.007 ms "    \
	"   0/    1 (0%)\n"

static const struct {
	unsigned exclude;
	const char *text;
} exclusions[] = {
	{ 0, BANNER_LINES CONNECT_LINES HEAD DATA_LINES("3") DATA_LINES("4")
		     SUM_LINES SERVER_LINES("3") SERVER_LINES("4") },
	{ OPTIONS_NO_CONNECT,
	  BANNER_LINES HEAD DATA_LINES("3") DATA_LINES("4")
		  SUM_LINES SERVER_LINES("3") SERVER_LINES("4") },
	{ OPTIONS_NO_DATA,
	  BANNER_LINES CONNECT_LINES HEAD SUM_LINES SERVER_LINES("3")
		  SERVER_LINES("4") },
	{ OPTIONS_NO_SUM,
	  BANNER_LINES CONNECT_LINES HEAD DATA_LINES("3") DATA_LINES("4")
		  SERVER_LINES("3") SERVER_LINES("4") },
	{ OPTIONS_NO_SETTINGS,
	  CONNECT_LINES HEAD DATA_LINES("3") DATA_LINES("4")
		  SUM_LINES SERVER_LINES("3") SERVER_LINES("4") },
	{ OPTIONS_NO_SERVER, BANNER_LINES CONNECT_LINES HEAD DATA_LINES("3")
				     DATA_LINES("4") SUM_LINES },
	{ OPTIONS_NO_CONNECT | OPTIONS_NO_DATA | OPTIONS_NO_SUM |
		  OPTIONS_NO_SETTINGS | OPTIONS_NO_SERVER,
	  "" },
};

static void has_report(struct stream *s, uint64_t lost)
{
	s->report = (struct wire_report){ .duration_ns = SEC(1),
					  .bytes = 1470,
					  .total = 1 + lost,
					  .lost = lost,
					  .jitter_ns = 7000 };
	s->has_report = true;
}

START_TEST(x_leaves_out_its_lines_alone)
{
	struct options o = client();
	struct bench b;

	o.udp = true;
	o.exclude = exclusions[_i].exclude;
	bench_open(&b, o, 1);
	report_banner(b.r, &(struct out_banner){ .host = "h",
						 .port = 5001,
						 .udp = true,
						 .len_bytes = 1470,
						 .window_granted = 212992 });
	for (int i = 0; i < 2; i++)
		running(&b, true, false, 2);
	tick(&b, 0);
	for (int i = 0; i < 2; i++) {
		move(b.streams[i], 1470);
		has_report(b.streams[i], 0);
		end(b.streams[i], 1);
	}
	tick(&b, 1);
	bench_ends(&b, 1, exclusions[_i].text);
}
END_TEST

#define RULE "------------------------------------------------------------\n"

START_TEST(sum_only_has_a_sum_of_one_stream_too)
{
	struct options o = udp_server();
	struct bench b;
	struct stream *s;

	o.sum_only = true;
	o.exclude = OPTIONS_NO_CONNECT | OPTIONS_NO_DATA;
	bench_open(&b, o, 1);
	s = running(&b, false, true, 1);
	tick(&b, 0);
	move(s, 1250000);
	tick(&b, 1);
	move(s, 1250000);
	end(s, 2);
	tick(&b, 2);
	bench_ends(&b, 2,
		   "[ ID] Interval       Transfer     Bandwidth\n"
		   "[SUM]  0.0- 1.0 sec  1.19 MBytes  10.0 Mbits/sec\n"
		   "[SUM]  1.0- 2.0 sec  1.19 MBytes  10.0 Mbits/sec\n"
		   "[SUM]  0.0- 2.0 sec  2.38 MBytes  10.0 Mbits/sec\n");
}
END_TEST

START_TEST(addresses_are_hidden_in_all_that_is_written)
{
	struct options o = client();
	struct bench b;
	struct stream *s;

	o.hide_ips = true;
	o.exclude = 0;
	bench_open(&b, o, 1);
	report_banner(b.r, &(struct out_banner){ .host = "h",
						 .bind = "10.0.0.1",
						 .port = 5001,
						 .window_granted = 212992 });
	s = running(&b, false, false, 1);
	tick(&b, 0);
	move(s, 1250000);
	end(s, 1);
	tick(&b, 1);
	fflush(b.outs[2].file);
	ck_assert_ptr_nonnull(strstr(b.json, "\"remote_host\":\"*.*.*.2\""));
	ck_assert_ptr_null(strstr(b.json, "10.0.0."));
	bench_ends(&b, 1,
		   RULE "Client connecting to (**hidden**), TCP port 5001\n"
			"Binding to local address (**hidden**)\n"
			"TCP window size:  208 KByte (default)\n" RULE
			"[  3] local *.*.*.1 port 50001 connected with *.*.*.2 "
			"port 5001\n"
			"[ ID] Interval       Transfer     Bandwidth\n"
			"[  3]  0.0- 1.0 sec  1.19 MBytes  10.0 Mbits/sec\n"
			"[  3]  0.0- 1.0 sec  1.19 MBytes  10.0 Mbits/sec\n");
}
END_TEST

/* IDs. */

static const struct {
	enum out_dialect dialect;
	enum options_side side;
	bool udp;
	int first;     /* of three at once; the others follow */
	int after_one; /* of the next, when the first one has left */
} ids[] = {
	{ OUT_CLASSIC, OPTIONS_CLIENT, false, 3, 3 },
	{ OUT_CLASSIC, OPTIONS_CLIENT, true, 3, 3 },
	{ OUT_CLASSIC, OPTIONS_SERVER, false, 4, 4 },
	{ OUT_CLASSIC, OPTIONS_SERVER, true, 3, 3 },
	{ OUT_V202, OPTIONS_CLIENT, false, 3, 3 },
	{ OUT_V202, OPTIONS_SERVER, false, 4, 4 },
	{ OUT_V21, OPTIONS_CLIENT, false, 1, 4 },
	{ OUT_V21, OPTIONS_SERVER, false, 1, 4 },
	{ OUT_V22, OPTIONS_CLIENT, true, 1, 4 },
	{ OUT_V22, OPTIONS_SERVER, true, 1, 4 },
};

START_TEST(ids_are_those_of_their_dialect)
{
	struct options o = { .side = ids[_i].side,
			     .udp = ids[_i].udp,
			     .dialect = ids[_i].dialect };
	bool receiver = o.side == OPTIONS_SERVER;
	struct bench b;

	bench_open(&b, o, 1);
	for (int i = 0; i < 3; i++)
		running(&b, o.udp, receiver, 1);
	tick(&b, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(b.streams[i]->conn.id, ids[_i].first + i);
	end(b.streams[0], 1);
	tick(&b, 1);
	atomic_store(&b.streams[0]->closed, true);
	tick(&b, 1);
	ck_assert_uint_eq(report_streams(b.r), 2);
	running(&b, o.udp, receiver, 1);
	ck_assert_uint_eq(report_streams(b.r), 3);
	tick(&b, 1);
	ck_assert_int_eq(b.streams[3]->conn.id, ids[_i].after_one);
	for (int i = 1; i < 4; i++)
		end(b.streams[i], 2);
	tick(&b, 2);
	bench_close(&b, 2);
}
END_TEST

/* An ID is taken until its stream is closed, not until its total. */
START_TEST(id_is_free_when_its_stream_has_left)
{
	struct bench b;

	bench_open(&b, client(), 1);
	running(&b, false, false, 1);
	tick(&b, 0);
	end(b.streams[0], 1);
	tick(&b, 1);
	ck_assert(!atomic_load(&b.streams[0]->reported));
	running(&b, false, false, 1);
	tick(&b, 1);
	ck_assert_int_eq(b.streams[1]->conn.id, 4);
	end(b.streams[1], 2);
	tick(&b, 2);
	bench_close(&b, 2);
}
END_TEST

/* The server's word. */

START_TEST(server_report_follows_the_total_of_all)
{
	struct options o = client();
	struct bench b;

	o.udp = true;
	o.interval_ns = 0;
	bench_open(&b, o, 1);
	for (int i = 0; i < 2; i++)
		running(&b, true, false, 2);
	tick(&b, 0);
	for (int i = 0; i < 2; i++)
		move(b.streams[i], 1470);
	end(b.streams[0], 1);
	has_report(b.streams[0], 1);
	atomic_store(&b.streams[0]->closed, true);
	tick(&b, 1);
	/* its report is there, but the other stream runs */
	ck_assert(!atomic_load(&b.streams[0]->reported));
	text_is(&b, HEAD "[  3]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec\n"
			 "[  3] Sent 1 datagrams\n");
	end(b.streams[1], 2);
	tick(&b, 2);
	bench_ends(&b, 2,
		   HEAD "[  3]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec\n"
			"[  3] Sent 1 datagrams\n"
			"[  4]  0.0- 2.0 sec  1.44 KBytes  5.88 Kbits/sec\n"
			"[  4] Sent 1 datagrams\n"
			"[SUM]  0.0- 2.0 sec  2.87 KBytes  11.8 Kbits/sec\n"
			"[  3] Server Report:\n"
			"[  3]  0.0- 1.0 sec  1.44 KBytes  11.8 Kbits/sec   "
			"0.007 ms    1/    2 (50%)\n");
}
END_TEST

static const struct record *relayed(void)
{
	for (size_t i = 0; i < kept.n; i++) {
		if (kept.rows[i].relayed)
			return &kept.rows[i];
	}
	ck_abort_msg("no server report");
}

/* A UDP client's test of 1 s whose server's word is in s already. */
static void client_with(struct bench *b, struct options o,
			void (*told)(struct stream *s))
{
	struct stream *s;

	o.udp = true;
	bench_open(b, o, 1);
	s = running(b, true, false, 1);
	s->asked_bps = 8000;
	tick(b, 0);
	if (o.omit_ns > 0)
		stream_omit_end(s, START_NS + o.omit_ns, 0);
	move(s, 1000);
	told(s);
	end(s, 1);
	tick(b, 1);
	leave(b, 1);
}

static void told_by_another(struct stream *s)
{
	has_report(s, 3);
	s->report.out_of_order = 2;
}

START_TEST(report_of_another_server_is_relayed)
{
	const struct record *r;
	struct bench b;

	client_with(&b, client(), told_by_another);
	r = relayed();
	ck_assert(r->total && r->receiver && r->udp && !r->own_report);
	ck_assert_int_eq(r->start_ns, 0);
	ck_assert_int_eq(r->end_ns, SEC(1));
	ck_assert_uint_eq(r->d.bytes, 1470);
	ck_assert_uint_eq(r->d.packets, 1);
	ck_assert_uint_eq(r->d.lost, 3);
	ck_assert_uint_eq(r->d.late, 2);
	ck_assert_uint_eq(r->asked_bps, 8000);
	ck_assert_uint_eq(r->offered_bps, 8000);
	ck_assert(!r->causes.known);
	bench_close(&b, 1);
}
END_TEST

static void told_more_lost_than_sent(struct stream *s)
{
	has_report(s, 3);
	s->report.total = 2;
}

START_TEST(absurd_report_has_no_negative_count)
{
	struct bench b;

	client_with(&b, client(), told_more_lost_than_sent);
	ck_assert_uint_eq(relayed()->d.packets, 0);
	bench_close(&b, 1);
}
END_TEST

static void told_by_ours(struct stream *s)
{
	has_report(s, 0);
	s->has_block = true;
	s->block = (struct block_result){ .udp = true,
					  .kernel_stamps = true,
					  .bytes = 900,
					  .packets = 9,
					  .lost = 1,
					  .gaps = 1,
					  .gap_max = 1,
					  .gap_began_ns = SEC(0.25),
					  .gap_max_ns = 2 * MS,
					  .omitted_ns = SEC(0.5),
					  .duration_ns = SEC(0.5) };
}

START_TEST(report_of_ours_tells_of_the_counted_part)
{
	struct options o = client();
	const struct record *r;
	struct bench b;

	o.omit_ns = SEC(0.5);
	client_with(&b, o, told_by_ours);
	r = relayed();
	ck_assert(r->own_report && r->kernel_stamps);
	ck_assert_int_eq(r->start_ns, SEC(0.5));
	ck_assert_int_eq(r->end_ns, SEC(1));
	ck_assert_uint_eq(r->d.bytes, 900);
	ck_assert_int_eq(r->d.gap_began_ns, SEC(0.25));
	ck_assert_ptr_null(strstr(b.text, "note:"));
	bench_close(&b, 1);
}
END_TEST

START_TEST(report_of_another_server_holds_what_o_left_out)
{
	struct options o = client();
	const char *note, *report;
	struct bench b;

	o.omit_ns = SEC(0.5);
	client_with(&b, o, told_by_another);
	note = strstr(b.text, "[  3] note: the server's report is of the "
			      "whole test\n");
	report = strstr(b.text, "Server Report:");
	ck_assert(note != NULL && report != NULL && note < report);
	bench_close(&b, 1);
}
END_TEST

/* Causes: the sender first, then the receiver's socket, a shared one, and the
 * path is what is left; together they are all that was lost. */
static const struct {
	uint64_t lost, refused, socket, shared; /* what was counted */
	struct out_causes causes;
} parts[] = {
	{ 0, 0, 0, 0, { .path = 0 } },
	{ 10, 0, 0, 0, { .path = 10 } },
	{ 10, 3, 0, 0, { .sender = 3, .path = 7 } },
	{ 10, 3, 4, 0, { .sender = 3, .receiver = 4, .path = 3 } },
	{ 10, 1, 2, 3, { .sender = 1, .receiver = 2, .shared = 3, .path = 4 } },
	{ 10, 10, 4, 4, { .sender = 10 } },
	{ 10, 12, 4, 4, { .sender = 10 } },
	{ 10, 6, 7, 4, { .sender = 6, .receiver = 4 } },
	{ 10, 0, 12, 4, { .receiver = 10 } },
	{ 10, 2, 3, 9, { .sender = 2, .receiver = 3, .shared = 5 } },
	{ 10, 0, 0, 12, { .shared = 10 } },
};

static void causes_are(const struct record *r, const struct out_causes *c)
{
	ck_assert(r->causes.known);
	ck_assert_uint_eq(r->causes.sender, c->sender);
	ck_assert_uint_eq(r->causes.receiver, c->receiver);
	ck_assert_uint_eq(r->causes.shared, c->shared);
	ck_assert_uint_eq(r->causes.path, c->path);
	ck_assert_uint_eq(r->causes.sender + r->causes.receiver +
				  r->causes.shared + r->causes.path,
			  r->d.lost);
}

START_TEST(causes_of_a_server_report_add_up_to_lost)
{
	struct options o = client();
	struct stream *s;
	struct bench b;

	o.udp = true;
	bench_open(&b, o, 1);
	s = running(&b, true, false, 1);
	tick(&b, 0);
	move(s, 1000);
	counter_add(&s->io.errors, parts[_i].refused);
	s->has_report = s->has_block = true;
	s->block = (struct block_result){ .udp = true,
					  .drops_known = true,
					  .duration_ns = SEC(1),
					  .packets = 20,
					  .lost = parts[_i].lost,
					  .socket_drops = parts[_i].socket,
					  .shared_drops = parts[_i].shared };
	end(s, 1);
	tick(&b, 1);
	leave(&b, 1);
	ck_assert(relayed()->causes.sender_known);
	causes_are(relayed(), &parts[_i].causes);
	bench_close(&b, 1);
}
END_TEST

/* A receiver does not know what the sender's system refused. */
START_TEST(causes_of_receivers_add_up_to_lost)
{
	const struct record *r;
	struct bench b;
	struct out_causes twice;

	if (parts[_i].refused > 0)
		return; /* is for the sender to tell */
	bench_open(&b, udp_server(), 1);
	for (int i = 0; i < 2; i++) {
		struct stream *s = running(&b, true, true, 2);

		s->drops_told = true;
		stats_rx_add(s->rx, 0, 100, START_NS, START_NS);
		stats_rx_dropped(s->rx, parts[_i].socket, false);
		stats_rx_dropped(s->rx, parts[_i].shared, true);
		stats_rx_end(s->rx, (int64_t)parts[_i].lost + 1);
		end(s, 1);
	}
	tick(&b, 1);
	r = total_of(3);
	ck_assert_uint_eq(r->d.lost, parts[_i].lost);
	ck_assert(!r->causes.sender_known);
	causes_are(r, &parts[_i].causes);
	r = total_of(-1);
	ck_assert(!r->causes.sender_known);
	twice = parts[_i].causes;
	twice.receiver *= 2;
	twice.shared *= 2;
	twice.path *= 2;
	/* what one stream's socket dropped beyond its loss is no other's:
	 * only where each has enough loss is the sum exact */
	if (parts[_i].socket + parts[_i].shared <= parts[_i].lost)
		causes_are(r, &twice);
	bench_close(&b, 1);
}
END_TEST

START_TEST(causes_are_unknown_where_the_system_tells_none)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, udp_server(), 1);
	s = running(&b, true, true, 1);
	stats_rx_add(s->rx, 0, 100, START_NS, START_NS);
	stats_rx_end(s->rx, 5);
	end(s, 1);
	tick(&b, 1);
	ck_assert_uint_eq(total_of(3)->d.lost, 4);
	ck_assert(!total_of(3)->causes.known);
	bench_close(&b, 1);
}
END_TEST

/* Gaps. */

START_TEST(gap_began_after_the_start_of_the_test)
{
	const struct record *r;
	struct bench b;

	bench_open(&b, udp_server(), 1);
	for (int i = 0; i < 2; i++) {
		struct stream *s = running(&b, true, true, 2);

		atomic_store(&s->start_ns, AT(0.01 * i));
		s->expect_ns = SEC(10);
		/* 4 numbers are missing from 0.25 s to 0.5 s, and 2 from 1.2 s
		 * to 1.3 s; of the second stream one more in the first gap */
		stats_rx_add(s->rx, 0, 100, AT(0), AT(0.01 * i));
		stats_rx_add(s->rx, 1, 100, AT(0.25), AT(0.25));
		stats_rx_add(s->rx, 6 + i, 100, AT(0.5), AT(0.5));
		stats_rx_add(s->rx, 7 + i, 100, AT(0.7), AT(0.7));
	}
	tick(&b, 0);
	tick(&b, 1.02);
	for (int i = 0; i < 2; i++) {
		struct stream *s = b.streams[i];

		stats_rx_add(s->rx, 8 + i, 100, AT(1.2), AT(1.2));
		stats_rx_add(s->rx, 11 + i, 100, AT(1.3), AT(1.3));
		stats_rx_end(s->rx, 12 + i);
		end(s, 2.5);
	}
	tick(&b, 2.5);
	for (int i = 0; i < 2; i++) {
		r = row_of(3 + i, 0, false);
		ck_assert_uint_eq(r->d.row_gap_max, (uint64_t)(4 + i));
		ck_assert_int_eq(r->d.row_gap_max_ns, SEC(0.25));
		ck_assert_int_eq(r->d.row_gap_began_ns, SEC(0.25 - 0.01 * i));
		r = row_of(3 + i, 1, false);
		ck_assert_uint_eq(r->d.row_gap_max, 2);
		ck_assert_int_eq(r->d.row_gap_began_ns, SEC(1.2 - 0.01 * i));
		r = total_of(3 + i);
		ck_assert_uint_eq(r->d.gap_max, (uint64_t)(4 + i));
		ck_assert_int_eq(r->d.gap_began_ns, SEC(0.25 - 0.01 * i));
	}
	/* of the sum: from the start of its first stream */
	r = total_of(-1);
	ck_assert_uint_eq(r->d.gap_max, 5);
	ck_assert_int_eq(r->d.gap_began_ns, SEC(0.25));
	bench_close(&b, 3);
}
END_TEST

/* The longest gap of a row that the end joins may lie in either part. */
START_TEST(joined_row_has_the_longer_gap_of_both)
{
	struct bench b;
	struct stream *s;

	bench_open(&b, udp_server(), 1);
	s = running(&b, true, true, 1);
	s->expect_ns = SEC(1);
	tick(&b, 0);
	stats_rx_add(s->rx, 0, 100, AT(0.1), AT(0.1));
	stats_rx_add(s->rx, 6, 100, AT(0.4), AT(0.4));
	stats_rx_settle(s->rx, AT(0.9));
	tick(&b, 1);
	ck_assert_uint_eq(kept.n, 0);
	stats_rx_add(s->rx, 8, 100, AT(1.01), AT(1.01));
	stats_rx_end(s->rx, 9);
	end(s, 1.02);
	tick(&b, 1.03);
	ck_assert_int_eq(rows_of(3), 1);
	ck_assert_uint_eq(row_of(3, 0, false)->d.lost, 6);
	ck_assert_uint_eq(row_of(3, 0, false)->d.row_gap_max, 5);
	ck_assert_int_eq(row_of(3, 0, false)->d.row_gap_began_ns, SEC(0.1));
	rows_add_up(3);
	bench_close(&b, 2);
}
END_TEST

/* What -O leaves out. */

/* A sender's run of 3 s at 1 MByte in each half second. */
static void run_omit(struct bench *b, double omit, double cut)
{
	struct options o = client();
	int64_t due_ns = START_NS;
	struct stream *s;

	o.omit_ns = SEC(omit);
	bench_open(b, o, 2);
	s = running(b, false, false, 1);
	s->expect_ns = SEC(3);
	for (int64_t ns = START_NS; ns < AT(3); ns += 5 * MS) {
		if ((ns - START_NS) % SEC(0.5) == 0)
			move(s, MBYTE);
		if (ns == AT(cut))
			stream_omit_end(s, ns, 0);
		if (ns >= due_ns)
			due_ns = report_tick(b->r, ns);
	}
	end(s, 3);
	tick(b, 3);
}

START_TEST(omit_between_the_grid_splits_an_interval)
{
	struct bench b;

	run_omit(&b, 1.25, 1.25);
	rows_add_up(3);
	bench_ends(&b, 3,
		   HEAD "[  3] 0.00-1.00 sec  3.00 MBytes  25.2 Mbits/sec "
			"(omitted)\n"
			"[  3] 1.00-1.25 sec  0.00 Bytes  0.00 bits/sec "
			"(omitted)\n"
			"[  3] 1.25-2.00 sec  2.00 MBytes  22.4 Mbits/sec\n"
			"[  3] 2.00-3.00 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3] 1.25-3.00 sec  3.00 MBytes  14.4 Mbits/sec\n");
}
END_TEST

START_TEST(omit_on_the_grid_splits_nothing)
{
	struct bench b;

	run_omit(&b, 1, 1);
	rows_add_up(3);
	bench_ends(&b, 3,
		   HEAD "[  3] 0.00-1.00 sec  3.00 MBytes  25.2 Mbits/sec "
			"(omitted)\n"
			"[  3] 1.00-2.00 sec  2.00 MBytes  16.8 Mbits/sec\n"
			"[  3] 2.00-3.00 sec  1.00 MBytes  8.39 Mbits/sec\n"
			"[  3] 1.00-3.00 sec  3.00 MBytes  12.6 Mbits/sec\n");
}
END_TEST

/* Of 3 s: the ends of rows; the first so many are left out. */
static const struct {
	double omit, cut;
	int omitted, rows;
	double ends[6];
} cuts[] = {
	{ 1, 1, 1, 3, { 1, 2, 3 } },
	{ 1, 1.02, 1, 3, { 1.02, 2, 3 } }, /* the mover was late */
	{ 1, 1.2, 1, 3, { 1.2, 2, 3 } },
	{ 0.97, 0.97, 1, 3, { 0.97, 2, 3 } }, /* at the end of a row */
	{ 0.94, 0.94, 1, 4, { 0.94, 1, 2, 3 } },
	{ 1.04, 1.04, 1, 3, { 1.04, 2, 3 } },
	{ 1.06, 1.06, 2, 4, { 1, 1.06, 2, 3 } },
	{ 0.5, 0.5, 1, 4, { 0.5, 1, 2, 3 } },
	{ 1.5, 1.5, 2, 4, { 1, 1.5, 2, 3 } },
	{ 2, 2, 2, 3, { 1, 2, 3 } },
	{ 2.5, 2.5, 3, 4, { 1, 2, 2.5, 3 } },
	{ 0.01, 0.01, 1, 4, { 0.01, 1, 2, 3 } },
};

START_TEST(rows_up_to_the_cut_do_not_count)
{
	struct bench b;

	run_omit(&b, cuts[_i].omit, cuts[_i].cut);
	ck_assert_int_eq(rows_of(3), cuts[_i].rows);
	for (int n = 0; n < cuts[_i].rows; n++) {
		const struct record *r = row_of(3, n, false);

		ck_assert_int_eq(r->end_ns, SEC(cuts[_i].ends[n]));
		ck_assert_int_eq(r->omitted, n < cuts[_i].omitted);
	}
	ck_assert(!total_of(3)->omitted);
	ck_assert_int_eq(total_of(3)->start_ns, SEC(cuts[_i].cut));
	rows_add_up(3);
	bench_close(&b, 3);
}
END_TEST

START_TEST(test_that_ends_before_the_cut_counts_nothing)
{
	struct options o = client();
	struct bench b;
	struct stream *s;

	o.omit_ns = SEC(5);
	bench_open(&b, o, 1);
	s = running(&b, false, false, 1);
	s->expect_ns = SEC(10);
	tick(&b, 0);
	move(s, MBYTE);
	tick(&b, 1);
	move(s, MBYTE);
	end(s, 1.5);
	tick(&b, 1.5);
	bench_ends(&b, 2,
		   HEAD "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec "
			"(omitted)\n"
			"[  3]  1.0- 1.5 sec  1.00 MBytes  16.8 Mbits/sec "
			"(omitted)\n"
			"[  3]  1.5- 1.5 sec  0.00 Bytes  0.00 bits/sec\n");
}
END_TEST

static const struct {
	double omit, interval;
	int rows;
} sum_cuts[] = {
	{ 1, 1, 3 },       { 1.5, 1, 4 },      { 0.5, 1, 4 },
	{ 0.6, 0.25, 13 }, { 0.25, 0.25, 12 }, { 2.8, 1, 4 },
};

START_TEST(sums_leave_out_what_their_streams_leave_out)
{
	for (int receiver = 0; receiver < 2; receiver++) {
		struct options o = receiver != 0 ? udp_server() : client();
		struct bench b;

		o.udp = true;
		o.omit_ns = SEC(sum_cuts[_i].omit);
		o.interval_ns = SEC(sum_cuts[_i].interval);
		bench_open(&b, o, 2);
		for (int k = 0; k < 2; k++) {
			struct stream *s = make(&b, true, receiver != 0);

			s->expect_ns = SEC(3);
			add_as(&b, s, "a", 2);
		}
		run_two(&b, 3, receiver != 0);
		for (int id = 3; id <= 4; id++) {
			ck_assert_int_eq(rows_of(id), sum_cuts[_i].rows);
			ck_assert_int_eq(total_of(id)->start_ns, o.omit_ns);
			rows_add_up(id);
		}
		sums_are_of(3, 4);
		ck_assert_int_eq(total_of(-1)->start_ns, o.omit_ns);
		struct stats_snap both = total_of(3)->d;

		stats_sum(&both, &total_of(4)->d);
		same_counts(&both, &total_of(-1)->d);
		bench_close(&b, 3);
	}
}
END_TEST

/* More than one output. */

static int lines_with(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

START_TEST(every_output_gets_every_row)
{
	struct options o = client();
	struct bench b;

	o.udp = true;
	o.exclude = 0;
	bench_open(&b, o, 1);
	report_banner(b.r, &(struct out_banner){ .host = "h",
						 .port = 5001,
						 .udp = true,
						 .len_bytes = 1470 });
	for (int i = 0; i < 2; i++)
		running(&b, true, false, 2)->expect_ns = SEC(3);
	for (int t = 0; t <= 3; t++) {
		tick(&b, t);
		for (int i = 0; t < 3 && i < 2; i++)
			move(b.streams[i], 1470);
	}
	for (int i = 0; i < 2; i++) {
		has_report(b.streams[i], 0);
		end(b.streams[i], 3);
	}
	tick(&b, 3);
	leave(&b, 3);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"start\""), 1);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"connected\""), 2);
	/* 3 of each stream and of the sum; a total of each; two reports */
	ck_assert_uint_eq(kept.n, 9 + 3 + 2);
	ck_assert_int_eq(lines_with(b.text, "s/sec"), 9 + 3 + 2);
	ck_assert_int_eq(lines_with(b.text, "Server Report:"), 2);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"interval\""), 6);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"server_report\""), 2);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"sum\""), 4);
	ck_assert_int_eq(lines_with(b.json, "\"event\":\"end\""), 2);
	ck_assert_int_eq(lines_with(b.json, "\"bytes\":2940"), 3);
	ck_assert_int_eq(lines_with(b.json, "\"bytes\":8820"), 1);
	bench_close(&b, 3);
}
END_TEST

/* Waiting. */

START_TEST(poke_ends_a_wait_that_has_no_end)
{
	struct bench b;

	bench_open(&b, client(), 1);
	report_poke(b.r);
	report_wait(b.r, INT64_MAX);
	/* so does a stream that comes */
	running(&b, false, false, 1);
	report_wait(b.r, INT64_MAX);
	/* and a time that has passed */
	report_wait(b.r, 1);
	tick(&b, 0);
	end(b.streams[0], 1);
	tick(&b, 1);
	bench_close(&b, 1);
}
END_TEST

static TCase *rows_case(void)
{
	TCase *tc = tcase_create("rows");

	tcase_add_test(tc, rows_come_on_the_grid_and_the_total_last);
	tcase_add_test(tc, late_tick_does_not_move_the_grid);
	tcase_add_test(tc, stream_that_has_not_begun_has_no_rows);
	tcase_add_test(tc, stream_that_never_began_has_an_empty_total);
	tcase_add_test(tc, interval_0_means_totals_only);
	tcase_add_loop_test(tc, last_short_row_joins_the_one_before, 0,
			    COUNT(ends));
	tcase_add_test(tc, joined_row_shows_its_true_end);
	tcase_add_test(tc, end_that_is_known_late_joins_too);
	tcase_add_test(tc, amount_tells_when_the_end_is_near);
	tcase_add_test(tc, end_before_the_last_tick_loses_nothing);
	tcase_add_test(tc, ending_holds_rows);
	tcase_add_test(tc, notes_stand_before_the_total);
	tcase_add_loop_test(tc, rows_add_up_to_totals_in_every_counter, 0,
			    COUNT(runs));
	tcase_add_test(tc, rows_end_on_the_grid);
	tcase_add_test(tc, every_output_gets_every_row);
	tcase_add_test(tc, poke_ends_a_wait_that_has_no_end);
	return tc;
}

static TCase *groups_case(void)
{
	TCase *tc = tcase_create("groups");

	tcase_add_test(tc, sum_rows_follow_the_rows_of_all);
	tcase_add_test(tc, sum_total_adds_what_totals_have_beyond_rows);
	tcase_add_test(tc, tests_of_one_name_are_not_mixed);
	tcase_add_test(tc, a_sum_waits_for_a_stream_that_comes_late);
	tcase_add_loop_test(tc, a_sum_does_not_wait_for_ever, 0, 2);
	tcase_add_test(tc, full_group_takes_no_more);
	tcase_add_test(tc, other_names_are_other_tests);
	tcase_add_test(tc, nobody_there_prints_nothing);
	tcase_add_test(tc, no_sum_where_one_found_nobody);
	tcase_add_loop_test(tc, x_leaves_out_its_lines_alone, 0,
			    COUNT(exclusions));
	tcase_add_test(tc, sum_only_has_a_sum_of_one_stream_too);
	tcase_add_test(tc, addresses_are_hidden_in_all_that_is_written);
	tcase_add_loop_test(tc, ids_are_those_of_their_dialect, 0, COUNT(ids));
	tcase_add_test(tc, id_is_free_when_its_stream_has_left);
	return tc;
}

static TCase *server_case(void)
{
	TCase *tc = tcase_create("server");

	tcase_add_test(tc, server_report_follows_the_total_of_all);
	tcase_add_test(tc, report_of_another_server_is_relayed);
	tcase_add_test(tc, absurd_report_has_no_negative_count);
	tcase_add_test(tc, report_of_ours_tells_of_the_counted_part);
	tcase_add_test(tc, report_of_another_server_holds_what_o_left_out);
	tcase_add_loop_test(tc, causes_of_a_server_report_add_up_to_lost, 0,
			    COUNT(parts));
	tcase_add_loop_test(tc, causes_of_receivers_add_up_to_lost, 0,
			    COUNT(parts));
	tcase_add_test(tc, causes_are_unknown_where_the_system_tells_none);
	tcase_add_test(tc, gap_began_after_the_start_of_the_test);
	tcase_add_test(tc, joined_row_has_the_longer_gap_of_both);
	return tc;
}

static TCase *omit_case(void)
{
	TCase *tc = tcase_create("omit");

	tcase_add_test(tc, omit_between_the_grid_splits_an_interval);
	tcase_add_test(tc, omit_on_the_grid_splits_nothing);
	tcase_add_loop_test(tc, rows_up_to_the_cut_do_not_count, 0,
			    COUNT(cuts));
	tcase_add_test(tc, test_that_ends_before_the_cut_counts_nothing);
	tcase_add_loop_test(tc, sums_leave_out_what_their_streams_leave_out, 0,
			    COUNT(sum_cuts));
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("report");

	setenv("TZ", "UTC0", 1);
	tzset();
	suite_add_tcase(suite, rows_case());
	suite_add_tcase(suite, groups_case());
	suite_add_tcase(suite, server_case());
	suite_add_tcase(suite, omit_case());
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
