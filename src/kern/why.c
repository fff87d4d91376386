/* SPDX-License-Identifier: MIT */
#include "kern/why.h"

#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "kern/pmu.h"
#include "kern/priv.h"
#include "kern/virt.h"

static const char software_hint[] =
	"count software events (task-clock, page-faults, context-switches), or give the VM a PMU "
	"(KVM: -cpu host,pmu=on)";

void why_look(struct why_facts *f)
{
	struct pmus pmus;
	struct rlimit files;
	struct priv priv;
	struct virt virt;
	int64_t level;

	*f = (struct why_facts){ 0 };
	priv_read(&priv);
	f->may_all = priv_perfmon(&priv);
	f->filtered = priv.filtered;
	virt_read(&virt);
	f->vm = virt.vm;
	f->confidential = lockdown_read() == LOCKDOWN_CONFIDENTIALITY;
	f->level_known = file_i64("/proc/sys/kernel/perf_event_paranoid", &level) == 0;
	f->level = f->level_known ? (int)level : 2;
	pmus_init(&pmus, "/sys");
	f->core_pmu = pmu_has_core(&pmus);
	pmus_free(&pmus);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		f->max_files = files.rlim_cur;
}

const char *why_no_pmu(bool vm)
{
	return vm ? "no PMU in this VM" : "the kernel drives no PMU of this machine";
}

static bool counts_cpu(const struct event_spec *s)
{
	return s->kind == SPEC_HARDWARE || s->kind == SPEC_CACHE || s->kind == SPEC_RAW;
}

static int no_such_event(const struct why_facts *f, const struct event_spec *s, struct err *e)
{
	if (counts_cpu(s) && !f->core_pmu) {
		err_set(e, ENOENT, "%s: %s", s->name, why_no_pmu(f->vm));
		return err_hint(e, "%s",
				f->vm ? software_hint
				      : "is the kernel built for this CPU? 'dmesg | grep -i pmu' "
					"says what it found");
	}
	if (counts_cpu(s)) {
		err_set(e, ENOENT, "%s: this CPU's PMU has no such event", s->name);
		return err_hint(e, "'kymo list -v hw cache' shows which it has");
	}
	if (s->kind == SPEC_TRACEPOINT)
		return err_set(e, ENOENT, "%s: the tracepoint is gone; was its module unloaded?",
			       s->name);
	return err_set(e, ENOENT, "%s: the kernel has no such event (type %u, config 0x%llx)",
		       s->name, s->attr.type, (unsigned long long)s->attr.config);
}

/* The highest perf_event_paranoid that lets an ordinary user open this. */
static int level_needed(const struct event_spec *s, pid_t pid, int cpu, const char **what)
{
	if (s->kind == SPEC_TRACEPOINT && s->attr.sample_type & PERF_SAMPLE_RAW) {
		*what = "recording tracepoints";
		return -1;
	}
	if (pid == -1 || (cpu >= 0 && pid < 0)) {
		*what = "measuring the whole system";
		return 0;
	}
	if (s->pmu_cpus) {
		*what = "events outside the CPU cores";
		return 0;
	}
	if (!s->attr.exclude_kernel) {
		*what = "measuring the kernel";
		return 1;
	}
	*what = "measuring";
	return 2;
}

static int why_refused(const struct why_facts *f, const struct event_spec *s, int code, pid_t pid,
		       int cpu, struct err *e)
{
	const char *what;
	int need = level_needed(s, pid, cpu, &what);

	if (f->confidential) {
		err_set(e, code, "%s: kernel lockdown (confidentiality) forbids it", s->name);
		return err_hint(e,
				"boot with lockdown=integrity or without it; no setting helps now");
	}
	if (!f->may_all && f->level_known && f->level > need) {
		err_set(e, code, "%s: %s is not allowed to you (kernel.perf_event_paranoid is %d)",
			s->name, what, f->level);
		if (need == 1 && f->level == 2)
			return err_hint(
				e, "count user space only, with the modifier u (as in cycles:u), "
				   "or: sudo sysctl kernel.perf_event_paranoid=1");
		return err_hint(e,
				"use sudo, or: sudo sysctl kernel.perf_event_paranoid=%d, or give "
				"kymo the capability: sudo setcap cap_perfmon+ep \"$(command -v "
				"kymo)\"",
				need);
	}
	if (!f->may_all && pid > 0) {
		err_set(e, code, "%s: process %d is not yours to measure", s->name, (int)pid);
		return err_hint(e, "use sudo");
	}
	if (f->filtered) {
		err_set(e, code, "%s: perf_event_open is blocked here by a system call filter",
			s->name);
		return err_hint(e, "in a container: docker run --cap-add PERFMON --security-opt "
				   "seccomp=unconfined");
	}
	err_set(e, code, "%s: the kernel refuses it (%s)", s->name, strerror(code));
	return err_hint(e, f->may_all ? "a security module may forbid it: 'dmesg | tail' may say"
				      : "use sudo, or give kymo the capability CAP_PERFMON");
}

