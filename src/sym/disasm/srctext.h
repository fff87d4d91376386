/* SPDX-License-Identifier: MIT */
/*
 * Lines of source files that debug info names.
 *
 * The names come from untrusted files: only regular files up to a limit are
 * read. A file that is newer than the program is still shown; its age can be
 * asked for.
 */
#pragma once

#include "base/map.h"
#include "base/tar.h"
#include "base/vec.h"

struct srctext_opts {
	struct tar
		*archive;   /* only what came with the recording, see archive.h; NULL: files here */
	const char *symfs;  /* first below this folder; NULL: / */
	const char *prefix; /* put in front of absolute names; NULL: nothing */
	unsigned strip;	    /* folders taken off before that */
	bool any_depth;	    /* and more and more of them, until a file is there */
};

struct srctext_file {
	char *text;	 /* NULL: not found */
	char *path;	 /* where it was found */
	uint32_t *start; /* by line - 1; one more at the end */
	uint32_t n_lines;
};

struct srctext {
	struct srctext_opts opts;
	struct strtab names;
	VEC(struct srctext_file) files; /* by name id */
};

/* A line (from 1) without its end; NULL when it is not there. Lives as long as s. */
const char *srctext_line(struct srctext *s, const char *file, uint32_t line, size_t *n);
/* Where the file was found; NULL when it was not. */
const char *srctext_path(struct srctext *s, const char *file);
void srctext_free(struct srctext *s);
