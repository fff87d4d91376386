/* SPDX-License-Identifier: MIT */
/* User stacks of tracepoints and probes (bpf/walk_hit.h): where the programs are attached. */
#include "live/walk/walker_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "kern/perf.h"
#include "walk.skel.h"

void walker_hits_configure(struct walker *w)
{
	struct walk_bpf *b = w->bpf;
	struct bpf_program *p[] = { b->progs.hit_tracepoint, b->progs.hit_exec,
				    b->progs.hit_sys_enter, b->progs.hit_sys_exit,
				    b->progs.hit_probe };

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		bpf_program__set_autoload(p[i], w->o.hits);
}

static int walker_hits_attach(struct walker *w, struct bpf_program *p, const char *name,
			      struct err *e)
{
	int r = attached_raw(&w->attached, bpf_program__fd(p), name);

	return r < 0 ? err_set(e, -r, "stacks cannot be walked at %s: %s", name, strerror(-r)) : 0;
}

int walker_hit_tracepoint(struct walker *w, const char *name, struct err *e)
{
	bool exec = strcmp(name, "sched_process_exec") == 0;

	return walker_hits_attach(w, exec ? w->bpf->progs.hit_exec : w->bpf->progs.hit_tracepoint,
				  name, e);
}

int walker_hit_call(struct walker *w, int nr, bool exit, struct err *e)
{
	struct walk_bpf *b = w->bpf;
	uint64_t *bits = (uint64_t *)(exit ? b->bss->hit_exit : b->bss->hit_enter);
	int r = 0;

	if (!w->hits_calls[exit])
		r = walker_hits_attach(w, exit ? b->progs.hit_sys_exit : b->progs.hit_sys_enter,
				       exit ? "sys_exit" : "sys_enter", e);
	if (r < 0)
		return r;
	w->hits_calls[exit] = true;
	for (unsigned i = 0; i < WALK_CALLS / 64; i++)
		if (nr < 0)
			bits[i] = UINT64_MAX;
		else if ((unsigned)nr / 64 == i)
			bits[i] |= (uint64_t)1 << nr % 64;
	return 0;
}

int walker_hit_probe(struct walker *w, const struct walker_probe *p, struct err *e)
{
	struct perf_event_attr a;
	int fd, r = 0;

	if (perf_probe_attr(p->user, p->ret, p->target, p->offset, 0, &a) < 0)
		return err_set(e, EOPNOTSUPP, "this kernel cannot put a %s beside another",
			       p->user ? "uprobe" : "kprobe");
	/* Programs run on every CPU, whatever their event is on. */
	fd = perf_open(&a, -1, 0, -1, 0);
	if (fd >= 0) {
		vec_push(&w->attached.events, fd);
		r = attached_event(&w->attached, bpf_program__fd(w->bpf->progs.hit_probe), fd, 0);
	}
	r = fd < 0 ? fd : r;
	return r < 0 ? err_set(e, -r, "stacks cannot be walked at %s: %s", p->target, strerror(-r))
		     : 0;
}
