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

#include "base/pool.h"
#include "calc/hist_impl.h"
#include "calc/index.h"

struct table {
	VEC(struct hist_row) rows;
	struct index index;   /* of rows by their pairs, or ... */
	uint32_t *slot;	      /* ... by pair: row + 1 */
	size_t direct;	      /* classes of sites, when there is a slot for each pair; else 0 */
	unsigned part, parts; /* which of how many rows are its own */
	uint32_t now;
	uint64_t count, weight, left_count, left_weight; /* wanted; left out altogether */
};

static bool is_own(const struct table *t, uint64_t hash)
{
	return t->parts < 2 || (hash >> 48) % t->parts == t->part;
}

static uint32_t row_new(struct table *t, struct cell_pair pair)
{
	struct hist_row *r = vec_add(&t->rows);

	r->at = pair;
	r->first = UINT64_MAX;
	return (uint32_t)t->rows.n - 1;
}

/* hash: of the pair, where there are no slots for all. */
static inline uint32_t row_at(struct table *t, struct cell_pair pair, uint64_t hash)
{
	size_t at;
	uint32_t k;

	if (t->direct) {
		at = pair.entry * t->direct + pair.site;
		if (!t->slot[at])
			t->slot[at] = row_new(t, pair) + 1;
		return t->slot[at] - 1;
	}
	at = index_first(&t->index, hash);
	for (; (k = index_next(&t->index, hash, &at)); at = (at + 1) & (t->index.cap - 1))
		if (same_pair(t->rows.data[k - 1].at, pair))
			return k - 1;
	k = row_new(t, pair);
	index_set(&t->index, at, hash, k + 1);
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

static int mode_index(uint32_t mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return 0;
	case EVENT_MODE_USER: return 1;
	case EVENT_MODE_GUEST_KERNEL: return 2;
	case EVENT_MODE_GUEST_USER: return 3;
	default: return -1;
	}
}

enum { LEFT_OUT, ASIDE, WANTED };

/* Does the entry count for rows, only for the total, or not at all? */
static int wanted(const struct hist *h, size_t i)
{
	const struct names *n = h->cells->names;
	uint32_t site = n->entry_site[i], frame = n->sites.data[site].frame;
	const struct profile_entry *e = &n->profile->entries.data[i];

	if (h->opts.hide_unresolved && n->frames.data[frame].name == SYMBOLS_NONE)
		return LEFT_OUT;
	if (h->opts.site_wanted && !h->opts.site_wanted[site])
		return ASIDE;
	if (h->opts.exclude_other &&
	    (e->chain == PROFILE_NO_CHAIN || !h->cells->parent_of[e->chain]))
		return ASIDE;
	return WANTED;
}

bool hist_counts(const struct hist *h, size_t i)
{
	return h->cells->names->profile->entries.data[i].type == h->opts.type &&
	       wanted(h, i) == WANTED;
}

static void sum_leaf(const struct hist *h, struct table *t, size_t i, uint32_t row)
{
	const struct names *n = h->cells->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	struct hist_row *r = &t->rows.data[row];
	int mode = mode_index(e->mode);

	r->count += e->count;
	r->all_count += e->count;
	r->self += e->weight;
	r->total += e->weight;
	if (mode >= 0)
		r->by_mode[mode] += e->weight;
	note_first(r, e->first, e->first_tid, n->entry_site[i]);
	if (e->chain == PROFILE_NO_CHAIN)
		return;
	r->chains++;
	deeper(r, n->chains[e->chain].n);
}

/* The rows that a chain passes on its way, each once. */
static void sum_chain(const struct hist *h, struct table *t, const struct profile_entry *e,
		      uint32_t class)
{
	const struct names *n = h->cells->names;
	const struct name_chain *chain = &n->chains[e->chain];

	for (uint32_t k = 0; k < chain->n; k++) {
		uint32_t from = h->opts.caller ? chain->n - 1 - k : k;
		uint32_t site = n->chain_sites[chain->first + from];
		struct cell_pair at = { class, h->cells->site_class[site] };
		uint64_t hash = t->direct ? 0 : pair_hash(at);
		struct hist_row *r;
		uint32_t row;

		if (!is_own(t, hash))
			continue;
		row = row_at(t, at, hash);
		r = &t->rows.data[row];
		if (r->stamp == t->now)
			continue;
		r->stamp = t->now;
		r->total += e->weight;
		r->all_count += e->count;
		r->chains++;
		note_first(r, e->first, e->first_tid, site);
		deeper(r, chain->n - k);
	}
}

