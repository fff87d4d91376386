/* SPDX-License-Identifier: MIT */
#include "live/capture.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/filter.h"
#include "kern/why.h"
#include "live/capture_attr.h"
#include "live/open.h"

#define MAX_RINGS_BYTES (256u << 20) /* of all rings together, unless -m asks for more */
#define MAX_RING (16u << 20)
#define MIN_RING (512u << 10)

/* Later kernels know more than earlier ones: what may be left out, newest first. */
static bool leave_out(struct perf_event_attr *a)
{
	if (a->read_format & PERF_FORMAT_LOST)
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	else if (a->build_id)
		a->build_id = 0;
	else if (a->cgroup)
		a->cgroup = 0;
	else if (a->bpf_event)
		a->bpf_event = 0;
	else if (a->ksymbol)
		a->ksymbol = 0;
	else
		return false;
	return true;
}

static bool needs_pmu(const struct event_spec *s)
{
	return s->attr.type == PERF_TYPE_HARDWARE || s->attr.type == PERF_TYPE_HW_CACHE ||
	       s->attr.type == PERF_TYPE_RAW;
}

static bool has_clock(const struct capture *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->event[i].attr.type == PERF_TYPE_SOFTWARE &&
		    c->event[i].attr.config == PERF_COUNT_SW_CPU_CLOCK)
			return true;
	return false;
}

/* No PMU: the CPU clock samples by time instead. For cycles that answers the same question. */
static bool use_clock(struct capture *c, struct capture_event *ev, int code)
{
	struct event_spec *s = ev->spec;
	struct err why = { 0 };
	const char *wanted = s->name, *modifiers = strrchr(wanted, ':');

	if (!needs_pmu(s) || has_clock(c) ||
	    (code != ENOENT && code != ENODEV && code != ENXIO && code != EOPNOTSUPP))
		return false;
	why_open_failed(s, code, -1, -1, &why);
	s->kind = SPEC_SOFTWARE;
	s->attr.type = ev->attr.type = PERF_TYPE_SOFTWARE;
	s->attr.config = ev->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	ev->attr.precise_ip = s->attr.precise_ip = 0;
	if (!ev->attr.freq) { /* a period of the other event means nothing in nanoseconds */
		ev->attr.freq = 1;
		ev->attr.sample_freq = c->opts.freq ? c->opts.freq : 4000;
		ev->attr.sample_type |= PERF_SAMPLE_PERIOD;
	}
	s->name = arena_printf(&c->specs->arena, "cpu-clock%s", modifiers ? modifiers : "");
	if (c->opts.fallback)
		c->opts.fallback(c->opts.ctx, wanted, s->name, why.msg);
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

static int open_fd(struct capture *c, struct capture_event *ev, pid_t pid, int cpu, int group,
		   struct err *e)
{
	for (;;) {
		int fd = open_event(ev->spec, &ev->attr, pid, cpu, group, 0);

		if (fd >= 0)
			return fd;
		if (ev->attr.precise_ip && ev->spec->precise_max)
			ev->attr.precise_ip--;
		else if (!(fd == -EINVAL && leave_out(&ev->attr)) && !use_clock(c, ev, -fd) &&
			 !narrow(c, ev, -fd))
			return why_open_failed(ev->spec, -fd, pid, cpu, e);
	}
}

static int take_id(int fd, uint64_t *id, struct err *e)
{
	if (ioctl(fd, PERF_EVENT_IOC_ID, id) < 0)
		return err_set(e, errno, "cannot learn an event's number: %s", strerror(errno));
	return 0;
}

/* All events on one CPU and thread; the first one's ring takes everybody's records. */
static int open_place(struct capture *c, size_t place, size_t ring, pid_t tid, int cpu,
		      struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];
		int leader = ev->spec->leader;
		int group =
			leader != (int)i && leader < (int)c->n ? c->event[leader].fd[place] : -1;
		int fd = open_fd(c, ev, tid, cpu, group, e);

		if (fd == -ESRCH && c->target->threads.n > 1)
			continue; /* ended meanwhile */
		if (fd < 0)
			return fd;
		ev->fd[place] = fd;
		if (take_id(fd, &ev->id[place], e) < 0 ||
		    filter_set(ev->spec, &c->specs->arena, fd, e) < 0)
			return -e->code;
		if (!c->ring[ring].base) {
			size_t size = c->ring_size;

			/* as much as may be locked */
			while (ring_open(&c->ring[ring], fd, size, c->opts.overwrite, e) < 0) {
				if (e->code != EPERM || size <= 4096 || c->opts.ring_size)
					return err_hint(e, "-m 128 asks for less; kymo doctor "
							   "shows the limit");
				c->ring_size = size = size / 2;
			}
		} else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->ring[ring].fd) < 0) {
			return err_set(e, errno, "cannot share a ring between events: %s",
				       strerror(errno));
		}
	}
	return 0;
}

