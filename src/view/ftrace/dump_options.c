/* SPDX-License-Identifier: MIT */
/* Options of a trace.dat, each as what it holds: a text, a number, a place, or more. */
#include <inttypes.h>

#include "view/ftrace/dump_impl.h"

#define OPTIONS FTRACE_DUMP_OPTIONS
#define PAGES (FTRACE_DUMP_OPTIONS | FTRACE_DUMP_FLYRECORD)

static const struct {
	const char *name;
	enum { OTHER, TEXT, INT, HEX, PLACE } kind;
} known[] = {
	[TRACEDAT_DATE] = { "DATE", TEXT },
	[TRACEDAT_CPUSTAT] = { "CPUSTAT", TEXT },
	[TRACEDAT_UNAME] = { "UNAME", TEXT },
	[TRACEDAT_HOOK] = { "HOOK", TEXT },
	[TRACEDAT_OFFSET] = { "OFFSET", TEXT },
	[TRACEDAT_CPUCOUNT] = { "CPUCOUNT", INT },
	[TRACEDAT_VERSION] = { "VERSION", TEXT },
	[TRACEDAT_PROCMAPS] = { "PROCMAPS", TEXT },
	[TRACEDAT_TRACEID] = { "TRACEID", HEX },
	[TRACEDAT_HEADER_INFO] = { "HEADERS", PLACE },
	[TRACEDAT_FTRACE_EVENTS] = { "FTRACE EVENTS", PLACE },
	[TRACEDAT_EVENT_FORMATS] = { "EVENT FORMATS", PLACE },
	[TRACEDAT_KALLSYMS] = { "KALLSYMS", PLACE },
	[TRACEDAT_PRINTK] = { "PRINTK", PLACE },
	[TRACEDAT_CMDLINES] = { "CMDLINES", PLACE },
};

static uint64_t ftrace_dump_options_number(struct cut *c, size_t size)
{
	return size == 8 ? cut_u64(c) : size == 4 ? cut_u32(c) : size == 2 ? cut_u16(c) : 0;
}

static void option_buffer(struct dump *d, unsigned id, struct cut *c, uint32_t size)
{
	uint64_t offset = cut_u64(c), total = 0;
	const char *name = cut_str(c), *clock;
	uint32_t page_size, cpus;

	if (d->t->version >= 7 && !c->bad)
		dump_section_line(d, FTRACE_DUMP_FLYRECORD, offset);
	DUMP(d, PAGES, "\t\t[Option BUFFER, %u bytes]\n", size);
	DUMP(d, PAGES, "%" PRIu64 " [offset]\n\"%s\" [name]\n", offset, name);
	if (d->t->version < 7)
		return;
	clock = cut_str(c);
	DUMP(d, PAGES, "\"%s\" [clock]\n", clock);
	if (id == TRACEDAT_BUFFER_TEXT) {
		DUMP(d, FTRACE_DUMP_SUMMARY, "\t[buffer \"%s\", \"%s\" clock, latency data]\n",
		     name, clock);
		return;
	}
	page_size = cut_u32(c);
	cpus = cut_u32(c);
	DUMP(d, PAGES, "%u [Page size, bytes]\n%u [CPUs]:\n", page_size, cpus);
	for (uint32_t i = 0; i < cpus && !c->bad; i++) {
		uint32_t cpu = cut_u32(c);
		uint64_t at = cut_u64(c), bytes = cut_u64(c);

		if (c->bad)
			return;
		total += bytes;
		DUMP(d, PAGES, "   %u %" PRIu64 "\t%" PRIu64 "\t[id, data offset and size]\n", cpu,
		     at, bytes);
	}
	DUMP(d, FTRACE_DUMP_SUMMARY,
	     "\t[buffer \"%s\", \"%s\" clock, %u page size, %u cpus, %" PRIu64
	     " bytes flyrecord data]\n",
	     name, clock, page_size, cpus, total);
}

/* The machine that a guest runs on, or the other way round: how its clock relates. */
static void option_shift(struct dump *d, struct cut *c, uint32_t size)
{
	uint64_t id = cut_u64(c);
	uint32_t flags = cut_u32(c), cpus = cut_u32(c);
	struct cut fractions = *c; /* behind the samples of all CPUs, in newer files */

	DUMP(d, OPTIONS, "\t\t[Option TimeShift, %u bytes]\n", size);
	DUMP(d, OPTIONS, "0x%" PRIX64 " [peer's trace id]\n", id);
	DUMP(d, OPTIONS, "0x%X [peer's protocol flags]\n", flags);
	DUMP(d, OPTIONS, "0x%X [peer's CPU count]\n", cpus);
	for (uint32_t i = 0; i < cpus && !fractions.bad; i++) {
		uint32_t n = cut_u32(&fractions);

		cut_bytes(&fractions, (uint64_t)n * 3 * 8);
		if (!fractions.bad)
			DUMP(d, OPTIONS, "%u [samples count for CPU %u]\n", n, i);
	}
	if (fractions.bad) {
		DUMP(d, OPTIONS, "Broken time shift option\n");
		return;
	}
	for (uint32_t i = 0; i < cpus; i++) {
		uint64_t n = cut_u32(c);
		struct cut times = *c, offsets = *c, scales = *c;

		cut_bytes(&offsets, n * 8);
		cut_bytes(&scales, n * 16);
		cut_bytes(c, n * 24);
		for (uint64_t k = 0; k < n; k++) {
			int64_t offset = (int64_t)cut_u64(&offsets),
				scale = (int64_t)cut_u64(&scales);
			uint64_t fraction = cut_u64(&fractions), time = cut_u64(&times);

			DUMP(d, OPTIONS,
			     "\t%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64
			     "[offset * scaling >> fraction @ time]\n",
			     offset, scale, fraction, time);
		}
	}
}

