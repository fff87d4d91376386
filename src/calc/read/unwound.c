/* SPDX-License-Identifier: MIT */
#include "calc/read/unwound.h"

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "calc/read/unwound_files.h"
#include "sym/find/cache.h"

#define DEFAULT_FRAMES 1024u

struct reader;

/* source.impl stays the inner one's, so that what only that format has can still be asked for. */
struct unwound {
	struct source source, *inner;
	struct find_opts find;
	int cache;
	struct unwound_files *files;
	pthread_mutex_t lock;
	struct reader *idle; /* readers that are not at work, with what they know */
	uint16_t machine;
	unsigned max;
	size_t room; /* for a stack that is being unwound, in words */
};

/* Events wait for each other here, so that their stacks are unwound side by side. */
#define BATCH 64u
/* So many batches are unwound ahead of who reads them. Each side wakes the other only when there
 * is work for a while: waking up costs more than a batch. */
#define AHEAD 16u
/* For fewer samples no thread is started. */
#define WORTH_A_THREAD 2000u

/* Of a chain's part in the kernel. */
#define KERNEL_MAX 1023u

struct waiting {
	struct event ev;
	struct event_extra extra;
	struct event_side side;
	struct unwind_regs regs;
	uint32_t space;
	bool copy;    /* has a copy of its stack */
	uint32_t job; /* whose then */
};

struct batch {
	struct waiting wait[BATCH];
	struct unwind_job job[BATCH];
	VEC(uint64_t) chains;
	unsigned n;
};

/* One reading. */
struct reader {
	struct unwound *u;
	struct reader *next;
	event_fn *fn;
	void *ctx;
	struct unwind_cache cache;
	struct batch *batch[AHEAD]; /* made when first used */
	struct batch *in;	    /* that is being filled */
	uint64_t *chain;	    /* by job: as many as may be unwound */

	/* when a thread of its own reads and unwinds: how many batches it made, and were used */
	bool ahead;
	pthread_mutex_t lock;
	pthread_cond_t change;
	size_t made, used;
	bool stop, ended;
	bool all;
	int code;
	struct err e;
};

bool unwound_needed(const struct source *s)
{
	const unsigned both = TYPE_HAS_USER_REGS | TYPE_HAS_STACK;

	for (size_t i = 0; i < s->trace->n_types; i++)
		if ((s->trace->types[i].has & both) == both)
			return true;
	return false;
}

static bool find_map(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	struct reader *r = ctx;
	uint64_t from, until;
	const struct task_map *m =
		tasks_find_range(r->u->inner->trace->tasks, r->cache.space, pc, &from, &until);

	if (!m || (m->prot && !(m->prot & PROT_EXEC)))
		return false;
	/* only where no other one covers it */
	from = from > m->start ? from : m->start;
	until = until < m->end ? until : m->end;
	*ret = (struct unwind_map){ .start = from,
				    .end = until,
				    .pgoff = m->pgoff + (from - m->start),
				    .table = unwound_files_table(r->u->files, m->dso),
				    .file = m->dso };
	return true;
}

static const struct ehframe *find_cfi(void *ctx, const struct unwind_map *m)
{
	struct reader *r = ctx;

	return unwound_files_cfi(r->u->files, m->file);
}

/* How much of a recorded chain is the kernel's. */
static uint32_t kernel_part(const struct event *ev)
{
	uint32_t n = 0;

	while (ev->have & EVENT_HAVE_CHAIN && n < ev->chain_n && n < KERNEL_MAX &&
	       ev->chain[n] != EVENT_CHAIN_USER)
		n++;
	return n;
}

/* The kernel's part as recorded, in front of the user's as unwound. */
static void give_chain(struct event *ev, const struct unwind_job *j, struct batch *b)
{
	uint32_t kept = kernel_part(ev), n = kept + 1 + j->ret.n;
	uint64_t *to = b->chains.data + b->chains.n, *user = to + kept + 1;

	if (kept)
		memcpy(to, ev->chain, kept * sizeof(*to));
	to[kept] = EVENT_CHAIN_USER;
	/* callers by the call, not by where it returns to, as perf shows them */
	for (uint32_t i = 0; i < j->ret.n; i++)
		user[i] = j->chain[i] - (i && j->chain[i]);
	b->chains.n += n;
	ev->chain = to;
	ev->chain_n = n;
	ev->have |= EVENT_HAVE_CHAIN | EVENT_UNWOUND;
}

