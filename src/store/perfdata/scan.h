/* SPDX-License-Identifier: MIT */
/* Between store/perfdata/scan.c and store/perfdata/scan_parts.c. Not for others. */
#ifndef KYMO_STORE_PERFDATA_SCAN_H
#define KYMO_STORE_PERFDATA_SCAN_H

#include "store/perfdata/impl.h"

struct scan {
	struct perfdata *pd;
	struct decoder d;
	uint32_t file;
	const uint8_t *base; /* of the file or unpacked block p lies in */
	uint64_t base_position;
	bool unpacked;
	bool part; /* not from the start: what needs more than the record itself ends it */
	struct err *e;
};

/*
 * Walk whole records from *at to the first one at or behind stop, no further than end; *at is
 * where it stopped.
 */
int scan_run(struct scan *s, const uint8_t **at, const uint8_t *stop, const uint8_t *end);

/*
 * Walk a large file in parts, by several threads; *at is where the rest begins, which may be all.
 */
int scan_parts(struct scan *s, const uint8_t **at, const uint8_t *end);
/* Less than this is not worth a thread; tests set it. */
extern size_t scan_part_bytes;

#endif
