/* SPDX-License-Identifier: MIT */
/*
 * Three panes in the manner of Sysprof: all functions at the left; at the right the
 * callers of the selected one, and below them the tree of what it called.
 *
 * The right side follows the cursor, but only once it rests: in a large recording
 * moving stays quick.
 */
#include <stdio.h>

#include "base/str.h"
#include "calc/stacks/calls.h"
#include "view/tui/report.h"

#define REST_MS 60 /* the cursor rests */
#define OPEN_ALL_MAX 20000

enum { FUNCTIONS, CALLERS, DESCENDANTS, PANES };

struct panes {
	const struct tui_model *m;
	const struct tui_table *t;
	struct srctext *src;
	functions_list all;
	VEC(uint32_t) shown; /* of all: those the filter leaves */
	bool by_self;
	char filter[128];
	uint32_t frame; /* that the right side is about */
	functions_list callers;
	struct tui_tree tree;
	tui_tree_lines lines;
	struct tui_list list[PANES];
	int focus;
	struct tui_base base;
};

static const char *tui_panes_name_of(const struct panes *p, uint32_t frame, char *buf, size_t size)
{
	return tui_tree_name(p->t->names, frame, buf, size);
}

static void filter(struct panes *p)
{
	char buf[512];

	p->shown.n = 0;
	for (uint32_t i = 0; i < p->all.n; i++)
		if (!p->filter[0] ||
		    str_icontains(tui_panes_name_of(p, p->all.data[i].frame, buf, sizeof(buf)),
				  p->filter))
			vec_push(&p->shown, i);
	p->list[FUNCTIONS].n = p->shown.n;
	tui_list_fit(&p->list[FUNCTIONS]);
}

static const struct function *selected(const struct panes *p)
{
	return p->list[FUNCTIONS].at < p->shown.n
		       ? &p->all.data[p->shown.data[p->list[FUNCTIONS].at]]
		       : NULL;
}

/* Put the cursor on a function. */
static void select_frame(struct panes *p, uint32_t frame)
{
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < p->shown.n; i++)
			if (p->all.data[p->shown.data[i]].frame == frame) {
				p->list[FUNCTIONS].at = i;
				tui_list_fit(&p->list[FUNCTIONS]);
				return;
			}
		p->filter[0] = 0; /* it hid the function */
		filter(p);
	}
}

static void list_tree(struct panes *p)
{
	p->lines.n = 0;
	if (p->tree.calls)
		tui_tree_list(&p->tree,
			      (uint64_t)((double)p->t->total * p->m->graph_percent_limit / 100),
			      &p->lines);
	p->list[DESCENDANTS].n = p->lines.n;
	tui_list_fit(&p->list[DESCENDANTS]);
}

static int tui_panes_collect(void *ctx)
{
	struct panes *p = ctx;

	functions_around(p->t->names, p->t->type, p->frame, false, &p->callers);
	p->tree.calls = functions_tree(p->t->names, p->t->type, p->frame, true);
	calls_open(p->tree.calls, CALLS_ROOT);
	return 0;
}

/* The right side for the function under the cursor. */
static void tui_panes_follow(struct panes *p)
{
	const struct function *f = selected(p);

	if (!f || f->frame == p->frame)
		return;
	p->frame = f->frame;
	p->callers.n = 0;
	tui_tree_free(&p->tree);
	tui_busy("Finding callers and descendants", tui_panes_collect, p);
	p->list[CALLERS] = (struct tui_list){ .n = p->callers.n };
	p->list[DESCENDANTS] = (struct tui_list){ 0 };
	list_tree(p);
}

static void tui_panes_share(const struct panes *p, struct tui_line *l, uint64_t weight)
{
	double v = profile_percent(weight, p->t->total);

	tui_printf(l, tui_heat(v), "%6.2f%% ", v);
}

static void function_line(void *ctx, struct tui_line *l, size_t at)
{
	struct panes *p = ctx;
	const struct function *f = &p->all.data[p->shown.data[at]];
	char buf[512];

	tui_panes_share(p, l, f->self);
	tui_panes_share(p, l, f->total);
	tui_put_found(l, at == p->list[FUNCTIONS].at ? TUI_BOLD : TUI_PLAIN,
		      tui_panes_name_of(p, f->frame, buf, sizeof(buf)), &p->base.search);
}

static void caller_line(void *ctx, struct tui_line *l, size_t at)
{
	struct panes *p = ctx;
	char buf[512];

	tui_panes_share(p, l, p->callers.data[at].total);
	tui_put(l, TUI_PLAIN, tui_panes_name_of(p, p->callers.data[at].frame, buf, sizeof(buf)));
}

