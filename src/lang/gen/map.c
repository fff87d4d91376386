/* SPDX-License-Identifier: MIT */
/*
 * Maps: reading, setting, and the aggregations.
 *
 * Aggregations are per CPU and updated in place with atomic adds: a program can be
 * interrupted by another on the same CPU, and nothing may be lost. An update that
 * a full map refuses is counted and told at the end.
 */
#include <string.h>

#include "lang/gen/gen.h"

#define ZEROS_ON_STACK 128u

static const struct lang_map *map_of(const struct gen *g, const struct node *n)
{
	return &g->p->maps.data[n->map];
}

static struct place build_key(struct gen *g, struct node *n)
{
	const struct lang_map *m = map_of(g, n);
	struct place p;

	if (!m->key) {
		p = gen_stack(g, 8);
		ir_store(g->f, 8, p.base, p.off, IR_IMM(0));
		return p;
	}
	p = gen_memory(g, m->key->size);
	if (n->n == 1 && n->list[0]->type->kind == LT_TUPLE) {
		if (n->list[0]->kind == N_TUPLE)
			gen_into(g, n->list[0], p, m->key);
		else
			gen_put(g, gen_expr(g, n->list[0]), n->list[0]->type, p, m->key);
		return p;
	}
	for (size_t i = 0; i < n->n && i < m->key->n; i++)
		gen_into(g, n->list[i], gen_at(p, m->key->offset[i]), m->key->item[i]);
	return p;
}

struct ir_val gen_lookup(struct gen *g, int map, struct place key)
{
	return ir_call(g->f, BPF_FUNC_map_lookup_elem, 2, IR_MAPREF(map), gen_addr(g, key));
}

/* The entry that a key leads to; 0: there is none. */
static struct ir_val gen_map_find(struct gen *g, struct node *n, bool create)
{
	struct ir_val p;

	if (map_of(g, n)->by_task)
		return gen_task_entry(g, n->map, create);
	p = gen_lookup(g, n->map, build_key(g, n));
	if (!create && map_of(g, n)->key)
		gen_fallible(g, p, BPF_JEQ, 2, BPF_FUNC_map_lookup_elem);
	return p;
}

static void gen_map_update(struct gen *g, const struct node *n, struct place key,
			   struct place value, int flags)
{
	struct ir_val r = ir_call(g->f, BPF_FUNC_map_update_elem, 4, IR_MAPREF(n->map),
				  gen_addr(g, key), gen_addr(g, value), IR_IMM(flags));
	int ok = ir_label(g->f);

	ir_branch(g->f, BPF_JEQ, r, IR_IMM(0), ok);
	gen_count(g, map_of(g, n)->full_counter);
	ir_place_label(g->f, ok);
}

void gen_count(struct gen *g, uint32_t counter)
{
	struct gen_mark mark = gen_mark(g);
	struct place key = gen_stack(g, 8);
	int none = ir_label(g->f);
	struct ir_val p;

	ir_store(g->f, 8, key.base, key.off, IR_IMM(counter));
	p = gen_lookup(g, LANG_MAP_COUNTERS, key);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_xadd(g->f, p, 0, IR_IMM(1));
	ir_place_label(g->f, none);
	gen_release(g, mark);
}

void gen_fallible(struct gen *g, struct ir_val r, int fails_when, int level, int helper)
{
	int failed, end;

	if (g->env->check_helpers < level)
		return;
	failed = ir_label(g->f);
	end = ir_label(g->f);
	vec_push(&g->p->fallible,
		 (struct lang_fallible){ g->p->n_counters, g->f->pos, list_helper_name(helper) });
	ir_branch(g->f, fails_when, r, IR_IMM(0), failed);
	ir_jump(g->f, end);
	ir_place_label(g->f, failed);
	gen_count(g, g->p->n_counters++);
	ir_place_label(g->f, end);
}

