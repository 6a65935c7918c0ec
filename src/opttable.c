#include "opttable.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "wire.h"

#define NSEC_PER_SEC INT64_C(1000000000)
#define MIN_TIME_NS 1000000
#define MAX_TIME_NS (21474836 * NSEC_PER_SEC)
#define MIN_INTERVAL_NS 5000000  /* iperf 2.0.7 and later: 5 ms */
#define MAX_LEN (16 << 20)       /* a write larger than 16 MiB: a typo */
#define MAX_WINDOW (INT_MAX / 2) /* Linux doubles what it is given */
#define MIN_MSS 88               /* Linux, TCP_MIN_MSS */
#define MAX_MSS 32767            /* Linux, MAX_TCP_WINDOW */
#define NSEC_PER_MSEC INT64_C(1000000)
#define MIN_LATE_NS NSEC_PER_MSEC
#define MAX_LATE_NS (60000 * NSEC_PER_MSEC)
#define MAX_WAIT_NS (86400 * NSEC_PER_SEC) /* a day */
/* A server takes what says nothing for so long for a stranger. */
#define MAX_DELAY_NS (4 * NSEC_PER_SEC)
#define MAX_BURST (1 << 30)
#define MAX_PERIOD_NS (1000 * NSEC_PER_SEC)
#define MAX_HOLD_NS (10 * NSEC_PER_SEC)
#define MAX_OMIT_NS (INT64_C(65535) * OPTIONS_OMIT_STEP_NS) /* 16 bits */

#define FIELD(name)                                                            \
	.at = offsetof(struct options, name),                                  \
	.size = sizeof(((struct options *)NULL)->name)
#define MARK(name) .mark = offsetof(struct options, name)

