/* SPDX-License-Identifier: MIT */
/*
 * Maps with one entry a thread, as in @start[tid] = nsecs: kept in the kernel with the
 * thread itself, where they are found without hash or lock, and are never full.
 *
 * Only where nobody could tell the difference: the key is always tid, the probes run in
 * threads (system calls, user probes), and the map as a whole is not asked for anything
 * before the end, where user space gathers it from all threads (live/run/task_maps.c). What a
 * thread leaves behind when it ends is gone with it, so the program must take out again
 * what it puts there (delete, clear): who only counts wants to see threads that are gone.
 */
#include <string.h>

#include "lang/gen/gen.h"

static bool in_threads(const struct probe_block *b)
{
	for (size_t i = 0; i < b->n_patterns; i++) {
		const struct lang_point *p = &b->pattern[i];
		bool calls = p->kind == LP_TRACEPOINT && p->target &&
			     (strcmp(p->target, "syscalls") == 0 ||
			      strcmp(p->target, "raw_syscalls") == 0);

		if (!calls && !(lang_kinds[p->kind].flags & LANG_KIND_USER))
			return false;
	}
	return true;
}

static bool by_tid(const struct node *n)
{
	return n->n == 1 && n->list[0]->kind == N_IDENT && n->list[0]->id == B_TID;
}

static bool is_loop(const struct node *n)
{
	return n->kind == N_WHILE || n->kind == N_UNROLL || n->kind == N_FOR_MAP ||
	       n->kind == N_FOR_RANGE;
}

struct seen {
	bool bad;   /* used in a way that needs a real map */
	bool taken; /* what it holds is taken out again */
};

static void gen_task_look(const struct node *n, bool fine, struct seen *s)
{
	if (!n)
		return;
	if (n->kind == N_MAP && n->map >= 0)
		s[n->map].bad |= !fine || !by_tid(n);
	if (n->kind == N_CALL && (n->id == F_CLEAR || n->id == F_DELETE) && n->n &&
	    n->list[0]->kind == N_MAP && n->list[0]->map >= 0) {
		s[n->list[0]->map].taken = true;
		if (n->id == F_CLEAR && n->n == 1)
			return; /* which user space does */
	}
	if (is_loop(n) || (n->kind == N_CALL && (n->id == F_PRINT || n->id == F_TABLE ||
						 n->id == F_HISTOGRAM || n->id == F_STACKS)))
		fine = false;
	for (size_t i = 0; i < node_parts(n); i++)
		gen_task_look(node_part(n, i), fine, s);
}

void gen_task_maps(struct lang_program *p, const struct ast *t, const struct lang_env *env)
{
	AUTO_FREE struct seen *s = mem_alloc((p->maps.n + 1) * sizeof(*s));
	bool any = false;

	if (!env->task_storage || env->recorded)
		return;
	vec_each (&t->blocks, b) {
		bool fine = in_threads(b);

		gen_task_look(b->pred, fine, s);
		gen_task_look(b->body, fine, s);
	}
	for (size_t i = LANG_MAP_FIXED; i < p->maps.n; i++) {
		struct lang_map *m = &p->maps.data[i];

		if (s[i].bad || !s[i].taken || m->is_agg || !m->key || m->key->n != 1 ||
		    !lt_is_word(m->key->item[0]) || !lt_is_word(m->value))
			continue;
		if (!any && !env->task_storage(env->ctx))
			return;
		any = true;
		m->by_task = m->present_word = true;
		m->type = BPF_MAP_TYPE_TASK_STORAGE;
		m->value_size = 16;
		m->flags = BPF_F_NO_PREALLOC;
	}
}

static struct ir_val gen_task_get(struct gen *g, int map, bool create)
{
	struct ir_val task = ir_call(g->f, BPF_FUNC_get_current_task_btf, 0);

	return ir_call(g->f, BPF_FUNC_task_storage_get, 4, IR_MAPREF(map), task, IR_IMM(0),
		       IR_IMM(create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0));
}

/* Set whatever happens: then it may as well be made at the beginning. */
static bool always_set(const struct node *body, int map)
{
	for (size_t i = 0; body && body->kind == N_BLOCK && i < body->n; i++) {
		const struct node *s = body->list[i];

		if (s->kind == N_EXPR && s->a)
			s = s->a;
		if (s->kind == N_ASSIGN && s->a->kind == N_MAP && s->a->map == map)
			return true;
		if (s->kind == N_IF || s->kind == N_RETURN)
			return false;
	}
	return false;
}

void gen_task_find(struct gen *g, const struct node *in, bool body)
{
	if (!g->task)
		g->task = arena_alloc(&g->p->arena, g->p->maps.n * sizeof(*g->task));
	for (size_t i = LANG_MAP_FIXED; i < g->p->maps.n; i++)
		if (g->p->maps.data[i].by_task && g->task[i].kind == IV_NONE &&
		    node_find_map(in, (int)i))
			g->task[i] = ir_copy(
				g->f, gen_task_get(g, (int)i, body && always_set(in, (int)i)));
}

struct ir_val gen_task_entry(struct gen *g, int map, bool create)
{
	struct ir_val p = g->task[map];
	int have;

	if (!create)
		return p;
	have = ir_label(g->f);
	ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
	ir_move(g->f, (int)p.v, gen_task_get(g, map, true));
	ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
	gen_count(g, g->p->maps.data[map].full_counter);
	ir_place_label(g->f, have);
	return p;
}
