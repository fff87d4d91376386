/* SPDX-License-Identifier: MIT */
/* Any text as a tracepoint's format, and any bytes as its record: up to a NUL, and after it. */
#include <string.h>

#include "base/mem.h"
#include "event/text.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size, rest = nul ? size - n - 1 : 0;
	/* Its own memory, so that the sanitizer sees what is read beyond it. */
	AUTO_FREE uint8_t *raw = mem_dup(nul ? nul + 1 : data, rest);
	struct event_type t = { 0 };
	struct arena a = { 0 };
	struct strbuf b = { 0 };

	if (type_parse_format(&t, &a, (const char *)data, n, NULL) == 0) {
		text_prepare(NULL, &t, &a);
		text_print(NULL, &t, raw, rest, &b);
		text_print(NULL, &t, NULL, 0, &b); /* a record that holds nothing */
	}
	strbuf_free(&b);
	arena_free(&a);
	return 0;
}
