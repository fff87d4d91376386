/* SPDX-License-Identifier: MIT */
/*
 * What bpf(2) grants this process, by loading the smallest program of each type, making the
 * smallest map and asking for each helper. Whether a fentry program can be attached depends on the
 * processor; where the configuration does not tell, one is attached to a function nobody calls
 * (detaching takes some 0.2 s).
 */
#ifndef KYMO_KERN_ABILITY_TRY_BPF_H
#define KYMO_KERN_ABILITY_TRY_BPF_H

#include <stddef.h>
#include <stdint.h>

#include "kern/kconfig.h"

enum try_bpf_prog {
	TRY_BPF_KPROBE, /* uprobes load as this type too */
	TRY_BPF_TRACEPOINT,
	TRY_BPF_RAW_TRACEPOINT,
	TRY_BPF_TP_BTF,
	TRY_BPF_FENTRY,
	TRY_BPF_PERF_EVENT,
	TRY_BPF_PROGS,
};

enum try_bpf_map {
	TRY_BPF_HASH,
	TRY_BPF_PERCPU_HASH,
	TRY_BPF_RINGBUF,
	TRY_BPF_STACK_TRACE,
	TRY_BPF_ARRAY_OF_MAPS,
	TRY_BPF_MAPS,
};

enum try_bpf_helper {
	TRY_BPF_LOOP,
	TRY_BPF_GET_STACKID,
	TRY_BPF_READ_KERNEL,
	TRY_BPF_READ_USER,
	TRY_BPF_HELPERS,
};

struct try_bpf {
	int prog[TRY_BPF_PROGS]; /* 0 or -errno; -ENOENT where the kernel's types lack the target */
	int map[TRY_BPF_MAPS];
	int helper[TRY_BPF_HELPERS]; /* called from a kprobe program */
	int64_t unprivileged, jit;   /* settings, or TRY_ABSENT */
	size_t btf;		     /* bytes of the kernel's type information, 0 when none */
	unsigned btf_modules;
};

void try_bpf(struct try_bpf *t, const struct kconfig *config);

/* One at a time, for commands that need just that. A fentry program is always attached. */
int try_bpf_prog(enum try_bpf_prog p);
int try_bpf_map(enum try_bpf_map m);
int try_bpf_helper(enum try_bpf_helper h);

#endif
