/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file of kymo's own cache, sealed as if kymo had written them:
 * names that were asked for before, or an unwinding table. What is taken must
 * hold together; what is not must be refused.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "sym/names/answers.h"
#include "sym/unwind/unwind.h"

#define ID_AT 56 /* of an index: where the build-id stands */

static void check_answers(const struct answers *a, const char *end)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct answers_entry *e = &a->entry[i];
		const char *text = answers_text(a, e->name);

		FUZZ_CHECK(answers_find(a, e->addr) == e);
		FUZZ_CHECK(i + 1 == a->n || e[1].addr == e->addr + 1 ||
			   !answers_find(a, e->addr + 1));
		FUZZ_CHECK(!text || text + strlen(text) < end);
		FUZZ_CHECK(e->before <= e->addr && e->addr + e->after >= e->addr);
		text = answers_text(a, e->module);
		FUZZ_CHECK(!text || text + strlen(text) < end);
		for (unsigned k = 0; k < e->nframes; k++) {
			const struct answers_frame *f = &a->frame[e->first + k];
			const char *file = answers_text(a, f->file);

			FUZZ_CHECK(!file || file + strlen(file) < end);
		}
	}
	FUZZ_CHECK(a->n || !answers_find(a, 0));
}

static void answers(uint8_t *data, size_t size)
{
	struct build_id id = { 0 };
	struct answers a = { 0 };

	if (size < ID_AT + sizeof(id))
		return;
	memcpy(&id, data + ID_AT, sizeof(id));
	FUZZ_CHECK(id.len > ELF_BUILD_ID_MAX || answers_parse(&a, data, size, &id) == -EBADMSG ||
		   a.n <= size);
	answers_close(&a);
	answers_seal(data, size);
	if (id.len <= ELF_BUILD_ID_MAX && answers_parse(&a, data, size, &id) == 0)
		check_answers(&a, (const char *)data + size);
	answers_close(&a);
}

static bool find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	if (pc >= 1u << 20)
		return false;
	*ret = (struct unwind_map){ 0, 1u << 20, 0, ctx, NULL };
	return true;
}

static void table(uint8_t *data, size_t size, uint16_t machine)
{
	struct unwind_regs regs = { .machine = machine, .known = 0x1ffffffffu };
	struct ehframe_table t;
	uint64_t chain[64];

	ehframe_cache_seal(data, size);
	if (ehframe_cache_parse(data, size, machine, &t) < 0)
		return;
	for (unsigned i = 0; i < UNWIND_REGS; i++)
		regs.r[i] = 0x1000 + 8 * i;
	for (uint64_t pc = 0; pc < 1u << 20; pc += 1021) {
		struct unwind_cache cache = { 0 };
		struct unwind_result r;

		FUZZ_CHECK(ehframe_lookup(&t, pc) >= t.rules &&
			   ehframe_lookup(&t, pc) < t.rules + t.n_rules);
		regs.r[machine == 62 ? 7 : 31] = 0x1000;
		regs.r[machine == 62 ? 16 : 32] = pc;
		unwind_stack(&(struct unwind_input){ .regs = &regs,
						     .stack = data,
						     .stack_size = size,
						     .find = find,
						     .ctx = &t },
			     &cache, chain, 64, &r);
		FUZZ_CHECK(r.n >= 1 && r.n <= 64 && r.end < UNWIND_END_MAX);
	}
}

/* The first byte chooses the kind. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 1)
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (data[0] % 3 == 0)
		answers(copy, size - 1);
	else
		table(copy, size - 1, data[0] % 3 == 1 ? 62 : 183);
	free(copy);
	return 0;
}
