/* SPDX-License-Identifier: MIT */
/* Maps as lines, as JSON, and as tables. */
#include "view/run/show.h"

void show_map_value(const struct show_rows *t, const void *v, struct strbuf *b)
{
	const struct ltype *type = t->m->value;
	bool s = type->is_signed;
	uint64_t x;

	switch (type->kind) {
	case LT_COUNT:
	case LT_SUM:
	case LT_MIN:
	case LT_MAX:
	case LT_AVG:
		show_number(type, v, &x);
		if (type->kind == LT_COUNT || !s)
			strbuf_printf(b, "%llu", (unsigned long long)(x / (uint64_t)t->div));
		else
			strbuf_printf(b, "%lld", (long long)((int64_t)x / t->div));
		break;
	case LT_STATS:
		strbuf_printf(b,
			      t->o->json ? "{\"count\": %llu, \"average\": %lld, \"total\": %lld}"
					 : "count %llu, average %lld, total %lld",
			      (unsigned long long)show_word(v, 0),
			      (long long)show_average(type, v) / t->div,
			      (long long)show_word(v, 1) / t->div);
		break;
	case LT_HIST:
	case LT_LHIST:
		if (t->o->json)
			show_hist_json(type, v, t->div, b);
		else
			show_hist_text(type, v, t->div, b);
		break;
	case LT_TSERIES: show_tseries(t->o, type, v, b); break;
	default:
		x = show_word(v, 0);
		if (type->kind == LT_INT && !type->is_bool && t->div != 1)
			strbuf_printf(b, s ? "%lld" : "%llu",
				      s ? (long long)x / t->div
					: (long long)(x / (uint64_t)t->div));
		else if (t->o->json)
			show_json(t->o, type, v, b);
		else
			show_value(t->o, type, v, false, b);
	}
}

static const char *json_type(const struct lang_map *m)
{
	return m->value->kind == LT_HIST || m->value->kind == LT_LHIST	? "hist"
	       : m->value->kind == LT_AVG || m->value->kind == LT_STATS ? "stats"
	       : m->value->kind == LT_TSERIES				? "tseries"
									: "map";
}

void show_map(struct lang_out *o, int map, int64_t top, int64_t div)
{
	const struct lang_map *m = &o->p->maps.data[map];
	bool hist = m->value->kind == LT_HIST || m->value->kind == LT_LHIST;
	struct strbuf *b = &o->text;
	struct show_rows t;

	show_rows_take(&t, o, map, top, div);
	if (o->json && t.rows.n) {
		strbuf_printf(b, "{\"type\": \"%s\", \"data\": {\"%s\": %s", json_type(m), m->name,
			      m->key ? "{" : "");
	}
	for (size_t i = t.first; i < t.rows.n; i++) {
		struct show_row *e = &t.rows.data[i];

		if (o->json) {
			if (m->key) {
				AUTO_STRBUF key = { 0 };

				show_key(o, m, e->key, ",", &key);
				strbuf_puts(b, i > t.first ? ", " : "");
				show_json_text(b, strbuf_str(&key), key.n);
				strbuf_puts(b, ": ");
			}
			show_map_value(&t, e->value, b);
			continue;
		}
		strbuf_puts(b, m->name);
		if (m->key) {
			strbuf_putc(b, '[');
			show_key(o, m, e->key, ", ", b);
			strbuf_putc(b, ']');
		}
		strbuf_puts(b, hist ? ": \n" : ": ");
		show_map_value(&t, e->value, b);
		if (!hist)
			strbuf_putc(b, '\n');
	}
	if (o->json && t.rows.n)
		strbuf_puts(b, m->key ? "}}}\n" : "}}\n");
	if (!o->json && t.rows.n && (m->value->kind == LT_AVG || m->value->kind == LT_STATS))
		strbuf_putc(b, '\n');
	show_rows_free(&t);
}

static const struct lang_program *naming;

static int show_map_by_name(const void *a, const void *b)
{
	return strcmp(naming->maps.data[*(const int *)a].name,
		      naming->maps.data[*(const int *)b].name);
}

static bool is_gone(const struct lang_out *o, int map)
{
	vec_each (&o->gone, g)
		if (*g == map)
			return true;
	return false;
}

void show_maps(struct lang_out *o)
{
	VEC(int) order = { 0 };

	for (size_t i = LANG_MAP_FIXED; i < o->p->maps.n; i++)
		if (o->p->maps.data[i].name && !is_gone(o, (int)i))
			vec_push(&order, (int)i);
	naming = o->p;
	if (order.n)
		qsort(order.data, order.n, sizeof(int), show_map_by_name);
	vec_each (&order, it)
		show_map(o, *it, 0, 0);
	vec_free(&order);
}

/* --- table(): keys left, values right, as wide as what is in them; by the last column --- */

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
