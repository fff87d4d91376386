/* SPDX-License-Identifier: MIT */
#include "view/arrows.h"

#include <stdlib.h>
#include <string.h>

static uint32_t low(const struct arrow *a)
{
	return a->from < a->to ? a->from : a->to;
}

static uint32_t high(const struct arrow *a)
{
	return a->from < a->to ? a->to : a->from;
}

static int shorter_first(const void *pa, const void *pb)
{
	const struct arrow *a = pa, *b = pb;
	uint32_t x = high(a) - low(a), y = high(b) - low(b);

	if (x != y)
		return x < y ? -1 : 1;
	if (low(a) != low(b))
		return low(a) < low(b) ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Who has a lane beside an instruction: the target of its arrow + 1, 0 when it is free. */
struct lanes {
	uint32_t to[ARROWS_LANES];
};

/* The innermost lane that is free all along; arrows to one place share theirs, they meet there. */
static unsigned free_lane(const struct lanes *l, const struct arrow *a, unsigned max)
{
	unsigned taken = 0, all = (1u << max) - 1, lane = 0;

	for (uint32_t i = low(a); i <= high(a) && taken != all; i++)
		for (unsigned k = 0; k < max; k++)
			if (l[i].to[k] && l[i].to[k] != a->to + 1)
				taken |= 1u << k;
	while (lane < max && (taken & 1u << lane))
		lane++;
	return lane;
}

static void arrows_mark(struct arrows *r, struct lanes *l, const struct arrow *a)
{
	uint8_t bit = (uint8_t)(1u << a->lane);

	r->at[a->from].from |= bit;
	r->at[a->to].to |= bit;
	for (uint32_t i = low(a); i <= high(a); i++) {
		l[i].to[a->lane] = a->to + 1;
		if (i > low(a))
			r->at[i].through |= bit; /* the line's upper half */
	}
}

void arrows_make(const struct annotate *a, unsigned max_lanes, struct arrows *ret)
{
	AUTO_FREE struct lanes *lanes = mem_alloc((a->insns.n + 1) * sizeof(*lanes));
	size_t placed = 0;

	*ret = (struct arrows){ .n = a->insns.n };
	ret->at = mem_alloc((a->insns.n + 1) * sizeof(*ret->at));
	if (max_lanes > ARROWS_LANES)
		max_lanes = ARROWS_LANES;
	for (size_t i = 0; i < a->insns.n; i++)
		if (a->insns.data[i].target >= 0 && a->insns.data[i].target != (int32_t)i)
			vec_push(&ret->arrow,
				 (struct arrow){ .from = (uint32_t)i,
						 .to = (uint32_t)a->insns.data[i].target });
	if (ret->arrow.n)
		qsort(ret->arrow.data, ret->arrow.n, sizeof(*ret->arrow.data), shorter_first);
	for (size_t i = 0; i < ret->arrow.n; i++) {
		struct arrow x = ret->arrow.data[i];

		x.lane = (uint8_t)free_lane(lanes, &x, max_lanes);
		if (x.lane == max_lanes) {
			ret->left_out++;
			continue;
		}
		ret->arrow.data[placed++] = x;
		arrows_mark(ret, lanes, &x);
		if (x.lane >= ret->lanes)
			ret->lanes = x.lane + 1u;
	}
	ret->arrow.n = placed;
}

void arrows_free(struct arrows *r)
{
	vec_free(&r->arrow);
	free(r->at);
	r->at = NULL;
}

unsigned arrows_width(const struct arrows *r)
{
	return r->lanes ? r->lanes * 2 + 1 : 0;
}

static const char *glyph(bool up, bool down, bool right, bool ascii)
{
	if (ascii)
		return right	    ? up && down ? "+"
				      : up	 ? "'"
				      : down	 ? ","
						 : "-"
		       : up || down ? "|"
				    : " ";
	if (right)
		return up && down ? "├" : up ? "└" : down ? "┌" : "─";
	return up || down ? "│" : " ";
}

const char *arrows_draw(const struct arrows *r, size_t insn, bool above, bool ascii,
			char buf[ARROWS_TEXT])
{
	static const struct arrows_at nothing;
	const struct arrows_at *here = &r->at[insn];
	const struct arrows_at *next = insn + 1 < r->n ? &r->at[insn + 1] : &nothing;
	bool line = false; /* a horizontal one comes from the left */
	char *p = buf;

	*p = 0;
	for (unsigned lane = r->lanes; lane-- > 0;) {
		unsigned bit = 1u << lane;
		bool up = here->through & bit;
		bool down = above ? up : next->through & bit;
		bool end = !above && ((here->from | here->to) & bit);

		/* a line from further out crosses those it passes */
		if (line && !end)
			p = stpcpy(p, up || down ? glyph(up, down, false, ascii)
				      : ascii	 ? "-"
						 : "─");
		else
			p = stpcpy(p, glyph(up, down, end, ascii));
		line = line || end;
		p = stpcpy(p, !line ? " " : ascii ? "-" : "─");
	}
	if (r->lanes)
		(void)stpcpy(p, !line ? " " : here->to ? ">" : ascii ? "-" : "─");
	return buf;
}
