/* SPDX-License-Identifier: MIT */
/* A trace: what a recording or a live session is; and a source, which hands its events out. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/tar.h"
#include "event/event.h"
#include "event/task.h"
#include "event/type.h"

struct strbuf;

struct out; /* base/out.h */

/* What a recording says of its machine. Strings may be NULL; all live in trace->arena. */
struct trace_info {
	const char *hostname, *os_release, *version, *arch, *cpu_desc, *cpuid;
	const char *const *cmdline; /* NULL at the end */
	uint32_t cpus_online, cpus_available;
	uint64_t total_mem;	 /* KiB */
	uint64_t captured;	 /* seconds since 1970, 0 when not known */
	const char *kernel_path; /* vmlinux or [kernel.kallsyms] that was used */
	const char *kallsyms; /* saved kernel symbols as text; NULL when the recording has none */
	size_t kallsyms_size;
	bool walked;	   /* user stacks were walked by kymo: whole, and with what was inlined */
	unsigned clock_id; /* CLOCK_*; only when has_clock */
	bool has_clock;
	uint64_t clock_res;
	const char *clock; /* in ftrace's words ("local", "mono"); NULL: clock_id tells */
	uint64_t wall_time,
		wall_clock_time; /* the same instant: CLOCK_REALTIME ns, and the trace's clock */
	const char *header_text; /* the header as the source's own tool words it, without '#' */
};

/* Counts that every report ends with. */
/* User frames of a stack that kymo walks, unless fewer are asked for (live/walk/walker_abi.h). */
#define TRACE_WALK_DEPTH 1024
#define TRACE_WALK_MOST "1,024 frames are the most that kymo walks"

struct trace_losses {
	uint64_t lost_records; /* LOST records seen */
	uint64_t lost_events;  /* events the kernel had no room for */
	uint64_t lost_samples; /* LOST_SAMPLES: dropped before they were written */
	uint64_t throttled;
	uint64_t unknown_records, bad_records;
	uint64_t short_copies; /* stacks so far that were longer than their copies */
	uint64_t cut_bytes;    /* at the end of a recording that was cut short */
	bool cut;
	char note[256]; /* one line about what was skipped or cut; "" when nothing was */
	bool told;	/* the user has heard of it */
};

/* Events that are missing: LOST and LOST_SAMPLES count the same ones from two sides. */
static inline uint64_t trace_lost(const struct trace_losses *l)
{
	return l->lost_events > l->lost_samples ? l->lost_events : l->lost_samples;
}

/* Code that a runtime compiled while it was recorded, as its jit-PID.dump tells: from time on. */
struct trace_code {
	uint64_t time; /* CLOCK_MONOTONIC */
	uint64_t start, end;
	uint64_t pgoff; /* what symbols know the start by */
};
/*
 * All code of such a file, in the order of time; the caller frees *ret. How many. id: the build-id
 * that its copy in the cache goes by; size 0: it has none.
 */
typedef size_t trace_code_fn(struct tar *files, const char *path, const uint8_t *id, size_t size,
			     struct trace_code **ret);

/* Who woke others, for chains with EVENT_CHAIN_WAKER. */
struct trace_waker {
	uint32_t space; /* of its user addresses */
	char comm[16];
};

/* As enum frame_kind of calc/stacks/stacks.h, whose first ones these are. */
enum trace_frame_kind {
	TRACE_FRAME_USER,
	TRACE_FRAME_KERNEL,
	TRACE_FRAME_INLINED, /* into the frame outside of it */
	TRACE_FRAME_JIT,
	TRACE_FRAME_UNNAMED, /* name is the address, or where it was: "[libc.so.6]" */
	TRACE_FRAME_LABEL,   /* no code */
};

/* A place in code as a text names it. */
struct trace_frame {
	const char *name;
	const char *module, *file; /* NULL when not known; file: of its source */
	uint32_t line;
	uint32_t function; /* the first frame of the same function, which has other lines */
	enum trace_frame_kind kind;
	bool is_addr; /* without a name, and its address is known */
	uint64_t addr;
};

/*
 * The names that a source brings instead of code: folded text, perf script's text, pprof. Its
 * addresses are made up, one for each frame, in the middle of TRACE_OWN_SIZE bytes so that a
 * return address less one is the same frame. They are the same in all processes.
 */
#define TRACE_OWN_USER 0x100000u
#define TRACE_OWN_KERNEL 0xffff800000000000u
#define TRACE_OWN_SIZE 16u
struct trace_own {
	struct trace_frame *frame; /* those of the kernel last */
	size_t n, n_user;
	uint32_t first_type; /* what is shown when no event was named */
	bool as_written;     /* all frames are shown, and none left out for what it is */
	bool keep_text;	     /* nothing is known of names but what they are: they stay */
	bool tasks, modules; /* threads and files of code are known, at least some */
	bool several;	     /* samples have a value of each type */
	bool two;	     /* types 0 and 1 are what is to be compared */
};

