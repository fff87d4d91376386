/* SPDX-License-Identifier: MIT */
/* Types as they are written, and the layout of the records that a program or a header defines. */
#include <string.h>

#include "lang/check/check.h"
#include "lang/parse/parse.h"

static const struct ltype *int_type(struct checker *c, const char *name)
{
	struct parse_int i;

	if (strcmp(name, "bool") == 0 || strcmp(name, "_Bool") == 0)
		return c->boolean;
	return parse_int_type(name, &i) ? lt_int(c->t, i.size, i.is_signed) : NULL;
}

/* Nothing can be computed with them; they have their place in records. */
static const struct ltype *float_type(struct checker *c, const char *name)
{
	uint32_t size = strcmp(name, "float") == 0	   ? 4
			: strcmp(name, "double") == 0	   ? 8
			: strcmp(name, "long double") == 0 ? 16
							   : 0;
	struct lrecord *r;

	if (!size)
		return NULL;
	r = lt_record_find(c->t, name);
	if (!r) {
		r = lt_record_new(c->t, name, false);
		r->size = r->align = size;
		r->filled = true;
	}
	return lt_record(c->t, r);
}

/* An enum of the program or of a header; as wide as its values want it. */
static const struct ltype *enum_made(struct checker *c, const struct cenum *e)
{
	struct lenumerator *list = arena_alloc(&c->p->arena, (e->n + 1) * sizeof(*list));
	const struct cconst *v =
		e->n ? &c->ast->consts.data[e->first] : NULL; /* of a damaged one there are none */
	bool is_signed = false, wide = false;
	struct ltype *t;

	for (size_t k = 0; k < e->n; k++) {
		list[k] = (struct lenumerator){ .value = v[k].value, .name = v[k].name };
		is_signed |= v[k].value < 0;
		wide |= v[k].value != (int32_t)v[k].value && v[k].value != (uint32_t)v[k].value;
	}
	for (size_t k = 0; k < e->n && is_signed; k++)
		wide |= v[k].value != (int32_t)v[k].value;
	t = arena_dup(&c->p->arena, lt_int(c->t, wide ? 8 : 4, is_signed), sizeof(*t));
	t->enum_name = e->name;
	t->enumerator = list;
	t->n = (uint32_t)e->n;
	return t;
}

static const struct ltype *enum_type(struct checker *c, const char *name)
{
	for (size_t i = c->ast->enums.n; i-- > 0;)
		if (strcmp(c->ast->enums.data[i].name, name) == 0)
			return enum_made(c, &c->ast->enums.data[i]);
	return NULL;
}

const struct ltype *check_enum_of(struct checker *c, size_t constant)
{
	vec_each (&c->ast->enums, e)
		if (constant >= e->first && constant - e->first < e->n)
			return enum_made(c, e);
	return NULL;
}

const struct ltype *check_named_type(struct checker *c, const char *name)
{
	const struct ltype *t;
	struct lrecord *r;

	if (strcmp(name, "void") == 0)
		return c->nothing;
	if (strcmp(name, "string") == 0)
		return lt_string(c->t, c->p->config.strlen);
	for (size_t i = c->ast->typedefs.n; i-- > 0;) {
		struct ctypedef *d = &c->ast->typedefs.data[i];

		if (d->busy || strcmp(d->name, name) != 0)
			continue;
		d->busy = true;
		t = check_ctype(c, &d->type);
		d->busy = false;
		return t->kind == LT_NONE ? NULL : t;
	}
	t = float_type(c, name);
	if (!t)
		t = enum_type(c, name);
	if (!t)
		t = int_type(c, name);
	if (t)
		return t;
	r = lt_record_find(c->t, name);
	if (r)
		return lt_record(c->t, r);
	vec_each (&c->ast->records, it)
		if ((*it)->why && strcmp((*it)->name, name) == 0)
			return NULL; /* the kernel may have another of this name */
	if (c->env->type && (t = c->env->type(c->env->ctx, c->t, name)))
		return t;
	return str_starts(name, "enum ") ? lt_int(c->t, 4, false) : NULL;
}

