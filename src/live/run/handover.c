/* SPDX-License-Identifier: MIT */
/*
 * Programs with the stack walker in them, which a thread loads while those without it are already
 * at work. They take over in one step, for good, when the kernel has checked them.
 */
#include <string.h>

#include "live/run/session.h"

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
