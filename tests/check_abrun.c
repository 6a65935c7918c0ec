/*
 * check_abrun: what the records of a test become.
 */
#include "abrun.h"

#include <check.h>

#define SECOND_NS INT64_C(1000000000)

/* A UDP sender of 1000 datagrams of 1000 bytes in 2 s, asked for 4 Mbit/s. */
static struct record sender(uint64_t packets)
{
	return (struct record){
		.udp = true,
		.total = true,
		.end_ns = 2 * SECOND_NS,
		.d = { .bytes = packets * 1000, .packets = packets },
		.asked_bps = 4000000,
		.offered_bps = packets * 4000,
		.cpu = { .known = true,
			 .user_ns = 3000000,
			 .system_ns = 7000000 },
	};
}

static struct record report(uint64_t packets, uint64_t lost)
{
	return (struct record){
		.udp = true,
		.total = true,
		.receiver = true,
		.relayed = true,
		.own_report = true,
		.end_ns = 2 * SECOND_NS,
		.d = { .bytes = packets * 1000,
		       .packets = packets,
		       .lost = lost },
		.jitter_mean_ns = 20000,
		.delay = { .known = true, .p99_ns = 500000 },
		.cpu = { .known = true, .system_ns = 4950000 },
	};
}

static void expect(const struct abresult_run *run, enum abresult_metric metric,
		   double value)
{
	ck_assert(abresult_has(run, metric));
	ck_assert_double_eq_tol(run->value[metric], value, 1e-8);
}

START_TEST(takes_what_the_server_says)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = sender(1000);
	struct record arrived = report(990, 10);

	abrun_add(&a, &sent);
	abrun_add(&a, &arrived);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, 0);
	expect(&run, ABRESULT_RATE, 3960000);
	expect(&run, ABRESULT_PPS, 495);
	expect(&run, ABRESULT_LOSS, 1);
	expect(&run, ABRESULT_JITTER, 0.02);
	expect(&run, ABRESULT_DELAY, 0.5);
	expect(&run, ABRESULT_CLIENT_MP, 10);
	expect(&run, ABRESULT_SERVER_MP, 5);
	ck_assert(!abresult_has(&run, ABRESULT_CLIENT_GB));
	ck_assert(!abresult_has(&run, ABRESULT_RETRANSMITS));
	ck_assert(!abresult_has(&run, ABRESULT_BACK_RATE));
}
END_TEST

START_TEST(marks_what_is_missing)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = sender(994);

	abrun_add(&a, &sent);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, ABRESULT_SHORT | ABRESULT_NO_REPORT);
	ck_assert(!abresult_has(&run, ABRESULT_RATE));
}
END_TEST

/* 0.5 % of 1000 datagrams are 5; of 100 two may be missing. */
START_TEST(allows_half_a_percent)
{
	static const struct {
		uint64_t packets;
		uint64_t asked;
		unsigned marks;
	} runs[] = { { 996, 1000, 0 },
		     { 994, 1000, ABRESULT_SHORT },
		     { 98, 100, 0 },
		     { 97, 100, ABRESULT_SHORT } };
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = sender(runs[_i].packets);
	struct record arrived = report(runs[_i].packets, 0);

	sent.asked_bps = runs[_i].asked * 4000;
	abrun_add(&a, &sent);
	abrun_add(&a, &arrived);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, runs[_i].marks);
}
END_TEST

/* Of a server that sends, what came and what was lost is what it offered. */
START_TEST(asks_the_server_for_as_much)
{
	static const struct {
		struct units_rate asked; /* a stream */
		uint64_t lost;           /* of two streams, 994 came each */
		unsigned marks;
	} runs[] = { { { .bps = 4000000 }, 0, ABRESULT_SHORT },
		     { { .bps = 4000000 }, 6, 0 },
		     { { .pps = 500 }, 0, ABRESULT_SHORT },
		     { { .pps = 500 }, 6, 0 },
		     { { .pps = 0 }, 0, 0 } };
	struct abrun a = { .back_rate = runs[_i].asked };
	struct abresult_run run = { .has = 0 };
	struct record came = report(994, runs[_i].lost);

	came.relayed = false;
	abrun_add(&a, &came);
	abrun_add(&a, &came);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, runs[_i].marks);
	expect(&run, ABRESULT_RATE, 7952000);
	expect(&run, ABRESULT_PPS, 994);
}
END_TEST