static void sum_entry(const struct hist *h, struct table *t, size_t i)
{
	const struct profile_entry *e = &h->cells->names->profile->entries.data[i];
	struct cell_pair at = hist_pair_of(h, i);
	uint64_t hash = t->direct ? 0 : pair_hash(at);

	t->now++;
	if (is_own(t, hash)) {
		uint32_t row = row_at(t, at, hash);

		t->count += e->count;
		t->weight += e->weight;
		sum_leaf(h, t, i, row);
		t->rows.data[row].stamp = t->now;
	}
	if (h->opts.children && e->chain != PROFILE_NO_CHAIN)
		sum_chain(h, t, e, at.entry);
}

/*
 * Rows are spread over more memory than caches hold: first where an entry's are looked for is
 * fetched, then what is found there.
 */
#define AHEAD 6 /* entries */

static void fetch(const struct hist *h, const struct table *t, size_t i, bool rows)
{
	const struct names *n = h->cells->names;
	uint32_t class = h->cells->entry_class[i], chain = n->profile->entries.data[i].chain, row;

	if (chain == PROFILE_NO_CHAIN || t->direct)
		return;
	for (uint32_t k = 0; k < n->chains[chain].n; k++) {
		uint32_t site = n->chain_sites[n->chains[chain].first + k];
		uint64_t hash = pair_hash((struct cell_pair){ class, h->cells->site_class[site] });

		if (!is_own(t, hash))
			continue;
		if (!rows)
			index_fetch(&t->index, hash);
		else if ((row = index_near(&t->index, hash)))
			__builtin_prefetch(&t->rows.data[row - 1]);
	}
}

static void sum_entries(const struct hist *h, struct table *t, size_t from, size_t end)
{
	const struct profile *p = h->cells->names->profile;

	for (size_t i = from; i < end; i++) {
		const struct profile_entry *e = &p->entries.data[i];

		if (h->opts.children && i + AHEAD < end) {
			fetch(h, t, i + AHEAD, false);
			fetch(h, t, i + AHEAD / 2, true);
		}
		if (e->type != h->opts.type)
			continue;
		switch (wanted(h, i)) {
		case WANTED: sum_entry(h, t, i); break;
		case LEFT_OUT:
			if (t->part)
				break; /* the first one counts those */
			t->left_count += e->count;
			t->left_weight += e->weight;
		}
	}
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

	(void)worker;
	sum_entries(s->h, &s->tables[job], 0, s->h->cells->names->profile->entries.n);
	free(s->tables[job].index.slot);
	return 0;
}

void hist_add_sums(struct hist_row *to, const struct hist_row *r)
{
	to->count += r->count;
	to->all_count += r->all_count;
	to->self += r->self;
	to->total += r->total;
	for (unsigned m = 0; m < HIST_MODES; m++)
		to->by_mode[m] += r->by_mode[m];
}

static void add_row(struct hist_row *to, const struct hist_row *r)
{
	hist_add_sums(to, r);
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
			uint32_t row = row_at(t, r->at, 0); /* moves t->rows.data */

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

void hist_sum_up(struct hist *h)
{
	const struct profile *p = h->cells->names->profile;
	const struct profile_total *total = &p->total[h->opts.type];
	unsigned threads = pool_threads();
	AUTO_FREE struct table *tables = mem_alloc(threads * sizeof(*tables));
	struct sum s = { .h = h, .tables = tables };

	if (!h->direct && threads > MAX_PARTS)
		threads = MAX_PARTS;
	for (unsigned i = 0; i < threads; i++) {
		tables[i].direct = h->direct;
		if (h->direct)
			tables[i].slot = mem_alloc(h->direct_cap * sizeof(*tables[i].slot));
		else
			tables[i].part = i;
		tables[i].parts = h->direct ? 0 : threads;
	}
	if (h->direct)
		pool_run((p->entries.n + STEP - 1) / STEP, threads, entries_job, &s);
	else
		pool_run(threads, threads, rows_job, &s);
	for (unsigned t = 1; t < threads; t++)
		table_add(&tables[0], &tables[t]);
	memcpy(&h->rows, &tables[0].rows, sizeof(h->rows));
	h->count = tables[0].count;
	h->weight = tables[0].weight;
	h->all_count = total->all_count - tables[0].left_count;
	h->all_weight = total->all_weight - tables[0].left_weight;
	free(tables[0].slot);
}
