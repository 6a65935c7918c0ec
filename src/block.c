#include "block.h"

#include <errno.h>
#include <string.h>

#define MAGIC_HELLO 0xa91f5e01u
#define MAGIC_RESULT 0xa91f5e02u
#define MAGIC_REFUSAL 0xa91f5e03u

#define HEAD_BYTES 16
#define FIELD_BYTES 8
#define SUM_BYTES 4
#define MAGIC_BYTES 4
#define LENGTH_END 8 /* what tells the length ends here */
/* What two years are less than, ns. */
#define TIME_MAX_NS (INT64_C(1) << 56)
/* Any two stamps of the wire are closer than that, ns. */
#define TRIP_MAX_NS (INT64_C(1) << 62)
/* A datagram is shorter. */
#define DATAGRAM_MAX 65535
/* CRC-32C (RFC 3720 12.1), reflected. */
#define CRC_POLYNOMIAL 0x82f63b78u

/* What a field may hold. */
enum kind {
	FLAGS, /* which of them are set */
	COUNT, /* below 2^63 */
	TIME,  /* of the test itself: 0 to TIME_MAX_NS */
	DELAY, /* between stamps: 0 or more ns */
	TRIP,  /* between two clocks: within TRIP_MAX_NS */
};

/* Stands where no flag tells whether a field is known. */
#define ALWAYS SIZE_MAX

/* The fields in the order of the wire: append only, and with a flag that says
 * that they are known, the same for those that come together. */
