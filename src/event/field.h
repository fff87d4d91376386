/* SPDX-License-Identifier: MIT */
/*
 * Fields of an event's record: where they stand, and their values.
 *
 * Records are as they were recorded, maybe by a machine of the other endian and maybe damaged: what
 * lies outside of one has no value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_INT,	/* 1, 2, 4 or 8 bytes */
	FIELD_FLOAT,	/* 4 or 8 bytes */
	FIELD_STRING,	/* char array in place, maybe without its NUL */
	FIELD_ARRAY,	/* of numbers; elem_size each */
	FIELD_DATA_LOC, /* u32: offset | size << 16, from the record's start */
	FIELD_REL_LOC,	/* the same, from the end of this field */
	FIELD_OTHER,	/* struct or pointer to show as bytes */
};

struct field {
	const char *name; /* what is inside a structure has its name in front: "from.cpu" */
	const char *type; /* as the format text has it: "unsigned int", "char[16]" */
	uint32_t offset, size, elem_size;
	enum field_kind kind;
	bool is_signed;
	bool is_string;	 /* for the *_LOC kinds: char[] */
	bool is_float;	 /* so are the elements of the array */
	bool is_common;	 /* common_type, common_pid ... */
	bool is_pointer; /* shown in hex */
	bool swapped;	 /* the record is of the other endian; readers know */
};

enum value_kind {
	VALUE_NONE, /* it lies outside of the record */
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_STRING,
	VALUE_ARRAY, /* of numbers; of bytes where nothing is known of what is in it */
};

/* Points into the record. */
struct field_value {
	enum value_kind kind;
	const struct field *field;
	int64_t i; /* VALUE_INT, sign extended; a uint64_t where the field is not signed */
	double f;
	const void *data; /* VALUE_STRING, not NUL-terminated; VALUE_ARRAY */
	size_t n;	  /* bytes of it */
};
struct field_value field_value(const struct field *f, const void *raw, size_t raw_size);
/* Element i of an array; VALUE_NONE behind its last one. */
struct field_value field_element(const struct field_value *array, size_t i);
/* A float in as few digits as say which it is; "nan", "inf", "-inf". Returns buf. */
char *field_float_text(const struct field_value *v, char *buf, size_t size);

/* size bytes as a number without a sign; false when there are no numbers of that size. */
bool field_number(const void *p, size_t size, bool swapped, uint64_t *ret);
/* Parts of it, for who expects one kind. */
/* A field's integer value, sign extended; false when it is none or lies outside the record. */
bool field_int(const struct field *f, const void *raw, size_t raw_size, int64_t *ret);
/* A string field's bytes (not NUL-terminated; *n tells); false when it is none or lies outside. */
bool field_str(const struct field *f, const void *raw, size_t raw_size, const char **ret,
	       size_t *n);
/* Where the field's bytes are, the *_LOC kinds followed; false when they lie outside the record. */
bool field_bytes(const struct field *f, const void *raw, size_t raw_size, const void **ret,
		 size_t *n);