/* The frame's address. */
static inline uint64_t trace_own_addr(const struct trace_own *o, size_t frame)
{
	uint64_t base = frame < o->n_user ? TRACE_OWN_USER : TRACE_OWN_KERNEL;

	return base + TRACE_OWN_SIZE / 2 +
	       TRACE_OWN_SIZE * (uint64_t)(frame < o->n_user ? frame : frame - o->n_user);
}

/* The address that stands for its function, whatever the line. */
static inline uint64_t trace_own_start(const struct trace_own *o, const struct trace_frame *f)
{
	return trace_own_addr(o, f->function);
}

/* The frame of an address; NULL: none. */
static inline const struct trace_frame *trace_own_frame(const struct trace_own *o, uint64_t addr)
{
	bool kernel = addr >= TRACE_OWN_KERNEL;
	uint64_t i = (addr - (kernel ? TRACE_OWN_KERNEL : TRACE_OWN_USER)) / TRACE_OWN_SIZE;

	if (addr < TRACE_OWN_USER || i >= (kernel ? o->n - o->n_user : o->n_user))
		return NULL;
	return &o->frame[kernel ? i + o->n_user : i];
}

/* What a trace was put together from: the instances of ftrace, the recordings that are merged. */
struct trace_part {
	const char *name; /* "" for the first instance of a recording */
	uint32_t source;  /* which of the recordings */
};

struct trace {
	struct arena arena;
	struct event_type *types;
	size_t n_types;
	struct tasks *tasks;
	const struct trace_part *parts;
	size_t n_parts; /* 0: it is of one piece */
	struct trace_info info;
	struct trace_losses losses;
	uint64_t n_samples;		/* over all types */
	uint64_t first_time, last_time; /* of samples; 0, 0 when they have no time */
	bool big_endian_source;		/* was written by a machine of the other endian */
	const struct trace_waker *wakers;
	size_t n_wakers;
	/* A side-band event in the words of the format's own tool; NULL: it has none. */
	void (*record_text)(const struct event *ev, struct strbuf *b);
	void *tep; /* of event/text.h, for tracepoints; NULL when there are no formats */
	const struct trace_own *own; /* NULL: its addresses are those of code */
	struct tar *files; /* what came with the recording, closed with it; NULL: nothing */
};

typedef int event_fn(void *ctx,
		     const struct event *ev); /* non-zero stops the reading and is returned */

/* What counting chains needs of a sample. Millions are read so, and more would cost. */
struct event_brief {
	const uint64_t *chain; /* as in struct event */
	uint64_t time, ip, weight;
	int32_t pid, tid;
	uint32_t chain_n;
	uint32_t cpu; /* UINT32_MAX when not known */
	uint32_t type;
	uint32_t mode; /* enum event_mode */
};
#define EVENT_BRIEFS 32 /* at once, at most */
typedef int event_brief_fn(void *ctx, const struct event_brief *b, size_t n);

/* A dump of a recording as it stands. */
struct source_dump {
	struct out *out;
	const char *file; /* what it is called */
	bool unsorted;	  /* in the order of the file, not of time */
	/* What else is to be said of a sample, below it; NULL: nothing. Non-zero ends the dump. */
	event_fn *sample;
	void *ctx;
};

/*
 * Opened by store/ and live/. trace is complete (types, tasks, info) as soon as
 * the source is open; samples of a recording are then read as often as wanted, those of what is
 * live are polled.
 */
struct source {
	struct trace *trace;
	const char *format; /* "perf.data", "trace.dat" */
	void *impl;
	bool stable; /* what events point to holds as long as the source is open */
	/* Samples fall into this many parts of about equal size. */
	size_t n_chunks;
	/* The samples of one part, in the source's order. Different parts may be read at once by
	 * different threads. */
	int (*read_chunk)(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e);
	/* The same in brief, where all samples are of one event; NULL: that cannot be had. */
	int (*read_brief)(struct source *s, size_t chunk, event_brief_fn *fn, void *ctx);
	/* Everything in time order (ties as in the source): samples, and the side-band kinds too
	 * when all is true. */
	int (*read_ordered)(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);
	/* Everything as it is stored, with EVENT_ROUND where it stands; NULL: it says nothing of
	 * rounds. */
	int (*read_stored)(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);
	/* All records with their bytes and what they mean, as the format's own tool words them;
	 * NULL: they have no such form. */
	int (*dump)(struct source *s, const struct source_dump *d);
	/* How a type was set up, in the format's own words: fn gets each that is set. NULL: it does
	 * not tell. */
	void (*settings)(const struct source *s, size_t type, setting_fn *fn, void *ctx);
	/*
	 * Of what happens now, which has no samples to be read again: n_chunks is 0, read_chunk,
	 * read_brief and read_ordered are NULL. Hands out what has come since the last call, in
	 * time order, up to a moment before which nothing more can come; the rest waits for the
	 * next call. all: the rest too, and only what is of one CPU needs be in order. What events
	 * point to holds until the next call. An answer of fn ends this one: what it was not given
	 * comes with the next, though all may drop it. NULL: a recording.
	 */
	int (*poll)(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);
	void (*close)(struct source *s); /* frees s and its trace */
};

static inline void source_close(struct source *s)
{
	if (s)
		s->close(s);
}
