/* SPDX-License-Identifier: MIT */
/* Private to the tracer's files. */
#ifndef KYMO_LIVE_TRACE_TRACER_PRIV_H
#define KYMO_LIVE_TRACE_TRACER_PRIV_H

#include "base/err.h"

struct trace_bpf;
struct walker;

/* Before loading: which of the programs is taken, and whose maps; w NULL: without stacks. */
int tracer_stack_prepare(struct trace_bpf *b, const struct walker *w, struct err *e);

#endif
