/* SPDX-License-Identifier: MIT */
#include "sym/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "config.h"

#define DEFAULT_MS 10000

/* The library's handle; its header is not needed, so that a build without it can still load it. */
struct client;
typedef int find_fn(struct client *, const unsigned char *, int, char **);
typedef int client_progress_fn(struct client *, long, long);

struct debuginfod {
	pthread_mutex_t lock; /* one file at a time: they share the line anyway */
	bool tried;
	void *library;
	struct client *client;
	find_fn *find_executable, *find_debuginfo;
	void (*end)(struct client *);
	uint64_t left_ns, deadline;
	debuginfod_progress_fn *progress;
	void *ctx;
	char id[BUILD_ID_TEXT]; /* being fetched */
	struct debuginfod_stats stats;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct debuginfod *debuginfod_new(unsigned ms, debuginfod_progress_fn *progress, void *ctx)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *d;

	if (!urls || !*urls)
		return NULL;
	d = mem_alloc(sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	d->left_ns = (uint64_t)(ms ? ms : DEFAULT_MS) * 1000000u;
	d->progress = progress;
	d->ctx = ctx;
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library stays loaded: libcurl does not like to be unloaded. */
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* The library calls back on the thread that asked it. */
static _Thread_local struct debuginfod *fetching;

/* Non-zero stops the transfer. */
static int on_progress(struct client *client, long done, long total)
{
	struct debuginfod *d = fetching;

	(void)client;
	if (!d)
		return 1;
	if (d->progress)
		d->progress(d->ctx, d->id, done, total);
	return now_ns() >= d->deadline;
}

static void load(struct debuginfod *d)
{
	struct client *(*begin)(void);
	void (*set_progress)(struct client *, client_progress_fn *);

	d->tried = true;
#if !KYMO_STATIC /* a static program cannot load libraries */
	d->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
#endif
	if (!d->library)
		return;
	begin = (struct client * (*)(void)) dlsym(d->library, "debuginfod_begin");
	d->end = (void (*)(struct client *))dlsym(d->library, "debuginfod_end");
	set_progress = (void (*)(struct client *, client_progress_fn *))dlsym(
		d->library, "debuginfod_set_progressfn");
	d->find_executable = (find_fn *)dlsym(d->library, "debuginfod_find_executable");
	d->find_debuginfo = (find_fn *)dlsym(d->library, "debuginfod_find_debuginfo");
	if (!begin || !d->end || !set_progress || !d->find_executable || !d->find_debuginfo)
		return;
	d->client = begin();
	if (d->client)
		set_progress(d->client, on_progress);
}

int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id)
{
	uint64_t start = now_ns(), used;
	int r = -ENOENT;

	if (!id->len)
		return -ENOENT;
	pthread_mutex_lock(&d->lock);
	if (!d->tried)
		load(d);
	if (!d->client) {
		r = -ENOTSUP;
	} else if (!d->left_ns) {
		r = -ETIME;
	} else {
		d->stats.asked++;
		d->deadline = start + d->left_ns;
		build_id_text(id, d->id);
		fetching = d;
		r = (kind == DEBUGINFOD_EXECUTABLE ? d->find_executable : d->find_debuginfo)(
			d->client, id->data, id->len, NULL);
		fetching = NULL;
		used = now_ns() - start;
		d->left_ns = used < d->left_ns ? d->left_ns - used : 0;
		d->stats.found += r >= 0;
		d->stats.out_of_time |= !d->left_ns;
	}
	pthread_mutex_unlock(&d->lock);
	return r;
}

struct debuginfod_stats debuginfod_stats(struct debuginfod *d)
{
	struct debuginfod_stats st;

	pthread_mutex_lock(&d->lock);
	st = d->stats;
	pthread_mutex_unlock(&d->lock);
	return st;
}
