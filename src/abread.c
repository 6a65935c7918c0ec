/*
 * Values of JSON are slices of the text, whose grammar is checked first; only
 * then is anything looked up in them.
 */
#include "abread.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8
#define ROUNDS_MAX ABSTAT_MAX
#define NUMBER_BYTES 64

/* Some bytes of the text. */
struct slice {
	const char *p;
	const char *end;
};

struct reader {
	struct abresult *r;
	char *why;
	size_t line;
	uint32_t first_round; /* of this file, in r */
	bool started;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *f,
							const char *format, ...)
{
	va_list args;
	int used = f->line > 0 ? snprintf(f->why, ABREAD_WHY_BYTES,
					  "line %zu: ", f->line)
			       : 0;

	va_start(args, format);
	(void)vsnprintf(f->why + used, ABREAD_WHY_BYTES - (size_t)used, format,
			args);
	va_end(args);
	return -EINVAL;
}

/* --- grammar (RFC 8259, without white space, as we write it) ----------------
 */

static bool take(struct slice *s, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(s->end - s->p) < length || memcmp(s->p, word, length) != 0)
		return false;
	s->p += length;
	return true;
}

static bool skip_digits(struct slice *s)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p > from;
}

/* No exponent: we write none. */
static bool skip_number(struct slice *s)
{
	(void)take(s, "-");
	if (!skip_digits(s))
		return false;
	return !take(s, ".") || skip_digits(s);
}

static bool skip_escape(struct slice *s)
{
	if (s->p == s->end)
		return false;

	char c = *s->p++;

	if (c != 'u')
		return c != '\0' && strchr("\"\\/bfnrt", c) != NULL;
	for (int i = 0; i < 4; i++, s->p++) {
		if (s->p == s->end || *s->p == '\0' ||
		    strchr("0123456789abcdefABCDEF", *s->p) == NULL)
			return false;
	}
	return true;
}

static bool skip_string(struct slice *s)
{
	if (!take(s, "\""))
		return false;
	while (s->p < s->end && *s->p != '"') {
		if ((unsigned char)*s->p < ' ')
			return false;
		if (*s->p++ == '\\' && !skip_escape(s))
			return false;
	}
	return take(s, "\"");
}

static bool skip_value(struct slice *s, int depth);

static bool skip_list(struct slice *s, int depth)
{
	if (take(s, "]"))
		return true;
	do {
		if (!skip_value(s, depth))
			return false;
	} while (take(s, ","));
	return take(s, "]");
}

static bool skip_object(struct slice *s, int depth)
{
	if (take(s, "}"))
		return true;
	do {
		if (!skip_string(s) || !take(s, ":") || !skip_value(s, depth))
			return false;
	} while (take(s, ","));
	return take(s, "}");
}

static bool skip_value(struct slice *s, int depth)
{
	if (depth == DEPTH_MAX || s->p == s->end)
		return false;
	switch (*s->p) {
	case '{':
		s->p++;
		return skip_object(s, depth + 1);
	case '[':
		s->p++;
		return skip_list(s, depth + 1);
	case '"':
		return skip_string(s);
	default:
		return take(s, "null") || take(s, "true") || take(s, "false") ||
		       skip_number(s);
	}
}

/* --- what stands in an object that is whole ---------------------------------
 */

/* The value of a member; false: there is none. */
static bool member(struct slice object, const char *name, struct slice *value)
{
	size_t length = strlen(name);
	struct slice s = { object.p + 1, object.end };

	while (s.p < s.end && *s.p == '"') {
		struct slice key = { s.p + 1, NULL };

		(void)skip_string(&s);
		key.end = s.p - 1;
		(void)take(&s, ":");
		value->p = s.p;
		(void)skip_value(&s, 0);
		value->end = s.p;
		if ((size_t)(key.end - key.p) == length &&
		    memcmp(key.p, name, length) == 0)
			return true;
		(void)take(&s, ",");
	}
	return false;
}

static bool is_word(struct slice s, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(s.end - s.p) == length &&
	       memcmp(s.p, word, length) == 0;
}

