/* SPDX-License-Identifier: MIT */
/*
 * The "print fmt" of a tracepoint's format: a printf format and C expressions over
 * the record's fields, compiled once and run for each record.
 *
 *	"comm=%s pid=%d flags=%s", REC->comm, REC->pid, __print_flags(REC->f, "|", { 1, "A" })
 *
 * The text is untrusted, as the recording is: nesting and size are bounded, and
 * whatever a record says, nothing outside it is read. Results are those of
 * libtraceevent, which perf prints with: numbers are unsigned 64-bit, what is
 * narrower is cut when it is printed. Only a signed field of one or two bytes
 * keeps its sign.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/type.h"

struct printfmt;

/* Compiles t's print_fmt; all memory is a's. On failure *ret is untouched and e says why. */
int printfmt_compile(const struct event_type *t, struct arena *a, unsigned long_size,
		     const struct printfmt **ret, struct err *e);

/* Names an address: *start gets the function's, *module its module or NULL; NULL: no name. */
typedef const char *printfmt_resolve_fn(void *ctx, uint64_t addr, uint64_t *start,
					const char **module);

struct printfmt_env {
	printfmt_resolve_fn *resolve; /* may be NULL */
	void *ctx;
	/* A string the kernel keeps at this address (printk_formats); NULL when not known. */
	const char *(*string)(void *ctx, uint64_t addr);
	void *string_ctx;
};

/* Append what the kernel would print of the record. Threads may share f. */
void printfmt_run(const struct printfmt *f, const struct printfmt_env *env, const void *raw,
		  size_t size, struct strbuf *b);

/* The fields one by one, for records whose print format is not understood: " a=1 b=x". */
void printfmt_fields(const struct event_type *t, const void *raw, size_t size, struct strbuf *b);
/* The same, each as its conversion in the print format shows it, where it has one. */
void printfmt_fields_shown(const struct event_type *t, const struct printfmt_env *env,
			   const void *raw, size_t size, struct strbuf *b);
