/* SPDX-License-Identifier: MIT */
/* What a recording says of its machine and itself: perf.data's features, in perf's encoding.
 * What cannot be found out is left out. */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "event/spec/spec.h"
#include "store/perfdata/write.h"

struct about {
	const struct perfdata_event *events;
	size_t n_events;
	char *const *cmdline;		/* kymo's own, NULL at the end; NULL: not told */
	uint64_t first_time, last_time; /* of the samples; 0, 0: left out */
	int zstd_level;
	double zstd_ratio;
	bool has_clock;
	int clock_id;
	uint64_t wall_ns, clock_ns; /* one instant by both clocks */
};

/* The bytes of a feature into b (emptied first); false when there is nothing to say. */
bool about_feature(const struct about *a, enum perfdata_feature f, struct strbuf *b);

/*
 * The formats of tracepoints as perf's TRACING_DATA, for readers where those events do not exist.
 */

/* tracefs: where it is mounted. Events of specs that are no tracepoints are passed over. */
void tracing_data(const char *tracefs, const struct spec_list *specs, struct strbuf *b);
