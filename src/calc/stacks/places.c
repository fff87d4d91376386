/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/map.h"
#include "calc/profile/stacks.h"
#include "calc/stacks/places_ask.h"

#define MANY_SAMPLES (1u << 16)

/* The first mark from i on, or n. */
static inline uint32_t next_mark(const uint64_t *chain, uint32_t i, uint32_t n)
{
	for (; i + 4 <= n; i += 4)
		if ((chain[i] >= EVENT_CHAIN_MARK) | (chain[i + 1] >= EVENT_CHAIN_MARK) |
		    (chain[i + 2] >= EVENT_CHAIN_MARK) | (chain[i + 3] >= EVENT_CHAIN_MARK))
			break;
	while (i < n && chain[i] < EVENT_CHAIN_MARK)
		i++;
	return i;
}

bool places_split(const struct place_sample *s, struct place_parts *ret)
{
	struct place_part *p = ret->part;
	uint32_t first = 0, end;
	uint8_t mode = EVENT_MODE_USER;

	ret->n = 0;
	ret->ip = s->b.chain;
	if (!s->b.chain_n) { /* only where it was */
		ret->ip = &s->b.ip;
		*p = (struct place_part){ .end = 1, .mode = s->b.mode };
		ret->n = 1;
	}
	for (; first < s->b.chain_n; first = end + 1) {
		end = next_mark(s->b.chain, first, s->b.chain_n);
		if (end > first)
			p[ret->n++] =
				(struct place_part){ .first = first, .end = end, .mode = mode };
		if (end == s->b.chain_n)
			break;
		if (ret->n == PLACE_PARTS)
			return false;
		mode = names_mode_behind(s->b.chain[end], mode);
	}
	for (uint32_t i = 0; i < ret->n; i++)
		p[i].space = p[i].mode == EVENT_MODE_KERNEL ? s->kernel : s->space;
	return true;
}

/* Any thread may fill a free slot meanwhile: its number is written when the rest is there. */
static inline uint32_t look_up(const struct place_map *m, uint64_t addr, uint32_t space)
{
	for (size_t at = place_hash(addr, space) & m->mask;; at = (at + 1) & m->mask) {
		const struct place_slot *s = &m->slot[at];
		uint32_t func = __atomic_load_n(&s->func, __ATOMIC_ACQUIRE);

		if (!func || (s->addr == addr && s->space == space))
			return func - 1;
	}
}

static inline uint32_t text_find(const struct place_names *n, uint32_t space, uint64_t at)
{
	const uint16_t *number = place_text_at(place_text_in(n, space), at);
	uint32_t func = number ? __atomic_load_n(number, __ATOMIC_ACQUIRE) : 0;

	return func <= PLACE_FUNCTIONS ? func - 1 : n->in_text[func - PLACE_FUNCTIONS - 1];
}

/* The image of the kernel stays where it is; other code of its comes and goes. */
static void describe_kernel(const struct place_names *n, struct place_range *g,
			    const struct task_map *m)
{
	bool image = m && m->dso == n->kernel_dso && m->start >= n->kernel_start;

	g->key = image ? PLACE_DSO | m->dso : g->space;
	g->shift = image ? n->kernel_start : 0;
}

/* Which file or space a mapping's places are in. */
static void places_describe(const struct tasks *tasks, struct place_range *g,
			    const struct task_map *m)
{
	const char *path = m ? tasks_dso_path(tasks, m->dso) : NULL;
	enum names_from from = m ? names_from(path) : NAMES_FROM_NOBODY;

	g->key = g->space;
	g->one = from == NAMES_FROM_NOBODY;
	if (from == NAMES_FROM_PROCESS)
		return;
	g->key = m ? PLACE_DSO | m->dso : PLACE_NOWHERE;
	if (m && !g->one)
		g->shift = m->start - m->pgoff;
}

/* Where it stands what a file is, or what is nowhere, all of which is one place. */
static uint16_t *single_of(const struct place_names *n, uint32_t key)
{
	return &n->single[key == PLACE_NOWHERE ? n->n_texts : key & ~PLACE_DSO];
}

static const uint16_t no_number;

