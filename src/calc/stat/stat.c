/* SPDX-License-Identifier: MIT */
#include "calc/stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "kern/cpu.h"

bool stat_is_clock(const struct count_event *e)
{
	return e->kind == SPEC_SOFTWARE && role_is_clock(e->role);
}

static struct count_cpu where(const struct count_set *set, int cpu)
{
	struct cpu_place here;

	if (cpu < 0 || (set->cpu && (size_t)cpu >= set->n_cpus))
		return (struct count_cpu){ 0 };
	if (set->cpu)
		return set->cpu[cpu];
	here = cpu_place(cpu);
	return (struct count_cpu){ here.socket, here.die, here.core, here.node };
}

/* Under which heading a count falls: its CPU, core, socket, node or thread. */
static void stat_group_key(const struct stat_opts *o, const struct count_set *set,
			   const struct count_place *p, char *key, size_t size)
{
	struct count_cpu at = { 0 };

	if (o->by != STAT_GLOBAL && o->by != STAT_CPU && o->by != STAT_THREAD)
		at = where(set, p->cpu);
	switch (o->by) {
	case STAT_UNSET:
	case STAT_GLOBAL: key[0] = '\0'; break;
	case STAT_CPU: snprintf(key, size, "CPU%d", p->cpu); break;
	case STAT_CORE:
		snprintf(key, size, "S%d-D%d-C%d", at.socket, at.die < 0 ? 0 : at.die, at.core);
		break;
	case STAT_DIE: snprintf(key, size, "S%d-D%d", at.socket, at.die < 0 ? 0 : at.die); break;
	case STAT_SOCKET: snprintf(key, size, "S%d", at.socket); break;
	case STAT_NODE: snprintf(key, size, "N%d", at.node < 0 ? 0 : at.node); break;
	case STAT_THREAD: {
		const char *name = o->thread_name ? o->thread_name(o->thread_ctx, p->tid) : "";

		snprintf(key, size, "%.31s-%d", name, p->tid);
		break;
	}
	}
}

/* A counter that had to share its hardware ran only part of the time: what would it have counted?
 */
static double scaled(const struct stat_opts *o, const struct count *c)
{
	/* the kernel does not keep the times of a root cgroup's events; their values are right */
	if (!c->running || c->running >= c->enabled || o->no_scale)
		return (double)c->value;
	return (double)c->value * ((double)c->enabled / (double)c->running);
}

static void stat_add(const struct stat_opts *o, struct stat_row *row, const struct count *c)
{
	row->value += scaled(o, c);
	row->enabled += (double)c->enabled;
	row->running += (double)c->running;
	row->places++;
}

static void stat_finish(struct stat_row *row)
{
	if (!row->event->supported)
		row->state = STAT_NOT_SUPPORTED;
	else
		row->state = row->running == 0 && row->value == 0 ? STAT_NOT_COUNTED : STAT_COUNTED;
}

/* The rows of one event, one for each key its places fall under. */
struct rows {
	VEC(struct stat_row) v;
};

static struct stat_row *row_for(struct rows *out, size_t first, const struct count_event *ev,
				const char *key, pid_t tid)
{
	struct stat_row *row;

	for (size_t k = out->v.n; k-- > first;)
		if (out->v.data[k].tid == tid && strcmp(out->v.data[k].key, key) == 0)
			return &out->v.data[k];
	row = vec_add(&out->v);
	row->event = ev;
	row->tid = tid;
	snprintf(row->key, sizeof(row->key), "%s", key);
	return row;
}

/* Sum an event's places under their keys; rows from first on may be there already (like PMUs are
 * one sum). */
static void rows_of(const struct stat_opts *o, const struct count_set *set,
		    const struct count_event *ev, struct rows *out, size_t first)
{
	if (!ev->n_places)
		row_for(out, first, ev, "", -1);
	for (size_t i = 0; i < ev->n_places; i++) {
		char key[sizeof(out->v.data->key)];

		stat_group_key(o, set, &ev->place[i], key, sizeof(key));
		stat_add(o,
			 row_for(out, first, ev, key, o->by == STAT_THREAD ? ev->place[i].tid : -1),
			 &ev->count[i]);
	}
	for (size_t k = first; k < out->v.n; k++)
		stat_finish(&out->v.data[k]);
}

/* Threads that count most first. */
static int busiest_first(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->tid - y->tid;
}

