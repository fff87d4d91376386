/* SPDX-License-Identifier: MIT */
/*
 * Names for PLT entries. An entry jumps through a slot of the GOT, and a relocation of that slot
 * names the function. So entries are decoded (x86-64, i386, arm64), which holds for .plt, .plt.sec
 * (CET), .plt.got and whatever order the linker chose; those of other machines are counted in the
 * order of .rela.plt, as perf does.
 */
#include "sym/elf/symtab.h"

#include "base/sort.h"
#include "base/vec.h"

struct slot {
	/* NULL: an ifunc of this file, whose resolver is at addend. "": unknown. */
	const char *name;
	uint64_t addend;
};

struct plt {
	const struct elf *e;
	struct symtab *t;
	VEC(struct slot) slots;	      /* those of .rela.plt first, in its order */
	VEC(struct sort_key) keys;    /* sorted by the address of the slot in the GOT */
	VEC(struct symtab_sym) found; /* kept apart: t must stay sorted while it is asked */
	size_t njump;		      /* how many slots are of .rela.plt */
	uint64_t got, got_end;	      /* other slots lie there; all that is relocated may */
};

static bool is_irelative(const struct elf *e, uint32_t type)
{
	switch (e->machine) {
	case EM_X86_64: return type == R_X86_64_IRELATIVE;
	case EM_386: return type == R_386_IRELATIVE;
	case EM_AARCH64: return type == R_AARCH64_IRELATIVE;
	default: return false;
	}
}

static const char *dynamic_name(const struct elf *e, const struct elf_section *dynsym, uint64_t sym)
{
	size_t len, nstr, each = ELF_SIZE(e, Sym);
	const uint8_t *syms, *str;
	uint32_t name;

	if (dynsym->link >= e->nsection || !(syms = elf_section_data(e, dynsym, &len)) ||
	    sym >= len / each || !(str = elf_section_data(e, &e->section[dynsym->link], &nstr)))
		return NULL;
	name = elf_u32(e, syms + sym * each);
	if (!name || name >= nstr || !memchr(str + name, 0, nstr - name))
		return NULL;
	return (const char *)str + name;
}

/* all: nameless ones too, so that their number stays their place in the section. */
static void read_relocations(struct plt *p, const struct elf_section *s, bool all)
{
	const struct elf *e = p->e;
	bool rela = s->type == SHT_RELA;
	size_t each = rela ? ELF_SIZE(e, Rela) : ELF_SIZE(e, Rel), len;
	const uint8_t *data = elf_section_data(e, s, &len);
	const struct elf_section *dynsym;

	if (!data || s->link >= e->nsection)
		return;
	dynsym = &e->section[s->link];
	for (size_t at = 0; len - at >= each; at += each) {
		const uint8_t *r = data + at;
		uint64_t offset = ELF_FIELD(e, r, Rel, r_offset),
			 info = ELF_FIELD(e, r, Rel, r_info);
		uint64_t sym = e->is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
		uint32_t type = (uint32_t)(e->is64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info));
		struct slot slot = { .addend = rela ? ELF_FIELD(e, r, Rela, r_addend) : 0 };

		if (!all && (offset < p->got || offset >= p->got_end))
			continue;
		if (!is_irelative(e, type)) {
			slot.name = sym ? dynamic_name(e, dynsym, sym) : NULL;
			if (!slot.name && !all)
				continue;
			if (!slot.name)
				slot.name = "";
		}
		vec_push(&p->keys, (struct sort_key){ offset, (uint32_t)p->slots.n });
		vec_push(&p->slots, slot);
	}
}

static const struct slot *slot_at(const struct plt *p, uint64_t got)
{
	size_t at = SORT_FIND(p->keys.n, i, p->keys.data[i].key < got);

	return at < p->keys.n && p->keys.data[at].key == got
		       ? &p->slots.data[p->keys.data[at].index]
		       : NULL;
}

/* The function that a resolver is for, by the name that callers write. */
static const char *ifunc_name(const struct symtab *t, uint64_t addr)
{
	const struct symtab_sym *best = symtab_find(t, addr), *s = best;

	if (!best || best->start != addr)
		return NULL;
	while (s > t->sym && s[-1].start == addr)
		s--;
	for (; s < t->sym + t->n && s->start == addr; s++)
		if (s->type == STT_GNU_IFUNC &&
		    (best->type != STT_GNU_IFUNC || strspn(s->name, "_") < strspn(best->name, "_")))
			best = s;
	return best->name;
}

static void symtab_plt_add_entry(struct plt *p, const struct slot *slot, uint64_t start,
				 uint64_t size)
{
	const char *name = slot->name;
	const char *text;

	if (name && !*name)
		return;
	if (!name)
		name = ifunc_name(p->t, slot->addend);
	/* objdump's way of writing it */
	text = name ? arena_printf(&p->t->names, "%s@plt", name)
		    : arena_printf(&p->t->names, "*ABS*+0x%llx@plt",
				   (unsigned long long)slot->addend);
	vec_push(&p->found, (struct symtab_sym){ .start = start,
						 .end = start + size,
						 .name = text,
						 .bind = STB_GLOBAL,
						 .type = STT_FUNC });
}

