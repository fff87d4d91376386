/* SPDX-License-Identifier: MIT */
/*
 * Any table as text, CSV, JSON or HTML: one printer each, for all analyses.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"
#include "calc/table/table.h"

/*
 * A value as people read it: "1.500" in a column of milliseconds, "1.50 ms" in one without a unit,
 * "-" where it is not known. Control characters of texts are shown as \x0a, so that a name
 * cannot look like a row. Stacks and histograms, which have lines of their own, give "".
 */
void table_cell_text(const struct table_column *c, const struct table_cell *v, struct strbuf *ret);

/*
 * For people: titles, columns as wide as they need to be, sums and notes below. On a terminal texts
 * that do not fit lose their middle; in a pipe nothing is cut.
 */
void table_text_all(FILE *f, const struct tables *t);

/* The stacks of a row, as they stand below it: the first of them, and how many more there are. */
void table_text_stacks(FILE *f, const struct table_stacks *s);

/* What stands below a row: its stacks and histograms. */
void table_text_lines(FILE *f, const struct table *t, size_t row);

/* A heading line of names and a line a row (RFC 4180, but '\n'); a blank line between tables. */
void table_csv_all(FILE *f, const struct tables *t, const char *separator);

/* {"NAME": {"rows": [{...}], "notes": [...]}}; durations in ns, bytes in bytes, shares of 1. */
void table_json_all(FILE *f, const struct tables *t);

/* Only the rows of one, an array over several lines. */
void table_json_rows(FILE *f, const struct table *t);

/* <table> elements, without a page around them. */
void table_html_all(FILE *f, const struct tables *t);
