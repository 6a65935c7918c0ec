/*
 * wire: the iperf 2 protocol's headers, bytes to structs and back.  Every
 * field is decoded byte by byte with the length checked first; nothing here
 * touches a socket.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of the flags word of a client header. */
#define WIRE_V1 0x80000000u     /* legacy dual or trade-off request */
#define WIRE_EXT 0x40000000u    /* the extension block follows */
#define WIRE_UDPT 0x20000000u   /* UDP: upper flags honoured per datagram */
#define WIRE_KEY 0x10000000u    /* TCP: a permit key follows the header */
#define WIRE_SEQ64 0x08000000u  /* UDP: 64-bit sequence numbers */
#define WIRE_V2 0x04000000u     /* reverse, full duplex, or with ACKREQ */
#define WIRE_ACKREQ 0x02000000u /* TCP: the client waits for the answer */
#define WIRE_BB 0x00800000u     /* TCP: a bounceback message */
#define WIRE_STT 0x00020000u    /* UDP: small trip-times form */
#define WIRE_LEN 0x00010000u    /* bits 1..8 hold the header's length */
#define WIRE_LEN_MASK 0x000001feu
#define WIRE_NOW 0x00000001u /* with V1: dual test; clear: trade-off */

/* Bits of the upper flags in the extension. */
#define WIRE_UPPER_NO_FIN 0x0008u      /* UDP: no report is wanted */
#define WIRE_UPPER_TRIP_TIMES 0x0010u  /* the clocks are synchronised */
#define WIRE_UPPER_REVERSE 0x0400u     /* the server sends */
#define WIRE_UPPER_FULL_DUPLEX 0x0800u /* both send, on this one socket */

#define WIRE_PORT 5001           /* iperf 2 default, TCP and UDP */
#define WIRE_BASE_BYTES 24       /* base client header */
#define WIRE_TCP_BYTES 60        /* what we send: base and 36-byte extension */
#define WIRE_UDP_LEGACY_BYTES 12 /* datagram header of 2.0.x */
#define WIRE_UDP_BYTES 16        /* datagram header since 2.0.13 */
#define WIRE_UDP_CLIENT_BYTES (WIRE_UDP_BYTES + WIRE_TCP_BYTES)
#define WIRE_TCP_START_BYTES 80  /* the header with a start time */
#define WIRE_UDP_START_BYTES 128 /* a datagram with one, at least */
#define WIRE_UDP_COOKIE_BYTES 136
#define WIRE_REPORT_LEGACY_BYTES 52
#define WIRE_REPORT_BYTES 128
#define WIRE_ACK_BYTES 28
#define WIRE_ACK_TRIP_BYTES 52 /* with three times, to trip times */
#define WIRE_KEY_MIN 4         /* iperf 2: of a permit key */
#define WIRE_KEY_MAX 128
/* Room for any client header of ours over TCP. */
#define WIRE_CLIENT_MAX (WIRE_TCP_START_BYTES + 2 + WIRE_KEY_MAX)
#define WIRE_RECORD_BYTES 92 /* header of a record */
#define WIRE_BOUNCE_BYTES 64 /* of a message, at least */
#define WIRE_BOUNCE_MAX                                                        \
	(16u << 20) /* nobody measures round trips with more                   \
		     */
#define WIRE_STREAMS_MAX 65535
#define WIRE_TICK_NS INT64_C(10000000) /* unit of times: -t and -O */

/* How a client lays out its datagrams: told from its first one. */
enum wire_layout {
	WIRE_LEGACY,     /* 2.0.x: 12 bytes, 32-bit numbers, legacy report */
	WIRE_LEGACY_C,   /* the same with -C */
	WIRE_MODERN,     /* 16 bytes, 64-bit numbers, modern report */
	WIRE_MODERN_C,   /* the same with -C: no client header behind it */
	WIRE_SMALL_TRIP, /* modern layout with 32-bit numbers */
};

/* A request of --bounceback, or its reply. */
struct wire_bounce {
	uint32_t bytes;       /* of the request */
	uint32_t reply_bytes; /* the same where the client asks for no other */
	uint32_t id;          /* of its burst, from 1 on */
	uint32_t hold_us;     /* before the reply */
	bool quickack;
	int64_t sent_ns;     /* by the client's wall clock */
	int64_t received_ns; /* by the server's; 0 in a request */
	int64_t replied_ns;
};

