/* SPDX-License-Identifier: MIT */
/*
 * kymo COMMAND ...; or, through a symlink, COMMAND ... (busybox style).
 */
#include <libgen.h>
#include <malloc.h>
#include <string.h>
#include <signal.h>

#include "base/budget.h"
#include "base/filemap.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"
#include "kern/undo.h"

static int unknown_command(const char *name)
{
	const char *instead = peer_instead(name);
	struct str_nearest s = { .typed = name };
	struct err e = { 0 };
	char near[128];

	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->group)
			str_nearest_add(&s, (*c)->name);
	err_set(&e, EINVAL, "'%s' is not a kymo command", name);
	if (instead)
		err_hint(&e, "%s", instead);
	else if (str_nearest_list(&s, near, sizeof(near)))
		err_hint(&e, "did you mean %s? 'kymo help' lists all", near);
	else
		err_hint(&e, "'kymo help' lists the commands");
	command_error("", &e);
	return EXIT_USAGE;
}

static int set_color(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const char *const modes[] = { "auto", "always", "never" }; /* enum term_color_mode */

	if (unset)
		value = "never";
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (!value || strcmp(value, modes[i]) == 0) {
			term_set_color(value ? (enum term_color_mode)i : TERM_COLOR_ALWAYS);
			return 0;
		}
	return err_set(e, EINVAL, "--color wants auto, always or never, not '%s'", value);
}

static int set_no_servers(const struct opt *o, const char *value, bool unset, void *args,
			  struct err *e)
{
	unsetenv("DEBUGINFOD_URLS");
	return 0;
}

struct args {
	bool help, version, pager;
};

/* Options before the command: kymo --color=never stat ... */
static const struct opt global[] = {
	OPT_FN_C(0, "color", "WHEN", OPT_ARG_OPTIONAL, set_color, "colours: auto, always or never",
		 "auto|always|never"),
	OPT_FN0(0, "no-debuginfod", set_no_servers,
		"do not ask debuginfod servers, in any command"),
	OPT_FLAG('h', "help", help, "show the commands"),
	OPT_FLAG('v', "version", version, "show the version"),
	OPT_FLAG('p', "paginate", pager, "perf has it; kymo has no pager"),
	OPT_FLAG(0, "pager", pager, "for --no-pager, which perf has"),
	OPT_END,
};

/* Whatever was still buffered must reach stdout, or the user must hear of it. */
static int flushed(int code)
{
	const char *refused = budget_refused();
	struct err e = { 0 };

	if (refused)
		command_note("%s", refused);

	if ((fflush(stdout) == 0 && !ferror(stdout)) || code)
		return code; /* a command that failed has said why */
	if (errno == EPIPE)
		return 141;
	err_set(&e, errno ? errno : EIO, "cannot write the output: %s",
		strerror(errno ? errno : EIO));
	if (errno == EBADF)
		err_hint(&e, "standard output is closed");
	else
		err_hint(&e, "is the disk full?");
	command_error("", &e);
	return 1;
}

static int help(void)
{
	help_overview(stdout);
	return flushed(0);
}

/* Tools whose words a command takes under another name. */
static const struct {
	const char *name;
	const struct command *command;
} tools[] = {
	{ "bpftrace", &cmd_run },
	{ "trace-cmd", &cmd_ftrace },
};

int main(int argc, char **argv)
{
	const char *self = argc > 0 ? basename(argv[0]) : "kymo";
	const struct command *c;
	struct args args = { 0 };
	struct err e = { 0 };
	int left;

	guard_start();
	filemap_start();
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what is large is given back when it is freed */
	undo_recover();			    /* what a kymo left behind that was killed */
	command_set_line(
		mem_dup(argv, ((size_t)argc + 1) * sizeof(*argv))); /* parsing moves words about */
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (strcmp(self, tools[i].name) == 0)
			return flushed(command_run(tools[i].command, self, argc, argv));
	/* A symlink named after a command is that command; any other name (perf) is kymo. */
	if (strcmp(self, "kymo") != 0 && (c = command_find(commands, self)))
		return flushed(command_run(c, self, argc, argv));
	if (argc < 2)
		return help();
	if ((c = command_find(commands, argv[1]))) /* --introspect too */
		return flushed(command_run(c, argv[1], argc - 1, argv + 1));

	left = opt_parse(global, OPT_STOP_AT_ARG, argc, argv, &args, &e);
	if (left < 0) {
		command_error("", &e);
		return EXIT_USAGE;
	}
	if (args.version)
		return flushed(
			command_run(&cmd_version, "version", 1, (char *[]){ "version", NULL }));
	if (args.help || !left)
		return help();
	c = command_find(commands, argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	return flushed(command_run(c, argv[1], left, argv + 1));
}
