/* SPDX-License-Identifier: MIT */
/* Files of the kernel to standard output. */
#ifndef KYMO_CMD_FTRACE_PRINT_H
#define KYMO_CMD_FTRACE_PRINT_H

#include "base/err.h"

/* Until its end; for trace_pipe until Ctrl-C. */
int ftrace_print_file(const char *path, struct err *e);

#endif
