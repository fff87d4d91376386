/* SPDX-License-Identifier: MIT */
/* What kymo archive's files share: making (archive.c), unpacking (archive_unpack.c). */
#ifndef KYMO_CMD_FILE_ARCHIVE_H
#define KYMO_CMD_FILE_ARCHIVE_H

#include <stdbool.h>

#include "base/err.h"

struct archive_unpack {
	const char *file;
	const char *folder; /* everything goes there; NULL: files into the build-id cache */
	const char *buildid_dir;
	const char *output; /* the recording's name; NULL: perf.data */
	bool quiet;
};
int archive_unpack(const struct archive_unpack *o, struct err *e);

#endif
