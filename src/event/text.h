/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as text, the way their kernel prints them.
 *
 * What print formats need beyond the record: names for addresses, and texts the
 * kernel keeps at fixed places. trace->tep holds one of these.
 */
#pragma once

#include "base/str.h"
#include "event/printfmt/printfmt.h"
#include "event/type.h"

struct text_opts {
	unsigned long_size; /* of the kernel that wrote the records; 0: 8 */
};

/* What trace->tep is. */
void *text_new(const struct text_opts *o);
void text_free(void *tep); /* NULL is fine */

/* tracefs' printk_formats: lines of an address and a text in quotes. */
void text_printk(void *tep, const char *text, size_t n);

/* Compile t's print format, once it has fields; one that makes no sense is left out. */
void text_prepare(void *tep, struct event_type *t, struct arena *a);

/* Who names kernel functions in records. */
void text_set_resolver(void *tep, printfmt_resolve_fn *fn, void *ctx);

/* Append what the kernel would print of the record. tep may be NULL. Threads may share it. */
void text_print(const void *tep, const struct event_type *t, const void *raw, size_t size,
		struct strbuf *b);
/* Append " NAME=VALUE" for each field. */
void text_fields(const void *tep, const struct event_type *t, const void *raw, size_t size,
		 struct strbuf *b);
