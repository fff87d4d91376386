/* SPDX-License-Identifier: MIT */
#include "live/capture/offcpu.h"

#include <string.h>

#include "live/capture/sample.h"

#define FIELDS                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define HEAD_MAX 256u /* bytes of a record that are no frames */
#define FRAMES_MAX ((SAMPLE_MAX - HEAD_MAX) / 8 / 2)
#define EARLY_MAX 65536 /* waits that wait for their stacks */

/* Which of a kernel stack's frames belong to switching, waking and interrupts. */

#define HEAD 8 /* the tracepoint's and BPF's own frames, and the scheduler's, are among these */

static bool is_interrupt(const char *name)
{
	static const char *const starts[] = { "asm_sysvec_",	  "sysvec_",	  "asm_common_int",
					      "common_interrupt", "__do_softirq", "handle_softirqs",
					      "do_softirq",	  "irq_exit",	  "el1h_64_irq",
					      "el1_interrupt",	  "el0t_64_irq",  "el0_interrupt",
					      "el0_irq",	  "asm_exc_nmi",  "exc_nmi" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(name, starts[i]))
			return true;
	return false;
}

static bool offcpu_kernel_want(void *ctx, const char *name)
{
	return strcmp(name, "__schedule") == 0 || strcmp(name, "try_to_wake_up") == 0 ||
	       is_interrupt(name);
}

static void offcpu_kernel_add(void *ctx, const char *name, uint64_t start, uint64_t end)
{
	struct offcpu_kernel *k = ctx;
	struct offcpu_ranges *to = strcmp(name, "__schedule") == 0	 ? &k->schedule
				   : strcmp(name, "try_to_wake_up") == 0 ? &k->wake
									 : &k->interrupt;

	vec_push(&to->v, (struct offcpu_range){ start, end });
}

/* Frames are return addresses: one right behind a function is still its. */
static bool in_ranges(const struct offcpu_ranges *r, uint64_t addr)
{
	vec_each (&r->v, x)
		if (addr > x->start && addr <= x->end)
			return true;
	return false;
}

/* How many of the innermost frames are the scheduler's own. */
static uint32_t offcpu_kernel_skip(const struct offcpu_ranges *r, const uint64_t *frames,
				   uint32_t n)
{
	for (uint32_t i = 0; i < n && i < HEAD; i++)
		if (in_ranges(r, frames[i]))
			return i + 1 < n ? i + 1 : i;
	return 0;
}

/* How many of the innermost frames are an interrupt's; 0: none. */
static uint32_t offcpu_kernel_interrupt(const struct offcpu_kernel *k, const uint64_t *frames,
					uint32_t n)
{
	for (uint32_t i = n; i > 0; i--)
		if (in_ranges(&k->interrupt, frames[i - 1]))
			return i;
	return 0;
}

void offcpu_add_event(struct spec_list *l)
{
	struct event_spec s = { .name = WAKER_EVENT,
				.text = WAKER_EVENT,
				.kind = SPEC_SOFTWARE,
				.members = 1,
				.scale = 1.0,
				.terms = SPEC_TERM_PERIOD | SPEC_TERM_NAME | SPEC_TERM_CALL_GRAPH,
				.period = 1,
				.call_graph = "no" };

	s.attr.type = PERF_TYPE_SOFTWARE;
	s.attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	capture_add_spec(l, s);
}

bool offcpu_is_event(const struct event_spec *s)
{
	return s->kind == SPEC_SOFTWARE && s->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       strcmp(s->name, WAKER_EVENT) == 0;
}