static bool number_of(struct slice s, double *out)
{
	char text[NUMBER_BYTES];
	size_t length = (size_t)(s.end - s.p);

	if (length == 0 || length >= sizeof(text) ||
	    (*s.p != '-' && (*s.p < '0' || *s.p > '9')))
		return false;
	memcpy(text, s.p, length);
	text[length] = '\0';
	*out = strtod(text, NULL);
	return fabs(*out) <= 1e18;
}

static bool number(struct slice object, const char *name, double *out)
{
	struct slice value;

	return member(object, name, &value) && number_of(value, out);
}

/* A whole number from low to high. */
static bool whole(struct slice object, const char *name, double low,
		  double high, uint64_t *out)
{
	double value;

	if (!number(object, name, &value) || value < low || value > high ||
	    value != floor(value))
		return false;
	*out = (uint64_t)value;
	return true;
}

static bool flag(struct slice object, const char *name, bool *out)
{
	struct slice value;

	if (!member(object, name, &value))
		return false;
	*out = is_word(value, "true");
	return *out || is_word(value, "false");
}

static unsigned hex_of(const char *p)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char c = p[i];

		v = v << 4 | (unsigned)(c <= '9'   ? c - '0'
					: c <= 'F' ? c - 'A' + 10
						   : c - 'a' + 10);
	}
	return v;
}

/* One escape, of which the backslash has been read; we escape by number what
 * is one byte. */
static size_t unescape(const char **p, char *to)
{
	static const char from[] = "bfnrt";
	static const char into[] = "\b\f\n\r\t";
	/* U+FFFD */
	static const char replacement[] = { '\xef', '\xbf', '\xbd' };
	char c = *(*p)++;
	const char *at = strchr(from, c);

	if (c != 'u') {
		*to = c;
		if (at != NULL)
			*to = into[at - from];
		return 1;
	}

	unsigned v = hex_of(*p);

	*p += 4;
	if (v > 0 && v < 0x80) {
		*to = (char)v;
		return 1;
	}
	memcpy(to, replacement, sizeof(replacement));
	return sizeof(replacement);
}

/* The text of a string, allocated; NULL: it is none, or no memory. */
static char *text_of(struct slice s)
{
	if (s.end - s.p < 2 || *s.p != '"')
		return NULL;

	char *text = malloc((size_t)(s.end - s.p));
	size_t used = 0;

	if (text == NULL)
		return NULL;
	for (const char *p = s.p + 1; p < s.end - 1;) {
		if (*p != '\\') {
			text[used++] = *p++;
			continue;
		}
		p++;
		used += unescape(&p, text + used);
	}
	text[used] = '\0';
	return text;
}

/* A short string into buf. */
static bool short_text(struct slice object, const char *name, char *buf,
		       size_t size)
{
	struct slice value;
	char *text = member(object, name, &value) ? text_of(value) : NULL;
	bool fits = text != NULL && text[0] != '\0' && strlen(text) < size;

	if (fits)
		(void)snprintf(buf, size, "%s", text);
	free(text);
	return fits;
}

/* --- settings ---------------------------------------------------------------
 */

/* The next element of a list; *s begins behind '[' or after the last one. */
static bool next_element(struct slice *s, struct slice *element)
{
	(void)take(s, ",");
	if (s->p == s->end || *s->p == ']')
		return false;
	element->p = s->p;
	(void)skip_value(s, 0);
	element->end = s->p;
	return true;
}

static int read_arms(const struct reader *f, struct slice list,
		     struct abresult *to)
{
	struct slice s = { list.p + 1, list.end };
	struct slice one;

	while (next_element(&s, &one)) {
		char label[ABRESULT_LABEL_BYTES];
		struct slice value;
		char *command = NULL;

		if (*one.p != '{' ||
		    !short_text(one, "label", label, sizeof(label)))
			return refuse(f, "an arm without a label");
		if (member(one, "command", &value))
			command = text_of(value);

		int rc = abresult_add_arm(to, label, command);

		free(command);
		if (rc == -EEXIST || rc == -E2BIG)
			return refuse(f,
				      "not 2 to %d arms, each with a label "
				      "of its own",
				      ABRESULT_ARMS_MAX);
		if (rc < 0)
			return rc;
	}
	if (to->setup.n_arms < 2)
		return refuse(f,
			      "not 2 to %d arms, each with a label of its own",
			      ABRESULT_ARMS_MAX);
	return 0;
}

