/* SPDX-License-Identifier: MIT */
#include "store/text/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/text/text_line.h"

#define MAX_LINE 4096u

static bool is_between(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

/* Take the next number off the line. */
static bool take_number(const char **s, const char *end, double *ret)
{
	char buf[64], *stop;
	size_t n = 0;

	while (*s < end && is_between(**s))
		++*s;
	while (*s + n < end && !is_between((*s)[n]))
		n++;
	if (!n || n >= sizeof(buf))
		return false;
	memcpy(buf, *s, n);
	buf[n] = '\0';
	*s += n;
	*ret = strtod(buf, &stop);
	return !*stop && isfinite(*ret);
}

static int points_one_line(const char *name, uint64_t line, const char *s, const char *end,
			   points_fn *fn, void *ctx, struct err *e)
{
	struct points_line l = { .line = line };

	if (end - s > MAX_LINE)
		return text_refuse(e, E2BIG, name, line, "the line is longer than %u bytes",
				   MAX_LINE);
	if (memchr(s, '\0', (size_t)(end - s)))
		return text_refuse(e, EINVAL, name, line, "a NUL byte: this is no text");
	if (!take_number(&s, end, &l.time) || !take_number(&s, end, &l.value)) {
		text_refuse(e, EINVAL, name, line, "no time and value");
		return err_hint(e, "lines are such as '158665.570607 120 sda': time, value, label");
	}
	if (l.time < 0 || l.value < 0)
		return text_refuse(e, EINVAL, name, line, "a time or a value is negative");
	while (s < end && is_between(*s))
		s++;
	l.label = s;
	l.label_n = (size_t)(end - s);
	return fn(ctx, &l, e);
}

int points_read(const char *name, const char *data, size_t n, points_fn *fn, void *ctx,
		struct err *e)
{
	const char *end = data + n, *s;
	uint64_t line = 0;

	while (text_line_next(&data, end, &s, &n)) {
		int r;

		line++;
		while (n && is_between(s[n - 1]))
			n--;
		for (; n && is_between(*s); n--)
			s++;
		if (!n || *s == '#')
			continue;
		r = points_one_line(name, line, s, s + n, fn, ctx, e);
		if (r)
			return r;
	}
	return 0;
}
