/* SPDX-License-Identifier: MIT */
/* The words of print formats, and formats cut into pieces of text and conversions with their
 * arguments. */
#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "event/printfmt/impl.h"

#define MAX_PIECES 1000

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

/* %[flags][width][.precision][length]conversion; where it ends, or NULL. */
static const char *conversion(struct parser *p, const char *s, struct piece *piece)
{
	const char *start = s++;
	size_t n = 1;

	piece->spec[0] = '%';
	piece->plain = true;
	for (; *s; s++) {
		if (strchr("-+ #0123456789.*", *s)) {
			piece->plain = false;
			if (n < sizeof(piece->spec) - 5)
				piece->spec[n++] = *s;
		} else if (*s == 'l' || *s == 'j') {
			piece->length++;
		} else if (*s == 'L') {
			piece->length = 2;
		} else if (*s == 'h') {
			piece->length--;
		} else if (*s != 'z' && *s != 'Z' && *s != 't') {
			break;
		}
	}
	if (!*s || piece->length > 2 || piece->length < -2) {
		scan_fail(p, "what is '%.20s'?", start);
		return NULL;
	}
	if (memchr(start, 'z', (size_t)(s - start)) || memchr(start, 'Z', (size_t)(s - start)))
		piece->length = 1;
	piece->conversion = *s++;
	piece->spec[n] = '\0';
	if (piece->conversion == 'p' && isalnum((unsigned char)*s)) {
		piece->extension = *s++;
		n = 0;
		while (strchr("Ii", piece->extension) && n < 3 && *s && strchr("46Scp", *s))
			piece->sub[n++] = *s++;
		while (piece->extension == 'b' && n < 1 && *s == 'l')
			piece->sub[n++] = *s++;
		while (piece->extension == 'U' && n < 1 && *s && strchr("bBlL", *s))
			piece->sub[n++] = *s++;
	}
	return s;
}

static const struct node *printfmt_compile_argument(struct parser *p)
{
	if (!scan_is_op(p, ',')) {
		scan_fail(p, "too few arguments");
		return NULL;
	}
	scan_next(p);
	return printfmt_expression(p);
}

/* Cut the format into pieces and give each its argument. */
static void pieces(struct parser *p, const char *s, struct printfmt *f)
{
	VEC(struct piece) list = { 0 };
	AUTO_STRBUF text = { 0 };

	for (;;) {
		struct piece piece = { 0 };

		strbuf_reset(&text);
		while (*s && (*s != '%' || s[1] == '%')) {
			strbuf_putc(&text, *s);
			s += *s == '%' ? 2 : 1;
		}
		piece.text = arena_dup(p->arena, strbuf_str(&text), text.n + 1);
		piece.text_n = (uint32_t)text.n;
		if (*s) {
			s = conversion(p, s, &piece);
			if (s && strchr(piece.spec, '*'))
				piece.width = printfmt_compile_argument(p);
			if (s && !p->failed)
				piece.arg = printfmt_compile_argument(p);
		}
		if (p->failed || list.n >= MAX_PIECES)
			break;
		vec_push(&list, piece);
		if (!piece.conversion)
			break;
	}
	f->pieces = arena_dup(p->arena, list.data, list.n * sizeof(*list.data));
	f->n = list.n;
	vec_free(&list);
}

int printfmt_compile(const struct event_type *t, struct arena *a, unsigned long_size,
		     const struct printfmt **ret, struct err *e)
{
	struct parser p = { .type = t,
			    .arena = a,
			    .long_size = long_size ? long_size : 8,
			    .p = t->print_fmt ? t->print_fmt : "",
			    .e = e };
	struct printfmt *f = arena_alloc(a, sizeof(*f));

	f->type = t;
	f->long_size = p.long_size;
	scan_next(&p);
	if (p.now.kind != T_STRING) {
		scan_fail(&p, "it does not begin with a format");
	} else {
		const char *format = scan_take_string(&p);

		pieces(&p, format, f);
	}
	if (p.failed)
		return -EINVAL;
	*ret = f;
	return 0;
}
