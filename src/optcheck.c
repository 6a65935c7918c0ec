/*
 * The table of clashes comes first; then what has numbers in it; then what was
 * not given.
 */
#include "optcheck.h"

#include <string.h>

#include "wire.h"

#define BURST_BYTES (1u << 20)       /* iperf 2 default */
#define BURST_NS INT64_C(1000000000) /* so too */
/* iperf 2.2 defaults: each of the other. */
#define RETRY_NS INT64_C(1000000000)
#define RETRY_FOR_NS INT64_C(10000000000)

/* --- what can't be honoured together -------------------------------------- */

static bool on_tcp(const struct options *o)
{
	return !o->udp;
}

static bool server_is_2_0(const struct options *o)
{
	return o->peer_version == OPTIONS_PEER_2_0;
}

static bool connects_not_back(const struct options *o)
{
	return !o->dual && !o->tradeoff;
}

static bool on_udp(const struct options *o)
{
	return o->udp;
}

static bool bound_to_nothing(const struct options *o)
{
	return o->from.host[0] == '\0';
}

static bool several_ports(const struct options *o)
{
	return o->ports > 1;
}

static bool no_key(const struct options *o)
{
	return o->side == OPTIONS_CLIENT && !o->permit_key[0];
}

static bool needs_no_key(const struct options *o)
{
	return !o->permit_key;
}

static bool bounces_not(const struct options *o)
{
	return o->bounces == 0;
}

static bool csv_hides(const struct options *o)
{
	return !o->json_file && !o->enhanced;
}

static bool leaves_out_sums(const struct options *o)
{
	return (o->exclude & OPTIONS_NO_SUM) != 0;
}

static bool only_sends(const struct options *o)
{
	return o->udp && o->side == OPTIONS_CLIENT && !o->reverse &&
	       !o->full_duplex && !o->dual && !o->tradeoff;
}

static bool in_json(const struct options *o)
{
	return o->json;
}

static bool no_json_file(const struct options *o)
{
	return !o->json_file;
}

#define NEEDS_UDP "not for TCP: it is about datagrams and needs -u"
#define UNKNOWN_TO_2_0 "a server of 2.0 does not know it"
static bool has_streams(const struct options *o)
{
	return o->parallel > 1;
}

#define OWN_RECORDS "its records have bytes of their own"
#define OWN_BYTES "the server has bytes of its own"
#define NOT_BACK "servers of iperf 2 do not connect back then"
#define NO_HEADER "no header tells the server of it"
#define NO_CONNECT "not for UDP: there is no connection"
#define BOTH_WAYS "it goes both ways by itself"
#define NOT_IN_CSV_BUT_E "it shows in text, in JSON and with -e"
#define FORWARD_ONLY "over TCP it is of what the client sends"
#define WHOLE_QUANTILES "its quantiles are of the whole test"
#define SHAPED_BYTES "a frame has bytes of its own"
#define SHAPES "both say when to send"
#define FORWARD_SHAPE "it shapes what the client sends"
#define BURSTS_OF_TCP "not for UDP: --isochronous sends frames of datagrams"
#define SENDS_NONE "no data is sent then"
#define NO_DATA "it sends no data"
#define NOT_IN_CSV "it shows in text and in JSON alone"