const struct ltype *check_ctype(struct checker *c, const struct ctype *ct)
{
	const struct ltype *t = check_named_type(c, ct->name);

	if (t && t->kind == LT_RECORD && t->rec->opaque && !ct->stars)
		t = NULL;
	/* As in C, a record may point to others that are defined nowhere. */
	if (!t && ct->stars && c->in_record &&
	    (str_starts(ct->name, "struct ") || str_starts(ct->name, "union "))) {
		struct lrecord *r = lt_record_new(c->t, ct->name, false);

		r->filled = r->opaque = true;
		lang_warn(c->d, ct->pos, ct->len, "%s is not known: its fields cannot be read",
			  ct->name);
		t = lt_record(c->t, r);
	}
	if (!t) {
		lang_error(c->d, ct->pos, ct->len, "there is no type '%s'", ct->name);
		vec_each (&c->ast->records, it)
			if ((*it)->why && strcmp((*it)->name, ct->name) == 0)
				lang_hint(c->d,
					  "its definition in the header is not understood: %s",
					  (*it)->why);
		lang_hint(c->d, "define it in the program, or check the kernel's own types: kymo "
				"run -lv 'struct NAME'");
		return c->none;
	}
	for (unsigned i = 0; i < ct->stars; i++)
		t = lt_ptr(c->t, t, LS_ANY);
	if (ct->is_array) {
		if (t->kind == LT_INT && t->size == 1 && strstr(ct->name, "char"))
			return lt_string(c->t, ct->array ? ct->array : 1);
		if (t->kind == LT_STRING)
			return lt_string(c->t, ct->array);
		check_fill(c, t);
		return lt_array(c->t, t, ct->array);
	}
	return t;
}

static uint32_t check_alignment(const struct ltype *t, unsigned depth)
{
	uint32_t a = 1;

	if (t->kind == LT_ARRAY)
		return check_alignment(t->elem, depth + 1);
	if (t->kind == LT_STRING || depth > 16)
		return 1;
	if (t->kind == LT_RECORD && t->rec->align)
		return t->rec->align;
	if (t->kind == LT_RECORD) {
		for (size_t i = 0; i < t->rec->n; i++) {
			uint32_t f = check_alignment(t->rec->field[i].type, depth + 1);

			a = f > a ? f : a;
		}
		while (a > 1 && t->rec->size % a) /* it is packed */
			a /= 2;
		return a;
	}
	return t->size == 2 || t->size == 4 || t->size == 8 ? t->size : 1;
}

/* A record of the program's own whose definition comes later. */
static bool is_later(const struct checker *c, const struct ltype *t)
{
	while (t->kind == LT_ARRAY)
		t = t->elem;
	if (t->kind != LT_RECORD || t->rec->filled)
		return false;
	vec_each (&c->ast->records, it)
		if (strcmp((*it)->name, t->rec->name) == 0)
			return true;
	return false;
}

/* Where the next field may begin, and what the record needs so far. */
struct layout {
	uint64_t bit;
	uint32_t align;
};

/* Bits go on where the last field ended, unless they would cross a boundary of their type. */
static bool place_bits(struct layout *l, const struct crecord_def *def, const struct cfield_def *d,
		       struct lfield *f, uint32_t size)
{
	uint64_t unit = size * 8ull, in;

	if (!unit)
		return false; /* no integer is so small */
	if (!d->bits || (!def->packed && l->bit / unit != (l->bit + d->bits - 1) / unit))
		l->bit = (l->bit + unit - 1) / unit * unit;
	if (!d->bits)
		return true;
	in = def->packed ? l->bit % 8 : l->bit % unit;
	f->offset = (uint32_t)((l->bit - in) / 8);
	f->bit_offset = (uint8_t)in;
	f->bit_size = (uint8_t)d->bits;
	l->bit += d->bits;
	return in + d->bits <= unit;
}

