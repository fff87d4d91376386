/* SPDX-License-Identifier: MIT */
/*
 * A capture that is looked at while it runs: events out of the rings, decoded,
 * with tasks and mappings known. What top, and every other live view, sits on.
 */
#ifndef KYMO_LIVE_MONITOR_H
#define KYMO_LIVE_MONITOR_H

#include "event/trace.h"
#include "live/capture.h"
#include "live/walked.h"

struct monitor {
	struct source *source; /* its trace has the types and tasks */
	struct capture capture;
	struct walked walked; /* walker NULL: the kernel makes the samples */
	uint8_t *buffer;
	size_t used, cap;
};

/* Opens everything switched off; tasks that run already are known afterwards. */
int monitor_open(struct monitor *m, struct spec_list *specs, struct target *t,
		 const struct capture_opts *o, struct err *e);
/* Hand what has come since the last call to fn. */
int monitor_poll(struct monitor *m, event_fn *fn, void *ctx, struct err *e);
void monitor_close(struct monitor *m);

#endif
