/* SPDX-License-Identifier: MIT */
#include "store/text/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "base/mem.h"
#include "config.h"
#if HAVE_ZLIB
#	include <zlib.h>
#endif

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

/* --- reading the whole --- */

struct reading {
	struct pprof *p;
	const char *name;
	struct err *e;
	VEC(struct pprof_bytes) types, mappings, locations, functions;
	VEC(struct pprof_text) mapping_files;
	struct map mapping_ids, function_ids; /* id -> index + 1 */
	uint64_t default_type;
};

static int bad(const struct reading *r, const char *what)
{
	err_set(r->e, EINVAL, "%s: this pprof profile is damaged: %s", r->name, what);
	return err_hint(r->e, "is it complete? pprof -raw %s shows what others make of it",
			r->name);
}

static bool get_text(const struct reading *r, uint64_t i, struct pprof_text *ret)
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
			vec_push(&r->p->strings, (struct pprof_text){ (const char *)f.b.p, f.b.n });
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
	vec_each (&r->types, b) {
		struct pprof_bytes in = *b;
		struct pprof_type t = { 0 };
		struct field_value f;
		int k;

		while ((k = next_field(&in, &f)) > 0)
			if (f.wire == 0 && f.number <= 2 &&
			    !get_text(r, f.v, f.number == 1 ? &t.type : &t.unit))
				return bad(r, "a type's name is not there");
		if (k < 0)
			return bad(r, "a type");
		if (r->p->types.n == PPROF_MAX_TYPES)
			return bad(r, "it counts more things than kymo can hold");
		vec_push(&r->p->types, t);
	}
	return 0;
}

static int read_mappings(struct reading *r)
{
	vec_each (&r->mappings, b) {
		struct pprof_bytes in = *b;
		struct pprof_text file = { 0 };
		struct field_value f;
		uint64_t id = 0;
		int k;

		while ((k = next_field(&in, &f)) > 0) {
			if (f.wire == 0 && f.number == 1)
				id = f.v;
			else if (f.wire == 0 && f.number == 5 && !get_text(r, f.v, &file))
				return bad(r, "a mapping's file is not there");
		}
		if (k < 0)
			return bad(r, "a mapping");
		vec_push(&r->mapping_files, file);
		*map_at(&r->mapping_ids, id) = r->mapping_files.n;
	}
	return 0;
}

static int read_functions(struct reading *r)
{
	vec_each (&r->functions, b) {
		struct pprof_bytes in = *b;
		struct pprof_function fn = { 0 };
		struct pprof_text system = { 0 };
		struct field_value f;
		uint64_t id = 0;
		int k;

		while ((k = next_field(&in, &f)) > 0) {
			struct pprof_text *to = f.number == 2	? &fn.name
						: f.number == 3 ? &system
						: f.number == 4 ? &fn.file
								: NULL;

			if (f.wire == 0 && f.number == 1)
				id = f.v;
			else if (f.wire == 0 && to && !get_text(r, f.v, to))
				return bad(r, "a function's name is not there");
		}
		if (k < 0)
			return bad(r, "a function");
		if (!fn.name.n)
			fn.name = system;
		vec_push(&r->p->functions, fn);
		*map_at(&r->function_ids, id) = r->p->functions.n;
	}
	return 0;
}

static int read_line(struct reading *r, struct pprof_bytes in, struct pprof_location *l)
{
	struct pprof_line line = { 0 };
	struct field_value f;
	uint64_t *at, id = 0;
	int k;

	while ((k = next_field(&in, &f)) > 0) {
		if (f.wire == 0 && f.number == 1)
			id = f.v;
		else if (f.wire == 0 && f.number == 2)
			line.line = (int64_t)f.v;
	}
	at = map_find(&r->function_ids, id);
	if (k < 0 || !at)
		return bad(r, "a line's function is not there");
	line.function = (uint32_t)*at - 1;
	vec_push(&r->p->lines, line);
	l->n++;
	return 0;
}

static int read_locations(struct reading *r)
{
	vec_each (&r->locations, b) {
		struct pprof_bytes in = *b;
		struct pprof_location l = { .first = (uint32_t)r->p->lines.n };
		struct field_value f;
		uint64_t *at, id = 0, mapping = 0;
		int k;

		while ((k = next_field(&in, &f)) > 0) {
			if (f.wire == 0 && f.number == 1)
				id = f.v;
			else if (f.wire == 0 && f.number == 2)
				mapping = f.v;
			else if (f.wire == 0 && f.number == 3)
				l.address = f.v;
			else if (f.wire == 2 && f.number == 4 && read_line(r, f.b, &l) < 0)
				return -EINVAL;
		}
		if (k < 0 || l.n > PPROF_MAX_FRAMES)
			return bad(r, "a location");
		at = map_find(&r->mapping_ids, mapping);
		if (mapping && !at)
			return bad(r, "a location's mapping is not there");
		if (mapping)
			l.mapping = r->mapping_files.data[*at - 1];
		vec_push(&r->p->locations, l);
		*map_at(r->p->location_ids, id) = r->p->locations.n;
	}
	return 0;
}

