/* SPDX-License-Identifier: MIT */
/* kymo functime: how long calls of a function take: a histogram, and the slowest with their
 * arguments. */
#define OPT_ARGS struct args
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/ftrace_run.h"
#include "cmd/functool.h"
#include "cmd/input.h"
#include "cmd/uprobe_where.h"
#include "event/text.h"
#include "event/probe.h"
#include "live/probe_define.h"
#include "store/tracedat.h"

#define BUCKETS 64
#define MAX_NESTED 64

struct args {
	struct functool ft;
	const char *binary, *what;
	int slowest;
};

/* How begin and end are told apart, and what pairs them. */
struct plan {
	const char *name;	 /* of what is no function */
	const char *begin, *end; /* events as SYSTEM:NAME */
	const char *kind;	 /* what tells them apart, as their text has it: "action" */
	bool by_cpu;		 /* interrupts belong to CPUs, calls to threads */
	bool turns; /* the event ends one and begins the next; idle ones do not count */
};

struct call {
	uint64_t time, took;
	int32_t tid;
	char *text;
};

/* One kind of interrupt, or threads of one name. */
struct kind {
	uint64_t n, sum, max;
};

struct nest {
	uint64_t time[MAX_NESTED];
	int32_t tid[MAX_NESTED];
	uint32_t kind[MAX_NESTED];
	char *text[MAX_NESTED];
	size_t n;
};

struct timing {
	struct source *s;
	const struct event_type *begin, *end;
	const struct field *next_pid, *prev_pid, *kind_field;
	const struct ftrace_opts *o;
	const struct plan *plan;
	struct strtab kind_names;
	VEC(struct kind) kinds;
	struct map index; /* thread or CPU to its nest + 1 */
	VEC(struct nest *) nests;
	uint64_t bucket[BUCKETS], n, sum, max, lone;
	VEC(struct call) slow;
	size_t keep;
};

static void keep_slow(struct timing *t, struct call c)
{
	size_t least = 0;

	if (t->slow.n < t->keep) {
		vec_push(&t->slow, c);
		return;
	}
	for (size_t i = 1; i < t->slow.n; i++)
		if (t->slow.data[i].took < t->slow.data[least].took)
			least = i;
	if (t->slow.n && t->slow.data[least].took < c.took) {
		free(t->slow.data[least].text);
		t->slow.data[least] = c;
	} else {
		free(c.text);
	}
}

static void add_call(struct timing *t, uint64_t time, uint64_t took, int32_t tid, char *text)
{
	int b = took ? 64 - __builtin_clzll(took) : 0;

	t->bucket[b < BUCKETS ? b : BUCKETS - 1]++;
	t->n++;
	t->sum += took;
	t->max = took > t->max ? took : t->max;
	keep_slow(t, (struct call){ time, took, tid, text });
}

static char *text_of(const struct timing *t, const struct event *ev, const struct event_type *type)
{
	AUTO_STRBUF b = { 0 };

	text_print(t->s->trace->tep, type, ev->raw, ev->raw_size, &b);
	return mem_strdup(strbuf_str(&b));
}

/* The word behind "action=" or "name=" of its text; of a switch, who comes. */
static uint32_t kind_of(struct timing *t, const struct event *ev, const char *text)
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
	if (n->n == MAX_NESTED)
		return;
	n->time[n->n] = ev->time;
	n->tid[n->n] = tid;
	n->text[n->n] = t->plan->turns ? mem_printf("CPU %u", ev->cpu) : text_of(t, ev, t->begin);
	n->kind[n->n] =
		t->plan->kind && !t->plan->turns ? kind_of(t, ev, n->text[n->n]) : STRTAB_NONE;
	n->n++;
}

static void end_one(struct timing *t, struct nest *n, const struct event *ev)
{
	uint64_t took;
	int64_t tid;

	if (!n->n) {
		t->lone++;
		return;
	}
	n->n--;
	if (t->plan->turns) {
		/* not every switch is seen: another's end is not this one's */
		if (!t->prev_pid || !field_int(t->prev_pid, ev->raw, ev->raw_size, &tid) ||
		    tid != n->tid[n->n]) {
			free(n->text[n->n]);
			t->lone++;
			return;
		}
		/* the name it has now: it may have become another program meanwhile */
		n->kind[n->n] = kind_of(t, ev, n->text[n->n]);
	}
	took = ev->time - n->time[n->n];
	add_kind(t, n->kind[n->n], took);
	add_call(t, n->time[n->n], took, n->tid[n->n], n->text[n->n]);
}

