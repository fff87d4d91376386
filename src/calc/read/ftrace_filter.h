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
#ifndef KYMO_CALC_READ_FTRACE_FILTER_H
#define KYMO_CALC_READ_FTRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "event/type.h"

enum ftrace_match {
	FTRACE_NONE,	/* there is no filter */
	FTRACE_NOEXIST, /* no filter is for this event */
	FTRACE_MATCH,
	FTRACE_MISS,
};

struct ftrace_subject {
	const struct event_type *type;
	const uint8_t *data;
	uint32_t size, cpu;
	uint64_t time;
	const char *comm;
};

struct ftrace_filter;
/*
 * known(ctx, system, event) calls back for every event there is; a filter that
 * names none of them is refused.
 */
struct ftrace_events {
	size_t n;
	const char *(*system)(void *ctx, size_t i);
	const char *(*event)(void *ctx, size_t i);
	void *ctx;
	/* to check the fields; NULL itself, or for an event: not known */
	const struct event_type *(*type)(void *ctx, size_t i);
};
int ftrace_filter_new(const char *text, const struct ftrace_events *events,
		      struct ftrace_filter **ret, struct err *e);
void ftrace_filter_free(struct ftrace_filter *f); /* NULL is fine */
enum ftrace_match ftrace_filter_match(struct ftrace_filter *f, const struct ftrace_subject *s);

/* What it asks of the records of one event, added to b; false when it is not for this event. */
bool ftrace_filter_text(const struct ftrace_filter *f, const struct event_type *t,
			struct strbuf *b);

#endif
