#include "policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define NSEC_PER_SEC INT64_C(1000000000)
#define V4_BITS 32
#define V6_BITS 128
#define V4_AT 12 /* where an IPv4 address stands */

/* A client that is served. */
struct client {
	struct client *next;
	struct policy_addr addr;
	unsigned streams;
	int64_t told_ns;   /* when level_bits was worked out; 0: not yet */
	double level_bits; /* received beyond what the rate allowed */
};

struct policy {
	const struct policy_rules *rules;
	struct client *clients;
	uint32_t count;
};

static const uint8_t v4_in_v6[V4_AT] = { [10] = 0xff, [11] = 0xff };

void policy_v4(struct policy_addr *addr, const uint8_t v4[4])
{
	memcpy(addr->bytes, v4_in_v6, sizeof(v4_in_v6));
	memcpy(addr->bytes + V4_AT, v4, POLICY_ADDR_BYTES - V4_AT);
}

int policy_prefix(struct policy_prefix *p, const char *text)
{
	char addr[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	unsigned width = V6_BITS;
	int64_t bits;

	if (length >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, length);
	addr[length] = '\0';
	memcpy(p->addr.bytes, v4_in_v6, sizeof(v4_in_v6));
	if (inet_pton(AF_INET, addr, p->addr.bytes + V4_AT) == 1)
		width = V4_BITS;
	else if (inet_pton(AF_INET6, addr, p->addr.bytes) != 1)
		return -EINVAL;
	p->bits = V6_BITS;
	if (text[length] == '\0')
		return 0;
	if (units_whole(text + length + 1, 0, &bits) < 0 || bits < 0 ||
	    bits > width)
		return -EINVAL;
	p->bits = V6_BITS - width + (unsigned)bits;
	return 0;
}

bool policy_holds(const struct policy_prefix *p, const struct policy_addr *addr)
{
	size_t bytes = p->bits / 8;
	unsigned rest = p->bits % 8;
	uint8_t differ;

	if (memcmp(p->addr.bytes, addr->bytes, bytes) != 0)
		return false;
	if (rest == 0)
		return true;
	differ = p->addr.bytes[bytes] ^ addr->bytes[bytes];
	return differ >> (8 - rest) == 0;
}

bool policy_is_private(const struct policy_addr *addr)
{
	static const char *const prefixes[] = {
		"127.0.0.0/8",
		"10.0.0.0/8",
		"172.16.0.0/12",
		"192.168.0.0/16",
		"169.254.0.0/16",
		"100.64.0.0/10",
		"::1",
		"fc00::/7",
		"fe80::/10",
	};
	struct policy_prefix p;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (policy_prefix(&p, prefixes[i]) == 0 &&
		    policy_holds(&p, addr))
			return true;
	}
	return false;
}

struct policy *policy_new(const struct policy_rules *rules)
{
	struct policy *l = calloc(1, sizeof(*l));

	if (l != NULL)
		l->rules = rules;
	return l;
}

void policy_free(struct policy *l)
{
	if (l == NULL)
		return;
	while (l->clients != NULL) {
		struct client *c = l->clients;

		l->clients = c->next;
		free(c);
	}
	free(l);
}

/* Where this client is, or the end of the list. */
static struct client **find(struct policy *l, const struct policy_addr *addr)
{
	struct client **at = &l->clients;

	while (*at != NULL && memcmp(&(*at)->addr, addr, sizeof(*addr)) != 0)
		at = &(*at)->next;
	return at;
}

static bool is_allowed(const struct policy_rules *rules,
		       const struct policy_addr *addr)
{
	for (unsigned i = 0; i < rules->n_allow; i++) {
		if (policy_holds(&rules->allow[i], addr))
			return true;
	}
	return rules->n_allow == 0;
}

/* 0 means: without limit. */
static bool is_more(uint64_t asked, uint64_t limit)
{
	return limit > 0 && (asked == 0 || asked > limit);
}

static struct policy_refusal judge(const struct policy *l,
				   const struct policy_ask *ask, bool known)
{
	const struct policy_rules *rules = l->rules;

	if (!is_allowed(rules, &ask->addr))
		return (struct policy_refusal){ .why = POLICY_ADDRESS };
	if (!known && rules->clients > 0 && l->count >= rules->clients)
		return (struct policy_refusal){ .why = POLICY_CLIENTS,
						.value = rules->clients };
	if (ask->time_known &&
	    is_more((uint64_t)ask->time_ns, (uint64_t)rules->time_ns))
		return (struct policy_refusal){
			.why = POLICY_TIME, .value = (uint64_t)rules->time_ns
		};
	if (ask->rate_known && is_more(ask->rate_bps, rules->rate_bps))
		return (struct policy_refusal){ .why = POLICY_RATE,
						.value = rules->rate_bps };
	return (struct policy_refusal){ .why = POLICY_NONE };
}

