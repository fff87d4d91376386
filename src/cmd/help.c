/* SPDX-License-Identifier: MIT */
/* `kymo help`, and the -h of every command, from the tables. */
#include <string.h>

#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"

#define LEFT 30 /* columns before an option's help text */

/* Print words wrapped to the terminal, continuation lines indented. */
static void wrapped(FILE *f, const char *text, unsigned indent, unsigned used)
{
	unsigned width = term_width(f, 96);
	unsigned col = used;

	if (width > 110)
		width = 110;
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (col > indent && col + 1 + n > width) {
			fprintf(f, "\n%*s", (int)indent, "");
			col = indent;
		} else if (col > used || (col > indent && used > indent)) {
			putc(' ', f);
			col++;
		}
		fprintf(f, "%.*s", (int)n, text);
		col += (unsigned)n;
		text += n;
		if (*text == '\n') {
			fprintf(f, "\n%*s", (int)indent, "");
			col = indent;
			used = indent;
			text++;
			continue;
		}
		text += *text == ' ';
		used = indent;
	}
	putc('\n', f);
}

static void option(FILE *f, const struct opt *o)
{
	AUTO_STRBUF b = { 0 };
	int pad;

	if (o->letter)
		strbuf_printf(&b, "-%c", o->letter);
	if (o->name)
		strbuf_printf(&b, "%s--%s", o->letter ? ", " : "    ", o->name);
	if (o->arg == OPT_ARG_REQUIRED || o->arg == OPT_ARG_LAST)
		strbuf_printf(&b, o->arg == OPT_ARG_LAST ? " [%s]" : " %s",
			      o->meta ? o->meta : "VALUE");
	else if (o->arg == OPT_ARG_OPTIONAL)
		strbuf_printf(&b, "[=%s]", o->meta ? o->meta : "VALUE");
	fprintf(f, "  %s%s%s", term_style(f, TERM_BOLD), strbuf_str(&b), term_style(f, TERM_RESET));
	pad = LEFT - 2 - (int)b.n;
	if (pad < 2) {
		fprintf(f, "\n%*s", LEFT, "");
	} else {
		fprintf(f, "%*s", pad, "");
	}
	wrapped(f, o->help, LEFT, LEFT);
}

static void heading(FILE *f, const char *text)
{
	fprintf(f, "\n%s%s:%s\n", term_style(f, TERM_YELLOW), text, term_style(f, TERM_RESET));
}

void help_command(FILE *f, const struct command *c, const char *shown)
{
	bool first = true;

	fprintf(f, "%skymo %s%s - %s\n\n", term_style(f, TERM_BOLD), shown,
		term_style(f, TERM_RESET), c->summary);
	fprintf(f, "usage: kymo %s %s\n", shown, c->usage ? c->usage : "");
	if (c->about) {
		putc('\n', f);
		wrapped(f, c->about, 0, 0);
	}
	if (c->subs) {
		heading(f, "Subcommands");
		for (const struct command *const *s = c->subs; *s; s++)
			fprintf(f, "  %s%-18s%s %s\n", term_style(f, TERM_BOLD), (*s)->name,
				term_style(f, TERM_RESET), (*s)->summary);
	}
	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++) {
		if (o->flags & OPT_HIDDEN)
			continue;
		if (o->kind == OPT_KIND_HEAD)
			heading(f, o->help);
		else {
			if (first && o == c->opts)
				heading(f, "Options");
			option(f, o);
		}
		first = false;
	}
	if (c->examples) {
		heading(f, "Examples");
		for (const struct example *x = c->examples; x->line; x++)
			fprintf(f, "  %skymo %-46s%s  %s\n", term_style(f, TERM_GREEN), x->line,
				term_style(f, TERM_RESET), x->what);
	}
}

void help_overview(FILE *f)
{
	const char *group = "";

	fprintf(f,
		"%skymo%s shows what a Linux machine is doing, from counters down to single "
		"events.\n\n",
		term_style(f, TERM_BOLD), term_style(f, TERM_RESET));
	fputs("usage: kymo [--color=auto|always|never] COMMAND [OPTIONS] [ARGS]\n", f);
	for (const struct command *const *c = commands; *c; c++) {
		if (!(*c)->group)
			continue;
		if (strcmp(group, (*c)->group) != 0)
			heading(f, group = (*c)->group);
		fprintf(f, "  %s%-12s%s %s\n", term_style(f, TERM_BOLD), (*c)->name,
			term_style(f, TERM_RESET), (*c)->summary);
	}
	fputs("\n'kymo help COMMAND' or 'kymo COMMAND -h' shows a command's options and examples.\n"
	      "'kymo doctor' shows what this machine lets you see.\n",
	      f);
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	const struct command *const *list = commands;
	const struct command *c = NULL;
	AUTO_STRBUF shown = { 0 };

	(void)args;
	if (!argc) {
		help_overview(stdout);
		return 0;
	}
	for (int i = 0; i < argc; i++) {
		struct str_nearest s = { .typed = argv[i] };
		char near[128];

		c = command_find(list, argv[i]);
		if (!c) {
			for (; list && *list; list++)
				str_nearest_add(&s, (*list)->name);
			err_set(e, EINVAL, "no help for '%s': there is no such command", argv[i]);
			if (str_nearest_list(&s, near, sizeof(near)))
				return err_hint(e, "did you mean %s?", near);
			return err_hint(e, "'kymo help' lists the commands");
		}
		strbuf_printf(&shown, "%s%s", shown.n ? " " : "", argv[i]);
		list = c->subs;
	}
	help_command(stdout, c, strbuf_str(&shown));
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.group = "kymo itself",
	.summary = "show the commands, or one command's options",
	.usage = "[COMMAND]",
	.run = run,
};
