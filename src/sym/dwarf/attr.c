/* SPDX-License-Identifier: MIT */
/* Values of attributes: numbers, addresses, strings, references, ranges. */
#include "sym/dwarf/int.h"

/* How a value is written, where that is not in so many bytes. */
enum {
	BYTES_MAX = 16,
	ADDR,
	OFFSET,
	REF_ADDR, /* an address in DWARF 2, else an offset */
	ULEB,
	SLEB,
	STRING,
	BLOCK, /* its length first */
	BLOCK_1,
	BLOCK_2,
	BLOCK_4,
	INDIRECT,
	UNKNOWN,
};

/* What is at the place that a string or a reference names: for those in a section, its number. */
enum { OF_UNIT = SEC_N, OF_FILE, OF_ALT, OF_INDEX };

static const struct form {
	uint8_t written, kind, where; /* kind VALUE_NONE: nobody asks for it */
} forms[] = {
	[0x02] = { UNKNOWN },
	[DW_FORM_addr] = { ADDR, VALUE_ADDR },
	[DW_FORM_block2] = { BLOCK_2, VALUE_BLOCK },
	[DW_FORM_block4] = { BLOCK_4, VALUE_BLOCK },
	[DW_FORM_data2] = { 2, VALUE_INT },
	[DW_FORM_data4] = { 4, VALUE_INT },
	[DW_FORM_data8] = { 8, VALUE_INT },
	[DW_FORM_string] = { STRING, VALUE_STR },
	[DW_FORM_block] = { BLOCK, VALUE_BLOCK },
	[DW_FORM_block1] = { BLOCK_1, VALUE_BLOCK },
	[DW_FORM_data1] = { 1, VALUE_INT },
	[DW_FORM_flag] = { 1, VALUE_INT },
	[DW_FORM_sdata] = { SLEB, VALUE_INT },
	[DW_FORM_strp] = { OFFSET, VALUE_STR, SEC_STR },
	[DW_FORM_udata] = { ULEB, VALUE_INT },
	[DW_FORM_ref_addr] = { REF_ADDR, VALUE_REF, OF_FILE },
	[DW_FORM_ref1] = { 1, VALUE_REF, OF_UNIT },
	[DW_FORM_ref2] = { 2, VALUE_REF, OF_UNIT },
	[DW_FORM_ref4] = { 4, VALUE_REF, OF_UNIT },
	[DW_FORM_ref8] = { 8, VALUE_REF, OF_UNIT },
	[DW_FORM_ref_udata] = { ULEB, VALUE_REF, OF_UNIT },
	[DW_FORM_indirect] = { INDIRECT },
	[DW_FORM_sec_offset] = { OFFSET, VALUE_SEC },
	[DW_FORM_exprloc] = { BLOCK, VALUE_BLOCK },
	[DW_FORM_flag_present] = { 0, VALUE_INT },
	[DW_FORM_strx] = { ULEB, VALUE_STR, OF_INDEX },
	[DW_FORM_addrx] = { ULEB, VALUE_ADDRX },
	[DW_FORM_ref_sup4] = { 4, VALUE_REF, OF_ALT },
	[DW_FORM_strp_sup] = { OFFSET, VALUE_STR, OF_ALT },
	[DW_FORM_data16] = { 16 },
	[DW_FORM_line_strp] = { OFFSET, VALUE_STR, SEC_LINE_STR },
	[DW_FORM_ref_sig8] = { 8 },
	[DW_FORM_implicit_const] = { 0, VALUE_INT },
	[DW_FORM_loclistx] = { ULEB, VALUE_LOCX },
	[DW_FORM_rnglistx] = { ULEB, VALUE_RNGX },
	[DW_FORM_ref_sup8] = { 8, VALUE_REF, OF_ALT },
	[DW_FORM_strx1] = { 1, VALUE_STR, OF_INDEX },
	[DW_FORM_strx2] = { 2, VALUE_STR, OF_INDEX },
	[DW_FORM_strx3] = { 3, VALUE_STR, OF_INDEX },
	[DW_FORM_strx4] = { 4, VALUE_STR, OF_INDEX },
	[DW_FORM_addrx1] = { 1, VALUE_ADDRX },
	[DW_FORM_addrx2] = { 2, VALUE_ADDRX },
	[DW_FORM_addrx3] = { 3, VALUE_ADDRX },
	[DW_FORM_addrx4] = { 4, VALUE_ADDRX },
};

static const struct form *form_of(uint64_t form)
{
	static const struct form ref_alt = { OFFSET, VALUE_REF, OF_ALT };

	switch (form) {
	case DW_FORM_GNU_addr_index: return &forms[DW_FORM_addrx];
	case DW_FORM_GNU_str_index: return &forms[DW_FORM_strx];
	case DW_FORM_GNU_strp_alt: return &forms[DW_FORM_strp_sup];
	case DW_FORM_GNU_ref_alt: return &ref_alt;
	default: return &forms[form && form < ARRAY_SIZE(forms) ? form : 0x02];
	}
}

