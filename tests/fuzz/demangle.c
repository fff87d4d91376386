/* SPDX-License-Identifier: MIT */
/* Any bytes as the name of a function, in every way names are shown. */
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "sym/names/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned ways[] = { 0, DEMANGLE_PARAMS };
	AUTO_STRBUF b = { 0 };
	char *name = malloc(size + 1);

	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	demangle_likely(name);
	for (size_t i = 0; i < 2; i++) {
		strbuf_reset(&b);
		/* what is no name is passed through by the caller: then nothing was added */
		FUZZ_CHECK(demangle(name, ways[i], &b) ? b.n > 0 : b.n == 0);
		FUZZ_CHECK(b.n < 1u << 20);
	}
	free(name);
	return 0;
}
