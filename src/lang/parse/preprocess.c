/* SPDX-License-Identifier: MIT */
/*
 * Preprocessor lines: #define of the kind without arguments, #if, and #include, which whoever
 * parses does. Headers have more than that; what is not understood there is left out.
 */
#include <ctype.h>
#include <string.h>

#include "lang/parse/lex.h"

#define HASH(s, n) (map_hash_bytes(s, n) | 1)

struct define *lex_define(const struct lexer *l, const char *name, size_t n)
{
	const uint64_t *i = map_find(&l->by_name, HASH(name, n));
	struct define *d = i && *i ? &l->defines.data[*i - 1] : NULL;

	return d && strlen(d->name) == n && memcmp(d->name, name, n) == 0 ? d : NULL;
}

/* The rest of a line as tokens. */
static void define_line(struct lexer *l, uint32_t end)
{
	uint32_t whole = l->n, start;
	VEC(struct token) v = { 0 };
	struct define *def;
	const char *name;

	while (l->at < end && isblank(lex_at(l, 0)))
		l->at++;
	start = l->at;
	while (l->at < end && lex_is_word(lex_at(l, 0)))
		l->at++;
	if (start == l->at) {
		lang_error(l->d, start, 1, "#define without a name");
		return;
	}
	name = arena_strndup(l->arena, l->text + start, l->at - start);
	if (lex_at(l, 0) == '(') {
		lang_warn(l->d, start, l->at - start, "macros with arguments are not supported: %s",
			  name);
		return;
	}
	l->n = end;
	for (;;) {
		struct token t;

		while (l->at < end && (isspace(lex_at(l, 0)) || lex_at(l, 0) == '\\'))
			l->at++;
		if (l->at + 1 < end && lex_at(l, 0) == '/' && strchr("/*", l->text[l->at + 1]))
			break; /* a comment, which ends the line or goes on behind it */
		t = lex_raw(l);
		if (t.kind == T_END)
			break;
		if (t.kind != T_BAD) /* which means the end of its tokens, once it is used */
			vec_push(&v, t);
	}
	l->n = whole;
	def = vec_add(&l->defines);
	def->name = name;
	def->n = v.n;
	def->tok = arena_dup(l->arena, v.data, v.n * sizeof(*v.data));
	*map_at(&l->by_name, HASH(name, strlen(name))) = l->defines.n;
	vec_free(&v);
}

/* What compilers define by themselves, and headers ask for. */
static const struct {
	const char *name;
	int64_t value;
} given[] = {
	{ "BPFTRACE_HAVE_BTF", 1 },
#if defined(__x86_64__)
	{ "__x86_64__", 1 },
	{ "__x86_64", 1 },
#elif defined(__aarch64__)
	{ "__aarch64__", 1 },
#endif
	{ "__LP64__", 1 },
	{ "_LP64", 1 },
	{ "__linux__", 1 },
	{ "__GNUC__", 12 },
	{ "__STDC__", 1 },
	{ "__STDC_VERSION__", 201710 },
	{ "__SIZEOF_POINTER__", 8 },
	{ "__SIZEOF_LONG__", 8 },
	{ "__SIZEOF_INT__", 4 },
	{ "__ORDER_LITTLE_ENDIAN__", 1234 },
	{ "__ORDER_BIG_ENDIAN__", 4321 },
	{ "__BYTE_ORDER__", 1234 },
};

static const int64_t *given_value(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (strlen(given[i].name) == n && memcmp(given[i].name, name, n) == 0)
			return &given[i].value;
	return NULL;
}

static bool preprocess_defined(const struct lexer *l, const char *name, size_t n)
{
	return given_value(name, n) || lex_define(l, name, n);
}

bool lex_skipping(const struct lexer *l)
{
	vec_each (&l->conds, it)
		if (*it != LEX_TAKEN)
			return true;
	return false;
}

struct cond {
	const struct lexer *l;
	const char *s, *end;
	unsigned depth;
};

static void lex_pre_blanks(struct cond *c)
{
	while (c->s < c->end && (isspace((unsigned char)*c->s) || *c->s == '\\'))
		c->s++;
}

