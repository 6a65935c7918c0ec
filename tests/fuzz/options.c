/*
 * options: the input is a command line, a word a line (or ended by a zero);
 * words such as IPERF_TIME=5 are the environment.
 */
#include "cmdline.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX 1024
#define WORDS_MAX 64

#define MS_NS INT64_C(1000000)
#define TIME_MIN_NS MS_NS
#define INTERVAL_MIN_NS (5 * MS_NS)

static char input[INPUT_MAX + 1];
static char *words[WORDS_MAX + 1];
static int n_words;
static char *variables[WORDS_MAX];
static int n_variables;

static bool is_variable(const char *word)
{
	return (strncmp(word, "IPERF_", 6) == 0 ||
		strncmp(word, "TCP_", 4) == 0) &&
	       strchr(word, '=') != NULL;
}

static void take_word(char *word)
{
	if (is_variable(word)) {
		if (n_variables < WORDS_MAX)
			variables[n_variables++] = word;
	} else if (n_words < WORDS_MAX) {
		words[n_words++] = word;
	}
}

static void take_words(const uint8_t *p, size_t n)
{
	static char name[] = "iperf";
	size_t start = 0;

	n = n < INPUT_MAX ? n : INPUT_MAX;
	n_words = 0;
	n_variables = 0;
	words[n_words++] = name;
	memcpy(input, p, n);
	for (size_t i = 0; i <= n; i++) {
		if (i < n && input[i] != '\n' && input[i] != '\0')
			continue;
		input[i] = '\0';
		if (i < n || i > start)
			take_word(input + start);
		start = i + 1;
	}
	words[n_words] = NULL;
}

static const char *variable(const char *name)
{
	size_t length = strlen(name);

	for (int i = 0; i < n_variables; i++) {
		if (strncmp(variables[i], name, length) == 0 &&
		    variables[i][length] == '=')
			return variables[i] + length + 1;
	}
	return NULL;
}

/* One line for a person. */
static void check_why(const char *why)
{
	assert(memchr(why, '\0', OPTIONS_WHY_BYTES) != NULL);
	assert(why[0] != '\0');
	for (const char *c = why; *c != '\0'; c++)
		assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_times(const struct options *o)
{
	int64_t max_ns = INT64_C(21474836) * 1000 * MS_NS;

	assert(o->time_ns == 0 ||
	       (o->time_ns >= TIME_MIN_NS && o->time_ns <= max_ns));
	assert(o->interval_ns == 0 ||
	       (o->interval_ns >= INTERVAL_MIN_NS && o->interval_ns <= max_ns));
	assert(o->omit_ns >= 0 && o->omit_ns % OPTIONS_OMIT_STEP_NS == 0);
	assert(o->omit_ns / OPTIONS_OMIT_STEP_NS <= UINT16_MAX);
	assert(o->omit_ns == 0 || o->side == OPTIONS_CLIENT);
	assert(o->omit_ns == 0 || o->amount_bytes > 0 || o->time_ns == 0 ||
	       o->omit_ns < o->time_ns);
	assert(o->late_after_ns >= MS_NS && o->late_after_ns <= 60000 * MS_NS);
	assert(options_decimals(o) == 1 || options_decimals(o) == 2 ||
	       options_decimals(o) == 4);
}

static void check_sizes(const struct options *o)
{
	assert(o->port >= 1);
	assert(o->rate.bps == 0 || o->rate.pps == 0);
	assert(o->rate.bps <= 1000000000000000);
	assert(o->rate.pps <= 1000000000000000);
	assert(o->amount_bytes <= INT64_MAX);
	assert(o->len_bytes <= 16 << 20);
	assert(o->parallel <= UINT16_MAX);
	assert(o->window_bytes <= INT32_MAX / 2);
	assert(o->mss_bytes == 0 ||
	       (o->mss_bytes >= 88 && o->mss_bytes <= 32767));
	assert(o->exclude < 32);
	assert(o->dialect <= OUT_V22);
	assert(strchr("abkmgtpABKMGTP", o->format) != NULL);
	assert(o->family == 0 || o->family == 4 || o->family == 6);
}

static void check_bind(const struct options *o)
{
	assert(memchr(o->from.host, '\0', sizeof(o->from.host)) != NULL);
	assert(memchr(o->from.dev, '\0', sizeof(o->from.dev)) != NULL);
	if (o->bind == NULL)
		assert(!o->from.host[0] && !o->from.dev[0] && !o->from.port);
	else
		assert(o->from.host[0] || o->from.dev[0]);
	assert(strpbrk(o->from.dev, "/: ") == NULL);
	assert(o->from.port == 0 ||
	       o->from.port + (o->parallel > 0 ? o->parallel - 1 : 0) <=
		       UINT16_MAX);
}

static void check_limits(const struct policy_rules *r)
{
	assert(r->n_allow <= POLICY_ALLOW_MAX);
	for (unsigned i = 0; i < r->n_allow; i++)
		assert(r->allow[i].bits <= 8 * POLICY_ADDR_BYTES);
	assert(r->clients <= UINT16_MAX);
	assert(r->time_ns == 0 || r->time_ns >= TIME_MIN_NS);
	assert(r->rate_bps == 0 ||
	       (r->rate_bps >= 1000 && r->rate_bps <= 1000000000000000));
}

/* One way of a test at most. */
static void check_modes(const struct options *o)
{
	assert(o->reverse + o->full_duplex + o->dual + o->tradeoff <= 1);
	assert(o->listen_port >= 1);
}

static void check_client(const struct options *o)
{
	assert(o->host != NULL && o->host[0] != '\0' && o->host[0] != '-');
	assert(!o->daemonize && !o->single && !o->one_off);
	assert(o->limits.n_allow == 0 && o->limits.clients == 0 &&
	       o->limits.time_ns == 0 && o->limits.rate_bps == 0);
	assert(o->parallel >= 1);
	assert(!o->udp || o->rate_set || o->rate.bps == OPTIONS_UDP_BPS);
	assert(o->udp || o->rate.pps == 0);
	assert(!o->udp || o->amount_bytes == 0 ||
	       o->amount_bytes >= OPTIONS_UDP_LEN_MIN);
	check_modes(o);
}

static void check_server(const struct options *o)
{
	assert(o->host == NULL && o->from.port == 0);
	assert(o->amount_bytes == 0 && o->ttl == 0 && !o->rate_set);
	assert(!o->trip_times && !o->reverse && !o->full_duplex);
	assert(!o->dual && !o->tradeoff);
	check_limits(&o->limits);
}

static void check_together(const struct options *o)
{
	assert(!o->csv || !o->json);
	assert(!o->json || o->json_file == NULL);
	assert(o->udp || (!o->trip_times && !o->histograms));
	assert(!o->udp || o->len_bytes == 0 ||
	       (o->len_bytes >= OPTIONS_UDP_LEN_MIN &&
		o->len_bytes <= OPTIONS_UDP_LEN_MAX));
	if (o->side == OPTIONS_CLIENT)
		check_client(o);
	else
		check_server(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct options o;
	char why[OPTIONS_WHY_BYTES];
	int rc;

	take_words(p, n);
	rc = cmdline_parse(&o, n_words, words,
			   n_variables > 0 ? variable : NULL, why);
	if (rc < 0) {
		assert(rc == -EINVAL);
		check_why(why);
		return 0;
	}
	assert(rc == 0);
	if (o.ask != OPTIONS_RUN)
		return 0;
	assert(o.side == OPTIONS_SERVER || o.side == OPTIONS_CLIENT);
	check_times(&o);
	check_sizes(&o);
	check_bind(&o);
	check_together(&o);
	return 0;
}
