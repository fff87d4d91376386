/* SPDX-License-Identifier: MIT */
/*
 * Reports of several recordings side by side. Rows are matched by what they
 * show: the file's and the function's name, never by addresses, as the
 * recordings may be of different builds.
 */
#pragma once

#include "calc/rows/hist.h"

enum diff_compute { DIFF_DELTA, DIFF_DELTA_ABS, DIFF_RATIO, DIFF_WEIGHTED };

struct diff_opts {
	enum diff_compute compute;
	int64_t weight[2]; /* DIFF_WEIGHTED: of the base and of the others */
	unsigned order; /* the recording whose difference decides the order; 0: the base itself */
	bool relative;	/* shares are of what filters left */
	bool baseline_only; /* leave rows out that the base or all others do not have */
};

struct diff_row {
	unsigned from;		    /* the first recording that has it */
	struct cell_pair at;	    /* its cells there */
	uint32_t site;		    /* and one of its addresses */
	uint32_t text[KEY_COLUMNS]; /* what it shows, by column; STRTAB_NONE: nothing is known */
	bool *has;		    /* by recording */
	uint64_t *period;	    /* by recording */
	unsigned others;	    /* how many besides the base have it */
};

struct diff {
	const struct hist *const *hist; /* by recording; NULL: it has no such event */
	unsigned n;
	const struct columns *columns;
	struct diff_opts opts;
	VEC(struct diff_row) rows; /* in the order of output */
	struct strtab texts;
	struct arena arena;
};

/* hists are those of one event, the base first; they must outlive the diff. */
void diff_make(struct diff *d, const struct hist *const *hists, unsigned n,
	       const struct diff_opts *o);
void diff_free(struct diff *d);

/* % of the recording's total. */
double diff_share(const struct diff *d, const struct diff_row *r, unsigned recording);
/* Against the base; each for rows that the recording has. */
double diff_delta(const struct diff *d, const struct diff_row *r, unsigned recording);
double diff_ratio(const struct diff *d, const struct diff_row *r, unsigned recording);
int64_t diff_weighted(const struct diff *d, const struct diff_row *r, unsigned recording);
