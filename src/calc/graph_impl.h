/* SPDX-License-Identifier: MIT */
/* Between graph.c and graph_place.c. Not for others. */
#ifndef KYMO_CALC_GRAPH_IMPL_H
#define KYMO_CALC_GRAPH_IMPL_H

#include "calc/graph.h"

/* Places of all sites; a lower number stands first among branches of equal weight. */
void places_make(struct graphs *g, const struct names *n);

#endif
