/* SPDX-License-Identifier: MIT */
/*
 * Reading the -e text from left to right: it is cut into items and groups, and
 * each item's events get their terms and modifiers.
 */
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

struct event_spec *spec_add(struct spec_parser *p, enum spec_kind kind, uint32_t type,
			    uint64_t config, const struct spec_item *item)
{
	struct spec_list *l = p->list;
	struct event_spec *s;

	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->spec = mem_grow(l->spec, l->cap * sizeof(*l->spec));
	}
	s = &l->spec[l->n];
	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->attr.type = type;
	s->attr.config = config;
	s->attr.exclude_guest = 1;
	s->scale = 1.0;
	s->leader = s->first = (int)l->n;
	s->members = 1;
	s->inherit = true;
	s->name = s->text = item->text;
	l->n++;
	return s;
}

static int too_many(struct spec_parser *p, struct slice at)
{
	return spec_bad(p, at, E2BIG, "more than %d events", SPEC_EVENTS_MAX);
}

/* Add the events of one item. What is wrong is noted in p->bad, and reading goes on. */
static void item_events(struct spec_parser *p, struct spec_item *item)
{
	size_t from = p->list->n;
	struct spec_terms terms = { 0 };
	struct slice mods;
	int r;

	item->text = slice_dup(p, item->whole);
	if (from > SPEC_EVENTS_MAX) {
		too_many(p, item->whole);
		return;
	}
	if (item->head.n >= 4 && memcmp(item->head.s, "mem:", 4) == 0) {
		if (spec_breakpoint(p, item, &mods) > 0)
			spec_modify(p, mods, from, false);
		return;
	}
	if (item->has_terms && spec_terms_cut(p, item->terms, &terms) < 0)
		return;
	r = spec_head(p, item, &terms, &mods);
	if (r < 0)
		return;
	if (item->has_terms && spec_terms_set(p, &terms, from, r == 2) < 0)
		return;
	if (item->has_terms && mods.n) {
		spec_bad(p, mods, EINVAL, "modifiers come after the terms");
		spec_bad_hint(p, "write EVENT/TERMS/%.*s", (int)mods.n, mods.s);
		return;
	}
	spec_modify(p, item->has_terms ? item->mods : mods, from, false);
}

struct reader {
	struct spec_parser *p;
	const char *s, *end;
};

static struct slice here(const struct reader *r)
{
	return (struct slice){ r->s, r->s < r->end };
}

static void skip_blanks(struct reader *r)
{
	while (r->s < r->end && isspace((unsigned char)*r->s))
		r->s++;
}

static struct slice until(struct reader *r, const char *stop)
{
	const char *from = r->s;

	while (r->s < r->end && !strchr(stop, *r->s))
		r->s++;
	return slice_trim((struct slice){ from, (size_t)(r->s - from) });
}

/* Cut one item out of the text. -EINVAL when a slash is not closed. */
static int read_item(struct reader *r, struct spec_item *item)
{
	const char *from = r->s;
	struct slice open;

	*item = (struct spec_item){ 0 };
	if (r->end - from >= 4 && memcmp(from, "mem:", 4) == 0) {
		item->whole = item->head = until(r, ",{}");
		return 0;
	}
	item->head = until(r, ",{}/");
	if (r->s < r->end && *r->s == '/') {
		open = (struct slice){ r->s++, 1 };
		from = r->s;
		for (bool quoted = false; r->s < r->end && (quoted || *r->s != '/'); r->s++)
			quoted ^= *r->s == '\'';
		if (r->s == r->end) {
			spec_bad(r->p, open, EINVAL, "the '/' is not closed");
			spec_bad_hint(r->p, "terms stand between two slashes: "
					    "cpu/event=0x3c,umask=1/");
			return -EINVAL;
		}
		item->has_terms = true;
		item->terms = (struct slice){ from, (size_t)(r->s - from) };
		r->s++;
		item->mods = until(r, ",{}");
		if (item->mods.n && item->mods.s[0] == ':')
			item->mods =
				slice_trim((struct slice){ item->mods.s + 1, item->mods.n - 1 });
	}
	item->whole = slice_trim((struct slice){ item->head.s, (size_t)(r->s - item->head.s) });
	return 0;
}

