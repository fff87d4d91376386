/* SPDX-License-Identifier: MIT */
#include "calc/visible_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

/* Samples that wait for names, and words of their chains: what fits into a cache. */
#define LATER 2048
#define LATER_WORDS (1u << 16)

struct reader {
	struct visible *v;
	struct visible_worker *w;
};

static uint64_t label_key(const struct visible *v, const struct event *ev, uint32_t comm)
{
	uint64_t key = comm;

	if (v->o->by_pid || v->o->by_tid)
		key ^= map_hash((uint64_t)(uint32_t)ev->pid << 32 |
				(v->o->by_tid ? (uint32_t)ev->tid : 0));
	return key;
}

/* Numbered alike in all threads. */
static uint32_t new_label(struct visible *v, const struct event *ev,
			  const struct profile_entry *who, uint64_t key)
{
	struct profile_entry l = *who;
	uint64_t *at, n;

	l.pid = ev->pid;
	l.tid = ev->tid;
	pthread_mutex_lock(&v->names.lock);
	at = map_at(&v->labels, key);
	if (!*at) {
		vec_push(&v->label, l);
		*at = v->label.n;
	}
	n = *at;
	pthread_mutex_unlock(&v->names.lock);
	return (uint32_t)n - 1;
}

static uint32_t label_of(struct visible_worker *w, struct visible *v, const struct event *ev,
			 const struct profile_entry *who)
{
	uint64_t key = label_key(v, ev, who->comm), *at;

	if (w->label_known && key == w->label_key)
		return w->label;
	at = map_at(&w->labels, key);
	if (!*at)
		*at = (uint64_t)new_label(v, ev, who, key) + 1;
	w->label_known = true;
	w->label_key = key;
	w->label = VISIBLE_LABEL | ((uint32_t)*at - 1);
	return w->label;
}

static void keep_for_later(struct visible_worker *w, const struct event *ev,
			   const struct profile_entry *who)
{
	struct visible_later l = { .ev = *ev, .who = *who };

	if (ev->have & EVENT_HAVE_CHAIN)
		l.ev.chain =
			arena_dup(&w->later_chains, ev->chain, ev->chain_n * sizeof(*ev->chain));
	vec_push(&w->later, l);
	w->later_words += ev->chain_n + 1;
}

/* False: the limit is reached. */
static bool add_function(struct visible_worker *w, uint32_t func, uint32_t limit, bool collapse)
{
	if (collapse && w->path.n && w->path.data[w->path.n - 1] == func)
		return true;
	if (w->path.n >= limit)
		return false;
	vec_push(&w->path, func);
	return true;
}

static bool add_place(struct visible_worker *w, uint32_t func, uint32_t limit, bool collapse)
{
	const uint32_t *list;

	if (!(func & PLACE_SEVERAL))
		return add_function(w, func, limit, collapse);
	list = place_list(w->places.names, func);
	for (uint32_t i = 1; i <= list[0]; i++)
		if (!add_function(w, list[i], limit, collapse))
			return false;
	return true;
}

static bool raw_same(const struct visible_raw *a, const struct visible_raw *b)
{
	return a->addr == b->addr && a->space == b->space && a->mode == b->mode &&
	       a->caller == b->caller;
}

/* What was kept of the last sample is good for no other. */
static void forget(struct visible_worker *w)
{
	w->raw.n = w->path.n = w->node.n = w->hash.n = 0;
}

/* The path up to here is that of the last sample, and what follows is not. */
static void part_here(struct visible_worker *w, uint32_t raw, uint32_t path)
{
	w->raw.n = raw;
	w->path.n = path;
	if (w->node.n > path)
		w->node.n = path;
	if (w->hash.n > path)
		w->hash.n = path;
}

/* The label; one that differs is another path from the start. */
static uint32_t begin_path(struct visible_worker *w, struct visible *v, const struct event *ev,
			   const struct profile_entry *who)
{
	uint32_t label;

	w->longer = false;
	if (!v->o->by_comm)
		return 0;
	label = label_of(w, v, ev, who);
	if (!w->path.n || w->path.data[0] != label) {
		forget(w);
		vec_push(&w->path, label);
	}
	return 1;
}

