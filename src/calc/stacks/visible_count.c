/* SPDX-License-Identifier: MIT */
/*
 * Samples into the tree of paths.
 *
 * Each step of a path is two looks into tables that caches do not hold: which function, and
 * which node. Alone, a sample would wait for every one of them. So a group goes side by side,
 * one step each: all ask where their function stands, then all take it and ask for their node,
 * then all take that. What is seldom (many parts, no names yet) goes alone, and so does the
 * first of a group: the others begin where they part from it. Where they have nothing in common
 * that is tried again only now and then.
 */
#include "calc/stacks/places_ask.h"
#include "calc/stacks/visible_read.h"

#define TAIL_KEEPS 64 /* samples that it is the same for */
#define DIFFER 7      /* groups */

/*
 * How much of a path may be kept: all, as long as there is much room; then what is left is
 * shared by the paths still to come of which something will be kept, if that goes on as it did.
 */
static uint32_t tail_of(const struct visible_worker *w, const struct visible *v)
{
	size_t used = w->tree.store[w->tree.own].word.n;
	size_t to_come = v->samples > w->samples ? v->samples - w->samples : 1;
	double paths = (double)to_come * (double)w->tree.kept / (double)(w->samples + 1);
	double each = v->room > used ? (double)(v->room - used) / (paths + 1) - 2 : 0;

	if (used < v->room / 4)
		return v->tail;
	return each <= 0 ? 0 : each < v->tail ? (uint32_t)each : v->tail;
}

static inline uint32_t tail_now(struct visible_worker *w, const struct visible *v)
{
	if (w->samples >= w->tail_until) {
		w->tail = tail_of(w, v);
		w->tail_until = w->samples + TAIL_KEEPS;
	}
	return w->tail;
}

static int visible_count(struct visible_worker *w, struct visible *v, const struct place_sample *s)
{
	struct prefix_tree_at at = { PREFIX_TREE_ROOT, PREFIX_TREE_IS_OPEN };
	uint32_t i = 0, tail = 0;
	int r = visible_start(w, v, s);
	bool more = false;

	if (r < 0)
		return r;
	for (; at.state == PREFIX_TREE_IS_OPEN && visible_need(w, v, i + 1); i++) {
		if (i >= w->node.n)
			vec_push(&w->node, prefix_tree_child(&w->tree, at.node, w->path.data[i]));
		else if (w->node.data[i].state ==
			 PREFIX_TREE_CLOSED) /* or it opened since it was met */
			w->node.data[i].state = prefix_tree_state(&w->tree, w->node.data[i].node);
		at = w->node.data[i];
	}
	if (at.state == PREFIX_TREE_CLOSED && !w->unknown) {
		tail = tail_now(w, v);
		more = visible_need(w, v, i + tail + 1);
	}
	if (w->unknown) {
		visible_later(w, s);
		return 0;
	}
	tail = w->n - i < tail ? w->n - i : tail;
	w->weight += s->b.weight;
	w->samples++;
	prefix_tree_add(&w->tree, at.node, w->path.data + i, tail, more, s->b.weight);
	return 0;
}

/* --- side by side --- */

struct lane {
	const uint64_t *at;			  /* addresses end here: the next stands before */
	const uint64_t *first;			  /* the innermost of the part */
	const uint16_t *asked;			  /* the next */
	struct place_part part;			  /* its space and mode */
	const uint64_t *kernel_at, *kernel_first; /* the part that follows; the same for nothing */
	const struct place_sample *sample;
	uint32_t node, func;	 /* where it is, and the function that is next */
	uint64_t key, hash;	 /* of both */
	uint32_t n_several;	 /* and more that stand where it does */
	const uint32_t *several; /* these */
};

struct group {
	struct visible_worker *w;
	struct visible *v;
	int code;
	unsigned n; /* lanes that go on */
	unsigned n_done;
	unsigned n_same; /* addresses that were the worker's last path's */
	struct lane *going[EVENT_BRIEFS];
	uint32_t done[EVENT_BRIEFS]; /* nodes where paths end, on their way into the cache */
	uint64_t weight[EVENT_BRIEFS];
	struct lane lane[EVENT_BRIEFS];
};

/* All but the innermost of a part are return addresses. */
static inline bool is_caller(const struct lane *l)
{
	return l->at - 1 > l->first;
}

