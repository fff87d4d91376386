/* SPDX-License-Identifier: MIT */
#include "live/capture/open.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/file.h"
#include "kern/cgroup.h"
#include "kern/filter.h"
#include "kern/perf.h"
#include "kern/why.h"
#include "live/capture/attr.h"

#define SIDE_RING (1u << 20) /* bytes: read at every record */

/* Later kernels know more than earlier ones: what may be left out, newest first. */
static bool leave_out(struct perf_event_attr *a)
{
	if (a->inherit && (a->sample_type & PERF_SAMPLE_READ)) /* 6.12 */
		a->inherit = 0;
	else if (a->read_format & PERF_FORMAT_LOST) /* 6.0 */
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	else if (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) /* 5.12 */
		a->sample_type ^= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_WEIGHT;
	else if (a->build_id) /* 5.12 */
		a->build_id = 0;
	else if (a->cgroup)
		a->cgroup = 0;
	else if (a->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		a->branch_sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_HW_INDEX;
	else if (a->bpf_event)
		a->bpf_event = 0;
	else if (a->ksymbol)
		a->ksymbol = 0;
	else
		return false;
	return true;
}

/* An ordinary user samples user space only, and the event is named so. */
static bool narrow(struct capture *c, struct capture_event *ev, int code)
{
	const char *wanted = ev->spec->name;

	if (!open_narrow(ev->spec, &ev->attr, &c->specs->arena, c->target->system_wide, code))
		return false;
	if (c->opts.fallback)
		c->opts.fallback(c->opts.ctx, wanted, ev->spec->name,
				 "the kernel's work may not be seen");
	return true;
}

static bool less_precise(struct capture_event *ev, int code)
{
	if (!ev->attr.precise_ip || !ev->spec->precise_max ||
	    (code != EOPNOTSUPP && code != EINVAL && code != ENOENT))
		return false;
	ev->attr.precise_ip--;
	return true;
}

static int open_fd(struct capture *c, struct capture_event *ev, pid_t pid, int cpu, int group,
		   struct err *e)
{
	unsigned long flags = 0;

	if (ev->cgroup_fd >= 0) {
		pid = ev->cgroup_fd;
		flags = PERF_FLAG_PID_CGROUP;
	}
	for (;;) {
		int fd = open_event(ev->spec, &ev->attr, pid, cpu, group, flags);

		if (fd >= 0)
			return fd;
		if (!less_precise(ev, -fd) && !(fd == -EINVAL && leave_out(&ev->attr)) &&
		    !narrow(c, ev, -fd))
			return why_open_failed(ev->spec, -fd, flags ? -1 : pid, cpu, e);
	}
}

size_t capture_ring_of(const struct capture *c, const struct capture_event *ev, size_t place)
{
	size_t threads = c->target->threads.n;
	size_t ring = c->target->cpus.cpu[0] == -1 ? place % threads : place / threads;

	return capture_split(c) && c->dummy && ev == &c->event[c->n - 1] ? ring + c->n_rings / 2
									 : ring;
}

/* The first event's ring takes everybody's records. */
static int attach_ring(struct capture *c, const struct capture_event *ev, size_t ring, int fd,
		       struct err *e)
{
	bool backward = ev->attr.write_backward;
	bool side = c->opts.apart && ring >= c->n_rings / 2;
	size_t size = side && c->ring_size > SIDE_RING ? SIDE_RING : c->ring_size;

	if (c->ring[ring].base) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->ring[ring].fd) < 0)
			return err_set(e, errno, "cannot share a ring between events: %s",
				       strerror(errno));
		return 0;
	}
	/* as much as may be locked */
	while (ring_open(&c->ring[ring], fd, size, backward, e) < 0) {
		if ((e->code != EPERM && e->code != ENOMEM) || size <= 4096 || c->opts.ring_size)
			return err_hint(e, "-m 128 asks for less; kymo doctor shows the limit");
		size /= 2;
		if (!side)
			c->ring_size = size;
	}
	return 0;
}

static int open_one(struct capture *c, size_t i, size_t place, pid_t tid, int cpu, struct err *e)
{
	struct capture_event *ev = &c->event[i];
	const struct capture_event *leader = &c->event[ev->spec->leader];
	int fd, group = -1;

	if (leader != ev) {
		group = leader->fd[place];
		if (group < 0)
			return 0; /* the thread ended meanwhile, or its leader is not for this CPU
				   */
	}
	fd = open_fd(c, ev, tid, cpu, group, e);
	if (fd < 0)
		return fd;
	ev->fd[place] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &ev->id[ev->n_ids]) < 0)
		return err_set(e, errno, "cannot learn an event's number: %s", strerror(errno));
	ev->n_ids++;
	if (filter_set(ev->spec, &c->specs->arena, fd, e) < 0)
		return -e->code;
	return attach_ring(c, ev, capture_ring_of(c, ev, place), fd, e);
}

/* Some PMUs are on some CPUs only, and -C names some. */
static int for_cpu(const struct capture *c, const struct capture_event *ev, int cpu, struct err *e)
{
	const char *only = ev->spec->pmu_cpus ? ev->spec->pmu_cpus : ev->spec->on_cpus;
	struct cpus mask;
	bool has;

	if (c->only.n && !ev->tracking && !cpus_has(&c->only, cpu))
		return 0;
	if (!only || cpu < 0)
		return 1;
	if (cpus_parse_any(only, &mask, e) < 0)
		return -e->code;
	has = cpus_has(&mask, cpu);
	cpus_free(&mask);
	return has;
}

int capture_open_all(struct capture *c, struct err *e)
{
	const struct target *t = c->target;
	size_t place = 0, opened = 0;

	for (size_t i = 0; i < c->n && c->opts.cgroups; i++)
		if (c->opts.cgroups[i] &&
		    (c->event[i].cgroup_fd = cgroup_open(c->opts.cgroups[i], e)) < 0)
			return -e->code;
	for (size_t k = 0; k < t->cpus.n; k++)
		for (size_t j = 0; j < t->threads.n; j++, place++)
			for (size_t i = 0; i < c->n; i++) {
				int cpu = t->cpus.cpu[k];
				int r = for_cpu(c, &c->event[i], cpu, e);

				if (r > 0)
					r = open_one(c, i, place, t->threads.tid[j], cpu, e);
				if (r == -ESRCH && t->threads.n > 1)
					break; /* ended meanwhile */
				if (r < 0)
					return r;
				opened++;
			}
	return opened ? 0 : -e->code; /* all threads have ended */
}

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

/* No PMU: the CPU clock instead. Its name, with how often where another period was asked for. */
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
