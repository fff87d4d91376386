/* SPDX-License-Identifier: MIT */
/*
 * Names of Go functions from .gopclntab, which programs have that were linked
 * without a symbol table (-s): the runtime itself needs it.
 *
 * Tables of Go 1.18 and later, 64-bit and in this machine's byte order. Where
 * the code begins that they count from is said in their header, by the linker
 * or by a relocation; newer ones do not say it, and then it is the beginning
 * of .text, if that makes the program start in Go's own start code. What makes
 * no sense gives no names.
 */
#include "sym/elf/symtab.h"

#define GO_118 0xfffffff0u
#define GO_120 0xfffffff1u
#define HEADER 72 /* magic and sizes, then eight words */
#define AT_TEXT 24
#define ALIGN 32

struct go {
	const struct elf *e;
	const uint8_t *data;
	size_t size;
	uint64_t n, text, names, functab; /* functions; the first one's address; tables */
};

static bool is_header(const struct elf *e, const uint8_t *p)
{
	return (elf_u32(e, p) == GO_118 || elf_u32(e, p) == GO_120) && !p[4] && !p[5] && p[7] == 8;
}

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
	for (; *size >= HEADER; p += ALIGN, *size -= ALIGN, *addr += ALIGN)
		if (is_header(e, p))
			return p;
	return NULL;
}

static bool symtab_go_is_code(const struct elf *e, uint64_t addr)
{
	for (size_t i = 0; addr && i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (s->type == PT_LOAD && (s->flags & PF_X) && addr >= s->vaddr &&
		    addr - s->vaddr < s->memsz)
			return true;
	}
	return false;
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

/* A function's place, or the end of the last one's. */
static uint64_t entry_of(const struct go *g, uint64_t i)
{
	return g->text + elf_u32(g->e, g->data + g->functab + i * 8);
}

static const char *symtab_go_name_of(const struct go *g, uint64_t i)
{
	uint64_t at = g->functab + elf_u32(g->e, g->data + g->functab + i * 8 + 4), name;

	if (at > g->size || g->size - at < 8)
		return NULL;
	name = g->names + elf_u32(g->e, g->data + at + 4);
	if (name >= g->size || !g->data[name] || !memchr(g->data + name, 0, g->size - name))
		return NULL;
	return (const char *)g->data + name;
}

static bool starts_in_go(const struct go *g)
{
	for (uint64_t i = 0; i < g->n; i++) {
		const char *name;

		if (entry_of(g, i) != g->e->entry)
			continue;
		name = symtab_go_name_of(g, i);
		return name && strncmp(name, "_rt0_", 5) == 0;
	}
	return false;
}

static bool open_tables(const struct elf *e, struct go *g)
{
	const struct elf_section *text = elf_section(e, ".text");
	const uint8_t *p = NULL;
	uint64_t addr = 0;
	size_t size = 0;

	if (e->is64 && !e->swap)
		p = find_tables(e, &size, &addr);
	if (!p)
		return false;
	*g = (struct go){ .e = e,
			  .data = p,
			  .size = size,
			  .n = elf_u64(e, p + 8),
			  .text = elf_u64(e, p + AT_TEXT),
			  .names = elf_u64(e, p + 32),
			  .functab = elf_u64(e, p + 64) };
	if (g->names >= size || g->functab >= size || g->n >= (size - g->functab) / 8)
		return false;
	if (!symtab_go_is_code(e, g->text))
		g->text = relocated(e, addr + AT_TEXT);
	if (symtab_go_is_code(e, g->text))
		return true;
	g->text = text ? text->addr : 0;
	return g->text && starts_in_go(g);
}

bool symtab_add_go(struct symtab *t, const struct elf *file)
{
	size_t before = t->n;
	struct go g;

	if (!open_tables(file, &g))
		return false;
	for (uint64_t i = 0; i < g.n; i++) {
		uint64_t start = entry_of(&g, i), end = entry_of(&g, i + 1);
		const char *name = symtab_go_name_of(&g, i);

		if (name && start < end && symtab_go_is_code(file, start))
			symtab_add(t, (struct symtab_sym){ .start = start,
							   .end = end,
							   .name = name,
							   .bind = STB_LOCAL,
							   .type = STT_FUNC });
	}
	return t->n > before;
}
