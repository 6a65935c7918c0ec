/*
 * main: arguments, signals, exit status; the only room that calls exit.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "log.h"
#include "options.h"
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
	};
}

static int run(const struct options *o, FILE *file)
{
	struct out out = {
		.writer = o->csv ? &out_csv : &out_text,
		.file = file,
		.style = style(o),
	};
	enum client_status status;

	catch_signals();
	/* threads inherit it */
	(void)platform_exact_sleep();
	if (o->side == OPTIONS_SERVER)
		return server_run(o, &out, &stops);
	status = client_run(o, &out, &stops);
	if (status == CLIENT_INTERRUPTED)
		return EXIT_SIGNAL + atomic_load(&first_signal);
	return (int)status;
}

static int run_into(const struct options *o)
{
	FILE *file = stdout;
	int status;

	if (o->output != NULL) {
		file = fopen(o->output, "w");
		if (file == NULL) {
			log_error("-o: \"%s\": %s", o->output, strerror(errno));
			return EXIT_FAILURE;
		}
	}
	status = run(o, file);
	if (file != stdout && fclose(file) != 0) {
		log_error("-o: \"%s\": %s", o->output, strerror(errno));
		return status == 0 ? EXIT_FAILURE : status;
	}
	return status;
}

int main(int argc, char *argv[])
{
	struct options o;
	char why[OPTIONS_WHY_BYTES];

	if (options_parse(&o, argc, argv, environment, why) < 0) {
		log_error("%s", why);
		return EXIT_FAILURE;
	}
	switch (o.ask) {
	case OPTIONS_HELP:
		options_usage(stdout);
		return EXIT_SUCCESS;
	case OPTIONS_VERSION:
		options_version(stdout);
		return EXIT_SUCCESS;
	case OPTIONS_RUN:
		break;
	}
	return run_into(&o);
}
