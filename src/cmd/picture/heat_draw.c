/* SPDX-License-Identifier: MIT */
/* kymo heat: from points to the picture. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"
#include "cmd/picture/flame.h"
#include "cmd/picture/heat.h"
#include "view/picture/flame_html.h"
#include "view/picture/heat.h"

#define SECOND 1000000000u
#define SECOND_ROWS 50 /* of 20 ms */

static int bound(const struct heat_args *a, const struct heat_points *p, const char *name,
		 const char *text, uint64_t *ret, struct err *e)
{
	double v, scale = strcmp(p->unit, "ns") == 0 ? heat_in_ns(a->unit ? a->unit : "us") : 1;

	if (!text)
		return 0;
	if (!str_double(text, &v))
		return err_set(e, EINVAL, "--%s wants a number, not '%s'", name, text);
	*ret = (uint64_t)llround(fmin(v * (scale > 0 ? scale : 1), 9e18));
	return 0;
}

/* How many columns and rows there may be, and where the value axis ends. */
static int axes(const struct heat_args *a, const struct heat_points *p, struct heat_opts *o,
		struct err *e)
{
	bool seconds = a->kind == HEAT_SUBSECOND;
	int wide = (int)term_width(stdout, 80), r;

	o->rows = (uint32_t)(a->rows > 0	   ? a->rows
			     : seconds && !a->text ? SECOND_ROWS
			     : a->text		   ? 25
						   : 48);
	o->columns = (uint32_t)(a->columns > 0 ? a->columns
				: a->text      ? (wide > 24 ? wide - 14 : 10)
					       : 140);
	o->linear = a->linear || seconds;
	if (seconds) {
		o->step = SECOND;
		o->max = SECOND - 1;
	}
	r = bound(a, p, "min", a->min, &o->min, e);
	return r < 0 ? r : bound(a, p, "max", a->max, &o->max, e);
}

static void heat_draw_say_written(const struct heat_args *a, const char *path,
				  const struct heat_points *p, const struct heat_html_info *info)
{
	char n[64];

	if (a->quiet || a->text)
		return;
	if (strcmp(path, "-") != 0)
		command_note("wrote %s: %s", path, str_count(p->points.n, "point", n, sizeof(n)));
	if (info->digits || info->time_step > 1)
		command_note(
			"to keep the file small, times are rounded%s%s; --max-size allows more",
			info->digits ? " and values too" : "",
			info->details_dropped ? ", and what each event was is left out" : "");
	else if (info->details_dropped)
		command_note("to keep the file small, what each event was is left out; "
			     "--max-size allows more");
}

int heat_draw(const struct heat_args *a, const struct heat_points *p, const char *path,
	      struct err *e)
{
	bool svg = str_ends(path, ".svg");
	struct heat_view_opts v = { .title = a->title,
				    .subtitle = a->subtitle,
				    .linear = a->linear,
				    .offsets = a->kind == HEAT_SUBSECOND,
				    .width = a->width,
				    .height = a->height,
				    .max_bytes = a->max_size };
	struct heat_opts o = { 0 };
	struct heat_html_info info = { 0 };
	struct picture_output out = { 0 };
	struct heat h = { 0 };
	int r = axes(a, p, &o, e), closed;

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
	if (r == 0)
		heat_draw_say_written(a, path, p, &info);
	heat_free(&h);
	return r;
}

static uint64_t heat_draw_count_samples(const struct stacks *s)
{
	uint64_t n = 0;

	vec_each (&s->entries, en)
		n += en->count;
	return n;
}

int heat_draw_seconds(const struct heat_args *a, const char *input, const char *path, struct err *e)
{
	struct flame_html_opts o = {
		.title = a->title,
		.subtitle = a->subtitle,
		.label = CALLTREE_LABEL_COMM,
		.type = CALLTREE_ALL_TYPES,
		.max_bytes = a->max_size,
		.merge_unknown = true,
		.normalize = true,
		.seconds = true,
	};
	struct recorded in = { 0 };
	struct picture_output out = { 0 };
	struct flame_html_info info;
	char n[64];
	int r = picture_read(
		input, NULL,
		&(struct picture_opts){
			.stacks = { .times = true, .inlines = true, .merge_unknown = true } },
		&in, e);
	int closed;

	o.first = in.first_type;
	if (r == 0)
		r = picture_open(&out, path, e);
	if (r == 0) {
		r = flame_html_write(out.f, &in.side[0], NULL, &o, &info, e);
		closed = picture_close(&out, r == 0, e);
		r = r == 0 ? closed : r;
	}
	if (r == 0 && in.note)
		command_note("%s", in.note);
	if (r == 0 && !a->quiet)
		flame_say_pruned(&info);
	if (r == 0 && info.time_steps && info.time_step > SECOND / SECOND_ROWS)
		command_note("too much for a page that shows each second: times are in steps of "
			     "%llu ms; --max-size allows more",
			     (unsigned long long)info.time_step / 1000000);
	if (r == 0 && !a->quiet && strcmp(path, "-") != 0)
		command_note(
			"wrote %s: %s by second, and the flame graph of any range", path,
			str_count(heat_draw_count_samples(&in.side[0]), "sample", n, sizeof(n)));
	if (r == 0 && !in.side[0].entries.n)
		command_note("there are no samples: what was recorded used no CPU; -a records the "
			     "whole machine");
	recorded_free(&in);
	return r;
}
