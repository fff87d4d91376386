/* SPDX-License-Identifier: MIT */
/* The rows of a map: merged over CPUs, stacks that are equal as one, sorted by their values. */
#include "view/run/show.h"

static void show_rows_put(void *p, size_t i, uint64_t v)
{
	memcpy((char *)p + i * 8, &v, 8);
}

static void merge_tseries(const struct ltype *t, const void *part, void *out)
{
	for (int64_t s = 0; s < t->max; s++) {
		size_t i = (size_t)s * 3;
		uint64_t e = show_word(part, i), mine = show_word(out, i),
			 v = show_word(part, i + 2), old = show_word(out, i + 2);

		if (!show_word(part, i + 1) || e < mine)
			continue;
		if (e > mine || !show_word(out, i + 1)) {
			memcpy((char *)out + i * 8, (const char *)part + i * 8, 24);
			continue;
		}
		show_rows_put(out, i + 1, show_word(out, i + 1) + show_word(part, i + 1));
		switch (t->agg) {
		case 2: v = (int64_t)v < (int64_t)old ? v : old; break;
		case 3: v = (int64_t)v > (int64_t)old ? v : old; break;
		case 1:
		case 4: v += old; break;
		default: break;
		}
		show_rows_put(out, i + 2, v);
	}
}

/* A per-CPU value as one. out has m->value_size bytes. */
static void show_rows_merge(const struct lang_map *m, unsigned ncpus, const void *value, void *out)
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
			uint64_t v = show_word(part, 1), old = show_word(out, 1);
			bool less = m->value->is_signed ? (int64_t)v < (int64_t)old : v < old;

			if (!show_word(part, 0))
				continue;
			if (!show_word(out, 0) || (m->value->kind == LT_MIN ? less : !less))
				show_rows_put(out, 1, v);
			show_rows_put(out, 0, show_word(out, 0) + show_word(part, 0));
		} else {
			for (size_t i = 0; i < m->value_size / 8; i++)
				show_rows_put(out, i, show_word(out, i) + show_word(part, i));
		}
	}
}

uint64_t show_average(const struct ltype *t, const void *v)
{
	uint64_t n = show_word(v, 0), total = show_word(v, 1);

	return !n ? 0 : t->is_signed ? (uint64_t)((int64_t)total / (int64_t)n) : total / n;
}

bool show_number(const struct ltype *t, const void *v, uint64_t *ret)
{
	switch (t->kind) {
	case LT_COUNT:
	case LT_INT:
	case LT_PTR: *ret = show_word(v, 0); return true;
	case LT_SUM:
	case LT_MIN:
	case LT_MAX: *ret = show_word(v, 1); return true;
	case LT_AVG:
	case LT_STATS: *ret = show_average(t, v); return true;
	default: *ret = 0; return false;
	}
}

/* By what it is sorted. */
static void set_order(const struct show_rows *t, struct show_row *e)
{
	const struct ltype *v = t->m->value;
	bool hist = v->kind == LT_HIST || v->kind == LT_LHIST;

	e->is_signed = v->is_signed && v->kind != LT_COUNT && !hist;
	show_number(v, e->value, &e->order);
	for (size_t i = 0; hist && i < t->m->value_size / 8; i++)
		e->order += show_word(e->value, i);
}

/* Stacks that were finished late have a number of their own each: the one equal stacks have. */
static bool same_stacks(const struct show_rows *t, uint8_t *key)
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

void show_rows_add(const struct show_rows *t, struct show_row *row, const struct show_row *e)
{
	size_t size = (t->m->value_size + 7) & ~7u;
	AUTO_FREE uint8_t *both = mem_alloc(2 * size);

	memcpy(both, row->value, t->m->value_size);
	memcpy(both + size, e->value, t->m->value_size);
	show_rows_merge(t->m, 2, both, row->value);
	set_order(t, row);
}

/* Adds it to the row that has the same key, if there is one. */
static bool show_rows_join(struct show_rows *t, const struct show_row *e)
{
	const uint64_t *row;

	for (; t->hashed < t->rows.n; t->hashed++)
		*map_at(&t->by_key, map_hash_bytes(t->rows.data[t->hashed].key, t->m->key_size)) =
			t->hashed + 1;
	row = map_find(&t->by_key, map_hash_bytes(e->key, t->m->key_size));
	if (!row || memcmp(t->rows.data[*row - 1].key, e->key, t->m->key_size) != 0)
		return false;
	show_rows_add(t, &t->rows.data[*row - 1], e);
	return true;
}

