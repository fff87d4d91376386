/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/map.h"
#include "calc/names.h"
#include "calc/places_impl.h"

/* Whose addresses follow a mark; -1: it says nothing of that. */
static int mode_of(uint64_t mark)
{
	switch (mark) {
	case EVENT_CHAIN_KERNEL: return EVENT_MODE_KERNEL;
	case EVENT_CHAIN_USER: return EVENT_MODE_USER;
	case EVENT_CHAIN_HV: return EVENT_MODE_HYPERVISOR;
	case EVENT_CHAIN_GUEST_KERNEL: return EVENT_MODE_GUEST_KERNEL;
	case EVENT_CHAIN_GUEST_USER: return EVENT_MODE_GUEST_USER;
	default: return -1;
	}
}

bool places_split(const struct event *ev, const struct profile_entry *who, struct place_parts *ret)
{
	struct place_part *p = ret->part;
	uint32_t first = 0;
	uint8_t mode = EVENT_MODE_USER;

	ret->n = 0;
	ret->ip = ev->chain;
	if (!(ev->have & EVENT_HAVE_CHAIN) || !ev->chain_n) { /* only where it was */
		ret->ip = &ev->ip;
		mode = (uint8_t)ev->mode;
		p[ret->n++] = (struct place_part){ .end = 1, .mode = mode };
	} else {
		for (uint32_t i = 0; i <= ev->chain_n; i++) {
			int now;

			if (i < ev->chain_n && ev->chain[i] < EVENT_CHAIN_MARK)
				continue;
			if (i > first)
				p[ret->n++] = (struct place_part){ .first = first,
								   .end = i,
								   .mode = mode };
			if (i == ev->chain_n)
				break;
			now = mode_of(ev->chain[i]);
			if (ret->n == PLACE_PARTS)
				return false;
			/* rubbish where a frame pointer was expected looks like a mark, and is none
			 */
			mode = now < 0 ? mode : (uint8_t)now;
			first = i + 1;
		}
	}
	for (uint32_t i = 0; i < ret->n; i++)
		p[i].space = p[i].mode == EVENT_MODE_KERNEL ? who->kernel : who->space;
	return true;
}

/* Neighbours stay neighbours: 64 bytes of code have slots side by side. */
static inline uint64_t hash_of(uint64_t addr, uint32_t space)
{
	uint64_t x = ((addr >> 7) + ((uint64_t)space << 40)) * 0x9e3779b97f4a7c15u;

	return (x >> 32 & ~(uint64_t)15) | (addr >> 3 & 15);
}

/* Any thread may fill a free slot meanwhile: its number is written when the rest is there. */
static inline uint32_t look_up(const struct place_map *m, uint64_t addr, uint32_t space)
{
	for (size_t at = hash_of(addr, space) & m->mask;; at = (at + 1) & m->mask) {
		const struct place_slot *s = &m->slot[at];
		uint32_t func = __atomic_load_n(&s->func, __ATOMIC_ACQUIRE);

		if (!func || (s->addr == addr && s->space == space))
			return func - 1;
	}
}

/* The number of an offset of a file of which whole functions are the same; NULL: there is none. */
static inline const uint32_t *text_at(const struct place_names *n, uint32_t space, uint64_t at)
{
	uint32_t file = space & ~PLACE_DSO, *page;
	const struct place_text *t;

	if (!(space & PLACE_DSO) || file >= n->n_texts)
		return NULL;
	t = __atomic_load_n(&n->text[file], __ATOMIC_ACQUIRE);
	if (!t || at >> PLACE_PAGE >= t->n)
		return NULL;
	page = __atomic_load_n(&t->page[at >> PLACE_PAGE], __ATOMIC_ACQUIRE);
	return page ? &page[at >> PLACE_GRAIN & ((1u << (PLACE_PAGE - PLACE_GRAIN)) - 1)] : NULL;
}

static inline uint32_t text_find(const struct place_names *n, uint32_t space, uint64_t at)
{
	const uint32_t *number = text_at(n, space, at);

	return number ? __atomic_load_n(number, __ATOMIC_RELAXED) - 1 : PLACE_UNKNOWN;
}

