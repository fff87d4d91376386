/* SPDX-License-Identifier: MIT */
/* The cache folder: what is trusted, what is kept, and that a damaged index is no index. */
#include "sym/names/answers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "sym/find/cache.h"
#include "tap.h"

static char dir[] = "/tmp/kymo-cache-XXXXXX";
static const struct build_id id = { 4, { 0xab, 0xcd, 0xef, 0x01 } };
static const struct cache_key file = { CACHE_FILE, { 0xab, 0xcd, 0xef, 0x01 } };
static const struct cache_key other = { CACHE_FILE, { 0xab, 0xcd, 0xef, 0x02 } };

static void write_some(int cache)
{
	struct answers_writer w = { 0 };
	static const char shared[] = "shared";
	struct answers_frame f[2] = {
		{ answers_add_text(&w, "inner"), answers_add_text(&w, "a.c"), 7 },
		{ answers_add_text(&w, shared), ANSWERS_NONE, 0 },
	};
	struct err e = { 0 };

	CHECK_INT(answers_add_text(&w, shared), f[1].name);
	CHECK_INT(answers_add_text(&w, NULL), ANSWERS_NONE);
	answers_add(&w,
		    (struct answers_entry){ .addr = 0x2000,
					    .start = 0x1f00,
					    .end = 0x2100,
					    .name = f[1].name,
					    .module = f[0].name,
					    .nframes = 2,
					    .known = 3,
					    .before = 0x10,
					    .after = 0x20 },
		    f);
	answers_add(
		&w,
		(struct answers_entry){
			.addr = 0x1000, .name = ANSWERS_NONE, .module = ANSWERS_NONE, .known = 1 },
		NULL);
	answers_add(&w,
		    (struct answers_entry){
			    .addr = 0x2000, .name = ANSWERS_NONE, .module = ANSWERS_NONE },
		    NULL);
	CHECK_INT(answers_write(&w, cache, &file, &id, ANSWERS_PLAIN, ANSWERS_DWARF, &e), 0);
}

static void round_trip(int cache)
{
	struct answers a;
	const struct answers_entry *e;

	CHECK_INT(answers_open(&a, cache, &file, &id, ANSWERS_PLAIN), -ENOENT);
	write_some(cache);
	CHECK_INT(answers_open(&a, cache, &other, &id, ANSWERS_PLAIN), -ENOENT);
	CHECK_INT(answers_open(&a, cache, &file, &id, ANSWERS_RAW), -ENOENT);
	CHECK_INT(answers_open(&a, cache, &file, &(struct build_id){ 1, { 1 } }, ANSWERS_PLAIN),
		  -ENOENT); /* that file, but not that build */
	CHECK_INT(answers_open(&a, cache, &(struct cache_key){ 0 }, &id, ANSWERS_PLAIN), -ENOENT);
	CHECK_INT(answers_open(&a, cache, &file, &id, ANSWERS_PLAIN), 0);
	CHECK_INT(a.n, 2);
	CHECK_INT(a.sources, ANSWERS_DWARF);
	e = answers_find(&a, 0x2000);
	CHECK(e && e->nframes == 2 && e->known == 3);
	CHECK_STR(e ? answers_text(&a, e->name) : "", "shared"); /* the first of two */
	CHECK_STR(e ? answers_text(&a, e->module) : "", "inner");
	CHECK_STR(e ? answers_text(&a, a.frame[e->first].file) : "", "a.c");
	CHECK(e && answers_text(&a, a.frame[e->first + 1].file) == NULL);
	CHECK(answers_find(&a, 0x1000) != NULL);
	CHECK(answers_find(&a, 0x1001) == NULL);
	CHECK(answers_find(&a, 0) == NULL);
	CHECK(e && answers_find_near(&a, 0x2000) == e);
	CHECK(e && answers_find_near(&a, 0x20fe) == e && answers_find_near(&a, 0x1f00) == e);
	CHECK(!answers_find_near(&a, 0x20ff) && !answers_find_near(&a, 0x1eff));
	CHECK(!answers_find_near(&a, 0x2100) && !answers_find_near(&a, 0x1001));
	CHECK(e && answers_find_same(&a, 0x1ff0) == e && answers_find_same(&a, 0x201f) == e);
	CHECK(e && answers_find_same(&a, 0x2000) == e);
	CHECK(!answers_find_same(&a, 0x1fef) && !answers_find_same(&a, 0x2020));
	CHECK(!answers_find_same(&a, 0x1000) && !answers_find_same(&a, 0)); /* it does not say */
	answers_close(&a);
}

