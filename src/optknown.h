/*
 * optknown: long options of iperf 2 that are not in the table of options: those
 * that stayed out, with what to use instead, and those that are gone from iperf
 * 2 itself and have no effect.  Pure.
 */
#ifndef OPTKNOWN_H
#define OPTKNOWN_H

#include <stddef.h>

struct optknown_row {
	const char *name;
	const char *instead; /* what to use; NULL: obsolete, and taken */
};

/* Row number i; NULL past the end. */
const struct optknown_row *optknown_row(size_t i);
/* The one that name, of length bytes, names in full or as the only beginning;
 * NULL: none. */
const struct optknown_row *optknown_name(const char *name, size_t length);

#endif
