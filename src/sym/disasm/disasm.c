/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "sym/disasm/disasm.h"

#include <elf.h>
#include <string.h>

#if HAVE_CAPSTONE
#	include <capstone/capstone.h>

#	include "base/bytes.h"

static const char *disasm_machine(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64: return "x86_64";
	case EM_386: return "i386";
	case EM_AARCH64: return "aarch64";
	case EM_ARM: return "arm";
	case EM_RISCV: return "riscv";
	case EM_PPC64: return "ppc64";
	case EM_S390: return "s390";
	default: return "an unknown machine";
	}
}

static int open_for(const struct disasm_code *code, csh *h, struct err *e)
{
	cs_mode order = code->big_endian ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;
	cs_err r;

	switch (code->machine) {
	case EM_X86_64: r = cs_open(CS_ARCH_X86, CS_MODE_64, h); break;
	case EM_386: r = cs_open(CS_ARCH_X86, CS_MODE_32, h); break;
	case EM_AARCH64: r = cs_open(CS_ARCH_ARM64, order, h); break;
	case EM_ARM: r = cs_open(CS_ARCH_ARM, order, h); break;
	default:
		return err_set(e, ENOTSUP, "no disassembler for %s (machine %u)",
			       disasm_machine(code->machine), code->machine);
	}
	if (r != CS_ERR_OK)
		return err_set(e, ENOTSUP, "the disassembler does not start for %s: %s",
			       disasm_machine(code->machine), cs_strerror(r));
	cs_option(*h, CS_OPT_DETAIL, CS_OPT_ON);
	if (code->machine == EM_X86_64 || code->machine == EM_386)
		cs_option(*h, CS_OPT_SYNTAX, code->intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	return 0;
}

static bool in_group(const cs_insn *in, unsigned group)
{
	for (uint8_t i = 0; i < in->detail->groups_count; i++)
		if (in->detail->groups[i] == group)
			return true;
	return false;
}

/* The fixed address of a jump or call is an immediate, on ARM the last operand. */
static bool x86_target(const cs_insn *in, uint64_t *ret)
{
	const cs_x86 *x = &in->detail->x86;

	if (x->op_count != 1 || x->operands[0].type != X86_OP_IMM)
		return false;
	*ret = (uint64_t)x->operands[0].imm;
	return true;
}

static void x86_flow(const cs_insn *in, struct disasm_insn *out)
{
	/* data that is addressed relative to the instruction is named too */
	const cs_x86 *x = &in->detail->x86;

	if (in_group(in, CS_GRP_CALL))
		out->flow = DISASM_CALL;
	else if (in_group(in, CS_GRP_RET) || in_group(in, CS_GRP_IRET))
		out->flow = DISASM_RETURN;
	else if (in_group(in, CS_GRP_JUMP))
		out->flow = in->id == X86_INS_JMP || in->id == X86_INS_LJMP ? DISASM_JUMP
									    : DISASM_BRANCH;
	if (out->flow == DISASM_JUMP || out->flow == DISASM_BRANCH || out->flow == DISASM_CALL)
		out->has_target = x86_target(in, &out->target);
	for (uint8_t i = 0; i < x->op_count && !out->has_target; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].mem.base == X86_REG_RIP) {
			out->has_target = true;
			out->target = in->address + in->size + (uint64_t)x->operands[i].mem.disp;
		}
}

static void arm64_flow(const cs_insn *in, struct disasm_insn *out)
{
	const cs_arm64 *x = &in->detail->arm64;

	switch (in->id) {
	case ARM64_INS_BL:
	case ARM64_INS_BLR: out->flow = DISASM_CALL; break;
	case ARM64_INS_RET:
	case ARM64_INS_ERET: out->flow = DISASM_RETURN; break;
	case ARM64_INS_BR: out->flow = DISASM_JUMP; break;
	case ARM64_INS_B:
		out->flow = x->cc == ARM64_CC_INVALID || x->cc == ARM64_CC_AL ? DISASM_JUMP
									      : DISASM_BRANCH;
		break;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ: out->flow = DISASM_BRANCH; break;
	case ARM64_INS_ADR:
	case ARM64_INS_ADRP: break;
	default: return;
	}
	if (x->op_count && x->operands[x->op_count - 1].type == ARM64_OP_IMM) {
		out->has_target = true;
		out->target = (uint64_t)x->operands[x->op_count - 1].imm;
	}
}

