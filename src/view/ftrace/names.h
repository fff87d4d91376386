/* SPDX-License-Identifier: MIT */
/*
 * Names for kernel addresses as trace-cmd finds them in a saved kallsyms: every
 * symbol reaches to the next one, of whatever kind; only absolute ones and ARM's
 * markers are left out. (sym/names/kallsyms.h takes symbols as perf does.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ftrace_name {
	uint64_t addr;
	const char *name, *module; /* module NULL: the kernel itself */
};

struct ftrace_names;
/* text is copied. */
struct ftrace_names *ftrace_names_new(const char *text, size_t n);
void ftrace_names_free(struct ftrace_names *names);
/* NULL when nothing is there. One thread at a time. */
const struct ftrace_name *ftrace_names_find(struct ftrace_names *names, uint64_t addr);
/* All of them by address. */
const struct ftrace_name *ftrace_names_all(const struct ftrace_names *names, size_t *n);
