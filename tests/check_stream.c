/*
 * check_stream: what a stream makes of the times that its mover brings.
 */
#include "stream.h"

#include <check.h>
#include <stdlib.h>

#define SEC INT64_C(1000000000)

/* Where a stream's counts began, where those of -O ended, its end as the rules
 * tell it, and as it is. */
static const struct {
	int64_t start_ns, omit_end_ns, end_ns, want_ns;
} ends[] = {
	{ 5 * SEC, 0, 15 * SEC, 15 * SEC },
	{ 5 * SEC, 7 * SEC, 15 * SEC, 15 * SEC },
	{ 5 * SEC, 0, 5 * SEC, 5 * SEC },
	/* the end marker came late and alone, after a silence */
	{ 65 * SEC, 0, 60 * SEC, 65 * SEC },
	/* it was the first that was not left out */
	{ 5 * SEC, 9 * SEC, 8 * SEC, 9 * SEC },
};

START_TEST(ends_when_it_began_at_the_earliest)
{
	struct stream *s = stream_new(-1, false, true, true, 0);

	ck_assert_ptr_nonnull(s);
	atomic_store(&s->start_ns, ends[_i].start_ns);
	atomic_store(&s->omit_end_ns, ends[_i].omit_end_ns);
	stream_ended(s, ends[_i].end_ns);

	int64_t end_ns = atomic_load(&s->end_ns);

	ck_assert_int_eq(end_ns, ends[_i].want_ns);
	stream_free(s);
}
END_TEST

static Suite *stream_suite(void)
{
	Suite *s = suite_create("stream");
	TCase *tc = tcase_create("times");

	tcase_add_loop_test(tc, ends_when_it_began_at_the_earliest, 0,
			    (int)(sizeof(ends) / sizeof(ends[0])));
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(stream_suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
