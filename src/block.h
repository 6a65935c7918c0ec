/*
 * block: what two ends of ours tell each other beyond the protocol of iperf 2.
 * Bytes to structs and back, pure.
 *
 * A hello tells a client early that its server is one of ours.  A refusal tells
 * it that the test is not served, or served no longer.  A result stands behind
 * the UDP report of iperf 2 in the same datagram, or ends what a TCP server
 * sends.  They begin with a magic number that no iperf 2 sends and that no
 * filler holds, and end with a checksum (CRC-32C) of all before it:
 *
 *     0 u32 magic   4 u16 version   6 u16 length of the whole   8 u64 nonce
 *     16 fields of 8 bytes   length - 4 u32 checksum
 *
 * The nonce ties it to its test.  A later version may append fields: who
 * decodes reads those that it knows and skips the rest.  What a shorter one
 * lacks is not known; what no flag says that of can't be lacking.  All is
 * big-endian, signed numbers in two's complement.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy.h"

#define BLOCK_VERSION 1
#define BLOCK_HELLO_BYTES 28
#define BLOCK_REFUSAL_BYTES 36
#define BLOCK_RESULT_BYTES 276
/* No version is longer: the room of who reads one. */
#define BLOCK_LENGTH_MAX 1024

/* What a receiver of ours knows.  Counts are below 2^63.  Times are in ns and
 * not negative, except those of a trip, which two clocks make; the test's own
 * are at most 2^56 (two years), so that sums of many of them fit. */
struct block_result {
	bool udp;
	bool kernel_stamps; /* arrivals were stamped by the kernel */
	bool cpu_shared;    /* the thread served other streams too */
	bool delay_known;
	bool trip_known;
	bool cpu_known;
	bool drops_known; /* the kernel tells what its sockets drop */
	uint64_t bytes;
	uint64_t packets; /* unique received; TCP: reads */
	uint64_t lost;
	uint64_t late;
	uint64_t too_late;
	uint64_t duplicate;
	uint64_t gaps;
	uint64_t gap_max;
	uint64_t socket_drops;
	uint64_t shared_drops;
	uint64_t clock_steps;
	uint64_t buffer_asked; /* bytes */
	uint64_t buffer_granted;
	uint64_t omit_from; /* first number that counts */
	int64_t omitted_ns; /* time left out before duration_ns */
	int64_t duration_ns;
	int64_t gap_max_ns;
	int64_t gap_began_ns; /* after the first datagram */
	int64_t jitter_ns;
	int64_t jitter_mean_ns;
	int64_t jitter_max_ns;
	int64_t delay_mean_ns; /* above the lowest, as the next four */
	int64_t delay_p50_ns;
	int64_t delay_p99_ns;
	int64_t delay_p999_ns;
	int64_t delay_max_ns;
	int64_t trip_min_ns;
	int64_t trip_mean_ns;
	int64_t trip_max_ns;
	int64_t cpu_user_ns;
	int64_t cpu_system_ns;
};

/* Writes BLOCK_HELLO_BYTES; returns how many.  cookie: what the server wants to
 * see again before it sends more. */
size_t block_hello_encode(uint8_t *p, uint64_t nonce, uint64_t cookie);
/* 0, or -EINVAL when these bytes are no hello.  A shorter one of an earlier
 * version has no cookie: 0. */
int block_hello_decode(const uint8_t *p, size_t n, uint64_t *nonce,
		       uint64_t *cookie);
/* Writes BLOCK_REFUSAL_BYTES; returns how many. */
size_t block_refusal_encode(uint8_t *p, const struct policy_refusal *r,
			    uint64_t nonce);
/* 0, or -EINVAL when these bytes are no refusal. */
int block_refusal_decode(const uint8_t *p, size_t n, uint64_t *nonce,
			 struct policy_refusal *r);
/* The first refusal in what a TCP server sent: 0, or -ENOENT. */
int block_refusal_find(const uint8_t *p, size_t n, struct policy_refusal *r);
/* Writes BLOCK_RESULT_BYTES; returns how many. */
size_t block_result_encode(uint8_t *p, const struct block_result *r,
			   uint64_t nonce);
/* 0, or -EINVAL when these bytes are no result with this nonce, are damaged or
 * say what can't be. */
int block_result_decode(const uint8_t *p, size_t n, uint64_t nonce,
			struct block_result *r);
/* The first result in what a TCP server sent, with the bytes from there on in
 * *left.  NULL: none is whole; then *left is how many more bytes the first one
 * that has begun wants at least, 0 when none has. */
const uint8_t *block_find(const uint8_t *p, size_t n, size_t *left);

#endif
