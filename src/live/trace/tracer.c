/* SPDX-License-Identifier: MIT */
#include "live/trace/tracer.h"

#include "config.h"
#if HAVE_WALKER

#	include <bpf/bpf.h>
#	include <bpf/libbpf.h>
#	include <linux/perf_event.h>
#	include <string.h>
#	include <sys/ioctl.h>
#	include <sys/stat.h>
#	include <unistd.h>

#	include "base/vec.h"
#	include "kern/perf.h"
#	include "live/attached.h"
#	include "live/ourselves.h"
#	include "live/walk/walker_abi.h"
#	include "live/walk/walker_priv.h"

#	include "trace.skel.h"
#	include "walk.skel.h"

#	define RING_BYTES (8u << 20)
/* A stack that cannot be walked at once is always copied: calls are rarer than samples. */
#	define COPY_NS 1

struct tracer {
	struct trace_bpf *bpf;
	struct ring_buffer *ring;
	struct attached attached;
	tracer_fn *fn;
	void *ctx;
	int stop;
	bool ended, stacks;
	unsigned ncpus;
};

static void configure(struct tracer *t, const struct tracer_opts *o)
{
	volatile struct trace_config *c = (volatile struct trace_config *)&t->bpf->rodata->options;
	uint64_t ring = o->ring_bytes ? o->ring_bytes : RING_BYTES;
	struct stat ns;

	c->min_ns = o->min_ns;
	c->all = o->by_uid || o->target->system_wide;
	c->own = (uint32_t)ourselves_pid();
	c->by_uid = o->by_uid;
	c->uid = o->uid;
	c->some_cpus = o->some_cpus;
	c->sums = o->sums;
	c->events = o->events;
	c->failed = o->failed;
	c->by = o->by;
	c->limit = o->limit < TRACE_STRING ? o->limit : TRACE_STRING;
	c->no_children = o->no_children;
	c->wake_bytes = ring / 8;
	if (stat("/proc/self/ns/pid", &ns) == 0 && ns.st_ino != 0xeffffffcu) {
		c->pidns_dev = ns.st_dev;
		c->pidns_ino = ns.st_ino;
	}
	bpf_map__set_max_entries(t->bpf->maps.records, (uint32_t)ring);
}

/*
 * Before loading: stacks of callers are walked with the walker's code over the walker's tables, and
 * sent through its ring; w NULL: without stacks.
 */
static int tracer_share_walker(struct trace_bpf *b, const struct walker *w, struct err *e)
{
	struct bpf_map *map[] = { b->maps.procs, b->maps.maps,	b->maps.tables,
				  b->maps.slabs, b->maps.rules, b->maps.ring };
	int fd[] = { w ? w->procs_fd : -1,  w ? w->maps_fd : -1,
		     w ? w->tables_fd : -1, w ? w->slabs_fd : -1,
		     w ? w->rules_fd : -1,  w ? bpf_map__fd(w->bpf->maps.ring) : -1 };

	bpf_program__set_autoload(b->progs.leave, !w);
	bpf_program__set_autoload(b->progs.leave_stack, w != NULL);
	bpf_program__set_autoload(b->progs.happened, !w);
	bpf_program__set_autoload(b->progs.happened_stack, w != NULL);
	bpf_program__set_autoload(b->progs.faulted, !w);
	bpf_program__set_autoload(b->progs.faulted_stack, w != NULL);
	bpf_map__set_max_entries(b->maps.states, w ? (uint32_t)libbpf_num_possible_cpus() : 1);
	if (!w)
		bpf_map__set_autocreate(b->maps.states, false);
	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		int r = w ? bpf_map__reuse_fd(map[i], fd[i])
			  : bpf_map__set_autocreate(map[i], false);

		if (r < 0)
			return err_set(e, -r, "cannot share the stack walker's tables: %s",
				       strerror(-r));
	}
	if (w) {
		struct walk_config *c = (struct walk_config *)&b->rodata->config;

		memcpy(c, (const void *)&w->bpf->rodata->config, sizeof(*c));
		c->kernel = 0;
		c->copy_ns = COPY_NS;
	}
	return 0;
}

