/* SPDX-License-Identifier: MIT */
/* Timed calls summed up and shown; out of a recording, too: calls, interrupts, turns on a CPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "calc/slices/slices.h"
#include "cmd/probe/functime.h"
#include "cmd/share/input.h"
#include "event/text.h"
#include "live/ftrace/ftrace.h"

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

static void functime_add(struct functime_sums *s, uint64_t time, uint64_t took, int32_t tid,
			 char *text)
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

static void functime_ns(uint64_t ns, char *buf, size_t size)
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

/* --- from a recording of beginnings and ends --- */

/* One kind of interrupt, or threads of one name. */
struct kind {
	uint64_t n, sum, max;
};

/* What has begun. */
struct opening {
	char *text;
	uint32_t kind;
	int32_t tid;
};

struct timing {
	struct source *s;
	const struct ftrace_opts *o;
	const struct functime_plan *plan;
	struct slices *slices;
	struct strtab kind_names;
	VEC(struct kind) kinds;
	struct functime_sums sums;
};

static int64_t pid_of(const struct timing *t, const struct event *ev, const char *name)
{
	const struct field *f = type_field(&t->s->trace->types[ev->type], name);
	int64_t v;

	return f && field_int(f, ev->raw, ev->raw_size, &v) ? v : 0;
}

static char *functime_pairs_text_of(const struct timing *t, const struct event *ev)
{
	AUTO_STRBUF b = { 0 };
	const char *text, *rest;

	text_print(t->s->trace->tep, &t->s->trace->types[ev->type], ev->raw, ev->raw_size, &b);
	text = strbuf_str(&b);
	rest = t->plan->function && *text == '(' ? strchr(text, ')') : NULL;
	return rest ? mem_printf("(%s%s", t->plan->function, rest) : mem_strdup(text);
}

/* The word behind "action=" or "name=" of its text; of a switch, who comes. */
static uint32_t functime_pairs_kind_of(struct timing *t, const struct event *ev, const char *text)
{
	AUTO_FREE char *key = mem_printf("%s=", t->plan->kind);
	const char *at = strstr(text, key);
	const struct field *f;
	const void *name;
	size_t n;

	if (t->plan->turns) {
		f = type_field(&t->s->trace->types[ev->type], t->plan->kind);
		return f && field_bytes(f, ev->raw, ev->raw_size, &name, &n)
			       ? strtab_addn(&t->kind_names, name, strnlen(name, n))
			       : STRTAB_NONE;
	}
	if (!at)
		return STRTAB_NONE;
	at += strlen(key);
	return strtab_addn(&t->kind_names, at, strcspn(at, " ]"));
}

static void add_kind(struct timing *t, uint32_t id, uint64_t took)
{
	struct kind *k;

	if (id == STRTAB_NONE)
		return;
	while (t->kinds.n <= id)
		vec_add(&t->kinds);
	k = &t->kinds.data[id];
	k->n++;
	k->sum += took;
	k->max = took > k->max ? took : k->max;
}

/* With -p, switches to others are seen as well, but not how long they stay. */
static bool functime_pairs_wanted(const struct ftrace_opts *o, int64_t tid)
{
	vec_each (&o->pids, p)
		if (*p == tid)
			return true;
	return !o->pids.n;
}

static uint64_t functime_pairs_begin(void *ctx, const struct event *ev, uint32_t slot)
{
	struct timing *t = ctx;
	struct opening *n = mem_alloc(sizeof(*n));

	n->kind = STRTAB_NONE;
	n->tid = ev->tid;
	if (t->plan->turns) {
		n->tid = (int32_t)pid_of(t, ev, "next_pid");
		n->text = mem_printf("CPU %u", ev->cpu);
		return (uintptr_t)n;
	}
	n->text = functime_pairs_text_of(t, ev);
	if (t->plan->kind)
		n->kind = functime_pairs_kind_of(t, ev, n->text);
	return (uintptr_t)n;
}

static bool functime_pairs_hide(void *ctx, const struct event *ev)
{
	const struct timing *t = ctx;
	int64_t next = pid_of(t, ev, "next_pid");

	return !next || !functime_pairs_wanted(t->o, next);
}

/* Not every switch is seen: another's end is not this one's. */
static bool functime_pairs_fits(void *ctx, const struct slice *s, const struct event *ev)
{
	const struct opening *n = (const void *)(uintptr_t)s->note;

	return pid_of(ctx, ev, "prev_pid") == n->tid;
}

