/* SPDX-License-Identifier: MIT */
#include "calc/slices/switches.h"

#include <string.h>

#include "event/match.h"

#define SLEEPING 1 /* TASK_INTERRUPTIBLE: all that is known of who left the CPU by himself */

void switches_init(struct switches *l, const struct trace *t)
{
	*l = (struct switches){ .trace = t };
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

static int64_t switches_number(const struct field *f, const struct event *ev)
{
	int64_t v = 0;

	return f && field_int(f, ev->raw, ev->raw_size, &v) ? v : 0;
}

static struct switch_name name(const struct field *f, const struct event *ev)
{
	struct switch_name r = { "", 0 };

	if (f && !field_str(f, ev->raw, ev->raw_size, &r.text, &r.n))
		r = (struct switch_name){ "", 0 };
	return r;
}

static struct switch_name switches_name_of(const struct switches *l, int32_t tid, uint64_t time)
{
	const char *s = tid < 0 ? "" : tasks_name_or(l->trace->tasks, tid, time, "");

	return (struct switch_name){ s, strlen(s) };
}

/*
 * A record of the whole CPU names both, when the one leaves and again when the other
 * comes; one of a process names only its own thread; none has a number for a thread
 * that ended. So who runs is remembered.
 */
static bool from_record(struct switches *l, const struct event *ev, struct switch_seen *ret)
{
	const struct event_side *x = ev->side;
	uint64_t *current = map_at(&l->current, ev->cpu);
	int32_t runs = (int32_t)*current - 1;

	if (!x || (!x->out && runs == ev->tid))
		return false;
	*ret = (struct switch_seen){ .prev = x->out && ev->tid >= 0 ? ev->tid : runs,
				     .next = x->out ? x->other_tid : ev->tid,
				     .state = x->out && !x->preempt ? SLEEPING : 0 };
	ret->prev_comm = switches_name_of(l, ret->prev, ev->time);
	ret->next_comm = switches_name_of(l, ret->next, ev->time);
	*current = ret->next < 0 ? 0 : (uint64_t)ret->next + 1;
	return true;
}

void switches_free(struct switches *l)
{
	map_free(&l->current);
}

bool switches_look(struct switches *l, const struct event *ev, struct switch_seen *ret)
{
	if (!(ev->have & EVENT_HAVE_TIME) || !(ev->have & EVENT_HAVE_CPU))
		return false;
	if (ev->kind == EVENT_SWITCH)
		return !l->type && from_record(l, ev, ret);
	if (ev->kind != EVENT_SAMPLE || !l->type || !(ev->have & EVENT_HAVE_RAW) ||
	    &l->trace->types[ev->type] != l->type)
		return false;
	*ret = (struct switch_seen){ .prev = (int32_t)switches_number(l->prev_tid, ev),
				     .next = (int32_t)switches_number(l->next_tid, ev),
				     .prev_comm = name(l->prev_comm, ev),
				     .next_comm = name(l->next_comm, ev),
				     .prev_prio = (int32_t)switches_number(l->prev_prio, ev),
				     .next_prio = (int32_t)switches_number(l->next_prio, ev),
				     .state = switches_number(l->prev_state, ev) };
	return true;
}
