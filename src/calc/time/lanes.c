/* SPDX-License-Identifier: MIT */
#include "calc/time/lanes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "event/match.h"

#define SLEEPING 1 /* TASK_INTERRUPTIBLE: all that is known of who left the CPU by himself */

void lanes_init(struct lanes *l, const struct trace *t)
{
	*l = (struct lanes){ .trace = t };
	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *e = &t->types[i];

		if (!e->n_fields || !match_tracepoint(e, "sched", "sched_switch"))
			continue;
		l->type = e;
		l->prev_comm = type_field(e, "prev_comm");
		l->prev_tid = type_field(e, "prev_pid");
		l->prev_prio = type_field(e, "prev_prio");
		l->prev_state = type_field(e, "prev_state");
		l->next_comm = type_field(e, "next_comm");
		l->next_tid = type_field(e, "next_pid");
		l->next_prio = type_field(e, "next_prio");
		if (!l->prev_tid || !l->next_tid)
			l->type = NULL;
	}
}

static int64_t lanes_number(const struct field *f, const struct event *ev)
{
	int64_t v = 0;

	return f && field_int(f, ev->raw, ev->raw_size, &v) ? v : 0;
}

static struct lane_name name(const struct field *f, const struct event *ev)
{
	struct lane_name r = { "", 0 };

	if (f && !field_str(f, ev->raw, ev->raw_size, &r.text, &r.n))
		r = (struct lane_name){ "", 0 };
	return r;
}

static struct lane_name lanes_name_of(const struct lanes *l, int32_t tid, uint64_t time)
{
	const char *s = tid < 0 ? "" : tasks_name_or(l->trace->tasks, tid, time, "");

	return (struct lane_name){ s, strlen(s) };
}

/*
 * A record of the whole CPU names both, when the one leaves and again when the other
 * comes; one of a process names only its own thread; none has a number for a thread
 * that ended. So who runs is remembered.
 */
static bool from_record(struct lanes *l, const struct event *ev, struct lane_switch *ret)
{
	const struct event_side *x = ev->side;
	uint64_t *current = map_at(&l->current, ev->cpu);
	int32_t runs = (int32_t)*current - 1;

	if (!x || (!x->out && runs == ev->tid))
		return false;
	*ret = (struct lane_switch){ .prev = x->out && ev->tid >= 0 ? ev->tid : runs,
				     .next = x->out ? x->other_tid : ev->tid,
				     .state = x->out && !x->preempt ? SLEEPING : 0 };
	ret->prev_comm = lanes_name_of(l, ret->prev, ev->time);
	ret->next_comm = lanes_name_of(l, ret->next, ev->time);
	*current = ret->next < 0 ? 0 : (uint64_t)ret->next + 1;
	return true;
}

void lanes_free(struct lanes *l)
{
	map_free(&l->current);
}

bool lanes_switch(struct lanes *l, const struct event *ev, struct lane_switch *ret)
{
	if (!(ev->have & EVENT_HAVE_TIME) || !(ev->have & EVENT_HAVE_CPU))
		return false;
	if (ev->kind == EVENT_SWITCH)
		return !l->type && from_record(l, ev, ret);
	if (ev->kind != EVENT_SAMPLE || !l->type || !(ev->have & EVENT_HAVE_RAW) ||
	    &l->trace->types[ev->type] != l->type)
		return false;
	*ret = (struct lane_switch){ .prev = (int32_t)lanes_number(l->prev_tid, ev),
				     .next = (int32_t)lanes_number(l->next_tid, ev),
				     .prev_comm = name(l->prev_comm, ev),
				     .next_comm = name(l->next_comm, ev),
				     .prev_prio = (int32_t)lanes_number(l->prev_prio, ev),
				     .next_prio = (int32_t)lanes_number(l->next_prio, ev),
				     .state = lanes_number(l->prev_state, ev) };
	return true;
}

enum lane_call lanes_call(const struct event_type *t)
{
	if (!t->system || !t->n_fields || !str_ends(t->system, "syscalls"))
		return LANE_NO_CALL;
	if (str_starts(t->event, "sys_enter"))
		return LANE_ENTER;
	return str_starts(t->event, "sys_exit") ? LANE_EXIT : LANE_NO_CALL;
}

const char *lanes_call_name(const struct event_type *t, const struct event *ev, char *buf,
			    size_t size)
{
	const char *own = t->event + strcspn(t->event, "_") + 1;
	const struct field *id = type_field(t, "id");

	own = strchr(own, '_');
	if (own)
		return own + 1;
	snprintf(buf, size, "syscall %" PRId64, lanes_number(id, ev));
	return buf;
}
