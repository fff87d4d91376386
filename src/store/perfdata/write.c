/* SPDX-License-Identifier: MIT */
#include "store/perfdata/write_impl.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "config.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

static const uint8_t zero[sizeof(struct perfdata_section)]; /* for gaps */

#define ZSTD_INPUT (512u << 10) /* at most this much becomes one compressed record */

int perfdata_write_failed(struct perfdata_writer *w, int code, struct err *e)
{
	w->outcome.why = (uint32_t)code;
	return err_cannot_write(e, code, w->path);
}

int writer_put(struct perfdata_writer *w, const void *data, size_t n, struct err *e)
{
	bool direct = n > WRITER_BUFFER / 2;
	int r = 0;

	if (w->outcome.why)
		return perfdata_write_failed(w, (int)w->outcome.why, e);
	/* what waits in the buffer comes first, always */
	if (direct || w->used + n > WRITER_BUFFER) {
		r = file_write_all(w->fd, w->buffer, w->used);
		w->used = 0;
	}
	if (r == 0 && direct) {
		r = file_write_all(w->fd, data, n);
	} else if (r == 0 && n) {
		memcpy(w->buffer + w->used, data, n);
		w->used += n;
	}
	w->at += n;
	return r < 0 ? perfdata_write_failed(w, -r, e) : 0;
}

int writer_flush(struct perfdata_writer *w, struct err *e)
{
	int r = w->outcome.why ? -(int)w->outcome.why : file_write_all(w->fd, w->buffer, w->used);

	w->used = 0;
	return r < 0 ? perfdata_write_failed(w, -r, e) : 0;
}

void perfdata_keep_old(const char *path)
{
	AUTO_FREE char *old = mem_printf("%s.old", path);
	AUTO_FREE char *inside =
		mem_printf("%s/data", path); /* of perf record --kcore, --threads */
	struct stat st;

	if (stat(path, &st) == 0 &&
	    ((S_ISREG(st.st_mode) && st.st_size) || (S_ISDIR(st.st_mode) && file_exists(inside))))
		rename(path, old);
}

int perfdata_write_open(const struct perfdata_write_opts *o, struct perfdata_writer **ret,
			struct err *e)
{
	bool to_stdout = strcmp(o->path, "-") == 0;
	struct output out = OUTPUT_NONE;
	struct perfdata_writer *w;
	int r = 0;