static int tracer_load(struct tracer *t, const struct tracer_opts *o, struct err *e)
{
	int err;

	libbpf_set_print(NULL); /* it says nothing */
	t->bpf = trace_bpf__open();
	if (!t->bpf)
		return err_set(e, errno, "cannot open the tracing programs: %s", strerror(errno));
	configure(t, o);
	err = tracer_share_walker(t->bpf, o->walker, e);
	if (err < 0)
		return err;
	t->stacks = o->walker != NULL;
	err = trace_bpf__load(t->bpf);
	if (err == -EPERM || err == -EACCES) {
		err_set(e, -err, "the kernel does not let this user trace system calls");
		return err_hint(e, "run as root, or with CAP_BPF and CAP_PERFMON");
	}
	if (err == -ESRCH || err == -ENOENT) {
		err_set(e, EOPNOTSUPP, "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
		return err_hint(e, "it needs a kernel with CONFIG_DEBUG_INFO_BTF; kymo record -e "
				   "'raw_syscalls:*' and kymo trace -i work without");
	}
	if (err) {
		err_set(e, EOPNOTSUPP, "this kernel refuses the tracing programs: %s",
			strerror(-err));
		return err_hint(e, "they need Linux 5.17; kymo record -e 'raw_syscalls:*' and "
				   "kymo trace -i work without");
	}
	return 0;
}

static int tracer_set(int map, const void *key, const void *value, const char *what, struct err *e)
{
	if (bpf_map_update_elem(map, key, value, BPF_ANY) == 0)
		return 0;
	return err_set(e, errno, "cannot trace so many %s: %s", what, strerror(errno));
}

static int fill_plans(struct tracer *t, const struct tracer_opts *o, struct err *e)
{
	int map = bpf_map__fd(t->bpf->maps.plans);

	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_CALLS; i++) {
		bool is32 = i >= TRACE_CALLS;
		uint32_t nr = i % TRACE_CALLS;
		struct trace_plan p;

		if (!o->wanted[is32][nr])
			continue;
		tracer_plan(is32 ? syscall_compat() : syscall_native(), (int)nr,
			    o->events ? o->structs : NULL, !o->no_paths, &p);
		p.flags |= TRACE_WANTED;
		if (tracer_set(map, &i, &p, "calls", e) < 0)
			return -e->code;
	}
	return 0;
}

static int fill_targets(struct tracer *t, const struct tracer_opts *o, struct err *e)
{
	uint32_t on = TRACE_ON, pid = (uint32_t)o->command;
	const struct target *g = o->target;

	for (size_t i = 0; o->some_cpus && i < g->cpus.n; i++)
		if (g->cpus.cpu[i] >= 0 && g->cpus.cpu[i] < TRACE_CPUS)
			t->bpf->bss->cpus[g->cpus.cpu[i] / 64] |= 1ull << g->cpus.cpu[i] % 64;
	for (size_t i = 0; i < o->n_leave_out; i++)
		if (tracer_set(bpf_map__fd(t->bpf->maps.left_out), &o->leave_out[i], &on,
			       "processes", e) < 0)
			return -e->code;
	for (size_t i = 0; !g->system_wide && !g->command && !o->by_uid && i < g->threads.n; i++)
		if (g->threads.tid[i] > 0 && tracer_set(bpf_map__fd(t->bpf->maps.threads),
							&g->threads.tid[i], &on, "threads", e) < 0)
			return -e->code;
	if (o->command && !o->at_once)
		on = TRACE_FROM_EXEC;
	if (o->command && !g->system_wide && !o->by_uid)
		return tracer_set(bpf_map__fd(t->bpf->maps.processes), &pid, &on, "processes", e);
	return 0;
}

static int tracer_on_record(void *ctx, void *data, size_t size)
{
	struct tracer *t = ctx;
	const struct trace_record *r = data;

	if (size < sizeof(*r) || r->n > size - sizeof(*r) || r->abi >= TRACE_ABIS)
		return 0;
	t->stop = t->fn(t->ctx, r, r + 1);
	return t->stop ? -ECANCELED : 0;
}

int tracer_open(const struct tracer_opts *o, struct tracer **ret, struct err *e)
{
	struct tracer *t = mem_alloc(sizeof(*t));
	int r = tracer_load(t, o, e);

	t->ncpus = (unsigned)libbpf_num_possible_cpus();
	if (r == 0)
		r = fill_plans(t, o, e);
	if (r == 0)
		r = fill_targets(t, o, e);
	if (r == 0) {
		t->ring = ring_buffer__new(bpf_map__fd(t->bpf->maps.records), tracer_on_record, t,
					   NULL);
		if (!t->ring)
			r = err_set(e, errno, "cannot map the ring: %s", strerror(errno));
	}
	if (r < 0) {
		tracer_close(t);
		return r;
	}
	*ret = t;
	return 0;
}

static int tracer_attach(struct tracer *t, struct bpf_program *p, struct err *e)
{
	int r = attached_raw(&t->attached, bpf_program__fd(p), NULL);

	return r < 0 ? err_set(e, -r, "cannot attach to %s: %s", bpf_program__section_name(p),
			       strerror(-r))
		     : 0;
}

/* Run a program for each task. */
static int iterate(struct bpf_program *p, struct err *e)
{
	int r = attached_iterate(bpf_program__fd(p));

	return r < 0 ? err_set(e, -r, "cannot look at all tasks: %s", strerror(-r)) : 0;
}

int tracer_begin(struct tracer *t, bool paused, struct err *e)
{
	struct trace_bpf *b = t->bpf;
	struct bpf_program *first[] = { b->progs.forked, b->progs.execed, b->progs.exited };
	struct bpf_program *then[] = { t->stacks ? b->progs.leave_stack : b->progs.leave,
				       b->progs.enter };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(first) && r == 0; i++)
		r = tracer_attach(t, first[i], e);
	if (r == 0)
		r = iterate(b->progs.begin, e);
	for (size_t i = 0; i < ARRAY_SIZE(then) && r == 0; i++)
		r = tracer_attach(t, then[i], e);
	if (r == 0)
		tracer_switch(t, !paused);
	return r;
}

