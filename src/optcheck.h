/*
 * optcheck: what options mean together: which cannot be honoured together, and
 * what was not given and depends on what was.  Pure.
 */
#ifndef OPTCHECK_H
#define OPTCHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "opttable.h"
#include "optvalue.h"

/* Two options that can't be honoured together, or one and a kind of test. */
struct optcheck_clash {
	const char *option; /* by its main name */
	const char *other;  /* so too; NULL: option alone is refused */
	/* The clash is one only when this holds; NULL: always. */
	bool (*when)(const struct options *o);
	const char *why; /* NULL: said with the two names */
};

/* An option that does nothing in a kind of test. */
struct optcheck_idle {
	const char *option; /* by its main name */
	bool (*when)(const struct options *o);
};

/* Row number i of the table of these; NULL past the end. */
const struct optcheck_idle *optcheck_idle_row(size_t i);
/* Row number i of the table of clashes; NULL past the end. */
const struct optcheck_clash *optcheck_row(size_t i);
/*
 * Checks all that was given, then fills in the rest.  0, or -EINVAL and why.
 * When the fault is a variable's, *yields is its option: to be read anew
 * without it, since what was typed rules.
 */
int optcheck_all(struct optvalue_parser *p, const struct opttable_row **yields);

#endif
