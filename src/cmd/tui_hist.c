/* SPDX-License-Identifier: MIT */
#include "cmd/tui_hist.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/hier.h"

struct own {
	struct columns columns;
	struct cells cells;
	struct hist h;
	bool tree;
	struct hier hier;    /* of a tree */
	uint32_t *node;	     /* of a tree: by row of the table */
	struct strbuf title; /* of a tree's one column */
	struct tui_row *row;
	size_t n_rows;
	uint8_t column[TUI_COLUMNS]; /* of the table: which of columns */
	void (*drop)(void *ctx);
	void *ctx;
};

/* Short titles where perf's are made for wide columns. */
static const char *title(const struct column *c)
{
	switch (c->key) {
	case KEY_PID: return "Thread";
	case KEY_TGID: return "Process";
	case KEY_DSO: return "File";
	case KEY_SRCLINE: return "Line";
	case KEY_SRCFILE: return "Source";
	case KEY_TRACE: return "Trace";
	default: return c->title;
	}
}

/* A tree's one column: the titles of its levels. */
static const char *tree_title(struct own *o)
{
	const struct hier *t = &o->hier;

	for (unsigned l = 0; l < t->n_levels; l++)
		for (unsigned i = 0; i < t->level_n[l]; i++)
			strbuf_printf(&o->title, "%s%s",
				      i	  ? " + "
				      : l ? " / "
					  : "",
				      title(&o->columns.col[t->level[l][i]]));
	return strbuf_str(&o->title);
}

static void fill_table(struct tui_table *t, struct own *o, bool chains)
{
	const struct hist *h = &o->h;

	*t = (struct tui_table){ .names = o->cells.names,
				 .type = h->opts.type,
				 .children = h->opts.children,
				 .chains = chains,
				 .inwards = h->opts.children,
				 .total = h->all_weight,
				 .count = h->all_count,
				 .thread_column = -1,
				 .dso_column = -1,
				 .tree = o->tree,
				 .row = o->row,
				 .n_rows = o->n_rows,
				 .own = o };
	if (o->tree)
		t->column[t->n_keys++] = tree_title(o);
	for (unsigned i = 0; i < o->columns.n && t->n_keys < TUI_COLUMNS; i++) {
		const struct column *c = &o->columns.col[i];
		unsigned at = t->n_keys;

		if (c->value < 0 || c->key == KEY_IPC || !column_applies(c, h->opts.type))
			continue;
		if (c->key == KEY_DSO)
			t->dso_column = (int)at;
		if (c->key == KEY_PID || c->key == KEY_TGID ||
		    (c->key == KEY_COMM && t->thread_column < 0))
			t->thread_column = (int)at;
		o->column[at] = (uint8_t)i;
		t->column[t->n_keys++] = title(c);
	}
	t->n_columns = o->tree ? 1 : t->n_keys;
}

static struct tui_row table_row(const struct hist_row *row)
{
	return (struct tui_row){ .self = row->self,
				 .total = row->total,
				 .count = row->count,
				 .hidden = row->hidden,
				 .parent = TUI_TOP,
				 .frame = CALLS_NONE };
}

/* Is the row's key that of its level or of one above it? */
static bool above(const struct hier *t, unsigned depth, unsigned column)
{
	for (unsigned l = 0; l <= depth; l++)
		for (unsigned i = 0; i < t->level_n[l]; i++)
			if (t->level[l][i] == column)
				return true;
	return false;
}

static void add_nodes(struct own *o, uint32_t node, uint32_t parent, const struct column *symbol)
{
	const struct hier *t = &o->hier;

	for (; node != HIST_NO_ROW; node = t->node[node].next) {
		const struct hier_node *n = &t->node[node];
		uint32_t me = (uint32_t)o->n_rows++;
		struct tui_row *row = &o->row[me];

		*row = table_row(&t->sums.rows.data[node]);
		row->parent = parent;
		row->depth = (uint8_t)n->depth;
		row->inner = n->child != HIST_NO_ROW;
		if (symbol && above(t, n->depth, (unsigned)(symbol - o->columns.col)))
			row->frame = o->cells.names->sites.data[t->sums.rows.data[node].site].frame;
		o->node[me] = node;
		add_nodes(o, n->child, me, symbol);
	}
}

