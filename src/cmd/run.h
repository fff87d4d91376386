/* SPDX-License-Identifier: MIT */
/* What the files of kymo run share. */
#ifndef KYMO_CMD_RUN_H
#define KYMO_CMD_RUN_H

#include "live/run_env.h"

/* Probes that fit a pattern, one a line; with their arguments when verbose. */
int run_list(struct run_env *env, const char *pattern, bool verbose, struct err *e);

struct run_file_opts {
	int out_fd;
	bool json, quiet, only_compile;
	/* Compiles, and shows what was wrong. */
	int (*compile)(void *ctx, const struct lang_env *env, const struct lang_source *src,
		       struct lang_program **ret, struct err *e);
	void *ctx;
};
int run_over_file(const char *path, const struct lang_source *src, const struct run_file_opts *o,
		  int *code, struct err *e);

#endif
