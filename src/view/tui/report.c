/* SPDX-License-Identifier: MIT */
/* The report view's life: from its first table to the key that leaves it. */
#include <stdio.h>
#include <stdlib.h>

#include "view/tui/report.h"

int tui_usable(struct err *e)
{
	return tui_possible(e);
}

void tui_view_init(struct tui_view *v, const struct tui_model *m)
{
	*v = (struct tui_view){ .m = m,
				.percent_limit = m->percent_limit,
				.graph_limit = m->graph_percent_limit,
				.samples = m->samples,
				.source = { .opts = m->source },
				.base = { .view = v,
					  .draw = tui_report_draw,
					  .key = tui_report_key,
					  .help = tui_help_report } };
}

void tui_view_free(struct tui_view *v)
{
	tui_rows_unload(v);
	vec_each (&v->zooms, z)
		free(z->text);
	vec_free(&v->zooms);
	free(v->sort_text);
	srctext_free(&v->source);
}

/* The first event that has samples. */
static int tui_view_first(struct tui_view *v, struct err *e)
{
	int r = 0;

	for (uint32_t type = 0; type < v->m->trace->n_types; type++) {
		if (v->m->leader && v->m->leader[type] != type)
			continue;
		r = tui_rows_load(v, &(struct tui_query){ .type = type, .children = -1 }, e);
		if (r < 0 || v->t.count)
			break;
	}
	return r;
}

int tui_report(const struct tui_model *m, struct err *e)
{
	struct tui_view v;
	int r = tui_start(e);

	if (r < 0)
		return r;
	tui_view_init(&v, m);
	r = tui_view_first(&v, e);
	if (m->note)
		snprintf(v.base.note, sizeof(v.base.note), "%s", m->note);
	if (r == 0 && v.has_table)
		tui_base_run(&v.base);
	tui_view_free(&v);
	tui_end();
	return r;
}
