/* SPDX-License-Identifier: MIT */
/* Counts for people, and for programs: -x and -j. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/term.h"
#include "view/stat/stat.h"

/* The value in its unit: clocks in msec, PMU events by their scale. */
static double stat_row_value(const struct stat_row *r)
{
	return stat_is_clock(r->event) ? r->value / 1e6 : r->value * r->event->scale;
}

static const char *stat_row_unit(const struct stat_row *r)
{
	if (stat_is_clock(r->event))
		return "msec";
	if (r->event->kind == SPEC_TOOL)
		return "ns";
	return r->event->unit ? r->event->unit : "";
}

static bool stat_row_is_fraction(const struct stat_row *r)
{
	return stat_is_clock(r->event) || r->event->scale != 1.0;
}

/* Percent of the time that the counter was really counting. */
static double stat_row_running(const struct stat_row *r)
{
	return r->enabled > 0 ? 100 * r->running / r->enabled : 100;
}

#define METRIC_WIDTH 35 /* perf's, with the " # " */

/* The value right-aligned in 18 columns, as perf has it. */
static void value_column(FILE *f, const struct stat_style *s, const struct stat_row *r)
{
	char text[48];

	if (r->state == STAT_NOT_SUPPORTED)
		snprintf(text, sizeof(text), "<not supported>");
	else if (r->state == STAT_NOT_COUNTED)
		snprintf(text, sizeof(text), "<not counted>");
	else if (stat_row_is_fraction(r)) {
		double v = stat_row_value(r);
		char frac[16];

		/* group the digits before the point only */
		snprintf(frac, sizeof(frac), "%.2f", v - floor(v));
		if (s->big_num && frac[0] == '0')
			snprintf(text, sizeof(text), "%s%s",
				 str_thousands((uint64_t)floor(v), (char[32]){ 0 }, 32), frac + 1);
		else
			snprintf(text, sizeof(text), "%.2f", v);
	} else if (s->big_num)
		str_thousands((uint64_t)llround(r->value), text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%.0f", r->value);
	if (r->state == STAT_COUNTED)
		fprintf(f, "%18s", text);
	else
		fprintf(f, "%s%18s%s", term_style(f, TERM_DIM), text, term_style(f, TERM_RESET));
}

/* Shares that hurt are coloured, with perf's limits. */
static enum term_style metric_colour(const struct stat_metric *m)
{
	static const struct {
		const char *unit;
		double red, yellow;
	} limits[] = {
		{ "of all branches", 20, 10 },
		{ "of all cache refs", 20, 10 },
		{ "of all L1-dcache accesses", 20, 10 },
		{ "of all L1-icache accesses", 20, 10 },
		{ "of all LL-cache accesses", 20, 10 },
		{ "of all dTLB cache accesses", 20, 10 },
		{ "of all iTLB cache accesses", 20, 10 },
		{ "frontend cycles idle", 50, 30 },
		{ "backend cycles idle", 75, 50 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (strcmp(m->unit, limits[i].unit) == 0)
			return m->value > limits[i].red	     ? TERM_RED
			       : m->value > limits[i].yellow ? TERM_YELLOW
							     : TERM_RESET;
	return TERM_RESET;
}

/* "    0.472 CPUs utilized"; returns the columns used. */
static int metric_text(FILE *f, const struct stat_metric *m)
{
	enum term_style colour = m->style == STAT_METRIC_NONE ? TERM_RESET : metric_colour(m);
	char text[96];

	switch (m->style) {
	case STAT_METRIC_FIXED: snprintf(text, sizeof(text), "%8.3f %s", m->value, m->unit); break;
	case STAT_METRIC_RATIO: snprintf(text, sizeof(text), "%7.2f  %s", m->value, m->unit); break;
	case STAT_METRIC_PERCENT:
		snprintf(text, sizeof(text), "%7.2f%% %s", m->value, m->unit);
		break;
	case STAT_METRIC_NONE: return 0;
	}
	if (colour == TERM_RESET)
		fputs(text, f);
	else
		fprintf(f, "%s%s%s", term_style(f, colour), text, term_style(f, TERM_RESET));
	return (int)strlen(text);
}

static void key_column(FILE *f, const struct stat_style *s, const struct stat_row *r)
{
	/* perf's widths */
	static const int width[] = {
		[STAT_CORE] = 15, [STAT_DIE] = 12, [STAT_SOCKET] = 6, [STAT_NODE] = 6
	};
	const char *tid;

	switch (s->by) {
	case STAT_GLOBAL: return;
	case STAT_CPU: fprintf(f, "%-10s ", r->key); return;
	case STAT_THREAD: /* NAME-TID, and the name may have a dash, too */
		tid = strrchr(r->key, '-');
		if (tid)
			fprintf(f, "%16.*s%-9s ", (int)(tid - r->key), r->key, tid);
		return;
	default: fprintf(f, "%-*s%5u ", width[s->by], r->key, r->places); return;
	}
}

static void text_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
		     const struct stat_row *r)
{
	bool noisy = t->runs > 1 && r->state == STAT_COUNTED && r->noise != 0;
	bool shared = r->state == STAT_COUNTED && stat_row_running(r) < 99.995;
	bool figure = r->metric.style != STAT_METRIC_NONE;
	const char *cgroup = r->event->cgroup;
	int used = 0;

	key_column(f, s, r);
	value_column(f, s, r);
	/* nothing is padded that nothing follows */
	fprintf(f, " %-4s %-*s", stat_row_unit(r), cgroup || figure || noisy || shared ? 32 : 0,
		r->event->name);
	if (cgroup)
		fprintf(f, " %-*s", figure || noisy || shared ? 9 : 0, cgroup);
	if (figure) {
		fputs(" # ", f);
		used = 3 + metric_text(f, &r->metric);
	}
	if (noisy || shared)
		fprintf(f, "%*s", used < METRIC_WIDTH ? METRIC_WIDTH - used : 0, "");
	if (noisy)
		fprintf(f, "  ( +-%6.2f%% )", r->noise);
	if (shared)
		fprintf(f, "  (%.2f%%)", stat_row_running(r));
	putc('\n', f);
	if (r->metric2.style != STAT_METRIC_NONE) {
		fprintf(f, "%*s # ", 18 + 1 + 4 + 1 + 32, "");
		metric_text(f, &r->metric2);
		putc('\n', f);
	}
}

/* --metric-only: one line of figures for each key, under their names. */
static void metric_rows(FILE *f, const struct stat_style *s, const struct stat_table *t,
			double stamp_ns)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->row[i];

		if (i == 0 || strcmp(r->key, t->row[i - 1].key) != 0) {
			if (i)
				putc('\n', f);
			if (stamp_ns >= 0)
				fprintf(f, "%16.9f ", stamp_ns / 1e9);
			key_column(f, s, r);
		}
		if (r->metric.style != STAT_METRIC_NONE)
			fprintf(f, "%10.2f %-24s", r->metric.value, r->metric.unit);
	}
	putc('\n', f);
}

