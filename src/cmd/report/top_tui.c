/* SPDX-License-Identifier: MIT */
#include "cmd/report/top_tui.h"

#include <stdlib.h>
#include <string.h>

#include "calc/read/idle.h"
#include "cmd/report/tui_hist.h"

/*
 * What a table is made of is a copy: the capture goes on counting while the table is
 * looked at. Tables made between two refreshes (other keys) share it.
 */
struct snapshot {
	struct top_era *era;
	struct profile profile;
	struct names names;
	bool *sites; /* that are wanted; NULL: all */
	struct idle idle;
	unsigned users;
};

struct state {
	const struct top_tui *t;
	struct snapshot *newest;
	char title[256];
	double rate; /* samples a second that were not idle */
};

static void snapshot_put(void *ctx)
{
	struct snapshot *s = ctx;

	if (!s || --s->users)
		return;
	free(s->sites);
	names_free(&s->names);
	profile_free(&s->profile);
	top_era_put(s->era);
	free(s);
}

static int top_tui_take(struct state *s, struct err *e)
{
	struct snapshot *n = mem_alloc(sizeof(*n));
	struct symbols *symbols;
	int r;

	n->users = 1;
	n->era = top_era_take(s->t->eras);
	symbols = n->era->symbols;
	profile_copy(profile_builder_look(s->t->counted), &n->era->trace, &n->profile);
	r = names_make(&n->profile, symbols, &s->t->names, &n->names, e);
	if (r == 0 && symbols_refresh(symbols)) { /* code that was compiled meanwhile */
		names_free(&n->names);
		r = names_make(&n->profile, symbols, &s->t->names, &n->names, e);
	}
	if (r < 0) {
		profile_free(&n->profile);
		top_era_put(n->era);
		free(n);
		return r;
	}
	if (s->t->without_idle)
		idle_leave_out(&n->profile, &n->names, &n->idle);
	n->sites = pick_sites(s->t->pick, &n->names);
	snapshot_put(s->newest);
	s->newest = n;
	return 0;
}

/* What samples are remembered with was planned for the columns it began with. */
static bool is_planned(const struct column *c, const struct columns *planned)
{
	for (unsigned i = 0; i < planned->n; i++) {
		const struct column *p = &planned->col[i];

		if (p->key == c->key && p->value == c->value && p->type == c->type &&
		    p->field == c->field && p->raw == c->raw)
			return true;
	}
	return false;
}

static bool has_more(const struct columns *c, const struct columns *planned)
{
	for (unsigned i = 0; i < c->n; i++)
		if ((c->col[i].key == KEY_FIELD || c->col[i].key == KEY_TRACE) &&
		    !is_planned(&c->col[i], planned))
			return true;
	return false;
}

static int top_tui_make(void *ctx, const struct tui_query *q, struct tui_table *ret, struct err *e)
{
	struct state *s = ctx;
	struct columns columns = *s->t->columns;
	struct tui_hist_opts o = { .cells = { .columns = &columns, .plan = s->t->plan },
				   .hist = { .type = q->type, .children = s->t->children },
				   .chains = s->t->chains,
				   .tree = s->t->tree,
				   .leader = s->t->leader,
				   .order_member = s->t->order_member,
				   .drop = snapshot_put };
	int r = 0;

	if (q->sort) {
		r = s->t->parse_sort(s->t->ctx, q->sort, &columns, e);
		/* what is not counted apart cannot be told apart afterwards */
		if (r == 0 && ((cells_needs(&columns) & ~(s->t->by | PROFILE_BY_CODE)) ||
			       has_more(&columns, s->t->columns)))
			r = err_set(e, EINVAL,
				    "a live view cannot change to '%s': start it with -s %s",
				    q->sort, q->sort);
	}
	if (r < 0)
		return r;
	if (q->children >= 0)
		o.hist.children = s->t->chains && q->children;
	o.hist.caller = o.cells.caller = o.hist.children;
	if (!s->newest || q->refresh) {
		snprintf(s->title, sizeof(s->title), "%s", s->t->title(s->t->ctx, &s->rate));
		r = top_tui_take(s, e);
		if (r == 0 && s->newest->idle.weight > 0) {
			size_t n = strlen(s->title);

			s->rate *= 1 - s->newest->idle.weight / s->newest->idle.all;
			snprintf(s->title + n, sizeof(s->title) - n, "  idle %.1f%%",
				 100.0 * s->newest->idle.weight / s->newest->idle.all);
		}
		if (r == 0) {
			profile_builder_fade(s->t->counted, s->t->keep);
			top_eras_turn(s->t->eras);
		}
	}
	if (r < 0)
		return r;
	s->newest->users++;
	o.hist.site_wanted = s->newest->sites;
	o.ctx = s->newest;
	tui_hist_make(&s->newest->names, &o, ret);
	return 0;
}

static void zero(void *ctx)
{
	struct state *s = ctx;

	profile_builder_fade(s->t->counted, 0);
}

static const char *top_tui_title(void *ctx)
{
	return ((struct state *)ctx)->title;
}

static double top_tui_level(void *ctx)
{
	return ((struct state *)ctx)->rate;
}

static int poll(void *ctx, struct err *e)
{
	struct state *s = ctx;

	return s->t->poll(s->t->ctx, e);
}

int top_tui_run(const struct top_tui *t, struct err *e)
{
	struct state s = { .t = t };
	struct tui_model m = { .ctx = &s,
			       .name = "live",
			       .trace = t->trace,
			       .leader = t->leader,
			       .make = top_tui_make,
			       .release = tui_hist_release,
			       .cell = tui_hist_cell,
			       .each_entry = tui_hist_each_entry,
			       .samples = t->samples,
			       .percent_limit = t->percent_limit,
			       .graph_percent_limit = 0.5,
			       .refresh_ms = t->refresh_ms,
			       .zero = zero,
			       .live_title = top_tui_title,
			       .live_level = top_tui_level,
			       .poll = poll,
			       .poll_ms = t->poll_ms };
	int r;

	codestyle_apply(t->code, &m);
	r = tui_top(&m, e);

	snapshot_put(s.newest);
	return r;
}
