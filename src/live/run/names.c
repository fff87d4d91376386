/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses, and stacks by number. A process's mappings are read when its first stack is
 * seen, so that its functions have names when it is gone.
 */
#include <string.h>

#include "base/file.h"
#include "kern/cgroup.h"
#include "live/run/session.h"

/* Read when an address is first asked for that the kept symbols do not have. */
static void load_kernel(void *ctx)
{
	struct run_names *n = ctx;
	struct kallsyms list;

	if (ksyms_list(&list, NULL) == 0)
		symbols_kernel_list(n->symbols, &list);
}

static struct symbols *run_names_symbols(struct run_names *n)
{
	struct build_id id;

	if (n->symbols)
		return n->symbols;
	n->symbols = symbols_new(&(struct symbols_opts){ .no_debuginfod = true });
	symbols_kernel_later(n->symbols, load_kernel, NULL, n);
	if (ksyms_state(&id))
		symbols_kernel_id(n->symbols, &id);
	return n->symbols;
}

static void add_own(struct run_names *n, int prog)
{
	uint64_t start[64];
	uint32_t size[64];
	size_t k = prog < 0 ? 0 : bpf_code(prog, start, size, ARRAY_SIZE(start));

	while (k--)
		vec_push(&n->own, (struct run_range){ start[k], start[k] + size[k] });
}

/* Our own programs come and go, so they are in no list that is kept. */
static bool is_own(struct run *r, uint64_t addr)
{
	struct run_names *n = &r->names;

	if (!n->own_tried) {
		n->own_tried = true;
		run_handover_end(r);
		for (size_t i = 0; i < r->p->codes.n; i++) {
			add_own(n, r->prog_fd[i]);
			add_own(n, r->handover[i].prog);
		}
	}
	vec_each (&n->own, o)
		if (addr >= o->start && addr <= o->end)
			return true;
	return false;
}

/* Symbols that come and go as well: other BPF programs, trampolines. */
static const struct sym_result *ask_again(struct run_names *n, uint64_t addr)
{
	struct kallsyms list;

	if (!n->all) {
		n->all = symbols_new(
			&(struct symbols_opts){ .no_debuginfod = true, .no_cache = true });
		if (kallsyms_load(&list, "/proc/kallsyms", NULL) == 0)
			symbols_kernel_list(n->all, &list);
	}
	return symbols_resolve(n->all, SYMBOLS_KERNEL, addr, SYMBOLS_NAMES);
}

static bool run_names_ksym(void *ctx, uint64_t addr, struct strbuf *b, uint64_t *offset)
{
	struct run *r = ctx;
	struct run_names *n = &r->names;
	const struct sym_result *s;
	const struct symbols *of = run_names_symbols(n);

	if (is_own(r, addr)) {
		strbuf_puts(b, "bpf_prog_kymo");
		*offset = 0;
		return true;
	}
	s = symbols_resolve(n->symbols, SYMBOLS_KERNEL, addr, SYMBOLS_NAMES);
	if (s->name == SYMBOLS_NONE && addr >> 63) {
		s = ask_again(n, addr);
		of = n->all;
	}
	if (s->name == SYMBOLS_NONE)
		return false;
	strbuf_puts(b, symbols_text(of, s->name));
	*offset = addr - s->start;
	return true;
}

static struct run_process *run_names_entry(struct run_names *n, int32_t pid)
{
	uint64_t *at = map_at(&n->by_pid, (uint32_t)pid);

	if (!*at) {
		vec_add(&n->processes)->pid = pid;
		*at = n->processes.n;
	}
	return &n->processes.data[*at - 1];
}

static uint32_t run_names_dso(struct run_names *n, const struct find_want *want)
{
	uint32_t i = symbols_dso(run_names_symbols(n), want);

	while (n->path.n <= i)
		vec_push(&n->path, NULL);
	if (!n->path.data[i])
		n->path.data[i] = mem_strdup(want->path);
	return i;
}

