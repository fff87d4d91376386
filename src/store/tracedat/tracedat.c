/* SPDX-License-Identifier: MIT */
/* Opening trace.dat files. */
#include <byteswap.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filemap.h"
#include "event/text.h"
#include "store/tracedat/impl.h"

void tracedat_note(struct reader *r, const char *fmt, ...)
{
	char *note = r->trace.losses.note;
	va_list ap;

	if (*note)
		return;
	va_start(ap, fmt);
	vsnprintf(note, sizeof(r->trace.losses.note), fmt, ap);
	va_end(ap);
}

const uint8_t *cut_bytes(struct cut *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	if (n) /* an empty piece may have no address */
		c->p += n;
	return p;
}

uint16_t cut_u16(struct cut *c)
{
	const uint8_t *p = cut_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, 2);
	return c->swap ? bswap_16(v) : v;
}

uint32_t cut_u32(struct cut *c)
{
	const uint8_t *p = cut_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, 4);
	return c->swap ? bswap_32(v) : v;
}

uint64_t cut_u64(struct cut *c)
{
	const uint8_t *p = cut_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return c->swap ? bswap_64(v) : v;
}

const char *cut_str(struct cut *c)
{
	const uint8_t *end =
		c->bad || c->p == c->end ? NULL : memchr(c->p, 0, (size_t)(c->end - c->p));
	const char *s = (const char *)c->p;

	if (!end) {
		c->bad = true;
		return "";
	}
	c->p = end + 1;
	return s;
}

struct cut reader_cut(const struct reader *r, uint64_t offset)
{
	struct cut c = { .end = r->data + r->size, .swap = r->t.swap };

	c.bad = offset > r->size;
	c.p = c.bad ? c.end : r->data + offset;
	return c;
}

void reader_close(struct source *s)
{
	struct reader *r = reader_of(s);

	if (r->mapped)
		filemap_close(r->data, r->size);
	vec_each (&r->buffers, b)
		free(b->cpus);
	vec_each (&r->blocks, b)
		free(*b);
	vec_free(&r->buffers);
	vec_free(&r->formats);
	vec_free(&r->blocks);
	vec_free(&r->maps);
	vec_free(&r->hooks);
	free(r->type_of);
	text_free(r->trace.tep);
	tasks_free(r->trace.tasks);
	arena_free(&r->trace.arena);
	free(r);
}

static int map_file(struct reader *r, int fd, const char *path, struct err *e)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "%s is no file: a trace.dat cannot be read from a pipe",
			       path);
	if (st.st_size == 0)
		return err_set(e, ENODATA, "%s is empty", path);
	p = filemap_open(fd, (size_t)st.st_size, path);
	if (!p)
		return err_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	r->data = p;
	r->size = (size_t)st.st_size;
	r->mapped = true;
	r->trace.info.captured = (uint64_t)st.st_mtime;
	madvise(p, r->size, MADV_WILLNEED);
	return 0;
}

