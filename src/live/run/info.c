/* SPDX-License-Identifier: MIT */
/*
 * What the running kernel can do for programs, found by trying: each kind of probe, helper and map
 * with what it is needed for. Nothing is attached; all that is made is closed again at once.
 */
#include "live/run/run.h"

#include <linux/btf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "kern/ability/try_bpf.h"
#include "kern/ability/try_trace.h"
#include "kern/bpf.h"
#include "kern/perf.h"

#define ENOTSUPP 524 /* the kernel's own */

static int run_info_closed(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static const char *run_info_why(int err)
{
	switch (err) {
	case 0: return "yes";
	case -ENOENT:
	case -EINVAL:
	case -EBADF: return "no: not in this kernel";
	case -ENOTSUPP:
	case -EOPNOTSUPP: return "no: not on this machine";
	case -EPERM:
	case -EACCES: return geteuid() ? "no: this user may not" : "no: the kernel refuses it";
	default: return NULL;
	}
}

static void run_info_head(struct strbuf *b, const char *text)
{
	strbuf_printf(b, "%s%s\n", b->n ? "\n" : "", text);
}

static void run_info_line(struct strbuf *b, const char *name, int err, const char *use)
{
	const char *words = run_info_why(err);

	strbuf_printf(b, "  %-26s %-4s", name, words ? words : strerror(-err));
	if (err == 0 && use)
		strbuf_printf(b, " %s", use);
	while (b->n && b->data[b->n - 1] == ' ')
		b->data[--b->n] = '\0';
	strbuf_putc(b, '\n');
}

/* --- probes --- */

static int run_info_empty(enum bpf_prog_type type, unsigned attach)
{
	return bpf_load_empty(type, attach, 0);
}

/* A place that cannot be: how it is refused tells whether the kernel knows such links. */
static int many_uprobes(void)
{
	AUTO_CLOSE int prog = run_info_empty(BPF_PROG_TYPE_KPROBE, BPF_UPROBE_MULTI);
	uint64_t offset = 0;
	int r;

	if (prog < 0)
		return prog;
	r = run_info_closed(bpf_link_uprobes(prog, "/", &offset, NULL, 1, false, 0));
	return r == -EBADF ? 0 : r;
}

static int many_kprobes(void)
{
	AUTO_CLOSE int prog = run_info_empty(BPF_PROG_TYPE_KPROBE, BPF_KPROBE_MULTI);
	const char *name = "kymo_no_such_function";
	int r;

	if (prog < 0)
		return prog;
	r = run_info_closed(bpf_link_kprobes(prog, &name, 1));
	return r == -ESRCH || r == -ENOENT ? 0 : r;
}

static int run_info_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = { .type = type, .config = config, .sample_period = 1000000000 };

	return run_info_closed(perf_open(&a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
}

static int run_info_watchpoint(void)
{
	static uint64_t here;
	struct perf_event_attr a = { .type = PERF_TYPE_BREAKPOINT,
				     .sample_period = 1,
				     .bp_type = HW_BREAKPOINT_W,
				     .bp_addr = (uintptr_t)&here,
				     .bp_len = 8 };

	return run_info_closed(perf_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

static int run_info_iter(struct run_env *env, const char *function)
{
	const struct btf_types *b = run_env_btf(env);
	uint32_t id = b ? btf_by_name(b, BTF_KIND_FUNC, function) : 0;

	return id ? run_info_closed(bpf_load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id))
		  : -ENOENT;
}

static int first_error(int a, int b)
{
	return a ? a : b;
}

static void run_info_probes(struct run_env *env, const struct try_trace *t, struct strbuf *b)
{
	int kprobe = run_info_closed(run_info_empty(BPF_PROG_TYPE_KPROBE, 0));
	int perf = run_info_closed(run_info_empty(BPF_PROG_TYPE_PERF_EVENT, 0)), hardware;
	bool semaphores = file_exists("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset");

	run_info_head(b, "Probes");
	run_info_line(b, "tracepoint",
		      first_error(env->tracefs ? 0 : -ENOENT,
				  run_info_closed(run_info_empty(BPF_PROG_TYPE_TRACEPOINT, 0))),
		      NULL);
	run_info_line(b, "rawtracepoint",
		      run_info_closed(run_info_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0)), NULL);
	run_info_line(b, "kprobe, kretprobe", first_error(t->kprobe, kprobe), NULL);
	run_info_line(b, "many kprobes at once", first_error(t->kprobe, many_kprobes()), NULL);
	run_info_line(b, "fentry, fexit", try_bpf_prog(TRY_BPF_FENTRY), NULL);
	run_info_line(b, "uprobe, uretprobe", first_error(t->uprobe, kprobe), NULL);
	run_info_line(b, "many uprobes at once", first_error(t->uprobe, many_uprobes()),
		      "patterns attach and detach fast");
	run_info_line(b, "usdt", first_error(t->uprobe, kprobe),
		      semaphores ? "with semaphores" : "without semaphores");
	run_info_line(b, "profile, software",
		      first_error(perf, run_info_event(PERF_TYPE_SOFTWARE, 0)), NULL);
	hardware = run_info_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	run_info_line(b, "hardware",
		      first_error(perf, hardware == -ENOENT ? -EOPNOTSUPP : hardware), NULL);
	run_info_line(b, "watchpoint", first_error(perf, run_info_watchpoint()), NULL);
	run_info_line(b, "iter:task", run_info_iter(env, "bpf_iter_task"), NULL);
	run_info_line(b, "iter:task_file", run_info_iter(env, "bpf_iter_task_file"), NULL);
}

/* --- helpers --- */

static const struct {
	const char *name;
	int id;
	enum bpf_prog_type type;
	const char *use;
} helpers[] = {
	{ "probe_read_kernel", BPF_FUNC_probe_read_kernel, BPF_PROG_TYPE_KPROBE,
	  "kernel's memory" },
	{ "probe_read_user", BPF_FUNC_probe_read_user, BPF_PROG_TYPE_KPROBE, "programs' memory" },
	{ "probe_read_user_str", BPF_FUNC_probe_read_user_str, BPF_PROG_TYPE_KPROBE, "str()" },
	{ "ringbuf_reserve", BPF_FUNC_ringbuf_reserve, BPF_PROG_TYPE_KPROBE, "printf()" },
	{ "get_stack", BPF_FUNC_get_stack, BPF_PROG_TYPE_KPROBE, "kstack" },
	{ "loop", BPF_FUNC_loop, BPF_PROG_TYPE_KPROBE,
	  "for over ranges, ustack without frame pointers" },
	{ "for_each_map_elem", BPF_FUNC_for_each_map_elem, BPF_PROG_TYPE_KPROBE,
	  "for over maps, len()" },
	{ "get_attach_cookie", BPF_FUNC_get_attach_cookie, BPF_PROG_TYPE_KPROBE,
	  "one program for many probes" },
	{ "get_current_task_btf", BPF_FUNC_get_current_task_btf, BPF_PROG_TYPE_KPROBE, "curtask" },
	{ "task_pt_regs", BPF_FUNC_task_pt_regs, BPF_PROG_TYPE_KPROBE,
	  "ustack without frame pointers" },
	{ "task_storage_get", BPF_FUNC_task_storage_get, BPF_PROG_TYPE_KPROBE,
	  "maps by thread that need no lookup" },
	{ "get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id, BPF_PROG_TYPE_KPROBE, "cgroup" },
	{ "get_ns_current_pid_tgid", BPF_FUNC_get_ns_current_pid_tgid, BPF_PROG_TYPE_KPROBE,
	  "pid and tid in containers" },
	{ "ktime_get_boot_ns", BPF_FUNC_ktime_get_boot_ns, BPF_PROG_TYPE_KPROBE, "nsecs" },
	{ "send_signal", BPF_FUNC_send_signal, BPF_PROG_TYPE_KPROBE, "signal()" },
	{ "override_return", BPF_FUNC_override_return, BPF_PROG_TYPE_KPROBE, "override()" },
	{ "d_path", BPF_FUNC_d_path, BPF_PROG_TYPE_TRACING, "path()" },
};

static int run_info_helper(struct run_env *env, size_t i)
{
	const struct btf_types *b = NULL;
	uint32_t id = 0;

	if (helpers[i].type != BPF_PROG_TYPE_TRACING)
		return bpf_try_helper(helpers[i].type, helpers[i].id);
	b = run_env_btf(env);
	id = b ? btf_by_name(b, BTF_KIND_FUNC, "bpf_iter_task_file") : 0;
	return id ? bpf_try_helper_at(helpers[i].type, BPF_TRACE_ITER, id, helpers[i].id) : -ENOENT;
}

/* --- the rest --- */

static int run_info_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries)
{
	return run_info_closed(bpf_map_new(&(struct bpf_map_kind){
		.type = type, .key = key, .value = value, .entries = entries }));
}

/* As many instructions that do nothing. */
static bool run_info_takes(uint32_t n)
{
	AUTO_FREE struct bpf_insn *insn = mem_alloc(n * sizeof(*insn));

	for (uint32_t i = 0; i < n; i++)
		insn[i].code = BPF_ALU64 | BPF_MOV | BPF_K;
	insn[n - 1].code = BPF_JMP | BPF_EXIT;
	return run_info_closed(bpf_load(&(struct bpf_program){
		       .type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = insn, .n = n })) == 0;
}

static int run_info_batch(void)
{
	AUTO_CLOSE int fd = bpf_map_new(&(struct bpf_map_kind){
		.type = BPF_MAP_TYPE_HASH, .key = 4, .value = 8, .entries = 4 });
	uint32_t place[2] = { 0 }, keys[4], n = 4;
	uint64_t values[4];
	int r = fd < 0 ? fd : bpf_map_batch(fd, true, place, keys, values, &n);

	return r == -ENOENT ? 0 : r;
}

static int run_info_lsm(void)
{
	char text[512];

	if (file_line("/sys/kernel/security/lsm", text, sizeof(text)) < 0)
		return -ENOENT;
	return strstr(text, "bpf") ? 0 : -ENOENT;
}

static void run_info_maps(struct strbuf *b)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	run_info_head(b, "Maps");
	run_info_line(b, "hash", run_info_map(BPF_MAP_TYPE_HASH, 4, 8, 1), NULL);
	run_info_line(b, "hash, a part each CPU", run_info_map(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 1),
		      NULL);
	run_info_line(b, "array", run_info_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1), NULL);
	run_info_line(b, "array, a part each CPU", run_info_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1),
		      NULL);
	run_info_line(b, "ring", run_info_map(BPF_MAP_TYPE_RINGBUF, 0, 0, page),
		      "messages in order, from all CPUs");
	run_info_line(b, "with each thread", run_info_closed(run_task_map()), "maps by tid");
	run_info_line(b, "array of maps", try_bpf_map(TRY_BPF_ARRAY_OF_MAPS),
		      "ustack without frame pointers");
}

