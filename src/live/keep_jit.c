/* SPDX-License-Identifier: MIT */
#include "live/keep_jit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "sym/cache.h"

void keep_jit_init(struct keep_jit *j)
{
	pthread_mutex_init(&j->lock, NULL);
}

void keep_jit_free(struct keep_jit *j)
{
	vec_each (&j->dirs, fd)
		close(*fd);
	vec_each (&j->dumps, d) {
		close(d->fd);
		free(d->path);
	}
	vec_free(&j->dirs);
	vec_free(&j->dumps);
	vec_free(&j->processes);
	map_free(&j->seen);
	pthread_mutex_destroy(&j->lock);
}

/* Most processes share one /tmp: it is held once. */
static int hold_folder(struct keep_jit *j, int fd)
{
	struct stat have, st;

	if (fstat(fd, &st) == 0)
		vec_each (&j->dirs, dir)
			if (fstat(*dir, &have) == 0 && have.st_dev == st.st_dev &&
			    have.st_ino == st.st_ino) {
				close(fd);
				return *dir;
			}
	vec_push(&j->dirs, fd);
	return fd;
}

void keep_jit_process(struct keep_jit *j, pid_t pid)
{
	uint64_t *seen = map_at(&j->seen, (uint32_t)pid);
	struct keep_process p = { .pid = pid };

	if (*seen || j->processes.n >= KEEP_JIT_MAX)
		return;
	*seen = 1;
	if (perfmap_place(pid, &p.place) < 0)
		return;
	pthread_mutex_lock(&j->lock);
	p.place.tmp = hold_folder(j, p.place.tmp);
	vec_push(&j->processes, p);
	pthread_mutex_unlock(&j->lock);
}

/* The mapped file itself where we may ask for it, else what its name leads to here. */
static int open_dump(pid_t pid, const char *path, uint64_t start, uint64_t end)
{
	char link[96];
	struct stat proc;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d", (int)pid);
	if (stat(link, &proc) < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? perfmap_trust(fd, path, proc.st_uid, NULL)
		       : perfmap_open(path, proc.st_uid, NULL);
}

void keep_jit_dump(struct keep_jit *j, pid_t pid, const char *path, uint64_t start, uint64_t end)
{
	struct keep_dump d = { .pid = pid };

	if (j->dumps.n >= KEEP_JIT_MAX)
		return;
	vec_each (&j->dumps, have)
		if (have->pid == pid && strcmp(have->path, path) == 0)
			return;
	d.fd = open_dump(pid, path, start, end);
	if (d.fd < 0)
		return;
	d.path = mem_strdup(path);
	pthread_mutex_lock(&j->lock);
	vec_push(&j->dumps, d);
	pthread_mutex_unlock(&j->lock);
}

/* The build-id that a file without one goes by: its path, size and content. */
static struct build_id make_id(const char *path, const void *data, uint64_t size)
{
	struct build_id id = { .len = 20 };
	uint64_t of_data = map_hash_bytes(data, size), of_path = map_hash_bytes(path, strlen(path));
	uint32_t low = (uint32_t)size;

	memcpy(id.data, &of_data, 8);
	memcpy(id.data + 8, &of_path, 8);
	memcpy(id.data + 16, &low, 4);
	return id;
}

/* Read, not mapped: whoever writes it may cut it at any moment. */
static bool copy(int cache, int fd, const char *path, struct tasks *t, uint64_t *room)
{
	AUTO_FREE char *text = NULL;
	struct build_id id;
	char link[64];
	size_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (file_read(link, *room < KEEP_JIT_BYTES ? *room : KEEP_JIT_BYTES, &text, &size) < 0 ||
	    !size)
		return false;
	id = make_id(path, text, size);
	if (cache_write(cache, &id, "elf", text, size, NULL) < 0 ||
	    cache_write(cache, &id, "path", path, strlen(path), NULL) < 0)
		return false;
	*room -= size;
	tasks_set_build_id(t, path, id.data, id.len, false);
	return true;
}

/* 1 + the number of the dso of that path; 0: none. */
static uint32_t dso_of(const struct tasks *t, const char *path)
{
	for (uint32_t d = 0; d < tasks_n_dsos(t); d++)
		if (!tasks_get_dso(t, d)->kernel && strcmp(tasks_dso_path(t, d), path) == 0)
			return d + 1;
	return 0;
}

/* Compiled code is called after the map that its process may write. */
static bool was_hit(const struct tasks *t, const uint8_t *hit, pid_t pid, char path[static 32])
{
	uint32_t d;

	snprintf(path, 32, "/tmp/perf-%d.map", (int)pid);
	d = dso_of(t, path);
	return d && hit[d - 1];
}

/* Containers can have different files of one path: a recording's list could not tell them apart. */
static bool is_only(const struct keep_dump *all, size_t n, size_t at)
{
	for (size_t i = 0; i < n; i++)
		if (i != at && strcmp(all[i].path, all[at].path) == 0)
			return false;
	return true;
}

static size_t save_dumps(const struct keep_dump *all, size_t n, int cache, struct tasks *t,
			 uint8_t *hit, uint64_t *room)
{
	size_t saved = 0;
	char map[32];

	for (size_t i = 0; i < n; i++) {
		uint32_t d = dso_of(t, all[i].path);

		if (!d || !was_hit(t, hit, all[i].pid, map) || !is_only(all, n, i) ||
		    !copy(cache, all[i].fd, all[i].path, t, room))
			continue;
		hit[d - 1] = 1;
		saved++;
	}
	return saved;
}

size_t keep_jit_save(struct keep_jit *j, int cache, struct tasks *t, uint8_t *hit, uint64_t *room)
{
	AUTO_FREE struct keep_process *p = NULL;
	AUTO_FREE struct keep_dump *d = NULL;
	size_t n_processes, n_dumps, saved = 0;
	char map[32];

	/* what they hold stays open; more may come meanwhile */
	pthread_mutex_lock(&j->lock);
	n_processes = j->processes.n;
	n_dumps = j->dumps.n;
	p = mem_dup(j->processes.data, n_processes * sizeof(*p));
	d = mem_dup(j->dumps.data, n_dumps * sizeof(*d));
	pthread_mutex_unlock(&j->lock);
	for (size_t i = 0; i < n_processes; i++) {
		int fd = was_hit(t, hit, p[i].pid, map) ? perfmap_open_at(&p[i].place, NULL) : -1;

		if (fd < 0)
			continue;
		saved += copy(cache, fd, map, t, room);
		close(fd);
	}
	return saved + save_dumps(d, n_dumps, cache, t, hit, room);
}
