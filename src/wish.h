/*
 * wish: what UDP clients ask their server to send (-R, --full-duplex, -d, -r),
 * and who may have it: whose source address can't be forged.  Everything but
 * the counts is of the thread that receives.
 */
#ifndef WISH_H
#define WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "report.h"
#include "session.h"
#include "udp.h"

struct wish;

/* fd, of this address family, is the server's socket; buf holds the datagram
 * that the other functions are asked about.  NULL: no memory. */
struct wish *wish_new(int fd, int family, const struct options *o,
		      struct report *r, struct policy *policy,
		      const uint8_t *buf);
/* After wish_stop; the report has let go of what was sent. */
void wish_free(struct wish *w);

/* What this client has to show to prove that it is where it says; not 0. */
uint64_t wish_cookie(const struct wish *w, const struct session_key *key);
/* May something be sent to this client beyond an answer?  One of ours shows the
 * cookie; of another no router brought the datagram from elsewhere. */
bool wish_proven(const struct wish *w, const struct session_key *key,
		 const struct udp_arrival *a, bool ours);
/* One line about somebody who does not get what it asks for. */
void wish_refuse(const struct udp_arrival *a, const char *why);

struct wish_ask {
	const struct session_key *key;
	const struct udp_arrival *from;
	const struct wire_client *header;
	enum wire_layout layout;
	bool ours;
	bool connects; /* the server does, -d and -r */
};

/* Begins to send to a client that has proven itself; false: it can't be had,
 * and a line says why. */
bool wish_send(struct wish *w, const struct wish_ask *ask);
/* Is this datagram one of a client that sends nothing but such, until data come
 * (-R)?  And what becomes of it, at arrival_ns. */
bool wish_is_request(const uint8_t *p, size_t n);
void wish_request(struct wish *w, const struct session_key *key,
		  const struct udp_arrival *a, int64_t arrival_ns);
/* The socket has errors: those to whom is sent may not be there. */
void wish_take_errors(struct wish *w);
/* To be called now and then; true: something has ended. */
bool wish_look_after(struct wish *w, int64_t now_ns);
void wish_stop(struct wish *w);

/* What was begun so far, and whether some of it still runs; by any thread. */
unsigned wish_begun(const struct wish *w);
bool wish_busy(const struct wish *w);

#endif
