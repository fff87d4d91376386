/* SPDX-License-Identifier: MIT */
/*
 * Tables to walk through.
 *
 * Columns are as wide as their widest value in the whole table, so that they stay where they are
 * while one scrolls and filters; the cursor stays on its row when the order changes.
 */
#include "view/tui/tui.h"

#include <string.h>

#include "base/str.h"
#include "view/table/table.h"
#include "view/tui/list.h"

#define GAP 2	  /* columns between columns */
#define HEAD_Y 1  /* the line of the headings */
#define FIRST_Y 2 /* that of the first row */

struct tui_tables_view {
	const struct tables *tables;
	const char *title;
	struct table *t; /* that is shown */
	size_t which;
	int width[TABLE_COLUMNS];
	int sorted;
	bool turned;
	VEC(size_t) rows; /* that the filter leaves */
	char filter[128];
	struct tui_base base;
	struct tui_list list;
};

static void tui_table_cell(const struct table *t, size_t row, size_t column, struct strbuf *ret)
{
	const struct table_cell *v = table_at(t, row, column);

	strbuf_reset(ret);
	if (v->known && t->column[column].kind == TABLE_STACKS)
		strbuf_printf(ret, "%zu", v->stacks->n);
	else if (v->known && t->column[column].kind == TABLE_STACK && v->stack->n)
		strbuf_puts(ret, v->stack->frame[0]);
	else
		table_cell_text(&t->column[column], v, ret);
}

/* A row in one line, to search in. */
static const char *tui_table_row_text(void *ctx, size_t at, char *buf, size_t size)
{
	const struct tui_tables_view *v = ctx;
	AUTO_STRBUF cell = { 0 };
	size_t n = 0;

	buf[0] = 0;
	for (size_t c = 0; c < v->t->n_columns && n + 1 < size; c++) {
		tui_table_cell(v->t, v->rows.data[at], c, &cell);
		n += (size_t)snprintf(buf + n, size - n, "%s  ", strbuf_str(&cell));
	}
	return buf;
}

static void tui_table_filter(struct tui_tables_view *v)
{
	char buf[2048];

	v->rows.n = 0;
	for (size_t i = 0; i < v->t->n_rows; i++) {
		vec_push(&v->rows, i);
		if (v->filter[0] &&
		    !str_icontains(tui_table_row_text(v, v->rows.n - 1, buf, sizeof(buf)),
				   v->filter))
			v->rows.n--;
	}
	v->list.n = v->rows.n;
	tui_list_fit(&v->list);
}

static void tui_table_measure(struct tui_tables_view *v)
{
	AUTO_STRBUF cell = { 0 };

	v->base.columns = 0;
	for (size_t c = 0; c < v->t->n_columns; c++) {
		int *width = &v->width[c];

		*width = tui_columns(v->t->column[c].title) + 1; /* the mark of the order */
		for (size_t row = 0; row < v->t->n_rows; row++) {
			tui_table_cell(v->t, row, c, &cell);
			if (tui_columns(strbuf_str(&cell)) > *width)
				*width = tui_columns(strbuf_str(&cell));
		}
		v->base.columns += *width + GAP;
	}
}

static void tui_table_show(struct tui_tables_view *v, size_t which)
{
	v->which = which;
	v->t = v->tables->data[which];
	v->t->n_heading = 0;
	v->sorted = -1;
	v->turned = false;
	v->base.skip = 0;
	v->list.at = 0;
	tui_table_measure(v);
	tui_table_filter(v);
}

/* By a column, or turned around if it is that one already. */
static void tui_table_sort(struct tui_tables_view *v, int column)
{
	char before[2048], now[2048];
	AUTO_FREE char *key = NULL;
	bool any = v->rows.n > 0;

	v->turned = column == v->sorted && !v->turned;
	v->sorted = column;
	key = mem_printf("%s%s", v->turned ? "-" : "", v->t->column[column].name);
	if (any)
		tui_table_row_text(v, v->list.at, before, sizeof(before));
	table_sort(v->t, key, NULL);
	tui_table_filter(v);
	for (size_t i = 0; any && i < v->rows.n; i++)
		if (strcmp(tui_table_row_text(v, i, now, sizeof(now)), before) == 0) {
			v->list.at = i;
			break;
		}
	tui_list_fit(&v->list);
}

/* --- on the screen --- */

static void tui_table_put(struct tui_tables_view *v, struct tui_line *l, size_t column,
			  enum tui_style style, const char *text)
{
	int pad = v->width[column] - tui_columns(text);
	bool right =
		v->t->column[column].kind != TABLE_TEXT && v->t->column[column].kind != TABLE_STACK;

	tui_printf(l, style, "%*s", right ? pad : 0, "");
	tui_put_found(l, style, text, style == TUI_HEAD ? NULL : &v->base.search);
	tui_printf(l, style, "%*s", (right ? 0 : pad) + GAP, "");
}

static void tui_table_draw_heads(struct tui_tables_view *v)
{
	struct tui_line l = tui_line(HEAD_Y, false);

	l.skip = v->base.skip;
	for (size_t c = 0; c < v->t->n_columns; c++) {
		const char *down = tui_unicode() ? "▼" : "v", *up = tui_unicode() ? "▲" : "^";
		AUTO_FREE char *text = mem_printf("%s%s", v->t->column[c].title,
						  (int)c != v->sorted ? ""
						  : v->turned	      ? up
								      : down);

		tui_table_put(v, &l, c, TUI_HEAD, text);
	}
	tui_fill(&l, TUI_HEAD);
}