static int nested(struct reader *r)
{
	spec_bad(r->p, here(r), EINVAL, "a group cannot hold a group");
	spec_bad_hint(r->p, "write the groups one after the other: {a,b},{c,d}");
	return -EINVAL;
}

static int unclosed(struct reader *r, struct slice open)
{
	spec_bad(r->p, open, EINVAL, "the '{' is not closed");
	spec_bad_hint(r->p, "a group is {a,b}");
	return -EINVAL;
}

/* No event stands where one must. */
static int spec_missing(struct reader *r)
{
	spec_bad(r->p, here(r), EINVAL, "an event is missing here");
	spec_bad_hint(r->p, "events are separated by single commas: cycles,instructions");
	return -EINVAL;
}

/* The rest of a group, after its '{'. */
static int read_group(struct reader *r, struct slice name, struct slice open)
{
	struct spec_parser *p = r->p;
	size_t from = p->list->n;
	struct spec_item item;

	for (;; r->s++) {
		skip_blanks(r);
		if (r->s == r->end)
			return unclosed(r, open);
		if (*r->s == '{')
			return nested(r);
		if (*r->s == ',' || *r->s == '}')
			return spec_missing(r);
		if (read_item(r, &item) < 0)
			return -EINVAL;
		if (r->s < r->end && *r->s == '{')
			return nested(r);
		item_events(p, &item);
		if (r->s == r->end)
			return unclosed(r, open);
		if (*r->s == '}')
			break;
	}
	r->s++;
	for (size_t i = from; i < p->list->n; i++)
		p->list->spec[i].leader = (int)from;
	if (p->list->n > from) {
		p->list->spec[from].members = (int)(p->list->n - from);
		p->list->spec[from].group_name = name.n ? slice_dup(p, name) : NULL;
	}
	skip_blanks(r);
	if (r->s < r->end && *r->s == ':') {
		r->s++;
		spec_modify(p, until(r, ",{}"), from, true);
	}
	spec_pmu_regroup(p, from);
	return 0;
}

/* NAME{a,b} */
static bool is_group_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.s[i]) && !strchr("_.-", s.s[i]))
			return false;
	return true;
}

static int spec_read_all(struct reader *r)
{
	struct spec_parser *p = r->p;
	struct spec_item item;

	for (;; r->s++) {
		skip_blanks(r);
		if (r->s == r->end || *r->s == ',')
			return spec_missing(r);
		if (*r->s == '}')
			return spec_bad(p, here(r), EINVAL, "there is no '{' for this '}'");
		if (read_item(r, &item) < 0)
			return -EINVAL;
		if (r->s < r->end && *r->s == '{') {
			struct slice open = here(r);

			if (item.has_terms || !is_group_name(item.whole))
				return spec_bad(p, open, EINVAL, "a ',' is missing before the '{'");
			r->s++;
			if (read_group(r, item.whole, open) < 0)
				return -EINVAL;
		} else {
			item_events(p, &item);
		}
		skip_blanks(r);
		if (r->s == r->end)
			return 0;
		if (*r->s == ',')
			continue;
		if (*r->s == '}')
			return spec_bad(p, here(r), EINVAL, "there is no '{' for this '}'");
		spec_bad(p, here(r), EINVAL, "after a group comes ':', ',' or the end");
		spec_bad_hint(p, "modifiers of a group: {a,b}:u");
		return -EINVAL;
	}
}

int spec_parse(struct spec_list *list, const char *text, const struct spec_env *env, struct err *e)
{
	static const struct spec_env nothing;
	struct spec_parser p = { .list = list, .env = env ? env : &nothing };
	struct reader r = { .p = &p, .s = text, .end = text + strlen(text) };
	size_t before = list->n;

	p.text = (struct slice){ text, strlen(text) };
	spec_read_all(&r);
	if (!p.nbad && list->n > SPEC_EVENTS_MAX)
		too_many(&p, p.text);
	if (!p.nbad)
		return 0;
	list->n = before;
	return spec_error(&p, e);
}

void spec_list_free(struct spec_list *list)
{
	arena_free(&list->arena);
	free(list->spec);
	*list = (struct spec_list){ 0 };
}
