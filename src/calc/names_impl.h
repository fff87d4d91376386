/* SPDX-License-Identifier: MIT */
/* Between names.c and names_sites.c. Not for others. */
#ifndef KYMO_CALC_NAMES_IMPL_H
#define KYMO_CALC_NAMES_IMPL_H

#include "calc/names.h"

/* All distinct sites into n->sites, entries and chains as lists of them. */
void sites_collect(struct names *n, const struct names_opts *o);
/* Put the sites inlined at a site before it in chains, take unnamed ones out, ... */
void sites_rewrite(struct names *n, const struct names_opts *o);

#endif
