/* SPDX-License-Identifier: MIT */
/*
 * Entries of .debug_info one by one: attributes, children, siblings, references.
 * For questions about variables and types, which need no speed. Only the
 * dwarf_*.c files include this.
 */
#pragma once

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

/* --- looking for functions and lines by name: point.c, stmt.c, names.c --- */

struct function_of {
	struct unit *u;	    /* with the entries */
	struct unit *lines; /* with the line table */
	struct functions *fn;
	uint32_t at; /* index in fn->list */
	struct die die;
	const char *name;
};

struct dwarf_search {
	struct dwarf *d;
	const struct dwarf_where *w;
	dwarf_point_fn *fn;
	void *ctx;
	struct function_of f; /* the one being looked at */
	int err;

	/* lines */
	const char *file;
	uint32_t line;
	bool anywhere; /* also within what is inlined */
	struct lines *lines;
	VEC(uint64_t) found; /* addresses told for this function, or this unit */
};

/* "b/c.c" is the end of "/a/b/c.c", as whole names. */
bool dwarf_path_ends(const char *path, const char *end);

/* The unit's functions; false when it cannot be used. */
bool dwarf_open_unit(struct unit *u, struct function_of *ret);
/* One of them. */
bool dwarf_function_at(const struct function_of *of, uint32_t at, struct function_of *ret);
bool dwarf_function_fits(const struct function_of *f, const char *want);
/* Whether a row of s->line belongs to the function, and not to what is inlined from elsewhere. */
bool dwarf_row_is_ours(const struct dwarf_search *s, uint64_t addr);

/* sym/dwarf/names.c: units that cannot have a function of that name are passed by unread. */
struct dwarf_names {
	const char *name; /* NULL: every unit may have it */
	VEC(uint32_t) offsets;
};
void dwarf_names_open(const struct dwarf *d, const char *name, struct dwarf_names *ret);
bool dwarf_names_may_have(const struct dwarf_names *n, const struct unit *u);
void dwarf_names_close(struct dwarf_names *n);
