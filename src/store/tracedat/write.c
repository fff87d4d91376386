/* SPDX-License-Identifier: MIT */
#include "store/tracedat/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/vec.h"
#include "config.h"
#include "store/tracedat/abi.h"
#include "store/tracedat/ringbuf_write.h"

#if HAVE_ZSTD
#	include <zstd.h>
#endif
#if HAVE_ZLIB
#	include <zlib.h>
#endif

#define CHUNK (1u << 20)

bool tracedat_can_pack(const char *compression)
{
	return strcmp(compression, "none") == 0 ||
	       (HAVE_ZSTD && strcmp(compression, "zstd") == 0) ||
	       (HAVE_ZLIB && strcmp(compression, "zlib") == 0);
}

const char *tracedat_best_packing(void)
{
	return HAVE_ZSTD ? "zstd" : HAVE_ZLIB ? "zlib" : "none";
}

struct writer {
	const struct tracedat_out *o;
	int fd;
	uint64_t at; /* where the next byte goes */
	const char *path;
	bool packed;
	struct ringbuf_layout layout; /* of the pages */
	struct strbuf strings;	      /* what sections are called */
	struct strbuf options;	      /* of the section that is being collected */
	struct strbuf scratch;
	struct err *e;
	int failed;
};

static void tracedat_write_put(struct writer *w, const void *data, size_t n)
{
	int r = w->failed ? 0 : file_write_all(w->fd, data, n);

	if (r < 0) {
		w->failed = err_set(w->e, -r, "cannot write %s: %s", w->path, strerror(-r));
		if (-r == ENOSPC)
			err_hint(w->e, "the disk is full");
	}
	w->at += n;
}

#define PUT(w, type, v) tracedat_write_put(w, &(type){ v }, sizeof(type))

static void patch_u64(struct writer *w, uint64_t at, uint64_t v)
{
	if (!w->failed && pwrite(w->fd, &v, sizeof(v), (off_t)at) != sizeof(v))
		w->failed = err_set(w->e, errno, "cannot write %s: %s", w->path, strerror(errno));
}

static void pad_to(struct writer *w, uint32_t size)
{
	static const char zeros[4096];

	while (w->at % size && !w->failed) {
		uint64_t n = size - w->at % size;

		tracedat_write_put(w, zeros, n < sizeof(zeros) ? (size_t)n : sizeof(zeros));
	}
}

#define ADD(b, type, v) strbuf_add(b, (const char *)&(type){ v }, sizeof(type))

static void tracedat_write_add_text(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s) + 1);
}

static void add_option(struct strbuf *b, uint16_t id, const void *data, size_t n)
{
	ADD(b, uint16_t, id);
	ADD(b, uint32_t, (uint32_t)n);
	strbuf_add(b, data, n);
}

/* Compress into w->scratch; 0 when it cannot be done. */
static size_t pack(struct writer *w, const void *data, size_t n)
{
	size_t room = 0, done = 0;
	const char *how = w->o->compression;

#if HAVE_ZSTD
	if (strcmp(how, "zstd") == 0)
		room = ZSTD_compressBound(n);
#endif
#if HAVE_ZLIB
	if (strcmp(how, "zlib") == 0)
		room = compressBound(n);
#endif
	if (w->scratch.cap < room) {
		w->scratch.data = mem_grow(w->scratch.data, room);
		w->scratch.cap = room;
	}
#if HAVE_ZSTD
	if (strcmp(how, "zstd") == 0) {
		done = ZSTD_compress(w->scratch.data, room, data, n, 3);
		done = ZSTD_isError(done) ? 0 : done;
	}
#endif
#if HAVE_ZLIB
	if (strcmp(how, "zlib") == 0) {
		uLongf size = room;

		done = compress2((Bytef *)w->scratch.data, &size, data, n, 6) == Z_OK ? size : 0;
	}
#endif
	(void)how;
	if (!done && !w->failed)
		w->failed = err_set(w->e, EIO, "cannot compress with %s", w->o->compression);
	return done;
}

/* A compressed piece behind its two sizes. */
static void put_packed(struct writer *w, const void *data, size_t n)
{
	size_t packed = pack(w, data, n);

	PUT(w, uint32_t, (uint32_t)packed);
	PUT(w, uint32_t, (uint32_t)n);
	tracedat_write_put(w, w->scratch.data, packed);
}

