/* SPDX-License-Identifier: MIT */
#include "sym/unwind/ehframe_cfi.h"

#include "base/sort.h"
#include "base/vec.h"

/* DW_EH_PE_* */
#define PE_OMIT 0xff
#define PE_FORMAT 0x0f
#define PE_APPLICATION 0x70
#define PE_PCREL 0x10
#define PE_INDIRECT 0x80

uint64_t cfi_pointer(struct bytes *r, uint8_t enc, const struct cfi_section *s)
{
	uint64_t at = s->vaddr + (uint64_t)(r->p - s->data), v = 0;

	switch (enc & PE_FORMAT) {
	case 0x00: /* absptr */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */ v = bytes_u64(r); break;
	case 0x01: v = bytes_uleb(r); break;
	case 0x02: v = bytes_u16(r); break;
	case 0x03: v = bytes_u32(r); break;
	case 0x09: v = (uint64_t)bytes_sleb(r); break;
	case 0x0a: v = (uint64_t)(int16_t)bytes_u16(r); break;
	case 0x0b: v = (uint64_t)(int32_t)bytes_u32(r); break;
	default: r->bad = true; return 0;
	}
	if ((enc & PE_APPLICATION) == PE_PCREL)
		return v + at;
	if ((enc & PE_APPLICATION) || (enc & PE_INDIRECT))
		r->bad = true;
	return v;
}

bool cfi_entry_at(const struct cfi_section *s, uint64_t pos, struct cfi_entry *ret)
{
	struct bytes r;
	uint64_t len, id, id_at;
	unsigned id_size = 4;

	*ret = (struct cfi_entry){ 0 };
	if (pos > s->size || s->size - pos < 4)
		return false;
	r = (struct bytes){ .p = s->data + pos, .end = s->data + s->size };
	len = bytes_u32(&r);
	if (!len) {
		ret->is_end = true;
		ret->end = r.p;
		return true;
	}
	if (len == 0xffffffff) {
		len = bytes_u64(&r);
		id_size = s->debug ? 8 : 4;
	}
	if (r.bad || len < id_size || len > (uint64_t)(r.end - r.p))
		return false;
	ret->end = r.p + len;
	id_at = (uint64_t)(r.p - s->data);
	id = bytes_uint(&r, id_size);
	ret->body = r.p;
	if (s->debug) {
		ret->is_cie = id == (id_size == 8 ? UINT64_MAX : 0xffffffffu);
		ret->cie_pos = id;
	} else {
		ret->is_cie = id == 0;
		if (id > id_at)
			return false;
		ret->cie_pos = id_at - id;
	}
	return true;
}

/* The augmentation string's letters, each with its bytes in the augmentation data. */
static bool augmentation(struct cfi_cie *c, struct bytes *r, const char *letters,
			 const struct cfi_section *s)
{
	struct bytes data;
	uint64_t len = bytes_uleb(r);

	if (r->bad || len > (uint64_t)(r->end - r->p))
		return false;
	data = (struct bytes){ .p = r->p, .end = r->p + len };
	r->p += len;
	c->has_z = true;
	for (const char *a = letters + 1; *a; a++) {
		uint8_t enc;

		switch (*a) {
		case 'R': c->enc = bytes_u8(&data); break;
		case 'P':
			enc = bytes_u8(&data);
			if ((enc & PE_APPLICATION) == 0x50) /* aligned */
				return false;
			/* The value is of no interest: only its length. */
			cfi_pointer(&data, enc & PE_FORMAT, s);
			break;
		case 'L': bytes_u8(&data); break;
		case 'S': c->signal = true; break;
		case 'B': /* aarch64: return addresses are signed with key B */
		case 'G': /* aarch64: tagged stack */ break;
		default: return false;
		}
	}
	return !data.bad;
}

bool cfi_cie_at(const struct cfi_section *s, uint64_t pos, struct cfi_cie *c)
{
	struct bytes r;
	struct cfi_entry en;
	const char *letters;
	const uint8_t *nul;
	uint8_t version;

	if (!cfi_entry_at(s, pos, &en) || en.is_end || !en.is_cie)
		return false;
	*c = (struct cfi_cie){ .section = s, .pos = pos };
	r = (struct bytes){ .p = en.body, .end = en.end };
	version = bytes_u8(&r);
	if (version != 1 && version != 3 && !(version == 4 && s->debug))
		return false;
	letters = (const char *)r.p;
	/* Bounded, so that many FDEs of one odd CIE do not take quadratic time. */
	nul = memchr(r.p, 0, r.end - r.p < 32 ? (size_t)(r.end - r.p) : 32);
	if (!nul)
		return false;
	r.p = nul + 1;
	if (version == 4) {
		uint8_t address = bytes_u8(&r), segment = bytes_u8(&r); /* their sizes */

		if (address != 8 || segment != 0)
			return false;
	}
	c->code_align = bytes_uleb(&r);
	c->data_align = bytes_sleb(&r);
	c->ra_reg = (uint32_t)(version == 1 ? bytes_u8(&r) : bytes_uleb(&r));
	if (letters[0] == 'z' ? !augmentation(c, &r, letters, s) : letters[0] != '\0')
		return false;
	c->insns = r.p;
	c->insns_end = en.end;
	return !r.bad;
}

