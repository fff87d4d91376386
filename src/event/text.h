/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as text, the way their kernel prints them: through libtraceevent.
 *
 * Not for several threads at a time. Without libtraceevent text_new() gives
 * NULL, and the fields are shown by name and value instead.
 */
#ifndef KYMO_EVENT_TEXT_H
#define KYMO_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "event/type.h"

struct text_opts {
	bool swapped; /* records are of the other endian */
	unsigned long_size, page_size;
};

/* What trace->tep is. */
void *text_new(const struct text_opts *o);
void text_free(void *tep); /* NULL is fine */

void text_header_page(void *tep, const char *text, size_t n, unsigned long_size);
/* A format text; false when libtraceevent cannot make anything of it. */
bool text_format(void *tep, const char *system, const char *text, size_t n);
/* The kernel's saved texts; each NUL-terminated. */
void text_printk(void *tep, const char *text);
void text_comms(void *tep, const char *text);

/*
 * Who names kernel functions in records: *start gets the function's address,
 * *module its module's name or NULL; NULL when there is no name.
 */
typedef const char *text_resolve_fn(void *ctx, uint64_t addr, uint64_t *start, const char **module);
void text_set_resolver(void *tep, text_resolve_fn *fn, void *ctx);

/* Append what the kernel would print of the record. tep may be NULL. */
void text_print(void *tep, const struct event_type *t, const void *raw, size_t size, uint32_t cpu,
		struct strbuf *b);

#endif
