/* SPDX-License-Identifier: MIT */
/* Differences of recordings, in perf diff's layout, and as JSON. */
#ifndef KYMO_VIEW_REPORT_DIFF_TEXT_H
#define KYMO_VIEW_REPORT_DIFF_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "calc/rows/diff.h"

struct diff_style {
	const char *sep; /* NULL: columns */
	bool formula, period, quiet, list_files;
	bool addresses;		  /* beside symbols */
	const char *const *files; /* names, by recording */
};

void diff_text(FILE *f, const struct diff_style *s, const struct diff *d);

struct json;
void diff_json(struct json *j, const struct diff_style *s, const struct diff *d);

#endif
