/* SPDX-License-Identifier: MIT */
/*
 * The words doctor finds for machines: facts in, lines out. The facts are those
 * of machines that are not at hand; what this machine grants is tests/cli's.
 */
#include "kern/ability/ability.h"

#include <errno.h>

#include "base/mem.h"
#include "tap.h"

static struct ability_facts f;

#define ALL_CAPS 0x1ffffffffffull
#define ENOTSUPP_KERNEL 524

/* Debian on bare metal, root, all there is. */
static void rich_machine(void)
{
	f = (struct ability_facts){
		.priv = { .euid = 0, .caps = ALL_CAPS, .known = ALL_CAPS },
		.lockdown = LOCKDOWN_NONE,
		.perf = { .counters = 8,
			  .core = "cpu",
			  .paranoid = 2,
			  .mlock_kb = 516,
			  .max_stack = 127,
			  .max_rate = 100000,
			  .cpu_percent = 25,
			  .nmi_watchdog = 0,
			  .kptr = 0 },
		.trace = { .possible = true,
			   .path = "/sys/kernel/tracing",
			   .graph = true,
			   .hist = true,
			   .snapshot = true,
			   .ftrace_enabled = 1,
			   .events = 2000,
			   .tracers = "function_graph function nop" },
		.bpf = { .unprivileged = 2, .jit = 1, .btf = 5 << 20, .btf_modules = 90 },
		.host = { .release = "6.1.0-1-amd64",
			  .machine = "x86_64",
			  .clock = "tsc",
			  .version = 0x60100,
			  .cpus = 8,
			  .cpus_all = 8,
			  .distro_kernel = true,
			  .distro = "debian",
			  .kallsyms = true,
			  .vmlinux = "/usr/lib/debug/vmlinux",
			  .debuginfod_built = true,
			  .debuginfod = "https://x/",
			  .cache = "/root/.cache/kymo",
			  .cwd = "/root",
			  .cwd_free = 100ull << 30,
			  .memlock = UINT64_MAX,
			  .nofile = 1024,
			  .nofile_hard = 1 << 20,
			  .cgroup = "v2",
			  .cgroup_perf = true },
	};
}

/* The same for an ordinary user: what is for root is refused. */
static void ordinary_user(void)
{
	rich_machine();
	f.priv.euid = 1000;
	f.priv.caps = 0;
	f.lockdown = LOCKDOWN_UNKNOWN;
	f.perf.cycles = f.perf.all = -EACCES;
	f.trace.readable = f.trace.writable = f.trace.function = -EACCES;
	f.trace.kprobe = f.trace.uprobe = f.trace.fprobe = -EACCES;
	for (int i = 0; i < TRY_BPF_PROGS; i++)
		f.bpf.prog[i] = -EPERM;
	for (int i = 0; i < TRY_BPF_MAPS; i++)
		f.bpf.map[i] = -EPERM;
	for (int i = 0; i < TRY_BPF_HELPERS; i++)
		f.bpf.helper[i] = -EPERM;
	f.host.kallsyms = false;
	f.host.cgroup_try = -EACCES;
}

static struct ability say(const char *id)
{
	struct ability a = { 0 };

	CHECK_CASE(ability_describe_one(&f, id, &a), "there is a line %s", id);
	return a;
}

/* state, then whether it can be fixed, then the fix. */
static void line(const char *id, const char *state, bool fixable, const char *fix)
{
	struct ability a = say(id);

	CHECK_STR(ability_state_name(a.state), state);
	CHECK_CASE(a.fixable == fixable, "%s is %sfixable", id, fixable ? "" : "not ");
	CHECK_STR(a.fix, fix);
}

