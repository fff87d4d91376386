/* SPDX-License-Identifier: MIT */
/* Reading ELF headers: this program itself, and what is left of it when cut or damaged. */
#include "sym/elf/elf.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "tap.h"

int elf_test_symbol(int x);
int elf_test_symbol(int x)
{
	return x + 1;
}

static void ids(void)
{
	struct build_id a = { 0 }, b = { 0 };
	char buf[BUILD_ID_TEXT];

	CHECK(build_id_parse("00ff10", &a));
	CHECK_INT(a.len, 3);
	CHECK_STR(build_id_text(&a, buf), "00ff10");
	CHECK(!build_id_parse("00f", &b));
	CHECK(!build_id_parse("", &b));
	CHECK(!build_id_parse("zz", &b));
	CHECK(build_id_parse("00ff1000000000", &b));
	CHECK(build_id_match(&a, &b)); /* perf pads with zeros */
	CHECK(!build_id_same(&a, &b));
	CHECK(build_id_parse("00ff10000001", &b));
	CHECK(!build_id_match(&a, &b));
	b.len = 0;
	CHECK(!build_id_match(&a, &b));
}

static void self(void)
{
	struct elf *e = NULL;
	const struct elf_section *s;
	uint64_t offset, vaddr;
	const uint8_t *p;
	size_t len;
	struct err err = { 0 };

	CHECK_INT(elf_open_path("/proc/self/exe", &e, &err), 0);
	if (!e)
		return;
	CHECK(e->is64 == (sizeof(long) == 8));
	CHECK(!e->swap);
	s = elf_section(e, ".text");
	CHECK(s && s->size > 0);
	CHECK(elf_offset(e, s->addr, &offset));
	CHECK_INT(offset, s->offset);
	CHECK(elf_vaddr(e, s->offset + 3, &vaddr));
	CHECK_INT(vaddr, s->addr + 3);
	CHECK(!elf_vaddr(e, e->size + 100, &vaddr));
	p = elf_bytes(e, s->addr, &len);
	CHECK(p == e->data + s->offset && len >= s->size);
	CHECK(!elf_bytes(e, UINT64_MAX - 3, &len));
	CHECK(elf_section(e, ".no.such") == NULL);
	elf_free(e);

	CHECK_INT(elf_open_path("/no/such/file", &e, &err), -ENOENT);
	CHECK_INT(elf_open_path("/", &e, &err), -EINVAL);
	CHECK_INT(elf_open_path("/proc/self/status", &e, &err), -EINVAL);
}

/* Whatever is done to the bytes, nothing outside of them may be touched (the sanitizers tell). */
static void touch_everything(const void *data, size_t size)
{
	struct elf *e;
	const char *name;
	uint32_t crc;
	struct build_id id;
	uint64_t sum = 0, v;

	if (elf_open_memory(data, size, "damaged", &e, NULL) < 0)
		return;
	for (size_t i = 0; i < e->nsection; i++) {
		size_t len;
		const uint8_t *p = elf_section_data(e, &e->section[i], &len);

		sum += strlen(e->section[i].name);
		if (p && len)
			sum += p[0] + p[len - 1];
	}
	sum += elf_debuglink(e, &name, &crc);
	sum += elf_debugaltlink(e, &name, &id);
	sum += elf_vaddr(e, sum, &v);
	CHECK_CASE(sum != 12345, "read a damaged file");
	elf_free(e);
}

static void damaged(void)
{
	AUTO_FREE char *whole = NULL;
	size_t size;
	unsigned seed = 7;

	if (file_read("/proc/self/exe", 64u << 20, &whole, &size) < 0) {
		SKIP("cannot read this program");
		return;
	}
	for (size_t n = 0; n < 200; n++) {
		size_t len = n < 100 ? n * 2 : size * n / 200;
		AUTO_FREE char *part = mem_dup(whole, len);

		touch_everything(part, len);
	}
	for (int round = 0; round < 200; round++) {
		AUTO_FREE char *copy = mem_dup(whole, size);

		for (int i = 0; i < 8; i++)
			copy[(size_t)rand_r(&seed) % 64] = (char)rand_r(&seed);
		memcpy(copy, whole, 5);
		touch_everything(copy, size);
	}
}

static void notes(void)
{
	static const uint8_t note[] = { 4, 0, 0,   0,	2,   0, 0, 0, 1, 0,
					0, 0, 'G', 'N', 'U', 0, 9, 9, 0, 0, /* another */
					4, 0, 0,   0,	3,   0, 0, 0, 3, 0,
					0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 0 };
	struct build_id id = { 0 };

	CHECK(elf_note_build_id(note, sizeof(note), false, &id));
	CHECK_INT(id.len, 3);
	CHECK_INT(id.data[2], 3);
	for (size_t n = 0; n < sizeof(note) - 1; n++)
		CHECK_CASE(!elf_note_build_id(note, n, false, &id), "a note cut to %zu bytes", n);
	CHECK(!elf_note_build_id(note, sizeof(note), true, &id));
}

int main(void)
{
	ids();
	self();
	notes();
	damaged();
	return tap_end();
}
