/* SPDX-License-Identifier: MIT */
/* What record's files share: options (record.c), the recording (record_run.c), the file
 * (record_out.c). */
#ifndef KYMO_CMD_RECORD_H
#define KYMO_CMD_RECORD_H

#include "base/str.h"
#include "cmd/command.h"
#include "event/spec.h"
#include "live/about.h"
#include "live/capture.h"
#include "live/target.h"
#include "store/perfdata_write.h"

struct record_args {
	struct spec_list events;
	struct target_opts target;
	struct capture_opts capture;
	const char *cgroups, *output, *control, *switch_output, *branch;
	bool no_inherit, quiet, no_buildid, buildid_all, no_buildid_cache, exclude_perf,
		timestamp_file;
	bool freq_given, off_cpu;
	int verbose, delay_ms, zstd_level, switch_max_files;
	uint64_t max_size;
	/* of --switch-output */
	bool switch_signal;
	uint64_t switch_bytes, switch_ns;
	char **cmdline; /* kymo's own words */
};

/* The file (or files, one after the other) that a recording goes to. */
struct record_out {
	const struct record_args *a;
	struct capture *capture;
	struct perfdata_writer *w;
	const char *tracefs; /* NULL: no tracepoints */
	char *path;	     /* of the file being written; NULL on a pipe */
	bool pipe;
	uint64_t files, bytes; /* finished ones */
	uint64_t samples;      /* in all files, as counted afterwards */
	uint64_t wall_ns, clock_ns;
	char **kept; /* names of finished files, when only the newest are kept */
};

int record_out_open(struct record_out *o, struct err *e);
/* Whole records. */
int record_out_bytes(void *o, const void *data, size_t n, struct err *e);
/* After each look at all rings. */
int record_out_round(struct record_out *o, struct err *e);
/* Complete the file: build-ids, features, header. */
int record_out_close(struct record_out *o, struct err *e);
/* Complete it under a name with the time, and begin the next. */
int record_out_next(struct record_out *o, struct err *e);
uint64_t record_out_size(const struct record_out *o);

int record_run(struct record_args *a, char **argv, struct err *e);

#endif
