/* SPDX-License-Identifier: MIT */
/* kymo record: options. */
#define OPT_ARGS struct record_args
#include "cmd/record.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/event_opts.h"
#include "live/capture_attr.h"

static int on_event(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;

	(void)o;
	(void)unset;
	return spec_parse(&a->events, value, events_env(), e);
}

static int on_filter(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	(void)o;
	(void)unset;
	return events_filter(&((struct record_args *)args)->events, value, e);
}

static int on_freq(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t max = capture_max_freq(), v;

	(void)o;
	(void)unset;
	if (strcmp(value, "max") == 0)
		v = max;
	else if (!str_u64(value, &v) || !v)
		return err_set(e, EINVAL, "-F wants samples a second or max, not '%s'", value);
	if (v > max) {
		err_set(e, EINVAL, "-F %s is more than this kernel allows now (%llu)", value,
			(unsigned long long)max);
		return err_hint(e, "-F max, or sysctl kernel.perf_event_max_sample_rate=%s", value);
	}
	a->capture.freq = v;
	a->freq_given = true;
	return 0;
}

static int on_chain(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	size_t n = value ? strcspn(value, ",") : 0;
	uint64_t size;

	(void)o;
	if (unset) {
		a->capture.chain = CAPTURE_NO_CHAIN;
	} else if (!value || strncmp(value, "auto", n) == 0) {
		a->capture.chain = CAPTURE_AUTO;
	} else if (strncmp(value, "fp", n) == 0) {
		a->capture.chain = CAPTURE_FP;
	} else if (strncmp(value, "lbr", n) == 0) {
		a->capture.chain = CAPTURE_LBR;
	} else if (strncmp(value, "dwarf", n) == 0) {
		a->capture.chain = CAPTURE_DWARF;
		if (value[n]) {
			if (!str_u64(value + n + 1, &size) || !size || size > 65528) {
				err_set(e, EINVAL, "a stack copy has 8 to 65528 bytes, not '%s'",
					value + n + 1);
				return err_hint(e, "--call-graph dwarf,16384");
			}
			a->capture.stack_size = (uint32_t)size;
		}
	} else {
		err_set(e, EINVAL, "--call-graph does not know '%s'", value);
		return err_hint(e, "auto, fp, dwarf[,SIZE] or lbr");
	}
	return 0;
}

static int on_g(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	(void)value;
	return on_chain(o, NULL, unset, args, e);
}

static int on_mmap(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	size_t n = strcspn(value, ",");
	char text[64];
	uint64_t size;

	(void)o;
	(void)unset;
	snprintf(text, sizeof(text), "%.*s", (int)n, value);
	/* a bare number is pages, as with perf */
	if (!str_size(text, (uint64_t)sysconf(_SC_PAGESIZE), &size) || !size || size > 1ull << 32) {
		err_set(e, EINVAL, "-m wants pages or a size, not '%s'", value);
		return err_hint(e, "-m 1024 (pages), -m 16M");
	}
	a->capture.ring_size = size;
	return 0;
}

static int on_clock(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC },
		{ "mono", CLOCK_MONOTONIC },
		{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "raw", CLOCK_MONOTONIC_RAW },
		{ "realtime", CLOCK_REALTIME },
		{ "real", CLOCK_REALTIME },
		{ "boottime", CLOCK_BOOTTIME },
		{ "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};
	struct record_args *a = args;

	(void)o;
	(void)unset;
	if (str_starts(value, "CLOCK_"))
		value += strlen("CLOCK_");
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (strcasecmp(value, clocks[i].name) == 0) {
			a->capture.has_clock = true;
			a->capture.clock_id = clocks[i].id;
			return 0;
		}
	err_set(e, EINVAL, "no clock '%s'", value);
	return err_hint(e, "monotonic, monotonic_raw, realtime, boottime or tai");
}

static int on_zstd(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t level = 1;

	(void)o;
	if (value && (!str_u64(value, &level) || level < 1 || level > 22))
		return err_set(e, EINVAL, "-z wants a level of 1 to 22, not '%s'", value);
	a->zstd_level = unset ? 0 : (int)level;
	return 0;
}

