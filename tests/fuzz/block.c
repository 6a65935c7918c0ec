/*
 * block: the input is what a server of ours sent, or somebody else; once as it
 * is, and once put into a block whose magic, length and checksum are right,
 * which no chance would find.
 */
#include "block.h"

#include <assert.h>
#include <string.h>

#include "fuzz.h"

#define MAGIC_HELLO 0xa91f5e01u
#define MAGIC_RESULT 0xa91f5e02u
#define MAGIC_REFUSAL 0xa91f5e03u
#define HEAD_BYTES 16
#define SUM_BYTES 4
#define NONCE 0x0102030405060708u

static void put(uint8_t *p, uint64_t v, size_t bytes)
{
	for (size_t i = bytes; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
}

/* CRC-32C by its definition: the remainder of a long division. */
static uint32_t checksum(const uint8_t *p, size_t n)
{
	uint32_t rest = 0xffffffff;

	for (size_t i = 0; i < 8 * n; i++) {
		uint32_t out = (rest ^ (uint32_t)p[i / 8] >> i % 8) & 1;

		rest = rest >> 1 ^ (out ? 0x82f63b78u : 0);
	}
	return ~rest;
}

/* Writes a block with these fields; returns its length. */
static size_t seal(uint8_t *p, uint32_t magic, const uint8_t *fields, size_t n)
{
	size_t length = HEAD_BYTES + n + SUM_BYTES;

	put(p, magic, 4);
	put(p + 4, 1, 2);
	put(p + 6, length, 2);
	put(p + 8, NONCE, 8);
	memcpy(p + HEAD_BYTES, fields, n);
	put(p + length - SUM_BYTES, checksum(p, length - SUM_BYTES), 4);
	return length;
}

/* What every user of a result relies on. */
static void check_result(const struct block_result *r)
{
	assert(r->packets + r->lost <= INT64_MAX && r->late <= r->packets);
	assert(r->gaps <= r->lost && r->gap_max <= r->lost);
	assert(r->duration_ns >= 0 && r->omitted_ns >= 0);
	assert(r->gap_max_ns >= 0 && r->gap_began_ns >= 0);
	assert(r->jitter_ns >= 0 && r->jitter_mean_ns >= 0);
	assert(r->jitter_ns <= r->jitter_max_ns);
	assert(r->delay_p50_ns >= 0 && r->delay_mean_ns >= 0);
	assert(r->delay_p50_ns <= r->delay_max_ns);
	assert(r->trip_min_ns <= r->trip_max_ns);
	assert(r->cpu_user_ns >= 0 && r->cpu_system_ns >= 0);
}

/* What was read can be sent on, and is read the same again; of no other test,
 * and of nothing that was damaged on the way. */
static void check_round_trip(const struct block_result *r, size_t damage)
{
	uint8_t out[BLOCK_RESULT_BYTES];
	uint8_t once_more[BLOCK_RESULT_BYTES];
	struct block_result again;

	assert(block_result_encode(out, r, NONCE) == sizeof(out));
	assert(block_result_decode(out, sizeof(out), NONCE, &again) == 0);
	check_result(&again);
	assert(block_result_encode(once_more, &again, NONCE) == sizeof(out));
	assert(memcmp(out, once_more, sizeof(out)) == 0);
	assert(block_result_decode(out, sizeof(out), NONCE + 1, &again) < 0);
	assert(block_result_decode(out, sizeof(out) - 1, NONCE, &again) < 0);
	out[damage % sizeof(out)] ^= 1;
	assert(block_result_decode(out, sizeof(out), NONCE, &again) < 0);
}

/* A refusal is read as one, in the midst of others, and is sent on unchanged.
 */
static void check_refusal(const uint8_t *p, size_t n)
{
	uint8_t out[4 + BLOCK_REFUSAL_BYTES] = { 0 };
	struct policy_refusal r;
	struct policy_refusal again;
	uint64_t nonce = 0;

	if (block_refusal_decode(p, n, &nonce, &r) < 0)
		return;
	assert(r.why > POLICY_NONE && r.why <= POLICY_OTHER);
	assert(block_refusal_encode(out + 4, &r, nonce) == BLOCK_REFUSAL_BYTES);
	assert(block_refusal_find(out, sizeof(out), &again) == 0);
	assert(r.why == again.why && r.value == again.value &&
	       r.running == again.running);
}

/* Bytes as they came. */
static void check_stream(const uint8_t *p, size_t n)
{
	struct block_result r;
	struct fuzz head = { p, n };
	uint64_t nonce;
	uint64_t cookie;
	size_t left;
	const uint8_t *at = block_find(p, n, &left);

	if (at != NULL)
		assert(at >= p && at + left == p + n);
	else
		assert(left <= BLOCK_LENGTH_MAX);
	(void)block_hello_decode(p, n, &nonce, &cookie);
	check_refusal(p, n);
	(void)fuzz_number(&head, 8);
	if (block_result_decode(p, n, fuzz_number(&head, 8), &r) == 0)
		check_result(&r);
}

/* A server's stream that ends with a whole block is read to its end: what is
 * there of it is waited for, and never for more than there is. */
static void check_found(const uint8_t *p, size_t n, size_t length)
{
	size_t left;

	for (size_t have = n - length + 4; have < n; have += (left + 1) / 2) {
		assert(block_find(p, have, &left) == NULL);
		assert(left > 0 && left <= n - have);
	}
	assert(block_find(p, n, &left) == p + n - length && left == length);
}

static void check_sealed(const uint8_t *fields, size_t n)
{
	/* as a server sends it: behind an acknowledgement of zeros */
	uint8_t stream[4 + BLOCK_LENGTH_MAX] = { 0 };
	uint8_t *block = stream + 4;
	struct block_result r;
	uint64_t nonce = 0;
	uint64_t cookie;
	size_t length;
	size_t left;

	n = n / 8 * 8;
	if (n > BLOCK_LENGTH_MAX - HEAD_BYTES - SUM_BYTES)
		return;
	length = seal(block, MAGIC_HELLO, fields, n);
	assert(block_hello_decode(block, length, &nonce, &cookie) == 0);
	assert(nonce == NONCE);
	length = seal(block, MAGIC_REFUSAL, fields, n);
	check_refusal(block, length);
	length = seal(block, MAGIC_RESULT, fields, n);
	assert(block_hello_decode(block, length, &nonce, &cookie) < 0);
	/* fields that hold a whole block themselves are found first */
	if (block_find(fields, n, &left) == NULL)
		check_found(stream, 4 + length, length);
	if (block_result_decode(block, length, NONCE, &r) < 0)
		return;
	check_result(&r);
	check_round_trip(&r, n > 0 ? fields[0] + fields[n - 1] : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	check_stream(p, n);
	check_sealed(p, n);
	return 0;
}
