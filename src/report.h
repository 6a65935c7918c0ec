/*
 * report: on each tick takes a snapshot of every stream, makes records of the
 * differences and hands them to one writer.  The thread that calls
 * report_tick owns stdout while tests run; streams come from any thread.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "out.h"
#include "stream.h"

struct report;

/* Each line goes to all n outs, of which the first decides about IDs; they stay
 * the caller's.  NULL: no memory. */
struct report *report_new(const struct options *o, struct out *outs, size_t n);
/* Every stream must have left it. */
void report_free(struct report *r);

/* A connection that carries no stream, and how all of them went. */
void report_connected(struct report *r, const struct out_conn *c);
void report_connects(struct report *r, const struct out_connects *c);
/* Prints the settings, before the first tick. */
void report_banner(struct report *r, const struct out_banner *b);
/*
 * Adds a stream; its connection line comes with the next tick.  Streams with
 * the same key (a test's name: the client's address) make a group until it
 * has expected members, and a group of more than one gets sum rows.  -ENOMEM.
 */
int report_add(struct report *r, struct stream *s, const char *key,
	       uint32_t expected);
/* Does what is due at now_ns; returns when it wants to be called again at
 * the latest, INT64_MAX: when something happens. */
int64_t report_tick(struct report *r, int64_t now_ns);
/* No stream will come any more: sums that wait for one are printed.  After the
 * last tick. */
void report_end(struct report *r);
/* Waits until due_ns or the next report_poke. */
void report_wait(struct report *r, int64_t due_ns);
/* Something happened: a stream came, ended or was closed. */
void report_poke(struct report *r);
/* How many streams are in it. */
unsigned report_streams(struct report *r);

#endif
