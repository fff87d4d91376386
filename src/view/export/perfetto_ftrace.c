/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints that Perfetto understands by itself: out of these it draws lanes
 * of CPUs, states of threads, interrupts, system calls. They go into bundles, a
 * CPU each.
 */
#include <string.h>

#include "event/match.h"
#include "view/export/perfetto.h"

#define FULL (32u << 10) /* bytes of a bundle */

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum { EVENT_TIMESTAMP = 1, EVENT_PID = 2, EVENT_SCHED_SWITCH = 4 };

/* The fields of a tracepoint and their numbers, in order, from 1 on. */
struct ftrace_rule {
	const char *system, *event;
	unsigned number; /* of the message in FtraceEvent */
	const char *fields[8];
};

#define WAKEUP                                                 \
	{                                                      \
		"comm", "pid", "prio", "success", "target_cpu" \
	}

/* clang-format off */
static const struct ftrace_rule rules[] = {
	{ "sched", "sched_switch", EVENT_SCHED_SWITCH,
	  { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio" } },
	{ "sched", "sched_wakeup", 17, WAKEUP },
	{ "sched", "sched_waking", 20, WAKEUP },
	{ "sched", "sched_wakeup_new", 114, WAKEUP },
	{ "sched", "sched_blocked_reason", 18, { "pid", "caller", "io_wait" } },
	{ "sched", "sched_process_exec", 237, { "filename", "pid", "old_pid" } },
	{ "sched", "sched_process_exit", 238, { "comm", "pid", "tgid", "prio" } },
	{ "sched", "sched_process_fork", 239, { "parent_comm", "parent_pid", "child_comm", "child_pid" } },
	{ "sched", "sched_process_free", 240, { "comm", "pid", "prio" } },
	{ "sched", "sched_process_wait", 242, { "comm", "pid", "prio" } },
	{ "irq", "softirq_entry", 24, { "vec" } },
	{ "irq", "softirq_exit", 25, { "vec" } },
	{ "irq", "softirq_raise", 26, { "vec" } },
	{ "irq", "irq_handler_entry", 36, { "irq", "name" } },
	{ "irq", "irq_handler_exit", 37, { "irq", "ret" } },
	{ "power", "cpu_frequency", 11, { "state", "cpu_id" } },
	{ "power", "cpu_idle", 13, { "state", "cpu_id" } },
	{ "task", "task_newtask", 235, { "pid", "comm", "clone_flags", "oom_score_adj" } },
	{ "task", "task_rename", 236, { "pid", "oldcomm", "newcomm", "oom_score_adj" } },
	{ "raw_syscalls", "sys_enter", 329, { "id", "args" } },
	{ "raw_syscalls", "sys_exit", 330, { "id", "ret" } },
};
/* clang-format on */

static void find_rule(struct perfetto_type *to, const struct event_type *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules) && t->n_fields; i++) {
		const struct ftrace_rule *r = &rules[i];

		if (!match_tracepoint(t, r->system, r->event))
			continue;
		to->rule = r;
		for (unsigned k = 0; k < ARRAY_SIZE(r->fields) && r->fields[k]; k++)
			to->field[k] = type_field(t, r->fields[k]);
	}
}

void perfetto_ftrace_init(struct perfetto *p)
{
	const struct trace *t = p->x->source->trace;

	switches_init(&p->switches, t);
	for (size_t i = 0; i < t->n_types; i++)
		find_rule(&p->types[i], &t->types[i]);
}

static void flush_cpu(struct perfetto *p, uint32_t cpu)
{
	struct pb *of = &p->cpus.data[cpu];
	size_t packet, bundle;

	if (!of->n)
		return;
	packet = perfetto_packet(p, 1);
	bundle = pb_begin(&p->b, PACKET_FTRACE);
	pb_uint(&p->b, BUNDLE_CPU, cpu);
	/* whole fields: they only need to be put behind */
	pb_raw(&p->b, of->data, of->n);
	pb_end(&p->b, bundle);
	perfetto_end(p, packet);
	pb_reset(of);
}

void perfetto_ftrace_flush(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->cpus.n; i++)
		flush_cpu(p, i);
}

static void put_fields(struct pb *b, const struct perfetto_type *t, const struct event *ev)
{
	for (unsigned i = 0; i < ARRAY_SIZE(t->field); i++) {
		struct field_value v = { 0 }, one;

		if (t->field[i])
			v = field_value(t->field[i], ev->raw, ev->raw_size);
		if (v.kind == VALUE_INT)
			pb_int(b, i + 1, v.i);
		else if (v.kind == VALUE_STRING)
			pb_text(b, i + 1, v.data, v.n);
		else if (v.kind == VALUE_ARRAY && v.field->elem_size == 8)
			for (size_t k = 0; (one = field_element(&v, k)).kind; k++)
				pb_int(b, i + 1, one.i);
	}
}

/* Who is not known or not wanted is nobody to Perfetto: the CPU is idle then. */
static void put_switch(struct pb *b, const struct switch_seen *s, bool prev, bool next)
{
	size_t m = pb_begin(b, EVENT_SCHED_SWITCH);

	pb_text(b, 1, s->prev_comm.text, prev ? s->prev_comm.n : 0);
	pb_int(b, 2, prev ? s->prev : 0);
	pb_int(b, 3, s->prev_prio);
	pb_int(b, 4, s->state);
	pb_text(b, 5, s->next_comm.text, next ? s->next_comm.n : 0);
	pb_int(b, 6, next ? s->next : 0);
	pb_int(b, 7, s->next_prio);
	pb_end(b, m);
}

/* A thread that ends has no number any more to perf, but it has to the tracepoint. */
static int32_t thread_of(const struct perfetto *p, const struct event *ev)
{
	const struct field *f =
		ev->tid < 0 && ev->kind == EVENT_SAMPLE
			? type_field(&p->x->source->trace->types[ev->type], "common_pid")
			: NULL;
	int64_t v;

	return f && field_int(f, ev->raw, ev->raw_size, &v) ? (int32_t)v : ev->tid;
}

bool perfetto_ftrace(struct perfetto *p, const struct event *ev)
{
	const struct perfetto_type *t = ev->kind == EVENT_SAMPLE ? &p->types[ev->type] : NULL;
	struct switch_seen s;
	bool is_switch = switches_look(&p->switches, ev, &s);
	size_t event, message;
	struct pb *b;

	if (!is_switch && (!t || !t->rule || !(ev->have & EVENT_HAVE_RAW)))
		return false;
	if (!(ev->have & EVENT_HAVE_CPU) || ev->cpu >= 1u << 16)
		return false;
	while (p->cpus.n <= ev->cpu)
		vec_push(&p->cpus, (struct pb){ 0 });
	b = &p->cpus.data[ev->cpu];
	event = pb_begin(b, BUNDLE_EVENT);
	pb_uint(b, EVENT_TIMESTAMP, ev->time);
	pb_uint(b, EVENT_PID, (uint32_t)thread_of(p, ev));
	if (is_switch) {
		put_switch(b, &s, p->x->wants_thread(p->x->ctx, ev, s.prev),
			   p->x->wants_thread(p->x->ctx, ev, s.next));
	} else {
		message = pb_begin(b, t->rule->number);
		put_fields(b, t, ev);
		pb_end(b, message);
	}
	pb_end(b, event);
	p->x->written++;
	if (b->n > FULL)
		flush_cpu(p, ev->cpu);
	return true;
}
