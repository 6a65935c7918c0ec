/*
 * check_wire: bytes of the original against our decoders and encoders, and
 * what may come from anybody.  The expected values are those that the programs
 * were started with or printed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "golden/wire_vectors.h"
#include "wire.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))
/* A vector as three members of a table's row. */
#define GOLDEN(name) #name, name, sizeof(name)
/* The extension of two releases. */
#define EXT_2_1_8                                                              \
	.has_ext = true, .version_u = 0x00020001, .version_l = 0x00080003
#define EXT_2_2_N                                                              \
	.has_ext = true, .version_u = 0x00020002, .version_l = 0x00020005

/* Bytes that nothing of ours stands in: write prefetch, from here. */
#define PREFETCH_AT 56

/* clang-format off */
static const struct tcp_row {
	const char *name;
	const uint8_t *bytes;
	size_t n;
	enum wire_tcp_kind kind;
	size_t len;
	struct wire_client client;
} tcp_rows[] = {
	{ GOLDEN(tv01), WIRE_TCP_LEGACY, 24,
	  { .flags = 0x00000000, .threads = 1, .port = 5400,
	    .amount = 262144 } },
	{ GOLDEN(tv02), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x40010078, .threads = 1, .port = 5402, .amount = 262144,
	    EXT_2_1_8 } },
	{ GOLDEN(tv03), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x40010080, .threads = 1, .port = 5404, .amount = 262144,
	    EXT_2_2_N } },
	{ GOLDEN(tv06), WIRE_TCP_LEGACY, 24,
	  { .flags = 0x80000001, .threads = 1, .port = 5405,
	    .amount = -100 } },
	{ GOLDEN(tv07), WIRE_TCP_CLIENT, 60,
	  { .flags = 0xc0010079, .threads = 1, .port = 5429, .amount = 524288,
	    EXT_2_1_8 } },
	{ GOLDEN(tv08), WIRE_TCP_CLIENT, 64,
	  { .flags = 0xc0010081, .threads = 1, .port = 5453, .amount = 524288,
	    EXT_2_2_N } },
	{ GOLDEN(tv09), WIRE_TCP_LEGACY, 24,
	  { .flags = 0x80000000, .threads = 1, .port = 5423,
	    .amount = -100 } },
	{ GOLDEN(tv10), WIRE_TCP_CLIENT, 64,
	  { .flags = 0xc0010080, .threads = 1, .port = 5407, .amount = 524288,
	    EXT_2_2_N } },
	{ GOLDEN(tv12), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x44010078, .threads = 1, .port = 5404, .amount = 524288,
	    EXT_2_1_8, .upper = 0x0400 } },
	{ GOLDEN(tv13), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x44010080, .threads = 1, .port = 5420, .amount = 524288,
	    EXT_2_2_N, .upper = 0x0400 } },
	{ GOLDEN(tv14), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x44010078, .threads = 1, .port = 5472, .amount = -100,
	    EXT_2_1_8, .upper = 0x0800, .rate_bps = 4000000 } },
	{ GOLDEN(tv15), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x44010080, .threads = 1, .port = 5496, .amount = -100,
	    EXT_2_2_N, .upper = 0x0800, .rate_bps = 4000000 } },
	{ GOLDEN(tv16), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x46010078, .threads = 1, .port = 5485, .amount = 524288,
	    EXT_2_1_8 } },
	{ GOLDEN(tv17), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x46010080, .threads = 1, .port = 5402, .amount = 131072,
	    EXT_2_2_N, .upper = 0x0400 } },
	{ GOLDEN(tv47), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5400, .buflen = 8192,
	    .amount = -100, EXT_2_1_8, .upper = 0x0010,
	    .rate_bps = 2000000 } },
	{ GOLDEN(tv48), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5401, .buflen = 8192,
	    .amount = -100, EXT_2_2_N, .upper = 0x0010,
	    .rate_bps = 2000000 } },
	{ GOLDEN(tv53), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5414, .buflen = 8192,
	    .amount = -100, EXT_2_1_8, .upper = 0x0010 } },
	{ GOLDEN(tv54), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5415, .buflen = 8192,
	    .amount = -100, EXT_2_2_N, .upper = 0x0010 } },
	{ GOLDEN(tv63), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5411, .amount = -100,
	    EXT_2_2_N, .upper = 0x0001 } },
	{ GOLDEN(tv65), WIRE_TCP_CLIENT, 92,
	  { .flags = 0x400100b8, .threads = 1, .port = 5400, .buflen = 4096,
	    .amount = -200, EXT_2_1_8, .upper = 0x2000 } },
	{ GOLDEN(tv66), WIRE_TCP_CLIENT, 96,
	  { .flags = 0x400100c0, .threads = 1, .port = 5401, .buflen = 4096,
	    .amount = -200, EXT_2_2_N, .upper = 0x2000 } },
	{ GOLDEN(tv71), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x400100a0, .threads = 1, .port = 5405, .buflen = 8192,
	    .amount = -100, EXT_2_2_N, .upper = 0x1010,
	    .rate_bps = 2000000 } },
	{ GOLDEN(tv72), WIRE_TCP_CLIENT, 72,
	  { .flags = 0x5001007c, .threads = 1, .port = 5404, .amount = 65536,
	    EXT_2_1_8 } },
	{ GOLDEN(tv73), WIRE_TCP_CLIENT, 76,
	  { .flags = 0x50010084, .threads = 1, .port = 5405, .amount = 65536,
	    EXT_2_2_N } },
	{ GOLDEN(tv74), WIRE_TCP_CLIENT, 119,
	  { .flags = 0x400100ee, .threads = 1, .port = 5411, .amount = 65536,
	    EXT_2_2_N, .lower = 0x8000 } },
	{ GOLDEN(tv75), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x40010078, .threads = 1, .port = 5412, .amount = 65536,
	    EXT_2_1_8, .rate_bps = 9000000000 } },
	{ GOLDEN(tv76), WIRE_TCP_CLIENT, 80,
	  { .flags = 0x440100a0, .threads = 1, .port = 5421, .amount = 65536,
	    EXT_2_2_N, .upper = 0x0600 } },
	{ GOLDEN(tv77), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x44010080, .threads = 1, .port = 5415, .amount = 65536,
	    EXT_2_2_N, .upper = 0x4400 } },
	{ GOLDEN(tv78), WIRE_TCP_CLIENT, 64,
	  { .flags = 0x40010080, .threads = 0x80200002, .port = 5413,
	    .amount = 65536, EXT_2_2_N } },
	{ GOLDEN(tv79), WIRE_TCP_CLIENT, 60,
	  { .flags = 0x40010078, .threads = 1, .port = 5408, .amount = 65536,
	    EXT_2_1_8, .tos = 0x0020 } },
};

