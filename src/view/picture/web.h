/* SPDX-License-Identifier: MIT */
/* The files of web/, as scripts/embed put them into the program. */
#pragma once

#include <stddef.h>

extern const unsigned char web_flame_svg[]; /* the script inside SVG flame graphs */
extern const size_t web_flame_svg_n;

/* The interactive flame graph: the title goes between 0 and 1, the profile between 1 and 2. */
extern const unsigned char web_flame_0[], web_flame_1[], web_flame_2[];
extern const size_t web_flame_0_n, web_flame_1_n, web_flame_2_n;

/* The interactive heat map, in the same three pieces. */
extern const unsigned char web_heat_0[], web_heat_1[], web_heat_2[];
extern const size_t web_heat_0_n, web_heat_1_n, web_heat_2_n;
