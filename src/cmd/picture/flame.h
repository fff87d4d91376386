/* SPDX-License-Identifier: MIT */
/* Between flame.c (options) and flame_draw.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "calc/stacks/calltree.h"
#include "cmd/picture/picture.h"
#include "view/picture/flame.h"
#include "view/picture/flame_html.h"

enum flame_format { FLAME_BY_NAME, FLAME_HTML, FLAME_SVG, FLAME_FOLDED };

struct flame_args {
	PICTURE_HEAD; /* first: see picture.h */
	struct vec_strs inputs;
	const char *output, *event, *countname, *colors;
	enum flame_format format;
	enum calltree_label label;
	enum calltree_sort sort;
	struct flame_svg_opts svg;
	bool open, quiet, reverse, collapse, no_normalize, cp, counts;
	bool kernel, jit, inlined, all;
	bool off_cpu, wakers, wall, idle;
};

/* Write the picture to a->output and say what was written. file: what was read. */
int flame_draw(struct flame_args *a, const struct recorded *in, const char *const file[2],
	       struct err *e);
/* Say what a page had to leave out. */
void flame_say_pruned(const struct flame_html_info *h);
