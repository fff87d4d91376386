/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "live/run/session.h"

#define PROCS_MIN 1024u
#define PROCS_MAX 8192u
#define TABLES_MAX 16384u

struct run_walker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int32_t pid;
	bool asked; /* depth is set */
	uint32_t depth;
	bool settled;	       /* the walker's code is loaded, or failed to */
	struct walker *loaded; /* its code is loaded; rings and tables may be missing */
	struct walker *walker; /* complete */
	struct err why;
};

/* Waits until the other thread has set it; r is locked then. */
static void run_walker_lock_when(struct run_walker *r, const bool *done)
{
	pthread_mutex_lock(&r->lock);
	while (!*done)
		pthread_cond_wait(&r->changed, &r->lock);
}

static uint32_t ask_depth(void *ctx)
{
	struct run_walker *r = ctx;
	uint32_t depth;

	run_walker_lock_when(r, &r->asked);
	depth = r->depth;
	pthread_mutex_unlock(&r->lock);
	return depth;
}

static void run_walker_settle(void *ctx, struct walker *loaded)
{
	struct run_walker *r = ctx;

	pthread_mutex_lock(&r->lock);
	r->settled = true;
	r->loaded = loaded;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Room for many more than there are now; the largest tables would take long to make. */
static uint32_t run_walker_processes(void)
{
	struct sysinfo now = { 0 };
	uint32_t n = PROCS_MIN;

	sysinfo(&now);
	while (n < now.procs * 4u && n < PROCS_MAX)
		n *= 2;
	return n;
}

static void *open_walker(void *ctx)
{
	struct run_walker *r = ctx;
	uint32_t procs = run_walker_processes();
	struct walker_opts o = { .function = true,
				 .ask_depth = ask_depth,
				 .loaded = run_walker_settle,
				 .ctx = r,
				 .no_kernel = true,
				 .ring_bytes = 512u << 10,
				 .slab_bytes = 1u << 20,
				 .tables = procs * 8 < TABLES_MAX ? procs * 8 : TABLES_MAX,
				 .procs = procs,
				 .maps = procs * 8,
				 .copy_rate = 200,
				 .pids = &r->pid,
				 .n_pids = r->pid != 0,
				 .cache = true };

	if (walker_open(&o, &r->walker, &r->why) < 0)
		run_walker_settle(r, NULL);
	return NULL;
}

struct run_walker *run_walker_begin(int32_t pid)
{
	struct run_walker *r = mem_alloc(sizeof(*r));
	sigset_t all, old;
	int err;

	r->pid = pid;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	/* Signals are for the thread that waits for them (live/loop.h). */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&r->thread, NULL, open_walker, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		free(r);
		return NULL;
	}
	return r;
}

void run_walker_depth(struct run_walker *r, uint32_t depth)
{
	pthread_mutex_lock(&r->lock);
	r->asked = true;
	r->depth = depth;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

struct walker *run_walker_loaded(struct run_walker *r)
{
	struct walker *w;

	run_walker_lock_when(r, &r->settled);
	w = r->loaded;
	pthread_mutex_unlock(&r->lock);
	return w;
}

struct walker *run_walker_end(struct run_walker *r, struct err *why)
{
	struct walker *w;

	pthread_join(r->thread, NULL);
	w = r->walker;
	if (!w && !why->code)
		*why = r->why;
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	free(r);
	return w;
}

void run_walker_cancel(struct run_walker *r)
{
	struct err none = { 0 };

	if (!r)
		return;
	run_walker_depth(r, 0);
	walker_close(run_walker_end(r, &none));
}

/* Programs with the walker in them, loaded by a thread while those without are at work. They
 * take over in one step, for good. */

static void *run_handover_load(void *arg)
{
	struct run *r = arg;
	uint32_t key = 0;

	for (size_t i = 0; i < r->p->codes.n; i++) {
		struct run_handover *w = &r->handover[i];
		AUTO_FREE char *log = NULL;
		struct err e = { 0 };
		int k;

		if (w->map < 0)
			continue;
		w->prog = run_load_with_walker(r, i, &log, &e);
		k = w->prog < 0 ? w->prog : bpf_map_set(w->map, &key, &w->prog);
		if (k == 0)
			continue;
		if (!e.code)
			err_set(&e, -k,
				"the kernel does not let the walker's program take over: %s",
				strerror(-k));
		if (!r->sideband.why.code)
			r->sideband.why = e;
		if (w->prog >= 0)
			close(w->prog);
		w->prog = -1;
	}
	return NULL;
}

void run_handover_begin(struct run *r)
{
	bool any = false;

	for (size_t i = 0; i < r->p->codes.n; i++)
		any |= r->handover[i].map >= 0;
	if (!any)
		return;
	r->handing_over = pthread_create(&r->handover_thread, NULL, run_handover_load, r) == 0;
	if (!r->handing_over)
		run_handover_load(r);
	if (r->o.verbose) /* run_about() must list the final programs */
		run_handover_end(r);
}

void run_handover_end(struct run *r)
{
	if (r->handing_over)
		pthread_join(r->handover_thread, NULL);
	r->handing_over = false;
}

void run_handover_close(struct run *r)
{
	run_handover_end(r);
	for (size_t i = 0; i < r->p->codes.n; i++) {
		if (r->handover[i].prog >= 0)
			close(r->handover[i].prog);
		if (r->handover[i].map >= 0)
			close(r->handover[i].map);
		r->handover[i] = (struct run_handover){ -1, -1 };
	}
}
