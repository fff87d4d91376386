/* SPDX-License-Identifier: MIT */
/*
 * Tables kept on disk by build-id: DIR/ab/cdef....ehf, mapped when needed.
 *
 * The layout is header, rules, index, rows in host byte order. A cache file is
 * believed only after every number in it was checked, because a wrong row would
 * be a wrong stack; anything odd is -EBADMSG and the table is built anew.
 */
#include "sym/ehframe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"

#define MAGIC 0x3366686567796d6bu /* changes with the layout or the meaning of rules */

struct header {
	uint64_t magic;
	uint64_t base;
	uint32_t machine, chunk_shift;
	uint32_t n_chunks, n_rows, n_rules;
	uint32_t n_fdes, n_bad, n_full;
	uint64_t check; /* of everything else */
};

static bool cache_path(char *buf, size_t size, const char *dir, const uint8_t *id, size_t n,
		       uint16_t machine)
{
	char hex[2 * EHFRAME_BUILD_ID_MAX + 1] = "";
	int len;

	if (n < 2 || n > EHFRAME_BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	len = snprintf(buf, size, "%s/%.2s/%s-%u.ehf", dir, hex, hex + 2, machine);
	return len > 0 && (size_t)len < size;
}

static uint64_t checksum(const struct header *h, const void *body, size_t n)
{
	struct header copy = *h;

	copy.check = map_hash_bytes(body, n);
	return map_hash_bytes(&copy, sizeof(copy));
}

/* Every index and rule number is one that exists, so that lookups need not check. */
static bool table_valid(const struct ehframe_table *t)
{
	if (t->n_rules < EHFRAME_RULES_FIXED || t->n_rules > EHFRAME_RULES_MAX || !t->n_rows ||
	    t->base % EHFRAME_CHUNK || !t->n_chunks || t->index[0] != 0 ||
	    t->index[t->n_chunks] != t->n_rows)
		return false;
	for (uint32_t i = 0; i < EHFRAME_RULES_FIXED; i++)
		if (t->rules[i].cfa != i)
			return false;
	for (uint32_t i = 0; i < t->n_chunks; i++)
		if (t->index[i] > t->index[i + 1])
			return false;
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (EHFRAME_ROW_RULE(t->rows[i]) >= t->n_rules)
			return false;
	/* The first row holds for the first offset, so a lookup always finds one. */
	return t->index[1] >= 1 && t->rows[0] >> 16 == (t->base & 0xffff);
}

static int table_from(const void *data, size_t size, uint16_t machine, struct ehframe_table *t)
{
	const struct header *h = data;
	const char *p = (const char *)(h + 1);
	uint64_t want;

	if (size < sizeof(*h) || h->magic != MAGIC || h->machine != machine ||
	    h->chunk_shift != EHFRAME_CHUNK_SHIFT)
		return -EBADMSG;
	want = sizeof(*h) + (uint64_t)h->n_rules * sizeof(*t->rules) +
	       ((uint64_t)h->n_chunks + 1 + h->n_rows) * 4;
	if (want != size || h->check != checksum(h, p, size - sizeof(*h)))
		return -EBADMSG;
	*t = (struct ehframe_table){
		.machine = machine,
		.base = h->base,
		.n_chunks = h->n_chunks,
		.n_rows = h->n_rows,
		.n_rules = h->n_rules,
		.n_fdes = h->n_fdes,
		.n_bad = h->n_bad,
		.n_full = h->n_full,
		.mapped = true,
		.owned = (void *)data,
		.owned_size = size,
	};
	t->rules = (const struct ehframe_rule *)p;
	t->index = (const uint32_t *)(p + (size_t)h->n_rules * sizeof(*t->rules));
	t->rows = t->index + h->n_chunks + 1;
	return table_valid(t) ? 0 : -EBADMSG;
}

int ehframe_cache_load(const char *dir, const uint8_t *build_id, size_t size, uint16_t machine,
		       struct ehframe_table **ret, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct ehframe_table t;
	char path[4096];
	struct stat st;
	void *map;

	if (!cache_path(path, sizeof(path), dir, build_id, size, machine))
		return err_set(e, EINVAL, "no usable build-id");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	/* Somebody else's file could change, or shrink, while it is mapped. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022) || st.st_size < (off_t)sizeof(struct header))
		return err_set(e, EBADMSG, "%s is not a cache file of this user", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	if (table_from(map, (size_t)st.st_size, machine, &t) < 0) {
		munmap(map, (size_t)st.st_size);
		return err_set(e, EBADMSG, "%s is damaged or of another version", path);
	}
	*ret = mem_dup(&t, sizeof(t));
	return 0;
}

static int write_table(int fd, const struct ehframe_table *t)
{
	struct header h = {
		.magic = MAGIC,
		.base = t->base,
		.machine = t->machine,
		.chunk_shift = EHFRAME_CHUNK_SHIFT,
		.n_chunks = t->n_chunks,
		.n_rows = t->n_rows,
		.n_rules = t->n_rules,
		.n_fdes = t->n_fdes,
		.n_bad = t->n_bad,
		.n_full = t->n_full,
	};
	size_t rules = t->n_rules * sizeof(*t->rules), index = ((size_t)t->n_chunks + 1) * 4;
	size_t rows = (size_t)t->n_rows * 4;
	AUTO_FREE char *buf = mem_grow(NULL, rules + index + rows);
	int err;

	memcpy(buf, t->rules, rules);
	memcpy(buf + rules, t->index, index);
	memcpy(buf + rules + index, t->rows, rows);
	h.check = checksum(&h, buf, rules + index + rows);
	err = file_write_all(fd, &h, sizeof(h));
	return err ? err : file_write_all(fd, buf, rules + index + rows);
}

int ehframe_cache_save(const char *dir, const uint8_t *build_id, size_t size,
		       const struct ehframe_table *t, struct err *e)
{
	char path[4096], temp[4096 + 16], *slash;
	int fd, err;

	if (!cache_path(path, sizeof(path), dir, build_id, size, t->machine))
		return err_set(e, EINVAL, "no usable build-id");
	slash = strrchr(path, '/');
	*slash = '\0';
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s: %s", dir, strerror(errno));
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	*slash = '/';
	snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot write %s: %s", temp, strerror(errno));
	err = write_table(fd, t);
	close(fd);
	if (!err && rename(temp, path) < 0)
		err = -errno;
	if (err) {
		unlink(temp);
		return err_set(e, -err, "cannot write %s: %s", path, strerror(-err));
	}
	return 0;
}
