/* SPDX-License-Identifier: MIT */
#include "sym/find/debuginfod.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "config.h"

#define DEFAULT_MS 10000
#define FETCHERS 4 /* files at a time */
#define SILENT_FILE "debuginfod-silent"
#define SILENT_S 600 /* how long servers that did not answer are left alone */

/* The library's handle; its header is not needed, so that a build without it can still load it. */
struct client;
typedef int find_fn(struct client *, const unsigned char *, int, char **);
typedef int client_progress_fn(struct client *, long, long);

struct request {
	enum debuginfod_kind kind;
	struct build_id id;
	uint64_t heat;
	enum { QUEUED, BUSY, DONE } state;
	int result; /* of DONE: a descriptor, or -errno */
	long bytes;
	char *path; /* where the library keeps it; NULL: it does not */
};

struct debuginfod {
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool tried, stop;
	struct client *(*begin)(void);
	void (*end)(struct client *);
	void (*set_progress)(struct client *, client_progress_fn *);
	find_fn *find_executable, *find_debuginfo;
	VEC(struct request *) requests;
	pthread_t fetcher[FETCHERS];
	unsigned n_fetchers, busy;
	/* The limit holds for the time in which anything is fetched: left, or until end. */
	uint64_t left_ns, end_ns;
	int cache;
	debuginfod_progress_fn *progress;
	void *ctx;
	struct debuginfod_stats stats;
	struct budget disk;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- servers that do not answer --------------------------------------------------------------- */

static uint64_t urls_hash(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls ? map_hash_bytes(urls, strlen(urls)) : 0;
}

static bool were_silent(int cache)
{
	AUTO_CLOSE int fd =
		cache > 0 ? openat(cache, SILENT_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	uint64_t hash = 0;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       read(fd, &hash, sizeof(hash)) == sizeof(hash) && hash == urls_hash() &&
	       time(NULL) - st.st_mtime < SILENT_S && time(NULL) >= st.st_mtime;
}

static void remember_silence(int cache)
{
	uint64_t hash = urls_hash();

	if (cache > 0)
		file_replaceat(cache, SILENT_FILE, -1, &hash, sizeof(hash), 0600);
}

struct debuginfod *debuginfod_new(const struct debuginfod_opts *o)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	pthread_condattr_t clock;
	struct debuginfod *d;

	if (!urls || !*urls)
		return NULL;
	d = mem_alloc(sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&d->change, &clock);
	pthread_condattr_destroy(&clock);
	d->stats.ms = o->ms ? o->ms : DEFAULT_MS;
	d->left_ns = (uint64_t)d->stats.ms * 1000000u;
	d->progress = o->progress;
	d->ctx = o->ctx;
	d->cache = o->cache;
	d->disk = (struct budget){ .kind = BUDGET_DISK, .size = BUDGET_ANY };
	d->stats.silent = were_silent(o->cache);
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
	/* The library looks at least once a second whether it shall go on. */
	for (unsigned i = 0; i < d->n_fetchers; i++)
		pthread_join(d->fetcher[i], NULL);
	if (d->stats.out_of_time && !d->stats.answered)
		remember_silence(d->cache);
	vec_each (&d->requests, r) {
		if ((*r)->state == DONE && (*r)->result >= 0)
			close((*r)->result);
		free((*r)->path);
		free(*r);
	}
	vec_free(&d->requests);
	/* The library stays loaded: libcurl does not like to be unloaded. */
	pthread_cond_destroy(&d->change);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* --- fetching --------------------------------------------------------------------------------- */

/* The library calls back on the thread that asked it. */
static _Thread_local struct debuginfod *fetching;
static _Thread_local struct request *fetched;

/* Non-zero stops the transfer. */
static int on_progress(struct client *client, long done, long total)
{
	struct debuginfod *d = fetching;
	struct debuginfod_stats st;
	bool stop;

	if (!d)
		return 1;
	pthread_mutex_lock(&d->lock);
	stop = d->stop || now_ns() >= d->end_ns;
	if (done > fetched->bytes) {
		uint64_t more = (uint64_t)(done - fetched->bytes);

		d->stats.bytes += more;
		fetched->bytes = done;
		stop |= budget_take(&d->disk, more, "what debuginfod servers send", NULL) < 0;
	}
	st = d->stats;
	pthread_mutex_unlock(&d->lock);
	if (d->progress)
		d->progress(d->ctx, &st);
	return stop;
}

static void debuginfod_load(struct debuginfod *d)
{
	void *library = NULL;

	d->tried = true;
#if !KYMO_STATIC /* a static program cannot load libraries */
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
#endif
	if (!library)
		return;
	d->begin = (struct client * (*)(void)) dlsym(library, "debuginfod_begin");
	d->end = (void (*)(struct client *))dlsym(library, "debuginfod_end");
	d->set_progress = (void (*)(struct client *, client_progress_fn *))dlsym(
		library, "debuginfod_set_progressfn");
	d->find_executable = (find_fn *)dlsym(library, "debuginfod_find_executable");
	d->find_debuginfo = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	if (!d->end || !d->set_progress || !d->find_executable || !d->find_debuginfo)
		d->begin = NULL;
}

/* The next to be fetched; NULL: nothing waits. With the lock. */
static struct request *hottest(const struct debuginfod *d)
{
	struct request *best = NULL;

	vec_each (&d->requests, r)
		if ((*r)->state == QUEUED && (!best || (*r)->heat > best->heat))
			best = *r;
	return best;
}

/* With the lock. */
static void begin_one(struct debuginfod *d, struct request *r)
{
	r->state = BUSY;
	if (d->busy++ == 0)
		d->end_ns = now_ns() + d->left_ns;
	d->stats.asked++;
}

static void end_one(struct debuginfod *d, struct request *r, int result)
{
	uint64_t now = now_ns();

	r->state = DONE;
	/* what was cut off says nothing of the file */
	r->result = result < 0 && now >= d->end_ns ? -ETIME : result;
	d->stats.answered += r->result != -ETIME && r->result != -ETIMEDOUT;
	d->stats.found += result >= 0;
	d->stats.out_of_time |= r->result == -ETIME;
	if (--d->busy == 0)
		d->left_ns = now < d->end_ns ? d->end_ns - now : 0;
	pthread_cond_broadcast(&d->change);
}

static void *find_debuginfod_fetch(void *arg)
{
	struct debuginfod *d = arg;
	struct client *client = d->begin();
	struct request *r;

	if (client)
		d->set_progress(client, on_progress);
	pthread_mutex_lock(&d->lock);
	while (!d->stop) {
		int result = -ENOTSUP;

		r = hottest(d);
		if (!r) {
			pthread_cond_wait(&d->change, &d->lock);
			continue;
		}
		begin_one(d, r);
		if (!d->left_ns || now_ns() >= d->end_ns) {
			end_one(d, r, -ETIME);
			continue;
		}
		pthread_mutex_unlock(&d->lock);
		fetching = d;
		fetched = r;
		if (client)
			result = (r->kind == DEBUGINFOD_EXECUTABLE ? d->find_executable
								   : d->find_debuginfo)(
				client, r->id.data, r->id.len, &r->path);
		fetching = NULL;
		pthread_mutex_lock(&d->lock);
		end_one(d, r, result);
	}
	pthread_mutex_unlock(&d->lock);
	if (client)
		d->end(client);
	return NULL;
}

/* With the lock. */
static struct request *request_of(struct debuginfod *d, enum debuginfod_kind kind,
				  const struct build_id *id, uint64_t heat)
{
	struct request *r;

	vec_each (&d->requests, known)
		if ((*known)->kind == kind && (*known)->id.len == id->len &&
		    memcmp((*known)->id.data, id->data, id->len) == 0) {
			if (heat > (*known)->heat)
				(*known)->heat = heat;
			return *known;
		}
	r = mem_alloc(sizeof(*r));
	r->kind = kind;
	r->id = *id;
	r->heat = heat;
	vec_push(&d->requests, r);
	if (!d->tried)
		debuginfod_load(d);
	if (!d->begin || d->stats.silent) {
		r->state = DONE;
		r->result = d->begin ? -ETIME : -ENOTSUP;
		return r;
	}
	if (d->n_fetchers < FETCHERS && d->n_fetchers < d->requests.n &&
	    pthread_create(&d->fetcher[d->n_fetchers], NULL, find_debuginfod_fetch, d) == 0)
		d->n_fetchers++;
	if (!d->n_fetchers) {
		r->state = DONE;
		r->result = -EAGAIN;
	}
	pthread_cond_broadcast(&d->change);
	return r;
}

void debuginfod_want(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id,
		     uint64_t heat)
{
	if (!id->len)
		return;
	pthread_mutex_lock(&d->lock);
	request_of(d, kind, id, heat);
	pthread_mutex_unlock(&d->lock);
}

int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id)
{
	struct request *r;
	int result;

	if (!id->len)
		return -ENOENT;
	pthread_mutex_lock(&d->lock);
	r = request_of(d, kind, id, UINT64_MAX);
	while (r->state != DONE) {
		struct timespec until;
		uint64_t end = d->busy ? d->end_ns : now_ns() + d->left_ns;

		if (now_ns() >= end)
			break;
		until = (struct timespec){ (time_t)(end / 1000000000u), (long)(end % 1000000000u) };
		pthread_cond_timedwait(&d->change, &d->lock, &until);
	}
	if (r->state == DONE) {
		result = r->result >= 0 ? fcntl(r->result, F_DUPFD_CLOEXEC, 0) : r->result;
	} else {
		result = -ETIME;
		d->stats.out_of_time = true;
	}
	pthread_mutex_unlock(&d->lock);
	return result;
}

void debuginfod_wrong(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id)
{
	pthread_mutex_lock(&d->lock);
	d->stats.wrong++;
	vec_each (&d->requests, r)
		if ((*r)->kind == kind && build_id_same(&(*r)->id, id) && (*r)->path)
			unlink((*r)->path);
	pthread_mutex_unlock(&d->lock);
}

struct debuginfod_stats debuginfod_stats(struct debuginfod *d)
{
	struct debuginfod_stats st;

	pthread_mutex_lock(&d->lock);
	st = d->stats;
	pthread_mutex_unlock(&d->lock);
	return st;
}
