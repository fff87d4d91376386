/* SPDX-License-Identifier: MIT */
#include "calc/stacks/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/str.h"
#include "calc/stacks/graph_impl.h"

#define BATCH 4000000u	  /* references that are held at a time: 64 MB */
#define MAX_WAYS 4000000u /* nodes of all trees: 224 MB */

/* --- what nodes stand for: functions, addresses or lines --- */

/* What tells the places of sites apart. */
static uint64_t stat_group_key(const struct names *n, enum graph_key key, uint32_t site)
{
	const struct name_site *s = &n->sites.data[site];
	const char *file;
	uint32_t line;

	if (key == GRAPH_BY_ADDRESS && !s->inlined)
		return map_hash(s->addr) ^ map_hash((uint64_t)s->dso + 1);
	if (key == GRAPH_BY_LINE && names_line(n, s, &file, &line))
		return map_hash_bytes(file, strlen(file)) ^ map_hash(line);
	return map_hash(s->frame + (1ull << 40));
}

/* Of equal branches the higher address in the file mapped later comes first. */
int places_order(const struct graphs *g, uint32_t a, uint32_t b)
{
	const struct names *n = g->cells->names;
	const struct name_site *x = &n->sites.data[g->place_site[a]];
	const struct name_site *y = &n->sites.data[g->place_site[b]];
	uint64_t dx = x->dso == NAMES_NONE ? 0 : n->dsos.data[x->dso].order + 1ull;
	uint64_t dy = y->dso == NAMES_NONE ? 0 : n->dsos.data[y->dso].order + 1ull;
	uint64_t ax = n->frames.data[x->frame].addr, ay = n->frames.data[y->frame].addr;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (g->opts.key != GRAPH_BY_FUNCTION || ax == ay) {
		ax = x->addr;
		ay = y->addr;
	}
	if (ax != ay)
		return ax > ay ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Functions have their numbers already. */
static void number_places(struct graphs *g, const struct names *n)
{
	struct map index = { 0 };

	for (uint32_t i = 0; i < n->sites.n; i++) {
		uint64_t *at;

		if (g->opts.key == GRAPH_BY_FUNCTION) {
			g->place_of[i] = n->sites.data[i].frame;
			continue;
		}
		at = map_at(&index, stat_group_key(n, g->opts.key, i));
		if (!*at)
			*at = ++g->n_places;
		g->place_of[i] = (uint32_t)*at - 1;
	}
	if (g->opts.key == GRAPH_BY_FUNCTION)
		g->n_places = (uint32_t)n->frames.n;
	map_free(&index);
}

static void places_make(struct graphs *g, const struct names *n)
{
	g->place_of = mem_alloc((n->sites.n + 1) * sizeof(*g->place_of));
	number_places(g, n);
	g->place_site = mem_alloc((g->n_places + 1) * sizeof(*g->place_site));
	for (uint32_t i = 0; i < g->n_places; i++)
		g->place_site[i] = UINT32_MAX;
	/* of many sites the lowest address stands for it, so that chance does not choose */
	for (uint32_t i = 0; i < n->sites.n; i++) {
		uint32_t *at = &g->place_site[g->place_of[i]];

		if (*at == UINT32_MAX || n->sites.data[i].addr < n->sites.data[*at].addr)
			*at = i;
	}
}

const char *graphs_text(const struct graphs *g, uint32_t place, char *buf, size_t size)
{
	const struct names *n = g->cells->names;
	const struct name_site *s = &n->sites.data[g->place_site[place]];
	const struct name_frame *f = &n->frames.data[s->frame];
	const char *name = names_function(n, s->frame), *file;
	const char *inlined = f->inlined ? " (inlined)" : "";
	uint32_t line;

	if (!name) {
		snprintf(buf, size, "%#" PRIx64, s->addr);
		return buf;
	}
	if (g->opts.key != GRAPH_BY_FUNCTION && names_line(n, s, &file, &line)) {
		snprintf(buf, size, "%s %s:%u%s", name,
			 g->cells->opts.full_lines ? file : str_base_name(file), line, inlined);
		return buf;
	}
	if (g->opts.key == GRAPH_BY_ADDRESS && s->map) {
		snprintf(buf, size, "%s +%" PRIu64 "%s", name, s->dso_addr - f->addr, inlined);
		return buf;
	}
	if (!f->inlined)
		return name;
	snprintf(buf, size, "%s%s", name, inlined);
	return buf;
}

/* --- graphs of all rows --- */

/* Will anything of the row's graph be shown at all? */
static bool has_graph(const struct graph_work *w, size_t row)
{
	const struct hist_row *r = &w->h->rows.data[row];
	uint64_t weight = hist_weight(w->h, r);

	return r->chains && !r->hidden && weight >= graph_limit(w, weight);
}

static int row_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	size_t row = w->lo + job;
	uint64_t n = w->wanted[row] ? graph_close_gaps(w, row) : 0, count;

	if (!n)
		return 0;
	w->out->root[row] = graph_tree(w, &w->bench[worker], w->refs + w->first[row], n, &count);
	if (w->out->count)
		w->out->count[row] = count;
	return 0;
}

