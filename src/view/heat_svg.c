/* SPDX-License-Identifier: MIT */
/* A heat map as SVG: cells that say what they hold when pointed at, axes, percentiles. */
#include <math.h>
#include <string.h>

#include "view/heat.h"
#include "view/markup.h"

#define LEFT 74.0
#define RIGHT 96.0
#define TOP 58.0
#define BOTTOM 44.0

/* Pale yellow to deep red in even steps. */
static const int ramp[][3] = {
	{ 254, 243, 210 }, { 244, 217, 165 }, { 237, 190, 121 }, { 230, 160, 78 }, { 222, 129, 33 },
	{ 210, 97, 0 },	   { 196, 64, 0 },    { 177, 22, 0 },	 { 155, 0, 0 },
};

struct picture {
	FILE *f;
	const struct heat *h;
	const struct heat_points *p;
	double width, height; /* of the cells together */
};

static double row_y(const struct picture *p, uint32_t edge)
{
	return TOP + p->height * (1 - (double)edge / p->h->rows);
}

/* Where a value is, between the edges of its row. */
static double value_y(const struct picture *p, uint64_t value)
{
	uint32_t r = heat_row(p->h, value);
	double lo, hi, part;

	if (r >= p->h->rows)
		return (double)value > p->h->edge[p->h->rows] ? row_y(p, p->h->rows) : row_y(p, 0);
	lo = p->h->edge[r];
	hi = p->h->edge[r + 1];
	part = hi > lo ? ((double)value - lo) / (hi - lo) : 0;
	return row_y(p, r) - p->height / p->h->rows * fmin(fmax(part, 0), 1);
}

static void put_color(FILE *f, uint32_t count, uint32_t most)
{
	const int last = (int)ARRAY_SIZE(ramp) - 1;
	/* as the page has it: one event is seen on white, too */
	double at = (most > 1 ? 0.12 + 0.88 * log(count) / log(most) : 1) * last;
	int i = at < last ? (int)at : last - 1;
	double part = at - i;
	int c[3];

	for (int k = 0; k < 3; k++)
		c[k] = (int)lround(ramp[i][k] + part * (ramp[i + 1][k] - ramp[i][k]));
	fprintf(f, "rgb(%d,%d,%d)", c[0], c[1], c[2]);
}

static void put_cells(const struct picture *p)
{
	const struct heat *h = p->h;
	double w = p->width / h->columns, hh = p->height / h->rows;
	char from[32], to[32], lo[32], hi[32];

	for (uint32_t c = 0; c < h->columns; c++) {
		for (uint32_t r = 0; r < h->rows; r++) {
			uint32_t n = h->count[(size_t)c * h->rows + r];

			if (!n)
				continue;
			fprintf(p->f,
				"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
				"fill=\"",
				LEFT + c * w, row_y(p, r + 1), fmax(w - 0.5, 0.5),
				fmax(hh - 0.5, 0.5));
			put_color(p->f, n, h->most);
			heat_value((double)h->step * c, "ns", from, sizeof(from));
			heat_value((double)h->step * (c + 1), "ns", to, sizeof(to));
			heat_value(h->edge[r], p->p->unit, lo, sizeof(lo));
			heat_value(h->edge[r + 1], p->p->unit, hi, sizeof(hi));
			fprintf(p->f, "\"><title>%u: %s to %s, at %s to %s</title></rect>\n", n, lo,
				hi, from, to);
		}
	}
}

/* 1, 2 or 5 times a power of ten, at least v. */
static double nice_step(double v)
{
	double ten = pow(10, floor(log10(v)));

	return v <= ten ? ten : v <= 2 * ten ? 2 * ten : v <= 5 * ten ? 5 * ten : 10 * ten;
}

static bool is_ten(double v)
{
	return v > 0 && fabs(log10(v) - round(log10(v))) < 1e-9;
}

/* Powers of ten have a label; others every few rows, where no power of ten is near. */
static bool has_label(const struct heat *h, uint32_t r, uint32_t every)
{
	bool linear = h->rows < 2 || fabs(h->edge[2] - 2 * h->edge[1] + h->edge[0]) < 1e-6;

	if (linear || is_ten(h->edge[r]))
		return linear ? r % every == 0 : true;
	for (uint32_t k = 1; k < every; k++)
		if ((r >= k && is_ten(h->edge[r - k])) ||
		    (r + k <= h->rows && is_ten(h->edge[r + k])))
			return false;
	return r % every == 0;
}

