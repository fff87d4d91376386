/* SPDX-License-Identifier: MIT */
/* What the files of `kymo probe` share. */
#pragma once

#include "base/map.h"
#include "base/str.h"
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
int probe_add_all(const struct probe_opts *o, const struct vec_strs *define,
		  const struct vec_strs *add, int argc, char **argv, struct err *e);

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

/* cmd/probe/uprobe_where.c: programs, libraries and their functions by name. */
/* "p:bash:readline +0(%di):string" as "p:readline /usr/bin/bash:0x1234 +0(%di):string". */
int uprobe_definition(const char *text, char **ret, struct err *e);
/* Functions of a file that match pattern (NULL: all), one a line. */
int uprobe_list(const char *target, const char *pattern, struct err *e);
/* The path that a target means. */
int uprobe_path(const char *target, char **ret, struct err *e);

/* "a|b", "!x", "a&!b" of shell patterns; NULL fits all. */
bool probe_filter(const char *filter, const char *name);
/* For printing; no more is added then. */
void probe_sort(struct strtab *t);
/* " with n len": the names of the arguments. */
void probe_arg_names(const char *args, struct strbuf *out);
