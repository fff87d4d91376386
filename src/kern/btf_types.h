/* SPDX-License-Identifier: MIT */
/*
 * The kernel's types by number and by name: members, parameters, sizes. Opening makes an index of
 * all (about 1 ms for a kernel's 130,000). Whatever is asked for with an id outside gives "void". A
 * module's types refer to the kernel's: open it with those as base.
 */
#pragma once

#include <linux/btf.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "kern/btf.h"

struct btf_types;

/* module NULL: the kernel's own. base: for a module, must outlive it. *ret only on success. */
int btf_types_open(const char *module, const struct btf_types *base, struct btf_types **ret,
		   struct err *e);
/* Takes the blob over, also on failure. */
int btf_types_of(struct btf_blob *blob, const struct btf_types *base, struct btf_types **ret,
		 struct err *e);
void btf_types_free(struct btf_types *b); /* NULL is fine */

/* NULL for 0 (void) and for ids that are not there. */
const struct btf_type *btf_type(const struct btf_types *b, uint32_t id);
const char *btf_name(const struct btf_types *b, uint32_t id); /* "" when it has none */
unsigned btf_kind(const struct btf_types *b, uint32_t id);    /* BTF_KIND_UNKN for void */
uint32_t btf_count(const struct btf_types *b);		      /* ids are below it */
/* By kind (BTF_KIND_UNKN: any) and name; 0: none. A struct with members before an empty twin;
 * the base is asked, too. */
uint32_t btf_by_name(const struct btf_types *b, unsigned kind, const char *name);

/* Every type of a kind, without the base's; a non-zero answer ends it and is handed on. */
int btf_each(const struct btf_types *b, unsigned kind,
	     int (*fn)(void *ctx, uint32_t id, const struct btf_type *t), void *ctx);
/* The i-th value of an enum, and where its name stands among the strings. */
int64_t btf_enum_value(const struct btf_type *t, unsigned i, uint32_t *name);
/* An enumerator's value by its name, and the enum it belongs to; 0: there is none. */
uint32_t btf_enumerator(const struct btf_types *b, const char *name, int64_t *value);

/* Typedefs and qualifiers taken off. */
uint32_t btf_strip(const struct btf_types *b, uint32_t id);
uint64_t btf_size(const struct btf_types *b, uint32_t id);     /* in bytes; 0: void, or not known */
uint32_t btf_target(const struct btf_types *b, uint32_t id);   /* of a pointer or array; 0: none */
uint32_t btf_elements(const struct btf_types *b, uint32_t id); /* of an array */
bool btf_is_signed(const struct btf_types *b, uint32_t id);
bool btf_is_char(const struct btf_types *b, uint32_t id);
/* As in C: "struct sock *", "unsigned int". */
void btf_text(const struct btf_types *b, uint32_t id, struct strbuf *out);

struct btf_found {
	uint32_t type;
	uint64_t offset; /* in bits */
	uint32_t bits;	 /* of a bit field; 0: none */
};
/* A member by name, also of unnamed structs and unions inside. */
bool btf_find_member(const struct btf_types *b, uint32_t id, const char *name,
		     struct btf_found *ret);
void btf_each_member(const struct btf_types *b, uint32_t id,
		     void (*fn)(void *ctx, const char *name), void *ctx);

/* The parameters of a BTF_KIND_FUNC; NULL and 0 when it has none. */
const struct btf_param *btf_params(const struct btf_types *b, uint32_t func, unsigned *n);
uint32_t btf_returns(const struct btf_types *b, uint32_t func); /* 0: void */
const char *btf_str(const struct btf_types *b, uint32_t off);
