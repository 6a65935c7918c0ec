/*
 * counter: a number with one writing thread and any number of readers.  It
 * only grows, so an interval is the difference of two reads.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct counter {
	_Atomic uint64_t v;
};

/* Adds n; only the one writing thread may call it.  Compiles to a plain add. */
static inline void counter_add(struct counter *c, uint64_t n)
{
	uint64_t v = atomic_load_explicit(&c->v, memory_order_relaxed);
	atomic_store_explicit(&c->v, v + n, memory_order_relaxed);
}

static inline uint64_t counter_get(const struct counter *c)
{
	return atomic_load_explicit(&c->v, memory_order_relaxed);
}

/* A level, not a count: the last value written. */
static inline void counter_set(struct counter *c, uint64_t n)
{
	atomic_store_explicit(&c->v, n, memory_order_relaxed);
}

#endif
