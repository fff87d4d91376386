/* SPDX-License-Identifier: MIT */
/* A map on its way to the reader: its rows, and the values that take several lines. */
#ifndef KYMO_LANG_SHOW_INT_H
#define KYMO_LANG_SHOW_INT_H

#include <string.h>

#include "base/map.h"
#include "lang/show.h"

struct show_row {
	uint8_t *key, *value;
	uint64_t order;
	bool is_signed;
};

struct show_rows {
	struct lang_out *o;
	const struct lang_map *m;
	VEC(struct show_row) rows;
	size_t first;	   /* the rows before it are not wanted */
	struct map by_key; /* hash of its key to 1 + row, for the first rows */
	size_t hashed;	   /* so many */
	int64_t div;
};

static inline uint64_t show_word(const void *p, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)p + i * 8, 8);
	return v;
}

/* All of a map, merged over CPUs, sorted; the names of its stacks are looked up at once. */
void show_rows_take(struct show_rows *t, struct lang_out *o, int map, int64_t top, int64_t div);
void show_rows_free(struct show_rows *t);
uint64_t show_average(const struct ltype *t, const void *value);

void show_hist_text(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
void show_hist_json(const struct ltype *t, const void *value, int64_t div, struct strbuf *b);
void show_tseries(const struct lang_out *o, const struct ltype *t, const void *value,
		  struct strbuf *b);

#endif
