#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hide.h"

#define LINE_BYTES 1024
#define SECOND_NS 1000000000

static void (*also)(void *arg, const char *text);
static void *also_arg;
static const char *hidden; /* a name; NULL: nothing is hidden */

void log_also(void (*tell)(void *arg, const char *text), void *arg)
{
	also = tell;
	also_arg = arg;
}

void log_hide(const char *name)
{
	hidden = name;
}

__attribute__((format(printf, 1, 0))) static void write_line(const char *format,
							     va_list args)
{
	char line[LINE_BYTES] = "iperf: ";
	size_t start = strlen(line);

	(void)vsnprintf(line + start, sizeof(line) - start - 1, format, args);

	if (hidden != NULL) {
		char all[LINE_BYTES];

		memcpy(all, line, sizeof(all));
		hide_text(line + start, sizeof(line) - start - 1, all + start,
			  hidden);
	}

	size_t len = strlen(line);

	if (also != NULL)
		also(also_arg, line + start);
	line[len++] = '\n';
	/* nothing can be said when stderr itself is gone */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(format, args);
	va_end(args);
}

/* Strangers come on many threads. */
static pthread_mutex_t strangers = PTHREAD_MUTEX_INITIALIZER;
static unsigned silent; /* lines that were left out */

/* May one more line be written?  *left_out: how many were not, up to now. */
static bool may_write(int64_t now_ns, unsigned *left_out)
{
	static int64_t second_ns;
	static unsigned lines;
	bool may;

	*left_out = 0;
	pthread_mutex_lock(&strangers);
	if (lines == 0 || now_ns - second_ns >= SECOND_NS) {
		second_ns = now_ns;
		lines = 0;
		*left_out = silent;
		silent = 0;
	}
	may = lines < LOG_STRANGERS;
	if (may)
		lines++;
	else
		silent++;
	pthread_mutex_unlock(&strangers);
	return may;
}

void log_stranger(int64_t now_ns, const char *format, ...)
{
	unsigned left_out;
	va_list args;

	if (!may_write(now_ns, &left_out))
		return;
	if (left_out > 0)
		log_error("%u more lines about others were left out", left_out);
	va_start(args, format);
	write_line(format, args);
	va_end(args);
}

void log_strangers_end(void)
{
	pthread_mutex_lock(&strangers);
	unsigned left_out = silent;

	silent = 0;
	pthread_mutex_unlock(&strangers);
	if (left_out > 0)
		log_error("%u more lines about others were left out", left_out);
}
