/*
 * abread: the runs of an experiment from the JSON lines that this program
 * writes.  Pure: the caller brings the text.  What is not understood is
 * refused, with its line.
 */
#ifndef ABREAD_H
#define ABREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "abresult.h"

#define ABREAD_WHY_BYTES 160

/* Is this JSON, or else comma-separated values (room abcsv)? */
bool abread_is_json(const char *text, size_t n);

/*
 * Adds the experiment of n bytes of JSON lines to r.  Into an empty one with
 * its settings; else the arms must be the same, and its rounds follow those
 * that r has.  0, -ENOMEM, or -EINVAL with a word in why.
 */
int abread_json(struct abresult *r, const char *text, size_t n,
		char why[ABREAD_WHY_BYTES]);

#endif
