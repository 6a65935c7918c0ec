/* Linux: kernel arrival stamps, destination addresses, TCP_INFO. */
#define _GNU_SOURCE

#include "platform.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
/* What is this large is mapped and unmapped by itself. */
#define LARGE_BYTES (64 * 1024)

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno
								      : 0;
}

/* What the peer has: acknowledged, and selectively acknowledged behind a hole
 * (to a segment's size), which would show as a pause and a leap.  Kernels
 * before 4.1 don't tell. */
static uint64_t arrived(const struct tcp_info *info, socklen_t len)
{
	size_t end = offsetof(struct tcp_info, tcpi_bytes_acked) +
		     sizeof(info->tcpi_bytes_acked);
	uint64_t beyond = (uint64_t)info->tcpi_sacked * info->tcpi_snd_mss;

	if (len < end)
		return UINT64_MAX;
	/* the SYN counts as one */
	return info->tcpi_bytes_acked > 0 ? info->tcpi_bytes_acked - 1 + beyond
					  : beyond;
}

int platform_tcp_info(int fd, struct platform_tcp *out)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	*out = (struct platform_tcp){
		.retransmits = info.tcpi_total_retrans,
		.acked_bytes = arrived(&info, len),
		.cwnd_bytes = info.tcpi_snd_cwnd * info.tcpi_snd_mss,
		.cwnd_packets = info.tcpi_snd_cwnd,
		.inflight_bytes = info.tcpi_unacked * info.tcpi_snd_mss,
		.inflight_packets = info.tcpi_unacked,
		.rtt_us = info.tcpi_rtt,
		.rttvar_us = info.tcpi_rttvar,
		.rtt_min_us =
			info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt,
		.mss = info.tcpi_snd_mss,
		.mtu = info.tcpi_pmtu,
	};
	return 0;
}

int platform_rx_stamps(int fd)
{
	return set_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
}

int platform_rx_dest(int fd, int family)
{
	int rc = set_int(fd, IPPROTO_IP, IP_PKTINFO, 1);

	if (family == AF_INET6)
		return set_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	return rc;
}

int64_t platform_stamp_ns(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	}
	return 0;
}

int platform_rx_drops(int fd)
{
	return set_int(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
}

int platform_drops(struct msghdr *msg, uint32_t *drops)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(drops, CMSG_DATA(c), sizeof(*drops));
		return 0;
	}
	return -ENOENT;
}

static void dest_v4(struct sockaddr_storage *addr, const void *data)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct in_pktinfo info;

	memcpy(&info, data, sizeof(info));
	sin.sin_addr = info.ipi_addr;
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &sin, sizeof(sin));
}

static void dest_v6(struct sockaddr_storage *addr, const void *data)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct in6_pktinfo info;

	memcpy(&info, data, sizeof(info));
	sin6.sin6_addr = info.ipi6_addr;
	if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
		sin6.sin6_scope_id = info.ipi6_ifindex;
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &sin6, sizeof(sin6));
}

int platform_dest(struct msghdr *msg, struct sockaddr_storage *addr)
{
	int rc = -ENOENT;

	/* a mapped IPv4 datagram on an IPv6 socket carries both: the IPv6
	 * form is the one that can be used to answer on that socket */
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			dest_v6(addr, CMSG_DATA(c));
			return 0;
		}
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			dest_v4(addr, CMSG_DATA(c));
			rc = 0;
		}
	}
	return rc;
}

/* One control message; returns where its data goes. */
static void *put_control(struct msghdr *msg, int level, int type, size_t len)
{
	struct cmsghdr *c = msg->msg_control;

	memset(c, 0, CMSG_SPACE(len));
	msg->msg_controllen = CMSG_SPACE(len);
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	return CMSG_DATA(c);
}

int platform_source(struct msghdr *msg, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET) {
		struct sockaddr_in sin;
		struct in_pktinfo info = { 0 };

		memcpy(&sin, addr, sizeof(sin));
		info.ipi_spec_dst = sin.sin_addr;
		memcpy(put_control(msg, IPPROTO_IP, IP_PKTINFO, sizeof(info)),
		       &info, sizeof(info));
		return 0;
	}
	if (addr->ss_family == AF_INET6) {
		struct sockaddr_in6 sin6;
		struct in6_pktinfo info = { 0 };

		memcpy(&sin6, addr, sizeof(sin6));
		info.ipi6_addr = sin6.sin6_addr;
		info.ipi6_ifindex = sin6.sin6_scope_id;
		memcpy(put_control(msg, IPPROTO_IPV6, IPV6_PKTINFO,
				   sizeof(info)),
		       &info, sizeof(info));
		return 0;
	}
	return -EAFNOSUPPORT;
}

