/* SPDX-License-Identifier: MIT */
#include "live/about/mapped_ids.h"

#include <linux/fs.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "kern/proc.h"
#include "live/about/mmap2.h"
#include "live/loop.h"
#include "sym/elf/elf.h"

#define MAX_FILES 65536u /* remembered at a time */

/* What was read of a file, and what would show that it has changed since. */
struct known {
	uint64_t key[3]; /* device, number, generation */
	struct timespec changed;
	uint64_t size;
	uint64_t looked; /* when it was last seen unchanged */
	bool read;
	struct build_id id;
};

struct mapped_ids {
	pthread_mutex_t lock;
	struct map by_file; /* hash of a key -> 1 + index of known */
	VEC(struct known) known;
};

struct mapped_ids *mapped_ids_new(void)
{
	struct mapped_ids *m = mem_alloc(sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void mapped_ids_free(struct mapped_ids *m)
{
	if (!m)
		return;
	map_free(&m->by_file);
	vec_free(&m->known);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static bool same_change(const struct known *k, const struct stat *st)
{
	return k->size == (uint64_t)st->st_size && k->changed.tv_sec == st->st_ctim.tv_sec &&
	       k->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/* Numbers of files are used again, with another generation; not all file systems tell it. */
static bool other_generation(int fd, uint64_t wanted)
{
	int now = 0;

	return wanted && ioctl(fd, FS_IOC_GETVERSION, &now) == 0 && (uint32_t)now != wanted;
}

/*
 * If it is the file that was mapped, its build-id is known then. fd is taken over; below 0: failed.
 */
static bool read_file(struct known *k, int fd, const struct mmap2 *r)
{
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_ino == r->file.ino &&
	    !other_generation(fd, r->file.generation)) {
		k->read = true;
		k->changed = st.st_ctim;
		k->size = (uint64_t)st.st_size;
		k->id.len = 0;
		elf_fd_build_id(fd, &k->id);
	}
	close(fd);
	return k->read;
}

/* The mapping while the process has it, its path as the process sees it, or as we do. */
static void read_mapped(struct known *k, const struct mmap2 *r)
{
	char path[PROC_MAP_FILE];

	proc_map_file(path, (pid_t)r->pid, r->addr, r->addr + r->len);
	if (read_file(k, file_open_input(path, NULL), r))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", r->pid);
	if (!read_file(k, file_open_below(path, r->name), r))
		read_file(k, file_open_input(r->name, NULL), r);
}

/* Files in another namespace cannot be seen here, and are believed. */
static bool unchanged(const struct known *k, const struct mmap2 *r)
{
	struct stat st;

	return stat(r->name, &st) < 0 || st.st_ino != r->file.ino || same_change(k, &st);
}

static struct known *mapped_ids_slot_of(struct mapped_ids *m, const struct mmap2 *r)
{
	const uint64_t key[3] = { (uint64_t)r->file.maj << 32 | r->file.min, r->file.ino,
				  r->file.generation };
	uint64_t *at;

	if (m->known.n >= MAX_FILES) {
		map_free(&m->by_file);
		m->known.n = 0;
	}
	at = map_at(&m->by_file, map_hash_bytes(key, sizeof(key)));
	if (!*at) {
		vec_push(&m->known, ((struct known){ 0 }));
		*at = m->known.n;
	}
	if (memcmp(m->known.data[*at - 1].key, key, sizeof(key)) != 0) {
		m->known.data[*at - 1] = (struct known){ 0 };
		memcpy(m->known.data[*at - 1].key, key, sizeof(key));
	}
	return &m->known.data[*at - 1];
}

static struct build_id mapped_ids_id_of(struct mapped_ids *m, const struct mmap2 *r)
{
	struct known *k;
	uint64_t now = loop_clock(CLOCK_REALTIME_COARSE); /* as fine as the times of files */
	struct build_id id;

	pthread_mutex_lock(&m->lock);
	k = mapped_ids_slot_of(m, r);
	if (!k->read || (k->looked != now && !unchanged(k, r))) {
		k->read = false;
		k->id.len = 0;
		read_mapped(k, r);
	}
	k->looked = now;
	id = k->id;
	pthread_mutex_unlock(&m->lock);
	return id;
}

void mapped_ids_give(struct mapped_ids *m, struct perf_event_header *h)
{
	struct mmap2 *r = (void *)h;
	struct build_id id;

	if (h->type != PERF_RECORD_MMAP2 || h->size <= sizeof(*r))
		return;
	h->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID; /* of who asked for some */
	if (r->name[0] != '/' || !r->file.ino || str_starts(r->name, "//") ||
	    !memchr(r->name, 0, h->size - sizeof(*r)))
		return;
	id = mapped_ids_id_of(m, r);
	if (!id.len || id.len > sizeof(r->id))
		return;
	memset(&r->file, 0, sizeof(r->file));
	r->id_size = id.len;
	memcpy(r->id, id.data, id.len);
	h->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
}
