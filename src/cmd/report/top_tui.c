/* SPDX-License-Identifier: MIT */
/* A live capture as the terminal interface's model. */
#include <string.h>

#include "cmd/report/top.h"
#include "live/loop.h"

#define POLL_MS 100

struct state {
	struct top *t;
	struct top_snapshot *newest; /* tables made between two refreshes (other keys) share it */
	char title[256];
	double rate; /* samples a second that were not idle */
};

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

/* The title for the time since the last refresh, which ends now. */
static void top_tui_entitle(struct state *s)
{
	struct top *t = s->t;
	double seconds = (double)(loop_now() - t->since) / 1e9;
	uint64_t lost = t->m.source->trace->losses.lost_events;

	s->rate = seconds > 0 ? (double)t->samples / seconds : 0;
	snprintf(s->title, sizeof(s->title), "%.0f samples/s  kernel %.1f%%  %s  (%s)%s%.0llu",
		 s->rate, profile_percent(t->kernel, t->samples), t->event, t->whom,
		 lost ? "  lost: " : "", (unsigned long long)lost);
	t->samples = t->kernel = 0;
	t->since = loop_now();
}

static int top_tui_refresh(struct state *s, struct err *e)
{
	struct top_snapshot *before = s->newest;
	const struct idle *idle;
	int r;

	top_tui_entitle(s);
	r = top_snapshot_take(s->t, &s->newest, e);
	if (r < 0)
		return r;
	top_snapshot_put(before);
	idle = &s->newest->idle;
	if (idle->weight > 0) {
		size_t n = strlen(s->title);

		s->rate *= 1 - idle->weight / idle->all;
		snprintf(s->title + n, sizeof(s->title) - n, "  idle %.1f%%",
			 100.0 * idle->weight / idle->all);
	}
	top_era_turn(s->t);
	return 0;
}

static int top_tui_make(void *ctx, const struct tui_query *q, struct tui_table *ret, struct err *e)
{
	struct state *s = ctx;
	struct top *t = s->t;
	struct columns columns = t->columns;
	struct tui_hist_opts o = { .cells = { .columns = &columns, .plan = &t->plan },
				   .hist = { .type = q->type,
					     .children = top_shows_children(t->a) },
				   .chains = t->a->chains,
				   .tree = t->a->hierarchy,
				   .leader = t->leader,
				   .order_member = (unsigned)t->a->group_sort,
				   .drop = top_snapshot_put };
	int r = 0;

	if (q->sort) {
		r = top_columns(t, q->sort, &columns, e);
		/* what is not counted apart cannot be told apart afterwards */
		if (r == 0 && ((cells_needs(&columns) & ~(t->by | PROFILE_BY_CODE)) ||
			       has_more(&columns, &t->columns)))
			r = err_set(e, EINVAL,
				    "a live view cannot change to '%s': start it with -s %s",
				    q->sort, q->sort);
	}
	if (r == 0 && (!s->newest || q->refresh))
		r = top_tui_refresh(s, e);
	if (r < 0)
		return r;
	if (q->children >= 0)
		o.hist.children = t->a->chains && q->children;
	o.hist.caller = o.cells.caller = o.hist.children;
	s->newest->users++;
	o.hist.site_wanted = s->newest->sites;
	o.ctx = s->newest;
	tui_hist_make(&s->newest->names, &o, ret);
	return 0;
}

static void zero(void *ctx)
{
	profile_builder_fade(((struct state *)ctx)->t->counted, 0);
}

static const char *top_tui_title(void *ctx)
{
	return ((struct state *)ctx)->title;
}

static double top_tui_level(void *ctx)
{
	return ((struct state *)ctx)->rate;
}

static int top_tui_poll(void *ctx, struct err *e)
{
	return top_poll(((struct state *)ctx)->t, e);
}

int top_tui_run(struct top *t, struct err *e)
{
	struct state s = { .t = t };
	struct tui_model m = { .ctx = &s,
			       .name = "live",
			       .trace = t->m.source->trace,
			       .leader = t->leader,
			       .make = top_tui_make,
			       .samples = t->a->columns.samples,
			       .percent_limit = t->a->min_percent,
			       .graph_percent_limit = 0.5,
			       .refresh_ms = t->a->delay_s * 1000,
			       .zero = zero,
			       .live_title = top_tui_title,
			       .live_level = top_tui_level,
			       .poll = top_tui_poll,
			       .poll_ms = POLL_MS };
	int r;

	codestyle_apply(&t->a->code, &m);
	r = tui_top(&m, e);
	top_snapshot_put(s.newest);
	return r;
}
