/* SPDX-License-Identifier: MIT */
/* Terms: KEY=VALUE between two slashes, and the keys that every kind of event may have. */
#include "event/spec/int.h"

#include <string.h>

#define TERMS_MAX 64

enum want { NUMBER, WORD, SWITCH };

enum term_id {
	T_CONFIG,
	T_CONFIG1,
	T_CONFIG2,
	T_CONFIG3,
	T_NAME,
	T_PERIOD,
	T_FREQ,
	T_BRANCH_TYPE,
	T_TIME,
	T_CALL_GRAPH,
	T_STACK_SIZE,
	T_INHERIT,
	T_NO_INHERIT,
	T_MAX_STACK,
	T_NR,
	T_OVERWRITE,
	T_NO_OVERWRITE,
	T_PERCORE,
	T_AUX_OUTPUT,
};

#define AT(f) offsetof(struct event_spec, f)
static const struct known {
	const char *name;
	enum want want;
	size_t at; /* the field of the event that it sets */
	unsigned flag;
	const char *example;
} known_terms[] = {
	[T_CONFIG] = { "config", NUMBER, AT(attr.config), 0, "config=0x13c" },
	[T_CONFIG1] = { "config1", NUMBER, AT(attr.config1), 0, "config1=0x1" },
	[T_CONFIG2] = { "config2", NUMBER, AT(attr.config2), 0, "config2=0x1" },
	[T_CONFIG3] = { "config3", NUMBER, AT(config3), 0, "config3=0x1" },
	[T_NAME] = { "name", WORD, AT(name), SPEC_TERM_NAME, "name=loads" },
	[T_PERIOD] = { "period", NUMBER, AT(period), SPEC_TERM_PERIOD, "period=100000" },
	[T_FREQ] = { "freq", NUMBER, AT(freq), SPEC_TERM_FREQ, "freq=99" },
	[T_BRANCH_TYPE] = { "branch_type", WORD, AT(branch_type), SPEC_TERM_BRANCH_TYPE,
			    "branch_type=any" },
	[T_TIME] = { "time", SWITCH, AT(time), SPEC_TERM_TIME, "time=0" },
	[T_CALL_GRAPH] = { "call-graph", WORD, AT(call_graph), SPEC_TERM_CALL_GRAPH,
			   "call-graph=fp" },
	[T_STACK_SIZE] = { "stack-size", NUMBER, AT(stack_size), SPEC_TERM_STACK_SIZE,
			   "stack-size=16384" },
	[T_INHERIT] = { "inherit", SWITCH, AT(inherit), SPEC_TERM_INHERIT, "inherit" },
	[T_NO_INHERIT] = { "no-inherit", SWITCH, AT(inherit), SPEC_TERM_INHERIT, "no-inherit" },
	[T_MAX_STACK] = { "max-stack", NUMBER, AT(max_stack), SPEC_TERM_MAX_STACK, "max-stack=64" },
	[T_NR] = { "nr", NUMBER, AT(max_events), SPEC_TERM_MAX_EVENTS, "nr=100" },
	[T_OVERWRITE] = { "overwrite", SWITCH, AT(overwrite), SPEC_TERM_OVERWRITE, "overwrite" },
	[T_NO_OVERWRITE] = { "no-overwrite", SWITCH, AT(overwrite), SPEC_TERM_OVERWRITE,
			     "no-overwrite" },
	[T_PERCORE] = { "percore", SWITCH, AT(percore), SPEC_TERM_PERCORE, "percore" },
	[T_AUX_OUTPUT] = { "aux-output", SWITCH, AT(aux_output), SPEC_TERM_AUX_OUTPUT,
			   "aux-output" },
};

static const char *const call_graphs[] = { "fp", "dwarf", "lbr", "no", "auto", NULL };
static const char *const branch_types[] = {
	"any",	"any_call", "any_ret",	 "ind_call", "call", "ind_jmp",
	"cond", "abort_tx", "in_tx",	 "no_tx",    "u",    "k",
	"hv",	"stack",    "save_type", "priv",     NULL,
};

/* The end of a term: a comma that is not within '...'. */
static size_t term_length(struct slice s)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < s.n && (quoted || s.s[i] != ','); i++)
		quoted ^= s.s[i] == '\'';
	return i;
}

