/* SPDX-License-Identifier: MIT */
/* kymo report: a recording summed and shown. */
#include "cmd/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cmd/share/accept.h"

#define args report_args /* what option tables name */

static int on_graph(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	struct report_args *a = p;

	if (unset) {
		a->graph.no_graph = true;
		return 0;
	}
	a->graph_given = true;
	return report_parse_graph(&a->graph, value ? value : "graph,0.5,caller,function,percent",
				  e);
}

static int on_limit(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	struct report_args *a = p;

	if (!str_double(value, &a->percent_limit) || a->percent_limit < 0)
		return err_set(e, EINVAL, "--percent-limit %s: no percentage", value);
	a->graph.opts.min_percent = a->percent_limit;
	return 0;
}

static int on_given(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	struct report_args *a = p;

	if (strcmp(o->name, "group") == 0) {
		a->group = !unset;
		a->group_given = !unset;
	} else if (strcmp(o->name, "inline") == 0) {
		a->inlines = !unset;
		a->inlines_given = true;
	} else {
		a->branch = !unset;
		a->branch_given = true;
	}
	return 0;
}

static int on_percent_type(const struct opt *o, const char *value, bool unset, void *p,
			   struct err *e)
{
	return codestyle_parse_percent(value, &((struct report_args *)p)->code.percent, e);
}

static int on_pretty(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	if (strcmp(value, "raw") != 0 && strcmp(value, "normal") != 0)
		return err_set(e, EINVAL, "--pretty %s: normal or raw", value);
	((struct report_args *)p)->raw_counters = strcmp(value, "raw") == 0;
	return 0;
}