int visible_path(struct visible_worker *w, struct visible *v, const struct event *ev,
		 const struct profile_entry *who, uint32_t limit)
{
	bool collapse = v->o->collapse_recursion, unknown = false, same = true;
	uint32_t n = 0, end = begin_path(w, v, ev, who);
	struct place_parts parts;

	if (!places_split(ev, who, &parts))
		return -EOPNOTSUPP;
	for (uint32_t i = parts.n; i-- > 0;) {
		const struct place_part *p = &parts.part[i];

		for (uint32_t at = p->end; at-- > p->first; n++) {
			struct visible_raw x = { .addr = parts.ip[at],
						 .space = p->space,
						 .mode = p->mode,
						 .caller = at > p->first };
			uint32_t func;

			if (end >= limit && !collapse) {
				w->longer = true;
				goto cut;
			}
			if (same && n < w->raw.n && w->raw.data[n].end <= limit &&
			    raw_same(&w->raw.data[n], &x)) {
				end = w->raw.data[n].end;
				continue;
			}
			if (same)
				part_here(w, n, end);
			same = false;
			func = place_find(&w->places, p, x.addr, x.caller);
			if (func == PLACE_UNKNOWN) {
				/* go on: it is one frame at least, and the others are met, too */
				unknown = true;
				vec_push(&w->path, UINT32_MAX);
			} else if (!add_place(w, func, limit, collapse)) {
				w->longer = true;
				goto cut;
			}
			end = x.end = (uint32_t)w->path.n;
			vec_push(&w->raw, x);
		}
	}
cut:
	if (same)
		part_here(w, n, end);
	if (unknown) {
		keep_for_later(w, ev, who);
		forget(w);
	}
	return unknown;
}

/* What had places without a name is looked at again, until all have one. */
static int look_again(struct visible *v, struct visible_worker *w, struct err *e)
{
	int r = 0;

	while (w->later.n && r == 0) {
		struct visible_later *later = w->later.data;
		struct arena chains = w->later_chains;
		size_t n = w->later.n;

		r = place_learn(&w->places, e);
		memset(&w->later, 0, sizeof(w->later));
		w->later_chains = (struct arena){ 0 };
		w->later_words = 0;
		for (size_t i = 0; i < n && r == 0; i++)
			r = v->pass(w, v, &later[i].ev, &later[i].who);
		free(later);
		arena_free(&chains);
	}
	return r;
}

static int on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	struct profile_entry who = { 0 };
	int code;

	if (ev->kind != EVENT_SAMPLE || ev->type != r->v->type)
		return 0;
	task_cache_ask(&r->w->tasks, r->v->source->trace->tasks, ev, &who);
	code = r->v->pass(r->w, r->v, ev, &who);
	if (code == 0 && (r->w->later.n >= LATER || r->w->later_words > LATER_WORDS))
		code = look_again(r->v, r->w, r->v->e);
	return code;
}

static int read_chunk(void *ctx, size_t chunk, unsigned worker)
{
	struct reader r = { .v = ctx, .w = &((struct visible *)ctx)->workers[worker] };
	struct err e = { 0 };
	int code = r.v->source->read_chunk(r.v->source, chunk, on_event, &r, &e);

	if (code == 0)
		code = look_again(r.v, r.w, &e);
	if (code < 0)
		*r.v->e = e;
	return code;
}

int visible_run(struct visible *v,
		int (*pass)(struct visible_worker *w, struct visible *v, const struct event *ev,
			    const struct profile_entry *who))
{
	v->pass = pass;
	for (unsigned k = 0; k < v->threads; k++)
		forget(&v->workers[k]);
	return pool_run(v->source->n_chunks, v->threads, read_chunk, v);
}

struct earliest {
	uint64_t time;
	uint32_t type;
	bool any;
};

static int on_any(void *ctx, const struct event *ev)
{
	struct earliest *a = ctx;

	if (ev->kind != EVENT_SAMPLE || (a->any && ev->time >= a->time))
		return 0;
	*a = (struct earliest){ .time = ev->time, .type = ev->type, .any = true };
	return 0;
}

int visible_choose_type(struct visible *v)
{
	struct earliest a = { 0 };
	int r = 0;

	if (v->o->type != UINT32_MAX || v->source->trace->n_types <= 1) {
		v->type = v->o->type != UINT32_MAX ? v->o->type : 0;
		return 0;
	}
	for (size_t i = 0; i < v->source->n_chunks && r == 0; i++)
		r = v->source->read_chunk(v->source, i, on_any, &a, v->e);
	v->type = a.type;
	return r;
}

void visible_begin(struct visible *v, struct symbols *symbols)
{
	v->workers = mem_alloc(v->threads * sizeof(*v->workers));
	place_names_init(&v->names, v->source->trace, symbols, v->o->inlines, v->o->counts);
	for (unsigned k = 0; k < v->threads; k++)
		v->workers[k].places.names = &v->names;
}

void visible_end(struct visible *v)
{
	for (unsigned k = 0; k < v->threads; k++) {
		struct visible_worker *w = &v->workers[k];

		place_reader_free(&w->places);
		map_free(&w->labels);
		vec_free(&w->path);
		vec_free(&w->raw);
		vec_free(&w->node);
		vec_free(&w->hash);
		vec_free(&w->later);
		arena_free(&w->later_chains);
		trie_free(&w->trie);
		free(w->sketch);
	}
	free(v->workers);
	free(v->sketch);
	free(v->deep);
	place_names_free(&v->names);
	map_free(&v->labels);
	vec_free(&v->label);
}
