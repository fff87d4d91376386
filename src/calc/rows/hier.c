/* SPDX-License-Identifier: MIT */
#include "calc/rows/hier.h"

#include <stdlib.h>
#include <string.h>

static void find_levels(struct hier *t)
{
	const struct columns *cols = t->hist->cells->opts.columns;
	int number[KEY_COLUMNS] = { 0 };

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];
		unsigned l = 0;

		if (column_is_sum(c) || c->hidden || !column_applies(c, t->hist->opts.type))
			continue;
		while (l < t->n_levels && number[l] != c->level)
			l++;
		if (l == t->n_levels)
			number[t->n_levels++] = c->level;
		t->level[l][t->level_n[l]++] = cols->sort[i];
	}
}

/* Do the rows show the same at this level? */
static bool same_level(const struct hier *t, unsigned level, uint32_t a, uint32_t b)
{
	const struct cells *c = t->hist->cells;

	for (unsigned i = 0; i < t->level_n[level]; i++)
		if (cell_compare(c, &c->opts.columns->col[t->level[level][i]],
				 t->hist->rows.data[a].at, t->hist->rows.data[b].at) != 0)
			return false;
	return true;
}

static int by_level(const void *pa, const void *pb, void *ctx)
{
	const struct hier *t = ctx;
	const struct cells *c = t->hist->cells;
	const struct hist_row *x = &t->hist->rows.data[*(const uint32_t *)pa];
	const struct hist_row *y = &t->hist->rows.data[*(const uint32_t *)pb];

	for (unsigned l = 0; l < t->n_levels; l++)
		for (unsigned i = 0; i < t->level_n[l]; i++) {
			int r = cell_compare(c, &c->opts.columns->col[t->level[l][i]], x->at,
					     y->at);

			if (r)
				return r;
		}
	return 0;
}

struct building {
	struct hier *t;
	bool modes; /* rows have a by_mode */
	VEC(struct hier_node) nodes;
	VEC(struct hist_row) rows;
	struct {
		struct hist_row *data;
		size_t n, cap;
	} * members; /* by member: a row for each node */
};

/* A copy of a row, to be added to. */
static struct hist_row sum_begin(struct building *b, struct hist_row r)
{
	static const uint64_t none[HIST_MODES];

	if (b->modes)
		r.by_mode =
			arena_dup(&b->t->sums.modes, r.by_mode ? r.by_mode : none, sizeof(none));
	return r;
}

/* Nodes of rows[0..n), which stand in the order of their levels, at one level and below. */
static uint32_t build(struct building *b, const uint32_t *rows, size_t n, unsigned level)
{
	struct hier *t = b->t;
	const struct hist *h = t->hist;
	VEC(uint32_t) found = { 0 };
	uint32_t first;

	for (size_t i = 0, end; i < n; i = end) {
		uint32_t me = (uint32_t)b->nodes.n;
		bool lowest = level + 1 == t->n_levels;
		struct hist_row sum = sum_begin(b, h->rows.data[rows[i]]);

		for (end = i + 1; end < n && same_level(t, level, rows[i], rows[end]); end++)
			hist_add_sums(&sum, &h->rows.data[rows[end]]);
		for (size_t k = i + 1; k < end; k++)
			sum.hidden = sum.hidden && h->rows.data[rows[k]].hidden;
		vec_push(&b->nodes, (struct hier_node){ .depth = level,
							.child = HIST_NO_ROW,
							.next = HIST_NO_ROW,
							.row = lowest ? rows[i] : HIST_NO_ROW });
		vec_push(&b->rows, sum);
		for (unsigned m = 0; m < h->n_members; m++) {
			struct hist_row part = sum_begin(b, (struct hist_row){ .at = sum.at });

			for (size_t k = i; k < end; k++)
				if (hist_pair(h, rows[k], m))
					hist_add_sums(&part, hist_pair(h, rows[k], m));
			vec_push(&b->members[m], part);
		}
		vec_push(&found, me);
		if (!lowest) {
			uint32_t child = build(b, rows + i, end - i, level + 1);

			b->nodes.data[me].child = child;
		}
	}
	/* in the order of output; what lies below is in place already */
	t->sums.rows.data = b->rows.data;
	t->sums.rows.n = b->rows.n;
	for (unsigned m = 0; m < h->n_members; m++) {
		t->sums.member[m].rows.data = b->members[m].data;
		t->sums.member[m].rows.n = b->members[m].n;
	}
	hist_order_some(&t->sums, found.data, found.n);
	for (size_t i = 0; i + 1 < found.n; i++)
		b->nodes.data[found.data[i]].next = found.data[i + 1];
	if (found.n)
		b->nodes.data[found.data[found.n - 1]].next = HIST_NO_ROW;
	first = found.n ? found.data[0] : HIST_NO_ROW;
	vec_free(&found);
	return first;
}

void hier_make(struct hier *t, const struct hist *h)
{
	AUTO_FREE uint32_t *rows = mem_alloc((h->rows.n + 1) * sizeof(*rows));
	struct building b = { .t = t, .modes = hist_has_modes(h) };
	size_t pairs;

	*t = (struct hier){ .hist = h, .sums = { .cells = h->cells, .opts = h->opts } };
	t->sums.n_members = h->n_members;
	t->sums.sort_member = h->sort_member;
	t->sums.member = mem_alloc((h->n_members + 1) * sizeof(*t->sums.member));
	b.members = mem_alloc((h->n_members + 1) * sizeof(*b.members));
	find_levels(t);
	/* a node's members have the node's number */
	pairs = h->rows.n * t->n_levels * h->n_members;
	t->sums.pair = mem_alloc((pairs + 1) * sizeof(*t->sums.pair));
	for (size_t i = 0; i < pairs; i++)
		t->sums.pair[i] = (uint32_t)(i / h->n_members);
	for (uint32_t i = 0; i < h->rows.n; i++)
		rows[i] = i;
	if (h->rows.n)
		qsort_r(rows, h->rows.n, sizeof(*rows), by_level, t);
	t->top = t->n_levels ? build(&b, rows, h->rows.n, 0) : HIST_NO_ROW;
	t->node = b.nodes.data;
	t->n = b.nodes.n;
	memcpy(&t->sums.rows, &b.rows, sizeof(t->sums.rows));
	free(b.members);
}

void hier_free(struct hier *t)
{
	hist_free(&t->sums);
	free(t->node);
}
