/* SPDX-License-Identifier: MIT */
/* What the files of kymo run share. */
#ifndef KYMO_CMD_RUN_H
#define KYMO_CMD_RUN_H

#include "live/run_env.h"

/* Probes that fit a pattern, one a line; with their arguments when verbose. */
int run_list(struct run_env *env, const char *pattern, bool verbose, struct err *e);

#endif
