/* SPDX-License-Identifier: MIT */
#include "calc/profile/profile.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "calc/profile/table.h"

struct job {
	struct source *source;
	const struct profile_opts *o;
	struct tables *tables; /* by worker */
	atomic_size_t done;
	struct err *e;
};

/*
 * Samples whose chain or entry is being fetched. Where it is looked up is spread over more memory
 * than caches hold, so it is asked for some samples before it is needed.
 */
#define AHEAD 16      /* a power of 2 */
#define AHEAD_IPS 128 /* longer chains take their time anyway */

struct ahead {
	struct profile_entry e;
	uint64_t hash;
	struct profile_chain chain; /* without ip: none */
	uint64_t ip[AHEAD_IPS];
};

struct reader {
	struct job *job;
	struct tables *t;
	unsigned worker;
	struct ahead *ahead; /* NULL: each sample at once */
	unsigned first, next;
};

/* Keep the innermost frames. Markers are none, but say whose the frames behind them are. */
static void keep_inner(struct profile_chain *c, unsigned max)
{
	uint32_t frames = 0, i = 0;

	for (; i < c->n && frames < max; i++)
		frames += c->ip[i] < EVENT_CHAIN_MARK;
	c->cut = i < c->n;
	c->n = i;
}

/* Keep the outermost frames; where that begins behind a marker it is written anew, to buf. */
static void keep_outer(struct profile_chain *c, unsigned max, uint64_t *buf)
{
	uint32_t frames = 0, i = c->n, mark;

	for (; i > 0 && frames < max; i--)
		frames += c->ip[i - 1] < EVENT_CHAIN_MARK;
	for (mark = i; mark > 0 && c->ip[mark - 1] < EVENT_CHAIN_MARK; mark--)
		;
	if (i == 0 || (mark == i && i == 1))
		return;
	c->cut = c->headless = true;
	c->n -= i;
	if (mark == 0 || c->n >= PROFILE_EXTRA_WORDS) {
		c->ip += i;
		return;
	}
	buf[0] = c->ip[mark - 1];
	memmove(buf + 1, c->ip + i, c->n * sizeof(*buf));
	c->ip = buf;
	c->n++;
}

/*
 * A copied stack, as perf has it: user code was unwound from its inner end so far and no further,
 * whatever is looked at first; the kernel's part has as many frames of its own.
 */
static void keep_parts(struct profile_chain *c, unsigned max, bool outermost, uint64_t *buf)
{
	uint32_t user = 0, frames = 0, n = 0, first = 0;
	struct profile_chain kernel = *c;

	while (user < c->n && c->ip[user] != EVENT_CHAIN_USER)
		user++;
	kernel.n = user;
	if (user && outermost)
		keep_outer(&kernel, max, buf);
	else
		keep_inner(&kernel, max);
	n = kernel.n;
	if (n && kernel.ip != buf) /* whole, or cut behind */
		memmove(buf, kernel.ip, n * sizeof(*buf));
	for (first = user; user < c->n && (c->ip[user] >= EVENT_CHAIN_MARK || frames < max); user++)
		frames += c->ip[user] < EVENT_CHAIN_MARK;
	memcpy(buf + n, c->ip + first, (user - first) * sizeof(*buf));
	c->cut = kernel.cut || user < c->n;
	c->headless = kernel.headless;
	c->ip = buf;
	c->n = n + user - first;
}

static bool chain_of(struct reader *r, const struct event *ev, const struct profile_entry *of,
		     struct profile_chain *c)
{
	const struct profile_opts *o = r->job->o;

	if (!(ev->have & EVENT_HAVE_CHAIN) || !ev->chain_n)
		return false;
	*c = (struct profile_chain){
		.ip = ev->chain, .n = ev->chain_n, .space = of->space, .kernel = of->kernel
	};
	if (o->max_stack && (ev->have & EVENT_UNWOUND) && c->n < PROFILE_EXTRA_WORDS)
		keep_parts(c, o->max_stack, o->outermost, r->t->buf);
	else if (o->max_stack && o->outermost)
		keep_outer(c, o->max_stack, r->t->buf);
	else if (o->max_stack)
		keep_inner(c, o->max_stack);
	c->hash = table_chain_hash(c);
	return true;
}

/* copied: distinct chains are few, and those in the file are spread all over it */
static void count_chain(struct reader *r, struct profile_entry *e, const struct profile_chain *c)
{
	e->chain = table_chain(r->t, c, true);
	table_count(r->t, e);
}

