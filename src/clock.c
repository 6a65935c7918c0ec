#include "clock.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* A sleep may wake this late; from here on the wait spins.  Where the host
 * wakes later than that, as an idle virtual machine does, the margin of the
 * thread follows, and comes back slowly.  Where others want the CPU it does
 * not: who spins more is given less, and would wake later still. */
#define SPIN_NS 60000
#define SPIN_MAX_NS 2000000
#define SPIN_DECAY 4096
/* Two looks of a spin lie apart by this much only if another ran between. */
#define PUSHED_NS 300000
/* For so long the margin stays where it was at first. */
#define CROWDED_NS (10 * CLOCK_SECOND_NS)

static _Thread_local int64_t spin_ns = SPIN_NS;
static _Thread_local int64_t crowded_ns; /* until then */

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

/* A sleep ended so late, 0: there was none. */
static void learn(int64_t late_ns, int64_t now_ns)
{
	if (now_ns < crowded_ns)
		spin_ns = SPIN_NS;
	else if (late_ns > spin_ns)
		spin_ns = late_ns < SPIN_MAX_NS / 2 ? 2 * late_ns : SPIN_MAX_NS;
	else if (spin_ns > SPIN_NS)
		spin_ns -= spin_ns / SPIN_DECAY;
}

static int64_t spin_until(int64_t now_ns, int64_t due_ns)
{
	while (now_ns < due_ns) {
		int64_t before_ns = now_ns;

		now_ns = clock_ns();
		if (now_ns - before_ns > PUSHED_NS)
			crowded_ns = now_ns + CROWDED_NS;
	}
	return now_ns;
}

int64_t clock_wait_until(int64_t due_ns, bool precise)
{
	int64_t margin_ns = precise ? spin_ns : 0;
	int64_t now_ns = clock_ns();
	int64_t late_ns = 0;

	if (due_ns - now_ns > margin_ns) {
		clock_sleep_until(due_ns - margin_ns);
		now_ns = clock_ns();
		late_ns = now_ns - (due_ns - margin_ns);
	}
	if (precise) {
		learn(late_ns, now_ns);
		now_ns = spin_until(now_ns, due_ns);
	}
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

bool clock_may_spin(unsigned threads)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 && threads < (unsigned long)cpus;
}
