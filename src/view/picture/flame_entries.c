/* SPDX-License-Identifier: MIT */
/* Entries of the page: whose they are, and which of them are one. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/time/chart.h"
#include "view/picture/flame_html.h"
#include "view/picture/flame_pack.h"

#define NODES_A_JOB 1024

/* Two numbers as one: other than an xor of hashes, which is 0 for all that are alike. */
static uint64_t pair_hash(uint64_t a, uint64_t b)
{
	return map_hash(map_hash(a) + b);
}

static uint32_t thread_of(struct pack *p, const struct stacks *s, const struct stack_entry *en)
{
	struct thread t = { .comm = STRTAB_NONE, .pid = en->pid, .tid = en->tid };
	uint64_t *at;

	if (en->comm != STRTAB_NONE)
		t.comm = strtab_add(&p->strings, strtab_get(&s->strings, en->comm));
	if (!p->detail->threads)
		t.tid = -1;
	at = map_at(&p->thread_index,
		    pair_hash((uint64_t)(uint32_t)t.pid << 32 | (uint32_t)t.tid, t.comm));
	if (!*at) {
		vec_push(&p->threads, t);
		*at = p->threads.n;
	}
	return (uint32_t)*at - 1;
}

static struct event_clock clock_of(const struct stacks *s, uint32_t type)
{
	struct event_clock c = { .spans = type < s->clocks.n && s->clocks.data[type].spans };
	double weight = 0, count = 0;

	vec_each (&s->entries, en)
		if (en->type == type) {
			weight += (double)en->weight;
			count += (double)en->count;
		}
	c.period = chart_period(s, type);
	c.rate = strcmp(stacks_unit(s, type), "ns") == 0 ? 1
		 : weight > 0				 ? (double)c.period * count / weight
							 : 0;
	return c;
}

uint32_t flame_type(struct pack *p, const struct stacks *s, uint32_t type)
{
	uint32_t name =
		strtab_add(&p->strings, type < s->type_names.n
						? strtab_get(&s->strings, s->type_names.data[type])
						: "samples");

	for (uint32_t i = 0; i < p->types.n; i++)
		if (p->types.data[i] == name)
			return i;
	vec_push(&p->types, name);
	vec_push(&p->units,
		 strtab_add(&p->strings, p->o->unit ? p->o->unit : stacks_unit(s, type)));
	vec_push(&p->clocks, clock_of(s, type));
	return (uint32_t)p->types.n - 1;
}

static uint32_t cpu_of(struct pack *p, uint32_t cpu)
{
	uint64_t *at = map_at(&p->cpu_index, p->detail->cpus ? cpu : UINT32_MAX);

	if (!*at) {
		vec_push(&p->cpus, p->detail->cpus ? cpu : UINT32_MAX);
		*at = p->cpus.n;
	}
	return (uint32_t)*at - 1;
}

/* One look-up for an entry whose like was there before. */
static uint32_t flame_entries_key_of(struct pack *p, uint32_t side, const struct stack_entry *en)
{
	const struct stacks *s = p->side[side];
	uint64_t who = map_hash((uint64_t)(uint32_t)en->pid << 32 | (uint32_t)en->tid) ^ en->comm;
	uint64_t what = (uint64_t)(en->type * 2 + side) << 32 | en->cpu;
	uint64_t *seen = map_at(&p->seen, map_hash(who) ^ what), *at;
	struct key k;

	if (*seen)
		return (uint32_t)*seen - 1;
	k = (struct key){ .side = side,
			  .type = flame_type(p, s, en->type),
			  .thread = thread_of(p, s, en),
			  .cpu = cpu_of(p, en->cpu) };
	at = map_at(&p->key_index,
		    pair_hash((uint64_t)k.thread << 32 | k.cpu, (uint64_t)k.type << 32 | k.side));
	if (!*at) {
		vec_push(&p->keys, k);
		*at = p->keys.n;
	}
	*seen = *at;
	return (uint32_t)*at - 1;
}

/* --- the same ones become one --- */