static void whole_list(const char *machine, unsigned fixes)
{
	AUTO_FREE struct ability *list = mem_alloc(ABILITY_MAX * sizeof(*list));
	size_t n = ability_describe(&f, list);
	unsigned same = 0, mute = 0, order = 0, idle = 0, wants = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			same += strcmp(list[i].id, list[k].id) == 0;
		order += i && list[i].group < list[i - 1].group;
		mute += !list[i].meaning[0] || !list[i].value[0];
		idle += list[i].fixable && (!list[i].fix[0] || list[i].state == ABILITY_OK);
		wants += ability_wants_fix(&list[i]) && !list[i].detail;
	}
	CHECK_CASE(n > 50 && n < ABILITY_MAX, "%s: %zu lines", machine, n);
	CHECK_CASE(!same && !order, "%s: each id once, groups in order", machine);
	CHECK_CASE(!mute, "%s: each line has a value and a meaning", machine);
	CHECK_CASE(!idle, "%s: what can be fixed has a fix, and is not ok", machine);
	CHECK_CASE(wants == fixes, "%s: %u lines to fix, want %u", machine, wants, fixes);
}

static void paranoia(void)
{
	static const struct {
		int64_t level;
		const char *state, *fix;
	} cases[] = {
		{ 4, "missing", "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 3, "missing", "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 2, "limited", "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 1, "limited", "sudo sysctl kernel.perf_event_paranoid=-1" },
		{ 0, "limited", "sudo sysctl kernel.perf_event_paranoid=-1" },
		{ -1, "ok", "" },
	};

	ordinary_user();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f.perf.paranoid = cases[i].level;
		line("perf_event_paranoid", cases[i].state, cases[i].level >= 0, cases[i].fix);
	}
	f.perf.paranoid = 2;
	f.priv.caps = 1ull << 38; /* CAP_PERFMON */
	line("perf_event_paranoid", "ok", false, "");
	f.priv.own_userns = true;
	line("perf_event_paranoid", "limited", false,
	     "outside the user namespace: sysctl kernel.perf_event_paranoid=1");
	line("bpf_maps", "missing", false, "kymo outside the user namespace");
}

static void counters(void)
{
	rich_machine();
	line("pmu", "ok", false, "");
	CHECK_STR(say("pmu").value, "8 at once");
	f.perf.nmi_watchdog = 1;
	line("nmi_watchdog", "limited", true, "sysctl kernel.nmi_watchdog=0");
	CHECK(!say("nmi_watchdog").detail);

	f.perf.cycles = f.perf.cycles_user = -ENOENT;
	line("nmi_watchdog", "ok", false, "");
	line("pmu", "missing", false, "a kernel with a PMU driver for this CPU");
	f.virt = (struct virt){ .vm = true, .hypervisor = "KVM", .platform = "Amazon EC2" };
	line("pmu", "missing", false, "a .metal or a whole-socket instance size");
	f.virt = (struct virt){ .vm = true, .hypervisor = "sPAR" };
	line("pmu", "missing", false, "bare metal, or a host that passes its PMU on");

	ordinary_user();
	f.perf.paranoid = 3;
	f.perf.cycles_user = -EACCES;
	line("pmu", "missing", true, "sudo sysctl kernel.perf_event_paranoid=1");
	f.perf.cycles_user = 0;
	f.perf.paranoid = 2;
	line("pmu", "ok", false, "");

	rich_machine();
	f.perf.max_rate = 1500;
	line("sample_rate", "limited", true, "sysctl kernel.perf_event_max_sample_rate=100000");
}

