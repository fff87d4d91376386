/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a -e text, shown under the text itself, and what was
 * probably meant. Looking for near names may read much (every subsystem's
 * tracepoints); it happens only here, when the command is about to fail.
 */
#include "event/probe.h"
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

#define WINDOW 96 /* bytes of the text that are shown */

int spec_bad(struct spec_parser *p, struct slice at, int code, const char *fmt, ...)
{
	va_list ap;

	p->code = code;
	if (p->nbad++ < SPEC_SPOTS) {
		struct spec_spot *b = &p->bad[p->nbad - 1];

		b->at = at;
		b->code = code;
		b->hint[0] = '\0';
		va_start(ap, fmt);
		vsnprintf(b->msg, sizeof(b->msg), fmt, ap);
		va_end(ap);
	}
	return -code;
}

int spec_bad_hint(struct spec_parser *p, const char *fmt, ...)
{
	va_list ap;

	if (p->nbad && p->nbad <= SPEC_SPOTS) {
		va_start(ap, fmt);
		vsnprintf(p->bad[p->nbad - 1].hint, sizeof(p->bad[0].hint), fmt, ap);
		va_end(ap);
	}
	return -p->code;
}

int spec_bad_near(struct spec_parser *p, const struct str_nearest *near, const char *otherwise)
{
	char list[200];

	if (str_nearest_list(near, list, sizeof(list)))
		return spec_bad_hint(p, "did you mean %s?", list);
	return spec_bad_hint(p, "%s", otherwise);
}

/* The names that everybody has. */
static void near_fixed(struct str_nearest *near)
{
	for (size_t i = 0; i < spec_names_n; i++) {
		str_nearest_add(near, spec_names[i].name);
		if (spec_names[i].alias)
			str_nearest_add(near, spec_names[i].alias);
	}
}

/* The tracepoints of a subsystem; with NULL the subsystems. */
static struct env_names events_of(struct spec_parser *p, const char *subsys)
{
	struct env_names names = { 0 };

	if (p->env->tracepoints && p->env->tracepoints(p->env->ctx, subsys, &names, NULL) < 0)
		names.n = 0;
	return names;
}

/* The tracepoints of that name in any subsystem, or of the system call of that name. */
static void near_tracepoints(struct spec_parser *p, const char *event, struct str_nearest *near)
{
	struct env_names subs = events_of(p, NULL);
	const char *call = arena_printf(&p->list->arena, "sys_enter_%s", event);

	for (size_t i = 0; i < subs.n && near->n < STR_NEAREST_MAX; i++) {
		struct env_names events = events_of(p, subs.name[i]);

		for (size_t j = 0; j < events.n; j++)
			if ((strcasecmp(events.name[j], event) == 0 ||
			     strcmp(events.name[j], call) == 0) &&
			    near->n < STR_NEAREST_MAX)
				near->name[near->n++] = arena_printf(&p->list->arena, "%s:%s",
								     subs.name[i], events.name[j]);
	}
}

static void near_pmu_events(struct spec_parser *p, struct str_nearest *near)
{
	struct env_names pmus = { 0 };

	if (!p->env->pmu_names || !p->env->pmu || !p->env->pmu_events)
		return;
	pmus = p->env->pmu_names(p->env->ctx);
	for (size_t i = 0; i < pmus.n; i++) {
		const struct env_pmu *pmu = p->env->pmu(p->env->ctx, pmus.name[i]);
		struct env_names events = { 0 };

		if (pmu)
			events = p->env->pmu_events(p->env->ctx, pmu);
		for (size_t j = 0; j < events.n; j++)
			str_nearest_add(near, events.name[j]);
	}
}

static void near_caches(struct spec_parser *p, struct str_nearest *near)
{
	char cache[SPEC_CACHE_NAME_MAX];

	for (size_t i = 0; i < spec_cache_count(); i++) {
		spec_cache_name(i, cache);
		str_nearest_add(near, arena_strdup(&p->list->arena, cache));
	}
}

int spec_bad_cache(struct spec_parser *p, struct slice name, struct slice part)
{
	struct str_nearest near = { .typed = slice_dup(p, name) };

	spec_bad(p, part, EINVAL, "'%.*s' does not fit into the cache event '%s'", (int)part.n,
		 part.s, near.typed);
	near_caches(p, &near);
	return spec_bad_near(
		p, &near,
		"CACHE-load|store|prefetch[es][-misses], without stores for L1-icache, and only "
		"loads for iTLB and branch");
}

int spec_bad_unknown(struct spec_parser *p, struct slice name)
{
	struct str_nearest near = { .typed = slice_dup(p, name) };
	const char *other = "'kymo list' shows the events of this machine";

	spec_bad(p, name, ENOENT, "unknown event '%.*s'", (int)name.n, name.s);
	if (strpbrk(near.typed, "*?["))
		other = "a pattern needs its subsystem: 'sched:sched_*'";
	near_fixed(&near);
	near_caches(p, &near);
	near_pmu_events(p, &near);
	if (p->env->pmu && p->env->pmu(p->env->ctx, near.typed)) {
		return spec_bad_hint(
			p, "it is a PMU: write %s/EVENT/ ('kymo list %s' shows its events)",
			near.typed, near.typed);
	}
	if (!near.n)
		near_tracepoints(p, near.typed, &near);
	return spec_bad_near(p, &near, other);
}

