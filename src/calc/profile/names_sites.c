/* SPDX-License-Identifier: MIT */
/* The distinct addresses of a profile, and its chains as lists of them. */
#include <string.h>

#include "base/pool.h"
#include "calc/profile/mapped.h"
#include "calc/profile/names.h"

/* What sites are told apart by: with opts.by_file what calc/profile/mapped.h makes of an address.
 */
struct site_key {
	uint64_t at;
	uint32_t space;
	bool caller;
	uint8_t mode;
	uint64_t addr, hash;
	const struct task_map *map; /* when it is known already */
};

/*
 * All that tells a site apart, so that looking for one touches nothing else; and the lowest of
 * its addresses, which stands for it, so that chance does not choose.
 */
struct site_slot {
	uint64_t at, addr;
	uint32_t space;
	uint32_t number; /* 2 * (site + 1) + caller; 0: free */
};

struct site_set {
	VEC(struct name_site) v;
	struct site_slot *slot;
	size_t cap;
	struct mapped mapped; /* without tasks: sites are told apart by process */
};

static uint64_t key_hash(const struct site_key *k)
{
	return map_hash(k->at * 2 + k->caller + ((uint64_t)k->space << 40));
}

static inline void names_sites_key_of(struct site_set *set, uint32_t space, uint64_t addr,
				      uint8_t mode, bool caller, struct site_key *ret)
{
	ret->at = ret->addr = addr;
	ret->space = space;
	ret->caller = caller;
	ret->mode = mode;
	ret->map = NULL;
	if (set->mapped.tasks && mode == EVENT_MODE_USER && space != TASK_SPACE_LABEL) {
		const struct mapped_range *g = mapped_at(&set->mapped, space, addr);

		ret->at = addr - g->shift;
		ret->space = g->key;
		ret->map = g->map;
	}
	ret->hash = key_hash(ret);
}

#define MANY_SLOTS (1u << 20) /* above, memory matters more than how often they are moved */

static void slots_grow(struct site_set *set)
{
	struct site_slot *old = set->slot;
	size_t n = set->cap;

	set->cap = !n ? 1024 : n < MANY_SLOTS ? n * 4 : n * 2;
	set->slot = mem_table(set->cap * sizeof(*set->slot), true);
	for (size_t i = 0; i < n; i++) {
		struct site_key k = { .at = old[i].at, .space = old[i].space };
		size_t at;

		if (!old[i].number)
			continue;
		k.caller = old[i].number & 1;
		at = key_hash(&k) & (set->cap - 1);
		while (set->slot[at].number)
			at = (at + 1) & (set->cap - 1);
		set->slot[at] = old[i];
	}
	free(old);
}

static uint32_t site_new(struct site_set *set, const struct site_key *k, struct site_slot *slot)
{
	vec_push(&set->v, (struct name_site){ .addr = k->addr,
					      .dso_addr = k->at,
					      .map = k->map,
					      .space = k->space,
					      .mode = k->mode,
					      .caller = k->caller,
					      .dso = NAMES_NONE });
	*slot = (struct site_slot){ k->at, k->addr, k->space, (uint32_t)set->v.n * 2 + k->caller };
	return (uint32_t)set->v.n - 1;
}

/* The slot that has it, or a free one where it would be. */
static inline struct site_slot *slot_for(const struct site_set *set, const struct site_key *k)
{
	size_t at = k->hash & (set->cap - 1);
	struct site_slot *s = &set->slot[at];

	while (s->number &&
	       (s->at != k->at || s->space != k->space || (s->number & 1) != k->caller)) {
		at = (at + 1) & (set->cap - 1);
		s = &set->slot[at];
	}
	return s;
}

/* A site that is known was met again. */
static inline uint32_t site_again(struct site_set *set, struct site_slot *s,
				  const struct site_key *k)
{
	uint32_t site = s->number / 2 - 1;

	if (k->addr < s->addr) {
		s->addr = set->v.data[site].addr = k->addr;
		set->v.data[site].map = k->map;
	}
	return site;
}

static uint32_t site_of(struct site_set *set, const struct site_key *k)
{
	struct site_slot *s;

	if ((set->v.n + 1) * 3 > set->cap * 2)
		slots_grow(set);
	s = slot_for(set, k);
	return s->number ? site_again(set, s, k) : site_new(set, k, s);
}

#define AHEAD 16
/* A key will be looked for. */
static void names_sites_fetch(const struct site_set *set, const struct site_key *k)
{
	if (set->cap)
		mem_fetch_to_write(&set->slot[k->hash & (set->cap - 1)]);
}

