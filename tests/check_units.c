/*
 * check_units: what texts are numbers, and how numbers look.
 */
#include "units.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define NSEC_PER_SEC 1000000000

static const struct {
	const char *text;
	uint64_t bps, pps;
} rates[] = {
	{ "0", 0, 0 },
	{ "1", 1, 0 },
	{ "1000", 1000, 0 },
	{ "010", 10, 0 },
	{ "10k", 10000, 0 },
	{ "10K", 10000, 0 },
	{ "500m", 500000000, 0 },
	{ "500M", 500000000, 0 },
	{ "9g", 9000000000, 0 },
	{ "9G", 9000000000, 0 },
	{ "1t", 1000000000000, 0 },
	{ "1T", 1000000000000, 0 },
	{ "1Ki", 1024, 0 },
	{ "1Mi", 1048576, 0 },
	{ "1mi", 1048576, 0 },
	{ "1Gi", 1073741824, 0 },
	{ "2Ti", 2199023255552, 0 },
	{ "10b", 10, 0 },
	{ "10Mb", 10000000, 0 },
	{ "10Mbit", 10000000, 0 },
	{ "10Mbps", 10000000, 0 },
	{ "10Mbit/s", 10000000, 0 },
	{ "10Mbits/s", 10000000, 0 },
	{ "10Mib", 10485760, 0 },
	{ "1.5M", 1500000, 0 },
	{ ".5k", 500, 0 },
	{ "2.", 2, 0 },
	{ "1e6", 1000000, 0 },
	{ "1E+3k", 1000000, 0 },
	{ "5e-1k", 500, 0 },
	{ "0.5", 1, 0 },
	{ "1.4", 1, 0 },
	{ "1.5", 2, 0 },
	{ "0.0", 0, 0 },
	{ "0e999", 0, 0 },
	{ "9007199254740993", 9007199254740993, 0 }, /* 2^53 + 1 */
	{ "9223372036854775807", INT64_MAX, 0 },
	{ "100pps", 0, 100 },
	{ "2kpps", 0, 2000 },
	{ "2Kpps", 0, 2000 },
	{ "2Kipps", 0, 2048 },
	{ "1.5Mpps", 0, 1500000 },
	{ "0pps", 0, 0 },
};

START_TEST(reads_rates)
{
	struct units_rate rate = { 7, 7 };

	ck_assert_int_eq(units_rate(rates[_i].text, &rate), 0);
	ck_assert_uint_eq(rate.bps, rates[_i].bps);
	ck_assert_uint_eq(rate.pps, rates[_i].pps);
}
END_TEST

static const struct {
	const char *text;
	uint64_t bytes;
} sizes[] = {
	{ "0", 0 },
	{ "1470", 1470 },
	{ "1470B", 1470 },
	{ "64k", 65536 },
	{ "64K", 65536 },
	{ "64KB", 65536 },
	{ "64kB", 65536 },
	{ "64Ki", 65536 },
	{ "64KiB", 65536 },
	{ "1m", 1048576 },
	{ "1M", 1048576 },
	{ "1g", 1073741824 },
	{ "1G", 1073741824 },
	{ "1t", 1099511627776 },
	{ "2TiB", 2199023255552 },
	{ "1.5K", 1536 },
	{ "1.5M", 1572864 },
	{ "0.1G", 107374182 }, /* 107374182.4 */
	{ "1.7", 2 },
	{ "1e5", 100000 },
	{ "9007199254740993", 9007199254740993 },
	{ "8796093022207K", 9007199254739968 },
	{ "9223372036854775807", INT64_MAX },
};

static const struct {
	const char *text;
	uint64_t bps;
} wire_rates[] = {
	{ "5", 5 },           { "5k", 5000 },       { "5K", 40000 },
	{ "2.5m", 2500000 },  { "2.5M", 20000000 }, { "1g", 1000000000 },
	{ "1G", 8000000000 },
};

START_TEST(case_tells_bits_from_bytes_of_wire_rates)
{
	uint64_t bps = 0;

	ck_assert_int_eq(units_wire_rate(wire_rates[_i].text, &bps), 0);
	ck_assert_uint_eq(bps, wire_rates[_i].bps);
}
END_TEST

START_TEST(wire_rates_have_one_letter)
{
	static const char *const bad[] = { "",   "k",    "5Ki", "5kb",
					   "5x", "5pps", "-5m" };
	uint64_t bps;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(units_wire_rate(bad[i], &bps), -EINVAL);
}
END_TEST

