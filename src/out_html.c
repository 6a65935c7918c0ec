/*
 * out_html: the result of an experiment as one page of HTML, complete in
 * itself: its style and drawings (SVG) stand in it, and it has no script.
 */
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "abresult.h"
#include "abtext.h"

/* Drawings are so wide in units of their own, and as wide as the page. */
#define WIDTH 720.0
#define LEFT 110.0 /* of the runs: their values stand here */
#define MARGIN 16.0
#define LANE 62.0  /* height of an arm's samples, its label above them */
#define RUNS 190.0 /* height of the runs over time */
#define AXIS 32.0

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;"
	"--line:#d1d9e0;--soft:#f3f5f7;--a0:#0b62c4;--a1:#c2410c;--a2:#15803d;"
	"--a3:#8b28c9;--a4:#a16207;--a5:#be185d;--a6:#0e7490;--a7:#4d5562}"
	"@media(prefers-color-scheme:dark){:root{--bg:#0f1419;--fg:#e4e9ee;"
	"--dim:#98a4b0;--line:#36404a;--soft:#1a2129;--a0:#6cb0ff;--a1:#ff9d66;"
	"--a2:#5fd38a;--a3:#d0a0ff;--a4:#e6c14d;--a5:#ff8fbf;--a6:#5fd0e6;"
	"--a7:#b4bec8}}"
	"*{box-sizing:border-box}"
	"body{margin:0 "
	"auto;max-width:62rem;padding:1.2rem;background:var(--bg);"
	"color:var(--fg);font:16px/1.5 system-ui,sans-serif}"
	"h1{font-size:1.5rem;margin:.2rem 0 1rem}"
	"h2{font-size:1.15rem;margin:0 0 .5rem}"
	"section{border-top:1px solid var(--line);padding:1rem 0}"
	"svg,p,li,.wide{break-inside:avoid}h2,svg{break-after:avoid}"
	".wide{overflow-x:auto}"
	"table{border-collapse:collapse;width:100%;"
	"font-variant-numeric:tabular-nums}"
	"th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;"
	"border-bottom:1px solid var(--line)}"
	"th{color:var(--dim);font-weight:600;font-size:.85rem}"
	"th:first-child,td:first-child{text-align:left}"
	"td.text{text-align:left;white-space:normal}"
	"code{background:var(--soft);padding:.1rem .3rem;border-radius:3px;"
	"overflow-wrap:anywhere}"
	".verdict{font-weight:700}.dim{color:var(--dim)}"
	".key{display:inline-block;width:.8em;height:.8em;border-radius:50%}"
	"ul{padding-left:1.2rem}svg{width:100%;height:auto;display:block}"
	"svg text{fill:var(--dim);font-size:13px}"
	"svg .axis{stroke:var(--line);stroke-width:1}"
	".a0{--c:var(--a0)}.a1{--c:var(--a1)}.a2{--c:var(--a2)}"
	".a3{--c:var(--a3)}.a4{--c:var(--a4)}.a5{--c:var(--a5)}"
	".a6{--c:var(--a6)}.a7{--c:var(--a7)}"
	".key{background:var(--c)}svg .dot{fill:var(--c);fill-opacity:.65}"
	"svg .bar{stroke:var(--c);stroke-width:2;fill:none}"
	"svg .off{fill:none;stroke:var(--c);stroke-width:1.5}"
	"svg .mark{stroke:var(--fg);stroke-width:2}"
	"@media(max-width:40rem){body{padding:.7rem;font-size:15px}"
	"table,th{font-size:.72rem}th,td{padding:.2rem .2rem}"
	"svg text{font-size:25px}svg circle{r:8px}svg .bar{stroke-width:4}"
	"svg .axis{stroke-width:2}svg .off{stroke-width:3}}"
	"@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#999;"
	"--soft:#fff}body{max-width:none;padding:0;font-size:10pt}"
	"svg{max-width:36rem}svg text{font-size:16px}section{padding:.6rem 0}}";

/* What a person named may hold anything. */
static void put_text(FILE *f, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
		}
	}
}

static const char *label(const struct abresult *r, unsigned arm)
{
	return r->setup.arm[arm].label;
}

/* --- drawings ---------------------------------------------------------------
 */

/* Values from low to high lie between from and to. */
struct axis {
	double low;
	double high;
	double from;
	double to;
};

