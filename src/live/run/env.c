/* SPDX-License-Identifier: MIT */
#include "live/run/env.h"

#include <linux/btf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "kern/bpf.h"
#include "kern/cpu.h"
#include "kern/env.h"
#include "kern/perf.h"
#include "kern/tracefs.h"

#define KERNEL(major, minor) ((major) << 16 | (minor))

const struct btf_types *run_env_btf(struct run_env *r)
{
	if (!r->btf_state)
		r->btf_state = btf_types_open(NULL, NULL, &r->btf, NULL) == 0 ? 1 : -1;
	return r->btf_state > 0 ? r->btf : NULL;
}

static const char *no_types(void *ctx)
{
	return run_env_btf(ctx) ? NULL : RUN_NO_TYPES;
}

static char *tp_format(void *ctx, const char *system, const char *event)
{
	struct run_env *r = ctx;
	AUTO_FREE char *path =
		mem_printf("%s/events/%s/%s/format", r->tracefs ? r->tracefs : "", system, event);
	char *text;

	return file_read(path, 1u << 20, &text, NULL) < 0 ? NULL : text;
}

/* Since 5.17 the kernel pads it with zeros whenever it is set. (The helper takes 50 ns, twice
 * what the rest of a small program does.) */
static int comm_at(void *ctx)
{
	struct run_env *r = ctx;
	struct btf_blob b;
	uint64_t bit, size;

	if (!r->comm_asked) {
		r->comm_asked = true;
		r->comm = -1;
		if (r->kernel >= KERNEL(5, 17) && btf_load("/sys/kernel/btf/vmlinux", &b) == 0) {
			if (btf_member(&b, "task_struct", "comm", &bit, &size) == 0 &&
			    size == 16 * 8 && bit % 64 == 0 && bit / 8 + 16 < INT16_MAX)
				r->comm = (int)(bit / 8);
			btf_free(&b);
		}
	}
	return r->comm;
}

static bool run_env_kaddr(void *ctx, const char *name, uint64_t *addr)
{
	struct err e = { 0 };

	return ksym_find("/proc/kallsyms", name, addr, &e) == 0;
}

static bool cgroup_id(void *ctx, const char *path, uint64_t *id)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	*id = st.st_ino; /* the inode number is the id of a cgroup */
	return true;
}

static bool run_env_raw(void *ctx, const char *system, const char *event)
{
	static const char *const others[] = { "syscalls", "ftrace",    "kprobes",
					      "uprobes",  "synthetic", "user_events" };
	const struct run_env *r = ctx;

	if (r->no_raw || str_starts(system, "probe"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(system, others[i]) == 0)
			return false;
	return true;
}

/* A tracepoint that replaces a kprobe at a function, where kprobes are refused. */
static void instead_of(struct run_env *r, const struct lang_point *p, char *buf, size_t size)
{
	static const char *const prefixes[] = { "__x64_sys_", "__arm64_sys_", "__se_sys_",
						"__do_sys_",  "do_sys_",      "ksys_",
						"sys_",	      "vfs_",	      "do_",
						"__" };
	const char *name = p->name ? p->name : "";
	struct file_names all = { 0 };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(name, prefixes[i])) {
			const char *call = name + strlen(prefixes[i]);
			AUTO_FREE char *path = NULL;

			if (strcmp(call, "openat2") == 0 || strcmp(call, "open") == 0)
				call = "openat";
			path = mem_printf("%s/events/syscalls/sys_enter_%s",
					  r->tracefs ? r->tracefs : "", call);
			if (file_exists(path)) {
				snprintf(buf, size, "tracepoint:syscalls:sys_%s_%s is near",
					 p->kind == LP_KRETPROBE || p->kind == LP_FEXIT ? "exit"
											: "enter",
					 call);
				return;
			}
		}
	if (r->tracefs && tracefs_all(r->tracefs, NULL, &all, &e) == 0) {
		struct str_nearest near = { .typed = name };
		char list[160];

		for (size_t i = 0; i < all.n; i++)
			if (strchr(all.name[i], ':')) {
				const char *ev = strchr(all.name[i], ':') + 1;

				if (strstr(ev, name) || (strlen(ev) > 4 && strstr(name, ev))) {
					snprintf(buf, size, "tracepoint:%s is near", all.name[i]);
					file_names_free(&all);
					return;
				}
				str_nearest_add(&near, ev);
			}
		if (str_nearest_list(&near, list, sizeof(list)))
			snprintf(buf, size, "a tracepoint or rawtracepoint may tell it: %s", list);
	}
	file_names_free(&all);
	if (!buf[0])
		snprintf(buf, size,
			 "a tracepoint may tell it: kymo run -l 'tracepoint:*' lists them");
}

