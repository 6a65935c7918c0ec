/*
 * abresult: the runs of an A/B experiment, and the table that they make: each
 * metric's samples, differences and verdicts.  Pure: the caller brings the
 * runs, by hand, from a test or from a file.
 */
#ifndef ABRESULT_H
#define ABRESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abplan.h"
#include "abrobust.h"
#include "abstat.h"

#define ABRESULT_ARMS_MAX ABPLAN_ARMS_MAX
#define ABRESULT_LABEL_BYTES 24
#define ABRESULT_TEST_BYTES 720
/* Of what --arm-show prints, so much is kept. */
#define ABRESULT_SHOWN_BYTES 4096
/* With what chance the noise floor would be found. */
#define ABRESULT_POWER 0.8

/* The first one is the primary metric, named before anything runs. */
enum abresult_metric {
	ABRESULT_RATE,      /* bits a second that arrived */
	ABRESULT_BACK_RATE, /* the same from the server, where both send */
	ABRESULT_PPS,       /* datagrams a second that arrived */
	ABRESULT_LOSS,      /* percent */
	ABRESULT_JITTER,    /* ms, mean over the run */
	ABRESULT_DELAY,     /* ms above the lowest, 99 % of datagrams */
	ABRESULT_CLIENT_GB, /* CPU seconds a gigabyte (TCP) */
	ABRESULT_CLIENT_MP, /* or a million datagrams (UDP) */
	ABRESULT_SERVER_GB, /* so too of the server */
	ABRESULT_SERVER_MP,
	ABRESULT_RETRANSMITS, /* TCP segments */
	ABRESULT_TRIP,        /* ms, mean round trip of --bounceback */
	ABRESULT_TRIP_P99,    /* so too, of 99 % of them */
	ABRESULT_METRICS
};

/* What speaks against a run, a bit each. */
enum abresult_mark {
	ABRESULT_SHORT = 1,     /* offered less than asked */
	ABRESULT_NO_REPORT = 2, /* the server's report did not come */
	ABRESULT_BUSY = 4,      /* the host did something else */
	ABRESULT_FAILED = 8,    /* the test failed */
	ABRESULT_MARKS = 4      /* how many there are */
};

struct abresult_arm {
	char label[ABRESULT_LABEL_BYTES];
	char *command; /* owned; NULL: not known */
};

/* What the experiment was asked for. */
struct abresult_setup {
	char test[ABRESULT_TEST_BYTES]; /* in words; "": not known */
	unsigned n_arms;                /* the first is the baseline */
	struct abresult_arm arm[ABRESULT_ARMS_MAX];
	uint32_t rounds; /* planned, or the most of them; 0: not known */
	uint32_t warmup;
	uint64_t seed;
	double confidence;        /* 0.95 */
	double margin_percent;    /* of the baseline's mean, 0: none */
	double precision_percent; /* so too: when to stop, 0: by rounds */
	bool unpaired;            /* runs were not made in rounds */
	bool offered; /* rates are what a UDP client sent, in some at least */
};

struct abresult_run {
	uint32_t round; /* from 0; those of the warm-up count for themselves */
	uint8_t arm;
	uint8_t place;   /* in its round, from 0 */
	uint8_t attempt; /* from 0 */
	bool warmup;
	bool counted;   /* stands in the table */
	unsigned marks; /* enum abresult_mark */
	int status;     /* exit status of the test */
	int64_t wall_ns;
	int64_t busy_ns; /* of the host beside the test; < 0: unknown */
	unsigned has;    /* a bit for each metric */
	double value[ABRESULT_METRICS];
	char *shown; /* what --arm-show printed, NULL: nothing was asked */
};

struct abresult {
	struct abresult_setup setup;
	struct abresult_run *run;
	size_t n_runs;
	size_t room;
	bool broken_off; /* it ended before its rounds were done */
};

/* One arm of one metric. */
struct abresult_sample {
	const double *value; /* by round; not of one that lacks an arm */
	struct abstat_summary sum;
};

/* One arm beside the baseline. */
struct abresult_versus {
	struct abstat_diff diff;  /* the one that was judged */
	struct abstat_diff welch; /* unpaired, for itself alone */
	struct abrobust robust;   /* not of unpaired runs */
	double half;              /* of the interval at the row's level */
	double welch_half;        /* so too */
	double p;                 /* adjusted */
	double p_same;
	enum abstat_verdict verdict;
	size_t needed;     /* cannot tell: rounds for this difference or the
			      margin; ABPLAN_NEVER: more than can be had */
	double detectable; /* the smallest difference that these rounds show */
};

struct abresult_row {
	bool known;  /* each arm has values */
	bool steady; /* all values of all arms are the same: nothing to judge */
	size_t n;    /* rounds; of unpaired runs those of the smallest arm */
	double level; /* of each interval */
	struct abresult_sample arm[ABRESULT_ARMS_MAX];
	struct abresult_versus versus[ABRESULT_ARMS_MAX]; /* [0]: unused */
};

struct abresult_table {
	struct abresult_row row[ABRESULT_METRICS];
	size_t primary; /* comparisons of the primary metric */
	size_t others;  /* of all others, a family of their own */
	double *values; /* what the samples point into */
};

/* What a metric is called: in JSON; in text; its unit, of rates bits/sec. */
const char *abresult_key(enum abresult_metric metric);
const char *abresult_title(enum abresult_metric metric);
const char *abresult_unit(enum abresult_metric metric);
/* Of mark number i, from 0: in JSON, and what to say of the run. */
const char *abresult_mark_key(unsigned i);
const char *abresult_mark_text(unsigned i);

/* One more arm, copied; -ENOMEM, -E2BIG: there are too many, -EEXIST. */
int abresult_add_arm(struct abresult *r, const char *label,
		     const char *command);
/* One more run, copied; its shown text becomes r's own.  -ENOMEM. */
int abresult_add(struct abresult *r, const struct abresult_run *run);
void abresult_free(struct abresult *r);

/* Sets a value as JSON will have it, so that a table made from the file is the
 * same one. */
void abresult_set(struct abresult_run *run, enum abresult_metric metric,
		  double value);
bool abresult_has(const struct abresult_run *run, enum abresult_metric metric);

/* Does every arm do nothing?  Then differences are noise. */
bool abresult_is_aa(const struct abresult_setup *s);
/* Two arms, of which *a < *b, that have shown the same in every run that
 * counts, although their commands differ; false: there are none. */
bool abresult_alike(const struct abresult *r, unsigned *a, unsigned *b);
/* Runs with a mark: those that are counted, and those that are not. */
size_t abresult_marked(const struct abresult *r, unsigned marks, bool counted);
/* Rounds in which each arm has a run that counts. */
size_t abresult_rounds(const struct abresult *r);
/* Are the intervals of the primary metric narrow enough? */
bool abresult_precise(const struct abresult *r, const struct abresult_table *t);
/* About how many rounds there must be for that, by what they were up to now; 0:
 * these are too few to tell. */
size_t abresult_precise_rounds(const struct abresult *r,
			       const struct abresult_table *t);

/* 0 or -ENOMEM; the table is valid as long as it is not freed. */
int abresult_make(const struct abresult *r, struct abresult_table *t);
void abresult_unmake(struct abresult_table *t);

#endif
