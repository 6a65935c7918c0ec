/*
 * out_arms: an experiment as text: a row a run, the verdict so far after each
 * round, and at the end tables, differences and a plot of the samples.
 */
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "abresult.h"
#include "abtext.h"

#define RULE "------------------------------------------------------------\n"
#define PLOT_COLUMNS 76
#define PLOT_ROWS 8
/* What stands for each arm in a plot, and for several in one place. */
static const char symbols[ABRESULT_ARMS_MAX + 1] = "x+%#@O&=";
#define SEVERAL '*'

/* A value of a run in its column, "-" where there is none. */
static void value_text(char buf[ABTEXT_BYTES], const struct abresult_run *run,
		       enum abresult_metric metric)
{
	if (!abresult_has(run, metric)) {
		(void)snprintf(buf, ABTEXT_BYTES, "-");
		return;
	}

	struct abtext_scale s = abtext_scale(metric, run->value[metric]);

	if (s.decimals > 4)
		s.decimals = 4;
	abtext_number(buf, run->value[metric], &s, false);
}

static void rate_text(char buf[2 * ABTEXT_BYTES],
		      const struct abresult_run *run)
{
	struct abtext_scale s =
		abtext_scale(ABRESULT_RATE, run->value[ABRESULT_RATE]);
	char number[ABTEXT_BYTES];

	value_text(number, run, ABRESULT_RATE);
	(void)snprintf(buf, sizeof(char[2 * ABTEXT_BYTES]), "%s %s", number,
		       abresult_has(run, ABRESULT_RATE) ? s.name : "");
}

/* Client and server; per gigabyte or per million datagrams. */
static void cpu_text(char buf[2 * ABTEXT_BYTES], const struct abresult_run *run)
{
	char client[ABTEXT_BYTES];
	char server[ABTEXT_BYTES];

	value_text(client, run,
		   abresult_has(run, ABRESULT_CLIENT_MP) ? ABRESULT_CLIENT_MP
							 : ABRESULT_CLIENT_GB);
	value_text(server, run,
		   abresult_has(run, ABRESULT_SERVER_MP) ? ABRESULT_SERVER_MP
							 : ABRESULT_SERVER_GB);
	(void)snprintf(buf, sizeof(char[2 * ABTEXT_BYTES]), "%.6s/%.6s", client,
		       server);
}

static void left_text(char *buf, size_t size, int64_t left_ns)
{
	int64_t s = (left_ns + 500000000) / 1000000000;

	if (left_ns < 0)
		(void)snprintf(buf, size, "-");
	else if (s < 3600)
		(void)snprintf(buf, size, "%" PRId64 ":%02" PRId64, s / 60,
			       s % 60);
	else
		(void)snprintf(buf, size,
			       "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600,
			       s / 60 % 60, s % 60);
}

static void print_arms(FILE *f, const struct abresult_setup *s)
{
	for (unsigned a = 0; a < s->n_arms; a++) {
		const char *command = s->arm[a].command;

		fprintf(f, "Arm %s%s: %s\n", s->arm[a].label,
			a == 0 ? ", the baseline" : "",
			command == NULL      ? "not known"
			: command[0] == '\0' ? "no command"
					     : command);
	}
}

static void arms_start(struct out *o, const struct abresult *r)
{
	const struct abresult_setup *s = &r->setup;
	char level[ABTEXT_BYTES];

	abtext_level(level, s->confidence);
	fputs(RULE, o->file);
	if (s->test[0] != '\0')
		fprintf(o->file, "Test: %s\n", s->test);
	print_arms(o->file, s);
	if (s->unpaired)
		fputs("Runs that were not made in rounds", o->file);
	else if (s->precision_percent > 0)
		fprintf(o->file, "Rounds until the rate is known to %.6g %%",
			s->precision_percent);
	else
		fprintf(o->file, "%u rounds", (unsigned)s->rounds);
	if (!s->unpaired)
		fprintf(o->file, " after %u of warm-up, seed %" PRIu64,
			(unsigned)s->warmup, s->seed);
	fprintf(o->file, ", confidence %s\n", level);
	fputs("Metric named beforehand: delivered rate\n"
	      "CPU s: client/server, for 10^9 bytes (TCP) or 10^6 datagrams\n",
	      o->file);
	fputs(RULE, o->file);
	fprintf(o->file, "%-8s %-16s %17s %11s %8s %8s %13s %7s\n", "Round",
		"Arm", "Rate", "Packets/s", "Loss %", "Jitter ms", "CPU s",
		"Left");
	fflush(o->file);
}

static void print_marks(FILE *f, const struct abresult_run *run,
			const struct out_progress *p)
{
	fputs("         note: ", f);
	for (unsigned i = 0, n = 0; i < ABRESULT_MARKS; i++) {
		if ((run->marks >> i & 1) != 0)
			fprintf(f, "%s%s", n++ > 0 ? ", " : "",
				abresult_mark_text(i));
	}
	fputs(p->repeated    ? "; it is run again\n"
	      : run->counted ? "; it counts as it is\n"
			     : "; it does not count\n",
	      f);
}

