/* SPDX-License-Identifier: MIT */
#include "calc/time/chart.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "calc/stacks/calltree.h"

#define MISSED 2 /* periods that may pass without a sample before it is a gap */

/* An entry on its way to be a piece. */
struct seen {
	uint64_t from, to;
	uint32_t entry;
	bool spans;
};

struct maker {
	const struct stacks *s;
	VEC(struct seen) seen;
	uint64_t *period; /* by type: ns that a sample stands for */
};

static bool is_of(const struct stack_entry *en, uint32_t type)
{
	return type == CALLTREE_ALL_TYPES || en->type == type;
}

static bool spans(const struct stacks *s, uint32_t type)
{
	return type < s->clocks.n && s->clocks.data[type].spans;
}

bool chart_is_timed(const struct stacks *s, uint32_t type)
{
	vec_each (&s->entries, en)
		if (en->time && is_of(en, type))
			return true;
	return false;
}

/* --- in order --- */

/* By what the frames are called: their numbers are not the same each time. */
static int compare_stacks(const struct stacks *s, uint32_t x, uint32_t y)
{
	const struct stack *a = &s->stacks.data[x], *b = &s->stacks.data[y];

	for (uint32_t i = 0; x != y && i < a->n && i < b->n; i++) {
		uint32_t f = s->frame_ids.data[a->first + i], g = s->frame_ids.data[b->first + i];
		int d = f == g ? 0
			       : strcmp(strtab_get(&s->strings, s->frames.data[f].name),
					strtab_get(&s->strings, s->frames.data[g].name));

		if (d)
			return d;
	}
	return SORT_BY(a->n, b->n);
}

static int chart_by_thread(const void *x, const void *y, void *stacks)
{
	const struct seen *a = x, *b = y;
	const struct stacks *s = stacks;
	const struct stack_entry *e = &s->entries.data[a->entry], *f = &s->entries.data[b->entry];
	int d = SORT_BY((uint32_t)e->pid, (uint32_t)f->pid);

	d = d ? d : SORT_BY((uint32_t)e->tid, (uint32_t)f->tid);
	d = d ? d : SORT_BY(a->from, b->from);
	d = d ? d : compare_stacks(s, e->stack, f->stack);
	return d ? d : SORT_BY(a->entry, b->entry);
}

static bool same_thread(const struct stacks *s, const struct seen *a, const struct seen *b)
{
	const struct stack_entry *e = &s->entries.data[a->entry], *f = &s->entries.data[b->entry];

	return e->pid == f->pid && e->tid == f->tid;
}

static void take_entries(struct maker *m, uint32_t type, struct chart *c)
{
	double all = 0, none = 0;

	for (uint32_t i = 0; i < m->s->entries.n; i++) {
		const struct stack_entry *en = &m->s->entries.data[i];
		struct seen x = { .from = en->time, .entry = i };
		uint64_t length = en->weight > 0 ? (uint64_t)en->weight : 0;

		if (!is_of(en, type))
			continue;
		all += (double)length;
		if (!en->time) {
			none += (double)length;
			continue;
		}
		if (spans(m->s, en->type)) {
			x.spans = true;
			x.to = en->time;
			x.from = en->time - (length < en->time ? length : en->time);
		}
		vec_push(&m->seen, x);
	}
	c->left_out = all > 0 ? none / all : 0;
	if (m->seen.n)
		qsort_r(m->seen.data, m->seen.n, sizeof(*m->seen.data), chart_by_thread,
			(void *)m->s);
}

/* --- how long a sample stands for --- */

static int by_size(const void *x, const void *y)
{
	return SORT_BY(*(const uint64_t *)x, *(const uint64_t *)y);
}

/*
 * Time between samples of a thread that ran on: what a quarter of the gaps is below, because the
 * others may be waits. 0: there are none.
 */