static const struct opt opts[] = {
	OPT_STRS_C('i', "input", "FILE", load.inputs,
		   "read FILE (default: perf.data; -: stdin); several are merged by time",
		   "@files"),
	OPT_FLAG(0, "stdio", stdio, "as text"),
	OPT_FLAG('j', "json", json, "as JSON"),
	OPT_STR('x', "csv", "SEP", csv, "as values with SEP between them, names of keys first"),
	OPT_STR('t', "field-separator", "SEP", sep, "text with SEP between columns, as perf's -t"),
	OPT_FLAG('q', "quiet", quiet, "only the rows"),
	OPT_COUNT('v', "verbose", verbose, "addresses beside symbols, whole paths of files"),
	OPT_HEAD("Rows and columns"),
	OPT_STR_C('s', "sort", "KEY,...", columns.sort,
		  "sum by these: comm, pid, tgid, dso, symbol, parent, cpu, socket, srcline, "
		  "srcfile, time, weight, symbol_size, dso_size, addr, cgroup, trace, fields of "
		  "tracepoints ...; +KEY adds to comm,dso,symbol",
		  "@keys"),
	OPT_STR_C('F', "fields", "KEY,...", columns.fields,
		  "show these: overhead, overhead_children, overhead_sys, overhead_us, sample, "
		  "period, or keys to sort by; +KEY adds",
		  "@keys"),
	OPT_FLAG(0, "children", children, "also count what functions called (default with chains)"),
	OPT_FLAG('n', "show-nr-samples", columns.samples, "also the number of samples"),
	OPT_FLAG(0, "show-total-period", columns.periods, "also the sum of periods"),
	OPT_FLAG(0, "show-cpu-utilization", columns.cpu_modes,
		 "also the parts in kernel and user code"),
	{ .kind = OPT_KIND_FLAG,
	  .name = "showcpuutilization",
	  .flags = OPT_HIDDEN,
	  .help = "",
	  .field = OPT_FIELD_(columns.cpu_modes) },
	OPT_FN_C(0, "percent-limit", "PERCENT", OPT_ARG_REQUIRED, on_limit,
		 "leave rows and branches below this out", NULL),
	OPT_STR_C(0, "percentage", "HOW", percentage,
		  "shares of what filters left (relative) or of everything (absolute, default)",
		  "relative|absolute"),
	OPT_FLAG(0, "hierarchy", hierarchy, "rows below rows, a level for each key or {KEY,KEY}"),
	OPT_FN_C(0, "group", NULL, OPT_ARG_NONE, on_given,
		 "events side by side: those of a group (default), or all", NULL),
	OPT_INT(0, "group-sort-idx", "N", group_sort, "order by the group's event N"),
	OPT_STR('w', "column-widths", "N,...", columns.widths, "fixed widths of columns"),
	OPT_STR(0, "time-quantum", "TIME", time_quantum, "steps of --sort time (default: 100ms)"),
	OPT_FLAG(0, "ns", ns, "times with nine digits"),
	OPT_FLAG(0, "raw-trace", columns.raw_trace, "fields of tracepoints as numbers"),
	OPT_FLAG(0, "skip-empty", skip_empty, "leave events without samples out (default)"),
	OPT_HEAD("Call graphs"),
	OPT_FN_C('g', "call-graph", "HOW,...", OPT_ARG_LAST, on_graph,
		 "graph, fractal, flat, folded or none; least %; most branches; caller or callee; "
		 "function, address or srcline; percent, period or count",
		 "graph|fractal|flat|folded|none|caller|callee|function|address|srcline|percent|"
		 "period|count"),
	OPT_FLAG('G', "inverted", inverted, "from the outermost caller inwards"),
	OPT_INT(0, "max-stack", "N", max_stack, "look at no more than N frames of a stack"),
	OPT_FN_C(0, "inline", NULL, OPT_ARG_NONE, on_given,
		 "show functions that were inlined (default: in whole stacks, not in those by "
		 "frame pointers)",
		 NULL),
	OPT_STR(0, "ignore-callees", "REGEX", ignore_callees,
		"what these functions call counts as theirs"),
	OPT_STR('p', "parent", "REGEX", parent,
		"the functions --sort parent looks for (default: ^sys_|^do_page_fault)"),
	OPT_FLAG(0, "exclude-other", exclude_other, "only samples below such a parent"),
	OPT_HEAD("Time off the CPU"),
	OPT_FLAG(0, "off-cpu", load.off_cpu,
		 "only where threads waited, and how long: from record --off-cpu, or from "
		 "sched:sched_switch with -g"),
	OPT_FLAG(0, "wakers", load.wakers,
		 "with the stacks of those who ended the waits: from record --wakers, or from "
		 "sched:sched_waking or sched_wakeup, too"),
	OPT_HEAD("Which samples"),
	OPT_STR('c', "comms", "LIST", load.pick.comms, "of these commands; @FILE reads a list"),
	OPT_STR('d', "dsos", "LIST", load.pick.dsos, "in these files"),
	OPT_STR('S', "symbols", "LIST", load.pick.symbols, "in these functions"),
	OPT_STR(0, "symbol-filter", "PART", symbol_part, "show functions with PART in their name"),
	OPT_STR(0, "pid", "LIST", load.pick.pids, "of these processes"),
	OPT_STR(0, "tid", "LIST", load.pick.tids, "of these threads"),
	OPT_STR('C', "cpu", "LIST", load.pick.cpus, "on these CPUs, as 0-3,5"),
	OPT_INT(0, "socket-filter", "N", socket, "on this socket"),
	OPT_STR(0, "time", "RANGES", load.pick.time,
		"START,STOP in seconds, 10%/2, 10%-20%; several by comma"),
	OPT_STR(0, "switch-on", "EVENT", load.gate.on, "from when EVENT happens on"),
	OPT_STR(0, "switch-off", "EVENT", load.gate.off, "until EVENT happens"),
	OPT_FLAG(0, "show-on-off-events", load.gate.show, "these two events, too"),
	OPT_FLAG('U', "hide-unresolved", hide_unresolved, "whose function is known"),
	OPT_FLAG(0, "idle", idle, "also of CPUs that had nothing to do"),
	OPT_FN_C('b', "branch-stack", NULL, OPT_ARG_NONE, on_given,
		 "sum branches rather than samples (default with branch records)", NULL),
	OPT_FLAG(0, "branch-history", graph.branch_history, "branches in call graphs"),
	OPT_FLAG(0, "mem-mode", memory, "sum memory accesses (record -d)"),
	OPT_HEAD("Symbols"),
	OPT_STR_C(0, "symfs", "DIR", load.symfs, "look for files below DIR", "@dirs"),
	OPT_FLAG(0, "no-debuginfod", load.no_debuginfod, "do not ask debuginfod servers"),
	OPT_INT(0, "debuginfod-time", "SECONDS", load.debuginfod_seconds,
		"wait for debuginfod servers this long in all (default: 10)"),
	OPT_STR_C('k', "vmlinux", "FILE", load.vmlinux, "kernel symbols from an ELF file",
		  "@files"),
	OPT_STR_C(0, "kallsyms", "FILE", load.kallsyms, "kernel symbols from FILE", "@files"),
	OPT_FLAG(0, "demangle", demangle, "C++ and Rust names as they were written (default)"),
	OPT_FLAG(0, "full-source-path", full_lines, "whole paths of source files"),
	OPT_HEAD("Code, where a function is annotated on a terminal"),
	CODESTYLE_OPTS,
	OPT_FN_C(0, "percent-type", "TYPE", OPT_ARG_REQUIRED, on_percent_type,
		 "percent of what: local-period (default), global-period, local-hits, global-hits",
		 "local-period|global-period|local-hits|global-hits"),
	OPT_HEAD("About the recording"),
	OPT_FLAG(0, "header", header, "show its header first"),
	OPT_FLAG(0, "header-only", header_only, "show only its header"),
	OPT_FLAG('I', "show-info", info, "topology and caches in the header"),
	OPT_FLAG(0, "stats", stats, "how many records of each kind"),
	OPT_FLAG(0, "tasks", tasks, "the processes and threads"),
	OPT_FLAG(0, "mmaps", mmaps, "and what they mapped"),
	OPT_FLAG('T', "threads", threads, "counters by thread (record -s)"),
	OPT_FN(0, "pretty", "HOW", on_pretty, "those in columns (normal) or one a line (raw)"),
	OPT_FLAG('D', "dump-raw-trace", dump, "every record with its bytes"),
	OPT_FN_C(0, "stdio-color", "WHEN", OPT_ARG_LAST, accept_color, "always, never or auto",
		 "always|never|auto"),
	OPT_ACCEPTED(0, "tui"),
	OPT_ACCEPTED('f', "force"),
	OPT_ACCEPTED('m', "modules"),
	OPT_ACCEPTED(0, "ignore-vmlinux"),
	OPT_ACCEPTED(0, "demangle-kernel"),
	OPT_ACCEPTED(0, "disable-order"),
	OPT_ACCEPTED(0, "show-ref-call-graph"),
	OPT_ACCEPTED_ARG(0, "objdump"),
	OPT_ACCEPTED_ARG(0, "samples"),
	OPT_ACCEPTED(0, "stitch-lbr"),
	OPT_OF_TRACES("itrace"),
	OPT_OF_CYCLES("total-cycles"),
	OPT_END,
};