static bool lex_pre_take(struct cond *c, const char *op)
{
	size_t n = strlen(op);

	lex_pre_blanks(c);
	if ((size_t)(c->end - c->s) < n || memcmp(c->s, op, n) != 0)
		return false;
	c->s += n;
	return true;
}

static int64_t cond_or(struct cond *c);

/* Of a name that stands for a number, or for another such name. */
static int64_t name_value(const struct lexer *l, const char *name, size_t n, unsigned depth)
{
	const struct define *d = lex_define(l, name, n);
	const int64_t *v = given_value(name, n);

	if (v)
		return *v;
	if (!d || d->n != 1 || depth > 16)
		return 0;
	if (d->tok[0].kind == T_IDENT)
		return name_value(l, d->tok[0].s, strlen(d->tok[0].s), depth + 1);
	return d->tok[0].kind == T_INT ? (int64_t)d->tok[0].v : 0;
}

/* has(tracepoint:sched:sched_switch), has(struct task_struct.comm), defined(X), X, 1 */
static int64_t cond_word(struct cond *c)
{
	const char *start = c->s, *arg;
	bool paren;
	size_t n;

	while (c->s < c->end && lex_is_word((unsigned char)*c->s))
		c->s++;
	n = (size_t)(c->s - start);
	if (!n) {
		c->s = c->end;
		return 0;
	}
	if (isdigit((unsigned char)*start))
		return strtoll(start, NULL, 0);
	if (n == 3 && memcmp(start, "has", 3) == 0 && lex_pre_take(c, "(")) {
		for (arg = c->s; c->s < c->end && *c->s != ')'; c->s++)
			;
		n = (size_t)(c->s - arg);
		lex_pre_take(c, ")");
		return c->l->has && !lex_skipping(c->l) &&
		       c->l->has(c->l->has_ctx, arena_strndup(c->l->arena, arg, n));
	}
	if (n == 7 && memcmp(start, "defined", 7) == 0) {
		paren = lex_pre_take(c, "(");
		lex_pre_blanks(c);
		for (arg = c->s; c->s < c->end && lex_is_word((unsigned char)*c->s); c->s++)
			;
		n = (size_t)(c->s - arg);
		if (paren)
			lex_pre_take(c, ")");
		return preprocess_defined(c->l, arg, n);
	}
	return name_value(c->l, start, n, 0);
}

static int64_t cond_unary(struct cond *c)
{
	int64_t v;

	lex_pre_blanks(c);
	if (++c->depth > 64) {
		c->s = c->end;
		return 0;
	}
	if (c->end - c->s > 1 && c->s[0] == '!' && c->s[1] != '=') {
		c->s++;
		v = !cond_unary(c);
	} else if (lex_pre_take(c, "(")) {
		v = cond_or(c);
		lex_pre_take(c, ")");
	} else {
		v = cond_word(c);
	}
	c->depth--;
	return v;
}

static int64_t cond_compare(struct cond *c)
{
	/* Each with what it holds for: less, equal, more. */
	static const struct {
		const char *op;
		bool less, equal, more;
	} ops[] = { { "==", 0, 1, 0 }, { "!=", 1, 0, 1 }, { ">=", 0, 1, 1 },
		    { "<=", 1, 1, 0 }, { ">", 0, 0, 1 },  { "<", 1, 0, 0 } };
	int64_t a = cond_unary(c), b;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (lex_pre_take(c, ops[i].op)) {
			b = cond_unary(c);
			return a < b ? ops[i].less : a == b ? ops[i].equal : ops[i].more;
		}
	return a;
}

static int64_t cond_and(struct cond *c)
{
	int64_t a = cond_compare(c);

	while (lex_pre_take(c, "&&"))
		a = (cond_compare(c) != 0) & (a != 0);
	return a;
}

static int64_t cond_or(struct cond *c)
{
	int64_t a = cond_and(c);

	while (lex_pre_take(c, "||"))
		a = (cond_and(c) != 0) | (a != 0);
	return a;
}

