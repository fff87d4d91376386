/* SPDX-License-Identifier: MIT */
/* Maps: merged over CPUs, sorted, as lines and histograms. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "lang/show.h"

#define BAR 52

struct entry {
	uint8_t *key, *value;
	uint64_t order;
	bool is_signed;
};

struct table {
	struct lang_out *o;
	const struct lang_map *m;
	VEC(struct entry) rows;
	struct map by_key; /* hash of its key to 1 + row, for the first rows */
	size_t hashed;	   /* so many */
	int64_t div;
};

static uint64_t at(const void *p, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)p + i * 8, 8);
	return v;
}

static void put(void *p, size_t i, uint64_t v)
{
	memcpy((char *)p + i * 8, &v, 8);
}

static void merge_tseries(const struct ltype *t, const void *part, void *out)
{
	for (int64_t s = 0; s < t->max; s++) {
		size_t i = (size_t)s * 3;
		uint64_t e = at(part, i), mine = at(out, i), v = at(part, i + 2),
			 old = at(out, i + 2);

		if (!at(part, i + 1) || e < mine)
			continue;
		if (e > mine || !at(out, i + 1)) {
			memcpy((char *)out + i * 8, (const char *)part + i * 8, 24);
			continue;
		}
		put(out, i + 1, at(out, i + 1) + at(part, i + 1));
		switch (t->agg) {
		case 2: v = (int64_t)v < (int64_t)old ? v : old; break;
		case 3: v = (int64_t)v > (int64_t)old ? v : old; break;
		case 1:
		case 4: v += old; break;
		default: break;
		}
		put(out, i + 2, v);
	}
}

void lang_merge(const struct lang_map *m, unsigned ncpus, const void *value, void *out)
{
	size_t size = (m->value_size + 7) & ~7u;

	if (!m->per_cpu) {
		memcpy(out, value, m->value_size);
		return;
	}
	memset(out, 0, m->value_size);
	for (unsigned c = 0; c < ncpus; c++) {
		const char *part = (const char *)value + c * size;

		if (m->value->kind == LT_TSERIES) {
			merge_tseries(m->value, part, out);
		} else if (m->value->kind == LT_MIN || m->value->kind == LT_MAX) {
			uint64_t v = at(part, 1), old = at(out, 1);
			bool less = m->value->is_signed ? (int64_t)v < (int64_t)old : v < old;

			if (!at(part, 0))
				continue;
			if (!at(out, 0) || (m->value->kind == LT_MIN ? less : !less))
				put(out, 1, v);
			put(out, 0, at(out, 0) + at(part, 0));
		} else {
			for (size_t i = 0; i < m->value_size / 8; i++)
				put(out, i, at(out, i) + at(part, i));
		}
	}
}

static uint64_t average(const struct ltype *t, const void *v)
{
	uint64_t n = at(v, 0), total = at(v, 1);

	return !n ? 0 : t->is_signed ? (uint64_t)((int64_t)total / (int64_t)n) : total / n;
}

/* By what it is sorted. */
static void set_order(const struct table *t, struct entry *e)
{
	const struct ltype *v = t->m->value;

	e->order = 0;
	e->is_signed = v->is_signed;
	switch (v->kind) {
	case LT_COUNT:
		e->order = at(e->value, 0);
		e->is_signed = false;
		break;
	case LT_SUM:
	case LT_MIN:
	case LT_MAX: e->order = at(e->value, 1); break;
	case LT_AVG:
	case LT_STATS: e->order = average(v, e->value); break;
	case LT_HIST:
	case LT_LHIST:
		for (size_t i = 0; i < t->m->value_size / 8; i++)
			e->order += at(e->value, i);
		e->is_signed = false;
		break;
	case LT_INT:
	case LT_PTR: e->order = at(e->value, 0); break;
	default: break;
	}
}

