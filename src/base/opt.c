/* SPDX-License-Identifier: MIT */
#include "base/opt.h"

#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

struct parse {
	const struct opt *opts;
	void *args;
	int argc, at;
	char **argv;
	struct err *e;
};

/* "-x", "--name" or "-x/--name", for messages. */
static const char *shown(const struct opt *o, char *buf, size_t size)
{
	if (o->letter && o->name)
		snprintf(buf, size, "-%c/--%s", o->letter, o->name);
	else if (o->name)
		snprintf(buf, size, "--%s", o->name);
	else
		snprintf(buf, size, "-%c", o->letter);
	return buf;
}

static int bad_value(const struct opt *o, const char *value, const char *want, struct err *e)
{
	char name[64];

	err_set(e, EINVAL, "%s wants %s, not '%s'", shown(o, name, sizeof(name)), want, value);
	return -EINVAL;
}

static int opt_set(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	char *field = (char *)args + o->field;
	uint64_t u;
	int64_t i;

	switch (o->kind) {
	case OPT_KIND_FLAG: *(bool *)field = !unset; return 0;
	case OPT_KIND_COUNT: *(int *)field = unset ? 0 : *(int *)field + 1; return 0;
	case OPT_KIND_INT:
		if (unset)
			i = 0;
		else if (!str_i64(value, &i) || i < INT_MIN || i > INT_MAX)
			return bad_value(o, value, "a number", e);
		*(int *)field = (int)i;
		return 0;
	case OPT_KIND_U64:
		if (unset)
			u = 0;
		else if (!str_u64(value, &u))
			return bad_value(o, value, "a number that is not negative", e);
		*(uint64_t *)field = u;
		return 0;
	case OPT_KIND_STR: *(const char **)field = unset ? NULL : value; return 0;
	case OPT_KIND_STRS:
		if (unset)
			((struct vec_strs *)field)->n = 0;
		else
			vec_push((struct vec_strs *)field, value);
		return 0;
	case OPT_KIND_FN: return o->fn(o, value, unset, args, e);
	default: return -EINVAL;
	}
}

int opt_set_named(const struct opt *opts, const char *name, const char *value, bool unset,
		  void *args, struct err *e)
{
	while (opts->kind != OPT_KIND_END && (!opts->name || strcmp(opts->name, name) != 0))
		opts++;
	if (opts->kind == OPT_KIND_END)
		return err_set(e, EINVAL, "unknown option --%s", name);
	return opt_set(opts, value, unset, args, e);
}

/* One of "fp|dwarf|lbr"; what stands behind a comma is the command's to judge. */
static bool is_choice(const struct opt *o, const char *word)
{
	size_t n = strcspn(word, ",");

	for (const char *s = o->complete; s && *s; s += strcspn(s, "|"), s += *s == '|')
		if (strcspn(s, "|") == n && memcmp(s, word, n) == 0)
			return true;
	return false;
}

/* Find the value of o (attached, or the next word) and store it. */
static int opt_take(struct parse *p, const struct opt *o, const char *attached, bool unset)
{
	char name[64];
	const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;

	if (unset || o->arg == OPT_ARG_NONE) {
		if (attached)
			return err_set(p->e, EINVAL, "%s takes no value",
				       shown(o, name, sizeof(name)));
		return opt_set(o, NULL, unset, p->args, p->e);
	}
	if (attached)
		return opt_set(o, attached, false, p->args, p->e);
	if (o->arg == OPT_ARG_OPTIONAL || (o->arg == OPT_ARG_LAST && (!next || next[0] == '-')) ||
	    (o->arg == OPT_ARG_CHOICE && !(next && is_choice(o, next))))
		return opt_set(o, NULL, false, p->args, p->e);
	if (!next)
		return err_set(p->e, EINVAL, "%s needs a value (%s)", shown(o, name, sizeof(name)),
			       o->meta ? o->meta : "VALUE");
	p->at++;
	return opt_set(o, next, false, p->args, p->e);
}

static int short_options(struct parse *p, const char *s)
{
	for (; *s; s++) {
		const struct opt *o = p->opts;
		int r;

		while (o->kind != OPT_KIND_END && (o->kind == OPT_KIND_HEAD || o->letter != *s))
			o++;
		if (o->kind == OPT_KIND_END && *s == 'h')
			return -ECANCELED;
		if (o->kind == OPT_KIND_END) {
			err_set(p->e, EINVAL, "unknown option -%c", *s);
			return err_hint(p->e, "-h lists the options");
		}
		if (o->arg != OPT_ARG_NONE)
			return opt_take(p, o, s[1] ? s + 1 : NULL, false);
		r = opt_take(p, o, NULL, false);
		if (r < 0)
			return r;
	}
	return 0;
}