static int read_setup(const struct reader *f, struct slice object,
		      struct abresult *to)
{
	struct abresult_setup *s = &to->setup;
	struct slice list;
	double value;
	uint64_t n;
	bool paired;

	if (!member(object, "arms", &list) || *list.p != '[')
		return refuse(f, "no arms");
	if (!number(object, "confidence_percent", &value) || value < 50 ||
	    value > 99.9999)
		return refuse(f, "confidence_percent is not 50 to 99.9999");
	s->confidence = value / 100;
	if (number(object, "margin_percent", &value) && value > 0)
		s->margin_percent = value;
	if (number(object, "precision_percent", &value) && value > 0)
		s->precision_percent = value;
	if (whole(object, "rounds", 1, ROUNDS_MAX, &n))
		s->rounds = (uint32_t)n;
	if (whole(object, "warmup", 0, ROUNDS_MAX, &n))
		s->warmup = (uint32_t)n;
	if (whole(object, "seed", 0, 9e15, &n))
		s->seed = n;
	(void)short_text(object, "test", s->test, sizeof(s->test));
	if (flag(object, "paired", &paired))
		s->unpaired = !paired;
	return read_arms(f, list, to);
}

static bool same_arms(const struct abresult_setup *a,
		      const struct abresult_setup *b)
{
	if (a->n_arms != b->n_arms)
		return false;
	for (unsigned i = 0; i < a->n_arms; i++) {
		if (strcmp(a->arm[i].label, b->arm[i].label) != 0)
			return false;
	}
	return true;
}

/* Rounds behind those that r has. */
static uint32_t next_round(const struct abresult *r)
{
	uint32_t next = 0;

	for (size_t i = 0; i < r->n_runs; i++) {
		if (r->run[i].round >= next)
			next = r->run[i].round + 1;
	}
	return next;
}

static int read_start(struct reader *f, struct slice object)
{
	struct abresult one = { .n_runs = 0 };
	int rc = read_setup(f, object, &one);

	if (rc == 0 && f->r->setup.n_arms == 0 && f->r->n_runs == 0) {
		f->r->setup = one.setup;
		one.setup.n_arms = 0;
	} else if (rc == 0 && (!same_arms(&f->r->setup, &one.setup) ||
			       f->r->setup.unpaired != one.setup.unpaired)) {
		rc = refuse(f, "other arms than before");
	} else if (rc == 0) {
		f->r->setup.rounds += one.setup.rounds;
	}
	f->started = rc == 0;
	f->first_round = next_round(f->r);
	abresult_free(&one);
	return rc;
}

/* --- runs -------------------------------------------------------------------
 */

