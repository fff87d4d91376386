/* SPDX-License-Identifier: MIT */
/*
 * A profile for the interactive page, small enough to be sent around.
 *
 * The columns, in this order (view/picture/pack.h says how they stand in the page):
 *
 *	depth	for each node in pre-order: 0 a child of the one before, 1 its
 *		sibling, 2 a sibling of its parent ...
 *	func	index into the header's functions + 1; 0 for what was pruned
 *	node	for each entry: how many nodes after the last entry's
 *	key	who it was: index into the header's keys (side, event, thread, CPU)
 *	time	when: steps after (zigzag) the last entry's, -1 when nobody knows; left out when
 *		there is one
 *	weight
 *
 * Columns of one kind of number deflate better than rows, and the page can read
 * them without making an object of each.
 */
#include "view/picture/flame_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "view/picture/flame_html.h"

#define ORDER_STEPS 65536u  /* when there are no times: places in the file */
#define FINE_STEP 10000000u /* ns */
#define MAX_STEPS 16384u
/* What a picture of seconds needs, and how many a page that is for them may have. */
#define SECOND_STEP 20000000u
#define SECOND_STEPS 65536u
#define ALL_SECOND_STEPS (1u << 20)

static uint64_t fine_step(const struct pack *p, uint64_t span)
{
	if (span / FINE_STEP < MAX_STEPS)
		return FINE_STEP;
	if (span / SECOND_STEP < (p->o->seconds ? ALL_SECOND_STEPS : SECOND_STEPS))
		return SECOND_STEP;
	return span / MAX_STEPS + 1;
}

static void find_times(struct pack *p)
{
	size_t n = 0;

	p->first = UINT64_MAX;
	for (int i = 0; i < 2 && p->side[i]; i++) {
		vec_each (&p->side[i]->entries, en) {
			if (!en->time)
				continue;
			p->first = en->time < p->first ? en->time : p->first;
			p->last = en->time > p->last ? en->time : p->last;
		}
		n = p->side[i]->entries.n > n ? p->side[i]->entries.n : n;
	}
	p->untimed = p->first > p->last && p->side[0]->clocks.n;
	p->ordered = p->first > p->last && !p->untimed;
	if (p->untimed) {
		p->first = p->last = 0;
		p->step = 1;
	} else if (p->ordered) {
		p->first = 0;
		p->last = n ? n - 1 : 0;
		/* an order costs little where it is the names' own, and is all a folded file has */
		p->step = p->last / ORDER_STEPS + 1;
		if (p->detail->steps < FLAME_STEPS)
			p->step = p->last + 1;
	} else {
		uint64_t span = p->last - p->first;

		p->step = span / p->detail->steps + 1;
		/* long recordings get more steps, so that patterns within a second are seen */
		if (p->detail->steps == FLAME_STEPS && p->step > FINE_STEP)
			p->step = fine_step(p, span);
	}
}

static void put_columns(struct pack *p, const uint32_t *place)
{
	const struct calltree *t = &p->tree;
	uint32_t depth = 0, node = 0;
	int64_t step = 0;

	for (size_t i = 1; i < t->nodes.n; i++) {
		const struct calltree_node *n = &t->nodes.data[i];

		pack_varint(&p->column[0], depth + 1 - n->depth);
		pack_varint(&p->column[1], n->func == CALLTREE_PRUNED ? 0 : place[n->func] + 1);
		depth = n->depth;
	}
	for (const struct entry *en = p->entries; en < p->entries + p->n_entries; en++) {
		int64_t at = en->step == FLAME_NO_STEP ? -1 : (int64_t)en->step, d = at - step;

		pack_varint(&p->column[2], en->node - node);
		pack_varint(&p->column[3], en->key);
		if (p->last >= p->first + p->step)
			pack_varint(&p->column[4], pack_zigzag(d));
		pack_varint(&p->column[5], (uint64_t)en->weight);
		node = en->node;
		step = at;
	}
}

