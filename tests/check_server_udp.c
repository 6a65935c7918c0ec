/*
 * check_server_udp: what a UDP server makes of the datagrams of its clients.
 * Its socket, its clocks and the report are those of this test.
 */
#include "server_udp.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "back.h"
#include "clock.h"
#include "log.h"
#include "udp.h"
#include "wire.h"

#define SEC CLOCK_SECOND_NS
#define MS CLOCK_MS_NS
#define BYTES 200
#define SHORT_BYTES WIRE_UDP_BYTES
#define WALL_NS (INT64_C(1800000000) * SEC)
#define START_NS (1000 * SEC)
#define STREAMS_MAX 4
/* In place of a number: nothing comes until then. */
#define NOTHING INT64_MAX

/* What comes, when, and when it was sent; both from the start on. */
struct step {
	int64_t at_ms;
	int64_t seq;
	int64_t sent_ms;
	uint32_t omit_from;
	size_t bytes; /* 0: BYTES */
};

/* One stream as the report has seen it. */
struct shown {
	struct stream *stream;
	bool ended;
	int64_t seconds_ms; /* how long */
	struct stats_snap all;
	struct stats_snap counted;
};

static struct {
	const struct step *next;
	const struct step *end;
	const uint8_t *who; /* which client sends each of them; NULL: one */
	uint16_t omit_10ms; /* of the clients */
	int64_t now_ns;
	struct shown shown[STREAMS_MAX];
	int streams;
	struct wire_report report; /* the last answer */
	int reports;
	bool over;
	sem_t end_reached;
} world;

int64_t clock_ns(void)
{
	return world.now_ns;
}

int64_t clock_wall_ns(void)
{
	return world.now_ns - START_NS + WALL_NS;
}

void log_stranger(int64_t now_ns, const char *format, ...)
{
	(void)now_ns;
	ck_assert_ptr_nonnull(strstr(format, "refused"));
}

/* Nothing is sent back here. */

struct back *back_start(const struct back_job *job, const struct options *o,
			struct report *r, int *why)
{
	(void)job;
	(void)o;
	(void)r;
	*why = -ENOTSUP;
	return NULL;
}

void back_stop(struct back *b)
{
	(void)b;
}

bool back_ended(const struct back *b)
{
	(void)b;
	return true;
}

bool back_over(const struct back *b)
{
	(void)b;
	return true;
}

void back_join(struct back *b)
{
	(void)b;
}

void back_free(struct back *b)
{
	(void)b;
}

bool clock_may_spin(unsigned threads)
{
	return threads == 0;
}

bool udp_prepare(int fd, int family, int64_t limit_ns)
{
	(void)fd;
	(void)family;
	(void)limit_ns;
	return false;
}

static size_t build(uint8_t *buf, const struct step *step)
{
	struct wire_udp h = { step->seq, WALL_NS + step->sent_ms * MS };
	struct wire_client c = { .flags = wire_flags(true, false),
				 .threads = 1,
				 .has_ext = true,
				 .omit_10ms = world.omit_10ms,
				 .omit_from = step->omit_from };

	wire_version(&c.version_u, &c.version_l);
	wire_fill(buf, BYTES);
	wire_udp_encode(buf, WIRE_MODERN, &h);
	wire_client_encode(buf + WIRE_UDP_BYTES, &c);
	return step->bytes > 0 ? step->bytes : BYTES;
}

void udp_pause_init(struct udp_pause *p, int fd)
{
	(void)fd;
	*p = (struct udp_pause){ .may = false };
}

int udp_receive(int fd, uint8_t *buf, size_t size, struct udp_arrival *a,
		struct udp_pause *pause)
{
	(void)pause;
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_port = htons(5001) };
	const struct step *step = world.next;
	uint8_t who = 0;

	(void)fd;
	ck_assert_uint_ge(size, BYTES);
	if (step == world.end) {
		if (!world.over)
			sem_post(&world.end_reached);
		world.over = true;
		return -EAGAIN;
	}
	world.next++;
	if (world.who != NULL)
		who = *world.who++;
	from.sin_addr.s_addr = htonl(0xc0000201u + who);
	world.now_ns = START_NS + step->at_ms * MS;
	if (step->seq == NOTHING)
		return -EAGAIN;
	*a = (struct udp_arrival){ .from.len = sizeof(from),
				   .bytes = build(buf, step) };
	memcpy(&a->from.ss, &from, sizeof(from));
	return 0;
}

int udp_answer(int fd, const struct udp_arrival *a, const uint8_t *buf,
	       size_t bytes)
{
	(void)fd;
	(void)a;
	if (wire_report_decode(buf, bytes, &world.report) == 0)
		world.reports++;
	return 0;
}

