/*
 * session: the input is what four peers send to a UDP server, and when.  It is
 * our server_udp that handles it; its socket, its clocks, its thread and the
 * report are those of this file, which sees all that goes in and out.
 */
#include "server_udp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "back.h"
#include "block.h"
#include "clock.h"
#include "fuzz.h"
#include "log.h"
#include "udp.h"
#include "wire.h"

#define PEERS 4
#define DATAGRAM_MAX 1600
/* How far the wall clock is ahead of the other at first. */
#define WALL_NS (INT64_C(1800000000) * CLOCK_SECOND_NS)
/* Numbers up to here mean the same in each layout. */
#define NUMBER_MAX (INT64_C(1) << 30)

/* One who sends, and what it got. */
struct peer_seen {
	struct sockaddr_storage address;
	socklen_t len;
	uint64_t in_bytes;
	uint64_t out_bytes;
	int64_t next;    /* the number that follows */
	int64_t highest; /* that it sent; of the end marker, that it told */
	bool odd;        /* it sent what no client sends */
	bool has_layout;
	enum wire_layout layout;
	uint8_t marker[DATAGRAM_MAX];
	size_t marker_bytes;
};

/* A stream that the server has shown to the report. */
struct shown {
	struct stream *stream;
	struct stats_snap last; /* as its last row ended */
	struct shown *next;
};

static struct {
	struct fuzz in;
	int64_t now_ns;
	int64_t wall_ns; /* what the wall clock is ahead of that */
	bool stamped;    /* each arrival, by the kernel */
	uint32_t drops;
	struct peer_seen peers[PEERS];
	struct shown *shown;
	unsigned added;
	struct server_udp *server;
	void *(*run)(void *arg); /* what its thread would run */
	void *arg;
} world;

/* --- the clocks and the log ---------------------------------------------- */

int64_t clock_ns(void)
{
	return world.now_ns;
}

int64_t clock_wall_ns(void)
{
	return world.now_ns + world.wall_ns;
}

/* What is asked to be sent back is refused, for nothing is sent back here. */
void log_stranger(int64_t now_ns, const char *format, ...)
{
	(void)now_ns;
	assert(strstr(format, "refused") != NULL ||
	       strstr(format, "asks to be sent to") != NULL);
}

/* --- the thread: the linker puts these in place of the real ones ---------- */

int __wrap_stream_thread(pthread_t *thread, void *(*run)(void *), void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);
int __real_pthread_join(pthread_t thread, void **result);

int __wrap_stream_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	*thread = pthread_self();
	world.run = run;
	world.arg = arg;
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	if (pthread_equal(thread, pthread_self()))
		return 0;
	return __real_pthread_join(thread, result);
}

/* --- the report ----------------------------------------------------------- */

static void check_snap(const struct stats_snap *s)
{
	assert(s->late <= s->packets);
	assert(s->gaps <= s->lost && s->gap_max <= s->lost);
	assert(s->jitter_ns >= 0 && s->jitter_ns <= s->jitter_max_ns);
	assert(s->gap_max_ns >= 0 && s->row_gap_max_ns >= 0);
	assert(s->row_gap_max <= s->gap_max);
}

/* Ends a row: what it holds is never less than nothing. */
static void end_row(struct shown *s)
{
	struct stats_snap now;

	stream_cut(s->stream, &now);
	check_snap(&now);
	assert(now.bytes >= s->last.bytes && now.packets >= s->last.packets);
	assert(now.lost >= s->last.lost && now.late >= s->last.late);
	assert(now.too_late >= s->last.too_late);
	assert(now.duplicate >= s->last.duplicate);
	assert(now.gaps >= s->last.gaps && now.gap_max >= s->last.gap_max);
	assert(now.socket_drops >= s->last.socket_drops);
	assert(now.shared_drops >= s->last.shared_drops);
	s->last = now;
}

static void check_total(const struct stream *st)
{
	int64_t end_ns = atomic_load(&st->end_ns);
	struct stats_snap all;
	struct stats_snap counted;

	assert(end_ns != 0 && end_ns >= atomic_load(&st->start_ns));
	assert(end_ns >= atomic_load(&st->omit_end_ns));
	stream_snap(st, &all);
	stream_counted(st, &all, &counted);
	check_snap(&counted);
	assert(stats_sent(&counted) <= INT64_MAX);
	assert(counted.packets <= all.packets && counted.lost <= all.lost);
	assert(counted.bytes <= all.bytes);
}

