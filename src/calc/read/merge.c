/* SPDX-License-Identifier: MIT */
#include "calc/read/merge.h"

#include <pthread.h>
#include <string.h>

#include "base/order.h"
#include "calc/read/merge_clock.h"
#include "calc/read/merge_kallsyms.h"
#include "event/task.h"

#define BATCH 512u
#define BATCHES 4u /* of a source: while one is used, others are made */

/* Events of one source on their way to the thread that puts all in order. */
struct batch {
	struct event ev[BATCH];
	struct event_side side[BATCH];
	struct event_extra extra[BATCH];
	struct arena kept; /* what does not hold until then */
	size_t n;
};

struct lane {
	struct source *source;
	int64_t shift;	/* onto the first one's clock */
	uint32_t *type; /* by its types: the merged ones */
	uint32_t first_part, first_chunk;
};

struct merged {
	struct source source;
	struct trace trace;
	struct lane *lane;
	size_t n;
};

static struct merged *merged_of(const struct source *s)
{
	return s->impl;
}

/* As an event of the merged trace. */
static void merge_move(const struct lane *l, struct event *ev)
{
	ev->type = ev->type < l->source->trace->n_types ? l->type[ev->type] : EVENT_TYPE_NONE;
	ev->part += l->first_part;
	if (ev->time)
		ev->time += (uint64_t)l->shift;
}

/* --- in any order --- */

struct handing {
	const struct lane *lane;
	event_fn *fn;
	void *ctx;
};

static int merge_hand(void *ctx, const struct event *ev)
{
	const struct handing *h = ctx;
	struct event copy = *ev;

	merge_move(h->lane, &copy);
	return h->fn(h->ctx, &copy);
}

static int merge_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	struct merged *m = merged_of(s);
	size_t i = m->n - 1;

	while (m->lane[i].first_chunk > chunk)
		i--;
	return m->lane[i].source->read_chunk(m->lane[i].source, chunk - m->lane[i].first_chunk,
					     merge_hand, &(struct handing){ &m->lane[i], fn, ctx },
					     e);
}

/* --- in the order of time --- */

/* One source's reading, by a thread of its own. */
struct row {
	const struct lane *lane;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct batch *batch[BATCHES];
	size_t made, used;	 /* batches */
	const struct batch *now; /* that is used; NULL: none yet */
	size_t at;		 /* in it */
	bool all, began, stop, ended;
	int code;
	struct err e;
};

static void *merge_dup(struct arena *a, const void *p, size_t size)
{
	return p && size ? arena_dup(a, p, size) : NULL;
}

static void merge_keep(struct batch *b, struct event *ev)
{
	struct arena *a = &b->kept;
	struct event_extra *x = &b->extra[b->n];

	ev->raw = merge_dup(a, ev->raw, ev->raw_size);
	ev->chain = merge_dup(a, ev->chain, ev->chain_n * sizeof(*ev->chain));
	ev->record = NULL;
	if (ev->side && ev->side->text)
		b->side[b->n].text = arena_strdup(a, ev->side->text);
	if (!ev->extra)
		return;
	x->branch = merge_dup(a, x->branch, x->branch_n * sizeof(*x->branch));
	x->regs = merge_dup(a, x->regs,
			    (size_t)__builtin_popcountll(x->regs_mask) * sizeof(*x->regs));
	x->regs_intr =
		merge_dup(a, x->regs_intr,
			  (size_t)__builtin_popcountll(x->regs_intr_mask) * sizeof(*x->regs_intr));
	x->stack = merge_dup(a, x->stack, x->stack_size);
	x->aux = merge_dup(a, x->aux, x->aux_size);
	x->read = merge_dup(a, x->read, x->read_size);
}

/* The batch is full, or the last one: non-zero ends the reading. */
static int merge_flush(struct row *r)
{
	struct batch *b;
	int code;

	pthread_mutex_lock(&r->lock);
	r->made++;
	pthread_cond_signal(&r->change);
	while (r->made - r->used == BATCHES && !r->stop)
		pthread_cond_wait(&r->change, &r->lock);
	code = r->stop;
	pthread_mutex_unlock(&r->lock);
	b = r->batch[r->made % BATCHES];
	if (code == 0) {
		b->n = 0;
		arena_free(&b->kept);
	}
	return code;
}

