/* SPDX-License-Identifier: MIT */
/* Which source lines stand above which instruction; for text and terminal alike. */

#include "view/report/annotate.h"

#define GAP 8 /* lines between two that are shown with them */

static const struct sym_frame *frame_at(const struct annotate *a, size_t insn)
{
	const struct sym_result *s = a->insns.data[insn].sym;

	return s && s->nframes ? &s->frames[0] : NULL;
}

/* The calls that led here are other ones than at the instruction before. */
static bool other_function(const struct annotate *a, size_t insn)
{
	const struct sym_result *s = a->insns.data[insn].sym, *b;

	if (insn == 0)
		return true;
	b = a->insns.data[insn - 1].sym;
	if (!s || !b)
		return s != b;
	if (s->nframes != b->nframes)
		return true;
	for (uint32_t i = 0; i < s->nframes; i++) {
		if (s->frames[i].name != b->frames[i].name)
			return true;
		/* inlined twice in a row: another call */
		if (i && s->frames[i].line != b->frames[i].line)
			return true;
	}
	return false;
}

struct annotate_source annotate_source_at(const struct annotate *a, size_t insn, struct map *seen)
{
	const struct symbols *sy = a->names->symbols;
	const struct sym_result *s = a->insns.data[insn].sym;
	const struct sym_frame *f = frame_at(a, insn), *before;
	struct annotate_source r = { 0 };
	uint64_t *last;

	if (!f) {
		if (insn == 0)
			r.function = a->function;
		return r;
	}
	if (other_function(a, insn)) {
		r.function = symbols_text(sy, f->name);
		r.inlined = s->nframes > 1;
		if (r.inlined && s->frames[1].file != SYMBOLS_NONE) {
			r.inlined_at_file = symbols_text(sy, s->frames[1].file);
			r.inlined_at_line = s->frames[1].line;
		}
	}
	if (f->file == SYMBOLS_NONE || !f->line)
		return r;
	before = insn ? frame_at(a, insn - 1) : NULL;
	if (before && before->file == f->file && before->line == f->line && !r.function)
		return r;
	last = map_at(seen, f->file);
	r.file = symbols_text(sy, f->file);
	r.to = f->line;
	r.from = *last && f->line > *last && f->line - *last <= GAP ? (uint32_t)*last + 1 : f->line;
	if (f->line > *last)
		*last = f->line;
	return r;
}

const char *annotate_clean(const char *text, size_t n, char *buf, size_t size)
{
	size_t at = 0, column = 0;

	for (size_t i = 0; i < n && at + 9 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\t') {
			do
				buf[at++] = ' ';
			while (++column % 8);
			continue;
		}
		column += (c & 0xc0) != 0x80;
		buf[at++] = c < ' ' || c == 0x7f ? '?' : (char)c;
	}
	buf[at] = 0;
	return buf;
}