static bool arm_of(const struct abresult *r, const char *label, uint8_t *arm)
{
	for (unsigned i = 0; i < r->setup.n_arms; i++) {
		if (strcmp(r->setup.arm[i].label, label) == 0) {
			*arm = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static unsigned read_marks(struct slice object)
{
	struct slice list;
	struct slice one;
	unsigned marks = 0;

	if (!member(object, "marks", &list) || *list.p != '[')
		return 0;
	list.p++;
	while (next_element(&list, &one)) {
		struct slice name = { one.p + 1, one.end - 1 };

		for (unsigned i = 0; i < ABRESULT_MARKS; i++) {
			if (*one.p == '"' &&
			    is_word(name, abresult_mark_key(i)))
				marks |= 1u << i;
		}
	}
	return marks;
}

static void read_values(struct slice object, struct abresult_run *run)
{
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		double value;

		if (number(object, abresult_key(m), &value))
			abresult_set(run, m, value);
	}
}

/* A file that is given twice would make two rounds of each. */
static bool was_read(const struct reader *f, const struct abresult_run *run)
{
	for (size_t i = 0; i < f->r->n_runs; i++) {
		const struct abresult_run *old = &f->r->run[i];

		if (old->round < f->first_round && old->arm == run->arm &&
		    old->wall_ns == run->wall_ns && run->wall_ns > 0)
			return true;
	}
	return false;
}

static int read_run(struct reader *f, struct slice object)
{
	struct abresult_run run = { .busy_ns = -1 };
	char label[ABRESULT_LABEL_BYTES];
	struct slice value;
	double seconds;
	uint64_t n;
	int rc;

	if (!f->started)
		return refuse(f, "a run before the start");
	if (!short_text(object, "arm", label, sizeof(label)) ||
	    !arm_of(f->r, label, &run.arm))
		return refuse(f, "a run of no arm");
	if (!whole(object, "round", 1, ROUNDS_MAX, &n) ||
	    n + f->first_round > ROUNDS_MAX)
		return refuse(f, "a run without a round, or one too many");
	run.round = (uint32_t)(n - 1 + f->first_round);
	if (!flag(object, "warmup", &run.warmup) ||
	    !flag(object, "counted", &run.counted))
		return refuse(f, "a run that does not say whether it counts");
	if (whole(object, "place", 1, ABRESULT_ARMS_MAX, &n))
		run.place = (uint8_t)(n - 1);
	if (whole(object, "attempt", 1, 100, &n))
		run.attempt = (uint8_t)(n - 1);
	if (whole(object, "status", 0, 255, &n))
		run.status = (int)n;
	if (number(object, "wall_time", &seconds) && fabs(seconds) < 9e9)
		run.wall_ns = llround(seconds * 1e6) * 1000;
	if (number(object, "other_cpu_seconds", &seconds) &&
	    fabs(seconds) < 9e9)
		run.busy_ns = llround(seconds * 1e9);
	if (was_read(f, &run))
		return refuse(f, "a run that another file has too");
	run.marks = read_marks(object);
	read_values(object, &run);
	if (member(object, "shown", &value))
		run.shown = text_of(value);
	rc = abresult_add(f->r, &run);
	if (rc < 0)
		free(run.shown);
	return rc;
}

/* Other events than these are of no interest. */
static int read_event(struct reader *f, struct slice object)
{
	struct slice role;
	struct slice event;
	bool broken_off;

	if (!member(object, "event", &event))
		return refuse(f, "an object without an event");
	if (is_word(event, "\"start\"")) {
		if (!member(object, "role", &role) ||
		    !is_word(role, "\"experiment\""))
			return refuse(f, "a test alone, and no experiment");
		if (f->started)
			return refuse(f, "a second start");
		return read_start(f, object);
	}
	if (is_word(event, "\"run\""))
		return read_run(f, object);
	if (is_word(event, "\"summary\"") &&
	    flag(object, "broken_off", &broken_off))
		f->r->broken_off = f->r->broken_off || broken_off;
	return 0;
}

bool abread_is_json(const char *text, size_t n)
{
	return n > 0 && text[0] == '{';
}

/* The next line without its end; false: there is none. */
static bool next_line(struct slice *s, struct slice *line)
{
	if (s->p == s->end)
		return false;

	const char *end = memchr(s->p, '\n', (size_t)(s->end - s->p));

	line->p = s->p;
	line->end = end != NULL ? end : s->end;
	s->p = end != NULL ? end + 1 : s->end;
	return true;
}

int abread_json(struct abresult *r, const char *text, size_t n,
		char why[ABREAD_WHY_BYTES])
{
	struct reader f = { .r = r, .why = why };
	struct slice s = { text, text + n };
	struct slice line;
	int rc = 0;

	while (rc == 0 && next_line(&s, &line)) {
		struct slice rest = line;

		f.line++;
		if (line.p == line.end)
			continue;
		if (*line.p != '{' || !skip_value(&rest, 0) ||
		    rest.p != rest.end)
			rc = refuse(&f, "not a whole object of JSON");
		else
			rc = read_event(&f, line);
	}
	if (rc == 0 && !f.started)
		rc = refuse(&f, "no experiment in it");
	return rc;
}
