/* SPDX-License-Identifier: MIT */
#include "calc/stacks/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "calc/stacks/calltree_impl.h"

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

	if (module == STRTAB_NONE || strcmp(strtab_get(&b->t->strings, module), "[unknown]") == 0)
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

		if (f->module != STRTAB_NONE)
			c.module =
				strtab_add(&b->t->strings,
					   stacks_module_name(strtab_get(&s->strings, f->module)));
		if (f->kind == FRAME_UNKNOWN && b->o->merge_unknown)
			c.name = unknown_name(b, c.module);
		func_of[i] = add_func(b, &c);
	}
	return func_of;
}

/* What is put in front of the entry's stack, made once for each who. */
static uint32_t label_func(struct calltree_build *b, const struct stacks *s,
			   const struct stack_entry *en)
{
	struct calltree_func f = {
		.module = STRTAB_NONE, .path = STRTAB_NONE, .file = STRTAB_NONE, .kind = FRAME_LABEL
	};
	AUTO_FREE char *text = NULL;
	const char *comm;
	uint64_t who = en->comm, *at;

	if (b->o->label == CALLTREE_LABEL_NONE || en->comm == STRTAB_NONE)
		return CALLTREE_NO_LABEL;
	if (b->o->label != CALLTREE_LABEL_COMM)
		who ^= map_hash((uint64_t)(uint32_t)en->pid << 32 |
				(b->o->label == CALLTREE_LABEL_TID ? (uint32_t)en->tid : 0));
	at = map_at(&b->labels, who);
	if (*at)
		return (uint32_t)*at - 1;
	comm = strtab_get(&s->strings, en->comm);
	if (b->o->label == CALLTREE_LABEL_PID)
		text = mem_printf("%s-%d", comm, en->pid);
	else if (b->o->label == CALLTREE_LABEL_TID)
		text = mem_printf("%s-%d/%d", comm, en->pid, en->tid);
	f.name = strtab_add(&b->t->strings, text ? text : comm);
	*at = (uint64_t)add_func(b, &f) + 1;
	return (uint32_t)*at - 1;
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

/* The item of this side, stack and label; first: by stack, the item + 1 that its chain begins with.
 */
static uint32_t find_item(struct calltree_build *b, const struct stacks *s, uint32_t side,
			  uint32_t stack, uint32_t label, uint32_t *first)
{
	const struct stack *k = &s->stacks.data[stack];
	struct calltree_item it = { .frame = k->n ? s->frame_ids.data + k->first : NULL,
				    .n = k->n,
				    .label = label,
				    .side = side };

	if (first) { /* in a flame chart every entry stands by itself */
		for (uint32_t i = first[stack]; i; i = b->items.data[i - 1].next)
			if (b->items.data[i - 1].label == label)
				return i - 1;
		it.next = first[stack];
		first[stack] = (uint32_t)b->items.n + 1;
	}
	vec_push(&b->items, it);
	return (uint32_t)b->items.n - 1;
}

/* Pieces of time, which are the items' weights. */
static void add_pieces(struct calltree_build *b, const struct stacks *s)
{
	vec_each (&b->chart.pieces, p) {
		const struct stack_entry *en = &s->entries.data[p->entry];
		uint32_t item = find_item(b, s, 0, en->stack, label_func(b, s, en), NULL);

		b->items.data[item].weight = (int64_t)(p->to - p->from);
	}
	b->sum[0] = (int64_t)(b->chart.to - b->chart.from);
	b->t->timed = true;
	b->t->left_out = b->chart.left_out;
}

static int calltree_add_entry(struct calltree_build *b, const struct stacks *s, uint32_t side,
			      uint32_t entry, uint32_t *first, struct err *e)
{
	const struct stack_entry *en = &s->entries.data[entry];
	uint32_t item;

	if (b->o->type != CALLTREE_ALL_TYPES && en->type != b->o->type)
		return 0;
	if (en->weight < 0)
		return err_set(e, EINVAL, "a stack has the negative weight %lld",
			       (long long)en->weight);
	if (__builtin_add_overflow(b->sum[side], en->weight, &b->sum[side]) ||
	    b->sum[side] > INT64_MAX / 4)
		return err_set(e, ERANGE, "the sum of the stacks' weights is too large");
	item = find_item(b, s, side, en->stack, label_func(b, s, en), first);
	b->items.data[item].weight += en->weight;
	if (b->o->want_nodes) /* until the nodes are known, entry_node holds the item */
		b->t->entry_node[side].data[entry] = item;
	return 0;
}

static int calltree_add_side(struct calltree_build *b, const struct stacks *s, uint32_t side,
			     struct err *e)
{
	bool by_time = b->o->sort == CALLTREE_BY_TIME;
	AUTO_FREE uint32_t *first = NULL;
	int r = 0;

	b->func_of[side] = map_frames(b, s);
	if (b->o->want_nodes) {
		vec_reserve(&b->t->entry_node[side], s->entries.n);
		b->t->entry_node[side].n = s->entries.n;
		for (size_t i = 0; i < s->entries.n; i++)
			b->t->entry_node[side].data[i] = UINT32_MAX;
	}
	if (by_time && side == 0 && chart_is_timed(s, b->o->type)) {
		chart_make(s, b->o->type, &b->chart);
		add_pieces(b, s);
	} else {
		if (!by_time)
			first = mem_alloc(s->stacks.n * sizeof(*first));
		for (size_t i = 0; r == 0 && i < s->entries.n; i++)
			r = calltree_add_entry(b, s, side, (uint32_t)i, first, e);
	}
	map_free(&b->labels); /* its keys are this side's strings */
	return r;
}

/* Compare as the folded lines would: a name ends in a semicolon, not in a NUL. */
static int compare_names(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (*a ? (unsigned char)*a : ';') - (*b ? (unsigned char)*b : ';');
}

static int calltree_by_name(const void *x, const void *y, void *tree)
{
	const struct calltree *t = tree;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct calltree_func *f = &t->funcs.data[a], *g = &t->funcs.data[b];
	int d = compare_names(calltree_name(t, a), calltree_name(t, b));

	/* which of them was seen first is not the same each time */
	if (!d && f->module != g->module)
		d = strcmp(f->module == STRTAB_NONE ? "" : strtab_get(&t->strings, f->module),
			   g->module == STRTAB_NONE ? "" : strtab_get(&t->strings, g->module));
	if (!d)
		d = (f->kind > g->kind) - (f->kind < g->kind);
	return d ? d : (a > b) - (a < b);
}

static void rank_names(struct calltree_build *b)
{
	size_t n = b->t->funcs.n;
	AUTO_FREE uint32_t *sorted = mem_alloc(n * sizeof(*sorted));

	b->rank = mem_alloc(n * sizeof(*b->rank));
	for (size_t i = 0; i < n; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, n, sizeof(*sorted), calltree_by_name, b->t);
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
		r = calltree_add_side(&b, side[i], i, e);
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
	chart_free(&b.chart);
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
