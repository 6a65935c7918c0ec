/*
 * units: the input is a word that a person typed, and two numbers to show.
 */
#include "units.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#define WORD_MAX 64
/* The room that rows give to a number with its unit. */
#define TEXT_BYTES 48

static void check_whole(const char *word, int any_base)
{
	int64_t value = 0;
	int64_t again = 0;
	char text[32];
	int rc = units_whole(word, any_base, &value);

	assert(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc < 0)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)value);
	assert(units_whole(text, any_base, &again) == 0 && again == value);
}

static void check_rate(const char *word)
{
	struct units_rate rate = { 0 };
	int rc = units_rate(word, &rate);

	assert(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc < 0)
		return;
	assert(rate.bps == 0 || rate.pps == 0);
	assert(rate.bps <= INT64_MAX && rate.pps <= INT64_MAX);
}

/* Digits alone are what they say; that a unit makes them more. */
static void check_size(const char *word)
{
	char kilo[WORD_MAX + 2];
	uint64_t bytes = 0;
	uint64_t more = 0;
	int64_t whole = 0;
	int rc = units_size(word, &bytes);

	assert(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	assert(rc < 0 || bytes <= INT64_MAX);
	if (rc < 0 || word[strspn(word, "0123456789")] != '\0')
		return;
	assert(units_whole(word, 0, &whole) == 0 && (uint64_t)whole == bytes);
	snprintf(kilo, sizeof(kilo), "%sK", word);
	rc = units_size(kilo, &more);
	assert(rc == (bytes > INT64_MAX / 1024 ? -ERANGE : 0));
	assert(rc < 0 || more == bytes * 1024);
}

static void check_seconds(const char *word)
{
	int64_t ns = 0;
	int rc = units_seconds(word, &ns);

	assert(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	assert(rc < 0 || ns >= 0);
}

/* A number in at least four columns, one blank, a unit. */
static void check_text(const char *text, size_t size)
{
	size_t length;
	size_t blanks;
	const char *unit;

	assert(memchr(text, '\0', size) != NULL);
	length = strlen(text);
	assert(length + 1 < size);
	blanks = strspn(text, " ");
	unit = text + blanks + strspn(text + blanks, "0123456789.");
	assert(unit - text >= 4 && *unit == ' ');
	assert(unit[1] != '\0' &&
	       strspn(unit + 1, "KMGTPBbytei") == strlen(unit + 1));
}

static void check_writers(struct fuzz f)
{
	char format = (char)fuzz_byte(&f);
	uint8_t how = fuzz_byte(&f);
	enum units_look look = (enum units_look)(how % 3);
	uint64_t bytes = fuzz_number(&f, 8) >> how / 4;
	int64_t ns = (int64_t)fuzz_number(&f, 8);
	char whole[TEXT_BYTES];
	char cut[8];

	assert(units_bps(bytes, ns) >= 0 && units_pps(bytes, ns) >= 0);
	units_bytes_text(whole, sizeof(whole), bytes, format, look);
	check_text(whole, sizeof(whole));
	units_rate_text(whole, sizeof(whole), bytes, ns, format, look);
	check_text(whole, sizeof(whole));
	units_rate_text(cut, sizeof(cut), bytes, ns, format, look);
	assert(memchr(cut, '\0', sizeof(cut)) != NULL);
	assert(strncmp(cut, whole, strlen(cut)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char word[WORD_MAX + 1] = "";

	memcpy(word, p, n < WORD_MAX ? n : WORD_MAX);
	check_whole(word, 0);
	check_whole(word, 1);
	check_rate(word);
	check_size(word);
	check_seconds(word);
	check_writers((struct fuzz){ p, n });
	return 0;
}
