/* SPDX-License-Identifier: MIT */
/*
 * Parameters of a program's functions by name, and its types, from debug info. A uprobe stands at
 * the first instruction, where parameters are where the calling convention has them: so names and
 * types come from there, places from their order. Floating-point numbers and structures that are
 * handed over as such are left out.
 */
#include <string.h>

#include "live/probe/target.h"
#include "live/run/env.h"

#define DEPTH_MAX 32
#define DIE_ID 0x80000000u /* ids of records in struct lrecord begin here */

struct run_debug {
	char *path;
	struct probe_target target;
	bool open;
};

struct run_dwarf {
	VEC(struct run_debug) files;
	VEC(struct dwarf_die) dies; /* of records, by id */
};

static struct run_debug *debug_of(struct run_env *r, const char *path)
{
	AUTO_FREE char *full = run_find_file(path);
	struct run_debug *f;
	struct err e = { 0 };

	if (!full)
		return NULL;
	if (!r->dwarf)
		r->dwarf = mem_alloc(sizeof(*r->dwarf));
	vec_each (&r->dwarf->files, it)
		if (strcmp(it->path, full) == 0)
			return it->open ? it : NULL;
	f = vec_add(&r->dwarf->files);
	f->path = mem_strdup(full);
	f->open = probe_target_open(
			  &(struct probe_target_opts){ .exec = full, .no_debuginfod = true },
			  &f->target, &e) == 0;
	return f->open ? f : NULL;
}

static const struct ltype *run_dwarf_convert(struct run_env *r, struct ltypes *t,
					     struct dwarf_die die, unsigned depth);

static const struct ltype *run_dwarf_record(struct run_env *r, struct ltypes *t,
					    const struct dwarf_type *d)
{
	AUTO_STRBUF text = { 0 };
	struct lrecord *rec;

	dwarf_type_text(d->die, &text);
	strbuf_puts(&text, " (of a program)"); /* the kernel may have a type of the same name */
	rec = lt_record_find(t, strbuf_str(&text));
	if (!rec) {
		rec = lt_record_new(t, strbuf_str(&text), false);
		rec->id = DIE_ID | (uint32_t)r->dwarf->dies.n;
		rec->size = (uint32_t)(d->size < UINT32_MAX ? d->size : 0);
		vec_push(&r->dwarf->dies, d->die);
	}
	return lt_record(t, rec);
}

static const struct ltype *run_dwarf_convert(struct run_env *r, struct ltypes *t,
					     struct dwarf_die die, unsigned depth)
{
	struct dwarf_type d = die.u ? dwarf_type(die) : (struct dwarf_type){ .class = DWARF_VOID };
	unsigned size = d.size == 1 || d.size == 2 || d.size == 4 ? (unsigned)d.size : 8;
	uint32_t count = d.count < 1u << 20 ? (uint32_t)d.count : 1;

	if (depth > DEPTH_MAX)
		return lt_new(t, LT_VOID, 0);
	switch (d.class) {
	case DWARF_BOOL: return lt_bool(t);
	case DWARF_INT:
	case DWARF_CHAR:
	case DWARF_ENUM: return lt_int(t, size, d.is_signed);
	case DWARF_POINTER: return lt_ptr(t, run_dwarf_convert(r, t, d.to, depth + 1), LS_USER);
	case DWARF_ARRAY:
		if (d.to.u && dwarf_type(d.to).class == DWARF_CHAR)
			return lt_string(t, count);
		return lt_array(t, run_dwarf_convert(r, t, d.to, depth + 1), count);
	case DWARF_STRUCT: return run_dwarf_record(r, t, &d);
	case DWARF_FLOAT: return lt_array(t, lt_int(t, 1, false), (uint32_t)(d.size & 31));
	default: return lt_new(t, LT_VOID, 0);
	}
}

struct filling {
	struct run_env *r;
	struct ltypes *t;
	struct dwarf_die die;
	VEC(struct lfield) fields;
};

