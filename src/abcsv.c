/*
 * Versions of iperf 2 differ: some write no sums, some no server's report, and
 * some no time.  What a row is follows from those around it.
 */
#include "abcsv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX ABSTAT_MAX
#define FIELDS_MAX 32
#define FIELDS_TCP 9
#define FIELDS_UDP 14
#define NUMBER_BYTES 64
#define NO_TIME (-1)
#define DAY 86400
/* Ends of an interval are written with one decimal. */
#define TENTH 0.15
/* Tests that last so long do not end within a second of each other. */
#define LONG_TEST 3.0
/* A stream's next row, or another test with its ID, is not further away. */
#define NEAR_ROWS 4096

/* Some bytes of the text. */
struct slice {
	const char *p;
	const char *end;
};

/* Fields: when it was written; source, its port, destination, its port, ID. */
enum {
	WHEN,
	SOURCE,
	SPORT,
	DESTINATION,
	DPORT,
	ID,
	TIMES,
	BYTES,
	RATE
};

struct row {
	struct slice field[ID + 1];
	int64_t when; /* in seconds, NO_TIME: 1970, which 2.1 and 2.2 write */
	bool sum;
	bool udp;     /* it has the columns of UDP */
	bool arrived; /* and says what was lost */
	bool is_total;
	double start;
	double end;
	double bps;
	double bytes;
	double jitter_ms;
	double lost;
	double total;
};

struct rows {
	struct row *row;
	size_t n;
	size_t room;
};

struct reader {
	struct abresult *r;
	char *why;
	size_t line;
	bool udp; /* a line of names told of jitter */
	uint32_t runs;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *f,
							const char *format, ...)
{
	va_list args;
	int used = f->line > 0 ? snprintf(f->why, ABCSV_WHY_BYTES,
					  "line %zu: ", f->line)
			       : 0;

	va_start(args, format);
	(void)vsnprintf(f->why + used, ABCSV_WHY_BYTES - (size_t)used, format,
			args);
	va_end(args);
	return -EINVAL;
}

/* --- one row ----------------------------------------------------------------
 */

static size_t length(struct slice s)
{
	return (size_t)(s.end - s.p);
}

static bool same(struct slice a, struct slice b)
{
	return length(a) == length(b) && memcmp(a.p, b.p, length(a)) == 0;
}

static bool is_word(struct slice s, const char *word)
{
	return length(s) == strlen(word) && memcmp(s.p, word, length(s)) == 0;
}

/* The next line without its end; false: there is none. */
static bool next_line(struct slice *s, struct slice *line)
{
	if (s->p == s->end)
		return false;

	const char *end = memchr(s->p, '\n', length(*s));

	line->p = s->p;
	line->end = end != NULL ? end : s->end;
	s->p = end != NULL ? end + 1 : s->end;
	if (line->end > line->p && line->end[-1] == '\r')
		line->end--;
	return true;
}

