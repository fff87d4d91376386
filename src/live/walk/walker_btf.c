/* SPDX-License-Identifier: MIT */
/*
 * The few of the kernel's types that the walker's programs look into, as a file of
 * type information for libbpf, which would take 15 ms to read all of them. They are
 * kept in the cache by the kernel's build-id.
 */
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "kern/btf_types.h"
#include "live/about/ksyms.h"
#include "live/walk/walker_priv.h"
#include "sym/find/cache.h"

#define CACHE_NAME "walk-types-2" /* another number when parts change */

struct part {
	const char *name;
	const char *member[6];
};
static const struct part parts[] = {
	{ "task_struct", { "flags", "tgid", "mm", "real_parent", "in_execve" } },
	{ "pt_regs", { "pstate", "orig_ax", "syscallno" } },
};

struct maker {
	struct strbuf types, strings;
};

static uint32_t walker_btf_text(struct maker *m, const char *s)
{
	uint32_t at = (uint32_t)m->strings.n;

	strbuf_add(&m->strings, s, strlen(s) + 1);
	return at;
}

static void type(struct maker *m, uint32_t name, uint32_t info, uint32_t size)
{
	strbuf_add(&m->types,
		   (const char *)&(struct btf_type){ .name_off = name, .info = info, .size = size },
		   sizeof(struct btf_type));
}

/* Types 1 to 4: numbers of 1, 2, 4 and 8 bytes; 5: a pointer to anything. */
static void basic(struct maker *m)
{
	for (uint32_t size = 1; size <= 8; size *= 2) {
		AUTO_FREE char *name = mem_printf("u%u", size * 8);
		uint32_t bits = size * 8;

		type(m, walker_btf_text(m, name), BTF_KIND_INT << 24, size);
		strbuf_add(&m->types, (const char *)&bits, sizeof(bits));
	}
	type(m, 0, BTF_KIND_PTR << 24, 0);
}

static uint32_t basic_type(const struct btf_types *b, uint32_t id)
{
	id = btf_strip(b, id);
	if (btf_kind(b, id) == BTF_KIND_PTR)
		return 5;
	switch (btf_size(b, id)) {
	case 1: return 1;
	case 2: return 2;
	case 4: return 3;
	default: return 4;
	}
}

static bool walker_btf_record(struct maker *m, const struct btf_types *b, const struct part *p)
{
	uint32_t id = btf_by_name(b, BTF_KIND_STRUCT, p->name), n = 0;
	struct btf_member member[ARRAY_SIZE(p->member)];
	struct btf_found f;

	if (!id)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(p->member) && p->member[i]; i++)
		if (btf_find_member(b, id, p->member[i], &f) && f.offset < 1u << 24 && f.bits < 256)
			member[n++] =
				(struct btf_member){ .name_off = walker_btf_text(m, p->member[i]),
						     .type = basic_type(b, f.type),
						     .offset = f.bits << 24 | (uint32_t)f.offset };
	type(m, walker_btf_text(m, p->name), 1u << 31 | BTF_KIND_STRUCT << 24 | n,
	     (uint32_t)btf_size(b, id));
	strbuf_add(&m->types, (const char *)member, n * sizeof(*member));
	return true;
}

static bool walker_btf_make(struct strbuf *out)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h) };
	struct btf_types *types = NULL;
	struct maker m = { 0 };
	struct err e = { 0 };
	bool good = true;

	if (btf_types_open(NULL, NULL, &types, &e) < 0)
		return false;
	strbuf_putc(&m.strings, '\0');
	basic(&m);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		good &= walker_btf_record(&m, types, &parts[i]);
	btf_types_free(types);
	h.type_len = h.str_off = (uint32_t)m.types.n;
	h.str_len = (uint32_t)m.strings.n;
	strbuf_add(out, (const char *)&h, sizeof(h));
	strbuf_add(out, m.types.data, m.types.n);
	strbuf_add(out, m.strings.data, m.strings.n);
	strbuf_free(&m.types);
	strbuf_free(&m.strings);
	return good;
}

int walker_btf(bool keep)
{
	AUTO_CLOSE int cache = keep ? cache_open(NULL, NULL) : -1;
	AUTO_STRBUF out = { 0 };
	struct build_id id;
	bool known = cache >= 0 && ksyms_build_id(&id);
	struct cache_key key = known ? cache_key_kernel(&id) : (struct cache_key){ 0 };
	int fd = known ? cache_get(cache, &key, CACHE_NAME) : -1;

	if (fd >= 0)
		return fd;
	if (!walker_btf_make(&out))
		return -1;
	if (known)
		cache_write(cache, &key, CACHE_NAME, out.data, out.n, NULL);
	fd = memfd_create("kymo-types", MFD_CLOEXEC);
	if (fd >= 0 && file_write_all(fd, out.data, out.n) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}