static int form_size(const struct form *f, const struct unit *u)
{
	switch (f->written) {
	case ADDR: return u->addr_size;
	case OFFSET: return u->offset_size;
	case REF_ADDR: return u->version < 3 ? u->addr_size : u->offset_size;
	default: return f->written <= BYTES_MAX ? f->written : -1;
	}
}

int dwarf_form_size(uint64_t form, const struct unit *u)
{
	return form_size(form_of(form), u);
}

static uint64_t block_length(struct bytes *b, const struct form *f)
{
	return f->written == BLOCK     ? bytes_uleb(b)
	       : f->written == BLOCK_1 ? bytes_u8(b)
	       : f->written == BLOCK_2 ? bytes_u16(b)
				       : bytes_u32(b);
}

/* The form that stands before the value. An indirect indirect would recurse; nobody writes it. */
static uint64_t direct_form(struct bytes *b)
{
	uint64_t form = bytes_uleb(b);

	return form == DW_FORM_indirect || form == DW_FORM_implicit_const ? bytes_fail(b) : form;
}

void dwarf_skip(struct bytes *b, const struct unit *u, uint64_t form)
{
	const struct form *f = form_of(form);
	int size = form_size(f, u);

	if (size >= 0)
		bytes_skip(b, (uint64_t)size);
	else if (f->written == ULEB || f->written == SLEB)
		bytes_uleb(b);
	else if (f->written == STRING)
		bytes_str(b);
	else if (f->written >= BLOCK && f->written <= BLOCK_4)
		bytes_skip(b, block_length(b, f));
	else if (f->written == INDIRECT)
		dwarf_skip(b, u, direct_form(b));
	else
		bytes_fail(b);
}

static struct value string_index(const struct unit *u, uint64_t index)
{
	struct bytes b;

	if (index > UINT32_MAX)
		return (struct value){ 0 };
	b = dwarf_bytes(u->f, SEC_STR_OFFSETS, u->str_base);
	bytes_skip(&b, index * u->offset_size);
	index = bytes_uint(&b, u->offset_size);
	if (b.bad)
		return (struct value){ 0 };
	return (struct value){ VALUE_STR, .s = dwarf_string(u->f, SEC_STR, index) };
}

struct value dwarf_value(struct bytes *b, struct unit *u, const struct attr_spec *a)
{
	uint64_t form = a->form == DW_FORM_indirect ? direct_form(b) : a->form;
	const struct form *f = form_of(form);
	struct value v = { .kind = f->kind, .f = u->f };
	int size = form_size(f, u);

	if (f->kind == VALUE_NONE) {
		dwarf_skip(b, u, form);
		return v;
	}
	if (f->written == STRING) {
		v.s = bytes_str(b);
		return v;
	}
	if (f->kind == VALUE_BLOCK) {
		v.v = block_length(b, f);
		v.s = (const char *)b->p;
		bytes_skip(b, v.v);
		return b->bad ? (struct value){ 0 } : v;
	}
	v.v = size > 0			       ? bytes_uint(b, (unsigned)size)
	      : f->written == ULEB	       ? bytes_uleb(b)
	      : f->written == SLEB	       ? (uint64_t)bytes_sleb(b)
	      : form == DW_FORM_implicit_const ? (uint64_t)a->implicit
					       : 1; /* DW_FORM_flag_present */
	if (f->where == OF_ALT)
		v.f = u->f->d->alt;
	if (f->kind != VALUE_STR && f->kind != VALUE_REF)
		return v;
	if (!v.f)
		return (struct value){ 0 };
	if (f->where == OF_UNIT)
		v.v += u->offset;
	else if (f->where == OF_INDEX)
		return string_index(u, v.v);
	if (f->kind == VALUE_STR)
		v.s = dwarf_string(v.f, f->where == OF_ALT ? SEC_STR : f->where, v.v);
	return v;
}

bool dwarf_addrx(const struct unit *u, uint64_t index, uint64_t *ret)
{
	const struct unit *owner = u->skeleton ? u->skeleton : u;
	struct bytes b = dwarf_bytes(owner->f, SEC_ADDR, owner->addr_base);

	if (index > UINT32_MAX)
		return false;
	bytes_skip(&b, index * u->addr_size);
	*ret = bytes_uint(&b, u->addr_size);
	return !b.bad;
}

bool dwarf_value_addr(const struct unit *u, const struct value *v, uint64_t *ret)
{
	if (v->kind == VALUE_ADDRX)
		return dwarf_addrx(u, v->v, ret);
	*ret = v->v;
	return v->kind == VALUE_ADDR;
}

