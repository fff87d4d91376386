/* SPDX-License-Identifier: MIT */
/*
 * Writing JSON, with commas and escapes taken care of.
 *
 *	struct json j = json_to(f);
 *	json_object(&j, NULL);
 *	json_str(&j, "name", "x");
 *	json_end(&j);
 *
 * key is NULL inside arrays and for the outermost value. Bytes that are not
 * UTF-8 come out as U+FFFD, so that the result is always valid.
 */
#ifndef KYMO_BASE_JSON_H
#define KYMO_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/out.h"

#define JSON_DEPTH 512

struct json {
	FILE *out;
	bool pretty;		       /* two spaces a level and a newline an item */
	bool inline_level[JSON_DEPTH]; /* levels written on one line even when pretty */
	unsigned depth;
	bool any[JSON_DEPTH];
	char close[JSON_DEPTH];
};

static inline struct json json_to(FILE *out)
{
	return (struct json){ .out = out };
}
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
void json_str(struct json *j, const char *key, const char *value); /* NULL writes null */
void json_strn(struct json *j, const char *key, const char *value, size_t n);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_double(struct json *j, const char *key, double v); /* not finite: null */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

/* Only a string, with its quotes and escapes: for those who write the rest by themselves. */
void json_quote(struct out *out, const char *s, size_t n);

#endif