/* Only what is limited needs to be kept count of. */
static bool keeps_clients(const struct policy_rules *rules)
{
	return rules->clients > 0 || rules->rate_bps > 0;
}

bool policy_enter(struct policy *l, const struct policy_ask *ask,
		  struct policy_refusal *r)
{
	struct client *c = *find(l, &ask->addr);

	*r = judge(l, ask, c != NULL);
	if (r->why != POLICY_NONE)
		return false;
	if (!keeps_clients(l->rules))
		return true;
	if (c == NULL) {
		c = calloc(1, sizeof(*c));
		if (c == NULL) {
			r->why = POLICY_MEMORY;
			return false;
		}
		c->addr = ask->addr;
		c->next = l->clients;
		l->clients = c;
		l->count++;
	}
	c->streams++;
	return true;
}

void policy_leave(struct policy *l, const struct policy_addr *addr)
{
	struct client **at = find(l, addr);
	struct client *c = *at;

	if (c == NULL || --c->streams > 0)
		return;
	*at = c->next;
	l->count--;
	free(c);
}

/* Has this client received more than a second of its rate too much? */
static bool is_too_fast(struct client *c, uint64_t rate_bps, uint64_t bytes,
			int64_t now_ns)
{
	double rate = (double)rate_bps;

	if (c->told_ns == 0)
		c->told_ns = now_ns;
	c->level_bits += (double)bytes * 8 -
			 (double)(now_ns - c->told_ns) * rate / NSEC_PER_SEC;
	if (c->level_bits < 0)
		c->level_bits = 0;
	c->told_ns = now_ns;
	return c->level_bits > rate;
}

bool policy_moved(struct policy *l, const struct policy_addr *addr,
		  uint64_t bytes, int64_t begun_ns, int64_t now_ns,
		  struct policy_refusal *r)
{
	const struct policy_rules *rules = l->rules;
	struct client *c = *find(l, addr);

	*r = (struct policy_refusal){ .why = POLICY_NONE, .running = true };
	if (rules->time_ns > 0 &&
	    now_ns - begun_ns > rules->time_ns + POLICY_GRACE_NS) {
		r->why = POLICY_TIME;
		r->value = (uint64_t)rules->time_ns;
	} else if (rules->rate_bps > 0 && c != NULL &&
		   is_too_fast(c, rules->rate_bps, bytes, now_ns)) {
		r->why = POLICY_RATE;
		r->value = rules->rate_bps;
	}
	return r->why == POLICY_NONE;
}

void policy_text(const struct policy_refusal *r, char buf[POLICY_TEXT_BYTES])
{
	char rate[32];

	switch (r->why) {
	case POLICY_NONE:
		break;
	case POLICY_MEMORY:
		snprintf(buf, POLICY_TEXT_BYTES,
			 "no memory for another client");
		return;
	case POLICY_KEY:
		snprintf(buf, POLICY_TEXT_BYTES,
			 "only with its --permit-key, while that is valid");
		return;
	case POLICY_OTHER:
		snprintf(buf, POLICY_TEXT_BYTES,
			 "for a reason that this version does not know");
		return;
	case POLICY_ADDRESS:
		snprintf(buf, POLICY_TEXT_BYTES, "not from this address");
		return;
	case POLICY_CLIENTS:
		snprintf(buf, POLICY_TEXT_BYTES,
			 "at most %" PRIu64 " client%s at once", r->value,
			 r->value == 1 ? "" : "s");
		return;
	case POLICY_TIME:
		snprintf(buf, POLICY_TEXT_BYTES, "at most %.10g s a test",
			 (double)r->value / NSEC_PER_SEC);
		return;
	case POLICY_RATE:
		units_rate_text(rate, sizeof(rate), r->value / 8, NSEC_PER_SEC,
				'a', UNITS_G2);
		snprintf(buf, POLICY_TEXT_BYTES,
			 "at most %s/s a client, as -b asks for it",
			 rate + strspn(rate, " "));
		return;
	}
	buf[0] = '\0';
}
