/* SPDX-License-Identifier: MIT */
/*
 * Pass 1: walk every record once.
 *
 * Samples are only counted and their times looked at; side-band records are
 * remembered for side_apply(); what describes the recording itself (pipe mode's
 * attrs, features, names) is taken in at once. The records are cut into chunks,
 * runs of whole records in memory, which pass 2 reads in any order.
 *
 * Where a header makes no sense the walk goes on at the next FINISHED_ROUND
 * record, whose eight bytes are the same in every file; what lies between is
 * counted as cut.
 */
#include "store/perfdata/impl.h"

/* What was read is given back to the kernel, and comes again when it is looked at. */
static bool is_dropped(const struct scan *s)
{
	const struct perfdata_file *f = &s->pd->files.data[s->file];

	return !s->unpacked && f->mapped && !f->stays;
}

static void chunk_close(struct scan *s, const uint8_t *end)
{
	struct perfdata *pd = s->pd;
	struct chunk *c = &pd->open;

	if (c->start && end > c->start) {
		c->end = end;
		if (c->first > c->last)
			c->first = c->last = 0;
		vec_push(&pd->chunks, *c);
		if (is_dropped(s))
			mem_drop(c->start, (size_t)(end - c->start));
	} else {
		free(c->values);
	}
	*c = (struct chunk){ 0 };
}

static void chunk_open(struct scan *s, const uint8_t *p)
{
	struct perfdata *pd = s->pd;

	pd->open = (struct chunk){ .start = p,
				   .file = s->file,
				   .unpacked = s->unpacked,
				   .position = s->unpacked
						       ? s->base_position
						       : s->base_position + (uint64_t)(p - s->base),
				   .sorted = true,
				   .first = UINT64_MAX,
				   .flushed = pd->flushed };
	if (pd->any_read && pd->readings.value.n) {
		pd->open.n_values = pd->readings.value.n;
		pd->open.values =
			mem_dup(pd->readings.value.data, pd->readings.value.n * sizeof(uint64_t));
	}
}

static inline void chunk_time(struct perfdata *pd, uint64_t time)
{
	struct chunk *c = &pd->open;

	/* A record without a time comes where the reading of the file has got to. */
	if (!time)
		time = c->flushed;
	if (time < c->first)
		c->first = time;
	if (time >= c->last)
		c->last = time;
	else
		c->sorted = false;
	if (time > pd->max_time)
		pd->max_time = time;
}

static void scan_sample(struct scan *s, const uint8_t *p, struct perfdata_event_header h)
{
	struct perfdata *pd = s->pd;
	struct trace *tr = &pd->trace;
	uint64_t time = 0;

	if (__builtin_expect(pd->layouts_stale, 0))
		attr_layouts(pd);
	if (__builtin_expect(!pd->layouts.n, 0)) {
		tr->losses.bad_records++;
		return;
	}
	if (pd->mixed_time || pd->swap) {
		time = record_time(&s->d, p, h);
	} else if (pd->layouts.data[0].time) {
		if (h.size < pd->layouts.data[0].time + 8u)
			return;
		memcpy(&time, p + pd->layouts.data[0].time, 8);
	}
	pd->open.n_samples++;
	chunk_time(pd, time);
	pd->last_sample_time = time;
	if (time && (time < tr->first_time || !tr->first_time))
		tr->first_time = time;
	if (time > tr->last_time)
		tr->last_time = time;
	if (pd->any_read && sample_decode(&s->d, p, h))
		sample_deliver(&s->d, NULL, NULL);
}

static void scan_side(struct scan *s, const uint8_t *p, struct perfdata_event_header h)
{
	struct perfdata *pd = s->pd;
	struct side_record side = { .time = record_time(&s->d, p, h), .at = p };
	bool timed = pd->layouts.n && pd->layouts.data[0].tail_time;

	chunk_time(pd, side.time);
	/* Old recordings have times only in samples: then the place in the file has to do. */
	if (!side.time && !timed)
		side.time = pd->last_sample_time;
	switch (h.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP: break;
	default: return;
	}
	if (is_dropped(s))
		side.at = arena_dup(&pd->side_copies, p, h.size);
	vec_push(&pd->sides, side);
}

static void count_losses(struct scan *s, const uint8_t *p, struct perfdata_event_header h)
{
	struct trace_losses *losses = &s->pd->trace.losses;

	if (h.type == PERF_RECORD_THROTTLE) {
		losses->throttled++;
		return;
	}
	side_decode(&s->d, p, h);
	if (h.type == PERF_RECORD_LOST) {
		losses->lost_records++;
		losses->lost_events += s->d.side.count;
	} else if (h.type == PERF_RECORD_LOST_SAMPLES) {
		losses->lost_samples += s->d.side.count;
	}
}

