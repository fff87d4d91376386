/* SPDX-License-Identifier: MIT */
/* Which references each row has: collected by all threads at once, each in blocks of its own. */
#include <string.h>

#include "calc/stacks/graph_impl.h"

struct adder {
	struct graph_work *w;
	struct bench *b;
	const struct name_chain *chain;
	uint32_t entry;
	bool met; /* a row that has a graph */
};

static void graph_refs_put(struct graph_work *w, struct bench *b, uint32_t row, struct ref r)
{
	uint64_t *mine;

	if (row < w->lo || row >= w->hi || !w->wanted[row])
		return;
	mine = &b->mine[row];
	if (*mine % BLOCK == 0)
		*mine = atomic_fetch_add_explicit(&w->fill[row], BLOCK, memory_order_relaxed);
	w->refs[(*mine)++] = r;
}

/* The part of a chain from `at` on, in the graph's direction. */
static struct ref part(const struct graph_work *w, const struct name_chain *c, uint32_t entry,
		       uint64_t at)
{
	return (struct ref){ .at = at,
			     .entry = entry,
			     .left = (uint32_t)(w->step < 0 ? at - c->first + 1
							    : c->first + c->n - at) };
}

/* Its own samples show the whole chain, those on the way only their part of it. */
static void add_ref(void *ctx, uint32_t row, int64_t at)
{
	struct adder *a = ctx;
	const struct name_chain *c = a->chain;
	uint64_t whole = a->w->step < 0 ? c->n - 1 : 0;

	if (c->n)
		graph_refs_put(a->w, a->b, row,
			       part(a->w, c, a->entry, c->first + (at < 0 ? whole : (uint64_t)at)));
}

static void count_ref(void *ctx, uint32_t row, int64_t at)
{
	struct adder *a = ctx;

	a->met = true;
	if (row < a->w->n_rows)
		a->b->refs[row] += a->chain->n > 0;
}

#define STEP 4096 /* entries a job */

size_t graph_entry_jobs(const struct graph_work *w)
{
	return (w->names->profile->entries.n + STEP - 1) / STEP;
}

/* Each entry of a job: in no tree, or only its own row. */
static void each_entry(struct adder *a, size_t job, void (*fn)(struct adder *a, bool counts))
{
	const struct profile *p = a->w->names->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;

	for (size_t i = job * STEP; i < end; i++) {
		uint32_t chain = p->entries.data[i].chain;

		if (chain == PROFILE_NO_CHAIN || a->w->idle[i])
			continue;
		a->entry = (uint32_t)i;
		a->chain = &a->w->names->chains[chain];
		fn(a, hist_counts(a->w->h, i));
	}
}

/* The entry's own row, if it has a graph. */
static uint32_t own_row(const struct adder *a)
{
	struct cell_pair at = hist_pair_of(a->w->h, a->entry);

	return a->w->classes[at.site] ? hist_find(a->w->h, at) : HIST_NO_ROW;
}

static void plant(struct adder *a, bool counts)
{
	struct graph_work *w = a->w;
	uint32_t own;

	if (!counts || !w->n_rows) {
		w->idle[a->entry] = true;
		return;
	}
	if (!w->h->opts.children ||
	    (w->trees && ways_add(&a->b->ways, &w->kinds, w->h, a->entry))) {
		own = own_row(a);
		if (own != HIST_NO_ROW)
			count_ref(a, own, -1);
		return;
	}
	if (w->trees)
		w->apart[a->entry] = true;
	a->met = false;
	hist_walk(&a->b->walk, a->entry, count_ref, a);
	w->idle[a->entry] = !a->met;
}

int graph_plant_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	struct adder a = { .w = w, .b = &w->bench[worker] };

	each_entry(&a, job, plant);
	return 0;
}

int graph_finish_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	struct bench *b = &w->bench[job];

	ways_finish(&b->ways);
	vec_each (&b->ways.rows, row)
		if (row->row < w->n_rows)
			b->refs[row->row]++;
	vec_each (&b->ways.again, again)
		if (again->row < w->n_rows)
			b->refs[again->row]++;
	return 0;
}

static void graph_refs_add(struct adder *a, bool counts)
{
	const struct graph_work *w = a->w;
	uint32_t own;

	if (!counts)
		return;
	if (w->h->opts.children && (!w->trees || w->apart[a->entry])) {
		hist_walk(&a->b->walk, a->entry, add_ref, a);
		return;
	}
	own = own_row(a);
	if (own != HIST_NO_ROW)
		add_ref(a, own, -1);
}

int graph_add_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	struct bench *b = &w->bench[worker];
	struct adder a = { .w = w, .b = b };
	uint32_t tree;

	if (job < graph_entry_jobs(w)) {
		each_entry(&a, job, graph_refs_add);
		return 0;
	}
	tree = (uint32_t)(job - graph_entry_jobs(w));
	for (size_t i = 0; i < w->bench[tree].ways.rows.n; i++)
		graph_refs_put(
			w, b, w->bench[tree].ways.rows.data[i].row,
			(struct ref){ .at = i, .kind = REF_ROW_WAY, .left = 1, .entry = tree });
	vec_each (&w->bench[tree].ways.again, again) {
		uint32_t chain = w->names->profile->entries.data[again->entry].chain;
		struct ref r = part(w, &w->names->chains[chain], again->entry, again->at);

		r.kind = REF_AGAIN;
		graph_refs_put(w, b, again->row, r);
	}
	return 0;
}

uint64_t graph_close_gaps(const struct graph_work *w, size_t row)
{
	uint64_t end = atomic_load(&w->fill[row]);

	for (unsigned i = 0; i < w->out->n_arenas; i++) {
		uint64_t at = w->bench[i].mine[row];

		for (; at % BLOCK; at++)
			w->refs[at].left = 0;
	}
	for (uint64_t at = w->first[row]; at < end; at++)
		while (at < end && !w->refs[at].left)
			w->refs[at] = w->refs[--end];
	return end - w->first[row];
}
