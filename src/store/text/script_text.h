/* SPDX-License-Identifier: MIT */
/*
 * Reading the text of perf script, which is that of kymo script: samples, each a
 * line of who, when and what, and its stack below it, innermost frame first:
 *
 *	sh  4679/4680 [001]  6849.620063:    2004008 cpu-clock:
 *		          167ad8 __strlen_evex+0x18 (/usr/lib/libc.so.6)
 *		            9e90 [unknown] (/usr/bin/dash)
 *
 * A blank line ends a stack. Samples without a stack have their one frame on the
 * same line, or what a tracepoint says. Process names may hold blanks; PID, CPU,
 * time, count and event may be missing, and so may the parts of a frame behind its
 * address. Lines of other records (PERF_RECORD_...), of source positions and those
 * that begin with # are skipped.
 *
 * The text is untrusted. What cannot be read truly is refused with its line
 * number: a line that is none of these, a count that is too large, a NUL byte, more
 * than FOLDED_MAX_LINE bytes or FOLDED_MAX_DEPTH frames.
 */
#pragma once

#include "store/text/text_line.h"

struct script_frame {
	uint64_t addr;
	struct text_part name; /* none: code without a name */
	struct text_part file; /* "/usr/lib/libc.so.6", "[kernel.kallsyms]"; none: not known */
	bool inlined;	       /* into the frame behind it */
};

struct script_sample {
	uint64_t line; /* from 1, of its first line */
	struct text_part comm;
	struct text_part event;		  /* without the colon */
	bool tracepoint;		  /* of the event: it has a system, "sched:sched_switch" */
	int32_t pid, tid;		  /* -1: not known */
	uint32_t cpu;			  /* UINT32_MAX: not known */
	bool timed, counted;		  /* are time and period there? */
	uint64_t time;			  /* ns */
	uint64_t period;		  /* at most INT64_MAX */
	const struct script_frame *frame; /* innermost first; holds until the callback returns */
	size_t n;
};

/* A non-zero answer stops the reading and is returned. */
typedef int script_text_fn(void *ctx, const struct script_sample *s, struct err *e);

/* Does it begin as such a text does? */
bool script_text_looks(const char *data, size_t n);

/* name is what errors call the text. */
int script_text_read(const char *name, const char *data, size_t n, script_text_fn *fn, void *ctx,
		     struct err *e);

/* --- one line of it (script_text_line.c) --- */

/*
 * Who, when and what, with what stands behind it in *rest. -ERANGE when a number is
 * too large. With and without a time: the first place where all fits is taken.
 */
int script_text_header(const char *s, size_t n, struct script_sample *ret, struct text_part *rest);

/* An address, and what is behind it; blanks may stand before it. */
bool script_text_frame(const char *s, size_t n, struct script_frame *ret);

/* "file.c:12", as perf script -F +srcline puts it below a frame. */
bool script_text_is_position(const char *s, size_t n);
