/* SPDX-License-Identifier: MIT */
/*
 * Where the bits of a PMU's term go: "config:0-7", "config1:0-15,32-47".
 */
#include "event/spec/int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool spec_bits_parse(const char *format, struct spec_bits *ret)
{
	struct spec_bits b = { 0 };
	const char *s = format + strlen("config");

	if (!str_starts(format, "config"))
		return false;
	if (*s >= '1' && *s <= '3')
		b.word = (unsigned)(*s++ - '0');
	do {
		char *end;
		unsigned long lo, hi;

		s++; /* ':' at first, ',' later */
		if (s[-1] != ':' && s[-1] != ',')
			return false;
		if (!isdigit((unsigned char)*s))
			return false;
		lo = hi = strtoul(s, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			hi = strtoul(end + 1, &end, 10);
		}
		if (hi < lo || hi > 63)
			return false;
		b.mask |= (hi - lo == 63 ? ~0ull : (1ull << (hi - lo + 1)) - 1) << lo;
		s = end;
	} while (*s == ',');
	if (*s && *s != '\n')
		return false;
	*ret = b;
	return true;
}

uint64_t spec_bits_max(const struct spec_bits *bits)
{
	int n = __builtin_popcountll(bits->mask);

	return n == 64 ? ~0ull : (1ull << n) - 1;
}

bool spec_bits_put(const struct spec_bits *bits, uint64_t v, uint64_t *word)
{
	if (v > spec_bits_max(bits))
		return false;
	*word &= ~bits->mask;
	for (uint64_t left = bits->mask; left; left &= left - 1) {
		if (v & 1)
			*word |= left & -left;
		v >>= 1;
	}
	return true;
}
