/* SPDX-License-Identifier: MIT */
/*
 * A live report: a new table every so often, in which the cursor stays on its row
 * and what was open stays open. Rows have no identity but their texts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "view/tui/report.h"

/* Texts of a row, as one. */
static const char *row_text(const struct tui_view *v, uint32_t row, char *buf, size_t size)
{
	char cell[1024];
	size_t n = 0;

	buf[0] = 0;
	for (unsigned c = 0; c < v->t.n_keys && n < size; c++)
		n += (size_t)snprintf(buf + n, size - n, "%s\n",
				      tui_rows_cell(v, row, c, cell, sizeof(cell)));
	return buf;
}

struct kept {
	struct strtab open;
	char *at; /* text of the cursor's row; NULL: it was on the first and shall stay there */
};

static void tui_top_keep(const struct tui_view *v, struct kept *k)
{
	const struct tui_report_line *l = tui_rows_at(v);
	char buf[2048];

	if (!v->has_table)
		return;
	for (uint32_t i = 0; i < v->t.n_rows; i++)
		if (v->open[i])
			strtab_add(&k->open, row_text(v, i, buf, sizeof(buf)));
	if (l && v->list.at > 0)
		k->at = mem_strdup(row_text(v, l->row, buf, sizeof(buf)));
}

static void restore(struct tui_view *v, struct kept *k)
{
	char buf[2048];

	for (uint32_t i = 0; k->open.n && i < v->t.n_rows; i++)
		if (strtab_find(&k->open, row_text(v, i, buf, sizeof(buf))) != STRTAB_NONE)
			tui_rows_open(v, i, true);
	tui_rows_lines(v);
	for (size_t i = 0; k->at && i < v->lines.n; i++)
		if (v->lines.data[i].is_row &&
		    strcmp(row_text(v, v->lines.data[i].row, buf, sizeof(buf)), k->at) == 0) {
			v->list.at = i;
			break;
		}
	tui_list_fit(&v->list);
	strtab_free(&k->open);
	free(k->at);
}

static void refresh(struct tui_view *v)
{
	struct tui_query q = v->query;
	struct kept k = { 0 };
	struct err e = { 0 };

	q.refresh = true;
	tui_top_keep(v, &k);
	if (tui_rows_load(v, &q, &e) < 0) {
		snprintf(v->base.note, sizeof(v->base.note), "%.200s", e.msg);
		strtab_free(&k.open);
		free(k.at);
		return;
	}
	restore(v, &k);
	if (v->m->live_level)
		v->history[v->n_history++ % TUI_HISTORY] = v->m->live_level(v->m->ctx);
}

static int tui_top_on_key(struct tui_view *v, int key, int64_t *next)
{
	switch (key) {
	case 'f':
		v->frozen = !v->frozen;
		if (!v->frozen)
			*next = 0;
		return -1;
	case 'z':
		if (v->m->zero)
			v->m->zero(v->m->ctx);
		*next = 0;
		return -1;
	default: return tui_report_key(v, key);
	}
}

struct poll {
	const struct tui_model *m;
	struct err *e;
	int answer;
};

static int poll_job(void *ctx)
{
	struct poll *p = ctx;

	if (p->answer >= 0)
		p->answer = p->m->poll(p->m->ctx, p->e);
	return p->answer;
}

int tui_top(const struct tui_model *m, struct err *e)
{
	struct poll poll = { .m = m, .e = e };
	struct tui_view v;
	int r = tui_start(e);
	int64_t next;
	int left = -1;

	if (r < 0)
		return r;
	tui_view_init(&v, m);
	if (m->poll)
		tui_every(m->poll_ms, poll_job, &poll);
	r = tui_rows_load(&v, &(struct tui_query){ .children = -1 }, e);
	next = tui_now_ms() + m->refresh_ms;
	while (r == 0 && left < 0) {
		int64_t wait = next - tui_now_ms();
		int key;

		if (wait <= 0 && !v.frozen) {
			refresh(&v);
			next = tui_now_ms() + m->refresh_ms;
			wait = m->refresh_ms;
		}
		key = tui_base_step(&v.base, v.frozen ? -1 : (int)wait);
		if (key != TUI_KEY_NONE)
			left = tui_top_on_key(&v, key, &next);
	}
	tui_every(0, NULL, NULL);
	tui_view_free(&v);
	tui_end();
	return r < 0 ? r : poll.answer < 0 ? poll.answer : 0;
}
