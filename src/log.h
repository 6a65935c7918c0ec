/*
 * log: the one writer of diagnostics, to stderr.  Each call is one line that
 * begins with "iperf: " and leaves in one write.
 */
#ifndef LOG_H
#define LOG_H

__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);

#endif