static size_t split(struct slice line, struct slice *fields)
{
	size_t n = 0;

	for (const char *p = line.p; n < FIELDS_MAX; p++) {
		fields[n] = (struct slice){ p, p };
		while (p < line.end && *p != ',')
			p++;
		fields[n++].end = p;
		if (p == line.end)
			break;
	}
	return n;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool number_of(struct slice s, double *out)
{
	char text[NUMBER_BYTES];
	char *end;

	if (length(s) == 0 || length(s) >= sizeof(text) ||
	    (*s.p != '-' && !is_digit(*s.p)) || !is_digit(s.end[-1]))
		return false;
	memcpy(text, s.p, length(s));
	text[length(s)] = '\0';
	*out = strtod(text, &end);
	return *end == '\0' && fabs(*out) <= 1e18;
}

static int64_t digits(const char *p, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = 10 * v + (p[i] - '0');
	return v;
}

/* Seconds since some day from "YYYYMMDDhhmmss", behind which a fraction may
 * stand.  Days of months need not be true: only near times are compared. */
static bool read_when(struct slice s, int64_t *when)
{
	for (size_t i = 0; i < 14; i++) {
		if (i >= length(s) || !is_digit(s.p[i]))
			return false;
	}

	int64_t year = digits(s.p, 4);
	int64_t days =
		(year * 12 + digits(s.p + 4, 2)) * 31 + digits(s.p + 6, 2);

	*when = year <= 1970 ? NO_TIME
			     : days * DAY + digits(s.p + 8, 2) * 3600 +
				       digits(s.p + 10, 2) * 60 +
				       digits(s.p + 12, 2);
	return true;
}

/* "0.0-10.0", or in two fields; how many these are, 0: it is not so. */
static size_t read_times(const struct slice *f, struct row *row)
{
	struct slice from = f[TIMES];
	struct slice to = f[TIMES + 1];
	const char *dash = length(from) > 0
				   ? memchr(from.p + 1, '-', length(from) - 1)
				   : NULL;
	size_t n = dash != NULL ? 1 : 2;

	if (dash != NULL) {
		to = (struct slice){ dash + 1, from.end };
		from.end = dash;
	}
	if (!number_of(from, &row->start) || !number_of(to, &row->end) ||
	    row->end < row->start || row->start < 0)
		return 0;
	return n;
}

/* A sender has nothing to say of losses: it writes total -1, or nothing. */
static void read_losses(const struct slice *f, struct row *row)
{
	row->arrived = number_of(f[0], &row->jitter_ms) &&
		       number_of(f[1], &row->lost) &&
		       number_of(f[2], &row->total) && row->lost >= 0 &&
		       row->total >= row->lost;
}

static bool read_row(const struct reader *f, struct slice line, struct row *row)
{
	struct slice field[FIELDS_MAX] = { { NULL, NULL } };

	*row = (struct row){ .when = NO_TIME };
	/* with -e of 2.1.9 the zone is told: "+0000:" */
	if (*line.p == '+' && length(line) > 6)
		line.p += 6;

	size_t n = split(line, field);
	size_t times;

	if (n < FIELDS_TCP || !read_when(field[WHEN], &row->when))
		return false;
	times = read_times(field, row);
	if (times == 0 || n < FIELDS_TCP + times - 1)
		return false;

	const struct slice *rest = field + BYTES + times - 1;

	memcpy(row->field, field, sizeof(row->field));
	row->sum = is_word(field[ID], "-1");
	row->udp = times == 1 ? n >= FIELDS_UDP : f->udp && n > FIELDS_UDP;
	if (row->udp)
		read_losses(rest + 2, row);
	return number_of(rest[0], &row->bytes) &&
	       number_of(rest[1], &row->bps) && row->bytes >= 0 &&
	       row->bps >= 0;
}

static int add(struct rows *rows, const struct row *row)
{
	if (rows->n == rows->room) {
		size_t room = 2 * rows->room + 16;
		struct row *more = realloc(rows->row, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		rows->row = more;
		rows->room = room;
	}
	rows->row[rows->n++] = *row;
	return 0;
}

static bool has_word(struct slice line, const char *word)
{
	for (size_t n = strlen(word); length(line) >= n; line.p++) {
		if (memcmp(line.p, word, n) == 0)
			return true;
	}
	return false;
}

static int read_rows(struct reader *f, struct slice s, struct rows *rows)
{
	struct slice line;
	struct row row;
	int rc = 0;

	while (rc == 0 && next_line(&s, &line)) {
		f->line++;
		if (length(line) == 0)
			continue;
		if (!is_digit(*line.p) && *line.p != '+') {
			/* a line of names, with -e */
			f->udp = has_word(line, ",jitter,");
			continue;
		}
		rc = read_row(f, line, &row) ? add(rows, &row)
					     : refuse(f, "not a row of -y C");
	}
	return rc;
}

/* --- totals -----------------------------------------------------------------
 */

static bool same_stream(const struct row *a, const struct row *b)
{
	for (unsigned i = SOURCE; i <= ID; i++) {
		if (!same(a->field[i], b->field[i]))
			return false;
	}
	return a->udp == b->udp;
}

/* Is next the total behind the only interval of a test?  With 2.2 it may have
 * the time of the start. */
static bool repeats(const struct row *row, const struct row *next)
{
	int64_t later = next->when - row->when;

	if (next->start > 0 || fabs(next->end - row->end) > TENTH ||
	    row->when == NO_TIME || next->when == NO_TIME)
		return false;
	return later == 0 || (later == 1 && row->end > 1.5) ||
	       (later < 0 && (double)later >= -row->end - 1);
}

/* A row from 0 on is a total, unless the next one of its stream goes on where
 * it ends, or says the same again. */
static void find_totals(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct row *row = &rows->row[i];
		size_t next = i + 1;
		size_t end = rows->n - i > NEAR_ROWS ? i + NEAR_ROWS : rows->n;

		while (next < end && !same_stream(row, &rows->row[next]))
			next++;
		row->is_total = row->start <= 0;
		if (next < end && (rows->row[next].start >= row->end ||
				   repeats(row, &rows->row[next])))
			row->is_total = false;
	}
}

/* Totals of one kind to the front, others away. */
static void pick(const struct rows *from, bool arrived, bool sum,
		 struct rows *to)
{
	to->n = 0;
	for (size_t i = 0; i < from->n; i++) {
		const struct row *row = &from->row[i];

		if (row->is_total && row->arrived == arrived && row->sum == sum)
			to->row[to->n++] = *row;
	}
}

/* --- tests ------------------------------------------------------------------
 */

static bool all_alike(const struct rows *rows, unsigned field)
{
	for (size_t i = 1; i < rows->n; i++) {
		if (!same(rows->row[i].field[field], rows->row[0].field[field]))
			return false;
	}
	return true;
}

static bool has_id(const struct row *row, size_t n, struct slice id)
{
	for (size_t i = 0; i < n; i++) {
		if (same(row[i].field[ID], id))
			return true;
	}
	return false;
}

static bool ids_repeat(const struct rows *rows)
{
	for (size_t i = 1; i < rows->n; i++) {
		size_t near = i < NEAR_ROWS ? i : NEAR_ROWS;

		if (has_id(&rows->row[i] - near, near, rows->row[i].field[ID]))
			return true;
	}
	return false;
}

static bool all_long(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->row[i].when == NO_TIME ||
		    rows->row[i].end < LONG_TEST)
			return false;
	}
	return true;
}

