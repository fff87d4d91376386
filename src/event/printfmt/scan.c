/* SPDX-License-Identifier: MIT */
#include "event/printfmt/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct node *scan_fail(struct parser *p, const char *fmt, ...)
{
	if (!p->failed) {
		char text[256];
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		err_set(p->e, EINVAL, "print fmt of %s: %s", p->type->event ? p->type->event : "?",
			text);
	}
	p->failed = true;
	return NULL;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void printfmt_scan_number(struct parser *p)
{
	char *end;

	p->now.kind = T_NUMBER;
	p->now.value = strtoull(p->p, &end, 0);
	while (*end && strchr("uUlL", *end))
		end++;
	p->p = end;
}

static void op(struct parser *p)
{
	static const char *const two[] = { "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||" };

	p->now.kind = T_OP;
	p->now.op = (unsigned char)*p->p;
	for (size_t i = 0; i < ARRAY_SIZE(two); i++)
		if (strncmp(p->p, two[i], 2) == 0) {
			p->now.op = OP2(two[i][0], two[i][1]);
			p->p++;
			break;
		}
	p->p++;
}

void scan_next(struct parser *p)
{
	while (isspace((unsigned char)*p->p))
		p->p++;
	p->now = (struct token){ .s = p->p };
	if (!*p->p) {
		p->now.kind = T_END;
	} else if (*p->p == '"') {
		const char *q = p->p + 1;

		while (*q && *q != '"')
			q += *q == '\\' && q[1] ? 2 : 1;
		p->now = (struct token){ T_STRING, p->p + 1, (size_t)(q - p->p) - 1, 0, 0 };
		p->p = *q ? q + 1 : q;
	} else if (*p->p == '\'' && p->p[1] && p->p[2] == '\'') {
		p->now.kind = T_NUMBER;
		p->now.value = (unsigned char)p->p[1];
		p->p += 3;
	} else if (isdigit((unsigned char)*p->p)) {
		printfmt_scan_number(p);
	} else if (name_char(*p->p)) {
		while (name_char(*p->p))
			p->p++;
		p->now.kind = T_NAME;
		p->now.n = (size_t)(p->p - p->now.s);
	} else {
		op(p);
	}
}

bool scan_is_op(const struct parser *p, unsigned op)
{
	return p->now.kind == T_OP && p->now.op == op;
}

bool scan_is_name(const struct parser *p, const char *name)
{
	return p->now.kind == T_NAME && p->now.n == strlen(name) &&
	       memcmp(p->now.s, name, p->now.n) == 0;
}

bool scan_take(struct parser *p, unsigned op)
{
	if (!scan_is_op(p, op)) {
		scan_fail(p, "expected '%c' before '%.20s'", (char)op, p->now.s);
		return false;
	}
	scan_next(p);
	return true;
}

/* Adjacent literals are one; escapes as in C. */
const char *scan_take_string(struct parser *p)
{
	AUTO_STRBUF b = { 0 };

	while (p->now.kind == T_STRING) {
		for (size_t i = 0; i < p->now.n; i++) {
			char c = p->now.s[i];

			if (c == '\\' && i + 1 < p->now.n) {
				c = p->now.s[++i];
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
			}
			strbuf_putc(&b, c);
		}
		scan_next(p);
	}
	return arena_strdup(p->arena, strbuf_str(&b));
}
