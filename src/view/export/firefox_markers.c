/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as markers. They come by time and are written by thread, so they
 * are kept until then: where the record is, if the source keeps it, else a copy.
 */
#include <string.h>

#include "base/str.h"
#include "calc/time/lanes.h"
#include "view/export/firefox.h"

/* Names that a marker's data has for itself. */
static bool is_taken(const char *field)
{
	return strcmp(field, "type") == 0 || strcmp(field, "cause") == 0 ||
	       strcmp(field, "stack") == 0;
}

struct collecting {
	struct firefox *f;
	struct map open; /* thread to the marker of its system call, + 1 */
};

/* The end of a call that was seen to begin: false when it was not. */
static bool end_call(struct collecting *c, const struct event *ev, const struct event_type *t)
{
	uint64_t *at = map_at(&c->open, (uint32_t)ev->tid);
	const struct field *ret = type_field(t, "ret");
	char buf[64], own[64];
	struct firefox_row *m;
	struct event begun;

	if (!*at)
		return false;
	m = &c->f->markers.data[*at - 1];
	*at = 0;
	begun = (struct event){ .raw = m->raw, .raw_size = m->raw_size };
	if (strcmp(lanes_call_name(t, ev, buf, sizeof(buf)),
		   lanes_call_name(&c->f->x->source->trace->types[m->type], &begun, own,
				   sizeof(own))) != 0)
		return false;
	m->end = ev->time;
	m->has_ret = ret && field_int(ret, ev->raw, ev->raw_size, &m->ret);
	return true;
}

static int export_firefox_markers_on_event(void *ctx, const struct event *ev)
{
	struct collecting *c = ctx;
	struct firefox *f = c->f;
	const struct event_type *t = &f->x->source->trace->types[ev->type];
	enum lane_call side;

	if (!export_has_fields(t, ev) || !(ev->have & EVENT_HAVE_TIME))
		return 0;
	side = lanes_call(t);
	if (side == LANE_EXIT && end_call(c, ev, t))
		return 0;
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
	if (side == LANE_ENTER)
		*map_at(&c->open, (uint32_t)ev->tid) = f->markers.n;
	return 0;
}

static int export_firefox_markers_by_thread(const void *x, const void *y)
{
	const struct firefox_row *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->time == b->time ? 0 : a->time < b->time ? -1 : 1;
}

int firefox_collect_markers(struct firefox *f, struct err *e)
{
	const struct trace *t = f->x->source->trace;
	struct collecting c = { .f = f };
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < t->n_types; i++)
		any = any || t->types[i].n_fields;
	if (any)
		r = export_events(f->x, false, export_firefox_markers_on_event, &c, e);
	if (f->markers.n)
		qsort(f->markers.data, f->markers.n, sizeof(*f->markers.data),
		      export_firefox_markers_by_thread);
	map_free(&c.open);
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
		if (lanes_call(e) == LANE_ENTER)
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

/* A column of markers. */
#define COLUMN(name, ...)                                       \
	do {                                                    \
		json_array(j, name);                            \
		for (size_t i = 0; i < n; i++) {                \
			const struct firefox_row *r = &rows[i]; \
			__VA_ARGS__;                            \
		}                                               \
		json_end(j);                                    \
	} while (0)

static void put_end(struct firefox *f, const struct firefox_row *r)
{
	if (r->end)
		firefox_time(f, NULL, r->end);
	else
		json_null(&f->j, NULL);
}

static uint32_t export_firefox_markers_name_of(struct firefox *f, const struct firefox_row *r)
{
	const struct event_type *t = &f->x->source->trace->types[r->type];
	struct event ev = { .raw = r->raw, .raw_size = r->raw_size };
	char buf[64];

	return firefox_string(f, r->end ? lanes_call_name(t, &ev, buf, sizeof(buf)) : t->name);
}

void firefox_markers(struct firefox *f, const struct firefox_row *rows, size_t n)
{
	struct json *j = &f->j;

	json_line(j);
	json_object(j, "markers");
	json_u64(j, "length", n);
	COLUMN("name", json_u64(j, NULL, export_firefox_markers_name_of(f, r)));
	COLUMN("startTime", firefox_time(f, NULL, r->time));
	COLUMN("endTime", put_end(f, r));
	COLUMN("phase", json_u64(j, NULL, r->end != 0));
	COLUMN("category", (void)r; json_u64(j, NULL, 0));
	COLUMN("data", put_data(f, r));
	json_end(j);
	f->x->written += n;
}
