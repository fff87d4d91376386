/* SPDX-License-Identifier: MIT */
/* Inside the writer of Firefox Profiler files: what its parts share. Not for others. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "calc/slices/slices.h"
#include "view/export/export.h"
#include "view/export/tree.h"

/* A sample or a marker of a thread. */
struct firefox_row {
	int32_t pid, tid;
	uint32_t type;
	uint32_t entry;	    /* UINT32_MAX: none */
	uint64_t time, end; /* end: of a marker that lasts, else 0 */
	const void *raw;    /* of markers: the record */
	uint32_t raw_size;
	bool has_ret;
	int64_t ret;
};

struct firefox {
	struct export_job *x;
	struct json j;
	struct strtab strings;
	VEC(struct firefox_row) samples;
	VEC(struct firefox_row) markers;
	struct arena copies;  /* records that the source would not keep */
	struct slices *calls; /* note: the marker */

	/* of the thread that is being written */
	struct export_tree tree;
	VEC(uint32_t) sites;   /* by frame: the site */
	struct map site_index; /* site to frame + 1 */
	VEC(uint32_t) funcs;   /* by function: a site of it */
	struct map func_index;
	VEC(uint32_t) symbols; /* by native symbol: a site of it */
	struct map symbol_index;
	VEC(uint32_t) resources; /* by resource: the dso */
	struct map resource_index;
};

/* A column of rows [0, n): what each says, as r. */
#define FIREFOX_COLUMN(j, name, rows, n, ...)                      \
	do {                                                       \
		json_array(j, name);                               \
		for (size_t i_ = 0; i_ < (n); i_++) {              \
			const struct firefox_row *r = &(rows)[i_]; \
			__VA_ARGS__;                               \
		}                                                  \
		json_end(j);                                       \
	} while (0)

/* --- view/export/firefox.c --- */
uint32_t firefox_string(struct firefox *f, const char *s);
void firefox_time(struct firefox *f, const char *key, uint64_t time);

/* --- view/export/firefox_tables.c: stacks, frames, functions, symbols, resources of a thread ---
 */
void firefox_tables_begin(struct firefox *f);
/* An entry's stack; EXPORT_ROOT when it has none. */
uint32_t firefox_stack(struct firefox *f, uint32_t entry);
void firefox_tables_end(struct firefox *f); /* writes them */
void firefox_free(struct firefox *f);

/* --- view/export/firefox_markers.c --- */
int firefox_collect_markers(struct firefox *f, struct err *e);
void firefox_schemas(struct firefox *f);
void firefox_markers(struct firefox *f, const struct firefox_row *rows, size_t n);