static void unknown_record(struct scan *s, uint32_t type)
{
	s->pd->trace.losses.unknown_records++;
	*map_at(&s->pd->unknown_types, type) += 1;
}

static void scan_kernel(struct scan *s, const uint8_t *p, struct perfdata_event_header h)
{
	if (s->pd->layouts_stale)
		attr_layouts(s->pd);
	if (h.type == 0 || h.type >= PERFDATA_KERNEL_RECORD_END) {
		unknown_record(s, h.type);
		return;
	}
	if (h.type == PERF_RECORD_LOST || h.type == PERF_RECORD_LOST_SAMPLES ||
	    h.type == PERF_RECORD_THROTTLE)
		count_losses(s, p, h);
	scan_side(s, p, h);
}

/* Attr and ids as one record: the attr says its own size. */
static int scan_attr(struct scan *s, const uint8_t *p, uint32_t size)
{
	uint32_t attr_size;

	if (size < 8 + PERF_ATTR_SIZE_VER0)
		return 0;
	attr_size = file_u32(s->pd, p + 12);
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > size - 8 || attr_size % 8)
		return 0;
	return attr_add(s->pd, p + 8, attr_size, p + 8 + attr_size, (size - 8 - attr_size) / 8,
			s->e);
}

/* Numbers are words, and the other endian's still have to be turned. */
static void scan_number(struct perfdata *pd, uint64_t what, uint64_t type, const char *data,
			size_t room)
{
	uint64_t word[2] = { 0 };

	memcpy(word, data, room < sizeof(word) ? room : sizeof(word));
	if (pd->swap)
		swap_words(word, sizeof(word));
	if (what == PERFDATA_UPDATE_SCALE) {
		memcpy(&pd->types.data[type].scale, word, 8);
	} else if (what == PERFDATA_UPDATE_USAGE && room >= sizeof(word)) {
		pd->user_ns = word[0];
		pd->sys_ns = word[1];
		pd->has_usage = true;
	}
}

/* One thing an event is told apart by: its name, unit or scale. */
static void scan_update(struct scan *s, const uint8_t *p)
{
	const struct {
		struct perfdata_event_header h;
		uint64_t what, id;
		char data[];
	} *r = (const void *)decoder_record(&s->d, p);
	struct perfdata *pd = s->pd;
	const uint64_t *type;
	size_t room;

	if (r->h.size <= sizeof(*r) || !(type = map_find(&pd->ids, r->id)))
		return;
	room = r->h.size - sizeof(*r);
	if (r->what == PERFDATA_UPDATE_NAME)
		pd->types.data[*type - 1].name = arena_strndup(&pd->trace.arena, r->data, room);
	else if (r->what == PERFDATA_UPDATE_UNIT)
		pd->types.data[*type - 1].unit = arena_strndup(&pd->trace.arena, r->data, room);
	else if (r->what == PERFDATA_UPDATE_CGROUP)
		pd->types.data[*type - 1].cgroup = arena_strndup(&pd->trace.arena, r->data, room);
	else if (room >= 8)
		scan_number(pd, r->what, *type - 1, r->data, room);
}

static void scan_feature(struct scan *s, const uint8_t *p, uint32_t size)
{
	uint64_t id;

	if (size < 16)
		return;
	id = file_u64(s->pd, p + 8);
	if (id < ARRAY_SIZE(s->pd->feature))
		s->pd->feature[id] =
			(struct section){ .data = p + 16, .size = size - 16, .present = true };
}

/* How many bytes belong to a record but follow it. */
uint64_t scan_bytes_after(const struct perfdata *pd, const uint8_t *p,
			  struct perfdata_event_header h)
{
	if (h.type == PERFDATA_AUXTRACE && h.size >= 16)
		return file_u64(pd, p + 8);
	if (h.type == PERFDATA_HEADER_TRACING_DATA && h.size >= 12)
		return ((uint64_t)file_u32(pd, p + 8) + 7) & ~7ull;
	return 0;
}

