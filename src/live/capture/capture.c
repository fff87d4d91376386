/* SPDX-License-Identifier: MIT */
#include "live/capture/capture.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "event/attr.h"
#include "live/about/mapped_ids.h"
#include "live/about/synth.h"
#include "live/attached.h"
#include "live/capture/attr.h"
#include "live/capture/open.h"
#include "store/perfdata/write.h"

#define MAX_RINGS_BYTES (256u << 20) /* of all rings together, unless -m asks for more */
#define MAX_RING (16u << 20)
#define MIN_RING (512u << 10)
#define FEW_RING (1u << 20) /* every page of a ring is cleared before it starts */

static size_t choose_ring_size(const struct capture_opts *o, size_t rings)
{
	size_t size = o->few_records && !o->switch_events && !o->overwrite ? FEW_RING : MAX_RING;

	if (o->ring_size)
		return o->ring_size;
	while (size > MIN_RING && size * rings > MAX_RINGS_BYTES)
		size /= 2;
	return size;
}

void capture_add_spec(struct spec_list *l, struct event_spec s)
{
	s.leader = s.first = (int)l->n;
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->spec = mem_grow(l->spec, l->cap * sizeof(*l->spec));
	}
	l->spec[l->n++] = s;
}

/* An event that exists only to tell about tasks: needed when the others may be off or elsewhere. */
static void add_dummy(struct capture *c)
{
	struct event_spec s = { .name = "dummy:HG",
				.text = "dummy:HG",
				.kind = SPEC_SOFTWARE,
				.members = 1,
				.scale = 1.0 };

	s.attr.type = PERF_TYPE_SOFTWARE;
	s.attr.config = PERF_COUNT_SW_DUMMY;
	capture_add_spec(c->specs, s);
	c->dummy = true;
}

/* When the events themselves come too late or too seldom to tell about tasks. */
static bool needs_dummy(const struct capture *c)
{
	const struct event_spec *first = &c->specs->spec[0];

	return !c->opts.no_tracking &&
	       (c->target->cpus_named || c->opts.delayed || capture_split(c) || c->opts.cgroups ||
		first->pmu_cpus || first->on_cpus);
}

static unsigned role_of(const struct capture *c, size_t i)
{
	const struct event_spec *s = &c->specs->spec[i];
	bool only = c->dummy && i == c->n - 1;
	bool tracks = !c->opts.no_tracking && i == (c->dummy ? c->n - 1 : 0);

	return (c->n > 1 ? CAPTURE_MANY : 0) | (tracks ? CAPTURE_TRACKS : 0) |
	       (only ? CAPTURE_ONLY_TRACKS : 0) |
	       (c->specs->spec[s->leader].members > 1 ? CAPTURE_GROUPED : 0);
}

static int make_events(struct capture *c, size_t places, struct err *e)
{
	struct spec_list *l = c->specs;

	if (needs_dummy(c))
		add_dummy(c);
	c->n = l->n;
	c->event = mem_alloc(c->n * sizeof(*c->event));
	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];
		bool leads = l->spec[i].leader == (int)i;
		unsigned role = role_of(c, i);
		int r;

		ev->spec = &l->spec[i];
		ev->tracking = role & CAPTURE_TRACKS;
		ev->cgroup_fd = -1;
		ev->n_fds = places;
		ev->id = mem_alloc(places * sizeof(*ev->id));
		ev->fd = mem_alloc(places * sizeof(*ev->fd));
		memset(ev->fd, -1, places * sizeof(*ev->fd));
		r = capture_attr(&c->opts, ev->spec, c->target, role, &ev->attr, e);
		if (r < 0)
			return r;
		if (!leads && l->spec[l->spec[i].leader].sample_read)
			capture_attr_follow(ev->spec, &c->event[l->spec[i].leader].attr, &ev->attr);
		if (c->opts.prompt && (!c->opts.apart || role & CAPTURE_ONLY_TRACKS))
			ev->attr.watermark = ev->attr.wakeup_watermark = 1;
		/* members follow their leader */
		ev->attr.disabled = ev->attr.disabled && leads;
		ev->attr.enable_on_exec = c->opts.on_exec && ev->attr.disabled;
	}
	return 0;
}

/* Children are only inherited into per-CPU rings, which many threads share better, too. Tasks on
 * some CPUs were started on others: what tells of them is opened on all. */
static int choose_cpus(struct capture *c, struct err *e)
{
	struct target *t = c->target;
	struct cpus online;

	if (t->system_wide && !c->opts.no_tracking) {
		c->only = t->cpus;
		t->cpus = (struct cpus){ 0 };
		return cpus_online(&t->cpus, e);
	}
	if (t->cpus.cpu[0] != -1 || c->opts.per_thread)
		return 0;
	if (cpus_online(&online, e) < 0)
		return -e->code;
	if (!c->opts.inherit && t->threads.n <= online.n) {
		cpus_free(&online);
		return 0;
	}
	cpus_free(&t->cpus);
	t->cpus = online;
	return 0;
}

