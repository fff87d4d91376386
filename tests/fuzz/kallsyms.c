/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "fuzz.h"
#include "sym/names/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms k, parts = { 0 };
	struct kallsyms_sym a, b;
	size_t half = size / 2;

	/* wherever it is cut, it says the same */
	kallsyms_feed(&parts, (const char *)data, half);
	kallsyms_feed(&parts, (const char *)data + half, size - half);
	if (kallsyms_parse(&k, (const char *)data, size, NULL) < 0) {
		kallsyms_end(&parts, NULL);
		kallsyms_free(&parts);
		return 0;
	}
	kallsyms_end(&parts, NULL);
	for (size_t i = 0; i < k.list.n; i++) {
		bool found = kallsyms_find(&k, k.list.data[i].addr, &a);

		if (size < 4096 && found != kallsyms_find(&parts, k.list.data[i].addr, &b))
			abort();
		if (found && a.end)
			kallsyms_find(&k, a.end - 1, &b);
	}
	kallsyms_free(&k);
	kallsyms_free(&parts);
	return 0;
}
