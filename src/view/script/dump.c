/* SPDX-License-Identifier: MIT */
#include "view/script/dump.h"

#include "view/script/impl.h"

struct lines {
	struct script *s;
	bool (*wants)(void *ctx, const struct event *ev);
	void *ctx;
};

static int put_sample_line(void *ctx, const struct event *ev)
{
	struct lines *l = ctx;
	struct script *s = l->s;
	const struct site *x;
	char comm[TASK_NAME];

	if (l->wants && !l->wants(l->ctx, ev))
		return 0;
	out_printf(s->out, " ... thread: %s:%d\n",
		   tasks_name_at(s->trace->tasks, ev->tid, ev->time, comm), ev->tid);
	x = site_find(s, site_space(s, ev, ev->mode), ev->ip, 0);
	out_printf(s->out, " ...... dso: %s\n",
		   x->map			       ? site_dso_name(s, x->dso)
		   : ev->mode == EVENT_MODE_HYPERVISOR ? "[hypervisor]"
						       : "<not found>");
	script_event(s, ev);
	return s->out->error ? 1 : 0;
}

int script_dump(struct script *s, struct source *src, const char *file,
		bool (*wants)(void *ctx, const struct event *ev), void *ctx, struct err *e)
{
	struct lines lines = { s, wants, ctx };
	struct source_dump d = { .out = s->out,
				 .file = file,
				 .unsorted = s->o.unsorted,
				 .sample = put_sample_line,
				 .ctx = &lines };

	if (!src->dump)
		return err_set(e, EOPNOTSUPP, "-D: %s has no records of perf's kind", src->format);
	return src->dump(src, &d);
}
