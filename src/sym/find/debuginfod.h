/* SPDX-License-Identifier: MIT */
/*
 * Files by build-id from debuginfod servers.
 *
 * libdebuginfod is loaded only when a server is to be asked, because it brings libcurl along. A few
 * threads fetch in the background what is wanted, the most wanted first; who needs a file waits for
 * it. One time limit holds for all files together: a server that hangs costs that much, and is left
 * alone by further runs for some minutes. The library itself caches answers and refusals.
 */
#pragma once

#include "sym/elf/elf.h"

struct debuginfod;

struct debuginfod_stats {
	unsigned asked, answered, found; /* files; of those asked for, those had */
	uint64_t bytes;			 /* of those that are being fetched, or were */
	bool out_of_time;		 /* some were given up */
	bool silent;			 /* the servers did not answer lately, and were not asked */
	unsigned wrong;			 /* of those found: another build's, or no ELF files */
	unsigned ms;			 /* the limit */
};

/* Called now and then while files are fetched, by any thread. */
typedef void debuginfod_progress_fn(void *ctx, const struct debuginfod_stats *s);

struct debuginfod_opts {
	unsigned ms; /* for all files together; 0: 10 s */
	int cache;   /* folder of kymo's cache, where silence is remembered; 0 or -1: nowhere */
	debuginfod_progress_fn *progress; /* NULL: none */
	void *ctx;
};

/* NULL when $DEBUGINFOD_URLS is empty. */
struct debuginfod *debuginfod_new(const struct debuginfod_opts *o);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };
/* It will be asked for: fetch it when nothing with more heat waits. Returns at once. */
void debuginfod_want(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id,
		     uint64_t heat);
/* An open file, or -errno: -ENOENT when no server has it, -ETIME when the time is used up. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id);
/* What was fetched is not what was asked for: it does not stay in the library's folder. */
void debuginfod_wrong(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id);
struct debuginfod_stats debuginfod_stats(struct debuginfod *d);
