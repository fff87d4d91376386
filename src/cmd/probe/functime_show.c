/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "cmd/probe/functime.h"

void functime_keep(struct functime_sums *s, struct functime_call c, const char *comm)
{
	size_t least = 0;

	snprintf(c.comm, sizeof(c.comm), "%s", comm && *comm ? comm : "<...>");
	if (s->slow.n < s->keep) {
		vec_push(&s->slow, c);
		return;
	}
	for (size_t i = 1; i < s->slow.n; i++)
		if (s->slow.data[i].took < s->slow.data[least].took)
			least = i;
	if (s->slow.n && s->slow.data[least].took < c.took) {
		free(s->slow.data[least].text);
		s->slow.data[least] = c;
	} else {
		free(c.text);
	}
}

void functime_add(struct functime_sums *s, uint64_t time, uint64_t took, int32_t tid, char *text)
{
	int b = took ? 64 - __builtin_clzll(took) : 0;

	s->bucket[b < FUNCTIME_BUCKETS ? b : FUNCTIME_BUCKETS - 1]++;
	s->n++;
	s->sum += took;
	s->max = took > s->max ? took : s->max;
	functime_keep(
		s, (struct functime_call){ .time = time, .took = took, .tid = tid, .text = text },
		NULL);
}

void functime_ns(uint64_t ns, char *buf, size_t size)
{
	if (ns >= 1000000000)
		snprintf(buf, size, "%gs", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buf, size, "%.4gms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(buf, size, "%.4gus", (double)ns / 1e3);
	else
		snprintf(buf, size, "%" PRIu64 "ns", ns);
}

static void print_hist(const struct functime_sums *s)
{
	uint64_t most = 0;
	int first = FUNCTIME_BUCKETS, last = -1;

	for (int i = 0; i < FUNCTIME_BUCKETS; i++)
		if (s->bucket[i]) {
			first = i < first ? i : first;
			last = i;
			most = s->bucket[i] > most ? s->bucket[i] : most;
		}
	printf("%12s %12s %10s\n", "FROM", "TO", "CALLS");
	for (int i = first; i <= last; i++) {
		char from[32], to[32];

		functime_ns(i ? 1ull << (i - 1) : 0, from, sizeof(from));
		functime_ns(i < 63 ? 1ull << i : UINT64_MAX, to, sizeof(to));
		printf("%12s %12s %10" PRIu64 " |%-40.*s|\n", from, to, s->bucket[i],
		       (int)(s->bucket[i] * 40 / most), "****************************************");
	}
}

void functime_print(const struct functime_sums *s, const char *what)
{
	char mean[32], max[32];

	functime_ns(s->sum / s->n, mean, sizeof(mean));
	functime_ns(s->max, max, sizeof(max));
	print_hist(s);
	printf("\n%" PRIu64 " %s, %s on average, %s at most\n", s->n, what, mean, max);
}

static int by_took(const void *a, const void *b)
{
	const struct functime_call *x = a, *y = b;

	return x->took > y->took ? -1 : x->took < y->took;
}

void functime_print_slow(struct functime_sums *s)
{
	if (s->slow.n) {
		qsort(s->slow.data, s->slow.n, sizeof(*s->slow.data), by_took);
		printf("\n%12s %14s %-16s %8s  %s\n", "TOOK", "AT", "TASK", "TID", "CALL");
	}
	vec_each (&s->slow, c) {
		char took[32];

		functime_ns(c->took, took, sizeof(took));
		printf("%12s %7" PRIu64 ".%06" PRIu64 " %-16s %8d  %s\n", took,
		       c->time / 1000000000, c->time / 1000 % 1000000, c->comm, c->tid, c->text);
	}
	if (s->lone)
		printf("\n%" PRIu64 " more of which only one end was seen\n", s->lone);
}

void functime_free(struct functime_sums *s)
{
	vec_each (&s->slow, c)
		free(c->text);
	vec_free(&s->slow);
}
