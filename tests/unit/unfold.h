/* SPDX-License-Identifier: MIT */
/* Texts and profiles as stacks, by way of their sources: for unit tests and fuzz targets. */
#pragma once

#include "calc/read/own_stacks.h"
#include "store/text/folded.h"
#include "store/text/own.h"

static inline int text_stacks(text_source_fn *read, const char *name, const char *data, size_t n,
			      const struct own_stacks_opts *o, struct stacks side[2],
			      struct trace_own *about, struct err *e)
{
	struct source *s;
	int r = read(name, data, n, &s, e);

	if (r < 0)
		return r;
	*about = *s->trace->own; /* its frames are gone with the source */
	r = own_stacks(s, o, side, e);
	source_close(s);
	return r;
}

static inline int unfold_text(const char *name, const char *data, size_t n, struct stacks side[2],
			      struct folded_info *info, struct err *e)
{
	struct trace_own about = { 0 };
	int r = text_stacks(folded_source, name, data, n, &(struct own_stacks_opts){ 0 }, side,
			    &about, e);

	info->two = about.two;
	return r;
}
