/*
 * client: the course of a test that we begin.  Runs on the main thread, which
 * also makes the report; one thread a stream moves the data.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stddef.h>

#include "options.h"
#include "out.h"

/* Exit statuses, as the man page lists them. */
enum client_status {
	CLIENT_OK = 0,          /* ran, and was confirmed */
	CLIENT_FAILED = 1,      /* usage, or a failure on this host */
	CLIENT_NO_PEER = 2,     /* unknown host, refused, unreachable */
	CLIENT_PEER_GONE = 3,   /* went away in mid-test */
	CLIENT_NO_REPORT = 4,   /* ran, but the report did not come */
	CLIENT_INTERRUPTED = 5, /* a signal came: main makes 128 + it */
};

/* Runs the test and reports to all n_outs; a first count in *stop ends it with
 * its partial report, a second one at once. */
enum client_status client_run(const struct options *o, struct out *outs,
			      size_t n_outs, const _Atomic int *stop);

#endif
