/* SPDX-License-Identifier: MIT */
#include "sym/disasm/disasm.h"

#include <stdarg.h>
#include <string.h>

/* How operands are told: which of the fields they come from. */
enum form {
	K_VRM,	  /* mask, vector, vector or memory */
	K_VRM_P,  /* the same with a comparison in the immediate */
	R_VRM,	  /* vector, vector, vector or memory */
	R_VRM_I,  /* and an immediate */
	R_RM_I,	  /* vector, vector or memory, immediate */
	V_RM_I,	  /* shifts: the vector is in vvvv, which one of a group in reg */
	R_GPR,	  /* vector, general register */
	MASK_KV,  /* mask, mask, mask */
	MASK_K,	  /* mask, mask */
	MASK_KM,  /* mask, mask or memory */
	MASK_MK,  /* memory, mask */
	MASK_KR,  /* mask, general register */
	MASK_RK,  /* general register, mask */
	MASK_K_I, /* mask, mask, immediate */
};

enum { ANY = -1 };

enum { P0 = 1, P1 = 2, P2 = 4, P3 = 8 };

/* Behind % stand letters of which the operand's size chooses one: two by w, four by w and pp. */
static const struct known {
	uint8_t evex, map, pp, opcode; /* pp: those that it may be */
	int8_t w, group;	       /* which value they must have, or ANY */
	uint8_t form;
	const char *name;
} table[] = {
	{ 1, 1, P1, 0x74, ANY, ANY, K_VRM, "vpcmpeqb" },
	{ 1, 1, P1, 0x75, ANY, ANY, K_VRM, "vpcmpeqw" },
	{ 1, 1, P1, 0x76, 0, ANY, K_VRM, "vpcmpeqd" },
	{ 1, 1, P1, 0x64, ANY, ANY, K_VRM, "vpcmpgtb" },
	{ 1, 1, P1, 0x65, ANY, ANY, K_VRM, "vpcmpgtw" },
	{ 1, 1, P1, 0x66, 0, ANY, K_VRM, "vpcmpgtd" },
	{ 1, 2, P1, 0x29, 1, ANY, K_VRM, "vpcmpeqq" },
	{ 1, 2, P1, 0x37, 1, ANY, K_VRM, "vpcmpgtq" },
	{ 1, 2, P1, 0x26, ANY, ANY, K_VRM, "vptestm%bw" },
	{ 1, 2, P1, 0x27, ANY, ANY, K_VRM, "vptestm%dq" },
	{ 1, 2, P2, 0x26, ANY, ANY, K_VRM, "vptestnm%bw" },
	{ 1, 2, P2, 0x27, ANY, ANY, K_VRM, "vptestnm%dq" },
	{ 1, 3, P1, 0x3e, ANY, ANY, K_VRM_P, "u%bw" },
	{ 1, 3, P1, 0x3f, ANY, ANY, K_VRM_P, "%bw" },
	{ 1, 3, P1, 0x1e, ANY, ANY, K_VRM_P, "u%dq" },
	{ 1, 3, P1, 0x1f, ANY, ANY, K_VRM_P, "%dq" },
	{ 1, 3, P1, 0x25, ANY, ANY, R_VRM_I, "vpternlog%dq" },
	{ 1, 3, P1, 0x03, ANY, ANY, R_VRM_I, "valign%dq" },
	{ 1, 3, P1, 0x43, 0, ANY, R_VRM_I, "vshufi32x4" },
	{ 1, 3, P1, 0x43, 1, ANY, R_VRM_I, "vshufi64x2" },
	{ 1, 3, P1, 0x23, 0, ANY, R_VRM_I, "vshuff32x4" },
	{ 1, 3, P1, 0x23, 1, ANY, R_VRM_I, "vshuff64x2" },
	{ 1, 2, P1, 0xb4, 1, ANY, R_VRM, "vpmadd52luq" },
	{ 1, 2, P1, 0xb5, 1, ANY, R_VRM, "vpmadd52huq" },
	{ 1, 2, P1, 0x8d, ANY, ANY, R_VRM, "vperm%bw" },
	{ 1, 2, P1, 0x75, ANY, ANY, R_VRM, "vpermi2%bw" },
	{ 1, 2, P1, 0x7d, ANY, ANY, R_VRM, "vpermt2%bw" },
	{ 1, 2, P1, 0x7a, 0, ANY, R_GPR, "vpbroadcastb" },
	{ 1, 2, P1, 0x7b, 0, ANY, R_GPR, "vpbroadcastw" },
	{ 1, 2, P1, 0x7c, ANY, ANY, R_GPR, "vpbroadcast%dq" },
	{ 1, 1, P1, 0x72, ANY, 0, V_RM_I, "vpror%dq" },
	{ 1, 1, P1, 0x72, ANY, 1, V_RM_I, "vprol%dq" },
	{ 1, 1, P1, 0x72, 0, 2, V_RM_I, "vpsrld" },
	{ 1, 1, P1, 0x72, ANY, 4, V_RM_I, "vpsra%dq" },
	{ 1, 1, P1, 0x72, 0, 6, V_RM_I, "vpslld" },
	{ 1, 1, P1, 0x73, 1, 2, V_RM_I, "vpsrlq" },
	{ 1, 1, P1, 0x73, ANY, 3, V_RM_I, "vpsrldq" },
	{ 1, 1, P1, 0x73, 1, 6, V_RM_I, "vpsllq" },
	{ 1, 1, P1, 0x73, ANY, 7, V_RM_I, "vpslldq" },
	{ 0, 1, P0 | P1, 0x41, ANY, ANY, MASK_KV, "kand%wbqd" },
	{ 0, 1, P0 | P1, 0x42, ANY, ANY, MASK_KV, "kandn%wbqd" },
	{ 0, 1, P0 | P1, 0x45, ANY, ANY, MASK_KV, "kor%wbqd" },
	{ 0, 1, P0 | P1, 0x46, ANY, ANY, MASK_KV, "kxnor%wbqd" },
	{ 0, 1, P0 | P1, 0x47, ANY, ANY, MASK_KV, "kxor%wbqd" },
	{ 0, 1, P0 | P1, 0x4a, ANY, ANY, MASK_KV, "kadd%wbqd" },
	{ 0, 1, P1, 0x4b, 0, ANY, MASK_KV, "kunpckbw" },
	{ 0, 1, P0, 0x4b, 0, ANY, MASK_KV, "kunpckwd" },
	{ 0, 1, P0, 0x4b, 1, ANY, MASK_KV, "kunpckdq" },
	{ 0, 1, P0 | P1, 0x44, ANY, ANY, MASK_K, "knot%wbqd" },
	{ 0, 1, P0 | P1, 0x98, ANY, ANY, MASK_K, "kortest%wbqd" },
	{ 0, 1, P0 | P1, 0x99, ANY, ANY, MASK_K, "ktest%wbqd" },
	{ 0, 1, P0 | P1, 0x90, ANY, ANY, MASK_KM, "kmov%wbqd" },
	{ 0, 1, P0 | P1, 0x91, ANY, ANY, MASK_MK, "kmov%wbqd" },
	{ 0, 1, P0, 0x92, 0, ANY, MASK_KR, "kmovw" },
	{ 0, 1, P1, 0x92, 0, ANY, MASK_KR, "kmovb" },
	{ 0, 1, P3, 0x92, ANY, ANY, MASK_KR, "kmov%dq" },
	{ 0, 1, P0, 0x93, 0, ANY, MASK_RK, "kmovw" },
	{ 0, 1, P1, 0x93, 0, ANY, MASK_RK, "kmovb" },
	{ 0, 1, P3, 0x93, ANY, ANY, MASK_RK, "kmov%dq" },
	{ 0, 3, P1, 0x30, ANY, ANY, MASK_K_I, "kshiftr%bw" },
	{ 0, 3, P1, 0x31, ANY, ANY, MASK_K_I, "kshiftr%dq" },
	{ 0, 3, P1, 0x32, ANY, ANY, MASK_K_I, "kshiftl%bw" },
	{ 0, 3, P1, 0x33, ANY, ANY, MASK_K_I, "kshiftl%dq" },
};

