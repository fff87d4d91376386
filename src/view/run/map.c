/* SPDX-License-Identifier: MIT */
/* Maps as lines, and as JSON. */
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
