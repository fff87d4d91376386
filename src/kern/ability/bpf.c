/* SPDX-License-Identifier: MIT */
/* Lines about BPF: a sum for each family, and one line for each thing that was tried. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/line.h"

#define ENOTSUPP_KERNEL 524 /* the kernel's own, which strerror() does not know */
#define PROG_UPROBE TRY_BPF_PROGS
#define PROGS (TRY_BPF_PROGS + 1)

/* In the order of try_bpf.h, uprobe last; `config` explains why one may be missing. */
static const struct {
	const char *name, *meaning, *config;
} progs[PROGS] = {
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
}, maps[TRY_BPF_MAPS] = {
	[TRY_BPF_HASH] = { "hash", "counting by key", "BPF_SYSCALL" },
	[TRY_BPF_PERCPU_HASH] = { "percpu_hash", "counting by key without contention",
				  "BPF_SYSCALL" },
	[TRY_BPF_RINGBUF] = { "ringbuf", "events in order, from all CPUs in one ring (Linux 5.8)",
			      "BPF_SYSCALL" },
	[TRY_BPF_STACK_TRACE] = { "stack_trace", "call chains collected in the kernel",
				  "PERF_EVENTS" },
	[TRY_BPF_ARRAY_OF_MAPS] = { "array_of_maps", "tables changed while programs run",
				    "BPF_SYSCALL" },
}, helpers[TRY_BPF_HELPERS] = {
	[TRY_BPF_LOOP] = { "bpf_loop", "long loops, for walking deep stacks (Linux 5.17)", NULL },
	[TRY_BPF_GET_STACKID] = { "bpf_get_stackid", "call chains from programs", "PERF_EVENTS" },
	[TRY_BPF_READ_KERNEL] = { "bpf_probe_read_kernel", "reading kernel structures", NULL },
	[TRY_BPF_READ_USER] = { "bpf_probe_read_user", "reading the memory of programs", NULL },
};

/* A program that loads but has nothing to be attached to is no use. */
static int prog_error(const struct ability_facts *f, int which)
{
	if (which == PROG_UPROBE)
		return f->bpf.prog[TRY_BPF_KPROBE] ? f->bpf.prog[TRY_BPF_KPROBE] : f->trace.uprobe;
	if (which == TRY_BPF_KPROBE && f->bpf.prog[which] == 0)
		return f->trace.kprobe;
	return f->bpf.prog[which];
}

