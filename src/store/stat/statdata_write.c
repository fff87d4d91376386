/* SPDX-License-Identifier: MIT */
/* Counts into a perf.data. */
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "store/stat/statdata.h"

/* perf reads only the first map of threads, and a record has 64 KiB. */
#define MAX_THREADS ((UINT16_MAX - 16) / sizeof(struct statdata_thread))

static bool statdata_write_is_clock(const struct count_event *ev)
{
	return ev->kind == SPEC_SOFTWARE && role_is_clock(ev->role);
}

struct perfdata_event *statdata_types(const struct count_set *set, struct arena *a)
{
	struct perfdata_event *types = arena_alloc(a, (set->n + 1) * sizeof(*types));
	uint64_t next = 1;

	for (size_t i = 0; i < set->n; i++) {
		const struct count_event *ev = &set->event[i];
		struct perfdata_event *t = &types[i];
		uint64_t *ids = arena_alloc(a, (ev->n_places + 1) * sizeof(*ids));

		t->name = ev->name;
		t->attr = ev->spec->attr;
		t->attr.size = sizeof(t->attr); /* perf takes 0 for the end of its list */
		t->leader = ev->leader;
		t->group_name = ev->group_name;
		if (ev->kind == SPEC_TOOL) { /* as perf opens them, to have an id */
			t->attr.type = PERF_TYPE_SOFTWARE;
			t->attr.config = PERF_COUNT_SW_DUMMY;
		}
		t->attr.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		t->attr.sample_type = PERF_SAMPLE_IDENTIFIER;
		t->attr.sample_period = 0;
		t->attr.freq = 0;
		/* none for an event that cannot be counted: so readers know */
		for (size_t k = 0; k < ev->n_places && ev->supported; k++)
			ids[t->n_ids++] = next++;
		t->ids = ids;
	}
	return types;
}

static int put_update(struct perfdata_writer *w, enum perfdata_update what,
		      const struct perfdata_event *t, const void *data, size_t n, struct err *e)
{
	uint64_t head[2] = { what, t->ids[0] };

	return perfdata_write_record2(w, PERFDATA_EVENT_UPDATE, head, sizeof(head), data, n, e);
}

/* Unit, scale, cgroup: what an attr does not tell. */
static int put_updates(struct perfdata_writer *w, const struct count_event *ev,
		       const struct perfdata_event *t, struct err *e)
{
	const char *unit = statdata_write_is_clock(ev) ? "msec"
			   : ev->kind == SPEC_TOOL     ? "ns"
						       : ev->unit;
	double scale = statdata_write_is_clock(ev) ? 1e-6 : ev->scale;
	int r = 0;

	if (!t->n_ids)
		return 0;
	if (unit && *unit)
		r = put_update(w, PERFDATA_UPDATE_UNIT, t, unit, strlen(unit) + 1, e);
	if (r == 0 && scale != 1.0)
		r = put_update(w, PERFDATA_UPDATE_SCALE, t, &scale, sizeof(scale), e);
	if (r == 0 && ev->cgroup)
		r = put_update(w, PERFDATA_UPDATE_CGROUP, t, ev->cgroup, strlen(ev->cgroup) + 1, e);
	return r;
}

/* The distinct threads, each with its number, and CPUs of all places. */
struct places {
	struct map thread; /* tid to index + 1 */
	VEC(struct statdata_thread) threads;
	struct map cpu;
	VEC(uint16_t) cpus;
};

static void places_of(const struct count_set *set, struct places *ret)
{
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->event[i].n_places; k++) {
			const struct count_place *p = &set->event[i].place[k];
			uint64_t *thread = map_at(&ret->thread, (uint64_t)p->tid);
			uint64_t *cpu = map_at(&ret->cpu, (uint64_t)p->cpu);

			if (!*thread) {
				struct statdata_thread t = { .tid = (uint64_t)p->tid };

				vec_push(&ret->threads, t);
				*thread = ret->threads.n;
			}
			if (!*cpu)
				vec_push(&ret->cpus, (uint16_t)p->cpu);
			*cpu = 1;
		}
}

