/* SPDX-License-Identifier: MIT */
/*
 * What the running kernel can do for programs, found by trying; all that is made is closed at once.
 */
#include "live/run/run.h"

#include <linux/btf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "kern/ability/try.h"
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

static int run_info_loads(enum bpf_prog_type type)
{
	return run_info_closed(bpf_load_empty(type, 0, 0));
}

/* A place that cannot be: how it is refused tells whether the kernel knows such links. */
static int many_uprobes(void)
{
	AUTO_CLOSE int prog = bpf_load_empty(BPF_PROG_TYPE_KPROBE, BPF_UPROBE_MULTI, 0);
	uint64_t offset = 0;
	int r;

	if (prog < 0)
		return prog;
	r = run_info_closed(bpf_link_uprobes(prog, "/", &offset, NULL, 1, false, 0));
	return r == -EBADF ? 0 : r;
}

static int many_kprobes(void)
{
	AUTO_CLOSE int prog = bpf_load_empty(BPF_PROG_TYPE_KPROBE, BPF_KPROBE_MULTI, 0);
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

static uint32_t run_info_function(struct run_env *env, const char *name)
{
	const struct btf_types *b = run_env_btf(env);

	return b ? btf_by_name(b, BTF_KIND_FUNC, name) : 0;
}

static int run_info_iter(struct run_env *env, const char *function)
{
	uint32_t id = run_info_function(env, function);

	return id ? run_info_closed(bpf_load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id))
		  : -ENOENT;
}

static int first_error(int a, int b)
{
	return a ? a : b;
}

static void run_info_probes(struct run_env *env, const struct try_trace *t, struct strbuf *b)
{
	int kprobe = run_info_loads(BPF_PROG_TYPE_KPROBE);
	int perf = run_info_loads(BPF_PROG_TYPE_PERF_EVENT), hardware;
	bool semaphores = file_exists("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset");

	run_info_head(b, "Probes");
	run_info_line(
		b, "tracepoint",
		first_error(env->tracefs ? 0 : -ENOENT, run_info_loads(BPF_PROG_TYPE_TRACEPOINT)),
		NULL);
	run_info_line(b, "rawtracepoint", run_info_loads(BPF_PROG_TYPE_RAW_TRACEPOINT), NULL);
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
	const char *use;
} helpers[] = {
	{ "probe_read_kernel", BPF_FUNC_probe_read_kernel, "kernel's memory" },
	{ "probe_read_user", BPF_FUNC_probe_read_user, "programs' memory" },
	{ "probe_read_user_str", BPF_FUNC_probe_read_user_str, "str()" },
	{ "ringbuf_reserve", BPF_FUNC_ringbuf_reserve, "printf()" },
	{ "get_stack", BPF_FUNC_get_stack, "kstack" },
	{ "loop", BPF_FUNC_loop, "for over ranges, ustack without frame pointers" },
	{ "for_each_map_elem", BPF_FUNC_for_each_map_elem, "for over maps, len()" },
	{ "get_attach_cookie", BPF_FUNC_get_attach_cookie, "one program for many probes" },
	{ "get_current_task_btf", BPF_FUNC_get_current_task_btf, "curtask" },
	{ "task_pt_regs", BPF_FUNC_task_pt_regs, "ustack without frame pointers" },
	{ "task_storage_get", BPF_FUNC_task_storage_get, "maps by thread that need no lookup" },
	{ "get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id, "cgroup" },
	{ "get_ns_current_pid_tgid", BPF_FUNC_get_ns_current_pid_tgid,
	  "pid and tid in containers" },
	{ "ktime_get_boot_ns", BPF_FUNC_ktime_get_boot_ns, "nsecs" },
	{ "send_signal", BPF_FUNC_send_signal, "signal()" },
	{ "override_return", BPF_FUNC_override_return, "override()" },
	{ "d_path", BPF_FUNC_d_path, "path()" },
};

/* From a kprobe, but for one that only programs with types may call. */
static int run_info_helper(struct run_env *env, int helper)
{
	uint32_t id;

	if (helper != BPF_FUNC_d_path)
		return bpf_try_helper(BPF_PROG_TYPE_KPROBE, helper);
	id = run_info_function(env, "bpf_iter_task_file");
	return id ? bpf_try_helper_at(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id, helper) : -ENOENT;
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
	static const struct {
		const char *name;
		enum bpf_map_type type;
	} maps[] = { { "hash", BPF_MAP_TYPE_HASH },
		     { "hash, a part each CPU", BPF_MAP_TYPE_PERCPU_HASH },
		     { "array", BPF_MAP_TYPE_ARRAY },
		     { "array, a part each CPU", BPF_MAP_TYPE_PERCPU_ARRAY } };

	run_info_head(b, "Maps");
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		run_info_line(b, maps[i].name, run_info_map(maps[i].type, 4, 8, 1), NULL);
	run_info_line(b, "ring", try_bpf_map(TRY_BPF_RINGBUF), "messages in order, from all CPUs");
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
		run_info_line(b, helpers[i].name, run_info_helper(env, helpers[i].id),
			      helpers[i].use);
	run_info_maps(b);
	run_info_features(env, b);
	strbuf_puts(b, "\nkymo doctor says more, and what would help.\n");
}
