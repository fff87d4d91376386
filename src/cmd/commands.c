/* SPDX-License-Identifier: MIT */
/* The list of commands, in the order `kymo help` shows them, and how one is run. */
#include <signal.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"
#include "cmd/front/settings.h"
#include "cmd/share/progress.h"

#define TOOL(name) extern const struct command tool_##name;
#include "cmd/tools_made.h"
#undef TOOL

#define COMMAND(name) &cmd_##name,
#define TOOL(name) &tool_##name,
const struct command *const commands[] = { COMMANDS
#include "cmd/tools_made.h"
						   NULL };
#undef TOOL
#undef COMMAND

static char **line;

char **command_line(void)
{
	return line;
}

void command_set_line(char **argv)
{
	line = argv;
}

bool command_is_perf(void)
{
	return line && line[0] && strcmp(str_base_name(line[0]), "perf") == 0;
}

const struct command *command_find(const struct command *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp((*list)->name, name) == 0)
			return *list;
	return NULL;
}

/* Messages may have several lines (a caret below the text); the hint is the last one. */
int command_error(const char *shown, const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "%skymo%s%s: %s%s\n", term_style(stderr, TERM_RED), *shown ? " " : "",
		shown, term_style(stderr, TERM_RESET), e->msg);
	if (e->hint[0])
		fprintf(stderr, "%shint:%s %s\n", term_style(stderr, TERM_CYAN),
			term_style(stderr, TERM_RESET), e->hint);
	return 1;
}

void command_note(const char *fmt, ...)
{
	AUTO_STRBUF text = { 0 };
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	progress_clear();
	/* in one piece: others may write to the same place */
	fprintf(stderr, "%skymo:%s %s\n", term_style(stderr, TERM_DIM),
		term_style(stderr, TERM_RESET), strbuf_str(&text));
}

void command_note_killed(const char *name, int signal)
{
	if (signal && signal != SIGINT) /* who pressed Ctrl-C knows */
		command_note("%s was ended by a signal: %s", name, strsignal(signal));
}

int command_spare_terminal(const char *output, const char *what, struct err *e)
{
	if (strcmp(output, "-") != 0 || !isatty(STDOUT_FILENO))
		return 0;
	err_set(e, EINVAL, "%s is nothing for a terminal", what);
	return err_hint(e, "-o FILE, or a pipe");
}

int command_run_with(const struct command *c, const char *shown, int argc, char **argv, void *args)
{
	static const struct opt none[] = { OPT_END };
	struct err e = { 0 };
	int n, code;

	n = opt_parse(c->opts ? c->opts : none, c->parse, argc, argv, args, &e);
	if (n == -ECANCELED) {
		help_command(stdout, c, shown);
		code = 0;
	} else if (n < 0) {
		if (!e.hint[0])
			err_hint(&e, "kymo %s -h shows the options", shown);
		command_error(shown, &e);
		code = EXIT_USAGE;
	} else {
		code = c->run(args, n, argv + 1, &e);
		if (code < 0)
			code = command_error(shown, &e);
	}
	return code;
}

int command_run(const struct command *c, const char *shown, int argc, char **argv)
{
	AUTO_FREE void *args = NULL;
	int code;

	if (c->subs && argc > 1) {
		const struct command *sub = command_find(c->subs, argv[1]);

		if (sub) {
			AUTO_FREE char *name = mem_printf("%s %s", shown, sub->name);

			return command_run(sub, name, argc - 1, argv + 1);
		}
	}
	args = mem_alloc(c->args_size);
	if (c->defaults)
		memcpy(args, c->defaults, c->args_size);
	if (c->opts)
		config_apply(c, args);
	code = command_run_with(c, shown, argc, argv, args);
	if (c->drop)
		c->drop(args);
	return code;
}