/* An instruction taken apart. Registers have all their bits. */
struct parts {
	bool evex;
	unsigned map, pp, w, length, vvvv, mask, opcode;
	bool zero, broadcast;
	unsigned mod, reg, rm, group; /* rm: the register when mod is 3 */
	bool has_sib, relative;
	unsigned scale, index, base;
	int32_t disp;
	uint8_t imm;
	bool has_imm;
	unsigned size;
};

/* What follows the opcode: ModRM, SIB, displacement. False when bytes are missing. */
static bool read_operands(const uint8_t *p, size_t n, struct parts *x, unsigned ext_x,
			  unsigned ext_b)
{
	unsigned at = x->size, rm, disp = 0;

	if (at >= n)
		return false;
	x->mod = p[at] >> 6;
	x->group = p[at] >> 3 & 7;
	x->reg |= x->group;
	rm = p[at++] & 7;
	/* X is a vector register's highest bit where there is no index */
	x->rm = rm | ext_b << 3 | (x->evex ? ext_x << 4 : 0);
	x->base = rm | ext_b << 3;
	if (x->mod != 3 && rm == 4) {
		if (at >= n)
			return false;
		x->has_sib = true;
		x->scale = 1u << (p[at] >> 6);
		x->index = (p[at] >> 3 & 7) | ext_x << 3;
		x->base = (p[at] & 7) | ext_b << 3;
		rm = p[at++] & 7;
		if (x->mod == 0 && rm == 5) {
			disp = 4;
			x->base = 255; /* none */
		}
	} else if (x->mod == 0 && rm == 5) {
		disp = 4;
		x->relative = true;
	}
	disp = x->mod == 1 ? 1 : x->mod == 2 ? 4 : disp;
	if (n - at < disp)
		return false;
	if (disp == 1)
		x->disp = (p[at] ^ 0x80) - 0x80; /* signed */
	else if (disp == 4)
		memcpy(&x->disp, p + at, 4);
	x->size = at + disp;
	return true;
}

