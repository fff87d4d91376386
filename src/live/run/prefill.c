/* SPDX-License-Identifier: MIT */
/*
 * A map whose entries are allocated as they come has one free entry a CPU at first, and gets more
 * when one is taken while interrupts are on. Two stacks in a row in a context switch, where they
 * are off, would be one too many: so an entry is taken and given back on each CPU, by a thread
 * while programs are loaded, since it has to wait for its turn on each CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "live/run/session.h"

/* Can the probe be hit while interrupts are off? Where they are on, the kernel refills in time. */
static bool may_be_off(const struct lang_point *p)
{
	switch (p->kind) {
	case LP_BEGIN:
	case LP_END:
	case LP_UPROBE:
	case LP_URETPROBE:
	case LP_USDT:
	case LP_INTERVAL:
	case LP_ITER:
	case LP_SELF: return false;
	case LP_TRACEPOINT: return !strstr(p->target, "syscalls");
	default: return true;
	}
}

static bool run_prefill_grows(const struct run *r, size_t map)
{
	const struct lang_map *m = &r->p->maps.data[map];

	return r->map_fd[map] >= 0 && (m->flags & BPF_F_NO_PREALLOC) && !m->by_task;
}

static void take_one(const struct run *r, size_t map)
{
	const struct lang_map *m = &r->p->maps.data[map];
	size_t part = (m->value_size + 7) & ~7u;
	AUTO_FREE void *value = mem_alloc(part * (m->per_cpu ? r->host.ncpus : 1));
	AUTO_FREE void *key = mem_alloc(m->key_size);

	memset(key, 0xff, m->key_size);
	if (bpf_map_set(r->map_fd[map], key, value) == 0)
		bpf_map_drop(r->map_fd[map], key);
}

static bool run_prefill_wanted(const struct run *r)
{
	bool off = false, any = false;

	vec_each (&r->p->points, p)
		off |= may_be_off(p);
	for (size_t i = 0; i < r->p->maps.n; i++)
		any |= run_prefill_grows(r, i);
	return off && any;
}

static void *run_prefill_all(void *arg)
{
	const struct run *r = arg;
	struct sched_param first = { .sched_priority = 1 };
	cpu_set_t all, one;

	/* At real-time priority, as it takes microseconds on each CPU; else at the usual one. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		return NULL; /* more CPUs than fit: each may lose an entry at the start */
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		if (sched_setaffinity(0, sizeof(one), &one) < 0)
			continue;
		for (size_t k = 0; k < r->p->maps.n; k++)
			if (run_prefill_grows(r, k))
				take_one(r, k);
	}
	return NULL;
}

void run_prefill_begin(struct run *r)
{
	r->prefilling = run_prefill_wanted(r) &&
			pthread_create(&r->prefiller, NULL, run_prefill_all, r) == 0;
}

void run_prefill_end(struct run *r)
{
	if (r->prefilling)
		pthread_join(r->prefiller, NULL);
	r->prefilling = false;
}