/* Stacks that were finished late have a number of their own each: the one equal stacks have. */
static bool same_stacks(const struct table *t, uint8_t *key)
{
	const struct lang_host *h = t->o->h;
	const struct ltype *k = t->m->key;
	bool any = false;

	for (uint32_t i = 0; h->same_stack && k && t->m->is_agg && i < k->n; i++)
		if (k->item[i]->kind == LT_USTACK) {
			uint64_t id;

			memcpy(&id, key + k->offset[i], 8);
			any |= h->same_stack(h->ctx, &id);
			memcpy(key + k->offset[i], &id, 8);
		}
	return any;
}

static void add_to(const struct table *t, struct entry *row, const struct entry *e)
{
	size_t size = (t->m->value_size + 7) & ~7u;
	AUTO_FREE uint8_t *both = mem_alloc(2 * size);

	memcpy(both, row->value, t->m->value_size);
	memcpy(both + size, e->value, t->m->value_size);
	lang_merge(t->m, 2, both, row->value);
	set_order(t, row);
}

/* Adds it to the row that has the same key, if there is one. */
static bool join(struct table *t, const struct entry *e)
{
	const uint64_t *row;

	for (; t->hashed < t->rows.n; t->hashed++)
		*map_at(&t->by_key, map_hash_bytes(t->rows.data[t->hashed].key, t->m->key_size)) =
			t->hashed + 1;
	row = map_find(&t->by_key, map_hash_bytes(e->key, t->m->key_size));
	if (!row || memcmp(t->rows.data[*row - 1].key, e->key, t->m->key_size) != 0)
		return false;
	add_to(t, &t->rows.data[*row - 1], e);
	return true;
}

static int collect(void *arg, const void *key, const void *value)
{
	struct table *t = arg;
	struct entry e = { .key = mem_dup(key, t->m->key_size),
			   .value = mem_alloc(t->m->value_size + 8) };
	size_t words = t->m->value_size / 8;
	uint64_t any = 0;

	lang_merge(t->m, t->o->h->ncpus, value, e.value);
	if (t->m->present_word) {
		if (!at(e.value, 0)) {
			free(e.key);
			free(e.value);
			return 0;
		}
		memmove(e.value, e.value + 8, t->m->value_size - 8);
	}
	set_order(t, &e);
	for (size_t i = 0; i < words && t->m->is_agg; i++)
		any |= at(e.value, i);
	if (t->m->is_agg && !t->m->key && !any) { /* an array always has its entry */
		free(e.key);
		free(e.value);
		return 0;
	}
	if (same_stacks(t, e.key) && join(t, &e)) {
		free(e.key);
		free(e.value);
		return 0;
	}
	vec_push(&t->rows, e);
	return 0;
}

static const struct lang_map *sorting;

static int compare_keys(const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; sorting->key && i < sorting->key->n; i++) {
		const struct ltype *t = sorting->key->item[i];
		uint32_t off = sorting->key->offset[i];
		int c;

		if (lt_is_word(t)) {
			uint64_t x = at(a + off, 0), y = at(b + off, 0);

			c = x == y ? 0 : (t->is_signed ? (int64_t)x < (int64_t)y : x < y) ? -1 : 1;
		} else {
			c = memcmp(a + off, b + off, lt_stored(t));
		}
		if (c)
			return c;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->order != y->order)
		return (x->is_signed ? (int64_t)x->order < (int64_t)y->order : x->order < y->order)
			       ? -1
			       : 1;
	return compare_keys(x->key, y->key);
}

static void bound(uint64_t v, struct strbuf *b)
{
	static const char units[] = "\0KMGTPE";
	unsigned u = 0;

	/* bpftrace keeps three digits and more only where they are not whole */
	while (v >= 1024 && v % 1024 == 0 && units[u + 1]) {
		v /= 1024;
		u++;
	}
	strbuf_printf(b, "%llu", (unsigned long long)v);
	if (u)
		strbuf_putc(b, units[u]);
}

static void log_bounds(const struct ltype *t, size_t i, int64_t *lo, uint64_t *hi)
{
	unsigned k = (unsigned)t->step;

	if (i == 0) {
		*lo = INT64_MIN;
		*hi = 0;
	} else if (i <= (1u << k)) {
		*lo = (int64_t)i - 1;
		*hi = i;
	} else {
		size_t j = i - (1u << k) - 1;
		unsigned shift = (unsigned)(j >> k);
		uint64_t in = j & ((1u << k) - 1);

		*lo = (int64_t)(((1ull << k) + in) << shift);
		*hi = ((1ull << k) + in + 1) << shift;
	}
}

