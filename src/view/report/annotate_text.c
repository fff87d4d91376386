/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/term.h"
#include "view/arrows.h"
#include "view/report/annotate.h"

struct out {
	FILE *f;
	const struct annotate_style *s;
	const struct annotate *a;
	struct srctext *src;
	struct arrows arrows;
	int addr_width;
	int column_width; /* of a number */
	int all_width;	  /* of those of all events */
};

const char *annotate_percent_name(enum annotate_percent kind)
{
	static const char *const names[] = { "local period", "global period", "local hits",
					     "global hits" };

	return names[kind];
}

static const char *short_name(const struct out *o, const char *path)
{
	return o->s->full_paths || path[0] == '[' ? path : str_base_name(path);
}

static const char *dso_path(const struct annotate *a)
{
	return names_path(a->names, a->names->frames.data[a->frame].dso);
}

/* As many dashes as the line above is wide. */
static void heading(const struct out *o)
{
	static const char *const titles[] = { "Percent", "Samples", "Period" };
	const struct event_type *types = o->a->names->profile->trace->types;
	const struct annotate *a = o->a;
	bool braces = a->n_more && !o->s->forced_group;
	AUTO_STRBUF b = { 0 };

	strbuf_printf(&b, " %-*s |\tSource code & Disassembly of %s for %s%s", o->all_width - 1,
		      titles[o->s->column], short_name(o, dso_path(a)),
		      braces ? "anon group { " : "", types[a->type].name);
	for (unsigned i = 0; i < a->n_more; i++)
		strbuf_printf(&b, ", %s", types[a->more[i].type].name);
	strbuf_printf(&b, "%s (%" PRIu64 " samples, percent: %s)", braces ? " }" : "", a->count,
		      annotate_percent_name(o->s->percent));
	fprintf(o->f, "%s\n", b.data);
	for (size_t i = 0; i < b.n + 6; i++)
		putc('-', o->f);
	putc('\n', o->f);
}

static void annotate_text_number(const struct out *o, double p, uint64_t count, uint64_t weight)
{
	enum term_style c = term_heat(p);

	if (c != TERM_RESET)
		fputs(term_style(o->f, c), o->f);
	if (o->s->column == ANNOTATE_SHOW_PERCENT)
		fprintf(o->f, "%8.2f", p);
	else
		fprintf(o->f, "%*" PRIu64, o->column_width,
			o->s->column == ANNOTATE_SHOW_SAMPLES ? count : weight);
	if (c != TERM_RESET)
		fputs(term_style(o->f, TERM_RESET), o->f);
}

static void first_column(const struct out *o, size_t i)
{
	const struct annotate *a = o->a;
	const struct annotate_insn *in = &a->insns.data[i];

	annotate_text_number(o, annotate_percent(a, in, o->s->percent), in->count, in->weight);
	for (unsigned k = 0; k < a->n_more; k++)
		annotate_text_number(o, annotate_percent_more(a, k, i, o->s->percent),
				     a->more[k].hits[i].count, a->more[k].hits[i].weight);
	fputs(" : ", o->f);
}

static void blank_column(const struct out *o)
{
	fprintf(o->f, "%*s : ", o->all_width, "");
}

/* Above an instruction: whose code it is, and its source. */
static void source_above(const struct out *o, size_t insn, struct map *seen)
{
	struct annotate_source r = annotate_source_at(o->a, insn, seen);
	char buf[1024];

	if (r.function) {
		blank_column(o);
		fprintf(o->f, "%s%s()", term_style(o->f, TERM_BOLD), r.function);
		if (r.inlined && r.inlined_at_file)
			fprintf(o->f, " inlined at %s:%u", short_name(o, r.inlined_at_file),
				r.inlined_at_line);
		fprintf(o->f, ":%s\n", term_style(o->f, TERM_RESET));
	}
	for (uint32_t line = r.from; line && line <= r.to; line++) {
		size_t n;
		const char *text = srctext_line(o->src, r.file, line, &n);

		if (!text && line != r.to)
			continue;
		blank_column(o);
		fputs(term_style(o->f, TERM_BLUE), o->f);
		if (text)
			fprintf(o->f, "%-5u%s", line, annotate_clean(text, n, buf, sizeof(buf)));
		else
			fprintf(o->f, "%s:%u", short_name(o, r.file), line);
		fprintf(o->f, "%s\n", term_style(o->f, TERM_RESET));
	}
}