static int report_report_run(void *p, int argc, char **argv, struct err *e)
{
	struct report_args *a = p;

	/* a word that is no option is a file, or else a part of function names, as perf has it */
	if (argc > 1)
		return err_set(e, EINVAL, "what is '%s'? report takes one word", argv[1]);
	if (a->load.inputs.n)
		a->load.input = a->load.inputs.data[0];
	if (argc == 1 && !a->load.input && (strcmp(argv[0], "-") == 0 || file_exists(argv[0])))
		a->load.input = argv[0];
	else if (argc == 1)
		a->symbol_part = argv[0];
	a->load.quiet = a->quiet;
	a->load.raw_names = !a->demangle;
	return report_run(a, e);
}

static void report_report_drop(void *p)
{
	vec_free(&((struct report_args *)p)->load.inputs);
}

static const struct report_args defaults = {
	.children = true,
	.graph = { .opts = { .min_percent = 0.5 } },
	.group = true,
	.skip_empty = true,
	.demangle = true,
	.socket = -1,
	.max_stack = REPORT_ALL_FRAMES,
};

static const struct example examples[] = {
	{ "report", "perf.data by command, file and function" },
	{ "report -n --stdio --no-children -g none", "plain rows with the number of samples" },
	{ "report --sort comm,dso", "by command and file" },
	{ "report -g caller -S malloc", "who calls malloc" },
	{ "report --sort next_comm,prev_state -i sched.data", "by fields of a tracepoint" },
	{ "report --time 10%-20% --hierarchy", "the second tenth, as a tree" },
	{ "report -j", "as JSON" },
	{ NULL, NULL },
};

const struct command cmd_report = {
	.name = "report",
	.group = "Profile",
	.summary = "summarise a recording",
	.usage = "[OPTIONS] [FILE]",
	.about = "Sums the samples of a recording and shows where they were, with perf's keys, "
		 "options "
		 "and layout. Every report ends with what was lost, cut or not found.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct report_args),
	.defaults = &defaults,
	.run = report_report_run,
	.drop = report_report_drop,
};
