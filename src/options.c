/*
 * The table comes first, then what reads one value of each kind, then the
 * command line, the environment, what concerns two options together, and the
 * texts made from the table.
 */
#include "options.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "stats.h"
#include "wire.h"

#define NSEC_PER_SEC 1000000000
#define MIN_TIME_NS 1000000
#define MAX_TIME_NS (INT64_C(21474836) * NSEC_PER_SEC)
#define MIN_INTERVAL_NS 5000000            /* iperf 2.0.7 and later: 5 ms */
#define MAX_RATE INT64_C(1000000000000000) /* 1 Pbit/s keeps pace exact */
#define MAX_LEN (16 << 20)       /* a write larger than 16 MiB: a typo */
#define MAX_WINDOW (INT_MAX / 2) /* Linux doubles what it is given */
#define MIN_MSS 88               /* Linux, TCP_MIN_MSS */
#define MAX_MSS 32767            /* Linux, MAX_TCP_WINDOW */
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC INT64_C(1000000)
#define MIN_LATE_NS NSEC_PER_MSEC
#define MAX_LATE_NS (60000 * NSEC_PER_MSEC)
#define MAX_WAIT_NS (INT64_C(86400) * NSEC_PER_SEC) /* a day */
/* Of a number of percent read as seconds. */
#define NS_IN_PPM (NSEC_PER_SEC / OPTIONS_PPM_IN_PERCENT)
#define MAX_LABEL 16
#define CONFIDENCE_PERCENT 95
#define ARM_TIMEOUT_NS (INT64_C(60) * NSEC_PER_SEC)
#define MAX_OMIT_NS (INT64_C(65535) * OPTIONS_OMIT_STEP_NS) /* 16 bits */

/* What an argument is, and so which reader takes it. */
enum kind {
	OPT_SET,             /* no argument: the field becomes min */
	OPT_TEXT,            /* anything but nothing */
	OPT_HOST,            /* a name or an address */
	OPT_WHOLE,           /* min to max */
	OPT_BYTES,           /* a size, min to max */
	OPT_SECONDS,         /* min to max, in nanoseconds */
	OPT_ZERO_OR_SECONDS, /* the same, or 0 */
	OPT_MILLISECONDS,    /* min to max, in nanoseconds too */
	OPT_RATE,            /* bits or datagrams a second, up to max */
	OPT_BPS,             /* bits a second, min to max */
	OPT_TOS,             /* a number, min to max, or a name */
	OPT_BIND,            /* address, port and device */
	OPT_LETTER,          /* one letter out of choices */
	OPT_LETTERS,         /* letters out of choices: a bit each */
	OPT_PREFIX,          /* begins with choices, in any case */
	OPT_CHOICE,          /* one word of choices: its number */
	OPT_NETWORK,         /* one more address or prefix of the list */
	OPT_PERCENT,         /* min to max, in parts of a million */
	OPT_ARM,             /* one more LABEL=COMMAND */
	OPT_FILES,           /* one more file, and words without a dash too */
};

/* Who may be given an option. */
enum whose {
	AS_BOTH,
	AS_SERVER,
	AS_CLIENT,
	AS_EXPERIMENT, /* a client with arms */
	AS_RESULT,     /* so too, or --compare */
	AS_COMPARE,
};

struct row {
	char letter;          /* 0: only long names */
	const char *names[3]; /* the main one, and others that scripts use */
	const char *arg;      /* what to call the argument; NULL: takes none */
	const char *help;
	enum whose whose;
	enum kind kind;
	size_t at; /* the field in struct options, and its size */
	size_t size;
	size_t mark; /* the bool that tells that it was given; 0: none */
	int64_t min;
	int64_t max;
	const char *choices;
	const char *env; /* the variable that gives the same; NULL: none */
};

#define FIELD(name)                                                            \
	.at = offsetof(struct options, name),                                  \
	.size = sizeof(((struct options *)NULL)->name)
#define MARK(name) .mark = offsetof(struct options, name)

