/*
 * check_block: the words between two ends of ours.  The golden bytes and their
 * checksums were made by a script of its own, not by the code under test.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "block.h"
#include "golden/wire_vectors.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))
#define NONCE UINT64_C(0x18ecd6c9f1a2b3c4)
/* Room for what a later version may add. */
#define ROOM_BYTES (BLOCK_LENGTH_MAX + 64)
#define HEAD_BYTES 16
#define SUM_BYTES 4
/* Where version and length begin. */
#define AT_VERSION 4
#define AT_LENGTH 6

static const uint8_t hello_golden[] = {
	0xa9, 0x1f, 0x5e, 0x01, 0x00, 0x01, 0x00, 0x1c, 0x01, 0x23,
	0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98,
	0x76, 0x54, 0x32, 0x10, 0x12, 0x33, 0xdb, 0xdf,
};

/* One of an earlier version. */
static const uint8_t short_hello_golden[] = {
	0xa9, 0x1f, 0x5e, 0x01, 0x00, 0x01, 0x00, 0x14, 0x01, 0x23,
	0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x27, 0x22, 0x3b, 0xcb,
};

/* Ended after 30 s. */
static const uint8_t refusal_golden[] = {
	0xa9, 0x1f, 0x5e, 0x03, 0x00, 0x01, 0x00, 0x24, 0x01, 0x23, 0x45, 0x67,
	0x89, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03,
	0x00, 0x00, 0x00, 0x06, 0xfc, 0x23, 0xac, 0x00, 0x1c, 0xd8, 0x3a, 0x18,
};

/* clang-format off: a field a line */
static const uint8_t result_golden[] = {
	0xa9, 0x1f, 0x5e, 0x02, 0x00, 0x01, 0x01, 0x14, 0x18, 0xec, 0xd6, 0xc9,
	0xf1, 0xa2, 0xb3, 0xc4, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x70, 0x26, 0xf0, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x13, 0x88, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3c,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0b,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x40, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x01, 0xf4, 0x00, 0x00, 0x00, 0x00, 0x1d, 0xcd, 0x65, 0x00,
	0x00, 0x00, 0x00, 0x02, 0x54, 0x0b, 0xe4, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x03, 0x0a, 0x32, 0xc0, 0x00, 0x00, 0x00, 0x00, 0xfa, 0x56, 0xea, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x30, 0x39, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x5b, 0xa0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x87, 0x07,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb2, 0x6e, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x9c, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x5f, 0x90,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xd4, 0xc0, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x09, 0xfb, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xd4,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x03, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x0e, 0xe6, 0xb2, 0x80,
	0x00, 0x00, 0x00, 0x00, 0x2c, 0xb4, 0x17, 0x80, 0x91, 0x9f, 0x77, 0x3a,
};
/* clang-format on */

/* What the golden bytes say. */
static const struct block_result full = {
	.udp = true,
	.kernel_stamps = true,
	.cpu_shared = true,
	.delay_known = true,
	.trip_known = true,
	.cpu_known = true,
	.drops_known = true,
	.bytes = 7350000,
	.packets = 5000,
	.lost = 60,
	.late = 7,
	.too_late = 3,
	.duplicate = 11,
	.gaps = 4,
	.gap_max = 25,
	.socket_drops = 30,
	.shared_drops = 8,
	.clock_steps = 2,
	.buffer_asked = 212992,
	.buffer_granted = 425984,
	.omit_from = 500,
	.omitted_ns = 500000000,
	.duration_ns = 10000000000,
	.gap_max_ns = 51000000,
	.gap_began_ns = 4200000000,
	.jitter_ns = 12345,
	.jitter_mean_ns = 23456,
	.jitter_max_ns = 34567,
	.delay_mean_ns = 45678,
	.delay_p50_ns = 40000,
	.delay_p99_ns = 90000,
	.delay_p999_ns = 120000,
	.delay_max_ns = 654321,
	.trip_min_ns = -300,
	.trip_mean_ns = -1,
	.trip_max_ns = 1000,
	.cpu_user_ns = 250000000,
	.cpu_system_ns = 750000000,
};

/* The fields of the wire by their number. */
enum at {
	FLAGS,
	BYTES,
	PACKETS,
	LOST,
	LATE,
	TOO_LATE,
	DUPLICATE,
	GAPS,
	GAP_MAX,
	SOCKET_DROPS,
	SHARED_DROPS,
	CLOCK_STEPS,
	BUFFER_ASKED,
	BUFFER_GRANTED,
	OMIT_FROM,
	OMITTED,
	DURATION,
	GAP_MAX_NS,
	GAP_BEGAN,
	JITTER,
	JITTER_MEAN,
	JITTER_MAX,
	DELAY_MEAN,
	DELAY_P50,
	DELAY_P99,
	DELAY_P999,
	DELAY_MAX,
	TRIP_MIN,
	TRIP_MEAN,
	TRIP_MAX_AT,
	CPU_USER,
	CPU_SYSTEM,
	FIELDS,
};

