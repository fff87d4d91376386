/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/pool.h"
#include "calc/profile/stacks.h"
#include "calc/stacks/places_ask.h"
#include "calc/stacks/visible_read.h"

#define RECENT 4096 /* entries that a thread has made last; a power of 2 */
#define NO_STACK UINT32_MAX

/* What a thread has found. */
struct finder {
	struct stacks paths; /* different ones: functions are their frames */
	uint32_t last;	     /* that of the worker's path */
	/* Samples, and neighbours that are the same as one; comm is still for tasks_who_name(). */
	VEC(struct stack_entry) entries;
	uint32_t recent[RECENT]; /* + 1; by hash */
	/* Addresses that lines are asked for: of files, each once. */
	VEC(struct place) places; /* key_addr is the mark */
	struct map met;		  /* marks of them */
	uint64_t *earliest;	  /* by type: time + 1 of the first sample; 0: none */
};

struct paths {
	struct visible v;
	struct finder *finder; /* by worker */
	uint32_t **stack;      /* by worker and stack of its own: that of all */
	uint64_t quantum;      /* of times; 0: none are kept */
	struct stacks *out;
};

static struct paths *paths_of(struct visible *v)
{
	return (struct paths *)((char *)v - offsetof(struct paths, v));
}

static struct finder *finder_of(struct visible *v, const struct visible_worker *w)
{
	return &paths_of(v)->finder[w - v->workers];
}

/* --- reading --- */

static inline void add_place(struct finder *f, const struct place *x)
{
	uint64_t *met = map_at(&f->met, x->key_addr);

	if (!*met)
		vec_push(&f->places, *x);
	*met = 1;
}

/* An address of a file: the same instruction has the same line in every process. */
static void on_met(struct visible *v, struct visible_worker *w, const struct place_part *part,
		   uint64_t addr, bool caller)
{
	struct finder *f = finder_of(v, w);
	const struct place_range *g;
	uint64_t mark;

	if (part->mode != EVENT_MODE_USER)
		return;
	g = place_range_of(&w->places, part, addr);
	if (!(g->key & PLACE_DSO) || g->one || g->key == PLACE_NOWHERE)
		return;
	/* files are fewer than 2^22, and what is behind 4 TB of one need have no lines */
	mark = (addr - g->shift - caller) << 22 | (g->key & 0x3fffff);
	add_place(f, &(struct place){ .key_addr = mark,
				      .addr = addr,
				      .space = part->space,
				      .mode = part->mode,
				      .caller = caller });
}

/* A thread is often seen where it was a moment ago. */
static void paths_add_entry(struct finder *f, const struct stack_entry *e)
{
	uint64_t hash = map_hash(((uint64_t)e->stack << 32 | (uint32_t)e->tid) ^ e->time);
	uint32_t *recent = &f->recent[hash % RECENT];
	struct stack_entry *x = *recent ? &f->entries.data[*recent - 1] : NULL;

	if (x && x->stack == e->stack && x->time == e->time && x->tid == e->tid &&
	    x->pid == e->pid && x->comm == e->comm && x->cpu == e->cpu && x->type == e->type) {
		x->count++;
		/* of a damaged recording: more than there can be stays that */
		if (__builtin_add_overflow(x->weight, e->weight, &x->weight))
			x->weight = INT64_MAX;
		return;
	}
	vec_push(&f->entries, *e);
	*recent = (uint32_t)f->entries.n;
}

/* Only a damaged recording has weights that are no int64_t. */
static int64_t weight_of(const struct event_brief *b)
{
	return b->weight > INT64_MAX ? INT64_MAX : (int64_t)b->weight;
}

static uint64_t paths_time_of(const struct paths *p, const struct event_brief *b)
{
	const struct event_type *t = &p->v.source->trace->types[b->type];

	/* how long it was is not known of what is only counted, so nor is when it began */
	if (!p->quantum || (t->spans && p->v.o->counts))
		return 0;
	return type_time(t, b->time, b->cpu) / p->quantum * p->quantum;
}

static int on_path(struct visible_worker *w, struct visible *v, const struct place_sample *s)
{
	struct finder *f = finder_of(v, w);
	uint64_t *earliest = &f->earliest[s->b.type];
	uint32_t stack;
	int r = visible_start(w, v, s);

	if (r < 0)
		return r;
	visible_need(w, v, VISIBLE_ALL);
	if (w->unknown) {
		f->last = NO_STACK;
		visible_later(w, s);
		return 0;
	}
	if (!w->same)
		f->last = NO_STACK;
	stack = w->n == w->path.n ? f->last : NO_STACK;
	if (stack == NO_STACK)
		stack = stacks_stack(&f->paths, w->path.data, w->n);
	if (stack == NO_STACK)
		return -EOPNOTSUPP;
	if (w->n == w->path.n)
		f->last = stack;
	if (!*earliest || s->b.time < *earliest - 1)
		*earliest = s->b.time + 1;
	paths_add_entry(f, &(struct stack_entry){ .stack = stack,
						  .type = s->b.type,
						  .comm = s->comm,
						  .pid = s->b.pid,
						  .tid = s->b.tid,
						  .cpu = s->b.cpu,
						  .time = paths_time_of(paths_of(v), &s->b),
						  .count = 1,
						  .weight = weight_of(&s->b) });
	return 0;
}

/* --- together --- */

