#include "abresult.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From so many rounds on their scatter is a guess at that of all. */
#define TELLING_ROUNDS 3

static const struct {
	const char *key;
	const char *title;
	const char *unit;
} metrics[ABRESULT_METRICS] = {
	[ABRESULT_RATE] = { "bits_per_second", "Delivered rate", "bits/sec" },
	[ABRESULT_BACK_RATE] = { "reverse_bits_per_second",
				 "Delivered rate, reverse", "bits/sec" },
	[ABRESULT_PPS] = { "packets_per_second", "Packet rate", "packets/sec" },
	[ABRESULT_LOSS] = { "lost_percent", "Loss", "%" },
	[ABRESULT_JITTER] = { "jitter_ms", "Jitter", "ms" },
	[ABRESULT_DELAY] = { "delay_p99_ms", "Delay p99", "ms" },
	[ABRESULT_CLIENT_GB] = { "client_cpu_seconds_per_gigabyte",
				 "Client CPU", "s/gigabyte" },
	[ABRESULT_CLIENT_MP] = { "client_cpu_seconds_per_million_packets",
				 "Client CPU", "s/million packets" },
	[ABRESULT_SERVER_GB] = { "server_cpu_seconds_per_gigabyte",
				 "Server CPU", "s/gigabyte" },
	[ABRESULT_SERVER_MP] = { "server_cpu_seconds_per_million_packets",
				 "Server CPU", "s/million packets" },
	[ABRESULT_RETRANSMITS] = { "retransmits", "Retransmits", "segments" },
	[ABRESULT_TRIP] = { "round_trip_mean_ms", "Round trip", "ms" },
	[ABRESULT_TRIP_P99] = { "round_trip_p99_ms", "Round trip p99", "ms" },
};

static const struct {
	const char *key;
	const char *text;
} marks[ABRESULT_MARKS] = {
	{ "offered", "offered less than asked" },
	{ "no_report", "no report of the server" },
	{ "busy", "host was busy otherwise" },
	{ "failed", "test did not run" },
};

const char *abresult_key(enum abresult_metric metric)
{
	return metrics[metric].key;
}

const char *abresult_title(enum abresult_metric metric)
{
	return metrics[metric].title;
}

const char *abresult_unit(enum abresult_metric metric)
{
	return metrics[metric].unit;
}

const char *abresult_mark_key(unsigned i)
{
	return marks[i].key;
}

const char *abresult_mark_text(unsigned i)
{
	return marks[i].text;
}

int abresult_add_arm(struct abresult *r, const char *label, const char *command)
{
	struct abresult_setup *s = &r->setup;

	if (s->n_arms == ABRESULT_ARMS_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < s->n_arms; i++) {
		if (strcmp(s->arm[i].label, label) == 0)
			return -EEXIST;
	}

	struct abresult_arm *arm = &s->arm[s->n_arms];

	(void)snprintf(arm->label, sizeof(arm->label), "%s", label);
	arm->command = NULL;
	if (command != NULL && (arm->command = strdup(command)) == NULL)
		return -ENOMEM;
	s->n_arms++;
	return 0;
}

int abresult_add(struct abresult *r, const struct abresult_run *run)
{
	if (r->n_runs == r->room) {
		size_t room = r->room > 0 ? 2 * r->room : 32;
		struct abresult_run *more =
			realloc(r->run, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		r->run = more;
		r->room = room;
	}
	r->run[r->n_runs++] = *run;
	return 0;
}

void abresult_free(struct abresult *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		free(r->run[i].shown);
	for (unsigned i = 0; i < r->setup.n_arms; i++)
		free(r->setup.arm[i].command);
	free(r->run);
	*r = (struct abresult){ .run = NULL };
}

void abresult_set(struct abresult_run *run, enum abresult_metric metric,
		  double value)
{
	char text[64];

	if (!isfinite(value) || fabs(value) > 1e18)
		return;
	(void)snprintf(text, sizeof(text), "%.9f", value);
	run->value[metric] = strtod(text, NULL);
	run->has |= 1u << metric;
}

bool abresult_has(const struct abresult_run *run, enum abresult_metric metric)
{
	return (run->has >> metric & 1) != 0;
}

static bool does_nothing(const struct abresult_arm *arm)
{
	return arm->command != NULL &&
	       arm->command[strspn(arm->command, " \t\n")] == '\0';
}

bool abresult_is_aa(const struct abresult_setup *s)
{
	for (unsigned i = 0; i < s->n_arms; i++) {
		if (!does_nothing(&s->arm[i]))
			return false;
	}
	return s->n_arms > 0;
}

/* What the arm showed in its run of this round, NULL: there is none. */
static const char *shown_in(const struct abresult *r, unsigned arm,
			    const struct abresult_run *like)
{
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (run->arm == arm && run->round == like->round &&
		    run->warmup == like->warmup && run->shown != NULL)
			return run->shown;
	}
	return NULL;
}

