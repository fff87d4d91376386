/* SPDX-License-Identifier: MIT */
#include "base/tar_write.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/str.h"
#include "base/tar.h"
#include "config.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

#define BUFFER (1u << 20)

struct tar_writer {
	struct output out;
	char *path; /* NULL: stdout */
	int level;
	void *zstd;
	uint8_t *buffer; /* what zstd writes into */
	int64_t size;
};

static int tar_write_failed(const struct tar_writer *w, int code, struct err *e)
{
	return err_cannot_write(e, code, w->path ? w->path : "standard output");
}

static int tar_write_put(struct tar_writer *w, const void *data, size_t n, struct err *e)
{
	int r = file_write_all(w->out.fd, data, n);

	w->size += (int64_t)n;
	return r < 0 ? tar_write_failed(w, -r, e) : 0;
}

#if HAVE_ZSTD
static int tar_write_put_packed(struct tar_writer *w, const void *data, size_t n,
				ZSTD_EndDirective how, struct err *e)
{
	ZSTD_inBuffer in = { data, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->buffer, BUFFER, 0 };

		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return err_set(e, EIO, "cannot compress: %s", ZSTD_getErrorName(left));
		if (tar_write_put(w, w->buffer, out.pos, e) < 0)
			return -e->code;
	} while (how == ZSTD_e_end ? left : in.pos < in.size);
	return 0;
}
#endif

static int put_part(struct tar_writer *w, const void *data, size_t n, bool last, struct err *e)
{
#if HAVE_ZSTD
	if (w->zstd)
		return tar_write_put_packed(w, data, n, last ? ZSTD_e_end : ZSTD_e_continue, e);
#endif
	return tar_write_put(w, data, n, e);
}

/* Head, body and padding: one frame when packed. */
static int put_member(struct tar_writer *w, const struct strbuf *head, const void *data, size_t n,
		      struct err *e)
{
	static const uint8_t zero[TAR_BLOCK];
	size_t pad = (size_t)(tar_round(n) - n);
	int r;

#if HAVE_ZSTD
	if (w->zstd) {
		ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
		ZSTD_CCtx_setPledgedSrcSize(w->zstd, head->n + n + pad);
	}
#endif
	r = put_part(w, head->data, head->n, false, e);
	if (r == 0 && n)
		r = put_part(w, data, n, false, e);
	return r == 0 ? put_part(w, zero, pad, true, e) : r;
}

static void set_number(char *field, size_t size, uint64_t v)
{
	/* octal while it fits, as everybody reads it; else GNU's binary form */
	if (v >> (3 * (size - 1)) == 0) {
		for (size_t i = size - 1; i-- > 0; v >>= 3)
			field[i] = (char)('0' + (v & 7));
		return;
	}
	for (size_t i = size; i-- > 1; v >>= 8)
		field[i] = (char)(v & 255);
	field[0] = (char)0x80;
}

static void add_block(struct strbuf *b, const char *name, char type, uint64_t size, uint64_t mtime,
		      const char *link)
{
	struct tar_block h = { .type = type, .magic = "ustar", .version = { '0', '0' } };

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	if (link)
		memcpy(h.link, link, strnlen(link, sizeof(h.link)));
	set_number(h.mode, sizeof(h.mode), type == '0' ? 0600 : 0777);
	set_number(h.uid, sizeof(h.uid), 0);
	set_number(h.gid, sizeof(h.gid), 0);
	set_number(h.size, sizeof(h.size), size);
	set_number(h.mtime, sizeof(h.mtime), mtime);
	set_number(h.sum, sizeof(h.sum) - 1, tar_sum(&h));
	h.sum[7] = ' ';
	strbuf_add(b, (const char *)&h, sizeof(h));
}

/* "LENGTH KEY=VALUE\n", the length counting itself. */
static void add_pax(struct strbuf *b, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, n = rest + 1;
	char digits[24];

	while (rest + (size_t)snprintf(digits, sizeof(digits), "%zu", n) != n)
		n = rest + strlen(digits);
	strbuf_printf(b, "%zu %s=%s\n", n, key, value);
}

static void add_head(struct strbuf *b, const char *name, char type, uint64_t size, uint64_t mtime,
		     const char *link)
{
	AUTO_STRBUF pax = { 0 };

	if (strlen(name) > 100)
		add_pax(&pax, "path", name);
	if (link && strlen(link) > 100)
		add_pax(&pax, "linkpath", link);
	if (pax.n) {
		add_block(b, "././@PaxHeader", 'x', pax.n, mtime, NULL);
		strbuf_add(b, pax.data, pax.n);
		while (b->n % TAR_BLOCK)
			strbuf_putc(b, 0);
	}
	add_block(b, name, type, size, mtime, link);
}

int tar_write_open(const char *path, int level, struct tar_writer **ret, struct err *e)
{
	bool to_stdout = strcmp(path, "-") == 0;
	struct output out = OUTPUT_NONE;
	struct tar_writer *w;
	int r = 0;

	if (level && !HAVE_ZSTD) {
		err_set(e, EOPNOTSUPP, "this kymo was built without zstd");
		return err_hint(e, "do not pack it, or build with libzstd-dev installed");
	}
	if (!to_stdout)
		r = output_open(&out, path, O_WRONLY, e);
	else if ((out.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) < 0)
		r = err_cannot_write(e, errno, "standard output");
	if (r < 0)
		return r;
	w = mem_alloc(sizeof(*w));
	w->out = out;
	w->path = to_stdout ? NULL : mem_strdup(path);
#if HAVE_ZSTD
	if (level) {
		w->buffer = mem_alloc(BUFFER);
		w->zstd = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	}
#endif
	*ret = w;
	return 0;
}

int tar_write_file(struct tar_writer *w, const char *name, const void *data, size_t n,
		   int64_t mtime, struct err *e)
{
	AUTO_STRBUF head = { 0 };

	add_head(&head, name, '0', n, mtime > 0 ? (uint64_t)mtime : 0, NULL);
	return put_member(w, &head, data, n, e);
}

int tar_write_link(struct tar_writer *w, const char *name, const char *target, struct err *e)
{
	AUTO_STRBUF head = { 0 };

	add_head(&head, name, '2', 0, 0, target);
	return put_member(w, &head, NULL, 0, e);
}

static void tar_write_drop(struct tar_writer *w)
{
#if HAVE_ZSTD
	ZSTD_freeCCtx(w->zstd);
#endif
	free(w->buffer);
	free(w->path);
	free(w);
}

int64_t tar_write_finish(struct tar_writer *w, struct err *e)
{
	char end[2 * TAR_BLOCK] = { 0 };
	struct strbuf b = { .data = end, .n = sizeof(end) };
	int64_t r = put_member(w, &b, NULL, 0, e), size = w->size;
	int closed;

	if (r == 0 && (closed = output_publish(&w->out)) < 0)
		r = tar_write_failed(w, -closed, e);
	closed = output_close(&w->out);
	if (closed < 0 && r == 0)
		r = tar_write_failed(w, -closed, e);
	tar_write_drop(w);
	return r < 0 ? r : size;
}

void tar_write_abandon(struct tar_writer *w)
{
	if (!w)
		return;
	output_close(&w->out);
	tar_write_drop(w);
}
