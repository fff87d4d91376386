/* SPDX-License-Identifier: MIT */
#include "calc/visible.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/places.h"
#include "calc/profile_table.h"
#include "calc/trie.h"

#define SKETCH_BITS 20
#define SKETCH (1u << SKETCH_BITS)
/* A counter of single precision stops growing when it is 16 million times what is added. */
#define LEAST_CERTAIN 0.01

struct worker {
	struct place_set places;
	struct task_cache tasks;
	uint64_t *weight, *count, *first; /* by type */
	struct map labels;
	VEC(struct profile_entry) label; /* comm, pid and tid of each */
	float *sketch;
	struct trie trie;
};

struct visible {
	struct source *source;
	const struct visible_opts *o;
	struct worker *workers;
	unsigned threads;
	int (*pass)(struct worker *w, const struct visible *v, const struct event *ev,
		    const struct profile_entry *who);
	struct place_names names;
	struct map labels; /* who -> index + 1 in label */
	VEC(struct profile_entry) label;
	uint32_t type;
	double scale, threshold; /* shares are weights by scale */
	struct err *e;
};

struct reader {
	const struct visible *v;
	struct worker *w;
};

static uint64_t weight_of(const struct visible *v, const struct event *ev)
{
	return v->o->counts || !ev->weight ? 1 : ev->weight;
}

static uint64_t label_key(const struct visible *v, const struct event *ev, uint32_t comm)
{
	uint64_t key = comm;

	if (v->o->by_pid || v->o->by_tid)
		key ^= map_hash((uint64_t)(uint32_t)ev->pid << 32 |
				(v->o->by_tid ? (uint32_t)ev->tid : 0));
	return key;
}

static int on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	struct profile_entry who = { 0 };

	if (ev->kind != EVENT_SAMPLE || (r->v->type != UINT32_MAX && ev->type != r->v->type))
		return 0;
	task_cache_ask(&r->w->tasks, r->v->source->trace->tasks, ev, &who);
	return r->v->pass(r->w, r->v, ev, &who);
}

static int read_chunk(void *ctx, size_t chunk, unsigned worker)
{
	struct visible *v = ctx;
	struct reader r = { .v = v, .w = &v->workers[worker] };
	struct err e = { 0 };
	int code = v->source->read_chunk(v->source, chunk, on_event, &r, &e);

	if (code < 0)
		*v->e = e;
	return code;
}

static int run(struct visible *v,
	       int (*pass)(struct worker *w, const struct visible *v, const struct event *ev,
			   const struct profile_entry *who))
{
	v->pass = pass;
	return pool_run(v->source->n_chunks, v->threads, read_chunk, v);
}

/* --- first: addresses, labels, sums --- */

static int find_places(struct worker *w, const struct visible *v, const struct event *ev,
		       const struct profile_entry *who)
{
	w->count[ev->type]++;
	w->weight[ev->type] += weight_of(v, ev);
	if (!w->first[ev->type] || ev->time < w->first[ev->type])
		w->first[ev->type] = ev->time;
	if (v->o->by_comm) {
		uint64_t *at = map_at(&w->labels, label_key(v, ev, who->comm));

		if (!*at) {
			struct profile_entry l = *who;

			l.pid = ev->pid;
			l.tid = ev->tid;
			vec_push(&w->label, l);
			*at = w->label.n;
		}
	}
	return places_add(&w->places, ev, who) ? 0 : -EOPNOTSUPP;
}

static void merge_labels(struct visible *v, struct worker *w)
{
	vec_each (&w->label, l) {
		struct event ev = { .pid = l->pid, .tid = l->tid };
		uint64_t *at = map_at(&v->labels, label_key(v, &ev, l->comm));

		if (!*at) {
			vec_push(&v->label, *l);
			*at = v->label.n;
		}
	}
	map_free(&w->labels);
	vec_free(&w->label);
}