static void descendant_line(void *ctx, struct tui_line *l, size_t at)
{
	struct panes *p = ctx;

	tui_tree_draw(l, &p->tree, p->t->names, &p->lines.data[at], p->t->total, NULL);
}

/* A pane with its heading, from there on. */
static void draw_pane(struct panes *p, int pane, struct tui_line at, int height, const char *head,
		      tui_line_fn *fn)
{
	struct tui_line l = at;
	enum tui_style s = p->focus == pane ? TUI_TITLE : TUI_HEAD;

	tui_put(&l, s, head);
	tui_fill(&l, s);
	at.y++;
	tui_list_draw(&p->list[pane], at, height - 1, p->focus == pane, fn, p);
}

static void tui_panes_draw(void *ctx)
{
	struct panes *p = ctx;
	static const char *const hints[] = { "Tab", "pane",   "Enter", "go",	   "e", "open",
					     "<",   "sort",   "a",     "annotate", "/", "search",
					     "?",   "help",   "q",     "back",	   "c", "around",
					     "\\",  "filter", NULL };
	int width = tui_width() / 2, height = tui_height() - 3, third = height / 3;
	const struct function *f = selected(p);
	char title[256];
	struct tui_line l;

	tui_clear();
	snprintf(title, sizeof(title), "Functions of event '%s'",
		 p->m->trace->types[p->t->type].name);
	tui_title(title, p->filter[0] ? p->filter : NULL);
	draw_pane(p, FUNCTIONS, tui_line_in(1, 0, width, false), height,
		  tui_unicode()
			  ? p->by_self ? "  Self▼  Total  Functions" : "  Self   Total▼ Functions"
		  : p->by_self ? "  Selfv  Total  Functions"
			       : "  Self   Totalv Functions",
		  function_line);
	for (int y = 1; y < height + 1; y++) {
		l = tui_line_in(y, width, 1, false);
		tui_put(&l, TUI_DIM, tui_unicode() ? "│" : "|");
	}
	width++;
	draw_pane(p, CALLERS, tui_line_in(1, width, tui_width() - width, false), third,
		  "  Total Callers", caller_line);
	l = tui_line_in(1 + third, width, tui_width() - width, false);
	draw_pane(p, DESCENDANTS, l, height - third, "  Descendants", descendant_line);
	if (!p->t->chains) {
		l.y += 2;
		l.x++;
		tui_put(&l, TUI_DIM, "recorded without call chains: record -g");
	}
	l = tui_line(tui_height() - 2, false);
	tui_put(&l, TUI_PLAIN, " ");
	if (p->base.note[0])
		tui_put(&l, TUI_BOLD, p->base.note);
	else if (f)
		tui_tree_put_place(&l, p->t->names, f->frame);
	tui_hints(hints);
}

static const char *tui_panes_text(void *ctx, size_t i, char *buf, size_t size)
{
	struct panes *p = ctx;

	if (p->focus == FUNCTIONS)
		return tui_panes_name_of(p, p->all.data[p->shown.data[i]].frame, buf, size);
	if (p->focus == CALLERS)
		return tui_panes_name_of(p, p->callers.data[i].frame, buf, size);
	return tui_tree_text(&p->tree, p->t->names, &p->lines.data[i], p->t->total, buf, size);
}

/* The function under the cursor of the pane one is in. */
static uint32_t current(const struct panes *p)
{
	const struct tui_list *l = &p->list[p->focus];

	if (l->at >= l->n)
		return CALLS_NONE;
	if (p->focus == FUNCTIONS)
		return selected(p)->frame;
	if (p->focus == CALLERS)
		return p->callers.data[l->at].frame;
	return p->lines.data[l->at].more
		       ? CALLS_NONE
		       : calls_get(p->tree.calls, p->lines.data[l->at].node)->frame;
}

static void toggle(struct panes *p, bool only_open)
{
	const struct tui_tree_line *l;

	if (p->focus != DESCENDANTS || p->list[DESCENDANTS].at >= p->lines.n)
		return;
	l = &p->lines.data[p->list[DESCENDANTS].at];
	if (!l->more && !(only_open && tui_tree_shown(&p->tree, l->head)))
		tui_tree_show(&p->tree, l->head, !tui_tree_shown(&p->tree, l->head));
	list_tree(p);
}

static void all_open(struct panes *p, bool on)
{
	if (!p->tree.calls)
		return;
	if (on)
		tui_tree_show_all(&p->tree,
				  (uint64_t)((double)p->t->total * p->m->graph_percent_limit / 100),
				  OPEN_ALL_MAX);
	else
		for (size_t i = 1; i < p->tree.shown.n; i++)
			p->tree.shown.data[i] = 0;
	list_tree(p);
}

