/* POSIX calls alone: what every system gets that has no file of its own. */
#include "platform.h"

#include <errno.h>

int platform_tcp_info(int fd, struct platform_tcp *out)
{
	(void)fd;
	*out = (struct platform_tcp){ 0 };
	return -ENOTSUP;
}

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

int platform_unacked(int fd, uint64_t *bytes)
{
	(void)fd;
	*bytes = 0;
	return -ENOTSUP;
}

int platform_exact_sleep(void)
{
	return -ENOTSUP;
}
