/* SPDX-License-Identifier: MIT */
/* Values of attributes: numbers, addresses, strings, references, ranges; and what builds on them.
 */
#include "sym/dwarf/int.h"

#define REFERENCES_MAX 16 /* from a function to its abstract one, to its declaration ... */

void dwarf_skip(struct bytes *b, const struct unit *u, uint64_t form)
{
	int size = dwarf_form_size(form, u->addr_size, u->offset_size, u->version);

	if (size >= 0) {
		bytes_skip(b, (uint64_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_block1: bytes_skip(b, bytes_u8(b)); break;
	case DW_FORM_block2: bytes_skip(b, bytes_u16(b)); break;
	case DW_FORM_block4: bytes_skip(b, bytes_u32(b)); break;
	case DW_FORM_block:
	case DW_FORM_exprloc: bytes_skip(b, bytes_uleb(b)); break;
	case DW_FORM_string: bytes_str(b); break;
	case DW_FORM_indirect: {
		uint64_t real = bytes_uleb(b);

		/* An indirect indirect would recurse; nobody writes it. */
		if (real == DW_FORM_indirect || real == DW_FORM_implicit_const)
			bytes_fail(b);
		else
			dwarf_skip(b, u, real);
		break;
	}
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: bytes_uleb(b); break;
	default: bytes_fail(b);
	}
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

static struct value alt_string(const struct unit *u, uint64_t offset)
{
	struct dwarf_file *alt = dwarf_alt(u->f->d);

	if (!alt)
		return (struct value){ 0 };
	return (struct value){ VALUE_STR, .s = dwarf_string(alt, SEC_STR, offset) };
}

static struct value reference(struct dwarf_file *f, uint64_t offset)
{
	if (!f)
		return (struct value){ 0 };
	return (struct value){ VALUE_REF, .v = offset, .f = f };
}

static struct value dwarf_attr_block(struct bytes *b, uint64_t len)
{
	struct value v = { VALUE_BLOCK, .v = len, .s = (const char *)b->p };

	bytes_skip(b, len);
	return b->bad ? (struct value){ 0 } : v;
}

static struct value form_value(struct bytes *b, struct unit *u, uint64_t form, int64_t implicit)
{
	unsigned osize = u->offset_size;

	switch (form) {
	case DW_FORM_addr: return (struct value){ VALUE_ADDR, .v = bytes_uint(b, u->addr_size) };
	case DW_FORM_data1:
	case DW_FORM_flag: return (struct value){ VALUE_INT, .v = bytes_u8(b) };
	case DW_FORM_data2: return (struct value){ VALUE_INT, .v = bytes_u16(b) };
	case DW_FORM_data4: return (struct value){ VALUE_INT, .v = bytes_u32(b) };
	case DW_FORM_data8: return (struct value){ VALUE_INT, .v = bytes_u64(b) };
	case DW_FORM_udata: return (struct value){ VALUE_INT, .v = bytes_uleb(b) };
	case DW_FORM_sdata: return (struct value){ VALUE_INT, .v = (uint64_t)bytes_sleb(b) };
	case DW_FORM_implicit_const: return (struct value){ VALUE_INT, .v = (uint64_t)implicit };
	case DW_FORM_flag_present: return (struct value){ VALUE_INT, .v = 1 };
	case DW_FORM_sec_offset: return (struct value){ VALUE_SEC, .v = bytes_uint(b, osize) };
	case DW_FORM_string: return (struct value){ VALUE_STR, .s = bytes_str(b) };
	case DW_FORM_strp:
		return (struct value){ VALUE_STR,
				       .s = dwarf_string(u->f, SEC_STR, bytes_uint(b, osize)) };
	case DW_FORM_line_strp:
		return (struct value){ VALUE_STR, .s = dwarf_string(u->f, SEC_LINE_STR,
								    bytes_uint(b, osize)) };
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt: return alt_string(u, bytes_uint(b, osize));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index: return string_index(u, bytes_uleb(b));
	case DW_FORM_strx1: return string_index(u, bytes_u8(b));
	case DW_FORM_strx2: return string_index(u, bytes_u16(b));
	case DW_FORM_strx3: return string_index(u, bytes_uint(b, 3));
	case DW_FORM_strx4: return string_index(u, bytes_u32(b));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index: return (struct value){ VALUE_ADDRX, .v = bytes_uleb(b) };
	case DW_FORM_addrx1: return (struct value){ VALUE_ADDRX, .v = bytes_u8(b) };
	case DW_FORM_addrx2: return (struct value){ VALUE_ADDRX, .v = bytes_u16(b) };
	case DW_FORM_addrx3: return (struct value){ VALUE_ADDRX, .v = bytes_uint(b, 3) };
	case DW_FORM_addrx4: return (struct value){ VALUE_ADDRX, .v = bytes_u32(b) };
	case DW_FORM_rnglistx: return (struct value){ VALUE_RNGX, .v = bytes_uleb(b) };
	case DW_FORM_loclistx: return (struct value){ VALUE_LOCX, .v = bytes_uleb(b) };
	case DW_FORM_block1: return dwarf_attr_block(b, bytes_u8(b));
	case DW_FORM_block2: return dwarf_attr_block(b, bytes_u16(b));
	case DW_FORM_block4: return dwarf_attr_block(b, bytes_u32(b));
	case DW_FORM_block:
	case DW_FORM_exprloc: return dwarf_attr_block(b, bytes_uleb(b));
	case DW_FORM_ref1: return reference(u->f, u->offset + bytes_u8(b));
	case DW_FORM_ref2: return reference(u->f, u->offset + bytes_u16(b));
	case DW_FORM_ref4: return reference(u->f, u->offset + bytes_u32(b));
	case DW_FORM_ref8: return reference(u->f, u->offset + bytes_u64(b));
	case DW_FORM_ref_udata: return reference(u->f, u->offset + bytes_uleb(b));
	case DW_FORM_ref_addr:
		return reference(u->f, bytes_uint(b, u->version < 3 ? u->addr_size : osize));
	case DW_FORM_GNU_ref_alt: return reference(dwarf_alt(u->f->d), bytes_uint(b, osize));
	case DW_FORM_ref_sup4: return reference(dwarf_alt(u->f->d), bytes_u32(b));
	case DW_FORM_ref_sup8: return reference(dwarf_alt(u->f->d), bytes_u64(b));
	default: dwarf_skip(b, u, form); return (struct value){ 0 };
	}
}

struct value dwarf_value(struct bytes *b, struct unit *u, const struct attr_spec *a)
{
	if (a->form == DW_FORM_indirect) {
		uint64_t real = bytes_uleb(b);

		if (real != DW_FORM_indirect && real != DW_FORM_implicit_const)
			return form_value(b, u, real, 0);
		bytes_fail(b);
		return (struct value){ 0 };
	}
	return form_value(b, u, a->form, a->implicit);
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

static void range_list(struct unit *u, const struct value *v, dwarf_range_fn *fn, void *ctx)
{
	struct dwarf_list l;
	uint64_t lo, hi;

	dwarf_list_open(&l, u, v, false);
	while (dwarf_list_next(&l, &lo, &hi, NULL) && fn(ctx, lo, hi))
		;
}

bool dwarf_ranges(struct unit *u, const struct pc_attrs *a, dwarf_range_fn *fn, void *ctx)
{
	uint64_t lo, hi;

	if (a->ranges.kind != VALUE_NONE) {
		range_list(u, &a->ranges, fn, ctx);
		return true;
	}
	if (!dwarf_value_addr(u, &a->low, &lo) || a->high.kind == VALUE_NONE)
		return false;
	if (!dwarf_value_addr(u, &a->high, &hi))
		hi = lo + a->high.v;
	fn(ctx, lo, hi);
	return true;
}

/* Bases must be known before anything indexed is read, and come in any order:
 * read them first. */
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

/* The entry at an offset: its abbreviation, and b at its first value. NULL
 * when there is none. */
static const struct abbrev *entry_at(struct unit *u, uint64_t die, struct bytes *b)
{
	if (die < u->die || die >= u->end || !dwarf_unit_prepare(u))
		return NULL;
	*b = dwarf_bytes(u->f, SEC_INFO, die);
	b->end = u->f->sec[SEC_INFO] + u->end;
	return dwarf_abbrev(u->abbrevs, bytes_uleb(b));
}

const char *dwarf_function_name(struct unit *u, uint64_t die)
{
	const char *plain = NULL;

	/* A linkage name anywhere on the way is better than the plain one of
	 * the first entry. */
	for (int depth = 0; u && depth < REFERENCES_MAX; depth++) {
		struct value next = { 0 };
		struct bytes b;
		const struct abbrev *a = entry_at(u, die, &b);

		if (!a)
			break;
		for (uint32_t i = 0; i < a->nattr && !b.bad; i++) {
			const struct attr_spec *spec = &u->abbrevs->attrs.data[a->first + i];
			struct value v;

			switch (spec->name) {
			case DW_AT_linkage_name:
			case DW_AT_MIPS_linkage_name:
				v = dwarf_value(&b, u, spec);
				if (v.kind == VALUE_STR && *v.s)
					return v.s;
				break;
			case DW_AT_name:
				v = dwarf_value(&b, u, spec);
				if (!plain && v.kind == VALUE_STR && *v.s)
					plain = v.s;
				break;
			case DW_AT_abstract_origin:
			case DW_AT_specification: next = dwarf_value(&b, u, spec); break;
			default: dwarf_skip(&b, u, spec->form);
			}
		}
		if (next.kind != VALUE_REF)
			break;
		die = next.v;
		if (next.f != u->f || die < u->offset || die >= u->end)
			u = dwarf_file_unit(next.f, die);
	}
	return plain;
}
