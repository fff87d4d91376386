/* SPDX-License-Identifier: MIT */
/* perf stat -x: value,unit,event[,cgroup][,noise],running ns,running %,metric,metric unit. */
#include "view/stat/row.h"

void stat_csv_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
		  const struct stat_row *r, const char *stamp)
{
	const char *sep = s->sep;

	if (stamp[0])
		fprintf(f, "%s%s", stamp, sep);
	if (s->by != STAT_GLOBAL)
		fprintf(f, "%s%s", r->key, sep);
	if (s->by != STAT_GLOBAL && s->by != STAT_CPU && s->by != STAT_THREAD)
		fprintf(f, "%u%s", r->places, sep);
	if (s->metric_only) {
		fprintf(f, "%.2f%s%s\n", r->metric.value, sep, r->metric.unit);
		return;
	}
	if (r->state == STAT_NOT_SUPPORTED)
		fputs("<not supported>", f);
	else if (r->state == STAT_NOT_COUNTED)
		fputs("<not counted>", f);
	else
		fprintf(f, stat_row_is_fraction(r) ? "%.2f" : "%.0f", stat_row_value(r));
	fprintf(f, "%s%s%s%s", sep, stat_row_unit(r), sep, r->event->name);
	if (r->event->cgroup)
		fprintf(f, "%s%s", sep, r->event->cgroup);
	if (t->runs > 1)
		fprintf(f, "%s%.2f%%", sep, r->noise);
	fprintf(f, "%s%.0f%s%.2f", sep, r->running, sep, stat_row_running(r));
	if (r->metric.style == STAT_METRIC_NONE)
		fprintf(f, "%s%s", sep, sep);
	else
		fprintf(f, r->metric.style == STAT_METRIC_FIXED ? "%s%.3f%s%s" : "%s%.2f%s%s", sep,
			r->metric.value, sep, r->metric.unit);
	putc('\n', f);
	if (r->metric2.style != STAT_METRIC_NONE)
		fprintf(f, "%s%s%s%s%s%s%s%.2f%s%s\n", stamp, stamp[0] ? sep : "", sep, sep, sep,
			sep, sep, r->metric2.value, sep, r->metric2.unit);
}
