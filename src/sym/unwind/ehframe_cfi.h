/* SPDX-License-Identifier: MIT */
/*
 * The bytes of .eh_frame and .debug_frame: CIEs, FDEs and their instructions, decoded and
 * bounds-checked, for full evaluation (full.c); and what builds tables of them. Private to sym/.
 */
#pragma once

#include "base/bytes.h"
#include "sym/unwind/ehframe.h"

struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t vaddr;
	bool debug;    /* .debug_frame: other ids, absolute addresses */
	bool open_end; /* no section header said where it ends: the terminator does */
};

struct cfi_cie {
	const struct cfi_section *section;
	uint64_t pos; /* in the section; UINT64_MAX: none */
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra_reg;
	uint8_t enc; /* of addresses in its FDEs */
	bool has_z, signal;
	const uint8_t *insns, *insns_end;
};

struct cfi_fde {
	uint64_t start, end; /* virtual addresses */
	const uint8_t *insns, *insns_end;
};

/* A length-prefixed entry. */
struct cfi_entry {
	uint64_t cie_pos; /* of an FDE */
	bool is_cie, is_end;
	const uint8_t *body, *end; /* after the id; end is the next entry's start */
};

struct ehframe_seg {
	uint64_t off, vaddr, size;
};
#define EHFRAME_SEGS_MAX 16

/* What ehframe_open*() finds (ehframe_elf.c). */
struct ehframe {
	uint16_t machine;
	bool loaded;
	int fd;		     /* -1 for an image in memory */
	const uint8_t *data; /* of an image in memory */
	size_t size;
	uint64_t entry;
	size_t n_sections;			  /* 0: it has no section headers */
	struct ehframe_seg seg[EHFRAME_SEGS_MAX]; /* executable, by file offset */
	unsigned n_segs;
	struct ehframe_seg load[EHFRAME_SEGS_MAX]; /* everything the file backs */
	unsigned n_loads;
	/* File offsets outside hold no code, as far as section headers tell: not looked at. */
	uint64_t code_start, code_end;
	/* Without them, data is NULL. .debug_frame is for what .eh_frame leaves out. */
	struct cfi_section frame, debug, hdr; /* .eh_frame, .debug_frame, .eh_frame_hdr */
	void *frame_owned, *debug_owned, *hdr_owned;
	struct cfi_section go; /* .gopclntab */
	void *go_owned;
	uint64_t text; /* address of .text */
	struct cfi_place
		*places; /* every FDE by address, where .eh_frame_hdr has no usable table */
	size_t n_places;
};

/* One FDE: where its code starts (virtual address) and where it lies in the section. */
struct cfi_place {
	uint64_t start;
	uint64_t pos : 63;
	uint64_t debug : 1; /* in .debug_frame */
};
static inline const struct cfi_section *cfi_place_section(const struct ehframe *f,
							  const struct cfi_place *p)
{
	return p->debug ? &f->debug : &f->frame;
}

/* The search table of .eh_frame_hdr; n is 0 when it is not of the usual kind, or not complete. */
struct cfi_search {
	const uint8_t *table; /* pairs of int32: address, FDE, both relative to the header */
	size_t n;
};
struct cfi_search cfi_search_table(const struct ehframe *f);
struct cfi_place cfi_search_get(const struct ehframe *f, const struct cfi_search *s, size_t i);

/* Up to n bytes of code at a file offset (which in a loaded image is another place). */
size_t ehframe_text(const struct ehframe *f, uint64_t off, void *buf, size_t n);

/* false when the entry does not fit into the section. */
bool cfi_entry_at(const struct cfi_section *s, uint64_t pos, struct cfi_entry *ret);
bool cfi_cie_at(const struct cfi_section *s, uint64_t pos, struct cfi_cie *ret);
bool cfi_fde_parse(const struct cfi_entry *en, const struct cfi_cie *cie, struct cfi_fde *ret);
/* Every FDE by address, found by going through the section; the caller frees. At most one entry a
 * start address: the last one. */
size_t cfi_scan(const struct ehframe *f, struct cfi_place **ret);

/* The FDE that covers a virtual address; false when none does. */
bool cfi_find(const struct ehframe *f, uint64_t vaddr, struct cfi_cie *cie, struct cfi_fde *fde);

/* A pointer in one of the DW_EH_PE encodings; bad for those that need more than the section. */
uint64_t cfi_pointer(struct bytes *r, uint8_t enc, const struct cfi_section *s);

enum cfi_op_kind {
	CFI_NOP,
	CFI_ADVANCE,	/* value: bytes */
	CFI_SET_LOC,	/* value: virtual address */
	CFI_OFFSET,	/* reg is saved at CFA + value */
	CFI_VAL_OFFSET, /* reg is CFA + value */
	CFI_RESTORE,	/* reg as the CIE says */
	CFI_UNDEFINED,	/* reg */
	CFI_SAME,	/* reg */
	CFI_REGISTER,	/* reg is in register value */
	CFI_REMEMBER,
	CFI_RESTORE_STATE,
	CFI_DEF_CFA,	  /* reg + value */
	CFI_DEF_CFA_REG,  /* reg */
	CFI_DEF_CFA_OFF,  /* value */
	CFI_DEF_CFA_EXPR, /* block, value bytes */
	CFI_EXPR,	  /* reg is saved where block says */
	CFI_VAL_EXPR,	  /* reg is what block says */
};

