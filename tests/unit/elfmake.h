/* SPDX-License-Identifier: MIT */
/*
 * ELF images made in memory, for tests of unwinding: one segment of code, then
 * .eh_frame_hdr and .eh_frame, with or without section headers.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

typedef VEC(uint8_t) bytes_t;

static inline void put(bytes_t *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(b, (uint8_t)(v >> 8 * i));
}
static inline void put_uleb(bytes_t *b, uint64_t v)
{
	do {
		vec_push(b, (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}
static inline void put_bytes(bytes_t *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(b, ((const uint8_t *)p)[i]);
}
static inline void patch32(bytes_t *b, size_t at, uint32_t v)
{
	memcpy(b->data + at, &v, 4);
}

/* Where things are. Offsets and addresses differ, as in real files. */
#define CODE_OFF 0x1000u
#define CODE_ADDR 0x401000u
#define CODE_SIZE 0x40000u
#define FRAME_OFF (CODE_OFF + CODE_SIZE + 0x10000u)
#define FRAME_ADDR (FRAME_OFF + 0x400000u)

struct fde_at {
	uint32_t addr, pos;
};

struct elfmake {
	uint16_t machine;
	bytes_t frame; /* .eh_frame, or .debug_frame with debug */
	VEC(struct fde_at) fdes;
	size_t cie; /* the last CIE's place */
	bool debug; /* .debug_frame: absolute addresses */
	bool no_hdr, no_sections, reverse_hdr;
	uint64_t entry;
	uint8_t *code; /* CODE_SIZE bytes of nothing */
};

static inline void elfmake_init(struct elfmake *m, uint16_t machine)
{
	*m = (struct elfmake){ .machine = machine };
	m->code = calloc(1, CODE_SIZE);
}
static inline void elfmake_free(struct elfmake *m)
{
	free(m->code);
	vec_free(&m->frame);
	vec_free(&m->fdes);
}

static inline void entry_end(struct elfmake *m, size_t at)
{
	while ((m->frame.n - at) % 8)
		put(&m->frame, 0, 1); /* nop */
	patch32(&m->frame, at, (uint32_t)(m->frame.n - at - 4));
}

/* A CIE with those initial instructions. */
static inline void make_cie(struct elfmake *m, const char *aug, const char *insns, size_t n)
{
	size_t at = m->frame.n;

	m->cie = at;
	put(&m->frame, 0, 4);
	put(&m->frame, m->debug ? 0xffffffff : 0, 4);
	put(&m->frame, 1, 1);
	put_bytes(&m->frame, aug, strlen(aug) + 1);
	put_uleb(&m->frame, m->machine == EM_X86_64 ? 1 : 4);
	put(&m->frame, 0x78, 1); /* -8 */
	put(&m->frame, m->machine == EM_X86_64 ? 16 : 30, 1);
	if (aug[0] == 'z') {
		put_uleb(&m->frame, 1);
		put(&m->frame, 0x1b, 1); /* pcrel sdata4 */
	}
	put_bytes(&m->frame, insns, n);
	entry_end(m, at);
}

/* The usual one: x86_64 CFA rsp + 8, aarch64 CFA sp. */
static inline void make_usual_cie(struct elfmake *m, const char *aug)
{
	if (m->machine == EM_X86_64)
		make_cie(m, aug, "\x0c\x07\x08\x90\x01", 5);
	else
		make_cie(m, aug, "\x0c\x1f\x00", 3);
}

/* An FDE for [addr, addr + len) of the last CIE. */
static inline void make_fde(struct elfmake *m, uint32_t addr, uint32_t len, const char *insns,
			    size_t n)
{
	size_t at = m->frame.n;

	vec_push(&m->fdes, (struct fde_at){ addr, (uint32_t)at });
	put(&m->frame, 0, 4);
	if (m->debug) {
		put(&m->frame, m->cie, 4);
		put(&m->frame, addr, 8);
		put(&m->frame, len, 8);
	} else {
		put(&m->frame, m->frame.n - m->cie, 4);
		put(&m->frame, addr - (FRAME_ADDR + m->frame.n), 4);
		put(&m->frame, len, 4);
		put(&m->frame, 0, 1);
	}
	put_bytes(&m->frame, insns, n);
	entry_end(m, at);
}

