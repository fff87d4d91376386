/* SPDX-License-Identifier: MIT */
/*
 * Reading perf.data: files, pipe streams (also from stdin, "-"), directories.
 *
 * Opening walks all record headers once, applies the side-band to the trace's
 * tasks and notes where samples are; samples are decoded when read, straight
 * from the mapped file. The file is untrusted: every size is checked against
 * what remains, a cut or damaged file gives what it has and says so in
 * trace->losses.
 */
#ifndef KYMO_STORE_PERFDATA_H
#define KYMO_STORE_PERFDATA_H

#include "event/trace.h"
#include "store/perfdata_abi.h"

/* On failure *ret is untouched. */
int perfdata_open(const char *path, struct source **ret, struct err *e);

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

/* Every record in the order of the file, compressed ones unpacked; host endian. */
struct perfdata_view {
	const struct perfdata_event_header *header; /* followed by the record */
	uint64_t position;			    /* in its file */
	const char *file; /* "data.3" of a directory; NULL: the only one */
	size_t after;	  /* bytes that belong to it but follow it (AUXTRACE, TRACING_DATA) */
};
typedef int perfdata_record_fn(void *ctx, const struct perfdata_view *v);
int perfdata_each(struct source *s, perfdata_record_fn *fn, void *ctx, struct err *e);

/* A non-sample record's trailer or a sample's fields as an event; false when it is too short. */
bool perfdata_event(const struct source *s, const struct perfdata_view *v, struct event *ev);

/* "[kernel.kallsyms]_text" ... what a record type is called; NULL when not known. */
const char *perfdata_record_name(uint32_t type);

/* The path of a control group by the id samples carry; NULL when not recorded. */
const char *perfdata_cgroup(const struct source *s, uint64_t id);

#endif
