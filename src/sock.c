#include "sock.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"

#define BACKLOG 1024
#define SECOND_NS 1000000000
/* A wait looks this often whether it is still wanted. */
#define LOOK_MS 100

int sock_resolve(const char *host, uint16_t port, int family, bool udp,
		 struct sock_addr *list, size_t max, const char **why)
{
	struct addrinfo hints = {
		.ai_family = family == 4   ? AF_INET
			     : family == 6 ? AF_INET6
					   : AF_UNSPEC,
		.ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (host == NULL ? AI_PASSIVE : 0),
	};
	struct addrinfo *found = NULL;
	char service[8];
	size_t n = 0;

	(void)snprintf(service, sizeof(service), "%u", (unsigned)port);

	int rc = getaddrinfo(host, service, &hints, &found);

	if (rc != 0) {
		*why = gai_strerror(rc);
		return -ENOENT;
	}
	for (struct addrinfo *a = found; a != NULL && n < max; a = a->ai_next) {
		if (a->ai_addrlen > sizeof(list[n].ss))
			continue;
		memset(&list[n], 0, sizeof(list[n]));
		memcpy(&list[n].ss, a->ai_addr, a->ai_addrlen);
		list[n].len = a->ai_addrlen;
		n++;
	}
	freeaddrinfo(found);
	if (n == 0) {
		*why = "no usable address";
		return -ENOENT;
	}
	return (int)n;
}

