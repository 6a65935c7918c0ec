#include "plan.h"

struct plan plan_of(const struct options *o)
{
	struct plan p = { .forward = !o->reverse,
			  .reverse = o->reverse || o->full_duplex };

	if (o->dual)
		p.back = PLAN_BACK_NOW;
	else if (o->tradeoff)
		p.back = PLAN_BACK_AFTER;
	return p;
}

unsigned plan_streams(const struct plan *p)
{
	return (unsigned)p->forward + (unsigned)p->reverse;
}

const char *plan_name(const struct plan *p)
{
	if (p->forward && p->reverse)
		return "full-duplex";
	return p->reverse ? "reverse" : NULL;
}