/* --- pages --- */

/* The next piece of a file of pages; 0 at its end, or when that failed. */
static size_t read_pages(struct writer *w, const struct tracedat_out_buffer *b, int fd, uint64_t at,
			 uint64_t size, char *buf, size_t room)
{
	size_t n = size - at < room ? (size_t)(size - at) : room;
	ssize_t got = w->failed ? 0 : pread(fd, buf, n, (off_t)at);

	if (!n || w->failed)
		return 0;
	if (got != (ssize_t)n) {
		w->failed = err_set(w->e, got < 0 ? errno : EIO, "cannot read pages back: %s",
				    got < 0 ? strerror(errno) : "the file is too short");
		return 0;
	}
	for (size_t i = 0; b->n_without && i + b->page_size <= n; i += b->page_size)
		ringbuf_blank(&w->layout, (uint8_t *)buf + i, b->page_size, b->without,
			      b->n_without);
	return n;
}

/* How many compressed pieces were written; 0 where they are not. */
static uint32_t put_range(struct writer *w, const struct tracedat_out_buffer *b, int fd,
			  uint64_t size)
{
	size_t step = b->page_size > CHUNK ? b->page_size : CHUNK / b->page_size * b->page_size;
	AUTO_FREE char *buf = mem_grow(NULL, step);
	uint32_t chunks = 0;
	uint64_t at = 0;
	size_t n;

	while ((n = read_pages(w, b, fd, at, size, buf, step)) > 0) {
		at += n;
		if (w->packed)
			put_packed(w, buf, n);
		else
			tracedat_write_put(w, buf, n);
		chunks += w->packed;
	}
	return chunks;
}

/* The pages of one CPU where w stands; where they begin and how much they are. */
static void put_cpu(struct writer *w, const struct tracedat_out_buffer *b,
		    const struct tracedat_out_cpu *c, uint64_t *offset, uint64_t *size)
{
	uint32_t chunks;

	pad_to(w, w->o->page_size);
	*offset = w->at;
	if (w->packed)
		PUT(w, uint32_t, 0);
	chunks = c->older_fd >= 0 ? put_range(w, b, c->older_fd, c->older_size) : 0;
	chunks += c->fd >= 0 ? put_range(w, b, c->fd, c->size) : 0;
	*size = w->at - *offset;
	if (!w->packed)
		return;
	if (!w->failed && pwrite(w->fd, &chunks, 4, (off_t)*offset) != 4)
		w->failed = err_set(w->e, errno, "cannot write %s: %s", w->path, strerror(errno));
	/* the number of blocks is not counted, as trace-cmd does not */
	*size -= 4;
}

static bool tracedat_write_empty(const struct tracedat_out_cpu *c)
{
	return !(c->fd >= 0 && c->size) && !(c->older_fd >= 0 && c->older_size);
}

/* --- version 6 --- */

static void put_sized32(struct writer *w, const struct strbuf *b)
{
	PUT(w, uint32_t, (uint32_t)b->n);
	tracedat_write_put(w, strbuf_str(b), b->n);
}

/* What the kernel counted, CPU by CPU; the name of an instance is among the texts. */
static void add_stats(struct strbuf *b, const struct tracedat_out_buffer *o)
{
	AUTO_STRBUF head = { 0 };

	if (!o->stats)
		return;
	strbuf_printf(&head, "\nBuffer: %s\n\n", o->name);
	if (*o->name)
		add_option(b, TRACEDAT_CPUSTAT, head.data, head.n + 1);
	for (size_t i = 0; i < o->n_cpus; i++)
		if (o->stats[i].n)
			add_option(b, TRACEDAT_CPUSTAT, strbuf_str(&o->stats[i]),
				   o->stats[i].n + 1);
}

