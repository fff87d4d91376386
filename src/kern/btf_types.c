/* SPDX-License-Identifier: MIT */
#include "kern/btf_types.h"

#include <string.h>

#include "base/mem.h"

#define STEPS_MAX \
	64 /* typedefs of typedefs, structs in structs; bad data may go round in circles */

struct btf_types {
	struct btf_blob blob;
	const struct btf_types *base;
	uint32_t first, n; /* ids [first, first + n) are ours */
	uint32_t first_str;
	uint32_t *at; /* where each is, by id - first */
};

int btf_types_of(struct btf_blob *blob, const struct btf_types *base, struct btf_types **ret,
		 struct err *e)
{
	struct btf_types *b = mem_alloc(sizeof(*b));
	size_t at = 0, cap = 0;

	b->blob = *blob;
	*blob = (struct btf_blob){ 0 };
	b->base = base;
	b->first = base ? btf_count(base) : 1;
	b->first_str = base ? base->first_str + (uint32_t)base->blob.strings_len : 0;
	while (b->blob.types_len - at >= sizeof(struct btf_type)) {
		struct btf_type t;
		long more;

		memcpy(&t, b->blob.types + at, sizeof(t));
		more = btf_extra(BTF_INFO_KIND(t.info), BTF_INFO_VLEN(t.info));
		if (more < 0 || (size_t)more > b->blob.types_len - at - sizeof(t)) {
			btf_types_free(b);
			return err_set(e, EINVAL,
				       "the kernel's type information (BTF) is of a "
				       "form that is not known here");
		}
		if (b->n == cap)
			b->at = mem_grow(b->at, (cap = cap ? cap * 2 : 1 << 14) * sizeof(*b->at));
		b->at[b->n++] = (uint32_t)at;
		at += sizeof(t) + (size_t)more;
	}
	*ret = b;
	return 0;
}

int btf_types_open(const char *module, const struct btf_types *base, struct btf_types **ret,
		   struct err *e)
{
	AUTO_FREE char *path = mem_printf("/sys/kernel/btf/%s", module ? module : "vmlinux");
	struct btf_blob blob;
	int r = btf_load(path, &blob);

	if (r < 0) {
		err_set(e, -r, "cannot read the kernel's types from %s: %s", path, strerror(-r));
		return r == -ENOENT ? err_hint(e, "the kernel was built without "
						  "CONFIG_DEBUG_INFO_BTF")
				    : r;
	}
	return btf_types_of(&blob, base, ret, e);
}

void btf_types_free(struct btf_types *b)
{
	if (!b)
		return;
	btf_free(&b->blob);
	free(b->at);
	free(b);
}

uint32_t btf_count(const struct btf_types *b)
{
	return b->first + b->n;
}

/* The blob is not aligned for the kernel's structs in theory; it is in practice (4 bytes). */
const struct btf_type *btf_type(const struct btf_types *b, uint32_t id)
{
	for (; b; b = b->base)
		if (id >= b->first)
			return id - b->first < b->n
				       ? (const void *)(b->blob.types + b->at[id - b->first])
				       : NULL;
	return NULL;
}

const char *btf_str(const struct btf_types *b, uint32_t off)
{
	for (; b; b = b->base)
		if (off >= b->first_str)
			return off - b->first_str < b->blob.strings_len
				       ? b->blob.strings + (off - b->first_str)
				       : "";
	return "";
}

const char *btf_name(const struct btf_types *b, uint32_t id)
{
	const struct btf_type *t = btf_type(b, id);

	return t ? btf_str(b, t->name_off) : "";
}

unsigned btf_kind(const struct btf_types *b, uint32_t id)
{
	const struct btf_type *t = btf_type(b, id);

	return t ? BTF_INFO_KIND(t->info) : BTF_KIND_UNKN;
}

/* Where a name is among the strings, which has each once: numbers are then compared. 0: nowhere. */
static uint32_t string_of(const struct btf_types *b, const char *name)
{
	size_t n = strlen(name) + 1;
	const char *s = b->blob.strings, *end = s + b->blob.strings_len;

	while ((s = memmem(s, (size_t)(end - s), name, n))) {
		if (s > b->blob.strings && s[-1] == '\0')
			return b->first_str + (uint32_t)(s - b->blob.strings);
		s++;
	}
	return 0;
}

static const struct btf_type *own_type(const struct btf_types *b, uint32_t i)
{
	return (const void *)(b->blob.types + b->at[i]);
}

static bool is_record(unsigned kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static uint32_t own_by_name(const struct btf_types *b, unsigned kind, uint32_t name)
{
	uint32_t empty = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct btf_type *t = own_type(b, i);
		unsigned its = BTF_INFO_KIND(t->info);

		if (t->name_off != name || (kind != BTF_KIND_UNKN && its != kind))
			continue;
		if (!is_record(its) || BTF_INFO_VLEN(t->info))
			return b->first + i;
		empty = empty ? empty : b->first + i;
	}
	return empty;
}

