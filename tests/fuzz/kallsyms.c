/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "fuzz.h"
#include "sym/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1);
	struct kallsyms k;
	const char *module;

	if (size)
		memcpy(text, data, size);
	if (kallsyms_parse(&k, text, size, NULL) < 0)
		return 0;
	for (size_t i = 0; i < k.tab.n; i++)
		kallsyms_find(&k, k.tab.sym[i].end, &module);
	kallsyms_free(&k);
	return 0;
}
