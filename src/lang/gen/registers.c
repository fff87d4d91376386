/* SPDX-License-Identifier: MIT */
/*
 * From virtual to real registers: what lives where, linear scan, spills.
 *
 * Helper calls destroy r0-r5, so what lives across one goes to r6-r9 or to the
 * stack. r0 and r5 are kept free, for values that come from the stack.
 */
#include <string.h>

#include "lang/gen/ir.h"

struct block {
	uint32_t first, last; /* instructions, inclusive */
	int next[2];	      /* -1: none */
	uint64_t *in, *out;
	bool reached;
};

struct flow {
	struct block *block;
	size_t n, words;
	int *of_label;
	uint64_t *bits;
};

static bool ends_block(const struct ir_ins *i)
{
	return i->op == IR_JMP || i->op == IR_JCC || i->op == IR_RET || i->op == IR_MAY_GOTO;
}

static bool registers_get(const uint64_t *set, int64_t r)
{
	return set[r / 64] >> (r % 64) & 1;
}

static void regs_put(uint64_t *set, int64_t r)
{
	set[r / 64] |= 1ull << (r % 64);
}

static void regs_drop(uint64_t *set, int64_t r)
{
	set[r / 64] &= ~(1ull << (r % 64));
}

static void flow_free(struct flow *w)
{
	free(w->of_label);
	free(w->block);
	free(w->bits);
}

/* What an instruction reads: a, b, and its arguments. */
static const struct ir_val *ir_read(const struct ir_ins *i, unsigned n)
{
	return n == 0 ? &i->a : n == 1 ? &i->b : &i->arg[n - 2];
}

static void use_all(uint64_t *live, const struct ir_ins *i)
{
	for (unsigned k = 0; k < i->n_args + 2; k++)
		if (ir_read(i, k)->kind == IV_REG)
			regs_put(live, ir_read(i, k)->v);
}

static bool has_effect(const struct ir_ins *i)
{
	switch (i->op) {
	case IR_ST:
	case IR_XADD:
	case IR_CALL:
	case IR_LABEL:
	case IR_JMP:
	case IR_JCC:
	case IR_MAY_GOTO:
	case IR_RET: return true;
	default: return false;
	}
}

/* Helpers whose only result is their value. */
static bool is_pure(int helper)
{
	switch (helper) {
	case BPF_FUNC_ktime_get_ns:
	case BPF_FUNC_ktime_get_boot_ns:
	case BPF_FUNC_get_current_pid_tgid:
	case BPF_FUNC_get_current_uid_gid:
	case BPF_FUNC_get_smp_processor_id:
	case BPF_FUNC_get_current_task:
	case BPF_FUNC_get_current_cgroup_id:
	case BPF_FUNC_map_lookup_elem: return true;
	default: return false;
	}
}

static void registers_liveness(const struct ir_func *f, struct flow *w)
{
	uint64_t *live = mem_alloc(w->words * sizeof(*live));
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t b = w->n; b-- > 0;) {
			struct block *k = &w->block[b];

			if (!k->reached)
				continue;
			memset(live, 0, w->words * sizeof(*live));
			for (int s = 0; s < 2; s++)
				for (size_t i = 0; k->next[s] >= 0 && i < w->words; i++)
					live[i] |= w->block[k->next[s]].in[i];
			memcpy(k->out, live, w->words * sizeof(*live));
			for (uint32_t i = k->last + 1; i-- > k->first;) {
				const struct ir_ins *in = &f->ins.data[i];

				if (in->dead)
					continue;
				if (in->dst >= 0)
					regs_drop(live, in->dst);
				use_all(live, in);
			}
			if (memcmp(live, k->in, w->words * sizeof(*live)) != 0) {
				memcpy(k->in, live, w->words * sizeof(*live));
				changed = true;
			}
		}
	}
	free(live);
}

static void registers_reach(struct flow *w)
{
	VEC(int) todo = { 0 };

	if (w->n)
		vec_push(&todo, 0);
	while (todo.n) {
		int b = todo.data[--todo.n];

		if (w->block[b].reached)
			continue;
		w->block[b].reached = true;
		for (int s = 0; s < 2; s++)
			if (w->block[b].next[s] >= 0)
				vec_push(&todo, w->block[b].next[s]);
	}
	vec_free(&todo);
}

