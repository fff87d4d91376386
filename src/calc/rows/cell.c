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

uint32_t cell_line(struct cells *c, uint32_t site, bool file_only)
{
	const struct names *n = c->names;
	const struct name_site *s = &n->sites.data[site];
	const char *file, *name;
	AUTO_STRBUF b = { 0 };
	uint32_t line;

	if (names_code_line(n, s, &file, &line)) {
		strbuf_puts(&b, c->opts.full_lines ? file : str_base_name(file));
		if (!file_only)
			strbuf_printf(&b, ":%u", line);
	} else if (!file_only) {
		name = names_function(n, s->frame);
		if (!s->map)
			strbuf_puts(&b, "??:0");
		else if (name)
			strbuf_printf(&b, "%s+%" PRIu64, name,
				      s->dso_addr - n->frames.data[s->frame].addr);
		else
			strbuf_printf(&b, "%s[%" PRIx64 "]", names_dso(n, s->dso), s->dso_addr);
	}
	return strtab_add(&c->texts, strbuf_str(&b));
}

static uint64_t site_value(struct cells *c, enum key key, uint32_t site)
{
	const struct names *n = c->names;
	const struct name_site *s = &n->sites.data[site];

	switch (key) {
	case KEY_DSO:
	case KEY_DSO_FROM:
	case KEY_DSO_TO:
	case KEY_DSO_DADDR: return c->dso_text[s->dso + 1];
	case KEY_SYM:
	case KEY_SYM_FROM:
	case KEY_SYM_TO:
	case KEY_IPC: return c->symbol_of[s->frame];
	case KEY_SRCLINE:
	case KEY_SRCLINE_FROM:
	case KEY_SRCLINE_TO: return cell_line(c, site, false);
	case KEY_SRCFILE: return cell_line(c, site, true);
	case KEY_SYM_SIZE: return n->frames.data[s->frame].size;
	case KEY_DSO_SIZE: return s->map ? s->map->end - s->map->start : 0;
	default: return s->addr;
	}
}

/* The site that stands for all with the same address (KEY_DCACHELINE: cache line). */
static uint64_t cell_place_of(struct cells *c, enum key key, uint32_t site)
{
	const struct name_site *s = &c->names->sites.data[site];
	uint64_t *at;

	if (key == KEY_DCACHELINE)
		at = map_at(&c->place_of,
			    map_hash(s->dso_addr / CELL_CACHE_LINE) ^ ((uint64_t)s->dso + 2));
	else
		at = map_at(&c->place_of, map_hash(s->addr));
	if (!*at)
		*at = site + 1ull;
	return *at - 1;
}

/* Where a branch came from and went to, what an access read or wrote. */
static uint64_t place_value(struct cells *c, enum key key, size_t entry)
{
	const struct names *n = c->names;
	uint32_t other = n->n_more ? n->more_sites[entry * n->n_more] : n->entry_site[entry];

	switch (key) {
	case KEY_DSO_FROM:
	case KEY_SYM_FROM:
	case KEY_SRCLINE_FROM:
	case KEY_DSO_DADDR: return site_value(c, key, other);
	case KEY_DSO_TO:
	case KEY_SYM_TO:
	case KEY_SRCLINE_TO: return site_value(c, key, n->entry_site[entry]);
	case KEY_ADDR_FROM:
	case KEY_SYM_DADDR:
	case KEY_DCACHELINE: return cell_place_of(c, key, other);
	default: return cell_place_of(c, key, n->entry_site[entry]);
	}
}

static uint32_t cgroup_text(struct cells *c, const struct profile_extra *x)
{
	const uint64_t *w = &x->data[c->opts.plan->word[KEY_CGROUP_ID]];
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "/0x%" PRIx64, w[0], w[1]);
	return strtab_add(&c->texts, text);
}

/*
 * A thread whose name came late had it all the time, as perf's reports have it; what shows
 * samples as they come (script, folded stacks) cannot know it.
 */
static uint32_t comm_value(const struct cells *c, const struct profile_entry *e)
{
	uint32_t later;

	if (!(e->comm & TASK_NAMELESS) || e->comm == TASK_NAMELESS || e->comm == STRTAB_NONE)
		return e->comm;
	later = tasks_later_comm(c->names->profile->trace->tasks, (int)(e->comm << 1) >> 1,
				 e->first);
	return later == STRTAB_NONE ? e->comm : later;
}

static uint64_t entry_value(struct cells *c, unsigned column, size_t entry)
{
	const struct column *col = &c->opts.columns->col[column];
	const struct profile_entry *e = &c->names->profile->entries.data[entry];
	const struct profile_extra *x =
		e->extra == PROFILE_NO_EXTRA ? NULL : &c->names->profile->extras.data[e->extra];

	switch (col->key) {
	case KEY_COMM: return comm_value(c, e);
	case KEY_PID: return (uint32_t)e->tid;
	case KEY_TGID: return (uint32_t)e->pid;
	case KEY_CPU: return e->cpu;
	case KEY_SOCKET:
		return c->opts.env.socket ? (uint32_t)c->opts.env.socket(c->opts.env.ctx, e->cpu)
					  : UINT32_MAX;
	case KEY_TIME: return e->time;
	case KEY_PARENT: return e->chain == PROFILE_NO_CHAIN ? 0 : c->parent_of[e->chain];
	case KEY_TRACE:
	case KEY_FIELD:
		return x && column_applies(col, e->type)
			       ? c->extras.column[column].by_extra[e->extra]
			       : UINT32_MAX;
	case KEY_CGROUP_ID: return x ? cgroup_text(c, x) : 0;
	case KEY_DSO_FROM:
	case KEY_SYM_FROM:
	case KEY_ADDR_FROM:
	case KEY_SRCLINE_FROM:
	case KEY_DSO_TO:
	case KEY_SYM_TO:
	case KEY_ADDR_TO:
	case KEY_SRCLINE_TO:
	case KEY_SYM_DADDR:
	case KEY_SYM_IADDR:
	case KEY_DSO_DADDR:
	case KEY_DCACHELINE: return place_value(c, col->key, entry);
	default: return x ? extra_word(c->opts.plan, x, col->key) : 0;
	}
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
						 ? site_value(c, cols->col[i].key, s)
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
				tuple[cols->col[i].value] = site_value(c, cols->col[i].key, s);
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
				tuple[cols->col[i].value] = entry_value(c, i, e);
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
	*c = (struct cells){ .names = n, .opts = *o };
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

	for (unsigned i = 0; i < c->n; i++)
		switch (c->col[i].key) {
		case KEY_COMM: by |= PROFILE_BY_COMM; break;
		case KEY_PID: by |= PROFILE_BY_TID; break;
		case KEY_TGID: by |= PROFILE_BY_PID; break;
		case KEY_SOCKET:
		case KEY_CPU: by |= PROFILE_BY_CPU; break;
		case KEY_TIME: by |= PROFILE_BY_TIME; break;
		case KEY_PARENT: by |= PROFILE_BY_CHAIN; break;
		case KEY_OVERHEAD_SYS: /* entries have a mode then */
		case KEY_OVERHEAD_US:
		case KEY_OVERHEAD_GUEST_SYS:
		case KEY_OVERHEAD_GUEST_US: by |= PROFILE_BY_CODE; break;
		default:
			if (key_infos[c->col[i].key].kind >= KEY_OF_SITE)
				by |= PROFILE_BY_CODE;
		}
	return by;
}