/* Within a side the order is that of --help. */
/* clang-format off */
static const struct row table[] = {
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
	{ 0, { "late-after" }, "MS",
	  "UDP: lost when missing for MS milliseconds (100)",
	  AS_SERVER, OPT_MILLISECONDS, FIELD(late_after_ns),
	  .min = MIN_LATE_NS, .max = MAX_LATE_NS },
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
	  .max = MAX_RATE },
	/* --- a client; -n stands before -t, so that of two variables IPERF_TIME
	 * rules, as in iperf 2 --- */
	{ 'c', { "client" }, "HOST", "connect to HOST and send",
	  AS_CLIENT, OPT_HOST, FIELD(host), .env = "IPERF_CLIENT" },
	{ 'b', { "bandwidth", "bitrate" }, "RATE",
	  "bits/s, or Npps; 0: unpaced; with -u: 1048576",
	  AS_CLIENT, OPT_RATE, FIELD(rate), MARK(rate_set), .max = MAX_RATE,
	  .env = "IPERF_BANDWIDTH" },
	{ 'n', { "num" }, "BYTES", "send so many bytes, instead of -t",
	  AS_CLIENT, OPT_BYTES, FIELD(amount_bytes), .min = 1, .max = INT64_MAX,
	  .env = "IPERF_NUM" },
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
	{ 0, { "trip-times" }, NULL, "UDP: one-way delays, by both clocks",
	  AS_CLIENT, OPT_SET, FIELD(trip_times), .min = true },
	/* --- experiments --- */
	{ 0, { "arm" }, "LABEL=CMD", "a setting: CMD runs before each of its tests",
	  AS_EXPERIMENT, OPT_ARM, FIELD(arm) },
	{ 0, { "rounds" }, "N", "how often each arm is tested (12)",
	  AS_EXPERIMENT, OPT_WHOLE, FIELD(rounds), MARK(rounds_set), .min = 2,
	  .max = OPTIONS_ROUNDS_MOST },
	{ 0, { "precision" }, "P%", "go on until the rate is known to P %",
	  AS_EXPERIMENT, OPT_PERCENT, FIELD(precision_ppm), .min = 10,
	  .max = 100 * OPTIONS_PPM_IN_PERCENT },
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
	  .max = 100 * OPTIONS_PPM_IN_PERCENT },
	{ 0, { "confidence" }, "P%", "of intervals and verdicts (95)",
	  AS_RESULT, OPT_PERCENT, FIELD(confidence_ppm), MARK(confidence_set),
	  .min = 50 * OPTIONS_PPM_IN_PERCENT, .max = 999999 },
	{ 0, { "report" }, "FILE", "write a page of the result, in HTML",
	  AS_RESULT, OPT_TEXT, FIELD(report) },
	{ 0, { "compare" }, "FILE...", "the result again, from JSON or CSV",
	  AS_COMPARE, OPT_FILES, FIELD(compare) },
	/* --- both --- */
	{ 'u', { "udp" }, NULL, "use UDP rather than TCP",
	  AS_BOTH, OPT_SET, FIELD(udp), .min = true, .env = "IPERF_UDP" },
	{ 'p', { "port" }, "PORT", "listen on or connect to PORT (5001)",
	  AS_BOTH, OPT_WHOLE, FIELD(port), .min = 1, .max = 65535,
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
	{ 'Z', { "tcp-congestion", "linux-congestion", "tcp-cca" }, "ALGO",
	  "TCP congestion control",
	  AS_BOTH, OPT_TEXT, FIELD(cca), .env = "IPERF_CONGESTION_CONTROL" },
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
	{ 'h', { "help" }, NULL, "print this and end",
	  AS_BOTH, OPT_SET, FIELD(ask), .min = OPTIONS_HELP },
	{ 'v', { "version" }, NULL, "print the version and end",
	  AS_BOTH, OPT_SET, FIELD(ask), .min = OPTIONS_VERSION },
};
/* clang-format on */

#define ROWS (sizeof(table) / sizeof(table[0]))
#define NAMES (sizeof(table[0].names) / sizeof(table[0].names[0]))

/* What a refused value is not.  OPT_WHOLE is followed by its range, what has
 * choices by these. */
static const char *const wanted[] = {
	[OPT_SET] = "", /* reads nothing, refuses nothing */
	[OPT_TEXT] = "a name: it is empty",
	[OPT_HOST] = "a host: a name or an address",
	[OPT_WHOLE] = "a whole number: ",
	[OPT_BYTES] = "a size: a number of bytes with k, m, g, Ki, Mi or Gi",
	[OPT_SECONDS] = "a time: seconds, such as 10 or 0.5",
	[OPT_ZERO_OR_SECONDS] = "a time: seconds, such as 10 or 0.5",
	[OPT_MILLISECONDS] = "a time: milliseconds, such as 100 or 2.5",
	[OPT_RATE] = "a rate: a number with k, m, g, Ki, Mi, Gi or pps",
	[OPT_BPS] = "a rate: bits a second with k, m, g, Ki, Mi or Gi",
	[OPT_TOS] = "a type of service: 0 to 255, or a name such as ef or af11",
	[OPT_BIND] = "a local address: HOST, HOST:PORT, HOST%DEV or [V6]:PORT",
	[OPT_LETTER] = "one letter of ",
	[OPT_LETTERS] = "made of letters of ",
	[OPT_PREFIX] = "a report style: ",
	[OPT_CHOICE] = "one of ",
	[OPT_NETWORK] = "an address or a prefix, such as 192.0.2.0/24",
	[OPT_PERCENT] = "a number of percent, such as 1, 0.5 or 95%",
	[OPT_ARM] = "LABEL=COMMAND, with a label of 1 to 16 of a-z 0-9 _.+-",
	[OPT_FILES] = "a file: its name is empty",
};

/* How an option came to be set, for complaints and for which came last. */
struct given {
	char name[32];    /* as typed: "-b", "--band", "IPERF_BANDWIDTH" */
	const char *text; /* the argument, "" of a flag */
	unsigned order;   /* counted from 1; 0: not given */
	bool from_env;
};

struct parser {
	struct options *o;
	struct given given[ROWS]; /* by row; the last one counts */
	unsigned order;
	char *why; /* OPTIONS_WHY_BYTES */
};

/* Leaves one line in why: what was typed may hold line feeds and escapes. */
__attribute__((format(printf, 2, 3))) static int complain(struct parser *p,
							  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, OPTIONS_WHY_BYTES, fmt, ap);
	va_end(ap);
	for (char *c = p->why; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return -EINVAL;
}

/* Fields of one byte, of flags and small numbers, up to eight. */
static void store(struct options *o, const struct row *r, uint64_t value)
{
	unsigned char *field = (unsigned char *)o + r->at;
	uint8_t v8 = (uint8_t)value;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	switch (r->size) {
	case sizeof(v8):
		memcpy(field, &v8, sizeof(v8));
		break;
	case sizeof(v16):
		memcpy(field, &v16, sizeof(v16));
		break;
	case sizeof(v32):
		memcpy(field, &v32, sizeof(v32));
		break;
	default:
		assert(r->size == sizeof(value));
		memcpy(field, &value, sizeof(value));
	}
}

static void store_text(struct options *o, const struct row *r, const char *text)
{
	assert(r->size == sizeof(text));
	memcpy((unsigned char *)o + r->at, &text, sizeof(text));
}

/* --- complaints about one value ------------------------------------------ */

