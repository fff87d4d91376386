/* SPDX-License-Identifier: MIT */
/*
 * A source of samples whose frames have names instead of addresses: what the readers of folded
 * text, perf script's text and pprof profiles make (event/trace.h, struct trace_own).
 *
 *	struct own *o = own_new("folded text");
 *	uint32_t type = own_type(o, "samples", 7);
 *	uint32_t ids[] = { own_frame(o, &frame), ... };	// innermost first
 *	own_sample(o, ids, n, &(struct own_sample){ ... });
 *	struct source *s = own_source(o);		// or own_free(o)
 *
 * Frames and stacks are kept once each; texts are copied.
 */
#pragma once

#include "event/trace.h"
#include "store/text/text_line.h"

struct own_frame {
	struct text_part name, module, file;
	struct text_part home; /* the file whose code it is, where module does not say so */
	bool kernel;	       /* it is the kernel's code, inlined or not */
	uint32_t line;
	enum trace_frame_kind kind;
	bool is_addr; /* the name is only its address: */
	uint64_t addr;
};

struct own_sample {
	uint32_t type;
	int32_t pid, tid; /* -1: not known */
	uint32_t cpu;	  /* UINT32_MAX: not known */
	struct text_part comm;
	bool timed;
	uint64_t time, weight, count;
};

struct own;
/* format: what the source is called, a text that stays. */
struct own *own_new(const char *format);
void own_free(struct own *o); /* NULL is fine */
/* The trace's, to be filled: first_type and what it says of frames. */
struct trace_own *own_about(struct own *o);
struct arena *own_arena(struct own *o);

/* The type of that name, made when missing. */
uint32_t own_type(struct own *o, const char *name, size_t n);
/* Holds until the next own_type(). */
struct event_type *own_type_at(struct own *o, uint32_t type);
uint32_t own_frame(struct own *o, const struct own_frame *f);
/* id: innermost first. -EFBIG: more than there are numbers for. */
int own_sample(struct own *o, const uint32_t *id, size_t n, const struct own_sample *s);

/* All is there. It takes over o. */
struct source *own_source(struct own *o);

/*
 * Texts and profiles as sources: samples with stacks of names (event/trace.h, struct trace_own).
 * name is what errors call the data, which is not needed any more afterwards. On failure *ret is
 * untouched.
 *
 * Folded text: the annotations of stackcollapse (_[k] kernel, _[i] inlined, _[j] JIT) become
 * the frames' kinds and leave the names; "[libc.so.6]" is code of that file without a name.
 * Whether the first frame is a process cannot be known from the text, so it stays a frame.
 *
 * perf script's text: what the recording it was made of would give. The file of a frame says
 * whether it is the kernel's or made just in time. Weights are the counts in the text; where it
 * has none, each sample is 1.
 *
 * pprof: each type of value is an event.
 */
typedef int text_source_fn(const char *name, const char *data, size_t n, struct source **ret,
			   struct err *e);
text_source_fn folded_source, script_text_source, pprof_source;
