/* SPDX-License-Identifier: MIT */
#include "live/walk/walked.h"

#include <elf.h>
#include <string.h>

#include "event/syscall/syscall.h"
#include "kern/cpu.h"
#include "kern/probe_events.h"
#include "kern/tracefs.h"
#include "live/capture/sample.h"

/* A stack is taken right before its sample. What is older belongs to a hit whose own was lost. */
#define CLOSE_NS 10000000u
/* A stack may be on its way while the sample of an interrupt is there already. */
#define ORDER_SURE 64
#define YOUNG_NS 1000000u
/* How long stacks are kept at least: longer than the walker works on one. */
#define KEEP_NS 1500000000u
#define KEEP_BYTES (32u << 20)

int walked_hits_fits(const struct event_spec *s, struct err *e)
{
	if (!s->subsys || strcmp(s->subsys, "ftrace") == 0)
		return err_set(e, EOPNOTSUPP, "%s is an event of ftrace's own", s->name);
	if (s->terms & (SPEC_TERM_CALL_GRAPH | SPEC_TERM_TIME))
		return err_set(e, EOPNOTSUPP, "%s has fields of its own", s->name);
	return 0;
}

/* --- where ------------------------------------------------------------------------------------ */

static const struct probe_event *probe_of(const struct probe_events *list,
					  const struct event_spec *s)
{
	vec_each (&list->list, p)
		if (strcmp(p->group, s->subsys) == 0 && strcmp(p->event, s->event) == 0)
			return p;
	return NULL;
}

/* One of the kernel's own tracepoints, or a system call's. */
static int attach_point(const struct event_spec *s, struct walker *w, struct err *e)
{
	bool enter = str_starts(s->event, "sys_enter_");

	if (strcmp(s->subsys, "syscalls") == 0 && (enter || str_starts(s->event, "sys_exit_")))
		return walker_hit_call(
			w, syscall_number(syscall_native(), s->event + (enter ? 10 : 9)), !enter,
			e);
	return walker_hit_tracepoint(w, s->event, e);
}

/* "do_sys_open+4 arg=..." or "/bin/ls:0x1234(0x99) arg=..." */
static int attach_probe(const struct probe_event *p, struct walker *w, struct err *e)
{
	AUTO_FREE char *target = mem_strndup(p->where, strcspn(p->where, " "));
	struct walker_probe probe = { .target = target, .user = p->user, .ret = p->ret };
	char *at = strrchr(target, p->user ? ':' : '+'), *end;

	if (at) {
		*at = '\0';
		probe.offset = strtoull(at + 1, &end, 0);
	}
	return walker_hit_probe(w, &probe, e);
}

static int read_probes(struct probe_events *ret, struct err *e)
{
	const char *root = tracefs_find(e);

	return root ? probe_events_read(root, ret, e) : -e->code;
}

int walked_hits_open(const struct spec_list *specs, struct walker *w, struct err *e)
{
	struct probe_events probes = { 0 };
	int r = read_probes(&probes, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < specs->n && r == 0; i++) {
		const struct event_spec *s = &specs->spec[i];

		/* probes wait until the events are open */
		if (walked_hits_is(s) && !probe_of(&probes, s))
			r = attach_point(s, w, e);
	}
	probe_events_free(&probes);
	return r;
}

static void walked_hits_lay_out(struct walked_hits *h, uint64_t sample_type)
{
	const uint64_t first = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;

	h->sample_type = sample_type;
	h->tid_at = sample_size(sample_type & first) + 4; /* behind the process's */
	h->time_at = sample_size(sample_type & (first | PERF_SAMPLE_TID));
	h->chain_at = sample_size(sample_type & SAMPLE_HEAD);
}

