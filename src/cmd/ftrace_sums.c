/* SPDX-License-Identifier: MIT */
/* kymo ftrace hist, mem, and the tables of profile. */
#define OPT_ARGS struct sums_args
#include "cmd/ftrace_sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/ftrace.h"
#include "cmd/input.h"
#include "store/tracedat.h"

struct sums_args {
	const char *input;
	bool by_task;
};

/* Fields of the events that are looked at, found once. */
struct known {
	const struct event_type *type;
	const struct field *field[4];
};

static struct known find(const struct trace *t, const char *event, const char *const *fields)
{
	struct known k = { 0 };

	for (size_t i = 0; i < t->n_types && !k.type; i++)
		if (strcmp(t->types[i].event, event) == 0)
			k.type = &t->types[i];
	for (int i = 0; k.type && i < 4 && fields[i]; i++)
		k.field[i] = type_field(k.type, fields[i]);
	return k;
}

static bool value(const struct known *k, int i, const struct event *ev, int64_t *ret)
{
	return k->field[i] && field_int(k->field[i], ev->raw, ev->raw_size, ret);
}

/* --- tasks --- */

struct task {
	int32_t tid;
	uint64_t ran, switches, since; /* since: 0 when not on a CPU */
	uint64_t woken, wait_n, wait_sum, wait_max;
};

struct tasks_sum {
	struct trace *trace;
	struct known sw, wake, wake_new, irq_in, irq_out, soft_in, soft_out;
	struct map index; /* tid to index + 1; idle tasks are left out */
	VEC(struct task) tasks;
	uint64_t *count;      /* by type */
	struct map irq, soft; /* CPU to when it began */
	uint64_t irq_n, irq_ns, irq_max, soft_n, soft_ns, soft_max;
};

static struct task *task_of(struct tasks_sum *t, int64_t tid)
{
	uint64_t *at;

	if (!tid)
		return NULL;
	at = map_at(&t->index, (uint64_t)tid);
	if (!*at) {
		struct task *n = vec_add(&t->tasks);

		n->tid = (int32_t)tid;
		*at = t->tasks.n;
	}
	return &t->tasks.data[*at - 1];
}

static void switched(struct tasks_sum *t, const struct event *ev)
{
	struct task *task;
	int64_t prev, next;

	if (!value(&t->sw, 0, ev, &prev) || !value(&t->sw, 1, ev, &next))
		return;
	task = task_of(t, prev);
	if (task) {
		task->ran += ev->time - (task->since ? task->since : t->trace->first_time);
		task->since = 0;
		task->switches++;
	}
	task = task_of(t, next);
	if (!task)
		return;
	task->since = ev->time;
	if (task->woken) {
		uint64_t took = ev->time - task->woken;

		task->wait_n++;
		task->wait_sum += took;
		task->wait_max = took > task->wait_max ? took : task->wait_max;
		task->woken = 0;
	}
}

static void span(struct map *began, const struct event *ev, bool in, uint64_t *n, uint64_t *ns,
		 uint64_t *max)
{
	uint64_t *at = map_at(began, ev->cpu), took;

	if (in) {
		*at = ev->time;
		return;
	}
	if (!*at)
		return;
	took = ev->time - *at;
	*at = 0;
	++*n;
	*ns += took;
	*max = took > *max ? took : *max;
}

static int add_task_event(void *ctx, const struct event *ev)
{
	struct tasks_sum *t = ctx;
	const struct event_type *type = &t->trace->types[ev->type];
	int64_t pid;

	t->count[ev->type]++;
	if (type == t->sw.type) {
		switched(t, ev);
	} else if (type == t->wake.type || type == t->wake_new.type) {
		if (value(type == t->wake.type ? &t->wake : &t->wake_new, 0, ev, &pid) &&
		    task_of(t, pid))
			task_of(t, pid)->woken = ev->time;
	} else if (type == t->irq_in.type || type == t->irq_out.type) {
		span(&t->irq, ev, type == t->irq_in.type, &t->irq_n, &t->irq_ns, &t->irq_max);
	} else if (type == t->soft_in.type || type == t->soft_out.type) {
		span(&t->soft, ev, type == t->soft_in.type, &t->soft_n, &t->soft_ns, &t->soft_max);
	}
	return 0;
}

