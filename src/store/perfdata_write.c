/* SPDX-License-Identifier: MIT */
#include "store/perfdata_write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "config.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

#define BUFFER (256u << 10)
#define ZSTD_INPUT (512u << 10) /* at most this much becomes one compressed record */
#define MAX_FEATURES 256	/* the bitmap has room for */

struct write_attr {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t n_ids;
};

struct written_feature {
	unsigned feature;
	void *data;
	size_t n;
};

struct perfdata_writer {
	int fd;
	bool pipe, started, ended;
	bool hidden; /* it has no name yet */
	char *path;
	uint64_t at;	  /* bytes handed to write() or waiting in the buffer */
	uint64_t waiting; /* bytes of late features */
	uint64_t whole;	  /* up to here all of it is written, and records are whole */
	struct perfdata_header header;
	VEC(struct write_attr) attrs;
	VEC(struct written_feature) early;
	VEC(struct written_feature) late; /* they wait until it is known how many there are */
	uint64_t early_at;		  /* where the contents of the early ones stand */
	struct perfdata_section feature[MAX_FEATURES];
	uint8_t *buffer;
	size_t used;
	void *zstd;
	int zstd_level;
	uint64_t plain, packed;
};

int perfdata_write_failed(const struct perfdata_writer *w, int code, struct err *e)
{
	return err_cannot_write(e, code, w->path);
}

