/* SPDX-License-Identifier: MIT */
#include "live/walk/walked.h"

#include <string.h>
#include <time.h>

#include "kern/cgroup.h"
#include "live/about/mmap2.h"
#include "live/capture/sample.h"

/* What a record made here can hold. */
#define FIELDS (SAMPLE_HEAD | PERF_SAMPLE_CALLCHAIN)
#define WALKED_CGROUPS 16
#define COPY_SIZE 32768u      /* bytes of a stack, where the kernel copies them */
#define COPY_SIZE_USER 8192u  /* for those whose rings are small */
#define HITS_COPIES 5000      /* a second and CPU: a program's first calls come in a burst */
#define HITS_RING (32u << 20) /* tracepoints may come by the hundred thousand a second */

/* Events that make no samples in the kernel. */
static bool is_dummy(const struct event_spec *s)
{
	return (s->kind == SPEC_SOFTWARE && s->attr.config == PERF_COUNT_SW_DUMMY) ||
	       offcpu_is_event(s);
}

int walked_fits(const struct spec_list *specs, const struct capture_opts *o, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < specs->n; i++) {
		const struct event_spec *s = &specs->spec[i];

		if (is_dummy(s))
			continue;
		if (s->sample_read || (s->terms & SPEC_TERM_CALL_GRAPH))
			return err_set(e, EOPNOTSUPP, "%s has fields of its own", s->name);
		if (walked_hits_is(s) && walked_hits_fits(s, e) < 0)
			return -EOPNOTSUPP;
		n += !walked_hits_is(s);
	}
	if (n > WALKER_EVENTS_MAX)
		return err_set(e, EOPNOTSUPP, "there are more than %d events", WALKER_EVENTS_MAX);
	if (o->overwrite || o->no_samples || o->user_regs)
		return err_set(e, EOPNOTSUPP,
			       "samples are overwritten, have registers, or none are wanted");
	if (n && (o->data_addr || o->weight || o->phys_addr || o->raw || o->data_page ||
		  o->code_page || o->intr_regs || o->user_regs || o->cgroup || o->branch_type))
		return err_set(e, EOPNOTSUPP, "samples are to hold more than their stacks");
	if (o->has_clock && o->clock_id != CLOCK_MONOTONIC)
		return err_set(e, EOPNOTSUPP, "another clock was asked for");
	return 0;
}

int walked_fits_off(const struct capture_opts *o, struct err *e)
{
	if (o->has_clock && o->clock_id != CLOCK_MONOTONIC) {
		err_set(e, EINVAL, "time off the CPU is measured by CLOCK_MONOTONIC");
		return err_hint(e, "leave out -k");
	}
	if (o->overwrite || o->no_tracking) {
		err_set(e, EINVAL, "time off the CPU is summed, and a flight recorder forgets");
		return err_hint(e, "leave out --overwrite");
	}
	return 0;
}

void walked_prepare(const struct walked *w, const struct spec_list *specs, struct capture_opts *o)
{
	o->has_clock = true;
	o->clock_id = CLOCK_MONOTONIC;
	if (w->copies) {
		o->chain = CAPTURE_DWARF;
		o->stack_size = geteuid() == 0 ? COPY_SIZE : COPY_SIZE_USER;
		return;
	}
	if (w->samples)
		o->chain = CAPTURE_WALKED;
	o->prompt = true; /* a new mapping is needed by the next sample */
	for (size_t i = 0; w->samples && i < specs->n; i++)
		o->apart |=
			walked_hits_is(&specs->spec[i]); /* not each of these is worth waking up */
	o->few_records = w->samples && !o->apart; /* samples come through the walker's own ring */
}

/* The cgroups of -G: the event's own, else all that are named. */
static int open_cgroups(const struct spec_list *specs, const struct capture_opts *o, int *fd,
			size_t max, struct err *e)
{
	size_t own = 0;
	int n = 0;

	while (own < specs->n && !offcpu_is_event(&specs->spec[own]))
		own++;
	for (size_t i = 0; o->cgroups && i < specs->n && (size_t)n < max; i++) {
		const char *name =
			own < specs->n && o->cgroups[own] ? o->cgroups[own] : o->cgroups[i];
		bool twice =
			i > 0 && o->cgroups[i - 1] && name && strcmp(o->cgroups[i - 1], name) == 0;

		if (!name || twice)
			continue;
		fd[n] = cgroup_open(name, e);
		if (fd[n++] < 0)
			return -e->code;
	}
	return n;
}

