/* SPDX-License-Identifier: MIT */
/*
 * Functions for places: each place is made a profile entry with a chain of one
 * frame, so that they get their names as all others do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "calc/places.h"
#include "calc/profile_stacks.h"

static uint64_t mark_of(uint8_t mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return EVENT_CHAIN_KERNEL;
	case EVENT_MODE_HYPERVISOR: return EVENT_CHAIN_HV;
	case EVENT_MODE_GUEST_KERNEL: return EVENT_CHAIN_GUEST_KERNEL;
	case EVENT_MODE_GUEST_USER: return EVENT_CHAIN_GUEST_USER;
	default: return EVENT_CHAIN_USER;
	}
}

/*
 * The same instruction of the same file has the same names in every process that maps
 * it: which places stand for which. Only files; what else is mapped may differ.
 */
static uint32_t *find_same(const struct trace *t, const struct place_set *s)
{
	uint32_t *same = mem_alloc((s->v.n + 1) * sizeof(*same));
	struct map index = { 0 };

	for (uint32_t i = 0; i < s->v.n; i++) {
		const struct place *at = &s->v.data[i];
		const struct task_map *m = tasks_find(t->tasks, at->space, at->addr);
		const char *path = m ? tasks_dso_path(t->tasks, m->dso) : "";
		uint64_t *first;

		same[i] = i;
		if (at->mode != EVENT_MODE_USER || path[0] != '/' || path[1] == '/' ||
		    strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/dev/", 5) == 0 ||
		    strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/anon", 5) == 0 ||
		    strncmp(path, "/SYSV", 5) == 0)
			continue;
		first = map_at(&index, map_hash((at->addr - m->start + m->pgoff) * 2 + at->caller) ^
					       map_hash((uint64_t)m->dso << 32 | 1));
		if (!*first)
			*first = (uint64_t)i + 1;
		same[i] = (uint32_t)*first - 1;
	}
	map_free(&index);
	return same;
}

/* entry[i]: which entry (and chain) place i has. */
static void fill_profile(const struct place_set *s, const uint32_t *same, uint32_t *entry,
			 uint64_t *ip, struct profile *p)
{
	for (uint32_t i = 0; i < s->v.n; i++) {
		const struct place *at = &s->v.data[i];

		entry[i] = same[i] == i ? (uint32_t)p->entries.n : entry[same[i]];
		if (same[i] != i)
			continue;
		ip[2 * i] = mark_of(at->mode);
		ip[2 * i + 1] = at->addr;
		vec_push(&p->chains, (struct profile_chain){ .ip = &ip[2 * i],
							     .n = 2,
							     .space = at->space,
							     .kernel = at->space,
							     .headless = at->caller });
		vec_push(&p->entries, (struct profile_entry){ .comm = STRTAB_NONE,
							      .ip = at->addr,
							      .mode = at->mode,
							      .space = at->space,
							      .kernel = at->space,
							      .chain = entry[i],
							      .extra = PROFILE_NO_EXTRA,
							      .count = 1,
							      .weight = 1 });
	}
}

/* What calltree.c takes for the same function has the same text. */
static void put_key(const struct stacks *s, const struct frame *f, struct strbuf *b)
{
	const char *path = f->module == STRTAB_NONE ? "" : strtab_get(&s->strings, f->module);
	const char *slash = strrchr(path, '/');

	strbuf_reset(b);
	strbuf_printf(b, "%d %s ", (int)f->kind, slash && slash[1] ? slash + 1 : path);
	if (f->kind != FRAME_UNKNOWN) /* code without a name is one frame a module */
		strbuf_puts(b, strtab_get(&s->strings, f->name));
}

