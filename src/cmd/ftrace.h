/* SPDX-License-Identifier: MIT */
/* The verbs of `kymo ftrace`. */
#ifndef KYMO_CMD_FTRACE_H
#define KYMO_CMD_FTRACE_H

#include "cmd/command.h"

extern const struct command cmd_ftrace_record;
extern const struct command cmd_ftrace_report;

#endif
