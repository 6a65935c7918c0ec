/*
 * out: what a writer gets and what it offers.  A writer sees records, never a
 * stream; it works out nothing but its own text.  One line is one fprintf to
 * the FILE it was given, flushed.
 */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hist.h"
#include "stats.h"

enum out_dialect {
	OUT_CLASSIC, /* 2.0.5 to 2.0.13, and rows of our own with -e */
	OUT_V202,    /* as classic, without header lines, shifted values */
	OUT_V21,     /* four decimals, IDs from 1 */
	OUT_V22,     /* two decimals, IDs from 1 */
};

#define OUT_ADDR_BYTES 64 /* an address with its zone, as text */

/* How lines look: from the options, constant for the whole run. */
struct out_style {
	enum out_dialect dialect;
	char format;       /* letter of -f */
	bool enhanced;     /* -e */
	bool mss;          /* -m */
	int time_decimals; /* of the classic styles: 1, 2 or 4 */
	bool utc;          /* times of day in UTC, else local */
	bool connects;     /* their times matter */
	bool sum_only;     /* sums tell of how many streams */
};

struct out_writer;

#define OUT_NOTES 8
#define OUT_NOTE_BYTES 160

/* A note that waits for the last row of its stream. */
struct out_note {
	int id;
	char text[OUT_NOTE_BYTES];
};

/* One open writer. */
struct out {
	const struct out_writer *writer;
	const struct out_experiment *experiment; /* NULL: it writes none */
	FILE *file;
	struct out_style style;
	unsigned headers; /* header lines already printed, a bit a kind */
	struct out_note notes[OUT_NOTES]; /* JSON; the oldest first */
	unsigned n_notes;
};

/* The settings report, as it stands before a test. */
struct out_banner {
	bool server;
	bool udp;
	const char *host; /* client: as typed */
	uint16_t port;
	uint16_t port_last;      /* server: of a range, else the same */
	const char *bind;        /* as typed, NULL: none */
	const char *group;       /* multicast group to join, NULL: none */
	uint64_t len_bytes;      /* datagram, write or read size */
	int ttl;                 /* multicast TTL, 0: not multicast */
	uint64_t window_asked;   /* bytes, 0: not asked */
	uint64_t window_granted; /* bytes, as the system says */
	uint32_t flows;          /* streams */
	uint32_t pid;
	uint64_t gap_ns; /* UDP client: between two datagrams, 0: unpaced */
	const char *cca; /* congestion control, NULL: unknown */
	uint8_t tos;
	bool nodelay;
	unsigned mss;              /* asked with -M, 0: not asked */
	uint64_t rate_bps;         /* asked with -b, 0: not so */
	uint64_t rate_pps;         /* asked with -b in pps, 0: not so */
	int64_t time_ns;           /* how long, 0: by amount or no end */
	uint64_t amount_bytes;     /* -n, 0: by time */
	int64_t interval_ns;       /* -i, 0: totals only */
	int64_t wall_ns;           /* when it is written */
	int64_t omit_ns;           /* -O, 0: everything counts */
	uint64_t fq_bps;           /* the kernel's pacing, 0: none */
	const char *permit_key;    /* server: NULL: none is needed */
	int64_t permit_timeout_ns; /* 0: it does not expire */
	bool connects;             /* of --connect-only */
	uint32_t bounces; /* requests of a burst, 0: it is no such test */
	uint32_t request_bytes;
	uint32_t reply_bytes;
	uint32_t hold_us;
	int64_t burst_ns; /* of their bursts, 0: without a pause */
};

/* A stream that is up. */
struct out_conn {
	int id;
	bool udp;
	bool client; /* ours is the side that connected */
	char local[OUT_ADDR_BYTES];
	char peer[OUT_ADDR_BYTES];
	uint16_t local_port;
	uint16_t peer_port;
	unsigned mss;          /* bytes, 0: unknown */
	unsigned mtu;          /* bytes, 0: unknown */
	int64_t connect_ns;    /* client TCP: what the connect took, 0: - */
	int64_t wall_ns;       /* when it was */
	char peer_version[24]; /* "2.1.8", "": unknown */
	const char *mode;      /* "reverse", "full-duplex", NULL: plain */
	bool reverse;          /* on the client: what the server sends */
};

/* What TCP_INFO tells at the end of a row; all 0 where it is not known. */
struct out_tcp {
	uint64_t retransmits; /* within the row */
	uint32_t cwnd_bytes;
	uint32_t cwnd_packets;
	uint32_t inflight_bytes;
	uint32_t inflight_packets;
	uint32_t rtt_us;
	uint32_t rttvar_us;
	uint32_t rtt_min_us;  /* lowest since the start, 0: unknown */
	uint64_t acked_bytes; /* within the row, UINT64_MAX: unknown */
	bool known;
};

