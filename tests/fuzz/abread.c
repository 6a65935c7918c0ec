/*
 * abread: the input is a file of --compare; what is accepted makes a table, and
 * its text.
 */
#include "abread.h"
#include "abcsv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "out.h"

static bool holds_no_number(const char *text)
{
	return strstr(text, "nan") != NULL || strstr(text, "inf,") != NULL;
}

/* The file may bring these words itself. */
static bool brings_such(const struct abresult_setup *s)
{
	bool brings = holds_no_number(s->test);

	for (unsigned i = 0; i < s->n_arms; i++) {
		const char *command = s->arm[i].command;

		brings = brings || holds_no_number(s->arm[i].label) ||
			 (command != NULL && holds_no_number(command));
	}
	return brings;
}

static void make_text(const struct abresult *r)
{
	char *text = NULL;
	size_t n = 0;
	struct out o = { .file = open_memstream(&text, &n) };

	assert(o.file != NULL);
	out_arms.start(&o, r);
	out_arms.summary(&o, r);
	out_json_arms.summary(&o, r);
	out_html(o.file, r);
	fclose(o.file);
	assert(!holds_no_number(text) || brings_such(&r->setup));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct abresult r = { .setup.confidence = 0.95 };
	const char *text = (const char *)p;
	char why[ABREAD_WHY_BYTES];
	int rc;

	if (abread_is_json(text, n)) {
		rc = abread_json(&r, text, n, why);
	} else {
		rc = abcsv_read(&r, "a", text, n / 2, why);
		if (rc == 0)
			rc = abcsv_read(&r, "b", text + n / 2, n - n / 2, why);
	}
	assert(rc == 0 || rc == -EINVAL || rc == -ENOMEM);
	assert(rc != -EINVAL || memchr(why, '\0', sizeof(why)) != NULL);
	if (rc == 0)
		make_text(&r);
	abresult_free(&r);
	return 0;
}