static int merge_on_event(void *ctx, const struct event *from)
{
	struct row *r = ctx;
	struct batch *b = r->batch[r->made % BATCHES];
	struct event *ev = &b->ev[b->n];

	*ev = *from;
	merge_move(r->lane, ev);
	if (from->side) {
		b->side[b->n] = *from->side;
		ev->side = &b->side[b->n];
	}
	if (from->extra) {
		b->extra[b->n] = *from->extra;
		ev->extra = &b->extra[b->n];
	}
	if (!r->lane->source->stable)
		merge_keep(b, ev);
	return ++b->n < BATCH ? 0 : merge_flush(r);
}

static void *merge_read(void *ctx)
{
	struct row *r = ctx;
	struct source *s = r->lane->source;
	int code = s->read_ordered(s, r->all, merge_on_event, r, &r->e);

	if (code == 0)
		merge_flush(r);
	pthread_mutex_lock(&r->lock);
	r->code = code < 0 ? code : 0;
	r->ended = true;
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* What comes next in a row; NULL: nothing. What was taken before is gone. */
static const struct event *merge_take(struct row *r)
{
	while (!r->now || r->at == r->now->n) {
		pthread_mutex_lock(&r->lock);
		r->used += r->now != NULL;
		pthread_cond_signal(&r->change);
		while (r->made == r->used && !r->ended)
			pthread_cond_wait(&r->change, &r->lock);
		r->now = r->made == r->used ? NULL : r->batch[r->used % BATCHES];
		pthread_mutex_unlock(&r->lock);
		r->at = 0;
		if (!r->now)
			return NULL;
	}
	return &r->now->ev[r->at++];
}

static int row_begin(struct row *r, const struct lane *l, bool all, struct err *e)
{
	int code;

	*r = (struct row){ .lane = l, .all = all };
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->change, NULL);
	for (size_t i = 0; i < BATCHES; i++)
		r->batch[i] = mem_alloc(sizeof(*r->batch[i]));
	code = pthread_create(&r->thread, NULL, merge_read, r);
	r->began = code == 0;
	return code ? err_set(e, code, "cannot start a thread: %s", strerror(code)) : 0;
}

static int row_end(struct row *r, struct err *e)
{
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	if (r->began)
		pthread_join(r->thread, NULL);
	for (size_t i = 0; i < BATCHES; i++) {
		arena_free(&r->batch[i]->kept);
		free(r->batch[i]);
	}
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->change);
	if (r->code < 0 && e)
		*e = r->e;
	return r->code;
}

/* Times may lie before the clock began where they were shifted: signed. */
static uint64_t merge_key(const struct event *ev)
{
	return ev->time ^ 1ull << 63;
}

static int merge_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct merged *m = merged_of(s);
	AUTO_FREE struct row *rows = mem_alloc(m->n * sizeof(*rows));
	AUTO_FREE const struct event **next = mem_alloc(m->n * sizeof(*next));
	struct order order = { 0 };
	size_t n = 0;
	int code = 0;
	uint32_t i;

	for (; n < m->n && code == 0; n++)
		code = row_begin(&rows[n], &m->lane[n], all, e);
	for (i = 0; i < n && code == 0; i++) {
		next[i] = merge_take(&rows[i]);
		if (next[i])
			order_add(&order, merge_key(next[i]), i);
	}
	while (code == 0 && (i = order_row(&order)) != UINT32_MAX) {
		code = fn(ctx, next[i]);
		if (code)
			break;
		next[i] = merge_take(&rows[i]);
		if (next[i])
			order_next(&order, merge_key(next[i]));
		else
			order_end(&order);
	}
	for (i = 0; i < n; i++) {
		int r = row_end(&rows[i], code == 0 ? e : NULL);

		code = code == 0 ? r : code;
	}
	vec_free(&order);
	return code;
}