static void add_rows(struct own *o, const struct column *symbol)
{
	o->row = mem_alloc((o->h.rows.n + 1) * sizeof(*o->row));
	o->n_rows = o->h.rows.n;
	for (size_t i = 0; i < o->n_rows; i++) {
		o->row[i] = table_row(&o->h.rows.data[i]);
		if (symbol)
			o->row[i].frame = o->cells.names->sites.data[o->h.rows.data[i].site].frame;
	}
}

void tui_hist_make(const struct names *n, const struct tui_hist_opts *to, struct tui_table *ret)
{
	struct own *o = mem_alloc(sizeof(*o));
	struct cells_opts co = to->cells;
	const struct column *symbol;

	o->columns = *co.columns;
	co.columns = &o->columns;
	cells_make(&o->cells, n, &co);
	hist_make(&o->h, &o->cells, &to->hist);
	o->drop = to->drop;
	o->ctx = to->ctx;
	symbol = columns_find(&o->columns, KEY_SYM);
	o->tree = to->tree;
	if (o->tree) {
		hier_make(&o->hier, &o->h);
		o->row = mem_alloc((o->hier.n + 1) * sizeof(*o->row));
		o->node = mem_alloc((o->hier.n + 1) * sizeof(*o->node));
		add_nodes(o, o->hier.top, TUI_TOP, symbol);
	} else {
		add_rows(o, symbol);
	}
	fill_table(ret, o, to->chains);
}

void tui_hist_release(void *ctx, struct tui_table *t)
{
	struct own *o = t->own;

	(void)ctx;
	if (o->tree)
		hier_free(&o->hier);
	strbuf_free(&o->title);
	free(o->node);
	hist_free(&o->h);
	cells_free(&o->cells);
	free(o->row);
	if (o->drop)
		o->drop(o->ctx);
	free(o);
}

/* A tree's row: the texts of its level, or what it has of a key. */
static const char *node_cell(const struct own *o, size_t row, unsigned column, char *buf,
			     size_t size)
{
	const struct hier *t = &o->hier;
	const struct hist_row *r = &t->sums.rows.data[o->node[row]];
	unsigned depth = o->row[row].depth;
	size_t n = 0;
	char cell[1024];

	if (column > 0)
		return above(t, depth, o->column[column])
			       ? cell_text(&o->cells, &o->columns.col[o->column[column]], r->at,
					   r->count, buf, size)
			       : "";
	buf[0] = 0;
	for (unsigned i = 0; i < t->level_n[depth] && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "  " : "",
				      cell_text(&o->cells, &o->columns.col[t->level[depth][i]],
						r->at, r->count, cell, sizeof(cell)));
	return buf;
}

const char *tui_hist_cell(void *ctx, const struct tui_table *t, size_t row, unsigned column,
			  char *buf, size_t size)
{
	const struct own *o = t->own;
	const struct hist_row *r;

	(void)ctx;
	if (o->tree)
		return node_cell(o, row, column, buf, size);
	r = &o->h.rows.data[row];
	return cell_text(&o->cells, &o->columns.col[o->column[column]], r->at, r->count, buf, size);
}

struct collect {
	uint32_t row;
	size_t entry;
	void (*fn)(void *to, size_t entry, int64_t at);
	void *to;
};

static void on_row(void *ctx, uint32_t row, int64_t at)
{
	const struct collect *c = ctx;

	if (row == c->row)
		c->fn(c->to, c->entry, at);
}

void tui_hist_each_entry(void *ctx, const struct tui_table *t, size_t row,
			 void (*fn)(void *to, size_t entry, int64_t at), void *to)
{
	const struct own *o = t->own;
	const struct profile *p = t->names->profile;
	struct collect c = { .row = (uint32_t)row, .fn = fn, .to = to };
	struct hist_walk w;

	(void)ctx;
	if (o->tree)
		c.row = o->hier.node[o->node[row]].row;
	hist_walk_init(&w, &o->h, NULL);
	for (c.entry = 0; c.entry < p->entries.n; c.entry++)
		if (p->entries.data[c.entry].type == t->type)
			hist_walk(&w, c.entry, on_row, &c);
	hist_walk_free(&w);
}