static void catch_up(struct reader *r, unsigned n)
{
	for (; r->next - r->first > n; r->first++) {
		struct ahead *a = &r->ahead[r->first % AHEAD];

		if (a->chain.ip)
			count_chain(r, &a->e, &a->chain);
		else
			table_count_hashed(r->t, &a->e, a->hash);
	}
}

/* The one that was put there so many samples ago; NULL: none, or one with a chain when that is not
 * meant. */
static struct ahead *behind(struct reader *r, unsigned n, bool chain)
{
	struct ahead *a = &r->ahead[(r->next - n) % AHEAD];

	return r->next - r->first > n && !a->chain.ip == !chain ? a : NULL;
}

static void count_later(struct reader *r, const struct profile_entry *e,
			const struct profile_chain *c)
{
	struct ahead *a;

	catch_up(r, AHEAD - 1);
	a = &r->ahead[r->next++ % AHEAD];
	a->e = *e;
	a->chain = *c;
	memcpy(a->ip, c->ip, c->n * sizeof(*a->ip));
	a->chain.ip = a->ip;
	table_fetch(r->t, c->hash);
	a = behind(r, AHEAD / 4, true);
	if (a)
		table_fetch_chain(r->t, a->chain.hash);
	a = behind(r, AHEAD / 2, true);
	if (a)
		table_fetch_entry(r->t, a->chain.hash);
}

static void count_entry_later(struct reader *r, const struct profile_entry *e)
{
	struct ahead *a;

	catch_up(r, AHEAD - 1);
	a = &r->ahead[r->next++ % AHEAD];
	a->e = *e;
	a->chain.ip = NULL;
	a->hash = table_entry_hash(e);
	index_fetch(&r->t->entry_index, a->hash);
	a = behind(r, AHEAD / 2, false);
	if (a)
		table_fetch_counted(r->t, a->hash);
}

static uint32_t extra_of(struct reader *r, const struct event *ev,
			 const struct event_branch *branch)
{
	const struct profile_opts *o = r->job->o;
	struct profile_extra x = { .data = r->t->buf, .first = ev->time };

	if (!o->extra)
		return PROFILE_NO_EXTRA;
	x.size = (uint32_t)o->extra(o->ctx, ev, branch, r->t->buf);
	if (x.size % 8)
		memset((char *)r->t->buf + x.size, 0, 8 - x.size % 8);
	x.hash = table_extra_hash(&x);
	if (ev->have & EVENT_HAVE_RAW) {
		x.raw = ev->raw;
		x.raw_size = ev->raw_size;
	}
	return table_extra(r->t, &x, x.raw && !r->job->source->stable);
}

/* As if it had been in the first process that had this code. */
static void go_home(struct reader *r, struct profile_entry *e)
{
	const struct mapped_range *g = mapped_at(&r->t->mapped, e->space, e->ip);

	e->space = g->home;
	e->ip -= g->home_shift;
}

static uint64_t profile_time_of(const struct reader *r, const struct event *ev)
{
	const struct event_type *t = &r->job->source->trace->types[ev->type];
	uint64_t quantum = r->job->o->time_quantum, time = ev->time;

	if (r->job->o->known_times)
		time = type_time(t, time, ev->have & EVENT_HAVE_CPU ? ev->cpu : UINT32_MAX);
	return quantum ? time / quantum * quantum : time;
}

static void count_sample(struct reader *r, const struct event *ev, struct profile_entry *e,
			 const struct event_branch *branch)
{
	const struct profile_opts *o = r->job->o;
	struct profile_chain c;
	bool chain = false;

	if (!(o->by & PROFILE_BY_COMM))
		e->comm = STRTAB_NONE;
	if (o->by & PROFILE_BY_PID)
		e->pid = ev->pid;
	if (o->by & PROFILE_BY_TID)
		e->tid = ev->tid;
	if (o->by & PROFILE_BY_CPU)
		e->cpu = ev->have & EVENT_HAVE_CPU ? ev->cpu : UINT32_MAX;
	if (o->by & PROFILE_BY_TIME)
		e->time = profile_time_of(r, ev);
	e->extra = extra_of(r, ev, branch); /* first: a cut chain stands in the same buffer */
	if (o->by & (PROFILE_BY_CODE | PROFILE_BY_CHAIN)) {
		e->ip = branch ? branch->to : ev->ip;
		e->mode = ev->mode;
		chain = (o->by & PROFILE_BY_CHAIN) && !branch && chain_of(r, ev, e, &c);
	} else {
		e->space = e->kernel = TASK_SPACE_KERNEL;
	}
	if (chain) {
		if (r->ahead && c.n <= AHEAD_IPS)
			count_later(r, e, &c);
		else
			count_chain(r, e, &c);
		return;
	}
	if (o->by_file && e->mode == EVENT_MODE_USER && e->extra == PROFILE_NO_EXTRA)
		go_home(r, e);
	/* kernel code is the same in every space */
	if (e->extra == PROFILE_NO_EXTRA && !branch && (e->mode == EVENT_MODE_KERNEL || !e->mode))
		e->space = TASK_SPACE_KERNEL;
	if (r->ahead)
		count_entry_later(r, e);
	else
		table_count(r->t, e);
}

