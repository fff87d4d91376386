/* SPDX-License-Identifier: MIT */
/* What keys and the menu do in the report view. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "view/tui/report.h"

#define OPEN_ALL_MAX 20000 /* lines that E opens */
#define OPEN_ALL_S 3	   /* and how long it may take */

__attribute__((format(printf, 2, 3))) static void note(struct tui_view *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->base.note, sizeof(v->base.note), fmt, ap);
	va_end(ap);
}

/* Open or close what the cursor is on. */
static void toggle(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);
	struct tui_tree *t;

	if (!l)
		return;
	if (!v->t.chains && !v->row[l->row].inner) {
		note(v, "recorded without call chains: kymo record -g has them");
		return;
	}
	t = &v->tree[l->row];
	if (l->is_row)
		tui_rows_open(v, l->row, !v->open[l->row]);
	else if (!l->tree.more)
		tui_tree_show(t, l->tree.head, !tui_tree_shown(t, l->tree.head));
	tui_rows_lines(v);
}

static bool opened(const struct tui_view *v, const struct tui_report_line *l)
{
	return l->is_row ? v->open[l->row]
			 : !l->tree.more && tui_tree_shown(&v->tree[l->row], l->tree.head);
}

/* Right: open what is closed. False when there is nothing to open. */
static bool go_in(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);

	if (!l || !tui_rows_opens(v, l->row) || opened(v, l) ||
	    (!l->is_row && (l->tree.more || !tui_tree_opens(&v->tree[l->row], l->tree.node))))
		return false;
	toggle(v);
	return true;
}

/* The line that the cursor's one hangs below. */
static void go_to_parent(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);
	uint32_t depth = l->tree.depth, row = l->row;

	if (l->is_row) {
		tui_rows_go(v, v->row[row].parent);
		return;
	}
	while (v->list.at > 0) {
		const struct tui_report_line *p = &v->lines.data[--v->list.at];

		if (p->is_row ||
		    (p->row == row && p->tree.depth < depth && p->tree.node == p->tree.head))
			break;
	}
	tui_list_fit(&v->list);
}

/* A filter or zoom was taken back: the cursor stays on its row. */
static void widen(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);
	uint32_t row = l ? l->row : TUI_TOP;

	tui_rows_order(v);
	if (row != TUI_TOP)
		tui_rows_go(v, row);
}

/* Left and Esc: close, go out, take back the last zoom. */
static void go_out(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);

	if (l && opened(v, l)) {
		toggle(v);
	} else if (l && (!l->is_row || v->row[l->row].parent != TUI_TOP)) {
		go_to_parent(v);
	} else if (v->filter[0]) {
		v->filter[0] = 0;
		widen(v);
	} else if (v->zooms.n) {
		free(v->zooms.data[--v->zooms.n].text);
		widen(v);
	} else {
		note(v, "q leaves, ? shows all keys");
	}
}

/* Into the thread or file of the row; out again when it was zoomed to already. */
static void zoom(struct tui_view *v, int column, const char *what)
{
	const struct tui_report_line *l = tui_rows_at(v);
	const char *text;
	char buf[1024];

	for (size_t i = 0; column >= 0 && i < v->zooms.n; i++)
		if (v->zooms.data[i].column == (unsigned)column) {
			free(v->zooms.data[i].text);
			memmove(&v->zooms.data[i], &v->zooms.data[i + 1],
				(--v->zooms.n - i) * sizeof(v->zooms.data[0]));
			widen(v);
			return;
		}
	if (column < 0) {
		note(v, "rows are not told apart by %s: S changes what they are summed by", what);
		return;
	}
	if (!l)
		return;
	text = tui_rows_cell(v, l->row, (unsigned)column, buf, sizeof(buf));
	if (v->t.tree && !*text) {
		note(v, "this row is of more than one %s: open it, and choose one below", what);
		return;
	}
	vec_push(&v->zooms,
		 (struct tui_zoom){ .column = (unsigned)column, .text = mem_strdup(text) });
	v->list.at = 0;
	tui_rows_order(v);
}