/* The subsystem is there, the event is not. */
static int bad_event_of(struct spec_parser *p, const char *sub, struct slice at, const char *ev,
			bool glob)
{
	struct env_names events = events_of(p, sub);
	struct str_nearest near = { .typed = ev };

	for (size_t i = 0; i < events.n; i++)
		if (strcmp(events.name[i], ev) == 0) {
			spec_bad(p, at, ENOENT, "%s:%s can be traced, but not counted or sampled",
				 sub, ev);
			return spec_bad_hint(
				p, "the kernel gives it no id: only the ftrace buffer has it");
		}
	if (!*ev)
		spec_bad(p, at, ENOENT, "there is no event name after '%s:'", sub);
	else
		spec_bad(p, at, ENOENT,
			 glob ? "no tracepoint of %s matches '%s'" : "%s has no tracepoint '%s'",
			 sub, ev);
	for (size_t i = 0; i < events.n && *ev; i++)
		str_nearest_add(&near, events.name[i]);
	for (unsigned i = 0; i < near.n; i++)
		near.name[i] = arena_printf(&p->list->arena, "%s:%s", sub, near.name[i]);
	if (!near.n && !glob)
		near_tracepoints(p, ev, &near);
	return spec_bad_near(
		p, &near,
		arena_printf(&p->list->arena, "'kymo list \"%s:*\"' shows its tracepoints", sub));
}

int spec_bad_tracepoint(struct spec_parser *p, struct slice subsys, struct slice event)
{
	const char *sub = slice_dup(p, subsys), *ev = slice_dup(p, event);
	struct str_nearest near = { .typed = sub };
	struct env_names subs = events_of(p, NULL), events;
	struct slice at = { subsys.s, (size_t)(event.s + event.n - subsys.s) };
	bool known = false, glob = str_has_glob(sub) || str_has_glob(ev);

	for (size_t i = 0; i < subs.n; i++)
		known |= strcmp(subs.name[i], sub) == 0;
	if (known)
		return bad_event_of(p, sub, event, ev, glob);
	if (event.n && spec_are_modifiers(event)) /* cycels:u */
		return spec_bad_unknown(p, subsys);
	if (glob) {
		spec_bad(p, at, ENOENT, "no tracepoint matches '%s:%s'", sub, ev);
		return spec_bad_hint(p, "'kymo list tracepoint' shows them");
	}
	spec_bad(p, at, ENOENT, "unknown event '%s:%s': there is no subsystem '%s'", sub, ev, sub);
	near_tracepoints(p, ev, &near);
	for (size_t i = 0; i < subs.n && !near.n; i++)
		if (str_distance(sub, subs.name[i], 2) <= 2) {
			struct str_nearest in = { .typed = ev };

			events = events_of(p, subs.name[i]);
			for (size_t j = 0; j < events.n; j++)
				str_nearest_add(&in, events.name[j]);
			if (in.n)
				near.name[near.n++] = arena_printf(&p->list->arena, "%s:%s",
								   subs.name[i], in.name[0]);
		}
	if (near.n) {
		return spec_bad_near(p, &near, "");
	}
	for (size_t i = 0; i < subs.n; i++)
		str_nearest_add(&near, subs.name[i]);
	near_fixed(&near);
	return spec_bad_near(p, &near, "'kymo list' shows the events of this machine");
}

int spec_bad_probe(struct spec_parser *p, struct slice subsys, struct slice event)
{
	const char *sub = slice_dup(p, subsys), *ev = slice_dup(p, event);
	const char *name = arena_printf(&p->list->arena, "%s:%s", sub, ev);
	struct slice at = { subsys.s, (size_t)(event.s + event.n - subsys.s) };
	struct env_names subs = events_of(p, NULL);
	VEC(const char *) have = { 0 };
	AUTO_STRBUF hint = { 0 };

	for (size_t i = 0; i < subs.n; i++) {
		struct env_names events = { 0 };

		if (probe_is_group(subs.name[i], strlen(subs.name[i])))
			events = events_of(p, subs.name[i]);
		for (size_t j = 0; j < events.n; j++)
			vec_push(&have, arena_printf(&p->list->arena, "%s:%s", subs.name[i],
						     events.name[j]));
	}
	spec_bad(p, at, ENOENT,
		 str_has_glob(name) ? "there is no probe that matches '%s'"
				    : "there is no probe '%s'",
		 name);
	probe_missing(name, have.data, have.n, &hint);
	spec_bad_hint(p, "%s", strbuf_str(&hint));
	vec_free(&have);
	return -ENOENT;
}