/* The numbers behind the flags, in the order of the wire. */
#define NUMBER(name) offsetof(struct block_result, name)

static const size_t numbers[] = {
	NUMBER(bytes),          NUMBER(packets),        NUMBER(lost),
	NUMBER(late),           NUMBER(too_late),       NUMBER(duplicate),
	NUMBER(gaps),           NUMBER(gap_max),        NUMBER(socket_drops),
	NUMBER(shared_drops),   NUMBER(clock_steps),    NUMBER(buffer_asked),
	NUMBER(buffer_granted), NUMBER(omit_from),      NUMBER(omitted_ns),
	NUMBER(duration_ns),    NUMBER(gap_max_ns),     NUMBER(gap_began_ns),
	NUMBER(jitter_ns),      NUMBER(jitter_mean_ns), NUMBER(jitter_max_ns),
	NUMBER(delay_mean_ns),  NUMBER(delay_p50_ns),   NUMBER(delay_p99_ns),
	NUMBER(delay_p999_ns),  NUMBER(delay_max_ns),   NUMBER(trip_min_ns),
	NUMBER(trip_mean_ns),   NUMBER(trip_max_ns),    NUMBER(cpu_user_ns),
	NUMBER(cpu_system_ns),
};

static const size_t flags[] = {
	NUMBER(udp),         NUMBER(kernel_stamps), NUMBER(cpu_shared),
	NUMBER(delay_known), NUMBER(trip_known),    NUMBER(cpu_known),
	NUMBER(drops_known),
};

static uint64_t number_of(const struct block_result *r, int i)
{
	uint64_t v;

	memcpy(&v, (const char *)r + numbers[i], sizeof(v));
	return v;
}

static bool flag_of(const struct block_result *r, int i)
{
	bool v;

	memcpy(&v, (const char *)r + flags[i], sizeof(v));
	return v;
}

static void assert_same(const struct block_result *a,
			const struct block_result *b)
{
	for (int i = 0; i < COUNT(flags); i++)
		ck_assert_msg(flag_of(a, i) == flag_of(b, i), "flag %d", i);
	for (int i = 0; i < COUNT(numbers); i++)
		ck_assert_msg(number_of(a, i) == number_of(b, i),
			      "field %d: %llx, not %llx", i + 1,
			      (unsigned long long)number_of(a, i),
			      (unsigned long long)number_of(b, i));
}

static void put(uint8_t *p, uint64_t v, int bytes)
{
	while (bytes-- > 0) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static uint8_t *field(uint8_t *p, int at)
{
	return p + HEAD_BYTES + at * 8;
}

/* CRC-32C by half bytes. */
static uint32_t sum_of(const uint8_t *p, size_t n)
{
	static const uint32_t half[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	uint32_t crc = 0xffffffff;

	while (n-- > 0) {
		crc ^= *p++;
		crc = crc >> 4 ^ half[crc & 15];
		crc = crc >> 4 ^ half[crc & 15];
	}
	return ~crc;
}

/* The block of length bytes is now what its sender meant. */
static void seal(uint8_t *p, size_t length)
{
	put(p + AT_LENGTH, length, 2);
	put(p + length - SUM_BYTES, sum_of(p, length - SUM_BYTES), SUM_BYTES);
}

/* Decodes from a piece of memory of just this size, so that a sanitizer sees
 * what is read beyond it.  A refusal leaves the result alone. */
static int decode(const uint8_t *p, size_t n, uint64_t nonce,
		  struct block_result *r)
{
	uint8_t *exact = malloc(n > 0 ? n : 1);
	struct block_result before;
	int rc;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, p, n);
	memset(r, 0x55, sizeof(*r));
	memset(&before, 0x55, sizeof(before));
	rc = block_result_decode(exact, n, nonce, r);
	if (rc != 0)
		ck_assert_mem_eq(r, &before, sizeof(before));
	free(exact);
	return rc;
}

/* Of the hello that was decoded last. */
static uint64_t cookie;

static int decode_hello(const uint8_t *p, size_t n, uint64_t *nonce)
{
	uint8_t *exact = malloc(n > 0 ? n : 1);
	int rc;

	cookie = 88;
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, p, n);
	*nonce = 77;
	rc = block_hello_decode(exact, n, nonce, &cookie);
	if (rc != 0)
		ck_assert_uint_eq(*nonce, 77);
	free(exact);
	return rc;
}

static const uint8_t *find(const uint8_t *p, size_t n, size_t *left)
{
	uint8_t *exact = malloc(n > 0 ? n : 1);
	const uint8_t *found;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, p, n);
	*left = 4711;
	found = block_find(exact, n, left);
	if (found != NULL)
		found = p + (found - exact);
	free(exact);
	return found;
}

/* Hello. */