int offcpu_start(struct offcpu *o, struct walker *w, struct capture *c, struct err *e)
{
	const struct target *t = c->target;

	o->walker = w;
	o->wakers = c->opts.off.wakers;
	o->record = mem_alloc(SAMPLE_MAX);
	for (size_t i = 0; i < c->n; i++)
		if (offcpu_is_event(c->event[i].spec))
			o->event = &c->event[i];
	if (!o->event || !o->event->n_ids)
		return err_set(e, EINVAL, "the event for time off the CPU is not open");
	/* nobody samples it: it only lends its number to what is made here */
	o->event->attr.sample_type = FIELDS | (o->wakers ? PERF_SAMPLE_RAW : 0);
	o->event->attr.sample_max_stack = 0;
	for (size_t i = 0; !t->system_wide && i < t->threads.n; i++)
		if (walker_off_target(w, t->threads.tid[i], !c->opts.on_exec, e) < 0)
			return -e->code;
	return walker_off_start(w, e);
}

void offcpu_kernel(struct offcpu *o, const struct ksyms *k)
{
	if (!o->has_kernel)
		ksyms_each(k, offcpu_kernel_want, offcpu_kernel_add, &o->kernel);
	o->has_kernel = true;
}

static void offcpu_add_stack(struct offcpu *o, const struct walker_sample *s)
{
	uint64_t *at = map_at(&o->index, s->stack);
	uint32_t n_kernel = s->n_kernel, n_user = s->n_user;
	struct offcpu_stack *st;

	if (*at)
		return; /* it was forgotten in the kernel, and sent again */
	if (n_kernel > FRAMES_MAX / 2)
		n_kernel = FRAMES_MAX / 2;
	if (n_user > FRAMES_MAX - n_kernel)
		n_user = FRAMES_MAX - n_kernel;
	st = vec_add(&o->stacks);
	*at = o->stacks.n;
	st->pid = s->pid;
	st->tid = s->tid;
	st->n_kernel = n_kernel;
	st->n_user = n_user;
	memcpy(st->comm, s->comm, sizeof(st->comm));
	st->frames = arena_alloc(&o->frames, (n_kernel + n_user + 1) * sizeof(*st->frames));
	if (n_kernel)
		memcpy(st->frames, s->kernel, n_kernel * sizeof(*st->frames));
	if (n_user)
		memcpy(st->frames + n_kernel, s->user, n_user * sizeof(*st->frames));
}

static const struct offcpu_stack *find_stack(const struct offcpu *o, uint64_t hash)
{
	const uint64_t *at = hash ? map_find(&o->index, hash) : NULL;

	return at && *at ? &o->stacks.data[*at - 1] : NULL;
}

bool offcpu_take(struct offcpu *o, const struct walker_sample *s)
{
	if (s->kind == WALKER_SAMPLE)
		return false;
	if (s->kind == WALKER_STACK)
		offcpu_add_stack(o, s);
	else if (!o->leave_out || s->pid != o->leave_out)
		vec_push(&o->early, *s);
	return true;
}

/* --- records ---------------------------------------------------------------------------------- */

/* The part of the kernel's frames that is of interest. */
struct part {
	const uint64_t *frames;
	uint32_t n;
};

static struct part kernel_part(const struct offcpu_stack *st, const struct offcpu_ranges *skip)
{
	uint32_t n = offcpu_kernel_skip(skip, st->frames, st->n_kernel);

	return (struct part){ st->frames + n, st->n_kernel - n };
}

static uint8_t *offcpu_chain(const struct offcpu *o, const struct offcpu_stack *st, uint8_t *p)
{
	struct part k = st ? kernel_part(st, &o->kernel.schedule) : (struct part){ 0 };

	return sample_chain(p, k.frames, k.n, st ? st->frames + st->n_kernel : NULL,
			    st ? st->n_user : 0);
}

