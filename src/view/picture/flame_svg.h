/* SPDX-License-Identifier: MIT */
/* The classic picture's measures, shared by its layout and its writer. */
#ifndef KYMO_VIEW_PICTURE_FLAME_SVG_H
#define KYMO_VIEW_PICTURE_FLAME_SVG_H

#define FLAME_XPAD 10.0
#define FLAME_FRAMEPAD 1.0
#define FLAME_FONTWIDTH 0.59 /* of a letter, in font sizes */

#endif