static int bad_term(struct spec_parser *p, struct slice at, const char *what)
{
	spec_bad(p, at, EINVAL, "%s", what);
	return spec_bad_hint(p, "terms are KEY=VALUE or KEY, with commas between them");
}

static int cut_one(struct spec_parser *p, struct slice s, struct spec_term *t)
{
	*t = (struct spec_term){ .all = slice_trim(s) };
	t->has_value = slice_cut(s, '=', &t->key, &t->value);
	if (!t->key.n)
		return bad_term(p, t->all.n ? t->all : (struct slice){ s.s, 1 },
				"a term is missing here");
	if (t->has_value && !t->value.n)
		return bad_term(p, t->all, "the term has no value");
	if (t->key.s[0] == '@') {
		spec_bad(p, t->all, EINVAL, "kymo sets no driver terms (@...)");
		return spec_bad_hint(p, "they choose the sink of a CoreSight trace unit");
	}
	if (t->value.n >= 2 && t->value.s[0] == '\'' && t->value.s[t->value.n - 1] == '\'') {
		t->quoted = true;
		t->value.s++;
		t->value.n -= 2;
	}
	t->is_number = t->has_value && !t->quoted && slice_u64(t->value, &t->number);
	return 0;
}

int spec_terms_cut(struct spec_parser *p, struct slice text, struct spec_terms *ret)
{
	*ret = (struct spec_terms){ 0 };
	if (!slice_trim(text).n)
		return 0;
	ret->t = arena_alloc(&p->list->arena, TERMS_MAX * sizeof(*ret->t));
	for (;;) {
		struct slice s = { text.s, term_length(text) };

		if (ret->n == TERMS_MAX)
			return spec_bad(p, s, E2BIG, "more than %d terms", TERMS_MAX);
		if (cut_one(p, s, &ret->t[ret->n]) < 0)
			return -EINVAL;
		ret->n++;
		if (s.n == text.n)
			return 0;
		text.s += s.n + 1;
		text.n -= s.n + 1;
	}
}

static int term_id(const struct spec_term *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_terms); i++)
		if (slice_is(t->key, known_terms[i].name))
			return (int)i;
	return -1;
}

bool spec_term_known(const struct spec_term *t)
{
	return term_id(t) >= 0;
}

void spec_terms_near(struct str_nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_terms); i++)
		str_nearest_add(near, known_terms[i].name);
}

static int check_value(struct spec_parser *p, const struct spec_term *t, const struct known *k)
{
	if (k->want == NUMBER && !t->is_number)
		return spec_bad(p, t->has_value ? t->value : t->key, EINVAL, "%s wants a number",
				k->name);
	if (k->want == WORD && !t->value.n)
		return spec_bad(p, t->key, EINVAL, "%s wants a value", k->name);
	if (k->want == SWITCH && t->has_value && (!t->is_number || t->number > 1))
		return spec_bad(p, t->value, EINVAL, "%s is 0 or 1", k->name);
	return 0;
}

/* Is every part of the value (they are separated by ',', '|' or '+') one of the words? */
static int check_words(struct spec_parser *p, const struct spec_term *t, const char *const *words)
{
	for (size_t i = 0; i <= t->value.n;) {
		struct slice w = { t->value.s + i, 0 };
		struct str_nearest near = { 0 };
		bool found = false;
		AUTO_STRBUF all = { 0 };

		while (i + w.n < t->value.n && !strchr(",|+", w.s[w.n]))
			w.n++;
		near.typed = slice_dup(p, w);
		for (const char *const *word = words; *word; word++) {
			found |= slice_is(w, *word);
			str_nearest_add(&near, *word);
			strbuf_printf(&all, "%s%s", all.n ? ", " : "one of ", *word);
		}
		if (!found) {
			spec_bad(p, w.n ? w : t->value, EINVAL, "%.*s knows no '%s'", (int)t->key.n,
				 t->key.s, near.typed);
			return spec_bad_near(p, &near, strbuf_str(&all));
		}
		i += w.n + 1;
	}
	return 0;
}

