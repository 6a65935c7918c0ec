/*
 * completion: the table of options as a script for bash, which completes what
 * is typed.  Pure.
 */
#ifndef COMPLETION_H
#define COMPLETION_H

#include <stdio.h>

/* Writes the script, for bash 4 and later. */
void completion_write(FILE *f);

#endif
