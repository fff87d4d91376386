/* SPDX-License-Identifier: MIT */
/* Pairs in words, and where the keys of events are. */
#include "calc/time/pairs_key.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "event/match.h"

/* --- words --- */

static int bad_spec(const char *text, const char *why, struct err *e)
{
	err_set(e, EINVAL, "'%s' is no pair of events: %s", text, why);
	return err_hint(e, "such as 'block:block_rq_issue,block:block_rq_complete by dev,sector', "
			   "or 'A|B,C by pid=next_pid'");
}

static char *trimmed(char *s)
{
	char *end = s + strlen(s);

	while (isspace((unsigned char)*s))
		s++;
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* Cut s at sep into at most max trimmed words; how many, or -1 when there are more or empty ones.
 */
static int pairs_key_cut(char *s, char sep, const char **word, unsigned max)
{
	unsigned n = 0;

	while (s) {
		char *next = strchr(s, sep);

		if (next)
			*next++ = '\0';
		s = trimmed(s);
		if (!*s || n == max)
			return -1;
		word[n++] = s;
		s = next;
	}
	return (int)n;
}

int pair_parse(const char *text, struct pair_spec *ret, struct err *e)
{
	struct pair_spec s = { .text = mem_strdup(text) };
	char *by = strstr(s.text, " by "), *comma = strchr(s.text, ',');
	const char *keys[PAIR_KEYS];
	const char *why = NULL;
	int n, begins, ends;

	if (!by)
		why = "after ' by ' come the fields that tell which belong together";
	else if (!comma || comma > by)
		why = "two events stand before ' by ', with a comma between";
	if (why) {
		pair_spec_free(&s);
		return bad_spec(text, why, e);
	}
	// cppcheck-suppress nullPointerRedundantCheck ; neither is NULL where there is no why
	*by = *comma = '\0';
	begins = pairs_key_cut(s.text, '|', s.begin, PAIR_EVENTS);
	// cppcheck-suppress nullPointerArithmeticRedundantCheck
	ends = pairs_key_cut(comma + 1, '|', s.end, PAIR_EVENTS);
	n = pairs_key_cut(by + 4, ',', keys, PAIR_KEYS);
	for (int i = 0; i < n; i++) {
		char *equal = strchr(keys[i], '=');

		if (equal)
			*equal = '\0';
		s.key[i].begin = keys[i];
		s.key[i].end = equal ? equal + 1 : keys[i];
	}
	if (begins < 1 || ends < 1 || n < 1) {
		pair_spec_free(&s);
		return bad_spec(text, "a name is missing, or there are too many", e);
	}
	s.n_begin = (unsigned)begins;
	s.n_end = (unsigned)ends;
	s.n_keys = (unsigned)n;
	*ret = s;
	return 0;
}

void pair_spec_free(struct pair_spec *s)
{
	free(s->text);
	s->text = NULL;
}

char *pair_events(const struct pair_spec *s)
{
	AUTO_STRBUF b = { 0 };

	for (unsigned i = 0; i < s->n_begin + s->n_end; i++) {
		const char *name = i < s->n_begin ? s->begin[i] : s->end[i - s->n_begin];
		bool again = false;

		for (unsigned j = 0; j < i; j++)
			again |= strcmp(name,
					j < s->n_begin ? s->begin[j] : s->end[j - s->n_begin]) == 0;
		if (!again)
			strbuf_printf(&b, "%s%s", b.n ? "," : "", name);
	}
	return mem_strdup(strbuf_str(&b));
}

/* --- what a trace has --- */

static int no_event(const struct trace *t, const char *name, struct err *e)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < t->n_types && b.n < 300; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", t->types[i].name);
	err_set(e, ENOENT, "there is no event %s here", name);
	return err_hint(e, "there %s %s", t->n_types == 1 ? "is only" : "are",
			b.n ? strbuf_str(&b) : "none");
}

static int no_field(const struct event_type *t, const char *name, struct err *e)
{
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < t->n_fields; i++)
		if (!t->fields[i].is_common)
			strbuf_printf(&b, "%s, ", t->fields[i].name);
	err_set(e, ENOENT, "the event %s has no field %s", t->name, name);
	return err_hint(e, "it has %stid, pid, cpu and comm", strbuf_str(&b));
}

static bool common_source(const char *name, enum pairs_source *ret)
{
	static const char *const names[] = {
		[PAIRS_TID] = "tid", [PAIRS_PID] = "pid", [PAIRS_CPU] = "cpu", [PAIRS_COMM] = "comm"
	};

	for (unsigned i = PAIRS_TID; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

int pairs_key_find(const struct trace *t, const struct pair_spec *s, const char *name, bool end,
		   bool last, struct pairs_side *side, struct err *e)
{
	bool any = false;

	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *type = &t->types[i];

		any |= side[i].used;
		if (!match_type(type, name))
			continue;
		for (unsigned k = 0; k < s->n_keys; k++) {
			const char *key = end ? s->key[k].end : s->key[k].begin;

			side[i].key[k].from = PAIRS_FIELD;
			side[i].key[k].field = type_field(type, key);
			if (!side[i].key[k].field && !common_source(key, &side[i].key[k].from))
				return no_field(type, key, e);
		}
		side[i].used = any = true;
	}
	return any || !last ? 0 : no_event(t, name, e);
}

static bool field_key(const struct field *f, struct strtab *tab, const struct event *ev,
		      uint64_t *ret)
{
	const char *text;
	int64_t v;
	size_t n;

	if (field_int(f, ev->raw, ev->raw_size, &v)) {
		*ret = (uint64_t)v;
		return true;
	}
	if (!field_str(f, ev->raw, ev->raw_size, &text, &n))
		return false;
	*ret = strtab_addn(tab, text, n);
	return true;
}

bool pairs_key_of(const struct pairs_side *side, const struct trace *t, struct strtab *tab,
		  unsigned n, const struct event *ev, uint64_t *key)
{
	for (unsigned i = 0; i < n; i++) {
		const char *comm;

		switch (side->key[i].from) {
		case PAIRS_FIELD:
			if (!field_key(side->key[i].field, tab, ev, &key[i]))
				return false;
			break;
		case PAIRS_TID: key[i] = (uint64_t)(int64_t)ev->tid; break;
		case PAIRS_PID: key[i] = (uint64_t)(int64_t)ev->pid; break;
		case PAIRS_CPU: key[i] = ev->cpu; break;
		case PAIRS_COMM:
			comm = tasks_name_or(t->tasks, ev->tid, ev->time, "");
			key[i] = strtab_add(tab, comm);
			break;
		}
	}
	return true;
}
