/* SPDX-License-Identifier: MIT */
#include "calc/visible.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/sketch.h"
#include "calc/visible_read.h"

#define MAX_NODES (1u << 18)

/* --- the first time: a tree of all paths, or counters --- */

/* The tree is too large: from now on only counters. */
static void give_up_tree(struct visible_worker *w, struct visible *v)
{
	uint32_t none = 0;

	w->sketch = sketch_new();
	sketch_take(w->sketch, &w->trie);
	/* the first thread to get here decides for all how deep they count */
	__atomic_compare_exchange_n(&v->limit, &none, trie_depth(&w->trie), false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	trie_free(&w->trie);
	w->node.n = 0;
}

static void count_tree(struct visible_worker *w, uint64_t weight)
{
	uint32_t node = w->node.n ? w->node.data[w->node.n - 1] : TRIE_ROOT;

	while (w->node.n < w->path.n) {
		node = trie_child(&w->trie, node, w->path.data[w->node.n]);
		vec_push(&w->node, node);
	}
	trie_add(&w->trie, node, weight);
}

static int count_paths(struct visible_worker *w, struct visible *v, const struct event *ev,
		       const struct profile_entry *who)
{
	uint32_t limit =
		w->sketch ? __atomic_load_n(&v->limit, __ATOMIC_RELAXED) : VISIBLE_NO_LIMIT;
	int r = visible_path(w, v, ev, who, limit);

	if (r != 0)
		return r < 0 ? r : 0;
	w->weight += visible_weight(v, ev);
	if (w->sketch) {
		sketch_add(w->sketch, SKETCH_START, w->path.data, w->path.n, visible_weight(v, ev));
		return 0;
	}
	count_tree(w, visible_weight(v, ev));
	if (w->trie.nodes.n > v->max_nodes)
		give_up_tree(w, v);
	return 0;
}

/* --- the second time: what can be seen, and counters for what lies behind the limit --- */

static int follow_paths(struct visible_worker *w, struct visible *v, const struct event *ev,
			const struct profile_entry *who)
{
	int r = visible_path(w, v, ev, who, v->deep ? VISIBLE_NO_LIMIT : v->limit);
	uint64_t hash = w->hash.n ? w->hash.data[w->hash.n - 1] : SKETCH_START;
	uint64_t weight = visible_weight(v, ev);
	uint32_t node = w->node.n ? w->node.data[w->node.n - 1] : TRIE_ROOT;
	uint32_t i = (uint32_t)w->node.n;

	for (; r == 0 && i < w->path.n; i++) {
		const float *sketch = i < v->limit ? v->sketch : v->deep;
		uint64_t next = sketch_extend(hash, w->path.data[i]);

		if (sketch[sketch_slot(next)] < v->threshold)
			break;
		hash = next;
		node = trie_child(&w->trie, node, w->path.data[i]);
		vec_push(&w->hash, hash);
		vec_push(&w->node, node);
	}
	if (r == 0 && w->longer && i == v->limit) {
		r = visible_path(w, v, ev, who, VISIBLE_NO_LIMIT);
		if (r == 0 && !w->sketch)
			w->sketch = sketch_new();
		if (r == 0)
			sketch_add(w->sketch, hash, w->path.data + i, w->path.n - i, weight);
	}
	if (r == 0)
		trie_add(&w->trie, node, weight);
	return r < 0 ? r : 0;
}

/* --- what comes out --- */

static uint32_t frame_in(struct visible *v, uint32_t func, uint32_t *made, struct stacks *to)
{
	const struct stacks *named = &v->names.named;
	struct frame f = named->frames.data[func];

	if (made[func])
		return made[func] - 1;
	f.name = strtab_add(&to->strings, strtab_get(&named->strings, f.name));
	if (f.module != STRTAB_NONE)
		f.module = strtab_add(&to->strings, strtab_get(&named->strings, f.module));
	made[func] = stacks_frame(to, &f) + 1;
	return made[func] - 1;
}

static void put_node(struct visible *v, const struct trie *t, uint32_t node, uint32_t *made,
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

		if (func & VISIBLE_LABEL) {
			const struct profile_entry *l = &v->label.data[func & ~VISIBLE_LABEL];

			en.comm = strtab_add(&ret->strings, profile_comm(v->source->trace, l->comm,
									 buf, sizeof(buf)));
			en.pid = l->pid;
			en.tid = l->tid;
		} else {
			vec_push(&ids, frame_in(v, func, made, ret));
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
	AUTO_FREE uint32_t *made = mem_alloc((v->names.named.frames.n + 1) * sizeof(*made));
	struct trie *t = &v->workers[0].trie;
	const struct stacks *named = &v->names.named;

	for (unsigned k = 1; k < v->threads; k++)
		trie_merge(t, &v->workers[k].trie);
	trie_cut(t, v->threshold);
	ret->unit = named->unit;
	vec_each (&named->type_names, id)
		vec_push(&ret->type_names,
			 strtab_add(&ret->strings, strtab_get(&named->strings, *id)));
	vec_each (&named->type_units, id)
		vec_push(&ret->type_units,
			 strtab_add(&ret->strings, strtab_get(&named->strings, *id)));
	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (t->nodes.data[i].count)
			put_node(v, t, i, made, ret);
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

/* One set of counters of those that the threads have. */
static float *sum_sketches(struct visible *v)
{
	float *all = NULL;

	for (unsigned k = 0; k < v->threads; k++) {
		struct visible_worker *w = &v->workers[k];

		if (all && w->sketch)
			sketch_join(all, w->sketch);
		else if (w->sketch)
			all = w->sketch;
		w->sketch = NULL;
	}
	return all;
}

static int follow(struct visible *v)
{
	int r;

	for (unsigned k = 0; k < v->threads; k++) {
		struct visible_worker *w = &v->workers[k];

		if (w->sketch)
			continue;
		w->sketch = sketch_new();
		sketch_take(w->sketch, &w->trie);
		trie_free(&w->trie);
	}
	v->sketch = sum_sketches(v);
	r = visible_run(v, follow_paths);
	v->deep = sum_sketches(v);
	if (r < 0 || !v->deep)
		return r;
	for (unsigned k = 0; k < v->threads; k++)
		trie_free(&v->workers[k].trie);
	return visible_run(v, follow_paths);
}

int visible_stacks(struct source *s, struct symbols *symbols, const struct visible_opts *o,
		   struct stacks *ret, uint32_t *type, struct err *e)
{
	struct visible v = { .source = s,
			     .o = o,
			     .threads = pool_threads(),
			     .e = e,
			     .max_nodes = o->max_nodes ? o->max_nodes : MAX_NODES };
	bool large = false;
	double all = 0;
	int r;

	visible_begin(&v, symbols);
	r = visible_choose_type(&v);
	if (r == 0)
		r = visible_run(&v, count_paths);
	for (unsigned k = 0; k < v.threads; k++) {
		all += (double)v.workers[k].weight;
		large |= v.workers[k].sketch != NULL;
	}
	/* sums of floats are not exact */
	v.threshold = 0.99 * all * (o->min_share < SKETCH_CERTAIN ? o->min_share : SKETCH_CERTAIN);
	if (r == 0 && large)
		r = follow(&v);
	if (r == 0) {
		put_all(&v, ret);
		*type = v.type;
	}
	visible_end(&v);
	return r;
}
