/* SPDX-License-Identifier: MIT */
/* The kernel's types as types of the language. */
#include <linux/btf.h>
#include <string.h>

#include "live/run/env.h"

/* Through typedef, const, volatile and the like; *id is changed. */
static const struct btf_type *plain_type(const struct btf_types *b, uint32_t *id)
{
	*id = btf_strip(b, *id);
	return btf_type(b, *id);
}

static const struct ltype *run_types_convert(struct run_env *r, struct ltypes *t, uint32_t id,
					     unsigned depth);

static struct lrecord *run_types_record(struct run_env *r, struct ltypes *t, uint32_t id,
					const struct btf_type *b)
{
	bool is_union = BTF_INFO_KIND(b->info) == BTF_KIND_UNION;
	const char *name = btf_str(r->btf, b->name_off);
	struct lrecord *rec;
	char text[128];

	if (*name)
		snprintf(text, sizeof(text), "%s %s", is_union ? "union" : "struct", name);
	else
		snprintf(text, sizeof(text), "(type %u)", id);
	rec = lt_record_find(t, text);
	if (rec)
		return rec;
	rec = lt_record_new(t, text, is_union);
	rec->id = id;
	rec->size = BTF_INFO_KIND(b->info) == BTF_KIND_FWD ? 0 : b->size;
	rec->filled = BTF_INFO_KIND(b->info) == BTF_KIND_FWD;
	return rec;
}

static const struct ltype *run_types_array(struct run_env *r, struct ltypes *t,
					   const struct btf_type *b, unsigned depth)
{
	const struct btf_array *a = (const void *)(b + 1);
	uint32_t elem = a->type, n = a->nelems > 1u << 20 ? 1 : a->nelems;
	const struct btf_type *plain = plain_type(r->btf, &elem);

	if (plain && BTF_INFO_KIND(plain->info) == BTF_KIND_INT && plain->size == 1 &&
	    strcmp(btf_str(r->btf, plain->name_off), "char") == 0)
		return lt_string(t, n);
	return lt_array(t, run_types_convert(r, t, a->type, depth + 1), n);
}

/* Is a pointer marked as the user's? */
static bool is_user(const struct run_env *r, uint32_t id)
{
	const struct btf_type *b = btf_type(r->btf, id);

	return b && BTF_INFO_KIND(b->info) == BTF_TYPE_TAG &&
	       strcmp(btf_str(r->btf, b->name_off), "user") == 0;
}

/* A number whose values have names. */
static const struct ltype *run_types_enumeration(struct run_env *r, struct ltypes *t,
						 const struct btf_type *b)
{
	bool wide = BTF_INFO_KIND(b->info) == BTF_ENUM64;
	const struct ltype *plain =
		lt_int(t, wide || b->size > 8 ? 8 : b->size, BTF_INFO_KFLAG(b->info));
	uint32_t n = BTF_INFO_VLEN(b->info), name;
	struct lenumerator *v = arena_alloc(t->arena, (n + 1) * sizeof(*v));
	struct ltype *type = arena_dup(t->arena, plain, sizeof(*plain));

	for (uint32_t i = 0; i < n; i++) {
		int64_t value = btf_enum_value(b, i, &name);

		v[i] = (struct lenumerator){ value, arena_strdup(t->arena, btf_str(r->btf, name)) };
	}
	type->enum_name = arena_strdup(t->arena, btf_str(r->btf, b->name_off));
	type->enumerator = v;
	type->n = n;
	return type;
}

static const struct ltype *run_types_convert(struct run_env *r, struct ltypes *t, uint32_t id,
					     unsigned depth)
{
	uint32_t plain = id;
	const struct btf_type *b = plain_type(r->btf, &plain);
	uint32_t info;

	if (!b || depth > 32)
		return lt_new(t, LT_VOID, 0);
	switch (BTF_INFO_KIND(b->info)) {
	case BTF_KIND_INT:
		memcpy(&info, b + 1, sizeof(info));
		if (BTF_INT_ENCODING(info) & BTF_INT_BOOL)
			return lt_bool(t);
		return lt_int(t, b->size && b->size < 8 ? b->size : 8,
			      BTF_INT_ENCODING(info) & BTF_INT_SIGNED);
	case BTF_KIND_ENUM:
	case BTF_ENUM64: return run_types_enumeration(r, t, b);
	case BTF_KIND_PTR:
		return lt_ptr(t, run_types_convert(r, t, b->type, depth + 1),
			      is_user(r, b->type) ? LS_USER : LS_KERNEL);
	case BTF_KIND_ARRAY: return run_types_array(r, t, b, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD: return lt_record(t, run_types_record(r, t, plain, b));
	default: return lt_new(t, LT_VOID, 0);
	}
}

const struct ltype *run_type(void *ctx, struct ltypes *t, const char *name)
{
	static const struct {
		const char *prefix;
		unsigned kind;
	} kinds[] = { { "struct ", BTF_KIND_STRUCT },
		      { "union ", BTF_KIND_UNION },
		      { "enum ", BTF_KIND_ENUM } };
	struct run_env *r = ctx;
	const struct btf_types *b = run_env_btf(r);
	uint32_t id = 0;

	if (!b)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_starts(name, kinds[i].prefix)) {
			id = btf_by_name(b, kinds[i].kind, name + strlen(kinds[i].prefix));
			return id ? run_types_convert(r, t, id, 0) : NULL;
		}
	id = btf_by_name(b, BTF_KIND_TYPEDEF, name);
	if (!id)
		id = btf_by_name(b, BTF_KIND_INT, name);
	return id ? run_types_convert(r, t, id, 0) : NULL;
}

