/* SPDX-License-Identifier: MIT */
/* Between places.c and places_names.c. Not for others. */
#ifndef KYMO_CALC_PLACES_IMPL_H
#define KYMO_CALC_PLACES_IMPL_H

#include "calc/places.h"

/* Both with the lock. */
void place_names_put(struct place_names *n, const struct place *p, uint32_t func);
uint32_t place_names_get(const struct place_names *n, const struct place *p);

/* What events there are, and their units. */
void place_names_types(struct place_names *n, bool counts);

#endif