	if (!to_stdout)
		r = output_open(&out, o->path, O_RDWR, e);
	else if ((out.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
		r = err_cannot_write(e, errno, o->path);
	if (r < 0)
		return r;
	if (o->zstd_level && !HAVE_ZSTD) {
		output_close(&out);
		err_set(e, EOPNOTSUPP, "this kymo was built without zstd");
		return err_hint(e, "leave out -z, or build with libzstd-dev installed");
	}
	w = mem_alloc(sizeof(*w));
	w->out = out;
	w->fd = out.fd;
	w->pipe = o->pipe;
	w->path = mem_strdup(to_stdout ? "standard output" : o->path);
	w->buffer = mem_alloc(WRITER_BUFFER);
	w->zstd_level = o->zstd_level;
#if HAVE_ZSTD
	if (w->zstd_level) {
		w->zstd = ZSTD_createCStream();
		ZSTD_initCStream(w->zstd, w->zstd_level);
	}
#endif
	*ret = w;
	return 0;
}

void perfdata_write_event(struct perfdata_writer *w, const struct perfdata_event *ev)
{
	struct write_attr *a = vec_add(&w->attrs);

	a->attr = ev->attr;
	a->attr.size = sizeof(a->attr);
	a->name = mem_strdup(ev->name);
	a->ids = mem_dup(ev->ids, ev->n_ids * sizeof(*ev->ids));
	a->n_ids = ev->n_ids;
}

/* { attr, ids } as a record; the name follows as an update. */
static int put_attr_record(struct perfdata_writer *w, const struct write_attr *a, struct err *e)
{
	uint64_t update[2] = { PERFDATA_UPDATE_NAME, a->n_ids ? a->ids[0] : 0 };
	AUTO_FREE char *name = mem_strndup(a->name ? a->name : "", 511);
	int r = perfdata_write_record2(w, PERFDATA_HEADER_ATTR, &a->attr, sizeof(a->attr), a->ids,
				       a->n_ids * sizeof(*a->ids), e);

	if (r < 0 || !a->name || !a->n_ids)
		return r;
	return perfdata_write_record2(w, PERFDATA_EVENT_UPDATE, update, sizeof(update), name,
				      strlen(name) + 1, e);
}

void perfdata_write_early(struct perfdata_writer *w, unsigned feature, const void *data, size_t n)
{
	struct written_feature f = { feature, mem_dup(data, n), n };

	vec_push(&w->early, f);
}

/* In stream form the formats come behind a record that says how long they are. */
static int put_formats(struct perfdata_writer *w, const struct written_feature *f, struct err *e)
{
	uint32_t size = (uint32_t)((f->n + 7) & ~(size_t)7);

	perfdata_write_record(w, PERFDATA_HEADER_TRACING_DATA, 0, &size, sizeof(size), e);
	writer_put(w, f->data, f->n, e);
	return writer_put(w, zero, -f->n & 7, e);
}

static int start_pipe(struct perfdata_writer *w, struct err *e)
{
	uint64_t head[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_SIZE };
	int r = writer_put(w, head, sizeof(head), e);

	vec_each (&w->attrs, a)
		if (r == 0)
			r = put_attr_record(w, a, e);
	vec_each (&w->early, f)
		if (r == 0 && f->feature != PERFDATA_TRACING_DATA)
			r = perfdata_write_feature(w, f->feature, f->data, f->n, e);
	/* perf's evlist reads up to the first feature, and would not find its way behind these */
	vec_each (&w->early, f)
		if (r == 0 && f->feature == PERFDATA_TRACING_DATA)
			r = put_formats(w, f, e);
	return r;
}

/* What its entry in the table before the data says. */
static struct perfdata_early early_entry(const struct written_feature *f)
{
	if (!f->n)
		return (struct perfdata_early){ f->feature | PERFDATA_EARLY_LATER,
						sizeof(struct perfdata_section) };
	return (struct perfdata_early){ f->feature, (uint32_t)f->n };
}

uint64_t writer_early_room(const struct written_feature *f)
{
	return ((uint64_t)early_entry(f).size + 3) & ~(uint64_t)3;
}

/* How long all of it is, the data behind it at a multiple of 8. */
static uint64_t early_size(const struct perfdata_writer *w)
{
	uint64_t n = 2 * sizeof(uint64_t) + w->early.n * sizeof(struct perfdata_early);

	vec_each (&w->early, f)
		n += writer_early_room(f);
	return (n + 7) & ~(uint64_t)7;
}

/* Magic, number, table, contents. */
static int put_early(struct perfdata_writer *w, struct err *e)
{
	uint64_t head[2] = { PERFDATA_EARLY_MAGIC, w->early.n }, end = w->at + early_size(w);

	writer_put(w, head, sizeof(head), e);
	vec_each (&w->early, f) {
		struct perfdata_early entry = early_entry(f);

		writer_put(w, &entry, sizeof(entry), e);
	}
	w->early_at = w->at;
	vec_each (&w->early, f) {
		if (f->n)
			w->feature[f->feature] = (struct perfdata_section){ w->at, f->n };
		writer_put(w, f->data, f->n, e);
		writer_put(w, zero, writer_early_room(f) - f->n, e);
	}
	return writer_put(w, zero, end - w->at, e);
}

static int start_file(struct perfdata_writer *w, struct err *e)
{
	struct perfdata_header *h = &w->header;
	uint64_t ids_at = sizeof(*h);

	*h = (struct perfdata_header){
		.magic = PERFDATA_MAGIC,
		.size = sizeof(*h),
		.attr_size = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section),
	};
	h->attrs.offset = ids_at;
	vec_each (&w->attrs, a)
		h->attrs.offset += a->n_ids * sizeof(*a->ids);
	h->attrs.size = w->attrs.n * h->attr_size;
	h->data.offset = h->attrs.offset + h->attrs.size + early_size(w);
	/* size 0 until the end: whoever reads it before then reads to the end of the file */
	writer_put(w, h, sizeof(*h), e);
	vec_each (&w->attrs, a)
		writer_put(w, a->ids, a->n_ids * sizeof(*a->ids), e);
	vec_each (&w->attrs, a) {
		struct perfdata_section ids = { ids_at, a->n_ids * sizeof(*a->ids) };

		writer_put(w, &a->attr, sizeof(a->attr), e);
		writer_put(w, &ids, sizeof(ids), e);
		ids_at += ids.size;
	}
	return put_early(w, e);
}

/* Whoever finds the file finds in it what is needed to read what comes. */
int perfdata_write_start(struct perfdata_writer *w, struct err *e)
{
	int r = w->pipe ? start_pipe(w, e) : start_file(w, e);

	if (r == 0 && (!w->pipe || w->out.hidden))
		r = perfdata_write_flush(w, e);
	if (r < 0)
		return r;
	r = output_publish(&w->out);
	return r < 0 ? perfdata_write_failed(w, -r, e) : 0;
}

#if HAVE_ZSTD
/* A COMPRESSED record holds at most 64 KiB; one stream runs through all of them. */
static int perfdata_write_put_packed(struct perfdata_writer *w, const uint8_t *data, size_t n,
				     struct err *e)
{
	static const size_t most = 65535 - 7 - sizeof(struct perfdata_event_header);
	uint8_t out[65536];

