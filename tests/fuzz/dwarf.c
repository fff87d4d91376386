/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as debug info: an ELF file with debug sections, asked for addresses
 * all over, then for places of probes and what there is. The first byte chooses
 * what the other files (dwz, .dwo, .dwp) are: absent, or the same bytes again.
 */
#include "base/mem.h"
#include "fuzz.h"
#include "sym/dwarf/probe.h"
#include "sym/elf/elf.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static int again(void *ctx, const struct dwarf_need *need, struct elf **ret)
{
	const struct input *in = ctx;

	(void)need;
	return elf_open_memory(in->data, in->size, "again", ret, NULL);
}

static int any_var(void *ctx, const struct dwarf_var *v)
{
	(void)ctx, (void)v;
	return 0;
}

struct asked {
	struct dwarf *d;
	unsigned n;
};

/* Few are enough: a small file may name many. */
static int some_points(void *ctx, const struct dwarf_point *p)
{
	struct asked *a = ctx;

	dwarf_vars(a->d, p, NULL, a->n == 0, any_var, NULL);
	return ++a->n > 8;
}

static int some_lines(void *ctx, const char *file, uint32_t line)
{
	struct asked *a = ctx;

	(void)file, (void)line;
	return ++a->n > 100;
}

static void probe(struct dwarf *d)
{
	static const struct dwarf_where where[] = {
		{ .function = "main" },
		{ .function = "m*" },
		{ .function = "leaf", .line = 1, .has_line = true },
		{ .file = "a.c", .line = 3, .has_line = true },
	};
	struct asked a = { d, 0 };
	const char *path;
	uint32_t first, last;

	for (size_t i = 0; i < ARRAY_SIZE(where); i++) {
		a.n = 0;
		dwarf_points(d, &where[i], some_points, &a);
	}
	a.n = 0;
	dwarf_stmts(d, "main", NULL, &path, &first, &last, some_lines, &a);
}

/* A relocatable file as a loaded one. */
static struct elf *as_loaded(struct elf *e)
{
	struct elf *r;

	if (e->type != ET_REL || elf_relocate(e, &r, NULL) < 0)
		return e;
	elf_free(e);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data + 1, size - 1 };
	struct dwarf_frame frames[32];
	struct dwarf *d;
	struct elf *e;

	if (!size || elf_open_memory(in.data, in.size, "fuzz", &e, NULL) < 0)
		return 0;
	e = as_loaded(e);
	if (dwarf_open(e, data[0] & 1 ? again : NULL, &in, &d, NULL) == 0) {
		for (uint64_t a = 0; a < 0x8000; a += 37)
			dwarf_lookup(d, a, true, frames, 32);
		dwarf_lookup(d, e->entry, true, frames, 32);
		probe(d);
		dwarf_close(d);
	}
	elf_free(e);
	return 0;
}
