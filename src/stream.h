/*
 * stream: one direction of one socket, with buffer, counters and thread.  Who
 * creates it frees it, after it left the report and its thread is joined.
 */
#ifndef STREAM_H
#define STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "out.h"
#include "sock.h"
#include "stats.h"
#include "wire.h"

#define STREAM_NOTE_BYTES 160

/* What a sender is to do; constant while it runs. */
struct stream_job {
	int64_t time_ns;        /* how long, when amount_bytes is 0 */
	uint64_t amount_bytes;  /* exactly so many; 0: by time */
	struct units_rate rate; /* both 0: as fast as possible */
	size_t len_bytes;       /* of each write or datagram */
	bool len_asked;         /* -l was given: writes keep this size */
	bool precise;           /* may spin for true gaps */
	bool multicast;         /* nobody will answer */
	struct wire_client header;
};

struct stream {
	int fd;
	bool owns_fd;
	bool udp;
	bool receiver;
	uint8_t *buf;
	size_t buf_bytes;
	struct out_conn conn; /* names of both ends */
	struct stream_job job;

	/* written by the mover alone, read by the report */
	struct stats_io io;
	struct stats_rx *rx;      /* UDP receivers, else NULL */
	_Atomic int64_t start_ns; /* monotonic; 0: not a byte yet */
	_Atomic int64_t end_ns;   /* 0: runs; its counters are final */
	atomic_bool ending;       /* its end is known, end_ns follows soon */
	atomic_bool closed;       /* the last exchange is over too */

	/* written by others, read by the mover */
	atomic_bool stop;

	/* set before the stream is added to the report; 0: not known */
	int64_t expect_ns;     /* how long it should last */
	uint64_t expect_bytes; /* how many bytes it should carry */

	/* set by the mover before end_ns */
	char note[STREAM_NOTE_BYTES]; /* printed before the total */
	bool no_result;               /* nobody was there: print no rows */

	/* set by the mover before closed */
	int error;          /* negative errno that ended it, 0: none */
	bool interrupted;   /* a signal or limit ended it early */
	uint64_t numbers;   /* UDP sender: datagrams numbered */
	int64_t sent_ns;    /* UDP sender: when the end marker was due */
	int64_t refused_ns; /* UDP sender: the first refusal, 0: none */
	unsigned refusals;
	int64_t marker_sent_ns; /* UDP sender: the stamp of its end marker */
	bool confirmed;         /* TCP sender: the peer took every byte */
	uint64_t unconfirmed;   /* TCP sender: bytes never acknowledged */
	bool has_report;        /* UDP sender: the server answered */
	struct wire_report report;

	/* set by the report when it will not look at the stream again */
	atomic_bool reported;

	pthread_t thread;
	bool threaded;
	struct stream *next; /* in a list of its owner */
};

/* A stream over fd, with a buffer of buf_bytes filled with digits.  It takes
 * the descriptor over when owns_fd.  NULL: no memory. */
struct stream *stream_new(int fd, bool owns_fd, bool udp, bool receiver,
			  size_t buf_bytes);
/* Gives a UDP receiver its ledger; -ENOMEM. */
int stream_ledger(struct stream *s, int64_t base);
/* Runs mover(s, arg) on a thread of its own, which blocks all signals. */
int stream_start(struct stream *s, void *(*mover)(void *), void *arg);
/* A thread with a small stack that blocks all signals; 0 or -errno. */
int stream_thread(pthread_t *thread, void *(*run)(void *), void *arg);
/* Asks the mover to end; wakes it out of a receive. */
void stream_stop(struct stream *s);
/* Waits for the mover's end. */
void stream_join(struct stream *s);
void stream_free(struct stream *s);

/* Fills s->conn from the socket and, when peer is not NULL, from it. */
void stream_name(struct stream *s, const struct sock_addr *peer);
/* What it has seen up to now. */
void stream_snap(const struct stream *s, struct stats_snap *out);
/* The end of its figures, at end_ns of the monotonic clock. */
void stream_ended(struct stream *s, int64_t end_ns);

#endif
