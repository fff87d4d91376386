/* SPDX-License-Identifier: MIT */
#include "live/about/keep.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/str.h"
#include "base/vec.h"
#include "kern/proc.h"
#include "live/about/mmap2.h"
#include "sym/find/cache.h"
#include "sym/find/find.h"
#include "sym/jit/jitdump.h"
#include "sym/jit/perfmap.h"

struct held {
	struct build_id id;
	char *path;
	int fd;
	dev_t dev;
	ino_t ino;
	struct cache_key copy; /* CACHE_NONE: there is none yet */
};

enum { NOT_HELD = 1, HELD };

struct keep_process {
	pid_t pid;
	struct perfmap_place place; /* place.tmp is one of dirs */
};
struct keep_file {
	pid_t pid; /* of a jitdump, whose code was hit elsewhere; 0: a program */
	int fd;
	char *path;
};

struct keep {
	pthread_mutex_t lock; /* for what is held */
	struct map seen;      /* hashes of build-ids and paths */
	VEC(struct held) held;
	uint64_t copied;
	/* what has no build-id */
	VEC(struct keep_process) processes;
	VEC(struct keep_file) files;
	VEC(int) dirs;
	struct map pids;
};

struct keep *keep_new(void)
{
	struct keep *k = mem_alloc(sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	return k;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	vec_each (&k->held, h) {
		close(h->fd);
		free(h->path);
	}
	vec_each (&k->dirs, fd)
		close(*fd);
	vec_each (&k->files, f) {
		close(f->fd);
		free(f->path);
	}
	vec_free(&k->held);
	vec_free(&k->dirs);
	vec_free(&k->files);
	vec_free(&k->processes);
	map_free(&k->seen);
	map_free(&k->pids);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static bool is_temporary(const char *path)
{
	struct statfs fs;

	return str_starts(path, "/tmp/") || str_starts(path, "/var/tmp/") ||
	       (statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC);
}

/* The file that is mapped there, as far as its process is. */
static bool stat_mapped(const struct mmap2 *m, struct stat *ret)
{
	char link[PROC_MAP_FILE];

	proc_map_file(link, (pid_t)m->pid, m->addr, m->addr + m->len);
	return stat(link, ret) == 0;
}

/* Will the path still lead to this file when somebody asks? */
static bool may_vanish(const struct mmap2 *m)
{
	struct stat there, here;
	bool known;

	if (m->name[0] != '/' || str_starts(m->name, "//anon") || str_starts(m->name, "/dev/"))
		return str_starts(m->name, "/memfd:");
	known = stat_mapped(m, &there);
	if (stat(m->name, &here) < 0)
		return true;
	if (known && (there.st_dev != here.st_dev || there.st_ino != here.st_ino))
		return true;
	return is_temporary(m->name);
}

/* A descriptor of the mapped file: its build-id or its number tells it from any other. */
static int open_mapped(const struct mmap2 *m, const struct build_id *id)
{
	struct find_want want = { .path = m->name,
				  .id = *id,
				  .ino = id->len ? 0 : m->file.ino,
				  .pid = (pid_t)m->pid,
				  .map_start = m->addr,
				  .map_end = m->addr + m->len };
	struct find_stats stats = { 0 };
	struct elf *elf = NULL;
	int fd = -1;

	if (find_file(&(struct find_opts){ .no_debug_files = true }, &want, &elf, &stats, NULL) < 0)
		return -1;
	if (elf->fd >= 0 && elf->build_id.len == id->len)
		fd = fcntl(elf->fd, F_DUPFD_CLOEXEC, 3);
	elf_free(elf);
	return fd;
}

static bool keep_hold(struct keep *k, const struct mmap2 *m)
{
	struct held h = { .id.len = m->id_size };
	struct stat st;

	memcpy(h.id.data, m->id, m->id_size);
	h.fd = open_mapped(m, &h.id);
	if (h.fd < 0)
		return false;
	if (fstat(h.fd, &st) == 0) {
		h.dev = st.st_dev;
		h.ino = st.st_ino;
	}
	h.path = mem_strdup(m->name);
	pthread_mutex_lock(&k->lock);
	vec_push(&k->held, h);
	pthread_mutex_unlock(&k->lock);
	return true;
}

/* Is it really the file that is held? In another container it may be another. */
static bool is_held(const struct keep *k, const struct mmap2 *m)
{
	struct stat st;

	if (!stat_mapped(m, &st))
		return true;
	vec_each (&k->held, h)
		if (st.st_dev == h->dev && st.st_ino == h->ino && strcmp(h->path, m->name) == 0)
			return true;
	return false;
}

/*
 * Files without a build-id get one made of what is in them, by which the recording names the copy.
 *
 * What runtimes write of compiled code, perf maps and jitdump files, is in a folder that may go
 * with the process (a container's, a service's). The folder, or the dump, is held open while
 * recording; files of processes whose compiled code was hit are copied at the end.
 *
 * Programs (Go's and Rust's, for example) are held open as others are, and copied where their path
 * leads to another file at the end, or to none.
 */

/* Most processes share one /tmp: it is held once. */
static int hold_folder(struct keep *k, int fd)
{
	struct stat have, st;

	if (fstat(fd, &st) == 0)
		vec_each (&k->dirs, dir)
			if (fstat(*dir, &have) == 0 && have.st_dev == st.st_dev &&
			    have.st_ino == st.st_ino) {
				close(fd);
				return *dir;
			}
	vec_push(&k->dirs, fd);
	return fd;
}

static void hold_process(struct keep *k, pid_t pid)
{
	uint64_t *seen = map_at(&k->pids, (uint32_t)pid);
	struct keep_process p = { .pid = pid };

	if (*seen || k->processes.n >= KEEP_FILES)
		return;
	*seen = 1;
	if (perfmap_place(pid, &p.place) < 0)
		return;
	pthread_mutex_lock(&k->lock);
	p.place.tmp = hold_folder(k, p.place.tmp);
	vec_push(&k->processes, p);
	pthread_mutex_unlock(&k->lock);
}

static void hold_file(struct keep *k, pid_t pid, const char *path, int fd)
{
	struct keep_file f = { .pid = pid, .fd = fd, .path = mem_strdup(path) };

	pthread_mutex_lock(&k->lock);
	vec_push(&k->files, f);
	pthread_mutex_unlock(&k->lock);
}

static void hold_dump(struct keep *k, pid_t pid, const char *path, uint64_t start, uint64_t end)
{
	int fd;

	if (k->files.n >= KEEP_FILES)
		return;
	vec_each (&k->files, have)
		if (have->pid == pid && strcmp(have->path, path) == 0)
			return;
	fd = jitdump_open_mapped(pid, path, start, end, NULL);
	if (fd >= 0)
		hold_file(k, pid, path, fd);
}

static void hold_program(struct keep *k, const char *path, int fd)
{
	if (k->files.n >= KEEP_FILES)
		close(fd);
	else
		hold_file(k, 0, path, fd);
}

/* A program that no build-id tells from others of its path. */
static void look_at_noid(struct keep *k, const struct mmap2 *m)
{
	uint64_t *seen;
	int fd;

	/* the number of its file, and its device, stand in the build-id's place */
	seen = map_at(&k->seen,
		      map_hash_bytes(&m->id_size, 24) ^ map_hash_bytes(m->name, strlen(m->name)));
	if (*seen || m->name[0] != '/')
		return;
	*seen = 1;
	fd = may_vanish(m) ? open_mapped(m, &(struct build_id){ 0 }) : -1;
	if (fd >= 0)
		hold_program(k, m->name, fd);
}

static void keep_look_at(struct keep *k, const struct mmap2 *m)
{
	uint64_t *seen;

	if (!(m->prot & PROT_EXEC) || !m->len || !memchr(m->name, 0, m->header.size - sizeof(*m)))
		return;
	if (task_is_anonymous(m->name)) {
		hold_process(k, (pid_t)m->pid);
		return;
	}
	if (task_is_jitdump(m->name)) {
		if (may_vanish(m))
			hold_dump(k, (pid_t)m->pid, m->name, m->addr, m->addr + m->len);
		return;
	}
	if (!(m->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		look_at_noid(k, m);
		return;
	}
	if (m->id_size < 8 || m->id_size > sizeof(m->id))
		return;
	seen = map_at(&k->seen,
		      map_hash_bytes(m->id, m->id_size) ^ map_hash_bytes(m->name, strlen(m->name)));
	if (*seen == NOT_HELD || k->held.n >= KEEP_FILES)
		return;
	if (*seen == HELD ? !is_held(k, m) : may_vanish(m))
		*seen = keep_hold(k, m) ? HELD : NOT_HELD;
	else if (!*seen)
		*seen = NOT_HELD;
}

void keep_record(struct keep *k, const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_MMAP2 && h->size > sizeof(struct mmap2))
		keep_look_at(k, (const void *)h);
}

static bool was_hit(const struct tasks *t, const uint8_t *hit, const struct build_id *id)
{
	for (uint32_t d = 0; d < tasks_n_dsos(t); d++) {
		const struct task_dso *dso = tasks_get_dso(t, d);

		if (hit[d] && dso->build_id_size == id->len &&
		    memcmp(dso->build_id, id->data, id->len) == 0)
			return true;
	}
	return false;
}

/* Another file of its path and build-id, with something else in it. */
static bool has_double(const struct keep *k, const struct held *h)
{
	vec_each (&k->held, o)
		if (o->copy.kind && build_id_same(&o->id, &h->id) &&
		    strcmp(o->path, h->path) == 0 &&
		    memcmp(o->copy.data, h->copy.data, sizeof(h->copy.data)) != 0)
			return true;
	return false;
}

/* Into the cache, as far as there is room. */
static bool keep_copy(struct keep *k, int cache, const char *path, struct build_id *id, int fd,
		      struct cache_key *key)
{
	uint64_t all = KEEP_ALL_BYTES - k->copied;
	uint64_t room = all < KEEP_FILE_BYTES ? all : KEEP_FILE_BYTES, had = room;
	bool kept = cache_keep(cache, path, id, fd, &room, key, NULL) >= 0;

	k->copied += had - room;
	return kept;
}

static size_t save_programs(struct keep *k, int cache, const struct recording_id *r,
			    const struct tasks *t, const uint8_t *hit)
{
	size_t n = 0;

	pthread_mutex_lock(&k->lock);
	vec_each (&k->held, h) {
		if (!h->copy.kind && was_hit(t, hit, &h->id) &&
		    !keep_copy(k, cache, h->path, &h->id, h->fd, &h->copy))
			h->copy.kind = CACHE_NONE;
	}
	vec_each (&k->held, h)
		n += h->copy.kind && was_hit(t, hit, &h->id) && !has_double(k, h) &&
		     cache_note(cache, r, &h->id, h->path, &h->copy, NULL) == 0;
	pthread_mutex_unlock(&k->lock);
	return n;
}

/* It gets a build-id, by which the recording names the copy. */
static bool save_file(struct keep *k, int cache, int fd, const char *path, struct tasks *t)
{
	struct build_id id = { 0 };
	struct cache_key key;

	if (!keep_copy(k, cache, path, &id, fd, &key))
		return false;
	tasks_set_build_id(t, path, id.data, id.len, false);
	return true;
}

/* 1 + the number of the dso of that path without a build-id; 0: none, or more than one. */
static uint32_t dso_of(const struct tasks *t, const char *path)
{
	uint32_t found = 0;

	for (uint32_t d = 0; d < tasks_n_dsos(t); d++) {
		const struct task_dso *dso = tasks_get_dso(t, d);

		if (dso->kernel || dso->build_id_size || strcmp(tasks_dso_path(t, d), path) != 0)
			continue;
		if (found)
			return 0;
		found = d + 1;
	}
	return found;
}

/* Compiled code is called after the map that its process may write. */
static void map_path(pid_t pid, char path[static 32])
{
	snprintf(path, 32, "/tmp/perf-%d.map", (int)pid);
}

static bool compiled_hit(const struct tasks *t, const uint8_t *hit, pid_t pid)
{
	char path[32];
	uint32_t d;

	map_path(pid, path);
	d = dso_of(t, path);
	return d && hit[d - 1];
}

/* Containers can have different files of one path: a recording's list could not tell them apart. */
static bool is_only(const struct keep_file *all, size_t n, size_t at)
{
	for (size_t i = 0; i < n; i++)
		if (i != at && strcmp(all[i].path, all[at].path) == 0)
			return false;
	return true;
}

/* Then the path serves; perf takes no file without a build-id where one is listed. */
static bool is_still_there(const struct keep_file *f)
{
	struct stat held, here;

	return fstat(f->fd, &held) == 0 && stat(f->path, &here) == 0 &&
	       held.st_dev == here.st_dev && held.st_ino == here.st_ino;
}

static size_t save_files(struct keep *k, const struct keep_file *all, size_t n, int cache,
			 struct tasks *t, uint8_t *hit)
{
	size_t saved = 0;

	for (size_t i = 0; i < n; i++) {
		const struct keep_file *f = &all[i];
		uint32_t d = dso_of(t, f->path);

		if (!d || !(f->pid ? compiled_hit(t, hit, f->pid) : hit[d - 1]) ||
		    (!f->pid && is_still_there(f)) || !is_only(all, n, i) ||
		    !save_file(k, cache, f->fd, f->path, t))
			continue;
		hit[d - 1] = 1;
		saved++;
	}
	return saved;
}

static size_t save_noid(struct keep *k, int cache, struct tasks *t, uint8_t *hit)
{
	AUTO_FREE struct keep_process *p = NULL;
	AUTO_FREE struct keep_file *f = NULL;
	size_t n_processes, n_files, saved;
	char map[32];

	/* what they hold stays open; more may come meanwhile */
	pthread_mutex_lock(&k->lock);
	n_processes = k->processes.n;
	n_files = k->files.n;
	p = mem_dup(k->processes.data, n_processes * sizeof(*p));
	f = mem_dup(k->files.data, n_files * sizeof(*f));
	pthread_mutex_unlock(&k->lock);
	/* files first: a map that was kept has a build-id then */
	saved = save_files(k, f, n_files, cache, t, hit);
	for (size_t i = 0; i < n_processes; i++) {
		bool wanted = compiled_hit(t, hit, p[i].pid);
		AUTO_CLOSE int fd = wanted ? perfmap_open_at(&p[i].place, NULL) : -1;

		map_path(p[i].pid, map);
		saved += fd >= 0 && save_file(k, cache, fd, map, t);
	}
	return saved;
}

size_t keep_save(struct keep *k, const struct recording_id *r, struct tasks *t, uint8_t *hit)
{
	int cache = -1;
	size_t n;

	if ((!k->held.n && !k->processes.n && !k->files.n) || (cache = cache_open(NULL, NULL)) < 0)
		return 0;
	n = save_programs(k, cache, r, t, hit);
	n += save_noid(k, cache, t, hit);
	cache_trim(cache, CACHE_LIMIT, n > 0);
	close(cache);
	return n;
}
