/* SPDX-License-Identifier: MIT */
/*
 * What stands before the pages: formats, kernel symbols, names, options, and
 * where the pages of each CPU are. Version 6 has it in a fixed order; version 7
 * in sections that options point to.
 */
#include <stdio.h>

#include "base/str.h"
#include "store/tracedat/impl.h"

#define MAX_FORMATS 100000u
#define MAX_CPUS 65536u
#define MAX_BUFFERS 4096u
#define MAX_OPTION_SECTIONS 4096u
#define MAX_PROCESSES (1u << 20)
#define MAX_HOOKS 256u

static void sized_text(struct cut *c, uint64_t size, const char **text, size_t *n)
{
	const uint8_t *p = cut_bytes(c, size);

	if (p && size) {
		*text = (const char *)p;
		*n = (size_t)size;
	}
}

void head_pages(struct reader *r, struct cut *c)
{
	const char *text = NULL, *start = (const char *)c->p;
	size_t n = 0;

	if (strcmp(cut_str(c), "header_page") != 0)
		c->bad = true;
	sized_text(c, cut_u64(c), &text, &n);
	if (text)
		ringbuf_layout_parse(&r->t.layout, text, n);
	if (strcmp(cut_str(c), "header_event") != 0)
		c->bad = true;
	cut_bytes(c, cut_u64(c));
	if (!c->bad) {
		r->t.header = start;
		r->t.header_size = (size_t)((const char *)c->p - start);
	}
}

/* "name: sched_switch" and "ID: 317" without parsing the rest. */
static void add_format(struct reader *r, const char *system, const char *text, size_t n)
{
	const char *id = memmem(text, n, "\nID: ", 5), *end = text + n, *stop;
	struct tracedat_format f = { .system = system, .text = text, .size = n };
	uint32_t v = 0;

	if (!id || n < 6 || memcmp(text, "name: ", 6) != 0 || r->formats.n >= MAX_FORMATS)
		return;
	for (id += 5; id < end && *id >= '0' && *id <= '9' && v < 1u << 20; id++)
		v = v * 10 + (uint32_t)(*id - '0');
	stop = memchr(text, '\n', n);
	f.id = v;
	f.name = arena_strndup(&r->trace.arena, text + 6, (size_t)(stop - text) - 6);
	if (v <= UINT16_MAX)
		vec_push(&r->formats, f);
}

static void formats_of(struct reader *r, struct cut *c, const char *system)
{
	uint32_t n = cut_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		const char *text = NULL;
		size_t size = 0;

		sized_text(c, cut_u64(c), &text, &size);
		if (text)
			add_format(r, system, text, size);
	}
}

void head_ftrace(struct reader *r, struct cut *c)
{
	formats_of(r, c, "ftrace");
}

void head_events(struct reader *r, struct cut *c)
{
	uint32_t n = cut_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++)
		formats_of(r, c, arena_strdup(&r->trace.arena, cut_str(c)));
}

static void head_kallsyms(struct reader *r, struct cut *c)
{
	sized_text(c, cut_u32(c), &r->trace.info.kallsyms, &r->trace.info.kallsyms_size);
}

static void head_printk(struct reader *r, struct cut *c)
{
	sized_text(c, cut_u32(c), &r->t.printk, &r->t.printk_size);
}

static void head_cmdlines(struct reader *r, struct cut *c)
{
	sized_text(c, cut_u64(c), &r->t.cmdlines, &r->t.cmdlines_size);
}

static const char *option_text(struct reader *r, const uint8_t *data, uint32_t size)
{
	return arena_strndup(&r->trace.arena, (const char *)data,
			     strnlen((const char *)data, size));
}

static struct tracedat_buffer *head_buffer(struct reader *r, const char *name, const char *clock)
{
	struct tracedat_buffer *b;

	if (r->buffers.n >= MAX_BUFFERS)
		return NULL;
	b = vec_add(&r->buffers);
	b->name = name;
	b->clock = clock;
	b->page_size = r->t.page_size;
	return b;
}