static bool has_immediate(const struct parts *x)
{
	if (x->map == 3)
		return true;
	return x->map == 1 && ((x->opcode >= 0x70 && x->opcode <= 0x73) || x->opcode == 0xc2 ||
			       (x->opcode >= 0xc4 && x->opcode <= 0xc6));
}

static bool take_apart(const uint8_t *p, size_t n, struct parts *x)
{
	unsigned ext_x = 0, ext_b = 0;

	if (n < 4)
		return false;
	if (p[0] == 0xc5) {
		*x = (struct parts){ .map = 1, .size = 2 };
		x->reg = (~p[1] >> 7 & 1u) << 3;
	} else if (p[0] == 0xc4) {
		*x = (struct parts){ .map = p[1] & 31u, .w = p[2] >> 7, .size = 3 };
		x->reg = (~p[1] >> 7 & 1u) << 3;
		ext_x = ~p[1] >> 6 & 1;
		ext_b = ~p[1] >> 5 & 1;
	} else if (p[0] == 0x62 && (p[2] & 4)) {
		*x = (struct parts){ .evex = true, .map = p[1] & 7u, .w = p[2] >> 7, .size = 4 };
		x->reg = (~p[1] >> 7 & 1u) << 3 | (~p[1] >> 4 & 1u) << 4;
		ext_x = ~p[1] >> 6 & 1;
		ext_b = ~p[1] >> 5 & 1;
		x->zero = p[3] >> 7;
		x->length = p[3] >> 5 & 3;
		x->broadcast = p[3] >> 4 & 1;
		x->mask = p[3] & 7;
	} else {
		return false;
	}
	x->pp = p[x->evex ? 2 : x->size - 1] & 3;
	x->vvvv = ~p[x->evex ? 2 : x->size - 1] >> 3 & 15u;
	if (x->evex)
		x->vvvv |= (~p[3] >> 3 & 1u) << 4;
	else
		x->length = p[x->size - 1] >> 2 & 1;
	if (x->size >= n || !x->map)
		return false;
	x->opcode = p[x->size++];
	if (!x->evex && x->map == 1 && x->opcode == 0x77) /* vzeroupper has no operands */
		return true;
	if (!read_operands(p, n, x, ext_x, ext_b))
		return false;
	x->has_imm = has_immediate(x);
	if (!x->has_imm)
		return true;
	if (x->size >= n)
		return false;
	x->imm = p[x->size++];
	return true;
}

struct text {
	char *out;
	size_t size, n;
	bool intel;
	const struct parts *x;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->out + t->n, t->size - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
}

static void vector(struct text *t, unsigned reg)
{
	put(t, "%s%cmm%u", t->intel ? "" : "%", "xyz?"[t->x->length], reg & 31);
}

