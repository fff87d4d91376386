/* SPDX-License-Identifier: MIT */
/* Operations of DWARF expressions, which say where variables and frames are. */
#pragma once

#include "base/bytes.h"

enum {
	OP_addr = 0x03,
	OP_deref = 0x06,
	OP_const1u = 0x08,
	OP_const1s,
	OP_const2u,
	OP_const2s,
	OP_const4u,
	OP_const4s,
	OP_const8u,
	OP_const8s,
	OP_constu,
	OP_consts,
	OP_dup,
	OP_drop,
	OP_over,
	OP_pick,
	OP_swap,
	OP_rot,
	OP_abs = 0x19,
	OP_and,
	OP_div,
	OP_minus,
	OP_mod,
	OP_mul,
	OP_neg,
	OP_not,
	OP_or,
	OP_plus,
	OP_plus_uconst,
	OP_shl,
	OP_shr,
	OP_shra,
	OP_xor,
	OP_bra,
	OP_eq,
	OP_ge,
	OP_gt,
	OP_le,
	OP_lt,
	OP_ne,
	OP_skip,
	OP_lit0,
	OP_lit31 = 0x4f,
	OP_reg0,
	OP_reg31 = 0x6f,
	OP_breg0,
	OP_breg31 = 0x8f,
	OP_regx,
	OP_fbreg,
	OP_bregx,
	OP_deref_size = 0x94,
	OP_nop = 0x96,
	OP_call_frame_cfa = 0x9c,
	OP_implicit_value = 0x9e,
	OP_stack_value,
	OP_addrx = 0xa1,
	OP_entry_value = 0xa3,
	OP_GNU_entry_value = 0xf3,
};

/* The number that an operation pushes; false: it is none of those that do just that. */
static inline bool dwarf_op_constant(struct bytes *b, uint8_t op, uint64_t *ret)
{
	if (op >= OP_lit0 && op <= OP_lit31) {
		*ret = op - (unsigned)OP_lit0;
		return true;
	}
	switch (op) {
	case OP_const1u: *ret = bytes_u8(b); return true;
	case OP_const1s: *ret = (uint64_t)(int8_t)bytes_u8(b); return true;
	case OP_const2u: *ret = bytes_u16(b); return true;
	case OP_const2s: *ret = (uint64_t)(int16_t)bytes_u16(b); return true;
	case OP_const4u: *ret = bytes_u32(b); return true;
	case OP_const4s: *ret = (uint64_t)(int32_t)bytes_u32(b); return true;
	case OP_const8u:
	case OP_const8s: *ret = bytes_u64(b); return true;
	case OP_constu: *ret = bytes_uleb(b); return true;
	case OP_consts: *ret = (uint64_t)bytes_sleb(b); return true;
	default: return false;
	}
}
