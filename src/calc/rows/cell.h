/* SPDX-License-Identifier: MIT */
/*
 * What every entry and every site of a named profile shows in each column.
 *
 * Entries that agree in all columns of samples are one class, sites that agree in
 * all columns of code another; a row of a report is a pair of classes. So rows
 * are found by one small number, and texts are made only for what is shown.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "calc/profile/extra.h"
#include "calc/profile/names.h"
#include "calc/rows/key.h"

/* What only the source knows; each may be NULL. */
struct cell_env {
	const char *(*cgroup)(void *ctx, uint64_t id); /* NULL when not known */
	int (*socket)(void *ctx, uint32_t cpu);	       /* -1 when not known */
	void *ctx;
};

struct cells_opts {
	const struct columns *columns;
	const struct extra_plan *plan; /* NULL: no column needs one */
	struct cell_env env;
	bool caller;	 /* chains are looked at from the outside in */
	bool long_names; /* whole paths of files */
	bool full_lines; /* and of source files */
	bool ns;	 /* times with nine digits */
	/* KEY_PARENT: the first function of a chain for which this is true. */
	bool (*parent)(void *ctx, const char *function);
	void *ctx;
};

struct cell_values {
	uint64_t *data;
	size_t n, cap;
};

/* By class: the place among all classes; equal ones share one, and n is above all. */
struct cell_ranks {
	uint32_t *of, n;
};

struct cells {
	const struct names *names;
	struct cells_opts opts;
	uint32_t *entry_class; /* by profile entry */
	uint32_t *site_class;  /* by site */
	/* by class and column: an id or number that cell_text() understands */
	struct cell_values entry_values, site_values;
	uint32_t n_entry_classes, n_site_classes;
	struct cell_ranks ranks[KEY_COLUMNS]; /* by column */
	struct cell_ranks names_ranks; /* by class of sites: as output has symbols, by name; all
					  without one are equal. Only with KEY_SYM */
	struct extras extras;
	struct strtab texts;
	/* inner workings */
	bool has_dsos;	     /* a column of files stands beside the symbols */
	uint32_t *dso_text;  /* by dso + 1 */
	uint32_t *symbol_of; /* by frame: the first one that is the same symbol */
	uint32_t *parent_of; /* by chain: text + 1 */
	struct map place_of; /* an address or cache line to the site + 1 that shows it */
};

/* What a cell shows is asked for: its value, and room for a text. */
struct cell_ask {
	const struct cells *c;
	const struct column *col;
	uint64_t v;
	char *buf;
	size_t size;
};
/* What the cells of a column are. */
struct key_type {
	/* What a cell holds, from its site or its entry; neither: the word that was kept. */
	uint64_t (*of_site)(struct cells *c, uint32_t site);
	uint64_t (*of_entry)(struct cells *c, const struct column *col,
			     const struct profile_entry *e);
	/* Its text, into buf or elsewhere, or appended to b; neither: a number. */
	const char *(*text)(const struct cell_ask *a);
	void (*put)(struct strbuf *b, uint64_t v);
	/* Below 0 when a stands before b; NULL: as numbers do. */
	int (*order)(const struct cells *c, uint64_t a, uint64_t b);
	/*
	 * A number that is smaller for what stands before, or the same where `order` must say; for
	 * columns with many values.
	 */
	uint64_t (*guess)(const struct cells *c, uint64_t v);
};
/* `order`, turned around where the largest comes first. */
int key_compare(const struct cells *c, enum key key, uint64_t a, uint64_t b);

/* PROFILE_BY_* that the columns need. */
unsigned cells_needs(const struct columns *c);

void cells_make(struct cells *c, const struct names *n, const struct cells_opts *o);
void cells_free(struct cells *c);

/* A row's classes. */
struct cell_pair {
	uint32_t entry, site;
};
static inline uint64_t cell_value(const struct cells *c, const struct column *col,
				  struct cell_pair at)
{
	size_t n = c->opts.columns->n_values;

	return key_infos[col->key].kind == KEY_OF_SITE
		       ? c->site_values.data[at.site * n + (size_t)col->value]
		       : c->entry_values.data[at.entry * n + (size_t)col->value];
}
#define CELL_ADDRESS 23 /* room for "[.] 0x" and sixteen digits */
/* What the column shows, into buf or elsewhere; the view adds width. count: samples of the row. */
const char *cell_text(const struct cells *c, const struct column *col, struct cell_pair at,
		      uint64_t count, char *buf, size_t size);
/* How long that is. */
size_t cell_length(const struct cells *c, const struct column *col, struct cell_pair at,
		   uint64_t count);
/*
 * Rows are spread over more memory than caches hold: what a row's symbol is said by can be fetched
 * some rows before; where it is said first, then it itself. symbol: the column.
 */
static inline void cell_fetch(const struct cells *c, struct cell_pair at)
{
	mem_fetch(&c->site_values.data[at.site * c->opts.columns->n_values]);
}
static inline void cell_fetch_symbol(const struct cells *c, const struct column *symbol,
				     struct cell_pair at)
{
	mem_fetch(&c->names->frames.data[cell_value(c, symbol, at)]);
}
/* Which of all cells of the column it is when they are sorted; equal only when their values are. */
static inline uint32_t cell_rank(const struct cells *c, const struct column *col,
				 struct cell_pair at)
{
	const struct cell_ranks *r = &c->ranks[col - c->opts.columns->col];

	return r->of[key_infos[col->key].kind == KEY_OF_SITE ? at.site : at.entry];
}
/* Below 0 when a stands before b. */
static inline int cell_compare(const struct cells *c, const struct column *col, struct cell_pair a,
			       struct cell_pair b)
{
	uint32_t x = cell_rank(c, col, a), y = cell_rank(c, col, b);

	return x < y ? -1 : x > y;
}

/* --- cell_rank.c --- */
void cells_rank(struct cells *c);

/* The letter for where a site's name came from: k the kernel, j a JIT map, d its file, ! nowhere.
 */
char cell_origin(const struct name_site *s);
/* The letter behind [ ]: where the code runs. */
char cell_level(uint8_t mode);