void sock_text(const struct sock_addr *addr, char *buf, size_t size,
	       uint16_t *port)
{
	char service[16] = "0";
	unsigned number = 0;

	if (getnameinfo((const struct sockaddr *)&addr->ss, addr->len, buf,
			(socklen_t)size, service, sizeof(service),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		(void)snprintf(buf, size, "?");
	for (const char *p = service; *p >= '0' && *p <= '9'; p++)
		number = number * 10 + (unsigned)(*p - '0');
	if (port != NULL)
		*port = (uint16_t)number;
}

void sock_address(const struct sock_addr *addr, struct policy_addr *out)
{
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	uint8_t v4[4];

	if (addr->ss.ss_family == AF_INET) {
		memcpy(&sin, &addr->ss, sizeof(sin));
		memcpy(v4, &sin.sin_addr, sizeof(v4));
		policy_v4(out, v4);
		return;
	}
	memcpy(&sin6, &addr->ss, sizeof(sin6));
	memcpy(out->bytes, &sin6.sin6_addr, sizeof(out->bytes));
}

/* How many leading bits of a netmask are set. */
static unsigned mask_bits(const struct sockaddr *mask, int family)
{
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	uint8_t bytes[16] = { 0 };
	unsigned bits = 0;

	if (family == AF_INET) {
		memcpy(&sin, mask, sizeof(sin));
		memcpy(bytes, &sin.sin_addr, 4);
	} else {
		memcpy(&sin6, mask, sizeof(sin6));
		memcpy(bytes, &sin6.sin6_addr, 16);
	}
	while (bits < 128 && (bytes[bits / 8] << bits % 8 & 0x80) != 0)
		bits++;
	return bits;
}

/* The network of an interface's address. */
static bool network_of(const struct ifaddrs *one, struct policy_prefix *net)
{
	int family =
		one->ifa_addr != NULL ? one->ifa_addr->sa_family : AF_UNSPEC;
	struct sock_addr own = { .len = 0 };

	if ((family != AF_INET && family != AF_INET6) ||
	    one->ifa_netmask == NULL)
		return false;
	memcpy(&own.ss, one->ifa_addr,
	       family == AF_INET ? sizeof(struct sockaddr_in)
				 : sizeof(struct sockaddr_in6));
	sock_address(&own, &net->addr);
	net->bits = mask_bits(one->ifa_netmask, family) +
		    (family == AF_INET ? 96 : 0);
	return true;
}

bool sock_on_link(const struct sock_addr *addr)
{
	struct policy_addr who;
	struct policy_prefix net;
	struct ifaddrs *list;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	sock_address(addr, &who);
	for (const struct ifaddrs *one = list; one != NULL && !found;
	     one = one->ifa_next)
		found = network_of(one, &net) && policy_holds(&net, &who);
	freeifaddrs(list);
	return found;
}

void sock_set_port(struct sock_addr *addr, uint16_t port)
{
	/* the port stands at the same place in both families */
	struct sockaddr_in sin;

	memcpy(&sin, &addr->ss, sizeof(sin));
	sin.sin_port = htons(port);
	memcpy(&addr->ss, &sin, sizeof(sin));
}

bool sock_is_multicast(const struct sock_addr *addr)
{
	if (addr->ss.ss_family == AF_INET) {
		struct sockaddr_in sin;

		memcpy(&sin, &addr->ss, sizeof(sin));
		return IN_MULTICAST(ntohl(sin.sin_addr.s_addr));
	}
	if (addr->ss.ss_family == AF_INET6) {
		struct sockaddr_in6 sin6;

		memcpy(&sin6, &addr->ss, sizeof(sin6));
		return IN6_IS_ADDR_MULTICAST(&sin6.sin6_addr);
	}
	return false;
}

/* A name that is looked up on a thread of its own. */
struct lookup {
	char *host; /* NULL: the wildcard */
	uint16_t port;
	int family;
	bool udp;
	struct sock_addr list[SOCK_NAMES_MAX];
	size_t max;
	const char *why;
	int rc;
	pthread_t thread;
	int done[2];      /* a pipe: a byte comes when it is done */
	atomic_bool left; /* by one of two: the other frees it */
};

static void lookup_free(struct lookup *l)
{
	close(l->done[0]);
	close(l->done[1]);
	free(l->host);
	free(l);
}

static void lookup_leave(struct lookup *l)
{
	if (atomic_exchange(&l->left, true))
		lookup_free(l);
}

static void *run_lookup(void *arg)
{
	struct lookup *l = arg;

	l->rc = sock_resolve(l->host, l->port, l->family, l->udp, l->list,
			     l->max, &l->why);
	(void)!write(l->done[1], "", 1);
	lookup_leave(l);
	return NULL;
}

static struct lookup *lookup_new(const char *host)
{
	struct lookup *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->host = strdup(host);
	if (l->host == NULL || pipe(l->done) < 0) {
		free(l->host);
		free(l);
		return NULL;
	}
	(void)fcntl(l->done[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(l->done[1], F_SETFD, FD_CLOEXEC);
	return l;
}

/* Starts the thread, which blocks all signals. */
static int start_lookup(struct lookup *l)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);

	int rc = pthread_create(&l->thread, NULL, run_lookup, l);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

static int wait_lookup(const struct lookup *l, const _Atomic int *stop)
{
	struct pollfd p = { .fd = l->done[0], .events = POLLIN };
	char byte;

	while (atomic_load(stop) == 0) {
		if (poll(&p, 1, LOOK_MS) > 0 && read(p.fd, &byte, 1) == 1)
			return 0;
	}
	return -EINTR;
}

int sock_resolve_stop(const char *host, uint16_t port, int family, bool udp,
		      struct sock_addr *list, size_t max, const char **why,
		      const _Atomic int *stop)
{
	struct lookup *l = host != NULL ? lookup_new(host) : NULL;

	if (l == NULL)
		return sock_resolve(host, port, family, udp, list, max, why);
	l->port = port;
	l->family = family;
	l->udp = udp;
	l->max = max < SOCK_NAMES_MAX ? max : SOCK_NAMES_MAX;
	if (start_lookup(l) < 0) {
		lookup_free(l);
		return sock_resolve(host, port, family, udp, list, max, why);
	}

	int rc = wait_lookup(l, stop);

	if (rc == 0) {
		/* it has nothing left to do but to leave */
		(void)pthread_join(l->thread, NULL);
		rc = l->rc;
		if (rc > 0)
			memcpy(list, l->list, (size_t)rc * sizeof(*list));
		*why = l->why;
	} else {
		(void)pthread_detach(l->thread);
	}
	lookup_leave(l);
	return rc;
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno
								      : 0;
}

static int set_tos(int fd, int family, int tos)
{
	if (family == AF_INET6)
		return set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
	return set_int(fd, IPPROTO_IP, IP_TOS, tos);
}

static int set_ttl(int fd, int family, bool multicast, int ttl)
{
	if (family == AF_INET6)
		return set_int(fd, IPPROTO_IPV6,
			       multicast ? IPV6_MULTICAST_HOPS
					 : IPV6_UNICAST_HOPS,
			       ttl);
	if (multicast) {
		unsigned char byte = (unsigned char)ttl;

		return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &byte,
				  sizeof(byte)) < 0
			       ? -errno
			       : 0;
	}
	return set_int(fd, IPPROTO_IP, IP_TTL, ttl);
}

/* Names an option and the number that it was given. */
static void name_number(char *what, const char *option, unsigned value)
{
	(void)snprintf(what, SOCK_WHAT_BYTES, "%s: %u", option, value);
}

static void name_text(char *what, const char *option, const char *value)
{
	(void)snprintf(what, SOCK_WHAT_BYTES, "%s: \"%s\"", option, value);
}

/* What the options ask of a TCP socket: the first thing that the system
 * refuses is named. */
static int tune_tcp(int fd, const struct options *o, char *what)
{
	int rc = 0;

	if (o->mss_bytes > 0) {
		name_number(what, "-M", o->mss_bytes);
		rc = set_int(fd, IPPROTO_TCP, TCP_MAXSEG, (int)o->mss_bytes);
	}
	if (rc == 0 && (o->nodelay || o->bounces > 0)) {
		name_text(what, "-N", "TCP_NODELAY");
		rc = set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	}
	if (rc == 0 && o->fq_bps > 0) {
		name_text(what, "--fq-rate", "SO_MAX_PACING_RATE");
		rc = platform_pacing_rate(fd, o->fq_bps / 8);
	}
	if (rc == 0 && o->cca != NULL) {
		name_text(what, "-Z", o->cca);
		rc = platform_cca_set(fd, o->cca);
	}
	return rc;
}

/* The device that a group's datagrams leave from. */
static int set_multicast_device(int fd, int family, const char *device)
{
	struct ip_mreqn via = { .imr_ifindex = (int)if_nametoindex(device) };

	if (via.imr_ifindex == 0)
		return -ENODEV;
	if (family == AF_INET6)
		return set_int(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF,
			       via.imr_ifindex);
	return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &via, sizeof(via)) <
			       0
		       ? -errno
		       : 0;
}

/* -B %DEV and -c HOST%DEV.  Of a group it needs no privilege. */
static int set_device(int fd, const struct sock_addr *addr,
		      const struct options *o, char *what)
{
	bool to = o->to.dev[0] != '\0';
	const char *device = to ? o->to.dev : o->from.dev;

	if (device[0] == '\0')
		return 0;
	name_text(what, to ? "-c" : "-B", device);
	if (!sock_is_multicast(addr))
		return platform_bind_device(fd, device);
	/* a receiver tells it when it joins */
	return o->side == OPTIONS_SERVER
		       ? 0
		       : set_multicast_device(fd, addr->ss.ss_family, device);
}

static int tune(int fd, const struct sock_addr *addr, const struct options *o,
		char *what)
{
	int family = addr->ss.ss_family;
	int rc = 0;

	if (o->window_bytes > 0) {
		name_number(what, "-w", o->window_bytes);
		rc = set_int(fd, SOL_SOCKET,
			     o->side == OPTIONS_CLIENT ? SO_SNDBUF : SO_RCVBUF,
			     (int)o->window_bytes);
	}
	if (rc == 0 && o->tos_set) {
		name_number(what, "-S", o->tos);
		rc = set_tos(fd, family, o->tos);
	}
	if (rc == 0 && o->ttl > 0) {
		name_number(what, "-T", o->ttl);
		rc = set_ttl(fd, family, sock_is_multicast(addr), o->ttl);
	}
	if (rc == 0)
		rc = set_device(fd, addr, o, what);
	if (rc == 0 && !o->udp)
		rc = tune_tcp(fd, o, what);
	return rc;
}

int sock_open(const struct sock_addr *addr, const struct options *o,
	      char what[SOCK_WHAT_BYTES])
{
	(void)snprintf(what, SOCK_WHAT_BYTES, "socket");

	int fd = socket(addr->ss.ss_family, o->udp ? SOCK_DGRAM : SOCK_STREAM,
			0);
	if (fd < 0)
		return -errno;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);

	int rc = tune(fd, addr, o, what);

	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int sock_bind(int fd, const struct sock_addr *addr, bool udp)
{
	/* the port of a connection that has just ended is free again.  Not so
	 * with UDP: a second socket on the port would share its datagrams
	 * unseen */
	if (!udp && set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&addr->ss, addr->len) < 0)
		return -errno;
	return 0;
}

