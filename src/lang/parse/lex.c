/* SPDX-License-Identifier: MIT */
#include "lang/parse/lex.h"

#include <ctype.h>
#include <string.h>

#define EXPANDED_MAX 100000
#define PENDING_MAX 4096

void lex_init(struct lexer *l, const char *text, uint32_t n, struct arena *a, struct lang_diags *d)
{
	*l = (struct lexer){ .text = text, .n = n, .arena = a, .d = d, .line_start = true };
	if (n > 2 && text[0] == '#' && text[1] == '!')
		while (l->at < n && text[l->at] != '\n')
			l->at++;
}

void lex_free(struct lexer *l)
{
	vec_free(&l->defines);
	map_free(&l->by_name);
	vec_free(&l->pending);
	vec_free(&l->conds);
}

bool lex_is_word(int c)
{
	return isalnum(c) || c == '_';
}

static void no_end(struct lexer *l, uint32_t pos, uint32_t len, const char *what)
{
	lang_error(l->d, pos, len, "%s", what);
	l->swallowed = true;
}

/* Blanks, comments and preprocessor lines. */
static void lex_skip(struct lexer *l)
{
	for (;;) {
		int c = lex_at(l, 0);

		if (c == '\n') {
			l->at++;
			l->line_start = true;
		} else if (isspace(c)) {
			l->at++;
		} else if (c == '#' && l->line_start) {
			lex_preprocess(l);
		} else if ((l->at < l->n && lex_skipping(l)) || (c == '/' && lex_at(l, 1) == '/')) {
			while (l->at < l->n && lex_at(l, 0) != '\n')
				l->at++;
		} else if (c == '/' && lex_at(l, 1) == '*') {
			uint32_t start = l->at;

			l->at += 2;
			while (l->at < l->n && !(lex_at(l, 0) == '*' && lex_at(l, 1) == '/'))
				l->at++;
			if (l->at >= l->n)
				no_end(l, start, 2, "this comment has no end");
			else
				l->at += 2;
		} else {
			return;
		}
	}
}