static bool always_alike(const struct abresult *r, unsigned a, unsigned b)
{
	bool seen = false;

	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];
		const char *other = NULL;

		if (run->arm == a && run->shown != NULL)
			other = shown_in(r, b, run);
		if (other == NULL)
			continue;
		if (strcmp(other, run->shown) != 0)
			return false;
		seen = true;
	}
	return seen;
}

bool abresult_alike(const struct abresult *r, unsigned *a, unsigned *b)
{
	const struct abresult_setup *s = &r->setup;

	for (*a = 0; *a < s->n_arms; (*a)++) {
		for (*b = *a + 1; *b < s->n_arms; (*b)++) {
			const char *one = s->arm[*a].command;
			const char *other = s->arm[*b].command;

			if (one != NULL && other != NULL &&
			    strcmp(one, other) == 0)
				continue;
			if (always_alike(r, *a, *b))
				return true;
		}
	}
	return false;
}

size_t abresult_marked(const struct abresult *r, unsigned which, bool counted)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (!run->warmup && (run->marks & which) != 0 &&
		    run->counted == counted)
			n++;
	}
	return n;
}

/* --- samples ---------------------------------------------------------------
 */

/* Of one metric, or of runs without a look at their metrics. */
#define ANY_METRIC ABRESULT_METRICS

static bool takes_part(const struct abresult_run *run, unsigned metric)
{
	if (!run->counted || run->warmup)
		return false;
	return metric == ANY_METRIC || (run->has >> metric & 1) != 0;
}

static size_t rounds_begun(const struct abresult *r)
{
	size_t rounds = 0;

	for (size_t i = 0; i < r->n_runs; i++) {
		if (!r->run[i].warmup && r->run[i].round >= rounds)
			rounds = (size_t)r->run[i].round + 1;
	}
	return rounds < ABSTAT_MAX ? rounds : ABSTAT_MAX;
}

/* By round, the arms that have a value, a bit each. */
static void find_arms(const struct abresult *r, unsigned metric, size_t rounds,
		      uint8_t *arms)
{
	memset(arms, 0, rounds);
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (run->round < rounds && takes_part(run, metric))
			arms[run->round] |= (uint8_t)(1u << run->arm);
	}
}

static uint8_t all_arms(const struct abresult *r)
{
	return (uint8_t)((1u << r->setup.n_arms) - 1);
}

size_t abresult_rounds(const struct abresult *r)
{
	uint8_t arms[ABSTAT_MAX];
	size_t begun = rounds_begun(r);
	size_t whole = 0;

	find_arms(r, ANY_METRIC, begun, arms);
	for (size_t i = 0; i < begun; i++)
		whole += arms[i] == all_arms(r);
	return whole;
}

/* Values by round, of rounds that have all arms; how many these are. */
static size_t take_paired(const struct abresult *r, unsigned metric,
			  size_t rounds, double *to)
{
	uint8_t arms[ABSTAT_MAX];
	size_t place[ABSTAT_MAX] = { 0 };
	size_t whole = 0;

	find_arms(r, metric, rounds, arms);
	for (size_t i = 0; i < rounds; i++)
		place[i] = arms[i] == all_arms(r) ? whole++ : SIZE_MAX;
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (run->round < rounds && place[run->round] != SIZE_MAX &&
		    takes_part(run, metric))
			to[run->arm * rounds + place[run->round]] =
				run->value[metric];
	}
	return whole;
}

