/* SPDX-License-Identifier: MIT */
#include "cmd/tui_hist.h"

#include <stdlib.h>
#include <string.h>

struct own {
	struct columns columns;
	struct cells cells;
	struct hist h;
	const struct column *shown[KEY_COLUMNS]; /* those with a value, in order */
	unsigned n_shown;
	struct tui_row *row;
	void (*drop)(void *ctx);
	void *ctx;
};

static bool is_simple(enum key k)
{
	return key_infos[k].kind == KEY_SUM || k == KEY_PID || k == KEY_TGID || k == KEY_COMM ||
	       k == KEY_CPU || k == KEY_DSO || k == KEY_SYM || k == KEY_SYM_SIZE ||
	       k == KEY_DSO_SIZE || k == KEY_ADDR || k == KEY_IPC;
}

int tui_hist_columns(struct columns *c, const char *sort, const struct trace *t, struct err *e)
{
	int r = columns_make(c, &(struct columns_opts){ .sort = sort, .trace = t }, e);

	for (unsigned i = 0; r == 0 && i < c->n; i++)
		if (!is_simple(c->col[i].key)) {
			err_set(e, EINVAL, "this view cannot sort by '%s'",
				key_infos[c->col[i].key].name);
			r = err_hint(e, "comm, pid, tgid, dso, symbol, cpu; --stdio has all keys");
		}
	return r;
}

static void fill_table(struct tui_table *t, const struct own *o, bool chains)
{
	const struct hist *h = &o->h;

	*t = (struct tui_table){ .names = o->cells.names,
				 .type = h->opts.type,
				 .children = h->opts.children,
				 .chains = chains,
				 .inwards = h->opts.children,
				 .total = h->weight,
				 .count = h->count,
				 .n_columns = o->n_shown,
				 .thread_column = -1,
				 .dso_column = -1,
				 .row = o->row,
				 .n_rows = h->rows.n,
				 .own = (void *)o };
	for (unsigned i = 0; i < o->n_shown; i++) {
		enum key k = o->shown[i]->key;

		t->column[i] = o->shown[i]->title + strspn(o->shown[i]->title, " ");
		if (k == KEY_DSO)
			t->dso_column = (int)i;
		if (k == KEY_PID || k == KEY_TGID || (k == KEY_COMM && t->thread_column < 0))
			t->thread_column = (int)i;
	}
}

void tui_hist_make(const struct names *n, const struct tui_hist_opts *to, struct tui_table *ret)
{
	struct own *o = mem_alloc(sizeof(*o));
	bool sym;

	o->columns = *to->columns;
	o->drop = to->drop;
	o->ctx = to->ctx;
	cells_make(&o->cells, n,
		   &(struct cells_opts){ .columns = &o->columns, .caller = to->children });
	hist_make(&o->h, &o->cells,
		  &(struct hist_opts){ .type = to->type,
				       .children = to->children,
				       .caller = to->children,
				       .use_chains = to->chains });
	sym = columns_have(&o->columns, KEY_SYM);
	for (unsigned i = 0; i < o->columns.n && o->n_shown < ARRAY_SIZE(ret->column); i++)
		if (o->columns.col[i].value >= 0 && !o->columns.col[i].hidden &&
		    o->columns.col[i].key != KEY_IPC)
			o->shown[o->n_shown++] = &o->columns.col[i];
	o->row = mem_alloc((o->h.rows.n + 1) * sizeof(*o->row));
	for (size_t i = 0; i < o->h.rows.n; i++) {
		const struct hist_row *row = &o->h.rows.data[i];

		o->row[i] = (struct tui_row){ .self = row->self,
					      .total = row->total,
					      .count = row->count,
					      .frame = sym ? n->sites.data[row->site].frame
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
	return cell_text(&o->cells, o->shown[column], r->at, r->count, buf, size);
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
	hist_walk_init(&w, &o->h);
	for (c.entry = 0; c.entry < p->entries.n; c.entry++)
		if (p->entries.data[c.entry].type == t->type)
			hist_walk(&w, c.entry, on_row, &c);
	hist_walk_free(&w);
}
