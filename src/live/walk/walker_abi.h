/* SPDX-License-Identifier: MIT */
/*
 * What the walker's BPF program (bpf/walk.bpf.c) and its user-space half share: maps, constants,
 * and the records of its ring. So only types of <linux/types.h>.
 *
 * Lookup of an address: process -> its sorted mappings -> the file's table -> chunk -> row -> rule.
 * All but the process hash is memory that user space writes; a process's list is never changed in
 * place: a new one is written, then the hash entry changes.
 */
#pragma once

#include <linux/types.h>

#include "sym/unwind/ehframe_rule.h"

#define WALK_DEPTH 1024
#define WALK_KERNEL 128
#define WALK_COPY 65536
#define WALK_COPY_STEP 2048
#define WALK_MAPS_SHIFT 16 /* steps of the search: as many mappings as a process can have */
#define WALK_SLABS 256
#define WALK_SLAB_BYTES (4u << 20)
#define WALK_SLAB_MIN (1u << 20)
#define WALK_SLAB_WORDS (WALK_SLAB_BYTES / 4)
#define WALK_TABLES 65536
#define WALK_EVENTS 16 /* programs walk0 ... walk15 */
/* What records are besides samples (walk_sample.event). */
#define WALK_OFF_STACK 16 /* a stack that waits refer to: ip is its hash, comm whose it is */
#define WALK_OFF_WAIT 17  /* a long wait: ip its stack, addr its waker's, period ns, flags state */
#define WALK_FN_MISS 18	  /* a stack that walk_fn.h could not tell: what is missing */
#define WALK_HIT                                                                            \
	19 /* the user stack of a hit whose sample is the kernel's (walk_hit.h); addr tells \
	      its registers */
#define WALK_FN_LEVELS 3
#define WALK_CALLS 1024 /* numbers of system calls */
#define WALK_OFF_CPUS 1024
#define WALK_OFF_CGROUPS 16

/* One cache line of a slab: 16 words of index or rows. */
struct walk_block {
	__u32 w[16];
};

/* An index word: the chunk's first row (from the table's rows), and how many it has. */
#define WALK_INDEX(first, n) ((first) << 10 | (n))
#define WALK_INDEX_FIRST(w) ((w) >> 10)
#define WALK_INDEX_N(w) ((w)&0x3ff)
/* Or the rule of all of it: most chunks have no row of their own. */
#define WALK_INDEX_RULE (1u << 31)

enum walk_table_kind {
	WALK_TABLE_FREE,    /* no such table */
	WALK_TABLE_PENDING, /* being built */
	WALK_TABLE_NONE,    /* has none, and never will: frame pointers */
	WALK_TABLE_READY,
	WALK_TABLE_PARTS, /* too large for one slab: table `sub` + (chunk >> shift) has the part */
};

struct walk_table {
	__u32 kind;
	__u32 slab;
	__u32 index, rows; /* word in the slab where they start */
	__u32 base, n;	   /* first chunk (file offset / EHFRAME_CHUNK), and how many */
	__u32 sub, shift;
};

/* An executable mapping, [start, end). */
struct walk_map {
	__u64 start, end, pgoff;
	__u32 table;
	__u32 generation; /* its list's; tells a reader that it was reused meanwhile */
};

/*
 * Rules of nearly all frames are so simple that a number can say them, and no memory has to be
 * waited for: the CFA from the stack or frame pointer, a few words of which the last is the
 * return address and the first, if there are more, the caller's frame pointer, right below the CFA
 * (x86) or where the register points to (aarch64). From WALK_DIRECT on a rule's number is the rule.
 */
#define WALK_DIRECT 0x8000
#define WALK_DIRECT_RULE(cfa_words, last, at_register, from_fp) \
	(WALK_DIRECT | (from_fp) << 14 | (at_register) << 13 | (last) << 10 | (cfa_words))
#define WALK_DIRECT_CFA(d) ((d)&0x3ff) /* words above the register */
#define WALK_DIRECT_LAST(d) ((d) >> 10 & 7)
#define WALK_DIRECT_FROM_FP(d) ((d) >> 14 & 1)
#define WALK_DIRECT_AT_REGISTER(d) ((d) >> 13 & 1)
#define WALK_DIRECT_OFFSET(d) \
	(WALK_DIRECT_AT_REGISTER(d) ? -(int)WALK_DIRECT_CFA(d) : -1 - (int)WALK_DIRECT_LAST(d))