bool opt_can_undo(const struct opt *o)
{
	if (!o->name || (o->flags & OPT_NONEG))
		return false;
	return o->kind != OPT_KIND_FN || o->arg != OPT_ARG_REQUIRED || (o->flags & OPT_UNDO);
}

/*
 * How well the typed word (n bytes) names o: 2 exactly, 1 as a prefix, 0 not;
 * *unset tells whether it was a negation. --no-foo undoes "foo"; --foo undoes "no-foo".
 */
static int name_matches(const struct opt *o, const char *word, size_t n, bool *unset)
{
	*unset = false;
	if (strncmp(o->name, word, n) == 0)
		return o->name[n] ? 1 : 2;
	if (!opt_can_undo(o))
		return 0;
	*unset = true;
	if (n > 3 && strncmp(word, "no-", 3) == 0 && strncmp(o->name, word + 3, n - 3) == 0)
		return o->name[n - 3] ? 1 : 2;
	if (o->kind == OPT_KIND_FLAG && str_starts(o->name, "no-") &&
	    strncmp(o->name + 3, word, n) == 0)
		return o->name[3 + n] ? 1 : 2;
	return 0;
}

static int unknown_long(struct parse *p, const char *word, size_t n)
{
	char typed[64], near[256];
	bool negated = n > 3 && str_starts(word, "no-");
	struct str_nearest s = { .typed = typed, .before = "--" };
	struct str_nearest no = { .typed = typed + 3, .before = "--no-" };

	snprintf(typed, sizeof(typed), "%.*s", (int)n, word);
	for (const struct opt *o = p->opts; o->kind != OPT_KIND_END; o++) {
		if (!o->name || (o->flags & OPT_HIDDEN))
			continue;
		str_nearest_add(&s, o->name);
		if (negated && opt_can_undo(o))
			str_nearest_add(&no, o->name);
	}
	err_set(p->e, EINVAL, "unknown option --%s", typed);
	if (str_nearest_list(&s, near, sizeof(near)) ||
	    (negated && str_nearest_list(&no, near, sizeof(near))))
		return err_hint(p->e, "did you mean %s?", near);
	return err_hint(p->e, "-h lists the options");
}

static int long_option(struct parse *p, const char *word)
{
	size_t n = strcspn(word, "=");
	const char *attached = word[n] ? word + n + 1 : NULL;
	const struct opt *found = NULL, *negated = NULL;
	bool found_unset = false, ambiguous = false;

	/* an option that is itself called "no-foo" comes before the negation of "foo" */
	for (const struct opt *o = p->opts; o->kind != OPT_KIND_END; o++) {
		bool unset;
		int m = o->name ? name_matches(o, word, n, &unset) : 0;

		if (m == 2 && !unset)
			return opt_take(p, o, attached, false);
		if (m == 2)
			negated = o;
		if (m != 1)
			continue;
		if (found)
			ambiguous = true;
		found = o;
		found_unset = unset;
	}
	if (negated)
		return opt_take(p, negated, attached, true);
	if (strcmp(word, "help") == 0)
		return -ECANCELED;
	if (ambiguous || !found)
		return unknown_long(p, word, n);
	return opt_take(p, found, attached, found_unset);
}

int opt_parse(const struct opt *opts, unsigned flags, int argc, char **argv, void *args,
	      struct err *e)
{
	struct parse p = {
		.opts = opts, .args = args, .argc = argc, .at = 1, .argv = argv, .e = e
	};
	int left = 0;

	for (; p.at < argc; p.at++) {
		char *word = argv[p.at];
		int r;

		if (strcmp(word, "--") == 0) {
			if (flags & OPT_KEEP_DASHES)
				argv[1 + left++] = word;
			p.at++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
			if (flags & OPT_STOP_AT_ARG)
				break;
			argv[1 + left++] = word;
			continue;
		}
		r = word[1] == '-' ? long_option(&p, word + 2) : short_options(&p, word + 1);
		if (r < 0)
			return r;
	}
	while (p.at < argc)
		argv[1 + left++] = argv[p.at++];
	argv[1 + left] = NULL;
	return left;
}
