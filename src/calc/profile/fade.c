/* SPDX-License-Identifier: MIT */
/* What a live view does with counts that grow old: less of each, and new numbers of tasks. */
#include "calc/profile/table.h"

/* Tables with nothing in them, and what was set aside of the totals. */
static struct tables profile_fade_begin(struct tables *old, size_t n_types, double keep)
{
	struct tables t = { .buf = old->buf };

	old->buf = NULL;
	t.total = mem_alloc((n_types + 1) * sizeof(*t.total));
	for (size_t i = 0; i < n_types; i++) {
		const struct profile_total *o = &old->total[i];

		t.total[i].all_count = (uint64_t)((double)(o->all_count - o->count) * keep);
		t.total[i].all_weight = (uint64_t)((double)(o->all_weight - o->weight) * keep);
	}
	return t;
}

static double random_share(uint64_t *state)
{
	return (double)(map_hash(++*state) >> 11) / (double)(1ull << 53);
}

/* The weight that counts for less than itself by chance: a sample's, and a share of all. */
static double least_weight(const struct profile_total *t, double keep)
{
	double one = t->count ? (double)t->weight / (double)t->count : 1;
	double share = (double)t->weight * keep / PROFILE_FADED_MAX;

	one = one > share ? one : share;
	return one < 1 ? 1 : one;
}

/* False: it is forgotten. */
static bool fade_entry(struct profile_entry *e, double keep, double least, uint64_t *random)
{
	double weight = (double)e->weight * keep, count = (double)e->count * keep;

	if (weight < least) {
		if (!(random_share(random) * least < weight))
			return false;
		count *= least / weight;
		weight = least;
	}
	e->weight = (uint64_t)weight;
	e->count = count < 1 ? 1 : (uint64_t)(count + 0.5);
	return e->weight;
}

static void take_over(struct tables *t, const struct tables *old, struct profile_entry *e)
{
	if (e->chain != PROFILE_NO_CHAIN)
		e->chain = table_chain(t, &old->chains.data[e->chain], true);
	if (e->extra != PROFILE_NO_EXTRA)
		e->extra =
			table_extra(t, &old->extras.data[e->extra], old->extras.data[e->extra].raw);
	table_count(t, e);
}

void table_fade(struct tables *t, size_t n_types, double keep, uint64_t *random)
{
	struct tables old = *t;
	AUTO_FREE double *least = mem_alloc((n_types + 1) * sizeof(*least));

	*t = profile_fade_begin(&old, n_types, keep);
	for (size_t i = 0; i < n_types; i++)
		least[i] = least_weight(&old.total[i], keep);
	for (size_t i = 0; i < old.entries.n; i++) {
		struct profile_entry e = old.entries.data[i];

		if (!fade_entry(&e, keep, least[e.type], random))
			continue;
		t->total[e.type].count += e.count;
		t->total[e.type].weight += e.weight;
		t->total[e.type].all_count += e.count;
		t->total[e.type].all_weight += e.weight;
		take_over(t, &old, &e);
	}
	table_free(&old);
}

/* Chains and entries are found by what changes here, so all are put in anew. */
void table_move(struct tables *t, const struct tasks_moved *m)
{
	struct tables old = *t;

	*t = (struct tables){ .buf = old.buf, .total = old.total };
	old.buf = NULL;
	old.total = NULL;
	for (size_t i = 0; i < old.chains.n; i++) {
		struct profile_chain *c = &old.chains.data[i];

		c->space = tasks_moved_space(m, c->space);
		c->kernel = tasks_moved_kernel(m, c->kernel);
		c->hash = table_chain_hash(c);
	}
	for (size_t i = 0; i < old.entries.n; i++) {
		struct profile_entry e = old.entries.data[i];

		e.space = tasks_moved_space(m, e.space);
		e.kernel = tasks_moved_kernel(m, e.kernel);
		if (!(e.comm & TASK_NAMELESS))
			e.comm = m->name[e.comm];
		take_over(t, &old, &e);
	}
	table_free(&old);
}