static int by_ran(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return x->ran > y->ran ? -1 : x->ran < y->ran;
}

static const char *comm_of(const struct trace *t, int32_t tid)
{
	uint32_t id = tasks_comm_at(t->tasks, tid, UINT64_MAX - 1);

	return id == STRTAB_NONE ? "<...>" : strtab_get(tasks_strings(t->tasks), id);
}

static void print_tasks(struct tasks_sum *t)
{
	if (t->tasks.n)
		qsort(t->tasks.data, t->tasks.n, sizeof(*t->tasks.data), by_ran);
	printf("%-16s %8s %12s %9s %9s %12s %12s\n", "TASK", "TID", "ON CPU ms", "SWITCHES",
	       "WAKEUPS", "WAITED us", "LONGEST us");
	vec_each (&t->tasks, x)
		printf("%-16s %8d %12.3f %9" PRIu64 " %9" PRIu64 " %12.1f %12.1f\n",
		       comm_of(t->trace, x->tid), x->tid, (double)x->ran / 1e6, x->switches,
		       x->wait_n, x->wait_n ? (double)x->wait_sum / 1e3 / (double)x->wait_n : 0.0,
		       (double)x->wait_max / 1e3);
	if (t->irq_n || t->soft_n) {
		printf("\n%-16s %8s %12s %12s\n", "INTERRUPTS", "COUNT", "TIME ms", "LONGEST us");
		if (t->irq_n)
			printf("%-16s %8" PRIu64 " %12.3f %12.1f\n", "hard", t->irq_n,
			       (double)t->irq_ns / 1e6, (double)t->irq_max / 1e3);
		if (t->soft_n)
			printf("%-16s %8" PRIu64 " %12.3f %12.1f\n", "soft", t->soft_n,
			       (double)t->soft_ns / 1e6, (double)t->soft_max / 1e3);
	}
	printf("\n%-40s %12s\n", "EVENT", "COUNT");
	for (size_t i = 0; i < t->trace->n_types; i++)
		printf("%-40s %12" PRIu64 "\n", t->trace->types[i].name, t->count[i]);
}

int ftrace_sums_tasks(struct source *s, struct err *e)
{
	struct tasks_sum t = { .trace = s->trace };
	int r;

	t.sw = find(s->trace, "sched_switch", (const char *[]){ "prev_pid", "next_pid", NULL });
	t.wake = find(s->trace, "sched_wakeup", (const char *[]){ "pid", NULL });
	t.wake_new = find(s->trace, "sched_wakeup_new", (const char *[]){ "pid", NULL });
	t.irq_in = find(s->trace, "irq_handler_entry", (const char *[]){ NULL });
	t.irq_out = find(s->trace, "irq_handler_exit", (const char *[]){ NULL });
	t.soft_in = find(s->trace, "softirq_entry", (const char *[]){ NULL });
	t.soft_out = find(s->trace, "softirq_exit", (const char *[]){ NULL });
	t.count = mem_alloc((s->trace->n_types + 1) * sizeof(*t.count));
	r = s->read_ordered(s, false, add_task_event, &t, e);
	vec_each (&t.tasks, x)
		if (x->since)
			x->ran += s->trace->last_time - x->since;
	if (r >= 0)
		print_tasks(&t);
	map_free(&t.index);
	map_free(&t.irq);
	map_free(&t.soft);
	vec_free(&t.tasks);
	free(t.count);
	return r < 0 ? r : 0;
}

/* --- hist --- */

struct hist_row {
	uint32_t type;
	int32_t tid; /* -1: all */
	uint64_t n;
};

