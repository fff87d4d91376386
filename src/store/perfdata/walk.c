/* SPDX-License-Identifier: MIT */
/* All records as they stand in the files, for raw dumps. */
#include "store/perfdata/impl.h"

struct perfdata_walk {
	struct decoder d;
};

struct perfdata_walk *perfdata_walk_new(struct source *s)
{
	struct perfdata_walk *w = mem_alloc(sizeof(*w));

	w->d.pd = s->impl;
	return w;
}

void perfdata_walk_free(struct perfdata_walk *w)
{
	if (!w)
		return;
	decoder_free(&w->d);
	free(w);
}

/* What came out of the compressed record at position. */
static int each_unpacked(struct perfdata_walk *w, size_t *chunk, uint32_t file, uint64_t position,
			 perfdata_view_fn *fn, void *ctx)
{
	struct perfdata *pd = w->d.pd;
	const uint8_t *p;
	int r = 0;

	for (; *chunk < pd->chunks.n && r == 0; (*chunk)++) {
		const struct chunk *c = &pd->chunks.data[*chunk];

		if (!c->unpacked || c->file != file || c->position != position)
			break;
		p = c->start;
		record_each (pd, p, h, c->end) {
			struct perfdata_view v = { .raw = p,
						   .header = h,
						   .position = position,
						   .file = pd->files.data[file].name };

			r = fn(ctx, &v);
			if (r)
				break;
		}
	}
	return r;
}

/* Chunks of this stretch that were not unpacked are walked as part of the file. */
static void skip_plain(const struct perfdata *pd, size_t *chunk, uint32_t file, uint64_t position)
{
	while (*chunk < pd->chunks.n) {
		const struct chunk *c = &pd->chunks.data[*chunk];

		if (c->file > file || (c->file == file && c->position >= position))
			break;
		(*chunk)++;
	}
}

static int walk_file(struct perfdata_walk *w, uint32_t file, uint64_t offset, uint64_t size,
		     perfdata_view_fn *fn, void *ctx)
{
	struct perfdata *pd = w->d.pd;
	const struct perfdata_file *f = &pd->files.data[file];
	const uint8_t *p = f->data + offset, *end = p + size;
	size_t chunk = 0;
	int r = 0;

	while (end - p >= 8 && r == 0) {
		struct perfdata_view v = { .raw = p,
					   .header = record_header(pd, p),
					   .position = (uint64_t)(p - f->data),
					   .file = f->name };
		uint64_t after;

		if (v.header.size < 8 || v.header.size > end - p) {
			p = scan_next_round(pd, p, end);
			if (!p)
				break;
			continue;
		}
		after = scan_bytes_after(pd, p, v.header);
		v.after = after > (uint64_t)(end - p) - v.header.size
				  ? (size_t)(end - p) - v.header.size
				  : (size_t)after;
		r = fn(ctx, &v);
		if (r == 0 && (v.header.type == PERFDATA_COMPRESSED ||
			       v.header.type == PERFDATA_COMPRESSED2)) {
			skip_plain(pd, &chunk, file, v.position);
			r = each_unpacked(w, &chunk, file, v.position, fn, ctx);
		}
		p += v.header.size + v.after;
	}
	return r;
}

int perfdata_walk_each(struct perfdata_walk *w, perfdata_view_fn *fn, void *ctx)
{
	struct perfdata *pd = w->d.pd;
	uint64_t offset, size;
	int r;

	scan_range(pd, &offset, &size);
	r = walk_file(w, 0, offset, size, fn, ctx);
	for (size_t i = 1; i < pd->files.n && r == 0; i++)
		r = walk_file(w, (uint32_t)i, 0, pd->files.data[i].size, fn, ctx);
	return r;
}

uint64_t perfdata_walk_time(struct perfdata_walk *w, const struct perfdata_view *v)
{
	return v->header.type < 64 ? record_time(&w->d, v->raw, v->header) : 0;
}

const struct perfdata_event_header *perfdata_walk_record(struct perfdata_walk *w,
							 const struct perfdata_view *v)
{
	return decoder_record(&w->d, v->raw);
}

const struct event *perfdata_walk_event(struct perfdata_walk *w, const struct perfdata_view *v)
{
	if (v->header.type != PERF_RECORD_SAMPLE)
		side_decode(&w->d, v->raw, v->header);
	else if (!sample_decode(&w->d, v->raw, v->header))
		return NULL;
	w->d.ev.position = v->position;
	return &w->d.ev;
}

int perfdata_walk_deliver(struct perfdata_walk *w, event_fn *fn, void *ctx)
{
	return w->d.ev.kind == EVENT_SAMPLE ? sample_deliver(&w->d, fn, ctx) : fn(ctx, &w->d.ev);
}