static void off_opts(struct walker_opts *wo, const struct target *t, const struct capture_opts *o)
{
	wo->off = o->off;
	wo->off.all = t->system_wide;
	wo->off.inherit = o->inherit && !o->per_thread;
	wo->off.kthreads = !t->system_wide;
	wo->off.cpus = t->cpus.cpu;
	wo->off.n_cpus = t->cpus.n && t->cpus.cpu[0] >= 0 && t->cpus_named ? t->cpus.n : 0;
}

int walked_open(struct walked *w, const struct spec_list *specs, const struct target *t,
		const struct capture_opts *o, bool samples, struct err *e)
{
	struct walker_opts wo = {
		.depth = o->max_stack,
		.copy_rate = 100,
		.pids = t->system_wide || t->command ? NULL : t->threads.tid,
		.n_pids = t->system_wide || t->command ? 0 : t->threads.n,
		.all = t->system_wide,
		.no_user = o->all_kernel,
		.no_kernel = o->all_user,
		.cache = true,
	};
	int fd[WALKED_CGROUPS], n = 0, r;

	*w = (struct walked){ .samples = samples, .max_stack = o->max_stack };
	for (size_t i = 0; samples && i < specs->n; i++) {
		wo.hits |= walked_hits_is(&specs->spec[i]);
		wo.events += !is_dummy(&specs->spec[i]) && !walked_hits_is(&specs->spec[i]);
	}
	if (wo.hits) {
		wo.ring_bytes = HITS_RING;
		wo.copy_rate = HITS_COPIES;
	}
	off_opts(&wo, t, o);
	if (o->off.on)
		n = open_cgroups(specs, o, fd, WALKED_CGROUPS, e);
	if (n < 0)
		return n;
	wo.off.cgroups = fd;
	wo.off.n_cgroups = (size_t)n;
	r = walker_open(&wo, &w->walker, e);
	for (int i = 0; i < n; i++)
		close(fd[i]);
	if (r < 0 && samples && !o->off.on) {
		wo.plain = w->copies = true;
		wo.hits = false;
		return walker_open(&wo, &w->walker, NULL) < 0 ? r : 0;
	}
	if (r == 0 && wo.hits)
		r = walked_hits_open(specs, w->walker, e);
	if (r < 0)
		walked_close(w);
	return r;
}

/* Tracepoints and probes: where they are, and who. */
static int start_hits(struct walked *w, struct capture *c, struct err *e)
{
	const struct target *t = c->target;
	int r = walked_hits_start(&w->hits, w->walker, c, e);

	if (r < 0 || !w->hits.on || c->opts.off.on)
		return r;
	for (size_t i = 0; !t->system_wide && i < t->threads.n && r == 0; i++)
		r = walker_off_target(w->walker, t->threads.tid[i], !c->opts.on_exec, e);
	return r < 0 ? r : walker_off_start(w->walker, e);
}

int walked_attach(struct walked *w, struct capture *c, struct err *e)
{
	const struct capture_event *tracks = capture_tracking(c);

	w->capture = c;
	w->record = mem_alloc(SAMPLE_MAX);
	if (c->opts.off.on && offcpu_start(&w->off, w->walker, c, e) < 0)
		return -e->code;
	w->side_type = (tracks ? tracks : c->event)->attr.sample_type;
	if (w->copies)
		return walked_hits_copies(&w->hits, w->walker, c, e);
	if (!w->samples)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		struct capture_event *ev = &c->event[i];

		if (is_dummy(ev->spec) || walked_hits_is(ev->spec))
			continue;
		if (ev->attr.sample_type & ~(uint64_t)FIELDS)
			return err_set(e, EOPNOTSUPP, "%s has fields that are not walked",
				       ev->spec->name);
		for (size_t k = 0; k < ev->n_fds; k++)
			if (ev->fd[k] >= 0 && walker_attach(w->walker, ev->fd[k], ev->id[0], e) < 0)
				return -e->code;
		ev->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		ev->attr.sample_max_stack = (uint16_t)w->max_stack;
		w->sample_type = ev->attr.sample_type;
	}
	return start_hits(w, c, e);
}

