/* SPDX-License-Identifier: MIT */
/* From a table to the lines on the screen: which rows, in which order, opened how far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "view/tui_report.h"

struct load {
	struct tui_view *v;
	const struct tui_query *q;
	struct tui_table *t;
	struct err *e;
};

static int load_job(void *ctx)
{
	struct load *l = ctx;

	return l->v->m->make(l->v->m->ctx, l->q, l->t, l->e);
}

int tui_rows_load(struct tui_view *v, const struct tui_query *q, struct err *e)
{
	struct tui_table t = { 0 };
	struct load l = { .v = v, .q = q, .t = &t, .e = e };
	char *sort = mem_strdup(q->sort);
	int r = v->m->refresh_ms && v->has_table ? load_job(&l) /* a live view has what it needs */
						 : tui_busy("Counting samples and finding names",
							    v->m->progress, load_job, &l);

	if (r < 0) {
		free(sort);
		return r;
	}
	tui_rows_unload(v);
	v->query = *q;
	free(v->sort_text);
	v->query.sort = v->sort_text = sort;
	v->t = t;
	v->has_table = true;
	v->tree = mem_alloc((t.n_rows + 1) * sizeof(*v->tree));
	v->open = mem_alloc((t.n_rows + 1) * sizeof(*v->open));
	if (v->sort_by == TUI_SORT_TOTAL && !t.children)
		v->sort_by = TUI_SORT_SELF;
	if (v->sort_by >= TUI_SORT_TEXT + t.n_columns)
		v->sort_by = t.children ? TUI_SORT_TOTAL : TUI_SORT_SELF;
	tui_rows_order(v);
	return 0;
}

void tui_rows_unload(struct tui_view *v)
{
	if (!v->has_table)
		return;
	for (size_t i = 0; i < v->t.n_rows; i++)
		tui_tree_free(&v->tree[i]);
	free(v->tree);
	free(v->open);
	v->tree = NULL;
	v->open = NULL;
	vec_free(&v->order);
	vec_free(&v->lines);
	v->m->release(v->m->ctx, &v->t);
	v->has_table = false;
}

const char *tui_rows_cell(const struct tui_view *v, uint32_t row, unsigned column, char *buf,
			  size_t size)
{
	return v->m->cell(v->m->ctx, &v->t, row, column, buf, size);
}

uint64_t tui_rows_weight(const struct tui_view *v, uint32_t row)
{
	return v->t.children ? v->t.row[row].total : v->t.row[row].self;
}

double tui_rows_percent(const struct tui_view *v, uint64_t weight)
{
	uint64_t all = v->relative && v->shown_most ? v->shown_most : v->t.total;

	return all ? 100.0 * (double)weight / (double)all : 0;
}

static bool wanted(const struct tui_view *v, uint32_t row)
{
	char buf[1024];

	if (100.0 * (double)tui_rows_weight(v, row) < v->percent_limit * (double)v->t.total)
		return false;
	for (size_t i = 0; i < v->zooms.n; i++)
		if (strcmp(tui_rows_cell(v, row, v->zooms.data[i].column, buf, sizeof(buf)),
			   v->zooms.data[i].text) != 0)
			return false;
	if (!v->filter[0])
		return true;
	for (unsigned c = 0; c < v->t.n_columns; c++)
		if (str_icontains(tui_rows_cell(v, row, c, buf, sizeof(buf)), v->filter))
			return true;
	return false;
}