static uint64_t usual_gap(const struct maker *m, uint32_t type)
{
	VEC(uint64_t) gaps = { 0 };
	const struct seen *last = NULL;
	uint64_t count = 0, gap = 0;

	vec_each (&m->seen, x) {
		const struct stack_entry *en = &m->s->entries.data[x->entry];

		if (en->type != type)
			continue;
		if (last && same_thread(m->s, last, x) && x->from > last->from)
			vec_push(&gaps, (x->from - last->from) / (count ? count : 1));
		if (!last || !same_thread(m->s, last, x) || x->from > last->from)
			count = 0;
		count += en->count;
		last = x;
	}
	if (gaps.n) {
		qsort(gaps.data, gaps.n, sizeof(*gaps.data), by_size);
		gap = gaps.data[gaps.n / 4];
	}
	vec_free(&gaps);
	return gap;
}

/* What was asked for, unless the machine gave samples less often. */
static void find_periods(struct maker *m, uint64_t whole)
{
	size_t n = m->s->type_names.n;

	m->period = mem_alloc((n + 1) * sizeof(*m->period));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t known = i < m->s->clocks.n ? m->s->clocks.data[i].period : 0;
		uint64_t gap = usual_gap(m, i);

		m->period[i] = !known ? gap : gap > known && gap < 8 * known ? gap : known;
		if (!m->period[i])
			m->period[i] = whole / 1000 + 1;
	}
}

/* --- pieces --- */

/*
 * Samples [at, end) of a thread have the same time, or the same step of it: they share what they
 * stand for, up to what follows (next; 0: nothing).
 */
static void give_length(struct maker *m, size_t at, size_t end, uint64_t next)
{
	const struct stack_entry *en = m->s->entries.data;
	uint64_t from = m->seen.data[at].from, count = 0, sum = 0, length;
	uint64_t period = m->period[en[m->seen.data[at].entry].type];

	for (size_t i = at; i < end; i++)
		count += en[m->seen.data[i].entry].count;
	count = count ? count : 1;
	length = count * period;
	if (next && next - from <= length + MISSED * period + m->s->time_quantum / 4)
		length = next - from;
	for (size_t i = at; i < end; i++) {
		struct seen *x = &m->seen.data[i];

		x->from = from + (uint64_t)((double)length * (double)sum / (double)count);
		sum += en[x->entry].count;
		x->to = from + (uint64_t)((double)length * (double)sum / (double)count);
	}
}

static void give_lengths(struct maker *m)
{
	struct seen *x = m->seen.data;

	for (size_t i = 0; i < m->seen.n;) {
		size_t end = i + 1;
		uint64_t next;

		if (x[i].spans) {
			i++;
			continue;
		}
		while (end < m->seen.n && !x[end].spans && x[end].from == x[i].from &&
		       same_thread(m->s, &x[i], &x[end]))
			end++;
		next = end < m->seen.n && same_thread(m->s, &x[i], &x[end]) ? x[end].from : 0;
		give_length(m, i, end, next);
		i = end;
	}
}

/* Threads and their pieces, which end where the next one of the thread begins. */
static void make_pieces(struct maker *m, struct chart *c)
{
	struct chart_thread *t = NULL;

	for (size_t i = 0; i < m->seen.n; i++) {
		const struct seen *x = &m->seen.data[i];
		const struct stack_entry *en = &m->s->entries.data[x->entry];
		uint64_t from = x->from, to = x->to;

		if (!i || !same_thread(m->s, x - 1, x)) {
			t = vec_add(&c->threads);
			*t = (struct chart_thread){ .pid = en->pid,
						    .tid = en->tid,
						    .first = (uint32_t)c->pieces.n,
						    .from = from };
		}
		if (!x->spans && i + 1 < m->seen.n && same_thread(m->s, x, x + 1) &&
		    (x + 1)->spans && to > (x + 1)->from)
			to = (x + 1)->from;
		if (t->n && from < t->to)
			from = t->to;
		if (to <= from)
			continue;
		vec_push(&c->pieces, (struct chart_piece){ from, to, x->entry, 0 });
		t->n++;
		t->to = to;
	}
}

