/* SPDX-License-Identifier: MIT */
/* The walker's ring: from records to samples. */
#include "live/walk/walker_priv.h"

#include <bpf/libbpf.h>
#include <string.h>

struct reading {
	walker_fn *fn;
	void *ctx;
	int n, stop;
};

void walker_sample_from(struct walker *w, const struct walk_sample *s, const uint64_t *chain,
			struct walker_sample *ret)
{
	*ret = (struct walker_sample){
		.pid = (int32_t)s->pid,
		.tid = (int32_t)s->tid,
		.cpu = s->cpu,
		.user_mode = s->flags & WALK_USER_MODE,
		.time = s->time,
		.ip = s->ip,
		.id = w->event_id[s->event % WALK_EVENTS],
		.kernel = chain + s->n_user,
		.n_kernel = s->n_kernel,
		.user = chain,
		.n_user = s->n_user,
		.end = s->end < UNWIND_END_MAX ? (enum unwind_end)s->end : UNWIND_NONE,
		.flags = s->unwind,
	};
	if (s->event == WALK_OFF_STACK) {
		ret->kind = WALKER_STACK;
		ret->stack = s->ip;
		ret->state = s->flags;
		memcpy(ret->comm, s->comm, sizeof(ret->comm));
		ret->comm[sizeof(ret->comm) - 1] = '\0';
	} else if (s->event == WALK_HIT) {
		ret->kind = WALKER_HIT;
		ret->addr = s->addr;
		return; /* whether it is some sample's is not known here */
	} else {
		ret->period = s->period;
		ret->addr = s->addr;
	}
	/* An interrupt ends waits in the middle of whatever runs, which nobody asked about. */
	if (ret->kind == WALKER_STACK && !w->o.function && (s->flags & WALK_WAKER)) {
		w->stats.wakers++;
		w->stats.wakers_whole += ret->end == UNWIND_BOTTOM;
		return;
	}
	w->stats.samples++;
	w->stats.frames += s->n_user;
	w->stats.fp_frames += s->n_fp;
	w->stats.known_frames += s->n_known;
	w->stats.end[ret->end]++;
}

static int walker_read_give(struct reading *r, const struct walker_sample *s)
{
	r->n++;
	r->stop = r->fn(r->ctx, s);
	return r->stop ? -ECANCELED : 0;
}

/* What the ring calls; w->reading is the reading in hand. */
static int walker_read_on_record(void *ctx, void *data, size_t size)
{
	struct walker *w = ctx;
	const struct walk_sample *s = data;
	struct walker_sample out;
	size_t want = sizeof(*s);

	if (size < sizeof(*s) || s->n_user > WALK_DEPTH || s->n_kernel > WALK_KERNEL ||
	    s->copy > WALK_COPY)
		return 0;
	if (s->event == WALK_OFF_WAIT) { /* no stack of its own, only numbers of stacks */
		out = (struct walker_sample){ .kind = WALKER_WAIT,
					      .pid = (int32_t)s->pid,
					      .tid = (int32_t)s->tid,
					      .cpu = s->cpu,
					      .time = s->time,
					      .period = s->period,
					      .count = 1,
					      .stack = s->ip,
					      .waker = s->addr,
					      .state = s->flags };
		return walker_read_give(w->reading, &out);
	}
	want += s->copy ? (WALK_DEPTH + WALK_KERNEL) * 8 + sizeof(struct walk_regs) + s->copy
			: (s->n_user + s->n_kernel) * 8ul;
	if (size < want)
		return 0;
	if (s->end == UNWIND_NO_MAP || s->end == UNWIND_PENDING) {
		pthread_mutex_lock(&w->lock);
		walker_proc_missed(w, s);
		pthread_mutex_unlock(&w->lock);
	}
	if (s->event == WALK_FN_MISS)
		return 0;
	if (s->copy)
		walker_copy_add(w, s, want);
	if (s->copy && s->event != WALK_HIT)
		return 0;
	walker_sample_from(w, s, (const uint64_t *)(s + 1), &out);
	if (s->copy)
		out.kind = WALKER_HIT_LATER;
	return walker_read_give(w->reading, &out);
}

int walker_ring_open(struct walker *w, struct err *e)
{
	if (w->o.plain)
		return 0;
	w->ring = ring_buffer__new(w->ring_fd, walker_read_on_record, w, NULL);
	return w->ring ? 0 : err_set(e, errno, "cannot map the walker's ring: %s", strerror(errno));
}

int walker_fd(const struct walker *w)
{
	return w->ring ? ring_buffer__epoll_fd(w->ring) : -1;
}

static int walker_read_take(struct walker *w, struct reading *r, int timeout_ms, struct err *e)
{
	int err = 0;

	if (!w->ring)
		return 0;
	w->reading = r;
	/* Waiting is for a wake-up; reading takes what has come without one, too. */
	if (timeout_ms)
		err = ring_buffer__poll(w->ring, timeout_ms);
	if (!r->stop && (err >= 0 || err == -EINTR || err == -ECANCELED))
		err = ring_buffer__consume(w->ring);
	w->reading = NULL;
	return err < 0 && err != -EINTR && err != -ECANCELED
		       ? err_set(e, -err, "cannot read the walker's ring: %s", strerror(-err))
		       : 0;
}

int walker_take(struct walker *w, walker_fn *fn, void *ctx, struct err *e)
{
	struct reading r = { .fn = fn, .ctx = ctx };
	int err = walker_read_take(w, &r, 0, e);

	return err < 0 ? err : r.stop;
}

int walker_poll(struct walker *w, int timeout_ms, walker_fn *fn, void *ctx, struct err *e)
{
	struct reading r = { .fn = fn, .ctx = ctx };
	int err, n;

	pthread_mutex_lock(&w->lock);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	err = walker_read_take(w, &r, timeout_ms, e);
	if (err < 0 || r.stop)
		return err < 0 ? err : r.stop;
	n = w->copied ? walker_copy_finish(w, w->settling, fn, ctx) : 0;
	w->settling = false;
	pthread_mutex_lock(&w->lock);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	return n < 0 ? n : r.n + n;
}

bool walker_waiting(const struct walker *w)
{
	return w->n_copied > 0;
}

void walker_settle(struct walker *w, int timeout_ms)
{
	uint64_t end = loop_now() + (uint64_t)timeout_ms * 1000000u;
	bool busy = true;

	w->settling = true;

	while (busy && loop_now() < end) {
		pthread_mutex_lock(&w->lock);
		walker_proc_flush(w);
		busy = w->n_pending > 0;
		pthread_mutex_unlock(&w->lock);
		if (busy)
			usleep(1000);
	}
}