START_TEST(hello_is_the_golden_one)
{
	uint8_t p[BLOCK_HELLO_BYTES];
	uint64_t nonce;

	ck_assert_uint_eq(
		block_hello_encode(p, 0x0123456789abcdef, 0xfedcba9876543210),
		sizeof(hello_golden));
	ck_assert_mem_eq(p, hello_golden, sizeof(hello_golden));
	ck_assert_int_eq(
		decode_hello(hello_golden, sizeof(hello_golden), &nonce), 0);
	ck_assert_uint_eq(nonce, 0x0123456789abcdef);
	ck_assert_uint_eq(cookie, 0xfedcba9876543210);
	ck_assert_uint_le(BLOCK_HELLO_BYTES, 64);
	ck_assert_int_eq(decode_hello(short_hello_golden,
				      sizeof(short_hello_golden), &nonce),
			 0);
	ck_assert_uint_eq(nonce, 0x0123456789abcdef);
	ck_assert_uint_eq(cookie, 0);
}
END_TEST

static const uint64_t nonces[] = { 0, 1, INT64_MAX, UINT64_C(1) << 63,
				   UINT64_MAX };

START_TEST(nonces_come_back)
{
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;
	uint64_t nonce;

	(void)block_hello_encode(p, nonces[_i], 9);
	ck_assert_int_eq(decode_hello(p, BLOCK_HELLO_BYTES, &nonce), 0);
	ck_assert_uint_eq(nonce, nonces[_i]);
	(void)block_result_encode(p, &full, nonces[_i]);
	ck_assert_int_eq(decode(p, sizeof(p), nonces[_i], &r), 0);
	for (int bit = 0; bit < 64; bit++)
		ck_assert_int_eq(decode(p, sizeof(p),
					nonces[_i] ^ UINT64_C(1) << bit, &r),
				 -EINVAL);
}
END_TEST

START_TEST(a_damaged_hello_is_refused)
{
	uint8_t p[sizeof(hello_golden)];
	uint64_t nonce;

	for (size_t n = 0; n < sizeof(p); n++)
		ck_assert_int_eq(decode_hello(hello_golden, n, &nonce),
				 -EINVAL);
	for (size_t bit = 0; bit < sizeof(p) * 8; bit++) {
		memcpy(p, hello_golden, sizeof(p));
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_int_eq(decode_hello(p, sizeof(p), &nonce), -EINVAL);
	}
}
END_TEST

/* Its sum stands where the nonce belongs. */
START_TEST(a_hello_without_a_nonce_is_refused)
{
	uint8_t p[BLOCK_HELLO_BYTES];
	uint64_t nonce;

	(void)block_hello_encode(p, 5, 9);
	seal(p, 12);
	ck_assert_int_eq(decode_hello(p, sizeof(p), &nonce), -EINVAL);
}
END_TEST

START_TEST(a_later_hello_is_read)
{
	uint8_t p[BLOCK_HELLO_BYTES + 8] = { 0 };
	uint64_t nonce;

	(void)block_hello_encode(p, 5, 9);
	put(p + AT_VERSION, 2, 2);
	seal(p, sizeof(p));
	ck_assert_int_eq(decode_hello(p, sizeof(p), &nonce), 0);
	ck_assert_uint_eq(nonce, 5);
}
END_TEST

/* Refusal. */

static int decode_refusal(const uint8_t *p, size_t n, uint64_t *nonce,
			  struct policy_refusal *r)
{
	uint8_t *exact = malloc(n > 0 ? n : 1);
	int rc;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, p, n);
	rc = block_refusal_decode(exact, n, nonce, r);
	free(exact);
	return rc;
}

START_TEST(refusal_is_the_golden_one)
{
	const struct policy_refusal in = { .why = POLICY_TIME,
					   .value = 30000000000,
					   .running = true };
	struct policy_refusal r;
	uint8_t p[BLOCK_REFUSAL_BYTES];
	uint64_t nonce;

	ck_assert_uint_eq(block_refusal_encode(p, &in, 0x0123456789abcdef),
			  sizeof(refusal_golden));
	ck_assert_mem_eq(p, refusal_golden, sizeof(refusal_golden));
	ck_assert_int_eq(decode_refusal(p, sizeof(p), &nonce, &r), 0);
	ck_assert_uint_eq(nonce, 0x0123456789abcdef);
	ck_assert_int_eq((int)r.why, POLICY_TIME);
	ck_assert_uint_eq(r.value, 30000000000);
	ck_assert(r.running);
}
END_TEST

START_TEST(a_damaged_refusal_is_none)
{
	struct policy_refusal r;
	uint8_t p[sizeof(refusal_golden)];
	uint64_t nonce;

	for (size_t n = 0; n < sizeof(p); n++)
		ck_assert_int_eq(decode_refusal(refusal_golden, n, &nonce, &r),
				 -EINVAL);
	for (size_t bit = 0; bit < sizeof(p) * 8; bit++) {
		memcpy(p, refusal_golden, sizeof(p));
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_int_eq(decode_refusal(p, sizeof(p), &nonce, &r),
				 -EINVAL);
	}
	/* one that lacks its value */
	memcpy(p, refusal_golden, sizeof(p));
	put(p + AT_LENGTH, sizeof(p) - 8, 2);
	seal(p, sizeof(p) - 8);
	ck_assert_int_eq(decode_refusal(p, sizeof(p), &nonce, &r), -EINVAL);
}
END_TEST

