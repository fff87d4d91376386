/* SPDX-License-Identifier: MIT */
#include "calc/rows/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/rows/order.h"

static uint64_t total(const struct diff *d, unsigned recording)
{
	return d->hist[recording] ? hist_total(d->hist[recording], d->opts.relative) : 0;
}

double diff_share(const struct diff *d, const struct diff_row *r, unsigned recording)
{
	return profile_percent(r->period[recording], total(d, recording));
}

double diff_delta(const struct diff *d, const struct diff_row *r, unsigned recording)
{
	return diff_share(d, r, recording) - diff_share(d, r, 0);
}

double diff_ratio(const struct diff *d, const struct diff_row *r, unsigned recording)
{
	return (double)r->period[recording] / (double)(r->period[0] ? r->period[0] : 1);
}

int64_t diff_weighted(const struct diff *d, const struct diff_row *r, unsigned recording)
{
	return (int64_t)(r->period[recording] * (uint64_t)d->opts.weight[1] -
			 r->period[0] * (uint64_t)d->opts.weight[0]);
}

/* --- matching --- */

/* What a cell shows, or STRTAB_NONE for an unnamed address or a file nobody knows. */
static uint32_t cell_id(struct diff *d, const struct cells *c, const struct column *col,
			const struct hist_row *r)
{
	uint64_t v = cell_value(c, col, r->at);
	const char *name;
	char buf[4096];

	if (col->key == KEY_SYM) {
		name = names_function(c->names, (uint32_t)v);
		return name ? strtab_add(&d->texts, name) : STRTAB_NONE;
	}
	if (col->key == KEY_DSO && v == c->dso_text[0])
		return STRTAB_NONE;
	return strtab_add(&d->texts, cell_text(c, col, r->at, r->count, buf, sizeof(buf)));
}