static void tracing(void)
{
	char config[] = "# CONFIG_KPROBE_EVENTS is not set\n# CONFIG_HIST_TRIGGERS is not set\n"
			"CONFIG_FUNCTION_TRACER=y\nCONFIG_SNAPSHOT=y\n";

	rich_machine();
	f.trace.kprobe = -ENOENT;
	line("kprobes", "missing", false, "CONFIG_KPROBE_EVENTS");
	line("bpf_kprobe", "missing", false, "CONFIG_KPROBE_EVENTS");
	line("bpf_uprobe", "ok", false, "");
	CHECK_STR(say("bpf_programs").value, "6 of 7 work");
	f.trace.function = -EPERM;
	line("function", "missing", false, "");
	CHECK(strstr(say("function").meaning, "Operation not permitted"));
	line("function_graph", "missing", false, "");
	f.trace.function = 0;
	f.trace.ftrace_enabled = 0;
	line("function", "missing", true, "sysctl kernel.ftrace_enabled=1");

	/* Nothing is mounted; root can do that. */
	rich_machine();
	f.trace = (struct try_trace){ .possible = true,
				      .readable = -ENOENT,
				      .writable = -ENOENT,
				      .function = -ENOENT,
				      .fprobe = -EACCES };
	line("tracefs", "missing", true, "mount -t tracefs nodev /sys/kernel/tracing");
	line("hist", "missing", true, "mount -t tracefs nodev /sys/kernel/tracing");
	line("kprobes", "ok", false, "");

	/* A user is told what sudo gives, but not sent to it for what the kernel lacks. */
	ordinary_user();
	f.config.text = config;
	line("kprobes", "missing", false, "CONFIG_KPROBE_EVENTS");
	line("hist", "missing", false, "CONFIG_HIST_TRIGGERS");
	line("function", "missing", true, "sudo kymo ...");
	line("uprobes", "missing", false, "CONFIG_UPROBE_EVENTS");

	/* CAP_PERFMON is not enough for uprobes on newer kernels. */
	ordinary_user();
	f.priv.caps = 1ull << 38;
	line("uprobes", "missing", true, "sudo kymo ...");

	rich_machine();
	CHECK(say("others").detail);
	f.trace.stopped = true;
	line("others", "off", true, "sh -c 'echo 1 > /sys/kernel/tracing/tracing_on'");
	snprintf(f.trace.current, sizeof(f.trace.current), "irqsoff");
	line("others", "limited", true, "sh -c 'echo nop > /sys/kernel/tracing/current_tracer'");
	CHECK(!say("others").detail);
	CHECK_STR(say("others").value, "tracer irqsoff, tracing_on 0");
}

static void locked_down(void)
{
	rich_machine();
	f.lockdown = LOCKDOWN_CONFIDENTIALITY;
	f.trace.readable = f.trace.kprobe = -EPERM;
	f.bpf.helper[TRY_BPF_READ_KERNEL] = -ENOENT;
	line("lockdown", "missing", false, "a boot without lockdown=confidentiality");
	line("tracefs", "missing", false, "a boot without lockdown=confidentiality");
	line("kprobes", "missing", false, "a boot without lockdown=confidentiality");
	line("bpf_read_kernel", "missing", false, "a boot without lockdown=confidentiality");
	f.lockdown = LOCKDOWN_INTEGRITY;
	line("lockdown", "limited", false, "");
	ordinary_user();
	line("lockdown", "off", true, "sudo mount -t securityfs nodev /sys/kernel/security");
}

static void bpf(void)
{
	rich_machine();
	line("bpf_programs", "ok", false, "");
	f.bpf.prog[TRY_BPF_FENTRY] = -ENOTSUPP_KERNEL;
	line("bpf_programs", "limited", false, "");
	CHECK(strstr(say("bpf_programs").meaning, "fentry not on this processor"));
	line("bpf_fentry", "missing", false, "a newer kernel");
	f.bpf.map[TRY_BPF_RINGBUF] = -EINVAL;
	CHECK_STR(say("bpf_maps").value, "4 of 5 work");
	f.bpf.jit = 0;
	line("bpf_jit", "limited", true, "sysctl net.core.bpf_jit_enable=1");
	f.bpf.btf = 0;
	line("btf", "missing", false, "CONFIG_DEBUG_INFO_BTF");
	for (int i = 0; i < TRY_BPF_PROGS; i++)
		f.bpf.prog[i] = -ENOSYS;
	line("bpf_programs", "missing", false, "CONFIG_BPF_SYSCALL");
	ordinary_user();
	line("bpf_programs", "missing", true, "sudo kymo ...");
}

