/* SPDX-License-Identifier: MIT */
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
#ifndef KYMO_STORE_TEXT_SOURCES_H
#define KYMO_STORE_TEXT_SOURCES_H

#include "event/trace.h"

typedef int text_source_fn(const char *name, const char *data, size_t n, struct source **ret,
			   struct err *e);
text_source_fn folded_source, script_text_source, pprof_source;

#endif