/* What each record of a TCP stream begins with, with --trip-times. */
struct wire_record {
	int64_t start_ns; /* of the test, by the sender's wall clock */
	int64_t sent_ns;  /* when the first of it was written */
	uint32_t id;      /* from 1 on */
	uint32_t bytes;   /* with this header */
	uint64_t before;  /* bytes of all records before it */
};

/* The sequence header of one datagram. */
struct wire_udp {
	int64_t seq;     /* negative: the end marker */
	int64_t sent_ns; /* the sender's stamp, ns since 1970 */
};

/* The client header: base, and the extension where has_ext. */
struct wire_client {
	uint32_t flags;
	uint32_t threads; /* -P; 2.2 may have a transfer's ID in it */
	uint32_t port;
	int32_t buflen;
	int32_t winband; /* legacy: rate in bit/s (UDP) or window (TCP) */
	int32_t amount;  /* > 0 bytes, < 0 minus time in units of 10 ms */
	bool has_ext;
	uint16_t upper;
	uint16_t lower;
	uint32_t version_u; /* major, minor */
	uint32_t version_l; /* release, kind and our mark */
	uint16_t tos;
	uint64_t rate_bps; /* -b, 0: none */
	int64_t start_ns;  /* the client's wall clock as its test began, in
			      whole microseconds on the wire; 0: none.  Only
			      written */
	/* Between two of ours, where iperf 2 has a reserved field and one that
	 * it leaves 0 without an option that we don't have. */
	const char *key;    /* TCP: the permit key, NULL: none.  Only written */
	uint16_t omit_10ms; /* -O */
	uint32_t omit_from; /* UDP: the first number that counts, once it is
			       known; 0: not yet, or all do */
};

/* What the server says of a finished UDP test. */
struct wire_report {
	bool legacy;   /* layout at 12 with 32-bit counters */
	bool enhanced; /* the transit figures are meant to be shown */
	uint64_t bytes;
	int64_t duration_ns; /* whole microseconds on the wire */
	uint64_t lost;
	uint64_t out_of_order;
	uint64_t total; /* datagrams */
	int64_t jitter_ns;
	/* the rest exists in the modern layout only; 0 where it is absent */
	int64_t transit_min_ns;
	int64_t transit_max_ns;
	int64_t transit_sum_ns;
	int64_t transit_mean_ns;
	uint64_t transit_count;
	uint64_t pps;
};

/* What kind of stream a TCP peer opens, told from its first bytes. */
enum wire_tcp_kind {
	WIRE_TCP_MORE,   /* need more bytes to tell */
	WIRE_TCP_CLIENT, /* a client header of .len bytes, counted as data */
	WIRE_TCP_LEGACY, /* a 2.0.x header of 24 bytes, not counted */
	WIRE_TCP_BOUNCE, /* a bounceback message */
	WIRE_TCP_IPERF3, /* an iperf3 client's cookie */
	WIRE_TCP_OTHER,  /* HTTP, TLS, SSH: a stranger, named by .what */
	WIRE_TCP_RAW,    /* anything else: plain data, every byte counted */
};

struct wire_tcp_first {
	enum wire_tcp_kind kind;
	/* Header bytes, with the permit key if there is one; of a bounceback
	 * the whole message.  With WIRE_TCP_MORE: how many bytes from the
	 * stream's start are wanted, always more than there are. */
	size_t len;
	const char *what; /* the stranger's protocol, else NULL */
};

/* 0, or -EINVAL when it is too short to tell (below 12 bytes). */
int wire_udp_layout(const uint8_t *p, size_t n, enum wire_layout *layout);
/* 0, or -EINVAL when n is too short for the layout's header. */
int wire_udp_decode(const uint8_t *p, size_t n, enum wire_layout layout,
		    struct wire_udp *out);
/* Can the stamp of this datagram be one?  Its microseconds are below a million,
 * which those of strangers seldom are. */
bool wire_udp_stamped(const uint8_t *p, size_t n);
/* Writes the 16 bytes of the modern header (or the 12 of the legacy one). */
void wire_udp_encode(uint8_t *p, enum wire_layout layout,
		     const struct wire_udp *in);
