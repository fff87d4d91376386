/* SPDX-License-Identifier: MIT */
/* Lines about perf events: the CPU's counters and the settings around them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/line.h"

#define NOTHING_LOST "kymo samples by cpu-clock instead"

/* What would give a guest of this hypervisor a PMU. */
static const struct {
	const char *hypervisor, *platform, *needs;
} pmu_from[] = {
	{ "KVM", "Firecracker", "bare metal or another hypervisor (Firecracker passes no PMU on)" },
	{ "KVM", "Amazon EC2", "a .metal or a whole-socket instance size" },
	{ "KVM", "Google Compute Engine", "an instance type with the vPMU feature enabled" },
	{ "KVM", NULL, "a host that passes its PMU on (qemu -cpu host,pmu=on)" },
	{ "QEMU TCG", NULL, "KVM instead of emulation, with -cpu host,pmu=on" },
	{ "QEMU", NULL, "a host that passes its PMU on (qemu -cpu host,pmu=on)" },
	{ "VMware", NULL, "in the VM's settings: Virtualize CPU performance counters" },
	{ "Hyper-V", NULL, "on the host: Set-VMProcessor VM -Perfmon @('pmu')" },
	{ "Xen", NULL, "vpmu=on on the command line of Xen" },
};

static void no_pmu(const struct ability_facts *f, struct ability *a)
{
	const struct virt *v = &f->virt;

	ability_value(a, "none");
	if (!v->vm) {
		ability_missing(a, NULL, "the kernel drives no PMU of this CPU; " NOTHING_LOST);
		ability_needs(a, "a kernel with a PMU driver for this CPU");
		return;
	}
	ability_missing(a, NULL, "no PMU in this VM; " NOTHING_LOST);
	ability_needs(a, "bare metal, or a host that passes its PMU on");
	for (size_t i = 0; i < ARRAY_SIZE(pmu_from); i++)
		if (strcmp(pmu_from[i].hypervisor, v->hypervisor) == 0 &&
		    (!pmu_from[i].platform || strcmp(pmu_from[i].platform, v->platform) == 0)) {
			ability_needs(a, "%s", pmu_from[i].needs);
			break;
		}
}

static void say_pmu(const struct ability_facts *f, struct ability *a)
{
	const struct try_perf *p = &f->perf;

	if (p->cycles_user == 0 || p->cycles == 0) {
		ability_value(a, p->counters ? "%u at once" : "there", p->counters);
		ability_ok(a, NULL, "%s%scycles, instructions ...%s%s", p->core,
			   p->core[0] ? ": " : "", p->cycles ? " in user space" : "",
			   p->precise > 0 ? "; exact samples" : "");
	} else if (p->cycles_user == -EACCES || p->cycles_user == -EPERM) {
		ability_missing(a, "unknown", "perf events are refused to you: %s",
				strerror(-p->cycles_user));
		if (p->paranoid >= 3 && !priv_perfmon(&f->priv))
			ability_fix_root(f, a, "sysctl kernel.perf_event_paranoid=1");
		else
			ability_needs_root(f, a);
	} else if (p->cycles_user == -ENOSYS) {
		ability_not_built(f, a, "PERF_EVENTS");
	} else {
		no_pmu(f, a);
	}
}

static void say_pmus(const struct ability_facts *f, struct ability *a)
{
	ability_ok(a, f->perf.pmus[0] ? f->perf.pmus : "none",
		   "the event sources of this kernel (kymo list)");
}

/* For whom the level counts; from this level on. Ends with the strictest. */
static const struct {
	int64_t level;
	enum ability_state state;
	const char *meaning;
	int64_t better;
} paranoia[] = {
	{ 3, ABILITY_MISSING, "nothing may be counted or sampled by you", 1 },
	{ 2, ABILITY_LIMITED, "own programs, user space (1: kernel too, -1: all)", 1 },
	{ 1, ABILITY_LIMITED, "own programs with the kernel, not the whole machine", -1 },
	{ 0, ABILITY_LIMITED, "the whole machine, but no raw tracepoint data", -1 },
	{ INT64_MIN + 1, ABILITY_OK, "everything, for every user", 0 },
};

