/* SPDX-License-Identifier: MIT */
/*
 * The text of function_graph, without what belongs to no function that was asked
 * for.
 *
 * Until Linux 6.10 a thread keeps its mark "inside of a traced function" when
 * tracing ends meanwhile. When it is traced the next time its first function,
 * whatever that is, and the ends of those it was in then are shown, though
 * nobody asked for them. So a thread's lines count from the first function on
 * that is one of those wanted. Lines that the kernel lost may be just those:
 * behind a loss everything is shown.
 */
#pragma once

#include "base/str.h"

struct graph_lines;

/* wanted: names as set_graph_function lists them; bars: columns that | ends before the calls. */
struct graph_lines *graph_lines_new(const char *wanted, unsigned bars);
/* A piece of the text, which may end anywhere; whole lines that are to be shown go to out. */
void graph_lines_feed(struct graph_lines *g, const char *text, size_t n, struct strbuf *out);
/* From now on all lines. */
void graph_lines_all(struct graph_lines *g);
void graph_lines_free(struct graph_lines *g); /* NULL is fine */