int sock_listen(int fd, const struct sock_addr *addr, bool udp)
{
	int rc = 0;

	if (addr->ss.ss_family == AF_INET6)
		rc = set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	/* each of several receivers on a host gets what a group is sent */
	if (rc == 0 && sock_is_multicast(addr))
		rc = set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (rc == 0)
		rc = sock_bind(fd, addr, udp);
	if (rc == 0 && !udp && listen(fd, BACKLOG) < 0)
		rc = -errno;
	return rc;
}

int sock_join(int fd, const struct sock_addr *group, const char *device,
	      const struct sock_addr *source)
{
	int level = group->ss.ss_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
	unsigned index = device[0] != '\0' ? if_nametoindex(device) : 0;
	struct group_req any = { .gr_interface = index, .gr_group = group->ss };
	struct group_source_req one = { .gsr_interface = index,
					.gsr_group = group->ss };
	int rc;

	if (device[0] != '\0' && index == 0)
		return -ENODEV;
	if (source == NULL) {
		rc = setsockopt(fd, level, MCAST_JOIN_GROUP, &any, sizeof(any));
	} else {
		one.gsr_source = source->ss;
		rc = setsockopt(fd, level, MCAST_JOIN_SOURCE_GROUP, &one,
				sizeof(one));
	}
	return rc < 0 ? -errno : 0;
}