static double seconds(int64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static void range_text(const struct row *r, char *buf, size_t size)
{
	switch (r->kind) {
	case OPT_SECONDS:
		if (r->min > 1)
			snprintf(buf, size, "%.10g to %.10g seconds",
				 seconds(r->min), seconds(r->max));
		else
			snprintf(buf, size, "above 0, up to %.10g seconds",
				 seconds(r->max));
		break;
	case OPT_ZERO_OR_SECONDS:
		snprintf(buf, size, "0, or %.10g to %.10g seconds",
			 seconds(r->min), seconds(r->max));
		break;
	case OPT_MILLISECONDS:
		snprintf(buf, size, "%lld to %lld milliseconds",
			 (long long)(r->min / NSEC_PER_MSEC),
			 (long long)(r->max / NSEC_PER_MSEC));
		break;
	case OPT_PERCENT:
		snprintf(buf, size, "%.10g to %.10g %%",
			 (double)r->min / OPTIONS_PPM_IN_PERCENT,
			 (double)r->max / OPTIONS_PPM_IN_PERCENT);
		break;
	default:
		snprintf(buf, size, "%lld to %lld", (long long)r->min,
			 (long long)r->max);
	}
}

static int refuse(struct parser *p, const struct row *r, const struct given *g)
{
	char range[80] = "";

	if (r->kind == OPT_WHOLE)
		range_text(r, range, sizeof(range));
	return complain(p, "%s: \"%.200s\" is not %s%s%s", g->name, g->text,
			wanted[r->kind], range, r->choices ? r->choices : "");
}

static int out_of_range(struct parser *p, const struct row *r,
			const struct given *g)
{
	char range[80];

	range_text(r, range, sizeof(range));
	return complain(p, "%s: \"%.200s\" is out of range: %s", g->name,
			g->text, range);
}

/* Keeps a number that a reader of units gave with rc. */
static int keep(struct parser *p, const struct row *r, const struct given *g,
		int rc, int64_t value)
{
	bool zero = r->kind == OPT_ZERO_OR_SECONDS && value == 0;

	if (rc == -EINVAL)
		return refuse(p, r, g);
	if (rc < 0 || ((value < r->min || value > r->max) && !zero))
		return out_of_range(p, r, g);
	store(p->o, r, (uint64_t)value);
	return 0;
}

/* --- one value of each kind ----------------------------------------------- */

static int read_text(struct parser *p, const struct row *r,
		     const struct given *g)
{
	if (!g->text[0])
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

/* No host begins with a dash: it is an option, and the host was forgotten. */
static int read_host(struct parser *p, const struct row *r,
		     const struct given *g)
{
	return g->text[0] == '-' ? refuse(p, r, g) : read_text(p, r, g);
}

static int read_whole(struct parser *p, const struct row *r,
		      const struct given *g)
{
	int64_t value = 0;
	int rc = units_whole(g->text, 0, &value);

	return keep(p, r, g, rc, value);
}

static int read_bytes(struct parser *p, const struct row *r,
		      const struct given *g)
{
	uint64_t bytes = 0;
	int rc = units_size(g->text, &bytes);

	if (rc == 0 && bytes > INT64_MAX)
		rc = -ERANGE;
	return keep(p, r, g, rc, (int64_t)bytes);
}

static int read_seconds(struct parser *p, const struct row *r,
			const struct given *g)
{
	int64_t ns = 0;
	int rc = units_seconds(g->text, &ns);

	return keep(p, r, g, rc, ns);
}

static int read_milliseconds(struct parser *p, const struct row *r,
			     const struct given *g)
{
	int64_t thousandfold_ns = 0;
	int rc = units_seconds(g->text, &thousandfold_ns);

	return keep(p, r, g, rc, thousandfold_ns / MSEC_PER_SEC);
}

/* MEAN,STDEV is a rate of iperf 2 that is not offered, so it is named. */
static int read_rate(struct parser *p, const struct row *r,
		     const struct given *g)
{
	struct units_rate rate = { 0, 0 };

	if (strchr(g->text, ','))
		return complain(p, "%s: \"%.200s\": MEAN,STDEV is not offered",
				g->name, g->text);

	int rc = units_rate(g->text, &rate);

	if (rc == -EINVAL)
		return refuse(p, r, g);
	if (rc < 0 || rate.bps > MAX_RATE || rate.pps > MAX_RATE)
		return out_of_range(p, r, g);
	assert(r->size == sizeof(rate));
	memcpy((unsigned char *)p->o + r->at, &rate, sizeof(rate));
	return 0;
}

static int read_bps(struct parser *p, const struct row *r,
		    const struct given *g)
{
	struct units_rate rate = { 0, 0 };
	int rc = units_rate(g->text, &rate);

	if (rc == 0 && rate.pps > 0)
		rc = -EINVAL;
	return keep(p, r, g, rc,
		    rate.bps > INT64_MAX ? INT64_MAX : (int64_t)rate.bps);
}

/*
 * The byte of each name: a code point (DSCP) stands in its upper six bits, RFC
 * 2474.  iperf 2.1.8 sends le, nqb and nqb2 unshifted (seen on the wire: 0x01,
 * 0x05, 0x2d), which marks ECN; that fault is not copied.  ac_...: as 2.1.8.
 */
static const struct {
	const char *name;
	uint8_t tos;
} tos_names[] = {
	{ "af11", 0x28 },        { "af12", 0x30 },     { "af13", 0x38 },
	{ "af21", 0x48 },        { "af22", 0x50 },     { "af23", 0x58 },
	{ "af31", 0x68 },        { "af32", 0x70 },     { "af33", 0x78 },
	{ "af41", 0x88 },        { "af42", 0x90 },     { "af43", 0x98 },
	{ "cs0", 0x00 },         { "cs1", 0x20 },      { "cs2", 0x40 },
	{ "cs3", 0x60 },         { "cs4", 0x80 },      { "cs5", 0xa0 },
	{ "cs6", 0xc0 },         { "cs7", 0xe0 },      { "ef", 0xb8 },
	{ "le", 0x04 },          { "nqb", 0x14 },      { "nqb2", 0xb4 },
	{ "ac_be", 0x00 },       { "ac_bk", 0x20 },    { "ac_vi", 0x80 },
	{ "ac_vo", 0xb8 },       { "lowdelay", 0x10 }, { "throughput", 0x08 },
	{ "reliability", 0x04 },
};

static int read_tos(struct parser *p, const struct row *r,
		    const struct given *g)
{
	int64_t value = 0;

	for (size_t i = 0; i < sizeof(tos_names) / sizeof(tos_names[0]); i++) {
		if (strcasecmp(g->text, tos_names[i].name) == 0)
			return keep(p, r, g, 0, tos_names[i].tos);
	}

	int rc = units_whole(g->text, 1, &value);

	return keep(p, r, g, rc, value);
}

static int read_letter(struct parser *p, const struct row *r,
		       const struct given *g)
{
	char letter = g->text[0];

	if (!letter || g->text[1] || !strchr(r->choices, letter))
		return refuse(p, r, g);
	store(p->o, r, (unsigned char)letter);
	return 0;
}

static int read_letters(struct parser *p, const struct row *r,
			const struct given *g)
{
	unsigned bits = 0;

	if (!g->text[0])
		return refuse(p, r, g);
	for (const char *c = g->text; *c; c++) {
		char upper = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
		const char *at = strchr(r->choices, upper);

		if (!at)
			return refuse(p, r, g);
		bits |= 1u << (at - r->choices);
	}
	store(p->o, r, bits);
	return 0;
}

static int read_prefix(struct parser *p, const struct row *r,
		       const struct given *g)
{
	if (strncasecmp(g->text, r->choices, strlen(r->choices)) != 0)
		return refuse(p, r, g);
	store(p->o, r, true);
	return 0;
}

static int read_choice(struct parser *p, const struct row *r,
		       const struct given *g)
{
	const char *word = r->choices;

	for (uint64_t number = 0; *word; number++) {
		size_t length = strcspn(word, "|");

		if (strlen(g->text) == length &&
		    memcmp(g->text, word, length) == 0) {
			store(p->o, r, number);
			return 0;
		}
		word += length + (word[length] == '|');
	}
	return refuse(p, r, g);
}

static int read_network(struct parser *p, const struct row *r,
			const struct given *g)
{
	struct policy_rules *limits = &p->o->limits;

	if (limits->n_allow == POLICY_ALLOW_MAX)
		return complain(p, "%s: \"%.200s\" is one too many: %d at most",
				g->name, g->text, POLICY_ALLOW_MAX);
	if (policy_prefix(&limits->allow[limits->n_allow], g->text) < 0)
		return refuse(p, r, g);
	limits->n_allow++;
	return 0;
}

static int read_percent(struct parser *p, const struct row *r,
			const struct given *g)
{
	char number[32] = "";
	size_t length = strcspn(g->text, "%");
	int64_t billionth = 0;

	if (length >= sizeof(number) ||
	    (g->text[length] != '\0' && g->text[length + 1] != '\0'))
		return refuse(p, r, g);
	memcpy(number, g->text, length);

	int rc = units_seconds(number, &billionth);

	return keep(p, r, g, rc, billionth / NS_IN_PPM);
}

/* Labels stand in tables and in files. */
static bool is_label(const char *text, size_t length)
{
	if (length < 1 || length > MAX_LABEL)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
		    !(c >= 'A' && c <= 'Z') && !strchr("_.+-", c))
			return false;
	}
	return true;
}

