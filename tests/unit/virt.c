/* SPDX-License-Identifier: MIT */
/* What signatures, DMI strings, lockdown and configuration texts mean. */
#include "kern/virt.h"

#include <linux/capability.h>

#include "kern/kconfig.h"
#include "kern/priv.h"
#include "tap.h"

static void hypervisors(void)
{
	CHECK_STR(virt_by_cpuid("KVMKVMKVM"), "KVM");
	CHECK_STR(virt_by_cpuid("Microsoft Hv"), "Hyper-V");
	CHECK_STR(virt_by_cpuid("GenuineIntel"), NULL);
	CHECK_STR(virt_by_cpuid(""), NULL);
	CHECK_STR(virt_by_dmi("Google Compute Engine")->platform, "Google Compute Engine");
	CHECK_STR(virt_by_dmi("VMware Virtual Platform")->hypervisor, "VMware");
	CHECK_STR(virt_by_dmi("Standard PC (Q35 + ICH9, 2009) QEMU")->hypervisor, "QEMU");
	CHECK(!virt_by_dmi("ThinkPad X1"));
	CHECK(!virt_by_dmi(""));
}

static void lockdown(void)
{
	CHECK_INT(lockdown_parse("[none] integrity confidentiality\n"), LOCKDOWN_NONE);
	CHECK_INT(lockdown_parse("none [integrity] confidentiality\n"), LOCKDOWN_INTEGRITY);
	CHECK_INT(lockdown_parse("none integrity [confidentiality]"), LOCKDOWN_CONFIDENTIALITY);
	CHECK_INT(lockdown_parse("none [integr] confidentiality"), LOCKDOWN_UNKNOWN);
	CHECK_INT(lockdown_parse("none [integrity"), LOCKDOWN_UNKNOWN);
	CHECK_INT(lockdown_parse(""), LOCKDOWN_UNKNOWN);
	CHECK_STR(lockdown_name(LOCKDOWN_INTEGRITY), "integrity");
}

static void configuration(void)
{
	char text[] = "CONFIG_BPF=y\n# CONFIG_KPROBES is not set\nCONFIG_LOOP=m\n"
		      "CONFIG_NAME=\"x\"\nCONFIG_KPROBES_ON=y\n";
	struct kconfig k = { .text = text }, none = { 0 };

	CHECK_INT(kconfig_get(&k, "BPF"), 'y');
	CHECK_INT(kconfig_get(&k, "KPROBES"), 'n');
	CHECK_INT(kconfig_get(&k, "LOOP"), 'm');
	CHECK_INT(kconfig_get(&k, "NAME"), 'y');
	CHECK_INT(kconfig_get(&k, "ABSENT"), 'n');
	CHECK_INT(kconfig_get(&none, "BPF"), '?');
}

static void privileges(void)
{
	struct priv p = { .caps = 1ull << CAP_SYS_ADMIN }, q = { 0 };
	char names[64];

	CHECK(priv_perfmon(&p) && priv_has(&p, CAP_SYS_ADMIN));
	p.own_userns = true;
	CHECK(!priv_perfmon(&p));
	p = (struct priv){ .caps = 1ull << 38 };
	CHECK(priv_perfmon(&p));
	p.caps |= 1ull << 39;
	CHECK(priv_names(p.caps, names, sizeof(names)));
	CHECK_STR(names, "CAP_PERFMON, CAP_BPF");
	CHECK(!priv_names(1ull << CAP_CHOWN, names, sizeof(names)));
	CHECK(priv_names(~0ull, names, 20) && strlen(names) < 20);
	priv_read(&q);
	CHECK(q.known > 1ull << CAP_SYS_ADMIN);
}

int main(void)
{
	hypervisors();
	lockdown();
	configuration();
	privileges();
	return tap_end();
}
