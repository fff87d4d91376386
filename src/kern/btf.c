/* SPDX-License-Identifier: MIT */
#include "kern/btf.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define BTF_LIMIT (64u << 20)

void btf_free(struct btf_blob *b)
{
	if (b->mapped)
		munmap(b->data, b->size);
	else
		free(b->data);
	*b = (struct btf_blob){ 0 };
}

int btf_parse(char *data, size_t size, struct btf_blob *ret)
{
	struct btf_header h;

	*ret = (struct btf_blob){ .data = data, .size = size };
	if (size < sizeof(h))
		return -EINVAL;
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len > size)
		return -EINVAL;
	size -= h.hdr_len;
	if (h.type_off > size || h.type_len > size - h.type_off || h.str_off > size ||
	    h.str_len > size - h.str_off || !h.str_len)
		return -EINVAL;
	ret->types = data + h.hdr_len + h.type_off;
	ret->types_len = h.type_len;
	ret->strings = data + h.hdr_len + h.str_off;
	ret->strings_len = h.str_len;
	/* Every name then ends inside the blob. */
	return ret->strings[h.str_len - 1] == '\0' ? 0 : -EINVAL;
}

static char *map_file(const char *path, size_t *n)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > BTF_LIMIT)
		return NULL;
	*n = (size_t)st.st_size;
	p = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int btf_load(const char *path, struct btf_blob *ret)
{
	size_t n;
	/* Only the kernel's own file cannot shrink while it is mapped. */
	char *data = str_starts(path, "/sys/kernel/btf/") ? map_file(path, &n) : NULL;
	bool mapped = data != NULL;
	int r = mapped ? 0 : file_read(path, BTF_LIMIT, &data, &n);

	if (r < 0)
		return r;
	r = btf_parse(data, n, ret);
	ret->mapped = mapped;
	if (r < 0)
		btf_free(ret);
	return r;
}

long btf_extra(unsigned kind, unsigned vlen)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_DECL_TAG: return 4;
	case BTF_KIND_ARRAY: return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return (long)(vlen * sizeof(struct btf_member));
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return (long)vlen * 8;
	case BTF_KIND_DATASEC:
	case BTF_ENUM64: return (long)vlen * 12;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_TYPE_TAG: return 0;
	default: return -1;
	}
}

static bool btf_is_named(const struct btf_blob *b, uint32_t off, const char *name)
{
	return off < b->strings_len && strcmp(b->strings + off, name) == 0;
}

/* The type's id, and *ret its head; -ENOENT, -EINVAL. */
static int kern_btf_find(const struct btf_blob *b, unsigned kind, unsigned at_least,
			 const char *name, const char **ret)
{
	const char *at = b->types;
	size_t left = b->types_len;
	struct btf_type t;

	for (int id = 1; left >= sizeof(t); id++) {
		long more;

		memcpy(&t, at, sizeof(t));
		more = btf_extra(BTF_INFO_KIND(t.info), BTF_INFO_VLEN(t.info));
		if (more < 0 || (size_t)more > left - sizeof(t))
			return -EINVAL;
		if (BTF_INFO_KIND(t.info) == kind && BTF_INFO_VLEN(t.info) >= at_least &&
		    btf_is_named(b, t.name_off, name)) {
			*ret = at;
			return id;
		}
		at += sizeof(t) + (size_t)more;
		left -= sizeof(t) + (size_t)more;
	}
	return -ENOENT;
}

int btf_find(const struct btf_blob *b, unsigned kind, const char *name)
{
	const char *at;

	return kern_btf_find(b, kind, 0, name, &at);
}

int btf_member(const struct btf_blob *b, const char *record, const char *member, uint64_t *bit,
	       uint64_t *size)
{
	struct btf_type t;
	const char *at;
	int r = kern_btf_find(b, BTF_KIND_STRUCT, 1, record, &at);
	uint32_t mask;

	if (r < 0)
		return r;
	memcpy(&t, at, sizeof(t));
	mask = BTF_INFO_KFLAG(t.info) ? 0xffffff : ~0u; /* above it is a bit field's size */
	at += sizeof(t);
	for (unsigned i = 0; i < BTF_INFO_VLEN(t.info); i++) {
		struct btf_member m[2];

		memcpy(m, at + i * sizeof(*m), sizeof(*m));
		if (!btf_is_named(b, m[0].name_off, member))
			continue;
		*bit = m[0].offset & mask;
		*size = t.size * 8ull - *bit;
		if (i + 1 < BTF_INFO_VLEN(t.info)) {
			memcpy(m + 1, at + (i + 1) * sizeof(*m), sizeof(*m));
			*size = (m[1].offset & mask) - *bit;
		}
		return 0;
	}
	return -ENOENT;
}
