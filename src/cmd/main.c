/* SPDX-License-Identifier: MIT */
/*
 * kymo COMMAND ...; or, through a symlink, TOOL ... (busybox style).
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"

static int unknown_command(const char *name)
{
	struct str_nearest s = { .typed = name };
	struct err e = { 0 };
	char near[128];

	for (const struct command *const *c = commands; *c; c++)
		str_nearest_add(&s, (*c)->name);
	err_set(&e, EINVAL, "'%s' is not a kymo command", name);
	if (str_nearest_list(&s, near, sizeof(near)))
		err_hint(&e, "did you mean %s? 'kymo help' lists all", near);
	else
		err_hint(&e, "'kymo help' lists the commands");
	command_error("", &e);
	return EXIT_USAGE;
}

/* Options before the command: kymo --color=never stat ... Returns words used, or -1. */
static int global_options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--color=always") == 0)
			term_set_color(TERM_COLOR_ALWAYS);
		else if (strcmp(argv[i], "--color=never") == 0 ||
			 strcmp(argv[i], "--no-color") == 0)
			term_set_color(TERM_COLOR_NEVER);
		else if (strcmp(argv[i], "--color=auto") == 0)
			term_set_color(TERM_COLOR_AUTO);
		else if (strcmp(argv[i], "--no-pager") != 0) /* perf has it; kymo has no pager */
			return i;
	}
	return i;
}

/* Whatever was still buffered must reach stdout, or the user must hear of it. */
static int flushed(int code)
{
	struct err e = { 0 };

	if ((fflush(stdout) == 0 && !ferror(stdout)) || code)
		return code; /* a command that failed has said why */
	if (errno == EPIPE)
		return 141;
	err_set(&e, errno ? errno : EIO, "cannot write the output: %s",
		strerror(errno ? errno : EIO));
	err_hint(&e, "is the disk full?");
	command_error("", &e);
	return 1;
}

int main(int argc, char **argv)
{
	const char *self = argc > 0 ? basename(argv[0]) : "kymo";
	const struct command *c;
	int at;

	command_set_line(
		mem_dup(argv, ((size_t)argc + 1) * sizeof(*argv))); /* parsing moves words about */
	if (argc > 0 && strcmp(self, "kymo") != 0 && (c = command_find(commands, self)))
		return flushed(command_run(c, self, argc, argv));

	at = global_options(argc, argv);
	if (at >= argc || strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
		help_overview(stdout);
		return flushed(at >= argc && argc < 2 ? EXIT_USAGE : 0);
	}
	if (strcmp(argv[at], "--version") == 0 || strcmp(argv[at], "-v") == 0)
		argv[at] = (char *)"version";
	c = command_find(commands, argv[at]);
	if (!c)
		return unknown_command(argv[at]);
	return flushed(command_run(c, argv[at], argc - at, argv + at));
}