/* A value of zeros to begin with, on the stack where that is small enough. */
static struct place gen_map_zeros(struct gen *g, uint32_t size)
{
	bool small = size <= 16 ||
		     (size <= ZEROS_ON_STACK && g->stack_used + (int32_t)size <= g->stack_limit);
	struct place zero = small ? gen_stack(g, size) : gen_scratch(g, size);

	if (size <= 1024)
		gen_zero(g, zero, size);
	else /* a read that fails fills with zeros */
		ir_call(g->f, BPF_FUNC_probe_read_kernel, 3, gen_addr(g, zero), IR_IMM(size),
			IR_IMM(0));
	return zero;
}

/* Of a value with a part for each CPU, this one's. */
static struct ir_val own_part(struct gen *g, const struct lang_map *m, struct ir_val p, int none)
{
	struct ir_val cpu;

	if (!m->parts)
		return p;
	cpu = ir_call(g->f, BPF_FUNC_get_smp_processor_id, 0);
	/* The verifier wants to see that it is inside. */
	ir_branch(g->f, BPF_JGE, cpu, IR_IMM(g->env->ncpus), none);
	return ir_alu(g->f, BPF_ADD, p, ir_alu(g->f, BPF_MUL, cpu, IR_IMM(m->value_size)));
}

/* This CPU's part, made when it is not there yet. Goes to none when the map is full. */
static struct ir_val agg_entry(struct gen *g, const struct node *n, struct place key, int none)
{
	const struct lang_map *m = map_of(g, n);
	struct ir_val p = ir_copy(g->f, gen_lookup(g, n->map, key));
	int have = ir_label(g->f);
	struct gen_mark mark;
	struct place zero;

	if (!m->key) {
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
		return p;
	}
	ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
	mark = gen_mark(g);
	zero = gen_map_zeros(g, lang_map_value(m, g->env->ncpus));
	ir_call(g->f, BPF_FUNC_map_update_elem, 4, IR_MAPREF(n->map), gen_addr(g, key),
		gen_addr(g, zero), IR_IMM(BPF_NOEXIST));
	gen_release(g, mark);
	ir_move(g->f, (int)p.v, gen_lookup(g, n->map, key));
	ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
	gen_count(g, m->full_counter);
	ir_jump(g->f, none);
	ir_place_label(g->f, have);
	return own_part(g, m, p, none);
}

/* Position of the highest bit that is set, by halves; v > 0. */
static struct ir_val log2_of(struct gen *g, struct ir_val v)
{
	struct ir_val x = ir_copy(g->f, v), r = ir_copy(g->f, IR_IMM(0));

	for (int s = 32; s; s /= 2) {
		int small = ir_label(g->f);

		if (s == 32) {
			struct ir_val high = ir_alu(g->f, BPF_RSH, x, IR_IMM(32));

			ir_branch(g->f, BPF_JEQ, high, IR_IMM(0), small);
		} else {
			ir_branch(g->f, BPF_JLT, x, IR_IMM(1ll << s), small);
		}
		ir_move(g->f, (int)x.v, ir_alu(g->f, BPF_RSH, x, IR_IMM(s)));
		ir_move(g->f, (int)r.v, ir_alu(g->f, BPF_ADD, r, IR_IMM(s)));
		ir_place_label(g->f, small);
	}
	return r;
}

/* Buckets: negative; zero; the values below 2^k one by one; then 2^k for each power of two. */
static struct ir_val hist_bucket(struct gen *g, struct ir_val v, const struct ltype *t)
{
	struct ir_val b = ir_copy(g->f, IR_IMM(0)), l;
	int done = ir_label(g->f), large = ir_label(g->f);
	int64_t k = t->step;