/* As many rows from lo on as fit, and their trees. Returns the first row not done. */
static size_t do_batch(struct graph_work *w, size_t lo)
{
	uint64_t n = 0;
	unsigned threads = w->out->n_arenas;

	w->lo = w->hi = lo;
	while (w->hi < w->n_rows) {
		uint64_t more = w->wanted[w->hi];

		if (more)
			more = (more + BLOCK - 1) / BLOCK * BLOCK + (uint64_t)threads * BLOCK;
		if (n && n + more > BATCH)
			break;
		w->first[w->hi] = n;
		atomic_init(&w->fill[w->hi], n);
		n += more;
		w->hi++;
	}
	if (!n)
		return w->hi;
	if (w->refs_cap < n) {
		free(w->refs);
		w->refs = mem_table(n * sizeof(*w->refs), false);
		w->refs_cap = n;
	}
	for (unsigned i = 0; i < threads; i++)
		memset(w->bench[i].mine + w->lo, 0, (w->hi - w->lo) * sizeof(uint64_t));
	pool_run(graph_entry_jobs(w) + threads, threads, graph_add_job, w);
	pool_run(w->hi - w->lo, threads, row_job, w);
	return w->hi;
}

/* Most recordings have few rows with a graph, and most frames are of the others. */
static bool *wanted_classes(const struct graph_work *w)
{
	size_t n = 0;
	bool *wanted;

	vec_each (&w->h->rows, r)
		n = r->at.site > n ? r->at.site : n;
	wanted = mem_alloc(n + 1);
	for (size_t row = 0; row < w->h->rows.n; row++)
		if (has_graph(w, row))
			wanted[w->h->rows.data[row].at.site] = true;
	return wanted;
}

/* So many references that trees of what they share are worth their while? */
static bool are_many(const struct graph_work *w)
{
	uint64_t refs = 0;

	for (size_t row = 0; row < w->h->rows.n; row++)
		refs += has_graph(w, row) ? w->h->rows.data[row].chains : 0;
	return refs > 2 * w->names->profile->entries.n;
}

static void work_init(struct graph_work *w, unsigned threads)
{
	size_t rows, entries = w->names->profile->entries.n;

	w->classes = wanted_classes(w);
	for (rows = w->h->rows.n; rows && !has_graph(w, rows - 1); rows--)
		;
	w->n_rows = rows;
	w->bench = mem_alloc(threads * sizeof(*w->bench));
	for (unsigned i = 0; i < threads; i++) {
		struct bench *b = &w->bench[i];

		b->arena = &w->out->arena[i];
		b->group_of = mem_alloc((w->out->n_places + 1) * sizeof(uint32_t));
		b->mine = mem_alloc((rows + 1) * sizeof(uint64_t));
		b->refs = mem_alloc((rows + 1) * sizeof(uint64_t));
		b->ways.max = MAX_WAYS / threads;
		hist_walk_init(&b->walk, w->h, w->classes);
	}
	w->idle = mem_alloc((entries + 1) * sizeof(*w->idle));
	w->trees = w->h->opts.children && are_many(w);
	if (w->trees) {
		ways_kinds_make(&w->kinds, w->h, w->out->place_of);
		w->apart = mem_alloc((entries + 1) * sizeof(*w->apart));
	}
	w->first = mem_alloc((rows + 1) * sizeof(*w->first));
	w->fill = mem_alloc((rows + 1) * sizeof(*w->fill));
	w->wanted = mem_alloc((rows + 1) * sizeof(*w->wanted));
	pool_run(graph_entry_jobs(w), threads, graph_plant_job, w);
	pool_run(threads, threads, graph_finish_job, w);
	for (size_t row = 0; row < rows; row++)
		for (unsigned i = 0; i < threads && has_graph(w, row); i++)
			w->wanted[row] += w->bench[i].refs[row];
}

static void work_free(struct graph_work *w, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		struct bench *b = &w->bench[i];

		vec_free(&b->stack);
		free(b->next);
		free(b->group_of);
		free(b->mine);
		free(b->refs);
		ways_free(&b->ways);
		hist_walk_free(&b->walk);
	}
	free(w->classes);
	ways_kinds_free(&w->kinds);
	free(w->apart);
	free(w->idle);
	free(w->refs);
	free(w->wanted);
	free(w->bench);
	free(w->first);
	free(w->fill);
}

void graphs_make(const struct hist *h, const struct graph_opts *o, struct graphs *ret)
{
	const struct names *n = h->cells->names;
	size_t rows = h->rows.n;
	struct graph_work w = {
		.h = h, .o = o, .out = ret, .names = n, .step = h->opts.caller ? -1 : 1
	};

	*ret = (struct graphs){
		.cells = h->cells, .opts = *o, .n = rows, .n_arenas = pool_threads()
	};
	places_make(ret, n);
	ret->root = mem_alloc((rows + 1) * sizeof(*ret->root));
	if (o->mode == GRAPH_FRACTAL && o->value == GRAPH_COUNT)
		ret->count = mem_alloc((rows + 1) * sizeof(*ret->count));
	ret->arena = mem_alloc(ret->n_arenas * sizeof(*ret->arena));
	work_init(&w, ret->n_arenas);
	for (size_t row = 0; row < w.n_rows;)
		row = do_batch(&w, row);
	work_free(&w, ret->n_arenas);
}

void graphs_free(struct graphs *g)
{
	for (unsigned i = 0; i < g->n_arenas; i++)
		arena_free(&g->arena[i]);
	free(g->arena);
	free(g->root);
	free(g->count);
	free(g->place_of);
	free(g->place_site);
}
