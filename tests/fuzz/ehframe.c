/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF image's call frame information: the table must keep its
 * own rules, and unwinding with it and with full evaluation must come to an end.
 */
#include "fuzz.h"

#include <string.h>

#include "sym/unwind/unwind.h"

struct world {
	const struct ehframe *cfi;
	const struct ehframe_table *table;
};

static bool find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	const struct world *w = ctx;

	if (pc >= 1u << 20)
		return false;
	*ret = (struct unwind_map){ 0, 1u << 20, 0, w->table, w->cfi };
	return true;
}

/* Rows rise within a chunk, every number is one that exists. */
static void check_table(const struct ehframe_table *t)
{
	FUZZ_CHECK(t->n_rows && t->n_chunks && t->base % EHFRAME_CHUNK == 0);
	FUZZ_CHECK(t->index[0] == 0 && t->index[t->n_chunks] == t->n_rows && t->index[1] >= 1);
	for (uint32_t c = 0; c < t->n_chunks; c++) {
		uint64_t start = t->base + (uint64_t)c * EHFRAME_CHUNK;

		FUZZ_CHECK(t->index[c] <= t->index[c + 1]);
		for (uint32_t i = t->index[c]; i < t->index[c + 1]; i++) {
			FUZZ_CHECK(EHFRAME_ROW_RULE(t->rows[i]) < t->n_rules);
			FUZZ_CHECK(i == t->index[c] || t->rows[i] >> 16 > t->rows[i - 1] >> 16);
			FUZZ_CHECK((((t->rows[i] >> 16) ^ start) & 0xffff & ~(EHFRAME_CHUNK - 1)) ==
				   0);
		}
	}
}

/* Several at once, with rules remembered from the others, must give what one gives alone. */
static void unwind_beside(const struct unwind_input *in, const struct unwind_result *r,
			  const uint64_t *chain)
{
	static struct unwind_known known[UNWIND_KNOWN];
	static uint64_t chains[14][64];
	struct unwind_cache cache = { .known = known };
	struct unwind_job job[14];

	memset(known, 0, sizeof(known));
	for (unsigned i = 0; i < 14; i++)
		job[i] = (struct unwind_job){ .in = *in, .chain = chains[i], .max = 64 };
	unwind_stacks(job, 14, &cache);
	for (unsigned i = 0; i < 14; i++)
		FUZZ_CHECK(job[i].ret.n == r->n && job[i].ret.end == r->end &&
			   memcmp(chains[i], chain, r->n * sizeof(*chain)) == 0);
}

static void unwind(struct world *w, uint16_t machine, const uint8_t *data, size_t size, uint64_t pc)
{
	struct unwind_regs regs = { .machine = machine, .known = 0x1ffffffffu };
	struct unwind_cache cache = { 0 };
	struct unwind_result r;
	uint64_t chain[64];
	/* The stack's address is a small number too, so that what the bytes say may point into it.
	 */
	struct unwind_input in = {
		.regs = &regs, .stack = data, .stack_size = size, .find = find, .ctx = w
	};

	for (unsigned i = 0; i < UNWIND_REGS; i++)
		regs.r[i] = 0x1000 + 8 * i;
	regs.r[machine == 62 ? 7 : 31] = 0x1000;
	regs.r[machine == 62 ? 16 : 32] = pc;
	unwind_stack(&in, &cache, chain, 64, &r);
	FUZZ_CHECK(r.n >= 1 && r.n <= 64 && r.end > UNWIND_NONE && r.end < UNWIND_END_MAX);
	FUZZ_CHECK(chain[0] == pc);
	unwind_beside(&in, &r, chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ehframe_table *t = NULL;
	struct ehframe *f;

	/* The first byte chooses the layout. */
	if (size < 1 ||
	    ehframe_open_mem(data + 1, size - 1, data[0] & EHFRAME_LOADED, &f, NULL) < 0)
		return 0;
	if (ehframe_build(f, &t, NULL) == 0) {
		struct world w = { f, t };
		uint64_t end = t->base + (uint64_t)t->n_chunks * EHFRAME_CHUNK,
			 step = (end - t->base) / 50 + 1;

		check_table(t);
		for (uint64_t off = t->base; off < end && off < 1u << 20; off += step)
			unwind(&w, t->machine, data, size, off);
	}
	ehframe_table_free(t);
	ehframe_close(f);
	return 0;
}
