/* SPDX-License-Identifier: MIT */
/* disasmdump FILE START END: the instructions in a range of addresses, for tests/diff/disasm.py. */
#include <stdlib.h>

#include "sym/disasm/disasm.h"
#include "sym/elf/elf.h"
#include "tap.h"

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct elf *f = NULL;
	struct arena a = { 0 };
	disasm_list l = { 0 };
	struct disasm_code c = { 0 };
	uint64_t end;

	if (argc != 4 || elf_open_path(argv[1], &f, &e) < 0)
		return 2;
	c.addr = strtoull(argv[2], NULL, 16);
	end = strtoull(argv[3], NULL, 16);
	c.machine = f->machine;
	c.bytes = elf_bytes(f, c.addr, &c.n);
	if (c.n > end - c.addr)
		c.n = end - c.addr;
	if (disasm(&c, &a, &l, &e) < 0)
		return 3;
	for (size_t i = 0; i < l.n; i++)
		printf("%llx %u %s %s\n", (unsigned long long)l.data[i].addr, l.data[i].size,
		       l.data[i].name, l.data[i].args);
	vec_free(&l);
	arena_free(&a);
	elf_free(f);
	return 0;
}