static double at(const struct axis *a, double value)
{
	return a->from +
	       (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void widen(struct axis *a)
{
	double room = (a->high - a->low) * 0.04;

	if (!(room > 0))
		room = fabs(a->high) > 0 ? fabs(a->high) * 0.01 : 1;
	a->low -= room;
	a->high += room;
}

static void begin_svg(FILE *f, double height, const char *title)
{
	fprintf(f,
		"<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		"aria-label=\"%s\">\n",
		WIDTH, height, title);
}

static void put_svg_text(FILE *f, double x, double y, const char *anchor,
			 const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
		anchor);
	put_text(f, text);
	fputs("</text>\n", f);
}

/* A horizontal axis with its ends and middle. */
static void put_axis(FILE *f, const struct axis *a, double y,
		     const struct abtext_scale *scale, bool sign)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	fprintf(f,
		"<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
		"y2=\"%.1f\"/>\n",
		a->from, y, a->to, y);
	for (int i = 0; i < 3; i++) {
		double value = a->low + (a->high - a->low) * i / 2;
		char number[ABTEXT_BYTES];

		abtext_number(number, value, scale, sign);
		put_svg_text(f, at(a, value), y + 22, anchors[i], number);
	}
}

/* What speaks against it, "" or ", ..." */
static void put_marks(FILE *f, const struct abresult_run *run)
{
	for (unsigned i = 0; i < ABRESULT_MARKS; i++) {
		if ((run->marks >> i & 1) != 0)
			fprintf(f, ", %s", abresult_mark_text(i));
	}
}

/* What one run was, where a pointer rests on it. */
static void put_run_title(FILE *f, const struct abresult *r,
			  const struct abresult_run *run,
			  const struct abtext_scale *scale)
{
	char number[ABTEXT_BYTES];

	fprintf(f, "<title>%sround %u, ", run->warmup ? "warm-up " : "",
		(unsigned)run->round + 1);
	put_text(f, label(r, run->arm));
	abtext_number(number, run->value[ABRESULT_RATE], scale, false);
	fprintf(f, ": %s %s", number, scale->name);
	put_marks(f, run);
	fputs("</title>", f);
}

/* Runs that count, and those that do not as rings, by the order they ran in. */
static void draw_runs(FILE *f, const struct abresult *r,
		      const struct abresult_row *row,
		      const struct abtext_scale *scale)
{
	struct axis x = { 0, (double)r->n_runs, LEFT, WIDTH - MARGIN };
	struct axis y = { row->arm[0].sum.min, row->arm[0].sum.max, RUNS - 8,
			  8 };
	char number[ABTEXT_BYTES];

	for (size_t i = 0; i < r->n_runs; i++) {
		if (!abresult_has(&r->run[i], ABRESULT_RATE))
			continue;
		y.low = fmin(y.low, r->run[i].value[ABRESULT_RATE]);
		y.high = fmax(y.high, r->run[i].value[ABRESULT_RATE]);
	}
	widen(&y);
	begin_svg(f, RUNS, "Delivered rate of each run in the order of time");
	abtext_number(number, y.high, scale, false);
	put_svg_text(f, LEFT - 8, 22, "end", number);
	abtext_number(number, y.low, scale, false);
	put_svg_text(f, LEFT - 8, RUNS - 6, "end", number);
	fprintf(f,
		"<line class=\"axis\" x1=\"%.1f\" y1=\"4\" x2=\"%.1f\" "
		"y2=\"%.1f\"/>\n",
		LEFT, LEFT, RUNS - 4);
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (!abresult_has(run, ABRESULT_RATE))
			continue;
		fprintf(f,
			"<g class=\"a%u\"><circle class=\"%s%s\" cx=\"%.1f\" "
			"cy=\"%.1f\" r=\"5\">",
			run->arm, run->counted ? "dot" : "off",
			run->counted && run->marks != 0 ? " mark" : "",
			at(&x, (double)i + 0.5),
			at(&y, run->value[ABRESULT_RATE]));
		put_run_title(f, r, run, scale);
		fputs("</circle></g>\n", f);
	}
	fputs("</svg>\n<p class=\"dim\">Each run in the order of time; rings "
	      "do not count (warm-up, or run again), dots with an outline "
	      "count "
	      "although something spoke against them.</p>\n",
	      f);
}

