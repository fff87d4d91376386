/* SPDX-License-Identifier: MIT */
#include "live/about/keep.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kern/maps.h"
#include "live/about/keep_noid.h"
#include "live/about/mmap2.h"
#include "sym/find/cache.h"
#include "sym/find/find.h"

struct held {
	struct build_id id;
	char *path;
	int fd;
	dev_t dev;
	ino_t ino;
	struct cache_key copy; /* CACHE_NONE: there is none yet */
};

enum { NOT_HELD = 1, HELD };

struct keep {
	pthread_mutex_t lock;
	struct map seen; /* hashes of build-ids and paths */
	VEC(struct held) held;
	struct keep_noid noid;
	uint64_t copied;
};

struct keep *keep_new(void)
{
	struct keep *k = mem_alloc(sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	keep_noid_init(&k->noid);
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
	vec_free(&k->held);
	map_free(&k->seen);
	keep_noid_free(&k->noid);
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
		keep_noid_program(&k->noid, m->name, fd);
}

static void keep_look_at(struct keep *k, const struct mmap2 *m)
{
	uint64_t *seen;

	if (!(m->prot & PROT_EXEC) || !m->len || !memchr(m->name, 0, m->header.size - sizeof(*m)))
		return;
	if (task_is_anonymous(m->name)) {
		keep_noid_process(&k->noid, (pid_t)m->pid);
		return;
	}
	if (task_is_jitdump(m->name)) {
		if (may_vanish(m))
			keep_noid_dump(&k->noid, (pid_t)m->pid, m->name, m->addr, m->addr + m->len);
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

static size_t save_programs(struct keep *k, int cache, const struct recording_id *r,
			    const struct tasks *t, const uint8_t *hit)
{
	size_t n = 0;

	pthread_mutex_lock(&k->lock);
	vec_each (&k->held, h) {
		uint64_t all = KEEP_ALL_BYTES - k->copied;
		uint64_t room = all < KEEP_FILE_BYTES ? all : KEEP_FILE_BYTES, had = room;

		if (!h->copy.kind && was_hit(t, hit, &h->id) &&
		    cache_keep(cache, h->path, &h->id, h->fd, &room, &h->copy, NULL) < 0)
			h->copy.kind = CACHE_NONE;
		k->copied += had - room;
	}
	vec_each (&k->held, h)
		n += h->copy.kind && was_hit(t, hit, &h->id) && !has_double(k, h) &&
		     cache_note(cache, r, &h->id, h->path, &h->copy, NULL) == 0;
	pthread_mutex_unlock(&k->lock);
	return n;
}

size_t keep_save(struct keep *k, const struct recording_id *r, struct tasks *t, uint8_t *hit)
{
	uint64_t room;
	int cache = -1;
	size_t n;

	if ((!k->held.n && !k->noid.processes.n && !k->noid.files.n) ||
	    (cache = cache_open(NULL, NULL)) < 0)
		return 0;
	n = save_programs(k, cache, r, t, hit);
	room = KEEP_ALL_BYTES - k->copied;
	n += keep_noid_save(&k->noid, cache, t, hit, &room);
	k->copied = KEEP_ALL_BYTES - room;
	cache_trim(cache, CACHE_LIMIT, n > 0);
	close(cache);
	return n;
}
