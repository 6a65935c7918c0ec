/*
 * siphash: a short keyed hash that nobody without the key can foretell.  Pure.
 */
#ifndef SIPHASH_H
#define SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_BYTES 16

/* SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], const void *data,
		 size_t n);

#endif