static const struct {
	uint64_t mark;
	uint8_t mode;
} chain_marks[] = {
	{ EVENT_CHAIN_USER, EVENT_MODE_USER },
	{ EVENT_CHAIN_KERNEL, EVENT_MODE_KERNEL },
	{ EVENT_CHAIN_HV, EVENT_MODE_HYPERVISOR },
	{ EVENT_CHAIN_GUEST_KERNEL, EVENT_MODE_GUEST_KERNEL },
	{ EVENT_CHAIN_GUEST_USER, EVENT_MODE_GUEST_USER },
};

uint8_t names_mode_behind(uint64_t mark, uint8_t before)
{
	for (size_t i = 0; i < ARRAY_SIZE(chain_marks); i++)
		if (chain_marks[i].mark == mark)
			return chain_marks[i].mode;
	return before;
}

uint64_t names_mark_for(uint8_t mode)
{
	for (size_t i = 0; i < ARRAY_SIZE(chain_marks); i++)
		if (chain_marks[i].mode == mode)
			return chain_marks[i].mark;
	return EVENT_CHAIN_USER;
}

static uint32_t space_for(uint8_t mode, uint32_t space, uint32_t kernel)
{
	return mode == EVENT_MODE_KERNEL ? kernel : space;
}

typedef void frame_fn(void *ctx, uint64_t addr, uint32_t space, uint8_t mode, bool caller);

/* The waker that a mark is about; NULL: it is about none. */
static const struct trace_waker *waker_of_mark(const struct trace *t, uint64_t mark, bool woken)
{
	uint64_t n = mark - (woken ? EVENT_CHAIN_WOKEN(0) : EVENT_CHAIN_WAKER(0));

	return n < EVENT_CHAIN_WAKERS && n < t->n_wakers ? &t->wakers[n] : NULL;
}

static void each_frame(const struct trace *t, const struct profile_chain *c, frame_fn *fn,
		       void *ctx)
{
	const struct trace_waker *waker = NULL, *woken;
	uint8_t mode = EVENT_MODE_USER;
	/*
	 * The first address of a part is where it was interrupted, all others are
	 * return addresses. (Behind a system call stands one too, but never at a
	 * function's start, so that it may be looked up as it is.)
	 */
	bool caller = c->headless;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->ip[i] >= EVENT_CHAIN_MARK) {
			mode = names_mode_behind(c->ip[i], mode);
			caller = waker || (c->headless && i == 0);
			woken = waker_of_mark(t, c->ip[i], true);
			if (woken)
				fn(ctx, (uint64_t)(woken - t->wakers), TASK_SPACE_LABEL,
				   EVENT_MODE_UNKNOWN, false);
			if (woken || waker_of_mark(t, c->ip[i], false)) {
				waker = waker_of_mark(t, c->ip[i], false);
				mode = EVENT_MODE_USER;
				caller = waker;
			}
			continue;
		}
		fn(ctx, c->ip[i], space_for(mode, waker ? waker->space : c->space, c->kernel), mode,
		   caller);
		caller = true;
	}
}

struct work {
	struct names *n;
	struct site_set *sets; /* by worker */
	unsigned *worker;      /* by job: whose set its sites are in */
	uint32_t **number;     /* by worker and site of its set: the site in the set of all */
	unsigned threads;
	unsigned merging; /* the worker whose sites are being looked for in the set of all */
};

#define STEP 4096 /* chains a job */

struct collect {
	struct site_set *set;
	uint32_t *out;
};

static void collect_frame(void *ctx, uint64_t addr, uint32_t space, uint8_t mode, bool caller)
{
	struct collect *c = ctx;
	struct site_key k;

	names_sites_key_of(c->set, space, addr, mode, caller, &k);
	*c->out++ = site_of(c->set, &k);
}

static int collect_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	const struct profile *p = w->n->profile;
	size_t end = (job + 1) * STEP < p->chains.n ? (job + 1) * STEP : p->chains.n;

	w->worker[job] = worker;
	for (size_t i = job * STEP; i < end; i++) {
		struct name_chain *to = &w->n->chains[i];
		struct collect c = { .set = &w->sets[worker],
				     .out = w->n->chain_sites + to->first };

		each_frame(p->trace, &p->chains.data[i], collect_frame, &c);
		to->n = (uint32_t)(c.out - w->n->chain_sites - to->first);
	}
	return 0;
}

/* Each worker has numbered the sites its own way. */
static int renumber_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	const struct profile *p = w->n->profile;
	size_t end = (job + 1) * STEP < p->chains.n ? (job + 1) * STEP : p->chains.n;
	const uint32_t *number = w->number[w->worker[job]];

	for (size_t i = job * STEP; number && i < end; i++) {
		const struct name_chain *c = &w->n->chains[i];

		for (uint32_t k = 0; k < c->n; k++)
			w->n->chain_sites[c->first + k] = number[w->n->chain_sites[c->first + k]];
	}
	return 0;
}