/* Within a side the order is that of --help. */
/* clang-format off */
static const struct opttable_row table[] = {
	/* --- a server --- */
	{ 's', { "server" }, NULL, "wait for clients and receive",
	  AS_SERVER, OPT_SET, FIELD(side), .min = OPTIONS_SERVER,
	  .env = "IPERF_SERVER" },
	{ 'D', { "daemon" }, NULL, "detach and serve in the background",
	  AS_SERVER, OPT_SET, FIELD(daemonize), .min = true,
	  .env = "IPERF_DAEMON" },
	{ '1', { "singleclient" }, NULL, "serve one client at a time",
	  AS_SERVER, OPT_SET, FIELD(single), .min = true,
	  .env = "IPERF_SINGLECLIENT" },
	{ 0, { "one-off" }, NULL, "end after one client",
	  AS_SERVER, OPT_SET, FIELD(one_off), .min = true },
	{ 'H', { "ssm-host" }, "ADDR",
	  "only what ADDR sends to the group of -B",
	  AS_SERVER, OPT_TEXT, FIELD(ssm) },
	{ 0, { "late-after" }, "MS",
	  "UDP: lost when missing for MS milliseconds (100)",
	  AS_SERVER, OPT_MILLISECONDS, FIELD(late_after_ns),
	  .min = MIN_LATE_NS, .max = MAX_LATE_NS },
	{ 0, { "permit-key-timeout" }, "SEC", "life of the key (20); 0: no end",
	  AS_SERVER, OPT_ZERO_OR_SECONDS, FIELD(key_timeout_ns),
	  .min = MIN_TIME_NS, .max = MAX_WAIT_NS },
	{ 0, { "allow" }, "PREFIX",
	  "serve only clients of PREFIX; may be repeated",
	  AS_SERVER, OPT_NETWORK, FIELD(limits.allow) },
	{ 0, { "max-clients" }, "N", "serve N clients (addresses) at once",
	  AS_SERVER, OPT_WHOLE, FIELD(limits.clients), .min = 1,
	  .max = 65535 },
	{ 0, { "max-time" }, "SEC", "serve tests of up to SEC seconds",
	  AS_SERVER, OPT_SECONDS, FIELD(limits.time_ns), .min = MIN_TIME_NS,
	  .max = MAX_TIME_NS },
	{ 0, { "max-rate" }, "RATE", "serve up to RATE bits/s for each client",
	  AS_SERVER, OPT_BPS, FIELD(limits.rate_bps), .min = 1000,
	  .max = OPTIONS_RATE_MAX },
	{ 0, { "tos-override" }, "TOS", "the same as -S, of what a server sends",
	  AS_SERVER, OPT_TOS, FIELD(tos), MARK(tos_set), .max = 255 },
	/* --- a client; -n stands before -t, so that of two variables IPERF_TIME
	 * rules, as in iperf 2 --- */
	{ 'c', { "client" }, "HOST", "connect to HOST and send",
	  AS_CLIENT, OPT_HOST, FIELD(host), .env = "IPERF_CLIENT" },
	{ 'b', { "bandwidth", "bitrate" }, "RATE",
	  "bits/s, or Npps; 0: unpaced; with -u: 1048576",
	  AS_CLIENT, OPT_RATE, FIELD(rate), MARK(rate_set), .max = OPTIONS_RATE_MAX,
	  .env = "IPERF_BANDWIDTH" },
	{ 'n', { "num" }, "BYTES", "send so many bytes, instead of -t",
	  AS_CLIENT, OPT_BYTES, FIELD(amount_bytes), .min = 1, .max = INT64_MAX,
	  .env = "IPERF_NUM" },
	{ 'F', { "file_input", "fileinput" }, "FILE", "send the bytes of FILE",
	  AS_CLIENT, OPT_TEXT, FIELD(file), .env = "IPERF_FILE_INPUT" },
	{ 'I', { "stdin_input" }, NULL, "send what comes on standard input",
	  AS_CLIENT, OPT_SET, FIELD(from_stdin), .min = true,
	  .env = "IPERF_STDIN_INPUT" },
	{ 'R', { "reverse" }, NULL, "the server sends, the client receives",
	  AS_CLIENT, OPT_SET, FIELD(reverse), .min = true,
	  .env = "IPERF_REVERSE" },
	{ 0, { "full-duplex" }, NULL, "both send, over the same connections",
	  AS_CLIENT, OPT_SET, FIELD(full_duplex), .min = true },
	{ 'd', { "dualtest" }, NULL, "both send, the server connects back",
	  AS_CLIENT, OPT_SET, FIELD(dual), .min = true,
	  .env = "IPERF_DUALTEST" },
	{ 'r', { "tradeoff" }, NULL, "the same, one after the other",
	  AS_CLIENT, OPT_SET, FIELD(tradeoff), .min = true,
	  .env = "IPERF_TRADEOFF" },
	{ 'L', { "listenport" }, "PORT", "of -d and -r: where to connect back",
	  AS_CLIENT, OPT_WHOLE, FIELD(listen_port), .min = 1, .max = 65535,
	  .env = "IPERF_LISTENPORT" },
	/* the order of the words is that of enum options_peer */
	{ 0, { "peer-version" }, "V", "2.2, 2.1, or 2.0: speak as 2.0.2 does",
	  AS_CLIENT, OPT_CHOICE, FIELD(peer_version), .choices = "2.2|2.1|2.0" },
	{ 'T', { "ttl" }, "N", "time to live of what is sent, 1 to 255",
	  AS_CLIENT, OPT_WHOLE, FIELD(ttl), .min = 1, .max = 255,
	  .env = "IPERF_TTL" },
	{ 'O', { "omit" }, "SEC", "leave the first SEC seconds out of the totals",
	  AS_CLIENT, OPT_SECONDS, FIELD(omit_ns), .min = OPTIONS_OMIT_STEP_NS,
	  .max = MAX_OMIT_NS },
	{ 0, { "trip-times" }, NULL, "one-way delays, by both hosts' clocks",
	  AS_CLIENT, OPT_SET, FIELD(trip_times), .min = true },
	{ 0, { "isochronous" }, "FPS:MEAN,STDEV",
	  "frames a second, bits/s (60:20m,0)",
	  AS_CLIENT, OPT_FRAMES, FIELD(frames_per_1000s),
	  .absent = "60:20m,0" },
	{ 0, { "burst-size" }, "BYTES", "TCP: bursts of BYTES (1M) ...",
	  AS_CLIENT, OPT_BYTES, FIELD(burst_bytes), .min = 1,
	  .max = MAX_BURST },
	{ 0, { "burst-period" }, "SEC", "... one every SEC seconds (1)",
	  AS_CLIENT, OPT_SECONDS, FIELD(burst_ns), .min = MIN_TIME_NS,
	  .max = MAX_PERIOD_NS },
	{ 0, { "connect-only" }, "N",
	  "TCP: connect N times, or for -t, every -i (0.1)",
	  AS_CLIENT, OPT_WHOLE, FIELD(connects), .min = 1, .max = UINT32_MAX,
	  .absent = "4294967295" },
	{ 0, { "near-congestion" }, "PART",
	  "TCP: wait PART (0.5) of an RTT after writes",
	  AS_CLIENT, OPT_PART, FIELD(near_ppm), .min = 1000, .max = 100000000,
	  .absent = "0.5" },
	{ 0, { "working-load" }, "WAY,N",
	  "N TCP streams beside: up, down or bidir",
	  AS_CLIENT, OPT_LOAD, FIELD(load), .absent = "bidir,1" },
	{ 0, { "bounceback" }, "N",
	  "TCP: N requests and replies (10) a period",
	  AS_CLIENT, OPT_WHOLE, FIELD(bounces), .min = 1, .max = 1000000000,
	  .absent = "10" },
	{ 0, { "bounceback-period" }, "SEC", "of --bounceback (1); 0: no pauses",
	  AS_CLIENT, OPT_ZERO_OR_SECONDS, FIELD(bounce_period_ns),
	  .min = MIN_TIME_NS, .max = MAX_WAIT_NS },
	{ 0, { "bounceback-request" }, "BYTES", "size of each request (100)",
	  AS_CLIENT, OPT_BYTES, FIELD(bounce_request_bytes),
	  .min = WIRE_BOUNCE_BYTES, .max = WIRE_BOUNCE_MAX },
	{ 0, { "bounceback-reply" }, "BYTES", "of each reply (as the request)",
	  AS_CLIENT, OPT_BYTES, FIELD(bounce_reply_bytes),
	  .min = WIRE_BOUNCE_BYTES, .max = WIRE_BOUNCE_MAX },
	{ 0, { "bounceback-hold" }, "MS", "the server waits before each reply",
	  AS_CLIENT, OPT_MILLISECONDS, FIELD(bounce_hold_ns),
	  .min = NSEC_PER_MSEC, .max = MAX_HOLD_NS },
	{ 0, { "bounceback-no-quickack" }, NULL, "acknowledge as usual",
	  AS_CLIENT, OPT_SET, FIELD(bounce_no_quickack), .min = true },
	{ 'X', { "peer-detect", "peerdetect" }, NULL,
	  "TCP: ask for the server's version first",
	  AS_CLIENT, OPT_SET, FIELD(peer_detect), .min = true,
	  .env = "IPERF_PEER_DETECT" },
	{ 0, { "no-udp-fin" }, NULL, "UDP: end without asking for a report",
	  AS_CLIENT, OPT_SET, FIELD(no_fin), .min = true },
	{ 0, { "fq-rate" }, "RATE",
	  "TCP: the kernel paces; kmg bits/s, KMG bytes/s",
	  AS_CLIENT, OPT_WIRE_RATE, FIELD(fq_bps), .min = 1000,
	  .max = OPTIONS_RATE_MAX },
	{ 0, { "connect-retries" }, "N", "TCP: try a failed connect N times again",
	  AS_CLIENT, OPT_WHOLE, FIELD(retries), .min = 1, .max = 1000000 },
	{ 0, { "connect-retry-timer" }, "SEC", "so long after the last try (1)",
	  AS_CLIENT, OPT_SECONDS, FIELD(retry_ns), .min = MIN_TIME_NS,
	  .max = MAX_WAIT_NS },
	{ 0, { "connect-retry-time" }, "SEC", "or for SEC seconds (10)",
	  AS_CLIENT, OPT_SECONDS, FIELD(retry_for_ns), .min = MIN_TIME_NS,
	  .max = MAX_WAIT_NS },
	{ 0, { "txdelay-time" }, "SEC", "wait between connecting and sending",
	  AS_CLIENT, OPT_SECONDS, FIELD(delay_ns), .min = MIN_TIME_NS,
	  .max = MAX_DELAY_NS },
	{ 0, { "txstart-time" }, "EPOCH", "send from this Unix time on",
	  AS_CLIENT, OPT_EPOCH, FIELD(start_wall_ns), .min = 1,
	  .max = INT64_MAX },
	/* --- experiments --- */
	{ 0, { "arm" }, "LABEL=CMD", "a setting: CMD runs before each of its tests",
	  AS_EXPERIMENT, OPT_ARM, FIELD(arm) },
	{ 0, { "rounds" }, "N", "how often each arm is tested (12)",
	  AS_EXPERIMENT, OPT_WHOLE, FIELD(rounds), MARK(rounds_set), .min = 2,
	  .max = OPTIONS_ROUNDS_MOST },
	{ 0, { "precision" }, "P%", "go on until the rate is known to P %",
	  AS_EXPERIMENT, OPT_PERCENT, FIELD(precision_ppm), .min = 10,
	  .max = INT64_C(100) * OPTIONS_PPM_IN_PERCENT },
	{ 0, { "warmup" }, "N", "rounds before these, not counted (1)",
	  AS_EXPERIMENT, OPT_WHOLE, FIELD(warmup), .min = 0, .max = 100 },
	{ 0, { "settle" }, "SEC", "wait so long after CMD",
	  AS_EXPERIMENT, OPT_ZERO_OR_SECONDS, FIELD(settle_ns),
	  .min = MIN_TIME_NS, .max = MAX_WAIT_NS },
	{ 0, { "seed" }, "N", "of the order of the arms",
	  AS_EXPERIMENT, OPT_WHOLE, FIELD(seed), MARK(seed_set), .min = 0,
	  .max = INT64_MAX },
	{ 0, { "arm-show" }, "CMD", "after each CMD: prints what is set now",
	  AS_EXPERIMENT, OPT_TEXT, FIELD(arm_show) },
	{ 0, { "arm-timeout" }, "SEC", "end a CMD that takes longer (60)",
	  AS_EXPERIMENT, OPT_SECONDS, FIELD(arm_timeout_ns),
	  .min = MIN_TIME_NS, .max = MAX_WAIT_NS },
	{ 0, { "margin" }, "P%", "arms that differ by less are the same",
	  AS_RESULT, OPT_PERCENT, FIELD(margin_ppm), .min = 10,
	  .max = INT64_C(100) * OPTIONS_PPM_IN_PERCENT },
	{ 0, { "confidence" }, "P%", "of intervals and verdicts (95)",
	  AS_RESULT, OPT_PERCENT, FIELD(confidence_ppm), MARK(confidence_set),
	  .min = INT64_C(50) * OPTIONS_PPM_IN_PERCENT, .max = 999999 },
	{ 0, { "report" }, "FILE", "write a page of the result, in HTML",
	  AS_RESULT, OPT_TEXT, FIELD(report) },
	{ 0, { "compare" }, "FILE...", "the result again, from JSON or CSV",
	  AS_COMPARE, OPT_FILES, FIELD(compare) },
	/* --- both --- */
	{ 'u', { "udp" }, NULL, "use UDP rather than TCP",
	  AS_BOTH, OPT_SET, FIELD(udp), .min = true, .env = "IPERF_UDP" },
	{ 'p', { "port" }, "PORT", "listen on or connect to PORT (5001), or M-N",
	  AS_BOTH, OPT_PORTS, FIELD(port), .min = 1, .max = 65535,
	  .env = "IPERF_PORT" },
	{ 't', { "time" }, "SEC",
	  "send (10) or serve so long; 0: until stopped",
	  AS_BOTH, OPT_ZERO_OR_SECONDS, FIELD(time_ns), MARK(time_set),
	  .min = MIN_TIME_NS, .max = MAX_TIME_NS, .env = "IPERF_TIME" },
	{ 'i', { "interval" }, "SEC", "a report row every SEC seconds; 0: none",
	  AS_BOTH, OPT_ZERO_OR_SECONDS, FIELD(interval_ns),
	  .min = MIN_INTERVAL_NS, .max = MAX_TIME_NS, .env = "IPERF_INTERVAL" },
	{ 'P', { "parallel" }, "N", "client: N streams; server: end after N",
	  AS_BOTH, OPT_WHOLE, FIELD(parallel), MARK(parallel_set), .min = 1,
	  .max = 65535, .env = "IPERF_PARALLEL" },
	{ 'l', { "len" }, "BYTES", "size of a write, read or datagram",
	  AS_BOTH, OPT_BYTES, FIELD(len_bytes), .min = 1, .max = MAX_LEN,
	  .env = "IPERF_LEN" },
	{ 'w', { "window" }, "BYTES", "size of the socket buffer",
	  AS_BOTH, OPT_BYTES, FIELD(window_bytes), .min = 1, .max = MAX_WINDOW,
	  .env = "TCP_WINDOW_SIZE" },
	{ 'B', { "bind" }, "ADDR", "HOST, HOST:PORT, HOST%DEV or %DEV",
	  AS_BOTH, OPT_BIND, FIELD(bind), .env = "IPERF_BIND" },
	{ '4', { "ipv4" }, NULL, "use IPv4 only",
	  AS_BOTH, OPT_SET, FIELD(family), .min = 4 },
	{ '6', { "ipv6" }, NULL, "use IPv6",
	  AS_BOTH, OPT_SET, FIELD(family), .min = 6 },
	{ 'V', { "ipv6_domain", "ipv6_domian" }, NULL, "the same as -6",
	  AS_BOTH, OPT_SET, FIELD(family), .min = 6,
	  .env = "IPERF_IPV6_DOMAIN" },
	{ 'M', { "mss" }, "BYTES", "ask for this TCP segment size",
	  AS_BOTH, OPT_BYTES, FIELD(mss_bytes), .min = MIN_MSS, .max = MAX_MSS,
	  .env = "IPERF_MSS" },
	{ 'm', { "print_mss" }, NULL, "print the TCP segment size",
	  AS_BOTH, OPT_SET, FIELD(print_mss), .min = true,
	  .env = "IPERF_PRINT_MSS" },
	{ 'N', { "nodelay" }, NULL, "send small TCP writes at once",
	  AS_BOTH, OPT_SET, FIELD(nodelay), .min = true,
	  .env = "IPERF_NODELAY" },
	{ 'S', { "tos" }, "TOS", "type of service: 0 to 255, or ef, af11 ...",
	  AS_BOTH, OPT_TOS, FIELD(tos), MARK(tos_set), .max = 255,
	  .env = "IPERF_TOS" },
	{ 0, { "dscp" }, "DSCP", "0 to 63, or ef, af11 ...: the upper bits of -S",
	  AS_BOTH, OPT_DSCP, FIELD(tos), MARK(tos_set), .max = 63 },
	{ 'Z', { "tcp-congestion", "linux-congestion", "tcp-cca" }, "ALGO",
	  "TCP congestion control",
	  AS_BOTH, OPT_TEXT, FIELD(cca), .env = "IPERF_CONGESTION_CONTROL" },
	{ 'C', { "compatibility" }, NULL, "plain data, without iperf's header",
	  AS_BOTH, OPT_SET, FIELD(compat), .min = true,
	  .env = "IPERF_COMPAT" },
	{ 'f', { "format" }, "LETTER",
	  "unit: kmgtp bits, KMGTP bytes, a A any, b B 1",
	  AS_BOTH, OPT_LETTER, FIELD(format), .choices = "abkmgtpABKMGTP",
	  .env = "IPERF_FORMAT" },
	{ 'e', { "enhanced", "enhancedreports" }, NULL, "report more",
	  AS_BOTH, OPT_SET, FIELD(enhanced), .min = true,
	  .env = "IPERF_ENHANCEDREPORTS" },
	{ 'y', { "reportstyle" }, "C", "report in CSV",
	  AS_BOTH, OPT_PREFIX, FIELD(csv), .choices = "C",
	  .env = "IPERF_REPORTSTYLE" },
	/* the order of the letters is that of the bits OPTIONS_NO_... */
	{ 'x', { "reportexclude" }, "CDMSV",
	  "no connects, data, sums, settings, server report",
	  AS_BOTH, OPT_LETTERS, FIELD(exclude), .choices = "CDMSV",
	  .env = "IPERF_REPORTEXCLUDE" },
	{ 0, { "sum-only" }, NULL, "of the rows only the sums",
	  AS_BOTH, OPT_SET, FIELD(sum_only), .min = true },
	{ 0, { "hide-ips" }, NULL, "show only the last part of addresses",
	  AS_BOTH, OPT_SET, FIELD(hide_ips), .min = true },
	{ 0, { "utc" }, NULL, "show times of day in UTC",
	  AS_BOTH, OPT_SET, FIELD(utc), .min = true },
	{ 0, { "permit-key" }, "KEY", "TCP: serve only clients that have KEY",
	  AS_BOTH, OPT_KEY, FIELD(permit_key), .min = WIRE_KEY_MIN,
	  .max = WIRE_KEY_MAX, .absent = "" },
	/* the order of the words is that of enum out_dialect */
	{ 0, { "output-style" }, "STYLE", "classic, 2.0.2, 2.1 or 2.2",
	  AS_BOTH, OPT_CHOICE, FIELD(dialect),
	  .choices = "classic|2.0.2|2.1|2.2" },
	{ 0, { "histograms", "udp-histograms", "udp-histogram" }, NULL,
	  "UDP: the distribution of the delay",
	  AS_BOTH, OPT_SET, FIELD(histograms), .min = true },
	{ 0, { "json" }, NULL, "report in JSON, an object on each line",
	  AS_BOTH, OPT_SET, FIELD(json), .min = true },
	{ 0, { "json-file" }, "FILE", "write JSON to FILE, beside the reports",
	  AS_BOTH, OPT_TEXT, FIELD(json_file) },
	{ 'o', { "output" }, "FILE", "write the reports to FILE",
	  AS_BOTH, OPT_TEXT, FIELD(output) },
	/* What iperf 2 had, and what its scripts still give. */
	{ 'U', { "single_udp" }, NULL, "the same as -u",
	  AS_BOTH, OPT_SET, FIELD(udp), .min = true,
	  .env = "IPERF_SINGLE_UDP" },
	{ 'W', { "suggest_win_size" }, NULL, "no effect",
	  AS_BOTH, OPT_OLD, .at = 0, .env = "IPERF_SUGGEST_WIN_SIZE" },
	{ 'A', { "awdl" }, NULL, "no effect", AS_BOTH, OPT_OLD, .at = 0 },
	{ 0, { "NUM_REPORT_STRUCTS" }, "N", "no effect: nothing is queued",
	  AS_BOTH, OPT_OLD, .at = 0 },
	{ 'h', { "help" }, NULL, "print this and end",
	  AS_BOTH, OPT_SET, FIELD(ask), .min = OPTIONS_HELP },
	{ 0, { "shell-completion" }, NULL, "print what completes options in bash",
	  AS_BOTH, OPT_SET, FIELD(ask), .min = OPTIONS_COMPLETION },
	{ 'v', { "version" }, NULL, "print the version and end",
	  AS_BOTH, OPT_SET, FIELD(ask), .min = OPTIONS_VERSION },
};
/* clang-format on */

