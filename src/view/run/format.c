/* SPDX-License-Identifier: MIT */
/* The conversions of printf() and its like. */
#include "view/run/show.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The flags and widths of a conversion, without its lengths, and another letter. */
static const char *show_format_as(const char *spec, size_t n, const char *letter, char f[48])
{
	size_t k = 0;

	for (size_t i = 0; i < n && k < 43; i++)
		if (!strchr("hlzjt", spec[i]))
			f[k++] = spec[i];
	memcpy(f + k, letter, strlen(letter) + 1);
	return f;
}

static void show_format_any_number(const char *spec, size_t n, char conv, uint64_t v,
				   struct strbuf *b)
{
	const char letter[] = { 'l', 'l', conv == 'i' ? 'd' : conv, '\0' };
	char f[48];

	if (conv == 'p' && !v)
		strbuf_puts(b, "0x0");
	else if (conv == 'p')
		strbuf_printf(
			b, show_format_as(spec, n, "p", f),
			(void *)(uintptr_t)v); /* NOLINT: checked by the compiler of the language */
	else if (conv == 'c')
		strbuf_printf(b, show_format_as(spec, n, "c", f), (int)v);
	else
		strbuf_printf(b, show_format_as(spec, n, letter, f), (unsigned long long)v);
}

/* %rh: 0a fe; %rx: \x0a\xfe. */
static void show_format_hex(const struct ltype *t, const char *data, bool escaped, struct strbuf *b)
{
	const char *p = t->kind == LT_BUF ? data + 8 : data;
	uint64_t n, max = lt_stored(t) - (t->kind == LT_BUF ? 8 : 0);

	if (t->kind == LT_BUF)
		memcpy(&n, data, 8);
	else
		n = strnlen(p, max);
	for (uint64_t i = 0; i < n && i < max; i++)
		strbuf_printf(b, escaped ? "\\x%02x" : i ? " %02x" : "%02x", (uint8_t)p[i]);
}

/* What most conversions are: %d, %-16s, %06d. False when there is more to it. */
struct show_field {
	bool left, zero;
	size_t width;
};

static bool show_format_is_simple(const char *spec, size_t n, struct show_field *f)
{
	size_t i = 1;

	*f = (struct show_field){ 0 };
	for (; i < n && (spec[i] == '-' || spec[i] == '0'); i++) {
		f->left |= spec[i] == '-';
		f->zero |= spec[i] == '0';
	}
	for (; i < n && spec[i] >= '0' && spec[i] <= '9' && f->width < 4096; i++)
		f->width = f->width * 10 + (size_t)(spec[i] - '0');
	for (; i < n && spec[i] == 'l'; i++)
		;
	f->zero &= !f->left;
	return i == n;
}

static void show_format_number(const struct show_field *f, char conv, uint64_t v, struct strbuf *b)
{
	char text[24], *end = text + sizeof(text), *s = end;
	bool minus = conv != 'u' && conv != 'x' && (int64_t)v < 0;
	unsigned base = conv == 'x' ? 16 : 10;
	size_t n;

	v = minus ? 0 - v : v;
	do
		*--s = "0123456789abcdef"[v % base];
	while (v /= base);
	n = (size_t)(end - s) + minus;
	if (!f->left && !f->zero && n < f->width)
		strbuf_fill(b, ' ', f->width - n);
	if (minus)
		strbuf_putc(b, '-');
	if (f->zero && n < f->width)
		strbuf_fill(b, '0', f->width - n);
	strbuf_add(b, s, (size_t)(end - s));
	if (f->left && n < f->width)
		strbuf_fill(b, ' ', f->width - n);
}

/* %hd is of 16 bits, %hhd of 8; all else of 64. */
static uint64_t show_format_cut(const char *spec, size_t n, char conv, uint64_t v)
{
	const char *h = memchr(spec, 'h', n);
	bool is_signed = conv == 'd' || conv == 'i', byte = h && h + 1 < spec + n && h[1] == 'h';

	if (!h)
		return v;
	if (is_signed)
		return byte ? (uint64_t)(int8_t)v : (uint64_t)(int16_t)v;
	return byte ? (uint8_t)v : (uint16_t)v;
}

/* What was added from some place on, in a field. */
static void show_format_pad(const struct show_field *f, size_t from, struct strbuf *b)
{
	size_t n = b->n - from, pad = n < f->width ? f->width - n : 0;

	if (!pad)
		return;
	strbuf_fill(b, ' ', pad);
	if (f->left)
		return;
	memmove(b->data + from + pad, b->data + from, n);
	memset(b->data + from, ' ', pad);
}

void show_format(const struct lang_out *o, const struct lang_action *a, const char *data,
		 struct strbuf *b)
{
	size_t arg = 0;

	for (const char *s = a->format; *s; s++) {
		const char *start = s;
		struct show_field plain;
		size_t n;
		char conv;

		if (*s != '%') {
			n = strcspn(s, "%");
			strbuf_add(b, s, n);
			s += n - 1;
			continue;
		}
		if (s[1] == '%') {
			strbuf_putc(b, '%');
			s++;
			continue;
		}
		s++;
		s += strspn(s, "-+ #0123456789.hlzjt");
		conv = *s;
		n = (size_t)(s - start);
		if (!conv)
			return;
		if (arg >= a->n_args)
			continue;
		if (strchr("diuxXocp", conv) && lt_is_word(a->arg[arg].type)) {
			uint64_t v;

			memcpy(&v, data + a->arg[arg].offset, 8);
			v = show_format_cut(start, n, conv, v);
			if (strchr("diux", conv) && show_format_is_simple(start, n, &plain))
				show_format_number(&plain, conv, v, b);
			else
				show_format_any_number(start, n, conv, v, b);
		} else if (conv == 's' && show_format_is_simple(start, n, &plain)) {
			size_t from = b->n;

			show_value(o, a->arg[arg].type, data + a->arg[arg].offset, false, b);
			show_format_pad(&plain, from, b);
		} else {
			AUTO_STRBUF text = { 0 };
			char spec[48];

			if (conv == 'r' && (s[1] == 'x' || s[1] == 'h'))
				show_format_hex(a->arg[arg].type, data + a->arg[arg].offset,
						*++s == 'x', &text);
			else
				show_value(o, a->arg[arg].type, data + a->arg[arg].offset, false,
					   &text);
			strbuf_printf(b, show_format_as(start, n, "s", spec), strbuf_str(&text));
		}
		arg++;
	}
}
#pragma GCC diagnostic pop
