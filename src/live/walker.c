/* SPDX-License-Identifier: MIT */
#include "live/walker.h"

#include "config.h"
#if HAVE_WALKER

#	include "live/walker_priv.h"

#	include <bpf/bpf.h>
#	include <bpf/libbpf.h>
#	include <elf.h>
#	include <string.h>
#	include <sys/ioctl.h>
#	include <time.h>
#	include <unistd.h>

#	include "sym/cache.h"
#	include "walk.skel.h"

uint64_t walker_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

static void defaults(struct walker_opts *o)
{
	if (!o->events && !o->hits)
		o->events = 1;
	if (o->events > WALK_EVENTS)
		o->events = WALK_EVENTS;
	if (!o->depth || o->depth > WALK_DEPTH)
		o->depth = WALK_DEPTH;
	if (!o->kernel_depth || o->kernel_depth > WALK_KERNEL)
		o->kernel_depth = WALK_KERNEL;
	if (!o->ring_bytes)
		o->ring_bytes = 8u << 20;
	if (!o->table_bytes)
		o->table_bytes = 256u << 20;
	if (o->slab_bytes < WALK_SLAB_MIN || o->slab_bytes > WALK_SLAB_BYTES)
		o->slab_bytes = WALK_SLAB_BYTES;
	if (!o->tables || o->tables > WALK_TABLES)
		o->tables = o->all ? WALK_TABLES : WALK_TABLES / 4;
	if (!o->procs)
		o->procs = 16384;
	/* Lists of mappings; a command's processes have a few dozen each. What is not used is
	 * cleared all the same. */
	if (!o->maps)
		o->maps = o->all ? 131072 : 65536;
	o->maps = (o->maps + WALKER_LIST_BLOCK - 1) / WALKER_LIST_BLOCK * WALKER_LIST_BLOCK;
}

/* Return addresses on aarch64 may carry authentication codes above the address. */
static uint64_t ra_mask(void)
{
#	if defined(__aarch64__)
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), mask = 0xffff;

	/* Stacks lie right below the end of user space. */
	while (mask < here)
		mask = mask << 1 | 1;
	return mask;
#	else
	return UINT64_MAX;
#	endif
}

static volatile struct walk_config *config(struct walker *w)
{
	return w->bpf ? (volatile struct walk_config *)&w->bpf->rodata->config : &w->config;
}

static void configure(struct walker *w)
{
	volatile struct walk_config *c = config(w);
	struct stat ns;

	c->depth = w->o.depth;
	c->kernel_depth = w->o.kernel_depth;
	c->user = !w->o.no_user;
	c->kernel = !w->o.no_kernel;
	/* Others' programs are to be loaded fast, above all. */
	c->memo = !w->o.no_memo && !w->o.function;
	c->ra_mask = ra_mask();
	c->copy_ns = w->o.copy_rate ? 1000000000u / w->o.copy_rate : 0;
	/* A quarter of the ring; most stacks are far from full, and who asked for one that did not
	 * fit is told. */
	c->copy_burst = w->o.ring_bytes / 4 / (w->o.function ? 16384 : WALK_COPY + 10240);
	c->wake_bytes = w->o.ring_bytes / 8;
	/* In a pid namespace of our own, records name processes by its numbers. */
	if (stat("/proc/self/ns/pid", &ns) == 0 && ns.st_ino != 0xeffffffcu) {
		c->pidns_dev = ns.st_dev;
		c->pidns_ino = ns.st_ino;
	}
}

uint32_t walker_states(const struct walker *w)
{
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus(), n = w->o.function ? 0 : cpus;

	if (w->o.off.on)
		n += cpus;
	if (w->o.function || w->o.hits)
		n += cpus * WALK_FN_LEVELS;
	return n;
}

/* Programs that may interrupt each other have states of their own; those of bpf/walk_fn.h, which
 * may interrupt themselves, several. */
static void make_states(struct walker *w)
{
	volatile struct walk_config *c = config(w);
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus(), n = w->o.function ? 0 : cpus;

	c->off_states = n;
	if (w->o.off.on)
		n += cpus;
	c->fn_states = n;
	bpf_map__set_max_entries(w->bpf->maps.states, walker_states(w));
}

static struct bpf_program *program(const struct walker *w, uint32_t event)
{
	char name[16];

