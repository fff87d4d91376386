/* SPDX-License-Identifier: MIT */
#include "base/budget.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

#define DISK_MAX ((uint64_t)8 << 30)

static const struct {
	const char *name, *variable;
} kinds[] = { [BUDGET_MEMORY] = { "memory", "KYMO_MAX_MEMORY" },
	      [BUDGET_DISK] = { "disk", "KYMO_MAX_DISK" } };

static struct {
	pthread_once_t once;
	uint64_t max[2]; /* by kind */
	bool given[2];	 /* the user says so: no other bound holds */
	uint64_t max_ns;
	_Atomic uint64_t taken[2], ns;
	pthread_mutex_t lock;
	char refused[512];
	_Atomic bool said;
} all = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of the group this process is in, as far as it shows from here; UINT64_MAX: none. */
static uint64_t group_limit(void)
{
	static const char *const files[] = { "/sys/fs/cgroup/memory.max",
					     "/sys/fs/cgroup/memory/memory.limit_in_bytes" };
	uint64_t least = UINT64_MAX;
	int64_t v;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (file_i64(files[i], &v) == 0 && v > 0 && (uint64_t)v < least)
			least = (uint64_t)v;
	return least;
}

static uint64_t free_disk(void)
{
	const char *home = getenv("XDG_CACHE_HOME");
	struct statvfs fs;

	if (!home || !*home)
		home = getenv("HOME");
	return statvfs(home && *home ? home : "/", &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize
							     : DISK_MAX;
}

static void budget_start(void)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), group = group_limit();
	const char *seconds = getenv("KYMO_MAX_SECONDS");

	all.max[BUDGET_MEMORY] = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (group < all.max[BUDGET_MEMORY])
		all.max[BUDGET_MEMORY] = group;
	all.max[BUDGET_MEMORY] /= 2;
	all.max[BUDGET_DISK] = free_disk() / 2;
	if (all.max[BUDGET_DISK] > DISK_MAX)
		all.max[BUDGET_DISK] = DISK_MAX;
	for (int k = 0; k < 2; k++) {
		const char *text = getenv(kinds[k].variable);

		all.given[k] = text && str_size(text, 1, &all.max[k]);
	}
	all.max_ns = BUDGET_SECONDS * 1000000000ull;
	if (seconds && atoi(seconds) > 0)
		all.max_ns = (uint64_t)atoi(seconds) * 1000000000u;
}

uint64_t budget_size(const struct stat *st)
{
	uint64_t there = (uint64_t)st->st_blocks * 512, size = (uint64_t)st->st_size;

	return there < size ? there : size;
}

/* What this input may take in all. */
static uint64_t limit(const struct budget *b)
{
	uint64_t ratio = b->size > UINT64_MAX / BUDGET_RATIO ? UINT64_MAX : b->size * BUDGET_RATIO;

	pthread_once(&all.once, budget_start);
	if (all.given[b->kind] || ratio > all.max[b->kind] - BUDGET_FREE ||
	    all.max[b->kind] < BUDGET_FREE)
		return all.max[b->kind];
	return ratio + BUDGET_FREE;
}

uint64_t budget_room(const struct budget *b)
{
	uint64_t most = limit(b), of_all = all.max[b->kind], all_taken = all.taken[b->kind];
	uint64_t own = most > b->taken ? most - b->taken : 0;
	uint64_t left = of_all > all_taken ? of_all - all_taken : 0;

	return own < left ? own : left;
}

/* To whom it is told, or else kept for budget_refused(). */
static int budget_tell(const struct err *own, struct err *e)
{
	pthread_mutex_lock(&all.lock);
	if (e)
		*e = *own;
	else if (!all.refused[0])
		snprintf(all.refused, sizeof(all.refused), "%.300s (%.200s)", own->msg, own->hint);
	pthread_mutex_unlock(&all.lock);
	return -own->code;
}

static int budget_refuse(const struct budget *b, const char *what, struct err *e)
{
	bool whole = b->size == BUDGET_ANY || all.given[b->kind];
	struct err own;
	char bound[32], size[32];

	str_bytes(limit(b), bound, sizeof(bound));
	str_bytes(b->size, size, sizeof(size));
	err_set(&own, EFBIG, "%s would take more than %s of %s%s%s%s", what, bound,
		kinds[b->kind].name, whole ? "" : ", too much for ", whole ? "" : size,
		whole ? "" : " of input");
	err_hint(&own, "%s=SIZE allows more, when you trust it", kinds[b->kind].variable);
	return budget_tell(&own, e);
}

int budget_take(struct budget *b, uint64_t n, const char *what, struct err *e)
{
	if (n > budget_room(b))
		return budget_refuse(b, what, e);
	b->taken += n;
	all.taken[b->kind] += n;
	return 0;
}

void budget_give(struct budget *b, uint64_t n)
{
	b->taken -= n;
	all.taken[b->kind] -= n;
}

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct budget_watch budget_watch(void)
{
	pthread_once(&all.once, budget_start);
	return (struct budget_watch){ thread_ns() };
}

int budget_watch_look(const struct budget_watch *w, const char *what, struct err *e)
{
	struct err own;

	if (all.ns + thread_ns() - w->began < all.max_ns)
		return 0;
	err_set(&own, ETIME, "unpacking %s takes more than %llu seconds", what,
		(unsigned long long)(all.max_ns / 1000000000u));
	err_hint(&own, "KYMO_MAX_SECONDS=N allows more, when you trust it");
	return budget_tell(&own, e);
}

void budget_watch_end(const struct budget_watch *w)
{
	all.ns += thread_ns() - w->began;
}

const char *budget_refused(void)
{
	return all.refused[0] && !atomic_exchange(&all.said, true) ? all.refused : NULL;
}
