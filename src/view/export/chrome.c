/* SPDX-License-Identifier: MIT */
/*
 * The trace event format of Chrome: lanes of CPUs with who ran there, system
 * calls as slices of their threads, other tracepoints as instants with their
 * fields, samples with stacks in a tree of frames. Times are microseconds with
 * the nanoseconds behind the point.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "calc/slices/slices.h"
#include "calc/slices/switches.h"
#include "config.h"
#include "view/export/export.h"
#include "view/export/tree.h"

#define CPUS 4194305 /* the "process" of CPU lanes: one more than the largest PID there can be */

struct running {
	bool set;
	uint64_t since;
	int32_t tid, prio;
	char comm[64];
};

/* A system call that has begun; its memory is kept for the next one. */
struct call {
	char name[64];
	struct out args;
};

struct chrome {
	struct export_job *x;
	struct switches switches;
	struct export_tree tree;
	struct strtab frames;	/* names of functions and files */
	struct map frame_index; /* a pair of them to a frame, + 1 */
	VEC(uint32_t) frame_site;
	uint32_t *frame;	  /* by name frame, + 1 */
	uint32_t *node;		  /* by entry: its stack */
	VEC(struct running) cpus; /* by CPU */
	VEC(struct call) calls;	  /* by slot */
	struct slices *call_slices;
	struct json j;
};

/* {"ph":"X","name":...,"pid":1,"tid":2,"ts":3: an object that the caller ends */
static void export_chrome_begin(struct chrome *c, char ph, const char *name, int64_t pid,
				int64_t tid, uint64_t time)
{
	json_line(&c->j);
	json_object(&c->j, NULL);
	json_strn(&c->j, "ph", &ph, 1);
	json_str(&c->j, "name", name);
	json_i64(&c->j, "pid", pid);
	json_i64(&c->j, "tid", tid);
	export_us(&c->j, "ts", time);
}

static void export_chrome_put_name(struct chrome *c, const char *what, int64_t pid, int64_t tid,
				   const char *name)
{
	export_chrome_begin(c, 'M', what, pid, tid, 0);
	json_object(&c->j, "args");
	json_str(&c->j, "name", name);
	json_end(&c->j);
	json_end(&c->j);
}

static void export_chrome_put_task(void *ctx, const struct task_seen *s)
{
	struct chrome *c = ctx;
	const char *name = strtab_get(tasks_strings(c->x->source->trace->tasks), s->comm);

	if (s->comm == STRTAB_NONE)
		return;
	if (s->pid == s->tid)
		export_chrome_put_name(c, "process_name", s->pid, s->tid, name);
	export_chrome_put_name(c, "thread_name", s->pid, s->tid, name);
}

/* --- CPUs --- */

static void end_slice(struct chrome *c, uint32_t cpu, uint64_t time, const char *state)
{
	struct running *r = &c->cpus.data[cpu];

	if (!r->set || !r->tid || time < r->since)
		return;
	export_chrome_begin(c, 'X', r->comm, CPUS, cpu, r->since);
	json_str(&c->j, "cat", "sched");
	export_us(&c->j, "dur", time - r->since);
	json_object(&c->j, "args");
	json_i64(&c->j, "tid", r->tid);
	json_i64(&c->j, "prio", r->prio);
	json_str(&c->j, "end_state", state);
	json_end(&c->j);
	json_end(&c->j);
	c->x->written++;
}

