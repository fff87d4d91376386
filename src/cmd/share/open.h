/* SPDX-License-Identifier: MIT */
/* Recordings of any kind: the reader is picked by what the file holds, not by its name. */
#ifndef KYMO_CMD_SHARE_OPEN_H
#define KYMO_CMD_SHARE_OPEN_H

#include "event/trace.h"

/* "-" is standard input. On failure *ret is untouched. */
int source_open(const char *path, struct source **ret, struct err *e);

/* Is it a folder, or a file that begins as a recording or an archive of one does? */
bool source_looks_like(const char *path);

#endif
