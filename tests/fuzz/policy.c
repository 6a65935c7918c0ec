/*
 * policy: the input begins with a prefix as a person types it; then tests come
 * from four addresses, move bytes and leave.
 */
#include "policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define WORD_MAX 64
#define ADDRESSES 4
#define SEC_NS INT64_C(1000000000)

static void check_text(const struct policy_refusal *r)
{
	char text[POLICY_TEXT_BYTES];

	policy_text(r, text);
	assert(memchr(text, '\0', sizeof(text)) != NULL);
	assert((text[0] == '\0') == (r->why == POLICY_NONE));
}

/* Reads the prefix, up to a line feed or zero; false: it is none. */
static bool read_prefix(struct fuzz *f, struct policy_prefix *p)
{
	char word[WORD_MAX] = "";
	size_t n = 0;

	while (f->left > 0 && n < sizeof(word) - 1) {
		word[n] = (char)fuzz_byte(f);
		if (word[n] == '\n' || word[n] == '\0')
			break;
		n++;
	}
	word[n] = '\0';
	return policy_prefix(p, word) == 0;
}

/* It holds what differs behind its bits, and nothing that differs in them. */
static void check_prefix(const struct policy_prefix *p)
{
	assert(p->bits <= 8 * POLICY_ADDR_BYTES);
	assert(policy_holds(p, &p->addr));
	for (unsigned bit = 0; bit < 8 * POLICY_ADDR_BYTES; bit++) {
		struct policy_addr other = p->addr;

		other.bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		assert(policy_holds(p, &other) == (bit >= p->bits));
	}
}

struct course {
	struct fuzz in;
	struct policy *policy;
	struct policy_rules rules;
	struct policy_addr addrs[ADDRESSES];
	unsigned streams[ADDRESSES];
	int64_t now_ns;
};

static unsigned clients(const struct course *c)
{
	unsigned n = 0;

	for (int i = 0; i < ADDRESSES; i++)
		n += c->streams[i] > 0;
	return n;
}

static void enter(struct course *c, int who)
{
	uint8_t known = fuzz_byte(&c->in);
	struct policy_ask ask = {
		.addr = c->addrs[who],
		.time_known = known & 1,
		.time_ns = (int64_t)(fuzz_byte(&c->in) * SEC_NS),
		.rate_known = known & 2,
		.rate_bps = fuzz_number(&c->in, 4),
	};
	struct policy_refusal r;

	if (!policy_enter(c->policy, &ask, &r)) {
		assert(r.why != POLICY_NONE && !r.running);
		assert(r.why != POLICY_CLIENTS || c->streams[who] == 0);
		check_text(&r);
		return;
	}
	assert(r.why == POLICY_NONE);
	c->streams[who]++;
	assert(c->rules.clients == 0 || clients(c) <= c->rules.clients);
	assert(c->rules.n_allow == 0 ||
	       policy_holds(&c->rules.allow[0], &ask.addr));
	assert(!ask.rate_known || c->rules.rate_bps == 0 ||
	       (ask.rate_bps > 0 && ask.rate_bps <= c->rules.rate_bps));
	assert(!ask.time_known || c->rules.time_ns == 0 ||
	       (ask.time_ns > 0 && ask.time_ns <= c->rules.time_ns));
}

static void move(struct course *c, int who)
{
	uint64_t bytes = fuzz_number(&c->in, 3);
	int64_t begun_ns = c->now_ns - fuzz_byte(&c->in) * SEC_NS;
	struct policy_refusal r;

	if (c->streams[who] == 0)
		return;

	bool goes_on = policy_moved(c->policy, &c->addrs[who], bytes, begun_ns,
				    c->now_ns, &r);

	assert(goes_on == (r.why == POLICY_NONE));
	assert(goes_on || r.why == POLICY_TIME || r.why == POLICY_RATE);
	assert(r.why != POLICY_TIME || c->rules.time_ns > 0);
	assert(r.why != POLICY_RATE || c->rules.rate_bps > 0);
	check_text(&r);
}

static void step(struct course *c)
{
	uint8_t what = fuzz_byte(&c->in);
	int who = what % ADDRESSES;

	switch (what / ADDRESSES % 4) {
	case 0:
		enter(c, who);
		break;
	case 1:
		if (c->streams[who] > 0) {
			policy_leave(c->policy, &c->addrs[who]);
			c->streams[who]--;
		}
		break;
	case 2:
		move(c, who);
		break;
	default:
		c->now_ns += what * SEC_NS / 100;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const uint8_t v4[ADDRESSES][4] = { { 192, 0, 2, 1 },
						  { 192, 0, 2, 2 },
						  { 198, 51, 100, 1 },
						  { 10, 0, 0, 1 } };
	struct course c = { .in = { p, n }, .now_ns = SEC_NS };
	struct policy_refusal any;

	if (read_prefix(&c.in, &c.rules.allow[0])) {
		c.rules.n_allow = 1;
		check_prefix(&c.rules.allow[0]);
	}
	c.rules.clients = fuzz_byte(&c.in) % 4;
	c.rules.time_ns = fuzz_byte(&c.in) * SEC_NS;
	c.rules.rate_bps = fuzz_number(&c.in, 3);
	for (int i = 0; i < ADDRESSES; i++)
		policy_v4(&c.addrs[i], v4[i]);
	any.why = (enum policy_why)(fuzz_byte(&c.in) % (POLICY_OTHER + 1));
	any.value = fuzz_number(&c.in, 8);
	check_text(&any);
	c.policy = policy_new(&c.rules);
	assert(c.policy != NULL);
	while (c.in.left > 0)
		step(&c);
	policy_free(c.policy);
	return 0;
}
