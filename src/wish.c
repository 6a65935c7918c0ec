#include "wish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "back.h"
#include "clock.h"
#include "log.h"
#include "platform/platform.h"
#include "siphash.h"

/* Somebody whose wish was refused, or is done, is remembered so long: the same
 * request comes again and again. */
#define ASKED_NS CLOCK_SECOND_NS
#define ASKED_MAX 1024
/* Slower is no test: a datagram of the usual size in a minute. */
#define MIN_BPS (OPTIONS_UDP_LEN * 8 / 60)
/* So many are sent to at a time. */
#define SENDERS_MAX 256

/* Who asked for what is sent to it. */
struct asked {
	struct asked *next;
	struct session_key key;
	struct policy_addr addr;
	struct back *back; /* NULL: refused, or not yet */
	bool once;         /* asked once: a client asks until data come */
	bool entered;      /* counts in the policy */
	int64_t over_ns;   /* when it was, or had ended; 0: it runs */
};

struct wish {
	int fd;
	int family;
	const struct options *o;
	struct report *report;
	struct policy *policy;
	const uint8_t *buf;
	struct asked *asked;
	unsigned n_asked;
	bool tells_errors; /* of what is sent from the socket */
	uint8_t secret[SIPHASH_KEY_BYTES];
	bool has_secret; /* else nobody can prove where it is */
	atomic_uint begun;
	atomic_uint ended;
};

struct wish *wish_new(int fd, int family, const struct options *o,
		      struct report *r, struct policy *policy,
		      const uint8_t *buf)
{
	struct wish *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->fd = fd;
	w->family = family;
	w->o = o;
	w->report = r;
	w->policy = policy;
	w->buf = buf;
	w->has_secret = platform_secret(w->secret, sizeof(w->secret)) == 0;
	return w;
}

uint64_t wish_cookie(const struct wish *w, const struct session_key *key)
{
	return siphash(w->secret, key, sizeof(*key)) | 1;
}

bool wish_proven(const struct wish *w, const struct session_key *key,
		 const struct udp_arrival *a, bool ours)
{
	struct policy_addr addr;

	if (ours)
		return w->has_secret && wire_cookie_decode(w->buf, a->bytes) ==
						wish_cookie(w, key);
	sock_address(&a->from, &addr);
	for (unsigned i = 0; i < w->o->limits.n_allow; i++) {
		if (policy_holds(&w->o->limits.allow[i], &addr))
			return true;
	}
	return policy_is_private(&addr) || sock_on_link(&a->from);
}

/* Where this one is, or the end of the list. */
static struct asked **find_asked(struct wish *w, const struct session_key *key)
{
	struct asked **at = &w->asked;

	while (*at != NULL && memcmp(&(*at)->key, key, sizeof(*key)) != 0)
		at = &(*at)->next;
	return at;
}

static void drop_asked(struct wish *w, struct asked **at)
{
	struct asked *one = *at;

	*at = one->next;
	w->n_asked--;
	if (one->back != NULL)
		back_free(one->back);
	free(one);
}

/* Remembers who asked; NULL: too many, or no memory. */
static struct asked *add_asked(struct wish *w, const struct session_key *key,
			       const struct udp_arrival *a)
{
	struct asked *one =
		w->n_asked < ASKED_MAX ? calloc(1, sizeof(*one)) : NULL;

	if (one == NULL)
		return NULL;
	one->key = *key;
	sock_address(&a->from, &one->addr);
	one->next = w->asked;
	w->asked = one;
	w->n_asked++;
	return one;
}

/* How many of them send now. */
static unsigned senders(const struct wish *w)
{
	unsigned n = 0;

	for (const struct asked *one = w->asked; one != NULL; one = one->next)
		n += one->back != NULL && !back_ended(one->back);
	return n;
}

