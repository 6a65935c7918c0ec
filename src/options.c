#include "options.h"

#define NSEC_PER_SEC 1000000000

void options_version(FILE *f)
{
	fprintf(f, "iperf version %s (1 December 2026) pthreads\n",
		OPTIONS_VERSION_TEXT);
}

bool options_at_once(const struct options *o)
{
	return o->interval_ns > 0 && o->interval_ns < OPTIONS_AT_ONCE_NS;
}

int options_decimals(const struct options *o)
{
	const int64_t tenth = NSEC_PER_SEC / 10, hundredth = NSEC_PER_SEC / 100;

	if (o->interval_ns % tenth == 0 && o->time_ns % tenth == 0 &&
	    o->omit_ns % tenth == 0)
		return 1;
	if (o->interval_ns % hundredth == 0 && o->time_ns % hundredth == 0 &&
	    o->omit_ns % hundredth == 0)
		return 2;
	return 4;
}
