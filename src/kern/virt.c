/* SPDX-License-Identifier: MIT */
#include "kern/virt.h"

#include <string.h>
#include <sys/stat.h>
#if defined(__x86_64__) || defined(__i386__)
#	include <cpuid.h>
#endif

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/proc.h"

/* The first one has this inode on every kernel (PROC_UTS_INIT_INO). */
#define INIT_UTSNS 0xEFFFFFFEu
/* Namespaces made later are numbered from here (PROC_DYNAMIC_FIRST). */
#define FIRST_DYNAMIC_NS 0xF0000000u

/* CPUID leaf 0x40000000, EBX ECX EDX. */
static const struct {
	const char *signature, *name;
} signatures[] = {
	{ "KVMKVMKVM", "KVM" },
	{ "Linux KVM Hv", "KVM" },
	{ "TCGTCGTCGTCG", "QEMU TCG" },
	{ "Microsoft Hv", "Hyper-V" },
	{ "VMwareVMware", "VMware" },
	{ "XenVMMXenVMM", "Xen" },
	{ "VBoxVBoxVBox", "VirtualBox" },
	{ "bhyve bhyve ", "bhyve" },
	{ " lrpepyh  vr", "Parallels" },
	{ "prl hyperv  ", "Parallels" },
	{ "ACRNACRNACRN", "ACRN" },
	{ "QNXQVMBSQG", "QNX" },
	{ "OpenBSDVMM58", "OpenBSD vmm" },
	{ "Jailhouse", "Jailhouse" },
	{ "SRESRESRESRE", "LMHS" },
	{ "UnisysSpar64", "sPAR" },
};

/* Parts of DMI's sys_vendor, product_name, bios_vendor and the like; the first that fits. */
static const struct virt_product products[] = {
	{ "Amazon EC2", "KVM", "Amazon EC2" },
	{ "Google Compute Engine", "KVM", "Google Compute Engine" },
	{ "OpenStack", "KVM", "OpenStack" },
	{ "KubeVirt", "KVM", "KubeVirt" },
	{ "DigitalOcean", "KVM", "DigitalOcean" },
	{ "Hetzner", NULL, "Hetzner" },
	{ "Alibaba Cloud", NULL, "Alibaba Cloud" },
	{ "VirtualBox", "VirtualBox", "" },
	{ "innotek GmbH", "VirtualBox", "" },
	{ "VMware", "VMware", "" },
	{ "VMW", "VMware", "" },
	{ "Xen", "Xen", "" },
	{ "Parallels", "Parallels", "" },
	{ "BHYVE", "bhyve", "" },
	{ "Hyper-V", "Hyper-V", "" },
	{ "Virtual Machine", "Hyper-V", "" },
	{ "Apple Virtualization", "Apple", "" },
	{ "Bochs", "Bochs", "" },
	{ "QEMU", "QEMU", "" },
	{ "KVM", "KVM", "" },
};

const char *virt_by_cpuid(const char *signature)
{
	for (size_t i = 0; i < ARRAY_SIZE(signatures); i++)
		if (strcmp(signatures[i].signature, signature) == 0)
			return signatures[i].name;
	return NULL;
}

const struct virt_product *virt_by_dmi(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(products); i++)
		if (strstr(text, products[i].part))
			return &products[i];
	return NULL;
}

static void virt_set(char *buf, size_t size, const char *text)
{
	snprintf(buf, size, "%.*s", (int)size - 1, text);
}

static void virt_is_guest(struct virt *v, const char *hypervisor)
{
	v->vm = true;
	virt_set(v->hypervisor, sizeof(v->hypervisor), hypervisor);
}

static const struct virt_product *dmi(void)
{
	static const char *const files[] = { "product_name", "sys_vendor", "board_vendor",
					     "bios_vendor", "product_version" };
	const struct virt_product *weak = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = mem_printf("/sys/class/dmi/id/%s", files[i]);
		const struct virt_product *p;
		char text[256];

		if (file_line(path, text, sizeof(text)) < 0)
			continue;
		/* The big clouds rent whole machines too, and say so. */
		if (i == 0 && str_ends(text, ".metal"))
			return NULL;
		p = virt_by_dmi(text);
		/* "QEMU" in one string and "Google Compute Engine" in another: take the latter. */
		if (p && p->platform[0])
			return p;
		if (p && !weak)
			weak = p;
	}
	return weak;
}

#if defined(__x86_64__) || defined(__i386__)
static void by_cpu(struct virt *v)
{
	unsigned a, b, c, d;
	char sig[13] = "";
	const char *name;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 31)))
		return;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(sig, &b, 4);
	memcpy(sig + 4, &c, 4);
	memcpy(sig + 8, &d, 4);
	name = virt_by_cpuid(sig);
	if (name && strcmp(name, "Hyper-V") == 0) {
		/* The root partition may make others: it is the host, seen through Hyper-V. */
		__cpuid(0x40000003, a, b, c, d);
		if (b & 1)
			return;
	}
	virt_is_guest(v, name ? name : "unknown");
}
#	define HAVE_CPUID true
#else
static void by_cpu(struct virt *v)
{
}
#	define HAVE_CPUID false
#endif

