/* SPDX-License-Identifier: MIT */
/*
 * The command of an analysis: its file, its tables, in the form that was asked for.
 *
 *	static const struct opt opts[] = { ANALYSE_OPTS("trace.dat"), OPT_END };
 *	static int run_mem(void *args, ...)
 *	{
 *		const struct mem_args *a = args;
 *
 *		return analyse(&(struct analyse){ &analysis_kmem_tasks, "trace.dat" }, &a->show,
 *...);
 *	}
 */
#pragma once

#include "calc/analysis/analysis.h"
#include "cmd/command.h"

struct analyse {
	const struct analysis *analysis;
	const char *file; /* what is read when nothing is named */
	const void *args; /* the analysis's own */
	/* As text; NULL: as any table (view/table/table.h). */
	void (*text)(FILE *f, const struct tables *t);
};

/* What the user said about the tables. */
struct analyse_args {
	const char *input, *sort, *separator;
	bool csv, json, tui;
	int rows;
};

/* OPT_ARGS has a struct analyse_args as its member `show`. */
#define ANALYSE_FORMS                                                           \
	OPT_FLAG(0, "csv", show.csv, "as CSV, with exact values"),              \
		OPT_STR('x', "field-separator", "TEXT", show.separator,         \
			"as CSV with TEXT between values"),                     \
		OPT_FLAG('j', "json", show.json, "as JSON, with exact values"), \
		OPT_FLAG(0, "tui", show.tui, "in the terminal: sort, search, filter")
#define ANALYSE_OPTS(file)                                                                      \
	OPT_STR_C('i', "input", "FILE", show.input, "read FILE (default: " file ")", "@files"), \
		OPT_STR('s', "sort", "COLUMN,...", show.sort,                                   \
			"by these columns, the largest first; -COLUMN: the smallest"),          \
		OPT_INT('n', "rows", "N", show.rows, "only the first N rows"), ANALYSE_FORMS

/* argv may name one file. */
int analyse(const struct analyse *a, const struct analyse_args *args, int argc, char **argv,
	    struct err *e);

/* The parts of it, for those that have a source. */
int analyse_source(const struct analyse *a, const struct analyse_args *args, struct source *s,
		   struct tables *ret, struct err *e);
int analyse_print(FILE *f, const struct analyse *a, const struct analyse_args *args,
		  struct tables *t, struct err *e);