static int read_arm(struct parser *p, const struct row *r,
		    const struct given *g)
{
	struct options *o = p->o;
	size_t length = strcspn(g->text, "=");

	if (!g->text[length] || !is_label(g->text, length))
		return refuse(p, r, g);
	if (o->n_arms == OPTIONS_ARMS_MAX)
		return complain(p, "%s: \"%.200s\" is one too many: %d at most",
				g->name, g->text, OPTIONS_ARMS_MAX);
	for (unsigned i = 0; i < o->n_arms; i++) {
		if (strlen(o->arm[i].label) == length &&
		    memcmp(o->arm[i].label, g->text, length) == 0)
			return complain(p,
					"%s: \"%.200s\": there is an arm \"%s\""
					" already",
					g->name, g->text, o->arm[i].label);
	}

	struct options_arm *arm = &o->arm[o->n_arms++];

	memcpy(arm->label, g->text, length);
	arm->label[length] = '\0';
	arm->command = g->text + length + 1;
	return 0;
}

static int read_file(struct parser *p, const struct row *r,
		     const struct given *g)
{
	struct options *o = p->o;

	if (!g->text[0])
		return refuse(p, r, g);
	if (o->n_compare == OPTIONS_ARMS_MAX)
		return complain(p, "%s: \"%.200s\" is one too many: %d at most",
				g->name, g->text, OPTIONS_ARMS_MAX);
	o->compare[o->n_compare++] = g->text;
	return 0;
}

/* --- the parts of -B ------------------------------------------------------ */

