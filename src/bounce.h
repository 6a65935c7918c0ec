/*
 * bounce: requests and replies over a TCP connection, and how long each took
 * (--bounceback).  Each function runs on the stream's own thread.
 */
#ifndef BOUNCE_H
#define BOUNCE_H

#include "stream.h"

/* A reply is awaited so long beyond the end of the test, and the hold. */
#define BOUNCE_WAIT_NS 2000000000

/*
 * Client: sends bursts of requests as s->job.bounce says, from s->start_ns on,
 * each one after the reply to the one before, until the time is over.  Each
 * round trip, by the monotonic clock from before the write of a request until
 * its whole reply is read, goes to s->series; the bytes of both count.
 * s->error, s->unanswered.
 */
void bounce_send(struct stream *s);
/* Server: replies to requests until the client ends, s->stop is set or it is
 * silent; the first have bytes of the first one are in s->buf.  Sets
 * s->end_ns. */
void bounce_reply(struct stream *s, size_t have);

#endif