/* Under lockdown the verifier denies knowing what it may not give. */
static int helper_error(const struct ability_facts *f, int which)
{
	int err = f->bpf.helper[which];

	return err == -ENOENT && which == TRY_BPF_READ_KERNEL &&
			       f->lockdown == LOCKDOWN_CONFIDENTIALITY
		       ? -EPERM
		       : err;
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

static void say_one(const struct ability_facts *f, struct ability *a, int err, const char *meaning,
		    const char *config)
{
	if (err == 0) {
		ability_value(a, "tried");
		ability_ok(a, "%s", meaning);
	} else if (not_allowed(f, err)) {
		ability_value(a, "root only");
		ability_missing(a, "%s", meaning);
		ability_needs_root(f, a);
	} else if (err == -ENOTSUPP_KERNEL) {
		ability_value(a, "none");
		ability_missing(a, "this kernel cannot do it on %s", f->host.machine);
		ability_needs(a, "a newer kernel");
	} else if (err == -EPERM || err == -EACCES) {
		ability_refused(f, a, err);
	} else if (config && kconfig_get(&f->config, config) != 'y') {
		ability_not_built(f, a, config);
	} else {
		ability_value(a, "none");
		ability_missing(a, "this kernel does not have it: %s", strerror(-err));
		ability_needs(a, "a newer kernel");
	}
}

static void say_prog(const struct ability_facts *f, struct ability *a, int which)
{
	say_one(f, a, prog_error(f, which), progs[which].meaning, progs[which].config);
}

static void say_map(const struct ability_facts *f, struct ability *a, int which)
{
	say_one(f, a, f->bpf.map[which], maps[which].meaning, maps[which].config);
}

static void say_helper(const struct ability_facts *f, struct ability *a, int which)
{
	say_one(f, a, helper_error(f, which), helpers[which].meaning, helpers[which].config);
}

/* "5 of 7" with the names of those that work, and why the others do not. */
static void say_sum(const struct ability_facts *f, struct ability *a, const char *const *names,
		    const int *err, unsigned n)
{
	AUTO_STRBUF good = { 0 }, bad = { 0 };
	unsigned ok = 0;
	bool locked = true;

	for (unsigned i = 0; i < n; i++) {
		ok += err[i] == 0;
		if (err[i] == 0)
			strbuf_printf(&good, " %s", names[i]);
		else
			strbuf_printf(&bad, ", %s %s", names[i], why(err[i]));
		locked &= not_allowed(f, err[i]);
	}
	if (locked) {
		ability_value(a, "root only");
		ability_missing(a, "bpf(2) is refused to you");
		ability_needs_root(f, a);
		return;
	}
	if (ok == n)
		ability_value(a, "all %u tried", n);
	else
		ability_value(a, "%u of %u work", ok, n);
	if (ok == n)
		ability_ok(a, "%s", strbuf_str(&good) + 1);
	else if (ok)
		ability_limited(a, "%s; %s", strbuf_str(&good) + 1, strbuf_str(&bad) + 2);
	else if (err[0] == -ENOSYS)
		ability_not_built(f, a, "BPF_SYSCALL");
	else
		ability_missing(a, "%s", strbuf_str(&bad) + 2);
}

static void say_progs(const struct ability_facts *f, struct ability *a, int which)
{
	const char *names[PROGS];
	int err[PROGS];

	(void)which;
	for (int i = 0; i < PROGS; i++) {
		names[i] = progs[i].name;
		err[i] = prog_error(f, i);
	}
	say_sum(f, a, names, err, PROGS);
}

static void say_maps(const struct ability_facts *f, struct ability *a, int which)
{
	const char *names[TRY_BPF_MAPS];

	(void)which;
	for (int i = 0; i < TRY_BPF_MAPS; i++)
		names[i] = maps[i].name;
	say_sum(f, a, names, f->bpf.map, TRY_BPF_MAPS);
}

static void say_helpers(const struct ability_facts *f, struct ability *a, int which)
{
	const char *names[TRY_BPF_HELPERS];
	int err[TRY_BPF_HELPERS];

	(void)which;
	for (int i = 0; i < TRY_BPF_HELPERS; i++) {
		names[i] = helpers[i].name + strlen("bpf_");
		err[i] = helper_error(f, i);
	}
	say_sum(f, a, names, err, TRY_BPF_HELPERS);
}

static void say_jit(const struct ability_facts *f, struct ability *a, int which)
{
	int64_t jit = f->bpf.jit;

	(void)which;
	a->detail = true;
	if (jit == TRY_ABSENT && kconfig_get(&f->config, "BPF_JIT_ALWAYS_ON") == 'y')
		jit = 1;
	if (jit == TRY_ABSENT) {
		ability_value(a, "not shown");
		ability_ok(a, "only root may read the setting");
	} else if (jit == 0) {
		a->detail = false;
		ability_value(a, "off");
		ability_limited(a, "programs are interpreted, several times slower");
		ability_fix_root(f, a, "sysctl net.core.bpf_jit_enable=1");
	} else {
		ability_value(a, "on");
		ability_ok(a, "programs run as machine code");
	}
}

static void say_unprivileged(const struct ability_facts *f, struct ability *a, int which)
{
	(void)which;
	ability_value(a, "%s",
		      f->bpf.unprivileged == 0	 ? "allowed"
		      : f->bpf.unprivileged == 1 ? "off for good"
		      : f->bpf.unprivileged == 2 ? "off"
						 : "unknown");
	ability_ok(a, "tracing programs need root in any case");
}

static void say_btf(const struct ability_facts *f, struct ability *a, int which)
{
	char size[32];

	(void)which;
	if (f->bpf.btf) {
		ability_value(a, "%s", str_bytes(f->bpf.btf, size, sizeof(size)));
		if (f->bpf.btf_modules)
			ability_ok(a, "types of the kernel and of %u modules: fields by name",
				   f->bpf.btf_modules);
		else
			ability_ok(a, "types of the kernel: its structures' fields by name");
		return;
	}
	ability_not_built(f, a, "DEBUG_INFO_BTF");
	if (kconfig_get(&f->config, "DEBUG_INFO_BTF") != 'n')
		ability_missing(a,
				"no types of the kernel: no fields by name, no tp_btf, no fentry");
}

static void say_btf_modules(const struct ability_facts *f, struct ability *a, int which)
{
	(void)which;
	ability_value(a, "%u", f->bpf.btf_modules);
	ability_ok(a, "loaded modules whose types are known");
}

const struct ability_line ability_bpf[] = {
	{ "bpf_programs", "programs", say_progs },
	{ "bpf_kprobe", "  kprobe", say_prog, TRY_BPF_KPROBE, true },
	{ "bpf_uprobe", "  uprobe", say_prog, PROG_UPROBE, true },
	{ "bpf_tracepoint", "  tracepoint", say_prog, TRY_BPF_TRACEPOINT, true },
	{ "bpf_raw_tracepoint", "  raw_tp", say_prog, TRY_BPF_RAW_TRACEPOINT, true },
	{ "bpf_tp_btf", "  tp_btf", say_prog, TRY_BPF_TP_BTF, true },
	{ "bpf_fentry", "  fentry", say_prog, TRY_BPF_FENTRY, true },
	{ "bpf_perf_event", "  perf_event", say_prog, TRY_BPF_PERF_EVENT, true },
	{ "bpf_maps", "maps", say_maps },
	{ "bpf_map_hash", "  hash", say_map, TRY_BPF_HASH, true },
	{ "bpf_map_percpu_hash", "  percpu_hash", say_map, TRY_BPF_PERCPU_HASH, true },
	{ "bpf_map_ringbuf", "  ringbuf", say_map, TRY_BPF_RINGBUF, true },
	{ "bpf_map_stack_trace", "  stack_trace", say_map, TRY_BPF_STACK_TRACE, true },
	{ "bpf_map_array_of_maps", "  array_of_maps", say_map, TRY_BPF_ARRAY_OF_MAPS, true },
	{ "bpf_helpers", "helpers", say_helpers },
	{ "bpf_loop", "  bpf_loop", say_helper, TRY_BPF_LOOP, true },
	{ "bpf_get_stackid", "  get_stackid", say_helper, TRY_BPF_GET_STACKID, true },
	{ "bpf_read_kernel", "  read_kernel", say_helper, TRY_BPF_READ_KERNEL, true },
	{ "bpf_read_user", "  read_user", say_helper, TRY_BPF_READ_USER, true },
	{ "bpf_jit", "JIT", say_jit },
	{ "unprivileged_bpf", "unprivileged", say_unprivileged, .detail = true },
	{ "btf", "kernel types", say_btf },
	{ "btf_modules", "module types", say_btf_modules, .detail = true },
	{ NULL },
};