bool cfi_fde_parse(const struct cfi_entry *en, const struct cfi_cie *cie, struct cfi_fde *ret)
{
	const struct cfi_section *s = cie->section;
	struct bytes r = { .p = en->body, .end = en->end };
	uint64_t len;

	ret->start = cfi_pointer(&r, cie->enc, s);
	len = cfi_pointer(&r, cie->enc & PE_FORMAT, s);
	if (cie->has_z)
		bytes_skip(&r, bytes_uleb(&r));
	if (r.bad || len > UINT64_MAX - ret->start)
		return false;
	ret->end = ret->start + len;
	ret->insns = r.p;
	ret->insns_end = en->end;
	return true;
}

/* What follows the code of an instruction, behind a register where it has one. */
enum cfi_operand {
	NOTHING,
	ADDRESS,
	BYTES_1, /* of code_align */
	BYTES_2,
	BYTES_4,
	NUMBER,
	SCALED,	  /* of data_align */
	SCALED_S, /* the same, with a sign */
	NEGATED,
	EXPRESSION,
};

void cfi_op_extended(struct bytes *r, uint8_t code, const struct cfi_cie *cie, struct cfi_op *op)
{
	static const struct {
		uint8_t known, kind, reg, operand;
	} ops[] = {
		[0x00] = { 1, CFI_NOP },
		[0x01] = { 1, CFI_SET_LOC, 0, ADDRESS },
		[0x02] = { 1, CFI_ADVANCE, 0, BYTES_1 },
		[0x03] = { 1, CFI_ADVANCE, 0, BYTES_2 },
		[0x04] = { 1, CFI_ADVANCE, 0, BYTES_4 },
		[0x05] = { 1, CFI_OFFSET, 1, SCALED },
		[0x06] = { 1, CFI_RESTORE, 1 },
		[0x07] = { 1, CFI_UNDEFINED, 1 },
		[0x08] = { 1, CFI_SAME, 1 },
		[0x09] = { 1, CFI_REGISTER, 1, NUMBER },
		[0x0a] = { 1, CFI_REMEMBER },
		[0x0b] = { 1, CFI_RESTORE_STATE },
		[0x0c] = { 1, CFI_DEF_CFA, 1, NUMBER },
		[0x0d] = { 1, CFI_DEF_CFA_REG, 1 },
		[0x0f] = { 1, CFI_DEF_CFA_EXPR, 0, EXPRESSION },
		[0x10] = { 1, CFI_EXPR, 1, EXPRESSION },
		[0x11] = { 1, CFI_OFFSET, 1, SCALED_S },
		[0x12] = { 1, CFI_DEF_CFA, 1, SCALED_S },
		[0x13] = { 1, CFI_DEF_CFA_OFF, 0, SCALED_S },
		[0x14] = { 1, CFI_VAL_OFFSET, 1, SCALED },
		[0x15] = { 1, CFI_VAL_OFFSET, 1, SCALED_S },
		[0x16] = { 1, CFI_VAL_EXPR, 1, EXPRESSION },
		/* AArch64: whether a return address is signed; its bits are the same */
		[0x2c] = { 1, CFI_NOP },
		[0x2d] = { 1, CFI_NOP },
		[0x2e] = { 1, CFI_NOP, 0, NUMBER }, /* GNU_args_size: only for landing pads */
		[0x2f] = { 1, CFI_OFFSET, 1, NEGATED },
	};
	uint64_t scale = (uint64_t)cie->data_align;

	op->kind = CFI_NOP;
	if (code >= ARRAY_SIZE(ops) || !ops[code].known) {
		r->bad = true;
		return;
	}
	op->kind = ops[code].kind;
	if (ops[code].reg) {
		uint64_t reg = bytes_uleb(r);

		op->reg = reg > UINT32_MAX ? UINT32_MAX : (uint32_t)reg;
	}
	switch (ops[code].operand) {
	case ADDRESS: op->value = (int64_t)cfi_pointer(r, cie->enc, cie->section); break;
	case BYTES_1:
	case BYTES_2:
	case BYTES_4:
		op->value = (int64_t)(bytes_uint(r, 1u << (code - 2)) * cie->code_align);
		break;
	case NUMBER: op->value = (int64_t)bytes_uleb(r); break;
	case SCALED: op->value = (int64_t)(bytes_uleb(r) * scale); break;
	case SCALED_S: op->value = (int64_t)((uint64_t)bytes_sleb(r) * scale); break;
	case NEGATED: op->value = (int64_t)(0 - bytes_uleb(r) * scale); break;
	case EXPRESSION:
		op->value = (int64_t)bytes_uleb(r);
		op->block = r->p;
		bytes_skip(r, (uint64_t)op->value);
		break;
	default: break;
	}
}