static int functime_pairs_slice(void *ctx, const struct slice *s)
{
	struct timing *t = ctx;
	struct opening *n = (void *)(uintptr_t)s->note;
	int64_t prev;

	switch (s->kind) {
	case SLICE_LONE_END: /* of a switch: somebody left of whom it is not known since when */
		prev = t->plan->turns ? pid_of(t, s->end, "prev_pid") : 1;
		t->sums.lone += !t->plan->turns || (prev && functime_pairs_wanted(t->o, prev));
		return 0;
	case SLICE_MISFIT: t->sums.lone++; break;
	case SLICE_WHOLE:
		if (t->plan->turns) /* the name it has now: it may be another program meanwhile */
			n->kind = functime_pairs_kind_of(t, s->end, n->text);
		add_kind(t, n->kind, slice_time(s));
		functime_add(&t->sums, s->from, slice_time(s), n->tid, n->text);
		n->text = NULL;
		break;
	default: break;
	}
	free(n->text);
	free(n);
	return 0;
}

static void print_kinds(const struct timing *t)
{
	uint32_t order[256];
	size_t n = t->kinds.n < ARRAY_SIZE(order) ? t->kinds.n : ARRAY_SIZE(order);

	if (!n)
		return;
	/* few, and most of them in order already */
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at && t->kinds.data[order[at - 1]].sum < t->kinds.data[i].sum; at--)
			order[at] = order[at - 1];
		order[at] = (uint32_t)i;
	}
	printf("\n%-24s %10s %12s %12s %12s\n", t->plan->turns ? "THREAD" : "KIND", "COUNT",
	       "TOTAL", "AVERAGE", "LONGEST");
	for (size_t i = 0; i < n; i++) {
		const struct kind *k = &t->kinds.data[order[i]];
		char sum[32], mean[32], max[32];

		if (!k->n) /* seen to begin only */
			continue;
		functime_ns(k->sum, sum, sizeof(sum));
		functime_ns(k->sum / k->n, mean, sizeof(mean));
		functime_ns(k->max, max, sizeof(max));
		printf("%-24s %10" PRIu64 " %12s %12s %12s\n", strtab_get(&t->kind_names, order[i]),
		       k->n, sum, mean, max);
	}
}

static void name_tasks(struct timing *t)
{
	vec_each (&t->sums.slow, c)
		snprintf(c->comm, sizeof(c->comm), "%s",
			 tasks_name_or(t->s->trace->tasks, c->tid, c->time, "<...>"));
}

int functime_pairs(struct source *s, const struct functime_plan *p, const struct ftrace_opts *o,
		   size_t keep, struct err *e)
{
	struct timing t = { .s = s, .plan = p, .o = o, .sums.keep = keep };
	struct slices_opts so = { .begin = functime_pairs_begin,
				  .hide = p->turns ? functime_pairs_hide : NULL,
				  .fits = p->turns ? functime_pairs_fits : NULL,
				  .fn = functime_pairs_slice,
				  .may_lack = true,
				  .ctx = &t };
	AUTO_FREE char *text =
		mem_printf("%s,%s by %s", p->begin, p->end, p->by_cpu ? "cpu" : "tid");
	struct slice_rule rule;
	int r = slice_rule_parse(text, &rule, e);

	if (r < 0)
		return r;
	rule.again = SLICE_NESTS;
	r = slices_new(s->trace, &rule, &so, &t.slices, e);
	if (r == 0)
		r = s->read_ordered(s, false, slices_add, t.slices, e);
	if (r >= 0 && t.sums.n) {
		functime_print(&t.sums, p->turns ? "turns on a CPU" : p->kind ? p->name : "calls");
		print_kinds(&t);
		name_tasks(&t);
		functime_print_slow(&t.sums);
	} else if (r >= 0) {
		printf("no %s\n", p->name ? p->name : "calls");
	}
	input_warn(s);
	if (t.slices)
		slices_finish(t.slices, s->trace->last_time); /* gives back what had begun */
	slices_free(t.slices);
	slice_rule_free(&rule);
	functime_free(&t.sums);
	vec_free(&t.kinds);
	strtab_free(&t.kind_names);
	return r < 0 ? r : 0;
}
