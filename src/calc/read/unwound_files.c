/* SPDX-License-Identifier: MIT */
#include "calc/read/unwound_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"
#include "sym/elf/elf.h"
#include "sym/find/archive.h"

struct file {
	atomic_bool ready, has_cfi; /* what there is of it is there */
	struct ehframe *cfi;
	struct ehframe_table *table;
};

struct unwound_files {
	const struct tasks *tasks;
	const struct find_opts *find;
	pthread_mutex_t lock;
	struct file *file; /* by dso */
	size_t n;
};

/* The page every process has from the kernel: ours is as good as any of this boot. */
static int open_vdso(const struct find_opts *find, const char *path, struct ehframe **ret)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR); // NOLINT
	size_t n = 0;
	const void *came = archive_by_path(find->archive, path, &n);

	if (find->archive)
		return came ? ehframe_open_mem(came, n, 0, ret, NULL) : -ENOENT;
	return image ? ehframe_open_mem(image, 8192, EHFRAME_LOADED, ret, NULL) : -ENOENT;
}

static bool kept_table(const struct elf *elf, int cache, struct ehframe_table **ret)
{
	struct err e;

	return ehframe_cache_load(cache, &elf->key, elf->machine, ret, &e) == 0;
}

/* Its call frame information, or, when table is not NULL, only a table that was kept of it. */
static int unwound_files_open_file(struct unwound_files *u, uint32_t dso, struct ehframe **cfi,
				   struct ehframe_table **table, struct cache_key *key)
{
	const struct task_dso *d = tasks_get_dso(u->tasks, dso);
	struct find_want want = { .path = tasks_dso_file(u->tasks, dso) };
	struct find_stats stats = { 0 };
	struct elf *elf;
	int r;

	if (strcmp(want.path, "[vdso]") == 0)
		return open_vdso(u->find, want.path, cfi);
	memcpy(want.id.data, d->build_id, d->build_id_size);
	want.id.len = d->build_id_size;
	r = find_file(u->find, &want, &elf, &stats, NULL);
	if (r < 0)
		return r;
	*key = elf->key;
	/* what is in an archive stays in memory */
	if (!table || !kept_table(elf, u->find->cache, table))
		r = elf->fd >= 0 ? ehframe_open_fd(elf->fd, cfi, NULL)
				 : ehframe_open_mem(elf->data, elf->size, 0, cfi, NULL);
	elf_free(elf);
	return r;
}

const struct ehframe_table *unwound_files_table(struct unwound_files *u, uint32_t dso)
{
	struct file *f = dso < u->n ? &u->file[dso] : NULL;
	struct cache_key key = { 0 };
	bool kept;

	if (!f)
		return NULL;
	if (atomic_load_explicit(&f->ready, memory_order_acquire))
		return f->table;
	pthread_mutex_lock(&u->lock);
	if (!atomic_load_explicit(&f->ready, memory_order_relaxed)) {
		unwound_files_open_file(u, dso, &f->cfi, &f->table, &key);
		if (f->cfi &&
		    ehframe_cached(f->cfi, u->find->cache, &key, &f->table, &kept, NULL) < 0)
			f->table = NULL;
		/* all there is of it, unless a table was kept */
		atomic_store_explicit(&f->has_cfi, f->cfi || !f->table, memory_order_release);
		atomic_store_explicit(&f->ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return f->table;
}

const struct ehframe *unwound_files_cfi(struct unwound_files *u, uint32_t dso)
{
	struct file *f = dso < u->n ? &u->file[dso] : NULL;
	struct cache_key key;

	unwound_files_table(u, dso);
	if (!f)
		return NULL;
	if (atomic_load_explicit(&f->has_cfi, memory_order_acquire))
		return f->cfi;
	pthread_mutex_lock(&u->lock);
	if (!atomic_load_explicit(&f->has_cfi, memory_order_relaxed)) {
		unwound_files_open_file(u, dso, &f->cfi, NULL, &key);
		atomic_store_explicit(&f->has_cfi, true, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return f->cfi;
}

struct unwound_files *unwound_files_new(const struct tasks *tasks, const struct find_opts *find)
{
	struct unwound_files *u = mem_alloc(sizeof(*u));

	u->tasks = tasks;
	u->find = find;
	u->n = tasks_n_dsos(tasks);
	u->file = mem_alloc((u->n + 1) * sizeof(*u->file));
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

void unwound_files_free(struct unwound_files *u)
{
	for (size_t i = 0; i < u->n; i++) {
		ehframe_table_free(u->file[i].table);
		ehframe_close(u->file[i].cfi);
	}
	pthread_mutex_destroy(&u->lock);
	free(u->file);
	free(u);
}
