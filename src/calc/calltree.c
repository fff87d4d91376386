/* SPDX-License-Identifier: MIT */
#include "calc/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "calc/calltree_impl.h"

const char *calltree_name(const struct calltree *t, uint32_t func)
{
	if (func == CALLTREE_ROOT)
		return "all";
	if (func == CALLTREE_PRUNED)
		return "[pruned]";
	return strtab_get(&t->strings, t->funcs.data[func].name);
}

static uint32_t add_func(struct calltree_build *b, const struct calltree_func *f)
{
	uint64_t *head =
		map_at(&b->func_index, ((uint64_t)f->name << 32 | f->module) ^ map_hash(f->kind));
	uint32_t id;

	for (id = (uint32_t)*head; id; id = b->func_next.data[id - 1]) {
		struct calltree_func *g = &b->t->funcs.data[id - 1];

		if (g->name != f->name || g->module != f->module || g->kind != f->kind)
			continue;
		if (g->path != f->path)
			g->path = STRTAB_NONE;
		if (g->file != f->file || g->line != f->line)
			g->line = 0;
		if (g->file != f->file)
			g->file = STRTAB_NONE;
		return id - 1;
	}
	vec_push(&b->t->funcs, *f);
	vec_push(&b->func_next, (uint32_t)*head);
	*head = b->t->funcs.n;
	return (uint32_t)b->t->funcs.n - 1;
}

static uint32_t copy_string(struct calltree_build *b, const struct stacks *s, uint32_t id)
{
	return id == STRTAB_NONE ? id : strtab_add(&b->t->strings, strtab_get(&s->strings, id));
}

static uint32_t unknown_name(struct calltree_build *b, uint32_t module)
{
	AUTO_FREE char *text = NULL;

	if (module == STRTAB_NONE)
		return strtab_add(&b->t->strings, "[unknown]");
	text = mem_printf("[%s]", strtab_get(&b->t->strings, module));
	return strtab_add(&b->t->strings, text);
}

static uint32_t *map_frames(struct calltree_build *b, const struct stacks *s)
{
	uint32_t *func_of = mem_alloc(s->frames.n * sizeof(*func_of));

	for (size_t i = 0; i < s->frames.n; i++) {
		const struct frame *f = &s->frames.data[i];
		struct calltree_func c = {
			.name = copy_string(b, s, f->name),
			.module = STRTAB_NONE,
			.path = copy_string(b, s, f->module),
			.file = copy_string(b, s, f->file),
			.line = f->line,
			.kind = f->kind,
		};

		if (f->module != STRTAB_NONE) {
			const char *path = strtab_get(&s->strings, f->module);
			const char *slash = strrchr(path, '/');

			c.module = strtab_add(&b->t->strings, slash && slash[1] ? slash + 1 : path);
		}
		if (f->kind == FRAME_UNKNOWN && b->o->merge_unknown)
			c.name = unknown_name(b, c.module);
		func_of[i] = add_func(b, &c);
	}
	return func_of;
}

static uint32_t label_func(struct calltree_build *b, const struct stacks *s,
			   const struct stack_entry *en)
{
	struct calltree_func f = {
		.module = STRTAB_NONE, .path = STRTAB_NONE, .file = STRTAB_NONE, .kind = FRAME_LABEL
	};
	const char *comm;
	char buf[256];

	if (b->o->label == CALLTREE_LABEL_NONE || en->comm == STRTAB_NONE)
		return CALLTREE_NO_LABEL;
	comm = strtab_get(&s->strings, en->comm);
	if (b->o->label == CALLTREE_LABEL_PID)
		snprintf(buf, sizeof(buf), "%.200s-%d", comm, en->pid);
	else if (b->o->label == CALLTREE_LABEL_TID)
		snprintf(buf, sizeof(buf), "%.200s-%d/%d", comm, en->pid, en->tid);
	else
		snprintf(buf, sizeof(buf), "%s", comm);
	f.name = strtab_add(&b->t->strings, buf);
	return add_func(b, &f);
}

/* The stack's functions with runs of the same one shortened to one. */
static void collapse(struct calltree_build *b, struct calltree_item *it)
{
	const uint32_t *func_of = b->func_of[it->side];
	uint32_t *path = arena_alloc(&b->paths, it->n * sizeof(*path));
	uint32_t n = 0;

	for (uint32_t i = 0; i < it->n; i++) {
		uint32_t f = func_of[it->frame[i]];

		if (!n || path[n - 1] != f)
			path[n++] = f;
	}
	it->frame = path;
	it->n = n;
}

struct entry_order {
	uint64_t time;
	uint32_t index;
};

static int by_time(const void *x, const void *y)
{
	const struct entry_order *a = x, *b = y;

	return a->time != b->time ? (a->time < b->time ? -1 : 1)
				  : (a->index > b->index) - (a->index < b->index);
}