/* With -p, switches to others are seen as well, but not how long they stay. */
static bool wanted(const struct ftrace_opts *o, int64_t tid)
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
	       wanted(t->o, tid);
}

static int on_event(void *ctx, const struct event *ev)
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
		    wanted(t->o, next))
			begin_one(t, n, ev, (int32_t)next);
	} else if (type == t->begin) {
		begin_one(t, n, ev, ev->tid);
	} else {
		end_one(t, n, ev);
	}
	return 0;
}

static int by_took(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->took > y->took ? -1 : x->took < y->took;
}

static void put_ns(uint64_t ns, char *buf, size_t size)
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

static void print_hist(const struct timing *t)
{
	uint64_t most = 0;
	int first = BUCKETS, last = -1;

	for (int i = 0; i < BUCKETS; i++)
		if (t->bucket[i]) {
			first = i < first ? i : first;
			last = i;
			most = t->bucket[i] > most ? t->bucket[i] : most;
		}
	printf("%12s %12s %10s\n", "FROM", "TO", "CALLS");
	for (int i = first; i <= last; i++) {
		char from[32], to[32];

		put_ns(i ? 1ull << (i - 1) : 0, from, sizeof(from));
		put_ns(i < 63 ? 1ull << i : UINT64_MAX, to, sizeof(to));
		printf("%12s %12s %10" PRIu64 " |%-40.*s|\n", from, to, t->bucket[i],
		       (int)(t->bucket[i] * 40 / most), "****************************************");
	}
}

static void print_slow(struct timing *t)
{
	if (!t->slow.n)
		return;
	qsort(t->slow.data, t->slow.n, sizeof(*t->slow.data), by_took);
	printf("\n%12s %14s %-16s %8s  %s\n", "TOOK", "AT", "TASK", "TID", "CALL");
	vec_each (&t->slow, c) {
		uint32_t comm = tasks_comm_at(t->s->trace->tasks, c->tid, c->time);
		char took[32];

		put_ns(c->took, took, sizeof(took));
		printf("%12s %7" PRIu64 ".%06" PRIu64 " %-16s %8d  %s\n", took,
		       c->time / 1000000000, c->time / 1000 % 1000000,
		       comm == STRTAB_NONE ? "<...>"
					   : strtab_get(tasks_strings(t->s->trace->tasks), comm),
		       c->tid, c->text);
	}
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
		put_ns(k->sum, sum, sizeof(sum));
		put_ns(k->sum / k->n, mean, sizeof(mean));
		put_ns(k->max, max, sizeof(max));
		printf("%-24s %10" PRIu64 " %12s %12s %12s\n", strtab_get(&t->kind_names, order[i]),
		       k->n, sum, mean, max);
	}
}

static const struct event_type *find(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (strcmp(t->types[i].name, name) == 0)
			return &t->types[i];
	return NULL;
}

static int work_out(struct source *s, const struct plan *p, const struct args *a, struct err *e)
{
	struct timing t = {
		.s = s, .plan = p, .o = &a->ft.t.o, .keep = a->slowest > 0 ? (size_t)a->slowest : 10
	};
	int r;

	t.begin = find(s->trace, p->begin);
	t.end = find(s->trace, p->end);
	t.next_pid = t.begin && p->turns ? type_field(t.begin, "next_pid") : NULL;
	t.prev_pid = t.begin && p->turns ? type_field(t.begin, "prev_pid") : NULL;
	t.kind_field = t.begin && p->kind ? type_field(t.begin, p->kind) : NULL;
	r = s->read_ordered(s, false, on_event, &t, e);
	if (r >= 0 && t.n) {
		char mean[32], max[32];

		put_ns(t.sum / t.n, mean, sizeof(mean));
		put_ns(t.max, max, sizeof(max));
		print_hist(&t);
		printf("\n%" PRIu64 " %s, %s on average, %s at most\n", t.n,
		       p->turns	 ? "turns on a CPU"
		       : p->kind ? p->name
				 : "calls",
		       mean, max);
		print_kinds(&t);
		print_slow(&t);
		if (t.lone)
			printf("\n%" PRIu64 " more of which only one end was seen\n", t.lone);
	} else if (r >= 0) {
		printf("no %s\n", p->name ? p->name : "calls");
	}
	input_warn(s);
	vec_each (&t.nests, x) {
		for (size_t i = 0; i < (*x)->n; i++)
			free((*x)->text[i]);
		free(*x);
	}
	vec_each (&t.slow, c)
		free(c->text);
	vec_free(&t.nests);
	vec_free(&t.slow);
	vec_free(&t.kinds);
	strtab_free(&t.kind_names);
	map_free(&t.index);
	return r < 0 ? r : 0;
}

