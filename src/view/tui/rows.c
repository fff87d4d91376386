/* SPDX-License-Identifier: MIT */
/* From a table to the lines on the screen: which rows, in which order, opened how far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "view/tui/report.h"

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
	int r = v->m->refresh_ms && v->has_table
			? load_job(&l) /* a live view has what it needs */
			: tui_busy("Counting samples and finding names", load_job, &l);

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
	v->row = mem_alloc((t.n_rows + 1) * sizeof(*v->row));
	v->sums = mem_alloc((t.n_rows * t.n_sums + 1) * sizeof(*v->sums));
	if (v->sort_by == TUI_SORT_TOTAL && t.n_sums && t.order_sum >= 0)
		v->sort_by = TUI_SORT_SUM + (unsigned)t.order_sum;
	if (v->sort_by >= TUI_SORT_SUM && v->sort_by < TUI_SORT_TEXT &&
	    v->sort_by - TUI_SORT_SUM >= t.n_sums)
		v->sort_by = TUI_SORT_TOTAL;
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
	free(v->row);
	free(v->sums);
	v->tree = NULL;
	v->open = NULL;
	v->row = NULL;
	v->sums = NULL;
	vec_free(&v->order);
	vec_free(&v->lines);
	tui_hist_free(v->t.own);
	v->has_table = false;
}

const char *tui_rows_cell(const struct tui_view *v, uint32_t row, unsigned column, char *buf,
			  size_t size)
{
	return tui_hist_cell(v->t.own, row, column, buf, size);
}

uint64_t tui_rows_weight(const struct tui_view *v, uint32_t row)
{
	return v->t.children ? v->row[row].total : v->row[row].self;
}

int tui_rows_indent(const struct tui_view *v, uint32_t row)
{
	return v->t.tree ? TUI_INDENT * (v->row[row].depth + 1) : 0;
}

double tui_rows_percent(const struct tui_view *v, uint64_t weight)
{
	return profile_percent(weight, v->relative && v->shown_most ? v->shown_most : v->t.total);
}

static bool heavy(const struct tui_view *v, uint32_t row)
{
	return 100.0 * (double)tui_rows_weight(v, row) >= v->percent_limit * (double)v->t.total;
}

/* Do zooms and filter leave a row that none stands below? */
static bool tui_rows_wanted(const struct tui_view *v, uint32_t row)
{
	char buf[1024];

	if (v->row[row].hidden)
		return false;
	for (size_t i = 0; i < v->zooms.n; i++)
		if (strcmp(tui_rows_cell(v, row, v->zooms.data[i].column, buf, sizeof(buf)),
			   v->zooms.data[i].text) != 0)
			return false;
	if (!v->filter[0])
		return true;
	for (unsigned c = 0; c < v->t.n_keys; c++)
		if (str_icontains(tui_rows_cell(v, row, c, buf, sizeof(buf)), v->filter))
			return true;
	return false;
}

/* The rows that are left, inner ones with the sums of what is left of theirs: from below upwards,
 * as rows stand behind those they are below of. */
static void choose_rows(struct tui_view *v)
{
	unsigned sums = v->t.n_sums;

	if (!v->t.n_rows)
		return;
	memcpy(v->row, v->t.row, v->t.n_rows * sizeof(*v->row));
	if (sums)
		memcpy(v->sums, v->t.sums, v->t.n_rows * sums * sizeof(*v->sums));
	for (size_t i = 0; i < v->t.n_rows; i++)
		if (v->row[i].inner) {
			memset(&v->sums[i * sums], 0, sums * sizeof(*v->sums));
			v->row[i].self = v->row[i].total = v->row[i].count = 0;
			v->row[i].hidden = true;
		}
	for (size_t i = v->t.n_rows; i-- > 0;) {
		struct tui_row *r = &v->row[i];
		struct tui_row *parent = r->parent == TUI_TOP ? NULL : &v->row[r->parent];

		if (!r->inner)
			r->hidden = !tui_rows_wanted(v, (uint32_t)i);
		if (r->hidden || !parent)
			continue;
		parent->hidden = false;
		parent->self += r->self;
		parent->total += r->total;
		parent->count += r->count;
		for (unsigned k = 0; k < sums; k++)
			v->sums[(size_t)r->parent * sums + k] += v->sums[i * sums + k];
	}
	for (size_t i = 0; i < v->t.n_rows; i++) {
		struct tui_row *r = &v->row[i];

		r->hidden = r->hidden || !heavy(v, (uint32_t)i) ||
			    (r->parent != TUI_TOP && v->row[r->parent].hidden);
	}
}