/* Functions in the order of their places; -1 stands for what is not known. */
static void put_functions(const struct pack *p, struct json *j, const struct use *use)
{
	const struct calltree *t = &p->tree;
	struct strtab strings = { 0 };
	size_t n = t->funcs.n;

	/* only those the nodes name: the rest is pruned away */
	while (n && !use[n - 1].n)
		n--;
	json_object(j, "funcs");
	for (int part = 0; part < 5; part++) {
		static const char *const names[] = { "name", "module", "file", "line", "kind" };

		json_array(j, names[part]);
		for (size_t i = 0; i < n; i++) {
			const struct calltree_func *f = &t->funcs.data[use[i].func];
			uint32_t module = f->path != STRTAB_NONE ? f->path : f->module;
			uint32_t s = part == 0 ? f->name : part == 1 ? module : f->file;

			if (part == 3)
				json_u64(j, NULL, f->line);
			else if (part == 4)
				json_u64(j, NULL, f->kind);
			else if (s == STRTAB_NONE)
				json_i64(j, NULL, -1);
			else
				json_u64(j, NULL, strtab_add(&strings, strtab_get(&t->strings, s)));
		}
		json_end(j);
	}
	json_end(j);
	json_array(j, "strings");
	for (uint32_t i = 0; i < strings.n; i++)
		pack_text(j, NULL, strtab_get(&strings, i));
	json_end(j);
	strtab_free(&strings);
}

static void put_who(const struct pack *p, struct json *j)
{
	json_array(j, "threads");
	vec_each (&p->threads, t) {
		json_array(j, NULL);
		if (t->comm == STRTAB_NONE)
			json_null(j, NULL);
		else
			pack_text(j, NULL, strtab_get(&p->strings, t->comm));
		json_i64(j, NULL, t->pid);
		json_i64(j, NULL, t->tid);
		json_end(j);
	}
	json_end(j);
	json_array(j, "cpus");
	vec_each (&p->cpus, c)
		json_i64(j, NULL, *c == UINT32_MAX ? -1 : (int64_t)*c);
	json_end(j);
	json_array(j, "events");
	vec_each (&p->types, t)
		pack_text(j, NULL, strtab_get(&p->strings, *t));
	json_end(j);
	json_array(j, "units");
	vec_each (&p->units, u)
		pack_text(j, NULL, strtab_get(&p->strings, *u));
	json_end(j);
	json_array(j, "clocks");
	vec_each (&p->clocks, c) {
		json_object(j, NULL);
		json_u64(j, "period", c->period);
		json_double(j, "rate", c->rate);
		json_bool(j, "spans", c->spans);
		json_end(j);
	}
	json_end(j);
	json_array(j, "keys");
	vec_each (&p->keys, k) {
		json_u64(j, NULL, k->side);
		json_u64(j, NULL, k->type);
		json_u64(j, NULL, k->thread);
		json_u64(j, NULL, k->cpu);
	}
	json_end(j);
}

static double pruned_share(const struct calltree *t)
{
	double share[2];

	for (int i = 0; i < 2; i++) {
		double whole = (double)t->nodes.data[0].total[i];

		share[i] = whole > 0 ? (double)t->pruned_weight[i] / whole : 0;
	}
	return share[0] > share[1] ? share[0] : share[1];
}

static void flame_pack_put_about(const struct pack *p, struct json *j)
{
	const struct flame_html_opts *o = p->o;

	pack_text(j, "title", o->title);
	pack_text(j, "subtitle", o->subtitle ? o->subtitle : "");
	pack_text(j, "notes", o->notes ? o->notes : "");
	pack_text(j, "unit",
		  o->unit ? o->unit
			  : stacks_unit(p->side[0],
					o->type == CALLTREE_ALL_TYPES ? o->first : o->type));
	json_str(j, "version", KYMO_VERSION);
	json_bool(j, "compare", p->side[1] != NULL);
	json_array(j, "sides");
	for (int i = 0; i < 2; i++)
		pack_text(j, NULL, o->names[i] ? o->names[i] : i ? "after" : "before");
	json_end(j);
	json_object(j, "view");
	json_bool(j, "reverse", o->reverse);
	json_bool(j, "inverted", o->inverted);
	json_bool(j, "chart", o->chart);
	json_bool(j, "recursion", o->collapse_recursion);
	json_bool(j, "size", o->by_size);
	json_bool(j, "normalize", o->normalize);
	json_bool(j, "seconds", o->seconds);
	json_bool(j, "wall", o->wall);
	json_end(j);
	json_object(j, "pruned");
	json_u64(j, "stacks", p->tree.pruned_stacks);
	json_double(j, "share", pruned_share(&p->tree));
	json_double(j, "min", p->detail->min_share);
	json_bool(j, "cpus", !p->detail->cpus);
	json_bool(j, "threads", !p->detail->threads);
	json_bool(j, "leaves", p->detail->leaves);
	json_end(j);
	json_object(j, "time");
	json_bool(j, "ordered", p->ordered);
	json_u64(j, "first", p->first);
	json_u64(j, "step", p->step);
	json_u64(j, "steps", (p->last - p->first) / p->step + 1);
	json_bool(j, "untimed", p->untimed);
	json_end(j);
}

