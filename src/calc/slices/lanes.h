/* SPDX-License-Identifier: MIT */
/*
 * Lanes of a timeline: slices kept to be drawn at any scale.
 *
 *	l = lanes_new(trace);
 *	source->read_ordered(source, true, lanes_add, l, e);
 *	lanes_finish(l);
 *	vec_each (&l->lanes, lane)
 *		for each row of it: lanes_marks(row, from, to, columns, marks)
 *
 * A lane is what a CPU, thread or device did. Slices that are inside of each other, or that overlap
 * as requests of a disk do, stand in rows below each other; in a row none overlaps another, and
 * they stand in the order of time.
 *
 * A thread's states follow from switches and wake-ups: it runs, is runnable since it was woken or
 * preempted, or waits in the state that the switch tells. Who woke it stands in the slice, and as
 * an arrow.
 *
 * Events may be missing. A slice says which of its ends nobody saw: then it reaches to the nearest
 * moment at which it must have begun or ended. Where a CPU lost events, what ran there ends with
 * the last event before; what the thread did then is not known.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "event/trace.h"

enum lane_kind {
	LANE_CPU,   /* id: CPU; slices: who ran */
	LANE_STATE, /* id: thread; slices: its states; a gap where they are not known */
	LANE_CALL,  /* id: thread; slices: system calls */
	LANE_IRQ,   /* id: CPU; slices: interrupts, hard and soft */
	LANE_BLOCK, /* id: device; slices: requests */
};

enum lane_state {
	LANE_UNKNOWN,
	LANE_RUNNING,
	LANE_RUNNABLE,
	LANE_SLEEPING,
	LANE_DISK, /* uninterruptible */
	LANE_STOPPED,
	LANE_DEAD,
};

#define LANE_NO_BEGIN 1 /* nobody saw it begin */
#define LANE_NO_END 2
#define LANE_PREEMPTED 4 /* runnable because somebody else was to run */

struct lane_slice {
	uint64_t from, to; /* ns */
	uint32_t what;	   /* in names; of LANE_CPU a thread; of a runnable one who woke it, or 0 */
	uint16_t cpu;
	uint8_t state; /* enum lane_state; of LANE_STATE only */
	uint8_t flags;
};

#define LANE_FAN 16
#define LANE_LEVELS 8

struct lane_row {
	VEC(struct lane_slice) slices;
	/* Of LANE_FAN slices each: the time in all before them; and the longest of them, on the
	 * next level that of LANE_FAN such blocks, and so on. */
	uint64_t *busy;
	uint32_t *longest[LANE_LEVELS];
	unsigned levels;
};

struct lane {
	enum lane_kind kind;
	uint32_t id;
	VEC(struct lane_row) rows;
	uint64_t taken; /* a bit for each row that something is open in */
};

/* Somebody woke somebody. */
struct lane_arrow {
	uint64_t time;
	int32_t waker, woken;
	uint32_t cpu; /* of the waker */
	bool in_irq;  /* an interrupt did it, whoever it met */
};

struct lanes {
	const struct trace *trace;
	VEC(struct lane) lanes;	       /* in the order of their first events */
	struct strtab names;	       /* of calls, interrupts and kinds of requests */
	VEC(struct lane_arrow) arrows; /* in the order of time */
	struct lanes_making *making;
};

struct lanes *lanes_new(const struct trace *t);
/* An event_fn, in the order of time; kinds that are no samples tell of switches and losses. */
int lanes_add(void *lanes, const struct event *ev);
/* Ends what is open, and makes what lanes_marks() needs. Nothing may be added afterwards. */
void lanes_finish(struct lanes *l);
void lanes_free(struct lanes *l); /* NULL is fine */
/* NULL: there is none. */
const struct lane *lanes_find(const struct lanes *l, enum lane_kind kind, uint32_t id);

/* lanes_marks.c: when all slices of a row are there. */
void lane_row_sum(struct lane_row *r);
void lane_row_free(struct lane_row *r);

/* What is to be drawn: a slice, or several that are too small to be told apart. */
struct lane_mark {
	uint64_t from, to; /* inside of what was asked for */
	uint64_t busy;	   /* ns of it that slices fill */
	uint32_t count;	   /* slices that reach into it */
	uint32_t longest;  /* which of the row: what it looks like */
};
/*
 * At most `most` marks for [from, to), in the order of time: the slices themselves where they are
 * not more, else one for each of `most` equal parts of the time that slices reach into. What it
 * costs goes by `most` and by the logarithm of the slices.
 */
size_t lanes_marks(const struct lane_row *r, uint64_t from, uint64_t to, size_t most,
		   struct lane_mark *ret);
