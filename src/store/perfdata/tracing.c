/* SPDX-License-Identifier: MIT */
/*
 * The TRACING_DATA of a recording: the kernel's formats of the tracepoints in
 * it, kernel symbols, printk formats, saved command names. The layout is that of
 * trace.dat version 6, with sizes of 4 bytes where that has 8.
 */
#include "store/perfdata/impl.h"

#include "event/text.h"

#define MAX_FORMATS 100000
#define MAX_TEXT (64u << 20)

static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

static const char *zstring(struct cursor *c)
{
	const char *s = (const char *)c->p;
	const uint8_t *end = NULL;

	if (!c->bad && c->p && c->p < c->end)
		end = memchr(c->p, 0, (size_t)(c->end - c->p));
	if (!end) {
		c->bad = true;
		return "";
	}
	c->p = end + 1;
	return s;
}

static uint8_t byte(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

/* n bytes; NULL and bad when there are not so many. */
static const char *bytes(struct cursor *c, uint64_t n)
{
	c->bad = c->bad || n > MAX_TEXT;
	return (const char *)cursor_bytes(c, n);
}

/* "ID: 317" without parsing the rest; 0 when there is none. */
static uint64_t format_id(const char *text, size_t n)
{
	const char *p = memmem(text, n, "\nID: ", 5), *end = text + n;
	uint64_t id = 0;

	if (!p)
		return 0;
	for (p += 5; p < end && *p >= '0' && *p <= '9' && id < 1u << 30; p++)
		id = id * 10 + (uint64_t)(*p - '0');
	return id;
}

static void parse_formats(struct perfdata *pd, struct cursor *c, const char *system)
{
	for (uint32_t n = cursor_u32(c); n && !c->bad; n--) {
		uint64_t size = cursor_u64(c);
		const char *text = bytes(c, size);
		struct perfdata_format f = { .id = text ? format_id(text, size) : 0,
					     .system = arena_strdup(&pd->trace.arena, system),
					     .text = text,
					     .size = size };

		if (f.id && pd->formats.n < MAX_FORMATS)
			vec_push(&pd->formats, f);
	}
}

static void parse_texts(struct perfdata *pd, struct cursor *c, bool comms)
{
	uint64_t n = cursor_u32(c);
	const char *text = bytes(c, n);

	if (text && n) {
		pd->trace.info.kallsyms = text;
		pd->trace.info.kallsyms_size = n;
	}
	n = cursor_u32(c);
	text = bytes(c, n);
	if (text && n)
		text_printk(pd->trace.tep, text, n);
	/* Names of tasks come with COMM records. */
	if (comms)
		bytes(c, cursor_u64(c));
}

void tracing_parse(struct perfdata *pd, const uint8_t *data, size_t size)
{
	struct cursor c = { .p = data, .end = data + size, .swap = pd->swap };
	const char *start = bytes(&c, sizeof(magic)), *version;
	struct text_opts o = { 0 };

	if (!start || memcmp(start, magic, sizeof(magic)) != 0 || pd->trace.tep)
		return;
	version = zstring(&c);
	/* Its own word on endianness counts, whatever the file's header says. */
	c.swap = (byte(&c) != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	pd->raw_swapped = c.swap;
	o.long_size = byte(&c);
	cursor_u32(&c); /* page size */
	if (c.bad)
		return;
	pd->trace.tep = text_new(&o);
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		zstring(&c);
		bytes(&c, cursor_u64(&c));
	}
	parse_formats(pd, &c, "ftrace");
	for (uint32_t n = cursor_u32(&c); n && !c.bad; n--)
		parse_formats(pd, &c, zstring(&c));
	parse_texts(pd, &c, strcmp(version, "0.6") >= 0);
	if (c.bad)
		perfdata_note(pd, "the tracepoint formats are damaged");
}

/* The format of each tracepoint type. */
void tracing_finish(struct perfdata *pd)
{
	for (size_t i = 0; i < pd->trace.n_types; i++) {
		struct event_type *t = &pd->trace.types[i];

		if (t->class != TYPE_TRACEPOINT)
			continue;
		vec_each (&pd->formats, f) {
			if (f->id != t->code)
				continue;
			if (type_parse_format(t, &pd->trace.arena, f->text, f->size, NULL) == 0) {
				t->system = t->system ? t->system : f->system;
				for (size_t k = 0; k < t->n_fields; k++)
					t->fields[k].swapped = pd->raw_swapped;
				text_prepare(pd->trace.tep, t, &pd->trace.arena);
			}
			break;
		}
	}
}

const char *tracing_name(struct perfdata *pd, uint64_t id)
{
	vec_each (&pd->formats, f) {
		struct event_type t = { 0 };

		if (f->id != id ||
		    type_parse_format(&t, &pd->trace.arena, f->text, f->size, NULL) < 0 || !t.event)
			continue;
		return arena_printf(&pd->trace.arena, "%s:%s", f->system, t.event);
	}
	return NULL;
}
