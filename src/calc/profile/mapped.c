/* SPDX-License-Identifier: MIT */
#include "calc/profile/mapped.h"

#include "calc/profile/names.h"

static void mapped_describe(const struct tasks *tasks, struct mapped_range *g)
{
	const char *path = g->map ? tasks_dso_path(tasks, g->map->dso) : NULL;
	enum names_from from = path ? names_from(path) : NAMES_FROM_NOBODY;

	g->shift = 0;
	g->key = TASK_SPACE_NONE;
	if (g->map)
		g->key = from == NAMES_FROM_PROCESS ? g->space : MAPPED_FILE | g->map->dso;
	if (from == NAMES_FROM_PROCESS)
		g->map = NULL;
	else if (from == NAMES_FROM_FILE)
		g->shift = g->map->start - g->map->pgoff;
}

static void find_home(struct mapped *m, struct mapped_range *g)
{
	const struct task_map *map = g->map;
	uint64_t *at;

	g->home = g->key == TASK_SPACE_NONE ? g->key : g->space;
	g->home_shift = 0;
	if (!map || !g->shift)
		return;
	at = map_at(&m->index, map_hash(map->pgoff + ((uint64_t)map->dso << 40)) ^
				       map_hash(map->end - map->start));
	if (!*at) {
		vec_push(&m->homes, (struct mapped_home){ map->start, g->space });
		*at = m->homes.n;
	}
	g->home = m->homes.data[*at - 1].space;
	g->home_shift = map->start - m->homes.data[*at - 1].start;
}

const struct mapped_range *mapped_find(struct mapped *m, uint32_t space, uint64_t addr)
{
	struct mapped_range *g =
		&m->range[((addr >> 21) + space * 0x9e3779b1u) % ARRAY_SIZE(m->range)];
	uint64_t until;

	m->last = g;
	if (g->space == space && addr - g->from < g->size)
		return g;
	g->space = space;
	g->map = tasks_find_range(m->tasks, space, addr, &g->from, &until);
	g->size = until - g->from;
	mapped_describe(m->tasks, g);
	find_home(m, g);
	return g;
}

void mapped_free(struct mapped *m)
{
	map_free(&m->index);
	vec_free(&m->homes);
}