/* How the rows of one test are told from those of the next. */
enum grouping {
	EACH_ALONE,
	BY_ID,
	BY_TIME,
	ALL_ONE,
	UNKNOWN
};

/* sums: of the other kind, so there are several streams; beside: so are there
 * other rows of that kind, as a client has. */
static enum grouping how(const struct rows *rows, size_t sums, bool beside)
{
	if (rows->n < 2 || all_alike(rows, ID))
		return EACH_ALONE;
	/* servers of 2.0, who write sums where there are several streams */
	if (!beside && all_alike(rows, SPORT) && !all_alike(rows, DPORT))
		return EACH_ALONE;
	if (all_long(rows))
		return BY_TIME;
	if (ids_repeat(rows))
		return BY_ID;
	return sums == 1 ? ALL_ONE : UNKNOWN;
}

/* How many of n rows, from the first, are of one test. */
static size_t one_test(const struct row *row, size_t n, enum grouping by)
{
	size_t many = 1;

	if (by == ALL_ONE)
		return n;
	while (many < n && many < NEAR_ROWS &&
	       ((by == BY_ID && !has_id(row, many, row[many].field[ID])) ||
		(by == BY_TIME && row[many].when - row[0].when >= -1 &&
		 row[many].when - row[0].when <= 1)))
		many++;
	return many;
}

/* --- runs -------------------------------------------------------------------
 */

static struct abresult_run new_run(const struct reader *f)
{
	return (struct abresult_run){
		.round = f->runs,
		.arm = (uint8_t)(f->r->setup.n_arms - 1),
		.busy_ns = -1,
	};
}

/* Streams take as long as the longest does.  How long that is follows from its
 * rate: times have one decimal, and may be 0.0-0.0. */
