/* SPDX-License-Identifier: MIT */
#include "calc/profile/table.h"

#include <string.h>

#include "base/pool.h"

static inline uint64_t profile_table_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t words_hash(uint64_t h, const uint64_t *w, size_t n)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2)
		h = profile_table_mix(w[i] ^ h, w[i + 1]);
	if (i < n)
		h = profile_table_mix(w[i] ^ h, n);
	return h;
}

uint64_t table_chain_hash(const struct profile_chain *c)
{
	return words_hash(profile_table_mix((uint64_t)c->space << 32 | c->kernel, c->n), c->ip,
			  c->n);
}

uint64_t table_extra_hash(const struct profile_extra *x)
{
	return words_hash(x->size, x->data, (x->size + 7) / 8);
}

/* The part of an entry that identifies it is everything before its sums. */
#define KEY_SIZE offsetof(struct profile_entry, count)

_Static_assert(KEY_SIZE == 56,
	       "table_entry_hash() and entry_same() know all that tells entries apart");

/*
 * Field by field: an entry was written so a moment ago, and a wider load would have to
 * wait until that has reached the cache.
 */
uint64_t table_entry_hash(const struct profile_entry *e)
{
	uint64_t h = e->type * 0x9e3779b97f4a7c15u + e->comm * 0xbf58476d1ce4e5b9u +
		     (uint32_t)e->pid * 0x94d049bb133111ebu +
		     (uint32_t)e->tid * 0xd6e8feb86659fd93u + e->cpu * 0xff51afd7ed558ccdu +
		     e->space * 0xc4ceb9fe1a85ec53u + e->chain * 0xa24baed4963ee407u +
		     e->mode * 0x9fb21c651e98df25u + e->kernel * 0xe7037ed1a0b428dbu +
		     e->extra * 0x8ebc6af09c88c6e3u + e->time * 0x589965cc75374cc3u;

	return profile_table_mix(e->ip, h);
}

static inline bool entry_same(const struct profile_entry *a, const struct profile_entry *b)
{
	return a->ip == b->ip && a->chain == b->chain && a->comm == b->comm &&
	       a->space == b->space && a->type == b->type && a->time == b->time &&
	       a->tid == b->tid && a->pid == b->pid && a->cpu == b->cpu && a->mode == b->mode &&
	       a->kernel == b->kernel && a->extra == b->extra;
}

void table_fetch(const struct tables *t, uint64_t hash)
{
	index_fetch(&t->chain_index, hash);
}

/* The chain that is likely meant. */
static const struct profile_chain *chain_near(const struct tables *t, uint64_t hash)
{
	uint32_t k = index_near(&t->chain_index, hash);

	return k ? &t->chains.data[k - 1] : NULL;
}

void table_fetch_chain(const struct tables *t, uint64_t hash)
{
	const struct profile_chain *c = chain_near(t, hash);

	if (c)
		mem_fetch(c);
}

void table_fetch_entry(const struct tables *t, uint64_t hash)
{
	const struct profile_chain *c = chain_near(t, hash);

	if (!c)
		return;
	mem_fetch(c->ip);
	mem_fetch(c->ip + 8);
	if (!c->entry)
		return;
	mem_fetch(&t->entries.data[c->entry - 1]);
	mem_fetch(&t->entries.data[c->entry - 1].count);
}

static inline bool chain_same(const struct profile_chain *a, const struct profile_chain *b)
{
	return a->hash == b->hash && a->n == b->n && a->space == b->space &&
	       a->kernel == b->kernel && a->cut == b->cut && a->headless == b->headless &&
	       memcmp(a->ip, b->ip, a->n * sizeof(*a->ip)) == 0;
}

/* 1 + its number, or 0; *at: where it stands in the index, or would. */
static inline uint32_t chain_find(const struct tables *t, const struct profile_chain *c, size_t *at)
{
	const struct index *x = &t->chain_index;
	uint32_t k;

	index_each (x, c->hash, *at, k)
		if (chain_same(&t->chains.data[k - 1], c))
			break;
	return k;
}

