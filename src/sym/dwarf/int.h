/* SPDX-License-Identifier: MIT */
/*
 * What the dwarf_*.c files share. Nobody else includes this.
 *
 * Locks: dwarf.lock guards the lists of files, units and abbreviations, and
 * unit_prepare(); unit.lock guards the making of that unit's index and lines.
 * A thread that holds a unit's lock may take the dwarf's, never the reverse.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "sym/dwarf/dwarf.h"
#include "sym/elf/segments.h"

enum {
	DW_TAG_array_type = 0x01,
	DW_TAG_class_type = 0x02,
	DW_TAG_enumeration_type = 0x04,
	DW_TAG_formal_parameter = 0x05,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_member = 0x0d,
	DW_TAG_pointer_type = 0x0f,
	DW_TAG_reference_type = 0x10,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15,
	DW_TAG_typedef = 0x16,
	DW_TAG_union_type = 0x17,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subrange_type = 0x21,
	DW_TAG_base_type = 0x24,
	DW_TAG_const_type = 0x26,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_variable = 0x34,
	DW_TAG_volatile_type = 0x35,
	DW_TAG_restrict_type = 0x37,
	DW_TAG_namespace = 0x39,
	DW_TAG_rvalue_reference_type = 0x42,
	DW_TAG_atomic_type = 0x47,
	DW_TAG_skeleton_unit = 0x4a,

	DW_AT_sibling = 0x01,
	DW_AT_location = 0x02,
	DW_AT_name = 0x03,
	DW_AT_byte_size = 0x0b,
	DW_AT_bit_offset = 0x0c,
	DW_AT_bit_size = 0x0d,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_comp_dir = 0x1b,
	DW_AT_const_value = 0x1c,
	DW_AT_producer = 0x25,
	DW_AT_upper_bound = 0x2f,
	DW_AT_abstract_origin = 0x31,
	DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38,
	DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b,
	DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e,
	DW_AT_frame_base = 0x40,
	DW_AT_specification = 0x47,
	DW_AT_type = 0x49,
	DW_AT_entry_pc = 0x52,
	DW_AT_ranges = 0x55,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_data_bit_offset = 0x6b,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76,
	DW_AT_loclists_base = 0x8c,
	DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_dwo_id = 0x2131,
	DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133,

	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_indirect = 0x16,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b,
	DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_addr_index = 0x1f01,
	DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20,
	DW_FORM_GNU_strp_alt = 0x1f21,

	DW_UT_compile = 1,
	DW_UT_type = 2,
	DW_UT_skeleton = 4,
	DW_UT_split_compile = 5,
	DW_UT_split_type = 6,
};

enum section {
	SEC_INFO,
	SEC_ABBREV,
	SEC_STR,
	SEC_LINE,
	SEC_LINE_STR,
	SEC_STR_OFFSETS,
	SEC_ADDR,
	SEC_RANGES,
	SEC_RNGLISTS,
	SEC_LOC,
	SEC_LOCLISTS,
	SEC_ARANGES,
	SEC_CU_INDEX,
	SEC_N,
};

struct attr_spec {
	uint16_t name, form;
	int64_t implicit; /* the value of DW_FORM_implicit_const */
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	uint32_t nattr, first; /* into abbrevs.attrs */
	/* Bytes of all its values when that does not depend on them; -1: it does. */
	int32_t fixed;
};

struct abbrevs {
	uint64_t offset;
	uint8_t addr_size, offset_size;
	uint16_t version;
	bool dense; /* codes are 1, 2, 3 ... */
	VEC(struct abbrev) list;
	VEC(struct attr_spec) attrs;
};

struct dwarf_file {
	struct dwarf *d;
	const struct elf *e;
	struct elf *own; /* e, when it is ours to free */
	bool dwo;	 /* sections are those named .dwo */
	const uint8_t *sec[SEC_N];
	size_t len[SEC_N];
	void *unpacked[SEC_N];
	pthread_mutex_t late_lock; /* held alone: sections that are loaded when first asked for */
	_Atomic bool late[SEC_N];
	VEC(struct unit *) units; /* by offset */
	VEC(struct abbrevs *) abbrevs;
	uint64_t last_root; /* the table that was last looked at for a unit's first entry */
	bool any_root;
	size_t abbrev_budget; /* bytes that may still be parsed: tables may overlap in bad files */
};