/* To the file, past compression; small pieces are gathered. */
static int put(struct perfdata_writer *w, const void *data, size_t n, struct err *e)
{
	bool direct = n > BUFFER / 2;
	int r = 0;

	/* what waits in the buffer comes first, always */
	if (direct || w->used + n > BUFFER) {
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

static int flush_buffer(struct perfdata_writer *w, struct err *e)
{
	int r = file_write_all(w->fd, w->buffer, w->used);

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
	struct perfdata_writer *w;
	bool hidden = false;
	int fd = to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			   : file_open_hidden(o->path, 0600, &hidden);

	if (fd < 0)
		return err_cannot_write(e, to_stdout ? errno : -fd, o->path);
	if (o->zstd_level && !HAVE_ZSTD) {
		close(fd);
		err_set(e, EOPNOTSUPP, "this kymo was built without zstd");
		return err_hint(e, "leave out -z, or build with libzstd-dev installed");
	}
	w = mem_alloc(sizeof(*w));
	w->fd = fd;
	w->hidden = hidden;
	w->pipe = o->pipe;
	w->path = mem_strdup(to_stdout ? "standard output" : o->path);
	w->buffer = mem_alloc(BUFFER);
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

void perfdata_write_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
			 const char *name, const uint64_t *ids, size_t n)
{
	struct write_attr *a = vec_add(&w->attrs);

	a->attr = *attr;
	a->attr.size = sizeof(*attr);
	a->name = mem_strdup(name);
	a->ids = mem_dup(ids, n * sizeof(*ids));
	a->n_ids = n;
}

/* { attr, ids } as a record; the name follows as an update. */
static int put_attr_record(struct perfdata_writer *w, const struct write_attr *a, struct err *e)
{
	size_t n = sizeof(a->attr) + a->n_ids * sizeof(*a->ids);
	AUTO_FREE uint8_t *body = mem_alloc(n);
	struct {
		uint64_t type, id;
		char name[512];
	} update = { .type = PERFDATA_UPDATE_NAME, .id = a->n_ids ? a->ids[0] : 0 };
	int r;

	memcpy(body, &a->attr, sizeof(a->attr));
	memcpy(body + sizeof(a->attr), a->ids, a->n_ids * sizeof(*a->ids));
	r = perfdata_write_record(w, PERFDATA_HEADER_ATTR, 0, body, n, e);
	if (r < 0 || !a->name || !a->n_ids)
		return r;
	snprintf(update.name, sizeof(update.name), "%s", a->name);
	return perfdata_write_record(w, PERFDATA_EVENT_UPDATE, 0, &update,
				     offsetof(__typeof__(update), name) + strlen(update.name) + 1,
				     e);
}

void perfdata_write_early(struct perfdata_writer *w, unsigned feature, const void *data, size_t n)
{
	struct written_feature f = { feature, mem_dup(data, n), n };

	vec_push(&w->early, f);
}

/* In stream form the formats come behind a record that says how long they are. */
static int put_formats(struct perfdata_writer *w, const struct written_feature *f, struct err *e)
{
	static const uint8_t zero[8];
	uint32_t size = (uint32_t)((f->n + 7) & ~(size_t)7);
	int r = perfdata_write_record(w, PERFDATA_HEADER_TRACING_DATA, 0, &size, sizeof(size), e);

	if (r == 0)
		r = put(w, f->data, f->n, e);
	return r == 0 ? put(w, zero, -f->n & 7, e) : r;
}

static int start_pipe(struct perfdata_writer *w, struct err *e)
{
	uint64_t head[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_SIZE };
	int r = put(w, head, sizeof(head), e);

	w->started = true;
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

/* And how much room its contents take: each begins at a multiple of 4. */
static uint64_t early_room(const struct written_feature *f)
{
	return ((uint64_t)early_entry(f).size + 3) & ~(uint64_t)3;
}

/* How long all of it is, the data behind it at a multiple of 8. */
static uint64_t early_size(const struct perfdata_writer *w)
{
	uint64_t n = 2 * sizeof(uint64_t) + w->early.n * sizeof(struct perfdata_early);

	vec_each (&w->early, f)
		n += early_room(f);
	return (n + 7) & ~(uint64_t)7;
}

/* Magic, number, table, contents. */
static int put_early(struct perfdata_writer *w, struct err *e)
{
	static const uint8_t zero[sizeof(struct perfdata_section)];
	uint64_t head[2] = { PERFDATA_EARLY_MAGIC, w->early.n }, end = w->at + early_size(w);
	int r = put(w, head, sizeof(head), e);

	vec_each (&w->early, f) {
		struct perfdata_early entry = early_entry(f);

		if (r == 0)
			r = put(w, &entry, sizeof(entry), e);
	}
	w->early_at = w->at;
	vec_each (&w->early, f) {
		if (f->n)
			w->feature[f->feature] = (struct perfdata_section){ w->at, f->n };
		if (r == 0)
			r = put(w, f->data, f->n, e);
		if (r == 0)
			r = put(w, zero, early_room(f) - f->n, e);
	}
	return r == 0 ? put(w, zero, end - w->at, e) : r;
}

static int start_file(struct perfdata_writer *w, struct err *e)
{
	struct perfdata_header *h = &w->header;
	uint64_t ids_at = sizeof(*h);
	int r;

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
	r = put(w, h, sizeof(*h), e);
	vec_each (&w->attrs, a)
		if (r == 0)
			r = put(w, a->ids, a->n_ids * sizeof(*a->ids), e);
	vec_each (&w->attrs, a) {
		struct perfdata_section ids = { ids_at, a->n_ids * sizeof(*a->ids) };

		if (r == 0)
			r = put(w, &a->attr, sizeof(a->attr), e);
		if (r == 0)
			r = put(w, &ids, sizeof(ids), e);
		ids_at += ids.size;
	}
	if (r == 0)
		r = put_early(w, e);
	w->started = true;
	return r;
}

/* Whoever finds the file finds in it what is needed to read what comes. */
int perfdata_write_start(struct perfdata_writer *w, struct err *e)
{
	int r = w->pipe ? start_pipe(w, e) : start_file(w, e);

	if (r == 0 && (!w->pipe || w->hidden))
		r = perfdata_write_flush(w, e);
	if (r < 0 || !w->hidden)
		return r;
	w->hidden = false;
	r = file_publish(w->fd, w->path);
	return r < 0 ? perfdata_write_failed(w, -r, e) : 0;
}

#if HAVE_ZSTD
/* A COMPRESSED record holds at most 64 KiB; one stream runs through all of them. */
static int put_packed(struct perfdata_writer *w, const uint8_t *data, size_t n, struct err *e)
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
				if (put(w, out, h.size, e) < 0)
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
		return put_packed(w, data, n, e);
#endif
	return put(w, data, n, e);
}

int perfdata_write_room(struct perfdata_writer *w, uint64_t n, uint64_t *at, struct err *e)
{
	int r = flush_buffer(w, e);

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

int perfdata_write_record(struct perfdata_writer *w, uint32_t type, uint16_t misc, const void *body,
			  size_t n, struct err *e)
{
	static const uint8_t zero[8];
	size_t pad = -n & 7;
	struct perfdata_event_header h = { type, misc, (uint16_t)(sizeof(h) + n + pad) };
	int r;

	if (sizeof(h) + n + pad > UINT16_MAX)
		return err_set(e, E2BIG, "a record of %zu bytes does not fit the format", n);
	r = put(w, &h, sizeof(h), e);
	if (r == 0)
		r = put(w, body, n, e);
	return r == 0 ? put(w, zero, pad, e) : r;
}

int perfdata_write_flush(struct perfdata_writer *w, struct err *e)
{
	int r = flush_buffer(w, e);

	if (r == 0 && !w->ended)
		w->whole = w->at;
	return r;
}

static int put_header(struct perfdata_writer *w, struct err *e)
{
	if (pwrite(w->fd, &w->header, sizeof(w->header), 0) != sizeof(w->header))
		return perfdata_write_failed(w, errno ? errno : EIO, e);
	return 0;
}

int perfdata_write_end_data(struct perfdata_writer *w, struct err *e)
{
	int r = perfdata_write_flush(w, e);

	if (r < 0 || w->pipe || w->ended)
		return r;
	w->header.data.size = w->at - w->header.data.offset;
	w->ended = true;
	return put_header(w, e);
}

/* In stream form: a record with the feature's number in front. */
static int put_feature_record(struct perfdata_writer *w, unsigned feature, const void *data,
			      size_t n, struct err *e)
{
	AUTO_FREE uint8_t *body = mem_alloc(n + 8);
	uint64_t number = feature;

	/* too large for a record, or of a kind that makes perf give up: readers do without */
	if (n + 32 > UINT16_MAX || feature >= PERFDATA_FEATURE_END)
		return 0;
	memcpy(body, &number, 8);
	if (n)
		memcpy(body + 8, data, n);
	return perfdata_write_record(w, PERFDATA_HEADER_FEATURE, 0, body, n + 8, e);
}

int perfdata_write_feature(struct perfdata_writer *w, unsigned feature, const void *data, size_t n,
			   struct err *e)
{
	int r = 0;

	if (w->pipe)
		return put_feature_record(w, feature, data, n, e);
	if (!w->ended)
		r = perfdata_write_end_data(w, e);
	if (r < 0)
		return r;
	vec_push(&w->late, ((struct written_feature){ feature, mem_dup(data, n), n }));
	w->waiting += n;
	return 0;
}

/* Those that perf does not know are only in the table before the data, where room was left. */
static int write_own(struct perfdata_writer *w, struct err *e)
{
	uint64_t at = w->early_at;

	vec_each (&w->early, f) {
		const struct perfdata_section *s = &w->feature[f->feature];

		if (!f->n && pwrite(w->fd, s, sizeof(*s), (off_t)at) != sizeof(*s))
			return perfdata_write_failed(w, errno ? errno : EIO, e);
		at += early_room(f);
	}
	return 0;
}

/* Only now are the features there for perf: the header's bits say so. */
static int write_sections(struct perfdata_writer *w, struct err *e)
{
	struct perfdata_section table[PERFDATA_FEATURE_END];
	size_t n = 0;
	uint64_t at = w->header.data.offset + w->header.data.size;

	if (write_own(w, e) < 0)
		return -1;
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		if (w->feature[f].offset) {
			table[n++] = w->feature[f];
			w->header.features[f / 64] |= 1ull << (f % 64);
		}
	if (n &&
	    pwrite(w->fd, table, n * sizeof(*table), (off_t)at) != (ssize_t)(n * sizeof(*table)))
		return perfdata_write_failed(w, errno ? errno : EIO, e);
	return put_header(w, e);
}

/* Room for the table of sections, which comes right after the data, and what comes behind it. */
static int put_late(struct perfdata_writer *w, struct err *e)
{
	static const struct perfdata_section none[PERFDATA_FEATURE_END];
	bool there[PERFDATA_FEATURE_END] = { 0 };
	size_t n = 0;
	int r;

	vec_each (&w->late, f)
		if (f->feature < PERFDATA_FEATURE_END)
			there[f->feature] = true;
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		n += there[f] || w->feature[f].offset;
	r = put(w, none, n * sizeof(*none), e);
	vec_each (&w->late, f) {
		w->feature[f->feature] = (struct perfdata_section){ w->at, f->n };
		if (r == 0)
			r = put(w, f->data, f->n, e);
	}
	w->waiting = 0;
	return r == 0 ? flush_buffer(w, e) : r;
}

int perfdata_write_finish(struct perfdata_writer *w, struct err *e)
{
	int r = perfdata_write_end_data(w, e);

	if (r == 0 && !w->pipe)
		r = put_late(w, e);
	if (r < 0 && !w->pipe) {
		perfdata_write_abandon(w);
		return r;
	}
	if (r == 0 && !w->pipe)
		r = write_sections(w, e);
	if (r == 0 && close(w->fd) < 0)
		r = perfdata_write_failed(w, errno, e);
	else if (r < 0)
		close(w->fd);
	w->fd = -1;
	perfdata_write_close(w);
	return r;
}

/* Where the last whole record ends, from a place where one begins, and not after limit. */
static uint64_t last_record(const struct perfdata_writer *w, uint64_t from, uint64_t limit)
{
	AUTO_FREE uint8_t *buf = mem_alloc(BUFFER);
	size_t have = 0;
	ssize_t n;

	while ((n = pread(w->fd, buf + have, BUFFER - have, (off_t)(from + have))) > 0) {
		size_t at = 0;

		have += (size_t)n;
		while (have - at >= sizeof(struct perfdata_event_header)) {
			struct perfdata_event_header h;

			memcpy(&h, buf + at, sizeof(h));
			if (h.size < sizeof(h) || from + at + h.size > limit)
				return from + at;
			if (h.size > have - at)
				break;
			at += h.size;
		}
		from += at;
		have -= at;
		memmove(buf, buf + at, have);
	}
	return from;
}

/*
 * The data ends with the last whole record that leaves room for the table of
 * features: the disk may be full, so nothing is written where nothing is yet.
 * Features that stood after the data are forgotten, those before it are there.
 */
void perfdata_write_abandon(struct perfdata_writer *w)
{
	struct perfdata_section *data = &w->header.data;
	uint64_t table = 0, end;
	struct stat st;

	w->used = 0;
	if (w->fd < 0 || w->pipe || !w->whole || fstat(w->fd, &st) < 0) {
		perfdata_write_close(w);
		return;
	}
	for (unsigned f = 0; f < MAX_FEATURES; f++) {
		if (w->feature[f].offset >= data->offset)
			w->feature[f] = (struct perfdata_section){ 0 };
		table += f < PERFDATA_FEATURE_END && w->feature[f].offset ? sizeof(w->feature[f])
									  : 0;
	}
	end = (uint64_t)st.st_size;
	if (w->ended)
		end = w->whole + table; /* it was complete */
	else if (end >= data->offset + table)
		end = last_record(w, w->whole + table <= end ? w->whole : data->offset,
				  end - table) +
		      table;
	data->size = end >= data->offset + table ? end - table - data->offset : 0;
	if (!data->size || write_sections(w, NULL) < 0 || ftruncate(w->fd, (off_t)end) < 0) {
		memset(w->header.features, 0, sizeof(w->header.features));
		put_header(w, NULL);
	}
	perfdata_write_close(w);
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
	if (w->fd >= 0) {
		flush_buffer(w, NULL);
		close(w->fd);
	}
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
