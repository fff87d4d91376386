/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints beside system calls (kymo trace -e 'sched:*'): found by pattern, and their records
 * in the kernel's words.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/type.h"
#include "event/trace_abi.h"

struct trace_points {
	struct arena arena;
	VEC(struct event_type) types;
	struct map by_id; /* index + 1 */
	void *text;	  /* of event/text.h */
};

/* Adds those that fit "subsys:event"; none is an error. */
int trace_points_add(struct trace_points *p, const char *pattern, struct err *e);
/* Of records of the type: the fixed part, and room for what lies behind it. */
uint32_t trace_points_size(const struct event_type *t);
/* The name of r's event, and its text into b. */
const char *trace_points_text(const struct trace_points *p, const struct trace_record *r,
			      const void *raw, struct strbuf *b);
void trace_points_free(struct trace_points *p);
