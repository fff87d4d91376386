/* SPDX-License-Identifier: MIT */
/* kymo heat: latencies (or any values) over time, as a heat map. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"
#include "cmd/picture.h"
#include "store/points.h"
#include "view/heat.h"

struct args {
	const char *input, *output, *title, *subtitle, *time_unit, *unit, *what;
	const char *min, *max;
	bool text, linear, quiet;
	int rows, columns, width, height;
	uint64_t max_size;
};

static int on_max_size(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	struct args *a = args;

	(void)o;
	if (unset)
		a->max_size = UINT64_MAX;
	else if (!str_size(value, 1, &a->max_size) || a->max_size < 1 << 18)
		return err_set(e, EINVAL, "--max-size wants a size of at least 256K, not '%s'",
			       value);
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("What"),
	OPT_STR_C('i', "input", "FILE", input,
		  "read points: a time, a value and a label a line ('-': standard input)",
		  "@files"),
	OPT_STR_C(0, "time-unit", "UNIT", time_unit, "of times: s (default), ms, us or ns",
		  "s|ms|us|ns"),
	OPT_STR_C(0, "unit", "UNIT", unit,
		  "of values: us (default), ns, ms, s, bytes, or a word that is only shown",
		  "us|ns|ms|s|bytes"),
	OPT_STR(0, "what", "TEXT", what, "what the values are (default: latency)"),
	OPT_HEAD("The picture"),
	OPT_FLAG(0, "linear", linear, "equal steps of value, not equal factors"),
	OPT_STR(0, "min", "VALUE", min, "the lowest value that is drawn, in --unit"),
	OPT_STR(0, "max", "VALUE", max, "the highest value that is drawn, in --unit"),
	OPT_INT(0, "rows", "N", rows, "at most so many rows (text and SVG)"),
	OPT_INT(0, "columns", "N", columns, "at most so many columns (text and SVG)"),
	OPT_INT(0, "width", "PIXELS", width, "of an SVG (default: 1200)"),
	OPT_INT(0, "height", "PIXELS", height, "of an SVG (default: 560)"),
	OPT_STR(0, "title", "TEXT", title, "the heading"),
	OPT_STR(0, "subtitle", "TEXT", subtitle, "a second one below it"),
	OPT_HEAD("Output"),
	OPT_STR_C('o', "output", "FILE", output, "write FILE: .html or .svg (default: heat.html)",
		  "@files"),
	OPT_FLAG(0, "text", text, "draw on the terminal"),
	OPT_FN(0, "max-size", "SIZE", on_max_size,
	       "round times and values until an HTML file is no larger (default: 5M)"),
	OPT_FLAG('q', "quiet", quiet, "say nothing about what was written"),
	OPT_END,
};

/* How many ns a unit is; 0 when it is none of time. */
static double in_ns(const char *unit)
{
	return strcmp(unit, "ns") == 0	 ? 1
	       : strcmp(unit, "us") == 0 ? 1e3
	       : strcmp(unit, "ms") == 0 ? 1e6
	       : strcmp(unit, "s") == 0	 ? 1e9
					 : 0;
}

struct reading {
	const char *name;
	struct heat_points *points;
	double time_scale, value_scale;
};

static int add_point(void *ctx, const struct points_line *l, struct err *e)
{
	struct reading *r = ctx;
	double time = l->time * r->time_scale, value = l->value * r->value_scale;

	if (time >= 1.8e19 || value >= 1.8e19)
		return err_set(e, ERANGE, "%s:%llu: a time or a value is too large", r->name,
			       (unsigned long long)l->line);
	vec_push(&r->points->points,
		 (struct heat_point){ .time = (uint64_t)llround(fmin(time, 9e18)),
				      .value = (uint64_t)llround(fmin(value, 9e18)),
				      .label = l->label_n ? strtab_addn(&r->points->strings,
									l->label, l->label_n)
							  : STRTAB_NONE });
	return 0;
}

static int read_points(const struct args *a, const char *path, struct heat_points *p, struct err *e)
{
	struct reading r = { .name = strcmp(path, "-") == 0 ? "standard input" : path,
			     .points = p };
	struct picture_file f = { 0 };
	int k;

	r.time_scale = in_ns(a->time_unit);
	r.value_scale = in_ns(a->unit);
	p->unit = r.value_scale > 0 ? "ns" : a->unit;
	p->what = a->what;
	if (r.time_scale <= 0)
		return err_set(e, EINVAL, "--time-unit is s, ms, us or ns, not '%s'", a->time_unit);
	if (r.value_scale <= 0)
		r.value_scale = 1;
	k = picture_file_open(path, &f, e);
	if (k < 0)
		return k;
	k = points_read(r.name, f.data, f.n, add_point, &r, e);
	picture_file_close(&f);
	return k;
}

