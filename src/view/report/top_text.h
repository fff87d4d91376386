/* SPDX-License-Identifier: MIT */
/* One screen of kymo top. */
#ifndef KYMO_VIEW_REPORT_TOP_TEXT_H
#define KYMO_VIEW_REPORT_TOP_TEXT_H

#include <stdio.h>

#include "calc/rows/hist.h"
#include "calc/stacks/graph.h"

struct top_state {
	const char *event; /* "999 Hz cpu-clock" */
	const char *whom;  /* "all, 2 CPUs" */
	double rate;	   /* samples a second */
	double kernel;	   /* share of them in the kernel, % */
	double idle;	   /* and of those that were left out: of CPUs without work, % */
	uint64_t lost;
	bool relative;			/* shares of what filters left */
	bool tree;			/* a level for each key */
	const struct graph_opts *graph; /* call graphs below rows; NULL: none */
};

/* What each screen begins with. */
void top_print_heading(FILE *f, const struct top_state *s);
/* As much of a text as fits below it. */
void top_print_part(FILE *f, const char *text, unsigned height);
/* The heaviest rows that fit into height lines (0: all). */
void top_print(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
	       double min_percent);

#endif
