/* SPDX-License-Identifier: MIT */
/*
 * Processes and their executable mappings, and the sorted lists the program searches. A list in the
 * kernel is never changed: a new one is written, the process's entry leads there, and the old
 * blocks rest for a while because the program may still be reading them.
 */
#include "live/walk/walker_priv.h"

#include <bpf/bpf.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "kern/proc.h"

#define REST_NS 200000000u	/* a given-up list is not reused so soon */
#define SCAN_WAIT_MIN 20000000u /* ns between two looks at a process's /proc */
#define SCAN_WAIT_MAX 2000000000u
#define DEAD_NS 3000000000u /* how long a dead process is remembered, for copied stacks */
#define MAPS_FILE_MAX (64u << 20)

/* ---- lists in the kernel ---- */

/* Blocks whose rest is over may be used again; all of them when there is need. */
static void old_lists(struct walker *w, bool all)
{
	uint64_t now = loop_now();
	size_t keep = 0;

	for (size_t i = 0; i < w->old_lists.n; i++) {
		struct walker_old_list *o = &w->old_lists.data[i];

		if (all || now - o->since > REST_NS)
			walker_space_give(&w->lists, o->r.start, o->r.n);
		else
			w->old_lists.data[keep++] = *o;
	}
	w->old_lists.n = keep;
}

static bool blocks_take(struct walker *w, uint32_t n, uint32_t *ret)
{
	if (walker_space_take(&w->lists, n, ret))
		return true;
	old_lists(w, true);
	return walker_space_take(&w->lists, n, ret);
}

static void list_drop(struct walker *w, struct walker_proc *p)
{
	if (p->n_blocks) {
		w->maps[p->first * WALKER_LIST_BLOCK].generation = 0;
		vec_push(&w->old_lists,
			 (struct walker_old_list){ { p->first, p->n_blocks }, loop_now() });
	}
	p->n_blocks = 0;
}

static void unpublish(struct walker *w, struct walker_proc *p)
{
	uint32_t key = (uint32_t)p->pid;

	if (p->published && !w->o.plain)
		bpf_map_delete_elem(w->procs_fd, &key);
	p->published = false;
	list_drop(w, p);
}