/* Tried with the smallest program there is. */
static bool no_fentry(struct run_env *r, const struct lang_point *p)
{
	uint32_t id = p->name ? btf_by_name(r->btf, BTF_KIND_FUNC, p->name) : 0;
	int fd;

	if (!id) /* a pattern, or an unknown function: tried with one that exists everywhere */
		id = btf_by_name(r->btf, BTF_KIND_FUNC, "vfs_read");
	if (!id)
		return false;
	fd = bpf_load_empty(BPF_PROG_TYPE_TRACING,
			    p->kind == LP_FENTRY ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT, id);
	if (fd >= 0) {
		close(fd);
		return false;
	}
	return (fd == -EPERM && geteuid() == 0) || fd == -ENOTSUP || fd == -EOPNOTSUPP;
}

static const char *run_env_refused(void *ctx, const struct lang_point *p, char *buf, size_t size)
{
	struct run_env *r = ctx;

	if ((p->kind == LP_KPROBE || p->kind == LP_KRETPROBE) && perf_pmu("kprobe") < 0) {
		instead_of(r, p, buf, size);
		return "this kernel has no kprobes";
	}
	if ((p->kind == LP_FENTRY || p->kind == LP_FEXIT) && !run_env_btf(r))
		return "fentry and fexit need the kernel's types (BTF), and it has none";
	if ((p->kind == LP_FENTRY || p->kind == LP_FEXIT) && no_fentry(r, p)) {
		instead_of(r, p, buf, size);
		return "this kernel does not allow fentry and fexit";
	}
	if ((p->kind == LP_UPROBE || p->kind == LP_URETPROBE || p->kind == LP_USDT) &&
	    perf_pmu("uprobe") < 0)
		return "this kernel has no uprobes";
	return NULL;
}

int run_env_open(struct run_env *r, struct err *e)
{
	struct cpus possible = { 0 };
	struct utsname u;
	unsigned major = 0, minor = 0;
	char line[256];

	*r = (struct run_env){ 0 };
	r->tracefs = tracefs_find(&r->err);
	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	r->kernel = KERNEL(major, minor);
	r->env = (struct lang_env){
		.ctx = r,
		.ncpus = 1,
		.has_loop = r->kernel >= KERNEL(5, 17),
		.has_cookie = r->kernel >= KERNEL(5, 15),
		.has_may_goto = r->kernel >= KERNEL(6, 9),
		.comm_at = comm_at,
		.match = run_match,
		.tp_format = tp_format,
		.type = run_type,
		.no_types = no_types,
		.fill = run_fill,
		.args = run_args,
		.enumerator = run_enumerator,
		.kaddr = run_env_kaddr,
		.uaddr = run_uaddr,
		.cgroup = cgroup_id,
		.syscall = run_syscall,
		.usdt_args = run_usdt_args,
		.task_storage = run_task_storage,
		.refused = run_env_refused,
		.raw = run_env_raw,
	};
	if (file_line("/sys/devices/system/cpu/possible", line, sizeof(line)) == 0 &&
	    cpus_parse_any(line, &possible, e) == 0 && possible.n)
		r->env.ncpus = (unsigned)possible.cpu[possible.n - 1] + 1;
	cpus_free(&possible);
	return 0;
}

void run_env_drop_types(struct run_env *r)
{
	run_dwarf_close(r);
	btf_types_free(r->btf);
	r->btf = NULL;
	r->btf_state = 0;
}

void run_env_close(struct run_env *r)
{
	run_env_drop_types(r);
}
