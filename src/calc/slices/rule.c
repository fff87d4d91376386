/* SPDX-License-Identifier: MIT */
/* Rules in words. */
#include "calc/slices/slices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static int bad_rule(const char *text, const char *why, struct err *e)
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
static int slice_rule_cut(char *s, char sep, const char **word, unsigned max)
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

int slice_rule_parse(const char *text, struct slice_rule *ret, struct err *e)
{
	struct slice_rule r = { .text = mem_strdup(text) };
	char *by = strstr(r.text, " by "), *comma = strchr(r.text, ',');
	const char *keys[SLICE_KEYS], *why = NULL;
	int begins, ends, n = 0;

	if (!by) {
		why = "after ' by ' come the fields that tell which belong together";
	} else if (!comma || comma > by) {
		why = "two events stand before ' by ', with a comma between";
	} else {
		*by = *comma = '\0';
		begins = slice_rule_cut(r.text, '|', r.begin, SLICE_EVENTS);
		ends = slice_rule_cut(comma + 1, '|', r.end, SLICE_EVENTS);
		n = slice_rule_cut(by + 4, ',', keys, SLICE_KEYS);
		if (begins < 1 || ends < 1 || n < 1)
			why = "a name is missing, or there are too many";
		r.n_begin = (unsigned)begins;
		r.n_end = (unsigned)ends;
	}
	if (why) {
		slice_rule_free(&r);
		return bad_rule(text, why, e);
	}
	for (; r.n_keys < (unsigned)n; r.n_keys++) {
		const char *key = keys[r.n_keys];
		char *equal = strchr(key, '=');

		if (equal)
			*equal = '\0';
		r.key[r.n_keys].begin = key;
		r.key[r.n_keys].end = equal ? equal + 1 : key;
	}
	*ret = r;
	return 0;
}

void slice_rule_free(struct slice_rule *r)
{
	free(r->text);
	r->text = NULL;
}

/* Event i, of either side; NULL: there are no more. */
static const char *slice_rule_event(const struct slice_rule *r, unsigned i)
{
	return i < r->n_begin		   ? r->begin[i]
	       : i < r->n_begin + r->n_end ? r->end[i - r->n_begin]
					   : NULL;
}

char *slice_rule_events(const struct slice_rule *r)
{
	AUTO_STRBUF b = { 0 };
	const char *name;

	for (unsigned i = 0; (name = slice_rule_event(r, i)); i++) {
		unsigned first = 0;

		while (strcmp(slice_rule_event(r, first), name) != 0)
			first++;
		if (first == i)
			strbuf_printf(&b, "%s%s", i ? "," : "", name);
	}
	return mem_strdup(strbuf_str(&b));
}
