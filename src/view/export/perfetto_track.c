/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints that Perfetto has no message for: events on the track of their
 * thread, with all fields. System calls that have events of their own are slices.
 */
#include <string.h>

#include "view/export/perfetto.h"

/* Of TrackEvent and of what is inside. */
enum {
	TRACK_CATEGORY = 3,
	TRACK_ANNOTATION = 4,
	TRACK_TYPE = 9,
	TRACK_NAME = 10,
	TRACK_UUID = 11,
	TRACK_VALUE = 44,
	TRACK_STACK = 56,
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum {
	ANNOTATION_NAME = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT,
	ANNOTATION_DOUBLE,
	ANNOTATION_STR,
	ANNOTATION_POINTER
};
enum { INTERNED_CATEGORY = 1, INTERNED_NAME, INTERNED_ANNOTATION };
enum { DESCRIPTOR_UUID = 1, DESCRIPTOR_NAME, DESCRIPTOR_THREAD = 4, DESCRIPTOR_COUNTER = 8 };
enum { COUNTER_UNIT_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };

#define UUID (1ull << 40)	  /* of tracks: this and the thread's number */
#define COUNTER_UUID (2ull << 40) /* this and the number of the counter's name */

static uint64_t export_perfetto_track_number(struct perfetto *p, const char *text)
{
	return (uint64_t)strtab_add(&p->strings, text) + 1;
}

static void describe_track(struct perfetto *p, const struct event *ev)
{
	const struct tasks *tasks = p->x->source->trace->tasks;
	uint32_t comm = tasks_comm_at(tasks, ev->tid, ev->time);
	size_t packet, track, thread;

	if (!perfetto_is_new(&p->tracks, SAID_TRACK, (uint32_t)ev->tid))
		return;
	packet = perfetto_packet(p, p->tracks.id);
	track = pb_begin(&p->b, PACKET_TRACK_DESCRIPTOR);
	pb_uint(&p->b, DESCRIPTOR_UUID, UUID | (uint32_t)ev->tid);
	thread = pb_begin(&p->b, DESCRIPTOR_THREAD);
	pb_int(&p->b, THREAD_PID, ev->pid);
	pb_int(&p->b, THREAD_TID, ev->tid);
	if (comm != STRTAB_NONE)
		pb_str(&p->b, THREAD_NAME, strtab_get(tasks_strings(tasks), comm));
	pb_end(&p->b, thread);
	pb_end(&p->b, track);
	perfetto_end(p, packet);
}

static void put_annotation(struct perfetto *p, const struct field *f, const struct event *ev)
{
	struct field_value v = field_value(f, ev->raw, ev->raw_size);
	char hex[2 * 32 + 1] = "";
	size_t m;

	if (f->is_common || !v.kind)
		return;
	m = pb_begin(&p->b, TRACK_ANNOTATION);
	pb_uint(&p->b, ANNOTATION_NAME, export_perfetto_track_number(p, f->name));
	if (v.kind == VALUE_INT) {
		pb_int(&p->b,
		       f->is_pointer  ? ANNOTATION_POINTER
		       : f->is_signed ? ANNOTATION_INT
				      : ANNOTATION_UINT,
		       v.i);
	} else if (v.kind == VALUE_FLOAT) {
		pb_double(&p->b, ANNOTATION_DOUBLE, v.f);
	} else if (v.kind == VALUE_STRING) {
		pb_text(&p->b, ANNOTATION_STR, v.data, v.n);
	} else {
		for (size_t i = 0; i < v.n && i < 32; i++)
			snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)v.data)[i]);
		pb_str(&p->b, ANNOTATION_STR, hex);
	}
	pb_end(&p->b, m);
}