uint32_t btf_by_name(const struct btf_types *b, unsigned kind, const char *name)
{
	/* a module's types may be called by a string of the kernel's */
	for (const struct btf_types *own = b; own && *name; own = own->base)
		for (const struct btf_types *strings = own; strings; strings = strings->base) {
			uint32_t str = string_of(strings, name),
				 id = str ? own_by_name(own, kind, str) : 0;

			if (id)
				return id;
		}
	return 0;
}

int btf_each(const struct btf_types *b, unsigned kind,
	     int (*fn)(void *ctx, uint32_t id, const struct btf_type *t), void *ctx)
{
	int r = 0;

	for (uint32_t i = 0; i < b->n && !r; i++)
		if (BTF_INFO_KIND(own_type(b, i)->info) == kind)
			r = fn(ctx, b->first + i, own_type(b, i));
	return r;
}

int64_t btf_enum_value(const struct btf_type *t, unsigned i, uint32_t *name)
{
	const struct btf_enum *e = (const void *)(t + 1);
	/* three words each: name, low and high half of the value */
	const uint32_t *wide = (const uint32_t *)(t + 1) + 3 * i;

	if (BTF_INFO_KIND(t->info) == BTF_ENUM64) {
		*name = wide[0];
		return (int64_t)(wide[1] | (uint64_t)wide[2] << 32);
	}
	*name = e[i].name_off;
	return BTF_INFO_KFLAG(t->info) ? e[i].val : (int64_t)(uint32_t)e[i].val;
}

struct enumerator {
	uint32_t name, id;
	int64_t value;
};

static int find_enum(void *ctx, uint32_t id, const struct btf_type *t)
{
	struct enumerator *want = ctx;
	uint32_t name;

	for (unsigned i = 0; i < BTF_INFO_VLEN(t->info) && !want->id; i++) {
		want->value = btf_enum_value(t, i, &name);
		want->id = name == want->name ? id : 0;
	}
	return want->id != 0;
}

uint32_t btf_enumerator(const struct btf_types *b, const char *name, int64_t *value)
{
	struct enumerator want = { .name = string_of(b, name) };

	if (!want.name || (!btf_each(b, BTF_KIND_ENUM, find_enum, &want) &&
			   !btf_each(b, BTF_ENUM64, find_enum, &want)))
		return 0;
	*value = want.value;
	return want.id;
}

uint32_t btf_strip(const struct btf_types *b, uint32_t id)
{
	for (int i = 0; i < STEPS_MAX; i++) {
		const struct btf_type *t = btf_type(b, id);

		switch (t ? BTF_INFO_KIND(t->info) : BTF_KIND_UNKN) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_TYPE_TAG: id = t->type; break;
		default: return id;
		}
	}
	return 0;
}

static const struct btf_array *btf_types_array(const struct btf_types *b, uint32_t id)
{
	return btf_kind(b, id) == BTF_KIND_ARRAY ? (const void *)(btf_type(b, id) + 1) : NULL;
}

uint64_t btf_size(const struct btf_types *b, uint32_t id)
{
	uint64_t n = 1;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct btf_type *t;
		const struct btf_array *a;

		id = btf_strip(b, id);
		t = btf_type(b, id);
		switch (t ? BTF_INFO_KIND(t->info) : BTF_KIND_UNKN) {
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_FLOAT:
		case BTF_ENUM64: return n * t->size;
		case BTF_KIND_PTR: return n * sizeof(void *);
		case BTF_KIND_ARRAY:
			a = btf_types_array(b, id);
			n = n * a->nelems;
			if (n >> 32)
				return 0;
			id = a->type;
			break;
		default: return 0;
		}
	}
	return 0;
}

uint32_t btf_target(const struct btf_types *b, uint32_t id)
{
	const struct btf_array *a;

	id = btf_strip(b, id);
	a = btf_types_array(b, id);
	if (a)
		return a->type;
	return btf_kind(b, id) == BTF_KIND_PTR ? btf_type(b, id)->type : 0;
}

uint32_t btf_elements(const struct btf_types *b, uint32_t id)
{
	const struct btf_array *a = btf_types_array(b, btf_strip(b, id));

	return a ? a->nelems : 0;
}

bool btf_is_signed(const struct btf_types *b, uint32_t id)
{
	const struct btf_type *t = btf_type(b, btf_strip(b, id));
	uint32_t info;

	if (!t)
		return false;
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		memcpy(&info, t + 1, sizeof(info));
		return BTF_INT_ENCODING(info) & BTF_INT_SIGNED;
	case BTF_KIND_ENUM:
	case BTF_ENUM64: return BTF_INFO_KFLAG(t->info);
	default: return false;
	}
}

bool btf_is_char(const struct btf_types *b, uint32_t id)
{
	id = btf_strip(b, id);
	return btf_kind(b, id) == BTF_KIND_INT && btf_size(b, id) == 1 &&
	       strstr(btf_name(b, id), "char");
}

