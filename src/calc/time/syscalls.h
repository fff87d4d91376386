/* SPDX-License-Identifier: MIT */
/*
 * System calls summed up by task and call: how many, how long, what errors.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/trace_abi.h"

struct syscalls_error {
	uint32_t error;
	uint64_t count;
};
struct syscalls_row {
	int32_t nr;
	uint32_t abi;
	struct trace_sum sum;
	VEC(struct syscalls_error) errors;  /* most often first */
	uint64_t unfinished, unfinished_ns; /* calls that had not returned, the longest of them */
};
struct syscalls_task {
	uint32_t id; /* 0: all of them */
	char comm[16];
	VEC(struct syscalls_row) rows; /* by time, the longest first */
	uint64_t calls, errors, ns;
};
/* A zeroed one is empty. */
struct syscalls {
	VEC(struct syscalls_task) tasks; /* with the most calls first */
	uint64_t calls;
	struct map task_at; /* index + 1 */
	struct map row_at;  /* index of the task, index of the row + 1 */
};

/* As callbacks: the first argument is the sums. */
void syscalls_add(void *syscalls, const struct trace_sum_key *key, const struct trace_sum *sum);
void syscalls_add_errors(void *syscalls, const struct trace_error_key *key, uint64_t n);
void syscalls_add_unfinished(struct syscalls *s, const struct trace_sum_key *key, uint64_t ns);
/* One call; ret: its result. */
void syscalls_add_call(struct syscalls *s, const struct trace_sum_key *key, uint64_t ns,
		       int64_t ret);
void syscalls_name(struct syscalls *s, uint32_t id, const char *comm);
/* Sorts, and sums up by task; nothing may be added afterwards. */
void syscalls_finish(struct syscalls *s);
void syscalls_free(struct syscalls *s);

/* Of the mean, in percent of it, as perf trace shows it. */
double syscalls_deviation(const struct trace_sum *v);
