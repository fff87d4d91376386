/* SPDX-License-Identifier: MIT */
/* kymo stat: options and what they mean together; cmd/stat/run.c measures. */
#define OPT_ARGS struct stat_args
#include "cmd/stat/stat.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "cmd/share/event_opts.h"

static int stat_on_event(const struct opt *o, const char *value, bool unset, void *args,
			 struct err *e)
{
	struct stat_args *a = args;

	return spec_parse(&a->events, value, events_env(), e);
}

static int on_filter(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct stat_args *a = args;

	return events_filter(&a->events, value, e);
}

int stat_on_sep(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct stat_args *a = args;

	a->style.sep = strcmp(value, "\\t") == 0 ? "\t" : value;
	return 0;
}

static int on_repeat(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct stat_args *a = args;
	int64_t v;

	if (!str_i64(value, &v) || v < 0 || v > 1000000)
		return err_set(e, EINVAL, "-r wants how often to run, 0 for ever, not '%s'", value);
	a->repeat = v ? (int)v : 1;
	a->forever = v == 0;
	return 0;
}

static int on_metrics(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "-M: kymo has no tables of a CPU's own metrics");
	return err_hint(
		e, "name the events with -e; IPC, miss rates and GHz are worked out from them");
}

/* clang-format off: one option a line, as in other tables */
#define COUNTING                                                                                   \
	OPT_HEAD("What to count"),                                                                 \
		OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, stat_on_event,                   \
			 "events to count, separated by commas; kymo list shows them", "@events"), \
		OPT_FN(0, "filter", "FILTER", on_filter,                                           \
		       "count only hits of the tracepoint before that match"),                     \
		OPT_COUNT('d', "detailed", detailed, "also caches; -dd and -ddd for more"),        \
		OPT_FLAG('n', "null", null_run, "count nothing, only time the command"),           \
		OPT_FLAG('g', "group", group, "put all events into one group"),                    \
		OPT_FLAG(0, "all-user", all_user, "count user space only"),                        \
		OPT_FLAG(0, "all-kernel", all_kernel, "count the kernel only"),                    \
		{ .kind = OPT_KIND_FN,                                                             \
		  .arg = OPT_ARG_REQUIRED,                                                         \
		  .letter = 'M',                                                                   \
		  .name = "metrics",                                                               \
		  .flags = OPT_HIDDEN,                                                             \
		  .fn = on_metrics },                                                              \
		OPT_HEAD("Whom"), OPT_FLAG('a', "all-cpus", target.all_cpus, "the whole machine"), \
		OPT_STR_C('p', "pid", "PID,...", target.pids,                                      \
			  "these running processes, by number or name", "@pids"),                  \
		OPT_STR_C('t', "tid", "TID,...", target.tids, "these threads", "@pids"),           \
		OPT_STR_C('C', "cpu", "LIST", target.cpus, "these CPUs (0-3,7)", "@cpus"),         \
		OPT_STR_C('u', "uid", "USER", target.user, "the processes of a user", "@users"),   \
		OPT_STR('G', "cgroup", "NAME,...", cgroups,                                        \
			"in this cgroup; several: one for each event, in order"),                  \
		OPT_STR(0, "for-each-cgroup", "NAME,...", each_cgroup,                             \
			"all events once for each cgroup"),                                        \
		OPT_FLAG('i', "no-inherit", no_inherit, "do not count children"),                  \
		OPT_HEAD("How long"),                                                              \
		OPT_FN('r', "repeat", "N", on_repeat,                                              \
		       "run the command N times; mean and deviation (0: for ever)"),               \
		OPT_INT('I', "interval-print", "MS", interval_ms, "print every MS milliseconds"),  \
		OPT_INT(0, "interval-count", "N", interval_count, "stop after N intervals"),       \
		OPT_FLAG(0, "interval-clear", interval_clear,                                      \
			 "clear the screen before each interval"),                                 \
		OPT_INT(0, "timeout", "MS", timeout_ms, "stop after MS milliseconds"),             \
		OPT_INT('D', "delay", "MS", delay_ms,                                              \
			"start counting MS milliseconds after the command (-1: when --control "    \
			"says "                                                                    \
			"enable)"),                                                                \
		OPT_STR(0, "control", "fifo:PATH[,ACK]", control,                                  \
			"obey enable, disable, ping, stop from a FIFO (or fd:N[,M])"),             \
		OPT_STR(0, "pre", "COMMAND", pre, "run this before each run"),                     \
		OPT_STR(0, "post", "COMMAND", post, "run this after each run"),                    \
		OPT_FLAG('S', "sync", sync, "sync disks before each run")