static void label(const struct ltype *t, size_t i, struct strbuf *b)
{
	int64_t lo;
	uint64_t hi;

	if (t->kind == LT_LHIST) {
		size_t last = lt_lhist_buckets(t) - 1;

		if (i == 0) {
			strbuf_puts(b, "(..., ");
			bound((uint64_t)t->min, b);
			strbuf_putc(b, ')');
		} else if (i == last) {
			strbuf_putc(b, '[');
			bound((uint64_t)t->max, b);
			strbuf_puts(b, ", ...)");
		} else {
			strbuf_putc(b, '[');
			bound((uint64_t)(t->min + (int64_t)(i - 1) * t->step), b);
			strbuf_puts(b, ", ");
			bound((uint64_t)(t->min + (int64_t)i * t->step), b);
			strbuf_putc(b, ')');
		}
		return;
	}
	log_bounds(t, i, &lo, &hi);
	if (i == 0) {
		strbuf_puts(b, "(..., 0)");
	} else if (hi - (uint64_t)lo == 1) {
		strbuf_printf(b, "[%lld]", (long long)lo);
	} else {
		strbuf_putc(b, '[');
		bound((uint64_t)lo, b);
		strbuf_puts(b, ", ");
		bound(hi, b);
		strbuf_putc(b, ')');
	}
}

static void range(const struct ltype *t, const void *v, size_t *first, size_t *last, uint64_t *max)
{
	size_t n = t->kind == LT_HIST ? lt_hist_buckets((unsigned)t->step) : lt_lhist_buckets(t);

	*first = n;
	*last = 0;
	*max = 0;
	for (size_t i = 0; i < n; i++)
		if (at(v, i)) {
			*first = i < *first ? i : *first;
			*last = i;
			*max = at(v, i) > *max ? at(v, i) : *max;
		}
}

static void hist_text(const struct table *t, const void *v, struct strbuf *b)
{
	size_t first, last;
	uint64_t max;

	range(t->m->value, v, &first, &last, &max);
	for (size_t i = first; max && i <= last; i++) {
		AUTO_STRBUF name = { 0 };
		size_t bar = (size_t)((double)at(v, i) * BAR / (double)max);

		label(t->m->value, i, &name);
		strbuf_printf(b, "%-16s%8llu |", strbuf_str(&name),
			      (unsigned long long)(at(v, i) / (uint64_t)t->div));
		for (size_t k = 0; k < BAR; k++)
			strbuf_putc(b, k < bar ? '@' : ' ');
		strbuf_puts(b, "|\n");
	}
	strbuf_putc(b, '\n');
}

static void hist_json(const struct table *t, const void *v, struct strbuf *b)
{
	const struct ltype *type = t->m->value;
	size_t first, last, n = type->kind == LT_LHIST ? lt_lhist_buckets(type) : 0;
	uint64_t max;

	range(type, v, &first, &last, &max);
	strbuf_putc(b, '[');
	for (size_t i = first; max && i <= last; i++) {
		int64_t lo;
		uint64_t hi;

		strbuf_puts(b, i > first ? ", {" : "{");
		if (type->kind == LT_LHIST) {
			lo = type->min + (int64_t)(i - 1) * type->step;
			hi = (uint64_t)(lo + type->step);
			if (i == 0)
				hi = (uint64_t)type->min;
		} else {
			log_bounds(type, i, &lo, &hi);
		}
		if (i)
			strbuf_printf(b, "\"min\": %lld, ", (long long)lo);
		if (!n || i != n - 1)
			strbuf_printf(b, "\"max\": %lld, ", (long long)(hi - 1));
		strbuf_printf(b, "\"count\": %llu}",
			      (unsigned long long)(at(v, i) / (uint64_t)t->div));
	}
	strbuf_putc(b, ']');
}