/* --- gzip --- */

#if HAVE_ZLIB
static int inflate_all(const char *name, const void *data, size_t n, uint8_t **ret, size_t *size,
		       struct err *e)
{
	z_stream z = { .next_in = (Bytef *)data };
	size_t cap = n < (1u << 20) ? 1u << 20 : n * 4, left = n;
	struct budget b = { .size = n };
	struct budget_watch watch = budget_watch();
	uint8_t *out = mem_alloc(cap);
	int k = inflateInit2(&z, 15 + 16), r = 0;

	while (k == Z_OK) {
		if (!z.avail_in) {
			z.avail_in = left > (1u << 30) ? 1u << 30 : (uInt)left;
			left -= z.avail_in;
		}
		if (z.total_out == cap) {
			r = budget_take(&b, cap, name, e);
			if (r == 0)
				r = budget_watch_look(&watch, name, e);
			if (r < 0)
				break;
			cap *= 2;
			out = mem_grow(out, cap);
		}
		z.next_out = out + z.total_out;
		z.avail_out = cap - z.total_out > (1u << 30) ? 1u << 30 : (uInt)(cap - z.total_out);
		k = inflate(&z, Z_NO_FLUSH);
		if (k == Z_BUF_ERROR && (left || z.avail_in))
			k = Z_OK;
	}
	*size = z.total_out;
	inflateEnd(&z);
	if (k == Z_STREAM_END) {
		*ret = out;
		return 0;
	}
	free(out);
	if (r < 0)
		return r;
	return err_set(e, EINVAL, "%s: its compression (gzip) is damaged or cut short", name);
}
#else
static int inflate_all(const char *name, const void *data, size_t n, uint8_t **ret, size_t *size,
		       struct err *e)
{
	(void)data, (void)n, (void)ret, (void)size;
	err_set(e, ENOTSUP, "%s is compressed, and this kymo was built without zlib", name);
	return err_hint(e, "gzip -dc < %s > plain.pb", name);
}
#endif

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

	*ret = (struct pprof){ .location_ids = mem_alloc(sizeof(struct map)) };
	if (is_gzip(data, n)) {
		k = inflate_all(name, data, n, &ret->inflated, &in.n, e);
		in.p = ret->inflated;
	}
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
	if (p->location_ids)
		map_free(p->location_ids);
	free(p->location_ids);
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
	uint64_t *at = map_find(f->p->location_ids, id);

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

static bool pprof_is(struct pprof_text t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.s, s, t.n) == 0;
}

static bool read_label(const struct pprof *p, struct pprof_bytes in, struct pprof_sample *s)
{
	struct pprof_text key = { 0 }, text = { 0 };
	struct field_value f;
	int64_t number = 0;
	int k;

	while ((k = next_field(&in, &f)) > 0) {
		if (f.wire == 0 && (f.number == 1 || f.number == 2)) {
			if (f.v >= p->strings.n)
				return false;
			*(f.number == 1 ? &key : &text) = p->strings.data[f.v];
		} else if (f.wire == 0 && f.number == 3) {
			number = (int64_t)f.v;
		}
	}
	if (text.n &&
	    (pprof_is(key, "comm") || pprof_is(key, "thread") || pprof_is(key, "thread_name")))
		s->comm = text;
	else if (!text.n && pprof_is(key, "pid"))
		s->pid = number;
	else if (!text.n && (pprof_is(key, "tid") || pprof_is(key, "thread_id")))
		s->tid = number;
	else if (!text.n && pprof_is(key, "cpu"))
		s->cpu = number;
	else if (!text.n && (pprof_is(key, "time") || pprof_is(key, "timestamp")))
		s->at = number;
	return k == 0;
}

int pprof_sample(const struct pprof *p, size_t i, struct pprof_sample *s, struct err *e)
{
	struct pprof_bytes in = p->samples.data[i];
	struct filling fill = { .p = p, .s = s };
	struct field_value f;
	bool ok = true;
	int k;

	s->locations.n = 0;
	s->comm = (struct pprof_text){ 0 };
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
