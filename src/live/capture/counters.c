/* SPDX-License-Identifier: MIT */
#include "live/capture/counters.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/vec.h"
#include "event/attr.h"
#include "kern/cgroup.h"
#include "kern/filter.h"
#include "kern/why.h"
#include "live/attached.h"
#include "live/capture/attr.h"

#define MAX_GROUP 64

struct counter {
	struct event_spec *spec;
	int *fd;	    /* by place; -1: not open there */
	struct count *last; /* by place: what had been counted at the last read */
	int cgroup_fd;	    /* -1: none */
	int refusal;
	bool grouped_read; /* a leader whose one read gives all members */
};

struct counters {
	struct count_set set;
	struct counter *counter;
	struct spec_list *specs;
	const struct target *target;
	struct counters_opts opts;
	size_t n, n_tracepoints;
};

static bool not_supported(int code)
{
	return code == ENOENT || code == ENOSYS || code == EOPNOTSUPP || code == ENXIO ||
	       code == EINVAL || code == ENODEV;
}

static void fill_attr(const struct counters *c, const struct counter *k,
		      struct perf_event_attr *attr)
{
	const struct event_spec *s = k->spec;
	bool leads = s->leader == (int)(k - c->counter);

	*attr = s->attr;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (k->grouped_read)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->inherit = s->terms & SPEC_TERM_INHERIT ? s->inherit : c->opts.inherit;
	if (c->target->system_wide)
		attr->inherit = 0;
	/* members follow their leader */
	attr->disabled = leads;
	attr->enable_on_exec = leads && c->opts.on_exec;
}

/* Open k on one place; its group leader, if another event, is open there already. */
static int open_place(struct counters *c, struct counter *k, size_t i)
{
	struct event_spec *s = k->spec;
	const struct count_place *at = &c->set.event[k - c->counter].place[i];
	const struct counter *leader = &c->counter[s->leader];
	struct perf_event_attr attr;
	pid_t pid = at->tid;
	unsigned long flags = 0;
	int group = -1;

	fill_attr(c, k, &attr);
	if (leader != k)
		group = i < c->set.event[s->leader].n_places ? leader->fd[i] : -1;
	if (leader != k && group < 0) {
		attr.disabled = 1; /* the leader is not there: count on one's own */
		attr.enable_on_exec = c->opts.on_exec;
	}
	if (k->cgroup_fd >= 0) {
		pid = k->cgroup_fd;
		flags = PERF_FLAG_PID_CGROUP;
	}
	return open_event(s, &attr, pid, at->cpu, group, flags);
}

static int open_counter(struct counters *c, struct counter *k, struct err *e)
{
	struct count_event *ev = &c->set.event[k - c->counter];
	size_t opened = 0, gone = 0;

	for (size_t i = 0; i < ev->n_places; i++) {
		int fd = open_place(c, k, i);

		if (fd == -ESRCH && !c->target->system_wide && ev->n_places > 1) {
			gone++; /* a thread that ended between listing and opening */
			continue;
		}
		if (fd < 0 && open_narrow(k->spec, &k->spec->attr, &c->specs->arena,
					  c->target->system_wide, -fd)) {
			ev->name = k->spec->name;
			ev->excludes = attr_excludes(&k->spec->attr);
			if (c->opts.narrowed)
				c->opts.narrowed(c->opts.ctx, k->spec);
			c->opts.narrowed = NULL;
			fd = open_place(c, k, i);
		}
		if (fd < 0 && not_supported(-fd)) {
			k->refusal = -fd;
			ev->supported = false;
			return 0;
		}
		if (fd < 0)
			return why_open_failed(k->spec, -fd, ev->place[i].tid, ev->place[i].cpu, e);
		k->fd[i] = fd;
		opened++;
		if (filter_set(k->spec, &c->specs->arena, fd, e) < 0)
			return -e->code;
	}
	if (!opened && gone)
		return why_open_failed(k->spec, ESRCH, ev->place[0].tid, -1, e);
	return 0;
}

/* Of a whole-package event each package's first CPU tells all. */
static bool first_of_package(const struct cpus *cpus, size_t i)
{
	int socket = cpu_place(cpus->cpu[i]).socket;

	for (size_t k = 0; k < i; k++)
		if (cpu_place(cpus->cpu[k]).socket == socket)
			return false;
	return true;
}

