/* SPDX-License-Identifier: MIT */
/*
 * Files that processes have mapped, and the thread that makes their tables, the most wanted first.
 *
 * A file is known by device and inode, and looked at again when a new process maps it: a library
 * may have been written over. It is opened through the mapping, which works for deleted files and
 * in other mount namespaces; else by its path under the process's root, if the inode is the same.
 */
#include "live/walk/walker_priv.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/file.h"
#include "base/str.h"
#include "kern/cpu.h"
#include "kern/proc.h"
#include "sym/elf/elf.h"

#define CHECK_EVERY 1000000000u /* ns between two looks at a file's identity */
#define FILES_MAX 2048		/* more are kept only while all are mapped */
#define OVERLAYFS_MAGIC 0x794c7630

/* ---- opening ---- */

/*
 * The link to the file behind the mapping at start, whose end may be another than the record said:
 * the kernel maps a program's first segment with room for all, and cuts it afterwards.
 */
static bool moved_link(int32_t pid, uint64_t start, char *path, size_t size)
{
	struct file_names names;
	bool found = false;
	char want[32];

	snprintf(path, size, "/proc/%d/map_files", pid);
	snprintf(want, sizeof(want), "%" PRIx64 "-", start);
	if (file_list(path, &names) < 0)
		return false;
	for (size_t i = 0; i < names.n && !found; i++) {
		found = str_starts(names.name[i], want);
		if (found)
			snprintf(path, size, "/proc/%d/map_files/%.40s", pid, names.name[i]);
	}
	file_names_free(&names);
	return found;
}

static int open_mapped(int32_t pid, uint64_t start, uint64_t end)
{
	char path[PROC_MAP_FILE];
	int fd;

	proc_map_file(path, pid, start, end);
	fd = file_open_input(path, NULL);
	if (fd == -ENOENT && moved_link(pid, start, path, sizeof(path)))
		fd = file_open_input(path, NULL);
	return fd;
}

static bool stat_mapped(int32_t pid, uint64_t start, uint64_t end, struct stat *st)
{
	char path[PROC_MAP_FILE];

	proc_map_file(path, pid, start, end);
	return stat(path, st) == 0 ||
	       (errno == ENOENT && moved_link(pid, start, path, sizeof(path)) &&
		stat(path, st) == 0);
}

static int open_in_root(int32_t pid, const char *file)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	return file_open_below(path, file);
}

/* The inode must be the record's; on overlayfs, records may name the layer's. */
static bool right_inode(int fd, uint64_t ino)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return !ino || st.st_ino == ino || (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_MAGIC);
}

