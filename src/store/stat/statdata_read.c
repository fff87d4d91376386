/* SPDX-License-Identifier: MIT */
/*
 * Counts out of a perf.data, perf's or kymo's.
 *
 * The records are gone through once in the order of the file. Which CPUs and
 * threads an event was counted on is known when its records have come, so
 * events gain places as the first round goes by.
 */
#include "store/stat/statdata.h"

#include "store/perfdata/impl.h"

struct event_places {
	struct map at; /* thread << 32 | cpu to index + 1 */
	VEC(struct count_place) place;
	VEC(struct count) now, last, delta;
};

struct reader {
	struct statdata d;
	struct perfdata *pd;
	struct event_places *event;
	VEC(struct statdata_thread) threads;
	struct map names; /* tid to index in threads + 1 */
	bool any;
	/* while reading */
	struct perfdata_walk *walk;
	statdata_fn *fn;
	void *ctx;
	struct err *e;
};

static enum spec_kind statdata_read_kind_of(const struct event_type *t)
{
	switch (t->class) {
	case TYPE_HARDWARE: return SPEC_HARDWARE;
	case TYPE_SOFTWARE:
		/* perf's stand-ins for what it counts itself */
		return type_is_dummy(t) && strstr(t->name, "_time") ? SPEC_TOOL : SPEC_SOFTWARE;
	case TYPE_TRACEPOINT: return SPEC_TRACEPOINT;
	case TYPE_CACHE: return SPEC_CACHE;
	case TYPE_RAW: return SPEC_RAW;
	case TYPE_BREAKPOINT: return SPEC_BREAKPOINT;
	default: return SPEC_PMU;
	}
}

/* Like PMUs (uncore_imc_0, _1 ...) that counted the same are one sum. */
static int first_like(const struct count_set *set, const struct event_type *types, size_t i)
{
	const struct count_event *ev = &set->event[i];

	for (size_t k = 0; ev->kind == SPEC_PMU && k < i; k++) {
		const struct count_event *other = &set->event[k];

		if (other->kind == SPEC_PMU && types[k].pmu != types[i].pmu &&
		    types[k].code == types[i].code && strcmp(other->name, ev->name) == 0 &&
		    other->cgroup == ev->cgroup)
			return other->first;
	}
	return (int)i;
}

static void statdata_read_describe(struct reader *r)
{
	struct perfdata *pd = r->pd;
	struct count_set *set = &r->d.set;

	set->n = pd->trace.n_types;
	set->event = arena_alloc(&pd->trace.arena, (set->n + 1) * sizeof(*set->event));
	set->cpu = pd->cpus;
	set->n_cpus = pd->n_cpus;
	r->event = mem_alloc((set->n + 1) * sizeof(*r->event));
	for (size_t i = 0; i < set->n; i++) {
		const struct event_type *t = &pd->trace.types[i];
		const struct perfdata_type *from = &pd->types.data[i];
		struct count_event *ev = &set->event[i];

		*ev = (struct count_event){
			.name = t->name,
			.unit = t->count_unit,
			.cgroup = from->cgroup,
			.scale = from->scale,
			.kind = statdata_read_kind_of(t),
			.role = t->role,
			.excludes = t->excludes,
			.leader = t->leader,
			.group_name = t->group_name,
		};
		ev->first = first_like(set, pd->trace.types, i);
	}
}

/*
 * perf has renumbered these: per cache came in 6.4, per cluster in 6.9. The
 * recorder's version tells which it means.
 */
static enum stat_by meant(const struct perfdata *pd, uint64_t by)
{
	const char *version = pd->trace.info.version;
	unsigned major = 0, minor = 0, added;

	if (!version || sscanf(version, "%u.%u", &major, &minor) != 2)
		major = 0;
	added = major > 6 || (major == 6 && minor >= 9) ? 2 : major == 6 && minor >= 4 ? 1 : 0;
	if (by > STAT_DIE && by <= STAT_DIE + added)
		return STAT_GLOBAL; /* there are no such sums here */
	by -= by > STAT_DIE ? added : 0;
	return by <= STAT_NODE ? (enum stat_by)by : STAT_UNSET;
}

