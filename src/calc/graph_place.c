/* SPDX-License-Identifier: MIT */
/* What the nodes of a call graph stand for: functions, addresses or lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/graph_impl.h"

/* What tells the places of sites apart. */
static uint64_t place_key(const struct names *n, enum graph_key key, uint32_t site)
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

struct ranked {
	const struct names *n;
	const struct graphs *g;
};

/* Of equal branches the higher address in the file mapped later comes first. */
static int by_address(const void *a, const void *b, void *ctx)
{
	const struct ranked *r = ctx;
	const struct names *n = r->n;
	const struct name_site *x = &n->sites.data[r->g->place_site[*(const uint32_t *)a]];
	const struct name_site *y = &n->sites.data[r->g->place_site[*(const uint32_t *)b]];
	uint64_t dx = x->dso == NAMES_NONE ? 0 : n->dsos.data[x->dso].order + 1ull;
	uint64_t dy = y->dso == NAMES_NONE ? 0 : n->dsos.data[y->dso].order + 1ull;
	uint64_t ax = n->frames.data[x->frame].addr, ay = n->frames.data[y->frame].addr;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (r->g->opts.key != GRAPH_BY_FUNCTION || ax == ay) {
		ax = x->addr;
		ay = y->addr;
	}
	return ax == ay ? 0 : ax > ay ? -1 : 1;
}

static void renumber(struct graphs *g, size_t n_sites, const uint32_t *order)
{
	AUTO_FREE uint32_t *to = mem_alloc((g->n_places + 1) * sizeof(*to));
	uint32_t *sites = mem_alloc((g->n_places + 1) * sizeof(*sites));

	for (uint32_t i = 0; i < g->n_places; i++) {
		to[order[i]] = i;
		sites[i] = g->place_site[order[i]];
	}
	free(g->place_site);
	g->place_site = sites;
	for (size_t i = 0; i < n_sites; i++)
		g->place_of[i] = to[g->place_of[i]];
}

void places_make(struct graphs *g, const struct names *n)
{
	struct map index = { 0 };
	struct ranked r = { .n = n, .g = g };
	AUTO_FREE uint32_t *order = mem_alloc((n->sites.n + 1) * sizeof(*order));

	g->place_of = mem_alloc((n->sites.n + 1) * sizeof(*g->place_of));
	g->place_site = mem_alloc((n->sites.n + 1) * sizeof(*g->place_site));
	for (uint32_t i = 0; i < n->sites.n; i++) {
		uint64_t *at = map_at(&index, place_key(n, g->opts.key, i));

		if (!*at) {
			g->place_site[g->n_places] = i;
			*at = ++g->n_places;
		}
		/* of many the lowest address stands for it, so that chance does not choose */
		if (n->sites.data[i].addr < n->sites.data[g->place_site[*at - 1]].addr)
			g->place_site[*at - 1] = i;
		g->place_of[i] = (uint32_t)*at - 1;
	}
	map_free(&index);
	/* numbered by rank, so that the number decides between equals */
	for (uint32_t i = 0; i < g->n_places; i++)
		order[i] = i;
	qsort_r(order, g->n_places, sizeof(*order), by_address, &r);
	renumber(g, n->sites.n, order);
}

uint32_t graphs_frame(const struct graphs *g, uint32_t place)
{
	return g->cells->names->sites.data[g->place_site[place]].frame;
}

const char *graphs_text(const struct graphs *g, uint32_t place, char *buf, size_t size)
{
	const struct names *n = g->cells->names;
	const struct name_site *s = &n->sites.data[g->place_site[place]];
	const struct name_frame *f = &n->frames.data[s->frame];
	const char *name = names_function(n, s->frame), *file, *base;
	const char *inlined = f->inlined ? " (inlined)" : "";
	uint32_t line;

	if (!name) {
		snprintf(buf, size, "%#" PRIx64, s->addr);
		return buf;
	}
	if (g->opts.key != GRAPH_BY_FUNCTION && names_line(n, s, &file, &line)) {
		base = strrchr(file, '/');
		snprintf(buf, size, "%s %s:%u%s", name,
			 base && !g->cells->opts.full_lines ? base + 1 : file, line, inlined);
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
