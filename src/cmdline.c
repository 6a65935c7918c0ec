/*
 * The command line is read word by word, the environment before it.
 */
#include "cmdline.h"

#include <errno.h>
#include <string.h>

#include "optcheck.h"
#include "optknown.h"
#include "opttable.h"
#include "optvalue.h"
#include "stats.h"
#include "wire.h"

#define CONFIDENCE_PERCENT 95
#define KEY_TIMEOUT_NS INT64_C(20000000000) /* iperf 2 default */
#define ARM_TIMEOUT_NS (INT64_C(60) * 1000000000)

/* --- the command line ----------------------------------------------------- */

struct words {
	char *const *next;
	char *const *end;
};

/* The argument of an option: what is joined to it, else the next word.  One
 * that may be left out is joined or not there. */
static int take_argument(struct optvalue_parser *p,
			 const struct opttable_row *r, const char *name,
			 size_t length, const char *joined, struct words *words)
{
	if (!joined && r->absent)
		return optvalue_set(p, r, name, length, r->absent, false);
	if (!joined && words->next == words->end)
		return optvalue_complain(p, "%.*s: needs an argument: %s",
					 (int)length, name, r->arg);
	return optvalue_set(p, r, name, length,
			    joined ? joined : *words->next++, false);
}

/* "-u", "-su", "-p5001", "-sp" "5001" */
static int read_short(struct optvalue_parser *p, const char *word,
		      struct words *words)
{
	for (const char *c = word + 1; *c && !p->o->ask; c++) {
		const struct opttable_row *r = opttable_letter(*c);
		const char name[] = { '-', *c, '\0' };

		if (!r)
			return optvalue_complain(p, "unknown option \"%s\"",
						 name);
		if (r->arg)
			return take_argument(p, r, name, 2, c[1] ? c + 1 : NULL,
					     words);

		int rc = optvalue_set(p, r, name, 2, "", false);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Those of experiments yield to what iperf 2 has, and what has no effect to
 * what has one: a short form that scripts use there stays one. */
static bool yields(const struct opttable_row *r)
{
	return r->whose >= AS_EXPERIMENT || r->kind == OPT_OLD;
}

static int ambiguous(struct optvalue_parser *p, const char *word, size_t length,
		     bool yielding)
{
	const struct opttable_row *r;
	char list[256] = "";

	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		size_t used = strlen(list);

		if (opttable_names(r, word + 2, length - 2) &&
		    yields(r) == yielding)
			snprintf(list + used, sizeof(list) - used, "%s--%s",
				 used ? ", " : "", r->names[0]);
	}
	return optvalue_complain(p, "option \"%.*s\" is ambiguous: %s",
				 (int)length, word, list);
}

/* In no row: an option that stayed out, one that has no effect any more, or
 * none at all. */
static int read_other(struct optvalue_parser *p, const char *word,
		      size_t length)
{
	const struct optknown_row *k = optknown_name(word + 2, length - 2);

	if (!k)
		return optvalue_complain(p, "unknown option \"%.*s\"",
					 (int)(length < 200 ? length : 200),
					 word);
	if (k->instead)
		return optvalue_complain(p, "--%s is not offered: %s", k->name,
					 k->instead);
	optvalue_old(p->o, k->name);
	return 0;
}

/* The row that word names, of length bytes with its dashes; none: what is to be
 * said of it is said. */
static int find_long(struct optvalue_parser *p, const char *word, size_t length,
		     const struct opttable_row **row)
{
	const struct opttable_row *r, *begun = NULL;
	size_t beginnings = 0;

	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		switch (opttable_names(r, word + 2, length - 2)) {
		case 2:
			*row = r;
			return 0;
		case 1:
			if (begun != NULL && yields(begun) < yields(r))
				break;
			if (begun == NULL || yields(begun) != yields(r))
				beginnings = 0;
			begun = r;
			beginnings++;
		}
	}
	if (beginnings == 0 || length == 2)
		return read_other(p, word, length);
	if (beginnings > 1)
		return ambiguous(p, word, length, yields(begun));
	*row = begun;
	return 0;
}

/* "--udp", "--port" "5001", "--port=5001" */
static int read_long(struct optvalue_parser *p, const char *word,
		     struct words *words)
{
	size_t length = strcspn(word, "=");
	const char *joined = word[length] ? word + length + 1 : NULL;
	const struct opttable_row *r = NULL;
	int rc = find_long(p, word, length, &r);

