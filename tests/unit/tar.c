/* SPDX-License-Identifier: MIT */
/* tar archives: what is written comes back, plain and packed; names that lead outside do not. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/tar.h"
#include "base/tar_write.h"
#include "config.h"
#include "tap.h"

static char path[] = "/tmp/kymo-tar-XXXXXX";
static char large[300000];

static void write_one(int level)
{
	struct err e = { 0 };
	struct tar_writer *w = NULL;
	char deep[400];

	memset(deep, 'd', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	for (size_t i = 60; i < sizeof(deep) - 1; i += 60)
		deep[i] = '/';
	CHECK_INT(tar_write_open(path, level, &w, &e), 0);
	CHECK_INT(tar_write_file(w, "perf.data", large, sizeof(large), 1700000000, &e), 0);
	CHECK_INT(tar_write_link(w, ".build-id/ab/cd", "../../x/abcd", &e), 0);
	CHECK_INT(tar_write_file(w, deep, "deep", 4, 0, &e), 0);
	CHECK_INT(tar_write_file(w, "empty", NULL, 0, 0, &e), 0);
	CHECK_INT(tar_write_link(w, "far", deep, &e), 0);
	CHECK(tar_write_finish(w, &e) > 0);
}

static void read_back(const char *data, size_t n)
{
	struct err e = { 0 };
	struct tar *t = NULL;
	const struct tar_member *m;

	CHECK(tar_looks_like(data, n));
	CHECK_INT(tar_open_memory(data, n, "x", &t, &e), 0);
	if (!t)
		return;
	CHECK_INT(tar_count(t), 5);
	CHECK_INT(tar_was_cut(t), false);
	m = tar_find(t, "perf.data");
	CHECK(m && m->size == sizeof(large) && m->mtime == 1700000000);
	CHECK(m && memcmp(tar_data(t, m, &e), large, sizeof(large)) == 0);
	m = tar_find(t, ".build-id/ab/cd");
	CHECK(m && m->kind == TAR_LINK);
	CHECK_STR(m ? m->link : "", "../../x/abcd");
	CHECK(!tar_data(t, m, &e) && e.code == EISDIR);
	m = tar_at(t, 2);
	CHECK_INT(strlen(m->name), 399);
	CHECK(memcmp(tar_data(t, m, &e), "deep", 4) == 0);
	CHECK_INT(strlen(tar_find(t, "far")->link), 399);
	CHECK(!tar_find(t, "nothing"));
	tar_close(t);
}

/* Every length: what is whole is there, and no more. */
static void read_cut(const char *data, size_t n)
{
	size_t opened = 0, wrong = 0;

	for (size_t i = 0; i < n; i += i < 2000 || n - i < 2000 ? 1 : 997) {
		struct err e = { 0 };
		struct tar *t = NULL;
		char *part = mem_dup(data, i + 1);

		if (tar_open_memory(part, i, "x", &t, &e) == 0) {
			opened++;
			for (size_t k = 0; k < tar_count(t); k++) {
				const struct tar_member *m = tar_at(t, k);

				if (m->kind == TAR_FILE && strcmp(m->name, "perf.data") == 0) {
					const void *p = tar_data(t, m, &e);

					wrong += p && memcmp(p, large, sizeof(large)) != 0;
				}
			}
			tar_close(t);
		} else {
			wrong += !e.code || !e.msg[0];
		}
		free(part);
	}
	CHECK_INT(wrong, 0);
	CHECK(opened > 0);
}

static void set_block(struct tar_block *b, const char *name, const char *size, char type)
{
	memset(b, 0, sizeof(*b));
	strcpy(b->name, name);
	strcpy(b->size, size);
	b->type = type;
	snprintf(b->sum, sizeof(b->sum), "%06o", tar_sum(b));
}

/* Headers made by hand. */
static void test_names(void)
{
	static const struct {
		const char *name, *clean;
	} names[] = {
		{ "./a//b/./c", "a/b/c" }, { "../a", NULL },	  { "a/..", NULL },
		{ "/etc/passwd", NULL },   { "a/../../b", NULL }, { ".", NULL },
		{ "..a/b..", "..a/b.." },  { "a/", "a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct tar_block b[4] = { 0 };
		struct err e = { 0 };
		struct tar *t = NULL;

		set_block(&b[0], names[i].name, "0", '0');
		set_block(&b[1], "last", "0", '0');
		CHECK_INT(tar_open_memory(b, sizeof(b), "x", &t, &e), 0);
		if (!t)
			continue;
		CHECK_STR(tar_at(t, 0)->name, names[i].clean ? names[i].clean : "last");
		CHECK_INT(tar_refused(t), !names[i].clean);
		tar_close(t);
	}
}

static void test_sizes(void)
{
	struct tar_block b[4] = { 0 };
	struct err e = { 0 };
	struct tar *t = NULL;

	/* more than is there */
	set_block(&b[0], "a", "77777777777", '0');
	CHECK(tar_open_memory(b, sizeof(b), "x", &t, &e) < 0);
	/* a binary size of 2^56 */
	set_block(&b[0], "a", "", '0');
	memcpy(b[0].size, "\x80\0\0\0\x01\0\0\0\0\0\0\0", 12);
	snprintf(b[0].sum, sizeof(b[0].sum), "%06o", tar_sum(&b[0]));
	CHECK(tar_open_memory(b, sizeof(b), "x", &t, &e) < 0);
	/* a wrong sum */
	set_block(&b[0], "a", "0", '0');
	b[0].name[1] = 'x';
	CHECK_INT(tar_looks_like(b, sizeof(b)), false);
	CHECK_INT(tar_open_memory(b, sizeof(b), "x", &t, &e), -EBADMSG);
	CHECK_INT(tar_open_memory(b, 0, "x", &t, &e), -EBADMSG);
}

int main(void)
{
	int fd = mkstemp(path);

	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i * i >> 7);
	for (int level = 0; level <= (HAVE_ZSTD ? 3 : 0); level += 3) {
		char *data = NULL;
		size_t n = 0;

		write_one(level);
		CHECK_INT(file_read(path, 1 << 22, &data, &n), 0);
		read_back(data, n);
		read_cut(data, n);
		free(data);
	}
	test_names();
	test_sizes();
	close(fd);
	unlink(path);
	return tap_end();
}
