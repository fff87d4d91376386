/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/stacks/visible_read.h"

/* Recordings that are larger than so many samples and chunks are looked at in part first. */
#define FEW_SAMPLES (1u << 16)
#define FEW_CHUNKS 32
#define PART 16		/* one chunk of so many */
#define ROOM (4u << 20) /* words for what is kept of paths, over all threads */

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

static void put_node(struct visible *v, const struct prefix_tree *t, uint32_t node, uint32_t *made,
		     struct stacks *ret)
{
	const struct prefix_tree_node *at = &t->nodes.data[node];
	struct stack_entry en = { .type = v->type,
				  .comm = STRTAB_NONE,
				  .pid = -1,
				  .tid = -1,
				  .cpu = UINT32_MAX,
				  .count = at->count,
				  .weight = (int64_t)at->weight };
	VEC(uint32_t) ids = { 0 };
	char buf[32];

	for (uint32_t i = node; i != PREFIX_TREE_ROOT; i = t->nodes.data[i].parent) {
		uint32_t func = t->nodes.data[i].func;

		if (func & VISIBLE_LABEL) {
			const struct profile_entry *l = &v->who.data[func & ~VISIBLE_LABEL];

			en.comm = strtab_add(&ret->strings,
					     tasks_who_name(v->source->trace->tasks, l->comm, buf));
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

static void visible_put_all(struct visible *v, struct stacks *ret)
{
	AUTO_FREE uint32_t *made = mem_alloc((v->names.named.frames.n + 1) * sizeof(*made));
	struct prefix_tree *t = &v->workers[0].tree;
	const struct stacks *named = &v->names.named;

	prefix_tree_cut(t, v->threshold);
	ret->unit = named->unit;
	vec_each (&named->type_names, id)
		vec_push(&ret->type_names,
			 strtab_add(&ret->strings, strtab_get(&named->strings, *id)));
	vec_each (&named->type_units, id)
		vec_push(&ret->type_units,
			 strtab_add(&ret->strings, strtab_get(&named->strings, *id)));
	/* the root has what belongs to processes too small to be seen */
	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (t->nodes.data[i].count)
			put_node(v, t, i, made, ret);
}

/* Read the samples into the trees, of which the first gets all in the end. */
static int read_into(struct visible *v, size_t step)
{
	struct visible_worker *w = v->workers;
	unsigned threads = v->threads ? v->threads : 1;
	size_t samples = v->source->trace->n_samples / step / threads;
	size_t seen = (size_t)((double)samples * v->o->min_share);
	double all = 0;
	int r;

	v->step = step;
	v->tail = v->o->tail ? v->o->tail : PREFIX_TREE_TAIL;
	v->samples = samples;
	v->room = v->o->room ? v->o->room : ROOM / threads;
	for (unsigned k = 0; k < v->threads; k++)
		w[k].tree.most = seen < 4 ? 4 : seen < 1000 ? (uint32_t)seen : 1000;
	r = visible_run(v);
	for (unsigned k = 0; k < v->threads; k++)
		all += (double)w[k].weight;
	v->threshold = 0.99 * all * v->o->min_share; /* others may round otherwise */
	for (unsigned k = 1; k < v->threads; k++)
		prefix_tree_merge(&w[0].tree, &w[k].tree);
	return r;
}

/* Paths anew, in trees that have the branches of the first. */
static void begin_again(struct visible *v)
{
	prefix_tree_clear(&v->workers[0].tree);
	for (unsigned k = 1; k < v->threads; k++)
		prefix_tree_copy(&v->workers[k].tree, &v->workers[0].tree);
}

static int count_all(struct visible *v)
{
	bool large = v->source->trace->n_samples > (v->o->few ? v->o->few : FEW_SAMPLES) &&
		     v->source->n_chunks > FEW_CHUNKS;
	struct prefix_tree *t = &v->workers[0].tree;
	int r = 0;

	for (unsigned k = 0; k < v->threads; k++)
		prefix_tree_init(&v->workers[k].tree, v->store, k, 0);
	if (large) {
		r = read_into(v, PART);
		begin_again(v);
	}
	if (r == 0)
		r = read_into(v, 1);
	if (r == 0)
		prefix_tree_settle(t, v->threshold);
	while (r == 0 && prefix_tree_lost(t, v->threshold)) {
		prefix_tree_mark_small(t, v->threshold);
		begin_again(v);
		r = read_into(v, 1);
		prefix_tree_settle(t, v->threshold);
	}
	return r;
}

int visible_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		   struct gaps *gaps, struct stacks *ret, uint32_t *type, struct err *e)
{
	struct visible v = { .source = s,
			     .o = o,
			     .gaps = gaps,
			     .label = o->label,
			     .collapse = o->collapse_recursion,
			     .threads = pool_threads(),
			     .e = e };
	int r;

	if (v.threads > PREFIX_TREE_STORES)
		v.threads = PREFIX_TREE_STORES;
	visible_begin(&v, symbols);
	r = visible_choose_type(&v);
	if (r == 0)
		r = count_all(&v);
	if (r == 0) {
		place_names_close(&v.names);
		visible_put_all(&v, ret);
		*type = v.type;
	}
	visible_end(&v);
	return r;
}
