/* SPDX-License-Identifier: MIT */
/*
 * The command of an analysis: its file, its table, in the form that was asked for.
 *
 *	static const struct opt opts[] = { ANALYSE_OPTS("trace.dat"), OPT_END };
 *	static int run_mem(void *args, ...) { return analyse(&analysis_kmem_tasks, args, ...); }
 */
#ifndef KYMO_CMD_SHARE_ANALYSE_H
#define KYMO_CMD_SHARE_ANALYSE_H

#include "calc/analysis/registry.h"
#include "cmd/command.h"

struct analyse_args {
	const char *input, *sort, *separator;
	bool csv, json;
	int rows;
};

/* OPT_ARGS is struct analyse_args, or begins with one. */
#define ANALYSE_OPTS(file)                                                                 \
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: " file ")", "@files"), \
		OPT_STR('s', "sort", "COLUMN,...", sort,                                   \
			"by these columns, the largest first; -COLUMN: the smallest"),     \
		OPT_INT('n', "rows", "N", rows, "only the first N rows"),                  \
		OPT_FLAG(0, "csv", csv, "as CSV, with exact values"),                      \
		OPT_STR('x', "field-separator", "TEXT", separator,                         \
			"as CSV with TEXT between values"),                                \
		OPT_FLAG('j', "json", json, "as JSON, with exact values")

/* file: what is read when nothing is named. argv may name one file. */
int analyse(const struct analysis *a, const struct analyse_args *args, const char *file, int argc,
	    char **argv, struct err *e);

#endif
