/* SPDX-License-Identifier: MIT */
/* kymo ftrace hist and mem. */
#define OPT_ARGS struct sums_args
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/ftrace.h"
#include "cmd/ftrace_profile.h"
#include "cmd/input.h"
#include "store/tracedat.h"

struct sums_args {
	const char *input;
	bool all_tasks;
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

static const char *comm_of(const struct trace *t, int32_t tid)
{
	uint32_t id = tasks_comm_at(t->tasks, tid, UINT64_MAX - 1);

	return id == STRTAB_NONE ? "<...>" : strtab_get(tasks_strings(t->tasks), id);
}

/* --- hist --- */

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
	struct source *s = NULL;
	struct out out;
	int r = open_input(a, argc, argv, &s, e);

	if (r < 0)
		return r;
	out_init(&out, STDOUT_FILENO);
	r = ftrace_hist_print(s, a->all_tasks, &out, e);
	out_flush(&out);
	out_free(&out);
	input_warn(s);
	source_close(s);
	return r;
}

static const struct opt hist_opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_FLAG('P', "all-tasks", all_tasks, "all tasks together"),
	OPT_END,
};

const struct command cmd_ftrace_hist = {
	.name = "hist",
	.group = "ftrace",
	.summary = "how often each event or function of a trace.dat came, with stacks",
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
	struct source *s = NULL;
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
