/* SPDX-License-Identifier: MIT */
/*
 * A native trace of Perfetto: scheduling and other events that it knows as the
 * kernel's own, samples with stacks by number, all else on tracks of threads.
 *
 * Times stay those of the recording. Perfetto calls them boot time; where the
 * recording says which wall clock time one of them is, a snapshot says so, too.
 * Field numbers are those of the published .proto files.
 */
#include "view/export/perfetto.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define FULL (256u << 10)
#define SEQ_SYSTEM 1
#define SEQ_TRACKS 2
#define SEQ_SAMPLES 16 /* this and the type's number */

enum { TRACE_PACKET = 1 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_TIME };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 };
enum { TREE_PROCESS = 1, TREE_THREAD };
enum { PROCESS_PID = 1, PROCESS_PPID, PROCESS_CMDLINE };
enum { THREAD_TID = 1, THREAD_NAME, THREAD_TGID };
enum { SYSTEM_UTSNAME = 1 };
enum { UTSNAME_SYSNAME = 1, UTSNAME_VERSION, UTSNAME_RELEASE, UTSNAME_MACHINE };
enum { DEFAULTS_PERF_SAMPLE = 12, DEFAULTS_TIMEBASE = 1 };
enum {
	TIMEBASE_PERIOD = 1,
	TIMEBASE_FREQUENCY,
	TIMEBASE_TRACEPOINT,
	TIMEBASE_COUNTER,
	TIMEBASE_RAW,
	TIMEBASE_NAME = 10
};
enum { COUNTER_CPU_CLOCK = 1, COUNTER_TASK_CLOCK = 3 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_STACK, SAMPLE_MODE, SAMPLE_COUNT };

size_t perfetto_packet(struct perfetto *p, uint32_t seq)
{
	size_t m = pb_begin(&p->b, TRACE_PACKET);

	pb_uint(&p->b, PACKET_SEQUENCE, seq);
	return m;
}

void perfetto_end(struct perfetto *p, size_t packet)
{
	pb_end(&p->b, packet);
	if (p->b.n < FULL)
		return;
	out_add(p->x->out, p->b.data, p->b.n);
	pb_reset(&p->b);
}

/* --- what stands first --- */

static void put_clock(struct pb *b, unsigned id, uint64_t time)
{
	size_t m = pb_begin(b, CLOCKS_CLOCK);

	pb_uint(b, CLOCK_ID, id);
	pb_uint(b, CLOCK_TIME, time);
	pb_end(b, m);
}

static void put_clocks(struct perfetto *p)
{
	const struct trace *t = p->x->source->trace;
	const struct trace_info *i = &t->info;
	uint64_t at = i->wall_time ? i->wall_clock_time : t->first_time;
	size_t packet = perfetto_packet(p, SEQ_SYSTEM), m;

	pb_uint(&p->b, PACKET_TIMESTAMP, at);
	m = pb_begin(&p->b, PACKET_CLOCK_SNAPSHOT);
	put_clock(&p->b, BOOTTIME, at);
	if (i->has_clock && i->clock_id == CLOCK_MONOTONIC)
		put_clock(&p->b, MONOTONIC, at);
	if (i->wall_time)
		put_clock(&p->b, REALTIME, i->wall_time);
	pb_uint(&p->b, CLOCKS_PRIMARY, BOOTTIME);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
}

/* The kernel's version tells Perfetto what the bits of task states mean. */
static void put_system(struct perfetto *p)
{
	const struct trace_info *i = &p->x->source->trace->info;
	size_t packet, m, names;

	if (!i->os_release)
		return;
	packet = perfetto_packet(p, SEQ_SYSTEM);
	m = pb_begin(&p->b, PACKET_SYSTEM_INFO);
	names = pb_begin(&p->b, SYSTEM_UTSNAME);
	pb_str(&p->b, UTSNAME_SYSNAME, "Linux");
	pb_str(&p->b, UTSNAME_VERSION, "");
	pb_str(&p->b, UTSNAME_RELEASE, i->os_release);
	pb_str(&p->b, UTSNAME_MACHINE, i->arch ? i->arch : "");
	pb_end(&p->b, names);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
}

static void export_perfetto_put_task(void *ctx, const struct task_seen *s)
{
	struct perfetto *p = ctx;
	const char *name = s->comm == STRTAB_NONE
				   ? NULL
				   : strtab_get(tasks_strings(p->x->source->trace->tasks), s->comm);
	size_t packet, tree, m;

	if (s->pid < 0 || s->tid < 0)
		return;
	packet = perfetto_packet(p, SEQ_SYSTEM);
	pb_uint(&p->b, PACKET_TIMESTAMP, p->x->source->trace->first_time);
	tree = pb_begin(&p->b, PACKET_PROCESS_TREE);
	if (s->pid == s->tid) {
		m = pb_begin(&p->b, TREE_PROCESS);
		pb_int(&p->b, PROCESS_PID, s->pid);
		if (s->ppid >= 0)
			pb_int(&p->b, PROCESS_PPID, s->ppid);
		if (name)
			pb_str(&p->b, PROCESS_CMDLINE, name);
		pb_end(&p->b, m);
	}
	m = pb_begin(&p->b, TREE_THREAD);
	pb_int(&p->b, THREAD_TID, s->tid);
	if (name)
		pb_str(&p->b, THREAD_NAME, name);
	pb_int(&p->b, THREAD_TGID, s->pid);
	pb_end(&p->b, m);
	pb_end(&p->b, tree);
	perfetto_end(p, packet);
}

/* --- samples --- */