void wish_refuse(const struct udp_arrival *a, const char *why)
{
	char address[OUT_ADDR_BYTES];
	uint16_t port = 0;

	sock_text(&a->from, address, sizeof(address), &port);
	log_stranger(clock_ns(), "%s port %u asks to be sent to: %s", address,
		     (unsigned)port, why);
}

/* Why this wish can't be met, NULL: it can. */
static const char *too_much(const struct wish *w, const struct wish_ask *ask)
{
	uint64_t bps = ask->header->rate_bps;

	if (bps == 0 && ask->header->winband > 0)
		bps = (uint64_t)ask->header->winband;
	if (senders(w) >= SENDERS_MAX)
		return "too many are sent to already";
	/* as fast as possible is for who has shown more than an address */
	if (!ask->ours && bps == 0)
		return "only with a rate";
	if (bps > 0 && bps < MIN_BPS)
		return "only with a rate of some datagrams a minute";
	return NULL;
}

static struct back *start(struct wish *w, const struct wish_ask *ask, int *why)
{
	struct wire_wish wish = wire_wish(ask->header);

	if (!w->tells_errors && !ask->connects)
		w->tells_errors = platform_tx_errors(w->fd, w->family) == 0;
	return back_start(
		&(struct back_job){
			.fd = w->fd,
			.from = ask->from,
			.header = ask->header,
			.layout = ask->layout,
			.ours = ask->ours,
			.connects = ask->connects,
			.precise = clock_may_spin(senders(w) + 1),
			.mode = wish.reverse ? "reverse"
				: wish.full  ? "full-duplex"
					     : NULL,
		},
		w->o, w->report, why);
}

/* Begins to send what a client asked for; NULL: it can't be had. */
static struct asked *begin(struct wish *w, const struct wish_ask *ask)
{
	const char *much = too_much(w, ask);
	struct asked *one = add_asked(w, ask->key, ask->from);
	int why = -ENOMEM;

	if (one == NULL)
		return NULL;
	if (much == NULL)
		one->back = start(w, ask, &why);
	if (one->back != NULL) {
		atomic_fetch_add(&w->begun, 1);
		return one;
	}
	wish_refuse(ask->from, much != NULL ? much : strerror(-why));
	one->over_ns = clock_ns();
	return NULL;
}

bool wish_send(struct wish *w, const struct wish_ask *ask)
{
	return begin(w, ask) != NULL;
}

bool wish_is_request(const uint8_t *p, size_t n)
{
	/* a look at one byte tells it of most that is none */
	const uint8_t modes = (WIRE_EXT | WIRE_V2) >> 24;
	struct wire_client c;

	return n >= WIRE_UDP_CLIENT_BYTES &&
	       (p[WIRE_UDP_BYTES] & modes) == modes &&
	       wire_client_decode(p + WIRE_UDP_BYTES, n - WIRE_UDP_BYTES, &c) ==
		       0 &&
	       wire_wish(&c).reverse;
}

/* The word to a client of ours that has to show where it is. */
static void ask_for_proof(struct wish *w, const struct session_key *key,
			  const struct udp_arrival *a)
{
	uint8_t hello[BLOCK_HELLO_BYTES];
	struct wire_udp h;

	if (wire_udp_decode(w->buf, a->bytes, WIRE_MODERN, &h) == 0 &&
	    a->bytes >= BLOCK_HELLO_BYTES)
		(void)udp_answer(w->fd, a, hello,
				 block_hello_encode(hello, (uint64_t)h.sent_ns,
						    wish_cookie(w, key)));
}

static void refuse_request(struct wish *w, const struct session_key *key,
			   const struct udp_arrival *a,
			   const struct policy_refusal *r, bool ours,
			   int64_t arrival_ns)
{
	struct asked *one = add_asked(w, key, a);
	char why[POLICY_TEXT_BYTES];
	uint8_t word[BLOCK_REFUSAL_BYTES];
	struct wire_udp h;

	if (one != NULL)
		one->over_ns = arrival_ns;
	policy_text(r, why);
	wish_refuse(a, why);
	if (ours && wire_udp_decode(w->buf, a->bytes, WIRE_MODERN, &h) == 0)
		(void)udp_answer(
			w->fd, a, word,
			block_refusal_encode(word, r, (uint64_t)h.sent_ns));
}