static struct run_process *run_names_process_of(struct run *r, int32_t pid, bool refresh)
{
	struct run_names *n = &r->names;
	uint64_t *known = map_at(&n->by_pid, (uint32_t)pid);
	struct run_process *p;
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	struct proc_map m;

	if (*known && !refresh)
		return &n->processes.data[*known - 1];
	p = run_names_entry(n, pid);
	if (refresh && r->out.ending && p->asked)
		return p; /* read already, and nothing was mapped since */
	p->asked = r->out.ending;
	path = mem_printf("/proc/%d/maps", pid);
	if (file_read(path, 16u << 20, &text, NULL) < 0 || !text[0])
		return p;
	p->maps.n = 0;
	for (char *at = text; proc_map_next(&at, &m);)
		if (m.perms[2] == 'x' && *m.path)
			vec_push(&p->maps, (struct run_mapping){
						   m.start, m.end, m.pgoff,
						   run_names_dso(n, &(struct find_want){
									    .path = m.path,
									    .pid = pid,
									    .map_start = m.start,
									    .map_end = m.end }) });
	return p;
}

static const struct run_mapping *run_names_mapping(const struct run_process *p, uint64_t addr)
{
	vec_each (&p->maps, m)
		if (addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

/* The mapping that an address of a process is in, looked up again where it is not known yet. */
static const struct run_mapping *run_names_where(struct run *r, int32_t pid, uint64_t addr)
{
	const struct run_mapping *m = run_names_mapping(run_names_process_of(r, pid, false), addr);

	return m ? m : run_names_mapping(run_names_process_of(r, pid, true), addr);
}

static bool run_names_usym(void *ctx, int32_t pid, uint64_t addr, struct strbuf *b,
			   uint64_t *offset, struct strbuf *module)
{
	struct run *r = ctx;
	const struct run_mapping *m = run_names_where(r, pid, addr);
	const struct sym_result *s;
	const uint64_t *behind;

	if (!m)
		return false;
	if (module && m->dso < r->names.path.n && r->names.path.data[m->dso])
		strbuf_puts(module, r->names.path.data[m->dso]);
	addr = addr - m->start + m->pgoff;
	s = symbols_resolve(r->names.symbols, m->dso, addr, SYMBOLS_NAMES);
	if (s->name == SYMBOLS_NONE)
		return false;
	strbuf_puts(b, symbols_text(r->names.symbols, s->name));
	behind = map_find(&r->names.behind, addr);
	*offset = addr - s->start;
	if (behind && *offset == *behind)
		*offset = 0;
	return true;
}

void run_names_mmap(struct run *r, const struct walker_mmap *m)
{
	struct run_process *p = run_names_entry(&r->names, m->pid);
	struct find_want want = {
		.path = m->path, .pid = m->pid, .map_start = m->start, .map_end = m->start + m->len
	};
	size_t keep = 0;

	for (size_t i = 0; i < p->maps.n; i++)
		if (p->maps.data[i].end <= m->start || p->maps.data[i].start >= m->start + m->len)
			p->maps.data[keep++] = p->maps.data[i];
	p->maps.n = keep;
	vec_push(&p->maps, (struct run_mapping){ m->start, m->start + m->len, m->pgoff,
						 run_names_dso(&r->names, &want) });
}

void run_names_fork(struct run *r, int32_t pid, int32_t parent)
{
	struct run_process *p, *from;

	run_names_process_of(r, parent, false);
	p = run_names_entry(&r->names, pid);
	from = run_names_entry(&r->names, parent); /* the first may have moved it */
	p->maps.n = 0;
	vec_each (&from->maps, m)
		vec_push(&p->maps, *m);
}

void run_names_exec(struct run *r, int32_t pid)
{
	run_names_entry(&r->names, pid)->maps.n = 0;
}

/* Where records tell of every mapping from now on, those of before are enough. */
void run_names_process(void *ctx, int32_t pid)
{
	struct run *r = ctx;

	run_names_process_of(r, pid, !r->sideband.rings.n);
}

static size_t run_names_stack(void *ctx, uint64_t id, uint64_t *addr, size_t max)
{
	struct run *r = ctx;
	uint64_t value[1 + 128] = { 0 };
	int fd = r->map_fd[LANG_MAP_STACKS];
	bool found = false;

	if (!id || fd < 0 || r->p->maps.data[LANG_MAP_STACKS].value_size > sizeof(value))
		return 0;
	for (int again = 0; again < 2 && !found; again++) {
		uint64_t same = run_sideband_stack(r, id);

		found = bpf_map_get(fd, &same, value) == 0;
		if (!found && !again)
			run_sideband_settle(r); /* the stack may still have to be finished
						   (live/run/sideband.c) */
	}
	if (!found)
		return 0;
	if (value[0] > max)
		value[0] = max;
	memcpy(addr, value + 1, value[0] * 8);
	return value[0];
}

static void run_names_ask(struct run *r, const struct lang_stack *s, uint64_t addr,
			  struct sym_query *q)
{
	const struct run_mapping *m = s->user ? run_names_where(r, s->pid, addr) : NULL;

	if (m)
		*q = (struct sym_query){ .dso = m->dso, .addr = addr - m->start + m->pgoff };
	else
		*q = (struct sym_query){ .dso = s->user ? UINT32_MAX : SYMBOLS_KERNEL,
					 .addr = addr };
}

/* Files are read by several threads at a time. */
static void run_names_stacks(void *ctx, const struct lang_stack *s, size_t n)
{
	struct run *r = ctx;
	VEC(struct sym_query) all = { 0 };
	uint64_t addr[128];

	run_names_symbols(&r->names);
	for (size_t i = 0; i < n; i++)
		for (size_t k = run_names_stack(r, s[i].id, addr, ARRAY_SIZE(addr)); k--;) {
			struct sym_query q;

			run_names_ask(r, &s[i], addr[k], &q);
			if (q.dso != UINT32_MAX && (s[i].user || !is_own(r, addr[k])))
				vec_push(&all, q);
		}
	if (all.n)
		symbols_resolve_many(r->names.symbols, all.data, all.n, SYMBOLS_NAMES);
	vec_free(&all);
}

static bool same_stack(void *ctx, uint64_t *id)
{
	const struct run *r = ctx;

	*id = run_sideband_stack(r, *id);
	return r->sideband.same.n > 0;
}

static bool run_names_cgroup(void *ctx, uint64_t id, struct strbuf *b)
{
	AUTO_STRBUF path = { 0 };

	if (!cgroup_path(id, &path))
		return false;
	strbuf_printf(b, "unified:%s", strbuf_str(&path));
	return true;
}

/* The disks of this machine; a recording may be of another. */
static bool run_names_disk(void *ctx, uint64_t dev, struct strbuf *b)
{
	char path[64], target[512];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", (unsigned)(dev >> 20),
		 (unsigned)(dev & 0xfffff));
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	name = strrchr(target, '/');
	strbuf_puts(b, name ? name + 1 : target);
	return true;
}

void run_names_host(struct run *r)
{
	r->host.ksym = run_names_ksym;
	r->host.usym = run_names_usym;
	r->host.new_process = run_names_process;
	r->host.stack = run_names_stack;
	r->host.stacks = run_names_stacks;
	r->host.same_stack = same_stack;
	r->host.cgroup = run_names_cgroup;
	r->host.disk = run_names_disk;
}

void run_names_free(struct run_names *n)
{
	vec_each (&n->processes, p)
		vec_free(&p->maps);
	vec_free(&n->processes);
	map_free(&n->by_pid);
	map_free(&n->behind);
	vec_each (&n->path, p)
		free(*p);
	vec_free(&n->path);
	vec_free(&n->own);
	symbols_free(n->symbols);
	symbols_free(n->all);
}
