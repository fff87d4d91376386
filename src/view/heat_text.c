/* SPDX-License-Identifier: MIT */
/* A heat map for terminals: letters that get darker, or colours where there are some. */
#include <math.h>
#include <string.h>

#include "base/term.h"
#include "view/heat.h"

#define LEFT 11 /* columns of the value axis */

char *heat_value(double v, const char *unit, char *buf, size_t size)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const sizes[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	bool time = unit && strcmp(unit, "ns") == 0, bytes = unit && strcmp(unit, "bytes") == 0;
	double step = bytes ? 1024 : 1000;
	size_t i = 0, last = bytes ? ARRAY_SIZE(sizes) - 1 : ARRAY_SIZE(times) - 1;

	if (!time && !bytes) {
		snprintf(buf, size, "%.*f%s%s", v < 10 && v != floor(v) ? 1 : 0, v,
			 unit && *unit ? " " : "", unit ? unit : "");
		return buf;
	}
	for (; v >= step && i < last; i++)
		v /= step;
	snprintf(buf, size, "%.*f %s",
		 i && v < 10	? 2
		 : i && v < 100 ? 1
				: 0,
		 v, bytes ? sizes[i] : times[i]);
	return buf;
}

/* 0 (nothing) to n - 1: by the logarithm, so that single events are seen beside crowds. */
static unsigned level(uint32_t count, uint32_t most, unsigned n)
{
	double t;

	if (!count)
		return 0;
	t = most > 1 ? log(count) / log(most) : 1;
	return 1 + (unsigned)lround(t * (n - 2));
}

static void put_cell(FILE *f, uint32_t count, uint32_t most, bool color)
{
	static const char letters[] = " .:-=+*#%@";
	static const int shades[] = { 0, 230, 229, 222, 215, 208, 202, 196, 160, 124 };
	unsigned l = level(count, most, 10);

	if (color && l)
		fprintf(f, "\033[48;5;%dm \033[0m", shades[l]);
	else
		putc(color ? ' ' : letters[l], f);
}

static void put_percentiles(FILE *f, const struct heat *h, const char *unit)
{
	char buf[32];

	fprintf(f, "%llu points; min %s", (unsigned long long)h->total,
		heat_value((double)h->min, unit, buf, sizeof(buf)));
	for (int i = 0; i < HEAT_PERCENTS; i++) {
		fprintf(f, ", p%g ", heat_percents[i]);
		fputs(heat_value((double)h->percentile[i], unit, buf, sizeof(buf)), f);
	}
	fprintf(f, ", max %s\n", heat_value((double)h->max, unit, buf, sizeof(buf)));
	if (h->low || h->high)
		fprintf(f, "%llu below and %llu above the axis are not drawn\n",
			(unsigned long long)h->low, (unsigned long long)h->high);
}

void heat_text(FILE *f, const struct heat *h, const struct heat_points *p,
	       const struct heat_view_opts *o)
{
	bool color = term_color(f);
	char buf[32], last[32] = "";

	fprintf(f, "%s\n", o->title);
	if (!h->total) {
		fputs("no points\n", f);
		return;
	}
	for (uint32_t r = h->rows; r-- > 0;) {
		heat_value(h->edge[r], p->unit, buf, sizeof(buf));
		/* a label for each row that has another one than the row above */
		fprintf(f, "%*s |", LEFT - 2, strcmp(buf, last) != 0 ? buf : "");
		memcpy(last, buf, sizeof(last));
		for (uint32_t c = 0; c < h->columns; c++)
			put_cell(f, h->count[(size_t)c * h->rows + r], h->most, color);
		fputs("|\n", f);
	}
	heat_value((double)h->step * h->columns, "ns", buf, sizeof(buf));
	fprintf(f, "%*s0%*s\n", LEFT, "", (int)(h->columns > 1 ? h->columns - 1 : 1), buf);
	fprintf(f, "%*s", LEFT, "");
	for (uint32_t i = 0; i < 10; i++)
		put_cell(f, i ? (uint32_t)lround(pow(h->most, (i - 1) / 8.0)) : 0, h->most, color);
	fprintf(f, " 0 to %u in a cell of %s\n", h->most,
		heat_value((double)h->step, "ns", buf, sizeof(buf)));
	put_percentiles(f, h, p->unit);
}