static void common_options(struct writer *w, struct strbuf *b)
{
	const struct tracedat_out *o = w->o;
	struct {
		uint32_t mult, shift;
		uint64_t offset;
	} tsc = { o->tsc_mult, o->tsc_shift, 0 };
	uint64_t id = o->trace_id;

	if (o->date)
		add_option(b, TRACEDAT_DATE, o->date, strlen(o->date) + 1);
	if (o->offset)
		add_option(b, TRACEDAT_OFFSET, o->offset, strlen(o->offset) + 1);
	add_option(b, TRACEDAT_TRACECLOCK, o->clocks, strlen(o->clocks) + 1);
	if (o->tsc_mult)
		add_option(b, TRACEDAT_TSC2NSEC, &tsc, sizeof(tsc));
	add_option(b, TRACEDAT_UNAME, o->uname, strlen(o->uname) + 1);
	add_option(b, TRACEDAT_VERSION, o->tool, strlen(o->tool) + 1);
	add_option(b, TRACEDAT_TRACEID, &id, sizeof(id));
	for (size_t i = 0; i < o->n_hooks; i++)
		add_option(b, TRACEDAT_HOOK, o->hooks[i], strlen(o->hooks[i]) + 1);
	for (size_t i = 0; i < o->n_maps; i++)
		add_option(b, TRACEDAT_PROCMAPS, o->maps[i], strlen(o->maps[i]) + 1);
	for (size_t i = 0; i < o->n_buffers; i++)
		add_stats(b, &o->buffers[i]);
}

/* The table of a buffer, to be filled once its pages are written. */
static uint64_t table6(struct writer *w)
{
	uint64_t at;

	tracedat_write_put(w, "flyrecord", 10);
	at = w->at;
	for (uint32_t i = 0; i < w->o->n_cpus * 2; i++)
		PUT(w, uint64_t, 0);
	PUT(w, uint64_t, strlen(w->o->clocks));
	tracedat_write_put(w, w->o->clocks, strlen(w->o->clocks));
	return at;
}

static void pages6(struct writer *w, const struct tracedat_out_buffer *b, uint64_t table)
{
	for (size_t i = 0; i < b->n_cpus && !w->failed; i++) {
		uint64_t offset, size;

		if (b->cpus[i].cpu >= w->o->n_cpus || tracedat_write_empty(&b->cpus[i]))
			continue;
		put_cpu(w, b, &b->cpus[i], &offset, &size);
		patch_u64(w, table + b->cpus[i].cpu * 16ull, offset);
		patch_u64(w, table + b->cpus[i].cpu * 16ull + 8, size);
	}
}

static void write6(struct writer *w)
{
	const struct tracedat_out *o = w->o;
	AUTO_STRBUF opts = { 0 };
	VEC(uint64_t) tables = { 0 };
	uint64_t options_at;

	tracedat_write_put(w, o->header.data, o->header.n);
	tracedat_write_put(w, strbuf_str(&o->ftrace), o->ftrace.n);
	tracedat_write_put(w, strbuf_str(&o->formats), o->formats.n);
	put_sized32(w, &o->kallsyms);
	put_sized32(w, &o->printk);
	PUT(w, uint64_t, o->cmdlines.n);
	tracedat_write_put(w, strbuf_str(&o->cmdlines), o->cmdlines.n);
	PUT(w, uint32_t, o->n_cpus);
	if (o->n_buffers && o->buffers[0].text) {
		tracedat_write_put(w, "latency  ", 10);
		tracedat_write_put(w, strbuf_str(o->buffers[0].text), o->buffers[0].text->n);
		return;
	}
	tracedat_write_put(w, "options  ", 10);
	common_options(w, &opts);
	options_at = w->at + opts.n;
	for (size_t i = 1; i < o->n_buffers; i++) {
		AUTO_STRBUF one = { 0 };

		ADD(&one, uint64_t, 0);
		tracedat_write_add_text(&one, o->buffers[i].name);
		add_option(&opts, TRACEDAT_BUFFER, one.data, one.n);
	}
	tracedat_write_put(w, opts.data, opts.n);
	PUT(w, uint16_t, TRACEDAT_DONE);
	for (size_t i = 0; i < o->n_buffers; i++) {
		if (i) {
			/* an option of 6 bytes, then the offset, then the name */
			patch_u64(w, options_at + 6, w->at);
			options_at += 6 + 8 + strlen(o->buffers[i].name) + 1;
		}
		vec_push(&tables, table6(w));
		pages6(w, &o->buffers[i], tables.data[i]);
	}
	vec_free(&tables);
}

/* --- version 7 --- */

static uint32_t described(struct writer *w, const char *what)
{
	uint32_t at = (uint32_t)w->strings.n;

	tracedat_write_add_text(&w->strings, what);
	return at;
}