static void json_value(const struct lang_out *o, const struct ltype *t, const void *data,
		       struct strbuf *b)
{
	AUTO_STRBUF text = { 0 };

	if (t->kind == LT_TUPLE) {
		strbuf_putc(b, '[');
		for (uint32_t i = 0; i < t->n; i++) {
			strbuf_puts(b, i ? "," : "");
			json_value(o, t->item[i], (const char *)data + t->offset[i], b);
		}
		strbuf_putc(b, ']');
		return;
	}
	lang_show_value(o, t, data, false, &text);
	if (t->kind == LT_INT)
		strbuf_puts(b, strbuf_str(&text));
	else
		lang_json_text(b, strbuf_str(&text), text.n);
}

static void tseries(const struct table *t, const void *v, struct strbuf *b)
{
	const struct ltype *type = t->m->value;
	uint64_t newest = 0;
	bool first = true;

	for (int64_t i = 0; i < type->max; i++)
		if (at(v, (size_t)i * 3 + 1) && at(v, (size_t)i * 3) > newest)
			newest = at(v, (size_t)i * 3);
	strbuf_puts(b, t->o->json ? "[" : "\n");
	for (uint64_t e = newest >= (uint64_t)type->max ? newest - (uint64_t)type->max + 1 : 0;
	     e <= newest; e++) {
		size_t i = (size_t)(e % (uint64_t)type->max) * 3;
		bool have = at(v, i) == e && at(v, i + 1);
		int64_t x = have ? (int64_t)at(v, i + 2) : 0;

		if (have && type->agg == 1)
			x /= (int64_t)at(v, i + 1);
		if (t->o->json) {
			strbuf_printf(b, "%s{\"interval_start\": %" PRIu64 ", \"value\": %lld}",
				      first ? "" : ", ", e * (uint64_t)type->step, (long long)x);
		} else {
			uint64_t wall = t->o->h->wall ? t->o->h->wall(t->o->h->ctx,
								      e * (uint64_t)type->step)
						      : e * (uint64_t)type->step;

			strbuf_printf(b, "%llu.%03llu %lld%s\n",
				      (unsigned long long)(wall / 1000000000),
				      (unsigned long long)(wall % 1000000000 / 1000000),
				      (long long)x, have ? "" : " (none)");
		}
		first = false;
	}
	strbuf_puts(b, t->o->json ? "]" : "\n");
}

static void value_text(const struct table *t, const void *v, struct strbuf *b)
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
		x = type->kind == LT_COUNT ? at(v, 0)
		    : type->kind == LT_AVG ? average(type, v)
					   : at(v, 1);
		if (type->kind == LT_COUNT || !s)
			strbuf_printf(b, "%llu", (unsigned long long)(x / (uint64_t)t->div));
		else
			strbuf_printf(b, "%lld", (long long)((int64_t)x / t->div));
		break;
	case LT_STATS:
		strbuf_printf(b,
			      t->o->json ? "{\"count\": %llu, \"average\": %lld, \"total\": %lld}"
					 : "count %llu, average %lld, total %lld",
			      (unsigned long long)at(v, 0), (long long)average(type, v) / t->div,
			      (long long)at(v, 1) / t->div);
		break;
	case LT_HIST:
	case LT_LHIST:
		if (t->o->json)
			hist_json(t, v, b);
		else
			hist_text(t, v, b);
		break;
	case LT_TSERIES: tseries(t, v, b); break;
	case LT_INT:
		if (type->is_bool || t->div == 1) {
			if (t->o->json)
				json_value(t->o, type, v, b);
			else
				lang_show_value(t->o, type, v, false, b);
		} else {
			x = at(v, 0);
			strbuf_printf(b, s ? "%lld" : "%llu",
				      s ? (long long)x / t->div
					: (long long)(x / (uint64_t)t->div));
		}
		break;
	default:
		if (t->o->json)
			json_value(t->o, type, v, b);
		else
			lang_show_value(t->o, type, v, false, b);
	}
}