/* A line of the kernel's trace_clock: "[local] global counter" or just the name. */
static const char *tracedat_head_clock_name(struct reader *r, const char *text, size_t n)
{
	const char *open = memchr(text, '[', n), *close;

	if (open && (close = memchr(open, ']', n - (size_t)(open - text))))
		return arena_strndup(&r->trace.arena, open + 1, (size_t)(close - open) - 1);
	n = strnlen(text, n);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	return arena_strndup(&r->trace.arena, text, n);
}

void head_option(struct reader *r, unsigned id, const uint8_t *data, uint32_t size)
{
	struct cut c = { .p = data, .end = data + size, .swap = r->t.swap };
	const char *text;

	switch (id) {
	case TRACEDAT_DATE:
		text = option_text(r, data, size);
		r->t.time_offset += strtoll(text, NULL, 0) * 1000;
		r->t.has_date = true;
		break;
	case TRACEDAT_OFFSET:
		r->t.time_offset += strtoll(option_text(r, data, size), NULL, 0);
		break;
	case TRACEDAT_CPUSTAT: /* one for each CPU */
		text = option_text(r, data, size);
		r->t.stats = arena_printf(&r->trace.arena, "%s%s\n", r->t.stats, text);
		text = strstr(text, TRACEDAT_STOPPED);
		if (text) {
			text += strlen(TRACEDAT_STOPPED);
			r->trace.losses.cut = true;
			tracedat_note(r, "the recording ended before it was to: %.*s",
				      (int)strcspn(text, "\n"), text);
		}
		break;
	case TRACEDAT_HOOK:
		if (r->hooks.n < MAX_HOOKS)
			vec_push(&r->hooks, option_text(r, data, size));
		break;
	case TRACEDAT_PROCMAPS:
		if (r->maps.n < MAX_PROCESSES)
			vec_push(&r->maps, (char *)option_text(r, data, size));
		break;
	case TRACEDAT_UNAME: r->t.uname = option_text(r, data, size); break;
	case TRACEDAT_VERSION: r->t.tool = option_text(r, data, size); break;
	case TRACEDAT_CPUCOUNT: r->t.n_cpus = cut_u32(&c); break;
	case TRACEDAT_TRACEID: r->t.trace_id = cut_u64(&c); break;
	case TRACEDAT_TRACECLOCK:
		r->t.has_clock = true;
		if (size)
			r->t.clock = tracedat_head_clock_name(r, (const char *)data, size);
		break;
	case TRACEDAT_TSC2NSEC:
		r->t.tsc_mult = cut_u32(&c);
		r->t.tsc_shift = cut_u32(&c);
		cut_u64(&c); /* an offset, which trace-cmd does not heed either */
		if (c.bad || r->t.tsc_shift > 63)
			r->t.tsc_mult = 0;
		break;
	default: break;
	}
}

/* --- version 6 --- */

/* One CPU's pages; what lies beyond the end of the file is missing. */
static void tracedat_head_add_cpu(struct reader *r, struct tracedat_buffer *b, uint32_t cpu,
				  uint64_t offset, uint64_t size)
{
	struct tracedat_cpu c = { .cpu = cpu, .offset = offset, .size = size };

	if (offset > r->size || size > r->size - offset) {
		uint64_t have = offset > r->size ? 0 : r->size - offset;

		r->trace.losses.cut = true;
		r->trace.losses.cut_bytes += size - have;
		tracedat_note(r, "the file was cut: pages of CPU %u are missing", cpu);
		c.size = have;
	}
	c.data = c.size ? r->data + offset : NULL;
	b->cpus = mem_grow(b->cpus, (b->n_cpus + 1) * sizeof(*b->cpus));
	b->cpus[b->n_cpus++] = c;
}

static void data6(struct reader *r, struct cut *c, struct tracedat_buffer *b, uint32_t cpus,
		  bool clock)
{
	const char *tag = (const char *)cut_bytes(c, 10);
	uint64_t size;
	const char *text = NULL;
	size_t n = 0;

	if (tag && memcmp(tag, "latency  ", 10) == 0) {
		b->text = (const char *)c->p;
		b->text_size = (size_t)(c->end - c->p);
		return;
	}
	if (!tag || memcmp(tag, "flyrecord", 10) != 0) {
		r->trace.losses.cut = true;
		tracedat_note(r, "the list of the pages is missing");
		return;
	}
	for (uint32_t i = 0; i < cpus && !c->bad; i++) {
		uint64_t offset = cut_u64(c);

		size = cut_u64(c);
		if (!c->bad)
			tracedat_head_add_cpu(r, b, i, offset, size);
	}
	if (!clock)
		return;
	sized_text(c, cut_u64(c), &text, &n);
	if (text && n < 4096)
		b->clock = tracedat_head_clock_name(r, text, n);
}

