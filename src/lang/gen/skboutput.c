/* SPDX-License-Identifier: MIT */
/* Packets: skboutput() hands what a struct sk_buff holds to user space, for a pcap file. */
#include <string.h>

#include "lang/gen/func.h"

#define SNAP_MAX 2048u
#define SNAP_DEFAULT 1536u
#define HEAD 24 /* action and flags, time, length */

static struct ir_val gen_skb_field(struct gen *g, struct node *skb, struct ir_val base,
				   const char *name, unsigned size)
{
	uint32_t off = 0;

	lt_field(skb->type->elem->rec, name, &off);
	return gen_load(g, (struct ref){ base, (int32_t)off, LS_KERNEL }, size, false);
}

/* skboutput(path, skb, length, offset): from the linear part of its data, which has all headers. */
struct ir_val gen_skboutput(struct gen *g, struct node *n)
{
	struct lang_action a = { .kind = LA_SKBOUTPUT, .format = n->list[0]->s, .map = -1 };
	struct node *skb = n->list[1], *length = n->list[2];
	uint32_t snap = length->folded && length->v > 0 && length->v <= SNAP_MAX
				? ((uint32_t)length->v + 7) & ~7u
				: SNAP_DEFAULT;
	struct ir_val base = gen_word(g, skb), want = gen_word(g, length),
		      from = gen_word(g, n->list[3]), have, size, p, r = ir_copy(g->f, IR_IMM(-1));
	int none = ir_label(g->f), full = ir_label(g->f);

	g->p->uses_ring = g->p->prints = true;
	a.size = HEAD + snap;
	have = ir_alu(g->f, BPF_SUB, gen_skb_field(g, skb, base, "len", 4),
		      gen_skb_field(g, skb, base, "data_len", 4));
	ir_branch(g->f, BPF_JLE, have, from, none);
	have = ir_alu(g->f, BPF_SUB, have, from);
	from = ir_alu(g->f, BPF_ADD, gen_skb_field(g, skb, base, "data", 8), from);
	p = ir_copy(g->f, ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_RING),
				  IR_IMM(a.size), IR_IMM(0)));
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), full);
	ir_store(g->f, 4, p, 0, IR_IMM((int32_t)g->p->actions.n));
	ir_store(g->f, 4, p, 4, IR_IMM(0));
	ir_store(g->f, 8, p, 8, ir_call(g->f, BPF_FUNC_ktime_get_boot_ns, 0));
	size = gen_at_most(g, gen_at_most(g, want, have), IR_IMM(snap));
	ir_store(g->f, 8, p, 16, size);
	ir_call(g->f, BPF_FUNC_probe_read_kernel, 3, ir_alu(g->f, BPF_ADD, p, IR_IMM(HEAD)), size,
		from);
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, p, IR_IMM(0));
	ir_move(g->f, (int)r.v, IR_IMM(0));
	ir_jump(g->f, none);
	ir_place_label(g->f, full);
	gen_count(g, LANG_COUNT_LOST);
	ir_place_label(g->f, none);
	vec_push(&g->p->actions, a);
	return r;
}