/* The CPUs and threads that an event is opened on: some PMUs count only on some CPUs. */
static int counters_lay_out(struct counters *c, struct counter *k, struct err *e)
{
	struct count_event *ev = &c->set.event[k - c->counter];
	const struct target *t = c->target;
	const char *only = k->spec->pmu_cpus ? k->spec->pmu_cpus : k->spec->on_cpus;
	bool by_cpu = t->cpus.cpu[0] >= 0;
	struct cpus mask = { 0 };
	size_t n = 0;

	if (only && by_cpu && cpus_parse_any(only, &mask, e) < 0)
		return -e->code;
	ev->place = mem_alloc(t->cpus.n * t->threads.n * sizeof(*ev->place));
	for (size_t i = 0; i < t->cpus.n; i++) {
		if ((mask.n && !cpus_has(&mask, t->cpus.cpu[i])) ||
		    (k->spec->per_pkg && by_cpu && !first_of_package(&t->cpus, i)))
			continue;
		for (size_t j = 0; j < t->threads.n; j++)
			ev->place[n++] = (struct count_place){ t->cpus.cpu[i], t->threads.tid[j] };
	}
	cpus_free(&mask);
	ev->n_places = n;
	ev->count = mem_alloc(n * sizeof(*ev->count));
	k->last = mem_alloc(n * sizeof(*k->last));
	k->fd = mem_alloc(n * sizeof(*k->fd));
	for (size_t i = 0; i < n; i++)
		k->fd[i] = -1;
	return 0;
}

static void counters_describe(const struct event_spec *s, const char *cgroup,
			      struct count_event *ev)
{
	*ev = (struct count_event){
		.name = s->name,
		.unit = s->unit,
		.cgroup = cgroup,
		.scale = s->scale ? s->scale : 1.0,
		.kind = s->kind,
		.of_pattern = s->kind == SPEC_TRACEPOINT && str_has_glob(s->text),
		.tool = s->tool,
		.role = attr_role(&s->attr),
		.excludes = attr_excludes(&s->attr),
		.spec = s,
		.supported = true,
		.first = s->first,
		.leader = s->leader,
		.group_name = s->group_name,
	};
}

/* A weak group that does not fit is counted as single events. */
static void break_group(struct counters *c, size_t leader)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->counter[i].spec->leader == (int)leader) {
			c->counter[i].spec->leader = (int)i;
			c->counter[i].spec->members = 1;
			c->counter[i].grouped_read = false;
		}
}

static void close_fds(struct counter *k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (k->fd && k->fd[i] >= 0) {
			close(k->fd[i]);
			k->fd[i] = -1;
		}
}

static int open_all(struct counters *c, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		struct counter *k = &c->counter[i];
		int leader = k->spec->leader;
		int r;

		if (k->spec->kind == SPEC_TOOL)
			continue;
		r = open_counter(c, k, e);
		if (r < 0)
			return r;
		if (k->refusal == EINVAL && leader != (int)i && c->counter[leader].spec->weak) {
			for (size_t j = (size_t)leader; j <= i; j++) {
				close_fds(&c->counter[j], c->set.event[j].n_places);
				c->counter[j].refusal = 0;
				c->set.event[j].supported = true;
			}
			break_group(c, (size_t)leader);
			i = (size_t)leader - 1;
		}
	}
	return 0;
}

int counters_open(struct spec_list *specs, const char *const *cgroups, const struct target *t,
		  const struct counters_opts *o, struct counters **ret, struct err *e)
{
	struct counters *c = mem_alloc(sizeof(*c));
	int r = 0;

	c->n = specs->n;
	c->specs = specs;
	c->target = t;
	c->opts = *o;
	c->counter = mem_alloc(c->n * sizeof(*c->counter));
	c->set.event = mem_alloc(c->n * sizeof(*c->set.event));
	c->set.n = c->n;
	for (size_t i = 0; i < c->n; i++) {
		struct counter *k = &c->counter[i];
		bool leads = specs->spec[i].leader == (int)i;

		k->spec = &specs->spec[i];
		k->cgroup_fd = -1;
		/* the kernel reads a group at one instant, but not over inherited children */
		k->grouped_read = leads && k->spec->members > 1 && k->spec->members <= MAX_GROUP &&
				  (!o->inherit || t->system_wide);
		c->n_tracepoints += k->spec->kind == SPEC_TRACEPOINT;
		counters_describe(k->spec, cgroups ? cgroups[i] : NULL, &c->set.event[i]);
	}
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		r = counters_lay_out(c, &c->counter[i], e);
		if (r == 0 && cgroups && cgroups[i])
			r = c->counter[i].cgroup_fd = cgroup_open(cgroups[i], e);
		r = r > 0 ? 0 : r;
	}
	if (r == 0)
		r = open_all(c, e);
	if (r < 0)
		counters_close(c);
	else
		*ret = c;
	return r;
}

/* What has been counted since the last read; the kernel's figures only grow. */
static void counters_note(struct count_event *ev, struct counter *k, size_t i, struct count now)
{
	struct count *last = &k->last[i];

	ev->count[i] = (struct count){ k->spec->snapshot ? now.value : now.value - last->value,
				       now.enabled - last->enabled, now.running - last->running };
	*last = now;
}

