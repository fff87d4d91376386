/* SPDX-License-Identifier: MIT */
/* kymo functime: how long calls of a function take: a histogram, and the slowest with their
 * arguments. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "cmd/command.h"
#include "cmd/ftrace/run.h"
#include "cmd/probe/functime.h"
#include "cmd/probe/functool.h"
#include "cmd/probe/probe.h"
#include "cmd/share/input.h"
#include "event/probe.h"
#include "live/ftrace/functions.h"
#include "live/probe/functime.h"

struct args {
	struct functool ft;
	const char *binary, *what;
	int slowest;
	bool probes;
};

static size_t probe_functime_keep(const struct args *a)
{
	return a->slowest > 0 ? (size_t)a->slowest : 10;
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

/*
 * A probe with its parameters by name, from BTF or debug info: "p:call PLACE fd=%di:s32 ..."; NULL
 * where there are none. Code that was not optimised has them in the stack, but not at its first
 * instruction: the place is where they are.
 */
static char *named_probe(const char *binary, const char *func)
{
	struct probe_target_opts o = { .exec = binary, .no_debuginfod = true };
	char *words[] = { (char *)func, "$params" };
	struct probe_defs defs = { 0 };
	struct probe_text text = { 0 };
	struct probe_target t;
	struct arena a = { 0 };
	struct err e = { 0 }; /* why there are none is no matter here */
	char *probe = NULL;

	if (probe_target_open(&o, &t, &e) < 0)
		return NULL;
	if (probe_parse(&a, words, 2, &text, &e) == 0 &&
	    probe_define(&t, &text, &a, &defs, &e) == 0 && defs.list.n == 1 &&
	    defs.list.data[0].args[0])
		probe = mem_printf("p:call %s%s", defs.list.data[0].place, defs.list.data[0].args);
	probe_defs_free(&defs);
	probe_text_free(&text);
	probe_target_close(&t);
	arena_free(&a);
	return probe;
}

/* *full: at the beginning, or where that is the same for less. *named: with parameters, or NULL. */
static int user_probes(const char *binary, const char *func, char **full, char **named,
		       struct err *e)
{
	AUTO_FREE char *cheap = mem_printf("p:call %s:%s", binary, func);
	AUTO_FREE char *first = mem_printf("p:call %s:%s+0", binary, func);
	AUTO_FREE char *start = NULL, *path = NULL;
	int r = uprobe_definition(cheap, full, e);
	size_t n;

	if (r >= 0)
		r = uprobe_definition(first, &start, e);
	if (r < 0)
		return r;
	path = mem_strdup(strchr(*full, ' ') + 1);
	if (strchr(path, ':'))
		*strrchr(path, ':') = '\0';
	*named = named_probe(path, func);
	n = strlen(start);
	if (*named && strncmp(*named, start, n) == 0 && (*named)[n] == ' ') {
		char *moved = mem_printf("%s%s", *full, *named + n);

		free(*named);
		*named = moved;
	}
	return 0;
}

static int add_probes(const struct args *a, struct ftrace *f, const char *group, const char *func,
		      struct err *e)
{
	AUTO_FREE char *out = NULL, *full = NULL, *named = NULL;
	const char *last[] = { "", ARGUMENTS }; /* tried last, first */
	bool user = a->binary != NULL;
	int r = 0;

	if (user) {
		r = user_probes(a->binary, func, &full, &named, e);
		if (r < 0)
			return r;
	} else {
		full = mem_printf("p:call %s", func);
		named = named_probe(NULL, func);
	}
	out = mem_printf("r:ret %s", strchr(full, ' ') + 1);
	r = -EINVAL;
	if (named)
		r = add_probe(f, group, user, named, NULL);
	for (int i = 1; r < 0 && i >= 0; i--) {
		AUTO_FREE char *in = mem_printf("%s %s", full, last[i]);

		r = add_probe(f, group, user, in, i ? NULL : e);
	}
	if (r >= 0)
		r = add_probe(f, group, user, out, e);
	return r;
}

/* What is no function: interrupts, and turns of threads on a CPU. */
static const struct functime_plan others[] = {
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

/* The one that is meant, also in the singular; NULL for a function. */
static const struct functime_plan *other(const struct args *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(others) && !a->binary; i++) {
		size_t n = strlen(others[i].name);

		if (strcmp(a->what, others[i].name) == 0 ||
		    (strlen(a->what) == n - 1 && strncmp(a->what, others[i].name, n - 1) == 0))
			return &others[i];
	}
	return NULL;
}

static const char *how(const struct args *a)
{
	return other(a) ? "" : a->binary ? " (uprobe and uretprobe)" : " (kprobe and kretprobe)";
}

static int time_it(struct args *a, struct ftrace_wait *w, const char *func, char **argv,
		   struct err *e)
{
	AUTO_FREE char *group = mem_printf("kymo_%ld", (long)getpid());
	AUTO_FREE char *say = mem_printf("Timing %s%s...%s", a->what, how(a),
					 w->limit_ns || argv ? "" : " Ctrl-C to end.");
	AUTO_FREE char *call = mem_printf("%s:call", group), *ret = mem_printf("%s:ret", group);
	AUTO_FREE char *kprobes = NULL;
	const struct functime_plan *known = other(a);
	struct functime_plan p = { .function = a->what, .begin = call, .end = ret };
	struct source *s = NULL;
	struct ftrace f = { 0 };
	int r;

