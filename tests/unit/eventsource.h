/* SPDX-License-Identifier: MIT */
/* A source of events that a test makes: two types, the tracepoint sys:ev and cpu-clock. */
#pragma once

#include <string.h>

#include "event/task.h"
#include "event/trace.h"
#include "event/type.h"

struct event_source {
	struct source source;
	struct trace trace;
	struct event_type types[2];
	const struct event *ev;
	size_t n;
};

static int event_source_read(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	const struct event_source *m = s->impl;
	int r = 0;

	(void)all;
	(void)e;
	for (size_t i = 0; i < m->n && r == 0; i++)
		r = fn(ctx, &m->ev[i]);
	return r < 0 ? r : 0;
}

static void event_source_open(struct event_source *m, const struct event *ev, size_t n)
{
	static const char format[] =
		"name: ev\nID: 5\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:int x;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
		"\nprint fmt: \"\"\n";
	struct err e = { 0 };

	*m = (struct event_source){ .ev = ev, .n = n };
	m->types[0] = (struct event_type){ .name = "sys:ev", .system = "sys", .event = "ev" };
	m->types[1] = (struct event_type){ .name = "cpu-clock" };
	type_parse_format(&m->types[0], &m->trace.arena, format, strlen(format), &e);
	m->trace.types = m->types;
	m->trace.n_types = 2;
	m->trace.tasks = tasks_new();
	m->trace.first_time = n ? ev[0].time : 0;
	m->source =
		(struct source){ .trace = &m->trace, .impl = m, .read_ordered = event_source_read };
}

static void event_source_close(struct event_source *m)
{
	tasks_free(m->trace.tasks);
	arena_free(&m->trace.arena);
}
