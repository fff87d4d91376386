/* SPDX-License-Identifier: MIT */
/* Reports as text in perf's layout, as CSV and as JSON. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "calc/rows/diff.h"
#include "calc/rows/hier.h"
#include "calc/rows/hist.h"
#include "calc/stacks/graph.h"

struct report_style {
	const char *sep;      /* -t: between columns, instead of blanks; NULL */
	double percent_limit; /* rows below this share are left out */
	bool relative;	      /* shares are of what filters left */
	bool quiet;	      /* no headings */
	bool forced_group;    /* --group put events together that were not recorded so */
	bool memory;	      /* weights are costs of memory accesses */
	bool narrow_dsos;     /* an unnamed row makes the file's column no wider */
	int verbose;	      /* 1: addresses beside symbols */
	bool color;	      /* hot rows stand out */
	const char *times;    /* --time, for the heading; NULL */
	const char *sort;     /* of memory accesses, for the heading */
};

/* One event's part: heading, columns, rows, graphs (NULL: none). */
void report_text(FILE *f, const struct report_style *s, const struct hist *h,
		 const struct graphs *g);
/* The same as a tree. */
void report_tree(FILE *f, const struct report_style *s, const struct hist *h,
		 const struct graphs *g);

/* A header line and a line for each row; fields that hold sep or quotes are quoted. */
void report_csv(FILE *f, const struct report_style *s, const char *sep, const struct hist *h);

/* What every report ends with: lost events, cut stacks, names that were not found. */
#define REPORT_WORTH 20 /* one sample in so many is worth a line that says what to do */
/* What is to be done about stacks that were cut. */
const char *report_deeper(const struct trace *t);
struct report_end {
	uint64_t samples, lost, unresolved;
	uint64_t stacks, full_stacks, abrupt_stacks;
	bool code;			 /* addresses were looked at at all */
	const char *note, *symbols_note; /* NULL or "": nothing to say */
	char where_early[200];	 /* to follow "most of these stacks end"; "": nothing to say */
	const char *deeper;	 /* what helps stacks that were cut; NULL: there are few */
	char where_unnamed[256]; /* to follow "most of these addresses are" */
	char inlines_advice[512];
	char idle[128]; /* what was left out (calc/read/idle.h); the caller's, too */
};
/* What is to be said of these samples; note and code are the caller's. */
struct report_end report_end_of(const struct names *n);
/* What to do about stacks that are not whole; false: nothing. */
bool report_stacks_advice(const struct report_end *e, char *buf, size_t size);
/* As lines. */
void report_end_lines(const struct report_end *e, struct strbuf *b);
/* The same below a report, as comments. */
void report_text_end(FILE *f, const struct report_end *e);

/* Several events as one JSON object: begin, each event, end. */
struct json;
void report_json_begin(struct json *j, const struct trace *t);
void report_json(struct json *j, const struct report_style *s, const struct hist *h,
		 const struct graphs *g);
void report_json_end(struct json *j, const struct report_end *e);

/* --- view/report/column.c: widths and cells --- */
struct report_widths {
	int w[KEY_COLUMNS];
};
void report_measure(struct report_widths *w, const struct report_style *s, const struct hist *h);
/* One cell, padded unless last; "N/A" and the like as perf has them. */
void report_cell(struct strbuf *b, const struct report_style *s, const struct hist *h, size_t row,
		 const struct column *c, int width, bool pad);
/* "# Overhead  Command", and a line of points below it where columns are not separated by sep. */
struct report_head {
	const char *title;
	int width;
	bool right;
};
void report_put_heads(FILE *f, const char *sep, const struct report_head *heads, size_t n);
void report_heads(FILE *f, const struct report_style *s, const struct hist *h,
		  const struct report_widths *w);
bool report_shown(const struct hist *h, const struct column *c);
double report_share(const struct report_style *s, const struct hist *h, const struct hist_row *r,
		    enum key key);
/* The share a row is measured by when few are to be left out. */
double report_row_share(const struct report_style *s, const struct hist *h,
			const struct hist_row *r);
/* "# Samples: 12K of event 'cycles'" ... */
void report_heading(FILE *f, const struct report_style *s, const struct hist *h);

/* --- report_graph.c: the graph of one row, as below it in a report --- */
void report_graph(struct strbuf *b, const struct report_style *s, const struct hist *h,
		  const struct graphs *g, size_t row);

/* --- view/report/top_text.c: one screen of kymo top --- */
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

/* --- view/report/diff_text.c: differences of recordings, in perf's layout and as JSON --- */
struct diff_style {
	const char *sep; /* NULL: columns */
	bool formula, period, quiet, list_files;
	bool addresses;		  /* beside symbols */
	const char *const *files; /* names, by recording */
};

void diff_text(FILE *f, const struct diff_style *s, const struct diff *d);
void diff_json(struct json *j, const struct diff_style *s, const struct diff *d);
