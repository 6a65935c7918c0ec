#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

static void (*also)(void *arg, const char *text);
static void *also_arg;

void log_also(void (*tell)(void *arg, const char *text), void *arg)
{
	also = tell;
	also_arg = arg;
}

void log_error(const char *format, ...)
{
	char line[LINE_BYTES] = "iperf: ";
	size_t start = strlen(line);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line + start, sizeof(line) - start - 1, format, args);
	va_end(args);

	size_t len = strlen(line);

	if (also != NULL)
		also(also_arg, line + start);

	line[len++] = '\n';
	/* nothing can be said when stderr itself is gone */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