struct place_range *place_range_find(struct place_reader *r, const struct place_part *part,
				     uint64_t addr)
{
	const struct tasks *tasks = r->names->trace->tasks;
	const struct task_map *m;
	struct place_range found = { .space = part->space }, *g;
	uint8_t *nearest = place_nearest(r, addr);
	uint64_t until;

	for (uint8_t i = 0; i < PLACE_NOWHERES; i++)
		if (place_range_has(&r->nowhere[i], part->space, addr)) {
			*nearest = i;
			return &r->nowhere[i];
		}
	m = tasks_find_range(tasks, part->space, addr, &found.from, &until);
	if (part->mode == EVENT_MODE_KERNEL)
		describe_kernel(r->names, &found, m);
	else
		places_describe(tasks, &found, m);
	found.size = until - found.from;
	if (found.one)
		*nearest = r->n_nowhere++ % PLACE_NOWHERES;
	g = found.one ? &r->nowhere[*nearest] : place_range_slot(r, part->space, addr);
	found.number = found.one ? single_of(r->names, found.key) : &no_number;
	*g = found;
	return g;
}

/* Somebody may have written down what is in its file. */
static void look_at_text(const struct place_names *n, struct place_range *g)
{
	const struct place_text *t = g->one ? NULL : place_text_in(n, g->key);

	if (!t || place_number(g->from + g->size - g->shift) >= t->n)
		return;
	g->number = t->number;
	g->several = UINT64_MAX;
}

uint32_t place_find(struct place_reader *r, const struct place_part *part, uint64_t addr,
		    bool caller)
{
	uint64_t key = addr * 2 + caller, *recent, mark;
	uint32_t space = part->space, func;
	struct place_range *g = NULL;

	if (place_has_range(part->mode)) {
		g = place_range_of(r, part, addr);
		if (!g->several)
			look_at_text(r->names, g);
		space = g->key;
		key = g->one ? 0 : (addr - g->shift) * 2 + caller;
		func = g->one ? __atomic_load_n(g->number, __ATOMIC_RELAXED) - 1u
			      : text_find(r->names, space, addr - g->shift - caller);
		if (func != PLACE_UNKNOWN)
			return func;
	}
	func = look_up(__atomic_load_n(&r->names->map, __ATOMIC_ACQUIRE), key, space);
	if (g && g->one && func < UINT16_MAX)
		__atomic_store_n(single_of(r->names, space), (uint16_t)(func + 1),
				 __ATOMIC_RELAXED);
	if (func != PLACE_UNKNOWN)
		return func;
	recent = &r->recent[place_hash(key, space) % ARRAY_SIZE(r->recent)];
	mark = ~(key ^ (uint64_t)space << 32); /* address 0 of space 0 is not nothing */
	if (*recent != mark) {
		*recent = mark;
		vec_push(&r->fresh, (struct place){ .key_addr = key,
						    .key_space = space,
						    .addr = addr,
						    .space = part->space,
						    .mode = part->mode,
						    .caller = caller });
	}
	return PLACE_UNKNOWN;
}

static struct place_map *map_new(size_t size)
{
	struct place_map *m = mem_alloc(sizeof(*m));

	m->slot = mem_table(size * sizeof(*m->slot), true);
	m->mask = size - 1;
	return m;
}

static void places_put(struct place_map *m, const struct place_slot *what)
{
	size_t at = place_hash(what->addr, what->space) & m->mask;

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
				places_put(m, &n->map->slot[i]);
		m->before = n->map;
		__atomic_store_n(&n->map, m, __ATOMIC_RELEASE);
	}
	places_put(m, &(struct place_slot){ p->key_addr, p->key_space, func + 1 });
}

static size_t text_size(size_t n)
{
	return sizeof(struct place_text) + n * sizeof(uint16_t);
}

static struct place_text *places_text_of(struct place_names *n, const struct place *p)
{
	struct place_text **at = &n->text[p->key_space & ~PLACE_DSO], *t;
	const struct task_map *m = tasks_find(n->trace->tasks, p->space, p->addr);
	size_t numbers;

