/* SPDX-License-Identifier: MIT */
#include "calc/stat/metric.h"

#include <string.h>

#include "base/vec.h"

#define CACHE(c, op, res)                                             \
	(PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##res << 16)

/* "Of all ...": a miss and what it is a share of. */
static const struct share {
	uint32_t type;
	uint64_t miss, all;
	const char *unit;
} shares[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  "of all branches" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES,
	  "of all cache refs" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES,
	  "frontend cycles idle" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES,
	  "backend cycles idle" },
	{ PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), CACHE(L1D, READ, ACCESS),
	  "of all L1-dcache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), CACHE(L1I, READ, ACCESS),
	  "of all L1-icache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), CACHE(LL, READ, ACCESS),
	  "of all LL-cache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), CACHE(DTLB, READ, ACCESS),
	  "of all dTLB cache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), CACHE(ITLB, READ, ACCESS),
	  "of all iTLB cache accesses" },
};

/* The rows others may be related to: few, even when a thousand tracepoints are counted on a hundred
 * CPUs. */
struct related {
	const struct stat_table *t;
	VEC(const struct stat_row *) v;
};

static bool same_cgroup(const struct stat_row *a, const struct stat_row *b)
{
	const char *x = a->event->cgroup, *y = b->event->cgroup;

	return (!x && !y) || (x && y && strcmp(x, y) == 0);
}

static bool same_privilege(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv;
}

static bool same_key(const struct stat_row *a, const struct stat_row *b)
{
	return a->tid == b->tid && strcmp(a->key, b->key) == 0;
}

/* The row to relate to: the nearest one before or after, so that a group's own member wins. */
static const struct stat_row *metric_find(const struct related *rel, const struct stat_row *row,
					  uint32_t type, uint64_t config)
{
	const struct stat_row *best = NULL;
	ptrdiff_t best_d = 0;

	for (size_t i = 0; i < rel->v.n; i++) {
		const struct stat_row *r = rel->v.data[i];
		ptrdiff_t d = r > row ? r - row : row - r;

		if (r->event->attr.type != type || r->event->attr.config != config ||
		    !same_key(r, row) || !same_cgroup(r, row) ||
		    !same_privilege(&r->event->attr, &row->event->attr))
			continue;
		if (!best || d < best_d) {
			best = r;
			best_d = d;
		}
	}
	return best;
}

/* Nanoseconds of CPU time counted under the same key; 0 when no clock was. */
static double cpu_time(const struct related *rel, const struct stat_row *row)
{
	for (size_t i = 0; i < rel->v.n; i++) {
		const struct stat_row *r = rel->v.data[i];

		if (stat_is_clock(r->event) && same_key(r, row) && same_cgroup(r, row))
			return r->value;
	}
	return 0;
}

static void per_second(struct stat_metric *m, double rate)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	unsigned u = 0;

	while (rate >= 1000 && u < 3) {
		rate /= 1000;
		u++;
	}
	*m = (struct stat_metric){ STAT_METRIC_FIXED, rate, units[u] };
}

static bool fill_share(const struct related *rel, struct stat_row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		const struct stat_row *all;

		if (row->event->attr.type != shares[i].type ||
		    row->event->attr.config != shares[i].miss)
			continue;
		all = metric_find(rel, row, shares[i].type, shares[i].all);
		if (all && all->value > 0)
			row->metric = (struct stat_metric){ STAT_METRIC_PERCENT,
							    100 * row->value / all->value,
							    shares[i].unit };
		return all != NULL;
	}
	return false;
}

static bool fill_ipc(const struct related *rel, struct stat_row *row)
{
	const struct stat_row *cycles, *front, *back;
	double stalled;

	if (row->event->attr.type != PERF_TYPE_HARDWARE ||
	    row->event->attr.config != PERF_COUNT_HW_INSTRUCTIONS)
		return false;
	cycles = metric_find(rel, row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (!cycles || cycles->value <= 0)
		return false;
	row->metric = (struct stat_metric){ STAT_METRIC_RATIO, row->value / cycles->value,
					    "insn per cycle" };
	front = metric_find(rel, row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
	back = metric_find(rel, row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
	stalled = front ? front->value : 0;
	if (back && back->value > stalled)
		stalled = back->value;
	if (stalled > 0 && row->value > 0)
		row->metric2 = (struct stat_metric){ STAT_METRIC_RATIO, stalled / row->value,
						     "stalled cycles per insn" };
	return true;
}

static void stat_metric_fill(const struct related *rel, struct stat_row *row)
{
	double ns;

	row->metric = row->metric2 = (struct stat_metric){ 0 };
	if (row->state != STAT_COUNTED)
		return;
	if (stat_is_clock(row->event)) {
		if (rel->t->wall_ns > 0)
			row->metric = (struct stat_metric){ STAT_METRIC_FIXED,
							    row->value / rel->t->wall_ns,
							    "CPUs utilized" };
		return;
	}
	if (fill_ipc(rel, row) || fill_share(rel, row))
		return;
	ns = cpu_time(rel, row);
	if (ns <= 0 || row->event->kind == SPEC_TOOL)
		return;
	if (row->event->attr.type == PERF_TYPE_HARDWARE &&
	    row->event->attr.config == PERF_COUNT_HW_CPU_CYCLES)
		row->metric = (struct stat_metric){ STAT_METRIC_FIXED, row->value / ns, "GHz" };
	else
		per_second(&row->metric, 1e9 * row->value * row->event->scale / ns);
}

void metric_fill(struct stat_table *t)
{
	struct related rel = { .t = t };

	for (size_t i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->row[i];

		if (r->state == STAT_COUNTED &&
		    (stat_is_clock(r->event) || r->event->attr.type == PERF_TYPE_HARDWARE ||
		     r->event->attr.type == PERF_TYPE_HW_CACHE))
			vec_push(&rel.v, r);
	}
	for (size_t i = 0; i < t->n; i++)
		stat_metric_fill(&rel, &t->row[i]);
	vec_free(&rel.v);
}
