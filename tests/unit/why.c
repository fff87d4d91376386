/* SPDX-License-Identifier: MIT */
/* What is said about each way perf_event_open can fail. */
#include "kern/why.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static const struct why_facts root = {
	.may_all = true, .level_known = true, .level = 2, .core_pmu = true, .max_files = 1024
};
static const struct why_facts root_vm = {
	.may_all = true, .level_known = true, .level = 2, .vm = true, .max_files = 1024
};
static const struct why_facts user2 = { .level_known = true, .level = 2, .core_pmu = true };
static const struct why_facts user4 = { .level_known = true, .level = 4, .core_pmu = true };
static const struct why_facts user_free = { .level_known = true, .level = -1, .core_pmu = true };
static const struct why_facts docker = { .level_known = true, .level = -1, .filtered = true };
static const struct why_facts locked = { .may_all = true, .confidential = true, .core_pmu = true };

static const struct event_spec cycles = { .name = "cycles", .text = "cycles" };
static const struct event_spec cycles_u = { .name = "cycles:u",
					    .text = "cycles:u",
					    .attr = { .exclude_kernel = 1, .exclude_hv = 1 } };
static const struct event_spec cs = { .name = "cs", .text = "cs", .kind = SPEC_SOFTWARE };
static const struct event_spec sampled = {
	.name = "cs", .text = "cs", .kind = SPEC_SOFTWARE, .attr = { .sample_period = 1 }
};
static const struct event_spec precise = { .name = "cycles:pp",
					   .text = "cycles:pp",
					   .attr = { .precise_ip = 2 } };
static const struct event_spec sched = { .name = "sched:sched_switch",
					 .text = "sched:sched_switch",
					 .kind = SPEC_TRACEPOINT };
static const struct event_spec sched_raw = { .name = "sched:sched_switch",
					     .text = "sched:sched_switch",
					     .kind = SPEC_TRACEPOINT,
					     .attr = { .sample_type = PERF_SAMPLE_RAW } };
static const struct event_spec imc = { .name = "uncore_imc/x/",
				       .text = "uncore_imc/x/",
				       .kind = SPEC_PMU,
				       .pmu = "uncore_imc_0",
				       .pmu_cpus = "0" };
static const struct event_spec msr_u = { .name = "msr/tsc/u",
					 .text = "msr/tsc/u",
					 .kind = SPEC_PMU,
					 .pmu = "msr",
					 .attr = { .exclude_kernel = 1 } };
#define BREAKPOINT(n, t, a, l)                                               \
	{                                                                    \
		.name = (n), .text = (n), .kind = SPEC_BREAKPOINT, .attr = { \
			.bp_type = (t),                                      \
			.bp_addr = (a),                                      \
			.bp_len = (l)                                        \
		}                                                            \
	}
static const struct event_spec bp_rwx = BREAKPOINT("mem:0x10:rwx", HW_BREAKPOINT_RW | 4, 16, 4);
static const struct event_spec bp_odd = BREAKPOINT("mem:0x11:w", HW_BREAKPOINT_W, 17, 4);
static const struct event_spec bp_read = BREAKPOINT("mem:0x10:r", HW_BREAKPOINT_R, 16, 4);
static const struct event_spec bp_len = BREAKPOINT("mem:0x15/5:w", HW_BREAKPOINT_W, 15, 5);

