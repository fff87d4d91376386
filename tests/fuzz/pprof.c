/* SPDX-License-Identifier: MIT */
/* Any bytes as a pprof profile: opened, every sample read, made stacks, and those sum up. */
#include "fuzz.h"

#include "calc/read/pprof_stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stacks s = { 0 };
	struct pprof p;
	struct err e;
	uint32_t first = UINT32_MAX;

	pprof_looks(data, size);
	if (pprof_open("fuzz", data, size, &p, &e) < 0)
		return 0;
	if (pprof_stacks(&p, &s, &first, &e) == 0) {
		FUZZ_CHECK(first < p.types.n && s.type_names.n == p.types.n);
		vec_each (&s.entries, en)
			FUZZ_CHECK(en->stack < s.stacks.n && en->type < p.types.n);
	}
	stacks_free(&s);
	pprof_close(&p);
	return 0;
}
