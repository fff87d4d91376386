/* SPDX-License-Identifier: MIT */
/* Types: sizes, signs, members, and how C writes them. */
#include "sym/dwarf/die.h"

#define QUALIFIERS_MAX 32 /* typedefs of typedefs; a bad file may go round in circles */
#define MEMBERS_DEPTH 16

enum { ATE_address = 1, ATE_boolean, ATE_complex, ATE_float, ATE_signed, ATE_signed_char };

static bool is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Typedefs and qualifiers taken off. False: void. */
static bool strip(struct dwarf_die h, struct die *ret)
{
	if (!die_open(h, ret))
		return false;
	for (int i = 0; i < QUALIFIERS_MAX; i++) {
		if (!is_qualifier(ret->a->tag) && ret->a->tag != DW_TAG_typedef)
			return true;
		if (!die_ref(ret, DW_AT_type, ret))
			return false;
	}
	return false;
}

static struct dwarf_die type_of(const struct die *d)
{
	struct die t;

	return die_ref_deep(d, DW_AT_type, &t) ? die_handle(&t) : (struct dwarf_die){ 0 };
}

/* Elements of the outermost dimension; the rest counts to the element. */
static uint64_t array_count(const struct die *d, uint64_t *inner)
{
	struct die c;
	uint64_t v, first = 0;
	bool any = false;

	*inner = 1;
	for (bool more = die_child(d, &c); more; more = die_sibling(&c, &c)) {
		if (c.a->tag != DW_TAG_subrange_type)
			continue;
		if (!die_number(&c, DW_AT_count, &v))
			v = die_number(&c, DW_AT_upper_bound, &v) ? v + 1 : 0;
		if (!any)
			first = v;
		else
			*inner *= v < (1u << 30) ? v : 0;
		any = true;
	}
	return first;
}

static void of_base(const struct die *d, struct dwarf_type *t)
{
	uint64_t encoding = 0;
	const char *name = die_name(d);

	die_number(d, DW_AT_encoding, &encoding);
	t->is_signed = encoding == ATE_signed || encoding == ATE_signed_char;
	t->class = encoding == ATE_boolean			      ? DWARF_BOOL
		   : encoding == ATE_float || encoding == ATE_complex ? DWARF_FLOAT
		   : encoding == ATE_signed_char || (t->size == 1 && name && strstr(name, "char"))
			   ? DWARF_CHAR
			   : DWARF_INT;
}

struct dwarf_type dwarf_type(struct dwarf_die type)
{
	struct dwarf_type t = { .class = DWARF_VOID };
	struct die d;
	uint64_t inner;

	if (!strip(type, &d))
		return t;
	t.die = die_handle(&d);
	die_number(&d, DW_AT_byte_size, &t.size);
	switch (d.a->tag) {
	case DW_TAG_base_type: of_base(&d, &t); break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t.class = DWARF_POINTER;
		t.is_reference = d.a->tag != DW_TAG_pointer_type;
		t.to = type_of(&d);
		if (!t.size)
			t.size = d.u->addr_size;
		break;
	case DW_TAG_array_type:
		t.class = DWARF_ARRAY;
		t.to = type_of(&d);
		t.count = array_count(&d, &inner);
		if (!t.size && inner) {
			uint64_t each = dwarf_type(t.to).size;

			if (each < (1u << 30) && t.count < (1u << 30))
				t.size = each * inner * t.count;
		}
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: t.class = DWARF_STRUCT; break;
	case DW_TAG_enumeration_type: {
		struct dwarf_die under = type_of(&d);

		t.class = DWARF_ENUM;
		if (under.u)
			t.is_signed = dwarf_type(under).is_signed;
		break;
	}
	case DW_TAG_subroutine_type: t.class = DWARF_FUNCTION; break;
	default: break;
	}
	return t;
}

static void put_type(struct dwarf_die type, struct strbuf *out, unsigned depth);

/* The type that another one is of, and what that adds to it. */
static void put_pointed(const struct die *d, const char *mark, struct strbuf *out, unsigned depth)
{
	put_type(type_of(d), out, depth + 1);
	strbuf_puts(out, mark);
}

