/* SPDX-License-Identifier: MIT */
/* A heat map as SVG: cells that say what they hold when pointed at, axes, percentiles, a key. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "view/markup.h"
#include "view/picture/flame.h"
#include "view/picture/heat.h"

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

/* Are rows equal steps of value? Otherwise they are equal factors. */
static bool is_linear(const struct heat *h)
{
	return h->rows < 2 ? h->edge[0] <= 0
			   : fabs(h->edge[2] - 2 * h->edge[1] + h->edge[0]) < 1e-6;
}

static double value_y(const struct picture *p, double value)
{
	double lo = p->h->edge[0], hi = p->h->edge[p->h->rows], part;

	if (value <= lo || hi <= lo)
		return row_y(p, 0);
	part = is_linear(p->h) ? (value - lo) / (hi - lo) : log(value / lo) / log(hi / lo);
	return TOP + p->height * (1 - fmin(part, 1));
}

/* share: of the most that a cell holds, by the logarithm. */
static void put_color(FILE *f, double share)
{
	const int last = (int)ARRAY_SIZE(ramp) - 1;
	/* as the page has it: one event is seen on white, too */
	double at = (0.12 + 0.88 * share) * last;
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
			put_color(p->f, h->most > 1 ? log(n) / log(h->most) : 1);
			heat_value((double)h->step * c, "ns", from, sizeof(from));
			heat_value((double)h->step * (c + 1), "ns", to, sizeof(to));
			heat_value(h->edge[r], p->p->unit, lo, sizeof(lo));
			heat_value(h->edge[r + 1], p->p->unit, hi, sizeof(hi));
			fprintf(p->f, "\"><title>%u: %s to %s, at %s to %s</title></rect>\n", n, lo,
				hi, from, to);
		}
	}
}

/* A round value for an axis: "2.00 ms" is "2 ms", "1.50 s" is "1.5 s". */
static const char *round_value(double v, const char *unit, char *buf, size_t size)
{
	char *point, *end, *zero;

	if (v <= 0)
		return "0";
	heat_value(v, unit, buf, size);
	point = strchr(buf, '.');
	if (!point)
		return buf;
	end = zero = point + strcspn(point, " ");
	while (zero[-1] == '0')
		zero--;
	zero -= zero[-1] == '.';
	memmove(zero, end, strlen(end) + 1);
	return buf;
}

static void put_level(const struct picture *p, double value)
{
	double y = value_y(p, value);
	char buf[32];

	fprintf(p->f,
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n"
		"<path class=\"line\" d=\"M%.1f %.1fh%.1f\"/>\n",
		LEFT - 7, y + 4, round_value(value, p->p->unit, buf, sizeof(buf)), LEFT, y,
		p->width);
}

/* Powers of ten, and 2 and 5 times them where there is room; in a narrow range round steps. */
static void put_log_levels(const struct picture *p)
{
	double lo = p->h->edge[0], hi = p->h->edge[p->h->rows], decade = p->height / log10(hi / lo);
	double gap = fmax(flame_axis_step((hi - lo) / 12), 1); /* values are whole */
	int each = (int)ceil(18 / decade);

	for (int i = (int)ceil(lo / gap); hi < 5 * lo && i * gap <= hi; i++)
		put_level(p, i * gap);
	for (int k = (int)floor(log10(lo)); hi >= 5 * lo && pow(10, k) <= hi * 1.001; k++)
		for (int d = 1; d <= (decade >= 60 ? 5 : 1) && k % each == 0; d += d == 1 ? 1 : 3) {
			double v = d * pow(10, k);

			if (v >= lo * 0.999 && v <= hi * 1.001)
				put_level(p, v);
		}
}

static void put_axes(const struct picture *p)
{
	const struct heat *h = p->h;
	double span = (double)h->step * h->columns, gap = flame_axis_step(span / 10);
	char buf[32];

	for (int i = 0; i * gap <= span * 1.0001; i++)
		fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			LEFT + p->width * i * gap / span, TOP + p->height + 18,
			round_value(i * gap, "ns", buf, sizeof(buf)));
	if (!is_linear(h)) {
		put_log_levels(p);
		return;
	}
	for (uint32_t r = 0; r <= h->rows; r += h->rows / 12 + 1)
		put_level(p, h->edge[r]);
}

/* What the colours are, below the right end of the cells. */
static void put_key(const struct picture *p)
{
	const int steps = p->h->most > 1 ? 9 : 1;
	double x = LEFT + p->width - 82 - steps * 11, y = TOP + p->height + 38;
	char most[32];

	if (steps > 1)
		fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">1</text>\n", x - 5,
			y);
	for (int i = 0; i < steps; i++) {
		fprintf(p->f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"10\" fill=\"",
			x + i * 11, y - 9);
		put_color(p->f, steps > 1 ? (double)i / (steps - 1) : 1);
		fputs("\"/>\n", p->f);
	}
	fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\">%s in a cell</text>\n", x + steps * 11 + 5, y,
		str_thousands(p->h->most, most, sizeof(most)));
}

#define LABEL 13.0 /* height */

/* Where labels stand: beside their lines, but apart from each other and inside the picture. */
static void place_labels(const struct picture *p, double y[HEAT_PERCENTS])
{
	double last = TOP + p->height + LABEL;

	for (int i = 0; i < HEAT_PERCENTS; i++)
		last = y[i] = fmin(value_y(p, (double)p->h->percentile[i]), last - LABEL);
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
			LEFT, value_y(p, (double)p->h->percentile[i]), p->width,
			LEFT + p->width + 6, text[i] + 4, heat_percents[i],
			heat_value((double)p->h->percentile[i], p->p->unit, buf, sizeof(buf)));
}

void heat_svg_write(FILE *f, const struct heat *h, const struct heat_points *points,
		    const struct heat_view_opts *o)
{
	struct picture p = { .f = f, .h = h, .p = points };
	char buf[64];

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
	fputs(str_count(h->total, o->offsets ? "sample" : "point", buf, sizeof(buf)), f);
	if (!o->offsets) {
		fprintf(f, ", mean %s", heat_value(h->mean, points->unit, buf, sizeof(buf)));
		fprintf(f, ", max %s", heat_value((double)h->max, points->unit, buf, sizeof(buf)));
	}
	if (h->low || h->high)
		fprintf(f, ", %llu below and %llu above the axis", (unsigned long long)h->low,
			(unsigned long long)h->high);
	fputs("</text>\n", f);
	put_key(&p);
	put_cells(&p);
	put_axes(&p);
	if (!o->offsets)
		put_percentiles(&p);
	fputs("</svg>\n", f);
}
