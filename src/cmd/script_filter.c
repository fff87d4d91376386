/* SPDX-License-Identifier: MIT */
#include "cmd/script_filter.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"

/* --- time --- */

/* "123.456" into nanoseconds; an empty text is 0. */
static bool parse_seconds(const char *s, size_t n, uint64_t *ret)
{
	uint64_t sec = 0, ns = 0, unit = 100000000;
	size_t i = 0;

	for (; i < n && isdigit((unsigned char)s[i]); i++) {
		if (sec > UINT64_MAX / 20000000000u)
			return false;
		sec = sec * 10 + (uint64_t)(s[i] - '0');
	}
	if (i < n && s[i] == '.')
		for (i++; i < n && isdigit((unsigned char)s[i]); i++, unit /= 10)
			ns += (uint64_t)(s[i] - '0') * unit;
	*ret = sec * 1000000000 + ns;
	return i == n;
}

/* A share of the recording, as perf cuts it: ranges do not touch, but the last one ends it. */
static struct time_range share(const struct trace *t, double from, double to)
{
	uint64_t all = t->last_time - t->first_time;
	struct time_range r = { t->first_time + (uint64_t)llround(from * (double)all),
				t->first_time + (uint64_t)llround(to * (double)all) };

	if (r.end > r.start && r.end != t->last_time)
		r.end--;
	return r;
}

/* "10%/2", "10%-20%" or "10%". */
static bool parse_percent(const char *s, const struct trace *t, struct time_range *ret)
{
	char *end;
	double a = strtod(s, &end), b;

	if (end == s || *end != '%' || a < 0 || a > 100)
		return false;
	if (end[1] == '\0') {
		*ret = share(t, 0, a / 100);
		return true;
	}
	if (end[1] == '/') {
		const char *n = end + 2;
		unsigned long i = strtoul(n, &end, 10);

		if (end == n || *end || i < 1 || a * (double)i > 100.0001)
			return false;
		*ret = share(t, a / 100 * (double)(i - 1), a / 100 * (double)i);
		return true;
	}
	if (end[1] == '-') {
		const char *n = end + 2;

		b = strtod(n, &end);
		if (end == n || strcmp(end, "%") != 0 || b < a || b > 100)
			return false;
		*ret = share(t, a / 100, b / 100);
		return true;
	}
	return false;
}

static int bad_time(const char *text, struct err *e)
{
	err_set(e, EINVAL, "--time %s makes no sense", text);
	return err_hint(e, "START,STOP in seconds (either may be left out), 10%%/2 or 10%%-20%%");
}

static int parse_times(struct script_filter *f, const char *text, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(text);
	bool percent = strchr(text, '%') != NULL;
	char *save = NULL;

	if (percent && !f->trace->last_time)
		return err_set(e, EINVAL, "the samples have no times to take a share of");
	/* Ranges in seconds are separated by blanks, as they hold a comma. */
	for (char *part = strtok_r(copy, percent ? ", " : " ", &save); part;
	     part = strtok_r(NULL, percent ? ", " : " ", &save)) {
		struct time_range r;
		char *comma = strchr(part, ',');

		if (percent) {
			if (!parse_percent(part, f->trace, &r))
				return bad_time(text, e);
		} else if (!comma || !parse_seconds(part, (size_t)(comma - part), &r.start) ||
			   !parse_seconds(comma + 1, strlen(comma + 1), &r.end) ||
			   (r.end && r.end < r.start)) {
			return bad_time(text, e);
		}
		vec_push(&f->ranges, r);
	}
	return f->ranges.n ? 0 : bad_time(text, e);
}

/* --- lists --- */

static int add_number(void *ctx, const char *part, size_t n)
{
	AUTO_FREE char *text = mem_strndup(part, n);
	uint64_t v;

	if (!str_u64(text, &v))
		return 1;
	*map_at(ctx, v) = 1;
	return 0;
}

static int add_name(void *ctx, const char *part, size_t n)
{
	strtab_addn(ctx, part, n);
	return 0;
}

static int add_cpu(void *ctx, unsigned cpu)
{
	*map_at(ctx, cpu) = 1;
	return 0;
}

