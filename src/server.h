/*
 * server: the course of the tests that clients bring.  Runs on the main
 * thread, with one thread a TCP stream, one for all UDP peers and one for
 * the report.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stddef.h>

#include "options.h"
#include "out.h"

/* Serves until *stop is not 0, or as long as the options say.  Returns the
 * exit status: 0, or 1 when it could not start, with the reason on stderr. */
int server_run(const struct options *o, struct out *outs, size_t n_outs,
	       const _Atomic int *stop);

#endif
