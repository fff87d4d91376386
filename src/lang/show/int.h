/* SPDX-License-Identifier: MIT */
/* A map on its way to the reader: its rows, and the values that take several lines. */
#ifndef KYMO_LANG_SHOW_INT_H
#define KYMO_LANG_SHOW_INT_H

#include <string.h>

#include "base/map.h"
#include "lang/show/show.h"

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
/* Sorted again, after values have changed; those that were joined stand first. */
void show_rows_sort(struct show_rows *t);
void show_rows_by_key(struct show_rows *t);
/* The value of e becomes part of row's. */
void show_rows_add(const struct show_rows *t, struct show_row *row, const struct show_row *e);
/* A value of the map by itself. */
void show_value(const struct show_rows *t, const void *value, struct strbuf *b);
uint64_t show_average(const struct ltype *t, const void *value);

void show_stack(const struct lang_out *o, const struct ltype *t, const void *data, bool is_key,
		struct strbuf *b);
void show_hist_text(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
void show_hist_json(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
size_t show_hist_buckets(const struct ltype *t);
/* From *lo to below *hi. The first bucket has no *lo; the last one of lhist() no *hi. */
void show_hist_bounds(const struct ltype *t, size_t i, int64_t *lo, uint64_t *hi);
void show_tseries(const struct lang_out *o, const struct ltype *t, const void *value,
		  struct strbuf *b);

#endif
