/* SPDX-License-Identifier: MIT */
/*
 * Entries of .debug_info one by one: attributes, children, siblings, references.
 * For questions about variables and types, which need no speed. Only the
 * dwarf_*.c files include this.
 */
#ifndef KYMO_SYM_DWARF_DIE_H
#define KYMO_SYM_DWARF_DIE_H

#include "sym/dwarf/int.h"
#include "sym/dwarf/probe.h"

struct die {
	struct unit *u; /* NULL: none */
	uint64_t off;
	const struct abbrev *a;
	const uint8_t *values; /* of its attributes */
};

#define DIE_DEPTH_MAX 128 /* of nesting that is followed */

static inline struct dwarf_die die_handle(const struct die *d)
{
	return (struct dwarf_die){ d->u, d->off };
}

/* The entry at an offset of a unit; false when there is none. */
bool die_in(struct unit *u, uint64_t off, struct die *ret);
static inline bool die_open(struct dwarf_die h, struct die *ret)
{
	return h.u && die_in(h.u, h.off, ret);
}

bool die_child(const struct die *d, struct die *ret);	/* the first one */
bool die_sibling(const struct die *d, struct die *ret); /* the next one */

/* VALUE_NONE when it has none. The deep one also asks the entries it is an instance of. */
struct value die_attr(const struct die *d, unsigned name);
struct value die_attr_deep(const struct die *d, unsigned name);
bool die_number(const struct die *d, unsigned name, uint64_t *ret);
/* The entry an attribute refers to. */
bool die_ref(const struct die *d, unsigned name, struct die *ret);
bool die_ref_deep(const struct die *d, unsigned name, struct die *ret);
const char *die_name(const struct die *d); /* NULL when it has none */

/* Whether its code holds an address; what it has no ranges for is not asked. */
bool die_has_pc(const struct die *d, uint64_t addr);
/* Where it begins: its entry, or the lowest of its ranges. */
bool die_entry(const struct die *d, uint64_t *ret);
/* The file of an attribute like DW_AT_decl_file; NULL when not known. */
const char *die_file(const struct die *d, unsigned name);

#endif