struct capture_event *capture_tracking(const struct capture *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->event[i].tracking)
			return &c->event[i];
	return NULL;
}

/* Records of mappings get build-ids, where the kernel does not give them. */
static void give_ids(struct capture *c)
{
	struct capture_event *ev = capture_tracking(c);

	if (!ev || ev->attr.build_id)
		return;
	c->ids = mapped_ids_new();
	for (size_t k = 0; k < ev->n_fds; k++)
		if (ev->fd[k] >= 0)
			c->ring[capture_ring_of(c, ev, k)].ids = c->ids;
	ev->attr.build_id = 1; /* for who reads the records */
}

int capture_open(struct spec_list *specs, struct target *t, const struct capture_opts *o,
		 struct capture *ret, struct err *e)
{
	struct capture c = { .target = t, .opts = *o, .specs = specs };
	int r = capture_probe(specs, o, e);

	c.opts.inherit = o->inherit && !o->per_thread;
	if (r == 0)
		r = choose_cpus(&c, e);
	if (r < 0) {
		cpus_free(&c.only);
		return r;
	}
	c.n_live = t->cpus.cpu[0] == -1 ? t->threads.n : t->cpus.n;
	c.n_rings = capture_split(&c) ? 2 * c.n_live : c.n_live;
	c.ring = mem_alloc(c.n_rings * sizeof(*c.ring));
	c.watched = mem_alloc(c.n_rings * sizeof(*c.watched));
	c.ring_size = choose_ring_size(o, c.n_rings);
	r = make_events(&c, t->cpus.n * t->threads.n, e);
	if (r == 0)
		r = capture_open_all(&c, e);
	if (r < 0) {
		capture_close(&c);
		return r;
	}
	give_ids(&c);
	*ret = c;
	return 0;
}

static int switch_event(struct capture_event *ev, unsigned long request)
{
	int r = 0;

	for (size_t k = 0; k < ev->n_fds; k++)
		if (ev->fd[k] >= 0 && ioctl(ev->fd[k], request, 0) < 0)
			r = -errno;
	return r;
}

/* What only tracks stays on from first to last. */
static int switch_all(struct capture *c, unsigned long request)
{
	int r = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->event[i].spec->leader == (int)i && !(c->dummy && i == c->n - 1)) {
			int code = switch_event(&c->event[i], request);

			r = code < 0 ? code : r;
		}
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

int capture_switch(struct capture *c, const char *name, bool on)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->event[i].spec->name, name) == 0)
			return switch_event(&c->event[i],
					    on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
	return -ENOENT;
}

/* The descriptors of all events and places are numbered; those of a ring are looked at in turn. */
static int nth_fd(const struct capture *c, size_t n, size_t ring)
{
	const struct capture_event *ev = &c->event[n % c->n];
	size_t place = n / c->n;

	return ev->fd[place] >= 0 && capture_ring_of(c, ev, place) == ring ? ev->fd[place] : -1;
}

int capture_watch(struct capture *c, struct loop *l, int id, struct err *e)
{
	c->n_live = 0;
	for (size_t i = 0; i < c->n_rings; i++)
		if (c->ring[i].base && !c->ring[i].backward) {
			c->n_live++;
			while (nth_fd(c, c->watched[i], i) < 0)
				c->watched[i]++;
			if (loop_watch(l, id, nth_fd(c, c->watched[i], i), e) < 0)
				return -e->code;
		}
	return 0;
}

bool capture_hung_up(struct capture *c, struct loop *l, int id, int fd)
{
	size_t all = c->n * c->event[0].n_fds;

	loop_unwatch(l, fd);
	for (size_t i = 0; i < c->n_rings; i++) {
		if (!c->ring[i].base || c->ring[i].backward || c->watched[i] >= all ||
		    nth_fd(c, c->watched[i], i) != fd)
			continue;
		/* one that has hung up will never come back, so each is looked at once */
		while (++c->watched[i] < all) {
			struct pollfd p = { .fd = nth_fd(c, c->watched[i], i) };

			if (p.fd >= 0 && poll(&p, 1, 0) >= 0 && !(p.revents & POLLHUP) &&
			    loop_watch(l, id, p.fd, NULL) >= 0)
				break;
		}
		c->n_live -= c->watched[i] >= all;
	}
	return c->n_live > 0;
}

void capture_unwatch(struct capture *c, struct loop *l)
{
	size_t all = c->n ? c->n * c->event[0].n_fds : 0;

	for (size_t i = 0; i < c->n_rings; i++)
		if (c->ring[i].base && !c->ring[i].backward && c->watched[i] < all)
			loop_unwatch(l, nth_fd(c, c->watched[i], i));
}

