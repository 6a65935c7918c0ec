/*
 * check_hide: texts with addresses and names, and what is left of them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../src/hide.h"

#define V6 "*:*:*:*:*:*:*:"

static const struct {
	const char *text;
	const char *name;
	const char *hidden;
} texts[] = {
	{ "", NULL, "" },
	{ "127.0.0.1", NULL, "*.*.*.1" },
	{ "10.77.0.255", "", "*.*.*.255" },
	{ "::1", NULL, V6 "1" },
	{ "::", NULL, V6 },
	{ "fd77::2", NULL, V6 "2" },
	{ "fe80::1%eth0", NULL, V6 "1%eth0" },
	{ "2001:db8:1:2:3:4:5:6", NULL, V6 "6" },
	{ "::ffff:192.0.2.7", NULL, "*:*:*:*:*:*:*.*.*.7" },
	{ "[fd77::2]:5001", NULL, "[" V6 "2]:5001" },
	{ "10.0.0.1 port 5001 refused: no", NULL,
	  "*.*.*.1 port 5001 refused: no" },
	{ "from 10.0.0.1.", NULL, "from *.*.*.1." },
	{ "10.0.0.1: gone", NULL, "*.*.*.1: gone" },
	{ "connect to h.example port 1: refused", "h.example",
	  "connect to (**hidden**) port 1: refused" },
	{ "connect to 10.0.0.1 port 1", "10.0.0.1",
	  "connect to (**hidden**) port 1" },
	{ "h: hide the h, not the rest", "h",
	  "(**hidden**): hide the (**hidden**), not the rest" },
	/* no addresses */
	{ "version 2.1.8, 10.5 of 1.2.3.4.5", NULL,
	  "version 2.1.8, 10.5 of 1.2.3.4.5" },
	{ "at 12:34:56 a bad face: be fed 5", NULL,
	  "at 12:34:56 a bad face: be fed 5" },
	{ "1:2:3:4:5:6:7:8:9 abcde::1 1::2::3", NULL,
	  "1:2:3:4:5:6:7:8:9 abcde::1 1::2::3" },
};

START_TEST(hides_addresses_and_the_name)
{
	char buf[128];

	hide_text(buf, sizeof(buf), texts[_i].text, texts[_i].name);
	ck_assert_str_eq(buf, texts[_i].hidden);
}
END_TEST

START_TEST(cuts_what_does_not_fit)
{
	char buf[8];

	hide_text(buf, sizeof(buf), "x 10.0.0.1", NULL);
	ck_assert_str_eq(buf, "x *.*.*");
	hide_text(buf, 1, "x", NULL);
	ck_assert_str_eq(buf, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hide");
	TCase *t = tcase_create("hide");
	int failed;

	tcase_add_loop_test(t, hides_addresses_and_the_name, 0,
			    (int)(sizeof(texts) / sizeof(texts[0])));
	tcase_add_test(t, cuts_what_does_not_fit);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
