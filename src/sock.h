/*
 * sock: names to addresses, sockets opened, tuned, bound and connected,
 * endpoint names.  Functions return 0 (or a descriptor or count) or a
 * negative errno and print nothing.
 */
#ifndef SOCK_H
#define SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "options.h"

/* What a UDP receiver asks for: the system's limit is usually lower, then the
 * limit is granted. */
#define SOCK_RECEIVE_BYTES (4u * 1024 * 1024)
/* A connect that takes longer than this has failed. */
#define SOCK_CONNECT_MS 20000

struct sock_addr {
	struct sockaddr_storage ss;
	socklen_t len;
};

/*
 * Addresses of host (NULL: the wildcard) and port; family 0, 4 or 6.
 * Returns how many, at least 1, or -ENOENT with the resolver's words in why.
 */
int sock_resolve(const char *host, uint16_t port, int family, bool udp,
		 struct sock_addr *list, size_t max, const char **why);
#define SOCK_NAMES_MAX 8
/* The same; -EINTR once *stop is not 0, however long a name server lets one
 * wait: the process should end then.  At most SOCK_NAMES_MAX. */
int sock_resolve_stop(const char *host, uint16_t port, int family, bool udp,
		      struct sock_addr *list, size_t max, const char **why,
		      const _Atomic int *stop);
/* The address as text, with its zone; port may be NULL. */
void sock_text(const struct sock_addr *addr, char *buf, size_t size,
	       uint16_t *port);
/* The address alone, as policy knows it. */
void sock_address(const struct sock_addr *addr, struct policy_addr *out);
/* Is it of a network that this host has an interface in? */
bool sock_on_link(const struct sock_addr *addr);
void sock_set_port(struct sock_addr *addr, uint16_t port);
bool sock_is_multicast(const struct sock_addr *addr);

#define SOCK_WHAT_BYTES 80

/* A socket with every option that must be set before it is bound, connected
 * or listening.  On failure what names the culprit: -Z: "nosuch", or
 * "socket". */
int sock_open(const struct sock_addr *addr, const struct options *o,
	      char what[SOCK_WHAT_BYTES]);
int sock_bind(int fd, const struct sock_addr *addr, bool udp);
/* Binds to addr and, for TCP, listens. */
int sock_listen(int fd, const struct sock_addr *addr, bool udp);
/* Joins a multicast group on a device ("": the system's choice); with source
 * only for what that one sends. */
int sock_join(int fd, const struct sock_addr *group, const char *device,
	      const struct sock_addr *source);
/* Connects within SOCK_CONNECT_MS; -EINTR once *stop is not 0. */
int sock_connect(int fd, const struct sock_addr *addr, bool udp,
		 const _Atomic int *stop);
/* Raises the receive buffer as far as the system allows, up to bytes. */
void sock_raise_receive(int fd, uint32_t bytes);
/* Bounds how long a blocked send or receive lasts; 0: without limit. */
int sock_send_limit(int fd, int64_t ns);
int sock_receive_limit(int fd, int64_t ns);

/* The socket buffer as granted, bytes as the system counts them. */
uint64_t sock_window(int fd, bool send);
/* Bytes of payload in a full segment of a TCP socket; 0: unknown. */
unsigned sock_mss(int fd);
/* The two ends' names. */
int sock_local(int fd, struct sock_addr *addr);
int sock_peer(int fd, struct sock_addr *addr);

#endif
