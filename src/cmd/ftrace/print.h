/* SPDX-License-Identifier: MIT */
/* Files of the kernel to standard output. */
#ifndef KYMO_CMD_FTRACE_PRINT_H
#define KYMO_CMD_FTRACE_PRINT_H

#include <stdbool.h>

#include "base/err.h"

/* Until its end; for trace_pipe until Ctrl-C. */
int ftrace_print_file(const char *path, struct err *e);
/* The names in a directory, a line each; values: "no" before those whose file says 0. */
int ftrace_print_names(const char *root, const char *dir, const char *before, bool values,
		       struct err *e);

#endif
