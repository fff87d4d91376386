/* SPDX-License-Identifier: MIT */
#include "view/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t markup_char(const unsigned char *s, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t c;

	if (n == 1)
		return s[0] >= ' ' && s[0] != 0x7f;
	if (n == 0 || s[0] > 0xf4 || left < n)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* overlong, surrogates, beyond Unicode, C1 controls, what turns text around, non-characters
	 */
	if (c < least[n] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ||
	    (c >= 0x80 && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || (c & 0xfffe) == 0xfffe)
		return 0;
	return n;
}

void markup_clean(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = markup_char((const unsigned char *)s + i, n - i);

		if (k)
			strbuf_add(b, s + i, k);
		else
			strbuf_printf(b, "\\x%02x", (unsigned char)s[i]);
		i += k ? k : 1;
	}
}

/* Letters that mean nothing else: most names are only such. */
static size_t plain_run(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] >= ' ' && s[i] < 0x7f && s[i] != '&' && s[i] != '<' && s[i] != '>' &&
	       s[i] != '"' && s[i] != '\'')
		i++;
	return i;
}

void markup_textn(FILE *f, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = plain_run(s + i, n - i);

		if (k) {
			fwrite(s + i, 1, k, f);
			i += k;
			continue;
		}
		k = markup_char((const unsigned char *)s + i, n - i);
		switch (s[i]) {
		case '&': fputs("&amp;", f); break;
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\'': fputs("&#39;", f); break;
		default:
			if (k)
				fwrite(s + i, 1, k, f);
			else
				fprintf(f, "\\x%02x", (unsigned char)s[i]);
		}
		i += k ? k : 1;
	}
}

void markup_text(FILE *f, const char *s)
{
	markup_textn(f, s, strlen(s));
}

void markup_comment(FILE *f, const char *s)
{
	AUTO_STRBUF b = { 0 };

	markup_clean(&b, s, strlen(s));
	for (size_t i = 0; i < b.n; i++) {
		putc(b.data[i], f);
		if (b.data[i] == '-' && (i + 1 == b.n || b.data[i + 1] == '-'))
			putc(' ', f); /* "--" may not stand in a comment */
	}
}