static const struct udp_row {
	const char *name;
	const uint8_t *bytes;
	size_t n;
	enum wire_layout layout;
	struct wire_udp udp;
	struct wire_client client;
} udp_rows[] = {
	{ GOLDEN(tv18), WIRE_LEGACY, { 0, 1796076628569985000 },
	  { .flags = 0x00000000, .threads = 1, .port = 5401,
	    .winband = 1000000, .amount = -100 } },
	{ GOLDEN(tv19), WIRE_LEGACY, { -87, 1796076629593111000 },
	  { .flags = 0x00000000, .threads = 1, .port = 5401,
	    .winband = 1000000, .amount = -100 } },
	{ GOLDEN(tv21), WIRE_MODERN, { 1, 1796076634560709000 },
	  { .flags = 0x48010098, .threads = 1, .port = 5403, .amount = -100,
	    EXT_2_1_8, .rate_bps = 1048576 } },
	{ GOLDEN(tv22), WIRE_MODERN, { -93, 1796076635581402000 },
	  { .flags = 0x48010098, .threads = 1, .port = 5403, .amount = -100,
	    EXT_2_1_8, .rate_bps = 1048576 } },
	{ GOLDEN(tv24), WIRE_MODERN, { 1, 1796076640813305000 },
	  { .flags = 0x480100a0, .threads = 1, .port = 5405, .amount = -100,
	    EXT_2_2_N, .rate_bps = 1048576 } },
	{ GOLDEN(tv25), WIRE_MODERN, { -92, 1796076641834107000 },
	  { .flags = 0x480100a0, .threads = 1, .port = 5405, .amount = -100,
	    EXT_2_2_N, .rate_bps = 1048576 } },
	{ GOLDEN(tv34), WIRE_LEGACY_C, { 1, 1796077284832898000 }, { 0 } },
	{ GOLDEN(tv35), WIRE_MODERN_C, { 2, 1796077297340483000 }, { 0 } },
	{ GOLDEN(tv36), WIRE_LEGACY, { 0, 1796076910995952000 },
	  { .flags = 0x80000001, .threads = 1, .port = 5408,
	    .winband = 1000000, .amount = -100 } },
	{ GOLDEN(tv37), WIRE_MODERN, { 1, 1796076937928624000 },
	  { .flags = 0xc8010099, .threads = 1, .port = 5444, .amount = -100,
	    EXT_2_1_8, .rate_bps = 1000000 } },
	{ GOLDEN(tv38), WIRE_MODERN, { 1, 1796076952393510000 },
	  { .flags = 0xc80100a1, .threads = 1, .port = 5480, .amount = -100,
	    EXT_2_2_N, .rate_bps = 1000000 } },
	{ GOLDEN(tv39), WIRE_MODERN, { 1, 1796077004208753000 },
	  { .flags = 0xc80100a0, .threads = 1, .port = 5461, .amount = -100,
	    EXT_2_2_N, .rate_bps = 1000000 } },
	{ GOLDEN(tv40), WIRE_MODERN, { 1, 1796077045261806000 },
	  { .flags = 0x6c010098, .threads = 1, .port = 5431, .amount = -100,
	    EXT_2_1_8, .upper = 0x0400, .rate_bps = 1000000 } },
	{ GOLDEN(tv41), WIRE_MODERN, { 1, 1796077062197143000 },
	  { .flags = 0x6c0100a0, .threads = 1, .port = 5459, .amount = -100,
	    EXT_2_2_N, .upper = 0x0400, .rate_bps = 1000000 } },
	{ GOLDEN(tv42), WIRE_MODERN, { 1, 1796077694525107000 },
	  { .flags = 0xec0100a0, .threads = 1, .port = 5405, .buflen = 500,
	    .amount = -100, EXT_2_2_N, .upper = 0x0400,
	    .rate_bps = 200000 } },
	{ GOLDEN(tv43), WIRE_MODERN_C, { 1, 1796077045262029000 }, { 0 } },
	{ GOLDEN(tv44), WIRE_MODERN_C, { -88, 1796077046285263000 }, { 0 } },
	{ GOLDEN(tv45), WIRE_MODERN, { 1, 1796077085873994000 },
	  { .flags = 0x6c010098, .threads = 1, .port = 5409, .amount = -100,
	    EXT_2_1_8, .upper = 0x0808, .rate_bps = 1000000 } },
	{ GOLDEN(tv46), WIRE_MODERN, { 1, 1796077097983313000 },
	  { .flags = 0x6c0100a0, .threads = 1, .port = 5437, .amount = -100,
	    EXT_2_2_N, .upper = 0x0808, .rate_bps = 1000000 } },
	{ GOLDEN(tv55), WIRE_MODERN, { 1, 1796077411313859000 },
	  { .flags = 0x680100d8, .threads = 1, .port = 5402, .amount = -100,
	    EXT_2_1_8, .upper = 0x0010, .rate_bps = 500000 } },
	{ GOLDEN(tv56), WIRE_MODERN, { 1, 1796077414585973000 },
	  { .flags = 0x680100e0, .threads = 1, .port = 5403, .amount = -100,
	    EXT_2_2_N, .upper = 0x0010, .rate_bps = 500000 } },
	{ GOLDEN(tv57), WIRE_MODERN, { 1, 1796077553980395000 },
	  { .flags = 0x680100d8, .threads = 1, .port = 5416, .amount = -100,
	    EXT_2_1_8, .upper = 0x0018, .rate_bps = 1048576 } },
	{ GOLDEN(tv58), WIRE_SMALL_TRIP, { 1, 1796077417925415000 }, { 0 } },
	{ GOLDEN(tv59), WIRE_SMALL_TRIP, { 1, 1796077421164940000 }, { 0 } },
	{ GOLDEN(tv60), WIRE_MODERN, { 2, 1796077430445845000 },
	  { .flags = 0x680100d8, .threads = 1, .port = 5408, .amount = -100,
	    EXT_2_1_8, .upper = 0x0001, .rate_bps = 1048576 } },
	{ GOLDEN(tv61), WIRE_MODERN, { 2, 1796077433672250000 },
	  { .flags = 0x680100e0, .threads = 1, .port = 5409, .amount = -100,
	    EXT_2_2_N, .upper = 0x0001, .rate_bps = 1048576 } },
	{ GOLDEN(tv62), WIRE_MODERN, { 1, 1796077697524102000 },
	  { .flags = 0x6c010118, .threads = 1, .port = 5406, .amount = -100,
	    EXT_2_1_8, .upper = 0x0441, .rate_bps = 1048576 } },
	{ GOLDEN(tv80), WIRE_MODERN, { 1, 1796077511392487000 },
	  { .flags = 0x68010098, .threads = 1, .port = 5400, .amount = -100,
	    EXT_2_1_8, .upper = 0x0008, .rate_bps = 200000 } },
	{ GOLDEN(tv32), WIRE_MODERN, { -4294967298, 1796078877890423000 },
	  { .flags = 0x48010098, .threads = 1 } },
};

static const struct report_row {
	const char *name;
	const uint8_t *bytes;
	size_t n;
	struct wire_report report;
} report_rows[] = {
	{ GOLDEN(tv20), { .legacy = true, .bytes = 127890,
	  .duration_ns = 1019452000, .total = 87, .jitter_ns = 21000 } },
	{ GOLDEN(tv23), { .bytes = 136710, .duration_ns = 1020658000,
	  .total = 93, .jitter_ns = 1000, .transit_min_ns = 2000,
	  .transit_max_ns = 41000, .transit_sum_ns = 568000,
	  .transit_mean_ns = 6000, .transit_count = 93, .pps = 91 } },
	{ GOLDEN(tv26), { .bytes = 135240, .duration_ns = 1020739000,
	  .total = 92, .jitter_ns = 2000, .transit_min_ns = 3000,
	  .transit_max_ns = 71000, .transit_sum_ns = 701000,
	  .transit_mean_ns = 7000, .transit_count = 92, .pps = 90 } },
	{ GOLDEN(tv27), { .enhanced = true, .bytes = 67620,
	  .duration_ns = 1035020000, .total = 46, .jitter_ns = 4000,
	  .transit_min_ns = 2000, .transit_max_ns = 83000,
	  .transit_sum_ns = 602000, .transit_mean_ns = 13000,
	  .transit_count = 46, .pps = 44 } },
	{ GOLDEN(tv28), { .enhanced = true, .bytes = 66150,
	  .duration_ns = 1035115000, .total = 45, .jitter_ns = 3000,
	  .transit_min_ns = 3000, .transit_max_ns = 68000,
	  .transit_sum_ns = 484000, .transit_mean_ns = 10000,
	  .transit_count = 46, .pps = 43 } },
	{ GOLDEN(tv29), { .legacy = true, .bytes = 7350,
	  .duration_ns = 101078000, .lost = 2, .out_of_order = 1, .total = 7,
	  .jitter_ns = 13000 } },
	{ GOLDEN(tv30), { .bytes = 8820, .duration_ns = 100872000, .lost = 2,
	  .out_of_order = 1, .total = 8, .jitter_ns = 14000,
	  .transit_min_ns = 57000, .transit_max_ns = 174000,
	  .transit_sum_ns = 543000, .transit_mean_ns = 90000,
	  .transit_count = 6, .pps = 79 } },
	{ GOLDEN(tv31), { .bytes = 8820, .duration_ns = 100996000, .lost = 2,
	  .out_of_order = 1, .total = 8, .jitter_ns = 7000,
	  .transit_min_ns = 74000, .transit_max_ns = 211000,
	  .transit_sum_ns = 539000, .transit_mean_ns = 107000,
	  .transit_count = 5, .pps = 79 } },
	{ GOLDEN(tv33), { .bytes = 7350, .duration_ns = 80626000,
	  .lost = 4294967293, .total = 4294967298, .jitter_ns = 20000,
	  .transit_min_ns = 58000, .transit_max_ns = 237000,
	  .transit_sum_ns = 495000, .transit_mean_ns = 99000,
	  .transit_count = 5, .pps = 1730643954 } },
};
/* clang-format on */

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void put_word(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* A copy of exactly n bytes, so that the sanitizer sees one byte too many. */
static uint8_t *exact_copy(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, p, n);
	return copy;
}

static void same_client(const struct wire_client *a,
			const struct wire_client *b)
{
	ck_assert_uint_eq(a->flags, b->flags);
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_uint_eq(a->port, b->port);
	ck_assert_int_eq(a->buflen, b->buflen);
	ck_assert_int_eq(a->winband, b->winband);
	ck_assert_int_eq(a->amount, b->amount);
	ck_assert_int_eq(a->has_ext, b->has_ext);
	ck_assert_uint_eq(a->upper, b->upper);
	ck_assert_uint_eq(a->lower, b->lower);
	ck_assert_uint_eq(a->version_u, b->version_u);
	ck_assert_uint_eq(a->version_l, b->version_l);
	ck_assert_uint_eq(a->tos, b->tos);
	ck_assert_uint_eq(a->rate_bps, b->rate_bps);
}

