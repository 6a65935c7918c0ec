/* POSIX calls alone: what every system gets that has no file of its own. */
#include "platform.h"

#include <errno.h>
#include <unistd.h>
#ifdef __FreeBSD__
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#endif

#include "cpu.h"

#ifdef __FreeBSD__
/* The window is in bytes; what arrived is not told. */
int platform_tcp_info(int fd, struct platform_tcp *out)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	*out = (struct platform_tcp){
		.retransmits = info.tcpi_snd_rexmitpack,
		.acked_bytes = UINT64_MAX,
		.cwnd_bytes = info.tcpi_snd_cwnd,
		.cwnd_packets = info.tcpi_snd_mss > 0
					? info.tcpi_snd_cwnd / info.tcpi_snd_mss
					: 0,
		.rtt_us = info.tcpi_rtt,
		.rttvar_us = info.tcpi_rttvar,
		.mss = info.tcpi_snd_mss,
	};
	return 0;
}
#else
int platform_tcp_info(int fd, struct platform_tcp *out)
{
	(void)fd;
	*out = (struct platform_tcp){ 0 };
	return -ENOTSUP;
}
#endif

int platform_rx_stamps(int fd)
{
	(void)fd;
	return -ENOTSUP;
}

int platform_rx_dest(int fd, int family)
{
	(void)fd;
	(void)family;
	return -ENOTSUP;
}

int64_t platform_stamp_ns(struct msghdr *msg)
{
	(void)msg;
	return 0;
}

int platform_rx_drops(int fd)
{
	(void)fd;
	return -ENOTSUP;
}

int platform_drops(struct msghdr *msg, uint32_t *drops)
{
	(void)msg;
	*drops = 0;
	return -ENOENT;
}

int platform_dest(struct msghdr *msg, struct sockaddr_storage *addr)
{
	(void)msg;
	(void)addr;
	return -ENOENT;
}

int platform_source(struct msghdr *msg, const struct sockaddr_storage *addr)
{
	(void)msg;
	(void)addr;
	return -ENOTSUP;
}

int platform_bind_device(int fd, const char *device)
{
	(void)fd;
	(void)device;
	return -ENOTSUP;
}

int platform_cca_set(int fd, const char *name)
{
	(void)fd;
	(void)name;
	return -ENOTSUP;
}

int platform_cca_get(int fd, char *name, size_t size)
{
	(void)fd;
	if (size > 0)
		name[0] = '\0';
	return -ENOTSUP;
}

int platform_unsent_limit(int fd, uint32_t bytes)
{
	(void)fd;
	(void)bytes;
	return -ENOTSUP;
}

int platform_quickack(int fd)
{
	(void)fd;
	return -ENOTSUP;
}

/* Elsewhere poll need not heed it. */
int platform_receive_least(int fd, uint32_t bytes)
{
	(void)fd;
	(void)bytes;
	return -ENOTSUP;
}

int platform_pacing_rate(int fd, uint64_t bytes_per_s)
{
	(void)fd;
	(void)bytes_per_s;
	return -ENOTSUP;
}

int platform_unacked(int fd, uint64_t *bytes)
{
	(void)fd;
	*bytes = 0;
	return -ENOTSUP;
}

int platform_tx_errors(int fd, int family)
{
	(void)fd;
	(void)family;
	return -ENOTSUP;
}

int platform_next_error(int fd, struct sockaddr_storage *to)
{
	(void)fd;
	(void)to;
	return -EAGAIN;
}

int platform_secret(void *buf, size_t n)
{
	return getentropy(buf, n) < 0 ? -errno : 0;
}

unsigned platform_take_errors(int fd, int *last)
{
	(void)fd;
	*last = 0;
	return 0;
}

uint64_t platform_buffer_bytes(uint64_t told)
{
	return told;
}

int platform_cpu(int64_t *user_ns, int64_t *system_ns)
{
	return cpu_used(RUSAGE_SELF, user_ns, system_ns);
}

int platform_host_cpu(int64_t *busy_ns)
{
	(void)busy_ns;
	return -ENOTSUP;
}

int platform_exact_sleep(void)
{
	return -ENOTSUP;
}

int platform_return_memory(void)
{
	return -ENOTSUP;
}