static void containers(void)
{
	rich_machine();
	CHECK(say("container").detail);
	snprintf(f.virt.container, sizeof(f.virt.container), "docker");
	f.virt.own_pids = true;
	f.priv.caps = 0;
	f.priv.filtered = true;
	f.trace.readable = f.trace.writable = -EACCES;
	line("container", "limited", false,
	     "kymo on the host, or a container that shares its PIDs (docker: --pid=host)");
	line("tracefs", "missing", false,
	     "a container started with --privileged, or kymo on the host");
	f.perf.max_stack = 10;
	line("max_stack", "limited", false,
	     "on the host, outside the container: sysctl kernel.perf_event_max_stack=127");

	ordinary_user();
	f.priv.no_new = true;
	line("bpf_maps", "missing", false, "a process that may become root (no_new_privs is set)");
}

static void names_and_limits(void)
{
	ordinary_user();
	line("kallsyms", "missing", true, "sudo sysctl kernel.perf_event_paranoid=1");
	f.perf.kptr = 1;
	line("kallsyms", "missing", true,
	     "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	rich_machine();
	f.host.kallsyms = false;
	f.perf.kptr = 2;
	line("kallsyms", "missing", true, "sysctl kernel.kptr_restrict=1");

	f.host.vmlinux[0] = '\0';
	line("vmlinux", "off", true, "apt-get install linux-image-6.1.0-1-amd64-dbg");
	f.host.distro_kernel = false;
	line("vmlinux", "off", false, "a vmlinux of this kernel");
	f.host.debuginfod[0] = '\0';
	line("debuginfod", "off", true, "export DEBUGINFOD_URLS=https://debuginfod.debian.net/");
	f.host.cwd_free = 5 << 20;
	line("disk", "limited", false, "a directory on a disk with more room (or -o FILE)");
	f.host.cache_error = -EROFS;
	line("cache", "limited", true, "export XDG_CACHE_HOME=/var/tmp/$USER");

	ordinary_user();
	line("nofile", "ok", false, "");
	f.host.nofile_hard = 1024;
	line("nofile", "limited", true, "sudo prlimit --pid $$ --nofile=1048576");
	line("memlock", "ok", false, "");
	f.host.version = 0x50400;
	f.host.memlock = 64 << 10;
	line("memlock", "limited", true, "sudo prlimit --pid $$ --memlock=unlimited");
	f.perf.mlock_kb = 64;
	line("ring_buffer", "limited", true, "sudo sysctl kernel.perf_event_mlock_kb=516");
	snprintf(f.host.clock, sizeof(f.host.clock), "hpet");
	line("clocksource", "limited", false,
	     "a CPU or host whose time stamp counter the kernel trusts");
	snprintf(f.host.clocks, sizeof(f.host.clocks), "hpet acpi_pm tsc-early");
	line("clocksource", "limited", false,
	     "a CPU or host whose time stamp counter the kernel trusts");
	snprintf(f.host.clocks, sizeof(f.host.clocks), "tsc hpet");
	CHECK(say("clocksource").fixable);
}

int main(void)
{
	struct ability none;

	rich_machine();
	whole_list("everything", 0);
	ordinary_user();
	whole_list("an ordinary user", 15);
	f = (struct ability_facts){ .host.release = "0" };
	whole_list("every fact zero", 7);
	CHECK(!ability_describe_one(&f, "nonsense", &none));

	paranoia();
	counters();
	tracing();
	locked_down();
	bpf();
	containers();
	names_and_limits();

	ability_facts_read(&f);
	{
		AUTO_FREE struct ability *list = mem_alloc(ABILITY_MAX * sizeof(*list));

		CHECK(ability_describe(&f, list) > 50);
	}
	CHECK(f.host.release[0] && f.host.cpus > 0 && f.host.nofile > 0);
	ability_facts_free(&f);
	return tap_end();
}
