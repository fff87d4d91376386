/* SPDX-License-Identifier: MIT */
#include "calc/stacks/functions.h"

#include <stdlib.h>
#include <string.h>

/* Sums by frame; a stamp tells whether an entry was counted for it already. */
struct sums {
	const struct names *n;
	struct function *by_frame; /* one more at the end: nobody */
	uint32_t *stamp;
	uint32_t now;
};

static struct sums sums_new(const struct names *n)
{
	struct sums s = { .n = n };

	s.by_frame = mem_alloc((n->frames.n + 1) * sizeof(*s.by_frame));
	s.stamp = mem_alloc((n->frames.n + 1) * sizeof(*s.stamp));
	return s;
}

static void count_for(struct sums *s, size_t frame, const struct profile_entry *e)
{
	if (s->stamp[frame] == s->now)
		return;
	s->stamp[frame] = s->now;
	s->by_frame[frame].total += e->weight;
}

static int by_total(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->self != y->self ? x->self < y->self ? 1 : -1 : by_total(a, b);
}

static void sums_finish(struct sums *s, functions_list *ret)
{
	for (size_t i = 0; i <= s->n->frames.n; i++) {
		struct function f = s->by_frame[i];

		if (!f.total)
			continue;
		f.frame = i < s->n->frames.n ? (uint32_t)i : CALLS_NONE;
		vec_push(ret, f);
	}
	free(s->by_frame);
	free(s->stamp);
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), by_total);
}

void functions_by_self(functions_list *l)
{
	if (l->n)
		qsort(l->data, l->n, sizeof(*l->data), by_self);
}

static uint32_t frame_at(const struct names *n, uint64_t at)
{
	return n->sites.data[n->chain_sites[at]].frame;
}

void functions_make(const struct names *n, uint32_t type, functions_list *ret)
{
	const struct profile *p = n->profile;
	struct sums s = sums_new(n);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint32_t own = n->sites.data[n->entry_site[i]].frame;

		if (e->type != type)
			continue;
		s.now++;
		s.by_frame[own].self += e->weight;
		s.by_frame[own].count += e->count;
		count_for(&s, own, e);
		if (e->chain == PROFILE_NO_CHAIN)
			continue;
		for (uint32_t k = 0; k < n->chains[e->chain].n; k++)
			count_for(&s, frame_at(n, n->chains[e->chain].first + k), e);
	}
	sums_finish(&s, ret);
}

/* Neighbours of every place where it stands in a chain: one step outwards or inwards. */
static void neighbours(const struct names *n, uint32_t type, uint32_t frame, bool inwards,
		       functions_list *ret)
{
	const struct profile *p = n->profile;
	struct sums s = sums_new(n);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint64_t first, end;

		if (e->type != type || e->chain == PROFILE_NO_CHAIN)
			continue;
		s.now++;
		first = n->chains[e->chain].first;
		end = first + n->chains[e->chain].n;
		for (uint64_t k = first; k < end; k++) {
			if (frame_at(n, k) != frame)
				continue;
			if (inwards && k > first)
				count_for(&s, frame_at(n, k - 1), e);
			else if (!inwards)
				count_for(&s, k + 1 < end ? frame_at(n, k + 1) : n->frames.n, e);
		}
	}
	sums_finish(&s, ret);
}

void functions_callers(const struct names *n, uint32_t type, uint32_t frame, functions_list *ret)
{
	neighbours(n, type, frame, false, ret);
}

void functions_callees(const struct names *n, uint32_t type, uint32_t frame, functions_list *ret)
{
	neighbours(n, type, frame, true, ret);
}

struct calls *functions_tree(const struct names *n, uint32_t type, uint32_t frame, bool inwards)
{
	const struct profile *p = n->profile;
	struct calls *c = calls_new(n, inwards);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint64_t first, end, k;

		if (e->type != type || e->chain == PROFILE_NO_CHAIN)
			continue;
		first = n->chains[e->chain].first;
		end = first + n->chains[e->chain].n;
		/* inwards from its outermost call, outwards from its innermost one */
		if (inwards) {
			for (k = end; k > first && frame_at(n, k - 1) != frame; k--)
				;
			if (k > first)
				calls_add(c, i, (int64_t)(k - 1 - first));
		} else {
			for (k = first; k < end && frame_at(n, k) != frame; k++)
				;
			if (k < end)
				calls_add(c, i, (int64_t)(k - first));
		}
	}
	return c;
}
