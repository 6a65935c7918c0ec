/*
 * experiment: tests of several arms in rounds of balanced order, and what they
 * prove.  Runs on the main thread.
 */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include <stddef.h>

#include "client.h"
#include "options.h"
#include "out.h"

/* Runs all rounds and writes to all n_outs and to the page, when there is one.
 * A first count in *stop ends it with what is complete; the baseline's command
 * is run at the end in any case. */
enum client_status experiment_run(const struct options *o, struct out *outs,
				  size_t n_outs, FILE *page,
				  const _Atomic int *stop);
/* The same of the files of earlier ones: CLIENT_OK or CLIENT_FAILED. */
enum client_status experiment_compare(const struct options *o, struct out *outs,
				      size_t n_outs, FILE *page);

#endif