/* A later version may know more reasons, and say more. */
START_TEST(a_later_refusal_is_read)
{
	static const uint64_t whys[] = { 0, POLICY_OTHER, 77, 255 };
	struct policy_refusal r;
	uint8_t p[BLOCK_REFUSAL_BYTES + 8];
	uint64_t nonce;

	for (int i = 0; i < COUNT(whys); i++) {
		memset(p, 0, sizeof(p));
		memcpy(p, refusal_golden, sizeof(refusal_golden));
		put(p + AT_VERSION, 2, 2);
		put(p + HEAD_BYTES, whys[i], 8);
		seal(p, sizeof(p));
		ck_assert_int_eq(decode_refusal(p, sizeof(p), &nonce, &r), 0);
		ck_assert_int_eq((int)r.why, POLICY_OTHER);
		ck_assert(!r.running);
	}
}
END_TEST

/* Behind an acknowledgement and a result, as a TCP server sends it. */
START_TEST(a_refusal_is_found_behind_a_result)
{
	struct policy_refusal r;
	uint8_t p[28 + sizeof(result_golden) + sizeof(refusal_golden)] = { 0 };
	size_t at = 28 + sizeof(result_golden);

	memcpy(p + 28, result_golden, sizeof(result_golden));
	ck_assert_int_eq(block_refusal_find(p, sizeof(p), &r), -ENOENT);
	memcpy(p + at, refusal_golden, sizeof(refusal_golden));
	ck_assert_int_eq(block_refusal_find(p, sizeof(p) - 1, &r), -ENOENT);
	ck_assert_int_eq(block_refusal_find(p, sizeof(p), &r), 0);
	ck_assert_int_eq((int)r.why, POLICY_TIME);
	ck_assert_int_eq(block_refusal_find(p, 0, &r), -ENOENT);
}
END_TEST

START_TEST(hello_and_result_are_told_apart)
{
	struct block_result r;
	uint64_t nonce;
	size_t left;

	ck_assert_int_eq(
		decode_hello(result_golden, sizeof(result_golden), &nonce),
		-EINVAL);
	ck_assert_int_eq(decode(hello_golden, sizeof(hello_golden),
				0x0123456789abcdef, &r),
			 -EINVAL);
	ck_assert_ptr_null(find(hello_golden, sizeof(hello_golden), &left));
	ck_assert_uint_eq(left, 0);
}
END_TEST

/* Result: the bytes. */

START_TEST(result_is_the_golden_one)
{
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	ck_assert_uint_eq(block_result_encode(p, &full, NONCE), sizeof(p));
	ck_assert_uint_eq(sizeof(p), sizeof(result_golden));
	ck_assert_mem_eq(p, result_golden, sizeof(p));
	ck_assert_int_eq(
		decode(result_golden, sizeof(result_golden), NONCE, &r), 0);
	assert_same(&r, &full);
	ck_assert_uint_le(BLOCK_RESULT_BYTES, 320);
}
END_TEST

/* No member of the struct has been left out of the tables above. */
START_TEST(every_member_has_its_place)
{
	ck_assert_int_eq(COUNT(numbers), FIELDS - 1);
	ck_assert_int_le(COUNT(flags), 8);
	ck_assert_uint_eq(sizeof(struct block_result),
			  8 + sizeof(numbers) / sizeof(numbers[0]) * 8);
	ck_assert_uint_eq(BLOCK_RESULT_BYTES,
			  HEAD_BYTES + FIELDS * 8 + SUM_BYTES);
}
END_TEST

START_TEST(a_flag_is_a_bit)
{
	struct block_result one = { 0 };
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	memset((char *)&one + flags[_i], true, sizeof(bool));
	(void)block_result_encode(p, &one, NONCE);
	ck_assert_uint_eq(get(field(p, FLAGS), 8), UINT64_C(1) << _i);
	ck_assert_int_eq(decode(p, sizeof(p), NONCE, &r), 0);
	assert_same(&r, &one);
}
END_TEST

START_TEST(a_number_is_a_field)
{
	struct block_result one = { 0 };
	uint64_t v = UINT64_C(0x8123456789abcdef);
	uint8_t p[BLOCK_RESULT_BYTES];

	memcpy((char *)&one + numbers[_i], &v, sizeof(v));
	(void)block_result_encode(p, &one, NONCE);
	for (int at = 0; at < FIELDS; at++)
		ck_assert_uint_eq(get(field(p, at), 8), at == _i + 1 ? v : 0);
}
END_TEST

/* All at their ends, so far as they can be together. */
#define TIME_MAX (INT64_C(1) << 56)
#define TRIP_MAX (INT64_C(1) << 62)

