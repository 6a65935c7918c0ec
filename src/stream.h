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

#include "block.h"
#include "burst.h"
#include "input.h"
#include "options.h"
#include "out.h"
#include "records.h"
#include "series.h"
#include "sock.h"
#include "stats.h"
#include "wire.h"

/* What a TCP client keeps of its server's words: an acknowledgement and the
 * blocks of one of ours. */
#define STREAM_ANSWER_BYTES (WIRE_ACK_BYTES + BLOCK_LENGTH_MAX)
#define STREAM_NOTES 4
#define STREAM_NOTE_BYTES 160

/* A test that a signal ends waits so long for its report. */
#define STREAM_HURRY_NS 1000000000

/* Requests and replies, instead of data. */
struct stream_bounce {
	uint32_t count;    /* requests of a burst; 0: this is no such stream */
	int64_t period_ns; /* of bursts, 0: without a pause */
	uint32_t hold_us;  /* how long the server waits before it replies */
	uint32_t request_bytes;
	uint32_t reply_bytes;
	bool quickack;
};

/* What a sender is to do; constant while it runs. */
struct stream_job {
	int64_t time_ns;         /* how long, when amount_bytes is 0; 0: until
				    it is stopped */
	uint64_t amount_bytes;   /* exactly so many; 0: by time */
	struct units_rate rate;  /* both 0: as fast as possible */
	size_t len_bytes;        /* of each write or datagram */
	bool len_asked;          /* -l was given: writes keep this size */
	bool precise;            /* may spin for true gaps */
	bool multicast;          /* nobody will answer */
	bool plain;              /* no client header goes first */
	bool wished;             /* of a server, to a client without a hello */
	bool shared;             /* another stream reads the same socket */
	bool records;            /* TCP: data are records that tell when they
				    were written, of len_bytes */
	bool no_fin;             /* UDP: nothing is to be confirmed */
	enum wire_layout layout; /* UDP */
	struct wire_client header;
	struct stream_bounce bounce;
	struct burst_shape burst;
	uint64_t seed;     /* of the sizes of bursts */
	uint32_t near_ppm; /* TCP: wait so much of the round trip, 0: none */
};

/* Where a UDP sender's datagrams go when its socket, the listening one of a
 * server, is connected to nobody. */
struct stream_way {
	bool given;
	struct sock_addr to;
	struct sockaddr_storage from; /* the local address, if has_from */
	bool has_from;
};

/* What TCP_INFO told the mover last.  Only the mover asks: another thread can
 * wait long for a socket that is being written to. */
struct stream_tcp {
	struct counter known; /* 1: it told something */
	struct counter arrived_bytes;
	struct counter retransmits;
	struct counter cwnd_bytes;
	struct counter cwnd_packets;
	struct counter inflight_bytes;
	struct counter inflight_packets;
	struct counter rtt_us;
	struct counter rttvar_us;
	struct counter rtt_min_us;
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
	struct input *input;   /* sender: what it sends, NULL: digits */
	struct stream_way way; /* UDP sender */

	/* written by the mover alone, read by the report */
	struct stats_io io;
	struct stream_tcp tcp;       /* TCP senders */
	struct stats_rx *rx;         /* UDP receivers, else NULL */
	struct stats_rx *omitted;    /* its ledger of what -O leaves out */
	struct series *series;       /* of round trips or trips, else NULL */
	struct records records;      /* TCP receiver with such a series */
	_Atomic int64_t start_ns;    /* monotonic; 0: not a byte yet */
	_Atomic int64_t end_ns;      /* 0: runs; its counters are final */
	_Atomic int64_t omit_end_ns; /* with -O: when the counted part began;
					0: not yet */
	atomic_bool ending;          /* its end is known, end_ns follows soon */
	atomic_bool closed;          /* the last exchange is over too */

	/* written by others, read by the mover */
	atomic_bool stop;
	atomic_bool cut; /* receiver: stopped for the reason in refusal */
	_Atomic uint64_t heard_cookie; /* UDP sender whose socket another
					  reads; 0: none yet */
	atomic_bool abandon;           /* told again: nothing is worth a wait */

	/* set before the stream is added to the report; 0: not known */
	uint64_t asked_bps;    /* 0 also: as fast as possible */
	int64_t expect_ns;     /* how long it should last */
	int64_t omit_ns;       /* -O */
	bool drops_told;       /* the system counts what its sockets drop */
	uint64_t expect_bytes; /* how many bytes it should carry */
	int64_t first_wait_ns; /* receiver: how long for its first byte, 0: as
				  for any other */
	bool asked;            /* TCP sender: its header has left */
	bool at_once;          /* TCP receiver: each byte counts as it comes */
	int64_t longest_ns;    /* receiver: it ends after this, 0: no limit */

	/* set by the mover before omit_end_ns: all that -O leaves out */
	struct stats_snap omit_snap;

	/* set by the mover before end_ns */
	char note[STREAM_NOTES][STREAM_NOTE_BYTES]; /* printed before the
						       total, "": none */
	bool no_result;               /* nobody was there: print no rows */
	struct out_cpu cpu;           /* of the mover */
	struct out_buffer buffer;     /* of the socket, in its direction */
	bool kernel_stamps;           /* UDP receivers: of arrivals */
	struct stats_delay delay;     /* UDP receivers */
	struct stats_delay trip;      /* the same, with --trip-times */
	const struct hist *histogram; /* with --histograms, else NULL */

