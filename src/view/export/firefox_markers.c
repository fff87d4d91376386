/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as markers. They come by time and are written by thread, so they
 * are kept until then: where the record is, if the source keeps it, else a copy.
 */
#include <string.h>

#include "base/sort.h"
#include "base/str.h"
#include "view/export/firefox.h"

/* Names that a marker's data has for itself. */
static bool is_taken(const char *field)
{
	return strcmp(field, "type") == 0 || strcmp(field, "cause") == 0 ||
	       strcmp(field, "stack") == 0;
}

static const char *name_of_call(struct firefox *f, const struct firefox_row *m, char *buf,
				size_t size)
{
	struct event ev = { .raw = m->raw, .raw_size = m->raw_size };

	return slices_call_name(&f->x->source->trace->types[m->type], &ev, buf, size);
}

static uint64_t add_marker(void *ctx, const struct event *ev, uint32_t slot)
{
	struct firefox *f = ctx;

	vec_push(&f->markers,
		 (struct firefox_row){
			 .pid = ev->pid,
			 .tid = ev->tid,
			 .type = ev->type,
			 .entry = export_entry(f->x, ev),
			 .time = ev->time,
			 .raw = f->x->source->stable ? ev->raw
						     : arena_dup(&f->copies, ev->raw, ev->raw_size),
			 .raw_size = ev->raw_size });
	return f->markers.n - 1;
}

static bool is_end_of(void *ctx, const struct slice *s, const struct event *ev)
{
	struct firefox *f = ctx;
	char buf[64], own[64];

	return strcmp(slices_call_name(&f->x->source->trace->types[ev->type], ev, buf, sizeof(buf)),
		      name_of_call(f, &f->markers.data[s->note], own, sizeof(own))) == 0;
}

/* An end of what was not seen to begin is a marker of its own. */
static int end_marker(void *ctx, const struct slice *s)
{
	struct firefox *f = ctx;
	const struct field *ret;
	struct firefox_row *m;

	if (s->kind == SLICE_LONE_END || s->kind == SLICE_MISFIT)
		add_marker(f, s->end, 0);
	if (s->kind != SLICE_WHOLE)
		return 0;
	m = &f->markers.data[s->note];
	ret = type_field(&f->x->source->trace->types[s->end->type], "ret");
	m->end = s->end->time;
	m->has_ret = ret && field_int(ret, s->end->raw, s->end->raw_size, &m->ret);
	return 0;
}

static int export_firefox_markers_on_event(void *ctx, const struct event *ev)
{
	struct firefox *f = ctx;

	if (!export_has_fields(&f->x->source->trace->types[ev->type], ev) ||
	    !(ev->have & EVENT_HAVE_TIME))
		return 0;
	if (slices_uses(f->calls, ev->type))
		return slices_add(f->calls, ev);
	add_marker(f, ev, 0);
	return 0;
}

static int export_firefox_markers_by_thread(const void *x, const void *y)
{
	const struct firefox_row *a = x, *b = y;
	int d = SORT_BY(a->pid, b->pid);

	d = d ? d : SORT_BY(a->tid, b->tid);
	return d ? d : SORT_BY(a->time, b->time);
}

int firefox_collect_markers(struct firefox *f, struct err *e)
{
	const struct trace *t = f->x->source->trace;
	bool any = false;
	int r = 0;

	f->calls = slices_calls(
		t, (struct slices_opts){
			   .begin = add_marker, .fits = is_end_of, .fn = end_marker, .ctx = f });
	for (size_t i = 0; i < t->n_types; i++)
		any = any || t->types[i].n_fields;
	if (any)
		r = export_events(f->x, false, export_firefox_markers_on_event, f, e);
	if (f->markers.n)
		qsort(f->markers.data, f->markers.n, sizeof(*f->markers.data),
		      export_firefox_markers_by_thread);
	return r;
}

static void put_schema_field(struct json *j, const char *name, const char *format)
{
	json_object(j, NULL);
	json_str(j, "key", name);
	json_str(j, "label", name);
	json_str(j, "format", format);
	json_end(j);
}

