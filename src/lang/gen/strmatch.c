/* SPDX-License-Identifier: MIT */
/*
 * strmatch(text, "pattern"): shell patterns, with * and ?, against all of a text.
 *
 * The pattern is known now, so each stretch between two stars becomes its own comparison: the
 * first where the text begins, the last where it ends, and those between at the first place
 * that fits. A position that was found goes through memory, where the verifier forgets which
 * of the many it was: a pattern of several stars costs it their sum, not their product.
 */
#include <string.h>

#include "lang/gen/func.h"

struct match {
	struct gen *g;
	struct place text;
	uint32_t size;	   /* of the text, with the zero that ends it */
	struct ir_val pos; /* behind what has been matched */
	int miss;
};

static struct ir_val byte_at(struct match *m, struct ir_val at, uint32_t ahead)
{
	struct ir_func *f = m->g->f;

	return ir_load(f, 1, ir_alu(f, BPF_ADD, m->text.base, at), m->text.off + (int32_t)ahead);
}

/* The stretch at a place; elsewhere if it is not there. */
static void gen_match_compare(struct match *m, struct ir_val at, const char *s, size_t n,
			      int differ)
{
	for (size_t i = 0; i < n; i++) {
		struct ir_val c = byte_at(m, at, (uint32_t)i);

		if (s[i] == '?')
			ir_branch(m->g->f, BPF_JEQ, c, IR_IMM(0), differ);
		else
			ir_branch(m->g->f, BPF_JNE, c, IR_IMM((uint8_t)s[i]), differ);
	}
}

static void gen_match_forget(struct match *m, struct ir_val v)
{
	struct place p = gen_scratch(m->g, 8);
	struct ir_func *f = m->g->f;

	ir_store(f, 8, p.base, p.off, v);
	ir_move(f, (int)v.v, ir_load(f, 8, p.base, p.off));
	ir_branch(f, BPF_JGE, v, IR_IMM(m->size), m->miss);
}

static void gen_match_search(struct match *m, const char *s, size_t n)
{
	struct ir_func *f = m->g->f;
	int again = ir_label(f), next = ir_label(f), found = ir_label(f);
	struct gen_rounds all = gen_rounds(m->g, m->size * (uint32_t)n);

	ir_place_label(f, again);
	gen_round(m->g, &all, m->pos, m->miss);
	ir_branch(f, BPF_JGE, m->pos, IR_IMM(m->size), m->miss);
	gen_match_compare(m, m->pos, s, n, next);
	ir_move(f, (int)m->pos.v, ir_alu(f, BPF_ADD, m->pos, IR_IMM((int64_t)n)));
	ir_jump(f, found);
	ir_place_label(f, next);
	ir_move(f, (int)m->pos.v, ir_alu(f, BPF_ADD, m->pos, IR_IMM(1)));
	ir_jump(f, again);
	ir_place_label(f, found);
	gen_match_forget(m, m->pos);
}

static void at_the_end(struct match *m, const char *s, size_t n)
{
	struct ir_func *f = m->g->f;
	struct ir_val end = ir_copy(f, m->pos);
	int again = ir_label(f), found = ir_label(f);
	struct gen_rounds all = gen_rounds(m->g, m->size);

	ir_place_label(f, again);
	gen_round(m->g, &all, end, m->miss);
	ir_branch(f, BPF_JGE, end, IR_IMM(m->size), m->miss);
	ir_branch(f, BPF_JEQ, byte_at(m, end, 0), IR_IMM(0), found);
	ir_move(f, (int)end.v, ir_alu(f, BPF_ADD, end, IR_IMM(1)));
	ir_jump(f, again);
	ir_place_label(f, found);
	gen_match_forget(m, end);
	ir_branch(f, BPF_JLT, end, IR_IMM((int64_t)n), m->miss);
	end = ir_alu(f, BPF_SUB, end, IR_IMM((int64_t)n));
	ir_branch(f, BPF_JLT, end, m->pos, m->miss);
	gen_match_compare(m, end, s, n, m->miss);
}

struct ir_val gen_match(struct gen *g, struct node *n)
{
	const char *s = n->list[1]->s, *star;
	struct match m = { .g = g, .size = n->list[0]->type->size, .miss = ir_label(g->f) };
	struct ir_val r = ir_copy(g->f, IR_IMM(0));
	size_t len = strcspn(s, "*");

	if (len >= m.size) /* longer than the text can be */
		return r;
	m.text = gen_scratch(g, lt_stored(n->list[0]->type) + (uint32_t)strlen(s) + 8);
	gen_into(g, n->list[0], m.text, n->list[0]->type);
	/* the zero that ends it is part of a pattern without a star */
	gen_match_compare(&m, IR_IMM(0), s, s[len] ? len : len + 1, m.miss);
	m.pos = ir_copy(g->f, IR_IMM((int64_t)len));
	for (s += len; *s; s = star) {
		s += strspn(s, "*");
		star = s + strcspn(s, "*");
		if (*star)
			gen_match_search(&m, s, (size_t)(star - s));
		else if (*s)
			at_the_end(&m, s, (size_t)(star - s));
	}
	ir_move(g->f, (int)r.v, IR_IMM(1));
	ir_place_label(g->f, m.miss);
	return r;
}