	p = known ? *known : p;
	functool_event(&a->ft, p.begin, NULL);
	if (!p.turns)
		functool_event(&a->ft, p.end, NULL);
	r = ftrace_open(&f, &a->ft.t.o, e);
	if (r >= 0 && !known)
		r = add_probes(a, &f, group, func, e);
	kprobes = f.root ? mem_printf("%s/kprobe_events", f.root) : mem_strdup("");
	if (r == -ENOENT && !known && !a->binary && file_exists(kprobes))
		ftrace_no_function(f.root, func, e);
	else if (r < 0 && !known && !a->binary)
		functool_hint(e, r);
	a->ft.t.no_filter = true;
	a->ft.t.announce = argv ? NULL : say;
	if (argv && r >= 0)
		fprintf(stderr, "%s\n", say);
	if (r >= 0)
		r = ftrace_run_read(&a->ft.t, &f, w, argv, &s, e);
	ftrace_run_close(&f);
	if (r >= 0)
		r = functime_pairs(s, &p, &a->ft.t.o, probe_functime_keep(a), e);
	source_close(s);
	return r;
}

/* --- with programs at entry and exit --- */

static void take_slow(const struct functime *t, const struct functime_cpu *c, const char *func,
		      struct functime_sums *sums)
{
	for (uint32_t i = 0; i < c->n_slow && i < FUNCTIME_SLOW; i++) {
		AUTO_STRBUF text = { 0 };

		strbuf_printf(&text, "(%s)", func);
		functime_args(t, &c->slow[i], &text);
		functime_keep(sums,
			      (struct functime_call){ .time = c->slow[i].time,
						      .took = c->slow[i].took,
						      .tid = (int32_t)c->slow[i].tid,
						      .text = mem_strdup(strbuf_str(&text)) },
			      c->slow[i].comm);
	}
}

static int show_sums(const struct functime *t, const struct args *a, struct err *e)
{
	struct functime_sums sums = { .keep = probe_functime_keep(a) };
	AUTO_FREE struct functime_cpu *all = NULL;
	uint64_t missed = functime_missed(t);
	size_t n = 0;
	int r = functime_read(t, &all, &n, e);

	for (size_t i = 0; i < n && r == 0; i++) {
		for (size_t k = 0; k < FUNCTIME_BUCKETS; k++)
			sums.bucket[k] += all[i].bucket[k];
		sums.n += all[i].n;
		sums.sum += all[i].sum;
		sums.lone += all[i].lone;
		sums.max = all[i].max > sums.max ? all[i].max : sums.max;
		take_slow(t, &all[i], a->what, &sums);
	}
	if (r == 0 && sums.n) {
		functime_print(&sums, "calls");
		functime_print_slow(&sums);
	} else if (r == 0) {
		puts("no calls");
	}
	if (missed)
		command_note("%" PRIu64 " entries or exits were missed: in interrupts of others",
			     missed);
	functime_free(&sums);
	return r;
}

/* -ENOTSUP when probes must do it: where the kernel has no such programs, or not for this one. */
static int time_by_programs(struct args *a, struct ftrace_wait *w, char **argv, struct err *e)
{
	struct functime_opts o = { .function = a->what,
				   .who = a->ft.t.o.pids.data,
				   .n_who = a->ft.t.o.pids.n,
				   .by_process = a->ft.pid != NULL };
	struct functime *t;
	struct err ignored;
	int r;

	if (other(a) || a->probes || a->binary || probe_functime_keep(a) > FUNCTIME_SLOW ||
	    functime_open(&o, &t, &ignored) < 0)
		return -ENOTSUP;
	fprintf(stderr, "Timing %s (fentry and fexit)...%s\n", a->what,
		w->limit_ns || argv ? "" : " Ctrl-C to end.");
	r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
	if (r >= 0)
		r = show_sums(t, a, e);
	functime_close(t);
	return r;
}

static int functime_run(void *args, int argc, char **argv, struct err *e)
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
	r = duration_ns(a->ft.seconds, &w.limit_ns, e);
	if (r >= 0)
		r = functool_pids(&a->ft, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0) {
		r = time_by_programs(a, &w, command, e);
		if (r == -ENOTSUP)
			r = time_it(a, &w, argv[0], command, e);
	}
	ftrace_wait_close(&w);
	return r < 0 ? r : w.exit_code;
}

static const struct opt functime_opts[] = {
	OPT_STR_C('x', "exec", "FILE", binary, "a function of this program or library", "@files"),
	OPT_STR_C('p', "pid", "PID,...", ft.pid, "only these processes", "@pids"),
	OPT_STR('L', "tid", "TID", ft.tid, "only this thread"),
	OPT_DURATION('d', ft.seconds, "time so long"),
	OPT_FLAG(0, "probes", probes, "kprobes, also where the kernel has fentry and fexit"),
	OPT_INT('n', "slowest", "N", slowest, "so many of the slowest calls (default: 10)"),
	OPT_END,
};

const struct command cmd_functime = {
	FUNCTOOL_COMMAND(functime),
	.summary = "how long calls of a function take, and the slowest",
	.usage = "[OPTIONS] FUNCTION|softirqs|hardirqs|threads [COMMAND [ARGS]]",
	.about = "Times a function from its entry to its return (with fentry and fexit programs "
		 "where the kernel has them, else kprobes; uprobes with -x) and shows a histogram "
		 "of the times, and the slowest calls with their arguments: by name where the "
		 "kernel's BTF or the program's debug info tells them, else the first registers. "
		 "softirqs and hardirqs are timed by their tracepoints, threads is how long "
		 "threads stay on a CPU at a time.",
	.examples = EXAMPLES(
		{ "functime vfs_read", "how long reads take, until Ctrl-C" },
		{ "functime -d 10 softirqs", "soft interrupts of ten seconds, by kind" },
		{ "functime -d 1 threads", "how long threads stay on a CPU" },
		{ "functime -x libc malloc ls", "a function of the C library, while ls runs" }),
	.parse = OPT_STOP_AT_ARG,
};
