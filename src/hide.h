/*
 * hide: takes addresses and the host's name out of a text, for --hide-ips.
 * Pure.
 */
#ifndef HIDE_H
#define HIDE_H

#include <stddef.h>

#define HIDE_NAME "(**hidden**)" /* in place of a name, as iperf 2.1.4 */

/*
 * Copies text to buf, of size bytes, with each address in it as *.*.*.N or
 * *:*:*:*:*:*:*:N, N being its last part, and with name (NULL or "": none) as
 * HIDE_NAME.  What does not fit is cut off.
 */
void hide_text(char *buf, size_t size, const char *text, const char *name);

#endif