	if (r == NULL)
		return rc;
	if (r->arg)
		return take_argument(p, r, word, length, joined, words);
	if (joined)
		return optvalue_complain(
			p,
			"%.*s: \"%.200s\" is too much: it takes no "
			"argument",
			(int)length, word, joined);
	return optvalue_set(p, r, word, length, "", false);
}

/* A word that is no option: one more file of --compare, else a mistake. */
static int read_stray(struct optvalue_parser *p, const char *word)
{
	const struct opttable_row *r = opttable_name("compare");

	if (!p->given[opttable_index(r)].order || !word[0])
		return optvalue_complain(p, "stray word \"%.200s\"", word);
	return optvalue_set(p, r, "--compare", strlen("--compare"), word,
			    false);
}

/* Up to the first -h or -v, which leave the rest unread, as with getopt. */
static int read_words(struct optvalue_parser *p, int argc, char *const argv[])
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

/* The side that the command line names, else the environment; of neither or
 * of both: OPTIONS_NEITHER, for optcheck to refuse. */
static enum options_side named_side(const struct optvalue_parser *p,
				    const char *(*env)(const char *))
{
	bool server = optvalue_given(p, "server")->order;
	bool client = optvalue_given(p, "client")->order;

	if (optvalue_given(p, "compare")->order)
		return OPTIONS_COMPARE;
	if (!server && !client) {
		server = env(opttable_name("server")->env) != NULL;
		client = env(opttable_name("client")->env) != NULL;
	}
	if (server == client)
		return OPTIONS_NEITHER;
	return server ? OPTIONS_SERVER : OPTIONS_CLIENT;
}

/* What of the environment is left alone, by row. */
struct leave {
	bool row[OPTTABLE_ROWS_MAX];
};

/* Variables are defaults: those that are for the other side are left alone. */
static int read_environment(struct optvalue_parser *p,
			    const char *(*env)(const char *),
			    enum options_side side, const struct leave *leave)
{
	const struct opttable_row *r;

	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		const char *text = r->env ? env(r->env) : NULL;

		if (!text || leave->row[i] ||
		    (side != OPTIONS_NEITHER && !opttable_fits(r, side)))
			continue;

		int rc = optvalue_set(p, r, r->env, strlen(r->env),
				      r->arg ? text : "", true);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- both ----------------------------------------------------------------- */

static void start(struct optvalue_parser *p, struct options *o, char *why)
{
	*o = (struct options){ .port = WIRE_PORT,
			       .ports = 1,
			       .format = 'a',
			       .late_after_ns = STATS_LATE_AFTER_NS,
			       .key_timeout_ns = KEY_TIMEOUT_NS,
			       .rounds = OPTIONS_ROUNDS,
			       .bounce_request_bytes = OPTIONS_BOUNCE_BYTES,
			       .bounce_period_ns = OPTIONS_BOUNCE_NS,
			       .warmup = 1,
			       .confidence_ppm = CONFIDENCE_PERCENT *
						 OPTIONS_PPM_IN_PERCENT,
			       .arm_timeout_ns = ARM_TIMEOUT_NS };
	*p = (struct optvalue_parser){ .o = o, .why = why };
	why[0] = '\0';
}

/* The environment, and the command line over it.  A variable that contradicts
 * what was typed yields, and all is read anew without it. */
static int read_both(struct optvalue_parser *p, int argc, char *const argv[],
		     const char *(*env)(const char *), enum options_side side)
{
	struct leave leave = { { false } };

	for (;;) {
		const struct opttable_row *yields_to_words = NULL;
		int rc = 0;

		start(p, p->o, p->why);
		if (env)
			rc = read_environment(p, env, side, &leave);
		if (rc == 0)
			rc = read_words(p, argc, argv);
		if (rc == 0)
			rc = optcheck_all(p, &yields_to_words);
		if (!yields_to_words)
			return rc;
		leave.row[opttable_index(yields_to_words)] = true;
	}
}

/* The command line is read first alone, to know the side: it says what of the
 * environment is for us. */
int cmdline_parse(struct options *o, int argc, char *const argv[],
		  const char *(*env)(const char *name),
		  char why[OPTIONS_WHY_BYTES])
{
	struct optvalue_parser p;

	start(&p, o, why);

	int rc = read_words(&p, argc, argv);

	if (rc < 0 || o->ask != OPTIONS_RUN)
		return rc;
	return read_both(&p, argc, argv, env,
			 env ? named_side(&p, env) : OPTIONS_NEITHER);
}
