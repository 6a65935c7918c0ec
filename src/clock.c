#include "clock.h"

#include <errno.h>
#include <time.h>

/* A sleep may wake this late; from here on the wait spins. */
#define SPIN_NS 60000

static int64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * CLOCK_SECOND_NS + ts.tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / CLOCK_SECOND_NS),
		.tv_nsec = (long)(ns % CLOCK_SECOND_NS),
	};
}

int64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

void clock_sleep_until(int64_t due_ns)
{
	struct timespec ts = to_timespec(due_ns);

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int64_t clock_wait_until(int64_t due_ns, bool precise)
{
	int64_t margin_ns = precise ? SPIN_NS : 0;
	int64_t now_ns = clock_ns();

	if (due_ns - now_ns > margin_ns) {
		clock_sleep_until(due_ns - margin_ns);
		now_ns = clock_ns();
	}
	while (precise && now_ns < due_ns)
		now_ns = clock_ns();
	return now_ns;
}

int clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int rc = pthread_condattr_init(&attr);

	if (rc != 0)
		return -rc;
	rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (rc == 0)
		rc = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -rc;
}

int clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t due_ns)
{
	struct timespec ts = to_timespec(due_ns);

	return -pthread_cond_timedwait(cond, lock, &ts);
}
