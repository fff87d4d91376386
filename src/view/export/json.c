/* SPDX-License-Identifier: MIT */
/* Every event a line, with all that was recorded of it: script's JSON, and nothing left out. */
#include <limits.h>

#include "view/export/export.h"
#include "view/script/script.h"

struct lines {
	struct export_job *x;
	struct script *script;
};

static int put_line(void *ctx, const struct event *ev)
{
	struct lines *l = ctx;

	script_event(l->script, ev);
	l->x->written++;
	return 0;
}

int export_json(struct export_job *x, struct err *e)
{
	struct script_opts o = { .json = true,
				 .everything = true,
				 .chains = true,
				 .max_stack = UINT_MAX,
				 .cgroup = x->cgroup,
				 .ctx = x->ctx };
	struct lines l = { .x = x };
	int r;

	script_fields_init(&o.fields);
	l.script = script_new(x->source->trace, x->symbols, &o, x->out);
	r = export_events(x, true, put_line, &l, e);
	script_free(l.script);
	return r;
}