static int add_item(struct calltree_build *b, const struct stacks *s, uint32_t side, uint32_t entry,
		    struct map *seen, struct err *e)
{
	const struct stack_entry *en = &s->entries.data[entry];
	uint32_t *to = b->o->want_nodes ? &b->t->entry_node[side].data[entry] : NULL;
	uint32_t label;
	uint64_t *at = NULL;

	if (b->o->type != CALLTREE_ALL_TYPES && en->type != b->o->type)
		return 0;
	if (en->weight < 0)
		return err_set(e, EINVAL, "a stack has the negative weight %lld",
			       (long long)en->weight);
	if (__builtin_add_overflow(b->sum[side], en->weight, &b->sum[side]) ||
	    b->sum[side] > INT64_MAX / 4)
		return err_set(e, ERANGE, "the sum of the stacks' weights is too large");
	label = label_func(b, s, en);
	/* in a flame chart every entry stands by itself */
	if (b->o->sort != CALLTREE_BY_TIME)
		at = map_at(seen, (uint64_t)label << 32 | en->stack);
	if (!at || !*at) {
		const struct stack *k = &s->stacks.data[en->stack];

		vec_push(&b->items, (struct calltree_item){
					    .frame = k->n ? s->frame_ids.data + k->first : NULL,
					    .n = k->n,
					    .label = label,
					    .side = side });
		if (at)
			*at = b->items.n;
	}
	/* until the nodes are known, entry_node holds the item */
	if (to)
		*to = (uint32_t)(at ? *at : b->items.n) - 1;
	b->items.data[(at ? *at : b->items.n) - 1].weight += en->weight;
	return 0;
}

static int add_side(struct calltree_build *b, const struct stacks *s, uint32_t side, struct err *e)
{
	struct map seen = { 0 };
	AUTO_FREE struct entry_order *order = NULL;
	int r = 0;

	b->func_of[side] = map_frames(b, s);
	if (b->o->want_nodes) {
		vec_reserve(&b->t->entry_node[side], s->entries.n);
		b->t->entry_node[side].n = s->entries.n;
		for (size_t i = 0; i < s->entries.n; i++)
			b->t->entry_node[side].data[i] = UINT32_MAX;
	}
	if (b->o->sort == CALLTREE_BY_TIME && s->entries.n) {
		order = mem_alloc(s->entries.n * sizeof(*order));
		for (size_t i = 0; i < s->entries.n; i++)
			order[i] = (struct entry_order){ s->entries.data[i].time, (uint32_t)i };
		qsort(order, s->entries.n, sizeof(*order), by_time);
	}
	for (size_t i = 0; r == 0 && i < s->entries.n; i++)
		r = add_item(b, s, side, order ? order[i].index : (uint32_t)i, &seen, e);
	map_free(&seen);
	return r;
}

/* Compare as the folded lines would: a name ends in a semicolon, not in a NUL. */
static int compare_names(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (*a ? (unsigned char)*a : ';') - (*b ? (unsigned char)*b : ';');
}

static int by_name(const void *x, const void *y, void *tree)
{
	const struct calltree *t = tree;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int d = compare_names(calltree_name(t, a), calltree_name(t, b));

	return d ? d : (a > b) - (a < b);
}

static void rank_names(struct calltree_build *b)
{
	size_t n = b->t->funcs.n;
	AUTO_FREE uint32_t *sorted = mem_alloc(n * sizeof(*sorted));

	b->rank = mem_alloc(n * sizeof(*b->rank));
	for (size_t i = 0; i < n; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, n, sizeof(*sorted), by_name, b->t);
	for (size_t i = 0; i < n; i++)
		b->rank[sorted[i]] = (uint32_t)i;
}

int calltree_make(const struct stacks *before, const struct stacks *after,
		  const struct calltree_opts *o, struct calltree *ret, struct err *e)
{
	const struct stacks *side[2] = { before, after };
	struct calltree t = { 0 };
	struct calltree_build b = { .o = o, .t = &t };
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < 2 && side[i]; i++)
		r = add_side(&b, side[i], i, e);
	if (r == 0) {
		if (o->collapse_recursion) {
			vec_each (&b.items, it)
				collapse(&b, it);
			for (int i = 0; i < 2; i++) {
				free(b.func_of[i]);
				b.func_of[i] = NULL;
			}
		}
		rank_names(&b);
		calltree_split(&b);
		for (int i = 0; i < 2; i++)
			vec_each (&t.entry_node[i], n)
				*n = *n == UINT32_MAX ? *n : b.items.data[*n].node;
	}
	map_free(&b.func_index);
	vec_free(&b.func_next);
	free(b.func_of[0]);
	free(b.func_of[1]);
	free(b.rank);
	vec_free(&b.items);
	arena_free(&b.paths);
	if (r == 0)
		*ret = t;
	else
		calltree_free(&t);
	return r;
}

void calltree_free(struct calltree *t)
{
	strtab_free(&t->strings);
	vec_free(&t->funcs);
	vec_free(&t->nodes);
	vec_free(&t->entry_node[0]);
	vec_free(&t->entry_node[1]);
}
