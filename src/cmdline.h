/*
 * cmdline: argv and environment to one struct options.  Pure: reads no clock,
 * opens nothing, prints nothing.
 */
#ifndef CMDLINE_H
#define CMDLINE_H

#include "options.h"

/*
 * Reads the environment (getenv-like lookup; NULL: none), then argv, in any
 * order.  0, or -EINVAL with one line for a person in why, which names the
 * option, what was given and what is allowed.
 */
int cmdline_parse(struct options *o, int argc, char *const argv[],
		  const char *(*env)(const char *name),
		  char why[OPTIONS_WHY_BYTES]);

#endif