	/* TCP sender: of the mover alone */
	uint8_t answer[STREAM_ANSWER_BYTES];
	size_t answer_bytes;

	/* set by the mover before closed */
	int error;          /* negative errno that ended it, 0: none */
	uint64_t numbers;   /* UDP sender: datagrams numbered */
	int64_t sent_ns;    /* UDP sender: when the end marker was due */
	int64_t refused_ns; /* UDP sender: the first refusal, 0: none */
	unsigned refusals;
	int64_t first_sent_ns;  /* UDP sender: the stamp of number 0 */
	int64_t marker_sent_ns; /* UDP sender: the stamp of its end marker */
	int64_t heard_ns;       /* TCP sender: when a peer that is gone took
				   bytes last, 0: it is not gone */
	bool confirmed;         /* TCP sender: the peer took every byte */
	uint64_t unconfirmed;   /* TCP sender: bytes never acknowledged */
	int icmp_last;          /* UDP sender: errno of the latest of io.icmp */
	uint64_t unanswered;    /* requests without a reply */
	bool unreachable;  /* UDP sender: nobody answered but the network */
	bool peer_is_ours; /* UDP sender: its server is one of ours */
	uint64_t cookie;   /* UDP sender: what that server wants to see */
	bool has_report;   /* sender: the server told its figures */
	struct wire_report report; /* UDP */
	bool has_block;            /* UDP and TCP: with what only ours tell */
	struct block_result block;
	struct policy_refusal refusal; /* sender: why its server, one of ours,
					  does not serve it; NONE: it does.
					  Receiver: set before cut */

	/* set by the report when it will not look at the stream again */
	atomic_bool reported;

	pthread_t thread;
	bool threaded;
	struct stream *next; /* in a list of its owner */
};

/* A stream over fd, with a buffer of buf_bytes, a sender's filled with digits.
 * It takes the descriptor over when owns_fd.  NULL: no memory. */
struct stream *stream_new(int fd, bool owns_fd, bool udp, bool receiver,
			  size_t buf_bytes);
/* Gives a UDP receiver its ledger, and with s->omit_ns a second one; -ENOMEM.
 */
int stream_ledger(struct stream *s, int64_t base, int64_t late_after_ns);
/* Gives a stream its series; -ENOMEM. */
int stream_series(struct stream *s);
/* Runs mover(s, arg) on a thread of its own, which blocks all signals. */
int stream_start(struct stream *s, void *(*mover)(void *), void *arg);
/* A thread with a small stack that blocks all signals; 0 or -errno. */
int stream_thread(pthread_t *thread, void *(*run)(void *), void *arg);
/* Asks the mover to end; wakes it out of a receive. */
void stream_stop(struct stream *s);
/* How long a sender waits for what its peer says at the end: usual_ns, or less
 * when it was told to end before its time (with -t 0 that is its time). */
int64_t stream_patience(const struct stream *s, int64_t usual_ns);
/* Waits for the mover's end. */
void stream_join(struct stream *s);
void stream_free(struct stream *s);

/* What the client's header says of the test to come and of its version; for a
 * receiver, before it has its ledger. */
void stream_expect(struct stream *s, const struct wire_client *c);
/* Fills s->conn from the socket and, when peer is not NULL, from it. */
void stream_name(struct stream *s, const struct sock_addr *peer);
/* What it has seen up to now. */
void stream_snap(const struct stream *s, struct stats_snap *out);
/* One more note for a person, as printf; beyond STREAM_NOTES it is dropped. */
__attribute__((format(printf, 2, 3))) void stream_note(struct stream *s,
						       const char *format, ...);
/* The note that a server's limit ended it. */
void stream_note_cut(struct stream *s);
/* Processor time of the calling thread: since *since, or up to now. */
void stream_cpu_begin(struct out_cpu *since);
void stream_cpu_end(struct out_cpu *cpu, const struct out_cpu *since);
/* Fills s->tcp from its socket; by the mover. */
void stream_sample(struct stream *s);
/* What a client's header announces: of the server's limits. */
void stream_ask(const struct wire_client *c, struct policy_ask *ask);
/* Fills s->buffer from its socket. */
void stream_buffer(struct stream *s, uint64_t asked_bytes);
/* What it has seen up to now, at the end of a row; for the reporter. */
void stream_cut(struct stream *s, struct stats_snap *out);
/* The ledger that a UDP receiver fills now. */
struct stats_rx *stream_rx(const struct stream *s);
/* The time that -O leaves out is over at now_ns; by the mover.  Of a UDP
 * receiver number from is the first that counts. */
void stream_omit_end(struct stream *s, int64_t now_ns, int64_t from);
/* What counts, of all that is in snap. */
void stream_counted(const struct stream *s, const struct stats_snap *snap,
		    struct stats_snap *out);
/* The end of its figures, at end_ns of the monotonic clock; at the earliest
 * where that began which counts. */
void stream_ended(struct stream *s, int64_t end_ns);

#endif
