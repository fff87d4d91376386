/* SPDX-License-Identifier: MIT */
/* Searching in a report: what a tree's closed rows hide is found, too, and opened. */
#include <string.h>

#include "view/tui/report.h"

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
