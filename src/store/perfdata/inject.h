/* SPDX-License-Identifier: MIT */
/*
 * A recording again, with its list of build-ids in place of the one it had. A file stays
 * byte for byte what it was but for that list; a stream gets it as records before the first
 * that tells of anything.
 */
#ifndef KYMO_STORE_PERFDATA_INJECT_H
#define KYMO_STORE_PERFDATA_INJECT_H

#include "base/str.h"
#include "event/trace.h"

/* One entry of the list, in the encoding of the feature; misc is the cpumode. */
void perfdata_build_id_entry(struct strbuf *b, uint16_t misc, int32_t pid, const uint8_t *id,
			     size_t n, const char *path);

/*
 * s from perfdata_open(); entries as made above. To a file, or to standard output ("-"), which
 * gets a stream. -EOPNOTSUPP for recordings in a folder, cut ones and those of the other endian.
 */
int perfdata_inject(struct source *s, const struct strbuf *entries, const char *output,
		    struct err *e);

#endif
