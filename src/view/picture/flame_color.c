/* SPDX-License-Identifier: MIT */
/*
 * The classic palettes. A palette is a base colour and how far its parts may
 * move; java, js, perl, wakeup and chain choose a palette by the frame first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/picture/flame.h"

struct hue {
	const char *name;
	/* red, green, blue: base + span * one of three numbers in [0,1) that belong to the name */
	struct {
		int base, span, which;
	} part[3];
};

static const struct hue hues[] = {
	{ "hot", { { 205, 50, 2 }, { 0, 230, 0 }, { 0, 55, 1 } } },
	{ "mem", { { 0, 0, 0 }, { 190, 50, 1 }, { 0, 210, 0 } } },
	{ "io", { { 80, 60, 0 }, { 80, 60, 0 }, { 190, 55, 1 } } },
	{ "red", { { 200, 55, 0 }, { 50, 80, 0 }, { 50, 80, 0 } } },
	{ "green", { { 50, 60, 0 }, { 200, 55, 0 }, { 50, 60, 0 } } },
	{ "blue", { { 80, 60, 0 }, { 80, 60, 0 }, { 205, 50, 0 } } },
	{ "aqua", { { 50, 60, 0 }, { 165, 55, 0 }, { 165, 55, 0 } } },
	{ "yellow", { { 175, 55, 0 }, { 175, 55, 0 }, { 50, 20, 0 } } },
	{ "purple", { { 190, 65, 0 }, { 80, 60, 0 }, { 190, 65, 0 } } },
	{ "orange", { { 190, 65, 0 }, { 90, 65, 0 }, { 0, 0, 0 } } },
};
static const char *const choosers[] = { "java", "js", "perl", "wakeup", "chain" };

static const struct hue *find_hue(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hues); i++)
		if (strcmp(hues[i].name, name) == 0)
			return &hues[i];
	return NULL;
}

bool flame_color_exists(const char *palette)
{
	for (size_t i = 0; i < ARRAY_SIZE(choosers); i++)
		if (strcmp(choosers[i], palette) == 0)
			return true;
	return find_hue(palette) != NULL;
}

static bool java_package(const char *name)
{
	static const char *const roots[] = { "java/", "javax/", "jdk/", "net/",
					     "org/",  "com/",	"io/",	"sun/" };

	name += name[0] == 'L';
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (str_starts(name, roots[i]))
			return true;
	return false;
}

static const char *flame_color_choose(const char *palette, const char *name, enum frame_kind kind)
{
	bool java = strcmp(palette, "java") == 0, js = strcmp(palette, "js") == 0;

	if (kind == FRAME_OFF && strcmp(palette, "hot") == 0)
		return "io";
	if (kind == FRAME_WAKER && (strcmp(palette, "hot") == 0 || strcmp(palette, "chain") == 0))
		return "aqua";
	if (strcmp(palette, "wakeup") == 0)
		return "aqua";
	if (strcmp(palette, "chain") == 0)
		return str_ends(name, "_[w]") ? "aqua" : "blue";
	if (!java && !js && strcmp(palette, "perl") != 0)
		return palette;
	if (kind == FRAME_KERNEL)
		return "orange";
	if (java && (kind == FRAME_JIT || java_package(name) || strstr(name, ":::")))
		return "green";
	if (java && kind == FRAME_INLINED)
		return "aqua";
	if (js && kind == FRAME_JIT)
		return strchr(name, '/') ? "green" : "aqua";
	if (strstr(name, "::"))
		return "yellow";
	if (js && (strcmp(name, " ") == 0 || (strchr(name, '/') && strstr(name, ".js"))))
		return "green";
	if (js && strchr(name, ':'))
		return "aqua";
	if (!java && !js && (strstr(name, "Perl") || strstr(name, ".pl")))
		return "green";
	return "red";
}

/* Close for names that begin alike: the first letters count most. */
static double prefix_number(const char *s, size_t n, bool backwards)
{
	double v = 0, weight = 1, most = 0;

	for (size_t i = 0; i < n && i < 12; i++, weight *= 0.7) {
		unsigned char c = (unsigned char)(backwards ? s[n - 1 - i] : s[i]);

		v += weight * (c % 32) / 31.0;
		most += weight;
	}
	return most > 0 ? 1 - v / most : 0;
}

struct flame_rgb flame_color(const char *palette, const char *name, enum frame_kind kind, bool hash,
			     bool random_)
{
	const struct hue *h = find_hue(flame_color_choose(palette, name, kind));
	size_t n = strlen(name);
	double v[3];
	int part[3];

	if (hash) {
		v[0] = prefix_number(name, n, false);
		v[1] = v[2] = prefix_number(name, n, true);
	} else if (random_) {
		for (int i = 0; i < 3; i++)
			v[i] = drand48();
	} else {
		uint64_t bits = map_hash_bytes(name, n);

		for (int i = 0; i < 3; i++, bits >>= 20)
			v[i] = (double)(bits & 0xfffff) / 0x100000;
	}
	if (!h)
		h = &hues[0];
	for (int i = 0; i < 3; i++)
		part[i] = h->part[i].base + (int)(h->part[i].span * v[h->part[i].which]);
	return (struct flame_rgb){ part[0], part[1], part[2] };
}

struct flame_rgb flame_color_delta(double part, bool negate)
{
	/* not below 100: names are black, and on a deeper blue they cannot be read */
	int pale = (int)lround(245 - 145 * pow(fmin(fabs(part), 1), 0.6));

	if (part == 0 || pale == 245)
		return (struct flame_rgb){ 245, 245, 245 };
	if ((part > 0) != negate)
		return (struct flame_rgb){ 255, pale, pale };
	return (struct flame_rgb){ pale, pale, 255 };
}

void flame_palette_read(struct flame_palette *p, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((nl ? nl : end) - text);
		AUTO_FREE char *line = mem_strndup(text, len);
		char *arrow = NULL;
		struct flame_rgb c;

		/* names may hold "->" themselves: the colour is behind the last one */
		for (char *a = strstr(line, "->"); a; a = strstr(a + 1, "->"))
			arrow = a;
		if (arrow && sscanf(arrow, "->rgb(%d,%d,%d)", &c.r, &c.g, &c.b) == 3 && c.r >= 0 &&
		    c.r < 256 && c.g >= 0 && c.g < 256 && c.b >= 0 && c.b < 256) {
			uint32_t id = strtab_addn(&p->names, line, (size_t)(arrow - line));

			if (id == p->colors.n)
				vec_push(&p->colors, c);
			else
				p->colors.data[id] = c;
		}
		text += len + 1;
	}
}

void flame_palette_write(const struct flame_palette *p, FILE *f)
{
	for (uint32_t i = 0; i < p->colors.n; i++)
		fprintf(f, "%s->rgb(%d,%d,%d)\n", strtab_get(&p->names, i), p->colors.data[i].r,
			p->colors.data[i].g, p->colors.data[i].b);
}

void flame_palette_free(struct flame_palette *p)
{
	strtab_free(&p->names);
	vec_free(&p->colors);
}
