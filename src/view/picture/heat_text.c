/* SPDX-License-Identifier: MIT */
/* A heat map for terminals: letters that get darker, or colours that get further from the ground.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"
#include "view/picture/heat.h"

#define LEFT 11	  /* columns of the value axis */
#define NARROW 60 /* columns of a map that is small */
#define LEVELS 10

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
static unsigned heat_text_level(uint32_t count, uint32_t most, unsigned n)
{
	double t;

	if (!count)
		return 0;
	t = most > 1 ? log(count) / log(most) : 1;
	return 1 + (unsigned)lround(t * (n - 2));
}

/* Terminals that say what their colours are have the ground's last; most others are dark. */
static bool is_light(void)
{
	const char *said = getenv("COLORFGBG"), *ground = said ? strrchr(said, ';') : NULL;

	return ground && (strcmp(ground, ";7") == 0 || strcmp(ground, ";15") == 0);
}

static void put_level(FILE *f, unsigned l, bool color)
{
	static const char letters[] = " .:-=+*#%@";
	static const int light[] = { 0, 230, 229, 222, 215, 208, 202, 196, 160, 124 };
	static const int dark[] = { 0, 52, 88, 124, 160, 196, 202, 208, 215, 229 };

	if (color && l)
		fprintf(f, "\033[48;5;%dm \033[0m", is_light() ? light[l] : dark[l]);
	else
		putc(color ? ' ' : letters[l], f);
}

/* Words that belong together, on a new line where they do not fit. */
static void put_words(FILE *f, unsigned width, unsigned *at, const char *words)
{
	unsigned n = (unsigned)strlen(words);

	if (*at && *at + 1 + n > width) {
		fputs("\n ", f);
		*at = 1;
	}
	fprintf(f, "%s%s", *at ? " " : "", words);
	*at += n + (*at > 0);
}

static void put_percentiles(FILE *f, const struct heat *h, const char *unit, unsigned width)
{
	char buf[32], words[64];
	unsigned at = 0;

	snprintf(words, sizeof(words), "%llu points;", (unsigned long long)h->total);
	put_words(f, width, &at, words);
	snprintf(words, sizeof(words), "min %s,",
		 heat_value((double)h->min, unit, buf, sizeof(buf)));
	put_words(f, width, &at, words);
	for (int i = 0; i < HEAT_PERCENTS; i++) {
		snprintf(words, sizeof(words), "p%g %s,", heat_percents[i],
			 heat_value((double)h->percentile[i], unit, buf, sizeof(buf)));
		put_words(f, width, &at, words);
	}
	snprintf(words, sizeof(words), "max %s",
		 heat_value((double)h->max, unit, buf, sizeof(buf)));
	put_words(f, width, &at, words);
	putc('\n', f);
	if (h->low || h->high)
		fprintf(f, "%llu below and %llu above the axis are not drawn\n",
			(unsigned long long)h->low, (unsigned long long)h->high);
}

static void put_legend(FILE *f, const struct heat *h, bool color, unsigned room)
{
	char buf[32], words[96];
	int n = snprintf(words, sizeof(words), " 0 to %u in a cell of %s", h->most,
			 heat_value((double)h->step, "ns", buf, sizeof(buf)));
	bool fits = LEFT + LEVELS + (unsigned)n <= room;

	fprintf(f, "%*s", fits ? LEFT : 0, "");
	for (unsigned i = 0; i < LEVELS; i++)
		put_level(f, i, color);
	fprintf(f, "%s%s\n", fits || LEVELS + (unsigned)n <= room ? "" : "\n", words);
}

void heat_text(FILE *f, const struct heat *h, const struct heat_points *p,
	       const struct heat_view_opts *o)
{
	bool color = term_color(f);
	char buf[64], last[32] = "";
	/* a few seconds are columns that can be seen */
	unsigned wide = !o->offsets || h->columns > NARROW / 2 ? 1
			: h->columns > NARROW / 3	       ? 2
							       : 3;
	unsigned screen = term_width(f, 0), width, room;

	while (screen && wide > 1 && LEFT + h->columns * wide + 1 > screen)
		wide--;
	width = h->columns * wide;
	/* words are as wide as the map, or more so that they are no column */
	room = LEFT + (width < NARROW ? NARROW : width);
	if (screen && room > screen)
		room = screen;
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
		for (uint32_t c = 0; c < width; c++)
			put_level(f,
				  heat_text_level(h->count[(size_t)(c / wide) * h->rows + r],
						  h->most, LEVELS),
				  color);
		fputs("|\n", f);
	}
	heat_value((double)h->step * h->columns, "ns", buf, sizeof(buf));
	fprintf(f, "%*s0 %*s\n", LEFT, "", (int)(width > 2 ? width - 2 : 1), buf);
	put_legend(f, h, color, room);
	if (o->offsets)
		fprintf(f, "%s\n", str_count(h->total, "sample", buf, sizeof(buf)));
	else
		put_percentiles(f, h, p->unit, room);
}
