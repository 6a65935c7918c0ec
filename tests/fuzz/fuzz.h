/*
 * fuzz: what the fuzz targets share.  A target takes its input apart from the
 * start on; behind the end there are zeros.  What must hold is an assert.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz {
	const uint8_t *p;
	size_t left;
};

/* What libFuzzer calls with each input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* The next bytes of the input as a number, big-endian. */
static inline uint64_t fuzz_number(struct fuzz *f, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++) {
		v = v << 8 | (f->left > 0 ? *f->p : 0);
		if (f->left > 0) {
			f->p++;
			f->left--;
		}
	}
	return v;
}

static inline uint8_t fuzz_byte(struct fuzz *f)
{
	return (uint8_t)fuzz_number(f, 1);
}

#endif
