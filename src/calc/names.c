/* SPDX-License-Identifier: MIT */
#include "calc/names.h"

#include <string.h>

#include "base/pool.h"
#include "base/str.h"

/* (space, address, caller or not) -> site + 1, open addressing. */
struct site_index {
	uint32_t *slot;
	size_t cap;
};

static uint64_t site_hash(uint32_t space, uint64_t addr, bool caller)
{
	return map_hash(addr * 2 + caller + ((uint64_t)space << 40));
}

static size_t find_slot(const struct site_index *x, const struct name_site *sites, uint32_t space,
			uint64_t addr, bool caller)
{
	size_t at = site_hash(space, addr, caller) & (x->cap - 1);

	for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
		const struct name_site *s = &sites[x->slot[at] - 1];

		if (s->addr == addr && s->space == space && s->caller == caller)
			break;
	}
	return at;
}

struct site_set {
	VEC(struct name_site) v;
	struct site_index x;
};

static void grow(struct site_set *set)
{
	free(set->x.slot);
	set->x.cap = set->x.cap ? set->x.cap * 2 : 4096;
	set->x.slot = mem_alloc(set->x.cap * sizeof(*set->x.slot));
	for (size_t i = 0; i < set->v.n; i++) {
		const struct name_site *s = &set->v.data[i];

		set->x.slot[find_slot(&set->x, set->v.data, s->space, s->addr, s->caller)] =
			(uint32_t)i + 1;
	}
}

static uint32_t add_site(struct site_set *set, uint32_t space, uint64_t addr, uint8_t mode,
			 bool caller)
{
	size_t at;

	if ((set->v.n + 1) * 2 > set->x.cap)
		grow(set);
	at = find_slot(&set->x, set->v.data, space, addr, caller);
	if (!set->x.slot[at]) {
		vec_push(&set->v, (struct name_site){ .addr = addr,
						      .space = space,
						      .mode = mode,
						      .caller = caller,
						      .dso = TASK_DSO_NONE });
		set->x.slot[at] = (uint32_t)set->v.n;
	}
	return set->x.slot[at] - 1;
}

/* Markers in a chain say whose addresses follow. */
static uint8_t mode_of_mark(uint64_t mark, uint8_t before)
{
	switch (mark) {
	case EVENT_CHAIN_KERNEL: return EVENT_MODE_KERNEL;
	case EVENT_CHAIN_USER: return EVENT_MODE_USER;
	case EVENT_CHAIN_HV: return EVENT_MODE_HYPERVISOR;
	case EVENT_CHAIN_GUEST_KERNEL: return EVENT_MODE_GUEST_KERNEL;
	case EVENT_CHAIN_GUEST_USER: return EVENT_MODE_GUEST_USER;
	default: return before;
	}
}

static uint32_t space_for(uint8_t mode, uint32_t space, uint32_t kernel)
{
	return mode == EVENT_MODE_KERNEL ? kernel : space;
}

typedef void frame_fn(void *ctx, uint64_t addr, uint32_t space, uint8_t mode, bool caller);

static void each_frame(const struct profile_chain *c, frame_fn *fn, void *ctx)
{
	uint8_t mode = EVENT_MODE_USER;
	bool first = true; /* of its context: the address itself, not a return address */
	bool any = false;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->ip[i] >= EVENT_CHAIN_MARK) {
			mode = mode_of_mark(c->ip[i], mode);
			first = true;
			continue;
		}
		/* below a system call's entry stands where the program made it: a return address
		 * too */
		fn(ctx, c->ip[i], space_for(mode, c->space, c->kernel), mode, any || !first);
		first = false;
		any = true;
	}
}

struct work {
	struct names *n;
	struct site_set *sets;		/* by worker */
	const struct site_index *index; /* of n->sites, when mapping */
	size_t step;
};

#define STEP 4096 /* chains a job */

struct collect {
	struct site_set *set;
	uint64_t frames;
};