static void damaged(int cache)
{
	AUTO_FREE char *path = mem_printf("%s/file/ab/cdef01%032d/index", dir, 0);
	AUTO_FREE char *good = NULL;
	size_t n = 0;
	int accepted = 0;
	struct answers a;

	CHECK_INT(file_read(path, 1u << 20, &good, &n), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *bad = mem_dup(good, n);

		bad[i] = (char)(bad[i] ^ 0x40);
		cache_write(cache, &file, "index", bad, n, NULL);
		if (answers_open(&a, cache, &file, &id, ANSWERS_PLAIN) == 0) {
			accepted++;
			answers_close(&a);
		}
	}
	CHECK_CASE(accepted == 0, "flipped bits are noticed (%d of %zu were not)", accepted, n);
	for (size_t cut = 0; cut < n; cut++) {
		cache_write(cache, &file, "index", good, cut, NULL);
		if (answers_open(&a, cache, &file, &id, ANSWERS_PLAIN) == 0)
			CHECK_CASE(false, "an index cut to %zu bytes was used", cut);
	}
	cache_write(cache, &file, "index", good, n, NULL);
	CHECK_INT(answers_open(&a, cache, &file, &id, ANSWERS_PLAIN), 0);
	answers_close(&a);

	CHECK(chmod(path, 0666) == 0);
	CHECK_INT(cache_get(cache, &file, "index"), -EPERM); /* anybody could have written it */
	CHECK(chmod(path, 0600) == 0);
}

static void trust(int cache)
{
	AUTO_FREE char *sub = mem_printf("%s/shared", dir);
	struct err e = { 0 };

	CHECK(mkdir(sub, 0777) == 0 && chmod(sub, 0777) == 0);
	CHECK_INT(cache_open(sub, &e), -EPERM);
	CHECK(e.hint[0] != 0);
	rmdir(sub);
	CHECK_INT(cache_get(cache, &(struct cache_key){ 0 }, "elf"), -ENOENT);
	CHECK_INT(cache_get(-1, &file, "elf"), -ENOENT);
}

static bool holds(int fd, const char *text)
{
	char buf[64] = "";
	bool same = fd >= 0 && pread(fd, buf, sizeof(buf) - 1, 0) >= 0 && strcmp(buf, text) == 0;

	if (fd >= 0)
		close(fd);
	return same;
}