int report_add(struct report *r, struct stream *s, const char *key,
	       uint32_t expected)
{
	(void)r;
	ck_assert_int_eq(strncmp(key, "192.0.2.", 8), 0);
	ck_assert_uint_eq(expected, 1);
	ck_assert_int_lt(world.streams, STREAMS_MAX);
	world.shown[world.streams++].stream = s;
	return 0;
}

void report_poke(struct report *r)
{
	(void)r;
	for (int i = 0; i < world.streams; i++) {
		struct shown *shown = &world.shown[i];
		struct stream *s = shown->stream;

		if (shown->ended || !atomic_load(&s->closed))
			continue;
		stream_snap(s, &shown->all);
		stream_counted(s, &shown->all, &shown->counted);
		shown->seconds_ms =
			(atomic_load(&s->end_ns) - atomic_load(&s->start_ns)) /
			MS;
		shown->ended = true;
		atomic_store(&s->reported, true);
	}
}

/* Serves so many clients at once (0: any number), to the end of the steps. */
static void serve_clients(uint32_t clients, const uint8_t *who,
			  uint16_t omit_10ms, const struct step *steps,
			  size_t n)
{
	struct options o = { .side = OPTIONS_SERVER,
			     .udp = true,
			     .late_after_ns = 100 * MS,
			     .limits = { .clients = clients } };
	const struct sock_addr any_v4 = { .ss.ss_family = AF_INET };
	struct server_udp *u;

	memset(&world, 0, sizeof(world));
	world.next = steps;
	world.who = who;
	world.end = steps + n;
	world.omit_10ms = omit_10ms;
	world.now_ns = START_NS;
	ck_assert_int_eq(sem_init(&world.end_reached, 0, 0), 0);
	u = server_udp_start(-1, &any_v4, &o, NULL, NULL);
	ck_assert_ptr_nonnull(u);
	while (sem_wait(&world.end_reached) < 0)
		;
	server_udp_stop(u);
	for (int i = 0; i < world.streams; i++)
		ck_assert(world.shown[i].ended);
	ck_assert_uint_eq(server_udp_accepted(u), (unsigned)world.streams);
	server_udp_free(u);
	sem_destroy(&world.end_reached);
}

/* Serves one client that leaves out so much. */
#define SERVE(omit_10ms, steps)                                                \
	serve_clients(0, NULL, omit_10ms, steps,                               \
		      sizeof(steps) / sizeof((steps)[0]))

static void expect_report(uint64_t total, uint64_t lost)
{
	ck_assert_int_ge(world.reports, 1);
	ck_assert_uint_eq(world.report.total, total);
	ck_assert_uint_eq(world.report.lost, lost);
}

static void expect_counted(int stream, uint64_t packets, uint64_t lost)
{
	ck_assert_int_lt(stream, world.streams);
	ck_assert_uint_eq(world.shown[stream].counted.packets, packets);
	ck_assert_uint_eq(world.shown[stream].counted.lost, lost);
}

START_TEST(a_test_is_counted)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },         { 10, 1, 10, 0, 0 },
		{ 30, 3, 30, 0, 0 },       { 40, -4, 40, 0, 0 },
		{ 141, NOTHING, 0, 0, 0 },
	};

	SERVE(0, steps);
	ck_assert_int_eq(world.streams, 1);
	expect_report(4, 1);
	expect_counted(0, 3, 1);
	ck_assert_int_eq(world.shown[0].seconds_ms, 40);
}
END_TEST

/* A client that is interrupted while it leaves out: nothing counts. */
START_TEST(a_test_may_end_within_what_it_omits)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },
		{ 10, 1, 10, 0, 0 },
		{ 20, -3, 20, 0, 0 },
		{ 121, NOTHING, 0, 0, 0 },
	};

	SERVE(100, steps);
	expect_report(0, 0);
	expect_counted(0, 0, 0);
	/* its rows show them all the same */
	ck_assert_uint_eq(world.shown[0].all.packets, 2);
	ck_assert_uint_eq(world.shown[0].all.lost, 1);
}
END_TEST

/* The marker comes through, and nothing else that counts. */
START_TEST(all_that_counts_may_be_lost)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },
		{ 10, 1, 10, 0, 0 },
		{ 20, -5, 20, 2, 0 },
		{ 121, NOTHING, 0, 0, 0 },
	};
	static const struct step short_ones[] = {
		{ 0, 0, 0, 0, 0 },
		{ 10, 1, 9, 0, SHORT_BYTES },
		{ 20, -5, 20, 0, SHORT_BYTES },
		{ 121, NOTHING, 0, 0, 0 },
	};

	SERVE(1, steps);
	expect_report(3, 3);
	expect_counted(0, 0, 3);
	SERVE(1, short_ones);
	expect_report(3, 3);
	expect_counted(0, 0, 3);
}
END_TEST

