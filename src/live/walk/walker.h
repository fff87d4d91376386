/* SPDX-License-Identifier: MIT */
/*
 * Stacks walked in the kernel, without frame pointers.
 *
 * A BPF program attached to sampling events walks each sample's user stack over compact tables
 * (sym/unwind/ehframe.h) and sends the sample with both chains through a ring of its own; the
 * kernel's own is dropped. Tables of what is mapped are built in the background, the most wanted
 * first, in shared memory.
 *
 * Who owns the events tells the walker of mappings, forks, execs and exits; what it misses is read
 * from /proc when a sample needs it. All calls but walker_open/close come from one thread. Needs
 * Linux 5.17 (bpf_loop), BTF and the right to load BPF programs; walker_open() says what is
 * missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sym/unwind/unwind.h"

struct walker;

#define WALKER_EVENTS_MAX 16
#define WALKER_DEPTH_MAX 1024 /* user frames */
#define WALKER_KERNEL_MAX 128 /* kernel frames */

/* Time off the CPU, summed by thread and stack. */
struct walker_off {
	bool on;
	bool wakers;	    /* also the stack of who ended a wait */
	bool all;	    /* all threads; else those of walker_off_target() */
	bool inherit;	    /* and their children */
	bool kthreads;	    /* threads of the kernel, too */
	uint64_t direct_ns; /* waits so long are handed out one by one as they end; 0: none */
	const int *cpus;    /* only on these; none: on all. Read by walker_open() */
	size_t n_cpus;
	const int *cgroups; /* descriptors; only in these. Read by walker_open() */
	size_t n_cgroups;
	uint32_t threads; /* recorded, and that wait, at once; 0: 32768 */
	uint32_t sums;	  /* in the kernel at once; 0: 32768 */
};

struct walker_opts {
	uint32_t events; /* different ids that will be attached, up to WALKER_EVENTS_MAX; 0: 1 */
	uint32_t depth;	 /* user frames at most; 0: WALKER_DEPTH_MAX */
	uint32_t kernel_depth;	 /* kernel frames at most; 0: WALKER_KERNEL_MAX */
	bool no_user, no_kernel; /* leave that chain out */
	bool check_known; /* walk every stack also with nothing known, and compare (tests; one
			     event) */
	/* Copies of stacks the program cannot finish (a second and CPU), finished here; 0: none. */
	uint32_t copy_rate;
	size_t ring_bytes;     /* a power of two; 0: by the number of CPUs */
	size_t table_bytes;    /* for tables, in the kernel; 0: 256 MiB. Made as needed */
	uint32_t slab_bytes;   /* of each piece of those, a power of two; 0: 4 MiB */
	uint32_t tables;       /* files known at once, twice; 0: 65536 */
	uint32_t procs;	       /* processes known at once; 0: by what is recorded */
	uint32_t maps;	       /* executable mappings known at once; 0: 131072 */
	bool cache;	       /* tables are kept by build-id */
	const char *cache_dir; /* there; NULL: in the user's folder */
	const int32_t *pids;   /* processes whose tables are wanted from the start */
	size_t n_pids;
	bool all;      /* all there are */
	bool function; /* only for walker_function(): no events are attached */
	bool hits;     /* walker_hit_*() will be called */
	/* Asked for depth when all else is made (0: walker_open() gives up), and told when
	 * walker_function() can be called. May be NULL. */
	uint32_t (*ask_depth)(void *ctx);
	void (*loaded)(void *ctx, struct walker *w);
	void *ctx;
	bool plain; /* no program at all, and no privilege needed: walker_copy() only */
	struct walker_off off;
};

/* -EOPNOTSUPP, -EPERM ...: e says what is missing. */
int walker_open(const struct walker_opts *o, struct walker **ret, struct err *e);
void walker_close(struct walker *w); /* NULL is fine */

/*
 * This event's samples, and those of children that inherit it, come through the walker from now on,
 * with this id (at most opts.events different ones). Closing the descriptor, which stays the
 * caller's, ends them. Precise events need PERF_SAMPLE_CALLCHAIN, or the kernel refuses.
 */
int walker_attach(struct walker *w, int perf_fd, uint64_t id, struct err *e);

/* What side-band records say. build_id may be NULL; maj, min and ino are 0 where there is one.
 * path is the record's name ("//anon", "[vdso]" ...). Only executable mappings matter. */
struct walker_mmap {
	int32_t pid, tid;
	uint64_t time, start, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path;
};
void walker_mmap(struct walker *w, const struct walker_mmap *m);
void walker_fork(struct walker *w, int32_t pid, int32_t ppid, uint64_t time);
void walker_exec(struct walker *w, int32_t pid, uint64_t time); /* COMM with the exec bit */
void walker_exit(struct walker *w, int32_t pid, int32_t tid, uint64_t time);

enum walker_kind {
	WALKER_SAMPLE,
	WALKER_STACK, /* what waits mean by the number in stack; comm, pid, tid had it first */
	WALKER_WAIT,  /* period ns off the CPU, in count waits, the last of which ended at time */
	WALKER_HIT, /* only a user stack: tid's at time (walker_hit_*); addr tells its registers */
	WALKER_HIT_LATER, /* that one will come, with the same tid and time */
};