static inline void make_sections(struct elfmake *m, bytes_t *out, size_t hdr_at, size_t hdr_size)
{
	static const char names[] = "\0.text\0.eh_frame\0.eh_frame_hdr\0.debug_frame\0.shstrtab";
	Elf64_Shdr sh[5] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = CODE_ADDR,
		  .sh_offset = CODE_OFF,
		  .sh_size = CODE_SIZE },
		{ .sh_name = m->debug ? 31 : 7,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = m->debug ? 0 : SHF_ALLOC,
		  .sh_addr = m->debug ? 0 : FRAME_ADDR,
		  .sh_offset = FRAME_OFF,
		  .sh_size = m->frame.n },
		{ .sh_name = 17,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = hdr_at + FRAME_ADDR - FRAME_OFF,
		  .sh_offset = hdr_at,
		  .sh_size = hdr_size },
		{ .sh_name = 44, .sh_type = SHT_STRTAB, .sh_size = sizeof(names) },
	};
	Elf64_Ehdr *eh;
	size_t at;

	sh[4].sh_offset = out->n;
	put_bytes(out, names, sizeof(names));
	while (out->n % 8)
		put(out, 0, 1);
	at = out->n;
	put_bytes(out, sh, sizeof(sh));
	eh = (Elf64_Ehdr *)out->data;
	eh->e_shoff = at;
	eh->e_shentsize = sizeof(Elf64_Shdr);
	eh->e_shnum = 5;
	eh->e_shstrndx = 4;
}

static inline int fde_by_addr(const void *a, const void *b)
{
	const struct fde_at *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The whole file. */
static inline bytes_t elfmake(struct elfmake *m)
{
	bytes_t out = { 0 };
	size_t hdr_at, hdr_size;
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC,
			  .e_machine = m->machine,
			  .e_version = 1,
			  .e_entry = m->entry,
			  .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = m->no_hdr || m->debug ? 2 : 3 };
	Elf64_Phdr ph[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = CODE_OFF,
		  .p_vaddr = CODE_ADDR,
		  .p_filesz = CODE_SIZE,
		  .p_memsz = CODE_SIZE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_offset = FRAME_OFF,
		  .p_vaddr = FRAME_ADDR },
		{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R },
	};

	if (!m->debug)
		put(&m->frame, 0, 4); /* the terminator */
	qsort(m->fdes.data, m->fdes.n, sizeof(*m->fdes.data), fde_by_addr);
	put_bytes(&out, &eh, sizeof(eh));
	put_bytes(&out, ph, sizeof(ph));
	while (out.n < CODE_OFF)
		put(&out, 0, 1);
	put_bytes(&out, m->code, CODE_SIZE);
	while (out.n < FRAME_OFF)
		put(&out, 0, 1);
	put_bytes(&out, m->frame.data, m->frame.n);
	while (out.n % 4)
		put(&out, 0, 1);
	hdr_at = out.n;
	if (!m->no_hdr && !m->debug) {
		uint64_t hdr_addr = hdr_at + FRAME_ADDR - FRAME_OFF;

		put(&out, 0x3b031b01, 4); /* version 1, pcrel sdata4, udata4, datarel sdata4 */
		put(&out, FRAME_ADDR - (hdr_addr + 4), 4);
		put(&out, m->fdes.n, 4);
		for (size_t i = 0; i < m->fdes.n; i++) {
			const struct fde_at *f =
				&m->fdes.data[m->reverse_hdr ? m->fdes.n - 1 - i : i];

			put(&out, f->addr - hdr_addr, 4);
			put(&out, FRAME_ADDR + f->pos - hdr_addr, 4);
		}
	}
	hdr_size = out.n - hdr_at;
	ph[1].p_filesz = ph[1].p_memsz = out.n - FRAME_OFF;
	ph[2].p_offset = hdr_at;
	ph[2].p_vaddr = hdr_at + FRAME_ADDR - FRAME_OFF;
	ph[2].p_filesz = ph[2].p_memsz = hdr_size;
	memcpy(out.data + sizeof(eh), ph, sizeof(ph));
	if (!m->no_sections)
		make_sections(m, &out, hdr_at, hdr_size);
	return out;
}
