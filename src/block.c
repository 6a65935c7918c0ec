#include "block.h"

#include <errno.h>
#include <string.h>

#define MAGIC_HELLO 0xa91f5e01u
#define MAGIC_RESULT 0xa91f5e02u

#define HEAD_BYTES 16
#define FIELD_BYTES 8
#define SUM_BYTES 4
#define LENGTH_MAX 4096
/* CRC-32C (RFC 3720 12.1), reflected. */
#define CRC_POLYNOMIAL 0x82f63b78u

/* What a field may hold. */
enum kind {
	FLAGS,
	COUNT,    /* below 2^63 */
	DURATION, /* ns, not negative */
	SIGNED,   /* ns */
};

/* The fields in the order of the wire: append only. */
static const struct {
	enum kind kind;
	size_t offset;
} fields[] = {
	{ FLAGS, 0 },
#define FIELD(kind, name)                                                      \
	{                                                                      \
		kind, offsetof(struct block_result, name)                      \
	}
	FIELD(COUNT, bytes),
	FIELD(COUNT, packets),
	FIELD(COUNT, lost),
	FIELD(COUNT, late),
	FIELD(COUNT, too_late),
	FIELD(COUNT, duplicate),
	FIELD(COUNT, gaps),
	FIELD(COUNT, gap_max),
	FIELD(COUNT, socket_drops),
	FIELD(COUNT, shared_drops),
	FIELD(COUNT, clock_steps),
	FIELD(COUNT, buffer_asked),
	FIELD(COUNT, buffer_granted),
	FIELD(COUNT, omit_from),
	FIELD(DURATION, omitted_ns),
	FIELD(DURATION, duration_ns),
	FIELD(DURATION, gap_max_ns),
	FIELD(DURATION, gap_began_ns),
	FIELD(DURATION, jitter_ns),
	FIELD(DURATION, jitter_mean_ns),
	FIELD(DURATION, jitter_max_ns),
	FIELD(DURATION, delay_mean_ns),
	FIELD(DURATION, delay_p50_ns),
	FIELD(DURATION, delay_p99_ns),
	FIELD(DURATION, delay_p999_ns),
	FIELD(DURATION, delay_max_ns),
	FIELD(SIGNED, trip_min_ns),
	FIELD(SIGNED, trip_mean_ns),
	FIELD(SIGNED, trip_max_ns),
	FIELD(DURATION, cpu_user_ns),
	FIELD(DURATION, cpu_system_ns),
#undef FIELD
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define RESULT_BYTES (HEAD_BYTES + FIELDS * FIELD_BYTES + SUM_BYTES)

_Static_assert(RESULT_BYTES <= BLOCK_RESULT_BYTES, "room of the caller");

/* The bits of the first field. */
static const size_t flags[] = {
	offsetof(struct block_result, udp),
	offsetof(struct block_result, kernel_stamps),
	offsetof(struct block_result, cpu_shared),
	offsetof(struct block_result, delay_known),
	offsetof(struct block_result, trip_known),
	offsetof(struct block_result, cpu_known),
	offsetof(struct block_result, drops_known),
};

#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

static void put(uint8_t *p, uint64_t v, size_t bytes)
{
	for (size_t i = bytes; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
}

static uint64_t get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static uint32_t crc32c(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	}
	return ~crc;
}

static size_t seal(uint8_t *p, uint32_t magic, size_t length, uint64_t nonce)
{
	put(p, magic, 4);
	put(p + 4, BLOCK_VERSION, 2);
	put(p + 6, length, 2);
	put(p + 8, nonce, 8);
	put(p + length - SUM_BYTES, crc32c(p, length - SUM_BYTES), SUM_BYTES);
	return length;
}

/* The length of a block with this magic that is whole; 0: it is none. */
static size_t whole(const uint8_t *p, size_t n, uint32_t magic)
{
	if (n < HEAD_BYTES + SUM_BYTES || get(p, 4) != magic ||
	    get(p + 4, 2) == 0)
		return 0;

	size_t length = (size_t)get(p + 6, 2);

	if (length < HEAD_BYTES + SUM_BYTES || length > LENGTH_MAX ||
	    length > n || (length - HEAD_BYTES - SUM_BYTES) % FIELD_BYTES != 0)
		return 0;
	if (get(p + length - SUM_BYTES, SUM_BYTES) !=
	    crc32c(p, length - SUM_BYTES))
		return 0;
	return length;
}

size_t block_hello_encode(uint8_t *p, uint64_t nonce)
{
	return seal(p, MAGIC_HELLO, BLOCK_HELLO_BYTES, nonce);
}

int block_hello_decode(const uint8_t *p, size_t n, uint64_t *nonce)
{
	if (whole(p, n, MAGIC_HELLO) == 0)
		return -EINVAL;
	*nonce = get(p + 8, 8);
	return 0;
}

static uint64_t pack_flags(const struct block_result *r)
{
	uint64_t v = 0;

	for (size_t i = 0; i < N_FLAGS; i++) {
		bool set;

		memcpy(&set, (const char *)r + flags[i], sizeof(set));
		v |= (uint64_t)set << i;
	}
	return v;
}

static void unpack_flags(struct block_result *r, uint64_t v)
{
	for (size_t i = 0; i < N_FLAGS; i++) {
		bool set = (v >> i & 1) != 0;

		memcpy((char *)r + flags[i], &set, sizeof(set));
	}
}

size_t block_result_encode(uint8_t *p, const struct block_result *r,
			   uint64_t nonce)
{
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t v;

		if (fields[i].kind == FLAGS)
			v = pack_flags(r);
		else
			memcpy(&v, (const char *)r + fields[i].offset,
			       sizeof(v));
		put(p + HEAD_BYTES + i * FIELD_BYTES, v, FIELD_BYTES);
	}
	return seal(p, MAGIC_RESULT, RESULT_BYTES, nonce);
}