/* A branch may lead from user to kernel code: nobody says which, but the addresses do. */
static enum event_mode branch_mode(const struct event *ev, uint64_t addr)
{
	if (ev->mode >= EVENT_MODE_HYPERVISOR)
		return ev->mode;
	return (int64_t)addr < 0 ? EVENT_MODE_KERNEL : EVENT_MODE_USER;
}

static void count_branches(struct reader *r, const struct event *ev, struct profile_entry *e,
			   enum profile_want want)
{
	struct profile_total *total = &r->t->total[ev->type];
	const struct event_extra *x = ev->have & EVENT_HAVE_EXTRA ? ev->extra : NULL;

	for (uint64_t i = 0; x && i < x->branch_n; i++) {
		struct profile_entry one = *e;
		struct event at = *ev;

		total->all_count++;
		total->all_weight++;
		if (want == PROFILE_ASIDE)
			continue;
		total->count++;
		total->weight++;
		at.mode = branch_mode(ev, x->branch[i].to);
		one.weight = 1;
		count_sample(r, &at, &one, &x->branch[i]);
	}
}

/* Field by field, as sources make events: clearing it all first takes longer than counting it. */
static inline void entry_begin(struct profile_entry *e, const struct event *ev)
{
	e->type = ev->type;
	e->comm = 0;
	e->pid = e->tid = 0;
	e->cpu = 0;
	e->space = 0;
	e->chain = PROFILE_NO_CHAIN;
	e->mode = 0;
	e->kernel = 0;
	e->extra = 0;
	e->ip = e->time = 0;
	e->count = ev->have & EVENT_HAVE_COUNT ? ev->extra->count : 1;
	e->weight = ev->weight;
	e->first = ev->time;
	e->first_tid = ev->tid;
	e->next = 0;
}

static int profile_on_sample(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	const struct profile_opts *o = r->job->o;
	struct profile_total *total = &r->t->total[ev->type];
	enum profile_want want = PROFILE_COUNT;
	struct profile_entry e;

	if (ev->kind != EVENT_SAMPLE)
		return 0;
	if (o->want)
		want = o->want(o->ctx, ev);
	if (want == PROFILE_SKIP)
		return 0;
	entry_begin(&e, ev);
	task_cache_ask(&r->t->tasks, r->job->source->trace->tasks, ev, &e);
	if (o->unit == PROFILE_BRANCHES) {
		count_branches(r, ev, &e, want);
		return 0;
	}
	if (o->unit == PROFILE_ACCESSES) {
		e.weight = ev->have & EVENT_HAVE_EXTRA ? (uint32_t)ev->extra->weight : 0;
		e.weight = e.weight ? e.weight : 1;
	}
	total->all_count += e.count;
	total->all_weight += e.weight;
	if (want == PROFILE_ASIDE)
		return 0;
	total->count += e.count;
	total->weight += e.weight;
	count_sample(r, ev, &e, NULL);
	return 0;
}

static int profile_read_chunk(void *ctx, size_t chunk, unsigned worker)
{
	struct job *j = ctx;
	struct reader r = { .job = j, .t = &j->tables[worker], .worker = worker };
	struct err e = { 0 };
	size_t done;
	int code;

	r.ahead = mem_grow(NULL, AHEAD * sizeof(*r.ahead));
	code = j->source->read_chunk(j->source, chunk, profile_on_sample, &r, &e);
	catch_up(&r, 0);
	free(r.ahead);
	done = atomic_fetch_add(&j->done, 1) + 1;

	if (j->o->progress)
		j->o->progress(j->o->ctx, done, j->source->n_chunks);
	if (code < 0 && j->e) /* several threads may fail at once; any one's reason will do */
		*j->e = e;
	return code;
}

static struct profile profile_view(const struct tables *t, struct trace *trace)
{
	struct profile p = { .trace = trace, .total = t->total };

	memcpy(&p.entries, &t->entries, sizeof(p.entries));
	memcpy(&p.chains, &t->chains, sizeof(p.chains));
	memcpy(&p.extras, &t->extras, sizeof(p.extras));
	return p;
}