int platform_bind_device(int fd, const char *device)
{
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
		       (socklen_t)strlen(device) + 1) < 0)
		return -errno;
	return 0;
}

int platform_cca_set(int fd, const char *name)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
		       (socklen_t)strlen(name)) < 0)
		return -errno;
	return 0;
}

int platform_cca_get(int fd, char *name, size_t size)
{
	socklen_t len = (socklen_t)size - 1;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) < 0)
		return -errno;
	name[len] = '\0';
	return 0;
}

int platform_unsent_limit(int fd, uint32_t bytes)
{
	return set_int(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)bytes);
}

int platform_quickack(int fd)
{
	return set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

int platform_receive_least(int fd, uint32_t bytes)
{
	return set_int(fd, SOL_SOCKET, SO_RCVLOWAT, (int)bytes);
}

int platform_pacing_rate(int fd, uint64_t bytes_per_s)
{
	return setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s,
			  sizeof(bytes_per_s)) < 0
		       ? -errno
		       : 0;
}

int platform_unacked(int fd, uint64_t *bytes)
{
	int value = 0;

	if (ioctl(fd, SIOCOUTQ, &value) < 0)
		return -errno;
	*bytes = value > 0 ? (uint64_t)value : 0;
	return 0;
}

int platform_tx_errors(int fd, int family)
{
	int rc = set_int(fd, IPPROTO_IP, IP_RECVERR, 1);

	if (family == AF_INET6)
		return set_int(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
	return rc;
}

/* The errno of an error that the network told, 0: it is a local one. */
static int network_error(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		struct sock_extended_err e;

		if (!(c->cmsg_level == IPPROTO_IP &&
		      c->cmsg_type == IP_RECVERR) &&
		    !(c->cmsg_level == IPPROTO_IPV6 &&
		      c->cmsg_type == IPV6_RECVERR))
			continue;
		memcpy(&e, CMSG_DATA(c), sizeof(e));
		if (e.ee_origin == SO_EE_ORIGIN_ICMP ||
		    e.ee_origin == SO_EE_ORIGIN_ICMP6)
			return (int)e.ee_errno;
	}
	return 0;
}

int platform_next_error(int fd, struct sockaddr_storage *to)
{
	union {
		struct cmsghdr align;
		char bytes[512];
	} control;
	char payload[1];
	struct iovec iov = { .iov_base = payload, .iov_len = sizeof(payload) };
	struct msghdr msg = {
		.msg_name = to,
		.msg_namelen = sizeof(*to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memset(to, 0, sizeof(*to));
	if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return -EAGAIN;
	return network_error(&msg);
}

unsigned platform_take_errors(int fd, int *last)
{
	struct sockaddr_storage to;
	unsigned count = 0;
	int number;

	while ((number = platform_next_error(fd, &to)) >= 0) {
		if (number > 0) {
			*last = number;
			count++;
		}
	}
	return count;
}

int platform_secret(void *buf, size_t n)
{
	return getentropy(buf, n) < 0 ? -errno : 0;
}

uint64_t platform_buffer_bytes(uint64_t told)
{
	return told / 2;
}

int platform_cpu(int64_t *user_ns, int64_t *system_ns)
{
	return cpu_used(RUSAGE_THREAD, user_ns, system_ns);
}

/* proc(5): user, nice, system, idle, iowait, irq, softirq, steal; in ticks. */
int platform_host_cpu(int64_t *busy_ns)
{
	FILE *f = fopen("/proc/stat", "r");
	uint64_t tick[8];
	long per_second = sysconf(_SC_CLK_TCK);
	int n = 0;

	if (f == NULL)
		return -errno;
	if (fscanf(f, "cpu") == 0) {
		while (n < 8 && fscanf(f, "%" SCNu64, &tick[n]) == 1)
			n++;
	}
	(void)fclose(f);
	if (n < 8 || per_second <= 0)
		return -ENOTSUP;

	uint64_t busy = tick[0] + tick[1] + tick[2] + tick[7];

	*busy_ns = (int64_t)(busy * (uint64_t)(1000000000 / per_second));
	return 0;
}

int platform_exact_sleep(void)
{
	/* the default slack of 50 us is most of what a sleep is late by */
	return prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) < 0 ? -errno : 0;
}

int platform_return_memory(void)
{
#ifdef __GLIBC__
	/* its own limit grows with what is freed, up to 32 MB */
	return mallopt(M_MMAP_THRESHOLD, LARGE_BYTES) == 1 ? 0 : -EINVAL;
#else
	return -ENOTSUP;
#endif
}
