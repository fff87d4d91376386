/* SPDX-License-Identifier: MIT */
/*
 * The names of the kernel's functions that samples fell into, as they stand in a recording:
 * a feature of kymo's own (docs/perf-data.md).
 *
 * The text is kallsyms', by address. A line "ffffffff81000000 - -" says that nothing has a
 * name from there on, so that what a function is followed by need not be named.
 */
#pragma once

#include "base/str.h"

/* The section of a text, behind what is in ret; packed as well as this build can. */
void perfdata_kallsyms_pack(const char *text, size_t n, struct strbuf *ret);

/* The text of a section of any form, into ret; swap: of the other byte order. -EINVAL, -ENOTSUP. */
int perfdata_kallsyms_unpack(const uint8_t *data, size_t n, bool swap, struct strbuf *ret);
