/* SPDX-License-Identifier: MIT */
/*
 * Time off the CPU (bpf/offcpu.h): who is recorded, and taking the sums out. Programs write to one
 * of two tables of sums; to empty it they are led to the other first, so that no wait is lost.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "kern/perf.h"
#include "live/walk/walker_priv.h"
#include "walk.skel.h"

#define GRACE_US 1000 /* programs that began with the old table have ended by then */

static bool fits_cpus(const struct walker_off *o)
{
	for (size_t i = 0; i < o->n_cpus; i++)
		if (o->cpus[i] < 0 || o->cpus[i] >= WALK_OFF_CPUS)
			return false;
	return true;
}

int walker_off_configure(struct walker *w, struct err *e)
{
	volatile struct walk_config *c = (volatile struct walk_config *)&w->bpf->rodata->config;
	const struct walker_off *o = &w->o.off;
	struct walk_bpf *b = w->bpf;
	struct bpf_map *map[] = { b->maps.off_targets, b->maps.off_waits, b->maps.off_stacks,
				  b->maps.off_sums0, b->maps.off_sums1 };
	bool targets = (o->on || w->o.hits) && !o->all;

	bpf_program__set_autoload(b->progs.off_switch, o->on);
	bpf_program__set_autoload(b->progs.off_waking, o->on && o->wakers);
	bpf_program__set_autoload(b->progs.off_fork, targets && o->inherit);
	bpf_program__set_autoload(b->progs.off_exec, targets);
	bpf_program__set_autoload(b->progs.off_exit, targets);
	for (size_t i = 0; !o->on && i < ARRAY_SIZE(map); i++)
		if (i > 0 || !targets)
			bpf_map__set_max_entries(map[i], 1);
	c->off_all = o->all;
	if (!o->on)
		return 0;
	for (size_t i = 0; o->threads && i < 2; i++)
		bpf_map__set_max_entries(map[i], o->threads);
	for (size_t i = 3; o->sums && i < ARRAY_SIZE(map); i++)
		bpf_map__set_max_entries(map[i], o->sums);
	if (!fits_cpus(o))
		return err_set(e, EINVAL, "time off the CPU is summed on the first %d CPUs only",
			       WALK_OFF_CPUS);
	if (o->n_cgroups > WALK_OFF_CGROUPS)
		return err_set(e, E2BIG, "time off the CPU is summed in up to %d cgroups",
			       WALK_OFF_CGROUPS);
	c->off_direct_ns = o->direct_ns;
	c->off_some_cpus = o->n_cpus > 0;
	c->off_cgroups = (uint32_t)o->n_cgroups;
	c->off_kthreads = o->kthreads;
	return 0;
}

static int walker_off_attach(struct walker *w, struct bpf_program *p, struct err *e)
{
	int r = bpf_program__autoload(p) ? attached_raw(&w->attached, bpf_program__fd(p), NULL) : 0;

	return r < 0 ? err_set(e, -r, "cannot attach to %s: %s", bpf_program__section_name(p),
			       strerror(-r))
		     : 0;
}

int walker_off_filter(struct walker *w, struct err *e)
{
	struct walker_off *o = &w->o.off;
	int map = bpf_map__fd(w->bpf->maps.off_cgroups);

	for (size_t i = 0; i < o->n_cpus; i++)
		w->bpf->bss->off_cpus[o->cpus[i] / 64] |= (uint64_t)1 << o->cpus[i] % 64;
	for (uint32_t i = 0; i < o->n_cgroups; i++)
		if (bpf_map_update_elem(map, &i, &o->cgroups[i], BPF_ANY) < 0) {
			err_set(e, errno, "cannot sum time off the CPU by cgroup: %s",
				strerror(errno));
			return err_hint(e, "it must be one of a cgroup2 hierarchy");
		}
	o->cpus = o->cgroups = NULL; /* they are the caller's */
	return 0;
}

int walker_off_start(struct walker *w, struct err *e)
{
	struct walk_bpf *b = w->bpf;
	struct bpf_program *programs[] = { b->progs.off_fork, b->progs.off_exec, b->progs.off_exit,
					   b->progs.off_waking, b->progs.off_switch };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (walker_off_attach(w, programs[i], e) < 0)
			return -e->code;
	return 0;
}