/* After each whole round. */
static void print_so_far(FILE *f, const struct abresult *r)
{
	const struct abresult_setup *s = &r->setup;
	struct abresult_table t;

	if (abresult_make(r, &t) < 0)
		return;

	const struct abresult_row *row = &t.row[ABRESULT_RATE];

	for (unsigned a = 1; a < s->n_arms && row->known && row->n > 1; a++) {
		const struct abstat_diff *d = &row->versus[a].diff;
		char mean[ABTEXT_BYTES];
		char half[ABTEXT_BYTES];

		abtext_percent(mean, abstat_percent(d, d->mean));
		abtext_percent(half, abstat_percent(d, row->versus[a].half));
		fprintf(f, "         %s - %s so far: %s %% +- %s: %s\n",
			s->arm[a].label, s->arm[0].label, mean,
			half + (half[0] == '+'),
			abstat_verdict_name(row->versus[a].verdict));
	}
	abresult_unmake(&t);
}

static void arms_run(struct out *o, const struct abresult *r,
		     const struct out_progress *p)
{
	const struct abresult_run *run = &r->run[r->n_runs - 1];
	char round[32];
	char rate[2 * ABTEXT_BYTES];
	char value[3][ABTEXT_BYTES];
	char cpu[2 * ABTEXT_BYTES];
	char left[24];

	if (p->rounds > 0)
		(void)snprintf(round, sizeof(round), "%s%u/%u",
			       run->warmup ? "w" : "", (unsigned)run->round + 1,
			       (unsigned)p->rounds);
	else
		(void)snprintf(round, sizeof(round), "%s%u",
			       run->warmup ? "w" : "",
			       (unsigned)run->round + 1);
	rate_text(rate, run);
	value_text(value[0], run, ABRESULT_PPS);
	value_text(value[1], run, ABRESULT_LOSS);
	value_text(value[2], run, ABRESULT_JITTER);
	cpu_text(cpu, run);
	left_text(left, sizeof(left), p->left_ns);
	fprintf(o->file, "%-8s %-16s %17s %11s %8s %8s %13s %7s\n", round,
		r->setup.arm[run->arm].label, rate, value[0], value[1],
		value[2], cpu, left);
	if (run->marks != 0)
		print_marks(o->file, run, p);
	if (p->round_ends && !run->warmup)
		print_so_far(o->file, r);
	fflush(o->file);
}

static void arms_note(struct out *o, const char *text)
{
	fprintf(o->file, "note: %s\n", text);
	fflush(o->file);
}

/* --- the plot, as ministat draws it ----------------------------------------
 */

struct plot {
	double low;
	double high;
	char cell[PLOT_ROWS][PLOT_COLUMNS + 1];
};

static unsigned column(const struct plot *p, double x)
{
	double at = (x - p->low) / (p->high - p->low) * (PLOT_COLUMNS - 1);

	if (at < 0)
		return 0;
	return at > PLOT_COLUMNS - 1 ? PLOT_COLUMNS - 1 : (unsigned)(at + 0.5);
}

static void set_range(struct plot *p, const struct abresult_row *row,
		      unsigned n_arms)
{
	p->low = row->arm[0].sum.min;
	p->high = row->arm[0].sum.max;
	for (unsigned a = 0; a < n_arms; a++) {
		const struct abstat_summary *s = &row->arm[a].sum;

		p->low = fmin(p->low, fmin(s->min, s->mean - s->stddev));
		p->high = fmax(p->high, fmax(s->max, s->mean + s->stddev));
	}
	if (!(p->high > p->low))
		p->high = p->low + 1;
}

/* The values of an arm pile up; where another arm stands they share a place. */
static void pile_up(struct plot *p, const struct abresult_sample *sample,
		    char symbol)
{
	unsigned height[PLOT_COLUMNS] = { 0 };

	for (size_t i = 0; i < sample->sum.n; i++) {
		unsigned x = column(p, sample->value[i]);
		unsigned y = height[x];

		if (y == PLOT_ROWS)
			continue;
		height[x]++;
		if (p->cell[y][x] != ' ')
			p->cell[y][x] = SEVERAL;
		else
			p->cell[y][x] = symbol;
	}
}

/* |___M_A____|: one standard deviation on either side of the mean. */
static void print_bar(FILE *f, const struct plot *p,
		      const struct abstat_summary *s)
{
	char bar[PLOT_COLUMNS + 1];
	unsigned from = column(p, s->mean - s->stddev);
	unsigned to = column(p, s->mean + s->stddev);

	memset(bar, ' ', PLOT_COLUMNS);
	bar[PLOT_COLUMNS] = '\0';
	for (unsigned x = from; x <= to; x++)
		bar[x] = '_';
	bar[from] = '|';
	bar[to] = '|';
	bar[column(p, s->median)] = 'M';
	bar[column(p, s->mean)] = 'A';
	fprintf(f, "|%s|\n", bar);
}

