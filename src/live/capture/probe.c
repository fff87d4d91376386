/* SPDX-License-Identifier: MIT */
#include "live/capture/open.h"

#include <string.h>

#include "base/file.h"
#include "kern/perf.h"
#include "kern/why.h"

#define PMUS "/sys/bus/event_source/devices"

static bool needs_pmu(const struct event_spec *s)
{
	return s->attr.type == PERF_TYPE_HARDWARE || s->attr.type == PERF_TYPE_HW_CACHE ||
	       s->attr.type == PERF_TYPE_RAW;
}

/* Counting, of this process: the least that can be asked. */
static int try_open(const struct event_spec *s)
{
	struct perf_event_attr a = s->attr;
	int fd;

	a.disabled = 1;
	a.exclude_kernel = a.exclude_hv = 1;
	a.precise_ip = 0;
	fd = perf_open_config3(&a, s->config3, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool capture_probe_missing(int code)
{
	return code == -ENOENT || code == -ENODEV || code == -ENXIO || code == -EOPNOTSUPP;
}

/* The highest precision that a PMU here says it has. */
static int64_t max_precise(void)
{
	struct file_names names;
	int64_t most = 0;

	if (file_list(PMUS, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *path = mem_printf(PMUS "/%s/caps/max_precise", names.name[i]);
		int64_t v;

		if (file_i64(path, &v) == 0 && v > most)
			most = v;
	}
	file_names_free(&names);
	return most;
}

/* What a clock answers as well: where the time goes. Of all others it knows nothing. */
static bool is_cycles(const struct event_spec *s)
{
	return s->attr.type == PERF_TYPE_HARDWARE &&
	       (uint32_t)s->attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

/* The name with the modifiers that mean something to a clock. */
static const char *capture_probe_clock_name(struct arena *a, const char *wanted)
{
	const char *colon = strrchr(wanted, ':');
	char kept[16];
	size_t n = 0;

	for (const char *p = colon ? colon + 1 : ""; *p && n + 1 < sizeof(kept); p++)
		if (strchr("ukhGH", *p))
			kept[n++] = *p;
	kept[n] = '\0';
	return n ? arena_printf(a, "cpu-clock:%s", kept) : "cpu-clock";
}

/* No PMU: the CPU clock samples by time instead.
 * Returns what it is called, with how often where another period was asked for. */
static const char *use_clock(struct spec_list *l, struct event_spec *s,
			     const struct capture_opts *o)
{
	bool by_period = o->period || (s->terms & SPEC_TERM_PERIOD);

	if (by_period) {
		/* a period of the other event means nothing in nanoseconds */
		s->terms = (s->terms & ~SPEC_TERM_PERIOD) | SPEC_TERM_FREQ;
		s->freq = o->freq;
	}
	s->kind = SPEC_SOFTWARE;
	s->attr.type = PERF_TYPE_SOFTWARE;
	s->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	s->attr.config1 = s->attr.config2 = s->config3 = 0;
	s->attr.precise_ip = 0;
	s->precise_max = false;
	s->pmu = s->pmu_cpus = s->on_cpus = NULL;
	if (!(s->terms & SPEC_TERM_NAME))
		s->name = capture_probe_clock_name(&l->arena, s->name);
	return by_period ? arena_printf(&l->arena, "%s %llu times a second", s->name,
					(unsigned long long)s->freq)
			 : s->name;
}

static int check_precise(struct event_spec *s, struct err *e)
{
	if ((!s->attr.precise_ip && !s->precise_max) || max_precise() > 0)
		return 0;
	if (s->precise_max) { /* "as precise as can be" is not at all */
		s->precise_max = false;
		return 0;
	}
	return why_open_failed(s, EOPNOTSUPP, 0, -1, e);
}

/* 0: it is had; 1: a clock can stand for it; else it is refused. why is set unless it is had. */
static int capture_probe_look_at(struct event_spec *s, const struct capture_opts *o,
				 struct err *why)
{
	int code = needs_pmu(s) ? try_open(s) : 1;

	if (code == 1)
		return 0;
	if (!capture_probe_missing(code))
		return check_precise(s, why);
	why_open_failed(s, -code, -1, -1, why);
	/* a clock has no branches */
	return is_cycles(s) && !o->branch_type && o->chain != CAPTURE_LBR ? 1 : -why->code;
}

int capture_probe(struct spec_list *l, const struct capture_opts *o, struct err *e)
{
	struct err why = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (capture_probe_look_at(&l->spec[i], o, &why) < 0) {
			*e = why;
			return -e->code;
		}
	for (size_t i = 0; i < l->n; i++) {
		const char *wanted = l->spec[i].name, *taken;

		if (capture_probe_look_at(&l->spec[i], o, &why) == 0)
			continue;
		taken = use_clock(l, &l->spec[i], o);
		if (o->fallback)
			o->fallback(o->ctx, wanted, taken, why.msg);
	}
	return 0;
}
