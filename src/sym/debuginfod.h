/* SPDX-License-Identifier: MIT */
/*
 * Files by build-id from debuginfod servers.
 *
 * libdebuginfod is loaded only when a server is really to be asked, because it
 * brings libcurl and all that hangs on it. One time limit holds for all files
 * together: a server that hangs costs that much and no more. Answers and
 * refusals are cached by the library itself.
 */
#ifndef KYMO_SYM_DEBUGINFOD_H
#define KYMO_SYM_DEBUGINFOD_H

#include <stdbool.h>

#include "sym/elf.h"

struct debuginfod;

/* Called now and then while a file is fetched; done and total are bytes, 0 when not known. */
typedef void debuginfod_progress_fn(void *ctx, const char *build_id, long done, long total);

struct debuginfod_stats {
	unsigned asked, found;
	bool out_of_time;
};

/* NULL when $DEBUGINFOD_URLS is empty or this build has no debuginfod. ms: 0 means 10 s. */
struct debuginfod *debuginfod_new(unsigned ms, debuginfod_progress_fn *progress, void *ctx);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };
/* An open file, or -errno: -ENOENT when no server has it, -ETIME when the time is used up. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id);
struct debuginfod_stats debuginfod_stats(struct debuginfod *d);

#endif