static void run_info_features(struct run_env *env, struct strbuf *b)
{
	bool many = run_info_takes(5000);
	int64_t jit = -1;

	run_info_head(b, "Features");
	strbuf_printf(b, "  %-26s %s\n", "instructions verified",
		      many		     ? "1000000"
		      : run_info_takes(4000) ? "4096"
					     : "none: programs are refused");
	run_info_line(b, "many entries read at once", run_info_batch(), NULL);
	run_info_line(b, "loops by may_goto", env->env.has_may_goto ? 0 : -ENOENT, "while");
	if (file_i64("/proc/sys/net/core/bpf_jit_enable", &jit) == 0)
		run_info_line(b, "compiled to machine code", jit ? 0 : -EPERM, NULL);
	run_info_line(b, "LSM programs", run_info_lsm(), NULL);
}

void run_info(struct run_env *env, struct strbuf *b)
{
	struct try_trace t;
	struct file_names names = { 0 };
	struct utsname u;

	uname(&u);
	try_trace(&t, false);
	run_info_head(b, "Kernel");
	strbuf_printf(b, "  %-26s %s %s, %s\n", "release", u.sysname, u.release, u.machine);
	strbuf_printf(b, "  %-26s %u\n", "possible CPUs", env->env.ncpus);
	file_list("/sys/kernel/btf", &names);
	if (run_env_btf(env))
		strbuf_printf(b, "  %-26s yes, and of %zu modules\n", "types (BTF)",
			      names.n ? names.n - 1 : 0);
	else
		strbuf_printf(b, "  %-26s no\n", "types (BTF)");
	file_names_free(&names);
	strbuf_printf(b, "  %-26s %s\n", "tracefs",
		      env->tracefs ? env->tracefs
				   : (t.possible ? "not mounted" : "not in this kernel"));
	run_info_probes(env, &t, b);
	run_info_head(b, "Helpers");
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		run_info_line(b, helpers[i].name, run_info_helper(env, i), helpers[i].use);
	run_info_maps(b);
	run_info_features(env, b);
	strbuf_puts(b, "\nkymo doctor says more, and what would help.\n");
}
