/* SPDX-License-Identifier: MIT */
/* What a program of the language says, as text or JSON: show_printer is for who runs it. */
#pragma once

#include <string.h>

#include "base/map.h"
#include "lang/out.h"

extern const struct lang_printer show_printer;

struct show_row {
	uint8_t *key, *value;
	uint64_t order;
	bool is_signed;
	bool joined; /* with another: not to be shown */
	char *text;  /* what it is shown as, where that is made first */
};

struct show_rows {
	struct lang_out *o;
	const struct lang_map *m;
	VEC(struct show_row) rows;
	size_t first;	    /* the rows before it are not wanted */
	struct map by_key;  /* hash of its key to 1 + row, for the first rows */
	size_t hashed;	    /* so many */
	struct map by_text; /* hash of a text to 1 + row */
	int64_t div;
	bool empty_too; /* a value without a key to which nothing was added */
};

/* What b has from a place on came from the system: it tells the terminal nothing, and, unless it
 * may have lines, ends none. */
void show_made_safe(const struct lang_out *o, bool lines, size_t from, struct strbuf *b);
/* A time (CLOCK_REALTIME, ns) as strftime() does it; %f: microseconds. */
void show_wall(uint64_t ns, const char *fmt, struct strbuf *b);
static inline uint64_t show_word(const void *p, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)p + i * 8, 8);
	return v;
}

/* All of a map, merged over CPUs, sorted; the names of its stacks are looked up at once. */
void show_rows_take(struct show_rows *t, struct lang_out *o, int map, int64_t top, int64_t div);
void show_rows_free(struct show_rows *t);
/* Sorted again, by keys or by (changed) values; those that were joined stand first. */
void show_rows_sort(struct show_rows *t, bool keys);
/* The value of e becomes part of row's. */
void show_rows_add(const struct show_rows *t, struct show_row *row, const struct show_row *e);
/* A value of the map by itself. */
void show_map_value(const struct show_rows *t, const void *value, struct strbuf *b);
uint64_t show_average(const struct ltype *t, const void *value);
/* The number that a map's value is, or is sorted by; false: it has none. */
bool show_number(const struct ltype *t, const void *value, uint64_t *ret);
/* CLOCK_REALTIME ns */
uint64_t show_now(const struct lang_out *o);

/* The text of a message by its format. */
void show_format(const struct lang_out *o, const struct lang_action *a, const char *data,
		 struct strbuf *b);
/* top 0: all of it; div 0: undivided. */
void show_map(struct lang_out *o, int map, int64_t top, int64_t div);
/* The same as a table: the columns' names, separated by spaces, are as many as check_table() saw
 * to. */
void show_table(struct lang_out *o, int map, const char *names, int64_t top, int64_t div);
/* A map of histograms, or of numbers to counts, as a table: head names its columns, section what
 * the keys are (NULL: nothing). */
void show_hist_table(struct lang_out *o, int map, const char *head, const char *section);
/* A map with stacks in its keys; how: 1 folded, 2 with a line between user and kernel frames, 4
 * with _[k] behind functions of the kernel. */
void show_stacks(struct lang_out *o, int map, int how);
void show_maps(struct lang_out *o);

/* A stored value. */
void show_value(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		struct strbuf *b);
/* The function that an address is in; module may be NULL. False: it is not known. */
bool show_name(const struct lang_out *o, bool user, int32_t pid, uint64_t addr, struct strbuf *b,
	       uint64_t *off, struct strbuf *module);
/* A number by the name it has in a table; enum lang_names is the type's n. */
void show_number_name(const struct lang_out *o, const struct ltype *t, int64_t v, struct strbuf *b);
/* A value as JSON: numbers, texts, lists of a tuple's and an array's items, objects of records. */
void show_json(const struct lang_out *o, const struct ltype *t, const void *data, struct strbuf *b);
void show_json_text(struct strbuf *b, const char *s, size_t n);
/* The key of a map's entry, parts separated by sep. */
void show_key(const struct lang_out *o, const struct lang_map *m, const void *key, const char *sep,
	      struct strbuf *b);
void show_stack(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		struct strbuf *b);
void show_hist_text(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
void show_hist_json(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
size_t show_hist_buckets(const struct ltype *t);
/* From *lo to below *hi. The first bucket has no *lo; the last one of lhist() no *hi. */
void show_hist_bounds(const struct ltype *t, size_t i, int64_t *lo, uint64_t *hi);
void show_tseries(const struct lang_out *o, const struct ltype *t, const void *value,
		  struct strbuf *b);