static int bound(const struct args *a, const char *name, const char *text, uint64_t *ret,
		 struct err *e)
{
	double v, scale = in_ns(a->unit);

	if (!text)
		return 0;
	if (!str_double(text, &v))
		return err_set(e, EINVAL, "--%s wants a number, not '%s'", name, text);
	*ret = (uint64_t)llround(fmin(v * (scale > 0 ? scale : 1), 9e18));
	return 0;
}

static int draw(const struct args *a, const struct heat_points *p, const char *path, struct err *e)
{
	bool svg = str_ends(path, ".svg");
	int wide = (int)term_width(stdout, 100);
	struct heat_view_opts v = { .title = a->title,
				    .subtitle = a->subtitle,
				    .linear = a->linear,
				    .width = a->width,
				    .height = a->height,
				    .max_bytes = a->max_size };
	struct heat_opts o = { .linear = a->linear };
	struct heat_html_info info = { 0 };
	struct picture_output out = { 0 };
	struct heat h = { 0 };
	int r = bound(a, "min", a->min, &o.min, e), closed;

	o.rows = (uint32_t)(a->rows > 0 ? a->rows : a->text ? 24 : 48);
	o.columns = (uint32_t)(a->columns > 0 ? a->columns
			       : a->text      ? (wide > 24 ? wide - 14 : 10)
					      : 140);
	if (r == 0)
		r = bound(a, "max", a->max, &o.max, e);
	if (r == 0 && (a->text || svg))
		r = heat_make(p, &o, &h, e);
	if (r == 0)
		r = picture_open(&out, a->text ? NULL : path, e);
	if (r < 0) {
		heat_free(&h);
		return r;
	}
	if (a->text)
		heat_text(out.f, &h, p, &v);
	else if (svg)
		heat_svg_write(out.f, &h, p, &v);
	else
		r = heat_html_write(out.f, p, &v, &info, e);
	closed = picture_close(&out, r == 0, e);
	r = r == 0 ? closed : r;
	if (r == 0 && !a->quiet && !a->text && strcmp(path, "-") != 0)
		command_note("wrote %s: %zu points", path, p->points.n);
	if (r == 0 && !a->quiet && (info.digits || info.time_step > 1))
		command_note("to keep the file small, times are rounded%s; --max-size allows more",
			     info.digits ? " and values too" : "");
	heat_free(&h);
	return r;
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	const char *path = a->input ? a->input : argc > 0 ? argv[0] : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *output = a->output ? a->output : "heat.html";
	struct heat_points p = { 0 };
	int r;

	if (!path || argc > (a->input ? 0 : 1)) {
		err_set(e, EINVAL, path ? "one file at a time" : "what should be drawn?");
		return err_hint(e, "kymo heat -i FILE, with lines such as '1.250 120 sda'");
	}
	if (!a->text && !str_ends(output, ".html") && !str_ends(output, ".svg") &&
	    strcmp(output, "-") != 0) {
		err_set(e, EINVAL, "-o %s: the name does not say what to write", output);
		return err_hint(e, "end it in .html or .svg");
	}
	if (a->width < 300 || a->width > 20000 || a->height < 200 || a->height > 20000)
		return err_set(e, EINVAL,
			       "an SVG is 300 to 20000 pixels wide and 200 to 20000 high");
	if (!a->title)
		a->title = strcmp(path, "-") == 0 ? a->what : slash ? slash + 1 : path;
	r = read_points(a, path, &p, e);
	if (r == 0)
		r = draw(a, &p, output, e);
	heat_points_free(&p);
	return r;
}

static const struct args defaults = {
	.time_unit = "s",
	.unit = "us",
	.what = "latency",
	.width = 1200,
	.height = 560,
	.max_size = 5000000,
};

static const struct example examples[] = {
	{ "heat -i io.txt", "an interactive page, heat.html" },
	{ "heat --text -i io.txt --unit ms", "on the terminal" },
	{ NULL, NULL },
};

const struct command cmd_heat = {
	.name = "heat",
	.group = "pictures",
	.summary = "draw latencies over time as a heat map",
	.usage = "[OPTIONS] [FILE]",
	.about = "Time goes across, the value up, and the colour of a cell is how many points fell "
		 "into "
		 "it, with the percentiles beside. Selecting an area of the page lists the events "
		 "behind it.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = run,
};
