/* SPDX-License-Identifier: MIT */
#include "view/ftrace/dump.h"

#include <inttypes.h>
#include <string.h>

#include "view/ftrace/dump_impl.h"

#define SUMMARY FTRACE_DUMP_SUMMARY
#define MAX_LISTS 4096u

void dump_text(struct dump *d, unsigned which, struct cut *c, uint64_t size)
{
	const char *text = (const char *)cut_bytes(c, size);

	if (!text || !(d->items & which))
		return;
	out_add(d->out, text, strnlen(text, (size_t)size));
	out_putc(d->out, '\n');
}

/* --- the parts that both versions have --- */

static void dump_headers(struct dump *d, struct cut *c)
{
	static const struct {
		const char *tag, *what;
		unsigned item;
	} parts[] = { { "header_page", "page", FTRACE_DUMP_HEAD_PAGE },
		      { "header_event", "event", FTRACE_DUMP_HEAD_EVENT } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t size;

		c->bad = c->bad || strcmp(cut_str(c), parts[i].tag) != 0;
		size = cut_u64(c);
		if (c->bad)
			return;
		DUMP(d, SUMMARY | parts[i].item, "\t[Header %s, %" PRIu64 " bytes]\n",
		     parts[i].what, size);
		dump_text(d, parts[i].item, c, size);
	}
}

static void dump_formats(struct dump *d, unsigned which, struct cut *c, uint32_t n)
{
	for (uint32_t i = 0; i < n && !c->bad; i++)
		dump_text(d, which, c, cut_u64(c));
}

static void dump_ftrace(struct dump *d, struct cut *c)
{
	uint32_t n = cut_u32(c);

	DUMP(d, SUMMARY | FTRACE_DUMP_FTRACE_EVENTS, "\t[Ftrace format, %u events]\n", n);
	dump_formats(d, FTRACE_DUMP_FTRACE_EVENTS, c, n);
}

static void dump_events(struct dump *d, struct cut *c)
{
	uint32_t systems = cut_u32(c);

	DUMP(d, SUMMARY | FTRACE_DUMP_EVENTS | FTRACE_DUMP_SYSTEMS,
	     "\t[Events format, %u systems]\n", systems);
	for (uint32_t i = 0; i < systems && !c->bad; i++) {
		const char *name = cut_str(c);
		uint32_t n = cut_u32(c);

		DUMP(d, FTRACE_DUMP_SYSTEMS, "\t\t%s %u [system, events]\n", name, n);
		dump_formats(d, FTRACE_DUMP_EVENTS, c, n);
	}
}

static void dump_sized(struct dump *d, struct cut *c, unsigned item, const char *what, bool wide)
{
	uint64_t size = wide ? cut_u64(c) : cut_u32(c);

	DUMP(d, SUMMARY | item, "\t[%s, %" PRIu64 " bytes]\n", what, size);
	dump_text(d, item, c, size);
}

static void dump_kallsyms(struct dump *d, struct cut *c)
{
	dump_sized(d, c, FTRACE_DUMP_KALLSYMS, "Kallsyms", false);
}

static void dump_printk(struct dump *d, struct cut *c)
{
	dump_sized(d, c, FTRACE_DUMP_PRINTK, "Trace printk", false);
}

static void dump_cmdlines(struct dump *d, struct cut *c)
{
	dump_sized(d, c, FTRACE_DUMP_CMD_LINES, "Saved command lines", true);
}

/* In the order of version 6. */
static const struct {
	uint16_t id;
	unsigned items;
	void (*dump)(struct dump *d, struct cut *c);
	const char *what;
} parts[] = {
	{ TRACEDAT_HEADER_INFO, FTRACE_DUMP_HEAD_PAGE | FTRACE_DUMP_HEAD_EVENT, dump_headers,
	  "headers" },
	{ TRACEDAT_FTRACE_EVENTS, FTRACE_DUMP_FTRACE_EVENTS, dump_ftrace, "formats of ftrace" },
	{ TRACEDAT_EVENT_FORMATS, FTRACE_DUMP_SYSTEMS | FTRACE_DUMP_EVENTS, dump_events,
	  "formats of events" },
	{ TRACEDAT_KALLSYMS, FTRACE_DUMP_KALLSYMS, dump_kallsyms, "symbols" },
	{ TRACEDAT_PRINTK, FTRACE_DUMP_PRINTK, dump_printk, "formats of trace_printk" },
	{ TRACEDAT_CMDLINES, FTRACE_DUMP_CMD_LINES, dump_cmdlines, "names of threads" },
};

