/* SPDX-License-Identifier: MIT */
/*
 * The classic flame graph as SVG, with a script inside that zooms and searches
 * (web/svg/flame.js). Frames are <g> elements with a <title>, a <rect> and a
 * <text>, as flamegraph.pl writes them, so that tools made for its output work.
 */
#include <math.h>
#include <string.h>

#include "view/markup.h"
#include "view/picture/flame.h"
#include "view/picture/web.h"

struct backdrop {
	const char *name, *top, *bottom;
};
static const struct backdrop backdrops[] = {
	{ "yellow", "#eeeeee", "#eeeeb0" },
	{ "blue", "#eeeeee", "#e0e0ff" },
	{ "green", "#eef2ee", "#e0ffe0" },
	{ "grey", "#f8f8f8", "#e8e8e8" },
};

static bool is_flat_color(const char *s)
{
	return s[0] == '#' && strlen(s) == 7 && strspn(s + 1, "0123456789abcdefABCDEF") == 6;
}

/* The one that goes with the palette, unless it was named. NULL: no such one. */
static const struct backdrop *find_backdrop(const struct flame_svg_opts *o, struct backdrop *flat)
{
	const char *name = o->bgcolors;

	if (!name)
		name = strcmp(o->colors, "mem") == 0 ? "green"
		       : strcmp(o->colors, "io") == 0 || strcmp(o->colors, "wakeup") == 0 ||
				       strcmp(o->colors, "chain") == 0
			       ? "blue"
		       : strstr(" red green blue aqua yellow purple orange ", o->colors) ? "grey"
											 : "yellow";
	if (is_flat_color(name)) {
		*flat = (struct backdrop){ name, name, name };
		return flat;
	}
	for (size_t i = 0; i < ARRAY_SIZE(backdrops); i++)
		if (strcmp(backdrops[i].name, name) == 0)
			return &backdrops[i];
	return NULL;
}

int flame_svg_check(const struct flame_svg_opts *o, struct err *e)
{
	struct backdrop flat;

	if (!flame_color_exists(o->colors)) {
		err_set(e, EINVAL, "--colors has no palette '%s'", o->colors);
		return err_hint(
			e, "there are hot mem io wakeup chain java js perl red green blue aqua "
			   "yellow purple orange");
	}
	if (!find_backdrop(o, &flat)) {
		err_set(e, EINVAL, "--bgcolors has no background '%s'", o->bgcolors);
		return err_hint(e, "there are yellow blue green grey, or one colour as #rrggbb");
	}
	if (o->width < 100 || o->width > 100000)
		return err_set(e, EINVAL, "--width %d is not between 100 and 100000 pixels",
			       o->width);
	if (o->height < 2 || o->height > 1000)
		return err_set(e, EINVAL, "--height %d is not between 2 and 1000 pixels",
			       o->height);
	if (!(o->fontsize >= 1 && o->fontsize <= 100))
		return err_set(e, EINVAL, "--fontsize is not between 1 and 100");
	return 0;
}

struct writer {
	FILE *f;
	const struct calltree *t;
	const struct flame_svg_opts *o;
	const struct flame_layout *l;
	double whole; /* what 100% is */
	struct strbuf text;
};

static void put_title(const struct writer *w)
{
	const char *title = w->o->title	       ? w->o->title
			    : w->o->flamechart ? "Flame Chart"
			    : w->o->inverted   ? "Icicle Graph"
					       : "Flame Graph";

	fprintf(w->f, "<text id=\"title\" x=\"%.2f\" y=\"%.0f\">", w->l->width / 2,
		w->o->fontsize * 2);
	markup_text(w->f, title);
	fputs("</text>\n", w->f);
	if (w->o->subtitle) {
		fprintf(w->f, "<text id=\"subtitle\" x=\"%.2f\" y=\"%.0f\">", w->l->width / 2,
			w->o->fontsize * 4);
		markup_text(w->f, w->o->subtitle);
		fputs("</text>\n", w->f);
	}
}

/* Text inside a <style>: only what a font's name can be made of. */
static void put_font(FILE *f, const char *s)
{
	for (; *s; s++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_,",
			   *s))
			putc(*s, f);
}

