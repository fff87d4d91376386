/* SPDX-License-Identifier: MIT */
#include "store/perfdata/inject.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/output.h"
#include "store/perfdata/impl.h"
#include "store/perfdata/write.h"

void perfdata_build_id_entry(struct strbuf *b, uint16_t misc, int32_t pid, const uint8_t *id,
			     size_t n, const char *path)
{
	static const char zero[4];
	size_t len = strlen(path) + 1, padded = (len + 3) & ~(size_t)3;
	uint8_t bytes[24] = { 0 };
	struct perfdata_event_header h = { 0, misc | PERFDATA_MISC_BUILD_ID_SIZE,
					   (uint16_t)(sizeof(h) + 4 + sizeof(bytes) + padded) };

	if (n > 20)
		n = 20;
	memcpy(bytes, id, n);
	bytes[20] = (uint8_t)n;
	strbuf_add(b, (const char *)&h, sizeof(h));
	strbuf_add(b, (const char *)&pid, sizeof(pid));
	strbuf_add(b, (const char *)bytes, sizeof(bytes));
	strbuf_add(b, path, len);
	strbuf_add(b, zero, padded - len);
}

/* --- files --- */

struct table {
	uint64_t at; /* where it stands: right after the data */
	struct perfdata_section section[256];
	size_t n, build_id; /* which of them is the list */
};

/* The table with room for the list, which is entry build_id. *grown: it became longer. */
static bool read_table(const struct perfdata *pd, struct table *t, bool *grown)
{
	const struct perfdata_file *f = &pd->files.data[0];
	uint64_t at = pd->header.data.offset + pd->header.data.size;

	*t = (struct table){ .at = at };
	*grown = false;
	for (unsigned bit = 0; bit < 256; bit++) {
		bool there = pd->header.features[bit / 64] >> bit % 64 & 1;

		if (bit == PERFDATA_BUILD_ID)
			t->build_id = t->n;
		if (bit == PERFDATA_BUILD_ID && !there) {
			t->section[t->n++] = (struct perfdata_section){ 0 };
			*grown = true;
		}
		if (!there)
			continue;
		if (at > f->size || f->size - at < sizeof(*t->section) ||
		    t->n == ARRAY_SIZE(t->section))
			return false;
		memcpy(&t->section[t->n++], f->data + at, sizeof(*t->section));
		at += sizeof(*t->section);
	}
	return true;
}

/* Nothing stands where one more entry of the table would. */
static bool has_room(const struct table *t)
{
	uint64_t end = t->at + t->n * sizeof(*t->section);

	for (size_t i = 0; i < t->n; i++)
		if (i != t->build_id && t->section[i].size && t->section[i].offset >= t->at &&
		    t->section[i].offset < end)
			return false;
	return true;
}

