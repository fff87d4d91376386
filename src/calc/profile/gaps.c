/* SPDX-License-Identifier: MIT */
#include "calc/profile/gaps.h"

#include <stdlib.h>

#include "calc/stacks/places_ask.h"

static struct gaps_end gaps_end_of(const struct trace *t, const struct place_sample *s)
{
	const uint64_t *chain = s->b.chain;
	uint32_t n = s->b.chain_n, first = n;
	struct gaps_end e = { .mode = EVENT_MODE_USER };

	/* a mark at the end is of nothing */
	while (n && chain[n - 1] >= EVENT_CHAIN_MARK)
		n--;
	if (!n)
		return (struct gaps_end){ 0 };
	for (first = n; first && chain[first - 1] < EVENT_CHAIN_MARK;)
		first--;
	if (first && chain[first - 1] != EVENT_CHAIN_USER)
		e.mode = EVENT_MODE_KERNEL;
	e.n = n - first > 1 ? 2 : 1;
	e.ip[0] = chain[n - e.n];
	e.ip[1] = chain[n - 1];
	e.caller = n - first > e.n;
	names_depth(t, s->b.type, chain, s->b.chain_n, &e.cut, &e.deep);
	return e;
}

/*
 * What tells places apart. Of code that has its name already the function is enough, of the outer
 * end of a stack only while it has one: whether a program begins at an unnamed address depends on
 * the address. So there are as many entries as functions, not as addresses.
 */
static uint64_t gaps_mix(uint64_t hash, struct place_reader *r, uint64_t addr, bool caller,
			 uint32_t space, uint8_t mode, bool outermost)
{
	const struct place_part part = { .space = space, .mode = mode };
	uint64_t where = (uint64_t)space << 32;

	if (place_has_range(mode)) {
		const struct place_range *g = place_range_of(r, &part, addr);
		uint32_t number = __atomic_load_n(place_ask(g, addr, caller), __ATOMIC_ACQUIRE);
		bool unnamed = number - 1 < PLACE_FUNCTIONS && r->names->unnamed[number - 1];

		if (number && (!unnamed || g->one || !outermost))
			return map_hash(hash + ((uint64_t)mode << 32 | number << 1 | unnamed));
		if ((g->key & PLACE_DSO) && g->key != PLACE_NOWHERE) {
			where = g->key;
			addr -= g->shift;
		}
	}
	return map_hash(map_hash(hash + where) + addr);
}

void gaps_add(struct gaps *g, struct place_reader *r, const struct trace *t,
	      const struct place_sample *s)
{
	struct gaps_end end = gaps_end_of(t, s);
	uint8_t mode = (uint8_t)s->b.mode;
	uint32_t space = mode == EVENT_MODE_KERNEL ? s->kernel : s->space;
	uint64_t hash = gaps_mix((uint64_t)s->b.type << 8 | (unsigned)end.cut << 1 | end.deep, r,
				 s->b.ip, false, space, mode, false);
	uint64_t *at;

	space = end.mode == EVENT_MODE_KERNEL ? s->kernel : s->space;
	for (uint32_t i = 2 - end.n; i < 2; i++)
		hash = gaps_mix(hash, r, end.ip[i], end.caller || (i == 1 && end.n == 2), space,
				end.mode, i == 1);
	at = map_at(&g->index, hash);
	if (!*at) {
		vec_push(&g->entries, (struct profile_entry){ .type = s->b.type,
							      .comm = STRTAB_NONE,
							      .space = s->space,
							      .kernel = s->kernel,
							      .chain = PROFILE_NO_CHAIN,
							      .mode = mode,
							      .extra = PROFILE_NO_EXTRA,
							      .ip = s->b.ip });
		vec_push(&g->ends, end);
		*at = g->entries.n;
	}
	g->entries.data[*at - 1].count++;
}

void gaps_join(struct gaps *g, struct gaps *other)
{
	for (size_t i = 0; i < other->entries.n; i++) {
		vec_push(&g->entries, other->entries.data[i]);
		vec_push(&g->ends, other->ends.data[i]);
	}
	gaps_free(other);
}

void gaps_free(struct gaps *g)
{
	map_free(&g->index);
	vec_free(&g->entries);
	vec_free(&g->ends);
}

static void add_chain(struct profile *p, struct profile_entry *e, const struct gaps_end *end)
{
	uint64_t *ip = arena_alloc(&p->copies, 3 * sizeof(*ip));

	ip[0] = end->mode == EVENT_MODE_KERNEL ? EVENT_CHAIN_KERNEL : EVENT_CHAIN_USER;
	for (uint32_t i = 0; i < end->n; i++)
		ip[1 + i] = end->ip[2 - end->n + i];
	e->chain = (uint32_t)p->chains.n;
	vec_push(&p->chains, (struct profile_chain){ .ip = ip,
						     .n = 1 + end->n,
						     .space = e->space,
						     .kernel = e->kernel,
						     .cut = end->cut,
						     .deep = end->deep,
						     .headless = end->caller });
}

int gaps_names(const struct gaps *g, struct trace *t, struct symbols *symbols, struct profile *p,
	       struct names *n, struct err *e)
{
	int r;

	*p = (struct profile){ .trace = t,
			       .total = mem_alloc((t->n_types + 1) * sizeof(*p->total)) };
	for (size_t i = 0; i < g->entries.n; i++) {
		struct profile_entry x = g->entries.data[i];

		if (g->ends.data[i].n)
			add_chain(p, &x, &g->ends.data[i]);
		p->total[x.type].count += x.count;
		p->total[x.type].all_count += x.count;
		vec_push(&p->entries, x);
	}
	r = names_make(p, symbols, &(struct names_opts){ .by_file = true, .no_lines = true }, n, e);
	if (r < 0)
		profile_free(p);
	return r;
}