static const struct {
	enum kind kind;
	size_t offset;
	size_t known; /* offset of the flag */
} fields[] = {
	{ FLAGS, 0, ALWAYS },
#define FIELD(kind, name)                                                      \
	{                                                                      \
		kind, offsetof(struct block_result, name), ALWAYS              \
	}
#define KNOWN_BY(flag, kind, name)                                             \
	{                                                                      \
		kind, offsetof(struct block_result, name),                     \
			offsetof(struct block_result, flag)                    \
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
	FIELD(TIME, omitted_ns),
	FIELD(TIME, duration_ns),
	FIELD(TIME, gap_max_ns),
	FIELD(TIME, gap_began_ns),
	FIELD(DELAY, jitter_ns),
	FIELD(DELAY, jitter_mean_ns),
	FIELD(DELAY, jitter_max_ns),
	KNOWN_BY(delay_known, DELAY, delay_mean_ns),
	KNOWN_BY(delay_known, DELAY, delay_p50_ns),
	KNOWN_BY(delay_known, DELAY, delay_p99_ns),
	KNOWN_BY(delay_known, DELAY, delay_p999_ns),
	KNOWN_BY(delay_known, DELAY, delay_max_ns),
	KNOWN_BY(trip_known, TRIP, trip_min_ns),
	KNOWN_BY(trip_known, TRIP, trip_mean_ns),
	KNOWN_BY(trip_known, TRIP, trip_max_ns),
	KNOWN_BY(cpu_known, TIME, cpu_user_ns),
	KNOWN_BY(cpu_known, TIME, cpu_system_ns),
#undef FIELD
#undef KNOWN_BY
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define RESULT_BYTES (HEAD_BYTES + FIELDS * FIELD_BYTES + SUM_BYTES)

_Static_assert(RESULT_BYTES == BLOCK_RESULT_BYTES, "what the header says");
_Static_assert(RESULT_BYTES <= BLOCK_LENGTH_MAX, "room of who reads");

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
	put(p, magic, MAGIC_BYTES);
	put(p + 4, BLOCK_VERSION, 2);
	put(p + 6, length, 2);
	put(p + 8, nonce, 8);
	put(p + length - SUM_BYTES, crc32c(p, length - SUM_BYTES), SUM_BYTES);
	return length;
}

/* The length that a block with this magic states in its first LENGTH_END
 * bytes; 0: it is none. */
static size_t stated(const uint8_t *p, uint32_t magic)
{
	size_t length = (size_t)get(p + 6, 2);

	if (get(p, MAGIC_BYTES) != magic || get(p + 4, 2) == 0 ||
	    length < HEAD_BYTES + SUM_BYTES || length > BLOCK_LENGTH_MAX ||
	    (length - HEAD_BYTES - SUM_BYTES) % FIELD_BYTES != 0)
		return 0;
	return length;
}

/* The length of a block with this magic that is whole; 0: it is none. */
static size_t whole(const uint8_t *p, size_t n, uint32_t magic)
{
	if (n < LENGTH_END)
		return 0;

	size_t length = stated(p, magic);

	if (length == 0 || length > n ||
	    get(p + length - SUM_BYTES, SUM_BYTES) !=
		    crc32c(p, length - SUM_BYTES))
		return 0;
	return length;
}

/* How many more bytes the block that begins here wants at least; 0: none
 * begins here, or it is there. */
static size_t wanting(const uint8_t *p, size_t n, uint32_t magic)
{
	uint8_t begin[MAGIC_BYTES];

	put(begin, magic, MAGIC_BYTES);
	if (memcmp(p, begin, n < MAGIC_BYTES ? n : MAGIC_BYTES) != 0)
		return 0;
	if (n < LENGTH_END)
		return HEAD_BYTES + SUM_BYTES - n;

	size_t length = stated(p, magic);

	return length > n ? length - n : 0;
}

size_t block_hello_encode(uint8_t *p, uint64_t nonce, uint64_t cookie)
{
	put(p + HEAD_BYTES, cookie, FIELD_BYTES);
	return seal(p, MAGIC_HELLO, BLOCK_HELLO_BYTES, nonce);
}

int block_hello_decode(const uint8_t *p, size_t n, uint64_t *nonce,
		       uint64_t *cookie)
{
	size_t length = whole(p, n, MAGIC_HELLO);

	if (length == 0)
		return -EINVAL;
	*nonce = get(p + 8, 8);
	*cookie = length >= BLOCK_HELLO_BYTES ? get(p + HEAD_BYTES, FIELD_BYTES)
					      : 0;
	return 0;
}

/* Its fields: why, with the bit that says that the test ran, and the value. */
#define REFUSAL_WHY 0xffu
#define REFUSAL_RUNNING 0x100u

size_t block_refusal_encode(uint8_t *p, const struct policy_refusal *r,
			    uint64_t nonce)
{
	uint64_t word = (uint64_t)r->why | (r->running ? REFUSAL_RUNNING : 0);

	put(p + HEAD_BYTES, word, FIELD_BYTES);
	put(p + HEAD_BYTES + FIELD_BYTES, r->value, FIELD_BYTES);
	return seal(p, MAGIC_REFUSAL, BLOCK_REFUSAL_BYTES, nonce);
}

int block_refusal_decode(const uint8_t *p, size_t n, uint64_t *nonce,
			 struct policy_refusal *r)
{
	if (whole(p, n, MAGIC_REFUSAL) < BLOCK_REFUSAL_BYTES)
		return -EINVAL;

	uint64_t word = get(p + HEAD_BYTES, FIELD_BYTES);
	uint64_t why = word & REFUSAL_WHY;

	*nonce = get(p + 8, 8);
	*r = (struct policy_refusal){
		.why = why > POLICY_NONE && why < POLICY_OTHER
			       ? (enum policy_why)why
			       : POLICY_OTHER,
		.value = get(p + HEAD_BYTES + FIELD_BYTES, FIELD_BYTES),
		.running = (word & REFUSAL_RUNNING) != 0,
	};
	return 0;
}

int block_refusal_find(const uint8_t *p, size_t n, struct policy_refusal *r)
{
	uint64_t nonce;

	for (size_t at = 0; at < n; at++) {
		if (block_refusal_decode(p + at, n - at, &nonce, r) == 0)
			return 0;
	}
	return -ENOENT;
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

static bool in_range(enum kind kind, uint64_t v)
{
	switch (kind) {
	case FLAGS:
		return true; /* a later version may have more of them */
	case COUNT:
	case DELAY:
		return v <= INT64_MAX;
	case TIME:
		return v <= TIME_MAX_NS;
	case TRIP:
		return v + TRIP_MAX_NS <= 2 * (uint64_t)TRIP_MAX_NS;
	}
	return false;
}

/* Can these counts be true together? */
static bool ledger_is_plausible(const struct block_result *r)
{
	return r->late <= r->packets && r->packets <= INT64_MAX - r->lost &&
	       r->gaps <= r->lost && r->gap_max <= r->lost &&
	       (r->gaps > 0) == (r->lost > 0) &&
	       (r->gap_max > 0) == (r->lost > 0) &&
	       (!r->udp || r->bytes / DATAGRAM_MAX < r->packets ||
		r->bytes == 0);
}

/* Can these times be true together? */
static bool times_are_plausible(const struct block_result *r)
{
	return r->jitter_ns <= r->jitter_max_ns &&
	       r->jitter_mean_ns <= r->jitter_max_ns &&
	       r->delay_p50_ns <= r->delay_p99_ns &&
	       r->delay_p99_ns <= r->delay_p999_ns &&
	       r->delay_p999_ns <= r->delay_max_ns &&
	       r->delay_mean_ns <= r->delay_max_ns &&
	       r->trip_min_ns <= r->trip_mean_ns &&
	       r->trip_mean_ns <= r->trip_max_ns;
}

/* How many of the given fields can be used: those that one flag makes known
 * are all there, or none of them is. */
static size_t usable(size_t given)
{
	if (given >= FIELDS)
		return FIELDS;
	while (given > 0 && fields[given].known == fields[given - 1].known)
		given--;
	return given;
}

int block_result_decode(const uint8_t *p, size_t n, uint64_t nonce,
			struct block_result *r)
{
	size_t length = whole(p, n, MAGIC_RESULT);

	if (length == 0 || get(p + 8, 8) != nonce)
		return -EINVAL;

	size_t use = usable((length - HEAD_BYTES - SUM_BYTES) / FIELD_BYTES);
	struct block_result out = { 0 };

	if (use == 0)
		return -EINVAL;
	for (size_t i = 0; i < use; i++) {
		uint64_t v = get(p + HEAD_BYTES + i * FIELD_BYTES, FIELD_BYTES);

		if (!in_range(fields[i].kind, v))
			return -EINVAL;
		if (fields[i].kind == FLAGS)
			unpack_flags(&out, v);
		else
			memcpy((char *)&out + fields[i].offset, &v, sizeof(v));
	}
	for (size_t i = use; i < FIELDS; i++)
		memset((char *)&out + fields[i].known, 0, sizeof(bool));
	if (!ledger_is_plausible(&out) || !times_are_plausible(&out))
		return -EINVAL;
	*r = out;
	return 0;
}

const uint8_t *block_find(const uint8_t *p, size_t n, size_t *left)
{
	*left = 0;
	for (size_t at = 0; at < n; at++) {
		if (whole(p + at, n - at, MAGIC_RESULT) > 0) {
			*left = n - at;
			return p + at;
		}
	}
	for (size_t at = 0; at < n && *left == 0; at++)
		*left = wanting(p + at, n - at, MAGIC_RESULT);
	return NULL;
}
