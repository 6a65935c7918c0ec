/*
 * wire: the input is what a peer sent, to each of the decoders; each prefix of
 * it is how much of a TCP stream may have come so far.
 */
#include "wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define USEC_NS INT64_C(1000)
#define SEC_NS INT64_C(1000000000)
/* The longest opening that a server must have room for. */
#define OPENING_MAX 512

static bool same_first(const struct wire_tcp_first *a,
		       const struct wire_tcp_first *b)
{
	return a->kind == b->kind && a->len == b->len && a->what == b->what;
}

static void check_first(const struct wire_tcp_first *first, size_t n)
{
	assert((first->what != NULL) == (first->kind == WIRE_TCP_OTHER));
	switch (first->kind) {
	case WIRE_TCP_MORE:
		assert(first->len > n && first->len <= OPENING_MAX);
		break;
	case WIRE_TCP_CLIENT:
		assert(first->len >= WIRE_BASE_BYTES && first->len <= n);
		break;
	case WIRE_TCP_LEGACY:
		assert(first->len == WIRE_BASE_BYTES && first->len <= n);
		break;
	case WIRE_TCP_IPERF3:
	case WIRE_TCP_OTHER:
		assert(first->len > 0 && first->len <= n);
		break;
	case WIRE_TCP_BOUNCE:
		assert(first->len > 0);
		break;
	case WIRE_TCP_RAW:
		assert(first->len == 0);
		break;
	}
}

/* Once it is told, what comes later changes nothing. */
static void check_openings(const uint8_t *p, size_t n)
{
	/* prefixes end with the room, where a read beyond them shows */
	uint8_t *room = malloc(n + 1);
	struct wire_tcp_first told = { .kind = WIRE_TCP_MORE };

	assert(room != NULL);
	/* all fields but keys are within the first of them */
	for (size_t have = 0; have <= n; have += have < 64 ? 1 : 8) {
		uint8_t *from = room + n + 1 - have;

		memcpy(from, p, have);

		struct wire_tcp_first first = wire_tcp_first(from, have, false);
		struct wire_tcp_first last = wire_tcp_first(from, have, true);

		check_first(&first, have);
		check_first(&last, have);
		if (told.kind != WIRE_TCP_MORE)
			assert(same_first(&first, &told));
		if (first.kind == WIRE_TCP_MORE)
			assert(last.kind == WIRE_TCP_RAW);
		else
			assert(same_first(&first, &last));
		told = first;
	}
	free(room);
}

static bool same_client(const struct wire_client *a,
			const struct wire_client *b)
{
	return a->flags == b->flags && a->threads == b->threads &&
	       a->port == b->port && a->buflen == b->buflen &&
	       a->winband == b->winband && a->amount == b->amount &&
	       a->has_ext == b->has_ext && a->upper == b->upper &&
	       a->lower == b->lower && a->version_u == b->version_u &&
	       a->version_l == b->version_l && a->tos == b->tos &&
	       a->rate_bps == b->rate_bps && a->omit_10ms == b->omit_10ms &&
	       a->omit_from == b->omit_from;
}

static void check_client(const uint8_t *p, size_t n)
{
	uint8_t out[WIRE_UDP_START_BYTES - WIRE_UDP_BYTES];
	char version[24];
	struct wire_client c;
	struct wire_client again;

	if (wire_client_decode(p, n, &c) < 0) {
		assert(n < 4);
		return;
	}

	size_t bytes = wire_client_encode(out, &c);

	assert(bytes == (c.has_ext ? WIRE_TCP_BYTES : WIRE_BASE_BYTES));
	assert(wire_client_decode(out, bytes, &again) == 0);
	assert(same_client(&c, &again));
	/* a start time stands behind all that is read */
	c.start_ns = SEC_NS;
	bytes = wire_client_encode(out, &c);
	assert(bytes <= sizeof(out));
	assert(wire_client_decode(out, bytes, &again) == 0);
	assert(same_client(&c, &again));
	assert(wire_streams(&c) >= 1 && wire_streams(&c) <= WIRE_STREAMS_MAX);
	wire_version_text(version, sizeof(version), c.version_u, c.version_l);
	assert(memchr(version, '\0', sizeof(version)) != NULL);
}