/* The paths of all threads as those of the first. */
static int join_paths(struct paths *p)
{
	struct stacks *all = &p->finder[0].paths;

	for (unsigned k = 1; k < p->v.threads; k++) {
		struct stacks *own = &p->finder[k].paths;

		p->stack[k] = mem_grow(NULL, (own->stacks.n + 1) * sizeof(**p->stack));
		for (size_t i = 0; i < own->stacks.n; i++) {
			const struct stack *s = &own->stacks.data[i];

			p->stack[k][i] = stacks_stack(all, own->frame_ids.data + s->first, s->n);
			if (p->stack[k][i] == NO_STACK)
				return -EOPNOTSUPP;
		}
		stacks_free(own);
	}
	return 0;
}

static int join_lines(struct paths *p)
{
	struct finder *all = &p->finder[0];

	for (unsigned k = 1; k < p->v.threads; k++)
		vec_each (&p->finder[k].places, x)
			add_place(all, x);
	return place_names_lines(&p->v.names, all->places.data, all->places.n, p->v.e);
}

struct comms {
	struct map known; /* for tasks_who_name() -> string + 1 */
	uint32_t last, is;
};

static uint32_t paths_comm_of(struct paths *p, struct comms *c, uint32_t comm)
{
	char buf[32];
	uint64_t *at;

	if (comm == c->last)
		return c->is;
	at = map_at(&c->known, comm);
	if (!*at)
		*at = 1 + strtab_add(&p->out->strings,
				     tasks_who_name(p->v.source->trace->tasks, comm, buf));
	c->last = comm;
	c->is = (uint32_t)*at - 1;
	return c->is;
}

static void join_entries(struct paths *p)
{
	struct stacks *out = p->out;
	struct comms c = { .last = STRTAB_NONE, .is = STRTAB_NONE };
	size_t n = 0;

	memcpy(&out->entries, &p->finder[0].entries, sizeof(out->entries));
	memset(&p->finder[0].entries, 0, sizeof(out->entries));
	for (unsigned k = 1; k < p->v.threads; k++)
		n += p->finder[k].entries.n;
	vec_reserve(&out->entries, out->entries.n + n);
	vec_each (&out->entries, en)
		en->comm = paths_comm_of(p, &c, en->comm);
	for (unsigned k = 1; k < p->v.threads; k++) {
		struct finder *f = &p->finder[k];

		vec_each (&f->entries, en) {
			struct stack_entry *to = &out->entries.data[out->entries.n++];

			*to = *en;
			to->stack = p->stack[k][en->stack];
			to->comm = paths_comm_of(p, &c, en->comm);
		}
		vec_free(&f->entries);
	}
	map_free(&c.known);
}

/* Functions are the frames, and the first thread's paths the stacks. */
static void hand_over(struct paths *p)
{
	struct finder *f = &p->finder[0];

	*p->out = p->v.names.named;
	p->v.names.named = (struct stacks){ 0 };
	memcpy(&p->out->frame_ids, &f->paths.frame_ids, sizeof(p->out->frame_ids));
	memcpy(&p->out->stacks, &f->paths.stacks, sizeof(p->out->stacks));
	memset(&f->paths.frame_ids, 0, sizeof(f->paths.frame_ids));
	memset(&f->paths.stacks, 0, sizeof(f->paths.stacks));
	p->out->time_quantum = p->quantum;
	join_entries(p);
}

static uint32_t paths_first_type(const struct paths *p)
{
	const struct trace *t = p->v.source->trace;
	struct first_type f = { 0 };

	for (uint32_t i = 0; i < t->n_types; i++)
		for (unsigned k = 0; k < p->v.threads; k++)
			if (p->finder[k].earliest[i])
				first_type_see(&f, t, i, p->finder[k].earliest[i]);
	return f.type;
}

static void paths_free(struct paths *p)
{
	for (unsigned k = 0; k < p->v.threads; k++) {
		struct finder *f = &p->finder[k];

		stacks_free(&f->paths);
		vec_free(&f->entries);
		vec_free(&f->places);
		map_free(&f->met);
		free(f->earliest);
		free(p->stack[k]);
	}
	free(p->finder);
	free(p->stack);
	visible_end(&p->v);
}

int paths_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		 struct gaps *gaps, struct stacks *ret, uint32_t *first, struct err *e)
{
	struct paths p = { .v = { .source = s,
				  .o = o,
				  .gaps = gaps,
				  .threads = pool_threads(),
				  .type = VISIBLE_ALL_TYPES,
				  .step = 1,
				  .count = on_path,
				  .met = o->times ? on_met : NULL,
				  .e = e },
			   .quantum = ret->time_quantum,
			   .out = ret };
	int r;

	visible_begin(&p.v, symbols);
	p.finder = mem_alloc(p.v.threads * sizeof(*p.finder));
	p.stack = mem_alloc(p.v.threads * sizeof(*p.stack));
	for (unsigned k = 0; k < p.v.threads; k++) {
		p.finder[k].last = NO_STACK;
		p.finder[k].earliest =
			mem_alloc((s->trace->n_types + 1) * sizeof(*p.finder[k].earliest));
	}
	r = visible_run(&p.v);
	if (r == 0)
		r = join_paths(&p);
	if (r == 0 && o->times)
		r = join_lines(&p);
	if (r == 0) {
		hand_over(&p);
		*first = paths_first_type(&p);
	}
	paths_free(&p);
	return r;
}