int report_add(struct report *r, struct stream *s, const char *key,
	       uint32_t expected)
{
	struct shown *one = calloc(1, sizeof(*one));

	(void)r;
	assert(one != NULL && key[0] != '\0');
	assert(expected >= 1 && expected <= WIRE_STREAMS_MAX);
	one->stream = s;
	one->next = world.shown;
	world.shown = one;
	world.added++;
	return 0;
}

void report_poke(struct report *r)
{
	struct shown **at = &world.shown;

	(void)r;
	while (*at != NULL) {
		struct shown *one = *at;

		if (!atomic_load(&one->stream->closed)) {
			at = &one->next;
			continue;
		}
		end_row(one);
		check_total(one->stream);
		atomic_store(&one->stream->reported, true);
		*at = one->next;
		free(one);
	}
}

/* --- what peers send ------------------------------------------------------ */

/* Two of one host, one of another, one by the other family. */
static void make_peers(void)
{
	for (uint16_t i = 0; i < PEERS; i++) {
		struct peer_seen *p = &world.peers[i];
		struct sockaddr_in v4 = { .sin_family = AF_INET,
					  .sin_port = htons(5001 + i) };
		struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
					   .sin6_port = htons(5001 + i) };

		v4.sin_addr.s_addr = htonl(i < 2 ? 0xc0000201 : 0xc0000202);
		v6.sin6_addr.s6_addr[15] = 1;
		if (i < PEERS - 1) {
			memcpy(&p->address, &v4, sizeof(v4));
			p->len = sizeof(v4);
		} else {
			memcpy(&p->address, &v6, sizeof(v6));
			p->len = sizeof(v6);
		}
	}
}

/* Any bytes, and filler behind them. */
static size_t raw_datagram(struct peer_seen *p, uint8_t *buf)
{
	size_t given = fuzz_byte(&world.in);
	size_t padded = given + fuzz_byte(&world.in) * (size_t)5;

	p->odd = true;
	wire_fill(buf, padded);
	for (size_t i = 0; i < given; i++)
		buf[i] = fuzz_byte(&world.in);
	return padded;
}

/* The number of a datagram that goes on from those before, or does not. */
static int64_t make_number(struct peer_seen *p)
{
	uint8_t how = fuzz_byte(&world.in);
	int64_t by = how % 64;

	switch (how / 64) {
	case 0:
		p->next += by + 1;
		return p->next - 1;
	case 1:
		return p->next > by ? p->next - by : 0;
	case 2:
		return -(p->next + by / 8) - (p->next + by / 8 == 0);
	default:
		break;
	}
	if (by < 32) {
		p->next = by;
		return by;
	}
	p->next = (int64_t)(fuzz_number(&world.in, 8) >> 1 >> (by - 32));
	return p->next;
}

static size_t make_client(uint8_t *at, enum wire_layout layout, uint8_t kind)
{
	struct wire_client c = {
		.flags = layout == WIRE_LEGACY ? 0 : wire_flags(true, false),
		.threads = 1,
		.amount = -1000,
		.has_ext = layout != WIRE_LEGACY,
		.version_u = 0x00020001,
		.version_l = 0x00080003,
		.upper = kind & 0x20 ? WIRE_UPPER_TRIP_TIMES : 0,
	};

	if (kind & 0x10)
		wire_version(&c.version_u, &c.version_l);
	if (kind & 0x40)
		c.omit_10ms = fuzz_byte(&world.in);
	if (kind & 0x80)
		c.omit_from = fuzz_byte(&world.in);
	return wire_client_encode(at, &c);
}

/* What clients of each kind send, with numbers and stamps that fit or do not.
 * kind: layout, has a header, is ours, trip times, -O and its first number. */
