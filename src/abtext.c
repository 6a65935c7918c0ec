#include "abtext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 5
#define DECIMALS_MAX 9
#define RANGE_BYTES (2 * ABTEXT_BYTES + 8)

/* So many decimals give value this many digits. */
static int decimals_for(double value, int digits)
{
	int places = value > 0 ? (int)floor(log10(value)) : 0;
	int decimals = digits - 1 - places;

	if (decimals < 0)
		return 0;
	return decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
}

struct abtext_scale abtext_scale(enum abresult_metric metric, double largest)
{
	static const char *const prefixes[] = { "", "K", "M", "G", "T" };
	struct abtext_scale s = { .unit = 1 };
	unsigned i = 0;
	bool rate = metric == ABRESULT_RATE || metric == ABRESULT_BACK_RATE;

	for (; rate && i < 4 && largest >= 1000 * s.unit; i++)
		s.unit *= 1000;
	s.decimals = decimals_for(largest / s.unit, DIGITS);
	(void)snprintf(s.name, sizeof(s.name), "%s%s", prefixes[i],
		       abresult_unit(metric));
	return s;
}

struct abtext_scale abtext_row_scale(const struct abresult_setup *s,
				     enum abresult_metric metric,
				     const struct abresult_row *row)
{
	double largest = 0;

	for (unsigned a = 0; a < s->n_arms; a++)
		largest = fmax(largest, row->arm[a].sum.max);
	return abtext_scale(metric, largest);
}

void abtext_number(char buf[ABTEXT_BYTES], double value,
		   const struct abtext_scale *scale, bool sign)
{
	double shown = value / scale->unit;

	if (!isfinite(shown) || fabs(shown) > 1e18) {
		(void)snprintf(buf, ABTEXT_BYTES, "-");
		return;
	}
	/* no -0.000 */
	if (fabs(shown) < 0.5 * pow(10, -scale->decimals))
		shown = 0;
	(void)snprintf(buf, ABTEXT_BYTES, sign ? "%+.*f" : "%.*f",
		       scale->decimals, shown);
}

void abtext_percent(char buf[ABTEXT_BYTES], double percent)
{
	struct abtext_scale scale = {
		.unit = 1,
		.decimals = decimals_for(fabs(percent), 3),
	};

	if (!isfinite(percent))
		scale.decimals = 0;
	if (scale.decimals > 4)
		scale.decimals = 4;
	abtext_number(buf, percent, &scale, true);
}

void abtext_level(char buf[ABTEXT_BYTES], double level)
{
	(void)snprintf(buf, ABTEXT_BYTES, level < 0.999 ? "%.4g %%" : "%.6g %%",
		       level * 100);
}

/* The half-width as a range around mean. */
static void range_text(char *buf, size_t size, double mean, double half,
		       const struct abtext_scale *scale)
{
	char low[ABTEXT_BYTES];
	char high[ABTEXT_BYTES];

	if (!isfinite(half)) {
		(void)snprintf(buf, size, "too few rounds for an interval");
		return;
	}
	abtext_number(low, mean - half, scale, true);
	abtext_number(high, mean + half, scale, true);
	(void)snprintf(buf, size, "%s to %s", low, high);
}

static void percent_text(char *buf, size_t size, const struct abstat_diff *d,
			 double half)
{
	double mean = abstat_percent(d, d->mean);
	struct abtext_scale scale = { .unit = 1 };
	double width = abstat_percent(d, half);
	char text[ABTEXT_BYTES];
	char range[RANGE_BYTES];

	buf[0] = '\0';
	if (!isfinite(mean))
		return;
	if (isfinite(half))
		scale.decimals = decimals_for(fmax(fabs(mean), width), 3);
	else
		scale.decimals = decimals_for(fabs(mean), 3);
	if (scale.decimals > 4)
		scale.decimals = 4;
	abtext_number(text, mean, &scale, true);
	if (!isfinite(half)) {
		(void)snprintf(buf, size, ", %s %%", text);
		return;
	}
	range_text(range, sizeof(range), mean, width, &scale);
	(void)snprintf(buf, size, ", %s %% (%s)", text, range);
}

