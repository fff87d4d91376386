/* SPDX-License-Identifier: MIT */
#include "event/probe.h"

#include <ctype.h>
#include <string.h>

#define ARGS_MAX 128 /* the kernel takes that many */

struct parser {
	struct arena *arena;
	struct probe_text *p;
	struct err *e;
};

/* The text, a caret under the spot, and what is wrong there. */
__attribute__((format(printf, 3, 4))) static int bad(struct parser *ps, const char *at,
						     const char *fmt, ...)
{
	const char *text = ps->p->text;
	size_t col = at >= text && at <= text + strlen(text) ? (size_t)(at - text) : 0;
	char msg[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return err_set(ps->e, EINVAL, "%s\n  %s\n  %*s^", msg, text, (int)(col > 200 ? 200 : col),
		       "");
}

bool probe_is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static char *probe_cut(struct parser *ps, const char *from, const char *to)
{
	return arena_strndup(ps->arena, from, (size_t)(to - from));
}

/* A number that runs up to one of the stops. */
static bool probe_number(const char **s, const char *end, uint64_t *ret)
{
	char *stop;
	uint64_t v;

	if (*s >= end || !isdigit((unsigned char)**s))
		return false;
	errno = 0;
	v = strtoull(*s, &stop, 0);
	if (errno || stop > end)
		return false;
	*ret = v;
	*s = stop;
	return true;
}

static const char *find_any(const char *s, const char *end, const char *set)
{
	for (; s < end; s++) {
		if (*s == '\\' && s + 1 < end)
			s++;
		else if (strchr(set, *s))
			return s;
	}
	return NULL;
}

/* Where a function's name ends; ns::Foo::run<A>(int) is one. */
static const char *name_end(const char *s, const char *end)
{
	int depth = 0;

	for (; s < end; s++) {
		if (*s == '<' || *s == '(')
			depth++;
		else if (depth && (*s == '>' || *s == ')'))
			depth--;
		else if (!depth && s + 1 < end && s[0] == ':' && s[1] == ':')
			s++;
		else if (!depth && strchr(";:+@%", *s))
			break;
		else if (*s == '\\' && s + 1 < end)
			s++;
	}
	return s;
}

/* Where the first word ends; blanks in <> and () of a name do not count. */
static const char *word_end(const char *s)
{
	int depth = 0;

	for (; *s && (depth || !strchr(" \t", *s)); s++)
		depth += *s == '<' || *s == '(' ? 1 : depth && (*s == '>' || *s == ')') ? -1 : 0;
	return s;
}

/* GROUP:EVENT= in front; s moves behind it. */
static int probe_event_name(struct parser *ps, const char **s, const char *end)
{
	const char *eq = find_any(*s, end, ";=@+%"), *colon;

	if (!eq || *eq != '=')
		return 0;
	colon = memchr(*s, ':', (size_t)(eq - *s));
	if (colon) {
		ps->p->group = probe_cut(ps, *s, colon);
		if (!probe_is_name(ps->p->group))
			return bad(ps, *s, "\"%s\" cannot be the name of a group", ps->p->group);
		*s = colon + 1;
	}
	ps->p->event = probe_cut(ps, *s, eq);
	if (!probe_is_name(ps->p->event))
		return bad(ps, *s, "\"%s\" cannot be the name of an event", ps->p->event);
	*s = eq + 1;
	return 0;
}

/* What follows the function or file: @SRC :LINE +OFFSET %return ;PATTERN, in any order. */
static int point_tail(struct parser *ps, const char *s, const char *end)
{
	struct probe_text *p = ps->p;

	while (s < end) {
		char c = *s++;
		const char *stop = find_any(s, end, c == ';' ? "" : ";:+@%"), *from = s;
		uint64_t v;

		if (!stop)
			stop = end;
		switch (c) {
		case ':':
			if (!probe_number(&s, stop, &v) || s != stop || v > INT32_MAX)
				return bad(ps, from, "a line number must stand here");
			p->line = (uint32_t)v;
			p->has_line = true;
			break;
		case '+':
			if (!probe_number(&s, stop, &v) || s != stop)
				return bad(ps, from, "an offset must stand here");
			p->offset = v;
			break;
		case '@':
			p->file = probe_cut(ps, s, stop);
			if (!*p->file)
				return bad(ps, from, "the name of a source file must stand here");
			break;
		case '%':
			if ((size_t)(stop - s) != 6 || strncmp(s, "return", 6) != 0)
				return bad(ps, from, "only %%return is known");
			p->ret = true;
			break;
		case ';':
			p->pattern = probe_cut(ps, s, stop);
			if (!*p->pattern)
				return bad(ps, from, "a pattern must stand here");
			break;
		default: return bad(ps, from - 1, "unexpected \"%c\"", c);
		}
		s = stop;
	}
	return 0;
}

static int point_fits(struct parser *ps)
{
	const struct probe_text *p = ps->p;

	if (p->ret && (p->has_line || p->offset || p->pattern))
		return bad(ps, p->text,
			   "%%return is the end of a whole function: it takes no line, "
			   "offset or pattern");
	if (p->ret && !p->function && !p->has_address)
		return bad(ps, p->text, "%%return needs a function");
	if (p->offset && (p->has_line || p->pattern))
		return bad(ps, p->text, "an offset and a line cannot go together");
	if (p->has_line && p->pattern)
		return bad(ps, p->text, "a pattern and a line cannot go together");
	if (!p->function && !p->has_address && !p->usdt && !p->has_line && !p->pattern)
		return bad(ps, p->text, "a source file needs a line or a pattern");
	return 0;
}

static int usdt_name(struct parser *ps, const char *s, const char *end)
{
	const char *colon = memchr(s, ':', (size_t)(end - s));

	ps->p->usdt = true;
	if (colon) {
		ps->p->file = probe_cut(ps, s, colon); /* the provider */
		s = colon + 1;
	}
	ps->p->function = probe_cut(ps, s, end);
	if (!*ps->p->function)
		return bad(ps, s, "the name of a static probe must stand here");
	return 0;
}

static int point(struct parser *ps, const char *s, const char *end)
{
	const char *start = s, *stop;
	bool is_file;
	int err = probe_event_name(ps, &s, end);

	if (err < 0)
		return err;
	if (s == end)
		return bad(ps, start, "where should the probe be?");
	if (*s == '%')
		return usdt_name(ps, s + 1, end);
	if (strncmp(s, "sdt_", 4) == 0 && memchr(s, ':', (size_t)(end - s)))
		return usdt_name(ps, s + 4, end);
	stop = name_end(s, end);
	if (s + 1 < end && s[0] == '0' && s[1] == 'x') {
		ps->p->has_address = true;
		if (!probe_number(&s, stop, &ps->p->address) || s != stop)
			return bad(ps, s, "an address must stand here");
		err = point_tail(ps, stop, end);
		return err < 0 ? err : point_fits(ps);
	}
	/* A name with a dot in it, behind which a line or a pattern comes, is a file. */
	is_file = stop < end && (*stop == ':' || *stop == ';') &&
		  memchr(s, '.', (size_t)(stop - s)) &&
		  !find_any(stop, *stop == ';' ? stop : end, "+@%");
	if (stop == s)
		return bad(ps, s, "the name of a function or file must stand here");
	if (is_file)
		ps->p->file = probe_cut(ps, s, stop);
	else
		ps->p->function = probe_cut(ps, s, stop);
	err = point_tail(ps, stop, end);
	return err < 0 ? err : point_fits(ps);
}

/* VAR->a.b[3] into its parts. */
static int probe_fields(struct parser *ps, struct probe_arg *arg, const char *s, const char *end)
{
	const char *from = s;

	if (*s == '$')
		s++;
	while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
		s++;
	arg->what = probe_cut(ps, from, s);
	while (s < end) {
		struct probe_field f = { 0 };

		if (*s == '[') {
			s++;
			if (!probe_number(&s, end, &f.index) || s >= end || *s != ']')
				return bad(ps, s, "the number of an element must stand here");
			s++;
			vec_push(&arg->fields, f);
			continue;
		}
		f.pointer = s + 1 < end && s[0] == '-' && s[1] == '>';
		if (!f.pointer && *s != '.')
			return bad(ps, s, "a field must begin with . or ->");
		s += f.pointer ? 2 : 1;
		from = s;
		while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
			s++;
		if (s == from)
			return bad(ps, s, "the name of a field must stand here");
		f.name = probe_cut(ps, from, s);
		vec_push(&arg->fields, f);
	}
	return 0;
}

/* The last name in a chain of fields is the argument's, unless one was given. */
static void arg_name(struct probe_arg *arg)
{
	for (size_t i = arg->fields.n; i-- > 0 && !arg->name;)
		if (arg->fields.data[i].name && probe_is_name(arg->fields.data[i].name))
			arg->name = arg->fields.data[i].name;
	if (!arg->name && arg->fields.n && probe_is_name(arg->what))
		arg->name = arg->what;
}

static int probe_argument(struct parser *ps, const char *s, const char *end)
{
	struct probe_arg *arg = vec_add(&ps->p->args);
	const char *eq = memchr(s, '=', (size_t)(end - s)), *colon, *start = s;

	arg->at = (size_t)(s - ps->p->text);
	arg->text = probe_cut(ps, s, end);
	if (ps->p->args.n > ARGS_MAX)
		return bad(ps, s, "a probe can have %d arguments", ARGS_MAX);
	if (eq) {
		arg->name = probe_cut(ps, s, eq);
		if (!probe_is_name(arg->name))
			return bad(ps, s, "\"%s\" cannot be the name of an argument", arg->name);
		s = eq + 1;
	}
	if (end - s > 5 && strncmp(end - 5, "@user", 5) == 0) {
		arg->user = true;
		end -= 5;
	}
	colon = memchr(s, ':', (size_t)(end - s));
	if (colon) {
		arg->type = probe_cut(ps, colon + 1, end);
		if (!*arg->type)
			return bad(ps, colon + 1,
				   "a type must stand here: u32, s64, x8, string ...");
		if (str_ends(arg->type, "@user")) {
			arg->type = arena_strndup(ps->arena, arg->type, strlen(arg->type) - 5);
			arg->user = true;
		}
		end = colon;
	}
	if (s == end)
		return bad(ps, start, "what should be shown?");
	/* What a function gives back may have fields, as variables have. */
	if (!isalpha((unsigned char)*s) && *s != '_' &&
	    (strncmp(s, "$retval", 7) != 0 || end - s == 7)) {
		arg->raw = true;
		arg->what = probe_cut(ps, s, end);
		return 0;
	}
	if (probe_fields(ps, arg, s, end) < 0)
		return -EINVAL;
	arg_name(arg);
	return 0;
}

int probe_parse(struct arena *a, char *const *words, size_t n, struct probe_text *ret,
		struct err *e)
{
	struct parser ps = { a, ret, e };
	AUTO_STRBUF all = { 0 };
	const char *s, *end;
	int err;

	*ret = (struct probe_text){ 0 };
	for (size_t i = 0; i < n; i++) {
		strbuf_puts(&all, i ? " " : "");
		strbuf_puts(&all, words[i]);
	}
	ret->text = arena_strdup(a, strbuf_str(&all));
	s = ret->text + strspn(ret->text, " \t");
	/* A pattern of a source line has blanks in it, and nothing behind it. */
	end = word_end(s);
	if (memchr(s, ';', (size_t)(end - s)))
		end = s + strlen(s);
	err = point(&ps, s, end);
	for (s = end + strspn(end, " \t"); err == 0 && *s; s = end + strspn(end, " \t")) {
		end = s + strcspn(s, " \t");
		err = probe_argument(&ps, s, end);
	}
	if (err < 0)
		probe_text_free(ret);
	return err;
}

void probe_text_free(struct probe_text *p)
{
	vec_each (&p->args, arg)
		vec_free(&arg->fields);
	vec_free(&p->args);
}

int probe_lines_parse(struct arena *a, const char *text, struct probe_lines *ret, struct err *e)
{
	struct probe_text t = { .text = text };
	struct parser ps = { a, &t, e };
	const char *colon = strrchr(text, ':'), *at, *end = text + strlen(text), *s;
	uint64_t from = 0, to = UINT32_MAX, more;

	*ret = (struct probe_lines){ 0 };
	if (colon && colon > text && colon[-1] == ':') /* ns::run */
		colon = NULL;
	if (colon) {
		s = colon + 1;
		if (!probe_number(&s, end, &from))
			return bad(&ps, s, "a line number must stand here");
		if (*s == '-' || *s == '+') {
			bool plus = *s++ == '+';

			if (*s && !probe_number(&s, end, &more))
				return bad(&ps, s, "a line number must stand here");
			if (s[-1] != '-' && s[-1] != '+')
				to = plus ? from + more : more;
		} else {
			to = from;
		}
		if (*s || from > UINT32_MAX - 1)
			return bad(&ps, s, "lines are FROM, FROM-TO or FROM+N");
		if (to < from)
			return bad(&ps, colon + 1, "the last line is before the first");
		end = colon;
	}
	at = memchr(text, '@', (size_t)(end - text));
	if (at) {
		ret->function = probe_cut(&ps, text, at);
		ret->file = probe_cut(&ps, at + 1, end);
	} else if (memchr(text, '.', (size_t)(end - text)) ||
		   memchr(text, '/', (size_t)(end - text))) {
		ret->file = probe_cut(&ps, text, end);
	} else {
		ret->function = probe_cut(&ps, text, end);
	}
	if (end == text)
		return bad(&ps, text, "the name of a function or file must stand here");
	ret->from = (uint32_t)from;
	ret->to = to > UINT32_MAX ? UINT32_MAX : (uint32_t)to;
	return 0;
}

bool probe_is_group(const char *name, size_t n)
{
	static const char *const groups[] = { "probe", "kprobes", "uprobes" };

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (n == strlen(groups[i]) && memcmp(name, groups[i], n) == 0)
			return true;
	return n > 6 && memcmp(name, "probe_", 6) == 0;
}

void probe_missing(const char *name, const char *const *have, size_t n, struct strbuf *hint)
{
	const char *colon = strchrnul(name, ':'), *event = *colon ? colon + 1 : "";
	bool kernel = str_starts(name, "probe:") || str_starts(name, "kprobes:");
	struct str_nearest near = { .typed = name };
	char list[200];

	for (size_t i = 0; i < n; i++)
		str_nearest_add(&near, have[i]);
	if (str_nearest_list(&near, list, sizeof(list))) {
		strbuf_printf(hint, "did you mean %s? kymo probe -l lists the probes", list);
		return;
	}
	strbuf_printf(hint, "add it first: kymo probe %s--add %s; ", kernel ? "" : "-x BINARY ",
		      *event && !str_has_glob(event) ? event : "FUNCTION");
	strbuf_puts(hint, n ? "kymo probe -l lists those there are: " : "now there are none");
	for (size_t i = 0; i < n; i++) {
		if (hint->n > 200) {
			strbuf_puts(hint, " ...");
			break;
		}
		strbuf_printf(hint, "%s%s", i ? ", " : "", have[i]);
	}
}