START_TEST(reads_sizes)
{
	uint64_t bytes = 7;

	ck_assert_int_eq(units_size(sizes[_i].text, &bytes), 0);
	ck_assert_uint_eq(bytes, sizes[_i].bytes);
}
END_TEST

/* Refused as a rate and as a size. */
static const struct {
	const char *text;
	int error;
} refused[] = {
	{ "", -EINVAL },
	{ "abc", -EINVAL },
	{ "K", -EINVAL },
	{ ".", -EINVAL },
	{ ".k", -EINVAL },
	{ "e5", -EINVAL },
	{ "10X", -EINVAL },
	{ "10i", -EINVAL },
	{ "10KK", -EINVAL },
	{ "10Kii", -EINVAL },
	{ "10M10", -EINVAL },
	{ "10M ", -EINVAL },
	{ "10 M", -EINVAL },
	{ " 10", -EINVAL },
	{ "10 ", -EINVAL },
	{ "10\n", -EINVAL },
	{ "-5", -EINVAL },
	{ "+5", -EINVAL },
	{ "0x10", -EINVAL },
	{ "nan", -EINVAL },
	{ "inf", -EINVAL },
	{ "infinity", -EINVAL },
	{ "1,5", -EINVAL },
	{ "1.2.3", -EINVAL },
	{ "1e", -EINVAL },
	{ "1e+", -EINVAL },
	{ "1m,100k", -EINVAL },
	{ "1e400", -ERANGE },
	{ "1e99999999999999999999", -ERANGE },
	{ "9223372036854775808", -ERANGE },
	{ "9223372036854775808.0", -ERANGE },
	{ "18446744073709551616", -ERANGE },
	{ "99999999999999999999999", -ERANGE },
	{ "9223372036854775807k", -ERANGE },
	{ "1e19", -ERANGE },
	{ "9.3e18", -ERANGE },
	/* 0 has a meaning of its own, so nothing else may become it */
	{ "0.3", -ERANGE },
	{ "1e-400", -ERANGE },
};

START_TEST(refuses_what_is_no_number)
{
	struct units_rate rate = { 7, 7 };
	uint64_t bytes = 7;

	ck_assert_int_eq(units_rate(refused[_i].text, &rate),
			 refused[_i].error);
	ck_assert_uint_eq(rate.bps, 7);
	ck_assert_int_eq(units_size(refused[_i].text, &bytes),
			 refused[_i].error);
	ck_assert_uint_eq(bytes, 7);
}
END_TEST

static const char *const not_rates[] = {
	"10B",    "10MB",    "10MBps",   "10MiB", "10KBytes",
	"10PPS",  "10 pps",  "10ppsx",   "pps",   "10Mbits/sec",
	"10MBIT", "10Mbpps", "10Mbit/h",
};

START_TEST(never_guesses_a_rate_from_bytes_or_other_words)
{
	struct units_rate rate;

	ck_assert_int_eq(units_rate(not_rates[_i], &rate), -EINVAL);
}
END_TEST

static const char *const not_sizes[] = {
	"64Kb", "64bit", "64Kbps", "64pps", "64BK", "64KBB",
};

START_TEST(never_guesses_a_size_from_bits_or_other_words)
{
	uint64_t bytes;

	ck_assert_int_eq(units_size(not_sizes[_i], &bytes), -EINVAL);
}
END_TEST

static const struct {
	const char *text;
	int rc;
	int64_t ns;
} seconds[] = {
	{ "0", 0, 0 },
	{ "10", 0, 10000000000 },
	{ "0.1", 0, 100000000 },
	{ "1.000000001", 0, 1000000001 },
	{ "1e-3", 0, 1000000 },
	{ "9223372036", 0, 9223372036000000000 },
	{ "9223372037", -ERANGE, 7 },
	{ "1e-12", -ERANGE, 7 },
	{ "1e400", -ERANGE, 7 },
	{ "", -EINVAL, 7 },
	{ "abc", -EINVAL, 7 },
	{ "-1", -EINVAL, 7 },
	{ "1x", -EINVAL, 7 },
	{ "1s", -EINVAL, 7 },
	{ "1k", -EINVAL, 7 },
	{ "nan", -EINVAL, 7 },
	{ " 1", -EINVAL, 7 },
};

START_TEST(reads_seconds)
{
	int64_t ns = 7;

	ck_assert_int_eq(units_seconds(seconds[_i].text, &ns), seconds[_i].rc);
	ck_assert_int_eq(ns, seconds[_i].ns);
}
END_TEST

