/* SPDX-License-Identifier: MIT */
/*
 * Writing perf.data, as a file or as a stream (pipe form).
 *
 * Attributes stand before the data, so a recording that is cut short (kill -9,
 * a full disk) can be read up to its last whole record. Features that are known
 * at the start stand there too, behind a table of kymo's own (docs/perf-data.md),
 * so that such a recording can also be understood; perf finds them through its
 * own table after the data, when the recording is complete.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "store/perfdata/abi.h"

struct perfdata_writer;

struct perfdata_write_opts {
	const char *path; /* "-": stdout */
	bool pipe;	  /* stream form */
	int zstd_level;	  /* 0: not compressed */
};

/* The recording that is there stays as FILE.old, as with perf. */
void perfdata_keep_old(const char *path);
/* The file is made anew with mode 0600. */
int perfdata_write_open(const struct perfdata_write_opts *o, struct perfdata_writer **ret,
			struct err *e);

/* An event of a recording to be written. */
struct perfdata_event {
	const char *name; /* files have it in a feature, streams behind the attr */
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t n_ids;
	int leader; /* of its group; its own index when alone */
	const char *group_name;
};
/* All events, in their order, before the start; copied. */
void perfdata_write_event(struct perfdata_writer *w, const struct perfdata_event *ev);
/*
 * A feature that is known before the start; copied. In stream form it becomes a
 * record. One of kymo's own, which comes after the data, is announced here with n 0.
 */
void perfdata_write_early(struct perfdata_writer *w, unsigned feature, const void *data, size_t n);
int perfdata_write_start(struct perfdata_writer *w, struct err *e);

/* Whole records, as they stand in a ring. */
int perfdata_write_bytes(struct perfdata_writer *w, const void *data, size_t n, struct err *e);
/*
 * The same by several threads: room for n bytes of whole records, then pieces into it. Not for
 * streams, nor compressed.
 */
int perfdata_write_room(struct perfdata_writer *w, uint64_t n, uint64_t *at, struct err *e);
int perfdata_write_at(const struct perfdata_writer *w, uint64_t at, const void *data, size_t n);
/* The error of a piece that could not be written. */
int perfdata_write_failed(struct perfdata_writer *w, int code, struct err *e);
/* One record: its body without the header; size is rounded up to 8. */
int perfdata_write_record(struct perfdata_writer *w, uint32_t type, uint16_t misc, const void *body,
			  size_t n, struct err *e);
/* The same of a body in two pieces. */
int perfdata_write_record2(struct perfdata_writer *w, uint32_t type, const void *head,
			   size_t n_head, const void *body, size_t n, struct err *e);
/* Everything so far is on its way to the file, and it ends with a whole record. */
int perfdata_write_flush(struct perfdata_writer *w, struct err *e);

/* The data section is complete: readers of the file see it so. */
int perfdata_write_end_data(struct perfdata_writer *w, struct err *e);

/* A feature after the data; in stream form at any time. */
int perfdata_write_feature(struct perfdata_writer *w, unsigned feature, const void *data, size_t n,
			   struct err *e);
/* What is known to be missing in it. Before it ends. */
void perfdata_write_lost(struct perfdata_writer *w, uint64_t lost);
int perfdata_write_finish(struct perfdata_writer *w, struct err *e);

/* Its descriptor: what is read by this is what was written, whatever has its name by now. */
int perfdata_write_fd(const struct perfdata_writer *w);
uint64_t perfdata_write_size(const struct perfdata_writer *w); /* bytes so far */
/* How much smaller -z made it; 1 when nothing was compressed. */
double perfdata_write_ratio(const struct perfdata_writer *w);
/* After a failure: leave what was written up to its last whole record, so that it can be read. */
void perfdata_write_abandon(struct perfdata_writer *w);
/* Without finish: closes what is there. */
void perfdata_write_close(struct perfdata_writer *w);