void wish_request(struct wish *w, const struct session_key *key,
		  const struct udp_arrival *a, int64_t arrival_ns)
{
	struct policy_refusal refusal = { .why = POLICY_NONE };
	struct policy_ask ask = { .time_known = false };
	struct wire_client c;
	bool ours;

	struct asked **asked = find_asked(w, key);

	if (*asked != NULL && !(*asked)->once)
		return;
	(void)wire_client_decode(w->buf + WIRE_UDP_BYTES,
				 a->bytes - WIRE_UDP_BYTES, &c);
	ours = c.has_ext && wire_is_ours(c.version_u, c.version_l);
	stream_ask(&c, &ask);
	sock_address(&a->from, &ask.addr);
	if (!wish_proven(w, key, a, ours)) {
		if (ours) {
			ask_for_proof(w, key, a);
			return;
		}
		refusal.why = POLICY_ADDRESS;
	}
	/* one datagram may be anybody's; a client asks until data come */
	if (!ours && *asked == NULL && refusal.why == POLICY_NONE) {
		struct asked *one = add_asked(w, key, a);

		if (one != NULL) {
			one->once = true;
			one->over_ns = arrival_ns;
		}
		return;
	}
	if (*asked != NULL)
		drop_asked(w, asked);
	if (refusal.why != POLICY_NONE ||
	    !policy_enter(w->policy, &ask, &refusal)) {
		refuse_request(w, key, a, &refusal, ours, arrival_ns);
		return;
	}

	struct asked *one = begin(w, &(struct wish_ask){
					     .key = key,
					     .from = a,
					     .header = &c,
					     .layout = WIRE_MODERN,
					     .ours = ours,
				     });

	if (one != NULL)
		one->entered = true;
	else
		policy_leave(w->policy, &ask.addr);
}

void wish_take_errors(struct wish *w)
{
	struct sock_addr to;
	struct session_key key;
	int number;

	while (w->tells_errors &&
	       (number = platform_next_error(w->fd, &to.ss)) >= 0) {
		struct asked *one = NULL;

		if (number > 0 && session_key(&key, &to.ss))
			one = *find_asked(w, &key);
		if (one != NULL && one->back != NULL)
			back_stop(one->back);
	}
}

bool wish_look_after(struct wish *w, int64_t now_ns)
{
	bool ended = false;
	struct asked **at = &w->asked;

	while (*at != NULL) {
		struct asked *one = *at;

		if (one->back != NULL && one->over_ns == 0 &&
		    back_ended(one->back)) {
			one->over_ns = now_ns;
			if (one->entered)
				policy_leave(w->policy, &one->addr);
			atomic_fetch_add(&w->ended, 1);
			ended = true;
		}
		if (one->over_ns != 0 && now_ns - one->over_ns > ASKED_NS &&
		    (one->back == NULL || back_over(one->back)))
			drop_asked(w, at);
		else
			at = &one->next;
	}
	return ended;
}

void wish_stop(struct wish *w)
{
	for (struct asked *one = w->asked; one != NULL; one = one->next) {
		if (one->back != NULL)
			back_stop(one->back);
	}
	for (struct asked *one = w->asked; one != NULL; one = one->next) {
		if (one->back != NULL)
			back_join(one->back);
	}
}

void wish_free(struct wish *w)
{
	if (w == NULL)
		return;
	while (w->asked != NULL)
		drop_asked(w, &w->asked);
	free(w);
}

unsigned wish_begun(const struct wish *w)
{
	return atomic_load(&w->begun);
}

bool wish_busy(const struct wish *w)
{
	return atomic_load(&w->begun) != atomic_load(&w->ended);
}
