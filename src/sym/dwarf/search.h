/* SPDX-License-Identifier: MIT */
/* Looking for functions and lines by name: what sym/dwarf/point.c, sym/dwarf/stmt.c and
 * sym/dwarf/names.c share. */
#ifndef KYMO_SYM_DWARF_SEARCH_H
#define KYMO_SYM_DWARF_SEARCH_H

#include "sym/dwarf/die.h"

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

#endif
