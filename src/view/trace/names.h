/* SPDX-License-Identifier: MIT */
/*
 * Names of the values and bits that system calls take, by set (event/syscall/calls.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct trace_name {
	const char *name;
	uint64_t value, mask; /* it is this one when value is what mask leaves */
};
/* Of both, a zeroed one stands at the end. */
struct trace_names {
	const char *set;
	const struct trace_name *names;
};
extern const struct trace_names trace_names_files[], trace_names_system[];

/* NULL: there is no such set. */
const struct trace_name *trace_names_find(const char *set);
/* "A|B|0x40"; a set that is not known gives hex. */
void trace_names_flags(const char *set, uint64_t v, struct strbuf *b);
/* One name, or the number. */
void trace_names_enum(const char *set, uint64_t v, struct strbuf *b);
/* "SIGINT", "SIGRT_3". */
void trace_names_signal(int sig, struct strbuf *b);
/* "ENOENT"; those that only the kernel sees, too. NULL: not known. */
const char *trace_names_error(int error);
const char *trace_names_error_text(int error);
/* "S_IFREG|0644" */
void trace_names_mode(unsigned mode, struct strbuf *b);