/* --- setting up --- */

#if defined(__aarch64__)
#	define ARGUMENTS "a1=%x0 a2=%x1 a3=%x2 a4=%x3"
#else
#	define ARGUMENTS "a1=%di a2=%si a3=%dx a4=%cx"
#endif

static int add_probe(struct ftrace *f, const char *group, bool user, const char *text,
		     struct err *e)
{
	struct raw_probe p = { 0 };
	int r = raw_probe_parse(text, group, &p, e);

	if (r >= 0)
		r = raw_probe_add(f->root, user, &p, f->undo, e);
	raw_probe_free(&p);
	return r;
}

/* Its parameters by name, from BTF or debug info: " fd=%di:s32 ..."; NULL where there are none. */
static char *named_arguments(const char *binary, const char *func)
{
	struct probe_target_opts o = { .exec = binary, .no_debuginfod = true };
	char *words[] = { (char *)func, "$params" };
	struct probe_defs defs = { 0 };
	struct probe_text text = { 0 };
	struct probe_target t;
	struct arena a = { 0 };
	struct err e = { 0 }; /* why there are none is no matter here */
	char *args = NULL;

	if (probe_target_open(&o, &t, &e) < 0)
		return NULL;
	if (probe_parse(&a, words, 2, &text, &e) == 0 &&
	    probe_define(&t, &text, &a, &defs, &e) == 0 && defs.list.n == 1 &&
	    defs.list.data[0].args[0])
		args = mem_strdup(defs.list.data[0].args + 1);
	probe_defs_free(&defs);
	probe_target_close(&t);
	arena_free(&a);
	return args;
}

static int add_probes(const struct args *a, struct ftrace *f, const char *group, const char *func,
		      struct err *e)
{
	AUTO_FREE char *out = NULL, *place = NULL, *full = NULL, *named = NULL;
	const char *last[] = { "", ARGUMENTS }; /* tried last, first */
	bool user = a->binary != NULL;
	int r = 0;

	if (user) {
		AUTO_FREE char *path = NULL;

		place = mem_printf("p:call %s:%s", a->binary, func);
		r = uprobe_definition(place, &full, e);
		if (r < 0)
			return r;
		path = mem_strdup(strchr(full, ' ') + 1);
		if (strchr(path, ':'))
			*strrchr(path, ':') = '\0';
		named = named_arguments(path, func);
	} else {
		full = mem_printf("p:call %s", func);
		named = named_arguments(NULL, func);
	}
	out = mem_printf("r:ret %s", strchr(full, ' ') + 1);
	r = -EINVAL;
	for (int i = named ? 2 : 1; r < 0 && i >= 0; i--) {
		AUTO_FREE char *in = mem_printf("%s %s", full, i == 2 ? named : last[i]);

		r = add_probe(f, group, user, in, i ? NULL : e);
	}
	if (r >= 0)
		r = add_probe(f, group, user, out, e);
	return r;
}

static void plan_event(struct args *a, const char *name)
{
	vec_push(&ftrace_args_buffer(&a->ft.t)->events, (struct ftrace_event_opt){ .name = name });
}

/* What is no function: interrupts, and turns of threads on a CPU. */
static const struct plan others[] = {
	{ .name = "softirqs",
	  .begin = "irq:softirq_entry",
	  .end = "irq:softirq_exit",
	  .kind = "action",
	  .by_cpu = true },
	{ .name = "hardirqs",
	  .begin = "irq:irq_handler_entry",
	  .end = "irq:irq_handler_exit",
	  .kind = "name",
	  .by_cpu = true },
	{ .name = "threads",
	  .begin = "sched:sched_switch",
	  .end = "sched:sched_switch",
	  .kind = "prev_comm",
	  .by_cpu = true,
	  .turns = true },
};

