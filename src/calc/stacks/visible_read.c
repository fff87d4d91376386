/* SPDX-License-Identifier: MIT */
#include "calc/stacks/visible_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/profile/stacks.h"
#include "calc/stacks/places_ask.h"
#include "event/match.h"

/* Samples that wait for names, and words of their chains: what fits into a cache. */
#define LATER 2048
#define LATER_WORDS (1u << 16)

struct reader {
	struct visible *v;
	struct visible_worker *w;
	uint32_t tasks_version;
	unsigned n;
	struct place_sample sample[EVENT_BRIEFS];
};

static uint64_t label_key(const struct visible *v, const struct place_sample *s)
{
	uint64_t key = s->comm;

	if (v->label >= CALLTREE_LABEL_PID)
		key ^= map_hash((uint64_t)(uint32_t)s->b.pid << 32 |
				(v->label == CALLTREE_LABEL_TID ? (uint32_t)s->b.tid : 0));
	return key;
}

/* Numbered alike in all threads. */
static uint32_t new_label(struct visible *v, const struct place_sample *s, uint64_t key)
{
	struct profile_entry l = { .comm = s->comm, .pid = s->b.pid, .tid = s->b.tid };
	uint64_t *at, n;

	pthread_mutex_lock(&v->names.lock);
	at = map_at(&v->labels, key);
	if (!*at) {
		vec_push(&v->who, l);
		*at = v->who.n;
	}
	n = *at;
	pthread_mutex_unlock(&v->names.lock);
	return (uint32_t)n - 1;
}

uint32_t visible_label_find(struct visible_worker *w, struct visible *v,
			    const struct place_sample *s)
{
	uint64_t key = label_key(v, s), *at = map_at(&w->labels, key);

	if (!*at)
		*at = (uint64_t)new_label(v, s, key) + 1;
	w->label_comm = s->comm;
	w->label_pid = s->b.pid;
	w->label_tid = s->b.tid;
	w->label = VISIBLE_LABEL | ((uint32_t)*at - 1);
	return w->label;
}

void visible_keep(struct visible_worker *w, const struct place_sample *s)
{
	struct place_sample l = *s;

	if (s->b.chain_n)
		l.b.chain =
			arena_dup(&w->later_chains, s->b.chain, s->b.chain_n * sizeof(*s->b.chain));
	vec_push(&w->later, l);
	w->later_words += s->b.chain_n + 1;
}

static void visible_read_add_function(struct visible_worker *w, uint32_t func, bool collapse)
{
	if (!collapse || !w->path.n || w->path.data[w->path.n - 1] != func)
		vec_push(&w->path, func);
}

static void add_place(struct visible_worker *w, uint32_t func, bool collapse)
{
	const uint32_t *list;

	if (!(func & PLACE_SEVERAL)) {
		visible_read_add_function(w, func, collapse);
		return;
	}
	list = place_list(w->places.names, func);
	for (uint32_t i = 1; i <= list[0]; i++)
		visible_read_add_function(w, list[i], collapse);
}

/* What was kept of the last sample is good for no other. */
static void visible_read_forget(struct visible_worker *w)
{
	w->raw.n = w->path.n = w->node.n = 0;
}

/* The path up to here is that of the last sample, and what follows is not. */
static void part_here(struct visible_worker *w)
{
	w->same = false;
	w->raw.n = w->n_raw;
	w->path.n = w->n;
	if (w->node.n > w->n)
		w->node.n = w->n;
}

int visible_start(struct visible_worker *w, struct visible *v, const struct place_sample *s)
{
	uint32_t label;

	if (!places_split(s, &w->parts))
		return -EOPNOTSUPP;
	w->part = w->parts.n;
	w->at = w->parts.n ? w->parts.part[w->parts.n - 1].end : 0;
	w->n = w->n_raw = 0;
	w->same = true;
	w->unknown = false;
	if (!v->label)
		return 0;
	/* one whose label differs is another path from the start */
	label = visible_label(w, v, s);
	if (!w->path.n || w->path.data[0] != label) {
		visible_read_forget(w);
		vec_push(&w->path, label);
	}
	w->n = 1;
	return 0;
}

/* The next address, outermost first; false: there is none. */
static inline bool next_address(struct visible_worker *w, const struct place_part **part,
				struct visible_raw *x)
{
	const struct place_part *p;

