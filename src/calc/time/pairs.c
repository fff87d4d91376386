/* SPDX-License-Identifier: MIT */
/*
 * Open beginnings stand in a table by the values of their keys. They are taken
 * out when they end, so that a view may run for days: the table shrinks by
 * moving later entries back, as is right for linear probing.
 */
#include "calc/time/pairs.h"

#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "calc/time/pairs_key.h"

struct open {
	uint64_t hash; /* 0: free */
	uint64_t key[PAIR_KEYS];
	struct pair_begin begin;
	bool hidden;
};

struct pairs {
	const struct trace *trace;
	const struct pair_spec *spec;
	struct pairs_opts o;
	struct pairs_side *begin, *end; /* by type */
	struct strtab strings;
	struct open *open;
	size_t n, cap; /* cap is 0 or a power of two */
	size_t hidden; /* of n */
	struct pairs_counts counts;
};

/* --- the table --- */

static uint64_t hash_of(const uint64_t *key, unsigned n)
{
	uint64_t h = map_hash_bytes(key, n * sizeof(*key));

	return h ? h : 1;
}

/* Where the key stands, or the free place it would get. */
static struct open *pairs_place(struct pairs *p, uint64_t hash, const uint64_t *key)
{
	size_t at = hash & (p->cap - 1);

	for (; p->open[at].hash; at = (at + 1) & (p->cap - 1))
		if (p->open[at].hash == hash &&
		    memcmp(p->open[at].key, key, p->spec->n_keys * sizeof(*key)) == 0)
			break;
	return &p->open[at];
}

static void pairs_grow(struct pairs *p)
{
	size_t cap = p->cap;
	struct open *old = p->open;

	p->cap = cap ? cap * 2 : 1024;
	p->open = mem_alloc(p->cap * sizeof(*p->open));
	for (size_t i = 0; i < cap; i++)
		if (old[i].hash)
			*pairs_place(p, old[i].hash, old[i].key) = old[i];
	free(old);
}

static void take_out(struct pairs *p, struct open *o)
{
	size_t mask = p->cap - 1, hole = (size_t)(o - p->open);

	for (size_t at = (hole + 1) & mask; p->open[at].hash; at = (at + 1) & mask) {
		size_t home = p->open[at].hash & mask;

		/* may it stand at the hole? not when its home lies behind that */
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			p->open[hole] = p->open[at];
			hole = at;
		}
	}
	p->open[hole].hash = 0;
	p->n--;
}

/* --- events --- */

static bool time_pairs_key_of(struct pairs *p, const struct pairs_side *side,
			      const struct event *ev, uint64_t *key)
{
	if (!pairs_key_of(side, p->trace, &p->strings, p->spec->n_keys, ev, key))
		return false;
	if (p->o.keys)
		p->o.keys(p->o.ctx, ev, key);
	return true;
}

static int end_pair(struct pairs *p, const struct pairs_side *side, const struct event *ev)
{
	uint64_t key[PAIR_KEYS], hash;
	struct pair found = { .end = ev };
	struct open *o;

	if (!time_pairs_key_of(p, side, ev, key))
		return 0;
	hash = hash_of(key, p->spec->n_keys);
	o = p->cap ? pairs_place(p, hash, key) : NULL;
	if (o && o->hash && o->hidden) {
		p->hidden--;
		take_out(p, o);
		return 0;
	}
	p->counts.ends++;
	if (!o || !o->hash) {
		p->counts.lone_ends++;
		return 0;
	}
	found.begin = o->begin;
	found.time = ev->time > o->begin.time ? ev->time - o->begin.time : 0;
	take_out(p, o);
	p->counts.matched++;
	return p->o.fn ? p->o.fn(p->o.ctx, &found) : 0;
}

static void begin_pair(struct pairs *p, const struct pairs_side *side, const struct event *ev)
{
	uint64_t key[PAIR_KEYS] = { 0 }, hash;
	bool hidden = p->o.hide && p->o.hide(p->o.ctx, ev);
	struct open *o;

	if (!time_pairs_key_of(p, side, ev, key))
		return;
	hash = hash_of(key, p->spec->n_keys);
	if (p->n * 2 >= p->cap)
		pairs_grow(p);
	o = pairs_place(p, hash, key);
	p->counts.begins += !hidden;
	if (o->hash) {
		p->counts.again += !o->hidden;
		if (p->spec->keep_first)
			return;
		p->hidden -= o->hidden;
	} else {
		p->n++;
		o->hash = hash;
		memcpy(o->key, key, sizeof(key));
	}
	o->hidden = hidden;
	p->hidden += hidden;
	if (hidden)
		return;
	o->begin = (struct pair_begin){ .time = ev->time,
					.pid = ev->pid,
					.tid = ev->tid,
					.cpu = ev->cpu,
					.type = ev->type,
					.note = p->o.note ? p->o.note(p->o.ctx, ev) : 0 };
}

int pairs_add(void *pairs, const struct event *ev)
{
	struct pairs *p = pairs;
	int r = 0;

	if (ev->kind != EVENT_SAMPLE || ev->type >= p->trace->n_types)
		return 0;
	if (p->end[ev->type].used)
		r = end_pair(p, &p->end[ev->type], ev);
	if (r == 0 && p->begin[ev->type].used)
		begin_pair(p, &p->begin[ev->type], ev);
	return r;
}

void pairs_count(const struct pairs *p, struct pairs_counts *ret)
{
	*ret = p->counts;
	ret->open = p->n - p->hidden;
}

int pairs_new(const struct trace *t, const struct pair_spec *s, const struct pairs_opts *o,
	      struct pairs **ret, struct err *e)
{
	struct pairs *p = mem_alloc(sizeof(*p));
	int r = 0;

	*p = (struct pairs){ .trace = t, .spec = s, .o = *o };
	p->begin = mem_alloc((t->n_types + 1) * sizeof(*p->begin));
	p->end = mem_alloc((t->n_types + 1) * sizeof(*p->end));
	for (unsigned i = 0; i < s->n_begin && r == 0; i++)
		r = pairs_key_find(t, s, s->begin[i], false, !o->may_lack && i + 1 == s->n_begin,
				   p->begin, e);
	for (unsigned i = 0; i < s->n_end && r == 0; i++)
		r = pairs_key_find(t, s, s->end[i], true, !o->may_lack && i + 1 == s->n_end, p->end,
				   e);
	if (r < 0) {
		pairs_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	free(p->begin);
	free(p->end);
	free(p->open);
	strtab_free(&p->strings);
	free(p);
}