/* Copies length bytes and ends them; false when they do not fit. */
static bool copy_part(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* Linux allows no '/', ':' or blank in a device's name. */
static bool split_device(struct options *o, const char *text)
{
	return text[0] && !text[strcspn(text, "/:% \t\n")] &&
	       copy_part(o->bind_dev, sizeof(o->bind_dev), text, strlen(text));
}

/* Splits "PORT" or "PORT%DEV". */
static bool split_port(struct options *o, const char *text)
{
	size_t length = strcspn(text, "%");
	char digits[8];
	int64_t port;

	if (!copy_part(digits, sizeof(digits), text, length) ||
	    units_whole(digits, 0, &port) < 0 || port < 1 || port > 65535)
		return false;
	o->bind_port = (uint16_t)port;
	return !text[length] || split_device(o, text + length + 1);
}

/* Addresses of a link need their zone: it is a part of the address. */
static bool zone_is_scope(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MC_LINKLOCAL(a) ||
	       IN6_IS_ADDR_MC_NODELOCAL(a);
}

/* Splits length bytes that must be an IPv6 literal, with a zone or without. */
static bool split_v6(struct options *o, const char *text, size_t length)
{
	struct in6_addr address;

	if (!copy_part(o->bind_host, sizeof(o->bind_host), text, length))
		return false;

	char *zone = strchr(o->bind_host, '%');

	if (zone)
		*zone = '\0';
	if (inet_pton(AF_INET6, o->bind_host, &address) != 1)
		return false;
	if (!zone)
		return true;
	if (!zone_is_scope(&address))
		return split_device(o, zone + 1);
	*zone = '%';
	return zone[1] != '\0';
}

/* Splits "[V6]", "[V6]:PORT", "[V6]%DEV" or "[V6]:PORT%DEV". */
static bool split_brackets(struct options *o, const char *text)
{
	const char *end = strchr(text, ']');

	if (!end || !split_v6(o, text + 1, (size_t)(end - text - 1)))
		return false;
	if (end[1] == ':')
		return split_port(o, end + 2);
	if (end[1] == '%')
		return !o->bind_dev[0] && split_device(o, end + 2);
	return !end[1];
}

/* Splits "HOST", "HOST:PORT", "HOST%DEV", "HOST:PORT%DEV" or "%DEV". */
static bool split_name(struct options *o, const char *text)
{
	size_t length = strcspn(text, ":%");

	if (!copy_part(o->bind_host, sizeof(o->bind_host), text, length))
		return false;
	if (text[length] == '%')
		return split_device(o, text + length + 1);
	if (length == 0)
		return false;
	return !text[length] || split_port(o, text + length + 1);
}

static bool split_bind(struct options *o, const char *text)
{
	const char *colon = strchr(text, ':');

	o->bind_host[0] = '\0';
	o->bind_dev[0] = '\0';
	o->bind_port = 0;
	if (text[0] == '-')
		return false;
	if (text[0] == '[')
		return split_brackets(o, text);
	if (colon && strchr(colon + 1, ':'))
		return split_v6(o, text, strlen(text));
	return split_name(o, text);
}

static int read_bind(struct parser *p, const struct row *r,
		     const struct given *g)
{
	if (!split_bind(p->o, g->text))
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

/* --- one option ----------------------------------------------------------- */

static int read_value(struct parser *p, const struct row *r,
		      const struct given *g)
{
	switch (r->kind) {
	case OPT_SET:
		store(p->o, r, (uint64_t)r->min);
		return 0;
	case OPT_TEXT:
		return read_text(p, r, g);
	case OPT_HOST:
		return read_host(p, r, g);
	case OPT_WHOLE:
		return read_whole(p, r, g);
	case OPT_BYTES:
		return read_bytes(p, r, g);
	case OPT_SECONDS:
	case OPT_ZERO_OR_SECONDS:
		return read_seconds(p, r, g);
	case OPT_MILLISECONDS:
		return read_milliseconds(p, r, g);
	case OPT_RATE:
		return read_rate(p, r, g);
	case OPT_BPS:
		return read_bps(p, r, g);
	case OPT_TOS:
		return read_tos(p, r, g);
	case OPT_BIND:
		return read_bind(p, r, g);
	case OPT_LETTER:
		return read_letter(p, r, g);
	case OPT_LETTERS:
		return read_letters(p, r, g);
	case OPT_PREFIX:
		return read_prefix(p, r, g);
	case OPT_CHOICE:
		return read_choice(p, r, g);
	case OPT_NETWORK:
		return read_network(p, r, g);
	case OPT_PERCENT:
		return read_percent(p, r, g);
	case OPT_ARM:
		return read_arm(p, r, g);
	case OPT_FILES:
		return read_file(p, r, g);
	}
	assert(false);
	return -EINVAL;
}

/* name has length bytes and is a prefix of a name of the table. */
static int set_option(struct parser *p, const struct row *r, const char *name,
		      size_t length, const char *text, bool from_env)
{
	struct given *g = &p->given[r - table];

	if (!copy_part(g->name, sizeof(g->name), name, length))
		assert(false);
	g->text = text;
	g->order = ++p->order;
	g->from_env = from_env;
	if (r->mark) {
		bool yes = true;

		memcpy((unsigned char *)p->o + r->mark, &yes, sizeof(yes));
	}
	return read_value(p, r, g);
}

/* --- the command line ----------------------------------------------------- */

struct words {
	char *const *next;
	char *const *end;
};

static const struct row *row_of_letter(char letter)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (table[i].letter == letter && letter)
			return &table[i];
	}
	return NULL;
}

static const struct row *row_of_name(const char *name)
{
	size_t i = 0;

	while (strcmp(table[i].names[0], name) != 0)
		i++;
	return &table[i];
}

/* The argument of an option: what is joined to it, else the next word. */
static int take_argument(struct parser *p, const struct row *r,
			 const char *name, size_t length, const char *joined,
			 struct words *words)
{
	if (!joined && words->next == words->end)
		return complain(p, "%.*s: needs an argument: %s", (int)length,
				name, r->arg);
	return set_option(p, r, name, length, joined ? joined : *words->next++,
			  false);
}