	if (!w->part)
		return false;
	p = &w->parts.part[w->part - 1];
	w->at--;
	*part = p;
	*x = (struct visible_raw){ .addr = w->parts.ip[w->at],
				   .where = visible_where(p, w->at > p->first) };
	if (w->at == p->first && --w->part)
		w->at = p[-1].end;
	return true;
}

bool visible_need(struct visible_worker *w, struct visible *v, uint32_t n)
{
	bool collapse = v->collapse;
	const struct place_part *part;
	struct visible_raw x;

	while (w->n < n) {
		uint32_t func;

		if (!next_address(w, &part, &x))
			return false;
		if (w->same && w->n_raw < w->raw.n && w->raw.data[w->n_raw].addr == x.addr &&
		    w->raw.data[w->n_raw].where == x.where) {
			w->n = w->raw.data[w->n_raw++].end;
			continue;
		}
		if (w->same)
			part_here(w);
		func = place_find(&w->places, part, x.addr, x.where & 1);
		if (func == PLACE_UNKNOWN) {
			w->unknown = true;
			return false;
		}
		if (v->met)
			v->met(v, w, part, x.addr, x.where & 1);
		add_place(w, func, collapse);
		w->n = x.end = (uint32_t)w->path.n;
		vec_push(&w->raw, x);
		w->n_raw++;
	}
	return true;
}

void visible_later(struct visible_worker *w, const struct place_sample *s)
{
	const struct place_part *part;
	struct visible_raw x;

	for (int i = 0; i < VISIBLE_AHEAD && next_address(w, &part, &x); i++)
		place_find(&w->places, part, x.addr, x.where & 1);
	visible_keep(w, s);
}

/* Up to EVENT_BRIEFS. */
static int visible_read_count_samples(struct visible_worker *w, struct visible *v,
				      const struct place_sample *s, unsigned n)
{
	int code = 0;

	if (!v->count)
		return visible_count_group(w, v, s, n);
	for (unsigned i = 0; i < n && code == 0; i++)
		code = v->count(w, v, &s[i]);
	return code;
}

/* What had places without a name is looked at again, until all have one. */
static int look_again(struct visible *v, struct visible_worker *w, struct err *e)
{
	int r = 0;

	while (w->later.n && r == 0) {
		struct place_sample *later = w->later.data;
		struct arena chains = w->later_chains;
		size_t n = w->later.n;

		r = place_learn(&w->places, e);
		memset(&w->later, 0, sizeof(w->later));
		w->later_chains = (struct arena){ 0 };
		w->later_words = 0;
		for (size_t i = 0; i < n && r == 0; i += EVENT_BRIEFS)
			r = visible_read_count_samples(
				w, v, &later[i],
				(unsigned)(n - i < EVENT_BRIEFS ? n - i : EVENT_BRIEFS));
		free(later);
		arena_free(&chains);
	}
	return r;
}

static int count_some(struct reader *r)
{
	struct visible *v = r->v;
	int code = visible_read_count_samples(r->w, v, r->sample, r->n);

	r->n = 0;
	if (code == 0 && (r->w->later.n >= LATER || r->w->later_words > LATER_WORDS))
		code = look_again(v, r->w, v->e);
	return code;
}

static inline void visible_read_take(struct reader *r, const struct event_brief *b)
{
	const struct tasks *tasks = r->v->source->trace->tasks;
	const struct task_view *view =
		task_cache_view(&r->w->tasks, tasks, r->tasks_version, b->pid, b->tid, b->time);
	struct place_sample *to = &r->sample[r->n++];

	to->b = *b;
	if (r->v->o->counts || !b->weight)
		to->b.weight = 1;
	to->comm = view->comm;
	to->space = view->space;
	to->kernel = view->kernel;
	if (r->v->gaps && r->v->step == 1)
		gaps_add(&r->w->gaps, &r->w->places, r->v->source->trace, to);
}

static int on_briefs(void *ctx, const struct event_brief *b, size_t n)
{
	struct reader *r = ctx;

	for (size_t i = 0; i < n; i++)
		visible_read_take(r, &b[i]);
	return count_some(r);
}