struct header {
	const struct pack *p;
	const struct use *use;
};

static void flame_pack_put_header(void *ctx, struct json *j)
{
	const struct header *h = ctx;

	flame_pack_put_about(h->p, j);
	put_functions(h->p, j, h->use);
	put_who(h->p, j);
	json_u64(j, "nodes", h->p->tree.nodes.n - 1);
	json_u64(j, "entries", h->p->n_entries);
}

static void pack_free(struct pack *p)
{
	calltree_free(&p->tree);
	strtab_free(&p->strings);
	free(p->entries);
	vec_free(&p->keys);
	map_free(&p->seen);
	map_free(&p->key_index);
	map_free(&p->thread_index);
	map_free(&p->cpu_index);
	vec_free(&p->threads);
	vec_free(&p->cpus);
	vec_free(&p->types);
	vec_free(&p->units);
	vec_free(&p->clocks);
	for (int i = 0; i < 6; i++)
		strbuf_free(&p->column[i]);
}

/*
 * Shares that so many sixteenths of the nodes are above. They are counted by their
 * logarithm in steps of 9%: exact enough, and a million of them are not sorted.
 */
static void find_shares(const struct calltree *t, double *leaves)
{
	const struct calltree_node *root = &t->nodes.data[0];
	size_t count[512] = { 0 }, above = 0;
	unsigned part = 1;

	vec_each (&t->nodes, n) {
		double share = 0;

		for (int k = 0; k < 2; k++)
			if (root->total[k])
				share = fmax(share, (double)n->total[k] / (double)root->total[k]);
		if (share > 0)
			count[(int)fmin(511, -8 * log2(share))]++;
	}
	for (int i = 0; i < 512 && part < FLAME_SHARES; i++)
		for (above += count[i];
		     part < FLAME_SHARES && above * FLAME_SHARES >= part * t->nodes.n;)
			leaves[part++] = exp2(-i / 8.0);
	for (; part < FLAME_SHARES; part++) /* nodes of no weight */
		leaves[part] = exp2(-511 / 8.0);
}

int flame_pack(const struct stacks *s, const struct stacks *after, const struct flame_html_opts *o,
	       const struct flame_detail *d, struct strbuf *ret, struct flame_packed *info,
	       struct err *e)
{
	struct calltree_opts to = { .label = o->label,
				    .type = o->type,
				    .merge_unknown = o->merge_unknown,
				    .want_nodes = true,
				    .min_share = d->min_share,
				    .max_nodes = d->max_nodes,
				    .keep_pruned = true,
				    .keep_leaves = d->leaves };
	struct pack p = { .side = { s, after }, .o = o, .detail = d };
	AUTO_FREE uint32_t *place = NULL;
	AUTO_FREE struct use *use = NULL;
	int r = calltree_make(s, after, &to, &p.tree, e);

	if (r < 0)
		return r;
	*info = (struct flame_packed){ .nodes = p.tree.nodes.n - 1,
				       .pruned_stacks = p.tree.pruned_stacks,
				       .pruned_share = pruned_share(&p.tree) };
	if (p.tree.too_many) {
		info->too_many = true;
		pack_free(&p);
		return 0;
	}
	find_times(&p);
	if (o->type == CALLTREE_ALL_TYPES && o->first < s->type_names.n)
		flame_type(&p, s, o->first);
	flame_gather(&p);
	place = flame_order_functions(&p.tree, &use);
	put_columns(&p, place);
	pack_join(ret, p.column, ARRAY_SIZE(p.column), flame_pack_put_header,
		  &(struct header){ &p, use });
	find_shares(&p.tree, info->leaves_share);
	info->entries = p.n_entries;
	info->cpus = (uint32_t)p.cpus.n;
	info->time_step = p.step;
	info->time_steps = p.ordered || p.untimed ? 0 : (uint32_t)((p.last - p.first) / p.step + 1);
	pack_free(&p);
	return 0;
}
