/* SPDX-License-Identifier: MIT */
/*
 * System calls of running programs, seen by BPF programs (bpf/trace.bpf.c) without
 * stopping anybody.
 *
 *	tracer_open(&opts, &t, e);
 *	tracer_begin(t, e);
 *	while (...) tracer_read(t, fn, ctx, e);    // calls that have returned
 *	tracer_end(t, e);                          // nothing more comes in
 *	tracer_read(t, fn, ctx, e);                // also those that have not returned
 *	tracer_sums(t, ...);
 *	tracer_close(t);
 *
 * Nothing stays attached when it is closed, or when the process dies. Needs BTF,
 * Linux 5.17 and the right to load BPF programs; tracer_open() says what is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "event/syscall/syscall.h"
#include "event/trace_abi.h"
#include "kern/btf_types.h"
#include "live/target.h"

struct tracer;
struct tracer_structs;
struct walker;

struct tracer_opts {
	const struct target *target;
	pid_t command;	/* of a prepared workload: traced from its exec on; 0: none */
	bool at_once;	/* the command is traced also before its exec */
	bool some_cpus; /* only on the target's CPUs */
	bool by_uid;
	uid_t uid;
	bool sums, events; /* sum up in the kernel; send each call */
	bool failed;
	uint64_t min_ns;
	enum trace_by by;
	uint32_t limit; /* bytes of buffers that are shown */
	uint64_t ring_bytes;
	bool no_children;
	bool no_paths; /* descriptors without the names of their files */
	const pid_t *leave_out;
	size_t n_leave_out;
	/* by number: native, and of 32-bit programs; SYSCALL_MAX - 1 stands for all unknown ones */
	const bool *wanted[TRACE_ABIS];
	const struct walker *walker;	      /* walks the stacks of callers; NULL: none */
	const struct tracer_structs *structs; /* may be NULL: none is read */
};

int tracer_open(const struct tracer_opts *o, struct tracer **ret, struct err *e);
/* Attaches; tasks are looked at from now on, or from tracer_switch() on when paused. */
int tracer_begin(struct tracer *t, bool paused, struct err *e);
void tracer_switch(struct tracer *t, bool on);
/* Readable when much has come; what is little is read by looking now and then. */
int tracer_fd(const struct tracer *t);
/* data is behind r, r->n bytes, and checked to be there. Non-zero stops and is returned. */
typedef int tracer_fn(void *ctx, const struct trace_record *r, const void *data);
/* How many records, or what fn stopped with. */
int tracer_read(struct tracer *t, tracer_fn *fn, void *ctx, struct err *e);
int tracer_end(struct tracer *t, struct err *e);
void tracer_close(struct tracer *t); /* NULL is fine */

struct trace_lost tracer_lost(const struct tracer *t);

/* What was summed up, of all CPUs. */
void tracer_sums(const struct tracer *t,
		 void (*sum)(void *ctx, const struct trace_sum_key *key, const struct trace_sum *v),
		 void (*error)(void *ctx, const struct trace_error_key *key, uint64_t n),
		 void *ctx);
bool tracer_comm(const struct tracer *t, uint32_t id, char comm[16]);

/*
 * Other events beside the calls, before tracer_begin(): a tracepoint by its number (size: of
 * its record, at most TRACE_RAW), and page faults.
 */
int tracer_add_event(struct tracer *t, uint32_t id, uint32_t size, struct err *e);
int tracer_add_faults(struct tracer *t, bool major, struct err *e);

/* The kernel's structs by name, found quickly. types must outlive it. */
struct tracer_structs *tracer_structs_new(const struct btf_types *types);
void tracer_structs_free(struct tracer_structs *s); /* NULL is fine */
const struct btf_types *tracer_structs_types(const struct tracer_structs *s);
/* The kernel's struct for an argument of a call; 0: none known. */
uint32_t tracer_struct(const struct tracer_structs *s, bool is32, const char *call,
		       const char *name);

/* What must be read of a call's arguments. structs may be NULL. */
void tracer_plan(enum syscall_abi abi, int nr, const struct tracer_structs *structs, bool paths,
		 struct trace_plan *ret);