static void publish(struct walker *w, struct walker_proc *p)
{
	uint32_t n = (uint32_t)p->maps.n, key = (uint32_t)p->pid, block;
	uint32_t blocks = (n + WALKER_LIST_BLOCK - 1) / WALKER_LIST_BLOCK;
	struct walk_proc entry = { .n = n, .generation = ++w->generation };

	p->dirty = false;
	if (w->o.plain)
		return;
	if (p->dead || !n) {
		unpublish(w, p);
		return;
	}
	if (n >= 1u << WALK_MAPS_SHIFT || !blocks_take(w, blocks, &block) ||
	    !walker_area_touch(&w->maps_area,
			       (size_t)block * WALKER_LIST_BLOCK * sizeof(struct walk_map),
			       n * sizeof(struct walk_map))) {
		w->stats.refused_maps++;
		unpublish(w, p);
		return;
	}
	entry.first = block * WALKER_LIST_BLOCK;
	for (uint32_t i = 0; i < n; i++) {
		const struct walker_mapping *m = &p->maps.data[i];

		w->maps[entry.first + i] = (struct walk_map){
			.start = m->start,
			.end = m->end,
			.pgoff = m->pgoff,
			.table = m->file == UINT32_MAX ? m->table : w->files.data[m->file].table,
			.generation = entry.generation,
		};
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	p->published = bpf_map_update_elem(w->procs_fd, &key, &entry, BPF_ANY) == 0;
	list_drop(w, p); /* the one before */
	p->first = block;
	p->n_blocks = blocks;
	if (!p->published) {
		w->stats.refused_procs++;
		list_drop(w, p);
	}
}

/* ---- processes ---- */

struct walker_proc *walker_proc_find(struct walker *w, int32_t pid)
{
	uint64_t *at = map_find(&w->proc_by_pid, (uint32_t)pid);

	return at && *at ? &w->procs.data[*at - 1] : NULL;
}

/*
 * Processes long dead make room, and the hash, which cannot forget, is made anew. Only now and
 * then: where thousands are born each second, looking at all of them for each takes all the time.
 */
static void prune(struct walker *w)
{
	uint64_t now = loop_now();

	if (w->n_dead < 1024 || w->n_dead < w->n_live || now - w->pruned < DEAD_NS)
		return;
	w->pruned = now;
	for (size_t i = 0; i < w->procs.n; i++) {
		struct walker_proc *p = &w->procs.data[i];

		if (p->pid && p->dead && now - p->dead_time > DEAD_NS) {
			unpublish(w, p);
			vec_free(&p->maps);
			*p = (struct walker_proc){ 0 };
			vec_push(&w->free_procs, (uint32_t)i);
			w->n_dead--;
		}
	}
	map_free(&w->proc_by_pid);
	for (size_t i = 0; i < w->procs.n; i++)
		if (w->procs.data[i].pid)
			*map_at(&w->proc_by_pid, (uint32_t)w->procs.data[i].pid) = i + 1;
}

static size_t free_slot(struct walker *w)
{
	if (w->free_procs.n)
		return w->free_procs.data[--w->free_procs.n];
	vec_add(&w->procs); // NOLINT(clang-analyzer-unix.cstring.NullArg): it makes room first
	return w->procs.n - 1;
}

static struct walker_proc *proc_get(struct walker *w, int32_t pid)
{
	struct walker_proc *p = walker_proc_find(w, pid);
	size_t i;

	if (p && p->dead) {
		/* The number is used again. */
		p->dead = false;
		p->scanned = p->scan_wait = p->exec_time = 0;
		p->maps.n = 0;
		w->n_dead--;
		w->n_live++;
	}
	if (p)
		return p;
	prune(w);
	i = free_slot(w);
	p = &w->procs.data[i];
	*p = (struct walker_proc){ .pid = pid };
	*map_at(&w->proc_by_pid, (uint32_t)pid) = i + 1;
	w->n_live++;
	return p;
}

static void walker_proc_mark(struct walker *w, struct walker_proc *p)
{
	if (p->dirty)
		return;
	p->dirty = true;
	vec_push(&w->dirty, (uint32_t)(p - w->procs.data));
}

static void forget_maps(struct walker *w, struct walker_proc *p)
{
	vec_each (&p->maps, m)
		walker_file_put(w, m->file);
	p->maps.n = 0;
}

const struct walker_mapping *walker_proc_at(const struct walker_proc *p, uint64_t pc)
{
	size_t lo = 0, hi = p->maps.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->maps.data[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < p->maps.data[lo - 1].end ? &p->maps.data[lo - 1] : NULL;
}

/* A new mapping takes the place of whatever was there. */
static void add_mapping(struct walker *w, struct walker_proc *p, const struct walker_mapping *m)
{
	size_t lo = 0, hi;
	struct walker_mapping tail;
	bool has_tail = false;

	while (lo < p->maps.n && p->maps.data[lo].end <= m->start)
		lo++;
	hi = lo;
	while (hi < p->maps.n && p->maps.data[hi].start < m->end)
		hi++;
	if (lo < hi && p->maps.data[hi - 1].end > m->end) {
		tail = p->maps.data[hi - 1];
		tail.pgoff += m->end - tail.start;
		tail.start = m->end;
		has_tail = true;
		if (tail.file != UINT32_MAX)
			w->files.data[tail.file].refs++;
	}
	if (lo < hi && p->maps.data[lo].start < m->start) {
		p->maps.data[lo].end = m->start;
		lo++;
	}
	for (size_t i = lo; i < hi; i++)
		walker_file_put(w, p->maps.data[i].file);
	/* [lo, hi) becomes m and maybe tail. */
	{
		size_t put = 1 + has_tail, rest = p->maps.n - hi;

		vec_reserve(&p->maps, lo + put + rest);
		memmove(p->maps.data + lo + put, p->maps.data + hi, rest * sizeof(*p->maps.data));
		p->maps.data[lo] = *m;
		if (has_tail)
			p->maps.data[lo + 1] = tail;
		p->maps.n = lo + put + rest;
	}
	walker_proc_mark(w, p);
}

static bool is_file(const char *path, uint64_t ino, size_t build_id_size)
{
	return (ino || build_id_size) && path[0] == '/' && strncmp(path, "//", 2) != 0 &&
	       strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/SYSV", 5) != 0;
}

static struct walker_mapping mapping_of(struct walker *w, const struct walker_mmap *r)
{
	struct walker_mapping m = { .start = r->start,
				    .end = r->start + r->len,
				    .pgoff = r->pgoff,
				    .file = UINT32_MAX,
				    .table = WALKER_TABLE_NONE };

	if (!strcmp(r->path, "[vdso]")) {
		m.table = WALKER_TABLE_VDSO;
		m.pgoff = 0;
	} else if (is_file(r->path, r->ino, r->build_id_size)) {
		m.file = walker_file_get(w, r);
	}
	return m;
}

/* ---- /proc ---- */

void walker_proc_scan(struct walker *w, int32_t pid, int32_t tid)
{
	AUTO_FREE char *text = NULL;
	struct walker_proc *p;
	struct proc_map m;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/task/%d/maps", pid, tid);
	if (file_read(name, MAPS_FILE_MAX, &text, NULL) < 0 || !text[0])
		return;
	p = proc_get(w, pid);
	p->scanned = loop_now();
	forget_maps(w, p);
	for (char *at = text; proc_map_next(&at, &m);) {
		size_t n = strlen(m.path) - (str_ends(m.path, " (deleted)") ? 10 : 0);
		AUTO_FREE char *path = mem_strndup(m.path, n);
		struct walker_mmap r = { .pid = pid,
					 .start = m.start,
					 .len = m.end - m.start,
					 .pgoff = m.pgoff,
					 .maj = m.maj,
					 .min = m.min,
					 .ino = m.ino,
					 .path = path };

		if (m.perms[2] == 'x' && m.end > m.start) /* the kernel lists them in order */
			vec_push(&p->maps, mapping_of(w, &r));
	}
	walker_proc_mark(w, p);
}

void walker_proc_scan_all(struct walker *w)
{
	struct thread_list pids;

	proc_pids(&pids, NULL);
	for (size_t i = 0; i < pids.n; i++)
		walker_proc_scan(w, pids.tid[i], pids.tid[i]);
	thread_list_free(&pids);
}

void walker_proc_missed(struct walker *w, const struct walk_sample *s)
{
	struct walker_proc *p = walker_proc_find(w, (int32_t)s->pid);
	const struct walker_mapping *m = NULL;
	uint64_t now = loop_now();

	if (p && !p->dead)
		m = walker_proc_at(p, s->end_pc);
	if (m && m->file != UINT32_MAX && w->files.data[m->file].state == WALKER_FILE_PENDING) {
		w->files.data[m->file].hits += 16;
		return;
	}
	/* A mapping that is known by now, and only was not in force yet, needs nothing. */
	if (m || s->end != UNWIND_NO_MAP)
		return;
	if (p && !p->dead && now - p->scanned < p->scan_wait)
		return;
	walker_proc_scan(w, (int32_t)s->pid, (int32_t)s->tid);
	p = walker_proc_find(w, (int32_t)s->pid);
	if (!p)
		return;
	/* What /proc does not know either is not asked for again and again. */
	if (walker_proc_at(p, s->end_pc) || !p->scan_wait)
		p->scan_wait = SCAN_WAIT_MIN;
	else if (p->scan_wait < SCAN_WAIT_MAX)
		p->scan_wait *= 2;
}

/* ---- records ---- */

void walker_mmap(struct walker *w, const struct walker_mmap *r)
{
	struct walker_mapping m;
	struct walker_proc *p;

	if (r->pid <= 0 || !r->len || r->start + r->len < r->start || !r->path)
		return;
	pthread_mutex_lock(&w->lock);
	p = proc_get(w, r->pid);
	if (r->time >= p->exec_time) {
		m = mapping_of(w, r);
		add_mapping(w, p, &m);
	}
	pthread_mutex_unlock(&w->lock);
}

void walker_fork(struct walker *w, int32_t pid, int32_t ppid, uint64_t time)
{
	struct walker_proc *p, *parent;

	if (pid <= 0 || pid == ppid)
		return;
	pthread_mutex_lock(&w->lock);
	p = proc_get(w, pid); /* before the parent is looked up: procs may move */
	parent = walker_proc_find(w, ppid);
	if (parent && !p->maps.n) {
		vec_reserve(&p->maps, parent->maps.n);
		vec_each (&parent->maps, m) {
			if (m->file != UINT32_MAX)
				w->files.data[m->file].refs++;
			vec_push(&p->maps, *m);
		}
		p->exec_time = time;
		walker_proc_mark(w, p);
	}
	pthread_mutex_unlock(&w->lock);
}

void walker_exec(struct walker *w, int32_t pid, uint64_t time)
{
	struct walker_proc *p;

	pthread_mutex_lock(&w->lock);
	p = proc_get(w, pid);
	walker_copy_exec(w, p, time);
	forget_maps(w, p);
	p->exec_time = time;
	p->scan_wait = 0;
	walker_proc_mark(w, p);
	pthread_mutex_unlock(&w->lock);
}

void walker_exit(struct walker *w, int32_t pid, int32_t tid, uint64_t time)
{
	struct walker_proc *p;

	/* Other threads may outlive the first one; their samples bring the process back. */
	if (pid != tid)
		return;
	pthread_mutex_lock(&w->lock);
	p = walker_proc_find(w, pid);
	if (p && !p->dead) {
		vec_each (&p->maps, m)
			walker_file_put(w, m->file);
		p->dead = true;
		p->dead_time = loop_now();
		w->n_live--;
		w->n_dead++;
		walker_proc_mark(w, p);
	}
	pthread_mutex_unlock(&w->lock);
}

void walker_proc_flush(struct walker *w)
{
	old_lists(w, false);
	vec_each (&w->dirty, i) {
		struct walker_proc *p = &w->procs.data[*i];

		if (p->pid && p->dirty)
			publish(w, p);
	}
	w->dirty.n = 0;
}

void walker_proc_init(struct walker *w)
{
	walker_space_give(&w->lists, 0, w->n_maps / WALKER_LIST_BLOCK);
}

void walker_proc_free(struct walker *w)
{
	vec_each (&w->procs, p)
		vec_free(&p->maps);
	vec_free(&w->procs);
	vec_free(&w->free_procs);
	vec_free(&w->dirty);
	vec_free(&w->old_lists);
	map_free(&w->proc_by_pid);
	vec_free(&w->lists.free);
}