static void put_axes(const struct picture *p)
{
	const struct heat *h = p->h;
	double span = (double)h->step * h->columns, gap = nice_step(span / 10);
	uint32_t every = h->rows / 12 + 1;
	char buf[32];

	for (int i = 0; i * gap <= span * 1.0001; i++)
		fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			LEFT + p->width * i * gap / span, TOP + p->height + 18,
			i ? heat_value(i * gap, "ns", buf, sizeof(buf)) : "0");
	for (uint32_t r = 0; r <= h->rows; r++) {
		if (!has_label(h, r, every))
			continue;
		fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			LEFT - 7, row_y(p, r) + 4,
			heat_value(h->edge[r], p->p->unit, buf, sizeof(buf)));
		fprintf(p->f, "<path class=\"line\" d=\"M%.1f %.1fh%.1f\"/>\n", LEFT, row_y(p, r),
			p->width);
	}
}

#define LABEL 13.0 /* height */

/* Where labels stand: beside their lines, but apart from each other and inside the picture. */
static void place_labels(const struct picture *p, double y[HEAT_PERCENTS])
{
	double last = TOP + p->height + LABEL;

	for (int i = 0; i < HEAT_PERCENTS; i++)
		last = y[i] = fmin(value_y(p, p->h->percentile[i]), last - LABEL);
	last = TOP - LABEL;
	for (int i = HEAT_PERCENTS - 1; i >= 0; i--)
		last = y[i] = fmax(y[i], last + LABEL);
}

static void put_percentiles(const struct picture *p)
{
	double text[HEAT_PERCENTS];
	char buf[32];

	place_labels(p, text);
	for (int i = 0; i < HEAT_PERCENTS; i++)
		fprintf(p->f,
			"<path class=\"mark\" d=\"M%.1f %.1fh%.1f\"/>\n<text x=\"%.1f\" "
			"y=\"%.1f\">p%g "
			"%s</text>\n",
			LEFT, value_y(p, p->h->percentile[i]), p->width, LEFT + p->width + 6,
			text[i] + 4, heat_percents[i],
			heat_value((double)p->h->percentile[i], p->p->unit, buf, sizeof(buf)));
}

void heat_svg_write(FILE *f, const struct heat *h, const struct heat_points *points,
		    const struct heat_view_opts *o)
{
	struct picture p = { .f = f, .h = h, .p = points };
	char buf[32];

	p.width = o->width - LEFT - RIGHT;
	p.height = o->height - TOP - BOTTOM;
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"Inter,system-ui,Verdana,sans-serif\" "
		"font-size=\"11.5\" fill=\"#44443f\">\n<style>\n"
		".line { stroke:#000; stroke-opacity:0.08; }\n"
		".mark { stroke:#1c1c1a; stroke-opacity:0.35; stroke-dasharray:3 4; }\n"
		"rect:hover { stroke:#000; }\n</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\" style=\"stroke:none\"/>\n"
		"<text x=\"%.0f\" y=\"26\" font-size=\"16\" font-weight=\"600\" fill=\"#1c1c1a\">",
		o->width, o->height, o->width, o->height, LEFT);
	markup_text(f, o->title);
	fprintf(f, "</text>\n<text x=\"%.0f\" y=\"44\">", LEFT);
	if (o->subtitle) {
		markup_text(f, o->subtitle);
		fputs(" \xc2\xb7 ", f);
	}
	if (!h->total) {
		fputs("no points", f);
		if (points->why) {
			fputs(": ", f);
			markup_text(f, points->why);
		}
		fputs("</text>\n</svg>\n", f);
		return;
	}
	fprintf(f, "%llu %s", (unsigned long long)h->total, o->offsets ? "samples" : "points");
	if (!o->offsets) {
		fprintf(f, ", mean %s", heat_value(h->mean, points->unit, buf, sizeof(buf)));
		fprintf(f, ", max %s", heat_value((double)h->max, points->unit, buf, sizeof(buf)));
	}
	if (h->low || h->high)
		fprintf(f, ", %llu below and %llu above the axis", (unsigned long long)h->low,
			(unsigned long long)h->high);
	fputs("</text>\n", f);
	put_cells(&p);
	put_axes(&p);
	if (!o->offsets)
		put_percentiles(&p);
	fputs("</svg>\n", f);
}
