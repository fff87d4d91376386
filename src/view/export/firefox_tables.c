/* SPDX-License-Identifier: MIT */
/*
 * A thread's tables: a stack is a frame and the stack below it, a frame an
 * address and a function, inlined functions are frames of the same address.
 */
#include <string.h>

#include "base/str.h"
#include "view/export/firefox.h"

void firefox_tables_begin(struct firefox *f)
{
	export_tree_reset(&f->tree);
	f->sites.n = f->funcs.n = f->symbols.n = f->resources.n = 0;
	map_free(&f->site_index);
	map_free(&f->chain_index);
	map_free(&f->func_index);
	map_free(&f->symbol_index);
	map_free(&f->resource_index);
}

static const struct name_site *site_at(const struct firefox *f, uint32_t site)
{
	return &f->x->names->sites.data[site];
}

/* The place of key in a table whose rows are made by pushing value. */
#define NUMBER(index, table, key, value)                  \
	({                                                \
		uint64_t *at_ = map_at(&f->index, (key)); \
		if (!*at_) {                              \
			vec_push(&f->table, (value));     \
			*at_ = f->table.n;                \
		}                                         \
		(uint32_t) * at_ - 1;                     \
	})

static uint32_t export_firefox_tables_frame_of(struct firefox *f, uint32_t site)
{
	return NUMBER(site_index, sites, site, site);
}

uint32_t firefox_stack(struct firefox *f, uint32_t entry)
{
	uint32_t chain = f->x->profile->entries.data[entry].chain, at = EXPORT_ROOT, n;
	uint32_t buf[EXPORT_INLINES];
	const uint32_t *sites;
	uint64_t *known = NULL;

	if (chain != PROFILE_NO_CHAIN) {
		known = map_at(&f->chain_index, chain);
		if (*known)
			return (uint32_t)*known - 1;
	}
	n = export_stack(f->x, entry, &sites, buf);
	while (n-- > 0)
		at = export_tree_add(&f->tree, at, export_firefox_tables_frame_of(f, sites[n]));
	if (known && at != EXPORT_ROOT)
		*known = at + 1;
	return at;
}

static const char *export_firefox_tables_file_of(const struct firefox *f, uint32_t site)
{
	const char *file = NULL;
	uint32_t line;

	return names_line(f->x->names, site_at(f, site), &file, &line) ? file : NULL;
}

static uint32_t func_of(struct firefox *f, uint32_t site)
{
	const struct name_site *s = site_at(f, site);
	const char *file = export_firefox_tables_file_of(f, site);
	uint64_t key;
	char buf[32];

	key = map_hash((uint64_t)firefox_string(f, export_function(f->x, site, buf)) << 32 |
		       s->dso);
	key ^= file ? firefox_string(f, file) : UINT32_MAX;
	return NUMBER(func_index, funcs, key, site);
}

/* A symbol is what the linker knows; what was inlined into it has no other. */
static bool has_symbol(const struct name_site *s)
{
	return s->dso != NAMES_NONE && s->sym && s->sym->name != SYMBOLS_NONE;
}

static uint32_t symbol_of(struct firefox *f, uint32_t site)
{
	const struct name_site *s = site_at(f, site);

	return NUMBER(symbol_index, symbols, map_hash(s->sym->start) ^ s->dso, site);
}

static uint32_t resource_of(struct firefox *f, uint32_t dso)
{
	return NUMBER(resource_index, resources, dso, dso);
}

/* Addresses count from the start of the file; the kernel's from where it begins in memory. */
static int64_t address_of(const struct name_site *s)
{
	uint64_t a = s->dso_addr - s->caller;

	if (!s->map)
		return -1;
	if (s->mode == EVENT_MODE_KERNEL || a >> 52)
		a = s->addr - s->caller - s->map->start;
	else if (s->sym && s->sym->vaddr != UINT64_MAX && s->sym->vaddr >> 52 == 0)
		a = s->sym->vaddr;
	return (int64_t)a;
}

/* Where the function begins, in the same terms. */
static int64_t start_of(const struct name_site *s)
{
	return address_of(s) - (int64_t)(s->dso_addr - s->caller - s->sym->start);
}

static unsigned category_of(const struct firefox *f, const struct name_site *s)
{
	if (s->mode == EVENT_MODE_KERNEL)
		return 2;
	return str_starts(names_dso(f->x->names, s->dso), "[JIT]") ? 3 : s->map ? 1 : 0;
}

/* --- columns --- */

typedef void put_fn(struct firefox *f, uint32_t row);

static void column(struct firefox *f, const char *key, size_t n, put_fn *put)
{
	json_array(&f->j, key);
	for (size_t i = 0; i < n; i++)
		put(f, (uint32_t)i);
	json_end(&f->j);
}

static void number_or_null(struct firefox *f, bool has, int64_t v)
{
	if (has)
		json_i64(&f->j, NULL, v);
	else
		json_null(&f->j, NULL);
}

static void put_null(struct firefox *f, uint32_t row)
{
	(void)row;
	json_null(&f->j, NULL);
}

static void put_false(struct firefox *f, uint32_t row)
{
	(void)row;
	json_bool(&f->j, NULL, false);
}

static void put_zero(struct firefox *f, uint32_t row)
{
	(void)row;
	json_u64(&f->j, NULL, 0);
}

static void node_frame(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, f->tree.nodes.data[i].frame);
}

