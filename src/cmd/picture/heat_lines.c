/* SPDX-License-Identifier: MIT */
/* kymo heat: points as lines of text. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cmd/picture/heat.h"
#include "cmd/share/open.h"
#include "store/text/points.h"

double heat_in_ns(const char *unit)
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

static int heat_lines_add_point(void *ctx, const struct points_line *l, struct err *e)
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
							  : STRTAB_NONE,
				      .detail = STRTAB_NONE });
	return 0;
}

int heat_read_lines(const struct heat_args *a, const char *path, struct heat_points *p,
		    struct err *e)
{
	struct reading r = { .name = source_name(path), .points = p };
	struct source_file f = { 0 };
	int k;

	r.time_scale = heat_in_ns(a->time_unit);
	r.value_scale = heat_in_ns(a->unit ? a->unit : "us");
	p->unit = r.value_scale > 0 ? "ns" : a->unit;
	p->what = a->what ? a->what : "latency";
	if (r.time_scale <= 0)
		return err_set(e, EINVAL, "--time-unit is s, ms, us or ns, not '%s'", a->time_unit);
	if (r.value_scale <= 0)
		r.value_scale = 1;
	k = source_file_open(path, &f, e);
	if (k < 0)
		return k;
	k = points_read(r.name, f.data, f.n, heat_lines_add_point, &r, e);
	source_file_close(&f);
	return k;
}