struct later {
	uint64_t offset;
	const char *name;
};

int head6_read(struct reader *r, struct cut *c, struct err *e)
{
	VEC(struct later) later = { 0 };
	struct tracedat_buffer *top;
	bool clock = false;
	const uint8_t *tag;
	uint32_t cpus;

	head_pages(r, c);
	head_ftrace(r, c);
	head_events(r, c);
	head_kallsyms(r, c);
	head_printk(r, c);
	head_cmdlines(r, c);
	cpus = cut_u32(c);
	if (c->bad || cpus > MAX_CPUS)
		return err_set(e, EINVAL, "%s was cut before its first event, or is damaged",
			       r->path);
	r->t.n_cpus = cpus;
	top = head_buffer(r, "", "");
	tag = (uint64_t)(c->end - c->p) >= 10 ? c->p : NULL;
	if (tag && memcmp(tag, "options  ", 10) == 0) {
		cut_bytes(c, 10);
		for (;;) {
			uint16_t id = cut_u16(c);
			uint32_t size = id ? cut_u32(c) : 0;
			const uint8_t *data = cut_bytes(c, size);

			if (c->bad || !id)
				break;
			if (id == TRACEDAT_BUFFER) {
				struct cut o = { data, data + size, r->t.swap, false };
				struct later l = { cut_u64(&o), cut_str(&o) };

				if (!o.bad && later.n < MAX_BUFFERS)
					vec_push(&later, l);
			} else if (id == TRACEDAT_TRACECLOCK && !size) {
				clock = r->t.has_clock = true;
			} else {
				head_option(r, id, data, size);
			}
		}
	}
	data6(r, c, top, r->t.n_cpus, clock);
	vec_each (&later, l) {
		struct cut at = reader_cut(r, l->offset);
		struct tracedat_buffer *b =
			head_buffer(r, arena_strdup(&r->trace.arena, l->name), "");

		if (b)
			data6(r, &at, b, r->t.n_cpus, clock);
	}
	vec_free(&later);
	return 0;
}

/* --- version 7 --- */

/* Text is packed as pages are, in blocks, unlike other sections. */
static void text7(struct reader *r, struct tracedat_buffer *b, uint64_t offset)
{
	struct cut head = reader_cut(r, offset);
	uint16_t id = cut_u16(&head), flags = cut_u16(&head);
	struct tracedat_cpu blocks = { .offset = offset + 16 };

	if (head.bad || id != TRACEDAT_BUFFER_TEXT)
		return;
	if (flags & TRACEDAT_COMPRESSED) {
		unpack_cpu(r, &blocks);
		b->text = (const char *)blocks.data;
		b->text_size = blocks.size;
	} else {
		struct cut text = reader_section(r, offset, TRACEDAT_BUFFER_TEXT);

		b->text = text.bad ? NULL : (const char *)text.p;
		b->text_size = text.bad ? 0 : (size_t)(text.end - text.p);
	}
}

static void buffer7(struct reader *r, struct cut *c, bool is_text)
{
	uint64_t offset = cut_u64(c);
	const char *name = arena_strdup(&r->trace.arena, cut_str(c));
	const char *clock = arena_strdup(&r->trace.arena, cut_str(c));
	uint32_t page_size, cpus;
	struct tracedat_buffer *b;
	struct cut head;
	bool packed;

	if (c->bad || !(b = head_buffer(r, name, clock)))
		return;
	if (is_text) {
		text7(r, b, offset);
		return;
	}
	page_size = cut_u32(c);
	cpus = cut_u32(c);
	head = reader_cut(r, offset);
	cut_u16(&head);
	packed = cut_u16(&head) & TRACEDAT_COMPRESSED;
	if (page_size >= 512 && page_size <= 64u << 20)
		b->page_size = page_size;
	for (uint32_t i = 0; i < cpus && !c->bad && i < MAX_CPUS; i++) {
		uint32_t cpu = cut_u32(c);
		uint64_t at = cut_u64(c), size = cut_u64(c);

		if (c->bad)
			break;
		tracedat_head_add_cpu(r, b, cpu, at, size);
		if (packed && size)
			unpack_cpu(r, &b->cpus[b->n_cpus - 1]);
	}
}