/* ARM, POWER, RISC-V: the device tree, where the firmware gives one. */
static void by_device_tree(struct virt *v)
{
	char text[256];

	if (file_line("/proc/device-tree/hypervisor/compatible", text, sizeof(text)) == 0) {
		virt_is_guest(v, strcmp(text, "linux,kvm") == 0 ? "KVM"
				 : strstr(text, "xen")		? "Xen"
				 : strstr(text, "vmware")	? "VMware"
								: text);
	} else if (file_line("/proc/device-tree/compatible", text, sizeof(text)) == 0 &&
		   (strstr(text, "dummy-virt") || strstr(text, "qemu,"))) {
		virt_is_guest(v, "QEMU");
	} else if (file_exists("/proc/device-tree/ibm,partition-name")) {
		virt_is_guest(v, "PowerVM");
	}
}

/* Mainframes say it in /proc/sysinfo, Xen in sysfs, user-mode Linux in cpuinfo. */
static void by_kernel(struct virt *v)
{
	AUTO_FREE char *text = NULL;
	char line[256];

	if (file_line("/sys/hypervisor/type", line, sizeof(line)) == 0 && !v->vm) {
		char dom0[64] = "";

		file_line("/proc/xen/capabilities", dom0, sizeof(dom0));
		v->vm = !strstr(dom0, "control_d");
		if (v->vm)
			virt_set(v->hypervisor, sizeof(v->hypervisor),
				 strcmp(line, "xen") == 0 ? "Xen" : line);
	}
	if (file_read("/proc/sysinfo", 1 << 16, &text, NULL) == 0 && strstr(text, "VM00")) {
		virt_is_guest(v, strstr(text, "KVM") ? "KVM" : "z/VM");
	}
	if (file_line("/proc/sys/kernel/osrelease", line, sizeof(line)) == 0 &&
	    (strstr(line, "microsoft-standard") || strstr(line, "Microsoft")))
		virt_set(v->platform, sizeof(v->platform), "WSL");
}

/* Firecracker leaves DMI empty, but signs its ACPI tables. Readable by root only. */
static bool is_firecracker(void)
{
	AUTO_FREE char *text = NULL;
	size_t n;

	return file_read("/sys/firmware/acpi/tables/DSDT", 1 << 20, &text, &n) == 0 && n >= 16 &&
	       memcmp(text + 10, "FIRECK", 6) == 0;
}

/* Other mounts and host name than the machine's? Users may not look at PID 1's mount namespace,
 * but the first ones get the lowest numbers. */
static bool own_mounts(void)
{
	struct stat self, init;

	if (stat("/proc/self/ns/uts", &self) < 0 || self.st_ino == INIT_UTSNS ||
	    stat("/proc/self/ns/mnt", &self) < 0)
		return false;
	if (stat("/proc/1/ns/mnt", &init) == 0)
		return self.st_ino != init.st_ino;
	return self.st_ino > FIRST_DYNAMIC_NS + 1;
}

static void container(struct virt *v)
{
	static const struct {
		const char *part, *name;
	} cgroups[] = {
		{ "kubepods", "kubernetes" },
		{ "/docker", "docker" },
		{ "/libpod", "podman" },
		{ "/lxc", "lxc" },
		{ "/machine.slice/machine-", "systemd-nspawn" },
	};
	const char *name = getenv("container");
	AUTO_FREE char *text = NULL;
	char line[64];

	v->own_pids = file_exists("/proc/self/ns/pid") && !proc_first_pidns();
	/* The marks below also stand in images that were booted as a whole machine. */
	if (!v->own_pids && !own_mounts())
		return;
	if (file_line("/run/systemd/container", line, sizeof(line)) == 0 && line[0])
		virt_set(v->container, sizeof(v->container), line);
	else if (file_exists("/.dockerenv"))
		virt_set(v->container, sizeof(v->container), "docker");
	else if (file_exists("/run/.containerenv"))
		virt_set(v->container, sizeof(v->container), "podman");
	else if (getenv("KUBERNETES_SERVICE_HOST"))
		virt_set(v->container, sizeof(v->container), "kubernetes");
	else if (name && *name)
		virt_set(v->container, sizeof(v->container), name);
	else if (file_exists("/proc/vz") && !file_exists("/proc/bc"))
		virt_set(v->container, sizeof(v->container), "openvz");
	else if (file_read("/proc/1/cgroup", 1 << 16, &text, NULL) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++)
			if (strstr(text, cgroups[i].part)) {
				virt_set(v->container, sizeof(v->container), cgroups[i].name);
				break;
			}
	if (!v->container[0] && v->own_pids)
		virt_set(v->container, sizeof(v->container), "namespaces");
}

void virt_read(struct virt *v)
{
	const struct virt_product *p = dmi();

	*v = (struct virt){ 0 };
	by_cpu(v);
	by_kernel(v);
	if (!HAVE_CPUID && !v->vm) {
		by_device_tree(v);
		if (!v->vm && p && p->hypervisor) {
			virt_is_guest(v, p->hypervisor);
		}
	}
	if (p && !v->platform[0])
		virt_set(v->platform, sizeof(v->platform),
			 p->platform[0]			? p->platform
			 : strcmp(p->part, "QEMU") == 0 ? "QEMU"
			 : p->hypervisor && strcmp(p->hypervisor, v->hypervisor) != 0
				 ? p->hypervisor
				 : "");
	if (v->vm && !v->platform[0] && strcmp(v->hypervisor, "KVM") == 0 && is_firecracker())
		virt_set(v->platform, sizeof(v->platform), "Firecracker");
	if (strstr(v->hypervisor, v->platform) || !v->vm)
		v->platform[0] = '\0';
	container(v);
}
