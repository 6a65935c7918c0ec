/*
 * abcsv: the runs of an arm from a file of comma-separated values, as iperf 2
 * and this program write them.  Pure: the caller brings the text.  What is not
 * understood is refused, with its line.
 */
#ifndef ABCSV_H
#define ABCSV_H

#include <stddef.h>

#include "abresult.h"

#define ABCSV_WHY_BYTES 160

/*
 * Adds one arm: a run for each test of n bytes of rows, whose totals count.
 * Where a server's reports stand they are what arrived, and a test without one
 * is a run that does not count.  A sum is one run, and so are the streams of a
 * test where there is none.  The result is one of unpaired runs.  0, -ENOMEM,
 * or -EINVAL with a word in why.
 */
int abcsv_read(struct abresult *r, const char *label, const char *text,
	       size_t n, char why[ABCSV_WHY_BYTES]);

#endif