/* One read for a group: { nr, enabled, running, value[nr] }, members as they were opened. */
static int read_group(struct counters *c, size_t lead, size_t i)
{
	uint64_t buf[3 + MAX_GROUP];
	ssize_t n = read(c->counter[lead].fd[i], buf, sizeof(buf));
	size_t at = 3;

	if (n < (ssize_t)(3 * sizeof(*buf)))
		return n < 0 ? -errno : -EIO;
	for (size_t j = lead; j < c->n && at < 3 + buf[0] && at < (size_t)n / sizeof(*buf); j++) {
		struct counter *k = &c->counter[j];

		if (k->spec->leader != (int)lead || i >= c->set.event[j].n_places || k->fd[i] < 0)
			continue;
		counters_note(&c->set.event[j], k, i, (struct count){ buf[at++], buf[1], buf[2] });
	}
	return 0;
}

static int counters_read_one(struct counters *c, size_t j, size_t i)
{
	struct counter *k = &c->counter[j];
	struct counter *leader = &c->counter[k->spec->leader];
	struct count now;

	if (k->fd[i] < 0)
		return 0;
	if (leader->grouped_read && i < c->set.event[k->spec->leader].n_places &&
	    leader->fd[i] >= 0)
		return leader == k ? read_group(c, j, i) : 0;
	if (read(k->fd[i], &now, sizeof(now)) != sizeof(now))
		return errno ? -errno : -EIO;
	counters_note(&c->set.event[j], k, i, now);
	return 0;
}

int counters_read(struct counters *c, struct err *e)
{
	for (size_t j = 0; j < c->n; j++)
		for (size_t i = 0; i < c->set.event[j].n_places; i++) {
			int r = counters_read_one(c, j, i);

			if (r < 0)
				return err_set(e, -r, "cannot read the count of %s: %s",
					       c->counter[j].spec->name, strerror(-r));
		}
	return 0;
}

struct count_set *counters_set(struct counters *c)
{
	return &c->set;
}

void counters_totals(struct counters *c)
{
	for (size_t j = 0; j < c->n; j++)
		memcpy(c->set.event[j].count, c->counter[j].last,
		       c->set.event[j].n_places * sizeof(struct count));
}

/* name NULL: all. */
static int switch_some(struct counters *c, const char *name, unsigned long request)
{
	int r = name ? -ENOENT : 0;

	for (size_t j = 0; j < c->n; j++) {
		struct counter *k = &c->counter[j];
		const struct counter *leader = &c->counter[k->spec->leader];

		if (name && strcmp(c->set.event[j].name, name) != 0)
			continue;
		r = r == -ENOENT ? 0 : r;

		for (size_t i = 0; i < c->set.event[j].n_places; i++) {
			bool led = leader != k && i < c->set.event[k->spec->leader].n_places &&
				   leader->fd[i] >= 0;

			/* members count while their leader does */
			if (k->fd[i] >= 0 && !led && ioctl(k->fd[i], request, 0) < 0)
				r = -errno;
		}
	}
	return r;
}

int counters_enable(struct counters *c, struct err *e)
{
	int r = switch_some(c, NULL, PERF_EVENT_IOC_ENABLE);

	return r < 0 ? err_set(e, -r, "cannot start counting: %s", strerror(-r)) : 0;
}

int counters_disable(struct counters *c)
{
	return switch_some(c, NULL, PERF_EVENT_IOC_DISABLE);
}

int counters_switch(struct counters *c, const char *name, bool on)
{
	return switch_some(c, name, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
}

int counters_refusal(const struct counters *c, size_t i)
{
	return c->counter[i].refusal;
}

void counters_close(struct counters *c)
{
	VEC(int) all = { 0 };

	if (!c)
		return;
	for (size_t j = 0; j < c->n; j++)
		for (size_t i = 0; c->counter[j].fd && i < c->set.event[j].n_places; i++)
			vec_push(&all, c->counter[j].fd[i]);
	/* the kernel takes tracepoints down in the name of a child */
	if (c->n_tracepoints > 1) {
		counters_disable(c);
		close_events(all.data, all.n);
	} else {
		vec_each (&all, fd)
			if (*fd >= 0)
				close(*fd);
	}
	vec_free(&all);
	for (size_t j = 0; j < c->n; j++) {
		struct counter *k = &c->counter[j];
		struct count_event *ev = &c->set.event[j];

		if (k->cgroup_fd >= 0)
			close(k->cgroup_fd);
		free(k->fd);
		free(k->last);
		free(ev->place);
		free(ev->count);
	}
	free(c->counter);
	free(c->set.event);
	free(c);
}