static void collect_frame(void *ctx, uint64_t addr, uint32_t space, uint8_t mode, bool caller)
{
	struct collect *c = ctx;

	add_site(c->set, space, addr, mode, caller);
	c->frames++;
}

static int collect_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	const struct profile *p = w->n->profile;
	size_t end = (job + 1) * STEP < p->chains.n ? (job + 1) * STEP : p->chains.n;

	for (size_t i = job * STEP; i < end; i++) {
		struct collect c = { .set = &w->sets[worker] };

		each_frame(&p->chains.data[i], collect_frame, &c);
		w->n->chain_first[i + 1] = c.frames;
	}
	return 0;
}

struct place {
	const struct work *w;
	uint32_t *out;
};

static void place_frame(void *ctx, uint64_t addr, uint32_t space, uint8_t mode, bool caller)
{
	struct place *p = ctx;
	size_t at = find_slot(p->w->index, p->w->n->sites.data, space, addr, caller);

	(void)mode;
	*p->out++ = p->w->index->slot[at] - 1;
}

static int place_job(void *ctx, size_t job, unsigned worker)
{
	struct work *w = ctx;
	const struct profile *p = w->n->profile;
	size_t end = (job + 1) * STEP < p->chains.n ? (job + 1) * STEP : p->chains.n;

	(void)worker;
	for (size_t i = job * STEP; i < end; i++) {
		struct place pl = { .w = w, .out = w->n->chain_sites + w->n->chain_first[i] };

		each_frame(&p->chains.data[i], place_frame, &pl);
	}
	return 0;
}

/* All distinct sites into n->sites, chains as lists of them. */
static void collect_sites(struct names *n)
{
	const struct profile *p = n->profile;
	unsigned threads = pool_threads();
	AUTO_FREE struct site_set *sets = mem_alloc(threads * sizeof(*sets));
	struct work w = { .n = n, .sets = sets };
	size_t jobs = (p->chains.n + STEP - 1) / STEP;

	n->chain_first = mem_alloc((p->chains.n + 1) * sizeof(*n->chain_first));
	pool_run(jobs, threads, collect_job, &w);
	for (size_t i = 0; i < p->chains.n; i++)
		n->chain_first[i + 1] += n->chain_first[i];
	for (unsigned t = 1; t < threads; t++) {
		vec_each (&sets[t].v, s)
			add_site(&sets[0], s->space, s->addr, s->mode, s->caller);
		vec_free(&sets[t].v);
		free(sets[t].x.slot);
	}
	n->entry_site = mem_alloc(p->entries.n * sizeof(*n->entry_site));
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];

		n->entry_site[i] =
			add_site(&sets[0], space_for((uint8_t)e->mode, e->space, e->kernel), e->ip,
				 (uint8_t)e->mode, false);
	}
	memcpy(&n->sites, &sets[0].v, sizeof(n->sites));
	w.index = &sets[0].x;
	n->chain_sites = mem_alloc((n->chain_first[p->chains.n] + 1) * sizeof(*n->chain_sites));
	pool_run(jobs, threads, place_job, &w);
	free(sets[0].x.slot);
}

/* Which file each site is in, and the address there. */
static void find_dsos(struct names *n)
{
	const struct tasks *tasks = n->profile->trace->tasks;

	vec_each (&n->sites, s) {
		const struct task_map *m = tasks_find(tasks, s->space, s->addr);

		s->dso_addr = s->addr;
		if (!m)
			continue;
		s->dso = m->dso;
		if (s->mode != EVENT_MODE_KERNEL)
			s->dso_addr = s->addr - m->start + m->pgoff;
	}
}

uint32_t names_file(const struct names *n, uint32_t dso, uint8_t mode)
{
	const struct tasks *tasks = n->profile->trace->tasks;
	const struct task_dso *d;
	struct find_want want = { 0 };

	if (mode == EVENT_MODE_KERNEL)
		return SYMBOLS_KERNEL;
	if (dso == TASK_DSO_NONE)
		return SYMBOLS_NONE;
	d = tasks_get_dso(tasks, dso);
	want.path = tasks_dso_path(tasks, dso);
	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	return symbols_dso(n->symbols, &want);
}

