/* SPDX-License-Identifier: MIT */
#include "sym/elf/elf.h"

#include <sys/mman.h>

#include "base/mem.h"

#define FIRST_ADDRESS 0x10000u /* 0 is where things are that the linker threw away */
#define ALIGN_MAX 0x200000u
#define LOADS_MAX 1024u

struct work {
	const struct elf *e;
	uint8_t *image; /* the copy, with room for program headers behind it */
	size_t size;
	uint64_t *addr; /* by section */
};

static bool elf_rel_is_code(const struct elf_section *s)
{
	return (s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR) && s->type != SHT_NOBITS;
}

static Elf64_Shdr *elf_rel_header(const struct work *w, size_t i)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)w->image;

	return (Elf64_Shdr *)(w->image + h->e_shoff) + i;
}

/* False when they do not fit into an address. */
static bool place_sections(struct work *w)
{
	uint64_t at = FIRST_ADDRESS;

	for (size_t i = 1; i < w->e->nsection; i++) {
		const struct elf_section *s = &w->e->section[i];
		uint64_t align = elf_rel_header(w, i)->sh_addralign;

		if (!(s->flags & SHF_ALLOC))
			continue;
		if (align > 1 && align <= ALIGN_MAX && !(align & (align - 1)))
			at = (at + align - 1) & ~(align - 1);
		w->addr[i] = elf_rel_header(w, i)->sh_addr = at;
		if (s->size > (uint64_t)1 << 40 || at > (uint64_t)1 << 48)
			return false;
		at += s->size;
	}
	return true;
}

/* The symbols of a table, moved with their sections. */
static void place_symbols(struct work *w, const struct elf_section *s)
{
	size_t len;
	Elf64_Sym *sym;

	if (s->entsize != sizeof(*sym) || s->offset % 8 || !elf_section_data(w->e, s, &len))
		return;
	sym = (Elf64_Sym *)(w->image + s->offset);
	for (size_t i = 0; i < len / sizeof(*sym); i++)
		if (sym[i].st_shndx < w->e->nsection)
			sym[i].st_value += w->addr[sym[i].st_shndx];
}

/* How many bytes a relocation fills; 0: one that debug info does not have. */
static unsigned width(const struct elf *e, uint32_t type)
{
	if (e->machine == EM_X86_64)
		return type == R_X86_64_64			     ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : 0;
	return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
}

static void relocate(struct work *w, const struct elf_section *rel)
{
	const struct elf_section *target, *table;
	const Elf64_Rela *r;
	const Elf64_Sym *sym;
	size_t len, nsyms, room;

	if (rel->info >= w->e->nsection || rel->link >= w->e->nsection ||
	    rel->entsize != sizeof(*r) || rel->offset % 8)
		return;
	target = &w->e->section[rel->info];
	table = &w->e->section[rel->link];
	if ((target->flags & (SHF_ALLOC | SHF_COMPRESSED)) || table->entsize != sizeof(*sym) ||
	    table->offset % 8 || !elf_section_data(w->e, rel, &len) ||
	    !elf_section_data(w->e, table, &nsyms) || !elf_section_data(w->e, target, &room))
		return;
	r = (const Elf64_Rela *)(w->image + rel->offset);
	sym = (const Elf64_Sym *)(w->image + table->offset);
	for (size_t i = 0; i < len / sizeof(*r); i++) {
		const Elf64_Rela now = r[i]; /* sections of a bad file may overlap */
		uint64_t n = ELF64_R_SYM(now.r_info), value;
		unsigned bytes = width(w->e, (uint32_t)ELF64_R_TYPE(now.r_info));

		if (!bytes || n >= nsyms / sizeof(*sym) || now.r_offset > room ||
		    bytes > room - now.r_offset)
			continue;
		value = sym[n].st_value + (uint64_t)now.r_addend;
		memcpy(w->image + target->offset + now.r_offset, &value, bytes);
	}
}

/* Code as segments, which is where others look for it. */
static void add_segments(struct work *w)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)w->image;
	Elf64_Phdr *p = (Elf64_Phdr *)(w->image + ((w->e->size + 7) & ~(size_t)7));

	h->e_type = ET_DYN;
	h->e_phoff = (uint64_t)((uint8_t *)p - w->image);
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 0;
	for (size_t i = 1; i < w->e->nsection && h->e_phnum < LOADS_MAX; i++) {
		const struct elf_section *s = &w->e->section[i];

		if (!elf_rel_is_code(s) || !s->size)
			continue;
		p[h->e_phnum++] = (Elf64_Phdr){ .p_type = PT_LOAD,
						.p_flags = PF_R | PF_X,
						.p_offset = s->offset,
						.p_vaddr = w->addr[i],
						.p_filesz = s->size,
						.p_memsz = s->size };
	}
}

static size_t count_code(const struct elf *e)
{
	size_t n = 0;

	for (size_t i = 1; i < e->nsection; i++)
		n += elf_rel_is_code(&e->section[i]);
	return n < LOADS_MAX ? n : LOADS_MAX;
}

int elf_relocate(const struct elf *e, struct elf **ret, struct err *err)
{
	AUTO_FREE uint64_t *addr = NULL;
	struct work w = { .e = e };
	struct elf *copy;
	int r;

	if (e->type != ET_REL || !e->is64 || e->swap ||
	    (e->machine != EM_X86_64 && e->machine != EM_AARCH64) || e->nsection < 2 ||
	    elf_u64(e, e->data + offsetof(Elf64_Ehdr, e_shoff)) % 8)
		return err_set(err, ENOTSUP, "%s is no module that can be read", e->path);
	w.size = ((e->size + 7) & ~(size_t)7) + count_code(e) * sizeof(Elf64_Phdr);
	w.addr = addr = mem_alloc(e->nsection * sizeof(*addr));
	w.image = mmap(NULL, w.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w.image == MAP_FAILED)
		return err_set(err, errno, "no memory for %s: %s", e->path, strerror(errno));
	memcpy(w.image, e->data, e->size);
	if (!place_sections(&w)) {
		munmap(w.image, w.size);
		return err_set(err, ENOTSUP, "%s has sections of impossible size", e->path);
	}
	for (size_t i = 1; i < e->nsection; i++)
		if (e->section[i].type == SHT_SYMTAB)
			place_symbols(&w, &e->section[i]);
	for (size_t i = 1; i < e->nsection; i++)
		if (e->section[i].type == SHT_RELA)
			relocate(&w, &e->section[i]);
	add_segments(&w);
	r = elf_open_memory(w.image, w.size, e->path, &copy, err);
	if (r < 0) {
		munmap(w.image, w.size);
		return r;
	}
	copy->mapped = w.image;
	*ret = copy;
	return 0;
}
