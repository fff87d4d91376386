/* SPDX-License-Identifier: MIT */
/* Records that are no samples, in the words of perf's --show-*-events. */
#include "view/script/impl.h"

#include <math.h>
bool side_wanted(const struct script *s, const struct event *ev)
{
	const struct script_opts *o = &s->o;

	if (o->everything)
		return true;
	switch (ev->kind) {
	case EVENT_COUNTER: return true;
	case EVENT_MMAP: return o->show_mmap;
	case EVENT_COMM:
	case EVENT_FORK:
	case EVENT_EXIT: return o->show_task;
	case EVENT_SWITCH: return o->show_switch;
	case EVENT_LOST: return o->show_lost && s->trace->record_text && !ev->side->samples;
	case EVENT_NAMESPACES: return o->show_namespace;
	case EVENT_CGROUP: return o->show_cgroup;
	case EVENT_KSYMBOL: return o->show_bpf || o->show_text_poke;
	case EVENT_BPF: return o->show_bpf;
	case EVENT_TEXT_POKE: return o->show_text_poke;
	default: return false;
	}
}

/*
 * What recorders write about tasks that ran already has no time, so all of it
 * holds from the start. perf shows these records one after the other, each with
 * the name the task has got so far: that is followed here.
 */
#define EARLY_IDLE UINT64_MAX /* children of the idle task */
#define EARLY_NAMELESS (UINT64_MAX - 1)

static const char *early_comm(struct script *s, const struct event *ev, char buf[TASK_NAME])
{
	const struct strtab *strings = tasks_strings(s->trace->tasks);
	uint64_t *at = map_at(&s->early, (uint32_t)ev->tid), parent;
	const uint64_t *of;

	if (ev->kind == EVENT_COMM) {
		*at = (uint64_t)strtab_find(strings, ev->side->text) + 1;
	} else if (ev->kind == EVENT_FORK) {
		of = map_find(&s->early, (uint32_t)ev->side->other_tid);
		parent = of && *of ? *of : ev->side->other_tid == 0 ? EARLY_IDLE : EARLY_NAMELESS;
		at = map_at(&s->early, (uint32_t)ev->tid);
		*at = parent;
	}
	if (*at == EARLY_IDLE || *at == EARLY_NAMELESS)
		return tasks_who_name(s->trace->tasks,
				      tasks_who(STRTAB_NONE, *at == EARLY_IDLE ? 0 : ev->tid), buf);
	return *at && *at - 1 < strings->n ? strtab_get(strings, (uint32_t)*at - 1) : NULL;
}

void side_note(struct script *s, const struct event *ev)
{
	char comm[TASK_NAME];

	if (!ev->time && (ev->kind == EVENT_COMM || ev->kind == EVENT_FORK))
		early_comm(s, ev, comm);
}

/* When the count began, what it was, and how long it took. */
static void side_counter(struct script *s, const struct event *ev)
{
	const struct script_type *t = &s->types[ev->type];
	const char *unit = s->trace->types[ev->type].count_unit;
	uint64_t show = t->show & SCRIPT_TIME;
	double value = ev->side->value;

	if (ev->have & EVENT_HAVE_TASK)
		show |= t->show & (SCRIPT_PID | SCRIPT_TID);
	if (ev->have & EVENT_HAVE_CPU)
		show |= t->show & SCRIPT_CPU;
	script_start(s, ev, t, show);
	out_printf(s->out, "%18.*f %s%s%s over %.6f s\n", unit || value != floor(value) ? 2 : 0,
		   value, unit ? unit : "", unit ? " " : "", t->name,
		   (double)ev->side->length / 1e9);
}

void side_print(struct script *s, const struct event *ev)
{
	const struct script_type *t = &s->types[ev->type];
	AUTO_STRBUF b = { 0 };
	struct event start = *ev;
	char comm[TASK_NAME];

	if (ev->kind == EVENT_COUNTER) {
		side_counter(s, ev);
		return;
	}
	/* The name is that of the task the record is about, the numbers those of who wrote it. */
	start.pid = ev->side->by_pid;
	start.tid = ev->side->by_tid;
	if (t->show & SCRIPT_COMM) {
		const char *name = ev->time ? NULL : early_comm(s, ev, comm);

		if (!name)
			name = tasks_name_at(s->trace->tasks, ev->tid, ev->time, comm);
		script_comm(s, t, name);
	}
	script_start(s, &start, t, t->show & ~SCRIPT_COMM);
	if (s->trace->record_text)
		s->trace->record_text(ev, &b);
	out_add(s->out, strbuf_str(&b), b.n);
}