	if (t->is_signed)
		ir_branch(g->f, BPF_JSLT, v, IR_IMM(0), done);
	ir_branch(g->f, BPF_JGE, v, IR_IMM(1ll << k), large);
	ir_move(g->f, (int)b.v, ir_alu(g->f, BPF_ADD, v, IR_IMM(1)));
	ir_jump(g->f, done);
	ir_place_label(g->f, large);
	l = log2_of(g, v);
	if (k) {
		struct ir_val shift = ir_alu(g->f, BPF_SUB, l, IR_IMM(k));
		struct ir_val in = ir_alu(g->f, BPF_AND, ir_alu(g->f, BPF_RSH, v, shift),
					  IR_IMM((1ll << k) - 1));

		l = ir_alu(g->f, BPF_ADD, ir_alu(g->f, BPF_LSH, shift, IR_IMM(k)), in);
		l = ir_alu(g->f, BPF_ADD, l, IR_IMM((1ll << k) + 1));
	} else {
		l = ir_alu(g->f, BPF_ADD, l, IR_IMM(2));
	}
	ir_move(g->f, (int)b.v, l);
	ir_place_label(g->f, done);
	return b;
}

static struct ir_val lhist_bucket(struct gen *g, struct ir_val v, const struct ltype *t)
{
	struct ir_val b = ir_copy(g->f, IR_IMM(0));
	int done = ir_label(g->f), over = ir_label(g->f);
	bool s = t->is_signed;

	ir_branch(g->f, s ? BPF_JSLT : BPF_JLT, v, IR_IMM(t->min), done);
	ir_branch(g->f, s ? BPF_JSGE : BPF_JGE, v, IR_IMM(t->max), over);
	ir_move(g->f, (int)b.v,
		ir_alu(g->f, BPF_ADD,
		       ir_alu(g->f, BPF_DIV, ir_alu(g->f, BPF_SUB, v, IR_IMM(t->min)),
			      IR_IMM(t->step)),
		       IR_IMM(1)));
	ir_jump(g->f, done);
	ir_place_label(g->f, over);
	ir_move(g->f, (int)b.v, IR_IMM(lt_lhist_buckets(t) - 1));
	ir_place_label(g->f, done);
	return b;
}

static void bump_bucket(struct gen *g, struct ir_val p, struct ir_val b, uint32_t n, int none)
{
	/* The verifier wants to see that it is inside. */
	ir_branch(g->f, BPF_JGE, b, IR_IMM(n), none);
	ir_xadd(g->f, ir_alu(g->f, BPF_ADD, p, ir_alu(g->f, BPF_LSH, b, IR_IMM(3))), 0, IR_IMM(1));
}

static void min_max(struct gen *g, struct ir_val p, struct ir_val v, const struct ltype *t)
{
	int keep = ir_label(g->f), first = ir_label(g->f);
	struct ir_val old;
	int cc;

	ir_branch(g->f, BPF_JEQ, ir_load(g->f, 8, p, 0), IR_IMM(0), first);
	old = ir_load(g->f, 8, p, 8);
	if (t->kind == LT_MIN)
		cc = t->is_signed ? BPF_JSGE : BPF_JGE;
	else
		cc = t->is_signed ? BPF_JSLE : BPF_JLE;
	ir_branch(g->f, cc, v, old, keep);
	ir_place_label(g->f, first);
	ir_store(g->f, 8, p, 8, v);
	ir_place_label(g->f, keep);
	ir_xadd(g->f, p, 0, IR_IMM(1));
}

