/* SPDX-License-Identifier: MIT */
/* -e, --filter and --duration, the same in every command that has them. */
#pragma once

#include "event/env.h"
#include "event/spec/spec.h"

/* What this machine's events can be; one for the whole program. */
const struct spec_env *events_env(void);

/* --filter: for the tracepoints that the last -e named. */
int events_filter(struct spec_list *list, const char *filter, struct err *e);

/*
 * -G: the n-th cgroup is the n-th event's, a single one everybody's; NULL for events that have
 * none. One more than there are events, for one that is added to track tasks. Lives as long as the
 * list.
 */
const char *const *cgroups_by_event(struct spec_list *list, const char *text);

/* How long a command watches: text, of which duration_ns() makes a number; 0 when there is none. */
#define OPT_DURATION(letter, field, help) OPT_STR(letter, "duration", "SECONDS", field, help)
int duration_ns(const char *text, uint64_t *ns, struct err *e);