static size_t choose_ring_size(const struct capture_opts *o, size_t rings)
{
	size_t size = MAX_RING;

	if (o->ring_size)
		return o->ring_size;
	while (size > MIN_RING && size * rings > MAX_RINGS_BYTES)
		size /= 2;
	return size;
}

/* An event that exists only to tell about tasks: needed when the others may be off or elsewhere. */
static void add_dummy(struct spec_list *l)
{
	struct event_spec s = { .name = "dummy:HG",
				.text = "dummy:HG",
				.kind = SPEC_SOFTWARE,
				.members = 1,
				.scale = 1.0 };

	s.attr.type = PERF_TYPE_SOFTWARE;
	s.attr.config = PERF_COUNT_SW_DUMMY;
	s.leader = s.first = (int)l->n;
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->spec = mem_grow(l->spec, l->cap * sizeof(*l->spec));
	}
	l->spec[l->n++] = s;
}

static int make_events(struct capture *c, size_t places, struct err *e)
{
	struct spec_list *l = c->specs;
	bool dummy =
		c->target->system_wide || c->opts.delayed || l->spec[0].kind == SPEC_TRACEPOINT;

	if (dummy && !c->opts.no_tracking)
		add_dummy(l);
	c->n = l->n;
	c->event = mem_alloc(c->n * sizeof(*c->event));
	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];
		int r;

		ev->spec = &l->spec[i];
		ev->tracking = !c->opts.no_tracking && i == (dummy ? c->n - 1 : 0);
		r = capture_attr(&c->opts, ev->spec, c->target, c->n > 1, ev->tracking, &ev->attr,
				 e);
		if (r < 0)
			return r;
		ev->attr.enable_on_exec =
			c->opts.on_exec && ev->attr.disabled && ev->spec->leader == (int)i;
		if (ev->spec->leader != (int)i)
			ev->attr.disabled = 0;
		ev->attr.write_backward = c->opts.overwrite;
		ev->attr.watermark = 1;
		ev->attr.wakeup_watermark = c->opts.prompt ? 1 : (uint32_t)(c->ring_size / 4);
		ev->n_fds = places;
		ev->id = mem_alloc(places * sizeof(*ev->id));
		ev->fd = mem_alloc(places * sizeof(*ev->fd));
		for (size_t k = 0; k < places; k++)
			ev->fd[k] = -1;
	}
	return 0;
}

int capture_open(struct spec_list *specs, struct target *t, const struct capture_opts *o,
		 struct capture *ret, struct err *e)
{
	struct capture c = { .target = t, .opts = *o, .specs = specs };
	size_t place = 0;
	int r = 0;

