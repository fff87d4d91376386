/* SPDX-License-Identifier: MIT */
/* kymo top: the hottest functions now, refreshed. */
#include "cmd/report/top.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"
#include "cmd/share/event_opts.h"
#include "live/capture/attr.h"

#define args top_args /* what option tables name */

static int top_on_event(const struct opt *o, const char *value, bool unset, void *args,
			struct err *e)
{
	return spec_parse(&((struct top_args *)args)->events, value, events_env(), e);
}

static int on_freq(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	uint64_t v = capture_max_freq();

	if (strcmp(value, "max") != 0 && (!str_u64(value, &v) || !v || v > INT32_MAX))
		return err_set(e, EINVAL, "-F wants samples a second or max, not '%s'", value);
	((struct top_args *)args)->freq = (int)v;
	return 0;
}

static int on_limit(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct top_args *a = args;

	if (!str_double(value, &a->min_percent) || a->min_percent < 0)
		return err_set(e, EINVAL, "--percent-limit %s: no percentage", value);
	return 0;
}

static int on_chain(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const struct {
		const char *name;
		enum capture_chain chain;
	} modes[] = { { "auto", CAPTURE_AUTO },
		      { "fp", CAPTURE_FP },
		      { "dwarf", CAPTURE_AUTO }, /* its tables, without copies of stacks */
		      { "lbr", CAPTURE_LBR } };
	enum { MODE_DWARF = 2 };
	struct top_args *a = args;
	size_t n = strcspn(unset ? "" : value, ",");

	a->chains = !unset;
	if (unset)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (strlen(modes[i].name) == n && memcmp(modes[i].name, value, n) == 0) {
			a->capture.chain = modes[i].chain;
			value += n + (value[n] == ',');
			if (i == MODE_DWARF && value[0] >= '0' && value[0] <= '9') {
				value += strcspn(value, ",");
				value += *value == ',';
			}
			/* what follows the mode, and the size of copies, says how graphs are
			 * printed */
			return *value ? report_parse_graph(&a->graph, value, e) : 0;
		}
	err_set(e, EINVAL, "top --call-graph does not know '%.*s'", (int)n, value);
	return err_hint(e, "auto, fp, dwarf or lbr");
}

static int no_branches(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	err_set(e, EOPNOTSUPP, "top --%s: branch records are not summed live", o->name);
	return err_hint(e, "kymo record -%c, then kymo report -b sums them", o->letter);
}

static int on_mmap(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	uint64_t size;

	/* a bare number is pages, as with perf */
	if (!str_size(value, (uint64_t)sysconf(_SC_PAGESIZE), &size) || !size || size > 1ull << 32)
		return err_set(e, EINVAL, "-m wants pages or a size, not '%s'", value);
	((struct top_args *)args)->capture.ring_size = size;
	return 0;
}