int64_t capture_drain(struct capture *c, ring_fn *fn, void *ctx, struct err *e)
{
	int64_t all = 0;

	for (size_t i = 0; i < c->n_rings; i++) {
		int64_t n = c->ring[i].base && !c->ring[i].backward
				    ? ring_drain(&c->ring[i], fn, ctx, e)
				    : 0;

		if (n < 0)
			return n;
		all += n;
	}
	return all;
}

int64_t capture_snapshot(struct capture *c, ring_fn *fn, void *ctx, struct err *e)
{
	int64_t all = 0, n;

	for (size_t i = 0; i < c->n_rings; i++) {
		if (!c->ring[i].base || !c->ring[i].backward)
			continue;
		ioctl(c->ring[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
		n = ring_snapshot(&c->ring[i], fn, ctx, e);
		ioctl(c->ring[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
		if (n < 0)
			return n;
		all += n;
	}
	n = capture_drain(c, fn, ctx, e);
	return n < 0 ? n : all + n;
}

/* { value, [enabled, running,] id, lost }, of groups { nr, [...,] { value, id, lost } ... }. */
static uint64_t lost_of(const struct capture_event *ev, int fd)
{
	uint64_t f = ev->attr.read_format, v[512], lost = 0;
	size_t times =
		!!(f & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(f & PERF_FORMAT_TOTAL_TIME_RUNNING);
	ssize_t n = read(fd, v, sizeof(v));
	size_t words = n > 0 ? (size_t)n / sizeof(*v) : 0;

	if (!(f & PERF_FORMAT_GROUP))
		return words >= 3 + times ? v[2 + times] : 0;
	for (size_t at = 1 + times; words && at + 3 <= words; at += 3)
		lost += v[at + 2];
	return lost;
}

uint64_t capture_losses(struct capture *c)
{
	uint64_t all = 0;

	for (size_t i = 0; i < c->n_rings; i++)
		c->ring[i].lost = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];
		bool led = ev->spec->leader != (int)i &&
			   (ev->attr.read_format & PERF_FORMAT_GROUP); /* told by the leader */

		ev->lost = 0;
		for (size_t k = 0; (ev->attr.read_format & PERF_FORMAT_LOST) && k < ev->n_fds;
		     k++) {
			uint64_t n = ev->fd[k] >= 0 && !led ? lost_of(ev, ev->fd[k]) : 0;

			ev->lost += n;
			if (n)
				c->ring[capture_ring_of(c, ev, k)].lost += n;
		}
		all += ev->lost;
	}
	return all;
}

void capture_close(struct capture *c)
{
	VEC(int) all = { 0 };
	size_t tracepoints = 0;

	for (size_t i = 0; i < c->n_rings && c->ring; i++)
		ring_close(&c->ring[i]);
	for (size_t i = 0; i < c->n && c->event; i++) {
		struct capture_event *ev = &c->event[i];

		tracepoints += ev->attr.type == PERF_TYPE_TRACEPOINT;
		for (size_t k = 0; ev->fd && k < ev->n_fds; k++)
			vec_push(&all, ev->fd[k]);
		if (ev->spec && ev->cgroup_fd >= 0)
			close(ev->cgroup_fd);
		free(ev->fd);
		free(ev->id);
	}
	/* with many tracepoints a child waits for the kernel to take them down */
	if (tracepoints > 1)
		close_events(all.data, all.n);
	else
		vec_each (&all, fd)
			if (*fd >= 0)
				close(*fd);
	vec_free(&all);
	if (c->dummy)
		c->specs->n--;
	free(c->event);
	free(c->ring);
	free(c->watched);
	cpus_free(&c->only);
	mapped_ids_free(c->ids);
	*c = (struct capture){ 0 };
}

/* The events, as who writes them, reads them, or asks how they were set up knows them. */

void capture_synth(const struct capture_event *ev, struct synth *s)
{
	s->sample_type = ev->attr.sample_type;
	s->event_id = ev->id[0];
}

struct perfdata_event *capture_events(const struct capture *c)
{
	struct perfdata_event *events = mem_alloc((c->n + 1) * sizeof(*events));

	for (size_t i = 0; i < c->n; i++) {
		const struct capture_event *ev = &c->event[i];

		events[i] = (struct perfdata_event){
			.name = ev->spec->name,
			.attr = ev->attr,
			.ids = ev->id,
			.n_ids = ev->n_ids,
			.leader = ev->spec->leader,
			.group_name = ev->spec->group_name,
		};
	}
	return events;
}

struct event_type capture_type(const struct capture_event *ev)
{
	struct event_type t = { .name = ev->spec->name };

	attr_type(&ev->attr, &t);
	return t;
}

void capture_settings(const struct capture *c, const struct capture_event *ev, setting_fn *fn,
		      void *ctx)
{
	struct perf_event_attr attr = ev->attr;

	attr.build_id = attr.build_id && !c->ids; /* as the kernel was asked */
	attr_each(&attr, fn, ctx);
}