#define SUMS                                                                          \
	OPT_HEAD("Sums"), OPT_FLAG('A', "no-aggr", no_aggr, "each CPU by itself"),    \
		OPT_FLAG(0, "per-thread", per_thread,                                 \
			 "each thread by itself (with -p, -t or -a)"),                \
		OPT_FLAG(0, "per-core", per_core, "sum per core"),                    \
		OPT_FLAG(0, "per-die", per_die, "sum per die"),                       \
		OPT_FLAG(0, "per-socket", per_socket, "sum per socket"),              \
		OPT_FLAG(0, "per-node", per_node, "sum per memory node"),             \
		OPT_FLAG(0, "no-scale", no_scale,                                     \
			 "do not scale counts of counters that shared the hardware"), \
		OPT_FLAG(0, "no-merge", no_merge,                                     \
			 "show like PMUs (uncore_imc_0, ...) one by one"),            \
		OPT_FLAG(0, "metric-only", style.metric_only, "only the derived figures"),  \
		OPT_FLAG(0, "summary", summary, "with -I: a sum at the end"),         \
		OPT_FLAG(0, "table", style.each_run, "with -r: the time of each run"),         \
		OPT_FLAG(0, "all", all_rows,                                          \
			 "on a terminal: events of patterns that did not happen, too")
#define FORM                                                                                      \
	OPT_HEAD("Output"),                                                                       \
		OPT_FN('x', "field-separator", "SEP", stat_on_sep,                                \
		       "fields with a separator, for scripts"),                                   \
		OPT_FLAG('j', "json-output", json, "a JSON object a line"),                       \
		OPT_INT(0, "log-fd", "FD", log_fd, "write to this descriptor"),                   \
		OPT_FLAG('B', "big-num", style.big_num, "group the digits of large numbers (default)"), \
		OPT_FLAG(0, "no-csv-summary", style.no_csv_summary,                                     \
			 "leave out the word summary with -x --summary"),                         \
		OPT_FLAG(0, "quiet", quiet, "no notes"),                                          \
		OPT_COUNT('v', "verbose", verbose, "also the raw counts")
/* clang-format on */

static const struct opt opts[] = {
	COUNTING,
	SUMS,
	FORM,
	OPT_STR_C('o', "output", "FILE", output, "write to FILE", "@files"),
	OPT_FLAG(0, "append", append, "append to FILE"),
	OPT_END,
};

static const struct opt record_opts[] = {
	COUNTING,
	SUMS,
	FORM,
	OPT_STR_C('o', "output", "FILE", output,
		  "the file for the counts (default: perf.data; -: a pipe)", "@files"),
	OPT_END,
};

static const char *const default_task[] = {
	"task-clock,context-switches,cpu-migrations,page-faults",
	"cycles,stalled-cycles-frontend,stalled-cycles-backend,instructions,branches,branch-misses",
};

