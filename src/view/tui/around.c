/* SPDX-License-Identifier: MIT */
/* One function between its callers (above) and its callees (below), in the manner of OProfile. */
#include <stdio.h>

#include "calc/stacks/calls.h"
#include "view/tui/report.h"

struct around {
	const struct tui_model *m;
	const struct tui_table *t;
	struct srctext *src;
	functions_list all, callers, callees;
	struct function middle;
	VEC(uint32_t) path; /* functions that were in the middle before */
	struct tui_list list;
	struct tui_base base;
};

static int tui_around_collect(void *ctx)
{
	struct around *a = ctx;

	if (!a->all.n)
		functions_make(a->t->names, a->t->type, &a->all);
	a->callers.n = a->callees.n = 0;
	functions_around(a->t->names, a->t->type, a->middle.frame, false, &a->callers);
	functions_around(a->t->names, a->t->type, a->middle.frame, true, &a->callees);
	return 0;
}

static void center(struct around *a, uint32_t frame)
{
	a->middle = (struct function){ .frame = frame };
	tui_busy("Finding callers and callees", tui_around_collect, a);
	vec_each (&a->all, f)
		if (f->frame == frame)
			a->middle = *f;
	a->list.n = a->callers.n + 1 + a->callees.n;
	a->list.at = a->callers.n;
	a->list.top = 0;
}

/* Callers lightest first, so that the heaviest stand next to the function. */
static const struct function *tui_around_at(const struct around *a, size_t i)
{
	if (i < a->callers.n)
		return &a->callers.data[a->callers.n - 1 - i];
	return i == a->callers.n ? &a->middle : &a->callees.data[i - a->callers.n - 1];
}

static const char *tui_around_text(void *ctx, size_t i, char *buf, size_t size)
{
	const struct around *a = ctx;

	return tui_tree_name(a->t->names, tui_around_at(a, i)->frame, buf, size);
}

static void tui_around_line(void *ctx, struct tui_line *l, size_t at)
{
	struct around *a = ctx;
	const struct function *f = tui_around_at(a, at);
	bool middle = at == a->callers.n;
	double p = profile_percent(f->total, a->t->total);
	double self = profile_percent(f->self, a->t->total);
	char name[512];

	tui_printf(l, tui_heat(p), " %8.2f%%  ", p);
	if (middle)
		tui_printf(l, tui_heat(self), "%8.2f%%  ", self);
	else
		tui_put(l, TUI_PLAIN, "           ");
	tui_put(l, TUI_ARROW,
		middle		    ? ""
		: at < a->callers.n ? (tui_unicode() ? "  ┌ " : "  , ")
		: tui_unicode()	    ? "  └ "
				    : "  ` ");
	tui_put_found(l, middle ? TUI_BOLD : TUI_PLAIN, tui_around_text(a, at, name, sizeof(name)),
		      &a->base.search);
}

static void tui_around_draw(void *ctx)
{
	struct around *a = ctx;
	static const char *const hints[] = { "Enter", "to the middle", "Left", "back",
					     "a",     "annotate",      "s",    "panes",
					     "/",     "search",	       "?",    "help",
					     "q",     "back",	       NULL };
	char name[512], buf[400];
	struct tui_line l;

	tui_clear();
	snprintf(name, sizeof(name), "Callers and callees of %s",
		 tui_tree_name(a->t->names, a->middle.frame, buf, sizeof(buf)));
	snprintf(buf, sizeof(buf), "callers: %zu, callees: %zu", a->callers.n, a->callees.n);
	tui_title(name, buf);
	l = tui_line(1, false);
	tui_printf(&l, TUI_HEAD, "     Total       Self   Function");
	tui_fill(&l, TUI_HEAD);
	tui_list_draw(&a->list, tui_line(2, false), tui_height() - 4, true, tui_around_line, a);
	l = tui_line(tui_height() - 2, false);
	tui_put(&l, TUI_PLAIN, " ");
	if (a->base.note[0])
		tui_put(&l, TUI_BOLD, a->base.note);
	else if (a->list.n)
		tui_tree_put_place(&l, a->t->names, tui_around_at(a, a->list.at)->frame);
	tui_hints(hints);
}

static void go(struct around *a)
{
	uint32_t to = a->list.n ? tui_around_at(a, a->list.at)->frame : CALLS_NONE;

	if (to == CALLS_NONE || to == a->middle.frame)
		return;
	vec_push(&a->path, a->middle.frame);
	center(a, to);
}

static int tui_around_key(void *view, int key)
{
	struct around *a = view;
	uint32_t frame = tui_around_at(a, a->list.at)->frame;

	switch (key) {
	case TUI_KEY_ENTER:
	case TUI_KEY_RIGHT: go(a); break;
	case TUI_KEY_LEFT:
	case TUI_KEY_BACKSPACE:
	case TUI_KEY_ESC:
		if (!a->path.n)
			return TUI_BACK;
		center(a, a->path.data[--a->path.n]);
		break;
	case 'a':
		return frame == CALLS_NONE
			       ? -1
			       : tui_base_back(tui_annotate_view(a->m, a->t, frame, a->src));
	case 's': return tui_base_back(tui_panes_view(a->m, a->t, frame, a->src));
	default: return tui_base_key(&a->base, &a->list, key);
	}
	return -1;
}

enum tui_exit tui_around_view(const struct tui_model *m, const struct tui_table *t, uint32_t frame,
			      struct srctext *source)
{
	struct around a = { .m = m,
			    .t = t,
			    .src = source,
			    .base = { .view = &a,
				      .draw = tui_around_draw,
				      .key = tui_around_key,
				      .text = tui_around_text,
				      .help = tui_help_around } };
	enum tui_exit left;

	center(&a, frame);
	left = tui_base_run(&a.base);
	vec_free(&a.all);
	vec_free(&a.callers);
	vec_free(&a.callees);
	vec_free(&a.path);
	return left;
}
