/* SPDX-License-Identifier: MIT */
#include "calc/stacks_gaps.h"

#include <string.h>

#include "base/str.h"
#include "calc/names.h"

enum gap {
	GAP_NONE,
	GAP_JIT,     /* compiled by a runtime */
	GAP_FILE,    /* of a file */
	GAP_NOWHERE, /* nothing is mapped there */
};

struct counter {
	const struct stacks *s;
	bool *nameless_jit;		 /* by frame */
	uint64_t *unnamed_in, *early_in; /* by string that names a file */
};

static const char *module_of(const struct stacks *s, const struct frame *f)
{
	return f->module == STRTAB_NONE ? NULL : strtab_get(&s->strings, f->module);
}

static enum gap place_of(const struct stacks *s, const struct frame *f)
{
	const char *module = module_of(s, f);

	if (!module || strcmp(module, "[unknown]") == 0)
		return GAP_NOWHERE;
	return f->kind == FRAME_JIT || names_from(module) != NAMES_FROM_FILE ? GAP_JIT : GAP_FILE;
}

/* Where a stack with this outermost frame lost its callers. */
static enum gap lost_at(const struct stacks *s, const struct frame *f)
{
	enum gap place = place_of(s, f);

	switch (f->kind) {
	case FRAME_USER:
	case FRAME_JIT: return names_is_start(strtab_get(&s->strings, f->name)) ? GAP_NONE : place;
	case FRAME_UNKNOWN: return place == GAP_FILE ? GAP_NONE : place;
	default: return GAP_NONE;
	}
}

/* As the recorder counted. */
static uint32_t depth_of(const struct stacks *s, const struct stack *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct frame *f = &s->frames.data[s->frame_ids.data[k->first + i]];

		n += f->kind != FRAME_LABEL && f->kind != FRAME_INLINED;
	}
	return n;
}

/* n samples, of which full are as deep as could be. */
static void count_stack(const struct counter *c, const struct stack *k, uint64_t n, uint64_t full,
			struct stacks_gaps *g)
{
	const struct stacks *s = c->s;
	const uint32_t *ids = s->frame_ids.data + k->first;
	const struct frame *outer, *inner;
	uint32_t first = 0;
	bool jit = false;

	while (first < k->n && s->frames.data[ids[first]].kind == FRAME_LABEL)
		first++;
	if (first == k->n)
		return;
	for (uint32_t i = first; i < k->n && !jit; i++)
		jit = c->nameless_jit[ids[i]];
	g->with_jit += jit ? n : 0;
	inner = &s->frames.data[ids[k->n - 1]];
	if (inner->kind == FRAME_UNKNOWN && place_of(s, inner) == GAP_FILE) {
		g->unnamed += n;
		c->unnamed_in[inner->module] += n;
	}
	outer = &s->frames.data[ids[first]];
	if (lost_at(s, outer) == GAP_NONE)
		return;
	g->cut += full;
	n -= full;
	switch (lost_at(s, outer)) {
	case GAP_NONE: break;
	case GAP_JIT: g->early_in_jit += n; break;
	case GAP_FILE: c->early_in[outer->module] += n; break;
	case GAP_NOWHERE: break;
	}
	g->early += n;
}

static const char *most(const struct stacks *s, const uint64_t *in, uint64_t *count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->strings.n; i++)
		best = in[i] > in[best] ? i : best;
	*count = s->strings.n ? in[best] : 0;
	return *count ? strtab_get(&s->strings, best) : NULL;
}

struct stacks_gaps stacks_gaps(const struct stacks *s, const uint32_t *max)
{
	struct stacks_gaps g = { 0 };
	AUTO_FREE bool *nameless = mem_alloc((s->frames.n + 1) * sizeof(*nameless));
	AUTO_FREE uint64_t *unnamed_in = mem_alloc((s->strings.n + 1) * sizeof(*unnamed_in));
	AUTO_FREE uint64_t *early_in = mem_alloc((s->strings.n + 1) * sizeof(*early_in));
	AUTO_FREE uint64_t *count = mem_alloc((s->stacks.n + 1) * sizeof(*count));
	AUTO_FREE uint64_t *full = mem_alloc((s->stacks.n + 1) * sizeof(*full));
	AUTO_FREE uint32_t *depth = mem_alloc((s->stacks.n + 1) * sizeof(*depth));
	struct counter c = { s, nameless, unnamed_in, early_in };

	for (size_t i = 0; i < s->frames.n; i++) {
		const struct frame *f = &s->frames.data[i];
		const char *module = module_of(s, f);

		nameless[i] = f->kind == FRAME_UNKNOWN && module &&
			      names_from(module) == NAMES_FROM_PROCESS;
		g.java |= module && str_ends(module, "/libjvm.so");
	}
	for (size_t i = 0; i < s->stacks.n; i++)
		depth[i] = depth_of(s, &s->stacks.data[i]);
	vec_each (&s->entries, e) {
		g.samples += e->count;
		count[e->stack] += e->count;
		if (max[e->type] && depth[e->stack] >= max[e->type])
			full[e->stack] += e->count;
	}
	for (size_t i = 0; i < s->stacks.n; i++)
		if (count[i])
			count_stack(&c, &s->stacks.data[i], count[i], full[i], &g);
	g.unnamed_file = most(s, unnamed_in, &g.unnamed_in_file);
	g.early_file = most(s, early_in, &g.early_in_file);
	return g;
}