static void option_guest(struct dump *d, struct cut *c, uint32_t size)
{
	const char *name = cut_str(c);
	uint64_t id = cut_u64(c);
	uint32_t cpus = cut_u32(c);

	DUMP(d, OPTIONS, "\t\t[Option GUEST, %u bytes]\n%s [Guest name]\n", size, name);
	DUMP(d, OPTIONS, "0x%" PRIX64 " [trace id]\n%u [Guest CPUs]\n", id, cpus);
	for (uint32_t i = 0; i < cpus && !c->bad; i++) {
		uint32_t cpu = cut_u32(c), pid = cut_u32(c);

		if (!c->bad)
			DUMP(d, OPTIONS, "  %u %u [guest cpu, host pid]\n", cpu, pid);
	}
}

static void option_cycles(struct dump *d, struct cut *c, uint32_t size)
{
	uint32_t mult = cut_u32(c), shift = cut_u32(c);
	uint64_t offset = cut_u64(c);

	DUMP(d, OPTIONS, "\n\t\t[Option TSC2NSEC, %u bytes]\n", size);
	DUMP(d, OPTIONS, "%u %u %" PRIu64 " [multiplier, shift, offset]\n", mult, shift, offset);
}

static void option_known(struct dump *d, unsigned id, struct cut *c, uint32_t size)
{
	struct pointed p = { .id = (uint16_t)id };

	DUMP(d, OPTIONS, "\t\t[Option %s, %u bytes]", known[id].name, size);
	switch (known[id].kind) {
	case TEXT:
		DUMP(d, OPTIONS, "\n");
		if (size)
			dump_text(d, OPTIONS, c, size);
		break;
	case INT: DUMP(d, OPTIONS, "\n%" PRIu64 "\n", ftrace_dump_options_number(c, size)); break;
	case HEX: DUMP(d, OPTIONS, "\n0x%" PRIX64 "\n", ftrace_dump_options_number(c, size)); break;
	case PLACE:
		p.at = cut_u64(c);
		DUMP(d, OPTIONS, " @ %" PRIu64 "\n", p.at);
		vec_push(&d->pointed, p);
		break;
	case OTHER: break;
	}
}

static void option(struct dump *d, unsigned id, struct cut *c, uint32_t size)
{
	switch (id) {
	case TRACEDAT_BUFFER:
	case TRACEDAT_BUFFER_TEXT: option_buffer(d, id, c, size); break;
	case TRACEDAT_TRACECLOCK:
		DUMP(d, OPTIONS, "\t\t[Option TRACECLOCK, %u bytes]\n", size);
		dump_text(d, OPTIONS | FTRACE_DUMP_CLOCK, c, size);
		d->has_clock = true;
		break;
	case TRACEDAT_TIME_SHIFT: option_shift(d, c, size); break;
	case TRACEDAT_GUEST: option_guest(d, c, size); break;
	case TRACEDAT_TSC2NSEC: option_cycles(d, c, size); break;
	default:
		if (id < ARRAY_SIZE(known) && known[id].name)
			option_known(d, id, c, size);
		else
			DUMP(d, OPTIONS, " %u %u\t[Unknown option, size - skipping]\n", id, size);
	}
}

uint64_t dump_options(struct dump *d, struct cut *c)
{
	bool sections = d->t->version >= 7;

	for (;;) {
		uint16_t id = cut_u16(c);
		uint32_t size = id || sections ? cut_u32(c) : 0;
		struct cut data = *c;
		uint64_t next;

		cut_bytes(c, size);
		if (c->bad || (!id && !sections))
			return 0;
		data.end = c->p;
		d->n_options++;
		if (id) {
			option(d, id, &data, size);
			continue;
		}
		DUMP(d, OPTIONS, "\t\t[Option DONE, %u bytes]\n", size);
		if (size < 8)
			return 0;
		next = cut_u64(&data);
		DUMP(d, OPTIONS, next ? "%" PRIu64 "\n\n\n" : "%" PRIu64 "\n", next);
		return next;
	}
}
