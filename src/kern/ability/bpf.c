/* SPDX-License-Identifier: MIT */
/* Lines about BPF: a sum for each family, and one line for each thing that was tried. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/str.h"
#include "kern/ability/line.h"

#define ENOTSUPP_KERNEL 524 /* the kernel's own, which strerror() does not know */
/* All that is tried, by number: programs in the order of try.h and uprobes, maps, helpers. */
#define PROG_UPROBE TRY_BPF_PROGS
#define MAPS (PROG_UPROBE + 1)
#define HELPERS (MAPS + TRY_BPF_MAPS)
#define THINGS (HELPERS + TRY_BPF_HELPERS)

static const struct {
	const char *name, *meaning, *config; /* config explains why one may be missing */
} things[THINGS] = {
	[TRY_BPF_KPROBE] = { "kprobe", "programs on any kernel function", "KPROBE_EVENTS" },
	[TRY_BPF_TRACEPOINT] = { "tracepoint", "programs on tracepoints", "BPF_EVENTS" },
	[TRY_BPF_RAW_TRACEPOINT] = { "raw_tracepoint", "programs on tracepoints, faster",
				     "BPF_EVENTS" },
	[TRY_BPF_TP_BTF] = { "tp_btf", "programs on tracepoints that know the types",
			     "DEBUG_INFO_BTF" },
	[TRY_BPF_FENTRY] = { "fentry", "programs on kernel functions, the fastest kind",
			     "DYNAMIC_FTRACE_WITH_DIRECT_CALLS" },
	[TRY_BPF_PERF_EVENT] = { "perf_event", "programs on samples and counters", "BPF_EVENTS" },
	[PROG_UPROBE] = { "uprobe", "programs on functions of other programs", "UPROBE_EVENTS" },
	[MAPS + TRY_BPF_HASH] = { "hash", "counting by key", "BPF_SYSCALL" },
	[MAPS + TRY_BPF_PERCPU_HASH] = { "percpu_hash", "counting by key without contention",
					 "BPF_SYSCALL" },
	[MAPS + TRY_BPF_RINGBUF] = { "ringbuf",
				     "events in order, from all CPUs in one ring (Linux 5.8)",
				     "BPF_SYSCALL" },
	[MAPS + TRY_BPF_STACK_TRACE] = { "stack_trace", "call chains collected in the kernel",
					 "PERF_EVENTS" },
	[MAPS + TRY_BPF_ARRAY_OF_MAPS] = { "array_of_maps", "tables changed while programs run",
					   "BPF_SYSCALL" },
	[HELPERS +
		TRY_BPF_LOOP] = { "bpf_loop", "long loops, for walking deep stacks (Linux 5.17)" },
	[HELPERS + TRY_BPF_GET_STACKID] = { "bpf_get_stackid", "call chains from programs",
					    "PERF_EVENTS" },
	[HELPERS + TRY_BPF_READ_KERNEL] = { "bpf_probe_read_kernel", "reading kernel structures" },
	[HELPERS + TRY_BPF_READ_USER] = { "bpf_probe_read_user", "reading the memory of programs" },
};

static int error_of(const struct ability_facts *f, int which)
{
	const struct try_bpf *t = &f->bpf;

	/* Under lockdown the verifier denies knowing what it may not give. */
	if (which == HELPERS + TRY_BPF_READ_KERNEL && f->lockdown == LOCKDOWN_CONFIDENTIALITY &&
	    t->helper[TRY_BPF_READ_KERNEL] == -ENOENT)
		return -EPERM;
	if (which >= HELPERS)
		return t->helper[which - HELPERS];
	if (which >= MAPS)
		return t->map[which - MAPS];
	/* A program that loads but has nothing to be attached to is no use. */
	if (which == PROG_UPROBE || which == TRY_BPF_KPROBE)
		return t->prog[TRY_BPF_KPROBE]	 ? t->prog[TRY_BPF_KPROBE]
		       : which == TRY_BPF_KPROBE ? f->trace.kprobe
						 : f->trace.uprobe;
	return t->prog[which];
}