/* Values as they came. */
static void take_unpaired(const struct abresult *r, unsigned metric,
			  size_t rounds, double *to, size_t *n)
{
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct abresult_run *run = &r->run[i];

		if (takes_part(run, metric) && n[run->arm] < rounds)
			to[run->arm * rounds + n[run->arm]++] =
				run->value[metric];
	}
}

static void take_samples(const struct abresult *r, unsigned metric,
			 size_t rounds, double *to, struct abresult_row *row)
{
	size_t n[ABRESULT_ARMS_MAX] = { 0 };
	unsigned n_arms = r->setup.n_arms;

	if (r->setup.unpaired) {
		take_unpaired(r, metric, rounds, to, n);
	} else {
		size_t whole = take_paired(r, metric, rounds, to);

		for (unsigned a = 0; a < n_arms; a++)
			n[a] = whole;
	}
	row->n = n[0];
	for (unsigned a = 0; a < n_arms; a++) {
		row->arm[a].value = to + a * rounds;
		abstat_summarize(to + a * rounds, n[a], &row->arm[a].sum);
		row->n = n[a] < row->n ? n[a] : row->n;
	}
	row->known = row->n > 0;
}

static bool is_steady(const struct abresult_row *row, unsigned n_arms)
{
	for (unsigned a = 0; a < n_arms; a++) {
		const struct abstat_summary *sum = &row->arm[a].sum;

		if (sum->min != sum->max || sum->min != row->arm[0].sum.min)
			return false;
	}
	return true;
}

/* --- differences and verdicts ----------------------------------------------
 */

static bool by_width(const struct abresult_setup *s, unsigned metric)
{
	return s->precision_percent > 0 && metric == ABRESULT_RATE;
}

static void compare(const struct abresult_setup *s, unsigned metric,
		    struct abresult_row *row, unsigned arm)
{
	struct abresult_versus *v = &row->versus[arm];
	const struct abresult_sample *base = &row->arm[0];
	const struct abresult_sample *other = &row->arm[arm];

	abstat_welch(base->value, base->sum.n, other->value, other->sum.n,
		     &v->welch);
	if (s->unpaired) {
		v->diff = v->welch;
		return;
	}
	abstat_paired(base->value, other->value, row->n, &v->diff);
	if (by_width(s, metric))
		abstat_widen(&v->diff);
}

/* Verdicts on the metrics from first to last, which are one family. */
static size_t judge(const struct abresult_setup *s, struct abresult_table *t,
		    unsigned first, unsigned last)
{
	struct abstat_comparison c[ABSTAT_FAMILY_MAX];
	struct abresult_versus *of[ABSTAT_FAMILY_MAX];
	size_t k = 0;

	for (unsigned m = first; m <= last; m++) {
		struct abresult_row *row = &t->row[m];

		for (unsigned a = 1; a < s->n_arms; a++) {
			if (!row->known || row->steady)
				continue;
			of[k] = &row->versus[a];
			c[k] = (struct abstat_comparison){
				.diff = of[k]->diff,
				.margin = abstat_of_base(&of[k]->diff,
							 s->margin_percent),
			};
			k++;
		}
	}
	abstat_family(c, k, s->confidence);
	for (size_t i = 0; i < k; i++) {
		of[i]->p = c[i].p;
		of[i]->p_same = c[i].p_same;
		of[i]->verdict = c[i].verdict;
	}
	for (unsigned m = first; m <= last; m++)
		t->row[m].level = abstat_level(s->confidence, k);
	return k;
}

/* How far one difference of two runs scatters. */
static double scatter(const struct abresult_setup *s,
		      const struct abresult_row *row, unsigned arm)
{
	if (!s->unpaired)
		return row->versus[arm].diff.stddev;
	return hypot(row->arm[0].sum.stddev, row->arm[arm].sum.stddev);
}