static int invalid_breakpoint(const struct event_spec *s, struct err *e)
{
	unsigned type = s->attr.bp_type;

	err_set(e, EINVAL, "%s: this CPU cannot watch that", s->name);
	if ((type & HW_BREAKPOINT_X) && type != HW_BREAKPOINT_X)
		return err_hint(e, "x cannot be combined with r or w: use two events");
	if (type == HW_BREAKPOINT_X && s->attr.bp_len != SPEC_BP_EXEC_LEN)
		return err_hint(e, "leave the length out for x");
	if (s->attr.bp_len && s->attr.bp_addr % s->attr.bp_len)
		return err_hint(e, "the address must be a multiple of the length (%llu)",
				(unsigned long long)s->attr.bp_len);
	if (type == HW_BREAKPOINT_R)
		return err_hint(e, "x86 has no watch for reads alone: use rw");
	return err_hint(e, "lengths are 1, 2, 4 and 8 bytes");
}

static int invalid(const struct event_spec *s, pid_t pid, int cpu, struct err *e)
{
	if (s->kind == SPEC_BREAKPOINT)
		return invalid_breakpoint(s, e);
	if (s->pmu_cpus && pid >= 0) {
		err_set(e, EINVAL, "%s: %s counts for the whole machine, not for one process",
			s->name, s->pmu);
		return err_hint(e, "add -a");
	}
	if (s->pmu && (s->attr.exclude_user || s->attr.exclude_kernel || s->attr.exclude_hv)) {
		err_set(e, EINVAL, "%s: %s cannot tell user space from the kernel", s->name,
			s->pmu);
		return err_hint(e, "leave out the modifiers u, k and h");
	}
	if (s->attr.precise_ip) {
		err_set(e, EINVAL, "%s: not with this much precision", s->name);
		return err_hint(e, "use fewer p, or P for the best there is");
	}
	err_set(e, EINVAL,
		"%s: the kernel does not accept it like this (type %u, config 0x%llx, "
		"pid %d, cpu %d)",
		s->name, s->attr.type, (unsigned long long)s->attr.config, (int)pid, cpu);
	return err_hint(e, "events of one group must be of one PMU and fit on it together; a raw "
			   "config must be valid for this CPU");
}

static int unsupported(const struct why_facts *f, const struct event_spec *s, int code,
		       struct err *e)
{
	if (s->attr.precise_ip || s->precise_max) {
		err_set(e, code, "%s: this PMU cannot sample precisely", s->name);
		return err_hint(e, "leave out p and P");
	}
	if (s->attr.sample_period || s->attr.sample_freq) {
		err_set(e, code, "%s: this PMU counts, but cannot sample", s->name);
		return err_hint(e, f->core_pmu ? "sample cycles instead, or count it with kymo stat"
					       : "sample cpu-clock instead");
	}
	err_set(e, code, "%s: the hardware does not support it", s->name);
	if (counts_cpu(s) && !f->core_pmu)
		return err_hint(e, "%s: %s", why_no_pmu(f->vm), software_hint);
	return err_hint(e, "'kymo list -v' shows what it supports");
}

static int busy(const struct event_spec *s, int code, struct err *e)
{
	if (s->kind == SPEC_BREAKPOINT) {
		err_set(e, code, "%s: all breakpoint registers are in use", s->name);
		return err_hint(e, "x86 has 4 for all of mem:, debuggers included; use fewer");
	}
	err_set(e, code, "%s: the PMU is in use by something else", s->name);
	return err_hint(e, "a pinned or exclusive event holds it; the NMI watchdog takes one "
			   "counter: sudo sysctl kernel.nmi_watchdog=0");
}

int why_explain(const struct why_facts *f, const struct event_spec *s, int code, pid_t pid, int cpu,
		struct err *e)
{
	switch (code) {
	case ENOENT: return no_such_event(f, s, e);
	case EACCES:
	case EPERM: return why_refused(f, s, code, pid, cpu, e);
	case EINVAL: return invalid(s, pid, cpu, e);
	case EOPNOTSUPP: return unsupported(f, s, code, e);
	case ENOSPC:
	case EBUSY: return busy(s, code, e);
	case EMFILE:
		err_set(e, code, "%s: too many open files (the limit is %llu)", s->name,
			(unsigned long long)f->max_files);
		return err_hint(e, "raise it with 'ulimit -n 65536', or use fewer events or CPUs");
	case ENFILE:
		err_set(e, code, "%s: the system has no more open files", s->name);
		return err_hint(e, "sudo sysctl fs.file-max=1000000");
	case ESRCH:
		err_set(e, code, "%s: there is no process or thread %d", s->name, (int)pid);
		return err_hint(e, "it may have ended just now");
	case ENODEV:
		if (cpu < 0)
			return unsupported(f, s, code, e);
		err_set(e, code, "%s: CPU %d is not online", s->name, cpu);
		return err_hint(e, "'cat /sys/devices/system/cpu/online' shows which are");
	case ENOSYS:
		err_set(e, code, "this kernel has no perf_event_open");
		return err_hint(e, "it needs CONFIG_PERF_EVENTS");
	case E2BIG:
		err_set(e, code, "%s: this kernel is too old for what the event needs", s->name);
		return err_hint(e, "config3 needs Linux 6.3");
	case EOVERFLOW:
		err_set(e, code, "%s: the stack may not be that deep", s->name);
		return err_hint(e, "sudo sysctl kernel.perf_event_max_stack=N, or a smaller "
				   "max-stack");
	default: return err_set(e, code, "%s: cannot open it: %s", s->name, strerror(code));
	}
}

int why_open_failed(const struct event_spec *s, int code, pid_t pid, int cpu, struct err *e)
{
	struct why_facts f;

	why_look(&f);
	return why_explain(&f, s, code, pid, cpu, e);
}