/* [endbr] [bnd] jmp *slot, or the lazy half of a CET pair: [endbr] push INDEX; jmp PLT0 */
static const struct slot *decode_x86(const struct plt *p, const uint8_t *code, size_t n,
				     uint64_t addr, uint64_t got_base)
{
	static const uint8_t endbr[2][4] = { { 0xf3, 0x0f, 0x1e, 0xfb },
					     { 0xf3, 0x0f, 0x1e, 0xfa } };
	size_t i = 0;
	uint32_t v;

	if (n >= 4 && memcmp(code, endbr[p->e->is64], 4) == 0)
		i += 4;
	if (i < n && code[i] == 0xf2)
		i++;
	if (n - i < 6)
		return NULL;
	if (code[i] == 0x68) {
		v = elf_u32(p->e, code + i + 1);
		return v < p->njump ? &p->slots.data[v] : NULL;
	}
	v = elf_u32(p->e, code + i + 2);
	if (code[i] == 0xff && code[i + 1] == 0x25)
		return slot_at(p, p->e->is64 ? addr + i + 6 + (uint64_t)(int64_t)(int32_t)v : v);
	if (code[i] == 0xff && code[i + 1] == 0xa3 && !p->e->is64)
		return slot_at(p, (uint32_t)(got_base + v));
	return NULL;
}

static void add_x86(struct plt *p, const struct elf_section *s, const uint8_t *code, size_t len)
{
	const struct elf_section *got = elf_section(p->e, ".got.plt");
	size_t each = s->entsize == 8 || s->entsize == 16 ? s->entsize : 16;

	if (!got)
		got = elf_section(p->e, ".got");
	for (size_t at = 0; len - at >= each; at += each) {
		const struct slot *slot =
			decode_x86(p, code + at, each, s->addr + at, got ? got->addr : 0);

		if (slot)
			symtab_plt_add_entry(p, slot, s->addr + at, each);
	}
}

/* [bti c] adrp x16, PAGE; ldr x17, [x16, OFFSET] ... */
static void add_arm64(struct plt *p, const struct elf_section *s, const uint8_t *code, size_t len)
{
	size_t last = 0;
	const struct slot *pending = NULL;

	for (size_t at = 0; len - at >= 8; at += 4) {
		uint32_t adrp = elf_u32(p->e, code + at), ldr = elf_u32(p->e, code + at + 4);
		uint64_t page = (s->addr + at) & ~(uint64_t)0xfff;
		const struct slot *slot;
		int64_t delta;
		size_t start;

		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		delta = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3))
				  << 43) >>
			31;
		slot = slot_at(p, page + (uint64_t)delta + ((ldr >> 10 & 0xfff) << 3));
		start = at >= 4 && elf_u32(p->e, code + at - 4) == 0xd503245f ? at - 4 : at;
		if (pending)
			symtab_plt_add_entry(p, pending, s->addr + last, start - last);
		pending = slot;
		last = start;
	}
	if (pending)
		symtab_plt_add_entry(p, pending, s->addr + last, len - last);
}

static void add_counted(struct plt *p, const struct elf_section *s)
{
	uint64_t each = s->entsize;

	if (!each)
		return;
	for (size_t i = 0; i < p->njump && (i + 2) * each <= s->size; i++)
		symtab_plt_add_entry(p, &p->slots.data[i], s->addr + (i + 1) * each, each);
}

/* Most of what is relocated are tables of functions, of which a large library has very many. */
static void find_got(struct plt *p)
{
	const struct elf *e = p->e;

	p->got = UINT64_MAX;
	for (size_t i = 1; i < e->nsection; i++) {
		const struct elf_section *s = &e->section[i];
		uint64_t end = s->addr + s->size;

		if (strncmp(s->name, ".got", 4) != 0 && strncmp(s->name, ".igot", 5) != 0)
			continue;
		p->got = s->addr < p->got ? s->addr : p->got;
		p->got_end = end > p->got_end ? end : p->got_end;
	}
	if (!p->got_end) {
		p->got = 0;
		p->got_end = UINT64_MAX;
	}
}

void symtab_add_plt(struct symtab *t, const struct elf *file)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt" };
	static const char *const relocations[] = { ".rela.plt", ".rel.plt",   ".rela.dyn",
						   ".rel.dyn",	".rela.iplt", ".rel.iplt" };
	struct plt p = { .e = file, .t = t };

	find_got(&p);
	for (size_t i = 0; i < ARRAY_SIZE(relocations); i++) {
		const struct elf_section *s = elf_section(file, relocations[i]);

		if (!s || (s->type != SHT_RELA && s->type != SHT_REL))
			continue;
		read_relocations(&p, s, i < 2);
		if (i < 2)
			p.njump = p.slots.n;
	}
	/* Resolvers of ifuncs are looked up in what is there so far. */
	symtab_finish(t);
	sort_keys(p.keys.data, p.keys.n);
	for (size_t i = 0; p.slots.n && i < ARRAY_SIZE(names); i++) {
		const struct elf_section *s = elf_section(file, names[i]);
		const uint8_t *code;
		size_t len;

		if (!s || !(code = elf_section_data(file, s, &len)))
			continue;
		if (file->machine == EM_X86_64 || file->machine == EM_386)
			add_x86(&p, s, code, len);
		else if (file->machine == EM_AARCH64)
			add_arm64(&p, s, code, len);
		else if (i == 0)
			add_counted(&p, s);
	}
	vec_each (&p.found, it)
		symtab_add(t, *it);
	vec_free(&p.found);
	vec_free(&p.slots);
	vec_free(&p.keys);
}
