/* SPDX-License-Identifier: MIT */
#include "lang/type.h"

#include <string.h>

#define ROUND8(n) (((n) + 7u) & ~7u)

static struct ltype *type_make(struct ltypes *t, struct ltype type)
{
	return arena_dup(t->arena, &type, sizeof(type));
}

struct ltype *lt_new(struct ltypes *t, enum lt_kind kind, uint32_t size)
{
	return type_make(t, (struct ltype){ .kind = kind, .size = size, .space = LS_BPF });
}

const struct ltype *lt_int(struct ltypes *t, unsigned size, bool is_signed)
{
	return type_make(t, (struct ltype){ LT_INT, size, is_signed, .space = LS_BPF });
}

const struct ltype *lt_bool(struct ltypes *t)
{
	return type_make(t, (struct ltype){ LT_INT, 1, .is_bool = true, .space = LS_BPF });
}

const struct ltype *lt_string(struct ltypes *t, uint32_t size)
{
	return lt_new(t, LT_STRING, size ? size : 1);
}

const struct ltype *lt_ptr(struct ltypes *t, const struct ltype *to, enum lt_space space)
{
	return type_make(t, (struct ltype){ LT_PTR, 8, .elem = to, .space = space });
}

const struct ltype *lt_array(struct ltypes *t, const struct ltype *elem, uint32_t n)
{
	return type_make(t, (struct ltype){ LT_ARRAY, elem->size * n, .elem = elem, .n = n,
					    .space = LS_BPF });
}

const struct ltype *lt_record(struct ltypes *t, struct lrecord *rec)
{
	return type_make(t, (struct ltype){ LT_RECORD, rec->size, .rec = rec, .space = LS_BPF });
}

const struct ltype *lt_tuple(struct ltypes *t, const struct ltype **item, uint32_t n)
{
	struct ltype *r = lt_new(t, LT_TUPLE, 0);
	uint32_t *offset = arena_alloc(t->arena, n * sizeof(*offset) + 1);

	r->item = arena_alloc(t->arena, n * sizeof(*item) + 1);
	for (uint32_t i = 0; i < n; i++) {
		r->item[i] = item[i];
		offset[i] = r->size;
		r->size += lt_stored(item[i]);
	}
	r->offset = offset;
	r->n = n;
	return r;
}

const struct ltype *lt_in(struct ltypes *t, const struct ltype *type, enum lt_space space)
{
	struct ltype *r;

	if (type->space == space || (type->kind != LT_RECORD && type->kind != LT_ARRAY))
		return type;
	r = arena_dup(t->arena, type, sizeof(*type));
	r->space = space;
	return r;
}

uint32_t lt_step(const struct ltype *pointer)
{
	const struct ltype *t = pointer->elem;
	uint32_t size = t->kind == LT_RECORD ? t->rec->size : t->kind == LT_PTR ? 8 : t->size;

	return size ? size : 1;
}

bool lt_same_enum(const struct ltype *a, const struct ltype *b)
{
	return a->n == b->n && (!a->n || strcmp(a->enumerator[0].name, b->enumerator[0].name) == 0);
}

struct lrecord *lt_record_new(struct ltypes *t, const char *name, bool is_union)
{
	struct lrecord *r = arena_alloc(t->arena, sizeof(*r));

	r->name = arena_strdup(t->arena, name);
	r->is_union = is_union;
	vec_push(&t->records, r);
	return r;
}

struct lrecord *lt_record_find(const struct ltypes *t, const char *name)
{
	for (size_t i = t->records.n; i-- > 0;)
		if (strcmp(t->records.data[i]->name, name) == 0)
			return t->records.data[i];
	return NULL;
}

static const struct lfield *type_find_field(const struct lrecord *r, const char *name,
					    uint32_t *offset, unsigned depth)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct lfield *f = &r->field[i], *in;

		if (strcmp(f->name, name) == 0) {
			*offset = f->offset;
			return f;
		}
		if (!f->name[0] && f->type && f->type->kind == LT_RECORD && depth < 16 &&
		    (in = type_find_field(f->type->rec, name, offset, depth + 1))) {
			*offset += f->offset;
			return in;
		}
	}
	return NULL;
}