/* Enter: a function or caller becomes the selected one, a descendant opens. */
static void enter(struct panes *p)
{
	uint32_t frame = current(p);

	if (p->focus == DESCENDANTS) {
		toggle(p, false);
	} else if (frame != CALLS_NONE) {
		select_frame(p, frame);
		tui_panes_follow(p);
		p->focus = p->focus == FUNCTIONS ? DESCENDANTS : FUNCTIONS;
	}
}

static int tui_panes_leave(struct panes *p)
{
	const struct tui_list *l = &p->list[DESCENDANTS];

	if (p->focus == DESCENDANTS && l->at < l->n && !p->lines.data[l->at].more &&
	    tui_tree_shown(&p->tree, p->lines.data[l->at].head)) {
		toggle(p, false);
		return -1;
	}
	if (p->focus == FUNCTIONS && !p->filter[0])
		return TUI_BACK;
	if (p->focus == FUNCTIONS) {
		p->filter[0] = 0;
		filter(p);
	}
	p->focus = FUNCTIONS;
	return -1;
}

static void tui_panes_sort(struct panes *p)
{
	uint32_t frame = selected(p) ? selected(p)->frame : CALLS_NONE;

	p->by_self = !p->by_self;
	vec_free(&p->all);
	functions_make(p->t->names, p->t->type, &p->all);
	if (p->by_self)
		functions_by_self(&p->all);
	filter(p);
	select_frame(p, frame);
}

static int tui_panes_on_key(struct panes *p, int key)
{
	uint32_t frame = current(p);

	switch (key) {
	case TUI_KEY_TAB: p->focus = (p->focus + 1) % PANES; break;
	case TUI_KEY_BACK_TAB: p->focus = (p->focus + PANES - 1) % PANES; break;
	case TUI_KEY_ENTER: enter(p); break;
	case TUI_KEY_RIGHT:
		if (p->focus == DESCENDANTS)
			toggle(p, true);
		else
			enter(p);
		break;
	case TUI_KEY_LEFT:
	case TUI_KEY_BACKSPACE:
	case TUI_KEY_ESC: return tui_panes_leave(p);
	case 'e':
	case '+': toggle(p, false); break;
	case 'E': all_open(p, true); break;
	case 'C': all_open(p, false); break;
	case '<':
	case '>': tui_panes_sort(p); break;
	case '\\':
		if (tui_ask("Filter", "functions that contain it stay; empty for all", p->filter,
			    sizeof(p->filter)))
			filter(p);
		break;
	case 'a':
		if (frame != CALLS_NONE && tui_annotate_view(p->m, p->t, frame, p->src) == TUI_QUIT)
			return TUI_QUIT;
		break;
	case 'c':
		if (frame != CALLS_NONE && tui_around_view(p->m, p->t, frame, p->src) == TUI_QUIT)
			return TUI_QUIT;
		break;
	default: return tui_base_key(&p->base, &p->list[p->focus], key);
	}
	return -1;
}

static int make_all(void *ctx)
{
	struct panes *p = ctx;

	functions_make(p->t->names, p->t->type, &p->all);
	return 0;
}

enum tui_exit tui_panes_view(const struct tui_model *m, const struct tui_table *t, uint32_t frame,
			     struct srctext *source)
{
	struct panes p = { .m = m,
			   .t = t,
			   .src = source,
			   .frame = CALLS_NONE,
			   .base = { .view = &p,
				     .draw = tui_panes_draw,
				     .text = tui_panes_text,
				     .help = tui_help_panes } };
	int left = -1;

	tui_busy("Summing functions", make_all, &p);
	filter(&p);
	p.list[FUNCTIONS].height = tui_height() - 4;
	if (frame != CALLS_NONE)
		select_frame(&p, frame);
	tui_panes_follow(&p);
	while (left < 0) {
		const struct function *f = selected(&p);
		int key = tui_base_step(&p.base, f && f->frame != p.frame ? REST_MS : -1);

		if (key == TUI_KEY_NONE) {
			tui_panes_follow(&p);
			continue;
		}
		/* what is seen at the right must be what keys act on there */
		if (p.focus != FUNCTIONS || key == TUI_KEY_TAB || key == TUI_KEY_BACK_TAB)
			tui_panes_follow(&p);
		left = tui_panes_on_key(&p, key);
	}
	vec_free(&p.all);
	vec_free(&p.shown);
	vec_free(&p.callers);
	vec_free(&p.lines);
	tui_tree_free(&p.tree);
	return (enum tui_exit)left;
}
