/*
 * command: runs a command of the user's in a shell, as a process group of its
 * own, and waits for it no longer than it may.  Its standard output goes to our
 * standard error, or into a text.  By the main thread.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stddef.h>
#include <stdint.h>

enum command_end {
	COMMAND_EXITED,      /* number: its exit status */
	COMMAND_KILLED,      /* number: the signal */
	COMMAND_TOO_LONG,    /* and was ended */
	COMMAND_INTERRUPTED, /* so too: *stop counted on */
	COMMAND_NOT_RUN,     /* number: an errno */
};

struct command_result {
	enum command_end end;
	int number;
};

/*
 * Waits until timeout_ns have passed or *stop is above stops; then ends it and
 * what it started.  shown: size bytes for what it prints, with its white space
 * and control characters as blanks and none at its ends; NULL: to our standard
 * error.  The command has no standard input.
 */
struct command_result command_run(const char *command, int64_t timeout_ns,
				  const _Atomic int *stop, int stops,
				  char *shown, size_t size);

#endif