static void node_prefix(struct firefox *f, uint32_t i)
{
	uint32_t parent = f->tree.nodes.data[i].parent;

	number_or_null(f, parent != EXPORT_ROOT, parent);
}

static void frame_address(struct firefox *f, uint32_t i)
{
	json_i64(&f->j, NULL, address_of(site_at(f, f->sites.data[i])));
}

static void frame_depth(struct firefox *f, uint32_t i)
{
	const struct name_site *s = site_at(f, f->sites.data[i]);

	json_u64(&f->j, NULL, s->inlined ? s->sym->nframes - 1 - s->depth : 0);
}

static void frame_category(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, category_of(f, site_at(f, f->sites.data[i])));
}

static void frame_func(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, func_of(f, f->sites.data[i]));
}

static void frame_symbol(struct firefox *f, uint32_t i)
{
	bool has = has_symbol(site_at(f, f->sites.data[i]));

	number_or_null(f, has, has ? symbol_of(f, f->sites.data[i]) : 0);
}

static void frame_line(struct firefox *f, uint32_t i)
{
	const char *file;
	uint32_t line = 0;

	names_line(f->x->names, site_at(f, f->sites.data[i]), &file, &line);
	number_or_null(f, line != 0, line);
}

static void func_name(struct firefox *f, uint32_t i)
{
	char buf[32];

	json_u64(&f->j, NULL, firefox_string(f, export_function(f->x, f->funcs.data[i], buf)));
}

static void func_resource(struct firefox *f, uint32_t i)
{
	uint32_t dso = site_at(f, f->funcs.data[i])->dso;

	json_i64(&f->j, NULL, dso == NAMES_NONE ? -1 : (int64_t)resource_of(f, dso));
}

static void func_file(struct firefox *f, uint32_t i)
{
	const char *file = export_firefox_tables_file_of(f, f->funcs.data[i]);

	number_or_null(f, file, file ? firefox_string(f, file) : 0);
}

static void symbol_lib(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, site_at(f, f->symbols.data[i])->dso);
}

static void symbol_address(struct firefox *f, uint32_t i)
{
	json_i64(&f->j, NULL, start_of(site_at(f, f->symbols.data[i])));
}

static void symbol_name(struct firefox *f, uint32_t i)
{
	uint32_t name = site_at(f, f->symbols.data[i])->sym->name;

	json_u64(&f->j, NULL, firefox_string(f, symbols_text(f->x->symbols, name)));
}

static void symbol_size(struct firefox *f, uint32_t i)
{
	const struct sym_result *r = site_at(f, f->symbols.data[i])->sym;

	number_or_null(f, r->end > r->start, (int64_t)(r->end - r->start));
}

static void resource_lib(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, f->resources.data[i]);
}

static void resource_name(struct firefox *f, uint32_t i)
{
	json_u64(&f->j, NULL, firefox_string(f, names_dso(f->x->names, f->resources.data[i])));
}

static void resource_type(struct firefox *f, uint32_t i)
{
	(void)i;
	json_u64(&f->j, NULL, 1); /* a library */
}

struct column {
	const char *key;
	put_fn *put;
};

static const struct column stack_columns[] = {
	{ "frame", node_frame },
	{ "prefix", node_prefix },
	{ NULL, NULL },
};

static const struct column frame_columns[] = {
	{ "address", frame_address },	{ "inlineDepth", frame_depth },
	{ "category", frame_category }, { "subcategory", put_zero },
	{ "func", frame_func },		{ "nativeSymbol", frame_symbol },
	{ "innerWindowID", put_zero },	{ "line", frame_line },
	{ "column", put_null },		{ NULL, NULL },
};

static const struct column func_columns[] = {
	{ "name", func_name },		{ "isJS", put_false },
	{ "relevantForJS", put_false }, { "resource", func_resource },
	{ "fileName", func_file },	{ "lineNumber", put_null },
	{ "columnNumber", put_null },	{ NULL, NULL },
};

static const struct column symbol_columns[] = {
	{ "libIndex", symbol_lib },
	{ "address", symbol_address },
	{ "name", symbol_name },
	{ "functionSize", symbol_size },
	{ NULL, NULL },
};

static const struct column resource_columns[] = {
	{ "lib", resource_lib }, { "name", resource_name },
	{ "host", put_null },	 { "type", resource_type },
	{ NULL, NULL },
};

static void table(struct firefox *f, const char *name, size_t n, const struct column *columns)
{
	json_line(&f->j);
	json_object(&f->j, name);
	json_u64(&f->j, "length", n);
	for (; columns->key; columns++)
		column(f, columns->key, n, columns->put);
	json_end(&f->j);
}

/* Later tables grow while the earlier ones that refer to them are written. */
void firefox_tables_end(struct firefox *f)
{
	table(f, "stackTable", f->tree.nodes.n, stack_columns);
	table(f, "frameTable", f->sites.n, frame_columns);
	table(f, "funcTable", f->funcs.n, func_columns);
	table(f, "nativeSymbols", f->symbols.n, symbol_columns);
	table(f, "resourceTable", f->resources.n, resource_columns);
}

void firefox_free(struct firefox *f)
{
	firefox_tables_begin(f);
	export_tree_free(&f->tree);
	vec_free(&f->sites);
	vec_free(&f->funcs);
	vec_free(&f->symbols);
	vec_free(&f->resources);
	vec_free(&f->samples);
	vec_free(&f->markers);
	slices_free(f->calls);
	slice_rule_free(&f->call_rule);
	arena_free(&f->copies);
	strtab_free(&f->strings);
}