	if (w->o.check_memo && !event)
		return w->bpf->progs.walk_check;
	snprintf(name, sizeof(name), "walk%u", event);
	return bpf_object__find_program_by_name(w->bpf->obj, name);
}

static struct walk_bpf *open_object(struct walker *w)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[64];

	walker_fn_prepare();
	/* Programs tied to the kernel's own tracepoints need all of its types. */
	w->btf_fd = w->o.off.on || (w->o.hits && !w->o.off.all) ? -1 : walker_btf(w->cache > 0);
	if (w->btf_fd >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", w->btf_fd);
		opts.btf_custom_path = path;
	}
	return walk_bpf__open_opts(&opts);
}

/*
 * What libbpf would make when it loads the object, before that: it wants to know all that
 * programs are told by then. What cannot be made is left to it, and to its words.
 */
static void make_maps(struct walker *w)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, w->bpf->obj)
	{
		LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = bpf_map__map_flags(m));
		enum bpf_map_type type = bpf_map__type(m);
		int fd;

		if (bpf_map__is_internal(m) || !bpf_map__autocreate(m) ||
		    (type != BPF_MAP_TYPE_ARRAY && type != BPF_MAP_TYPE_HASH &&
		     type != BPF_MAP_TYPE_RINGBUF))
			continue;
		fd = bpf_map_create(type, bpf_map__name(m), bpf_map__key_size(m),
				    bpf_map__value_size(m), bpf_map__max_entries(m), &o);
		if (fd < 0)
			return;
		bpf_map__reuse_fd(m, fd);
		close(fd);
	}
}

/* The last that was not known. */
static int ask(struct walker *w, struct err *e)
{
	if (!w->o.ask_depth)
		return 0;
	if (w->bpf)
		make_maps(w);
	w->o.depth = w->o.ask_depth(w->o.ctx);
	if (!w->o.depth)
		return err_set(e, ECANCELED, "the stack walker is not wanted");
	defaults(&w->o);
	return 0;
}

static int refused(int code, struct err *e)
{
	err_set(e, code, "the kernel does not let this user load the stack walker");
	return err_hint(e, "run as root, or with CAP_BPF and CAP_PERFMON");
}

static int told(struct walker *w)
{
	w->n_maps = w->o.maps;
	w->n_tables = w->o.tables;
	if (w->o.loaded)
		w->o.loaded(w->o.ctx, w);
	return 0;
}

/* From what was kept: 1, 0 when there is nothing or it will not do, or -errno. */
static int load_kept(struct walker *w, struct err *e)
{
	int err;

	if (!w->o.function || walker_slab_first(w) < 0 || !walker_kept_open(w, walker_fn_object()))
		return 0;
	err = ask(w, e);
	if (err < 0)
		return err;
	configure(w);
	if (!walker_kept_configure(w)) {
		walker_kept_close(w);
		return 0;
	}
	told(w);
	return 1;
}

