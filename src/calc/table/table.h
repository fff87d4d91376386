/* SPDX-License-Identifier: MIT */
/*
 * Tables: what an analysis answers, whoever shows it.
 *
 * A table has columns with a name for programs and a title for people, a kind that says what the
 * numbers are, and rows. It knows nothing of widths, colours or files: one printer each
 * (view/table/) makes text, CSV, JSON and HTML of any table.
 *
 * Numbers are kept exact, in the smallest unit: nanoseconds, bytes. How a person wants to read
 * them (milliseconds with three decimals) is the column's `unit` and `decimals`; programs get
 * them as they are kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum table_kind {
	TABLE_TEXT,
	TABLE_COUNT,	/* how many: u */
	TABLE_NUMBER,	/* anything else that is whole: i */
	TABLE_REAL,	/* f */
	TABLE_TIME,	/* a moment, ns of the trace's clock: u */
	TABLE_DURATION, /* ns: u */
	TABLE_BYTES,	/* u */
	TABLE_SHARE,	/* of 1: f */
	TABLE_ADDRESS,	/* u */
	TABLE_BOOL,	/* u: 0 or 1 */
	TABLE_STACK,	/* frames, innermost first */
	TABLE_STACKS,	/* several, with how often each came */
	TABLE_HIST,	/* how many of each size */
};

#define TABLE_COLUMNS 32 /* at most */

/* For `unit`. */
#define TABLE_MS 1000000
#define TABLE_US 1000
#define TABLE_KIB 1024

struct table_column {
	const char *name;  /* for programs, with its unit: "max_ns"; of letters, digits and _ */
	const char *title; /* for people */
	enum table_kind kind;
	/*
	 * Of durations and bytes: what people read them in, so that a column can be compared at a
	 * glance. 0: every cell has a unit of its own.
	 */
	uint32_t unit;
	uint8_t decimals;
	bool sum;      /* the last line adds it up */
	uint8_t width; /* in text it is at least so wide, so that numbers that change stay */
};

struct table_stack {
	size_t n;
	const char *const *frame; /* names, innermost first */
	uint64_t count, total;	  /* of those in TABLE_STACKS; total: ns */
};
struct table_stacks {
	size_t n;
	struct table_stack *stack;
	uint64_t count; /* of all of them, and of what has no stack */
	bool timed;	/* total counts */
};

struct table_bucket {
	int64_t from, to; /* from <= value < to; INT64_MIN and INT64_MAX: no limit */
	uint64_t count;
};
struct table_hist {
	size_t n;
	const struct table_bucket *bucket;
	enum table_kind kind; /* what the limits are */
};

struct table_cell {
	bool known; /* false: there is no value, which is not the same as 0 */
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *text;
		const struct table_stack *stack;
		const struct table_stacks *stacks;
		const struct table_hist *hist;
	};
};

struct table {
	struct arena arena;   /* texts, stacks, histograms */
	struct strtab frames; /* their names, each once */
	const char *name;     /* for programs: "kmem_tasks" */
	const char *title;    /* above it; NULL: nothing */
	const struct table_column *column;
	size_t n_columns;
	/*
	 * So many of the first columns are the same for rows that belong together (a process, and
	 * its system calls): text shows them once, as a heading. Such rows must follow each other.
	 */
	size_t n_heading;
	VEC(struct table_cell) cells; /* n_columns a row */
	size_t n_rows;
	size_t filled;			      /* cells of the last row */
	size_t left_out;		      /* rows that table_cut() took away */
	struct table_cell sum[TABLE_COLUMNS]; /* of all rows, those that were cut too */
	struct vec_strs notes;		      /* a line each: what was lost, what is missing */
};

/* What an analysis answers: one table or several. */
struct tables {
	struct table **data;
	size_t n, cap;
};
void tables_free(struct tables *t);

/* columns must outlive the table. It belongs to `to`. */
struct table *table_new(struct tables *to, const char *name, const struct table_column *columns,
			size_t n);

/*
 * A row is begun, and its cells are filled from the left; those that are not filled are not
 * known. Text is copied.
 */
void table_row(struct table *t);
void table_text(struct table *t, const char *s); /* NULL: not known */
void table_u64(struct table *t, uint64_t v);
void table_i64(struct table *t, int64_t v);
void table_real(struct table *t, double v);
void table_stack(struct table *t, const char *const *frames, size_t n); /* names are copied */
/* n stacks, to be filled: frames from the table's arena, with names of table_frame(). */
struct table_stack *table_stacks(struct table *t, uint64_t count, size_t n, bool timed);
const char *table_frame(struct table *t, const char *name); /* a copy that lives as long as t */
void table_hist(struct table *t, enum table_kind kind, const struct table_bucket *b, size_t n);
void table_unknown(struct table *t);
__attribute__((format(printf, 2, 3))) void table_note(struct table *t, const char *fmt, ...);

static inline const struct table_cell *table_at(const struct table *t, size_t row, size_t column)
{
	return &t->cells.data[row * t->n_columns + column];
}
/* -1 when there is none of that name. Case, and _ for a blank or -, do not matter. */
int table_find(const struct table *t, const char *name);

/*
 * By columns, the most important first: "max_ns,comm". Numbers begin with the largest, texts with
 * the first; "-max_ns" turns it around. Rows that are equal keep their order, and rows stay below
 * their heading. Unknown values come last.
 */
int table_sort(struct table *t, const char *keys, struct err *e);

/* Only the first rows stay, of each heading; how many went is kept in left_out. */
void table_cut(struct table *t, size_t rows);
