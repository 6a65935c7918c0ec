/*
 * opttable: the one table of options, with what it takes to find a row in it,
 * and the texts that are made from it.  Pure.
 */
#ifndef OPTTABLE_H
#define OPTTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

#define OPTTABLE_NAMES 3
#define OPTTABLE_ROWS_MAX 160 /* room for what is kept by row */

/* What an argument is, and so which reader takes it. */
enum opttable_kind {
	OPT_SET,             /* no argument: the field becomes min */
	OPT_TEXT,            /* anything but nothing */
	OPT_HOST,            /* a name or an address */
	OPT_WHOLE,           /* min to max */
	OPT_BYTES,           /* a size, min to max */
	OPT_SECONDS,         /* min to max, in nanoseconds */
	OPT_ZERO_OR_SECONDS, /* the same, or 0 */
	OPT_MILLISECONDS,    /* min to max, in nanoseconds too */
	OPT_RATE,            /* bits or datagrams a second, up to max */
	OPT_BPS,             /* bits a second, min to max */
	OPT_TOS,             /* a number, min to max, or a name */
	OPT_BIND,            /* address, port and device */
	OPT_LETTER,          /* one letter out of choices */
	OPT_LETTERS,         /* letters out of choices: a bit each */
	OPT_PREFIX,          /* begins with choices, in any case */
	OPT_CHOICE,          /* one word of choices: its number */
	OPT_NETWORK,         /* one more address or prefix of the list */
	OPT_PERCENT,         /* min to max, in parts of a million */
	OPT_ARM,             /* one more LABEL=COMMAND */
	OPT_FILES,           /* one more file, and words without a dash too */
	OPT_DSCP,            /* six bits, or a name: the upper ones of a TOS */
	OPT_WIRE_RATE,       /* bits/s in lower, bytes/s in upper case */
	OPT_EPOCH,           /* seconds since 1970 */
	OPT_KEY,             /* min to max characters, or nothing */
	OPT_PART,            /* min to max, in parts of a million: 0.5 */
	OPT_LOAD,            /* up, down or bidir, and how many */
	OPT_PORTS,           /* a port, or the first and the last of several */
	OPT_FRAMES,          /* FPS:MEAN,STDEV */
	OPT_OLD,             /* accepted, does nothing */
};

/* Who may be given an option. */
enum opttable_whose {
	AS_BOTH,
	AS_SERVER,
	AS_CLIENT,
	AS_EXPERIMENT, /* a client with arms */
	AS_RESULT,     /* so too, or --compare */
	AS_COMPARE,
};

struct opttable_row {
	char letter;                       /* 0: only long names */
	const char *names[OPTTABLE_NAMES]; /* the main one, and others that
					      scripts use */
	const char *arg; /* what to call the argument; NULL: takes none */
	const char *help;
	enum opttable_whose whose;
	enum opttable_kind kind;
	size_t at; /* the field in struct options, and its size */
	size_t size;
	size_t mark; /* the bool that tells that it was given; 0: none */
	int64_t min;
	int64_t max;
	const char *choices;
	const char *env; /* the variable that gives the same; NULL: none */
	/* What stands for an argument left out; NULL: there must be one. */
	const char *absent;
};

/* Row number i, NULL past the end.  Within a side the order is --help's. */
const struct opttable_row *opttable_row(size_t i);
size_t opttable_index(const struct opttable_row *r);
/* NULL: no option has this letter. */
const struct opttable_row *opttable_letter(char letter);
/* The option with this main name; it must be there. */
const struct opttable_row *opttable_name(const char *name);
/* How well name, of length bytes, names r: 2 in full, 1 as a beginning, 0 not.
 */
int opttable_names(const struct opttable_row *r, const char *name,
		   size_t length);
/* Whether it may be given to this side. */
bool opttable_fits(const struct opttable_row *r, enum options_side side);
/* "a server (-s)" */
const char *opttable_whose_text(const struct opttable_row *r);
/* The text of --help. */
void opttable_usage(FILE *f);

#endif
