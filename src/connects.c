#include "connects.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "series.h"

/* A wait looks this often whether it is still wanted. */
#define LOOK_NS (100 * CLOCK_MS_NS)

/* A connection that is up: its line. */
static void show(struct report *r, int fd, const struct sock_addr *peer,
		 int64_t took_ns)
{
	struct out_conn conn = { .client = true,
				 .connect_ns = took_ns,
				 .wall_ns = clock_wall_ns() };
	struct sock_addr local;

	if (sock_local(fd, &local) == 0)
		sock_text(&local, conn.local, sizeof(conn.local),
			  &conn.local_port);
	sock_text(peer, conn.peer, sizeof(conn.peer), &conn.peer_port);
	conn.mss = sock_mss(fd);
	report_connected(r, &conn);
}

/* One connection; 1: it failed, and that was said. */
static int connect_once(const struct options *o, const struct sock_addr *peer,
			const struct sock_addr *source, struct report *r,
			struct series *times, const _Atomic int *stop,
			char what[SOCK_WHAT_BYTES])
{
	int fd = sock_open(peer, o, what);
	int64_t begun_ns;
	int rc = 0;

	if (fd < 0)
		return fd;
	if (source != NULL) {
		(void)snprintf(what, SOCK_WHAT_BYTES, "-B: \"%.50s\"", o->bind);
		rc = sock_bind(fd, source, false);
	}
	if (rc < 0) {
		close(fd);
		return rc;
	}
	begun_ns = clock_ns();
	rc = sock_connect(fd, peer, false, stop);
	if (rc == 0) {
		int64_t took_ns = clock_ns() - begun_ns;

		series_add(times, took_ns);
		show(r, fd, peer, took_ns);
	} else if (atomic_load(stop) == 0) {
		log_error("connect to %s port %u: %s", o->host,
			  (unsigned)o->port, strerror(-rc));
	}
	close(fd);
	return rc == 0 || atomic_load(stop) != 0 ? 0 : 1;
}

static bool wait_until(int64_t due_ns, const _Atomic int *stop)
{
	for (int64_t now_ns = clock_ns();
	     now_ns < due_ns && atomic_load(stop) == 0; now_ns = clock_ns())
		clock_sleep_until(due_ns < now_ns + LOOK_NS ? due_ns
							    : now_ns + LOOK_NS);
	return atomic_load(stop) == 0;
}

int connects_run(const struct options *o, const struct sock_addr *peer,
		 const struct sock_addr *source, struct report *r,
		 const _Atomic int *stop, char what[SOCK_WHAT_BYTES])
{
	int64_t every_ns =
		o->interval_ns > 0 ? o->interval_ns : CONNECTS_EVERY_NS;
	int64_t start_ns = clock_ns();
	int64_t end_ns = o->time_ns > 0 ? start_ns + o->time_ns : INT64_MAX;
	struct out_connects total = { .failed = 0 };
	struct series times;
	uint32_t n = 0;
	int rc = 0;

	series_init(&times);
	while (n < o->connects && rc >= 0) {
		int64_t due_ns = start_ns + (int64_t)n * every_ns;

		if (due_ns >= end_ns || !wait_until(due_ns, stop))
			break;
		rc = connect_once(o, peer, source, r, &times, stop, what);
		total.failed += rc > 0;
		n++;
	}
	series_snap(&times, &total.d);
	series_delay(&times, &total.times);
	report_connects(r, &total);
	return rc < 0 ? rc : (int)total.failed;
}
