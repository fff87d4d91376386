/* SPDX-License-Identifier: MIT */
/* Strings: kept zero-padded, so that they are compared as 64-bit words. */
#include <string.h>

#include "lang/gen/gen.h"

static uint64_t word_of(const char *s, size_t n, size_t at, unsigned size)
{
	uint64_t w = 0;

	for (unsigned i = 0; i < size; i++)
		if (at + i < n)
			w |= (uint64_t)(uint8_t)s[at + i]
			     << (8 * i); /* little endian, as our targets are */
	return w;
}

static unsigned gen_string_chunk(uint32_t left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Compare with a text known now. Goes to differ at the first difference. */
static void same_literal(struct gen *g, struct place a, const char *s, size_t n, uint32_t bytes,
			 int differ)
{
	for (uint32_t i = 0, k; i < bytes; i += k) {
		k = gen_string_chunk(bytes - i);
		ir_branch(g->f, BPF_JNE, ir_load(g->f, k, a.base, a.off + (int32_t)i),
			  IR_IMM((int64_t)word_of(s, n, i, k)), differ);
	}
}

static void same_memory(struct gen *g, struct place a, struct place b, uint32_t bytes, int differ)
{
	for (uint32_t i = 0, k; i < bytes; i += k) {
		struct ir_val x;

		k = gen_string_chunk(bytes - i);
		x = ir_load(g->f, k, a.base, a.off + (int32_t)i);
		ir_branch(g->f, BPF_JNE, x, ir_load(g->f, k, b.base, b.off + (int32_t)i), differ);
	}
}

static void gen_text_finish(struct gen *g, bool when, int label, int differ)
{
	/* here both are equal */
	if (when)
		ir_jump(g->f, label);
	ir_place_label(g->f, differ);
}

static struct place in_memory(struct gen *g, struct node *n)
{
	struct val v = gen_expr(g, n);
	struct place p;

	if (v.mem)
		return v.m;
	p = gen_memory(g, lt_stored(n->type));
	gen_put(g, v, n->type, p, n->type);
	return p;
}

static uint32_t gen_string_common(const struct node *a, const struct node *b)
{
	uint32_t x = lt_stored(a->type), y = lt_stored(b->type);

	return x < y ? x : y;
}

/* Of a text with more room than the other: that one may be full, this one must not go on. */
static void ends_there(struct gen *g, const struct node *n, struct place p, uint32_t at, int differ)
{
	if (n->type->kind == LT_STRING && lt_stored(n->type) > at)
		ir_branch(g->f, BPF_JNE, ir_load(g->f, 1, p.base, p.off + (int32_t)at), IR_IMM(0),
			  differ);
}

static void literal_last(struct node **a, struct node **b)
{
	struct node *t = *a;

	if (t->kind == N_STR) {
		*a = *b;
		*b = t;
	}
}

void gen_equal(struct gen *g, struct node *a, struct node *b, bool when, int label)
{
	struct gen_mark mark = gen_mark(g);
	int differ = when ? ir_label(g->f) : label;

	if (a->type->kind == LT_PROBE && b->kind == N_STR) { /* mostly known now */
		int64_t id = -1;

		for (size_t i = 0; i < g->p->points.n && id < 0; i++)
			if (strcmp(g->p->points.data[i].text, b->s) == 0)
				id = (int64_t)i;
		ir_branch(g->f, when ? BPF_JEQ : BPF_JNE, g->probe, IR_IMM(id), label);
		return;
	}
	if (a->kind == N_STR && b->kind == N_STR) {
		if ((strcmp(a->s, b->s) == 0) == when)
			ir_jump(g->f, label);
		return;
	}
	if (lt_is_word(a->type)) {
		struct ir_val x = gen_word(g, a);

		ir_branch(g->f, when ? BPF_JEQ : BPF_JNE, x, gen_word(g, b), label);
		return;
	}
	literal_last(&a, &b);
	if (b->kind == N_STR && a->type->kind == LT_STRING) {
		uint32_t have = lt_stored(a->type), need = ((uint32_t)b->slen + 8) & ~7u;

		if (b->slen > a->type->size) { /* cannot be */
			if (!when)
				ir_jump(g->f, label);
			return;
		}
		same_literal(g, in_memory(g, a), b->s, b->slen, need < have ? need : have, differ);
	} else {
		struct place p = in_memory(g, a), q = in_memory(g, b);

		same_memory(g, p, q, gen_string_common(a, b), differ);
		ends_there(g, a, p, gen_string_common(a, b), differ);
		ends_there(g, b, q, gen_string_common(a, b), differ);
	}
	if (when)
		gen_text_finish(g, when, label, differ);
	gen_release(g, mark);
}

/* strncmp(): 0 when the first n bytes are equal. */
static struct ir_val strncmp_of(struct gen *g, struct node *n)
{
	struct node *a = n->list[0], *b = n->list[1];
	struct ir_val r = ir_copy(g->f, IR_IMM(1));
	int differ = ir_label(g->f);
	uint32_t len = (uint32_t)n->v, all;

	if (a->kind == N_STR && b->kind == N_STR)
		return IR_IMM(strncmp(a->s, b->s, len) != 0);
	literal_last(&a, &b);
	if (b->kind == N_STR) {
		all = lt_stored(a->type);
		if (len > b->slen + 1)
			len = (uint32_t)b->slen + 1;
		if (len > all && b->slen > all)
			return IR_IMM(1);
		same_literal(g, in_memory(g, a), b->s, b->slen, len < all ? len : all, differ);
	} else {
		struct place p = in_memory(g, a), q = in_memory(g, b);

		all = gen_string_common(a, b);
		same_memory(g, p, q, len < all ? len : all, differ);
		if (len > all) {
			ends_there(g, a, p, all, differ);
			ends_there(g, b, q, all, differ);
		}
	}
	ir_move(g->f, (int)r.v, IR_IMM(0));
	ir_place_label(g->f, differ);
	return r;
}

/* In memory where an offset may vary. */
static struct place in_scratch(struct gen *g, struct node *n)
{
	struct place p = gen_scratch(g, lt_stored(n->type) + 8);

	gen_into(g, n, p, n->type);
	return p;
}

static struct ir_val byte_at(struct gen *g, struct place p, struct ir_val i)
{
	return ir_load(g->f, 1, ir_alu(g->f, BPF_ADD, p.base, i), p.off);
}

/*
 * The verifier follows a loop round by round and remembers each way out, some thousands of them:
 * too few for long texts. Where the kernel can end loops by itself (may_goto), the position goes
 * through memory: it may be any then, so one round stands for all.
 */
#define ROUNDS_FEW 512
struct gen_rounds {
	bool many;
	struct place at;
};

static struct gen_rounds gen_rounds(struct gen *g, uint32_t rounds)
{
	struct gen_rounds r = { .many = g->env->has_may_goto && rounds > ROUNDS_FEW };

	if (r.many)
		r.at = gen_scratch(g, 8);
	return r;
}

/* When a round begins. v: the loop's counter, which must be bounded behind this. */
static void gen_round(struct gen *g, const struct gen_rounds *r, struct ir_val v, int out)
{
	if (!r->many)
		return;
	ir_add(g->f, IR_MAY_GOTO)->label = out;
	ir_store(g->f, 8, r->at.base, r->at.off, v);
	ir_move(g->f, (int)v.v, ir_load(g->f, 8, r->at.base, r->at.off));
}

/* Where the second string begins in the first; -1 when it does not. */
static struct ir_val find_in(struct gen *g, struct node *n)
{
	struct place hay = in_scratch(g, n->list[0]), pin = in_scratch(g, n->list[1]);
	uint32_t h = n->list[0]->type->size, p = n->list[1]->type->size;
	struct ir_val pos = ir_copy(g->f, IR_IMM(0)), r = ir_copy(g->f, IR_IMM(-1)),
		      i = ir_copy(g->f, IR_IMM(0)), c, k;
	int outer = ir_label(g->f), inner = ir_label(g->f), next = ir_label(g->f),
	    found = ir_label(g->f), end = ir_label(g->f);
	struct gen_rounds all = gen_rounds(g, h * p), each = gen_rounds(g, h * p);

	ir_place_label(g->f, outer);
	gen_round(g, &all, pos, end);
	ir_branch(g->f, BPF_JGE, pos, IR_IMM(h), end);
	ir_move(g->f, (int)i.v, IR_IMM(0));
	ir_place_label(g->f, inner);
	gen_round(g, &each, i, end);
	ir_branch(g->f, BPF_JGE, i, IR_IMM(p), found);
	c = byte_at(g, pin, i);
	ir_branch(g->f, BPF_JEQ, c, IR_IMM(0), found);
	k = ir_alu(g->f, BPF_ADD, pos, i);
	ir_branch(g->f, BPF_JGE, k, IR_IMM(h), next);
	ir_branch(g->f, BPF_JNE, byte_at(g, hay, k), c, next);
	ir_move(g->f, (int)i.v, ir_alu(g->f, BPF_ADD, i, IR_IMM(1)));
	ir_jump(g->f, inner);
	ir_place_label(g->f, found);
	ir_move(g->f, (int)r.v, pos);
	ir_jump(g->f, end);
	ir_place_label(g->f, next);
	ir_move(g->f, (int)pos.v, ir_alu(g->f, BPF_ADD, pos, IR_IMM(1)));
	ir_jump(g->f, outer);
	ir_place_label(g->f, end);
	return r;
}

static struct ir_val length_of(struct gen *g, struct node *n)
{
	struct place p = in_scratch(g, n);
	struct ir_val i = ir_copy(g->f, IR_IMM(0));
	int loop = ir_label(g->f), end = ir_label(g->f);
	struct gen_rounds all = gen_rounds(g, n->type->size);

	ir_place_label(g->f, loop);
	gen_round(g, &all, i, end);
	ir_branch(g->f, BPF_JGE, i, IR_IMM(n->type->size), end);
	ir_branch(g->f, BPF_JEQ, byte_at(g, p, i), IR_IMM(0), end);
	ir_move(g->f, (int)i.v, ir_alu(g->f, BPF_ADD, i, IR_IMM(1)));
	ir_jump(g->f, loop);
	ir_place_label(g->f, end);
	return i;
}

struct ir_val gen_find(struct gen *g, struct node *n)
{
	switch (n->id) {
	case F_STRNCMP: return strncmp_of(g, n);
	case F_LEN: return length_of(g, n->list[0]);
	case F_STRCONTAINS: return ir_set(g->f, BPF_JSGE, find_in(g, n), IR_IMM(0));
	default: return find_in(g, n);
	}
}

/*
 * --- strmatch(text, "pattern"): shell patterns, with * and ?, against all of a text ---
 *
 * The pattern is known now, so each stretch between two stars becomes its own comparison: the
 * first where the text begins, the last where it ends, and those between at the first place
 * that fits. A position that was found goes through memory, where the verifier forgets which
 * of the many it was: a pattern of several stars costs it their sum, not their product.
 */

struct match {
	struct gen *g;
	struct place text;
	uint32_t size;	   /* of the text, with the zero that ends it */
	struct ir_val pos; /* behind what has been matched */
	int miss;
};

/* The stretch at a place; elsewhere if it is not there. */
static void gen_match_compare(struct match *m, struct ir_val at, const char *s, size_t n,
			      int differ)
{
	for (size_t i = 0; i < n; i++) {
		struct ir_val c = byte_at(m->g, gen_at(m->text, (uint32_t)i), at);

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
	ir_branch(f, BPF_JEQ, byte_at(m->g, m->text, end), IR_IMM(0), found);
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