/* perf's own records. *after is what follows p and is not a record. */
static int scan_user(struct scan *s, const uint8_t *p, struct perfdata_event_header h,
		     const uint8_t *end, uint64_t *after)
{
	struct perfdata *pd = s->pd;
	size_t zip = h.type == PERFDATA_COMPRESSED2 ? 16 : 8, n;
	uint64_t position =
		s->unpacked ? s->base_position : s->base_position + (uint64_t)(p - s->base);

	switch (h.type) {
	case PERFDATA_FINISHED_ROUND:
		pd->flushed = pd->next_flush;
		pd->next_flush = pd->max_time;
		return 0;
	case PERFDATA_HEADER_ATTR: return scan_attr(s, p, h.size);
	case PERFDATA_EVENT_UPDATE: scan_update(s, p); return 0;
	case PERFDATA_STAT: pd->has_counts = true; return 0;
	case PERFDATA_HEADER_FEATURE: scan_feature(s, p, h.size); return 0;
	case PERFDATA_HEADER_BUILD_ID: feature_build_id(pd, p, h.size); return 0;
	case PERFDATA_AUXTRACE:
	case PERFDATA_HEADER_TRACING_DATA:
		*after = scan_bytes_after(pd, p, h);
		chunk_close(s, p);
		if (h.type == PERFDATA_HEADER_TRACING_DATA)
			tracing_parse(pd, p + h.size,
				      *after < (uint64_t)(end - p) - h.size
					      ? *after
					      : (size_t)(end - p) - h.size);
		return 0;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		if (s->unpacked || h.size < zip) {
			pd->trace.losses.bad_records++;
			return 0;
		}
		chunk_close(s, p);
		n = h.size - zip;
		if (h.type == PERFDATA_COMPRESSED2) {
			uint64_t said = file_u64(pd, p + 8);

			n = said < n ? (size_t)said : n;
		}
		return unzip_record(pd, p + zip, n, s->file, position, s->e);
	default:
		if (h.type >= PERFDATA_RECORD_END)
			unknown_record(s, h.type);
		return 0;
	}
}

/*
 * Samples in a row, which most records are: until something else comes, or the chunk is full.
 * Sums stay in registers; -1 and 0 are what chunk_open() began with.
 */
static const uint8_t *scan_samples(struct scan *s, const uint8_t *p, const uint8_t *end)
{
	struct perfdata *pd = s->pd;
	struct chunk *c = &pd->open;
	const uint8_t *full = c->start + CHUNK_BYTES;
	uint32_t at = pd->layouts.data[0].time, n = 0;
	uint64_t first = c->first, last = c->last, low = UINT64_MAX, high = 0, time = 0;
	uintptr_t unaligned = 0;
	bool sorted = c->sorted;

	while (p < full && end - p >= 8) {
		struct perfdata_event_header h;
		uint64_t t;

		memcpy(&h, p, sizeof(h));
		if (h.type != PERF_RECORD_SAMPLE || h.size < at + 8 || h.size > end - p)
			break;
		memcpy(&t, p + at, 8);
		if (!t)
			break;
		time = t;
		/* records with copies of stacks are far from each other: the next but one is asked
		 * for while this one is looked at */
		__builtin_prefetch(p + h.size * 2u);
		unaligned |= (uintptr_t)p;
		low = time < low ? time : low;
		high = time > high ? time : high;
		sorted &= time >= last;
		last = time > last ? time : last;
		p += h.size;
		n++;
	}
	if (!n)
		return p;
	c->n_samples += n;
	c->first = low < first ? low : first;
	c->last = last;
	c->sorted = sorted;
	pd->unaligned |= unaligned & 7;
	pd->last_sample_time = time;
	pd->max_time = last > pd->max_time ? last : pd->max_time;
	if (low < pd->trace.first_time || !pd->trace.first_time)
		pd->trace.first_time = low;
	/* not last: other records may be later than all samples */
	if (high > pd->trace.last_time)
		pd->trace.last_time = high;
	return p;
}

/* Can samples be looked at without more ado? */
static bool quick(const struct perfdata *pd)
{
	return !pd->swap && !pd->any_read && !pd->mixed_time && !pd->layouts_stale &&
	       pd->layouts.n && pd->layouts.data[0].time;
}

/* What only who walks all records in order can take in. */
static bool is_hard(struct scan *s, const uint8_t *p, struct perfdata_event_header h)
{
	if (h.type >= 64)
		return h.type != PERFDATA_FINISHED_ROUND;
	return h.type == 0 || h.type >= PERFDATA_KERNEL_RECORD_END || !record_time(&s->d, p, h);
}

int scan_run(struct scan *s, const uint8_t **at, const uint8_t *stop, const uint8_t *end)
{
	struct perfdata *pd = s->pd;
	const uint8_t *p = *at;
	int r = 0;

	while (p < stop && end - p >= 8 && r >= 0) {
		struct perfdata_event_header h = record_header(pd, p);
		uint64_t after = 0;

		if (h.size < 8 || h.size > end - p || (s->part && is_hard(s, p, h)))
			break;
		if (!pd->open.start)
			chunk_open(s, p);
		if (h.type == PERF_RECORD_SAMPLE && quick(pd)) {
			const uint8_t *next = scan_samples(s, p, stop);

			if (next > p) {
				p = next;
				if (p - pd->open.start >= CHUNK_BYTES)
					chunk_close(s, p);
				continue;
			}
		}
		pd->unaligned |= (uintptr_t)p & 7;
		if (h.type == PERF_RECORD_SAMPLE)
			scan_sample(s, p, h);
		else if (h.type < 64)
			scan_kernel(s, p, h);
		else
			r = scan_user(s, p, h, end, &after);
		p += h.size;
		if (after > (uint64_t)(end - p))
			break;
		p += after;
		if (pd->open.start && p - pd->open.start >= CHUNK_BYTES)
			chunk_close(s, p);
	}
	chunk_close(s, p);
	*at = p;
	return r;
}