/* Of that size, or 0 where it is not known yet. */
static void section_head(struct writer *w, uint16_t id, bool packed, const char *what,
			 uint64_t size)
{
	PUT(w, uint16_t, id);
	PUT(w, uint16_t, packed ? TRACEDAT_COMPRESSED : 0);
	PUT(w, uint32_t, described(w, what));
	PUT(w, uint64_t, size);
}

static void section(struct writer *w, uint16_t id, const char *what, const void *data, size_t n)
{
	bool packed = w->packed && id != TRACEDAT_DONE;
	size_t size = packed ? pack(w, data, n) : n;

	section_head(w, id, packed, what, packed ? size + 8 : size);
	if (packed) {
		PUT(w, uint32_t, (uint32_t)size);
		PUT(w, uint32_t, (uint32_t)n);
	}
	tracedat_write_put(w, packed ? w->scratch.data : data, size);
}

/* A section, and an option that leads to it. */
static void linked(struct writer *w, uint16_t id, const char *what, const struct strbuf *b)
{
	uint64_t at = w->at;

	section(w, id, what, strbuf_str(b), b->n);
	add_option(&w->options, id, &at, sizeof(at));
}

/* No option leads to thread groups: trace-cmd up to 3.1 complains of one. They are found behind the
 * names. */
static void linked_text(struct writer *w, uint16_t id, const char *what, const struct strbuf *text,
			bool wide)
{
	AUTO_STRBUF b = { 0 };

	if (wide)
		ADD(&b, uint64_t, text->n);
	else
		ADD(&b, uint32_t, (uint32_t)text->n);
	strbuf_add(&b, strbuf_str(text), text->n);
	if (id == TRACEDAT_SAVED_TGIDS)
		section(w, id, what, b.data, b.n);
	else
		linked(w, id, what, &b);
}

/* All options that were collected; returns where the offset of the next ones goes. */
static uint64_t options7(struct writer *w)
{
	uint64_t next = 0, place;

	add_option(&w->options, TRACEDAT_DONE, &next, sizeof(next));
	place = w->at + 16 + w->options.n - 8;
	section(w, TRACEDAT_DONE, "options", w->options.data, w->options.n);
	strbuf_reset(&w->options);
	return place;
}

/* Packed in blocks, as pages are. */
static void text7(struct writer *w, const struct strbuf *text)
{
	uint64_t begin;

	section_head(w, TRACEDAT_BUFFER_TEXT, w->packed, "buffer latency", 0);
	begin = w->at;
	if (w->packed)
		PUT(w, uint32_t, (uint32_t)((text->n + CHUNK - 1) / CHUNK));
	for (size_t at = 0; at < text->n && w->packed; at += CHUNK)
		put_packed(w, text->data + at, text->n - at < CHUNK ? text->n - at : CHUNK);
	if (!w->packed)
		tracedat_write_put(w, strbuf_str(text), text->n);
	patch_u64(w, begin - 8, w->at - begin);
}

static void buffer7(struct writer *w, const struct tracedat_out_buffer *b)
{
	AUTO_STRBUF opt = { 0 };
	uint64_t at = w->at, begin;

	ADD(&opt, uint64_t, at);
	tracedat_write_add_text(&opt, b->name);
	tracedat_write_add_text(&opt, b->clock);
	if (b->text) {
		text7(w, b->text);
		add_option(&w->options, TRACEDAT_BUFFER_TEXT, opt.data, opt.n);
		return;
	}
	ADD(&opt, uint32_t, b->page_size);
	ADD(&opt, uint32_t, (uint32_t)b->n_cpus);
	section_head(w, TRACEDAT_BUFFER, w->packed, "buffer flyrecord", 0);
	begin = w->at;
	for (size_t i = 0; i < b->n_cpus && !w->failed; i++) {
		uint64_t offset = 0, size = 0;

		if (!tracedat_write_empty(&b->cpus[i]))
			put_cpu(w, b, &b->cpus[i], &offset, &size);
		ADD(&opt, uint32_t, b->cpus[i].cpu);
		ADD(&opt, uint64_t, offset);
		ADD(&opt, uint64_t, size);
	}
	patch_u64(w, begin - 8, w->at - begin);
	add_option(&w->options, TRACEDAT_BUFFER, opt.data, opt.n);
}