static size_t client_datagram(struct peer_seen *p, uint8_t *buf)
{
	uint8_t kind = fuzz_byte(&world.in);
	enum wire_layout layout = (enum wire_layout)(kind % 8 % 5);
	size_t head = layout == WIRE_LEGACY || layout == WIRE_LEGACY_C
			      ? WIRE_UDP_LEGACY_BYTES
			      : WIRE_UDP_BYTES;
	struct wire_udp h = { .seq = make_number(p) };
	int8_t late_10ms = (int8_t)fuzz_byte(&world.in);
	size_t padded = head + fuzz_byte(&world.in) * (size_t)6;

	h.sent_ns = WALL_NS + world.now_ns - late_10ms * 10 * CLOCK_MS_NS;
	wire_fill(buf, padded > DATAGRAM_MAX ? DATAGRAM_MAX : padded);
	wire_udp_encode(buf, layout, &h);
	if (kind & 0x08 && (layout == WIRE_LEGACY || layout == WIRE_MODERN)) {
		size_t with = head + make_client(buf + head, layout, kind);

		padded = padded > with ? padded : with;
	}
	if (h.seq >= NUMBER_MAX || h.seq <= -NUMBER_MAX ||
	    (p->has_layout && p->layout != layout))
		p->odd = true;
	else if (h.seq >= p->highest || -h.seq > p->highest + 1)
		p->highest = h.seq < 0 ? -h.seq - 1 : h.seq;
	p->has_layout = true;
	p->layout = layout;
	if (h.seq < 0) {
		memcpy(p->marker, buf, padded);
		p->marker_bytes = padded;
	}
	return padded;
}

static size_t repeat_marker(const struct peer_seen *p, uint8_t *buf)
{
	memcpy(buf, p->marker, p->marker_bytes);
	return p->marker_bytes;
}

static void pass_time(unsigned how)
{
	static const int64_t steps_ns[] = {
		0,
		CLOCK_MS_NS / 100,
		CLOCK_MS_NS,
		20 * CLOCK_MS_NS,
		100 * CLOCK_MS_NS,
		600 * CLOCK_MS_NS,
		31 * CLOCK_SECOND_NS,
		601 * CLOCK_SECOND_NS,
	};

	world.now_ns += steps_ns[how];
}

static void disturb(void)
{
	uint8_t how = fuzz_byte(&world.in);

	if (how < 128)
		world.drops += how;
	else
		world.wall_ns += (how - 192) * 100 * CLOCK_MS_NS;
}

/* Nothing is sent back here. */

struct back *back_start(const struct back_job *job, const struct options *o,
			struct report *r, int *why)
{
	(void)job;
	(void)o;
	(void)r;
	*why = -ENOTSUP;
	return NULL;
}

void back_stop(struct back *b)
{
	(void)b;
}

bool back_ended(const struct back *b)
{
	(void)b;
	return true;
}

bool back_over(const struct back *b)
{
	(void)b;
	return true;
}

void back_join(struct back *b)
{
	(void)b;
}

void back_free(struct back *b)
{
	(void)b;
}

bool clock_may_spin(unsigned threads)
{
	return threads == 0;
}

bool udp_prepare(int fd, int family, int64_t limit_ns)
{
	(void)fd;
	(void)family;
	(void)limit_ns;
	return true;
}

static void arrive(struct udp_arrival *a, struct peer_seen *p, size_t bytes)
{
	*a = (struct udp_arrival){
		.from = { .ss = p->address, .len = p->len },
		.stamp_ns = world.stamped ? clock_wall_ns() : 0,
		.has_drops = true,
		.drops = world.drops,
		.bytes = bytes,
	};
	p->in_bytes += bytes;
}

/* One step: what comes, from whom, after how long. */
void udp_pause_init(struct udp_pause *p, int fd)
{
	(void)fd;
	*p = (struct udp_pause){ .may = false };
}

int udp_receive(int fd, uint8_t *buf, size_t size, struct udp_arrival *a,
		struct udp_pause *pause)
{
	(void)pause;
	uint8_t what = fuzz_byte(&world.in);
	struct peer_seen *p = &world.peers[what % PEERS];
	size_t bytes = 0;