/* "-u", "-su", "-p5001", "-sp" "5001" */
static int read_short(struct parser *p, const char *word, struct words *words)
{
	for (const char *c = word + 1; *c && !p->o->ask; c++) {
		const struct row *r = row_of_letter(*c);
		const char name[] = { '-', *c, '\0' };

		if (!r)
			return complain(p, "unknown option \"%s\"", name);
		if (r->arg)
			return take_argument(p, r, name, 2, c[1] ? c + 1 : NULL,
					     words);

		int rc = set_option(p, r, name, 2, "", false);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* How well name, of length bytes, names r: 2 in full, 1 as a beginning. */
static int names_row(const struct row *r, const char *name, size_t length)
{
	int how = 0;

	for (size_t i = 0; i < NAMES && r->names[i]; i++) {
		if (strncmp(r->names[i], name, length) != 0)
			continue;
		if (!r->names[i][length])
			return 2;
		how = 1;
	}
	return how;
}

/* Those of experiments yield to what iperf 2 has: a short form that scripts use
 * there stays one. */
static bool yields(const struct row *r)
{
	return r->whose >= AS_EXPERIMENT;
}

static int ambiguous(struct parser *p, const char *word, size_t length,
		     bool yielding)
{
	char list[256] = "";

	for (size_t i = 0; i < ROWS; i++) {
		size_t used = strlen(list);

		if (names_row(&table[i], word + 2, length - 2) &&
		    yields(&table[i]) == yielding)
			snprintf(list + used, sizeof(list) - used, "%s--%s",
				 used ? ", " : "", table[i].names[0]);
	}
	return complain(p, "option \"%.*s\" is ambiguous: %s", (int)length,
			word, list);
}

/* The row that word names, of length bytes with its dashes. */
static int find_long(struct parser *p, const char *word, size_t length,
		     const struct row **row)
{
	const struct row *begun = NULL;
	size_t beginnings = 0;

	for (size_t i = 0; i < ROWS; i++) {
		switch (names_row(&table[i], word + 2, length - 2)) {
		case 2:
			*row = &table[i];
			return 0;
		case 1:
			if (begun != NULL && yields(begun) < yields(&table[i]))
				break;
			if (begun == NULL || yields(begun) != yields(&table[i]))
				beginnings = 0;
			begun = &table[i];
			beginnings++;
		}
	}
	if (beginnings == 0 || length == 2)
		return complain(p, "unknown option \"%.*s\"",
				(int)(length < 200 ? length : 200), word);
	if (beginnings > 1)
		return ambiguous(p, word, length, yields(begun));
	*row = begun;
	return 0;
}

/* "--udp", "--port" "5001", "--port=5001" */
static int read_long(struct parser *p, const char *word, struct words *words)
{
	size_t length = strcspn(word, "=");
	const char *joined = word[length] ? word + length + 1 : NULL;
	const struct row *r = NULL;
	int rc = find_long(p, word, length, &r);

	if (rc < 0)
		return rc;
	if (r->arg)
		return take_argument(p, r, word, length, joined, words);
	if (joined)
		return complain(p,
				"%.*s: \"%.200s\" is too much: it takes no "
				"argument",
				(int)length, word, joined);
	return set_option(p, r, word, length, "", false);
}

/* A word that is no option: one more file of --compare, else a mistake. */
static int read_stray(struct parser *p, const char *word)
{
	const struct row *r = row_of_name("compare");

	if (!p->given[r - table].order || !word[0])
		return complain(p, "stray word \"%.200s\"", word);
	return set_option(p, r, "--compare", strlen("--compare"), word, false);
}

/* Up to the first -h or -v, which leave the rest unread, as with getopt. */
static int read_words(struct parser *p, int argc, char *const argv[])
{
	struct words words = { argv + (argc > 0), argv + argc };
	bool ended = false; /* by "--" */
	int rc = 0;

	while (rc == 0 && words.next < words.end && !p->o->ask) {
		const char *word = *words.next++;

		if (ended || word[0] != '-' || !word[1])
			rc = read_stray(p, word);
		else if (word[1] != '-')
			rc = read_short(p, word, &words);
		else if (word[2])
			rc = read_long(p, word, &words);
		else
			ended = true;
	}
	return rc;
}

/* --- the environment ------------------------------------------------------ */

static const struct given *given(const struct parser *p, char letter)
{
	return &p->given[row_of_letter(letter) - table];
}

/* The same of an option without a letter, by its main name. */
static const struct given *given_long(const struct parser *p, const char *name)
{
	return &p->given[row_of_name(name) - table];
}

/* Of what fits both, a comparison takes what says where the result goes. */
static bool fits_compare(const struct row *r)
{
	static const char *const outputs[] = { "json", "json-file", "output" };

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		if (r == row_of_name(outputs[i]))
			return true;
	}
	return r->whose == AS_COMPARE || r->whose == AS_RESULT;
}

static bool fits(const struct row *r, enum options_side side)
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

/* The side that the command line names, else the environment; of neither or
 * of both: OPTIONS_NEITHER, for options_check to refuse. */
static enum options_side named_side(const struct parser *p,
				    const char *(*env)(const char *))
{
	bool server = given(p, 's')->order, client = given(p, 'c')->order;

	if (given_long(p, "compare")->order)
		return OPTIONS_COMPARE;
	if (!server && !client) {
		server = env(row_of_letter('s')->env) != NULL;
		client = env(row_of_letter('c')->env) != NULL;
	}
	if (server == client)
		return OPTIONS_NEITHER;
	return server ? OPTIONS_SERVER : OPTIONS_CLIENT;
}

/* Variables are defaults: those that are for the other side are left alone. */
static int read_environment(struct parser *p, const char *(*env)(const char *),
			    enum options_side side)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &table[i];
		const char *text = r->env ? env(r->env) : NULL;

		if (!text || (side != OPTIONS_NEITHER && !fits(r, side)))
			continue;

		int rc = set_option(p, r, r->env, strlen(r->env),
				    r->arg ? text : "", true);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- what concerns two options together ----------------------------------- */

static const char *whose_text(const struct row *r)
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

static int check_side(struct parser *p)
{
	const struct given *server = given(p, 's'), *client = given(p, 'c'),
			   *compare = given_long(p, "compare");

	if (server->order && client->order)
		return complain(p, "%s: not together with %s", client->name,
				server->name);
	if (compare->order && (server->order || client->order))
		return complain(p, "%s: not together with %s", compare->name,
				server->order ? server->name : client->name);
	if (!server->order && !client->order && !compare->order)
		return complain(p, "nothing to do: -s waits for clients, "
				   "-c HOST runs a test, -h tells all options");
	p->o->side = compare->order  ? OPTIONS_COMPARE
		     : server->order ? OPTIONS_SERVER
				     : OPTIONS_CLIENT;
	for (size_t i = 0; i < ROWS; i++) {
		if (p->given[i].order && !fits(&table[i], p->o->side))
			return complain(p, "%s: only for %s", p->given[i].name,
					whose_text(&table[i]));
	}
	return 0;
}

/* Experiments: two arms and more, of tests that end by themselves. */
static int check_arms(struct parser *p)
{
	const struct options *o = p->o;
	const struct given *arm = given_long(p, "arm");

	for (size_t i = 0; i < ROWS && !arm->order; i++) {
		enum whose whose = table[i].whose;

		if (p->given[i].order &&
		    (whose == AS_EXPERIMENT ||
		     (whose == AS_RESULT && o->side != OPTIONS_COMPARE)))
			return complain(p, "%s: only for %s", p->given[i].name,
					whose_text(&table[i]));
	}
	if (!arm->order)
		return 0;
	if (o->n_arms < 2)
		return complain(p,
				"%s: \"%.200s\" is alone: there must be two "
				"arms at least",
				arm->name, arm->text);
	if (o->csv && !given(p, 'y')->from_env)
		return complain(p, "%s: not together with %s", arm->name,
				given(p, 'y')->name);
	if (o->time_set && o->time_ns == 0 && o->amount_bytes == 0)
		return complain(p,
				"%s: not together with %s 0: the tests of an "
				"experiment end by themselves",
				arm->name, given(p, 't')->name);
	return 0;
}

/* A variable is no contradiction: the command line has won by coming last. */
static int check_family(struct parser *p)
{
	static const char v6[] = { '6', 'V' };
	const struct given *four = given(p, '4');

	for (size_t i = 0; i < sizeof(v6); i++) {
		const struct given *six = given(p, v6[i]);

		if (four->order && six->order && !six->from_env)
			return complain(p, "%s: not together with %s",
					four->name, six->name);
	}
	return 0;
}

/* -R, --full-duplex, -d and -r are ways of one test, and one rules.  (iperf 2
 * takes the last one of -d and -r; of the others it refuses two.) */
static int check_modes(struct parser *p)
{
	const struct given *modes[] = { given(p, 'R'),
					given_long(p, "full-duplex"),
					given(p, 'd'), given(p, 'r') };
	const struct given *first = NULL;
	struct options *o = p->o;

	if (given(p, 'd')->order && given(p, 'r')->order) {
		o->dual = given(p, 'd')->order > given(p, 'r')->order;
		o->tradeoff = !o->dual;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!modes[i]->order ||
		    (first != NULL && i == 3 && first == modes[2]))
			continue;
		if (first != NULL)
			return complain(p, "%s: not together with %s",
					modes[i]->name, first->name);
		first = modes[i];
	}
	for (size_t i = 0; i < 2; i++) {
		if (modes[i]->order && o->peer_version == OPTIONS_PEER_2_0)
			return complain(p,
					"%s: a server of 2.0 does not know it",
					modes[i]->name);
	}
	if (o->peer_version == OPTIONS_PEER_2_0 && o->trip_times)
		return complain(p, "%s: a server of 2.0 does not know it",
				given_long(p, "trip-times")->name);
	if (given(p, 'L')->order && !o->dual && !o->tradeoff)
		return complain(p, "%s: only with -d or -r",
				given(p, 'L')->name);
	if (o->listen_port == 0)
		o->listen_port = o->port;
	return 0;
}

