/*
 * cpu: processor time by getrusage.  Systems differ in whose time they tell,
 * so each one's file asks for what it has; nobody else includes this.
 */
#ifndef CPU_H
#define CPU_H

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

static inline int64_t cpu_ns(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000000 + (int64_t)t->tv_usec * 1000;
}

/* whose: RUSAGE_SELF, or RUSAGE_THREAD where it exists. */
static inline int cpu_used(int whose, int64_t *user_ns, int64_t *system_ns)
{
	struct rusage usage;

	if (getrusage(whose, &usage) < 0)
		return -errno;
	*user_ns = cpu_ns(&usage.ru_utime);
	*system_ns = cpu_ns(&usage.ru_stime);
	return 0;
}

#endif
