/*
 * check_policy: prefixes, who enters, and when a running test must end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "policy.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))
#define SECOND INT64_C(1000000000)
#define MEGA UINT64_C(1000000)

static struct policy_addr addr_of(const char *text)
{
	struct policy_prefix p;

	ck_assert_int_eq(policy_prefix(&p, text), 0);
	ck_assert_uint_eq(p.bits, 128);
	return p.addr;
}

static const struct {
	const char *prefix;
	const char *addr;
	bool held;
} prefixes[] = {
	{ "10.0.0.0/8", "10.255.1.2", true },
	{ "10.0.0.0/8", "11.0.0.0", false },
	{ "10.1.2.3/8", "10.9.9.9", true }, /* bits behind it do not count */
	{ "192.0.2.1", "192.0.2.1", true },
	{ "192.0.2.1", "192.0.2.2", false },
	{ "192.0.2.0/25", "192.0.2.127", true },
	{ "192.0.2.0/25", "192.0.2.128", false },
	{ "192.0.2.4/31", "192.0.2.5", true },
	{ "192.0.2.4/31", "192.0.2.6", false },
	{ "0.0.0.0/0", "203.0.113.9", true },
	{ "0.0.0.0/0", "2001:db8::1", false },
	{ "::/0", "203.0.113.9", true },
	{ "::ffff:0.0.0.0/96", "203.0.113.9", true },
	{ "2001:db8::/32", "2001:db8:ffff::1", true },
	{ "2001:db8::/32", "2001:db9::1", false },
	{ "2001:db8::/33", "2001:db8:8000::1", false },
	{ "::1", "::1", true },
	{ "::1", "127.0.0.1", false },
};

START_TEST(a_prefix_holds_its_addresses)
{
	struct policy_prefix p;
	struct policy_addr addr = addr_of(prefixes[_i].addr);

	ck_assert_int_eq(policy_prefix(&p, prefixes[_i].prefix), 0);
	ck_assert_msg(policy_holds(&p, &addr) == prefixes[_i].held, "%s, %s",
		      prefixes[_i].prefix, prefixes[_i].addr);
}
END_TEST

static const char *const no_prefixes[] = {
	"",
	"/",
	"10.0.0.0/",
	"10.0.0.0/33",
	"10.0.0.0/-1",
	"10.0.0/8",
	"10.0.0.0/8x",
	"10.0.0.0/8/8",
	"::/129",
	"localhost",
	"fe80::1%lo/64",
	"10.0.0.0 /8",
	"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc/8",
};

START_TEST(what_is_no_prefix_is_refused)
{
	struct policy_prefix p;

	ck_assert_msg(policy_prefix(&p, no_prefixes[_i]) == -EINVAL, "\"%s\"",
		      no_prefixes[_i]);
}
END_TEST

static const struct {
	const char *addr;
	bool private;
} places[] = {
	{ "127.0.0.1", true },     { "10.0.0.1", true },
	{ "172.16.0.1", true },    { "172.31.255.255", true },
	{ "172.32.0.1", false },   { "192.168.9.9", true },
	{ "192.169.0.1", false },  { "169.254.1.1", true },
	{ "100.64.0.1", true },    { "100.128.0.1", false },
	{ "198.51.100.1", false }, { "11.0.0.1", false },
	{ "::1", true },           { "::2", false },
	{ "fd00::1", true },       { "fe80::1", true },
	{ "fec0::1", false },      { "2001:db8::1", false },
};

START_TEST(private_addresses_are_known)
{
	struct policy_addr addr = addr_of(places[_i].addr);

	ck_assert_msg(policy_is_private(&addr) == places[_i].private, "%s",
		      places[_i].addr);
}
END_TEST

static struct policy_rules rules;
static struct policy *policy;
static struct policy_refusal refusal;

static void begin(void)
{
	memset(&rules, 0, sizeof(rules));
	policy = policy_new(&rules);
	ck_assert_ptr_nonnull(policy);
}

static void end(void)
{
	policy_free(policy);
}

static bool enters(const char *addr)
{
	struct policy_ask ask = { .addr = addr_of(addr) };

	return policy_enter(policy, &ask, &refusal);
}

static void leaves(const char *addr)
{
	struct policy_addr a = addr_of(addr);

	policy_leave(policy, &a);
}

static bool may_go_on(const char *addr, uint64_t bytes, double at)
{
	struct policy_addr a = addr_of(addr);

	return policy_moved(policy, &a, bytes, SECOND,
			    SECOND + (int64_t)(at * (double)SECOND), &refusal);
}

static void reason_is(enum policy_why why, uint64_t value, const char *text)
{
	char buf[POLICY_TEXT_BYTES];

	ck_assert_int_eq((int)refusal.why, (int)why);
	ck_assert_uint_eq(refusal.value, value);
	policy_text(&refusal, buf);
	ck_assert_str_eq(buf, text);
}

START_TEST(without_rules_everybody_is_served)
{
	struct policy_ask ask = { .addr = addr_of("192.0.2.1"),
				  .time_known = true,
				  .rate_known = true };

	for (int i = 0; i < 100; i++)
		ck_assert(policy_enter(policy, &ask, &refusal));
	ck_assert(may_go_on("192.0.2.1", UINT64_C(1) << 62, 1e6));
	ck_assert_int_eq((int)refusal.why, POLICY_NONE);
}
END_TEST