static int numbers(const char *list, struct map *m, bool *any, const char *what, struct err *e)
{
	if (!list)
		return 0;
	*any = true;
	if (str_split(list, ',', add_number, m) != 0)
		return err_set(e, EINVAL, "%s %s: not a list of numbers", what, list);
	return 0;
}

static void names(const char *list, struct strtab *t, bool *any)
{
	if (!list)
		return;
	*any = true;
	str_split(list, ',', add_name, t);
}

static int cpus(struct script_filter *f, const char *list, struct err *e)
{
	bool have = false;

	if (!list)
		return 0;
	for (size_t i = 0; i < f->trace->n_types; i++)
		have = have || (f->trace->types[i].attr.sample_type & PERF_SAMPLE_CPU);
	if (!have) {
		err_set(e, EINVAL, "the samples do not say on which CPU they were taken");
		return err_hint(e, "record with -a or --sample-cpu");
	}
	f->by_cpu = true;
	if (str_ranges(list, 1u << 20, add_cpu, &f->cpus) < 0)
		return err_set(e, EINVAL, "-C %s: not a list of CPUs (0-3,5)", list);
	return 0;
}

int script_filter_init(struct script_filter *f, const struct script_filter_opts *o,
		       const struct trace *t, struct err *e)
{
	int r = 0;

	*f = (struct script_filter){ .trace = t };
	if (o->time)
		r = parse_times(f, o->time, e);
	if (r >= 0)
		r = numbers(o->pids, &f->pids, &f->by_pid, "--pid", e);
	if (r >= 0)
		r = numbers(o->tids, &f->tids, &f->by_tid, "--tid", e);
	if (r >= 0)
		r = cpus(f, o->cpus, e);
	names(o->comms, &f->comms, &f->by_comm);
	names(o->symbols, &f->symbols, &f->by_symbol);
	names(o->dsos, &f->dsos, &f->by_dso);
	if (r < 0)
		script_filter_free(f);
	return r;
}

void script_filter_free(struct script_filter *f)
{
	vec_free(&f->ranges);
	map_free(&f->pids);
	map_free(&f->tids);
	map_free(&f->cpus);
	strtab_free(&f->comms);
	strtab_free(&f->symbols);
	strtab_free(&f->dsos);
}

static bool time_wanted(const struct script_filter *f, uint64_t time)
{
	if (!f->ranges.n || !time)
		return true;
	for (size_t i = 0; i < f->ranges.n; i++) {
		const struct time_range *r = &f->ranges.data[i];

		if ((!r->start || time >= r->start) && (!r->end || time <= r->end))
			return true;
	}
	return false;
}

static bool listed(const struct strtab *t, const char *name)
{
	return name && strtab_find(t, name) != STRTAB_NONE;
}

static bool code_wanted(struct script_filter *f, struct script *s, const struct event *ev)
{
	const char *function, *dso, *base;
	uint64_t start;

	script_names(s, ev, &function, &dso, &start);
	if (f->by_dso && dso) {
		base = strrchr(dso, '/');
		if (!listed(&f->dsos, dso) && !listed(&f->dsos, base ? base + 1 : NULL))
			return false;
	}
	if (f->by_symbol && !listed(&f->symbols, function)) {
		char text[32];

		snprintf(text, sizeof(text), "0x%" PRIx64, start);
		return function && listed(&f->symbols, text);
	}
	return true;
}

bool script_filter_wants(struct script_filter *f, struct script *s, const struct event *ev)
{
	if (f->by_cpu && ev->cpu != UINT32_MAX && !map_find(&f->cpus, ev->cpu))
		return false;
	/* Like perf: the others choose among samples only. */
	if (ev->kind != EVENT_SAMPLE)
		return true;
	if (!time_wanted(f, ev->time))
		return false;
	if (f->by_pid && !map_find(&f->pids, (uint32_t)ev->pid))
		return false;
	if (f->by_tid && !map_find(&f->tids, (uint32_t)ev->tid))
		return false;
	if (f->by_comm) {
		uint32_t comm = tasks_comm_at(f->trace->tasks, ev->tid, ev->time);
		const char *name = comm == STRTAB_NONE
					   ? (ev->tid ? NULL : "swapper")
					   : strtab_get(tasks_strings(f->trace->tasks), comm);

		if (!listed(&f->comms, name))
			return false;
	}
	return !(f->by_symbol || f->by_dso) || code_wanted(f, s, ev);
}
