/* SPDX-License-Identifier: MIT */
/*
 * The formats of tracepoints, packed as perf's TRACING_DATA, so that a
 * recording can be read where those events do not exist.
 */
#ifndef KYMO_LIVE_ABOUT_TRACING_DATA_H
#define KYMO_LIVE_ABOUT_TRACING_DATA_H

#include "base/str.h"
#include "event/spec/spec.h"

/* tracefs: where it is mounted. Events of specs that are no tracepoints are passed over. */
void tracing_data(const char *tracefs, const struct spec_list *specs, struct strbuf *b);

#endif