/* C's rules of layout. */
static void check_types_lay_out(struct checker *c, const struct crecord_def *def, struct lrecord *r)
{
	struct layout l = { .align = def->aligned ? def->aligned : 1 };

	*r = (struct lrecord){ .name = r->name, .is_union = r->is_union, .filled = true };
	r->field = arena_alloc(&c->p->arena, def->fields.n * sizeof(*r->field) + 1);
	vec_each (&def->fields, d) {
		struct lfield *f = &r->field[r->n];
		const struct ltype *t, *one;
		uint32_t align, size;

		c->in_record = true;
		t = d->inner ? check_named_type(c, d->inner->name) : check_ctype(c, &d->type);
		c->in_record = false;
		if (!t)
			lang_error(c->d, def->pos, 6, "a part of %s is not understood", def->name);
		if (!t || t->kind == LT_NONE)
			continue;
		if (is_later(c, t)) {
			lang_error(c->d, d->type.pos ? d->type.pos : def->pos,
				   d->type.len ? d->type.len : 6, "%s is defined behind its use",
				   d->type.name);
			continue;
		}
		check_fill(c, t);
		for (one = t; one->kind == LT_ARRAY;)
			one = one->elem;
		if (one->kind == LT_RECORD && one->rec == r) {
			lang_error(c->d, def->pos, 6, "%s contains itself", def->name);
			continue;
		}
		align = def->packed ? 1 : check_alignment(t, 0);
		align = d->aligned > align ? d->aligned : align;
		size = t->kind == LT_RECORD ? t->rec->size : t->size;
		if (d->type.is_array && !d->type.array)
			size = 0; /* it has as many as there are behind it */
		if (size > 1u << 20) {
			lang_error(c->d, def->pos, 6, "%s is too large", def->name);
			continue;
		}
		f->name = d->name;
		f->type = t;
		l.bit = r->is_union ? 0 : l.bit;
		if (d->is_bits && t->kind == LT_INT) {
			if (!place_bits(&l, def, d, f, size))
				lang_error(c->d, def->pos, 6, "the bits of %s lie across words",
					   d->name);
		} else {
			f->offset = (uint32_t)(l.bit + 7) / 8;
			f->offset = (f->offset + align - 1) / align * align;
			l.bit = (f->offset + (uint64_t)size) * 8;
		}
		r->size = (l.bit + 7) / 8 > r->size ? (uint32_t)((l.bit + 7) / 8) : r->size;
		if (d->bits || !d->is_bits)
			l.align = align > l.align ? align : l.align;
		if (d->name[0] || d->inner)
			r->n++;
	}
	r->size = (r->size + l.align - 1) / l.align * l.align;
	r->align = l.align;
}

/* One of a header may have fields nobody knows the size of; it matters only when it is used. */
static void lay_out_header(struct checker *c, struct crecord_def *def, struct lrecord *r)
{
	struct lang_diags own = { 0 }, *d = c->d;

	c->d = &own;
	if (!def->why)
		check_types_lay_out(c, def, r);
	c->d = d;
	vec_each (&own.list, it)
		if (!it->warning && !def->why)
			def->why = arena_strdup(&c->p->arena, it->text);
	if (def->why)
		r->name = ""; /* it is as if it were not there */
	lang_diags_free(&own);
}

void check_records(struct checker *c)
{
	size_t first = c->t->records.n;

	/* All of them first: one may point to another. */
	vec_each (&c->ast->records, it)
		lt_record_new(c->t, (*it)->name, (*it)->is_union);
	for (size_t i = 0; i < c->ast->records.n; i++) {
		struct crecord_def *def = c->ast->records.data[i];

		if (def->from_header)
			lay_out_header(c, def, c->t->records.data[first + i]);
		else
			check_types_lay_out(c, def, c->t->records.data[first + i]);
	}
}