static void sort_threads(struct rows *rows, bool hide_idle)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->v.n; i++)
		if (!hide_idle || rows->v.data[i].value > 0 ||
		    rows->v.data[i].state == STAT_NOT_SUPPORTED)
			rows->v.data[n++] = rows->v.data[i];
	rows->v.n = n;
	if (n)
		qsort(rows->v.data, n, sizeof(*rows->v.data), busiest_first);
}

/* Per core, socket ...: all events of one key together, as perf shows them. Stable, few keys. */
static void group_by_key(struct rows *rows)
{
	struct rows out = { 0 };

	for (size_t i = 0; i < rows->v.n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(rows->v.data[k].key, rows->v.data[i].key) == 0;
		for (size_t k = i; k < rows->v.n && !seen; k++)
			if (strcmp(rows->v.data[k].key, rows->v.data[i].key) == 0)
				vec_push(&out.v, rows->v.data[k]);
	}
	vec_free(&rows->v);
	*rows = out;
}

void stat_summarise(const struct count_set *set, const struct stat_opts *o, struct stat_table *ret)
{
	AUTO_FREE size_t *start = mem_alloc((set->n + 1) * sizeof(*start));
	struct rows rows = { 0 };

	for (size_t i = 0; i < set->n; i++) {
		size_t first = (size_t)set->event[i].first;

		start[i] = !o->no_merge && first < i ? start[first] : rows.v.n;
		rows_of(o, set, &set->event[i], &rows, start[i]);
	}
	if (o->by == STAT_THREAD)
		sort_threads(&rows, o->hide_idle);
	else if (o->by != STAT_GLOBAL && o->by != STAT_CPU)
		group_by_key(&rows);
	*ret = (struct stat_table){
		.row = rows.v.data, .n = rows.v.n, .runs = 1, .wall_ns = o->wall_ns
	};
	metric_fill(ret);
}

static int most_first(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return strcmp(x->event->name, y->event->name);
}

size_t stat_busiest(struct stat_table *t)
{
	size_t n = 0, was = t->n;

	for (size_t i = 0; i < was;) {
		size_t begin = n;

		for (; i < was && t->row[i].event->of_pattern; i++)
			if (t->row[i].state != STAT_COUNTED || t->row[i].value > 0)
				t->row[n++] = t->row[i];
		if (n > begin)
			qsort(&t->row[begin], n - begin, sizeof(*t->row), most_first);
		for (; i < was && !t->row[i].event->of_pattern; i++)
			t->row[n++] = t->row[i];
	}
	t->n = n;
	return was - n;
}

/* Standard error of the mean. */
static double noise_of(const double *x, size_t n, double mean)
{
	double sum = 0;

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1) / (double)n);
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : 0;
}

void stat_average(const struct stat_table *runs, size_t n, struct stat_table *ret)
{
	const struct stat_table *last = &runs[n - 1]; /* the one whose events are still there */
	struct stat_table t = { .n = last->n, .runs = (unsigned)n };
	AUTO_FREE double *x = mem_alloc((n ? n : 1) * sizeof(*x));

	t.row = mem_alloc(t.n * sizeof(*t.row));
	for (size_t i = 0; i < t.n; i++) {
		struct stat_row *row = &t.row[i];
		size_t counted = 0;

		*row = last->row[i];
		row->enabled = row->running = 0;
		for (size_t k = 0; k < n; k++) {
			x[k] = runs[k].row[i].value;
			row->enabled += runs[k].row[i].enabled / (double)n;
			row->running += runs[k].row[i].running / (double)n;
			counted += runs[k].row[i].state == STAT_COUNTED;
		}
		row->value = mean_of(x, n);
		row->noise = row->value ? 100 * noise_of(x, n, row->value) / row->value : 0;
		if (counted)
			row->state = STAT_COUNTED;
	}
	t.run_wall_ns = mem_alloc((n ? n : 1) * sizeof(*t.run_wall_ns));
	for (size_t k = 0; k < n; k++)
		t.run_wall_ns[k] = runs[k].wall_ns;
	t.wall_ns = mean_of(t.run_wall_ns, n);
	t.wall_noise_ns = noise_of(t.run_wall_ns, n, t.wall_ns);
	metric_fill(&t);
	*ret = t;
}

void stat_table_free(struct stat_table *t)
{
	free(t->row);
	free(t->run_wall_ns);
	*t = (struct stat_table){ 0 };
}