static const struct optcheck_clash clashes[] = {
	{ "ipv4", "ipv6", NULL, NULL },
	{ "ipv4", "ipv6_domain", NULL, NULL },
	/* Ways of one test, of which one rules; of -d and -r the last one. */
	{ "full-duplex", "reverse", NULL, NULL },
	{ "dualtest", "reverse", NULL, NULL },
	{ "dualtest", "full-duplex", NULL, NULL },
	{ "tradeoff", "reverse", NULL, NULL },
	{ "tradeoff", "full-duplex", NULL, NULL },
	{ "listenport", NULL, connects_not_back, "only with -d or -r" },
	{ "reverse", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	{ "full-duplex", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	{ "trip-times", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	/* What is measured of datagrams alone. */
	{ "late-after", NULL, on_tcp, NEEDS_UDP },
	{ "trip-times", "reverse", on_tcp, FORWARD_ONLY },
	{ "trip-times", "full-duplex", on_tcp, FORWARD_ONLY },
	{ "trip-times", "dualtest", on_tcp, FORWARD_ONLY },
	{ "trip-times", "tradeoff", on_tcp, FORWARD_ONLY },
	{ "trip-times", "bounceback", NULL, "that has round trips" },
	{ "trip-times", "omit", on_tcp, WHOLE_QUANTILES },
	{ "histograms", NULL, on_tcp, NEEDS_UDP },
	{ "no-udp-fin", NULL, on_tcp, NEEDS_UDP },
	{ "no-udp-fin", "reverse", NULL, "the client sends nothing" },
	{ "ssm-host", NULL, on_tcp, NEEDS_UDP },
	{ "ssm-host", NULL, bound_to_nothing, "only with -B GROUP" },
	/* Connections, and what only they have. */
	{ "fq-rate", NULL, on_udp,
	  "not for UDP: -b paces datagrams, one by one" },
	{ "fq-rate", "reverse", NULL, "it paces what the client sends" },
	{ "connect-retries", NULL, on_udp, NO_CONNECT },
	{ "connect-retry-timer", NULL, on_udp, NO_CONNECT },
	{ "connect-retry-time", NULL, on_udp, NO_CONNECT },
	{ "connect-retry-time", "connect-retries", NULL, NULL },
	{ "txdelay-time", "txstart-time", NULL, NULL },
	{ "txstart-time", "arm", NULL, "each test would need another" },
	{ "no-udp-fin", "arm", NULL, "nobody would tell what arrived" },
	{ "tos", "dscp", NULL, "it is a part of it" },
	{ "permit-key", NULL, on_udp, NO_CONNECT },
	{ "permit-key", NULL, no_key, "a client has to give the KEY" },
	{ "permit-key", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	{ "permit-key", "bounceback", NULL, "its requests carry none" },
	{ "permit-key-timeout", NULL, needs_no_key, "only with --permit-key" },
	{ "burst-size", NULL, on_udp, BURSTS_OF_TCP },
	{ "burst-period", NULL, on_udp, BURSTS_OF_TCP },
	{ "isochronous", "num", on_udp, "frames have a time" },
	{ "isochronous", "file_input", NULL, SHAPED_BYTES },
	{ "isochronous", "stdin_input", NULL, SHAPED_BYTES },
	{ "burst-size", "isochronous", NULL, SHAPES },
	{ "burst-period", "isochronous", NULL, SHAPES },
	{ "isochronous", "bandwidth", NULL, SHAPES },
	{ "isochronous", "near-congestion", NULL, SHAPES },
	{ "isochronous", "bounceback", NULL, "that has a shape of its own" },
	{ "isochronous", "connect-only", NULL, SENDS_NONE },
	{ "isochronous", "reverse", NULL, FORWARD_SHAPE },
	{ "isochronous", "full-duplex", NULL, FORWARD_SHAPE },
	{ "isochronous", "dualtest", NULL, FORWARD_SHAPE },
	{ "isochronous", "tradeoff", NULL, FORWARD_SHAPE },
	{ "burst-size", "bandwidth", NULL, SHAPES },
	{ "burst-size", "near-congestion", NULL, SHAPES },
	{ "burst-size", "bounceback", NULL, "that has a shape of its own" },
	{ "burst-size", "connect-only", NULL, SENDS_NONE },
	{ "burst-size", "reverse", NULL, FORWARD_SHAPE },
	{ "burst-size", "full-duplex", NULL, FORWARD_SHAPE },
	{ "burst-size", "dualtest", NULL, FORWARD_SHAPE },
	{ "burst-size", "tradeoff", NULL, FORWARD_SHAPE },
	{ "burst-period", "bandwidth", NULL, SHAPES },
	{ "burst-period", "near-congestion", NULL, SHAPES },
	{ "burst-period", "bounceback", NULL, "that has a shape of its own" },
	{ "burst-period", "connect-only", NULL, SENDS_NONE },
	{ "burst-period", "reverse", NULL, FORWARD_SHAPE },
	{ "burst-period", "full-duplex", NULL, FORWARD_SHAPE },
	{ "burst-period", "dualtest", NULL, FORWARD_SHAPE },
	{ "burst-period", "tradeoff", NULL, FORWARD_SHAPE },
	{ "connect-only", NULL, on_udp, NO_CONNECT },
	{ "connect-only", "bounceback", NULL, NO_DATA },
	{ "connect-only", "trip-times", NULL, NO_DATA },
	{ "connect-only", "reverse", NULL, NO_DATA },
	{ "connect-only", "full-duplex", NULL, NO_DATA },
	{ "connect-only", "dualtest", NULL, NO_DATA },
	{ "connect-only", "tradeoff", NULL, NO_DATA },
	{ "connect-only", "num", NULL, NO_DATA },
	{ "connect-only", "bandwidth", NULL, NO_DATA },
	{ "connect-only", "len", NULL, NO_DATA },
	{ "connect-only", "omit", NULL, NO_DATA },
	{ "connect-only", "file_input", NULL, NO_DATA },
	{ "connect-only", "stdin_input", NULL, NO_DATA },
	{ "connect-only", "permit-key", NULL, NO_DATA },
	{ "connect-only", "parallel", NULL, NO_DATA },
	{ "connect-only", "peer-detect", NULL, NO_DATA },
	{ "connect-only", "compatibility", NULL, NO_DATA },
	{ "connect-only", "near-congestion", NULL, NO_DATA },
	{ "connect-only", "fq-rate", NULL, NO_DATA },
	{ "connect-only", "reportstyle", no_json_file, NOT_IN_CSV },
	{ "connect-only", "arm", NULL, NO_DATA },
	{ "connect-only", "txdelay-time", NULL, NO_DATA },
	{ "connect-only", "connect-retries", NULL, "what fails is counted" },
	{ "connect-only", "connect-retry-time", NULL, "what fails is counted" },
	{ "near-congestion", NULL, on_udp, NO_CONNECT },
	{ "near-congestion", "bandwidth", NULL, "both say when to write" },
	{ "near-congestion", "reverse", NULL, "the server does not wait" },
	{ "near-congestion", "bounceback", NULL, "it waits for replies" },
	{ "working-load", NULL, bounces_not, "only with --bounceback" },
	{ "bounceback", NULL, on_udp, "not for UDP: it needs a connection" },
	{ "bounceback", "reverse", NULL, BOTH_WAYS },
	{ "bounceback", "full-duplex", NULL, BOTH_WAYS },
	{ "bounceback", "dualtest", NULL, BOTH_WAYS },
	{ "bounceback", "tradeoff", NULL, BOTH_WAYS },
	{ "bounceback", "bandwidth", NULL, "its rate is N a period" },
	{ "bounceback", "num", NULL, "it has a time" },
	{ "bounceback", "omit", NULL, WHOLE_QUANTILES },
	{ "bounceback", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	{ "len", "bounceback-request", NULL, "they are the same" },
	{ "bounceback", "reportstyle", csv_hides, NOT_IN_CSV_BUT_E },
	{ "bounceback-period", NULL, bounces_not, "only with --bounceback" },
	{ "bounceback-request", NULL, bounces_not, "only with --bounceback" },
	{ "bounceback-reply", NULL, bounces_not, "only with --bounceback" },
	{ "bounceback-hold", NULL, bounces_not, "only with --bounceback" },
	{ "bounceback-no-quickack", NULL, bounces_not,
	  "only with --bounceback" },
	{ "tos-override", "tos", NULL, "it is the same" },
	{ "tos-override", "dscp", NULL, "it is the same" },
	/* What the client header says, and -C leaves out. */
	{ "compatibility", "reverse", NULL, NO_HEADER },
	{ "compatibility", "full-duplex", NULL, NO_HEADER },
	{ "compatibility", "dualtest", NULL, NO_HEADER },
	{ "compatibility", "tradeoff", NULL, NO_HEADER },
	{ "compatibility", "trip-times", NULL, NO_HEADER },
	{ "compatibility", "bounceback", NULL, NO_HEADER },
	{ "compatibility", "no-udp-fin", NULL, NO_HEADER },
	{ "compatibility", "permit-key", NULL, NO_HEADER },
	{ "compatibility", "peer-detect", NULL, NO_HEADER },
	{ "peer-detect", NULL, on_udp, NO_CONNECT },
	{ "peer-detect", NULL, server_is_2_0, UNKNOWN_TO_2_0 },
	{ "peer-detect", "dualtest", NULL, NOT_BACK },
	{ "peer-detect", "tradeoff", NULL, NOT_BACK },
	{ "peer-detect", "bounceback", NULL, "there is no header to answer" },
	/* What is sent in place of digits: by the client alone. */
	{ "file_input", "stdin_input", NULL, NULL },
	{ "file_input", "reverse", NULL, OWN_BYTES },
	{ "file_input", "full-duplex", NULL, OWN_BYTES },
	{ "file_input", "dualtest", NULL, OWN_BYTES },
	{ "file_input", "tradeoff", NULL, OWN_BYTES },
	{ "file_input", "bounceback", NULL, OWN_BYTES },
	{ "stdin_input", "reverse", NULL, OWN_BYTES },
	{ "stdin_input", "full-duplex", NULL, OWN_BYTES },
	{ "stdin_input", "dualtest", NULL, OWN_BYTES },
	{ "stdin_input", "tradeoff", NULL, OWN_BYTES },
	{ "stdin_input", "bounceback", NULL, OWN_BYTES },
	{ "file_input", "trip-times", on_tcp, OWN_RECORDS },
	{ "stdin_input", "trip-times", on_tcp, OWN_RECORDS },
	{ "stdin_input", "parallel", has_streams, "one stream can read it" },
	{ "stdin_input", "arm", NULL, "one test can read it" },
	/* Of several ports. */
	{ "singleclient", "port", several_ports, "one port can count clients" },
	{ "one-off", "port", several_ports, "one port can count clients" },
	{ "connect-only", "port", several_ports, "it is about one port" },
	/* How it is reported. */
	{ "sum-only", "arm", NULL, NULL },
	{ "sum-only", "reportexclude", leaves_out_sums, "no row is left" },
	{ "arm", "reportstyle", NULL, NULL },
	{ "json", "reportstyle", NULL, NULL },
	{ "json-file", "json", NULL, NULL },
	{ "trip-times", "reportstyle", no_json_file, NOT_IN_CSV },
	{ "histograms", "reportstyle", no_json_file, NOT_IN_CSV },
};

/* What scripts of iperf 2 give where it does nothing: it is taken, and the
 * report has a note. */
static const struct optcheck_idle idle[] = {
	{ "nodelay", on_udp },
	{ "mss", on_udp },
	{ "print_mss", on_udp },
	{ "tcp-congestion", on_udp },
	/* only who receives has one */
	{ "histograms", only_sends },
	{ "format", in_json },
};

#define IDLE (sizeof(idle) / sizeof(idle[0]))
#define CLASHES (sizeof(clashes) / sizeof(clashes[0]))

const struct optcheck_idle *optcheck_idle_row(size_t i)
{
	return i < IDLE ? &idle[i] : NULL;
}

const struct optcheck_clash *optcheck_row(size_t i)
{
	return i < CLASHES ? &clashes[i] : NULL;
}

static int clash_text(struct optvalue_parser *p, const struct optcheck_clash *c,
		      const struct optvalue_given *option,
		      const struct optvalue_given *other)
{
	if (!other)
		return optvalue_complain(p, "%s: %s", option->name, c->why);
	return optvalue_complain(p, "%s: not together with %s%s%s",
				 option->name, other->name, c->why ? ": " : "",
				 c->why ? c->why : "");
}

/* A variable yields to the command line, and to a kind of test. */
static int check_clashes(struct optvalue_parser *p,
			 const struct opttable_row **yields)
{
	for (size_t i = 0; i < CLASHES; i++) {
		const struct optcheck_clash *c = &clashes[i];
		const struct optvalue_given *option =
			optvalue_given(p, c->option);
		const struct optvalue_given *other =
			c->other ? optvalue_given(p, c->other) : NULL;

		if (!option->order || (other && !other->order) ||
		    (c->when && !c->when(p->o)))
			continue;
		if (option->from_env && !(other && other->from_env))
			*yields = opttable_name(c->option);
		else if (other && other->from_env && !option->from_env)
			*yields = opttable_name(c->other);
		return clash_text(p, c, option, other);
	}
	return 0;
}

/* Variables are meant for tests of every kind. */
static void note_idle(struct optvalue_parser *p)
{
	for (size_t i = 0; i < IDLE; i++) {
		const struct optvalue_given *g =
			optvalue_given(p, idle[i].option);

		if (g->order && !g->from_env && idle[i].when(p->o))
			optvalue_old(p->o, idle[i].option);
	}
}

/* --- whose they are ------------------------------------------------------- */

/* What was given and is not for this side, or for experiments without one. */
static int check_whose(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct opttable_row *r;

	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		bool of_arms =
			r->whose == AS_EXPERIMENT ||
			(r->whose == AS_RESULT && o->side != OPTIONS_COMPARE);

		if (p->given[i].order &&
		    (!opttable_fits(r, o->side) || (of_arms && o->n_arms == 0)))
			return optvalue_complain(p, "%s: only for %s",
						 p->given[i].name,
						 opttable_whose_text(r));
	}
	return 0;
}

static int check_side(struct optvalue_parser *p)
{
	const struct optvalue_given *server = optvalue_given(p, "server");
	const struct optvalue_given *client = optvalue_given(p, "client");
	const struct optvalue_given *compare = optvalue_given(p, "compare");

	if (server->order && client->order)
		return optvalue_complain(p, "%s: not together with %s",
					 client->name, server->name);
	if (compare->order && (server->order || client->order))
		return optvalue_complain(
			p, "%s: not together with %s", compare->name,
			server->order ? server->name : client->name);
	if (!server->order && !client->order && !compare->order)
		return optvalue_complain(
			p, "nothing to do: -s waits for clients, "
			   "-c HOST runs a test, -h tells all options");
	p->o->side = compare->order  ? OPTIONS_COMPARE
		     : server->order ? OPTIONS_SERVER
				     : OPTIONS_CLIENT;
	return check_whose(p);
}

/* --- numbers -------------------------------------------------------------- */

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* Experiments: two arms and more, of tests that end by themselves. */
static int check_arms(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct optvalue_given *arm = optvalue_given(p, "arm");

	if (!arm->order)
		return 0;
	if (o->n_arms < 2)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is alone: there must be two "
			"arms at least",
			arm->name, arm->text);
	if (o->time_set && o->time_ns == 0 && o->amount_bytes == 0)
		return optvalue_complain(
			p,
			"%s: not together with %s 0: the tests of an "
			"experiment end by themselves",
			arm->name, optvalue_given(p, "time")->name);
	return 0;
}

static int check_sizes(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct optvalue_given *len = optvalue_given(p, "len");
	const struct optvalue_given *rate = optvalue_given(p, "bandwidth");
	const struct optvalue_given *amount = optvalue_given(p, "num");

	if (!o->udp && o->rate.pps > 0)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is not for TCP: pps counts "
			"datagrams and needs -u",
			rate->name, rate->text);
	if (o->udp && len->order &&
	    (o->len_bytes < OPTIONS_UDP_LEN_MIN ||
	     o->len_bytes > OPTIONS_UDP_LEN_MAX))
		return optvalue_complain(
			p, "%s: \"%.200s\" is out of range: %d to %d with UDP",
			len->name, len->text, OPTIONS_UDP_LEN_MIN,
			OPTIONS_UDP_LEN_MAX);
	if (!o->udp && o->trip_times && len->order &&
	    o->len_bytes < WIRE_RECORD_BYTES)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is out of range: %d bytes at "
			"least with --trip-times",
			len->name, len->text, WIRE_RECORD_BYTES);
	if (o->permit_key && o->amount_bytes > 0 &&
	    o->amount_bytes < WIRE_CLIENT_MAX)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is out of range: %d bytes at "
			"least with --permit-key",
			amount->name, amount->text, WIRE_CLIENT_MAX);
	if (o->bounces > 0 && len->order &&
	    (o->len_bytes < WIRE_BOUNCE_BYTES ||
	     o->len_bytes > WIRE_BOUNCE_MAX))
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is out of range: %d to %u with "
			"--bounceback",
			len->name, len->text, WIRE_BOUNCE_BYTES,
			WIRE_BOUNCE_MAX);
	if (o->udp && o->amount_bytes > 0 &&
	    o->amount_bytes < OPTIONS_UDP_LEN_MIN)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is out of range: %d bytes at "
			"least with UDP",
			amount->name, amount->text, OPTIONS_UDP_LEN_MIN);
	return 0;
}