static void places_free(struct places *p)
{
	map_free(&p->thread);
	map_free(&p->cpu);
	vec_free(&p->threads);
	vec_free(&p->cpus);
}

static int put_threads(struct perfdata_writer *w, const struct places *p, struct err *e)
{
	uint64_t n = p->threads.n;

	if (p->threads.n > MAX_THREADS) {
		err_set(e, E2BIG,
			"%zu threads do not fit the format of perf.data, which has room for %zu",
			p->threads.n, MAX_THREADS);
		return err_hint(e, "name some of them with -p or -t");
	}
	return perfdata_write_record2(w, PERFDATA_THREAD_MAP, &n, sizeof(n), p->threads.data,
				      n * sizeof(*p->threads.data), e);
}

static int statdata_write_put_cpus(struct perfdata_writer *w, const struct places *p, struct err *e)
{
	uint16_t head[2] = { 0, (uint16_t)p->cpus.n }; /* a list, so many */

	return perfdata_write_record2(w, PERFDATA_CPU_MAP, head, sizeof(head), p->cpus.data,
				      p->cpus.n * sizeof(*p->cpus.data), e);
}

int statdata_write_begin(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, const struct statdata_config *c,
			 const char *(*thread_name)(void *ctx, pid_t tid), void *ctx, struct err *e)
{
	struct {
		uint64_t n;
		struct statdata_term term[3];
	} config = { 3,
		     { { STATDATA_TAG_BY, c->by },
		       { STATDATA_TAG_INTERVAL, c->interval_ms },
		       { STATDATA_TAG_SCALE, !c->no_scale } } };
	struct places p = { 0 };
	int r = 0;

	places_of(set, &p);
	vec_each (&p.threads, t)
		if (thread_name && (int64_t)t->tid > 0)
			snprintf(t->name, sizeof(t->name), "%s", thread_name(ctx, (pid_t)t->tid));
	for (size_t i = 0; r == 0 && i < set->n; i++)
		r = put_updates(w, &set->event[i], &types[i], e);
	if (r == 0)
		r = put_threads(w, &p, e);
	if (r == 0)
		r = statdata_write_put_cpus(w, &p, e);
	if (r == 0)
		r = perfdata_write_record(w, PERFDATA_STAT_CONFIG, 0, &config, sizeof(config), e);
	places_free(&p);
	return r == 0 ? perfdata_write_flush(w, e) : r;
}

int statdata_write_round(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, uint64_t time_ns, bool final,
			 struct err *e)
{
	struct statdata_round round = { final ? STATDATA_FINAL : STATDATA_INTERVAL, time_ns };
	struct places p = { 0 };
	int r = 0;

	places_of(set, &p);
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; r == 0 && k < types[i].n_ids; k++) {
			const struct count_event *ev = &set->event[i];
			const struct count_place *at = &ev->place[k];
			uint64_t *thread = map_find(&p.thread, (uint64_t)at->tid);
			struct statdata_count c = {
				.id = types[i].ids[k],
				.cpu = (uint32_t)at->cpu,
				.thread = thread ? (uint32_t)*thread - 1 : 0,
				.value = ev->count[k].value,
				.enabled = ev->count[k].enabled,
				.running = ev->count[k].running,
			};

			r = perfdata_write_record(w, PERFDATA_STAT, 0, &c, sizeof(c), e);
		}
	places_free(&p);
	if (r == 0)
		r = perfdata_write_record(w, PERFDATA_STAT_ROUND, 0, &round, sizeof(round), e);
	return r == 0 ? perfdata_write_flush(w, e) : r;
}

int statdata_write_usage(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, uint64_t user_ns, uint64_t sys_ns,
			 struct err *e)
{
	uint64_t usage[2] = { user_ns, sys_ns };

	for (size_t i = 0; i < set->n; i++)
		if (types[i].n_ids)
			return put_update(w, PERFDATA_UPDATE_USAGE, &types[i], usage, sizeof(usage),
					  e);
	return 0;
}
