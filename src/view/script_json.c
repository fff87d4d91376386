/* SPDX-License-Identifier: MIT */
/*
 * One JSON object a line. Addresses are strings in hex, times are nanoseconds;
 * what an event does not have is left out.
 */
#include "view/script_impl.h"

#include <inttypes.h>

#include "base/json.h"
#include "store/perfdata_abi.h"
#include "store/perfdata_records.h"

static void json_hex(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	json_str(j, key, text);
}

static void json_site(struct script *s, struct json *j, uint64_t ip, uint32_t space)
{
	const struct site *x = site_find(s, space, ip, SCRIPT_SYM);
	const char *name = site_function(s, x);

	json_hex(j, "ip", ip);
	if (!x->map)
		return;
	if (name) {
		json_str(j, "sym", name);
		json_u64(j, "off", x->addr - x->sym->start);
	}
	json_str(j, "dso", site_dso_name(s, x->dso));
}

static bool json_frame(struct script *s, uint64_t ip, uint32_t space, bool walked, void *ctx)
{
	struct json *j = ctx;

	(void)walked;
	json_object(j, NULL);
	json_site(s, j, ip, space);
	json_end(j);
	return true;
}

static void json_fields(struct json *j, const struct event_type *t, const struct event *ev)
{
	json_object(j, "fields");
	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		const char *text;
		const void *p;
		int64_t v;
		size_t n;

		if (f->is_common)
			continue;
		if (field_int(f, ev->raw, ev->raw_size, &v)) {
			if (f->is_pointer)
				json_hex(j, f->name, (uint64_t)v);
			else if (f->is_signed)
				json_i64(j, f->name, v);
			else
				json_u64(j, f->name, (uint64_t)v);
		} else if (field_str(f, ev->raw, ev->raw_size, &text, &n)) {
			json_strn(j, f->name, text, n);
		} else if (field_bytes(f, ev->raw, ev->raw_size, &p, &n)) {
			json_array(j, f->name);
			for (size_t k = 0; k < n; k++)
				json_u64(j, NULL, ((const uint8_t *)p)[k]);
			json_end(j);
		}
	}
	json_end(j);
}

static void json_head(struct script *s, struct json *j, const struct event *ev)
{
	char comm[16];

	if (ev->have & EVENT_HAVE_TASK) {
		json_str(j, "comm", script_comm(s, ev->tid, ev->time, comm, sizeof(comm)));
		json_i64(j, "pid", ev->pid);
		json_i64(j, "tid", ev->tid);
	}
	if (ev->have & EVENT_HAVE_CPU)
		json_u64(j, "cpu", ev->cpu);
	if (ev->have & EVENT_HAVE_TIME)
		json_u64(j, "time", ev->time);
}

static void json_side(struct json *j, const struct event *ev)
{
	const struct perfdata_event_header *h = ev->record;
	const struct event_side *x = ev->side;
	const char *name = records_name(h->type);

	json_str(j, "record", name ? name : "UNKNOWN");
	switch (ev->kind) {
	case EVENT_MMAP:
		json_hex(j, "start", x->start);
		json_hex(j, "size", x->size);
		json_hex(j, "pgoff", x->pgoff);
		json_str(j, "path", x->text);
		break;
	case EVENT_COMM:
		json_str(j, "name", x->text);
		json_bool(j, "exec", x->exec);
		break;
	case EVENT_FORK:
	case EVENT_EXIT:
		json_i64(j, "ppid", x->other_pid);
		json_i64(j, "ptid", x->other_tid);
		break;
	case EVENT_SWITCH:
		json_bool(j, "out", x->out);
		json_bool(j, "preempt", x->preempt);
		if (x->other_tid >= 0)
			json_i64(j, x->out ? "next_tid" : "prev_tid", x->other_tid);
		break;
	case EVENT_LOST: json_u64(j, "lost", x->count); break;
	default: break;
	}
}

static ssize_t to_out(void *cookie, const char *data, size_t n)
{
	out_add(cookie, data, n);
	return (ssize_t)n;
}

void json_event(struct script *s, const struct event *ev)
{
	const struct event_type *t = &s->trace->types[ev->type];
	struct json j;

	if (!s->json_file)
		s->json_file = fopencookie(s->out, "w", (cookie_io_functions_t){ .write = to_out });
	if (!s->json_file)
		return;
	j = json_to(s->json_file);
	json_object(&j, NULL);
	json_head(s, &j, ev);
	if (ev->kind != EVENT_SAMPLE) {
		json_side(&j, ev);
	} else {
		json_str(&j, "event", t->name);
		json_u64(&j, "period", ev->weight);
		if (ev->have & EVENT_HAVE_IP)
			json_site(s, &j, ev->ip, site_space(s, ev, ev->mode));
		if (ev->have & EVENT_HAVE_ADDR)
			json_hex(&j, "addr", ev->addr);
		if ((ev->have & EVENT_HAVE_CHAIN) && s->o.chains) {
			json_array(&j, "chain");
			script_chain(s, ev, json_frame, &j);
			json_end(&j);
		}
		if ((ev->have & EVENT_HAVE_RAW) && t->n_fields)
			json_fields(&j, t, ev);
	}
	json_end(&j);
	fputc('\n', s->json_file);
	fflush(s->json_file);
}
