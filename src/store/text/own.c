/* SPDX-License-Identifier: MIT */
#include "store/text/own.h"

#include <string.h>

#include "base/str.h"
#include "base/vec.h"

/* All that tells a frame apart, without padding: compared as bytes. */
struct own_key {
	uint64_t addr;
	uint32_t name, module, home, file, line, kind, is_addr, kernel;
};

struct own_kept {
	uint64_t time, weight, count;
	uint32_t chain, type, cpu, comm;
	int32_t pid, tid;
	bool timed;
};

/*
 * Frames, innermost first: words[first .. first + n), by their numbers, and when all is there by
 * their places in about.frame.
 */
struct own_stack {
	uint64_t first;
	uint32_t n;
};

struct own {
	struct source source;
	struct trace trace;
	struct trace_own about;
	struct strtab texts, types_known;
	struct index frame_index, stack_index;
	VEC(struct own_key) frames;
	VEC(struct own_stack) stacks;
	VEC(uint32_t) words;
	VEC(struct event_type) types;
	VEC(struct own_kept) samples;
	uint32_t *order; /* samples by time; NULL: as they stand */
	bool any_time, any_cpu, any_callers;
};

static void own_close(struct source *s)
{
	own_free(s->impl);
}

struct own *own_new(const char *format)
{
	struct own *o = mem_alloc(sizeof(*o));

	o->source =
		(struct source){ .trace = &o->trace, .format = format, .impl = o, .n_chunks = 1 };
	o->source.close = own_close;
	o->trace.tasks = tasks_new();
	o->trace.own = &o->about;
	return o;
}

void own_free(struct own *o)
{
	if (!o)
		return;
	strtab_free(&o->texts);
	strtab_free(&o->types_known);
	index_free(&o->frame_index);
	index_free(&o->stack_index);
	vec_free(&o->frames);
	vec_free(&o->stacks);
	vec_free(&o->words);
	vec_free(&o->types);
	vec_free(&o->samples);
	free(o->order);
	free(o->about.frame);
	tasks_free(o->trace.tasks);
	arena_free(&o->trace.arena);
	free(o);
}

struct trace_own *own_about(struct own *o)
{
	return &o->about;
}

struct arena *own_arena(struct own *o)
{
	return &o->trace.arena;
}

uint32_t own_type(struct own *o, const char *name, size_t n)
{
	uint32_t at = strtab_addn(&o->types_known, name, n);

	if (at == o->types.n)
		vec_push(&o->types, (struct event_type){ .name = strtab_get(&o->types_known, at),
							 .leader = (int)at });
	return at;
}

struct event_type *own_type_at(struct own *o, uint32_t type)
{
	return &o->types.data[type];
}

static uint32_t own_keep(struct own *o, struct text_part t)
{
	return t.n ? strtab_addn(&o->texts, t.s, t.n) : STRTAB_NONE;
}

uint32_t own_frame(struct own *o, const struct own_frame *f)
{
	struct own_key k = { .addr = f->is_addr ? f->addr : 0,
			     .name = strtab_addn(&o->texts, f->name.n ? f->name.s : "", f->name.n),
			     .module = own_keep(o, f->module),
			     .home = own_keep(o, f->home.n ? f->home : f->module),
			     .kernel = f->kernel,
			     .file = own_keep(o, f->file),
			     .line = f->line,
			     .kind = f->kind,
			     .is_addr = f->is_addr };
	uint64_t hash = map_hash_bytes(&k, sizeof(k));
	size_t at = index_first(&o->frame_index, hash);
	uint32_t known;

	index_each (&o->frame_index, hash, at, known)
		if (memcmp(&o->frames.data[known - 1], &k, sizeof(k)) == 0)
			return known - 1;
	vec_push(&o->frames, k);
	index_set(&o->frame_index, at, hash, o->frames.n);
	return (uint32_t)o->frames.n - 1;
}

