/* SPDX-License-Identifier: MIT */
/* Timed calls summed up and shown; out of a recording, too: calls, interrupts, turns on a CPU. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "cmd/probe/functime.h"
#include "cmd/share/input.h"
#include "event/match.h"
#include "event/text.h"
#include "live/ftrace/ftrace.h"

#define MAX_NESTED 64

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

/* What has begun on a CPU or in a thread. */
struct nest {
	struct begun {
		uint64_t time;
		int32_t tid;
		uint32_t kind;
		char *text;
	} begun[MAX_NESTED];
	size_t n;
};

struct timing {
	struct source *s;
	const struct event_type *begin, *end;
	const struct field *next_pid, *prev_pid, *kind_field;
	const struct ftrace_opts *o;
	const struct functime_plan *plan;
	struct strtab kind_names;
	VEC(struct kind) kinds;
	struct map index; /* thread or CPU to its nest + 1 */
	VEC(struct nest *) nests;
	struct functime_sums sums;
};

static char *functime_pairs_text_of(const struct timing *t, const struct event *ev,
				    const struct event_type *type)
{
	AUTO_STRBUF b = { 0 };
	const char *text, *rest;

	text_print(t->s->trace->tep, type, ev->raw, ev->raw_size, &b);
	text = strbuf_str(&b);
	rest = t->plan->function && *text == '(' ? strchr(text, ')') : NULL;
	return rest ? mem_printf("(%s%s", t->plan->function, rest) : mem_strdup(text);
}

/* The word behind "action=" or "name=" of its text; of a switch, who comes. */
static uint32_t functime_pairs_kind_of(struct timing *t, const struct event *ev, const char *text)
{
	AUTO_FREE char *key = mem_printf("%s=", t->plan->kind);
	const char *at = strstr(text, key);
	const void *name;
	size_t n;

	if (t->plan->turns)
		return t->kind_field && field_bytes(t->kind_field, ev->raw, ev->raw_size, &name, &n)
			       ? strtab_addn(&t->kind_names, name, strnlen(name, n))
			       : STRTAB_NONE;
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

static void begin_one(struct timing *t, struct nest *n, const struct event *ev, int32_t tid)
{
	char *text;

	if (n->n == MAX_NESTED)
		return;
	text = t->plan->turns ? mem_printf("CPU %u", ev->cpu)
			      : functime_pairs_text_of(t, ev, t->begin);
	n->begun[n->n++] = (struct begun){ ev->time, tid,
					   t->plan->kind && !t->plan->turns
						   ? functime_pairs_kind_of(t, ev, text)
						   : STRTAB_NONE,
					   text };
}

static void end_one(struct timing *t, struct nest *n, const struct event *ev)
{
	struct begun *b;
	int64_t tid;

	if (!n->n) {
		t->sums.lone++;
		return;
	}
	b = &n->begun[--n->n];
	if (t->plan->turns) {
		/* not every switch is seen: another's end is not this one's */
		if (!t->prev_pid || !field_int(t->prev_pid, ev->raw, ev->raw_size, &tid) ||
		    tid != b->tid) {
			free(b->text);
			t->sums.lone++;
			return;
		}
		/* the name it has now: it may have become another program meanwhile */
		b->kind = functime_pairs_kind_of(t, ev, b->text);
	}
	add_kind(t, b->kind, ev->time - b->time);
	functime_add(&t->sums, b->time, ev->time - b->time, b->tid, b->text);
}

/* With -p, switches to others are seen as well, but not how long they stay. */
static bool functime_pairs_wanted(const struct ftrace_opts *o, int64_t tid)
{
	vec_each (&o->pids, p)
		if (*p == tid)
			return true;
	return !o->pids.n;
}

/* Somebody leaves the CPU of whom it is not known since when. */
static bool begun_unseen(const struct timing *t, const struct event *ev)
{
	int64_t tid;

	return t->prev_pid && field_int(t->prev_pid, ev->raw, ev->raw_size, &tid) && tid &&
	       functime_pairs_wanted(t->o, tid);
}

static int functime_pairs_on_event(void *ctx, const struct event *ev)
{
	struct timing *t = ctx;
	const struct event_type *type = &t->s->trace->types[ev->type];
	uint64_t *at;
	struct nest *n;
	int64_t next;

	if (type != t->begin && type != t->end)
		return 0;
	at = map_at(&t->index, t->plan->by_cpu ? ev->cpu : (uint32_t)ev->tid);
	if (!*at) {
		vec_push(&t->nests, (struct nest *)mem_alloc(sizeof(struct nest)));
		*at = t->nests.n;
	}
	n = t->nests.data[*at - 1];
	if (t->plan->turns) {
		if (n->n || begun_unseen(t, ev))
			end_one(t, n, ev);
		if (t->next_pid && field_int(t->next_pid, ev->raw, ev->raw_size, &next) && next &&
		    functime_pairs_wanted(t->o, next))
			begin_one(t, n, ev, (int32_t)next);
	} else if (type == t->begin) {
		begin_one(t, n, ev, ev->tid);
	} else {
		end_one(t, n, ev);
	}
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

static const struct event_type *functime_pairs_find(const struct trace *t, const char *name)
{
	uint32_t i = match_find(t, name);

	return i == MATCH_NONE ? NULL : &t->types[i];
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
	int r;

	t.begin = functime_pairs_find(s->trace, p->begin);
	t.end = functime_pairs_find(s->trace, p->end);
	t.next_pid = t.begin && p->turns ? type_field(t.begin, "next_pid") : NULL;
	t.prev_pid = t.begin && p->turns ? type_field(t.begin, "prev_pid") : NULL;
	t.kind_field = t.begin && p->kind ? type_field(t.begin, p->kind) : NULL;
	r = s->read_ordered(s, false, functime_pairs_on_event, &t, e);
	if (r >= 0 && t.sums.n) {
		functime_print(&t.sums, p->turns ? "turns on a CPU" : p->kind ? p->name : "calls");
		print_kinds(&t);
		name_tasks(&t);
		functime_print_slow(&t.sums);
	} else if (r >= 0) {
		printf("no %s\n", p->name ? p->name : "calls");
	}
	input_warn(s);
	vec_each (&t.nests, x) {
		for (size_t i = 0; i < (*x)->n; i++)
			free((*x)->begun[i].text);
		free(*x);
	}
	vec_free(&t.nests);
	functime_free(&t.sums);
	vec_free(&t.kinds);
	strtab_free(&t.kind_names);
	map_free(&t.index);
	return r < 0 ? r : 0;
}
