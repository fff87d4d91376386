/* SPDX-License-Identifier: MIT */
/* Rows of a hist as a table of the interface. */

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/rows/hier.h"
#include "view/tui/tui.h"

struct tui_hist {
	struct columns columns;
	struct cells cells;
	struct hist h;
	bool tree;
	struct hier hier;    /* of a tree */
	uint32_t *node;	     /* of a tree: by row of the table */
	struct strbuf title; /* of a tree's one column */
	struct tui_row *row;
	size_t n_rows;
	uint64_t *sums;
	struct strbuf events;	     /* of a group */
	uint8_t column[TUI_COLUMNS]; /* of the table: which of columns */
	void (*drop)(void *ctx);
	void *ctx;
};

/* Short titles where perf's are made for wide columns. */
static const char *tui_hist_title(const struct column *c)
{
	return key_infos[c->key].brief ? key_infos[c->key].brief : c->title;
}

/* A tree's one column: the titles of its levels. */
static const char *tree_title(struct tui_hist *o)
{
	const struct hier *t = &o->hier;

	for (unsigned l = 0; l < t->n_levels; l++)
		for (unsigned i = 0; i < t->level_n[l]; i++)
			strbuf_printf(&o->title, "%s%s",
				      i	  ? " + "
				      : l ? " / "
					  : "",
				      tui_hist_title(&o->columns.col[t->level[l][i]]));
	return strbuf_str(&o->title);
}

static void fill_table(struct tui_table *t, struct tui_hist *o, bool chains)
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
		if (c->key == KEY_DSO || (c->key == KEY_DSO_FROM && t->dso_column < 0))
			t->dso_column = (int)at;
		if (c->key == KEY_PID || c->key == KEY_TGID ||
		    (c->key == KEY_COMM && t->thread_column < 0))
			t->thread_column = (int)at;
		o->column[at] = (uint8_t)i;
		t->column[t->n_keys++] = tui_hist_title(c);
	}
	t->n_columns = o->tree ? 1 : t->n_keys;
}

/* Where a sum is beside those that every table has; key: which it is. */
static void add_sum(struct tui_table *t, struct tui_hist *o, const struct hist *of, enum key key,
		    const char *name, int behind)
{
	size_t n = o->n_rows;
	const struct hist *h = o->tree ? &o->hier.sums : &o->h;
	unsigned k = t->n_sums, member = 0;

	if (k == TUI_SUMS)
		return;
	while (member < o->h.n_members && of != &o->h.member[member])
		member++;
	for (size_t i = 0; i < n; i++) {
		size_t at = o->tree ? o->node[i] : i;
		const struct hist_row *r =
			of == &o->h ? &h->rows.data[at] : hist_pair(h, at, member);

		o->sums[i * TUI_SUMS + k] = r ? hist_sum(of, r, key) : 0;
	}
	t->sum[k] = (struct tui_sum){ .title = name,
				      .total = key_infos[key].counts ? 0 : of->all_weight,
				      .base = of == &o->h ? -1 : (int)k,
				      .behind = (unsigned)behind };
	t->n_sums++;
}

/* Sums behind each other, as the table's are. */
static void pack_sums(struct tui_table *t, struct tui_hist *o)
{
	for (size_t i = 0; i < o->n_rows; i++)
		memmove(&o->sums[i * t->n_sums], &o->sums[i * TUI_SUMS],
			t->n_sums * sizeof(*o->sums));
	t->sums = o->sums;
}

static void add_sums(struct tui_table *t, struct tui_hist *o, const struct hist *h, unsigned order)
{
	bool leader = h == &o->h;
	int first = (int)t->n_sums;

	t->order_sum = !leader && order && h == &o->h.member[order - 1] ? first : t->order_sum;
	if (!leader && h->opts.children)
		add_sum(t, o, h, KEY_CHILDREN, "Children", TUI_SUM_TOTAL);
	if (!leader) {
		add_sum(t, o, h, KEY_OVERHEAD, h->opts.children ? "Self" : "Overhead",
			TUI_SUM_SELF);
		add_sum(t, o, h, KEY_SAMPLES, "Samples", TUI_SUM_COUNT);
		for (int k = first; k < (int)t->n_sums; k++)
			t->sum[k].base = first;
	}
	for (unsigned i = 0; i < o->columns.n; i++) {
		const struct column *c = &o->columns.col[i];

		if (column_is_sum(c) && !c->hidden && c->key != KEY_CHILDREN &&
		    c->key != KEY_OVERHEAD && c->key != KEY_SAMPLES)
			add_sum(t, o, h, c->key, tui_hist_title(c), TUI_SUM_LAST);
	}
}