static int walked_gather(void *ctx, const void *data, size_t n, struct err *e)
{
	struct walked *w = ctx;

	if (w->used + n > w->cap) {
		w->cap = w->cap * 2 > w->used + n ? w->cap * 2 : w->used + n + (64u << 10);
		w->buffer = mem_grow(w->buffer, w->cap);
	}
	memcpy(w->buffer + w->used, data, n);
	w->used += n;
	return 0;
}

/* --- side-band for the walker, in the order of time ------------------------------------------- */

struct side {
	uint64_t time;
	const struct perf_event_header *h;
};

static int walked_by_time(const void *a, const void *b)
{
	const struct side *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->h < y->h ? -1 : x->h > y->h;
}

/* Where the time stands, counted back from a record's end. */
static size_t time_back(uint64_t t)
{
	return 8 + 8 * (size_t)__builtin_popcountll(t & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
							 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
}

static bool mmap_of(const struct perf_event_header *h, uint64_t time, struct walker_mmap *ret)
{
	const struct mmap2 *r = (const void *)h;
	bool has_id = h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;

	if (h->size < sizeof(*r) + 8)
		return false;
	*ret = (struct walker_mmap){ .pid = (int32_t)r->pid,
				     .tid = (int32_t)r->tid,
				     .time = time,
				     .start = r->addr,
				     .len = r->len,
				     .pgoff = r->pgoff,
				     .path = r->name };
	if (has_id && r->id_size <= sizeof(r->id)) {
		ret->build_id = r->id;
		ret->build_id_size = r->id_size;
	} else if (!has_id) {
		ret->maj = r->file.maj;
		ret->min = r->file.min;
		ret->ino = r->file.ino;
		ret->ino_generation = r->file.generation;
	}
	return true;
}

static void walked_tell(struct walked *w, const struct side *s, walked_side_fn *fn, void *ctx)
{
	const uint32_t *u = (const uint32_t *)(s->h + 1);
	struct walker_mmap m;
	bool mapped = s->h->type == PERF_RECORD_MMAP2 && mmap_of(s->h, s->time, &m);

	if (fn && s->h->size >= 24)
		fn(ctx, s->h, mapped ? &m : NULL);
	if (!w->walker)
		return;
	switch (s->h->type) {
	case PERF_RECORD_MMAP2:
		if (mapped)
			walker_mmap(w->walker, &m);
		break;
	case PERF_RECORD_FORK: /* pid, ppid, tid, ptid */
		if (s->h->size >= 24 && u[0] != u[1])
			walker_fork(w->walker, (int32_t)u[0], (int32_t)u[1], s->time);
		break;
	case PERF_RECORD_EXIT:
		if (s->h->size >= 24)
			walker_exit(w->walker, (int32_t)u[0], (int32_t)u[2], s->time);
		break;
	case PERF_RECORD_COMM:
		if (s->h->misc & PERF_RECORD_MISC_COMM_EXEC)
			walker_exec(w->walker, (int32_t)u[0], s->time);
		break;
	default: break;
	}
}

static void tell_walker(struct walked *w, walked_side_fn *fn, void *ctx)
{
	VEC(struct side) sides = { 0 };
	size_t back = time_back(w->side_type);

	for (size_t at = 0; w->used - at >= sizeof(struct perf_event_header);) {
		const struct perf_event_header *h = (const void *)(w->buffer + at);
		struct side s = { .h = h };

		if (h->size < sizeof(*h) || h->size > w->used - at)
			break;
		if (h->size >= sizeof(*h) + back)
			memcpy(&s.time, (const uint8_t *)h + h->size - back, sizeof(s.time));
		if (h->type == PERF_RECORD_MMAP2 || h->type == PERF_RECORD_FORK ||
		    h->type == PERF_RECORD_EXIT || h->type == PERF_RECORD_COMM)
			vec_push(&sides, s);
		at += h->size;
	}
	if (sides.n)
		qsort(sides.data, sides.n, sizeof(*sides.data), walked_by_time);
	vec_each (&sides, s)
		walked_tell(w, s, fn, ctx);
	vec_free(&sides);
}

int walked_side(struct walked *w, struct ring *ring, size_t n, walked_side_fn *fn, void *ctx,
		struct err *e)
{
	int64_t k = 0;

	for (size_t i = 0; i < n && k >= 0; i++)
		k = ring_drain(&ring[i], walked_gather, w, e);
	tell_walker(w, fn, ctx);
	w->used = 0;
	return k < 0 ? (int)k : 0;
}

/* --- samples from the walker ------------------------------------------------------------------ */

struct out {
	struct walked *w;
	ring_fn *fn;
	void *ctx;
	struct err *e;
	int64_t bytes;
};

static int walked_on_sample(void *ctx, const struct walker_sample *s)
{
	struct out *o = ctx;
	const struct sample_head h = { .id = s->id,
				       .ip = s->ip,
				       .pid = s->pid,
				       .tid = s->tid,
				       .time = s->time,
				       .addr = s->addr,
				       .cpu = s->cpu,
				       .period = s->period };
	uint8_t *record = o->w->record, *p;
	size_t size;
	int r;

	if (walked_hits_stack(&o->w->hits, s))
		return 0;
	/* ours is not told of, but may have the only copy of a stack */
	if (s->pid == o->w->leave_out && s->pid && s->kind != WALKER_STACK)
		return 0;
	if (o->w->off.walker && offcpu_take(&o->w->off, s))
		return 0;
	p = sample_begin(record, o->w->sample_type, &h);
	p = sample_chain(p, s->kernel, s->n_kernel, s->user, s->n_user);
	size = sample_end(record, p,
			  s->user_mode ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
	o->bytes += (int64_t)size;
	r = o->fn(o->ctx, record, size, o->e);
	return r < 0 ? r : 0;
}

int64_t walked_drain(struct walked *w, bool end, ring_fn *fn, void *ctx, struct err *e)
{
	struct out o = { .w = w, .fn = fn, .ctx = ctx, .e = e };
	int64_t n = capture_drain(w->capture, walked_gather, w, e);
	int r;

	if (n < 0)
		return n;
	r = walker_take(w->walker, walked_on_sample, &o, e);
	if (w->used && r >= 0) {
		tell_walker(w, NULL, NULL);
		r = w->hits.on ? walked_hits_records(&w->hits, w->buffer, w->used, fn, ctx, e)
			       : fn(ctx, w->buffer, w->used, e);
		o.bytes += (int64_t)w->used;
		w->used = 0;
	}
	if (r >= 0)
		r = walker_poll(w->walker, 0, walked_on_sample, &o, e);
	if (r >= 0 && w->hits.on)
		r = walked_hits_drain(&w->hits, end, fn, ctx, e) < 0 ? -e->code : 0;
	if (r < 0 || !w->off.walker)
		return r < 0 ? r : o.bytes;
	n = offcpu_drain(&w->off, end, fn, ctx, e);
	return n < 0 ? n : o.bytes + n;
}

void walked_switch(struct walked *w, bool on)
{
	if (w->off.walker)
		walker_off_switch(w->walker, on);
}

void walked_close(struct walked *w)
{
	walker_close(w->walker);
	walked_hits_free(&w->hits);
	offcpu_free(&w->off);
	free(w->buffer);
	free(w->record);
	*w = (struct walked){ 0 };
}

void walked_stats(const struct walked *w, struct walker_stats *ret)
{
	walker_stats(w->walker, ret);
	for (unsigned i = 0; i < UNWIND_END_MAX; i++) {
		ret->end[i] += w->hits.end[i];
		ret->samples += w->hits.end[i];
	}
}

double walked_whole(const struct walker_stats *s)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < UNWIND_END_MAX; i++)
		all += i == UNWIND_NONE ? 0 : s->end[i]; /* the kernel's threads have none */
	return all ? 100.0 * (double)s->end[UNWIND_BOTTOM] / (double)all : 100;
}
