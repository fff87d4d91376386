/* SPDX-License-Identifier: MIT */
/* What the files of `kymo probe` share. */
#ifndef KYMO_CMD_PROBE_PROBE_H
#define KYMO_CMD_PROBE_PROBE_H

#include "base/vec.h"
#include "live/probe/define.h"
#include "live/probe/kept.h"

struct probe_opts {
	struct probe_target_opts target;
	const char *filter; /* of names that -V and -F show; NULL: all */
	bool dry_run, force, quiet, externs, range, bootconfig, demangle;
	bool cache; /* what is kept beside files in the build-id cache */
	int verbose, max_probes;
};

/* cmd/probe/show.c: what there is to see. They print to stdout. */
int probe_show_lines(const struct probe_opts *o, const char *text, struct err *e);
int probe_show_vars(const struct probe_opts *o, const char *text, struct err *e);
int probe_show_functions(const struct probe_opts *o, const char *filter, struct err *e);
int probe_show_list(const struct probe_opts *o, const char *filter, struct err *e);

/* cmd/probe/add.c: definitions to show, and probes to add; argc words are one probe, or several. */
struct probe_wanted {
	const char *const *define, *const *add;
	size_t n_define, n_add;
	char **argv;
	int argc;
};
int probe_add_all(const struct probe_opts *o, const struct probe_wanted *w, struct err *e);

/* cmd/probe/cache.c: the probes that are kept beside files in the build-id cache. */
int probe_cache_list(const char *filter, struct err *e);
int probe_cache_remove(const struct probe_opts *o, const char *pattern, struct err *e);
/* Keep it, with the file that it is in. */
int probe_cache_keep(const struct probe_target *t, const struct kept_probe *p, struct err *e);
/* Kept for this very text. False: not. */
bool probe_cache_find(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		      struct probe_defs *ret);
/* Kept under the name that a "%NAME" gives, which may be a pattern. */
void probe_cache_named(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		       struct probe_defs *ret);
/* The files of the cache that are still where they were; fn's non-zero answer ends it. */
typedef int probe_cache_fn(void *ctx, const char *path);
int probe_cache_files(probe_cache_fn *fn, void *ctx);

/* "a|b", "!x", "a&!b" of shell patterns; NULL fits all. */
bool probe_filter(const char *filter, const char *name);

#endif
