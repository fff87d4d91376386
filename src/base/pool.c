/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/mem.h"

unsigned pool_threads(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n > 0 ? (unsigned)n : 1;
}

struct pool {
	size_t n;
	atomic_size_t next;
	atomic_int result;
	int (*fn)(void *ctx, size_t job, unsigned worker);
	void *ctx;
};

struct worker {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
};

static void *pool_work(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;

	while (atomic_load_explicit(&p->result, memory_order_relaxed) == 0) {
		size_t job = atomic_fetch_add(&p->next, 1);
		int expected = 0, r;

		if (job >= p->n)
			break;
		r = p->fn(p->ctx, job, w->number);
		if (r)
			atomic_compare_exchange_strong(&p->result, &expected, r);
	}
	return NULL;
}

int pool_run(size_t n, unsigned threads, int (*fn)(void *ctx, size_t job, unsigned worker),
	     void *ctx)
{
	struct pool p = { .n = n, .fn = fn, .ctx = ctx };
	AUTO_FREE struct worker *w = NULL;
	unsigned started = 1;

	if (!threads)
		threads = pool_threads();
	if (threads > n)
		threads = n ? (unsigned)n : 1;
	w = mem_alloc(threads * sizeof(*w));
	for (unsigned i = 0; i < threads; i++)
		w[i] = (struct worker){ .pool = &p, .number = i };
	/* a thread that cannot be had is work for the others */
	while (started < threads &&
	       pthread_create(&w[started].thread, NULL, pool_work, &w[started]) == 0)
		started++;
	pool_work(&w[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(w[i].thread, NULL);
	return atomic_load(&p.result);
}
