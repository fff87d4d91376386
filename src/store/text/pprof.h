/* SPDX-License-Identifier: MIT */
/*
 * Reading pprof profiles (profile.proto), gzipped or plain.
 *
 * Everything but the samples is taken apart when it is opened, and every number that names
 * something else is checked then. Samples are read one by one. The file is untrusted; a message
 * that runs beyond its end, a string or an id that is not there are refused.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "store/text/text_line.h"

#define PPROF_MAX_FRAMES 65536u /* of a sample */
#define PPROF_MAX_TYPES 64u

struct pprof_type {
	struct text_part type, unit; /* "cpu", "nanoseconds" */
};

struct pprof_function {
	struct text_part name, file;
};

struct pprof_line {
	uint32_t function; /* index into functions */
	int64_t line;
};

struct pprof_location {
	uint64_t address;
	struct text_part mapping; /* its file; empty when it has none */
	uint32_t first, n;	  /* lines; innermost first: the last one is the function itself */
};

struct pprof_bytes {
	const uint8_t *p;
	size_t n;
};

struct pprof {
	uint8_t *inflated; /* owned; NULL when the file was plain */
	VEC(struct text_part) strings;
	VEC(struct pprof_type) types;
	VEC(struct pprof_function) functions;
	VEC(struct pprof_line) lines;
	VEC(struct pprof_location) locations;
	VEC(struct pprof_bytes) samples; /* for pprof_sample() */
	struct text_part default_type;
	int64_t time, duration, period; /* ns */
	struct map location_ids;	/* id -> index + 1 */
};

struct pprof_sample {
	VEC(uint32_t) locations; /* indices, innermost first */
	int64_t value[PPROF_MAX_TYPES];
	struct text_part comm;	   /* by labels; empty when there is none */
	int64_t pid, tid, cpu, at; /* -1 when there is none; at: ns */
};

/* Does it look like one? Only the beginning is looked at for gzip, all of it for plain files. */
bool pprof_looks(const void *data, size_t n);

/* data must outlive *ret. On failure *ret is empty. name is what errors call it. */
int pprof_open(const char *name, const void *data, size_t n, struct pprof *ret, struct err *e);
void pprof_close(struct pprof *p);

/* Sample i into *s, whose vector is used again and again, and is the caller's to free. */
int pprof_sample(const struct pprof *p, size_t i, struct pprof_sample *s, struct err *e);
