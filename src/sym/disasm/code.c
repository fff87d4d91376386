/* SPDX-License-Identifier: MIT */
#include "sym/disasm/code.h"

#include <inttypes.h>

#include "sym/disasm/disasm.h"

#define LONGEST (1u << 20) /* a function of more is not looked through */

/* The instruction that has addr within it; false when it begins there, or nobody knows. */
static bool code_inside(const struct elf *e, const struct symtab_sym *s, uint64_t addr,
			uint64_t *from, uint64_t *to)
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

	if (!elf_is_code(elf, addr))
		return err_set(e, ENOENT, "there is no code at 0x%" PRIx64 " in %s", addr, path);
	if (!s || addr < s->start || addr - s->start > LONGEST ||
	    !code_inside(elf, s, addr, &from, &to))
		return 0;
	err_set(e, EINVAL, "%s+%" PRIu64 " is in the middle of an instruction", s->name,
		addr - s->start);
	return err_hint(e, "instructions begin at %s+%" PRIu64 " and %s+%" PRIu64, s->name,
			from - s->start, s->name, to - s->start);
}

#define ENDBR64 4
#define LARGEST (1ull << 29) /* bytes of code of one file; in more nobody looks for branches */

/* What the kernel does in place of the program (arch/x86/kernel/uprobes.c). */
static bool is_emulated(const uint8_t *p)
{
	if (p[0] == 0x41) /* %r8 and on */
		return (p[1] & 0xf8) == 0x50;
	return (p[0] & 0xf8) == 0x50 || p[0] == 0xe9 || p[0] == 0xeb || p[0] == 0x90;
}

static void code_mark(struct code_led *led, uint64_t addr)
{
	if (addr - led->from < led->n)
		led->bit[(addr - led->from) / 8] |= (uint8_t)(1 << (addr - led->from) % 8);
}

/* A branch has the distance to its target in its last four bytes; a short one in its last. */
static bool is_short_branch(uint8_t code)
{
	return (code & 0xf0) == 0x70 || code == 0xeb || (code & 0xfc) == 0xe0;
}

static void mark_targets(struct code_led *led, const uint8_t *p, uint64_t addr, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int32_t far;

		if (is_short_branch(p[i - 1]))
			code_mark(led, addr + i + 1 + (uint64_t)(int64_t)(int8_t)p[i]);
		if (n - i < sizeof(far))
			continue;
		memcpy(&far, p + i, sizeof(far));
		code_mark(led, addr + i + sizeof(far) + (uint64_t)(int64_t)far);
	}
}

static void find_targets(struct code_led *led, const struct elf *e)
{
	uint64_t from = UINT64_MAX, to = 0, all = 0;

	led->looked = true;
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];

		if (!elf_executed(s) || !s->filesz)
			continue;
		if (s->filesz > LARGEST - all) /* segments may share bytes */
			return;
		all += s->filesz;
		from = s->vaddr < from ? s->vaddr : from;
		to = s->vaddr + s->filesz > to ? s->vaddr + s->filesz : to;
	}
	if (from >= to || to - from > LARGEST)
		return;
	led->from = from;
	led->n = to - from;
	led->bit = mem_alloc(led->n / 8 + 1);
	for (size_t i = 0; i < e->nsegment; i++) {
		const struct elf_segment *s = &e->segment[i];
		size_t n = 0;
		const uint8_t *p = elf_executed(s) ? elf_bytes(e, s->vaddr, &n) : NULL;

		if (p && n >= s->filesz) {
			mark_targets(led, p, s->vaddr, s->filesz);
		} else if (elf_executed(s) && s->filesz) {
			led->n = 0;
			return;
		}
	}
}

/* jmp *...: a table of targets, or a function's address. */
static bool may_jump_anywhere(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i] == 0xff && (p[i + 1] & 0x38) == 0x20)
			return true;
	return false;
}

uint64_t code_entry(const struct elf *elf, const struct symtab_sym *s, struct code_led *led)
{
	static const uint8_t endbr64[ENDBR64] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint64_t behind = s->start + ENDBR64, at;
	const uint8_t *p;
	size_t n = 0;

	if (elf->machine != EM_X86_64 || s->end <= behind + 1)
		return s->start;
	p = elf_bytes(elf, s->start, &n);
	n = n < s->end - s->start ? n : s->end - s->start;
	if (!p || n < ENDBR64 + 2 || memcmp(p, endbr64, ENDBR64) != 0 ||
	    !is_emulated(p + ENDBR64) || may_jump_anywhere(p, n))
		return s->start;
	if (!led->looked)
		find_targets(led, elf);
	at = behind - led->from;
	return at < led->n && !(led->bit[at / 8] >> at % 8 & 1) ? behind : s->start;
}

void code_led_free(struct code_led *led)
{
	free(led->bit);
	*led = (struct code_led){ 0 };
}
