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

static void put_schema_field(struct out *o, const char *name, const char *format, bool first)
{
	out_puts(o, first ? "{\"key\":" : ",{\"key\":");
	export_json_str(o, name);
	out_puts(o, ",\"label\":");
	export_json_str(o, name);
	out_puts(o, ",\"format\":\"");
	out_puts(o, format);
	out_puts(o, "\"}");
}

static const char *export_firefox_markers_key_of(const struct field *f, char *buf, size_t size)
{
	snprintf(buf, size, is_taken(f->name) ? "%s_" : "%s", f->name);
	return buf;
}

/* What a row of the table says: "prev_comm=bash prev_pid=12 ...". */
static void export_firefox_markers_put_label(struct out *o, const struct event_type *t)
{
	AUTO_STRBUF b = { 0 };
	char key[80];

	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			strbuf_printf(
				&b, "%s%s={marker.data.%s}", b.n ? " " : "", t->fields[i].name,
				export_firefox_markers_key_of(&t->fields[i], key, sizeof(key)));
	export_json_str(o, strbuf_str(&b));
}

void firefox_schemas(struct firefox *f)
{
	const struct trace *t = f->x->source->trace;
	struct out *o = f->x->out;
	bool any = false;

	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *e = &t->types[i];
		bool first = true;
		char key[80];

		if (!e->n_fields)
			continue;
		out_puts(o, any ? ",\n{\"name\":" : "\n{\"name\":");
		any = true;
		export_json_str(o, e->name);
		out_puts(o,
			 ",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
			 "\"tableLabel\":");
		export_firefox_markers_put_label(o, e);
		out_puts(o, ",\"fields\":[");
		for (size_t k = 0; k < e->n_fields; k++) {
			const struct field *x = &e->fields[k];

			if (x->is_common)
				continue;
			put_schema_field(o, export_firefox_markers_key_of(x, key, sizeof(key)),
					 x->kind == FIELD_INT && !x->is_pointer ? "integer"
										: "string",
					 first);
			first = false;
		}
		if (lanes_call(e) == LANE_ENTER)
			put_schema_field(o, "ret", "integer", first);
		out_puts(o, "]}");
	}
}

static void put_data(struct firefox *f, const struct firefox_row *r)
{
	const struct event_type *t = &f->x->source->trace->types[r->type];
	struct event ev = { .raw = r->raw, .raw_size = r->raw_size };
	struct out *o = f->x->out;
	uint32_t stack = r->entry == UINT32_MAX ? EXPORT_ROOT : firefox_stack(f, r->entry);

	out_puts(o, "{\"type\":");
	export_json_str(o, t->name);
	if (r->has_ret) {
		out_puts(o, ",\"ret\":");
		out_i64(o, r->ret, 0);
	}
	if (stack != EXPORT_ROOT) {
		out_puts(o, ",\"cause\":{\"time\":");
		firefox_time(f, r->time);
		out_puts(o, ",\"stack\":");
		out_u64(o, stack, 0);
		out_putc(o, '}');
	}
	for (size_t i = 0; i < t->n_fields; i++) {
		char key[80];

		if (t->fields[i].is_common)
			continue;
		export_firefox_markers_key_of(&t->fields[i], key, sizeof(key));
		export_field(o, &t->fields[i], &ev, key, false);
	}
	out_putc(o, '}');
}

/* A column of markers. */
#define COLUMN(name, ...)                                       \
	do {                                                    \
		out_puts(o, ",\"" name "\":[");                 \
		for (size_t i = 0; i < n; i++) {                \
			const struct firefox_row *r = &rows[i]; \
			if (i)                                  \
				out_putc(o, ',');               \
			__VA_ARGS__;                            \
		}                                               \
		out_putc(o, ']');                               \
	} while (0)

static void put_end(struct firefox *f, const struct firefox_row *r)
{
	if (r->end)
		firefox_time(f, r->end);
	else
		out_puts(f->x->out, "null");
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
	struct out *o = f->x->out;

	out_printf(o, ",\n\"markers\":{\"length\":%zu", n);
	COLUMN("name", out_u64(o, export_firefox_markers_name_of(f, r), 0));
	COLUMN("startTime", firefox_time(f, r->time));
	COLUMN("endTime", put_end(f, r));
	COLUMN("phase", out_putc(o, r->end ? '1' : '0'));
	COLUMN("category", (void)r; out_putc(o, '0'));
	COLUMN("data", put_data(f, r));
	out_putc(o, '}');
	f->x->written += n;
}