int walker_off_target(struct walker *w, int32_t tid, bool now, struct err *e)
{
	uint32_t on = now;

	if (bpf_map_update_elem(bpf_map__fd(w->bpf->maps.off_targets), &tid, &on, BPF_ANY) == 0)
		return 0;
	if (errno == E2BIG)
		return err_set(e, E2BIG, "the stack walker follows up to %u threads",
			       bpf_map__max_entries(w->bpf->maps.off_targets));
	return err_set(e, errno, "the stack walker cannot follow thread %d: %s", tid,
		       strerror(errno));
}

bool walker_off_is_target(const struct walker *w, int32_t tid)
{
	uint32_t on;

	return bpf_map_lookup_elem(bpf_map__fd(w->bpf->maps.off_targets), &tid, &on) == 0;
}

void walker_off_switch(struct walker *w, bool on)
{
	__atomic_store_n(&w->bpf->bss->off_on, on, __ATOMIC_RELAXED);
}

bool walker_off_due(const struct walker *w)
{
	return w->bpf->bss->off_entries > bpf_map__max_entries(w->bpf->maps.off_sums0) / 2;
}

static int walker_off_hand_out(const struct walk_off_key *k, const struct walk_off_sum *sum,
			       walker_fn *fn, void *ctx)
{
	struct walker_sample s = { .kind = WALKER_WAIT,
				   .pid = (int32_t)k->pid,
				   .tid = (int32_t)k->tid,
				   /* several were on no one CPU: by that readers know them */
				   .cpu = sum->count == 1 ? (uint32_t)sum->cpu : UINT32_MAX,
				   .time = sum->last,
				   .period = sum->ns,
				   .count = sum->count,
				   .stack = k->stack,
				   .waker = k->waker,
				   .state = k->state };

	return fn(ctx, &s);
}

/* Everything in one table of sums, which is empty afterwards. */
static int take_table(int fd, walker_fn *fn, void *ctx)
{
	struct walk_off_key key;
	struct walk_off_sum sum;
	int err = 0;

	while (!err && bpf_map_get_next_key(fd, NULL, &key) == 0) {
		if (bpf_map_lookup_elem(fd, &key, &sum) == 0)
			err = walker_off_hand_out(&key, &sum, fn, ctx);
		if (bpf_map_delete_elem(fd, &key) < 0)
			break;
	}
	return err;
}

/* Threads that still wait have waited until now. */
static int take_waits(struct walker *w, walker_fn *fn, void *ctx)
{
	int fd = bpf_map__fd(w->bpf->maps.off_waits), err = 0;
	uint64_t now = loop_now();
	struct walk_off_wait wait;
	uint32_t key, last;
	bool first = true;

	while (!err && bpf_map_get_next_key(fd, first ? NULL : &last, &key) == 0) {
		first = false;
		last = key;
		if (bpf_map_lookup_elem(fd, &key, &wait) == 0 && wait.since < now)
			err = walker_off_hand_out(
				&(struct walk_off_key){ .stack = wait.stack,
							.waker = wait.waker,
							.pid = wait.pid,
							.tid = wait.tid,
							.state = wait.state },
				&(struct walk_off_sum){ now - wait.since, 1, now, wait.cpu }, fn,
				ctx);
	}
	return err;
}

int walker_off_take(struct walker *w, bool end, walker_fn *fn, void *ctx)
{
	struct walk_bpf *b = w->bpf;
	uint32_t table = b->bss->off_table;
	int fd = bpf_map__fd(table ? b->maps.off_sums1 : b->maps.off_sums0), err;

	if (end)
		walker_off_switch(w, false);
	__atomic_store_n(&b->bss->off_table, !table, __ATOMIC_SEQ_CST);
	__atomic_store_n(&b->bss->off_entries, 0, __ATOMIC_SEQ_CST);
	usleep(GRACE_US);
	err = take_table(fd, fn, ctx);
	return err || !end ? err : take_waits(w, fn, ctx);
}

void walker_off_stats(const struct walker *w, struct walker_stats *ret)
{
	ret->off_lost_sums = w->bpf->bss->off_lost_sums;
	ret->off_lost_tasks = w->bpf->bss->off_lost_tasks;
	ret->off_lost_ends = w->bpf->bss->off_lost_ends;
}

/* User stacks of tracepoints and probes (bpf/walk_hit.h): where the programs are attached. */

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