static void take_config(struct reader *r, const struct perfdata_event_header *h)
{
	const struct statdata_term *term = (const void *)((const uint64_t *)(h + 1) + 1);
	size_t n = h->size >= 16 ? (h->size - 16u) / sizeof(*term) : 0;
	uint64_t said = h->size >= 16 ? *(const uint64_t *)(h + 1) : 0;

	for (size_t i = 0; i < n && i < said; i++) {
		if (term[i].tag == STATDATA_TAG_BY)
			r->d.config.by = meant(r->pd, term[i].value);
		else if (term[i].tag == STATDATA_TAG_INTERVAL)
			r->d.config.interval_ms = term[i].value;
		else if (term[i].tag == STATDATA_TAG_SCALE)
			r->d.config.no_scale = !term[i].value;
	}
	r->d.has_config = true;
}

static void take_threads(struct reader *r, const struct perfdata_event_header *h)
{
	const struct statdata_thread *t = (const void *)((const uint64_t *)(h + 1) + 1);
	size_t n = h->size >= 16 ? (h->size - 16u) / sizeof(*t) : 0;
	uint64_t said = h->size >= 16 ? *(const uint64_t *)(h + 1) : 0;

	if (r->threads.n)
		return; /* the first is the one that counts refer to */
	for (size_t i = 0; i < n && i < said; i++) {
		struct statdata_thread copy = t[i];

		copy.name[sizeof(copy.name) - 1] = '\0';
		vec_push(&r->threads, copy);
		*map_at(&r->names, (uint32_t)copy.tid) = r->threads.n;
	}
}

static void take_count(struct reader *r, const struct perfdata_event_header *h)
{
	const struct statdata_count *c = (const void *)(h + 1);
	const uint64_t *type;
	struct event_places *ev;
	uint64_t *at;

	if (h->size < sizeof(*h) + sizeof(*c))
		return;
	type = map_find(&r->pd->ids, c->id);
	if (!type || *type > r->d.set.n || (r->threads.n && c->thread >= r->threads.n)) {
		r->pd->trace.losses.bad_records += !r->fn; /* the first time */
		return;
	}
	ev = &r->event[*type - 1];
	at = map_at(&ev->at, (uint64_t)c->thread << 32 | c->cpu);
	if (!*at) {
		struct count_place place = { (int)c->cpu, -1 };

		if (r->threads.n)
			place.tid = (pid_t)r->threads.data[c->thread].tid;
		vec_push(&ev->place, place);
		vec_add(&ev->now);
		vec_add(&ev->last);
		vec_add(&ev->delta);
		*at = ev->place.n;
	}
	ev->now.data[*at - 1] = (struct count){ c->value, c->enabled, c->running };
	r->any = true;
}

/* The set shows what was counted since the round before. */
static void set_counts(struct reader *r, bool totals)
{
	for (size_t i = 0; i < r->d.set.n; i++) {
		struct event_places *from = &r->event[i];
		struct count_event *to = &r->d.set.event[i];

		to->place = from->place.data;
		to->n_places = from->place.n;
		to->count = totals ? from->now.data : from->delta.data;
		to->supported = from->place.n > 0;
	}
}

static int take_round(struct reader *r, const struct perfdata_event_header *h)
{
	const struct statdata_round *round = (const void *)(h + 1);

	if (h->size < sizeof(*h) + sizeof(*round))
		return 0;
	for (size_t i = 0; i < r->d.set.n; i++)
		for (size_t k = 0; k < r->event[i].now.n; k++) {
			struct count *now = &r->event[i].now.data[k];
			struct count *last = &r->event[i].last.data[k];

			r->event[i].delta.data[k] = (struct count){ now->value - last->value,
								    now->enabled - last->enabled,
								    now->running - last->running };
			*last = *now;
		}
	set_counts(r, false);
	r->any = true;
	return r->fn ? r->fn(r->ctx, &r->d, round->time, round->type == STATDATA_FINAL, r->e) : 0;
}

static int statdata_read_on_record(void *ctx, const struct perfdata_view *v)
{
	struct reader *r = ctx;
	const struct perfdata_event_header *h;

	if (v->header.type < PERFDATA_THREAD_MAP || v->header.type > PERFDATA_STAT_ROUND)
		return 0;
	h = perfdata_walk_record(r->walk, v);
	switch (h->type) {
	case PERFDATA_THREAD_MAP: take_threads(r, h); return 0;
	case PERFDATA_STAT_CONFIG: take_config(r, h); return 0;
	case PERFDATA_STAT: take_count(r, h); return 0;
	case PERFDATA_STAT_ROUND: return take_round(r, h);
	default: return 0;
	}
}

