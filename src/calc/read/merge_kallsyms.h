/* SPDX-License-Identifier: MIT */
#pragma once

#include "event/trace.h"

/*
 * Recordings keep the symbols that their samples fell into, each its own. Sets t->info.kallsyms to
 * the names of all, in t's arena. They are of one kernel.
 */
void merge_kallsyms(struct trace *t, const struct trace *const *from, size_t n);