/* Where they were unwound the next batch's will be. */
static void give_chains(struct batch *b)
{
	size_t n = 0;

	for (unsigned i = 0; i < b->n; i++)
		if (b->wait[i].copy)
			n += kernel_part(&b->wait[i].ev) + 1 + b->job[b->wait[i].job].ret.n;
	b->chains.n = 0;
	vec_reserve(&b->chains, n);
	for (unsigned i = 0; i < b->n; i++)
		if (b->wait[i].copy)
			give_chain(&b->wait[i].ev, &b->job[b->wait[i].job], b);
}

/* Unwind what waits, the stacks of each space together. */
static void unwind_batch(struct reader *r, struct batch *b)
{
	uint32_t jobs = 0, done = 0, space = 0;
	uint64_t cut = 0;

	for (;;) {
		uint32_t first = jobs;

		for (unsigned i = 0; i < b->n; i++) {
			struct waiting *w = &b->wait[i];

			if (!w->copy || w->job != UINT32_MAX || (jobs > first && w->space != space))
				continue;
			space = w->space;
			w->job = jobs;
			b->job[jobs] =
				(struct unwind_job){ .in = { .regs = &w->regs,
							     .stack = w->extra.stack,
							     .stack_size = w->extra.stack_size,
							     .find = find_map,
							     .cfi = find_cfi,
							     .ctx = r },
						     .chain = r->chain + jobs * r->u->room,
						     .max = r->u->max };
			jobs++;
		}
		if (jobs == done)
			break;
		unwind_cache_space(&r->cache, space);
		unwind_stacks(b->job + done, jobs - done, &r->cache);
		done = jobs;
	}
	give_chains(b);
	for (uint32_t i = 0; i < done; i++)
		cut += b->job[i].ret.end == UNWIND_TRUNCATED;
	if (cut)
		__atomic_fetch_add(&r->u->source.trace->losses.short_copies, cut, __ATOMIC_RELAXED);
}

/* Hand on what waited, in its order. */
static int deliver(struct reader *r, struct batch *b)
{
	int code = 0;

	for (unsigned i = 0; i < b->n && code == 0; i++) {
		struct waiting *w = &b->wait[i];

		code = r->fn(r->ctx, &w->ev);
	}
	b->n = 0;
	return code;
}

static struct batch *batch_at(struct reader *r, size_t at)
{
	struct batch **b = &r->batch[at % AHEAD];

	if (!*b)
		*b = mem_alloc(sizeof(**b));
	return *b;
}

/* The batch is full, or the last one: non-zero ends the reading. */
static int unwound_flush(struct reader *r)
{
	int code;

	unwind_batch(r, r->in);
	if (!r->ahead)
		return deliver(r, r->in);
	pthread_mutex_lock(&r->lock);
	r->made++;
	if (r->made - r->used == AHEAD / 2)
		pthread_cond_signal(&r->change);
	while (r->made - r->used == AHEAD && !r->stop)
		pthread_cond_wait(&r->change, &r->lock);
	code = r->stop;
	pthread_mutex_unlock(&r->lock);
	r->in = batch_at(r, r->made);
	return code;
}

static int unwound_on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	struct waiting *w = &r->in->wait[r->in->n];

	w->ev = *ev;
	w->copy = false;
	w->job = UINT32_MAX;
	if (ev->side) {
		w->side = *ev->side;
		w->ev.side = &w->side;
	}
	if (ev->extra) {
		w->extra = *ev->extra;
		w->ev.extra = &w->extra;
		w->copy = ev->kind == EVENT_SAMPLE && w->extra.stack && w->extra.regs &&
			  unwind_regs_from_perf(r->u->machine, w->extra.regs_abi,
						w->extra.regs_mask, w->extra.regs, &w->regs) >= 0;
	}
	if (w->copy)
		w->space = tasks_space_at(r->u->inner->trace->tasks, ev->pid, ev->time);
	r->in->n++;
	/* what does not hold cannot wait */
	return r->in->n < BATCH && r->u->inner->stable ? 0 : unwound_flush(r);
}

static struct reader *reader_open(struct unwound *u, event_fn *fn, void *ctx)
{
	struct reader *r;

	pthread_mutex_lock(&u->lock);
	r = u->idle;
	if (r)
		u->idle = r->next;
	pthread_mutex_unlock(&u->lock);
	if (!r) {
		r = mem_alloc(sizeof(*r));
		r->u = u;
		r->cache.space = TASK_SPACE_NONE;
		r->cache.known = mem_alloc(UNWIND_KNOWN * sizeof(*r->cache.known));
		r->chain = mem_grow(NULL, BATCH * u->room * sizeof(uint64_t));
		pthread_mutex_init(&r->lock, NULL);
		pthread_cond_init(&r->change, NULL);
	}
	r->fn = fn;
	r->ctx = ctx;
	r->in = batch_at(r, 0);
	r->in->n = 0;
	return r;
}