/* Which file or space a mapping's places are in. */
static void describe(const struct tasks *tasks, struct place_range *g, const struct task_map *m)
{
	const char *path = m ? tasks_dso_path(tasks, m->dso) : NULL;
	enum names_from from = m ? names_from(path) : NAMES_FROM_NOBODY;

	g->shift = 0;
	g->key = g->space;
	g->one = from == NAMES_FROM_NOBODY;
	if (from == NAMES_FROM_PROCESS)
		return;
	g->key = m ? PLACE_DSO | m->dso : PLACE_NOWHERE;
	if (m && !g->one)
		g->shift = m->start - m->pgoff;
}

static const struct place_range *find_range(struct place_reader *r, uint32_t space, uint64_t addr)
{
	struct place_range *g =
		&r->range[((addr >> 21) + space * 0x9e3779b1u) % ARRAY_SIZE(r->range)];
	const struct tasks *tasks = r->names->trace->tasks;
	uint64_t until;

	r->last = g;
	if (g->space == space && addr - g->from < g->size)
		return g;
	g->space = space;
	describe(tasks, g, tasks_find_range(tasks, space, addr, &g->from, &until));
	g->size = until - g->from;
	return g;
}

static inline const struct place_range *range_of(struct place_reader *r, uint32_t space,
						 uint64_t addr)
{
	const struct place_range *g = r->last; /* most code is of one program */

	return g && g->space == space && addr - g->from < g->size ? g : find_range(r, space, addr);
}

uint32_t place_find(struct place_reader *r, const struct place_part *part, uint64_t addr,
		    bool caller)
{
	uint64_t key = addr * 2 + caller, *recent;
	uint32_t space = part->space, func;

	if (part->mode == EVENT_MODE_USER) {
		const struct place_range *g = range_of(r, space, addr);

		space = g->key;
		key = g->one ? 0 : (addr - g->shift) * 2 + caller;
		func = g->one ? PLACE_UNKNOWN
			      : text_find(r->names, space, addr - g->shift - caller);
		if (func != PLACE_UNKNOWN)
			return func;
	}
	func = look_up(__atomic_load_n(&r->names->map, __ATOMIC_ACQUIRE), key, space);
	if (func != PLACE_UNKNOWN)
		return func;
	recent = &r->recent[hash_of(key, space) % ARRAY_SIZE(r->recent)];
	if (*recent != (key ^ (uint64_t)space << 32)) {
		*recent = key ^ (uint64_t)space << 32;
		vec_push(&r->fresh, (struct place){ .key_addr = key,
						    .key_space = space,
						    .addr = addr,
						    .space = part->space,
						    .mode = part->mode,
						    .caller = caller });
	}
	return PLACE_UNKNOWN;
}

void place_fetch(struct place_reader *r, uint32_t space, uint64_t addr)
{
	const struct place_range *g = range_of(r, space, addr);
	const uint32_t *number = g->one ? NULL : text_at(r->names, g->key, addr - g->shift);
	const struct place_map *m = __atomic_load_n(&r->names->map, __ATOMIC_ACQUIRE);

	if (number)
		__builtin_prefetch(number);
	else if (!g->one)
		__builtin_prefetch(&m->slot[hash_of((addr - g->shift) * 2, g->key) & m->mask]);
}

static struct place_map *map_new(size_t size)
{
	struct place_map *m = mem_alloc(sizeof(*m));

	m->slot = mem_table(size * sizeof(*m->slot), true);
	m->mask = size - 1;
	return m;
}

static void put(struct place_map *m, const struct place_slot *what)
{
	size_t at = hash_of(what->addr, what->space) & m->mask;

	while (m->slot[at].func)
		at = (at + 1) & m->mask;
	m->slot[at].addr = what->addr;
	m->slot[at].space = what->space;
	__atomic_store_n(&m->slot[at].func, what->func, __ATOMIC_RELEASE);
	m->n++;
}