static int check_limits(struct spec_parser *p, const struct spec_term *t, int id, size_t from)
{
	const struct event_spec *s = &p->list->spec[from];

	if (id == T_CALL_GRAPH)
		return check_words(p, t, call_graphs);
	if (id == T_BRANCH_TYPE)
		return check_words(p, t, branch_types);
	if (id == T_STACK_SIZE && (t->number == 0 || t->number > 65528))
		return spec_bad(p, t->value, ERANGE, "a stack copy has 8 to 65528 bytes");
	if (id == T_MAX_STACK && t->number > UINT16_MAX)
		return spec_bad(p, t->value, ERANGE, "a stack has at most 65535 frames");
	if ((id == T_NR || id == T_FREQ) && t->number == 0)
		return spec_bad(p, t->value, ERANGE, "%.*s cannot be 0", (int)t->key.n, t->key.s);
	if (id == T_PERIOD && t->number >> 63)
		return spec_bad(p, t->value, ERANGE, "that period is too long");
	if (id == T_NAME && p->list->n > from + 1 && s->kind == SPEC_TRACEPOINT) {
		spec_bad(p, t->all, EINVAL, "%zu events cannot share one name", p->list->n - from);
		return spec_bad_hint(p,
				     "leave the name out, or write one event instead of a pattern");
	}
	if (id <= T_CONFIG3 && (s->kind == SPEC_TRACEPOINT || s->kind == SPEC_TOOL)) {
		spec_bad(p, t->all, EINVAL, "this event has no %s", known_terms[id].name);
		return spec_bad_hint(p, "raw numbers are for hardware: cpu/config=0x13c/");
	}
	return 0;
}

static void set_term(struct event_spec *s, const struct spec_term *t, int id, const char *word)
{
	const struct known *k = &known_terms[id];
	bool on = (!t->has_value || t->number) != str_starts(k->name, "no-");
	/* Of stacks the kernel wants whole words. */
	uint64_t number = id == T_STACK_SIZE ? (t->number + 7) & ~7ull : t->number;

	memcpy((char *)s + k->at,
	       k->want == NUMBER ? (const void *)&number
	       : k->want == WORD ? (const void *)&word
				 : (const void *)&on,
	       k->want == NUMBER ? sizeof(number)
	       : k->want == WORD ? sizeof(word)
				 : sizeof(on));
	if (id == T_PERIOD || id == T_FREQ) /* the last one holds */
		s->terms &= ~(SPEC_TERM_PERIOD | SPEC_TERM_FREQ);
	s->terms |= k->flag;
}

static int unknown_term(struct spec_parser *p, const struct spec_term *t)
{
	struct str_nearest near = { .typed = slice_dup(p, t->key) };

	spec_terms_near(&near);
	spec_bad(p, t->all, EINVAL, "unknown term '%s'", near.typed);
	return spec_bad_near(
		p, &near,
		"terms: config, name, period, freq, call-graph, stack-size, max-stack, time, "
		"inherit, overwrite, nr, branch_type, percore, aux-output");
}

/* One name for an event on several PMUs whose counts are not added up: say which is which. */
static void tell_apart(struct spec_parser *p, size_t from)
{
	struct event_spec *spec = p->list->spec;
	size_t sums = 0;

	for (size_t i = from; i < p->list->n; i++)
		sums += spec[i].first == (int)i;
	for (size_t i = from; i < p->list->n && sums > 1; i++)
		if (spec[i].first == (int)i)
			spec[i].name =
				arena_printf(&p->list->arena, "%s/%s/", spec[i].pmu, spec[i].name);
		else
			spec[i].name = spec[spec[i].first].name;
}

int spec_terms_set(struct spec_parser *p, const struct spec_terms *terms, size_t from,
		   bool skip_unknown)
{
	for (size_t i = 0; i < terms->n && from < p->list->n; i++) {
		const struct spec_term *t = &terms->t[i];
		const char *word = slice_dup(p, t->value);
		int id = term_id(t);

		if (id < 0 && skip_unknown)
			continue;
		if (id < 0)
			return unknown_term(p, t);
		if (check_value(p, t, &known_terms[id]) < 0 || check_limits(p, t, id, from) < 0) {
			if (p->nbad <= SPEC_SPOTS && !p->bad[p->nbad - 1].hint[0])
				spec_bad_hint(p, "as in %s", known_terms[id].example);
			return -EINVAL;
		}
		if (skip_unknown && id <= T_CONFIG3)
			continue; /* which a PMU's events have already: event/spec/pmu.c */
		for (size_t j = from; j < p->list->n; j++)
			set_term(&p->list->spec[j], t, id, word);
		if (id == T_NAME)
			tell_apart(p, from);
	}
	return 0;
}