/* What the kernel did comes after all of the program. */
static inline void enter_kernel(struct lane *l)
{
	l->at = l->kernel_at;
	l->first = l->kernel_first;
	l->kernel_at = l->kernel_first;
	l->part.mode = EVENT_MODE_KERNEL;
	l->part.space = l->sample->kernel;
}

/* Is there another address? */
static inline bool has_more(struct lane *l)
{
	if (l->at != l->first)
		return true;
	if (l->kernel_at == l->kernel_first)
		return false;
	enter_kernel(l);
	return true;
}

static inline bool is_mark(uint64_t addr)
{
	return addr >= EVENT_CHAIN_MARK;
}

__attribute__((always_inline)) static inline void ask(struct group *g, struct lane *l)
{
	const struct place_range *in = place_range_of(&g->w->places, &l->part, l->at[-1]);

	l->asked = place_ask(in, l->at[-1], is_caller(l));
}

static void alone(struct group *g, const struct place_sample *s)
{
	int r = visible_count(g->w, g->v, s);

	g->code = g->code ? g->code : r;
}

/* Its next function has no name yet, or it came to a mark. */
static void visible_count_leave(struct group *g, struct lane *l)
{
	if (is_mark(l->at[-1])) {
		alone(g, l->sample);
		return;
	}
	l->at--;
	for (int i = 0; i < VISIBLE_AHEAD && has_more(l) && !is_mark(l->at[-1]); i++) {
		place_find(&g->w->places, &l->part, l->at[-1], is_caller(l));
		l->at--;
	}
	visible_keep(g->w, l->sample);
}

static inline void end_here(struct group *g, const struct lane *l)
{
	__builtin_prefetch(&g->w->tree.nodes.data[l->node], 1);
	g->done[g->n_done] = l->node;
	g->weight[g->n_done++] = l->sample->b.weight;
}

/* The first mark, or the end. */
static inline const uint64_t *next_mark(const uint64_t *p, const uint64_t *end)
{
	while (p < end && !is_mark(*p))
		p++;
	return p;
}

/*
 * The program's part and the kernel's; false: it has others, or none. Whether others follow is not
 * looked for: who comes to a mark goes alone.
 */
static inline bool visible_count_split(struct lane *l, const struct place_sample *s)
{
	const uint64_t *p = s->b.chain, *end = p + s->b.chain_n;

	l->sample = s;
	l->kernel_first = l->kernel_at = l->first = l->at = p;
	if (s->b.chain_n < 2)
		return false;
	if (*p == EVENT_CHAIN_KERNEL) {
		l->kernel_first = p + 1;
		l->kernel_at = p = next_mark(p + 1, end);
	}
	l->part.mode = EVENT_MODE_USER;
	l->part.space = s->space;
	if (p + 1 < end) {
		l->first = p + 1;
		l->at = end;
		return *p == EVENT_CHAIN_USER;
	}
	enter_kernel(l);
	return p == end && l->at > l->first;
}

enum way { ALONE, GOES_ON, ENDED };

static inline enum way begin_at(struct group *g, struct lane *l, struct prefix_tree_at at)
{
	if (at.state != PREFIX_TREE_IS_OPEN)
		return ALONE;
	l->node = at.node;
	l->n_several = 0;
	ask(g, l);
	return GOES_ON;
}

/* As far as the worker's last path goes the same way. */
static inline enum way visible_count_begin(struct group *g, struct lane *l,
					   const struct place_sample *s)
{
	struct visible_worker *w = g->w;
	struct prefix_tree_at at = { PREFIX_TREE_ROOT, PREFIX_TREE_IS_OPEN };
	uint32_t n = 0;

	if (!visible_count_split(l, s))
		return ALONE;
	if (g->v->label) {
		uint32_t label = visible_label(w, g->v, s);

		if (!w->path.n || w->path.data[0] != label)
			return begin_at(g, l, prefix_tree_child(&w->tree, PREFIX_TREE_ROOT, label));
		n = 1;
	}
	for (size_t k = 0; k < w->raw.n && has_more(l); k++) {
		const struct visible_raw *x = &w->raw.data[k];

		if (x->addr != l->at[-1] || x->where != visible_where(&l->part, is_caller(l)))
			break;
		n = x->end;
		g->n_same++;
		l->at--;
	}
	if (n)
		at = w->node.n ? w->node.data[(n < w->node.n ? n : w->node.n) - 1]
			       : (struct prefix_tree_at){ .state = PREFIX_TREE_CLOSED };
	if (at.state == PREFIX_TREE_IS_SMALL || (n <= w->node.n && !has_more(l))) {
		l->node = at.node;
		end_here(g, l);
		return ENDED;
	}
	return n > w->node.n ? ALONE : begin_at(g, l, at);
}

