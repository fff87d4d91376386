/* SPDX-License-Identifier: MIT */
/* Any bytes as a pprof profile: opened, every sample read, made stacks, and those sum up. */
#include "fuzz.h"

#include "../unit/unfold.h"
#include "store/text/pprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stacks side[2] = { 0 };
	struct trace_own about;
	struct err e;

	pprof_looks(data, size);
	if (text_stacks(pprof_source, "fuzz", (const char *)data, size,
			&(struct own_stacks_opts){ 0 }, side, &about, &e) == 0) {
		FUZZ_CHECK(!side[0].type_names.n || about.first_type < side[0].type_names.n);
		vec_each (&side[0].entries, en)
			FUZZ_CHECK(en->stack < side[0].stacks.n && en->type < side[0].type_names.n);
	}
	stacks_free(&side[0]);
	return 0;
}