static void tables_begin(struct tables *t, const struct profile_opts *o, size_t n_types)
{
	t->total = mem_alloc((n_types + 1) * sizeof(*t->total));
	if (o->extra || o->max_stack)
		t->buf = mem_alloc((PROFILE_EXTRA_WORDS + 1) * sizeof(uint64_t));
}

int profile_make(struct source *s, const struct profile_opts *o, struct profile *ret, struct err *e)
{
	unsigned threads = o->threads ? o->threads : pool_threads();
	AUTO_FREE struct tables *tables = mem_alloc(threads * sizeof(*tables));
	struct job j = { .source = s, .o = o, .tables = tables, .e = e };
	size_t n_types = s->trace->n_types;
	int r;

	for (unsigned i = 0; i < threads; i++) {
		tables_begin(&tables[i], o, n_types);
		tables[i].mapped.tasks = s->trace->tasks;
	}
	r = pool_run(s->n_chunks, threads, profile_read_chunk, &j);
	for (unsigned i = 1; i < threads; i++)
		table_merge(&tables[0], &tables[i], n_types);
	if (r < 0) {
		table_free(&tables[0]);
		return r;
	}
	*ret = profile_view(&tables[0], s->trace);
	ret->copies = tables[0].copies;
	index_free(&tables[0].entry_index);
	index_free(&tables[0].chain_index);
	index_free(&tables[0].extra_index);
	free(tables[0].buf);
	mapped_free(&tables[0].mapped);
	return 0;
}

void profile_drop_chains(struct profile *p)
{
	free(p->chains.data);
	p->chains.data = NULL;
	p->chains.cap = 0;
	if (!p->extras.n) /* they are in the same arena */
		arena_free(&p->copies);
}

void profile_free(struct profile *p)
{
	vec_free(&p->entries);
	vec_free(&p->chains);
	vec_free(&p->extras);
	free(p->total);
	arena_free(&p->copies);
}

void profile_copy(const struct profile *from, struct trace *trace, struct profile *ret)
{
	size_t n_types = from->trace->n_types;

	ret->trace = trace;
	vec_each (&from->entries, e)
		vec_push(&ret->entries, *e);
	vec_each (&from->chains, c) {
		vec_push(&ret->chains, *c);
		ret->chains.data[ret->chains.n - 1].ip =
			arena_dup(&ret->copies, c->ip, c->n * sizeof(*c->ip));
	}
	vec_each (&from->extras, x) {
		struct profile_extra *to;

		vec_push(&ret->extras, *x);
		to = &ret->extras.data[ret->extras.n - 1];
		to->data = arena_dup(&ret->copies, x->data, x->size);
		to->raw = x->raw ? arena_dup(&ret->copies, x->raw, x->raw_size) : NULL;
	}
	ret->total = mem_alloc((n_types + 1) * sizeof(*ret->total));
	memcpy(ret->total, from->total, n_types * sizeof(*ret->total));
}

struct profile_builder {
	struct source source; /* only its trace, and that nothing it points to is kept */
	struct profile_opts opts;
	struct tables tables;
	struct job job;
	struct reader reader;
	struct profile view;
	uint64_t random;
};

struct profile_builder *profile_builder_new(struct trace *t, const struct profile_opts *o)
{
	struct profile_builder *b = mem_alloc(sizeof(*b));

	b->source.trace = t;
	b->opts = *o;
	tables_begin(&b->tables, o, t->n_types);
	b->job = (struct job){ .source = &b->source, .o = &b->opts, .tables = &b->tables };
	b->reader = (struct reader){ .job = &b->job, .t = &b->tables };
	return b;
}

int profile_builder_add(void *ctx, const struct event *ev)
{
	struct profile_builder *b = ctx;

	return profile_on_sample(&b->reader, ev);
}

struct profile *profile_builder_look(struct profile_builder *b)
{
	b->view = profile_view(&b->tables, b->source.trace);
	return &b->view;
}

void profile_builder_fade(struct profile_builder *b, double keep)
{
	table_fade(&b->tables, b->source.trace->n_types, keep, &b->random);
}

void profile_builder_wants(const struct profile_builder *b, struct tasks_wanted *w)
{
	for (size_t i = 0; i < b->tables.entries.n; i++) {
		const struct profile_entry *e = &b->tables.entries.data[i];

		tasks_want(w, e->space, e->kernel, e->comm & TASK_NAMELESS ? STRTAB_NONE : e->comm);
	}
}

void profile_builder_move(struct profile_builder *b, const struct tasks_moved *m)
{
	table_move(&b->tables, m);
}

void profile_builder_free(struct profile_builder *b)
{
	if (!b)
		return;
	table_free(&b->tables);
	free(b);
}