static int walker_file_open_file(const struct walker_file *f)
{
	int fd = open_mapped(f->pid, f->start, f->end);

	if (fd >= 0 && right_inode(fd, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	if (!f->path || f->path[0] != '/')
		return -1;
	fd = open_in_root(f->pid, f->path);
	if (fd < 0)
		fd = file_open_input(f->path, NULL);
	if (fd >= 0 && !right_inode(fd, f->ino)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- the table of one file ---- */

struct built {
	struct ehframe_table *rows;
	struct ehframe *cfi;
	struct stat st;
	bool has_stat, cached;
	int fd;
};

static int build(struct walker *w, const struct walker_file *f, struct built *b)
{
	struct cache_key key;
	struct ehframe_table *kept;
	struct err e;
	int err;

	b->fd = walker_file_open_file(f);
	if (b->fd < 0)
		return -ENOENT;
	b->has_stat = fstat(b->fd, &b->st) == 0;
	key = b->has_stat ? cache_key_file(&b->st) : (struct cache_key){ 0 };
	if (ehframe_cache_load(w->cache, &key, CPU_MACHINE, &b->rows, &e) == 0) {
		b->cached = true;
		return 0;
	}
	err = ehframe_open_fd(b->fd, &b->cfi, &e);
	if (err)
		return err;
	if (ehframe_machine(b->cfi) != CPU_MACHINE)
		return -EOPNOTSUPP;
	err = ehframe_build(b->cfi, &b->rows, &e);
	if (!err && /* a full disk is no reason to fail */
	    ehframe_cache_save(w->cache, &key, b->rows, &e) == 0 &&
	    ehframe_cache_load(w->cache, &key, CPU_MACHINE, &kept, &e) == 0) {
		ehframe_table_free(b->rows); /* the file's pages can be given back, these not */
		b->rows = kept;
	}
	return err;
}

/* The vDSO is the same in every process, and has no file: this one's is taken. */
static int build_vdso(struct walker *w, struct built *b)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)image;
	size_t size = 0;
	struct err e;
	int err;

	if (!image)
		return -ENOENT;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		const Elf64_Phdr *ph = (const Elf64_Phdr *)(image + eh->e_phoff) + i;

		if (ph->p_type == PT_LOAD && ph->p_offset + ph->p_memsz > size)
			size = ph->p_offset + ph->p_memsz;
	}
	/* Section headers may lie behind; only what is mapped counts, in whole pages. */
	size = (size + 4095) & ~(size_t)4095;
	err = ehframe_open_mem(image, size, 0, &w->vdso, &e);
	return err ? err : ehframe_build(w->vdso, &b->rows, &e);
}

static void built_free(struct built *b)
{
	ehframe_table_free(b->rows);
	ehframe_close(b->cfi);
	if (b->fd >= 0)
		close(b->fd);
}

/* With the lock; puts the outcome into force. */
static void finished(struct walker *w, uint32_t file, struct built *b, int err)
{
	struct walker_file *f = &w->files.data[file];

	f->st = b->st;
	f->has_stat = b->has_stat;
	f->checked = loop_now();
	w->n_pending--;
	if (err) {
		f->state = WALKER_FILE_NONE;
		__atomic_store_n(&w->tables[f->table].kind, WALK_TABLE_NONE, __ATOMIC_RELEASE);
		if (err == -ENOSPC)
			w->stats.refused_tables++;
		else
			w->stats.tables_failed++;
		return;
	}
	f->state = WALKER_FILE_READY;
	f->n_rows = b->rows->n_rows;
	f->last_used = loop_now();
	w->stats.tables++;
	w->stats.rows += f->n_rows;
	w->stats.tables_cached += b->cached;
	if (w->o.copy_rate || file == WALKER_FILE_VDSO) {
		ehframe_table_free(f->rows);
		f->rows = b->rows;
		ehframe_table_rest(f->rows);
		b->rows = NULL;
	}
}

/* ---- the thread ---- */

static uint32_t most_wanted(const struct walker *w)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < w->files.n; i++) {
		const struct walker_file *f = &w->files.data[i];

		if (f->state == WALKER_FILE_PENDING &&
		    (best == UINT32_MAX || f->hits > w->files.data[best].hits))
			best = i;
	}
	return best;
}

