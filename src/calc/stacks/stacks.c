/* SPDX-License-Identifier: MIT */
#include "calc/stacks/stacks.h"

#include <string.h>

const char *stacks_module_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool frame_equal(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->module == b->module && a->file == b->file &&
	       a->line == b->line && a->kind == b->kind;
}

uint32_t stacks_frame(struct stacks *s, const struct frame *f)
{
	uint64_t hash = map_hash(((uint64_t)f->name << 32 | f->module) ^
				 map_hash((uint64_t)f->file << 32 | (f->line << 3) | f->kind));
	size_t at = index_first(&s->frame_index, hash);
	uint32_t k;

	index_each (&s->frame_index, hash, at, k)
		if (frame_equal(&s->frames.data[k - 1], f))
			return k - 1;
	vec_push(&s->frames, *f);
	index_set(&s->frame_index, at, hash, s->frames.n);
	return (uint32_t)s->frames.n - 1;
}

uint32_t stacks_stack(struct stacks *s, const uint32_t *ids, size_t n)
{
	uint64_t hash = map_hash_bytes(ids, n * sizeof(*ids));
	size_t at = index_first(&s->stack_index, hash);
	uint32_t k;

	index_each (&s->stack_index, hash, at, k) {
		const struct stack *is = &s->stacks.data[k - 1];

		if (is->n == n &&
		    (!n || memcmp(s->frame_ids.data + is->first, ids, n * sizeof(*ids)) == 0))
			return k - 1;
	}
	if (n >= UINT32_MAX - s->frame_ids.n)
		return STRTAB_NONE;
	vec_push(&s->stacks, (struct stack){ .first = (uint32_t)s->frame_ids.n, .n = (uint32_t)n });
	vec_reserve(&s->frame_ids, s->frame_ids.n + n + 1);
	if (n)
		memcpy(s->frame_ids.data + s->frame_ids.n, ids, n * sizeof(*ids));
	s->frame_ids.n += n;
	index_set(&s->stack_index, at, hash, s->stacks.n);
	return (uint32_t)s->stacks.n - 1;
}

void stacks_add(struct stacks *s, const struct stack_entry *e)
{
	vec_push(&s->entries, *e);
}

const char *stacks_unit(const struct stacks *s, uint32_t type)
{
	if (type < s->type_units.n)
		return strtab_get(&s->strings, s->type_units.data[type]);
	return s->unit ? s->unit : "samples";
}

/* Code without a name is one frame a module, as calltree.c has it. */
static uint32_t unknown_name(struct stacks *s, uint32_t module)
{
	const char *path = module == STRTAB_NONE ? "unknown" : strtab_get(&s->strings, module);
	AUTO_FREE char *text = NULL;

	if (strcmp(path, "[unknown]") == 0)
		return module;
	text = mem_printf("[%s]", stacks_module_name(path));
	return strtab_add(&s->strings, text);
}

static uint32_t marked_stack(struct stacks *s, uint32_t stack, uint32_t *ids)
{
	struct stack k = s->stacks.data[stack];
	enum frame_kind kind = FRAME_OFF;

	for (uint32_t i = 0; i < k.n; i++) {
		struct frame f = s->frames.data[s->frame_ids.data[k.first + i]];

		if (f.kind == FRAME_LABEL) {
			kind = FRAME_WAKER;
		} else {
			if (f.kind == FRAME_UNKNOWN)
				f.name = unknown_name(s, f.module);
			f.kind = kind;
		}
		ids[i] = stacks_frame(s, &f);
	}
	return stacks_stack(s, ids, k.n);
}

void stacks_mark_off(struct stacks *s, uint32_t type)
{
	size_t n = s->stacks.n;
	AUTO_FREE uint32_t *to = mem_alloc((n + 1) * sizeof(*to)); /* + 1 */
	AUTO_FREE uint32_t *ids = NULL;
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = s->stacks.data[i].n > most ? s->stacks.data[i].n : most;
	ids = mem_alloc((most + 1) * sizeof(*ids));
	vec_each (&s->entries, en) {
		uint32_t marked;

		if (en->type != type || en->stack >= n)
			continue;
		if (!to[en->stack]) {
			marked = marked_stack(s, en->stack, ids);
			to[en->stack] = (marked == STRTAB_NONE ? en->stack : marked) + 1;
		}
		en->stack = to[en->stack] - 1;
	}
}

void stacks_free(struct stacks *s)
{
	strtab_free(&s->strings);
	vec_free(&s->frames);
	vec_free(&s->frame_ids);
	vec_free(&s->stacks);
	vec_free(&s->entries);
	vec_free(&s->type_names);
	vec_free(&s->type_units);
	vec_free(&s->clocks);
	index_free(&s->frame_index);
	index_free(&s->stack_index);
}
