/* SPDX-License-Identifier: MIT */
#include "sym/dwarf/die.h"

#define REFERENCES_MAX 16 /* from an instance to its declaration */

bool die_in(struct unit *u, uint64_t off, struct die *ret)
{
	const struct abbrev *a;
	struct bytes b;
	uint64_t code;

	if (!dwarf_unit_prepare(u) || off < u->die || off >= u->end)
		return false;
	b = dwarf_bytes(u->f, SEC_INFO, off);
	b.end = u->f->sec[SEC_INFO] + u->end;
	code = bytes_uleb(&b);
	a = code && !b.bad ? dwarf_abbrev(u->abbrevs, code) : NULL;
	if (!a)
		return false; /* *ret may be what was asked from: it stays */
	*ret = (struct die){ u, off, a, b.p };
	return true;
}

/* The entry at an offset of a file. */
static bool die_at(struct dwarf_file *f, uint64_t off, struct die *ret)
{
	struct unit *u = dwarf_file_unit(f, off);

	return u && die_in(u, off, ret);
}

static struct bytes values(const struct die *d)
{
	return (struct bytes){ .p = d->values,
			       .end = d->u->f->sec[SEC_INFO] + d->u->end,
			       .swap = d->u->f->e->swap };
}

static bool entry_here(struct unit *u, const struct bytes *b, struct die *ret)
{
	return !b->bad && b->p < b->end && die_in(u, (uint64_t)(b->p - u->f->sec[SEC_INFO]), ret);
}

bool die_child(const struct die *d, struct die *ret)
{
	struct bytes b = values(d);

	if (!d->a->children)
		return false;
	dwarf_skip_all(&b, d->u, d->a);
	return entry_here(d->u, &b, ret);
}

/* Over everything inside d. False at the end of the unit. */
static bool skip_inside(struct bytes *b, const struct die *d)
{
	unsigned depth = 1;

	while (depth && !b->bad && b->p < b->end) {
		uint64_t code = bytes_uleb(b);
		const struct abbrev *a;

		if (!code) {
			depth--;
			continue;
		}
		a = dwarf_abbrev(d->u->abbrevs, code);
		if (!a)
			return false;
		dwarf_skip_all(b, d->u, a);
		depth += a->children;
	}
	return !b->bad;
}

bool die_sibling(const struct die *d, struct die *ret)
{
	struct bytes b = values(d);
	struct value v;

	if (d->a->children) {
		v = die_attr(d, DW_AT_sibling);
		/* Only forwards, or a bad file would make this a loop. */
		if (v.kind == VALUE_REF && v.f == d->u->f && v.v > d->off && v.v < d->u->end) {
			b.p = d->u->f->sec[SEC_INFO] + v.v;
			return entry_here(d->u, &b, ret);
		}
	}
	dwarf_skip_all(&b, d->u, d->a);
	if (d->a->children && !skip_inside(&b, d))
		return false;
	return entry_here(d->u, &b, ret);
}

struct value die_attr(const struct die *d, unsigned name)
{
	struct bytes b = values(d);

	for (uint32_t i = 0; i < d->a->nattr && !b.bad; i++) {
		const struct attr_spec *spec = &d->u->abbrevs->attrs.data[d->a->first + i];

		if (spec->name == name)
			return dwarf_value(&b, d->u, spec);
		dwarf_skip(&b, d->u, spec->form);
	}
	return (struct value){ 0 };
}

/* The entry that d is an instance of. */
static bool origin(const struct die *d, struct die *ret)
{
	return die_ref(d, DW_AT_abstract_origin, ret) || die_ref(d, DW_AT_specification, ret);
}

struct value die_attr_deep(const struct die *d, unsigned name)
{
	struct die at = *d;

	for (int i = 0; i < REFERENCES_MAX; i++) {
		struct value v = die_attr(&at, name);

		if (v.kind != VALUE_NONE || !origin(&at, &at))
			return v;
	}
	return (struct value){ 0 };
}

bool die_number(const struct die *d, unsigned name, uint64_t *ret)
{
	struct value v = die_attr_deep(d, name);

	if (v.kind != VALUE_INT && v.kind != VALUE_SEC)
		return false;
	*ret = v.v;
	return true;
}

bool die_ref(const struct die *d, unsigned name, struct die *ret)
{
	struct value v = die_attr(d, name);

	return v.kind == VALUE_REF && die_at(v.f, v.v, ret);
}

bool die_ref_deep(const struct die *d, unsigned name, struct die *ret)
{
	struct value v = die_attr_deep(d, name);

	return v.kind == VALUE_REF && die_at(v.f, v.v, ret);
}

static const char *die_text(const struct die *d, unsigned name)
{
	struct value v = die_attr(d, name);

	return v.kind == VALUE_STR && *v.s ? v.s : NULL;
}

const char *die_name(const struct die *d)
{
	struct value v = die_attr_deep(d, DW_AT_name);

	return v.kind == VALUE_STR && *v.s ? v.s : NULL;
}

const char *dwarf_function_name(struct unit *u, uint64_t off)
{
	const char *plain = NULL, *linkage = NULL;
	struct die d;

	if (!die_in(u, off, &d))
		return NULL;
	/* A linkage name anywhere on the way is better than the plain one of the first entry. */
	for (int i = 0; i < REFERENCES_MAX; i++) {
		linkage = die_text(&d, DW_AT_linkage_name);
		if (!linkage)
			linkage = die_text(&d, DW_AT_MIPS_linkage_name);
		if (linkage)
			break;
		if (!plain)
			plain = die_text(&d, DW_AT_name);
		if (!origin(&d, &d))
			break;
	}
	return linkage ? linkage : plain;
}

struct ask {
	uint64_t addr, lowest;
	bool inside;
};

static bool ask_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct ask *a = ctx;

	if (lo >= hi)
		return true;
	a->inside |= a->addr >= lo && a->addr < hi;
	if (lo < a->lowest)
		a->lowest = lo;
	return true;
}

static bool ask_ranges(const struct die *d, struct ask *a)
{
	struct pc_attrs pc = { .low = die_attr(d, DW_AT_low_pc),
			       .high = die_attr(d, DW_AT_high_pc),
			       .ranges = die_attr(d, DW_AT_ranges) };

	a->lowest = UINT64_MAX;
	return dwarf_ranges(d->u, &pc, ask_range, a) && a->lowest != UINT64_MAX;
}

bool die_has_pc(const struct die *d, uint64_t addr)
{
	struct ask a = { .addr = addr };

	return ask_ranges(d, &a) && a.inside;
}

bool die_entry(const struct die *d, uint64_t *ret)
{
	struct value v = die_attr(d, DW_AT_entry_pc), low = die_attr(d, DW_AT_low_pc);
	struct ask a = { 0 };

	if (dwarf_value_addr(d->u, &v, ret) || dwarf_value_addr(d->u, &low, ret))
		return true;
	if (!ask_ranges(d, &a))
		return false;
	/* DWARF 5 gives it as a distance from the first range. */
	*ret = a.lowest + (v.kind == VALUE_INT ? v.v : 0);
	return true;
}

const char *die_file(const struct die *d, unsigned name)
{
	struct die at = *d;

	/* A file's number means something in the unit it was read from only. */
	for (int i = 0; i < REFERENCES_MAX; i++) {
		struct value v = die_attr(&at, name);

		if (v.kind == VALUE_INT) {
			struct unit *owner = at.u->skeleton ? at.u->skeleton : at.u;
			struct lines *l = dwarf_lines(owner);

			return l ? dwarf_line_file(l, v.v) : NULL;
		}
		if (!origin(&at, &at))
			break;
	}
	return NULL;
}