static const char *const detail_events[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,"
	 "iTLB-loads,iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static int choose_events(struct stat_args *a, struct err *e)
{
	int r = 0;

	if (a->null_run)
		return 0;
	a->default_events = a->events.n == 0;
	if (a->default_events) {
		bool wide = a->target.all_cpus || a->target.cpus;

		r = wide ? spec_parse(&a->events,
				      "cpu-clock,context-switches,cpu-migrations,page-faults",
				      events_env(), e)
			 : spec_parse(&a->events, default_task[0], events_env(), e);
		if (r == 0)
			r = spec_parse(&a->events, default_task[1], events_env(), e);
	}
	for (int i = 0; r == 0 && i < a->detailed && i < (int)ARRAY_SIZE(detail_events); i++)
		r = spec_parse(&a->events, detail_events[i], events_env(), e);
	for (size_t i = 0; r == 0 && i < a->events.n; i++) {
		struct event_spec *s = &a->events.spec[i];

		if (a->all_user || a->all_kernel)
			spec_only(s, a->all_user, a->all_kernel);
		if (a->group) {
			s->leader = 0;
			s->members = i ? 1 : (int)a->events.n;
		}
	}
	return r;
}

static int choose_sums(const struct stat_args *a, enum stat_by *by, struct err *e)
{
	bool wide = a->target.all_cpus || a->target.cpus;
	bool tasks = a->target.pids || a->target.tids || a->target.user;
	int n = stat_n_sums(a);

	*by = stat_by(a);
	if (n > 1)
		return err_set(e, EINVAL, STAT_ONE_SUM);
	if (a->per_thread && !tasks && !a->target.all_cpus) {
		err_set(e, EINVAL, "--per-thread needs -p, -t or -a");
		return err_hint(e, "the threads of a command are not known before it runs");
	}
	if (n && !a->per_thread && !wide) {
		err_set(e, EINVAL, "sums per CPU or part of the machine need -a or -C");
		return err_hint(e, "add -a");
	}
	return 0;
}

static int stat_check(const struct stat_args *a, bool command, struct err *e)
{
	if (a->style.sep && a->json)
		return err_set(e, EINVAL, "-x and -j cannot be used together");
	if (a->interval_ms < 0 || a->timeout_ms < 0 || a->interval_count < 0)
		return err_set(e, EINVAL, "a time or number of intervals cannot be negative");
	if (a->interval_count && !a->interval_ms) {
		err_set(e, EINVAL, "--interval-count needs -I");
		return err_hint(e, "-I 1000 --interval-count %d", a->interval_count);
	}
	if ((a->repeat > 1 || a->forever) && !command)
		return err_set(e, EINVAL, "-r needs a command to repeat");
	if (a->output && a->log_fd >= 0)
		return err_set(e, EINVAL, "-o and --log-fd cannot be used together");
	if (a->append && !a->output)
		return err_set(e, EINVAL, "--append needs -o");
	if (a->record && a->output && command_spare_terminal(a->output, "a recording", e) < 0)
		return -e->code;
	if ((a->cgroups || a->each_cgroup) && !a->target.all_cpus && !a->target.cpus) {
		err_set(e, EINVAL, "cgroups are counted on the whole machine");
		return err_hint(e, "add -a");
	}
	if (a->cgroups && a->each_cgroup)
		return err_set(e, EINVAL, "-G and --for-each-cgroup cannot be used together");
	return 0;
}

struct cgroup_list {
	VEC(const char *) v;
	struct arena *arena;
};

/* One after the other; an empty one is none. */
static void split_cgroups(const char *text, struct arena *arena, struct cgroup_list *ret)
{
	for (;;) {
		size_t n = strcspn(text, ",");

		vec_push(&ret->v, n ? (const char *)arena_strndup(arena, text, n) : NULL);
		if (!text[n])
			return;
		text += n + 1;
	}
}

/* --for-each-cgroup: the events again for each. */
static void repeat_events(struct stat_args *a, const struct cgroup_list *list,
			  const char **by_event)
{
	size_t n = a->events.n, total = n * list->v.n;

	if (!n)
		return;

	a->events.spec = mem_grow(a->events.spec, total * sizeof(*a->events.spec));
	a->events.cap = a->events.n = total;
	for (size_t i = 0; i < total; i++) {
		if (i >= n) {
			a->events.spec[i] = a->events.spec[i % n];
			a->events.spec[i].leader += (int)(i - i % n);
			a->events.spec[i].first += (int)(i - i % n);
		}
		by_event[i] = list->v.data[i / n];
	}
}

static const char *const *choose_cgroups(struct stat_args *a)
{
	struct cgroup_list list = { 0 };
	const char **by_event;

	if (a->cgroups)
		return cgroups_by_event(&a->events, a->cgroups);
	if (!a->each_cgroup)
		return NULL;
	split_cgroups(a->each_cgroup, &a->events.arena, &list);
	by_event = arena_alloc(&a->events.arena, a->events.n * (list.v.n + 1) * sizeof(*by_event));
	repeat_events(a, &list, by_event);
	vec_free(&list.v);
	return by_event;
}

static const char *subject(const struct stat_args *a, char **argv, struct arena *arena)
{
	AUTO_STRBUF b = { 0 };

	if (a->target.pids)
		return arena_printf(arena, "process id '%s'", a->target.pids);
	if (a->target.tids)
		return arena_printf(arena, "thread id '%s'", a->target.tids);
	if (a->target.user)
		return arena_printf(arena, "user '%s'", a->target.user);
	if (a->target.cpus)
		return arena_printf(arena, "'CPU(s) %s'", a->target.cpus);
	if (a->target.all_cpus)
		return "'system wide'";
	for (int i = 0; argv[i]; i++)
		strbuf_printf(&b, "%s%s", i ? " " : "", argv[i]);
	return arena_printf(arena, "'%s'", strbuf_str(&b));
}

static int stat_prepare(struct stat_args *a, struct stat_plan *p, struct err *e)
{
	int r = stat_check(a, p->argv != NULL, e);

	if (r == 0)
		r = choose_sums(a, &p->by, e);
	a->target.command = p->argv != NULL;
	a->target.each_thread = a->per_thread;
	if (r == 0)
		r = target_make(&a->target, &p->target, e);
	if (r == 0)
		r = choose_events(a, e);
	if (r < 0)
		return r;
	p->cgroups = choose_cgroups(a);
	p->what = subject(a, p->argv, &a->events.arena);
	p->style = stat_style(a, p->by);
	return stat_out_open(a, a->record ? NULL : a->output, &p->out, e);
}

/* What is left of the words is a command, whether or not -- stands before it. */
static int stat_measure(struct stat_args *a, int argc, char **argv, struct err *e)
{
	struct stat_plan p = { .args = a };
	struct err out = { 0 };
	int r;

	if (argc && strcmp(argv[0], "--") == 0) {
		argc--;
		argv++;
	}
	p.argv = argc ? argv : NULL;
	r = stat_prepare(a, &p, e);
	if (r == 0) {
		r = stat_run(&p, e);
		if (stat_out_close(p.out, a->record ? NULL : a->output, &out) < 0 && r >= 0) {
			*e = out;
			r = -out.code;
		}
	}
	target_free(&p.target);
	return r;
}

static int run_record(void *args, int argc, char **argv, struct err *e)
{
	struct stat_args *a = args;

	a->record = true;
	if (a->repeat > 1 || a->forever) {
		err_set(e, EINVAL, "-r: a recording of counts holds one run");
		return err_hint(e, "kymo stat -r %d -o FILE keeps the result as text", a->repeat);
	}
	return stat_measure(a, argc, argv, e);
}

static void stat_drop(void *args)
{
	spec_list_free(&((struct stat_args *)args)->events);
}

static const struct stat_args defaults = { .repeat = 1, .style = { .big_num = true }, .log_fd = -1 };

static const struct example record_examples[] = {
	{ "stat record -a -I 1000 sleep 60", "a minute's counts, second by second" },
	{ "stat record -o - ls | kymo stat report -i -", "through a pipe" },
	{ NULL, NULL },
};

static const struct command cmd_stat_record = {
	.name = "record",
	.summary = "count, and keep the counts in a perf.data",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "Counts as kymo stat does, and writes each CPU's and thread's counts to a file "
		 "that "
		 "kymo stat report (and perf stat report) can sum in other ways.",
	.examples = record_examples,
	.opts = record_opts,
	.parse = OPT_STOP_AT_ARG | OPT_KEEP_DASHES,
	.complete = "@commands",
	.args_size = sizeof(struct stat_args),
	.defaults = &defaults,
	.run = run_record,
	.drop = stat_drop,
};

static const struct command *const subs[] = { &cmd_stat_record, &cmd_stat_report, NULL };

/* perf takes stat's options before the word record, too. */
static int stat_stat_run(void *args, int argc, char **argv, struct err *e)
{
	const struct command *sub = argc ? command_find(subs, argv[0]) : NULL;

	if (sub) {
		AUTO_FREE char *shown = mem_printf("stat %s", sub->name);

		return command_run_with(sub, shown, argc, argv, args);
	}
	return stat_measure(args, argc, argv, e);
}

static const struct example examples[] = {
	{ "stat ls", "count what one command does" },
	{ "stat -a sleep 5", "the whole machine for 5 seconds" },
	{ "stat -d -p 1234", "a running process, caches too, until Ctrl-C" },
	{ "stat -r 10 make", "ten runs: mean and deviation" },
	{ "stat -e 'syscalls:sys_enter_*' -p 1234", "which system calls a process makes" },
	{ "stat -I 1000 -a -A -e context-switches", "context switches a second, by CPU" },
	{ "stat -x, -e page-faults ls", "for scripts" },
	{ NULL, NULL },
};

const struct command cmd_stat = {
	.name = "stat",
	.group = "Count",
	.summary = "count events of a command, a process or the machine",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "Runs the command (or watches what -a, -p, -t, -C name) and prints what was "
		 "counted. The exit "
		 "code is the command's.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG | OPT_KEEP_DASHES,
	.args_size = sizeof(struct stat_args),
	.defaults = &defaults,
	.subs = subs,
	.run = stat_stat_run,
	.drop = stat_drop,
};