/* Each value a dot; mean and one standard deviation below. */
static void draw_samples(FILE *f, const struct abresult *r,
			 const struct abresult_row *row,
			 const struct abtext_scale *scale)
{
	unsigned n_arms = r->setup.n_arms;
	struct axis x = { row->arm[0].sum.min, row->arm[0].sum.max, MARGIN,
			  WIDTH - MARGIN };

	for (unsigned a = 0; a < n_arms; a++) {
		const struct abstat_summary *s = &row->arm[a].sum;

		x.low = fmin(x.low, fmin(s->min, s->mean - s->stddev));
		x.high = fmax(x.high, fmax(s->max, s->mean + s->stddev));
	}
	widen(&x);
	begin_svg(f, n_arms * LANE + AXIS, "Samples of each arm");
	for (unsigned a = 0; a < n_arms; a++) {
		const struct abresult_sample *sample = &row->arm[a];
		const struct abstat_summary *s = &sample->sum;
		double y = a * LANE;

		put_svg_text(f, MARGIN, y + 22, "start", label(r, a));
		fprintf(f, "<g class=\"a%u\">\n", a);
		for (size_t i = 0; i < s->n; i++)
			fprintf(f,
				"<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" "
				"r=\"4.5\"/>\n",
				at(&x, sample->value[i]), y + 38);
		fprintf(f,
			"<path class=\"bar\" d=\"M%.1f %.1fH%.1fM%.1f "
			"%.1fv10\"/>\n</g>\n",
			at(&x, s->mean - s->stddev), y + 53,
			at(&x, s->mean + s->stddev), at(&x, s->mean), y + 48);
	}
	put_axis(f, &x, n_arms * LANE + 4, scale, false);
	fputs("</svg>\n", f);
}

/* The differences with their intervals, and 0. */
static void draw_differences(FILE *f, const struct abresult *r,
			     const struct abresult_row *row,
			     const struct abtext_scale *scale)
{
	unsigned n_arms = r->setup.n_arms;
	struct axis x = { 0, 0, MARGIN, WIDTH - MARGIN };

	for (unsigned a = 1; a < n_arms; a++) {
		const struct abresult_versus *v = &row->versus[a];

		if (!isfinite(v->half))
			return;
		x.low = fmin(x.low, v->diff.mean - v->half);
		x.high = fmax(x.high, v->diff.mean + v->half);
	}
	widen(&x);
	begin_svg(f, (n_arms - 1) * LANE + AXIS,
		  "Differences to the baseline with their intervals");
	fprintf(f,
		"<line class=\"axis\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" "
		"y2=\"%.1f\"/>\n",
		at(&x, 0), at(&x, 0), (n_arms - 1) * LANE + 4);
	for (unsigned a = 1; a < n_arms; a++) {
		const struct abresult_versus *v = &row->versus[a];
		double y = (a - 1) * LANE + 42;

		put_svg_text(f, MARGIN, y - 20, "start", label(r, a));
		fprintf(f,
			"<g class=\"a%u\"><path class=\"bar\" d=\"M%.1f "
			"%.1fv12m0 -6H%.1fm0 -6v12\"/><circle class=\"dot\" "
			"cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/></g>\n",
			a, at(&x, v->diff.mean - v->half), y - 6,
			at(&x, v->diff.mean + v->half), at(&x, v->diff.mean),
			y);
	}
	put_axis(f, &x, (n_arms - 1) * LANE + 4, scale, true);
	fputs("</svg>\n", f);
}

/* --- tables -----------------------------------------------------------------
 */

static void put_arm(FILE *f, const struct abresult *r, unsigned arm)
{
	fprintf(f, "<span class=\"key a%u\"></span> ", arm);
	put_text(f, label(r, arm));
}

static void put_samples(FILE *f, const struct abresult *r,
			const struct abresult_row *row,
			const struct abtext_scale *scale)
{
	fputs("<div class=\"wide\"><table><tr><th>Arm<th>n<th>min<th>median"
	      "<th>mean<th>max<th>stddev</tr>\n",
	      f);
	for (unsigned a = 0; a < r->setup.n_arms; a++) {
		const struct abstat_summary *s = &row->arm[a].sum;
		const double values[] = { s->min, s->median, s->mean, s->max,
					  s->stddev };

		fputs("<tr><td>", f);
		put_arm(f, r, a);
		fprintf(f, "<td>%zu", s->n);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]);
		     i++) {
			char number[ABTEXT_BYTES];

			abtext_number(number, values[i], scale, false);
			fprintf(f, "<td>%s", number);
		}
		fputs("</tr>\n", f);
	}
	fputs("</table></div>\n", f);
}