	(void)fd;
	assert(size >= DATAGRAM_MAX);
	for (struct shown *s = world.shown; s != NULL; s = s->next)
		end_row(s);
	if (world.in.left == 0) {
		server_udp_stop(world.server);
		return -EAGAIN;
	}
	pass_time(what / 4 % 8);
	switch (what / 32) {
	case 0:
		bytes = raw_datagram(p, buf);
		break;
	case 1:
		disturb();
		return -EAGAIN;
	case 2:
		bytes = repeat_marker(p, buf);
		break;
	default:
		bytes = client_datagram(p, buf);
	}
	if (bytes == 0)
		return -EAGAIN;
	arrive(a, p, bytes);
	return 0;
}

/* --- what they are answered ----------------------------------------------- */

static void check_block(const uint8_t *p, size_t n, const struct wire_report *r)
{
	struct fuzz in = { p, n };
	struct block_result b;

	(void)fuzz_number(&in, 8);
	assert(n == BLOCK_RESULT_BYTES);
	assert(block_result_decode(p, n, fuzz_number(&in, 8), &b) == 0);
	assert(b.udp && b.bytes == r->bytes && b.lost == r->lost);
	assert(b.late == r->out_of_order && b.packets + b.lost == r->total);
	assert(b.duration_ns / 1000000 == r->duration_ns / 1000000 ||
	       b.duration_ns % 1000000 >= 999500);
}

static void check_report(const struct peer_seen *p, const uint8_t *buf,
			 size_t bytes)
{
	struct wire_report r;
	size_t length;

	assert(wire_report_decode(buf, bytes, &r) == 0);
	length = r.legacy ? WIRE_REPORT_LEGACY_BYTES : WIRE_REPORT_BYTES;
	assert(bytes >= length);
	assert(r.duration_ns >= 0 && r.jitter_ns >= 0);
	assert(r.lost <= r.total && r.out_of_order <= r.total);
	assert(r.transit_min_ns <= r.transit_max_ns);
	/* of one that seems to begin at 1 the marker counts, then 0 may come */
	if (!p->odd)
		assert(r.total <= (uint64_t)p->highest + 2);
	if (bytes > length)
		check_block(buf + length, bytes - length, &r);
}

/* The address that it came from is answered, with less than three times as
 * much as came from there. */
int udp_answer(int fd, const struct udp_arrival *a, const uint8_t *buf,
	       size_t bytes)
{
	struct peer_seen *p = world.peers;
	struct policy_refusal refusal;
	uint64_t nonce;
	uint64_t cookie;

	(void)fd;
	while (p->len != a->from.len ||
	       memcmp(&p->address, &a->from.ss, sizeof(p->address)) != 0)
		p++;
	p->out_bytes += bytes;
	assert(p->out_bytes <= 3 * p->in_bytes);
	if (block_hello_decode(buf, bytes, &nonce, &cookie) == 0)
		assert(bytes == BLOCK_HELLO_BYTES);
	else if (block_refusal_decode(buf, bytes, &nonce, &refusal) == 0)
		assert(bytes == BLOCK_REFUSAL_BYTES);
	else
		check_report(p, buf, bytes);
	return 0;
}

/* --- one server ----------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct fuzz in = { p, n };
	uint8_t how = fuzz_byte(&in);
	struct options o = {
		.side = OPTIONS_SERVER,
		.udp = true,
		.single = how & 1,
		.one_off = how & 2,
		.enhanced = how & 4,
		.histograms = how & 8,
		.late_after_ns = (how & 16 ? 1 : 100) * CLOCK_MS_NS,
		.limits = { .clients = how & 64 ? 1 : 0,
			    .time_ns = how & 128 ? 5 * CLOCK_SECOND_NS : 0,
			    .rate_bps = how & 128 ? 100000 : 0 },
	};

	const struct sock_addr any_v4 = { .ss.ss_family = AF_INET };

	memset(&world, 0, sizeof(world));
	world.in = in;
	world.stamped = how & 32;
	world.now_ns = CLOCK_SECOND_NS;
	world.wall_ns = WALL_NS;
	make_peers();
	world.server = server_udp_start(-1, &any_v4, &o, NULL, NULL);
	assert(world.server != NULL);
	(void)world.run(world.arg);
	assert(world.shown == NULL);
	assert(server_udp_accepted(world.server) == world.added);
	server_udp_free(world.server);
	return 0;
}
