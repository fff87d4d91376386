/* SPDX-License-Identifier: MIT */
/*
 * The waist: one thing that happened, whatever recorded it.
 *
 * Readers (files, rings) fill it, calculations and views read it. It owns
 * nothing: pointers lead into the source's memory and hold until the callback
 * that got the event returns, or as long as the source where it says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_SAMPLE, /* a sample of a counter, or a tracepoint that was hit */
	EVENT_MMAP,
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_SWITCH,
	EVENT_LOST,
	EVENT_THROTTLE,
	EVENT_UNTHROTTLE,
	EVENT_NAMESPACES, /* of a thread; what these say is known to the source only */
	EVENT_CGROUP,
	EVENT_KSYMBOL, /* code that came into the kernel, or left it */
	EVENT_BPF,     /* a program of BPF came or went */
	EVENT_TEXT_POKE,
	EVENT_ROUND,   /* the recorder had emptied all buffers (source->read_stored) */
	EVENT_COUNTER, /* a track has this value from now on: that of its type, CPU and thread */
	EVENT_OTHER,   /* known to the source only, or part of the sample before; for raw dumps */
};

/* Where the processor was (event->mode). */
enum event_mode {
	EVENT_MODE_UNKNOWN,
	EVENT_MODE_KERNEL,
	EVENT_MODE_USER,
	EVENT_MODE_HYPERVISOR,
	EVENT_MODE_GUEST_KERNEL,
	EVENT_MODE_GUEST_USER,
};

/* Which of the fields below the source gave (event->have). */
#define EVENT_HAVE_TIME (1u << 0)
#define EVENT_HAVE_TASK (1u << 1) /* pid and tid */
#define EVENT_HAVE_CPU (1u << 2)
#define EVENT_HAVE_IP (1u << 3)
#define EVENT_HAVE_CHAIN (1u << 4)
#define EVENT_HAVE_PERIOD (1u << 5)
#define EVENT_HAVE_RAW (1u << 6)
#define EVENT_HAVE_ADDR (1u << 7)
#define EVENT_HAVE_ID (1u << 8)
#define EVENT_HAVE_EXTRA (1u << 9)
#define EVENT_HAVE_COUNT (1u << 27)  /* extra->count: it is so many samples */
#define EVENT_HAVE_STATE (1u << 28)  /* irq_state and preempt_count */
#define EVENT_STARTS_PAGE (1u << 29) /* the first one of a page of the kernel's buffer */
#define EVENT_UNWOUND (1u << 10)     /* the chain's user part was found from a copy of the stack */

/* What interrupts were doing (event->irq_state), as ftrace has it. */
enum event_irq {
	EVENT_IRQS_OFF = 1,
	EVENT_IRQS_NOT_KNOWN = 2,
	EVENT_NEED_RESCHED = 4,
	EVENT_IN_HARDIRQ = 8,
	EVENT_IN_SOFTIRQ = 16,
};

#define EVENT_TYPE_NONE UINT32_MAX

/* Markers inside a chain, as the kernel writes them: from this on, there are no addresses. */
#define EVENT_CHAIN_MARK ((uint64_t)-4095)
#define EVENT_CHAIN_HV ((uint64_t)-32)
#define EVENT_CHAIN_KERNEL ((uint64_t)-128)
#define EVENT_CHAIN_USER ((uint64_t)-512)
#define EVENT_CHAIN_GUEST ((uint64_t)-2048)
#define EVENT_CHAIN_GUEST_KERNEL ((uint64_t)-2176)
#define EVENT_CHAIN_GUEST_USER ((uint64_t)-2560)

/*
 * Made by readers (calc/read/offcpu.h), never recorded. Behind WAKER(n) stands the stack
 * of waker n of the trace, outermost first, up to WOKEN(n): what follows is the stack
 * of the thread it woke.
 */
#define EVENT_CHAIN_WAKERS 700
#define EVENT_CHAIN_WAKER(n) ((uint64_t)-4095 + (n))
#define EVENT_CHAIN_WOKEN(n) ((uint64_t)-4095 + EVENT_CHAIN_WAKERS + (n))

/* How registers were recorded (event_extra.regs_abi). */
enum event_regs { EVENT_REGS_NONE, EVENT_REGS_32, EVENT_REGS_64 };

/* What few events carry; event->extra is NULL without EVENT_HAVE_EXTRA. */
struct event_branch {
	uint64_t from, to, flags;
};
struct event_extra {
	uint64_t weight; /* the full word: with TYPE_HAS_WEIGHT_PARTS three figures */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	uint64_t stream_id;
	const struct event_branch *branch;
	uint64_t branch_n, branch_hw_index;
	uint64_t regs_abi, regs_mask; /* user registers at the sample */
	const uint64_t *regs;
	uint64_t regs_intr_abi, regs_intr_mask;
	const uint64_t *regs_intr;
	const void *stack;   /* copy of the user stack, from the stack pointer up */
	uint64_t stack_size; /* bytes that were really copied */
	const void *aux;
	uint64_t aux_size;
	uint64_t count;	  /* samples that it stands for */
	const void *read; /* figures of counters, host endian, in the order their format has */
	size_t read_size;
};

/* What the kinds that are no samples say; event->side is NULL for samples. */
struct event_side {
	uint64_t start, size, pgoff; /* MMAP */
	uint32_t prot, flags;	     /* MMAP, 0 when not recorded */
	const char *text;	     /* MMAP: path; COMM: name */
	bool exec;		     /* COMM: because of an exec */
	bool out, preempt;	     /* SWITCH: the task left the CPU; while it could have run on */
	int32_t by_pid, by_tid;	     /* who ran when it was recorded, -1 not recorded */
	int32_t other_pid, other_tid; /* FORK: parent; SWITCH: who comes or went, -1 not recorded */
	uint64_t count;		      /* LOST: how many */
	bool samples;		      /* LOST: the kernel counts samples that it did not take */
	const char *name;	      /* what the source calls it: "MMAP2"; NULL: nothing */
	const void *bytes;	      /* the source's own record without its header, ... */
	size_t n_bytes;		      /* ... host endian */
	double value;		      /* COUNTER: in the type's count_unit */
	uint64_t length;	      /* COUNTER: so many ns, 0: until the next */
};

struct event {
	enum event_kind kind;
	uint32_t type; /* index into trace->types; of EVENT_OTHER it may be EVENT_TYPE_NONE */
	unsigned have;
	enum event_mode mode;
	uint64_t time;	  /* nanoseconds of the trace's clock */
	int32_t pid, tid; /* -1 when not known */
	uint32_t cpu;
	uint64_t weight; /* what it counts for: its period, 1 for a tracepoint, ns off the CPU */
	uint64_t ip;
	uint64_t addr;
	uint64_t id;	       /* perf's event id */
	const uint64_t *chain; /* innermost first, with markers; 8-byte aligned, host endian */
	uint32_t chain_n;
	uint32_t raw_size;
	const void *raw; /* a tracepoint's record; decoded through the type's fields */
	const struct event_extra *extra;
	const struct event_side *side;
	const void *record; /* the source's own record, host endian, for raw dumps; may be NULL */
	uint16_t misc;	    /* the flags of perf's record header */
	uint8_t irq_state;  /* enum event_irq */
	uint8_t preempt_count;
	uint32_t part;	   /* index into trace->parts, where there are any */
	uint64_t position; /* where in the source, for messages and raw dumps */
};