static void put_versus(FILE *f, const struct abresult *r,
		       const struct abresult_row *row,
		       const struct abtext_scale *scale, unsigned arm)
{
	const struct abresult_versus *v = &row->versus[arm];
	char text[ABTEXT_LINE_BYTES];

	fputs("<p>", f);
	put_arm(f, r, arm);
	fputs(" &minus; ", f);
	put_text(f, label(r, 0));
	abtext_difference(text, scale, v);
	fputs(": ", f);
	put_text(f, text);
	abtext_verdict(text, &r->setup, row, v);
	fputs("<br><span class=\"verdict\">", f);
	put_text(f, text);
	fputs("</span>", f);
	abtext_outlier(text, v);
	if (text[0] != '\0') {
		fputs("<br>", f);
		put_text(f, text);
	}
	abtext_beside(text, &r->setup, scale, v);
	if (text[0] != '\0') {
		fputs("<br><span class=\"dim\">", f);
		put_text(f, text);
		fputs("</span>", f);
	}
	fputs("</p>\n", f);
}

static void put_row(FILE *f, const struct abresult *r,
		    enum abresult_metric metric, const struct abresult_row *row)
{
	struct abtext_scale scale = abtext_row_scale(&r->setup, metric, row);
	char level[ABTEXT_BYTES];

	abtext_level(level, row->level);
	fprintf(f, "<section><h2>%s, %s</h2>\n", abresult_title(metric),
		scale.name);
	if (row->steady) {
		char number[ABTEXT_BYTES];

		abtext_number(number, row->arm[0].sum.mean, &scale, false);
		fprintf(f, "<p>%s in all %zu runs of each arm.</p></section>\n",
			number, row->n);
		return;
	}
	if (metric == ABRESULT_RATE)
		draw_runs(f, r, row, &scale);
	draw_samples(f, r, row, &scale);
	put_samples(f, r, row, &scale);
	for (unsigned a = 1; a < r->setup.n_arms; a++)
		put_versus(f, r, row, &scale, a);
	draw_differences(f, r, row, &scale);
	fprintf(f,
		"<p class=\"dim\">Differences to the baseline with intervals "
		"of %s; the upright line is no difference.</p></section>\n",
		level);
}

static void put_arms(FILE *f, const struct abresult *r)
{
	fputs("<ul>\n", f);
	for (unsigned a = 0; a < r->setup.n_arms; a++) {
		const char *command = r->setup.arm[a].command;

		fputs("<li>", f);
		put_arm(f, r, a);
		fputs(a == 0 ? ", the baseline" : "", f);
		if (command != NULL && command[0] != '\0') {
			fputs(": <code>", f);
			put_text(f, command);
			fputs("</code>", f);
		}
		fputs("</li>\n", f);
	}
	fputs("</ul>\n", f);
}

/* When the first run began; of files of iperf 2 that is not known. */
static void put_date(FILE *f, const struct abresult *r)
{
	time_t sec =
		r->n_runs > 0 ? (time_t)(r->run[0].wall_ns / 1000000000) : 0;
	struct tm tm;
	char text[64];

	if (sec > 0 && gmtime_r(&sec, &tm) != NULL &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		fprintf(f, "%s<br>\n", text);
}

static void put_setup(FILE *f, const struct abresult *r)
{
	const struct abresult_setup *s = &r->setup;
	char level[ABTEXT_BYTES];

	abtext_level(level, s->confidence);
	fputs("<p>", f);
	put_date(f, r);
	if (s->test[0] != '\0') {
		put_text(f, s->test);
		fputs("<br>\n", f);
	}
	if (s->unpaired)
		fputs("Runs that were not made in rounds", f);
	else
		fprintf(f,
			"%zu complete rounds after %u of warm-up, seed "
			"%" PRIu64,
			abresult_rounds(r), (unsigned)s->warmup, s->seed);
	fprintf(f,
		", confidence %s; the metric named beforehand is the delivered "
		"rate.</p>\n",
		level);
}

static void put_result(FILE *f, const struct abresult *r,
		       const struct abresult_table *t)
{
	char text[ABTEXT_LINE_BYTES];

	put_setup(f, r);
	put_arms(f, r);
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		if (t->row[m].known)
			put_row(f, r, m, &t->row[m]);
	}
	fputs("<section><h2>Notes</h2><ul>\n", f);
	for (unsigned i = 0; abtext_note(text, r, t, i); i++) {
		fputs("<li>", f);
		put_text(f, text);
		fputs("</li>\n", f);
	}
	fputs("</ul></section>\n", f);
}

void out_html(FILE *f, const struct abresult *r)
{
	struct abresult_table t;

	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">"
	      "\n<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<title>iperf experiment</title>\n<style>",
	      f);
	fputs(style, f);
	fputs("</style></head><body>\n<h1>iperf experiment</h1>\n", f);
	if (abresult_make(r, &t) == 0) {
		put_result(f, r, &t);
		abresult_unmake(&t);
	}
	fputs("</body></html>\n", f);
}
