/* SPDX-License-Identifier: MIT */
/* A capture looked at while it runs: a source that is polled, with tasks and mappings known. All
 * live views sit on it. */
#pragma once

#include "event/trace.h"
#include "live/capture/capture.h"
#include "live/walk/walked.h"

struct monitor {
	struct source *source; /* to be polled */
	struct capture capture;
	struct walked walked; /* walker NULL: the kernel makes the samples */
	size_t tasks_size;    /* when they were last made anew */
};

/* Opens everything switched off, with the tasks that run already. m must not move. */
int monitor_open(struct monitor *m, struct spec_list *specs, struct target *t,
		 const struct capture_opts *o, struct err *e);
void monitor_close(struct monitor *m);

/* Are most tasks that are known by now no more? */
bool monitor_grown(const struct monitor *m);
/*
 * Make them anew without those (event/task.h), but with what is wanted. The caller frees the old.
 */
struct tasks *monitor_renew(struct monitor *m, const struct tasks_wanted *w,
			    struct tasks_moved *ret);
