/* SPDX-License-Identifier: MIT */
#include "sym/code.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "sym/disasm.h"

#define LONGEST (1u << 20) /* a function of more is not looked through */

static bool is_code(const struct elf *e, uint64_t addr)
{
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (s->type == PT_LOAD && s->flags & PF_X && addr >= s->vaddr &&
		    addr - s->vaddr < s->filesz)
			return true;
	}
	return false;
}

/* The instruction that has addr within it; false when it begins there, or nobody knows. */
static bool inside(const struct elf *e, const struct symtab_sym *s, uint64_t addr, uint64_t *from,
		   uint64_t *to)
{
	struct disasm_code code = { .machine = e->machine, .addr = s->start };
	struct arena arena = { 0 };
	disasm_list list = { 0 };
	size_t left = 0, want = addr - s->start + 16;
	bool found = false;

	code.bytes = elf_bytes(e, s->start, &left);
	code.n = left < want ? left : want;
	if (code.bytes && disasm(&code, &arena, &list, NULL) >= 0)
		vec_each (&list, in) {
			/* data among code: what comes behind is a guess */
			if (in->addr >= addr || strcmp(in->name, "(bad)") == 0)
				break;
			*from = in->addr;
			*to = in->addr + in->size;
			found = addr < *to;
		}
	vec_free(&list);
	arena_free(&arena);
	return found;
}

int code_check(const struct elf *elf, const struct symtab *names, const char *path, uint64_t addr,
	       struct err *e)
{
	const struct symtab_sym *s = symtab_find(names, addr);
	uint64_t from, to;

	if (!is_code(elf, addr))
		return err_set(e, ENOENT, "there is no code at 0x%" PRIx64 " in %s", addr, path);
	if (!s || addr < s->start || addr - s->start > LONGEST || !inside(elf, s, addr, &from, &to))
		return 0;
	err_set(e, EINVAL, "%s+%" PRIu64 " is in the middle of an instruction", s->name,
		addr - s->start);
	return err_hint(e, "instructions begin at %s+%" PRIu64 " and %s+%" PRIu64, s->name,
			from - s->start, s->name, to - s->start);
}