/* The permit key of a TCP client header of n bytes in all; 0: it has none. */
size_t wire_key(const uint8_t *p, size_t n, const uint8_t **key);
/* Where the client header begins: the datagram header's bytes. */
size_t wire_udp_bytes(enum wire_layout layout);
/* What a server of ours has told a client of ours, which thereby shows that it
 * is where it says: behind the header of the modern layout, in a datagram of
 * WIRE_UDP_COOKIE_BYTES at least; 0: none. */
void wire_cookie_encode(uint8_t *p, uint64_t cookie);
uint64_t wire_cookie_decode(const uint8_t *p, size_t n);
/* The flags of a header of ours, with a start time or without: what is in it,
 * and its length.  The caller adds the bits of its mode. */
uint32_t wire_flags(bool udp, bool start);
/* The client header at p, n bytes of it there.  Fields that lie beyond n are
 * 0; -EINVAL when not even the flags are there. */
int wire_client_decode(const uint8_t *p, size_t n, struct wire_client *out);
/* What the client asks the server to send. */
struct wire_wish {
	bool reverse; /* over its own connection, and receives nothing */
	bool full;    /* so too, while it sends */
	bool back;    /* over one that the server makes */
	bool now;     /* at once, else after the client's own data */
};

/* A header without the extension has none of the modes of 2.1. */
struct wire_wish wire_wish(const struct wire_client *c);
/* How many streams the client's test has, for the sums of a report: 1 when it
 * says none or more than WIRE_STREAMS_MAX. */
uint32_t wire_streams(const struct wire_client *c);
/* Writes the 60 bytes of base and extension (or the 24 of the base when
 * has_ext is clear); with start_ns what makes it WIRE_TCP_START_BYTES, or ends
 * at WIRE_UDP_START_BYTES of the datagram.  Over TCP a permit key follows.
 * Returns how many. */
size_t wire_client_encode(uint8_t *p, const struct wire_client *in);
/* Writes the fields of a record's header, over WIRE_RECORD_BYTES. */
void wire_record_encode(uint8_t *p, const struct wire_record *in);
/* The header at p, all of it; -EINVAL: it can't be one. */
int wire_record_decode(const uint8_t *p, struct wire_record *out);
/* Writes the WIRE_BOUNCE_BYTES of a request over digits. */
void wire_bounce_encode(uint8_t *p, const struct wire_bounce *in);
/* 0, or -EINVAL: n bytes at p are no such message, or too few of one. */
int wire_bounce_decode(const uint8_t *p, size_t n, struct wire_bounce *out);
/* Makes a request, WIRE_BOUNCE_BYTES of it at p, its reply. */
void wire_bounce_reply(uint8_t *p, int64_t received_ns, int64_t replied_ns);
/* What opens this stream?  eof: no more bytes will come, or they take too
 * long; the answer is never WIRE_TCP_MORE then. */
struct wire_tcp_first wire_tcp_first(const uint8_t *p, size_t n, bool eof);
/* 0, or -EINVAL when the datagram is no report of any layout. */
int wire_report_decode(const uint8_t *p, size_t n, struct wire_report *out);
/* Writes in->legacy ? 52 : 128 bytes; returns how many. */
size_t wire_report_encode(uint8_t *p, const struct wire_report *in);
/* The 28-byte acknowledgement of a TCP header, with our version. */
size_t wire_ack_encode(uint8_t *p);
/* The length of the acknowledgement that begins with these WIRE_ACK_BYTES, and
 * the server's version in it; 0: it is none. */
size_t wire_ack_decode(const uint8_t *p, size_t n, uint32_t *version_u,
		       uint32_t *version_l);
/* Digits from the start of the pattern: byte i is '0' + (i mod 10). */
void wire_fill(uint8_t *p, size_t n);
/* Our own version fields, with the mark by which we know each other. */
void wire_version(uint32_t *version_u, uint32_t *version_l);
/* True when these version fields carry our mark. */
bool wire_is_ours(uint32_t version_u, uint32_t version_l);
/* "2.1.8" and the like; "" when the fields are 0.  size >= 24. */
void wire_version_text(char *buf, size_t size, uint32_t version_u,
		       uint32_t version_l);
/* Minus the time in 10 ms, or the bytes as far as 31 bits hold them (the
 * largest value below 2^31 for more: nothing wraps into another meaning).
 * bytes counts when it is above 0. */
int32_t wire_amount(int64_t time_ns, uint64_t bytes);

#endif
