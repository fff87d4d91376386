/* SPDX-License-Identifier: MIT */
/* Lines about limits: locked memory, open files, control groups. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/str.h"
#include "kern/ability/line.h"

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
