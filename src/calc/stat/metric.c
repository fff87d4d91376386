/* SPDX-License-Identifier: MIT */
/* Derived figures: instructions per cycle, shares of misses, rates, GHz. */
#include "calc/stat/stat.h"

#include <string.h>

#include "base/vec.h"

/* "Of all ...": a miss and what it is a share of. */
static const struct share {
	enum event_role miss, all;
	const char *unit;
} shares[] = {
	{ ROLE_BRANCH_MISSES, ROLE_BRANCHES, "of all branches" },
	{ ROLE_CACHE_MISSES, ROLE_CACHE_REFERENCES, "of all cache refs" },
	{ ROLE_STALLED_FRONTEND, ROLE_CYCLES, "frontend cycles idle" },
	{ ROLE_STALLED_BACKEND, ROLE_CYCLES, "backend cycles idle" },
	{ ROLE_L1D_MISSES, ROLE_L1D_LOADS, "of all L1-dcache accesses" },
	{ ROLE_L1I_MISSES, ROLE_L1I_LOADS, "of all L1-icache accesses" },
	{ ROLE_LLC_MISSES, ROLE_LLC_LOADS, "of all LL-cache accesses" },
	{ ROLE_DTLB_MISSES, ROLE_DTLB_LOADS, "of all dTLB cache accesses" },
	{ ROLE_ITLB_MISSES, ROLE_ITLB_LOADS, "of all iTLB cache accesses" },
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

static bool same_key(const struct stat_row *a, const struct stat_row *b)
{
	return a->tid == b->tid && strcmp(a->key, b->key) == 0;
}

/* The row to relate to: the nearest one before or after, so that a group's own member wins. */
static const struct stat_row *metric_find(const struct related *rel, const struct stat_row *row,
					  enum event_role role)
{
	const struct stat_row *best = NULL;
	ptrdiff_t best_d = 0;

	for (size_t i = 0; i < rel->v.n; i++) {
		const struct stat_row *r = rel->v.data[i];
		ptrdiff_t d = r > row ? r - row : row - r;

		if (r->event->role != role || !same_key(r, row) || !same_cgroup(r, row) ||
		    r->event->excludes != row->event->excludes)
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

		if (row->event->role != shares[i].miss)
			continue;
		all = metric_find(rel, row, shares[i].all);
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

	if (row->event->role != ROLE_INSTRUCTIONS)
		return false;
	cycles = metric_find(rel, row, ROLE_CYCLES);
	if (!cycles || cycles->value <= 0)
		return false;
	row->metric = (struct stat_metric){ STAT_METRIC_RATIO, row->value / cycles->value,
					    "insn per cycle" };
	front = metric_find(rel, row, ROLE_STALLED_FRONTEND);
	back = metric_find(rel, row, ROLE_STALLED_BACKEND);
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
	if (row->event->role == ROLE_CYCLES)
		row->metric = (struct stat_metric){ STAT_METRIC_FIXED, row->value / ns, "GHz" };
	else
		per_second(&row->metric, 1e9 * row->value * row->event->scale / ns);
}

void metric_fill(struct stat_table *t)
{
	struct related rel = { .t = t };

	for (size_t i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->row[i];

		if (r->state == STAT_COUNTED && r->event->role != ROLE_OTHER)
			vec_push(&rel.v, r);
	}
	for (size_t i = 0; i < t->n; i++)
		stat_metric_fill(&rel, &t->row[i]);
	vec_free(&rel.v);
}