struct hist {
	struct map index; /* type and tid to index + 1 */
	VEC(struct hist_row) rows;
	bool by_task;
	uint64_t total;
};

static int add_hist(void *ctx, const struct event *ev)
{
	struct hist *h = ctx;
	int32_t tid = h->by_task ? ev->tid : -1;
	uint64_t *at = map_at(&h->index, (uint64_t)ev->type << 32 | (uint32_t)tid);

	if (!*at) {
		vec_push(&h->rows, (struct hist_row){ ev->type, tid, 0 });
		*at = h->rows.n;
	}
	h->rows.data[*at - 1].n++;
	h->total++;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct hist_row *x = a, *y = b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : x->type < y->type ? -1 : x->type > y->type;
}

static int open_input(const struct sums_args *a, int argc, char **argv, struct source **ret,
		      struct err *e)
{
	if (argc > 1 || (argc && a->input))
		return err_set(e, EINVAL, "what is '%s'? one file is read", argv[argc - 1]);
	return tracedat_open(argc ? argv[0] : a->input ? a->input : "trace.dat", ret, e);
}

static int run_hist(void *args, int argc, char **argv, struct err *e)
{
	const struct sums_args *a = args;
	struct hist h = { .by_task = a->by_task };
	struct source *s;
	int r = open_input(a, argc, argv, &s, e);

	if (r < 0)
		return r;
	r = s->read_ordered(s, false, add_hist, &h, e);
	if (h.rows.n)
		qsort(h.rows.data, h.rows.n, sizeof(*h.rows.data), by_count);
	vec_each (&h.rows, x) {
		printf("%6.2f%% %10" PRIu64 "  %s", 100.0 * (double)x->n / (double)h.total, x->n,
		       s->trace->types[x->type].name);
		if (h.by_task)
			printf("  %s-%d", comm_of(s->trace, x->tid), x->tid);
		putchar('\n');
	}
	input_warn(s);
	map_free(&h.index);
	vec_free(&h.rows);
	source_close(s);
	return r < 0 ? r : 0;
}

static const struct opt hist_opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_FLAG('P', "by-task", by_task, "by task as well"),
	OPT_END,
};

const struct command cmd_ftrace_hist = {
	.name = "hist",
	.group = "ftrace",
	.summary = "how often each event of a trace.dat came",
	.usage = "[-P] [FILE]",
	.about = "kymo ftrace record -R 'hist:keys=...' counts in the kernel; kymo ftrace show "
		 "--hist "
		 "shows it.",
	.opts = hist_opts,
	.args_size = sizeof(struct sums_args),
	.run = run_hist,
};

/* --- mem --- */

struct owner {
	int32_t tid;
	uint64_t req, alloc, max_alloc, max_req, allocs, frees;
};

struct block {
	size_t owner; /* index + 1 */
	uint64_t req, alloc;
};

struct mem {
	struct trace *trace;
	struct known alloc[4], release[2];
	struct map owners; /* tid + 1 to index + 1 */
	VEC(struct owner) list;
	struct map blocks; /* address to index + 1 */
	VEC(struct block) all;
};

static struct owner *owner_of(struct mem *m, int32_t tid, size_t *index)
{
	uint64_t *at = map_at(&m->owners, (uint64_t)(uint32_t)tid + 1);

	if (!*at) {
		struct owner *o = vec_add(&m->list);

		o->tid = tid;
		*at = m->list.n;
	}
	*index = *at;
	return &m->list.data[*at - 1];
}

static void allocated(struct mem *m, const struct known *k, const struct event *ev)
{
	int64_t ptr, req, alloc;
	struct owner *o;
	struct block b;
	uint64_t *at;

	if (!value(k, 0, ev, &ptr) || !value(k, 1, ev, &req) || !value(k, 2, ev, &alloc) || !ptr)
		return;
	o = owner_of(m, ev->tid, &b.owner);
	b.req = (uint64_t)req;
	b.alloc = (uint64_t)alloc;
	o->req += b.req;
	o->alloc += b.alloc;
	o->allocs++;
	o->max_alloc = o->alloc > o->max_alloc ? o->alloc : o->max_alloc;
	o->max_req = o->req > o->max_req ? o->req : o->max_req;
	at = map_at(&m->blocks, (uint64_t)ptr);
	if (!*at) {
		vec_push(&m->all, b);
		*at = m->all.n;
	} else {
		m->all.data[*at - 1] = b;
	}
}