static const struct {
	const char *text;
	int any_base, rc;
	int64_t value;
} wholes[] = {
	{ "0", 0, 0, 0 },
	{ "5001", 0, 0, 5001 },
	{ "010", 0, 0, 10 },
	{ "-1", 0, 0, -1 },
	{ "9223372036854775807", 0, 0, INT64_MAX },
	{ "-9223372036854775808", 0, 0, INT64_MIN },
	{ "9223372036854775808", 0, -ERANGE, 7 },
	{ "0", 1, 0, 0 },
	{ "10", 1, 0, 10 },
	{ "010", 1, 0, 8 },
	{ "0x10", 1, 0, 16 },
	{ "0XfF", 1, 0, 255 },
	{ "0x10000000000000000", 1, -ERANGE, 7 },
	{ "0x10", 0, -EINVAL, 7 },
	{ "08", 1, -EINVAL, 7 },
	{ "0b1", 1, -EINVAL, 7 },
	{ "0x", 1, -EINVAL, 7 },
	{ "0xg", 1, -EINVAL, 7 },
	{ "", 0, -EINVAL, 7 },
	{ "-", 0, -EINVAL, 7 },
	{ "--1", 0, -EINVAL, 7 },
	{ "+1", 0, -EINVAL, 7 },
	{ " 1", 0, -EINVAL, 7 },
	{ "1 ", 0, -EINVAL, 7 },
	{ "- 1", 0, -EINVAL, 7 },
	{ "1.0", 0, -EINVAL, 7 },
	{ "1e3", 0, -EINVAL, 7 },
	{ "5k", 0, -EINVAL, 7 },
	{ "abc", 0, -EINVAL, 7 },
};

START_TEST(reads_whole_numbers)
{
	int64_t value = 7;

	ck_assert_int_eq(
		units_whole(wholes[_i].text, wholes[_i].any_base, &value),
		wholes[_i].rc);
	ck_assert_int_eq(value, wholes[_i].value);
}
END_TEST

/* x Gbit/s as the bytes of one second, and its text in each generation */
static const struct {
	uint64_t bytes;
	const char *g1, *g1h, *g2;
} widths[] = {
	{ 0, "0.00 Gbit", "0.00 Gbit", "0.000 Gbit" },
	{ 500000, "0.00 Gbit", "0.00 Gbit", "0.004 Gbit" },
	{ 62500000, "0.50 Gbit", "0.50 Gbit", "0.500 Gbit" },
	{ 124925000, "1.00 Gbit", "1.00 Gbit", "0.999 Gbit" }, /* 0.9994 */
	{ 124950000, "1.00 Gbit", "1.00 Gbit", "1.00 Gbit" },  /* 0.9996 */
	{ 125000000, "1.00 Gbit", "1.00 Gbit", "1.00 Gbit" },
	{ 1249250000, "9.99 Gbit", "9.99 Gbit", "9.99 Gbit" },   /* 9.994 */
	{ 1249500000, "10.0 Gbit", "10.0 Gbit", "10.0 Gbit" },   /* 9.996 */
	{ 12492500000, "99.9 Gbit", "99.9 Gbit", "99.9 Gbit" },  /* 99.94 */
	{ 12495000000, "  100 Gbit", " 100 Gbit", " 100 Gbit" }, /* 99.96 */
	{ 12500000000, "  100 Gbit", " 100 Gbit", " 100 Gbit" },
	{ 124925000000, "  999 Gbit", " 999 Gbit", " 999 Gbit" }, /* 999.4 */
	{ 124950000000, "1000 Gbit", "1000 Gbit", "1000 Gbit" },  /* 999.6 */
	{ 127875000000, "1023 Gbit", "1023 Gbit", "1023 Gbit" },
	{ 12500000000000, "100000 Gbit", "100000 Gbit", "100000 Gbit" },
};

static void assert_rate(uint64_t bytes, int64_t ns, char format,
			enum units_look look, const char *text)
{
	char buf[64];

	units_rate_text(buf, sizeof(buf), bytes, ns, format, look);
	ck_assert_str_eq(buf, text);
}

static void assert_bytes(uint64_t bytes, char format, enum units_look look,
			 const char *text)
{
	char buf[64];

	units_bytes_text(buf, sizeof(buf), bytes, format, look);
	ck_assert_str_eq(buf, text);
}

