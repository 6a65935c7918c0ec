/*
 * tcp: moves the bytes of one TCP stream and counts them.  Each function runs
 * on the stream's own thread.
 */
#ifndef TCP_H
#define TCP_H

#include "stream.h"

/* After its end a sender waits at most this long for the peer's. */
#define TCP_DRAIN_NS 2000000000
/* A sender whose peer acknowledges nothing for so long has lost it. */
#define TCP_GONE_NS 30000000000
/* A stream without data ends after this, or four of its longest gaps. */
#define TCP_IDLE_NS 60000000000
/* A connection has one test: nothing tells its figures from others'. */
#define TCP_NONCE 0
/* A server that says no version in this time has none. */
#define TCP_DETECT_NS 2000000000

/* Sends header and data as s->job says, from s->start_ns on, until it is
 * done, the peer is gone (s->error) or s->stop is set. */
void tcp_send(struct stream *s);
/* Sends the header alone, for a stream that the server is to send: s->error. */
void tcp_ask(struct stream *s);
/* The same, and waits for the version of a server that tells it (-X), up to
 * TCP_DETECT_NS: s->conn.peer_version, "" when it did not.  The header has left
 * then. */
void tcp_detect(struct stream *s);
/* Ends the sending side and waits for the last byte to be acknowledged and
 * for the peer's end: sets s->end_ns, s->unconfirmed and, when the server is
 * one of ours, s->block. */
void tcp_finish(struct stream *s);
/* Reads until the peer ends the stream or s->stop is set.  The caller has
 * counted what it read before and set s->start_ns if that was something. */
void tcp_receive(struct stream *s);
/* The same of n bytes that were read before, of a stream of records. */
void tcp_trips(struct stream *s, const uint8_t *p, size_t n);
/* Tells a client of ours, which has ended its side, what was received. */
void tcp_tell(struct stream *s);

#endif