	/* children are only inherited into per-CPU rings */
	if (o->inherit && t->cpus.n == 1 && t->cpus.cpu[0] == -1) {
		cpus_free(&t->cpus);
		r = cpus_online(&t->cpus, e);
		if (r < 0)
			return r;
	}
	c.n_rings = t->cpus.cpu[0] == -1 ? t->threads.n : t->cpus.n;
	c.ring = mem_alloc(c.n_rings * sizeof(*c.ring));
	c.ring_size = choose_ring_size(o, c.n_rings);
	r = make_events(&c, t->cpus.n * t->threads.n, e);
	for (size_t i = 0; r == 0 && i < t->cpus.n; i++)
		for (size_t k = 0; r == 0 && k < t->threads.n; k++, place++)
			r = open_place(&c, place, t->cpus.cpu[0] == -1 ? k : i, t->threads.tid[k],
				       t->cpus.cpu[i], e);
	if (r < 0)
		capture_close(&c);
	else
		*ret = c;
	return r;
}

static int switch_all(struct capture *c, unsigned long request)
{
	int r = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->event[i].n_fds; k++)
			if (c->event[i].fd[k] >= 0 && c->event[i].spec->leader == (int)i &&
			    ioctl(c->event[i].fd[k], request, 0) < 0)
				r = -errno;
	return r;
}

int capture_enable(struct capture *c, struct err *e)
{
	int r = switch_all(c, PERF_EVENT_IOC_ENABLE);

	return r < 0 ? err_set(e, -r, "cannot start recording: %s", strerror(-r)) : 0;
}

int capture_disable(struct capture *c)
{
	return switch_all(c, PERF_EVENT_IOC_DISABLE);
}

int capture_watch(struct capture *c, struct loop *l, int id, struct err *e)
{
	for (size_t i = 0; i < c->n_rings; i++)
		if (c->ring[i].base && loop_watch(l, id, c->ring[i].fd, e) < 0)
			return -e->code;
	return 0;
}

int64_t capture_drain(struct capture *c, ring_fn *fn, void *ctx, struct err *e)
{
	int64_t all = 0;

	for (size_t i = 0; i < c->n_rings; i++) {
		int64_t n = c->ring[i].base ? ring_drain(&c->ring[i], fn, ctx, e) : 0;

		if (n < 0)
			return n;
		all += n;
	}
	return all;
}

int64_t capture_snapshot(struct capture *c, ring_fn *fn, void *ctx, struct err *e)
{
	int64_t all = 0;

	for (size_t i = 0; i < c->n_rings; i++) {
		int64_t n;

		if (!c->ring[i].base)
			continue;
		ioctl(c->ring[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
		n = ring_snapshot(&c->ring[i], fn, ctx, e);
		ioctl(c->ring[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
		if (n < 0)
			return n;
		all += n;
	}
	return all;
}

/* read(): { value, id, lost }, or with groups { nr, { value, id, lost } ... }. */
uint64_t capture_losses(struct capture *c)
{
	uint64_t all = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];

		ev->lost = 0;
		for (size_t k = 0; (ev->attr.read_format & PERF_FORMAT_LOST) && k < ev->n_fds;
		     k++) {
			uint64_t v[256];
			ssize_t n = ev->fd[k] >= 0 ? read(ev->fd[k], v, sizeof(v)) : 0;

			if (ev->attr.read_format & PERF_FORMAT_GROUP)
				ev->lost += n >= 32 ? v[3] : 0;
			else
				ev->lost += n >= 24 ? v[2] : 0;
		}
		all += ev->lost;
	}
	return all;
}

const struct capture_event *capture_tracking(const struct capture *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->event[i].tracking)
			return &c->event[i];
	return NULL;
}

void capture_close(struct capture *c)
{
	for (size_t i = 0; i < c->n_rings && c->ring; i++)
		ring_close(&c->ring[i]);
	for (size_t i = 0; i < c->n && c->event; i++) {
		for (size_t k = 0; k < c->event[i].n_fds; k++)
			if (c->event[i].fd[k] >= 0)
				close(c->event[i].fd[k]);
		free(c->event[i].fd);
		free(c->event[i].id);
	}
	free(c->event);
	free(c->ring);
	*c = (struct capture){ 0 };
}
