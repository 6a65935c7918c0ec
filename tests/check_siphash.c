/*
 * check_siphash: the worked example of the paper, and some of the vectors that
 * its authors publish with it: key 00 01 .. 0f, message 00 01 .. n-1.
 */
#include <stdlib.h>

#include <check.h>

#include "siphash.h"

static const struct {
	size_t n;
	uint64_t hash;
} vectors[] = {
	{ 0, UINT64_C(0x726fdb47dd0e0e31) },
	{ 1, UINT64_C(0x74f839c593dc67fd) },
	{ 8, UINT64_C(0x93f5f5799a932462) },
	{ 15, UINT64_C(0xa129ca6149be45e5) },
};

START_TEST(hashes_are_the_published_ones)
{
	uint8_t key[SIPHASH_KEY_BYTES];
	uint8_t message[16];

	for (uint8_t i = 0; i < 16; i++)
		key[i] = message[i] = i;
	ck_assert_uint_eq(siphash(key, message, vectors[_i].n),
			  vectors[_i].hash);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("siphash");
	TCase *tc = tcase_create("siphash");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, hashes_are_the_published_ones, 0,
			    (int)(sizeof(vectors) / sizeof(vectors[0])));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