/* Nearly always a sample was where its chain begins. */
static bool begins_at(const struct profile_chain *c, const struct profile_entry *e)
{
	uint32_t i = 0;

	while (i < c->n && c->ip[i] >= EVENT_CHAIN_MARK)
		i++;
	return i < c->n && c->ip[i] == e->ip && !c->headless && i < 2;
}

#define LATER UINT32_MAX /* the entry's site is still to be looked for */
#define NEW UINT32_MAX	 /* only another worker has it */

/* That of its chain's first frame, or LATER. */
static uint32_t site_in_chain(const struct names *n, const struct site_set *set,
			      const struct profile_entry *e)
{
	const struct name_site *s;
	uint32_t site;

	if (e->chain == PROFILE_NO_CHAIN || !n->chains[e->chain].n ||
	    !begins_at(&n->profile->chains.data[e->chain], e))
		return LATER;
	site = n->chain_sites[n->chains[e->chain].first];
	s = &set->v.data[site];
	return s->mode == e->mode && !s->caller ? site : LATER;
}

static int entries_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	const struct profile *p = w->n->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;

	for (size_t i = job * STEP; i < end; i++)
		w->n->entry_site[i] = site_in_chain(w->n, &w->sets[0], &p->entries.data[i]);
	return 0;
}

static uint32_t add_site(struct site_set *set, uint32_t space, uint64_t addr, uint8_t mode)
{
	struct site_key k;

	names_sites_key_of(set, space, addr, mode, false, &k);
	return site_of(set, &k);
}

static void collect_entries(struct names *n, const struct names_opts *o, struct work *w)
{
	const struct profile *p = n->profile;

	n->n_more = o->more ? o->n_more : 0;
	n->entry_site = mem_table((p->entries.n + 1) * sizeof(*n->entry_site), false);
	n->more_sites = mem_alloc((p->entries.n * n->n_more + 1) * sizeof(*n->more_sites));
	pool_run((p->entries.n + STEP - 1) / STEP, 0, entries_job, w);
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint64_t addr[4] = { 0 };
		uint8_t mode[4] = { 0 };

		if (n->entry_site[i] == LATER)
			n->entry_site[i] = add_site(
				&w->sets[0], space_for((uint8_t)e->mode, e->space, e->kernel),
				e->ip, (uint8_t)e->mode);
		if (n->n_more)
			o->more(o->ctx, e, addr, mode);
		for (unsigned k = 0; k < n->n_more; k++)
			n->more_sites[i * n->n_more + k] =
				add_site(&w->sets[0], space_for(mode[k], e->space, e->kernel),
					 addr[k], mode[k]);
	}
}

static struct site_key key_again(const struct name_site *s)
{
	struct site_key k = { .at = s->dso_addr,
			      .addr = s->addr,
			      .space = s->space,
			      .caller = s->caller,
			      .mode = s->mode,
			      .map = s->map };

	k.hash = key_hash(&k);
	return k;
}

/* What another worker has met, too: each of its sites is at most one of the set of all. */
static int match_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	struct site_set *set = &w->sets[0], *other = &w->sets[w->merging];
	uint32_t *number = w->number[w->merging];
	size_t end = (job + 1) * STEP < other->v.n ? (job + 1) * STEP : other->v.n;

	for (size_t i = job * STEP; i < end; i++) {
		struct site_key k = key_again(&other->v.data[i]);
		struct site_slot *s;

		number[i] = NEW;
		if (!set->cap)
			continue;
		if (i + AHEAD < end) {
			struct site_key next = key_again(&other->v.data[i + AHEAD]);

			names_sites_fetch(set, &next);
		}
		s = slot_for(set, &k);
		if (s->number)
			number[i] = site_again(set, s, &k);
	}
	return 0;
}

/* Another worker's sites, in its number: what they are in the set of all. */
static void names_sites_merge(struct work *w, unsigned worker)
{
	struct site_set *set = &w->sets[0], *other = &w->sets[worker];
	uint32_t *number = mem_table((other->v.n + 1) * sizeof(*number), false);

	w->number[worker] = number;
	w->merging = worker;
	pool_run((other->v.n + STEP - 1) / STEP, w->threads, match_job, w);
	for (size_t i = 0; i < other->v.n; i++) {
		struct site_key k = key_again(&other->v.data[i]);

		if (number[i] == NEW)
			number[i] = site_of(set, &k);
	}
	vec_free(&other->v);
	mapped_free(&other->mapped);
}

