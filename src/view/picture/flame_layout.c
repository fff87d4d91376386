/* SPDX-License-Identifier: MIT */
/* Where the frames of the classic picture are: the numbers of flamegraph.pl. */
#include "view/picture/flame.h"

double flame_svg_min_share(const struct flame_svg_opts *o)
{
	double pixels = o->width - 2 * FLAME_XPAD;

	return o->minwidth_percent ? o->minwidth / 100 : pixels > 0 ? o->minwidth / pixels : 0;
}

/* Pixels for one of a side's weight. */
static void set_scale(const struct calltree *t, const struct flame_svg_opts *o,
		      struct flame_layout *l)
{
	const struct calltree_node *root = &t->nodes.data[0];
	double pixels = o->width - 2 * FLAME_XPAD;
	double sum[2] = { (double)root->total[0], (double)root->total[1] };

	if (!o->compare) {
		double whole = o->total > sum[0] ? o->total : sum[0];

		l->scale[0] = whole > 0 ? pixels / whole : 0;
		return;
	}
	if (!o->normalize) /* the longer one fills the picture */
		sum[0] = sum[1] = sum[0] > sum[1] ? sum[0] : sum[1];
	for (int i = 0; i < 2; i++) {
		double part = o->widths == FLAME_BOTH		       ? 0.5
			      : (o->widths == FLAME_AFTER) == (i == 1) ? 1
								       : 0;

		l->scale[i] = sum[i] > 0 ? part * pixels / sum[i] : 0;
	}
}

void flame_svg_layout(const struct calltree *t, const struct flame_svg_opts *o,
		      struct flame_layout *ret)
{
	struct flame_layout l = { .width = o->width };
	double least = flame_svg_min_share(o) * (o->width - 2 * FLAME_XPAD);
	double top = o->fontsize * 3, bottom = o->fontsize * 2 + 10;
	uint32_t depth = 0;

	set_scale(t, o, &l);
	for (uint32_t i = 0; i < t->nodes.n;) {
		const struct calltree_node *n = &t->nodes.data[i];
		struct flame_rect r = { .node = i };

		for (int k = 0; k < 2; k++) {
			r.x += l.scale[k] * (double)n->start[k];
			r.width += l.scale[k] * (double)n->total[k];
		}
		if (i == 0)
			r.width = o->width - 2 * FLAME_XPAD;
		/* a hair is forgiven: shares were rounded on their way here */
		if (r.width < least * (1 - 1e-9) && i > 0) {
			i = n->end;
			continue;
		}
		r.x += FLAME_XPAD;
		if (n->depth > depth)
			depth = n->depth;
		vec_push(&l.rects, r);
		i++;
	}
	if (o->subtitle)
		top += o->fontsize * 2;
	l.axis = top;
	if (t->timed)
		top += o->fontsize * 1.5;
	l.height = (depth + 1) * (double)o->height + top + bottom;
	vec_each (&l.rects, r) {
		double d = t->nodes.data[r->node].depth;

		r->height = o->height - FLAME_FRAMEPAD;
		r->y = o->inverted ? top + d * o->height
				   : l.height - bottom - (d + 1) * o->height + FLAME_FRAMEPAD;
	}
	*ret = l;
}

void flame_layout_free(struct flame_layout *l)
{
	vec_free(&l->rects);
}
