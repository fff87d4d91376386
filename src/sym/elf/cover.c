/* SPDX-License-Identifier: MIT */
#include "sym/elf/cover.h"

#include "sym/elf/symtab.h"

/* How x86_64 functions begin that keep a frame pointer: push %rbp, and soon mov %rsp,%rbp. */
#define BEGINNING 48u
static bool framed_x86(const uint8_t *p, size_t n)
{
	static const uint8_t mov[] = { 0x48, 0x89, 0xe5 };
	const uint8_t *push = memchr(p, 0x55, n);

	return push && memmem(push, n - (size_t)(push - p), mov, sizeof(mov));
}

/* And on aarch64: stp x29, x30, [sp ...], maybe behind paciasp or where room is made. */
static bool framed_arm64(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t insn;

		memcpy(&insn, p + i, sizeof(insn));
		if ((insn & 0xfe407fffu) == 0xa8007bfdu)
			return true;
	}
	return false;
}

static bool is_framed(const struct elf *e, uint16_t machine, uint64_t off, size_t n)
{
	n = n < BEGINNING ? n : BEGINNING;
	return machine == EM_X86_64 ? framed_x86(e->data + off, n) : framed_arm64(e->data + off, n);
}

/* Of the offsets [from, to), how many no row is for. */
static uint64_t count_without(const struct ehframe_table *t, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	while (from < to) {
		uint64_t start, end = to;
		bool none = ehframe_lookup(t, from)->cfa == EHFRAME_CFA_NONE;

		ehframe_row_at(t, from, &start, &end);
		end = end <= from || end > to ? to : end;
		n += none ? end - from : 0;
		from = end;
	}
	return n;
}

/* What the compiler's start-up files bring into every program: no size, no table, no time. */
static bool is_startup(const char *name)
{
	static const char *const names[] = { "_init",
					     "_fini",
					     "deregister_tm_clones",
					     "register_tm_clones",
					     "frame_dummy",
					     "__do_global_dtors_aux" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

int cover_measure(const struct ehframe *f, const struct elf *e, struct cover *ret)
{
	struct ehframe_table *t = NULL;
	struct symtab tab = { 0 };
	struct cover c = { 0 };
	uint64_t done = 0;

	if (ehframe_build(f, &t, NULL) < 0)
		return -ENODATA;
	if (symtab_load(&tab, e, NULL, NULL) < 0) {
		ehframe_table_free(t);
		return -ENODATA;
	}
	/* in the order of addresses, and each of them once: symbols may lie over each other */
	for (size_t i = 0; i < tab.n; i++) {
		const struct symtab_sym *s = &tab.sym[i];
		uint64_t from, to, off, without;

		if (s->type != STT_FUNC || s->end <= s->start || is_startup(s->name) ||
		    !ehframe_offset(f, s->start, &off) || off >= e->size)
			continue;
		to = s->end - s->start > e->size - off ? e->size : off + (s->end - s->start);
		from = off > done ? off : done;
		if (from >= to)
			continue;
		done = to;
		without = count_without(t, from, to);
		c.bytes += to - from;
		c.without += without;
		if (without && is_framed(e, ehframe_machine(f), off, to - off))
			c.framed += without;
	}
	symtab_free(&tab);
	ehframe_table_free(t);
	if (!c.bytes)
		return -ENODATA;
	*ret = c;
	return 0;
}