struct cfi_op {
	enum cfi_op_kind kind;
	uint32_t reg;
	int64_t value;
	const uint8_t *block;
};

/* The rarer instructions. */
void cfi_op_extended(struct bytes *r, uint8_t code, const struct cfi_cie *cie, struct cfi_op *op);

/* The next instruction; false at the end, and with r->bad for what cannot be decoded. */
static inline bool cfi_next(struct bytes *r, const struct cfi_cie *cie, struct cfi_op *op)
{
	uint8_t code;

	if (r->p >= r->end)
		return false;
	code = *r->p++;
	switch (code >> 6) {
	case 1:
		op->kind = CFI_ADVANCE;
		op->value = (int64_t)((code & 0x3f) * cie->code_align);
		return true;
	case 2:
		op->kind = CFI_OFFSET;
		op->reg = code & 0x3f;
		op->value = (int64_t)(bytes_uleb(r) * (uint64_t)cie->data_align);
		return !r->bad;
	case 3:
		op->kind = CFI_RESTORE;
		op->reg = code & 0x3f;
		return true;
	}
	if (code == 0x0e) { /* DW_CFA_def_cfa_offset, the most frequent by far */
		op->kind = CFI_DEF_CFA_OFF;
		op->value = (int64_t)bytes_uleb(r);
		return !r->bad;
	}
	cfi_op_extended(r, code, cie, op);
	return !r->bad;
}

/* --- a table in the making: rows go in by rising offset --- */

/* Which registers matter on a machine, by DWARF number; regs: the last one a rule may name. */
struct ehframe_regs {
	uint32_t fp, sp, ra, regs;
};
const struct ehframe_regs *ehframe_machine_regs(uint16_t machine);

/* What a state cannot express (state->lost). */
#define EHFRAME_LOST_CFA 1u
#define EHFRAME_LOST_FP 2u
#define EHFRAME_LOST_RA 4u
#define EHFRAME_LOST_SP 8u   /* the caller's stack pointer is not the CFA */
#define EHFRAME_LOST_BX 32u  /* matters only where rbx is followed */
#define EHFRAME_RA_UNDEF 16u /* not lost: the outermost frame */

struct ehframe_state {
	struct ehframe_rule rule;
	uint32_t lost;
	short bx;    /* where rbx is saved, in words from the CFA; 0: untouched */
	int cfa_off; /* of the last register the CFA was based on: comes back after an expression */
};
/* Any instruction about the CFA or a register but def_cfa_offset and restore. */
void ehframe_state_apply(struct ehframe_state *s, const struct ehframe_regs *m,
			 const struct cfi_op *op);
void ehframe_state_restore(struct ehframe_state *s, const struct ehframe_state *from,
			   const struct ehframe_regs *m, uint32_t reg);

struct ehframe_builder {
	const struct ehframe *f;
	uint64_t base;
	uint32_t n_chunks, chunk; /* chunk: the one the last row is in */
	uint32_t *index;
	uint32_t *rows;
	uint32_t n_rows, cap_rows;
	/* The row that is not in rows yet, because one at the same offset may replace it. */
	uint64_t next_off;
	uint32_t next_rule, last_rule; /* last_rule: of the last row in rows */
	struct ehframe_rule *rules;
	uint32_t n_rules, cap_rules;
	uint16_t *slots; /* hash of rules: rule + 1, 0 is free; cap_slots is a power of two */
	uint32_t cap_slots;
	uint32_t n_fdes, n_bad, n_full;
	bool wants_bx, with_bx; /* a CFA is based on rbx; rules follow rbx */
	uint64_t work_left;	/* bytes of instructions that may still be run */
	uint64_t text_left;	/* bytes of code that may still be looked at */
};

/* The number of a rule; EHFRAME_RULE_FULL once there are too many. */
uint32_t ehframe_rule_id(struct ehframe_builder *b, const struct ehframe_rule *r);
/* Make the waiting row a real one. */
void ehframe_emit_flush(struct ehframe_builder *b);

/* From off on, rule. Offsets that do not rise are ignored; equal ones replace. */
static inline void ehframe_emit(struct ehframe_builder *b, uint64_t off, uint32_t rule)
{
	if (off > b->next_off) {
		if (b->next_rule != b->last_rule)
			ehframe_emit_flush(b);
		b->next_off = off;
		b->next_rule = rule;
	} else if (off == b->next_off) {
		b->next_rule = rule;
	}
}

/*
 * Code that no FDE covers, [start, end): what its bytes show (signal
 * trampolines, procedure linkage, the entry point) becomes rows; the rest is
 * EHFRAME_RULE_NONE. Called in order with the FDEs (ehframe_code.c).
 */
void ehframe_code_gap(struct ehframe_builder *b, uint64_t start, uint64_t end);
/* The same for code of Go (ehframe_go.c); false when there is none. */
bool ehframe_go_gap(struct ehframe_builder *b, uint64_t start, uint64_t end);
/* Is the function of Go at [start, end) one that other tables are wrong about? *rule is its own. */
bool ehframe_go_special(struct ehframe_builder *b, uint64_t start, uint64_t end, uint32_t *rule);
/* Is it the code that a signal handler returns to? */
bool ehframe_code_signal(struct ehframe_builder *b, uint64_t start, uint32_t *rule);
/* Whether there are tables of Go that can be read. */
bool ehframe_go_has(const struct ehframe *f);