static void statdata_read_forget(struct reader *r)
{
	for (size_t i = 0; i < r->d.set.n; i++) {
		map_free(&r->event[i].at);
		vec_free(&r->event[i].place);
		vec_free(&r->event[i].now);
		vec_free(&r->event[i].last);
		vec_free(&r->event[i].delta);
	}
	vec_free(&r->threads);
	map_free(&r->names);
}

int statdata_each(struct statdata *d, statdata_fn *fn, void *ctx, struct err *e)
{
	struct reader *r = d->impl;
	int code;

	statdata_read_forget(r);
	r->fn = fn;
	r->ctx = ctx;
	r->e = e;
	r->walk = perfdata_walk_new(&r->pd->source);
	code = perfdata_walk_each(r->walk, statdata_read_on_record, r);
	perfdata_walk_free(r->walk);
	return code;
}

bool statdata_in(const struct source *s)
{
	const struct perfdata *pd = s->impl;

	return s->close == perfdata_close && pd->has_counts;
}

int statdata_open(struct source *s, struct statdata **ret, struct err *e)
{
	struct reader *r = mem_alloc(sizeof(*r));
	struct perfdata *pd = s->impl;

	r->pd = pd;
	r->d.impl = r;
	r->d.config.by = STAT_UNSET;
	r->d.user_s = pd->has_usage ? (double)pd->user_ns / 1e9 : -1;
	r->d.sys_s = pd->has_usage ? (double)pd->sys_ns / 1e9 : -1;
	statdata_read_describe(r);
	statdata_each(&r->d, NULL, NULL, e);
	if (!r->any) {
		statdata_close(&r->d);
		err_set(e, ENODATA, "there are no counts in it");
		return s->trace->n_samples
			       ? err_hint(e, "it holds samples: kymo report shows them")
			       : err_hint(e, "kymo stat record makes files with counts");
	}
	*ret = &r->d;
	return 0;
}

void statdata_totals(struct statdata *d)
{
	set_counts(d->impl, true);
}

const char *statdata_thread(const struct statdata *d, pid_t tid)
{
	const struct reader *r = d->impl;
	const uint64_t *at = map_find(&r->names, (uint32_t)tid);

	return at ? r->threads.data[*at - 1].name : "";
}

void statdata_close(struct statdata *d)
{
	struct reader *r;

	if (!d)
		return;
	r = d->impl;
	statdata_read_forget(r);
	free(r->event);
	free(r);
}

/* --- counts as events: a track for each event, CPU and thread --- */

struct counting {
	event_fn *fn;
	void *ctx;
	uint64_t from; /* when the interval began */
};

/* What would have been counted, had the counter not to share its hardware. */
static double count_scaled(const struct statdata *d, const struct count *c)
{
	if (d->config.no_scale || !c->running || c->running >= c->enabled)
		return (double)c->value;
	return (double)c->value * (double)c->enabled / (double)c->running;
}

static int tell_round(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e)
{
	struct counting *c = ctx;
	int r = 0;

	for (size_t i = 0; i < d->set.n && time_ns > c->from; i++) {
		const struct count_event *of = &d->set.event[i];

		for (size_t k = 0; k < of->n_places && r == 0; k++) {
			const struct count_place *at = &of->place[k];
			if (of->count[k].enabled && !of->count[k].running)
				continue; /* others had the hardware all the time */
			struct event_side side = {
				.by_pid = -1,
				.by_tid = -1,
				.other_pid = -1,
				.other_tid = -1,
				.value = count_scaled(d, &of->count[k]) * of->scale,
				.length = time_ns - c->from,
			};
			struct event ev = {
				.kind = EVENT_COUNTER,
				.type = (uint32_t)i,
				.have = EVENT_HAVE_TIME | (at->cpu >= 0 ? EVENT_HAVE_CPU : 0) |
					(at->tid > 0 ? EVENT_HAVE_TASK : 0),
				.time = c->from,
				.pid = at->tid,
				.tid = at->tid,
				.cpu = (uint32_t)at->cpu,
				.side = &side,
			};

			r = c->fn(c->ctx, &ev);
		}
	}
	c->from = time_ns > c->from ? time_ns : c->from;
	return r;
}

int statdata_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	/* an event at 0 would be one of which nobody knows when it was */
	struct counting c = { .fn = fn, .ctx = ctx, .from = 1 };
	struct statdata *d;
	int r;

	if (!all)
		return 0;
	r = statdata_open(s, &d, e);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	r = statdata_each(d, tell_round, &c, e);
	statdata_close(d);
	return r;
}