static void btf_types_text(const struct btf_types *b, uint32_t id, struct strbuf *out, int depth)
{
	const struct btf_type *t = btf_type(b, id);
	const char *name = btf_name(b, id);

	if (!t || depth > STEPS_MAX) {
		strbuf_puts(out, "void");
		return;
	}
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_CONST:
		strbuf_puts(out, "const ");
		btf_types_text(b, t->type, out, depth + 1);
		break;
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_TYPE_TAG: btf_types_text(b, t->type, out, depth + 1); break;
	case BTF_KIND_PTR:
		btf_types_text(b, t->type, out, depth + 1);
		strbuf_puts(out, out->n && out->data[out->n - 1] == '*' ? "*" : " *");
		break;
	case BTF_KIND_ARRAY:
		btf_types_text(b, btf_types_array(b, id)->type, out, depth + 1);
		strbuf_printf(out, "[%u]", btf_types_array(b, id)->nelems);
		break;
	case BTF_KIND_STRUCT: strbuf_printf(out, "struct %s", *name ? name : "{...}"); break;
	case BTF_KIND_UNION: strbuf_printf(out, "union %s", *name ? name : "{...}"); break;
	case BTF_KIND_FWD:
		strbuf_printf(out, "%s %s", BTF_INFO_KFLAG(t->info) ? "union" : "struct", name);
		break;
	case BTF_KIND_ENUM:
	case BTF_ENUM64: strbuf_printf(out, "enum %s", *name ? name : "{...}"); break;
	case BTF_KIND_FUNC_PROTO: strbuf_puts(out, "(function)"); break;
	default: strbuf_puts(out, *name ? name : "?");
	}
}

void btf_text(const struct btf_types *b, uint32_t id, struct strbuf *out)
{
	btf_types_text(b, id, out, 0);
}

static const struct btf_member *members(const struct btf_types *b, uint32_t id, unsigned *n,
					bool *fields)
{
	const struct btf_type *t = btf_type(b, btf_strip(b, id));

	*n = 0;
	if (!t || !is_record(BTF_INFO_KIND(t->info)))
		return NULL;
	*n = BTF_INFO_VLEN(t->info);
	*fields = BTF_INFO_KFLAG(t->info);
	return (const void *)(t + 1);
}

static bool find_member(const struct btf_types *b, uint32_t id, const char *name,
			struct btf_found *ret, int depth)
{
	unsigned n;
	bool fields;
	const struct btf_member *m = members(b, id, &n, &fields);

	for (unsigned i = 0; i < n; i++) {
		const char *its = btf_str(b, m[i].name_off);
		uint64_t at = fields ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;

		if (*its && strcmp(its, name) == 0) {
			*ret = (struct btf_found){ m[i].type, at,
						   fields ? BTF_MEMBER_BITFIELD_SIZE(m[i].offset)
							  : 0 };
			return true;
		}
		if (!*its && depth < STEPS_MAX && find_member(b, m[i].type, name, ret, depth + 1)) {
			ret->offset += at;
			return true;
		}
	}
	return false;
}

bool btf_find_member(const struct btf_types *b, uint32_t id, const char *name,
		     struct btf_found *ret)
{
	return find_member(b, id, name, ret, 0);
}

static void each_member(const struct btf_types *b, uint32_t id,
			void (*fn)(void *ctx, const char *name), void *ctx, int depth)
{
	unsigned n;
	bool fields;
	const struct btf_member *m = members(b, id, &n, &fields);

	for (unsigned i = 0; i < n; i++) {
		const char *its = btf_str(b, m[i].name_off);

		if (*its)
			fn(ctx, its);
		else if (depth < STEPS_MAX)
			each_member(b, m[i].type, fn, ctx, depth + 1);
	}
}

void btf_each_member(const struct btf_types *b, uint32_t id,
		     void (*fn)(void *ctx, const char *name), void *ctx)
{
	each_member(b, id, fn, ctx, 0);
}

static const struct btf_type *proto(const struct btf_types *b, uint32_t func)
{
	const struct btf_type *f = btf_type(b, func),
			      *p = f && BTF_INFO_KIND(f->info) == BTF_KIND_FUNC
					   ? btf_type(b, f->type)
					   : NULL;

	return p && BTF_INFO_KIND(p->info) == BTF_KIND_FUNC_PROTO ? p : NULL;
}

const struct btf_param *btf_params(const struct btf_types *b, uint32_t func, unsigned *n)
{
	const struct btf_type *p = proto(b, func);

	*n = p ? BTF_INFO_VLEN(p->info) : 0;
	return p ? (const void *)(p + 1) : NULL;
}

uint32_t btf_returns(const struct btf_types *b, uint32_t func)
{
	const struct btf_type *p = proto(b, func);

	return p ? p->type : 0;
}
