/*
 * clock: the one caller of clock_gettime and of sleeping.  Durations come
 * from the monotonic clock; the wall clock is only written on the wire and
 * in time stamps.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SECOND_NS INT64_C(1000000000)
#define CLOCK_MS_NS INT64_C(1000000)

/* Nanoseconds of the monotonic clock. */
int64_t clock_ns(void);
/* Nanoseconds since 1970. */
int64_t clock_wall_ns(void);
/* Sleeps until the monotonic clock shows due_ns, or a signal comes. */
void clock_sleep_until(int64_t due_ns);
/* Waits until due_ns and returns the time read last.  precise: sleeps until
 * shortly before and spins from there, for gaps true to a few us. */
int64_t clock_wait_until(int64_t due_ns, bool precise);

/* Spinning is for fewer threads than there are CPUs. */
bool clock_may_spin(unsigned threads);

/* A condition that waits on the monotonic clock. */
int clock_cond_init(pthread_cond_t *cond);
/* Waits until signalled or due_ns; 0 or -ETIMEDOUT. */
int clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
		    int64_t due_ns);

#endif
