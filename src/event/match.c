/* SPDX-License-Identifier: MIT */
#include "event/match.h"

bool match_name(const char *pattern, const char *name)
{
	const char *colon = strchr(name, ':');

	return str_glob(pattern, name) || (colon && str_glob(pattern, colon + 1));
}

bool match_type(const struct event_type *t, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t n = strlen(text);

	if (t->name && (str_glob(text, t->name) ||
			(strncmp(t->name, text, n) == 0 && strchr(":/", t->name[n]))))
		return true;
	if (!t->event)
		return false;
	return str_glob(text, t->event) ||
	       (colon && !t->system && strcmp(colon + 1, t->event) == 0);
}

uint32_t match_find(const struct trace *t, const char *text)
{
	uint32_t found = MATCH_NONE;

	for (uint32_t i = 0; i < t->n_types; i++) {
		if (strcmp(t->types[i].name, text) == 0)
			return i;
		if (found == MATCH_NONE && match_type(&t->types[i], text))
			found = i;
	}
	return found;
}

uint32_t match_find_tracepoint(const struct trace *t, const char *system, const char *event)
{
	for (uint32_t i = 0; i < t->n_types; i++)
		if (match_tracepoint(&t->types[i], system, event))
			return i;
	return MATCH_NONE;
}

void match_list(const struct trace *t, struct strbuf *b)
{
	for (size_t i = 0; i < t->n_types; i++)
		strbuf_printf(b, "%s%s", i ? ", " : "", t->types[i].name);
}

bool match_regex(regex_t *re, const char *text, size_t n)
{
	AUTO_FREE char *whole = mem_printf("^%.*s$", (int)n, text);

	return regcomp(re, whole, REG_ICASE | REG_NOSUB) == 0;
}

bool match_regex_hits(const regex_t *re, const char *name)
{
	return regexec(re, name, 0, NULL, 0) == 0;
}

bool match_regex_either(const char *text, const char *system, const char *event)
{
	regex_t re;
	bool hit;

	if (!match_regex(&re, text, strlen(text)))
		return false;
	hit = match_regex_hits(&re, event) || match_regex_hits(&re, system);
	regfree(&re);
	return hit;
}