#define CALL_FILE_NONE UINT32_MAX
struct function {
	uint32_t parent; /* 1 + index of the function it is inlined into; 0: not inlined */
	uint32_t call_file, call_line;
	uint64_t die;		    /* offset of its entry */
	_Atomic(const char *) name; /* found when first needed; "" when it has none */
};

struct functions {
	VEC(struct function) list;
	struct segments map; /* values are 1 + index in list */
};
/* 1 + index of the function that one (1 + its index, or 0) is compiled into. */
static inline uint32_t dwarf_outermost(const struct functions *fn, uint32_t at)
{
	while (at && fn->list.data[at - 1].parent)
		at = fn->list.data[at - 1].parent;
	return at;
}

struct line_row {
	uint64_t addr;
	uint32_t line;
	uint32_t file; /* LINE_END: no more code from here on */
};
#define LINE_END UINT32_MAX

struct line_file {
	const char *name;
	uint64_t dir;
	_Atomic(char *) path; /* made when first needed */
};

struct lines {
	struct line_row *rows;
	size_t n;
	VEC(struct line_file) files;
	VEC(const char *) dirs;
	unsigned version;
	const char *comp_dir;
};

struct unit {
	struct dwarf_file *f;
	uint64_t offset, end; /* in .debug_info, header included */
	uint64_t die;	      /* offset of the first entry */
	uint64_t abbrev_offset;
	uint64_t dwo_id;
	uint16_t version;
	uint8_t addr_size, offset_size, type;

	_Atomic bool prepared;
	bool broken;
	struct abbrevs *abbrevs;
	uint64_t low_pc, stmt_list;
	uint64_t str_base, addr_base, rng_base, loc_base, gnu_ranges_base;
	bool has_stmt_list;
	const char *comp_dir, *dwo_name;
	struct unit *skeleton; /* of a split unit: whose addresses and lines it uses */

	pthread_mutex_t lock;
	bool split_tried;
	struct unit *split; /* of a skeleton */
	_Atomic(struct functions *) functions;
	_Atomic(struct lines *) lines;
};

struct dwarf {
	struct dwarf_file *main, *alt, *dwp; /* alt: the dwz file */
	VEC(struct dwarf_file *) dwos;
	dwarf_find_fn *find;
	void *ctx;
	pthread_mutex_t lock;
	bool dwp_tried;
	atomic_bool lacks;   /* a part was looked for in vain */
	uint64_t min_addr;   /* code below it was thrown away by the linker */
	struct segments map; /* values are 1 + index of a unit of main */
};

/* sym/dwarf/file.c: sections, unit headers, abbreviations */
struct dwarf_file *dwarf_file_open(struct dwarf *d, const struct elf *e, bool dwo);
/* Another file that belongs to it; NULL when it is not there. */
struct dwarf_file *dwarf_file_find(struct dwarf *d, const struct dwarf_need *need);
void dwarf_file_close(struct dwarf_file *f);
/* The length that a unit begins with, and how wide its offsets are. */
static inline uint64_t dwarf_length(struct bytes *b, uint8_t *offset_size)
{
	uint64_t len = bytes_u32(b);

	*offset_size = len == 0xffffffff ? 8 : 4;
	return *offset_size == 8 ? bytes_u64(b) : len;
}
/* The unit that holds an offset of .debug_info. */
struct unit *dwarf_file_unit(struct dwarf_file *f, uint64_t offset);
struct bytes dwarf_bytes(struct dwarf_file *f, enum section s, uint64_t offset);
/* A string of a section; "" when the offset is none of its. */
const char *dwarf_string(struct dwarf_file *f, enum section s, uint64_t offset);
/* Under dwarf.lock. NULL when there is none. */
struct abbrevs *dwarf_abbrevs(struct dwarf_file *f, const struct unit *u);
const struct abbrev *dwarf_abbrev(const struct abbrevs *a, uint64_t code);
/* Find the abbreviation of a unit's first entry without parsing all. */
bool dwarf_root_abbrev(struct dwarf_file *f, const struct unit *u, uint64_t code,
		       struct abbrev *ret, struct abbrevs *room);

