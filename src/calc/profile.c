/* SPDX-License-Identifier: MIT */
#include "calc/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/pool.h"

/* Open addressing; a slot holds an index + 1. Entries and chains carry or give their hash again. */
struct index {
	uint32_t *slot;
	size_t cap, n;
};

struct tables {
	VEC(struct profile_entry) entries;
	VEC(struct profile_chain) chains;
	struct index entry_index, chain_index;
	struct profile_total *total;
	struct arena copies;
	/* the last sample's answers: neighbours are mostly of one thread */
	int32_t last_pid, last_tid;
	uint64_t last_time;
	uint32_t last_space, last_kernel, last_comm;
};

struct job {
	struct source *source;
	const struct profile_opts *o;
	struct tables *tables; /* by worker */
	struct err *e;
};

struct reader {
	struct job *job;
	struct tables *t;
	unsigned worker;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t chain_hash(const struct profile_chain *c)
{
	const uint64_t *ip = c->ip;
	uint64_t h = mix((uint64_t)c->space << 32 | c->kernel, c->n);
	uint32_t i = 0, n = c->n;

	for (; i + 2 <= n; i += 2)
		h = mix(ip[i] ^ h, ip[i + 1]);
	if (i < n)
		h = mix(ip[i] ^ h, n);
	return h;
}

/* The part of an entry that identifies it is everything before its sums. */
#define KEY_SIZE offsetof(struct profile_entry, count)

static uint64_t entry_hash(const struct profile_entry *e)
{
	uint64_t w[KEY_SIZE / 8], h = 0;

	_Static_assert(KEY_SIZE % 8 == 0, "the key has no padding");
	memcpy(w, e, KEY_SIZE);
	for (size_t i = 0; i < KEY_SIZE / 8; i++)
		h = mix(w[i] ^ h, i);
	return h;
}

static void index_grow(struct index *x, uint64_t (*hash_of)(const void *ctx, size_t i),
		       const void *ctx)
{
	uint32_t *old = x->slot;
	size_t old_cap = x->cap;

	x->cap = old_cap ? old_cap * 2 : 1024;
	x->slot = mem_alloc(x->cap * sizeof(*x->slot));
	for (size_t i = 0; i < old_cap; i++) {
		size_t at;

		if (!old[i])
			continue;
		at = hash_of(ctx, old[i] - 1) & (x->cap - 1);
		while (x->slot[at])
			at = (at + 1) & (x->cap - 1);
		x->slot[at] = old[i];
	}
	free(old);
}

static uint64_t chain_hash_at(const void *ctx, size_t i)
{
	return ((const struct tables *)ctx)->chains.data[i].hash;
}

static uint64_t entry_hash_at(const void *ctx, size_t i)
{
	return entry_hash(&((const struct tables *)ctx)->entries.data[i]);
}

/* copy: the words do not outlive the callback. */
static uint32_t intern_chain(struct tables *t, const struct profile_chain *c, bool copy)
{
	struct index *x = &t->chain_index;
	size_t at;

	if ((x->n + 1) * 2 > x->cap)
		index_grow(x, chain_hash_at, t);
	for (at = c->hash & (x->cap - 1); x->slot[at]; at = (at + 1) & (x->cap - 1)) {
		const struct profile_chain *o = &t->chains.data[x->slot[at] - 1];

		if (o->hash == c->hash && o->n == c->n && o->space == c->space &&
		    o->kernel == c->kernel && memcmp(o->ip, c->ip, c->n * sizeof(*c->ip)) == 0)
			return x->slot[at] - 1;
	}
	vec_push(&t->chains, *c);
	if (copy)
		t->chains.data[t->chains.n - 1].ip =
			arena_dup(&t->copies, c->ip, c->n * sizeof(*c->ip));
	x->slot[at] = (uint32_t)t->chains.n;
	x->n++;
	return (uint32_t)t->chains.n - 1;
}

static void count_entry(struct tables *t, const struct profile_entry *e)
{
	struct index *x = &t->entry_index;
	size_t at;

	if ((x->n + 1) * 2 > x->cap)
		index_grow(x, entry_hash_at, t);
	for (at = entry_hash(e) & (x->cap - 1); x->slot[at]; at = (at + 1) & (x->cap - 1)) {
		struct profile_entry *o = &t->entries.data[x->slot[at] - 1];

		if (memcmp(o, e, KEY_SIZE) == 0) {
			o->count += e->count;
			o->weight += e->weight;
			return;
		}
	}
	vec_push(&t->entries, *e);
	x->slot[at] = (uint32_t)t->entries.n;
	x->n++;
}

/* Space and name of the task, remembered for the next sample of the same thread. */
static void look_up_task(struct reader *r, const struct event *ev, struct profile_entry *out)
{
	const struct tasks *tasks = r->job->source->trace->tasks;
	struct tables *t = r->t;

	if (ev->pid != t->last_pid || ev->tid != t->last_tid || ev->time != t->last_time) {
		t->last_space = tasks_space_at(tasks, ev->pid, ev->time);
		t->last_kernel = tasks_kernel_at(tasks, ev->time);
		t->last_comm = tasks_comm_at(tasks, ev->tid, ev->time);
		t->last_pid = ev->pid;
		t->last_tid = ev->tid;
		t->last_time = ev->time;
	}
	out->space = t->last_space;
	out->kernel = t->last_kernel;
	out->comm =
		t->last_comm != STRTAB_NONE ? t->last_comm : PROFILE_NAMELESS | (uint32_t)ev->tid;
}

const char *profile_comm(const struct trace *t, uint32_t comm, char *buf, size_t size)
{
	if (!(comm & PROFILE_NAMELESS))
		return strtab_get(tasks_strings(t->tasks), comm);
	if (comm == PROFILE_NAMELESS)
		return "swapper"; /* the idle task has number 0 on every CPU */
	snprintf(buf, size, ":%d", (int)(comm << 1) >> 1);
	return buf;
}

static uint32_t chain_of(struct reader *r, const struct event *ev, const struct profile_entry *of)
{
	const struct profile_opts *o = r->job->o;
	struct profile_chain c = {
		.ip = ev->chain, .n = ev->chain_n, .space = of->space, .kernel = of->kernel
	};

	if (!(ev->have & EVENT_HAVE_CHAIN) || !c.n)
		return PROFILE_NO_CHAIN;
	if (o->max_stack) {
		uint32_t frames = 0, i = 0;

		/* markers are no frames */
		for (; i < c.n && frames < o->max_stack; i++)
			frames += c.ip[i] < EVENT_CHAIN_MARK;
		c.cut = i < c.n;
		c.n = i;
	}
	c.hash = chain_hash(&c);
	return intern_chain(r->t, &c, !r->job->source->stable);
}

static int on_sample(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	const struct profile_opts *o = r->job->o;
	struct profile_total *total = &r->t->total[ev->type];
	struct profile_entry e = { .type = ev->type, .chain = PROFILE_NO_CHAIN };

	if (ev->kind != EVENT_SAMPLE)
		return 0;
	total->all_count++;
	total->all_weight += ev->weight;
	if (o->want && !o->want(o->ctx, ev))
		return 0;
	total->count++;
	total->weight += ev->weight;
	look_up_task(r, ev, &e);
	if (!(o->by & PROFILE_BY_COMM))
		e.comm = STRTAB_NONE;
	if (o->by & PROFILE_BY_PID)
		e.pid = ev->pid;
	if (o->by & PROFILE_BY_TID)
		e.tid = ev->tid;
	if (o->by & PROFILE_BY_CPU)
		e.cpu = ev->cpu;
	if (o->by & PROFILE_BY_TIME)
		e.time = ev->time;
	if (o->by & (PROFILE_BY_CODE | PROFILE_BY_CHAIN)) {
		e.ip = ev->ip;
		e.mode = ev->mode;
		if (o->by & PROFILE_BY_CHAIN)
			e.chain = chain_of(r, ev, &e);
	}
	/* kernel code is the same in every space */
	if (e.chain == PROFILE_NO_CHAIN && (e.mode == EVENT_MODE_KERNEL || !e.mode))
		e.space = TASK_SPACE_KERNEL;
	if (o->extra)
		e.extra = o->extra(o->ctx, r->worker, ev);
	e.count = 1;
	e.weight = ev->weight;
	count_entry(r->t, &e);
	return 0;
}

static int read_chunk(void *ctx, size_t chunk, unsigned worker)
{
	struct job *j = ctx;
	struct reader r = { .job = j, .t = &j->tables[worker], .worker = worker };
	struct err e = { 0 };
	int code = j->source->read_chunk(j->source, chunk, on_sample, &r, &e);

	if (code < 0 && j->e) /* several threads may fail at once; any one's reason will do */
		*j->e = e;
	return code;
}

static void tables_free(struct tables *t)
{
	vec_free(&t->entries);
	vec_free(&t->chains);
	free(t->entry_index.slot);
	free(t->chain_index.slot);
	free(t->total);
	arena_free(&t->copies);
}

/* Add what another worker counted to t. */
static void merge(struct tables *t, struct tables *other, size_t n_types)
{
	AUTO_FREE uint32_t *ids = mem_alloc(other->chains.n * sizeof(*ids));

	for (size_t i = 0; i < other->chains.n; i++)
		ids[i] = intern_chain(t, &other->chains.data[i], other->copies.top != NULL);
	for (size_t i = 0; i < other->entries.n; i++) {
		struct profile_entry *e = &other->entries.data[i];

		if (e->chain != PROFILE_NO_CHAIN)
			e->chain = ids[e->chain];
		count_entry(t, e);
	}
	for (size_t i = 0; i < n_types; i++) {
		t->total[i].count += other->total[i].count;
		t->total[i].weight += other->total[i].weight;
		t->total[i].all_count += other->total[i].all_count;
		t->total[i].all_weight += other->total[i].all_weight;
	}
	tables_free(other);
}

int profile_make(struct source *s, const struct profile_opts *o, struct profile *ret, struct err *e)
{
	unsigned threads = o->threads ? o->threads : pool_threads();
	AUTO_FREE struct tables *tables = mem_alloc(threads * sizeof(*tables));
	struct job j = { .source = s, .o = o, .tables = tables, .e = e };
	size_t n_types = s->trace->n_types;
	int r;

	for (unsigned i = 0; i < threads; i++) {
		tables[i].total = mem_alloc((n_types + 1) * sizeof(*tables[i].total));
		tables[i].last_time = UINT64_MAX;
	}
	r = pool_run(s->n_chunks, threads, read_chunk, &j);
	for (unsigned i = 1; i < threads; i++)
		merge(&tables[0], &tables[i], n_types);
	if (r < 0) {
		tables_free(&tables[0]);
		return r;
	}
	free(tables[0].entry_index.slot);
	free(tables[0].chain_index.slot);
	*ret = (struct profile){ .trace = s->trace,
				 .total = tables[0].total,
				 .copies = tables[0].copies };
	memcpy(&ret->entries, &tables[0].entries, sizeof(ret->entries));
	memcpy(&ret->chains, &tables[0].chains, sizeof(ret->chains));
	return 0;
}

void profile_free(struct profile *p)
{
	vec_free(&p->entries);
	vec_free(&p->chains);
	free(p->total);
	arena_free(&p->copies);
}

struct profile_builder {
	struct source source; /* only its trace, and that nothing it points to is kept */
	struct profile_opts opts;
	struct tables tables;
	struct job job;
	struct reader reader;
	struct profile view;
};

struct profile_builder *profile_builder_new(struct trace *t, const struct profile_opts *o)
{
	struct profile_builder *b = mem_alloc(sizeof(*b));