static int check_files(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct optvalue_given *beside = optvalue_given(p, "json-file");

	if (o->json_file && o->output && strcmp(o->json_file, o->output) == 0)
		return optvalue_complain(
			p, "%s: \"%.200s\" is the file of %s already",
			beside->name, beside->text,
			optvalue_given(p, "output")->name);
	return 0;
}

static int check_bind(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct optvalue_given *bind = optvalue_given(p, "bind");
	unsigned streams = o->parallel > 0 ? o->parallel : 1;

	if (o->to.dev[0] != '\0' && o->from.dev[0] != '\0' &&
	    strcmp(o->to.dev, o->from.dev) != 0)
		return optvalue_complain(
			p, "%s: \"%.200s\": %s names another device",
			bind->name, bind->text,
			optvalue_given(p, "client")->name);
	if (o->side == OPTIONS_SERVER && o->from.port)
		return optvalue_complain(
			p, "%s: \"%.200s\": the port of a server is -p",
			bind->name, bind->text);
	if (o->from.port > 0 && o->from.port + streams - 1 > UINT16_MAX)
		return optvalue_complain(
			p,
			"%s: \"%.200s\": -P %u streams need ports up to "
			"%u, beyond 65535",
			bind->name, bind->text, streams,
			o->from.port + streams - 1);
	return 0;
}

