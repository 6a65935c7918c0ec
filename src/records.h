/*
 * records: a TCP stream that is made of records, each with a header that says
 * when it was written (--trip-times): finds their ends in what is read.  Pure.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct records {
	uint8_t head[WIRE_RECORD_BYTES];
	size_t have;   /* of head, of the record that has begun */
	uint64_t left; /* bytes of it that are still to come, behind head */
	struct wire_record now;
	bool broken; /* what came is no record: the rest is not looked at */
};

/*
 * Takes up to n bytes at p, as far as the end of a record.  Returns how many,
 * n at the most; *done is true when they end one, which r->now describes then.
 */
size_t records_take(struct records *r, const uint8_t *p, size_t n, bool *done);

#endif
