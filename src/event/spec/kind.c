/* SPDX-License-Identifier: MIT */
/*
 * Which kind of event a name is: one that every machine has, a raw number, a
 * PMU's, a tracepoint, or a name of libpfm4, asked in this order.
 */
#include "event/probe.h"
#include "event/spec/int.h"

#include <ctype.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

/* --- tracepoints and probes: subsys:event, patterns on both sides; a plain name: one lookup --- */

/* Patterns are matched against names from a directory; a plain name becomes a path. */
static bool usable(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static int env_failed(struct spec_parser *p, const struct spec_item *item, int r,
		      const struct err *e)
{
	spec_bad(p, item->head, -r, "%s", e->msg);
	return spec_bad_hint(p, "%s", e->hint);
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

/* 1 when events were added, 0 when there is no such tracepoint. */
static int spec_tracepoint(struct spec_parser *p, const struct spec_item *item, struct slice subsys,
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

/* --- breakpoints: mem:ADDR[/LEN][:rwx][:MODS]; ADDR: a number, or SYMBOL[+N] of the kernel --- */

static const char usage[] = "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u";

static int bad_breakpoint(struct spec_parser *p, struct slice at, const char *what)
{
	spec_bad(p, at, EINVAL, "%s", what);
	return spec_bad_hint(p, "%s", usage);
}

static int address(struct spec_parser *p, struct slice s, uint64_t *addr)
{
	struct slice name, plus;
	struct err e = { 0 };
	uint64_t offset = 0;
	int r;

	if (!s.n)
		return bad_breakpoint(p, s, "there is no address");
	if (slice_u64(s, addr))
		return 0;
	if (s.s[0] >= '0' && s.s[0] <= '9')
		return bad_breakpoint(p, s, "that is no address");
	if (slice_cut(s, '+', &name, &plus) && !slice_u64(plus, &offset))
		return bad_breakpoint(p, plus, "after '+' comes a number");
	if (!p->env->symbol)
		return bad_breakpoint(p, name, "symbols are not known here");
	r = p->env->symbol(p->env->ctx, slice_dup(p, name), addr, &e);
	if (r < 0) {
		spec_bad(p, name, -r, "%s", e.msg);
		return spec_bad_hint(p, "%s", e.hint);
	}
	*addr += offset;
	return 0;
}

/* Letters of rwx, each once; 0 when it is something else. */
static int access_type(struct slice s, uint32_t *type)
{
	static const char letters[] = "rwx";
	static const uint32_t bits[] = { HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X };

	*type = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *at = strchr(letters, s.s[i]);

		if (!at)
			return 0;
		if (*type & bits[at - letters])
			return -EINVAL;
		*type |= bits[at - letters];
	}
	return s.n > 0;
}

int spec_breakpoint(struct spec_parser *p, const struct spec_item *item, struct slice *mods)
{
	struct slice all = { item->head.s + 4, item->head.n - 4 }, where, rest, addr_text, len_text;
	uint64_t addr, len = 0;
	uint32_t type = HW_BREAKPOINT_RW, got;
	struct event_spec *s;
	bool colon = slice_cut(all, ':', &where, &rest);
	int r;

	if (slice_cut(where, '/', &addr_text, &len_text) &&
	    (!slice_u64(len_text, &len) || len < 1 || len > 8))
		return bad_breakpoint(p, len_text, "the length is 1 to 8 bytes");
	*mods = rest;
	if (colon && rest.n) {
		struct slice access, after;

		slice_cut(rest, ':', &access, &after);
		r = access_type(access, &got);
		if (r < 0)
			return bad_breakpoint(p, access, "a letter of rwx is there twice");
		if (r > 0) {
			type = got;
			*mods = after;
		}
	}
	r = address(p, addr_text, &addr);
	if (r < 0)
		return r;
	s = spec_add(p, SPEC_BREAKPOINT, PERF_TYPE_BREAKPOINT, 0, item);
	s->attr.bp_type = type;
	s->attr.bp_addr = addr;
	s->attr.bp_len = len			   ? len
			 : type == HW_BREAKPOINT_X ? SPEC_BP_EXEC_LEN
						   : HW_BREAKPOINT_LEN_4;
	return 1;
}

/* --- all others --- */

/* The name of a cache event, as perf shows it, has neither blanks nor modifiers. */
static const char *spec_kind_cache_name(struct spec_parser *p, struct slice name)
{
	char *copy = slice_dup(p, name), *to = copy;

	for (const char *c = copy; *c; c++)
		if (!isspace((unsigned char)*c))
			*to++ = *c;
	*to = '\0';
	return copy;
}

static int cache_event(struct spec_parser *p, const struct spec_item *item, struct slice name)
{
	const char *clean = spec_kind_cache_name(p, name);
	uint64_t config;
	size_t at = 0, from = p->list->n;
	int r = spec_cache_parse(clean, strlen(clean), &config, &at);

	if (r == 0)
		return 0;
	if (r < 0) /* the column is right only where no blanks were left out */
		return spec_bad_cache(p, name,
				      strlen(clean) == name.n
					      ? (struct slice){ name.s + at, name.n - at }
					      : name);
	r = spec_pmu_hybrid(p, item, SPEC_CACHE, PERF_TYPE_HW_CACHE, config);
	if (r)
		return r;
	spec_add(p, SPEC_CACHE, PERF_TYPE_HW_CACHE, config, item);
	p->list->spec[from].name = clean;
	return 1;
}

/* Names and numbers that mean the same everywhere. 1: added, 0: not one of them. */
static int fixed_event(struct spec_parser *p, const struct spec_item *item, struct slice name)
{
	const struct spec_name *n = spec_name_find(name.s, name.n);
	struct event_spec *s;
	uint64_t config;
	int r;

	if (n && n->kind == SPEC_TOOL) {
		s = spec_add(p, SPEC_TOOL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, item);
		s->tool = (enum spec_tool)n->config;
		return 1;
	}
	if (n) {
		r = n->kind == SPEC_HARDWARE ? spec_pmu_hybrid(p, item, n->kind, n->type, n->config)
					     : 0;
		if (r == 0)
			spec_add(p, n->kind, n->type, n->config, item);
		return r < 0 ? r : 1;
	}
	if (slice_raw(name, &config)) {
		r = spec_pmu_hybrid(p, item, SPEC_RAW, PERF_TYPE_RAW, config);
		if (r == 0)
			spec_add(p, SPEC_RAW, PERF_TYPE_RAW, config, item);
		return r < 0 ? r : 1;
	}
	return cache_event(p, item, name);
}

/* TYPE:CONFIG in numbers. */
static int numeric_event(struct spec_parser *p, const struct spec_item *item, uint64_t type,
			 struct slice config_text)
{
	static const enum spec_kind kinds[] = { SPEC_HARDWARE, SPEC_SOFTWARE, SPEC_TRACEPOINT,
						SPEC_CACHE,    SPEC_RAW,      SPEC_BREAKPOINT };
	uint64_t config;

	if (!slice_u64(config_text, &config)) {
		spec_bad(p, config_text, EINVAL, "TYPE:CONFIG wants a number after the ':'");
		return spec_bad_hint(p, "as in 1:3 (software event 3)");
	}
	if (type > UINT32_MAX)
		return spec_bad(p, item->head, EINVAL, "there is no event type that large");
	spec_add(p, type < ARRAY_SIZE(kinds) ? kinds[type] : SPEC_PMU, (uint32_t)type, config,
		 item);
	return 1;
}

/* libpfm4 gets the whole text, for it has modifiers of its own (:u:c=1); what it does not know of
 * them may be perf's (:uk). 1 when it knew the name; *mods are left to do. */
static int pfm_event(struct spec_parser *p, const struct spec_item *item, struct slice *mods)
{
	struct perf_event_attr attr = { 0 };
	struct event_spec *s;
	struct err e = { 0 };
	char *text = slice_dup(p, item->whole), *last;
	int r;

	*mods = (struct slice){ item->whole.s + item->whole.n, 0 };
	if (!p->env->pfm || item->has_terms)
		return 0;
	r = p->env->pfm(p->env->ctx, text, &attr, &e);
	last = strrchr(text, ':');
	if (r == -EINVAL && last && last[1] &&
	    spec_are_modifiers((struct slice){ last + 1, strlen(last + 1) })) {
		*mods = (struct slice){ item->whole.s + (last + 1 - text), strlen(last + 1) };
		*last = '\0';
		attr = (struct perf_event_attr){ 0 };
		r = p->env->pfm(p->env->ctx, text, &attr, &e);
	}
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		spec_bad(p, item->whole, -r, "%s", e.msg);
		return spec_bad_hint(p, "%s", e.hint);
	}
	s = spec_add(p, attr.type == PERF_TYPE_RAW ? SPEC_RAW : SPEC_PMU, attr.type, 0, item);
	if (attr.sample_period) {
		*(attr.freq ? &s->freq : &s->period) = attr.sample_period;
		s->terms |= attr.freq ? SPEC_TERM_FREQ : SPEC_TERM_PERIOD;
		attr.sample_period = 0;
		attr.freq = 0;
	}
	attr.size = 0;
	s->attr = attr;
	s->attr.exclude_guest = !attr.exclude_host;
	s->modified = attr.exclude_user || attr.exclude_kernel;
	return 1;
}

int spec_head(struct spec_parser *p, const struct spec_item *item, const struct spec_terms *terms,
	      struct slice *mods)
{
	struct slice name, rest, event;
	bool colon = slice_cut(item->head, ':', &name, &rest);
	uint64_t number;
	int r;

	*mods = rest;
	if (!name.n)
		return spec_bad(p, item->head, EINVAL, "there is no event name before the ':'");
	r = fixed_event(p, item, name);
	if (r)
		return r;
	if (colon && slice_u64(name, &number)) {
		slice_cut(rest, ':', &event, mods);
		return numeric_event(p, item, number, event);
	}
	if (item->has_terms && !colon) {
		r = spec_pmu_event(p, item, name, terms);
		if (r)
			return r;
	}
	if (!colon || spec_are_modifiers(rest)) {
		r = spec_pmu_alias(p, item, name, terms);
		if (r)
			return r;
	}
	if (colon) {
		slice_cut(rest, ':', &event, mods);
		r = spec_tracepoint(p, item, name, event);
		if (r == 0 &&
		    probe_is_group(name.s, name.n)) /* libpfm4 knows a PMU of nearly that name */
			r = spec_bad_probe(p, name, event);
		if (r)
			return r;
	}
	r = pfm_event(p, item, mods);
	if (r)
		return r;
	if (colon)
		return spec_bad_tracepoint(p, name, event);
	return item->has_terms ? spec_bad_pmu(p, name) : spec_bad_unknown(p, name);
}