/* The files as src/sym knows them, asked for once each. */
static uint32_t symbols_of(struct names *n, uint32_t *by_dso, const struct name_site *s)
{
	if (s->mode == EVENT_MODE_KERNEL)
		return SYMBOLS_KERNEL;
	if (by_dso[s->dso] == SYMBOLS_NONE)
		by_dso[s->dso] = names_file(n, s->dso, s->mode);
	return by_dso[s->dso];
}

static void ask_symbols(struct names *n, unsigned what)
{
	size_t n_dsos = tasks_n_dsos(n->profile->trace->tasks), used = 0;
	AUTO_FREE uint32_t *by_dso = mem_alloc((n_dsos + 1) * sizeof(*by_dso));
	AUTO_FREE struct sym_query *q = mem_alloc(n->sites.n * sizeof(*q));
	AUTO_FREE uint32_t *site_of = mem_alloc(n->sites.n * sizeof(*site_of));

	memset(by_dso, 0xff, n_dsos * sizeof(*by_dso));
	for (size_t i = 0; i < n->sites.n; i++) {
		const struct name_site *s = &n->sites.data[i];

		if (s->dso == TASK_DSO_NONE && s->mode != EVENT_MODE_KERNEL)
			continue;
		/* the call before a return address may be its function's last instruction */
		q[used] = (struct sym_query){ .dso = symbols_of(n, by_dso, s),
					      .addr = s->dso_addr - s->caller };
		site_of[used++] = (uint32_t)i;
	}
	symbols_resolve_many(n->symbols, q, used, what);
	for (size_t i = 0; i < used; i++)
		n->sites.data[site_of[i]].sym = q[i].result;
}

/* Sites of one function become one frame: same file, same start, or same unnamed address. */
static void make_frames(struct names *n)
{
	struct map index = { 0 };

	for (size_t i = 0; i < n->sites.n; i++) {
		struct name_site *s = &n->sites.data[i];
		bool named = s->sym && s->sym->name != SYMBOLS_NONE;
		uint64_t addr = named ? s->sym->start : s->dso_addr;
		uint64_t key =
			map_hash(addr) ^ ((uint64_t)s->dso << 33 | (uint64_t)named << 32 | s->mode);
		uint64_t *at = map_at(&index, key);

		if (!*at) {
			vec_push(&n->frames,
				 (struct name_frame){
					 .name = named ? s->sym->name : SYMBOLS_NONE,
					 .module = s->sym ? s->sym->module : SYMBOLS_NONE,
					 .dso = s->dso,
					 .mode = s->mode,
					 .addr = addr,
				 });
			*at = n->frames.n;
		}
		s->frame = (uint32_t)*at - 1;
	}
	map_free(&index);
}

int names_make(const struct profile *p, struct symbols *symbols, const struct names_opts *o,
	       struct names *ret, struct err *e)
{
	struct names n = { .profile = p, .symbols = symbols };

	(void)e;
	collect_sites(&n);
	find_dsos(&n);
	ask_symbols(&n, SYMBOLS_NAMES | (o->lines ? SYMBOLS_LINES : 0));
	make_frames(&n);
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct name_site *s = &n.sites.data[n.entry_site[i]];

		if (n.frames.data[s->frame].name == SYMBOLS_NONE)
			n.unresolved += p->entries.data[i].count;
	}
	*ret = n;
	return 0;
}

void names_free(struct names *n)
{
	vec_free(&n->sites);
	vec_free(&n->frames);
	free(n->entry_site);
	free(n->chain_sites);
	free(n->chain_first);
}

const char *names_dso(const struct names *n, uint32_t dso)
{
	const char *path, *slash;

	if (dso == TASK_DSO_NONE)
		return "[unknown]";
	path = tasks_dso_path(n->profile->trace->tasks, dso);
	slash = path[0] == '[' ? NULL : strrchr(path, '/');
	return slash ? slash + 1 : path;
}
