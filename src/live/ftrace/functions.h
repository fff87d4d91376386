/* SPDX-License-Identifier: MIT */
/* The functions that tracers are for, and what is to happen when some of them are called. */
#pragma once

#include "live/ftrace/ftrace.h"

/*
 * Names and patterns to set_ftrace_filter or one of its kin, those of a module where one is named.
 * sys_write becomes what this kernel calls it; one that is not there is told by name.
 */
int ftrace_put_functions(struct ftrace *f, const struct ftrace_buffer *b, const char *file,
			 ftrace_names_list *names, const char *module, struct err *e);

/* Says that there is no such function, with those near to it; -ENOENT. */
int ftrace_no_function(const char *root, const char *name, struct err *e);

/* FUNC:traceoff:3 and other commands: whether they can be, and setting them. */
int ftrace_check_commands(const struct ftrace *f, const struct ftrace_buffer *b, struct err *e);
int ftrace_put_commands(struct ftrace *f, const struct ftrace_buffer *b, struct err *e);