static int write_parts(int fd, const struct perfdata *pd, struct table *t, bool grown,
		       const struct strbuf *entries)
{
	const struct perfdata_file *f = &pd->files.data[0];
	struct perfdata_header h = pd->header;
	size_t bytes = t->n * sizeof(*t->section);
	uint64_t rest = t->at + bytes; /* where in the file goes on what is behind the table */
	int r;

	if (grown && !has_room(t)) {
		rest -= sizeof(*t->section);
		/* all that stood behind it moves */
		for (size_t i = 0; i < t->n; i++)
			if (t->section[i].offset >= t->at)
				t->section[i].offset += sizeof(*t->section);
	}
	if (rest > f->size)
		rest = f->size; /* the table was the last thing in the file */
	t->section[t->build_id] =
		(struct perfdata_section){ t->at + bytes + (f->size - rest), entries->n };
	h.features[PERFDATA_BUILD_ID / 64] |= 1ull << PERFDATA_BUILD_ID % 64;
	r = file_write_all(fd, f->data, t->at);
	if (r == 0)
		r = file_write_all(fd, t->section, bytes);
	if (r == 0)
		r = file_write_all(fd, f->data + rest, f->size - rest);
	if (r == 0)
		r = file_write_all(fd, entries->data, entries->n);
	if (r == 0 && pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
		r = -EIO;
	return r;
}

static int inject_file(const struct perfdata *pd, const struct strbuf *entries, const char *output,
		       struct err *e)
{
	struct output out;
	struct table t;
	bool grown;
	int r, closed;

	if (!pd->header.data.size || pd->header.size < sizeof(struct perfdata_header) ||
	    !read_table(pd, &t, &grown)) {
		err_set(e, EOPNOTSUPP, "the recording was cut short, and has no place for a list");
		return err_hint(e, "kymo reads it as it is");
	}
	r = output_open(&out, output, O_RDWR, e);
	if (r < 0)
		return r;
	r = write_parts(out.fd, pd, &t, grown, entries);
	if (r == 0)
		r = output_publish(&out);
	closed = output_close(&out);
	r = r < 0 ? r : closed;
	return r < 0 ? err_cannot_write(e, -r, output) : 0;
}

/* --- streams --- */

struct stream {
	struct perfdata_writer *w;
	const struct strbuf *entries;
	bool told;
	struct err *e;
};

static int inject_build_ids(struct perfdata_writer *w, const struct strbuf *entries, struct err *e)
{
	const size_t head = sizeof(struct perfdata_event_header);
	int r = 0;

	for (size_t at = 0; at < entries->n && r == 0;) {
		struct perfdata_event_header h;

		memcpy(&h, entries->data + at, sizeof(h));
		r = perfdata_write_record(w, PERFDATA_HEADER_BUILD_ID, h.misc,
					  entries->data + at + head, h.size - head, e);
		at += h.size;
	}
	return r;
}

static int perfdata_inject_tell(struct stream *s)
{
	s->told = true;
	return inject_build_ids(s->w, s->entries, s->e);
}

static int copy_record(void *ctx, const struct perfdata_view *v)
{
	struct stream *s = ctx;
	int r = 0;

	/* the old list goes; what was packed comes unpacked */
	if (v->header.type == PERFDATA_HEADER_BUILD_ID || v->header.type == PERFDATA_COMPRESSED ||
	    v->header.type == PERFDATA_COMPRESSED2)
		return 0;
	if (!s->told && v->header.type < 64)
		r = perfdata_inject_tell(s);
	return r < 0 ? r : perfdata_write_bytes(s->w, v->raw, v->header.size + v->after, s->e);
}

static void inject_heads(const struct perfdata *pd, struct perfdata_writer *w, bool build_ids)
{
	for (size_t i = 0; i < pd->types.n; i++) {
		const struct perfdata_type *t = &pd->types.data[i];

		perfdata_write_event(w, &(struct perfdata_event){
						.name = t->name ? t->name : pd->trace.types[i].name,
						.attr = t->attr,
						.ids = t->ids.data,
						.n_ids = t->ids.n });
	}
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		if (pd->feature[f].present && (build_ids || f != PERFDATA_BUILD_ID) &&
		    f != PERFDATA_COMPRESSED_INFO)
			perfdata_write_early(w, f, pd->feature[f].data, pd->feature[f].size);
}

static int inject_stream(struct source *source, const struct perfdata *pd,
			 const struct strbuf *entries, const char *output, struct err *e)
{
	struct perfdata_write_opts o = { .path = output, .pipe = true };
	struct stream s = { .entries = entries, .e = e };
	struct perfdata_walk *walk;
	int r = perfdata_write_open(&o, &s.w, e);

	if (r < 0)
		return r;
	if (!pd->pipe)
		inject_heads(pd, s.w, false);
	r = perfdata_write_start(s.w, e);
	walk = perfdata_walk_new(source);
	if (r == 0)
		r = perfdata_walk_each(walk, copy_record, &s);
	perfdata_walk_free(walk);
	if (r == 0 && !s.told)
		r = perfdata_inject_tell(&s);
	if (r < 0) {
		perfdata_write_close(s.w);
		return r;
	}
	return perfdata_write_finish(s.w, e);
}

static int may_copy(const struct perfdata *pd, struct err *e)
{
	if (!pd->swap && pd->files.n == 1)
		return 0;
	return err_set(e, EOPNOTSUPP,
		       pd->swap ? "the recording is of a machine of the other endian"
				: "the recording is a folder of files");
}

int perfdata_inject(struct source *s, const struct strbuf *entries, const char *output,
		    struct err *e)
{
	const struct perfdata *pd = s->impl;
	int r = may_copy(pd, e);

	if (r < 0)
		return r;
	if (pd->pipe || strcmp(output, "-") == 0)
		return inject_stream(s, pd, entries, output, e);
	return inject_file(pd, entries, output, e);
}

/* --- merging times of sleeping --- */

enum role { OTHER, SWITCH, STAT, EXIT };

struct merge {
	struct perfdata *pd;
	struct perfdata_writer *w;
	enum role *role;	  /* by type */
	const struct field **pid; /* by type, of STAT */
	struct map last;	  /* tid to its last switch, + 1 */
	VEC(struct strbuf) kept;
	const struct strbuf *entries;
	struct perfdata_merged *count;
	struct err *e;
};

static int find_roles(struct merge *m)
{
	struct trace *t = &m->pd->trace;
	unsigned seen = 0;

	m->role = mem_alloc((t->n_types + 1) * sizeof(*m->role));
	m->pid = mem_alloc((t->n_types + 1) * sizeof(*m->pid));
	for (size_t i = 0; i < t->n_types; i++) {
		const char *name = t->types[i].name;
		const struct layout *l = &m->pd->layouts.data[i];

		if (!strcmp(name, "sched:sched_switch"))
			m->role[i] = SWITCH;
		else if (!strcmp(name, "sched:sched_process_exit"))
			m->role[i] = EXIT;
		else if (str_starts(name, "sched:sched_stat_") &&
			 (m->pid[i] = type_field(&t->types[i], "pid")))
			m->role[i] = STAT;
		if (m->role[i] == SWITCH && (!l->tid || !l->time || !l->period_at)) {
			err_set(m->e, EOPNOTSUPP,
				"samples of %s have no thread, time or period to be changed", name);
			return err_hint(m->e, "record with -T -P");
		}
		seen |= 1u << m->role[i];
	}
	if ((seen & 1u << SWITCH) && (seen & 1u << STAT))
		return 0;
	err_set(m->e, ENOENT, "the recording has no %s events",
		seen & 1u << SWITCH ? "sched:sched_stat_*" : "sched:sched_switch");
	return err_hint(m->e,
			"record -e "
			"sched:sched_stat_sleep,sched:sched_switch,sched:sched_process_exit -a -g");
}

static void perfdata_merge_keep(struct merge *m, const struct event *ev)
{
	uint64_t *at = map_at(&m->last, (uint32_t)ev->tid);
	const struct perfdata_event_header *h = ev->record;

	if (!*at) {
		vec_push(&m->kept, (struct strbuf){ 0 });
		*at = m->kept.n;
	}
	strbuf_reset(&m->kept.data[*at - 1]);
	/* its type, then the record */
	strbuf_add(&m->kept.data[*at - 1], (const char *)&(uint64_t){ ev->type }, 8);
	strbuf_add(&m->kept.data[*at - 1], (const char *)h, h->size);
}

static int perfdata_merge_merge(struct merge *m, const struct event *ev)
{
	const struct layout *l;
	struct strbuf *b;
	uint64_t *at, type;
	int64_t pid;

	at = field_int(m->pid[ev->type], ev->raw, ev->raw_size, &pid)
		     ? map_find(&m->last, (uint32_t)pid)
		     : NULL;
	b = at ? &m->kept.data[*at - 1] : NULL;
	if (!b || !b->n) {
		m->count->alone++;
		return 0;
	}
	memcpy(&type, b->data, 8);
	l = &m->pd->layouts.data[type];
	/* the sample was read once, so these lie inside it */
	memcpy(b->data + 8 + l->time, &ev->time, 8);
	memcpy(b->data + 8 + l->period_at, &ev->weight, 8);
	m->count->merged++;
	return perfdata_write_bytes(m->w, b->data + 8, b->n - 8, m->e);
}

static int perfdata_merge_on_event(void *ctx, const struct event *ev)
{
	struct merge *m = ctx;
	const struct perfdata_event_header *h = ev->record;
	const uint64_t *at;

	if (ev->kind != EVENT_SAMPLE || m->role[ev->type] == OTHER)
		return perfdata_write_bytes(m->w, h, h->size, m->e);
	if (m->role[ev->type] == STAT)
		return perfdata_merge_merge(m, ev);
	if (m->role[ev->type] == SWITCH)
		perfdata_merge_keep(m, ev);
	else if ((at = map_find(&m->last, (uint32_t)ev->tid)))
		strbuf_reset(&m->kept.data[*at - 1]);
	return 0;
}

/* What tells of the recording itself comes first. Rounds would promise an order that is gone. */
static int copy_user(void *ctx, const struct perfdata_view *v)
{
	struct merge *m = ctx;

	switch (v->header.type) {
	case PERFDATA_FINISHED_ROUND:
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
	case PERFDATA_AUXTRACE: return 0;
	case PERFDATA_HEADER_BUILD_ID:
		if (m->entries)
			return 0;
	}
	if (v->header.type < 64)
		return 0;
	return perfdata_write_bytes(m->w, v->raw, v->header.size + v->after, m->e);
}

static int perfdata_merge_start(struct merge *m, bool stream)
{
	const struct perfdata *pd = m->pd;

	if (!pd->pipe)
		inject_heads(pd, m->w, !m->entries);
	for (unsigned f = PERFDATA_FEATURE_END; !stream && f < 256; f++)
		if (pd->feature[f].present)
			perfdata_write_early(m->w, f, NULL, 0);
	return perfdata_write_start(m->w, m->e);
}

/* What comes behind the data: build-ids, and what is kymo's own. */
static int perfdata_merge_finish(struct merge *m, bool stream)
{
	const struct perfdata *pd = m->pd;
	int r = 0;

	if (m->entries && !stream)
		r = perfdata_write_feature(m->w, PERFDATA_BUILD_ID, m->entries->data, m->entries->n,
					   m->e);
	for (unsigned f = PERFDATA_FEATURE_END; !stream && f < 256 && r == 0; f++)
		if (pd->feature[f].present)
			r = perfdata_write_feature(m->w, f, pd->feature[f].data,
						   pd->feature[f].size, m->e);
	if (r == 0) {
		r = perfdata_write_finish(m->w, m->e);
		m->w = NULL;
	}
	return r;
}

static int perfdata_merge_run(struct merge *m, struct source *s, const char *output)
{
	bool stream = m->pd->pipe || strcmp(output, "-") == 0;
	struct perfdata_write_opts o = { .path = output, .pipe = stream };
	struct perfdata_walk *walk;
	int r = perfdata_write_open(&o, &m->w, m->e);

	if (r < 0)
		return r;
	r = perfdata_merge_start(m, stream);
	if (r == 0 && m->entries && stream)
		r = inject_build_ids(m->w, m->entries, m->e);
	walk = perfdata_walk_new(s);
	if (r == 0)
		r = perfdata_walk_each(walk, copy_user, m);
	perfdata_walk_free(walk);
	if (r == 0)
		r = read_ordered(s, true, perfdata_merge_on_event, m, m->e);
	if (r == 0)
		r = perfdata_merge_finish(m, stream);
	if (r < 0 && m->w)
		perfdata_write_close(m->w);
	return r;
}

int perfdata_merge(struct source *s, const struct strbuf *entries, const char *output,
		   struct perfdata_merged *ret, struct err *e)
{
	struct merge m = { .pd = s->impl, .entries = entries, .count = ret, .e = e };
	int r;

	*ret = (struct perfdata_merged){ 0 };
	r = may_copy(m.pd, e);
	if (r == 0 && m.pd->any_read)
		r = err_set(e, EOPNOTSUPP, "samples that read counters cannot be merged");
	if (r == 0)
		r = find_roles(&m);
	if (r == 0)
		r = perfdata_merge_run(&m, s, output);
	vec_each (&m.kept, b)
		strbuf_free(b);
	vec_free(&m.kept);
	map_free(&m.last);
	free(m.role);
	free(m.pid);
	return r;
}
