/* SPDX-License-Identifier: MIT */
/* The walker's program: what it is told, its maps, and why the kernel refuses it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "event/trace.h"
#include "kern/btf_types.h"
#include "live/about/ksyms.h"
#include "live/walk/walker_priv.h"
#include "sym/find/cache.h"
#include "walk.skel.h"

#define RING_MIN (4u << 20)
#define RING_MAX (32u << 20)

void walker_defaults(struct walker_opts *o)
{
	if (!o->events && !o->hits)
		o->events = 1;
	if (o->events > WALK_EVENTS)
		o->events = WALK_EVENTS;
	_Static_assert(WALK_DEPTH == TRACE_WALK_DEPTH, "readers know it");
	if (!o->depth || o->depth > WALK_DEPTH)
		o->depth = WALK_DEPTH;
	if (!o->kernel_depth || o->kernel_depth > WALK_KERNEL)
		o->kernel_depth = WALK_KERNEL;
	/* A MiB a CPU lasts for a second at some thousand samples. */
	if (!o->ring_bytes)
		for (o->ring_bytes = RING_MIN;
		     o->ring_bytes < RING_MAX && o->ring_bytes < (size_t)libbpf_num_possible_cpus()
									 << 20;)
			o->ring_bytes *= 2;
	if (!o->table_bytes)
		o->table_bytes = 256u << 20;
	if (o->slab_bytes < WALK_SLAB_MIN || o->slab_bytes > WALK_SLAB_BYTES)
		o->slab_bytes = WALK_SLAB_BYTES;
	if (!o->tables || o->tables > WALK_TABLES)
		o->tables = o->all ? WALK_TABLES : WALK_TABLES / 4;
	if (!o->procs)
		o->procs = o->all ? 16384 : 4096;
	/* Lists of mappings; a command's processes have a few dozen each. What is not used is
	 * cleared all the same. */
	if (!o->maps)
		o->maps = o->all ? 131072 : 32768;
	o->maps = (o->maps + WALKER_LIST_BLOCK - 1) / WALKER_LIST_BLOCK * WALKER_LIST_BLOCK;
}

/* Return addresses on aarch64 may carry authentication codes above the address. */
static uint64_t ra_mask(void)
{
#if defined(__aarch64__)
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), mask = 0xffff;

	/* Stacks lie right below the end of user space. */
	while (mask < here)
		mask = mask << 1 | 1;
	return mask;
#else
	return UINT64_MAX;
#endif
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
	c->ra_mask = ra_mask();
	c->copy_ns = w->o.copy_rate ? 1000000000u / w->o.copy_rate : 0;
	/* Half of the ring, with the 10 KiB that go before a copy; most stacks are far from full,
	 * and one that does not fit is sent without. */
	c->copy_burst = w->o.ring_bytes / 2 / (w->o.function ? 16384 : 20480);
	c->wake_bytes = w->o.ring_bytes / 4;
	/* In a pid namespace of our own, records name processes by its numbers. */
	if (stat("/proc/self/ns/pid", &ns) == 0 && ns.st_ino != 0xeffffffcu) {
		c->pidns_dev = ns.st_dev;
		c->pidns_ino = ns.st_ino;
	}
}

/* Programs that may interrupt each other have states of their own; bpf/walk_fn.h's several. */
uint32_t walker_states(struct walker *w)
{
	volatile struct walk_config *c = config(w);
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();

	c->off_states = w->o.function ? 0 : cpus;
	c->fn_states = c->off_states + (w->o.off.on ? cpus : 0);
	return c->fn_states + (w->o.function || w->o.hits ? cpus * WALK_FN_LEVELS : 0);
}

struct bpf_program *walker_program(const struct walker *w, uint32_t event)
{
	char name[16];

	if (w->o.check_known && !event)
		return w->bpf->progs.walk_check;
	snprintf(name, sizeof(name), "walk%u", event);
	return bpf_object__find_program_by_name(w->bpf->obj, name);
}

/* The few types that the walker's programs look into, for libbpf, which takes 15 ms to read all.
 * They are kept in the cache by the kernel's build-id. */

#define CACHE_NAME "walk-types-2" /* another number when parts change */

struct part {
	const char *name;
	const char *member[6];
};
static const struct part parts[] = {
	{ "task_struct", { "flags", "tgid", "mm", "real_parent", "in_execve" } },
	{ "pt_regs", { "pstate", "orig_ax", "syscallno" } },
};

struct maker {
	struct strbuf types, strings;
};

static uint32_t walker_btf_text(struct maker *m, const char *s)
{
	uint32_t at = (uint32_t)m->strings.n;

	strbuf_add(&m->strings, s, strlen(s) + 1);
	return at;
}

static void type(struct maker *m, uint32_t name, uint32_t info, uint32_t size)
{
	strbuf_add(&m->types,
		   (const char *)&(struct btf_type){ .name_off = name, .info = info, .size = size },
		   sizeof(struct btf_type));
}

/* Types 1 to 4: numbers of 1, 2, 4 and 8 bytes; 5: a pointer to anything. */
static void basic(struct maker *m)
{
	for (uint32_t size = 1; size <= 8; size *= 2) {
		AUTO_FREE char *name = mem_printf("u%u", size * 8);
		uint32_t bits = size * 8;

		type(m, walker_btf_text(m, name), BTF_KIND_INT << 24, size);
		strbuf_add(&m->types, (const char *)&bits, sizeof(bits));
	}
	type(m, 0, BTF_KIND_PTR << 24, 0);
}