static void general(struct text *t, unsigned reg, bool wide)
{
	static const char *const names[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
	const char *p = t->intel ? "" : "%";

	if ((reg & 15) < 8)
		put(t, "%s%c%s", p, wide ? 'r' : 'e', names[reg & 7]);
	else
		put(t, "%sr%u%s", p, reg & 15, wide ? "" : "d");
}

static void mask(struct text *t, unsigned reg)
{
	put(t, "%sk%u", t->intel ? "" : "%", reg & 7);
}

/* EVEX counts a short displacement in units of the operand. */
static int64_t displacement(const struct parts *x)
{
	int64_t unit = x->broadcast ? (x->w ? 8 : 4) : 16 << x->length;

	return x->evex && x->mod == 1 ? x->disp * unit : x->disp;
}

static void disasm_vex_memory(struct text *t)
{
	const struct parts *x = t->x;
	int64_t d = displacement(x);
	bool index = x->has_sib && x->index != 4, base = x->relative || x->base != 255;
	const char *sign = !base && !index ? "" : d < 0 ? " - " : " + ";

	if (!t->intel && d)
		put(t, "%s%#llx", d < 0 ? "-" : "", (unsigned long long)(d < 0 ? -d : d));
	put(t, t->intel ? "[" : "(");
	if (x->relative)
		put(t, t->intel ? "rip" : "%%rip");
	else if (base)
		general(t, x->base, true);
	if (index) {
		put(t, "%s", !t->intel ? "," : base ? " + " : "");
		general(t, x->index, true);
		put(t, t->intel ? "*%u" : ",%u", x->scale);
	}
	if (t->intel && (d || !*sign))
		put(t, "%s%#llx", sign, (unsigned long long)(d < 0 && *sign ? -d : d));
	put(t, t->intel ? "]" : ")");
	if (x->broadcast)
		put(t, "{1to%u}", (16u << x->length) / (x->w ? 8 : 4));
}

/* One operand; operands are listed destination first. */
static void operand(struct text *t, char which)
{
	const struct parts *x = t->x;

	switch (which) {
	case 'R': vector(t, x->reg); break;
	case 'V': vector(t, x->vvvv); break;
	case 'M':
		if (x->mod == 3)
			vector(t, x->rm);
		else
			disasm_vex_memory(t);
		break;
	case 'G': general(t, x->rm & 15, x->w); break;
	case 'g': general(t, x->reg & 15, x->w); break;
	case 'K': mask(t, x->reg); break;
	case 'k': mask(t, x->vvvv); break;
	case 'm':
		if (x->mod == 3)
			mask(t, x->rm);
		else
			disasm_vex_memory(t);
		break;
	default: put(t, t->intel ? "%u" : "$%#x", x->imm); break;
	}
}

static void operands(struct text *t, const char *list)
{
	size_t n = strlen(list);

	for (size_t i = 0; i < n; i++) {
		size_t at = t->intel ? i : n - 1 - i;

		if (i)
			put(t, ",");
		operand(t, list[at]);
		if (at == 0 && t->x->mask) { /* what the destination is masked by */
			put(t, "{");
			mask(t, t->x->mask);
			put(t, t->x->zero ? "}{z}" : "}");
		}
	}
}

static const struct known *look_up(const struct parts *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct known *k = &table[i];

		if (k->evex == x->evex && k->map == x->map && (k->pp >> x->pp & 1) &&
		    k->opcode == x->opcode && (k->w == ANY || (unsigned)k->w == x->w) &&
		    (k->group == ANY || (unsigned)k->group == x->group) &&
		    (k->form != K_VRM_P || x->imm < 8))
			return k;
	}
	return NULL;
}

bool disasm_vex(const uint8_t *p, size_t n, bool intel, struct disasm_vex *ret)
{
	static const char *const lists[] = {
		[K_VRM] = "KVM",  [K_VRM_P] = "KVM",  [R_VRM] = "RVM",	[R_VRM_I] = "RVMI",
		[R_RM_I] = "RMI", [V_RM_I] = "VMI",   [R_GPR] = "RG",	[MASK_KV] = "Kkm",
		[MASK_K] = "Km",  [MASK_KM] = "Km",   [MASK_MK] = "mK", [MASK_KR] = "KG",
		[MASK_RK] = "gm", [MASK_K_I] = "KmI",
	};
	static const char *const compare[] = { "eq",  "lt",  "le",  "false",
					       "neq", "nlt", "nle", "true" };
	struct parts x;
	struct text t = { .out = ret->args, .size = sizeof(ret->args), .intel = intel, .x = &x };
	const struct known *k;
	const char *letters;

	if (!take_apart(p, n, &x))
		return false;
	*ret = (struct disasm_vex){ .size = x.size, .name = "(avx)" };
	k = look_up(&x);
	if (!k)
		return true;
	n = strcspn(k->name, "%");
	letters = k->name + n + (k->name[n] == '%');
	snprintf(ret->name, sizeof(ret->name), "%s%s%.*s%.1s", k->form == K_VRM_P ? "vpcmp" : "",
		 k->form == K_VRM_P ? compare[x.imm] : "", (int)n, k->name,
		 strlen(letters) == 4 ? letters + 2 * x.w + x.pp
		 : *letters	      ? letters + x.w
				      : "");
	operands(&t, lists[k->form]);
	if (x.relative) {
		ret->has_target = true;
		ret->target = (int64_t)x.size + x.disp;
	}
	return true;
}
