/*
 * check_abread: an experiment that was written as JSON makes the same result
 * again; files that are wrong are refused with their line.
 */
#include "abread.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct abresult result;
static char why[ABREAD_WHY_BYTES];

static void make(void)
{
	result = (struct abresult){
		.setup = { .test = "TCP to \"<host>\" port 5001, 1 s",
			   .rounds = 3,
			   .warmup = 1,
			   .seed = 7,
			   .confidence = 0.99,
			   .margin_percent = 0.5 },
	};
	ck_assert_int_eq(abresult_add_arm(&result, "off", "a \"b\"\\\n<\t>"),
			 0);
	ck_assert_int_eq(abresult_add_arm(&result, "on", ""), 0);
	for (uint32_t i = 0; i < 7; i++) {
		struct abresult_run run = {
			.round = i / 2,
			.arm = i % 2,
			.place = i % 2,
			.counted = i < 6,
			.marks = i == 6 ? ABRESULT_BUSY | ABRESULT_SHORT : 0,
			.busy_ns = i * 1000000,
			.wall_ns = INT64_C(1796105489033421662),
		};

		abresult_set(&run, ABRESULT_RATE, 1e9 / (3 + i));
		abresult_set(&run, ABRESULT_LOSS, 1.0 / (1 + i));
		if (i == 3)
			run.shown = strdup("busy \"x\" \xc3\xa9 \xff");
		ck_assert_int_eq(abresult_add(&result, &run), 0);
	}
}

/* All events, as JSON or as text. */
static char *written(const struct out_experiment *e)
{
	char *text;
	size_t n;
	struct out o = { .file = open_memstream(&text, &n) };
	struct out_progress p = { .left_ns = -1 };
	size_t runs = result.n_runs;

	ck_assert_ptr_nonnull(o.file);
	e->start(&o, &result);
	for (result.n_runs = 1; result.n_runs <= runs; result.n_runs++)
		e->run(&o, &result, &p);
	result.n_runs = runs;
	e->summary(&o, &result);
	fclose(o.file);
	return text;
}

START_TEST(makes_the_same_result_again)
{
	make();

	char *json = written(&out_json_arms);
	char *text = written(&out_arms);

	abresult_free(&result);
	ck_assert(abread_is_json(json, strlen(json)));
	ck_assert_msg(abread_json(&result, json, strlen(json), why) == 0, "%s",
		      why);
	ck_assert_str_eq(result.setup.arm[0].command, "a \"b\"\\\n<\t>");
	ck_assert_str_eq(result.run[3].shown,
			 "busy \"x\" \xc3\xa9 \xef\xbf\xbd");
	ck_assert_uint_eq(result.run[6].marks, ABRESULT_BUSY | ABRESULT_SHORT);

	char *again = written(&out_arms);

	ck_assert_ptr_nonnull(strstr(text, "\nTest: TCP to \"<host>\" port "));
	ck_assert_str_eq(again, text);
	free(again);
	free(text);
	/* the same file again is none more */
	ck_assert_int_eq(abread_json(&result, json, strlen(json), why),
			 -EINVAL);
	ck_assert_str_eq(why, "line 2: a run that another file has too");
	/* a second file: its rounds follow */
	result.setup.rounds = 3;
	for (size_t i = 0; i < result.n_runs; i++)
		result.run[i].wall_ns -= 1000000000;
	ck_assert_msg(abread_json(&result, json, strlen(json), why) == 0, "%s",
		      why);
	ck_assert_uint_eq(abresult_rounds(&result), 6);
	ck_assert_uint_eq(result.setup.rounds, 6);
	free(json);
	abresult_free(&result);
}
END_TEST

#define START                                                                  \
	"{\"event\":\"start\",\"role\":\"experiment\",\"arms\":["              \
	"{\"label\":\"a\",\"command\":\"\"},{\"label\":\"b\"}],"               \
	"\"confidence_percent\":95}\n"

static const struct {
	const char *text;
	const char *why;
} wrong[] = {
	{ "", "no experiment in it" },
	{ "{", "line 1: not a whole object of JSON" },
	{ "{}", "line 1: an object without an event" },
	{ "{\"event\":1e5}", "line 1: not a whole object of JSON" },
	{ "{\"event\":\"x\"} ", "line 1: not a whole object of JSON" },
	{ "{\"event\":\"\\x\"}", "line 1: not a whole object of JSON" },
	{ "{\"event\":[[[[[[[[[]]]]]]]]]}",
	  "line 1: not a whole object of JSON" },
	{ "{\"event\":\"start\",\"role\":\"client\"}",
	  "line 1: a test alone, and no experiment" },
	{ "{\"event\":\"start\",\"role\":\"experiment\"}", "line 1: no arms" },
	{ "{\"event\":\"start\",\"role\":\"experiment\",\"arms\":[{\"label\":"
	  "\"a\"}],\"confidence_percent\":95}",
	  "line 1: not 2 to 8 arms, each with a label of its own" },
	{ "{\"event\":\"start\",\"role\":\"experiment\",\"arms\":[{\"label\":"
	  "\"a\"},{\"label\":\"a\"}],\"confidence_percent\":95}",
	  "line 1: not 2 to 8 arms, each with a label of its own" },
	{ "{\"event\":\"start\",\"role\":\"experiment\",\"arms\":[7],"
	  "\"confidence_percent\":95}",
	  "line 1: an arm without a label" },
	{ "{\"event\":\"start\",\"role\":\"experiment\",\"arms\":[],"
	  "\"confidence_percent\":9}",
	  "line 1: confidence_percent is not 50 to 99.9999" },
	{ START START, "line 2: a second start" },
	{ "{\"event\":\"run\"}", "line 1: a run before the start" },
	{ START "{\"event\":\"run\",\"arm\":\"c\"}",
	  "line 2: a run of no arm" },
	{ START "{\"event\":\"run\",\"arm\":\"b\",\"round\":10001}",
	  "line 2: a run without a round, or one too many" },
	{ START "{\"event\":\"run\",\"arm\":\"b\",\"round\":1}",
	  "line 2: a run that does not say whether it counts" },
};

START_TEST(refuses_what_is_wrong)
{
	result = (struct abresult){ .n_runs = 0 };
	ck_assert_int_eq(abread_json(&result, wrong[_i].text,
				     strlen(wrong[_i].text), why),
			 -EINVAL);
	ck_assert_str_eq(why, wrong[_i].why);
	abresult_free(&result);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abread");
	TCase *t = tcase_create("files");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, makes_the_same_result_again);
	tcase_add_loop_test(t, refuses_what_is_wrong, 0, COUNT(wrong));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