/* The rounds that show a difference like this one, or that it is within the
 * margin. */
static size_t needed(const struct abresult_setup *s, unsigned metric,
		     const struct abresult_row *row, unsigned arm)
{
	const struct abstat_diff *d = &row->versus[arm].diff;
	double margin = abstat_of_base(d, s->margin_percent);
	double half = fabs(d->mean);

	if (margin > half)
		half = margin - half;
	if (half <= 0)
		return ABPLAN_NEVER;

	size_t n = abplan_rounds(scatter(s, row, arm), half, row->level,
				 by_width(s, metric));

	/* what adjusts p may ask for more than the interval shows */
	return n > row->n ? n : row->n + 1;
}

static void complete(const struct abresult_setup *s, unsigned metric,
		     struct abresult_row *row, unsigned arm)
{
	struct abresult_versus *v = &row->versus[arm];
	struct abrobust_rule rule = {
		.confidence = row->level,
		.margin = abstat_of_base(&v->diff, s->margin_percent),
		.by_width = by_width(s, metric),
	};

	v->half = abstat_half(&v->diff, row->level);
	v->welch_half = abstat_half(&v->welch, row->level);
	v->detectable = abplan_detectable(scatter(s, row, arm), row->n,
					  row->level, ABRESULT_POWER);
	if (v->verdict == ABSTAT_CANNOT_TELL)
		v->needed = needed(s, metric, row, arm);
	if (!s->unpaired)
		abrobust_check(row->arm[0].value, row->arm[arm].value, row->n,
			       &rule, &v->robust);
}

bool abresult_precise(const struct abresult *r, const struct abresult_table *t)
{
	const struct abresult_setup *s = &r->setup;
	const struct abresult_row *row = &t->row[ABRESULT_RATE];

	if (!row->known || s->precision_percent <= 0)
		return false;
	for (unsigned a = 1; a < s->n_arms; a++) {
		struct abstat_diff d;

		abstat_paired(row->arm[0].value, row->arm[a].value, row->n, &d);
		if (!abplan_narrow(&d, abstat_of_base(&d, s->precision_percent),
				   row->level))
			return false;
	}
	return true;
}

size_t abresult_precise_rounds(const struct abresult *r,
			       const struct abresult_table *t)
{
	const struct abresult_setup *s = &r->setup;
	const struct abresult_row *row = &t->row[ABRESULT_RATE];
	size_t most = row->n;

	if (!row->known || row->n < TELLING_ROUNDS || s->precision_percent <= 0)
		return 0;
	for (unsigned a = 1; a < s->n_arms; a++) {
		const struct abstat_diff *d = &row->versus[a].diff;
		size_t n = abplan_rounds(
			d->stddev, abstat_of_base(d, s->precision_percent),
			row->level, true);

		most = n > most ? n : most;
	}
	return most;
}

int abresult_make(const struct abresult *r, struct abresult_table *t)
{
	const struct abresult_setup *s = &r->setup;
	size_t rounds = rounds_begun(r);
	size_t block = s->n_arms * rounds;

	*t = (struct abresult_table){ .primary = 0 };
	t->values = calloc(ABRESULT_METRICS * block + 1, sizeof(double));
	if (t->values == NULL)
		return -ENOMEM;
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		struct abresult_row *row = &t->row[m];

		take_samples(r, m, rounds, t->values + m * block, row);
		row->steady = is_steady(row, s->n_arms);
		for (unsigned a = 1; a < s->n_arms; a++)
			compare(s, m, row, a);
	}
	t->primary = judge(s, t, ABRESULT_RATE, ABRESULT_RATE);
	t->others = judge(s, t, ABRESULT_RATE + 1, ABRESULT_METRICS - 1);
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		for (unsigned a = 1; a < s->n_arms; a++) {
			if (t->row[m].known)
				complete(s, m, &t->row[m], a);
		}
	}
	return 0;
}

void abresult_unmake(struct abresult_table *t)
{
	free(t->values);
	t->values = NULL;
}
