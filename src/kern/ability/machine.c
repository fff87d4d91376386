/* SPDX-License-Identifier: MIT */
/* Lines about the machine and who asks. */
#include <errno.h>
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

/* Lines about limits: locked memory, open files, control groups. */

#define USUAL_MLOCK_KB 516 /* 128 pages for data and one for the head, as the kernel sets it */
#define FEW_EVENTS 200	   /* open files for each CPU */
#define NO_MEMLOCK 0x50b00 /* from Linux 5.11 BPF maps are not counted as locked memory */

static void say_ring(const struct ability_facts *f, struct ability *a)
{
	int64_t kb = f->perf.mlock_kb;
	char size[32];

	if (priv_has(&f->priv, CAP_IPC_LOCK) || f->perf.paranoid < 0) {
		ability_ok(a, "no limit", "as large as memory allows (-m)");
		return;
	}
	ability_value(a, "%s a CPU", str_bytes((uint64_t)kb * 1024, size, sizeof(size)));
	if (kb < USUAL_MLOCK_KB) {
		ability_limited(a, NULL, "small buffers lose events under load");
		ability_fix_root(f, a, "sysctl kernel.perf_event_mlock_kb=%d", USUAL_MLOCK_KB);
	} else {
		ability_ok(a, NULL, "for your recordings' buffers (-m)");
	}
}

static void say_memlock(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;
	char size[32];

	if (h->memlock == UINT64_MAX)
		ability_value(a, "no limit");
	else
		ability_value(a, "%s", str_bytes(h->memlock, size, sizeof(size)));
	if (h->version < NO_MEMLOCK && h->memlock < 8u << 20 &&
	    !priv_has(&f->priv, CAP_SYS_RESOURCE)) {
		ability_limited(a, NULL, "BPF maps must fit into it on this kernel");
		ability_fix_root(f, a, "prlimit --pid $$ --memlock=unlimited");
	} else {
		ability_ok(a, NULL, "for each process, on top of the ring buffers' share");
	}
}

static void say_nofile(const struct ability_facts *f, struct ability *a)
{
	uint64_t most = f->host.nofile_hard;
	unsigned cpus = f->host.cpus ? f->host.cpus : 1;
	char n[32], each[32];

	/* The soft limit does not matter: kymo may raise it to the hard one. */
	if (most == UINT64_MAX)
		ability_value(a, "no limit");
	else
		ability_value(a, "%s", str_thousands(most, n, sizeof(n)));
	if (most / cpus >= FEW_EVENTS || priv_has(&f->priv, CAP_SYS_RESOURCE)) {
		ability_ok(a, NULL, "one event on all CPUs takes %u", cpus);
		return;
	}
	ability_limited(a, NULL, "only %s events at once on all %u CPUs",
			str_thousands(most / cpus, each, sizeof(each)), cpus);
	ability_fix_root(f, a, "prlimit --pid $$ --nofile=1048576");
}

static void say_cgroup(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;

	ability_value(a, "%s", h->cgroup[0] ? h->cgroup : "none");
	if (h->cgroup_try == 0) {
		ability_ok(a, NULL, "counting by cgroup works (stat -G)");
	} else if (!h->cgroup_perf && kconfig_get(&f->config, "CGROUP_PERF") != 'y') {
		ability_not_built(f, a, "CGROUP_PERF");
	} else if (!h->cgroup[0]) {
		ability_missing(a, NULL, "no cgroup file system is mounted");
		ability_fix_root(f, a, "mount -t cgroup2 nodev /sys/fs/cgroup");
	} else if (h->cgroup_try == -EACCES && !priv_perfmon(&f->priv)) {
		ability_missing(a, NULL, "needs a view of all processes");
		ability_needs_root(f, a);
	} else {
		ability_missing(a, NULL, "no counting by cgroup: %s", strerror(-h->cgroup_try));
		if (h->cgroup_try == -ENOENT)
			ability_needs(a, "a mount of the perf_event controller");
	}
}

const struct ability_line ability_limits[] = {
	{ "ring_buffer", "ring buffers", say_ring, .setting = SETTING(mlock_kb) },
	{ "memlock", "locked memory", say_memlock, .detail = true },
	{ "nofile", "open files", say_nofile },
	{ "cgroup", "cgroups", say_cgroup },
	{ NULL },
};
