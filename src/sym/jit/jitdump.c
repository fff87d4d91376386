/* SPDX-License-Identifier: MIT */
#include "sym/jit/jitdump.h"

#include <fcntl.h>
#include <inttypes.h>

#include "base/file.h"
#include "base/filemap.h"
#include "base/map.h"
#include "base/vec.h"
#include "sym/find/cache.h"
#include "sym/jit/perfmap.h"

#define MAGIC 0x4A695444u
#define HEADER 40u
#define FLAG_ARCH_TIME 1u
#define ELF_HEADER 0x40u

enum { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

struct parser {
	struct jitdump *j;
	VEC(struct jitdump_code) code;
	VEC(struct jitdump_line) lines;
	struct map by_index; /* the runtime's number to 1 + place in code */
	/* Lines come before the code they are of. */
	uint64_t lines_addr;
	uint32_t first_line, nlines;
};

/* Node.js has been seen to write freed memory in a name's place. */
static bool plausible(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < 0x20 || *name == 0x7f)
			return false;
	return true;
}

static void on_debug_info(struct parser *p, struct bytes *b)
{
	const char *file = "";
	bool good = true;
	uint64_t n;

	p->lines_addr = bytes_u64(b);
	n = bytes_u64(b);
	p->first_line = (uint32_t)p->lines.n;
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct jitdump_line l = { .addr = bytes_u64(b), .line = bytes_u32(b) };
		const char *name;

		bytes_u32(b);
		name = bytes_str(b);
		if (b->bad)
			break;
		/* One byte 0xff: the same file as before. */
		if (strcmp(name, "\xff") != 0)
			file = name;
		good &= plausible(file);
		l.file = file;
		vec_push(&p->lines, l);
	}
	/* One broken entry shifts all that follow: no lines are better than wrong ones. */
	p->nlines = good ? (uint32_t)(p->lines.n - p->first_line) : 0;
}

/*
 * V8 and LLVM count addresses from the start of the ELF file that perf inject
 * would make, 0x40 bytes before the code; others from the code. A list of which
 * the first line is not within the first 0x40 bytes is of the former kind.
 */
static bool adopt_lines(struct parser *p, struct jitdump_code *c)
{
	struct jitdump_line *l = p->lines.data + p->first_line;
	uint64_t low = UINT64_MAX, shift;

	for (uint32_t i = 0; i < p->nlines; i++)
		if (l[i].addr < low)
			low = l[i].addr;
	if (low < c->start)
		return false;
	shift = low - c->start >= ELF_HEADER ? ELF_HEADER : 0;
	for (uint32_t i = 0; i < p->nlines; i++) {
		l[i].addr -= shift;
		if (l[i].addr > c->end)
			return false;
	}
	return true;
}

static void add_code(struct parser *p, struct jitdump_code c)
{
	if (c.start >= c.end)
		return;
	vec_push(&p->code, c);
	*map_at(&p->by_index, c.index) = p->code.n;
}

static void on_load(struct parser *p, struct bytes *b, uint64_t time)
{
	struct jitdump_code c = { .time = time };
	uint64_t size;

	bytes_u32(b); /* pid */
	bytes_u32(b); /* tid */
	bytes_u64(b); /* vma */
	c.start = bytes_u64(b);
	size = bytes_u64(b);
	c.index = bytes_u64(b);
	c.name = bytes_str(b);
	if (b->bad || size > UINT64_MAX - c.start)
		return;
	c.end = c.start + size;
	if (size <= bytes_left(b))
		c.bytes = b->p;
	if (p->nlines && p->lines_addr == c.start && adopt_lines(p, &c)) {
		c.first_line = p->first_line;
		c.nlines = p->nlines;
	}
	p->nlines = 0;
	add_code(p, c);
}

static void on_move(struct parser *p, struct bytes *b, uint64_t time)
{
	uint64_t from, to, size, index, *known;
	struct jitdump_code c;

	bytes_u32(b);
	bytes_u32(b);
	bytes_u64(b);
	from = bytes_u64(b);
	to = bytes_u64(b);
	size = bytes_u64(b);
	index = bytes_u64(b);
	known = map_find(&p->by_index, index);
	if (b->bad || !known || !*known || *known > p->code.n || !p->code.data ||
	    size > UINT64_MAX - to)
		return;
	c = p->code.data[*known - 1];
	/* Lines would have to move along; the names matter more. */
	if (c.start != from || c.end - c.start != size)
		c.bytes = NULL;
	c.nlines = 0;
	c.start = to;
	c.end = to + size;
	c.time = time;
	add_code(p, c);
}

