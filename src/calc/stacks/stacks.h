/* SPDX-License-Identifier: MIT */
/*
 * Named, weighted stacks: what flame graphs, folded output, call trees and
 * exports are made of, whatever the source was.
 *
 * Frames and stacks are interned, so that a million samples are a million small
 * entries that point at far fewer stacks. Everything is shared by index.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/map.h"
#include "base/vec.h"

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_INLINED, /* into the frame before it (its caller) */
	FRAME_JIT,
	FRAME_UNKNOWN, /* an address without a name */
	FRAME_LABEL,   /* no code: a process, a thread, a state */
	FRAME_OFF,     /* of a stack that waited: off the CPU (stacks_mark_off) */
	FRAME_WAKER,   /* of who ended the wait */
};

struct frame {
	uint32_t name;	 /* in strings */
	uint32_t module; /* in strings: the file it came from; STRTAB_NONE when not known */
	uint32_t file;	 /* source file; STRTAB_NONE */
	uint32_t line;
	enum frame_kind kind;
};

/* Outermost (root) first: stacks->frame_ids[first .. first + n). */
struct stack {
	uint32_t first, n;
};

/* One or more samples of one stack that agree in all of this. */
struct stack_entry {
	uint32_t stack;
	uint32_t type; /* index into type_names */
	uint32_t comm; /* in strings; STRTAB_NONE when the stack itself says it, or nobody does */
	int32_t pid, tid; /* -1 when not known */
	uint32_t cpu;	  /* UINT32_MAX when not known */
	uint64_t time;	  /* ns; 0 when not kept */
	uint64_t count;	  /* samples */
	int64_t weight;	  /* what the picture sums; negative only in differences */
};

/* What an entry of a type is in time. */
struct stack_clock {
	uint64_t period; /* ns that a sample stands for; 0: not known */
	bool spans;	 /* the weight is ns, up to the entry's time */
};

struct stacks {
	struct strtab strings;
	VEC(struct frame) frames;
	VEC(uint32_t) frame_ids;
	VEC(struct stack) stacks;
	VEC(struct stack_entry) entries;
	VEC(uint32_t) type_names; /* "cycles:u", in strings */
	const char *unit;	  /* of weights: "samples", "cycles", "ns", "bytes" */
	VEC(uint32_t)
	type_units; /* in strings: the same by type, where types differ; may be empty */
	VEC(struct stack_clock) clocks; /* by type; may be empty */
	uint64_t time_quantum;		/* of the entries' times */
	struct index frame_index, stack_index;
};

/* A module without its folder: what functions of two builds are compared by. */
const char *stacks_module_name(const char *path);
uint32_t stacks_frame(struct stacks *s, const struct frame *f);
/* ids: root first. STRTAB_NONE when frame_ids is full (4 billion). */
uint32_t stacks_stack(struct stacks *s, const uint32_t *ids, size_t n);
void stacks_add(struct stacks *s, const struct stack_entry *e);
/* What the weights of a type count. */
const char *stacks_unit(const struct stacks *s, uint32_t type);
/*
 * Give the frames of a type's stacks kinds of their own, so that pictures tell waiting
 * from running: FRAME_OFF, and FRAME_WAKER beyond a label inside the stack.
 */
void stacks_mark_off(struct stacks *s, uint32_t type);
void stacks_free(struct stacks *s);