static int damaged(const char *path, const char *what, struct err *e)
{
	err_set(e, EINVAL, "%s was cut or is damaged: its %s cannot be read", path, what);
	return err_hint(e, "kymo ftrace report -i %s shows what events can be had", path);
}

static void dump_start(struct dump *d, const char *path)
{
	const struct tracedat *t = d->t;
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != t->swap;

	DUMP(d, SUMMARY, "\n Tracing meta data in file %s:\n", path);
	DUMP(d, SUMMARY, "\t[Initial format]\n\t\t%d\t[Version]\n\t\t%d\t[%s endian]\n", t->version,
	     big, big ? "Big" : "Little");
	DUMP(d, SUMMARY, "\t\t%u\t[Bytes in a long]\n\t\t%u\t[Page size, bytes]\n", t->long_size,
	     t->page_size);
	if (t->version >= 7)
		DUMP(d, SUMMARY, "\t\t%s\t[Compression algorithm]\n\t\t%s\t[Compression version]\n",
		     t->compression, t->packer);
}

/* --- version 6 --- */

static void dump_pages6(struct dump *d, struct cut *c)
{
	unsigned clock = SUMMARY | FTRACE_DUMP_CLOCK;

	DUMP(d, SUMMARY | FTRACE_DUMP_FLYRECORD, "\t[Flyrecord tracing data]\n");
	for (uint32_t i = 0; i < d->n_cpus && !c->bad; i++) {
		uint64_t at = cut_u64(c), size = cut_u64(c);

		if (!c->bad)
			DUMP(d, FTRACE_DUMP_FLYRECORD,
			     "\t %10.0" PRIu64 " %10.0" PRIu64 "\t[offset, size of cpu %u]\n", at,
			     size, i);
	}
	DUMP(d, clock, "\t[Tracing clock]\n");
	if (!d->has_clock) {
		DUMP(d, clock, "\t\t No tracing clock saved in the file\n");
		return;
	}
	DUMP(d, clock, "\t\t");
	dump_text(d, clock, c, cut_u64(c));
}

static int dump6(struct dump *d, const char *path, struct err *e)
{
	struct cut c = tracedat_raw_rest(d->s);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i].dump(d, &c);
		if (c.bad)
			return damaged(path, parts[i].what, e);
	}
	d->n_cpus = cut_u32(&c);
	DUMP(d, SUMMARY, "\t%u [CPUs with tracing data]\n", d->n_cpus);
	for (;;) {
		const char *tag = (const char *)cut_bytes(&c, 10);

		if (!tag)
			return damaged(path, "list of pages", e);
		if (memcmp(tag, "options  ", 10) == 0) {
			dump_options(d, &c);
			if (c.bad)
				return damaged(path, "options", e);
			DUMP(d, SUMMARY | FTRACE_DUMP_OPTIONS, "\t[%u options]\n", d->n_options);
		} else if (memcmp(tag, "flyrecord", 10) == 0) {
			dump_pages6(d, &c);
			return c.bad ? damaged(path, "list of pages", e) : 0;
		} else {
			if (memcmp(tag, "latency  ", 10) != 0)
				return damaged(path, "list of pages", e);
			DUMP(d, SUMMARY, "\t[Latency tracing data]\n");
			return 0;
		}
	}
}

/* --- version 7 --- */

struct section {
	uint16_t id, flags;
	uint32_t what; /* offset into the strings */
	uint64_t at, size;
};

static bool read_section(struct dump *d, uint64_t at, struct section *ret)
{
	struct cut c = tracedat_raw_at(d->s, at);

	ret->at = at;
	ret->id = cut_u16(&c);
	ret->flags = cut_u16(&c);
	ret->what = cut_u32(&c);
	ret->size = cut_u64(&c);
	return !c.bad;
}

static uint64_t first_section(struct dump *d)
{
	struct cut start = tracedat_raw_at(d->s, 0), rest = tracedat_raw_rest(d->s);

	return (uint64_t)(rest.p - start.p) + 8;
}

/* False at the end of the file. */
static bool next_section(struct dump *d, const struct section *s, uint64_t *at)
{
	struct cut c = tracedat_raw_at(d->s, s->at + sizeof(struct tracedat_section));

	cut_bytes(&c, s->size);
	*at = s->at + sizeof(struct tracedat_section) + s->size;
	return !c.bad;
}

static const char *section_name(struct dump *d, const struct section *s)
{
	struct cut c = d->strings;
	const char *text;

	cut_bytes(&c, s->what);
	text = cut_str(&c);
	return c.bad ? "Unknown" : text;
}