/* Bytes of a form's value; -1 when that depends on the value. */
int dwarf_form_size(uint64_t form, const struct unit *u);

/* sym/dwarf/attr.c: values of attributes, references, names, ranges */
enum value_kind {
	VALUE_NONE,
	VALUE_INT,
	VALUE_ADDR,
	VALUE_ADDRX,
	VALUE_STR,
	VALUE_REF,
	VALUE_SEC,
	VALUE_RNGX,
	VALUE_LOCX,
	VALUE_BLOCK, /* s is its first byte, v its length */
};
struct value {
	enum value_kind kind;
	uint64_t v;
	const char *s;	      /* VALUE_STR, VALUE_BLOCK */
	struct dwarf_file *f; /* VALUE_REF: the file that v is an offset of */
};
void dwarf_skip(struct bytes *b, const struct unit *u, uint64_t form);
/* All values of an entry. */
static inline void dwarf_skip_all(struct bytes *b, const struct unit *u, const struct abbrev *a)
{
	if (a->fixed >= 0)
		bytes_skip(b, (uint64_t)a->fixed);
	for (uint32_t i = 0; a->fixed < 0 && i < a->nattr && !b->bad; i++)
		dwarf_skip(b, u, u->abbrevs->attrs.data[a->first + i].form);
}
struct value dwarf_value(struct bytes *b, struct unit *u, const struct attr_spec *a);
/* An indexed address of the unit. False when there is none. */
bool dwarf_addrx(const struct unit *u, uint64_t index, uint64_t *ret);
/* Address of a VALUE_ADDR or VALUE_ADDRX. */
bool dwarf_value_addr(const struct unit *u, const struct value *v, uint64_t *ret);

struct pc_attrs {
	struct value low, high, ranges;
};
/* Calls fn for every range; returns false when there was none. fn's false ends it. */
/* A list of ranges, or of locations: an expression with each range. v is the attribute's value. */
struct dwarf_list {
	struct unit *u;
	struct bytes b;
	uint64_t base;
	bool locations;
};
void dwarf_list_open(struct dwarf_list *l, struct unit *u, const struct value *v, bool locations);
/* false at its end, or where it makes no sense. expr: of a location; NULL for ranges. */
bool dwarf_list_next(struct dwarf_list *l, uint64_t *lo, uint64_t *hi, struct bytes *expr);

typedef bool dwarf_range_fn(void *ctx, uint64_t lo, uint64_t hi);
bool dwarf_ranges(struct unit *u, const struct pc_attrs *a, dwarf_range_fn *fn, void *ctx);

/* The ranges of a whole unit, from its first entry; before any thread uses it. */
bool dwarf_unit_ranges(struct unit *u, struct abbrevs *room, dwarf_range_fn *fn, void *ctx);
/* Read what the unit's first entry says. True when the unit can be used. */
bool dwarf_unit_prepare(struct unit *u);
/* The name of a function: of its entry, or of those it refers to. NULL when it has none. */
const char *dwarf_function_name(struct unit *u, uint64_t die);

/* sym/dwarf/index.c */
void dwarf_map_units(struct dwarf *d);
struct functions *dwarf_functions(struct unit *u);

/* sym/dwarf/line.c */
struct lines *dwarf_lines(struct unit *u);
/* Every row of the unit's line program as it comes, with whether a statement begins there. */
typedef void dwarf_row_fn(void *ctx, const struct line_row *row, bool stmt);
void dwarf_rows(struct unit *u, dwarf_row_fn *fn, void *ctx);
/* Whether the header of its line table has a file like the last part of path; NULL: any. */
bool dwarf_unit_has_file(struct unit *u, const char *path);
void dwarf_lines_free(struct lines *l);
const struct line_row *dwarf_line_at(const struct lines *l, uint64_t addr);
const char *dwarf_line_file(struct lines *l, uint64_t file);

/* sym/dwarf/split.c: the unit that has the entries: u itself, or the split one of a skeleton. */
struct unit *dwarf_split_unit(struct unit *u);