static const char *why(int err)
{
	switch (err) {
	case -ENOTSUPP_KERNEL: return "not on this processor";
	case -ENOENT:
	case -EINVAL: return "not in this kernel";
	case -EPERM:
	case -EACCES: return "refused";
	default: return strerror(-err);
	}
}

static bool not_allowed(const struct ability_facts *f, int err)
{
	return (err == -EPERM || err == -EACCES) && !priv_has(&f->priv, CAP_SYS_ADMIN);
}

static void say_one(const struct ability_facts *f, struct ability *a)
{
	const char *meaning = things[a->line->which].meaning;
	const char *config = things[a->line->which].config;
	int err = error_of(f, a->line->which);

	if (err == 0) {
		ability_ok(a, "tried", "%s", meaning);
	} else if (not_allowed(f, err)) {
		ability_missing(a, "root only", "%s", meaning);
		ability_needs_root(f, a);
	} else if (err == -ENOTSUPP_KERNEL) {
		ability_missing(a, "none", "this kernel cannot do it on %s", f->host.machine);
		ability_needs(a, "a newer kernel");
	} else if (err == -EPERM || err == -EACCES) {
		ability_refused(f, a, err);
	} else if (config && kconfig_get(&f->config, config) != 'y') {
		ability_not_built(f, a, config);
	} else {
		ability_missing(a, "none", "this kernel does not have it: %s", strerror(-err));
		ability_needs(a, "a newer kernel");
	}
}

/* "5 of 7" of a kind with the names of those that work, and why the others do not. */
static void say_sum(const struct ability_facts *f, struct ability *a)
{
	int first = a->line->which, end = first == 0 ? MAPS : first == MAPS ? HELPERS : THINGS;
	unsigned ok = 0, n = (unsigned)(end - first);
	AUTO_STRBUF good = { 0 }, bad = { 0 };
	bool locked = true;

	for (int i = first; i < end; i++) {
		const char *name = things[i].name + (first == HELPERS ? strlen("bpf_") : 0);
		int err = error_of(f, i);

		ok += err == 0;
		if (err == 0)
			strbuf_printf(&good, " %s", name);
		else
			strbuf_printf(&bad, ", %s %s", name, why(err));
		locked &= not_allowed(f, err);
	}
	if (locked) {
		ability_missing(a, "root only", "bpf(2) is refused to you");
		ability_needs_root(f, a);
		return;
	}
	if (ok == n)
		ability_value(a, "all %u tried", n);
	else
		ability_value(a, "%u of %u work", ok, n);
	if (ok == n)
		ability_ok(a, NULL, "%s", strbuf_str(&good) + 1);
	else if (ok)
		ability_limited(a, NULL, "%s; %s", strbuf_str(&good) + 1, strbuf_str(&bad) + 2);
	else if (error_of(f, first) == -ENOSYS)
		ability_not_built(f, a, "BPF_SYSCALL");
	else
		ability_missing(a, NULL, "%s", strbuf_str(&bad) + 2);
}

static void say_jit(const struct ability_facts *f, struct ability *a)
{
	int64_t jit = f->bpf.jit;

	if (jit == TRY_ABSENT && kconfig_get(&f->config, "BPF_JIT_ALWAYS_ON") == 'y')
		jit = 1;
	if (jit == TRY_ABSENT) {
		ability_ok(a, "not shown", "only root may read the setting");
	} else if (jit == 0) {
		a->detail = false;
		ability_limited(a, "off", "programs are interpreted, several times slower");
		ability_fix_root(f, a, "sysctl net.core.bpf_jit_enable=1");
	} else {
		ability_ok(a, "on", "programs run as machine code");
	}
}