const struct lfield *lt_field(const struct lrecord *r, const char *name, uint32_t *offset)
{
	return *name ? type_find_field(r, name, offset, 0) : NULL;
}

bool lt_is_agg(const struct ltype *t)
{
	return t->kind >= LT_COUNT;
}

bool lt_is_num(const struct ltype *t)
{
	return t->kind == LT_INT || t->kind == LT_PTR;
}

bool lt_is_word(const struct ltype *t)
{
	switch (t->kind) {
	case LT_INT:
	case LT_PTR:
	case LT_KSYM:
	case LT_USERNAME:
	case LT_PROBE:
	case LT_STRERROR:
	case LT_KSTACK:
	case LT_TIMESTAMP:
	case LT_CGROUP_PATH:
	case LT_NAME:
	case LT_NONE:
	case LT_VOID: return true;
	default: return false;
	}
}

bool lt_is_stack(const struct ltype *t)
{
	return t->kind == LT_KSTACK || t->kind == LT_USTACK;
}

uint32_t lt_stored(const struct ltype *t)
{
	return lt_is_word(t) ? 8 : ROUND8(t->size);
}

bool lt_fits(const struct ltype *to, const struct ltype *from)
{
	if (lt_is_num(to) && lt_is_num(from))
		return to->kind == from->kind || to->kind == LT_INT || from->kind == LT_INT;
	if (to->kind != from->kind)
		return false;
	if (to->kind == LT_TUPLE) {
		if (to->n != from->n)
			return false;
		for (uint32_t i = 0; i < to->n; i++)
			if (!lt_fits(to->item[i], from->item[i]))
				return false;
	}
	if (to->kind == LT_RECORD)
		return to->rec == from->rec || strcmp(to->rec->name, from->rec->name) == 0;
	if (to->kind == LT_ARRAY)
		return to->size == from->size;
	return true;
}

uint32_t lt_hist_buckets(unsigned bits)
{
	/* negative, zero, exact values up to 2^bits, then 2^bits for each power of two */
	return 2 + ((65 - bits) << bits);
}

uint32_t lt_lhist_buckets(const struct ltype *t)
{
	return (uint32_t)((t->max - t->min) / t->step) + 2;
}

void lt_text(const struct ltype *t, struct strbuf *b)
{
	static const char *const names[] = {
		[LT_NONE] = "none",	    [LT_VOID] = "void",
		[LT_KSYM] = "ksym_t",	    [LT_USYM] = "usym_t",
		[LT_KSTACK] = "kstack",	    [LT_USTACK] = "ustack",
		[LT_INET] = "inet",	    [LT_MAC] = "mac_address",
		[LT_BUF] = "buffer",	    [LT_USERNAME] = "username",
		[LT_PROBE] = "probe",	    [LT_TIMESTAMP] = "timestamp",
		[LT_STRERROR] = "strerror", [LT_CGROUP_PATH] = "cgroup_path",
		[LT_COUNT] = "count_t",	    [LT_SUM] = "sum_t",
		[LT_MIN] = "min_t",	    [LT_MAX] = "max_t",
		[LT_AVG] = "avg_t",	    [LT_STATS] = "stats_t",
		[LT_HIST] = "hist_t",	    [LT_LHIST] = "lhist_t",
		[LT_TSERIES] = "tseries_t", [LT_NAME] = "name",
	};

	switch (t->kind) {
	case LT_INT:
		if (t->is_bool)
			strbuf_puts(b, "bool");
		else
			strbuf_printf(b, "%sint%u", t->is_signed ? "" : "u", t->size * 8);
		break;
	case LT_STRING: strbuf_printf(b, "string[%u]", t->size); break;
	case LT_PTR:
		lt_text(t->elem, b);
		strbuf_puts(b, " *");
		break;
	case LT_RECORD: strbuf_puts(b, t->rec->name); break;
	case LT_ARRAY:
		lt_text(t->elem, b);
		strbuf_printf(b, "[%u]", t->n);
		break;
	case LT_TUPLE:
		strbuf_putc(b, '(');
		for (uint32_t i = 0; i < t->n; i++) {
			if (i)
				strbuf_putc(b, ',');
			lt_text(t->item[i], b);
		}
		strbuf_putc(b, ')');
		break;
	default: strbuf_puts(b, names[t->kind]);
	}
}