static int wait_connected(int fd, const _Atomic int *stop)
{
	for (int waited_ms = 0; waited_ms < SOCK_CONNECT_MS;
	     waited_ms += LOOK_MS) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		int error = 0;
		socklen_t len = sizeof(error);
		int n = poll(&p, 1, LOOK_MS);

		if (atomic_load(stop) != 0)
			return -EINTR;
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
			return -errno;
		return -error;
	}
	return -ETIMEDOUT;
}

static int set_blocking(int fd, bool blocking)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int sock_connect(int fd, const struct sock_addr *addr, bool udp,
		 const _Atomic int *stop)
{
	int rc = udp ? 0 : set_blocking(fd, false);

	if (rc < 0)
		return rc;
	if (connect(fd, (const struct sockaddr *)&addr->ss, addr->len) < 0)
		rc = errno == EINPROGRESS ? wait_connected(fd, stop) : -errno;
	if (rc == 0 && !udp)
		rc = set_blocking(fd, true);
	return rc;
}

void sock_raise_receive(int fd, uint32_t bytes)
{
	/* beyond its limit the system grants the limit */
	(void)set_int(fd, SOL_SOCKET, SO_RCVBUF, (int)bytes);
}

static int set_limit(int fd, int name, int64_t ns)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ns / SECOND_NS),
		.tv_usec = (suseconds_t)(ns % SECOND_NS / 1000),
	};

	return setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)) < 0 ? -errno
								     : 0;
}

int sock_send_limit(int fd, int64_t ns)
{
	return set_limit(fd, SO_SNDTIMEO, ns);
}

int sock_receive_limit(int fd, int64_t ns)
{
	return set_limit(fd, SO_RCVTIMEO, ns);
}

uint64_t sock_window(int fd, bool send)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, send ? SO_SNDBUF : SO_RCVBUF, &value,
		       &len) < 0 ||
	    value < 0)
		return 0;
	return (uint64_t)value;
}

unsigned sock_mss(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &value, &len) < 0 ||
	    value < 0)
		return 0;
	return (unsigned)value;
}

int sock_local(int fd, struct sock_addr *addr)
{
	addr->len = sizeof(addr->ss);
	if (getsockname(fd, (struct sockaddr *)&addr->ss, &addr->len) < 0)
		return -errno;
	return 0;
}

int sock_peer(int fd, struct sock_addr *addr)
{
	addr->len = sizeof(addr->ss);
	if (getpeername(fd, (struct sockaddr *)&addr->ss, &addr->len) < 0)
		return -errno;
	return 0;
}
