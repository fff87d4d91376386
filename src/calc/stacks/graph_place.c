/* SPDX-License-Identifier: MIT */
/* What the nodes of a call graph stand for: functions, addresses or lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/stacks/graph_impl.h"

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

void places_make(struct graphs *g, const struct names *n)
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