static void merge_settings(const struct source *s, size_t type, setting_fn *fn, void *ctx)
{
	const struct merged *m = merged_of(s);

	for (size_t i = 0; i < m->n; i++) {
		struct source *of = m->lane[i].source;

		for (size_t k = 0; k < of->trace->n_types; k++)
			if (m->lane[i].type[k] == type && of->settings) {
				of->settings(of, k, fn, ctx);
				return;
			}
	}
}

/* --- what it is --- */

static bool same_fields(const struct event_type *a, const struct event_type *b)
{
	if (a->n_fields != b->n_fields)
		return false;
	for (size_t i = 0; i < a->n_fields; i++) {
		const struct field *x = &a->fields[i], *y = &b->fields[i];

		if (strcmp(x->name, y->name) != 0 || x->offset != y->offset || x->size != y->size ||
		    x->kind != y->kind || x->swapped != y->swapped)
			return false;
	}
	return true;
}

static uint32_t merge_type(struct trace *t, const struct event_type *type)
{
	size_t first = t->n_types;

	for (uint32_t i = 0; i < t->n_types; i++) {
		struct event_type *x = &t->types[i];

		if (strcmp(x->name, type->name) != 0 || x->class != type->class ||
		    x->spans != type->spans || !same_fields(x, type))
			continue;
		x->has |= type->has;
		return i;
	}
	t->types[first] = *type;
	t->types[first].leader = (int)first;
	t->n_types++;
	return (uint32_t)first;
}

static void merge_types(struct merged *m)
{
	size_t all = 0;

	for (size_t i = 0; i < m->n; i++)
		all += m->lane[i].source->trace->n_types;
	m->trace.types = arena_alloc(&m->trace.arena, (all + 1) * sizeof(*m->trace.types));
	for (size_t i = 0; i < m->n; i++) {
		const struct trace *t = m->lane[i].source->trace;

		m->lane[i].type = arena_alloc(&m->trace.arena, (t->n_types + 1) * sizeof(uint32_t));
		for (size_t k = 0; k < t->n_types; k++)
			m->lane[i].type[k] = merge_type(&m->trace, &t->types[k]);
		for (size_t k = 0; k < t->n_types; k++) {
			struct event_type *x = &m->trace.types[m->lane[i].type[k]];

			if (t->types[k].leader >= 0 && (size_t)t->types[k].leader < t->n_types)
				x->leader = (int)m->lane[i].type[t->types[k].leader];
		}
	}
}

static void merge_parts(struct merged *m, const struct merge_input *in)
{
	struct trace_part *parts;
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += in[i].source->trace->n_parts + 1;
	parts = arena_alloc(&m->trace.arena, n * sizeof(*parts));
	for (size_t i = 0; i < m->n; i++) {
		const struct trace *t = in[i].source->trace;

		m->lane[i].first_part = (uint32_t)m->trace.n_parts;
		for (size_t k = 0; k < (t->n_parts ? t->n_parts : 1); k++)
			parts[m->trace.n_parts++] =
				(struct trace_part){ .name = t->n_parts ? t->parts[k].name : "",
						     .source = (uint32_t)i };
	}
	m->trace.parts = parts;
}

static void merge_sums(struct merged *m)
{
	struct trace *t = &m->trace;
	struct trace_losses *sum = &t->losses;

	t->info = m->lane[0].source->trace->info;
	t->big_endian_source = m->lane[0].source->trace->big_endian_source;
	for (size_t i = 0; i < m->n; i++) {
		const struct lane *l = &m->lane[i];
		const struct trace *one = l->source->trace;
		const struct trace_losses *x = &one->losses;
		uint64_t first = one->first_time, last = one->last_time;

		first += first ? (uint64_t)l->shift : 0;
		last += last ? (uint64_t)l->shift : 0;
		t->n_samples += one->n_samples;
		t->first_time =
			first && (!t->first_time || first < t->first_time) ? first : t->first_time;
		t->last_time = last > t->last_time ? last : t->last_time;
		t->tep = t->tep ? t->tep : one->tep;
		t->info.walked = t->info.walked || one->info.walked;
		sum->lost_records += x->lost_records;
		sum->lost_events += x->lost_events;
		sum->lost_samples += x->lost_samples;
		sum->throttled += x->throttled;
		sum->unknown_records += x->unknown_records;
		sum->bad_records += x->bad_records;
		sum->cut_bytes += x->cut_bytes;
		sum->cut = sum->cut || x->cut;
		if (!sum->note[0])
			memcpy(sum->note, x->note, sizeof(sum->note));
	}
}