static int visible_read_on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	struct event_brief b = { .chain = ev->chain,
				 .time = ev->time,
				 .ip = ev->ip,
				 .weight = ev->weight,
				 .pid = ev->pid,
				 .tid = ev->tid,
				 .chain_n = ev->have & EVENT_HAVE_CHAIN ? ev->chain_n : 0,
				 .cpu = ev->have & EVENT_HAVE_CPU ? ev->cpu : UINT32_MAX,
				 .type = ev->type,
				 .mode = ev->mode };

	if (ev->kind != EVENT_SAMPLE || (r->v->type != VISIBLE_ALL_TYPES && ev->type != r->v->type))
		return 0;
	visible_read_take(r, &b);
	/* of some sources its chain is not there any more later */
	return r->n == EVENT_BRIEFS || !r->v->source->stable ? count_some(r) : 0;
}

static int visible_read_read_chunk(void *ctx, size_t chunk, unsigned worker)
{
	struct visible *v = ctx;
	struct source *s = v->source;
	AUTO_FREE struct reader *r = mem_alloc(sizeof(*r));
	struct err e = { 0 };
	int code;

	r->v = v;
	r->w = &v->workers[worker];
	r->tasks_version = tasks_version(s->trace->tasks);
	if (s->read_brief && (v->type == 0 || v->type == VISIBLE_ALL_TYPES))
		code = s->read_brief(s, chunk * v->step, on_briefs, r);
	else
		code = s->read_chunk(s, chunk * v->step, visible_read_on_event, r, &e);
	if (code == 0)
		code = count_some(r);
	if (code < 0)
		*v->e = e;
	return code;
}

/* What still waits for names when all chunks were read: few names at a time would cost more. */
static int visible_read_finish(void *ctx, size_t job, unsigned worker)
{
	struct visible *v = ctx;

	return look_again(v, &v->workers[job], v->e);
}

int visible_run(struct visible *v)
{
	int r;

	for (unsigned k = 0; k < v->threads; k++) {
		visible_read_forget(&v->workers[k]);
		gaps_free(&v->workers[k].gaps);
		v->workers[k].weight = v->workers[k].samples = v->workers[k].tail_until = 0;
	}
	r = pool_run((v->source->n_chunks + v->step - 1) / v->step, v->threads,
		     visible_read_read_chunk, v);
	return r ? r : pool_run(v->threads, v->threads, visible_read_finish, v);
}

struct looking {
	const struct trace *trace;
	struct first_type first;
};

static int on_any(void *ctx, const struct event *ev)
{
	struct looking *l = ctx;

	if (ev->kind == EVENT_SAMPLE)
		first_type_see(&l->first, l->trace, ev->type, ev->time);
	return 0;
}

int visible_choose_type(struct visible *v)
{
	struct source *s = v->source;
	struct looking l = { .trace = s->trace };
	int r = 0;

	v->type = v->o->event ? match_find(s->trace, v->o->event) : MATCH_NONE;
	if (v->type != MATCH_NONE)
		return 0;
	for (size_t i = 0; i < s->n_chunks && s->trace->n_types > 1 && r == 0; i++)
		r = s->read_chunk(s, i, on_any, &l, v->e);
	v->type = l.first.type;
	return r;
}

void visible_begin(struct visible *v, struct symbols *symbols)
{
	v->workers = mem_lines(v->threads * sizeof(*v->workers));
	place_names_init(&v->names, v->source->trace, symbols, v->o->inlines, v->o->counts);
	for (unsigned k = 0; k < v->threads; k++)
		v->workers[k].places.names = &v->names;
}

void visible_end(struct visible *v)
{
	for (unsigned k = 0; k < v->threads; k++) {
		struct visible_worker *w = &v->workers[k];

		if (v->gaps)
			gaps_join(v->gaps, &w->gaps);
		vec_free(&w->places.fresh);
		map_free(&w->labels);
		vec_free(&w->path);
		vec_free(&w->raw);
		vec_free(&w->node);
		vec_free(&w->later);
		arena_free(&w->later_chains);
		prefix_tree_free(&w->tree);
	}
	free(v->workers);
	for (size_t i = 0; i < PREFIX_TREE_STORES; i++)
		vec_free(&v->store[i].word);
	place_names_free(&v->names);
	map_free(&v->labels);
	vec_free(&v->who);
}