static const struct block_result ends[] = {
	{ .udp = false },
	{ .trip_min_ns = -TRIP_MAX,
	  .trip_mean_ns = -TRIP_MAX,
	  .trip_max_ns = -TRIP_MAX },
	{
		.bytes = INT64_MAX,
		.packets = INT64_MAX - 1,
		.lost = 1,
		.late = INT64_MAX - 1,
		.too_late = INT64_MAX,
		.duplicate = INT64_MAX,
		.gaps = 1,
		.gap_max = 1,
		.socket_drops = INT64_MAX,
		.shared_drops = INT64_MAX,
		.clock_steps = INT64_MAX,
		.buffer_asked = INT64_MAX,
		.buffer_granted = INT64_MAX,
		.omit_from = INT64_MAX,
		.omitted_ns = TIME_MAX,
		.duration_ns = TIME_MAX,
		.gap_max_ns = TIME_MAX,
		.gap_began_ns = TIME_MAX,
		.jitter_ns = INT64_MAX,
		.jitter_mean_ns = INT64_MAX,
		.jitter_max_ns = INT64_MAX,
		.delay_mean_ns = INT64_MAX,
		.delay_p50_ns = INT64_MAX,
		.delay_p99_ns = INT64_MAX,
		.delay_p999_ns = INT64_MAX,
		.delay_max_ns = INT64_MAX,
		.trip_min_ns = TRIP_MAX,
		.trip_mean_ns = TRIP_MAX,
		.trip_max_ns = TRIP_MAX,
		.cpu_user_ns = TIME_MAX,
		.cpu_system_ns = TIME_MAX,
	},
	{ .packets = 1,
	  .lost = INT64_MAX - 1,
	  .gaps = INT64_MAX - 1,
	  .gap_max = INT64_MAX - 1 },
	/* one datagram, and all of them lost */
	{ .udp = true, .packets = 1, .bytes = 65507 },
	{ .udp = true, .lost = 5, .gaps = 1, .gap_max = 5 },
};

START_TEST(the_ends_of_each_range_come_back)
{
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	(void)block_result_encode(p, &ends[_i], NONCE);
	ck_assert_int_eq(decode(p, sizeof(p), NONCE, &r), 0);
	assert_same(&r, &ends[_i]);
}
END_TEST

/* Result: damage. */

START_TEST(a_cut_result_is_refused)
{
	struct block_result r;

	for (size_t n = 0; n < sizeof(result_golden); n++)
		ck_assert_int_eq(decode(result_golden, n, NONCE, &r), -EINVAL);
}
END_TEST

START_TEST(a_flipped_bit_is_refused)
{
	uint8_t p[sizeof(result_golden) + 64];
	struct block_result r;

	for (size_t bit = 0; bit < sizeof(result_golden) * 8; bit++) {
		memset(p, 0, sizeof(p));
		memcpy(p, result_golden, sizeof(result_golden));
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_int_eq(decode(p, sizeof(result_golden), NONCE, &r),
				 -EINVAL);
		/* also where a longer one would have room */
		ck_assert_int_eq(decode(p, sizeof(p), NONCE, &r), -EINVAL);
	}
}
END_TEST

static const struct {
	const char *what;
	size_t length;
	int rc;
} lengths[] = {
	{ "no room for a head", 12, -EINVAL },
	{ "no field", 20, -EINVAL },
	{ "part of a field", BLOCK_RESULT_BYTES + 4, -EINVAL },
	{ "one more byte", BLOCK_RESULT_BYTES + 1, -EINVAL },
	{ "one more field", BLOCK_RESULT_BYTES + 8, 0 },
	{ "the longest", 1020, 0 },
	{ "longer than any", 1028, -EINVAL },
};

START_TEST(a_length_is_bounded)
{
	uint8_t p[ROOM_BYTES] = { 0 };
	struct block_result r;

	(void)block_result_encode(p, &full, NONCE);
	seal(p, lengths[_i].length);
	ck_assert_msg(decode(p, sizeof(p), NONCE, &r) == lengths[_i].rc, "%s",
		      lengths[_i].what);
}
END_TEST

/* A length of all ones, of nothing, and more than is there. */
START_TEST(a_lying_length_is_refused)
{
	static const unsigned lies[] = { 0, 1, 19, 284, 0x7fff, 0xffff };
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	for (int i = 0; i < COUNT(lies); i++) {
		memcpy(p, result_golden, sizeof(p));
		put(p + AT_LENGTH, lies[i], 2);
		put(p + sizeof(p) - SUM_BYTES, sum_of(p, sizeof(p) - SUM_BYTES),
		    SUM_BYTES);
		ck_assert_int_eq(decode(p, sizeof(p), NONCE, &r), -EINVAL);
	}
}
END_TEST

/* Result: growth. */

START_TEST(a_later_version_is_read)
{
	static const unsigned versions[] = { 1, 2, 0x00ff, 0xffff };
	uint8_t p[ROOM_BYTES];
	struct block_result r;

	for (size_t more = 0; more <= 12; more++) {
		size_t length = BLOCK_RESULT_BYTES + more * 8;

		memset(p, 0xee, sizeof(p));
		(void)block_result_encode(p, &full, NONCE);
		memset(p + BLOCK_RESULT_BYTES - SUM_BYTES, 0xee, more * 8);
		put(p + AT_VERSION, versions[_i], 2);
		/* flags that nobody knows yet */
		put(field(p, FLAGS), UINT64_MAX, 8);
		seal(p, length);
		ck_assert_int_eq(decode(p, length, NONCE, &r), 0);
		assert_same(&r, &full);
		/* and with something behind it */
		ck_assert_int_eq(decode(p, length + 5, NONCE, &r), 0);
		ck_assert_int_eq(decode(p, length - 1, NONCE, &r), -EINVAL);
	}
}
END_TEST

