/* SPDX-License-Identifier: MIT */
/*
 * The shipped programs of tools/, each a command of its own. The tables are made
 * from the programs' first lines by scripts/tools.
 */
#ifndef KYMO_CMD_TOOL_H
#define KYMO_CMD_TOOL_H

#include "cmd/command.h"

#define TOOL_OPTIONS 24

struct tool_option {
	const char *name; /* getopt()'s in the program */
	bool value;	  /* else a flag */
};
struct tool {
	const struct command *command;
	const char *text; /* the program */
	struct tool_option option[TOOL_OPTIONS];
	unsigned n_options;
	const char *words[8]; /* getopt()'s of the words behind the options, in order */
};
extern const struct tool tools[];
extern const size_t n_tools;

struct tool_args {
	bool flag[TOOL_OPTIONS];
	const char *value[TOOL_OPTIONS];
};
int tool_run(const struct tool *t, void *args, int argc, char **argv, struct err *e);

#endif