/* The server comes late, or the path lost what is left out. */
START_TEST(the_first_datagram_may_count)
{
	static const struct step steps[] = {
		{ 0, 7, 0, 5, 0 },
		{ 10, 8, 10, 5, 0 },
		{ 20, -10, 20, 5, 0 },
		{ 121, NOTHING, 0, 0, 0 },
	};

	SERVE(1, steps);
	ck_assert_int_eq(world.streams, 1);
	/* 5 to 9 */
	expect_report(5, 3);
	expect_counted(0, 2, 3);
}
END_TEST

/* After a silence the time to leave out does not begin again. */
START_TEST(a_test_that_goes_on_counts_at_once)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },           { 10, 1, 10, 0, 0 },
		{ 20, 2, 20, 2, 0 },         { 30021, NOTHING, 0, 0, 0 },
		{ 30041, NOTHING, 0, 0, 0 }, { 31000, 10, 31000, 2, 0 },
		{ 31010, -11, 31010, 2, 0 }, { 31111, NOTHING, 0, 0, 0 },
	};

	SERVE(1, steps);
	ck_assert_int_eq(world.streams, 2);
	expect_counted(0, 1, 0);
	/* 3 to 10 */
	expect_counted(1, 1, 7);
	expect_report(9, 7);
}
END_TEST

/* What comes after a silence and belongs before it is counted there. */
START_TEST(late_ones_of_an_earlier_part_are_too_late)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },           { 10, 1, 10, 0, 0 },
		{ 20, 8, 20, 0, 0 },         { 30030, NOTHING, 0, 0, 0 },
		{ 30050, NOTHING, 0, 0, 0 }, { 31000, -12, 1000, 0, 0 },
		{ 31010, 4, 15, 0, 0 },      { 31020, 1, 10, 0, 0 },
		{ 31030, 10, 25, 0, 0 },     { 31111, NOTHING, 0, 0, 0 },
	};

	SERVE(0, steps);
	ck_assert_int_eq(world.streams, 2);
	expect_counted(0, 3, 6);
	/* 9 to 11 */
	expect_counted(1, 1, 2);
	ck_assert_uint_eq(world.shown[1].counted.too_late, 2);
	expect_report(12, 8);
	/* it was over long ago, but not before this part began */
	ck_assert_int_eq(world.shown[1].seconds_ms, 0);
}
END_TEST

/* A datagram of a test that nobody served, then the first of another one. */
START_TEST(a_stray_datagram_is_no_test)
{
	static const struct step steps[] = {
		{ 0, 100, 0, 0, 0 },    { 500, 0, 500, 0, 0 },
		{ 510, 1, 510, 0, 0 },  { 520, 2, 520, 0, 0 },
		{ 530, -3, 530, 0, 0 }, { 640, NOTHING, 0, 0, 0 },
	};

	SERVE(0, steps);
	ck_assert_int_eq(world.streams, 1);
	expect_counted(0, 3, 0);
	expect_report(3, 0);
	ck_assert_int_eq(world.shown[0].seconds_ms, 30);
}
END_TEST

/* The first client stood before the second one in the list of those whose
 * second datagram is awaited.  When it is refused and stands there again, the
 * second one is a test, is over and is forgotten before it (the sanitizers see
 * what is wrong with that). */
START_TEST(a_refused_test_waits_behind_no_other)
{
	static const struct step steps[] = {
		{ 0, 0, 0, 0, 0 },           { 1, 0, 1, 0, 0 },
		{ 10, 1, 10, 0, 0 },         { 20, -2, 20, 0, 0 },
		{ 30, 1, 30, 0, 0 },         { 40, 0, 40, 0, 0 },
		{ 50, -2, 50, 0, 0 },        { 20060, NOTHING, 0, 0, 0 },
		{ 40070, NOTHING, 0, 0, 0 }, { 40080, 0, 40080, 0, 0 },
		{ 40090, 1, 40090, 0, 0 },   { 40100, -2, 40100, 0, 0 },
	};
	static const uint8_t who[] = { 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0 };

	serve_clients(1, who, 0, steps, sizeof(steps) / sizeof(steps[0]));
	ck_assert_int_eq(world.streams, 3);
	for (int i = 0; i < world.streams; i++)
		expect_counted(i, 2, 0);
	ck_assert_int_eq(world.reports, 3);
}
END_TEST

static Suite *server_udp_suite(void)
{
	Suite *s = suite_create("server_udp");
	TCase *tests = tcase_create("tests");

	tcase_add_test(tests, a_test_is_counted);
	tcase_add_test(tests, a_test_may_end_within_what_it_omits);
	tcase_add_test(tests, all_that_counts_may_be_lost);
	tcase_add_test(tests, the_first_datagram_may_count);
	tcase_add_test(tests, a_test_that_goes_on_counts_at_once);
	tcase_add_test(tests, late_ones_of_an_earlier_part_are_too_late);
	tcase_add_test(tests, a_stray_datagram_is_no_test);
	tcase_add_test(tests, a_refused_test_waits_behind_no_other);
	suite_add_tcase(s, tests);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(server_udp_suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