START_TEST(there_is_no_version_0)
{
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	(void)block_result_encode(p, &full, NONCE);
	put(p + AT_VERSION, 0, 2);
	seal(p, sizeof(p));
	ck_assert_int_eq(decode(p, sizeof(p), NONCE, &r), -EINVAL);
}
END_TEST

/* A loop test over how many fields came. */
START_TEST(a_shorter_one_leaves_the_rest_unknown)
{
	struct block_result expected = full;
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;
	size_t length = HEAD_BYTES + (size_t)_i * 8 + SUM_BYTES;
	int known = CPU_SYSTEM + 1;

	if (_i <= CPU_SYSTEM) {
		expected.cpu_known = false;
		known = TRIP_MAX_AT + 1;
	}
	if (_i <= TRIP_MAX_AT) {
		expected.trip_known = false;
		known = DELAY_MAX + 1;
	}
	if (_i <= DELAY_MAX) {
		expected.delay_known = false;
		known = JITTER_MAX + 1;
	}
	for (int i = known; i < FIELDS; i++)
		memset((char *)&expected + numbers[i - 1], 0, 8);
	(void)block_result_encode(p, &full, NONCE);
	seal(p, length);
	if (_i <= JITTER_MAX) {
		/* what has no flag can't be unknown */
		ck_assert_int_eq(decode(p, length, NONCE, &r), -EINVAL);
		return;
	}
	ck_assert_int_eq(decode(p, length, NONCE, &r), 0);
	assert_same(&r, &expected);
}
END_TEST

/* Result: what can't be.  Up to four fields are changed in the golden one. */
static const struct claim {
	const char *what;
	int rc;
	struct {
		int at; /* 0: none */
		int64_t v;
	} set[4];
} claims[] = {
	{ "as it is", 0, { { LOST, 60 } } },
	{ "all came late", 0, { { LATE, 5000 } } },
	{ "more late than came", -EINVAL, { { LATE, 5001 } } },
	{ "a gap of all lost", 0, { { GAP_MAX, 60 } } },
	{ "a gap of more than lost", -EINVAL, { { GAP_MAX, 61 } } },
	{ "each lost is a gap", 0, { { GAPS, 60 } } },
	{ "more gaps than lost", -EINVAL, { { GAPS, 61 } } },
	{ "lost without a gap", -EINVAL, { { GAPS, 0 } } },
	{ "lost without a longest gap", -EINVAL, { { GAP_MAX, 0 } } },
	{ "gaps without loss", -EINVAL, { { LOST, 0 } } },
	{ "no loss", 0, { { LOST, 0 }, { GAPS, 0 }, { GAP_MAX, 0 } } },
	{ "a gap and no loss", -EINVAL, { { LOST, 0 }, { GAP_MAX, 0 } } },
	{ "a longest gap and no loss", -EINVAL, { { LOST, 0 }, { GAPS, 0 } } },
	{ "most that can be sent", 0, { { LOST, INT64_MAX - 5000 } } },
	{ "more than can be sent", -EINVAL, { { LOST, INT64_MAX - 4999 } } },
	{ "datagrams of full size",
	  0,
	  { { PACKETS, 7 }, { BYTES, 7 * 65507 } } },
	{ "datagrams of more than that",
	  -EINVAL,
	  { { PACKETS, 7 }, { BYTES, 7 * 65535 } } },
	{ "bytes of no datagram",
	  -EINVAL,
	  { { PACKETS, 0 }, { LATE, 0 }, { BYTES, 1 } } },
	{ "nothing came", 0, { { PACKETS, 0 }, { LATE, 0 }, { BYTES, 0 } } },
	{ "as much as a stream likes",
	  0,
	  { { FLAGS, 0x7e }, { PACKETS, 7 }, { BYTES, INT64_MAX } } },
	{ "jitter above its largest", -EINVAL, { { JITTER, 34568 } } },
	{ "jitter at its largest", 0, { { JITTER, 34567 } } },
	{ "mean jitter above it", -EINVAL, { { JITTER_MEAN, 34568 } } },
	{ "mean jitter at it", 0, { { JITTER_MEAN, 34567 } } },
	{ "p50 above p99", -EINVAL, { { DELAY_P50, 90001 } } },
	{ "p50 at p99", 0, { { DELAY_P50, 90000 } } },
	{ "p99 above p99.9", -EINVAL, { { DELAY_P99, 120001 } } },
	{ "p99 at p99.9", 0, { { DELAY_P99, 120000 } } },
	{ "p99.9 above the largest", -EINVAL, { { DELAY_P999, 654322 } } },
	{ "p99.9 at the largest", 0, { { DELAY_P999, 654321 } } },
	{ "mean delay above the largest", -EINVAL, { { DELAY_MEAN, 654322 } } },
	{ "mean delay at the largest", 0, { { DELAY_MEAN, 654321 } } },
	{ "shortest trip above the mean", -EINVAL, { { TRIP_MIN, 0 } } },
	{ "shortest trip at the mean", 0, { { TRIP_MIN, -1 } } },
	{ "mean trip above the longest", -EINVAL, { { TRIP_MEAN, 1001 } } },
	{ "mean trip at the longest", 0, { { TRIP_MEAN, 1000 } } },
};

