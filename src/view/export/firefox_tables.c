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

static uint32_t export_firefox_tables_frame_of(void *ctx, uint32_t site)
{
	struct firefox *f = ctx;

	return NUMBER(site_index, sites, site, site);
}

uint32_t firefox_stack(struct firefox *f, uint32_t entry)
{
	return export_tree_stack(&f->tree, f->x, entry, export_firefox_tables_frame_of, f);
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

enum column {
	COLUMN_NULL,
	COLUMN_FALSE,
	COLUMN_ZERO,
	COLUMN_ONE,
	NODE_FRAME,
	NODE_PREFIX,
	FRAME_ADDRESS,
	FRAME_DEPTH,
	FRAME_CATEGORY,
	FRAME_FUNC,
	FRAME_SYMBOL,
	FRAME_LINE,
	FUNC_NAME,
	FUNC_RESOURCE,
	FUNC_FILE,
	SYMBOL_LIB,
	SYMBOL_ADDRESS,
	SYMBOL_NAME,
	SYMBOL_SIZE,
	RESOURCE_LIB,
	RESOURCE_NAME,
};

static void number_or_null(struct json *j, bool has, int64_t v)
{
	if (has)
		json_i64(j, NULL, v);
	else
		json_null(j, NULL);
}

static void put_frame(struct firefox *f, enum column c, uint32_t site)
{
	const struct name_site *s = site_at(f, site);
	struct json *j = &f->j;
	const char *file;
	uint32_t line = 0;

	switch (c) {
	case FRAME_ADDRESS: json_i64(j, NULL, address_of(s)); break;
	case FRAME_DEPTH: json_u64(j, NULL, s->inlined ? s->sym->nframes - 1 - s->depth : 0); break;
	case FRAME_CATEGORY: json_u64(j, NULL, category_of(f, s)); break;
	case FRAME_FUNC: json_u64(j, NULL, func_of(f, site)); break;
	case FRAME_SYMBOL:
		number_or_null(j, has_symbol(s), has_symbol(s) ? symbol_of(f, site) : 0);
		break;
	default: names_line(f->x->names, s, &file, &line); number_or_null(j, line != 0, line);
	}
}

static void put_func(struct firefox *f, enum column c, uint32_t site)
{
	uint32_t dso = site_at(f, site)->dso;
	struct json *j = &f->j;
	const char *file;
	char buf[32];

	if (c == FUNC_NAME) {
		json_u64(j, NULL, firefox_string(f, export_function(f->x, site, buf)));
	} else if (c == FUNC_RESOURCE) {
		json_i64(j, NULL, dso == NAMES_NONE ? -1 : (int64_t)resource_of(f, dso));
	} else {
		file = export_firefox_tables_file_of(f, site);
		number_or_null(j, file, file ? firefox_string(f, file) : 0);
	}
}

static void put_symbol(struct firefox *f, enum column c, const struct name_site *s)
{
	struct json *j = &f->j;

	switch (c) {
	case SYMBOL_LIB: json_u64(j, NULL, s->dso); break;
	case SYMBOL_ADDRESS: json_i64(j, NULL, start_of(s)); break;
	case SYMBOL_NAME:
		json_u64(j, NULL, firefox_string(f, symbols_text(f->x->symbols, s->sym->name)));
		break;
	default:
		number_or_null(j, s->sym->end > s->sym->start,
			       (int64_t)(s->sym->end - s->sym->start));
	}
}

static void put_cell(struct firefox *f, enum column c, size_t i)
{
	struct json *j = &f->j;

	switch (c) {
	case COLUMN_NULL: json_null(j, NULL); break;
	case COLUMN_FALSE: json_bool(j, NULL, false); break;
	case COLUMN_ZERO:
	case COLUMN_ONE: json_u64(j, NULL, c == COLUMN_ONE); break;
	case NODE_FRAME: json_u64(j, NULL, f->tree.nodes.data[i].frame); break;
	case NODE_PREFIX:
		number_or_null(j, f->tree.nodes.data[i].parent != EXPORT_ROOT,
			       f->tree.nodes.data[i].parent);
		break;
	case FRAME_ADDRESS ... FRAME_LINE: put_frame(f, c, f->sites.data[i]); break;
	case FUNC_NAME ... FUNC_FILE: put_func(f, c, f->funcs.data[i]); break;
	case SYMBOL_LIB ... SYMBOL_SIZE: put_symbol(f, c, site_at(f, f->symbols.data[i])); break;
	case RESOURCE_LIB: json_u64(j, NULL, f->resources.data[i]); break;
	case RESOURCE_NAME:
		json_u64(j, NULL, firefox_string(f, names_dso(f->x->names, f->resources.data[i])));
		break;
	}
}

static const struct {
	const char *table, *key;
	enum column column;
} columns[] = {
	{ "stackTable", "frame", NODE_FRAME },
	{ "stackTable", "prefix", NODE_PREFIX },
	{ "frameTable", "address", FRAME_ADDRESS },
	{ "frameTable", "inlineDepth", FRAME_DEPTH },
	{ "frameTable", "category", FRAME_CATEGORY },
	{ "frameTable", "subcategory", COLUMN_ZERO },
	{ "frameTable", "func", FRAME_FUNC },
	{ "frameTable", "nativeSymbol", FRAME_SYMBOL },
	{ "frameTable", "innerWindowID", COLUMN_ZERO },
	{ "frameTable", "line", FRAME_LINE },
	{ "frameTable", "column", COLUMN_NULL },
	{ "funcTable", "name", FUNC_NAME },
	{ "funcTable", "isJS", COLUMN_FALSE },
	{ "funcTable", "relevantForJS", COLUMN_FALSE },
	{ "funcTable", "resource", FUNC_RESOURCE },
	{ "funcTable", "fileName", FUNC_FILE },
	{ "funcTable", "lineNumber", COLUMN_NULL },
	{ "funcTable", "columnNumber", COLUMN_NULL },
	{ "nativeSymbols", "libIndex", SYMBOL_LIB },
	{ "nativeSymbols", "address", SYMBOL_ADDRESS },
	{ "nativeSymbols", "name", SYMBOL_NAME },
	{ "nativeSymbols", "functionSize", SYMBOL_SIZE },
	{ "resourceTable", "lib", RESOURCE_LIB },
	{ "resourceTable", "name", RESOURCE_NAME },
	{ "resourceTable", "host", COLUMN_NULL },
	{ "resourceTable", "type", COLUMN_ONE }, /* a library */
};

static void table(struct firefox *f, const char *name, size_t n)
{
	json_line(&f->j);
	json_object(&f->j, name);
	json_u64(&f->j, "length", n);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		if (strcmp(columns[c].table, name) != 0)
			continue;
		json_array(&f->j, columns[c].key);
		for (size_t i = 0; i < n; i++)
			put_cell(f, columns[c].column, i);
		json_end(&f->j);
	}
	json_end(&f->j);
}

/* Later tables grow while the earlier ones that refer to them are written. */
void firefox_tables_end(struct firefox *f)
{
	table(f, "stackTable", f->tree.nodes.n);
	table(f, "frameTable", f->sites.n);
	table(f, "funcTable", f->funcs.n);
	table(f, "nativeSymbols", f->symbols.n);
	table(f, "resourceTable", f->resources.n);
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
	arena_free(&f->copies);
	strtab_free(&f->strings);
}
