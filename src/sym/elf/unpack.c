/* SPDX-License-Identifier: MIT */
#include "sym/elf/elf.h"

#include "base/mem.h"
#include "base/unpack.h"

#ifndef ELFCOMPRESS_ZSTD
#	define ELFCOMPRESS_ZSTD 2
#endif

/* zlib expands up to 1032 times; a claim beyond that is a lie. zstd has no such bound. */
#define ZLIB_EXPANDS 1032
/* What real sections come to at most. */
#define LIKELY_EXPANDS 32

static int unpack_into(const struct elf *e, uint32_t type, const uint8_t *in, size_t len,
		       uint64_t size, size_t limit, const uint8_t **ret, size_t *ret_len,
		       void **own)
{
	struct budget_watch watch = budget_watch();
	uint8_t *out;
	int r;

	if (size > limit || (type == ELFCOMPRESS_ZLIB && size / ZLIB_EXPANDS > len))
		return -EFBIG;
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return -ENOTSUP;
	if (budget_take(e->budget, size, e->path, NULL) < 0)
		return -EFBIG;
	if (budget_watch_look(&watch, e->path, NULL) < 0)
		return -ETIME;
	/* Untouched pages cost nothing, so a zstd section that lies about its size does no harm. */
	out = size / LIKELY_EXPANDS <= len ? mem_table(size, false) : malloc(size ? size : 1);
	if (!out)
		return -ENOMEM;
	r = unpack_exactly(type == ELFCOMPRESS_ZLIB ? UNPACK_ZLIB : UNPACK_ZSTD, in, len, out,
			   size);
	budget_watch_end(&watch);
	if (r < 0) {
		free(out);
		return r;
	}
	*own = out;
	*ret = out;
	*ret_len = size;
	return 0;
}

int elf_unpack_section(const struct elf *e, const struct elf_section *s, size_t limit,
		       const uint8_t **ret, size_t *ret_len, void **own)
{
	size_t len;
	const uint8_t *data = elf_section_data(e, s, &len);

	*own = NULL;
	if (!data)
		return -ENOENT;
	if (s->flags & SHF_COMPRESSED) {
		int r;

		if (len < ELF_SIZE(e, Chdr))
			return -EBADMSG;
		r = unpack_into(e, elf_u32(e, data), data + ELF_SIZE(e, Chdr),
				len - ELF_SIZE(e, Chdr), ELF_FIELD(e, data, Chdr, ch_size), limit,
				ret, ret_len, own);
		if (r == 0 && e->mapped) /* it is not needed twice */
			mem_drop(data, len);
		return r;
	}
	if (strncmp(s->name, ".zdebug", 7) == 0) {
		uint64_t size = 0;

		if (len < 12 || memcmp(data, "ZLIB", 4) != 0)
			return -EBADMSG;
		for (int i = 4; i < 12; i++)
			size = size << 8 | data[i];
		return unpack_into(e, ELFCOMPRESS_ZLIB, data + 12, len - 12, size, limit, ret,
				   ret_len, own);
	}
	*ret = data;
	*ret_len = len;
	return 0;
}
