/* SPDX-License-Identifier: MIT */
/*
 * What the BPF programs of `kymo trace` (bpf/trace.bpf.c) and their user-space
 * half share: constants loaded with them, maps, and the records of the ring.
 * Included by both, so only types of <linux/types.h>.
 *
 * What is read of a call's arguments is said by a plan, one a system call: a list
 * of steps. The kernel half knows nothing of calls but this.
 */
#pragma once

#include <linux/types.h>

#define TRACE_CALLS 1024 /* numbers of calls, an ABI; others have the last one's plan */
#define TRACE_ABIS 2	 /* native, and 32-bit */
#define TRACE_STEPS 8
#define TRACE_STRING 1024 /* bytes of one piece of memory */
#define TRACE_PATH 4096	  /* bytes of a string, as long as a path can be */
#define TRACE_DATA 12288  /* bytes of all pieces */
#define TRACE_PARTS 64	  /* of a file's path */
#define TRACE_RAW 1024	  /* bytes of another event */
#define TRACE_CPUS 1024
/* struct flock and struct ifreq of 64-bit programs: what fcntl and ioctl are read for. */
#define TRACE_FLOCK 32
#define TRACE_IFREQ 40

enum trace_take {
	TRACE_TAKE_NONE,
	TRACE_TAKE_STRING,   /* up to its NUL */
	TRACE_TAKE_BUFFER,   /* as long as argument ref says (at entry) or as the result (exit) */
	TRACE_TAKE_MEMORY,   /* size bytes */
	TRACE_TAKE_ARRAY,    /* size bytes, as often as argument ref says */
	TRACE_TAKE_RESULTS,  /* size bytes, as often as the result says */
	TRACE_TAKE_POINTED,  /* as many bytes as stand where argument ref points to */
	TRACE_TAKE_STRINGS,  /* a list of pointers to strings, NULL at the end */
	TRACE_TAKE_VECTORS,  /* struct iovec, as many as argument ref says, and where they lead */
	TRACE_TAKE_MESSAGE,  /* struct msghdr and where it leads */
	TRACE_TAKE_FD,	     /* the file behind a descriptor */
	TRACE_TAKE_FDS,	     /* behind each of a list: one every size bytes, as many as argument ref
				says, or two where size is 4 */
	TRACE_TAKE_IOCTL,    /* as many bytes as the command in argument ref says */
	TRACE_TAKE_PATH_OF,  /* in records only: parts of a file's path, the last first */
	TRACE_TAKE_EXEC,     /* in records only: the arguments of the new program, NULs between */
	TRACE_TAKE_IOV_DATA, /* in records only: what an iovec leads to */
};

#define TRACE_AT_ENTRY 1
#define TRACE_AT_EXIT 2
#define TRACE_EVEN_FAILED 4 /* at exit also when the call failed */

struct trace_step {
	__u8 arg; /* 6: the result */
	__u8 take;
	__u8 ref;
	__u8 when; /* TRACE_AT_* */
	__u32 size;
};

#define TRACE_WANTED 1u
#define TRACE_IS_EXEC 2u
#define TRACE_NO_RETURN 4u /* exit and exit_group */

struct trace_plan {
	__u32 flags;
	__u32 n;
	struct trace_step step[TRACE_STEPS];
};

enum trace_by { TRACE_BY_PROCESS, TRACE_BY_THREAD, TRACE_BY_NONE };

/* Set before the programs are loaded. */
struct trace_config {
	__u64 min_ns; /* shorter calls are left out */
	__u64 pidns_dev, pidns_ino;
	__u64 wake_bytes;
	__u32 all;    /* every task, else those of `targets` and their children */
	__u32 own;    /* kymo itself, left out */
	__u32 by_uid; /* only of user uid */
	__u32 uid;
	__u32 some_cpus;
	__u32 sums;   /* count and sum in maps */
	__u32 events; /* send each call */
	__u32 failed; /* only failed calls */
	__u32 by;     /* enum trace_by */
	__u32 limit;  /* bytes of buffers */
	__u32 no_children;
	__u32 pad;
};

/* What is known of a task. */
enum trace_state {
	TRACE_UNKNOWN, /* whether it is in a call: it was there before us */
	TRACE_OUTSIDE, /* in none that is of interest */
	TRACE_INSIDE,
};
enum trace_on { TRACE_OFF, TRACE_ON, TRACE_FROM_EXEC };

struct trace_task {
	__u64 start;
	__u32 state, on;
	__s32 nr;
	__u32 abi;
	__u32 pid, tid;
};

enum trace_kind {
	TRACE_CALL,
	TRACE_UNFINISHED, /* the trace ended before the call did, or it began before the trace */
	TRACE_EXITED,	  /* the thread ended in the call */
	TRACE_EVENT,	  /* another event: data is its record */
	TRACE_FAULT,	  /* a page fault: args are address, instruction, 1 for a major one */
};

#define TRACE_NO_START 1u /* the call began before the trace: start is when that was */
#define TRACE_CUT 2u	  /* there was no room for all of its memory */

struct trace_record {
	__u64 start, end;
	__s64 ret;
	__u64 arg[6];
	__u32 pid, tid;
	__s32 nr;
	__u16 kind, flags;
	__u32 abi; /* 0: native */
	__u32 cpu;
	__u32 n;      /* bytes of data, behind the record */
	__u32 failed; /* bits: arguments that could not be read yet */
	char comm[16];
};

/* Before each piece of data. */
struct trace_piece {
	__u8 arg, take;
	__u16 n;     /* bytes that follow */
	__u16 index; /* of strings and vectors */
	__u16 exit;  /* read when the call returned */
};

/* The head of TRACE_TAKE_PATH_OF: parts follow, each with its NUL, the last first. */
struct trace_file {
	__u64 inode;
	__u32 mode, dev;
};

struct trace_sum_key {
	__u32 id; /* of process or thread; 0 for all */
	__s32 nr;
	__u32 abi;
};
struct trace_error_key {
	struct trace_sum_key call;
	__u32 error;
};
/* square is the sum of the squares of the times, of 128 bits. */
struct trace_sum {
	__u64 calls, errors, ns, min, max, square[2];
};

static inline void trace_sum_add(struct trace_sum *to, const struct trace_sum *from)
{
	if (!from->calls)
		return;
	if (!to->calls || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->calls += from->calls;
	to->errors += from->errors;
	to->ns += from->ns;
	to->square[0] += from->square[0];
	to->square[1] += from->square[1] + (to->square[0] < from->square[0]);
}

struct trace_comm {
	char comm[16];
};

/* Counters of what went wrong. */
struct trace_lost {
	__u64 events, sums, tasks;
	__u64 stacks; /* counted by the walker's code */
};
