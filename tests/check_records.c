/*
 * check_records: streams of records, cut anywhere, and streams of anything.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../src/records.h"

#define SENT INT64_C(1796077405305245000)

/* Three records of 100, 92 and 1000 bytes, a millisecond apart. */
static const uint32_t sizes[] = { 100, 92, 1000 };
static uint8_t stream[1192];

static void setup(void)
{
	size_t at = 0;

	memset(stream, 0xa5, sizeof(stream));
	for (uint32_t i = 0; i < 3; i++) {
		const struct wire_record r = {
			.start_ns = SENT,
			.sent_ns = SENT + i * INT64_C(1000000),
			.id = i + 1,
			.bytes = sizes[i],
			.before = at,
		};

		wire_record_encode(stream + at, &r);
		at += sizes[i];
	}
	ck_assert_uint_eq(at, sizeof(stream));
}

/* In pieces of _i bytes each record ends once, with its own stamp. */
START_TEST(records_end_however_they_are_cut)
{
	struct records r = { .have = 0 };
	uint32_t ended = 0;

	for (size_t at = 0; at < sizeof(stream);) {
		size_t left = sizeof(stream) - at;
		bool done;
		size_t n = records_take(&r, stream + at,
					left < (size_t)_i ? left : (size_t)_i,
					&done);

		ck_assert_uint_gt(n, 0);
		at += n;
		if (!done)
			continue;
		ck_assert_uint_lt(ended, 3);
		ck_assert_uint_eq(r.now.id, ended + 1);
		ck_assert_uint_eq(r.now.bytes, sizes[ended]);
		ck_assert_int_eq(r.now.sent_ns,
				 SENT + ended * INT64_C(1000000));
		ended++;
	}
	ck_assert_uint_eq(ended, 3);
	ck_assert(!r.broken);
}
END_TEST

START_TEST(what_is_no_record_ends_nothing)
{
	static const uint32_t bad[] = { 0, 91, 0x80000000u, 0xffffffffu };
	bool done;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct records r = { .have = 0 };

		for (size_t byte = 0; byte < 4; byte++)
			stream[48 + byte] =
				(uint8_t)(bad[i] >> (24 - 8 * byte));
		ck_assert_uint_eq(
			records_take(&r, stream, sizeof(stream), &done),
			sizeof(stream));
		ck_assert(!done);
		ck_assert(r.broken);
		ck_assert_uint_eq(records_take(&r, stream, 7, &done), 7);
		ck_assert(!done);
	}
}
END_TEST

/* The first record of 2.1.8 as captured: 8192 bytes, written 13 us after the
 * test began. */
START_TEST(reads_a_record_of_2_1_8)
{
	static const uint8_t head[WIRE_RECORD_BYTES] = {
		[12] = 0x6b, 0x0d,        0xf7,        0x60,        0x00,
		0x04,        0xaa,        0xda,        [20] = 0x6b, 0x0d,
		0xf7,        0x60,        0x00,        0x04,        0xaa,
		0xe7,        [47] = 0x01, [50] = 0x20, [54] = 0x20, [55] = 0x02,
	};
	struct wire_record r;

	ck_assert_int_eq(wire_record_decode(head, &r), 0);
	ck_assert_int_eq(r.sent_ns - r.start_ns, 13000);
	ck_assert_uint_eq(r.id, 1);
	ck_assert_uint_eq(r.bytes, 8192);
	ck_assert_uint_eq(r.before, 8194);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *t = tcase_create("records");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, records_end_however_they_are_cut, 1, 301);
	tcase_add_test(t, what_is_no_record_ends_nothing);
	tcase_add_test(t, reads_a_record_of_2_1_8);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