/* All of such a rule. */
static inline void walk_direct_rule(__u32 d, struct ehframe_rule *ret)
{
	int last = WALK_DIRECT_LAST(d), offset = WALK_DIRECT_OFFSET(d);

	ret->cfa = WALK_DIRECT_FROM_FP(d) ? EHFRAME_CFA_FP : EHFRAME_CFA_SP;
	ret->fp = last ? EHFRAME_FP_CFA : EHFRAME_FP_SAME;
	ret->ra = EHFRAME_RA_CFA;
	ret->extra = 0;
	ret->cfa_off = 8 * (int)WALK_DIRECT_CFA(d);
	ret->fp_off = (short)(last ? offset : 0);
	ret->ra_off = (short)(offset + last);
}

struct walk_rule {
	struct ehframe_rule rule;
	__u32 pad;
};

/*
 * A process's list: walk_map number first, and how many; read in one piece. No two lists have the
 * same generation; the first mapping of a list that is not in use has none.
 */
struct walk_proc {
	__u32 first, n;
	__u32 generation, pad;
};

/* Set before the program is loaded. */
struct walk_config {
	__u32 depth, kernel_depth;
	__u32 user, kernel;	    /* which chains */
	__u64 ra_mask;		    /* bits of a return address that are address */
	__u64 copy_ns;		    /* time between stack copies on a CPU, on average; 0: none */
	__u64 copy_burst;	    /* copies that may come at once */
	__u64 wake_bytes;	    /* wake the reader when this much waits */
	__u64 pidns_dev, pidns_ino; /* the pid namespace to report in; 0: the first one */
	/* bpf/offcpu.h */
	__u64 off_direct_ns; /* waits so long are told one by one; 0: none */
	__u32 off_all;	     /* all threads; else those in off_targets */
	__u32 off_some_cpus; /* only on the CPUs of off_cpus */
	__u32 off_cgroups;   /* how many there are to be in; 0: any will do */
	__u32 off_kthreads;
	__u32 off_states; /* where in states those of these programs begin */
	__u32 fn_states;  /* and those of walk_fn.h and walk_hit.h */
};

/* A thread that waits. */
struct walk_off_wait {
	__u64 since, stack, waker;  /* stacks by hash; 0: not known */
	__u32 pid, tid, state, cpu; /* cpu: where it began */
};

struct walk_off_key {
	__u64 stack, waker;
	__u32 pid, tid, state, pad;
};

struct walk_off_sum {
	__u64 ns, count, last; /* last: when the last wait ended, */
	__u64 cpu;	       /* and where */
};

#define WALK_USER_MODE 1u /* the sample hit user space */
#define WALK_WAKER 2u	  /* WALK_OFF_STACK: of who ended a wait, whoever that is */

/*
 * A sample in the ring; behind it the user chain, then the kernel's. With a copy always WALK_DEPTH
 * + WALK_KERNEL words for both, then walk_regs and the stack.
 */
struct walk_sample {
	__u64 time, ip;
	union {
		struct {
			__u64 period, addr;
		};
		char comm[16]; /* WALK_OFF_STACK */
	};
	__u64 end_pc; /* the frame that could not be left */
	__u32 pid, tid, cpu;
	__u32 flags; /* WALK_* */
	__u32 n_user, n_kernel;
	__u32 end;     /* enum unwind_end */
	__u32 unwind;  /* UNWIND_USED_FP ... */
	__u32 copy;    /* bytes of stack copied, after struct walk_regs */
	__u32 n_fp;    /* frames found by frame pointer */
	__u32 event;   /* which program */
	__u32 n_known; /* frames whose rule was known, one after another */
};

/* Tells a thread's user registers (by DWARF number) from others; a stack and its sample agree. */
static inline __u64 walk_mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* Registers by DWARF number (33 of them, see sym/unwind/unwind.h), then the stack from sp up. */
struct walk_regs {
	__u64 r[33];
};
