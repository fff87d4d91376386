/* SPDX-License-Identifier: MIT */
/*
 * Finding the file that belongs to a mapping, and its debug file.
 *
 * A path in a recording names a file on another machine, in another container
 * or of another day; what counts is the build-id. Where one is given, a file
 * with another one is refused and counted, never used.
 */
#pragma once

#include "base/tar.h"
#include "sym/dwarf/dwarf.h"
#include "sym/find/debuginfod.h"

/* A file that is used, told of by several threads at a time. */
struct find_taken {
	const char *path;
	const struct build_id *id; /* its own; NULL or of len 0: it has none */
	const char *name;	   /* "elf", "debug", "vdso"; NULL: it goes by its path */
	bool by_path;		   /* no build-id was known, the path had to do */
	const void *data;
	size_t n;
};
typedef void find_taken_fn(void *ctx, const struct find_taken *t);

struct trace_own;
struct find_opts {
	const char *symfs;	       /* look for all files below this folder; NULL: / */
	int cache;		       /* folder of kymo's cache, see cache.h; 0 or -1: none */
	bool no_debug_files;	       /* only the file itself */
	struct debuginfod *debuginfod; /* NULL: ask no servers */
	struct tar *archive; /* what came with the recording, see archive.h; NULL: nothing */
	const struct trace_own *own;   /* the recording's own names: nothing else is asked */
	struct recording_id recording; /* whose copies in the cache are meant; 0: nobody's */
	bool living; /* numbers of processes are of those that run now, which may be asked */
	find_taken_fn *taken; /* NULL: nobody wants to know */
	void *taken_ctx;
};

struct find_want {
	const char *path;
	struct build_id id; /* len 0: not known, any file will do */
	uint64_t ino;	    /* without a build-id: the number of the file; 0: any file will do */
	pid_t pid;	    /* whose mapping it was, to see its files as it does; 0: no matter */
	uint64_t map_start, map_end; /* the mapping in that process; 0: not known */
};

struct find_stats {
	uint32_t mismatched; /* files refused because of another build-id or CRC */
};

/*
 * The file itself, tried in this order: the copy that was kept while this very recording was
 * made, the process's own mapping (/proc/PID/map_files, which survives deletion), its path as
 * that process sees it (/proc/PID/root, through openat2 so that no link leads outside), its
 * path here, perf's cache (~/.debug), debuginfod. Of what goes by a build-id alone, the last
 * two, only files of root or of this user are taken. With symfs only
 * the path below that folder and what goes by build-id. A recording that
 * brought its files with it was made elsewhere: they come first then, and a
 * path here is believed only where a build-id confirms it.
 * On failure *ret is untouched: -ENOENT when it was nowhere,
 * -ESTALE when only files of another build were there.
 */
int find_file(const struct find_opts *o, const struct find_want *w, struct elf **ret,
	      struct find_stats *st, struct err *e);

/*
 * By what answers about that file are kept, as far as that shows without opening it; CACHE_NONE:
 * it does not.
 */
struct cache_key find_key(const struct find_opts *o, const struct find_want *w);

/*
 * Its separate debug file: /usr/lib/debug/.build-id, .gnu_debuglink (with its CRC), perf's
 * cache, debuginfod. None is looked for when the file
 * has both symbols and debug info itself. file may be NULL when that was not
 * found. -ENOENT when there is none.
 */
int find_debug(const struct find_opts *o, const struct find_want *w, const struct elf *file,
	       struct elf **ret, struct find_stats *st, struct err *e);

/*
 * What of these two would have to come from a server is asked for in the
 * background. True when something was.
 */
bool find_ahead(const struct find_opts *o, const struct find_want *w, uint64_t heat);

/* Another file that e's debug info refers to: a dwz file, a .dwo, a .dwp. */
int find_part(const struct find_opts *o, const struct elf *e, const struct dwarf_need *need,
	      struct elf **ret, struct find_stats *st);