static void add_member(void *ctx, const char *name)
{
	struct filling *f = ctx;
	struct dwarf_member m;
	struct lfield field = { .name = arena_strdup(f->t->arena, name) };

	if (!dwarf_member(f->die, name, &m) || m.offset > UINT32_MAX)
		return;
	field.type = run_dwarf_convert(f->r, f->t, m.type, 0);
	field.offset = (uint32_t)m.offset;
	if (m.bits) {
		field.bit_offset = (uint8_t)m.shift;
		field.bit_size = (uint8_t)m.bits;
	}
	vec_push(&f->fields, field);
}

bool run_dwarf_fill(struct run_env *r, struct ltypes *t, struct lrecord *rec)
{
	struct filling f = { .r = r, .t = t };
	uint32_t at = rec->id & ~DIE_ID;

	if (!(rec->id & DIE_ID))
		return false;
	if (!r->dwarf || at >= r->dwarf->dies.n)
		return true;
	f.die = r->dwarf->dies.data[at];
	dwarf_members(f.die, add_member, &f);
	rec->field = arena_dup(t->arena, f.fields.data, f.fields.n * sizeof(*f.fields.data));
	rec->n = f.fields.n;
	vec_free(&f.fields);
	return true;
}

struct params {
	struct run_env *r;
	struct ltypes *t;
	struct lrecord *rec;
	VEC(struct lfield) fields;
	uint32_t words; /* registers, and then places on the stack, taken so far */
	bool lost;	/* the number of registers used by an earlier parameter is not known */
};

static int add_param(void *ctx, const struct dwarf_var *v)
{
	struct params *p = ctx;
	struct dwarf_type d = v->type.u ? dwarf_type(v->type) : (struct dwarf_type){ 0 };

	if (!v->param || !v->own)
		return 0;
	switch (d.class) {
	case DWARF_BOOL:
	case DWARF_INT:
	case DWARF_CHAR:
	case DWARF_ENUM:
	case DWARF_POINTER:
		if (d.size > 8)
			break;
		if (!p->lost && v->name)
			vec_push(&p->fields,
				 (struct lfield){ .name = arena_strdup(p->t->arena, v->name),
						  .type = run_dwarf_convert(p->r, p->t, v->type, 0),
						  .offset = p->words * 8 });
		p->words++;
		return 0;
	case DWARF_FLOAT: return 0; /* floating-point parameters are passed in other registers */
	default: break;
	}
	p->lost = true;
	return 0;
}

struct lrecord *run_dwarf_args(struct run_env *r, struct ltypes *t, const struct lang_point *p)
{
	AUTO_FREE char *name = mem_printf("arguments of %s", p->text);
	struct lrecord *rec = lt_record_find(t, name);
	struct run_debug *f = rec || p->is_addr || p->has_offset ? NULL : debug_of(r, p->target);
	struct params params = { .r = r, .t = t };
	struct dwarf_point point;
	const struct symtab_sym *s;
	size_t at = 0;

	if (rec || !f || !f->target.dwarf)
		return rec;
	s = probe_target_symbol(&f->target, p->name, &at);
	if (!s || !dwarf_point_at(f->target.dwarf, s->start, &point))
		return NULL;
	dwarf_vars(f->target.dwarf, &point, f->target.cfi, false, add_param, &params);
	rec = lt_record_new(t, name, false);
	rec->filled = true;
	rec->field = arena_dup(t->arena, params.fields.data,
			       params.fields.n * sizeof(*params.fields.data));
	rec->n = params.fields.n;
	rec->size = params.words * 8;
	vec_free(&params.fields);
	return rec;
}

void run_dwarf_close(struct run_env *r)
{
	if (!r->dwarf)
		return;
	vec_each (&r->dwarf->files, f) {
		if (f->open)
			probe_target_close(&f->target);
		free(f->path);
	}
	vec_free(&r->dwarf->files);
	vec_free(&r->dwarf->dies);
	free(r->dwarf);
	r->dwarf = NULL;
}