static int hex_digit(int c)
{
	return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

static struct token lex_string(struct lexer *l)
{
	struct token t = { .kind = T_STR, .pos = l->at };
	AUTO_STRBUF b = { 0 };

	l->at++;
	while (l->at < l->n && lex_at(l, 0) != '"') {
		int c = lex_at(l, 0);

		l->at++;
		if (c == '\\' && l->at < l->n) {
			uint32_t esc = l->at - 1;

			c = lex_at(l, 0);
			l->at++;
			switch (c) {
			case 'n': c = '\n'; break;
			case 't': c = '\t'; break;
			case 'r': c = '\r'; break;
			case '"':
			case '\\': break;
			case 'x':
				if (!isxdigit(lex_at(l, 0))) {
					lang_error(l->d, esc, 2, "\\x wants hexadecimal digits");
					break;
				}
				c = hex_digit(lex_at(l, 0));
				l->at++;
				if (isxdigit(lex_at(l, 0))) {
					c = c * 16 + hex_digit(lex_at(l, 0));
					l->at++;
				}
				break;
			case '0' ... '7':
				c -= '0';
				for (int i = 0; i < 2 && lex_at(l, 0) >= '0' && lex_at(l, 0) <= '7';
				     i++, l->at++)
					c = c * 8 + lex_at(l, 0) - '0';
				break;
			default:
				lang_error(l->d, esc, 2, "unknown escape sequence '\\%c'", c);
				lang_hint(l->d,
					  "\\n, \\t, \\r, \\\", \\\\, \\0 and \\xNN are known");
			}
		} else if (c == '\n') {
			no_end(l, t.pos, 1, "this string has no end");
			lang_hint(l->d, "close it with \" on the same line");
			break;
		}
		strbuf_putc(&b, (char)c);
	}
	if (l->at >= l->n)
		no_end(l, t.pos, 1, "this string has no end");
	else if (lex_at(l, 0) == '"')
		l->at++;
	t.len = l->at - t.pos;
	strbuf_putc(&b, '\0'); /* it may have others inside */
	b.n--;
	t.s = arena_dup(l->arena, b.data, b.n + 1);
	t.slen = b.n;
	return t;
}

/* u, l and ll, as C has them behind numbers. */
static bool is_width(const char *s)
{
	bool is_unsigned = tolower(*s) == 'u';
	size_t longs;

	s += is_unsigned;
	longs = strspn(s, *s == 'l' ? "l" : "L");
	s += longs;
	if (!is_unsigned)
		s += tolower(*s) == 'u';
	return longs <= 2 && !*s;
}

/* 10, 0x1f, 017, 1_000, 1e6, 5ms (durations are nanoseconds). */
static struct token lex_number(struct lexer *l)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", 1000000000 },
		      { "m", 60000000000 },
		      { "h", 3600000000000 },
		      { "d", 86400000000000 } };
	struct token t = { .kind = T_INT, .pos = l->at };
	unsigned base = 10, digits = 0;
	bool over = false, octal = true;
	uint32_t suffix;

	if (lex_at(l, 0) == '0' && (lex_at(l, 1) | 32) == 'x' && isxdigit(lex_at(l, 2))) {
		base = 16;
		l->at += 2;
	} else if (lex_at(l, 0) == '0' && isdigit(lex_at(l, 1))) {
		base = 8;
	}
	for (;; l->at++) {
		int c = lex_at(l, 0);

		if (c == '_' && digits)
			continue;
		if (!(base == 16 ? isxdigit(c) : isdigit(c)))
			break;
		digits++;
		octal &= c < '8';
		over |= __builtin_mul_overflow(t.v, base, &t.v);
		over |= __builtin_add_overflow(t.v, (unsigned)hex_digit(c), &t.v);
	}
	if (base == 8 && !octal) {
		lang_error(l->d, t.pos, l->at - t.pos, "a number that begins with 0 is octal");
		lang_hint(l->d, "its digits go from 0 to 7");
	}
	if (base != 16 && (lex_at(l, 0) | 32) == 'e' && isdigit(lex_at(l, 1))) {
		unsigned e = 0;

		for (l->at++; isdigit(lex_at(l, 0)); l->at++)
			e = e > 100 ? e : e * 10 + (unsigned)(lex_at(l, 0) - '0');
		while (e-- && !over)
			over |= __builtin_mul_overflow(t.v, 10u, &t.v);
	}
	suffix = l->at;
	while (lex_is_word(lex_at(l, 0)))
		l->at++;
	t.len = l->at - t.pos;
	if (l->at > suffix) {
		AUTO_FREE char *s = mem_strndup(l->text + suffix, l->at - suffix);
		bool known = is_width(s);

		for (size_t i = 0; i < ARRAY_SIZE(units) && base != 16; i++)
			if (strcmp(s, units[i].unit) == 0) {
				known = true;
				over |= __builtin_mul_overflow(t.v, units[i].ns, &t.v);
			}
		if (!known) {
			lang_error(l->d, suffix, l->at - suffix, "'%s' does not belong to a number",
				   s);
			lang_hint(l->d, "durations end in ns, us, ms, s, m, h or d");
		}
	}
	if (over)
		lang_error(l->d, t.pos, t.len, "this number does not fit into 64 bits");
	return t;
}

static const struct {
	char text[4];
	int kind;
} operators[] = {
	{ "<<=", T_SHL_EQ }, { ">>=", T_SHR_EQ }, { "->", T_ARROW },  { "++", T_INC },
	{ "--", T_DEC },     { "<<", T_SHL },	  { ">>", T_SHR },    { "<=", T_LE },
	{ ">=", T_GE },	     { "==", T_EQ },	  { "!=", T_NE },     { "&&", T_AND },
	{ "||", T_OR },	     { "..", T_RANGE },	  { "+=", T_ADD_EQ }, { "-=", T_SUB_EQ },
	{ "*=", T_MUL_EQ },  { "/=", T_DIV_EQ },  { "%=", T_MOD_EQ }, { "&=", T_AND_EQ },
	{ "|=", T_OR_EQ },   { "^=", T_XOR_EQ },
};

static struct token lex_word(struct lexer *l, int kind, uint32_t skip)
{
	struct token t = { .kind = kind, .pos = l->at };