	b->source.trace = t;
	b->opts = *o;
	b->tables.total = mem_alloc((t->n_types + 1) * sizeof(*b->tables.total));
	b->tables.last_time = UINT64_MAX;
	b->job = (struct job){ .source = &b->source, .o = &b->opts, .tables = &b->tables };
	b->reader = (struct reader){ .job = &b->job, .t = &b->tables };
	return b;
}

int profile_builder_add(void *ctx, const struct event *ev)
{
	struct profile_builder *b = ctx;

	return on_sample(&b->reader, ev);
}

struct profile *profile_builder_look(struct profile_builder *b)
{
	b->view = (struct profile){ .trace = b->source.trace, .total = b->tables.total };
	memcpy(&b->view.entries, &b->tables.entries, sizeof(b->view.entries));
	memcpy(&b->view.chains, &b->tables.chains, sizeof(b->view.chains));
	return &b->view;
}

void profile_builder_fade(struct profile_builder *b, double keep)
{
	struct tables old = b->tables;
	size_t n_types = b->source.trace->n_types;

	b->tables = (struct tables){ .last_time = UINT64_MAX };
	b->tables.total = mem_alloc((n_types + 1) * sizeof(*b->tables.total));
	for (size_t i = 0; i < old.entries.n; i++) {
		struct profile_entry e = old.entries.data[i];

		e.count = (uint64_t)((double)e.count * keep);
		e.weight = (uint64_t)((double)e.weight * keep);
		if (!e.weight)
			continue;
		if (e.chain != PROFILE_NO_CHAIN)
			e.chain = intern_chain(&b->tables, &old.chains.data[e.chain], true);
		b->tables.total[e.type].count += e.count;
		b->tables.total[e.type].weight += e.weight;
		b->tables.total[e.type].all_count += e.count;
		b->tables.total[e.type].all_weight += e.weight;
		count_entry(&b->tables, &e);
	}
	tables_free(&old);
}

void profile_builder_free(struct profile_builder *b)
{
	if (!b)
		return;
	tables_free(&b->tables);
	free(b);
}
