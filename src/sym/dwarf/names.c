/* SPDX-License-Identifier: MIT */
/*
 * Which units speak of a name at all. A name stands in .debug_str, and a unit that uses it holds
 * its offset there: four bytes, searched for much faster than entries are read. A kernel has
 * thousands of units, and a function's name is in a few. By chance a unit may be read in vain.
 * Where names could be reached in other ways (from other units or files, by an index) nothing is
 * passed by.
 */
#include "sym/dwarf/die.h"

#define OFFSETS_MAX 8 /* a name that is the end of many others */

/* An instance whose declaration is in another unit, as link time optimisation makes them. */
static bool refers_to_others(const struct dwarf_file *f)
{
	static const uint8_t origin[] = { DW_AT_abstract_origin, DW_FORM_ref_addr },
			     specification[] = { DW_AT_specification, DW_FORM_ref_addr };

	return memmem(f->sec[SEC_ABBREV], f->len[SEC_ABBREV], origin, sizeof(origin)) ||
	       memmem(f->sec[SEC_ABBREV], f->len[SEC_ABBREV], specification, sizeof(specification));
}

void dwarf_names_open(const struct dwarf *d, const char *name, struct dwarf_names *ret)
{
	const struct dwarf_file *f = d->main;
	const uint8_t *str = f->sec[SEC_STR], *p = str, *end = str ? str + f->len[SEC_STR] : NULL;

	*ret = (struct dwarf_names){ 0 };
	/* of ns::Foo::run the entry says run; templates and parameters are written in many ways */
	if (name && strpbrk(name, "<("))
		return;
	for (const char *c = name; c && (c = strstr(c, "::"));)
		name = c += 2;
	if (!name || str_has_glob(name) || d->alt || d->dwp || f->e->swap || !f->sec[SEC_ABBREV] ||
	    f->sec[SEC_STR_OFFSETS] || f->sec[SEC_ADDR] || refers_to_others(f))
		return;
	while (p && (p = memmem(p, (size_t)(end - p), name, strlen(name) + 1))) {
		if (ret->offsets.n == OFFSETS_MAX || (uint64_t)(p - str) > UINT32_MAX) {
			dwarf_names_close(ret);
			return;
		}
		vec_push(&ret->offsets, (uint32_t)(p - str));
		p++;
	}
	ret->name = name;
}

bool dwarf_names_may_have(const struct dwarf_names *n, const struct unit *u)
{
	const uint8_t *from = u->f->sec[SEC_INFO] + u->die;
	size_t len = (size_t)(u->end - u->die);

	if (!n->name || u->type != DW_UT_compile)
		return true;
	vec_each (&n->offsets, o)
		if (memmem(from, len, o, sizeof(*o)))
			return true;
	return memmem(from, len, n->name, strlen(n->name) + 1);
}

void dwarf_names_close(struct dwarf_names *n)
{
	vec_free(&n->offsets);
	*n = (struct dwarf_names){ 0 };
}