/* Can these figures be true together? */
static bool plausible(const struct block_result *r)
{
	return r->late <= r->packets && r->gap_max <= r->lost &&
	       r->gaps <= r->lost && (r->gap_max > 0) == (r->lost > 0) &&
	       r->packets <= INT64_MAX - r->lost &&
	       r->jitter_ns <= r->jitter_max_ns &&
	       r->jitter_mean_ns <= r->jitter_max_ns &&
	       r->delay_p50_ns <= r->delay_p99_ns &&
	       r->delay_p99_ns <= r->delay_p999_ns &&
	       r->delay_p999_ns <= r->delay_max_ns &&
	       r->delay_mean_ns <= r->delay_max_ns &&
	       r->trip_min_ns <= r->trip_mean_ns &&
	       r->trip_mean_ns <= r->trip_max_ns &&
	       r->omitted_ns <= INT64_MAX - r->duration_ns;
}

int block_result_decode(const uint8_t *p, size_t n, uint64_t nonce,
			struct block_result *r)
{
	size_t length = whole(p, n, MAGIC_RESULT);

	if (length == 0 || get(p + 8, 8) != nonce)
		return -EINVAL;

	size_t given = (length - HEAD_BYTES - SUM_BYTES) / FIELD_BYTES;
	struct block_result out = { 0 };

	for (size_t i = 0; i < FIELDS && i < given; i++) {
		uint64_t v = get(p + HEAD_BYTES + i * FIELD_BYTES, FIELD_BYTES);

		if (fields[i].kind == FLAGS) {
			unpack_flags(&out, v);
			continue;
		}
		if (fields[i].kind != SIGNED && v > INT64_MAX)
			return -EINVAL;
		memcpy((char *)&out + fields[i].offset, &v, sizeof(v));
	}
	if (!plausible(&out))
		return -EINVAL;
	*r = out;
	return 0;
}

const uint8_t *block_find(const uint8_t *p, size_t n, size_t *left)
{
	for (size_t at = 0; at + HEAD_BYTES + SUM_BYTES <= n; at++) {
		if (whole(p + at, n - at, MAGIC_RESULT) == 0)
			continue;
		*left = n - at;
		return p + at;
	}
	*left = 0;
	return NULL;
}
