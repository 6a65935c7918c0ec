/*
 * log: the one writer of diagnostics, to stderr.  Each call is one line that
 * begins with "iperf: " and leaves in one write.
 */
#ifndef LOG_H
#define LOG_H

#include <stdint.h>

/* Who else is told each line, without its "iperf: " and its end; set once,
 * before there are threads.  It may be called from any thread. */
void log_also(void (*tell)(void *arg, const char *text), void *arg);
/* From now on lines hold neither an address nor this name ("": none); set
 * once, before there are threads. */
void log_hide(const char *name);
__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);
/* The same about what strangers do at now_ns of a monotonic clock: at most
 * LOG_STRANGERS lines a second, with a count of those left out. */
#define LOG_STRANGERS 5
__attribute__((format(printf, 2, 3))) void
log_stranger(int64_t now_ns, const char *format, ...);
/* Says how many of these lines were left out since the last one. */
void log_strangers_end(void);

#endif