void abtext_difference(char buf[ABTEXT_LINE_BYTES],
		       const struct abtext_scale *scale,
		       const struct abresult_versus *v)
{
	char mean[ABTEXT_BYTES];
	char range[RANGE_BYTES];
	char percent[4 * ABTEXT_BYTES];

	abtext_number(mean, v->diff.mean, scale, true);
	range_text(range, sizeof(range), v->diff.mean, v->half, scale);
	percent_text(percent, sizeof(percent), &v->diff, v->half);
	/* of percents there are no percents: it would be read as points */
	if (strcmp(scale->name, "%") == 0)
		percent[0] = '\0';
	(void)snprintf(buf, ABTEXT_LINE_BYTES, "%s %s (%s)%s", mean,
		       scale->name, range, percent);
}

static void p_text(char buf[ABTEXT_BYTES], double p)
{
	if (p < 0.00001)
		(void)snprintf(buf, ABTEXT_BYTES, "p < 0.00001");
	else
		(void)snprintf(buf, ABTEXT_BYTES, "p %.*f", decimals_for(p, 2),
			       p);
}

void abtext_verdict(char buf[ABTEXT_LINE_BYTES], const struct abresult_setup *s,
		    const struct abresult_row *row,
		    const struct abresult_versus *v)
{
	const char *name = abstat_verdict_name(v->verdict);
	const char *what = s->unpaired ? "runs of each arm" : "rounds";
	char p[ABTEXT_BYTES];
	size_t n = v->needed;

	if (row->steady) {
		(void)snprintf(buf, ABTEXT_LINE_BYTES,
			       "%s: all runs of all arms have the same value",
			       abstat_verdict_name(ABSTAT_CANNOT_TELL));
		return;
	}
	switch (v->verdict) {
	case ABSTAT_CANNOT_TELL:
		if (n >= ABPLAN_NEVER)
			(void)snprintf(buf, ABTEXT_LINE_BYTES,
				       "%s; more than %d %s would be needed",
				       name, ABSTAT_MAX, what);
		else
			(void)snprintf(buf, ABTEXT_LINE_BYTES,
				       "%s; about %zu %s could", name, n, what);
		break;
	case ABSTAT_SAME:
		(void)snprintf(buf, ABTEXT_LINE_BYTES, "%s, within %.6g %%",
			       name, s->margin_percent);
		break;
	case ABSTAT_HIGHER:
	case ABSTAT_LOWER:
		p_text(p, v->p);
		(void)snprintf(buf, ABTEXT_LINE_BYTES, "%s, %s", name, p);
		break;
	}
}

void abtext_beside(char buf[ABTEXT_LINE_BYTES], const struct abresult_setup *s,
		   const struct abtext_scale *scale,
		   const struct abresult_versus *v)
{
	char range[RANGE_BYTES];
	char shift[ABTEXT_BYTES];
	char p[ABTEXT_BYTES];

	buf[0] = '\0';
	if (s->unpaired)
		return;
	range_text(range, sizeof(range), v->welch.mean, v->welch_half, scale);
	abtext_number(shift, v->robust.shift, scale, true);
	p_text(p, v->robust.p);
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "unpaired (Welch): %s; Hodges-Lehmann: %s, signed ranks "
		       "%s",
		       range, shift, p);
}

void abtext_outlier(char buf[ABTEXT_LINE_BYTES],
		    const struct abresult_versus *v)
{
	const struct abrobust *b = &v->robust;

	buf[0] = '\0';
	if (b->decisive == 0)
		return;
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "%s decides: without round %zu of these%s it would be "
		       "\"%s\"",
		       b->decisive == 1 ? "one round" : "any of some rounds",
		       b->round + 1, b->outlier ? ", an outlier," : "",
		       abstat_verdict_name(b->without));
}

/* --- the whole -------------------------------------------------------------
 */

static bool level_note(char *buf, const struct abresult_setup *s,
		       const struct abresult_table *t)
{
	char confidence[ABTEXT_BYTES];

	if (t->primary + t->others == 0)
		return false;
	abtext_level(confidence, s->confidence);
	(void)snprintf(
		buf, ABTEXT_LINE_BYTES,
		"%zu comparison%s of the delivered rate, the metric named "
		"beforehand, and %zu of the others: each group holds %s "
		"as a whole (Holm; intervals by Bonferroni)",
		t->primary, t->primary == 1 ? "" : "s", t->others, confidence);
	return true;
}