int walked_hits_start(struct walked_hits *h, struct walker *w, struct capture *c, struct err *e)
{
	const uint64_t needed =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	struct probe_events probes = { 0 };
	int r = read_probes(&probes, e);

	for (size_t i = 0; i < c->n && r == 0; i++) {
		struct capture_event *ev = &c->event[i];
		const struct probe_event *p;

		if (!walked_hits_is(ev->spec))
			continue;
		if ((ev->attr.sample_type &
		     (needed | PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK)) != needed ||
		    (h->on && ev->attr.sample_type != h->sample_type)) {
			r = err_set(e, EOPNOTSUPP, "%s has fields of its own", ev->spec->name);
			break;
		}
		h->on = true;
		walked_hits_lay_out(h, ev->attr.sample_type);
		h->regs = ev->attr.sample_regs_user;
		ev->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
		ev->attr.sample_regs_user = 0;
		ev->attr.exclude_callchain_user = c->opts.kernel_chains;
		p = probe_of(&probes, ev->spec);
		if (p)
			r = attach_probe(p, w, e);
	}
	probe_events_free(&probes);
	return r;
}

int walked_hits_copies(struct walked_hits *h, struct walker *w, struct capture *c, struct err *e)
{
	const uint64_t copied = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	h->on = h->copies = true;
	h->walker = w;
	for (size_t i = 0; i < c->n; i++) {
		struct perf_event_attr *a = &c->event[i].attr;

		if (!(a->sample_type & PERF_SAMPLE_STACK_USER))
			continue;
		if (!(a->sample_type & PERF_SAMPLE_TIME) ||
		    a->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK) ||
		    (h->sample_type && a->sample_type != h->sample_type))
			return err_set(e, EOPNOTSUPP, "%s has fields of its own",
				       c->event[i].spec->name);
		walked_hits_lay_out(h, a->sample_type);
		h->regs = a->sample_regs_user;
		a->sample_type &= ~copied;
		a->sample_regs_user = a->sample_stack_user = 0;
		a->exclude_callchain_user = 0;
	}
	return 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static void generation_free(struct hit_generation *g)
{
	vec_each (&g->threads, t)
		vec_free(&t->stacks);
	vec_free(&g->threads);
	map_free(&g->thread);
	arena_free(&g->frames);
	*g = (struct hit_generation){ 0 };
}

/* The last one not after time; next: the first after it. */
static struct hit_stack *stack_in(const struct hit_generation *g, uint32_t tid, uint64_t time,
				  bool next)
{
	const uint64_t *at = map_find(&g->thread, tid);
	struct hit_thread *t = at ? &g->threads.data[*at - 1] : NULL;
	size_t low = 0, high = t ? t->stacks.n : 0;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->stacks.data[mid].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	if (next)
		return t && low < t->stacks.n ? &t->stacks.data[low] : NULL;
	return low ? &t->stacks.data[low - 1] : NULL;
}

/* The thread's nearest on that side of time. */
static struct hit_stack *stack_near(const struct walked_hits *h, uint32_t tid, uint64_t time,
				    bool next)
{
	struct hit_stack *a = stack_in(&h->now, tid, time, next),
			 *b = stack_in(&h->before, tid, time, next);

	return a && (!b || (next ? a->time <= b->time : a->time >= b->time)) ? a : b;
}

static void walked_hits_add_stack(struct hit_generation *g, uint32_t tid, struct hit_stack s)
{
	uint64_t *at = map_at(&g->thread, tid);
	struct hit_thread *t;
	size_t i;

	if (!*at) {
		vec_push(&g->threads, (struct hit_thread){ 0 });
		*at = g->threads.n;
	}
	t = &g->threads.data[*at - 1];
	vec_push(&t->stacks, s);
	for (i = t->stacks.n - 1; i > 0 && t->stacks.data[i - 1].time > s.time; i--)
		t->stacks.data[i] = t->stacks.data[i - 1];
	t->stacks.data[i] = s;
	g->bytes += sizeof(s) + s.n * sizeof(uint64_t);
}