static uint32_t own_stack(struct own *o, const uint32_t *id, size_t n)
{
	uint64_t hash = map_hash_bytes(id, n * sizeof(*id));
	size_t at = index_first(&o->stack_index, hash);
	uint32_t known;

	index_each (&o->stack_index, hash, at, known) {
		const struct own_stack *k = &o->stacks.data[known - 1];

		if (k->n == n && (!n || memcmp(&o->words.data[k->first], id, n * sizeof(*id)) == 0))
			return known - 1;
	}
	vec_push(&o->stacks, (struct own_stack){ o->words.n, (uint32_t)n });
	index_set(&o->stack_index, at, hash, o->stacks.n);
	for (size_t i = 0; i < n; i++)
		vec_push(&o->words, id[i]);
	return (uint32_t)o->stacks.n - 1;
}

int own_sample(struct own *o, const uint32_t *id, size_t n, const struct own_sample *s)
{
	struct own_kept k = { .time = s->time,
			      .weight = s->weight,
			      .count = s->count,
			      .type = s->type,
			      .cpu = s->cpu,
			      .comm = own_keep(o, s->comm),
			      .pid = s->pid,
			      .tid = s->tid,
			      .timed = s->timed };

	if (o->stacks.n >= UINT32_MAX - 1 || o->frames.n >= UINT32_MAX - 1 ||
	    o->samples.n >= UINT32_MAX - 1)
		return -EFBIG;
	k.chain = own_stack(o, id, n);
	o->any_time |= s->timed;
	o->about.tasks |= s->tid >= 0 || s->pid >= 0 || s->comm.n;
	o->any_cpu |= s->cpu != UINT32_MAX;
	o->any_callers |= n > 1;
	vec_push(&o->samples, k);
	return 0;
}

/* --- all is there --- */

static const char *own_text_of(const struct own *o, uint32_t text)
{
	return text == STRTAB_NONE ? NULL : strtab_get(&o->texts, text);
}

/* In the order of addresses: a file's next to each other, the kernel's last. */
struct own_place {
	uint32_t id, home, name;
	bool kernel, inlined;
};

static int own_by_place(const void *a, const void *b)
{
	const struct own_place *x = a, *y = b;

	if (x->kernel != y->kernel)
		return x->kernel ? 1 : -1;
	if (x->home != y->home)
		return x->home < y->home ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->inlined != y->inlined)
		return x->inlined ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool own_same_function(const struct own_place *a, const struct own_place *b)
{
	return a->kernel == b->kernel && a->home == b->home && a->name == b->name &&
	       a->inlined == b->inlined;
}

/* Code that a runtime compiled is told apart by process, which its file's name says. */
static int32_t own_jit_pid(const char *path)
{
	int pid;

	return sscanf(path, "/tmp/perf-%d.map", &pid) == 1 && pid >= 0 ? pid : -1;
}

/* frame[from..to) are one file's. */
static void own_map(struct own *o, size_t from, size_t to, const char *home)
{
	bool kernel = from >= o->about.n_user;
	const char *path = home ? home : kernel ? "[kernel.kallsyms]" : "[unknown]";
	struct task_map map = { .start = trace_own_addr(&o->about, from) - TRACE_OWN_SIZE / 2 };

	map.end = map.start + (to - from) * TRACE_OWN_SIZE;
	map.pgoff = map.start;
	map.dso = tasks_dso(o->trace.tasks, path, NULL, 0, kernel);
	map.pid = own_jit_pid(path);
	tasks_mmap(o->trace.tasks, 0, -1, -1, &map);
}