static void thread_groups(struct reader *r, uint64_t offset)
{
	struct cut c = reader_section(r, offset, TRACEDAT_SAVED_TGIDS);

	if (!c.bad)
		sized_text(&c, cut_u64(&c), &r->t.tgids, &r->t.tgids_size);
}

/* kymo writes the thread groups behind the names of threads, without an option (see the writer). */
static void thread_groups_behind(struct reader *r, uint64_t offset)
{
	struct cut head = reader_cut(r, offset);
	uint64_t size;

	cut_u64(&head); /* what it is, how it is packed, its description */
	size = cut_u64(&head);
	if (!head.bad && size <= (uint64_t)(head.end - head.p))
		thread_groups(r, offset + 16 + size);
}

static void option7(struct reader *r, unsigned id, const uint8_t *data, uint32_t size)
{
	static void (*const sections[])(struct reader *, struct cut *) = {
		[TRACEDAT_HEADER_INFO] = head_pages,	[TRACEDAT_FTRACE_EVENTS] = head_ftrace,
		[TRACEDAT_EVENT_FORMATS] = head_events, [TRACEDAT_KALLSYMS] = head_kallsyms,
		[TRACEDAT_PRINTK] = head_printk,	[TRACEDAT_CMDLINES] = head_cmdlines,
	};
	struct cut o = { data, data + size, r->t.swap, false }, c;
	uint64_t offset;

	if (id == TRACEDAT_BUFFER || id == TRACEDAT_BUFFER_TEXT) {
		buffer7(r, &o, id == TRACEDAT_BUFFER_TEXT);
	} else if (id < ARRAY_SIZE(sections) && sections[id]) {
		offset = cut_u64(&o);
		c = reader_section(r, offset, (uint16_t)id);
		if (!c.bad)
			sections[id](r, &c);
		if (id == TRACEDAT_CMDLINES && !c.bad)
			thread_groups_behind(r, offset);
		if (c.bad || o.bad) {
			r->trace.losses.bad_records++;
			tracedat_note(r, "section %u is damaged or was cut", id);
		}
	} else if (id == TRACEDAT_SAVED_TGIDS) {
		thread_groups(r, cut_u64(&o));
	} else {
		head_option(r, id, data, size);
	}
}

/* One section of options; the offset of the next, 0 when it is the last. */
static uint64_t options7(struct reader *r, uint64_t offset)
{
	struct cut c = reader_section(r, offset, TRACEDAT_DONE);

	if (c.bad) {
		r->trace.losses.cut = true;
		tracedat_note(r, "a list of sections is missing at byte %llu",
			      (unsigned long long)offset);
		return 0;
	}
	while (!c.bad && c.end - c.p >= 6) {
		uint16_t id = cut_u16(&c);
		uint32_t size = cut_u32(&c);
		const uint8_t *data = cut_bytes(&c, size);
		struct cut next = { data, data ? data + size : data, r->t.swap, false };

		if (c.bad)
			break;
		if (id == TRACEDAT_DONE)
			return size >= 8 ? cut_u64(&next) : 0;
		option7(r, id, data, size);
	}
	return 0;
}

int head7_read(struct reader *r, struct cut *c, struct err *e)
{
	uint64_t next = cut_u64(c);

	if (c->bad)
		return err_set(e, EINVAL, "%s was cut: it has only %zu bytes", r->path, r->size);
	if (!next || next >= r->size) {
		err_set(e, EINVAL,
			"%s was cut: its list of sections should be at byte %llu, and it has %zu",
			r->path, (unsigned long long)next, r->size);
		return err_hint(e, "record it again, or copy it again from where it is whole");
	}
	while (next && r->seen_options++ < MAX_OPTION_SECTIONS)
		next = options7(r, next);
	if (!r->buffers.n && !r->formats.n)
		return err_set(e, EINVAL, "%s: %s", r->path,
			       r->trace.losses.note[0] ? r->trace.losses.note
						       : "it holds no trace");
	return 0;
}
