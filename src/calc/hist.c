/* SPDX-License-Identifier: MIT */
#include "calc/hist.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/str.h"

/* Rows being summed by one worker: the same hashing as the finished table. */
struct table {
	VEC(struct hist_row) rows;
	uint32_t *slot;
	size_t cap;
	uint32_t *stamp; /* by row: the last entry that counted for it */
	size_t stamp_cap;
	uint32_t now;
};

static uint64_t key_hash(const struct hist *h, const uint64_t *value)
{
	uint64_t x = 0;

	for (unsigned i = 0; i < h->opts.n_keys; i++)
		x = map_hash(x ^ (value[i] + i));
	return x;
}

static bool same_key(const struct hist *h, const uint64_t *a, const uint64_t *b)
{
	return memcmp(a, b, h->opts.n_keys * sizeof(*a)) == 0;
}

/* The keys' values for an entry at a site; site parts can be redone alone while walking a chain. */
static void entry_values(const struct hist *h, const struct profile_entry *e, uint64_t *value)
{
	for (unsigned i = 0; i < h->opts.n_keys; i++)
		switch (h->opts.key[i]) {
		case HIST_COMM: value[i] = e->comm; break;
		case HIST_PID: value[i] = (uint32_t)e->pid; break;
		case HIST_TID: value[i] = (uint32_t)e->tid; break;
		case HIST_CPU: value[i] = e->cpu; break;
		case HIST_TIME: value[i] = e->time; break;
		case HIST_EXTRA: value[i] = e->extra; break;
		default: value[i] = 0;
		}
}

static void site_values(const struct hist *h, uint32_t site, uint64_t *value)
{
	const struct name_site *s = &h->names->sites.data[site];

	for (unsigned i = 0; i < h->opts.n_keys; i++)
		switch (h->opts.key[i]) {
		case HIST_DSO:
			value[i] = h->dso_text[s->dso == TASK_DSO_NONE ? 0 : s->dso + 1];
			break;
		case HIST_SYM: value[i] = s->frame; break;
		case HIST_SRCLINE:
		case HIST_SRCFILE: value[i] = h->site_text[site]; break;
		default: break;
		}
}

static void table_grow(const struct hist *h, struct table *t)
{
	free(t->slot);
	t->cap = t->cap ? t->cap * 2 : 1024;
	t->slot = mem_alloc(t->cap * sizeof(*t->slot));
	for (size_t i = 0; i < t->rows.n; i++) {
		size_t at = key_hash(h, t->rows.data[i].value) & (t->cap - 1);

		while (t->slot[at])
			at = (at + 1) & (t->cap - 1);
		t->slot[at] = (uint32_t)i + 1;
	}
}

static uint32_t row_at(const struct hist *h, struct table *t, const uint64_t *value, uint32_t site)
{
	size_t at;
	struct hist_row *r;

	if ((t->rows.n + 1) * 2 > t->cap)
		table_grow(h, t);
	at = key_hash(h, value) & (t->cap - 1);
	for (; t->slot[at]; at = (at + 1) & (t->cap - 1))
		if (same_key(h, t->rows.data[t->slot[at] - 1].value, value))
			return t->slot[at] - 1;
	r = vec_add(&t->rows);
	memcpy(r->value, value, h->opts.n_keys * sizeof(*value));
	r->site = site;
	r->frame = h->names->sites.data[site].frame;
	t->slot[at] = (uint32_t)t->rows.n;
	if (t->stamp_cap < t->rows.cap) {
		t->stamp = mem_grow(t->stamp, t->rows.cap * sizeof(*t->stamp));
		memset(t->stamp + t->stamp_cap, 0,
		       (t->rows.cap - t->stamp_cap) * sizeof(*t->stamp));
		t->stamp_cap = t->rows.cap;
	}
	return (uint32_t)t->rows.n - 1;
}

struct sum {
	struct hist *h;
	struct table *tables;
};

#define STEP 2048 /* entries a job */

static void deeper(struct hist_row *r, uint64_t depth)
{
	if (depth > r->depth)
		r->depth = (uint32_t)depth;
}

static void sum_entry(const struct hist *h, struct table *t, size_t i)
{
	const struct names *n = h->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	uint64_t value[16], first;
	uint32_t row;

	entry_values(h, e, value);
	site_values(h, n->entry_site[i], value);
	row = row_at(h, t, value, n->entry_site[i]);
	t->rows.data[row].count += e->count;
	t->rows.data[row].self += e->weight;
	t->rows.data[row].total += e->weight;
	t->rows.data[row].chains += e->chain != PROFILE_NO_CHAIN;
	if (!h->opts.children || e->chain == PROFILE_NO_CHAIN)
		return;
	first = n->chain_first[e->chain];
	deeper(&t->rows.data[row], n->chain_first[e->chain + 1] - first);
	t->stamp[row] = ++t->now;
	for (uint64_t k = n->chain_first[e->chain + 1]; k-- > first;) {
		site_values(h, n->chain_sites[k], value);
		row = row_at(h, t, value, n->chain_sites[k]);
		if (t->stamp[row] == t->now)
			continue;
		t->stamp[row] = t->now;
		t->rows.data[row].total += e->weight;
		t->rows.data[row].chains++;
		deeper(&t->rows.data[row], k - first + 1);
	}
}