int spec_bad_pmu(struct spec_parser *p, struct slice name)
{
	struct str_nearest near = { .typed = slice_dup(p, name) };
	struct env_names pmus = { 0 };
	AUTO_STRBUF all = { 0 };

	if (p->env->pmu_names)
		pmus = p->env->pmu_names(p->env->ctx);
	for (size_t i = 0; i < pmus.n; i++) {
		str_nearest_add(&near, pmus.name[i]);
		if (all.n < 150)
			strbuf_printf(&all, "%s%s", i ? ", " : "", pmus.name[i]);
	}
	if (strcmp(near.typed, "cpu") == 0) {
		spec_bad(p, name, ENOENT, "there is no PMU '%s' here", near.typed);
		near.n = 0; /* msr is near to it only by its letters */
	} else {
		spec_bad(p, name, ENOENT, "neither a PMU nor an event: '%s'", near.typed);
		for (size_t i = 0; i < spec_names_n; i++)
			str_nearest_add(&near, spec_names[i].name);
	}
	return spec_bad_near(
		p, &near,
		all.n ? arena_printf(&p->list->arena, "PMUs here: %s", strbuf_str(&all))
		      : "'kymo list pmu' shows the PMUs of this machine");
}

/* The part of the text around the first spot, which fits on a line. */
static struct slice window(const struct spec_parser *p)
{
	struct slice w = p->text;
	size_t at = (size_t)(p->bad[0].at.s - w.s);

	if (w.n <= WINDOW)
		return w;
	if (at > WINDOW / 3) {
		size_t cut = at - WINDOW / 3;

		if (cut > w.n - WINDOW)
			cut = w.n - WINDOW;
		/* not in the middle of a character */
		for (int i = 0; i < 3 && cut && (w.s[cut] & 0xc0) == 0x80; i++)
			cut--;
		w.s += cut;
		w.n -= cut;
	}
	if (w.n > WINDOW + 3)
		w.n = WINDOW;
	return w;
}

static char spec_err_mark(const struct spec_parser *p, const char *at)
{
	unsigned n = p->nbad < SPEC_SPOTS ? p->nbad : SPEC_SPOTS;

	for (unsigned i = 0; i < n; i++) {
		const struct slice *b = &p->bad[i].at;

		if (at == b->s)
			return '^';
		if (at > b->s && at < b->s + b->n)
			return '~';
	}
	return ' ';
}

int spec_error(const struct spec_parser *p, struct err *e)
{
	unsigned n = p->nbad < SPEC_SPOTS ? p->nbad : SPEC_SPOTS;
	AUTO_STRBUF msg = { 0 };
	AUTO_STRBUF line = { 0 };
	AUTO_STRBUF hint = { 0 };
	struct slice w = window(p);
	bool cut_left = w.s > p->text.s, cut_right = w.s + w.n < p->text.s + p->text.n;

	for (unsigned i = 0; i < n; i++) {
		const struct spec_spot *b = &p->bad[i];

		if (!i || !strstr(strbuf_str(&msg), b->msg)) /* two may have the same reason */
			strbuf_printf(&msg, "%s%s", i ? "; " : "", b->msg);
		if (b->hint[0] && !strstr(strbuf_str(&hint), b->hint)) {
			if (hint.n)
				strbuf_puts(&hint, hint.data[hint.n - 1] == '?' ? " " : "; ");
			if (n > 1 && str_starts(b->hint, "did you mean "))
				strbuf_printf(&hint, "for %.*s: ", (int)b->at.n, b->at.s);
			strbuf_puts(&hint, b->hint);
		}
	}
	if (p->nbad > n)
		strbuf_printf(&msg, "; and %u more", p->nbad - n);
	if (msg.n > sizeof(e->msg) - 2 * WINDOW - 32) {
		msg.n = sizeof(e->msg) - 2 * WINDOW - 32;
		msg.data[msg.n] = '\0';
	}
	strbuf_puts(&msg, cut_left ? "\n  ..." : "\n  ");
	strbuf_puts(&line, cut_left ? "     " : "  ");
	for (const char *c = w.s, *end = w.s + w.n; c <= end;) {
		size_t bytes = c < end && !iscntrl((unsigned char)*c)
				       ? str_utf8_len(c, (size_t)(end - c))
				       : 0;

		if (bytes)
			strbuf_add(&msg, c, bytes);
		else if (c < end)
			strbuf_putc(&msg, iscntrl((unsigned char)*c) ? ' ' : '?');
		strbuf_putc(&line, spec_err_mark(p, c));
		c += bytes ? bytes : 1;
	}
	strbuf_puts(&msg, cut_right ? "...\n" : "\n");
	while (line.n && line.data[line.n - 1] == ' ')
		line.data[--line.n] = '\0';
	strbuf_puts(&msg, strbuf_str(&line));
	err_set(e, p->bad[0].code, "%s", strbuf_str(&msg));
	err_hint(e, "%s",
		 hint.n ? strbuf_str(&hint) : "as in cycles:u,{instructions,branches}:S,sched:*");
	return -p->bad[0].code;
}