START_TEST(shows_three_digits_as_each_generation_does)
{
	uint64_t bytes = widths[_i].bytes;

	assert_rate(bytes, NSEC_PER_SEC, 'g', UNITS_G1, widths[_i].g1);
	assert_rate(bytes, NSEC_PER_SEC, 'g', UNITS_G1H, widths[_i].g1h);
	assert_rate(bytes, NSEC_PER_SEC, 'g', UNITS_G2, widths[_i].g2);
}
END_TEST

/* Rows seen from 2.0.2 and 2.1.8 */
static const struct {
	char format;
	enum units_look look;
	uint64_t bytes;
	int64_t ns;
	const char *transfer, *rate;
} samples[] = {
	{ 'k', UNITS_G1, 1048576, 164000, "1024 KByte", "51150049 Kbit" },
	{ 'm', UNITS_G2, 1048576, 16480000, "1.00 MByte", " 509 Mbit" },
	{ 'g', UNITS_G2, 1048576, 16288000, "0.001 GByte", "0.515 Gbit" },
	{ 'g', UNITS_G1, 1048576, 172000, "0.00 GByte", "48.8 Gbit" },
	{ 't', UNITS_G2, 1048576, 16800000, "0.000 TByte", "0.000 Tbit" },
	{ 'p', UNITS_G2, 1048576, 17100000, "0.000 PByte", "0.000 Pbit" },
	{ 'K', UNITS_G2, 1048576, 16509000, "1024 KByte", "62027 KByte" },
	{ 'M', UNITS_G2, 1048576, 16600000, "1.00 MByte", "60.2 MByte" },
	{ 'G', UNITS_G2, 1048576, 16200000, "0.001 GByte", "0.060 GByte" },
	{ 'T', UNITS_G2, 1048576, 16600000, "0.000 TByte", "0.000 TByte" },
	{ 'P', UNITS_G2, 1048576, 17000000, "0.000 PByte", "0.000 PByte" },
	{ 'b', UNITS_G2, 1048576, 16528000, "1048576 Byte", "507539206 bit" },
	{ 'B', UNITS_G2, 1048576, 16742000, "1048576 Byte", "62631466 Byte" },
	{ 'A', UNITS_G2, 1048576, 16129000, "1.00 MByte", "62.0 MByte" },
	{ 'a', UNITS_G2, 1048576, 16400000, "1.00 MByte", " 512 Mbit" },
	{ 'a', UNITS_G2, 1023, 16736000, "1023 Byte", " 489 Kbit" },
	{ 'a', UNITS_G2, 1024000, 16549000, "1000 KByte", " 495 Mbit" },
	{ 'a', UNITS_G1, 135266304, 5000000000, "  129 MByte", "  216 Mbit" },
	{ 'a', UNITS_G1H, 94580890, 5000000000, "90.2 MByte", " 151 Mbit" },
	{ 'a', UNITS_G1, 94580890, 5000000000, "90.2 MByte", "  151 Mbit" },
};

START_TEST(shows_rows_as_iperf_does)
{
	assert_bytes(samples[_i].bytes, samples[_i].format, samples[_i].look,
		     samples[_i].transfer);
	assert_rate(samples[_i].bytes, samples[_i].ns, samples[_i].format,
		    samples[_i].look, samples[_i].rate);
}
END_TEST

static const struct {
	uint64_t bytes;
	const char *g1, *g1h, *g2;
} adaptive[] = {
	{ 0, "0.00 Byte", "0.00 Byte", "0.000 Byte" },
	{ 1, "1.00 Byte", "1.00 Byte", "1.00 Byte" },
	{ 500, "  500 Byte", " 500 Byte", " 500 Byte" },
	{ 1024, "1.00 KByte", "1.00 KByte", "1.00 KByte" },
	{ 1048575, "1024 KByte", "1024 KByte", "1024 KByte" },
	{ 1048576, "1.00 MByte", "1.00 MByte", "1.00 MByte" },
	{ 1ULL << 30, "1.00 GByte", "1.00 GByte", "1.00 GByte" },
	{ 5ULL << 40, "5120 GByte", "5120 GByte", "5.00 TByte" },
	{ 3ULL << 50, "3145728 GByte", "3145728 GByte", "3.00 PByte" },
	{ 2ULL << 60, "2147483648 GByte", "2147483648 GByte", "2048 PByte" },
};

START_TEST(adaptive_units_end_where_the_generation_ends)
{
	assert_bytes(adaptive[_i].bytes, 'a', UNITS_G1, adaptive[_i].g1);
	assert_bytes(adaptive[_i].bytes, 'a', UNITS_G1H, adaptive[_i].g1h);
	assert_bytes(adaptive[_i].bytes, 'a', UNITS_G2, adaptive[_i].g2);
	/* the letter's case decides about the rate column only */
	assert_bytes(adaptive[_i].bytes, 'A', UNITS_G2, adaptive[_i].g2);
}
END_TEST