/* Slots of (interval number, count, value); one that is of an older round is started again. */
static void gen_map_tseries(struct gen *g, struct ir_val p, struct ir_val v, const struct ltype *t,
			    int none)
{
	struct ir_val epoch = ir_alu(g->f, BPF_DIV, ir_call(g->f, BPF_FUNC_ktime_get_boot_ns, 0),
				     IR_IMM(t->step));
	struct ir_val i = ir_alu(g->f, BPF_MOD, epoch, IR_IMM(t->max));
	int same = ir_label(g->f), skip = ir_label(g->f);
	struct ir_val s;

	ir_branch(g->f, BPF_JGE, i, IR_IMM(t->max), none);
	s = ir_copy(g->f, ir_alu(g->f, BPF_ADD, p, ir_alu(g->f, BPF_MUL, i, IR_IMM(24))));
	ir_branch(g->f, BPF_JEQ, ir_load(g->f, 8, s, 0), epoch, same);
	ir_store(g->f, 8, s, 0, epoch);
	ir_store(g->f, 8, s, 8, IR_IMM(0));
	ir_store(g->f, 8, s, 16, t->agg == 2 || t->agg == 3 ? v : IR_IMM(0));
	ir_place_label(g->f, same);
	ir_xadd(g->f, s, 8, IR_IMM(1));
	if (t->agg == 2 || t->agg == 3) {
		ir_branch(g->f, t->agg == 2 ? BPF_JSGE : BPF_JSLE, v, ir_load(g->f, 8, s, 16),
			  skip);
		ir_store(g->f, 8, s, 16, v);
		ir_place_label(g->f, skip);
	} else if (t->agg) {
		ir_xadd(g->f, s, 16, v);
	} else {
		ir_store(g->f, 8, s, 16, v);
	}
}

static void gen_map_aggregate(struct gen *g, struct node *n)
{
	const struct ltype *t = map_of(g, n->a)->value;
	struct node *call = n->b;
	int none = ir_label(g->f);
	struct place key = build_key(g, n->a);
	struct ir_val v = IR_IMM(1), p;

	if (call->n)
		v = gen_word(g, call->list[0]);
	/* The value is worked out before the entry is looked up: fewer registers live. */
	if (t->kind == LT_HIST)
		v = hist_bucket(g, v, t);
	else if (t->kind == LT_LHIST)
		v = lhist_bucket(g, v, t);
	p = agg_entry(g, n->a, key, none);
	switch (t->kind) {
	case LT_COUNT: ir_xadd(g->f, p, 0, IR_IMM(1)); break;
	case LT_SUM:
	case LT_AVG:
	case LT_STATS:
		ir_xadd(g->f, p, 0, IR_IMM(1));
		ir_xadd(g->f, p, 8, v);
		break;
	case LT_MIN:
	case LT_MAX: min_max(g, p, v, t); break;
	case LT_HIST: bump_bucket(g, p, v, lt_hist_buckets((unsigned)t->step), none); break;
	case LT_LHIST: bump_bucket(g, p, v, lt_lhist_buckets(t), none); break;
	case LT_TSERIES: gen_map_tseries(g, p, v, t, none); break;
	default: break;
	}
	ir_place_label(g->f, none);
}

void gen_map_assign(struct gen *g, struct node *n)
{
	const struct lang_map *m = map_of(g, n->a);
	struct place key, value;
	int none;

	if (m->is_agg) {
		gen_map_aggregate(g, n);
		return;
	}
	none = ir_label(g->f);
	if (m->present_word) {
		struct ir_val p, v = { 0 };
		bool word = lt_is_word(m->value);

		if (word)
			v = gen_word(g, n->b);
		else
			value = gen_memory(g, lt_stored(m->value));
		if (!word)
			gen_into(g, n->b, value, m->value);
		p = gen_map_find(g, n->a, true);
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
		if (word)
			ir_store(g->f, 8, p, 8, v);
		else
			gen_copy(g, (struct place){ p, 8 }, value, lt_stored(m->value));
		ir_store(g->f, 8, p, 0, IR_IMM(1));
	} else {
		key = build_key(g, n->a);
		value = gen_memory(g, lt_stored(m->value));
		gen_into(g, n->b, value, m->value);
		gen_map_update(g, n->a, key, value, BPF_ANY);
	}
	ir_place_label(g->f, none);
}