static int sum_job(void *ctx, size_t job, unsigned worker)
{
	struct sum *s = ctx;
	const struct profile *p = s->h->names->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;

	for (size_t i = job * STEP; i < end; i++)
		if (p->entries.data[i].type == s->h->opts.type)
			sum_entry(s->h, &s->tables[worker], i);
	return 0;
}

static void table_free(struct table *t)
{
	vec_free(&t->rows);
	free(t->slot);
	free(t->stamp);
}

static const struct hist *sorting; /* qsort_r's argument order differs between systems; reports are
				      sorted by one thread */

static int compare_key(const struct hist *h, const struct hist_row *a, const struct hist_row *b,
		       unsigned i)
{
	char x[512], y[512];

	switch (h->opts.key[i]) {
	case HIST_PID:
	case HIST_TID:
	case HIST_CPU:
	case HIST_TIME: return a->value[i] < b->value[i] ? -1 : a->value[i] > b->value[i];
	default: return strcmp(hist_text(h, a, i, x, sizeof(x)), hist_text(h, b, i, y, sizeof(y)));
	}
}

/* Heaviest first; equal ones by their texts, so that output does not depend on chance. */
static int heaviest_first(const void *pa, const void *pb)
{
	const struct hist_row *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	/* callers above what they call */
	if (sorting->opts.children && a->depth != b->depth)
		return a->depth < b->depth ? 1 : -1;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	for (unsigned i = 0; i < sorting->opts.n_keys; i++) {
		int c = compare_key(sorting, a, b, i);

		if (c)
			return c;
	}
	return 0;
}

static void index_rows(struct hist *h)
{
	h->slot_cap = 16;
	while (h->slot_cap < h->rows.n * 2)
		h->slot_cap *= 2;
	h->slot = mem_alloc(h->slot_cap * sizeof(*h->slot));
	for (size_t i = 0; i < h->rows.n; i++) {
		size_t at = key_hash(h, h->rows.data[i].value) & (h->slot_cap - 1);

		while (h->slot[at])
			at = (at + 1) & (h->slot_cap - 1);
		h->slot[at] = (uint32_t)i + 1;
	}
}

static uint32_t find_row(const struct hist *h, const uint64_t *value)
{
	size_t at = key_hash(h, value) & (h->slot_cap - 1);

	while (h->slot[at] && !same_key(h, h->rows.data[h->slot[at] - 1].value, value))
		at = (at + 1) & (h->slot_cap - 1);
	return h->slot[at] - 1;
}

/* Texts of files and, when asked for, of source lines. */
static void prepare_texts(struct hist *h)
{
	const struct names *n = h->names;
	size_t n_dsos = tasks_n_dsos(n->profile->trace->tasks);
	bool lines = false, files_only = false;

	h->dso_text = mem_alloc((n_dsos + 1) * sizeof(*h->dso_text));
	h->dso_text[0] = strtab_add(&h->texts, names_dso(n, TASK_DSO_NONE));
	for (size_t i = 0; i < n_dsos; i++)
		h->dso_text[i + 1] = strtab_add(&h->texts, names_dso(n, (uint32_t)i));
	for (unsigned i = 0; i < h->opts.n_keys; i++) {
		lines = lines || h->opts.key[i] == HIST_SRCLINE || h->opts.key[i] == HIST_SRCFILE;
		files_only = files_only || h->opts.key[i] == HIST_SRCFILE;
	}
	if (!lines)
		return;
	h->site_text = mem_alloc(n->sites.n * sizeof(*h->site_text));
	for (size_t i = 0; i < n->sites.n; i++) {
		const struct name_site *s = &n->sites.data[i];
		char text[1024];

		if (s->sym && s->sym->nframes && s->sym->frames[0].file != SYMBOLS_NONE) {
			const char *file = symbols_text(n->symbols, s->sym->frames[0].file);
			const char *base = strrchr(file, '/');

			base = base ? base + 1 : file;
			if (files_only)
				snprintf(text, sizeof(text), "%s", base);
			else
				snprintf(text, sizeof(text), "%s:%u", base, s->sym->frames[0].line);
		} else {
			const char *fn = names_function(n, s->frame);

			snprintf(text, sizeof(text), files_only ? "." : "%s+%llu",
				 fn ? fn : names_dso(n, s->dso),
				 (unsigned long long)(s->dso_addr - n->frames.data[s->frame].addr));
		}
		h->site_text[i] = strtab_add(&h->texts, text);
	}
}

