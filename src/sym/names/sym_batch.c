/* SPDX-License-Identifier: MIT */
/*
 * Many questions at once, answered by several threads. Threads collect raw texts in memory of their
 * own; interning happens afterwards in one, so that nothing shared is written while they run.
 */

#include "base/pool.h"
#include "base/sort.h"
#include "sym/names/sym_impl.h"

#define CHUNK 256 /* addresses of a file that a thread takes at a time */

/* The queries that are new, sorted so that neighbours are asked together. */
struct batch {
	struct symbols *s;
	unsigned what;
	struct sym_query *q;
	uint32_t *order; /* into q */
	uint32_t *asked; /* by dso: how many questions */
	bool *awaited;	 /* by dso: servers are being asked for it */
	struct dso_answer **raw;
	size_t n;
	VEC(size_t) jobs; /* where in order each begins */
	struct worker *workers;
};

/* What has to be waited for last; of each the file with the most questions first. */
static int by_wish(const void *a, const void *b, void *ctx)
{
	const struct batch *batch = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t nx = batch->asked[x], ny = batch->asked[y];

	if (batch->awaited[x] != batch->awaited[y])
		return batch->awaited[x] ? 1 : -1;
	return nx != ny ? (nx > ny ? -1 : 1) : x < y ? -1 : 1;
}

/* File by file, and in each by address. */
static void sort_places(struct batch *b)
{
	size_t n_dsos = b->s->dsos.n, at = 0;
	AUTO_FREE uint32_t *dso = mem_grow(NULL, n_dsos * sizeof(*dso));
	AUTO_FREE size_t *end = mem_grow(NULL, n_dsos * sizeof(*end));
	AUTO_FREE struct sort_key *keys = mem_table(b->n * sizeof(*keys), false);

	for (uint32_t i = 0; i < n_dsos; i++)
		dso[i] = i;
	qsort_r(dso, n_dsos, sizeof(*dso), by_wish, b);
	for (size_t i = 0; i < n_dsos; i++) {
		end[dso[i]] = at;
		at += b->asked[dso[i]];
	}
	for (size_t i = 0; i < b->n; i++) {
		const struct sym_query *q = &b->q[b->order[i]];

		keys[end[q->dso]++] = (struct sort_key){ q->addr, b->order[i] };
	}
	for (size_t i = 0; i < n_dsos; i++)
		sort_keys(keys + end[i] - b->asked[i], b->asked[i]);
	for (size_t i = 0; i < b->n; i++)
		b->order[i] = keys[i].index;
}

static bool same_place(const struct batch *b, size_t i, size_t j)
{
	const struct sym_query *x = &b->q[b->order[i]], *y = &b->q[b->order[j]];

	return x->dso == y->dso && x->addr == y->addr;
}

static int sym_batch_work(void *ctx, size_t job, unsigned worker)
{
	struct batch *b = ctx;
	struct worker *w = &b->workers[worker];
	size_t from = b->jobs.data[job];
	uint32_t dso = b->q[b->order[from]].dso;
	struct dso_answer *r;

	for (size_t i = from; i < b->n && i < from + CHUNK; i++) {
		const struct sym_query *q = &b->q[b->order[i]];

		if (q->dso != dso)
			break;
		if (i && same_place(b, i - 1, i))
			continue;
		b->raw[i] = r = arena_alloc(&w->arena, sizeof(*r));
		symbols_resolve_raw(w, q->dso, q->addr, r);
		r->frames = arena_dup(&w->arena, r->frames, r->nframes * sizeof(*r->frames));
	}
	return 0;
}

/*
 * First the beginning of each file's, so that threads open different files, then the rest;
 * files that servers are asked for last.
 */
static void make_jobs(struct batch *b)
{
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0, first = 0; i < b->n; i++) {
			uint32_t dso = b->q[b->order[i]].dso;
			bool begins = i == 0 || dso != b->q[b->order[i - 1]].dso;

			first = begins ? i : first;
			if ((i - first) % CHUNK == 0 && pass == (b->awaited[dso] ? 2
								 : begins	 ? 0
										 : 1))
				vec_push(&b->jobs, i);
		}
}

static void run_batch(struct batch *b)
{
	unsigned threads = b->s->opts.threads ? b->s->opts.threads : pool_threads();
	AUTO_FREE struct worker *workers = NULL;

	make_jobs(b);
	if (threads > b->jobs.n)
		threads = (unsigned)b->jobs.n;
	workers = mem_alloc(threads * sizeof(*workers));
	b->workers = workers;
	for (unsigned i = 0; i < threads; i++) {
		workers[i].s = b->s;
		workers[i].what = b->what;
	}
	pool_run(b->jobs.n, threads, sym_batch_work, b);
	vec_free(&b->jobs);
	for (size_t i = 0; i < b->n; i++) {
		struct sym_query *q = &b->q[b->order[i]];

		q->result = b->raw[i] ? symbols_keep(b->s, q->dso, b->raw[i], b->what)
				      : b->q[b->order[i - 1]].result;
	}
	for (unsigned i = 0; i < threads; i++)
		symbols_worker_free(&workers[i]);
	symbols_forget_recent(b->s);
}

/*
 * Servers are asked in the background for all that is missing, the most wanted
 * first, while what is here is looked up.
 */
static void ask_servers(struct batch *b)
{
	struct symbols *s = b->s;
	AUTO_FREE bool *looked = mem_alloc(s->dsos.n * sizeof(*looked));

	for (size_t i = 0; s->find.debuginfod && !s->find.own && i < b->n; i++) {
		const struct sym_query *q = &b->q[b->order[i]];
		struct dso *d = s->dsos.data[q->dso];

		if (looked[q->dso] || d->kind != DSO_ELF || atomic_load(&d->opened))
			continue;
		looked[q->dso] = true;
		b->awaited[q->dso] = find_ahead(&s->find, &d->want, b->asked[q->dso]);
	}
}

void symbols_resolve_many(struct symbols *s, struct sym_query *q, size_t n, unsigned what)
{
	struct batch b = { .s = s, .what = symbols_all_of(what), .q = q };
	AUTO_FREE uint32_t *order = mem_table(n * sizeof(*order), false);
	AUTO_FREE uint32_t *asked = mem_alloc(s->dsos.n * sizeof(*asked));
	AUTO_FREE bool *awaited = mem_alloc(s->dsos.n * sizeof(*awaited));
	AUTO_FREE struct dso_answer **raw = NULL;

	b.order = order;
	b.asked = asked;
	b.awaited = awaited;
	for (size_t i = 0; i < n; i++) {
		q[i].result = symbols_lookup(s, q[i].dso, q[i].addr);
		if (q[i].dso >= s->dsos.n)
			q[i].result = symbols_resolve(s, q[i].dso, q[i].addr, what);
		else if (!q[i].result || (q[i].result->known & b.what) != b.what) {
			order[b.n++] = (uint32_t)i;
			asked[q[i].dso]++;
		}
	}
	if (!b.n)
		return;
	ask_servers(&b);
	sort_places(&b);
	raw = mem_alloc(b.n * sizeof(*raw));
	b.raw = raw;
	run_batch(&b);
}
