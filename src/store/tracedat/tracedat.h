/* SPDX-License-Identifier: MIT */
/*
 * Reading trace.dat, versions 6 and 7: the recordings of trace-cmd and kymo ftrace.
 *
 * Opening maps the file, unpacks what is compressed and walks all pages once to
 * count what is there; records are then handed out straight from the pages. The
 * file is untrusted: every offset and size is checked against what remains. A
 * file that was cut gives what it has and says so in trace->losses.
 *
 * As a source: records with the stack that was taken with them as their call chain;
 * functions of function_graph as they end, with the functions they were called
 * from and the time they themselves took. Where all events are asked for, records of stacks
 * follow the sample that has them, and those without a format are there, as EVENT_OTHER.
 */
#pragma once

#include "event/trace.h"
#include "store/tracedat/ringbuf.h"

/*
 * The file stays open; path is what messages call it (source_open() opens those of any kind). On
 * failure *ret is untouched.
 */
int tracedat_open_fd(int fd, const char *path, struct source **ret, struct err *e);

/* What trace.dat has beyond the model; s must come from there. */

struct tracedat_cpu {
	uint32_t cpu;
	const uint8_t *data; /* pages, unpacked */
	uint64_t size;
	uint64_t offset;  /* in the file */
	uint64_t records; /* that were counted at opening */
};

/* The top instance comes first, with the name "". */
struct tracedat_buffer {
	const char *name, *clock; /* clock "" when not recorded */
	uint32_t page_size;
	struct tracedat_cpu *cpus;
	size_t n_cpus;
	const char *text; /* latency tracers: the trace as the kernel printed it; else NULL */
	size_t text_size;
};

struct tracedat_format {
	uint32_t id;
	const char *system, *text;
	size_t size;
	const char *name; /* of the event */
};

struct tracedat {
	int version;		 /* 6 or 7 */
	const char *compression; /* "none", "zstd", "zlib" */
	const char *packer;	 /* which version of it; "" in version 6 */
	uint32_t page_size, long_size, n_cpus;
	bool swap;
	const char *uname, *tool; /* "" when not recorded */
	const char *clock;	  /* of the top instance; "" when not recorded */
	bool has_clock;		  /* the option TRACECLOCK is there, be it empty (version 6) */
	const char *stats; /* what the kernel said of each CPU at the end; "" when not recorded */
	const char *header, *printk, *cmdlines, *tgids; /* header: header_page and header_event */
	size_t header_size, printk_size, cmdlines_size, tgids_size;
	int64_t time_offset; /* of all stamps, ns; from DATE and OFFSET */
	bool has_date;
	uint64_t first_stamp;	      /* before any offset; of all buffers */
	uint32_t tsc_mult, tsc_shift; /* 0: stamps are no tsc to be converted */
	uint64_t hz;		      /* as tracedat_set_clock() has it */
	bool raw_time;
	uint64_t trace_id;
	char *const *maps; /* what processes had mapped, a text each */
	size_t n_maps;
	const char *const *hooks; /* events that belong together, in trace-cmd's words */
	size_t n_hooks;
	struct tracedat_buffer *buffers;
	size_t n_buffers;
	struct tracedat_format *formats;
	size_t n_formats;
	/* Where all records have these, from their formats. */
	uint32_t type_at, pid_at, flags_at, preempt_at;
	struct ringbuf_layout layout; /* of its pages */
};
const struct tracedat *tracedat_of(const struct source *s);

/*
 * How stamps become times, where that is not to be as the file says; before anything is read. Said
 * again, offsets add up.
 */
struct tracedat_clock {
	int64_t offset;	   /* ns that are added */
	uint64_t hz;	   /* the ticks of a second; 0: as recorded */
	bool raw, no_date; /* stamps as they were written; without what makes them dates */
};
void tracedat_set_clock(struct source *s, const struct tracedat_clock *c);
/* The time in ns that a record's own stamp stands for; the stamp itself for counters. */
uint64_t tracedat_time(const struct tracedat *t, uint64_t stamp);

/* Are the stamps shown as seconds, or as they are? As trace-cmd takes the clocks. */
bool tracedat_in_ns(const struct tracedat *t);

/* A print format without the kernel's functions that report prints by what they are given. */
const char *tracedat_print_fmt(struct arena *a, const char *fmt);