static void same_report(const struct wire_report *a,
			const struct wire_report *b)
{
	ck_assert_int_eq(a->legacy, b->legacy);
	ck_assert_int_eq(a->enhanced, b->enhanced);
	ck_assert_uint_eq(a->bytes, b->bytes);
	ck_assert_int_eq(a->duration_ns, b->duration_ns);
	ck_assert_uint_eq(a->lost, b->lost);
	ck_assert_uint_eq(a->out_of_order, b->out_of_order);
	ck_assert_uint_eq(a->total, b->total);
	ck_assert_int_eq(a->jitter_ns, b->jitter_ns);
	ck_assert_int_eq(a->transit_min_ns, b->transit_min_ns);
	ck_assert_int_eq(a->transit_max_ns, b->transit_max_ns);
	ck_assert_int_eq(a->transit_sum_ns, b->transit_sum_ns);
	ck_assert_int_eq(a->transit_mean_ns, b->transit_mean_ns);
	ck_assert_uint_eq(a->transit_count, b->transit_count);
	ck_assert_uint_eq(a->pps, b->pps);
}

static const struct {
	uint32_t threads;
	uint32_t streams;
} parallel[] = {
	{ 0, 1 },
	{ 1, 1 },
	{ 128, 128 },
	{ 65535, 65535 },
	{ 65536, 1 },
	{ 0x7fffffff, 1 },
	{ 0x80200002, 2 }, /* 2.2 with a transfer's ID */
	{ 0xfff00080, 128 },
	{ 0xffffffff, 1 },
};

START_TEST(tells_the_number_of_streams)
{
	struct wire_client c = { .threads = parallel[_i].threads };

	ck_assert_uint_eq(wire_streams(&c), parallel[_i].streams);
}
END_TEST

START_TEST(decodes_a_tcp_client_header)
{
	const struct tcp_row *row = &tcp_rows[_i];
	struct wire_client client;

	ck_assert_int_eq(wire_client_decode(row->bytes, row->n, &client), 0);
	same_client(&client, &row->client);
}
END_TEST

