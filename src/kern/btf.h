/* SPDX-License-Identifier: MIT */
/* The kernel's type information: a type's number by its name, for BPF programs that are tied to
 * a function or tracepoint (fentry, tp_btf). No size in the data is believed without a check. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Newer than the oldest headers this builds with. */
#define BTF_DECL_TAG 17
#define BTF_TYPE_TAG 18
#define BTF_ENUM64 19

struct btf_blob {
	char *data;
	size_t size;
	bool mapped;		     /* data is a mapping, not from malloc */
	const char *types, *strings; /* inside data */
	size_t types_len, strings_len;
};

/* Mapped where the kernel allows it (6.16), else read. -ENOENT: there is none; -EINVAL. */
int btf_load(const char *path, struct btf_blob *ret);
/* Takes the bytes as they are; data is freed by btf_free() even on failure. */
int btf_parse(char *data, size_t size, struct btf_blob *ret);
void btf_free(struct btf_blob *b);

/* The id (from 1) of the first type of this BTF_KIND_* and name; -ENOENT, or -EINVAL. */
int btf_find(const struct btf_blob *b, unsigned kind, const char *name);

/* Where a struct's member is, and how far the next is behind it, in bits. Ends with the first
 * struct of that name, which spares most of the data. */
int btf_member(const struct btf_blob *b, const char *record, const char *member, uint64_t *bit,
	       uint64_t *size);

/* Bytes that follow the head of a type; -1 for a kind that is not known. */
long btf_extra(unsigned kind, unsigned vlen);
