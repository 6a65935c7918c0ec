/*
 * policy: whom a server serves, and how much of it: --allow, --max-clients,
 * --max-time and --max-rate.  Pure: the caller brings addresses, counts and
 * times, and a lock where several threads ask.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_ALLOW_MAX 64
#define POLICY_ADDR_BYTES 16
/* A test may last so much longer than --max-time, for its end to arrive. */
#define POLICY_GRACE_NS 2000000000

/* An address: of IPv4 as ::ffff:a.b.c.d, as dual-stack sockets have it. */
struct policy_addr {
	uint8_t bytes[POLICY_ADDR_BYTES];
};

struct policy_prefix {
	struct policy_addr addr;
	unsigned bits; /* of 128 */
};

/* What the options say; 0 everywhere: no limit. */
struct policy_rules {
	struct policy_prefix allow[POLICY_ALLOW_MAX];
	unsigned n_allow;  /* 0: everybody */
	uint32_t clients;  /* addresses at once */
	int64_t time_ns;   /* of a test */
	uint64_t rate_bps; /* payload of a client, all its streams together */
};

/* Why a test is refused, or ended; as it travels. */
enum policy_why {
	POLICY_NONE,
	POLICY_ADDRESS,
	POLICY_CLIENTS, /* value: how many */
	POLICY_TIME,    /* ns */
	POLICY_RATE,    /* bits a second */
	POLICY_MEMORY,  /* the server has none for another client */
	POLICY_KEY,     /* it has not the permit key, or that has expired */
	POLICY_OTHER,   /* a later version may have more of them */
};

struct policy_refusal {
	enum policy_why why;
	uint64_t value;
	bool running; /* the test had begun, and is ended */
};

/* What a test announces. */
struct policy_ask {
	struct policy_addr addr;
	bool time_known;
	int64_t time_ns; /* 0: it has no end of its own */
	bool rate_known;
	uint64_t rate_bps; /* of all its streams; 0: as fast as possible */
};

#define POLICY_TEXT_BYTES 96

/* The four bytes of an IPv4 address in network order. */
void policy_v4(struct policy_addr *addr, const uint8_t v4[4]);
/* "10.0.0.0/8", "2001:db8::/32" or an address alone: 0, or -EINVAL. */
int policy_prefix(struct policy_prefix *p, const char *text);
bool policy_holds(const struct policy_prefix *p,
		  const struct policy_addr *addr);

/* Loopback, private use (RFC 1918, RFC 4193), link-local or shared (RFC 6598):
 * addresses that no router of the Internet brings a datagram from. */
bool policy_is_private(const struct policy_addr *addr);

struct policy;

/* NULL: no memory.  The rules stay the caller's. */
struct policy *policy_new(const struct policy_rules *rules);
void policy_free(struct policy *l);
/* One more stream of this client?  True: it counts until policy_leave.  False:
 * *r says why not. */
bool policy_enter(struct policy *l, const struct policy_ask *ask,
		  struct policy_refusal *r);
void policy_leave(struct policy *l, const struct policy_addr *addr);
/*
 * Payload of one stream of a client that has entered: so many bytes since it
 * was told of last, at now_ns, and the test began at begun_ns.  False: *r says
 * why the test must end.  The rate is exceeded by what is more than one second
 * of it beyond what its time allows.
 */
bool policy_moved(struct policy *l, const struct policy_addr *addr,
		  uint64_t bytes, int64_t begun_ns, int64_t now_ns,
		  struct policy_refusal *r);
/* "at most 2 clients at once" and the like, for either end. */
void policy_text(const struct policy_refusal *r, char buf[POLICY_TEXT_BYTES]);

#endif