static void open_all(struct tui_view *v, bool on)
{
	uint64_t least = (uint64_t)((double)v->t.total * v->graph_limit / 100);
	size_t left = OPEN_ALL_MAX, done = 0;
	uint32_t row = tui_rows_at(v) ? tui_rows_at(v)->row : 0;
	time_t start = time(NULL);

	if (!v->t.chains && !v->t.tree) {
		toggle(v);
		return;
	}
	for (size_t i = 0; i < v->order.n; i++) {
		uint32_t r = v->order.data[i];

		if (v->row[r].inner) { /* what is below it is there already */
			v->open[r] = on;
			continue;
		}
		/* what is below the least share opens one by one */
		if (on && (!v->t.chains || !v->row[r].total || tui_rows_weight(v, r) < least))
			continue;
		if (on && time(NULL) - start > OPEN_ALL_S)
			left = 0;
		if (on && !left)
			break;
		tui_rows_open(v, r, on);
		done++;
		if (on) {
			size_t n = tui_tree_show_all(&v->tree[r], least, left);

			left -= n < left ? n : left;
		}
	}
	if (on && !left)
		note(v, "opened the first %zu rows; the others open one by one", done);
	while (!on && v->order.n && v->row[row].parent != TUI_TOP)
		row = v->row[row].parent;
	tui_rows_go(v, row);
}

/* Other rows from the same recording. */
static void remake(struct tui_view *v, struct tui_query q)
{
	struct err e = { 0 };

	for (size_t i = 0; i < v->zooms.n; i++)
		free(v->zooms.data[i].text);
	v->zooms.n = 0;
	v->sort_by = TUI_SORT_TOTAL;
	if (tui_rows_load(v, &q, &e) < 0)
		tui_error(&e);
	else
		v->list.at = 0;
	tui_list_fit(&v->list);
}

static void next_event(struct tui_view *v, bool back)
{
	struct tui_query q = v->query;

	q.type = tui_rows_next_event(v, back);
	if (q.type == v->query.type) {
		note(v, "there is only this event");
		return;
	}
	remake(v, q);
}

static void ask_sort_keys(struct tui_view *v)
{
	struct tui_query q = v->query;
	char text[256];

	snprintf(text, sizeof(text), "%s", q.sort ? q.sort : "comm,dso,symbol");
	if (!tui_ask("Sum by", "keys as after --sort: comm,dso,symbol,pid,cpu,srcline ...", text,
		     sizeof(text)) ||
	    !text[0])
		return;
	q.sort = text;
	remake(v, q);
}

static void ask_limit(struct tui_view *v)
{
	char text[32];
	double limit;

	snprintf(text, sizeof(text), "%g", v->percent_limit);
	if (!tui_ask("Least percentage", "rows and branches below it are not shown", text,
		     sizeof(text)))
		return;
	if (!str_double(text, &limit) || limit < 0 || limit > 100) {
		note(v, "'%s' is no percentage", text);
		return;
	}
	v->percent_limit = limit;
	v->graph_limit = limit;
	tui_rows_order(v);
}

static void ask_filter(struct tui_view *v)
{
	if (!tui_ask("Filter", "rows that contain it stay; empty for all", v->filter,
		     sizeof(v->filter)))
		return;
	v->list.at = 0;
	tui_rows_order(v);
	if (v->filter[0] && v->t.tree) { /* what was found may be far below */
		for (size_t i = 0; i < v->order.n; i++)
			v->open[v->order.data[i]] |= v->row[v->order.data[i]].inner;
		tui_rows_lines(v);
	}
}

static void sort_by(struct tui_view *v, int step)
{
	unsigned by[TUI_SORT_TEXT + TUI_COLUMNS], n = tui_sums_shown(v, by), at = 0;

	for (unsigned c = 0; c < v->t.n_columns; c++)
		by[n++] = TUI_SORT_TEXT + c;
	for (unsigned i = 0; i < n; i++)
		if (by[i] == v->sort_by)
			at = i;
	if (n)
		v->sort_by = by[(at + n + (unsigned)step) % n];
	widen(v);
}