static const char *export_firefox_markers_key_of(const struct field *f, char *buf, size_t size)
{
	snprintf(buf, size, is_taken(f->name) ? "%s_" : "%s", f->name);
	return buf;
}

/* What a row of the table says: "prev_comm=bash prev_pid=12 ...". */
static void export_firefox_markers_put_label(struct json *j, const struct event_type *t)
{
	AUTO_STRBUF b = { 0 };
	char key[80];

	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			strbuf_printf(
				&b, "%s%s={marker.data.%s}", b.n ? " " : "", t->fields[i].name,
				export_firefox_markers_key_of(&t->fields[i], key, sizeof(key)));
	json_str(j, "tableLabel", strbuf_str(&b));
}

void firefox_schemas(struct firefox *f)
{
	const struct trace *t = f->x->source->trace;
	struct json *j = &f->j;

	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *e = &t->types[i];
		char key[80];

		if (!e->n_fields)
			continue;
		json_line(j);
		json_object(j, NULL);
		json_str(j, "name", e->name);
		json_array(j, "display");
		json_str(j, NULL, "marker-chart");
		json_str(j, NULL, "marker-table");
		json_str(j, NULL, "timeline-overview");
		json_end(j);
		export_firefox_markers_put_label(j, e);
		json_array(j, "fields");
		for (size_t k = 0; k < e->n_fields; k++) {
			const struct field *x = &e->fields[k];

			if (x->is_common)
				continue;
			put_schema_field(j, export_firefox_markers_key_of(x, key, sizeof(key)),
					 x->kind == FIELD_FLOAT			  ? "decimal"
					 : x->kind == FIELD_INT && !x->is_pointer ? "integer"
										  : "string");
		}
		if (slices_begins(f->calls, (uint32_t)i))
			put_schema_field(j, "ret", "integer");
		json_end(j);
		json_end(j);
	}
}

static void put_data(struct firefox *f, const struct firefox_row *r)
{
	const struct event_type *t = &f->x->source->trace->types[r->type];
	struct event ev = { .raw = r->raw, .raw_size = r->raw_size };
	struct json *j = &f->j;
	uint32_t stack = r->entry == UINT32_MAX ? EXPORT_ROOT : firefox_stack(f, r->entry);

	json_object(j, NULL);
	json_str(j, "type", t->name);
	if (r->has_ret)
		json_i64(j, "ret", r->ret);
	if (stack != EXPORT_ROOT) {
		json_object(j, "cause");
		firefox_time(f, "time", r->time);
		json_u64(j, "stack", stack);
		json_end(j);
	}
	for (size_t i = 0; i < t->n_fields; i++) {
		char key[80];

		if (t->fields[i].is_common)
			continue;
		export_firefox_markers_key_of(&t->fields[i], key, sizeof(key));
		export_field(j, key, &t->fields[i], &ev, false);
	}
	json_end(j);
}

static void put_end(struct firefox *f, const struct firefox_row *r)
{
	if (r->end)
		firefox_time(f, NULL, r->end);
	else
		json_null(&f->j, NULL);
}

static uint32_t export_firefox_markers_name_of(struct firefox *f, const struct firefox_row *r)
{
	char buf[64];

	return firefox_string(f, r->end ? name_of_call(f, r, buf, sizeof(buf))
					: f->x->source->trace->types[r->type].name);
}

void firefox_markers(struct firefox *f, const struct firefox_row *rows, size_t n)
{
	struct json *j = &f->j;

	json_line(j);
	json_object(j, "markers");
	json_u64(j, "length", n);
	FIREFOX_COLUMN(j, "name", rows, n, json_u64(j, NULL, export_firefox_markers_name_of(f, r)));
	FIREFOX_COLUMN(j, "startTime", rows, n, firefox_time(f, NULL, r->time));
	FIREFOX_COLUMN(j, "endTime", rows, n, put_end(f, r));
	FIREFOX_COLUMN(j, "phase", rows, n, json_u64(j, NULL, r->end != 0));
	FIREFOX_COLUMN(j, "category", rows, n, (void)r; json_u64(j, NULL, 0));
	FIREFOX_COLUMN(j, "data", rows, n, put_data(f, r));
	json_end(j);
	f->x->written += n;
}
