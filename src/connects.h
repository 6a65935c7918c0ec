/*
 * connects: one TCP connection after another, each timed and closed at once
 * (--connect-only).  Runs on the main thread.
 */
#ifndef CONNECTS_H
#define CONNECTS_H

#include "options.h"
#include "report.h"
#include "sock.h"

/* The spacing where -i does not say it. */
#define CONNECTS_EVERY_NS 100000000

/*
 * Connects to peer, from source unless that is NULL, until -t, the count of
 * --connect-only or *stop; prints a line for each and the summary.  how many
 * failed, or a negative errno: a socket can't be had, what names why.
 */
int connects_run(const struct options *o, const struct sock_addr *peer,
		 const struct sock_addr *source, struct report *r,
		 const _Atomic int *stop, char what[SOCK_WHAT_BYTES]);

#endif
