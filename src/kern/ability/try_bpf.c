/* SPDX-License-Identifier: MIT */

#include <linux/btf.h>

#include "base/file.h"
#include "base/mem.h"
#include "kern/ability/try.h"
#include "kern/bpf.h"
#include "kern/btf.h"

#define BTF_DIR "/sys/kernel/btf"

static const struct {
	enum bpf_prog_type type;
	unsigned attach;
	unsigned kind;	       /* BTF_KIND_* of the target; 0: the type needs none */
	const char *target[3]; /* the first that the kernel has */
} progs[] = {
	[TRY_BPF_KPROBE] = { BPF_PROG_TYPE_KPROBE },
	[TRY_BPF_TRACEPOINT] = { BPF_PROG_TYPE_TRACEPOINT },
	[TRY_BPF_RAW_TRACEPOINT] = { BPF_PROG_TYPE_RAW_TRACEPOINT },
	[TRY_BPF_TP_BTF] = { BPF_PROG_TYPE_TRACING,
			     BPF_TRACE_RAW_TP,
			     BTF_KIND_TYPEDEF,
			     { "btf_trace_sched_switch" } },
	/* The first is the kernel's own test function, called only by its tests. */
	[TRY_BPF_FENTRY] = { BPF_PROG_TYPE_TRACING,
			     BPF_TRACE_FENTRY,
			     BTF_KIND_FUNC,
			     { "bpf_fentry_test1", "proc_sched_autogroup_set_nice", "vfs_fsync" } },
	[TRY_BPF_PERF_EVENT] = { BPF_PROG_TYPE_PERF_EVENT },
};

static const struct {
	enum bpf_map_type type;
	uint32_t key, value;
	uint32_t entries; /* 0: a page */
} maps[] = {
	[TRY_BPF_HASH] = { BPF_MAP_TYPE_HASH, 4, 8, 1 },
	[TRY_BPF_PERCPU_HASH] = { BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 1 },
	[TRY_BPF_RINGBUF] = { BPF_MAP_TYPE_RINGBUF, 0, 0, 0 },
	[TRY_BPF_STACK_TRACE] = { BPF_MAP_TYPE_STACK_TRACE, 4, 8, 1 },
	[TRY_BPF_ARRAY_OF_MAPS] = { BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1 },
};

static const int helpers[] = {
	[TRY_BPF_LOOP] = BPF_FUNC_loop,
	[TRY_BPF_GET_STACKID] = BPF_FUNC_get_stackid,
	[TRY_BPF_READ_KERNEL] = BPF_FUNC_probe_read_kernel,
	[TRY_BPF_READ_USER] = BPF_FUNC_probe_read_user,
};

static int closed(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int load_prog(enum try_bpf_prog p, const struct btf_blob *btf, bool attach)
{
	AUTO_CLOSE int fd = -1;
	int id = 0;

	if (progs[p].kind) {
		id = -ENOENT;
		for (size_t i = 0; id < 0 && i < ARRAY_SIZE(progs[p].target); i++)
			if (btf->data && progs[p].target[i])
				id = btf_find(btf, progs[p].kind, progs[p].target[i]);
		if (id < 0)
			return id;
	}
	fd = bpf_load_empty(progs[p].type, progs[p].attach, (uint32_t)id);
	if (fd < 0)
		return fd;
	return attach && p == TRY_BPF_FENTRY ? closed(bpf_attach_raw(fd, NULL)) : 0;
}

int try_bpf_prog(enum try_bpf_prog p)
{
	struct btf_blob btf = { 0 };
	int r;

	if (progs[p].kind)
		btf_load(BTF_DIR "/vmlinux", &btf);
	r = load_prog(p, &btf, true);
	btf_free(&btf);
	return r;
}

int try_bpf_map(enum try_bpf_map m)
{
	AUTO_CLOSE int inner = -1;
	uint32_t entries = maps[m].entries ? maps[m].entries : (uint32_t)sysconf(_SC_PAGESIZE);

	if (maps[m].type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		inner = bpf_map_new(&(struct bpf_map_kind){
			.type = BPF_MAP_TYPE_ARRAY, .key = 4, .value = 8, .entries = 1 });
		if (inner < 0)
			return inner;
	}
	return closed(bpf_map_new(&(struct bpf_map_kind){ .type = maps[m].type,
							  .key = maps[m].key,
							  .value = maps[m].value,
							  .entries = entries,
							  .inner = inner < 0 ? 0 : inner }));
}

void try_bpf(struct try_bpf *t, const struct kconfig *config)
{
	/* What attaching a fentry program comes down to; it came to arm64 after fentry itself. */
	bool attach = kconfig_get(config, "DYNAMIC_FTRACE_WITH_DIRECT_CALLS") != 'y';
	struct btf_blob btf = { 0 };
	struct file_names names;

	*t = (struct try_bpf){ .unprivileged = TRY_ABSENT, .jit = TRY_ABSENT };
	file_i64("/proc/sys/kernel/unprivileged_bpf_disabled", &t->unprivileged);
	file_i64("/proc/sys/net/core/bpf_jit_enable", &t->jit);
	if (file_list(BTF_DIR, &names) == 0) {
		t->btf_modules = names.n ? (unsigned)names.n - 1 : 0;
		file_names_free(&names);
	}
	if (btf_load(BTF_DIR "/vmlinux", &btf) == 0)
		t->btf = btf.size;
	for (int i = 0; i < TRY_BPF_PROGS; i++)
		t->prog[i] = load_prog((enum try_bpf_prog)i, &btf, attach);
	for (int i = 0; i < TRY_BPF_MAPS; i++)
		t->map[i] = try_bpf_map((enum try_bpf_map)i);
	for (int i = 0; i < TRY_BPF_HELPERS; i++)
		t->helper[i] = bpf_try_helper(BPF_PROG_TYPE_KPROBE, helpers[i]);
	btf_free(&btf);
}