/* --- lanes --- */

static int chart_by_start(const void *x, const void *y)
{
	const struct chart_thread *a = x, *b = y;
	int d = SORT_BY(a->from, b->from);

	d = d ? d : SORT_BY((uint32_t)a->pid, (uint32_t)b->pid);
	return d ? d : SORT_BY((uint32_t)a->tid, (uint32_t)b->tid);
}

static int by_lane(const void *x, const void *y)
{
	const struct chart_thread *a = x, *b = y;
	int d = SORT_BY(a->lane, b->lane);

	return d ? d : chart_by_start(x, y);
}

struct lane {
	uint64_t end;
	int32_t pid;
};

static void give_lanes(struct chart *c)
{
	VEC(struct lane) lanes = { 0 };

	if (c->threads.n)
		qsort(c->threads.data, c->threads.n, sizeof(*c->threads.data), chart_by_start);
	vec_each (&c->threads, t) {
		uint32_t free_one = UINT32_MAX;

		if (!t->n)
			continue;
		for (uint32_t i = 0; i < lanes.n; i++) {
			if (lanes.data[i].end > t->from)
				continue;
			if (free_one == UINT32_MAX || lanes.data[i].pid == t->pid)
				free_one = i;
			if (lanes.data[i].pid == t->pid)
				break;
		}
		if (free_one == UINT32_MAX) {
			free_one = (uint32_t)lanes.n;
			vec_push(&lanes, (struct lane){ 0 });
		}
		lanes.data[free_one] = (struct lane){ t->to, t->pid };
		t->lane = free_one;
	}
	c->lanes = (uint32_t)lanes.n;
	vec_free(&lanes);
	if (c->threads.n)
		qsort(c->threads.data, c->threads.n, sizeof(*c->threads.data), by_lane);
}

/* The pieces in the order that their threads have now. */
static void order_pieces(struct chart *c)
{
	VEC(struct chart_piece) pieces = { 0 };

	vec_reserve(&pieces, c->pieces.n + 1);
	for (uint32_t i = 0; i < c->threads.n; i++) {
		struct chart_thread *t = &c->threads.data[i];
		uint32_t first = t->first;

		t->first = (uint32_t)pieces.n;
		for (uint32_t k = 0; k < t->n; k++) {
			pieces.data[pieces.n] = c->pieces.data[first + k];
			pieces.data[pieces.n++].thread = i;
		}
		if (t->n && (!c->to || t->from < c->from))
			c->from = t->from;
		if (t->n && t->to > c->to)
			c->to = t->to;
	}
	vec_free(&c->pieces);
	memcpy(&c->pieces, &pieces, sizeof(pieces));
}

void chart_make(const struct stacks *s, uint32_t type, struct chart *ret)
{
	struct maker m = { .s = s };
	uint64_t first = UINT64_MAX, last = 0;

	*ret = (struct chart){ 0 };
	take_entries(&m, type, ret);
	vec_each (&m.seen, x) {
		first = x->from < first ? x->from : first;
		last = x->from > last ? x->from : last;
	}
	find_periods(&m, last > first ? last - first : 0);
	give_lengths(&m);
	make_pieces(&m, ret);
	give_lanes(ret);
	order_pieces(ret);
	free(m.period);
	vec_free(&m.seen);
}

uint64_t chart_period(const struct stacks *s, uint32_t type)
{
	uint64_t period = type < s->clocks.n ? s->clocks.data[type].period : 0;
	struct maker m = { .s = s };

	if (!period && !spans(s, type)) {
		take_entries(&m, type, &(struct chart){ 0 });
		period = usual_gap(&m, type);
		vec_free(&m.seen);
	}
	return period;
}

void chart_free(struct chart *c)
{
	vec_free(&c->pieces);
	vec_free(&c->threads);
}