/* --- -x: value,unit,event[,cgroup][,noise],running ns,running %,metric,metric unit --- */

static void stat_csv_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
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

/* --- -j: an object a line, with perf's keys in perf's order --- */

static void stat_json_key(struct json *j, const struct stat_style *s, const struct stat_row *r)
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

static void stat_json_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
			  const struct stat_row *r, double stamp_ns)
{
	struct json j = json_to(f, JSON_SPACED);
	char value[64];

	json_object(&j, NULL);
	if (stamp_ns >= 0)
		json_double(&j, "interval", stamp_ns / 1e9);
	stat_json_key(&j, s, r);
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

/* --- all of them --- */

static void print_rows(FILE *f, const struct stat_style *s, const struct stat_table *t,
		       double stamp_ns, const char *stamp)
{
	if (s->metric_only && s->form == STAT_TEXT) {
		metric_rows(f, s, t, stamp_ns);
		return;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->row[i];

		if (s->metric_only && r->metric.style == STAT_METRIC_NONE)
			continue;
		if (s->form == STAT_CSV)
			stat_csv_row(f, s, t, r, stamp);
		else if (s->form == STAT_JSON)
			stat_json_row(f, s, t, r, stamp_ns);
		else {
			if (stamp_ns >= 0)
				fprintf(f, "%s ", stamp);
			text_row(f, s, t, r);
		}
	}
}

void stat_print_rows(FILE *f, const struct stat_style *s, const struct stat_table *t,
		     double stamp_ns)
{
	char stamp[32] = "";

	if (stamp_ns >= 0)
		snprintf(stamp, sizeof(stamp), "%16.9f", stamp_ns / 1e9);
	print_rows(f, s, t, stamp_ns, stamp);
}

void stat_print_summary_rows(FILE *f, const struct stat_style *s, const struct stat_table *t)
{
	print_rows(f, s, t, -1,
		   s->form == STAT_CSV && !s->no_csv_summary ? "         summary" : "");
}

void stat_print_interval_head(FILE *f, const struct stat_style *s, const struct stat_table *t)
{
	static const char *const keys[] = {
		[STAT_GLOBAL] = "",
		[STAT_CPU] = "CPU        ",
		[STAT_CORE] = "core            cpus ",
		[STAT_DIE] = "die          cpus ",
		[STAT_SOCKET] = "socket cpus ",
		[STAT_NODE] = "node   cpus ",
		[STAT_THREAD] = "            comm-pid      ",
	};

	if (s->form != STAT_TEXT || s->metric_only)
		return;
	fprintf(f, "%s#           time %s            counts unit events%s\n",
		term_style(f, TERM_DIM), keys[s->by], term_style(f, TERM_RESET));
}

void stat_print_head(FILE *f, const struct stat_style *s, const struct stat_subject *about,
		     unsigned runs)
{
	if (s->form != STAT_TEXT)
		return;
	fprintf(f, "\n Performance counter stats for %s", about->what);
	if (runs > 1)
		fprintf(f, " (%u runs)", runs);
	fputs(":\n\n", f);
}

/* Two digits more than those that the deviation leaves certain, as perf has it. */
static int precision(const struct stat_table *t)
{
	double s = t->wall_noise_ns / 1e9;

	return s <= 0 ? 9 : s > 1 ? 2 : (int)fmin(9, ceil(-log10(s)) + 2);
}

/* The single runs, with a bar of how far each is off, 5% a sign. */
static void run_table(FILE *f, const struct stat_table *t)
{
	int digits = precision(t);

	fputs("         # Table of individual measurements:\n", f);
	for (unsigned i = 0; i < t->runs; i++) {
		double run = t->run_wall_ns[i], d = run - t->wall_ns;
		int bar = run > 0 ? (int)fmin(20, 1 + fabs(d) * 20 / run) : 1;

		fprintf(f, " %17.*f (%+.*f) %.*s\n", digits, run / 1e9, digits, d / 1e9, bar,
			"####################");
	}
	fputs("\n         # Final result:\n", f);
}

void stat_print_end(FILE *f, const struct stat_style *s, const struct stat_subject *about,
		    const struct stat_table *t)
{
	if (s->form != STAT_TEXT)
		return;
	if (!about->null_run)
		putc('\n', f);
	if (t->runs > 1) {
		if (s->each_run)
			run_table(f, t);
		fprintf(f, " %17.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n", precision(t),
			t->wall_ns / 1e9, precision(t), t->wall_noise_ns / 1e9,
			t->wall_ns > 0 ? 100 * t->wall_noise_ns / t->wall_ns : 0);
		return;
	}
	fprintf(f, "%18.9f seconds time elapsed\n\n", t->wall_ns / 1e9);
	if (about->user_s >= 0)
		fprintf(f, "%18.9f seconds user\n%18.9f seconds sys\n\n", about->user_s,
			about->sys_s);
}