/* What is measured of datagrams alone. */
static int check_tcp(struct parser *p)
{
	static const char *const of_udp[] = { "late-after", "trip-times",
					      "histograms" };

	for (size_t i = 0; i < sizeof(of_udp) / sizeof(of_udp[0]); i++) {
		const struct given *g = given_long(p, of_udp[i]);

		if (g->order)
			return complain(p,
					"%s: not for TCP: it is about "
					"datagrams and needs -u",
					g->name);
	}
	return 0;
}

static int check_udp(struct parser *p)
{
	const struct options *o = p->o;
	const struct given *len = given(p, 'l'), *rate = given(p, 'b');
	const struct given *amount = given(p, 'n');

	if (!o->udp && o->rate.pps > 0)
		return complain(p,
				"%s: \"%.200s\" is not for TCP: pps counts "
				"datagrams and needs -u",
				rate->name, rate->text);
	if (o->udp && len->order &&
	    (o->len_bytes < OPTIONS_UDP_LEN_MIN ||
	     o->len_bytes > OPTIONS_UDP_LEN_MAX))
		return complain(p,
				"%s: \"%.200s\" is out of range: %d to %d "
				"with UDP",
				len->name, len->text, OPTIONS_UDP_LEN_MIN,
				OPTIONS_UDP_LEN_MAX);
	if (o->udp && o->amount_bytes > 0 &&
	    o->amount_bytes < OPTIONS_UDP_LEN_MIN)
		return complain(p,
				"%s: \"%.200s\" is out of range: %d bytes at "
				"least with UDP",
				amount->name, amount->text,
				OPTIONS_UDP_LEN_MIN);
	return o->udp ? 0 : check_tcp(p);
}

/* What CSV has no columns for, unless JSON shows it. */
static int check_csv(struct parser *p)
{
	static const char *const shown_elsewhere[] = { "trip-times",
						       "histograms" };

	if (!p->o->csv || p->o->json_file)
		return 0;
	for (size_t i = 0;
	     i < sizeof(shown_elsewhere) / sizeof(shown_elsewhere[0]); i++) {
		const struct given *g = given_long(p, shown_elsewhere[i]);

		if (g->order)
			return complain(p,
					"%s: not together with %s: it shows "
					"in text and in JSON alone",
					g->name, given(p, 'y')->name);
	}
	return 0;
}

