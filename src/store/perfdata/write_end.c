/* SPDX-License-Identifier: MIT */
/*
 * How a recording ends: features after the data and their table, or, when it cannot go on, what
 * was written up to the last whole record.
 */
#include <string.h>
#include <sys/stat.h>

#include "store/perfdata/write_impl.h"

/* Over what is there. */
static int put_over(struct perfdata_writer *w, const void *data, size_t n, uint64_t at,
		    struct err *e)
{
	int r = perfdata_write_at(w, at, data, n);

	return r < 0 ? perfdata_write_failed(w, -r, e) : 0;
}

static int put_header(struct perfdata_writer *w, struct err *e)
{
	return put_over(w, &w->header, sizeof(w->header), 0, e);
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
	/* too large for a record, or of a kind that makes perf give up: readers do without */
	if (n + 32 > UINT16_MAX || feature >= PERFDATA_FEATURE_END)
		return 0;
	return perfdata_write_record2(w, PERFDATA_HEADER_FEATURE, &(uint64_t){ feature }, 8, data,
				      n, e);
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

		if (!f->n && put_over(w, s, sizeof(*s), at, e) < 0)
			return -1;
		at += writer_early_room(f);
	}
	return 0;
}

void perfdata_write_lost(struct perfdata_writer *w, uint64_t lost)
{
	w->outcome.lost = lost;
}

/* In its place before the data, which is there however full the disk is. */
static int write_outcome(struct perfdata_writer *w, struct err *e)
{
	const struct perfdata_section *s = &w->feature[PERFDATA_ENDED];

	return (w->outcome.why || w->outcome.lost) && s->size == sizeof(w->outcome)
		       ? put_over(w, &w->outcome, sizeof(w->outcome), s->offset, e)
		       : 0;
}

/* Only now are the features there for perf: the header's bits say so. */
static int write_sections(struct perfdata_writer *w, struct err *e)
{
	struct perfdata_section table[PERFDATA_FEATURE_END];
	size_t n = 0;
	uint64_t at = w->header.data.offset + w->header.data.size;

	if (write_own(w, e) < 0 || write_outcome(w, e) < 0)
		return -1;
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		if (w->feature[f].offset) {
			table[n++] = w->feature[f];
			w->header.features[f / 64] |= 1ull << (f % 64);
		}
	return put_over(w, table, n * sizeof(*table), at, e) < 0 ? -1 : put_header(w, e);
}

/* Room for the table of sections, which comes right after the data, and what comes behind it. */
static int put_late(struct perfdata_writer *w, struct err *e)
{
	static const struct perfdata_section none[PERFDATA_FEATURE_END];
	bool there[PERFDATA_FEATURE_END] = { 0 };
	size_t n = 0;

	vec_each (&w->late, f)
		if (f->feature < PERFDATA_FEATURE_END)
			there[f->feature] = true;
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		n += there[f] || w->feature[f].offset;
	writer_put(w, none, n * sizeof(*none), e);
	vec_each (&w->late, f) {
		w->feature[f->feature] = (struct perfdata_section){ w->at, f->n };
		writer_put(w, f->data, f->n, e);
	}
	w->waiting = 0;
	return writer_flush(w, e);
}

int perfdata_write_finish(struct perfdata_writer *w, struct err *e)
{
	int r = perfdata_write_end_data(w, e), closed;

	if (r == 0 && !w->pipe)
		r = put_late(w, e);
	if (r < 0 && !w->pipe) {
		perfdata_write_abandon(w);
		return r;
	}
	if (r == 0 && !w->pipe)
		r = write_sections(w, e);
	closed = output_close(&w->out);
	if (r == 0 && closed < 0)
		r = perfdata_write_failed(w, -closed, e);
	w->fd = -1;
	perfdata_write_close(w);
	return r;
}

/* Where the last whole record ends, from a place where one begins, and not after limit. */
static uint64_t last_record(const struct perfdata_writer *w, uint64_t from, uint64_t limit)
{
	AUTO_FREE uint8_t *buf = mem_alloc(WRITER_BUFFER);
	size_t have = 0;
	ssize_t n;

	while ((n = pread(w->fd, buf + have, WRITER_BUFFER - have, (off_t)(from + have))) > 0) {
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
	for (unsigned f = 0; f < WRITER_FEATURES; f++) {
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
