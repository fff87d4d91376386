/* SPDX-License-Identifier: MIT */
#include "cmd/report/codestyle.h"

#include <string.h>

#include "base/str.h"

int codestyle_parse_percent(const char *text, enum annotate_percent *ret, struct err *e)
{
	bool global = str_starts(text, "global"), hits = str_ends(text, "hits");

	if ((!global && !str_starts(text, "local")) || (!hits && !str_ends(text, "period")))
		return err_set(e, EINVAL,
			       "no percent type '%s' (local-period, global-period, local-hits or "
			       "global-hits)",
			       text);
	*ret = hits	? global ? ANNOTATE_GLOBAL_HITS : ANNOTATE_LOCAL_HITS
	       : global ? ANNOTATE_GLOBAL_PERIOD
			: ANNOTATE_LOCAL_PERIOD;
	return 0;
}

int codestyle_check(const struct codestyle *o, struct err *e)
{
	if (o->style && strcmp(o->style, "intel") != 0 && strcmp(o->style, "att") != 0)
		return err_set(e, EINVAL, "no disassembler style '%s' (att or intel)", o->style);
	return 0;
}

void codestyle_apply(const struct codestyle *o, struct tui_model *m)
{
	m->style = (struct annotate_style){
		.percent = o->percent, .no_source = o->no_source, .raw = o->raw, .arrows = true
	};
	m->annotate.intel = o->style && strcmp(o->style, "intel") == 0;
	m->source.prefix = o->prefix;
	m->source.strip = o->prefix_strip > 0 ? (unsigned)o->prefix_strip : 0;
}
