/* SPDX-License-Identifier: MIT */
/* What perf_event_open(2) grants this process, by asking it, and the settings that bound it.
 * Nothing is enabled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/kconfig.h"

#define TRY_ABSENT INT64_MIN /* a setting this kernel does not have or show */

struct try_perf {
	int software;	   /* page-faults of this thread in user space: 0 or -errno */
	int cycles;	   /* the CPU's cycles of this thread, kernel included */
	int cycles_user;   /* ... in user space only */
	int all;	   /* page-faults of everybody on one CPU */
	unsigned counters; /* hardware events that count at the same time; 0: not known */
	char core[32];	   /* the CPU's PMU as sysfs calls it; "" when there is none */
	char pmus[512];	   /* all PMUs, separated by spaces */
	int64_t precise;   /* highest precise_ip (PEBS, IBS), 0 when none */
	int64_t paranoid, mlock_kb, max_stack, max_rate, cpu_percent, nmi_watchdog, kptr;
};

/* All of it. */
void try_perf(struct try_perf *t);

/*
 * What tracefs grants this process, and what others left there. A probe is tried by defining one
 * that is never enabled and removing it at once (what a killed kymo left is removed first), the
 * function tracer by reading the functions it offers: nothing is switched on.
 */

struct try_trace {
	bool possible;	   /* the kernel has a tracefs */
	char path[256];	   /* where tracefs is; "" when it is not mounted */
	char debugfs[256]; /* the same for debugfs */
	int readable;	   /* its files: 0 or -errno */
	int writable;
	int kprobe, uprobe, fprobe; /* 0; -ENOENT: the kernel has none; -errno: refused */
	int function;		    /* the function tracer, the same way */
	bool graph;		    /* function_graph is among the tracers */
	bool hist, snapshot;
	bool kprobes_off;	/* /sys/kernel/debug/kprobes/enabled is 0 */
	int64_t ftrace_enabled; /* TRY_ABSENT where there is no such setting */
	unsigned events;	/* tracepoints and probes on offer */
	char tracers[256];

	/* What others left, in the top-level buffer. */
	bool stopped;	    /* tracing_on is 0 */
	char current[64];   /* the tracer that is on, "" for nop */
	unsigned enabled;   /* events that are on */
	unsigned probes;    /* dynamic events defined */
	unsigned instances; /* buffers of their own */
};

/* perfmon: whether perf's probe PMUs are worth asking where tracefs may not be written. */
void try_trace(struct try_trace *t, bool perfmon);

/*
 * What bpf(2) grants this process, by loading the smallest program of each type, making the
 * smallest map and asking for each helper. Whether a fentry program can be attached depends on the
 * processor; where the configuration does not tell, one is attached to a function nobody calls
 * (detaching takes some 0.2 s).
 */

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
