/*
 * wire: see wire.h.  All offsets are those of the iperf 2 protocol, all words
 * big-endian.
 */
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_USEC 1000
#define USEC_PER_SEC 1000000

/* Payload filler, as it is seen where a header would be. */
#define FILLER_AT_12 0x32333435u
#define FILLER_AT_16 0x36373839u

/* Words of the client header, from its start. */
enum {
	CLIENT_FLAGS = 0,
	CLIENT_THREADS = 4,
	CLIENT_PORT = 8,
	CLIENT_BUFLEN = 12,
	CLIENT_WINBAND = 16,
	CLIENT_AMOUNT = 20,
	CLIENT_UPPER = 32, /* u16, as are lower and tos */
	CLIENT_LOWER = 34,
	CLIENT_VERSION_U = 36,
	CLIENT_VERSION_L = 40,
	CLIENT_OMIT = 44, /* u16; reserved in iperf 2 */
	CLIENT_TOS = 46,
	CLIENT_RATE_LOW = 48,
	CLIENT_RATE_HIGH = 52, /* bits 32..55 of the rate, shifted by 8 */
	CLIENT_OMIT_FROM = 56, /* iperf 2: a prefetch size of TCP writes */
};

/* The start time and a pacing rate that we leave 0 end a header that has
 * them; UDP's says that it is this long, as that of 2.1.8 does. */
#define START_FROM_END 16
#define UDP_START_LENGTH 108

/* 2.2 with a transfer's ID: it stands in the middle of the word. */
#define THREADS_HAS_ID 0x80000000u
#define THREADS_MASK 0xfffffu

#define RATE_MAX_BPS ((UINT64_C(1) << 56) - 1)

/* Flag bits that no TCP header of any release has: those in no use, those of
 * UDP and of bounceback, and 0x01000000, which text would set. */
#define TCP_NEVER 0x01fefe00u
/* And those that none has that asks to be sent to. */
#define WISH_NEVER 0x01fefe00u
/* Longest permit key that a release sends. */
#define KEY_MAX_BYTES 128
/* Fixed part of a bounceback message. */
#define BOUNCE_MIN_BYTES 52
#define BOUNCE_QUICKACK 0x8000u
#define BOUNCE_REPLY 0x0800u /* 2.2: the reply has a size of its own */
#define BOUNCE_NO_TIME 0xffffffffu
#define BOUNCE_FILLER 0x5a
/* iperf3 opens with 36 characters and a zero (seen with 3.12). */
#define IPERF3_COOKIE_BYTES 37

/* The report block starts behind the datagram header of its generation. */
#define REPORT_AT_LEGACY WIRE_UDP_LEGACY_BYTES
#define REPORT_AT_MODERN WIRE_UDP_BYTES

#define REPORT_VALID 0x80000000u
#define REPORT_ENHANCED 0x40000000u
#define REPORT_HIGH_WORDS 0x08000000u

/* Words of the report block, from its start. */
enum {
	REPORT_FLAGS = 0,
	REPORT_BYTES_HIGH = 4,
	REPORT_BYTES_LOW = 8,
	REPORT_DURATION =
		12, /* seconds, microseconds; so are the times below */
	REPORT_LOST = 20,
	REPORT_OUT_OF_ORDER = 24,
	REPORT_TOTAL = 28,
	REPORT_JITTER = 32,
	REPORT_BASE_END = 40, /* the extension begins, signed pairs first */
	REPORT_TRANSIT_MIN = 40,
	REPORT_TRANSIT_MAX = 48,
	REPORT_TRANSIT_SUM = 56,
	REPORT_TRANSIT_MEAN = 64,
	REPORT_TRANSIT_COUNT = 88,
	REPORT_PPS = 92,
	REPORT_ONE = 96, /* always 1 */
	REPORT_EXT_END = 100,
	REPORT_LOST_HIGH = 100,
	REPORT_OUT_OF_ORDER_HIGH = 104,
	REPORT_TOTAL_HIGH = 108,
};

#define ACK_TYPE 2u

/* Our version is 2.2.100, of the kind release. */
#define OUR_VERSION_U 0x00020002u
#define OUR_RELEASE 100u
#define KIND_RELEASE 3u
/* iperf 2 leaves bits 4..15 of version_l clear; our mark stands in them. */
#define OUR_MARK 0x00001fe0u
#define MARK_MASK 0x0000fff0u

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* The word at an offset, 0 when it is not all there. */
static uint32_t get32_within(const uint8_t *p, size_t n, size_t at)
{
	return n >= at + 4 ? get32(p + at) : 0;
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)(v >> 16));
	put16(p + 2, (uint16_t)v);
}

