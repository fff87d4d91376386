/* SPDX-License-Identifier: MIT */
/* The tables of "profile" and "hist" (calc/analysis/task_spans.h), about as trace-cmd says them. */
#pragma once

#include <stdio.h>

#include "calc/table/table.h"

/* A line for each task, and then what their time went into. */
void spans_text_profile(FILE *f, const struct tables *t);
/* Without the lines of tasks. */
void spans_text_profile_spans(FILE *f, const struct tables *t);
void spans_text_hist(FILE *f, const struct tables *t);
