/* SPDX-License-Identifier: MIT */
/*
 * A command: one file in this folder with an option table, some wiring, and
 * a struct command that is listed in commands.c.
 */
#pragma once

#include <stdio.h>

#include "base/opt.h"

struct example {
	const char *line; /* without "kymo " */
	const char *what;
};

#define EXAMPLES(...) ((const struct example[]){ __VA_ARGS__, { NULL, NULL } })

struct command {
	const char *name;
	const char *group;   /* heading in `kymo help` */
	const char *summary; /* one line, no capital, no full stop */
	const char *usage;   /* what follows the name: "[OPTIONS] [--] [COMMAND [ARGS]]" */
	const char *about;   /* a few sentences for -h, or NULL */
	const struct example *examples; /* ends with a NULL line; may be NULL */
	const struct opt *opts;		/* NULL: no options */
	unsigned parse;			/* OPT_STOP_AT_ARG */
	const char *complete;		/* what the arguments are, as in struct opt; NULL: files */
	size_t args_size;
	const void *defaults;		   /* what args starts as; NULL: zero */
	const struct command *const *subs; /* `kymo NAME SUB`; NULL when none */
	/*
	 * argc and argv are what the options left, argv[0] being the first of them.
	 * Returns the exit code, or -errno with e filled, which main prints.
	 */
	int (*run)(void *args, int argc, char **argv, struct err *e);
	void (*drop)(void *args); /* frees what args holds, also after bad options; may be NULL */
};

/* What most have: a table opts for a struct args, and NAME_run(). */
#define COMMAND_USUAL(name) .opts = opts, .args_size = sizeof(struct args), .run = name##_run

extern const struct command *const commands[]; /* NULL at the end */

const struct command *command_find(const struct command *const *list, const char *name);

/* argv[0] is the command's name. Parses, runs, prints errors; returns the exit code. */
int command_run(const struct command *c, const char *shown, int argc, char **argv);

/* The same with options taken already, by the command that c is a part of. */
int command_run_with(const struct command *c, const char *shown, int argc, char **argv, void *args);

/* Print e the way every kymo error looks; the exit code for it. */
int command_error(const char *shown, const struct err *e);

/* A line that begins "kymo: " on stderr, for notes that are not errors. */
__attribute__((format(printf, 1, 2))) void command_note(const char *fmt, ...);
/* Such a line when a signal (0: none) ended the command that was watched: it did not all it
 * would have done. */
void command_note_killed(const char *name, int signal);

/* -EINVAL where a recording or archive would go to a terminal: output is "-", and stdout is one. */
int command_spare_terminal(const char *output, const char *what, struct err *e);

/* The words kymo was started with, NULL at the end. */
char **command_line(void);
void command_set_line(char **argv);
/* Was kymo called by the name perf (a link)? Then output is as perf's where the two differ. */
bool command_is_perf(void);

/* Exit codes: as perf's and git's for wrong usage, 1 for what failed. */
#define EXIT_USAGE 129

/* What to type for a command that perf has and kymo has not; NULL for other words. */
const char *peer_instead(const char *word);

void help_overview(FILE *f);
/* Words up to this width, from column `used` of a line that has begun; more lines are indented. */
void help_wrapped(FILE *f, const char *text, unsigned indent, unsigned used, unsigned width);
void help_command(FILE *f, const struct command *c, const char *shown);

/* All but the tools, in the order that `kymo help` shows them in. */
/* clang-format off */
#define COMMANDS \
	COMMAND(stat) COMMAND(list) \
	COMMAND(record) COMMAND(report) COMMAND(diff) COMMAND(script) COMMAND(top) \
	COMMAND(trace) COMMAND(run) COMMAND(tools) \
	COMMAND(evlist) COMMAND(buildid_list) COMMAND(buildid_cache) COMMAND(inject) \
	COMMAND(annotate) COMMAND(probe) COMMAND(archive) \
	COMMAND(flame) COMMAND(heat) COMMAND(collapse) COMMAND(export) \
	COMMAND(addr2line) COMMAND(kallsyms) COMMAND(data) \
	COMMAND(ftrace) COMMAND(funccount) COMMAND(functrace) COMMAND(funcgraph) \
	COMMAND(funcslower) COMMAND(functime) \
	COMMAND(kprobe) COMMAND(uprobe) COMMAND(tpoint) COMMAND(reset_ftrace) \
	COMMAND(doctor) COMMAND(config) COMMAND(test) \
	COMMAND(help) COMMAND(version) COMMAND(completion) COMMAND(introspect)
/* clang-format on */
#define COMMAND(name) extern const struct command cmd_##name;
COMMANDS
#undef COMMAND
