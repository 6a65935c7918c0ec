/*
 * back: what a UDP server sends to a client that asked for it (-R,
 * --full-duplex, -d, -r), on a thread of its own.
 */
#ifndef BACK_H
#define BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "report.h"
#include "udp.h"
#include "wire.h"

/* Nothing lasts longer than a day. */
#define BACK_MAX_NS (86400 * INT64_C(1000000000))

struct back_job {
	int fd;                           /* of the server */
	const struct udp_arrival *from;   /* whom to send to */
	const struct wire_client *header; /* what it asks for */
	enum wire_layout layout;
	bool ours;     /* the client is one */
	bool connects; /* from a socket of its own to header->port, -d and -r;
			  else from the server's: nothing is confirmed */
	bool precise;  /* may spin */
	const char *mode; /* for its connection's line, NULL: plain */
};

struct back;

/* Starts it and shows it in the report.  NULL: it can't be had, with the reason
 * in *why as a negative errno. */
struct back *back_start(const struct back_job *job, const struct options *o,
			struct report *r, int *why);
/* Asks it to end. */
void back_stop(struct back *b);
/* It has sent all, and what it waits for came. */
bool back_ended(const struct back *b);
/* And the report has let go of it: it may be freed. */
bool back_over(const struct back *b);
/* Waits for its thread. */
void back_join(struct back *b);
void back_free(struct back *b);

#endif
