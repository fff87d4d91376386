/* SPDX-License-Identifier: MIT */
#include "calc/read/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "event/match.h"

static int gate_find_type(const char *option, const char *name, const struct trace *t,
			  uint32_t *ret, struct err *e)
{
	AUTO_STRBUF names = { 0 };

	*ret = name ? match_find(t, name) : MATCH_NONE;
	if (!name || *ret != MATCH_NONE)
		return 0;
	match_list(t, &names);
	err_set(e, ENOENT, "%s %s: no such event was recorded", option, name);
	return err_hint(e, "there are: %s", names.n ? strbuf_str(&names) : "none at all");
}

int gate_make(struct gate *g, const struct gate_opts *o, const struct trace *t, struct err *e)
{
	int r;

	*g = (struct gate){ .show = o->show, .closed = o->on != NULL };
	r = gate_find_type("--switch-on", o->on, t, &g->on, e);
	return r < 0 ? r : gate_find_type("--switch-off", o->off, t, &g->off, e);
}

void gate_free(struct gate *g)
{
	vec_free(&g->spans);
}

/* Does the event open it, or close it? */
static bool turns(struct gate *g, const struct event *ev)
{
	if (ev->type != (g->closed ? g->on : g->off))
		return false;
	g->closed = !g->closed;
	return true;
}

bool gate_passes(struct gate *g, const struct event *ev)
{
	if (ev->kind != EVENT_SAMPLE)
		return true;
	return turns(g, ev) ? g->show : !g->closed;
}

static int gate_look(void *ctx, const struct event *ev)
{
	struct gate *g = ctx;

	if (ev->kind != EVENT_SAMPLE || !turns(g, ev))
		return 0;
	if (g->closed)
		g->spans.data[g->spans.n - 1].until = ev->time;
	else
		vec_push(&g->spans, ((struct gate_span){ ev->time, UINT64_MAX }));
	return 0;
}

int gate_learn(struct gate *g, struct source *s, struct err *e)
{
	if (!g->closed)
		vec_push(&g->spans, ((struct gate_span){ 0, UINT64_MAX }));
	return s->read_ordered(s, false, gate_look, g, e);
}

bool gate_passed(const struct gate *g, const struct event *ev)
{
	size_t lo = 0, hi = g->spans.n;
	const struct gate_span *s;

	while (lo < hi) { /* the last that begins at or before it */
		size_t mid = lo + (hi - lo) / 2;

		if (g->spans.data[mid].from <= ev->time)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	s = &g->spans.data[lo - 1];
	if ((ev->type == g->on && ev->time == s->from) ||
	    (ev->type == g->off && ev->time == s->until))
		return g->show;
	return ev->time < s->until;
}