int hist_make(const struct names *n, const struct hist_opts *o, struct hist *ret, struct err *e)
{
	unsigned threads = pool_threads();
	AUTO_FREE struct table *tables = mem_alloc(threads * sizeof(*tables));
	struct hist h = { .names = n, .opts = *o };
	struct sum s = { .h = &h, .tables = tables };

	(void)e;
	prepare_texts(&h);
	h.total = n->profile->total[o->type].weight;
	h.count = n->profile->total[o->type].count;
	pool_run((n->profile->entries.n + STEP - 1) / STEP, threads, sum_job, &s);
	for (unsigned t = 1; t < threads; t++) {
		vec_each (&tables[t].rows, r) {
			uint32_t row = row_at(&h, &tables[0], r->value, r->site);

			tables[0].rows.data[row].count += r->count;
			tables[0].rows.data[row].self += r->self;
			tables[0].rows.data[row].total += r->total;
			tables[0].rows.data[row].chains += r->chains;
			deeper(&tables[0].rows.data[row], r->depth);
		}
		table_free(&tables[t]);
	}
	memcpy(&h.rows, &tables[0].rows, sizeof(h.rows));
	free(tables[0].slot);
	free(tables[0].stamp);
	sorting = &h;
	if (h.rows.n)
		qsort(h.rows.data, h.rows.n, sizeof(*h.rows.data), heaviest_first);
	index_rows(&h);
	*ret = h;
	return 0;
}

void hist_free(struct hist *h)
{
	vec_free(&h->rows);
	strtab_free(&h->texts);
	free(h->dso_text);
	free(h->site_text);
	free(h->slot);
}

unsigned hist_needs(const struct hist_opts *o)
{
	unsigned by = 0;

	for (unsigned i = 0; i < o->n_keys; i++)
		switch (o->key[i]) {
		case HIST_COMM: by |= PROFILE_BY_COMM; break;
		case HIST_PID: by |= PROFILE_BY_PID | PROFILE_BY_COMM; break;
		case HIST_TID: by |= PROFILE_BY_TID | PROFILE_BY_COMM; break;
		case HIST_CPU: by |= PROFILE_BY_CPU; break;
		case HIST_TIME: by |= PROFILE_BY_TIME; break;
		case HIST_DSO:
		case HIST_SYM:
		case HIST_SRCLINE:
		case HIST_SRCFILE: by |= PROFILE_BY_CODE; break;
		default: break;
		}
	return by;
}

const char *hist_text(const struct hist *h, const struct hist_row *r, unsigned key, char *buf,
		      size_t size)
{
	const struct names *n = h->names;
	const char *name;

	switch (h->opts.key[key]) {
	case HIST_COMM: return profile_comm(n->profile->trace, (uint32_t)r->value[key], buf, size);
	case HIST_DSO:
	case HIST_SRCLINE:
	case HIST_SRCFILE: return strtab_get(&h->texts, (uint32_t)r->value[key]);
	case HIST_SYM:
		name = names_function(n, r->frame);
		if (name)
			return name;
		snprintf(buf, size, "%#.16llx", (unsigned long long)n->frames.data[r->frame].addr);
		break;
	case HIST_CPU: snprintf(buf, size, "%03u", (unsigned)r->value[key]); break;
	default: snprintf(buf, size, "%llu", (unsigned long long)r->value[key]);
	}
	return buf;
}

void hist_walk_init(struct hist_walk *w, const struct hist *h)
{
	*w = (struct hist_walk){ .h = h, .stamp = mem_alloc((h->rows.n + 1) * sizeof(*w->stamp)) };
}

void hist_walk_free(struct hist_walk *w)
{
	free(w->stamp);
}

void hist_walk(struct hist_walk *w, size_t i, hist_walk_fn *fn, void *ctx)
{
	const struct hist *h = w->h;
	const struct names *n = h->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	uint64_t value[16], first;
	uint32_t row;

	if (e->type != h->opts.type)
		return;
	entry_values(h, e, value);
	site_values(h, n->entry_site[i], value);
	row = find_row(h, value);
	fn(ctx, row, -1);
	if (!h->opts.children || e->chain == PROFILE_NO_CHAIN)
		return;
	w->stamp[row] = ++w->now;
	first = n->chain_first[e->chain];
	for (uint64_t k = n->chain_first[e->chain + 1]; k-- > first;) {
		site_values(h, n->chain_sites[k], value);
		row = find_row(h, value);
		if (w->stamp[row] == w->now)
			continue;
		w->stamp[row] = w->now;
		fn(ctx, row, (int64_t)(k - first));
	}
}
