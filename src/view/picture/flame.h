/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs: an SVG in the classic look, an interactive page, and folded text.
 *
 * Writers report only what they themselves can know (too much for the format);
 * whether the bytes reached the disk is for the caller to see in ferror().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "calc/stacks/calltree.h"
#include "calc/stacks/stacks.h"

/* Whose width frames have in a comparison. */
enum flame_widths {
	FLAME_BOTH, /* the mean of before and after: what vanished is seen, too */
	FLAME_AFTER,
	FLAME_BEFORE,
};

struct flame_svg_opts {
	const char *title, *subtitle,
		*notes; /* title NULL: by the kind of picture; others may be */
	const char *fonttype, *countname, *nametype, *colors, *bgcolors;
	double fontsize;
	int width;	 /* of the picture, in pixels */
	int height;	 /* of a frame */
	double minwidth; /* in pixels, or percent of the whole */
	bool minwidth_percent;
	bool hash, random, inverted, flamechart, negate;
	double total; /* of the weights, when it should be more than their sum; 0: their sum */
	double factor;
	bool compare;	/* two sides: colours say which way it went */
	bool normalize; /* before is scaled to after's total */
	enum flame_widths widths;
	/* Colours already given to names (--cp), as "name->rgb(1,2,3)"; added to when not NULL. */
	struct flame_palette *palette;
};

#define FLAME_SVG_DEFAULTS                                                               \
	{                                                                                \
		.fonttype = "Verdana", .countname = "samples",                           \
		.nametype = "Function:", .colors = "hot", .fontsize = 12, .width = 1200, \
		.height = 16, .minwidth = 0.1, .factor = 1, .normalize = true            \
	}
/* Is there such a palette, such a background? */
int flame_svg_check(const struct flame_svg_opts *o, struct err *e);
/* The smallest share of the whole that is drawn: what calltree_opts.min_share wants. */
double flame_svg_min_share(const struct flame_svg_opts *o);

/* The classic picture's measures, for its layout and its writer. */
#define FLAME_XPAD 10.0
#define FLAME_FRAMEPAD 1.0
#define FLAME_FONTWIDTH 0.59 /* of a letter, in font sizes */

/* Of an axis: 1, 2 or 5 times a power of ten, at least v. */
double flame_axis_step(double v);

/* Where everything is, before it is written; depth 0 is the root. */
struct flame_rect {
	uint32_t node;
	double x, y, width, height;
};
struct flame_layout {
	double width, height; /* of the picture */
	double axis;	      /* where the axis of time begins, from the top */
	VEC(struct flame_rect) rects;
	double scale[2]; /* pixels for one of a side's weight */
};
void flame_svg_layout(const struct calltree *t, const struct flame_svg_opts *o,
		      struct flame_layout *ret);
void flame_layout_free(struct flame_layout *l);

int flame_svg_write(FILE *f, const struct calltree *t, const struct flame_svg_opts *o,
		    struct err *e);

/* Colours of the classic palettes. */
struct flame_rgb {
	int r, g, b;
};
bool flame_color_exists(const char *palette);
struct flame_rgb flame_color(const char *palette, const char *name, enum frame_kind kind, bool hash,
			     bool random);
/* part: -1 (only before) .. 1 (only after). */
struct flame_rgb flame_color_delta(double part, bool negate);

/* The palette.map of --cp. */
struct flame_palette {
	struct strtab names;
	VEC(struct flame_rgb) colors; /* by id in names */
};
void flame_palette_read(struct flame_palette *p, const char *text, size_t n);
void flame_palette_write(const struct flame_palette *p, FILE *f);
void flame_palette_free(struct flame_palette *p);
