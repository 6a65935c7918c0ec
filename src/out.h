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
};

struct out_writer;

/* One open writer. */
struct out {
	const struct out_writer *writer;
	FILE *file;
	struct out_style style;
	unsigned headers; /* header lines already printed, a bit a kind */
};

/* The settings report, as it stands before a test. */
struct out_banner {
	bool server;
	bool udp;
	const char *host; /* client: as typed */
	uint16_t port;
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
	unsigned mss; /* asked with -M, 0: not asked */
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
	bool known;
};

/* A row: an interval, a total, a sum or a server report. */
struct record {
	int id; /* of the stream; of a sum: -1 */
	bool sum;
	bool udp;
	bool receiver;    /* else the sender */
	bool relayed;     /* a server report, printed by the client */
	bool total;       /* else an interval */
	uint32_t streams; /* in a sum */
	const struct out_conn *conn; /* of the stream; of a sum: its first */
	int64_t start_ns;            /* from the start of the test */
	int64_t end_ns;
	int64_t wall_ns;     /* wall time of end_ns */
	struct stats_snap d; /* what happened between the two */
	struct out_tcp tcp;
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
	/* a note about stream id (-1: the test), before its last row */
	void (*note)(struct out *o, int id, const char *text);
};

extern const struct out_writer out_text; /* out_text.c */
extern const struct out_writer out_csv;  /* out_csv.c */

#endif
