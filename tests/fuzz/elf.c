/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file: headers, symbols, PLT, packed symbol table, static probes, lookups. */
#include "fuzz.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/elf/usdt.h"

static int probe(void *ctx, const struct usdt_probe *p)
{
	const char *text = p->args;
	struct usdt_arg arg;
	int n = 0;

	while (n < 100 && usdt_arg_next(&text, *(uint16_t *)ctx, &arg) > 0)
		n++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf *e;
	struct symtab t;
	const char *name;
	uint32_t crc;
	struct build_id id;
	uint64_t v;

	if (elf_open_memory(data, size, "fuzz", &e, NULL) < 0)
		return 0;
	elf_debuglink(e, &name, &crc);
	elf_debugaltlink(e, &name, &id);
	elf_vaddr(e, 64, &v);
	usdt_each(e, probe, &e->machine);
	if (symtab_load(&t, e, NULL, NULL) == 0) {
		for (size_t i = 0; i < t.n && i < 1000; i++) {
			symtab_find(&t, t.sym[i].start);
			symtab_find(&t, t.sym[i].end);
		}
		symtab_find(&t, e->entry);
		symtab_free(&t);
	}
	elf_free(e);
	return 0;
}