static void say_unprivileged(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%s",
		      f->bpf.unprivileged == 0	 ? "allowed"
		      : f->bpf.unprivileged == 1 ? "off for good"
		      : f->bpf.unprivileged == 2 ? "off"
						 : "unknown");
	ability_ok(a, NULL, "tracing programs need root in any case");
}

static void say_btf(const struct ability_facts *f, struct ability *a)
{
	char size[32];

	if (f->bpf.btf) {
		ability_value(a, "%s", str_bytes(f->bpf.btf, size, sizeof(size)));
		if (f->bpf.btf_modules)
			ability_ok(a, NULL, "types of the kernel and of %u modules: fields by name",
				   f->bpf.btf_modules);
		else
			ability_ok(a, NULL, "types of the kernel: its structures' fields by name");
		return;
	}
	ability_not_built(f, a, "DEBUG_INFO_BTF");
	if (kconfig_get(&f->config, "DEBUG_INFO_BTF") != 'n')
		ability_missing(a, NULL,
				"no types of the kernel: no fields by name, no tp_btf, no fentry");
}

static void say_btf_modules(const struct ability_facts *f, struct ability *a)
{
	ability_value(a, "%u", f->bpf.btf_modules);
	ability_ok(a, NULL, "loaded modules whose types are known");
}

const struct ability_line ability_bpf[] = {
	{ "bpf_programs", "programs", say_sum, 0 },
	{ "bpf_kprobe", "  kprobe", say_one, TRY_BPF_KPROBE, .detail = true },
	{ "bpf_uprobe", "  uprobe", say_one, PROG_UPROBE, .detail = true },
	{ "bpf_tracepoint", "  tracepoint", say_one, TRY_BPF_TRACEPOINT, .detail = true },
	{ "bpf_raw_tracepoint", "  raw_tp", say_one, TRY_BPF_RAW_TRACEPOINT, .detail = true },
	{ "bpf_tp_btf", "  tp_btf", say_one, TRY_BPF_TP_BTF, .detail = true },
	{ "bpf_fentry", "  fentry", say_one, TRY_BPF_FENTRY, .detail = true },
	{ "bpf_perf_event", "  perf_event", say_one, TRY_BPF_PERF_EVENT, .detail = true },
	{ "bpf_maps", "maps", say_sum, MAPS },
	{ "bpf_map_hash", "  hash", say_one, MAPS + TRY_BPF_HASH, .detail = true },
	{ "bpf_map_percpu_hash", "  percpu_hash", say_one, MAPS + TRY_BPF_PERCPU_HASH,
	  .detail = true },
	{ "bpf_map_ringbuf", "  ringbuf", say_one, MAPS + TRY_BPF_RINGBUF, .detail = true },
	{ "bpf_map_stack_trace", "  stack_trace", say_one, MAPS + TRY_BPF_STACK_TRACE,
	  .detail = true },
	{ "bpf_map_array_of_maps", "  array_of_maps", say_one, MAPS + TRY_BPF_ARRAY_OF_MAPS,
	  .detail = true },
	{ "bpf_helpers", "helpers", say_sum, HELPERS },
	{ "bpf_loop", "  bpf_loop", say_one, HELPERS + TRY_BPF_LOOP, .detail = true },
	{ "bpf_get_stackid", "  get_stackid", say_one, HELPERS + TRY_BPF_GET_STACKID,
	  .detail = true },
	{ "bpf_read_kernel", "  read_kernel", say_one, HELPERS + TRY_BPF_READ_KERNEL,
	  .detail = true },
	{ "bpf_read_user", "  read_user", say_one, HELPERS + TRY_BPF_READ_USER, .detail = true },
	{ "bpf_jit", "JIT", say_jit, .detail = true },
	{ "unprivileged_bpf", "unprivileged", say_unprivileged, .detail = true },
	{ "btf", "kernel types", say_btf },
	{ "btf_modules", "module types", say_btf_modules, .detail = true },
	{ NULL },
};