static void check_udp(const uint8_t *p, size_t n, enum wire_layout layout)
{
	uint8_t out[WIRE_UDP_BYTES];
	struct wire_udp h;
	struct wire_udp again;

	if (wire_udp_decode(p, n, layout, &h) < 0) {
		assert(n < WIRE_UDP_BYTES);
		return;
	}
	assert(h.sent_ns >= 0);
	wire_udp_encode(out, layout, &h);
	assert(wire_udp_decode(out, sizeof(out), layout, &again) == 0);
	assert(again.seq == h.seq && wire_udp_stamped(out, sizeof(out)));
	/* other stamps say more than 32 bits of seconds can */
	if (wire_udp_stamped(p, n))
		assert(again.sent_ns == h.sent_ns);
}

static void check_datagram(const uint8_t *p, size_t n)
{
	enum wire_layout layout;

	if (wire_udp_layout(p, n, &layout) < 0) {
		assert(n < WIRE_UDP_LEGACY_BYTES && !wire_udp_stamped(p, n));
		return;
	}
	for (int i = WIRE_LEGACY; i <= WIRE_SMALL_TRIP; i++)
		check_udp(p, n, (enum wire_layout)i);
}

static int64_t at_most(int64_t v, int64_t max)
{
	return v < max ? v : max;
}

static int64_t within(int64_t v, int64_t max)
{
	return v < -max ? -max : at_most(v, max);
}

/* What of a report gets through when it is sent once more. */
static struct wire_report as_sent(const struct wire_report *r)
{
	int64_t longest = (int64_t)UINT32_MAX * SEC_NS + 999999 * USEC_NS;
	int64_t furthest = (int64_t)INT32_MAX * SEC_NS + 999999 * USEC_NS;
	struct wire_report out = *r;

	out.duration_ns = at_most(r->duration_ns, longest);
	out.jitter_ns = at_most(r->jitter_ns, longest);
	if (r->legacy && r->total > INT32_MAX)
		out.total = INT32_MAX;
	out.transit_min_ns = within(r->transit_min_ns, furthest);
	out.transit_max_ns = within(r->transit_max_ns, furthest);
	out.transit_sum_ns = within(r->transit_sum_ns, furthest);
	out.transit_mean_ns = within(r->transit_mean_ns, furthest);
	return out;
}

static bool same_report(const struct wire_report *a,
			const struct wire_report *b)
{
	return a->legacy == b->legacy && a->enhanced == b->enhanced &&
	       a->bytes == b->bytes && a->duration_ns == b->duration_ns &&
	       a->lost == b->lost && a->out_of_order == b->out_of_order &&
	       a->total == b->total && a->jitter_ns == b->jitter_ns &&
	       a->transit_min_ns == b->transit_min_ns &&
	       a->transit_max_ns == b->transit_max_ns &&
	       a->transit_sum_ns == b->transit_sum_ns &&
	       a->transit_mean_ns == b->transit_mean_ns &&
	       a->transit_count == b->transit_count && a->pps == b->pps;
}

static void check_report(const uint8_t *p, size_t n)
{
	uint8_t out[WIRE_REPORT_BYTES];
	struct wire_report r;
	struct wire_report again;

	if (wire_report_decode(p, n, &r) < 0)
		return;
	assert(r.duration_ns >= 0 && r.jitter_ns >= 0);
	assert(r.lost <= INT64_MAX && r.out_of_order <= INT64_MAX &&
	       r.total <= INT64_MAX);

	size_t bytes = wire_report_encode(out, &r);
	struct wire_report sent = as_sent(&r);

	assert(bytes ==
	       (r.legacy ? WIRE_REPORT_LEGACY_BYTES : WIRE_REPORT_BYTES));
	assert(wire_report_decode(out, bytes, &again) == 0);
	assert(same_report(&again, &sent));
}

/* Time and bytes never change into each other. */
static void check_amount(struct fuzz f)
{
	int64_t time_ns = (int64_t)fuzz_number(&f, 8);
	uint64_t bytes = fuzz_number(&f, 8);

	assert(bytes == 0 || wire_amount(time_ns, bytes) > 0);

	int32_t amount = wire_amount(time_ns, 0);

	assert(time_ns > 0 ? amount < 0 : amount == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	check_openings(p, n);
	check_client(p, n);
	check_datagram(p, n);
	check_report(p, n);
	check_amount((struct fuzz){ p, n });
	return 0;
}
