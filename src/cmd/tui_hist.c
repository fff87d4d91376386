/* SPDX-License-Identifier: MIT */
#include "cmd/tui_hist.h"

#include <stdlib.h>
#include <string.h>

struct own {
	struct hist h;
	struct tui_row *row;
	void (*drop)(void *ctx);
	void *ctx;
};

static const char *const titles[HIST_KEYS] = {
	[HIST_COMM] = "Command", [HIST_PID] = "Process",    [HIST_TID] = "Thread",
	[HIST_DSO] = "File",	 [HIST_SYM] = "Symbol",	    [HIST_CPU] = "CPU",
	[HIST_SRCLINE] = "Line", [HIST_SRCFILE] = "Source", [HIST_TIME] = "Time",
	[HIST_EXTRA] = "Trace",
};

static void fill_table(struct tui_table *t, const struct own *o, bool chains)
{
	const struct hist *h = &o->h;

	*t = (struct tui_table){ .names = h->names,
				 .type = h->opts.type,
				 .children = h->opts.children,
				 .chains = chains,
				 .inwards = h->opts.children,
				 .total = h->total,
				 .count = h->count,
				 .n_columns = h->opts.n_keys,
				 .thread_column = -1,
				 .dso_column = -1,
				 .row = o->row,
				 .n_rows = h->rows.n,
				 .own = (void *)o };
	for (unsigned i = 0; i < h->opts.n_keys; i++) {
		enum hist_key k = h->opts.key[i];

		t->column[i] = titles[k];
		if (k == HIST_DSO)
			t->dso_column = (int)i;
		if (k == HIST_TID || k == HIST_PID || (k == HIST_COMM && t->thread_column < 0))
			t->thread_column = (int)i;
	}
}

int tui_hist_make(const struct names *n, const struct hist_opts *ho, bool chains,
		  void (*drop)(void *ctx), void *ctx, struct tui_table *ret, struct err *e)
{
	struct own *o = mem_alloc(sizeof(*o));
	bool sym = false;
	int r = hist_make(n, ho, &o->h, e);

	if (r < 0) {
		free(o);
		return r;
	}
	o->drop = drop;
	o->ctx = ctx;
	for (unsigned i = 0; i < ho->n_keys; i++)
		sym = sym || ho->key[i] == HIST_SYM;
	o->row = mem_alloc((o->h.rows.n + 1) * sizeof(*o->row));
	for (size_t i = 0; i < o->h.rows.n; i++) {
		const struct hist_row *row = &o->h.rows.data[i];

		o->row[i] = (struct tui_row){ .self = row->self,
					      .total = row->total,
					      .count = row->count,
					      .frame = sym ? row->frame : CALLS_NONE };
	}
	fill_table(ret, o, chains);
	return 0;
}

void tui_hist_release(void *ctx, struct tui_table *t)
{
	struct own *o = t->own;

	(void)ctx;
	hist_free(&o->h);
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
	const char *text = hist_text(&o->h, r, column, buf, size);
	enum hist_key k = o->h.opts.key[column];

	(void)ctx;
	if (k == HIST_SYM && r->frame != CALLS_NONE) {
		uint8_t mode = t->names->frames.data[r->frame].mode;
		char name[1024];

		snprintf(name, sizeof(name), "%s", text);
		snprintf(buf, size, "[%c] %s",
			 mode == EVENT_MODE_KERNEL ? 'k'
			 : mode == EVENT_MODE_USER ? '.'
						   : '?',
			 name);
		return buf;
	}
	if (k == HIST_TID || k == HIST_PID) {
		const struct tasks *tasks = t->names->profile->trace->tasks;
		int32_t tid = (int32_t)r->value[column];

		snprintf(buf, size, "%7d:%s", tid,
			 strtab_get(tasks_strings(tasks), tasks_comm_at(tasks, tid, UINT64_MAX)));
		return buf;
	}
	return text;
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
