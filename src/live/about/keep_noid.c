/* SPDX-License-Identifier: MIT */
#include "live/about/keep_noid.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/find/cache.h"
#include "sym/jit/jitdump.h"

void keep_noid_init(struct keep_noid *j)
{
	pthread_mutex_init(&j->lock, NULL);
}

void keep_noid_free(struct keep_noid *j)
{
	vec_each (&j->dirs, fd)
		close(*fd);
	vec_each (&j->files, f) {
		close(f->fd);
		free(f->path);
	}
	vec_free(&j->dirs);
	vec_free(&j->files);
	vec_free(&j->processes);
	map_free(&j->seen);
	pthread_mutex_destroy(&j->lock);
}

/* Most processes share one /tmp: it is held once. */
static int hold_folder(struct keep_noid *j, int fd)
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

void keep_noid_process(struct keep_noid *j, pid_t pid)
{
	uint64_t *seen = map_at(&j->seen, (uint32_t)pid);
	struct keep_process p = { .pid = pid };

	if (*seen || j->processes.n >= KEEP_NOID_MAX)
		return;
	*seen = 1;
	if (perfmap_place(pid, &p.place) < 0)
		return;
	pthread_mutex_lock(&j->lock);
	p.place.tmp = hold_folder(j, p.place.tmp);
	vec_push(&j->processes, p);
	pthread_mutex_unlock(&j->lock);
}

static void keep_noid_hold(struct keep_noid *j, pid_t pid, const char *path, int fd)
{
	struct keep_file f = { .pid = pid, .fd = fd, .path = mem_strdup(path) };

	pthread_mutex_lock(&j->lock);
	vec_push(&j->files, f);
	pthread_mutex_unlock(&j->lock);
}

void keep_noid_dump(struct keep_noid *j, pid_t pid, const char *path, uint64_t start, uint64_t end)
{
	int fd;

	if (j->files.n >= KEEP_NOID_MAX)
		return;
	vec_each (&j->files, have)
		if (have->pid == pid && strcmp(have->path, path) == 0)
			return;
	fd = jitdump_open_mapped(pid, path, start, end, NULL);
	if (fd >= 0)
		keep_noid_hold(j, pid, path, fd);
}

void keep_noid_program(struct keep_noid *j, const char *path, int fd)
{
	if (j->files.n >= KEEP_NOID_MAX)
		close(fd);
	else
		keep_noid_hold(j, 0, path, fd);
}

static bool keep_noid_copy(int cache, int fd, const char *path, struct tasks *t, uint64_t *room)
{
	uint64_t one = *room < KEEP_NOID_BYTES ? *room : KEEP_NOID_BYTES, had = one;
	struct build_id id = { 0 };
	struct cache_key key;

	if (cache_keep(cache, path, &id, fd, &one, &key, NULL) < 0)
		return false;
	*room -= had - one;
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

/* Then the path serves, for perf too, which takes no file without a build-id where one is listed.
 */
static bool is_still_there(const struct keep_file *f)
{
	struct stat held, here;

	return fstat(f->fd, &held) == 0 && stat(f->path, &here) == 0 &&
	       held.st_dev == here.st_dev && held.st_ino == here.st_ino;
}

static size_t save_files(const struct keep_file *all, size_t n, int cache, struct tasks *t,
			 uint8_t *hit, uint64_t *room)
{
	size_t saved = 0;

	for (size_t i = 0; i < n; i++) {
		const struct keep_file *f = &all[i];
		uint32_t d = dso_of(t, f->path);

		if (!d || !(f->pid ? compiled_hit(t, hit, f->pid) : hit[d - 1]) ||
		    (!f->pid && is_still_there(f)) || !is_only(all, n, i) ||
		    !keep_noid_copy(cache, f->fd, f->path, t, room))
			continue;
		hit[d - 1] = 1;
		saved++;
	}
	return saved;
}

size_t keep_noid_save(struct keep_noid *j, int cache, struct tasks *t, uint8_t *hit, uint64_t *room)
{
	AUTO_FREE struct keep_process *p = NULL;
	AUTO_FREE struct keep_file *f = NULL;
	size_t n_processes, n_files, saved;
	char map[32];

	/* what they hold stays open; more may come meanwhile */
	pthread_mutex_lock(&j->lock);
	n_processes = j->processes.n;
	n_files = j->files.n;
	p = mem_dup(j->processes.data, n_processes * sizeof(*p));
	f = mem_dup(j->files.data, n_files * sizeof(*f));
	pthread_mutex_unlock(&j->lock);
	/* files first: a map that was kept has a build-id then */
	saved = save_files(f, n_files, cache, t, hit, room);
	for (size_t i = 0; i < n_processes; i++) {
		bool wanted = compiled_hit(t, hit, p[i].pid);
		AUTO_CLOSE int fd = wanted ? perfmap_open_at(&p[i].place, NULL) : -1;

		map_path(p[i].pid, map);
		saved += fd >= 0 && keep_noid_copy(cache, fd, map, t, room);
	}
	return saved;
}