static void say_paranoid(const struct ability_facts *f, struct ability *a)
{
	int64_t level = f->perf.paranoid;

	ability_value(a, "%" PRId64, level);
	if (priv_perfmon(&f->priv)) {
		ability_ok(a, NULL,
			   level < 0 ? "everything, for every user"
				     : "binds ordinary users, not you");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paranoia); i++) {
		if (level < paranoia[i].level)
			continue;
		a->state = paranoia[i].state;
		snprintf(a->meaning, sizeof(a->meaning), "%s", paranoia[i].meaning);
		if (a->state != ABILITY_OK)
			ability_fix_root(f, a, "sysctl kernel.perf_event_paranoid=%" PRId64,
					 paranoia[i].better);
		return;
	}
}

static void say_rate(const struct ability_facts *f, struct ability *a)
{
	int64_t rate = f->perf.max_rate;
	char text[32];

	ability_value(a, "%s Hz", str_thousands((uint64_t)rate, text, sizeof(text)));
	ability_ok(a, NULL, "lowered by the kernel when samples take too long");
	if (rate < 10000) {
		ability_limited(a, NULL, "the kernel lowered it: samples took too long");
		ability_fix_root(f, a, "sysctl kernel.perf_event_max_sample_rate=100000");
	}
}

static void say_cpu_time(const struct ability_facts *f, struct ability *a)
{
	int64_t percent = f->perf.cpu_percent;

	if (percent <= 0 || percent >= 100) {
		ability_ok(a, "no limit", "sampling is never slowed down by the kernel");
	} else {
		ability_value(a, "%" PRId64 "%%", percent);
		ability_ok(a, NULL, "of a CPU may go into samples before the rate is lowered");
	}
}

static void say_stack(const struct ability_facts *f, struct ability *a)
{
	int64_t depth = f->perf.max_stack;

	ability_value(a, "%" PRId64 " frames", depth);
	ability_ok(a, NULL, "call chains deeper than this are cut off");
	if (depth < 127) {
		a->state = ABILITY_LIMITED;
		ability_fix_root(f, a, "sysctl kernel.perf_event_max_stack=127");
	}
}

static void say_watchdog(const struct ability_facts *f, struct ability *a)
{
	/* The buddy detector lets CPUs watch each other and takes no counter. */
	if (f->perf.nmi_watchdog != 1) {
		ability_ok(a, "off", "takes no counter");
	} else if (f->perf.cycles_user == -ENOENT ||
		   kconfig_get(&f->config, "HARDLOCKUP_DETECTOR_BUDDY") == 'y') {
		ability_ok(a, "on", "takes no counter here");
	} else {
		a->detail = false;
		ability_limited(a, "on", "holds one of the counters of each CPU");
		ability_fix_root(f, a, "sysctl kernel.nmi_watchdog=0");
	}
}

/* No state of its own: the same machine may be too busy to show it at another time. */
static void say_idle(const struct ability_facts *f, struct ability *a)
{
	if (f->perf.all != 0) {
		ability_ok(a, "unknown", "whole CPUs are not yours to see");
	} else if (f->idle[0]) {
		ability_value(a, "not of CPU %s", f->idle);
		ability_ok(a, NULL,
			   "this kernel keeps hits there from perf; record -a takes tracepoints "
			   "by BPF");
	} else if (f->idle_unknown) {
		ability_ok(a, "not known",
			   "no CPU had time to idle: whether perf sees that is tried again");
	} else {
		ability_ok(a, "seen", "what happens while a CPU idles is recorded too");
	}
}

const struct ability_line ability_counting[] = {
	{ "pmu", "CPU counters", say_pmu },
	{ "pmus", "PMUs", say_pmus, .detail = true },
	{ "perf_event_paranoid", "paranoid", say_paranoid, .setting = SETTING(paranoid) },
	{ "sample_rate", "sample rate", say_rate, .setting = SETTING(max_rate) },
	{ "cpu_time", "sampling time", say_cpu_time, .setting = SETTING(cpu_percent),
	  .detail = true },
	{ "max_stack", "stack depth", say_stack, .setting = SETTING(max_stack) },
	{ "nmi_watchdog", "NMI watchdog", say_watchdog, .detail = true },
	{ "idle", "idle CPUs", say_idle, .detail = true },
	{ NULL },
};
