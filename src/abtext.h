/*
 * abtext: the words and numbers in which a result of an experiment is told, in
 * text and on a page.  Pure.
 */
#ifndef ABTEXT_H
#define ABTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abresult.h"

#define ABTEXT_BYTES 48       /* of a number */
#define ABTEXT_LINE_BYTES 400 /* of a sentence */

/* How the numbers of one metric are written: all alike. */
struct abtext_scale {
	double unit; /* value / unit is shown */
	int decimals;
	char name[24]; /* "Mbits/sec" */
};

struct abtext_scale abtext_scale(enum abresult_metric metric, double largest);
/* Of all samples of a row. */
struct abtext_scale abtext_row_scale(const struct abresult_setup *s,
				     enum abresult_metric metric,
				     const struct abresult_row *row);
/* sign: with + too; infinite: "-". */
void abtext_number(char buf[ABTEXT_BYTES], double value,
		   const struct abtext_scale *scale, bool sign);
/* "+2.01", three digits; infinite or not a number: "-". */
void abtext_percent(char buf[ABTEXT_BYTES], double percent);
/* "95 %", "99.2 %" */
void abtext_level(char buf[ABTEXT_BYTES], double level);
/* "+1.97 Mbits/sec (+1.85 to +2.09), +2.01 % (+1.88 to +2.12)" */
void abtext_difference(char buf[ABTEXT_LINE_BYTES],
		       const struct abtext_scale *scale,
		       const struct abresult_versus *v);
/* "higher, p 0.00012", "cannot tell: ... rounds ..." */
void abtext_verdict(char buf[ABTEXT_LINE_BYTES], const struct abresult_setup *s,
		    const struct abresult_row *row,
		    const struct abresult_versus *v);
/* What is to be said about outliers, and what the unpaired test and the rank
 * test say; "": nothing. */
void abtext_beside(char buf[ABTEXT_LINE_BYTES], const struct abresult_setup *s,
		   const struct abtext_scale *scale,
		   const struct abresult_versus *v);
void abtext_outlier(char buf[ABTEXT_LINE_BYTES],
		    const struct abresult_versus *v);
/* Sentences about the whole; false: there is no sentence number i, from 0 on.
 */
bool abtext_note(char buf[ABTEXT_LINE_BYTES], const struct abresult *r,
		 const struct abresult_table *t, unsigned i);

#endif
