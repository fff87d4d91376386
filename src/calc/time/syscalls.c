/* SPDX-License-Identifier: MIT */
#include "calc/time/syscalls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static struct syscalls_task *task(struct syscalls *s, uint32_t id)
{
	uint64_t *at = map_at(&s->task_at, id);

	if (!*at) {
		struct syscalls_task *t = vec_add(&s->tasks);

		t->id = id;
		*at = s->tasks.n;
	}
	return &s->tasks.data[*at - 1];
}

static struct syscalls_row *row(struct syscalls *s, const struct trace_sum_key *k)
{
	/* numbers of calls are far below 2^31, even those that make no sense to the kernel */
	uint64_t *at = map_at(&s->row_at, (uint64_t)k->id << 32 | (uint64_t)k->abi << 31 |
						  ((uint32_t)k->nr & 0x7fffffff));

	if (!*at) {
		struct syscalls_task *t = task(s, k->id);
		struct syscalls_row *r = vec_add(&t->rows);

		r->nr = k->nr;
		r->abi = k->abi;
		*at = (uint64_t)(t - s->tasks.data) << 32 | t->rows.n;
	}
	return &s->tasks.data[*at >> 32].rows.data[(uint32_t)*at - 1];
}

void syscalls_add(void *s, const struct trace_sum_key *key, const struct trace_sum *v)
{
	trace_sum_add(&row(s, key)->sum, v);
}

void syscalls_add_errors(void *s, const struct trace_error_key *key, uint64_t n)
{
	struct syscalls_row *r = row(s, &key->call);

	vec_each (&r->errors, e)
		if (e->error == key->error) {
			e->count += n;
			return;
		}
	vec_push(&r->errors, (struct syscalls_error){ key->error, n });
}

void syscalls_add_unfinished(struct syscalls *s, const struct trace_sum_key *key, uint64_t ns)
{
	struct syscalls_row *r = row(s, key);

	r->unfinished++;
	if (ns > r->unfinished_ns)
		r->unfinished_ns = ns;
}

void syscalls_add_call(struct syscalls *s, const struct trace_sum_key *key, uint64_t ns,
		       int64_t ret)
{
	unsigned __int128 square = (unsigned __int128)ns * ns;
	struct trace_sum v = { .calls = 1,
			       .ns = ns,
			       .min = ns,
			       .max = ns,
			       .square = { (uint64_t)square, (uint64_t)(square >> 64) } };

	v.errors = ret < 0 && ret >= -4095;
	syscalls_add(s, key, &v);
	if (v.errors)
		syscalls_add_errors(
			s, &(struct trace_error_key){ .call = *key, .error = (uint32_t)-ret }, 1);
}

void syscalls_name(struct syscalls *s, uint32_t id, const char *comm)
{
	struct syscalls_task *t = task(s, id);

	memcpy(t->comm, comm, strnlen(comm, sizeof(t->comm) - 1));
}

static int syscalls_by_time(const void *x, const void *y)
{
	const struct syscalls_row *a = x, *b = y;
	int d = SORT_BY(b->sum.ns, a->sum.ns);

	d = d ? d : SORT_BY(a->nr, b->nr);
	return d ? d : SORT_BY(a->abi, b->abi);
}

static int by_calls(const void *x, const void *y)
{
	const struct syscalls_task *a = x, *b = y;
	int d = SORT_BY(b->calls, a->calls);

	return d ? d : SORT_BY(a->id, b->id);
}

static int syscalls_by_count(const void *x, const void *y)
{
	const struct syscalls_error *a = x, *b = y;
	int d = SORT_BY(b->count, a->count);

	return d ? d : SORT_BY(a->error, b->error);
}

void syscalls_finish(struct syscalls *s)
{
	vec_each (&s->tasks, t) {
		vec_each (&t->rows, r) {
			t->calls += r->sum.calls;
			t->errors += r->sum.errors;
			t->ns += r->sum.ns;
			if (r->errors.n)
				qsort(r->errors.data, r->errors.n, sizeof(*r->errors.data),
				      syscalls_by_count);
		}
		s->calls += t->calls;
		if (t->rows.n)
			qsort(t->rows.data, t->rows.n, sizeof(*t->rows.data), syscalls_by_time);
	}
	if (s->tasks.n)
		qsort(s->tasks.data, s->tasks.n, sizeof(*s->tasks.data), by_calls);
}

void syscalls_free(struct syscalls *s)
{
	vec_each (&s->tasks, t) {
		vec_each (&t->rows, r)
			vec_free(&r->errors);
		vec_free(&t->rows);
	}
	vec_free(&s->tasks);
	map_free(&s->task_at);
	map_free(&s->row_at);
}

double syscalls_deviation(const struct trace_sum *v)
{
	double n = (double)v->calls, mean = n > 0 ? (double)v->ns / n : 0;
	double square = (double)v->square[1] * 18446744073709551616.0 + (double)v->square[0];
	double variance = n > 1 ? (square - n * mean * mean) / (n - 1) : 0;

	return mean > 0 && variance > 0 ? 100 * sqrt(variance / n) / mean : 0;
}