#define ROWS (sizeof(table) / sizeof(table[0]))

static_assert(ROWS <= OPTTABLE_ROWS_MAX, "room for every option");

/* --- finding a row ---------------------------------------------------------
 */

const struct opttable_row *opttable_row(size_t i)
{
	return i < ROWS ? &table[i] : NULL;
}

size_t opttable_index(const struct opttable_row *r)
{
	return (size_t)(r - table);
}

const struct opttable_row *opttable_letter(char letter)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (table[i].letter == letter && letter)
			return &table[i];
	}
	return NULL;
}

const struct opttable_row *opttable_name(const char *name)
{
	size_t i = 0;

	while (i < ROWS && strcmp(table[i].names[0], name) != 0)
		i++;
	assert(i < ROWS);
	return &table[i];
}

int opttable_names(const struct opttable_row *r, const char *name,
		   size_t length)
{
	int how = 0;

	for (size_t i = 0; i < OPTTABLE_NAMES && r->names[i]; i++) {
		if (strncmp(r->names[i], name, length) != 0)
			continue;
		if (!r->names[i][length])
			return 2;
		how = 1;
	}
	return how;
}

/* --- whose it is ------------------------------------------------------------
 */

/* Of what fits both, a comparison takes what says where the result goes. */
static bool fits_compare(const struct opttable_row *r)
{
	static const char *const outputs[] = { "json", "json-file", "output" };

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		if (r == opttable_name(outputs[i]))
			return true;
	}
	return r->whose == AS_COMPARE || r->whose == AS_RESULT;
}

