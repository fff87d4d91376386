/* SPDX-License-Identifier: MIT */
#include "calc/analysis/analysis.h"

#include <string.h>

#include "base/str.h"
#include "event/match.h"

/* What an event of the trace is to the analysis. */
struct role {
	int role; /* 0: nothing */
	uint8_t n;
	const struct field *field[ANALYSIS_FIELDS];
};

struct analysis_run {
	const struct analysis *a;
	struct analysis_env env;
	struct role *roles; /* by type */
	size_t n_roles;
	void *state;
};

/* It counts for nothing when a field that is asked for is not there. */
static struct role role_of(const struct analysis *a, const struct event_type *t)
{
	for (const struct analysis_event *ev = a->events; ev->name; ev++) {
		struct role r = { .role = ev->role };

		if (!match_type(t, ev->name))
			continue;
		for (; r.n < ANALYSIS_FIELDS && ev->field[r.n]; r.n++) {
			r.field[r.n] = type_field(t, ev->field[r.n]);
			if (!r.field[r.n])
				return (struct role){ 0 };
		}
		return r;
	}
	return (struct role){ 0 };
}

void analysis_events(const struct analysis *a, struct strbuf *ret)
{
	if (!a->events)
		strbuf_puts(ret, "any");
	for (const struct analysis_event *ev = a->events; ev && ev->name; ev++)
		strbuf_printf(ret, "%s%s", ev == a->events ? "" : ", ", ev->name);
}

void analyses_table(struct tables *ret)
{
	static const struct table_column columns[] = {
		{ "name", "NAME", TABLE_TEXT },
		{ "summary", "WHAT IT SAYS", TABLE_TEXT },
		{ "show", "SHOWN BY", TABLE_TEXT },
		{ "record", "RECORDED BY", TABLE_TEXT },
		{ "events", "OF THE EVENTS", TABLE_TEXT },
	};
	struct table *t = table_new(ret, "analyses", columns, ARRAY_SIZE(columns));

	for (const struct analysis *const *a = analyses; *a; a++) {
		AUTO_STRBUF events = { 0 };

		analysis_events(*a, &events);
		table_row(t);
		table_text(t, (*a)->name);
		table_text(t, (*a)->summary);
		table_text(t, (*a)->show);
		table_text(t, (*a)->record);
		table_text(t, strbuf_str(&events));
	}
}

static int has_none(const struct analysis *a, struct err *e)
{
	AUTO_STRBUF names = { 0 };

	analysis_events(a, &names);
	err_set(e, ENODATA, "there are no events to make '%s' of: it needs %s", a->name,
		strbuf_str(&names));
	return err_hint(e, "%s records them", a->record);
}

int analysis_begin(const struct analysis *a, const struct analysis_env *env,
		   struct analysis_run **ret, struct err *e)
{
	const struct trace *t = env->trace;
	struct analysis_run *run = mem_alloc(sizeof(*run));
	bool any = !a->events;
	int r;

	*run = (struct analysis_run){ .a = a, .env = *env, .n_roles = t->n_types };
	run->roles = mem_alloc((t->n_types + 1) * sizeof(*run->roles));
	for (size_t i = 0; a->events && i < t->n_types; i++) {
		run->roles[i] = role_of(a, &t->types[i]);
		any = any || run->roles[i].role;
	}
	if (!any) {
		analysis_end(run);
		return has_none(a, e);
	}
	run->state = mem_alloc(a->state_size);
	r = a->begin ? a->begin(run->state, env, e) : 0;
	if (r < 0) {
		analysis_end(run);
		return r;
	}
	*ret = run;
	return 0;
}

int analysis_add(void *ctx, const struct event *ev)
{
	struct analysis_run *run = ctx;
	const struct role *r;
	int64_t values[ANALYSIS_FIELDS] = { 0 };

	if (ev->kind != EVENT_SAMPLE || ev->type >= run->n_roles)
		return 0;
	r = &run->roles[ev->type];
	if (!r->role && run->a->events)
		return 0;
	for (unsigned i = 0; i < r->n; i++)
		field_int(r->field[i], ev->raw, ev->raw_size, &values[i]);
	run->a->add(run->state, r->role, ev, values);
	return 0;
}

int analysis_tables(struct analysis_run *run, const char *sort, struct tables *ret, struct err *e)
{
	size_t first = ret->n;
	int sorted;

	run->a->end(run->state, &run->env, ret);
	sort = sort ? sort : run->a->sort;
	sorted = ret->n > first ? -EINVAL : 0;
	for (size_t i = first; sort && i < ret->n; i++) {
		int r = table_sort(ret->data[i], sort, e);

		sorted = r < 0 ? sorted : 0;
	}
	return sort ? sorted : 0;
}

void analysis_end(struct analysis_run *run)
{
	if (!run)
		return;
	if (run->state && run->a->drop)
		run->a->drop(run->state);
	free(run->state);
	free(run->roles);
	free(run);
}
