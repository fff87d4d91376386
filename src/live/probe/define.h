/* SPDX-License-Identifier: MIT */
/*
 * From a probe's text to what the kernel takes: a definition for each place, with arguments from
 * debug info, from BTF and the calling convention, or as they are.
 */
#pragma once

#include "event/probe.h"
#include "live/probe/target.h"

struct probe_def {
	const char *group, *event;
	const char *place; /* "PATH:0xOFFSET" or "SYMBOL+OFFSET" */
	const char *args;  /* "" or " a=%di:x64 b=..." */
	const char *function;
	bool ret;
	uint64_t semaphore; /* of a static probe, in the file; 0: none */
};

struct probe_defs {
	VEC(struct probe_def) list; /* texts are the arena's */
	/* Told with the result: that code was not optimised, that a variable was left out ... */
	VEC(const char *) notes;
};

int probe_define(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		 struct probe_defs *ret, struct err *e);
void probe_defs_free(struct probe_defs *d);
/* "p:probe/vfs_read vfs_read+0 count=%dx:x64" */
void probe_def_text(const struct probe_def *d, struct strbuf *out);

/* The places of a probe, for what asks about them (-V) rather than adds. */
int probe_points(const struct probe_target *t, const struct probe_text *p, dwarf_point_fn *fn,
		 void *ctx, struct err *e);

/* The arguments of one probe at one place, as the kernel takes them. */

/* point NULL: no debug info there. symbol is the function's name, for BTF; at_entry: its start. */
int probe_args(const struct probe_target *t, const struct probe_text *p,
	       const struct dwarf_point *point, const char *symbol, bool at_entry, struct arena *a,
	       struct probe_defs *notes, struct strbuf *out, struct err *e);