static void flame_svg_put_head(const struct writer *w)
{
	const struct flame_svg_opts *o = w->o;
	struct backdrop flat;
	const struct backdrop *bg = find_backdrop(o, &flat);
	FILE *f = w->f;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg version=\"1.1\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"xmlns=\"http://www.w3.org/2000/svg\" "
		"xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
		"<!-- Flame graph made by kymo. Click a frame to zoom, press / or Ctrl-F to "
		"search. -->\n",
		w->l->width, w->l->height, w->l->width, w->l->height);
	if (o->notes) {
		fputs("<!-- NOTES: ", f);
		markup_comment(f, o->notes);
		fputs(" -->\n", f);
	}
	fprintf(f,
		"<defs>\n<linearGradient id=\"background\" y1=\"0\" y2=\"1\" x1=\"0\" x2=\"0\">\n"
		"<stop stop-color=\"%s\" offset=\"5%%\"/>\n<stop stop-color=\"%s\" "
		"offset=\"95%%\"/>\n"
		"</linearGradient>\n</defs>\n<style type=\"text/css\">\n"
		"text { font-family:",
		bg ? bg->top : "#fff", bg ? bg->bottom : "#fff");
	put_font(f, o->fonttype);
	fprintf(f,
		"; font-size:%gpx; fill:rgb(0,0,0); }\n"
		"#title { text-anchor:middle; font-size:%gpx; }\n"
		"#subtitle { text-anchor:middle; font-size:%gpx; fill:rgb(110,110,110); }\n"
		"#search, #ignorecase { opacity:0.2; cursor:pointer; }\n"
		"#search:hover, #search.show, #ignorecase:hover, #ignorecase.show { opacity:1; }\n"
		"#unzoom { cursor:pointer; }\n"
		"#frames > *:hover { stroke:black; stroke-width:0.5; cursor:pointer; }\n"
		"#frames text { pointer-events:none; stroke:none; }\n"
		"#axis line { stroke:rgb(160,160,160); stroke-width:0.5; }\n"
		"#axis text { font-size:%gpx; fill:rgb(90,90,90); }\n"
		".hide { display:none; }\n.parent { opacity:0.5; }\n</style>\n",
		o->fontsize, o->fontsize + 5, o->fontsize + 1, o->fontsize - 2);
}

static void put_script(const struct writer *w)
{
	fputs("<script type=\"text/ecmascript\"><![CDATA[\n\"use strict\";\n", w->f);
	fprintf(w->f,
		"const flame = { xpad: %g, width: %g, letter: %g, inverted: %s, seconds: %.9g, "
		"nametype: ",
		FLAME_XPAD, w->l->width, w->o->fontsize * FLAME_FONTWIDTH,
		w->o->inverted ? "true" : "false", w->t->timed ? w->whole / 1e9 : 0.0);
	/* a JavaScript string in CDATA: letters as they are, all else as \u escapes */
	putc('"', w->f);
	for (const char *s = w->o->nametype; *s; s++)
		if ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
		    (*s >= 'a' && *s <= 'z') || *s == ' ' || *s == ':')
			putc(*s, w->f);
		else if ((unsigned char)*s < 0x80)
			fprintf(w->f, "\\u%04x", (unsigned char)*s);
	fputs("\" };\n", w->f);
	fwrite(web_flame_svg, 1, web_flame_svg_n, w->f);
	fputs("]]></script>\n", w->f);
}

static void put_controls(const struct writer *w)
{
	double size = w->o->fontsize, bottom = size * 2 + 10;

	fprintf(w->f,
		"<rect x=\"0\" y=\"0\" width=\"%.0f\" height=\"%.0f\" "
		"fill=\"url(#background)\"/>\n",
		w->l->width, w->l->height);
	put_title(w);
	fprintf(w->f,
		"<text id=\"details\" x=\"%.2f\" y=\"%.1f\"> </text>\n"
		"<text id=\"unzoom\" x=\"%.2f\" y=\"%.0f\" class=\"hide\" role=\"button\" "
		"tabindex=\"0\">Reset Zoom</text>\n"
		"<text id=\"search\" x=\"%.2f\" y=\"%.0f\" role=\"button\" "
		"tabindex=\"0\">Search</text>\n"
		"<text id=\"ignorecase\" x=\"%.2f\" y=\"%.0f\" role=\"button\" "
		"tabindex=\"0\">ic</text>\n"
		"<text id=\"matched\" x=\"%.2f\" y=\"%.1f\"> </text>\n",
		FLAME_XPAD, w->l->height - bottom / 2, FLAME_XPAD, size * 2,
		w->l->width - FLAME_XPAD - 100, size * 2, w->l->width - FLAME_XPAD - 16, size * 2,
		w->l->width - FLAME_XPAD - 130, w->l->height - bottom / 2);
}