static bool preprocess_condition(const struct lexer *l, uint32_t from, uint32_t end)
{
	struct cond c = { .l = l, .s = l->text + from, .end = l->text + end };

	return cond_or(&c) != 0;
}

/* #elif and #else: only one branch is taken. */
static void other_branch(struct lexer *l, bool is_else, uint32_t arg, uint32_t end)
{
	uint8_t *now = l->conds.n ? &l->conds.data[l->conds.n - 1] : NULL;

	if (!now)
		return;
	if (*now == LEX_TAKEN) {
		*now = LEX_DONE;
	} else if (*now == LEX_NOT_YET) {
		*now = LEX_TAKEN; /* what is outside of it decides with it */
		if (!is_else && !preprocess_condition(l, arg, end))
			*now = LEX_NOT_YET;
	}
}

static void include_line(struct lexer *l, uint32_t start, uint32_t arg, uint32_t end)
{
	int close = arg < end && l->text[arg] == '<' ? '>' : '"';
	uint32_t n;

	if (arg >= end || (l->text[arg] != '<' && l->text[arg] != '"'))
		return;
	for (n = arg + 1; n < end && l->text[n] != close; n++)
		;
	if (l->include)
		l->include(l->include_ctx, arena_strndup(l->arena, l->text + arg + 1, n - arg - 1),
			   close == '"', start, n + 1 - start);
}

/* A comment may go on behind it. */
static uint32_t line_end(const struct lexer *l)
{
	uint32_t end = l->at;

	while (end < l->n && (l->text[end] != '\n' || l->text[end - 1] == '\\')) {
		if (end + 1 < l->n && l->text[end] == '/' && l->text[end + 1] == '*')
			for (end += 2;
			     end + 1 < l->n && (l->text[end] != '*' || l->text[end + 1] != '/');)
				end++;
		end++;
	}
	return end < l->n ? end : l->n;
}

static void preprocess_line(struct lexer *l)
{
	uint32_t start = ++l->at, end, word, arg, arg_end;
	bool skipping = lex_skipping(l);
	size_t n;

	end = line_end(l);
	while (l->at < end && isblank(lex_at(l, 0)))
		l->at++;
	word = l->at;
	while (l->at < end && lex_is_word(lex_at(l, 0)))
		l->at++;
	n = l->at - word;
	for (arg = l->at; arg < end && isblank((unsigned char)l->text[arg]); arg++)
		;
	for (arg_end = arg; arg_end < end && lex_is_word((unsigned char)l->text[arg_end]);
	     arg_end++)
		;
#define IS(s) (n == sizeof(s) - 1 && memcmp(l->text + word, s, n) == 0)
	if (IS("ifdef") || IS("ifndef") || IS("if")) {
		bool taken = IS("if") ? preprocess_condition(l, arg, end)
				      : preprocess_defined(l, l->text + arg, arg_end - arg) ==
						IS("ifdef");

		vec_push(&l->conds, skipping ? LEX_DONE : taken ? LEX_TAKEN : LEX_NOT_YET);
	} else if (IS("else") || IS("elif")) {
		other_branch(l, IS("else"), arg, end);
	} else if (IS("endif")) {
		if (l->conds.n)
			l->conds.n--;
	} else if (!skipping) {
		if (IS("define"))
			define_line(l, end);
		else if (IS("include"))
			include_line(l, start - 1, arg, end);
		else if (IS("undef"))
			*map_at(&l->by_name, HASH(l->text + arg, arg_end - arg)) = 0;
		else if (!IS("pragma") && !IS("error") && !IS("warning") && n)
			lang_error(l->d, start - 1, end - start + 1, "unknown preprocessor line");
	}
#undef IS
	l->at = end;
}

void lex_preprocess(struct lexer *l)
{
	struct lang_diags none = { 0 }, *d = l->d;
	unsigned errors = d->errors;

	/* In a header it is nobody's fault that a line is not understood. */
	l->d = l->pinned ? &none : d;
	preprocess_line(l);
	l->d = d;
	l->undefined |= d->errors > errors;
	lang_diags_free(&none);
}