static int compare_sums(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Equal ones stay in the table's order. */
static int compare_siblings(const struct tui_view *v, uint32_t a, uint32_t b)
{
	char p[1024], q[1024];
	int c;

	if (v->sort_by < TUI_SORT_TEXT)
		c = compare_sums(tui_sums_value(v, a, v->sort_by),
				 tui_sums_value(v, b, v->sort_by));
	else
		c = strcmp(tui_rows_cell(v, a, v->sort_by - TUI_SORT_TEXT, p, sizeof(p)),
			   tui_rows_cell(v, b, v->sort_by - TUI_SORT_TEXT, q, sizeof(q)));
	return c ? c : a < b ? -1 : a > b;
}

/* Rows of a tree stand behind the one they are below of: those above them decide. */
static int compare_rows(const void *pa, const void *pb, void *ctx)
{
	const struct tui_view *v = ctx;
	const struct tui_row *r = v->row;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int deeper = (int)r[a].depth - (int)r[b].depth;

	while (r[a].depth > r[b].depth)
		a = r[a].parent;
	while (r[b].depth > r[a].depth)
		b = r[b].parent;
	if (a == b)
		return deeper;
	while (r[a].parent != r[b].parent) {
		a = r[a].parent;
		b = r[b].parent;
	}
	return compare_siblings(v, a, b);
}

static void tui_rows_measure(struct tui_view *v)
{
	char buf[1024];

	for (unsigned c = 0; c < v->t.n_columns; c++) {
		v->width[c] = tui_columns(v->t.column[c]);
		for (size_t i = 0; i < v->order.n; i++) {
			int n = tui_columns(
				tui_rows_cell(v, v->order.data[i], c, buf, sizeof(buf)));

			n += tui_rows_indent(v, v->order.data[i]);
			if (n > v->width[c])
				v->width[c] = n;
		}
	}
}

/* What is left of a sum: those of rows, or where they hold each other the greatest. */
static void show_sum(struct tui_view *v, uint32_t row, unsigned k)
{
	uint64_t sum = v->sums[(size_t)row * v->t.n_sums + k];

	if (v->t.children) {
		if (sum > v->shown_sum[k])
			v->shown_sum[k] = sum;
	} else if (v->row[row].parent == TUI_TOP) {
		v->shown_sum[k] += sum;
	}
}

void tui_rows_order(struct tui_view *v)
{
	v->order.n = 0;
	v->shown_self = v->shown_most = v->heaviest = 0;
	memset(v->shown_sum, 0, sizeof(v->shown_sum));
	choose_rows(v);
	for (uint32_t i = 0; i < v->t.n_rows; i++)
		if (!v->row[i].hidden) {
			vec_push(&v->order, i);
			if (v->row[i].parent == TUI_TOP)
				v->shown_self += v->row[i].self;
			if (tui_rows_weight(v, i) > v->shown_most)
				v->shown_most = tui_rows_weight(v, i);
			for (unsigned k = 0; k < v->t.n_sums; k++)
				show_sum(v, i, k);
		}
	v->heaviest = v->shown_most;
	if (v->shown_self > v->shown_most)
		v->shown_most = v->shown_self;
	if (v->order.n)
		qsort_r(v->order.data, v->order.n, sizeof(*v->order.data), compare_rows, v);
	tui_rows_measure(v);
	tui_rows_lines(v);
}

/* The weight a row's branches are shown from: a share of everything, or of the row where that has
 * less, as it was opened to be looked into. */
static uint64_t least_branch(const struct tui_view *v, uint32_t row)
{
	double share = v->graph_limit / 100;
	uint64_t least = (uint64_t)((double)v->t.total * share), own = tui_rows_weight(v, row);

	return own < least ? (uint64_t)((double)own * share) : least;
}

/* The lines, or with those of rows that are closed away. */
static void tui_rows_list(struct tui_view *v, bool closed_too, tui_report_lines *ret)
{
	tui_tree_lines lines = { 0 };

	ret->n = 0;
	for (size_t i = 0; i < v->order.n; i++) {
		uint32_t row = v->order.data[i];

		vec_push(ret, (struct tui_report_line){ .row = row, .is_row = true });
		if (v->row[row].inner && !v->open[row] && !closed_too)
			while (i + 1 < v->order.n &&
			       v->row[v->order.data[i + 1]].depth > v->row[row].depth)
				i++;
		if (v->row[row].inner || !v->open[row])
			continue;
		lines.n = 0;
		tui_tree_list(&v->tree[row], least_branch(v, row), &lines);
		for (size_t k = 0; k < lines.n; k++)
			vec_push(ret,
				 (struct tui_report_line){ .row = row, .tree = lines.data[k] });
	}
	vec_free(&lines);
}

void tui_rows_lines(struct tui_view *v)
{
	tui_rows_list(v, false, &v->lines);
	v->list.n = v->lines.n;
	tui_list_fit(&v->list);
}

static void tui_rows_add_entry(void *to, size_t entry, int64_t at)
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

	tui_hist_each_entry(v->t.own, g->row, tui_rows_add_entry, v->tree[g->row].calls);
	calls_open(v->tree[g->row].calls, CALLS_ROOT);
	return 0;
}