/* The letters of ps, by the lowest bit. */
static const char *state_name(int64_t state)
{
	static const char *const names[] = { "S", "D", "T", "t", "X", "Z", "P", "I" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (state >> i & 1)
			return names[i];
	return "R";
}

static void on_switch(struct chrome *c, const struct event *ev, const struct switch_seen *s)
{
	char name[32];

	if (ev->cpu >= 1u << 16)
		return;
	while (c->cpus.n <= ev->cpu) {
		snprintf(name, sizeof(name), "CPU %zu", c->cpus.n);
		export_chrome_put_name(c, "thread_name", CPUS, (int64_t)c->cpus.n, name);
		vec_push(&c->cpus, (struct running){ 0 });
	}
	/* another one leaves than came: events between were lost, and how it ended */
	end_slice(c, ev->cpu, ev->time,
		  c->cpus.data[ev->cpu].tid == s->prev ? state_name(s->state) : "unknown");
	c->cpus.data[ev->cpu] = (struct running){ .set = c->x->wants_thread(c->x->ctx, ev, s->next),
						  .since = ev->time,
						  .tid = s->next,
						  .prio = s->next_prio };
	snprintf(c->cpus.data[ev->cpu].comm, sizeof(c->cpus.data[0].comm), "%.*s",
		 (int)s->next_comm.n, s->next_comm.text);
}

/* --- system calls and other tracepoints --- */

static void put_stack_ref(struct chrome *c, const struct event *ev)
{
	uint32_t entry = export_entry(c->x, ev);

	if (entry != UINT32_MAX && c->node[entry] != EXPORT_ROOT)
		json_u64(&c->j, "sf", c->node[entry]);
}

static void put_instant(struct chrome *c, const struct event *ev)
{
	const struct event_type *t = &c->x->source->trace->types[ev->type];

	export_chrome_begin(c, 'i', t->name, ev->pid, ev->tid, ev->time);
	json_str(&c->j, "s", "t");
	json_str(&c->j, "cat", t->system ? t->system : "event");
	put_stack_ref(c, ev);
	export_fields(&c->j, "args", t, ev, false);
	json_end(&c->j);
	c->x->written++;
}

static void put_counter(struct chrome *c, const struct event *ev)
{
	const struct event_type *t = &c->x->source->trace->types[ev->type];
	char name[256];

	export_chrome_begin(c, 'C', export_counter_name(t, ev, name, sizeof(name)),
			    ev->have & EVENT_HAVE_TASK ? ev->pid : 0, 0, ev->time);
	json_str(&c->j, "cat", "counter");
	json_object(&c->j, "args");
	json_double(&c->j, t->count_unit ? t->count_unit : "count", ev->side->value);
	json_end(&c->j);
	json_end(&c->j);
	c->x->written++;
}

static uint64_t begin_call(void *ctx, const struct event *ev, uint32_t slot)
{
	struct chrome *c = ctx;
	const struct event_type *t = &c->x->source->trace->types[ev->type];
	struct json args;
	struct call *k;
	char buf[64];

	while (c->calls.n <= slot)
		vec_push(&c->calls, (struct call){ .args.fd = -1 });
	k = &c->calls.data[slot];
	snprintf(k->name, sizeof(k->name), "%s", slices_call_name(t, ev, buf, sizeof(buf)));
	k->args.n = 0;
	args = json_to_out(&k->args, JSON_TIGHT);
	export_fields(&args, NULL, t, ev, false);
	return slot;
}

static const struct field *ret_of(const struct chrome *c, const struct event *ev)
{
	return type_field(&c->x->source->trace->types[ev->type], "ret");
}

static bool is_end_of(void *ctx, const struct slice *s, const struct event *ev)
{
	const struct chrome *c = ctx;
	const struct field *ret = ret_of(c, ev);
	char buf[64];
	int64_t v;

	return ret && field_int(ret, ev->raw, ev->raw_size, &v) &&
	       strcmp(c->calls.data[s->note].name,
		      slices_call_name(&c->x->source->trace->types[ev->type], ev, buf,
				       sizeof(buf))) == 0;
}

/* Of an end that nobody saw only that it was some time before the next call began. */
static int export_chrome_call(void *ctx, const struct slice *s)
{
	struct chrome *c = ctx;
	const struct call *k;
	int64_t ret;

	if (s->kind == SLICE_LONE_END || s->kind == SLICE_MISFIT) {
		put_instant(c, s->end);
		return 0;
	}
	k = &c->calls.data[s->note];
	export_chrome_begin(c, 'X', k->name, s->pid, s->tid, s->from);
	json_str(&c->j, "cat", "syscall");
	export_us(&c->j, "dur", s->kind == SLICE_LOST_END ? 0 : slice_time(s));
	json_object(&c->j, "args");
	out_add(json_raw(&c->j, "args"), k->args.data, k->args.n);
	if (s->kind == SLICE_WHOLE &&
	    field_int(ret_of(c, s->end), s->end->raw, s->end->raw_size, &ret))
		json_i64(&c->j, "ret", ret);
	else
		json_bool(&c->j, "unfinished", true);
	json_end(&c->j);
	json_end(&c->j);
	c->x->written++;
	return 0;
}

static int export_chrome_on_event(void *ctx, const struct event *ev)
{
	struct chrome *c = ctx;
	const struct event_type *t = &c->x->source->trace->types[ev->type];
	struct switch_seen s;

	if (ev->kind == EVENT_COUNTER) {
		put_counter(c, ev);
		return 0;
	}
	if (switches_look(&c->switches, ev, &s)) {
		on_switch(c, ev, &s);
		return 0;
	}
	if (!export_has_fields(t, ev) || !(ev->have & EVENT_HAVE_TIME))
		return 0;
	if (slices_uses(c->call_slices, ev->type))
		return slices_add(c->call_slices, ev);
	put_instant(c, ev);
	return 0;
}

/* --- samples --- */

/* Functions of one name in one file are one frame. */
static uint32_t export_chrome_frame_of(void *ctx, uint32_t site)
{
	struct chrome *c = ctx;
	const struct names *n = c->x->names;
	const struct name_site *s = &n->sites.data[site];
	uint64_t *at;
	char buf[32];

	if (!c->frame[s->frame]) {
		at = map_at(&c->frame_index,
			    (uint64_t)strtab_add(&c->frames, export_function(c->x, site, buf))
					    << 32 |
				    strtab_add(&c->frames, names_dso(n, s->dso)));
		if (!*at) {
			vec_push(&c->frame_site, site);
			*at = c->frame_site.n;
		}
		c->frame[s->frame] = (uint32_t)*at;
	}
	return c->frame[s->frame] - 1;
}

static void put_tree(struct chrome *c)
{
	char buf[32], key[24];

	json_line(&c->j);
	json_object(&c->j, "stackFrames");
	for (size_t i = 0; i < c->tree.nodes.n && !c->x->out->error; i++) {
		const struct export_node *node = &c->tree.nodes.data[i];
		uint32_t site = c->frame_site.data[node->frame];

		json_line(&c->j);
		snprintf(key, sizeof(key), "%zu", i);
		json_object(&c->j, key);
		json_str(&c->j, "name", export_function(c->x, site, buf));
		json_str(&c->j, "category",
			 names_dso(c->x->names, c->x->names->sites.data[site].dso));
		if (node->parent != EXPORT_ROOT) {
			snprintf(key, sizeof(key), "%u", node->parent);
			json_str(&c->j, "parent", key);
		}
		json_end(&c->j);
	}
	json_end(&c->j);
}

static void put_samples(struct chrome *c)
{
	const struct trace *t = c->x->source->trace;

	json_line(&c->j);
	json_array(&c->j, "samples");
	for (size_t i = 0; i < c->x->profile->entries.n && !c->x->out->error; i++) {
		uint32_t entry = c->x->order[i];
		const struct profile_entry *en = &c->x->profile->entries.data[entry];

		/* tracepoints are events of their own */
		if (t->types[en->type].n_fields)
			continue;
		json_line(&c->j);
		json_object(&c->j, NULL);
		json_str(&c->j, "name", t->types[en->type].name);
		json_i64(&c->j, "pid", en->pid);
		json_i64(&c->j, "tid", en->tid);
		if (en->cpu != UINT32_MAX)
			json_u64(&c->j, "cpu", en->cpu);
		export_us(&c->j, "ts", en->time);
		if (c->node[entry] != EXPORT_ROOT)
			json_u64(&c->j, "sf", c->node[entry]);
		json_u64(&c->j, "weight", en->weight);
		json_end(&c->j);
		c->x->written += en->count;
	}
	json_end(&c->j);
}

static void finish_lanes(struct chrome *c)
{
	for (uint32_t i = 0; i < c->cpus.n; i++)
		end_slice(c, i, c->x->source->trace->last_time, "R");
	slices_finish(c->call_slices, c->x->source->trace->last_time);
}

int export_chrome(struct export_job *x, struct err *e)
{
	struct chrome c = { .x = x, .j = json_to_out(x->out, JSON_TIGHT) };
	int r;

	switches_init(&c.switches, x->source->trace);
	c.call_slices =
		slices_calls(x->source->trace, (struct slices_opts){ .begin = begin_call,
								     .fits = is_end_of,
								     .misfits_pass = true,
								     .fn = export_chrome_call,
								     .ctx = &c });
	c.frame = mem_alloc((x->names->frames.n + 1) * sizeof(*c.frame));
	c.node = mem_alloc((x->profile->entries.n + 1) * sizeof(*c.node));
	for (uint32_t i = 0; i < x->profile->entries.n; i++)
		c.node[i] = export_tree_stack(&c.tree, x, i, export_chrome_frame_of, &c);
	json_object(&c.j, NULL);
	json_str(&c.j, "displayTimeUnit", "ns");
	json_line(&c.j);
	json_object(&c.j, "otherData");
	json_str(&c.j, "creator", "kymo " KYMO_VERSION);
	json_str(&c.j, "recording", x->input);
	json_end(&c.j);
	json_line(&c.j);
	json_array(&c.j, "traceEvents");
	export_chrome_put_name(&c, "process_name", CPUS, 0, "CPUs");
	tasks_each(x->source->trace->tasks, export_chrome_put_task, &c);
	r = export_events(x, true, export_chrome_on_event, &c, e);
	finish_lanes(&c);
	json_end(&c.j);
	put_tree(&c);
	put_samples(&c);
	json_end(&c.j);
	out_putc(x->out, '\n');
	export_tree_free(&c.tree);
	strtab_free(&c.frames);
	map_free(&c.frame_index);
	vec_each (&c.calls, k)
		out_free(&k->args);
	switches_free(&c.switches);
	slices_free(c.call_slices);
	vec_free(&c.calls);
	vec_free(&c.cpus);
	vec_free(&c.frame_site);
	free(c.frame);
	free(c.node);
	return r;
}
