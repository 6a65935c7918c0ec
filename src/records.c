#include "records.h"

#include <string.h>

/* The header of a record, as far as it is there. */
static size_t take_head(struct records *r, const uint8_t *p, size_t n)
{
	size_t want = sizeof(r->head) - r->have;
	size_t take = n < want ? n : want;

	memcpy(r->head + r->have, p, take);
	r->have += take;
	if (r->have < sizeof(r->head))
		return take;
	if (wire_record_decode(r->head, &r->now) < 0)
		r->broken = true;
	else
		r->left = r->now.bytes - sizeof(r->head);
	return take;
}

size_t records_take(struct records *r, const uint8_t *p, size_t n, bool *done)
{
	size_t taken = 0;

	*done = false;
	if (r->broken)
		return n;
	if (r->have < sizeof(r->head))
		taken = take_head(r, p, n);
	if (r->broken || r->have < sizeof(r->head))
		return r->broken ? n : taken;

	size_t rest = n - taken;

	if (rest < r->left) {
		r->left -= rest;
		return n;
	}
	taken += (size_t)r->left;
	r->left = 0;
	r->have = 0;
	*done = true;
	return taken;
}
