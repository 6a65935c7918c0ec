/*
 * main: arguments, signals, exit status; the only room that ends the process
 * (besides the parent that -D leaves behind).
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "cmdline.h"
#include "completion.h"
#include "experiment.h"
#include "log.h"
#include "options.h"
#include "opttable.h"
#include "platform/platform.h"
#include "server.h"

#define EXIT_SIGNAL 128

/* How many times SIGINT or SIGTERM came, and the first of them. */
static atomic_int stops;
static atomic_int first_signal;

static void on_signal(int number)
{
	int none = 0;

	(void)atomic_compare_exchange_strong(&first_signal, &none, number);
	(void)atomic_fetch_add(&stops, 1);
}

static void catch_signals(void)
{
	struct sigaction stop = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&stop.sa_mask);
	sigemptyset(&ignore.sa_mask);
	(void)sigaction(SIGINT, &stop, NULL);
	(void)sigaction(SIGTERM, &stop, NULL);
	(void)sigaction(SIGPIPE, &ignore, NULL);
}

static const char *environment(const char *name)
{
	return getenv(name);
}

static struct out_style style(const struct options *o)
{
	return (struct out_style){
		.dialect = o->dialect,
		.format = o->format,
		.enhanced = o->enhanced,
		.mss = o->print_mss,
		.time_decimals = options_decimals(o),
		.utc = o->utc,
		.sum_only = o->sum_only,
		.connects = o->connects > 0,
	};
}

/* Where the report goes. */
struct outputs {
	struct out out[2];
	size_t n;
	FILE *page; /* of an experiment, NULL: none */
};

static void add_out(struct outputs *outs, const struct out_writer *writer,
		    FILE *file, const struct options *o)
{
	struct out *out = &outs->out[outs->n++];

	*out = (struct out){ .writer = writer,
			     .experiment = writer == &out_json ? &out_json_arms
							       : &out_arms,
			     .file = file,
			     .style = style(o) };
	/* machines get all there is */
	if (writer == &out_json)
		out->style.enhanced = true;
}

/* A line went to stderr. */
static void tell_outputs(void *arg, const char *text)
{
	struct outputs *outs = arg;

	for (size_t i = 0; i < outs->n; i++)
		outs->out[i].writer->failed(&outs->out[i], text);
}

static int run(const struct options *o, struct outputs *outs)
{
	enum client_status status;

	catch_signals();
	/* threads inherit it */
	(void)platform_exact_sleep();
	(void)platform_return_memory();
	if (o->side == OPTIONS_SERVER)
		return server_run(o, outs->out, outs->n, &stops);
	if (o->side == OPTIONS_COMPARE)
		status = experiment_compare(o, outs->out, outs->n, outs->page);
	else if (o->n_arms > 0)
		status = experiment_run(o, outs->out, outs->n, outs->page,
					&stops);
	else
		status = client_run(o, outs->out, outs->n, &stops);
	if (status == CLIENT_INTERRUPTED)
		return EXIT_SIGNAL + atomic_load(&first_signal);
	return (int)status;
}

/* Opens the file that an option names; NULL after a word about it. */
static FILE *open_file(const char *option, const char *name)
{
	FILE *file = fopen(name, "w");

	if (file == NULL)
		log_error("%s: \"%s\": %s", option, name, strerror(errno));
	return file;
}

/* What could not be written is a failure of a test that went well. */
static int finish_file(const char *name, FILE *file, int status)
{
	bool lost = fflush(file) != 0 || ferror(file) != 0;

	if (fclose(file) != 0)
		lost = true;
	if (!lost)
		return status;
	log_error("%s: not all of the output could be written", name);
	return status == EXIT_SUCCESS ? EXIT_FAILURE : status;
}

/* The files beside the first one; false after a word about one of them. */
static bool open_others(const struct options *o, struct outputs *outs,
			FILE **json)
{
	if (o->json_file != NULL) {
		*json = open_file("--json-file", o->json_file);
		if (*json == NULL)
			return false;
		add_out(outs, &out_json, *json, o);
	}
	if (o->report == NULL)
		return true;
	outs->page = open_file("--report", o->report);
	return outs->page != NULL;
}

static int run_into(const struct options *o)
{
	struct outputs outs = { .n = 0 };
	FILE *file = stdout;
	FILE *json = NULL;
	int status = EXIT_FAILURE;

	if (o->output != NULL && (file = open_file("-o", o->output)) == NULL)
		return EXIT_FAILURE;
	if (o->json)
		add_out(&outs, &out_json, file, o);
	else
		add_out(&outs, o->csv ? &out_csv : &out_text, file, o);
	if (open_others(o, &outs, &json)) {
		log_also(tell_outputs, &outs);
		status = run(o, &outs);
		log_also(NULL, NULL);
	}
	if (json != NULL)
		status = finish_file(o->json_file, json, status);
	if (outs.page != NULL)
		status = finish_file(o->report, outs.page, status);
	return finish_file(o->output != NULL ? o->output : "stdout", file,
			   status);
}

/* The command line is wrong: who asked for JSON gets that too. */
static int refuse(int argc, char *const argv[], const char *why)
{
	struct out out = { .writer = &out_json, .file = stdout };

	log_error("%s", why);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			out_json.failed(&out, why);
			break;
		}
	}
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	struct options o;
	char why[OPTIONS_WHY_BYTES];

	if (cmdline_parse(&o, argc, argv, environment, why) < 0) {
		return refuse(argc, argv, why);
	}
	switch (o.ask) {
	case OPTIONS_HELP:
		opttable_usage(stdout);
		return finish_file("stdout", stdout, EXIT_SUCCESS);
	case OPTIONS_VERSION:
		options_version(stdout);
		return finish_file("stdout", stdout, EXIT_SUCCESS);
	case OPTIONS_COMPLETION:
		completion_write(stdout);
		return finish_file("stdout", stdout, EXIT_SUCCESS);
	case OPTIONS_RUN:
		break;
	}
	if (o.hide_ips)
		log_hide(o.host != NULL ? o.host : "");
	return run_into(&o);
}