void tui_rows_open(struct tui_view *v, uint32_t row, bool on)
{
	struct grow g = { .v = v, .row = row };

	if (!tui_rows_opens(v, row))
		on = false;
	v->open[row] = on;
	if (on && !v->row[row].inner && !v->tree[row].calls) {
		v->tree[row].calls = calls_new(v->t.names, v->t.inwards);
		tui_busy("Collecting call chains", grow_tree, &g);
	}
}

bool tui_rows_opens(const struct tui_view *v, uint32_t row)
{
	return v->row[row].inner || (v->t.chains && v->row[row].total);
}

void tui_rows_go(struct tui_view *v, uint32_t row)
{
	for (uint32_t up = v->row[row].parent; up != TUI_TOP; up = v->row[up].parent)
		v->open[up] = true;
	tui_rows_lines(v);
	for (v->list.at = 0; v->list.at + 1 < v->lines.n; v->list.at++)
		if (v->lines.data[v->list.at].row == row)
			break;
	tui_list_fit(&v->list);
}

/* Events that have no samples (perf's dummy, for one) are none to look at. */
static bool has_samples(const struct tui_view *v, size_t type)
{
	const uint32_t *leader = v->m->leader;

	if (!leader)
		return v->t.names->profile->total[type].all_count || type == v->t.type;
	for (size_t i = 0; i < v->m->trace->n_types; i++)
		if (leader[i] == type && v->t.names->profile->total[i].all_count)
			return true;
	return type == v->t.type;
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
		return v->row[l->row].frame;
	return l->tree.more ? CALLS_NONE : calls_get(v->tree[l->row].calls, l->tree.node)->frame;
}

static const char *tui_rows_text(const struct tui_view *v, const struct tui_report_line *l,
				 char *buf, size_t size)
{
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

/* --- searching: what closed rows of a tree hide is found, too, and opened --- */

struct searched {
	struct tui_view *v;
	tui_report_lines lines;
};

static const char *tui_rows_search_text(void *ctx, size_t line, char *buf, size_t size)
{
	const struct searched *s = ctx;

	return tui_rows_text(s->v, &s->lines.data[line], buf, size);
}

static bool same_line(const struct tui_report_line *a, const struct tui_report_line *b)
{
	return a->row == b->row && a->is_row == b->is_row &&
	       (a->is_row || (a->tree.node == b->tree.node && a->tree.more == b->tree.more));
}

/* Where the line is among others; 0 when it is not. */
static size_t tui_rows_search_find(const tui_report_lines *lines, const struct tui_report_line *l)
{
	for (size_t i = 0; i < lines->n; i++)
		if (same_line(&lines->data[i], l))
			return i;
	return 0;
}

bool tui_rows_search(struct tui_view *v, int key)
{
	struct searched s = { .v = v };
	struct tui_list list = { 0 };
	size_t before;
	bool mine;

	if (key != '/' && key != 'n' && key != 'N')
		return false;
	tui_rows_list(v, true, &s.lines);
	list.n = s.lines.n;
	before = list.at = tui_rows_at(v) ? tui_rows_search_find(&s.lines, tui_rows_at(v)) : 0;
	mine = tui_search_key(&v->base.search, &list, key, tui_rows_search_text, &s, v->base.note,
			      sizeof(v->base.note));
	if (mine && list.at != before) {
		struct tui_report_line found = s.lines.data[list.at];

		tui_rows_go(v, found.row);
		v->list.at = tui_rows_search_find(&v->lines, &found);
		tui_list_fit(&v->list);
	}
	vec_free(&s.lines);
	return mine;
}
