#include "experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abcsv.h"
#include "abplan.h"
#include "abread.h"
#include "abresult.h"
#include "abrun.h"
#include "abtext.h"
#include "clock.h"
#include "command.h"
#include "hide.h"
#include "log.h"
#include "platform/platform.h"

/* A test that did not run, or has no report, is run up to so often in all. */
#define ATTEMPTS 3
/* One with another mark once more, and in a whole experiment one of so many,
 * and some. */
#define REPEAT_PART 4
#define REPEAT_MIN 2
/* The host is busy when others use more than half a CPU, and more than a tenth
 * of all of them. */
#define BUSY_CPUS 0.5
#define BUSY_PART 0.1
/* The system counts in ticks of 10 ms or so: less than this means nothing. */
#define BUSY_NS (50 * CLOCK_MS_NS)
#define NOTE_BYTES 256
/* Without --seed: short enough to be typed. */
#define SEEDS 1000000
#define PPM_IN_PERCENT ((double)OPTIONS_PPM_IN_PERCENT)

/* A writer that keeps what a test says; of struct out, the first member. */
struct recorder {
	struct out out;
	struct abrun kept;
};

struct experiment {
	const struct options *o;
	struct options test; /* the same for one test: quiet */
	struct out *outs;
	size_t n_outs;
	const _Atomic int *stop;
	struct abresult result;
	enum client_status status;
	size_t repeats;     /* of runs that could have counted */
	size_t done;        /* runs, whatever came of them */
	uint64_t rounds;    /* that there will be, as far as is known; 0 */
	int64_t begun_ns;   /* the first of them */
	int64_t left_ns;    /* after the last of them; < 0: not known */
	bool arms_switched; /* a command ran: the baseline's runs at the end */
	bool told_alike;
	bool progress; /* stderr is a terminal */
};

/* --- what a test says ------------------------------------------------------
 */

static struct recorder *recorder_of(struct out *o)
{
	return (struct recorder *)o;
}

static void no_banner(struct out *o, const struct out_banner *b)
{
	(void)o;
	(void)b;
}

static void no_connection(struct out *o, const struct out_conn *c)
{
	(void)o;
	(void)c;
}

static void no_interval(struct out *o, const struct record *r)
{
	(void)o;
	(void)r;
}

static void keep(struct out *o, const struct record *r)
{
	abrun_add(&recorder_of(o)->kept, r);
}

static void no_note(struct out *o, int id, const char *text)
{
	(void)o;
	(void)id;
	(void)text;
}

