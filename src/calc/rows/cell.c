/* SPDX-License-Identifier: MIT */
#include "calc/rows/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/str.h"

/* Tuples of values, interned. */
struct classes {
	struct cell_values *values;
	size_t width;
	struct index index;
	size_t n;
};

static uint64_t tuple_hash(const uint64_t *v, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = map_hash(h ^ v[i]);
	return h;
}

static uint32_t class_of(struct classes *k, const uint64_t *tuple)
{
	uint64_t hash = tuple_hash(tuple, k->width);
	size_t at = index_first(&k->index, hash), bytes = k->width * sizeof(*tuple);
	uint32_t n;

	index_each (&k->index, hash, at, n)
		if (!k->width || memcmp(k->values->data + (n - 1) * k->width, tuple, bytes) == 0)
			return n - 1;
	for (size_t i = 0; i < k->width; i++)
		vec_push(k->values, tuple[i]);
	index_set(&k->index, at, hash, ++k->n);
	return (uint32_t)k->n - 1;
}

static bool cell_by_name(const struct name_frame *f)
{
	return f->name == SYMBOLS_NONE || f->inlined;
}

static bool same_symbol(const struct cells *c, const struct name_frame *a,
			const struct name_frame *b)
{
	return a->addr == b->addr && c->dso_text[a->dso + 1] == c->dso_text[b->dso + 1] &&
	       cell_by_name(a) == cell_by_name(b) && (!cell_by_name(a) || a->name == b->name);
}

/* Frames of files with the same name that start at the same place are one symbol. */
static void find_symbols(struct cells *c)
{
	const struct names *n = c->names;
	struct index index = { 0 };

	c->symbol_of = mem_table((n->frames.n + 1) * sizeof(*c->symbol_of), true);
	for (uint32_t i = 0; i < n->frames.n; i++) {
		const struct name_frame *f = &n->frames.data[i];
		uint64_t hash = map_hash(f->addr + ((uint64_t)c->dso_text[f->dso + 1] << 40));
		size_t at = index_first(&index, hash);
		uint32_t k;

		index_each (&index, hash, at, k)
			if (same_symbol(c, &n->frames.data[k - 1], f))
				break;
		if (!k) {
			k = i + 1;
			index_set(&index, at, hash, k);
		}
		c->symbol_of[i] = k - 1;
	}
	index_free(&index);
}

static void find_parents(struct cells *c)
{
	const struct names *n = c->names;
	size_t n_chains = n->profile->chains.n;
	AUTO_FREE uint32_t *hit = mem_alloc((n->frames.n + 1) * sizeof(*hit));

	c->parent_of = mem_alloc((n_chains + 1) * sizeof(*c->parent_of));
	for (uint32_t i = 0; i < n->frames.n; i++) {
		const char *name = names_function(n, i);

		if (name && c->opts.parent(c->opts.ctx, name))
			hit[i] = strtab_add(&c->texts, name) + 1;
	}
	for (size_t i = 0; i < n_chains; i++) {
		const struct name_chain *k = &n->chains[i];

		for (uint32_t f = 0; f < k->n && !c->parent_of[i]; f++) {
			uint32_t at = c->opts.caller ? k->n - 1 - f : f;

			c->parent_of[i] = hit[n->sites.data[n->chain_sites[k->first + at]].frame];
		}
	}
}

static uint64_t entry_value(struct cells *c, const struct column *col, size_t entry)
{
	const struct names *n = c->names;
	const struct profile_entry *e = &n->profile->entries.data[entry];
	const struct key_info *k = &key_infos[col->key];

	if (k->type && k->type->of_site) /* where a branch was, what an access read or wrote */
		return k->type->of_site(c, k->other && n->n_more ? n->more_sites[entry * n->n_more]
								 : n->entry_site[entry]);
	if (k->type && k->type->of_entry)
		return k->type->of_entry(c, col, e);
	return e->extra == PROFILE_NO_EXTRA
		       ? 0
		       : extra_word(c->opts.plan, &n->profile->extras.data[e->extra], col->key);
}

/* Are symbols all that tells the classes of sites apart? A symbol is of one file. */
static bool only_symbols(const struct columns *cols)
{
	for (unsigned i = 0; i < cols->n; i++)
		if (key_infos[cols->col[i].key].kind == KEY_OF_SITE &&
		    cols->col[i].key != KEY_SYM && cols->col[i].key != KEY_DSO)
			return false;
	return columns_have(cols, KEY_SYM);
}

static void classify_symbols(struct cells *c)
{
	const struct names *n = c->names;
	const struct columns *cols = c->opts.columns;
	AUTO_FREE uint32_t *class = mem_table((n->frames.n + 1) * sizeof(*class), true); /* + 1 */

	vec_reserve(&c->site_values, n->frames.n * cols->n_values + 1);
	for (uint32_t s = 0; s < n->sites.n; s++) {
		uint32_t *at = &class[c->symbol_of[n->sites.data[s].frame]];

		c->site_class[s] = *at - 1;
		if (*at)
			continue;
		c->site_class[s] = c->n_site_classes;
		*at = ++c->n_site_classes;
		for (unsigned i = 0; i < cols->n; i++)
			if (key_infos[cols->col[i].key].kind > KEY_SUM)
				vec_push(&c->site_values,
					 key_infos[cols->col[i].key].kind == KEY_OF_SITE
						 ? key_infos[cols->col[i].key].type->of_site(c, s)
						 : 0);
	}
}

