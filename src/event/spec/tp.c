/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints, which dynamic probes are too: subsys:event, with patterns on
 * both sides. A plain name costs one lookup; sched:* only its own subsystem.
 */
#include "event/spec/int.h"

#include <string.h>

/* Patterns are matched against names from a directory; a plain name becomes a path. */
static bool usable(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static int env_failed(struct spec_parser *p, const struct spec_item *item, int r,
		      const struct err *e)
{
	spec_bad(p, item->head, -r, "%s", e->msg);
	spec_bad_hint(p, "%s", e->hint);
	return r;
}

static int spec_tp_add(struct spec_parser *p, const struct spec_item *item, const char *subsys,
		       const char *event, struct err *e)
{
	struct event_spec *s;
	uint64_t id;
	int r = p->env->tracepoint(p->env->ctx, subsys, event, &id, e);

	if (r < 0)
		return r;
	s = spec_add(p, SPEC_TRACEPOINT, PERF_TYPE_TRACEPOINT, id, item);
	s->subsys = arena_strdup(&p->list->arena, subsys);
	s->event = arena_strdup(&p->list->arena, event);
	s->name = arena_printf(&p->list->arena, "%s:%s", subsys, event);
	return 1;
}

/* Those of one subsystem that match. Names without an id (ftrace:*) cannot be counted. */
static int add_matching(struct spec_parser *p, const struct spec_item *item, const char *subsys,
			const char *pattern, struct err *e)
{
	struct env_names names = { 0 };
	int r, added = 0;

	if (!str_has_glob(pattern))
		return spec_tp_add(p, item, subsys, pattern, e);
	r = p->env->tracepoints(p->env->ctx, subsys, &names, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_glob(pattern, names.name[i]))
			continue;
		r = spec_tp_add(p, item, subsys, names.name[i], e);
		if (r < 0 && r != -ENOENT)
			return r;
		added |= r > 0;
		if (p->list->n > SPEC_EVENTS_MAX)
			return 1; /* the caller refuses it */
	}
	return added;
}

int spec_tracepoint(struct spec_parser *p, const struct spec_item *item, struct slice subsys,
		    struct slice event)
{
	const char *sub = slice_dup(p, subsys), *ev = slice_dup(p, event);
	struct env_names names = { 0 };
	struct err e = { 0 };
	int r, added = 0;

	if (!p->env->tracepoint || !p->env->tracepoints || !usable(sub) || !usable(ev))
		return 0;
	if (!str_has_glob(sub)) {
		r = add_matching(p, item, sub, ev, &e);
		if (r == -ENOENT || r == -ENOTDIR)
			return 0;
		return r < 0 ? env_failed(p, item, r, &e) : r;
	}
	r = p->env->tracepoints(p->env->ctx, NULL, &names, &e);
	if (r < 0)
		return env_failed(p, item, r, &e);
	for (size_t i = 0; i < names.n; i++) {
		if (!str_glob(sub, names.name[i]))
			continue;
		r = add_matching(p, item, names.name[i], ev, &e);
		if (r < 0 && r != -ENOENT)
			return env_failed(p, item, r, &e);
		added |= r > 0;
	}
	return added;
}
