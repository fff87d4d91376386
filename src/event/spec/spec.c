/* SPDX-License-Identifier: MIT */
/* Reads the -e text from left to right: items and groups, their terms and modifiers. */
#include "event/attr.h"
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

/* --- parts of the text --- */

struct slice slice_trim(struct slice s)
{
	while (s.n && isspace((unsigned char)s.s[0])) {
		s.s++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.s[s.n - 1]))
		s.n--;
	return s;
}

bool slice_is(struct slice s, const char *word)
{
	return strlen(word) == s.n && memcmp(s.s, word, s.n) == 0;
}

bool slice_u64(struct slice s, uint64_t *ret)
{
	char buf[32];

	if (!s.n || s.n >= sizeof(buf))
		return false;
	memcpy(buf, s.s, s.n);
	buf[s.n] = '\0';
	return str_u64(buf, ret);
}

bool slice_cut(struct slice s, char sep, struct slice *a, struct slice *b)
{
	const char *at = memchr(s.s, sep, s.n);
	size_t left = at ? (size_t)(at - s.s) : s.n;

	*a = slice_trim((struct slice){ s.s, left });
	*b = at ? slice_trim((struct slice){ at + 1, s.n - left - 1 })
		: (struct slice){ s.s + s.n, 0 };
	return at != NULL;
}

bool slice_raw(struct slice s, uint64_t *ret)
{
	char buf[20];

	if (s.n < 2 || s.n > 17 || s.s[0] != 'r')
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!isxdigit((unsigned char)s.s[i]))
			return false;
	snprintf(buf, sizeof(buf), "%.*s", (int)s.n - 1, s.s + 1);
	*ret = strtoull(buf, NULL, 16);
	return true;
}

char *slice_dup(struct spec_parser *p, struct slice s)
{
	return arena_strndup(&p->list->arena, s.s, s.n);
}

/* --- events --- */

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
			return spec_bad_hint(r->p, "terms stand between two slashes: "
						   "cpu/event=0x3c,umask=1/");
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
	return spec_bad_hint(r->p, "write the groups one after the other: {a,b},{c,d}");
}

static int unclosed(struct reader *r, struct slice open)
{
	spec_bad(r->p, open, EINVAL, "the '{' is not closed");
	return spec_bad_hint(r->p, "a group is {a,b}");
}

/* No event stands where one must. */
static int spec_missing(struct reader *r)
{
	spec_bad(r->p, here(r), EINVAL, "an event is missing here");
	return spec_bad_hint(r->p, "events are separated by single commas: cycles,instructions");
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
		return spec_bad_hint(p, "modifiers of a group: {a,b}:u");
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

/* --- what a specification means, for who does not look into its attr --- */

void spec_only(struct event_spec *s, bool user, bool kernel)
{
	s->attr.exclude_kernel = s->attr.exclude_hv = user;
	s->attr.exclude_user = kernel;
	s->modified = true;
}

bool spec_samples_running(const struct spec_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct perf_event_attr *a = &list->spec[i].attr;

		if ((a->type != PERF_TYPE_HARDWARE && !role_is_clock(attr_role(a))) ||
		    a->exclude_user || a->exclude_kernel)
			return false;
	}
	return list->n > 0;
}

void spec_numbers(const struct event_spec *s, spec_number_fn *fn, void *ctx)
{
	const struct perf_event_attr *a = &s->attr;
	bool bp = s->kind == SPEC_BREAKPOINT;
	const struct {
		const char *name;
		uint64_t value;
		bool hex, always;
	} all[] = {
		{ "type", a->type, .always = true },
		{ "config", a->config, .hex = true, .always = true },
		{ bp ? "bp_addr" : "config1", bp ? a->bp_addr : a->config1, .hex = true },
		{ bp ? "bp_len" : "config2", bp ? a->bp_len : a->config2, .hex = !bp },
		{ bp ? "bp_type" : "config3", bp ? a->bp_type : s->config3, .hex = !bp },
		{ "exclude_user", a->exclude_user },
		{ "exclude_kernel", a->exclude_kernel },
		{ "exclude_hv", a->exclude_hv },
		{ "exclude_idle", a->exclude_idle },
		{ "exclude_host", a->exclude_host },
		{ "exclude_guest", a->exclude_guest },
		{ "precise_ip", a->precise_ip },
		{ "pinned", a->pinned },
		{ "exclusive", a->exclusive },
		{ "precise_max", s->precise_max },
		{ "sample_read", s->sample_read },
		{ "weak", s->weak },
		{ "bpf", s->bpf },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].value || all[i].always)
			fn(ctx, all[i].name, all[i].value, all[i].hex);
}
