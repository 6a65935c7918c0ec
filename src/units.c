#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000
#define DIGITS "0123456789"

/* A number as it stands in the text: its form is known, its value not yet. */
struct numeral {
	const char *start;
	const char *end; /* the first character behind it */
	bool whole;      /* digits only: no point, no exponent */
};

static const char *skip_digits(const char *s)
{
	return s + strspn(s, DIGITS);
}

/* Behind an exponent; at s when there is none, or one without a digit. */
static const char *skip_exponent(const char *s)
{
	if (*s != 'e' && *s != 'E')
		return s;
	const char *digits = s + 1;
	if (*digits == '+' || *digits == '-')
		digits++;
	const char *end = skip_digits(digits);
	return end > digits ? end : s;
}

/* Plain decimals only; strtod alone would take signs, blanks, hex and nan. */
static int scan_numeral(const char *text, struct numeral *num)
{
	const char *whole_end = skip_digits(text);
	const char *end = whole_end;
	size_t digits = (size_t)(whole_end - text);

	if (*end == '.') {
		end = skip_digits(whole_end + 1);
		digits += (size_t)(end - whole_end - 1);
	}
	if (digits == 0)
		return -EINVAL;
	end = skip_exponent(end);
	*num = (struct numeral){ text, end, end == whole_end };
	return 0;
}

/* Exact over the whole range, where a double has 53 bits. */
static int whole_times(const struct numeral *num, uint64_t factor,
		       uint64_t *value)
{
	uint64_t n = 0;

	for (const char *s = num->start; s < num->end; s++) {
		uint64_t digit = (uint64_t)(*s - '0');
		if (n > (INT64_MAX - digit) / 10)
			return -ERANGE;
		n = n * 10 + digit;
	}
	if (n > INT64_MAX / factor)
		return -ERANGE;
	*value = n * factor;
	return 0;
}

/* To the nearest; what is not 0 must not become 0, which means "no limit". */
static int fraction_times(const struct numeral *num, uint64_t factor,
			  uint64_t *value)
{
	errno = 0;
	double v = strtod(num->start, NULL) * (double)factor;
	if (errno == ERANGE || v >= 0x1p63)
		return -ERANGE;
	uint64_t n = (uint64_t)v;
	if (v - (double)n >= 0.5)
		n++;
	if (n == 0 && v > 0)
		return -ERANGE;
	*value = n;
	return 0;
}

/* The number times factor, at most INT64_MAX. */
static int numeral_times(const struct numeral *num, uint64_t factor,
			 uint64_t *value)
{
	if (num->whole)
		return whole_times(num, factor, value);
	return fraction_times(num, factor, value);
}

/* Reads k, m, g or t of either case, with "i" for powers of two; returns what
 * follows.  step is what k stands for. */
static const char *scan_prefix(const char *s, uint64_t step, uint64_t *factor)
{
	static const char letters[] = "kmgt";
	const char *at = NULL;

	*factor = 1;
	if (*s != '\0')
		at = strchr(letters, tolower((unsigned char)*s));
	if (at == NULL)
		return s;
	s++;
	if (*s == 'i') {
		step = 1024;
		s++;
	}
	for (const char *l = letters; l <= at; l++)
		*factor *= step;
	return s;
}

static bool is_bit_word(const char *s)
{
	static const char *const words[] = { "",    "b",     "bit",
					     "bps", "bit/s", "bits/s" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(s, words[i]) == 0)
			return true;
	}
	return false;
}

int units_rate(const char *text, struct units_rate *rate)
{
	struct numeral num;
	uint64_t factor, value;
	int rc = scan_numeral(text, &num);

	if (rc < 0)
		return rc;
	const char *word = scan_prefix(num.end, 1000, &factor);
	bool datagrams = strcmp(word, "pps") == 0;
	if (!datagrams && !is_bit_word(word))
		return -EINVAL;
	rc = numeral_times(&num, factor, &value);
	if (rc < 0)
		return rc;
	*rate = (struct units_rate){ 0 };
	if (datagrams)
		rate->pps = value;
	else
		rate->bps = value;
	return 0;
}

