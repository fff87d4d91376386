/* SPDX-License-Identifier: MIT */
/* Between names.c, names_sites.c and names_missing.c. Not for others. */
#ifndef KYMO_CALC_PROFILE_NAMES_IMPL_H
#define KYMO_CALC_PROFILE_NAMES_IMPL_H

#include "calc/profile/names.h"

/* All distinct sites into n->sites, entries and chains as lists of them. */
void sites_collect(struct names *n, const struct names_opts *o);
/* Put the sites inlined at a site before it in chains, take unnamed ones out, ... */
void sites_rewrite(struct names *n, const struct names_opts *o);
/* Code that nobody could name. */
static inline bool names_is_unnamed(const struct names *n, const struct name_site *s)
{
	return n->frames.data[s->frame].name == SYMBOLS_NONE;
}

#endif