static int add_run(struct reader *f, const struct row *row, size_t n)
{
	struct abresult_run run = new_run(f);
	struct row all = row[0];
	double bits = 0;
	double seconds = 0;
	double jitter = 0;

	all.lost = all.total = 0;
	for (size_t i = 0; i < n; i++) {
		const struct row *one = &row[i];
		double took = one->bps > 0 ? one->bytes * 8 / one->bps
					   : one->end - one->start;

		bits += one->bytes * 8;
		seconds = took > seconds ? took : seconds;
		all.lost += one->lost;
		all.total += one->total;
		jitter += one->jitter_ms * (one->total - one->lost);
	}
	run.counted = true;
	/* as it is written, where it need not be made */
	abresult_set(&run, ABRESULT_RATE, n == 1 ? all.bps : bits / seconds);
	if (all.arrived && all.total > 0) {
		double came = all.total - all.lost;

		abresult_set(&run, ABRESULT_PPS, came / seconds);
		abresult_set(&run, ABRESULT_LOSS, 100 * all.lost / all.total);
		if (came > 0)
			abresult_set(&run, ABRESULT_JITTER, jitter / came);
	}
	f->r->setup.offered = f->r->setup.offered || (all.udp && !all.arrived);
	f->runs++;
	return abresult_add(f->r, &run);
}

/* A test whose client wrote a row, and for which no server's report stands. */
static int add_unreported(struct reader *f)
{
	struct abresult_run run = new_run(f);

	run.marks = ABRESULT_NO_REPORT;
	f->runs++;
	return abresult_add(f->r, &run);
}

static size_t count_tests(const struct rows *rows, enum grouping by)
{
	size_t tests = 0;

	for (size_t i = 0; i < rows->n; tests++)
		i += one_test(rows->row + i, rows->n - i, by);
	return tests;
}

static int add_tests(struct reader *f, const struct rows *rows,
		     enum grouping by)
{
	int rc = 0;

	if (by == UNKNOWN)
		return refuse(f, "tests of one stream, or streams of one "
				 "test? IDs, times and sums do not tell");
	for (size_t i = 0; i < rows->n && rc == 0;) {
		size_t n = one_test(rows->row + i, rows->n - i, by);

		if (f->runs == RUNS_MAX)
			return refuse(f, "more than %d tests", RUNS_MAX);
		rc = add_run(f, rows->row + i, n);
		i += n;
	}
	return rc;
}

/* What arrived, where that is told; some is room for as many rows. */
static int add_totals(struct reader *f, const struct rows *rows,
		      struct rows *some)
{
	size_t sent;
	size_t sums;
	bool arrived;
	int rc;

	pick(rows, true, false, some);
	arrived = some->n > 0;
	pick(rows, !arrived, true, some);
	sums = some->n;
	/* tests of which there is a row of the other kind */
	pick(rows, !arrived, false, some);
	sent = sums > 0      ? sums
	       : some->n > 0 ? count_tests(some, how(some, 0, true))
			     : 0;

	bool beside = some->n > 0;

	pick(rows, arrived, true, some);
	if (some->n > 0) {
		rc = add_tests(f, some, EACH_ALONE);
	} else {
		pick(rows, arrived, false, some);
		rc = add_tests(f, some, how(some, sums, beside));
	}
	while (rc == 0 && arrived && f->runs < sent && f->runs < RUNS_MAX)
		rc = add_unreported(f);
	if (rc == 0 && f->runs == 0)
		rc = refuse(f, "no total of a test in it");
	return rc;
}

static int read_arm(struct reader *f, struct slice text)
{
	struct rows rows = { .n = 0 };
	struct rows some = { .n = 0 };
	int rc = read_rows(f, text, &rows);

	if (rc == 0) {
		some.row = calloc(rows.n + 1, sizeof(*some.row));
		rc = some.row != NULL ? 0 : -ENOMEM;
	}
	if (rc == 0) {
		find_totals(&rows);
		rc = add_totals(f, &rows, &some);
	}
	free(some.row);
	free(rows.row);
	return rc;
}

int abcsv_read(struct abresult *r, const char *label, const char *text,
	       size_t n, char why[ABCSV_WHY_BYTES])
{
	struct reader f = { .r = r, .why = why };
	int rc;

	if (r->n_runs > 0 && !r->setup.unpaired)
		return refuse(&f, "not together with an experiment in JSON");
	rc = abresult_add_arm(r, label, NULL);
	if (rc == -EEXIST || rc == -E2BIG)
		return refuse(&f,
			      "not 2 to %d files, each with a name of its "
			      "own",
			      ABRESULT_ARMS_MAX);
	if (rc < 0)
		return rc;
	r->setup.unpaired = true;
	return read_arm(&f, (struct slice){ text, text + n });
}