static int on_switch(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;

	(void)o;
	a->timestamp_file = !unset;
	if (unset || !value || strcmp(value, "signal") == 0) {
		a->switch_signal = !unset;
		return 0;
	}
	if (strpbrk(value, "smhd") && str_duration(value, 1000000000, &a->switch_ns) &&
	    a->switch_ns)
		return 0;
	if (str_size(value, 1, &a->switch_bytes) && a->switch_bytes)
		return 0;
	err_set(e, EINVAL, "--switch-output does not understand '%s'", value);
	return err_hint(e, "signal, a size (100M) or a time (30s)");
}

static int on_max_size(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	(void)o;
	(void)unset;
	if (!str_size(value, 1, &((struct record_args *)args)->max_size))
		return err_set(e, EINVAL, "--max-size wants a size (100M), not '%s'", value);
	return 0;
}

static int on_branch(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} kinds[] = {
		{ "u", PERF_SAMPLE_BRANCH_USER },
		{ "k", PERF_SAMPLE_BRANCH_KERNEL },
		{ "hv", PERF_SAMPLE_BRANCH_HV },
		{ "any", PERF_SAMPLE_BRANCH_ANY },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
		{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
		{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
		{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
		{ "cond", PERF_SAMPLE_BRANCH_COND },
		{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
		{ "call", PERF_SAMPLE_BRANCH_CALL },
		{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
		{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
		{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	};
	struct record_args *a = args;

	(void)o;
	(void)unset;
	if (!value)
		value = "any";
	while (*value) {
		size_t n = strcspn(value, ","), i = 0;

		while (i < ARRAY_SIZE(kinds) &&
		       (strlen(kinds[i].name) != n || memcmp(kinds[i].name, value, n) != 0))
			i++;
		if (i == ARRAY_SIZE(kinds))
			return err_set(e, EINVAL, "no kind of branch '%.*s'", (int)n, value);
		a->capture.branch_type |= kinds[i].bits;
		value += n;
		value += *value == ',';
	}
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("What to record"),
	OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, on_event,
		 "events, separated by commas (default: cycles); kymo list shows them", "@events"),
	OPT_FN(0, "filter", "FILTER", on_filter, "only hits of the tracepoint before that match"),
	OPT_FN('F', "freq", "N", on_freq, "samples a second, or max (default: 4000)"),
	OPT_U64('c', "count", "N", capture.period, "a sample every N events"),
	OPT_FN0('g', NULL, on_g, "call chains; as --call-graph auto"),
	OPT_FN_C(0, "call-graph", "MODE", OPT_ARG_REQUIRED, on_chain,
		 "call chains: auto (default: walked in the kernel, frame pointers not needed), "
		 "fp, dwarf[,SIZE] or lbr",
		 "auto|fp|dwarf|lbr"),
	OPT_INT(0, "max-stack", "N", capture.max_stack,
		"frames of a chain (default: the kernel's limit)"),
	OPT_FN_C('j', "branch-filter", "KIND,...", OPT_ARG_REQUIRED, on_branch,
		 "branch stacks of these kinds", NULL),
	OPT_FN0('b', "branch-any", on_branch, "any taken branches"),
	OPT_FLAG(0, "all-user", capture.all_user, "user space only"),
	OPT_FLAG(0, "all-kernel", capture.all_kernel, "the kernel only"),
	OPT_FLAG(0, "exclude-perf", exclude_perf, "leave kymo itself out of tracepoints"),
	OPT_FLAG(0, "switch-events", capture.switch_events, "also context switches"),
	OPT_FLAG(0, "namespaces", capture.namespaces, "also namespaces"),
	OPT_FLAG(0, "all-cgroups", capture.cgroup, "also cgroups"),
	OPT_HEAD("Whom"),
	OPT_FLAG('a', "all-cpus", target.all_cpus, "the whole machine (default without a command)"),
	OPT_STR_C('p', "pid", "PID,...", target.pids, "these processes", "@pids"),
	OPT_STR_C('t', "tid", "TID,...", target.tids, "these threads", "@pids"),
	OPT_STR_C('C', "cpu", "LIST", target.cpus, "these CPUs", "@cpus"),
	OPT_STR_C('u', "uid", "USER", target.user, "a user's processes", "@users"),
	OPT_FLAG('i', "no-inherit", no_inherit, "not their children"),
	OPT_HEAD("What a sample holds"),
	OPT_FLAG('T', "timestamp", capture.time, "time (default)"),
	OPT_FLAG('P', "period", capture.period_field, "period"),
	OPT_FLAG('d', "data", capture.data_addr, "data addresses"),
	OPT_FLAG('W', "weight", capture.weight, "weight"),
	OPT_FLAG('R', "raw-samples", capture.raw, "raw data of all events"),
	OPT_FLAG(0, "phys-data", capture.phys_addr, "physical addresses of data"),
	OPT_FLAG(0, "data-page-size", capture.data_page, "page sizes of data"),
	OPT_FLAG(0, "code-page-size", capture.code_page, "page sizes of code"),
	OPT_FLAG(0, "sample-cpu", capture.cpu, "CPU"),
	OPT_FLAG('I', "intr-regs", capture.intr_regs, "registers"),
	OPT_FLAG(0, "user-regs", capture.user_regs, "user registers"),
	OPT_FLAG('s', "stat", capture.read_counts, "counts per thread"),
	OPT_FLAG('n', "no-samples", capture.no_samples, "no samples, only side-band"),
	OPT_FN_C('k', "clockid", "CLOCK", OPT_ARG_REQUIRED, on_clock, "time by this clock",
		 "monotonic|monotonic_raw|realtime|boottime|tai"),
	OPT_HEAD("How long, and where to"),
	OPT_STR_C('o', "output", "FILE", output, "write to FILE (default: perf.data; -: a pipe)",
		  "@files"),
	OPT_FN('m', "mmap-pages", "PAGES", on_mmap, "size of each CPU's ring: pages, or 16M"),
	OPT_FN_C('z', "compression-level", "LEVEL", OPT_ARG_OPTIONAL, on_zstd, "compress with zstd",
		 NULL),
	OPT_FN_C(0, "switch-output", "WHEN", OPT_ARG_OPTIONAL, on_switch,
		 "go on in another file on SIGUSR2, at a size or time", "signal"),
	OPT_INT(0, "switch-max-files", "N", switch_max_files, "keep the N newest of them"),
	OPT_FLAG(0, "overwrite", capture.overwrite,
		 "flight recorder: keep the newest, write it on SIGUSR2"),
	OPT_FN(0, "max-size", "SIZE", on_max_size, "stop at this size"),
	OPT_INT('D', "delay", "MS", delay_ms,
		"start MS milliseconds after the command (-1: when --control says enable)"),
	OPT_STR(0, "control", "fifo:PATH[,ACK]", control,
		"obey enable, disable, snapshot, ping, stop from a FIFO (or fd:N[,M])"),
	OPT_FLAG('B', "no-buildid", no_buildid, "do not look for the files' build-ids at the end"),
	OPT_FLAG(0, "buildid-all", buildid_all, "build-ids of all files, hit or not"),
	OPT_FLAG('N', "no-buildid-cache", no_buildid_cache, "do not copy files into the cache"),
	OPT_FLAG('q', "quiet", quiet, "no messages"),
	OPT_COUNT('v', "verbose", verbose, "more messages"),
	OPT_END,
};

static int run(void *args, int argc, char **argv, struct err *e)
{
	struct record_args *a = args;
	uint64_t max = capture_max_freq();
	int r = 0;

	if (!a->events.n)
		r = spec_parse(&a->events, "cycles:P", events_env(), e);
	if (r < 0)
		return r;
	if (!argc && !a->target.pids && !a->target.tids && !a->target.cpus && !a->target.user)
		a->target.all_cpus = true;
	if (!a->freq_given && a->capture.freq > max)
		a->capture.freq = max;
	a->cmdline = command_line();
	return record_run(a, argc ? argv : NULL, e);
}

static void drop(void *args)
{
	spec_list_free(&((struct record_args *)args)->events);
}

static const struct record_args defaults = { .capture = { .freq = 4000, .time = true } };

static const struct example examples[] = {
	{ "record -F 99 -g -- make", "profile a command with call chains" },
	{ "record -F 99 -ag -- sleep 10", "the whole machine for ten seconds" },
	{ "record -p 1234 -g -- sleep 10", "a running process" },
	{ "record -e sched:sched_switch -a -g -- sleep 1", "who leaves the CPU, and why" },
	{ "record -e block:block_rq_complete --filter 'nr_sector > 200' -a",
	  "large I/O until Ctrl-C" },
	{ "record --switch-output=1m -a", "a file a minute" },
	{ "record -o - -a -- sleep 1 | kymo script -i -", "through a pipe" },
	{ NULL, NULL },
};

const struct command cmd_record = {
	.name = "record",
	.group = "Profile",
	.summary = "sample a command, a process or the machine into a file",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct record_args),
	.defaults = &defaults,
	.run = run,
	.drop = drop,
};
