/*
 * The script has three parts: the options of each side, what may follow those
 * that take an argument, and a function that looks up both.
 */
#include "completion.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "opttable.h"
#include "optvalue.h"

/* The names of one option, as they are typed. */
static void names(FILE *f, const struct opttable_row *r, const char *between)
{
	const char *before = "";

	if (r->letter) {
		fprintf(f, "-%c", r->letter);
		before = between;
	}
	for (size_t i = 0; i < OPTTABLE_NAMES && r->names[i]; i++) {
		fprintf(f, "%s--%s", before, r->names[i]);
		before = between;
	}
}

/* Of an option only its letter and main name are offered. */
static void offered(FILE *f, enum opttable_whose first,
		    enum opttable_whose last, const char *variable)
{
	const struct opttable_row *r;

	fprintf(f, "\tlocal %s='", variable);
	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		if (r->whose < first || r->whose > last || r->kind == OPT_OLD)
			continue;
		if (r->letter)
			fprintf(f, "-%c ", r->letter);
		fprintf(f, "--%s ", r->names[0]);
	}
	fputs("'\n", f);
}

/* The words that an argument is one of. */
static void words(FILE *f, const struct opttable_row *r)
{
	const char *name;

	fputs("-W '", f);
	for (const char *c = r->choices; c && *c; c++) {
		if (r->kind == OPT_CHOICE)
			fputc(*c == '|' ? ' ' : *c, f);
		else
			fprintf(f, "%c ", *c);
	}
	for (size_t i = 0; !r->choices && (name = optvalue_tos_name(i)) != NULL;
	     i++)
		fprintf(f, "%s ", name);
	fputs("'", f);
}

/* One case: what may follow this option.  An argument that may be left out
 * stands behind an equals sign only. */
static void argument(FILE *f, const struct opttable_row *r)
{
	fputs("\t", f);
	names(f, r, "|");
	fputs(") COMPREPLY=($(compgen ", f);
	switch (r->kind) {
	case OPT_HOST:
		fputs("-A hostname", f);
		break;
	case OPT_CHOICE:
	case OPT_LETTER:
	case OPT_PREFIX:
	case OPT_TOS:
	case OPT_DSCP:
		words(f, r);
		break;
	case OPT_FILES:
		fputs("-f", f);
		break;
	default:
		fputs(strcmp(r->arg, "FILE") == 0 ? "-f" : "-W ''", f);
	}
	fputs(" -- \"$cur\")); return ;;\n", f);
}

void completion_write(FILE *f)
{
	const struct opttable_row *r;

	fputs("# Completes the options of iperf in bash.\n"
	      "_iperf()\n"
	      "{\n"
	      "\tlocal cur=$2 prev=$3 list word\n",
	      f);
	offered(f, AS_SERVER, AS_SERVER, "server");
	offered(f, AS_CLIENT, AS_CLIENT, "client");
	offered(f, AS_BOTH, AS_BOTH, "both");
	offered(f, AS_EXPERIMENT, AS_COMPARE, "experiments");
	fputs("\tCOMPREPLY=()\n"
	      "\t# bash takes --name=value for three words\n"
	      "\tcase $cur$prev in\n"
	      "\t=*) cur= ;;\n"
	      "\t*=) prev=${COMP_WORDS[COMP_CWORD - 2]} ;;\n"
	      "\tesac\n"
	      "\tcase $prev in\n",
	      f);
	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		if (r->arg && !r->absent)
			argument(f, r);
	}
	fputs("\tesac\n"
	      "\tlist=\"$server$client$both$experiments\"\n"
	      "\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
	      "\t\tcase $word in\n"
	      "\t\t-s|--server) list=\"$server$both\" ;;\n"
	      "\t\t-c|--client) list=\"$client$both$experiments\" ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tCOMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
	      "}\n"
	      "complete -F _iperf iperf\n",
	      f);
}
