/*
 * log: the one writer of diagnostics, to stderr.  Each call is one line that
 * begins with "iperf: " and leaves in one write.
 */
#ifndef LOG_H
#define LOG_H

/* Who else is told each line, without its "iperf: " and its end; set once,
 * before there are threads.  It may be called from any thread. */
void log_also(void (*tell)(void *arg, const char *text), void *arg);
__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);

#endif
