/* SPDX-License-Identifier: MIT */
#include "store/perfdata/inject.h"

#include "store/perfdata/impl.h"
#include "store/perfdata/write.h"

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

static void perfdata_merge_forget(struct merge *m, int32_t tid)
{
	uint64_t *at = map_find(&m->last, (uint32_t)tid);

	if (at)
		strbuf_reset(&m->kept.data[*at - 1]);
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

	if (ev->kind != EVENT_SAMPLE || m->role[ev->type] == OTHER)
		return perfdata_write_bytes(m->w, h, h->size, m->e);
	if (m->role[ev->type] == STAT)
		return perfdata_merge_merge(m, ev);
	if (m->role[ev->type] == SWITCH)
		perfdata_merge_keep(m, ev);
	else
		perfdata_merge_forget(m, ev->tid);
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
	if (m.pd->swap || m.pd->files.n > 1 || m.pd->any_read)
		return err_set(e, EOPNOTSUPP,
			       m.pd->swap ? "the recording is of a machine of the other endian"
			       : m.pd->files.n > 1 ? "the recording is a folder of files"
						   : "samples that read counters cannot be merged");
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
