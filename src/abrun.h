/*
 * abrun: what the records of one test say about a run of an experiment: which
 * metrics it has, and whether it offered what was asked.  Pure.
 */
#ifndef ABRUN_H
#define ABRUN_H

#include <stdbool.h>
#include <stdint.h>

#include "abresult.h"
#include "out.h"
#include "units.h"

/* Streams of one direction as one end saw them, added up. */
struct abrun_end {
	unsigned streams;
	uint64_t bytes;
	uint64_t packets;
	uint64_t lost;
	uint64_t retransmits;
	bool retransmits_known;
	int64_t ns;       /* the longest */
	double jitter_ns; /* times packets */
	int64_t delay_ns; /* 99 %, the largest */
	bool delay_known;
	int64_t cpu_ns;
	bool cpu_known;
	uint64_t asked_bps; /* 0: as fast as possible */
	uint64_t offered_bps;
	uint64_t smallest; /* datagrams of the stream that sent the fewest */
};

/* Requests and replies. */
struct abrun_trips {
	uint64_t count;
	double sum_ns;
	int64_t p99_ns; /* the largest */
};

/* All 0 bytes is one without records. */
struct abrun {
	bool udp;
	bool unreported; /* set by the caller: a report was due that did not
			    come */
	struct units_rate back_rate; /* so too: what each stream of the server
					was asked for; both 0: all it can */
	struct abrun_end sent;       /* by the client, as it says */
	struct abrun_end arrived;    /* of that, as the server says */
	struct abrun_end received;   /* by the client, from the server */
	struct abrun_trips trips;
};

/* A total of a stream or a server's report; others say nothing new. */
void abrun_add(struct abrun *a, const struct record *r);
/* Sets the metrics and the marks of a test that ended with status 0. */
void abrun_finish(const struct abrun *a, struct abresult_run *run);

#endif