/* An interrupt wakes in the name of whoever it interrupted: its own frames only. */
static uint8_t *put_waker(struct offcpu *o, const struct offcpu_stack *st, uint8_t *p)
{
	struct waker_head h = { .magic = WAKER_MAGIC };
	struct part k = { 0 };
	uint32_t size, irq = 0;
	uint64_t *seen;

	if (st) {
		k = kernel_part(st, &o->kernel.wake);
		irq = offcpu_kernel_interrupt(&o->kernel, k.frames, k.n);
		memcpy(h.comm, st->comm, sizeof(h.comm));
		h.pid = st->pid;
		h.tid = st->tid;
		h.n_kernel = irq ? irq : k.n;
		h.n_user = irq ? 0 : st->n_user;
	}
	if (irq) {
		h.flags = WAKER_INTERRUPT;
		memcpy(h.comm, "interrupt", sizeof("interrupt"));
	} else if (st && (seen = map_at(&o->waker_pids, (uint32_t)st->pid)) && !*seen) {
		*seen = 1;
		vec_push(&o->waker_list, st->pid);
	}
	/* a sample without one has an empty one: all samples of an event are alike */
	size = (uint32_t)(sizeof(h) + (h.n_kernel + h.n_user) * sizeof(uint64_t));
	if (!st)
		h.magic = 0;
	p = sample_put(p, &size, sizeof(size));
	p = sample_put(p, &h, sizeof(h));
	p = sample_put(p, k.frames, h.n_kernel * sizeof(uint64_t));
	return sample_put(p, st ? st->frames + st->n_kernel : NULL, h.n_user * sizeof(uint64_t));
}

static uint64_t ip_of(const struct offcpu *o, const struct offcpu_stack *st, bool *user)
{
	struct part k;

	*user = st && st->n_user;
	if (*user)
		return st->frames[st->n_kernel];
	if (!st || !st->n_kernel)
		return 0;
	k = kernel_part(st, &o->kernel.schedule);
	return k.frames[0];
}

static size_t make_record(struct offcpu *o, const struct walker_sample *s)
{
	const struct offcpu_stack *st = find_stack(o, s->stack);
	struct sample_head h = { .id = o->event->id[0],
				 .pid = s->pid,
				 .tid = s->tid,
				 .time = s->time,
				 .cpu = s->cpu,
				 .period = s->period };
	uint8_t *p;
	bool user;

	h.ip = ip_of(o, st, &user);
	p = sample_begin(o->record, FIELDS, &h);
	p = offcpu_chain(o, st, p);
	if (o->wakers)
		p = put_waker(o, find_stack(o, s->waker), p);
	o->ns += s->period;
	o->samples++;
	o->stackless += !st;
	return sample_end(o->record, p, user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}

static int take_sum(void *ctx, const struct walker_sample *s)
{
	offcpu_take(ctx, s);
	return 0;
}

void offcpu_flush(struct offcpu *o)
{
	walker_off_take(o->walker, false, take_sum, o);
}

int64_t offcpu_drain(struct offcpu *o, bool end, ring_fn *fn, void *ctx, struct err *e)
{
	int64_t bytes = 0;
	size_t kept = 0;

	if (end || walker_off_due(o->walker))
		walker_off_take(o->walker, end, take_sum, o);
	for (size_t i = 0; i < o->early.n; i++) {
		const struct walker_sample *s = &o->early.data[i];
		size_t n;
		int r;

		if (!end && o->early.n < EARLY_MAX &&
		    ((s->stack && !find_stack(o, s->stack)) ||
		     (s->waker && !find_stack(o, s->waker)))) {
			o->early.data[kept++] = *s;
			continue;
		}
		n = make_record(o, s);
		r = fn(ctx, o->record, n, e);
		if (r < 0)
			return r;
		bytes += (int64_t)n;
	}
	o->early.n = kept;
	return bytes;
}

void offcpu_free(struct offcpu *o)
{
	vec_free(&o->kernel.schedule.v);
	vec_free(&o->kernel.wake.v);
	vec_free(&o->kernel.interrupt.v);
	map_free(&o->index);
	map_free(&o->waker_pids);
	vec_free(&o->waker_list);
	vec_free(&o->stacks);
	vec_free(&o->early);
	arena_free(&o->frames);
	free(o->record);
	*o = (struct offcpu){ 0 };
}
