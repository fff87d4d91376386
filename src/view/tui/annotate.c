/* SPDX-License-Identifier: MIT */
/* A function's code on the screen: keys, jumps and calls to follow, from function to function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/stacks/calls.h"
#include "view/tui/code.h"

struct job {
	struct tui_code *c;
	uint32_t frame;
	struct err e;
};

static int tui_annotate_make(void *ctx)
{
	struct job *j = ctx;
	struct annotate_opts o = j->c->m->annotate;

	o.type = j->c->t->type;
	o.leader = j->c->m->leader;
	return annotate_make(j->c->t->names, j->frame, &o, &j->c->a, &j->e);
}

/* The frame a call leads to; CALLS_NONE when no sample ever was there. */
static uint32_t called(const struct tui_code *c, const struct annotate_insn *in)
{
	const struct names *n = c->a.names;
	uint32_t dso = n->frames.data[c->a.frame].dso;

	for (uint32_t i = 0; in->target_name && i < n->frames.n; i++) {
		const char *name = names_function(n, i);

		if (name && n->frames.data[i].dso == dso && strcmp(name, in->target_name) == 0)
			return i;
	}
	/* through the PLT into another file */
	if (in->target_name && str_ends(in->target_name, "@plt")) {
		size_t len = strlen(in->target_name) - 4;

		for (uint32_t i = 0; i < n->frames.n; i++) {
			const char *name = names_function(n, i);

			if (name && strncmp(name, in->target_name, len) == 0 && !name[len])
				return i;
		}
	}
	return CALLS_NONE;
}

static enum tui_exit tui_annotate_follow(struct tui_code *c)
{
	const struct tui_code_line *l = c->list.at < c->lines.n ? &c->lines.data[c->list.at] : NULL;
	const struct annotate_insn *in = l ? &c->a.insns.data[l->insn] : NULL;
	uint32_t frame;

	if (!in || l->kind != TUI_CODE_INSTRUCTION || !in->code.has_target) {
		snprintf(c->base.note, sizeof(c->base.note),
			 "no jump and no call to a fixed place");
		return TUI_BACK;
	}
	if (in->target >= 0) {
		tui_code_go_to(c, (uint32_t)in->target);
		return TUI_BACK;
	}
	frame = called(c, in);
	if (frame == CALLS_NONE) {
		snprintf(c->base.note, sizeof(c->base.note), "no samples in %s",
			 in->target_name ? in->target_name : "what it leads to");
		return TUI_BACK;
	}
	return tui_annotate_view(c->m, c->t, frame, c->src);
}

static void print_to_file(struct tui_code *c)
{
	char path[200];
	FILE *f = tui_ask_file("annotate", "the function as kymo annotate --stdio shows it", path,
			       sizeof(path), c->base.note);

	if (!f)
		return;
	annotate_print(f, &c->style, &c->a, c->src);
	snprintf(c->base.note, sizeof(c->base.note),
		 fclose(f) == 0 ? "written to %s" : "cannot write all of %s", path);
}

static void change_style(struct tui_code *c, int key)
{
	uint32_t at = c->list.at < c->lines.n ? c->lines.data[c->list.at].insn : 0;

	switch (key) {
	case 's':
		c->style.no_source = !c->style.no_source;
		tui_code_lines(c, at);
		break;
	case 'J': c->style.arrows = !c->style.arrows; break;
	case 'o': c->style.raw = !c->style.raw; break;
	case 't': c->style.column = (c->style.column + 1) % 3; break;
	case 'p':
		c->style.percent = c->style.percent == ANNOTATE_LOCAL_PERIOD
					   ? ANNOTATE_GLOBAL_PERIOD
					   : ANNOTATE_LOCAL_PERIOD;
		break;
	default: break;
	}
}

enum { STAY = -1, NEXT = 100, BEFORE = 101 };

