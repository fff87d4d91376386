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
#include "cmd/ftrace_save.h"
#include "cmd/ftrace_wait.h"
#include "cmd/functool.h"
#include "cmd/input.h"
#include "cmd/uprobe_where.h"
#include "event/text.h"
#include "live/ftrace_capture.h"
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
	const char *begin, *end; /* events as SYSTEM:NAME */
	bool by_cpu;		 /* interrupts belong to CPUs, calls to threads */
	bool graph;		 /* one event has both times */
};

struct call {
	uint64_t time, took;
	int32_t tid;
	char *text;
};

struct nest {
	uint64_t time[MAX_NESTED];
	char *text[MAX_NESTED];
	size_t n;
};

struct timing {
	struct source *s;
	const struct event_type *begin, *end;
	const struct field *call_at, *return_at;
	const struct plan *plan;
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

static int on_event(void *ctx, const struct event *ev)
{
	struct timing *t = ctx;
	const struct event_type *type = &t->s->trace->types[ev->type];
	uint64_t *at;
	struct nest *n;

	if (t->plan->graph && type == t->end) {
		int64_t from, to;

		if (t->call_at && t->return_at &&
		    field_int(t->call_at, ev->raw, ev->raw_size, &from) &&
		    field_int(t->return_at, ev->raw, ev->raw_size, &to))
			add_call(t, ev->time, (uint64_t)(to - from), ev->tid, mem_strdup(""));
		return 0;
	}
	if (type != t->begin && type != t->end)
		return 0;
	at = map_at(&t->index, t->plan->by_cpu ? ev->cpu : (uint32_t)ev->tid);
	if (!*at) {
		vec_push(&t->nests, (struct nest *)mem_alloc(sizeof(struct nest)));
		*at = t->nests.n;
	}
	n = t->nests.data[*at - 1];
	if (type == t->begin) {
		if (n->n < MAX_NESTED) {
			n->time[n->n] = ev->time;
			n->text[n->n++] = text_of(t, ev, type);
		}
	} else if (n->n) {
		n->n--;
		add_call(t, n->time[n->n], ev->time - n->time[n->n], ev->tid, n->text[n->n]);
	} else {
		t->lone++;
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

static const struct event_type *find(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (strcmp(t->types[i].name, name) == 0)
			return &t->types[i];
	return NULL;
}

static int work_out(struct source *s, const struct plan *p, size_t slowest, struct err *e)
{
	struct timing t = { .s = s, .plan = p, .keep = slowest };
	int r;

	t.begin = find(s->trace, p->begin);
	t.end = find(s->trace, p->end);
	if (t.end && p->graph) {
		t.call_at = type_field(t.end, "calltime");
		t.return_at = type_field(t.end, "rettime");
	}
	r = s->read_ordered(s, false, on_event, &t, e);
	if (r >= 0 && t.n) {
		char mean[32], max[32];

		put_ns(t.sum / t.n, mean, sizeof(mean));
		put_ns(t.max, max, sizeof(max));
		print_hist(&t);
		printf("\n%" PRIu64 " calls, %s on average, %s at most\n", t.n, mean, max);
		print_slow(&t);
	} else if (r >= 0) {
		printf("no calls\n");
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

static int add_probes(const struct args *a, struct ftrace *f, const char *group, const char *func,
		      struct err *e)
{
	AUTO_FREE char *in = NULL, *out = NULL, *place = NULL, *full = NULL;
	int r = 0;

	if (a->binary) {
		place = mem_printf("p:call %s:%s", a->binary, func);
		r = uprobe_definition(place, &full, e);
		if (r < 0)
			return r;
		in = mem_printf("%s %s", full, ARGUMENTS);
		out = mem_printf("r:ret %s", strchr(full, ' ') + 1);
	} else {
		in = mem_printf("p:call %s %s", func, ARGUMENTS);
		out = mem_printf("r:ret %s", func);
	}
	r = add_probe(f, group, a->binary != NULL, in, e);
	if (r >= 0)
		r = add_probe(f, group, a->binary != NULL, out, e);
	return r;
}

static void plan_event(struct args *a, const char *name)
{
	vec_push(&ftrace_args_buffer(&a->ft.t)->events, (struct ftrace_event_opt){ .name = name });
}

static int make_plan(struct args *a, const char *func, const char *group, struct plan *p,
		     char **names, struct err *e)
{
	if (strcmp(func, "softirqs") == 0 || strcmp(func, "hardirqs") == 0) {
		bool soft = func[0] == 's';

		*p = (struct plan){ .begin = soft ? "irq:softirq_entry" : "irq:irq_handler_entry",
				    .end = soft ? "irq:softirq_exit" : "irq:irq_handler_exit",
				    .by_cpu = true };
	} else {
		names[0] = mem_printf("%s:call", group);
		names[1] = mem_printf("%s:ret", group);
		*p = (struct plan){ .begin = names[0], .end = names[1] };
	}
	(void)e;
	plan_event(a, p->begin);
	plan_event(a, p->end);
	return 0;
}

static int capture(struct args *a, struct ftrace *f, struct ftrace_wait *w, char **argv,
		   const char *path, struct err *e)
{
	struct ftrace_capture_opts co = { .output = path };
	struct ftrace_capture *c = NULL;
	int r = ftrace_pids(f, e);

	if (r >= 0)
		r = ftrace_capture_start(f, &co, &c, e);
	if (r < 0)
		return r;
	r = ftrace_start(f, e);
	if (r >= 0) {
		if (!argv)
			fprintf(stderr, "Timing %s...%s\n", a->what,
				w->limit_ns ? "" : " Ctrl-C to end.");
		r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
	}
	ftrace_stop(f, NULL);
	ftrace_capture_stop(c);
	a->ft.t.output = path;
	a->ft.t.quiet = true;
	a->ft.t.compression = "none";
	if (r >= 0)
		r = ftrace_save(f, c, &a->ft.t, e);
	ftrace_capture_free(c, false);
	return r;
}

static int time_it(struct args *a, struct ftrace_wait *w, const char *func, char **argv,
		   struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s/kymo-functime-%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
			   (long)getpid());
	AUTO_FREE char *group = mem_printf("kymo_%ld", (long)getpid());
	char *names[2] = { NULL, NULL };
	struct plan p = { 0 };
	struct source *s = NULL;
	struct ftrace f = { 0 };
	int bad, r = make_plan(a, func, group, &p, names, e);

	if (r >= 0)
		r = ftrace_open(&f, &a->ft.t.o, e);
	if (r >= 0 && names[0])
		r = add_probes(a, &f, group, func, e);
	if (r >= 0)
		r = capture(a, &f, w, argv, path, e);
	else if (names[0] && !a->binary)
		functool_hint(e, r);
	if (r >= 0)
		r = tracedat_open(path, &s, e);
	unlink(path);
	bad = ftrace_close(&f);
	if (bad)
		command_note(
			"%d settings could not be put back; kymo reset-ftrace puts all to rest",
			bad);
	if (r >= 0)
		r = work_out(s, &p, a->slowest > 0 ? (size_t)a->slowest : 10, e);
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
	{ "functime -d 10 softirqs", "soft interrupts of ten seconds" },
	{ "functime -x libc malloc ls", "a function of the C library, while ls runs" },
	{ NULL, NULL },
};

const struct command cmd_functime = {
	.name = "functime",
	.group = "Trace",
	.summary = "how long calls of a function take, and the slowest",
	.usage = "[OPTIONS] FUNCTION|softirqs|hardirqs [COMMAND [ARGS]]",
	.about =
		"Probes the entry and the return of a function (kprobes, or uprobes with -x) and "
		"shows a "
		"histogram of the times between, and the slowest calls with their first arguments.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct args),
	.run = run,
	.drop = drop,
};
