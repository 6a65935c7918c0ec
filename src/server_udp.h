/*
 * server_udp: the UDP side of a server.  One thread receives what comes to
 * the port, tells the peers apart and answers their end markers.
 */
#ifndef SERVER_UDP_H
#define SERVER_UDP_H

#include <stdbool.h>

#include "options.h"
#include "report.h"

struct server_udp;

/* What a client that receives makes of it. */
struct server_udp_only {
	struct sock_addr peer; /* nobody else is served */
	uint32_t streams;      /* of its test */
	bool quiet;            /* nothing is answered: -R, --full-duplex */
	const char *mode;      /* for its connections' lines, NULL: plain */
};

/* Serves on fd, from a thread of its own, and reports to r.  at: its address,
 * of which the family counts, and whether it is a group's: then nothing is ever
 * answered.  only: a client, NULL: a server.  NULL: no memory or no thread. */
struct server_udp *server_udp_start(int fd, const struct sock_addr *at,
				    const struct options *o, struct report *r,
				    const struct server_udp_only *only);
/* What its server, one of ours, wants to see again; 0: nothing yet. */
uint64_t server_udp_cookie(const struct server_udp *u);
/* Has its server, one of ours, refused to serve it, and why? */
bool server_udp_refused(const struct server_udp *u, struct policy_refusal *r);
/* Tests accepted so far. */
unsigned server_udp_accepted(const struct server_udp *u);
/* True when no test runs. */
bool server_udp_idle(const struct server_udp *u);
/* True when no test runs, and no peer has asked for its report lately. */
bool server_udp_quiet(const struct server_udp *u);
/* No new tests from now on. */
void server_udp_refuse(struct server_udp *u);
/* Ends what runs, with its partial report, and the thread. */
void server_udp_stop(struct server_udp *u);
/* Frees it; the report has let go of its streams. */
void server_udp_free(struct server_udp *u);

#endif