static void put_type(struct dwarf_die type, struct strbuf *out, unsigned depth)
{
	struct die d;
	const char *name;

	if (!die_open(type, &d) || depth > QUALIFIERS_MAX) {
		strbuf_puts(out, "void");
		return;
	}
	name = die_name(&d);
	switch (d.a->tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type: put_pointed(&d, "", out, depth); break;
	case DW_TAG_pointer_type: put_pointed(&d, "*", out, depth); break;
	case DW_TAG_reference_type: put_pointed(&d, "&", out, depth); break;
	case DW_TAG_rvalue_reference_type: put_pointed(&d, "&&", out, depth); break;
	case DW_TAG_array_type: put_pointed(&d, "[]", out, depth); break;
	case DW_TAG_subroutine_type: strbuf_puts(out, "(function_type)"); break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type: strbuf_printf(out, "struct %s", name ? name : "{...}"); break;
	case DW_TAG_union_type: strbuf_printf(out, "union %s", name ? name : "{...}"); break;
	case DW_TAG_enumeration_type: strbuf_printf(out, "enum %s", name ? name : "{...}"); break;
	default: strbuf_puts(out, name ? name : "?");
	}
}

void dwarf_type_text(struct dwarf_die type, struct strbuf *out)
{
	put_type(type, out, 0);
}

/* Both ways of saying where a bit field lies: from the high end of its unit (DWARF 2 and 3), or
 * from the start of the struct. */
static void bit_field(const struct die *m, struct dwarf_member *ret)
{
	struct dwarf_type t = dwarf_type(ret->type);
	uint64_t bits = 0, at = 0, unit = t.size;

	if (!die_number(m, DW_AT_bit_size, &bits) || !bits)
		return;
	if (die_number(m, DW_AT_byte_size, &at) && at)
		unit = at;
	if (!unit || unit > 8 || bits > unit * 8)
		return;
	ret->bits = (uint32_t)bits;
	ret->unit = (uint32_t)unit * 8;
	if (die_number(m, DW_AT_data_bit_offset, &at)) {
		uint64_t start = at / (unit * 8) * unit;

		if (at - start * 8 + bits > unit * 8) /* packed: crosses the unit */
			start = at / 8;
		ret->offset += start;
		ret->shift = (uint32_t)(at - start * 8);
	} else if (die_number(m, DW_AT_bit_offset, &at)) {
		ret->shift = (uint32_t)(unit * 8 - at - bits);
	}
}

static bool member_offset(const struct die *m, uint64_t *ret)
{
	struct value v = die_attr(m, DW_AT_data_member_location);

	*ret = 0;
	if (v.kind == VALUE_NONE)
		return true; /* of a union, or a bit field */
	if (v.kind == VALUE_BLOCK) {
		struct bytes b = { .p = (const uint8_t *)v.s, .end = (const uint8_t *)v.s + v.v };

		/* DW_OP_plus_uconst: all that compilers wrote there */
		if (bytes_u8(&b) != 0x23)
			return false;
		*ret = bytes_uleb(&b);
		return !b.bad;
	}
	*ret = v.v;
	return true;
}

static bool find_member(struct dwarf_die type, const char *name, struct dwarf_member *ret,
			unsigned depth)
{
	struct die s, m;

	if (depth > MEMBERS_DEPTH || !strip(type, &s))
		return false;
	for (bool more = die_child(&s, &m); more; more = die_sibling(&m, &m)) {
		struct value v;
		uint64_t off;

		if (m.a->tag != DW_TAG_member || !member_offset(&m, &off))
			continue;
		v = die_attr(&m, DW_AT_name);
		*ret = (struct dwarf_member){ .offset = off, .type = type_of(&m) };
		if (v.kind == VALUE_STR && strcmp(v.s, name) == 0) {
			bit_field(&m, ret);
			return true;
		}
		if (v.kind == VALUE_NONE && find_member(ret->type, name, ret, depth + 1)) {
			ret->offset += off;
			return true;
		}
	}
	return false;
}

bool dwarf_member(struct dwarf_die type, const char *name, struct dwarf_member *ret)
{
	return find_member(type, name, ret, 0);
}

static void each_member(struct dwarf_die type, void (*fn)(void *ctx, const char *name), void *ctx,
			unsigned depth)
{
	struct die s, m;

	if (depth > MEMBERS_DEPTH || !strip(type, &s))
		return;
	for (bool more = die_child(&s, &m); more; more = die_sibling(&m, &m)) {
		struct value v;

		if (m.a->tag != DW_TAG_member)
			continue;
		v = die_attr(&m, DW_AT_name);
		if (v.kind == VALUE_STR)
			fn(ctx, v.s);
		else
			each_member(type_of(&m), fn, ctx, depth + 1);
	}
}

void dwarf_members(struct dwarf_die type, void (*fn)(void *ctx, const char *name), void *ctx)
{
	each_member(type, fn, ctx, 0);
}