/* Each direction is told by who receives it, unless a report was due. */
START_TEST(takes_one_direction_of_two)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = sender(1000);
	struct record came = report(990, 10);

	came.relayed = false;
	abrun_add(&a, &sent);
	abrun_add(&a, &came);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, 0);
	expect(&run, ABRESULT_RATE, 3960000);
	expect(&run, ABRESULT_LOSS, 1);
	expect(&run, ABRESULT_CLIENT_MP, 10);
	ck_assert(!abresult_has(&run, ABRESULT_BACK_RATE));
	run = (struct abresult_run){ .has = 0 };
	a.unreported = true;
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, ABRESULT_NO_REPORT);
	ck_assert(!abresult_has(&run, ABRESULT_RATE));
	expect(&run, ABRESULT_BACK_RATE, 3960000);
}
END_TEST

START_TEST(adds_streams_up)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = sender(1000);
	struct record one = report(990, 10);
	struct record other = report(970, 30);
	struct record sum = report(1960, 40);

	sum.sum = true;
	other.jitter_mean_ns = 40000;
	other.delay.p99_ns = 700000;
	other.cpu.shared = true;
	abrun_add(&a, &sent);
	abrun_add(&a, &sent);
	abrun_add(&a, &sum);
	abrun_add(&a, &one);
	abrun_add(&a, &other);
	abrun_finish(&a, &run);
	expect(&run, ABRESULT_RATE, 7840000);
	expect(&run, ABRESULT_LOSS, 2);
	expect(&run, ABRESULT_JITTER, (0.02 * 990 + 0.04 * 970) / 1960);
	expect(&run, ABRESULT_DELAY, 0.7);
	expect(&run, ABRESULT_CLIENT_MP, 10);
	ck_assert(!abresult_has(&run, ABRESULT_SERVER_MP));
}
END_TEST

/* A TCP server of iperf 2 does not report: then the sender knows. */
START_TEST(takes_what_tcp_acknowledged)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record sent = {
		.total = true,
		.end_ns = SECOND_NS,
		.d = { .bytes = 1000000 },
		.tcp = { .known = true, .retransmits = 3 },
		.cpu = { .known = true, .user_ns = 2000000 },
	};

	abrun_add(&a, &sent);
	abrun_finish(&a, &run);
	ck_assert_uint_eq(run.marks, 0);
	expect(&run, ABRESULT_RATE, 8000000);
	expect(&run, ABRESULT_RETRANSMITS, 3);
	expect(&run, ABRESULT_CLIENT_GB, 2);
	ck_assert(!abresult_has(&run, ABRESULT_LOSS));
}
END_TEST

/* The mean of all round trips, and the worst stream's p99. */
START_TEST(takes_round_trips)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record one = {
		.total = true,
		.end_ns = SECOND_NS,
		.d = { .bytes = 1000 },
		.series = OUT_ROUND_TRIPS,
		.samples = { .known = true,
			     .count = 30,
			     .mean_ns = 100000,
			     .p99_ns = 400000 },
	};
	struct record other = one;

	other.samples.count = 10;
	other.samples.mean_ns = 500000;
	other.samples.p99_ns = 300000;
	abrun_add(&a, &one);
	abrun_finish(&a, &run);
	expect(&run, ABRESULT_TRIP, 0.1);
	abrun_add(&a, &other);
	abrun_finish(&a, &run);
	expect(&run, ABRESULT_TRIP, 0.2);
	expect(&run, ABRESULT_TRIP_P99, 0.4);
}
END_TEST

START_TEST(takes_what_came_from_the_server)
{
	struct abrun a = { .udp = false };
	struct abresult_run run = { .has = 0 };
	struct record came = {
		.total = true,
		.receiver = true,
		.end_ns = SECOND_NS,
		.d = { .bytes = 2000000 },
	};
	struct record sent = {
		.total = true,
		.end_ns = SECOND_NS,
		.d = { .bytes = 1000000 },
	};

	abrun_add(&a, &came);
	abrun_finish(&a, &run);
	expect(&run, ABRESULT_RATE, 16000000);
	ck_assert(!abresult_has(&run, ABRESULT_BACK_RATE));
	abrun_add(&a, &sent);
	abrun_finish(&a, &run);
	expect(&run, ABRESULT_RATE, 8000000);
	expect(&run, ABRESULT_BACK_RATE, 16000000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abrun");
	TCase *t = tcase_create("records");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, takes_what_the_server_says);
	tcase_add_test(t, marks_what_is_missing);
	tcase_add_loop_test(t, allows_half_a_percent, 0, 4);
	tcase_add_loop_test(t, asks_the_server_for_as_much, 0, 5);
	tcase_add_test(t, takes_one_direction_of_two);
	tcase_add_test(t, adds_streams_up);
	tcase_add_test(t, takes_what_tcp_acknowledged);
	tcase_add_test(t, takes_round_trips);
	tcase_add_test(t, takes_what_came_from_the_server);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