bool opttable_fits(const struct opttable_row *r, enum options_side side)
{
	if (side == OPTIONS_COMPARE)
		return fits_compare(r);
	switch (r->whose) {
	case AS_BOTH:
		return true;
	case AS_SERVER:
		return side == OPTIONS_SERVER;
	case AS_COMPARE:
		return false;
	default:
		return side == OPTIONS_CLIENT;
	}
}

const char *opttable_whose_text(const struct opttable_row *r)
{
	static const char *const texts[] = {
		[AS_BOTH] = "a test (-s or -c)",
		[AS_SERVER] = "a server (-s)",
		[AS_CLIENT] = "a client (-c)",
		[AS_EXPERIMENT] = "an experiment (--arm)",
		[AS_RESULT] = "an experiment (--arm) or --compare",
		[AS_COMPARE] = "no test",
	};

	return texts[r->whose];
}

/* --- its texts ---------------------------------------------------------------
 */

static void usage_row(FILE *f, const struct opttable_row *r)
{
	char name[40];
	char letter[] = { '-', r->letter, ',', ' ', '\0' };

	snprintf(name, sizeof(name), "--%s%s%s%s", r->names[0],
		 !r->arg     ? ""
		 : r->absent ? "[="
			     : " ",
		 r->arg ? r->arg : "", r->absent ? "]" : "");
	fprintf(f, "  %4s%-24s %s\n", r->letter ? letter : "", name, r->help);
}

void opttable_usage(FILE *f)
{
	static const struct {
		enum opttable_whose first, last;
		const char *title;
	} groups[] = {
		{ AS_SERVER, AS_SERVER, "Server:" },
		{ AS_CLIENT, AS_CLIENT, "Client:" },
		{ AS_BOTH, AS_BOTH, "Both:" },
		{ AS_EXPERIMENT, AS_COMPARE, "Experiments:" },
	};

	fputs("Usage: iperf -s [options]\n"
	      "       iperf -c HOST [options]\n"
	      "       iperf -c HOST [options] --arm LABEL=CMD --arm ...\n"
	      "       iperf --compare FILE...\n"
	      "       iperf -h | -v\n",
	      f);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		fprintf(f, "\n%s\n", groups[g].title);
		for (size_t i = 0; i < ROWS; i++) {
			if (table[i].whose >= groups[g].first &&
			    table[i].whose <= groups[g].last)
				usage_row(f, &table[i]);
		}
	}
	fputs("\nRATE: k m g K M G are powers of 10, Ki Mi Gi powers of 2.\n"
	      "BYTES: k m g K M G and Ki Mi Gi are powers of 2.\n",
	      f);
}