static const struct {
	const struct why_facts *facts;
	const struct event_spec *spec;
	int code;
	pid_t pid;
	int cpu;
	const char *msg, *hint; /* parts of them */
} cases[] = {
	{ &root_vm, &cycles, ENOENT, 0, -1, "cycles: no PMU in this VM", "software events" },
	{ &root, &cycles, ENOENT, 0, -1, "has no such event", "kymo list" },
	{ &docker, &cycles, ENOENT, 0, -1, "drives no PMU", "dmesg" },
	{ &root, &sched, ENOENT, 0, -1, "is gone", "" },
	{ &root, &imc, ENOENT, -1, 0, "type 0, config 0x0", "" },
	{ &user2, &cycles, EACCES, 0, -1, "measuring the kernel is not allowed", "cycles:u" },
	{ &user2, &cycles, EACCES, 0, -1, "perf_event_paranoid is 2", "perf_event_paranoid=1" },
	{ &user2, &cs, EACCES, -1, 0, "the whole system", "perf_event_paranoid=0" },
	{ &user2, &cs, EACCES, -1, 0, "", "cap_perfmon" },
	{ &user2, &imc, EACCES, 0, 0, "outside the CPU", "perf_event_paranoid=0" },
	{ &user2, &sched_raw, EACCES, 0, -1, "recording tracepoints", "perf_event_paranoid=-1" },
	{ &user4, &cycles_u, EACCES, 0, -1, "paranoid is 4", "perf_event_paranoid=2" },
	{ &user4, &cycles, EACCES, 0, -1, "paranoid is 4", "perf_event_paranoid=1" },
	{ &user_free, &cs, EACCES, 1, -1, "process 1 is not yours", "sudo" },
	{ &user_free, &cs, EACCES, 0, -1, "refuses it", "CAP_PERFMON" },
	{ &docker, &cs, EPERM, 0, -1, "system call filter", "seccomp=unconfined" },
	{ &locked, &cs, EPERM, 0, -1, "lockdown", "lockdown=integrity" },
	{ &root, &cs, EPERM, 0, -1, "refuses it", "security module" },
	{ &root, &cs, EMFILE, 0, -1, "the limit is 1024", "ulimit -n" },
	{ &root, &cs, ENFILE, 0, -1, "no more open files", "file-max" },
	{ &root, &bp_odd, ENOSPC, 0, -1, "breakpoint registers", "4" },
	{ &root, &cycles, EBUSY, 0, -1, "in use", "nmi_watchdog" },
	{ &root, &precise, EOPNOTSUPP, 0, -1, "precisely", "leave out p" },
	{ &root, &sampled, EOPNOTSUPP, 0, -1, "cannot sample", "kymo stat" },
	{ &root_vm, &sampled, EOPNOTSUPP, 0, -1, "cannot sample", "cpu-clock" },
	{ &root_vm, &cycles, EOPNOTSUPP, 0, -1, "does not support", "no PMU in this VM" },
	{ &root, &cs, ESRCH, 99, -1, "no process or thread 99", "" },
	{ &root, &cs, ENODEV, -1, 7, "CPU 7 is not online", "cpu/online" },
	{ &root, &cycles, ENODEV, 0, -1, "does not support", "" },
	{ &root, &cs, ENOSYS, 0, -1, "no perf_event_open", "CONFIG_PERF_EVENTS" },
	{ &root, &cs, E2BIG, 0, -1, "too old", "6.3" },
	{ &root, &cs, EOVERFLOW, 0, -1, "deep", "perf_event_max_stack" },
	{ &root, &imc, EINVAL, 5, -1, "whole machine", "-a" },
	{ &root, &msr_u, EINVAL, 0, -1, "user space from the kernel", "leave out" },
	{ &root, &precise, EINVAL, 0, -1, "precision", "fewer p" },
	{ &root, &cs, EINVAL, 0, -1, "pid 0, cpu -1", "one PMU" },
	{ &root, &bp_rwx, EINVAL, 0, -1, "cannot watch", "two events" },
	{ &root, &bp_odd, EINVAL, 0, -1, "cannot watch", "multiple of the length (4)" },
	{ &root, &bp_read, EINVAL, 0, -1, "cannot watch", "rw" },
	{ &root, &bp_len, EINVAL, 0, -1, "cannot watch", "1, 2, 4 and 8" },
	{ &root, &cs, EIO, 0, -1, "Input/output error", "" },
};

int main(void)
{
	struct why_facts here;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = { 0 };
		int r = why_explain(cases[i].facts, cases[i].spec, cases[i].code, cases[i].pid,
				    cases[i].cpu, &e);
		bool ok = r == -cases[i].code && e.code == cases[i].code &&
			  strstr(e.msg, cases[i].msg) && strstr(e.hint, cases[i].hint);

		CHECK_CASE(ok, "%s: errno %d: %s", cases[i].spec->name, cases[i].code,
			   cases[i].msg);
		if (!ok)
			printf("# %s\n# %s\n", e.msg, e.hint);
	}
	why_look(&here);
	CHECK(here.level_known && here.max_files > 0);
	return tap_end();
}
