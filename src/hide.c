/*
 * A text is taken apart into words that an address could be and the rest: a
 * word ends where a character stands that no address holds.
 */
#include "hide.h"

#include <stdbool.h>
#include <string.h>

#define V4_PARTS 4
#define V6_PARTS 8 /* of four digits at most */

/* What is left to write. */
struct place {
	char *at;
	size_t room; /* with the end of the text */
};

static void put(struct place *p, const char *text, size_t length)
{
	if (length >= p->room)
		length = p->room - 1;
	memcpy(p->at, text, length);
	p->at += length;
	p->room -= length;
	*p->at = '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* How many characters from text on an address could hold. */
static size_t word_length(const char *text)
{
	size_t n = 0;

	while (is_hex(text[n]) || text[n] == '.' || text[n] == ':')
		n++;
	/* what ends a sentence or names a port ends no address */
	while (n > 0 && (text[n - 1] == '.' ||
			 (text[n - 1] == ':' && (n < 2 || text[n - 2] != ':'))))
		n--;
	return n;
}

/* Are these four numbers, parted by points?  *last: where the fourth begins. */
static bool is_v4(const char *word, size_t length, size_t *last)
{
	size_t part = 1, digits = 0;

	for (size_t i = 0; i < length; i++) {
		if (is_digit(word[i]) && digits < 3) {
			digits++;
		} else if (word[i] == '.' && digits > 0) {
			part++;
			digits = 0;
			*last = i + 1;
		} else {
			return false;
		}
	}
	return part == V4_PARTS && digits > 0;
}

/* Are these groups of up to four hexadecimal digits, with one "::" or all
 * eight?  *last: where the last one begins; it may be an IPv4 address. */
static bool is_v6(const char *word, size_t length, size_t *last)
{
	size_t groups = 0, digits = 0, doubled = 0, v4;

	*last = 0;
	for (size_t i = 0; i < length; i++) {
		if (word[i] != ':')
			continue;
		groups += i > *last;
		digits = i - *last;
		if (digits > 4)
			return false;
		doubled += i > 0 && word[i - 1] == ':';
		*last = i + 1;
	}
	if (memchr(word + *last, '.', length - *last) != NULL) {
		groups += 2;
		if (!is_v4(word + *last, length - *last, &v4))
			return false;
	} else {
		groups += length > *last;
		if (length - *last > 4)
			return false;
	}
	return *last >= 2 &&
	       (doubled == 1 ? groups < V6_PARTS : groups == V6_PARTS);
}

static void put_word(struct place *p, const char *word, size_t length)
{
	size_t last = 0, tail = 0;

	if (is_v4(word, length, &last)) {
		put(p, "*.*.*.", 6);
	} else if (is_v6(word, length, &last)) {
		if (is_v4(word + last, length - last, &tail)) {
			put(p, "*:*:*:*:*:*:*.*.*.", 18);
			last += tail;
		} else {
			put(p, "*:*:*:*:*:*:*:", 14);
		}
	} else {
		last = 0;
	}
	put(p, word + last, length - last);
}

/* Is this the name, and not a part of a longer word? */
static bool is_name(const char *text, size_t at, const char *name,
		    size_t length)
{
	static const char inside[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
	char before = ' ';
	char after = ' ';

	if (length == 0 || strncmp(text + at, name, length) != 0)
		return false;
	if (at > 0)
		before = text[at - 1];
	if (text[at + length] != '\0')
		after = text[at + length];
	return strchr(inside, before) == NULL && strchr(inside, after) == NULL;
}

void hide_text(char *buf, size_t size, const char *text, const char *name)
{
	struct place p = { .at = buf, .room = size };
	size_t named = name != NULL ? strlen(name) : 0;
	size_t at = 0;

	buf[0] = '\0';
	while (text[at] != '\0') {
		size_t n = word_length(text + at);
		bool begins = at == 0 || !is_hex(text[at - 1]);

		if (is_name(text, at, name, named)) {
			put(&p, HIDE_NAME, strlen(HIDE_NAME));
			at += named;
		} else if (n > 1 && begins) {
			put_word(&p, text + at, n);
			at += n;
		} else {
			put(&p, text + at, 1);
			at++;
		}
	}
}