/* The blocks, where they lead, and what lives at their ends. */
static void flow_make(const struct ir_func *f, struct flow *w)
{
	size_t n = f->ins.n, b = 0;

	*w = (struct flow){ .words = (size_t)f->n_regs / 64 + 1 };
	w->of_label = mem_alloc(((size_t)f->n_labels + 1) * sizeof(int));
	w->block = mem_alloc((n + 1) * sizeof(*w->block));
	for (size_t i = 0; i < n;) {
		struct block *k = &w->block[b];

		k->first = (uint32_t)i;
		do {
			if (f->ins.data[i].op == IR_LABEL)
				w->of_label[f->ins.data[i].label] = (int)b;
			i++;
		} while (i < n && !ends_block(&f->ins.data[i - 1]) &&
			 f->ins.data[i].op != IR_LABEL);
		k->last = (uint32_t)i - 1;
		b++;
	}
	w->n = b;
	w->bits = mem_alloc((b + 1) * 2 * w->words * sizeof(uint64_t));
	for (size_t i = 0; i < b; i++) {
		struct block *k = &w->block[i];
		const struct ir_ins *last = &f->ins.data[k->last];

		k->in = w->bits + i * 2 * w->words;
		k->out = k->in + w->words;
		k->next[0] = k->next[1] = -1;
		if (last->op != IR_RET && last->op != IR_JMP && i + 1 < b)
			k->next[0] = (int)i + 1;
		if (last->op == IR_JMP || last->op == IR_JCC || last->op == IR_MAY_GOTO)
			k->next[1] = w->of_label[last->label];
	}
	registers_reach(w);
	registers_liveness(f, w);
}

/* One round: true when something was dropped. */
static bool clean_once(struct ir_func *f)
{
	struct flow w;
	uint64_t *live;
	bool any = false;

	flow_make(f, &w);
	live = mem_alloc(w.words * sizeof(*live));
	for (size_t b = 0; b < w.n; b++) {
		struct block *k = &w.block[b];

		memcpy(live, k->out, w.words * sizeof(*live));
		for (uint32_t i = k->last + 1; i-- > k->first;) {
			struct ir_ins *in = &f->ins.data[i];
			bool drop_it = !k->reached;

			if (in->dead)
				continue;
			if (!drop_it &&
			    (!has_effect(in) || (in->op == IR_CALL && is_pure(in->helper))))
				drop_it = in->dst < 0 || !registers_get(live, in->dst);
			if (in->op == IR_JMP && b + 1 < w.n && in->label >= 0 &&
			    w.of_label[in->label] == (int)b + 1)
				drop_it = true;
			if (drop_it && in->op != IR_CTX && in->op != IR_PARAM) {
				in->dead = true;
				any = true;
				continue;
			}
			if (in->op == IR_CALL && in->dst >= 0 && !registers_get(live, in->dst))
				in->dst = -1; /* some helpers leave nothing to be read */
			if (in->dst >= 0)
				regs_drop(live, in->dst);
			use_all(live, in);
		}
	}
	free(live);
	flow_free(&w);
	if (any) {
		size_t n = 0;

		for (size_t i = 0; i < f->ins.n; i++)
			if (!f->ins.data[i].dead)
				f->ins.data[n++] = f->ins.data[i];
		f->ins.n = n;
	}
	return any;
}

void ir_clean(struct ir_func *f)
{
	for (int i = 0; i < 16 && clean_once(f); i++)
		;
}

struct interval {
	int reg;
	uint32_t start, end;
	bool across; /* a call */
	bool used;
};

static int regs_by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->reg - y->reg;
}

static void registers_touch(struct interval *v, int64_t r, uint32_t at)
{
	if (!v[r].used) {
		v[r].used = true;
		v[r].start = v[r].end = at;
		return;
	}
	if (at < v[r].start)
		v[r].start = at;
	if (at > v[r].end)
		v[r].end = at;
}

/* Instruction i reads at 2i and writes at 2i+1. */
static struct interval *registers_intervals(const struct ir_func *f)
{
	struct interval *v = mem_alloc(((size_t)f->n_regs + 1) * sizeof(*v));
	uint32_t *calls = mem_alloc((f->ins.n + 1) * sizeof(*calls));
	size_t n_calls = 0;
	struct flow w;