uint32_t table_chain(struct tables *t, const struct profile_chain *c, bool copy)
{
	struct index *x = &t->chain_index;
	size_t at = index_first(x, c->hash);
	uint32_t k = chain_find(t, c, &at);

	if (k)
		return k - 1;
	vec_push(&t->chains, *c);
	t->chains.data[t->chains.n - 1].entry = 0;
	if (copy)
		t->chains.data[t->chains.n - 1].ip =
			arena_dup(&t->copies, c->ip, c->n * sizeof(*c->ip));
	index_set(x, at, c->hash, t->chains.n);
	return (uint32_t)t->chains.n - 1;
}

/* Of equal ones the earliest sample's record is kept, so that the result does not depend on chance.
 */
uint32_t table_extra(struct tables *t, const struct profile_extra *x, bool copy_raw)
{
	struct index *ix = &t->extra_index;
	struct profile_extra *o;
	size_t at = index_first(ix, x->hash);
	uint32_t k;

	index_each (ix, x->hash, at, k) {
		o = &t->extras.data[k - 1];
		if (o->hash != x->hash || o->size != x->size ||
		    memcmp(o->data, x->data, x->size) != 0)
			continue;
		if (x->first < o->first) {
			o->first = x->first;
			o->raw_size = x->raw_size;
			o->raw = copy_raw ? arena_dup(&t->copies, x->raw, x->raw_size) : x->raw;
		}
		return k - 1;
	}
	vec_push(&t->extras, *x);
	o = &t->extras.data[t->extras.n - 1];
	o->data = arena_dup(&t->copies, x->data, x->size);
	if (copy_raw)
		o->raw = arena_dup(&t->copies, x->raw, x->raw_size);
	index_set(ix, at, x->hash, t->extras.n);
	return (uint32_t)t->extras.n - 1;
}

static void entry_add(struct profile_entry *to, const struct profile_entry *e)
{
	to->count += e->count;
	to->weight += e->weight;
	if (e->first < to->first) {
		to->first = e->first;
		to->first_tid = e->first_tid;
	}
}

static uint32_t entry_new(struct tables *t, const struct profile_entry *e, uint32_t next)
{
	vec_push(&t->entries, *e);
	t->entries.data[t->entries.n - 1].next = next;
	return (uint32_t)t->entries.n;
}

void table_fetch_counted(const struct tables *t, uint64_t hash)
{
	uint32_t k = index_near(&t->entry_index, hash);

	if (!k)
		return;
	mem_fetch(&t->entries.data[k - 1]);
	mem_fetch(&t->entries.data[k - 1].count);
}

void table_count_hashed(struct tables *t, const struct profile_entry *e, uint64_t hash)
{
	struct index *x = &t->entry_index;
	size_t at = index_first(x, hash);
	uint32_t k;

	index_each (x, hash, at, k)
		if (entry_same(&t->entries.data[k - 1], e)) {
			entry_add(&t->entries.data[k - 1], e);
			return;
		}
	index_set(x, at, hash, entry_new(t, e, 0));
}

#define FEW 4 /* entries of one chain that are in its own list, and not in the index */

/* Most chains belong to one entry only: then there is nothing to be looked for. */
void table_count(struct tables *t, const struct profile_entry *e)
{
	struct profile_chain *chain;
	unsigned n = 0;

	if (e->chain == PROFILE_NO_CHAIN) {
		table_count_hashed(t, e, table_entry_hash(e));
		return;
	}
	chain = &t->chains.data[e->chain];
	for (uint32_t k = chain->entry; k; n++) {
		struct profile_entry *o = &t->entries.data[k - 1];

		if (entry_same(o, e)) {
			entry_add(o, e);
			return;
		}
		k = o->next;
	}
	if (n < FEW)
		chain->entry = entry_new(t, e, chain->entry);
	else
		table_count_hashed(t, e, table_entry_hash(e));
}

void table_free(struct tables *t)
{
	vec_free(&t->entries);
	vec_free(&t->chains);
	vec_free(&t->extras);
	index_free(&t->entry_index);
	index_free(&t->chain_index);
	index_free(&t->extra_index);
	free(t->total);
	free(t->buf);
	arena_free(&t->copies);
	mapped_free(&t->mapped);
}

/*
 * Most of the work of a merge is to find what both tables have, which all threads can do at once: a
 * chain of one is at most one of the other, and so are the entries that hang from it.
 */
struct merge {
	struct tables *t, *other;
	uint32_t *chain; /* by chain of the other: 1 + its number in t, or 0 */
	uint32_t *extra; /* by extra of the other */
};