static void merge_names(struct merged *m)
{
	AUTO_FREE const struct trace **from = mem_alloc(m->n * sizeof(*from));

	for (size_t i = 0; i < m->n; i++)
		from[i] = m->lane[i].source->trace;
	merge_kallsyms(&m->trace, from, m->n);
}

static void merge_tasks(struct merged *m)
{
	AUTO_FREE struct tasks_of *from = mem_alloc(m->n * sizeof(*from));

	for (size_t i = 0; i < m->n; i++) {
		const struct trace *t = m->lane[i].source->trace;
		uint64_t first = t->first_time + (uint64_t)m->lane[i].shift;

		from[i] = (struct tasks_of){ .tasks = t->tasks,
					     .shift = m->lane[i].shift,
					     .begin = t->first_time && first > m->trace.first_time
							      ? first
							      : 0 };
	}
	m->trace.tasks = tasks_merge(from, m->n);
}

static void merge_close(struct source *s)
{
	struct merged *m = merged_of(s);

	tasks_free(m->trace.tasks);
	arena_free(&m->trace.arena);
	for (size_t i = 0; i < m->n; i++)
		source_close(m->lane[i].source);
	free(m->lane);
	free(m);
}

/* What cannot be one, whatever the clocks. */
static int merge_refuse(const struct merge_input *in, size_t n, struct err *e)
{
	const char *host = NULL, *name = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct trace *t = in[i].source->trace;

		if (!in[i].source->read_ordered || t->own) {
			err_set(e, EOPNOTSUPP, "%s has no events that others could be put among",
				in[i].name);
			return err_hint(e, "perf.data and trace.dat have; kymo diff compares "
					   "others");
		}
		if (t->files) {
			err_set(e, EOPNOTSUPP,
				"%s is an archive with files of its own, and is "
				"read alone",
				in[i].name);
			return err_hint(e,
					"kymo archive --unpack %s, and its perf.data with the "
					"others",
					in[i].name);
		}
		if (host && t->info.hostname && strcmp(host, t->info.hostname) != 0) {
			err_set(e, EXDEV, "%s is of the machine %s, and %s of %s", name, host,
				in[i].name, t->info.hostname);
			return err_hint(e, "their clocks and tasks are others: kymo diff compares "
					   "them");
		}
		if (!host && t->info.hostname) {
			host = t->info.hostname;
			name = in[i].name;
		}
	}
	return 0;
}

int merge_new(const struct merge_input *in, size_t n, const struct merge_opts *o,
	      struct source **ret, struct err *e)
{
	AUTO_FREE int64_t *shift = mem_alloc(n * sizeof(*shift));
	int code = o->as_is ? 0 : merge_refuse(in, n, e);
	struct merged *m;
	size_t chunks = 0;

	if (code == 0 && !o->as_is)
		code = merge_clocks(in, n, shift, e);
	if (code < 0)
		return code;
	m = mem_alloc(sizeof(*m));
	m->source = (struct source){ .trace = &m->trace,
				     .format = "merged",
				     .impl = m,
				     .stable = true,
				     .read_chunk = merge_read_chunk,
				     .read_ordered = merge_read_ordered,
				     .settings = merge_settings,
				     .close = merge_close };
	m->lane = mem_alloc(n * sizeof(*m->lane));
	for (size_t i = 0; i < n; i++) {
		m->lane[i] = (struct lane){ .source = in[i].source,
					    .shift = shift[i],
					    .first_chunk = (uint32_t)chunks };
		chunks += in[i].source->n_chunks;
		m->source.stable = m->source.stable && in[i].source->stable;
	}
	m->n = n;
	m->source.n_chunks = chunks;
	merge_types(m);
	merge_parts(m, in);
	merge_sums(m);
	merge_names(m);
	merge_tasks(m);
	*ret = &m->source;
	return 0;
}