/* One event; name NULL: the end of a slice, which needs none. */
static void put_event(struct perfetto *p, const struct event *ev, unsigned type, const char *name)
{
	const struct event_type *t = &p->x->source->trace->types[ev->type];
	const char *category = t->system ? t->system : "event";
	uint32_t entry = name ? export_entry(p->x, ev) : UINT32_MAX;
	size_t packet = perfetto_packet(p, p->tracks.id), m;
	uint64_t stack = 0, category_id = 0, name_id = 0;

	pb_uint(&p->b, PACKET_TIMESTAMP, ev->time);
	pb_uint(&p->b, PACKET_FLAGS, SEQUENCE_NEEDS_STATE);
	m = pb_begin(&p->b, PACKET_INTERNED);
	if (name) {
		category_id =
			perfetto_string(p, &p->tracks, SAID_CATEGORY, INTERNED_CATEGORY, category);
		name_id = perfetto_string(p, &p->tracks, SAID_EVENT, INTERNED_NAME, name);
	}
	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			perfetto_string(p, &p->tracks, SAID_ANNOTATION, INTERNED_ANNOTATION,
					t->fields[i].name);
	if (entry != UINT32_MAX && p->x->profile->entries.data[entry].chain != PROFILE_NO_CHAIN)
		stack = perfetto_stack(p, &p->tracks, entry);
	pb_end(&p->b, m);
	m = pb_begin(&p->b, PACKET_TRACK_EVENT);
	pb_uint(&p->b, TRACK_TYPE, type);
	pb_uint(&p->b, TRACK_UUID, UUID | (uint32_t)ev->tid);
	if (name) {
		pb_uint(&p->b, TRACK_CATEGORY, category_id);
		pb_uint(&p->b, TRACK_NAME, name_id);
	}
	for (size_t i = 0; i < t->n_fields; i++)
		put_annotation(p, &t->fields[i], ev);
	if (stack)
		pb_uint(&p->b, TRACK_STACK, stack);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
}

/* The end of a slice that nobody saw. */
static void close_slice(struct perfetto *p, const struct event *ev)
{
	size_t packet = perfetto_packet(p, p->tracks.id), m;

	pb_uint(&p->b, PACKET_TIMESTAMP, ev->time);
	pb_uint(&p->b, PACKET_FLAGS, SEQUENCE_NEEDS_STATE);
	m = pb_begin(&p->b, PACKET_TRACK_EVENT);
	pb_uint(&p->b, TRACK_TYPE, TYPE_END);
	pb_uint(&p->b, TRACK_UUID, UUID | (uint32_t)ev->tid);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
}

static uint64_t begin_call(void *ctx, const struct event *ev, uint32_t slot)
{
	struct perfetto *p = ctx;
	char buf[64];

	put_event(p, ev, TYPE_BEGIN,
		  slices_call_name(&p->x->source->trace->types[ev->type], ev, buf, sizeof(buf)));
	return 0;
}

static int end_call(void *ctx, const struct slice *s)
{
	struct perfetto *p = ctx;

	if (s->kind == SLICE_LOST_END)
		close_slice(p, s->end);
	else if (s->kind == SLICE_WHOLE)
		put_event(p, s->end, TYPE_END, NULL);
	else
		put_event(p, s->end, TYPE_INSTANT, p->x->source->trace->types[s->end->type].name);
	return 0;
}

void perfetto_track_init(struct perfetto *p)
{
	p->calls =
		slices_calls(p->x->source->trace,
			     (struct slices_opts){ .begin = begin_call, .fn = end_call, .ctx = p });
}

void perfetto_track_event(struct perfetto *p, const struct event *ev)
{
	describe_track(p, ev);
	p->x->written++;
	if (slices_uses(p->calls, ev->type))
		slices_add(p->calls, ev);
	else
		put_event(p, ev, TYPE_INSTANT, p->x->source->trace->types[ev->type].name);
}

void perfetto_track_counter(struct perfetto *p, const struct event *ev)
{
	const struct event_type *t = &p->x->source->trace->types[ev->type];
	char name[256];
	uint64_t number =
		export_perfetto_track_number(p, export_counter_name(t, ev, name, sizeof(name)));
	size_t packet, m, inner;

	if (perfetto_is_new(&p->tracks, SAID_COUNTER, number)) {
		packet = perfetto_packet(p, p->tracks.id);
		m = pb_begin(&p->b, PACKET_TRACK_DESCRIPTOR);
		pb_uint(&p->b, DESCRIPTOR_UUID, COUNTER_UUID | number);
		pb_str(&p->b, DESCRIPTOR_NAME, name);
		inner = pb_begin(&p->b, DESCRIPTOR_COUNTER);
		if (t->count_unit)
			pb_str(&p->b, COUNTER_UNIT_NAME, t->count_unit);
		pb_end(&p->b, inner);
		pb_end(&p->b, m);
		perfetto_end(p, packet);
	}
	packet = perfetto_packet(p, p->tracks.id);
	pb_uint(&p->b, PACKET_TIMESTAMP, ev->time);
	m = pb_begin(&p->b, PACKET_TRACK_EVENT);
	pb_uint(&p->b, TRACK_TYPE, TYPE_COUNTER);
	pb_uint(&p->b, TRACK_UUID, COUNTER_UUID | number);
	pb_double(&p->b, TRACK_VALUE, ev->side->value);
	pb_end(&p->b, m);
	perfetto_end(p, packet);
	p->x->written++;
}
