/* SPDX-License-Identifier: MIT */
/*
 * What traced processes have mapped, for a trace.dat whose user addresses shall have names.
 *
 * A command and what it starts is followed while it runs, by perf's records of mappings; of
 * processes that run already /proc tells, at the end, or at the beginning if they are gone by then.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct ftrace_maps;

/* child: has not begun; 0: none. On failure *ret is untouched. */
int ftrace_maps_open(pid_t child, const pid_t *pids, size_t n, struct ftrace_maps **ret,
		     struct err *e);
/* Now and then, that nothing is lost. */
void ftrace_maps_poll(struct ftrace_maps *m);
/* At the end: each process as trace.dat has it. They live as long as m. */
char *const *ftrace_maps_texts(struct ftrace_maps *m, size_t *n);
void ftrace_maps_close(struct ftrace_maps *m); /* NULL is fine */
