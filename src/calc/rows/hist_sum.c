/* SPDX-License-Identifier: MIT */
/*
 * Summing a profile up to rows, by all threads.
 *
 * Where there are few rows each thread takes some of the entries, and their tables are added up in
 * the end. Where there are many, most of them only one or two chains, a second table would be as
 * large as the first: there every thread goes through all entries, and sums rows of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/pool.h"
#include "calc/rows/hist.h"

/* A row that an entry counts for. They are told first and counted together: see count_touches(). */
struct touch {
	uint64_t key;	/* where its row is looked for: a slot, or a hash */
	uint32_t entry; /* the profile's */
	uint32_t class, site;
	uint32_t depth; /* of the chain from here on; TOUCH_OWN: the entry's own row */
	uint32_t row;
};
#define TOUCH_OWN UINT32_MAX
#define TOUCHES 1024

struct table {
	const struct hist *h;
	VEC(struct hist_row) rows;
	struct index index;   /* of rows by their pairs, or ... */
	uint32_t *slot;	      /* ... by pair: row + 1 */
	size_t direct;	      /* classes of sites, when there is a slot for each pair; else 0 */
	unsigned part, parts; /* which of how many rows are its own */
	struct touch *touch;
	size_t n_touches;
	uint64_t count, weight, left_count, left_weight; /* wanted; left out altogether */
};

static uint32_t row_new(struct table *t, struct cell_pair pair)
{
	struct hist_row *r = vec_add(&t->rows);

	r->at = pair;
	r->first = UINT64_MAX;
	return (uint32_t)t->rows.n - 1;
}

static inline uint64_t row_key(const struct table *t, struct cell_pair pair)
{
	return t->direct ? pair.entry * t->direct + pair.site : pair_hash(pair);
}

static inline uint32_t row_at(struct table *t, struct cell_pair pair, uint64_t key)
{
	size_t at;
	uint32_t k;

	if (t->direct) {
		if (!t->slot[key])
			t->slot[key] = row_new(t, pair) + 1;
		return t->slot[key] - 1;
	}
	at = index_first(&t->index, key);
	index_each (&t->index, key, at, k)
		if (same_pair(t->rows.data[k - 1].at, pair))
			return k - 1;
	k = row_new(t, pair);
	index_set(&t->index, at, key, k + 1);
	return k;
}

struct sum {
	struct hist *h;
	struct table *tables;
};

#define STEP 2048 /* entries a job */

static void deeper(struct hist_row *r, uint32_t depth)
{
	if (depth > r->depth)
		r->depth = depth;
}

/* Remember the first sample, whatever order they come in. */
static void note_first(struct hist_row *r, uint64_t time, int32_t tid, uint32_t site)
{
	if (time > r->first || (time == r->first && tid >= r->tid && r->first != UINT64_MAX))
		return;
	r->first = time;
	r->tid = tid;
	r->site = site;
}

enum { LEFT_OUT, ASIDE, WANTED };

/* Does the entry count for rows, only for the total, or not at all? */
static int hist_sum_wanted(const struct hist *h, size_t i)
{
	const struct names *n = h->cells->names;
	uint32_t site = n->entry_site[i], chain;

	if (h->opts.hide_unresolved &&
	    n->frames.data[n->sites.data[site].frame].name == SYMBOLS_NONE)
		return LEFT_OUT;
	if (h->opts.site_wanted && !h->opts.site_wanted[site])
		return ASIDE;
	chain = n->profile->entries.data[i].chain;
	if (h->opts.exclude_other && (chain == PROFILE_NO_CHAIN || !h->cells->parent_of[chain]))
		return ASIDE;
	return WANTED;
}

bool hist_counts(const struct hist *h, size_t i)
{
	return h->cells->names->profile->entries.data[i].type == h->opts.type &&
	       hist_sum_wanted(h, i) == WANTED;
}

