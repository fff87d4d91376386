/* SPDX-License-Identifier: MIT */
/*
 * Writing JSON, with commas and escapes taken care of.
 *
 *	struct json j = json_to(f, JSON_SPACED);
 *	json_object(&j, NULL);
 *	json_str(&j, "name", "x");
 *	json_end(&j);
 *
 * key is NULL inside arrays and for the outermost value. Bytes that are not
 * UTF-8 come out as U+FFFD, so that the result is always valid. What goes to a FILE is there
 * when the outermost value has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/out.h"

#define JSON_DEPTH 512

enum json_layout {
	JSON_SPACED, /* {"a": 1, "b": 2} */
	JSON_TIGHT,  /* {"a":1,"b":2} */
	JSON_PRETTY, /* two spaces a level and a line an item */
};

struct json {
	struct out *to; /* NULL: own, on its way to file */
	struct out own;
	FILE *file;
	enum json_layout layout; /* may change between values */
	bool line;
	unsigned depth;
	uint8_t level[JSON_DEPTH];
};

struct json json_to(FILE *file, enum json_layout layout);
struct json json_to_out(struct out *to, enum json_layout layout);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
/* The next item begins on a line of its own. */
void json_line(struct json *j);
void json_str(struct json *j, const char *key, const char *value); /* NULL writes null */
void json_strn(struct json *j, const char *key, const char *value, size_t n);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_double(struct json *j, const char *key, double v); /* not finite: null */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t v);		      /* "0x1f" */
void json_bytes(struct json *j, const char *key, const void *data, size_t n); /* "00ff" */
/* A value that the caller writes by himself, such as a number with so many digits. */
struct out *json_raw(struct json *j, const char *key);