static void name_events(struct tui_table *t, struct tui_hist *o, bool forced)
{
	const struct event_type *types = o->cells.names->profile->trace->types;

	strbuf_printf(&o->events, "%s%s", forced ? "" : "anon group { ", types[t->type].name);
	for (unsigned m = 0; m < o->h.n_members; m++)
		strbuf_printf(&o->events, ", %s", types[o->h.member[m].opts.type].name);
	strbuf_puts(&o->events, forced ? "" : " }");
	t->events = strbuf_str(&o->events);
}

static void fill_sums(struct tui_table *t, struct tui_hist *o, const struct tui_hist_opts *to)
{
	o->sums = mem_alloc((o->n_rows * TUI_SUMS + 1) * sizeof(*o->sums));
	t->order_sum = -1;
	t->events_total = t->total;
	add_sums(t, o, &o->h, 0);
	for (unsigned m = 0; m < o->h.n_members; m++) {
		add_sums(t, o, &o->h.member[m], to->order_member);
		t->count += o->h.member[m].all_count;
		t->events_total += o->h.member[m].all_weight;
	}
	if (o->h.n_members)
		name_events(t, o, to->forced_group);
	pack_sums(t, o);
}

static struct tui_row tui_hist_row(const struct hist_row *row)
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

static void add_nodes(struct tui_hist *o, uint32_t node, uint32_t parent,
		      const struct column *symbol)
{
	const struct hier *t = &o->hier;

	for (; node != HIST_NO_ROW; node = t->node[node].next) {
		const struct hier_node *n = &t->node[node];
		uint32_t me = (uint32_t)o->n_rows++;
		struct tui_row *row = &o->row[me];

		*row = tui_hist_row(&t->sums.rows.data[node]);
		row->parent = parent;
		row->depth = (uint8_t)n->depth;
		row->inner = n->child != HIST_NO_ROW;
		if (symbol && above(t, n->depth, (unsigned)(symbol - o->columns.col)))
			row->frame = o->cells.names->sites.data[t->sums.rows.data[node].site].frame;
		o->node[me] = node;
		add_nodes(o, n->child, me, symbol);
	}
}

static void add_rows(struct tui_hist *o, const struct column *symbol)
{
	o->row = mem_alloc((o->h.rows.n + 1) * sizeof(*o->row));
	o->n_rows = o->h.rows.n;
	for (size_t i = 0; i < o->n_rows; i++) {
		o->row[i] = tui_hist_row(&o->h.rows.data[i]);
		if (symbol)
			o->row[i].frame = o->cells.names->sites.data[o->h.rows.data[i].site].frame;
	}
}

void tui_hist_make(const struct names *n, const struct tui_hist_opts *to, struct tui_table *ret)
{
	struct tui_hist *o = mem_alloc(sizeof(*o));
	struct cells_opts co = to->cells;
	const struct column *symbol;

	o->columns = *co.columns;
	co.columns = &o->columns;
	cells_make(&o->cells, n, &co);
	hist_make(&o->h, &o->cells, &to->hist, to->leader, to->order_member);
	o->drop = to->drop;
	o->ctx = to->ctx;
	symbol = columns_find(&o->columns, KEY_SYM);
	if (!symbol) /* branches are where they lead to */
		symbol = columns_find(&o->columns, KEY_SYM_TO);
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
	fill_sums(ret, o, to);
}

void tui_hist_free(struct tui_hist *o)
{
	if (!o)
		return;
	if (o->tree)
		hier_free(&o->hier);
	strbuf_free(&o->title);
	strbuf_free(&o->events);
	free(o->sums);
	free(o->node);
	hist_free(&o->h);
	cells_free(&o->cells);
	free(o->row);
	if (o->drop)
		o->drop(o->ctx);
	free(o);
}

/* A tree's row: the texts of its level, or what it has of a key. */
static const char *node_cell(const struct tui_hist *o, size_t row, unsigned column, char *buf,
			     size_t size)
{
	const struct hier *t = &o->hier;
	const struct hist_row *r = &t->sums.rows.data[o->node[row]];
	unsigned depth = o->row[row].depth;
	size_t n = 0;
	char cell[1024];

	if (column > 0 && column < TUI_COLUMNS)
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

const char *tui_hist_cell(const struct tui_hist *o, size_t row, unsigned column, char *buf,
			  size_t size)
{
	const struct hist_row *r;

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

void tui_hist_each_entry(const struct tui_hist *o, size_t row,
			 void (*fn)(void *to, size_t entry, int64_t at), void *to)
{
	const struct profile *p = o->cells.names->profile;
	struct collect c = { .row = (uint32_t)row, .fn = fn, .to = to };
	struct hist_walk w;

	if (o->tree)
		c.row = o->hier.node[o->node[row]].row;
	hist_walk_init(&w, &o->h, NULL);
	for (c.entry = 0; c.entry < p->entries.n; c.entry++)
		if (p->entries.data[c.entry].type == o->h.opts.type)
			hist_walk(&w, c.entry, on_row, &c);
	hist_walk_free(&w);
}