/* A recording's copy is its own: another's of the same path and build-id stays apart. */
static void copies(int cache)
{
	static const struct recording_id first = { 100, 200 }, second = { 300, 400 };
	AUTO_FREE char *src = mem_printf("%s/src", dir);
	struct build_id made = { 0 }, same = id;
	struct cache_key good, evil, none;
	uint64_t room = 3;
	struct err e = { 0 };
	int fd = open(src, O_RDWR | O_CREAT, 0600);

	CHECK(write(fd, "content", 7) == 7);
	CHECK_INT(cache_keep(cache, "/a", &same, fd, &room, &good, &e), -EFBIG);
	room = 100;
	CHECK_INT(cache_keep(cache, "/a", &same, fd, &room, &good, &e), 0);
	CHECK_INT(room, 93);
	CHECK_INT(cache_note(cache, &first, &id, "/a", &good, &e), 0);
	CHECK(pwrite(fd, "other!!", 7, 0) == 7);
	CHECK_INT(cache_keep(cache, "/a", &same, fd, &room, &evil, &e), 0);
	CHECK_INT(cache_note(cache, &second, &id, "/a", &evil, &e), 0);
	CHECK(holds(cache_copy(cache, &first, &id, "/a", NULL), "content"));
	CHECK(holds(cache_copy(cache, &second, &id, "/a", NULL), "other!!"));
	CHECK(cache_copy(cache, &first, &id, "/b", NULL) < 0);
	CHECK(cache_copy(cache, &(struct recording_id){ 100, 201 }, &id, "/a", NULL) < 0);
	CHECK(cache_copy(cache, &(struct recording_id){ 0 }, &id, "/a", NULL) < 0);
	/* one without a build-id gets that of its path and content */
	CHECK_INT(cache_keep(cache, "/a", &made, fd, &room, &none, &e), 0);
	CHECK(made.len == 20 && memcmp(made.data, evil.data, 20) == 0);
	CHECK(holds(cache_copy(cache, NULL, &made, "", NULL), "other!!"));
	CHECK_INT(cache_remove(cache, &made), 0);
	CHECK_INT(cache_remove(cache, &made), -ENOENT);
	CHECK_INT(cache_remove(cache, &id), 0);
	CHECK(cache_copy(cache, &first, &id, "/a", NULL) < 0);
	close(fd);
}

/* Three files of 1 MiB, used at different times, in room for two. */
static void trimmed(int cache)
{
	static const struct cache_key ids[3] = { { CACHE_FILE, { 1, 1 } },
						 { CACHE_FILE, { 2, 2 } },
						 { CACHE_FILE, { 3, 3 } } };
	AUTO_FREE char *mb = mem_alloc(1u << 20);
	AUTO_FREE char *gone = mem_printf("%s/file/02", dir), *old = mem_printf("%s/ab", dir),
		       *older = mem_printf("%s/ab/cd", dir), *oldest = mem_printf("%s/elf", older);

	memset(mb, 'x', 1u << 20);
	for (int i = 0; i < 3; i++) {
		AUTO_FREE char *path = mem_printf("%s/file/0%d/0%d%036d/elf", dir, i + 1, i + 1, 0);
		struct timespec t[2] = { { .tv_sec = 1000 + (i == 1 ? 0 : 500 + i) } };

		t[1] = t[0];
		CHECK_INT(cache_write(cache, &ids[i], "elf", mb, 1u << 20, NULL), 0);
		CHECK(utimensat(AT_FDCWD, path, t, 0) == 0);
	}
	CHECK_INT(cache_trim(cache, 100u << 20, true), 0);
	/* what an earlier version kept by build-id alone is of no use */
	CHECK(mkdir(old, 0700) == 0 && mkdir(older, 0700) == 0);
	close(open(oldest, O_WRONLY | O_CREAT, 0600));
	cache_trim(cache, 100u << 20, true);
	CHECK(!file_exists(old));
	CHECK(cache_trim(cache, (2u << 20) + 65536, false) == 0); /* it was just done */
	CHECK(cache_trim(cache, (2u << 20) + 65536, true) >= 1u << 20);
	CHECK_INT(cache_get(cache, &ids[1], "elf"), -ENOENT); /* the oldest */
	CHECK(!file_exists(gone));
	for (int i = 0; i < 3; i += 2) {
		int fd = cache_get(cache, &ids[i], "elf");

		CHECK(fd >= 0);
		close(fd);
	}
}

int main(void)
{
	struct err e = { 0 };
	char cmd[64];
	int cache;

	if (!mkdtemp(dir)) {
		SKIP("cannot make a folder in /tmp");
		return tap_end();
	}
	cache = cache_open(dir, &e);
	CHECK(cache >= 0);
	round_trip(cache);
	damaged(cache);
	trust(cache);
	copies(cache);
	trimmed(cache);
	close(cache);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	CHECK(system(cmd) == 0);
	return tap_end();
}
