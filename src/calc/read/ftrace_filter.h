/* SPDX-License-Identifier: MIT */
/*
 * Filters over trace records in trace-cmd report's words:
 *
 *	sched_switch,sched/sched_wake.*:next_pid == 12 || comm =~ "^ssh"
 *
 * Events are regular expressions for names (or SYSTEM/NAME); what stands behind the
 * colon is an expression over fields, CPU, COMM and TIMESTAMP. A field that an
 * event has not makes the comparison false; one that none of them has is refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "event/type.h"

/* An event that the recording knows, whether it has any of it or not. */
struct ftrace_known {
	const char *system, *event;
	const struct event_type *type; /* to check the fields; NULL: not known */
};

struct ftrace_filter;
/* typed: fields are checked; a filter for none of the events is always refused. */
int ftrace_filter_new(const char *text, const struct ftrace_known *known, size_t n, bool typed,
		      struct ftrace_filter **ret, struct err *e);
void ftrace_filter_free(struct ftrace_filter *f); /* NULL is fine */
/* False also when it is not for this event. */
typedef const char *ftrace_comm_fn(void *ctx, int32_t tid);
bool ftrace_filter_match(struct ftrace_filter *f, const struct event_type *t,
			 const struct event *ev, ftrace_comm_fn *comm, void *ctx);

/* What it asks of the records of one event, added to b; false when it is not for this event. */
bool ftrace_filter_text(const struct ftrace_filter *f, const struct event_type *t,
			struct strbuf *b);
