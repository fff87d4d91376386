/* SPDX-License-Identifier: MIT */
#include "event/field.h"

#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool field_inside(uint64_t offset, uint64_t size, size_t raw_size)
{
	return offset <= raw_size && size <= raw_size - offset;
}

bool field_number(const void *p, size_t size, bool swapped, uint64_t *ret)
{
	uint16_t v16;
	uint32_t v32;

	switch (size) {
	case 1: *ret = *(const uint8_t *)p; return true;
	case 2:
		memcpy(&v16, p, 2);
		*ret = swapped ? bswap_16(v16) : v16;
		return true;
	case 4:
		memcpy(&v32, p, 4);
		*ret = swapped ? bswap_32(v32) : v32;
		return true;
	case 8:
		memcpy(ret, p, 8);
		*ret = swapped ? bswap_64(*ret) : *ret;
		return true;
	default: return false;
	}
}

static int64_t field_signed(uint64_t v, size_t size, bool is_signed)
{
	unsigned unused = 64 - (unsigned)size * 8;

	return is_signed ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

bool field_int(const struct field *f, const void *raw, size_t raw_size, int64_t *ret)
{
	uint64_t v;

	if (f->kind != FIELD_INT || !field_inside(f->offset, f->size, raw_size) ||
	    !field_number((const char *)raw + f->offset, f->size, f->swapped, &v))
		return false;
	*ret = field_signed(v, f->size, f->is_signed);
	return true;
}

bool field_bytes(const struct field *f, const void *raw, size_t raw_size, const void **ret,
		 size_t *n)
{
	uint64_t offset = f->offset, size = f->size;
	uint32_t loc;

	if (!field_inside(offset, size, raw_size))
		return false;
	/* an array without a size is the rest of the record */
	if (!size && (f->kind == FIELD_STRING || f->kind == FIELD_ARRAY))
		size = raw_size - offset;
	if (f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC) {
		memcpy(&loc, (const char *)raw + offset, 4);
		loc = f->swapped ? bswap_32(loc) : loc;
		offset = (loc & 0xffff) + (f->kind == FIELD_REL_LOC ? offset + 4 : 0);
		size = loc >> 16;
		if (!field_inside(offset, size, raw_size))
			return false;
	}
	*ret = offset ? (const char *)raw + offset
		      : raw; /* which is NULL where nothing was recorded */
	*n = size;
	return true;
}

bool field_str(const struct field *f, const void *raw, size_t raw_size, const char **ret, size_t *n)
{
	const void *p;
	size_t size;

	if (f->kind != FIELD_STRING && !f->is_string)
		return false;
	if (!field_bytes(f, raw, raw_size, &p, &size))
		return false;
	*ret = p;
	*n = strnlen(p, size);
	return true;
}

static double field_double(uint64_t v, size_t size)
{
	uint32_t half = (uint32_t)v;
	double d;
	float f;

	if (size == 4) {
		memcpy(&f, &half, 4);
		return (double)f;
	}
	memcpy(&d, &v, 8);
	return d;
}

/* The number at p, which is all there; false when it is none. */
static bool field_take(struct field_value *v, const void *p, size_t size, bool is_float)
{
	const struct field *f = v->field;
	uint64_t word;

	if ((is_float && size < 4) || !field_number(p, size, f->swapped, &word))
		return false;
	v->kind = is_float ? VALUE_FLOAT : VALUE_INT;
	if (is_float)
		v->f = field_double(word, size);
	else
		v->i = field_signed(word, size, f->is_signed);
	return true;
}

struct field_value field_value(const struct field *f, const void *raw, size_t raw_size)
{
	struct field_value v = { .field = f };

	if (!field_bytes(f, raw, raw_size, &v.data, &v.n) ||
	    ((f->kind == FIELD_INT || f->kind == FIELD_FLOAT) &&
	     field_take(&v, v.data, v.n, f->kind == FIELD_FLOAT)))
		return v;
	v.kind = VALUE_ARRAY;
	if (f->kind == FIELD_STRING || f->is_string) {
		v.kind = VALUE_STRING;
		v.n = v.n ? strnlen(v.data, v.n) : 0;
	}
	return v;
}

struct field_value field_element(const struct field_value *array, size_t i)
{
	const struct field *f = array->field;
	size_t size =
		f->elem_size == 2 || f->elem_size == 4 || f->elem_size == 8 ? f->elem_size : 1;
	struct field_value v = { .field = f };

	if (array->kind == VALUE_ARRAY && i < array->n / size)
		field_take(&v, (const char *)array->data + i * size, size, f->is_float);
	return v;
}

char *field_float_text(const struct field_value *v, char *buf, size_t size)
{
	bool is_short = v->field->elem_size == 4;
	int digits = is_short ? 6 : 15, most = is_short ? 9 : 17;

	do
		snprintf(buf, size, "%.*g", digits, v->f);
	while (digits++ < most && v->f == v->f &&
	       (is_short ? (double)strtof(buf, NULL) : strtod(buf, NULL)) != v->f);
	return buf;
}
