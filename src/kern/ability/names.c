/* SPDX-License-Identifier: MIT */
/* Lines about names (symbols, debug information) and the files kymo writes. */
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/line.h"

#define LITTLE_SPACE (1ull << 30)

static void say_kallsyms(const struct ability_facts *f, struct ability *a)
{
	const struct try_perf *p = &f->perf;

	if (f->host.kallsyms) {
		ability_ok(a, "shown", "kernel functions have names");
		return;
	}
	ability_missing(a, "hidden", "kernel functions show as addresses");
	if (p->kptr == TRY_ABSENT)
		ability_not_built(f, a, "KALLSYMS");
	else if (p->kptr >= 2)
		ability_fix_root(f, a, "sysctl kernel.kptr_restrict=%d", f->priv.euid == 0 ? 1 : 0);
	else if (p->kptr == 1 && f->priv.euid != 0)
		ability_fix_root(f, a,
				 "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	/* With 0 the kernel still asks for a perf that may look at it. */
	else if (f->priv.euid != 0)
		ability_fix_root(f, a, "sysctl kernel.perf_event_paranoid=1");
	else
		ability_needs_root(f, a);
}

static void say_kptr(const struct ability_facts *f, struct ability *a)
{
	int64_t v = f->perf.kptr;

	if (v == TRY_ABSENT) {
		ability_ok(a, "unknown", "the kernel does not show the setting");
		return;
	}
	ability_value(a, "%" PRId64, v);
	ability_ok(a, NULL,
		   v == 0   ? "kernel addresses are for all who may profile the kernel"
		   : v == 1 ? "kernel addresses are for CAP_SYSLOG"
			    : "kernel addresses are for nobody");
}

/* Where distributions keep the debug information of their kernels. */
static const struct {
	const char *distro, *command;
} debug_packages[] = {
	{ "debian", "apt-get install linux-image-%s-dbg" },
	{ "ubuntu", "apt-get install linux-image-%s-dbgsym" },
	{ "fedora", "dnf debuginfo-install kernel-core-%s" },
	{ "rhel", "dnf debuginfo-install kernel-core-%s" },
	{ "centos", "dnf debuginfo-install kernel-core-%s" },
	{ "rocky", "dnf debuginfo-install kernel-core-%s" },
	{ "almalinux", "dnf debuginfo-install kernel-core-%s" },
	{ "opensuse-leap", "zypper install kernel-default-debuginfo" },
	{ "opensuse-tumbleweed", "zypper install kernel-default-debuginfo" },
};

static void say_vmlinux(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;

	if (h->vmlinux[0]) {
		ability_ok(a, "found", "%s: source lines and inlined functions", h->vmlinux);
		return;
	}
	ability_off(a, "none", "no source lines of the kernel");
	if (!h->distro_kernel) {
		ability_needs(a, "a vmlinux of this kernel");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(debug_packages); i++) {
		char command[200];

		if (strcmp(h->distro, debug_packages[i].distro) != 0)
			continue;
		snprintf(command, sizeof(command), debug_packages[i].command, h->release);
		ability_fix_root(f, a, "%s", command);
		return;
	}
	ability_needs(a, "the debug package of kernel %s", h->release);
}

const char *ability_debuginfod(const char *distro)
{
	static const char *const known[][2] = {
		{ "debian", "debuginfod.debian.net" },
		{ "ubuntu", "debuginfod.ubuntu.com" },
		{ "fedora", "debuginfod.fedoraproject.org" },
		{ "arch", "debuginfod.archlinux.org" },
		{ "opensuse-leap", "debuginfod.opensuse.org" },
		{ "opensuse-tumbleweed", "debuginfod.opensuse.org" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(distro, known[i][0]) == 0)
			return known[i][1];
	return "debuginfod.elfutils.org";
}

static void say_debuginfod(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;

	if (!h->debuginfod_built) {
		ability_off(a, "not built in", "this kymo cannot fetch debug files");
		ability_needs(a, "a kymo built with libdebuginfod");
	} else if (h->debuginfod[0]) {
		ability_ok(a, "set", "debug files come from %s", h->debuginfod);
	} else {
		ability_off(a, "not set", "debug files are not fetched");
		ability_fix(a, "export DEBUGINFOD_URLS=https://%s/", ability_debuginfod(h->distro));
	}
}

static void say_cache(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;

	ability_value(a, "%s", h->cache_error == 0 ? "writable" : h->cache[0] ? "closed" : "none");
	if (h->cache_error == 0) {
		ability_ok(a, NULL, "%s keeps symbol indexes between runs", h->cache);
		return;
	}
	if (h->cache[0])
		ability_limited(a, NULL, "%s cannot be written: %s", h->cache,
				strerror(-h->cache_error));
	else
		ability_limited(a, NULL, "symbol indexes are not kept: HOME is not set");
	ability_fix(a, "export XDG_CACHE_HOME=/var/tmp/$USER");
}

static void say_disk(const struct ability_facts *f, struct ability *a)
{
	const struct ability_host *h = &f->host;
	char size[32];

	ability_value(a, "%s free", str_bytes(h->cwd_free, size, sizeof(size)));
	if (h->cwd_error < 0) {
		ability_limited(a, NULL, "no recordings in this directory: %s",
				strerror(-h->cwd_error));
		ability_fix(a, "cd /var/tmp");
	} else if (h->cwd_free < LITTLE_SPACE) {
		ability_limited(a, NULL, "little room for recordings in %s", h->cwd);
		ability_needs(a, "a directory on a disk with more room (or -o FILE)");
	} else {
		ability_ok(a, NULL, "for recordings in %s", h->cwd);
	}
}

const struct ability_line ability_names[] = {
	{ "kallsyms", "kernel names", say_kallsyms },
	{ "kptr_restrict", "kptr_restrict", say_kptr, .detail = true },
	{ "vmlinux", "vmlinux", say_vmlinux },
	{ "debuginfod", "debuginfod", say_debuginfod },
	{ "cache", "cache", say_cache },
	{ "disk", "disk", say_disk },
	{ NULL },
};