static void write7(struct writer *w)
{
	const struct tracedat_out *o = w->o;
	uint64_t first, next;

	tracedat_write_put(w, o->compression, strlen(o->compression) + 1);
	tracedat_write_put(w, "1", strcmp(o->compression, "none") == 0 ? 0 : 1);
	tracedat_write_put(w, "", 1);
	first = w->at;
	PUT(w, uint64_t, 0);
	linked(w, TRACEDAT_HEADER_INFO, "headers", &o->header);
	linked(w, TRACEDAT_FTRACE_EVENTS, "ftrace events", &o->ftrace);
	linked(w, TRACEDAT_EVENT_FORMATS, "event formats", &o->formats);
	linked_text(w, TRACEDAT_KALLSYMS, "kallsyms", &o->kallsyms, false);
	linked_text(w, TRACEDAT_PRINTK, "printk", &o->printk, false);
	linked_text(w, TRACEDAT_CMDLINES, "command lines", &o->cmdlines, true);
	if (o->tgids.n)
		linked_text(w, TRACEDAT_SAVED_TGIDS, "saved tgids", &o->tgids, true);
	common_options(w, &w->options);
	add_option(&w->options, TRACEDAT_CPUCOUNT, &o->n_cpus, 4);
	patch_u64(w, first, w->at);
	next = options7(w);
	for (size_t i = 0; i < o->n_buffers && !w->failed; i++)
		buffer7(w, &o->buffers[i]);
	patch_u64(w, next, w->at);
	options7(w);
	section(w, TRACEDAT_STRINGS, "", w->strings.data, w->strings.n);
}

static int tracedat_write_check(const struct tracedat_out *o, struct err *e)
{
	if (o->version == 7 && !tracedat_can_pack(o->compression)) {
		err_set(e, EINVAL, "this kymo cannot compress with '%s'", o->compression);
		return err_hint(
			e, "--compression none, or one of those that kymo ftrace list -c shows");
	}
	if (o->version == 6 && o->compression && strcmp(o->compression, "none") != 0) {
		err_set(e, EINVAL, "trace.dat of version 6 cannot be compressed");
		return err_hint(e, "leave out --file-version 6, or --compression");
	}
	if (o->version != 6 && o->version != 7)
		return err_set(e, EINVAL, "there is no trace.dat of version %d to write",
			       o->version);
	return 0;
}

/* Out of "header_page\0", its size in 64 bits, its text. */
static void find_layout(struct writer *w)
{
	const size_t before = sizeof("header_page") + 8;

	ringbuf_layout_default(&w->layout);
	if (w->o->header.n > before)
		ringbuf_layout_parse(&w->layout, w->o->header.data + before,
				     w->o->header.n - before);
}

int tracedat_write(const char *path, const struct tracedat_out *o, struct err *e)
{
	struct output out;
	struct writer w = { .o = o, .path = path, .e = e };
	uint8_t start[2] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	int r = tracedat_write_check(o, e), closed;

	if (r == 0)
		r = output_open(&out, path, O_WRONLY | O_NONBLOCK, e);
	if (r < 0)
		return r;
	w.fd = out.fd;
	find_layout(&w);
	w.packed = o->version == 7 && strcmp(o->compression, "none") != 0;
	tracedat_write_put(&w, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE);
	tracedat_write_put(&w, o->version == 6 ? "6" : "7", 2);
	tracedat_write_put(&w, start, 2);
	PUT(&w, uint32_t, o->page_size);
	if (o->version == 6)
		write6(&w);
	else
		write7(&w);
	r = w.failed ? 0 : output_publish(&out);
	closed = output_close(&out);
	r = r < 0 ? r : closed;
	if (r < 0 && !w.failed)
		w.failed = err_cannot_write(e, -r, path);
	strbuf_free(&w.strings);
	strbuf_free(&w.options);
	strbuf_free(&w.scratch);
	return w.failed;
}

void tracedat_out_free(struct tracedat_out *o)
{
	strbuf_free(&o->header);
	strbuf_free(&o->ftrace);
	strbuf_free(&o->formats);
	strbuf_free(&o->kallsyms);
	strbuf_free(&o->printk);
	strbuf_free(&o->cmdlines);
	strbuf_free(&o->tgids);
}
