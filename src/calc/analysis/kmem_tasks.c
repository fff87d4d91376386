/* SPDX-License-Identifier: MIT */
/*
 * Kernel memory by task: what each allocated, what of it was freed by anybody, and the most it had
 * at one time. Frees of what was allocated before the recording began count for nobody.
 */
#include "base/map.h"
#include "calc/analysis/analysis.h"

enum { ALLOCATED = 1, RELEASED };

static const struct analysis_event events[] = {
	{ "kmem:kmalloc", ALLOCATED, { "ptr", "bytes_req", "bytes_alloc" } },
	{ "kmem:kmalloc_node", ALLOCATED, { "ptr", "bytes_req", "bytes_alloc" } },
	{ "kmem:kmem_cache_alloc", ALLOCATED, { "ptr", "bytes_req", "bytes_alloc" } },
	{ "kmem:kmem_cache_alloc_node", ALLOCATED, { "ptr", "bytes_req", "bytes_alloc" } },
	{ "kmem:kfree", RELEASED, { "ptr" } },
	{ "kmem:kmem_cache_free", RELEASED, { "ptr" } },
	{ 0 },
};

struct owner {
	int32_t tid;
	uint64_t asked, given, most_asked, most_given, allocations, frees;
};

struct block {
	size_t owner; /* index + 1; 0: it was freed */
	uint64_t asked, given;
};

struct state {
	struct map owner_at; /* tid to index + 1 */
	struct map block_at; /* address to index + 1 */
	VEC(struct owner) owners;
	VEC(struct block) blocks;
};

static size_t owner_index(struct state *s, int32_t tid)
{
	uint64_t *at = map_at(&s->owner_at, (uint32_t)tid);

	if (!*at) {
		vec_push(&s->owners, (struct owner){ .tid = tid });
		*at = s->owners.n;
	}
	return *at;
}

static void add_allocation(struct state *s, int32_t tid, const int64_t *v)
{
	struct block b = { .owner = owner_index(s, tid),
			   .asked = (uint64_t)v[1],
			   .given = (uint64_t)v[2] };
	struct owner *o = &s->owners.data[b.owner - 1];
	uint64_t *at = map_at(&s->block_at, (uint64_t)v[0]);

	o->allocations++;
	o->asked += b.asked;
	o->given += b.given;
	o->most_asked = o->asked > o->most_asked ? o->asked : o->most_asked;
	o->most_given = o->given > o->most_given ? o->given : o->most_given;
	if (*at) {
		s->blocks.data[*at - 1] = b;
		return;
	}
	vec_push(&s->blocks, b);
	*at = s->blocks.n;
}

static void add_free(struct state *s, uint64_t address)
{
	const uint64_t *at = map_find(&s->block_at, address);
	struct block *b = at ? &s->blocks.data[*at - 1] : NULL;
	struct owner *o;

	if (!b || !b->owner)
		return;
	o = &s->owners.data[b->owner - 1];
	o->asked -= b->asked;
	o->given -= b->given;
	o->frees++;
	b->owner = 0;
}

static void kmem_add(void *state, int role, const struct event *ev, const int64_t *v)
{
	if (role == ALLOCATED && v[0])
		add_allocation(state, ev->tid, v);
	else if (role == RELEASED)
		add_free(state, (uint64_t)v[0]);
}

static const struct table_column columns[] = {
	{ "comm", "TASK", TABLE_TEXT },
	{ "tid", "TID", TABLE_NUMBER },
	{ "allocations", "ALLOCS", TABLE_COUNT, .sum = true },
	{ "frees", "FREES", TABLE_COUNT, .sum = true },
	{ "left_bytes", "LEFT bytes", TABLE_BYTES, .unit = 1, .sum = true },
	{ "waste_bytes", "WASTE bytes", TABLE_BYTES, .unit = 1, .sum = true },
	{ "max_bytes", "MAX bytes", TABLE_BYTES, .unit = 1 },
	{ "max_wanted_bytes", "MAX WANTED", TABLE_BYTES, .unit = 1 },
};

static void kmem_end(void *state, const struct analysis_env *env, struct tables *ret)
{
	struct state *s = state;
	struct table *out = table_new(ret, "kmem_tasks", columns, ARRAY_SIZE(columns));

	vec_each (&s->owners, o) {
		char name[TASK_NAME];

		table_row(out);
		table_text(out, tasks_name_at(env->trace->tasks, o->tid, UINT64_MAX - 1, name));
		table_i64(out, o->tid);
		table_u64(out, o->allocations);
		table_u64(out, o->frees);
		table_u64(out, o->given);
		table_u64(out, o->given - o->asked);
		table_u64(out, o->most_given);
		table_u64(out, o->most_asked);
	}
}

static void kmem_drop(void *state)
{
	struct state *s = state;

	map_free(&s->owner_at);
	map_free(&s->block_at);
	vec_free(&s->owners);
	vec_free(&s->blocks);
}

const struct analysis analysis_kmem_tasks = {
	.name = "kmem-tasks",
	.summary = "kernel memory that tasks took and did not give back",
	.events = events,
	.record = "kymo record -e 'kmem:*' or kymo ftrace record -e kmem",
	.show = "kymo ftrace mem",
	.sort = "max_bytes",
	.state_size = sizeof(struct state),
	.add = kmem_add,
	.end = kmem_end,
	.drop = kmem_drop,
};
