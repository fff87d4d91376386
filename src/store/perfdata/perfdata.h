/* SPDX-License-Identifier: MIT */
/*
 * Reading perf.data: files, streams that were saved, directories.
 *
 * Opening walks all record headers once, applies the side-band to the trace's
 * tasks and notes where samples are; samples are decoded when read, straight
 * from the mapped file. The file is untrusted: every size is checked against
 * what remains, a cut or damaged file gives what it has and says so in
 * trace->losses.
 */
#pragma once

#include "base/str.h"
#include "event/trace.h"
#include "store/perfdata/abi.h"

/* On failure *ret is untouched. */
int perfdata_open(const char *path, struct source **ret, struct err *e);
/* The same of what is open already, and taken over, also on failure. */
int perfdata_open_fd(int fd, const char *path, struct source **ret, struct err *e);

/*
 * The same from a part of another file, which must outlive the source. A directory has its
 * parts as n files, "data" first. captured: when the file was written, in seconds since 1970.
 * files becomes the trace's on success.
 */
struct perfdata_part {
	const void *data;
	size_t size;
	const char *name; /* "data.3"; NULL for the only one */
};
int perfdata_open_parts(const struct perfdata_part *part, size_t n, const char *path,
			uint64_t captured, struct tar *files, struct source **ret, struct err *e);

/*
 * A part of a recording that is a folder: a regular file of that folder, whatever is there under
 * the name. A descriptor or -errno; -ENOENT, when there is none, without a message.
 */
int perfdata_open_part(int folder, const char *path, const char *name, struct err *e);

/* Who reads the files of runtimes that a recording tells of; NULL: nobody. For all recordings that
 * are opened from then on. */
void perfdata_set_code(trace_code_fn *fn);

/* What perf.data has beyond the model; s must come from perfdata_open(). */

/* A build-id of the BUILD_ID feature (or its pipe-mode record). */
struct perfdata_build_id {
	const char *path;
	uint8_t id[20];
	uint8_t size;
	uint16_t misc; /* cpumode of the mappings it came from */
	int32_t pid;   /* of a guest, else -1 */
};
const struct perfdata_build_id *perfdata_build_ids(const struct source *s, size_t *n);

/*
 * Every record in the order of the files, perf's own included, compressed ones
 * unpacked: for raw dumps. A record is looked at through the walk, which turns
 * it into host endian where need be.
 */
struct perfdata_view {
	const void *raw;		     /* as it stands in the file */
	struct perfdata_event_header header; /* host endian */
	uint64_t position;		     /* in its file; of the compressed record if unpacked */
	const char *file;		     /* "data.3" of a directory; NULL: the only one */
	size_t after; /* bytes that belong to it but follow it (AUXTRACE, TRACING_DATA) */
};
struct perfdata_walk;
struct perfdata_walk *perfdata_walk_new(struct source *s);
void perfdata_walk_free(struct perfdata_walk *w);
typedef int perfdata_view_fn(void *ctx, const struct perfdata_view *v);
int perfdata_walk_each(struct perfdata_walk *w, perfdata_view_fn *fn, void *ctx);
/* These hold until the next call. 0: it has no time. */
uint64_t perfdata_walk_time(struct perfdata_walk *w, const struct perfdata_view *v);
const struct perfdata_event_header *perfdata_walk_record(struct perfdata_walk *w,
							 const struct perfdata_view *v);
/* The record as an event; NULL for a damaged sample. */
const struct event *perfdata_walk_event(struct perfdata_walk *w, const struct perfdata_view *v);
/* Then: the event, or one for each counter it read. */
int perfdata_walk_deliver(struct perfdata_walk *w, event_fn *fn, void *ctx);

/* The header as perf prints it, with '#' before each line; full: topology and caches as well. */
void perfdata_header_text(const struct source *s, bool full, struct strbuf *b);

/* The path of a control group by the id samples carry; NULL when not recorded. */
const char *perfdata_cgroup(const struct source *s, uint64_t id);
/* The namespace of control groups that a thread was in then; 0 when not recorded. */
void perfdata_cgroup_namespace(const struct source *s, int32_t tid, uint64_t time, uint64_t *dev,
			       uint64_t *ino);
/* The socket a CPU sits in; -1 when not recorded. */
int perfdata_socket(const struct source *s, uint32_t cpu);