static int tui_annotate_key(void *view, int key)
{
	struct tui_code *c = view;

	switch (key) {
	case TUI_KEY_LEFT:
	case TUI_KEY_ESC:
	case TUI_KEY_BACKSPACE: return TUI_BACK;
	case ']': return NEXT;
	case '[': return BEFORE;
	case 'H': tui_code_go_hot(c, 0); break;
	case TUI_KEY_TAB: tui_code_go_hot(c, 1); break;
	case TUI_KEY_BACK_TAB: tui_code_go_hot(c, -1); break;
	case TUI_KEY_ENTER:
	case TUI_KEY_RIGHT: return tui_base_back(tui_annotate_follow(c));
	case 's':
	case 'J':
	case 'o':
	case 't':
	case 'p': change_style(c, key); break;
	case 'P': print_to_file(c); break;
	default: return tui_base_key(&c->base, &c->list, key);
	}
	return STAY;
}

/* One function that is there; why it was left. */
static int one_function(struct tui_code *c)
{
	int left;

	c->list = (struct tui_list){ .height = tui_height() - 4 };
	arrows_make(&c->a, ARROWS_LANES, &c->arrows);
	tui_code_find_hot(c);
	tui_code_lines(c, 0);
	if (c->hot.n) {
		tui_code_go_to(c, c->hot.data[0]);
		c->hot_at = 0; /* so Tab leads to the second */
	}
	left = (int)tui_base_run(&c->base);
	vec_free(&c->hot);
	vec_free(&c->lines);
	arena_free(&c->arena);
	c->arena = (struct arena){ 0 };
	arrows_free(&c->arrows);
	annotate_free(&c->a);
	return left;
}

static int tui_annotate_load(struct tui_code *c, uint32_t frame, struct err *e)
{
	struct job j = { .c = c, .frame = frame };
	int r = tui_busy("Disassembling, and looking for source lines", tui_annotate_make, &j);

	*e = j.e;
	return r;
}

/* Functions with samples of their own, hottest first. */
static void list_functions(const struct tui_table *t, functions_list *all)
{
	if (all->n)
		return;
	functions_make(t->names, t->type, all);
	functions_by_self(all);
	while (all->n && !all->data[all->n - 1].self)
		all->n--;
}

/* From a function to the next one (or the one before) whose code is there. */
static int load_next(struct tui_code *c, functions_list *all, uint32_t *frame, bool back)
{
	struct err e = { 0 };
	size_t at = 0, left_out = 0;

	list_functions(c->t, all);
	while (at < all->n && all->data[at].frame != *frame)
		at++;
	for (size_t i = 0; i < all->n; i++) {
		at = (at + (back ? all->n - 1 : 1)) % all->n;
		*frame = all->data[at].frame;
		if (tui_annotate_load(c, *frame, &e) == 0) {
			if (left_out)
				snprintf(c->base.note, sizeof(c->base.note),
					 "passed over %zu whose code is not here", left_out);
			return 0;
		}
		left_out++;
	}
	return -ENOENT;
}

enum tui_exit tui_annotate_view(const struct tui_model *m, const struct tui_table *t,
				uint32_t frame, struct srctext *source)
{
	struct tui_code c = { .m = m,
			      .t = t,
			      .src = source,
			      .style = m->style,
			      .base = { .view = &c,
					.draw = tui_code_draw,
					.key = tui_annotate_key,
					.text = tui_code_text,
					.help = tui_help_annotate } };
	functions_list all = { 0 };
	struct err e = { 0 };
	int left = TUI_BACK;

	if (tui_annotate_load(&c, frame, &e) < 0) {
		tui_error(&e);
		return TUI_BACK;
	}
	do
		left = one_function(&c);
	while ((left == NEXT || left == BEFORE) &&
	       load_next(&c, &all, &frame, left == BEFORE) == 0);
	vec_free(&all);
	return left == TUI_QUIT ? TUI_QUIT : TUI_BACK;
}

int tui_annotate(const struct tui_model *m, tui_choose_fn *choose, struct err *e)
{
	struct srctext source = { .opts = m->source };
	struct tui_view v = { .m = m };
	uint32_t frame = CALLS_NONE;
	int r = tui_start(e);

	if (r < 0)
		return r;
	r = tui_rows_load(&v, &(struct tui_query){ .children = -1 }, e);
	if (r == 0) {
		frame = choose(m->ctx, &v.t, e);
		if (frame == CALLS_NONE)
			r = -ENOENT;
		else
			tui_annotate_view(m, &v.t, frame, &source);
	}
	tui_rows_unload(&v);
	free(v.sort_text);
	srctext_free(&source);
	tui_end();
	return r;
}
