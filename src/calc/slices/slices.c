/* SPDX-License-Identifier: MIT */
/*
 * What has begun stands in a pool; a table leads to it by the values of its keys. What has ended
 * stays there for the next one with the same keys, until the table is full: then only what is open
 * is kept, so that a view may run for days.
 */
#include "calc/slices/slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/match.h"

enum key_source { KEY_FIELD, KEY_TID, KEY_PID, KEY_CPU, KEY_COMM };

/* What a type is for one side of the slices. */
struct side {
	bool used;
	struct {
		enum key_source from;
		const struct field *field;
	} key[SLICE_KEYS];
};

struct begun {
	struct slice slice;
	uint64_t key[SLICE_KEYS];
	uint32_t below; /* what it is inside of, or the next free one; + 1 */
	uint32_t depth; /* 0: nothing is open with these keys */
	bool hidden;
};

struct slot {
	uint64_t hash;
	uint32_t at; /* in the pool, + 1; 0: free */
};

struct slices {
	const struct trace *trace;
	const struct slice_rule *rule;
	struct slice_rule own; /* what rule leads to, of slices_calls() */
	struct slices_opts o;
	struct side *begin, *end; /* by type */
	struct strtab strings;
	VEC(struct begun) pool;
	uint32_t free_at;
	struct slot *slot;
	size_t n, cap; /* of slots; cap is 0 or a power of two */
	struct slices_counts counts;
};

/* --- the table --- */

static struct begun *slices_at(const struct slices *s, uint32_t at)
{
	return &s->pool.data[at - 1];
}

/*
 * Where the keys stand, or the free place they would get. map_hash() is one to one: of one key the
 * hash tells all.
 */
static struct slot *slices_place(struct slices *s, uint64_t hash, const uint64_t *key)
{
	size_t at = hash & (s->cap - 1), n = s->rule->n_keys;

	for (; s->slot[at].at; at = (at + 1) & (s->cap - 1))
		if (s->slot[at].hash == hash && (n == 1 || memcmp(slices_at(s, s->slot[at].at)->key,
								  key, n * sizeof(*key)) == 0))
			break;
	return &s->slot[at];
}

static uint32_t slices_take(struct slices *s)
{
	uint32_t at = s->free_at;

	if (!at) {
		vec_add(&s->pool);
		return (uint32_t)s->pool.n;
	}
	s->free_at = slices_at(s, at)->below;
	return at;
}

static void slices_give_back(struct slices *s, uint32_t at)
{
	slices_at(s, at)->below = s->free_at;
	slices_at(s, at)->depth = 0;
	s->free_at = at;
}

/* A table with room, of what is open. */
static void slices_renew(struct slices *s)
{
	size_t cap = s->cap;
	struct slot *old = s->slot;

	s->n = 0;
	for (size_t i = 0; i < cap; i++)
		s->n += old[i].at && slices_at(s, old[i].at)->depth;
	for (s->cap = 1024; s->cap < s->n * 4;)
		s->cap *= 2;
	s->slot = mem_alloc(s->cap * sizeof(*s->slot));
	for (size_t i = 0; i < cap; i++)
		if (old[i].at && slices_at(s, old[i].at)->depth)
			*slices_place(s, old[i].hash, slices_at(s, old[i].at)->key) = old[i];
		else if (old[i].at)
			slices_give_back(s, old[i].at);
	free(old);
}

/* What is innermost at the slot has ended. */
static void slices_drop(struct slices *s, struct slot *o)
{
	struct begun *b = slices_at(s, o->at);
	uint32_t at = o->at;

	s->counts.open -= !b->hidden;
	b->depth = 0;
	if (b->below) {
		o->at = b->below;
		slices_give_back(s, at);
	}
}

/* --- keys --- */

static int slices_no_event(const struct trace *t, const char *name, struct err *e)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < t->n_types && b.n < 300; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", t->types[i].name);
	err_set(e, ENOENT, "there is no event %s here", name);
	return err_hint(e, "there %s %s", t->n_types == 1 ? "is only" : "are",
			b.n ? strbuf_str(&b) : "none");
}

static int slices_no_field(const struct event_type *t, const char *name, struct err *e)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			strbuf_printf(&b, "%s, ", t->fields[i].name);
	err_set(e, ENOENT, "the event %s has no field %s", t->name, name);
	return err_hint(e, "it has %stid, pid, cpu and comm", strbuf_str(&b));
}

