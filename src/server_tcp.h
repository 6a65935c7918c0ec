/*
 * server_tcp: the TCP side of a server.  The caller's thread accepts and looks
 * after the connections; each of them has a thread of its own.
 */
#ifndef SERVER_TCP_H
#define SERVER_TCP_H

#include <stdbool.h>

#include "options.h"
#include "report.h"

struct server_tcp;

/* Serves who connects to the listening fd, which stays the caller's, and
 * reports to r.  NULL: no memory. */
struct server_tcp *server_tcp_new(int fd, const struct options *o,
				  struct report *r);
/* Serves only who has this key, up to until_ns; before the first look.  The key
 * stays the caller's. */
void server_tcp_key(struct server_tcp *v, const char *key, int64_t until_ns);
/* Serves only peer's address, one test of so many streams that lasts at most
 * longest_ns (0: any time): a client to which its server connects back. */
void server_tcp_only(struct server_tcp *v, const struct sock_addr *peer,
		     uint32_t streams, int64_t longest_ns);
/* Waits at most wait_ms for a connection, and does what is due for all of
 * them; to be called again and again. */
void server_tcp_look(struct server_tcp *v, int wait_ms);
/* Tests accepted so far. */
unsigned server_tcp_accepted(const struct server_tcp *v);
/* Is a client being served, and not only waiting (-1)? */
bool server_tcp_serving(const struct server_tcp *v);
/* Nobody is connected, and the report has let go of all streams. */
bool server_tcp_quiet(const struct server_tcp *v);
/* Ends what runs, with its partial report. */
void server_tcp_stop(struct server_tcp *v);
/* Frees it, once the report has let go of its streams. */
void server_tcp_free(struct server_tcp *v);

#endif
