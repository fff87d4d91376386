/* SPDX-License-Identifier: MIT */
/* BPF instructions as they are written by hand, for initialisers of struct bpf_insn. */
#pragma once

#include <linux/bpf.h>

/* clang-format off */
#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (int32_t)(i) }
#define INSN_MOV(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define INSN_MOV_K(d, v) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, v)
#define INSN_ADD_K(d, v) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, v)
#define INSN_CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define INSN_EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* size: BPF_W, BPF_DW */
#define INSN_LOAD(size, d, s, o) INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define INSN_STORE(size, d, o, s) INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define INSN_STORE_K(size, d, o, v) INSN(BPF_ST | BPF_MEM | (size), d, 0, o, v)
#define INSN_COUNT(d, o, s) INSN(BPF_STX | BPF_ATOMIC | BPF_DW, d, s, o, BPF_ADD)
#define INSN_JUMP_IF(d, op, v, o) INSN(BPF_JMP | (op) | BPF_K, d, 0, o, v)
/* Two instructions: a map, or (BPF_PSEUDO_MAP_VALUE) what is in it. */
#define INSN_MAP(d, kind, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, fd), { 0 }