void place_names_put(struct place_names *n, const struct place *p, uint32_t func)
{
	struct place_map *m = n->map;

	if (m->n * 3 > m->mask * 2) {
		m = map_new((n->map->mask + 1) * 2);
		for (size_t i = 0; i <= n->map->mask; i++)
			if (n->map->slot[i].func)
				put(m, &n->map->slot[i]);
		m->before = n->map;
		__atomic_store_n(&n->map, m, __ATOMIC_RELEASE);
	}
	put(m, &(struct place_slot){ p->key_addr, p->key_space, func + 1 });
}

static struct place_text *text_of(struct place_names *n, const struct place *p)
{
	struct place_text **at = &n->text[p->key_space & ~PLACE_DSO], *t;
	const struct task_map *m = tasks_find(n->trace->tasks, p->space, p->addr);

	if (*at || !m)
		return *at;
	t = mem_alloc(sizeof(*t));
	t->n = (m->pgoff + (m->end - m->start)) >> PLACE_PAGE;
	t->n = t->n < PLACE_PAGES ? t->n + 1 : PLACE_PAGES;
	t->page = mem_alloc(t->n * sizeof(*t->page));
	__atomic_store_n(at, t, __ATOMIC_RELEASE);
	return t;
}

void place_names_put_span(struct place_names *n, const struct place *p, struct place_span span,
			  uint32_t func)
{
	struct place_text *t = text_of(n, p);
	uint64_t at = place_at(p), end;

	/* much code without a name is not all written down at once */
	at = at - span.from > PLACE_NEAR ? at - PLACE_NEAR : span.from;
	end = span.to - at > 2 * PLACE_NEAR ? at + 2 * PLACE_NEAR : span.to;
	at = (at + (1u << PLACE_GRAIN) - 1) >> PLACE_GRAIN;
	end >>= PLACE_GRAIN;
	for (; t && at < end && at >> (PLACE_PAGE - PLACE_GRAIN) < t->n; at++) {
		uint32_t **page = &t->page[at >> (PLACE_PAGE - PLACE_GRAIN)];
		size_t each = (size_t)1 << (PLACE_PAGE - PLACE_GRAIN);

		if (!*page)
			__atomic_store_n(page, mem_alloc(each * sizeof(**page)), __ATOMIC_RELEASE);
		__atomic_store_n(&(*page)[at & (each - 1)], func + 1, __ATOMIC_RELAXED);
	}
}

uint32_t place_names_get(const struct place_names *n, const struct place *p)
{
	uint32_t func = text_find(n, p->key_space, place_at(p));

	return func != PLACE_UNKNOWN ? func : look_up(n->map, p->key_addr, p->key_space);
}

void place_names_init(struct place_names *n, struct trace *t, struct symbols *symbols, bool inlines,
		      bool counts)
{
	*n = (struct place_names){ .trace = t, .symbols = symbols, .inlines = inlines };
	pthread_mutex_init(&n->lock, NULL);
	n->map = map_new(4096);
	n->n_texts = tasks_n_dsos(t->tasks);
	n->text = mem_alloc((n->n_texts + 1) * sizeof(*n->text));
	n->list = mem_alloc(PLACE_LISTS * sizeof(*n->list));
	place_names_types(n, counts);
}

void place_names_free(struct place_names *n)
{
	for (struct place_map *m = n->map, *before; m; m = before) {
		before = m->before;
		free(m->slot);
		free(m);
	}
	for (size_t i = 0; i < n->n_texts; i++) {
		for (size_t k = 0; n->text[i] && k < n->text[i]->n; k++)
			free(n->text[i]->page[k]);
		if (n->text[i])
			free(n->text[i]->page);
		free(n->text[i]);
	}
	free(n->text);
	for (size_t i = 0; i < PLACE_LISTS && i * PLACE_LIST < n->lists; i++)
		free(n->list[i]);
	free(n->list);
	strtab_free(&n->keys);
	stacks_free(&n->named);
	pthread_mutex_destroy(&n->lock);
}

void place_reader_free(struct place_reader *r)
{
	vec_free(&r->fresh);
}
