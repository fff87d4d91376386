/* SPDX-License-Identifier: MIT */
/* What the running kernel can do for tracing programs, in words (kymo run --info). */
#ifndef KYMO_LIVE_RUN_INFO_H
#define KYMO_LIVE_RUN_INFO_H

#include "live/run/env.h"

void run_info(struct run_env *env, struct strbuf *b);
int run_task_map(void); /* live/run/task_maps.c: one that keeps values with threads */

#endif
