/* SPDX-License-Identifier: MIT */
/* kymo record: the table of options. */
#define OPT_ARGS struct record_args
#include "cmd/record/record.h"

#include <string.h>

#include "cmd/front/settings.h"
#include "cmd/share/accept.h"
#include "cmd/share/event_opts.h"
#include "cmd/trace/trace.h"

static const struct opt opts[] = {
	OPT_HEAD("What to record"),
	OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, record_on_event,
		 "events, separated by commas (default: cycles); kymo list shows them", "@events"),
	OPT_FN(0, "filter", "FILTER", record_on_filter,
	       "only hits of the tracepoint before that match"),
	OPT_FN('F', "freq", "N", record_on_freq, "samples a second, or max (default: 4000)"),
	OPT_FLAG(0, "strict-freq", strict_freq, "fail where the kernel allows less than -F"),
	OPT_U64('c', "count", "N", o.capture.period, "a sample every N events"),
	OPT_FN0('g', NULL, record_on_g, "call chains; as --call-graph auto"),
	{ .kind = OPT_KIND_STR,
	  .name = "call-graph-default",
	  .arg = OPT_ARG_REQUIRED,
	  .flags = OPT_HIDDEN,
	  .field = offsetof(struct record_args, chain_default),
	  .help = "what -g means" },
	OPT_FN_UNDO(0, "call-graph", "MODE", record_on_chain,
		    "call chains: auto (default: walked in the kernel, frame pointers not needed), "
		    "fp, dwarf[,SIZE] or lbr",
		    "auto|fp|dwarf|lbr"),
	OPT_FLAG(0, "user-callchains", o.capture.user_chains, "only user space in call chains"),
	OPT_FLAG(0, "kernel-callchains", o.capture.kernel_chains, "only the kernel in call chains"),
	OPT_INT(0, "max-stack", "N", o.capture.max_stack,
		"frames of a chain (default: the kernel's limit)"),
	OPT_FN_C('j', "branch-filter", "KIND,...", OPT_ARG_REQUIRED, record_on_branch,
		 "branch stacks of these kinds", NULL),
	OPT_FN0('b', "branch-any", record_on_branch, "any taken branches"),
	OPT_FLAG(0, "group", group, "put all events into one group"),
	OPT_FLAG(0, "all-user", o.capture.all_user, "user space only"),
	OPT_FLAG(0, "all-kernel", o.capture.all_kernel, "the kernel only"),
	OPT_FN0(0, "exclude-perf", record_on_exclude,
		"leave kymo itself out, of all tracepoints too (default: of samples and system "
		"calls)"),
	OPT_FLAG(0, "switch-events", o.capture.switch_events, "also context switches"),
	OPT_FLAG(0, "namespaces", o.capture.namespaces, "also namespaces"),
	OPT_FLAG(0, "all-cgroups", o.capture.cgroup, "also cgroups"),
	OPT_FLAG(0, "no-bpf-event", o.capture.no_bpf_records, "not the loading of BPF programs"),
	OPT_FN(0, "synth", "WHAT", record_on_synth,
	       "what to tell of before the start: no, all, task, mmap, cgroup"),
	OPT_FLAG(0, "tail-synthesize", o.tail_synth, "tell of it at the end instead"),
	OPT_HEAD("Time off the CPU"),
	OPT_FLAG(0, "off-cpu", o.capture.off.on,
		 "also where threads wait, and how long: event offcpu-time, in ns"),
	OPT_U64(0, "off-cpu-thresh", "MS", off_thresh_ms,
		"waits of so many ms get samples of their own, with their time; shorter ones are "
		"summed (default: 500; 0: all summed)"),
	OPT_U64(0, "off-cpu-room", "N", off_room,
		"room in the kernel for so many different waits (thread and stack) at once "
		"(default: 32768)"),
	OPT_FLAG(0, "wakers", o.capture.off.wakers,
		 "also who ended the waits, and where it was (report --wakers shows it)"),
	OPT_HEAD("Whom"),
	OPT_FLAG('a', "all-cpus", o.target.all_cpus,
		 "the whole machine (default without a command)"),
	OPT_STR_C('p', "pid", "PID,...", o.target.pids, "these processes, by number or name",
		  "@pids"),
	OPT_STR_C('t', "tid", "TID,...", o.target.tids, "these threads", "@pids"),
	OPT_STR_C('C', "cpu", "LIST", o.target.cpus, "these CPUs", "@cpus"),
	OPT_STR_C('u', "uid", "USER", o.target.user, "a user's processes", "@users"),
	OPT_STR('G', "cgroup", "NAME,...", cgroups,
		"in this cgroup, with -a; several: one for each event, in order"),
	OPT_FLAG('i', "no-inherit", o.no_inherit, "not their children"),
	OPT_FLAG(0, "per-thread", o.capture.per_thread, "a ring for each thread, and no children"),
	OPT_HEAD("What a sample holds"),
	OPT_FLAG('T', "timestamp", o.capture.time, "time (default)"),
	OPT_FN0('P', "period", record_on_period,
		"period, also that of a clock, which stays the same"),
	OPT_FLAG('d', "data", o.capture.data_addr, "data addresses"),
	OPT_FLAG('W', "weight", o.capture.weight, "weight"),
	OPT_FLAG('R', "raw-samples", o.capture.raw, "raw data of all events"),
	OPT_FLAG(0, "phys-data", o.capture.phys_addr, "physical addresses of data"),
	OPT_FLAG(0, "data-page-size", o.capture.data_page, "page sizes of data"),
	OPT_FLAG(0, "code-page-size", o.capture.code_page, "page sizes of code"),
	OPT_FLAG(0, "transaction", o.capture.transaction, "transaction flags"),
	OPT_FLAG(0, "sample-cpu", o.capture.cpu, "CPU"),
	OPT_FLAG(0, "sample-identifier", o.capture.identifier, "which event it is, always"),
	OPT_FN_C('I', "intr-regs", "REG,...", OPT_ARG_OPTIONAL, record_on_regs,
		 "registers (-I? lists them)", NULL),
	OPT_FN_C(0, "user-regs", "REG,...", OPT_ARG_OPTIONAL, record_on_regs,
		 "registers of user space (--user-regs=? lists them)", NULL),
	OPT_FLAG('s', "stat", o.capture.read_counts, "counts per thread"),
	OPT_FLAG(0, "running-time", o.capture.running_time, "times of counts (:S groups)"),
	OPT_FLAG('n', "no-samples", o.capture.no_samples, "no samples, only side-band"),
	OPT_FN_UNDO('k', "clockid", "CLOCK", record_on_clock, "time by this clock",
		    "monotonic|monotonic_raw|realtime|boottime|tai"),
	OPT_HEAD("How long, and where to"),
	OPT_DURATION(0, duration, "stop after so long (10, 0.5, 2m)"),
	OPT_STR_C('o', "output", "FILE", o.output, "write to FILE (default: perf.data; -: a pipe)",
		  "@files"),
	OPT_FN('m', "mmap-pages", "PAGES", record_on_mmap,
	       "size of each CPU's ring: pages, or 16M"),
	OPT_FN_C(0, "threads", "N", OPT_ARG_OPTIONAL, record_on_threads,
		 "threads that empty the rings (default: one for four CPUs, from eight on)", NULL),
	OPT_FLAG(0, "no-buffering", o.capture.no_buffering, "write each sample at once"),
	OPT_FN_C('z', "compression-level", "LEVEL", OPT_ARG_OPTIONAL, record_on_zstd,
		 "compress with zstd", NULL),
	OPT_FN_C(0, "switch-output", "WHEN", OPT_ARG_OPTIONAL, record_on_switch,
		 "go on in another file on SIGUSR2, at a size or time", "signal"),
	OPT_FN_C(0, "switch-output-event", "EVENT", OPT_ARG_REQUIRED, record_on_trigger,
		 "go on in another file when this happens", "@events"),
	OPT_INT(0, "switch-max-files", "N", o.switch_max_files, "keep the N newest of them"),
	OPT_FLAG(0, "timestamp-filename", o.timestamp_file, "put the time into the file's name"),
	OPT_FLAG(0, "overwrite", o.capture.overwrite,
		 "flight recorder: keep the newest, write it on SIGUSR2"),
	OPT_FN(0, "max-size", "SIZE", record_on_max_size, "stop at this size"),
	OPT_FN('D', "delay", "MS", record_on_delay,
	       "start MS milliseconds after the command (-1: when --control says enable), or "
	       "record only in 10-20,30-40"),
	OPT_STR(0, "control", "fifo:PATH[,ACK]", o.control,
		"obey enable, disable, snapshot, evlist, ping, stop from a FIFO (or fd:N[,M])"),
	OPT_INT('r', "realtime", "PRIORITY", o.realtime, "kymo itself runs with this priority"),
	OPT_FLAG('B', "no-buildid", o.no_buildid, "do not look for what was hit at the end"),
	OPT_FLAG(0, "buildid-all", o.buildid_all, "build-ids of all files, hit or not"),
	OPT_FLAG(0, "buildid-mmap", o.capture.kernel_ids,
		 "the kernel tells build-ids, also of what ends at once; perf 6.1 aborts beside it "
		 "(default: kymo reads the files)"),
	OPT_FLAG(
		'N', "no-buildid-cache", o.no_cache,
		"do not keep copies of programs that may vanish (deleted, of containers, in /tmp)"),
	OPT_FLAG(0, "dry-run", dry_run, "only look whether the options make sense"),
	OPT_FLAG('q', "quiet", quiet, "no messages"),
	OPT_COUNT('v', "verbose", verbose, "more messages; -vv: how events are opened"),
	OPT_ACCEPTED(0, "timestamp-boundary"), /* always */
	OPT_ACCEPTED_ARG(0, "proc-map-timeout"),
	OPT_ACCEPTED_ARG(0, "num-thread-synthesize"),
	OPT_ACCEPTED_ARG(0, "mmap-flush"),
	OPT_ACCEPTED_ARG(0, "affinity"),
	OPT_ACCEPTED_OPTIONAL("aio"),
	OPT_ACCEPTED_OPTIONAL("debuginfod"),
	OPT_ACCEPTED_ARG(0, "vmlinux"),
	OPT_ACCEPTED_ARG(0, "clang-path"), /* of events that are C files */
	OPT_ACCEPTED_ARG(0, "clang-opt"),
	OPT_REFUSED('S', "snapshot", OPT_ARG_OPTIONAL,
		    "hardware traces (Intel PT, CoreSight) are not recorded",
		    "--overwrite --switch-output keeps the newest samples and writes them on "
		    "SIGUSR2"),
	OPT_REFUSED(0, "aux-sample", OPT_ARG_OPTIONAL,
		    "hardware traces (Intel PT, CoreSight) are not recorded",
		    "-g has the stack of each sample, -b the branches before it"),
	OPT_REFUSED(0, "kcore", OPT_ARG_OPTIONAL, "the kernel's code is not copied",
		    "kymo annotate reads /proc/kcore of this machine itself; kymo archive takes a "
		    "vmlinux along"),
	OPT_REFUSED(0, "setup-filter", OPT_ARG_OPTIONAL,
		    "filters of samples are not kept in the kernel",
		    "--filter needs no preparation"),
	OPT_END,
};