static bool marks_note(char *buf, const struct abresult *r)
{
	size_t used = 0;
	unsigned all = (1u << ABRESULT_MARKS) - 1;
	size_t kept = abresult_marked(r, all, true);
	size_t not_kept = abresult_marked(r, all, false);

	if (kept + not_kept == 0)
		return false;
	used = (size_t)snprintf(
		buf, ABTEXT_LINE_BYTES,
		"%zu run%s marked, of which %zu stand%s in the "
		"table and %zu %s not:",
		kept + not_kept, kept + not_kept == 1 ? " was" : "s were", kept,
		kept == 1 ? "s" : "", not_kept, not_kept == 1 ? "does" : "do");
	for (unsigned i = 0; i < ABRESULT_MARKS; i++) {
		size_t n = abresult_marked(r, 1u << i, true) +
			   abresult_marked(r, 1u << i, false);

		if (n > 0 && used < ABTEXT_LINE_BYTES)
			used += (size_t)snprintf(
				buf + used, ABTEXT_LINE_BYTES - used,
				" %s %zu;", abresult_mark_text(i), n);
	}
	if (used > 0 && used < ABTEXT_LINE_BYTES && buf[used - 1] == ';')
		buf[used - 1] = '\0';
	return true;
}

static bool floor_note(char *buf, const struct abresult *r,
		       const struct abresult_table *t)
{
	const struct abresult_row *row = &t->row[ABRESULT_RATE];
	double worst = 0;
	char percent[ABTEXT_BYTES];

	if (!abresult_is_aa(&r->setup) || !row->known)
		return false;
	for (unsigned a = 1; a < r->setup.n_arms; a++)
		worst = fmax(worst, abstat_percent(&row->versus[a].diff,
						   row->versus[a].detectable));
	if (!isfinite(worst))
		return false;
	abtext_percent(percent, worst);
	(void)snprintf(
		buf, ABTEXT_LINE_BYTES,
		"noise floor: the arms do nothing; %zu rounds of this "
		"set-up show a difference of the delivered rate of %s %% "
		"in 8 of 10 experiments",
		row->n, percent + 1);
	return true;
}

static bool width_note(char *buf, const struct abresult *r,
		       const struct abresult_table *t)
{
	const struct abresult_setup *s = &r->setup;

	if (s->precision_percent <= 0)
		return false;
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "%s: the interval of the delivered rate, made wider for "
		       "that, %s %.6g %% of the baseline",
		       "the width decided when to stop",
		       abresult_precise(r, t) ? "is within"
					      : "is not yet within",
		       s->precision_percent);
	return true;
}

static bool alike_note(char *buf, const struct abresult *r)
{
	unsigned a;
	unsigned b;

	if (!abresult_alike(r, &a, &b))
		return false;
	(void)snprintf(
		buf, ABTEXT_LINE_BYTES,
		"--arm-show shows the same for \"%s\" and \"%s\": was it "
		"really switched?",
		r->setup.arm[a].label, r->setup.arm[b].label);
	return true;
}

static bool end_note(char *buf, const struct abresult *r)
{
	if (!r->broken_off)
		return false;
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "it ended before its time: %zu rounds are complete",
		       abresult_rounds(r));
	return true;
}

static bool unpaired_note(char *buf, const struct abresult *r)
{
	if (!r->setup.unpaired)
		return false;
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "these runs were not made in rounds: what changed with "
		       "time may look like a difference of the arms");
	return true;
}

static bool offered_note(char *buf, const struct abresult *r)
{
	if (!r->setup.offered)
		return false;
	(void)snprintf(buf, ABTEXT_LINE_BYTES,
		       "there are rates of what a UDP client offered: its file "
		       "does not tell what arrived");
	return true;
}

bool abtext_note(char buf[ABTEXT_LINE_BYTES], const struct abresult *r,
		 const struct abresult_table *t, unsigned i)
{
	for (unsigned kind = 0; kind < 8; kind++) {
		bool has = false;

		switch (kind) {
		case 0:
			has = end_note(buf, r);
			break;
		case 1:
			has = level_note(buf, &r->setup, t);
			break;
		case 2:
			has = width_note(buf, r, t);
			break;
		case 3:
			has = floor_note(buf, r, t);
			break;
		case 4:
			has = marks_note(buf, r);
			break;
		case 5:
			has = alike_note(buf, r);
			break;
		case 6:
			has = unpaired_note(buf, r);
			break;
		case 7:
			has = offered_note(buf, r);
			break;
		}
		if (has && i-- == 0)
			return true;
	}
	return false;
}