static void arm_flow(const cs_insn *in, struct disasm_insn *out)
{
	const cs_arm *x = &in->detail->arm;

	if (in->id == ARM_INS_BL || in->id == ARM_INS_BLX)
		out->flow = DISASM_CALL;
	else if (in->id == ARM_INS_B)
		out->flow =
			x->cc == ARM_CC_AL || x->cc == ARM_CC_INVALID ? DISASM_JUMP : DISASM_BRANCH;
	else if (in->id == ARM_INS_BX)
		out->flow = DISASM_RETURN;
	else
		return;
	if (x->op_count == 1 && x->operands[0].type == ARM_OP_IMM) {
		out->has_target = true;
		out->target = (uint32_t)x->operands[0].imm;
	}
}

/* Operands as objdump writes them: no blanks behind commas, and without a jump's target. */
static const char *args_of(const cs_insn *in, const struct disasm_insn *out, struct arena *a)
{
	char text[sizeof(in->op_str) + 1];
	size_t n = 0, end = strlen(in->op_str);

	if (out->has_target && out->flow != DISASM_NEXT) {
		const char *comma = strrchr(in->op_str, ',');

		end = comma ? (size_t)(comma - in->op_str) + 1 : 0;
	}
	for (size_t i = 0; i < end; i++)
		if (in->op_str[i] != ' ' || i == 0 || in->op_str[i - 1] != ',')
			text[n++] = in->op_str[i];
	return arena_strndup(a, text, n);
}

/* What capstone does not know: a newer instruction of x86, or no instruction at all. */
static void other_bytes(const struct disasm_code *code, uint64_t addr, const uint8_t *p,
			size_t left, struct arena *a, disasm_list *ret)
{
	bool arm = code->machine == EM_AARCH64 || code->machine == EM_ARM;
	struct disasm_insn *in = vec_add(ret);
	struct disasm_vex v;

	in->addr = addr;
	in->bytes = p;
	if (code->machine == EM_X86_64 && disasm_vex(p, left, code->intel, &v)) {
		in->size = (uint8_t)v.size;
		in->name = arena_strdup(a, v.name);
		in->args = arena_strdup(a, v.args);
		in->has_target = v.has_target;
		in->target = addr + (uint64_t)v.target;
		return;
	}
	/* one group of system instructions goes on growing; all have three bytes */
	if (code->machine == EM_X86_64 && left >= 3 && p[0] == 0x0f && p[1] == 0x01 &&
	    p[2] >= 0xc0) {
		in->size = 3;
		in->name = p[2] == 0xee	  ? "rdpkru"
			   : p[2] == 0xef ? "wrpkru"
			   : p[2] == 0xe8 ? "serialize"
			   : p[2] == 0xfc ? "clzero"
			   : p[2] == 0xfd ? "rdpru"
					  : "(system)";
		in->args = "";
		return;
	}
	if (arm && left >= 4) {
		bool swap = code->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		uint32_t word = bytes_at32(p);

		in->size = 4;
		in->name = ".inst";
		in->args = arena_printf(a, "0x%08x", swap ? __builtin_bswap32(word) : word);
		return;
	}
	in->size = 1;
	in->name = "(bad)";
	in->args = "";
}

int disasm(const struct disasm_code *code, struct arena *a, disasm_list *ret, struct err *e)
{
	const uint8_t *p = code->bytes;
	size_t left = code->n;
	uint64_t addr = code->addr;
	cs_insn *in;
	csh h = 0;
	int r = open_for(code, &h, e);

	if (r < 0)
		return r;
	in = cs_malloc(h);
	if (!in) {
		cs_close(&h);
		return err_set(e, ENOMEM, "no memory for the disassembler");
	}
	while (left) {
		const uint8_t *start = p;
		struct disasm_insn *out;

		if (!cs_disasm_iter(h, &p, &left, &addr, in)) {
			other_bytes(code, addr, p, left, a, ret);
			addr += ret->data[ret->n - 1].size;
			p += ret->data[ret->n - 1].size;
			left -= ret->data[ret->n - 1].size;
			continue;
		}
		out = vec_add(ret);
		out->addr = in->address;
		out->bytes = start;
		out->size = (uint8_t)in->size;
		if (code->machine == EM_AARCH64)
			arm64_flow(in, out);
		else if (code->machine == EM_ARM)
			arm_flow(in, out);
		else
			x86_flow(in, out);
		out->name = arena_strdup(a, in->mnemonic);
		out->args = args_of(in, out, a);
	}
	cs_free(in, 1);
	cs_close(&h);
	return 0;
}

#else

int disasm(const struct disasm_code *code, struct arena *a, disasm_list *ret, struct err *e)
{
	err_set(e, ENOTSUP, "this kymo was built without capstone, so it cannot disassemble");
	return err_hint(e, "install libcapstone-dev and build again; 'kymo version "
			   "--build-options' shows what is there");
}

#endif