START_TEST(adaptive_bits_step_at_thousands)
{
	assert_rate(125, NSEC_PER_SEC, 'a', UNITS_G1H, "1.00 Kbit");
	assert_rate(124999, NSEC_PER_SEC, 'a', UNITS_G1H, "1000 Kbit");
	assert_rate(125000, NSEC_PER_SEC, 'a', UNITS_G1H, "1.00 Mbit");
	assert_rate(250000000000, NSEC_PER_SEC, 'a', UNITS_G1H, "2000 Gbit");
	assert_rate(250000000000, NSEC_PER_SEC, 'a', UNITS_G2, "2.00 Tbit");
}
END_TEST

START_TEST(unknown_format_is_adaptive)
{
	assert_bytes(1048576, 'z', UNITS_G2, "1.00 MByte");
	assert_bytes(1048576, '\0', UNITS_G2, "1.00 MByte");
	assert_rate(125000, NSEC_PER_SEC, 'z', UNITS_G2, "1.00 Mbit");
	assert_rate(125000, NSEC_PER_SEC, '\0', UNITS_G2, "1.00 Mbit");
}
END_TEST

START_TEST(no_time_is_a_rate_of_zero)
{
	assert_rate(1000, 0, 'a', UNITS_G1H, "0.00 bit");
	assert_rate(1000, -1, 'a', UNITS_G2, "0.000 bit");
	ck_assert_double_eq(units_bps(1000, 0), 0);
	ck_assert_double_eq(units_bps(1000, -5), 0);
	ck_assert_double_eq(units_bps(1000, NSEC_PER_SEC), 8000);
	ck_assert_double_eq(units_bps(125000, NSEC_PER_SEC / 2), 2000000);
	ck_assert_double_eq(units_pps(1000, 0), 0);
	ck_assert_double_eq(units_pps(1000, -5), 0);
	ck_assert_double_eq(units_pps(1000, NSEC_PER_SEC), 1000);
	ck_assert_double_eq(units_pps(1000, NSEC_PER_SEC / 2), 2000);
}
END_TEST

START_TEST(a_short_buffer_cuts_the_text)
{
	char buf[5] = "....";

	units_bytes_text(buf, sizeof(buf), 1048576, 'a', UNITS_G2);
	ck_assert_str_eq(buf, "1.00");
}
END_TEST

static Suite *units_suite(void)
{
	Suite *s = suite_create("units");
	TCase *readers = tcase_create("readers");
	TCase *writers = tcase_create("writers");

	tcase_add_loop_test(readers, reads_rates, 0, COUNT(rates));
	tcase_add_loop_test(readers, case_tells_bits_from_bytes_of_wire_rates,
			    0, sizeof(wire_rates) / sizeof(wire_rates[0]));
	tcase_add_test(readers, wire_rates_have_one_letter);
	tcase_add_loop_test(readers, reads_sizes, 0, COUNT(sizes));
	tcase_add_loop_test(readers, refuses_what_is_no_number, 0,
			    COUNT(refused));
	tcase_add_loop_test(readers,
			    never_guesses_a_rate_from_bytes_or_other_words, 0,
			    COUNT(not_rates));
	tcase_add_loop_test(readers,
			    never_guesses_a_size_from_bits_or_other_words, 0,
			    COUNT(not_sizes));
	tcase_add_loop_test(readers, reads_seconds, 0, COUNT(seconds));
	tcase_add_loop_test(readers, reads_whole_numbers, 0, COUNT(wholes));
	tcase_add_loop_test(writers, shows_three_digits_as_each_generation_does,
			    0, COUNT(widths));
	tcase_add_loop_test(writers, shows_rows_as_iperf_does, 0,
			    COUNT(samples));
	tcase_add_loop_test(writers,
			    adaptive_units_end_where_the_generation_ends, 0,
			    COUNT(adaptive));
	tcase_add_test(writers, adaptive_bits_step_at_thousands);
	tcase_add_test(writers, unknown_format_is_adaptive);
	tcase_add_test(writers, no_time_is_a_rate_of_zero);
	tcase_add_test(writers, a_short_buffer_cuts_the_text);
	suite_add_tcase(s, readers);
	suite_add_tcase(s, writers);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(units_suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
