#include "optknown.h"

#include <string.h>

/* clang-format off */
static const struct optknown_row table[] = {
	/* --- without effect --- */
	{ "remove", NULL }, /* a Windows service */
	{ "tx-sync", NULL },
	{ "udp-counters-64bit", NULL },
	{ "udp-triggers", NULL },
	/* --- not offered --- */
	{ "vary-load",
	  "-b holds one rate; run one test for each" },
	{ "bounceback-congest",
	  "it became --working-load" },
	{ "bounceback-txdelay",
	  "--txdelay-time waits before the test begins" },
	{ "fq-rate-step",
	  "run a test with --fq-rate for each rate" },
	{ "fq-rate-step-interval",
	  "run a test with --fq-rate for each rate" },
	{ "ignore-shutdown",
	  "the time ends when the last byte is acknowledged; -e tells of "
	  "written bytes" },
	{ "incr-dstip",
	  "run one client for each address" },
	{ "incr-dstport",
	  "run one client for each port" },
	{ "incr-srcip",
	  "run one client with -B for each address" },
	{ "incr-srcport",
	  "-B HOST:PORT with -P counts the ports up" },
	{ "ipg",
	  "-b Npps sets N datagrams a second" },
	{ "jitter-histograms",
	  "-e tells jitter's mean and maximum, --histograms the delay's "
	  "distribution" },
	{ "l2checks",
	  "tcpdump(1) shows the lengths of frames" },
	{ "local-only",
	  "-B %DEV keeps to one device, -T 1 to the link" },
	{ "no-connect-sync",
	  "streams begin together, once all are connected" },
	{ "send-delay",
	  "tc-netem(8) delays what is sent" },
	{ "set-rand-seed",
	  "only the order of --arm is by chance, from --seed" },
	{ "sum-dstip",
	  "run one server with -B for each address" },
	{ "sync-transfer-id",
	  "ports tell the streams of both ends" },
	{ "tap-dev",
	  "-B %DEV receives on that device by the system's own stack" },
	{ "tcp-quickack",
	  "the system decides when TCP acknowledges; --bounceback has it on" },
	{ "tcp-rx-window-clamp",
	  "-w sizes the receive buffer, which bounds the window" },
	{ "tcp-tx-delay",
	  "tc-netem(8) delays what is sent" },
	{ "tcp-write-prefetch",
	  "what is not sent yet is kept below 100 ms as it is" },
	{ "tcp-write-times",
	  "-e tells of writes and of round trips" },
	{ "test-exchange-timeout",
	  "a connection that sends nothing is let go by itself" },
	{ "tun-dev",
	  "-B %DEV receives on that device by the system's own stack" },
	{ "udp-l4s",
	  "-b sets the rate, -S 1 marks ECT(1)" },
	{ "udp-l4s-video",
	  "-b sets the rate, -S 1 marks ECT(1)" },
	{ "working-load-cca",
	  "-Z sets it for all connections" },
};
/* clang-format on */

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct optknown_row *optknown_row(size_t i)
{
	return i < ROWS ? &table[i] : NULL;
}

const struct optknown_row *optknown_name(const char *name, size_t length)
{
	const struct optknown_row *begun = NULL;
	size_t beginnings = 0;

	for (size_t i = 0; i < ROWS && length > 0; i++) {
		if (strncmp(table[i].name, name, length) != 0)
			continue;
		if (!table[i].name[length])
			return &table[i];
		begun = &table[i];
		beginnings++;
	}
	return beginnings == 1 ? begun : NULL;
}
