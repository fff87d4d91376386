/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints beside system calls (kymo trace -e 'sched:*'): found by pattern, put to
 * a tracer, and their records in the kernel's words.
 */
#ifndef KYMO_LIVE_TRACE_POINTS_H
#define KYMO_LIVE_TRACE_POINTS_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/type.h"
#include "live/trace/tracer.h"

struct trace_points {
	struct arena arena;
	VEC(struct event_type) types;
	struct map by_id; /* index + 1 */
	void *text;	  /* of event/text.h */
};

/* Adds those that fit "subsys:event"; none is an error. */
int trace_points_add(struct trace_points *p, const char *pattern, struct err *e);
int trace_points_attach(const struct trace_points *p, struct tracer *t, struct err *e);
/* The name of r's event, and its text into b. */
const char *trace_points_text(const struct trace_points *p, const struct trace_record *r,
			      const void *raw, struct strbuf *b);
void trace_points_free(struct trace_points *p);

#endif
