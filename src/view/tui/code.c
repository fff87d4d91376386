/* SPDX-License-Identifier: MIT */
/* The lines of the annotate view: instructions between their source, and how they look. */
#include "view/tui/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

static void source_lines(struct tui_code *c, uint32_t insn, struct map *seen)
{
	struct annotate_source r = annotate_source_at(&c->a, insn, seen);
	char buf[1024];

	if (r.function && (insn || r.inlined))
		vec_push(&c->lines,
			 (struct tui_code_line){
				 .kind = TUI_CODE_FUNCTION,
				 .insn = insn,
				 .text = r.inlined_at_file
						 ? arena_printf(&c->arena, "%s() inlined at %s:%u",
								r.function,
								str_base_name(r.inlined_at_file),
								r.inlined_at_line)
						 : arena_printf(&c->arena, "%s()", r.function) });
	for (uint32_t n = r.from; n && n <= r.to; n++) {
		size_t len;
		const char *text = srctext_line(c->src, r.file, n, &len);

		if (!text && n != r.to)
			continue;
		vec_push(&c->lines,
			 (struct tui_code_line){
				 .kind = TUI_CODE_SOURCE,
				 .insn = insn,
				 .number = n,
				 .text = text ? arena_strdup(
							&c->arena,
							annotate_clean(text, len, buf, sizeof(buf)))
					      : arena_printf(&c->arena, "(%s)",
							     str_base_name(r.file)),
			 });
	}
}

/* The lines, with the cursor on the instruction it was on. */
void tui_code_lines(struct tui_code *c, uint32_t at)
{
	struct map seen = { 0 };

	c->lines.n = 0;
	arena_free(&c->arena);
	c->arena = (struct arena){ 0 };
	for (uint32_t i = 0; i < c->a.insns.n; i++) {
		if (!c->style.no_source)
			source_lines(c, i, &seen);
		if (i == at)
			c->list.at = c->lines.n;
		vec_push(&c->lines,
			 (struct tui_code_line){ .kind = TUI_CODE_INSTRUCTION, .insn = i });
	}
	map_free(&seen);
	c->list.n = c->lines.n;
	tui_list_fit(&c->list);
}

static int hotter(const void *pa, const void *pb, void *ctx)
{
	const struct tui_code *c = ctx;
	const struct annotate_insn *a = &c->a.insns.data[*(const uint32_t *)pa];
	const struct annotate_insn *b = &c->a.insns.data[*(const uint32_t *)pb];

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->code.addr < b->code.addr ? -1 : 1;
}

void tui_code_find_hot(struct tui_code *c)
{
	for (uint32_t i = 0; i < c->a.insns.n; i++)
		if (c->a.insns.data[i].count)
			vec_push(&c->hot, i);
	if (c->hot.n)
		qsort_r(c->hot.data, c->hot.n, sizeof(*c->hot.data), hotter, c);
	c->hot_at = c->hot.n;
}

void tui_code_go_to(struct tui_code *c, uint32_t insn)
{
	size_t third;

	for (c->list.at = 0; c->list.at < c->lines.n; c->list.at++)
		if (c->lines.data[c->list.at].kind == TUI_CODE_INSTRUCTION &&
		    c->lines.data[c->list.at].insn == insn)
			break;
	/* with what stands before it in sight */
	third = (size_t)(c->list.height > 0 ? c->list.height / 3 : 0);
	c->list.top = c->list.at > third ? c->list.at - third : 0;
	tui_list_fit(&c->list);
}

void tui_code_go_hot(struct tui_code *c, int step)
{
	if (!c->hot.n) {
		snprintf(c->base.note, sizeof(c->base.note), "no instruction of it has samples");
		return;
	}
	if (step == 0 || c->hot_at >= c->hot.n)
		c->hot_at = step < 0 ? c->hot.n - 1 : 0;
	else
		c->hot_at = (c->hot_at + c->hot.n + (size_t)step) % c->hot.n;
	tui_code_go_to(c, c->hot.data[c->hot_at]);
	snprintf(c->base.note, sizeof(c->base.note), "no. %zu of %zu", c->hot_at + 1, c->hot.n);
}

#define COLUMN 9 /* wide */

static void tui_code_number(const struct tui_code *c, struct tui_line *l, double p, uint64_t count,
			    uint64_t weight)
{
	if (!count)
		tui_printf(l, TUI_PLAIN, "%*s", COLUMN, "");
	else if (c->style.column == ANNOTATE_SHOW_PERCENT)
		tui_printf(l, tui_heat(p), "%*.2f ", COLUMN - 1, p);
	else
		tui_printf(l, tui_heat(p), "%*" PRIu64 " ", COLUMN - 1,
			   c->style.column == ANNOTATE_SHOW_SAMPLES ? count : weight);
}

/* What hit it: the event's samples, and those of its group's others. */
static void column(const struct tui_code *c, struct tui_line *l, uint32_t insn)
{
	const struct annotate_insn *in = &c->a.insns.data[insn];

	tui_code_number(c, l, annotate_percent(&c->a, in, c->style.percent), in->count, in->weight);
	for (unsigned k = 0; k < c->a.n_more; k++)
		tui_code_number(c, l, annotate_percent_more(&c->a, k, insn, c->style.percent),
				c->a.more[k].hits[insn].count, c->a.more[k].hits[insn].weight);
}

static int hex_digits(uint64_t v)
{
	int n = 1;

	while (v >>= 4)
		n++;
	return n;
}