START_TEST(what_cannot_be_is_refused)
{
	const struct claim *c = &claims[_i];
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	memcpy(p, result_golden, sizeof(p));
	for (int i = 0; i < COUNT(c->set); i++) {
		/* flags are the first of a row or not in it */
		if (i == 0 || c->set[i].at != 0)
			put(field(p, c->set[i].at), (uint64_t)c->set[i].v, 8);
	}
	seal(p, sizeof(p));
	ck_assert_msg(decode(p, sizeof(p), NONCE, &r) == c->rc, "%s", c->what);
}
END_TEST

/* The first number beyond each field's range, and the last of all.  A loop
 * test over the fields behind the flags; the rest are at their ends, so that
 * no other rule refuses it. */
START_TEST(a_number_out_of_range_is_refused)
{
	int at = _i + 1;
	bool trip = at >= TRIP_MIN && at <= TRIP_MAX_AT;
	bool span = (at >= OMITTED && at <= GAP_BEGAN) || at >= CPU_USER;
	int64_t most = trip ? TRIP_MAX : span ? TIME_MAX : INT64_MAX;
	struct block_result wide = ends[2];
	const uint64_t beyond[] = { (uint64_t)most + 1, UINT64_C(1) << 63,
				    trip ? -(uint64_t)TRIP_MAX - 1
					 : UINT64_MAX };
	uint8_t p[BLOCK_RESULT_BYTES];
	struct block_result r;

	for (int i = 0; i < COUNT(beyond); i++) {
		(void)block_result_encode(p, &wide, NONCE);
		put(field(p, at), beyond[i], 8);
		/* trips in order, whichever is changed */
		for (int other = TRIP_MIN; trip && other <= TRIP_MAX_AT;
		     other++)
			if ((other < at) == ((int64_t)beyond[i] < 0))
				put(field(p, other), beyond[i], 8);
		seal(p, sizeof(p));
		ck_assert_msg(decode(p, sizeof(p), NONCE, &r) == -EINVAL,
			      "field %d: %llx", at,
			      (unsigned long long)beyond[i]);
	}
}
END_TEST

/* What others send. */

static void assert_is_none(const uint8_t *p, size_t n)
{
	struct block_result r;
	uint64_t nonce;
	size_t left;

	for (size_t at = 0; at < n; at++) {
		ck_assert_int_eq(block_result_decode(p + at, n - at, NONCE, &r),
				 -EINVAL);
		ck_assert_int_eq(
			block_hello_decode(p + at, n - at, &nonce, &cookie),
			-EINVAL);
	}
	ck_assert_ptr_null(find(p, n, &left));
	ck_assert_uint_eq(left, 0);
}

START_TEST(filler_is_no_block)
{
	static const uint8_t fillers[] = { 0x00, 0x5a, 0xa5, 0xff };
	uint8_t p[1470];

	for (int i = 0; i < COUNT(fillers); i++) {
		memset(p, fillers[i], sizeof(p));
		assert_is_none(p, sizeof(p));
	}
	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)('0' + i % 10);
	assert_is_none(p, sizeof(p));
}
END_TEST

/* What iperf 2 sent, with digits behind it as in a buffer. */
#define PEER(name)                                                             \
	{                                                                      \
		name, sizeof(name)                                             \
	}

static const struct {
	const uint8_t *bytes;
	size_t n;
} peers[] = {
	PEER(tv01), PEER(tv02), PEER(tv03), PEER(tv04), PEER(tv05),
	PEER(tv18), PEER(tv19), PEER(tv20), PEER(tv21), PEER(tv22),
	PEER(tv23), PEER(tv24), PEER(tv25), PEER(tv26), PEER(tv27),
};

START_TEST(a_peer_sends_no_block)
{
	uint8_t p[1470];

	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)('0' + i % 10);
	memcpy(p, peers[_i].bytes, peers[_i].n);
	assert_is_none(p, sizeof(p));
	assert_is_none(p, peers[_i].n);
}
END_TEST

/* An end marker of ours comes back with the very nonce in it. */
START_TEST(an_echoed_marker_is_no_block)
{
	uint8_t p[1470];

	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)('0' + i % 10);
	for (size_t at = 0; at + 16 <= sizeof(p); at += 8) {
		put(p + at, (uint64_t)-5000, 8);
		put(p + at + 8, NONCE, 8);
	}
	assert_is_none(p, sizeof(p));
}
END_TEST