double flame_axis_step(double v)
{
	double ten = pow(10, floor(log10(v)));

	return v <= ten ? ten : v <= 2 * ten ? 2 * ten : v <= 5 * ten ? 5 * ten : 10 * ten;
}

/* A line and its time every hundred pixels or so; the script moves them when it zooms. */
static void put_axis(const struct writer *w)
{
	double seconds = w->whole / 1e9, inner = w->l->width - 2 * FLAME_XPAD;
	double step = flame_axis_step(seconds / fmax(2, inner / 110));
	int digits = (int)fmin(9, fmax(0, ceil(-log10(step) - 1e-9)));

	fputs("<g id=\"axis\">\n", w->f);
	for (double at = 0; at <= seconds && seconds > 0; at += step) {
		double x = FLAME_XPAD + inner * at / seconds;

		fprintf(w->f,
			"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%.1f\" y=\"%.1f\">%.*f s</text>\n",
			x, x, w->l->axis, w->l->height - w->o->fontsize * 2 - 10, x + 3,
			w->l->axis + w->o->fontsize, digits, at);
	}
	fputs("</g>\n", w->f);
}

static double flame_svg_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void flame_svg_put_number(struct strbuf *b, double v)
{
	char buf[32];

	if (v >= 0 && v < 1e18)
		strbuf_puts(b, str_thousands((uint64_t)llround(v), buf, sizeof(buf)));
	else
		strbuf_printf(b, "%.0f", v);
}

static void put_share(struct strbuf *b, const char *unit, double share)
{
	strbuf_putc(b, ' ');
	strbuf_puts(b, unit);
	strbuf_puts(b, ", ");
	strbuf_fixed(b, share, 2);
	strbuf_putc(b, '%');
}

/* "at 0.350 s, " in front of the figures of a chart in time. */
static void put_start(struct writer *w, const struct calltree_node *n)
{
	if (w->t->timed)
		strbuf_printf(&w->text, "at %.3f s, ", (double)n->start[0] / 1e9);
}

/* "(12,345 samples, 12.34%)", or for a comparison both sides and the difference. */
static void put_figures(struct writer *w, const struct calltree_node *n)
{
	const struct calltree_node *root = &w->t->nodes.data[0];
	double v = (double)n->total[0] * w->o->factor, a, b;

	strbuf_reset(&w->text);
	if (!w->o->compare) {
		put_start(w, n);
		flame_svg_put_number(&w->text, n == root ? w->whole * w->o->factor : v);
		if (n == root)
			strbuf_printf(&w->text, " %s, 100%%", w->o->countname);
		else
			put_share(&w->text, w->o->countname,
				  flame_svg_percent((double)n->total[0], w->whole));
		return;
	}
	a = flame_svg_percent((double)n->total[0], (double)root->total[0]);
	b = flame_svg_percent((double)n->total[1], (double)root->total[1]);
	flame_svg_put_number(&w->text, v);
	strbuf_puts(&w->text, " to ");
	flame_svg_put_number(&w->text, (double)n->total[1] * w->o->factor);
	strbuf_printf(&w->text, " %s, %.2f%% to %.2f%%; %+.2f%%", w->o->countname, a, b,
		      b - a == 0 ? 0.0 : b - a);
}

static struct flame_rgb color_of(const struct writer *w, const struct calltree_node *n)
{
	const struct calltree_node *root = &w->t->nodes.data[0];
	const char *name = calltree_name(w->t, n->func);
	enum frame_kind kind =
		n->func < CALLTREE_PRUNED ? w->t->funcs.data[n->func].kind : FRAME_LABEL;
	struct flame_rgb c;
	uint32_t id;

	if (w->o->compare) {
		double sum[2] = { (double)root->total[0], (double)root->total[1] };
		double v[2] = { (double)n->total[0], (double)n->total[1] };

		if (w->o->normalize)
			for (int i = 0; i < 2; i++)
				v[i] = sum[i] > 0 ? v[i] / sum[i] : 0;
		/* shares of equal profiles agree exactly: equal numbers give equal quotients */
		if (v[0] == v[1])
			return flame_color_delta(0, false);
		return flame_color_delta((v[1] - v[0]) / fmax(v[0], v[1]), w->o->negate);
	}
	if (kind == FRAME_LABEL && (strcmp(name, "-") == 0 || strcmp(name, "--") == 0))
		return strcmp(name, "-") == 0 ? (struct flame_rgb){ 160, 160, 160 }
					      : (struct flame_rgb){ 90, 90, 90 };
	if (!w->o->palette)
		return flame_color(w->o->colors, name, kind, w->o->hash, w->o->random);
	id = strtab_find(&w->o->palette->names, name);
	if (id != STRTAB_NONE)
		return w->o->palette->colors.data[id];
	c = flame_color(w->o->colors, name, kind, w->o->hash, w->o->random);
	if (!strpbrk(name, "\n\r")) {
		strtab_add(&w->o->palette->names, name);
		vec_push(&w->o->palette->colors, c);
	}
	return c;
}

