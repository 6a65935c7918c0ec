/*
 * optvalue: reads the argument of one option into its field, and says what is
 * wrong with it.  Pure.
 */
#ifndef OPTVALUE_H
#define OPTVALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "opttable.h"

/* How an option came to be set, for complaints and for which came last. */
struct optvalue_given {
	char name[32];    /* as typed: "-b", "--band", "IPERF_BANDWIDTH" */
	const char *text; /* the argument, "" of a flag */
	unsigned order;   /* counted from 1; 0: not given */
	bool from_env;
};

struct optvalue_parser {
	struct options *o;
	struct optvalue_given
		given[OPTTABLE_ROWS_MAX]; /* by row; the last one counts */
	unsigned order;
	char *why; /* OPTIONS_WHY_BYTES */
};

/* How the option with this main name was given; order 0: it was not. */
const struct optvalue_given *optvalue_given(const struct optvalue_parser *p,
					    const char *name);
/* Leaves one line in why, for a person; -EINVAL. */
__attribute__((format(printf, 2, 3))) int
optvalue_complain(struct optvalue_parser *p, const char *fmt, ...);
/* Name number i that a type of service may have; NULL past the end. */
const char *optvalue_tos_name(size_t i);
/* The option of this name was given and has no effect: o tells of it, once. */
void optvalue_old(struct options *o, const char *name);
/* Option r was given as name, of length bytes, with text: its field and its
 * mark are set, or -EINVAL and why. */
int optvalue_set(struct optvalue_parser *p, const struct opttable_row *r,
		 const char *name, size_t length, const char *text,
		 bool from_env);

#endif
