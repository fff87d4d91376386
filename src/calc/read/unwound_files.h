/* SPDX-License-Identifier: MIT */
/* The tables of a recording's files, each made when the first stack goes through it; any number of
 * threads may ask. */
#pragma once

#include "event/task.h"
#include "sym/find/find.h"
#include "sym/unwind/ehframe.h"

struct unwound_files;

/* Both must outlive *ret. */
struct unwound_files *unwound_files_new(const struct tasks *tasks, const struct find_opts *find);
void unwound_files_free(struct unwound_files *u);
/* NULL when there is none, nor such a dso. */
const struct ehframe_table *unwound_files_table(struct unwound_files *u, uint32_t dso);
/* For full evaluation, which few stacks need: read only then. NULL when there is none. */
const struct ehframe *unwound_files_cfi(struct unwound_files *u, uint32_t dso);