int dump_section_line(struct dump *d, unsigned which, uint64_t offset)
{
	struct section s;

	if (!read_section(d, offset, &s))
		return -1;
	DUMP(d, which, "\t[Section %u @ %" PRIu64 ": \"%s\", flags 0x%X, %" PRIu64 " bytes]\n",
	     s.id, offset, section_name(d, &s), s.flags, s.size);
	return s.id;
}

/* Descriptions of sections, which stand in one of their own, near the end. */
static void dump_strings(struct dump *d)
{
	struct section s;
	struct cut c;

	for (uint64_t at = first_section(d); read_section(d, at, &s);) {
		if (s.id == TRACEDAT_STRINGS) {
			d->strings = tracedat_raw_section(d->s, at, TRACEDAT_STRINGS);
			break;
		}
		if (!next_section(d, &s, &at))
			return;
	}
	c = d->strings;
	if (c.bad || !c.p)
		return;
	DUMP(d, FTRACE_DUMP_STRINGS, "\t[String @ offset]\n");
	while (c.p < c.end && !c.bad) {
		size_t at = (size_t)(c.p - d->strings.p);
		const char *text = cut_str(&c);

		DUMP(d, FTRACE_DUMP_STRINGS, "\t\t\"%s\" @ %zu\n", text, at);
	}
}

static void list_section(struct dump *d, const struct section *s)
{
	struct cut c = tracedat_raw_at(d->s, s->at + sizeof(struct tracedat_section));
	bool pages = s->id == TRACEDAT_BUFFER || s->id == TRACEDAT_BUFFER_TEXT;

	DUMP(d, FTRACE_DUMP_SECTIONS, "\t[Section %2u @ %-16" PRIu64 "\t\"%s\", flags 0x%X, ",
	     s->id, s->at, section_name(d, s), s->flags);
	if (!(s->flags & TRACEDAT_COMPRESSED)) {
		DUMP(d, FTRACE_DUMP_SECTIONS, "%" PRIu64 " bytes]\n", s->size);
	} else if (pages) {
		DUMP(d, FTRACE_DUMP_SECTIONS, "%" PRIu64 " compressed bytes]\n", s->size);
	} else {
		uint32_t packed = cut_u32(&c), size = cut_u32(&c);

		DUMP(d, FTRACE_DUMP_SECTIONS, "%u compressed, %u uncompressed]\n", packed, size);
	}
}

/* How many there are; *whole: the last one ends where the file does. */
static unsigned dump_list(struct dump *d, bool *whole)
{
	unsigned n = 0;
	struct section s;
	uint64_t at = first_section(d);

	*whole = true;
	while (*whole && read_section(d, at, &s)) {
		list_section(d, &s);
		*whole = next_section(d, &s, &at);
		n++;
	}
	return n;
}

static int dump_pointed(struct dump *d, const char *path, struct err *e)
{
	for (size_t i = d->pointed.n; i-- > 0;) {
		const struct pointed *p = &d->pointed.data[i];

		for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
			struct cut c;

			if (parts[k].id != p->id)
				continue;
			dump_section_line(d, parts[k].items, p->at);
			c = tracedat_raw_section(d->s, p->at, p->id);
			parts[k].dump(d, &c);
			if (c.bad)
				return damaged(path, parts[k].what, e);
		}
	}
	return 0;
}

static int dump7(struct dump *d, const char *path, struct err *e)
{
	struct cut start = tracedat_raw_rest(d->s);
	uint64_t next = cut_u64(&start);
	bool whole;
	unsigned n;
	int r;

	dump_strings(d);
	n = dump_list(d, &whole);
	if (start.bad)
		return damaged(path, "list of sections", e);
	while (next && d->n_lists++ < MAX_LISTS) {
		struct cut c = tracedat_raw_section(d->s, next, TRACEDAT_DONE);

		if (!c.bad) {
			dump_section_line(d, FTRACE_DUMP_OPTIONS, next);
			next = dump_options(d, &c);
		}
		if (c.bad)
			return damaged(path, "list of sections", e);
	}
	DUMP(d, SUMMARY | FTRACE_DUMP_OPTIONS, "\t[%u options]\n", d->n_options);
	r = dump_pointed(d, path, e);
	if (r < 0)
		return r;
	DUMP(d, SUMMARY | FTRACE_DUMP_SECTIONS, "\t[%u sections]\n", n);
	return whole ? 0 : damaged(path, "last section", e);
}

int ftrace_dump(const struct source *s, const char *path, unsigned items, struct out *out,
		struct err *e)
{
	struct dump d = { .s = s, .t = tracedat_of(s), .out = out, .items = items };
	int r;

	dump_start(&d, path);
	r = d.t->version >= 7 ? dump7(&d, path, e) : dump6(&d, path, e);
	vec_free(&d.pointed);
	return r;
}