static void make_plan(struct args *a, const char *func, const char *group, struct plan *p,
		      char **names)
{
	for (size_t i = 0; i < ARRAY_SIZE(others) && !a->binary; i++)
		if (strcmp(func, others[i].name) == 0)
			*p = others[i];
	if (!p->begin) {
		names[0] = mem_printf("%s:call", group);
		names[1] = mem_printf("%s:ret", group);
		*p = (struct plan){ .begin = names[0], .end = names[1] };
	}
	plan_event(a, p->begin);
	if (!p->turns)
		plan_event(a, p->end);
}

static int time_it(struct args *a, struct ftrace_wait *w, const char *func, char **argv,
		   struct err *e)
{
	AUTO_FREE char *group = mem_printf("kymo_%ld", (long)getpid());
	AUTO_FREE char *say =
		mem_printf("Timing %s...%s", a->what, w->limit_ns ? "" : " Ctrl-C to end.");
	char *names[2] = { NULL, NULL };
	struct plan p = { 0 };
	struct source *s = NULL;
	struct ftrace f = { 0 };
	int r;

	make_plan(a, func, group, &p, names);
	r = ftrace_open(&f, &a->ft.t.o, e);
	if (r >= 0 && names[0])
		r = add_probes(a, &f, group, func, e);
	if (r < 0 && names[0] && !a->binary)
		functool_hint(e, r);
	a->ft.t.no_filter = true;
	a->ft.t.announce = argv ? NULL : say;
	if (r >= 0)
		r = ftrace_run_read(&a->ft.t, &f, w, argv, &s, e);
	ftrace_run_close(&f);
	if (r >= 0)
		r = work_out(s, &p, a, e);
	source_close(s);
	free(names[0]);
	free(names[1]);
	return r;
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct ftrace_wait w = { 0 };
	char **command = argc > 1 ? argv + 1 : NULL;
	int r;

	if (argc < 1) {
		err_set(e, EINVAL, "which function?");
		return err_hint(e,
				"for instance: kymo functime vfs_read, or kymo functime softirqs");
	}
	a->what = argv[0];
	r = functool_duration(a->ft.seconds, &w.limit_ns, e);
	if (r >= 0)
		r = functool_pids(&a->ft, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0)
		r = time_it(a, &w, argv[0], command, e);
	ftrace_wait_close(&w);
	return r < 0 ? r : w.exit_code;
}

static void drop(void *args)
{
	functool_free(&((struct args *)args)->ft);
}

static const struct opt opts[] = {
	OPT_STR_C('x', "exec", "FILE", binary, "a function of this program or library", "@files"),
	OPT_STR_C('p', "pid", "PID", ft.pid, "only this process", "@pids"),
	OPT_STR('L', "tid", "TID", ft.tid, "only this thread"),
	OPT_STR('d', "duration", "SECONDS", ft.seconds, "time so long"),
	OPT_INT('n', "slowest", "N", slowest, "so many of the slowest calls (default: 10)"),
	OPT_END,
};

static const struct example examples[] = {
	{ "functime vfs_read", "how long reads take, until Ctrl-C" },
	{ "functime -d 10 softirqs", "soft interrupts of ten seconds, by kind" },
	{ "functime -d 1 threads", "how long threads stay on a CPU" },
	{ "functime -x libc malloc ls", "a function of the C library, while ls runs" },
	{ NULL, NULL },
};

const struct command cmd_functime = {
	.name = "functime",
	.group = "Trace",
	.summary = "how long calls of a function take, and the slowest",
	.usage = "[OPTIONS] FUNCTION|softirqs|hardirqs|threads [COMMAND [ARGS]]",
	.about = "Probes the entry and the return of a function (kprobes, or uprobes with -x) and "
		 "shows a "
		 "histogram of the times between, and the slowest calls with their arguments: by "
		 "name where "
		 "the kernel's BTF or the program's debug info tells them, else the first "
		 "registers. "
		 "softirqs and hardirqs are timed by their tracepoints, threads is how long "
		 "threads stay on "
		 "a CPU at a time.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct args),
	.run = run,
	.drop = drop,
};
