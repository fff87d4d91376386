/* SPDX-License-Identifier: MIT */
/* The rows of a report, event by event or a group's side by side, as text, CSV or JSON. */
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "cmd/report/report.h"
#include "store/stat/statdata.h"

bool report_has_groups(const struct trace *t)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (t->types[i].leader != (int)i)
			return true;
	return false;
}

static void report_show_show(struct report *r, struct hist *h)
{
	const struct report_args *a = r->a;
	struct graph_opts go = a->graph.opts;
	struct graphs g = { 0 };

	go.relative = r->style.relative;
	if (r->graphs && !a->csv)
		graphs_make(h, &go, &g);
	if (a->json)
		report_json(&r->json, &r->style, h, r->graphs ? &g : NULL);
	else if (a->csv)
		report_csv(stdout, &r->style, a->csv, h);
	else if (a->hierarchy)
		report_tree(stdout, &r->style, h, r->graphs ? &g : NULL);
	else
		report_text(stdout, &r->style, h, r->graphs ? &g : NULL);
	if (r->graphs && !a->csv)
		graphs_free(&g);
	r->shown++;
}

/* The leader of the event's group; its own number when it is alone or groups are not wanted. */
static uint32_t leader_of(const struct report *r, uint32_t type)
{
	const struct trace *t = r->load.source->trace;

	if (!r->a->group || r->mode == KEY_MODE_BRANCH)
		return type;
	if (!report_has_groups(t))
		return r->a->group_given ? 0 : type;
	return t->types[type].leader >= 0 ? (uint32_t)t->types[type].leader : type;
}

void report_find_leaders(struct report *r)
{
	size_t n = r->load.source->trace->n_types;

	r->leader = mem_alloc((n + 1) * sizeof(*r->leader));
	for (uint32_t i = 0; i < n; i++)
		r->leader[i] = leader_of(r, i);
}

static bool is_empty(const struct report *r, uint32_t leader)
{
	for (uint32_t i = 0; i < r->load.source->trace->n_types; i++)
		if (r->leader[i] == leader && r->load.profile.total[i].all_count)
			return false;
	return true;
}

static void show_events(struct report *r)
{
	const struct report_args *a = r->a;
	const struct trace *t = r->load.source->trace;
	struct hist_opts o = { .children = r->children,
			       .caller = r->caller,
			       .use_chains = r->graphs,
			       .hide_unresolved = a->hide_unresolved,
			       .exclude_other = a->exclude_other,
			       .site_wanted = r->site_wanted,
			       .symbol_part = a->symbol_part };

	r->style.forced_group = !report_has_groups(t);
	for (o.type = 0; o.type < t->n_types; o.type++) {
		struct hist h;

		if (r->leader[o.type] != o.type || (a->skip_empty && is_empty(r, o.type)))
			continue;
		hist_make(&h, &r->cells, &o, r->leader, (unsigned)a->group_sort);
		report_show_show(r, &h);
		hist_free(&h);
	}
}

static void show_end(struct report *r)
{
	struct report_end end = r->end;

	end.code = cells_needs(&r->columns) & (PROFILE_BY_CODE | PROFILE_BY_CHAIN);
	end.symbols_note = r->load.note;
	idle_words(&r->idle, end.idle, sizeof(end.idle));
	if (r->a->json)
		report_json_end(&r->json, &end);
	else if (!r->a->quiet && !r->a->csv)
		report_text_end(stdout, &end);
}

int report_show(struct report *r, struct err *e)
{
	struct report_args *a = r->a;
	const struct trace *t = r->load.source->trace;
	int code = 0;

	r->style = (struct report_style){ .sep = a->sep,
					  .percent_limit = a->percent_limit,
					  .relative = a->percentage &&
						      strcmp(a->percentage, "relative") == 0,
					  .quiet = a->quiet,
					  .memory = r->mode == KEY_MODE_MEMORY,
					  .narrow_dsos = r->load.pick.by_dso,
					  .verbose = a->verbose,
					  .color = term_color(stdout),
					  .times = a->load.pick.time,
					  .sort = a->columns.sort };
	if (a->json) {
		r->json = json_to(stdout, JSON_PRETTY);
		report_json_begin(&r->json, t);
	} else if (!a->quiet && !a->csv) {
		printf("#\n# Total Lost Samples: %llu\n#\n",
		       (unsigned long long)trace_lost(&t->losses));
	}
	show_events(r);
	show_end(r);
	if (a->threads)
		code = report_counters(stdout, &r->load, a, e);
	if (!r->shown && !a->json)
		command_note("the recording has no samples%s",
			     r->idle.weight > 0		   ? " but those of idle CPUs"
			     : t->n_samples		   ? " that were asked for"
			     : statdata_in(r->load.source) ? "; it holds counts: kymo stat report"
							   : "");
	return code;
}