static int record_record_run(void *args, int argc, char **argv, struct err *e)
{
	struct record_args *a = args;
	int exit_code = 0, r;

	if (a->regs_list) {
		printf("available registers:%s\n", a->regs_list);
		return 0;
	}
	r = record_run(a, argc ? argv : NULL, &exit_code, e);
	if (r == 0 || !exit_code)
		return r < 0 ? r : exit_code;
	command_error("record", e);
	return exit_code;
}

static const struct record_args defaults = { .o.capture = { .freq = 4000, .time = true },
					     .off_thresh_ms = OFFCPU_DEFAULT_MS,
					     .begun = true };

const struct command cmd_record = {
	.name = "record",
	.group = "Profile",
	.summary = "sample a command, a process or the machine into a file",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.examples = EXAMPLES(
		{ "record -F 99 -g -- make", "profile a command with call chains" },
		{ "record -F 99 -ag -- sleep 10", "the whole machine for ten seconds" },
		{ "record -p 1234 -g -- sleep 10", "a running process" },
		{ "record -e sched:sched_switch -a -g -- sleep 1", "who leaves the CPU, and why" },
		{ "record --off-cpu -g -p 1234 -- sleep 10",
		  "where a process computes, and where it waits" },
		{ "record -e block:block_rq_complete --filter 'nr_sector > 200' -a",
		  "large I/O until Ctrl-C" },
		{ "record --switch-output=1m -a", "a file a minute" },
		{ "record --overwrite --switch-output -a", "the last seconds, on kill -USR2" },
		{ "record -o - -a -- sleep 1 | kymo script -i -", "through a pipe" }),
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct record_args),
	.defaults = &defaults,
	.run = record_record_run,
	.drop = record_args_drop,
};

