/* SPDX-License-Identifier: MIT */
/* Types for probes, from debug info or BTF, and the way from a variable and its fields to what
 * the kernel takes: sk->__sk_common.skc_state becomes "+18(%di):x8". */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "event/probe.h"
#include "kern/btf_types.h"
#include "sym/dwarf/probe.h"

struct probe_type {
	struct dwarf_die die; /* one of both */
	uint32_t btf;
};

struct probe_target; /* live/probe/target.h */

/* How registers and addresses are written for one target. */
struct probe_syntax {
	uint16_t machine;
	bool user; /* a uprobe: addresses are given from the file's start */
	/* Where text is in memory when the file is mapped at 0, less where it is in the file. */
	uint64_t slide;
	const struct probe_target *target; /* whose data has names */
};
#define PROBE_REG_RETVAL 0xffffu /* what a function gives back */
/* "di" for DWARF's register 5; NULL when the kernel has no name for it. */
const char *probe_register(uint16_t machine, unsigned reg);

/* Adds " NAME=FETCH:TYPE" for a variable and its fields; e says which field is not there. */
int probe_fetch(const struct btf_types *btf, const struct probe_syntax *sx,
		const struct probe_arg *arg, const char *var, const struct dwarf_fetch *at,
		struct probe_type type, struct strbuf *out, struct err *e);