static void unwound_reader_close(struct reader *r)
{
	struct unwound *u = r->u;

	pthread_mutex_lock(&u->lock);
	r->next = u->idle;
	u->idle = r;
	pthread_mutex_unlock(&u->lock);
}

static void reader_free(struct reader *r)
{
	for (unsigned i = 0; i < AHEAD; i++) {
		if (r->batch[i])
			vec_free(&r->batch[i]->chains);
		free(r->batch[i]);
	}
	free(r->chain);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->change);
	free(r->cache.known);
	free(r);
}

static int unwound_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx,
			      struct err *e)
{
	struct unwound *u = (struct unwound *)s;
	struct reader *r = reader_open(u, fn, ctx);
	int code = u->inner->read_chunk(u->inner, chunk, unwound_on_event, r, e);

	if (code == 0)
		code = unwound_flush(r);
	unwound_reader_close(r);
	return code;
}

static void *read_ahead(void *ctx)
{
	struct reader *r = ctx;
	struct source *inner = r->u->inner;
	int code = inner->read_ordered(inner, r->all, unwound_on_event, r, &r->e);

	if (code == 0)
		unwound_flush(r);
	pthread_mutex_lock(&r->lock);
	r->code = code;
	r->ended = true;
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* The batches that the other thread makes. */
static int take_batches(struct reader *r)
{
	int code = 0;

	pthread_mutex_lock(&r->lock);
	while (code == 0) {
		if (r->made == r->used)
			while (r->made - r->used < AHEAD / 2 && !r->ended)
				pthread_cond_wait(&r->change, &r->lock);
		if (r->made == r->used)
			break;
		pthread_mutex_unlock(&r->lock);
		code = deliver(r, r->batch[r->used % AHEAD]);
		pthread_mutex_lock(&r->lock);
		r->used++;
		if (r->made - r->used == AHEAD / 2)
			pthread_cond_signal(&r->change);
	}
	r->stop = true;
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	return code;
}

static int read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct unwound *u = (struct unwound *)s;
	struct reader *r = reader_open(u, fn, ctx);
	pthread_t thread;
	int code;

	r->all = all;
	r->made = r->used = 0;
	r->stop = r->ended = false;
	r->ahead = u->inner->stable && s->trace->n_samples >= WORTH_A_THREAD && pool_threads() > 1;
	if (r->ahead && pthread_create(&thread, NULL, read_ahead, r) == 0) {
		code = take_batches(r);
		pthread_join(thread, NULL);
		if (code == 0 && r->code < 0) {
			code = r->code;
			if (e)
				*e = r->e;
		}
	} else {
		r->ahead = false;
		code = u->inner->read_ordered(u->inner, all, unwound_on_event, r, e);
		if (code == 0)
			code = unwound_flush(r);
	}
	r->ahead = false;
	unwound_reader_close(r);
	return code;
}

static void close_source(struct source *s)
{
	struct unwound *u = (struct unwound *)s;

	unwound_files_free(u->files);
	while (u->idle) {
		struct reader *r = u->idle;

		u->idle = r->next;
		reader_free(r);
	}
	if (u->cache >= 0)
		close(u->cache);
	source_close(u->inner);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

static uint16_t machine_of(const char *arch)
{
	if (arch && strcmp(arch, "aarch64") == 0)
		return EM_AARCH64;
	if (arch && strcmp(arch, "x86_64") == 0)
		return EM_X86_64;
#if defined(__aarch64__)
	return EM_AARCH64;
#else
	return EM_X86_64;
#endif
}

struct source *unwound_new(struct source *s, const struct find_opts *o, unsigned max_frames)
{
	struct unwound *u = mem_alloc(sizeof(*u));

	u->inner = s;
	u->find = *o;
	/* files that vanished meanwhile were kept there */
	u->cache = cache_open(NULL, NULL);
	u->find.cache = u->cache;
	u->max = max_frames ? max_frames : DEFAULT_FRAMES;
	/* a line more, so that all do not begin in one set of the cache */
	u->room = u->max + 8;
	u->machine = machine_of(s->trace->info.arch);
	u->files = unwound_files_new(s->trace->tasks, &u->find);
	pthread_mutex_init(&u->lock, NULL);
	u->source = *s;
	u->source.read_brief = NULL;
	u->source.stable = false; /* chains are made for each event */
	u->source.read_chunk = unwound_read_chunk;
	u->source.read_ordered = read_ordered;
	u->source.close = close_source;
	return &u->source;
}
