/* SPDX-License-Identifier: MIT */
#include "calc/slices/switches.h"

#include <string.h>

#include "event/match.h"

#define SLEEPING 1 /* TASK_INTERRUPTIBLE: all that is known of who left the CPU by himself */

enum { PREV_TID, NEXT_TID, PREV_COMM, NEXT_COMM, PREV_PRIO, NEXT_PRIO, PREV_STATE };

void switches_init(struct switches *l, const struct trace *t)
{
	static const char *const names[] = { "prev_pid",  "next_pid",  "prev_comm", "next_comm",
					     "prev_prio", "next_prio", "prev_state" };
	uint32_t at = match_find_tracepoint(t, "sched", "sched_switch");

	*l = (struct switches){ .trace = t };
	if (at == MATCH_NONE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		l->field[i] = type_field(&t->types[at], names[i]);
	if (l->field[PREV_TID] && l->field[NEXT_TID])
		l->type = &t->types[at];
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
	*ret = (struct switch_seen){ .prev = (int32_t)switches_number(l->field[PREV_TID], ev),
				     .next = (int32_t)switches_number(l->field[NEXT_TID], ev),
				     .prev_comm = name(l->field[PREV_COMM], ev),
				     .next_comm = name(l->field[NEXT_COMM], ev),
				     .prev_prio = (int32_t)switches_number(l->field[PREV_PRIO], ev),
				     .next_prio = (int32_t)switches_number(l->field[NEXT_PRIO], ev),
				     .state = switches_number(l->field[PREV_STATE], ev) };
	return true;
}