static void sum_own(struct table *t, const struct touch *touch)
{
	const struct names *n = t->h->cells->names;
	const struct profile_entry *e = &n->profile->entries.data[touch->entry];
	struct hist_row *r = &t->rows.data[touch->row];

	t->count += e->count;
	t->weight += e->weight;
	r->stamp = touch->entry + 1;
	r->count += e->count;
	r->self += e->weight;
	r->total += e->weight;
	note_first(r, e->first, e->first_tid, touch->site);
	if (e->chain == PROFILE_NO_CHAIN)
		return;
	r->chains++;
	deeper(r, n->chains[e->chain].n);
}

/* A row that a chain passes on its way, once. */
static void sum_passed(struct table *t, const struct touch *touch)
{
	const struct profile_entry *e = &t->h->cells->names->profile->entries.data[touch->entry];
	struct hist_row *r = &t->rows.data[touch->row];

	if (r->stamp == touch->entry + 1)
		return;
	r->stamp = touch->entry + 1;
	r->total += e->weight;
	r->chains++;
	note_first(r, e->first, e->first_tid, touch->site);
	deeper(r, touch->depth);
}

static void fetch_row(const struct table *t, uint32_t row)
{
	mem_fetch_to_write(&t->rows.data[row]);
	mem_fetch_to_write(&t->rows.data[row].stamp);
}

/*
 * Rows are spread over more memory than caches hold: first where those of many touches are looked
 * for is fetched, then what is found there.
 */
static void count_touches(struct table *t)
{
	struct touch *end = t->touch + t->n_touches;
	uint32_t near;

	for (struct touch *x = t->touch; !t->direct && x < end; x++)
		if ((near = index_near(&t->index, x->key)))
			fetch_row(t, near - 1);
	for (struct touch *x = t->touch; x < end; x++) {
		struct cell_pair at = { x->class, t->h->cells->site_class[x->site] };

		x->row = row_at(t, at, x->key);
		fetch_row(t, x->row);
	}
	for (struct touch *x = t->touch; x < end; x++)
		if (x->depth == TOUCH_OWN)
			sum_own(t, x);
		else
			sum_passed(t, x);
	t->n_touches = 0;
}

static inline void touch(struct table *t, uint32_t entry, uint32_t class, uint32_t site,
			 uint32_t depth)
{
	struct cell_pair at = { class, t->h->cells->site_class[site] };
	uint64_t key;

	if (t->parts > 1 && ((uint64_t)(at.site * 0x9e3779b1u) * t->parts) >> 32 != t->part)
		return;
	if (t->n_touches == TOUCHES)
		count_touches(t);
	key = row_key(t, at);
	if (t->direct)
		mem_fetch(&t->slot[key]);
	else
		index_fetch(&t->index, key);
	t->touch[t->n_touches++] = (struct touch){ key, entry, class, site, depth, 0 };
}

static void touch_entry(const struct hist *h, struct table *t, uint32_t i)
{
	const struct names *n = h->cells->names;
	uint32_t chain = n->profile->entries.data[i].chain, class = h->cells->entry_class[i];
	const struct name_chain *c;

	touch(t, i, class, n->entry_site[i], TOUCH_OWN);
	if (!h->opts.children || chain == PROFILE_NO_CHAIN)
		return;
	c = &n->chains[chain];
	for (uint32_t k = 0; k < c->n; k++)
		touch(t, i, class, n->chain_sites[c->first + (h->opts.caller ? c->n - 1 - k : k)],
		      c->n - k);
}

static void sum_entries(const struct hist *h, struct table *t, size_t from, size_t end)
{
	const struct profile *p = h->cells->names->profile;

	for (size_t i = from; i < end; i++) {
		const struct profile_entry *e = &p->entries.data[i];

		if (e->type != h->opts.type)
			continue;
		switch (hist_sum_wanted(h, i)) {
		case WANTED: touch_entry(h, t, (uint32_t)i); break;
		case LEFT_OUT:
			if (t->part)
				break; /* the first one counts those */
			t->left_count += e->count;
			t->left_weight += e->weight;
		}
	}
	count_touches(t);
}