static const struct opt opts[] = {
	OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, top_on_event, "events (default: cycles)",
		 "@events"),
	OPT_FN('F', "freq", "N|max", on_freq, "samples a second (default: 4000)"),
	OPT_U64('c', "count", "N", capture.period, "a sample every N events"),
	OPT_FLAG('a', "all-cpus", target.all_cpus, "the whole machine (default)"),
	OPT_STR_C('p', "pid", "PID,...", target.pids, "these processes, by number or name",
		  "@pids"),
	OPT_STR_C('t', "tid", "TID,...", target.tids, "these threads", "@pids"),
	OPT_STR_C('C', "cpu", "LIST", target.cpus, "these CPUs", "@cpus"),
	OPT_STR_C('u', "uid", "USER", target.user, "a user's processes", "@users"),
	OPT_STR('G', "cgroup", "NAME,...", cgroups,
		"in this cgroup; several: one for each event, in order"),
	OPT_FLAG('i', "no-inherit", no_inherit, "not their children"),
	OPT_FLAG('g', NULL, chains, "count callers too"),
	OPT_FN_UNDO(
		0, "call-graph", "MODE", on_chain,
		"the same, found by: auto, fp, dwarf, lbr; behind it how graphs are printed, as "
		"after report -g",
		"auto|fp|dwarf|lbr"),
	OPT_FLAG(0, "children", children, "also count what functions called (default with -g)"),
	OPT_INT(0, "max-stack", "N", max_stack, "look at no more than N frames of a stack"),
	OPT_STR(0, "ignore-callees", "REGEX", ignore_callees,
		"what these functions call counts as theirs"),
	OPT_FN('m', "mmap-pages", "PAGES", on_mmap, "buffer of a CPU, in pages, or a size as 1M"),
	OPT_INT('r', "realtime", "PRIORITY", realtime, "kymo itself runs with this priority"),
	OPT_HEAD("Rows and columns"),
	OPT_STR_C('s', "sort", "KEY,...", columns.sort,
		  "sum by comm, pid, tgid, dso, symbol, cpu, time, srcline, trace, fields of "
		  "tracepoints (default: dso,symbol)",
		  "@keys"),
	OPT_STR_C(0, "fields", "KEY,...", columns.fields,
		  "show these: overhead, overhead_children, sample, period, or keys to sort by",
		  "@keys"),
	OPT_FLAG('n', "show-nr-samples", columns.samples, "also the number of samples"),
	OPT_FLAG(0, "show-total-period", columns.periods, "also the sum of periods"),
	OPT_FLAG(0, "hierarchy", hierarchy, "rows below rows, a level for each key or {KEY,KEY}"),
	OPT_FLAG(0, "group", group, "count the events together, and show them side by side"),
	OPT_INT(0, "group-sort-idx", "N", group_sort, "order by the group's event N"),
	OPT_STR(0, "sym-annotate", "NAME", symbol, "the code of this function, as text"),
	OPT_FLAG(0, "raw-trace", columns.raw_trace, "fields of tracepoints as numbers"),
	OPT_STR('w', "column-widths", "N,...", columns.widths, "fixed widths of columns"),
	OPT_FN(0, "percent-limit", "PERCENT", on_limit, "leave out what is below it"),
	OPT_INT('f', "count-filter", "N", least, "leave out what has fewer samples"),
	OPT_STR_C(0, "percentage", "HOW", percentage,
		  "shares of what filters left (relative) or of everything (absolute, default)",
		  "relative|absolute"),
	OPT_INT('E', "entries", "N", entries, "at most N functions, as text"),
	OPT_HEAD("Which samples"),
	OPT_FLAG('K', "hide_kernel_symbols", hide_kernel, "hide the kernel's functions"),
	OPT_FLAG('U', "hide_user_symbols", hide_user, "hide user functions"),
	OPT_FLAG(0, "idle", idle, "also of CPUs that have nothing to do"),
	OPT_STR(0, "comms", "LIST", pick.comms, "of these commands"),
	OPT_STR(0, "dsos", "LIST", pick.dsos, "in these files"),
	OPT_STR(0, "symbols", "LIST", pick.symbols, "in these functions"),
	OPT_STR(0, "switch-on", "EVENT", gate.on, "from when EVENT happens on"),
	OPT_STR(0, "switch-off", "EVENT", gate.off, "until EVENT happens"),
	OPT_FLAG(0, "show-on-off-events", gate.show, "these two events, too"),
	OPT_STR_C('k', "vmlinux", "FILE", vmlinux, "kernel symbols from an ELF file", "@files"),
	OPT_STR_C(0, "kallsyms", "FILE", kallsyms, "kernel symbols from FILE", "@files"),
	OPT_HEAD("Code, where a function is annotated"),
	CODESTYLE_OPTS,
	OPT_HEAD("How often"),
	OPT_FLAG('z', "zero", zero, "start anew at each refresh"),
	OPT_INT('d', "delay", "SECONDS", delay_s, "refresh every so often (default: 2)"),
	OPT_INT(0, "iterations", "N", iterations, "end after N refreshes"),
	OPT_FLAG(0, "stdio", stdio, "as text, one screen after the other"),
	OPT_ACCEPTED(0, "tui"),
	OPT_ACCEPTED(0, "no-bpf-event"),
	OPT_ACCEPTED(0, "force"),
	OPT_ACCEPTED('v', "verbose"),
	OPT_ACCEPTED(0, "ignore-vmlinux"),
	OPT_ACCEPTED(0, "demangle-kernel"),
	OPT_ACCEPTED(0, "namespaces"),
	OPT_ACCEPTED(0, "all-cgroups"),
	OPT_ACCEPTED(0, "overwrite"),
	OPT_ACCEPTED(0, "stitch-lbr"),
	OPT_ACCEPTED('D', "dump-symtab"),
	ACCEPTED_('b', "branch-any", OPT_ARG_NONE, no_branches),
	ACCEPTED_('j', "branch-filter", OPT_ARG_REQUIRED, no_branches),
	OPT_ACCEPTED_ARG(0, "objdump"),
	OPT_ACCEPTED_ARG(0, "num-thread-synthesize"),
	OPT_ACCEPTED_ARG(0, "proc-map-timeout"),
	OPT_END,
};

static int report_top_run(void *args, int argc, char **argv, struct err *e)
{
	struct top_args *a = args;

	if (argc)
		return err_set(e, EINVAL, "top takes no '%s': it watches what runs", argv[0]);
	if (a->delay_s < 1)
		return err_set(e, EINVAL, "-d wants at least one second");
	if (a->hierarchy && a->columns.fields)
		return err_set(e, EINVAL, "--hierarchy and --fields do not go together");
	if (a->percentage && strcmp(a->percentage, "relative") != 0 &&
	    strcmp(a->percentage, "absolute") != 0)
		return err_set(e, EINVAL, "--percentage %s: relative or absolute", a->percentage);
	if (codestyle_check(&a->code, e) < 0)
		return -e->code;
	return top_run(a, e);
}

static void top_drop(void *args)
{
	spec_list_free(&((struct top_args *)args)->events);
}

static const struct top_args defaults = { .delay_s = 2,
					  .children = true,
					  .graph = { .opts = { .min_percent = 0.5 } } };

static const struct example examples[] = {
	{ "top", "the hottest functions of the machine" },
	{ "top -p 1234 -g", "of a process, with what they called" },
	{ "top -e raw_syscalls:sys_enter -ns comm", "who makes the most system calls" },
	{ "top -e sched:sched_switch -s prev_comm,next_comm", "who makes way for whom" },
	{ "top --hierarchy -s comm,dso,sym", "by command, file and function, as a tree" },
	{ "top -G /system.slice/nginx.service", "of a service" },
	{ "top --stdio --iterations 1", "one screen for a script" },
	{ NULL, NULL },
};

const struct command cmd_top = {
	.name = "top",
	.group = "Profile",
	.summary = "show the hottest functions now",
	.usage = "[OPTIONS]",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct top_args),
	.defaults = &defaults,
	.run = report_top_run,
	.drop = top_drop,
};
