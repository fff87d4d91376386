/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/vec.h"
#include "cmd/share/analyse.h"
#include "event/trace.h"

struct ftrace_profile_opts {
	struct vec_strs hooks; /* -H */
	VEC(pid_t) only;       /* threads; empty: all */
	bool by_comm, global_irqs;
};

/* The analysis "profile" of a recording, with the hooks that it notes itself. */
int ftrace_profile_tables(struct source *s, const struct ftrace_profile_opts *o,
			  const struct analyse_args *show, struct tables *ret, struct err *e);