static void records(struct parser *p, struct bytes b)
{
	while (bytes_left(&b) >= 16 && !p->j->closed) {
		uint32_t id = bytes_u32(&b), size = bytes_u32(&b);
		uint64_t time = bytes_u64(&b);
		struct bytes body = b;

		if (size < 16 || size - 16 > bytes_left(&b)) {
			p->j->cut = true;
			return;
		}
		body.end = body.p + (size - 16);
		bytes_skip(&b, size - 16);
		switch (id) {
		case LOAD: on_load(p, &body, time); break;
		case MOVE: on_move(p, &body, time); break;
		case DEBUG_INFO: on_debug_info(p, &body); break;
		case CLOSE: p->j->closed = true; break;
		default: break;
		}
	}
	p->j->cut |= !p->j->closed && bytes_left(&b) > 0;
}

int jitdump_parse(struct jitdump *j, const void *data, size_t size, struct err *e)
{
	struct bytes b = { .p = data, .end = (const uint8_t *)data + size };
	struct parser p = { .j = j };
	uint32_t magic = bytes_u32(&b), header;

	*j = (struct jitdump){ 0 };
	b.swap = magic != MAGIC;
	if (size < HEADER || (b.swap && magic != __builtin_bswap32(MAGIC)))
		return err_set(e, EBADMSG, "this is not a jitdump file");
	bytes_u32(&b); /* version: there is only 1, and its successors keep the record headers */
	header = bytes_u32(&b);
	j->machine = bytes_u32(&b);
	bytes_u32(&b);
	j->pid = bytes_u32(&b);
	bytes_u64(&b);
	j->arch_time = bytes_u64(&b) & FLAG_ARCH_TIME;
	if (header < HEADER || header > size)
		return err_set(e, EBADMSG, "the jitdump file has a broken header");
	b.p = (const uint8_t *)data + header;
	records(&p, b);
	j->code = p.code.data;
	j->ncode = p.code.n;
	j->lines = p.lines.data;
	map_free(&p.by_index);
	return 0;
}

/* What is there now when it is the copy's file, with more in it: runtimes write late. */
static int newer(int kept, const char *path, uid_t owner)
{
	uint8_t old[HEADER], now[HEADER];
	int fd = perfmap_open(path, owner, &(struct err){ 0 });
	struct stat st_old, st_now;

	if (fd < 0)
		return kept;
	if (fstat(kept, &st_old) < 0 || fstat(fd, &st_now) < 0 || st_now.st_size < st_old.st_size ||
	    pread(kept, old, HEADER, 0) != HEADER || pread(fd, now, HEADER, 0) != HEADER ||
	    memcmp(old, now, HEADER) != 0) {
		close(fd);
		return kept;
	}
	close(kept);
	return fd;
}

int jitdump_open(struct jitdump *j, const char *path, const struct build_id *id, uid_t owner,
		 struct err *e)
{
	int kept = id ? cache_kept(id) : -ENOENT;
	int fd = kept >= 0 ? newer(kept, path, owner) : perfmap_open(path, owner, e);

	return fd < 0 ? fd : jitdump_open_fd(j, fd, path, e);
}

int jitdump_open_mapped(pid_t pid, const char *path, uint64_t start, uint64_t end, struct err *e)
{
	char link[96];
	struct stat proc;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d", (int)pid);
	if (stat(link, &proc) < 0)
		return err_set(e, errno, "there is no process %d", (int)pid);
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	fd = file_open_input(link, NULL);
	return fd >= 0 ? perfmap_trust(fd, path, proc.st_uid, e)
		       : perfmap_open(path, proc.st_uid, e);
}

int jitdump_open_fd(struct jitdump *j, int taken, const char *path, struct err *e)
{
	AUTO_CLOSE int fd = taken;
	struct stat st;
	void *p;
	int r;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)HEADER)
		return err_set(e, EBADMSG, "%s is not a jitdump file", path);
	p = filemap_open(fd, (size_t)st.st_size, path);
	if (!p)
		return err_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	r = jitdump_parse(j, p, (size_t)st.st_size, e);
	if (r < 0) {
		filemap_close(p, (size_t)st.st_size);
		return err_wrap(e, "%s", path);
	}
	j->mapped = p;
	j->size = (size_t)st.st_size;
	return 0;
}

void jitdump_free(struct jitdump *j)
{
	free(j->code);
	free(j->lines);
	if (j->mapped)
		filemap_close(j->mapped, j->size);
	*j = (struct jitdump){ 0 };
}

const struct jitdump_line *jitdump_line(const struct jitdump *j, const struct jitdump_code *c,
					uint64_t addr)
{
	const struct jitdump_line *best = NULL;

	for (uint32_t i = 0; i < c->nlines; i++) {
		const struct jitdump_line *l = &j->lines[c->first_line + i];

		if (l->addr <= addr && (!best || l->addr >= best->addr))
			best = l;
	}
	return best;
}