static bool same_texts(const struct diff *d, const uint32_t *a, const uint32_t *b)
{
	for (unsigned i = 0; i < d->columns->n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static struct diff_row *row_for(struct diff *d, struct map *index, const uint32_t *text)
{
	uint64_t key = map_hash_bytes(text, d->columns->n * sizeof(*text));
	struct diff_row *r;
	uint64_t *at;

	for (; *(at = map_at(index, key)); key++)
		if (same_texts(d, d->rows.data[*at - 1].text, text))
			return &d->rows.data[*at - 1];
	r = vec_add(&d->rows);
	*at = d->rows.n;
	memcpy(r->text, text, sizeof(r->text));
	r->from = UINT32_MAX;
	r->has = arena_alloc(&d->arena, d->n * sizeof(*r->has));
	r->period = arena_alloc(&d->arena, d->n * sizeof(*r->period));
	return r;
}

/* Of rows that are one here, the first in the order of keys is shown. */
static bool stands_before(const struct cells *c, struct cell_pair a, struct cell_pair b)
{
	const struct columns *cols = c->opts.columns;

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *col = &cols->col[cols->sort[i]];
		int r = column_is_sum(col) ? 0 : cell_compare(c, col, a, b);

		if (r)
			return r < 0;
	}
	return false;
}

static void add_recording(struct diff *d, struct map *index, unsigned n)
{
	const struct hist *h = d->hist[n];
	uint32_t text[KEY_COLUMNS] = { 0 };

	for (size_t i = 0; h && i < h->rows.n; i++) {
		const struct hist_row *from = &h->rows.data[i];
		struct diff_row *r;

		for (unsigned k = 0; k < d->columns->n; k++)
			text[k] = cell_id(d, h->cells, &d->columns->col[k], from);
		r = row_for(d, index, text);
		if (r->from == UINT32_MAX ||
		    (r->from == n && stands_before(h->cells, from->at, r->at))) {
			r->from = n;
			r->at = from->at;
			r->site = from->site;
		}
		r->others += n && !r->has[n];
		r->has[n] = true;
		r->period[n] += from->self;
	}
}

/* --- order --- */

static int larger_first(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int compute_order(const struct diff *d, const struct diff_row *a, const struct diff_row *b,
			 unsigned n)
{
	switch (d->opts.compute) {
	case DIFF_DELTA: return larger_first(diff_delta(d, a, n), diff_delta(d, b, n));
	case DIFF_DELTA_ABS:
		return larger_first(fabs(diff_delta(d, a, n)), fabs(diff_delta(d, b, n)));
	case DIFF_RATIO: return larger_first(diff_ratio(d, a, n), diff_ratio(d, b, n));
	default: {
		int64_t x = diff_weighted(d, a, n), y = diff_weighted(d, b, n);

		return x > y ? -1 : x < y;
	}
	}
}

/* By the recording's difference; rows that have none last. first: the one -o names. */
static int recording_order(const struct diff *d, const struct diff_row *a, const struct diff_row *b,
			   unsigned n, bool first)
{
	bool delta = d->opts.compute == DIFF_DELTA || d->opts.compute == DIFF_DELTA_ABS;

	if (!first && (!a->others || !b->others) && a->others != b->others)
		return a->others ? -1 : 1;
	if (!a->has[n] || !b->has[n])
		return a->has[n] == b->has[n] ? 0 : a->has[n] ? -1 : 1;
	/* a difference there is without the base, but no ratio */
	if (first && !delta && (!a->has[0] || !b->has[0]))
		return a->has[0] == b->has[0] ? 0 : a->has[0] ? -1 : 1;
	return compute_order(d, a, b, n);
}

static int text_order(const struct diff *d, const struct diff_row *a, const struct diff_row *b)
{
	for (unsigned i = 0; i < d->columns->n; i++) {
		unsigned k = d->columns->sort[i];
		uint32_t x = a->text[k], y = b->text[k];
		int r;

		if (x == y)
			continue;
		if (x == STRTAB_NONE || y == STRTAB_NONE)
			return x == STRTAB_NONE ? 1 : -1;
		r = strcmp(strtab_get(&d->texts, x), strtab_get(&d->texts, y));
		if (r)
			return r;
	}
	return 0;
}

static int row_order(void *ctx, uint32_t ia, uint32_t ib)
{
	const struct diff *d = ctx;
	const struct diff_row *a = &d->rows.data[ia], *b = &d->rows.data[ib];
	int r = 0;

	if (d->opts.order)
		r = recording_order(d, a, b, d->opts.order, true);
	if (!r && a->period[0] != b->period[0])
		r = a->period[0] > b->period[0] ? -1 : 1;
	for (unsigned n = 1; n < d->n && !r; n++)
		r = recording_order(d, a, b, n, false);
	return r ? r : text_order(d, a, b);
}

static int diff_by_text(const void *a, const void *b, void *ctx)
{
	const struct diff *d = ctx;

	return text_order(d, &d->rows.data[*(const uint32_t *)a],
			  &d->rows.data[*(const uint32_t *)b]);
}

static void sort_rows(struct diff *d)
{
	AUTO_FREE uint32_t *order = mem_alloc((d->rows.n + 1) * sizeof(*order));
	struct diff_row *sorted = mem_grow(NULL, (d->rows.n + 1) * sizeof(*sorted));
	size_t n = 0;

	for (uint32_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *r = &d->rows.data[i];

		if (!d->opts.baseline_only || (r->has[0] && r->others))
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), diff_by_text, d);
	order_insert(order, n, row_order, d);
	for (size_t i = 0; i < n; i++)
		sorted[i] = d->rows.data[order[i]];
	free(d->rows.data);
	d->rows.data = sorted;
	d->rows.n = n;
	d->rows.cap = n + 1;
}

void diff_make(struct diff *d, const struct hist *const *hists, unsigned n,
	       const struct diff_opts *o)
{
	struct map index = { 0 };

	*d = (struct diff){ .hist = hists, .n = n, .opts = *o };
	d->columns = hists[0]->cells->opts.columns;
	for (unsigned i = 0; i < n; i++)
		add_recording(d, &index, i);
	map_free(&index);
	sort_rows(d);
}

void diff_free(struct diff *d)
{
	vec_free(&d->rows);
	strtab_free(&d->texts);
	arena_free(&d->arena);
}