static bool common_source(const char *name, enum key_source *ret)
{
	static const char *const names[] = {
		[KEY_TID] = "tid", [KEY_PID] = "pid", [KEY_CPU] = "cpu", [KEY_COMM] = "comm"
	};

	for (unsigned i = KEY_TID; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

/* Of several events that may begin (or end) a slice not all need be there, but one. */
static int slices_find(struct slices *s, bool end, struct err *e)
{
	const char *const *name = end ? s->rule->end : s->rule->begin;
	unsigned n = end ? s->rule->n_end : s->rule->n_begin;
	struct side *side = end ? s->end : s->begin;
	bool any = false;

	for (size_t k = 0; k < n * s->trace->n_types; k++) {
		size_t i = k % s->trace->n_types;
		const struct event_type *type = &s->trace->types[i];

		if (!match_type(type, name[k / s->trace->n_types]))
			continue;
		for (unsigned f = 0; f < s->rule->n_keys; f++) {
			const char *key = end ? s->rule->key[f].end : s->rule->key[f].begin;

			side[i].key[f].from = KEY_FIELD;
			side[i].key[f].field = type_field(type, key);
			if (!side[i].key[f].field && !common_source(key, &side[i].key[f].from))
				return slices_no_field(type, key, e);
		}
		side[i].used = any = true;
	}
	return any || s->o.may_lack ? 0 : slices_no_event(s->trace, name[n - 1], e);
}

static bool field_key(const struct field *f, struct strtab *tab, const struct event *ev,
		      uint64_t *ret)
{
	const char *text;
	int64_t v;
	size_t n;

	if (field_int(f, ev->raw, ev->raw_size, &v)) {
		*ret = (uint64_t)v;
		return true;
	}
	if (!field_str(f, ev->raw, ev->raw_size, &text, &n))
		return false;
	*ret = strtab_addn(tab, text, n);
	return true;
}

/* The keys' values, strings as ids, and their hash; false when the record is too short. */
static inline bool slices_key(struct slices *s, const struct side *side, const struct event *ev,
			      uint64_t *key, uint64_t *hash)
{
	for (unsigned i = 0; i < s->rule->n_keys; i++)
		switch (side->key[i].from) {
		case KEY_FIELD:
			if (!field_key(side->key[i].field, &s->strings, ev, &key[i]))
				return false;
			break;
		case KEY_TID: key[i] = (uint64_t)(int64_t)ev->tid; break;
		case KEY_PID: key[i] = (uint64_t)(int64_t)ev->pid; break;
		case KEY_CPU: key[i] = ev->cpu; break;
		case KEY_COMM:
			key[i] = strtab_add(&s->strings,
					    tasks_name_or(s->trace->tasks, ev->tid, ev->time, ""));
			break;
		}
	if (s->o.keys)
		s->o.keys(s->o.ctx, ev, key);
	*hash = 0;
	for (unsigned i = 0; i < s->rule->n_keys; i++)
		*hash = map_hash(*hash ^ key[i]);
	return true;
}

/* --- events --- */

static int slices_hand(struct slices *s, struct slice *x, enum slice_kind kind, uint64_t time,
		       const struct event *end)
{
	x->kind = kind;
	x->to = time > x->from ? time : x->from;
	x->end = end;
	return s->o.fn ? s->o.fn(s->o.ctx, x) : 0;
}

static int slices_end(struct slices *s, const struct side *side, const struct event *ev)
{
	enum slice_kind kind = SLICE_WHOLE;
	uint64_t key[SLICE_KEYS], hash;
	struct slice none = { 0 }, *x = &none;
	struct slot *o;
	int r;

	if (!slices_key(s, side, ev, key, &hash))
		return 0;
	o = s->cap ? slices_place(s, hash, key) : NULL;
	if (!o || !o->at || !slices_at(s, o->at)->depth) {
		o = NULL;
		kind = SLICE_LONE_END;
	} else if (slices_at(s, o->at)->hidden) {
		slices_drop(s, o);
		return 0;
	} else {
		x = &slices_at(s, o->at)->slice;
		if (s->o.fits && !s->o.fits(s->o.ctx, x, ev))
			kind = SLICE_MISFIT;
	}
	s->counts.ends++;
	*(kind == SLICE_WHOLE ? &s->counts.matched : &s->counts.lone_ends) += 1;
	r = slices_hand(s, x, kind, ev->time, ev);
	if (o && (kind == SLICE_WHOLE || !s->o.misfits_pass))
		slices_drop(s, o);
	return r;
}

static int slices_begin(struct slices *s, const struct side *side, const struct event *ev)
{
	uint64_t key[SLICE_KEYS], hash;
	bool hidden = s->o.hide && s->o.hide(s->o.ctx, ev);
	uint32_t below = 0, depth = 1;
	struct begun *b;
	struct slot *o;
	int r = 0;

	if (!slices_key(s, side, ev, key, &hash))
		return 0;
	if (s->n * 2 >= s->cap)
		slices_renew(s);
	o = slices_place(s, hash, key);
	s->counts.begins += !hidden;
	b = o->at ? slices_at(s, o->at) : NULL;
	if (b && b->depth) {
		if (s->rule->again == SLICE_NESTS) {
			below = o->at;
			depth = b->depth + 1;
		}
		s->counts.again += !b->hidden && (!below || depth > SLICE_DEPTH);
		if (s->rule->again == SLICE_KEEPS || depth > SLICE_DEPTH)
			return 0;
		if (!below && !b->hidden)
			r = slices_hand(s, &b->slice, SLICE_LOST_END, ev->time, ev);
		if (!below)
			slices_drop(s, o);
	}
	s->n += !o->at;
	if (below || !o->at)
		*o = (struct slot){ hash, slices_take(s) };
	b = slices_at(s, o->at);
	b->below = below;
	b->depth = depth;
	b->hidden = hidden;
	memcpy(b->key, key, s->rule->n_keys * sizeof(*key));
	s->counts.open += !hidden;
	if (hidden)
		return r;
	b->slice = (struct slice){
		.from = ev->time, .pid = ev->pid, .tid = ev->tid, .cpu = ev->cpu, .type = ev->type
	};
	if (s->o.begin)
		b->slice.note = s->o.begin(s->o.ctx, ev, o->at - 1);
	return r;
}

int slices_add(void *slices, const struct event *ev)
{
	struct slices *s = slices;
	int r = 0;

	if (ev->kind != EVENT_SAMPLE || ev->type >= s->trace->n_types)
		return 0;
	if (s->end[ev->type].used)
		r = slices_end(s, &s->end[ev->type], ev);
	if (r == 0 && s->begin[ev->type].used)
		r = slices_begin(s, &s->begin[ev->type], ev);
	return r;
}

int slices_finish(struct slices *s, uint64_t time)
{
	AUTO_FREE struct sort_key *open = mem_alloc((s->pool.n + 1) * sizeof(*open));
	size_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < s->pool.n; i++)
		if (s->pool.data[i].depth && !s->pool.data[i].hidden)
			open[n++] = (struct sort_key){ s->pool.data[i].slice.from, i };
	sort_keys(open, n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = slices_hand(s, &s->pool.data[open[i].index].slice, SLICE_OPEN, time, NULL);
	return r;
}

bool slices_begins(const struct slices *s, uint32_t type)
{
	return s->begin[type].used;
}

bool slices_uses(const struct slices *s, uint32_t type)
{
	return s->begin[type].used || s->end[type].used;
}

void slices_count(const struct slices *s, struct slices_counts *ret)
{
	*ret = s->counts;
}

int slices_new(const struct trace *t, const struct slice_rule *rule, const struct slices_opts *o,
	       struct slices **ret, struct err *e)
{
	struct slices *s = mem_alloc(sizeof(*s));
	int r;

	*s = (struct slices){ .trace = t, .rule = rule, .o = *o };
	s->begin = mem_alloc((t->n_types + 1) * sizeof(*s->begin));
	s->end = mem_alloc((t->n_types + 1) * sizeof(*s->end));
	r = slices_find(s, false, e);
	if (r == 0)
		r = slices_find(s, true, e);
	if (r < 0) {
		slices_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	free(s->begin);
	free(s->end);
	free(s->slot);
	vec_free(&s->pool);
	strtab_free(&s->strings);
	slice_rule_free(&s->own);
	free(s);
}

/* --- system calls --- */

const char *slices_call_name(const struct event_type *t, const struct event *ev, char *buf,
			     size_t size)
{
	const char *own = t->event + strcspn(t->event, "_") + 1;
	const struct field *id = type_field(t, "id");
	int64_t v = 0;

	own = strchr(own, '_');
	if (own)
		return own + 1;
	if (id)
		field_int(id, ev->raw, ev->raw_size, &v);
	snprintf(buf, size, "syscall %" PRId64, v);
	return buf;
}

struct slices *slices_calls(const struct trace *t, struct slices_opts o)
{
	struct slice_rule rule;
	struct slices *s = NULL;

	o.may_lack = true; /* and so nothing can fail */
	if (slice_rule_parse(SLICE_CALLS, &rule, NULL) < 0 ||
	    slices_new(t, &rule, &o, &s, NULL) < 0)
		return NULL;
	s->own = rule;
	s->rule = &s->own;
	return s;
}