/* ret: by id, the place in about.frame. */
static void own_place(struct own *o, uint32_t *ret)
{
	AUTO_FREE struct own_place *p = mem_alloc((o->frames.n + 1) * sizeof(*p));
	size_t from = 0;

	for (uint32_t i = 0; i < o->frames.n; i++)
		p[i] = (struct own_place){ .id = i,
					   .home = o->frames.data[i].home,
					   .name = o->frames.data[i].name,
					   .kernel = o->frames.data[i].kernel,
					   .inlined =
						   o->frames.data[i].kind == TRACE_FRAME_INLINED };
	qsort(p, o->frames.n, sizeof(*p), own_by_place);
	o->about.n = o->frames.n;
	o->about.frame = mem_alloc((o->frames.n + 1) * sizeof(*o->about.frame));
	for (uint32_t i = 0; i < o->frames.n; i++) {
		const struct own_key *k = &o->frames.data[p[i].id];

		ret[p[i].id] = i;
		o->about.modules |= k->module != STRTAB_NONE;
		o->about.n_user += !p[i].kernel;
		o->about.frame[i] = (struct trace_frame){ .name = own_text_of(o, k->name),
							  .module = own_text_of(o, k->module),
							  .file = own_text_of(o, k->file),
							  .line = k->line,
							  .kind = k->kind,
							  .function = i,
							  .is_addr = k->is_addr,
							  .addr = k->addr };
		if (i && own_same_function(&p[i], &p[i - 1]))
			o->about.frame[i].function = o->about.frame[i - 1].function;
	}
	tasks_share_space(o->trace.tasks);
	for (size_t i = 1; i <= o->frames.n; i++) {
		if (i < o->frames.n && p[i].kernel == p[from].kernel && p[i].home == p[from].home)
			continue;
		own_map(o, from, i, own_text_of(o, p[from].home));
		from = i;
	}
	vec_free(&o->frames);
	index_free(&o->frame_index);
}

static int own_by_time(const void *a, const void *b, void *ctx)
{
	const struct own_kept *all = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (all[x].time != all[y].time)
		return all[x].time < all[y].time ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void own_sort(struct own *o)
{
	bool sorted = true;

	for (size_t i = 1; i < o->samples.n; i++)
		sorted = sorted && o->samples.data[i - 1].time <= o->samples.data[i].time;
	if (sorted)
		return;
	o->order = mem_alloc((o->samples.n + 1) * sizeof(*o->order));
	for (uint32_t i = 0; i < o->samples.n; i++)
		o->order[i] = i;
	qsort_r(o->order, o->samples.n, sizeof(*o->order), own_by_time, o->samples.data);
}

/* Who the threads were: each sample says so, and it holds until another one of it says else. */
static void own_comms(struct own *o)
{
	struct map last = { 0 }; /* by thread: name + 2; 1: it had none again */

	for (size_t i = 0; i < o->samples.n; i++) {
		const struct own_kept *k = &o->samples.data[o->order ? o->order[i] : i];
		uint64_t *at = map_at(&last, (uint32_t)k->tid);
		uint64_t name = k->comm == STRTAB_NONE ? 1 : (uint64_t)k->comm + 2;

		if (*at == name || (!*at && name == 1))
			continue;
		*at = name;
		tasks_comm(o->trace.tasks, k->time, k->pid, k->tid,
			   k->comm == STRTAB_NONE ? "" : strtab_get(&o->texts, k->comm), false);
	}
	map_free(&last);
}

/* What a sample of any type here says of itself. */
static void own_finish_types(struct own *o)
{
	vec_each (&o->types, t) {
		t->class = TYPE_RAW;
		t->max_stack = UINT16_MAX; /* nobody knows of a limit */
		t->has = EVENT_HAVE_IP | EVENT_HAVE_PERIOD |
			 (o->any_callers ? EVENT_HAVE_CHAIN : 0) |
			 (o->any_time ? EVENT_HAVE_TIME : 0) |
			 (o->about.tasks ? EVENT_HAVE_TASK : 0) | (o->any_cpu ? EVENT_HAVE_CPU : 0);
	}
	o->trace.types = o->types.data;
	o->trace.n_types = o->types.n;
}

static void own_span(struct own *o)
{
	bool any = false;

	o->trace.n_samples = o->samples.n;
	vec_each (&o->samples, k) {
		if (!k->timed)
			continue;
		if (!any || k->time < o->trace.first_time)
			o->trace.first_time = k->time;
		if (!any || k->time > o->trace.last_time)
			o->trace.last_time = k->time;
		any = true;
	}
}

/* One reader's: the chain of the last event. */
struct own_chain {
	VEC(uint64_t) ip;
	struct event_extra extra;
};

/* Its stack, the kernel's part marked as in recordings. */
static void own_chain(const struct own *o, const struct own_kept *k, struct event *ev,
		      struct own_chain *c)
{
	const struct own_stack *s = &o->stacks.data[k->chain];
	uint64_t *ip;
	int before = -1;
	bool inner = false;

	if (!s->n)
		return;
	vec_reserve(&c->ip, 2 * (size_t)s->n);
	ip = c->ip.data;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t at = o->words.data[s->first + i];
		bool kernel = at >= o->about.n_user;

		if (kernel != before)
			*ip++ = kernel ? EVENT_CHAIN_KERNEL : EVENT_CHAIN_USER;
		before = kernel;
		*ip++ = trace_own_addr(&o->about, at);
		/* where it was is the function itself, as in recordings */
		if (inner || (i && o->about.frame[at].kind == TRACE_FRAME_INLINED))
			continue;
		inner = o->about.frame[at].kind != TRACE_FRAME_INLINED;
		ev->ip = ip[-1];
		ev->mode = kernel ? EVENT_MODE_KERNEL : EVENT_MODE_USER;
	}
	ev->chain = c->ip.data;
	ev->chain_n = (uint32_t)(ip - c->ip.data);
	ev->have |= EVENT_HAVE_CHAIN;
}