	l->at += skip;
	while (lex_is_word(lex_at(l, 0)))
		l->at++;
	t.len = l->at - t.pos;
	t.s = arena_strndup(l->arena, l->text + t.pos, t.len);
	t.slen = t.len;
	return t;
}

struct token lex_raw(struct lexer *l)
{
	struct token t = { .pos = l->at, .len = 1 };
	int c = lex_at(l, 0);

	l->line_start = false;
	if (l->at >= l->n) {
		t.len = 0;
		return t;
	}
	if (c == '"')
		return lex_string(l);
	if (isdigit(c))
		return lex_number(l);
	if (isalpha(c) || c == '_')
		return lex_word(l, T_IDENT, 0);
	if (c == '@')
		return lex_word(l, T_MAP, 1);
	if (c == '$' && (isalpha(lex_at(l, 1)) || lex_at(l, 1) == '_'))
		return lex_word(l, T_VAR, 1);
	if (c == '$' && lex_at(l, 1) == '#') {
		l->at += 2;
		t.kind = T_PARAM;
		t.len = 2;
		return t;
	}
	if (c == '$' && isdigit(lex_at(l, 1))) {
		t.kind = T_PARAM;
		for (l->at++; isdigit(lex_at(l, 0)); l->at++)
			t.v = t.v > 100000 ? t.v : t.v * 10 + (unsigned)(lex_at(l, 0) - '0');
		t.len = l->at - t.pos;
		return t;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t n = strlen(operators[i].text);

		if (l->n - l->at >= n && memcmp(l->text + l->at, operators[i].text, n) == 0) {
			t.kind = operators[i].kind;
			t.len = (uint32_t)n;
			l->at += t.len;
			return t;
		}
	}
	l->at++;
	t.kind = c < 128 && strchr("(){}[]<>+-*/%&|^!~=?:;,.", c) && c ? c : T_BAD;
	if (t.kind == T_BAD)
		lang_error(l->d, t.pos, 1,
			   c >= 32 && c < 127 ? "'%c' has no meaning here"
					      : "a byte that has no meaning here (%#x)",
			   c);
	return t;
}

/* A few lines of #define can stand for more words than anybody can read. */
static bool may_expand(struct lexer *l, const struct token *t)
{
	if (l->expanded++ < EXPANDED_MAX)
		return true;
	l->undefined = true;
	if (l->expanded == EXPANDED_MAX + 1)
		lang_error(l->d, t->pos, t->len, "what #define makes of this program is too long");
	return false;
}

struct token lex_next(struct lexer *l)
{
	for (;;) {
		struct token t;

		if (l->pending.n) {
			t = l->pending.data[--l->pending.n];
			if (t.kind == T_BAD) { /* the end of a #define's tokens */
				l->defines.data[t.v].busy = false;
				continue;
			}
		} else {
			lex_skip(l);
			t = lex_raw(l);
			if (l->pinned) {
				t.pos = l->pin;
				t.len = l->pin_len;
			}
		}
		if (t.kind == T_BAD)
			continue;
		if (t.kind == T_IDENT) {
			struct define *def = lex_define(l, t.s, t.slen);

			if (def && !def->busy && l->pending.n < PENDING_MAX && may_expand(l, &t)) {
				def->busy = true;
				vec_push(&l->pending,
					 (struct token){ .kind = T_BAD,
							 .v = (uint64_t)(def - l->defines.data) });
				for (size_t i = def->n; i-- > 0;) {
					vec_push(&l->pending, def->tok[i]);
					l->pending.data[l->pending.n - 1].pos = t.pos;
					l->pending.data[l->pending.n - 1].len = t.len;
				}
				continue;
			}
		}
		return t;
	}
}

const char *lex_name(int kind, char *buf, size_t size)
{
	static const char *const names[] = { "a name",	   "a number",	  "a string",
					     "a variable", "a parameter", "a map" };

	if (kind == T_END)
		return "the end of the program";
	if (kind >= T_IDENT && kind <= T_MAP)
		return names[kind - T_IDENT];
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].kind == kind) {
			snprintf(buf, size, "'%s'", operators[i].text);
			return buf;
		}
	snprintf(buf, size, "'%c'", kind);
	return buf;
}