void tracer_switch(struct tracer *t, bool on)
{
	__atomic_store_n(&t->bpf->bss->running, on, __ATOMIC_RELEASE);
}

int tracer_fd(const struct tracer *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

int tracer_read(struct tracer *t, tracer_fn *fn, void *ctx, struct err *e)
{
	int n;

	t->fn = fn;
	t->ctx = ctx;
	t->stop = 0;
	n = ring_buffer__consume(t->ring);
	if (t->stop)
		return t->stop;
	if (n < 0 && n != -EINTR)
		return err_set(e, -n, "cannot read the ring: %s", strerror(-n));
	return n < 0 ? 0 : n;
}

/* perf: an open event, taken over. */
static int attach_event(struct tracer *t, int perf, struct bpf_program *p, uint64_t cookie,
			struct err *e)
{
	int r;

	if (perf < 0)
		return err_set(e, -perf, "cannot open the event: %s", strerror(-perf));
	vec_push(&t->attached.events, perf);
	r = attached_event(&t->attached, bpf_program__fd(p), perf, cookie);
	return r < 0 ? err_set(e, -r, "cannot attach to the event: %s", strerror(-r)) : 0;
}

int tracer_add_event(struct tracer *t, uint32_t id, uint32_t size, struct err *e)
{
	/* its program runs though it is off */
	struct perf_event_attr a = {
		.type = PERF_TYPE_TRACEPOINT, .config = id, .sample_period = 1, .disabled = 1
	};

	return attach_event(t, perf_open(&a, -1, 0, -1, 0),
			    t->stacks ? t->bpf->progs.happened_stack : t->bpf->progs.happened,
			    id | (uint64_t)size << 32, e);
}

int tracer_add_faults(struct tracer *t, bool major, struct err *e)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ
						     : PERF_COUNT_SW_PAGE_FAULTS_MIN,
				     .sample_type = PERF_SAMPLE_ADDR,
				     .sample_period = 1,
				     .wakeup_events = 1 };
	struct cpus online = { 0 };
	int r = cpus_online(&online, e);

	for (size_t i = 0; i < online.n && r == 0; i++)
		r = attach_event(t, perf_open(&a, -1, online.cpu[i], -1, 0),
				 t->stacks ? t->bpf->progs.faulted_stack : t->bpf->progs.faulted,
				 major, e);
	cpus_free(&online);
	return r;
}

int tracer_end(struct tracer *t, struct err *e)
{
	int r;

	if (t->ended)
		return 0;
	t->ended = true;
	tracer_switch(t, false);
	r = iterate(t->bpf->progs.end, e);
	attached_close(&t->attached);
	return r;
}

void tracer_close(struct tracer *t)
{
	if (!t)
		return;
	attached_close(&t->attached);
	ring_buffer__free(t->ring);
	trace_bpf__destroy(t->bpf);
	free(t);
}

struct trace_lost tracer_lost(const struct tracer *t)
{
	struct trace_lost l;

	memcpy(&l, &t->bpf->bss->losses, sizeof(l));
	l.stacks = t->bpf->bss->lost;
	return l;
}

/* --- sums ------------------------------------------------------------------------------------- */

void tracer_sums(const struct tracer *t,
		 void (*sum)(void *ctx, const struct trace_sum_key *key, const struct trace_sum *v),
		 void (*error)(void *ctx, const struct trace_error_key *key, uint64_t n), void *ctx)
{
	int sums = bpf_map__fd(t->bpf->maps.sums), errors = bpf_map__fd(t->bpf->maps.errors);
	AUTO_FREE struct trace_sum *parts = mem_alloc(t->ncpus * sizeof(*parts));
	struct trace_sum_key key;
	struct trace_error_key what;
	uint64_t count;

	for (void *last = NULL; bpf_map_get_next_key(sums, last, &key) == 0; last = &key) {
		struct trace_sum all = { 0 };

		if (bpf_map_lookup_elem(sums, &key, parts) < 0)
			continue;
		for (unsigned i = 0; i < t->ncpus; i++)
			trace_sum_add(&all, &parts[i]);
		sum(ctx, &key, &all);
	}
	for (void *last = NULL; bpf_map_get_next_key(errors, last, &what) == 0; last = &what)
		if (bpf_map_lookup_elem(errors, &what, &count) == 0)
			error(ctx, &what, count);
}

bool tracer_comm(const struct tracer *t, uint32_t id, char comm[16])
{
	struct trace_comm c;

	if (bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.comms), &id, &c) < 0)
		return false;
	memcpy(comm, c.comm, 16);
	comm[15] = '\0';
	return true;
}

#endif