/* After what was not given is known. */
static int check_omit(struct optvalue_parser *p)
{
	const struct options *o = p->o;
	const struct optvalue_given *g = optvalue_given(p, "omit");

	if (o->omit_ns % OPTIONS_OMIT_STEP_NS != 0)
		return optvalue_complain(
			p, "%s: \"%.200s\" is not a multiple of %.10g seconds",
			g->name, g->text, seconds(OPTIONS_OMIT_STEP_NS));
	if (o->omit_ns > 0 && o->amount_bytes == 0 && o->time_ns > 0 &&
	    o->omit_ns >= o->time_ns)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is not below the time of the "
			"test: %.10g seconds",
			g->name, g->text, seconds(o->time_ns));
	return 0;
}

/* --- what was not given --------------------------------------------------- */

/* Of -d and -r the last one rules, as in iperf 2. */
static void choose_way(struct optvalue_parser *p)
{
	struct options *o = p->o;

	if (o->dual && o->tradeoff) {
		o->dual = optvalue_given(p, "dualtest")->order >
			  optvalue_given(p, "tradeoff")->order;
		o->tradeoff = !o->dual;
	}
	if (o->listen_port == 0)
		o->listen_port = o->port;
}

static void fill_in(struct optvalue_parser *p)
{
	struct options *o = p->o;
	bool client = o->side == OPTIONS_CLIENT;

	choose_way(p);
	if (o->bounces > 0 && o->len_bytes > 0)
		o->bounce_request_bytes = o->len_bytes;
	if (o->bounce_reply_bytes == 0)
		o->bounce_reply_bytes = o->bounce_request_bytes;
	if (optvalue_given(p, "time")->order > optvalue_given(p, "num")->order)
		o->amount_bytes = 0;
	if (client && o->udp && !o->rate_set)
		o->rate.bps = OPTIONS_UDP_BPS;
	if (client && !o->time_set)
		o->time_ns = OPTIONS_TIME_NS;
	if (client && !o->parallel_set)
		o->parallel = 1;
	if (client && o->parallel < o->ports)
		o->parallel = o->ports;
	if (o->precision_ppm > 0 && !o->rounds_set)
		o->rounds = OPTIONS_ROUNDS_MOST;
	if (o->sum_only)
		o->exclude |= OPTIONS_NO_DATA | OPTIONS_NO_CONNECT;
	if (o->burst_ns > 0 && o->burst_bytes == 0)
		o->burst_bytes = BURST_BYTES;
	if (o->burst_bytes > 0 && o->burst_ns == 0)
		o->burst_ns = BURST_NS;
	if (o->frames_per_1000s > 0 || o->burst_bytes > 0)
		o->rate = (struct units_rate){ 0, 0 };
	if (o->retry_ns == 0)
		o->retry_ns = RETRY_NS;
	else if (o->retries == 0 && o->retry_for_ns == 0)
		o->retry_for_ns = RETRY_FOR_NS;
	/* Asked for, so shown: as iperf 2 does with its histograms. */
	o->enhanced = o->enhanced || o->histograms || o->trip_times;
}

int optcheck_all(struct optvalue_parser *p, const struct opttable_row **yields)
{
	static int (*const checks[])(struct optvalue_parser *) = {
		check_arms,
		check_sizes,
		check_files,
		check_bind,
	};
	int rc = check_side(p);

	if (rc == 0)
		rc = check_clashes(p, yields);
	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]);
	     i++)
		rc = checks[i](p);
	if (rc < 0)
		return rc;
	note_idle(p);
	fill_in(p);
	return check_omit(p);
}