static void released(struct mem *m, const struct known *k, const struct event *ev)
{
	int64_t ptr;
	uint64_t *at;
	struct block *b;
	struct owner *o;

	if (!value(k, 0, ev, &ptr) || !(at = map_find(&m->blocks, (uint64_t)ptr)) || !*at)
		return;
	b = &m->all.data[*at - 1];
	if (!b->owner)
		return;
	o = &m->list.data[b->owner - 1];
	o->alloc -= b->alloc;
	o->req -= b->req;
	o->frees++;
	b->owner = 0;
}

static int add_mem(void *ctx, const struct event *ev)
{
	struct mem *m = ctx;
	const struct event_type *type = &m->trace->types[ev->type];

	for (size_t i = 0; i < ARRAY_SIZE(m->alloc); i++)
		if (type == m->alloc[i].type)
			allocated(m, &m->alloc[i], ev);
	for (size_t i = 0; i < ARRAY_SIZE(m->release); i++)
		if (type == m->release[i].type)
			released(m, &m->release[i], ev);
	return 0;
}

static int by_max(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return x->max_alloc > y->max_alloc ? -1 : x->max_alloc < y->max_alloc;
}

static int run_mem(void *args, int argc, char **argv, struct err *e)
{
	static const char *const allocs[] = { "kmalloc", "kmalloc_node", "kmem_cache_alloc",
					      "kmem_cache_alloc_node" };
	static const char *const releases[] = { "kfree", "kmem_cache_free" };
	struct mem m = { 0 };
	struct source *s;
	bool any = false;
	int r = open_input(args, argc, argv, &s, e);

	if (r < 0)
		return r;
	m.trace = s->trace;
	for (size_t i = 0; i < ARRAY_SIZE(allocs); i++) {
		m.alloc[i] = find(s->trace, allocs[i],
				  (const char *[]){ "ptr", "bytes_req", "bytes_alloc", NULL });
		any = any || m.alloc[i].type;
	}
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++)
		m.release[i] = find(s->trace, releases[i], (const char *[]){ "ptr", NULL });
	if (!any) {
		source_close(s);
		err_set(e, ENODATA, "the recording has no allocations");
		return err_hint(e, "kymo ftrace record -e kmem records them");
	}
	r = s->read_ordered(s, false, add_mem, &m, e);
	if (m.list.n)
		qsort(m.list.data, m.list.n, sizeof(*m.list.data), by_max);
	printf("%-16s %8s %10s %12s %12s %12s %12s\n", "TASK", "TID", "ALLOCS", "LEFT bytes",
	       "WASTE bytes", "MAX bytes", "MAX WANTED");
	vec_each (&m.list, o)
		printf("%-16s %8d %10" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
		       " %12" PRIu64 "\n",
		       comm_of(s->trace, o->tid), o->tid, o->allocs, o->alloc, o->alloc - o->req,
		       o->max_alloc, o->max_req);
	input_warn(s);
	map_free(&m.owners);
	map_free(&m.blocks);
	vec_free(&m.list);
	vec_free(&m.all);
	source_close(s);
	return r < 0 ? r : 0;
}

static const struct opt mem_opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_END,
};

const struct command cmd_ftrace_mem = {
	.name = "mem",
	.group = "ftrace",
	.summary = "kernel memory that tasks took, from kmem events of a trace.dat",
	.usage = "[FILE]",
	.opts = mem_opts,
	.args_size = sizeof(struct sums_args),
	.run = run_mem,
};