static int compare_sums(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Equal ones stay in the table's order. */
static int compare_rows(const void *pa, const void *pb, void *ctx)
{
	const struct tui_view *v = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct tui_row *x = &v->t.row[a], *y = &v->t.row[b];
	char p[1024], q[1024];
	int c;

	switch (v->sort_by) {
	case TUI_SORT_TOTAL: c = compare_sums(x->total, y->total); break;
	case TUI_SORT_SELF: c = compare_sums(x->self, y->self); break;
	case TUI_SORT_COUNT: c = compare_sums(x->count, y->count); break;
	default:
		c = strcmp(tui_rows_cell(v, a, v->sort_by - TUI_SORT_TEXT, p, sizeof(p)),
			   tui_rows_cell(v, b, v->sort_by - TUI_SORT_TEXT, q, sizeof(q)));
	}
	return c ? c : a < b ? -1 : a > b;
}

static void measure(struct tui_view *v)
{
	char buf[1024];

	for (unsigned c = 0; c < v->t.n_columns; c++) {
		v->width[c] = tui_columns(v->t.column[c]);
		for (size_t i = 0; i < v->order.n; i++) {
			int n = tui_columns(
				tui_rows_cell(v, v->order.data[i], c, buf, sizeof(buf)));

			if (n > v->width[c])
				v->width[c] = n;
		}
	}
}

void tui_rows_order(struct tui_view *v)
{
	v->order.n = 0;
	v->shown_self = v->shown_most = 0;
	for (uint32_t i = 0; i < v->t.n_rows; i++)
		if (wanted(v, i)) {
			vec_push(&v->order, i);
			v->shown_self += v->t.row[i].self;
			if (tui_rows_weight(v, i) > v->shown_most)
				v->shown_most = tui_rows_weight(v, i);
		}
	if (v->shown_self > v->shown_most)
		v->shown_most = v->shown_self;
	if (v->order.n)
		qsort_r(v->order.data, v->order.n, sizeof(*v->order.data), compare_rows, v);
	measure(v);
	tui_rows_lines(v);
}

void tui_rows_lines(struct tui_view *v)
{
	uint64_t least = (uint64_t)((double)v->t.total * v->graph_limit / 100);
	tui_tree_lines lines = { 0 };

	v->lines.n = 0;
	for (size_t i = 0; i < v->order.n; i++) {
		uint32_t row = v->order.data[i];

		vec_push(&v->lines, (struct tui_report_line){ .row = row, .is_row = true });
		if (!v->open[row])
			continue;
		lines.n = 0;
		tui_tree_list(&v->tree[row], least, &lines);
		for (size_t k = 0; k < lines.n; k++)
			vec_push(&v->lines,
				 (struct tui_report_line){ .row = row, .tree = lines.data[k] });
	}
	vec_free(&lines);
	v->list.n = v->lines.n;
	tui_list_fit(&v->list);
}

static void add_entry(void *to, size_t entry, int64_t at)
{
	calls_add(to, entry, at);
}

struct grow {
	struct tui_view *v;
	uint32_t row;
};

static int grow_tree(void *ctx)
{
	struct grow *g = ctx;
	struct tui_view *v = g->v;

	v->m->each_entry(v->m->ctx, &v->t, g->row, add_entry, v->tree[g->row].calls);
	calls_open(v->tree[g->row].calls, CALLS_ROOT);
	return 0;
}

void tui_rows_open(struct tui_view *v, uint32_t row, bool on)
{
	struct grow g = { .v = v, .row = row };

	if (!v->t.chains)
		on = false;
	v->open[row] = on;
	if (on && !v->tree[row].calls) {
		v->tree[row].calls = calls_new(v->t.names, v->t.inwards);
		tui_busy("Collecting call chains", NULL, grow_tree, &g);
	}
}

/* Events that have no samples (perf's dummy, for one) are none to look at. */
static bool has_samples(const struct tui_view *v, size_t type)
{
	return v->t.names->profile->total[type].all_count || type == v->t.type;
}

unsigned tui_rows_events(const struct tui_view *v, unsigned *which)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->m->trace->n_types; i++) {
		if (i == v->t.type)
			*which = n;
		n += has_samples(v, i);
	}
	return n;
}

uint32_t tui_rows_next_event(const struct tui_view *v, bool back)
{
	size_t n = v->m->trace->n_types, at = v->t.type;

	do
		at = (at + (back ? n - 1 : 1)) % n;
	while (!has_samples(v, at));
	return (uint32_t)at;
}

const struct tui_report_line *tui_rows_at(const struct tui_view *v)
{
	return v->list.at < v->lines.n ? &v->lines.data[v->list.at] : NULL;
}

uint32_t tui_rows_frame(const struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);

	if (!l)
		return CALLS_NONE;
	if (l->is_row)
		return v->t.row[l->row].frame;
	return l->tree.more ? CALLS_NONE : calls_get(v->tree[l->row].calls, l->tree.node)->frame;
}

const char *tui_rows_text(void *view, size_t line, char *buf, size_t size)
{
	const struct tui_view *v = view;
	const struct tui_report_line *l = &v->lines.data[line];
	char cell[1024];
	size_t n = 0;

	if (!l->is_row)
		return tui_tree_text(&v->tree[l->row], v->t.names, &l->tree, v->t.total, buf, size);
	buf[0] = 0;
	for (unsigned c = 0; c < v->t.n_columns && n < size; c++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", c ? "  " : "",
				      tui_rows_cell(v, l->row, c, cell, sizeof(cell)));
	return buf;
}
