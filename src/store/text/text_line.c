/* SPDX-License-Identifier: MIT */
#include "store/text/text_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool text_part_is(struct text_part t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.s, s, t.n) == 0;
}

bool text_line_next(const char **data, const char *end, const char **s, size_t *n)
{
	const char *nl;

	if (*data == end)
		return false;
	nl = memchr(*data, '\n', (size_t)(end - *data));
	*s = *data;
	*n = (size_t)((nl ? nl : end) - *data);
	*data = nl ? nl + 1 : end;
	while (*n && ((*s)[*n - 1] == '\r' || text_is_space((*s)[*n - 1])))
		--*n;
	return true;
}

const char *text_line_excerpt(const char *s, size_t n, char buf[TEXT_LINE_EXCERPT])
{
	size_t k = 0;

	for (; k < n && k < 56; k++)
		buf[k] = s[k] >= ' ' && s[k] < 0x7f ? s[k] : '?';
	snprintf(buf + k, TEXT_LINE_EXCERPT - k, "%s", n > 56 ? "..." : "");
	return buf;
}

int text_refuse(struct err *e, int code, const char *name, uint64_t line, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(e, code, "%s:%llu: %s", name, (unsigned long long)line, why);
}
