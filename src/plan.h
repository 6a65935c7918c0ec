/*
 * plan: which streams a test has, which way they run and who connects.  Pure:
 * options in, a plan out.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

#include "options.h"

/* The connections that the server makes, to the client's -L port. */
enum plan_back {
	PLAN_NO_BACK,
	PLAN_BACK_NOW,   /* -d: while the client sends */
	PLAN_BACK_AFTER, /* -r: when it has sent */
};

struct plan {
	bool forward; /* the client sends over its connections */
	bool reverse; /* the server does, -R; with forward: --full-duplex */
	enum plan_back back;
};

struct plan plan_of(const struct options *o);
/* Streams of each of the client's connections: 1 or 2. */
unsigned plan_streams(const struct plan *p);
/* "reverse" or "full-duplex", as iperf 2 names it behind a connection; NULL: a
 * plain test. */
const char *plan_name(const struct plan *p);

#endif
