/* SPDX-License-Identifier: MIT */
/*
 * What kymo archive's files share: what may go into an archive (archive_rights.c), and unpacking it
 * (archive_unpack.c).
 *
 * Recordings and debug info name files, and whoever made them chose the names; an archive is
 * carried away. So root packs for another user only what that user may read: whose the
 * recording is, or who called sudo. Sources, which nothing else proves, must also lie below
 * some folder, and no link leads out of it.
 */
#pragma once

#include "base/as_user.h"
#include "base/err.h"
#include "base/vec.h"

struct archive_root {
	int fd;
	char *path;
};

struct archive_rights {
	struct as_user user;
	bool limited; /* only what user may read */
	bool chosen;  /* the folders were given, not guessed */
	VEC(struct archive_root) roots;
};

/* below: folders of sources; none: the usual ones. */
int archive_rights_init(struct archive_rights *r, const char *recording,
			const struct vec_strs *below, struct err *e);
void archive_rights_free(struct archive_rights *r);
/* May this file, found by its path alone, be packed? */
bool archive_may_read(const struct archive_rights *r, const char *path);
/*
 * A descriptor of a source file, or -errno: -EXDEV when it lies below none of the folders,
 * -EACCES when the user may not read it.
 */
int archive_open_source(const struct archive_rights *r, const char *path);

struct archive_args {
	const char *input, *output, *symfs, *buildid_dir;
	const char *folder; /* where all is unpacked to; NULL: files into the build-id cache */
	struct vec_strs source_dirs;
	bool unpack, all, sources, plain, quiet, no_vmlinux;
};
/* file NULL: the archive that is here; -o is the recording's name, perf.data without it. */
int archive_unpack(const struct archive_args *a, const char *file, struct err *e);
