/* SPDX-License-Identifier: MIT */
/* A program as it is loaded: with the walker's code behind it, and what comes before it. */

#include <string.h>

#include "kern/bpf_insn.h"
#include "live/run/session.h"

static bool is_walk(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL &&
	       i->imm == LANG_CALL_WALK;
}

static void add_func(struct lang_code *c, size_t at)
{
	size_t i = c->n_funcs;

	for (size_t k = 0; k < c->n_funcs; k++)
		if (c->func[k] == at)
			return;
	for (; i && c->func[i - 1] > at; i--)
		c->func[i] = c->func[i - 1];
	c->func[i] = (uint32_t)at;
	c->n_funcs++;
}

/* Where its functions begin: whatever is called, or handed to a helper. */
static void add_funcs(struct lang_code *c, const struct walker_function *f, size_t from)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct bpf_insn *in = &f->insn[i];
		bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);

		if ((in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL) ||
		    (wide && in->src_reg == BPF_PSEUDO_FUNC))
			add_func(c, from + i + 1 + (size_t)(int64_t)in->imm);
		i += wide;
	}
	add_func(c, from + f->entry);
}

/* How they are called; those that are verified by themselves save the kernel a lot of work. */
static void add_subs(struct arena *a, struct lang_code *c, const struct walker_function *f,
		     size_t from)
{
	struct lang_sub *s = arena_dup(a, f->sub, f->n_subs * sizeof(*s));

	for (size_t i = 0; i < f->n_subs; i++)
		s[i].at += (uint32_t)from;
	c->sub = s;
	c->n_subs = f->n_subs;
}

void run_code_walker(struct arena *a, const struct walker_function *f, struct lang_code *c)
{
	const struct lang_code own = *c;

	c->n = own.n + (f ? (uint32_t)f->n : 0);
	c->insn = arena_alloc(a, c->n * sizeof(*c->insn));
	memcpy(c->insn, own.insn, own.n * sizeof(*c->insn));
	if (f) {
		memcpy(c->insn + own.n, f->insn, f->n * sizeof(*c->insn));
		c->func = arena_alloc(a, (own.n_funcs + f->n) * sizeof(*c->func));
		memcpy(c->func, own.func, own.n_funcs * sizeof(*c->func));
		add_funcs(c, f, own.n);
		add_subs(a, c, f, own.n);
	}
	for (uint32_t i = 0; i < own.n; i++)
		if (is_walk(&own.insn[i])) {
			if (f)
				c->insn[i].imm = (int32_t)(own.n + f->entry - i - 1);
			else
				c->insn[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV };
		}
}

/* Instructions before the first. */
static void run_loaded_code_prepend(struct arena *a, struct lang_code *c,
				    const struct bpf_insn *first, uint32_t n)
{
	uint32_t *func = arena_alloc(a, c->n_funcs * sizeof(*func));
	struct lang_line *line = arena_alloc(a, (c->n_lines + 1) * sizeof(*line));
	struct lang_sub *sub = arena_alloc(a, (c->n_subs + 1) * sizeof(*sub));
	struct bpf_insn *all = arena_alloc(a, (n + c->n) * sizeof(*all));

	memcpy(all, first, n * sizeof(*all));
	memcpy(all + n, c->insn, c->n * sizeof(*all));
	for (size_t i = 0; i < c->n_funcs; i++)
		func[i] = c->func[i] ? c->func[i] + n : 0;
	for (size_t i = 0; i < c->n_lines; i++) {
		line[i] = c->line[i];
		line[i].insn += line[i].insn ? n : 0;
	}
	for (size_t i = 0; i < c->n_subs; i++) {
		sub[i] = c->sub[i];
		sub[i].at += n;
	}
	c->insn = all;
	c->func = func;
	c->line = line;
	c->sub = sub;
	c->n += n;
}

void run_code_state(struct arena *a, int map, uint32_t own, struct lang_code *c)
{
	struct bpf_insn first[] = {
		INSN_MAP(BPF_REG_7, BPF_PSEUDO_MAP_VALUE, map),
		INSN_LOAD(BPF_DW, BPF_REG_0, BPF_REG_7, offsetof(struct run_state, stopped)),
		INSN_JUMP_IF(BPF_REG_0, BPF_JEQ, 0, 2),
		INSN_MOV_K(BPF_REG_0, 0),
		INSN_EXIT,
		/* the check of whose event it is */
		INSN_MOV(BPF_REG_6, BPF_REG_1),
		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32),
		INSN_JUMP_IF(BPF_REG_0, BPF_JNE, own, 4),
		INSN_MOV_K(BPF_REG_1, 1),
		INSN_COUNT(BPF_REG_7, offsetof(struct run_state, own), BPF_REG_1),
		INSN_MOV_K(BPF_REG_0, 0),
		INSN_EXIT,
		INSN_MOV(BPF_REG_1, BPF_REG_6),
	};

	run_loaded_code_prepend(a, c, first, own ? ARRAY_SIZE(first) : 6);
}

void run_code_give_way(struct arena *a, int map, struct lang_code *c)
{
	struct bpf_insn first[] = {
		INSN_MOV(BPF_REG_6, BPF_REG_1), INSN_MAP(BPF_REG_2, BPF_PSEUDO_MAP_FD, map),
		INSN_MOV_K(BPF_REG_3, 0),	INSN_CALL(BPF_FUNC_tail_call),
		INSN_MOV(BPF_REG_1, BPF_REG_6),
	};

	run_loaded_code_prepend(a, c, first, ARRAY_SIZE(first));
}

bool run_code_walks(const struct lang_code *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (is_walk(&c->insn[i]))
			return true;
	return false;
}
