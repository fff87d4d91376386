/* SPDX-License-Identifier: MIT */
/*
 * Names of Go functions for programs that were linked without a symbol table (-s). Where the code
 * begins that the table counts from is said in its header, by the linker or by a relocation; newer
 * ones do not say it, and then it is the beginning of .text, if that makes the program start in
 * Go's own start code.
 */
#include "sym/elf/gotab.h"
#include "sym/elf/symtab.h"

#define ALIGN 32

/* Where the tables are, and their address. A C linker may have put them among other data. */
static const uint8_t *find_tables(const struct elf *e, size_t *size, uint64_t *addr)
{
	const struct elf_section *s = elf_section(e, ".gopclntab");
	const uint8_t *p;

	if (!s)
		s = elf_section(e, ".data.rel.ro.gopclntab");
	if (!s && elf_section(e, ".go.buildinfo"))
		s = elf_section(e, ".data.rel.ro");
	if (!s || !(p = elf_section_data(e, s, size)))
		return NULL;
	*addr = s->addr;
	for (; *size >= GOTAB_HEADER; p += ALIGN, *size -= ALIGN, *addr += ALIGN)
		if (gotab_is(p))
			return p;
	return NULL;
}

/* What the loader adds its base to and puts at an address; 0: nothing. */
static uint64_t relocated(const struct elf *e, uint64_t addr)
{
	const struct elf_section *s = elf_section(e, ".rela.dyn");
	const uint8_t *p;
	size_t len;

	s = s ? s : elf_section(e, ".rela");
	if (!s || s->type != SHT_RELA || !(p = elf_section_data(e, s, &len)))
		return 0;
	for (; len >= sizeof(Elf64_Rela); p += sizeof(Elf64_Rela), len -= sizeof(Elf64_Rela))
		if (elf_u64(e, p) == addr)
			return elf_u64(e, p + offsetof(Elf64_Rela, r_addend));
	return 0;
}

static const char *symtab_go_name(const struct gotab *g, uint64_t i)
{
	size_t at = gotab_description(g, i, 8);

	return at ? gotab_name(g, at) : NULL;
}

static bool starts_in_go(const struct gotab *g, uint64_t start)
{
	for (uint64_t i = 0; i < g->n; i++) {
		const char *name;

		if (g->text + gotab_entry(g, i) != start)
			continue;
		name = symtab_go_name(g, i);
		return name && strncmp(name, "_rt0_", 5) == 0;
	}
	return false;
}

static bool open_tables(const struct elf *e, struct gotab *g)
{
	const struct elf_section *text = elf_section(e, ".text");
	const uint8_t *p = NULL;
	uint64_t addr = 0;
	size_t size = 0;

	if (e->is64 && !e->swap)
		p = find_tables(e, &size, &addr);
	if (!p || !gotab_open(p, size, g))
		return false;
	if (!elf_is_code(e, g->text))
		g->text = relocated(e, addr + GOTAB_TEXT);
	if (elf_is_code(e, g->text))
		return true;
	g->text = text ? text->addr : 0;
	return g->text && starts_in_go(g, e->entry);
}

bool symtab_add_go(struct symtab *t, const struct elf *file)
{
	size_t before = t->n;
	struct gotab g;

	if (!open_tables(file, &g))
		return false;
	for (uint64_t i = 0; i < g.n; i++) {
		uint64_t start = g.text + gotab_entry(&g, i), end = g.text + gotab_entry(&g, i + 1);
		const char *name = symtab_go_name(&g, i);

		if (name && start < end && elf_is_code(file, start))
			symtab_add(t, (struct symtab_sym){ .start = start,
							   .end = end,
							   .name = name,
							   .bind = STB_LOCAL,
							   .type = STT_FUNC });
	}
	return t->n > before;
}