static void no_failure(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

static const struct out_writer record_writer = {
	.banner = no_banner,
	.connected = no_connection,
	.interval = no_interval,
	.last = keep,
	.server_report = keep,
	.note = no_note,
	.failed = no_failure,
};

/* --- what the host did -----------------------------------------------------
 */

/* Processor time of the host and of this process; < 0: not known. */
struct usage {
	int64_t host_ns;
	int64_t own_ns;
};

static struct usage usage_now(void)
{
	struct usage u = { .host_ns = -1 };
	struct rusage own;

	if (getrusage(RUSAGE_SELF, &own) < 0 ||
	    platform_host_cpu(&u.host_ns) < 0)
		return (struct usage){ .host_ns = -1 };
	u.own_ns =
		(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * CLOCK_SECOND_NS +
		(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000;
	return u;
}

/* What others used between the two.  The server may run on this host, so its
 * part is taken off as far as it tells. */
static int64_t others_ns(const struct usage *from, const struct usage *to,
			 int64_t server_ns)
{
	if (from->host_ns < 0 || to->host_ns < 0)
		return -1;

	int64_t ns = to->host_ns - from->host_ns - (to->own_ns - from->own_ns) -
		     server_ns;

	return ns > 0 ? ns : 0;
}

static bool is_busy(int64_t busy_ns, int64_t took_ns)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double used = (double)busy_ns / (double)took_ns;

	return busy_ns > BUSY_NS && used > BUSY_CPUS &&
	       used > BUSY_PART * (double)cpus;
}

/* --- words -----------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static void
tell_note(struct experiment *e, const char *format, ...)
{
	char text[NOTE_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (size_t i = 0; i < e->n_outs; i++)
		e->outs[i].experiment->note(&e->outs[i], text);
}

static void tell_start(const struct experiment *e)
{
	for (size_t i = 0; i < e->n_outs; i++)
		e->outs[i].experiment->start(&e->outs[i], &e->result);
}

static void tell_run(const struct experiment *e, const struct out_progress *p)
{
	for (size_t i = 0; i < e->n_outs; i++)
		e->outs[i].experiment->run(&e->outs[i], &e->result, p);
}

static void tell_summary(const struct experiment *e, FILE *page)
{
	for (size_t i = 0; i < e->n_outs; i++)
		e->outs[i].experiment->summary(&e->outs[i], &e->result);
	if (page != NULL)
		out_html(page, &e->result);
}

static const char *label(const struct experiment *e, unsigned arm)
{
	return e->result.setup.arm[arm].label;
}

/* On a terminal: what runs now, until the next line. */
static void show_progress(const struct experiment *e, unsigned arm,
			  uint32_t round, bool warmup)
{
	uint64_t rounds = warmup ? e->o->warmup : e->rounds;
	int64_t left_s = (e->left_ns + CLOCK_SECOND_NS / 2) / CLOCK_SECOND_NS;

	if (!e->progress)
		return;
	fprintf(stderr, "\r\033[K%s %u", warmup ? "warm-up round" : "round",
		(unsigned)round + 1);
	if (rounds > 0)
		fprintf(stderr, " of %s%" PRIu64,
			!warmup && e->o->precision_ppm > 0 ? "about " : "",
			rounds);
	fprintf(stderr, ", %s", label(e, arm));
	if (e->left_ns >= 0)
		fprintf(stderr, ", %" PRId64 ":%02" PRId64 " left", left_s / 60,
			left_s % 60);
	fputs(" ...", stderr);
}

static void hide_progress(const struct experiment *e)
{
	if (e->progress)
		fputs("\r\033[K", stderr);
}

/* --- commands --------------------------------------------------------------
 */

static int seen_stops(const struct experiment *e)
{
	return atomic_load(e->stop);
}

/* What happened to the command of an arm; CLIENT_OK: it did what it should. */
static enum client_status judge_command(const struct experiment *e,
					const char *option, unsigned arm,
					struct command_result r)
{
	switch (r.end) {
	case COMMAND_EXITED:
		if (r.number == 0)
			return CLIENT_OK;
		log_error("%s: the command of \"%s\" ended with status %d",
			  option, label(e, arm), r.number);
		return CLIENT_FAILED;
	case COMMAND_KILLED:
		log_error("%s: the command of \"%s\" was ended by signal %d",
			  option, label(e, arm), r.number);
		return CLIENT_FAILED;
	case COMMAND_TOO_LONG:
		log_error(
			"%s: the command of \"%s\" did not end within %.10g s "
			"and was ended",
			option, label(e, arm),
			(double)e->o->arm_timeout_ns / 1e9);
		return CLIENT_FAILED;
	case COMMAND_NOT_RUN:
		log_error("%s: the command of \"%s\": %s", option,
			  label(e, arm), strerror(r.number));
		return CLIENT_FAILED;
	case COMMAND_INTERRUPTED:
		break;
	}
	return CLIENT_INTERRUPTED;
}

static enum client_status switch_to(struct experiment *e, unsigned arm,
				    int stops)
{
	const char *command = e->o->arm[arm].command;

	if (command[0] == '\0')
		return CLIENT_OK;
	e->arms_switched = true;
	return judge_command(e, "--arm", arm,
			     command_run(command, e->o->arm_timeout_ns, e->stop,
					 stops, NULL, 0));
}

/* *shown: allocated, or NULL where nothing is to be shown. */
static enum client_status show(struct experiment *e, unsigned arm, int stops,
			       char **shown)
{
	*shown = NULL;
	if (e->o->arm_show == NULL)
		return CLIENT_OK;
	*shown = malloc(ABRESULT_SHOWN_BYTES);
	if (*shown == NULL) {
		log_error("--arm-show: %s", strerror(ENOMEM));
		return CLIENT_FAILED;
	}
	return judge_command(e, "--arm-show", arm,
			     command_run(e->o->arm_show, e->o->arm_timeout_ns,
					 e->stop, stops, *shown,
					 ABRESULT_SHOWN_BYTES));
}

/* Until due_ns, or a signal comes. */
static enum client_status settle(const struct experiment *e, int64_t due_ns)
{
	while (clock_ns() < due_ns && seen_stops(e) == 0)
		clock_sleep_until(due_ns);
	return seen_stops(e) == 0 ? CLIENT_OK : CLIENT_INTERRUPTED;
}

/* --- one run ---------------------------------------------------------------
 */

static enum client_status run_test(struct experiment *e,
				   struct abresult_run *run)
{
	struct recorder rec = { .out = { .writer = &record_writer,
					 .style = { .enhanced = true } },
				.kept = { .back_rate = e->o->rate } };
	struct usage before = usage_now();
	int64_t begun_ns = clock_ns();
	enum client_status status = client_run(&e->test, &rec.out, 1, e->stop);
	int64_t took_ns = clock_ns() - begun_ns;
	struct usage after = usage_now();

	run->status = (int)status;
	rec.kept.unreported = status == CLIENT_NO_REPORT;
	run->busy_ns = others_ns(&before, &after, rec.kept.arrived.cpu_ns);
	if (status == CLIENT_OK || status == CLIENT_NO_REPORT)
		abrun_finish(&rec.kept, run);
	else
		run->marks |= ABRESULT_FAILED;
	if (is_busy(run->busy_ns, took_ns))
		run->marks |= ABRESULT_BUSY;
	return status;
}

/* Switches, waits, shows and tests.  Interrupted or a command's failure: there
 * is no run. */
static enum client_status try_run(struct experiment *e,
				  struct abresult_run *run)
{
	enum client_status status = switch_to(e, run->arm, 0);

	if (status == CLIENT_OK)
		status = settle(e, clock_ns() + e->o->settle_ns);
	if (status == CLIENT_OK)
		status = show(e, run->arm, 0, &run->shown);
	if (status != CLIENT_OK)
		return status;
	run->wall_ns = clock_wall_ns();
	return run_test(e, run) == CLIENT_INTERRUPTED ? CLIENT_INTERRUPTED
						      : CLIENT_OK;
}

static bool has_no_result(const struct abresult_run *run)
{
	return (run->marks & (ABRESULT_FAILED | ABRESULT_NO_REPORT)) != 0;
}

/* Of all runs, or of those up to now where the width decides when to stop. */
static uint64_t repeats_allowed(const struct experiment *e)
{
	uint64_t runs = e->o->precision_ppm > 0
				? e->done
				: (uint64_t)e->o->rounds * e->o->n_arms;

	return REPEAT_MIN + runs / REPEAT_PART;
}

static bool shall_repeat(struct experiment *e, const struct abresult_run *run)
{
	if (has_no_result(run))
		return run->attempt + 1 < ATTEMPTS;
	if (run->marks == 0 || run->warmup || run->attempt > 0 ||
	    e->repeats >= repeats_allowed(e))
		return false;
	e->repeats++;
	return true;
}

/* By the mean of the runs up to now; < 0: there is no telling. */
static int64_t time_left_ns(const struct experiment *e,
			    const struct abresult_run *run)
{
	const struct options *o = e->o;
	uint64_t at = (run->warmup ? 0 : o->warmup) + (uint64_t)run->round;
	uint64_t over =
		at * o->n_arms + run->place + (run->counted || run->warmup);
	uint64_t all = (o->warmup + e->rounds) * o->n_arms;

	if (e->rounds == 0 || e->done == 0 || over > all)
		return -1;
	return (clock_ns() - e->begun_ns) / (int64_t)e->done *
	       (int64_t)(all - over);
}

static enum client_status keep_run(struct experiment *e,
				   struct abresult_run *run)
{
	const struct options *o = e->o;
	struct out_progress p = { .repeated = shall_repeat(e, run) };

	run->counted = !p.repeated && !run->warmup && !has_no_result(run);
	if (abresult_add(&e->result, run) < 0) {
		free(run->shown);
		log_error("no memory for more runs");
		return CLIENT_FAILED;
	}
	e->done++;
	p.round_ends = run->place + 1u == o->n_arms && !p.repeated;
	p.rounds = run->warmup            ? o->warmup
		   : o->precision_ppm > 0 ? 0
					  : o->rounds;
	e->left_ns = time_left_ns(e, run);
	p.left_ns = e->left_ns;
	hide_progress(e);
	tell_run(e, &p);
	return CLIENT_OK;
}

/* One arm of a round, until it has a run that counts. */
static enum client_status run_arm(struct experiment *e, uint32_t round,
				  bool warmup, uint8_t arm, uint8_t place)
{
	for (uint8_t attempt = 0;; attempt++) {
		struct abresult_run run = {
			.round = round,
			.warmup = warmup,
			.arm = arm,
			.place = place,
			.attempt = attempt,
			.busy_ns = -1,
		};

		show_progress(e, arm, round, warmup);

		enum client_status status = try_run(e, &run);

		if (status != CLIENT_OK) {
			hide_progress(e);
			free(run.shown);
			return status;
		}
		status = keep_run(e, &run);
		if (status != CLIENT_OK)
			return status;
		if (run.counted || (warmup && !has_no_result(&run)))
			return CLIENT_OK;
		if (has_no_result(&run) && attempt + 1 == ATTEMPTS) {
			tell_note(e,
				  "%d tests of \"%s\" in a row gave no "
				  "result: the experiment ends",
				  ATTEMPTS, label(e, arm));
			return run.status != CLIENT_OK
				       ? (enum client_status)run.status
				       : CLIENT_NO_REPORT;
		}
	}
}

static void warn_of_alike(struct experiment *e)
{
	unsigned a;
	unsigned b;

	if (e->told_alike || !abresult_alike(&e->result, &a, &b))
		return;
	e->told_alike = true;
	log_error("--arm-show shows the same for \"%s\" and \"%s\": was it "
		  "really switched?",
		  label(e, a), label(e, b));
}

static enum client_status run_round(struct experiment *e, uint32_t round,
				    bool warmup)
{
	uint8_t order[ABPLAN_ARMS_MAX];
	enum client_status status = CLIENT_OK;

	abplan_order(e->result.setup.seed, e->o->n_arms, round, order);
	for (uint8_t i = 0; i < e->o->n_arms && status == CLIENT_OK; i++)
		status = run_arm(e, round, warmup, order[i], i);
	if (status == CLIENT_OK)
		warn_of_alike(e);
	return status;
}

/* --- the whole -------------------------------------------------------------
 */

/* Is it known well enough?  (Without memory for a table: no.) */
static bool is_precise(struct experiment *e)
{
	struct abresult_table t;
	bool yes;

	if (e->o->precision_ppm == 0 || abresult_make(&e->result, &t) < 0)
		return false;
	yes = abresult_precise(&e->result, &t);
	e->rounds = abresult_precise_rounds(&e->result, &t);
	if (e->rounds > e->o->rounds)
		e->rounds = e->o->rounds;
	abresult_unmake(&t);
	return yes;
}

static enum client_status run_rounds(struct experiment *e)
{
	enum client_status status = CLIENT_OK;

	e->begun_ns = clock_ns();
	e->left_ns = -1;
	e->rounds = e->o->precision_ppm > 0 ? 0 : e->o->rounds;
	for (uint32_t i = 0; i < e->o->warmup && status == CLIENT_OK; i++)
		status = run_round(e, i, true);
	for (uint32_t i = 0; i < e->o->rounds && status == CLIENT_OK; i++) {
		status = run_round(e, i, false);
		if (status == CLIENT_OK && is_precise(e))
			break;
	}
	return status;
}

/* The system is left as it was found: as the baseline has it. */
static enum client_status restore(struct experiment *e)
{
	char *shown = NULL;
	int stops = seen_stops(e);
	enum client_status status;

	if (!e->arms_switched)
		return CLIENT_OK;
	status = switch_to(e, 0, stops);
	if (status == CLIENT_OK)
		status = show(e, 0, stops, &shown);
	if (status == CLIENT_OK && shown != NULL)
		tell_note(e,
			  "the command of \"%s\" was run again, which shows: "
			  "%.120s",
			  label(e, 0), shown);
	else if (status == CLIENT_OK)
		tell_note(e, "the command of \"%s\" was run again",
			  label(e, 0));
	else if (status == CLIENT_INTERRUPTED)
		log_error(
			"the command of \"%s\" was interrupted: this host may "
			"not be as it was",
			label(e, 0));
	free(shown);
	return status;
}

/* Room for a part of what a test is. */
#define PART_BYTES 96

static void describe_rate(const struct options *o, char rate[PART_BYTES])
{
	struct abtext_scale scale =
		abtext_scale(ABRESULT_RATE, (double)o->rate.bps);
	char number[ABTEXT_BYTES];

	rate[0] = '\0';
	abtext_number(number, (double)o->rate.bps, &scale, false);
	if (o->rate.pps > 0)
		(void)snprintf(rate, PART_BYTES, ", %" PRIu64 " pps",
			       o->rate.pps);
	else if (o->rate.bps > 0)
		(void)snprintf(rate, PART_BYTES, ", %s %s", number, scale.name);
}

static void describe_length(const struct options *o, char length[PART_BYTES])
{
	if (o->amount_bytes > 0)
		(void)snprintf(length, PART_BYTES, "%" PRIu64 " bytes",
			       o->amount_bytes);
	else
		(void)snprintf(length, PART_BYTES, "%.10g s",
			       (double)o->time_ns / 1e9);
}

static void describe_streams(const struct options *o, char streams[PART_BYTES])
{
	streams[0] = '\0';
	if (o->parallel > 1)
		(void)snprintf(streams, PART_BYTES, ", %u streams",
			       (unsigned)o->parallel);
}

static void describe_ports(const struct options *o, char ports[PART_BYTES])
{
	if (o->ports > 1)
		(void)snprintf(ports, PART_BYTES, "ports %u-%u",
			       (unsigned)o->port,
			       (unsigned)o->port + o->ports - 1);
	else
		(void)snprintf(ports, PART_BYTES, "port %u", (unsigned)o->port);
}

/* What one test is, in words. */
static void describe(const struct options *o, struct abresult_setup *s)
{
	const char *way = o->reverse       ? ", reverse"
			  : o->full_duplex ? ", full duplex"
			  : o->dual        ? ", both ways"
			  : o->tradeoff    ? ", there and back"
			  : o->bounces > 0 ? ", round trips"
					   : "";
	char ports[PART_BYTES];
	char length[PART_BYTES];
	char rate[PART_BYTES];
	char streams[PART_BYTES];

	describe_ports(o, ports);
	describe_length(o, length);
	describe_rate(o, rate);
	describe_streams(o, streams);
	(void)snprintf(s->test, sizeof(s->test), "%s to %.200s %s, %s%s%s%s",
		       o->udp ? "UDP" : "TCP",
		       o->hide_ips ? HIDE_NAME : o->host, ports, length, rate,
		       streams, way);
}

static int set_up(struct experiment *e)
{
	const struct options *o = e->o;
	struct abresult_setup *s = &e->result.setup;

	describe(o, s);
	s->rounds = o->precision_ppm > 0 ? 0 : o->rounds;
	s->warmup = o->warmup;
	s->seed = o->seed_set ? o->seed
			      : (uint64_t)(clock_wall_ns() / 1000) % SEEDS;
	s->confidence = o->confidence_ppm / PPM_IN_PERCENT / 100;
	s->margin_percent = o->margin_ppm / PPM_IN_PERCENT;
	s->precision_percent = o->precision_ppm / PPM_IN_PERCENT;
	for (unsigned i = 0; i < o->n_arms; i++) {
		int rc = abresult_add_arm(&e->result, o->arm[i].label,
					  o->arm[i].command);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A test of an experiment: all that can be known, and no rows. */
static struct options quiet(const struct options *o)
{
	struct options test = *o;

	test.interval_ns = 0;
	test.exclude = 0;
	test.enhanced = true;
	return test;
}

enum client_status experiment_run(const struct options *o, struct out *outs,
				  size_t n_outs, FILE *page,
				  const _Atomic int *stop)
{
	struct experiment e = {
		.o = o,
		.test = quiet(o),
		.outs = outs,
		.n_outs = n_outs,
		.stop = stop,
		.progress = isatty(STDERR_FILENO) != 0,
	};
	enum client_status status = CLIENT_FAILED;
	enum client_status restored;

	if (set_up(&e) < 0) {
		log_error("no memory for an experiment");
	} else {
		tell_start(&e);
		status = run_rounds(&e);
		restored = restore(&e);
		e.result.broken_off = status != CLIENT_OK;
		tell_summary(&e, page);
		if (status == CLIENT_OK)
			status = restored;
	}
	abresult_free(&e.result);
	return status;
}

/* --- again, from files -----------------------------------------------------
 */

/* A larger file is none of ours. */
#define FILE_MAX (64u << 20)
#define READ_BYTES ((size_t)65536)

/* The whole file, allocated; NULL after a word about it. */
static char *read_whole(const char *name, size_t *n)
{
	FILE *f = fopen(name, "r");
	char *text = NULL;
	size_t room = 0;
	int rc = f == NULL ? errno : 0;

	*n = 0;
	while (rc == 0 && feof(f) == 0) {
		if (room - *n < READ_BYTES) {
			room = 2 * (room + READ_BYTES);

			char *more = realloc(text, room);

			if (more == NULL || room > FILE_MAX) {
				free(more != NULL ? more : text);
				text = NULL;
				rc = more != NULL ? EFBIG : ENOMEM;
				break;
			}
			text = more;
		}
		*n += fread(text + *n, 1, READ_BYTES, f);
		if (ferror(f) != 0)
			rc = errno;
	}
	if (f != NULL)
		(void)fclose(f);
	if (rc == 0)
		return text;
	log_error("--compare: \"%s\": %s", name, strerror(rc));
	free(text);
	return NULL;
}

/* "dir/off.csv" is the arm "off". */
static void label_of(const char *name, char label[ABRESULT_LABEL_BYTES])
{
	const char *slash = strrchr(name, '/');
	const char *base = slash != NULL ? slash + 1 : name;
	size_t length = strcspn(base, ".");

	(void)snprintf(label, ABRESULT_LABEL_BYTES, "%.*s",
		       (int)(length > 0 && length < ABRESULT_LABEL_BYTES
				     ? length
				     : ABRESULT_LABEL_BYTES - 1),
		       base);
}

static int read_one(struct abresult *r, const char *name)
{
	char why[ABREAD_WHY_BYTES] = "";
	char label[ABRESULT_LABEL_BYTES];
	size_t n;
	char *text = read_whole(name, &n);
	int rc;

	if (text == NULL)
		return -EIO;
	label_of(name, label);
	rc = abread_is_json(text, n) ? abread_json(r, text, n, why)
				     : abcsv_read(r, label, text, n, why);
	if (rc == -EINVAL)
		log_error("--compare: \"%s\": %s", name, why);
	else if (rc < 0)
		log_error("--compare: \"%s\": %s", name, strerror(-rc));
	free(text);
	return rc;
}

/* Runs as they came: those of the file are not run by anybody now. */
static void tell_file_runs(struct experiment *e)
{
	size_t n = e->result.n_runs;

	for (size_t i = 1; i <= n; i++) {
		const struct abresult_run *run = &e->result.run[i - 1];
		struct out_progress p = {
			.repeated = !run->counted && !run->warmup,
			.rounds = run->warmup ? e->result.setup.warmup
					      : e->result.setup.rounds,
			.left_ns = -1,
		};

		e->result.n_runs = i;
		tell_run(e, &p);
	}
	e->result.n_runs = n;
}

enum client_status experiment_compare(const struct options *o, struct out *outs,
				      size_t n_outs, FILE *page)
{
	struct experiment e = { .o = o, .outs = outs, .n_outs = n_outs };
	struct abresult_setup *s = &e.result.setup;
	int rc = 0;

	s->confidence = o->confidence_ppm / PPM_IN_PERCENT / 100;
	for (unsigned i = 0; i < o->n_compare && rc == 0; i++)
		rc = read_one(&e.result, o->compare[i]);
	if (rc == 0 && s->n_arms < 2) {
		log_error("--compare: one arm alone: a second file is missing");
		rc = -EINVAL;
	}
	if (o->confidence_set)
		s->confidence = o->confidence_ppm / PPM_IN_PERCENT / 100;
	if (o->margin_ppm > 0)
		s->margin_percent = o->margin_ppm / PPM_IN_PERCENT;
	if (rc == 0) {
		tell_start(&e);
		tell_file_runs(&e);
		tell_summary(&e, page);
	}
	abresult_free(&e.result);
	return rc == 0 ? CLIENT_OK : CLIENT_FAILED;
}