static void choose_type(struct visible *v)
{
	size_t n = v->source->trace->n_types;
	uint64_t earliest = UINT64_MAX, all;

	for (unsigned k = 1; k < v->threads; k++)
		for (size_t i = 0; i < n; i++) {
			struct worker *a = &v->workers[0], *b = &v->workers[k];

			a->count[i] += b->count[i];
			a->weight[i] += b->weight[i];
			if (b->first[i] && (!a->first[i] || b->first[i] < a->first[i]))
				a->first[i] = b->first[i];
		}
	v->type = v->o->type;
	for (uint32_t i = 0; i < n && v->o->type == UINT32_MAX; i++)
		if (v->workers[0].count[i] && v->workers[0].first[i] < earliest) {
			earliest = v->workers[0].first[i];
			v->type = i;
		}
	if (v->type >= n)
		v->type = 0;
	all = n ? v->workers[0].weight[v->type] : 0;
	v->scale = all ? 1.0 / (double)all : 0;
	v->threshold = v->o->min_share * 0.999; /* sums of floats are not exact */
	if (v->threshold > LEAST_CERTAIN)
		v->threshold = LEAST_CERTAIN;
}

/* --- second and third: call paths --- */

static inline uint64_t extend(uint64_t hash, uint32_t func)
{
	hash = (hash ^ func) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static inline size_t counter_of(uint64_t hash)
{
	return (hash * 0xd6e8feb86659fd93u) >> (64 - SKETCH_BITS);
}

/* A walk along a sample's path, outermost first: a label, then functions. */
struct walk {
	struct worker *w;
	const struct visible *v;
	uint64_t hash;
	float share;
	uint32_t node, last;
};

/* step() is false where the walk ends. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
ALWAYS_INLINE bool visit(struct walk *k, uint32_t func, bool (*step)(struct walk *k, uint32_t func))
{
	if (k->v->o->collapse_recursion && k->last == func)
		return true;
	k->last = func;
	k->hash = extend(k->hash, func);
	return step(k, func);
}

ALWAYS_INLINE bool visit_place(struct walk *k, uint32_t func,
			       bool (*step)(struct walk *k, uint32_t func))
{
	const uint32_t *list;

	if (!(func & PLACE_SEVERAL))
		return visit(k, func, step);
	list = &k->v->names.list[func & ~PLACE_SEVERAL];
	for (uint32_t i = 1; i <= list[0]; i++)
		if (!visit(k, list[i], step))
			return false;
	return true;
}

ALWAYS_INLINE void walk_path(struct walk *k, const struct event *ev,
			     const struct profile_entry *who,
			     bool (*step)(struct walk *k, uint32_t func))
{
	const struct place_names *n = &k->v->names;
	struct place_parts parts;

	k->hash = 1;
	k->last = UINT32_MAX;
	if (k->v->o->by_comm) {
		const uint64_t *at = map_find(&k->v->labels, label_key(k->v, ev, who->comm));

		if (!visit(k, n->funcs + (uint32_t)*at - 1, step))
			return;
	}
	if (!places_split(ev, who, &parts))
		return;
	for (uint32_t i = parts.n; i-- > 0;) {
		const struct place_part *p = &parts.part[i];

		for (uint32_t at = p->end; at-- > p->first;)
			if (!visit_place(k, place_func(n, parts.ip[at], p->space, at > p->first),
					 step))
				return;
	}
}

static inline bool count_step(struct walk *k, uint32_t func)
{
	(void)func;
	k->w->sketch[counter_of(k->hash)] += k->share;
	return true;
}

static int count_paths(struct worker *w, const struct visible *v, const struct event *ev,
		       const struct profile_entry *who)
{
	struct walk k = { .w = w, .v = v };

	k.share = (float)((double)weight_of(v, ev) * v->scale);
	walk_path(&k, ev, who, count_step);
	return 0;
}

static inline bool follow_step(struct walk *k, uint32_t func)
{
	if (k->v->workers[0].sketch[counter_of(k->hash)] < k->v->threshold)
		return false;
	k->node = trie_child(&k->w->trie, k->node, func);
	return true;
}

static int follow_paths(struct worker *w, const struct visible *v, const struct event *ev,
			const struct profile_entry *who)
{
	struct walk k = { .w = w, .v = v, .node = TRIE_ROOT };

	walk_path(&k, ev, who, follow_step);
	trie_add(&w->trie, k.node, weight_of(v, ev));
	return 0;
}

static void sum_sketches(struct visible *v)
{
	for (unsigned k = 1; k < v->threads; k++) {
		for (size_t i = 0; i < SKETCH; i++)
			v->workers[0].sketch[i] += v->workers[k].sketch[i];
		free(v->workers[k].sketch);
		v->workers[k].sketch = NULL;
	}
}

/* --- what comes out --- */

static void put_node(const struct visible *v, const struct trie *t, uint32_t node,
		     struct stacks *ret)
{
	const struct trie_node *at = &t->nodes.data[node];
	struct stack_entry en = { .type = v->type,
				  .comm = STRTAB_NONE,
				  .pid = -1,
				  .tid = -1,
				  .cpu = UINT32_MAX,
				  .count = at->count,
				  .weight = (int64_t)at->weight };
	VEC(uint32_t) ids = { 0 };
	char buf[32];

	for (uint32_t i = node; i != TRIE_ROOT; i = t->nodes.data[i].parent) {
		uint32_t func = t->nodes.data[i].func;

		if (func >= v->names.funcs) {
			const struct profile_entry *l = &v->label.data[func - v->names.funcs];

			en.comm = strtab_add(&ret->strings, profile_comm(v->source->trace, l->comm,
									 buf, sizeof(buf)));
			en.pid = l->pid;
			en.tid = l->tid;
		} else {
			vec_push(&ids, place_names_frame(&v->names, func, ret));
		}
	}
	for (size_t i = 0; i < ids.n / 2; i++) {
		uint32_t x = ids.data[i];

		ids.data[i] = ids.data[ids.n - 1 - i];
		ids.data[ids.n - 1 - i] = x;
	}
	en.stack = stacks_stack(ret, ids.data, ids.n);
	stacks_add(ret, &en);
	vec_free(&ids);
}

static void put_all(struct visible *v, struct stacks *ret)
{
	struct trie *t = &v->workers[0].trie;

	for (unsigned k = 1; k < v->threads; k++)
		trie_merge(t, &v->workers[k].trie);
	place_names_types(&v->names, ret);
	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (t->nodes.data[i].count)
			put_node(v, t, i, ret);
	if (t->root_count) /* of processes too small to be seen */
		stacks_add(ret, &(struct stack_entry){ .type = v->type,
						       .stack = stacks_stack(ret, NULL, 0),
						       .comm = STRTAB_NONE,
						       .pid = -1,
						       .tid = -1,
						       .cpu = UINT32_MAX,
						       .count = t->root_count,
						       .weight = (int64_t)t->root_weight });
}

static void visible_free(struct visible *v)
{
	for (unsigned k = 0; k < v->threads; k++) {
		struct worker *w = &v->workers[k];

		places_free(&w->places);
		free(w->weight);
		free(w->count);
		free(w->first);
		free(w->sketch);
		map_free(&w->labels);
		vec_free(&w->label);
		trie_free(&w->trie);
	}
	free(v->workers);
	place_names_free(&v->names);
	map_free(&v->labels);
	vec_free(&v->label);
}

static int find_names(struct visible *v, struct symbols *symbols)
{
	for (unsigned k = 1; k < v->threads; k++)
		places_merge(&v->workers[0].places, &v->workers[k].places);
	for (unsigned k = 0; k < v->threads; k++)
		merge_labels(v, &v->workers[k]);
	choose_type(v);
	return place_names_make(&v->names, v->source->trace, &v->workers[0].places, symbols,
				v->o->inlines, v->o->counts, v->e);
}

int visible_stacks(struct source *s, struct symbols *symbols, const struct visible_opts *o,
		   struct stacks *ret, uint32_t *type, struct err *e)
{
	struct visible v = { .source = s, .o = o, .threads = pool_threads(), .e = e };
	size_t types = s->trace->n_types + 1;
	int r;

	v.type = UINT32_MAX;
	v.workers = mem_alloc(v.threads * sizeof(*v.workers));
	for (unsigned k = 0; k < v.threads; k++) {
		v.workers[k].weight = mem_alloc(types * sizeof(uint64_t));
		v.workers[k].count = mem_alloc(types * sizeof(uint64_t));
		v.workers[k].first = mem_alloc(types * sizeof(uint64_t));
		v.workers[k].sketch = mem_alloc(SKETCH * sizeof(float));
	}
	r = run(&v, find_places);
	if (r == 0)
		r = find_names(&v, symbols);
	if (r == 0)
		r = run(&v, count_paths);
	if (r == 0) {
		sum_sketches(&v);
		r = run(&v, follow_paths);
	}
	if (r == 0) {
		put_all(&v, ret);
		*type = v.type;
	}
	visible_free(&v);
	return r;
}