/* Which frames are the same function. */
static uint32_t *number_functions(struct place_names *n)
{
	const struct stacks *s = &n->named;
	uint32_t *func_of = mem_alloc((s->frames.n + 1) * sizeof(*func_of));
	AUTO_STRBUF text = { 0 };
	struct strtab keys = { 0 };

	n->frame = mem_alloc((s->frames.n + 1) * sizeof(*n->frame));
	n->made = mem_alloc((s->frames.n + 1) * sizeof(*n->made));
	for (uint32_t i = 0; i < s->frames.n; i++) {
		put_key(s, &s->frames.data[i], &text);
		func_of[i] = strtab_addn(&keys, strbuf_str(&text), text.n);
		if (func_of[i] == n->funcs)
			n->frame[n->funcs++] = i;
	}
	strtab_free(&keys);
	return func_of;
}

static void fill_slots(struct place_names *n, const struct place_set *places, const uint32_t *entry)
{
	const struct stacks *s = &n->named;
	AUTO_FREE uint32_t *func_of = number_functions(n);
	VEC(uint32_t) list = { 0 };

	for (n->mask = 1023; n->mask < places->v.n * 2; n->mask = n->mask * 2 + 1)
		;
	n->slot = mem_alloc((n->mask + 1) * sizeof(*n->slot));
	for (uint32_t i = 0; i < places->v.n; i++) {
		const struct place *p = &places->v.data[i];
		const struct stack *k = &s->stacks.data[s->entries.data[entry[i]].stack];
		const uint32_t *ids = &s->frame_ids.data[k->first];
		size_t at = place_hash(p->addr, p->space, p->caller) & n->mask;

		while (n->slot[at].func)
			at = (at + 1) & n->mask;
		n->slot[at] =
			(struct place_slot){ .addr = p->addr * 2 + p->caller, .space = p->space };
		if (k->n == 1) {
			n->slot[at].func = func_of[ids[0]] + 1;
			continue;
		}
		n->slot[at].func = (PLACE_SEVERAL | (uint32_t)list.n) + 1;
		vec_push(&list, k->n);
		for (uint32_t j = 0; j < k->n; j++)
			vec_push(&list, func_of[ids[j]]);
	}
	n->list = list.data;
}

int place_names_make(struct place_names *n, struct trace *t, const struct place_set *places,
		     struct symbols *symbols, bool inlines, bool counts, struct err *e)
{
	AUTO_FREE uint64_t *ip = mem_alloc((2 * places->v.n + 1) * sizeof(*ip));
	AUTO_FREE uint32_t *same = find_same(t, places);
	AUTO_FREE uint32_t *entry = mem_alloc((places->v.n + 1) * sizeof(*entry));
	struct profile p = { .trace = t };
	struct names names = { 0 };
	int r;

	*n = (struct place_names){ 0 };
	fill_profile(places, same, entry, ip, &p);
	r = names_make(&p, symbols, &(struct names_opts){ .inlines = inlines }, &names, e);
	if (r == 0) {
		profile_stacks(&names, counts, &n->named);
		fill_slots(n, places, entry);
	}
	names_free(&names);
	vec_free(&p.chains);
	vec_free(&p.entries);
	return r;
}

void place_names_free(struct place_names *n)
{
	free(n->slot);
	free(n->list);
	free(n->frame);
	free(n->made);
	stacks_free(&n->named);
}

uint32_t place_names_frame(const struct place_names *n, uint32_t func, struct stacks *to)
{
	struct frame f = n->named.frames.data[n->frame[func]];

	if (n->made[func])
		return n->made[func] - 1;
	f.name = strtab_add(&to->strings, strtab_get(&n->named.strings, f.name));
	if (f.module != STRTAB_NONE)
		f.module = strtab_add(&to->strings, strtab_get(&n->named.strings, f.module));
	f.file = STRTAB_NONE;
	f.line = 0;
	n->made[func] = stacks_frame(to, &f) + 1;
	return n->made[func] - 1;
}

void place_names_types(const struct place_names *n, struct stacks *to)
{
	const struct stacks *s = &n->named;

	to->unit = s->unit;
	vec_each (&s->type_names, id)
		vec_push(&to->type_names, strtab_add(&to->strings, strtab_get(&s->strings, *id)));
	vec_each (&s->type_units, id)
		vec_push(&to->type_units, strtab_add(&to->strings, strtab_get(&s->strings, *id)));
}