	if (*at || !m)
		return *at;
	numbers = p->mode == EVENT_MODE_KERNEL
			  ? 0 - n->kernel_start /* as far as there may be some */
			  : m->pgoff + (m->end - m->start);
	numbers = place_number(numbers) + 1;
	numbers = numbers < PLACE_TEXT ? numbers : PLACE_TEXT;
	/* what is never written to costs nothing */
	t = mmap(NULL, text_size(numbers), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	t->n = numbers;
	__atomic_store_n(at, t, __ATOMIC_RELEASE);
	return t;
}

/* What stands in a text for a place; 0: there are too many. */
static uint16_t number_in_text(struct place_names *n, uint32_t place)
{
	if (!(place & PLACE_SEVERAL))
		return place < PLACE_FUNCTIONS ? (uint16_t)(place + 1) : 0;
	if (n->n_in_text == PLACE_INLINES)
		return 0;
	n->in_text[n->n_in_text++] = place;
	return (uint16_t)(PLACE_FUNCTIONS + n->n_in_text);
}

void place_names_put_span(struct place_names *n, const struct place *p, struct place_span span,
			  uint32_t place)
{
	uint16_t number = number_in_text(n, place);
	struct place_text *t = number ? places_text_of(n, p) : NULL;
	uint64_t at = place_at(p), end;

	if (!t)
		return;
	/* much code without a name is not all written down at once */
	at = at - span.from > PLACE_NEAR ? at - PLACE_NEAR : span.from;
	end = span.to - at > 2 * PLACE_NEAR ? at + 2 * PLACE_NEAR : span.to;
	at = (at + (1u << PLACE_GRAIN) - 1) >> PLACE_GRAIN;
	end >>= PLACE_GRAIN;
	for (; at < end && at + 1 < t->n; at++)
		__atomic_store_n(&t->number[at + 1], number, __ATOMIC_RELEASE);
}

uint32_t place_names_get(const struct place_names *n, const struct place *p)
{
	uint32_t func = text_find(n, p->key_space, place_at(p));

	return func != PLACE_UNKNOWN ? func : look_up(n->map, p->key_addr, p->key_space);
}

void place_names_init(struct place_names *n, struct trace *t, struct symbols *symbols, bool inlines,
		      bool counts)
{
	const struct task_map *kernel;

	*n = (struct place_names){ .trace = t, .symbols = symbols, .inlines = inlines };
	pthread_mutex_init(&n->lock, NULL);
	n->map = map_new(t->n_samples < MANY_SAMPLES ? 4096 : 16384);
	n->n_texts = tasks_n_dsos(t->tasks);
	n->text = mem_alloc((n->n_texts + 1) * sizeof(*n->text));
	n->single = mem_alloc((n->n_texts + 1) * sizeof(*n->single));
	n->symbols_of = mem_alloc((n->n_texts + 1) * sizeof(*n->symbols_of));
	n->kernel_start = tasks_kernel_start(t->tasks);
	kernel = tasks_find(t->tasks, TASK_SPACE_KERNEL, n->kernel_start);
	n->kernel_dso = kernel ? kernel->dso : TASK_DSO_NONE;
	n->list = mem_alloc(PLACE_LISTS * sizeof(*n->list));
	n->in_text = mem_alloc(PLACE_INLINES * sizeof(*n->in_text));
	n->unnamed = mem_alloc(PLACE_FUNCTIONS * sizeof(*n->unnamed));
	profile_types(t, counts, &n->named);
}

void place_names_close(struct place_names *n)
{
	for (struct place_map *m = n->map, *before; m; m = before) {
		before = m->before;
		free(m->slot);
		free(m);
	}
	for (size_t i = 0; i < n->n_texts; i++)
		if (n->text[i])
			munmap(n->text[i], text_size(n->text[i]->n));
	free(n->text);
	free(n->single);
	free(n->symbols_of);
	for (size_t i = 0; i < PLACE_LISTS && i * PLACE_LIST < n->lists; i++)
		free(n->list[i]);
	free(n->list);
	free(n->in_text);
	free(n->unnamed);
	strtab_free(&n->keys);
	n->map = NULL;
	n->text = NULL;
	n->single = NULL;
	n->symbols_of = NULL;
	n->list = NULL;
	n->in_text = NULL;
	n->unnamed = NULL;
	n->n_texts = n->lists = 0;
}

void place_names_free(struct place_names *n)
{
	place_names_close(n);
	stacks_free(&n->named);
	pthread_mutex_destroy(&n->lock);
}
