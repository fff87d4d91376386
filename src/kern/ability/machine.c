/* SPDX-License-Identifier: MIT */
/* Lines about the machine and who asks. */
#include <linux/capability.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/line.h"

static void say_kernel(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;

	ability_ok(a, h->release, "%s, %u CPU%s%s%s", h->machine, h->cpus, h->cpus == 1 ? "" : "s",
		   h->cpu[0] ? ", " : "", h->cpu);
}

static void say_cpus(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%u of %u", f->host.cpus, f->host.cpus_all);
	ability_ok(a, NULL, "online, %s", f->host.machine);
}

static void say_virt(const struct ability_facts *f, struct ability *a)
{
	const struct virt *v = &f->virt;

	if (v->vm) {
		ability_value(a, "%s guest", v->hypervisor);
		ability_ok(a, NULL, "%s%sits host decides about CPU counters", v->platform,
			   v->platform[0] ? "; " : "");
	} else {
		ability_ok(a, "bare metal", "no hypervisor: the CPU's counters are all yours");
	}
}

static void say_container(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%s", f->virt.container[0] ? f->virt.container : "none");
	if (f->virt.own_pids) {
		ability_limited(a, NULL, "only the processes inside it can be seen and named");
		ability_needs(a, "kymo on the host, or a container that shares its PIDs "
				 "(docker: --pid=host)");
	} else if (f->virt.container[0]) {
		ability_ok(a, NULL, "the host's processes are visible");
	} else {
		ability_ok(a, NULL, "all processes of the machine are visible");
		a->detail = true;
	}
}

static void say_privileges(const struct ability_facts *f, struct ability *a)
{
	/* What tracing takes; CAP_SYS_ADMIN stands for the two newer ones. */
	const uint64_t wanted = 1ull << CAP_SYS_ADMIN | 1ull << CAP_SYS_PTRACE |
				1ull << CAP_SYSLOG | 1ull << CAP_DAC_OVERRIDE;
	const struct priv *p = &f->priv;
	uint64_t lacks = wanted & p->known & ~p->caps;
	char names[160];

	if (p->euid == 0)
		ability_value(a, "root");
	else
		ability_value(a, "user %u", (unsigned)p->euid);
	if (p->own_userns && p->euid == 0) {
		ability_limited(a, NULL,
				"root of a user namespace only, which counts as an ordinary user");
		ability_needs(a, "the machine's root");
	} else if (p->euid == 0 && priv_names(lacks, names, sizeof(names))) {
		ability_limited(a, NULL, "without %s", names);
		ability_needs_root(f, a);
	} else if (p->euid == 0) {
		ability_ok(a, NULL, "may see all that the kernel gives%s",
			   p->filtered ? " and the seccomp filter lets through" : "");
	} else if (priv_names(p->caps, names, sizeof(names))) {
		ability_ok(a, NULL, "with %s", names);
	} else {
		ability_limited(a, NULL, "your own processes; root sees everything");
		ability_needs_root(f, a);
	}
}

static void say_seccomp(const struct ability_facts *f, struct ability *a)
{
	ability_ok(a, f->priv.filtered ? "filter" : "none",
		   f->priv.filtered ? "some system calls may be refused to kymo"
				    : "no system call is filtered");
}

static void say_userns(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%s", f->priv.own_userns ? "own" : "initial");
	if (f->priv.own_userns) {
		ability_limited(a, NULL, "capabilities held in it do not count for perf and BPF");
		ability_needs(a, "kymo outside the user namespace");
	} else if (f->host.userns_max == TRY_ABSENT) {
		ability_ok(a, NULL, "the kernel has no other user namespaces");
	} else {
		ability_ok(a, NULL, "capabilities count in full");
	}
}

static void say_lockdown(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%s", lockdown_name(f->lockdown));
	switch (f->lockdown) {
	case LOCKDOWN_NONE: ability_ok(a, NULL, "the kernel hides nothing from root"); break;
	case LOCKDOWN_INTEGRITY:
		ability_limited(a, NULL, "closes debugfs and writing by BPF; the rest is free");
		break;
	case LOCKDOWN_CONFIDENTIALITY:
		ability_missing(a, NULL, "tracefs, kernel probes and kernel memory are closed");
		ability_needs(a, "a boot without lockdown=confidentiality");
		break;
	case LOCKDOWN_UNKNOWN:
		ability_off(a, NULL, "securityfs is not mounted: only root can tell");
		ability_fix_root(f, a, "mount -t securityfs nodev /sys/kernel/security");
		break;
	}
}

static void say_clock(const struct ability_facts *f, struct ability *a)
{
	static const char *const fast[] = {
		"tsc",	    "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter",
		"timebase", "tod",	 "riscv_clocksource",		"stp"
	};
	const char *clock = f->host.clock;

	ability_value(a, "%s", clock[0] ? clock : "unknown");
	for (size_t i = 0; i < ARRAY_SIZE(fast); i++)
		if (strcmp(clock, fast[i]) == 0) {
			ability_ok(a, NULL, "reading the time is cheap");
			return;
		}
	if (!clock[0]) {
		ability_ok(a, NULL, "the kernel does not say which clock it uses");
		return;
	}
	ability_limited(a, NULL, "slow: each look at the time costs a microsecond or more");
	if (str_has_word(f->host.clocks, "tsc", ' '))
		ability_fix_root(f, a,
				 "sh -c 'echo tsc > /sys/devices/system/clocksource/"
				 "clocksource0/current_clocksource'");
	else
		ability_needs(a, "a CPU or host whose time stamp counter the kernel trusts");
}

const struct ability_line ability_machine[] = {
	{ "kernel", "kernel", say_kernel },
	{ "cpus", "CPUs", say_cpus, .detail = true },
	{ "virt", "machine", say_virt },
	{ "container", "container", say_container },
	{ "privileges", "you", say_privileges },
	{ "seccomp", "seccomp", say_seccomp, .detail = true },
	{ "userns", "user namespace", say_userns, .detail = true },
	{ "lockdown", "lockdown", say_lockdown },
	{ "clocksource", "clock", say_clock },
	{ NULL },
};
