/* SPDX-License-Identifier: MIT */
#include "cmd/tui_hist.h"

#include <stdlib.h>
#include <string.h>

struct own {
	struct columns columns;
	struct cells cells;
	struct hist h;
	struct tui_row *row;
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
				 .row = o->row,
				 .n_rows = h->rows.n,
				 .own = o };
	for (unsigned i = 0; i < o->columns.n && t->n_columns < TUI_COLUMNS; i++) {
		const struct column *c = &o->columns.col[i];
		unsigned at = t->n_columns;

		if (c->value < 0 || c->key == KEY_IPC || !column_applies(c, h->opts.type))
			continue;
		if (c->key == KEY_DSO)
			t->dso_column = (int)at;
		if (c->key == KEY_PID || c->key == KEY_TGID ||
		    (c->key == KEY_COMM && t->thread_column < 0))
			t->thread_column = (int)at;
		o->column[at] = (uint8_t)i;
		t->column[t->n_columns++] = title(c);
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
	o->row = mem_alloc((o->h.rows.n + 1) * sizeof(*o->row));
	for (size_t i = 0; i < o->h.rows.n; i++) {
		const struct hist_row *row = &o->h.rows.data[i];

		o->row[i] = (struct tui_row){ .self = row->self,
					      .total = row->total,
					      .count = row->count,
					      .frame = symbol ? n->sites.data[row->site].frame
							      : CALLS_NONE };
	}
	fill_table(ret, o, to->chains);
}

void tui_hist_release(void *ctx, struct tui_table *t)
{
	struct own *o = t->own;

	(void)ctx;
	hist_free(&o->h);
	cells_free(&o->cells);
	free(o->row);
	if (o->drop)
		o->drop(o->ctx);
	free(o);
}

const char *tui_hist_cell(void *ctx, const struct tui_table *t, size_t row, unsigned column,
			  char *buf, size_t size)
{
	const struct own *o = t->own;
	const struct hist_row *r = &o->h.rows.data[row];

	(void)ctx;
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
	hist_walk_init(&w, &o->h, NULL);
	for (c.entry = 0; c.entry < p->entries.n; c.entry++)
		if (p->entries.data[c.entry].type == t->type)
			hist_walk(&w, c.entry, on_row, &c);
	hist_walk_free(&w);
}