int units_wire_rate(const char *text, uint64_t *bps)
{
	static const char letters[] = "kmgKMG";
	struct numeral num;
	uint64_t factor = 1;
	int rc = scan_numeral(text, &num);

	if (rc < 0)
		return rc;
	if (*num.end != '\0') {
		const char *at = strchr(letters, *num.end);

		if (at == NULL || num.end[1] != '\0')
			return -EINVAL;
		for (long step = (at - letters) % 3; step >= 0; step--)
			factor *= 1000;
		if (at - letters >= 3)
			factor *= 8;
	}
	return numeral_times(&num, factor, bps);
}

int units_size(const char *text, uint64_t *bytes)
{
	struct numeral num;
	uint64_t factor;
	int rc = scan_numeral(text, &num);

	if (rc < 0)
		return rc;
	const char *word = scan_prefix(num.end, 1024, &factor);
	if (*word != '\0' && strcmp(word, "B") != 0)
		return -EINVAL;
	return numeral_times(&num, factor, bytes);
}

int units_seconds(const char *text, int64_t *ns)
{
	struct numeral num;
	uint64_t value;
	int rc = scan_numeral(text, &num);

	if (rc < 0)
		return rc;
	if (*num.end != '\0')
		return -EINVAL;
	rc = numeral_times(&num, NSEC_PER_SEC, &value);
	if (rc == 0)
		*ns = (int64_t)value;
	return rc;
}

/* As in C: 0x for 16, a leading 0 for 8. */
static int base_of(const char *digits)
{
	if (digits[0] != '0')
		return 10;
	return digits[1] == 'x' || digits[1] == 'X' ? 16 : 8;
}

int units_whole(const char *text, int any_base, int64_t *value)
{
	const char *digits = *text == '-' ? text + 1 : text;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	long long n = strtoll(text, &end, any_base ? base_of(digits) : 10);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*value = n;
	return 0;
}

/* The units of one column, each divisor times the one before. */
struct ladder {
	double divisor;
	const char *words[6];
};

static const struct ladder byte_ladder = {
	1024, { "Byte", "KByte", "MByte", "GByte", "TByte", "PByte" }
};
static const struct ladder bit_ladder = {
	1000, { "bit", "Kbit", "Mbit", "Gbit", "Tbit", "Pbit" }
};

#define ADAPTIVE (-1)

/* The rung of the ladder that a letter of -f asks for. */
static int rung_of(char format)
{
	static const char letters[] = "bkmgtp";
	const char *at = NULL;

	if (format != '\0')
		at = strchr(letters, tolower((unsigned char)format));
	return at == NULL ? ADAPTIVE : (int)(at - letters);
}

/* Three significant digits, as far as four columns hold them. */
static int decimals_of(double value, enum units_look look)
{
	if (value < 0.9995 && look == UNITS_G2)
		return 3;
	if (value < 9.995)
		return 2;
	return value < 99.95 ? 1 : 0;
}

/* The blank that iperf 2.0.2 puts before values from 100 to 999. */
static const char *blank_of(double value, enum units_look look)
{
	return look == UNITS_G1 && value >= 99.95 && value < 999.5 ? " " : "";
}

static void value_text(char *buf, size_t size, double value,
		       const struct ladder *ladder, char format,
		       enum units_look look)
{
	int wanted = rung_of(format);
	int top = look == UNITS_G2 ? 5 : 3; /* where adaptive values end */
	int rung = 0;

	while (wanted == ADAPTIVE ? rung < top && value >= ladder->divisor
				  : rung < wanted) {
		value /= ladder->divisor;
		rung++;
	}
	snprintf(buf, size, "%s%4.*f %s", blank_of(value, look),
		 decimals_of(value, look), value, ladder->words[rung]);
}

void units_bytes_text(char *buf, size_t size, uint64_t bytes, char format,
		      enum units_look look)
{
	value_text(buf, size, (double)bytes, &byte_ladder, format, look);
}

void units_rate_text(char *buf, size_t size, uint64_t bytes, int64_t ns,
		     char format, enum units_look look)
{
	double bps = units_bps(bytes, ns);

	if (isupper((unsigned char)format))
		value_text(buf, size, bps / 8, &byte_ladder, format, look);
	else
		value_text(buf, size, bps, &bit_ladder, format, look);
}

double units_bps(uint64_t bytes, int64_t ns)
{
	if (ns <= 0)
		return 0;
	return (double)bytes * 8 * NSEC_PER_SEC / (double)ns;
}

double units_pps(uint64_t packets, int64_t ns)
{
	return ns > 0 ? (double)packets * NSEC_PER_SEC / (double)ns : 0;
}