void gen_map_add(struct gen *g, struct node *n, struct ir_val by)
{
	const struct lang_map *m = map_of(g, n);
	int none = ir_label(g->f), have = ir_label(g->f);
	struct gen_mark mark = gen_mark(g);
	struct place key = { 0 }, value;
	struct ir_val p;

	if (!m->by_task)
		key = build_key(g, n);
	p = m->by_task ? gen_task_entry(g, n->map, true)
		       : ir_copy(g->f, gen_lookup(g, n->map, key));
	if (m->present_word) {
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
		ir_xadd(g->f, p, 8, by);
		ir_store(g->f, 8, p, 0, IR_IMM(1));
	} else {
		ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
		value = gen_stack(g, 8);
		ir_store(g->f, 8, value.base, value.off, by);
		ir_branch(g->f, BPF_JEQ,
			  ir_call(g->f, BPF_FUNC_map_update_elem, 4, IR_MAPREF(n->map),
				  gen_addr(g, key), gen_addr(g, value), IR_IMM(BPF_NOEXIST)),
			  IR_IMM(0), none);
		/* Another CPU was first, or the map is full. */
		ir_move(g->f, (int)p.v, gen_lookup(g, n->map, key));
		ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
		gen_count(g, m->full_counter);
		ir_jump(g->f, none);
		ir_place_label(g->f, have);
		ir_xadd(g->f, p, 0, by);
	}
	ir_place_label(g->f, none);
	gen_release(g, mark);
}

/* Over all CPUs; needs bpf_map_lookup_percpu_elem where values have no parts. */
struct ir_val gen_agg_value(struct gen *g, struct node *n, const struct ltype *t, struct place key)
{
	struct ir_val sum = ir_copy(g->f, IR_IMM(0)), count = ir_copy(g->f, IR_IMM(0));
	struct ir_val cpu = ir_copy(g->f, IR_IMM(0)), p;
	int loop = ir_label(g->f), next = ir_label(g->f), take = ir_label(g->f);
	const struct lang_map *m = map_of(g, n);
	int end = ir_label(g->f);

	if (m->parts) {
		p = ir_copy(g->f, gen_lookup(g, n->map, key));
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), end);
	}
	ir_place_label(g->f, loop);
	if (!m->parts) {
		p = ir_call(g->f, BPF_FUNC_map_lookup_percpu_elem, 3, IR_MAPREF(n->map),
			    gen_addr(g, key), cpu);
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), next);
	}
	if (t->kind == LT_COUNT) {
		ir_move(g->f, (int)sum.v, ir_alu(g->f, BPF_ADD, sum, ir_load(g->f, 8, p, 0)));
	} else if (t->kind == LT_MIN || t->kind == LT_MAX) {
		struct ir_val c = ir_load(g->f, 8, p, 0), v = ir_load(g->f, 8, p, 8);
		int cc = t->kind == LT_MIN ? (t->is_signed ? BPF_JSGE : BPF_JGE)
					   : (t->is_signed ? BPF_JSLE : BPF_JLE);

		ir_branch(g->f, BPF_JEQ, c, IR_IMM(0), next);
		ir_branch(g->f, BPF_JEQ, count, IR_IMM(0), take);
		ir_branch(g->f, cc, v, sum, next);
		ir_place_label(g->f, take);
		ir_move(g->f, (int)sum.v, v);
		ir_move(g->f, (int)count.v, IR_IMM(1));
	} else {
		ir_move(g->f, (int)count.v, ir_alu(g->f, BPF_ADD, count, ir_load(g->f, 8, p, 0)));
		ir_move(g->f, (int)sum.v, ir_alu(g->f, BPF_ADD, sum, ir_load(g->f, 8, p, 8)));
	}
	ir_place_label(g->f, next);
	if (m->parts)
		ir_move(g->f, (int)p.v, ir_alu(g->f, BPF_ADD, p, IR_IMM(m->value_size)));
	ir_move(g->f, (int)cpu.v, ir_alu(g->f, BPF_ADD, cpu, IR_IMM(1)));
	ir_branch(g->f, BPF_JLT, cpu, IR_IMM(g->env->ncpus ? g->env->ncpus : 1), loop);
	ir_place_label(g->f, end);
	if (t->kind != LT_AVG)
		return sum;
	return t->is_signed ? gen_arith(g, '/', sum, count, true)
			    : ir_alu(g->f, BPF_DIV, sum, count);
}

