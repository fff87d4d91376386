/* SPDX-License-Identifier: MIT */
#include "view/ftrace/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "event/symline.h"

#define CACHE 8192u /* a power of two */

struct ftrace_names {
	char *text;
	struct ftrace_name *all; /* one more at the end, of address 0 */
	size_t n;
	struct {
		uint64_t addr;
		const struct ftrace_name *name;
	} cache[CACHE];
};

/* Names of the line become strings where they stand. */
static bool ftrace_names_take(char *text, const struct symline *l, struct ftrace_name *ret)
{
	*ret = (struct ftrace_name){ .addr = l->addr, .name = l->name, .module = l->module };
	text[l->name - text + (ptrdiff_t)l->name_n] = '\0';
	if (l->module)
		text[l->module - text + (ptrdiff_t)l->module_n] = '\0';
	return l->name[0] != '$' && l->type != 'A' && l->type != 'a';
}

struct ftrace_names *ftrace_names_new(const char *text, size_t n)
{
	struct ftrace_names *f = mem_alloc(sizeof(*f));
	VEC(struct ftrace_name) found = { 0 };
	struct sort_key *keys;
	struct symline l = { 0 };
	const char *p;

	f->text = mem_grow(NULL, n + 1);
	if (n)
		memcpy(f->text, text, n);
	f->text[n] = '\0';
	for (p = f->text; symline_next(&l, &p, f->text + n);) {
		struct ftrace_name one;

		if (ftrace_names_take(f->text, &l, &one))
			vec_push(&found, one);
	}
	/* Of several at one address the later in the file comes first. */
	keys = mem_alloc((found.n + 1) * sizeof(*keys));
	for (size_t i = 0; i < found.n; i++)
		keys[i] = (struct sort_key){ found.data[found.n - 1 - i].addr,
					     (uint32_t)(found.n - 1 - i) };
	sort_keys(keys, found.n);
	f->all = mem_alloc((found.n + 1) * sizeof(*f->all));
	for (size_t i = 0; i < found.n; i++)
		f->all[i] = found.data[keys[i].index];
	f->n = found.n;
	free(keys);
	vec_free(&found);
	return f;
}

void ftrace_names_free(struct ftrace_names *f)
{
	if (!f)
		return;
	free(f->text);
	free(f->all);
	free(f);
}

static const struct ftrace_name *ftrace_names_search(const struct ftrace_names *f, uint64_t addr)
{
	size_t low = 0, high = f->n;

	/* halved as bsearch() does, so that of equal addresses the same one is met */
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct ftrace_name *at = &f->all[middle];

		if (at->addr == addr || (addr > at->addr && addr < at[1].addr))
			return at;
		if (addr < at->addr)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct ftrace_name *ftrace_names_find(struct ftrace_names *f, uint64_t addr)
{
	size_t slot;

	if (!f || !addr)
		return f ? ftrace_names_search(f, addr) : NULL;
	slot = map_hash(addr) & (CACHE - 1);
	if (f->cache[slot].addr != addr) {
		f->cache[slot].addr = addr;
		f->cache[slot].name = ftrace_names_search(f, addr);
	}
	return f->cache[slot].name;
}

const struct ftrace_name *ftrace_names_all(const struct ftrace_names *f, size_t *n)
{
	*n = f->n;
	return f->all;
}
