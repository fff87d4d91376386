/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as debug info: an ELF file with debug sections, asked for addresses
 * all over. The first byte chooses what the other files (dwz, .dwo, .dwp) are:
 * absent, or the same bytes again.
 */
#include "fuzz.h"
#include "sym/dwarf.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static int again(void *ctx, const struct dwarf_need *need, struct elf **ret)
{
	const struct input *in = ctx;

	(void)need;
	return elf_open_memory(in->data, in->size, "again", ret, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data + 1, size - 1 };
	struct dwarf_frame frames[32];
	struct dwarf *d;
	struct elf *e;

	if (!size || elf_open_memory(in.data, in.size, "fuzz", &e, NULL) < 0)
		return 0;
	if (dwarf_open(e, data[0] & 1 ? again : NULL, &in, &d, NULL) == 0) {
		for (uint64_t a = 0; a < 0x8000; a += 37)
			dwarf_lookup(d, a, frames, 32);
		dwarf_lookup(d, e->entry, frames, 32);
		dwarf_close(d);
	}
	elf_free(e);
	return 0;
}
