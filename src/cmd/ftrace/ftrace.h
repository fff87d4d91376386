/* SPDX-License-Identifier: MIT */
/* The verbs of `kymo ftrace`. */
#pragma once

#include "cmd/command.h"
#include "event/trace.h"
#include <stdbool.h>
#include "base/err.h"

/* What changes settings of all is for root. */
int ftrace_for_root(struct err *e);
/* path NULL: stdin when a trace.dat comes from there, else trace.dat. */
const char *ftrace_input_path(const char *path);
/* Opens a trace.dat. */
int ftrace_input(const char *path, struct source **ret, struct err *e);

extern const struct command cmd_ftrace_check_events;
extern const struct command cmd_ftrace_clear;
extern const struct command cmd_ftrace_dump;
extern const struct command cmd_ftrace_extract;
extern const struct command cmd_ftrace_hist;
extern const struct command cmd_ftrace_list;
extern const struct command cmd_ftrace_mark, cmd_ftrace_convert;
extern const struct command cmd_ftrace_mem;
extern const struct command cmd_ftrace_options;
extern const struct command cmd_ftrace_profile;
extern const struct command cmd_ftrace_record;
extern const struct command cmd_ftrace_report;
extern const struct command cmd_ftrace_reset;
extern const struct command cmd_ftrace_restart;
extern const struct command cmd_ftrace_restore;
extern const struct command cmd_ftrace_set;
extern const struct command cmd_ftrace_show;
extern const struct command cmd_ftrace_snapshot;
extern const struct command cmd_ftrace_split;
extern const struct command cmd_ftrace_stack;
extern const struct command cmd_ftrace_start;
extern const struct command cmd_ftrace_stat;
extern const struct command cmd_ftrace_stop;
extern const struct command cmd_ftrace_trace;
extern const struct command cmd_ftrace_stream;

/* Until its end; for trace_pipe until Ctrl-C. */
int ftrace_print_file(const char *path, struct err *e);
/* The names in a directory, a line each; values: "no" before those whose file says 0. */
int ftrace_print_names(const char *root, const char *dir, const char *before, bool values,
		       struct err *e);