static void put_timebase(struct pb *b, const struct event_type *t)
{
	size_t m = pb_begin(b, DEFAULTS_TIMEBASE), inner;

	pb_uint(b, t->by_rate ? TIMEBASE_FREQUENCY : TIMEBASE_PERIOD, t->rate);
	if (t->system) {
		inner = pb_begin(b, TIMEBASE_TRACEPOINT);
		pb_str(b, 1, t->name);
		pb_end(b, inner);
	} else if (export_is_time(t) && !t->unit) {
		pb_uint(b, TIMEBASE_COUNTER,
			t->role == ROLE_TASK_CLOCK ? COUNTER_TASK_CLOCK : COUNTER_CPU_CLOCK);
	} else {
		inner = pb_begin(b, TIMEBASE_RAW);
		pb_uint(b, 1, t->pmu);
		pb_uint(b, 2, t->code);
		pb_end(b, inner);
	}
	pb_str(b, TIMEBASE_NAME, t->name);
	pb_end(b, m);
}

/* The first packet of a sequence: from here on what it says holds. */
static void begin_sequence(struct perfetto *p, struct perfetto_seq *s, const struct event_type *t)
{
	size_t packet = perfetto_packet(p, s->id), m, inner;

	pb_uint(&p->b, PACKET_FLAGS, SEQUENCE_CLEARED);
	pb_uint(&p->b, PACKET_FIRST, 1);
	if (t) {
		m = pb_begin(&p->b, PACKET_DEFAULTS);
		inner = pb_begin(&p->b, DEFAULTS_PERF_SAMPLE);
		put_timebase(&p->b, t);
		pb_end(&p->b, inner);
		pb_end(&p->b, m);
	}
	perfetto_end(p, packet);
	s->begun = true;
}

static void export_perfetto_put_sample(struct perfetto *p, const struct event *ev)
{
	struct perfetto_type *t = &p->types[ev->type];
	uint32_t entry = export_entry(p->x, ev);
	size_t packet, m;
	uint64_t stack, *sum;

	if (entry == UINT32_MAX)
		return;
	if (!t->samples.begun)
		begin_sequence(p, &t->samples, &p->x->source->trace->types[ev->type]);
	packet = perfetto_packet(p, t->samples.id);
	pb_uint(&p->b, PACKET_TIMESTAMP, ev->time);
	pb_uint(&p->b, PACKET_FLAGS, SEQUENCE_NEEDS_STATE);
	m = pb_begin(&p->b, PACKET_INTERNED);
	stack = perfetto_stack(p, &t->samples, entry);
	pb_end(&p->b, m);
	m = pb_begin(&p->b, PACKET_PERF_SAMPLE);
	if (ev->have & EVENT_HAVE_CPU)
		pb_uint(&p->b, SAMPLE_CPU, ev->cpu);
	pb_uint(&p->b, SAMPLE_PID, (uint32_t)ev->pid);
	pb_uint(&p->b, SAMPLE_TID, (uint32_t)ev->tid);
	if (stack)
		pb_uint(&p->b, SAMPLE_STACK, stack);
	pb_uint(&p->b, SAMPLE_MODE, ev->mode); /* numbered alike */
	sum = map_at(&t->counts, ev->have & EVENT_HAVE_CPU ? ev->cpu : UINT32_MAX);
	*sum += ev->weight;
	pb_uint(&p->b, SAMPLE_COUNT, *sum);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
	p->x->written++;
}

static int export_perfetto_on_event(void *ctx, const struct event *ev)
{
	struct perfetto *p = ctx;
	const struct event_type *t = &p->x->source->trace->types[ev->type];

	if (!(ev->have & EVENT_HAVE_TIME))
		return 0;
	/* a switch that has a stack is shown on its lane, and its stack below the thread */
	if (perfetto_ftrace(p, ev)) {
		if (ev->kind == EVENT_SAMPLE && (ev->have & EVENT_HAVE_CHAIN) && ev->chain_n)
			export_perfetto_put_sample(p, ev);
		return 0;
	}
	if (ev->kind != EVENT_SAMPLE && ev->kind != EVENT_COUNTER)
		return 0;
	if (ev->kind == EVENT_COUNTER || export_has_fields(t, ev)) {
		if (!p->tracks.begun)
			begin_sequence(p, &p->tracks, NULL);
		if (ev->kind == EVENT_COUNTER)
			perfetto_track_counter(p, ev);
		else
			perfetto_track_event(p, ev);
	} else {
		export_perfetto_put_sample(p, ev);
	}
	return 0;
}

int export_perfetto(struct export_job *x, struct err *e)
{
	struct perfetto p = { .x = x, .tracks.id = SEQ_TRACKS };
	size_t n = x->source->trace->n_types;
	int r;

	p.types = mem_alloc((n + 1) * sizeof(*p.types));
	for (size_t i = 0; i < n; i++)
		p.types[i].samples.id = (uint32_t)(SEQ_SAMPLES + i);
	perfetto_ftrace_init(&p);
	perfetto_track_init(&p);
	put_clocks(&p);
	put_system(&p);
	tasks_each(x->source->trace->tasks, export_perfetto_put_task, &p);
	r = export_events(x, true, export_perfetto_on_event, &p, e);
	perfetto_ftrace_flush(&p);
	out_add(x->out, p.b.data, p.b.n);
	switches_free(&p.switches);
	pb_free(&p.b);
	for (size_t i = 0; i < n; i++) {
		map_free(&p.types[i].samples.said);
		map_free(&p.types[i].counts);
	}
	vec_each (&p.cpus, b)
		pb_free(b);
	vec_free(&p.cpus);
	map_free(&p.tracks.said);
	strtab_free(&p.strings);
	vec_free(&p.mapping_site);
	map_free(&p.mapping_index);
	slices_free(p.calls);
	free(p.types);
	return r;
}
