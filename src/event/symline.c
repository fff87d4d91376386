/* SPDX-License-Identifier: MIT */
#include "event/symline.h"

#include <string.h>

static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Digits from p on; where they end. */
static const char *symline_hex(const char *p, const char *end, uint64_t *v)
{
	for (; p < end && digits[(uint8_t)*p]; p++)
		*v = *v << 4 | (digits[(uint8_t)*p] - 1u);
	return p;
}

uint64_t symline_addr(const char *p, const char *end)
{
	uint64_t v = 0;

	symline_hex(p, end, &v);
	return v;
}

static const char *symline_put_addr(struct symline *l, const char *p, const char *end)
{
	const size_t n = sizeof(l->high_text);

	l->addr = 0;
	if (end - p < 16)
		return symline_hex(p, end, &l->addr);
	if (memcmp(p, l->high_text, n) != 0) {
		l->high = 0;
		if (symline_hex(p, p + n, &l->high) != p + n) {
			l->high_text[0] = 0;
			return symline_hex(p, end, &l->addr);
		}
		memcpy(l->high_text, p, n);
	}
	l->addr = l->high;
	return symline_hex(p + n, end, &l->addr);
}

bool symline_parse(struct symline *l, const char *p, const char *end)
{
	const char *start = p, *stop = end;

	p = symline_put_addr(l, p, end);
	if (p == start || p - start > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	l->module = NULL;
	l->module_n = 0;
	if (stop[-1] == '\r')
		stop--;
	if (stop[-1] == ']') {
		const char *open = memrchr(l->name, '[', (size_t)(stop - l->name));

		if (open && open > l->name && (open[-1] == '\t' || open[-1] == ' ')) {
			l->module = open + 1;
			l->module_n = (size_t)(stop - 1 - l->module);
			stop = open;
		}
	}
	while (stop > l->name && (stop[-1] == ' ' || stop[-1] == '\t'))
		stop--;
	l->name_n = (size_t)(stop - l->name);
	return l->name_n;
}

bool symline_next(struct symline *l, const char **at, const char *end)
{
	bool good = false;

	while (*at < end && !good) {
		const char *stop = memchr(*at, '\n', (size_t)(end - *at));

		good = symline_parse(l, *at, stop ? stop : end);
		*at = stop ? stop + 1 : end;
	}
	return good;
}

bool symline_is_named(const struct symline *l)
{
	switch (l->type | 0x20) {
	case 't':
	case 'w':
	case 'd':
	case 'b': return l->name[0] != '$';
	default: return false;
	}
}