static int read_start(struct reader *r, struct cut *c, struct err *e)
{
	const uint8_t *magic = cut_bytes(c, TRACEDAT_MAGIC_SIZE), *p;
	const char *version;

	if (!magic || memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) != 0)
		return err_set(e, EINVAL, "%s is no trace.dat file", r->path);
	version = cut_str(c);
	p = cut_bytes(c, 2);
	if (!p)
		return err_set(e, EINVAL, "%s was cut: it has only %zu bytes", r->path, r->size);
	c->swap = (p[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	r->t.swap = r->t.layout.swap = c->swap;
	r->t.long_size = p[1];
	r->t.page_size = cut_u32(c);
	r->t.version = strcmp(version, "6") == 0 ? 6 : strcmp(version, "7") == 0 ? 7 : 0;
	if (!r->t.version) {
		err_set(e, EOPNOTSUPP, "%s is a trace.dat of version '%.8s'", r->path, version);
		return err_hint(
			e, "kymo reads versions 6 and 7; trace-cmd convert makes one of the other");
	}
	if (r->t.long_size != 4 && r->t.long_size != 8)
		return err_set(e, EINVAL, "%s: longs of %u bytes make no sense", r->path,
			       r->t.long_size);
	if (r->t.page_size < 512 || r->t.page_size > 64u << 20)
		return err_set(e, EINVAL, "%s: pages of %u bytes make no sense", r->path,
			       r->t.page_size);
	if (r->t.version == 7) {
		r->t.compression = arena_strdup(&r->trace.arena, cut_str(c));
		r->t.packer = arena_strdup(&r->trace.arena, cut_str(c));
	}
	if (c->bad)
		return err_set(e, EINVAL, "%s was cut: it has only %zu bytes", r->path, r->size);
	r->head_end = (uint64_t)(c->p - r->data);
	return 0;
}

/* "1234 name": what the kernel knew of its threads at the end. */
#define AT_ONCE (4u << 20)

void reader_done(const struct reader *r, const uint8_t **done, const uint8_t *upto)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, to;

	/* what was unpacked, or came through a pipe, is only there */
	if (!r->mapped || *done < r->data || upto > r->data + r->size || upto - *done < AT_ONCE)
		return;
	from = ((uintptr_t)*done + page - 1) / page * page;
	to = (uintptr_t)upto / page * page;
	*done = upto;
	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static void each_line(const char *text, size_t n,
		      void (*fn)(struct reader *r, uint64_t number, const char *rest,
				 size_t rest_n),
		      struct reader *r)
{
	const char *end = text + n;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *p = text, *line_end = stop ? stop : end;
		uint64_t v = 0;

		while (p < line_end && *p == ' ')
			p++;
		for (; p < line_end && *p >= '0' && *p <= '9' && v < UINT32_MAX; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		if (p < line_end && *p == ' ' && v <= INT32_MAX)
			fn(r, v, p + 1, (size_t)(line_end - p) - 1);
		text = stop ? stop + 1 : end;
	}
}

static void add_tgid(struct reader *r, uint64_t tid, const char *rest, size_t n)
{
	uint64_t pid = 0;

	for (size_t i = 0; i < n && rest[i] >= '0' && rest[i] <= '9' && pid < UINT32_MAX; i++)
		pid = pid * 10 + (uint64_t)(rest[i] - '0');
	if (pid && pid <= INT32_MAX)
		tasks_fork(r->trace.tasks, 0, (int32_t)pid, (int32_t)pid, (int32_t)pid,
			   (int32_t)tid, false);
}

static void add_comm(struct reader *r, uint64_t tid, const char *name, size_t n)
{
	AUTO_FREE char *copy = mem_strndup(name, n);
	int32_t pid = tasks_pid_at(r->trace.tasks, (int32_t)tid, 0);

	tasks_comm(r->trace.tasks, 0, pid < 0 ? (int32_t)tid : pid, (int32_t)tid, copy, false);
}

/* The kernel and its modules as one: names come from the symbols that were saved. */
static void map_kernel(struct reader *r)
{
	bool wide = r->t.long_size == 8;
	struct task_map m = { .start = wide ? 0xffff000000000000 : 0x80000000,
			      .end = wide ? UINT64_MAX : UINT32_MAX,
			      .dso = tasks_dso(r->trace.tasks, "[kernel.kallsyms]", NULL, 0, true),
			      .pid = -1 };

	m.pgoff = m.start;
	tasks_mmap(r->trace.tasks, 0, -1, -1, &m);
}

/*
 * "PID N NAME", then "START END PATH" of each mapping, numbers in hex. " +OFFSET" behind the path
 * is kymo's; trace-cmd's mappings begin with their file.
 */
static void add_maps(struct reader *r, const char *text)
{
	char *end;
	int32_t pid = (int32_t)strtoul(text, &end, 16);

	while ((text = strchr(text, '\n')) && *++text) {
		struct task_map m = { .pid = pid };
		size_t n = strcspn(text, "\n");
		AUTO_FREE char *path = NULL;
		char *plus;

		m.start = strtoull(text, &end, 16);
		m.end = strtoull(end, &end, 16);
		end += strspn(end, " ");
		if (m.end <= m.start || end >= text + n)
			continue;
		path = mem_strndup(end, (size_t)(text + n - end));
		plus = strrchr(path, '+');
		if (plus > path && plus[-1] == ' ') {
			m.pgoff = strtoull(plus, NULL, 16);
			plus[-1] = 0;
		}
		m.dso = tasks_dso(r->trace.tasks, path, NULL, 0, false);
		tasks_mmap(r->trace.tasks, 0, pid, pid, &m);
	}
}

static int load_start(struct reader *r, int fd, struct err *e)
{
	struct cut c;
	int code = map_file(r, fd, r->path, e);

	if (code < 0)
		return code;
	c = reader_cut(r, 0);
	return read_start(r, &c, e);
}

int reader_finish(struct reader *r, struct err *e)
{
	r->trace.tep = text_new(&(struct text_opts){ .long_size = r->t.long_size });
	if (!r->formats.n)
		return err_set(e, EINVAL, "%s has no formats of events: it was cut, or is damaged",
			       r->path);
	if (r->t.printk)
		text_printk(r->trace.tep, r->t.printk, r->t.printk_size);
	if (r->t.tgids)
		each_line(r->t.tgids, r->t.tgids_size, add_tgid, r);
	map_kernel(r);
	tasks_comm(r->trace.tasks, 0, 0, 0, "<idle>", false);
	if (r->t.cmdlines)
		each_line(r->t.cmdlines, r->t.cmdlines_size, add_comm, r);
	vec_each (&r->maps, m)
		add_maps(r, *m);
	r->t.maps = r->maps.data;
	r->t.n_maps = r->maps.n;
	r->t.hooks = r->hooks.data;
	r->t.n_hooks = r->hooks.n;
	r->t.buffers = r->buffers.data;
	r->t.n_buffers = r->buffers.n;
	r->t.formats = r->formats.data;
	r->t.n_formats = r->formats.n;
	return scan_pages(r, e);
}

static int tracedat_load(struct reader *r, int fd, struct err *e)
{
	int code = load_start(r, fd, e);
	struct cut c;

	if (code < 0)
		return code;
	c = reader_cut(r, r->head_end);
	code = r->t.version == 6 ? head6_read(r, &c, e) : head7_read(r, &c, e);
	if (code >= 0)
		code = reader_finish(r, e);
	/* only chains are made for each event */
	r->source.stable = code >= 0;
	for (size_t i = 0; i < r->trace.n_types; i++)
		if (r->trace.types[i].has & EVENT_HAVE_CHAIN)
			r->source.stable = false;
	return code;
}

void reader_init(struct reader *r, const char *path, void (*close)(struct source *s))
{
	ringbuf_layout_default(&r->t.layout);
	r->trace.tasks = tasks_new();
	r->path = arena_strdup(&r->trace.arena, path);
	r->t.compression = "none";
	r->t.packer = r->t.uname = r->t.tool = r->t.stats = r->t.clock = "";
	r->source = (struct source){
		.trace = &r->trace, .format = "trace.dat", .impl = r, .close = close
	};
}

static int open_with(int (*how)(struct reader *, int fd, struct err *), int fd, const char *path,
		     struct source **ret, struct err *e)
{
	struct reader *r = mem_alloc(sizeof(*r));
	int code;

	reader_init(r, path, reader_close);
	r->source.read_chunk = tracedat_read_chunk;
	r->source.read_ordered = tracedat_read_ordered;
	code = how(r, fd, e);
	if (code < 0) {
		reader_close(&r->source);
		return code;
	}
	r->trace.big_endian_source = r->t.swap;
	*ret = &r->source;
	return 0;
}

int tracedat_open_fd(int fd, const char *path, struct source **ret, struct err *e)
{
	return open_with(tracedat_load, fd, path, ret, e);
}

int tracedat_open_raw(const char *path, struct source **ret, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	int code = errno;

	if (fd >= 0)
		return open_with(load_start, fd, path, ret, e);
	err_set(e, code, "cannot open %s: %s", path, strerror(code));
	if (code == ENOENT)
		err_hint(e, "kymo ftrace record makes one; -i FILE reads another");
	return -code;
}

struct cut tracedat_raw_at(const struct source *s, uint64_t offset)
{
	return reader_cut(reader_of(s), offset);
}

struct cut tracedat_raw_rest(const struct source *s)
{
	return reader_cut(reader_of(s), reader_of(s)->head_end);
}

struct cut tracedat_raw_section(const struct source *s, uint64_t offset, uint16_t want)
{
	return reader_section(reader_of(s), offset, want);
}

const struct tracedat *tracedat_of(const struct source *s)
{
	return &reader_of(s)->t;
}