/* The beginning of the name that fits, ".." at its end when it was cut. */
static void flame_svg_put_label(struct writer *w, const char *name, double width)
{
	double letters = width / (w->o->fontsize * FLAME_FONTWIDTH);
	size_t n = strlen(name), fit = 0, chars = 0, all = 0;

	for (size_t i = 0; i < n; all++) {
		size_t k = markup_char((const unsigned char *)name + i, n - i);

		i += k ? k : 1;
		if ((double)(all + 3) <= letters) {
			fit = i;
			chars = all + 1;
		}
	}
	if (letters < 3)
		return;
	if ((double)all <= letters)
		markup_textn(w->f, name, n);
	else if (chars) {
		markup_textn(w->f, name, fit);
		fputs("..", w->f);
	}
}

static void flame_svg_put_value(struct strbuf *b, const char *before, double v, int digits)
{
	strbuf_puts(b, before);
	strbuf_fixed(b, v, digits);
}

static void flame_svg_put_frame(struct writer *w, const struct flame_rect *r)
{
	const struct calltree_node *n = &w->t->nodes.data[r->node];
	const char *name = calltree_name(w->t, n->func);
	size_t len = strlen(name);
	AUTO_FREE char *bare = str_ends(name, "_[w]") ? mem_strndup(name, len - 4) : NULL;
	struct flame_rgb c = color_of(w, n);

	put_figures(w, n);
	fputs("<g><title>", w->f);
	markup_text(w->f, bare ? bare : name);
	fputs(" (", w->f);
	markup_text(w->f, strbuf_str(&w->text));
	strbuf_reset(&w->text);
	flame_svg_put_value(&w->text, ")</title><rect x=\"", r->x, 1);
	flame_svg_put_value(&w->text, "\" y=\"", r->y, 1);
	flame_svg_put_value(&w->text, "\" width=\"", r->width, 1);
	flame_svg_put_value(&w->text, "\" height=\"", r->height, 1);
	flame_svg_put_value(&w->text, "\" fill=\"rgb(", c.r, 0);
	flame_svg_put_value(&w->text, ",", c.g, 0);
	flame_svg_put_value(&w->text, ",", c.b, 0);
	flame_svg_put_value(&w->text, ")\" rx=\"2\" ry=\"2\"/><text x=\"", r->x + 3, 2);
	flame_svg_put_value(&w->text, "\" y=\"", 3 + r->y + r->height / 2, 1);
	strbuf_puts(&w->text, "\">");
	fwrite(w->text.data, 1, w->text.n, w->f);
	flame_svg_put_label(w, bare ? bare : name, r->width);
	fputs("</text></g>\n", w->f);
}

int flame_svg_write(FILE *f, const struct calltree *t, const struct flame_svg_opts *o,
		    struct err *e)
{
	struct flame_layout l;
	struct writer w = { .f = f, .t = t, .o = o, .l = &l };
	int r = flame_svg_check(o, e);

	if (r < 0)
		return r;
	flame_svg_layout(t, o, &l);
	w.whole = (double)t->nodes.data[0].total[0];
	if (o->total > w.whole)
		w.whole = o->total;
	flame_svg_put_head(&w);
	put_script(&w);
	put_controls(&w);
	if (t->timed)
		put_axis(&w);
	fputs("<g id=\"frames\">\n", f);
	if (t->nodes.data[0].total[0] || t->nodes.data[0].total[1])
		vec_each (&l.rects, rect)
			flame_svg_put_frame(&w, rect);
	fputs("</g>\n", f);
	if (!t->nodes.data[0].total[0] && !t->nodes.data[0].total[1])
		fprintf(f, "<text x=\"%.2f\" y=\"%.1f\">No stacks: the profile is empty.</text>\n",
			FLAME_XPAD, l.height - o->fontsize * 2 - 10 - 4);
	fputs("</svg>\n", f);
	strbuf_free(&w.text);
	flame_layout_free(&l);
	return 0;
}
