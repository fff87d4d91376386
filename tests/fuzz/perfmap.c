/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "sym/jit/perfmap.h"

#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1);
	struct perfmap m;

	if (size)
		memcpy(text, data, size);
	perfmap_parse(&m, text, size);
	for (size_t i = 0; i < m.n; i++) {
		const struct perfmap_sym *s = perfmap_find(&m, m.sym[i].start);

		/* Something is there, and it is not older than this line. */
		FUZZ_CHECK(s && s >= &m.sym[i] && s->name[0]);
	}
	perfmap_free(&m);
	return 0;
}