static inline void take_place(const struct group *g, struct lane *l, uint32_t place)
{
	l->func = place;
	if (__builtin_expect(!(place & PLACE_SEVERAL), 1))
		return;
	l->several = place_list(g->w->places.names, place);
	l->n_several = *l->several++ - 1;
	l->func = *l->several++;
}

static inline void next_several(struct lane *l)
{
	l->func = *l->several++;
	l->n_several--;
}

/* It came to a node that is closed: what follows is kept, as far as there is room. */
static void end_closed(struct group *g, struct lane *l)
{
	struct visible_worker *w = g->w;
	uint32_t most = tail_now(w, g->v), n = 0, tail[PREFIX_TREE_TAIL];

	for (; n < most; tail[n++] = l->func) {
		const struct place_range *in;
		uint32_t place;

		if (l->n_several) {
			next_several(l);
			continue;
		}
		if (!has_more(l))
			break;
		in = place_range_of(&w->places, &l->part, l->at[-1]);
		place = place_take(&w->places, &l->part, l->at[-1], is_caller(l),
				   place_ask(in, l->at[-1], is_caller(l)));
		if (place == PLACE_UNKNOWN || is_mark(l->at[-1])) {
			visible_count_leave(g, l);
			return;
		}
		l->at--;
		take_place(g, l, place);
	}
	w->weight += l->sample->b.weight;
	w->samples++;
	prefix_tree_add(&w->tree, l->node, tail, n, l->n_several || has_more(l),
			l->sample->b.weight);
}

/* The next function of each. */
static void take_functions(struct group *g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->n; i++) {
		struct lane *l = g->going[i];

		if (__builtin_expect(l->n_several, 0)) {
			next_several(l);
		} else {
			uint32_t place = place_take(&g->w->places, &l->part, l->at[-1],
						    is_caller(l), l->asked);

			if ((place == PLACE_UNKNOWN) | is_mark(l->at[-1])) {
				visible_count_leave(g, l);
				continue;
			}
			l->at--;
			take_place(g, l, place);
		}
		l->key = prefix_tree_key(l->node, l->func);
		l->hash = prefix_tree_hash(l->key);
		prefix_tree_fetch(&g->w->tree, l->hash);
		g->going[n++] = l;
	}
	g->n = n;
}

/* The next node of each, and where what follows stands; those that need not go on are done. */
static void take_nodes(struct group *g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->n; i++) {
		struct lane *l = g->going[i];
		struct prefix_tree_at at = prefix_tree_child_at(&g->w->tree, l->key, l->hash);

		l->node = at.node;
		if (at.state == PREFIX_TREE_IS_SMALL || (!l->n_several && !has_more(l))) {
			end_here(g, l);
		} else if (at.state == PREFIX_TREE_CLOSED) {
			end_closed(g, l);
		} else {
			if (!l->n_several)
				ask(g, l);
			g->going[n++] = l;
		}
	}
	g->n = n;
}

int visible_count_group(struct visible_worker *w, struct visible *v, const struct place_sample *s,
			unsigned n)
{
	/* functions that are left out because they call themselves are seldom asked for */
	unsigned single = v->collapse ? n : !w->differ;
	struct group g; /* not cleared: that would take as long as counting some */

	g.w = w;
	g.v = v;
	g.n = g.n_done = g.n_same = 0;
	g.code = 0;
	for (unsigned i = 0; i < n && g.code == 0; i++) {
		enum way way = i < single ? ALONE : visible_count_begin(&g, &g.lane[g.n], &s[i]);

		if (way == ALONE)
			alone(&g, &s[i]);
		if (way != GOES_ON)
			continue;
		g.going[g.n] = &g.lane[g.n];
		g.n++;
	}
	w->differ = g.n_same ? 0 : single ? DIFFER : w->differ - 1;
	while (g.n && g.code == 0) {
		take_functions(&g);
		take_nodes(&g);
	}
	w->samples += g.n_done;
	for (unsigned i = 0; i < g.n_done; i++) {
		w->weight += g.weight[i];
		prefix_tree_add_end(&w->tree, g.done[i], g.weight[i]);
	}
	return g.code;
}