	while (n) {
		size_t part = n < ZSTD_INPUT ? n : ZSTD_INPUT, left;
		ZSTD_inBuffer in = { data, part, 0 };

		do {
			ZSTD_outBuffer o = { out + sizeof(struct perfdata_event_header), most, 0 };
			struct perfdata_event_header h = { .type = PERFDATA_COMPRESSED };

			left = ZSTD_compressStream2(w->zstd, &o, &in, ZSTD_e_flush);
			if (ZSTD_isError(left))
				return err_set(e, EIO, "cannot compress: %s",
					       ZSTD_getErrorName(left));
			if (o.pos) {
				h.size = (uint16_t)(sizeof(h) + o.pos);
				memcpy(out, &h, sizeof(h));
				w->packed += h.size;
				if (writer_put(w, out, h.size, e) < 0)
					return -e->code;
			}
		} while (left || in.pos < in.size);
		w->plain += part;
		data += part;
		n -= part;
	}
	return 0;
}
#endif

int perfdata_write_bytes(struct perfdata_writer *w, const void *data, size_t n, struct err *e)
{
#if HAVE_ZSTD
	if (w->zstd)
		return perfdata_write_put_packed(w, data, n, e);
#endif
	return writer_put(w, data, n, e);
}

int perfdata_write_room(struct perfdata_writer *w, uint64_t n, uint64_t *at, struct err *e)
{
	int r = writer_flush(w, e);

	if (r < 0)
		return r;
	*at = w->at;
	w->at += n;
	return lseek(w->fd, (off_t)w->at, SEEK_SET) < 0 ? perfdata_write_failed(w, errno, e) : 0;
}

int perfdata_write_at(const struct perfdata_writer *w, uint64_t at, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = pwrite(w->fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		p += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

/* head: what precedes the body. */
static int put_record(struct perfdata_writer *w, struct perfdata_event_header h, const void *head,
		      size_t n_head, const void *body, size_t n, struct err *e)
{
	size_t pad = -(n_head + n) & 7, size = sizeof(h) + n_head + n + pad;

	if (size > UINT16_MAX)
		return err_set(e, E2BIG, "a record of %zu bytes does not fit the format",
			       n_head + n);
	h.size = (uint16_t)size;
	writer_put(w, &h, sizeof(h), e);
	writer_put(w, head, n_head, e);
	writer_put(w, body, n, e);
	return writer_put(w, zero, pad, e);
}

int perfdata_write_record(struct perfdata_writer *w, uint32_t type, uint16_t misc, const void *body,
			  size_t n, struct err *e)
{
	return put_record(w, (struct perfdata_event_header){ type, misc, 0 }, NULL, 0, body, n, e);
}

int perfdata_write_record2(struct perfdata_writer *w, uint32_t type, const void *head,
			   size_t n_head, const void *body, size_t n, struct err *e)
{
	return put_record(w, (struct perfdata_event_header){ .type = type }, head, n_head, body, n,
			  e);
}

int perfdata_write_flush(struct perfdata_writer *w, struct err *e)
{
	int r = writer_flush(w, e);

	if (r == 0 && !w->ended)
		w->whole = w->at;
	return r;
}

int perfdata_write_fd(const struct perfdata_writer *w)
{
	return w->fd;
}

uint64_t perfdata_write_size(const struct perfdata_writer *w)
{
	return w->at + w->waiting;
}

double perfdata_write_ratio(const struct perfdata_writer *w)
{
	return w->packed ? (double)w->plain / (double)w->packed : 1;
}

void perfdata_write_close(struct perfdata_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		writer_flush(w, NULL);
	output_close(&w->out);
#if HAVE_ZSTD
	ZSTD_freeCStream(w->zstd);
#endif
	vec_each (&w->attrs, a) {
		free(a->name);
		free(a->ids);
	}
	vec_each (&w->early, f)
		free(f->data);
	vec_each (&w->late, f)
		free(f->data);
	vec_free(&w->attrs);
	vec_free(&w->early);
	vec_free(&w->late);
	free(w->buffer);
	free(w->path);
	free(w);
}