static int show_rows_collect(void *arg, const void *key, const void *value)
{
	struct show_rows *t = arg;
	struct show_row e = { .key = mem_dup(key, t->m->key_size),
			      .value = mem_alloc(t->m->value_size + 8) };
	bool is_there = !t->m->is_agg || t->m->key || t->empty_too;

	show_rows_merge(t->m, t->o->h->ncpus, value, e.value);
	if (t->m->present_word) {
		is_there = show_word(e.value, 0);
		memmove(e.value, e.value + 8, t->m->value_size - 8);
	}
	set_order(t, &e);
	/* An array always has its entry. */
	for (size_t i = 0; i < t->m->value_size / 8 && !t->m->present_word; i++)
		is_there |= show_word(e.value, i) != 0;
	if (is_there && !(same_stacks(t, e.key) && show_rows_join(t, &e))) {
		vec_push(&t->rows, e);
		return 0;
	}
	free(e.key);
	free(e.value);
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
			uint64_t x = show_word(a + off, 0), y = show_word(b + off, 0);

			c = x == y ? 0 : (t->is_signed ? (int64_t)x < (int64_t)y : x < y) ? -1 : 1;
		} else {
			c = memcmp(a + off, b + off, lt_stored(t));
		}
		if (c)
			return c;
	}
	return 0;
}

static int show_rows_compare(const void *a, const void *b)
{
	const struct show_row *x = a, *y = b;

	if (x->joined != y->joined)
		return x->joined ? -1 : 1;
	if (x->order != y->order)
		return (x->is_signed ? (int64_t)x->order < (int64_t)y->order : x->order < y->order)
			       ? -1
			       : 1;
	return compare_keys(x->key, y->key);
}

/* All names the rows from first on will need. */
static void show_rows_ahead(const struct show_rows *t)
{
	const struct ltype *k = t->m->key;
	VEC(struct lang_stack) all = { 0 };

	if (!t->o->h->stacks)
		return;
	for (size_t r = t->first; k && r < t->rows.n; r++)
		for (uint32_t i = 0; i < k->n; i++) {
			const struct ltype *type = k->item[i];
			const uint8_t *at_key = t->rows.data[r].key + k->offset[i];
			bool user = type->kind == LT_USTACK;

			if ((user || type->kind == LT_KSTACK) && !type->raw_stack)
				vec_push(&all,
					 (struct lang_stack){
						 show_word(at_key, 0),
						 user ? (int32_t)show_word(at_key, 1) : 0, user });
		}
	if (all.n > 1)
		t->o->h->stacks(t->o->h->ctx, all.data, all.n);
	vec_free(&all);
}

static int by_key(const void *a, const void *b)
{
	return compare_keys(((const struct show_row *)a)->key, ((const struct show_row *)b)->key);
}

void show_rows_sort(struct show_rows *t, bool keys)
{
	sorting = t->m;
	if (t->rows.n)
		qsort(t->rows.data, t->rows.n, sizeof(*t->rows.data),
		      keys ? by_key : show_rows_compare);
}

void show_rows_take(struct show_rows *t, struct lang_out *o, int map, int64_t top, int64_t div)
{
	*t = (struct show_rows){ .o = o, .m = &o->p->maps.data[map], .div = div > 0 ? div : 1 };
	t->empty_too = t->m->value->kind == LT_COUNT || (o->zeroed && o->zeroed[map]);
	o->h->map_each(o->h->ctx, map, show_rows_collect, t);
	show_rows_sort(t, false);
	if (top > 0 && t->rows.n > (uint64_t)top)
		t->first = t->rows.n - (size_t)top;
	show_rows_ahead(t);
}

void show_rows_free(struct show_rows *t)
{
	vec_each (&t->rows, e) {
		free(e->key);
		free(e->value);
		free(e->text);
	}
	vec_free(&t->rows);
	map_free(&t->by_text);
	map_free(&t->by_key);
}