static void *builder(void *arg)
{
	struct walker *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		uint32_t i = most_wanted(w);
		struct walker_file copy;
		struct built b = { .fd = -1 };
		int err;

		if (i == UINT32_MAX) {
			malloc_trim(0); /* building takes memory, waiting does not */
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		w->files.data[i].state = WALKER_FILE_BUSY;
		copy = w->files.data[i];
		copy.path = mem_strdup(copy.path);
		pthread_mutex_unlock(&w->lock);
		err = i == WALKER_FILE_VDSO ? build_vdso(w, &b) : build(w, &copy, &b);
		if (!err)
			err = walker_slab_publish(w, i, b.rows);
		free(copy.path);
		pthread_mutex_lock(&w->lock);
		finished(w, i, &b, err);
		pthread_mutex_unlock(&w->lock);
		built_free(&b);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- which file is it ---- */

/* Build-ids and paths can be anybody's in a container: the mapping itself says which file it is.
 * When it is gone, the table will be that of the path here. */
static uint64_t file_key(const struct walker_mmap *id)
{
	uint64_t k[4] = { (uint64_t)id->maj << 32 | id->min, id->ino, 0, 0 };
	struct stat st;

	if (id->build_id_size && stat_mapped(id->pid, id->start, id->start + id->len, &st)) {
		k[0] = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
		k[1] = st.st_ino;
	} else if (id->build_id_size) {
		k[2] = map_hash_bytes(id->build_id, id->build_id_size);
		k[3] = map_hash_bytes(id->path, strlen(id->path));
	}
	return map_hash_bytes(k, sizeof(k));
}

static void enqueue(struct walker *w, struct walker_file *f)
{
	f->state = WALKER_FILE_PENDING;
	__atomic_store_n(&w->tables[f->table].kind, WALK_TABLE_PENDING, __ATOMIC_RELEASE);
	w->n_pending++;
	pthread_cond_signal(&w->wake);
}

static bool same_stat(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Whether the mapping is of what the table was made of. An unreadable one is believed. */
static bool unchanged(struct walker_file *f, const struct walker_mmap *id)
{
	struct stat st;
	int fd;
	bool same;

	if (!f->has_stat || loop_now() - f->checked < CHECK_EVERY)
		return true;
	f->checked = loop_now();
	fd = open_mapped(id->pid, id->start, id->start + id->len);
	if (fd < 0)
		return true;
	same = fstat(fd, &st) < 0 || same_stat(&st, &f->st);
	close(fd);
	return same;
}

struct walker_file *walker_file_unused(struct walker *w, bool table)
{
	struct walker_file *old = NULL;

	vec_each (&w->files, f)
		if (!f->refs && f->table >= WALKER_TABLE_FIRST &&
		    (table ? f->state == WALKER_FILE_READY && f->n_parts
			   : f->state != WALKER_FILE_BUSY) &&
		    (!old || f->last_used < old->last_used))
			old = f;
	return old;
}

/* The place of a file that nobody has mapped, emptied; UINT32_MAX when all are mapped. */
static uint32_t recycle(struct walker *w)
{
	struct walker_file *old = walker_file_unused(w, false);
	uint64_t *at;

	if (!old)
		return UINT32_MAX;
	if (old->state == WALKER_FILE_PENDING)
		w->n_pending--;
	walker_slab_release(w, old);
	at = map_find(&w->file_by_key, old->key);
	if (at && *at == (uint64_t)(old - w->files.data) + 1)
		*at = 0;
	free(old->path);
	ehframe_table_free(old->rows);
	*old = (struct walker_file){ .table = old->table };
	if (w->file_by_key.n > 4 * FILES_MAX) { /* the hash cannot forget */
		map_free(&w->file_by_key);
		for (size_t i = 0; i < w->files.n; i++)
			if (w->files.data[i].key)
				*map_at(&w->file_by_key, w->files.data[i].key) = i + 1;
	}
	return (uint32_t)(old - w->files.data);
}

static uint32_t file_new(struct walker *w, uint64_t key, const struct walker_mmap *id)
{
	uint32_t i = UINT32_MAX, table;
	struct walker_file *f;

	if (w->files.n >= FILES_MAX)
		i = recycle(w);
	if (i == UINT32_MAX) {
		if (w->next_table >= w->n_tables / 2) /* the rest is for parts */
			return UINT32_MAX;
		if (!walker_table_touch(w, w->next_table))
			return UINT32_MAX;
		vec_add(&w->files)->table = w->next_table++;
		i = (uint32_t)w->files.n - 1;
	}
	f = &w->files.data[i];
	table = f->table;
	*f = (struct walker_file){ .key = key,
				   .table = table,
				   .pid = id->pid,
				   .start = id->start,
				   .end = id->start + id->len,
				   .ino = id->ino,
				   .path = mem_strdup(id->path),
				   .last_used = loop_now() };
	*map_at(&w->file_by_key, key) = i + 1;
	enqueue(w, f);
	return i;
}

struct ehframe *walker_file_cfi(const struct walker_file *f)
{
	AUTO_CLOSE int fd = walker_file_open_file(f);
	struct ehframe *cfi = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && same_stat(&st, &f->st))
		ehframe_open_fd(fd, &cfi, NULL);
	return cfi;
}

uint32_t walker_file_get(struct walker *w, const struct walker_mmap *id)
{
	uint64_t key = file_key(id), *at = map_find(&w->file_by_key, key);
	struct walker_file *f;
	uint32_t i;

	if (at && *at) {
		i = (uint32_t)*at - 1;
		f = &w->files.data[i];
		if (unchanged(f, id)) {
			f->refs++;
			f->last_used = loop_now();
			f->hits += f->state == WALKER_FILE_PENDING;
			/* The process that had it first may be gone by now. */
			if (f->state == WALKER_FILE_FREE || f->state == WALKER_FILE_PENDING) {
				f->pid = id->pid;
				f->start = id->start;
				f->end = id->start + id->len;
			}
			if (f->state == WALKER_FILE_FREE) /* was evicted */
				enqueue(w, f);
			return i;
		}
	}
	i = file_new(w, key, id);
	if (i != UINT32_MAX)
		w->files.data[i].refs = 1;
	else
		w->stats.refused_tables++;
	return i;
}

void walker_file_put(struct walker *w, uint32_t file)
{
	if (file != UINT32_MAX && w->files.data[file].refs)
		w->files.data[file].refs--;
}

int walker_file_init(struct walker *w, struct err *e)
{
	struct walker_file *f = vec_add(&w->files);
	int err;

	f->table = WALKER_TABLE_VDSO;
	f->refs = 1;
	enqueue(w, f);
	err = pthread_create(&w->builder, NULL, builder, w);
	if (err)
		return err_set(e, err, "cannot start a thread: %s", strerror(err));
	w->builder_runs = true;
	return 0;
}

void walker_file_free(struct walker *w)
{
	if (w->builder_runs) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_signal(&w->wake);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->builder, NULL);
	}
	vec_each (&w->files, f) {
		free(f->path);
		free(f->parts);
		ehframe_table_free(f->rows);
	}
	vec_free(&w->files);
	map_free(&w->file_by_key);
	ehframe_close(w->vdso);
}