/* A click: on a heading to sort by it, on a line to be there, on the mark before it to open it. */
static void click(struct tui_view *v)
{
	int y, x, head = tui_report_head(v), by;
	size_t before = v->list.at;

	tui_mouse_at(&y, &x);
	by = y == head ? tui_report_head_at(v, x) : -1;
	if (by >= 0) {
		v->sort_by = (unsigned)by;
		widen(v);
	} else if (tui_list_click(&v->list, y, head + 1) && x < 2 && v->list.at == before &&
		   !v->t.tree && tui_rows_at(v)->is_row) {
		toggle(v);
	}
}

/* Is there something to open or close where the cursor is? */
static bool has_inside(const struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);

	if (!l)
		return false;
	if (l->is_row)
		return tui_rows_opens(v, l->row);
	return !l->tree.more && (tui_tree_shown(&v->tree[l->row], l->tree.head) ||
				 tui_tree_opens(&v->tree[l->row], l->tree.node));
}

static void print_to_file(struct tui_view *v)
{
	char path[200];
	FILE *f = tui_ask_file("report", "what is listed now, as text", path, sizeof(path),
			       v->base.note);

	if (!f)
		return;
	tui_report_print(v, f);
	if (fclose(f) == 0)
		note(v, "%zu lines in %s", v->lines.n, path);
	else
		note(v, "cannot write all of %s", path);
}

static enum tui_exit tui_report_keys_header(struct tui_view *v)
{
	AUTO_FREE char *text = v->m->header ? v->m->header(v->m->ctx) : NULL;

	if (text && *text)
		return tui_page(v->m->name, text);
	note(v, "the recording says nothing of itself");
	return TUI_BACK;
}

/* A view about the function under the cursor. */
static int on_function(struct tui_view *v, int key)
{
	uint32_t frame = tui_rows_frame(v);

	if (frame == CALLS_NONE && key != 's') {
		note(v, "this line is about no single function");
		return -1;
	}
	if (key == 'a')
		return tui_base_back(tui_annotate_view(v->m, &v->t, frame, &v->source));
	if (key == 's')
		return tui_base_back(tui_panes_view(v->m, &v->t, frame, &v->source));
	return tui_base_back(tui_around_view(v->m, &v->t, frame, &v->source));
}

enum { BY_IMAGE = '1', BY_SYMBOL = '2', BY_THREAD = '3', BY_DEFAULT = '0' };

struct menu {
	VEC(struct tui_item) item;
	struct arena arena;
};

__attribute__((format(printf, 4, 5))) static void item(struct menu *m, int letter, int id,
						       const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vec_push(&m->item, (struct tui_item){ .text = arena_strdup(&m->arena, text),
					      .letter = letter,
					      .id = id });
}

static void zoom_item(struct menu *m, const struct tui_view *v, int letter, int column,
		      const char *what)
{
	const char *text;
	char buf[256];

	if (column < 0 || !tui_rows_at(v))
		return;
	for (size_t i = 0; i < v->zooms.n; i++)
		if (v->zooms.data[i].column == (unsigned)column) {
			item(m, letter, letter, "Zoom out of %s %s", what, v->zooms.data[i].text);
			return;
		}
	text = tui_rows_cell(v, tui_rows_at(v)->row, (unsigned)column, buf, sizeof(buf));
	if (!v->t.tree || *text)
		item(m, letter, letter, "Zoom into %s %s", what, text);
}