/* A variable that asks for CSV is no contradiction here either. */
static int check_formats(struct parser *p)
{
	struct options *o = p->o;
	const struct given *csv = given(p, 'y'), *file = given(p, 'o'),
			   *json = given_long(p, "json"),
			   *beside = given_long(p, "json-file");

	if (o->json && o->csv && !csv->from_env)
		return complain(p, "%s: not together with %s", json->name,
				csv->name);
	if (o->json && o->json_file)
		return complain(p, "%s: not together with %s", beside->name,
				json->name);
	if (o->json_file && o->output && strcmp(o->json_file, o->output) == 0)
		return complain(p, "%s: \"%.200s\" is the file of %s already",
				beside->name, beside->text, file->name);
	o->csv = o->csv && !o->json;
	return check_csv(p);
}

/* After what was not given is known. */
static int check_omit(struct parser *p)
{
	const struct options *o = p->o;
	const struct given *g = given(p, 'O');

	if (o->omit_ns % OPTIONS_OMIT_STEP_NS != 0)
		return complain(p,
				"%s: \"%.200s\" is not a multiple of %.10g "
				"seconds",
				g->name, g->text,
				seconds(OPTIONS_OMIT_STEP_NS));
	if (o->omit_ns > 0 && o->amount_bytes == 0 && o->time_ns > 0 &&
	    o->omit_ns >= o->time_ns)
		return complain(p,
				"%s: \"%.200s\" is not below the time of the "
				"test: %.10g seconds",
				g->name, g->text, seconds(o->time_ns));
	return 0;
}

/* What was not given, where it depends on what was. */
static void fill_in(struct parser *p)
{
	struct options *o = p->o;
	bool client = o->side == OPTIONS_CLIENT;

	if (given(p, 't')->order > given(p, 'n')->order)
		o->amount_bytes = 0;
	if (client && o->udp && !o->rate_set)
		o->rate.bps = OPTIONS_UDP_BPS;
	if (client && !o->time_set)
		o->time_ns = OPTIONS_TIME_NS;
	if (client && !o->parallel_set)
		o->parallel = 1;
	if (o->precision_ppm > 0 && !o->rounds_set)
		o->rounds = OPTIONS_ROUNDS_MOST;
	o->csv = o->csv && o->n_arms == 0;
	/* Asked for, so shown: as iperf 2 does with its histograms. */
	o->enhanced = o->enhanced || o->histograms || o->trip_times;
}

static int options_check(struct parser *p)
{
	int rc = check_side(p);

	if (rc == 0)
		rc = check_arms(p);
	if (rc == 0)
		rc = check_family(p);
	if (rc == 0)
		rc = check_modes(p);
	if (rc == 0)
		rc = check_udp(p);
	if (rc == 0)
		rc = check_formats(p);
	if (rc == 0 && p->o->side == OPTIONS_SERVER && p->o->bind_port)
		rc = complain(p, "%s: \"%.200s\": the port of a server is -p",
			      given(p, 'B')->name, given(p, 'B')->text);
	if (rc == 0 && p->o->bind_port > 0 &&
	    p->o->bind_port + (p->o->parallel > 0 ? p->o->parallel : 1) - 1 >
		    UINT16_MAX)
		rc = complain(p,
			      "%s: \"%.200s\": -P %u streams need ports up to "
			      "%u, beyond 65535",
			      given(p, 'B')->name, given(p, 'B')->text,
			      (unsigned)p->o->parallel,
			      p->o->bind_port + (unsigned)p->o->parallel - 1);
	if (rc < 0)
		return rc;
	fill_in(p);
	return check_omit(p);
}

static void start(struct parser *p, struct options *o, char *why)
{
	*o = (struct options){ .port = WIRE_PORT,
			       .format = 'a',
			       .late_after_ns = STATS_LATE_AFTER_NS,
			       .rounds = OPTIONS_ROUNDS,
			       .warmup = 1,
			       .confidence_ppm = CONFIDENCE_PERCENT *
						 OPTIONS_PPM_IN_PERCENT,
			       .arm_timeout_ns = ARM_TIMEOUT_NS };
	*p = (struct parser){ .o = o, .why = why };
	why[0] = '\0';
}

/* The command line is read twice: to know the side, which says what of the
 * environment is for us, and then over it. */
int options_parse(struct options *o, int argc, char *const argv[],
		  const char *(*env)(const char *name),
		  char why[OPTIONS_WHY_BYTES])
{
	struct parser p;

	start(&p, o, why);

	int rc = read_words(&p, argc, argv);

	if (rc < 0 || o->ask != OPTIONS_RUN)
		return rc;
	if (env) {
		enum options_side side = named_side(&p, env);

		start(&p, o, why);
		rc = read_environment(&p, env, side);
		if (rc == 0)
			rc = read_words(&p, argc, argv);
	}
	return rc < 0 ? rc : options_check(&p);
}

/* --- texts from the table ------------------------------------------------- */

static void usage_row(FILE *f, const struct row *r)
{
	char name[40];
	char letter[] = { '-', r->letter, ',', ' ', '\0' };

	snprintf(name, sizeof(name), "--%s%s%s", r->names[0], r->arg ? " " : "",
		 r->arg ? r->arg : "");
	fprintf(f, "  %4s%-24s %s\n", r->letter ? letter : "", name, r->help);
}

void options_usage(FILE *f)
{
	static const struct {
		enum whose first, last;
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

void options_version(FILE *f)
{
	fprintf(f, "iperf version %s (1 December 2026) pthreads\n",
		OPTIONS_VERSION_TEXT);
}

bool options_row(size_t i, char *letter, const char **name, const char **arg,
		 const char **help)
{
	if (i >= ROWS)
		return false;
	*letter = table[i].letter;
	*name = table[i].names[0];
	*arg = table[i].arg;
	*help = table[i].help;
	return true;
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
