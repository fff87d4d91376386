/* SPDX-License-Identifier: MIT */
/* Parts of the -e text. */
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

struct slice slice_trim(struct slice s)
{
	while (s.n && isspace((unsigned char)s.s[0])) {
		s.s++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.s[s.n - 1]))
		s.n--;
	return s;
}

bool slice_is(struct slice s, const char *word)
{
	return strlen(word) == s.n && memcmp(s.s, word, s.n) == 0;
}

bool slice_u64(struct slice s, uint64_t *ret)
{
	char buf[32];

	if (!s.n || s.n >= sizeof(buf))
		return false;
	memcpy(buf, s.s, s.n);
	buf[s.n] = '\0';
	return str_u64(buf, ret);
}

bool slice_cut(struct slice s, char sep, struct slice *a, struct slice *b)
{
	const char *at = memchr(s.s, sep, s.n);
	size_t left = at ? (size_t)(at - s.s) : s.n;

	*a = slice_trim((struct slice){ s.s, left });
	*b = at ? slice_trim((struct slice){ at + 1, s.n - left - 1 })
		: (struct slice){ s.s + s.n, 0 };
	return at != NULL;
}

bool slice_raw(struct slice s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.n < 2 || s.n > 17 || s.s[0] != 'r')
		return false;
	for (size_t i = 1; i < s.n; i++) {
		int c = tolower((unsigned char)s.s[i]);

		if (!isxdigit(c))
			return false;
		v = v << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

char *slice_dup(struct spec_parser *p, struct slice s)
{
	return arena_strndup(&p->list->arena, s.s, s.n);
}