struct val gen_map_read(struct gen *g, struct node *n)
{
	const struct lang_map *m = map_of(g, n);
	int none = ir_label(g->f);
	struct val v = { 0 };
	struct place from;
	struct ir_val p;

	if (m->is_agg) {
		v.v = gen_agg_value(g, n, m->value, build_key(g, n));
		return v;
	}
	p = gen_map_find(g, n, false);
	from = (struct place){ p, m->present_word ? 8 : 0 };
	if (lt_is_word(m->value)) {
		v.v = ir_copy(g->f, IR_IMM(0));
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
		ir_move(g->f, (int)v.v.v, ir_load(g->f, 8, from.base, from.off));
	} else {
		v.m = gen_memory(g, lt_stored(m->value));
		gen_zero(g, v.m, lt_stored(m->value));
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
		gen_copy(g, v.m, from, lt_stored(m->value));
		v.mem = m->value->kind != LT_RECORD && m->value->kind != LT_ARRAY;
	}
	ir_place_label(g->f, none);
	if (!lt_is_word(m->value) && !v.mem)
		v.v = gen_addr(g, v.m);
	return v;
}

struct ir_val gen_map_delete(struct gen *g, struct node *n)
{
	const struct lang_map *m = map_of(g, n);
	int none;
	struct ir_val p, r;

	if (m->key && !m->by_task)
		return ir_set(g->f, BPF_JEQ,
			      ir_call(g->f, BPF_FUNC_map_delete_elem, 2, IR_MAPREF(n->map),
				      gen_addr(g, build_key(g, n))),
			      IR_IMM(0));
	r = ir_copy(g->f, IR_IMM(0));
	none = ir_label(g->f);
	p = gen_map_find(g, n, false);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_move(g->f, (int)r.v, ir_load(g->f, 8, p, 0));
	ir_store(g->f, 8, p, 0, IR_IMM(0));
	if (m->present_word)
		gen_zero(g, (struct place){ p, 8 }, lt_stored(m->value));
	ir_place_label(g->f, none);
	return r;
}

struct ir_val gen_map_has(struct gen *g, struct node *n)
{
	struct ir_val p = gen_map_find(g, n, false), r;
	int none;

	if (!map_of(g, n)->by_task)
		return ir_set(g->f, BPF_JNE, p, IR_IMM(0));
	r = ir_copy(g->f, IR_IMM(0));
	none = ir_label(g->f);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_move(g->f, (int)r.v, ir_load(g->f, 8, p, 0));
	ir_place_label(g->f, none);
	return r;
}

/* Others fill such a map, while the program runs. */
struct ir_val gen_map_pinned(struct gen *g, const char *path, struct ir_val key)
{
	struct place k = gen_stack(g, 8);
	size_t map = LANG_MAP_FIXED;

	while (map < g->p->maps.n &&
	       (!g->p->maps.data[map].pinned || strcmp(g->p->maps.data[map].pinned, path) != 0))
		map++;
	ir_store(g->f, 8, k.base, k.off, key);
	return ir_set(g->f, BPF_JNE, gen_lookup(g, (int)map, k), IR_IMM(0));
}

/* The kernel counts the elements it goes over: a function that does nothing but go on. */
struct ir_val gen_map_len(struct gen *g, int map)
{
	struct ir_func *f = arena_alloc(&g->p->arena, sizeof(*f));
	struct ir_val func = { IV_FUNC, (int64_t)g->funcs.n };

	f->is_callback = true;
	f->pos = g->f->pos;
	ir_ret(f, IR_IMM(0));
	vec_push(&g->funcs, f);
	return ir_call(g->f, BPF_FUNC_for_each_map_elem, 4, IR_MAPREF(map), func, IR_IMM(0),
		       IR_IMM(0));
}