static uint32_t basic_type(const struct btf_types *b, uint32_t id)
{
	id = btf_strip(b, id);
	if (btf_kind(b, id) == BTF_KIND_PTR)
		return 5;
	switch (btf_size(b, id)) {
	case 1: return 1;
	case 2: return 2;
	case 4: return 3;
	default: return 4;
	}
}

static bool walker_btf_record(struct maker *m, const struct btf_types *b, const struct part *p)
{
	uint32_t id = btf_by_name(b, BTF_KIND_STRUCT, p->name), n = 0;
	struct btf_member member[ARRAY_SIZE(p->member)];
	struct btf_found f;

	if (!id)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(p->member) && p->member[i]; i++)
		if (btf_find_member(b, id, p->member[i], &f) && f.offset < 1u << 24 && f.bits < 256)
			member[n++] =
				(struct btf_member){ .name_off = walker_btf_text(m, p->member[i]),
						     .type = basic_type(b, f.type),
						     .offset = f.bits << 24 | (uint32_t)f.offset };
	type(m, walker_btf_text(m, p->name), 1u << 31 | BTF_KIND_STRUCT << 24 | n,
	     (uint32_t)btf_size(b, id));
	strbuf_add(&m->types, (const char *)member, n * sizeof(*member));
	return true;
}

static bool walker_btf_make(struct strbuf *out)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h) };
	struct btf_types *types = NULL;
	struct maker m = { 0 };
	bool good = true;

	if (btf_types_open(NULL, NULL, &types, NULL) < 0)
		return false;
	strbuf_putc(&m.strings, '\0');
	basic(&m);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		good &= walker_btf_record(&m, types, &parts[i]);
	btf_types_free(types);
	h.type_len = h.str_off = (uint32_t)m.types.n;
	h.str_len = (uint32_t)m.strings.n;
	strbuf_add(out, (const char *)&h, sizeof(h));
	strbuf_add(out, m.types.data, m.types.n);
	strbuf_add(out, m.strings.data, m.strings.n);
	strbuf_free(&m.types);
	strbuf_free(&m.strings);
	return good;
}

/* A file of them; -1 when there is none. keep: in the cache. */
static int walker_btf(bool keep)
{
	AUTO_CLOSE int cache = keep ? cache_open(NULL, NULL) : -1;
	AUTO_STRBUF out = { 0 };
	struct build_id id;
	bool known = cache >= 0 && ksyms_build_id(&id);
	struct cache_key key = known ? cache_key_kernel(&id) : (struct cache_key){ 0 };
	int fd = known ? cache_get(cache, &key, CACHE_NAME) : -1;

	if (fd >= 0)
		return fd;
	if (!walker_btf_make(&out))
		return -1;
	if (known)
		cache_write(cache, &key, CACHE_NAME, out.data, out.n, NULL);
	fd = memfd_create("kymo-types", MFD_CLOEXEC);
	if (fd >= 0 && file_write_all(fd, out.data, out.n) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
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

/* What libbpf would make later: it wants to know by then all that programs are told. What cannot
 * be made is left to it, and to its words. */
static void walker_load_make_maps(struct walker *w)
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
static int walker_load_ask(struct walker *w, struct err *e)
{
	if (!w->o.ask_depth)
		return 0;
	if (w->bpf)
		walker_load_make_maps(w);
	w->o.depth = w->o.ask_depth(w->o.ctx);
	if (!w->o.depth)
		return err_set(e, ECANCELED, "the stack walker is not wanted");
	walker_defaults(&w->o);
	return 0;
}

static int walker_load_refused(int code, struct err *e)
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
	err = walker_load_ask(w, e);
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

static int load_object(struct walker *w, struct err *e)
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
		return walker_load_refused(-err, e);
	if (err < 0)
		return err_set(e, -err, "cannot make the stack walker's first table: %s",
			       strerror(-err));
	bpf_map__set_max_entries(b->maps.tables, w->o.tables);
	err = walker_off_configure(w, e);
	if (err < 0)
		return err;
	walker_fn_configure(w);
	walker_hits_configure(w);
	bpf_map__set_max_entries(b->maps.states, walker_states(w));
	bpf_program__set_autoload(w->o.check_known ? b->progs.walk0 : b->progs.walk_check, false);
	for (uint32_t i = 0; i < WALK_EVENTS; i++)
		bpf_program__set_autoload(walker_program(w, i), i < w->o.events && !w->o.function);
	err = walker_load_ask(w, e);
	if (err < 0)
		return err;
	configure(w);
	err = walk_bpf__load(b);
	if (w->btf_fd >= 0)
		close(w->btf_fd);
	if (err == -EPERM) /* EACCES is the verifier's */
		return walker_load_refused(-err, e);
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

/* The same tables in memory of our own. */
static void load_nothing(struct walker *w)
{
	w->procs_fd = w->slabs_fd = w->maps_fd = w->tables_fd = w->rules_fd = -1;
	w->n_maps = w->o.maps;
	w->n_tables = w->o.tables;
	w->rules_cap = 16384;
	w->o.copy_rate = 1; /* tables are kept for copies */
}

int walker_load(struct walker *w, struct err *e)
{
	int r;

	libbpf_set_print(NULL); /* it says nothing */
	if (w->o.plain) {
		load_nothing(w);
		return 0;
	}
	r = load_kept(w, e);
	if (r == 0)
		r = load_object(w, e);
	if (r < 0)
		return r;
	return w->bpf ? walker_off_filter(w, e) : 0;
}