START_TEST(knows_the_kind_and_length_of_a_tcp_header)
{
	const struct tcp_row *row = &tcp_rows[_i];
	struct wire_tcp_first first = wire_tcp_first(row->bytes, row->n, false);

	ck_assert_int_eq(first.kind, row->kind);
	ck_assert_uint_eq(first.len, row->len);
	ck_assert_ptr_null(first.what);
	/* one byte less, and the stream's end: plain data */
	first = wire_tcp_first(row->bytes, row->len - 1, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_eq(first.len, row->len);
	first = wire_tcp_first(row->bytes, row->len - 1, true);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
}
END_TEST

START_TEST(encodes_a_tcp_client_header)
{
	const struct tcp_row *row = &tcp_rows[_i];
	const uint8_t zero[4] = { 0 };
	uint8_t *out = malloc(WIRE_TCP_BYTES);
	size_t n = wire_client_encode(out, &row->client);

	if (!row->client.has_ext) {
		ck_assert_uint_eq(n, WIRE_BASE_BYTES);
		ck_assert_mem_eq(out, row->bytes, n);
	} else {
		ck_assert_uint_eq(n, WIRE_TCP_BYTES);
		ck_assert_mem_eq(out, row->bytes, PREFETCH_AT);
		ck_assert_mem_eq(out + PREFETCH_AT, zero, sizeof(zero));
	}
	free(out);
}
END_TEST

START_TEST(decodes_a_datagram)
{
	const struct udp_row *row = &udp_rows[_i];
	enum wire_layout layout;
	struct wire_udp udp;

	ck_assert_int_eq(wire_udp_layout(row->bytes, row->n, &layout), 0);
	ck_assert_int_eq(layout, row->layout);
	ck_assert_int_eq(wire_udp_decode(row->bytes, row->n, layout, &udp), 0);
	ck_assert_int_eq(udp.seq, row->udp.seq);
	ck_assert_int_eq(udp.sent_ns, row->udp.sent_ns);
}
END_TEST

static size_t header_bytes(enum wire_layout layout)
{
	return layout == WIRE_LEGACY || layout == WIRE_LEGACY_C
		       ? WIRE_UDP_LEGACY_BYTES
		       : WIRE_UDP_BYTES;
}

static bool has_client_header(const struct udp_row *row)
{
	return row->layout == WIRE_LEGACY || row->layout == WIRE_MODERN;
}

START_TEST(decodes_the_client_header_of_a_datagram)
{
	const struct udp_row *row = &udp_rows[_i];
	size_t at = header_bytes(row->layout);
	struct wire_client client;

	if (!has_client_header(row))
		return;
	ck_assert_int_eq(
		wire_client_decode(row->bytes + at, row->n - at, &client), 0);
	same_client(&client, &row->client);
}
END_TEST

START_TEST(encodes_a_datagram)
{
	const struct udp_row *row = &udp_rows[_i];
	uint8_t *out = malloc(WIRE_UDP_CLIENT_BYTES);
	size_t n = header_bytes(row->layout);

	wire_udp_encode(out, row->layout, &row->udp);
	if (has_client_header(row))
		n += wire_client_encode(out + n, &row->client);
	if (n > row->n) /* TV32 is cut */
		n = row->n;
	ck_assert_mem_eq(out, row->bytes, n);
	free(out);
}
END_TEST

static const struct {
	int64_t seq;
	uint32_t low;
	uint32_t high;
} edge_ids[] = {
	{ 0, 0, 0 },
	{ -1, 0xffffffff, 0xffffffff },
	{ INT32_MAX, 0x7fffffff, 0 },
	{ INT64_C(1) << 31, 0x80000000, 0 },
	{ -(INT64_C(1) << 31), 0x80000000, 0xffffffff },
	{ INT64_C(1) << 32, 0, 1 },
	{ -(INT64_C(1) << 32) - 2, 0xfffffffe, 0xfffffffe },
	{ INT64_MAX, 0xffffffff, 0x7fffffff },
	{ INT64_MIN, 0, 0x80000000 },
};

START_TEST(keeps_64_bit_numbers)
{
	struct wire_udp in = { .seq = edge_ids[_i].seq }, out;
	uint8_t buf[WIRE_UDP_BYTES];

	wire_udp_encode(buf, WIRE_MODERN, &in);
	ck_assert_uint_eq(word(buf), edge_ids[_i].low);
	ck_assert_uint_eq(word(buf + 12), edge_ids[_i].high);
	ck_assert_int_eq(wire_udp_decode(buf, sizeof(buf), WIRE_MODERN, &out),
			 0);
	ck_assert_int_eq(out.seq, in.seq);
	ck_assert_int_eq(wire_udp_decode(buf, sizeof(buf), WIRE_MODERN_C, &out),
			 0);
	ck_assert_int_eq(out.seq, in.seq);
}
END_TEST

START_TEST(short_numbers_are_signed_32_bit)
{
	struct wire_udp in = { .seq = edge_ids[_i].seq }, out;
	uint8_t buf[WIRE_UDP_BYTES];
	static const enum wire_layout layouts[] = { WIRE_LEGACY, WIRE_LEGACY_C,
						    WIRE_SMALL_TRIP };

	for (size_t i = 0; i < 3; i++) {
		memset(buf, 0, sizeof(buf));
		wire_udp_encode(buf, layouts[i], &in);
		ck_assert_int_eq(
			wire_udp_decode(buf, sizeof(buf), layouts[i], &out), 0);
		ck_assert_int_eq(out.seq, (int32_t)edge_ids[_i].low);
	}
}
END_TEST

START_TEST(legacy_header_is_12_bytes_long)
{
	struct wire_udp in = { .seq = 7, .sent_ns = INT64_C(1999999999) }, out;
	uint8_t *buf = malloc(WIRE_UDP_LEGACY_BYTES);

	wire_udp_encode(buf, WIRE_LEGACY, &in);
	ck_assert_int_eq(wire_udp_decode(buf, 12, WIRE_LEGACY, &out), 0);
	ck_assert_int_eq(out.seq, 7);
	ck_assert_int_eq(out.sent_ns, 1999999000);
	ck_assert_int_eq(wire_udp_decode(buf, 11, WIRE_LEGACY, &out), -EINVAL);
	free(buf);
}
END_TEST

START_TEST(refuses_a_short_modern_datagram)
{
	struct wire_udp out;

	for (int layout = WIRE_MODERN; layout <= WIRE_SMALL_TRIP; layout++)
		ck_assert_int_eq(wire_udp_decode(tv21, 15,
						 (enum wire_layout)layout,
						 &out),
				 -EINVAL);
}
END_TEST

START_TEST(any_stamp_is_arithmetic)
{
	uint8_t buf[WIRE_UDP_BYTES] = { 0 };
	struct wire_udp out;

	put_word(buf + 4, 10);
	put_word(buf + 8, 1000001);
	ck_assert_int_eq(wire_udp_decode(buf, 16, WIRE_MODERN, &out), 0);
	ck_assert_int_eq(out.sent_ns, INT64_C(11000001000));
	memset(buf + 4, 0xff, 8);
	ck_assert_int_eq(wire_udp_decode(buf, 16, WIRE_MODERN, &out), 0);
	ck_assert_int_eq(out.sent_ns, INT64_C(4294967295) * 1000000000 +
					      INT64_C(4294967295) * 1000);
}
END_TEST

START_TEST(layout_needs_12_bytes_and_reads_no_more_than_there_are)
{
	enum wire_layout layout;

	ck_assert_int_eq(wire_udp_layout(tv21, 11, &layout), -EINVAL);
	/* cut before the flags word nothing speaks against legacy */
	for (size_t n = 12; n < 20; n++) {
		ck_assert_int_eq(wire_udp_layout(tv21, n, &layout), 0);
		ck_assert_int_eq(layout, WIRE_LEGACY);
	}
	ck_assert_int_eq(wire_udp_layout(tv21, 20, &layout), 0);
	ck_assert_int_eq(layout, WIRE_MODERN);
}
END_TEST

START_TEST(client_fields_beyond_the_end_are_0)
{
	struct wire_client client;

	ck_assert_int_eq(wire_client_decode(tv47, 3, &client), -EINVAL);
	ck_assert_int_eq(wire_client_decode(tv47, 4, &client), 0);
	ck_assert_uint_eq(client.flags, 0x400100a0);
	ck_assert_uint_eq(client.threads, 0);
	ck_assert_int_eq(wire_client_decode(tv47, 23, &client), 0);
	ck_assert_int_eq(client.buflen, 8192);
	ck_assert_int_eq(client.amount, 0);
	ck_assert_int_eq(wire_client_decode(tv47, 59, &client), 0);
	ck_assert_int_eq(client.amount, -100);
	ck_assert(!client.has_ext);
	ck_assert_uint_eq(client.upper, 0);
	ck_assert_uint_eq(client.rate_bps, 0);
}
END_TEST

START_TEST(no_extension_without_its_flag)
{
	uint8_t buf[sizeof(tv75)];
	struct wire_client client;

	memcpy(buf, tv75, sizeof(buf));
	buf[0] = 0;
	ck_assert_int_eq(wire_client_decode(buf, sizeof(buf), &client), 0);
	ck_assert(!client.has_ext);
	ck_assert_uint_eq(client.version_u, 0);
	ck_assert_uint_eq(client.rate_bps, 0);
}
END_TEST

static const struct {
	uint64_t asked;
	uint64_t read;
} rates[] = {
	{ 0, 0 },
	{ UINT32_MAX, UINT32_MAX },
	{ UINT64_C(1) << 32, UINT64_C(1) << 32 },
	{ 400000000000, 400000000000 },
	{ (UINT64_C(1) << 56) - 1, (UINT64_C(1) << 56) - 1 },
	{ UINT64_MAX, (UINT64_C(1) << 56) - 1 },
};

START_TEST(rates_have_56_bits)
{
	struct wire_client in = { .flags = wire_flags(false, false),
				  .has_ext = true,
				  .rate_bps = rates[_i].asked };
	struct wire_client out;
	uint8_t buf[WIRE_TCP_BYTES];
	size_t n = wire_client_encode(buf, &in);

	ck_assert_int_eq(wire_client_decode(buf, n, &out), 0);
	ck_assert_uint_eq(out.rate_bps, rates[_i].read);
}
END_TEST

/* But for the version, whose mark is ours, and the trip-times bit, which the
 * caller sets, it is byte for byte what 2.1.8 sends (TV55, TV47). */
START_TEST(the_start_time_stands_where_iperf_2_has_it)
{
	struct wire_client in = {
		.flags = wire_flags(true, true),
		.threads = 1,
		.port = 5402,
		.amount = -100,
		.has_ext = true,
		.upper = WIRE_UPPER_TRIP_TIMES,
		.version_u = 0x00020001,
		.version_l = 0x00080003,
		.rate_bps = 500000,
		.start_ns = 1796077411313859999,
	};
	uint8_t buf[WIRE_UDP_START_BYTES];
	size_t n;

	memset(buf, 0xff, sizeof(buf));
	n = wire_client_encode(buf, &in);
	ck_assert_uint_eq(n, WIRE_UDP_START_BYTES - WIRE_UDP_BYTES);
	ck_assert_mem_eq(buf, tv55 + WIRE_UDP_BYTES, n);
	in.flags = wire_flags(false, true);
	in.port = 5400;
	in.buflen = 8192;
	in.rate_bps = 2000000;
	in.start_ns = 1796077405305245000;
	n = wire_client_encode(buf, &in);
	ck_assert_uint_eq(n, WIRE_TCP_START_BYTES);
	ck_assert_mem_eq(buf, tv47, n);
}
END_TEST

/* What the header asks the server to send. */
static const struct {
	const uint8_t *bytes;
	size_t n;
	size_t at; /* where the header begins */
	struct wire_wish wish;
} wishes[] = {
#define WISH(tv, at, ...)                                                      \
	{                                                                      \
		tv, sizeof(tv), at,                                            \
		{                                                              \
			__VA_ARGS__                                            \
		}                                                              \
	}
	WISH(tv47, 0, .reverse = false),
	WISH(tv41, WIRE_UDP_BYTES, .reverse = true),
	WISH(tv42, WIRE_UDP_BYTES, .reverse = true), /* V1 as well */
	WISH(tv45, WIRE_UDP_BYTES, .full = true),
	WISH(tv55, WIRE_UDP_BYTES, .reverse = false),
};

START_TEST(the_wish_of_a_client_is_read)
{
	struct wire_client c;
	struct wire_wish w;

	ck_assert_int_eq(wire_client_decode(wishes[_i].bytes + wishes[_i].at,
					    wishes[_i].n - wishes[_i].at, &c),
			 0);
	w = wire_wish(&c);
	ck_assert_int_eq(w.reverse, wishes[_i].wish.reverse);
	ck_assert_int_eq(w.full, wishes[_i].wish.full);
	ck_assert_int_eq(w.back, wishes[_i].wish.back);
	ck_assert_int_eq(w.now, wishes[_i].wish.now);
}
END_TEST

/* -d, -r, and what only looks like them. */
START_TEST(old_wishes_need_no_extension)
{
	struct wire_client c = { .flags = WIRE_V1 | WIRE_NOW };

	ck_assert(wire_wish(&c).back && wire_wish(&c).now);
	c.flags = WIRE_V1;
	ck_assert(wire_wish(&c).back && !wire_wish(&c).now);
	c.flags = WIRE_NOW;
	ck_assert(!wire_wish(&c).back && !wire_wish(&c).now);
	c.flags = WIRE_V1 | WIRE_SEQ64;
	ck_assert(!wire_wish(&c).back);
	c = (struct wire_client){ .flags = 0x6c010098 | 0x00800000,
				  .has_ext = true,
				  .upper = WIRE_UPPER_REVERSE };
	ck_assert(!wire_wish(&c).reverse);
	c.flags = 0x6c000000; /* every release tells its length */
	ck_assert(!wire_wish(&c).reverse);
	c.has_ext = false;
	/* without the extension there are no upper flags */
	c.flags = WIRE_V2;
	c.upper = WIRE_UPPER_REVERSE;
	ck_assert(!wire_wish(&c).reverse);
}
END_TEST

START_TEST(a_cookie_comes_back)
{
	uint8_t p[WIRE_UDP_COOKIE_BYTES + 8];
	const uint8_t wanted[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	memset(p, 0, sizeof(p));
	ck_assert_uint_eq(wire_cookie_decode(p, sizeof(p)), 0);
	wire_cookie_encode(p, 0x0102030405060708);
	ck_assert_mem_eq(p + 128, wanted, 8);
	ck_assert_uint_eq(p[136], 0);
	ck_assert_uint_eq(wire_cookie_decode(p, WIRE_UDP_COOKIE_BYTES),
			  0x0102030405060708);
	ck_assert_uint_eq(wire_cookie_decode(p, WIRE_UDP_COOKIE_BYTES - 1), 0);
}
END_TEST

START_TEST(flags_are_those_of_the_original)
{
	ck_assert_uint_eq(wire_flags(false, true), 0x400100a0);
	ck_assert_uint_eq(wire_flags(true, true), 0x680100d8);
	ck_assert_uint_eq(wire_flags(false, false), 0x40010078);
	ck_assert_uint_eq(wire_flags(true, false), 0x48010098);
	/* TV07, TV12, TV16, TV40 */
	ck_assert_uint_eq(wire_flags(false, false) | WIRE_V1 | WIRE_NOW,
			  0xc0010079);
	ck_assert_uint_eq(wire_flags(false, false) | WIRE_V2, 0x44010078);
	ck_assert_uint_eq(wire_flags(false, false) | WIRE_V2 | WIRE_ACKREQ,
			  0x46010078);
	ck_assert_uint_eq(wire_flags(true, false) | WIRE_UDPT | WIRE_V2,
			  0x6c010098);
}
END_TEST

/* What opens a stream: n bytes are what it takes to tell. */
static const struct opening {
	const char *bytes;
	size_t n;
	enum wire_tcp_kind kind;
	size_t len;
	const char *what;
} openings[] = {
#define OPENING(text) text, sizeof(text) - 1
	{ OPENING("0123"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("Hell"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("hello "), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\0\0\0\0\0\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\0\0\0\0\1\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\0\0\0\0\0\0\1\0\0\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\0\0\0\0\0\0\1\0\1\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\0\0\0\0\0\0\1\0\0\023\211\377\377\377\377"), WIRE_TCP_RAW,
	  0, NULL },
	{ OPENING("\0\0\0\0\0\0\0\1\0\0\023\211\0\0\0\0\377\0\0\0"),
	  WIRE_TCP_RAW, 0, NULL },
	/* -n 2G of 2.0.2 sends an amount of 0 */
	{ OPENING("\0\0\0\0\0\0\0\1\0\0\023\211\0\0\0\0\0\0\0\0\0\0\0\0"),
	  WIRE_TCP_LEGACY, 24, NULL },
	{ OPENING("\x80\0\0\0\0\0\0\0"), WIRE_TCP_RAW, 0, NULL },
	/* 2.0.13: the flags word alone, then filler; or the base header */
	{ OPENING("\x08\0\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\x88\0\0\1\0\0\0\1\0\0\023\211\0\0\0\0\0\0\0\0\0\0\1\0"),
	  WIRE_TCP_CLIENT, 24, NULL },
	/* an acknowledgement, TV04 */
	{ OPENING("\0\0\0\2"), WIRE_TCP_RAW, 0, NULL },
	/* bits that no release sets, as random data does */
	{ OPENING("\xff\xff\xff\xff"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\x41\1\0\x78"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\x40\0\0\x78"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\x40\1\2\x78"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\x80\0\0\0\0\0\x33"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\x80\0\0\x80\0\0\0"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("\0\x80\0\0\0\0\0\x64"), WIRE_TCP_BOUNCE, 100, NULL },
	{ OPENING("cy47vxffl37lllctcvlrwgpqr6ssieemrrks\0"), WIRE_TCP_IPERF3,
	  37, NULL },
	{ OPENING("cy47vxffl37lllctcvlrwgpqr6ssieemrrks\n"), WIRE_TCP_RAW, 0,
	  NULL },
	{ OPENING("4567890123456789012345678901234567890"), WIRE_TCP_RAW, 0,
	  NULL },
	{ OPENING("GET "), WIRE_TCP_OTHER, 4, "HTTP" },
	{ OPENING("POST "), WIRE_TCP_OTHER, 5, "HTTP" },
	{ OPENING("POSTS"), WIRE_TCP_RAW, 0, NULL },
	{ OPENING("OPTIONS "), WIRE_TCP_OTHER, 8, "HTTP" },
	{ OPENING("CONNECT "), WIRE_TCP_OTHER, 8, "HTTP" },
	{ OPENING("PRI * HTTP/2"), WIRE_TCP_OTHER, 12, "HTTP" },
	{ OPENING("\x16\3\1\2"), WIRE_TCP_OTHER, 3, "TLS" },
	{ OPENING("\x16\3\3\0"), WIRE_TCP_OTHER, 3, "TLS" },
	{ OPENING("SSH-"), WIRE_TCP_OTHER, 4, "SSH" },
	{ OPENING("EHLO "), WIRE_TCP_OTHER, 5, "SMTP" },
	{ OPENING("\023BitTorrent"), WIRE_TCP_OTHER, 11, "BitTorrent" },
#undef OPENING
};

static void same_opening(const struct wire_tcp_first *first,
			 const struct opening *row)
{
	ck_assert_int_eq(first->kind, row->kind);
	ck_assert_uint_eq(first->len, row->len);
	if (row->what)
		ck_assert_str_eq(first->what, row->what);
	else
		ck_assert_ptr_null(first->what);
}

START_TEST(tells_what_opens_a_stream)
{
	const struct opening *row = &openings[_i];
	uint8_t longer[64] = { 0 };
	struct wire_tcp_first first;

	first = wire_tcp_first((const uint8_t *)row->bytes, row->n, false);
	same_opening(&first, row);
	/* what follows does not change it */
	memcpy(longer, row->bytes, row->n);
	first = wire_tcp_first(longer, sizeof(longer), true);
	same_opening(&first, row);
	/* and it cannot be told sooner */
	first = wire_tcp_first((const uint8_t *)row->bytes, row->n - 1, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_ge(first.len, row->n);
}
END_TEST

START_TEST(tells_the_streams_of_the_original)
{
	struct wire_tcp_first first;

	first = wire_tcp_first(tv11, 4, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
	first = wire_tcp_first(tv50, 4, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
	first = wire_tcp_first(tv64, 4, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
	first = wire_tcp_first(tv67, sizeof(tv67), false);
	ck_assert_int_eq(first.kind, WIRE_TCP_BOUNCE);
	ck_assert_uint_eq(first.len, 100);
	first = wire_tcp_first(tv69, sizeof(tv69), false);
	ck_assert_int_eq(first.kind, WIRE_TCP_BOUNCE);
	ck_assert_uint_eq(first.len, 120);
}
END_TEST

static const struct {
	uint32_t flags;
	size_t len;
} stated[] = {
	{ 0x40000000, 60 }, /* 2.0.13 and its like: no length stated */
	{ 0xc0000000, 60 },  { 0x04000000, 60 }, { 0x44000000, 60 },
	{ 0x88000000, 24 },  { 0x40010000, 24 }, /* a length of 0 */
	{ 0x40010004, 24 },  { 0x40010030, 24 }, { 0x40010032, 25 },
	{ 0x400101fe, 255 },
};

START_TEST(header_length_is_as_stated_or_that_of_the_blocks)
{
	uint8_t buf[256] = { 0 };
	struct wire_tcp_first first;

	put_word(buf, stated[_i].flags);
	first = wire_tcp_first(buf, 4, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_eq(first.len, stated[_i].len);
	first = wire_tcp_first(buf, sizeof(buf), false);
	ck_assert_int_eq(first.kind, WIRE_TCP_CLIENT);
	ck_assert_uint_eq(first.len, stated[_i].len);
}
END_TEST

START_TEST(a_permit_key_belongs_to_the_header)
{
	uint8_t buf[256] = { 0 };
	struct wire_tcp_first first;

	/* TV72: first the header with the key's length, then the key */
	first = wire_tcp_first(tv72, 4, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_eq(first.len, 62);
	first = wire_tcp_first(tv72, 62, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_eq(first.len, 72);
	/* no length stated: the key's length follows the blocks */
	put_word(buf, WIRE_EXT | WIRE_KEY);
	buf[61] = 128;
	first = wire_tcp_first(buf, sizeof(buf), false);
	ck_assert_int_eq(first.kind, WIRE_TCP_CLIENT);
	ck_assert_uint_eq(first.len, 62 + 128);
	/* longer than any client's: not one of them */
	buf[61] = 129;
	first = wire_tcp_first(buf, sizeof(buf), false);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
}
END_TEST

START_TEST(an_empty_stream_is_plain_data)
{
	const uint8_t none = 0;
	struct wire_tcp_first first = wire_tcp_first(&none, 0, false);

	ck_assert_int_eq(first.kind, WIRE_TCP_MORE);
	ck_assert_uint_eq(first.len, 4);
	first = wire_tcp_first(&none, 0, true);
	ck_assert_int_eq(first.kind, WIRE_TCP_RAW);
}
END_TEST

/* A peer sends what it sends: the verdict must not depend on how it arrives,
 * and each call for more must ask for more than there is. */
START_TEST(the_verdict_does_not_depend_on_the_pieces)
{
	const struct golden *golden = &golden_all[_i];
	struct wire_tcp_first all =
		wire_tcp_first(golden->bytes, golden->n, false);
	bool decided = false;

	for (size_t n = 0; n <= golden->n; n++) {
		struct wire_tcp_first first =
			wire_tcp_first(golden->bytes, n, false);

		if (first.kind == WIRE_TCP_MORE) {
			ck_assert(!decided);
			ck_assert_uint_gt(first.len, n);
			continue;
		}
		decided = true;
		ck_assert_int_eq(first.kind, all.kind);
		ck_assert_uint_eq(first.len, all.len);
	}
}
END_TEST

START_TEST(decodes_a_report)
{
	const struct report_row *row = &report_rows[_i];
	struct wire_report report;

	ck_assert_int_eq(wire_report_decode(row->bytes, row->n, &report), 0);
	same_report(&report, &row->report);
}
END_TEST

START_TEST(encodes_a_report)
{
	const struct report_row *row = &report_rows[_i];
	uint8_t *out = malloc(WIRE_REPORT_BYTES);
	size_t n = wire_report_encode(out, &row->report);
	const uint8_t zero[16] = { 0 };

	if (row->report.legacy) {
		/* the original echoes the marker in the first 12 bytes */
		ck_assert_uint_eq(n, 52);
		ck_assert_mem_eq(out, zero, 12);
		ck_assert_mem_eq(out + 12, row->bytes + 12, 52 - 12);
	} else {
		/* 88 to 103, deviations of the transit: we send 0 */
		ck_assert_uint_eq(n, 128);
		ck_assert_mem_eq(out, row->bytes, 88);
		ck_assert_mem_eq(out + 88, zero, 16);
		ck_assert_mem_eq(out + 104, row->bytes + 104, 128 - 104);
	}
	free(out);
}
END_TEST

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t n;
} no_reports[] = {
	{ GOLDEN(tv02) }, { GOLDEN(tv04) }, { GOLDEN(tv11) },
	{ GOLDEN(tv19) }, { GOLDEN(tv22) }, /* 2.1.8 echoes the marker */
	{ GOLDEN(tv25) }, { GOLDEN(tv35) }, { GOLDEN(tv44) },
	{ GOLDEN(tv51) }, { GOLDEN(tv56) },
};

START_TEST(other_datagrams_are_no_report)
{
	struct wire_report report;

	ck_assert_int_eq(wire_report_decode(no_reports[_i].bytes,
					    no_reports[_i].n, &report),
			 -EINVAL);
}
END_TEST

static const struct {
	uint32_t flags;
	int rc;
} report_flags[] = {
	{ 0x80000000, 0 },       { 0x88000000, 0 },
	{ 0xc0000000, 0 },       { 0xc8000000, 0 },
	{ 0x00000000, -EINVAL }, { 0x08000000, -EINVAL },
	{ 0x80000001, -EINVAL }, { 0xc8010099, -EINVAL },
	{ 0xa0000000, -EINVAL }, { 0x40000000, -EINVAL },
};

START_TEST(only_exact_flags_make_a_report)
{
	uint8_t buf[sizeof(tv23)];
	struct wire_report report;

	memcpy(buf, tv23, sizeof(buf));
	put_word(buf + 16, report_flags[_i].flags);
	ck_assert_int_eq(wire_report_decode(buf, sizeof(buf), &report),
			 report_flags[_i].rc);
}
END_TEST

START_TEST(a_short_report_gives_what_it_has)
{
	struct wire_report report;

	ck_assert_int_eq(wire_report_decode(tv33, 55, &report), -EINVAL);
	ck_assert_int_eq(wire_report_decode(tv33, 56, &report), 0);
	ck_assert_int_eq(report.jitter_ns, 20000);
	ck_assert_uint_eq(report.total, 2);
	ck_assert_int_eq(wire_report_decode(tv33, 115, &report), 0);
	ck_assert_uint_eq(report.transit_count, 0);
	ck_assert_int_eq(wire_report_decode(tv33, 116, &report), 0);
	ck_assert_uint_eq(report.transit_count, 5);
	ck_assert_int_eq(report.transit_max_ns, 237000);
	/* the low word alone is negative */
	ck_assert_int_eq(wire_report_decode(tv33, 127, &report), 0);
	ck_assert_uint_eq(report.lost, 0);
	ck_assert_uint_eq(report.total, 2);
	ck_assert_int_eq(wire_report_decode(tv20, 51, &report), -EINVAL);
	ck_assert_int_eq(wire_report_decode(tv20, 52, &report), 0);
	ck_assert_uint_eq(report.total, 87);
}
END_TEST

START_TEST(high_words_count_only_with_their_flag)
{
	uint8_t buf[sizeof(tv33)];
	struct wire_report report;

	memcpy(buf, tv33, sizeof(buf));
	put_word(buf + 16, 0x80000000);
	ck_assert_int_eq(wire_report_decode(buf, sizeof(buf), &report), 0);
	ck_assert_uint_eq(report.lost, 0);
	ck_assert_uint_eq(report.total, 2);
}
END_TEST

START_TEST(no_counter_is_negative)
{
	uint8_t buf[sizeof(tv33)];
	struct wire_report report;

	memcpy(buf, tv20, 52);
	put_word(buf + 32, 0xffffffff); /* lost */
	put_word(buf + 36, 0x80000000); /* out of order */
	put_word(buf + 40, 0x80000000); /* total: 2^31 */
	ck_assert_int_eq(wire_report_decode(buf, 52, &report), 0);
	ck_assert_uint_eq(report.lost, 0);
	ck_assert_uint_eq(report.out_of_order, 0);
	ck_assert_uint_eq(report.total, UINT32_C(1) << 31);
	memcpy(buf, tv33, sizeof(buf));
	memset(buf + 116, 0xff, 12);
	ck_assert_int_eq(wire_report_decode(buf, sizeof(buf), &report), 0);
	ck_assert_uint_eq(report.lost, 0);
	ck_assert_uint_eq(report.out_of_order, 0);
	ck_assert_uint_eq(report.total, 0);
}
END_TEST

static const struct {
	int64_t ns;
	int32_t sec;
	int32_t usec;
	int64_t read_ns;
} transits[] = {
	{ 0, 0, 0, 0 },
	{ 499, 0, 0, 0 },
	{ 500, 0, 1, 1000 },
	{ -499, 0, 0, 0 },
	{ -500, 0, -1, -1000 },
	{ 999999500, 1, 0, 1000000000 },
	{ INT64_C(-99999917000), -99, -999917, INT64_C(-99999917000) },
	{ INT64_MAX, INT32_MAX, 999999, INT64_C(2147483647999999000) },
	{ INT64_MIN, -INT32_MAX, -999999, -INT64_C(2147483647999999000) },
};

START_TEST(transits_have_one_sign_in_both_halves)
{
	struct wire_report in = { .transit_min_ns = transits[_i].ns,
				  .transit_sum_ns = transits[_i].ns };
	struct wire_report out;
	uint8_t buf[WIRE_REPORT_BYTES];

	wire_report_encode(buf, &in);
	ck_assert_int_eq((int32_t)word(buf + 56), transits[_i].sec);
	ck_assert_int_eq((int32_t)word(buf + 60), transits[_i].usec);
	ck_assert_int_eq(wire_report_decode(buf, sizeof(buf), &out), 0);
	ck_assert_int_eq(out.transit_min_ns, transits[_i].read_ns);
	ck_assert_int_eq(out.transit_sum_ns, transits[_i].read_ns);
	ck_assert_int_eq(out.transit_max_ns, 0);
}
END_TEST

static const struct {
	int64_t ns;
	uint32_t sec;
	uint32_t usec;
} durations[] = {
	{ 0, 0, 0 },
	{ -1000000, 0, 0 },
	{ 1500, 0, 2 },
	{ INT64_C(9999999499), 9, 999999 },
	{ INT64_C(9999999500), 10, 0 },
	{ INT64_C(3000000000000000000), 3000000000, 0 },
	{ INT64_MAX, UINT32_MAX, 999999 },
};

START_TEST(durations_are_rounded_to_microseconds)
{
	struct wire_report in = { .duration_ns = durations[_i].ns,
				  .jitter_ns = durations[_i].ns };
	uint8_t buf[WIRE_REPORT_BYTES];

	wire_report_encode(buf, &in);
	ck_assert_uint_eq(word(buf + 28), durations[_i].sec);
	ck_assert_uint_eq(word(buf + 32), durations[_i].usec);
	ck_assert_uint_eq(word(buf + 48), durations[_i].sec);
	ck_assert_uint_eq(word(buf + 52), durations[_i].usec);
}
END_TEST

START_TEST(wide_counters_survive_and_narrow_ones_saturate)
{
	struct wire_report in = {
		.bytes = UINT64_C(6) << 40,
		.lost = (UINT64_C(1) << 40) + 5,
		.out_of_order = UINT64_C(1) << 33,
		.total = UINT64_C(1) << 41,
		.transit_count = UINT64_C(1) << 41,
		.pps = UINT64_C(1) << 32,
	};
	uint8_t buf[WIRE_REPORT_BYTES];
	struct wire_report out;

	ck_assert_uint_eq(wire_report_encode(buf, &in), 128);
	ck_assert_int_eq(wire_report_decode(buf, 128, &out), 0);
	in.transit_count = UINT32_MAX;
	in.pps = UINT32_MAX;
	same_report(&out, &in);

	in.legacy = true;
	ck_assert_uint_eq(wire_report_encode(buf, &in), 52);
	ck_assert_int_eq(wire_report_decode(buf, 52, &out), 0);
	ck_assert_uint_eq(out.bytes, in.bytes);
	ck_assert_uint_eq(out.lost, INT32_MAX);
	ck_assert_uint_eq(out.out_of_order, INT32_MAX);
	ck_assert_uint_eq(out.total, INT32_MAX);
}
END_TEST

START_TEST(acknowledges_like_the_original)
{
	uint8_t *out = malloc(WIRE_ACK_BYTES);

	ck_assert_uint_eq(wire_ack_encode(out), sizeof(tv04));
	ck_assert_mem_eq(out, tv04, 12);
	ck_assert_uint_eq(word(out + 12), 0x00020002);
	ck_assert_uint_eq(word(out + 16), 0x00641fe3);
	ck_assert_mem_eq(out + 20, tv04 + 20, sizeof(tv04) - 20);
	free(out);
}
END_TEST

/* The lengths of those with times (TV51) and without, and nothing else. */
START_TEST(reads_an_acknowledgement)
{
	uint8_t ack[WIRE_ACK_BYTES];
	uint32_t u = 0, l = 0;

	memcpy(ack, tv04, sizeof(ack));
	ck_assert_uint_eq(wire_ack_decode(ack, sizeof(ack), &u, &l), 28);
	ck_assert_uint_eq(u, 0x00020001);
	ck_assert_uint_eq(l, 0x00080003);
	ck_assert_uint_eq(wire_ack_decode(ack, sizeof(ack) - 1, &u, &l), 0);
	ack[7] = 52;
	ck_assert_uint_eq(wire_ack_decode(ack, sizeof(ack), &u, &l), 52);
	ack[7] = 27;
	ck_assert_uint_eq(wire_ack_decode(ack, sizeof(ack), &u, &l), 0);
	ack[7] = 28;
	ack[3] = 3;
	ck_assert_uint_eq(wire_ack_decode(ack, sizeof(ack), &u, &l), 0);
}
END_TEST

START_TEST(filler_is_digits)
{
	uint8_t *buf = malloc(23);

	wire_fill(buf, 23);
	ck_assert_mem_eq(buf, "01234567890123456789012", 23);
	ck_assert_mem_eq(buf, tv11, 23);
	wire_fill(buf, 0);
	free(buf);
}
END_TEST

START_TEST(knows_its_own_kind)
{
	uint32_t u, l;

	wire_version(&u, &l);
	ck_assert_uint_eq(u, 0x00020002);
	ck_assert_uint_eq(l, 0x00641fe3);
	ck_assert(wire_is_ours(u, l));
	ck_assert(wire_is_ours(0x00020003, 0x00071fe0)); /* a later one */
	ck_assert(!wire_is_ours(0x00020001, 0x00080003));
	ck_assert(!wire_is_ours(0x00020002, 0x00020005));
	ck_assert(!wire_is_ours(0x32333435, 0x36373839));
	ck_assert(!wire_is_ours(0, 0));
}
END_TEST

static const struct {
	uint32_t u;
	uint32_t l;
	const char *text;
} versions[] = {
	{ 0, 0, "" },
	{ 0x00020001, 0x00080003, "2.1.8" },
	{ 0x00020002, 0x00020005, "2.2.2" },
	{ 0x00020002, 0x00641fe3, "2.2.100" },
	{ 0xffffffff, 0xffffffff, "65535.65535.65535" },
};

START_TEST(versions_read_as_text)
{
	char buf[24];

	wire_version_text(buf, sizeof(buf), versions[_i].u, versions[_i].l);
	ck_assert_str_eq(buf, versions[_i].text);
}
END_TEST

static const struct {
	int64_t time_ns;
	uint64_t bytes;
	int32_t amount;
} amounts[] = {
	{ 1000000000, 0, -100 },
	{ 10000000000, 0, -1000 },
	{ 15000000, 0, -2 },
	{ 1, 0, -1 },
	{ 0, 0, 0 },
	{ -5, 0, 0 },
	{ INT64_C(21474836470000000), 0, -INT32_MAX },
	{ INT64_C(21474836480000000), 0, -INT32_MAX },
	{ INT64_MAX, 0, -INT32_MAX },
	{ 0, 262144, 262144 },
	{ 10000000000, 1, 1 },
	{ 0, INT32_MAX, INT32_MAX },
	{ 0, UINT64_C(1) << 31, INT32_MAX },
	{ 0, UINT64_MAX, INT32_MAX },
};

START_TEST(amounts_never_wrap_into_another_meaning)
{
	ck_assert_int_eq(wire_amount(amounts[_i].time_ns, amounts[_i].bytes),
			 amounts[_i].amount);
}
END_TEST

static void hold_for_any_bytes(const uint8_t *p, size_t n)
{
	enum wire_layout layout;
	struct wire_udp udp;
	struct wire_client client;
	struct wire_report report;
	struct wire_tcp_first first;

	ck_assert_int_eq(wire_udp_layout(p, n, &layout), n < 12 ? -EINVAL : 0);
	for (int i = WIRE_LEGACY; i <= WIRE_SMALL_TRIP; i++) {
		enum wire_layout any = (enum wire_layout)i;
		int rc = n < header_bytes(any) ? -EINVAL : 0;

		ck_assert_int_eq(wire_udp_decode(p, n, any, &udp), rc);
		if (rc == 0)
			ck_assert_int_ge(udp.sent_ns, 0);
	}
	ck_assert_int_eq(wire_client_decode(p, n, &client),
			 n < 4 ? -EINVAL : 0);
	if (wire_report_decode(p, n, &report) == 0) {
		ck_assert_uint_ge(n, 52);
		ck_assert_int_ge(report.duration_ns, 0);
		ck_assert_uint_le(report.lost, INT64_MAX);
	}
	first = wire_tcp_first(p, n, true);
	ck_assert_int_ne(first.kind, WIRE_TCP_MORE);
	if (first.kind == WIRE_TCP_CLIENT || first.kind == WIRE_TCP_LEGACY)
		ck_assert_uint_le(first.len, n);
	first = wire_tcp_first(p, n, false);
	if (first.kind == WIRE_TCP_MORE)
		ck_assert_uint_gt(first.len, n);
}

START_TEST(reads_nothing_beyond_the_end)
{
	const struct golden *golden = &golden_all[_i];

	for (size_t n = 0; n <= golden->n; n++) {
		uint8_t *copy = exact_copy(golden->bytes, n);

		hold_for_any_bytes(copy, n);
		free(copy);
	}
}
END_TEST

/* xorshift64 (Marsaglia 2003): the same bytes in every run */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Half of the rounds are noise, half a real message with some bytes changed. */
static size_t make_bytes(uint8_t *buf, size_t size, uint64_t *state)
{
	size_t n = next_random(state) % (size + 1);

	if (next_random(state) & 1) {
		for (size_t i = 0; i < n; i++)
			buf[i] = (uint8_t)(next_random(state) >> 32);
		return n;
	}

	const struct golden *golden =
		&golden_all[next_random(state) % (size_t)COUNT(golden_all)];

	if (n > golden->n)
		n = golden->n;
	memcpy(buf, golden->bytes, n);
	for (uint64_t k = next_random(state) % 4; k > 0 && n > 0; k--)
		buf[next_random(state) % n] =
			(uint8_t)(next_random(state) >> 32);
	return n;
}

START_TEST(takes_any_bytes)
{
	uint64_t state = 20050503;
	uint8_t buf[160];

	for (int round = 0; round < 100000; round++) {
		size_t n = make_bytes(buf, sizeof(buf), &state);
		uint8_t *copy = exact_copy(buf, n);

		hold_for_any_bytes(copy, n);
		free(copy);
	}
}
END_TEST

static TCase *udp_case(void)
{
	TCase *tc = tcase_create("udp");

	tcase_add_loop_test(tc, decodes_a_datagram, 0, COUNT(udp_rows));
	tcase_add_loop_test(tc, decodes_the_client_header_of_a_datagram, 0,
			    COUNT(udp_rows));
	tcase_add_loop_test(tc, encodes_a_datagram, 0, COUNT(udp_rows));
	tcase_add_loop_test(tc, keeps_64_bit_numbers, 0, COUNT(edge_ids));
	tcase_add_loop_test(tc, short_numbers_are_signed_32_bit, 0,
			    COUNT(edge_ids));
	tcase_add_test(tc, legacy_header_is_12_bytes_long);
	tcase_add_test(tc, refuses_a_short_modern_datagram);
	tcase_add_test(tc, any_stamp_is_arithmetic);
	tcase_add_test(tc,
		       layout_needs_12_bytes_and_reads_no_more_than_there_are);
	return tc;
}

static TCase *client_case(void)
{
	TCase *tc = tcase_create("client");

	tcase_add_loop_test(tc, tells_the_number_of_streams, 0,
			    sizeof(parallel) / sizeof(parallel[0]));
	tcase_add_loop_test(tc, decodes_a_tcp_client_header, 0,
			    COUNT(tcp_rows));
	tcase_add_loop_test(tc, encodes_a_tcp_client_header, 0,
			    COUNT(tcp_rows));
	tcase_add_test(tc, client_fields_beyond_the_end_are_0);
	tcase_add_test(tc, no_extension_without_its_flag);
	tcase_add_loop_test(tc, rates_have_56_bits, 0, COUNT(rates));
	tcase_add_test(tc, the_start_time_stands_where_iperf_2_has_it);
	tcase_add_loop_test(tc, the_wish_of_a_client_is_read, 0,
			    (int)(sizeof(wishes) / sizeof(wishes[0])));
	tcase_add_test(tc, old_wishes_need_no_extension);
	tcase_add_test(tc, a_cookie_comes_back);
	tcase_add_test(tc, flags_are_those_of_the_original);
	tcase_add_loop_test(tc, amounts_never_wrap_into_another_meaning, 0,
			    COUNT(amounts));
	return tc;
}

static TCase *first_case(void)
{
	TCase *tc = tcase_create("first");

	tcase_add_loop_test(tc, knows_the_kind_and_length_of_a_tcp_header, 0,
			    COUNT(tcp_rows));
	tcase_add_loop_test(tc, tells_what_opens_a_stream, 0, COUNT(openings));
	tcase_add_test(tc, tells_the_streams_of_the_original);
	tcase_add_loop_test(tc,
			    header_length_is_as_stated_or_that_of_the_blocks, 0,
			    COUNT(stated));
	tcase_add_test(tc, a_permit_key_belongs_to_the_header);
	tcase_add_test(tc, an_empty_stream_is_plain_data);
	tcase_add_loop_test(tc, the_verdict_does_not_depend_on_the_pieces, 0,
			    COUNT(golden_all));
	return tc;
}

static TCase *report_case(void)
{
	TCase *tc = tcase_create("report");

	tcase_add_loop_test(tc, decodes_a_report, 0, COUNT(report_rows));
	tcase_add_loop_test(tc, encodes_a_report, 0, COUNT(report_rows));
	tcase_add_loop_test(tc, other_datagrams_are_no_report, 0,
			    COUNT(no_reports));
	tcase_add_loop_test(tc, only_exact_flags_make_a_report, 0,
			    COUNT(report_flags));
	tcase_add_test(tc, a_short_report_gives_what_it_has);
	tcase_add_test(tc, high_words_count_only_with_their_flag);
	tcase_add_test(tc, no_counter_is_negative);
	tcase_add_loop_test(tc, transits_have_one_sign_in_both_halves, 0,
			    COUNT(transits));
	tcase_add_loop_test(tc, durations_are_rounded_to_microseconds, 0,
			    COUNT(durations));
	tcase_add_test(tc, wide_counters_survive_and_narrow_ones_saturate);
	return tc;
}

/* As 2.1.8 sends it: its length and the key behind 60 bytes (flags aside, the
 * length in them says where the key is). */
START_TEST(writes_and_reads_a_permit_key)
{
	struct wire_client c = { .flags = wire_flags(false, false),
				 .has_ext = true,
				 .key = "abcdefgh12" };
	uint8_t p[WIRE_CLIENT_MAX];
	const uint8_t *key = NULL;
	struct wire_tcp_first first;
	size_t n = wire_client_encode(p, &c);

	ck_assert_uint_eq(n, 72);
	ck_assert_mem_eq(p, "\x50\x01\x00\x7c", 4);
	ck_assert_mem_eq(p + 60,
			 "\0\x0a"
			 "abcdefgh12",
			 12);
	first = wire_tcp_first(p, n, false);
	ck_assert_int_eq(first.kind, WIRE_TCP_CLIENT);
	ck_assert_uint_eq(first.len, 72);
	ck_assert_uint_eq(wire_key(p, n, &key), 10);
	ck_assert_ptr_eq(key, p + 62);
	c.key = NULL;
	n = wire_client_encode(p, &c);
	ck_assert_uint_eq(n, 60);
	ck_assert_uint_eq(wire_key(p, n, &key), 0);
}
END_TEST

/* A request of 2.1.8 as captured. */
static const uint8_t bounce_218[] = {
	0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00,
	0x01, 0xc0, 0x00, 0x5a, 0x5a, 0x00, 0x00, 0x00, 0x00, 0x6b, 0x0d,
	0xf7, 0x91, 0x00, 0x0b, 0x0d, 0xa9, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x00, 0x00, 0x13, 0x88, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a,
	0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x30, 0x31, 0x32, 0x33,
};

START_TEST(reads_a_bounceback_request)
{
	struct wire_bounce m;

	ck_assert_int_eq(wire_bounce_decode(bounce_218, 64, &m), 0);
	ck_assert_uint_eq(m.bytes, 100);
	ck_assert_uint_eq(m.reply_bytes, 100);
	ck_assert_uint_eq(m.id, 1);
	ck_assert_uint_eq(m.hold_us, 5000);
	ck_assert(m.quickack);
	ck_assert_int_eq(m.sent_ns, INT64_C(1796077457724393000));
	ck_assert_int_eq(m.received_ns, 0);
	ck_assert_int_eq(wire_bounce_decode(bounce_218, 51, &m), -EINVAL);
	ck_assert_int_eq(wire_bounce_decode(bounce_218 + 1, 60, &m), -EINVAL);
}
END_TEST

/* As 2.1.8 writes it, but that the clocks of our hosts need not agree. */
START_TEST(writes_a_bounceback_request)
{
	const struct wire_bounce m = {
		.bytes = 100,
		.reply_bytes = 100,
		.id = 1,
		.hold_us = 5000,
		.quickack = true,
		.sent_ns = INT64_C(1796077457724393000),
	};
	uint8_t p[64], wanted[64];

	wire_fill(p, sizeof(p));
	wire_bounce_encode(p, &m);
	memcpy(wanted, bounce_218, sizeof(wanted));
	wanted[12] = 0x80;
	ck_assert_mem_eq(p, wanted, sizeof(p));
}
END_TEST

START_TEST(a_reply_of_its_own_size_is_asked_for_as_2_2_does)
{
	const struct wire_bounce asked = { .bytes = 100,
					   .reply_bytes = 7000,
					   .id = 3 };
	struct wire_bounce m;
	uint8_t p[64];

	wire_fill(p, sizeof(p));
	wire_bounce_encode(p, &asked);
	ck_assert_uint_eq(p[12], 0x08);
	ck_assert_int_eq(wire_bounce_decode(p, sizeof(p), &m), 0);
	ck_assert_uint_eq(m.reply_bytes, 7000);
	ck_assert(!m.quickack);
	wire_bounce_reply(p, INT64_C(1796077457724425000),
			  INT64_C(1796077457730779000));
	ck_assert_int_eq(wire_bounce_decode(p, sizeof(p), &m), 0);
	ck_assert_int_eq(m.received_ns, INT64_C(1796077457724425000));
	ck_assert_int_eq(m.replied_ns, INT64_C(1796077457730779000));
}
END_TEST

static TCase *rest_case(void)
{
	TCase *tc = tcase_create("rest");

	tcase_add_test(tc, acknowledges_like_the_original);
	tcase_add_test(tc, reads_an_acknowledgement);
	tcase_add_test(tc, filler_is_digits);
	tcase_add_test(tc, writes_and_reads_a_permit_key);
	tcase_add_test(tc, reads_a_bounceback_request);
	tcase_add_test(tc, writes_a_bounceback_request);
	tcase_add_test(tc, a_reply_of_its_own_size_is_asked_for_as_2_2_does);
	tcase_add_test(tc, knows_its_own_kind);
	tcase_add_loop_test(tc, versions_read_as_text, 0, COUNT(versions));
	return tc;
}

static TCase *hostile_case(void)
{
	TCase *tc = tcase_create("hostile");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, reads_nothing_beyond_the_end, 0,
			    COUNT(golden_all));
	tcase_add_test(tc, takes_any_bytes);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("wire");

	suite_add_tcase(suite, udp_case());
	suite_add_tcase(suite, client_case());
	suite_add_tcase(suite, first_case());
	suite_add_tcase(suite, report_case());
	suite_add_tcase(suite, rest_case());
	suite_add_tcase(suite, hostile_case());

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
