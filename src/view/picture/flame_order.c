/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "view/picture/flame_pack.h"

static int flame_order_by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* --- who --- */

struct ranked {
	struct key key;
	uint32_t old;
};

static const char *flame_order_name_of(const struct strtab *t, uint32_t id)
{
	return id == STRTAB_NONE ? "" : strtab_get(t, id);
}

static int flame_order_by_thread(const struct pack *p, uint32_t x, uint32_t y)
{
	const struct thread *a = &p->threads.data[x], *b = &p->threads.data[y];
	int r = a->pid == b->pid ? 0 : a->pid < b->pid ? -1 : 1;

	if (!r && a->tid != b->tid)
		r = a->tid < b->tid ? -1 : 1;
	return r ? r
		 : strcmp(flame_order_name_of(&p->strings, a->comm),
			  flame_order_name_of(&p->strings, b->comm));
}

static int by_rank(const void *x, const void *y, void *ctx)
{
	const struct ranked *a = x, *b = y;
	const struct pack *p = ctx;
	int r = flame_order_by_number(b->key.samples, a->key.samples);

	if (!r)
		r = flame_order_by_number(a->key.side, b->key.side);
	if (!r && a->key.thread != b->key.thread)
		r = flame_order_by_thread(p, a->key.thread, b->key.thread);
	if (!r)
		r = flame_order_by_number(p->cpus.data[a->key.cpu], p->cpus.data[b->key.cpu]);
	if (!r && a->key.type != b->key.type)
		r = strcmp(strtab_get(&p->strings, p->types.data[a->key.type]),
			   strtab_get(&p->strings, p->types.data[b->key.type]));
	return r;
}

/* Numbers anew in the order of use: place[old] is new + 1. */
static uint32_t flame_order_number(uint32_t *place, uint32_t *n, uint32_t old)
{
	if (!place[old])
		place[old] = ++*n;
	return place[old] - 1;
}

struct renumbered {
	uint32_t *thread, *cpu, *type;
	uint32_t n_threads, n_cpus, n_types;
};

static void renumber_parts(struct pack *p, const struct renumbered *r)
{
	struct thread *threads = mem_alloc((p->threads.n + 1) * sizeof(*threads));
	uint32_t *cpus = mem_alloc((p->cpus.n + 1) * sizeof(*cpus));
	uint32_t *names = mem_alloc((p->types.n + 1) * sizeof(*names));
	uint32_t *units = mem_alloc((p->types.n + 1) * sizeof(*units));
	struct event_clock *clocks = mem_alloc((p->types.n + 1) * sizeof(*clocks));

	/* each has a key that needs it, but the event that was named first */
	for (size_t i = 0; i < p->threads.n; i++)
		threads[r->thread[i] - 1] = p->threads.data[i];
	for (size_t i = 0; i < p->cpus.n; i++)
		cpus[r->cpu[i] - 1] = p->cpus.data[i];
	for (size_t i = 0; i < p->types.n; i++) {
		names[r->type[i] - 1] = p->types.data[i];
		units[r->type[i] - 1] = p->units.data[i];
		clocks[r->type[i] - 1] = p->clocks.data[i];
	}
	memcpy(p->threads.data, threads, p->threads.n * sizeof(*threads));
	memcpy(p->cpus.data, cpus, p->cpus.n * sizeof(*cpus));
	memcpy(p->types.data, names, p->types.n * sizeof(*names));
	memcpy(p->units.data, units, p->types.n * sizeof(*units));
	memcpy(p->clocks.data, clocks, p->types.n * sizeof(*clocks));
	free(threads);
	free(cpus);
	free(names);
	free(units);
	free(clocks);
}

void flame_order_keys(struct pack *p)
{
	size_t n = p->keys.n;
	AUTO_FREE struct ranked *rank = mem_alloc((n + 1) * sizeof(*rank));
	AUTO_FREE uint32_t *place = mem_alloc((n + 1) * sizeof(*place));
	struct renumbered r = { .thread = mem_alloc((p->threads.n + 1) * sizeof(uint32_t)),
				.cpu = mem_alloc((p->cpus.n + 1) * sizeof(uint32_t)),
				.type = mem_alloc((p->types.n + 1) * sizeof(uint32_t)) };

	for (size_t i = 0; i < n; i++)
		rank[i] = (struct ranked){ .key = p->keys.data[i], .old = (uint32_t)i };
	if (n) {
		qsort_r(rank, n, sizeof(*rank), by_rank, p);
		if (p->o->type == CALLTREE_ALL_TYPES && p->o->first < p->side[0]->type_names.n)
			flame_order_number(r.type, &r.n_types, 0);
		for (size_t i = 0; i < n; i++) {
			struct key *k = &p->keys.data[i];

			place[rank[i].old] = (uint32_t)i;
			*k = (struct key){
				.samples = rank[i].key.samples,
				.side = rank[i].key.side,
				.type = flame_order_number(r.type, &r.n_types, rank[i].key.type),
				.thread = flame_order_number(r.thread, &r.n_threads,
							     rank[i].key.thread),
				.cpu = flame_order_number(r.cpu, &r.n_cpus, rank[i].key.cpu)
			};
		}
		renumber_parts(p, &r);
		for (size_t i = 0; i < p->n_entries; i++)
			p->entries[i].key = place[p->entries[i].key];
	}
	free(r.thread);
	free(r.cpu);
	free(r.type);
}

/* --- functions --- */

static int by_use(const void *x, const void *y, void *ctx)
{
	const struct use *a = x, *b = y;
	const struct calltree *t = ctx;
	const struct calltree_func *f = &t->funcs.data[a->func], *g = &t->funcs.data[b->func];
	int r = flame_order_by_number(b->n, a->n);

	if (!r && a->n)
		r = strcmp(flame_order_name_of(&t->strings, f->name),
			   flame_order_name_of(&t->strings, g->name));
	if (!r && a->n)
		r = strcmp(flame_order_name_of(&t->strings, f->path),
			   flame_order_name_of(&t->strings, g->path));
	if (!r && a->n)
		r = strcmp(flame_order_name_of(&t->strings, f->module),
			   flame_order_name_of(&t->strings, g->module));
	if (!r && a->n)
		r = strcmp(flame_order_name_of(&t->strings, f->file),
			   flame_order_name_of(&t->strings, g->file));
	if (!r)
		r = flame_order_by_number(f->line, g->line);
	if (!r)
		r = flame_order_by_number(f->kind, g->kind);
	return r ? r : flame_order_by_number(a->func, b->func);
}

uint32_t *flame_order_functions(const struct calltree *t, struct use **ret_use)
{
	size_t n = t->funcs.n;
	struct use *use = mem_alloc((n + 1) * sizeof(*use));
	uint32_t *place = mem_alloc((n + 1) * sizeof(*place));

	for (size_t i = 0; i < n; i++)
		use[i].func = (uint32_t)i;
	vec_each (&t->nodes, node)
		if (node->func < n)
			use[node->func].n++;
	if (n)
		qsort_r(use, n, sizeof(*use), by_use, (void *)t);
	for (size_t i = 0; i < n; i++)
		place[use[i].func] = (uint32_t)i;
	*ret_use = use;
	return place;
}