static void own_event(const struct own *o, const struct own_kept *k, struct event *ev,
		      struct own_chain *c)
{
	*ev = (struct event){ .kind = EVENT_SAMPLE,
			      .type = k->type,
			      .have = EVENT_HAVE_IP | EVENT_HAVE_PERIOD,
			      .mode = EVENT_MODE_USER,
			      .time = k->time,
			      .pid = k->pid,
			      .tid = k->tid,
			      .cpu = k->cpu,
			      .weight = k->weight,
			      .position = (uint64_t)(k - o->samples.data) };
	own_chain(o, k, ev, c);
	if (k->timed)
		ev->have |= EVENT_HAVE_TIME;
	if (k->tid >= 0 || k->pid >= 0)
		ev->have |= EVENT_HAVE_TASK;
	if (k->cpu != UINT32_MAX)
		ev->have |= EVENT_HAVE_CPU;
	if (k->count != 1) {
		c->extra.count = k->count;
		ev->extra = &c->extra;
		ev->have |= EVENT_HAVE_COUNT;
	}
}

static int own_read(const struct own *o, const uint32_t *order, event_fn *fn, void *ctx)
{
	struct own_chain c = { 0 };
	struct event ev;
	int r = 0;

	for (size_t i = 0; i < o->samples.n && r == 0; i++) {
		own_event(o, &o->samples.data[order ? order[i] : i], &ev, &c);
		r = fn(ctx, &ev);
	}
	vec_free(&c.ip);
	return r;
}

static int own_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	return own_read(s->impl, NULL, fn, ctx);
}

static int own_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	const struct own *o = s->impl;

	return own_read(o, o->order, fn, ctx);
}

struct source *own_source(struct own *o)
{
	AUTO_FREE uint32_t *place = mem_alloc((o->frames.n + 1) * sizeof(*place));

	/* without times what came later is later: names of threads change in between */
	for (size_t i = 0; i < o->samples.n && !o->any_time; i++)
		o->samples.data[i].time = i + 1;
	own_place(o, place);
	vec_each (&o->words, w)
		*w = place[*w];
	index_free(&o->stack_index);
	own_sort(o);
	own_comms(o);
	own_finish_types(o);
	own_span(o);
	o->source.read_chunk = own_read_chunk;
	o->source.read_ordered = own_read_ordered;
	return &o->source;
}