struct walker_sample {
	enum walker_kind kind;
	int32_t pid, tid;
	uint32_t cpu;
	bool user_mode; /* the sample itself, as opposed to a system call's caller */
	uint64_t time;	/* CLOCK_MONOTONIC, ns */
	uint64_t ip, period, addr;
	uint64_t id;		/* as given to walker_attach */
	const uint64_t *kernel; /* innermost first */
	uint32_t n_kernel;
	const uint64_t *user; /* innermost first */
	uint32_t n_user;
	enum unwind_end end; /* of the user chain */
	unsigned flags;	     /* UNWIND_USED_FP ... */
	/* Of WALKER_STACK and WALKER_WAIT. */
	uint64_t stack, waker; /* 0: not known. Stacks may come after waits that need them */
	uint64_t count;
	uint32_t state; /* of a wait: 1: interruptible, 2: not */
	char comm[16];
};
/* Non-zero stops the reading. Pointers hold until it returns. */
typedef int walker_fn(void *ctx, const struct walker_sample *s);

/* A stack that somebody else copied; it comes as WALKER_HIT when it is unwound. */
struct walker_stack {
	int32_t pid, tid;
	uint64_t time;
	const struct unwind_regs *regs;
	const void *data; /* from the stack pointer up */
	size_t size;
};
void walker_copy(struct walker *w, const struct walker_stack *s);

/* To wait on; readable when walker_poll has something to do. -1: there is nothing to wait for. */
int walker_fd(const struct walker *w);
/*
 * Hands out what has come, and puts new mappings into force; call it after a
 * batch of records and at least every 100 ms. timeout_ms 0 does not wait.
 * Returns the number of samples, or what fn returned if that is not 0.
 */
int walker_poll(struct walker *w, int timeout_ms, walker_fn *fn, void *ctx, struct err *e);
/* Only hands out what has come. To be called before mappings and execs are told: then stacks
 * that are not finished keep what their process was. */
int walker_take(struct walker *w, walker_fn *fn, void *ctx, struct err *e);
/* Are there samples that wait for their tables? Those will be older than what came meanwhile. */
bool walker_waiting(const struct walker *w);
/* Wait until every table that is wanted now has been built (tests, and before a command starts). */
void walker_settle(struct walker *w, int timeout_ms);

/*
 * --- walker_fn.c: only with opts.function ---
 *
 * Code that programs of others call as a function: r1 is where addresses go (their memory), r2 how
 * many at most (127). It gives how many there were; 0: it cannot be told; -1 and a number: it is
 * finished here and comes as WALKER_STACK, state is r2. It holds descriptors of the walker's maps.
 */
struct bpf_insn;
struct lang_sub; /* lang/lang.h: a function, and how it is called */
struct walker_function {
	const struct bpf_insn *insn;
	size_t n, entry;
	const struct lang_sub *sub; /* its functions, by place */
	size_t n_subs;
};
enum walker_which {
	WALKER_WHOLE,
	WALKER_EARLY, /* every stack is finished here: the kernel checks it in no time */
	WALKER_CODES
};
bool walker_function(const struct walker *w, enum walker_which which, struct walker_function *ret);
/* The kernel did not want it: it is made anew the next time. */
void walker_kept_drop(const struct walker *w);

/*
 * --- walker_off.c, too: only with opts.hits ---
 *
 * User stacks of hits that have samples of their own: WALKER_HIT comes right before the sample (or
 * right after it, where somebody else was there before), of every thread (opts.off.all) or those of
 * walker_off_target(). Tracepoints before their events are opened, probes after it.
 */
/* The registers' mark as WALKER_HIT has it. */
uint64_t walker_mark(const struct unwind_regs *r);
int walker_hit_tracepoint(struct walker *w, const char *name, struct err *e);
/* A system call by its number; -1: any. */
int walker_hit_call(struct walker *w, int nr, bool exit, struct err *e);
struct walker_probe {
	const char *target; /* a file, or the kernel's function */
	uint64_t offset;
	bool user, ret;
};
int walker_hit_probe(struct walker *w, const struct walker_probe *p, struct err *e);

/* --- walker_off.c: only with opts.off.on; whom to record, with opts.hits, too --- */

/* Attach; nothing is summed before walker_off_switch(). */
int walker_off_start(struct walker *w, struct err *e);
/* Record a thread: now, or from its next exec on. */
int walker_off_target(struct walker *w, int32_t tid, bool now, struct err *e);
bool walker_off_is_target(const struct walker *w, int32_t tid);
void walker_off_switch(struct walker *w, bool on);
/* Should the sums be taken before they need more room than there is? */
bool walker_off_due(const struct walker *w);
/* Take the sums: WALKER_WAIT; at the end also what still waits, and it is off then. */
int walker_off_take(struct walker *w, bool end, walker_fn *fn, void *ctx);

struct walker_stats {
	uint64_t samples, lost;		     /* lost: the ring was full */
	uint64_t frames, fp_frames;	     /* user frames; those found by frame pointer */
	uint64_t known_frames;		     /* those whose rule was known from before */
	uint64_t known_checked, known_wrong; /* opts.check_known */
	uint64_t end[UNWIND_END_MAX];	     /* stacks by how they ended, copies already finished */
	uint64_t wakers, wakers_whole;	     /* stacks of who ended waits: not among those */
	uint64_t copies, copies_finished;
	uint64_t tables, tables_cached, tables_failed, table_bytes, table_bytes_max, rows, rules;
	uint64_t slabs;
	uint64_t procs, maps, pending;
	uint64_t refused_tables, refused_procs, refused_maps; /* a limit was reached */
	uint64_t run_count, run_ns; /* of the program, when run-time statistics are on */
	uint32_t verified_insns;
	uint64_t kernel_bytes;			/* of all maps */
	uint64_t off_lost_sums, off_lost_tasks; /* waits and threads there was no room for */
	uint64_t off_lost_ends;			/* waits whose end the kernel did not tell */
};
void walker_stats(const struct walker *w, struct walker_stats *ret);