/* --- trace record: the calls for `kymo trace -i` --- */

static int run_trace(void *args, int argc, char **argv, struct err *e)
{
	struct record_args *a = args;
	int r = spec_parse(&a->o.events, "raw_syscalls:sys_enter,raw_syscalls:sys_exit",
			   events_env(), e);

	return r < 0 ? r : record_record_run(args, argc, argv, e);
}

const struct command cmd_trace_record = {
	.name = "record",
	.summary = "keep system calls in a file, for kymo trace -i",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "kymo record with the events of all system calls, and those that -e names.",
	.examples =
		EXAMPLES({ "trace record -- make", "keep the calls of a command in perf.data ..." },
			 { "trace -i perf.data -s", "... and sum them up" }),
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct record_args),
	.defaults = &defaults,
	.run = run_trace,
	.drop = record_args_drop,
};

/* --- for other commands that record --- */

void record_args_begin(struct record_args *a)
{
	if (a->begun)
		return;
	*a = defaults;
	config_apply(&cmd_record, a);
}

int record_args_set(struct record_args *a, const char *name, const char *value, bool unset,
		    struct err *e)
{
	record_args_begin(a);
	return opt_set_named(opts, name, value, unset, a, e);
}

void record_args_drop(void *args)
{
	struct record_args *a = args;

	spec_list_free(&a->o.events);
	spec_list_free(&a->o.triggers);
}