/* Processor time of the threads that moved the data. */
struct out_cpu {
	bool known;
	bool shared; /* the thread served other streams too at that time */
	int64_t user_ns;
	int64_t system_ns;
};

/* Why datagrams are missing.  The parts add up to what is lost. */
struct out_causes {
	bool known;
	bool sender_known; /* else its part is in path */
	uint64_t sender;   /* refused by the sender's own system */
	uint64_t receiver; /* dropped from the receiver's full socket */
	uint64_t shared;   /* so too, while other sessions used that socket */
	uint64_t path;     /* the rest */
};

/* A socket's buffer: the sender's send or the receiver's receive buffer. */
struct out_buffer {
	uint64_t asked;   /* bytes, 0: left to the system */
	uint64_t granted; /* bytes, 0: unknown */
};

enum out_series {
	OUT_NO_SERIES,
	OUT_ROUND_TRIPS, /* of --bounceback, at the client */
	OUT_TRIPS,       /* of the records of a TCP stream, at its receiver: one
			    way, by both hosts' wall clocks */
};

/* A row: an interval, a total, a sum or a server report. */
struct record {
	int id; /* of the stream; of a sum: -1 */
	bool sum;
	bool udp;
	enum out_series series; /* what the samples of d are */
	uint32_t request_bytes; /* of these */
	bool receiver;          /* else the sender */
	bool relayed;           /* a server report, printed by the client */
	bool total;             /* else an interval */
	uint32_t streams;       /* in a sum */
	const struct out_conn *conn; /* of the stream; of a sum: its first */
	int64_t start_ns;            /* from the start of the test */
	int64_t end_ns;
	int64_t wall_ns;     /* wall time of end_ns */
	struct stats_snap d; /* what happened between the two */
	bool omitted;        /* an interval that no total holds (-O) */
	struct out_tcp tcp;

	/* UDP receivers */
	int64_t jitter_mean_ns; /* of the estimator, over this row */
	/* the rest: totals and server reports only */
	bool kernel_stamps; /* arrivals were stamped by the system, and not
			       when they were read */
	struct stats_delay delay;   /* above the lowest one */
	struct stats_delay samples; /* of a series, its quantiles */
	struct stats_delay trip;    /* one way, by both hosts' wall clocks:
				       with --trip-times */
	struct out_causes causes;
	const struct hist *histogram; /* of delay above the lowest, NULL: not
					 asked for */
	bool own_report; /* relayed: by a server of ours, so 0 means none */

	/* all, totals and server reports only */
	uint64_t asked_bps;   /* 0: as fast as possible */
	uint64_t offered_bps; /* by the sender, 0: unknown */
	struct out_cpu cpu;
	struct out_buffer buffer;
};

/* What --connect-only found. */
struct out_connects {
	uint64_t failed;
	struct stats_snap d; /* its samples: what each connect took */
	struct stats_delay times;
};

/* The table of a format. */
struct out_writer {
	void (*banner)(struct out *o, const struct out_banner *b);
	void (*connected)(struct out *o, const struct out_conn *c);
	/* an interval row of a stream or of a sum */
	void (*interval)(struct out *o, const struct record *r);
	/* the total of a stream or of a sum, with its "Sent" and MSS lines */
	void (*last)(struct out *o, const struct record *r);
	/* what the server said, on the client */
	void (*server_report)(struct out *o, const struct record *r);
	/* the summary of --connect-only */
	void (*connects)(struct out *o, const struct out_connects *c);
	/* a note about stream id (-1: the test), before its last row */
	void (*note)(struct out *o, int id, const char *text);
	/* something failed: the line that went to stderr */
	void (*failed)(struct out *o, const char *text);
};

extern const struct out_writer out_text; /* out_text.c */
extern const struct out_writer out_csv;  /* out_csv.c */
extern const struct out_writer out_json; /* out_json.c */

struct abresult;
struct abresult_run;

/* How an experiment goes on, for its rows. */
struct out_progress {
	bool round_ends; /* this was the last run of its round */
	bool repeated;   /* and it will be run once more */
	uint32_t rounds; /* of this kind, warm-up or not; 0: not known */
	int64_t left_ns; /* until the end, < 0: not known */
};

/* The table of a format of experiments (room abresult). */
struct out_experiment {
	/* the settings, before anything runs */
	void (*start)(struct out *o, const struct abresult *r);
	/* each run as it ends; it is the last one of r */
	void (*run)(struct out *o, const struct abresult *r,
		    const struct out_progress *p);
	/* a word about the experiment */
	void (*note)(struct out *o, const char *text);
	void (*summary)(struct out *o, const struct abresult *r);
};

extern const struct out_experiment out_arms;      /* out_arms.c: text */
extern const struct out_experiment out_json_arms; /* out_json.c */
/* The whole result as a page of HTML. */
void out_html(FILE *f, const struct abresult *r); /* out_html.c */

#endif