static const char *json_type(const struct lang_map *m)
{
	return m->value->kind == LT_HIST || m->value->kind == LT_LHIST	? "hist"
	       : m->value->kind == LT_AVG || m->value->kind == LT_STATS ? "stats"
	       : m->value->kind == LT_TSERIES				? "tseries"
									: "map";
}

/* All names the rows from first on will need. */
static void ahead(const struct table *t, size_t first)
{
	const struct ltype *k = t->m->key;
	VEC(struct lang_stack) all = { 0 };

	if (!t->o->h->stacks)
		return;
	for (size_t r = first; k && r < t->rows.n; r++)
		for (uint32_t i = 0; i < k->n; i++) {
			const struct ltype *type = k->item[i];
			const uint8_t *at_key = t->rows.data[r].key + k->offset[i];
			bool user = type->kind == LT_USTACK;

			if ((user || type->kind == LT_KSTACK) && !type->raw_stack)
				vec_push(&all, (struct lang_stack){
						       at(at_key, 0),
						       user ? (int32_t)at(at_key, 1) : 0, user });
		}
	if (all.n > 1)
		t->o->h->stacks(t->o->h->ctx, all.data, all.n);
	vec_free(&all);
}

void lang_show_map(struct lang_out *o, int map, int64_t top, int64_t div)
{
	struct table t = { .o = o, .m = &o->p->maps.data[map], .div = div > 0 ? div : 1 };
	bool hist = t.m->value->kind == LT_HIST || t.m->value->kind == LT_LHIST;
	struct strbuf *b = &o->text;
	size_t first = 0;

	o->h->map_each(o->h->ctx, map, collect, &t);
	sorting = t.m;
	if (t.rows.n)
		qsort(t.rows.data, t.rows.n, sizeof(*t.rows.data), compare);
	if (top > 0 && t.rows.n > (uint64_t)top)
		first = t.rows.n - (size_t)top;
	ahead(&t, first);
	if (o->json && t.rows.n) {
		strbuf_printf(b, "{\"type\": \"%s\", \"data\": {\"%s\": %s", json_type(t.m),
			      t.m->name, t.m->key ? "{" : "");
	}
	for (size_t i = first; i < t.rows.n; i++) {
		struct entry *e = &t.rows.data[i];

		if (o->json) {
			if (t.m->key) {
				AUTO_STRBUF key = { 0 };

				lang_show_key(o, t.m, e->key, ",", &key);
				strbuf_puts(b, i > first ? ", " : "");
				lang_json_text(b, strbuf_str(&key), key.n);
				strbuf_puts(b, ": ");
			}
			value_text(&t, e->value, b);
			continue;
		}
		strbuf_puts(b, t.m->name);
		if (t.m->key) {
			strbuf_putc(b, '[');
			lang_show_key(o, t.m, e->key, ", ", b);
			strbuf_putc(b, ']');
		}
		strbuf_puts(b, hist ? ": \n" : ": ");
		value_text(&t, e->value, b);
		if (!hist)
			strbuf_putc(b, '\n');
	}
	if (o->json && t.rows.n)
		strbuf_puts(b, t.m->key ? "}}}\n" : "}}\n");
	if (!o->json && t.rows.n && (t.m->value->kind == LT_AVG || t.m->value->kind == LT_STATS))
		strbuf_putc(b, '\n');
	vec_each (&t.rows, e) {
		free(e->key);
		free(e->value);
	}
	vec_free(&t.rows);
	map_free(&t.by_key);
}

static const struct lang_program *naming;

static int by_name(const void *a, const void *b)
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

void lang_show_maps(struct lang_out *o)
{
	VEC(int) order = { 0 };

	for (size_t i = LANG_MAP_FIXED; i < o->p->maps.n; i++)
		if (o->p->maps.data[i].name && !is_gone(o, (int)i))
			vec_push(&order, (int)i);
	naming = o->p;
	if (order.n)
		qsort(order.data, order.n, sizeof(int), by_name);
	vec_each (&order, it)
		lang_show_map(o, *it, 0, 0);
	vec_free(&order);
}