#define STEP 4096 /* chains a job */

/* An entry as it is called in t. */
static struct profile_entry renamed(const struct merge *m, const struct profile_entry *e)
{
	struct profile_entry r = *e;

	if (e->chain != PROFILE_NO_CHAIN)
		r.chain = m->chain[e->chain] - 1;
	if (e->extra != PROFILE_NO_EXTRA)
		r.extra = m->extra[e->extra];
	return r;
}

/* One of a chain that both have, if it is in both lists; its count is 0 then. */
static void merge_entry(const struct merge *m, struct profile_entry *e)
{
	struct tables *t = m->t;
	struct profile_entry r = renamed(m, e);

	for (uint32_t k = t->chains.data[r.chain].entry; k; k = t->entries.data[k - 1].next)
		if (entry_same(&t->entries.data[k - 1], &r)) {
			entry_add(&t->entries.data[k - 1], &r);
			e->count = 0;
			return;
		}
}

static int merge_job(void *ctx, size_t job, unsigned worker)
{
	struct merge *m = ctx;
	struct tables *t = m->t, *other = m->other;
	size_t end = (job + 1) * STEP < other->chains.n ? (job + 1) * STEP : other->chains.n;

	for (size_t i = job * STEP; i < end; i++) {
		const struct profile_chain *c = &other->chains.data[i];
		size_t at = (uint32_t)c->hash & (t->chain_index.cap - 1);

		if (i + 16 < end) {
			table_fetch(t, c[16].hash);
			table_fetch_chain(t, c[10].hash);
			table_fetch_entry(t, c[5].hash);
		}
		m->chain[i] = t->chains.n ? chain_find(t, c, &at) : 0;
		for (uint32_t k = c->entry; m->chain[i] && k; k = other->entries.data[k - 1].next)
			merge_entry(m, &other->entries.data[k - 1]);
	}
	return 0;
}

static void add_chains(const struct merge *m)
{
	const struct profile_chain *c = m->other->chains.data;

	for (size_t i = 0; i < m->other->chains.n; i++) {
		if (i + 16 < m->other->chains.n)
			table_fetch(m->t, c[i + 16].hash);
		if (!m->chain[i])
			m->chain[i] = table_chain(m->t, &c[i], false) + 1;
	}
}

void table_merge(struct tables *t, struct tables *other, size_t n_types)
{
	AUTO_FREE uint32_t *chain = mem_grow(NULL, (other->chains.n + 1) * sizeof(*chain));
	AUTO_FREE uint32_t *extra = mem_grow(NULL, (other->extras.n + 1) * sizeof(*extra));
	struct merge m = { .t = t, .other = other, .chain = chain, .extra = extra };

	for (size_t i = 0; i < other->extras.n; i++)
		extra[i] = table_extra(t, &other->extras.data[i], false);
	pool_run((other->chains.n + STEP - 1) / STEP, 0, merge_job, &m);
	add_chains(&m);
	for (size_t i = 0; i < other->entries.n; i++) {
		const struct profile_entry *e = &other->entries.data[i];
		struct profile_entry r;

		if (!e->count)
			continue;
		r = renamed(&m, e);
		table_count(t, &r);
	}
	for (size_t i = 0; i < n_types; i++) {
		t->total[i].count += other->total[i].count;
		t->total[i].weight += other->total[i].weight;
		t->total[i].all_count += other->total[i].all_count;
		t->total[i].all_weight += other->total[i].all_weight;
	}
	arena_join(&t->copies, &other->copies);
	table_free(other);
}

const struct task_view *task_cache_look(struct task_answer *a, const struct tasks *tasks,
					int32_t pid, int32_t tid, uint64_t time)
{
	*a = (struct task_answer){ .pid = pid, .tid = tid, .version = tasks_version(tasks) + 1 };
	a->view = tasks_view_at(tasks, pid, tid, time);
	a->view.comm = tasks_who(a->view.comm, tid);
	return &a->view;
}

void task_cache_ask(struct task_cache *c, const struct tasks *tasks, const struct event *ev,
		    struct profile_entry *out)
{
	const struct task_view *v =
		task_cache_view(c, tasks, tasks_version(tasks), ev->pid, ev->tid, ev->time);

	out->space = v->space;
	out->kernel = v->kernel;
	out->comm = v->comm;
}
