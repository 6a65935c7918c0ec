#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

/* How often a running command is looked after. */
#define LOOK_MS 5
/* After SIGTERM it has so long before SIGKILL. */
#define GRACE_NS CLOCK_SECOND_NS

struct run {
	pid_t pid;
	int out; /* what it prints comes here; -1: it does not */
	char *shown;
	size_t size;
	size_t used;
};

/* In the child, where only what a signal handler may do is safe: other threads
 * of the parent are not there, and may have held locks. */
static void become(const char *command, int out)
{
	int none = open("/dev/null", O_RDONLY);
	struct sigaction standard = { .sa_handler = SIG_DFL };

	(void)setpgid(0, 0);
	(void)sigaction(SIGINT, &standard, NULL);
	(void)sigaction(SIGTERM, &standard, NULL);
	(void)sigaction(SIGPIPE, &standard, NULL);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	(void)close(none);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* -1 and errno as fork. */
static pid_t begin(const char *command, int out)
{
	pid_t pid = fork();

	if (pid == 0)
		become(command, out);
	/* whichever of the two is first */
	if (pid > 0)
		(void)setpgid(pid, pid);
	return pid;
}

/* Takes what there is to read now. */
static void read_some(struct run *r)
{
	char rest[512];
	ssize_t n;

	do {
		bool full = r->used == r->size - 1;

		n = full ? read(r->out, rest, sizeof(rest))
			 : read(r->out, r->shown + r->used,
				r->size - 1 - r->used);
		if (n > 0 && !full)
			r->used += (size_t)n;
	} while (n > 0);
	if (n == 0) {
		(void)close(r->out);
		r->out = -1;
	}
}

static void wait_a_little(struct run *r)
{
	struct pollfd fd = { .fd = r->out, .events = POLLIN };

	if (r->out < 0) {
		clock_sleep_until(clock_ns() + LOOK_MS * CLOCK_MS_NS);
		return;
	}
	if (poll(&fd, 1, LOOK_MS) > 0)
		read_some(r);
}

/* Has it ended by due_ns, and before *stop counts on?  *status as waitpid. */
static bool ended_by(struct run *r, int64_t due_ns, const _Atomic int *stop,
		     int stops, int *status)
{
	for (;;) {
		if (waitpid(r->pid, status, WNOHANG) == r->pid)
			return true;
		if (clock_ns() >= due_ns || atomic_load(stop) > stops)
			return false;
		wait_a_little(r);
	}
}

static void end_group(struct run *r)
{
	static const _Atomic int never;
	int status;

	(void)kill(-r->pid, SIGTERM);
	(void)kill(-r->pid, SIGCONT);
	if (ended_by(r, clock_ns() + GRACE_NS, &never, 0, &status)) {
		/* what it started may be there still */
		(void)kill(-r->pid, SIGKILL);
		return;
	}
	(void)kill(-r->pid, SIGKILL);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
}

static struct command_result wait_for(struct run *r, int64_t timeout_ns,
				      const _Atomic int *stop, int stops)
{
	struct command_result result = { .end = COMMAND_EXITED };
	int status;

	if (!ended_by(r, clock_ns() + timeout_ns, stop, stops, &status)) {
		result.end = atomic_load(stop) > stops ? COMMAND_INTERRUPTED
						       : COMMAND_TOO_LONG;
		end_group(r);
	} else if (WIFSIGNALED(status)) {
		result.end = COMMAND_KILLED;
		result.number = WTERMSIG(status);
	} else {
		result.number = WEXITSTATUS(status);
	}
	return result;
}

/* One line without blanks at its ends. */
static void tidy(char *text, size_t length)
{
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			text[i] = ' ';
	}
	while (length > 0 && text[length - 1] == ' ')
		length--;
	while (start < length && text[start] == ' ')
		start++;
	memmove(text, text + start, length - start);
	text[length - start] = '\0';
}

static struct command_result not_run(int number)
{
	return (struct command_result){ .end = COMMAND_NOT_RUN,
					.number = number };
}

/* A pipe that no other program that we start inherits. */
static int open_pipe(int ends[2])
{
	if (pipe(ends) < 0)
		return -errno;
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return 0;
}

struct command_result command_run(const char *command, int64_t timeout_ns,
				  const _Atomic int *stop, int stops,
				  char *shown, size_t size)
{
	struct run r = { .out = -1, .shown = shown, .size = size };
	int ends[2] = { -1, STDERR_FILENO };
	struct command_result result;

	if (shown != NULL) {
		int rc = open_pipe(ends);

		shown[0] = '\0';
		if (rc < 0)
			return not_run(-rc);
		r.out = ends[0];
	}
	r.pid = begin(command, ends[1]);

	int failed = errno;

	if (shown != NULL)
		(void)close(ends[1]);
	result = r.pid < 0 ? not_run(failed)
			   : wait_for(&r, timeout_ns, stop, stops);
	if (r.out >= 0) {
		read_some(&r);
		if (r.out >= 0)
			(void)close(r.out);
	}
	if (shown != NULL)
		tidy(shown, r.used);
	return result;
}
