/* SPDX-License-Identifier: MIT */
#ifndef KYMO_CALC_READ_MERGE_KALLSYMS_H
#define KYMO_CALC_READ_MERGE_KALLSYMS_H

#include "event/trace.h"

/*
 * Recordings keep the symbols that their samples fell into, each its own. Sets t->info.kallsyms to
 * the names of all, in t's arena. They are of one kernel.
 */
void merge_kallsyms(struct trace *t, const struct trace *const *from, size_t n);

#endif