static int menu(struct tui_view *v)
{
	const struct tui_report_line *l = tui_rows_at(v);
	uint32_t frame = tui_rows_frame(v);
	struct menu m = { 0 };
	char buf[200];
	int id;

	if (frame != CALLS_NONE) {
		const char *name = tui_tree_name(v->t.names, frame, buf, sizeof(buf));

		item(&m, 'a', 'a', "Annotate %s", name);
		if (v->t.chains)
			item(&m, 'c', 'c', "Callers and callees of %s", name);
	}
	if (l && v->row[l->row].inner)
		item(&m, 'e', 'e', opened(v, l) ? "Close what is below" : "Open what is below");
	else if (l && v->t.chains)
		item(&m, 'e', 'e', opened(v, l) ? "Close the call graph" : "Open the call graph");
	zoom_item(&m, v, 't', v->t.thread_column, "thread");
	zoom_item(&m, v, 'd', v->t.dso_column, "file");
	item(&m, 's', 's', "Functions, callers and descendants in three panes");
	item(&m, BY_IMAGE, BY_IMAGE, "By image: what each file costs");
	item(&m, BY_SYMBOL, BY_SYMBOL, "By symbol: what each function costs itself");
	item(&m, BY_THREAD, BY_THREAD, "By thread");
	item(&m, BY_DEFAULT, BY_DEFAULT, "As it was at the start");
	item(&m, 'S', 'S', "Sum by other keys ...");
	item(&m, '\\', '\\', "Filter rows ...");
	item(&m, 'L', 'L', "Least percentage ...");
	if (tui_rows_next_event(v, false) != v->query.type)
		item(&m, 0, TUI_KEY_TAB, "Next event");
	item(&m, 'i', 'i', "What the recording says of itself");
	item(&m, 'P', 'P', "Print to a file ...");
	item(&m, 'Q', 'Q', "Quit");
	id = tui_menu(frame != CALLS_NONE ? tui_tree_name(v->t.names, frame, buf, sizeof(buf)) : "",
		      m.item.data, m.item.n);
	vec_free(&m.item);
	arena_free(&m.arena);
	return id;
}

static int by(struct tui_view *v, int id)
{
	struct tui_query q = { .type = v->query.type, .children = 0 };

	q.sort = id == BY_IMAGE	   ? "dso"
		 : id == BY_SYMBOL ? "symbol,dso"
		 : id == BY_THREAD ? "pid"
				   : NULL;
	if (id == BY_DEFAULT)
		q.children = -1;
	remake(v, q);
	return -1;
}

int tui_report_key(void *view, int key)
{
	struct tui_view *v = view;

	if (key == TUI_KEY_DOUBLE)
		key = TUI_KEY_ENTER;
	if (key == TUI_KEY_ENTER && has_inside(v))
		key = 'e';
	if (key == TUI_KEY_ENTER || key == 'm') {
		key = menu(v);
		if (key < 0)
			return -1;
	}
	switch (key) {
	case BY_IMAGE:
	case BY_SYMBOL:
	case BY_THREAD:
	case BY_DEFAULT: return by(v, key);
	case 'a':
	case 's':
	case 'c': return on_function(v, key);
	case 'e':
	case '+': toggle(v); break;
	case 'E': open_all(v, true); break;
	case 'C': open_all(v, false); break;
	case TUI_KEY_RIGHT: return go_in(v) ? -1 : tui_report_key(v, 'm');
	case TUI_KEY_CLICK: click(v); break;
	case 'M':
		tui_mouse(!tui_mouse_is_on());
		note(v, tui_mouse_is_on() ? "the mouse is kymo's (Shift selects text)"
					  : "the mouse is the terminal's");
		break;
	case TUI_KEY_LEFT:
	case TUI_KEY_ESC:
	case TUI_KEY_BACKSPACE: go_out(v); break;
	case 't': zoom(v, v->t.thread_column, "thread"); break;
	case 'd': zoom(v, v->t.dso_column, "file"); break;
	case '\\': ask_filter(v); break;
	case '<': sort_by(v, -1); break;
	case '>': sort_by(v, 1); break;
	case 'L': ask_limit(v); break;
	case 'F':
		v->relative = !v->relative;
		note(v, v->relative ? "shares of the rows that are left" : "shares of everything");
		break;
	case 'S': ask_sort_keys(v); break;
	case '#':
		if (v->samples && v->sort_by == TUI_SORT_COUNT)
			sort_by(v, -1);
		v->samples = !v->samples;
		break;
	case TUI_KEY_TAB: next_event(v, false); break;
	case TUI_KEY_BACK_TAB: next_event(v, true); break;
	case 'i': return tui_base_back(tui_report_keys_header(v));
	case 'P': print_to_file(v); break;
	default: return tui_rows_search(v, key) ? -1 : tui_base_key(&v->base, &v->list, key);
	}
	return -1;
}