static void classify_sites(struct cells *c)
{
	const struct columns *cols = c->opts.columns;
	struct classes k = { .values = &c->site_values, .width = cols->n_values };
	uint64_t tuple[KEY_COLUMNS] = { 0 };

	c->site_class = mem_table((c->names->sites.n + 1) * sizeof(*c->site_class), false);
	if (only_symbols(cols)) {
		classify_symbols(c);
		return;
	}
	for (uint32_t s = 0; s < c->names->sites.n; s++) {
		for (unsigned i = 0; i < cols->n; i++)
			if (key_infos[cols->col[i].key].kind == KEY_OF_SITE)
				tuple[cols->col[i].value] =
					key_infos[cols->col[i].key].type->of_site(c, s);
		c->site_class[s] = class_of(&k, tuple);
	}
	c->n_site_classes = (uint32_t)k.n;
	index_free(&k.index);
}

static void classify_entries(struct cells *c)
{
	const struct columns *cols = c->opts.columns;
	struct classes k = { .values = &c->entry_values, .width = cols->n_values };
	size_t n = c->names->profile->entries.n, bytes = cols->n_values * sizeof(uint64_t);
	uint64_t tuple[KEY_COLUMNS] = { 0 }, last[KEY_COLUMNS];

	c->entry_class = mem_table((n + 1) * sizeof(*c->entry_class), false);
	for (size_t e = 0; e < n; e++) {
		for (unsigned i = 0; i < cols->n; i++)
			if (key_infos[cols->col[i].key].kind > KEY_SUM &&
			    key_infos[cols->col[i].key].kind != KEY_OF_SITE)
				tuple[cols->col[i].value] = entry_value(c, &cols->col[i], e);
		if (e && memcmp(tuple, last, bytes) == 0) { /* often they are of one thread */
			c->entry_class[e] = c->entry_class[e - 1];
			continue;
		}
		c->entry_class[e] = class_of(&k, tuple);
		memcpy(last, tuple, bytes);
	}
	c->n_entry_classes = (uint32_t)k.n;
	index_free(&k.index);
}

void cells_make(struct cells *c, const struct names *n, const struct cells_opts *o)
{
	*c = (struct cells){ .names = n,
			     .opts = *o,
			     .has_dsos = columns_have(o->columns, KEY_DSO) };
	c->dso_text = mem_alloc((n->dsos.n + 1) * sizeof(*c->dso_text));
	c->dso_text[0] = strtab_add(&c->texts, "[unknown]");
	for (uint32_t i = 0; i < n->dsos.n; i++)
		c->dso_text[i + 1] = strtab_add(&c->texts, o->long_names ? n->dsos.data[i].path
									 : n->dsos.data[i].name);
	find_symbols(c);
	if (columns_have(o->columns, KEY_PARENT) && o->parent)
		find_parents(c);
	else
		c->parent_of = mem_alloc((n->profile->chains.n + 1) * sizeof(*c->parent_of));
	if (o->plan && o->plan->any)
		extras_make(&c->extras, o->plan, n->profile);
	classify_sites(c);
	classify_entries(c);
	cells_rank(c);
}

void cells_free(struct cells *c)
{
	free(c->entry_class);
	free(c->site_class);
	vec_free(&c->entry_values);
	vec_free(&c->site_values);
	for (unsigned i = 0; i < KEY_COLUMNS; i++)
		free(c->ranks[i].of);
	free(c->names_ranks.of);
	extras_free(&c->extras);
	strtab_free(&c->texts);
	free(c->dso_text);
	free(c->symbol_of);
	free(c->parent_of);
	map_free(&c->place_of);
}

unsigned cells_needs(const struct columns *c)
{
	unsigned by = 0;

	for (unsigned i = 0; i < c->n; i++) {
		const struct key_info *k = &key_infos[c->col[i].key];

		by |= k->by | (k->kind >= KEY_OF_SITE ? PROFILE_BY_CODE : 0);
	}
	return by;
}

char cell_level(uint8_t mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return 'k';
	case EVENT_MODE_USER: return '.';
	case EVENT_MODE_GUEST_KERNEL: return 'g';
	case EVENT_MODE_GUEST_USER: return 'u';
	default: return 'H';
	}
}

char cell_origin(const struct name_site *s)
{
	if (!s->map)
		return '!';
	if (s->mode == EVENT_MODE_KERNEL)
		return 'k';
	return s->addr == s->dso_addr ? 'j' : 'd';
}

const char *cell_text(const struct cells *c, const struct column *col, struct cell_pair at,
		      uint64_t count, char *buf, size_t size)
{
	const struct key_info *k = &key_infos[col->key];
	AUTO_STRBUF b = { 0 };
	uint64_t v;

	if (k->kind == KEY_SUM)
		return "";
	v = cell_value(c, col, at);
	if (k->type && k->type->text)
		return k->type->text(&(struct cell_ask){ c, col, v, buf, size });
	if (k->type && k->type->put)
		k->type->put(&b, v);
	else
		strbuf_printf(&b, "%" PRIu64, k->times ? v * count : v);
	snprintf(buf, size, "%s", strbuf_str(&b));
	return buf;
}

size_t cell_length(const struct cells *c, const struct column *col, struct cell_pair at,
		   uint64_t count)
{
	const struct name_frame *f;
	char buf[4096];

	if (col->key == KEY_SYM) {
		f = &c->names->frames.data[cell_value(c, col, at)];
		if (f->name == SYMBOLS_NONE)
			return f->addr ? CELL_ADDRESS - 1 : CELL_ADDRESS - 3;
	}
	return strlen(cell_text(c, col, at, count, buf, sizeof(buf)));
}
