/* SPDX-License-Identifier: MIT */
/*
 * table(): a map under the names of its columns, as the tools of old print it. Keys stand left,
 * values right, and columns are as wide as what is in them; rows are sorted by the last column.
 */

#include "view/run/show.h"

#define COLUMNS 16
#define TEXT_WIDTH 16 /* so wide at least, that outputs one after another look alike */
#define NUMBER_WIDTH 7

struct column {
	const char *name;
	size_t n, width; /* of the name */
	bool right;
	VEC(char *) cells;
};

struct columns {
	struct column c[COLUMNS];
	size_t n;
};

static void name_columns(struct columns *t, const struct lang_map *m, const char *names)
{
	for (const char *s = names + strspn(names, " "); *s && t->n < COLUMNS; t->n++) {
		struct column *c = &t->c[t->n];
		bool key = t->n < m->key->n;

		c->name = s;
		c->n = strcspn(s, " ");
		c->right = !key;
		c->width = key && m->key->item[t->n]->kind != LT_INT ? TEXT_WIDTH : NUMBER_WIDTH;
		c->width = c->n > c->width ? c->n : c->width;
		s += c->n;
		s += strspn(s, " ");
	}
}

static void show_table_put(struct column *c, const struct strbuf *b)
{
	vec_push(&c->cells, mem_strdup(strbuf_str(b)));
	c->width = b->n > c->width ? b->n : c->width;
}

static void show_table_put_number(const struct show_rows *t, struct column *c, uint64_t v,
				  bool divide)
{
	AUTO_STRBUF b = { 0 };
	int64_t div = divide ? t->div : 1;

	if (t->m->value->is_signed)
		strbuf_printf(&b, "%lld", (long long)((int64_t)v / div));
	else
		strbuf_printf(&b, "%llu", (unsigned long long)(v / (uint64_t)div));
	show_table_put(c, &b);
}

static void show_table_put_value(const struct show_rows *t, struct column *c, const void *v)
{
	bool stats = t->m->value->kind == LT_STATS;
	uint64_t n;

	show_number(t->m->value, v, &n);
	if (stats)
		show_table_put_number(t, c, show_word(v, 0), false);
	show_table_put_number(t, c + stats, n, true);
	if (stats)
		show_table_put_number(t, c + 2, show_word(v, 1), true);
}

/* The last column of stats() is the sum; by its average it would be sorted elsewhere. */
static int by_sum(const void *a, const void *b)
{
	uint64_t x = show_word(((const struct show_row *)a)->value, 1),
		 y = show_word(((const struct show_row *)b)->value, 1);

	return x < y ? -1 : x > y;
}

static void print_row(const struct columns *t, size_t row, bool head, struct strbuf *b)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->c[i];
		const char *s = head ? c->name : c->cells.data[row];
		int n = (int)(head ? c->n : strlen(s)), width = (int)c->width;

		if (c->right)
			strbuf_printf(b, "%*s%.*s", width - n, "", n, s);
		else
			strbuf_printf(b, "%.*s%*s", n, s, i + 1 < t->n ? width - n : 0, "");
		strbuf_putc(b, i + 1 < t->n ? ' ' : '\n');
	}
}

void show_table(struct lang_out *o, int map, const char *names, int64_t top, int64_t div)
{
	const struct lang_map *m = &o->p->maps.data[map];
	struct columns all = { 0 };
	struct show_rows t;

	if (o->json) {
		show_map(o, map, top, div);
		return;
	}
	show_rows_take(&t, o, map, m->value->kind == LT_STATS ? 0 : top, div);
	if (m->value->kind == LT_STATS && t.rows.n) {
		qsort(t.rows.data, t.rows.n, sizeof(*t.rows.data), by_sum);
		t.first = top > 0 && t.rows.n > (uint64_t)top ? t.rows.n - (size_t)top : 0;
	}
	name_columns(&all, m, names);
	for (size_t i = t.first; i < t.rows.n; i++) {
		const struct show_row *r = &t.rows.data[i];

		for (uint32_t k = 0; k < m->key->n; k++) {
			AUTO_STRBUF b = { 0 };

			show_value(o, m->key->item[k], r->key + m->key->offset[k], true, &b);
			show_table_put(&all.c[k], &b);
		}
		show_table_put_value(&t, &all.c[m->key->n], r->value);
	}
	print_row(&all, 0, true, &o->text);
	for (size_t i = 0; i < t.rows.n - t.first; i++)
		print_row(&all, i, false, &o->text);
	for (size_t i = 0; i < all.n; i++) {
		vec_each (&all.c[i].cells, s)
			free(*s);
		vec_free(&all.c[i].cells);
	}
	show_rows_free(&t);
}
