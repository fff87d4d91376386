/* SPDX-License-Identifier: MIT */
/*
 * Samples' texts made on several CPUs.
 *
 * Plain samples are gathered; when there are enough, each CPU takes a run of them
 * and makes its text with tables of its own, and the texts are written in order.
 * What has more to it (tracepoints' fields, registers, records that are no samples,
 * times since the last one) is printed alone, after all that came before it.
 */
#include "view/script/impl.h"

#include "base/mem.h"
#include "base/pool.h"

#define BATCH 16384u
#define RUN 1024u
/* Fewer than these are not worth a thread. */
#define FEW 512u
#define MOST 16u
/* So many samples ahead the way to their texts is fetched. */
#define FAR 6u

struct script_team {
	struct script *first;
	unsigned n; /* of members; 1: everything is printed at once */
	struct script *member[MOST];
	size_t told[MOST]; /* texts of each that the others know */
	struct out out[BATCH / RUN];
	struct event *events;
	size_t n_events;
	pthread_mutex_t lock;
};

static bool can_share(const struct script_opts *o)
{
	return !o->json && !o->reltime && !o->deltatime && !o->stop_at;
}

struct script_team *script_team_new(struct script *s, bool stable)
{
	struct script_team *t = mem_alloc(sizeof(*t));
	unsigned threads = pool_threads();
	pthread_mutexattr_t spinning;

	t->first = s;
	t->n = !stable || !can_share(&s->o) ? 1 : threads < MOST ? threads : MOST;
	/* held for a microsecond at a time, which is less than sleeping takes */
	pthread_mutexattr_init(&spinning);
	pthread_mutexattr_settype(&spinning, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&t->lock, &spinning);
	pthread_mutexattr_destroy(&spinning);
	return t;
}

/* With the first batch that is large enough: most recordings are small. */
static void gather_members(struct script_team *t)
{
	for (unsigned i = 0; i < t->n && !t->member[i]; i++) {
		t->member[i] = script_make(t->first->trace, t->first->symbols, &t->first->o, NULL);
		t->member[i]->lock = &t->lock;
	}
	for (unsigned i = 0; i < BATCH / RUN && !t->out[i].data; i++)
		out_init(&t->out[i], -1);
}

static void print_run(struct script *s, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t what = site_what(s->types[ev[i].type].show);

		if (i + FAR < n)
			site_expect_event(s, &ev[i + FAR], what, false);
		if (i + FAR / 2 < n)
			site_expect_event(s, &ev[i + FAR / 2], what, true);
		script_event(s, &ev[i]);
	}
}

static int print_job(void *ctx, size_t job, unsigned worker)
{
	struct script_team *t = ctx;
	size_t from = job * RUN, n = t->n_events - from < RUN ? t->n_events - from : RUN;

	t->member[worker]->out = &t->out[job];
	print_run(t->member[worker], t->events + from, n);
	return 0;
}

/* What one has looked up, the others need not. */
static void tell_others(struct script_team *t)
{
	size_t n[MOST];

	for (unsigned i = 0; i < t->n; i++)
		n[i] = t->member[i]->texts.n;
	for (unsigned i = 0; i < t->n; i++)
		for (; t->told[i] < n[i]; t->told[i]++)
			for (unsigned k = 0; k < t->n; k++)
				if (k != i)
					site_learn(t->member[k],
						   &t->member[i]->texts.data[t->told[i]]);
	for (unsigned i = 0; i < t->n; i++)
		t->told[i] = t->member[i]->texts.n;
}

static void print_gathered(struct script_team *t)
{
	size_t runs = (t->n_events + RUN - 1) / RUN;

	if (t->n_events < FEW) {
		print_run(t->first, t->events, t->n_events);
	} else {
		gather_members(t);
		pool_run(runs, t->n, print_job, t);
		for (size_t i = 0; i < runs; i++)
			out_pass(t->first->out, &t->out[i]);
		tell_others(t);
	}
	t->n_events = 0;
}

static bool is_plain(const struct script_team *t, const struct event *ev)
{
	return ev->kind == EVENT_SAMPLE && !ev->extra &&
	       !((ev->have & EVENT_HAVE_RAW) && (t->first->types[ev->type].show & SCRIPT_TRACE)) &&
	       !(t->first->types[ev->type].show & SCRIPT_SRCCODE);
}

void script_team_event(struct script_team *t, const struct event *ev)
{
	if (t->n > 1 && is_plain(t, ev)) {
		if (!t->events)
			t->events = mem_alloc(BATCH * sizeof(*t->events));
		t->events[t->n_events++] = *ev;
		if (t->n_events == BATCH)
			print_gathered(t);
		return;
	}
	print_gathered(t);
	script_event(t->first, ev);
}

void script_team_free(struct script_team *t)
{
	if (!t)
		return;
	print_gathered(t);
	for (unsigned i = 0; i < t->n; i++)
		script_free(t->member[i]);
	for (size_t i = 0; i < BATCH / RUN; i++)
		out_free(&t->out[i]);
	free(t->events);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
