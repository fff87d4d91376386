/* SPDX-License-Identifier: MIT */
/* What the parts of the trace.dat reader share. */
#pragma once

#include <string.h>

#include "base/budget.h"
#include "base/vec.h"
#include "store/tracedat/abi.h"
#include "store/tracedat/raw.h"
#include "store/tracedat/tracedat.h"

#define NO_TYPE EVENT_TYPE_NONE

struct reader {
	struct source source;
	struct trace trace;
	struct tracedat t;
	const uint8_t *data;
	size_t size;
	const char *path;
	uint64_t head_end; /* where what differs between the versions begins */
	bool mapped;
	VEC(struct tracedat_buffer) buffers;
	VEC(struct tracedat_format) formats;
	VEC(const char *) hooks; /* these, too */
	VEC(char *) maps;	 /* texts are the arena's */
	VEC(uint8_t *) blocks;	 /* unpacked data that is owned */
	struct budget budget;	 /* what unpacking may take */
	uint64_t seen_options;	 /* how many sections of options were read */
	uint32_t *type_of;	 /* by format number, 65536 of them */
	bool graph;		 /* has functions of function_graph */
	uint32_t fn_type, entry_type, exit_type, kstack_type, ustack_type; /* NO_TYPE: none */
	struct {
		const struct field *ip, *parent, *entry_func, *entry_depth;
		const struct field *exit_func, *exit_depth, *calltime, *rettime;
	} fields; /* of those; NULL: there is none */
};

/* The first note says where trouble began. */
__attribute__((format(printf, 2, 3))) void tracedat_note(struct reader *r, const char *fmt, ...);

/* A zeroed reader, closed by close, which ends with reader_close(). */
void reader_init(struct reader *r, const char *path, void (*close)(struct source *s));
/* All that stands before the pages is known: tasks, types, and what the pages hold. */
int reader_finish(struct reader *r, struct err *e);
void reader_close(struct source *s);

struct cut reader_cut(const struct reader *r, uint64_t offset);
/* As tracedat_raw_section(). */
struct cut reader_section(struct reader *r, uint64_t offset, uint16_t want);
/* Unpack a CPU's pages; what can be had of them. */
void unpack_cpu(struct reader *r, struct tracedat_cpu *cpu);

int head6_read(struct reader *r, struct cut *c, struct err *e);
int head7_read(struct reader *r, struct cut *c, struct err *e);
void head_pages(struct reader *r, struct cut *c);
void head_ftrace(struct reader *r, struct cut *c);
void head_events(struct reader *r, struct cut *c);
/* An option that both versions have. */
void head_option(struct reader *r, unsigned id, const uint8_t *data, uint32_t size);

/* A record's number of its format, and its thread; false when it is too short for them. */
bool tracedat_head(const struct tracedat *t, const struct ringbuf_record *r, uint16_t *id,
		   int32_t *pid);
struct tracedat_record {
	struct ringbuf_record r;
	uint32_t cpu, buffer;
};
struct tracedat_pids { /* those that were asked for last */
	int32_t tid[256], pid[256];
};
/* What all records say. Without a format it is EVENT_OTHER. */
void tracedat_event(const struct reader *r, struct tracedat_pids *pids,
		    const struct tracedat_record *rec, struct event *ev);

/* The records of one or more buffers in time order; equal times by buffer, then by CPU. */
struct tracedat_walk;
/* buffer: SIZE_MAX for all of them. cpu: UINT32_MAX for all. */
struct tracedat_walk *tracedat_walk_new(const struct reader *r, size_t buffer, uint32_t cpu);
/* The next record, without taking it; NULL at the end. It holds until the next call. */
const struct tracedat_record *tracedat_walk_peek(struct tracedat_walk *w);
bool tracedat_walk_next(struct tracedat_walk *w, struct tracedat_record *ret);
void tracedat_walk_free(struct tracedat_walk *w);

/* Count what the pages hold and give it types. */
int scan_pages(struct reader *r, struct err *e);

/*
 * Pages of the file up to there were read: they need not stay in memory, as whoever looks again
 * finds them in the file. *done, where that was last told, begins as the start of the data.
 */
void reader_done(const struct reader *r, const uint8_t **done, const uint8_t *upto);
/* An EVENT_LOST, before the record that was hit after a loss. */
int tracedat_give_lost(const struct reader *r, const struct tracedat_record *rec, event_fn *fn,
		       void *ctx);
int tracedat_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e);
int tracedat_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);

static inline struct reader *reader_of(const struct source *s)
{
	return s->impl;
}
