/*
 * input: the bytes of a file or of standard input, which a stream sends in
 * place of digits.  Used by the stream's own thread; it prints nothing.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

/*
 * Opens the file of this name, NULL: standard input, to be taken in pieces of
 * up to piece_bytes.  *left: how many bytes a file holds, UINT64_MAX where only
 * its end will tell.  NULL and *rc a negative errno: -ENODATA for a file with
 * nothing in it.
 */
struct input *input_open(const char *name, size_t piece_bytes, uint64_t *left,
			 int *rc);
/* NULL is nothing. */
void input_close(struct input *in);
/* Waits until bytes, or all that is left, are at hand, for ms at most; false:
 * not yet. */
bool input_fill(struct input *in, size_t bytes, int ms);
/* What is at hand, and how much of it. */
const uint8_t *input_bytes(const struct input *in, size_t *bytes);
/* So much of it has been used. */
void input_take(struct input *in, size_t bytes);
/* Is nothing left beyond what is at hand? */
bool input_ended(const struct input *in);
/* A negative errno when it ended by a failed read. */
int input_error(const struct input *in);

#endif