static int load(struct walker *w, struct err *e)
{
	struct walk_bpf *b = open_object(w);
	int err;

	if (!b)
		return err_set(e, errno, "cannot open the stack walker: %s", strerror(errno));
	w->bpf = b;
	bpf_map__set_max_entries(b->maps.procs, w->o.procs);
	bpf_map__set_max_entries(b->maps.maps, w->o.maps);
	bpf_map__set_max_entries(b->maps.ring, (uint32_t)w->o.ring_bytes);
	err = walker_slab_first(w);
	if (err == -EPERM || err == -EACCES)
		return refused(-err, e);
	if (err < 0)
		return err_set(e, -err, "cannot make the stack walker's first table: %s",
			       strerror(-err));
	bpf_map__set_max_entries(b->maps.tables, w->o.tables);
	err = walker_off_configure(w, e);
	if (err < 0)
		return err;
	walker_fn_configure(w);
	walker_hits_configure(w);
	make_states(w);
	bpf_program__set_autoload(w->o.check_memo ? b->progs.walk0 : b->progs.walk_check, false);
	for (uint32_t i = 0; i < WALK_EVENTS; i++)
		bpf_program__set_autoload(program(w, i), i < w->o.events && !w->o.function);
	err = ask(w, e);
	if (err < 0)
		return err;
	configure(w);
	err = walk_bpf__load(b);
	if (w->btf_fd >= 0)
		close(w->btf_fd);
	if (err == -EPERM || err == -EACCES)
		return refused(-err, e);
	if (err == -ESRCH || err == -ENOENT) {
		err_set(e, EOPNOTSUPP, "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
		return err_hint(e,
				"use --call-graph dwarf, or a kernel with CONFIG_DEBUG_INFO_BTF");
	}
	if (err) {
		err_set(e, EOPNOTSUPP, "this kernel refuses the stack walker: %s", strerror(-err));
		return err_hint(e, "it needs Linux 5.17; use --call-graph dwarf instead");
	}
	w->rules_cap = bpf_map__max_entries(b->maps.rules);
	w->procs_fd = bpf_map__fd(b->maps.procs);
	w->slabs_fd = bpf_map__fd(b->maps.slabs);
	w->maps_fd = bpf_map__fd(b->maps.maps);
	w->tables_fd = bpf_map__fd(b->maps.tables);
	w->rules_fd = bpf_map__fd(b->maps.rules);
	w->ring_fd = bpf_map__fd(b->maps.ring);
	return told(w);
}

struct reading {
	struct walker *w;
	walker_fn *fn;
	void *ctx;
	int n, stop;
};

void walker_sample_from(struct walker *w, const struct walk_sample *s, const uint64_t *chain,
			struct walker_sample *ret)
{
	*ret = (struct walker_sample){
		.pid = (int32_t)s->pid,
		.tid = (int32_t)s->tid,
		.cpu = s->cpu,
		.user_mode = s->flags & WALK_USER_MODE,
		.time = s->time,
		.ip = s->ip,
		.id = w->event_id[s->event % WALK_EVENTS],
		.kernel = chain + s->n_user,
		.n_kernel = s->n_kernel,
		.user = chain,
		.n_user = s->n_user,
		.end = s->end < UNWIND_END_MAX ? (enum unwind_end)s->end : UNWIND_NONE,
		.flags = s->unwind,
	};
	if (s->event == WALK_OFF_STACK) {
		ret->kind = WALKER_STACK;
		ret->stack = s->ip;
		ret->state = s->flags;
		memcpy(ret->comm, s->comm, sizeof(ret->comm));
		ret->comm[sizeof(ret->comm) - 1] = '\0';
	} else if (s->event == WALK_HIT) {
		ret->kind = WALKER_HIT;
		ret->addr = s->addr;
		return; /* whether it is some sample's is not known here */
	} else {
		ret->period = s->period;
		ret->addr = s->addr;
	}
	/* An interrupt ends waits in the middle of whatever runs, which nobody asked about. */
	if (ret->kind == WALKER_STACK && !w->o.function && (s->flags & WALK_WAKER)) {
		w->stats.wakers++;
		w->stats.wakers_whole += ret->end == UNWIND_BOTTOM;
		return;
	}
	w->stats.samples++;
	w->stats.frames += s->n_user;
	w->stats.fp_frames += s->n_fp;
	w->stats.known_frames += s->n_known;
	w->stats.end[ret->end]++;
}

/* A single wait: no stack of its own, only numbers of stacks. */
static int on_wait(struct reading *r, const struct walk_sample *s)
{
	struct walker_sample out = { .kind = WALKER_WAIT,
				     .pid = (int32_t)s->pid,
				     .tid = (int32_t)s->tid,
				     .cpu = s->cpu,
				     .time = s->time,
				     .period = s->period,
				     .count = 1,
				     .stack = s->ip,
				     .waker = s->addr,
				     .state = s->flags };

	r->n++;
	r->stop = r->fn(r->ctx, &out);
	return r->stop ? -ECANCELED : 0;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct reading *r = ctx;
	const struct walk_sample *s = data;
	struct walker_sample out;
	size_t want = sizeof(*s);

	if (size < sizeof(*s) || s->n_user > WALK_DEPTH || s->n_kernel > WALK_KERNEL ||
	    s->copy > WALK_COPY)
		return 0;
	if (s->event == WALK_OFF_WAIT)
		return on_wait(r, s);
	want += s->copy ? (WALK_DEPTH + WALK_KERNEL) * 8 + sizeof(struct walk_regs) + s->copy
			: (s->n_user + s->n_kernel) * 8ul;
	if (size < want)
		return 0;
	if (s->end == UNWIND_NO_MAP || s->end == UNWIND_PENDING) {
		pthread_mutex_lock(&r->w->lock);
		walker_proc_missed(r->w, s);
		pthread_mutex_unlock(&r->w->lock);
	}
	if (s->event == WALK_FN_MISS)
		return 0;
	if (s->copy)
		walker_copy_add(r->w, s, want);
	if (s->copy && s->event != WALK_HIT)
		return 0;
	walker_sample_from(r->w, s, (const uint64_t *)(s + 1), &out);
	if (s->copy)
		out.kind = WALKER_HIT_LATER;
	r->n++;
	r->stop = r->fn(r->ctx, &out);
	return r->stop ? -ECANCELED : 0;
}

/* The ring's callback needs the reading in hand; it lives in struct walker's place of it. */
static int ring_record(void *ctx, void *data, size_t size)
{
	struct walker *w = ctx;

	return on_record(w->reading, data, size);
}

/* The same tables in memory of our own. */
static void load_nothing(struct walker *w)
{
	w->procs_fd = w->slabs_fd = w->maps_fd = w->tables_fd = w->rules_fd = -1;
	w->n_maps = w->o.maps;
	w->n_tables = w->o.tables;
	w->rules_cap = 16384;
	w->o.copy_rate = 1; /* tables are kept for copies */
}

int walker_open(const struct walker_opts *o, struct walker **ret, struct err *e)
{
	struct walker *w = mem_alloc(sizeof(*w));
	int err;

	w->o = *o;
	w->first_slab = -1;
	defaults(&w->o);
	w->cache = o->cache ? cache_open(o->cache_dir, NULL) : -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	libbpf_set_print(quiet);
	if (w->o.plain)
		load_nothing(w);
	err = w->o.plain ? 1 : load_kept(w, e);
	if (err >= 0)
		err = err ? 0 : load(w, e);
	if (!err && !w->o.plain)
		err = w->bpf ? walker_off_filter(w, e) : 0;
	if (!err)
		err = walker_slab_init(w, e);
	if (!err)
		err = walker_proc_init(w, e);
	if (!err)
		err = walker_file_init(w, e);
	if (!err && !w->o.plain) {
		w->ring = ring_buffer__new(w->ring_fd, ring_record, w, NULL);
		if (!w->ring)
			err = err_set(e, errno, "cannot map the walker's ring: %s",
				      strerror(errno));
	}
	if (err) {
		walker_close(w);
		return err;
	}
	pthread_mutex_lock(&w->lock);
	/* Nearly every process has the C library and the loader: this one's are built at once. */
	walker_proc_scan(w, getpid(), getpid());
	if (o->all)
		walker_proc_scan_all(w);
	for (size_t i = 0; i < o->n_pids; i++)
		walker_proc_scan(w, o->pids[i], o->pids[i]);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	if (w->o.function && w->bpf)
		walker_fn_keep(w);
	*ret = w;
	return 0;
}

void walker_close(struct walker *w)
{
	if (!w)
		return;
	vec_each (&w->links, fd)
		close(*fd);
	vec_free(&w->links);
	walker_copy_free(w); /* what still waits has files */
	walker_file_free(w);
	ring_buffer__free(w->ring);
	walker_proc_free(w);
	walker_slab_free(w);
	walk_bpf__destroy(w->bpf);
	walker_kept_close(w);
	walker_fn_free(w);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	if (w->cache > 0)
		close(w->cache);
	free(w);
}

int walker_attach(struct walker *w, int perf_fd, uint64_t id, struct err *e)
{
	uint32_t event = 0;
	int fd;

	while (event < w->n_events && w->event_id[event] != id)
		event++;
	if (event == w->o.events)
		return err_set(e, E2BIG, "the stack walker was opened for %u events", w->o.events);
	fd = bpf_link_create(bpf_program__fd(program(w, event)), perf_fd, BPF_PERF_EVENT, NULL);
	if (fd == -EPROTO) {
		err_set(e, EPROTO,
			"the stack walker cannot take a precise event without a call chain");
		return err_hint(e, "leave out the event's :p, or use --call-graph fp");
	}
	if (fd < 0)
		return err_set(e, -fd, "cannot attach the stack walker: %s", strerror(-fd));
	if (event == w->n_events)
		w->event_id[w->n_events++] = id;
	vec_push(&w->links, fd);
	return 0;
}

int walker_fd(const struct walker *w)
{
	return w->ring ? ring_buffer__epoll_fd(w->ring) : -1;
}

static int ring_failed(int err, struct err *e)
{
	return err_set(e, -err, "cannot read the walker's ring: %s", strerror(-err));
}

static int take(struct reading *r, int timeout_ms, struct err *e)
{
	struct walker *w = r->w;
	int err = 0;

	if (!w->ring)
		return 0;
	w->reading = r;
	/* Waiting is for a wake-up; reading takes what has come without one, too. */
	if (timeout_ms)
		err = ring_buffer__poll(w->ring, timeout_ms);
	if (!r->stop && (err >= 0 || err == -EINTR || err == -ECANCELED))
		err = ring_buffer__consume(w->ring);
	w->reading = NULL;
	return err < 0 && err != -EINTR && err != -ECANCELED ? ring_failed(err, e) : 0;
}

int walker_take(struct walker *w, walker_fn *fn, void *ctx, struct err *e)
{
	struct reading r = { .w = w, .fn = fn, .ctx = ctx };
	int err = take(&r, 0, e);

	return err < 0 ? err : r.stop;
}

int walker_poll(struct walker *w, int timeout_ms, walker_fn *fn, void *ctx, struct err *e)
{
	struct reading r = { .w = w, .fn = fn, .ctx = ctx };
	int err, n;

	pthread_mutex_lock(&w->lock);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	err = take(&r, timeout_ms, e);
	if (err < 0 || r.stop)
		return err < 0 ? err : r.stop;
	n = w->copied ? walker_copy_finish(w, w->settling, fn, ctx) : 0;
	w->settling = false;
	pthread_mutex_lock(&w->lock);
	walker_proc_flush(w);
	pthread_mutex_unlock(&w->lock);
	return n < 0 ? n : r.n + n;
}

bool walker_waiting(const struct walker *w)
{
	return w->n_copied > 0;
}

void walker_settle(struct walker *w, int timeout_ms)
{
	uint64_t end = walker_now() + (uint64_t)timeout_ms * 1000000u;
	bool busy = true;

	w->settling = true;

	while (busy && walker_now() < end) {
		pthread_mutex_lock(&w->lock);
		walker_proc_flush(w);
		busy = w->n_pending > 0;
		pthread_mutex_unlock(&w->lock);
		if (busy)
			usleep(1000);
	}
}

static uint64_t kernel_bytes(const struct walker *w)
{
	uint64_t n = (uint64_t)w->slabs.n * w->o.slab_bytes;
	struct bpf_map *m;

	bpf_object__for_each_map(m, w->bpf->obj)
	{
		uint64_t value = (bpf_map__value_size(m) + 7) & ~7u;

		if (bpf_map__type(m) == BPF_MAP_TYPE_HASH)
			value += 64; /* key and bookkeeping */
		n += bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF ? bpf_map__max_entries(m)
							      : value * bpf_map__max_entries(m);
	}
	return n;
}

void walker_stats(const struct walker *w, struct walker_stats *ret)
{
	struct bpf_prog_info info = { 0 };
	__u32 size;

	pthread_mutex_lock((pthread_mutex_t *)&w->lock);
	*ret = w->stats;
	if (w->bpf) {
		ret->lost = w->bpf->bss->lost;
		ret->memo_checked = w->bpf->bss->check_done;
		ret->memo_wrong = w->bpf->bss->check_wrong;
		walker_off_stats(w, ret);
		ret->kernel_bytes = kernel_bytes(w);
	} else if (w->kept.object) {
		ret->lost = walker_kept_lost(w);
	}
	ret->table_bytes = w->slab_used * sizeof(struct walk_block);
	ret->table_bytes_max = w->o.table_bytes;
	ret->rules = w->n_rules;
	ret->slabs = w->slabs.n;
	ret->procs = w->n_live;
	ret->pending = w->n_pending;
	for (size_t i = 0; i < w->procs.n; i++)
		if (w->procs.data[i].pid && !w->procs.data[i].dead)
			ret->maps += w->procs.data[i].maps.n;
	pthread_mutex_unlock((pthread_mutex_t *)&w->lock);
	for (uint32_t i = 0; w->bpf && i < w->o.events; i++) {
		size = sizeof(info);
		info = (struct bpf_prog_info){ 0 };
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program(w, i)), &info, &size) < 0)
			continue;
		ret->run_count += info.run_cnt;
		ret->run_ns += info.run_time_ns;
		ret->verified_insns = info.verified_insns;
	}
}
#endif
