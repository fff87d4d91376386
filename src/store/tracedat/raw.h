/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace.dat, for who looks at the file and not at the trace: it is
 * also read where it was cut or damaged so that there is no trace to be had.
 */
#pragma once

#include "event/trace.h"

/* A place in bytes that may end too soon: then everything read is 0 and bad is set. */
struct cut {
	const uint8_t *p, *end;
	bool swap, bad;
};
uint16_t cut_u16(struct cut *c);
uint32_t cut_u32(struct cut *c);
uint64_t cut_u64(struct cut *c);
const char *cut_str(struct cut *c);		     /* up to its NUL; "" when bad */
const uint8_t *cut_bytes(struct cut *c, uint64_t n); /* NULL when bad */

/*
 * Only what all versions begin with is read. The source is good for tracedat_of(), which tells
 * version, sizes and compression, for the functions below, and for source_close().
 */
int tracedat_open_raw(const char *path, struct source **ret, struct err *e);

/* What follows that beginning. */
struct cut tracedat_raw_rest(const struct source *s);
struct cut tracedat_raw_at(const struct source *s, uint64_t offset);
/* What a section of version 7 holds, unpacked when need be; bad when it makes no sense. */
struct cut tracedat_raw_section(const struct source *s, uint64_t offset, uint16_t want);