static void tui_code_line(void *ctx, struct tui_line *l, size_t at)
{
	const struct tui_code *c = ctx;
	const struct tui_code_line *line = &c->lines.data[at];
	int digits = hex_digits(c->a.end);
	const struct annotate_insn *in = &c->a.insns.data[line->insn];
	const char *bar = tui_unicode() ? "│ " : "| ";
	char arrows[ARROWS_TEXT], args[1024];
	bool insn = line->kind == TUI_CODE_INSTRUCTION;

	if (insn)
		column(c, l, line->insn);
	else
		tui_printf(l, TUI_PLAIN, "%*s", COLUMN * (int)(1 + c->a.n_more), "");
	tui_put(l, TUI_DIM, bar);
	l->skip = c->base.skip;
	if (insn)
		tui_printf(l, TUI_DIM, "%*" PRIx64 ": ", digits, in->code.addr);
	else if (line->kind == TUI_CODE_SOURCE)
		tui_printf(l, TUI_SOURCE, "%*u  ", digits, line->number);
	else
		tui_printf(l, TUI_PLAIN, "%*s  ", digits, "");
	if (c->style.arrows && arrows_width(&c->arrows)) {
		tui_put(l, TUI_ARROW,
			arrows_draw(&c->arrows, line->insn, !insn, !tui_unicode(), arrows));
		tui_put(l, TUI_PLAIN, " ");
	}
	if (!insn) {
		tui_put_found(l, line->kind == TUI_CODE_SOURCE ? TUI_SOURCE : TUI_BOLD, line->text,
			      &c->base.search);
		return;
	}
	for (unsigned k = 0; c->style.raw && k < 7; k++)
		if (k < in->code.size)
			tui_printf(l, TUI_DIM, "%02x ", in->code.bytes[k]);
		else
			tui_put(l, TUI_DIM, "   ");
	annotate_args(&c->a, in, args, sizeof(args));
	tui_printf(l, TUI_PLAIN, "%-6s ", in->code.name);
	tui_put_found(l, in->code.flow == DISASM_CALL ? TUI_BOLD : TUI_PLAIN, args,
		      &c->base.search);
}

static void tui_code_status(const struct tui_code *c)
{
	struct tui_line l = tui_base_status(&c->base, &c->list);
	char at[4096], cut[4096];

	if (!c->base.note[0] && c->list.at < c->lines.n) {
		const struct tui_code_line *line = &c->lines.data[c->list.at];
		const struct annotate_insn *in = &c->a.insns.data[line->insn];

		tui_printf(&l, TUI_DIM, "%s+%#" PRIx64, c->a.function, in->code.addr - c->a.start);
		if (in->sym && in->sym->nframes && in->sym->frames[0].file != SYMBOLS_NONE) {
			snprintf(at, sizeof(at), "%s:%u",
				 symbols_text(c->a.names->symbols, in->sym->frames[0].file),
				 in->sym->frames[0].line);
			tui_put(&l, TUI_DIM, "  ");
			tui_put(&l, TUI_DIM, tui_cut_front(at, l.end - l.x, cut, sizeof(cut)));
		} else if (!c->a.has_lines) {
			tui_put(&l, TUI_DIM,
				"  no source lines: the file has no debug information");
		}
	}
}

void tui_code_draw(void *code)
{
	struct tui_code *c = code;
	static const char *const hints[] = {
		"H",   "hottest",      "Tab", "next",	"Enter", "follow", "s", "source",
		"[ ]", "function",     "?",   "help",	"q",	 "back",   "t", "column",
		"p",   "local/global", "J",   "arrows", "o",	 "bytes",  "P", "print",
		NULL
	};
	static const char *const heads[] = { "Percent", "Samples", "Period" };
	char left[512], right[128];
	struct tui_line l;

	tui_clear();
	snprintf(left, sizeof(left), "%s  %s", c->a.function,
		 names_dso(c->a.names, c->a.names->frames.data[c->a.frame].dso));
	snprintf(right, sizeof(right), "%" PRIu64 " samples, %.2f%% of all ", c->a.count,
		 profile_percent(c->a.weight, c->a.all_weight));
	tui_title(left, right);
	l = tui_line(1, false);
	for (unsigned k = 0; k <= c->a.n_more; k++)
		tui_printf(&l, TUI_HEAD, "%*s ", COLUMN - 1, heads[c->style.column]);
	tui_printf(&l, TUI_HEAD, "  %s, %s",
		   c->style.column == ANNOTATE_SHOW_PERCENT
			   ? annotate_percent_name(c->style.percent)
			   : "per instruction",
		   c->m->trace->types[c->a.type].name);
	for (unsigned k = 0; k < c->a.n_more; k++)
		tui_printf(&l, TUI_HEAD, ", %s", c->m->trace->types[c->a.more[k].type].name);
	tui_fill(&l, TUI_HEAD);
	tui_list_draw(&c->list, tui_line(2, false), tui_height() - 4, true, tui_code_line, c);
	tui_code_status(c);
	tui_hints(hints);
}

const char *tui_code_text(void *ctx, size_t at, char *buf, size_t size)
{
	const struct tui_code *c = ctx;
	const struct tui_code_line *l = &c->lines.data[at];
	const struct annotate_insn *in = &c->a.insns.data[l->insn];
	char args[1024];

	if (l->kind != TUI_CODE_INSTRUCTION)
		return l->text;
	snprintf(buf, size, "%" PRIx64 ": %s %s", in->code.addr, in->code.name,
		 annotate_args(&c->a, in, args, sizeof(args)));
	return buf;
}