static uint32_t high32(uint64_t v)
{
	return (uint32_t)(v >> 32);
}

static uint32_t low32(uint64_t v)
{
	return (uint32_t)v;
}

static uint64_t join32(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/*
 * Seconds and microseconds, unsigned, to ns.  A hostile number of
 * microseconds only moves the time: the sum stays far below 2^63.
 */
static int64_t get_time(const uint8_t *p)
{
	return (int64_t)get32(p) * NSEC_PER_SEC +
	       (int64_t)get32(p + 4) * NSEC_PER_USEC;
}

/* The same with both halves signed: -99.9 s is -99 and -900000. */
static int64_t get_signed_time(const uint8_t *p)
{
	return (int64_t)(int32_t)get32(p) * NSEC_PER_SEC +
	       (int64_t)(int32_t)get32(p + 4) * NSEC_PER_USEC;
}

/* To the nearest microsecond, halves away from 0. */
static int64_t round_usec(int64_t ns)
{
	int64_t usec = ns / NSEC_PER_USEC;
	int64_t rest = ns % NSEC_PER_USEC;

	if (rest >= NSEC_PER_USEC / 2)
		return usec + 1;
	if (rest <= -NSEC_PER_USEC / 2)
		return usec - 1;
	return usec;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* A length of time: not negative, and at most what a u32 of seconds holds. */
static void put_duration(uint8_t *p, int64_t ns)
{
	int64_t max = (int64_t)UINT32_MAX * USEC_PER_SEC + USEC_PER_SEC - 1;
	int64_t usec = clamp(round_usec(ns), 0, max);

	put32(p, (uint32_t)(usec / USEC_PER_SEC));
	put32(p + 4, (uint32_t)(usec % USEC_PER_SEC));
}

/* C's division gives both halves the sign, as the format wants it. */
static void put_signed_time(uint8_t *p, int64_t ns)
{
	int64_t max = (int64_t)INT32_MAX * USEC_PER_SEC + USEC_PER_SEC - 1;
	int64_t usec = clamp(round_usec(ns), -max, max);

	put32(p, (uint32_t)(int32_t)(usec / USEC_PER_SEC));
	put32(p + 4, (uint32_t)(int32_t)(usec % USEC_PER_SEC));
}

static bool is_legacy(enum wire_layout layout)
{
	return layout == WIRE_LEGACY || layout == WIRE_LEGACY_C;
}

int wire_udp_layout(const uint8_t *p, size_t n, enum wire_layout *layout)
{
	if (n < WIRE_UDP_LEGACY_BYTES)
		return -EINVAL;

	uint32_t w12 = get32_within(p, n, 12);
	uint32_t w16 = get32_within(p, n, 16);

	if (w16 == FILLER_AT_16)
		*layout = w12 == FILLER_AT_12 ? WIRE_LEGACY_C : WIRE_MODERN_C;
	else if (w16 & WIRE_SEQ64)
		*layout = WIRE_MODERN;
	else if (w16 == WIRE_STT)
		*layout = WIRE_SMALL_TRIP;
	else
		*layout = WIRE_LEGACY;
	return 0;
}

/*
 * A number of 32 bits is given as it stands: beyond 2^31 - 1 it turns
 * negative and looks like an end marker.  Unwrapping needs to know what came
 * before, which is the business of stats.
 */
int wire_udp_decode(const uint8_t *p, size_t n, enum wire_layout layout,
		    struct wire_udp *out)
{
	size_t need =
		is_legacy(layout) ? WIRE_UDP_LEGACY_BYTES : WIRE_UDP_BYTES;

	if (n < need)
		return -EINVAL;
	if (layout == WIRE_MODERN || layout == WIRE_MODERN_C)
		out->seq = (int64_t)join32(get32(p + 12), get32(p));
	else
		out->seq = (int32_t)get32(p);
	out->sent_ns = get_time(p + 4);
	return 0;
}

bool wire_udp_stamped(const uint8_t *p, size_t n)
{
	return n >= WIRE_UDP_LEGACY_BYTES && get32(p + 8) < USEC_PER_SEC;
}

/* Cut rather than rounded, as gettimeofday does it: a stamp never lies in the
 * future.  The seconds wrap in 2106. */
static void put_stamp(uint8_t *p, int64_t wall_ns)
{
	uint64_t ns = wall_ns > 0 ? (uint64_t)wall_ns : 0;

	put32(p, (uint32_t)(ns / NSEC_PER_SEC));
	put32(p + 4, (uint32_t)(ns % NSEC_PER_SEC / NSEC_PER_USEC));
}

void wire_udp_encode(uint8_t *p, enum wire_layout layout,
		     const struct wire_udp *in)
{
	put32(p, low32((uint64_t)in->seq));
	put_stamp(p + 4, in->sent_ns);
	if (!is_legacy(layout))
		put32(p + 12, high32((uint64_t)in->seq));
}

size_t wire_udp_bytes(enum wire_layout layout)
{
	return is_legacy(layout) ? WIRE_UDP_LEGACY_BYTES : WIRE_UDP_BYTES;
}

/* iperf 2 has settings of isochronous tests there, which no flag announces. */
#define COOKIE_AT (WIRE_UDP_COOKIE_BYTES - 8)

void wire_cookie_encode(uint8_t *p, uint64_t cookie)
{
	put32(p + COOKIE_AT, high32(cookie));
	put32(p + COOKIE_AT + 4, low32(cookie));
}

uint64_t wire_cookie_decode(const uint8_t *p, size_t n)
{
	if (n < WIRE_UDP_COOKIE_BYTES)
		return 0;
	return join32(get32(p + COOKIE_AT), get32(p + COOKIE_AT + 4));
}

uint32_t wire_flags(bool udp, bool start)
{
	uint32_t bytes = udp ? WIRE_UDP_CLIENT_BYTES : WIRE_TCP_BYTES;

	if (start)
		bytes = udp ? UDP_START_LENGTH : WIRE_TCP_START_BYTES;
	return WIRE_EXT | WIRE_LEN | bytes << 1 | (udp ? WIRE_SEQ64 : 0) |
	       (udp && start ? WIRE_UDPT : 0);
}

static void get_extension(const uint8_t *p, struct wire_client *out)
{
	out->upper = get16(p + CLIENT_UPPER);
	out->lower = get16(p + CLIENT_LOWER);
	out->version_u = get32(p + CLIENT_VERSION_U);
	out->version_l = get32(p + CLIENT_VERSION_L);
	out->tos = get16(p + CLIENT_TOS);
	if (wire_is_ours(out->version_u, out->version_l)) {
		out->omit_10ms = get16(p + CLIENT_OMIT);
		out->omit_from = get32(p + CLIENT_OMIT_FROM);
	}
	out->rate_bps = join32(get32(p + CLIENT_RATE_HIGH) >> 8,
			       get32(p + CLIENT_RATE_LOW));
}

int wire_client_decode(const uint8_t *p, size_t n, struct wire_client *out)
{
	memset(out, 0, sizeof(*out));
	if (n < CLIENT_THREADS)
		return -EINVAL;
	out->flags = get32(p + CLIENT_FLAGS);
	out->threads = get32_within(p, n, CLIENT_THREADS);
	out->port = get32_within(p, n, CLIENT_PORT);
	out->buflen = (int32_t)get32_within(p, n, CLIENT_BUFLEN);
	out->winband = (int32_t)get32_within(p, n, CLIENT_WINBAND);
	out->amount = (int32_t)get32_within(p, n, CLIENT_AMOUNT);
	out->has_ext = (out->flags & WIRE_EXT) && n >= WIRE_TCP_BYTES;
	if (out->has_ext)
		get_extension(p, out);
	return 0;
}

struct wire_wish wire_wish(const struct wire_client *c)
{
	struct wire_wish w = { .reverse = false };

	/* what strangers send has other bits, too */
	if (c->has_ext
		    ? (c->flags & WISH_NEVER) != 0 || (c->flags & WIRE_LEN) == 0
		    : (c->flags & ~(WIRE_V1 | WIRE_NOW)) != 0)
		return w;
	if (c->has_ext && (c->flags & WIRE_V2) != 0) {
		w.reverse = (c->upper & WIRE_UPPER_REVERSE) != 0;
		w.full = !w.reverse && (c->upper & WIRE_UPPER_FULL_DUPLEX) != 0;
	} else {
		w.back = (c->flags & WIRE_V1) != 0;
		w.now = w.back && (c->flags & WIRE_NOW) != 0;
	}
	return w;
}

uint32_t wire_streams(const struct wire_client *c)
{
	uint32_t n = c->threads & THREADS_HAS_ID ? c->threads & THREADS_MASK
						 : c->threads;

	return n < 1 || n > WIRE_STREAMS_MAX ? 1 : n;
}

static void put_extension(uint8_t *p, const struct wire_client *in)
{
	uint64_t rate =
		in->rate_bps < RATE_MAX_BPS ? in->rate_bps : RATE_MAX_BPS;

	put16(p + CLIENT_UPPER, in->upper);
	put16(p + CLIENT_LOWER, in->lower);
	put32(p + CLIENT_VERSION_U, in->version_u);
	put32(p + CLIENT_VERSION_L, in->version_l);
	put16(p + CLIENT_OMIT, in->omit_10ms);
	put16(p + CLIENT_TOS, in->tos);
	put32(p + CLIENT_OMIT_FROM, in->omit_from);
	put32(p + CLIENT_RATE_LOW, low32(rate));
	put32(p + CLIENT_RATE_HIGH, high32(rate) << 8);
}

/* Where the start time stands, behind zeros; returns where it ends. */
static size_t put_start(uint8_t *p, const struct wire_client *in)
{
	bool udp = (in->flags & WIRE_SEQ64) != 0;
	size_t bytes = udp ? WIRE_UDP_START_BYTES - WIRE_UDP_BYTES
			   : WIRE_TCP_START_BYTES;
	size_t at = bytes - START_FROM_END;

	memset(p + WIRE_TCP_BYTES, 0, bytes - WIRE_TCP_BYTES);
	put_stamp(p + at, in->start_ns);
	return bytes;
}

/* The length of the key, and the key, behind bytes of header; the flags say
 * where it begins. */
static size_t put_key(uint8_t *p, size_t bytes, const char *key)
{
	size_t length = strlen(key);
	uint32_t flags = get32(p + CLIENT_FLAGS) & ~(uint32_t)WIRE_LEN_MASK;

	put32(p + CLIENT_FLAGS,
	      flags | WIRE_KEY | WIRE_LEN | (uint32_t)(bytes + 2) << 1);
	put16(p + bytes, (uint16_t)length);
	for (size_t i = 0; i < length; i++)
		p[bytes + 2 + i] = (uint8_t)key[i];
	return bytes + 2 + length;
}

size_t wire_client_encode(uint8_t *p, const struct wire_client *in)
{
	size_t bytes = in->has_ext ? WIRE_TCP_BYTES : WIRE_BASE_BYTES;

	memset(p, 0, bytes);
	put32(p + CLIENT_FLAGS, in->flags);
	put32(p + CLIENT_THREADS, in->threads);
	put32(p + CLIENT_PORT, in->port);
	put32(p + CLIENT_BUFLEN, (uint32_t)in->buflen);
	put32(p + CLIENT_WINBAND, (uint32_t)in->winband);
	put32(p + CLIENT_AMOUNT, (uint32_t)in->amount);
	if (in->has_ext)
		put_extension(p, in);
	if (in->has_ext && in->start_ns != 0)
		bytes = put_start(p, in);
	return in->key != NULL ? put_key(p, bytes, in->key) : bytes;
}

/*
 * The first bytes of a TCP stream.  Each judge below gets at least four bytes
 * and answers with what it knows, WIRE_TCP_MORE while it may still be so, or
 * WIRE_TCP_RAW: not mine.
 */
static struct wire_tcp_first verdict(enum wire_tcp_kind kind, size_t len)
{
	return (struct wire_tcp_first){ .kind = kind, .len = len };
}

/* A thing of len bytes, of which n are there. */
static struct wire_tcp_first whole(enum wire_tcp_kind kind, size_t len,
				   size_t n)
{
	return verdict(n < len ? WIRE_TCP_MORE : kind, len);
}

static struct wire_tcp_first judge_stranger(const uint8_t *p, size_t n)
{
	static const struct {
		const char *start;
		const char *what;
	} strangers[] = {
		{ "GET ", "HTTP" },
		{ "HEAD ", "HTTP" },
		{ "POST ", "HTTP" },
		{ "PUT ", "HTTP" },
		{ "DELETE ", "HTTP" },
		{ "CONNECT ", "HTTP" },
		{ "OPTIONS ", "HTTP" },
		{ "TRACE ", "HTTP" },
		{ "PATCH ", "HTTP" },
		{ "PRI * HTTP/2", "HTTP" },
		{ "\x16\x03\x01", "TLS" },
		{ "\x16\x03\x02", "TLS" },
		{ "\x16\x03\x03", "TLS" },
		{ "SSH-", "SSH" },
		{ "EHLO ", "SMTP" },
		{ "HELO ", "SMTP" },
		{ "\023BitTorrent", "BitTorrent" },
	};
	struct wire_tcp_first first = verdict(WIRE_TCP_RAW, 0);

	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++) {
		size_t len = strlen(strangers[i].start);

		if (memcmp(p, strangers[i].start, n < len ? n : len) != 0)
			continue;
		first = whole(WIRE_TCP_OTHER, len, n);
		if (first.kind == WIRE_TCP_OTHER)
			first.what = strangers[i].what;
		break;
	}
	return first;
}

static bool is_cookie_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static struct wire_tcp_first judge_iperf3(const uint8_t *p, size_t n)
{
	/* our own filler looks like it for 36 bytes */
	if (memcmp(p, "0123", 4) == 0)
		return verdict(WIRE_TCP_RAW, 0);
	for (size_t i = 0; i < n && i < IPERF3_COOKIE_BYTES - 1; i++) {
		if (!is_cookie_char(p[i]))
			return verdict(WIRE_TCP_RAW, 0);
	}
	if (n >= IPERF3_COOKIE_BYTES && p[IPERF3_COOKIE_BYTES - 1] != 0)
		return verdict(WIRE_TCP_RAW, 0);
	return whole(WIRE_TCP_IPERF3, IPERF3_COOKIE_BYTES, n);
}

/* A request states the size of its message. */
static struct wire_tcp_first judge_bounce(const uint8_t *p, size_t n)
{
	if (n < 8)
		return verdict(WIRE_TCP_MORE, 8);

	uint32_t bytes = get32(p + 4);

	if (bytes < BOUNCE_MIN_BYTES || bytes > INT32_MAX)
		return verdict(WIRE_TCP_RAW, 0);
	return verdict(WIRE_TCP_BOUNCE, bytes);
}

/* Is the word at an offset within a range, or still to come? */
static bool may_be(const uint8_t *p, size_t n, size_t at, uint32_t low,
		   uint32_t high)
{
	if (n < at + 4)
		return true;

	uint32_t word = get32(p + at);

	return word >= low && word <= high;
}

/*
 * A flags word of 0 is also how a stream of zeros begins, so the other fields
 * must make sense.  The amount can be anything: -n 2G sends 0.
 */
static struct wire_tcp_first judge_legacy(const uint8_t *p, size_t n)
{
	if (!may_be(p, n, CLIENT_THREADS, 1, UINT16_MAX) ||
	    !may_be(p, n, CLIENT_PORT, 1, UINT16_MAX) ||
	    !may_be(p, n, CLIENT_BUFLEN, 0, INT32_MAX) ||
	    !may_be(p, n, CLIENT_WINBAND, 0, INT32_MAX))
		return verdict(WIRE_TCP_RAW, 0);
	return whole(WIRE_TCP_LEGACY, WIRE_BASE_BYTES, n);
}

/* The declared length, or the one that the blocks add up to. */
static size_t stated_bytes(uint32_t flags)
{
	size_t stated = (flags & WIRE_LEN_MASK) >> 1;

	if (flags & WIRE_LEN)
		return stated > WIRE_BASE_BYTES ? stated : WIRE_BASE_BYTES;
	return flags & (WIRE_EXT | WIRE_V2) ? WIRE_TCP_BYTES : WIRE_BASE_BYTES;
}

size_t wire_key(const uint8_t *p, size_t n, const uint8_t **key)
{
	uint32_t flags = n >= WIRE_BASE_BYTES ? get32(p + CLIENT_FLAGS) : 0;
	size_t at = stated_bytes(flags);

	if (!(flags & WIRE_KEY))
		return 0;
	/* as the opening was judged */
	if (!(flags & WIRE_LEN) || at < WIRE_BASE_BYTES + 2)
		at += 2;
	if (n <= at)
		return 0;
	*key = p + at;
	return n - at;
}

/*
 * A permit key follows its u16 length, which a declared header length
 * includes.  key_at is where the key begins.
 */
static struct wire_tcp_first judge_key(const uint8_t *p, size_t n,
				       size_t key_at)
{
	if (n < key_at)
		return verdict(WIRE_TCP_MORE, key_at);

	size_t key_bytes = get16(p + key_at - 2);

	if (key_bytes > KEY_MAX_BYTES)
		return verdict(WIRE_TCP_RAW, 0);
	return whole(WIRE_TCP_CLIENT, key_at + key_bytes, n);
}

static struct wire_tcp_first judge_modern(const uint8_t *p, size_t n,
					  uint32_t flags)
{
	bool has_len = (flags & WIRE_LEN) != 0;

	if (!(flags & (WIRE_V1 | WIRE_EXT | WIRE_V2)) || (flags & TCP_NEVER) ||
	    (!has_len && (flags & WIRE_LEN_MASK)))
		return verdict(WIRE_TCP_RAW, 0);

	size_t bytes = stated_bytes(flags);

	if (!(flags & WIRE_KEY))
		return whole(WIRE_TCP_CLIENT, bytes, n);
	if (!has_len || bytes < WIRE_BASE_BYTES + 2)
		bytes += 2;
	return judge_key(p, n, bytes);
}

static struct wire_tcp_first judge_flags(const uint8_t *p, size_t n)
{
	uint32_t flags = get32(p);

	if (flags == WIRE_BB)
		return judge_bounce(p, n);
	if (flags == 0 || flags == WIRE_V1 || flags == (WIRE_V1 | WIRE_NOW))
		return judge_legacy(p, n);
	return judge_modern(p, n, flags);
}

struct wire_tcp_first wire_tcp_first(const uint8_t *p, size_t n, bool eof)
{
	struct wire_tcp_first first = verdict(WIRE_TCP_MORE, 4);

	if (n >= 4) {
		first = judge_stranger(p, n);
		if (first.kind == WIRE_TCP_RAW)
			first = judge_iperf3(p, n);
		if (first.kind == WIRE_TCP_RAW)
			first = judge_flags(p, n);
	}
	if (first.kind == WIRE_TCP_MORE && eof)
		return verdict(WIRE_TCP_RAW, 0);
	return first;
}

void wire_record_encode(uint8_t *p, const struct wire_record *in)
{
	put_stamp(p + 12, in->start_ns);
	put_stamp(p + 20, in->sent_ns);
	put32(p + 40, 0); /* no period */
	put32(p + 44, in->id);
	put32(p + 48, in->bytes);
	put32(p + 52, low32(in->before));
	put32(p + 56, high32(in->before));
}

int wire_record_decode(const uint8_t *p, struct wire_record *out)
{
	*out = (struct wire_record){
		.start_ns = get_time(p + 12),
		.sent_ns = get_time(p + 20),
		.id = get32(p + 44),
		.bytes = get32(p + 48),
		.before = join32(get32(p + 56), get32(p + 52)),
	};
	return out->bytes < WIRE_RECORD_BYTES || out->bytes > INT32_MAX ||
			       get32(p + 24) >= USEC_PER_SEC
		       ? -EINVAL
		       : 0;
}

void wire_bounce_encode(uint8_t *p, const struct wire_bounce *in)
{
	bool own_size = in->reply_bytes != in->bytes;

	memset(p, BOUNCE_FILLER, WIRE_BOUNCE_BYTES - 4);
	put32(p, WIRE_BB);
	put32(p + 4, in->bytes);
	put32(p + 8, in->id);
	put16(p + 12, (uint16_t)((in->quickack ? BOUNCE_QUICKACK : 0) |
				 (own_size ? BOUNCE_REPLY : 0)));
	put32(p + 16, 0);
	put_stamp(p + 20, in->sent_ns);
	for (size_t at = 28; at < 44; at += 4)
		put32(p + at, BOUNCE_NO_TIME);
	put32(p + 44, in->hold_us);
	if (own_size)
		put32(p + 60, in->reply_bytes);
}

int wire_bounce_decode(const uint8_t *p, size_t n, struct wire_bounce *out)
{
	uint16_t flags;

	if (n < BOUNCE_MIN_BYTES || get32(p) != WIRE_BB)
		return -EINVAL;
	flags = get16(p + 12);
	*out = (struct wire_bounce){
		.bytes = get32(p + 4),
		.reply_bytes = get32(p + 4),
		.id = get32(p + 8),
		.quickack = (flags & BOUNCE_QUICKACK) != 0,
		.sent_ns = get_time(p + 20),
		.hold_us = get32(p + 44),
	};
	if ((flags & BOUNCE_REPLY) != 0)
		out->reply_bytes = get32_within(p, n, 60);
	if (get32(p + 28) != BOUNCE_NO_TIME) {
		out->received_ns = get_time(p + 28);
		out->replied_ns = get_time(p + 36);
	}
	return 0;
}

void wire_bounce_reply(uint8_t *p, int64_t received_ns, int64_t replied_ns)
{
	put_stamp(p + 28, received_ns);
	put_stamp(p + 36, replied_ns);
}

/* Lost and out of order are differences at some servers, which can fall below
 * 0; nothing that we show may. */
static uint64_t at_least_0(int64_t v)
{
	return v > 0 ? (uint64_t)v : 0;
}

/* The words that both layouts have; p is the start of the block. */
static void get_report_base(const uint8_t *p, struct wire_report *out)
{
	out->bytes = join32(get32(p + REPORT_BYTES_HIGH),
			    get32(p + REPORT_BYTES_LOW));
	out->duration_ns = get_time(p + REPORT_DURATION);
	out->lost = at_least_0((int32_t)get32(p + REPORT_LOST));
	out->out_of_order = at_least_0((int32_t)get32(p + REPORT_OUT_OF_ORDER));
	/* a total never was a difference, so its top bit is worth 2^31 */
	out->total = get32(p + REPORT_TOTAL);
	out->jitter_ns = get_time(p + REPORT_JITTER);
}

static uint64_t get_wide(const uint8_t *p, size_t high_at, size_t low_at)
{
	return at_least_0(
		(int64_t)join32(get32(p + high_at), get32(p + low_at)));
}

static void get_report_high(const uint8_t *p, struct wire_report *out)
{
	out->lost = get_wide(p, REPORT_LOST_HIGH, REPORT_LOST);
	out->out_of_order =
		get_wide(p, REPORT_OUT_OF_ORDER_HIGH, REPORT_OUT_OF_ORDER);
	out->total = get_wide(p, REPORT_TOTAL_HIGH, REPORT_TOTAL);
}

static void get_report_extension(const uint8_t *p, struct wire_report *out)
{
	out->transit_min_ns = get_signed_time(p + REPORT_TRANSIT_MIN);
	out->transit_max_ns = get_signed_time(p + REPORT_TRANSIT_MAX);
	out->transit_sum_ns = get_signed_time(p + REPORT_TRANSIT_SUM);
	out->transit_mean_ns = get_signed_time(p + REPORT_TRANSIT_MEAN);
	out->transit_count = get32(p + REPORT_TRANSIT_COUNT);
	out->pps = get32(p + REPORT_PPS);
}

/* The exact words tell a report from an echo of our own end marker, whose
 * flags have length bits set. */
static bool is_modern_report(const uint8_t *p, size_t n)
{
	if (n < REPORT_AT_MODERN + REPORT_BASE_END)
		return false;

	uint32_t flags = get32(p + REPORT_AT_MODERN);

	return (flags & ~(REPORT_ENHANCED | REPORT_HIGH_WORDS)) == REPORT_VALID;
}

static void get_modern_report(const uint8_t *p, size_t n,
			      struct wire_report *out)
{
	const uint8_t *block = p + REPORT_AT_MODERN;
	uint32_t flags = get32(block + REPORT_FLAGS);

	get_report_base(block, out);
	out->enhanced = (flags & REPORT_ENHANCED) != 0;
	if (n >= REPORT_AT_MODERN + REPORT_EXT_END)
		get_report_extension(block, out);
	if (n >= WIRE_REPORT_BYTES && (flags & REPORT_HIGH_WORDS))
		get_report_high(block, out);
}

int wire_report_decode(const uint8_t *p, size_t n, struct wire_report *out)
{
	memset(out, 0, sizeof(*out));
	if (is_modern_report(p, n)) {
		get_modern_report(p, n, out);
		return 0;
	}
	if (n < WIRE_REPORT_LEGACY_BYTES ||
	    get32(p + REPORT_AT_LEGACY) != REPORT_VALID)
		return -EINVAL;
	out->legacy = true;
	get_report_base(p + REPORT_AT_LEGACY, out);
	return 0;
}

/* Bytes and times are the same in both layouts; the counters are not. */
static void put_report_base(uint8_t *p, uint32_t flags,
			    const struct wire_report *in)
{
	put32(p + REPORT_FLAGS, flags);
	put32(p + REPORT_BYTES_HIGH, high32(in->bytes));
	put32(p + REPORT_BYTES_LOW, low32(in->bytes));
	put_duration(p + REPORT_DURATION, in->duration_ns);
	put_duration(p + REPORT_JITTER, in->jitter_ns);
}

static uint32_t saturate(uint64_t v, uint32_t max)
{
	return v < max ? (uint32_t)v : max;
}

/* A legacy client reads signed words: what does not fit becomes the largest
 * of them, since a wrapped count would be a lie. */
static size_t put_legacy_report(uint8_t *p, const struct wire_report *in)
{
	uint8_t *block = p + REPORT_AT_LEGACY;

	memset(p, 0, WIRE_REPORT_LEGACY_BYTES);
	put_report_base(block, REPORT_VALID, in);
	put32(block + REPORT_LOST, saturate(in->lost, INT32_MAX));
	put32(block + REPORT_OUT_OF_ORDER,
	      saturate(in->out_of_order, INT32_MAX));
	put32(block + REPORT_TOTAL, saturate(in->total, INT32_MAX));
	return WIRE_REPORT_LEGACY_BYTES;
}

static void put_wide(uint8_t *p, size_t high_at, size_t low_at, uint64_t v)
{
	put32(p + high_at, high32(v));
	put32(p + low_at, low32(v));
}

static void put_report_extension(uint8_t *p, const struct wire_report *in)
{
	put_signed_time(p + REPORT_TRANSIT_MIN, in->transit_min_ns);
	put_signed_time(p + REPORT_TRANSIT_MAX, in->transit_max_ns);
	put_signed_time(p + REPORT_TRANSIT_SUM, in->transit_sum_ns);
	put_signed_time(p + REPORT_TRANSIT_MEAN, in->transit_mean_ns);
	put32(p + REPORT_TRANSIT_COUNT,
	      saturate(in->transit_count, UINT32_MAX));
	put32(p + REPORT_PPS, saturate(in->pps, UINT32_MAX));
	put32(p + REPORT_ONE, 1);
}

static size_t put_modern_report(uint8_t *p, const struct wire_report *in)
{
	uint8_t *block = p + REPORT_AT_MODERN;
	uint32_t flags = REPORT_VALID | REPORT_HIGH_WORDS |
			 (in->enhanced ? REPORT_ENHANCED : 0);

	memset(p, 0, WIRE_REPORT_BYTES);
	put_report_base(block, flags, in);
	put_report_extension(block, in);
	put_wide(block, REPORT_LOST_HIGH, REPORT_LOST, in->lost);
	put_wide(block, REPORT_OUT_OF_ORDER_HIGH, REPORT_OUT_OF_ORDER,
		 in->out_of_order);
	put_wide(block, REPORT_TOTAL_HIGH, REPORT_TOTAL, in->total);
	return WIRE_REPORT_BYTES;
}

size_t wire_report_encode(uint8_t *p, const struct wire_report *in)
{
	return in->legacy ? put_legacy_report(p, in) : put_modern_report(p, in);
}

size_t wire_ack_encode(uint8_t *p)
{
	uint32_t version_u, version_l;

	wire_version(&version_u, &version_l);
	memset(p, 0, WIRE_ACK_BYTES);
	put32(p, ACK_TYPE);
	put32(p + 4, WIRE_ACK_BYTES);
	put32(p + 12, version_u);
	put32(p + 16, version_l);
	return WIRE_ACK_BYTES;
}

size_t wire_ack_decode(const uint8_t *p, size_t n, uint32_t *version_u,
		       uint32_t *version_l)
{
	size_t length;

	if (n < WIRE_ACK_BYTES || get32(p) != ACK_TYPE)
		return 0;
	length = get32(p + 4);
	if (length != WIRE_ACK_BYTES && length != WIRE_ACK_TRIP_BYTES)
		return 0;
	*version_u = get32(p + 12);
	*version_l = get32(p + 16);
	return length;
}

void wire_fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)('0' + i % 10);
}

void wire_version(uint32_t *version_u, uint32_t *version_l)
{
	*version_u = OUR_VERSION_U;
	*version_l = OUR_RELEASE << 16 | OUR_MARK | KIND_RELEASE;
}

/* The mark alone decides, so that our later releases are known too. */
bool wire_is_ours(uint32_t version_u, uint32_t version_l)
{
	return version_u != 0 && (version_l & MARK_MASK) == OUR_MARK;
}

void wire_version_text(char *buf, size_t size, uint32_t version_u,
		       uint32_t version_l)
{
	if (version_u == 0 && version_l == 0)
		snprintf(buf, size, "%s", "");
	else
		snprintf(buf, size, "%u.%u.%u", version_u >> 16,
			 version_u & 0xffff, version_l >> 16);
}

int32_t wire_amount(int64_t time_ns, uint64_t bytes)
{
	if (bytes > 0)
		return bytes < INT32_MAX ? (int32_t)bytes : INT32_MAX;
	if (time_ns <= 0)
		return 0;

	/* rounded up, so that a short time does not become none at all */
	int64_t ticks = time_ns / WIRE_TICK_NS + (time_ns % WIRE_TICK_NS > 0);

	return (int32_t)-clamp(ticks, 0, INT32_MAX);
}