START_TEST(only_allowed_prefixes_are_served)
{
	ck_assert_int_eq(policy_prefix(&rules.allow[0], "10.0.0.0/8"), 0);
	ck_assert_int_eq(policy_prefix(&rules.allow[1], "2001:db8::/32"), 0);
	rules.n_allow = 2;
	ck_assert(enters("10.1.1.1"));
	ck_assert(enters("2001:db8::7"));
	ck_assert(!enters("192.0.2.1"));
	reason_is(POLICY_ADDRESS, 0, "not from this address");
	ck_assert(!refusal.running);
}
END_TEST

/* A client is an address: its streams are one, and the place is free again when
 * the last of them has left. */
START_TEST(clients_are_counted_by_address)
{
	rules.clients = 2;
	ck_assert(enters("10.0.0.1"));
	ck_assert(enters("10.0.0.2"));
	ck_assert(enters("10.0.0.1"));
	ck_assert(!enters("10.0.0.3"));
	reason_is(POLICY_CLIENTS, 2, "at most 2 clients at once");
	leaves("10.0.0.1");
	ck_assert(!enters("10.0.0.3"));
	leaves("10.0.0.1");
	ck_assert(enters("10.0.0.3"));
	leaves("10.0.0.9"); /* was never there */
	ck_assert(!enters("10.0.0.4"));
	rules.clients = 1;
	ck_assert(!enters("10.0.0.4"));
	reason_is(POLICY_CLIENTS, 1, "at most 1 client at once");
}
END_TEST

static const struct {
	bool time_known;
	double seconds;
	bool rate_known;
	uint64_t bps;
	enum policy_why why;
} asks[] = {
	{ true, 10, true, 100 * MEGA, POLICY_NONE },
	{ true, 10.01, true, 100 * MEGA, POLICY_TIME },
	{ true, 0, true, 100 * MEGA, POLICY_TIME },
	{ true, 10, true, 100 * MEGA + 1, POLICY_RATE },
	{ true, 10, true, 0, POLICY_RATE },
	{ false, 0, false, 0, POLICY_NONE },
	{ true, 11, false, 0, POLICY_TIME },
};

START_TEST(what_is_announced_is_judged)
{
	struct policy_ask ask = {
		.addr = addr_of("10.0.0.1"),
		.time_known = asks[_i].time_known,
		.time_ns = (int64_t)(asks[_i].seconds * (double)SECOND),
		.rate_known = asks[_i].rate_known,
		.rate_bps = asks[_i].bps,
	};

	rules.time_ns = 10 * SECOND;
	rules.rate_bps = 100 * MEGA;
	ck_assert_int_eq(policy_enter(policy, &ask, &refusal),
			 asks[_i].why == POLICY_NONE);
	ck_assert_int_eq((int)refusal.why, (int)asks[_i].why);
	if (asks[_i].why == POLICY_TIME)
		reason_is(POLICY_TIME, 10000000000, "at most 10 s a test");
	if (asks[_i].why == POLICY_RATE)
		reason_is(POLICY_RATE, 100 * MEGA,
			  "at most 100 Mbit/s a client, as -b asks for it");
}
END_TEST

START_TEST(a_test_that_lasts_too_long_is_ended)
{
	rules.time_ns = SECOND;
	ck_assert(enters("10.0.0.1"));
	ck_assert(may_go_on("10.0.0.1", 0, 3));
	ck_assert(!may_go_on("10.0.0.1", 0, 3.001));
	reason_is(POLICY_TIME, 1000000000, "at most 1 s a test");
	ck_assert(refusal.running);
}
END_TEST

/* 8 Mbit/s are 1 MB a second.  A second of it at once is a burst; sustained, a
 * tenth too much is seen after ten seconds. */
START_TEST(a_rate_that_is_too_high_is_ended)
{
	double at = 0;

	rules.rate_bps = 8 * MEGA;
	ck_assert(enters("10.0.0.1"));
	ck_assert(enters("10.0.0.2"));
	ck_assert(may_go_on("10.0.0.1", 1000000, 0));
	ck_assert(!may_go_on("10.0.0.1", 1, 0));
	reason_is(POLICY_RATE, 8 * MEGA,
		  "at most 8.00 Mbit/s a client, as -b asks for it");
	ck_assert(refusal.running);
	ck_assert(may_go_on("10.0.0.2", 0, 0));
	while (at < 9.9) {
		at += 0.02;
		ck_assert(may_go_on("10.0.0.2", 22000, at));
	}
	at += 0.2;
	ck_assert(!may_go_on("10.0.0.2", 220000, at));
	/* what was not used is not saved */
	ck_assert(may_go_on("10.0.0.2", 0, 1000));
	ck_assert(!may_go_on("10.0.0.2", 1000001, 1000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("policy");
	TCase *tc = tcase_create("policy");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_loop_test(tc, a_prefix_holds_its_addresses, 0,
			    COUNT(prefixes));
	tcase_add_loop_test(tc, what_is_no_prefix_is_refused, 0,
			    COUNT(no_prefixes));
	tcase_add_loop_test(tc, private_addresses_are_known, 0, COUNT(places));
	tcase_add_test(tc, without_rules_everybody_is_served);
	tcase_add_test(tc, only_allowed_prefixes_are_served);
	tcase_add_test(tc, clients_are_counted_by_address);
	tcase_add_loop_test(tc, what_is_announced_is_judged, 0, COUNT(asks));
	tcase_add_test(tc, a_test_that_lasts_too_long_is_ended);
	tcase_add_test(tc, a_rate_that_is_too_high_is_ended);
	suite_add_tcase(suite, tc);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
