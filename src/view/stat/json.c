/* SPDX-License-Identifier: MIT */
/* perf stat -j: an object a line, with perf's keys in perf's order. */
#include <string.h>

#include "base/json.h"
#include "view/stat/row.h"

static void key(struct json *j, const struct stat_style *s, const struct stat_row *r)
{
	static const char *const names[] = {
		[STAT_CPU] = "cpu",	  [STAT_CORE] = "core", [STAT_DIE] = "die",
		[STAT_SOCKET] = "socket", [STAT_NODE] = "node", [STAT_THREAD] = "thread",
	};

	if (s->by == STAT_GLOBAL)
		return;
	json_str(j, names[s->by], s->by == STAT_CPU ? r->key + strlen("CPU") : r->key);
	if (s->by != STAT_CPU && s->by != STAT_THREAD)
		json_u64(j, "aggregate-number", r->places);
}

void stat_json_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
		   const struct stat_row *r, double stamp_ns)
{
	struct json j = json_to(f, JSON_SPACED);
	char value[64];

	json_object(&j, NULL);
	if (stamp_ns >= 0)
		json_double(&j, "interval", stamp_ns / 1e9);
	key(&j, s, r);
	if (r->state == STAT_COUNTED)
		snprintf(value, sizeof(value), "%f", stat_row_value(r));
	else
		snprintf(value, sizeof(value), "%s",
			 r->state == STAT_NOT_SUPPORTED ? "<not supported>" : "<not counted>");
	if (!s->metric_only) {
		json_str(&j, "counter-value", value);
		json_str(&j, "unit", stat_row_unit(r));
		json_str(&j, "event", r->event->name);
		if (r->event->cgroup)
			json_str(&j, "cgroup", r->event->cgroup);
		if (t->runs > 1)
			json_double(&j, "variance", r->noise);
		json_u64(&j, "event-runtime", (uint64_t)r->running);
		json_double(&j, "pcnt-running", stat_row_running(r));
	}
	json_double(&j, "metric-value", r->metric.value);
	json_str(&j, "metric-unit", r->metric.unit ? r->metric.unit : "");
	json_end(&j);
	putc('\n', f);
}