int scan_unpacked(struct perfdata *pd, const uint8_t **start, const uint8_t *end, uint32_t file,
		  uint64_t position, struct err *e)
{
	struct scan s = { .pd = pd,
			  .d = { .pd = pd, .readings = &pd->readings },
			  .file = file,
			  .base = *start,
			  .base_position = position,
			  .unpacked = true,
			  .e = e };
	int r;

	r = scan_run(&s, start, end, end);
	decoder_free(&s.d);
	return r;
}

const uint8_t *scan_next_round(const struct perfdata *pd, const uint8_t *p, const uint8_t *end)
{
	struct perfdata_event_header h = { .type = PERFDATA_FINISHED_ROUND, .size = 8 };

	if (pd->swap) {
		h.type = bswap_32(h.type);
		h.size = bswap_16(h.size);
	}
	return memmem(p, (size_t)(end - p), &h, sizeof(h));
}

static int scan_file(struct perfdata *pd, uint32_t file, uint64_t offset, uint64_t size,
		     struct err *e)
{
	const struct perfdata_file *f = &pd->files.data[file];
	struct scan s = { .pd = pd,
			  .d = { .pd = pd, .readings = &pd->readings },
			  .file = file,
			  .base = f->data,
			  .e = e };
	const uint8_t *p = f->data + offset, *end = p + size;
	struct trace_losses *losses = &pd->trace.losses;
	int r;

	r = scan_parts(&s, &p, end);
	while (r >= 0) {
		const uint8_t *stop, *next;

		r = scan_run(&s, &p, end, end);
		if (r < 0 || p == end)
			break;
		stop = p;
		next = scan_next_round(pd, p, end);
		p = next ? next : end;
		losses->cut_bytes += (uint64_t)(p - stop);
		losses->bad_records += next != NULL;
		losses->cut = losses->cut || !next;
		if (next)
			perfdata_note(pd, "damaged at byte %zu, read on at byte %zu",
				      (size_t)(stop - f->data), (size_t)(p - f->data));
		else
			perfdata_note(pd, "cut short: the last whole record ends at byte %zu",
				      (size_t)(stop - f->data));
		if (!next)
			break;
	}
	decoder_free(&s.d);
	return r < 0 ? r : 0;
}

void scan_range(const struct perfdata *pd, uint64_t *offset, uint64_t *size)
{
	uint64_t all = pd->files.data[0].size;

	*offset = pd->pipe ? PERFDATA_PIPE_SIZE : pd->header.data.offset;
	if (*offset > all)
		*offset = all;
	*size = pd->pipe ? all : pd->header.data.size;
	/* 0: the recorder never came to write the size. */
	if (*size > all - *offset || *size == 0)
		*size = all - *offset;
}

/*
 * Giving back what was read bounds what a report of a large file needs. But what is mapped is the
 * page cache's memory, and where samples are as large as copies of stacks, mapping it all again
 * for pass 2 costs as much as pass 1 itself.
 */
#define SMALL_FILE (8u << 20)
static bool may_stay(const struct perfdata *pd, size_t size)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (size <= SMALL_FILE)
		return true;
	vec_each (&pd->layouts, l)
		if (l->sample_type & PERF_SAMPLE_STACK_USER)
			return size <= memory / 16;
	return false;
}

int scan_all(struct perfdata *pd, struct err *e)
{
	uint64_t offset, size, said = pd->header.data.size;
	int r;

	scan_range(pd, &offset, &size);
	if (!pd->pipe && said == 0 && size) {
		pd->trace.losses.cut = true;
		perfdata_note(pd, "the recorder was killed; read to the end of the file");
	}
	if (!pd->pipe && said > size) {
		pd->trace.losses.cut = true;
		pd->trace.losses.cut_bytes += said - size;
		perfdata_note(pd, "cut short: %llu bytes of data are missing",
			      (unsigned long long)(said - size));
	}
	vec_each (&pd->files, f)
		f->stays = may_stay(pd, f->size);
	r = scan_file(pd, 0, offset, size, e);
	for (size_t i = 1; i < pd->files.n && r >= 0; i++)
		r = scan_file(pd, (uint32_t)i, 0, pd->files.data[i].size, e);
	if (r >= 0 && pd->layouts_stale)
		attr_layouts(pd);
	return r;
}