bool walked_hits_stack(struct walked_hits *h, const struct walker_sample *s)
{
	struct hit_stack new = {
		.time = s->time, .mark = s->addr, .n = s->n_user, .end = (uint8_t)s->end
	};
	struct hit_stack *old;

	if (s->kind != WALKER_HIT && s->kind != WALKER_HIT_LATER)
		return false;
	new.later = s->kind == WALKER_HIT_LATER;
	if (s->n_user && !new.later)
		new.frames = arena_dup(&h->now.frames, s->user, s->n_user * sizeof(*s->user));
	old = stack_near(h, (uint32_t)s->tid, s->time, false);
	if (old && old->time == s->time && old->later)
		*old = new;
	else
		walked_hits_add_stack(&h->now, (uint32_t)s->tid, new);
	return true;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Where a sample's registers begin, and what follows the stack; 0: they are not there. */
static size_t copy_at(const struct walked_hits *h, const uint8_t *rec, size_t size, size_t *end)
{
	uint64_t nr, abi, stack;
	uint32_t raw;
	size_t at = h->chain_at + 8, regs;

	memcpy(&nr, rec + h->chain_at, sizeof(nr));
	if (nr > (size - at) / 8)
		return 0;
	at += nr * 8;
	if (h->sample_type & PERF_SAMPLE_RAW) {
		if (size - at < 8)
			return 0;
		memcpy(&raw, rec + at, sizeof(raw));
		if (raw > size - at - 4)
			return 0;
		at += 4 + (size_t)raw;
	}
	if (size - at < 8)
		return 0;
	memcpy(&abi, rec + at, sizeof(abi));
	regs = at;
	at += 8 + (abi ? 8u * (size_t)__builtin_popcountll(h->regs) : 0);
	*end = at;
	if (!h->copies)
		return at <= size ? regs : 0;
	if (at > size - 8)
		return 0;
	memcpy(&stack, rec + at, sizeof(stack));
	at += 8;
	if (stack && (stack > size - at || size - at - stack < 8))
		return 0;
	*end = at + (stack ? stack + 8 : 0);
	return regs;
}

static void unwind_copy(struct walked_hits *h, const uint8_t *rec, size_t regs, size_t end)
{
	struct walker_stack s = { 0 };
	struct walker_sample w = { .kind = WALKER_HIT, .end = UNWIND_NONE };
	size_t stack = regs + 8 + 8u * (size_t)__builtin_popcountll(h->regs) + 8;
	struct unwind_regs r;
	uint64_t abi, used = 0;
	int code;

	memcpy(&s.pid, rec + h->tid_at - 4, sizeof(s.pid));
	memcpy(&s.tid, rec + h->tid_at, sizeof(s.tid));
	memcpy(&s.time, rec + h->time_at, sizeof(s.time));
	memcpy(&abi, rec + regs, sizeof(abi));
	if (abi && end > stack) {
		uint64_t v[64];

		memcpy(v, rec + regs + 8, stack - regs - 16);
		memcpy(&used, rec + end - 8, sizeof(used));
		code = unwind_regs_from_perf(CPU_MACHINE, abi, h->regs, v, &r);
		w.end = code == -EOPNOTSUPP ? UNWIND_ABI : UNWIND_NONE;
		if (code == 0 && used && used <= end - 8 - stack) {
			s.regs = &r;
			s.data = rec + stack;
			s.size = used;
			w.kind = WALKER_HIT_LATER;
		}
	}
	w.tid = s.tid;
	w.time = s.time;
	walked_hits_stack(h, &w);
	if (s.regs)
		walker_copy(h->walker, &s);
}

/* Whose stack it is: the mark of the registers at regs. */
static void look_at_regs(const struct walked_hits *h, const uint8_t *rec, size_t regs, size_t end,
			 struct hit_held *held)
{
	uint64_t abi, v[64];
	struct unwind_regs r;
	int code;

	held->end = UNWIND_NONE;
	memcpy(&abi, rec + regs, sizeof(abi));
	if (!abi)
		return;
	memcpy(v, rec + regs + 8, end - regs - 8);
	code = unwind_regs_from_perf(CPU_MACHINE, abi, h->regs, v, &r);
	if (code < 0) {
		held->end = code == -EOPNOTSUPP ? UNWIND_ABI : UNWIND_NONE;
		return;
	}
	held->end = UNWIND_BOTTOM;
	held->mark = walker_mark(&r);
}

/* The sample without its copy, which goes to the walker, and without registers. */
static void keep_sample(struct walked_hits *h, const struct perf_event_header *head)
{
	const uint8_t *rec = (const uint8_t *)head;
	struct perf_event_header less = *head;
	size_t end, regs = copy_at(h, rec, head->size, &end);
	struct hit_held held = { .at = h->waiting.n, .end = UNWIND_BOTTOM };

	if (regs && !h->copies)
		look_at_regs(h, rec, regs, end, &held);
	vec_push(&h->held, held);
	if (!regs) {
		strbuf_add(&h->waiting, (const char *)head, head->size);
		return;
	}
	if (h->copies)
		unwind_copy(h, rec, regs, end);
	less.size = (uint16_t)(head->size - (end - regs));
	strbuf_add(&h->waiting, (const char *)&less, sizeof(less));
	strbuf_add(&h->waiting, (const char *)rec + sizeof(less), regs - sizeof(less));
	strbuf_add(&h->waiting, (const char *)rec + end, head->size - end);
}

int walked_hits_records(struct walked_hits *h, const uint8_t *data, size_t n, ring_fn *fn,
			void *ctx, struct err *e)
{
	size_t from = 0, at = 0;
	int r = 0;

	while (n - at >= sizeof(struct perf_event_header) && r >= 0) {
		const struct perf_event_header *head = (const void *)(data + at);

		if (head->size < sizeof(*head) || head->size > n - at)
			break;
		if (head->type == PERF_RECORD_SAMPLE && head->size >= h->chain_at + 8) {
			if (at > from)
				r = fn(ctx, data + from, at - from, e);
			keep_sample(h, head);
			from = at + head->size;
		}
		at += head->size;
	}
	return r >= 0 && n > from ? fn(ctx, data + from, n - from, e) : r;
}

/* The sample with the user's part of its chain behind the kernel's. */
static void walked_hits_put_sample(struct walked_hits *h, const uint8_t *rec,
				   const struct hit_stack *s)
{
	struct perf_event_header head;
	uint64_t nr, user = (uint64_t)PERF_CONTEXT_USER;
	uint32_t n = s ? s->n : 0;
	size_t chain_end, size;

	memcpy(&head, rec, sizeof(head));
	size = head.size;
	memcpy(&nr, rec + h->chain_at, sizeof(nr));
	if (nr > (head.size - h->chain_at - 8) / 8)
		n = 0; /* no chain of the kernel's making */
	chain_end = h->chain_at + 8 + (n ? nr * 8 : 0);
	if (n && head.size + 8u + n * 8u > SAMPLE_MAX)
		n = (SAMPLE_MAX - head.size - 8u) / 8;
	if (n) {
		head.size = (uint16_t)(head.size + 8u + n * 8u);
		nr += n + 1;
		strbuf_add(&h->out, (const char *)&head, sizeof(head));
		strbuf_add(&h->out, (const char *)rec + sizeof(head), h->chain_at - sizeof(head));
		strbuf_add(&h->out, (const char *)&nr, sizeof(nr));
		strbuf_add(&h->out, (const char *)rec + h->chain_at + 8,
			   chain_end - h->chain_at - 8);
		strbuf_add(&h->out, (const char *)&user, sizeof(user));
		strbuf_add(&h->out, (const char *)s->frames, n * 8u);
		strbuf_add(&h->out, (const char *)rec + chain_end, size - chain_end);
	} else {
		strbuf_add(&h->out, (const char *)rec, size);
	}
	if (s)
		h->end[s->end < UNWIND_END_MAX ? s->end : UNWIND_NONE]++;
	else
		h->without++;
}

/*
 * The sample's stack: the thread's last before it or the first after it. Where both have its
 * registers, samples of which only one had them tell. wait: it may still come.
 */
static const struct hit_stack *walked_hits_choose(struct walked_hits *h,
						  const struct hit_held *held, uint32_t tid,
						  uint64_t time, bool *wait)
{
	const uint8_t *rec = (const uint8_t *)h->waiting.data + held->at;
	const struct hit_stack *p = stack_near(h, tid, time, false),
			       *n = stack_near(h, tid, time, true);
	bool is_p = p && time - p->time < CLOSE_NS && (h->copies || p->mark == held->mark);
	bool is_n = n && n->time - time < CLOSE_NS && !h->copies && n->mark == held->mark;
	int64_t order;
	uint64_t id = 0, *at;

	if (h->sample_type & PERF_SAMPLE_IDENTIFIER)
		memcpy(&id, rec + sizeof(struct perf_event_header), sizeof(id));
	at = map_at(&h->order, id);
	order = (int64_t)*at;
	if (is_p != is_n && n)
		order += is_p ? order < ORDER_SURE : -(order > -ORDER_SURE);
	*at = (uint64_t)order;
	*wait = !held->old && (order < 0 ? !is_n : !is_p);
	return is_n && (order < 0 || !is_p) ? n : is_p ? p : NULL;
}

/* Whether it could be handed out. */
static bool walked_hits_hand_out(struct walked_hits *h, const struct hit_held *held, uint64_t now,
				 bool end)
{
	const uint8_t *rec = (const uint8_t *)h->waiting.data + held->at;
	const struct hit_stack *s;
	uint64_t time;
	uint32_t tid;
	bool wait;

	memcpy(&tid, rec + h->tid_at, sizeof(tid));
	memcpy(&time, rec + h->time_at, sizeof(time));
	if (!tid || tid == UINT32_MAX || held->end != UNWIND_BOTTOM) {
		/* idle, at its end, the kernel's: there is none */
		walked_hits_put_sample(h, rec,
				       &(struct hit_stack){ .end = held->end == UNWIND_ABI
									   ? UNWIND_ABI
									   : UNWIND_NONE });
		return true;
	}
	if (!end && !h->copies && !held->old && time + YOUNG_NS > now)
		return false;
	s = walked_hits_choose(h, held, tid, time, &wait);
	if (!end && (wait || (s && s->later)))
		return false;
	walked_hits_put_sample(h, rec, s && !s->later ? s : NULL);
	return true;
}

static void keep_back(struct walked_hits *h, size_t n)
{
	struct strbuf rest = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct perf_event_header head;
		const char *rec = h->waiting.data + h->held.data[i].at;

		memcpy(&head, rec, sizeof(head));
		h->held.data[i].at = rest.n;
		h->held.data[i].old = true;
		strbuf_add(&rest, rec, head.size);
	}
	h->held.n = n;
	if (!n) {
		strbuf_reset(&h->waiting);
		return;
	}
	strbuf_free(&h->waiting);
	h->waiting = rest;
}

static void turn(struct walked_hits *h, uint64_t now)
{
	if (!h->turned)
		h->turned = now;
	if (now - h->turned < KEEP_NS && h->now.bytes < KEEP_BYTES)
		return;
	generation_free(&h->before);
	h->before = h->now;
	h->now = (struct hit_generation){ 0 };
	h->turned = now;
}

int64_t walked_hits_drain(struct walked_hits *h, bool end, ring_fn *fn, void *ctx, struct err *e)
{
	uint64_t now = loop_now();
	size_t kept = 0;
	int64_t n;
	int r;

	vec_each (&h->held, s)
		if (!walked_hits_hand_out(h, s, now, end))
			h->held.data[kept++] = *s;
	keep_back(h, kept);
	turn(h, now);
	n = (int64_t)h->out.n;
	r = n ? fn(ctx, h->out.data, h->out.n, e) : 0;
	strbuf_reset(&h->out);
	return r < 0 ? r : n;
}

void walked_hits_free(struct walked_hits *h)
{
	generation_free(&h->now);
	generation_free(&h->before);
	strbuf_free(&h->waiting);
	strbuf_free(&h->out);
	vec_free(&h->held);
	map_free(&h->order);
	*h = (struct walked_hits){ 0 };
}
