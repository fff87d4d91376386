/* SPDX-License-Identifier: MIT */
/* Types for probes, from debug info or BTF, and the way from a variable and its fields to what
 * the kernel takes: sk->__sk_common.skc_state becomes "+18(%di):x8". */
#ifndef KYMO_LIVE_PROBE_TYPE_H
#define KYMO_LIVE_PROBE_TYPE_H

#include "base/err.h"
#include "base/str.h"
#include "event/probe.h"
#include "kern/btf_types.h"
#include "sym/dwarf/probe.h"

struct probe_type {
	struct dwarf_die die; /* one of both */
	uint32_t btf;
};

struct probe_type_info {
	enum dwarf_class class;
	bool is_signed, is_char, is_reference;
	uint64_t size, count;
	struct probe_type to; /* of pointers and arrays */
};

struct probe_types {
	struct probe_type_info (*info)(const void *ctx, struct probe_type t);
	bool (*member)(const void *ctx, struct probe_type t, const char *name,
		       struct dwarf_member *ret, struct probe_type *type);
	void (*members)(const void *ctx, struct probe_type t, void (*fn)(void *, const char *),
			void *fn_ctx);
	void (*text)(const void *ctx, struct probe_type t, struct strbuf *out);
	const void *ctx;
};
struct probe_types probe_types_dwarf(void);
struct probe_types probe_types_btf(const struct btf_types *b);

/* How registers and addresses are written for one target. */
struct probe_syntax {
	uint16_t machine;
	bool user; /* a uprobe: addresses are given from the file's start */
	/* Where text is in memory when the file is mapped at 0, less where it is in the file. */
	uint64_t slide;
	/* A name for an address of the kernel's data; false: none. May be NULL. */
	bool (*symbol)(void *ctx, uint64_t addr, struct strbuf *out);
	void *ctx;
};
#define PROBE_REG_RETVAL 0xffffu /* what a function gives back */
/* "di" for DWARF's register 5; NULL when the kernel has no name for it. */
const char *probe_register(uint16_t machine, unsigned reg);

/* Adds " NAME=FETCH:TYPE" for a variable and its fields; e says which field is not there. */
int probe_fetch(const struct probe_types *types, const struct probe_syntax *sx,
		const struct probe_arg *arg, const char *var, const struct dwarf_fetch *at,
		struct probe_type type, struct strbuf *out, struct err *e);
/* The type a value of t is shown with: "s32", "x64"; "" when it has no size. */
void probe_type_suffix(const struct probe_type_info *t, char buf[16]);

#endif
