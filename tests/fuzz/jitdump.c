/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "sym/jit/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump j;

	if (jitdump_parse(&j, data, size, NULL) < 0)
		return 0;
	for (size_t i = 0; i < j.ncode && i < 1000; i++)
		jitdump_line(&j, &j.code[i], j.code[i].start);
	jitdump_free(&j);
	return 0;
}