static int entries_job(void *ctx, size_t job, unsigned worker)
{
	struct sum *s = ctx;
	size_t n = s->h->cells->names->profile->entries.n;

	sum_entries(s->h, &s->tables[worker], job * STEP,
		    (job + 1) * STEP < n ? (job + 1) * STEP : n);
	return 0;
}

static int rows_job(void *ctx, size_t job, unsigned worker)
{
	struct sum *s = ctx;

	sum_entries(s->h, &s->tables[job], 0, s->h->cells->names->profile->entries.n);
	index_free(&s->tables[job].index);
	return 0;
}

void hist_add_sums(struct hist_row *to, const struct hist_row *r)
{
	to->count += r->count;
	to->self += r->self;
	to->total += r->total;
	for (unsigned m = 0; r->by_mode && m < HIST_MODES; m++)
		to->by_mode[m] += r->by_mode[m];
}

static void add_row(struct hist_row *to, const struct hist_row *r)
{
	to->count += r->count;
	to->self += r->self;
	to->total += r->total;
	to->chains += r->chains;
	deeper(to, r->depth);
	note_first(to, r->first, r->tid, r->site);
}

static void table_add(struct table *t, struct table *other)
{
	if (t->parts && other->rows.n) { /* of which it has none */
		vec_reserve(&t->rows, t->rows.n + other->rows.n);
		memcpy(t->rows.data + t->rows.n, other->rows.data,
		       other->rows.n * sizeof(*t->rows.data));
		t->rows.n += other->rows.n;
	} else {
		vec_each (&other->rows, r) {
			uint32_t row = row_at(t, r->at, row_key(t, r->at)); /* moves t->rows.data */

			add_row(&t->rows.data[row], r);
		}
	}
	t->count += other->count;
	t->weight += other->weight;
	t->left_count += other->left_count;
	t->left_weight += other->left_weight;
	vec_free(&other->rows);
	free(other->slot);
}

#define MAX_PARTS 4u /* each thread looks at all entries: more of them would gain nothing */
#define FEW_ROWS (1u << 20)

void hist_sum_up(struct hist *h)
{
	const struct profile *p = h->cells->names->profile;
	const struct profile_total *total = &p->total[h->opts.type];
	unsigned threads = pool_threads();
	AUTO_FREE struct table *tables = mem_alloc(threads * sizeof(*tables));
	struct sum s = { .h = h, .tables = tables };
	bool few = h->direct && h->direct_cap <= FEW_ROWS;

	if (!few && threads > MAX_PARTS)
		threads = MAX_PARTS;
	for (unsigned i = 0; i < threads; i++) {
		tables[i].h = h;
		tables[i].direct = h->direct;
		tables[i].touch = mem_grow(NULL, TOUCHES * sizeof(*tables[i].touch));
		if (h->direct) /* parts have slots of their own in a common table */
			tables[i].slot =
				i && !few ? tables[0].slot
					  : mem_alloc(h->direct_cap * sizeof(*tables[i].slot));
		tables[i].part = few ? 0 : i;
		tables[i].parts = few ? 0 : threads;
	}
	if (few)
		pool_run((p->entries.n + STEP - 1) / STEP, threads, entries_job, &s);
	else
		pool_run(threads, threads, rows_job, &s);
	for (unsigned t = 0; t < threads; t++)
		free(tables[t].touch);
	if (!few) {
		free(tables[0].slot);
		tables[0].slot = NULL;
		for (unsigned t = 1; t < threads; t++)
			tables[t].slot = NULL;
	}
	for (unsigned t = 1; t < threads; t++)
		table_add(&tables[0], &tables[t]);
	memcpy(&h->rows, &tables[0].rows, sizeof(h->rows));
	h->count = tables[0].count;
	h->weight = tables[0].weight;
	h->all_count = total->all_count - tables[0].left_count;
	h->all_weight = total->all_weight - tables[0].left_weight;
	free(tables[0].slot);
	vec_each (&h->rows, r)
		r->by_mode = NULL;
}
