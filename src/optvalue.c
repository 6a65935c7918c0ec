/*
 * The wording of a refusal first, then what reads a value of each kind.
 */
#include "optvalue.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#define NSEC_PER_SEC 1000000000
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC INT64_C(1000000)
/* Of a number of percent read as seconds. */
#define NS_IN_PPM (NSEC_PER_SEC / OPTIONS_PPM_IN_PERCENT)
#define MAX_LABEL 16

#define WANTED_WIRE_RATE                                                       \
	"a rate: bits a second with k, m, g, bytes a second with K, M, G"
#define WANTED_FRAMES                                                          \
	"FPS:MEAN,STDEV, such as 60:20m,2m: 0.001 to 1000 frames a second"

/* What a refused value is not.  OPT_WHOLE is followed by its range, what has
 * choices by these. */
static const char *const wanted[] = {
	[OPT_SET] = "", /* reads nothing, refuses nothing */
	[OPT_TEXT] = "a name: it is empty",
	[OPT_HOST] = "a host: a name or an address, or HOST%DEV",
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
	[OPT_DSCP] = "a code point: 0 to 63, or a name such as ef or af11",
	[OPT_WIRE_RATE] = WANTED_WIRE_RATE,
	[OPT_EPOCH] = "a Unix time: seconds since 1970, such as 1798761600.5",
	[OPT_KEY] = "a key of 4 to 128 letters, digits and signs",
	[OPT_PART] = "a part, such as 0.5: 0.001 to 100",
	[OPT_LOAD] = "up, down or bidir, or one of them with ,1 to ,64",
	[OPT_PORTS] = "a port, or FIRST-LAST: ",
	[OPT_FRAMES] = WANTED_FRAMES,
	[OPT_OLD] = "", /* refuses nothing */
};

/* What was typed may hold line feeds and escapes. */
int optvalue_complain(struct optvalue_parser *p, const char *fmt, ...)
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

const struct optvalue_given *optvalue_given(const struct optvalue_parser *p,
					    const char *name)
{
	return &p->given[opttable_index(opttable_name(name))];
}

/* Fields of one byte, of flags and small numbers, up to eight. */
static void store(struct options *o, const struct opttable_row *r,
		  uint64_t value)
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

static void store_text(struct options *o, const struct opttable_row *r,
		       const char *text)
{
	assert(r->size == sizeof(text));
	memcpy((unsigned char *)o + r->at, &text, sizeof(text));
}

/* --- complaints about one value ------------------------------------------ */