/* A stream of TCP. */

START_TEST(a_result_is_found_behind_an_acknowledgement)
{
	uint8_t p[sizeof(tv04) + sizeof(result_golden) + 9] = { 0 };
	struct block_result r;
	size_t left;

	memcpy(p, tv04, sizeof(tv04));
	memcpy(p + sizeof(tv04), result_golden, sizeof(result_golden));
	/* every beginning of it; what comes behind does no harm */
	for (size_t n = 0; n <= sizeof(p); n++) {
		const uint8_t *found = find(p, n, &left);
		size_t have = n > sizeof(tv04) ? n - sizeof(tv04) : 0;

		if (have < sizeof(result_golden)) {
			ck_assert_ptr_null(found);
			ck_assert_uint_eq(
				left, have == 0 ? 0
				      : have < 8
					      ? 20 - have
					      : sizeof(result_golden) - have);
			continue;
		}
		ck_assert_ptr_eq(found, p + sizeof(tv04));
		ck_assert_uint_eq(left, have);
		ck_assert_int_eq(decode(found, left, NONCE, &r), 0);
		assert_same(&r, &full);
	}
}
END_TEST

/* Beginnings that come to nothing: a magic number, a whole head, a block with
 * a wrong sum.  The next whole one counts. */
static const size_t false_starts[] = { 1, 3, 4, 8, 16, 200, 275 };

START_TEST(a_false_start_hides_no_result)
{
	uint8_t p[2 * sizeof(result_golden)];
	size_t before = false_starts[_i];
	size_t left;

	memcpy(p, result_golden, before);
	memcpy(p + before, result_golden, sizeof(result_golden));
	ck_assert_ptr_eq(find(p, before + sizeof(result_golden), &left),
			 p + before);
	ck_assert_uint_eq(left, sizeof(result_golden));
}
END_TEST

START_TEST(a_damaged_result_is_not_found)
{
	uint8_t p[2 * sizeof(result_golden)];
	size_t left;

	memcpy(p, result_golden, sizeof(result_golden));
	p[100] ^= 1;
	ck_assert_ptr_null(find(p, sizeof(result_golden), &left));
	ck_assert_uint_eq(left, 0);
	/* the second of two */
	memcpy(p + sizeof(result_golden), result_golden, sizeof(result_golden));
	ck_assert_ptr_eq(find(p, sizeof(p), &left), p + sizeof(result_golden));
	/* a length that no block has is not waited for */
	put(p + AT_LENGTH, 0xffff, 2);
	ck_assert_ptr_null(find(p, 200, &left));
	ck_assert_uint_eq(left, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("block");
	TCase *t = tcase_create("block");

	tcase_add_test(t, hello_is_the_golden_one);
	tcase_add_loop_test(t, nonces_come_back, 0, COUNT(nonces));
	tcase_add_test(t, a_damaged_hello_is_refused);
	tcase_add_test(t, a_hello_without_a_nonce_is_refused);
	tcase_add_test(t, a_later_hello_is_read);
	tcase_add_test(t, refusal_is_the_golden_one);
	tcase_add_test(t, a_damaged_refusal_is_none);
	tcase_add_test(t, a_later_refusal_is_read);
	tcase_add_test(t, a_refusal_is_found_behind_a_result);
	tcase_add_test(t, hello_and_result_are_told_apart);
	tcase_add_test(t, result_is_the_golden_one);
	tcase_add_test(t, every_member_has_its_place);
	tcase_add_loop_test(t, a_flag_is_a_bit, 0, COUNT(flags));
	tcase_add_loop_test(t, a_number_is_a_field, 0, COUNT(numbers));
	tcase_add_loop_test(t, the_ends_of_each_range_come_back, 0,
			    COUNT(ends));
	tcase_add_test(t, a_cut_result_is_refused);
	tcase_add_test(t, a_flipped_bit_is_refused);
	tcase_add_loop_test(t, a_length_is_bounded, 0, COUNT(lengths));
	tcase_add_test(t, a_lying_length_is_refused);
	tcase_add_loop_test(t, a_later_version_is_read, 0, 4);
	tcase_add_test(t, there_is_no_version_0);
	tcase_add_loop_test(t, a_shorter_one_leaves_the_rest_unknown, 0,
			    FIELDS + 1);
	tcase_add_loop_test(t, what_cannot_be_is_refused, 0, COUNT(claims));
	tcase_add_loop_test(t, a_number_out_of_range_is_refused, 0,
			    COUNT(numbers));
	tcase_add_test(t, filler_is_no_block);
	tcase_add_loop_test(t, a_peer_sends_no_block, 0, COUNT(peers));
	tcase_add_test(t, an_echoed_marker_is_no_block);
	tcase_add_test(t, a_result_is_found_behind_an_acknowledgement);
	tcase_add_loop_test(t, a_false_start_hides_no_result, 0,
			    COUNT(false_starts));
	tcase_add_test(t, a_damaged_result_is_not_found);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