static void instruction(const struct out *o, size_t i)
{
	const struct annotate_insn *in = &o->a->insns.data[i];
	const struct sym_frame *f = in->sym && in->sym->nframes ? &in->sym->frames[0] : NULL;
	char args[1024], arrows[ARROWS_TEXT];

	first_column(o, i);
	fprintf(o->f, "%*" PRIx64 ":  %s ", o->addr_width, in->code.addr,
		arrows_width(&o->arrows) ? arrows_draw(&o->arrows, i, false, o->s->ascii, arrows)
					 : "");
	if (o->s->raw) {
		for (unsigned k = 0; k < in->code.size; k++)
			fprintf(o->f, "%02x ", in->code.bytes[k]);
		fprintf(o->f, "%*s", in->code.size < 7 ? (7 - in->code.size) * 3 : 0, "");
	}
	annotate_args(o->a, in, args, sizeof(args));
	fprintf(o->f, *args ? "%-6s %s" : "%s%s", in->code.name, args);
	if (o->s->lines && f && f->file != SYMBOLS_NONE)
		fprintf(o->f, " %s// %s:%u%s", term_style(o->f, TERM_DIM),
			short_name(o, symbols_text(o->a->names->symbols, f->file)), f->line,
			term_style(o->f, TERM_RESET));
	putc('\n', o->f);
}

/* What a source line weighs. */
struct line_sum {
	uint32_t file, line;
	double percent;
	double *more; /* of the group's other events */
};

static int annotate_text_heavier(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;

	if (x->percent < y->percent || x->percent > y->percent)
		return x->percent < y->percent ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool hit_by_others(const struct annotate *a, size_t insn)
{
	for (unsigned k = 0; k < a->n_more; k++)
		if (a->more[k].hits[insn].count)
			return true;
	return false;
}

static void line_summary(const struct out *o)
{
	VEC(struct line_sum) sums = { 0 };
	unsigned n_more = o->a->n_more;
	struct arena arena = { 0 };
	struct map index = { 0 };
	bool any = false;

	for (size_t i = 0; i < o->a->insns.n; i++) {
		const struct annotate_insn *in = &o->a->insns.data[i];
		const struct sym_frame *f;
		uint64_t *at;

		if (!in->sym || !in->sym->nframes || !(in->count || hit_by_others(o->a, i)))
			continue;
		f = &in->sym->frames[0];
		at = map_at(&index, (uint64_t)f->file << 32 | f->line);
		if (!*at) {
			vec_push(&sums, (struct line_sum){
						.file = f->file,
						.line = f->line,
						.more = arena_alloc(
							&arena, (n_more + 1) * sizeof(double)) });
			*at = sums.n;
		}
		if (sums.data)
			sums.data[*at - 1].percent += annotate_percent(o->a, in, o->s->percent);
		for (unsigned k = 0; sums.data && k < n_more; k++)
			sums.data[*at - 1].more[k] +=
				annotate_percent_more(o->a, k, i, o->s->percent);
	}
	if (sums.n)
		qsort(sums.data, sums.n, sizeof(*sums.data), annotate_text_heavier);
	fprintf(o->f,
		"\nSorted summary for file %s\n"
		"----------------------------------------------\n\n",
		dso_path(o->a));
	vec_each (&sums, l) {
		double most = l->percent;

		for (unsigned k = 0; k < n_more; k++)
			most = l->more[k] > most ? l->more[k] : most;
		if (most <= 0.5 || l->file == SYMBOLS_NONE)
			continue;
		any = true;
		fprintf(o->f, "%s%8.2f%s", term_style(o->f, term_heat(l->percent)), l->percent,
			term_style(o->f, TERM_RESET));
		for (unsigned k = 0; k < n_more; k++)
			fprintf(o->f, "%s%8.2f%s", term_style(o->f, term_heat(l->more[k])),
				l->more[k], term_style(o->f, TERM_RESET));
		fprintf(o->f, " %s:%u\n",
			short_name(o, symbols_text(o->a->names->symbols, l->file)), l->line);
	}
	if (!any)
		fprintf(o->f, " %s\n",
			o->a->has_lines ? "Nothing higher than 0.5%"
					: "No source lines: the file has no debug information");
	vec_free(&sums);
	arena_free(&arena);
	map_free(&index);
}

static int hex_width(uint64_t v)
{
	int n = 1;

	while (v >>= 4)
		n++;
	return n;
}

void annotate_print(FILE *f, const struct annotate_style *s, const struct annotate *a,
		    struct srctext *src)
{
	struct out o = { .f = f, .s = s, .a = a, .src = src };
	struct map seen = { 0 };

	o.column_width = s->column == ANNOTATE_SHOW_WEIGHT ? 12 : 8;
	o.all_width = o.column_width * (int)(1 + a->n_more);
	o.addr_width = hex_width(a->end) + 2;
	if (s->arrows)
		arrows_make(a, 4, &o.arrows);
	if (s->lines)
		line_summary(&o);
	heading(&o);
	if (s->verbose) {
		blank_column(&o);
		fprintf(f, "code from %s, [%#" PRIx64 ", %#" PRIx64 ")\n", a->file, a->start,
			a->end);
	}
	blank_column(&o);
	fprintf(f, "%016" PRIx64 " <%s>:\n", a->start, a->function);
	for (size_t i = 0; i < a->insns.n; i++) {
		if (annotate_percent(a, &a->insns.data[i], s->percent) < s->percent_limit)
			continue;
		if (!s->no_source)
			source_above(&o, i, &seen);
		instruction(&o, i);
	}
	putc('\n', f);
	map_free(&seen);
	if (s->arrows)
		arrows_free(&o.arrows);
}