	flow_make(f, &w);
	for (int r = 0; r < f->n_regs; r++)
		v[r].reg = r;
	for (size_t b = 0; b < w.n; b++) {
		const struct block *k = &w.block[b];

		for (int r = 0; r < f->n_regs; r++) {
			if (registers_get(k->in, r))
				registers_touch(v, r, k->first * 2);
			if (registers_get(k->out, r))
				registers_touch(v, r, k->last * 2 + 1);
		}
		for (uint32_t i = k->first; i <= k->last; i++) {
			const struct ir_ins *in = &f->ins.data[i];

			for (unsigned a = 0; a < in->n_args + 2; a++) {
				const struct ir_val *x = ir_read(in, a);

				if (x->kind == IV_REG)
					registers_touch(v, x->v, i * 2);
			}
			if (in->dst >= 0)
				registers_touch(v, in->dst, i * 2 + 1);
			if (in->op == IR_CALL)
				calls[n_calls++] = i * 2;
			/* A parameter must not overwrite one that is still needed. */
			if (in->op == IR_CTX || in->op == IR_PARAM)
				v[in->dst].across = true;
		}
	}
	for (int r = 0; r < f->n_regs; r++)
		for (size_t i = 0; i < n_calls && v[r].used; i++)
			if (v[r].start < calls[i] && calls[i] < v[r].end) {
				v[r].across = true;
				break;
			}
	flow_free(&w);
	free(calls);
	return v;
}

struct scan {
	int owner[10]; /* virtual register in each real one, -1 free */
	uint32_t until[10];
	uint32_t slot_until[64];
	uint32_t n_slots;
};

static int32_t take_slot(struct scan *s, const struct ir_func *f, uint32_t start, uint32_t end)
{
	uint32_t i;

	for (i = 0; i < s->n_slots; i++)
		if (s->slot_until[i] < start)
			break;
	if (i == s->n_slots && s->n_slots < ARRAY_SIZE(s->slot_until))
		s->n_slots++;
	if (i == ARRAY_SIZE(s->slot_until))
		return -10000; /* the caller refuses stacks that are too deep */
	s->slot_until[i] = end;
	return -(int32_t)(f->stack + (i + 1) * 8);
}

uint32_t ir_allocate(struct ir_func *f, struct ir_place *place)
{
	static const int pool_any[] = { 1, 2, 3, 4, 6, 7, 8, 9 }, pool_kept[] = { 6, 7, 8, 9 };
	struct interval *v = registers_intervals(f),
			*by_reg = mem_dup(v, ((size_t)f->n_regs + 1) * sizeof(*v));
	struct scan s = { 0 };
	bool too_deep = false;

	memset(s.owner, -1, sizeof(s.owner));
	qsort(v, (size_t)f->n_regs, sizeof(*v), regs_by_start);
	for (int i = 0; i < f->n_regs; i++) {
		const int *pool = v[i].across ? pool_kept : pool_any;
		size_t n = v[i].across ? ARRAY_SIZE(pool_kept) : ARRAY_SIZE(pool_any);
		int best = -1, far = -1;

		place[v[i].reg] = (struct ir_place){ .reg = -1 };
		if (!v[i].used)
			continue;
		for (int r = 1; r < 10; r++)
			if (s.owner[r] >= 0 && s.until[r] < v[i].start)
				s.owner[r] = -1;
		for (size_t k = 0; k < n && best < 0; k++)
			if (s.owner[pool[k]] < 0)
				best = pool[k];
		if (best < 0) { /* spill the interval that ends last */
			for (size_t k = 0; k < n; k++)
				if (far < 0 || s.until[pool[k]] > s.until[far])
					far = pool[k];
			if (s.until[far] > v[i].end) {
				struct ir_place *old = &place[s.owner[far]];

				old->reg = -1;
				old->slot =
					take_slot(&s, f, by_reg[s.owner[far]].start, s.until[far]);
				best = far;
			} else {
				place[v[i].reg].slot = take_slot(&s, f, v[i].start, v[i].end);
				continue;
			}
		}
		place[v[i].reg].reg = best;
		s.owner[best] = v[i].reg;
		s.until[best] = v[i].end;
	}
	for (int r = 0; r < f->n_regs; r++)
		too_deep |= place[r].reg < 0 && place[r].slot < -9000;
	free(v);
	free(by_reg);
	return too_deep ? 10000 : f->stack + s.n_slots * 8;
}