static void print_line(FILE *f)
{
	fputc('+', f);
	for (unsigned x = 0; x < PLOT_COLUMNS; x++)
		fputc('-', f);
	fputs("+\n", f);
}

static void print_plot(FILE *f, const struct abresult_setup *s,
		       const struct abresult_row *row)
{
	struct plot p;
	bool begun = false;

	set_range(&p, row, s->n_arms);
	for (unsigned y = 0; y < PLOT_ROWS; y++) {
		memset(p.cell[y], ' ', PLOT_COLUMNS);
		p.cell[y][PLOT_COLUMNS] = '\0';
	}
	for (unsigned a = 0; a < s->n_arms; a++)
		pile_up(&p, &row->arm[a], symbols[a]);
	print_line(f);
	for (unsigned y = PLOT_ROWS; y-- > 0;) {
		begun = begun || strspn(p.cell[y], " ") < PLOT_COLUMNS;
		if (begun)
			fprintf(f, "|%s|\n", p.cell[y]);
	}
	for (unsigned a = 0; a < s->n_arms; a++)
		print_bar(f, &p, &row->arm[a].sum);
	print_line(f);
}

/* --- the summary -----------------------------------------------------------
 */

static void print_sample(FILE *f, char symbol, const char *label,
			 const struct abstat_summary *s,
			 const struct abtext_scale *scale)
{
	const double values[] = { s->min, s->median, s->mean, s->max,
				  s->stddev };

	fprintf(f, "%c %-16s %5zu", symbol, label, s->n);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char text[ABTEXT_BYTES];

		abtext_number(text, values[i], scale, false);
		fprintf(f, " %13s", text);
	}
	fputc('\n', f);
}

static void print_versus(FILE *f, const struct abresult_setup *s,
			 const struct abresult_row *row,
			 const struct abtext_scale *scale, unsigned arm)
{
	const struct abresult_versus *v = &row->versus[arm];
	char text[ABTEXT_LINE_BYTES];

	abtext_difference(text, scale, v);
	fprintf(f, "  %s - %s: %s\n", s->arm[arm].label, s->arm[0].label, text);
	abtext_verdict(text, s, row, v);
	fprintf(f, "    verdict: %s\n", text);
	abtext_beside(text, s, scale, v);
	if (text[0] != '\0')
		fprintf(f, "    %s\n", text);
	abtext_outlier(text, v);
	if (text[0] != '\0')
		fprintf(f, "    %s\n", text);
}

static void print_row(FILE *f, const struct abresult_setup *s,
		      enum abresult_metric metric,
		      const struct abresult_row *row)
{
	struct abtext_scale scale = abtext_row_scale(s, metric, row);
	char level[ABTEXT_BYTES];

	abtext_level(level, row->level);
	fprintf(f, "\n%s, %s\n", abresult_title(metric), scale.name);
	if (row->steady) {
		char value[ABTEXT_BYTES];

		abtext_number(value, row->arm[0].sum.mean, &scale, false);
		fprintf(f, "  %s in all %zu runs of each arm\n", value, row->n);
		return;
	}
	fprintf(f, "  %-16s %5s %13s %13s %13s %13s %13s\n", "arm", "n", "min",
		"median", "mean", "max", "stddev");
	for (unsigned a = 0; a < s->n_arms; a++)
		print_sample(f, symbols[a], s->arm[a].label, &row->arm[a].sum,
			     &scale);
	fprintf(f, "  Differences with intervals of %s\n", level);
	for (unsigned a = 1; a < s->n_arms; a++)
		print_versus(f, s, row, &scale, a);
	print_plot(f, s, row);
}

static void arms_summary(struct out *o, const struct abresult *r)
{
	struct abresult_table t;
	char text[ABTEXT_LINE_BYTES];
	bool any = false;

	if (abresult_make(r, &t) < 0) {
		arms_note(o, "no memory for the table");
		return;
	}
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		if (!t.row[m].known)
			continue;
		any = true;
		print_row(o->file, &r->setup, m, &t.row[m]);
	}
	fputs(any ? "\n"
		  : "No round is complete: there is nothing to compare.\n",
	      o->file);
	for (unsigned i = 0; abtext_note(text, r, &t, i); i++)
		fprintf(o->file, "note: %s\n", text);
	fflush(o->file);
	abresult_unmake(&t);
}

const struct out_experiment out_arms = {
	.start = arms_start,
	.run = arms_run,
	.note = arms_note,
	.summary = arms_summary,
};