static void bit_field(struct lfield *f, uint32_t bit, uint32_t size)
{
	uint32_t unit = f->type->size ? f->type->size * 8 : 32;

	f->offset = bit / unit * (unit / 8);
	f->bit_offset = (uint8_t)(bit % unit);
	f->bit_size = (uint8_t)size;
	/* a bit-field that crosses its storage unit is read from its first byte on */
	if (f->bit_offset + size > unit) {
		f->offset = bit / 8;
		f->bit_offset = (uint8_t)(bit % 8);
	}
}

void run_fill(void *ctx, struct ltypes *t, struct lrecord *rec)
{
	struct run_env *r = ctx;
	const struct btf_types *b;
	const struct btf_type *s;
	const struct btf_member *m;
	unsigned n;

	if (run_dwarf_fill(r, t, rec))
		return;
	b = run_env_btf(r);
	s = b && rec->id ? btf_type(b, rec->id) : NULL;
	if (!s ||
	    (BTF_INFO_KIND(s->info) != BTF_KIND_STRUCT && BTF_INFO_KIND(s->info) != BTF_KIND_UNION))
		return;
	n = BTF_INFO_VLEN(s->info);
	m = (const void *)(s + 1);
	rec->field = arena_alloc(t->arena, n * sizeof(*rec->field) + 1);
	for (unsigned i = 0; i < n; i++) {
		struct lfield *f = &rec->field[i];
		uint32_t bit = m[i].offset, size = 0;

		if (BTF_INFO_KFLAG(s->info)) {
			size = BTF_MEMBER_BITFIELD_SIZE(m[i].offset);
			bit = BTF_MEMBER_BIT_OFFSET(m[i].offset);
		}
		f->name = arena_strdup(t->arena, btf_str(b, m[i].name_off));
		f->type = run_types_convert(r, t, m[i].type, 0);
		f->offset = bit / 8;
		if (size)
			bit_field(f, bit, size);
		if (!f->name[0] && f->type->kind == LT_RECORD && !f->type->rec->filled) {
			f->type->rec->filled = true;
			run_fill(ctx, t, f->type->rec);
		}
	}
	rec->n = n;
}

static struct lrecord *run_types_prototype(struct run_env *r, struct ltypes *t, const char *name,
					   uint32_t id, unsigned skip)
{
	const struct btf_type *p = plain_type(r->btf, &id);
	const struct btf_param *param;
	struct lrecord *rec;
	unsigned n;

	if (!p || BTF_INFO_KIND(p->info) != BTF_KIND_FUNC_PROTO)
		return NULL;
	n = BTF_INFO_VLEN(p->info);
	param = (const void *)(p + 1);
	rec = lt_record_new(t, name, false);
	rec->filled = true;
	rec->field = arena_alloc(t->arena, (n + 1) * sizeof(*rec->field));
	for (unsigned i = skip; i < n; i++) {
		struct lfield *f = &rec->field[rec->n];
		const char *arg = btf_str(r->btf, param[i].name_off);

		f->name = *arg ? arena_strdup(t->arena, arg)
			       : arena_printf(t->arena, "arg%u", i - skip);
		f->type = run_types_convert(r, t, param[i].type, 0);
		f->offset = (uint32_t)rec->n * 8;
		rec->n++;
	}
	rec->size = (uint32_t)rec->n * 8;
	if (!skip && p->type) {
		struct lfield *f = &rec->field[rec->n];

		f->name = "$retval";
		f->type = run_types_convert(r, t, p->type, 0);
		f->offset = rec->size;
		rec->n++;
	}
	return rec;
}

struct lrecord *run_args(void *ctx, struct ltypes *t, const struct lang_point *p)
{
	struct run_env *r = ctx;
	const struct btf_types *b;
	struct lrecord *rec;
	char name[160];
	uint32_t id;
	const struct btf_type *type;

	if (p->kind == LP_UPROBE)
		return run_dwarf_args(r, t, p);
	if (p->kind != LP_RAWTP && p->kind != LP_FENTRY && p->kind != LP_FEXIT)
		return NULL;
	snprintf(name, sizeof(name), "arguments of %s:%s",
		 p->kind == LP_RAWTP ? "rawtracepoint" : "function", p->name);
	rec = lt_record_find(t, name);
	b = run_env_btf(r);
	if (rec || !b)
		return rec;
	if (p->kind == LP_RAWTP) { /* functions have names for their arguments, the type has not */
		static const char *const like[] = { "__probestub_", "__traceiter_",
						    "__bpf_trace_" };
		AUTO_FREE char *def = mem_printf("btf_trace_%s", p->name);

		for (size_t i = 0; i < ARRAY_SIZE(like); i++) {
			AUTO_FREE char *func = mem_printf("%s%s", like[i], p->name);

			id = btf_by_name(b, BTF_KIND_FUNC, func);
			type = btf_type(b, id);
			if (type)
				return run_types_prototype(r, t, name, type->type, 1);
		}
		id = btf_by_name(b, BTF_KIND_TYPEDEF, def);
		type = id ? plain_type(b, &id) : NULL;
		return type && BTF_INFO_KIND(type->info) == BTF_KIND_PTR
			       ? run_types_prototype(r, t, name, type->type, 1)
			       : NULL;
	}
	id = btf_by_name(b, BTF_KIND_FUNC, p->name);
	type = btf_type(b, id);
	return type ? run_types_prototype(r, t, name, type->type, 0) : NULL;
}

const struct ltype *run_enumerator(void *ctx, struct ltypes *t, const char *name, int64_t *value)
{
	const struct btf_types *b = run_env_btf(ctx);
	uint32_t id = b ? btf_enumerator(b, name, value) : 0;

	return id ? run_types_enumeration(ctx, t, btf_type(b, id)) : NULL;
}
