/* SPDX-License-Identifier: MIT */
/* Is this a virtual machine or a container, and whose? On x86 CPUID says; elsewhere the firmware
 * (DMI, device tree). DMI names the product as well: "Google Compute Engine". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct virt {
	bool vm;
	char hypervisor[32]; /* "KVM", "VMware"; "" on bare metal */
	char platform[48];  /* "Amazon EC2", "Firecracker", "QEMU"; "" when nothing more is known */
	char container[32]; /* "docker", "podman", "lxc"; "" when in none that is known */
	bool own_pids;	    /* a PID namespace of its own: other processes are not visible */
};

void virt_read(struct virt *v);

/* For tests: what CPUID's 12 bytes, or the DMI strings, mean; NULL when unknown. */
const char *virt_by_cpuid(const char *signature);
struct virt_product {
	const char *part;	/* of a DMI string */
	const char *hypervisor; /* what it stands on; NULL: the string says nothing of it */
	const char *platform;
};
const struct virt_product *virt_by_dmi(const char *text);