void sites_collect(struct names *n, const struct names_opts *o)
{
	const struct profile *p = n->profile;
	unsigned threads = pool_threads();
	AUTO_FREE struct site_set *sets = mem_alloc(threads * sizeof(*sets));
	AUTO_FREE uint32_t **number = mem_alloc(threads * sizeof(*number));
	size_t jobs = (p->chains.n + STEP - 1) / STEP;
	AUTO_FREE unsigned *worker = mem_alloc((jobs + 1) * sizeof(*worker));
	struct work w = {
		.n = n, .sets = sets, .worker = worker, .number = number, .threads = threads
	};
	uint64_t all = 0;

	n->chains = mem_table((p->chains.n + 1) * sizeof(*n->chains), false);
	for (size_t i = 0; i < p->chains.n; i++) {
		n->chains[i].first = all; /* with room for markers, which stay unused */
		all += p->chains.data[i].n;
	}
	n->chain_sites = mem_table((all + 1) * sizeof(*n->chain_sites), false);
	for (unsigned t = 0; t < threads && o->by_file; t++)
		sets[t].mapped.tasks = p->trace->tasks;
	pool_run(jobs, threads, collect_job, &w);
	for (unsigned t = 1; t < threads; t++)
		names_sites_merge(&w, t);
	pool_run(jobs, threads, renumber_job, &w);
	collect_entries(n, o, &w);
	memcpy(&n->sites, &sets[0].v, sizeof(n->sites));
	for (unsigned t = 0; t < threads; t++) {
		free(number[t]);
		free(sets[t].slot);
	}
	mapped_free(&sets[0].mapped);
}

static bool names_sites_is_named(const struct names *n, uint32_t site)
{
	return n->frames.data[n->sites.data[site].frame].name != SYMBOLS_NONE;
}

/* One chain's sites as they are to be: into out (NULL: only count). */
static uint32_t rewrite_one(const struct names *n, const struct names_opts *o,
			    const struct name_chain *c, uint32_t *out)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t site = n->chain_sites[c->first + i];
		const struct name_site *s = &n->sites.data[site];

		if (o->hide_unresolved && !names_sites_is_named(n, site))
			continue;
		for (uint32_t k = 0; s->inlines && k + 1 < s->sym->nframes; k++, len++)
			if (out)
				out[len] = s->inlines + k;
		if (out)
			out[len] = site;
		len++;
	}
	return len;
}

static void rewrite_all(struct names *n, const struct names_opts *o)
{
	size_t n_chains = n->profile->chains.n;
	struct name_chain *to = mem_alloc((n_chains + 1) * sizeof(*to));
	uint32_t *sites;
	uint64_t all = 0;

	for (size_t i = 0; i < n_chains; i++) {
		to[i].first = all;
		to[i].n = rewrite_one(n, o, &n->chains[i], NULL);
		all += to[i].n;
	}
	sites = mem_grow(NULL, (all + 1) * sizeof(*sites));
	for (size_t i = 0; i < n_chains; i++)
		rewrite_one(n, o, &n->chains[i], sites + to[i].first);
	free(n->chain_sites);
	free(n->chains);
	n->chain_sites = sites;
	n->chains = to;
}

/* Samples below such a function become samples of it. */
static void ignore_callees(struct names *n, const struct names_opts *o)
{
	AUTO_FREE bool *hit = mem_alloc(n->frames.n + 1);

	for (uint32_t f = 0; f < n->frames.n; f++) {
		const char *name = names_function(n, f);

		hit[f] = name && o->ignore_callees(o->ctx, name);
	}
	for (size_t i = 0; i < n->profile->chains.n; i++) {
		struct name_chain *c = &n->chains[i];

		for (uint32_t k = c->n; k-- > 0;) {
			if (!hit[n->sites.data[n->chain_sites[c->first + k]].frame])
				continue;
			c->first += k;
			c->n -= k;
			break;
		}
	}
	for (size_t i = 0; i < n->profile->entries.n; i++) {
		uint32_t chain = n->profile->entries.data[i].chain;

		if (chain != PROFILE_NO_CHAIN && n->chains[chain].n &&
		    hit[n->sites.data[n->chain_sites[n->chains[chain].first]].frame])
			n->entry_site[i] = n->chain_sites[n->chains[chain].first];
	}
}

void sites_rewrite(struct names *n, const struct names_opts *o)
{
	if (o->inlines || o->hide_unresolved)
		rewrite_all(n, o);
	if (o->ignore_callees)
		ignore_callees(n, o);
}