struct gather {
	struct entry *entry;
	uint32_t *first; /* by node: where its entries begin; one more than there are nodes */
	uint32_t *kept;	 /* by node: how many different ones they are */
	size_t nodes;
};

static uint64_t order_of(const struct entry *e)
{
	return (uint64_t)e->key << 32 | e->step;
}

static int by_order(const void *x, const void *y)
{
	uint64_t a = order_of(x), b = order_of(y);

	return (a > b) - (a < b);
}

/* Entries of a node that agree in key and step. Returns how many are left. */
static uint32_t flame_entries_merge(struct entry *e, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 1)
		qsort(e, n, sizeof(*e), by_order);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && by_order(&e[kept - 1], &e[i]) == 0)
			e[kept - 1].weight += e[i].weight;
		else
			e[kept++] = e[i];
	}
	return kept;
}

static int merge_job(void *ctx, size_t job, unsigned worker)
{
	struct gather *g = ctx;
	size_t end = (job + 1) * NODES_A_JOB < g->nodes ? (job + 1) * NODES_A_JOB : g->nodes;

	for (size_t i = job * NODES_A_JOB; i < end; i++)
		g->kept[i] =
			flame_entries_merge(g->entry + g->first[i], g->first[i + 1] - g->first[i]);
	return 0;
}

static bool is_shown(const struct pack *p, uint32_t side, size_t i)
{
	return p->tree.entry_node[side].data[i] != UINT32_MAX &&
	       p->side[side]->entries.data[i].weight > 0;
}

static void flame_entries_add_side(struct pack *p, uint32_t side, uint32_t *first)
{
	const struct stacks *s = p->side[side];

	for (size_t i = 0; i < s->entries.n; i++) {
		const struct stack_entry *en = &s->entries.data[i];
		uint32_t node = p->tree.entry_node[side].data[i], key;
		uint64_t when = p->ordered ? i : en->time;

		if (!is_shown(p, side, i))
			continue;
		key = flame_entries_key_of(p, side, en);
		p->keys.data[key].samples += en->count;
		p->entries[first[node]++] =
			(struct entry){ .node = node,
					.key = key,
					.step = p->ordered || when
							? (uint32_t)((when - p->first) / p->step)
							: FLAME_NO_STEP,
					.weight = en->weight };
	}
}

/* By node: that is where most of the order is, and nodes are numbers without gaps. */
static void bring_together(struct pack *p, struct gather *g)
{
	uint32_t at = 0;

	for (uint32_t side = 0; side < 2 && p->side[side]; side++)
		for (size_t i = 0; i < p->side[side]->entries.n; i++)
			if (is_shown(p, side, i)) {
				g->first[p->tree.entry_node[side].data[i] + 1]++;
				p->n_entries++;
			}
	for (size_t i = 0; i <= g->nodes; i++)
		g->first[i] = at += g->first[i];
	p->entries = mem_table((p->n_entries + 1) * sizeof(*p->entries), false);
	for (uint32_t side = 0; side < 2 && p->side[side]; side++)
		flame_entries_add_side(p, side, g->first);
	/* each has moved to where the next begins */
	memmove(g->first + 1, g->first, g->nodes * sizeof(*g->first));
	g->first[0] = 0;
}

void flame_gather(struct pack *p)
{
	struct gather g = { .nodes = p->tree.nodes.n };
	size_t n = 0;

	g.first = mem_alloc((g.nodes + 2) * sizeof(*g.first));
	g.kept = mem_alloc((g.nodes + 1) * sizeof(*g.kept));
	bring_together(p, &g);
	g.entry = p->entries;
	flame_order_keys(p);
	pool_run((g.nodes + NODES_A_JOB - 1) / NODES_A_JOB, 0, merge_job, &g);
	for (size_t i = 0; i < g.nodes; n += g.kept[i++])
		memmove(g.entry + n, g.entry + g.first[i], g.kept[i] * sizeof(*g.entry));
	p->n_entries = n;
	free(g.first);
	free(g.kept);
}
