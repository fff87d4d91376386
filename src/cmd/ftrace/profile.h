/* SPDX-License-Identifier: MIT */
#ifndef KYMO_CMD_FTRACE_PROFILE_H
#define KYMO_CMD_FTRACE_PROFILE_H

#include <sys/types.h>

#include "base/out.h"
#include "base/vec.h"
#include "event/trace.h"

struct ftrace_profile_opts {
	struct vec_strs hooks; /* -H */
	VEC(pid_t) only;       /* threads; empty: all */
	bool by_comm, global_irqs;
};

/* Where the tasks of a recording spent their time; summary: a table of them first. */
int ftrace_profile_print(struct source *s, const struct ftrace_profile_opts *o, bool summary,
			 struct out *out, struct err *e);
/* How often each event or function came, by task unless all, with its stacks. */
int ftrace_hist_print(struct source *s, bool all_tasks, struct out *out, struct err *e);

#endif