static void tui_table_line(void *ctx, struct tui_line *l, size_t at)
{
	struct tui_tables_view *v = ctx;
	AUTO_STRBUF cell = { 0 };

	l->skip = v->base.skip;
	for (size_t c = 0; c < v->t->n_columns; c++) {
		tui_table_cell(v->t, v->rows.data[at], c, &cell);
		tui_table_put(v, l, c, TUI_PLAIN, strbuf_str(&cell));
	}
}

static void tui_table_draw(void *ctx)
{
	static const char *const hints[] = { "Enter",  "row",  "< > r", "sort", "/",
					     "search", "\\",   "only",	"Tab",	"next table",
					     "?",      "help", "q",	"quit", NULL };
	struct tui_tables_view *v = ctx;
	AUTO_STRBUF title = { 0 };
	char where[64];

	v->list.height = tui_height() - FIRST_Y - 1 - (v->base.note[0] != 0);
	tui_list_fit(&v->list);
	tui_clear();
	strbuf_printf(&title, "%s: %s", v->title, v->t->title ? v->t->title : v->t->name);
	if (v->tables->n > 1)
		strbuf_printf(&title, " (table %zu/%zu)", v->which + 1, v->tables->n);
	if (v->filter[0])
		strbuf_printf(&title, ", with '%s'", v->filter);
	tui_list_where(&v->list, where, sizeof(where));
	tui_title(title.data, where);
	tui_table_draw_heads(v);
	tui_list_draw(&v->list, tui_line(FIRST_Y, false), v->list.height, true, tui_table_line, v);
	if (v->base.note[0]) {
		struct tui_line l = tui_line(tui_height() - 2, false);

		tui_put(&l, TUI_BOLD, v->base.note);
	}
	tui_hints(hints);
}

/* All of a row, with its stacks; then what there is to say of the table. */
static enum tui_exit tui_table_row_page(struct tui_tables_view *v)
{
	AUTO_FREE char *text = NULL;
	size_t n = 0, row;
	FILE *f;

	if (!v->rows.n)
		return TUI_BACK;
	row = v->rows.data[v->list.at];
	f = open_memstream(&text, &n);
	for (size_t c = 0; c < v->t->n_columns; c++) {
		AUTO_STRBUF cell = { 0 };

		table_cell_text(&v->t->column[c], table_at(v->t, row, c), &cell);
		if (cell.n)
			fprintf(f, "%-16s %s\n", v->t->column[c].title, cell.data);
	}
	table_text_lines(f, v->t, row);
	vec_each (&v->t->notes, note)
		fprintf(f, "# %s\n", *note);
	fclose(f);
	return tui_page(v->title, text);
}

static const char tui_table_help[] =
	"Rows:\n"
	"  Enter Right        all of the row, with its stacks\n"
	"  <  >               sort by another column;  r  the other way around\n"
	"  \\                  only rows that contain a text\n"
	"  Left Esc           all rows again; out\n"
	"  Tab Shift-Tab      the next table, the one before\n"
	"  { }  Shift-Left/Right   scroll sideways\n";

/* The heading that was clicked on. */
static void tui_table_click(struct tui_tables_view *v)
{
	int y, x, at = -v->base.skip;

	tui_mouse_at(&y, &x);
	if (y != HEAD_Y) {
		tui_list_click(&v->list, y, FIRST_Y);
		return;
	}
	for (size_t c = 0; c < v->t->n_columns; c++) {
		if (x >= at && x < at + v->width[c] + GAP)
			tui_table_sort(v, (int)c);
		at += v->width[c] + GAP;
	}
}

/* TUI_QUIT or TUI_BACK to leave, -1 to stay. */
static int tui_table_key(void *view, int key)
{
	struct tui_tables_view *v = view;
	int n = (int)v->t->n_columns;
	size_t tables = v->tables->n;

	switch (key) {
	case TUI_KEY_ESC:
	case TUI_KEY_LEFT:
		if (!v->filter[0])
			return TUI_BACK;
		v->filter[0] = 0;
		tui_table_filter(v);
		break;
	case TUI_KEY_ENTER:
	case TUI_KEY_DOUBLE:
	case TUI_KEY_RIGHT: return tui_base_back(tui_table_row_page(v));
	case '>': tui_table_sort(v, (v->sorted + 1) % n); break;
	case '<': tui_table_sort(v, v->sorted > 0 ? v->sorted - 1 : n - 1); break;
	case 'r':
		if (v->sorted >= 0)
			tui_table_sort(v, v->sorted);
		break;
	case '\\':
		if (tui_ask("Filter", "only rows that contain it; empty: all", v->filter,
			    sizeof(v->filter)))
			tui_table_filter(v);
		break;
	case TUI_KEY_TAB: tui_table_show(v, (v->which + 1) % tables); break;
	case TUI_KEY_BACK_TAB: tui_table_show(v, (v->which + tables - 1) % tables); break;
	case TUI_KEY_CLICK: tui_table_click(v); break;
	default: return tui_base_key(&v->base, &v->list, key);
	}
	return -1;
}

int tui_tables(struct tables *t, const char *title, struct err *e)
{
	struct tui_tables_view v = { .tables = t,
				     .title = title,
				     .base = { .view = &v,
					       .draw = tui_table_draw,
					       .key = tui_table_key,
					       .text = tui_table_row_text,
					       .help = tui_table_help } };
	int r = t->n ? tui_start(e) : 0;

	if (r < 0 || !t->n)
		return r;
	tui_table_show(&v, 0);
	tui_base_run(&v.base);
	tui_end();
	vec_free(&v.rows);
	return 0;
}