bool dwarf_ranges(struct unit *u, const struct pc_attrs *a, dwarf_range_fn *fn, void *ctx)
{
	struct dwarf_list l;
	uint64_t lo, hi;

	if (a->ranges.kind != VALUE_NONE) {
		dwarf_list_open(&l, u, &a->ranges, false);
		while (dwarf_list_next(&l, &lo, &hi, NULL) && fn(ctx, lo, hi))
			;
		return true;
	}
	if (!dwarf_value_addr(u, &a->low, &lo) || a->high.kind == VALUE_NONE)
		return false;
	if (!dwarf_value_addr(u, &a->high, &hi))
		hi = lo + a->high.v;
	fn(ctx, lo, hi);
	return true;
}

/* Bases come in any order, and are needed for whatever is indexed: they are read first. */
static void read_bases(struct unit *u, const struct abbrev *a, const struct abbrevs *t,
		       struct bytes b)
{
	for (uint32_t i = 0; i < a->nattr && !b.bad; i++) {
		const struct attr_spec *spec = &t->attrs.data[a->first + i];

		switch (spec->name) {
		case DW_AT_str_offsets_base: u->str_base = dwarf_value(&b, u, spec).v; break;
		case DW_AT_addr_base:
		case DW_AT_GNU_addr_base: u->addr_base = dwarf_value(&b, u, spec).v; break;
		case DW_AT_rnglists_base: u->rng_base = dwarf_value(&b, u, spec).v; break;
		case DW_AT_loclists_base: u->loc_base = dwarf_value(&b, u, spec).v; break;
		case DW_AT_GNU_ranges_base: u->gnu_ranges_base = dwarf_value(&b, u, spec).v; break;
		case DW_AT_GNU_dwo_id: u->dwo_id = dwarf_value(&b, u, spec).v; break;
		default: dwarf_skip(&b, u, spec->form);
		}
	}
}

static void read_root(struct unit *u, const struct abbrev *a, const struct abbrevs *t,
		      struct bytes b, struct pc_attrs *pc)
{
	for (uint32_t i = 0; i < a->nattr && !b.bad; i++) {
		const struct attr_spec *spec = &t->attrs.data[a->first + i];
		struct value v;

		switch (spec->name) {
		case DW_AT_low_pc:
			v = pc->low = dwarf_value(&b, u, spec);
			if (!dwarf_value_addr(u, &v, &u->low_pc))
				u->low_pc = 0;
			break;
		case DW_AT_high_pc: pc->high = dwarf_value(&b, u, spec); break;
		case DW_AT_ranges: pc->ranges = dwarf_value(&b, u, spec); break;
		case DW_AT_stmt_list:
			u->stmt_list = dwarf_value(&b, u, spec).v;
			u->has_stmt_list = true;
			break;
		case DW_AT_comp_dir: u->comp_dir = dwarf_value(&b, u, spec).s; break;
		case DW_AT_dwo_name:
		case DW_AT_GNU_dwo_name: u->dwo_name = dwarf_value(&b, u, spec).s; break;
		default: dwarf_skip(&b, u, spec->form);
		}
	}
}

bool dwarf_unit_prepare(struct unit *u)
{
	struct dwarf *d = u->f->d;

	if (!atomic_load_explicit(&u->prepared, memory_order_acquire)) {
		pthread_mutex_lock(&d->lock);
		if (!u->prepared) {
			struct bytes b = dwarf_bytes(u->f, SEC_INFO, u->die);
			struct pc_attrs pc = { 0 };
			const struct abbrev *a;

			b.end = u->f->sec[SEC_INFO] + u->end;
			u->abbrevs = dwarf_abbrevs(u->f, u);
			a = u->abbrevs ? dwarf_abbrev(u->abbrevs, bytes_uleb(&b)) : NULL;
			if (a) {
				read_bases(u, a, u->abbrevs, b);
				read_root(u, a, u->abbrevs, b, &pc);
			}
			u->broken = !a;
			atomic_store_explicit(&u->prepared, true, memory_order_release);
		}
		pthread_mutex_unlock(&d->lock);
	}
	return !u->broken;
}

bool dwarf_unit_ranges(struct unit *u, struct abbrevs *room, dwarf_range_fn *fn, void *ctx)
{
	struct bytes b = dwarf_bytes(u->f, SEC_INFO, u->die);
	struct pc_attrs pc = { 0 };
	struct abbrev a;

	b.end = u->f->sec[SEC_INFO] + u->end;
	if (!dwarf_root_abbrev(u->f, u, bytes_uleb(&b), &a, room) ||
	    (a.tag != DW_TAG_compile_unit && a.tag != DW_TAG_skeleton_unit))
		return false;
	read_bases(u, &a, room, b);
	read_root(u, &a, room, b, &pc);
	return dwarf_ranges(u, &pc, fn, ctx);
}
