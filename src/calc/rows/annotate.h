/* SPDX-License-Identifier: MIT */
/*
 * One function, instruction by instruction: how many samples hit each, which
 * source line it comes from, where it jumps.
 *
 * A sample counts for the instruction its address lies in, as perf counts it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "calc/profile/names.h"
#include "sym/disasm/disasm.h"

struct annotate_opts {
	uint32_t type; /* which of the trace's events */
	/* By type: the event beside which it is counted; NULL: each is alone. */
	const uint32_t *leader;
	bool intel;
	bool no_lines;	     /* do not look for source lines, which may take time */
	const char *vmlinux; /* the kernel's code; NULL: look for it */
	const char *symfs;
};

struct annotate_insn {
	struct disasm_insn code;
	uint64_t count, weight;	      /* samples, and what they weigh */
	int32_t target;		      /* the instruction it jumps to in this function; -1: none */
	const char *target_name;      /* the function it calls or names; NULL: not known */
	uint64_t target_offset;	      /* in that function */
	const struct sym_result *sym; /* where it comes from; sym->frames[0] is the line */
};

/* A group's other event: what its samples hit. */
struct annotate_event {
	uint32_t type;
	uint64_t count, weight, all_count, all_weight;
	struct annotate_hits {
		uint64_t count, weight;
	} * hits; /* by instruction */
};

struct annotate {
	const struct names *names;
	uint32_t frame;
	uint32_t type;
	uint64_t start, end;  /* in the file's terms, as objdump shows them */
	const char *function; /* its name, or where it begins in a file without symbols */
	VEC(struct annotate_insn) insns;
	uint64_t count, weight;		/* of all samples in the function */
	uint64_t all_count, all_weight; /* of all samples of that type */
	struct annotate_event *more;	/* events of the same group */
	unsigned n_more;
	const char *file; /* that the code was read from */
	bool has_lines;
	/* inner workings */
	struct arena arena;
	uint8_t *copy; /* kernel code */
};

/*
 * A function that was inlined is shown within one it was inlined into: ret->frame. The
 * profile behind names must be made by PROFILE_BY_CODE. Code without a name is shown as the
 * function that the file's unwinding tables have around it. On failure *ret is
 * untouched; the message says what is missing (a name, the file, vmlinux ...).
 */
int annotate_make(const struct names *n, uint32_t frame, const struct annotate_opts *o,
		  struct annotate *ret, struct err *e);
void annotate_free(struct annotate *a);

enum annotate_percent {
	ANNOTATE_LOCAL_PERIOD, /* of what the function weighs */
	ANNOTATE_GLOBAL_PERIOD,
	ANNOTATE_LOCAL_HITS,
	ANNOTATE_GLOBAL_HITS,
};
double annotate_percent(const struct annotate *a, const struct annotate_insn *i,
			enum annotate_percent kind);

/* The same of the group's other event; insn: its number. */
double annotate_percent_more(const struct annotate *a, unsigned event, size_t insn,
			     enum annotate_percent kind);

/* Instruction's operands as shown: those of the code, and the target by name. Returns buf. */
const char *annotate_args(const struct annotate *a, const struct annotate_insn *i, char *buf,
			  size_t size);
