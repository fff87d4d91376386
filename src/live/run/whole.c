/* SPDX-License-Identifier: MIT */
/*
 * Programs with the stack walker in them, which a thread loads while those without it are already
 * at work. They take over in one step, for good, when the kernel has checked them.
 */
#include <string.h>
#include <unistd.h>

#include "live/run/int.h"

static void *run_whole_load(void *arg)
{
	struct run *r = arg;
	uint32_t key = 0;

	for (size_t i = 0; i < r->p->codes.n; i++) {
		struct run_whole *w = &r->whole[i];
		AUTO_FREE char *log = NULL;
		struct err e = { 0 };
		int k;

		if (w->map < 0)
			continue;
		w->prog = run_load_whole(r, i, &log, &e);
		k = w->prog < 0 ? w->prog : bpf_map_set(w->map, &key, &w->prog);
		if (k == 0)
			continue;
		if (!e.code)
			err_set(&e, -k,
				"the kernel does not let the walker's program take over: %s",
				strerror(-k));
		if (!r->side.why.code)
			r->side.why = e;
		if (w->prog >= 0)
			close(w->prog);
		w->prog = -1;
	}
	return NULL;
}

void run_whole_begin(struct run *r)
{
	bool any = false;

	for (size_t i = 0; i < r->p->codes.n; i++)
		any |= r->whole[i].map >= 0;
	if (!any)
		return;
	r->completing = pthread_create(&r->completer, NULL, run_whole_load, r) == 0;
	if (!r->completing)
		run_whole_load(r);
	if (r->o.verbose) /* it will be told what they are */
		run_whole_end(r);
}

void run_whole_end(struct run *r)
{
	if (r->completing)
		pthread_join(r->completer, NULL);
	r->completing = false;
}

void run_whole_close(struct run *r)
{
	run_whole_end(r);
	for (size_t i = 0; i < r->p->codes.n; i++) {
		if (r->whole[i].prog >= 0)
			close(r->whole[i].prog);
		if (r->whole[i].map >= 0)
			close(r->whole[i].map);
		r->whole[i] = (struct run_whole){ -1, -1 };
	}
}
