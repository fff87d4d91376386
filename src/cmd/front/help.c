/* SPDX-License-Identifier: MIT */
/* `kymo help`, and the -h of every command, from the tables. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"

#define LEFT 30 /* columns before an option's help text */

static unsigned help_width(FILE *f)
{
	unsigned width = term_width(f, 96);

	return width > 110 ? 110 : width;
}

void help_wrapped(FILE *f, const char *text, unsigned indent, unsigned used, unsigned width)
{
	unsigned col = used;

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
	if (o->arg == OPT_ARG_REQUIRED || o->arg == OPT_ARG_LAST || o->arg == OPT_ARG_CHOICE)
		strbuf_printf(&b, o->arg == OPT_ARG_REQUIRED ? " %s" : " [%s]",
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
	help_wrapped(f, o->help, LEFT, LEFT, help_width(f));
}

static void heading(FILE *f, const char *text)
{
	fprintf(f, "\n%s%s:%s\n", term_style(f, TERM_YELLOW), text, term_style(f, TERM_RESET));
}

#define EXAMPLE 46 /* columns of an example; a longer one has its meaning on a line of its own */

static void examples(FILE *f, const struct example *list)
{
	size_t column = 0;

	heading(f, "Examples");
	for (const struct example *x = list; x->line; x++) {
		size_t n = strlen(x->line);

		column = n > column && n <= EXAMPLE ? n : column;
	}
	for (const struct example *x = list; x->line; x++) {
		size_t both = strlen("  kymo ") + column + 2 + strlen(x->what);
		bool wide = strlen(x->line) > column || both > help_width(f);

		fprintf(f, "  %skymo %-*s%s%s%s\n", term_style(f, TERM_GREEN),
			wide ? 0 : (int)column, x->line, term_style(f, TERM_RESET),
			wide ? "\n        " : "  ", x->what);
	}
}

void help_command(FILE *f, const struct command *c, const char *shown)
{
	bool first = true;

	fprintf(f, "%skymo %s%s - %s\n\n", term_style(f, TERM_BOLD), shown,
		term_style(f, TERM_RESET), c->summary);
	fprintf(f, "usage: kymo %s %s\n", shown, c->usage ? c->usage : "");
	if (c->about) {
		putc('\n', f);
		help_wrapped(f, c->about, 0, 0, help_width(f));
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
	if (c->examples)
		examples(f, c->examples);
}

static const struct example first_steps[] = {
	{ "stat ls", "what did it cost?" },
	{ "stat -a sleep 5", "the whole machine for five seconds" },
	{ "record -g -- make", "sample a command with its call chains ..." },
	{ "report", "... and show where the time went" },
	{ "list 'sched:*'", "which events are there?" },
	{ NULL, NULL },
};

/* A command's group may come again further down the list: it is shown where it came first. */
static bool group_seen(const struct command *const *before)
{
	for (const struct command *const *c = commands; c < before; c++)
		if ((*c)->group && strcmp((*c)->group, (*before)->group) == 0)
			return true;
	return false;
}

/* The many small ones: names only; `kymo tools` says more. */
static void tool_names(FILE *f, const struct command *const *from)
{
	unsigned column = 0;

	for (const struct command *const *c = from; *c; c++) {
		if (!(*c)->group || strcmp((*c)->group, (*from)->group) != 0)
			continue;
		if (column + strlen((*c)->name) + 1 > 76)
			column = 0;
		column += (unsigned)fprintf(f, "%s%s",
					    column	? " "
					    : c == from ? "  "
							: "\n  ",
					    (*c)->name);
	}
	fputc('\n', f);
}

void help_overview(FILE *f)
{
	fprintf(f,
		"%skymo%s shows what a Linux machine is doing, from counters down to single "
		"events.\n\n",
		term_style(f, TERM_BOLD), term_style(f, TERM_RESET));
	fputs("usage: kymo [--color=auto|always|never] COMMAND [OPTIONS] [ARGS]\n", f);
	for (const struct command *const *g = commands; *g; g++) {
		if (!(*g)->group || group_seen(g))
			continue;
		heading(f, (*g)->group);
		if (strcmp((*g)->group, "Tools") == 0) {
			tool_names(f, g);
			continue;
		}
		for (const struct command *const *c = g; *c; c++)
			if ((*c)->group && strcmp((*g)->group, (*c)->group) == 0)
				fprintf(f, "  %s%-13s%s %s\n", term_style(f, TERM_BOLD), (*c)->name,
					term_style(f, TERM_RESET), (*c)->summary);
	}
	examples(f, first_steps);
	fputs("\n'kymo help COMMAND' or 'kymo COMMAND -h' shows a command's options and examples.\n"
	      "'kymo doctor' shows what this machine lets you see.\n",
	      f);
}

/*
 * Words that a perf user's hands know and kymo has no command for: what to type instead.
 *
 * It is asked only after no command was found, so a line may stay here when
 * the command comes. Each names something that works today.
 */
static const struct {
	const char *word, *instead;
} perf_words[] = {
	{ "bench", "kymo stat -r 10 COMMAND measures any program" },
	{ "c2c", "kymo record -d -e EVENT keeps data addresses, kymo script -F addr shows them" },
	{ "daemon", "kymo record --control fifo:PATH --switch-output runs in the background" },
	{ "iostat", "kymo stat -e 'block:*' -a counts disk requests" },
	{ "kmem", "kymo stat -e 'kmem:*' COMMAND counts the kernel's allocations" },
	{ "kvm", "kymo stat -e 'kvm:*' -a counts what a host does for its guests" },
	{ "kwork", "kymo stat -e 'irq:*' -e 'workqueue:*' -a counts interrupts and work items" },
	{ "lock", "kymo record -e 'lock:*' -ag records who waits for locks" },
	{ "mem", "kymo record -d -e EVENT keeps data addresses, kymo script -F addr shows them" },
	{ "sched", "kymo record -e 'sched:*' -a records it, kymo script shows it" },
	{ "timechart", "kymo record -e 'sched:*' -a records it, kymo script shows it" },
};

const char *peer_instead(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_words); i++)
		if (strcmp(perf_words[i].word, word) == 0)
			return perf_words[i].instead;
	return NULL;
}

static int help_run(void *args, int argc, char **argv, struct err *e)
{
	const struct command *const *list = commands;
	const struct command *c = NULL;
	AUTO_STRBUF shown = { 0 };

	if (!argc) {
		help_overview(stdout);
		return 0;
	}
	for (int i = 0; !c || i < argc; i++) {
		struct str_nearest s = { .typed = argv[i] };
		char near[128];

		c = command_find(list, argv[i]);
		if (!c) {
			for (; list && *list; list++)
				str_nearest_add(&s, (*list)->name);
			err_set(e, EINVAL, "no help for '%s': there is no such command", argv[i]);
			if (i == 0 && peer_instead(argv[i]))
				return err_hint(e, "%s", peer_instead(argv[i]));
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
	.examples = EXAMPLES({ "help", "all commands" },
			     { "help stat", "options and examples of one" }),
	.run = help_run,
};