struct cfi_search cfi_search_table(const struct ehframe *f)
{
	struct cfi_search s = { 0 };
	struct bytes r;
	uint8_t version, frame_enc, count_enc, table_enc;
	uint64_t count;

	if (!f->hdr.data || !f->frame.data || f->debug.data)
		return s;
	r = (struct bytes){ .p = f->hdr.data, .end = f->hdr.data + f->hdr.size };
	version = bytes_u8(&r);
	frame_enc = bytes_u8(&r);
	count_enc = bytes_u8(&r);
	table_enc = bytes_u8(&r);
	/* Every linker writes int32 relative to the header; anything else is scanned for. */
	if (r.bad || version != 1 || table_enc != 0x3b || count_enc == PE_OMIT)
		return s;
	cfi_pointer(&r, frame_enc, &f->hdr);
	count = cfi_pointer(&r, count_enc, &f->hdr);
	if (r.bad || count > (uint64_t)(r.end - r.p) / 8)
		return s;
	s.table = r.p;
	s.n = count;
	return s;
}

struct cfi_place cfi_search_get(const struct ehframe *f, const struct cfi_search *s, size_t i)
{
	int32_t pair[2];

	memcpy(pair, s->table + i * 8, 8);
	return (struct cfi_place){
		.start = f->hdr.vaddr + (uint64_t)(int64_t)pair[0],
		.pos = f->hdr.vaddr + (uint64_t)(int64_t)pair[1] - f->frame.vaddr,
	};
}

/* By address; of equal ones the last is kept: .eh_frame before .debug_frame, then by place. */
static int place_compare(const void *a, const void *b)
{
	const struct cfi_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->debug != y->debug)
		return x->debug ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

struct cfi_places {
	struct cfi_place *data;
	size_t n, cap;
};

/* true when what it added continues what was there. */
static bool scan_section(const struct cfi_section *s, bool debug, struct cfi_places *v)
{
	struct cfi_cie cie = { .pos = UINT64_MAX };
	bool cie_ok = false, sorted = true;
	struct cfi_entry en;

	for (uint64_t pos = 0; cfi_entry_at(s, pos, &en); pos = (uint64_t)(en.end - s->data)) {
		struct cfi_fde fde;

		if (en.is_end && s->open_end)
			break;
		if (en.is_end || en.is_cie)
			continue;
		if (en.cie_pos != cie.pos) {
			cie_ok = cfi_cie_at(s, en.cie_pos, &cie);
			cie.pos = en.cie_pos;
		}
		if (!cie_ok || !cfi_fde_parse(&en, &cie, &fde) || fde.end == fde.start)
			continue;
		if (v->n && fde.start <= v->data[v->n - 1].start)
			sorted = false;
		vec_push(v, (struct cfi_place){ .start = fde.start, .pos = pos, .debug = debug });
	}
	return sorted;
}

size_t cfi_scan(const struct ehframe *f, struct cfi_place **ret)
{
	struct cfi_places v = { 0 };
	bool sorted = scan_section(&f->frame, false, &v);
	size_t n = 0;

	if (!scan_section(&f->debug, true, &v) || !sorted)
		qsort(v.data, v.n, sizeof(*v.data), place_compare);
	for (size_t i = 0; i < v.n; i++)
		if (i + 1 == v.n || v.data[i + 1].start != v.data[i].start)
			v.data[n++] = v.data[i];
	*ret = v.data;
	return n;
}

static struct cfi_place place_at(const struct ehframe *f, const struct cfi_search *s, size_t i)
{
	return s->n ? cfi_search_get(f, s, i) : f->places[i];
}

bool cfi_find(const struct ehframe *f, uint64_t vaddr, struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_search s = cfi_search_table(f);
	const struct cfi_section *section;
	size_t n = SORT_FIND(s.n ? s.n : f->n_places, i, place_at(f, &s, i).start <= vaddr);
	struct cfi_entry en;
	struct cfi_place at;

	if (!n)
		return false;
	at = place_at(f, &s, n - 1);
	section = cfi_place_section(f, &at);
	return cfi_entry_at(section, at.pos, &en) && !en.is_end && !en.is_cie &&
	       cfi_cie_at(section, en.cie_pos, cie) && cfi_fde_parse(&en, cie, fde) &&
	       vaddr >= fde->start && vaddr < fde->end;
}

bool ehframe_function(const struct ehframe *f, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct cfi_cie cie;
	struct cfi_fde fde;

	if (!cfi_find(f, vaddr, &cie, &fde))
		return false;
	*start = fde.start;
	*end = fde.end;
	return true;
}