static double seconds(int64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static void range_text(const struct opttable_row *r, char *buf, size_t size)
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

static int refuse(struct optvalue_parser *p, const struct opttable_row *r,
		  const struct optvalue_given *g)
{
	char range[80] = "";

	if (r->kind == OPT_WHOLE || r->kind == OPT_PORTS)
		range_text(r, range, sizeof(range));
	return optvalue_complain(p, "%s: \"%.200s\" is not %s%s%s", g->name,
				 g->text, wanted[r->kind], range,
				 r->choices ? r->choices : "");
}

static int out_of_range(struct optvalue_parser *p, const struct opttable_row *r,
			const struct optvalue_given *g)
{
	char range[80];

	range_text(r, range, sizeof(range));
	return optvalue_complain(p, "%s: \"%.200s\" is out of range: %s",
				 g->name, g->text, range);
}

/* Keeps a number that a reader of units gave with rc. */
static int keep(struct optvalue_parser *p, const struct opttable_row *r,
		const struct optvalue_given *g, int rc, int64_t value)
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

static int read_text(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	if (!g->text[0])
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

static int read_whole(struct optvalue_parser *p, const struct opttable_row *r,
		      const struct optvalue_given *g)
{
	int64_t value = 0;
	int rc = units_whole(g->text, 0, &value);

	return keep(p, r, g, rc, value);
}

static int read_bytes(struct optvalue_parser *p, const struct opttable_row *r,
		      const struct optvalue_given *g)
{
	uint64_t bytes = 0;
	int rc = units_size(g->text, &bytes);

	if (rc == 0 && bytes > INT64_MAX)
		rc = -ERANGE;
	return keep(p, r, g, rc, (int64_t)bytes);
}

static int read_seconds(struct optvalue_parser *p, const struct opttable_row *r,
			const struct optvalue_given *g)
{
	int64_t ns = 0;
	int rc = units_seconds(g->text, &ns);

	return keep(p, r, g, rc, ns);
}

static int read_milliseconds(struct optvalue_parser *p,
			     const struct opttable_row *r,
			     const struct optvalue_given *g)
{
	int64_t thousandfold_ns = 0;
	int rc = units_seconds(g->text, &thousandfold_ns);

	return keep(p, r, g, rc, thousandfold_ns / MSEC_PER_SEC);
}

/* MEAN,STDEV is a rate of iperf 2 that is not offered, so it is named. */
static int read_rate(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	struct units_rate rate = { 0, 0 };

	if (strchr(g->text, ','))
		return optvalue_complain(
			p, "%s: \"%.200s\": MEAN,STDEV is not offered", g->name,
			g->text);

	int rc = units_rate(g->text, &rate);

	if (rc == -EINVAL)
		return refuse(p, r, g);
	if (rc < 0 || rate.bps > (uint64_t)r->max ||
	    rate.pps > (uint64_t)r->max)
		return out_of_range(p, r, g);
	assert(r->size == sizeof(rate));
	memcpy((unsigned char *)p->o + r->at, &rate, sizeof(rate));
	return 0;
}

static int read_bps(struct optvalue_parser *p, const struct opttable_row *r,
		    const struct optvalue_given *g)
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

const char *optvalue_tos_name(size_t i)
{
	return i < sizeof(tos_names) / sizeof(tos_names[0]) ? tos_names[i].name
							    : NULL;
}

static int read_tos(struct optvalue_parser *p, const struct opttable_row *r,
		    const struct optvalue_given *g)
{
	int64_t value = 0;

	for (size_t i = 0; i < sizeof(tos_names) / sizeof(tos_names[0]); i++) {
		if (strcasecmp(g->text, tos_names[i].name) == 0)
			return keep(p, r, g, 0, tos_names[i].tos);
	}

	int rc = units_whole(g->text, 1, &value);

	return keep(p, r, g, rc, value);
}

/* Code points are the upper six bits. */
static int read_dscp(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	int64_t value = -1;
	int rc = 0;

	for (size_t i = 0; i < sizeof(tos_names) / sizeof(tos_names[0]); i++) {
		if (strcasecmp(g->text, tos_names[i].name) == 0)
			value = tos_names[i].tos >> 2;
	}
	if (value < 0)
		rc = units_whole(g->text, 1, &value);
	rc = keep(p, r, g, rc, value);
	if (rc == 0)
		store(p->o, r, (uint64_t)value << 2);
	return rc;
}

static int read_wire_rate(struct optvalue_parser *p,
			  const struct opttable_row *r,
			  const struct optvalue_given *g)
{
	uint64_t bps = 0;
	int rc = units_wire_rate(g->text, &bps);

	return keep(p, r, g, rc, bps > INT64_MAX ? INT64_MAX : (int64_t)bps);
}

void optvalue_old(struct options *o, const char *name)
{
	for (unsigned i = 0; i < o->n_old; i++) {
		if (o->old[i] == name)
			return;
	}
	if (o->n_old < OPTIONS_OLD_MAX)
		o->old[o->n_old++] = name;
}

/* Copies length bytes and ends them; false when they do not fit. */
static bool copy_part(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* Copies up to the sign and goes behind it; false: it is not there. */
static bool cut_at(const char **text, char sign, char *to, size_t size)
{
	const char *at = strchr(*text, sign);

	if (!at || !copy_part(to, size, *text, (size_t)(at - *text)))
		return false;
	*text = at + 1;
	return true;
}

/* "60:20m" or "60:20m,2m" */
static int read_frames(struct optvalue_parser *p, const struct opttable_row *r,
		       const struct optvalue_given *g)
{
	struct options *o = p->o;
	const char *text = g->text;
	char fps[32], mean[32];
	int64_t billionth = 0;

	o->frames_stdev_bps = 0;
	if (!cut_at(&text, ':', fps, sizeof(fps)) ||
	    units_seconds(fps, &billionth) < 0 || billionth < 1000000 ||
	    billionth > INT64_C(1000000000000))
		return refuse(p, r, g);
	if (cut_at(&text, ',', mean, sizeof(mean))) {
		if (units_wire_rate(text, &o->frames_stdev_bps) < 0)
			return refuse(p, r, g);
		text = mean;
	}
	if (units_wire_rate(text, &o->frames_bps) < 0 || o->frames_bps == 0 ||
	    o->frames_bps > OPTIONS_RATE_MAX ||
	    o->frames_stdev_bps > OPTIONS_RATE_MAX)
		return refuse(p, r, g);
	store(o, r, (uint64_t)billionth / 1000000);
	return 0;
}

/* "5001" or "5001-5004" */
static int read_ports(struct optvalue_parser *p, const struct opttable_row *r,
		      const struct optvalue_given *g)
{
	const char *dash = g->text[0] ? strchr(g->text + 1, '-') : NULL;
	size_t length = dash ? (size_t)(dash - g->text) : 0;
	int64_t first = 0, last;
	char digits[8];
	int rc;

	p->o->ports = 1;
	if (!dash)
		return read_whole(p, r, g);
	if (!copy_part(digits, sizeof(digits), g->text, length))
		return refuse(p, r, g);
	rc = units_whole(digits, 0, &first);
	rc = keep(p, r, g, rc, first);
	if (rc < 0)
		return rc;
	if (units_whole(g->text + length + 1, 0, &last) < 0)
		return refuse(p, r, g);
	if (last < first || last > r->max || last - first >= OPTIONS_PORTS_MAX)
		return optvalue_complain(
			p,
			"%s: \"%.200s\" is out of range: up to %d ports, %lld "
			"to %lld",
			g->name, g->text, OPTIONS_PORTS_MAX, (long long)r->min,
			(long long)r->max);
	p->o->ports = (uint16_t)(last - first + 1);
	return 0;
}

static int read_part(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	int64_t billionth = 0;

	if (units_seconds(g->text, &billionth) < 0 ||
	    billionth / 1000 < r->min || billionth / 1000 > r->max)
		return refuse(p, r, g);
	store(p->o, r, (uint64_t)(billionth / 1000));
	return 0;
}

/* "up", "down,2" */
static int read_load(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	static const char *const ways[] = { "up", "down", "bidir" };
	size_t length = strcspn(g->text, ",");
	int64_t n = 1;

	if (g->text[length] &&
	    (units_whole(g->text + length + 1, 0, &n) < 0 || n < 1 || n > 64))
		return refuse(p, r, g);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strlen(ways[i]) != length ||
		    memcmp(ways[i], g->text, length) != 0)
			continue;
		p->o->load = OPTIONS_LOAD_UP + i;
		p->o->loads = (uint32_t)n;
		return 0;
	}
	return refuse(p, r, g);
}

/* What can be shown and typed; without an argument it is made up. */
static int read_key(struct optvalue_parser *p, const struct opttable_row *r,
		    const struct optvalue_given *g)
{
	size_t length = strlen(g->text);

	for (const char *c = g->text; *c; c++) {
		if (*c <= ' ' || *c > '~')
			return refuse(p, r, g);
	}
	if (g->text != r->absent &&
	    (length < (size_t)r->min || length > (size_t)r->max))
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

static int read_letter(struct optvalue_parser *p, const struct opttable_row *r,
		       const struct optvalue_given *g)
{
	char letter = g->text[0];

	if (!letter || g->text[1] || !strchr(r->choices, letter))
		return refuse(p, r, g);
	store(p->o, r, (unsigned char)letter);
	return 0;
}

static int read_letters(struct optvalue_parser *p, const struct opttable_row *r,
			const struct optvalue_given *g)
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

static int read_prefix(struct optvalue_parser *p, const struct opttable_row *r,
		       const struct optvalue_given *g)
{
	if (strncasecmp(g->text, r->choices, strlen(r->choices)) != 0)
		return refuse(p, r, g);
	store(p->o, r, true);
	return 0;
}

static int read_choice(struct optvalue_parser *p, const struct opttable_row *r,
		       const struct optvalue_given *g)
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

static int read_network(struct optvalue_parser *p, const struct opttable_row *r,
			const struct optvalue_given *g)
{
	struct policy_rules *limits = &p->o->limits;

	if (limits->n_allow == POLICY_ALLOW_MAX)
		return optvalue_complain(
			p, "%s: \"%.200s\" is one too many: %d at most",
			g->name, g->text, POLICY_ALLOW_MAX);
	if (policy_prefix(&limits->allow[limits->n_allow], g->text) < 0)
		return refuse(p, r, g);
	limits->n_allow++;
	return 0;
}

static int read_percent(struct optvalue_parser *p, const struct opttable_row *r,
			const struct optvalue_given *g)
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

static int read_arm(struct optvalue_parser *p, const struct opttable_row *r,
		    const struct optvalue_given *g)
{
	struct options *o = p->o;
	size_t length = strcspn(g->text, "=");

	if (!g->text[length] || !is_label(g->text, length))
		return refuse(p, r, g);
	if (o->n_arms == OPTIONS_ARMS_MAX)
		return optvalue_complain(
			p, "%s: \"%.200s\" is one too many: %d at most",
			g->name, g->text, OPTIONS_ARMS_MAX);
	for (unsigned i = 0; i < o->n_arms; i++) {
		if (strlen(o->arm[i].label) == length &&
		    memcmp(o->arm[i].label, g->text, length) == 0)
			return optvalue_complain(
				p,
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

static int read_file(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	struct options *o = p->o;

	if (!g->text[0])
		return refuse(p, r, g);
	if (o->n_compare == OPTIONS_ARMS_MAX)
		return optvalue_complain(
			p, "%s: \"%.200s\" is one too many: %d at most",
			g->name, g->text, OPTIONS_ARMS_MAX);
	o->compare[o->n_compare++] = g->text;
	return 0;
}

/* --- the parts of -B and -c ----------------------------------------------- */

/* Linux allows no '/', ':' or blank in a device's name. */
static bool split_device(struct options_place *to, const char *text)
{
	return text[0] && !text[strcspn(text, "/:% \t\n")] &&
	       copy_part(to->dev, sizeof(to->dev), text, strlen(text));
}

/* Splits "PORT" or "PORT%DEV". */
static bool split_port(struct options_place *to, const char *text)
{
	size_t length = strcspn(text, "%");
	char digits[8];
	int64_t port;

	if (!copy_part(digits, sizeof(digits), text, length) ||
	    units_whole(digits, 0, &port) < 0 || port < 1 || port > 65535)
		return false;
	to->port = (uint16_t)port;
	return !text[length] || split_device(to, text + length + 1);
}

/* Addresses of a link need their zone: it is a part of the address. */
static bool zone_is_scope(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MC_LINKLOCAL(a) ||
	       IN6_IS_ADDR_MC_NODELOCAL(a);
}

/* Splits length bytes that must be an IPv6 literal, with a zone or without. */
static bool split_v6(struct options_place *to, const char *text, size_t length)
{
	struct in6_addr address;

	if (!copy_part(to->host, sizeof(to->host), text, length))
		return false;

	char *zone = strchr(to->host, '%');

	if (zone)
		*zone = '\0';
	if (inet_pton(AF_INET6, to->host, &address) != 1)
		return false;
	if (!zone)
		return true;
	if (!zone_is_scope(&address))
		return split_device(to, zone + 1);
	*zone = '%';
	return zone[1] != '\0';
}

/* Splits "[V6]", "[V6]:PORT", "[V6]%DEV" or "[V6]:PORT%DEV". */
static bool split_brackets(struct options_place *to, const char *text)
{
	const char *end = strchr(text, ']');

	if (!end || !split_v6(to, text + 1, (size_t)(end - text - 1)))
		return false;
	if (end[1] == ':')
		return split_port(to, end + 2);
	if (end[1] == '%')
		return !to->dev[0] && split_device(to, end + 2);
	return !end[1];
}

/* Splits "HOST", "HOST:PORT", "HOST%DEV", "HOST:PORT%DEV" or "%DEV". */
static bool split_name(struct options_place *to, const char *text)
{
	size_t length = strcspn(text, ":%");

	if (!copy_part(to->host, sizeof(to->host), text, length))
		return false;
	if (text[length] == '%')
		return split_device(to, text + length + 1);
	if (length == 0)
		return false;
	return !text[length] || split_port(to, text + length + 1);
}

static bool split_place(struct options_place *to, const char *text)
{
	const char *colon = strchr(text, ':');

	to->host[0] = '\0';
	to->dev[0] = '\0';
	to->port = 0;
	if (text[0] == '-')
		return false;
	if (text[0] == '[')
		return split_brackets(to, text);
	if (colon && strchr(colon + 1, ':'))
		return split_v6(to, text, strlen(text));
	return split_name(to, text);
}

static int read_bind(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	if (!split_place(&p->o->from, g->text))
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

/* No host begins with a dash: it is an option, and the host was forgotten. */
static int read_host(struct optvalue_parser *p, const struct opttable_row *r,
		     const struct optvalue_given *g)
{
	struct options_place *to = &p->o->to;

	if (!split_place(to, g->text) || !to->host[0] || to->port > 0)
		return refuse(p, r, g);
	store_text(p->o, r, g->text);
	return 0;
}

/* --- one option ----------------------------------------------------------- */

static int read_value(struct optvalue_parser *p, const struct opttable_row *r,
		      const struct optvalue_given *g)
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
	case OPT_DSCP:
		return read_dscp(p, r, g);
	case OPT_WIRE_RATE:
		return read_wire_rate(p, r, g);
	case OPT_EPOCH:
		return read_seconds(p, r, g);
	case OPT_KEY:
		return read_key(p, r, g);
	case OPT_PART:
		return read_part(p, r, g);
	case OPT_LOAD:
		return read_load(p, r, g);
	case OPT_PORTS:
		return read_ports(p, r, g);
	case OPT_FRAMES:
		return read_frames(p, r, g);
	case OPT_OLD:
		optvalue_old(p->o, r->names[0]);
		return 0;
	}
	assert(false);
	return -EINVAL;
}

int optvalue_set(struct optvalue_parser *p, const struct opttable_row *r,
		 const char *name, size_t length, const char *text,
		 bool from_env)
{
	struct optvalue_given *g = &p->given[opttable_index(r)];

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
