/* SPDX-License-Identifier: MIT */
#include "store/text/pprof.h"

#include <string.h>

#include "base/unpack.h"

/* --- protocol buffers --- */

struct field_value {
	uint32_t number;
	uint32_t wire; /* 0: varint in v; 2: bytes in b; others are skipped */
	uint64_t v;
	struct pprof_bytes b;
};

static bool get_varint(struct pprof_bytes *in, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (!in->n)
			return false;
		byte = *in->p++;
		in->n--;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* 1 and the next field, 0 at the end, -1 when the bytes are no message. */
static int next_field(struct pprof_bytes *in, struct field_value *f)
{
	uint64_t tag, n;

	if (!in->n)
		return 0;
	if (!get_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case 0: return get_varint(in, &f->v) ? 1 : -1;
	case 1: n = 8; break;
	case 2:
		if (!get_varint(in, &n))
			return -1;
		break;
	case 5: n = 4; break;
	default: return -1;
	}
	if (n > in->n)
		return -1;
	f->b = (struct pprof_bytes){ in->p, (size_t)n };
	in->p += n;
	in->n -= (size_t)n;
	return 1;
}

/* Repeated numbers are packed, or one a field. */
static bool each_number(const struct field_value *f, bool (*fn)(void *ctx, uint64_t v), void *ctx)
{
	struct pprof_bytes in = f->b;
	uint64_t v;

	if (f->wire == 0)
		return fn(ctx, f->v);
	if (f->wire != 2)
		return false;
	while (in.n)
		if (!get_varint(&in, &v) || !fn(ctx, v))
			return false;
	return true;
}

#define NUMBERS 6
/* The numbers of a message's first fields, by the field's; false: the bytes are no message. */
static bool get_numbers(struct pprof_bytes in, uint64_t v[static NUMBERS])
{
	struct field_value f;
	int k;

	memset(v, 0, NUMBERS * sizeof(*v));
	while ((k = next_field(&in, &f)) > 0)
		if (f.wire == 0 && f.number < NUMBERS)
			v[f.number] = f.v;
	return k == 0;
}

/* --- reading the whole --- */

struct reading {
	struct pprof *p;
	const char *name;
	struct err *e;
	VEC(struct pprof_bytes) types, mappings, locations, functions;
	VEC(struct text_part) mapping_files;
	struct map mapping_ids, function_ids; /* id -> index + 1 */
	uint64_t default_type;
};

static int bad(const struct reading *r, const char *what)
{
	err_set(r->e, EINVAL, "%s: this pprof profile is damaged: %s", r->name, what);
	return err_hint(r->e, "is it complete? pprof -raw %s shows what others make of it",
			r->name);
}

static bool get_text(const struct reading *r, uint64_t i, struct text_part *ret)
{
	if (i >= r->p->strings.n)
		return false;
	*ret = r->p->strings.data[i];
	return true;
}

static int pprof_split(struct reading *r, struct pprof_bytes in)
{
	struct field_value f;
	int k;

	while ((k = next_field(&in, &f)) > 0) {
		if (f.number >= 1 && f.number <= 6 && f.wire != 2)
			return bad(r, "a part of it is a number");
		switch (f.number) {
		case 1: vec_push(&r->types, f.b); break;
		case 2: vec_push(&r->p->samples, f.b); break;
		case 3: vec_push(&r->mappings, f.b); break;
		case 4: vec_push(&r->locations, f.b); break;
		case 5: vec_push(&r->functions, f.b); break;
		case 6:
			vec_push(&r->p->strings, (struct text_part){ (const char *)f.b.p, f.b.n });
			break;
		case 9: r->p->time = f.wire == 0 ? (int64_t)f.v : 0; break;
		case 10: r->p->duration = f.wire == 0 ? (int64_t)f.v : 0; break;
		case 12: r->p->period = f.wire == 0 ? (int64_t)f.v : 0; break;
		case 14: r->default_type = f.wire == 0 ? f.v : 0; break;
		default: break;
		}
		if (r->p->samples.n > UINT32_MAX || r->p->strings.n > UINT32_MAX)
			return bad(r, "it has more parts than kymo can hold");
	}
	return k < 0 ? bad(r, "it ends inside a part") : 0;
}

static int read_types(struct reading *r)
{
	uint64_t v[NUMBERS];

	vec_each (&r->types, b) {
		struct pprof_type t;

		if (!get_numbers(*b, v))
			return bad(r, "a type");
		if (!get_text(r, v[1], &t.type) || !get_text(r, v[2], &t.unit))
			return bad(r, "a type's name is not there");
		if (r->p->types.n == PPROF_MAX_TYPES)
			return bad(r, "it counts more things than kymo can hold");
		vec_push(&r->p->types, t);
	}
	return 0;
}

static int read_mappings(struct reading *r)
{
	uint64_t v[NUMBERS];

	vec_each (&r->mappings, b) {
		struct text_part file;

		if (!get_numbers(*b, v))
			return bad(r, "a mapping");
		if (!get_text(r, v[5], &file))
			return bad(r, "a mapping's file is not there");
		vec_push(&r->mapping_files, file);
		*map_at(&r->mapping_ids, v[1]) = r->mapping_files.n;
	}
	return 0;
}

static int read_functions(struct reading *r)
{
	uint64_t v[NUMBERS];

	vec_each (&r->functions, b) {
		struct pprof_function fn;
		struct text_part system;

		if (!get_numbers(*b, v))
			return bad(r, "a function");
		if (!get_text(r, v[2], &fn.name) || !get_text(r, v[3], &system) ||
		    !get_text(r, v[4], &fn.file))
			return bad(r, "a function's name is not there");
		if (!fn.name.n)
			fn.name = system;
		vec_push(&r->p->functions, fn);
		*map_at(&r->function_ids, v[1]) = r->p->functions.n;
	}
	return 0;
}

static int read_line(struct reading *r, struct pprof_bytes in, struct pprof_location *l)
{
	uint64_t v[NUMBERS], *at = get_numbers(in, v) ? map_find(&r->function_ids, v[1]) : NULL;

	if (!at)
		return bad(r, "a line's function is not there");
	vec_push(&r->p->lines, (struct pprof_line){ (uint32_t)*at - 1, (int64_t)v[2] });
	l->n++;
	return 0;
}

static int read_locations(struct reading *r)
{
	vec_each (&r->locations, b) {
		struct pprof_bytes in = *b;
		struct pprof_location l = { .first = (uint32_t)r->p->lines.n };
		struct field_value f;
		uint64_t v[NUMBERS], *at;
		int k;

		while ((k = next_field(&in, &f)) > 0)
			if (f.wire == 2 && f.number == 4 && read_line(r, f.b, &l) < 0)
				return -EINVAL;
		if (k < 0 || l.n > PPROF_MAX_FRAMES || !get_numbers(*b, v))
			return bad(r, "a location");
		at = map_find(&r->mapping_ids, v[2]);
		if (v[2] && !at)
			return bad(r, "a location's mapping is not there");
		if (v[2])
			l.mapping = r->mapping_files.data[*at - 1];
		l.address = v[3];
		vec_push(&r->p->locations, l);
		*map_at(&r->p->location_ids, v[1]) = r->p->locations.n;
	}
	return 0;
}

/* --- gzip --- */

static int inflate_all(struct reading *r, struct pprof_bytes *in, uint8_t **ret)
{
	struct budget b = { .size = in->n };
	int k = unpack_stream(UNPACK_GZIP, in->p, in->n, SIZE_MAX, &b, r->name, ret, &in->n, r->e);

	in->p = *ret;
	if (k == 1)
		return err_set(r->e, EINVAL, "%s: its compression (gzip) is damaged or cut short",
			       r->name);
	if (k == -ENOTSUP) {
		err_set(r->e, ENOTSUP, "%s is compressed, and this kymo was built without zlib",
			r->name);
		return err_hint(r->e, "gzip -dc < %s > plain.pb", r->name);
	}
	return k;
}

static bool is_gzip(const uint8_t *p, size_t n)
{
	return n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

bool pprof_looks(const void *data, size_t n)
{
	struct pprof_bytes in = { data, n };
	struct field_value f;
	bool first = true;
	int k;

	if (is_gzip(data, n))
		return true;
	while ((k = next_field(&in, &f)) > 0) {
		if (f.number > 64 || (f.number <= 6 && f.wire != 2))
			return false;
		if (f.number == 6 && first && f.b.n)
			return false; /* the first string is empty, always */
		if (f.number == 6)
			first = false;
	}
	return k == 0 && !first;
}

int pprof_open(const char *name, const void *data, size_t n, struct pprof *ret, struct err *e)
{
	struct reading r = { .p = ret, .name = name, .e = e };
	struct pprof_bytes in = { data, n };
	int k = 0;

	*ret = (struct pprof){ 0 };
	if (is_gzip(data, n))
		k = inflate_all(&r, &in, &ret->inflated);
	if (k == 0)
		k = pprof_split(&r, in);
	if (k == 0 && (!ret->strings.n || ret->strings.data[0].n))
		k = bad(&r, "it has no table of strings");
	if (k == 0)
		k = read_types(&r);
	if (k == 0)
		k = read_mappings(&r);
	if (k == 0)
		k = read_functions(&r);
	if (k == 0)
		k = read_locations(&r);
	if (k == 0 && !ret->types.n)
		k = bad(&r, "it does not say what it counts");
	if (k == 0 && !get_text(&r, r.default_type, &ret->default_type))
		k = bad(&r, "its default type is not there");
	vec_free(&r.types);
	vec_free(&r.mappings);
	vec_free(&r.locations);
	vec_free(&r.functions);
	vec_free(&r.mapping_files);
	map_free(&r.mapping_ids);
	map_free(&r.function_ids);
	if (k < 0)
		pprof_close(ret);
	return k;
}

void pprof_close(struct pprof *p)
{
	free(p->inflated);
	vec_free(&p->strings);
	vec_free(&p->types);
	vec_free(&p->functions);
	vec_free(&p->lines);
	vec_free(&p->locations);
	vec_free(&p->samples);
	map_free(&p->location_ids);
	*p = (struct pprof){ 0 };
}

/* --- samples --- */

struct filling {
	const struct pprof *p;
	struct pprof_sample *s;
	size_t values;
};

static bool add_location(void *ctx, uint64_t id)
{
	struct filling *f = ctx;
	uint64_t *at = map_find(&f->p->location_ids, id);

	if (!at || f->s->locations.n >= PPROF_MAX_FRAMES)
		return false;
	vec_push(&f->s->locations, (uint32_t)*at - 1);
	return true;
}

static bool add_value(void *ctx, uint64_t v)
{
	struct filling *f = ctx;

	if (f->values >= f->p->types.n)
		return false;
	f->s->value[f->values++] = (int64_t)v;
	return true;
}

static bool read_label(const struct pprof *p, struct pprof_bytes in, struct pprof_sample *s)
{
	struct text_part key, text;
	uint64_t v[NUMBERS];
	int64_t number;

	if (!get_numbers(in, v) || v[1] >= p->strings.n || v[2] >= p->strings.n)
		return false;
	key = p->strings.data[v[1]];
	text = p->strings.data[v[2]];
	number = (int64_t)v[3];
	if (text.n && (text_part_is(key, "comm") || text_part_is(key, "thread") ||
		       text_part_is(key, "thread_name")))
		s->comm = text;
	else if (!text.n && text_part_is(key, "pid"))
		s->pid = number;
	else if (!text.n && (text_part_is(key, "tid") || text_part_is(key, "thread_id")))
		s->tid = number;
	else if (!text.n && text_part_is(key, "cpu"))
		s->cpu = number;
	else if (!text.n && (text_part_is(key, "time") || text_part_is(key, "timestamp")))
		s->at = number;
	return true;
}

int pprof_sample(const struct pprof *p, size_t i, struct pprof_sample *s, struct err *e)
{
	struct pprof_bytes in = p->samples.data[i];
	struct filling fill = { .p = p, .s = s };
	struct field_value f;
	bool ok = true;
	int k;

	s->locations.n = 0;
	s->comm = (struct text_part){ 0 };
	s->pid = s->tid = s->cpu = s->at = -1;
	while (ok && (k = next_field(&in, &f)) > 0) {
		if (f.number == 1)
			ok = each_number(&f, add_location, &fill);
		else if (f.number == 2)
			ok = each_number(&f, add_value, &fill);
		else if (f.number == 3 && f.wire == 2)
			ok = read_label(p, f.b, s);
	}
	if (!ok || k < 0 || fill.values != p->types.n)
		return err_set(e, EINVAL,
			       "sample %zu of this pprof profile is damaged: a location or a value "
			       "is not there",
			       i + 1);
	return 0;
}
